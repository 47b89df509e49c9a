"""`read_spool`: a session's log as frames, and many sessions as one frame.

Before it is read: the encoding of a session that is not UTF-8, by words that its client prints, and what a log is when
it is no session.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

import polars as pl

from logframe import (
    Diagnostic,
    Log,
    LogParseError,
    Source,
    diagnostics_frame,
    distinct_names,
    load_grammar,
    open_log,
    open_logs,
)
from logframe.parsed_log import ParsedLog
from logframe.processes import paused_collection
from logframe.wording import counted
from sqlplusparse.blocks import read_blocks
from sqlplusparse.cells import cells_of
from sqlplusparse.elapsed import CustomPattern
from sqlplusparse.frames import (
    autotrace_frame,
    lines_frame,
    monitor_lines_frame,
    monitors_frame,
    note_overflows,
    plans_frame,
    renumbered,
    session_record,
    statements_frame,
    statistics_frame,
    subtract_statistics,
    table_frame,
    tables_frame,
    timings_frame,
    unparsed,
)
from sqlplusparse.grids import unfold
from sqlplusparse.lines import Kind, Pattern
from sqlplusparse.listings import read_listing
from sqlplusparse.missing_lines import note_missing_lines
from sqlplusparse.monitor import link_plans, note_untitled, owner_of, read_monitors
from sqlplusparse.page import LineRole, Page
from sqlplusparse.records import Grid, Listing, Plan, Statement
from sqlplusparse.runs import find_runs
from sqlplusparse.schemas import SPOOL_SCHEMAS
from sqlplusparse.session import read_statements
from sqlplusparse.wrapped import add_blank_rows, join_wrapped

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from sqlplusparse.records import Block


#: Encodings of consoles and spools, with the word for Elapsed in a language that is written in them; where that word is
#: plain ASCII, with other words of the client.
_WORDS: Final = (
    ("cp932", "経過"),
    ("euc-jp", "経過"),
    ("big5", "已用時間"),
    ("cp949", "경   과"),
    ("cp1251", "Затрач"),
    ("koi8-r", "Затрач"),
    ("cp866", "Затрач"),
    ("cp850", "Ecoulé"),
    *(
        ("cp850", word)
        for word in (
            *("ausgewählt", "gelöscht", "geändert", "Ausführungsplan", "línea", "Sesión", "Confirmación", "concluído"),
            *("não há", "sélectionnée", "terminée"),
        )
    ),
)


def read_text(log: Log) -> tuple[str, str, tuple[Diagnostic, ...]]:
    """The text of a log, its encoding and the notes about it; a known word corrects a guess."""
    text = log.text()
    guesses = [note for note in log.notes if note.kind == "encoding" and "a guess" in note.reason]
    if not guesses or any(word in text for _, word in _WORDS):
        return text, log.encoding, log.notes
    content = text.encode(log.encoding, errors="replace")
    for encoding, word in _WORDS:
        if word.encode(encoding) in content:
            notes = [
                note._replace(reason=note.reason.replace(f"read as {log.encoding}", f"read as {encoding}"))
                if note in guesses
                else note
                for note in log.notes
            ]
            return content.decode(encoding, errors="backslashreplace"), encoding, tuple(notes)
    return text, log.encoding, log.notes


GRAMMAR: Final = load_grammar("sqlplusparse", "sniff.lark", "line")
#: What the beginning of a line shows a log to be, and which reader takes it.
_SIGNS: Final = (
    (
        Pattern("(?m)^{TKPROF}", GRAMMAR),
        "a TKPROF report",
        "a SQL*Plus or SQLcl session; sqltraceparse reads TKPROF reports",
    ),
    (
        Pattern("(?m)^{REPORT}|{REPORT_TITLE}", GRAMMAR),
        "an AWR or Statspack report",
        "a SQL*Plus or SQLcl session; read_awr reads reports",
    ),
    (
        Pattern("(?m)^{SQL_TRACE}", GRAMMAR),
        "an extended SQL trace (event 10046)",
        "a SQL*Plus or SQLcl session; sqltraceparse reads SQL traces",
    ),
    (
        Pattern("(?m)^{TRACE_FILE}", GRAMMAR),
        "a trace file of the database",
        "a SQL*Plus or SQLcl session; trace files are not read",
    ),
    (
        Pattern("(?m)^{STRACE}", GRAMMAR),
        "an strace log",
        "a SQL*Plus or SQLcl session; straceparse reads strace logs",
    ),
)
#: Signs are looked for in this much text.
_HEAD: Final = 1 << 16
#: Kinds of lines that only a session has.
_OWN: Final = frozenset({Kind.PROMPT, Kind.ELAPSED, Kind.STATISTIC, Kind.PLAN_HEADING})
_CONTROL: Final = Pattern("{CONTROL}", GRAMMAR)


def other_format(text: str) -> tuple[str, str] | None:
    """What a text is when it is another kind of log, and what to do with it; None when nothing says so.

    Examples:
        >>> other_format("PARSING IN CURSOR #2 len=20")
        ('an extended SQL trace (event 10046)', 'a SQL*Plus or SQLcl session; sqltraceparse reads SQL traces')
    """
    head = text[:_HEAD]
    return next(((what, hint) for sign, what, hint in _SIGNS if sign.search(head)), None)


def is_binary(text: str) -> bool:
    """Is this no text: are more than a few of its characters control characters?"""
    head = text[:_HEAD]
    return sum(1 for _ in _CONTROL.finditer(head)) > 0.02 * max(len(head), 1)


def refuse_others(page: Page, text: str) -> None:
    """Raise when the text is another kind of log; note the lines of a SQL trace that a session holds."""
    if _OWN.isdisjoint(page.kinds) and (other := other_format(text)) is not None:
        raise LogParseError(f"this is {other[0]}", source=page.source, expected=other[1])
    traced = page.kinds.count(Kind.TRACE)
    if traced:
        page.note(page.kinds.index(Kind.TRACE), "foreign", f"{traced} lines of an extended SQL trace are not read")


def no_session(name: str, text: str, page: Page) -> LogParseError:
    """The error for a log without a statement, a timing, a listing or a plan."""
    if other := other_format(text):
        return LogParseError(f"this is {other[0]}", source=name, expected=other[1])
    damaged = next((note for note in page.notes if note.kind == "damaged"), None)
    if damaged is not None:
        return damaged.to_error()
    return LogParseError(
        "no session: no statement, feedback, Elapsed, autotrace, plan, listing or result was found",
        source=name,
        line=1,
        text=page.lines[0][:200],
        expected="the output of SQL*Plus or SQLcl",
    )


#: The frames of a session by name.
FRAMES: Final = (
    "statements",
    "timings",
    "autotrace",
    "statistics",
    "plans",
    "monitors",
    "monitor_lines",
    "tables",
    "diagnostics",
)

_SPLIT: Final = (Grid, Listing, Plan)
#: At most this many lines above a statement name it.
_LONGEST_TITLE: Final = 2


@dataclass(frozen=True, repr=False)
class Spool(ParsedLog):
    """A SQL*Plus or SQLcl session as frames; `statement` joins them.

    Attributes:
        format: ``sqlplus``, its name among the registered formats.
        kind: ``session``.
        source: name of the log.
        encoding: how its bytes were read.
        statements: one row a statement (`STATEMENTS`).
        timings: one row an Elapsed line, timer or custom timing (`TIMINGS`).
        autotrace: one row a statistic of an autotrace list (`AUTOTRACE`).
        statistics: one row a figure of a listing of session or system statistics (`STATISTICS`).
        plans: one row an operation of a plan (`PLANS`); made on first use.
        monitors: one row a report of SQL Monitor, with its global statistics (`MONITORS`).
        monitor_lines: one row a line of a plan in such a report (`MONITOR_LINES`).
        tables: one row any other result grid (`TABLES`).
        diagnostics: what was not read, guessed or is worth a look (`logframe.DIAGNOSTICS`).
    """

    source: str
    encoding: str
    statements: pl.DataFrame
    timings: pl.DataFrame
    autotrace: pl.DataFrame
    statistics: pl.DataFrame
    monitors: pl.DataFrame
    monitor_lines: pl.DataFrame
    tables: pl.DataFrame
    diagnostics: pl.DataFrame
    _page: Page = field(repr=False, compare=False)
    _grids: tuple[Grid, ...] = field(repr=False, compare=False)
    _plans: tuple[tuple[int | None, Plan], ...] = field(repr=False, compare=False)
    _has_bounds: bool = field(repr=False, compare=False)

    @property
    def format(self) -> Literal["sqlplus"]:
        """The format's name in the registry."""
        return "sqlplus"

    @property
    def kind(self) -> str:
        """What the format calls this kind of log."""
        return "session"

    def frames(self) -> dict[str, pl.DataFrame]:
        """Every frame of the session by name, and its repeated statements as samples (`runs`)."""
        names = ("statements", "timings", "autotrace", "statistics", "plans", "tables")
        return {**{name: getattr(self, name) for name in names}, "runs": self.runs()}

    def describe(self) -> str:
        """What the session is, in a few words."""
        return f"SQL*Plus session, {counted(self.statements.height, 'statement')}"

    @cached_property
    def plans(self) -> pl.DataFrame:
        """One row an operation of a plan (`PLANS`); made on first use."""
        return renumbered(plans_frame(list(self._plans), printed=self._has_bounds), self._page.line_map)

    def table(self, table: int, *, printed: bool | None = None) -> pl.DataFrame:
        r"""The rows of one result grid, typed.

        Args:
            table: its number in `tables`.
            printed: add ``<column>_lo`` and ``<column>_hi`` to columns of decimal numbers; by default as for
                `read_spool`.

        Raises:
            IndexError: there is no such grid.

        Examples:
            >>> spool = read_spool(b"SQL> select * from dual;\n\nD\n-\nX\n")
            >>> spool.table(1).rows()
            [('X',)]
        """
        if not 1 <= table <= len(self._grids):
            raise IndexError(f"no table {table}; the session has {len(self._grids)}")
        has_bounds = self._has_bounds if printed is None else printed
        return table_frame(self._page, self._grids[table - 1], printed=has_bounds)

    def table_rows(self, table: int) -> list[tuple[str, ...]]:
        """The cells of one result grid as printed, row by row."""
        return [tuple(cell.strip() for cell in cells) for _, cells in cells_of(self._page, self._grids[table - 1])]

    def table_cells(self, table: int) -> pl.DataFrame:
        """The rows of one result grid as printed: ``line``, and a column of texts for each heading."""
        grid = self._grids[table - 1]
        lines, texts = self.table_lines(table), self.table_rows(table)
        rows = [(line, *cells) for line, cells in zip(lines, texts, strict=True)]
        names = [
            f"{name}_{place}" if name in grid.headings[:place] else name for place, name in enumerate(grid.headings)
        ]
        return pl.DataFrame(rows, schema={"line": pl.UInt32, **dict.fromkeys(names, pl.String)}, orient="row")

    def table_lines(self, table: int) -> list[int]:
        """The line where each row of a result grid starts, counted from 1."""
        return [self._page.place(line) + 1 for line, _ in cells_of(self._page, self._grids[table - 1])]

    def title(self, line: int) -> str:
        r"""The lines of text above a line, but for blank ones between, as they may name what stands there.

        Examples:
            >>> read_spool(b"With a hint\n\n\n  8 rows selected.\n").title(4)
            'With a hint'
        """
        page = self._page
        end = bisect_left(range(len(page)), line, key=lambda number: page.place(number) + 1)
        while end and page.kinds[end - 1] == Kind.BLANK:
            end -= 1
        first = end
        while first and page.roles[first - 1] == LineRole.TEXT:
            first -= 1
        return " ".join(line.strip() for line in page.lines[max(first, end - _LONGEST_TITLE) : end])

    def substituted(self, line: int) -> str:
        r"""The lines of a query with its variables replaced (SET VERIFY), as far as they stand right above a line.

        Examples:
            >>> log = b"old   2: where sid = &1\nnew   2: where sid = 42\n\n       SID\n----------\n        42\n"
            >>> read_spool(log).substituted(4)
            'where sid = 42'
        """
        page = self._page
        end = bisect_left(range(len(page)), line, key=lambda number: page.place(number) + 1)
        last = max(end - _LONGEST_TITLE, 0)
        while end > last and (page.kinds[end - 1] == Kind.BLANK or page.roles[end - 1] == LineRole.TEXT):
            end -= 1
        first = end
        while first and page.roles[first - 1] == LineRole.SUBSTITUTION:
            first -= 1
        new = page.lines[first + 1 : end : 2]  # each below the line as it was
        return " ".join(one.partition(":")[2].strip() for one in new)

    def lines(self) -> pl.DataFrame:
        r"""Every physical line with what became of it (`LINES`).

        `part` is `record` (its content is in a frame), `non-record` (recognised, no content of its own) or
        `diagnostic` (not read; it stands in `diagnostics`).

        Examples:
            >>> read_spool(b"SQL> commit;\n\nCommit complete.\n").lines().select("role", "part").rows()
            [('input', 'record'), ('blank', 'non-record'), ('feedback', 'record')]
        """
        spans = self.statements.select("statement", pl.col("first_line") - 1, "last_line").rows()
        return lines_frame(self._page.all_roles(), spans)

    def runs(
        self,
        *,
        by: Literal["text", "shape", "label"] | None = None,
        period: int | None = None,
        min_runs: int = 2,
    ) -> pl.DataFrame:
        r"""Repeated statements as samples: one row a run, in run order (`RUNS`).

        Args:
            by: `text`: statements with the same text; `shape`: statements that are not echoed but print the same kind
                of output, between two texts of the log's own; `label`: timings found by `timing_pattern`.  By default
                `text` for what is echoed, `shape` for what is not, and `label` if there are such timings.
            period: where nothing is echoed, every so-manieth statement is a run of the same one.
            min_runs: samples with fewer runs are left out.

        Returns:
            Successful runs: those that failed, were cancelled or returned another number of rows than most of the
            others are in `runs_left_out`.  `sample` and `run` count from 1;
            `is_plan_changed` says that the plan hash differs from that of the
            sample's first run.  ALTER SYSTEM (a flush), ALTER SESSION, COMMIT and client commands are no runs.

        Examples:
            >>> run = b"SQL> select 1 from dual;\n\nElapsed: 00:00:00.0%d\n"
            >>> read_spool(run % 2 + run % 1).runs().select("sample", "run", "elapsed_s").rows()
            [(1, 1, 0.02), (1, 2, 0.01)]
        """
        return find_runs(self.statements, self.timings, self.tables, by=by, period=period, min_runs=min_runs)

    def runs_left_out(self, *, by: Literal["text", "shape"] | None = None, period: int | None = None) -> pl.DataFrame:
        r"""The runs that `runs` leaves out: failed, cancelled, or of another number of rows than most of their kind.

        Examples:
            >>> failed = b"SQL> select 1 from t;\nselect 1 from t\n*\nERROR at line 1:\nORA-01013: cancelled\n"
            >>> read_spool(failed + b"\nElapsed: 00:00:00.31\n").runs_left_out().select("status", "elapsed_s").rows()
            [('error', 0.31)]
        """
        return find_runs(self.statements, self.timings, self.tables, by=by, period=period, min_runs=1, is_left_out=True)

    def record(self) -> pl.DataFrame:
        """The session's statistics, one row a name and unit: the last figure that any listing shows."""
        return session_record(self.statistics)

    def difference(self, before: int, after: int) -> pl.DataFrame:
        """What changed between two cumulative listings of a session, by name; see `subtract_statistics`."""
        listings = pl.col("listing")
        return subtract_statistics(
            self.statistics.filter(listings == before), self.statistics.filter(listings == after)
        )


