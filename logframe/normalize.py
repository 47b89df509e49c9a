r"""Normalization: what was added to a log when it was copied is removed, and each line keeps its number.

Mail programs put ``>`` before the lines, collectors a timestamp, pagers a number; editors indent them or put a blank
line after each, word processors change quotation marks, web pages write entities, terminals colours.  The patterns are
in ``normalize.lark``.  Whether such a thing was added or is the log's own cannot be seen from the text alone, so the
functions that must decide take a predicate or a count of the format's reader.

Nothing here joins or splits lines.  Where lines are left out, a `LineMap` says which ones were kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeVar

from logframe.grammar import load_grammar

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    import polars as pl

_PREFIXED: Final = ("mail", "syslog", "container", "pod", "line_number", "line_colon")
_OF_REPORTS: Final = ("bare_stamp", "spaced_bar", "bar_mark", "added_mark")
GRAMMAR = load_grammar("logframe", "normalize.lark", *_PREFIXED, *_OF_REPORTS)
#: Terminals of what other programs put before every line, in the order in which they are tried.
PREFIXES: Final = ("MAIL", "SYSLOG", "CONTAINER", "POD", "LINE_NUMBER", "LINE_COLON")
#: Characters as a word processor, a wiki or a web page writes them -> as the log had them.
CHANGED_CHARACTERS: Final = {
    "\t": " ",
    "\N{NO-BREAK SPACE}": " ",
    "\N{LEFT DOUBLE QUOTATION MARK}": '"',
    "\N{RIGHT DOUBLE QUOTATION MARK}": '"',
    "\N{DOUBLE LOW-9 QUOTATION MARK}": '"',
    "\N{DOUBLE PRIME}": '"',
    "\N{HORIZONTAL ELLIPSIS}": "...",
}
#: Marks as a page writes them -> as the log had them; a log may also hold the text of a page.
ENTITIES: Final = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&amp;": "&"}
#: Characters without a width, and a blank that is not one to a program.
_INVISIBLE: Final = (
    ("\N{NO-BREAK SPACE}", " "),
    ("\N{ZERO WIDTH SPACE}", ""),
    ("\N{ZERO WIDTH NO-BREAK SPACE}", ""),
)
#: Blanks that a program, an editor or a page puts before a line.
BLANKS: Final = " \t\N{NO-BREAK SPACE}"
ESCAPE: Final = "\x1b"
#: A quotation is removed as often as it may be nested.
_DEEPEST_QUOTE: Final = 8

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class LineMap:
    """Which lines of a source were kept; lines are counted from 0.

    Attributes:
        kept: number in the source of each line that was kept.
        size: how many lines the source has.

    Examples:
        >>> lines = LineMap.of(5).without({1, 2})
        >>> lines.kept, lines.select("abcde")
        ([0, 3, 4], ['a', 'd', 'e'])
    """

    kept: Sequence[int]
    size: int

    @classmethod
    def of(cls, size: int) -> LineMap:
        """The map of a source of which all lines are kept."""
        return cls(range(size), size)

    @property
    def is_whole(self) -> bool:
        """Whether all lines were kept."""
        return len(self.kept) == self.size

    def without(self, numbers: Container[int]) -> LineMap:
        """The map after these of the kept lines are left out."""
        return LineMap([line for number, line in enumerate(self.kept) if number not in numbers], self.size)

    def select(self, lines: Sequence[_Item]) -> list[_Item]:
        """The kept ones of the source's lines."""
        return list(lines) if self.is_whole else [lines[number] for number in self.kept]

    def spread(self, values: bytearray, of_others: bytearray) -> bytearray:
        """One value for each line of the source: those of the kept lines put into those of all lines."""
        if self.is_whole:
            return values
        for number, value in zip(self.kept, values, strict=True):
            of_others[number] = value
        return of_others


def with_line_feeds(text: str) -> str:
    r"""A text whose lines end with a line feed; a carriage return ends a line only where nothing else does.

    Examples:
        >>> with_line_feeds("a\r\nb"), with_line_feeds("a\rb")
        ('a\nb', 'a\nb')
    """
    return text.replace("\r", "" if "\n" in text else "\n") if "\r" in text else text


