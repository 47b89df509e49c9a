"""Rounding intervals: a value between its bounds, with arithmetic that carries the rounding of what was printed.

Sums, differences, products and quotients of intervals are again intervals, whose bounds hold every result that inputs
within their bounds can give (interval arithmetic, R. E. Moore, Interval Analysis, 1966).  The inputs are taken as
independent: where one figure is used twice in a formula, the bounds are too wide, never too narrow.

The bounds are those of rounding alone.  A sampling interval, such as the 95 % interval of a median, is another type
without this arithmetic.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from logframe.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterable

#: What stands for a figure: a number (exact), three numbers (value, lo, hi), a `Interval`, or None (not known).
Figure: TypeAlias = "Interval | float | Sequence[float | None] | None"

#: Figures that differ by no more than this share differ by the rounding of the arithmetic alone.
_ALIKE: Final = 1e-12
#: Bounds that are results of several operations may miss each other by this share.
_SLACK: Final = 1e-9

_LARGEST: Final = sys.float_info.max


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure: a value and its bounds.

    Attributes:
        value: the figure.
        lo: it is not below this.
        hi: it is not above this.

    Examples:
        >>> time, reads = Interval(0.73, 0.725, 0.74), Interval.exact(1837)
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
        if not (_is_finite(self.value) and _is_finite(self.lo) and _is_finite(self.hi)):
            raise RefusedError("a figure is not a finite number")
        if not self.lo <= self.value <= self.hi:
            raise ValueError(f"no bounds of a value: {self.lo} <= {self.value} <= {self.hi}")

    @classmethod
    def exact(cls, value: float) -> Interval:
        """A figure that is known exactly, such as a count."""
        return cls(value, value, value)

    @classmethod
    def of(cls, figure: Figure) -> Interval:
        """Any figure as a `Interval`.

        Raises:
            RefusedError: there is no figure, or it is not finite.

        Examples:
            >>> Interval.of(1841), Interval.of((0.73, 0.725, 0.74)).hi
            (Interval(value=1841, lo=1841, hi=1841), 0.74)
        """
        if isinstance(figure, Interval):
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

    def meets(self, other: Interval) -> bool:
        """Is there a value that both figures allow, but for the rounding of the arithmetic?

        Examples:
            >>> Interval(1.0, 0.95, 1.05).meets(Interval(1.1, 1.05, 1.15)), Interval.exact(1).meets(Interval.exact(2))
            (True, False)
        """
        slack = _SLACK * max(abs(self.hi), abs(other.hi), 1e-300)
        return self.lo <= other.hi + slack and other.lo <= self.hi + slack

    def rounded(self, digits: int) -> tuple[float, float, float]:
        """Value and bounds, rounded for display."""
        return round(self.value, digits), round(self.lo, digits), round(self.hi, digits)

    def capped(self, most: float) -> Interval:
        """The same figure, known to be no more than this.

        Examples:
            >>> Interval(1.02, 0.98, 1.06).capped(1)
            Interval(value=1, lo=0.98, hi=1)
        """
        return Interval(min(self.value, most), min(self.lo, most), min(self.hi, most))

    def whole(self) -> Interval:
        """The same figure, known to be a whole number: no bound need lie between two of them.

        Raises:
            RefusedError: no whole number lies within the bounds.

        Examples:
            >>> Interval(7.03, 6.6, 7.4).whole()
            Interval(value=7, lo=7, hi=7)
        """
        lo, hi = math.ceil(self.lo), math.floor(self.hi)
        if lo > hi:
            raise RefusedError(f"no whole number lies between {show(self.lo)} and {show(self.hi)}")
        return Interval(min(max(round(self.value), lo), hi), lo, hi)

    def __add__(self, other: Interval | float) -> Interval:
        other = Interval.of(other)
        return _computed(self.value + other.value, self.lo + other.lo, self.hi + other.hi)

    __radd__ = __add__

    def __sub__(self, other: Interval | float) -> Interval:
        other = Interval.of(other)
        return _computed(self.value - other.value, self.lo - other.hi, self.hi - other.lo)

    def __rsub__(self, other: Interval | float) -> Interval:
        return Interval.of(other) - self

    def __mul__(self, other: Interval | float) -> Interval:
        other = Interval.of(other)
        ends = [one * two for one in (self.lo, self.hi) for two in (other.lo, other.hi)]
        return _computed(self.value * other.value, min(ends), max(ends))

    __rmul__ = __mul__

    def __truediv__(self, other: Interval | float) -> Interval:
        other = Interval.of(other)
        if other.lo <= 0 <= other.hi:
            raise RefusedError(f"the divisor, {show(other)}, may be zero")
        ends = [one / two for one in (self.lo, self.hi) for two in (other.lo, other.hi)]
        return _computed(self.value / other.value, min(ends), max(ends))

    def __rtruediv__(self, other: Interval | float) -> Interval:
        return Interval.of(other) / self

    def __str__(self) -> str:
        return show(self)


def _computed(value: float, lo: float, hi: float) -> Interval:
    """The result of arithmetic: whole numbers are exact and their bounds may be rounded, so that the value misses them.

    Examples:
        >>> Interval(94906265 * 94906267, 0, 1e17) * Interval(1, 1.0, 1.0)
        Interval(value=9007199326062755, lo=0.0, hi=1e+17)
        >>> Interval(94906265, 94906265.0, 94906265.0) * Interval(94906267, 94906267.0, 94906267.0)
        Interval(value=9007199326062756.0, lo=9007199326062756.0, hi=9007199326062756.0)
    """
    return Interval(min(max(value, lo), hi), lo, hi)


def intersect(figures: Iterable[Interval]) -> Interval:
    """The one quantity that several figures show: what all their bounds allow.

    The value is that of the figure with the narrowest bounds, moved into the intersection where it lies outside.
    Bounds that miss each other by the rounding of the arithmetic alone meet.

    Raises:
        RefusedError: no value lies within all of them, so they are not one quantity; or there are not.

    Examples:
        >>> intersect([Interval(199.27, 198.4, 200.2), Interval(199.49, 199.485, 199.495)])
        Interval(value=199.49, lo=199.485, hi=199.495)
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
    return Interval(min(max(best.value, lo), hi), lo, hi)