def read_spool(
    source: Source,
    *,
    strict: bool = False,
    printed: bool = False,
    encoding: str | None = None,
    timing_pattern: str | re.Pattern[str] | None = None,
) -> Spool:
    r"""A SQL*Plus, SQLcl or SQL Developer session as frames.

    The log may be a spool file, ``script`` output, or a transcript pasted into Markdown, comments or an article; any
    client language.  Nothing in it is required: what is not echoed, timed or traced is null.

    Args:
        source: one log: a path, bytes, a file object, an uploaded file; compressed or not.
        strict: raise at the first line that cannot be read, instead of adding it to `diagnostics`.
        printed: add ``<column>_lo`` and ``<column>_hi`` to the figures of `plans`; `timings`, `statements` and
            `statistics` always have them.
        encoding: of the log, where the guess is wrong.
        timing_pattern: a regular expression for timings that scripts print themselves, with a group ``seconds``, ``ms``
            or ``us`` and, if wanted, ``label``.

    Raises:
        LogParseError: the log is empty, binary or another kind of log (a SQL trace, TKPROF, an AWR report); or
            `strict`.
        LogNotFoundError: there is no such log.

    Examples:
        >>> spool = read_spool(b"SQL> select sum(blocks) from test;\n\nElapsed: 00:00:00.73\n")
        >>> spool.statements.select("text", "elapsed_s", "elapsed_s_lo", "elapsed_s_hi").row(0)
        ('select sum(blocks) from test', 0.73, 0.725, 0.74)
    """
    custom = None if timing_pattern is None else CustomPattern(timing_pattern)
    return read_log(open_log(source, encoding=encoding), custom, strict=strict, printed=printed)


