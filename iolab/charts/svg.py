"""Charts drawn as SVG by a few hundred lines of Python, for pages: without Altair, and without a browser's engine.

It draws the part of Vega-Lite that the charts of pages use (`iolab.pages`): bars, rectangles, rules, ticks, points,
lines, areas and texts on linear, logarithmic, time and band scales, on top of each other or in rows and columns.
`iolab.charts.save` draws any chart, with `vl-convert`, in ten times the CPU time.
"""

from __future__ import annotations

import html
import math
import re
from collections import defaultdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from iolab.charts._frames import ChartError
from iolab.charts.axes import Band, Scale, Span
from iolab.charts.theme import CATEGORIES, INKS, RAMP
from logframe.wording import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from iolab.charts.vega import Spec

    Row = Mapping[str, Any]

_INKS: Final = INKS["light"]
_FONT: Final = "system-ui, 'DejaVu Sans', 'Segoe UI', sans-serif"
_LABEL_SIZE: Final = 11
_TITLE_SIZE: Final = 12
#: Of a letter, in parts of the size of the font; capitals and digits of the widest font of the list are as wide.
_LETTER: Final = 0.6
_LABEL_LIMIT: Final = 260
#: The height of a row where the chart states none, and the size of a chart without rows.
_STEP: Final = 20
_WIDTH: Final = 560
_HEIGHT: Final = 260
_GAP: Final = 20
_DASHES: Final = ("", "4 2", "2 1", "1 1", "1 2 4 2")
_FILTER: Final = re.compile(r"datum\.(\w+) >= ([\d.e+-]+)")
_BARS: Final = ("bar", "rect")
#: Points as paths around 0, for an area of 64 pixels; they are made larger and smaller.
_SHAPES: Final = (
    "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z",
    "M-4 -4h8v8h-8z",
    "M0 -6L5 0L0 6L-5 0z",
    "M0 -5L5 4H-5z",
    "M0 5L5 -4H-5z",
    "M-1.8 -5.4h3.6v3.6h3.6v3.6h-3.6v3.6h-3.6v-3.6h-3.6v-3.6h3.6z",
)


def svg_of(spec: Spec) -> str:
    """A chart as an element of SVG, in the colours of the light theme.

    Args:
        spec: What `iolab.charts.vega.Chart.to_dict` gives.

    Raises:
        ChartError: It has a part that is not drawn here.

    Examples:
        >>> rows = [{"event": "a", "ms": 2}, {"event": "b", "ms": 1}]
        >>> encoding = {"x": {"field": "ms", "type": "quantitative"}, "y": {"field": "event", "type": "nominal"}}
        >>> drawn = svg_of({"data": {"values": rows}, "mark": {"type": "bar"}, "encoding": encoding, "width": 100})
        >>> drawn[:4], drawn.count("h100"), ">ms</text>" in drawn
        ('<svg', 1, True)
    """
    how = "vconcat" if "vconcat" in spec else "hconcat" if "hconcat" in spec else ""
    datasets = spec.get("datasets", {})
    of_all = {"data": spec["data"]} if "data" in spec else {}
    parts = [_View(of_all | part, datasets) for part in (spec[how] if how else [spec])]
    if spec.get("resolve", {}).get("scale", {}).get("y") == "shared":
        Scale.share([view.y for view in parts if isinstance(view.y, Scale)])
    heading, top, least = _heading(spec.get("title"), 0) if how else ("", 0.0, 0.0)
    for view in parts:
        view.lay_out()
    left = max(view.left for view in parts)
    x, y, width, height, body = 0.0, top, least, 0.0, [heading]
    for view in parts:
        at = left if how == "vconcat" else x + view.left
        body.append(f'<g transform="translate({at:.5g},{y + view.top:.5g})">{view.drawn()}</g>')
        width = max(width, at + view.width + view.right)
        height = max(height, y + view.top + view.height + view.bottom)
        x, y = (x, height + _GAP) if how == "vconcat" else (width + _GAP, y)
    width, height = math.ceil(width + 5), math.ceil(height + 5)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="{_FONT}" font-size="{_LABEL_SIZE}"><g transform="translate(0,5)" fill="{_INKS["ink"]}">'
        f"{''.join(body)}</g></svg>"
    )


