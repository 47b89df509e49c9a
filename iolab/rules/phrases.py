"""Phrases of sentences: figures with three significant digits, shares, rates, averages, in the same words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from iolab.metrics.formatting import RANGE
from logframe.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Widths of ranges are compared with a margin for the rounding of the arithmetic.
_NEARLY: Final = 1 + 1e-9
#: Shares from here on are whole per cent.
_WHOLE: Final = 9.95
#: A share in per cent from here on is all, but for the rounding of the arithmetic.
ALL: Final = 100 - 1e-7
#: Ratios this near to 1 are 1 in a sentence.
_SAME: Final = 0.005
#: Nearly all of a time.
NEARLY_ALL: Final = 0.95
_UNITS: Final = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


def three(value: float) -> str:
    """A number with three significant digits and no exponent; a whole number below 10,000 is written whole.

    Examples:
        >>> [three(value) for value in (853.7, 12.106, 0.33612, 175_512.0, 2.9, 0.0, 1_837)]
        ['854', '12.1', '0.336', '176,000', '2.90', '0', '1,837']
    """
    if not math.isfinite(value):
        return str(value)
    if value == 0 or (float(value).is_integer() and abs(value) < 10_000):
        return f"{value:,.0f}"
    exponent = math.floor(math.log10(abs(value)))
    step = 10.0 ** (exponent - 2)
    rounded = round(value / step) * step
    return f"{rounded:,.{max(0, 2 - math.floor(math.log10(abs(rounded))))}f}"


def percent(share: Interval | float) -> str:
    """A share as per cent: whole from 10 % on, with one decimal below; a range where the bounds tell.

    Examples:
        >>> percent(0.7402), percent(Interval(0.6, 0.502, 0.781)), percent(0.0981), percent(Interval(0.3, 0, 0.785))
        ('74 %', '50 to 78 %', '9.8 %', 'at most 79 %')
        >>> percent(0.0004), percent(0.0), percent(0.9996), percent(Interval(0.13, 0.126, 0.1335))
        ('less than 0.1 %', '0 %', '99.9 %', '13 %')
    """
    of = Interval.of(share) * 100
    if of.hi == 0:
        return "0 %"
    if of.hi < 0.05:
        return "less than 0.1 %"
    if of.hi - of.lo > max(RANGE * of.value, 0.15) * _NEARLY:
        lo, hi = _per_cent(of.lo), _per_cent(of.hi)
        if of.lo <= 0:
            return f"at most {_ceil(of.hi)} %"
        if lo != hi:
            return f"{lo} to {hi} %"
    return f"{_per_cent(of.value)} %"


def _per_cent(value: float) -> str:
    if value < _WHOLE or 99 < value < ALL:
        return f"{value:.1f}" if not 99.9 < value < ALL else "99.9"  # which is not all
    return f"{value:.0f}"


def _ceil(value: float) -> str:
    return f"{math.ceil(value * 10 - 1e-6) / 10:.1f}" if value < _WHOLE else f"{math.ceil(value - 1e-6):.0f}"


def seconds(figure: Interval | float) -> str:
    """A time with three significant digits in s, ms, us or ns; a range where the bounds tell.

    Examples:
        >>> seconds(9_388.2), seconds(0.012106), seconds(Interval(0.33, 0.32, 0.345)), seconds(Interval(0.1, 0.0, 0.2))
        ('9,390 s', '12.1 ms', '320 to 345 ms', 'at most 200 ms')
    """
    of = Interval.of(figure)
    size, unit = next(((size, unit) for size, unit in _UNITS if abs(of.hi) >= size), _UNITS[-1])
    if of.hi - of.lo > RANGE * abs(of.value) * _NEARLY:
        hi = three(of.hi / size)
        return f"at most {hi} {unit}" if of.lo <= 0 else f"{three(of.lo / size)} to {hi} {unit}"
    return f"{three(of.value / size)} {unit}"


def counted(count: float, noun: str) -> str:
    """A count and its noun, given in the plural.

    Examples:
        >>> counted(1, "waits"), counted(770_898, "waits"), counted(2, "executions")
        ('1 wait', '770,898 waits', '2 executions')
    """
    return f"{count:,.0f} {noun.removesuffix('s') if count == 1 else noun}"


def capital(text: str) -> str:
    """A text with a capital, for the begin of a sentence."""
    return text[:1].upper() + text[1:]


def times_as(ratio: float, word: str, less: str) -> str:
    """How much more or less often, or long, something was.

    Examples:
        >>> times_as(1.494, "often", "less often"), times_as(0.657, "often", "less often"), times_as(1, "long", "less")
        ('1.49 times as often', '34 % less often', 'as long')
    """
    if math.isclose(ratio, 1, abs_tol=_SAME):
        return f"as {word}"
    return f"{three(ratio)} times as {word}" if ratio > 1 else f"{percent(1 - ratio)} {less}"


def every(count: int, noun: str) -> str:
    """All things of a kind as a subject, given in the plural.

    Examples:
        >>> every(1, "reads"), every(2, "reads"), every(2_048, "file reads")
        ('The only read', 'Both reads', 'All 2,048 file reads')
    """
    return {1: f"The only {noun.removesuffix('s')}", 2: f"Both {noun}"}.get(count, f"All {count:,} {noun}")


def named_list(names: Sequence[str]) -> str:
    """Up to three names, else the first two and how many others.

    Examples:
        >>> named_list(["a"]), named_list(["a", "b", "c"]), named_list(["a", "b", "c", "d"])
        ('a', 'a, b and c', 'a, b and 2 others')
    """
    return joined([*names] if len(names) <= 3 else [*names[:2], f"{len(names) - 2} others"])


def joined(parts: Sequence[str], word: str = "and") -> str:
    """Parts with commas between them, and a word before the last one.

    Examples:
        >>> joined(["a"]), joined(["a", "b", "c"], "or")
        ('a', 'a, b or c')
    """
    return f" {word} ".join([*([", ".join(parts[:-1])] if parts[1:] else []), *parts[-1:]])


def often_each(count: Interval, elapsed: Interval | None, noun: str, each: str) -> str:
    """How often, and how long each time.

    Examples:
        >>> often_each(Interval.exact(1), None, "waits", "182 s"), often_each(Interval.exact(3), None, "waits", "2 s")
        ('1 wait of 182 s', '3 waits, 2 s each')
    """
    said = often(count, elapsed, noun)
    if not each or count.value == 1:
        return f"{said} of {each}" if each else said
    return f"{said}, {each} {'on average' if each.startswith('at most') or ' to ' in each else 'each'}"


def often(count: Interval, elapsed: Interval | None, noun: str) -> str:
    """How often: a rate per second where it is 1 or more, else the count.

    Examples:
        >>> often(Interval.exact(770_898), Interval.exact(903), "waits"), often(Interval.exact(3), None, "waits")
        ('854 waits per second', '3 waits')
    """
    if elapsed is not None and elapsed.value > 0 and (rate := count.value / elapsed.value) >= 1:
        return f"{three(rate)} {noun} per second"
    return counted(count.value, noun)
