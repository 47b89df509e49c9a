"""Figures as an AWR report of Oracle 12.1 prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import datetime

    from awr_model import Wait

_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def time_of(time: datetime, *, seconds: bool) -> str:
    """A time as `DD-Mon-YY HH:MI[:SS]`, in English whatever the locale."""
    clock = f"{time:%H:%M:%S}" if seconds else f"{time:%H:%M}"
    return f"{time.day:02}-{_MONTHS[time.month - 1]}-{time:%y} {clock}"


def fixed(value: float, decimals: int = 1) -> str:
    """A number with thousands marked."""
    return f"{value:,.{decimals}f}"


def bare(value: float, decimals: int = 1) -> str:
    """A number without the zero before its point, as shares are printed."""
    text = f"{value:.{decimals}f}"
    return text.removeprefix("0") if text.startswith("0.") else text


def scaled(seconds: float) -> str:
    """A time of the list of top events: thousands as K from 10,000 on, no needless zero."""
    text = f"{seconds / 1000:.1f}K" if seconds >= 9_999.95 else f"{seconds:.1f}"
    return text.removesuffix(".0").removeprefix("0") or "0"


def in_thousands(count: float) -> str:
    """A number of waits as a histogram prints it: up to five figures, then K and M."""
    for unit, size in (("M", 1e6), ("K", 1e3)):
        if count >= size * (10 if unit == "K" else 1):
            text = f"{count / size:.1f}".removesuffix(".0")
            return f"{text}{unit}"
    return str(round(count))


def data(size: float) -> str:
    """A volume in units of 1024: `0M`, `812M`, `9.6G`."""
    for unit, bytes_ in (("T", 2**40), ("G", 2**30)):
        if size >= 10 * bytes_ or (unit == "G" and size >= bytes_):
            return f"{size / bytes_:.1f}".removesuffix(".0") + unit
    return f"{size / 2**20:.0f}M"


def data_rate(size: float) -> str:
    """A volume per second: megabytes with three decimals, then six figures without a unit."""
    megabytes = size / 2**20
    if not size:
        return "0M"
    return f"{bare(megabytes, 3)}M" if megabytes < 1 else f"{megabytes:.6g}"[:7]


def millis(wait_us: float, count: int) -> str:
    """An average wait; none without waits."""
    return f"{wait_us / 1000 / count:.2f}" if count else ""


def by_class(waits: tuple[Wait, ...]) -> dict[str, tuple[int, int, int]]:
    """Wait class -> waits, time, timeouts; idle waits left out."""
    sums: dict[str, tuple[int, int, int]] = {}
    for one in waits:
        if one.wait_class != "Idle":
            count, time_us, timeouts = sums.get(one.wait_class, (0, 0, 0))
            sums[one.wait_class] = (count + one.count, time_us + one.time_us, timeouts + one.timeouts)
    return sums
