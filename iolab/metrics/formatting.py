"""Numbers as text: as many digits as their bounds support.

Every sentence, table and page formats figures here, so that one figure reads the same everywhere.
"""

import math
from datetime import datetime
from typing import Final

from logframe.interval import Interval, decimals_of

#: Seconds in each unit of `time_text`, from the largest that is used.
_TIME_UNITS: Final = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))
#: Shares from 10 % on are shown to 0.1 %.
_SHARE_TENTHS: Final = 0.1
#: Impacts below this would be shown as 0.0 %.
_LEAST_IMPACT: Final = 0.0005
#: An impact below the first is not all: it is at most the second, in per cent.
_ALL, _NOT_ALL = 1 - 1e-9, 99.9
#: A sentence shows a range where its ends differ by more than this, relative to the value.
RANGE: Final = 0.05
#: A gap between bounds that is the rounding of the arithmetic alone.
_NOTHING: Final = 1e-9


def format_figure(value: float | None, lo: float | None, hi: float | None, unit: str = "") -> tuple[str, str, str]:
    """The value and its bounds as texts, with as many digits as the bounds allow.

    Examples:
        >>> format_figure(0.39739, 0.39467, 0.40283)
        ('0.397', '0.395', '0.403')
        >>> format_figure(31.45698, None, None), format_figure(99.783, None, None, "%")
        (('31.46', '', ''), ('99.8', '', ''))
        >>> [format_figure(value, None, None)[0] for value in (9.0047e-05, 0.5, 0.99999)]
        ['0.00009005', '0.5', '1']
    """
    decimals = decimals_of(lo, hi)

    def shown(number: float | None) -> str:
        if number is None:
            return ""
        # "z": a limit that rounds to zero has no sign.
        return format_number(number, unit) if decimals is None else f"{number:z,.{decimals}f}"

    return shown(value), shown(lo), shown(hi)


def format_number(number: float, unit: str = "") -> str:
    """A number without bounds: two decimals, one of a percentage, none of 10,000 and more, four digits of small ones.

    Examples:
        >>> format_number(6.91), format_number(12345.6), format_number(0.000123), format_number(1.2e-12)
        ('6.91', '12,346', '0.000123', '0.0000000000012')
    """
    if not math.isfinite(number):
        return str(number)
    if float(number).is_integer() or abs(number) >= 10_000:
        return f"{number:,.0f}"
    if abs(number) < 1:  # four significant digits, never an exponent
        return f"{number:.{3 - math.floor(math.log10(abs(number)))}f}".rstrip("0").rstrip(".")
    return f"{number:,.{1 if unit == '%' else 2}f}"


def with_unit(text: str, unit: str) -> str:
    """A number's text with its unit after it.

    Examples:
        >>> with_unit("1.2", "x"), with_unit("1.2", "ms"), with_unit("1.2", "")
        ('1.2x', '1.2 ms', '1.2')
    """
    return f"{text}{'' if unit in ('', 'x') else ' '}{unit}"


def at_least_text(bound: float) -> str:
    """A lower bound for a sentence: three significant digits, never above the bound.

    Examples:
        >>> at_least_text(2.0964), at_least_text(1.2999), at_least_text(42.0), at_least_text(3_523.0)
        ('2.09', '1.29', '42', '3,520')
    """
    if not math.isfinite(bound) or bound <= 0:
        return figure_text(bound)
    step = 10.0 ** (math.floor(math.log10(bound)) - 2)
    return figure_text(math.floor(bound / step * (1 + 1e-12)) * step)


def apart_texts(one: float, two: float) -> tuple[str, str]:
    """Two figures for a sentence: three significant digits, more where only those tell the figures apart.

    Examples:
        >>> apart_texts(0.682, 5.286), apart_texts(52.392, 52.427), apart_texts(7.0, 7.0)
        (('0.682', '5.29'), ('52.39', '52.43'), ('7', '7'))
    """
    texts = figure_text(one), figure_text(two)
    size = math.floor(math.log10(abs(two))) if two else 0
    for digits in range(3 - size, 16 - size):
        if texts[0] != texts[1] or one == two:
            break
        texts = f"{one:,.{max(0, digits)}f}", f"{two:,.{max(0, digits)}f}"
    return texts


