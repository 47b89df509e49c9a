"""Charts as Vega-Lite specifications, written in the words of Altair.

Altair takes 1.2 s of CPU time to import and to check a chart, and `iolab.charts.svg`, which draws pages, needs the
specification alone.  Who calls a function of `iolab.charts` gets a chart of Altair (`chart`).
"""

from __future__ import annotations

import hashlib
import json
import math
from datetime import date, datetime
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, ParamSpec, Protocol, cast

from iolab.charts.theme import active_config, bundle
from logframe.extras import require

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl

P = ParamSpec("P")
#: A part of a specification.
Spec = dict[str, Any]
SCHEMA: Final = "https://vega.github.io/schema/vega-lite/v5.20.1.json"
_TYPES: Final = {"Q": "quantitative", "N": "nominal", "T": "temporal", "O": "ordinal"}
_PARTS: Final = ("layer", "hconcat", "vconcat")
#: Channels whose type is that of another: only their field is given.
_SECOND: Final = ("x2", "y2")


def _options(**options: object) -> Spec:
    """The properties of a scale, an axis, a legend, a header or a title."""
    return options


Scale = Axis = Legend = Header = _options


def _channel(field: str, **options: object) -> Spec:
    """A column of the data, with its type ("low:Q"; without one that of the column), and how it is shown."""
    return {"shorthand": field, **options}


X = Y = Color = Shape = Stroke = StrokeDash = YOffset = Row = Order = Tooltip = _channel


def value(constant: object) -> Spec:
    """A channel that is the same for all rows, in its own unit."""
    return {"value": constant}


class Chart:
    """A chart of a frame: a mark, and which column each of its channels shows.

    Examples:
        >>> import polars as pl
        >>> chart = Chart(pl.DataFrame({"run": [1, 2]}), title="Runs").mark("point").encode(x="run:Q")
        >>> chart.to_dict()["encoding"]
        {'x': {'field': 'run', 'type': 'quantitative'}}
    """

    def __init__(self, data: pl.DataFrame | None = None, *, title: object = None, **spec: object) -> None:
        self._spec: Spec = ({} if data is None else {"data": data}) | spec
        if title is not None:
            self._spec["title"] = title

    @property
    def title(self) -> Any:  # noqa: ANN401 - a text, or its properties
        """The heading."""
        return self._spec.get("title", "")

    def __repr__(self) -> str:
        return f"<chart: {(self.title.get('text') if isinstance(self.title, dict) else self.title) or 'untitled'}>"

    def properties(self, **spec: object) -> Chart:
        """The chart with other properties (width, height, title)."""
        return Chart(**{**self._spec, **spec})

    def mark(self, kind: str, **options: object) -> Chart:
        """The chart with a mark: bar, rect, rule, tick, point, line, area or text."""
        return self.properties(mark={"type": kind, **options})

    def encode(self, **channels: object) -> Chart:
        """The chart with more channels: a shorthand, what a function of this module gives, or a list of tooltips."""
        data = self._spec["data"]
        found = {
            name: [_resolved(one, data) for one in channel]
            if isinstance(channel, list)
            else _resolved(channel, data, is_typed=name not in _SECOND)
            for name, channel in channels.items()
        }
        return self.properties(encoding={**self._spec.get("encoding", {}), **found})

    def transform_filter(self, expression: str) -> Chart:
        """The chart of the rows for which an expression of Vega holds."""
        return self.properties(transform=[*self._spec.get("transform", []), {"filter": expression}])

    def facet(self, *, row: Spec) -> Chart:
        """A chart for each value of a column, one below the other."""
        data = self._spec["data"]
        spec = {name: part for name, part in self._spec.items() if name != "data"}
        return Chart(data, facet={"row": _resolved(row, data)}, spec=spec)

    def to_dict(self) -> Spec:
        """The specification, with its data and the theme (`iolab.charts.enable_theme`)."""
        datasets: Spec = {}
        spec = {**_plain(self._spec, datasets), "config": active_config(), "$schema": SCHEMA, "datasets": datasets}
        return spec if datasets else {name: part for name, part in spec.items() if name != "datasets"}

    def to_altair(self) -> Any:  # noqa: ANN401 - of a library that may be missing
        """The chart as an object of Altair, which can be changed and combined with others."""
        spec = {name: part for name, part in self.to_dict().items() if name != "config"}
        return require("altair").Chart.from_dict(spec)

    def _repr_mimebundle_(self, **_: object) -> tuple[Spec, Spec]:
        """The chart for a notebook."""
        return bundle(self.to_dict())