def _wide(text: str, size: float = _LABEL_SIZE) -> float:
    return len(text) * size * _LETTER


def _cut(text: object, limit: float = _LABEL_LIMIT) -> str:
    """A label, cut to the limit in pixels."""
    most = int(limit / (_LABEL_SIZE * _LETTER))
    shown = printable(str(text))
    return shown if len(shown) <= most else f"{shown[: most - 1]}\N{HORIZONTAL ELLIPSIS}"


def _text(x: float, y: float, said: object, **attributes: object) -> str:
    given = "".join(f' {name.replace("_", "-")}="{part}"' for name, part in attributes.items())
    return f'<text x="{x:.5g}" y="{y:.5g}"{given}>{html.escape(str(said), quote=False)}</text>'


def _line(x: float, y: float, to_x: float, to_y: float) -> str:
    return f"M{x:.5g} {y:.5g}L{to_x:.5g} {to_y:.5g}"


def _heading(title: Any, x: float) -> tuple[str, float, float]:  # noqa: ANN401 - a text or its properties
    """The title and the lines below it, how high they are and how wide."""
    if not title:
        return "", 0.0, 0.0
    said, lines = (title["text"], title.get("subtitle", [])) if isinstance(title, dict) else (title, [])
    lines = [lines] if isinstance(lines, str) else lines
    said = printable(str(said))
    drawn = _text(x, 13, said, font_size=15, font_weight=600)
    for number, line in enumerate(lines, 1):
        drawn += _text(x, 13 + 16 * number, printable(line), font_size=12, fill=_INKS["soft"])
    return drawn, 13 + 16 * len(lines) + 12, max(_wide(said, 15), *(_wide(line, 12) for line in lines), 0)


class _Layer:
    """One mark of a view: its properties, its channels, and its rows."""

    def __init__(self, spec: Spec, outer: Spec, datasets: Spec) -> None:
        mark = spec["mark"]
        self.mark: Spec = {"type": mark} if isinstance(mark, str) else mark
        self.kind: str = self.mark["type"]
        self.channels: Spec = {**outer.get("encoding", {}), **spec.get("encoding", {})}
        data = spec["data"] if "data" in spec else outer["data"]
        self.rows: list[Row] = data["values"] if "values" in data else datasets[data["name"]]
        for one in spec.get("transform", []):
            found = _FILTER.fullmatch(str(one.get("filter")))
            if found is None:
                raise ChartError(f"a transformation is not drawn: {one}")
            field, least = found[1], float(found[2])
            self.rows = [row for row in self.rows if row[field] is not None and row[field] >= least]

    def has(self, channel: str) -> bool:
        return "field" in self.channels.get(channel, {})

    def values(self, channel: str) -> list[Any]:
        """What a channel says of each row; times as seconds."""
        one = self.channels[channel]
        found = [row[one["field"]] for row in self.rows]
        kind = self.channels[channel[0]].get("type") if channel in ("x2", "y2") else one.get("type")
        return [_seconds(value) for value in found] if kind == "temporal" else found

    def constant(self, channel: str, other: str) -> str:
        return str(self.channels.get(channel, {}).get("value", other))


def _seconds(value: Any) -> float | None:  # noqa: ANN401 - a cell
    if value is None:
        return None
    moment = datetime.fromisoformat(value)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