def figure_text(figure: Interval | float, unit: str = "", *, step: float | None = None) -> str:
    """A figure for a sentence: three significant digits, fewer where its bounds are wider; a range where they tell.

    A range is shown where its ends differ by more than 5 % of the value, rounded outwards.  Exact whole numbers are
    shown whole.

    Args:
        figure: the figure.
        unit: written after it.
        step: the finest step to show, such as 0.1; by default that of the significant digits.

    Examples:
        >>> figure_text(Interval(126.54, 126.42, 126.66)), figure_text(Interval(5.7, 5.65, 5.75))
        ('127', '5.7')
        >>> number = Interval(3, 2.4, 3.6)
        >>> figure_text(0.0013561), figure_text(26_990), figure_text(71_142.7, "MB/s"), figure_text(number)
        ('0.00136', '26,990', '71,100 MB/s', '2 to 4')
        >>> figure_text(Interval(0.0, 0.0, 0.04)), figure_text(Interval(999.96, 999.9, 1000.0))
        ('at most 0.04', '1,000')
        >>> figure_text(Interval(45.3, 37.4, 49.2))
        '37 to 50'
    """
    bounded = Interval.of(figure)
    suffix = f" {unit}" if unit else ""
    width = bounded.hi - bounded.lo
    is_exact = width <= _NOTHING * max(abs(bounded.value), abs(bounded.hi))
    if is_exact and float(bounded.value).is_integer():
        return f"{bounded.value:,.0f}{suffix}"
    step = max(step or 0, _step_of(bounded.value or bounded.hi))
    if not is_exact:
        step = max(step, 10.0 ** math.floor(math.log10(width) + _NOTHING))
        if not bounded.lo <= round(bounded.value / step) * step <= bounded.hi and width >= step:
            step /= 10  # the rounded value must stay one that the bounds allow
    decimals = max(0, -round(math.log10(step)))
    value = round(bounded.value / step) * step
    text = f"{value:,.{decimals}f}{suffix}"
    if width <= RANGE * abs(bounded.value) * (1 + _NOTHING):
        return text
    reach = step * (0.5 + 1e-6)
    if value - reach <= bounded.lo and bounded.hi <= value + reach:  # the shown digits imply the bounds
        return text
    lo = math.floor(bounded.lo / step + 1e-6) * step
    hi = math.ceil(bounded.hi / step - 1e-6) * step
    if hi - lo < 1.5 * step:  # the value is one of two neighbours: the last digit is not certain, and that is usual
        return text
    ends = "at most" if lo == 0 else f"{lo:,.{decimals}f} to"
    return f"{ends} {hi:,.{decimals}f}{suffix}"


def _step_of(value: float) -> float:
    """The step of the last of three significant digits."""
    return 10.0 ** (math.floor(math.log10(abs(value)) + _NOTHING) - 2) if value else 0.0


def share_text(share: Interval | float) -> str:
    """A share of a whole in per cent: to 0.1 % from 10 %, else two digits.

    Examples:
        >>> share_text(0.50999), share_text(Interval(0.975, 0.974, 0.9767)), share_text(0.0384), share_text(0.00123)
        ('51.0 %', '97.5 %', '3.8 %', '0.12 %')
    """
    percent = Interval.of(share) * 100
    size = percent.value or percent.hi
    step = _SHARE_TENTHS if size >= 10 else 10.0 ** (math.floor(math.log10(size)) - 1) if size > 0 else _SHARE_TENTHS
    if percent.value == percent.hi == 0:
        return "0 %"
    exact = Interval.exact(round(percent.value / step) * step) if percent.is_exact else percent
    if exact.is_exact:
        return f"{exact.value:.{max(0, -round(math.log10(step)))}f} %"
    return figure_text(exact, "%", step=step)


