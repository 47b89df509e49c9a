"""Records into frames: grids, reports of SQL Monitor, and listings of one session put together and subtracted.

Of a plan the operations with their parents, the figures read, predicates and notes beside them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import polars as pl

from logframe import Diagnostic, read_printed, unique_names
from logframe.oracle import unit_of
from logframe.oracle.units import TIME_MODEL
from logframe.printed import decimal_mark
from sqlplusparse.autotrace import AUTOTRACE_NAMES, complete
from sqlplusparse.cells import cells_of
from sqlplusparse.elapsed import language_of
from sqlplusparse.lines import DIGITS, LISTS, Pattern
from sqlplusparse.page import LINE_ROLES, RECORDS, LineRole
from sqlplusparse.predicates import PLAN_GRAMMAR
from sqlplusparse.records import Clock, CustomTiming, Grid, Listing
from sqlplusparse.schemas import (
    AUTOTRACE,
    LINES,
    MONITOR_LINES,
    MONITORS,
    PLANS,
    STATEMENTS,
    STATISTICS,
    TABLES,
    TIMINGS,
    frame_of,
    no_rows,
)

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Sequence

    from logframe.normalize import LineMap
    from sqlplusparse.monitor import Monitor
    from sqlplusparse.page import Page
    from sqlplusparse.records import Autotrace, Block, Plan, Statement, Statistic


_UNITS: Final = Pattern(r"{UNIT_BEFORE}(?P<unit>{UNIT_HEADING})\)?$", LISTS)
_ULP: Final = Pattern(
    r"{FRACTION}(?:\.(?P<fraction>{FRACTION}))?(?:[eE](?P<exponent>{INTEGER}))?(?P<unit>{UNIT})?", LISTS
)
#: Units of times in the headings of columns.
_UNIT_WORDS: Final = {
    "SECONDS": "s",
    "SECS": "s",
    "CSEC": "cs",
    "CS": "cs",
    "MSEC": "ms",
    "MS": "ms",
    "USEC": "us",
    "US": "us",
}
#: Types of figures that V$STATNAME names.
_COUNTED: Final = frozenset({"STAT"})
#: Types of figures that are microseconds.
_TIMES: Final = frozenset({"TIME", "WAIT"})
#: The columns that hold numbers of lines.
_LINES: Final = frozenset({"line", "first_line", "last_line"})
_SID: Final = Pattern("{DIGITS}", LISTS)
_TIME_COLUMNS: Final = ("elapsed_s", "elapsed_s_lo", "elapsed_s_hi", "resolution_s")
#: The times of a statement without a clock.
_NO_TIME: Final = (None,) * len(_TIME_COLUMNS)
_CLOCKS: Final = (Clock, CustomTiming)
#: Tokens of blocks that hold a time, and its origin.
_TIMED: Final = {
    "ELAPSED": "statement",
    "UNOWNED": "statement",
    "REPEATED": "repeat",
    "TIMER": "timer",
    "PRINTED_TIMING": "pattern",
}
_POWERS: Final = {"": 0, "K": 3, "M": 6, "G": 9, "T": 12}


def statements_frame(statements: list[Statement]) -> pl.DataFrame:
    """The statements, with their time and the most used figures of autotrace."""
    if not statements:
        return no_rows("statements")
    outcomes = [one.outcome for one in statements]
    errors = [None if one is None else one.code for one in outcomes]
    columns: dict[str, Sequence[object]] = {
        "statement": range(1, len(statements) + 1),
        "first_line": [(one.first if one.script is None else one.script) + 1 for one in statements],
        "last_line": [one.blocks[-1].last for one in statements],
        "text": [one.text for one in statements],
        "kind": [one.kind for one in statements],
        "status": ["ok" if code is None else "error" for code in errors],
        "error": errors,
        "message": [None if one is None else one.text for one in outcomes],
        **_traced(statements, [None if one is None else one.rows for one in outcomes]),
        **_times([one.clock for one in statements]),
        "plan_hash_value": [_plan_hash(one) if one.plans else one.cursor_hash for one in statements],
        "flushed_before": [", ".join(one.flushed) if one.flushed else None for one in statements],
        "prompt": [one.prompt for one in statements],
        "series": [one.series for one in statements],
        "sql_id": [None if one is None else one.sql_id for one in outcomes],
    }
    return frame_of(columns, STATEMENTS)


def _traced(statements: list[Statement], rows: list[int | None]) -> dict[str, list[int | None]]:
    """The columns of figures of autotrace, and the rows, which it says where no feedback does."""
    names = ("physical_reads", "gets", "consistent_gets", "db_block_gets", "recursive_calls")
    columns: dict[str, list[int | None]] = {name: [None] * len(statements) for name in names}
    columns["rows"] = rows
    for place, statement in enumerate(statements):
        if statement.autotrace is None:
            continue
        figures = _figures(statement.autotrace)
        consistent, current = figures.get("consistent gets"), figures.get("db block gets")
        columns["consistent_gets"][place], columns["db_block_gets"][place] = consistent, current
        columns["gets"][place] = None if consistent is None or current is None else consistent + current
        columns["physical_reads"][place] = figures.get("physical reads")
        columns["recursive_calls"][place] = figures.get("recursive calls")
        if rows[place] is None:
            rows[place] = figures.get("rows processed")
    return columns


def _times(clocks: Sequence[Clock | CustomTiming | None]) -> dict[str, Sequence[float | None]]:
    """The columns of printed times, in seconds: value, bounds, and the weight of the last digit shown.

    Whether the client rounds or truncates is not documented, so a time t shown to a resolution u stands for
    [t - u/2, t + u).  ``00:00:00.00`` is under one tick: [0, u).
    """
    times = (_NO_TIME if clock is None else _seconds(clock.ticks, clock.decimals) for clock in clocks)
    return dict(zip(_TIME_COLUMNS, zip(*times, strict=True), strict=True))


@lru_cache(maxsize=1 << 14)
def _seconds(ticks: int, decimals: int) -> tuple[float, float, float, float]:
    """What a clock stands for: value, bounds and the weight of the last digit; most clocks of a log are few ticks."""
    unit = 10**decimals
    return ticks / unit, max(2 * ticks - 1, 0) / (2 * unit), (ticks + 1) / unit, 1 / unit


def _plan_hash(statement: Statement) -> int | None:
    """The hash value of a statement's first plan that has one."""
    for plan in statement.plans:
        if plan.plan_source == "explain" and plan.hash_value is not None:
            return plan.hash_value
    return statement.cursor_hash