def without_terminal_codes(text: str) -> str:
    r"""A text without colours and titles of a terminal, bells, and letters that were removed by a backspace.

    Examples:
        >>> without_terminal_codes("\x1b[31mred\x1b[0m typo\b\b\b\bword")
        'red word'
    """
    if ESCAPE in text or "\b" in text or "\x07" in text:
        text = _compiled("{ESCAPE}").sub("", text)
        while "\b" in text and (shorter := _compiled("{BACKSPACED}").sub("", text)) != text:
            text = shorter
    return text


def without_terminal_codes_expr(text: pl.Expr) -> pl.Expr:
    """The texts without colours and titles of a terminal, and bells."""
    return text.str.replace_all(GRAMMAR.pattern("{ESCAPE}"), "")


def with_plain_blanks(text: str) -> str:
    r"""A text with blanks for no-break spaces, and without characters that have no width.

    Examples:
        >>> with_plain_blanks("a\u00a0b\u200bc")
        'a bc'
    """
    for character, plain in () if text.isascii() else _INVISIBLE:
        text = text.replace(character, plain)
    return text


def without_entities(text: str) -> str:
    """A text with the characters that entities of HTML stand for; a line feed would split a line and becomes a blank.

    Examples:
        >>> without_entities("a &lt; b&#10;&#x26; c")
        'a < b & c'
    """
    return _compiled("{ENTITY}").sub(_character, text)