def impact_text(impact: float | None, least: float | None, *, at_most: str = "≤") -> str:
    """An impact as a number in per cent with one decimal, for a column of them; nothing without one.

    Args:
        impact: the impact, as a ratio.
        least: its lower bound; an impact that is at least nothing is an upper limit, and is marked as one.
        at_most: what marks it.

    Examples:
        >>> impact_text(0.5747, 0.5746), impact_text(0.5747, 0.0), impact_text(0.0002, 0.0001), impact_text(None, None)
        ('57.5', '≤ 57.5', '< 0.1', '')
        >>> impact_text(0.99996, 0.9999), impact_text(1.0, 1.0)
        ('99.9', '100.0')
    """
    if impact is None:
        return ""
    if 0 < impact < _LEAST_IMPACT:
        return "< 0.1"
    mark = f"{at_most} " if least == 0 < impact else ""
    return f"{mark}{100 * impact if impact >= _ALL else min(100 * impact, _NOT_ALL):.1f}"


def time_text(seconds: Interval | float) -> str:
    """A time in s, ms or us, whichever gives one digit or more before the point.

    Examples:
        >>> time_text(Interval(0.00075858, 0.0007585, 0.0007587)), time_text(12.18), time_text(4e-05)
        ('759 us', '12.2 s', '40.0 us')
    """
    bounded = Interval.of(seconds)
    size, unit = next(((size, unit) for size, unit in _TIME_UNITS if bounded.value >= size), _TIME_UNITS[-1])
    return figure_text(bounded / size, unit)


def until_text(begin: datetime, end: datetime, clock: str = "%H:%M:%S") -> str:
    """The end of a period, with its day where that is another than the day of the begin.

    Examples:
        >>> from datetime import datetime
        >>> begin = datetime(2026, 3, 2, 23, 0)
        >>> until_text(begin, datetime(2026, 3, 2, 23, 5)), until_text(begin, datetime(2026, 3, 3), "%H:%M")
        ('23:05:00', '2026-03-03 00:00')
    """
    return f"{end:{clock}}" if begin.date() == end.date() else f"{end:%Y-%m-%d {clock}}"


def size_text(size: int, *, largest: str = "GiB") -> str:
    """A number of bytes in the largest unit that it reaches, bytes below 1 KiB; sizes of requests stay in KiB.

    Examples:
        >>> size_text(512), size_text(491_520), size_text(16_515_072), size_text(1_032_192, largest="KiB")
        ('512 bytes', '480 KiB', '15.8 MiB', '1,008 KiB')
    """
    names = ("bytes", "KiB", "MiB", "GiB")
    power = min(names.index(largest), max(0, (size.bit_length() - 1) // 10))
    unit = 2 ** (10 * power)
    return figure_text(size // unit if size % unit == 0 else float(f"{size / unit:.6g}"), names[power])


#: Characters of a text, as of a statement, within a sentence.
MOST_TEXT: Final = 60


def short_text(text: str, most: int) -> str:
    r"""A text on one line, cut after this many characters.

    Examples:
        >>> short_text("select  *\n from t", 20), short_text("select * from t", 9)
        ('select * from t', 'select *...')
    """
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= most else f"{one_line[:most].rstrip()}..."


def as_sentence(text: str) -> str:
    """A remark as a sentence: with a capital, unless it begins with a name of the log, and with a full stop.

    Examples:
        >>> as_sentence("the same request may count more than once"), as_sentence("iostat.out has no times.")
        ('The same request may count more than once.', 'iostat.out has no times.')
    """
    first = text.split(" ", maxsplit=1)[0].rstrip(",;:")
    begin = text[:1].upper() if first.isalpha() else text[:1]
    return f"{begin}{text[1:].removesuffix('.')}."


def count_text(count: float, one: str, several: str | None = None) -> str:
    """A count and its word.

    Examples:
        >>> count_text(1, "wait"), count_text(21_628_695, "wait"), count_text(2, "query", "queries")
        ('1 wait', '21,628,695 waits', '2 queries')
    """
    return f"{count:,.0f} {one if count == 1 else several or one + 's'}"
