"""Where each number of a log went: a frame's cell, a table kept as printed, layout, text, or nowhere.

The numbers are listed from the source by `logframe.source_numbers`, without the readers.  A format says which rows of
its frames were read from which lines, and the columns in the order in which they are printed there (`Claim`).  Numbers
and columns are put side by side here: a number is in a cell whose value is its own, in the unit of that column, and not
out of order.  `fuzz.perturbation` proves it: another digit in the log is another value in that cell.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import polars as pl

from logframe.cell_values import Cell, Cells
from logframe.source_numbers import Key, Number, numbers_of_line, numbers_of_page, numbers_of_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence


#: What became of a number.
STATUSES: Final = ("typed", "raw", "layout", "text", "diagnosed", "lost")
#: Fewer numbers than these are no row of a table.
_FEWEST_NUMBERS: Final = 3
#: What a number in a cell counts for, and one less where it may be part of a name: more numbers come first.
_MATCH: Final = 1 << 20
#: Columns that say where a row stands in the source, and counts of what was read: they hold no number of the source.
_NO_FIGURES: Final = frozenset({"line", "end_line", "first_line", "last_line", "histogram", "statement"})
_BOUNDS: Final = ("_lo", "_hi")
#: Columns of `account`.
PROVENANCE: Final = pl.Schema(
    {
        **dict.fromkeys(("line", "column", "table", "table_row", "cell"), pl.Int64()),
        "text": pl.String(),
        "status": pl.Enum(STATUSES),
        **dict.fromkeys(("frame", "frame_column"), pl.String()),
        "frame_row": pl.Int64(),
    }
)


#: Columns in the order in which a line prints them -> what a printed figure is multiplied by in that column.
Columns: TypeAlias = Mapping[str, float]


class Claim(NamedTuple):
    """A row of a frame that was read from a line, or from a row of a page's table.

    Attributes:
        frame: Name of the frame.
        row: Of the frame, counted from 0.
        columns: The columns that were read there; what is computed is not among them.
        start: They were read from `start` to `end` of the line, counted from 0 (from that cell of the row, counted
            from 1); from anywhere outside such stretches where `end` is 0.
        end: See `start`.
        is_whole: The line prints a figure for each column, also where the cell is empty on purpose.
        kept: Columns that are kept as printed, or repeat what was read elsewhere: their numbers are ``raw``.
    """

    frame: str
    row: int
    columns: Columns
    start: int = 0
    end: int = 0
    is_whole: bool = False
    kept: Collection[str] = ()


@dataclass(slots=True)
class Part:
    """A stretch of the source and what a format knows of its lines.

    Attributes:
        text: The stretch.
        frames: Its frames by name.
        claims: The rows of frames by place.
        statuses: What the numbers of a place are that are in no cell; `default` where a place is not named.
        default: See `statuses`.
        outside: What the numbers of a page outside its tables are.
        is_page: The places are rows of HTML tables, not lines.
        starts: Line and column, counted from 1, at which each place begins, in order: the places are stretches of the
            text with the numbers 0, 1, ..., and not lines; empty where they are lines.
        first_line: The number of the first line.
        mark: The decimal mark.
        separator: Of values within a line of a text, where that is no blank.
        place: Line and column in the source of a line and column of the text, where they are others.
    """

    text: str
    frames: Mapping[str, pl.DataFrame]
    claims: dict[Key, list[Claim]] = field(default_factory=dict)
    statuses: dict[Key, str] = field(default_factory=dict)
    default: str = "lost"
    outside: str = "text"
    is_page: bool = False
    starts: Sequence[tuple[int, int]] = ()
    first_line: int = 1
    mark: str = "."
    separator: str = ""
    place: Callable[[int, int], tuple[int, int]] | None = None

    def claim(self, key: Key, claim: Claim) -> None:
        """Add a row of a frame to a place."""
        self.claims.setdefault(key, []).append(claim)


def account(parts: Iterable[Part], diagnostics: pl.DataFrame) -> pl.DataFrame:
    """What became of the numbers of some parts: `logframe.loading.provenance` of what a format's `places` returned.

    Args:
        parts: The parts, in the order of the source.
        diagnostics: `logframe.DIAGNOSTICS`.
    """
    diagnosed = _diagnosed(diagnostics)
    rows = [row for part in parts for row in _Matching(part, diagnosed).rows()]
    return pl.DataFrame(rows, schema=PROVENANCE, orient="row")


def _diagnosed(diagnostics: pl.DataFrame) -> dict[int | None, list[str | None]]:
    """The texts that diagnostics quote, by line, which those of pages lack; None where one is about the whole line."""
    found: dict[int | None, list[str | None]] = {}
    for line, text in diagnostics.select("line", "text").rows():
        found.setdefault(line, []).append(text)
    return found


def by_line(
    text: str,
    frames: Mapping[str, pl.DataFrame],
    columns: Mapping[str, Columns] | None = None,
    *,
    once: Collection[str] = (),
    claims: Mapping[Key, list[Claim]] | None = None,
    is_row: Callable[[str], bool] | None = None,
) -> Part:
    """A part with frames whose column ``line`` says where their rows stand; the numbers of other lines are text.

    Args:
        text: The log.
        frames: Its frames.
        columns: Of a frame what its rows print; of others all columns, in their order and as they are printed.
        once: Columns that a line prints once for all rows that it has.
        claims: Further rows by line.
        is_row: Whether a line that no frame has a row of should have one: its numbers are lost.
    """
    part = Part(text, frames, dict(claims or {}))
    for name, frame in frames.items():
        lines = frame["line"].to_list() if "line" in frame.columns else []
        printed = (columns or {}).get(name, printed_columns_of(frame))
        others = {column: factor for column, factor in printed.items() if column not in once}
        for row, line in enumerate(lines):
            part.claim(line, Claim(name, row, others if line in part.claims else printed))
    for number, words in enumerate(text.split("\n"), 1):
        if number not in part.claims:
            part.statuses[number] = "lost" if is_row is not None and is_row(words) else "text"
    return part


def printed_columns_of(frame: pl.DataFrame) -> Columns:
    """The columns of a frame but those that say where a row stands, bounds, marks and lists."""
    return {
        name: 1.0
        for name, dtype in frame.schema.items()
        if name not in _NO_FIGURES
        and not name.endswith(_BOUNDS)
        and (dtype.is_numeric() or dtype.is_temporal() or dtype == pl.String)
    }


def is_tabular(line: str) -> bool:
    """Whether most words of a line are numbers and nothing else.

    Examples:
        >>> is_tabular("sda  0.00 12.50 3"), is_tabular("CPU 0/s 1/s 4/s 8/s")
        (True, False)
    """
    words = line.split()
    numbers = {text for _, text, _ in numbers_of_line(line)}
    count = sum(word in numbers for word in words)
    return count >= _FEWEST_NUMBERS and 2 * count > len(words)


class _Matching:
    """The numbers of a part and the cells that they are in; a cell holds one number of the source."""

    def __init__(self, part: Part, diagnosed: Mapping[int | None, list[str | None]]) -> None:
        self._part = part
        self._diagnosed = diagnosed
        self._cells = Cells(part.frames, mark=part.mark)
        self._used: set[Cell] = set()

    def rows(self) -> Iterator[tuple[object, ...]]:
        part = self._part
        numbers: Iterable[Number]
        if part.is_page:
            numbers = numbers_of_page(part.text, first_line=part.first_line, mark=part.mark)
        else:
            numbers = numbers_of_text(part.text, first_line=part.first_line, mark=part.mark, separator=part.separator)
        if part.starts:
            numbers = (each._replace(key=bisect_right(part.starts, (each.line, each.column)) - 1) for each in numbers)
        waiting: list[Number] = []
        for number in numbers:
            if waiting and waiting[0].key != number.key:
                yield from self._matched(waiting)
                waiting = []
            waiting.append(number)
        if waiting:
            yield from self._matched(waiting)

    def _matched(self, numbers: list[Number]) -> Iterator[tuple[object, ...]]:
        """The rows of the numbers of one place."""
        part = self._part
        key = numbers[0].key
        claims = part.claims.get(key, []) if key is not None else []
        found = self._assign(numbers, claims) if claims else {}
        for place, number in enumerate(numbers):
            if place in found:
                status, (frame, row, column) = found[place]
                yield (*self._place(number), status, frame, column, row)
                continue
            status = part.outside if key is None else part.statuses.get(key, part.default)
            if number.is_heading and status != "text":
                status = "layout"
            owner: Cell | None = None
            if claims and not number.is_heading:
                owner = self._text_with(number, claims)
                if owner is not None:
                    status = "text"
                elif status == "lost":
                    owner = (claims[0].frame, claims[0].row, "")
            if status == "lost" and self._is_diagnosed(number):
                status = "diagnosed"
            yield (
                *self._place(number),
                status,
                *((owner[0], owner[2] or None, owner[1]) if owner else (None, None, None)),
            )

    def _place(self, number: Number) -> tuple[object, ...]:
        """Where a number stands: line, column, table, row and cell, and its text."""
        table, row = number.key if isinstance(number.key, tuple) else (None, None)
        place = (
            (number.line, number.column) if self._part.place is None else self._part.place(number.line, number.column)
        )
        return (*place, table, row, number.cell, number.text)

    def _is_diagnosed(self, number: Number) -> bool:
        texts = self._diagnosed.get(number.line if number.cell is None else None, ())
        return any(number.text in text if text is not None else number.cell is None for text in texts)

    def _assign(self, numbers: list[Number], claims: list[Claim]) -> dict[int, tuple[str, Cell]]:
        """Status and cell of each number: numbers of a stretch and cells of a frame in one order, as many as can be."""
        found: dict[int, tuple[str, Cell]] = {}
        stretches: dict[tuple[bool, str, int, int], list[tuple[Cell | None, float]]] = {}
        kept: set[tuple[object, Cell]] = set()
        for claim in claims:
            stretch = len(claim.kept) == len(claim.columns), claim.frame, claim.start, claim.end
            cells = stretches.setdefault(stretch, [])
            kept.update((stretch, (claim.frame, claim.row, column)) for column in claim.kept)
            for column, factor in claim.columns.items():
                cell = claim.frame, claim.row, column
                if self._cells.is_empty(cell):
                    cells += [(None, factor)] * (claim.is_whole and self._cells.is_figure(cell))
                elif column in claim.kept or cell not in self._used:
                    cells.append((cell, factor))
        for stretch, cells in sorted(stretches.items(), key=lambda item: (item[0][0], not item[0][3])):
            *_, start, end = stretch
            free = [
                place
                for place, number in enumerate(numbers)
                if place not in found and (not end or _is_within(number, start, end))
            ]
            for place, cell in self._in_order([numbers[place] for place in free], cells):
                is_kept = (stretch, cell) in kept
                found[free[place]] = "raw" if is_kept else "typed", cell
                # a date and a time of day may be two numbers of one cell
                if not is_kept and not self._cells.is_moment(cell):
                    self._used.add(cell)
        return found

    def _in_order(self, numbers: list[Number], cells: list[tuple[Cell | None, float]]) -> Iterator[tuple[int, Cell]]:
        """The longest common run of numbers and cells; None may be any number.

        Of several runs it is the one with fewer numbers that may be part of a name, else the first.
        """
        first = 0
        # what stands first in both, mostly all of them
        for number, (cell, factor) in zip(numbers, cells, strict=False):
            if number.is_joined or not self._may_be(cell, number, factor):
                break
            if cell is not None:
                yield first, cell
            first += 1
        rest = cells[first:]
        holds = [[self._may_be(cell, number, factor) for cell, factor in rest] for number in numbers[first:]]
        longest = [[0] * (len(rest) + 1) for _ in range(len(holds) + 1)]
        for row in range(len(holds) - 1, -1, -1):
            own = _MATCH - numbers[first + row].is_joined
            for column in range(len(rest) - 1, -1, -1):
                with_it = longest[row + 1][column + 1] + own if holds[row][column] else 0
                longest[row][column] = max(with_it, longest[row + 1][column], longest[row][column + 1])
        row = column = 0
        while longest[row][column]:
            own = _MATCH - numbers[first + row].is_joined
            if holds[row][column] and longest[row][column] == longest[row + 1][column + 1] + own:
                if (cell := rest[column][0]) is not None:
                    yield first + row, cell
                row, column = row + 1, column + 1
            elif longest[row][column + 1] == longest[row][column]:
                column += 1
            else:
                row += 1

    def _may_be(self, cell: Cell | None, number: Number, factor: float) -> bool:
        return cell is None or self._cells.holds(cell, number, factor)

    def _text_with(self, number: Number, claims: list[Claim]) -> Cell | None:
        """The cell of text that the number is part of; of a date and its time in two cells, the date's."""
        found = self._cell_with(number.text, claims)
        if found is None and number.is_compound and len(words := number.text.split()) > 1:
            parts = [self._cell_with(word, claims) for word in words]
            return parts[0] if None not in parts else None
        return found

    def _cell_with(self, text: str, claims: list[Claim]) -> Cell | None:
        """The first cell of text that holds a text."""
        for claim in claims:
            for column in self._cells.texts(claim.frame):
                cell = (claim.frame, claim.row, column)
                if self._cells.contains(cell, text):
                    return cell
        return None


def _is_within(number: Number, start: int, end: int) -> bool:
    """Does a number stand within a stretch of its line, or in a cell of its row?"""
    if number.cell is not None:
        return start <= number.cell < end
    return start < number.column + len(number.text) - 1 and number.column - 1 < end
