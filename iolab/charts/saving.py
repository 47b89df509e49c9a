"""Charts as files: pictures, the specification, or a page, made on this machine."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from iolab.charts._frames import ChartError
from iolab.charts.theme import VEGA_LITE, Mode, config
from logframe.atomic import replacing
from logframe.extras import require
from logframe.wording import printable

#: Parts of a specification that are computed with; any other text has at most this many letters when it is drawn.
_EXPRESSIONS: Final = frozenset({"expr", "labelExpr", "calculate", "filter", "test", "signal"})
_LONGEST: Final = 300
#: Draws what stands in its input: function, specification and options as JSON.
_CHILD: Final = """
import json, sys, vl_convert
function, spec, options = json.load(sys.stdin)
drawn = getattr(vl_convert, function)(spec, **options)
sys.stdout.buffer.write(drawn if isinstance(drawn, bytes) else drawn.encode())
"""
_PATIENCE_S: Final = 60
SUFFIXES: Final = (".png", ".svg", ".json", ".html")


def save(chart: Any, path: str | Path, *, mode: Mode = "light", scale: float = 2.0) -> Path:  # noqa: ANN401 - any chart
    """The path of the file that a chart was written to: a picture, its specification, or a page.

    Everything is drawn on this machine without a network; a chart whose data is an address is refused.

    Args:
        chart: Any chart of Altair; it is drawn in the theme, whether that is enabled or not.
        path: ``.png`` (pixels), ``.svg`` (scales without loss), ``.json`` (Vega-Lite), or ``.html`` (one self-contained
            page that follows the reader's light or dark setting).
        mode: ``light`` or ``dark``, for PNG, SVG and JSON.
        scale: Pixels of a PNG for each pixel of the chart: 2 is sharp on paper and on screens of high density.

    Raises:
        ValueError: If the suffix is not one of these, the scale is not above zero, or the chart's data is an address.
        OSError: If the file cannot be written.

    Examples:
        >>> import tempfile
        >>> import altair as alt
        >>> import polars as pl
        >>> chart = alt.Chart(pl.DataFrame({"x": [1, 2]})).mark_point().encode(x="x")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save(chart, Path(folder) / "points.svg").read_text()[:4]
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
        return svg_of(spec, mode=mode).encode()
    return _drawn("vegalite_to_png", _drawable(spec), {"scale": scale, **_options(mode)})


def svg_of(spec: Mapping[str, Any], *, mode: Mode = "light") -> str:
    r"""A specification as a drawing, in the theme.

    Examples:
        >>> spec = {"data": {"values": [{"x": "a\x1a"}]}, "mark": "point", "encoding": {"x": {"field": "x"}}}
        >>> "a\ufffd" in svg_of(spec)
        True
    """
    themed = {**spec, "config": config(mode)}
    return _drawn("vegalite_to_svg", _drawable(themed), _options(mode)).decode()


def _drawn(function: str, spec: object, options: dict[str, Any]) -> bytes:
    """A picture; where the memory of the process is limited it is drawn in another, which may fail alone.

    V8, which draws, reserves gigabytes of address space, and ends the process that does not get them.

    Raises:
        ChartError: The other process failed.
    """
    if not _is_limited():
        picture = getattr(require("vl_convert"), function)(spec, **options)
        return picture if isinstance(picture, bytes) else str(picture).encode()
    asked = json.dumps([function, spec, options]).encode()
    try:
        done = subprocess.run([sys.executable, "-c", _CHILD], input=asked, capture_output=True, timeout=_PATIENCE_S)  # noqa: S603, PLW1510 - our own code
    except subprocess.TimeoutExpired as error:
        raise ChartError(f"the chart was not drawn within {_PATIENCE_S} s") from error
    if done.returncode:
        raise ChartError("the chart cannot be drawn within the limit of memory (ulimit -v)")
    return done.stdout


def _is_limited() -> bool:
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def _options(mode: Mode) -> dict[str, Any]:
    """How vl-convert draws: in the theme, and without a network."""
    return {"vl_version": VEGA_LITE, "config": config(mode), "allowed_base_urls": []}


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
