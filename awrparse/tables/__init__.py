"""The canonical tables: one list, in the order in which reports print them."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from awrparse.columns import CUT_KINDS, IS_TOTAL, Table
from awrparse.tables.ash import ASH
from awrparse.tables.compare import COMPARE
from awrparse.tables.compare_tops import COMPARE_TOPS
from awrparse.tables.exadata import EXADATA
from awrparse.tables.flash import FLASH
from awrparse.tables.identity import IDENTITY, INFO
from awrparse.tables.interconnect import INTERCONNECT
from awrparse.tables.io import IO
from awrparse.tables.load import LOAD
from awrparse.tables.memory import MEMORY
from awrparse.tables.plans import PLANS
from awrparse.tables.queues import QUEUES
from awrparse.tables.rac import RAC
from awrparse.tables.recovery import RECOVERY
from awrparse.tables.replication import REPLICATION
from awrparse.tables.sql import SQL, SQL_ORDERS
from awrparse.tables.waits import WAITS

#: Name -> canonical table: its schema, its meaning, and of each column the meaning and the unit.
TABLES: Final[dict[str, Table]] = {
    table.name: table
    for table in (
        INFO,
        *IDENTITY,
        *LOAD,
        *WAITS,
        *SQL,
        *PLANS,
        *IO,
        *MEMORY,
        *RECOVERY,
        *QUEUES,
        *REPLICATION,
        *ASH,
        *RAC,
        *INTERCONNECT,
        *EXADATA,
        *FLASH,
        *COMPARE,
        *COMPARE_TOPS,
    )
}
#: Name of a part of a long table -> that table and the value of its `ordered_by`.
VIEWS: Final = {f"sql_by_{order}": ("sql", order) for order in sorted(set(SQL_ORDERS.values()))}


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
