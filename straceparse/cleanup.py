"""Cleanup of pasted logs: which lines are strace's is known here, what may precede them in `logframe.normalize`."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from logframe import load_grammar
from logframe.line_cleanup import LineCleanup, find_cleanup
from logframe.normalize import has_changed_characters
from straceparse.patterns import read_records
from straceparse.records import KINDS, PARTS_GRAMMAR

if TYPE_CHECKING:
    from collections.abc import Sequence

PASTED = load_grammar("straceparse", "pasted.lark", "editor", "grep")
#: Terminals of ``pasted.lark``, in the order in which they are tried.
AMBIGUOUS_PREFIXES: Final = ("EDITOR", "GREP")
#: Kinds of complete lines of strace.
_WHOLE: Final = frozenset(KINDS) - {"cut", "continuation", "chatter", "blank", "unparsed"}


def cleanup_of(lines: Sequence[str]) -> LineCleanup:
    """What was added to most of the sampled lines of a log.

    Examples:
        >>> found = cleanup_of(["> close(3) = 0  ", "> close(4) = 0  "])
        >>> found.cleaned("> close(5) = 0  ")
        'close(5) = 0'
    """
    return find_cleanup(lines, _count_whole, [PASTED.terminals[name] for name in AMBIGUOUS_PREFIXES])


def _count_whole(lines: list[str]) -> int:
    """The number of complete lines of strace."""
    return sum(record.kind in _WHOLE and not _is_changed(record.args or "") for record in read_records(lines))


def _is_changed(args: str) -> bool:
    """Whether a character that strace does not print occurs outside the strings."""
    return has_changed_characters(args) and has_changed_characters(_strings().sub("", args))


@cache
def _strings() -> re.Pattern[str]:
    return re.compile(PARTS_GRAMMAR.pattern("{STRING}"))
