"""The reports of a file: a mail is unpacked, pages and texts are distinguished, several reports are separated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from awrparse.mail import documents_of_parts
from awrparse.marks import find_mark
from awrparse.matching import tables_of
from awrparse.records import Document, PrintedTable, Problem
from awrparse.sniff import TAG_LINE, has_table, is_html, kind_of_html, split_html, split_text
from awrparse.spooled import joined_html, lines_of_pages
from awrparse.tabbed import is_tabbed, read_tabbed
from awrparse.text import lines as line_kinds
from awrparse.text.bars import markdown_rulers, with_bars, with_tabs
from awrparse.text.layout import ANY_RULER, PLAIN_RULER
from awrparse.text.sections import read_text
from logframe import LogParseError
from logframe.margins import parts_of_mail, without_marked_titles, without_prefixes
from logframe.normalize import (
    LineMap,
    with_line_feeds,
    with_plain_blanks,
    without_doubled_blank_lines,
    without_margin,
    without_terminal_codes,
)

if TYPE_CHECKING:
    from logframe import Log

#: What a report must not hold: more of this than of text means that the file is not one.
_CONTROL: Final = "\x00"
#: This many lines of a text report show its decimal mark.
_HEAD_LINES: Final = 400
#: A copy with a blank line after each line has at least this many that are not blank.
_FEWEST_LINES: Final = 4


def is_known(document: Document) -> bool:
    """Is this a report, or a piece of one?  A ruled table or a web page need not be."""
    if document.kind != "fragment":
        return bool(document.tables)
    return document.has_sections or any(map(tables_of, document.tables))


def documents_of(log: Log) -> list[Document]:
    """The reports of a file."""
    text = log.text()
    if _CONTROL in text[:4096]:
        raise LogParseError("binary data, not a report", source=log.name, expected="a text or HTML file")
    if not text.strip():
        raise LogParseError("the file is empty", source=log.name, expected="a report")
    if parts := parts_of_mail(text):
        return documents_of_parts(parts, _documents, is_known)
    return _documents(text)


def _documents(text: str) -> list[Document]:
    """The reports of a text."""
    text = without_terminal_codes(with_line_feeds(text))
    lines = _lines_of(text)
    bare = without_prefixes(lines, TAG_LINE) if "<" in text else lines
    margins = [] if bare is lines else [len(line) - len(own) for line, own in zip(lines, bare, strict=True)]
    text, lines = ("\n".join(bare), bare) if margins else (text, lines)
    line_map, clean = _kept_lines(lines)
    is_page = is_html(clean)
    if is_page:
        from awrparse.html import hard_markup, page_text, read_html  # noqa: PLC0415 - a text report needs no HTML parser

        if hard := hard_markup(clean):
            raise LogParseError(f"not read: {hard}", source="a page", expected="a report as Oracle writes it")
        # the lines of a text report within a page are its own, however many are of one length
        inner = None if has_table(clean) else page_text(clean)
        text, joined = joined_html(line_map.select(lines), clean)
        if inner is None:
            pages = [
                _marked(read_html(page, *kind_of_html(page), first_line=line), page) for line, page in split_html(text)
            ]
            for document in pages:
                document.line_map, document.joined, document.margins = line_map, joined, margins
            return pages
        text = inner
        lines = _lines_of(text)
        line_map, _ = _kept_lines(lines)
    file_lines = lines if text.isascii() else list(map(with_plain_blanks, lines))
    raw_lines = line_map.select(file_lines)
    quoted = without_margin(raw_lines, ANY_RULER)
    lines = without_prefixes(quoted, PLAIN_RULER)
    if lines is not quoted:  # numbers before the lines are not part of the report
        raw_lines = [own.rjust(len(raw)) for own, raw in zip(lines, raw_lines, strict=True)]
        file_lines = [*file_lines]
        for place, line in zip(line_map.kept, raw_lines, strict=True):
            file_lines[place] = line
    lines = without_marked_titles(lines)
    lines = with_bars(lines) if "|" in text else lines
    rulers = frozenset(markdown_rulers(lines)) if "|" in text else frozenset()
    if rulers:
        line_map = line_map.without(rulers)
        raw_lines = line_map.select(file_lines)
        lines = [with_tabs(line) for number, line in enumerate(lines) if number not in rulers]
    # SQL*Plus and editors put tabs for blanks; browsers put them between cells
    filled = [line.expandtabs() for line in lines] if rulers or any("\t" in line for line in lines) else lines
    kinds = line_kinds.classify(filled)
    read = read_tabbed if filled is not lines and is_tabbed(lines, kinds) else read_text
    lines = lines if read is read_tabbed else filled
    documents = [
        _marked(
            read(lines, kinds, part),
            "\n".join(lines[part.first : min(part.end, part.first + _HEAD_LINES)]),
        )
        for part in split_text(lines, kinds)
    ]
    if not line_map.is_whole:
        _count_dropped_lines(documents, line_map, file_lines)
    pieces = [piece for document in documents for piece in _pieces(document)]
    if not is_page:  # in a page there are marks of HTML between the letters
        for piece in pieces:
            piece.lines, piece.raw_lines = lines, raw_lines
    for piece in pieces:
        piece.line_map, piece.file_lines = line_map, file_lines
    return pieces


def _lines_of(text: str) -> list[str]:
    """The lines of a text without blanks at their ends: SQL*Plus fills lines up, and so do some editors."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.rstrip(" ") for line in lines] if " \n" in text or text.endswith(" ") else lines


