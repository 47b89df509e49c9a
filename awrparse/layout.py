"""How the lines of a ruled table make records: headings, column extents, and the cutting of one line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from awrparse.records import Problem
from logframe import Column, columns_of, headings

if TYPE_CHECKING:
    from awrparse.records import Rows

#: What separates headings, or labels and values, on one line.
WIDE_GAP = re.compile(r"\s{2,}")
#: A cell that is a number as reports print it.
NUMBER = re.compile(r"^[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s?(?:ns|us|ms|s|[KMGTP]|%|\(mins\))?$|^#+$|^N/A$")
#: The gap between two columns, however wide.
_BLANKS = " " * 400
_BAND = re.compile(r"-{2,} (\S.*?) -{2,}")


@dataclass(frozen=True)
class Layout:
    """How the lines of one table make records.

    Attributes:
        title: of the table.
        rulers: for each ruler its heading lines and the ruler itself.
        is_sql: SQL text follows each row.
        report_kind: the kind of report.
    """

    title: str
    rulers: tuple[tuple[list[str], str], ...]
    is_sql: bool = False
    report_kind: str = "awr"

    @cached_property
    def groups(self) -> list[tuple[tuple[str, ...], tuple[Column, ...]]]:
        """Headings and column extents for each line of a record."""
        found: list[tuple[tuple[str, ...], tuple[Column, ...]]] = []
        above: tuple[tuple[str, ...], tuple[Column, ...]] | None = None
        for position, (lines, ruler) in enumerate(self.rulers):
            columns = columns_of(ruler)
            heads, bands = _without_bands(lines)
            below = columns_of(self.rulers[position + 1][1]) if position + 1 < len(self.rulers) else ()
            names = headings(heads, columns)
            for band in bands:
                names = tuple(_joined(name, column, band) for name, column in zip(names, columns, strict=True))
            if below and _spans(columns, below):
                above = (names, columns)
                continue
            if above is not None:
                names = tuple(_joined(name, column, above) for name, column in zip(names, columns, strict=True))
                above = None
            found.append((names, columns))
        return found

    @property
    def widths(self) -> tuple[int, ...]:
        """The width of each column of a one-line table; empty for other tables."""
        if len(self.rulers) != 1 or self.is_sql:
            return ()
        return tuple(column.end - column.start for column in columns_of(self.rulers[0][1]))


def _without_bands(heads: list[str]) -> tuple[list[str], list[tuple[tuple[str, ...], tuple[Column, ...]]]]:
    """Heading lines such as ``------ % of Waits ------``, which name groups of columns, apart from the others."""
    plain, bands = [], []
    for head in heads:
        found = list(_BAND.finditer(head))
        if found:
            bands.append((tuple(band.group(1) for band in found), tuple(Column(*band.span()) for band in found)))
            head = _BAND.sub(lambda band: " " * len(band.group()), head)  # noqa: PLW2901 - what is left of the line
        plain.append(head)
    return plain, bands


def _spans(upper: tuple[Column, ...], lower: tuple[Column, ...]) -> bool:
    """Does the upper ruler underline groups of columns of the lower one (and not another line of the record)?"""
    if not upper or not lower:
        return False
    if upper[0].start >= lower[0].end:
        return True
    starts, ends = {column.start for column in lower}, {column.end for column in lower}
    return (
        len(upper) > 1
        and len(upper) < len(lower)
        and all(column.start in starts and column.end in ends and column not in lower for column in upper)
    )


def _joined(name: str, column: Column, above: tuple[tuple[str, ...], tuple[Column, ...]]) -> str:
    """A heading with the heading of its group before it."""
    for group, extent in zip(*above, strict=True):
        if extent.start <= column.start and column.end <= extent.end:
            return f"{group} {name}".strip()
    return name


class Cutter:
    """Cuts lines at one ruler; a line whose gaps between columns are not blank does not fit."""

    def __init__(self, columns: tuple[Column, ...]) -> None:
        self.columns = columns
        last = len(columns) - 1
        self._slices = [
            slice(column.start if number else 0, column.end if number < last else None)
            for number, column in enumerate(columns)
        ]
        self._gaps = [slice(left.end, right.start) for left, right in pairwise(columns)]

    def cut(self, line: str) -> tuple[str, ...] | None:
        """The cells, or None when the line does not fit."""
        for gap in self._gaps:
            if line[gap] not in _BLANKS:
                return None
        return tuple([line[part].strip() for part in self._slices])


def are_values(cells: tuple[str, ...]) -> bool:
    """Are most of the cells numbers?"""
    return sum(bool(NUMBER.match(cell)) for cell in cells) > len(cells) // 2


def add_unplaced(rows: Rows, text: str, number: int) -> None:
    """A line across several columns that belongs to no row."""
    rows.problems.append(Problem(number + 1, "unparsed", text, "the line does not fit the columns of its table"))