def _figures(autotrace: Autotrace) -> dict[str, int | None]:
    """Value by name; a statistic of V$STATNAME that SQLcl leaves out is zero."""
    figures = dict(zip(autotrace.names, autotrace.values, strict=True))
    if autotrace.client == "sqlcl":
        for name in AUTOTRACE_NAMES[:-1]:
            figures.setdefault(name, 0)
    return figures


def timings_frame(blocks: list[Block]) -> pl.DataFrame:
    """Every Elapsed line, timer and custom timing, in the order of the log."""
    owners: list[int | None] = []
    origins: list[str] = []
    labels: list[str] = []
    clocks: list[Clock | CustomTiming] = []
    for block in blocks:
        token = block.token
        if token not in _TIMED:
            continue
        origin, content = _TIMED[token], block.content
        if isinstance(content, _CLOCKS):
            labels.append(content.label)
            clocks.append(content)
        else:
            match content:
                case (Clock() as clock, str(name)):
                    labels.append(name)
                    clocks.append(clock)
                case _:
                    continue
        owners.append(None if origin == "repeat" else block.statement)
        origins.append(origin)
    if not clocks:
        return no_rows("timings")
    columns: dict[str, Sequence[object]] = {
        "statement": owners,
        "line": [clock.line + 1 for clock in clocks],
        "origin": origins,
        "label": labels,
        "language": [language_of(clock.label) if isinstance(clock, Clock) else None for clock in clocks],
        "printed": [clock.printed for clock in clocks],
        **_times(clocks),
    }
    return frame_of(columns, TIMINGS)


