"""The colours of wait classes: each common class has its own in every chart, and no two of one chart share one."""

from collections.abc import Sequence
from itertools import chain, cycle
from typing import Final

#: What is drawn together because it is too little to draw alone; `Other` is a wait class of its own.
REST: Final = "(the rest)"
#: More are not told apart in one bar.
MOST_CLASSES: Final = 8
#: On a light and on a dark ground; green for the CPU and blue for I/O, as in Oracle's own tools.  Those of groups of
#: waits are the same in the profile of a page (`page.css`).
CLASS_COLOURS: Final = {
    "DB CPU": ("#1E7B45", "#5FD77C"),
    "User I/O": ("#0A3F94", "#4A82F0"),
    "System I/O": ("#2A7DE1", "#62B9F7"),
    "Commit": ("#C87A00", "#EE9A2B"),
    "Configuration": ("#5E3512", "#D8BD9E"),
    "Application": ("#DF4A55", "#E5484D"),
    "Concurrency": ("#7A1049", "#C4437A"),
    "Cluster": ("#8459BF", "#9273CC"),
    "Network": ("#666F00", "#DCE63C"),
    "not accounted for": ("#6C7682", "#8F99A6"),
    "background CPU": ("#4E463C", "#B3A48F"),
    REST: ("#8F84B5", "#857AAE"),
    "Other": ("#1599B5", "#C4ECFA"),
}
_OWN: Final = {name: light for name, (light, _) in CLASS_COLOURS.items()}
#: What other classes get: the colours that no class of the chart has, those that mean least first.
_SPARE: Final = (*reversed(_OWN.values()),)
#: The text of a page, not of a chart: it stays dark on a dark page, where bars are light.
_INK: Final = "#1B2128"


def class_colours(names: Sequence[str]) -> list[str]:
    """A colour for each class: its own, else one that none of the others has; above `MOST_CLASSES` they repeat.

    Examples:
        >>> class_colours(["DB CPU", "Cluster", "User I/O"])
        ['#1E7B45', '#8459BF', '#0A3F94']
    """
    taken = {_OWN[name] for name in names if name in _OWN}
    free = chain((colour for colour in _SPARE if colour not in taken), cycle(_SPARE))
    return [_OWN[name] if name in _OWN else next(free) for name in names]


def ink_on(colour: str) -> str:
    """The colour of a text on a coloured background: white or ink, whichever has the greater contrast.

    Examples:
        >>> ink_on("#0A3F94"), ink_on("#C87A00")
        ('white', '#1B2128')
    """
    return "white" if contrast("#FFFFFF", colour) >= contrast(_INK, colour) else _INK


def contrast(one: str, two: str) -> float:
    """The contrast of two colours, from 1 to 21.

    Source: WCAG 2.1, contrast ratio and relative luminance.

    Examples:
        >>> round(contrast("#FFFFFF", "#000000"), 1), round(contrast("#1E7B45", "#FFFFFF"), 1)
        (21.0, 5.3)
    """
    low, high = sorted(_luminance(colour) for colour in (one, two))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