def show(figure: Interval | float) -> str:
    """A figure as text, for a basis or a reason: value and bounds with the digits that the bounds support.

    Examples:
        >>> show(Interval(0.73, 0.725, 0.74)), show(1837), show(59301888.0), show(0.39738704)
        ('0.73 [0.725, 0.74]', '1837', '59301888', '0.397387')
        >>> show(Interval(5.28609, 5.28589, 5.28629))
        '5.28609 [5.28589, 5.28629]'
    """
    if not isinstance(figure, Interval):
        return f"{int(figure)}" if float(figure).is_integer() and abs(figure) < 1e15 else f"{figure:.6g}"
    decimals = decimals_of(figure.lo, figure.hi)
    if decimals is None:
        return show(figure.value)
    value, lo, hi = (_trimmed(number, decimals) for number in (figure.value, figure.lo, figure.hi))
    return f"{value} [{lo}, {hi}]"


def decimals_of(lo: float | None, hi: float | None) -> int | None:
    """How many decimals a value between two bounds is shown with; None where they do not say.

    The last digit shown is that of half the distance of the bounds, one more where it begins with 1 or 2.

    Examples:
        >>> decimals_of(0.725, 0.74), decimals_of(11050, 11150), decimals_of(5.0, 5.0), decimals_of(None, 5.0)
        (3, 0, None, None)
    """
    if lo is None or hi is None or not 0 < (half := hi / 2 - lo / 2) < math.inf:
        return None
    exponent = math.floor(math.log10(half))
    return max(0, -exponent + (half < 3 * 10.0**exponent))


def _trimmed(number: float, decimals: int) -> str:
    text = f"{number:z.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def within(value: float, figure: Interval) -> bool:
    """Is the value one that the figure allows?"""
    return figure.lo <= value <= figure.hi


#: What the names of the columns of a figure end in: its value, and its bounds.
ENDS: Final = ("", "_lo", "_hi")


def figure_cells(column: str, figure: Interval | None) -> dict[str, float | None]:
    """The cells of a figure in a column that has ``_lo`` and ``_hi`` beside it, for `row_figure` to read.

    Examples:
        >>> figure_cells("time", Interval(11100, 11050, 11150)), figure_cells("share", None)
        ({'time': 11100.0, 'time_lo': 11050.0, 'time_hi': 11150.0}, {'share': None, 'share_lo': None, 'share_hi': None})
    """
    if figure is None:
        return dict.fromkeys(f"{column}{end}" for end in ENDS)
    return {column: float(figure.value), f"{column}_lo": float(figure.lo), f"{column}_hi": float(figure.hi)}


def row_figure(row: dict[str, object], column: str) -> Interval | None:
    """The figure of a column that has ``_lo`` and ``_hi`` beside it; None where the cell is null, or no finite number.

    Examples:
        >>> row = {"time": 11100.0, "time_lo": 11050.0, "time_hi": 11150.0, "share": float("nan")}
        >>> print(row_figure(row, "time"), row_figure(row, "share"))
        11100 [11050, 11150] None
    """
    value = cast("float | None", row.get(column))
    if value is None or not _is_finite(value):
        return None
    lo, hi = (cast("float | None", row.get(f"{column}{end}")) for end in ("_lo", "_hi"))
    if lo is None or not _is_finite(lo):
        lo = value
    if hi is None or not _is_finite(hi):
        hi = value
    return Interval(value, min(lo, value), max(hi, value))


def _is_finite(value: float) -> bool:
    return -_LARGEST <= value <= _LARGEST  # a whole number may be larger than any float
