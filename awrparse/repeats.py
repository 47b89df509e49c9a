"""Names that a table has twice: rows of another table joined it, as where a page of the report is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from logframe.oracle import known_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awrparse.report import AwrReport

#: Tables that have each name once in a report of one instance -> the column of names.
_TABLES: Final = {
    "foreground_events": "event",
    "background_events": "event",
    "foreground_wait_classes": "wait_class",
    "instance_activity": "statistic",
    "time_model": "statistic",
}


def repeated_names(report: AwrReport) -> Iterator[tuple[str, str]]:
    """Table and name of each row that comes again in its table, where the name is known in full."""
    if report.kind not in {"awr", "awr_pdb", "statspack"}:
        return
    for table, column in _TABLES.items():
        if table not in report:
            continue
        names = report[table][column].drop_nulls()
        repeated = names.filter(names.is_duplicated()).unique(maintain_order=True)
        known = set(known_names(column)) if len(repeated) else ()
        yield from ((table, name) for name in repeated if name in known)
