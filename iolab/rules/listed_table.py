"""A listing of a view with the figures of its columns, and the sentences about views (`listings.toml`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from iolab.metrics.formatting import MOST_TEXT, short_text, size_text
from iolab.rules.phrases import percent, seconds, three
from logframe.data_files import read_data
from logframe.oracle import wait_class_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from sqlplusparse import Queried

#: Columns with the time that a row is of, as it is or within a function.
TIMES: Final = frozenset(
    {
        *("begin_time", "end_time", "begin_interval_time", "end_interval_time", "first_time", "next_time"),
        *("completion_time", "sample_time", "snap_time", "start_time"),
    }
)
_OF_SEVERAL: Final = frozenset({"max", "min", "count", "sum"})


@dataclass(frozen=True)
class Figures:
    """The figures of a column: what they count, one for each row, and whether rows add up."""

    kind: str
    values: tuple[float | None, ...]
    is_sum: bool

    def said(self, value: float) -> str:
        """One of the figures, with its unit."""
        if self.kind == "s":
            return seconds(value)
        return size_text(round(value)) if self.kind == "bytes" else f"{value:,.0f}" if value % 1 == 0 else three(value)


class Table:
    """A listing with the figures of its columns, by the names of the columns of views."""

    def __init__(self, listed: Queried, own: Mapping[str, tuple[str, float]] = MappingProxyType({})) -> None:
        """A listing, whose columns mean what those of all views mean (`units`), or what they mean in it alone."""
        self.listed = listed
        self.figures: dict[str, Figures] = {}
        for place, column in enumerate(listed.columns):
            found = column.measure({**units(), **own})
            if found is not None:
                name, kind, unit, is_sum = found
                is_sum = is_sum and kind not in {"age", "ratio", "rate"}
                kind = {"age": "s", "rate": "bytes"}.get(kind, kind)
                values = tuple(None if one is None else one.value for one in listed.figures(place, unit))
                self.figures.setdefault(name, Figures(kind, values, is_sum))
        words = (word.removeprefix("sys.") for word in listed.words)
        self.views = {word.removeprefix("g") if word.startswith("gv$") else word for word in words}

    @cached_property
    def texts(self) -> dict[str, int]:
        """The places of the columns by the words of their expressions; of several the one with names of files."""
        columns = [*enumerate(self.listed.columns)]
        files = [one for one in columns if any((row[one[0]] or "")[:1] in {"/", "+"} for row in self.listed.rows)]
        return {word: n for n, one in [*reversed(columns), *files] for word in one.words}

    @cached_property
    def moments(self) -> int | None:
        """The first column with times, where a time is of a row only."""
        columns = enumerate(self.listed.columns)
        return next((n for n, one in columns if one.words & TIMES and not one.words & _OF_SEVERAL), None)

    @cached_property
    def events(self) -> list[str]:
        """The events that the query asks for."""
        quoted = (word.strip("'") for word in self.listed.words if word[0] == "'")
        return [name for name in quoted if wait_class_of(name)]

    def asked(self, row: int) -> str:
        """The table that a row is of: it is in a column, else the query asks for one alone."""
        if (place := self.texts.get("table_name")) is not None:
            return self.listed.rows[row][place].strip()
        named = {word.strip("'") for word in self.listed.words if word[0] == "'" and "%" not in word}
        is_of_tables = "table_name" in self.listed.words and "owner" not in self.listed.words
        return named.pop() if len(named) == 1 and is_of_tables else ""

    @cached_property
    def event(self) -> str:
        """The event that all rows are of; empty where there are several, or none is named."""
        place = self.texts.get("event", self.texts.get("event_name"))
        names = set() if place is None else {str(row[place] or "").strip() for row in self.listed.rows}
        return names.pop() if len(names) == 1 else ""

    def parts(self, column: str, kinds: Container[str]) -> Iterator[tuple[str, Table]]:
        """The rows of each kind that a column names, as a table of their own; the whole table where it has none."""
        place = self.texts.get(column)
        cells = [] if place is None else [str(row[place]).strip() for row in self.listed.rows]
        for kind in [one for one in dict.fromkeys(cells) if one in kinds]:
            rows = [row for row, cell in zip(self.listed.rows, cells, strict=True) if cell == kind]
            yield kind, Table(self.listed.only(rows))
        if not any(one in kinds for one in cells):
            yield "", self

    def ratio(self, name: str) -> Figures | None:
        """The figures of a column, of an average of two, or of their ratio (``a/b``, ``1-a/b``)."""
        if name in self.figures:
            return self.figures[name]
        part, _, whole = name.removeprefix("1-").partition("/")
        one, of = self.figures.get(part), self.figures.get(whole)
        if one is None or of is None:
            return None
        pairs = zip(one.values, of.values, strict=True)
        values = [None if a is None or not b else a / b for a, b in pairs]
        values = [None if a is None else 1 - a for a in values] if name[:2] == "1-" else values
        return Figures("ratio" if one.kind == of.kind else one.kind, tuple(values), is_sum=False)


class Row(dict[str, str]):
    """What a sentence says of a row; a name with alternatives (``a|b``) is that of the first column that is there.

    The least and the largest figure of a column are ``a<`` and ``a>``.
    """

    def __init__(self, table: Table, row: int, **texts: str) -> None:
        super().__init__(texts)
        self.table, self.row = table, row

    def __missing__(self, names: str) -> str:
        end = {"<": min, ">": max}.get(names[-1])  # of all rows
        for name in names.rstrip("<>").split("|"):
            figures = self.table.ratio(name.removesuffix("%"))
            known = [] if figures is None else [one for one in figures.values if one is not None]
            value = None if figures is None else end(known, default=None) if end else figures.values[self.row]
            if figures is not None and value is not None:
                return percent(value) if name[-1] == "%" or figures.kind == "ratio" else figures.said(value)
            place = self.table.texts.get(name)
            if place is not None and (text := self.table.listed.rows[self.row][place]):
                return short_text(text.strip(), MOST_TEXT)
        raise KeyError(names)


def say(template: str, texts: Mapping[str, str]) -> str | None:
    """The sentence, without the parts in brackets that lack a figure; None where it lacks another."""
    said = ""
    for number, piece in enumerate(template.replace("]", "[").split("[")):
        try:
            said += piece.format_map(texts)
        except KeyError:
            if number % 2 == 0:
                return None
    return said


def listed_settings(tables: Sequence[Table]) -> dict[str, str]:
    """The parameters that are listed, with their values as they are."""
    places = ((one.listed.rows, one.texts.get("name"), one.texts.get("value")) for one in tables)
    found = ((str(row[n]).strip(), row[v]) for rows, n, v in places if n is not None and v is not None for row in rows)
    return {name: value.strip() for name, value in found if "_" in name and value}


def are_files(tables: Sequence[Table]) -> bool:
    """Whether the data files that are listed are those of a file system."""
    cells = (cell.strip() for table in tables for row in table.listed.rows for cell in row if cell)
    names = [cell for cell in cells if cell.lower().endswith(".dbf")]
    return bool(names) and all(name[0] == "/" for name in names)


@cache
def data() -> dict[str, Any]:
    """The sentences about views (`listings.toml`)."""
    return read_data("iolab.rules", "listings")


@cache
def units() -> dict[str, tuple[str, float]]:
    """The columns of views: what their figures count, and how many of it one is."""
    return {name: (kind, float(unit)) for kind, ones in data()["units"].items() for name, unit in ones.items()}


@cache
def kinds_of_listings() -> list[tuple[frozenset[str], tuple[str, ...], dict[str, Any]]]:
    """The views of each kind of listing, the starts of such names, and the sentence about it."""
    return [
        (frozenset(one["views"]), tuple(view for view in one["views"] if view[-1] in "$_"), one)
        for one in data()["listings"]
    ]