@paused_collection()
def read_log(log: Log, custom: CustomPattern | None = None, *, strict: bool = False, printed: bool = False) -> Spool:
    """The session in an opened log; see `read_spool`."""
    text, encoding, notes = read_text(log)
    if not text.strip():
        raise LogParseError("the log is empty", source=log.name, expected="a SQL*Plus or SQLcl session")
    if is_binary(text):
        raise LogParseError("the log is no text", source=log.name, expected="a session, or encoding='...'")
    page = Page.of(log.name, text)
    refuse_others(page, text)
    page.notes += notes
    blocks = read_blocks(page, custom)
    statements = read_statements(page, blocks)
    listings, grids, plans = _split(page, statements, blocks)
    if not (statements or listings or grids or plans or LineRole.TIMING in page.roles):
        raise no_session(log.name, text, page)
    monitors = read_monitors(page)
    note_missing_lines(page, statements, blocks)
    note_untitled(page, plans, monitors)
    link_plans(statements, plans, monitors)
    owners = [owner_of(monitor.first, statements) for monitor in monitors]
    statistics = statistics_frame(page, listings)
    page.notes.sort(key=lambda note: note.line or 0)
    if strict and (first := unparsed(page.notes)):
        raise first.to_error()
    return Spool(
        source=log.name,
        encoding=encoding,
        statements=renumbered(statements_frame(statements), page.line_map),
        timings=renumbered(timings_frame(blocks), page.line_map),
        autotrace=renumbered(autotrace_frame(statements), page.line_map),
        statistics=renumbered(statistics, page.line_map),
        monitors=renumbered(monitors_frame(monitors, owners), page.line_map),
        monitor_lines=renumbered(monitor_lines_frame(monitors), page.line_map),
        tables=renumbered(tables_frame(grids), page.line_map),
        diagnostics=diagnostics_frame(page.notes),
        _page=page,
        _grids=tuple(grid for _, grid in grids),
        _plans=tuple(plans),
        _has_bounds=printed,
    )


