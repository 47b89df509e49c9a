"""What a canonical table is made of: columns with a kind, a unit, a meaning and the headings that reports print.

A kind says how a printed cell becomes a value:

| kind | type | what the cell holds |
|---|---|---|
| `text` | String | words |
| names, see `CUT_KINDS` | String, twice | a name that text reports cut: in full, and as printed |
| `count` | Int64 | an exact number; ``K M G`` of 1000 where the report rounds it |
| `number`, `pct` | Float64 | a rounded measure |
| `s`, `ms`, `us` | Float64 | a time; other units are converted, a bare number is in this one |
| `bytes`, `kbytes`, `mbytes` | Float64 | bytes; ``K M G`` of 1024; a bare number is in bytes, KiB or MiB |
| `minutes` | Float64 | seconds, printed in minutes |
| `time` | Datetime | date and time |
| `flag` | Boolean | YES or NO |
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING, Final, Literal

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal[
    "text",
    "event",
    "wait_class",
    "statistic",
    "latch",
    "io_function",
    "filetype",
    "component",
    "pool",
    "block_class",
    "parameter",
    "count",
    "number",
    "pct",
    "s",
    "ms",
    "us",
    "bytes",
    "kbytes",
    "mbytes",
    "minutes",
    "time",
    "flag",
]
#: The column that marks sums of other rows.
IS_TOTAL: Final = "is_total"
Shape = Literal["rows", "labels", "wide", "histogram", "sum"]

#: Kinds with a second column for what the report prints.
CUT_KINDS: Final = frozenset(
    {
        *("event", "wait_class", "statistic", "latch", "io_function", "filetype", "component", "pool"),
        *("block_class", "parameter"),
    }
)
_TEXT: Final = pl.String()
_FLOAT: Final = pl.Float64()
#: The types of kinds; of others `_FLOAT`.
_TYPES: Final[dict[str, pl.DataType]] = {
    **dict.fromkeys(("text", *CUT_KINDS), _TEXT),
    "count": pl.Int64(),
    "time": pl.Datetime("us"),
    "flag": pl.Boolean(),
}
_UNITS: Final = {
    "count": "1",
    "pct": "%",
    "s": "s",
    "ms": "ms",
    "us": "us",
    "bytes": "bytes",
    "kbytes": "bytes",
    "mbytes": "bytes",
    "minutes": "s",
}
#: End of a column's name -> its unit, for kinds without one.
_SUFFIXES: Final = {
    "_bytes": "bytes",
    "_kib": "KiB",
    "_mb": "MB",
    "_gb": "GB",
    "_s": "s",
    "_ms": "ms",
    "_us": "us",
    "_pct": "%",
    "_per_txn": "1/transaction",
    "_per_transaction": "1/transaction",
    "_per_exec": "1/execution",
    "_hours": "h",
    "_per_second": "1/s",
    "_per_call": "1/call",
    "_thousands": "1000",
    "_ratio": "1",
    "_factor": "1",
    "iops": "1/s",
    "_sessions": "1",
    "_connections": "1",
    "_servers": "1",
    "_dispatchers": "1",
    "_per_hour": "1/h",
    "load": "1",
    "_requests": "1",
    "_per_read": "1",
    "_per_miss": "1",
    "_per_session": "1",
    "_min": "min",
    "_kb": "KB",
    "_cs": "cs",
    "_per_db_second": "1/s",
    "_hits": "1",
    "_users": "1",
    "_per_operation": "1/operation",
    "_load_begin": "1",
    "_load_end": "1",
    "_victim": "1",
}
#: Names of columns whose unit another column of the row says, such as the statistic.
BY_ROW: Final = frozenset(
    {
        *("begin", "end", "value", "total", "per_second", "per_transaction", "per_exec", "per_call", "end_value"),
        *("first_value", "second_value", "difference_value", "first_begin", "first_end", "second_begin", "second_end"),
        *("cell_average", "mean", "sd"),
    }
)
#: What counts of a heading, in lower case.
_TELLING: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789%#/<>=+")


@lru_cache(maxsize=4096)
def fold(heading: str) -> str:
    """A heading without case, blanks and punctuation, so that `Total Wait Time (sec)` is one text in every report.

    Examples:
        >>> fold("% DB  time"), fold("Invali- dations")
        ('%dbtime', 'invalidations')
    """
    return "".join([letter for letter in heading.lower() if letter in _TELLING])


@dataclass(frozen=True)
class Column:
    """One column of a canonical table.

    Attributes:
        name: with its unit, such as `total_wait_s`.
        kind: how a cell is read; see the module.
        meaning: one sentence.
        heads: the headings that reports of all versions print over it; ``Pct Miss#2`` is the second of that name.
    """

    name: str
    kind: Kind
    meaning: str
    heads: tuple[str, ...] = ()

    @cached_property
    def dtype(self) -> pl.DataType:
        """Type in the frame."""
        return _TYPES.get(self.kind, _FLOAT)

    @property
    def is_measure(self) -> bool:
        """Does it hold figures, and not names, times or flags?"""
        return self.kind not in {"text", "time", "flag"} and self.kind not in CUT_KINDS

    @property
    def unit(self) -> str:
        """Unit of the values; empty for words, and where other columns of the row say what is measured."""
        if not self.is_measure:
            return ""
        unit = _UNITS.get(self.kind, "")
        if not unit and self.name in BY_ROW:
            return ""
        stem = self.name.removesuffix("_per_s")
        unit = unit or next((unit for suffix, unit in _SUFFIXES.items() if f"_{stem}".endswith(suffix)), "")
        return f"{unit or '1'}/s" if stem != self.name else unit


@dataclass(frozen=True)
class Pivot:
    """A form of a canonical table that has a column for each name, where the canonical table has a row.

    Reports of all instances print ``I#, DB time (s), DB CPU (s)``: one line an instance.  Read with a pivot it is a row
    for each instance and statistic.  Several printed tables may hold one canonical table's columns (times here, shares
    of DB time there): rows of the same names are one row.

    Attributes:
        title: pattern of the titles that are printed so.
        key: the canonical column that takes the names.
        heads: heading -> the name, and the canonical column that takes the cell.
        suffix: what each cell lacks, such as the ``M`` of megabytes that only a note gives.
        fixed: canonical columns that are the same in every row.
        filled: canonical columns that are printed only where they change.
    """

    title: str
    key: str
    heads: Mapping[str, tuple[str, str]]
    suffix: str = ""
    fixed: Mapping[str, str] = field(default_factory=dict)
    filled: tuple[str, ...] = ()

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The title as a pattern."""
        return re.compile(self.title, re.IGNORECASE)

    @cached_property
    def by_head(self) -> dict[str, tuple[str, str]]:
        """Folded heading -> name and canonical column."""
        return {fold(head): target for head, target in self.heads.items()}


