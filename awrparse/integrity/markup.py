"""Signs in the markup of a page that a piece of it is missing or there twice.

Oracle's pages open and close every table, row and cell, give rows that follow each other two styles by turns, and link
each section of their contents to an anchor.  Where a piece was cut out, the rows after it may stand below the headings
before it, and one of these rules is broken there.  A rule that a page breaks everywhere is not its rule.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from awrparse.canonical import SUMMARIES, TOTALS
from awrparse.integrity.registry import check
from awrparse.matching import tables_of
from awrparse.records import Problem
from awrparse.sniff import PAGE
from awrparse.tables import tables_titled
from awrparse.text.layout import is_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awrparse.integrity.registry import Report
    from awrparse.records import PrintedTable
    from logframe.kinds import DiagnosticKind

_PART: Final = re.compile(PAGE.pattern("{PART_TAG}"))
_ROW_OR_PART: Final = re.compile(PAGE.pattern("(?P<row>{REGULAR_ROW})|{PART_TAG}"))
_CELL: Final = re.compile(PAGE.pattern("{CELL_TAG}"))
_WHOLE: Final = re.compile(PAGE.pattern("{WHOLE_TAG}$"))
_CUT: Final = re.compile(PAGE.pattern("{CUT_TAG}"))
_STYLE: Final = re.compile(PAGE.pattern("{ROW_STYLE}"))
_CLASS: Final = re.compile(PAGE.pattern("{CELL_CLASS}"))
_LINK: Final = re.compile(PAGE.pattern(r"{CONTENTS_LINK}(?P<number>{ANCHOR_NUMBER})\b[^<>]*>(?P<title>[^<]*)"))
_ANCHOR: Final = re.compile(PAGE.pattern(r"{ANCHOR}(?P<number>{ANCHOR_NUMBER})\b"))
_SECTION: Final = re.compile(PAGE.pattern("{ANCHOR}(?P<number>{ANCHOR_NUMBER}){TO_HEADING}(?P<title>[^<]*)"))
#: What the names of the two styles go on with.
_STYLES: Final = frozenset("nc")
#: The style of a row whose cells have both.
_SEVERAL: Final = "several"
#: The element around each; a table stands anywhere.
_AROUND: Final = {"tr": "table", "td": "tr", "th": "tr"}
#: A page that breaks a rule of markup more often is written so.
_MOST_FAULTS: Final = 5
#: HTML needs no end of a row or a cell: where fewer than these have one, the page leaves them out.
_ENDED: Final = 0.9
#: Contents with fewer links that lead somewhere are not.
_FEWEST_LINKS: Final = 3
#: Fewer rows do not describe each other.
_FEWEST_ROWS: Final = 3
#: A row as it is quoted.
_SHOWN: Final = 80
#: A row that goes on for longer is quoted from its beginning only.
_LONGEST_ROW: Final = 40 * _SHOWN + 3


@check("a piece of the page was cut out, or is there twice", cost_ms=18)
def page_signs(report: Report) -> Iterator[Problem]:
    """What the markup of a page says of pieces that are missing, or there twice."""
    document = report.document
    page = document.page
    tables = document.tables
    for place, kind, text, reason, table in (*_of_parts(page), *_lost_sections(page), *_repeated_sections(page)):
        line = document.first_line + page.count("\n", 0, place)
        names = [one.name for one in tables_of(tables[table])] if 0 <= table < len(tables) else []
        yield Problem(line, kind, text, ": ".join([*[", ".join(names)] * bool(names), reason]))
    yield from _printed_twice(document.tables if page else [])


class _Sign(NamedTuple):
    """A sign, and where in the page it is: the place, and the number of the table; -1 where that is not meant."""

    place: int
    kind: DiagnosticKind
    text: str
    reason: str
    table: int = -1


class _Row(NamedTuple):
    """A row of a table: its style, what its cells are, and its place in the page."""

    style: str
    kinds: tuple[str, ...]
    place: int


@lru_cache(maxsize=1024)
def _style_of(tag: str) -> str:
    """Which of the two styles a cell has: ``n`` or ``c``; empty where it has none."""
    style = _STYLE.search(tag)
    letter = tag[style.end()].lower() if style else ""
    return letter if letter in _STYLES else ""


@lru_cache(maxsize=1024)
def _kind_of(tag: str) -> str:
    """The tag of a cell without its style."""
    return _CLASS.sub("", tag)


@lru_cache(maxsize=1024)
def _is_whole(tag: str) -> bool:
    """Are the attributes of a tag whole?"""
    return _WHOLE.match(tag) is not None


@lru_cache(maxsize=1024)
def _row_of(cells: tuple[str, ...]) -> tuple[tuple[str, ...], str, bool]:
    """What the cells of a row are, their style (empty where one has none), and whether their attributes are whole."""
    styles = set(map(_style_of, cells))
    style = "" if "" in styles else _SEVERAL if len(styles) > 1 else styles.pop()
    return tuple(map(_kind_of, cells)), style, all(map(_is_whole, cells))


class _Parts:
    """The tables, rows and cells of a page, one tag after the other."""

    def __init__(self, page: str) -> None:
        self._page = page
        self.faults: dict[str, list[_Sign]] = {}
        self.styles: list[_Sign] = []
        self._counts = Counter[tuple[str, bool]]()
        self._open: list[str] = []
        self._row_start = 0
        self._row: list[str] = []
        #: of the table, its rows so far
        self._rows: list[_Row] = []
        for found in _ROW_OR_PART.finditer(page):
            if found.lastgroup is None:
                self._read(found)
            elif not self._read_row(found):
                for tag in _PART.finditer(page, found.start(), found.end()):
                    self._read(tag)
        self._end_table()

    def _read(self, tag: re.Match[str]) -> None:
        """One tag."""
        text = tag.group()
        is_end = text[1] == "/"
        name = text[1 + is_end : 3 + is_end].lower()
        name = "table" if name == "ta" else name
        self._counts[name, is_end] += 1
        if _CUT.match(self._page, tag.end()):
            self._add(tag.start(), "the end of a tag within a text")
        if not _is_whole(text):
            self._add(tag.start(), f"a <{name}> whose attributes are cut")
        if is_end:
            self._end(name, tag.start())
        else:
            self._start(name, tag.start(), text)

    def _read_row(self, found: re.Match[str]) -> bool:
        """A whole row at once, where its tags one after the other would show no fault; whether it was."""
        if not self._open or self._open[-1] != "table":
            return False
        row, place = found.group(), found.start()
        cells = _CELL.findall(row)
        kinds, style, is_whole = _row_of(tuple(cells))
        if not is_whole or not _is_whole(row[: row.index(">") + 1]) or _CUT.match(self._page, found.end()):
            return False
        self._counts["tr", False] += 1
        self._counts["tr", True] += 1
        self._counts["td", False] += len(cells)
        self._counts["td", True] += len(cells)
        self._row_start, self._row = place, []
        if style == _SEVERAL:
            self._add_row_of_two()
        elif style:
            self._rows.append(_Row(style, kinds, place))
        return True

    @property
    def has_ends(self) -> bool:
        """Does the page write the ends of rows and cells, which HTML may leave out?"""
        counts = self._counts
        return all(counts[name, True] >= _ENDED * counts[name, False] for name in _AROUND)

    def _start(self, name: str, place: int, text: str) -> None:
        above = self._open[-1] if self._open else ""
        around = _AROUND.get(name, "")
        # tables stand in cells where pages are laid out with them
        if above != around and not (name == "table" and above in {"td", "th"}):
            self._add(place, f"<{name}> in <{above}>" if above else f"<{name}> outside of a table")
        if name == "table":
            self._end_table()
            self._open = [name] if above not in {"td", "th"} else [*self._open, name]
            return
        while self._open and self._open[-1] != around:
            self._open.pop()
        self._open.append(name)
        if name == "tr":
            self._row_start, self._row = place, []
        else:
            self._row.append(text)

    def _end(self, name: str, place: int) -> None:
        if not self._open or self._open[-1] != name:
            self._add(place, f"</{name}> without its <{name}>")
        if name in self._open:
            while self._open.pop() != name:
                pass
        if name == "tr" and self._row:
            styles = set(map(_style_of, self._row))
            if "" in styles or any(cell[2] in "hH" for cell in self._row):  # headings, or a page without these styles
                self._row = []
                return
            if len(styles) > 1:
                self._add_row_of_two()
            else:
                self._rows.append(_Row(styles.pop(), tuple(map(_kind_of, self._row)), self._row_start))
            self._row = []
        elif name == "table":
            self._end_table()

    def _add_row_of_two(self) -> None:
        reason = "the cells of this row have the styles of two rows: a piece of the page may be missing in it"
        self.styles.append(self._sign(self._row_start, reason))

    def _end_table(self) -> None:
        """Two rows of one style where the others take turns, and rows with cells of another kind than the others."""
        rows, self._rows = self._rows, []
        if len(rows) < _FEWEST_ROWS:
            return
        breaks = [second for first, second in pairwise(rows) if first.style == second.style]
        signs = []
        if len(breaks) * 2 < len(rows) - 1:
            reason = "this row has the style of the row above it: rows between them may be missing"
            signs += [self._sign(row.place, reason) for row in breaks]
        (kinds, count), *_ = Counter(row.kinds for row in rows).most_common(1)
        if count > len(rows) - count <= _MOST_FAULTS:
            reason = "the cells of this row are not those of the other rows: it may be of another table"
            signs += [self._sign(row.place, reason) for row in rows if row.kinds != kinds]
        for sign in signs:
            name = sign.text.partition("|")[0].rstrip()
            # labels and sums are printed with styles of their own
            if not name.endswith(":") and name.lower() not in TOTALS | SUMMARIES:
                self.styles.append(sign)

    def _add(self, place: int, what: str) -> None:
        self.faults.setdefault(what, []).append(self._sign(place, f"{what}: a piece of the page may be missing here"))

    def _sign(self, place: int, reason: str) -> _Sign:
        end = self._page.find("</tr", place, place + _LONGEST_ROW)
        row = self._page[place : end if end >= 0 else place + _SHOWN]
        text = " ".join(_PART.sub(" | ", row).split()).strip(" |")
        table = self._counts["table", False] - 1
        return _Sign(place, "damaged", " ".join(text.split())[:_SHOWN], reason, table)


def _of_parts(page: str) -> Iterator[_Sign]:
    parts = _Parts(page)
    for faults in parts.faults.values():
        if len(faults) <= _MOST_FAULTS and parts.has_ends:
            yield from faults
    yield from parts.styles


def _lost_sections(page: str) -> Iterator[_Sign]:
    """Sections that the contents list, and the page has not: what stands below them may be in the table before."""
    links = list(_LINK.finditer(page))
    if not links:
        return
    anchors = {found["number"] for found in _ANCHOR.finditer(page)}
    lost = [link for link in links if link["number"] not in anchors]
    if len(links) - len(lost) < _FEWEST_LINKS:
        return
    for link in lost:
        title = " ".join(link["title"].split())
        names = ", ".join(dict.fromkeys(table.name for table in tables_titled(title)))
        what = f"{names}: the" if names else "the"
        reason = f"{what} contents list this section, and the page does not have it; rows of it may be in another table"
        yield _Sign(link.start(), "missing", title, reason)


def _repeated_sections(page: str) -> Iterator[_Sign]:
    """Sections that are there twice: another report, or a copy of a piece, follows the first."""
    seen: set[tuple[str, str]] = set()
    for found in _SECTION.finditer(page):
        title = " ".join(found["title"].split())
        if (key := (found["number"], title)) in seen:
            names = ", ".join(dict.fromkeys(table.name for table in tables_titled(title)))
            reason = f"{names}: this section is there twice; rows of two reports may stand in one table"
            yield _Sign(found.start(), "repeated", title, reason.removeprefix(": "))
        seen.add(key)


def _printed_twice(tables: list[PrintedTable]) -> Iterator[Problem]:
    """Tables with figures below each other that are equal, whatever stands above them."""
    for first, second in pairwise(tables):
        rows = second.rows.cells
        if first.title == second.title or first.headings != second.headings or first.rows.cells != rows:
            continue
        if first.summary == second.summary and any(is_number(cell) for row in rows for cell in row):
            names = ", ".join(table.name for table in tables_of(second)) or "raw_tables"
            reason = f"{names}: the table is printed twice; its rows are counted twice"
            yield Problem(None, "repeated", second.title, reason)
