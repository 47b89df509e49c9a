"""What each line of a session is, by itself.

`classify` says it by the terminals of ``line.lark``; what a line means beside its neighbours is decided in `blocks`.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final, cast

from logframe import load_grammar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from logframe import Grammar

#: The rules of line.lark; each may start a parse.
RULES: Final = (
    "prompt",
    "continuation",
    "substitution",
    "rows_feedback",
    "done_feedback",
    "block_feedback",
    "commit_feedback",
    "symbol_ruler",
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
    "typed_statistic",
    "snapper_end",
    "banner",
    "fence",
    "elision",
    "trace",
)
GRAMMAR: Final = load_grammar("sqlplusparse", "line.lark", *RULES)
#: What AWR-Miner writes before and after the result of each of its queries.
SECTION_MARKS: Final = (GRAMMAR.literal("SECTION_BEGIN"), GRAMMAR.literal("SECTION_END"))
FEEDBACK: Final = load_grammar("sqlplusparse", "feedback.lark")
COMMANDS: Final = load_grammar("sqlplusparse", "command.lark")
LISTS: Final = load_grammar("sqlplusparse", "listing.lark")


class Kind:
    """What one line is, by itself: a byte a kind, so that the kinds of a page are bytes.

    They are plain numbers, not an enumeration, because the readers compare one a line and more.
    """

    BLANK: Final = 0
    PROMPT: Final = 1
    SUBSTITUTION: Final = 2
    FEEDBACK: Final = 3
    ERROR: Final = 4
    ELAPSED: Final = 5
    TIMER_NAME: Final = 6
    STATISTICS_HEADING: Final = 7
    STATISTIC: Final = 8
    PLAN_HEADING: Final = 9
    SQL_ID: Final = 10
    PLAN_HASH: Final = 11
    PLAN_TABLE: Final = 12
    PLAN_ROW: Final = 13
    PLAN_SECTION: Final = 14
    RULER: Final = 15
    SNAPPER_ROW: Final = 16
    SNAPPER_END: Final = 17
    BANNER: Final = 18
    FENCE: Final = 19
    ELISION: Final = 20
    TRACE: Final = 21
    COMMENT: Final = 22
    TEXT: Final = 23


#: The kinds by name.
KINDS: Final[dict[str, int]] = {name: kind for name, kind in vars(Kind).items() if name.isupper()}

#: Kinds of lines with which the client begins to print something else: neither a grid nor a plan is continued by one.
BEGINNINGS: Final = frozenset(
    {
        Kind.PROMPT,
        Kind.FEEDBACK,
        Kind.ELAPSED,
        Kind.STATISTICS_HEADING,
        Kind.STATISTIC,
        Kind.PLAN_HEADING,
        Kind.FENCE,
        Kind.ERROR,
        Kind.BANNER,
        Kind.SNAPPER_ROW,
        Kind.TIMER_NAME,
    }
)


class Pattern:
    """A regular expression made of a grammar's terminals, compiled when first used: importing costs nothing."""

    def __init__(self, template: str, grammar: Grammar = GRAMMAR) -> None:
        self.template = template
        self.grammar = grammar

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The expression itself."""
        return re.compile(self.grammar.pattern(self.template))

    @cached_property
    def match(self) -> Callable[[str], re.Match[str] | None]:
        """Match at the start of a text."""
        return self.compiled.match

    @cached_property
    def fullmatch(self) -> Callable[[str], re.Match[str] | None]:
        """Match a whole text."""
        return self.compiled.fullmatch

    @cached_property
    def finditer(self) -> Callable[[str], Iterator[re.Match[str]]]:
        """All matches in a text."""
        return self.compiled.finditer

    @cached_property
    def sub(self) -> Callable[[str, str], str]:
        """A text with another in the place of each match: ``sub(replacement, text)``."""
        return self.compiled.sub

    @cached_property
    def search(self) -> Callable[[str], re.Match[str] | None]:
        """Match anywhere in a text."""
        return self.compiled.search


NUMBER: Final = Pattern("{NUMBER}", LISTS)
#: ``name : 12``, a session, a name and a figure, or a name and a figure.
MAY_BE_FIGURE: Final = Pattern("{MAY_BE_FIGURE}", LISTS)
#: Between two cells.
WIDE_GAP: Final = Pattern("{WIDE_GAP}", LISTS)


ELAPSED: Final = Pattern(
    "(?:{COMMENT})?(?P<label>{LABEL}){LABEL_COLON}{GAP}(?P<hours>{HOURS}){CLOCK_COLON}(?P<minutes>{SIXTIETHS})"
    "{CLOCK_COLON}(?P<seconds>{SECONDS})(?:{GAP})?(?:{COMMENT_END})?"
)
PROMPT: Final = Pattern(
    r"(?:(?P<time>{TIME}){GAP}(?=\S))?(?P<prompt>{PROMPT}|{GUESSED_PROMPT}(?=[ \t]*{TYPED_WORD}))[ \t]?(?P<rest>.*)"
)
CONTINUATION: Final = Pattern("[ \t]*(?:{TIME}{GAP})?(?P<number>{LINE_NUMBER})(?:[ \t*]{1,2})?(?P<rest>.*)")
ROWS: Final = Pattern("{ROWS}")
DONE: Final = Pattern("{DONE}")
BLOCK_DONE: Final = Pattern("{BLOCK_DONE}")
COMMIT_DONE: Final = Pattern("{COMMIT_DONE}")
SYMBOL_RULER: Final = Pattern("(?P<symbol>(?={SYMBOLS}).)(?P=symbol)*(?:{GAP}(?P=symbol)+)*")
#: A ruler whose columns SET COLSEP separates: the same text in each gap, and not blanks only.
SEPARATED_RULER: Final = Pattern(
    r"(?P<underline>-|_|(?={SYMBOLS}).)(?P=underline)*"
    r"(?P<separator>(?:(?!(?P=underline))[^\w\n]){1,8}|(?!(?P=underline))_)(?P=underline)+(?:(?P=separator)(?P=underline)+)*"
)
NUMBERED_LINE: Final = Pattern("[ \t]*(?:{TIME}{GAP})?{LINE_NUMBER}[ \t]+.*")
NUMBERS: Final = Pattern("{NUMBERS}")
EMPTY_LINE: Final = Pattern(r"(?:{TIME})? *{DIGITS}(?: +\.)?")
LISTED: Final = Pattern(" *(?P<number>{DIGITS})[ *] ?(?P<rest>.*)")
DIGITS: Final = Pattern("{DIGITS}")
NEARLY_ELAPSED: Final = Pattern("{NEARLY_ELAPSED}")
CRAMMED: Final = Pattern("{CRAMMED}")
DOTS: Final = Pattern("{DOTS}")
STATISTIC: Final = Pattern("(?P<count>{COUNT}){GAP}(?P<name>{AUTOTRACE_NAME})(?:{GAP}{REMARK})?")
SESSION_STATISTIC: Final = Pattern("(?P<count>{COUNT})[ ]{2}(?P<name>{STATISTIC_NAME})")
SQL_ID: Final = Pattern("{SQL_ID}(?P<sql_id>{SQL_ID_VALUE})(?:{CHILD_NUMBER}(?P<child>{CHILD}))?")
SQL_ID_ALONE: Final = Pattern("{SQL_ID_ALONE}")
PLAN_HASH: Final = Pattern("{PLAN_HASH}(?P<hash>{DIGITS})")
OLD_PLAN_ROW: Final = Pattern("(?P<id>{DIGITS})(?:{GAP}(?P<parent>{DIGITS}))?(?P<gap>{GAP})(?P<operation>{OPERATION})")
TYPED_STATISTIC: Final = Pattern(
    "(?P<type>{STATISTIC_TYPE}){WIDE_GAP}(?P<name>{STATISTIC_TEXT}){WIDE_GAP}(?P<raw>{FIGURE})"
)
SNAPPER_END: Final = Pattern(
    "{SNAPPER_END}(?P<end>{SNAPPER_TIME}){SNAPPER_SECONDS}(?P<seconds>{DECIMAL})(?:{SNAPPER_REST})?"
)
_SNAPPER_END_START: Final = Pattern("{SNAPPER_END}")
_SNAPPER_ROW: Final = Pattern("{DIGITS}(?:{GAP}{INSTANCE})?{COMMA}(?:{FIELD}{COMMA})?{SNAPPER_TYPE}{COMMA}")
#: The kinds that a word at the start of a line announces; each group is the name of one.
_WORDS: Final = Pattern(
    "(?P<STATISTICS_HEADING>{STATISTICS_HEADING})|(?P<PLAN_HEADING>{PLAN_HEADING})|(?P<PLAN_HASH>{PLAN_HASH}{DIGITS})"
    "|(?P<SQL_ID>{SQL_ID}{SQL_ID_VALUE}.*)|(?P<PLAN_TABLE>{PLAN_TABLE})|(?P<PLAN_SECTION>{PLAN_SECTION})"
    "|(?P<BANNER>{BANNER}.*)|(?P<SUBSTITUTION>{OLD_OR_NEW}{LINE_COLON}.*)|(?P<TRACE>{TRACE}.*)|(?P<ERROR>{ERROR}.*)"
)
_TIMER_NAME: Final = Pattern("{TIMER_NAME}")
_RULER: Final = Pattern("{RULER}")
_ELISION: Final = Pattern("{ELISION}")
_TAG: Final = Pattern("{TAG}")

MOST_NUMBERED: Final = 1000
#: How the lines of a statement begin that SQL*Plus numbers.
NUMBERED: Final = tuple(f"{number:>3}  " for number in range(MOST_NUMBERED))
#: Last characters of a statistic of autotrace (but for one with a remark), of a clock (the line may end a comment), and
#: of a feedback (not each ends with a full stop): quicker looked at than a pattern.
_LAST_OF_STATISTIC: Final = frozenset("setd)")
_LAST_OF_CLOCK: Final = frozenset("0123456789/")
_STOPS: Final = frozenset(".。")
_LAST_OF_FEEDBACK: Final = frozenset("dtaseо行됨取다ы") | _STOPS
_MAY_BE_FEEDBACK: Final = frozenset({Kind.TEXT, Kind.ERROR})
#: What SQL Developer prints where SQL*Plus ends its sentence with a full stop.
_DONE_WITHOUT_STOP: Final = "anonymous block completed"
#: A feedback is shorter than this.
_LONGEST_FEEDBACK: Final = 120


def classify(line: str) -> int:
    """What a line, without the blanks around it, is by itself.

    Examples:
        >>> classify("Elapsed: 00:00:00.73") == Kind.ELAPSED, classify("Elapsed:   15.02 (mins)") == Kind.TEXT
        (True, True)
        >>> classify("7239  physical reads") == Kind.STATISTIC, classify("14 Zeilen ausgewählt.") == Kind.FEEDBACK
        (True, True)
    """
    if not line:
        return Kind.BLANK
    return _BY_FIRST.get(line[0], _classify_words)(line)


def kinds_of(lines: list[str]) -> bytearray:
    """The kind of each line, one byte a line: a regular expression finds runs of kinds in them (`runs_of`).

    Examples:
        >>> kinds_of(["", " Elapsed: 00:00:00.73"]) == bytes([Kind.BLANK, Kind.ELAPSED])
        True
    """
    return bytearray(map(_Kinds().__getitem__, lines))


class _Kinds(dict[str, int]):
    """The kind of each distinct line of a text: most lines of a session are blank, or as another is."""

    def __missing__(self, line: str) -> int:
        bare = line.strip()
        kind = _BY_FIRST.get(bare[0], _classify_words)(bare) if bare else Kind.BLANK
        self[line] = kind
        return kind


def runs_of(*kinds: int) -> Callable[[bytearray, int], re.Match[bytes]]:
    """A function that matches the lines of some kinds, perhaps none, from a line on.

    Examples:
        >>> blanks = runs_of(Kind.BLANK)
        >>> blanks(kinds_of(["a", "", "", "b"]), 1).end()
        3
    """
    return cast("Callable[[bytearray, int], re.Match[bytes]]", re.compile(b"[" + re.escape(bytes(kinds)) + b"]*").match)


def without_numbers(typed: str) -> str | None:
    """What stands after the numbers of lines that were not echoed, which begin with 2; None without such numbers.

    Examples:
        >>> without_numbers("  2    3  Run 1: 590 hsecs"), without_numbers("  2    3"), without_numbers("2 rows")
        ('Run 1: 590 hsecs', '', None)
        >>> without_numbers("  2    3         14")
        '       14'
    """
    last = 1
    while last + 1 < MOST_NUMBERED and (typed + "  ").startswith(NUMBERED[last + 1]):
        last += 1
        typed = typed[len(NUMBERED[last]) :]
    if last > 1:
        return typed.rstrip()
    return "" if NUMBERS.fullmatch(typed.strip()) else None


def _classify_bar(line: str) -> int:  # noqa: ARG001 - the bar says it all
    return Kind.PLAN_ROW


def _classify_number(line: str) -> int:
    last = line[-1]
    if (last in _LAST_OF_STATISTIC or "--" in line or "<" in line) and STATISTIC.fullmatch(line):
        return Kind.STATISTIC
    if last in _LAST_OF_FEEDBACK and _is_feedback(line):
        return Kind.FEEDBACK
    if line.count(",") > 1 and _SNAPPER_ROW.match(line):
        return Kind.SNAPPER_ROW
    return Kind.PROMPT if (">" in line or "#" in line) and PROMPT.match(line) else Kind.TEXT


def _classify_dashes(line: str) -> int:
    if _RULER.fullmatch(line):
        return Kind.RULER
    is_comment = line.startswith("--") and line[2:3] != "-"
    if (is_comment or line[0] == "_") and ":" in line and ELAPSED.fullmatch(line):
        return Kind.ELAPSED
    if is_comment:
        return Kind.SNAPPER_END if _SNAPPER_END_START.match(line) else Kind.COMMENT
    return Kind.TEXT


def _classify_s(line: str) -> int:
    """A line that begins as the usual prompt does; one that ends with a digit may be a clock."""
    if line.startswith("SQL>") and line[-1] not in _LAST_OF_CLOCK:
        return Kind.PROMPT
    return _classify_words(line)


def _classify_stars(line: str) -> int:
    return Kind.RULER if _RULER.fullmatch(line) else _classify_words(line)


def _classify_fence(line: str) -> int:
    return Kind.FENCE if line.startswith(("```", "~~~", *SECTION_MARKS)) else _classify_words(line)


def _classify_elision(line: str) -> int:
    if line[0] == "<" and _TAG.fullmatch(line):
        return Kind.FENCE
    return Kind.ELISION if _ELISION.fullmatch(line) else _classify_words(line)


@lru_cache(maxsize=1 << 14)
def _classify_words(line: str) -> int:
    """A line that starts with neither a number nor a dash."""
    last = line[-1]
    has_colon = ":" in line
    if has_colon and last in _LAST_OF_CLOCK and ELAPSED.fullmatch(line):
        return Kind.ELAPSED
    if (">" in line or "#" in line) and PROMPT.match(line):
        return Kind.PROMPT
    found = _WORDS.fullmatch(line)
    kind = Kind.TEXT if found is None else KINDS[found.lastgroup or "TEXT"]
    if kind in _MAY_BE_FEEDBACK:
        if last in _LAST_OF_FEEDBACK and _is_feedback(line):
            return Kind.FEEDBACK
        if kind == Kind.TEXT and (has_colon or last == "。") and _TIMER_NAME.fullmatch(line):
            return Kind.TIMER_NAME
    return kind


def _is_feedback(line: str) -> bool:
    """Does a line whose last character is that of a feedback say what was done?"""
    if len(line) >= _LONGEST_FEEDBACK:
        return False
    if line[-1] in _STOPS:
        return (ROWS.fullmatch(line) or DONE.fullmatch(line)) is not None
    return "  " not in line and (ROWS.fullmatch(line) is not None or line == _DONE_WITHOUT_STOP)


#: What classifies a line, by its first character; words do where none stands here.
_BY_FIRST: Final[dict[str, Callable[[str], int]]] = {
    "|": _classify_bar,
    **dict.fromkeys("0123456789#", _classify_number),
    **dict.fromkeys("-_", _classify_dashes),
    "*": _classify_stars,
    "S": _classify_s,
    **dict.fromkeys("`~", _classify_fence),
    **dict.fromkeys(".[<…", _classify_elision),
}