def _settle_rows(page: Page, grid: Grid, statement: Statement | None) -> None:
    """Join the lines of wrapped and folded rows, and compare the rows with what the client says it selected."""
    outcome = None if statement is None else statement.outcome
    is_only = statement is not None and statement.results == 1
    count = outcome.rows if is_only and outcome is not None and outcome.verb == "select" else None
    if is_only and outcome is None and not grid.rows and page.kind(grid.last) == Kind.BLANK:
        traced = None if statement is None else statement.autotrace
        if traced is not None and traced.rows_processed == 1:  # a row of nulls is a blank line
            grid.rows = [grid.last]
            grid.last += 1
    if count == len(grid.rows) and len(grid.rulers) == 1 and not grid.cells and not grid.totals:
        return  # a row a line, and as many as were selected
    if count is not None and len(grid.rulers) > 1 and grid.row_count != count:
        unfold(page, grid, count)
    join_wrapped(page, grid, count)
    if count is not None:
        add_blank_rows(page, grid, count)
    if count is not None:
        read = grid.selected_count
        if read != count:
            elided = "; lines were left out by hand" if grid.is_elided else ""
            page.note(grid.first, "sum", f"the client selected {count} rows; {read} were read here{elided}")


def _split(
    page: Page, statements: list[Statement], blocks: list[Block]
) -> tuple[list[tuple[int | None, Listing]], list[tuple[int | None, Grid]], list[tuple[int | None, Plan]]]:
    """Listings, other grids and plans, each with the statement it belongs to."""
    listings: list[tuple[int | None, Listing]] = []
    grids: list[tuple[int | None, Grid]] = []
    plans: list[tuple[int | None, Plan]] = []
    for block in blocks:
        ordinal, content = block.statement, block.content
        if not isinstance(content, _SPLIT):
            continue
        if isinstance(content, Grid):
            statement = None if ordinal is None else statements[ordinal - 1]
            listing = read_listing(page, content, None if statement is None else statement.text)
            if listing is not None:
                listings.append((ordinal, listing))
                continue
            _settle_rows(page, content, statement if block.token == "GRID" else None)
            grids.append((ordinal, content))
            note_overflows(page, content)
            if content.pages > 1:
                page.note(content.first, "repaired", f"the heading is printed {content.pages} times; one grid")
        elif isinstance(content, Listing):
            listings.append((ordinal, content))
            if content.grid is not None:
                grids.append((ordinal, content.grid))
        elif isinstance(content, Plan):
            plans.append((ordinal, content))
    return listings, grids, plans


