"""What the parser finds, as plain Python: one class a kind of block, and the statement they make.

Line numbers count from 0 and ranges exclude their end; `frames` turns them into the numbers a person counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from logframe import Column


#: The headings of what the client's own commands print; SHOW PARAMETER's first column has a width of its own.
_CLIENT_HEADINGS: Final = frozenset({("Name", "Null?", "Type"), ("LINE/COL", "ERROR"), ("NAME", "TYPE", "VALUE")})
_NAME_WIDTH: Final = 36


class Clock(NamedTuple):
    """An Elapsed line: `ticks` of 10 ** -`decimals` seconds, and its label."""

    line: int
    ticks: int
    decimals: int
    label: str
    printed: str


class Typed(NamedTuple):
    """What was typed at a prompt (`prompt` None for a statement that stands bare in the log)."""

    text: str | None
    prompt: str | None
    kind: str | None


class Outcome(NamedTuple):
    """A feedback or an error: rows, what was done to them and the SQL_ID printed below, or the error's code."""

    line: int
    text: str
    rows: int | None = None
    verb: str | None = None
    code: str | None = None
    sql_id: str | None = None


class Autotrace(NamedTuple):
    """An autotrace list: SQL*Plus's eleven statistics, or SQLcl's session statistics.

    Attributes:
        client: `sqlplus` or `sqlcl`.
        lines: number of the line of each statistic.
        names: their names.
        values: what they count; None where the figure did not fit.
        raws: the figures as printed.
    """

    client: str
    lines: list[int]
    names: list[str]
    values: list[int | None]
    raws: list[str]

    @property
    def rows_processed(self) -> int | None:
        """How many rows SQL*Plus counts; None where it does not, as SQLcl."""
        return dict(zip(self.names, self.values, strict=True)).get("rows processed")


@dataclass(slots=True)
class Grid:
    """Rows under a ruler of dashes, or under headings that are delimited.

    Attributes:
        headings: one a column, over all rulers of a folded grid.
        rulers: extents of the columns, one tuple a ruler; more than one when the row is folded over several lines.
        rows: line numbers of the rows.
        pages: how often the heading was printed.
        title: the lines of text just above the heading.
        cells: of each row, where they are delimited, folded or wrapped and not cut at one ruler.
        totals: line numbers of rows of COMPUTE and of totals below a second ruler, which the client does not count.
        page_length: lines from one heading to the next, where it is printed again.
        is_elided: lines of it were left out by hand.
        is_collapsed: each gap of it is a single blank, as pages of the web make them, so the ruler has no meaning.
    """

    headings: tuple[str, ...]
    rulers: tuple[tuple[Column, ...], ...]
    rows: list[int]
    pages: int
    first: int
    last: int
    title: str = ""
    cells: list[tuple[str, ...]] = field(default_factory=list)
    totals: frozenset[int] = frozenset()
    page_length: int | None = None
    is_elided: bool = False
    is_collapsed: bool = False

    @property
    def row_count(self) -> int:
        """How many rows it has."""
        return len(self.rows) if self.cells else len(self.rows) // len(self.rulers)

    @property
    def is_of_client(self) -> bool:
        """Is it what a command of the client prints: DESCRIBE, SHOW ERRORS, SHOW PARAMETER?"""
        last = tuple(heading.rsplit(" ", 1)[-1] for heading in self.headings)  # a title may stand above
        return last in _CLIENT_HEADINGS and (last[0] != "NAME" or self.rulers[0][0].end == _NAME_WIDTH)

    @property
    def selected_count(self) -> int:
        """How many of its rows the client counts as selected: sums of COMPUTE and totals are not among them."""
        return self.row_count - len(self.totals)


