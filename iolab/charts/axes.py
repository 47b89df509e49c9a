"""The scales of drawings: where a value is in pixels, and where an axis is marked."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: Where something begins and ends, in pixels.
Span = tuple[float, float]
#: Steps of an axis of time, in seconds.
_TIME_STEPS: Final = (1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400, 604800, 2592000, 31536000)
#: The least pixels between two marks of an axis.
_MARK_EVERY: Final = 34
#: What a bar leaves of its row.
_PADDING: Final = 0.1


class Scale:
    """A linear or logarithmic scale, or one of time, in seconds."""

    def __init__(self, kind: str, values: Iterable[float | None], *, zero: bool, nice: bool, padding: float) -> None:
        self.kind, self.zero, self.nice, self.padding = kind, zero, nice, padding
        self.span: Span = (0.0, 1.0)
        self._reach([value for value in values if value is not None and (kind != "log" or value > 0)])

    def _reach(self, values: Sequence[float]) -> None:
        """From the least of the values to the greatest, or a little further."""
        self.values = values
        low, high = (min(values), max(values)) if values else (1.0, 1.0)
        if self.zero:
            low, high = min(low, 0.0), max(high, 0.0)
        if low == high and not self.padding:
            low, high = (low / 2, high * 2) if self.kind == "log" else (low - 0.5, high + 0.5)
        if self.nice and self.kind == "log":
            low, high = 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high))
        elif self.nice:
            step = _step(low, high, 10)
            low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
        self.low, self.high = low, high

    @staticmethod
    def share(scales: Sequence[Scale]) -> None:
        """Let scales reach from the least of their values to the greatest, as the first of them does."""
        values = [value for one in scales for value in one.values]
        for one in scales:
            one.zero, one.nice, one.padding = scales[0].zero, scales[0].nice, scales[0].padding
            one._reach(values)  # noqa: SLF001 - of this class

    def place(self, value: float) -> float:
        """Where a value is, in pixels.

        Examples:
            >>> scale = Scale("log", [1, 100], zero=False, nice=False, padding=0)
            >>> scale.span = (0, 100)
            >>> scale.place(10)
            50.0
        """
        start, end = self.span
        inset = math.copysign(self.padding, end - start)
        start, end = start + inset, end - inset
        low, high = self.low, self.high
        if self.kind == "log":
            value, low, high = math.log10(max(value, 1e-300)), math.log10(low), math.log10(high)
        return start + (end - start) * ((value - low) / (high - low) if high > low else 0.5)

    def labels(self, axis: dict[str, Any], *, along: float, most: int = 0) -> list[tuple[float, str]]:
        """Where the axis is marked, and with what; at most `most` marks on an axis of `along` pixels."""
        most = min(most or 99, max(2, int(along / _MARK_EVERY)))
        text = axis.get("format")
        if (values := axis.get("values")) is not None:
            every = -(-len(values) // most) if len(values) > most else 1
            return [(self.place(value), number_text(value, text)) for value in values[::every]]
        if self.kind == "time":
            every_s = next((one for one in _TIME_STEPS if (self.high - self.low) / one <= most), _TIME_STEPS[-1])
            numbers = range(math.ceil(self.low / every_s), math.floor(self.high / every_s) + 1)
            moments = [every_s * number for number in numbers]
            return [(self.place(tick), f"{datetime.fromtimestamp(tick, UTC):{text or '%H:%M'}}") for tick in moments]
        if self.kind == "log":
            return [(self.place(tick), number_text(tick, text)) for tick in self._decades(most)]
        least = axis.get("tickMinStep") or 0
        step = max(_step(self.low, self.high, most), least)
        ticks = [
            step * number
            for number in range(math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9) + 1)
        ]
        return [(self.place(tick), number_text(tick, text)) for tick in ticks]

    def minor(self) -> list[float]:
        """Where a logarithmic axis has lines without a label."""
        if self.kind != "log" or self.high / self.low > 1e6:
            return []
        return [self.place(tick) for tick in self._digits(range(1, 10))]

    def _digits(self, digits: Iterable[int]) -> list[float]:
        decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        ticks = [float(f"{digit}e{decade}") for decade in decades for digit in digits]
        return [tick for tick in ticks if self.low * 0.999999 <= tick <= self.high * 1.000001]

    def _decades(self, most: int) -> list[float]:
        for digits in (range(1, 10), (1, 2, 3, 5), (1, 2, 5), (1, 3), (1,)):
            ticks = self._digits(digits)
            if len(ticks) <= most:
                break
        if len(ticks) < 2:  # less than a decade: steps as of a linear axis
            step = _step(self.low, self.high, most)
            first, last = math.ceil(self.low / step), math.floor(self.high / step)
            return [step * number for number in range(max(first, 1), last + 1)]
        return ticks[:: -(-len(ticks) // most)]


class Band:
    """Names beside each other, each with a band of the same width."""

    def __init__(self, names: list[Any], channel: str) -> None:
        self.names = names
        self.channel = channel
        self.span: Span = (0.0, 1.0)

    def band(self, name: object, size: float | None = None) -> Span:
        """Where a name's band begins and ends, or a bar of some size in its middle.

        Examples:
            >>> band = Band(["a", "b"], "y")
            >>> band.span = (0, 100)
            >>> band.band("b"), band.band("b", 10)
            ((52.5, 97.5), (70.0, 80.0))
        """
        start, end = self.span
        step = (end - start) / max(len(self.names), 1)
        middle = start + step * (self.names.index(name) + 0.5)
        half = min(size, step) / 2 if size is not None else step * (1 - _PADDING) / 2
        return middle - half, middle + half

    def labels(self, axis: dict[str, Any], *, along: float, most: int = 0) -> list[tuple[float, str]]:  # noqa: ARG002 - as a scale
        """The middle of each band, and its name."""
        return [(sum(self.band(name)) / 2, str(name)) for name in self.names]


def _step(low: float, high: float, most: int) -> float:
    """The least of 1, 2 or 5 times a power of ten that gives at most `most` steps.

    Examples:
        >>> _step(0, 300, 7), _step(0, 1, 10)
        (50.0, 0.1)
    """
    least = (high - low) / max(most, 1)
    if least <= 0:
        return 1.0
    power = math.floor(math.log10(least))
    return next(
        step
        for step in (float(f"{digit}e{at}") for at in (power, power + 1) for digit in (1, 2, 5))
        if step >= least * (1 - 1e-9)
    )


def number_text(value: float, text: str | None = None) -> str:
    """A number of an axis, in a format of Vega that axes use.

    Examples:
        >>> number_text(1200.0), number_text(0.30000000000000004), number_text(0.2, "%"), number_text(3.0, "d")
        ('1,200', '0.3', '20%', '3')
    """
    if text == "%":
        return f"{value * 100:.10g}%"
    shown = float(f"{value:.10g}")
    if text == "d" or (shown == int(shown) and abs(shown) < 1e15):
        return f"{int(shown):,}"
    return f"{shown:,.6g}" if abs(shown) >= 1e-4 else f"{shown:g}"
