"""Text into lines that can be read: none is moved, what a terminal or an editor put into them goes."""

from __future__ import annotations

import re
from html import unescape
from itertools import islice
from typing import Final

from sqlplusparse.lines import Kind, kinds_of

_ESCAPES: Final = re.compile(
    r"\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[=>]|\x1b[()][0-9A-Z]|\x07"
)
#: A prompt of a session that was put into a page, so that its marks are written as entities; what those stand for.
_ESCAPED_PROMPT: Final = re.compile(r"(?:^|\n) *[\w$#.@:/-]{1,40}(?: [\w:]{1,12})? ?&gt;")
_ENTITY: Final = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#[0-9]{2,5}|#x[0-9a-fA-F]{2,4});")
#: Characters that stand for nothing, or for a blank.
_ODD: Final = (
    ("\r", ""),
    ("\f", ""),
    ("\N{NO-BREAK SPACE}", " "),
    ("\N{ZERO WIDTH SPACE}", ""),
    ("\N{ZERO WIDTH NO-BREAK SPACE}", ""),
)
_BACKSPACED: Final = re.compile("[^\b\n]\b")
#: Runs of comment lines and of quoted lines, and the mark at the start of each.  They begin with the line feed before
#: them, which is quickly found.
_COMMENT_RUN: Final = re.compile(r"\n *--(?!-).*(?:\n *--(?!-).*)*")
_COMMENT_MARK: Final = re.compile(r"\n *--(?!-) ?")
_QUOTE_RUN: Final = re.compile(r"\n {0,3}>.*(?:\n {0,3}>.*)*")
_QUOTE_MARK: Final = re.compile(r"\n {0,3}>")
#: Quoted lines that all have a blank behind their mark, or nothing: it belongs to the mark.
_SPACED_RUN: Final = re.compile(r"(?:\n {0,3}>(?: .*)?(?=\n|\Z))+")
_SPACED_MARK: Final = re.compile(r"\n {0,3}> ?")
#: Fewer lines than these say nothing about how a copy was made.
_FEWEST_SPACED: Final = 8
_DEEPEST_QUOTE: Final = 8
_TRANSCRIPT: Final = frozenset(
    {Kind.ELAPSED, Kind.STATISTIC, Kind.PLAN_ROW, Kind.PLAN_HASH, Kind.SQL_ID, Kind.PLAN_HEADING}
)
_QUOTED: Final = _TRANSCRIPT | {Kind.PROMPT}


def prepared(text: str) -> list[str]:
    r"""The lines of a session's text, without trailing blanks; as many as the text has.

    Examples:
        >>> prepared("\t 18  recursive calls\r\n-- Elapsed: 00:00:01.00\n")
        ['         18  recursive calls', 'Elapsed: 00:00:01.00']
        >>> prepared("> SQL> select 1 from dual;\n>\n> Elapsed: 00:00:01.00\n\n> qty > 5\n")
        ['SQL> select 1 from dual;', '', 'Elapsed: 00:00:01.00', '', '> qty > 5']
        >>> prepared("SQL&gt; select 1 from dual where 1 &lt; 2;\n")
        ['SQL> select 1 from dual where 1 < 2;']
    """
    if "\r" in text and "\n" not in text:  # nothing else ends a line
        text = text.replace("\r", "\n")
    has_last_end = not text or text.endswith("\n")
    if "\x1b" in text or "\b" in text or "\x07" in text:
        text = _ESCAPES.sub("", text)
        while "\b" in text and (shorter := _BACKSPACED.sub("", text)) != text:
            text = shorter
    if "SQL>" not in text and "&gt;" in text and _ESCAPED_PROMPT.search(text):
        text = _ENTITY.sub(_entity, text)
    for odd, plain in _ODD:
        text = text.replace(odd, plain)
    if "\t" in text:
        text = text.expandtabs(8)
    text = _COMMENT_RUN.sub(_uncommented, _QUOTE_RUN.sub(_unquoted, "\n" + text))
    lines = list(map(str.rstrip, text[1:].split("\n")))
    if has_last_end:
        lines.pop()
    return lines


def spaced(lines: list[str]) -> list[int] | None:
    """The lines that count in a copy with a blank line after every line, as page editors make; None for other texts.

    Of the blank lines between two others, every second one was the text's own.

    Examples:
        >>> spaced(["a", "", "b", "", "", "", "c", *["", "d"] * 5])
        [0, 2, 3, 6, 8, 10, 12, 14, 16]
    """
    if any(map(_are_full, lines, islice(lines, 1, None))):
        return None
    numbers: list[int] = []
    blanks = 0
    full = 0
    for number, line in enumerate(lines):
        if line:
            numbers += range(number - blanks, number - blanks + blanks // 2)
            numbers.append(number)
            full += 1
            blanks = 0
        else:
            blanks += 1
    return numbers if full >= _FEWEST_SPACED else None


def _are_full(line: str, below: str) -> bool:
    return bool(line and below)


def _entity(found: re.Match[str]) -> str:
    """The character that an entity stands for; a line feed would move the lines below it."""
    return unescape(found.group()).replace("\n", " ").replace("\r", " ")


def _unquoted(run: re.Match[str]) -> str:
    """Consecutive lines of a Markdown quotation, also of one within one, without marks when they hold a transcript."""
    bare = run.group()
    for _ in range(_DEEPEST_QUOTE):
        if not _QUOTE_RUN.fullmatch(bare):
            break
        bare = (_SPACED_MARK if _SPACED_RUN.fullmatch(bare) else _QUOTE_MARK).sub("\n", bare)
    return bare if _has(bare, _QUOTED) else run.group()


def _uncommented(run: re.Match[str]) -> str:
    """Consecutive comment lines, without their marks when they hold a transcript."""
    bare = _COMMENT_MARK.sub("\n", run.group())
    return bare if _has(bare, _TRANSCRIPT) else run.group()


def _has(text: str, kinds: frozenset[int]) -> bool:
    """Is one of the lines of one of these kinds?"""
    return not kinds.isdisjoint(kinds_of(text.split("\n")))