def _beginning(title: str) -> str:
    r"""The letters that every text begins with that a title matches, in lower case; none of a title in alternatives.

    Examples:
        >>> _beginning("^Foreground Wait Events$"), _beginning("^IO ?Stat"), _beginning("^a (x)|b")
        ('foreground wait events', 'io', '')
    """
    depth = 0
    for mark in title:
        depth += (mark == "(") - (mark == ")")
        if mark == "|" and depth == 0:
            return ""
    letters = "".join(takewhile(lambda mark: mark.isalpha() or mark == " ", title.removeprefix("^")))
    after = title.removeprefix("^")[len(letters) :]
    return (letters[:-1] if after.startswith(("?", "*", "{")) else letters).lower()


@dataclass(frozen=True)
class Table:
    """One canonical table: the same schema for every version, kind and form of report.

    Attributes:
        name: what `report[name]` asks for.
        meaning: one sentence.
        titles: patterns of the titles it is printed under.
        columns: in the order of the frame.
        shape: how its printed rows are laid out: `rows`; `labels` (a label and its values, several a line); `wide` (a
            label for each column); `histogram` (a column for each range); `sum` (as rows, repeated names dropped).
        needs: columns without whose headings a printed table is not this one.
        layouts: the columns by number of printed columns, for headings that were garbled.
        renamed: labels of older versions -> the label of today.
        group: column -> what its value is for each text that the group `which` of the title matches.
        rows_like: pattern of the first cell of the rows that count; the others are something else.  A table of labels
            is this one only with such a label.
        filled: columns that reports print only where they change, from the outer to the inner group: a blank cell is
            filled unless a cell of an outer group changed in its row.
        splits: column -> template of `cells.lark` whose named groups are the columns that its cell is parted into.
        wraps: long values go on in a row without a name.
        pivots: forms with a column for each name, which are read into rows.
        total: the column whose word for all (`Total`, `TOTAL:`, `All`, `*`) marks a row as the sum of others.  The
            frame gets a last column `is_total`, and the word is `Total`.
        within: the column that takes the part in brackets of the column `total`, as in ``LGWR (Log File)``; a row
            without one is a sum.
        moved: pattern of a title -> columns that are others below such a title.
        units: pattern of a note above the table, and the unit that it gives all columns of times.
        in_title: columns that some versions print in the title, as in ``Host CPU (CPUs:    8 Cores:    4)``.
    """

    name: str
    meaning: str
    titles: tuple[str, ...]
    columns: tuple[Column, ...]
    shape: Shape = "rows"
    needs: tuple[str, ...] = ()
    layouts: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    group: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    rows_like: str = ""
    filled: tuple[str, ...] = ()
    splits: Mapping[str, str] = field(default_factory=dict)
    wraps: bool = False
    total: str = ""
    within: str = ""
    moved: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    units: tuple[tuple[str, str], ...] = ()
    in_title: tuple[str, ...] = ()
    pivots: tuple[Pivot, ...] = ()

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """All titles as one pattern."""
        return re.compile("|".join(f"(?:{title})" for title in self.titles), re.IGNORECASE)

    @cached_property
    def beginnings(self) -> tuple[str, ...]:
        """The letters that each title begins with, in lower case: most titles need no search for a pattern."""
        return tuple(map(_beginning, self.titles))

    @cached_property
    def known_headings(self) -> dict[tuple[str, ...], list[Column | None]]:
        """Headings that were printed -> their canonical columns; `awrparse.grids` fills it."""
        return {}

    @cached_property
    def by_head(self) -> dict[str, Column]:
        """Folded heading -> column."""
        return {fold(head): column for column in self.columns for head in column.heads}

    @cached_property
    def by_name(self) -> dict[str, Column]:
        """Name -> column."""
        return {column.name: column for column in self.columns}

    @cached_property
    def schema(self) -> pl.Schema:
        """Names and types of the frame, without bounds."""
        names: dict[str, pl.DataType] = {}
        for column in self.columns:
            names[column.name] = column.dtype
            if column.kind in CUT_KINDS:
                names[f"{column.name}_printed"] = pl.String()
        if self.total:
            names[IS_TOTAL] = pl.Boolean()
        return pl.Schema(names)
