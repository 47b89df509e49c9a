"""Lines cut at a ruler into cells, one by one or a table at once."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from logframe import Column

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
