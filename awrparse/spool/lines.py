"""Text into classified lines: what each line of a session is, by itself.

`prepared` makes the lines readable without moving any: terminal escapes and carriage returns go, tabs become blanks (a
Unix SQL*Plus writes tabs), a transcript pasted into ``--`` comments loses them.  `classify` says what one line is, by
the terminals of ``line.lark``; what a line means beside its neighbours is decided in `blocks`.
"""

from __future__ import annotations

import re
from enum import IntEnum, auto
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final

from logframe import load_grammar

if TYPE_CHECKING:
    from collections.abc import Callable

#: The rules of line.lark; each may start a parse.
RULES: Final = (
    "prompt",
    "continuation",
    "substitution",
    "rows_feedback",
    "done_feedback",
    "error",
    "elapsed",
    "timer_name",
    "statistics_heading",
    "autotrace_statistic",
    "session_statistic",
    "plan_heading",
    "sql_id",
    "plan_hash",
    "plan_table",
    "plan_row",
    "old_plan_row",
    "plan_section",
    "ruler",
    "snapper_row",
    "snapper_end",
    "banner",
    "fence",
    "elision",
    "trace",
)
GRAMMAR: Final = load_grammar("awrparse.spool", "line.lark", *RULES)


class Kind(IntEnum):
    """What one line is, by itself."""

    BLANK = auto()
    PROMPT = auto()
    SUBSTITUTION = auto()
    FEEDBACK = auto()
    ERROR = auto()
    ELAPSED = auto()
    TIMER_NAME = auto()
    STATISTICS_HEADING = auto()
    STATISTIC = auto()
    PLAN_HEADING = auto()
    SQL_ID = auto()
    PLAN_HASH = auto()
    PLAN_TABLE = auto()
    PLAN_ROW = auto()
    PLAN_SECTION = auto()
    RULER = auto()
    SNAPPER_ROW = auto()
    SNAPPER_END = auto()
    BANNER = auto()
    FENCE = auto()
    ELISION = auto()
    TRACE = auto()
    COMMENT = auto()
    TEXT = auto()


