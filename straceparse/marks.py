"""Marks without which no line is an event of strace: what logs of other formats are known by, quickly."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from logframe.line_cleanup import LineCleanup
from straceparse.records import GRAMMAR

if TYPE_CHECKING:
    from collections.abc import Sequence

_EVENT_MARK: Final = re.compile(GRAMMAR.pattern("{EVENT_MARK}"))
_STACK_OR_DUMP_MARK: Final = re.compile(GRAMMAR.pattern("{STACK_MARK}|{DUMP}"))


def may_be_strace(lines: Sequence[str], least: float) -> bool:
    """Whether so large a share of sampled lines may be strace's, or one a stack or a dump: a cheap look for marks.

    Lines without the marks are of no such kind, however they are cleaned of what other programs added.
    """
    lines = [line for line in lines if line.strip()]
    if any("\x1b" in line for line in lines):
        return True  # colours may stand within a mark
    changed = LineCleanup(has_changed=True, has_entities=True).cleaned_lines(lines)
    return any(
        any(map(_STACK_OR_DUMP_MARK.search, texts)) or sum(map(has_event_mark, texts)) >= least * len(lines)
        for texts in ((lines,) if changed == lines else (lines, changed))
    )


def has_event_mark(line: str) -> bool:
    """Whether a line may be a call, a half of one, a signal or an end.

    Examples:
        >>> has_event_mark("12  close(3) = 0"), has_event_mark("db file sequential read    977")
        (True, False)
    """
    return _EVENT_MARK.search(line) is not None
