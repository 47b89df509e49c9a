"""Figures with bounds: arithmetic that carries the rounding of what was printed to what is computed from it.

A figure is a value between a lower and an upper bound.  Sums, differences, products and quotients of such figures are
again figures whose bounds hold every result that inputs within their bounds can give (interval arithmetic, R. E.
Moore, 1966).  The inputs are taken as independent: where one figure stands twice in a formula, the bounds are too wide,
never too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, cast

if TYPE_CHECKING:
    from collections.abc import Iterable

#: What stands for a figure: a number (exact), three numbers (value, lo, hi), a `Bounded`, or None (not known).
Figure: TypeAlias = "Bounded | float | Sequence[float | None] | None"

#: A clock of strace prints at most nine decimals; so far apart are the decimals it may print, in nanoseconds.
_TICKS: Final = (10**9, 10**6, 10**3, 1)
#: Figures that differ by no more than this share differ by the rounding of the arithmetic alone.
_ALIKE: Final = 1e-12


class RefusedError(ValueError):
    """The inputs do not support the metric; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Bounded:
    """A figure: a value and its bounds.

    Attributes:
        value: the figure.
        lo: it is not below this.
        hi: it is not above this.

    Examples:
        >>> time, reads = Bounded(0.73, 0.725, 0.74), Bounded.exact(1837)
        >>> (time * 1000 / reads).rounded(4)
        (0.3974, 0.3947, 0.4028)
    """

    value: float
    lo: float
    hi: float

    def __post_init__(self) -> None:
        """Refuse bounds that do not hold the value.

        Raises:
            RefusedError: one of them is not a finite number, or too large for one.
            ValueError: ``lo <= value <= hi`` does not hold.
        """
        if not all(map(_is_finite, (self.value, self.lo, self.hi))):
            raise RefusedError("a figure is not a finite number")
        if not self.lo <= self.value <= self.hi:
            raise ValueError(f"no bounds of a value: {self.lo} <= {self.value} <= {self.hi}")

    @classmethod
    def exact(cls, value: float) -> Bounded:
        """A figure that is known exactly, such as a count."""
        return cls(value, value, value)

    @classmethod
    def of(cls, figure: Figure) -> Bounded:
        """Any figure as a `Bounded`.

        Raises:
            RefusedError: there is no figure, or it is not finite.

        Examples:
            >>> Bounded.of(1841), Bounded.of((0.73, 0.725, 0.74)).hi
            (Bounded(value=1841, lo=1841, hi=1841), 0.74)
        """
        if isinstance(figure, Bounded):
            return figure
        if figure is None:
            raise RefusedError("there is no figure")
        if not isinstance(figure, Sequence):
            number = figure.item() if hasattr(figure, "item") else figure  # one of NumPy
            return cls.exact(number if isinstance(number, (int, float)) else float(number))
        value, lo, hi = (*figure, None, None)[:3]
        if value is None:
            raise RefusedError("there is no figure")
        return cls(value, value if lo is None else lo, value if hi is None else hi)

    @property
    def is_exact(self) -> bool:
        """Are the bounds the value?"""
        return self.lo == self.hi

    def rounded(self, digits: int) -> tuple[float, float, float]:
        """Value and bounds, rounded for display."""
        return round(self.value, digits), round(self.lo, digits), round(self.hi, digits)

    def whole(self) -> Bounded:
        """The same figure, known to be a whole number: no bound need lie between two of them.

        Raises:
            RefusedError: no whole number lies within the bounds.

        Examples:
            >>> Bounded(7.03, 6.6, 7.4).whole()
            Bounded(value=7, lo=7, hi=7)
        """
        lo, hi = math.ceil(self.lo), math.floor(self.hi)
        if lo > hi:
            raise RefusedError(f"no whole number lies between {show(self.lo)} and {show(self.hi)}")
        return Bounded(min(max(round(self.value), lo), hi), lo, hi)

    def __add__(self, other: Bounded | float) -> Bounded:
        other = Bounded.of(other)
        return Bounded(self.value + other.value, self.lo + other.lo, self.hi + other.hi)

    __radd__ = __add__

    def __sub__(self, other: Bounded | float) -> Bounded:
        other = Bounded.of(other)
        return Bounded(self.value - other.value, self.lo - other.hi, self.hi - other.lo)

    def __rsub__(self, other: Bounded | float) -> Bounded:
        return Bounded.of(other) - self

    def __mul__(self, other: Bounded | float) -> Bounded:
        other = Bounded.of(other)
        ends = [one * two for one in (self.lo, self.hi) for two in (other.lo, other.hi)]
        return Bounded(self.value * other.value, min(ends), max(ends))

    __rmul__ = __mul__

    def __truediv__(self, other: Bounded | float) -> Bounded:
        other = Bounded.of(other)
        if other.lo <= 0 <= other.hi:
            raise RefusedError(f"the divisor, {show(other)}, cannot be told from zero")
        ends = [one / two for one in (self.lo, self.hi) for two in (other.lo, other.hi)]
        return Bounded(self.value / other.value, min(ends), max(ends))

    def __rtruediv__(self, other: Bounded | float) -> Bounded:
        return Bounded.of(other) / self

    def __str__(self) -> str:
        return show(self)


