"""The numbers of a log's source by place: lines of a text, cells of a page; without the readers, to check them."""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from logframe.grammar import load_grammar

if TYPE_CHECKING:
    from collections.abc import Iterator

GRAMMAR = load_grammar("logframe", "source_numbers.lark", "occurrence")

#: Where a number stands: the line of a text, or the table and row of a page; each counted from 1.
Key: TypeAlias = int | tuple[int, int]

#: A character that there is not, by a number that Python may refuse to convert.
_LONG_REFERENCE: Final = re.compile(GRAMMAR.pattern("{LONG_REFERENCE}"))
_SWAP_MARKS: Final = str.maketrans(",.", ".,")
#: What may stand before a number that is a value of its own.
_BETWEEN: Final = frozenset(("", *" \t,;|'\""))
_UNSEEN: Final = frozenset({"script", "style"})


class Number(NamedTuple):
    """One number of the source.

    Attributes:
        key: The line, or the table and row of a page; None within a page but outside its tables.
        line: Counted from 1.
        column: Counted from 1.
        cell: Of the row of a page's table, counted from 1; None in a text.
        text: As printed.
        is_compound: A time, a date or a version.
        is_heading: In a heading cell of a page.
        is_joined: Something stands before it without a blank or a mark between: it may be part of a name.
    """

    key: Key | None
    line: int
    column: int
    cell: int | None
    text: str
    is_compound: bool
    is_heading: bool = False
    is_joined: bool = False


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(
        GRAMMAR.pattern(
            r"(?<![\w$#.])(?<!\d,)(?<!\x1b\[)(?<![^\W\d][+-])(?:(?P<compound>{COMPOUND})|(?:(?<![+-]){SIGN})?{AMOUNT}{UNIT}?)(?![\w$#]|[.,]\d)"
        )
    )


def numbers_of_line(line: str, *, mark: str = ".") -> Iterator[tuple[int, str, bool]]:
    """Each number of a line: where it starts, counted from 0, its text, and whether it is a compound.

    Args:
        line: The line.
        mark: The decimal mark.

    Examples:
        >>> list(numbers_of_line("log file sync2   1,234  .5 12:30:01"))
        [(17, '1,234', False), (24, '.5', False), (27, '12:30:01', True)]
    """
    read = line.translate(_SWAP_MARKS) if mark == "," else line
    for found in _pattern().finditer(read):
        yield found.start(), line[found.start() : found.end()], found["compound"] is not None


def numbers_of_text(text: str, *, first_line: int = 1, mark: str = ".", separator: str = "") -> Iterator[Number]:
    """The numbers of a text by line.

    Args:
        text: The text.
        first_line: The number of its first line.
        mark: The decimal mark.
        separator: Of values within a line, where that is no blank.
    """
    text = text.replace(separator, " ") if separator else text
    for line_number, line in enumerate(text.split("\n"), first_line):
        for start, found, is_compound in numbers_of_line(line, mark=mark):
            is_joined = line[:start][-1:] not in _BETWEEN
            yield Number(line_number, line_number, start + 1, None, found, is_compound, is_joined=is_joined)


def numbers_of_page(text: str, *, first_line: int = 1, mark: str = ".") -> list[Number]:
    """The numbers of an HTML page by table, row and cell.

    Args:
        text: The page.
        first_line: The number of its first line.
        mark: The decimal mark.
    """
    page = _Page(first_line, mark)
    page.feed(text)
    page.close()
    return page.numbers


def rows_of_page(text: str) -> dict[int, list[int]]:
    """How many cells each row of each table of a page has, by the number of the table."""
    page = _Page(1, ".")
    page.feed(text)
    page.close()
    return page.rows


class _Page(HTMLParser):
    """Walks over a page: a new row ends the one before, whatever end tags are missing."""

    def __init__(self, first_line: int, mark: str) -> None:
        super().__init__(convert_charrefs=False)  # what comes after one has a place of its own
        self.numbers: list[Number] = []
        self.rows: dict[int, list[int]] = {}
        self._first_line = first_line
        self._mark = mark
        self._count = 0
        self._open: list[list[int]] = []  # table, row, cell, is the cell a heading
        self._unseen = 0

    def feed(self, data: str) -> None:
        super().feed(_LONG_REFERENCE.sub(lambda found: " " * len(found.group()), data))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - of the base class
        if tag == "table":
            self._count += 1
            self.rows[self._count] = []
            self._open.append([self._count, 0, 0, 0])
        elif tag == "tr" and self._open:
            table = self._open[-1]
            table[1:] = [table[1] + 1, 0, 0]
            self.rows[table[0]].append(0)
        elif tag in {"td", "th"} and self._open:
            table = self._open[-1]
            table[2:] = [table[2] + 1, tag == "th"]
            if table[1]:
                self.rows[table[0]][-1] = table[2]
        elif tag in _UNSEEN:
            self._unseen += 1

    def handle_endtag(self, tag: str) -> None:
        if tag == "table" and self._open:
            self._open.pop()
        elif tag in _UNSEEN and self._unseen:
            self._unseen -= 1

    def handle_data(self, data: str) -> None:
        if self._unseen:
            return
        line_number, offset = self.getpos()
        for number, line in enumerate(data.split("\n")):
            for start, found, is_compound in numbers_of_line(line, mark=self._mark):
                table = self._open[-1] if self._open else None
                self.numbers.append(
                    Number(
                        (table[0], table[1]) if table and table[1] else None,
                        self._first_line + line_number - 1 + number,
                        start + 1 + (offset if number == 0 else 0),
                        table[2] if table else None,
                        found,
                        is_compound,
                        bool(table and table[3]),
                    )
                )
