"""The cells of regular tables of a page, cut by ``cells.c``, and the page without them, for the HTML parser.

A regular table holds rows of as many cells each, and nothing but text in them; no cell spans others but a heading some
columns, and stands in each of them.  The cells do not depend on the rest of the page, nor the rest on them, so the
parser, which takes most of the time that a page needs, gets the page with those tables empty.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from typing import Final

from logframe.native import POINTER, SIZE, load_functions

#: The attribute of each table of the page that is left: its number where it is regular, else nothing.
MARK: Final = "iolab-table"
#: A page of more tables is left to the parser.
_MOST_TABLES: Final = 1 << 16
#: What separates the cells, as in ``cells.c``.
_SEPARATOR: Final = "\x1f"


class _Table(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_int64) for name in ("name_end", "content", "end", "rows", "width", "heads", "first_cell")
    )


@dataclass(frozen=True, slots=True)
class RegularTable:
    """The cells of one table.

    Attributes:
        cells: their texts, one row after the other; white space around them is removed, and where it holds the end of a
            line or a no-break space it is one blank.
        width: cells of a row.
        heads: leading rows of headings.
    """

    cells: list[str]
    width: int
    heads: int


@dataclass(frozen=True, slots=True)
class PageCells:
    """A page parted into regular tables and the rest.

    Attributes:
        rest: the page, its regular tables empty; each table has the attribute `MARK`.
        tables: the regular tables by their mark.
        has_heads: whether one of them has a ``<th>``.
    """

    rest: str
    tables: dict[str, RegularTable]
    has_heads: bool


def cut_page(text: str) -> PageCells | None:
    """The regular tables of a page, and the rest; None without compiled code, and for a page that cannot be parted so.

    Args:
        text: the page, without comments.

    Returns:
        None also where tables stand in tables, or where the page has elements that change how markup is read.
    """
    library = _library()
    if library is None:
        return None
    try:
        page = text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return None
    most = min(_MOST_TABLES, page.count(b"<table") + page.count(b"<TABLE"))
    found, cells = (_Table * most)(), ctypes.create_string_buffer(len(page))
    used, has_heads = ctypes.c_int64(), ctypes.c_int64()
    count = library.iolab_scan_page(page, len(page), cells, found, most, ctypes.byref(used), ctypes.byref(has_heads))
    if count < 0:
        return None
    texts = ctypes.string_at(cells, used.value).decode().split(_SEPARATOR)
    tables: dict[str, RegularTable] = {}
    rest: list[bytes] = []
    place = 0
    for number in range(count):
        table = found[number]
        mark = ""
        if table.rows:
            mark = str(number)
            last = table.first_cell + table.rows * table.width
            tables[mark] = RegularTable(texts[table.first_cell : last], table.width, table.heads)
        rest += page[place : table.name_end], f' {MARK}="{mark}"'.encode(), page[table.name_end : table.content]
        place = table.end if table.rows else table.content
    rest.append(page[place:])
    return PageCells(b"".join(rest).decode(), tables, bool(has_heads.value))


@cache
def _library() -> ctypes.CDLL | None:
    scan = (SIZE, POINTER, SIZE, POINTER, POINTER, SIZE, POINTER, POINTER)
    return load_functions("awrparse", "cells", iolab_scan_page=scan)
