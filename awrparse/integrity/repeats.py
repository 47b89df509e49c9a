"""What a table has twice: rows of another table joined it where a page is missing, or a piece was copied again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from awrparse.integrity.registry import check
from awrparse.records import Problem
from awrparse.tables import IDENTITY, TABLES
from logframe.oracle import known_names

if TYPE_CHECKING:
    from collections.abc import Iterator

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