class Pattern:
    """A regular expression made of the grammar's terminals, compiled when first used: importing costs nothing."""

    def __init__(self, template: str) -> None:
        self.template = template

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The expression itself."""
        return re.compile(GRAMMAR.pattern(self.template))

    @cached_property
    def match(self) -> Callable[[str], re.Match[str] | None]:
        """Match at the start of a text."""
        return self.compiled.match

    @cached_property
    def fullmatch(self) -> Callable[[str], re.Match[str] | None]:
        """Match a whole text."""
        return self.compiled.fullmatch

    @cached_property
    def search(self) -> Callable[[str], re.Match[str] | None]:
        """Match anywhere in a text."""
        return self.compiled.search


ELAPSED: Final = Pattern(
    "(?:{COMMENT})?(?P<label>{LABEL}){LABEL_COLON}{GAP}(?P<hours>{HOURS}){CLOCK_COLON}(?P<minutes>{SIXTIETHS})"
    "{CLOCK_COLON}(?P<seconds>{SECONDS})(?:{GAP})?(?:{COMMENT_END})?"
)
PROMPT: Final = Pattern("(?:(?P<time>{TIME}){GAP})?(?P<prompt>{PROMPT})[ \t]?(?P<rest>.*)")
CONTINUATION: Final = Pattern("[ \t]*(?:{TIME}{GAP})?(?P<number>{LINE_NUMBER})(?:[ \t*]{1,2})?(?P<rest>.*)")
ROWS: Final = Pattern("{ROWS}")
DONE: Final = Pattern("{DONE}")
ERROR: Final = Pattern("(?P<code>{ERROR})")
STATISTIC: Final = Pattern("(?P<count>{COUNT}){GAP}(?P<name>{AUTOTRACE_NAME})(?:{GAP}{REMARK})?")
SESSION_STATISTIC: Final = Pattern("(?P<count>{COUNT})[ ]{2}(?P<name>{STATISTIC_NAME})")
SQL_ID: Final = Pattern("{SQL_ID}(?P<sql_id>{SQL_ID_VALUE})(?:{CHILD_NUMBER}(?P<child>{DIGITS}))?")
PLAN_HASH: Final = Pattern("{PLAN_HASH}(?P<hash>{DIGITS})")
OLD_PLAN_ROW: Final = Pattern("(?P<id>{DIGITS})(?:{GAP}(?P<parent>{DIGITS}))?(?P<gap>{GAP})(?P<operation>{OPERATION})")
SNAPPER_END: Final = Pattern("{SNAPPER_END}(?P<end>{SNAPPER_TIME}){SNAPPER_SECONDS}(?P<seconds>{DECIMAL}).*")
_SNAPPER_ROW: Final = Pattern("{DIGITS}(?:{GAP}{INSTANCE})?{COMMA}(?:{FIELD}{COMMA})?{SNAPPER_TYPE}{COMMA}.*")
_HEADING: Final = Pattern(
    "(?P<STATISTICS_HEADING>{STATISTICS_HEADING})|(?P<PLAN_HEADING>{PLAN_HEADING})|(?P<PLAN_HASH>{PLAN_HASH}{DIGITS})"
    "|(?P<SQL_ID>{SQL_ID}{SQL_ID_VALUE}.*)|(?P<PLAN_TABLE>{PLAN_TABLE})|(?P<PLAN_SECTION>{PLAN_SECTION})"
    "|(?P<BANNER>{BANNER}.*)|(?P<SUBSTITUTION>{OLD_OR_NEW}{LINE_COLON}.*)|(?P<TRACE>{TRACE}.*)"
)
_TIMER_NAME: Final = Pattern("{TIMER_NAME}")
_RULER: Final = Pattern("{RULER}")
_ELISION: Final = Pattern("{ELISION}")

_ESCAPES: Final = re.compile(
    r"\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[=>]|\x1b[()][0-9A-Z]|\x07"
)
_BACKSPACED: Final = re.compile("[^\b\n]\b")
_COMMENT: Final = re.compile(r"\n *--(?!-)")
_COMMENT_RUN: Final = re.compile(r"(?:^[ ]*--(?!-).*\n?)+", re.MULTILINE)
_COMMENT_MARK: Final = re.compile(r"^[ ]*--(?!-) ?", re.MULTILINE)
_TRANSCRIPT: Final = frozenset(
    {Kind.ELAPSED, Kind.STATISTIC, Kind.PLAN_ROW, Kind.PLAN_HASH, Kind.SQL_ID, Kind.PLAN_HEADING}
)
_DIGITS: Final = frozenset("0123456789")
#: Last letters of a feedback that does not end with a full stop.
_LAST_WITHOUT_STOP: Final = frozenset("dtaseо行됨取다ы")
_LONGEST_FEEDBACK: Final = 120


def prepared(text: str) -> list[str]:
    r"""The lines of a session's text, without trailing blanks; as many as the text has.

    Examples:
        >>> prepared("\t 18  recursive calls\r\n-- Elapsed: 00:00:01.00\n")
        ['         18  recursive calls', 'Elapsed: 00:00:01.00']
    """
    if "\x1b" in text or "\b" in text or "\x07" in text:
        text = _ESCAPES.sub("", text)
        while "\b" in text and (shorter := _BACKSPACED.sub("", text)) != text:
            text = shorter
    for odd, plain in (("\r", ""), ("\f", ""), ("\N{NO-BREAK SPACE}", " ")):
        text = text.replace(odd, plain)
    text = text.expandtabs(8)
    if _COMMENT.search("\n" + text):
        text = _COMMENT_RUN.sub(_uncommented, text)
    lines = [line.rstrip() for line in text.split("\n")]
    if not lines[-1] and (not text or text.endswith("\n")):
        lines.pop()
    return lines


def _uncommented(run: re.Match[str]) -> str:
    """Consecutive comment lines, without their marks when they hold a transcript."""
    bare = _COMMENT_MARK.sub("", run.group())
    if any(classify(line.strip()) in _TRANSCRIPT for line in bare.split("\n")):
        return bare
    return run.group()


def classify(line: str) -> Kind:
    """What a line, without the blanks around it, is by itself.

    Examples:
        >>> classify("Elapsed: 00:00:00.73").name, classify("Elapsed:   15.02 (mins)").name
        ('ELAPSED', 'TEXT')
        >>> classify("7239  physical reads").name, classify("14 Zeilen ausgewählt.").name
        ('STATISTIC', 'FEEDBACK')
    """
    if not line:
        return Kind.BLANK
    first = line[0]
    if first == "|":
        return Kind.PLAN_ROW
    if first in _DIGITS or first == "#":
        return _classify_number(line)
    if first in "-_":
        return _classify_dashes(line)
    if first in "`~" and line.startswith(("```", "~~~")):
        return Kind.FENCE
    if first in ".[<…" and _ELISION.fullmatch(line):
        return Kind.ELISION
    return _classify_words(line)


def _classify_number(line: str) -> Kind:
    if STATISTIC.fullmatch(line):
        return Kind.STATISTIC
    if _is_feedback(line):
        return Kind.FEEDBACK
    if "," in line and _SNAPPER_ROW.match(line):
        return Kind.SNAPPER_ROW
    if line[2:3] == ":" and PROMPT.match(line):
        return Kind.PROMPT
    return Kind.TEXT


def _classify_dashes(line: str) -> Kind:
    if _RULER.fullmatch(line):
        return Kind.RULER
    if line.startswith("--") and line[2:3] != "-":
        if ":" in line and ELAPSED.fullmatch(line):
            return Kind.ELAPSED
        return Kind.SNAPPER_END if SNAPPER_END.fullmatch(line) else Kind.COMMENT
    return Kind.TEXT


@lru_cache(maxsize=1 << 14)
def _classify_words(line: str) -> Kind:
    """A line that starts with neither a number nor a dash."""
    if ":" in line and ELAPSED.fullmatch(line):
        return Kind.ELAPSED
    if (">" in line or "#" in line) and PROMPT.match(line):
        return Kind.PROMPT
    if heading := _HEADING.fullmatch(line):
        return Kind[heading.lastgroup or "TEXT"]
    if _is_feedback(line):
        return Kind.FEEDBACK
    if ERROR.match(line):
        return Kind.ERROR
    return Kind.TIMER_NAME if _TIMER_NAME.fullmatch(line) else Kind.TEXT


def _is_feedback(line: str) -> bool:
    last = line[-1]
    if last in ".。":
        return len(line) < _LONGEST_FEEDBACK and (ROWS.fullmatch(line) or DONE.fullmatch(line)) is not None
    return last in _LAST_WITHOUT_STOP and ROWS.fullmatch(line) is not None
