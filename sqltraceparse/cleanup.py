"""Cleanup of pasted traces: which lines are a trace's is known here, what may precede them in `logframe.normalize`."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from logframe.line_cleanup import LineCleanup, find_cleanup
from sqltraceparse.grammar import GRAMMAR, record_start

if TYPE_CHECKING:
    from collections.abc import Sequence

    from logframe.classify import Classifier

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
