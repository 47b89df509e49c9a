"""Where each number of a log went: a frame's cell, a table kept as printed, layout, text, or nowhere.

The numbers are listed from the source by `logframe.source_numbers`, without the readers.  A format says which rows of
its frames came from which lines (`Claim`); whether a number is in such a row is decided here, by comparing values.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from logframe.cell_values import Cells
from logframe.errors import LogError
from logframe.formats import formats
from logframe.source_numbers import Key, Number, numbers_of_line, numbers_of_page, numbers_of_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from logframe.formats import ParsedLog
    from logframe.source import Source

#: What became of a number.
STATUSES: Final = ("typed", "raw", "layout", "text", "diagnosed", "lost")
#: Fewer numbers than these are no row of a table.
_FEWEST_NUMBERS: Final = 3
#: Columns of `provenance`.
PROVENANCE: Final = pl.Schema(
    {
        **dict.fromkeys(("line", "column", "table", "table_row", "cell"), pl.Int64()),
        "text": pl.String(),
        "status": pl.Enum(STATUSES),
        **dict.fromkeys(("frame", "frame_column"), pl.String()),
        "frame_row": pl.Int64(),
    }
)


class Claim(NamedTuple):
    """A row of a frame that came from a line, or from a row of a page's table.

    Attributes:
        frame: Name of the frame.
        row: Of the frame, counted from 0.
        column: The column that came from `start` to `end` of the line, counted from 0 (from that cell of the row,
            counted from 1), or from anywhere where `end` is 0; None for any column of the row.
        start: See `column`.
        end: See `column`.
        is_repeated: The line prints figures again that another line of the same row has.
    """

    frame: str
    row: int
    column: str | None = None
    start: int = 0
    end: int = 0
    is_repeated: bool = False


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


def provenance(parsed: ParsedLog, source: Source | None = None) -> pl.DataFrame:
    r"""What became of every number of a log, one row each, in the order of the source.

    Args:
        parsed: The log as read.
        source: What it was read from; needed where `parsed.source` is no path, as for bytes and uploads.

    Returns:
        One row a number.

        * ``line``, ``column``: where the number stands, counted from 1
        * ``table``, ``table_row``, ``cell``: of an HTML page: the table, its row and cell, counted from 1
        * ``text``: as printed
        * ``frame``, ``frame_column``, ``frame_row``: the cell, rows counted from 0; of a lost number the row that
          lacks it
        * ``status``: one of the words below

        * ``typed``: its value is in a cell of a typed frame, in a row that came from this place
        * ``raw``: it is only in a table as printed
        * ``layout``: a page number, a ruler, a heading
        * ``text``: it is part of SQL text, a name or prose
        * ``diagnosed``: a diagnostic names it, or its line
        * ``lost``: none of these

    Raises:
        LogError: The format does not say where its figures came from, or `source` is not the log that was read.

    Examples:
        >>> from logframe.loading import load_log
        >>> log = b"     0.000123 pread64(268, '', 8192, 0) = 8192\n"
        >>> provenance(load_log(log), log).select("text", "status", "frame_column").rows()[:2]
        [('0.000123', 'typed', 'relative_ts'), ('268', 'typed', 'fd')]
    """
    one = formats().get(parsed.format)
    if one is None or one.places is None:
        raise LogError(f"the format {parsed.format!r} does not say where its figures came from")
    return account(one.places(parsed, parsed.source if source is None else source), parsed.diagnostics)


def account(parts: Iterable[Part], diagnostics: pl.DataFrame) -> pl.DataFrame:
    """What became of the numbers of some parts: `provenance` of what a format's `places` returned.

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
    lines: Iterable[tuple[str, str, str]],
    *,
    claims: Mapping[Key, list[Claim]] | None = None,
    is_row: Callable[[str], bool] | None = None,
) -> Part:
    """A part whose frames say in columns which lines their rows came from; the numbers of other lines are text.

    Args:
        text: The log.
        frames: Its frames.
        lines: Name of each frame, and of the columns with the first and the last line of a row.
        claims: Further rows by line.
        is_row: Whether a line that no frame has a row of should have one: its numbers are lost.
    """
    part = Part(text, frames, dict(claims or {}))
    for name, first, last in lines:
        frame = frames.get(name)
        if frame is None:
            continue
        starts, ends = frame[first].to_list(), frame[last].to_list()
        for row, (start, end) in enumerate(zip(starts, ends, strict=True)):
            for line in range(start, (end or start) + 1) if start is not None else ():
                part.claim(line, Claim(name, row))
    for number, words in enumerate(text.split("\n"), 1):
        if number not in part.claims:
            part.statuses[number] = "lost" if is_row is not None and is_row(words) else "text"
    return part


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
        self._used: set[tuple[str, int, str]] = set()

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
            cell = found.get(place)
            if cell is not None:
                yield (*self._place(number), "typed", cell[0], cell[2], cell[1])
                continue
            status = part.outside if key is None else part.statuses.get(key, part.default)
            if number.is_heading and status != "text":
                status = "layout"
            owner: tuple[str, int, str] | None = None
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

    def _assign(self, numbers: list[Number], claims: list[Claim]) -> dict[int, tuple[str, int, str]]:
        """Each number's cell: as many as can be, each cell once."""
        owner: dict[tuple[str, int, str], int] = {}
        shared: set[tuple[str, int, str]] = set()
        has_extents = any(claim.column and claim.end for claim in claims)
        everywhere = [] if has_extents else self._open_cells(numbers[0], claims)
        # the cells that may hold a number, found as far as they are asked for: mostly the first one is free
        found: list[list[tuple[str, int, str]]] = [[] for _ in numbers]
        rest = [
            self._holding(each, self._open_cells(each, claims) if has_extents else everywhere, shared)
            for each in numbers
        ]

        def candidates(number: int) -> Iterator[tuple[str, int, str]]:
            place = 0
            while True:
                if place == len(found[number]):
                    cell = next(rest[number], None)
                    if cell is None:
                        return
                    found[number].append(cell)
                yield found[number][place]
                place += 1

        def place(number: int, tried: set[tuple[str, int, str]]) -> bool:
            for cell in candidates(number):
                if cell in tried:
                    continue
                tried.add(cell)
                if cell not in owner or place(owner[cell], tried):
                    owner[cell] = number
                    return True
            return False

        # a figure with decimals is one of the row; a whole number within a text may be equal to it by chance
        order = sorted(
            (number.is_compound, not _has_decimals(number), position) for position, number in enumerate(numbers)
        )
        for *_, position in order:
            # numbers of one value take their cells in the order of both
            free = next((cell for cell in candidates(position) if cell not in owner), None)
            if free is None:
                place(position, set())
            else:
                owner[free] = position
        self._used.update(owner.keys() - shared)
        return {number: cell for cell, number in owner.items()}

    def _open_cells(self, number: Number, claims: list[Claim]) -> list[tuple[tuple[str, int, str], bool]]:
        """The cells that may hold a number and hold something that was not found yet."""
        return [
            (cell, is_repeated)
            for cell, is_repeated in self._cells_at(number, claims)
            if (is_repeated or cell not in self._used) and not self._cells.is_empty(cell)
        ]

    def _holding(
        self, number: Number, cells: list[tuple[tuple[str, int, str], bool]], shared: set[tuple[str, int, str]]
    ) -> Iterator[tuple[str, int, str]]:
        """The cells among some that hold a number; those that several lines print are noted."""
        for cell, is_repeated in cells:
            if self._cells.holds(cell, number):
                if is_repeated:
                    shared.add(cell)
                yield cell

    def _cells_at(self, number: Number, claims: list[Claim]) -> Iterator[tuple[tuple[str, int, str], bool]]:
        """The cells that may hold a number: those of its extent, else those of its row that have none."""
        start = number.column - 1 if number.cell is None else number.cell
        end = start + (len(number.text) if number.cell is None else 1)
        exact = [claim for claim in claims if claim.column and claim.start < end and start < claim.end]
        for claim in exact:
            if claim.column:
                yield (claim.frame, claim.row, claim.column), claim.is_repeated
        if exact:
            return
        placed = {(claim.frame, claim.row, claim.column) for claim in claims if claim.column and claim.end}
        for claim in claims:
            if claim.column and not claim.end:
                yield (claim.frame, claim.row, claim.column), claim.is_repeated
            elif claim.column is None:
                for column in self._cells.columns(claim.frame):
                    if (claim.frame, claim.row, column) not in placed:
                        yield (claim.frame, claim.row, column), claim.is_repeated

    def _text_with(self, number: Number, claims: list[Claim]) -> tuple[str, int, str] | None:
        """The cell of text that the number is part of; of a date and its time in two cells, the date's."""
        found = self._cell_with(number.text, claims)
        if found is None and number.is_compound and len(words := number.text.split()) > 1:
            parts = [self._cell_with(word, claims) for word in words]
            return parts[0] if None not in parts else None
        return found

    def _cell_with(self, text: str, claims: list[Claim]) -> tuple[str, int, str] | None:
        """The first cell of text that holds a text."""
        for claim in claims:
            for column in self._cells.texts(claim.frame):
                cell = (claim.frame, claim.row, column)
                if self._cells.contains(cell, text):
                    return cell
        return None


def _has_decimals(number: Number) -> bool:
    """Is a number printed with a mark before decimals, or between groups of digits?"""
    return "." in number.text or "," in number.text
