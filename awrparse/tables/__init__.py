"""The canonical tables: a data file per topic beside this module, in the order in which reports print them.

A file has a section a table; its keys are the attributes of `awrparse.columns.Table`.  A row of ``columns`` is a
column:

    NAME | KIND | MEANING | HEADING | HEADING ...

The headings are those of all versions.  A row without ``|`` names columns that several tables of the topic have, which
are defined once, in ``shared`` at the top of the file.  A row of ``heads`` of a pivot is

    HEADING | NAME | COLUMN
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from awrparse.columns import CUT_KINDS, IS_TOTAL, Column, Pivot, Table
from logframe.data_files import cells_of, frozen, read_data

#: The data files, in the order of reports.
TOPICS: Final = (
    *("identity", "load", "waits", "sql", "plans", "io", "memory", "recovery", "queues", "replication", "ash"),
    *("rac", "interconnect", "exadata", "flash", "compare", "compare_tops"),
)


def _column(name: str, kind: Any, meaning: str, *heads: str) -> Column:  # noqa: ANN401 - a test checks the kinds
    return Column(name, kind, meaning, heads)


def read_tables(data: dict[str, Any]) -> dict[str, Table]:
    """The tables of a data file by their names.

    Raises:
        KeyError: A row of a name alone is not among the shared columns.
        TypeError: A table has no meaning, or a key that tables lack.

    Examples:
        >>> tables = read_tables({"waits": {"meaning": "Waits.", "columns": "event | event | name | Event | Wait"}})
        >>> tables["waits"].columns[0].heads
        ('Event', 'Wait')
    """
    shared = {row[0]: _column(*row) for row in cells_of(data.pop("shared", ""))}
    return {name: _table(name, entry, shared) for name, entry in data.items()}


def _table(name: str, entry: dict[str, Any], shared: dict[str, Column]) -> Table:
    columns: list[Column] = []
    for row in cells_of(entry.pop("columns")):
        columns += [_column(*row)] if len(row) > 1 else [shared[one] for one in row[0].split()]
    return Table(
        name=name,
        columns=tuple(columns),
        titles=tuple(entry.pop("titles", ())),
        layouts={int(count): tuple(names.split()) for count, names in entry.pop("layouts", {}).items()},
        pivots=tuple(_pivot(pivot) for pivot in entry.pop("pivots", ())),
        **{key: frozen(value) for key, value in entry.items()},
    )


def _pivot(entry: dict[str, Any]) -> Pivot:
    heads = {head: (name, column) for head, name, column in cells_of(entry.pop("heads"))}
    return Pivot(heads=heads, **{key: frozen(value) for key, value in entry.items()})


_BY_TOPIC: Final = {topic: read_tables(read_data(__name__, topic)) for topic in TOPICS}
#: Name -> canonical table: its schema, its meaning, and of each column the meaning and the unit.
TABLES: Final[dict[str, Table]] = {name: table for tables in _BY_TOPIC.values() for name, table in tables.items()}
#: `report["info"]`: the fields of `AwrInfo` as one row.
INFO: Final = TABLES["info"]
#: What a report is about: database, instances, hosts, snapshots.
IDENTITY: Final = tuple(table for table in _BY_TOPIC["identity"].values() if table is not INFO)
#: Name of a part of a long table -> that table and the value of its `ordered_by`.
VIEWS: Final = {f"sql_by_{order}": ("sql", order) for order in sorted({*TABLES["sql"].group["ordered_by"].values()})}


@lru_cache(maxsize=2048)
def tables_titled(title: str) -> tuple[Table, ...]:
    """The canonical tables that are printed under a title."""
    begins = title.lower()
    return tuple(
        table
        for table in TABLES.values()
        # the patterns are compiled for titles that they may match only; letters of other scripts may be cases of these
        if (not title.isascii() or any(one in begins for one in table.beginnings)) and table.titles
        if table.pattern.search(title)
    )


def describe_tables() -> str:
    """The canonical tables as Markdown, a section a table; the documentation is made of it.

    Examples:
        >>> describe_tables().splitlines()[0]
        '## `info`'
    """
    sections = []
    for table in TABLES.values():
        lines = [f"## `{table.name}`", "", table.meaning, "", "| column | type | unit | meaning |", "|---|---|---|---|"]
        for column in table.columns:
            unit = column.unit or " "
            lines.append(f"| `{column.name}` | {column.dtype} | {unit} | {column.meaning} |")
            if column.kind in CUT_KINDS:
                lines.append(
                    f"| `{column.name}_printed` | String |   | the same as printed, cut where the report cuts it |"
                )
        if table.total:
            lines.append(f"| `{IS_TOTAL}` | Boolean |   | the row is the sum of others |")
        sections.append("\n".join(lines))
    return "\n\n".join(sections) + "\n"
