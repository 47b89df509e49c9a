"""How the lines of a ruled table make records: headings, column extents, and lines cut one by one or all at once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final, TypeAlias

from awrparse.records import Problem
from logframe import Column, columns_of, headings, load_grammar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from awrparse.records import Rows


#: The gap between two columns, however wide.
_BLANKS: Final = " " * 400
#: Fewer lines than these are cut one by one.
_MANY: Final = 4
#: A ruler beyond this is not in a report, and a block of such lines might fill the memory.
_WIDEST: Final = 1000


@lru_cache(maxsize=1024)
def cutter_at(columns: tuple[Column, ...]) -> Cutter:
    """The cutter of a ruler's columns; the headings and the rows of a table have one."""
    return Cutter(columns)


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

    def cut_all(self, lines: list[str]) -> list[tuple[str, ...] | None]:
        """`cut` of each line, decided by column where that can be."""
        width = self.columns[-1].end
        if len(lines) < _MANY or width > _WIDEST:
            return [self.cut(line) for line in lines]
        # in a block of equal lines every width-th letter stands in the same place of its line
        is_wider = max(map(len, lines)) > width
        block = "".join([line.ljust(width) for line in ([line[:width] for line in lines] if is_wider else lines)])
        misfits = self._misfits(block, width)
        if not misfits:
            return list(self._cut_fitting(lines, block, width))
        rest = iter(self.cut_all([line for number, line in enumerate(lines) if number not in misfits]))
        return [None if number in misfits else next(rest) for number in range(len(lines))]

    def _misfits(self, block: str, width: int) -> set[int]:
        """The lines whose gaps are not blank."""
        blank = " " * (len(block) // width)
        found: set[int] = set()
        for gap in self._gaps:
            for place in range(gap.start, gap.stop):
                letters = block[place::width]
                if letters != blank:
                    found.update(number for number, letter in enumerate(letters) if letter != " ")
        return found

    def _cut_fitting(self, lines: list[str], block: str, width: int) -> Iterable[tuple[str, ...]]:
        """The cells of lines that fit.

        Neighbouring columns that end in a letter in every line, as numbers do, hold at least one word in each cell.  If
        there are as many words as cells, the words are the cells, and to split them is quicker than to strip each.
        """
        columns: list[list[str]] = []
        is_filled = [_is_filled(block[column.end - 1 :: width]) for column in self.columns]
        place = 0
        while place < len(is_filled):
            end = place
            while end < len(is_filled) and is_filled[end]:
                end += 1
            if end > place:
                extent = slice(self._slices[place].start, self._slices[end - 1].stop)
                words = " ".join([line[extent] for line in lines]).split()
                count = end - place
                if len(words) == count * len(lines):
                    columns += [words[number::count] for number in range(count)]
                    place = end
                    continue
            end = max(end, place + 1)
            columns += [[line[part].strip() for line in lines] for part in self._slices[place:end]]
            place = end
        return zip(*columns, strict=True)


def _is_filled(letters: str) -> bool:
    """Is there no blank among the letters?"""
    return letters.split() == [letters]


#: Headings and column extents of one line of a record.
Group: TypeAlias = tuple[tuple[str, ...], tuple[Column, ...]]

GRAMMAR = load_grammar("awrparse", "layout.lark")
#: What separates headings, or labels and values, on one line.
WIDE_GAP = re.compile(GRAMMAR.pattern("{WIDE_GAP}"))
#: A ruler of a report, also one that is indented: what a quotation or an indent of the whole text is known by.
ANY_RULER = re.compile(GRAMMAR.pattern("{ANY_RULER}$"))
#: The same without bars, as it stands where nothing precedes the lines.
PLAIN_RULER: Final = re.compile(GRAMMAR.pattern("{PLAIN_RULER}$"))
#: Headings of a report about two periods; the first begins a group.
_PERIODS: Final = ("1st", "2nd", "Both", "Diff", "%Diff")
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
    titles = WIDE_GAP.split(lines[-2].strip()) if len(lines) > 1 else []
    if len(titles) > 1 and len(titles) == sum(cell.startswith(_PERIODS[0]) for cell in rows[-1]):
        rows[-2] = _of_periods(titles, rows[-1])
    return tuple([" ".join(" ".join(cells).split()) for cells in zip(*rows, strict=True)]) or ("",) * len(columns)


def _of_periods(titles: list[str], cells: tuple[str, ...]) -> tuple[str, ...]:
    """The headings of groups without a ruler of their own: each is of the first period, the second and what follows.

    Examples:
        >>> _of_periods(["Time", "Reads"], ("SQL Id", "1st", "2nd", "Diff", "1st", "2nd", "#Plans"))
        ('', 'Time', 'Time', 'Time', 'Reads', 'Reads', '')
    """
    groups = accumulate(cell.startswith(_PERIODS[0]) for cell in cells)
    return tuple(
        titles[group - 1] if cell.startswith(_PERIODS) else "" for group, cell in zip(groups, cells, strict=True)
    )


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
