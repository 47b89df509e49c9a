"""Which printed tables of a report make which canonical table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from awrparse.canonical import matches
from awrparse.tables import tables_titled

if TYPE_CHECKING:
    from awrparse.columns import Table
    from awrparse.records import PrintedTable


def tables_of(printed: PrintedTable) -> list[Table]:
    """The canonical tables that a printed table is."""
    return [table for table in tables_titled(printed.title) if matches(table, printed)]


class MatchedTables(Mapping[str, "list[PrintedTable]"]):
    """Canonical name -> its printed tables.

    Titles are looked up at once, headings when a name is asked for: they are known when the rows are cut, and whoever
    wants one table of many reports shall not pay for all of them.
    """

    def __init__(self, tables: list[PrintedTable]) -> None:
        self._tables = tables
        self._titled: dict[str, tuple[Table, list[PrintedTable]]] = {}
        for printed in tables:
            for table in tables_titled(printed.title):
                self._titled.setdefault(table.name, (table, []))[1].append(printed)
        self._matched: dict[str, list[PrintedTable]] = {}

    def __getitem__(self, name: str) -> list[PrintedTable]:
        if name not in self:
            raise KeyError(name)
        return self._matched[name]

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str) or name not in self._titled:
            return False
        if name not in self._matched:
            table, titled = self._titled[name]
            self._matched[name] = [printed for printed in titled if matches(table, printed)]
        return bool(self._matched[name])

    def __iter__(self) -> Iterator[str]:
        """The names in the order in which the report prints their tables."""
        names = [
            table.name
            for printed in self._tables
            for table in tables_titled(printed.title)
            if any(one is printed for one in self.get(table.name, []))
        ]
        return iter(dict.fromkeys(names))

    def __len__(self) -> int:
        return sum(name in self for name in self._titled)