def autotrace_frame(statements: list[Statement]) -> pl.DataFrame:
    """The autotrace lists: what is shown, then the other statistics of SQL*Plus's list, null or zero."""
    if all(statement.autotrace is None for statement in statements):
        return no_rows("autotrace")
    columns: dict[str, list[object]] = {name: [] for name in AUTOTRACE}
    for statement in statements:
        if statement.autotrace is None:
            continue
        client, lines, names, values, raws = statement.autotrace
        absent = [name for name in AUTOTRACE_NAMES if name not in names]
        shown, hidden = len(names), len(absent)
        columns["statement"] += [statement.ordinal] * (shown + hidden)
        columns["line"] += [*(line + 1 for line in lines), *[None] * hidden]
        columns["client"] += [client] * (shown + hidden)
        columns["name"] += [*names, *absent]
        columns["value"] += [*values, *(_absent(client, name) for name in absent)]
        columns["raw"] += [*raws, *[None] * hidden]
        columns["unit"] += [unit_of(name) for name in (*names, *absent)]
        columns["is_shown"] += [*[True] * shown, *[False] * hidden]
    return frame_of(columns, AUTOTRACE)


def _absent(client: str, name: str) -> int | None:
    """What a statistic is that is not shown: SQLcl leaves zeros out; `rows processed` is not part of its statistics."""
    return 0 if client == "sqlcl" and name != "rows processed" else None


def statistics_frame(page: Page, owned: list[tuple[int | None, Listing]]) -> pl.DataFrame:
    """The figures of all listings, names completed; what was cut, did not fit or is undecided is noted on the page."""
    rows: list[tuple[object, ...]] = []
    for ordinal, (owner, listing) in enumerate(owned, 1):
        marks = _decimal_marks(listing)
        names = [complete(statistic.name, is_cut=statistic.width > 0) for statistic in listing.statistics]
        is_time_model = listing.is_time_model or any(name.name in TIME_MODEL for name in names)
        undecided = False
        for statistic, name in zip(listing.statistics, names, strict=True):
            unit = _unit(statistic, name.name, is_time_model=is_time_model, is_scaled=listing.is_scaled)
            if name.is_truncated:
                page.note(statistic.line, "cut", _truncation(statistic.name, name.name, is_known=name.is_known))
            undecided = undecided or statistic.basis == "unknown"
            rows.append(
                (
                    owner,
                    ordinal,
                    statistic.line + 1,
                    _sid(statistic.sid),
                    statistic.type,
                    name.name if statistic.type == "STAT" else statistic.name,
                    statistic.name,
                    name.is_known,
                    name.is_truncated,
                    statistic.column,
                    unit,
                    statistic.basis,
                    statistic.raw or None,
                    *_value(page, statistic, marks[statistic.column], unit),
                    listing.seconds,
                )
            )
        if undecided:
            page.note(listing.first, "ambiguous", "nothing says whether these figures are cumulative or an interval's")
    if not rows:
        return no_rows("statistics")
    return frame_of(dict(zip(STATISTICS, zip(*rows, strict=True), strict=True)), STATISTICS)


def _truncation(printed: str, name: str, *, is_known: bool) -> str:
    if is_known:
        return f"the name {printed!r} was cut; it is read as {name!r}"
    return f"the name {printed!r} may be cut; no single statistic begins so"


def _decimal_marks(listing: Listing) -> dict[str, str]:
    figures: dict[str, list[str]] = {}
    for statistic in listing.statistics:
        figures.setdefault(statistic.column, []).append(statistic.raw)
    return {column: decimal_mark(raws) for column, raws in figures.items()}


def _sid(sid: str | None) -> int | None:
    return int(sid) if sid is not None and _SID.fullmatch(sid) else None


def _unit(statistic: Statistic, name: str, *, is_time_model: bool, is_scaled: bool) -> str | None:
    """The unit that the heading of the figure's column names, else the one that Oracle counts the statistic in.

    Where the query calculates with the value and no heading says what came of it, the unit is not known.
    """
    if statistic.type in _TIMES:
        return "us"
    found = _UNITS.search(statistic.column)
    if found:
        return _UNIT_WORDS.get(found["unit"].upper(), found["unit"].upper())
    return None if is_scaled or statistic.type not in _COUNTED else unit_of(name, is_time_model=is_time_model)


