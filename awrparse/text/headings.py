"""Titles and headings of text reports, distinguished from rows by heuristics."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from awrparse.sniff import IDENTITY
from awrparse.text.layout import GRAMMAR, WIDE_GAP
from logframe import columns_of

_LONE_NUMBER = re.compile(GRAMMAR.pattern("{LONE_NUMBER}"))
#: What stands beside the title of a section.
_BESIDE_TITLE: Final = (GRAMMAR.literal("DB_AND_INSTANCE"), GRAMMAR.literal("FOR_DB") + " ")
_SNAPS: Final = IDENTITY.literal("SNAPS")
_FIRST_OF_TWO = re.compile(GRAMMAR.pattern("(?<=.){FIRST_OF_TWO} $"))
_SQL_SECTION = re.compile(GRAMMAR.pattern("{SQL_SECTION}"))
_DB_OF_SECTION = re.compile(GRAMMAR.pattern(r"{DB_AND_INSTANCE} ([^\s/]+)/| {FOR_DB} (\S+) +{INSTANCE_OF_DB}"))
_CPU_COUNTS = re.compile(GRAMMAR.pattern("{CPU_COUNTS}$"))
#: A title that stands alone is no longer than a line of a report.
_LONGEST_TITLE: Final = 80


def section_title(line: str) -> str:
    """The title of a line that names database and snapshots beside it.

    Examples:
        >>> section_title("Operating System Statistics - DetailDB/Inst: FIG/fig1  Snaps: 1-2")
        'Operating System Statistics - Detail'
        >>> section_title("SQL ordered by Gets for DB: FIG  Instance: fig1  Snaps: 1 -2")
        'SQL ordered by Gets'
    """
    text = line.lstrip()
    # a title has at least one letter
    ends = [end for mark in _BESIDE_TITLE if (end := text.find(mark, 1)) > 0]
    if not ends:
        return text.rstrip()
    title = text[: min(ends)]
    if found := _FIRST_OF_TWO.search(title):
        title = title[: found.start()]
    return title.rstrip()


def db_of_section(line: str) -> str | None:
    """The database that stands beside a section's title; None without one, or not all of it.

    Examples:
        >>> db_of_section("Latch Activity  DB/Inst: FIG/fig1  Snaps: 1-2"), db_of_section("SQL ordered by Gets")
        ('FIG', None)
    """
    found = _DB_OF_SECTION.search(line)
    return found.group(1) or found.group(2) if found else None


def owner_of_section(line: str) -> tuple[str, str, str]:
    """What stands beside a section's title: how it is reported, database and instance, and the snapshots.

    The report cuts the line at its end: each may be the beginning of another one's.

    Examples:
        >>> owner_of_section("Latch Activity  DB/Inst: FIG/fig1  Snaps: 1-2")
        ('DB/Inst:', 'FIG/fig1', '1-2')
        >>> owner_of_section("SQL ordered by Gets for DB: FIG  Instance: fig1  Snaps: 1 -2")
        ('for DB:', 'FIG Instance: fig1', '1-2')
    """
    mark = next((mark.strip() for mark in _BESIDE_TITLE if line.find(mark, 1) > 0), "")
    return _owner(mark, line.rpartition(mark)[2] if mark else "")


@lru_cache(maxsize=256)
def _owner(mark: str, text: str) -> tuple[str, str, str]:
    """Mark, names and snapshots beside a title; most titles of a report have the same."""
    names, _, snaps = text.partition(_SNAPS)
    return mark, " ".join(names.split()), "".join(snaps.split())


def summary_title(line: str) -> tuple[str, str]:
    """The first words of a line that is underlined, and the title they make.

    Examples:
        >>> summary_title("Load Profile              Per Second    Per Transaction")
        ('Load Profile', 'Load Profile')
        >>> summary_title("Host CPU (CPUs:    8 Cores:    8 Sockets:    2)")
        ('Host CPU (CPUs:', 'Host CPU')
    """
    words = WIDE_GAP.split(line.replace("\f", "").strip())[0]
    return words, _CPU_COUNTS.sub("", words)


def is_sql_section(title: str) -> bool:
    """Do statements follow the rows of a section?"""
    return bool(_SQL_SECTION.match(title))


def may_be_title(line: str) -> bool:
    """Could a line that stands alone above headings be their title, and not a sentence?"""
    text = line.strip()
    return len(text) <= _LONGEST_TITLE and text[:1].isalnum() and not text.endswith((".", ":", ","))


def has_number(line: str) -> bool:
    """Is there a number by itself in the line, as in a row and hardly ever in a heading?

    Examples:
        >>> has_number("Event              1-bk Rd(ms)  P1"), has_number("log file sync   12")
        (False, True)
    """
    return _LONE_NUMBER.search(line) is not None


def is_group_ruler(above: str, below: str) -> bool:
    """Does a ruler leave free the first column of the one below it?"""
    return columns_of(above)[0].start >= columns_of(below)[0].end


def is_title_line(line: str, ruler: str) -> bool:
    """Is this a title right above the headings: at the margin, in single blanks, across the ruler's first gap?"""
    gap = ruler.find(" ")
    text = line.strip()
    return 0 < gap < len(text) and not line.startswith(" ") and "  " not in text and line[gap - 1 : gap + 1] != "  "
