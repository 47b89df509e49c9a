"""Charts as files: pictures, the specification, or a page, made on this machine."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from iolab.charts.theme import VEGA_LITE, Mode, config
from logframe.atomic import replacing
from logframe.extras import require
from logframe.wording import printable

#: Parts of a specification that are computed with; any other text has at most this many letters when it is drawn.
_EXPRESSIONS: Final = frozenset({"expr", "labelExpr", "calculate", "filter", "test", "signal"})
_LONGEST: Final = 300
SUFFIXES: Final = (".png", ".svg", ".json", ".html")


def save(chart: Any, path: str | Path, *, mode: Mode = "light", scale: float = 2.0) -> Path:  # noqa: ANN401 - any chart
    """The path of the file that a chart was written to: a picture, its specification, or a page.

    Everything is drawn on this machine without a network; a chart whose data is an address is refused.

    Args:
        chart: Any chart of this package or of Altair; it is drawn in the theme, whether that is enabled or not.
        path: ``.png`` (pixels), ``.svg`` (scales without loss), ``.json`` (Vega-Lite), or ``.html`` (one self-contained
            page that follows the reader's light or dark setting).
        mode: ``light`` or ``dark``, for PNG, SVG and JSON.
        scale: Pixels of a PNG for each pixel of the chart: 2 is sharp on paper and on screens of high density.

    Raises:
        ValueError: If the suffix is not one of these, the scale is not above zero, or the chart's data is an address.
        OSError: If the file cannot be written.

    Examples:
        >>> import tempfile
        >>> import polars as pl
        >>> from iolab.charts import ecdf
        >>> chart = ecdf(pl.DataFrame({"latency": [1, 2]}))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save(chart, Path(folder) / "reads.svg").read_text()[:4]
        '<svg'
        >>> save(chart, "points.gif")
        Traceback (most recent call last):
        ValueError: points.gif: a chart cannot be saved as .gif; it can as .png, .svg, .json, .html
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in SUFFIXES:
        label = f"as {suffix}" if suffix else "without a suffix"
        raise ValueError(f"{target}: a chart cannot be saved {label}; it can as {', '.join(SUFFIXES)}")
    if not scale > 0:
        raise ValueError(f"the scale is {scale}; it is above zero")
    spec = {**chart.to_dict(), "config": config(mode)}
    if address := _address(spec):
        raise ValueError(f"{target}: the chart's data is at {address}; give it as a frame")
    content = _content(spec, suffix, target.stem, mode=mode, scale=scale)
    with replacing(target) as out:
        out.write_bytes(content)
    return target


def _content(spec: dict[str, Any], suffix: str, name: str, *, mode: Mode, scale: float) -> bytes:
    """The bytes of the file."""
    if suffix == ".json":
        return (json.dumps(spec, ensure_ascii=False, indent=1) + "\n").encode()
    if suffix == ".html":
        title = spec.get("title", "")
        label = (title.get("text") if isinstance(title, dict) else title) or name
        from iolab.pages import chart_html, page_html  # noqa: PLC0415 - pages are built from charts

        return page_html(label, chart_html(spec, label=label)).encode()
    if suffix == ".svg":
        return _drawn("vegalite_to_svg", spec, mode)
    return _drawn("vegalite_to_png", spec, mode, scale=scale)


def _drawn(function: str, spec: dict[str, Any], mode: Mode, **options: Any) -> bytes:  # noqa: ANN401 - of `vl-convert`
    """A picture of a chart in the theme, drawn without a network."""
    given = {"vl_version": VEGA_LITE, "config": config(mode), "allowed_base_urls": [], **options}
    picture = getattr(require("vl_convert"), function)(_drawable(spec), **given)
    return picture if isinstance(picture, bytes) else str(picture).encode()


def _drawable(part: object) -> Any:  # noqa: ANN401 - any part of a specification
    """A specification whose texts can be drawn.

    A picture is XML, and vl-convert aborts the process at a control character; a name of a damaged log that has many
    thousand letters takes it minutes.
    """
    if isinstance(part, str):
        text = printable(part)
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"
    if isinstance(part, Mapping):
        return {printable(str(key)): value if key in _EXPRESSIONS else _drawable(value) for key, value in part.items()}
    return [_drawable(value) for value in part] if isinstance(part, (list, tuple)) else part


def _address(spec: object) -> str | None:
    """The first address that data of a specification is to be taken from."""
    if isinstance(spec, dict):
        data = spec.get("data")
        if isinstance(data, dict) and "url" in data:
            return str(data["url"])
        values = [value for key, value in spec.items() if key != "datasets"]
    else:
        values = spec if isinstance(spec, list) else []
    return next((found for value in values if (found := _address(value))), None)
