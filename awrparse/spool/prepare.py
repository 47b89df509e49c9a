"""Text into lines that can be read: none is moved, what a terminal or an editor put into them goes."""

from __future__ import annotations

import re
from typing import Final

from awrparse.spool.lines import Kind, kinds_of

_ESCAPES: Final = re.compile(
    r"\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[=>]|\x1b[()][0-9A-Z]|\x07"
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
    """
    if "\r" in text and "\n" not in text:  # nothing else ends a line
        text = text.replace("\r", "\n")
    has_last_end = not text or text.endswith("\n")
    if "\x1b" in text or "\b" in text or "\x07" in text:
        text = _ESCAPES.sub("", text)
        while "\b" in text and (shorter := _BACKSPACED.sub("", text)) != text:
            text = shorter
    for odd, plain in (("\r", ""), ("\f", ""), ("\N{NO-BREAK SPACE}", " ")):
        text = text.replace(odd, plain)
    if "\t" in text:
        text = text.expandtabs(8)
    text = _COMMENT_RUN.sub(_uncommented, _QUOTE_RUN.sub(_unquoted, "\n" + text))
    lines = list(map(str.rstrip, text[1:].split("\n")))
    if has_last_end:
        lines.pop()
    return lines


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
