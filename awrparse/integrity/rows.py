"""Rows that belong to another table or report: a title or a page between is missing, or a piece was copied twice.

What shows it: rows that a table has twice, names that are of another table, and shares or rates of another whole than
those of the other rows.  A share is a figure divided by one whole, which all rows of a table have: the database time,
the length of the period, the number of transactions.  Figure and share are rounded, so each row gives an interval for
the whole, and these intervals have a value in common.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from awrparse.integrity.registry import check
from awrparse.matching import tables_of
from awrparse.records import Problem
from awrparse.tables import IDENTITY, TABLES
from awrparse.text.layout import is_number
from logframe.oracle import known_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from awrparse.integrity.registry import Report


#: Tables that have each name once in a report of one instance -> the column of names.
_NAMED: Final = {
    "foreground_events": "event",
    "background_events": "event",
    "foreground_wait_classes": "wait_class",
    "instance_activity": "statistic",
    "time_model": "statistic",
}
#: Tables that have each name once in a group -> the columns of the group and the name.
_GROUPED: Final = {
    "ash_activity": ("slot", "event"),
    "ash_plsql": ("entry", "current"),
    "process_memory_top": ("snapshot", "process", "category"),
    "ash_sql_events": ("sql_id", "plan_hash", "full_plan_hash", "event", "row_source", "pdb"),
}
#: This many rows below each other that come again are a piece of the report; fewer may be equal by chance.
_FEWEST: Final = 3
#: Tables without equal rows, whatever stands around them.
_ONCE: Final = frozenset(
    {
        *("sql", "segments", "host_cpu", "pga_target", "pga_summary"),
        *("ash_sessions", "ash_calls", "ash_services", "ash_commands"),
    }
)
#: Of a statement that is printed again the lines below its figures may be cut.
_CUT: Final = frozenset({"sql_text", "module"})
#: Names that are mostly unique stand in this many first columns.
_NAMES: Final = 3
#: What reports print in place of a text.
_NO_TEXT: Final = "**sqltext"
_TWICE: Final = "the name is there twice: rows of another table may have joined it where lines are missing"
_AGAIN: Final = "this row and those below it come again: a piece of the report may be there twice"


@check("rows of another table joined this one", "rows", cost_ms=1)
def repeated_names(report: Report) -> Iterator[Problem]:
    """Name and reason of each row that comes again in its table or group, where the name is known in full."""
    for table, columns in _GROUPED.items():
        if table in report:
            frame = report[table].select(columns)
            for row in frame.filter(frame.is_duplicated()).unique(maintain_order=True).rows():
                yield Problem(None, "contradiction", " ".join(map(str, filter(None, row))), f"{table}: {_TWICE}")
    if report.kind not in {"awr", "awr_pdb", "statspack"}:
        return
    for table, column in _NAMED.items():
        if table not in report:
            continue
        names = report[table][column].drop_nulls()
        repeated = names.filter(names.is_duplicated()).unique(maintain_order=True)
        known = set(known_names(column)) if len(repeated) else ()
        yield from (Problem(None, "contradiction", name, f"{table}: {_TWICE}") for name in repeated if name in known)


@check("a piece of a table was copied twice", "rows", cost_ms=3)
def repeated_rows(report: Report) -> Iterator[Problem]:
    """First cell and reason of each piece of a table that comes again, in the order of the tables."""
    for name in report.tables:
        table = TABLES[name]
        fewest = 1 if name in _ONCE or table in IDENTITY or table.shape == "wide" else _FEWEST
        frame = report[name]
        measures = [column.name for column in table.columns if column.is_measure]
        if frame.height < 2:
            continue
        if name == "sql":  # the same statement with the same number of versions may be listed twice
            frame = frame.filter(pl.col("ordered_by") != "versions")
        if cut := _CUT & table.by_name.keys():
            frame = frame.drop(cut)
        if any(frame.to_series(place).n_unique() == frame.height for place in range(min(_NAMES, frame.width))):
            continue  # no two rows have one name
        is_twice = frame.is_duplicated()
        if measures and is_twice.any():
            is_twice &= frame.select(pl.any_horizontal(pl.col(measures).is_not_null())).to_series()
        if is_twice.any():
            for place in _pieces(frame.rows(), is_twice.to_list(), fewest):
                first = str(next(iter(filter(None, frame.row(place))), ""))
                yield Problem(None, "repeated", first, f"{name}: {_AGAIN}")


@check("lines between two statements are missing, or two reports were joined", "rows", cost_ms=2)
def other_texts(report: Report) -> Iterator[Problem]:
    """SQL id and reason of each statement that has another text elsewhere in the report: lines between are missing."""
    first: dict[str, tuple[str, str]] = {}
    for table in report.tables:
        frame = report[table]
        if not {"sql_id", "sql_text"}.issubset(frame.columns):
            continue
        for sql_id, sql_text in frame.select("sql_id", "sql_text").drop_nulls().unique(maintain_order=True).rows():
            text = "".join(sql_text.split()).rstrip(".").lower()
            if text.startswith(_NO_TEXT):
                continue
            above, where = first.setdefault(sql_id, (text, table))
            if not (text.startswith(above) or above.startswith(text)):
                for name in dict.fromkeys((where, table)):
                    reason = f"{name}: the statement has two texts; one is that of another, lines may be missing"
                    yield Problem(None, "foreign", sql_id, reason)


def _pieces(rows: list[tuple[object, ...]], is_twice: list[bool], fewest: int) -> Iterator[int]:
    """Where each run of this many rows starts that stand together above, too."""
    above: dict[tuple[object, ...], int] = {}
    first, length, last = 0, 0, -2
    for place, row in enumerate(rows):
        before = above.get(row) if is_twice[place] else None
        if before == place - 1 and fewest > 1:  # equal rows below each other are a table's own
            before = None
        if before is not None and before == last + 1:
            length += 1
        else:
            first, length = place, int(before is not None)
        if length == fewest:
            yield first
        last = -2 if before is None else before
        if is_twice[place]:
            above[row] = place


_REASON: Final = "of another whole than in the other rows; the row may be of another table"
_OTHER_TABLE: Final = "the row may be of another table"
#: The end of the names of shares that each row adds to.
_RUNNING: Final = "_running_pct"
#: Running shares are rounded to so much.
_STEP_PCT: Final = 0.11
#: Fewer rows than these do not describe each other.
_SHARES_FEWEST: Final = 2
#: Reports round some figures twice: 0.1497 to 0.15, and this to 0.2.
_ROUNDED_TWICE: Final = 0.1
_SLACK: Final = 1e-3


class _Share(NamedTuple):
    """A figure, its share, and the columns of which each value has a whole of its own."""

    table: str
    figure: str
    share: str
    within: tuple[str, ...] = ()
    orders: tuple[str, ...] = ()


_INSTANCE = ("instance",)
_PER_SQL: Final = {
    "elapsed": "elapsed_s",
    "cpu": "cpu_s",
    "gets": "buffer_gets",
    "reads": "physical_reads",
    "io_wait": "io_wait_s",
    "cluster_wait": "cluster_wait_s",
    "parses": "parse_calls",
    "memory": "sharable_bytes",
}
_SHARES: Final = (
    _Share("top_events", "total_wait_s", "db_time_pct", _INSTANCE),
    _Share("top_events", "total_wait_s", "call_time_pct", _INSTANCE),
    _Share("wait_classes", "total_wait_s", "db_time_pct"),
    _Share("wait_classes", "total_wait_s", "avg_active_sessions"),
    _Share("foreground_wait_classes", "total_wait_s", "db_time_pct", _INSTANCE),
    _Share("foreground_events", "total_wait_s", "db_time_pct"),
    _Share("foreground_events", "waits", "waits_per_txn"),
    _Share("background_events", "total_wait_s", "background_time_pct"),
    _Share("background_events", "waits", "waits_per_txn"),
    _Share("wait_events", "waits", "waits_per_txn"),
    _Share("instance_activity", "total", "per_second"),
    _Share("instance_activity", "total", "per_transaction"),
    _Share("rac_messaging", "total", "per_second"),
    _Share("rac_messaging", "total", "per_transaction"),
    *(_Share("sql", figure, "total_pct", (), (order,)) for order, figure in _PER_SQL.items()),
    _Share("segments", "value", "total_pct", ("ordered_by",)),
    _Share("segments", "value", "capture_pct", ("ordered_by",)),
    *(
        _Share(table, f"{kind}_bytes", f"{kind}_bytes_per_s", within)
        for table, within in (
            ("iostat_function", _INSTANCE),
            ("iostat_filetype", _INSTANCE),
            ("iostat_function_filetype", ()),
        )
        for kind in ("read", "write")
    ),
    _Share("tablespace_io", "reads", "reads_per_s"),
    _Share("file_io", "reads", "reads_per_s"),
    _Share("ash_top_events", "avg_active_sessions", "activity_pct", ("scope",)),
    _Share("ash_commands", "avg_active_sessions", "activity_pct"),
)


@check("rows are of another table or report than the others", "rows", cost_ms=14)
def other_wholes(report: Report) -> Iterator[Problem]:
    """Name of the row, and the reason, of each row whose share is of another whole than most of its table."""
    if report.kind in {"awr_diff", "awr_global"}:
        return
    for share in _SHARES:
        if share.table in report:
            yield from _other_rows(report.with_bounds(share.table), share)


@check("rows are missing, or are of two tables", "rows", cost_ms=1)
def falling_sums(report: Report) -> Iterator[Problem]:
    """Name and reason of each row whose running share is less than that of the row above: they are of two tables."""
    for table in report.tables:
        for column in TABLES[table].columns:
            if column.name.endswith(_RUNNING):
                yield from _falling_rows(report[table], table, column.name)


def _falling_rows(frame: pl.DataFrame, table: str, column: str) -> Iterator[Problem]:
    groups = [name for name in TABLES[table].group if name in frame.columns]
    above: dict[tuple[object, ...], float] = {}
    falling: dict[tuple[object, ...], list[int]] = {}
    for place, (share, *group) in enumerate(zip(*(frame[name].to_list() for name in (column, *groups)), strict=True)):
        if share is not None:
            key = tuple(group)
            if share - above.get(key, share) < -_STEP_PCT:
                falling.setdefault(key, []).append(place)
            above[key] = share
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String and name not in groups]
    for key in above:
        for place in falling.get(key, ()):
            name = " ".join(cell for cell in frame.select(texts).row(place) if cell is not None)
            yield Problem(None, "sum", name, f"{table}.{column}: less than in the row above; {_OTHER_TABLE}")


def _other_rows(frame: pl.DataFrame, share: _Share) -> Iterator[Problem]:
    figures = [f"{name}{end}" for name in (share.figure, share.share) for end in ("_lo", "_hi")]
    if not set(figures).issubset(frame.columns):
        return
    name = next(column for column in frame.columns if column not in share.within and column != "ordered_by")
    groups = [*share.within, *(["ordered_by"] if share.orders else [])]
    wholes: dict[tuple[object, ...], list[tuple[float, float, object]]] = {}
    columns = [frame[column].to_list() for column in (*figures, name, *groups)]
    for lo, hi, share_lo, share_hi, item, *group in zip(*columns, strict=True):
        if lo is None or share_lo is None or (share.orders and group[-1] not in share.orders):
            continue
        twice = (share_hi - share_lo) * _ROUNDED_TWICE
        least, most = share_lo - twice, share_hi + twice
        if lo > 0 and least > 0:
            whole = lo / most * (1 - _SLACK), hi / least * (1 + _SLACK), item
            wholes.setdefault(tuple(group), []).append(whole)
    for rows in wholes.values():
        starts, ends, _ = zip(*rows, strict=True)
        if len(rows) < _SHARES_FEWEST or max(starts) <= min(ends):
            continue
        common = _most_common(starts, ends)
        for start, end, item in rows:
            if start > common or end < common:
                yield Problem(None, "sum", str(item), f"{share.table}.{share.share}: {_REASON}")


def _most_common(starts: Sequence[float], ends: Sequence[float]) -> float:
    """A value that lies in most of the intervals.

    Examples:
        >>> _most_common([1.0, 2.0, 9.0], [3.0, 4.0, 9.5])
        2.0
    """
    best, most, count = starts[0], 0, 0
    for value, is_end in sorted([*((start, False) for start in starts), *((end, True) for end in ends)]):
        count += -1 if is_end else 1
        if count > most:
            best, most = value, count
    return best


#: Kinds whose names are listed; those of functions, pools and the like are too short to tell tables apart.
_KINDS: Final = ("event", "statistic", "latch")
#: Labels of the tables at the head of a report.
_LABELS: Final = {
    "load_profile": (
        *("DB Time(s)", "DB CPU(s)", "Background CPU(s)", "Redo size (bytes)", "Logical read (blocks)"),
        *("Block changes", "Physical read (blocks)", "Physical write (blocks)", "Read IO requests"),
        *("Write IO requests", "Read IO (MB)", "Write IO (MB)", "IM scan rows", "Session Logical Read IM"),
        *("Global Cache blocks received", "Global Cache blocks served", "User calls", "Parses (SQL)"),
        *("Hard parses (SQL)", "SQL Work Area (MB)", "Logons", "User logons", "Executes (SQL)", "Rollbacks"),
        *("Transactions", "Sorts"),
    ),
    "load_ratios": ("% Blocks changed per Read", "Recursive Call %", "Rollback per transaction %", "Rows per Sort"),
    "instance_efficiency": (
        *("Buffer Nowait %", "Redo NoWait %", "Buffer Hit %", "In-memory Sort %", "Library Hit %", "Soft Parse %"),
        *("Execute to Parse %", "Latch Hit %", "Parse CPU to Parse Elapsd %", "% Non-Parse CPU"),
        *("Optimal W/A Exec %", "Flash Cache Hit %"),
    ),
    "io_profile": (
        *("Total Requests", "Database Requests", "Optimized Requests", "Redo Requests", "Total (MB)"),
        *("Database (MB)", "Optimized Total (MB)", "Redo (MB)", "Database (blocks)", "Via Buffer Cache (blocks)"),
        "Direct (blocks)",
    ),
    "memory": ("Host Mem (MB)", "SGA use (MB)", "PGA use (MB)", "% Host Mem used for SGA+PGA"),
    "cache_sizes": (
        *("Buffer Cache", "Std Block Size", "Shared Pool Size", "Log Buffer", "In-Memory Area", "Memory Target"),
        *("SGA Target", "Large Pool", "Java Pool", "Streams Pool", "PGA Target"),
    ),
    "shared_pool": ("Memory Usage %", "% SQL with executions>1", "% Memory for SQL w/exec>1"),
    "snapshots": ("Begin Snap", "End Snap"),
    "instance_cpu": (
        *("% of total CPU for Instance", "% of busy CPU for Instance", "%DB time waiting for CPU - Resource Mgr"),
        *("Host: Total time (s)", "Host: Busy CPU time (s)", "% of time Host is Busy", "Instance: Total CPU time (s)"),
        *("% of Busy CPU used for Instance", "Instance: Total Database time (s)"),
    ),
}
#: Idle events of background processes only.
_BACKGROUND: Final = frozenset(
    {
        *("pmon timer", "smon timer", "lreg timer", "dispatcher timer", "ASM background timer", "DIAG idle wait"),
        *("Space Manager: slave idle wait", "class slave wait", "LGWR worker group idle", "heartbeat redo informer"),
        *("Streams AQ: qmn coordinator idle wait", "Streams AQ: qmn slave idle wait", "AQPC idle"),
        *("VKTM Logical Idle Wait",),
    }
)
#: What is listed among the events, and is not one.
_CPU: Final = frozenset({"DB CPU", "CPU time", "background cpu time"})
_NAMES_OTHER_TABLE: Final = "lines between this row and those of the table may be missing"


@cache
def _names(kind: str) -> frozenset[str]:
    return frozenset(known_names(kind))


@cache
def _labels() -> frozenset[str]:
    return frozenset(label for labels in _LABELS.values() for label in labels)


@check("rows belong to another table: the title between the two is missing", "rows", cost_ms=2)
def other_names(report: Report) -> Iterator[Problem]:
    """Name and reason of each row that has the name of a row of another table."""
    yield from _without_table(report)
    for table in report.tables:
        if table in _LABELS:
            yield from _other_labels(report, table)
        for column in TABLES[table].columns:
            if column.kind in _KINDS:
                yield from _of_other_kinds(report, table, column.name, column.kind)
    if "foreground_events" in report:
        for name in report["foreground_events"]["event"]:
            if name in _BACKGROUND:
                yield Problem(
                    None,
                    "foreign",
                    name,
                    f"foreground_events: only background processes wait for this; {_NAMES_OTHER_TABLE}",
                )


def _other_labels(report: Report, table: str) -> Iterator[Problem]:
    """Rows of a table of labels that no report has in this table."""
    if TABLES[table].shape != "labels":
        return
    frame = report[table]
    own = frozenset(_LABELS[table])
    for label in frame[frame.columns[0]].drop_nulls():
        if label in own:
            continue
        is_known = label in _labels() or any(label in _names(kind) for kind in _KINDS)
        what = "one of another table" if is_known else "not known"
        yield Problem(None, "foreign", label, f"{table}: the label is {what}; {_NAMES_OTHER_TABLE}")


def _without_table(report: Report) -> Iterator[Problem]:
    """Labels of a known table in a table that is not one: its title was cut off."""
    document = report.document
    renamed = TABLES["load_profile"].renamed
    for printed in document.tables:
        matched = tables_of(printed)
        if any(table.shape == "labels" for table in matched):
            continue
        is_of_labels = document.form == "text" and not printed.rows.extents
        for row in printed.rows.cells:
            if not (is_of_labels or row[0].endswith(":")) or not any(map(is_number, row[1:])):
                continue
            label = " ".join(row[0].removesuffix(":").split())
            label = renamed.get(label, label)
            owners = [name for name, labels in _LABELS.items() if label in labels]
            if owners and not any(table.name in owners for table in matched):
                yield Problem(
                    None,
                    "foreign",
                    label,
                    f"{owners[0]}: the label stands without its table; its figures are in raw_tables only",
                )


def _of_other_kinds(report: Report, table: str, column: str, kind: str) -> Iterator[Problem]:
    """Names that are not part of their kind: known as another, or in capitals as steps of plans are."""
    for name in dict.fromkeys(report[table][column].to_list()):
        if name is None or name in _names(kind) or name in _CPU:
            continue
        others = [other for other in _KINDS if other != kind and name in _names(other)]
        is_step = kind == "event" and name.isupper() and " " in name
        if others or is_step or name in _labels():
            what = others[0] if others else "step of a plan" if is_step else "label"
            yield Problem(
                None, "foreign", name, f"{table}.{column}: the name is that of a {what}; {_NAMES_OTHER_TABLE}"
            )