class ChartFunction(Protocol[P]):
    """A function that gives a chart of Altair; `spec` gives the same as a `Chart`, without Altair."""

    spec: Callable[P, Chart]

    def __call__(self, *args: P.args, **options: P.kwargs) -> Any:  # noqa: ANN401 - of a library that may be missing
        """The chart as an object of Altair."""


def chart(draw: Callable[P, Chart]) -> ChartFunction[P]:
    """Make a function that gives a `Chart` one that gives a chart of Altair."""

    @wraps(draw)
    def as_altair(*args: P.args, **options: P.kwargs) -> Any:  # noqa: ANN401 - see `ChartFunction`
        return draw(*args, **options).to_altair()

    as_altair.__dict__["spec"] = draw
    return cast("ChartFunction[P]", as_altair)


def layer(*charts: Chart, title: object = None) -> Chart:
    """Charts on top of each other, on the same axes."""
    return _together("layer", charts, title)


def hconcat(*charts: Chart, title: object = None) -> Chart:
    """Charts beside each other."""
    return _together("hconcat", charts, title)


def vconcat(*charts: Chart, title: object = None) -> Chart:
    """Charts below each other."""
    return _together("vconcat", charts, title)


def _together(how: str, charts: Sequence[Chart], title: object) -> Chart:
    """Charts as one; data that all of them have is that of the whole."""
    specs = [chart._spec for chart in charts]  # noqa: SLF001 - of this class
    shared = specs[0].get("data")
    if shared is None or any(spec.get("data") is not shared for spec in specs):
        return Chart(None, title=title, **{how: specs})
    parts = [{name: part for name, part in spec.items() if name != "data"} for spec in specs]
    return Chart(shared, title=title, **{how: parts})


def _resolved(channel: object, data: pl.DataFrame, *, is_typed: bool = True) -> Spec:
    """A channel with the name and the type of its column."""
    spec: Spec = {"shorthand": channel} if isinstance(channel, str) else dict(channel)  # type: ignore[call-overload]
    if "shorthand" not in spec:
        return spec
    field, _, letter = spec.pop("shorthand").rpartition(":")
    if not field:
        field, letter = letter, ""
    if not is_typed:
        return {"field": field, **spec}
    return {"field": field, "type": _TYPES.get(letter) or _type_of(data.schema[field]), **spec}


def _type_of(dtype: pl.DataType) -> str:
    if dtype.is_temporal():
        return "temporal"
    return "quantitative" if dtype.is_numeric() else "nominal"


def _plain(spec: Mapping[str, Any], datasets: Spec) -> Spec:
    """A specification whose frames are in `datasets`, each once, under a name made of what it holds."""
    plain: Spec = {}
    for name, part in spec.items():
        if name == "data":
            rows = [{column: _cell(cell) for column, cell in row.items()} for row in part.to_dicts()]
            digest = hashlib.sha256(json.dumps(rows, sort_keys=True, default=str).encode())
            key = f"data-{digest.hexdigest()[:32]}"
            plain[name] = {"name": key}
            datasets[key] = rows
        elif name in _PARTS:
            plain[name] = [_plain(one, datasets) for one in part]
        else:
            plain[name] = part
    return plain


def _cell(cell: object) -> object:
    if isinstance(cell, float) and not math.isfinite(cell):
        return None
    return cell.isoformat() if isinstance(cell, (date, datetime)) else cell
