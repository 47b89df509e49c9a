"""Summaries: the tables of ``strace -c`` and ``strace -C``.

``seconds`` is system CPU time unless ``-w`` was given; the table does not show which, so the columns keep the names
that strace prints.  Only the ``wall-`` columns of strace 7.1 and later are labelled as wall clock time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from logframe import Diagnostic, LogParseError, Source
from logframe.normalize import without_doubled_blank_lines, without_terminal_codes
from logframe.printed import finite
from logframe.ruled import columns_of, cut_row, is_ruler
from straceparse.dialects import SAMPLED_LINES, cleanup_of
from straceparse.opening import open_logs
from straceparse.records import GRAMMAR
from straceparse.schema import whole

if TYPE_CHECKING:
    from logframe import Log

#: Columns of a summary: one row per system call, and one named ``total``.
SUMMARY: Final = pl.Schema(
    {
        "log": pl.String,
        "line": pl.UInt32,
        "table": pl.UInt32,
        "personality": pl.String,
        "syscall": pl.String,
        "time_pct": pl.Float64,
        "seconds": pl.Float64,
        "usecs_per_call": pl.Float64,
        "calls": pl.Int64,
        "errors": pl.Int64,
        "min_s": pl.Float64,
        "max_s": pl.Float64,
        "wall_total_s": pl.Float64,
        "wall_min_s": pl.Float64,
        "wall_max_s": pl.Float64,
        "wall_usecs_per_call": pl.Float64,
    }
)

#: Heading printed by strace -> column name.
_HEADINGS: Final = {
    "% time": "time_pct",
    "seconds": "seconds",
    "usecs/call": "usecs_per_call",
    "calls": "calls",
    "errors": "errors",
    "syscall": "syscall",
    "shortest": "min_s",
    "longest": "max_s",
    "wall-total": "wall_total_s",
    "wall-min": "wall_min_s",
    "wall-max": "wall_max_s",
    "wall-avg": "wall_usecs_per_call",
}
_WHOLE: Final = ("calls", "errors")
#: After this many lines that are no rows a table is over.
_MOST_DAMAGED: Final = 8
#: This much of the beginning and of the end of a log may show that it is a summary.
_END_BYTES: Final = 1 << 18
#: Fewer lines than these do not show how a copy was made.
_FEWEST_SPACED: Final = 4
_INTERRUPTED: Final = "^C"
_HEADING_LINE = re.compile(GRAMMAR.pattern("{SYSCALL_HEADING}"))
_PERSONALITY = re.compile(GRAMMAR.pattern("{PERSONALITY_BEFORE}(?P<personality>{PERSONALITY_NAME}){PERSONALITY_AFTER}"))
_HEADING = re.compile(GRAMMAR.pattern("{HEADING_WORD}"))


def read_summary(source: Source, *, encoding: str | None = None) -> pl.DataFrame:
    """The tables of ``strace -c`` or ``-C``, one row per system call; the last row of a table is named ``total``.

    A blank cell is null: no errors, or no average in a total.  Decimal commas are accepted.

    Args:
        source: the summary, or a log that ends in one.
        encoding: as in `scan_strace`.

    Returns:
        The columns of `straceparse.SUMMARY`.

        * ``log``, ``line``: where the row stands; ``table``: number of the table in its log, from 1
        * ``personality``: ``32 bit`` and the like
        * ``syscall``; ``time_pct``; ``calls``; ``errors``
        * ``seconds``, ``usecs_per_call``: **system CPU time** without ``-w``, wall clock time with it
        * ``min_s``, ``max_s``: of one call (``-U``); ``wall_*``: wall clock time (7.1 and later)

    Raises:
        LogNotFoundError: there is no such log.
        LogParseError: the log has no such table.

    Examples:
        >>> table = b'''% time     seconds  usecs/call     calls    errors syscall
        ... ------ ----------- ----------- --------- --------- ----------------
        ...  75.51    0.000296           2       121         3 pread64
        ...  24,49    0,000096           1        60           write
        ... ------ ----------- ----------- --------- --------- ----------------
        ... 100.00    0.000392                   181         3 total'''
        >>> read_summary(table).select("syscall", "seconds", "calls", "errors").rows()
        [('pread64', 0.000296, 121, 3), ('write', 9.6e-05, 60, None), ('total', 0.000392, 181, 3)]
    """
    rows: list[dict[str, object]] = []
    names = []
    for log in open_logs(source, encoding=encoding):
        names.append(log.name)
        rows += _tables(log).rows
    if not rows:
        raise LogParseError(
            "no summary table", source=", ".join(names[:3]), expected="the output of strace -c, or a log of strace -C"
        )
    return pl.DataFrame(rows, schema=SUMMARY, orient="row")


def has_summary(log: Log) -> bool:
    """Whether a log has at least one row of a table of ``strace -c`` or ``-C``."""
    return bool(_tables(log).rows)


def ends_with_summary(log: Log) -> bool:
    """Whether such a row is among the first or the last lines of a log, however large it is."""
    ends = (log.head(_END_BYTES), log.tail(_END_BYTES))
    # a row has a column of system calls, so most other logs are known by a word
    return any(any(map(_HEADING_LINE.search, lines)) and _tables_in(lines, log.name).rows for lines in ends)


def unread_lines(log: Log, *, has_calls: bool) -> list[Diagnostic]:
    """The damaged rows of the tables of a log, and, where it is of tables alone, the lines that are no part of one.

    Args:
        log: the log.
        has_calls: it holds calls too (``strace -C``), whose lines are read elsewhere.
    """
    reason = "this is not a row of a table of strace -c, or a heading with a column that it does not have"
    lines, found = log.lines(), _tables(log)
    numbers = found.damaged if has_calls else sorted(found.damaged + found.others)
    return [Diagnostic(log.name, number, None, "unparsed", lines[number - 1], reason) for number in numbers]


class _Tables(NamedTuple):
    """The tables of a log.

    Attributes:
        rows: of all tables.
        damaged: numbers of the lines within a table that are no rows.
        others: numbers of the lines that are neither blank nor part of a table.
    """

    rows: list[dict[str, object]]
    damaged: list[int]
    others: list[int]


def _tables(log: Log) -> _Tables:
    """All tables of one log."""
    return _tables_in(log.lines(), log.name)


def _tables_in(lines: list[str], name: str) -> _Tables:
    """All tables among lines of a log, which may be a copy with a blank line after every line."""
    # a terminal shows the key that ended strace before the heading
    lines = [without_terminal_codes(line).removeprefix(_INTERRUPTED).expandtabs(8) for line in lines]
    lines = cleanup_of(lines[-SAMPLED_LINES:]).cleaned_lines(lines)
    line_map = without_doubled_blank_lines([line.rstrip() for line in lines], fewest=_FEWEST_SPACED)
    if line_map is None:
        return _tables_of(lines, name)
    found = _tables_of(line_map.select(lines), name)
    kept = line_map.kept
    rows = [{**row, "line": kept[int(str(row["line"])) - 1] + 1} for row in found.rows]
    damaged, others = ([kept[number - 1] + 1 for number in numbers] for numbers in (found.damaged, found.others))
    return _Tables(rows, damaged, others)


def _tables_of(lines: list[str], name: str) -> _Tables:
    """All tables among lines of which nothing is to be removed."""
    found = _Tables([], [], [])
    table, personality, place = 0, None, 0
    while place < len(lines):
        mode = _PERSONALITY.search(lines[place])
        if mode:
            personality = mode["personality"]
        if place + 1 < len(lines) and _HEADING_LINE.search(lines[place]) and is_ruler(lines[place + 1]):
            table += 1
            shared = {"log": name, "table": table, "personality": personality}
            rows, damaged, place = _table(lines, place)
            found.rows.extend({**shared, **row} for row in rows)
            found.damaged.extend(damaged)
            continue
        place += 1
        if lines[place - 1].strip() and not mode:
            found.others.append(place)
    return found


def names_below(heading: str) -> list[str]:
    """The columns of the rows below a heading; empty for another word."""
    return [_HEADINGS.get(word, "") for word in _HEADING.findall(heading)]


def _table(lines: list[str], place: int) -> tuple[list[dict[str, object]], list[int], int]:
    """The rows after one heading, the numbers of damaged ones, which end no table, and the position after them."""
    columns = columns_of(lines[place + 1])
    names = names_below(lines[place])
    rows: list[dict[str, object]] = []
    damaged = [place + 1] if len(set(names) - {""}) < len(columns) else []
    place += 2
    while place < len(lines):
        line = lines[place]
        row = None if is_ruler(line) else _row(line, cut_row(line, columns).cells, names)
        if row is None and (_begins_other(lines, place) or len(damaged) > _MOST_DAMAGED):
            break
        place += 1
        if row is None:
            if not is_ruler(line):
                damaged.append(place)
            continue
        rows.append({"line": place, **row})
        if row["syscall"] == "total":
            break
    return rows, damaged, place


def _begins_other(lines: list[str], place: int) -> bool:
    """Whether a line that is no row ends a table: a blank one, or one that begins the next table."""
    line = lines[place]
    is_heading = _HEADING_LINE.search(line) and place + 1 < len(lines) and is_ruler(lines[place + 1])
    return not line.strip() or bool(is_heading or _PERSONALITY.search(line))


def _row(line: str, cells: tuple[str, ...], names: list[str]) -> dict[str, object] | None:
    """One row; None where the line is not a row."""
    if not line.strip() or len(cells) != len(names):
        return None
    row: dict[str, object] = {}
    for name, cell in zip(names, cells, strict=True):
        if name == "syscall":
            row[name] = cell
        elif name and cell:
            try:
                row[name] = whole(int(cell)) if name in _WHOLE else finite(cell.replace(",", "."))
            except ValueError:
                return None
            if row[name] is None:  # a number that no column holds
                return None
    return row if row.get("syscall") and "calls" in row else None
