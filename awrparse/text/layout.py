"""How the lines of a ruled table make records: headings, column extents, and the cutting of one line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from awrparse.records import Problem
from awrparse.text.cutting import cutter_at
from logframe import Column, columns_of, headings, load_grammar

if TYPE_CHECKING:
    from awrparse.records import Rows

#: Headings and column extents of one line of a record.
Group: TypeAlias = tuple[tuple[str, ...], tuple[Column, ...]]

GRAMMAR = load_grammar("awrparse", "layout.lark")
#: What separates headings, or labels and values, on one line.
WIDE_GAP = re.compile(GRAMMAR.pattern("{WIDE_GAP}"))
#: A ruler of a report, also one that is indented: what a quotation or an indent of the whole text is known by.
ANY_RULER = re.compile(GRAMMAR.pattern("{ANY_RULER}$"))
#: The same without bars, as it stands where nothing precedes the lines.
PLAIN_RULER: Final = re.compile(GRAMMAR.pattern("{PLAIN_RULER}$"))
#: A row has at least this many words.
_FEWEST_WORDS: Final = 3
_NUMBER_CELL = re.compile(GRAMMAR.pattern("{NUMBER_CELL}"))
_BAND = re.compile(GRAMMAR.pattern(r"{BAND_DASHES} (\S.*?) {BAND_DASHES}"))


@dataclass(slots=True)
class Layout:
    """How the lines of one table make records.

    Attributes:
        title: of the table.
        rulers: for each ruler its heading lines and the ruler itself.
        is_sql: SQL text follows each row.
        report_kind: the kind of report.
        is_cut_short: nothing says where the last SQL text ends.
    """

    title: str
    rulers: tuple[tuple[list[str], str], ...]
    is_sql: bool = False
    report_kind: str = "awr"
    is_cut_short: bool = False

    @property
    def groups(self) -> tuple[Group, ...]:
        """Headings and column extents for each line of a record."""
        return _groups(tuple((tuple(heads), ruler) for heads, ruler in self.rulers))


@lru_cache(maxsize=4096)
def _groups(rulers: tuple[tuple[tuple[str, ...], str], ...]) -> tuple[Group, ...]:
    """Headings and column extents for each line of a record; reports of one version have the same."""
    found: list[Group] = []
    above: Group | None = None
    for position, (lines, ruler) in enumerate(rulers):
        columns = columns_of(ruler)
        heads, bands = _without_bands(lines)
        below = columns_of(rulers[position + 1][1]) if position + 1 < len(rulers) else ()
        names = _heading_names(heads, columns)
        for band in bands:
            names = tuple(_joined(name, column, band) for name, column in zip(names, columns, strict=True))
        if below and _spans(columns, below):
            above = (names, columns)
            continue
        if above is not None:
            names = tuple(_joined(name, column, above) for name, column in zip(names, columns, strict=True))
            above = None
        found.append((names, columns))
    return tuple(found)


@lru_cache(maxsize=1 << 14)
def is_number(cell: str) -> bool:
    """Is the cell a number as reports print it, with its unit or without?

    Examples:
        >>> is_number("1,234.5"), is_number("11.1K"), is_number("####"), is_number("1 of 2")
        (True, True, True, False)
    """
    return _NUMBER_CELL.fullmatch(cell) is not None


def _heading_names(lines: list[str], columns: tuple[Column, ...]) -> tuple[str, ...]:
    """`logframe.headings`; most heading lines fit their ruler as rows do, and need no look at each word."""
    cutter = cutter_at(columns)
    rows = [cutter.cut(line) or headings([line], columns) for line in lines]
    return tuple([" ".join(" ".join(cells).split()) for cells in zip(*rows, strict=True)]) or ("",) * len(columns)


def _without_bands(heads: tuple[str, ...]) -> tuple[list[str], list[Group]]:
    """Heading lines such as ``------ % of Waits ------``, which name groups of columns, apart from the others."""
    plain, bands = [], []
    for head in heads:
        found = list(_BAND.finditer(head)) if "-- " in head else []
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


def _joined(name: str, column: Column, above: Group) -> str:
    """A heading with the heading of its group before it."""
    for group, extent in zip(*above, strict=True):
        if extent.start <= column.start and column.end <= extent.end:
            return f"{group} {name}".strip()
    return name


def are_values(cells: tuple[str, ...]) -> bool:
    """Are most of the cells numbers?"""
    return sum(map(is_number, cells)) > len(cells) // 2


def is_row(line: str) -> bool:
    """Could this be a row of a table, and no running text: words far apart, at the margin or most of them numbers?

    Examples:
        >>> is_row("log file sync       100     11.1"), is_row("  other values suffixed with       K,M are")
        (True, False)
    """
    words = line.split()
    if len(words) < _FEWEST_WORDS or not WIDE_GAP.search(line.strip()):
        return False
    return not line.startswith(" ") or 2 * sum(map(is_number, words)) > len(words)


def add_unplaced(rows: Rows, text: str, number: int) -> None:
    """A line across several columns that belongs to no row."""
    rows.problems.append(Problem(number + 1, "unparsed", text, "the line does not fit the columns of its table"))
