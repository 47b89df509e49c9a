"""What a file holds: which kind of report, as text or HTML, and where each report starts.  By content only."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from awrparse.text import lines as kind
from awrparse.text.lines import GRAMMAR
from logframe import load_grammar

IDENTITY: Final = load_grammar("awrparse", "sniff.lark", "name")
PAGE: Final = load_grammar("awrparse", "page.lark")

_HTML = re.compile(PAGE.pattern("{TAG}"))
_HTML_START = re.compile(PAGE.pattern("{PAGE_TAG}"))
#: What makes a page, and no SQL text that writes one.
_PAGE = re.compile(PAGE.pattern("^{START_OF_LINE}|{HEADING_TAG}"), re.MULTILINE)
#: Before a page, or without one, these say that the report is text.
_SECTIONS = re.compile(GRAMMAR.pattern("^(?:{BANNER}|{SECTION_TITLE}|{OLD_TITLE})"), re.MULTILINE)
_RULED = re.compile(GRAMMAR.pattern("^{RULER}"), re.MULTILINE)
#: A line of a page, where nothing stands before it.
TAG_LINE: Final = re.compile(PAGE.pattern(" {0,40}{TAG}"))
_TABLE = re.compile(PAGE.pattern("{TABLE_TAG}"))
_MARKUP = re.compile(PAGE.pattern("{ANY_TAG}"))
_TITLE = re.compile(PAGE.pattern("{TITLE_OPEN}({HEADING_TEXT}){TITLE_CLOSE}"))
_H1 = re.compile(PAGE.pattern("{H1_OPEN}({HEADING_TEXT}){H1_CLOSE}"))

#: Reports that stand inside others, too.
EMBEDDED: Final = frozenset({"ash", "addm"})
#: How a report calls itself -> its kind; the first that matches.
_NAMES: Final = tuple((re.compile(IDENTITY.pattern(f"{{{name}}}")), kind) for name, kind in IDENTITY.kinds.items())


class Part(NamedTuple):
    """One report within a file: its kind, what it calls itself, and its lines, counted from 0 to before `end`."""

    kind: str
    title: str
    first: int
    end: int


def is_html(text: str) -> bool:
    """Is the text an HTML page, or a piece of one?

    Examples:
        >>> is_html("<TABLE summary='x'><TR><TD>1</TD></TR></TABLE>"), is_html("select 1 from t where a <b")
        (True, False)
    """
    first = _HTML.search(text)
    page = _PAGE.search(text, first.start()) if first is not None else None
    if first is None or _SECTIONS.search(text, 0, page.start() if page is not None else len(text)):
        return False
    if page is not None:
        return True
    # words in angle brackets of a SQL text
    if _RULED.search(text):
        return False
    found = _HTML.findall(text, 0, 20_000)
    return len(found) > 1 or (bool(found) and _HTML.search(text, 20_000) is not None)


def has_table(text: str) -> bool:
    """Is there a table in the page?  Without one it is a text report that a browser saved."""
    return _TABLE.search(text) is not None


def kind_of_name(text: str) -> str | None:
    """The kind of report that a name speaks of, or None.

    Examples:
        >>> kind_of_name("WORKLOAD REPOSITORY PDB report (root snapshots)"), kind_of_name("Shopping list")
        ('awr_pdb', None)
    """
    return next((name for pattern, name in _NAMES if pattern.search(text)), None)


def split_html(text: str) -> list[tuple[int, str]]:
    """The pages in a text, each with the line it starts at (counted from 1)."""
    starts = [found.start() for found in _HTML_START.finditer(text)]
    if len(starts) < 2:
        return [(1, text)]
    starts[0] = 0
    return [
        (1 + text.count("\n", 0, start), text[start:end])
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True)
    ]


def kind_of_html(text: str) -> tuple[str, str]:
    """Kind and name of an HTML report, from its title and first headings."""
    title = _TITLE.search(text[:20_000])
    heads = _H1.findall(text[:100_000])
    names = [" ".join(_MARKUP.sub(" ", name).split()) for name in ([title.group(1)] if title else []) + heads]
    kinds = [found for name in names if (found := kind_of_name(name)) is not None]
    if not kinds:
        return "fragment", names[0] if names else ""
    # the <title> of a PDB report says AWR Report; its <h1> knows better
    best = "awr_pdb" if "awr_pdb" in kinds[:3] else next((one for one in kinds if one not in EMBEDDED), kinds[0])
    return best, names[0]


def split_text(lines: list[str], kinds: bytearray) -> list[Part]:
    """The reports in a text file; what stands before the first banner belongs to the first report."""
    starts: list[tuple[int, str, str]] = []
    position = kinds.find(bytes([kind.BANNER]))
    while position >= 0:
        name = lines[position].strip()
        starts.append((position, kind_of_name(name) or "awr", name))
        position = kinds.find(bytes([kind.BANNER]), position + 1)
    if not starts:
        addm = kinds.find(bytes([kind.ADDM]))
        if addm >= 0 and kind.TITLE not in kinds:
            return [Part("addm", lines[addm].strip(), 0, len(lines))]
        return [Part("fragment", "", 0, len(lines))]
    ends = [start for start, _, _ in starts[1:]] + [len(lines)]
    return [
        Part(name, title, start if number else 0, end)
        for number, ((start, name, title), end) in enumerate(zip(starts, ends, strict=True))
    ]
