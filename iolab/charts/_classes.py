"""The colours of wait classes: each common class has its own in every chart, and no two of one chart share one."""

from collections.abc import Sequence
from itertools import chain, cycle
from typing import Final

from iolab.charts.theme import CATEGORIES

#: What is drawn together because it is too little to draw alone; `Other` is a wait class of its own.
REST: Final = "(the rest)"
#: As many as there are colours.
MOST_CLASSES: Final = len(CATEGORIES)
_BLUE, _ORANGE, _GREEN, _PINK, _SKY, _RED, _OLIVE, _GREY = CATEGORIES
#: Green for the CPU and blue for I/O, as in Oracle's own tools.
_OWN: Final = {
    "DB CPU": _GREEN,
    "User I/O": _BLUE,
    "System I/O": _SKY,
    "Commit": _ORANGE,
    "Concurrency": _RED,
    "Application": _PINK,
    "Configuration": _OLIVE,
    REST: _GREY,
    "background CPU": "#7FCFB8",
    "not accounted for": "#C8CED6",
}
#: What other classes get, in this order.
_SPARE: Final = (_GREY, _OLIVE, _PINK, _ORANGE, _RED, _SKY, _BLUE, _GREEN)
#: On these white can be read, on the others the colour of ink.
_DARK: Final = (_BLUE, _GREEN, _RED)


def class_colours(names: Sequence[str]) -> list[str]:
    """A colour for each class: its own, else one that none of the others has; above `MOST_CLASSES` they repeat.

    Examples:
        >>> class_colours(["DB CPU", "Cluster", "User I/O"])
        ['#009E73', '#7F7F7F', '#0072B2']
    """
    taken = {_OWN[name] for name in names if name in _OWN}
    # Blue and green last: they mean something.
    free = chain((colour for colour in _SPARE if colour not in taken), cycle(CATEGORIES))
    return [_OWN[name] if name in _OWN else next(free) for name in names]


def ink_on(colour: str) -> str:
    """The colour of a text on a coloured background.

    Examples:
        >>> ink_on("#0072B2"), ink_on("#E69F00")
        ('white', '#1F2933')
    """
    return "white" if colour in _DARK else "#1F2933"
