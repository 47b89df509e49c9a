"""Elapsed: the clock of SET TIMING ON, in any language, as ticks of its last digit."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from lark.exceptions import UnexpectedInput

from logframe import LogParseError, explain
from sqlplusparse.lines import ELAPSED, GRAMMAR
from sqlplusparse.records import Clock, CustomTiming

#: The clients' word for "Elapsed" -> its language.  Any other label with a clock after it is read, and reported.
LABELS: Final = {
    "Elapsed": "en",
    "Abgelaufen": "de",
    "Ecoulé": "fr",
    "Écoulé": "fr",
    "Transcurrido": "es",
    "Decorrido": "pt",
    "Trascorso": "it",
    "経過": "ja",
    "경과": "ko",
    "已用时间": "zh_CN",
    "經歷時間": "zh_TW",
    "已用時間": "zh_TW",
    "Затрач.время": "ru",
}

_LONGEST_FIGURE: Final = 30


def read_clock(line: str, number: int) -> Clock | None:
    """The clock in an Elapsed line; None without one.

    Examples:
        >>> read_clock("已用时间:  04: 39: 53.10", 0)
        Clock(line=0, ticks=1679310, decimals=2, label='已用时间', printed='04: 39: 53.10')
    """
    found = _clock(line)
    return None if found is None else Clock(number, *found)


@lru_cache(maxsize=1 << 14)
def _clock(line: str) -> tuple[int, int, str, str] | None:
    """What a clock says, but for the line it stands in: most times of a session are short and alike."""
    found = ELAPSED.fullmatch(line)
    if found is None:
        return None
    label, hours, minutes, seconds = found.group("label", "hours", "minutes", "seconds")
    fraction = seconds[3:]
    ticks = int(f"{(int(hours) * 60 + int(minutes)) * 60 + int(seconds[:2])}{fraction}")
    return ticks, len(fraction), label.strip(), line[found.start("hours") : found.end("seconds")]


def explain_clock(line: str) -> tuple[int | None, str]:
    """Where a line stops being an Elapsed line (column from 1, None at its end), and what would have gone on.

    Examples:
        >>> explain_clock("Elapsed: 00:00:61.00")
        (16, 'seconds')
    """
    bare = line.lstrip()
    try:
        GRAMMAR.parse(bare, "elapsed")
    except UnexpectedInput as error:
        column, expected = explain(error)
        return None if column is None else column + len(line) - len(bare), expected
    return None, ""


def language_of(label: str) -> str | None:
    """The language of an Elapsed label; None for a label that is not known."""
    return LABELS.get(label if label.isascii() else "".join(label.split()))


class CustomPattern:
    r"""A caller's own regular expression for timings that scripts print.

    Groups: ``seconds``, ``ms`` or ``us`` hold the number; ``hours`` and ``minutes`` may stand beside ``seconds``;
    ``label`` says what was timed.

    Raises:
        LogParseError: the expression does not compile or has no group for the number.

    Examples:
        >>> CustomPattern(r"(?P<label>run) \d+ took (?P<ms>[\d.]+) ms").read("run 7 took 5714.0 ms", 3)
        CustomTiming(line=3, ticks=57140, decimals=4, label='run', printed='5714.0')
    """

    _EXPONENTS: Final = {"seconds": 0, "ms": 3, "us": 6}

    def __init__(self, pattern: str | re.Pattern[str]) -> None:
        try:
            self.pattern = re.compile(pattern)
        except re.error as error:
            raise LogParseError(
                f"the timing pattern does not compile: {error}", source="timing_pattern", text=str(pattern)
            ) from error
        units = [unit for unit in self._EXPONENTS if unit in self.pattern.groupindex]
        if len(units) != 1:
            raise LogParseError(
                "the timing pattern has no group for the number",
                source="timing_pattern",
                text=self.pattern.pattern,
                expected="one of (?P<seconds>...), (?P<ms>...), (?P<us>...)",
            )
        self.unit = units[0]

    def read(self, line: str, number: int) -> CustomTiming | None:
        """The timing in a line; None without one."""
        found = self.pattern.search(line)
        if found is None:
            return None
        groups = found.groupdict()
        printed = groups[self.unit] or ""
        whole, _, fraction = printed.strip().replace(",", ".").partition(".")
        if not _is_figure(whole + fraction):
            return None
        scale = 10 ** len(fraction)
        ticks = int(whole or "0") * scale + int(fraction or "0")
        for name, factor in (("hours", 3600), ("minutes", 60)):
            group = (groups.get(name) or "0").strip()
            if not _is_figure(group):
                return None
            ticks += int(group) * factor * scale
        return CustomTiming(
            number, ticks, len(fraction) + self._EXPONENTS[self.unit], (groups.get("label") or "").strip(), printed
        )


def _is_figure(text: str) -> bool:
    """Is a text digits only, and no more than a figure has?"""
    return text.isascii() and text.isdecimal() and len(text) <= _LONGEST_FIGURE