@dataclass(frozen=True)
class SpoolFrames:
    """What `read_spools` gives.

    Attributes:
        frames: name of a frame -> the rows of all sessions, one below the other; the first column is `source`.
        diagnostics: what was not read, guessed or is worth a look; a log that is no session is one row, of the kind
            `unreadable`.
    """

    frames: dict[str, pl.DataFrame]
    diagnostics: pl.DataFrame

    @property
    def frame(self) -> pl.DataFrame:
        """The frame that was asked for; the first of several."""
        return next(iter(self.frames.values()))


def read_spools(
    sources: Source, *, table: str | Sequence[str] = "statements", printed: bool = False, encoding: str | None = None
) -> SpoolFrames:
    r"""One frame of many sessions, with the log's name in the column `source`.

    Args:
        sources: paths, a folder, a glob, an archive, bytes or file objects, or a list of these.
        table: a frame of `Spool` but for the diagnostics: `statements`, `timings`, `autotrace`, `statistics`, `plans`,
            `monitors`, `monitor_lines` or `tables`; or several names: each session is read once.
        printed: as in `read_spool`.
        encoding: as in `read_spool`.

    Returns:
        The frame, and the diagnostics of all logs: a log that is no session is a row there and stops nothing.

    Raises:
        LogParseError: `table` is no frame of a session, or a path leads nowhere.

    Examples:
        >>> logs = [b"SQL> commit;\n\nCommit complete.\n", b"Elapsed: 00:00:01.00\n", b"no session"]
        >>> found = read_spools(logs)
        >>> found.frame.select("source", "kind", "elapsed_s").rows()
        [('<bytes>', 'transaction', None), ('<bytes> (2)', None, 1.0)]
        >>> found.diagnostics.select("source", "kind").rows()
        [('<bytes> (2)', 'no_owner'), ('<bytes> (3)', 'unreadable')]
    """
    tables = (table,) if isinstance(table, str) else tuple(table)
    names = [name for name in FRAMES if name != "diagnostics"]
    for name in tables or ("",):
        if name not in names:
            raise LogParseError(f"a session has no frame {name!r}", source="<table>", expected=", ".join(names))
    logs = open_logs(sources, encoding=encoding)
    found: dict[str, list[pl.DataFrame]] = {name: [] for name in tables}
    notes: list[pl.DataFrame] = []
    for source, log in zip(distinct_names([log.name for log in logs]), logs, strict=True):
        try:
            spool = read_log(log, printed=printed)
        except LogParseError as error:
            fault = Diagnostic(source, error.line, error.column, "unreadable", error.text, error.message)
            notes.append(diagnostics_frame([fault]))
            continue
        notes.append(spool.diagnostics.with_columns(source=pl.lit(source)))
        for name, frames in found.items():
            frame: pl.DataFrame = getattr(spool, name)
            frames.append(frame.select(pl.lit(source).alias("source"), pl.all()))
    return SpoolFrames(
        {name: _joined(name, frames) for name, frames in found.items()}, pl.concat([diagnostics_frame([]), *notes])
    )


def _joined(table: str, frames: list[pl.DataFrame]) -> pl.DataFrame:
    """The rows of one frame, of all sessions."""
    return pl.concat(frames or [pl.DataFrame(schema={"source": pl.String(), **SPOOL_SCHEMAS[table]})])