class _View:
    """A plot with its axes, legend and title; `left`, `right`, `top` and `bottom` are what stands around it."""

    def __init__(self, spec: Spec, datasets: Spec) -> None:
        self.layers = [_Layer(one, spec, datasets) for one in spec.get("layer", [spec])]
        self.x, self.y = self._scale("x"), self._scale("y")
        self.width = float(spec.get("width") or (_STEP * len(self.x.names) if isinstance(self.x, Band) else _WIDTH))
        self.height = float(spec.get("height") or (_STEP * len(self.y.names) if isinstance(self.y, Band) else _HEIGHT))
        self.x.span, self.y.span = (0.0, self.width), (self.height, 0.0)
        if isinstance(self.y, Band):
            self.y.span = (0.0, self.height)
        self.title = spec.get("title")
        self.colours = self._colours()

    def lay_out(self) -> None:
        """Find out what stands around the plot, when its scales are known."""
        self.axes_x, self.axes_y = self._properties("x"), self._properties("y")
        labels = self.y.labels(self.axes_y, along=self.height)
        limit = self.axes_y.get("labelLimit", _LABEL_LIMIT)
        self.labels_y = [(place, _cut(said, limit)) for place, said in labels]
        self.widest = max((_wide(said) for _, said in self.labels_y), default=0.0)
        self.title_x, self.title_y = self._title("x"), self._title("y")
        beyond = (_wide(self.title_x, _TITLE_SIZE) - self.width) / 2  # what a long title takes on both sides
        self.left = max(self.widest + 9 + (18 if self.title_y else 0), beyond)
        self.heading, high, wide = _heading(self.title, -self.left)
        self.legend, legend_high, legend_wide = self._legend()
        self.heading_high = high
        self.top = high + legend_high
        self.right = max(legend_wide, wide - self.left - self.width, beyond, 16.0, self._text_end() - self.width)
        self.angle = self.axes_x.get("labelAngle", 0)
        widest = max((_wide(str(name)) for name in self.x.names), default=0.0) if isinstance(self.x, Band) else 0.0
        self.labels_high = widest * abs(math.sin(math.radians(self.angle))) if self.angle else 0.0
        self.bottom = 18 + self.labels_high + (18 if self.title_x else 0)

    def _first(self, channel: str, name: str) -> Any:  # noqa: ANN401 - any property
        """A property of a channel, from the first layer that has it."""
        return next((one.channels[channel][name] for one in self.layers if name in one.channels.get(channel, {})), None)

    def _properties(self, channel: str) -> Spec:
        return self._first(channel, "axis") or {}

    def _text_end(self) -> float:
        """Where the text that reaches furthest to the right ends."""
        ends = [
            span[1] + layer.mark.get("dx", 0) + _wide(str(said), _TITLE_SIZE)
            for layer in self.layers
            if layer.kind == "text" and layer.mark.get("align") == "left"
            for span, said in zip(self._spans(layer, "x"), layer.values("text"), strict=True)
            if span is not None
        ]
        return max(ends, default=0.0)

    def _title(self, channel: str) -> str:
        said = [one.channels[channel] for one in self.layers if channel in one.channels]
        named = [one["title"] for one in said if "title" in one]
        return printable(str((named[0] or "") if named else said[0].get("field", ""))) if said else ""

    def _scale(self, channel: str) -> Scale | Band:
        own = self._first(channel, "scale") or {}
        drawn = [one for one in self.layers if one.has(channel)]
        if not drawn:
            return Band([], channel)
        first = drawn[0].channels[channel]
        if first["type"] in ("nominal", "ordinal"):
            names = list(dict.fromkeys(value for one in drawn for value in one.values(channel)))
            return Band(_ordered(names, self._sort(channel)), channel)
        values = [value for one in drawn for value in one.values(channel)]
        values += [value for one in drawn if one.has(f"{channel}2") for value in one.values(f"{channel}2")]
        known = [float(value) for value in values if value is not None]
        is_binned = first.get("bin") == "binned"
        kind = own.get("type") or ("time" if first["type"] == "temporal" else "linear")
        if (of_stack := [one for one in drawn if one.channels[channel].get("stack")]) and not own.get("domain"):
            known += _tops(of_stack[0], channel)
        is_line = channel == "x" and any(one.kind in ("line", "area") for one in drawn)
        zero = own.get("zero", kind == "linear" and not is_binned and not is_line)
        domain = own.get("domain")
        return Scale(
            kind,
            domain if isinstance(domain, list) else known,
            zero=bool(zero),
            nice=own.get("nice", not isinstance(domain, list) and not is_binned and kind != "time"),
            padding=float(own.get("padding", 0)),
        )

    def _sort(self, channel: str) -> object:
        return next(
            (one.channels[channel]["sort"] for one in self.layers if "sort" in one.channels.get(channel, {})),
            "ascending",
        )

    def _colours(self) -> Callable[[Any], str]:
        """The colour of a value of the channel of colours."""
        self.kinds: list[Any] = []
        own = self._first("color", "scale") or {}
        drawn = [one for one in self.layers if one.has("color") and one.channels["color"].get("scale", {}) is not None]
        self.counts: Scale | None = None
        if not drawn:
            return lambda _: CATEGORIES[0]
        channel = drawn[0].channels["color"]
        if channel["type"] == "quantitative":
            self.counts = Scale(own.get("type", "linear"), drawn[0].values("color"), zero=False, nice=False, padding=0)
            self.counts.span = (0.0, 1.0)
            scale = self.counts
            return lambda value: _between(RAMP[1:], scale.place(value))
        there = list(dict.fromkeys(value for one in drawn for value in one.values("color")))
        self.kinds = own.get("domain") or _ordered(there, channel.get("sort", "ascending"))
        colours = own.get("range") or CATEGORIES
        ranks = {kind: colours[place % len(colours)] for place, kind in enumerate(self.kinds)}
        return lambda value: ranks.get(value, CATEGORIES[0])

    def _legend(self) -> tuple[str, float, float]:
        """The legend: of kinds in rows above the plot or beside it, of counts a bar of colours beside it."""
        own = self._first("color", "legend")
        drawn = [one for one in self.layers if one.has("color") and one.channels["color"].get("legend", {}) is not None]
        if not drawn or not (self.kinds or self.counts):
            return "", 0.0, 0.0
        own = own or {}
        if self.counts is not None:
            return self._colour_bar(own)
        kinds = own.get("values") or self.kinds
        symbols = [self._symbol(drawn[-1], kind) for kind in kinds]
        if own.get("orient") != "top":
            limit = own.get("labelLimit", _LABEL_LIMIT)
            shown = [_cut(kind, limit) for kind in kinds]
            parts = [
                f'<g transform="translate({self.width + 18:.5g},{8 + 15 * row})">{symbol}{_text(12, 4, said)}</g>'
                for row, (symbol, said) in enumerate(zip(symbols, shown, strict=True))
            ]
            return "".join(parts), 0.0, 30 + max(map(_wide, shown))
        columns = own.get("columns") or len(kinds)
        shown = [_cut(kind) for kind in kinds]
        steps = [_wide(said) + 28 for said in shown]
        while columns > 1 and sum(max(steps[at::columns], default=0) for at in range(columns)) > self.width + self.left:
            columns -= 1
        widths = [max(steps[at::columns], default=0) for at in range(columns)]
        rows = -(-len(kinds) // columns)
        parts = []
        for place, (symbol, said) in enumerate(zip(symbols, shown, strict=True)):
            at_x, at_y = 6 + sum(widths[: place % columns]), (place // columns - rows) * 15 - 3
            parts.append(f'<g transform="translate({at_x:.5g},{at_y})">{symbol}{_text(12, 4, said)}</g>')
        return "".join(parts), rows * 15 + 8, sum(widths) - self.width

    def _symbol(self, layer: _Layer, kind: object) -> str:
        colour = self.colours(kind)
        if layer.kind in ("line", "rule"):
            dash = f' stroke-dasharray="{_DASHES[self._number(kind)]}"' if layer.has("strokeDash") else ""
            return f'<path d="M-6 0H8" stroke="{colour}" stroke-width="2"{dash}/>'
        if layer.kind == "point":
            return f'<path d="{self._shape(layer, kind)}" fill="{colour}"/>'
        return f'<path d="M-5 -5h10v10h-10z" fill="{colour}"/>'

    def _number(self, kind: object) -> int:
        return self.kinds.index(kind) % len(_DASHES) if kind in self.kinds else 0

    def _shape(self, layer: _Layer, kind: object) -> str:
        return (
            _SHAPES[self.kinds.index(kind) % len(_SHAPES)] if layer.has("shape") and kind in self.kinds else _SHAPES[0]
        )

    def _colour_bar(self, own: Spec) -> tuple[str, float, float]:
        """What the shades of a colour mean."""
        scale, high = self.counts, min(self.height - 20, 120)
        if scale is None:
            return "", 0.0, 0.0
        at = self.width + 14
        steps = 24
        parts = [_text(at, 8, self._title("color"))]
        for step in range(steps):
            top = 16 + high * (1 - (step + 1) / steps)
            colour = _between(RAMP[1:], (step + 0.5) / steps)
            parts.append(f'<path d="M{at:.5g} {top:.5g}h14v{high / steps + 0.3:.5g}h-14z" fill="{colour}"/>')
        marks = scale.labels({"format": own.get("format"), "tickMinStep": own.get("tickMinStep")}, along=high)
        parts += [_text(at + 19, 20 + high * (1 - place), said) for place, said in marks]
        widest = max((_wide(said) for _, said in marks), default=0)
        return "".join(parts), 0.0, max(_wide(self._title("color")), 20 + widest) + 16

    def drawn(self) -> str:
        """The plot, from its upper left corner."""
        parts = [f'<g transform="translate(0,{-self.top:.5g})">{self.heading}</g>', self.legend, self._grid()]
        parts += [self._drawn(one) for one in self.layers]
        return "".join(parts)

    def _grid(self) -> str:
        grid, ticks, texts = [], [], []
        along = self.width / (
            max((_wide(said) for _, said in self.x.labels(self.axes_x, along=self.width)), default=0) + 8
        )
        for place, said in self.x.labels(self.axes_x, along=self.width, most=int(along)):
            if isinstance(self.x, Scale):
                grid.append(_line(place, 0, place, self.height))
            ticks.append(_line(place, self.height, place, self.height + 5))
            if self.angle:
                turned = f"rotate({self.angle},{place:.5g},{self.height + 12:.5g})"
                texts.append(_text(place, self.height + 12, _cut(said), text_anchor="end", transform=turned))
            else:
                texts.append(_text(place, self.height + 16, said, text_anchor="middle"))
        for place, said in self.labels_y:
            if isinstance(self.y, Scale):
                grid.append(_line(0, place, self.width, place))
            ticks.append(_line(-5, place, 0, place))
            anchor = "start" if self.axes_y.get("labelAlign") == "left" else "end"
            texts.append(_text(-8, place + 4, said, text_anchor=anchor))
        for scale, minor in ((self.x, True), (self.y, False)):
            grid += [
                _line(place, 0, place, self.height) if minor else _line(0, place, self.width, place)
                for place in (scale.minor() if isinstance(scale, Scale) else ())
            ]
        edges = _line(0, self.height, self.width, self.height) + _line(0, 0, 0, self.height)
        if self.title_x:
            at = self.height + 34 + self.labels_high
            texts.append(_text(self.width / 2, at, self.title_x, text_anchor="middle", font_size=_TITLE_SIZE))
        if self.title_y:
            at = -self.widest - 16
            turned = f"rotate(-90,{at:.5g},{self.height / 2:.5g})"
            middle = _text(
                at, self.height / 2, self.title_y, text_anchor="middle", font_size=_TITLE_SIZE, transform=turned
            )
            texts.append(middle)
        return (
            f'<path d="{"".join(grid)}" stroke="{_INKS["grid"]}"/>'
            f'<path d="{"".join(ticks)}{edges}" stroke="{_INKS["soft"]}"/>{"".join(texts)}'
        )

    def _drawn(self, layer: _Layer) -> str:
        """The rows of a layer as its mark."""
        if not layer.rows:
            return ""
        if layer.kind == "text":
            return self._texts(layer)
        if layer.kind in ("line", "area"):
            return self._lines(layer)
        return self._pieces(layer, self._paths(layer))

    def _pieces(self, layer: _Layer, paths: Iterable[tuple[str, str]]) -> str:
        """Paths of one colour as one element."""
        mark = layer.mark
        by_colour: dict[str, list[str]] = defaultdict(list)
        for colour, path in paths:
            by_colour[colour].append(path)
        is_line = layer.kind in ("rule", "tick")
        width = mark.get("strokeWidth", mark.get("thickness", 1))
        stroke = mark.get("stroke")
        more = "".join(
            f' {name}="{part}"'
            for name, part in (
                ("opacity", mark.get("opacity")),
                ("stroke-dasharray", " ".join(map(str, mark["strokeDash"])) if "strokeDash" in mark else None),
            )
            if part is not None
        )
        drawn = []
        for colour, found in by_colour.items():
            edge = colour if is_line or layer.has("stroke") else stroke
            outline = f' stroke="{edge}" stroke-width="{width}"' if edge else ""
            fill = "" if is_line else f' fill="{colour}"'
            if layer.kind == "point":
                drawn.append(f"<g{fill}{more}>{''.join(found)}</g>")
                continue
            drawn.append(f'<path d="{"".join(found)}"{fill}{outline}{more}/>')
        return "".join(drawn)

    def _colour_values(self, layer: _Layer) -> list[str]:
        if layer.has("color"):
            return [self.colours(value) for value in layer.values("color")]
        other = _INKS["soft"] if layer.kind == "rule" else CATEGORIES[0]
        return [layer.constant("color", str(layer.mark.get("color", other)))] * len(layer.rows)

    def _paths(self, layer: _Layer) -> Iterable[tuple[str, str]]:
        colours = self._colour_values(layer)
        across, up = self._spans(layer, "x"), self._spans(layer, "y")
        if any(one.get("stack") == "zero" for one in layer.channels.values() if isinstance(one, dict)):
            up = self._stacked(layer)
        mark, kind = layer.mark, layer.kind
        kinds = layer.values("color") if layer.has("color") else [None] * len(layer.rows)
        size = math.sqrt(mark.get("size", 60) / 64)
        for colour, h, v, one in zip(colours, across, up, kinds, strict=True):
            if h is None or v is None:
                continue
            (x, to_x), (y, to_y) = h, v
            if kind in _BARS:
                x, wide, y, high = min(x, to_x), abs(to_x - x), min(y, to_y), abs(to_y - y)
                if kind == "bar" and layer.channels.get("x", {}).get("bin"):  # bars of bins do not touch
                    wide = max(wide - 1, wide / 2)
                yield colour, f"M{x:.5g} {y:.5g}h{wide:.4g}v{high:.4g}h{-wide:.4g}z"
            elif kind == "point":
                x, y = (x + to_x) / 2, (y + to_y) / 2
                middle = (
                    f'<path transform="translate({x:.5g},{y:.5g}) scale({size:.3g})" d="{self._shape(layer, one)}"/>'
                )
                yield colour, middle
            elif kind == "tick":
                half = float(mark.get("width") or mark.get("height") or 14) / 2
                is_level = isinstance(self.x, Band)
                half = min(half, abs(to_x - x) / 2 + 3) if is_level else half
                middle_x, middle_y = (x + to_x) / 2, (y + to_y) / 2
                yield (
                    colour,
                    _line(middle_x - half, middle_y, middle_x + half, middle_y)
                    if is_level
                    else _line(middle_x, middle_y - half, middle_x, middle_y + half),
                )
            elif layer.has("x2"):
                yield colour, _line(x, (y + to_y) / 2, to_x, (y + to_y) / 2)
            elif layer.has("y2"):
                yield colour, _line((x + to_x) / 2, y, (x + to_x) / 2, to_y)
            elif layer.has("x"):
                yield colour, _line((x + to_x) / 2, 0, (x + to_x) / 2, self.height)
            else:
                yield colour, _line(0, y, self.width, y)

    def _spans(self, layer: _Layer, channel: str) -> list[Span | None]:
        """Where each row begins and ends along an axis."""
        scale: Scale | Band = self.x if channel == "x" else self.y
        if not layer.has(channel):
            end = self.width if channel == "x" else self.height
            return [(0.0, end)] * len(layer.rows)
        values = layer.values(channel)
        if isinstance(scale, Band):
            size = layer.mark.get("height" if channel == "y" else "width") if layer.kind == "bar" else None
            offset = f"{channel}Offset"
            if not layer.has(offset):
                return [scale.band(value, size) for value in values]
            inner = _ordered(list(dict.fromkeys(layer.values(offset))), layer.channels[offset].get("sort", "ascending"))
            parts = []
            for value, one in zip(values, layer.values(offset), strict=True):
                low, high = scale.band(value, size)
                step = (high - low) / len(inner)
                parts.append((low + step * inner.index(one), low + step * (inner.index(one) + 1)))
            return list(parts)
        if layer.has(f"{channel}2"):
            ends = layer.values(f"{channel}2")
        elif layer.kind in _BARS and scale.kind == "linear":
            ends = [0.0] * len(values)
        else:
            ends = values
        return [
            None if value is None or end is None else (scale.place(value), scale.place(end))
            for value, end in zip(values, ends, strict=True)
        ]

    def _stacked(self, layer: _Layer) -> list[Span | None]:
        scale = self.y
        if not isinstance(scale, Scale):
            raise ChartError("bars are stacked upwards only")
        heights: dict[Any, float] = defaultdict(float)
        ranks = [row[layer.channels["order"]["field"]] for row in layer.rows] if layer.has("order") else None
        order = sorted(range(len(layer.rows)), key=lambda one: ranks[one] if ranks else one)
        at, values = layer.values("x"), layer.values("y")
        spans: list[Span | None] = [None] * len(values)
        for one in order:
            low = heights[at[one]]
            heights[at[one]] += values[one]
            spans[one] = (scale.place(low), scale.place(heights[at[one]]))
        return spans

    def _lines(self, layer: _Layer) -> str:
        """A line for each kind, or the area below one."""
        x, y = self._spans(layer, "x"), self._spans(layer, "y")
        by = "color" if layer.has("color") else "detail" if layer.has("detail") else None
        keys = layer.values(by) if by else [None] * len(layer.rows)
        points: dict[Any, list[tuple[float, float]]] = defaultdict(list)
        for key, one, other in zip(keys, x, y, strict=True):
            if one is not None and other is not None:
                points[key].append((one[0], sum(other) / 2))
        drawn = []
        is_step = layer.mark.get("interpolate") == "step-after"
        for key, found in points.items():
            colour = self.colours(key) if by == "color" else self._colour_values(layer)[0]
            path = _path(found, is_step=is_step)
            if layer.kind == "area":
                base = self.y.place(0) if isinstance(self.y, Scale) else self.height
                area = f"{path}L{found[-1][0]:.5g} {base:.5g}L{found[0][0]:.5g} {base:.5g}z"
                drawn.append(f'<path d="{area}" fill="{colour}" opacity="{layer.mark.get("opacity", 0.7)}"/>')
            dash = _DASHES[self._number(key)] if layer.has("strokeDash") else ""
            dashed = f' stroke-dasharray="{dash}"' if dash else ""
            width = (layer.mark.get("line") or layer.mark).get("strokeWidth", 2)
            drawn.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}"{dashed}/>')
        return "".join(drawn)

    def _texts(self, layer: _Layer) -> str:
        mark = layer.mark
        anchor = {"left": "start", "right": "end"}.get(mark.get("align", ""), "middle")
        more = {
            name.replace("W", "_w").replace("S", "_s"): mark[name]
            for name in ("fontWeight", "fontSize")
            if name in mark
        }
        inks = layer.values("color") if layer.has("color") else [None] * len(layer.rows)
        drawn = []
        said = layer.values("text")
        for x, y, text, ink in zip(self._spans(layer, "x"), self._spans(layer, "y"), said, inks, strict=True):
            if x is None or y is None:
                continue
            at, level = sum(x) / 2 + mark.get("dx", 0), sum(y) / 2 + 4 + mark.get("dy", 0)
            colour = {"fill": ink} if ink else {}
            drawn.append(_text(at, level, printable(str(text)), text_anchor=anchor, **colour, **more))
        return "".join(drawn)


def _path(points: Sequence[tuple[float, float]], *, is_step: bool) -> str:
    first, *others = points
    parts = [f"M{first[0]:.5g} {first[1]:.5g}"]
    parts += [f"H{x:.5g}V{y:.5g}" if is_step else f"L{x:.5g} {y:.5g}" for x, y in others]
    return "".join(parts)


def _ordered(names: list[Any], sort: object) -> list[Any]:
    if isinstance(sort, list):
        ranks = {name: place for place, name in enumerate(sort)}
        return sorted(names, key=lambda name: ranks.get(name, len(ranks)))
    if sort is None:
        return names
    return sorted(names, key=str, reverse=sort == "descending")


def _tops(layer: _Layer, channel: str) -> list[float]:
    heights: dict[Any, float] = defaultdict(float)
    for at, value in zip(layer.values("x" if channel == "y" else "y"), layer.values(channel), strict=True):
        heights[at] += value
    return list(heights.values())


def _between(ramp: Sequence[str], share: float) -> str:
    """A colour of a ramp, from 0 to 1."""
    place = min(max(share, 0.0), 1.0) * (len(ramp) - 1)
    low = min(int(place), len(ramp) - 2)
    parts = [
        round(
            int(ramp[low][at : at + 2], 16)
            + (place - low) * (int(ramp[low + 1][at : at + 2], 16) - int(ramp[low][at : at + 2], 16))
        )
        for at in (1, 3, 5)
    ]
    return "#" + "".join(f"{part:02X}" for part in parts)
