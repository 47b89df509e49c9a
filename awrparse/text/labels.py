"""Lines of text reports that no ruler cuts: titles, labels and values, running text, rows between vertical bars.

Titles and headings are distinguished from rows by heuristics.  Vertical bars stand in plans of reports on one statement
and in tables of Markdown.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from awrparse.records import Problem, Rows
from awrparse.sniff import IDENTITY
from awrparse.text.layout import GRAMMAR, WIDE_GAP, is_number
from logframe import columns_of

if TYPE_CHECKING:
    from collections.abc import Sequence


_LABEL_LINE = re.compile(GRAMMAR.pattern("{LABEL_LINE}"))
_MINUTES = re.compile(GRAMMAR.pattern(r"{MINUTES}\s"))
#: A label and its values take no more columns than these.
_LABEL_WIDTH: Final = 132


def is_label_line(line: str) -> bool:
    """Is this a label and its value, such as ``Buffer Nowait %:  100.00``?"""
    if len(line) > _LABEL_WIDTH or line.rstrip().endswith((".", ":")):
        return False
    return _LABEL_LINE.fullmatch(line) is not None


def label_values(line: str) -> list[list[str]]:
    """Labels of a line, each with its values.

    Examples:
        >>> label_values("  Buffer  Hit   %:   99.87    In-memory Sort %:  100.00")
        [['Buffer Hit %', '99.87'], ['In-memory Sort %', '100.00']]
        >>> label_values("   Elapsed:   1,439.98 (mins) Av Act Sess:       0.0")
        [['Elapsed', '1,439.98 (mins)'], ['Av Act Sess', '0.0']]
    """
    found: list[list[str]] = []
    words: list[str] = []
    for part in WIDE_GAP.split(_MINUTES.sub("(mins)  ", line.strip())):
        if part.endswith(":"):
            found.append([" ".join([*words, part[:-1].rstrip()])])
            words = []
        elif found and not words and (len(found[-1]) == 1 or is_number(part)):
            found[-1].append(part)
        elif not found and words and is_number(part):
            found.append([" ".join(words), part])
            words = []
        elif ": " in part:
            label, value = part.split(": ", 1)
            found.append([" ".join([*words, label]), value])
            words = []
        else:
            words.append(part)
    if words:
        found.append([" ".join(words)])
    return found


def add_labels(rows: Rows, line: str, number: int, width: int) -> None:
    """Labels and values in a table of labels: one row for each, as wide as the table."""
    for values in label_values(line):
        label, *rest = values
        if len(values) > width:
            reason = f"{len(rest)} values where the table has {width - 1} columns"
            rows.problems.append(Problem(number + 1, "misplaced", line.strip(), reason))
        rows.cells.append(tuple([f"{label}:", *rest, *[""] * width][:width]))
        rows.lines.append(number + 1)


def cut_labels(lines: list[str], body: Sequence[int], heads: tuple[str, ...]) -> Rows:
    """A block of labels and values without a ruler; the headings, where there are any, stand on one line."""
    found = [(number, values) for number in body for values in label_values(lines[number])]
    width = max(len(values) for _, values in found)
    names = tuple(name for head in heads for name in WIDE_GAP.split(head.strip()))
    names = ("", *names, *[""] * width)[:width] if len(names) < width else ("", *names[: width - 1])
    return Rows(
        cells=[(*values, *[""] * (width - len(values))) for _, values in found],
        lines=[number + 1 for number, _ in found],
        headings=names,
    )


def cut_prose(lines: list[str], body: Sequence[int]) -> Rows:
    """Running text, one row a line."""
    return Rows(
        cells=[(lines[number].rstrip(),) for number in body],
        lines=[number + 1 for number in body],
        headings=("text",),
    )


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


_BAR_ROW = re.compile(GRAMMAR.pattern("{BAR_ROW}"))
#: The heading whose cells are indented by their depth in the plan, and that of the depth.
_INDENTED, _DEPTH = "Operation", "Depth"
#: How a line below headings begins.
_STARTS: Final = frozenset({"|-", "|:", "| "})
_TITLE: Final = re.compile(GRAMMAR.pattern("{PLAN_TITLE}"))
_SQL_ID_TITLE: Final = re.compile(GRAMMAR.pattern("{SQL_ID_TITLE}"))


_MARKDOWN_RULER: Final = re.compile(GRAMMAR.pattern("{MARKDOWN_RULER}"))
_BARE_RULER: Final = re.compile(GRAMMAR.pattern("{BARE_MARKDOWN_RULER}"))
#: A bar within a cell of Markdown.
_ESCAPED, _HELD = "\\|", "\x00"


def markdown_rulers(lines: Sequence[str]) -> list[int]:
    """The lines that set the headings of a table of Markdown apart from its rows, counted from 0.

    Examples:
        >>> markdown_rulers(["| Event | Waits |", "|---|---:|", "| latch free | 1 |"])
        [1]
    """
    return [
        number
        for number, line in enumerate(lines)
        if "|" in line
        and line.lstrip()[:2] in _STARTS
        and _MARKDOWN_RULER.fullmatch(line.strip())
        and number > 0
        and is_bar_row(lines[number - 1])
    ]


def with_bars(lines: list[str]) -> list[str]:
    """The lines with a bar at both ends of the rows of tables of Markdown that have bars between their cells only.

    Examples:
        >>> with_bars(["Event|Waits", "---|---:", "latch free|1", "", "a|b"])
        ['|Event|Waits|', '|---|---:|', '|latch free|1|', '', 'a|b']
    """
    found = lines
    for number in range(1, len(lines)):
        if "|" not in lines[number] or "|" not in lines[number - 1] or not _BARE_RULER.fullmatch(lines[number]):
            continue
        found = [*lines] if found is lines else found
        place = number - 1
        while place < len(lines) and "|" in lines[place]:
            row = lines[place].strip()
            found[place] = f"|{row.removeprefix('|').removesuffix('|')}|"
            place += 1
    return found


def with_tabs(line: str) -> str:
    r"""A row of Markdown with a tab between its cells; any other line as it is.

    Examples:
        >>> with_tabs("| latch free | 1 |"), with_tabs("Wait Events")
        ('latch free\t1', 'Wait Events')
    """
    if not is_bar_row(line):
        return line
    return "\t".join(cell.strip().replace(_HELD, "|") for cell in cells_of(line.replace(_ESCAPED, _HELD)))


def is_bar_row(line: str) -> bool:
    """Does a line start and end with a vertical bar?"""
    return _BAR_ROW.fullmatch(line.strip()) is not None


def is_plan_title(line: str) -> bool:
    """Does a line name a plan and its hash value?"""
    return _TITLE.fullmatch(line.strip()) is not None


def is_sql_id_title(line: str) -> bool:
    """Is this the title above the plans of a statement?"""
    return _SQL_ID_TITLE.fullmatch(line.strip()) is not None


def cells_of(line: str) -> list[str]:
    """The cells between the bars, blanks kept.

    Examples:
        >>> cells_of("| 0 | SELECT |")
        [' 0 ', ' SELECT ']
    """
    return line.strip()[1:-1].split("|")


def cut_bars(lines: Sequence[str], head: int, body: Sequence[int]) -> Rows:
    """Rows between bars; cells of `Operation` are indented by their depth, which becomes a column of its own.

    Args:
        lines: all lines of the file.
        head: the line of the headings.
        body: the lines of the rows.
    """
    names = tuple(" ".join(cell.split()) for cell in cells_of(lines[head]))
    grid = [cells_of(lines[number]) for number in body]
    rows = Rows(headings=(*names, _DEPTH))
    place = names.index(_INDENTED) if _INDENTED in names else -1
    for number, cells in zip(body, grid, strict=True):
        depth = str(len(cells[place]) - len(cells[place].lstrip()) - 1) if 0 <= place < len(cells) else ""
        width = len(names)
        texts = [cell.strip() for cell in cells[:width]]
        rows.cells.append((*texts, *[""] * (width - len(texts)), depth))
        rows.lines.append(number + 1)
    return rows