def intersect(figures: Iterable[Bounded]) -> Bounded:
    """The one quantity that several figures show: what all their bounds allow.

    The value is that of the figure with the narrowest bounds, moved into the intersection where it lies outside.
    Bounds that miss each other by the rounding of the arithmetic alone meet.

    Raises:
        RefusedError: no value lies within all of them, so they are not one quantity; or there are none.

    Examples:
        >>> intersect([Bounded(199.27, 198.4, 200.2), Bounded(199.49, 199.485, 199.495)])
        Bounded(value=199.49, lo=199.485, hi=199.495)
    """
    several = list(figures)
    if not several:
        raise RefusedError("there is no figure")
    lo, hi = max(one.lo for one in several), min(one.hi for one in several)
    if lo > hi and math.isclose(lo, hi, rel_tol=_ALIKE):
        lo, hi = hi, lo
    if lo > hi:
        raise RefusedError("the figures contradict each other: " + ", ".join(show(one) for one in several))
    best = min(several, key=lambda one: one.hi - one.lo)
    return Bounded(min(max(best.value, lo), hi), lo, hi)


def show(figure: Bounded | float) -> str:
    """A figure as short text, for a basis or a reason.

    Examples:
        >>> show(Bounded(0.73, 0.725, 0.74)), show(1837), show(59301888.0), show(0.39738704)
        ('0.73 [0.725, 0.74]', '1837', '59301888', '0.397387')
    """
    if isinstance(figure, Bounded):
        text = show(figure.value)
        return text if figure.is_exact else f"{text} [{show(figure.lo)}, {show(figure.hi)}]"
    if float(figure).is_integer() and abs(figure) < 1e15:
        return str(int(figure))
    return f"{figure:.6g}"


def tick_of(nanoseconds: Iterable[int | None]) -> int:
    """The last decimal that all the times show, in nanoseconds: one second, millisecond, microsecond or nanosecond.

    strace cuts a time there, so the true one lies between what is printed and one tick more.

    Examples:
        >>> tick_of([2_132_000, 245_000]), tick_of([3_000_000_000]), tick_of([])
        (1000, 1000000000, 1)
    """
    times = [time for time in nanoseconds if time]
    if not times:
        return 1
    divisor = math.gcd(*times)
    # Of few times, whole milliseconds are more likely chance than a log that prints no microseconds.
    return next(tick for tick in _TICKS if divisor % tick == 0 and not (tick == 10**6 and len(times) < 3))


def within(value: float, figure: Bounded) -> bool:
    """Is the value one that the figure allows?"""
    return figure.lo <= value <= figure.hi


def row_figure(row: dict[str, object], column: str) -> Bounded | None:
    """The figure of a column that has ``_lo`` and ``_hi`` beside it; None where the cell is null, or no finite number.

    Examples:
        >>> row = {"time": 11100.0, "time_lo": 11050.0, "time_hi": 11150.0, "share": float("nan")}
        >>> print(row_figure(row, "time"), row_figure(row, "share"))
        11100 [11050, 11150] None
    """
    value, lo, hi = (_known(row.get(f"{column}{end}")) for end in ("", "_lo", "_hi"))
    if value is None:
        return None
    return Bounded(value, value if lo is None else min(lo, value), value if hi is None else max(hi, value))


def _known(cell: object) -> float | None:
    value = cast("float | None", cell)
    return value if value is not None and _is_finite(value) else None


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that no float holds
        return False
