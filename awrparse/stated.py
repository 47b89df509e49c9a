"""Sums that a report states above its tables: ``Captured SQL account for 89.3% of Total DB Time (s): 12,613``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from logframe.printed import read_printed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from logframe.printed import DecimalMark

#: One row a sum: ``what`` is `pct` of ``of``, which is `seconds` where the line says so, with the bounds of rounding.
STATED: Final = pl.Schema(
    {
        "title": pl.String(),
        "what": pl.String(),
        "of": pl.String(),
        "pct": pl.Float64(),
        "pct_lo": pl.Float64(),
        "pct_hi": pl.Float64(),
        "seconds": pl.Float64(),
        "seconds_lo": pl.Float64(),
        "seconds_hi": pl.Float64(),
    }
)
_WHOLES: Final = ("total db time", "total cpu time", "total user i/o wait time")


def stated_sums(notes: Iterable[tuple[str, str]], decimal_mark: DecimalMark) -> pl.DataFrame:
    """The sums that the remarks above tables state (`STATED`).

    Args:
        notes: Title of each table, and a remark.
        decimal_mark: Of the report.

    Examples:
        >>> notes = [("Foreground Wait Class", "Captured Time accounts for 127.3% of Total DB time 601.61 (s)"),
        ...     ("Foreground Wait Class", "Total FG Wait Time: 522.90 (s) DB CPU time: 243.00 (s)"),
        ...     ("SQL ordered by Gets", "Captured SQL account for 3.2% of Total")]
        >>> stated_sums(notes, ".").select("what", "of", "pct", "seconds").rows()
        [('Time', 'Total DB time', 127.3, 601.61), ('FG Wait Time', None, None, 522.9), ('SQL', 'Total', 3.2, None)]
    """
    rows = [row for title, note in notes for row in _sums(title, note.replace("%", " % ").split(), decimal_mark)]
    return pl.DataFrame(rows, schema=STATED, orient="row")


def _sums(title: str, words: list[str], mark: DecimalMark) -> Iterator[tuple[object, ...]]:
    if words[:4] == ["Total", "FG", "Wait", "Time:"] and len(words) > 4:
        yield (title, "FG Wait Time", None, None, None, None, *_figure(words[4], mark))
    if words[:1] != ["Captured"] or "%" not in words[3:] or len(words) < 5:
        return
    place = words.index("%")
    after = words[place + 1 :]
    numbers = [word for word in after if word[:1].isdigit() or word[:1] in ".,"]
    whole = " ".join(word for word in after[1:] if word not in {*numbers, "(s)", "(s):"}).rstrip(":")
    seconds = numbers[-1] if numbers and whole.lower() in _WHOLES else ""
    yield (title, words[1], whole, *_figure(words[place - 1], mark), *_figure(seconds, mark))


def _figure(text: str, mark: DecimalMark) -> tuple[float | None, float | None, float | None]:
    one = read_printed(text, decimal=mark)
    return one.value, one.value if one.lo is None else one.lo, one.value if one.hi is None else one.hi
