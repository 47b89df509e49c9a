"""Text into lines that can be read: what a terminal, a mail or an editor put into them is removed; no line is moved."""

from __future__ import annotations

from functools import partial
from typing import Final

from logframe.margins import without_line_numbers, without_page, without_shared_indent, without_shared_margin
from logframe.normalize import (
    with_line_feeds,
    with_plain_blanks,
    without_comment_marks,
    without_entities,
    without_quotes,
    without_terminal_codes,
)
from sqlplusparse.lines import NUMBERED, Kind, Pattern, kinds_of

#: A prompt of a session that was put into a page, so that its marks are written as entities; what those stand for.
_ESCAPED_PROMPT: Final = Pattern("(?m)^ *{ESCAPED_PROMPT}")
_TRANSCRIPT: Final = frozenset(
    {Kind.ELAPSED, Kind.STATISTIC, Kind.PLAN_ROW, Kind.PLAN_HASH, Kind.SQL_ID, Kind.PLAN_HEADING}
)
#: A quotation of this many lines is not taken for prose.
_FEWEST_QUOTED: Final = 3
#: Prompts of lines that nothing was typed in: the marks before them are the prompt.
_RUN_ON: Final = "\n" + NUMBERED[2] + NUMBERED[3]
_QUOTED: Final = _TRANSCRIPT | {Kind.PROMPT}


def prepared(text: str) -> list[str]:
    r"""The lines of a session's text, without trailing blanks; as many as the text has.

    Examples:
        >>> prepared("\t 18  recursive calls\r\n-- Elapsed: 00:00:01.00\n")
        ['         18  recursive calls', 'Elapsed: 00:00:01.00']
        >>> prepared("> SQL> select 1 from dual;\n>\n> Elapsed: 00:00:01.00\n\nMe:\n> qty > 5\n")
        ['SQL> select 1 from dual;', '', 'Elapsed: 00:00:01.00', '', 'Me:', '> qty > 5']
        >>> prepared("SQL&gt; select 1 from dual where 1 &lt; 2;\n")
        ['SQL> select 1 from dual where 1 < 2;']
    """
    has_last_end = not text or text.endswith("\n" if "\n" in text else "\r")
    text = without_terminal_codes(with_line_feeds(text))
    text = without_page(text)
    if "SQL>" not in text and "&gt;" in text and _ESCAPED_PROMPT.search(text):
        text = without_entities(text)
    text = with_plain_blanks(text.replace("\f", ""))
    bare = _without_marks(text)
    if "\t" in bare:  # tab stops count from where the line began before it was quoted, or after that
        if bare != text and _lone_tabs(text) < _lone_tabs(bare):
            bare = _without_marks(text.expandtabs(8))
        bare = bare.expandtabs(8)
    text = bare
    lines = list(map(str.rstrip, text.split("\n")))
    if has_last_end:
        lines.pop()
    return lines


def _without_marks(text: str) -> str:
    """A text without numbers of its lines, its margin, and the marks of quotations and comments around a session."""
    text = without_line_numbers(text)
    text = without_shared_margin(text) if _is_quoted(text) else without_shared_indent(text)
    text = without_quotes(text, lambda bare: _RUN_ON not in f"\n{bare}" and _has(bare, _QUOTED))
    return without_comment_marks(text, partial(_has, kinds=_TRANSCRIPT))


def _lone_tabs(text: str) -> int:
    """How many tabs within lines stand for one blank, which no program writes as a tab."""
    found = 0
    for line in text.split("\n"):
        width = 0
        for part in line.split("\t")[:-1]:
            width += len(part)
            found += width % 8 == 7 and not part.endswith(" ") and part != ""
            width += 8 - width % 8
    return found


def _is_quoted(text: str) -> bool:
    """Is the whole text a quotation, and longer than an answer would be?"""
    return text.lstrip("\n")[:1] == ">" and sum(map(bool, text.split("\n"))) >= _FEWEST_QUOTED


def _has(text: str, kinds: frozenset[int]) -> bool:
    """Is one of the lines of one of these kinds?"""
    return not kinds.isdisjoint(kinds_of(text.expandtabs(8).split("\n")))