def without_doubled_blank_lines(lines: Sequence[str], *, fewest: int) -> LineMap | None:
    """The lines of a text without the blank line that page editors put after each; None for other texts.

    Of the blank lines between two others, every second one was the text's own, so they are an odd number.

    Args:
        lines: without blanks at their ends.
        fewest: fewer lines that are not blank do not show how a copy was made.

    Examples:
        >>> without_doubled_blank_lines(["a", "", "b", "", "", "", "c"], fewest=3).kept
        [0, 2, 3, 6]
        >>> without_doubled_blank_lines(["a", "b", "", "c"], fewest=3)
        >>> without_doubled_blank_lines(["a", "", "b", "", "", "c"], fewest=3)
    """
    if any(line and below for line, below in zip(lines, islice(lines, 1, None), strict=False)):
        return None
    kept: list[int] = []
    blanks = 0
    full = 0
    for number, line in enumerate(lines):
        if line:
            if full and blanks % 2 == 0:
                return None
            kept += range(number - blanks, number - blanks + blanks // 2)
            kept.append(number)
            full += 1
            blanks = 0
        else:
            blanks += 1
    return LineMap(kept, len(lines)) if full >= fewest else None


def without_quotes(text: str, is_log: Callable[[str], bool]) -> str:
    r"""A text whose quoted runs of lines (``>``, also nested) have no marks where they hold a piece of a log.

    A blank after the mark belongs to it where all lines of the run have one.

    Args:
        text: lines that end with line feeds.
        is_log: whether lines without their marks hold some of the log.

    Examples:
        >>> without_quotes("> 12 reads\n>\n> 13 reads\n\n> more\n", lambda lines: "reads" in lines)
        '12 reads\n\n13 reads\n\n> more\n'
    """
    run = _run_of("{QUOTE_MARK}")
    spaced = _compiled(r"(?:\n{QUOTE_MARK}(?: .*)?(?=\n|\Z))+")
    mark, mark_and_blank = _compiled(r"\n{QUOTE_MARK}"), _compiled(r"\n{QUOTE_MARK} ?")

    def unquoted(found: re.Match[str]) -> str:
        bare = found.group()
        for _ in range(_DEEPEST_QUOTE):
            if not run.fullmatch(bare):
                break
            bare = (mark_and_blank if spaced.fullmatch(bare) else mark).sub("\n", bare)
        return bare if is_log(bare) else found.group()

    return run.sub(unquoted, "\n" + text)[1:]


def without_comment_marks(text: str, is_log: Callable[[str], bool]) -> str:
    r"""A text whose runs of comment lines (``--``) have no marks where they hold a piece of a log.

    Args:
        text: lines that end with line feeds.
        is_log: whether lines without their marks hold some of the log.

    Examples:
        >>> without_comment_marks("-- 12 reads\n--13 reads\n\n-- more\n", lambda lines: "reads" in lines)
        '12 reads\n13 reads\n\n-- more\n'
    """
    mark = _compiled(r"\n{COMMENT_MARK} ?")

    def bare(found: re.Match[str]) -> str:
        lines = mark.sub("\n", found.group())
        return lines if is_log(lines) else found.group()

    return _run_of("{COMMENT_MARK}").sub(bare, "\n" + text)[1:]


def without_margin(lines: list[str], anchor: re.Pattern[str]) -> list[str]:
    """The lines without what a mail program or a code block puts before each: ``> ``, or the same indent everywhere.

    Args:
        lines: of the whole text.
        anchor: matches lines that are certainly the log's own, such as rulers; they show how deep a quotation is.

    Examples:
        >>> ruler = re.compile(r" *-{4}")
        >>> without_margin(["See:", "> Event  Waits", "> ------ -----", "> x          1"], ruler)
        ['See:', 'Event  Waits', '------ -----', 'x          1']
        >>> without_margin(["See:", "", "    Event  Waits", "    ------ -----", "", "    x          1"], ruler)
        ['See:', '', 'Event  Waits', '------ -----', '', 'x          1']
    """
    marks = _compiled("{MAIL}")
    anchors = [
        line
        for line in lines
        if line[:1] == ">" and (found := marks.match(line)) is not None and anchor.match(line, found.end())
    ]
    if anchors:
        # a line of the log may start with such a mark itself
        depth = min(line.count(">") for line in anchors)
        # a mail program that puts no blank after its mark: what follows is the line's own
        is_tight = any(" " not in marks.match(line).group() for line in anchors)  # type: ignore[union-attr]
        quote = re.compile(rf"^(?:>{'' if is_tight else ' ?'}){{1,{depth}}}")
        return [quote.sub("", line) for line in lines]
    margin = _margin_of_paragraphs(lines, anchor)
    if margin is None:
        margin = shared_start([indent_of(line) for line in lines if line.strip()])
    return [line.removeprefix(margin) for line in lines] if margin else lines


def has_changed_characters(text: str) -> bool:
    """Whether some characters of a text are as a word processor, a wiki or a web page writes them."""
    return has_other_characters(text) or has_entities(text)


def has_other_characters(text: str) -> bool:
    """Whether a text has characters that are replaced by others when it is typed or pasted (`CHANGED_CHARACTERS`)."""
    return any(changed in text for changed in CHANGED_CHARACTERS)


def has_entities(text: str) -> bool:
    """Whether a text has marks as a page writes them."""
    return "&" in text and any(entity in text for entity in ENTITIES)


@cache
def _compiled(template: str) -> re.Pattern[str]:
    return re.compile(GRAMMAR.pattern(template))


def _run_of(mark: str) -> re.Pattern[str]:
    """Consecutive lines with a mark; the line feed before them is part of the match, for it is quickly found."""
    return _compiled(rf"\n{mark}.*(?:\n{mark}.*)*")


def _character(entity: re.Match[str]) -> str:
    return unescape(entity.group()).replace("\n", " ").replace("\r", " ")


def indent_of(line: str) -> str:
    """The blanks that a line starts with."""
    return line[: len(line) - len(line.lstrip(BLANKS))]


def shared_start(texts: list[str]) -> str:
    """What all texts start with: what the first and the last of them in alphabetical order share."""
    first, last = min(texts, default=""), max(texts, default="")
    differing = (place for place, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1])
    return first[: next(differing, min(len(first), len(last)))]


def _margin_of_paragraphs(lines: Sequence[str], anchor: re.Pattern[str]) -> str | None:
    """The blanks before every line of the paragraphs that hold an anchor; None when there is no such paragraph."""
    margin: str | None = None
    start = 0
    for number in range(len(lines) + 1):
        if number < len(lines) and lines[number].strip():
            continue
        paragraph = lines[start:number]
        start = number + 1
        if len(paragraph) > 1 and any(map(anchor.match, paragraph)):
            margin = shared_start([*([] if margin is None else [margin]), *map(indent_of, paragraph)])
            if not margin:
                break
    return margin