def _value(
    page: Page, statistic: Statistic, decimal: str, unit: str | None
) -> tuple[float | None, float | None, float | None, float | None]:
    """Value, bounds and weight of the last digit of a figure."""
    is_rounded = _UNITS.search(statistic.column) is not None and unit not in {"BYTES", "us"}
    found = read_printed(statistic.raw, decimal=decimal, rounded=is_rounded)
    if found.flag == "overflow":
        page.note(statistic.line, "overflow", "the figure did not fit its column; it is null, not zero")
    elif found.flag is not None:
        page.note(statistic.line, "unparsed", f"{statistic.raw!r} is not a number")
    elif "E" in statistic.raw.upper():
        page.note(statistic.line, "rounded", f"{statistic.raw} shows fewer digits than the figure has")
    return found.value, found.lo, found.hi, ulp_of(statistic.raw, decimal) if found.value is not None else None


def ulp_of(raw: str, decimal: str = ".") -> float | None:
    """The weight of the last digit of a printed figure.

    Examples:
        >>> ulp_of("1841"), ulp_of("56.5546875"), ulp_of("3.1907E+10"), ulp_of("18.95k"), ulp_of("1234,5", ",")
        (1.0, 1e-07, 1000000.0, 10.0, 0.1)
    """
    plain = raw.strip().lstrip("+-")
    plain = plain.replace(".", "").replace(",", ".") if decimal == "," else plain.replace(",", "")
    found = _ULP.fullmatch(plain)
    if found is None:
        return None
    power = int(found["exponent"] or 0) + _POWERS[(found["unit"] or "").upper()] - len(found["fraction"] or "")
    return float(f"1e{power}")


def tables_frame(owned: list[tuple[int | None, Grid]]) -> pl.DataFrame:
    """One row a grid."""
    if not owned:
        return no_rows("tables")
    grids = [grid for _, grid in owned]
    columns: dict[str, Sequence[object]] = {
        "table": range(1, len(grids) + 1),
        "statement": [owner for owner, _ in owned],
        "first_line": [grid.first + 1 for grid in grids],
        "last_line": [grid.last for grid in grids],
        "title": [grid.title or None for grid in grids],
        "headings": ["\n".join(grid.headings) for grid in grids],
        "row_count": [grid.row_count for grid in grids],
        "total_count": [len(grid.totals) for grid in grids],
        "pages": [grid.pages for grid in grids],
        "is_folded": [len(grid.rulers) > 1 for grid in grids],
    }
    # Polars splits texts faster than it takes lists.
    flat = {name: pl.String if name == "headings" else dtype for name, dtype in TABLES.items()}
    return frame_of(columns, flat).with_columns(pl.col("headings").str.split("\n"))


def lines_frame(roles: bytearray, spans: list[tuple[int, int, int]]) -> pl.DataFrame:
    """What became of each line, and the statement it belongs to.

    Args:
        roles: one a line.
        spans: ordinal, first line and line after the last of each statement, in order.
    """
    owners: list[int | None] = [None] * len(roles)
    for ordinal, first, last in spans:
        owners[first:last] = [ordinal] * (last - first)
    names = {role: name for name, role in LINE_ROLES.items()}
    parts = {role: "record" if role in RECORDS else "non-record" for role in names}
    parts[LineRole.UNPARSED] = "diagnostic"
    return pl.DataFrame(
        {
            "line": range(1, len(roles) + 1),
            "role": [names[role] for role in roles],
            "part": [parts[role] for role in roles],
            "statement": owners,
        },
        schema=LINES,
    )


def renumbered(frame: pl.DataFrame, line_map: LineMap) -> pl.DataFrame:
    """A frame whose line numbers are those of the log, where they were those of the page."""
    if line_map.is_whole:
        return frame
    places = pl.Series(line_map.kept, dtype=pl.Int64) + 1
    return frame.with_columns(places.gather(frame[name] - 1).alias(name) for name in frame.columns if name in _LINES)


def unparsed(notes: list[Diagnostic]) -> Diagnostic | None:
    """The first note about content that was not read, which `strict` raises."""
    serious = {"unparsed", "damaged", "overflow"}
    return next((note for note in notes if note.kind in serious), None)


_INTEGER: Final = Pattern("{INTEGER}", LISTS)
_LONG_INTEGER: Final = Pattern("{LONG_INTEGER}", LISTS)
_FIGURE: Final = Pattern("{FIGURE}", LISTS)


