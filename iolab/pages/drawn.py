"""Charts of pages, drawn as SVG: no script and no runtime in the page.

A chart is drawn in the colours of the light theme; the page's style sheet gives each of them its dark counterpart
(`dark_rules`), so that one drawing serves both.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Final

from iolab.charts._frames import CLASS_COLOURS
from iolab.charts.svg import svg_of
from iolab.charts.theme import CATEGORIES, CATEGORIES_DARK, INKS

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The width of the second drawing, for phones.
_NARROW: Final = 240
#: What the labels of a chart beside another take.
_LABELS: Final = 70


def drawn_html(spec: Mapping[str, Any], *, label: str = "", is_narrow: bool = True, width: int | None = None) -> str:
    """A chart as a drawing; beside it a narrow one, of which the page shows one or the other.

    Args:
        spec: a Vega-Lite specification, with its data inside.
        label: what the drawing shows, in a sentence, for readers who do not see it.
        is_narrow: whether a narrow drawing is made for phones.
        width: of the plot, where the drawing stands in a column: a wider one would be scaled down with its text.

    Examples:
        >>> spec = {"data": {"values": [{"x": 1}]}, "mark": "point", "encoding": {"x": {"field": "x",
        ...     "type": "quantitative"}}}
        >>> drawn_html(spec, label="a < b", is_narrow=False)[:59]
        '<figure class="drawn" role="img" aria-label="a &lt; b"><svg'
    """
    drawings = [svg_of(dict(spec) if width is None else _of_width(spec, width))]
    kinds = ["drawn"]
    if is_narrow and isinstance(_parts(spec)[0].get("width"), (int, float)):
        drawings.append(svg_of(_of_width(spec, _NARROW)))
        kinds = ["drawn wide-only", "drawn narrow-only"]
    return "".join(
        f'<figure class="{kind}" role="img" aria-label="{html.escape(label)}">{svg}</figure>'
        for kind, svg in zip(kinds, drawings, strict=True)
    )


def _parts(spec: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The charts of a specification: one, or those that stand below or beside each other."""
    return list(spec.get("vconcat") or spec.get("hconcat") or [spec])


def _of_width(spec: Mapping[str, Any], width: int) -> dict[str, Any]:
    if "hconcat" in spec:  # the parts share the width in proportion, and each has labels of its own
        widths = [part.get("width", 0) for part in _parts(spec)]
        if not all(isinstance(one, (int, float)) for one in widths) or not sum(widths):
            return dict(spec)
        factor = max(1, width - _LABELS * (len(widths) - 1)) / sum(widths)
        shared = [{**part, "width": round(factor * one)} for part, one in zip(_parts(spec), widths, strict=True)]
        return {**spec, "hconcat": shared}
    parts = [{**part, "width": width} if "width" in part else dict(part) for part in _parts(spec)]
    return {**spec, "vconcat": parts} if "vconcat" in spec else parts[0]


def dark_rules() -> str:
    """Rules of a style sheet that give each colour of the light theme its dark counterpart in drawings.

    Examples:
        >>> "figure.drawn [fill='#FFFFFF']{fill:#10151B}" in dark_rules()
        True
    """
    pairs = [*zip(CATEGORIES, CATEGORIES_DARK, strict=True), *CLASS_COLOURS.values()]
    pairs += [(INKS["light"][name], _PAGE_INKS[name]) for name in INKS["light"]]
    on_bars = f"figure.drawn text[fill='white']{{fill:{_PAGE_INKS['ground']}}}"  # bars are light on a dark page
    return on_bars + "".join(
        f"figure.drawn [{part}='{light}']{{{part}:{dark}}}" for light, dark in pairs for part in ("fill", "stroke")
    )


#: The inks of dark pages.
_PAGE_INKS: Final = {"ink": "#E5EAEF", "soft": "#A0ABB7", "grid": "#2F3944", "ground": "#10151B"}