class Operation(NamedTuple):
    """One row of a plan.

    Attributes:
        line: number of its (first) line.
        names: the canonical name of each cell; empty for a cell that has none.
        text: the row, a bar before and after each cell.
    """

    line: int
    names: list[str]
    text: str

    def cells(self) -> dict[str, str]:
        """The cells by name; the operation keeps its indentation, without the blank every cell begins with."""
        cells = self.texts()
        named = {name: cell.strip() for name, cell in zip(self.names, cells, strict=True) if name}
        named["operation"] = cells[self.names.index("operation")].rstrip().removeprefix(" ")
        return named

    def texts(self) -> list[str]:
        """The text of each cell, blanks included."""
        return self.text[1:-1].split("|", len(self.names) - 1)


@dataclass(slots=True)
class Plan:
    """An execution plan: its rows, what stands below them, and where it came from.

    `sql_text` is the statement as DBMS_XPLAN shows it, `explains` the statement of the session that has this text.
    """

    layout: str
    plan_source: str
    hash_value: int | None = None
    sql_id: str | None = None
    child_number: int | None = None
    operations: list[Operation] = field(default_factory=list)
    predicates: dict[int, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    sql_text: str | None = None
    explains: int | None = None


class Statistic(NamedTuple):
    """One printed figure of a listing of session or system statistics.

    Attributes:
        line: number of its line.
        name: as printed, cut or not.
        raw: the figure as printed.
        column: heading of the figure's column.
        basis: `cumulative` since logon or startup, `delta` over an interval, `unknown`.
        sid: the session, where printed.
        type: `STAT`, or `TIME` and `WAIT` of Snapper.
        width: the name fills its column of this width, so it may be cut; 0 when it does not.
    """

    line: int
    name: str
    raw: str
    column: str
    basis: str
    sid: str | None = None
    type: str = "STAT"
    width: int = 0


@dataclass(slots=True)
class Listing:
    """A listing of statistics by name, from whatever layout.

    Attributes:
        seconds: the interval it covers, where printed.
        is_time_model: it shows V$SESS_TIME_MODEL or V$SYS_TIME_MODEL.
        is_scaled: the query calculated with the figures.
        grid: its rows as printed, where they hold more than a name and a figure.
    """

    layout: str
    first: int
    last: int
    statistics: list[Statistic] = field(default_factory=list)
    seconds: float | None = None
    is_time_model: bool = False
    is_scaled: bool = False
    grid: Grid | None = None


class CustomTiming(NamedTuple):
    """A timing found by the caller's own pattern."""

    line: int
    ticks: int
    decimals: int
    label: str
    printed: str


@dataclass(slots=True)
class Block:
    """Lines that belong together: the token of session.lark, their extent, what they say, and whose they are."""

    token: str
    first: int
    last: int
    content: object = None
    statement: int | None = None


@dataclass(slots=True)
class Statement:
    """One statement: its blocks, and what they say of it.

    Attributes:
        ordinal: from 1.
        blocks: its blocks, in order.
        text: as typed; None when it is not echoed.
        kind: `select`, `insert`, ..., `plsql`, `ddl`, `command`, `host`; None when nothing says it.
        prompt: the prompt it was typed at; None when it was not echoed.
        clock: its Elapsed.
        outcome: its feedback or error.
        autotrace: its statistics.
        plans: its plans.
        flushed: what was flushed since the statement before it that is not a flush, in order.
        cursor_hash: plan hash value of a cursor's plan that explains it.
        results: how many results it printed.
        series: counts the runs of statements between which the log has text of its own.
        script: number of the line of the command that ran the script which begins with it, from 0.
    """

    ordinal: int
    blocks: list[Block]
    text: str | None = None
    kind: str | None = None
    prompt: str | None = None
    clock: Clock | None = None
    outcome: Outcome | None = None
    autotrace: Autotrace | None = None
    plans: list[Plan] = field(default_factory=list)
    flushed: tuple[str, ...] = ()
    series: int = 0
    cursor_hash: int | None = None
    results: int = 0
    script: int | None = None

    @property
    def first(self) -> int:
        """Number of its first line, from 0."""
        return self.blocks[0].first

    @property
    def last(self) -> int:
        """Number of the line after its last."""
        return self.blocks[-1].last
