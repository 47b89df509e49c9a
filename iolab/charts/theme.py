"""The chart theme: one style for every chart, light and dark, in colours that colour-blind readers distinguish.

    iolab.charts.enable_theme()          # charts are drawn by JupyterLab itself, without a network
    iolab.charts.enable_theme("dark")    # instead of the colours of the page around a chart

The colours are those of Okabe and Ito, ordered so that the first two, blue and orange, differ in every kind of colour
vision and in grey.
"""

import sys
from importlib.util import find_spec
from typing import Any, Final, Literal

import polars as pl

from logframe.parsed_log import display

Mode = Literal["auto", "light", "dark"]

#: Categories, in the order they are given out.
CATEGORIES: Final = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B0A000", "#7F7F7F")
#: The same for a dark ground: the two darkest colours are lighter.
CATEGORIES_DARK: Final = ("#4AA8E0", "#F0B429", "#2FC49A", "#E29CC4", "#8CCBF2", "#F08050", "#F0E442", "#A8A8A8")
#: Few to many.
RAMP: Final = ("#EAF2F8", "#9CC4E0", "#3C8DC0", "#0B4F7D", "#06263D")

#: The Vega-Lite version that Altair 5.5 writes for.
VEGA_LITE: Final = "5.20"
MIME: Final = "application/vnd.vegalite.v5+json"
#: Drag moves a chart, the wheel with Shift zooms, a double click shows all of it again.
_MOVED: Final = {
    "name": "moved",
    "select": {"type": "interval", "zoom": "wheel![event.shiftKey]"},
    "bind": "scales",
}
#: The mode of the charts that are made now.
_enabled: Final[list[Mode]] = ["auto"]
_FONT: Final = "system-ui, 'DejaVu Sans', 'Segoe UI', sans-serif"
#: On a light ground, on a dark one, and on that of the page, in the colour of its text: no one colour is read on both.
INKS: Final = {
    "auto": {"ink": "currentColor", "soft": "currentColor", "grid": "#80808040", "ground": "transparent"},
    "light": {"ink": "#1F2933", "soft": "#52606D", "grid": "#E4E7EB", "ground": "#FFFFFF"},
    "dark": {"ink": "#E8ECF0", "soft": "#AAB4BF", "grid": "#364150", "ground": "#161B22"},
}


def config(mode: Mode = "light") -> dict[str, Any]:
    """The Vega-Lite configuration of the theme.

    Args:
        mode: ``light``, ``dark``, or ``auto``: the colours of the page that the chart is on.

    Examples:
        >>> config("dark")["background"], config()["range"]["category"][:2]
        ('#161B22', ['#0072B2', '#E69F00'])
    """
    ink = INKS[mode]
    categories = list(CATEGORIES_DARK if mode == "dark" else CATEGORIES)
    ramp = list(reversed(RAMP) if mode == "dark" else RAMP)
    # an edge that has a contrast of 3 on a light and on a dark ground, for bars whose colour has it on one only
    edge = {"bar": {"stroke": "#808080", "strokeWidth": 0.75}} if mode == "auto" else {}
    return {
        "background": ink["ground"],
        "font": _FONT,
        "view": {"stroke": None, "continuousWidth": 560, "continuousHeight": 260},
        "range": {"category": categories, "ramp": ramp, "heatmap": ramp[1:]},
        "title": {
            "anchor": "start",
            "color": ink["ink"],
            "fontSize": 15,
            "fontWeight": 600,
            "offset": 12,
            "subtitleColor": ink["soft"],
            "subtitleFontSize": 12,
            "subtitlePadding": 4,
        },
        "axis": {
            "domainColor": ink["soft"],
            "gridColor": ink["grid"],
            "labelColor": ink["ink"],
            "labelFontSize": 11,
            "labelLimit": 260,
            "labelSeparation": 4,
            "tickColor": ink["soft"],
            "titleColor": ink["ink"],
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "titlePadding": 8,
        },
        "header": {"labelColor": ink["ink"], "labelFontSize": 12, "titleColor": ink["ink"]},
        "legend": {"labelColor": ink["ink"], "labelLimit": 260, "titleColor": ink["ink"], "titleFontWeight": "normal"},
        "mark": {"color": categories[0]},
        "text": {"color": ink["ink"], "fontSize": 12},
        "rule": {"color": ink["soft"]},
        **edge,
    }


def enable_theme(mode: Mode = "auto") -> None:
    """Enable the theme for every chart; JupyterLab draws them itself, without a network.

    Charts are shown as ``application/vnd.vegalite.v5+json``: the specification, which `pytest --nbval` compares.
    Charts that you make with Altair get the theme, too, where it is installed.
    Frames are shown with all their columns and long texts whole; in a notebook texts are aligned to the left and
    have no quotes.

    Args:
        mode: ``light``, ``dark``, or ``auto``: the colours of JupyterLab's own theme.
    """
    _enabled[:] = [mode]
    _theme_altair(mode)
    display().show_frames()
    pl.Config(
        tbl_cols=-1,
        tbl_rows=16,
        fmt_str_lengths=300,
        tbl_width_chars=180,
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
    )


def active_config() -> dict[str, Any]:
    """The configuration of the mode that `enable_theme` chose, at first `auto`."""
    return config(_enabled[0])


def _theme_altair(mode: Mode) -> None:
    """Enable the theme for charts of Altair, shown as their specification.

    Python without docstrings (``-OO``) cannot import Altair, which makes functions of them.
    """
    if find_spec("altair") is None or sys.flags.optimize > 1:
        return
    import altair as alt  # noqa: PLC0415 - the theme is used without Altair

    alt.theme.register("iolab", enable=True)(lambda: alt.theme.ThemeConfig(config=config(mode)))  # type: ignore[typeddict-item,unused-ignore]
    alt.renderers.register("iolab", bundle)
    alt.renderers.enable("iolab")


def bundle(spec: dict[str, Any], **_: object) -> tuple[dict[str, Any], dict[str, Any]]:
    """A chart as its specification, in text its title; and how to draw it: as lines that stay sharp, not as dots."""
    title = spec.get("title", "")
    label = title.get("text", "") if isinstance(title, dict) else title
    data = {MIME: _zoomed(spec), "text/plain": f"<chart: {label or 'untitled'}>"}
    return data, {MIME: {"embed_options": {"renderer": "svg"}}}


def _zoomed(spec: dict[str, Any]) -> dict[str, Any]:
    """A chart that can be moved and zoomed where its axes are of numbers or times, and it has no choices of its own.

    The wheel zooms with Shift only: without it the notebook scrolls.

    Examples:
        >>> axes = {"x": {"field": "a", "type": "quantitative"}, "y": {"field": "b", "type": "temporal"}}
        >>> _zoomed({"mark": "point", "encoding": axes})["params"][0]["bind"]
        'scales'
        >>> "params" in _zoomed({"mark": "bar", "encoding": {**axes, "y": {"field": "c", "type": "nominal"}}})
        False
    """
    parts = [spec, *spec.get("layer", ())]
    axes = [part["encoding"][axis] for part in parts for axis in ("x", "y") if axis in part.get("encoding", {})]
    first = parts[-1] if len(parts) == 1 else parts[1]
    is_open = not any("params" in part for part in parts) and "mark" in first
    if not axes or not is_open or not {axis.get("type") for axis in axes} <= {"quantitative", "temporal"}:
        return spec
    moved = {**first, "params": [_MOVED]}
    return moved if first is spec else {**spec, "layer": [moved, *parts[2:]]}
