"""The grammar of one line of a trace, and the cleanup of pasted traces by it.

Which lines are a trace's is known here, what may precede them in `logframe.normalize`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from logframe import load_grammar
from logframe.line_cleanup import LineCleanup, find_cleanup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from logframe.classify import Classifier


#: ``trace.lark``: lines as a whole (`line`), regular lines (`whole`), what is sought within a line (`part`), and what
#: listings add (`listing`).
GRAMMAR = load_grammar("sqltraceparse", "trace.lark", "line", "whole", "part", "listing")


@cache
def record_start() -> re.Pattern[str]:
    """What a record of a trace starts with."""
    return re.compile(GRAMMAR.pattern("{RECORD_START}"))


#: Terminals of what an editor or grep puts before each line.
_PREFIXES: Final = ("EDITOR_TWO_BLANKS", "EDITOR_BLANK", "GREP_PREFIX")
#: Terminals of lines that are whole and of a trace alone.
_WHOLE: Final = (
    *("WAIT_LINE", "CALL_LINE", "CLOSE_LINE", "LOB_LINE", "TRANSACTION_LINE", "STAT_LINE", "PARSING_LINE"),
    *("PARSE_ERROR_LINE", "ERROR_LINE", "END_OF_STATEMENT", "BINDS", "BIND", "STAMP_LINE", "ATTRIBUTE", "RULE"),
)


def cleanup_of(lines: Sequence[str]) -> LineCleanup:
    """What was added to most of the sampled lines of a trace.

    Examples:
        >>> found = cleanup_of(["> END OF STMT  ", "> BINDS #3:  "])
        >>> found.cleaned("> BINDS #5:  ")
        'BINDS #5:'
    """
    records = [line for line in lines if record_start().search(line)]
    return find_cleanup(records or lines, _count_whole, [GRAMMAR.terminals[name] for name in _PREFIXES])


def _count_whole(lines: list[str]) -> int:
    return len(lines) - _whole().tags_of(lines).count(0)


@cache
def _whole() -> Classifier:
    return GRAMMAR.classifier({name: f"{{{name}}}" for name in _WHOLE})