def _kept_lines(lines: list[str]) -> tuple[LineMap, str]:
    """The lines that are the report's own, and their text."""
    line_map = without_doubled_blank_lines(lines, fewest=_FEWEST_LINES) or LineMap.of(len(lines))
    kept = line_map.select(lines)
    text = "\n".join(kept)
    if pages := lines_of_pages(kept, text):
        line_map = line_map.without(pages)
        text = "\n".join(line_map.select(lines))
    return line_map, text


def _count_dropped_lines(documents: list[Document], line_map: LineMap, lines: list[str]) -> None:
    """Give each report the lines back that were left out: the kinds of the lines are those of the whole file."""
    kinds = bytearray([line_kinds.PAGE_HEADING if line.strip() else line_kinds.BLANK for line in lines])
    places = line_map.kept
    first = 0
    for number, document in enumerate(documents):
        end = first + len(document.line_kinds)
        start = places[first] if number else 0
        stop = places[end] if end < len(places) else len(lines)
        for place, kind in zip(places[first:end], document.line_kinds, strict=True):
            kinds[place] = kind
        document.line_kinds = kinds[start:stop]
        document.first_line = places[document.first_line - 1] + 1
        first = end


def _marked(document: Document, text: str) -> Document:
    """The document with the decimal mark that its beginning shows, and a problem where that is not clear."""
    document.decimal_mark, reason = find_mark(text)
    if reason:
        document.problems.append(Problem(document.first_line, "ambiguous", "", reason))
    return document


def _pieces(document: Document) -> list[Document]:
    """A pasted text in which the same summary table comes again holds pieces of several reports."""
    if document.kind != "fragment":
        return [document]
    groups: list[list[PrintedTable]] = [[]]
    seen: set[str] = set()
    for printed in document.tables:
        # some tables are printed under several titles: SQL and segments in several orders, histograms by range
        names = {
            f"{table.name} {printed.title}" if table.group or table.shape == "histogram" else table.name
            for table in tables_of(printed)
        }
        if names & seen:
            groups.append([])
            seen = set()
        seen |= names
        groups[-1].append(printed)
    if len(groups) == 1:
        return [document]
    pieces = [
        Document("fragment", "text", group, group[0].line if group else 1, decimal_mark=document.decimal_mark)
        for group in groups
    ]
    pieces[0].line_kinds, pieces[0].problems, pieces[0].empty = document.line_kinds, document.problems, document.empty
    return pieces