def table_frame(page: Page, grid: Grid, *, printed: bool) -> pl.DataFrame:
    """The rows of a grid: whole numbers as Int64, other numbers as Float64, all else as text; blank cells are null.

    A column with a whole number of more than 18 digits, such as a signature, is text: no digit of it is lost.

    Where COMPUTE printed sums, or a total stands below a second ruler, `is_total` says which rows they are.
    """
    found = cells_of(page, grid)
    rows = [cells for _, cells in found]
    columns: dict[str, pl.Series] = {}
    for place, (heading, width) in enumerate(zip(unique_names(grid.headings), _widths(grid), strict=True)):
        cells = [row[place] for row in rows]
        marks = _overflows(cells, width)
        texts = [None if not cell or cell in marks else cell for cell in cells]
        columns |= _typed(heading, texts, printed=printed)
    if grid.totals:
        name = unique_names((*grid.headings, "is_total"))[-1]
        columns[name] = pl.Series(name, [number in grid.totals for number, _ in found], pl.Boolean)
    return pl.DataFrame(columns)


def note_overflows(page: Page, grid: Grid) -> None:
    """Say of each figure of a grid that did not fit its column that it is null."""
    lines = page.lines
    for number in grid.rows:
        if "##" in lines[number]:
            break
    else:
        return
    rows = cells_of(page, grid)
    for place, (heading, width) in enumerate(zip(unique_names(grid.headings), _widths(grid), strict=True)):
        marks = _overflows([cells[place] for _, cells in rows], width)
        for number, cells in rows if marks else ():
            if cells[place] in marks:
                page.note(number, "overflow", f"{heading}: the figure did not fit its column; it is null, not zero")


def _widths(grid: Grid) -> list[int]:
    """How wide each column is."""
    return [column.end - column.start for columns in grid.rulers for column in columns]


def _overflows(cells: list[str], width: int) -> set[str]:
    """The cells of a column that stand for figures too long for it; bars that a script draws with ``#`` are text."""
    shown = {cell for cell in cells if cell}
    marks = {cell for cell in shown if not cell.strip("#")}
    figures = shown - marks
    if figures:
        return marks if all(map(_FIGURE.fullmatch, figures)) else set()
    return marks if width > 1 and marks == {"#" * width} else set()


def _typed(heading: str, texts: list[str | None], *, printed: bool) -> dict[str, pl.Series]:
    shown = [text for text in texts if text is not None]
    if shown and all(_INTEGER.fullmatch(text) for text in shown):
        return {heading: pl.Series(heading, [None if text is None else int(text) for text in texts], pl.Int64)}
    if not shown or not all(_FIGURE.fullmatch(text) and not _LONG_INTEGER.fullmatch(text) for text in shown):
        return {heading: pl.Series(heading, texts, pl.String)}
    decimal = decimal_mark(shown)
    found = [read_printed(text, decimal=decimal) for text in texts]
    if any(number.flag == "text" for number in found):
        return {heading: pl.Series(heading, texts, pl.String)}
    columns = {heading: pl.Series(heading, [number.value for number in found], pl.Float64)}
    if printed:
        columns[f"{heading}_lo"] = pl.Series(f"{heading}_lo", [number.lo for number in found], pl.Float64)
        columns[f"{heading}_hi"] = pl.Series(f"{heading}_hi", [number.hi for number in found], pl.Float64)
    return columns


def monitors_frame(monitors: list[Monitor], owners: list[int | None]) -> pl.DataFrame:
    """One row a report (`MONITORS`)."""
    if not monitors:
        return no_rows("monitors")
    rows = [
        {"statement": owner, "monitor": ordinal, "line": monitor.first + 1, **monitor.found}
        for ordinal, (monitor, owner) in enumerate(zip(monitors, owners, strict=True), 1)
    ]
    return pl.DataFrame({name: [row.get(name) for row in rows] for name in MONITORS}, schema=MONITORS, strict=False)


def monitor_lines_frame(monitors: list[Monitor]) -> pl.DataFrame:
    """One row a line of a plan (`MONITOR_LINES`)."""
    if not monitors:
        return no_rows("monitor_lines")
    rows = [{"monitor": ordinal, **line} for ordinal, monitor in enumerate(monitors, 1) for line in monitor.lines]
    columns = {name: [row.get(name) for row in rows] for name in MONITOR_LINES}
    return pl.DataFrame(columns, schema=MONITOR_LINES, strict=False)


_KEY = ["sid", "name", "column", "unit"]


def session_record(statistics: pl.DataFrame) -> pl.DataFrame:
    """One row a statistic: the last figure that any of the listings shows for it.

    Args:
        statistics: a frame with the schema `STATISTICS`.

    Returns:
        `sid`, `name`, `unit`, `basis`, `value`, `value_lo`, `value_hi`, `listing`, in the order of the listings.
    """
    return (
        statistics.filter(pl.col("value").is_not_null())
        .unique(["sid", "name", "unit", "basis"], keep="last", maintain_order=True)
        .sort("listing", "line", maintain_order=True)
        .select("sid", "name", "unit", "basis", "value", "value_lo", "value_hi", "listing")
    )


def subtract_statistics(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    r"""What changed between two listings of cumulative figures, by session, name and column.

    Args:
        before: the rows of the earlier listing (`STATISTICS`).
        after: the rows of the later one.

    Returns:
        One row a statistic of the later listing: `sid`, `name`, `column`, `unit`, `before`, `after`, `value` (the
        difference) with `value_lo` and `value_hi` from the bounds of both, and `basis` `delta`.  A statistic that only
        one listing shows has a null difference: a listing may leave names out, so a missing figure is not zero.

    Raises:
        ValueError: a listing holds a delta already.

    Examples:
        >>> from sqlplusparse import read_spool
        >>> page = "NAME            VALUE\n-------------- ------\nphysical reads {:>6}\n"
        >>> log = "SQL> select name, value from v$mystat;\n\n" + page
        >>> spool = read_spool((log.format(100) + "\n" + log.format(7339)).encode())
        >>> spool.difference(1, 2).select("name", "before", "after", "value").rows()
        [('physical reads', 100.0, 7339.0, 7239.0)]
    """
    if (pl.concat([before.select("basis"), after.select("basis")])["basis"] == "delta").any():
        raise ValueError("a listing of deltas cannot be subtracted")
    figures = ["value", "value_lo", "value_hi"]
    earlier = before.select(*_KEY, *(pl.col(name).alias(f"before_{name}") for name in figures)).unique(
        _KEY, keep="last", maintain_order=True
    )
    joined = after.join(earlier, on=_KEY, how="left", nulls_equal=True, maintain_order="left")
    return joined.select(
        *_KEY,
        pl.col("before_value").alias("before"),
        pl.col("value").alias("after"),
        (pl.col("value") - pl.col("before_value")).alias("value"),
        (pl.col("value_lo") - pl.col("before_value_hi")).alias("value_lo"),
        (pl.col("value_hi") - pl.col("before_value_lo")).alias("value_hi"),
        pl.lit("delta").alias("basis"),
    )


#: Figures of a plan, and what ``K`` stands for in each: rows are counted in thousands, memory in 1024 bytes.
FIGURES: Final = {
    "starts": 1000,
    "e_rows": 1000,
    "e_bytes": 1024,
    "temp_space": 1024,
    "cost": 1000,
    "a_rows": 1000,
    "buffers": 1000,
    "reads": 1000,
    "writes": 1000,
    "o_mem": 1024,
    "one_mem": 1024,
    "used_mem": 1024,
    "used_tmp": 1024,
}
#: Columns of texts, joined by line feeds until they are in a frame: Polars splits them faster than it takes lists.
_LISTS: Final = ("predicates", "notes")
_PLANFRAME_TIMES: Final = ("e_time_s", "a_time_s")
#: Figures that another one in brackets may follow.
_BRACKETS: Final = {"cost": "cpu_percent", "used_mem": "passes"}
_BRACKET: Final = Pattern(r"(?P<figure>{FIGURE_BEFORE})\((?P<bracket>{DIGITS})\)", PLAN_GRAMMAR)
_TIME: Final = Pattern(
    r"(?:(?P<hours>{UP_TO_9_DIGITS}):)?(?P<minutes>{UP_TO_9_DIGITS}):(?P<seconds>{UP_TO_9_DIGITS})"
    r"(?:\.(?P<fraction>{UP_TO_9_DIGITS}))?",
    PLAN_GRAMMAR,
)
_OLD: Final = Pattern(
    r"(?:(?P<of>{OLD_OPERATION}) OF '?(?P<name>{OLD_NAME})'?(?P<more>{OLD_DETAIL})|(?P<bare>{BARE_OPERATION}))"
    r"(?: ?\((?P<figures>{OLD_FIGURES})\))?",
    PLAN_GRAMMAR,
)
_OLD_FIGURE: Final = Pattern("={DIGITS}", PLAN_GRAMMAR)
_OLD_FIGURES: Final = {"Cost": "cost", "Card": "e_rows", "Bytes": "e_bytes"}


def plans_frame(owned: list[tuple[int | None, Plan]], *, printed: bool) -> pl.DataFrame:
    """One row an operation; with `printed`, each figure has its bounds beside it.

    ``is_inactive``: a row that an adaptive plan marks so, and that was not used in the end.
    """
    rows = [
        {"statement": owner, "plan": ordinal, **row}
        for ordinal, (owner, plan) in enumerate(owned, 1)
        for row in _plan_rows(plan)
    ]
    schema: dict[str, pl.DataType | type[pl.DataType]] = {}
    for name, dtype in PLANS.items():
        schema[name] = dtype
        if printed and (name in FIGURES or name in _PLANFRAME_TIMES):
            schema[f"{name}_lo"] = pl.Float64
            schema[f"{name}_hi"] = pl.Float64
    if not rows:
        return pl.DataFrame(schema=schema)
    columns = {name: [row.get(name) for row in rows] for name in schema}
    flat = {name: pl.String if name in _LISTS else dtype for name, dtype in schema.items()}
    return frame_of(columns, flat, strict=False).with_columns(
        pl.col(_LISTS).str.split("\n").fill_null(pl.lit([], pl.List(pl.String)))
    )


def _plan_rows(plan: Plan) -> list[dict[str, object]]:
    rows = []
    named = [operation.cells() for operation in plan.operations]
    depths = _depths(plan, named)
    is_flat = plan.layout != "old" and len(named) > 1 and not any(depths)  # a copy that lost its blanks
    ids = [int(cells["id"].strip("*->= ")) for cells in named]
    for place, (operation, cells) in enumerate(zip(plan.operations, named, strict=True)):
        number = ids[place]
        parent = cells.get("parent_id")
        row: dict[str, object] = {
            "line": operation.line + 1,
            "layout": plan.layout,
            "plan_source": plan.plan_source,
            "sql_id": plan.sql_id,
            "child_number": plan.child_number,
            "plan_hash_value": plan.hash_value,
            "id": number,
            "parent_id": int(parent) if parent else _parent(ids, depths, place),
            "depth": None if is_flat and place else depths[place],
            "is_inactive": cells["id"].startswith("-") and not cells["id"].startswith("->"),
            "predicates": "\n".join(plan.predicates.get(number, ())) or None,
            "notes": ("\n".join(plan.notes) or None) if place == 0 else None,
            "sql_text": plan.sql_text if place == 0 else None,
            "explains": plan.explains,
        }
        row |= _old_cells(cells["operation"]) if plan.layout == "old" else _table_cells(cells)
        rows.append(row)
    return rows


def _depths(plan: Plan, named: list[dict[str, str]]) -> list[int]:
    """How deep each operation is nested, from its indentation or, in the old layout, from its parents."""
    if plan.layout != "old":
        above: list[int] = []
        nested = []
        for operation in (cells.get("operation", "") for cells in named):
            indent = len(operation) - len(operation.lstrip())
            while above and above[-1] >= indent:
                above.pop()
            nested.append(len(above))
            above.append(indent)
        return nested
    depths: dict[str, int] = {}
    found = []
    for cells in named:
        depth = depths.get(cells.get("parent_id", ""), -1) + 1
        depths[cells["id"]] = depth
        found.append(depth)
    return found


def _parent(ids: list[int], depths: list[int], place: int) -> int | None:
    """The last operation before this one that is nested less deep."""
    depth = depths[place]
    return next((ids[above] for above in range(place - 1, -1, -1) if depths[above] < depth), None)


def _table_cells(cells: dict[str, str]) -> dict[str, object]:
    row: dict[str, object] = {}
    for name, cell in cells.items():
        if name in FIGURES:
            row |= _with_bracket(name, cell) if name in _BRACKETS else _figure(name, cell)
        elif name in _PLANFRAME_TIMES:
            row |= _time(name, cell)
        elif name == "operation":
            row[name] = cell.strip()
        elif name in PLANS and name != "id":
            row[name] = cell or None
    return row


def _with_bracket(name: str, cell: str) -> dict[str, object]:
    """A figure with another one in brackets after it: ``29625   (1)``, ``2048  (0)``."""
    found = _BRACKET.fullmatch(cell)
    if found is None:
        return _figure(name, cell)
    return {**_figure(name, found["figure"].rstrip(" ")), _BRACKETS[name]: int(found["bracket"])}


@lru_cache(maxsize=1 << 12)
def _figure(name: str, cell: str) -> dict[str, object]:
    found = read_printed(cell, base=FIGURES[name])
    return {name: found.value, f"{name}_lo": found.lo, f"{name}_hi": found.hi}


@lru_cache(maxsize=1 << 12)
def _time(name: str, cell: str) -> dict[str, object]:
    """``00:00:01.34`` in seconds; rounding or truncation is not documented, so the bounds are as for Elapsed."""
    found = _TIME.fullmatch(cell)
    if found is None:
        return {name: None}
    fraction = found["fraction"] or ""
    scale = 10 ** len(fraction)
    seconds = (int(found["hours"] or 0) * 60 + int(found["minutes"])) * 60 + int(found["seconds"])
    ticks = seconds * scale + int(fraction or 0)
    return {name: ticks / scale, f"{name}_lo": max(2 * ticks - 1, 0) / (2 * scale), f"{name}_hi": (ticks + 1) / scale}


def unread_rows(plan: Plan) -> list[int]:
    """Lines of the rows of a plan with figures that are in no column of the frame."""
    if plan.layout == "old":
        return [operation.line for operation in plan.operations if _has_unread_old(operation.cells()["operation"])]
    if not plan.operations:
        return []
    is_plain = _plain_row(tuple(plan.operations[0].names)).fullmatch
    return [row.line for row in plan.operations if not is_plain(row.text) and _has_unread_cell(row.cells())]


@lru_cache(maxsize=1 << 8)
def _plain_row(names: tuple[str, ...]) -> Pattern:
    """The form of nearly all rows: figures and times where their columns are."""
    kinds = {
        **dict.fromkeys(FIGURES, "PLAIN_FIGURE"),
        **dict.fromkeys(_BRACKETS, "PLAIN_BRACKET"),
        **dict.fromkeys(_PLANFRAME_TIMES, "PLAIN_TIME"),
    }
    cells = "{BAR}".join(f"{{{kinds.get(name, 'CELL')}}}" for name in names)
    return Pattern(f"{{BAR}}{cells}{{BAR}}", PLAN_GRAMMAR)


def _has_unread_cell(cells: dict[str, str]) -> bool:
    read = _table_cells(cells)
    figures = (name for name in cells if name in FIGURES or name in _PLANFRAME_TIMES)
    return any(read.get(name) is None and DIGITS.search(cells[name]) for name in figures)


def _has_unread_old(text: str) -> bool:
    printed = len(list(_OLD_FIGURE.finditer(text)))
    figures = _old_figures(_OLD.fullmatch(text)) if printed else ()
    return printed > len(_OLD_FIGURES.keys() & {name for name, figure in figures if figure})


def _old_figures(found: re.Match[str] | None) -> Iterator[tuple[str, str]]:
    """Names and figures in the last brackets of an operation."""
    for word in ((found and found["figures"]) or "").replace(",", " ").split():
        name, _, figure = word.partition("=")
        yield name, figure


def _old_cells(text: str) -> dict[str, object]:
    """An operation of the old layout: ``TABLE ACCESS (FULL) OF 'T' (Cost=4 Card=2 Bytes=10)``."""
    found = _OLD.fullmatch(text)
    if found is None:
        return {"operation": text}
    row: dict[str, object] = {"operation": found["of"] or found["bare"], "object_name": found["name"]}
    for name, figure in _old_figures(found):
        if name in _OLD_FIGURES:
            row |= _figure(_OLD_FIGURES[name], figure)
    return row
