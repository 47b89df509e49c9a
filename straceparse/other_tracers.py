"""Logs of truss, tusc and dtruss, which are refused: read as strace's, their times would mean something else."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from logframe import load_grammar

if TYPE_CHECKING:
    from collections.abc import Sequence

GRAMMAR: Final = load_grammar("straceparse", "other_tracers.lark", "line")

_NAMES: Final = {
    "DTRUSS": "dtruss (DTrace)",
    "TRUSS": "truss (Solaris)",
    "AIX_TRUSS": "truss (AIX)",
    "TUSC": "tusc (HP-UX)",
}
_PATTERN: Final = re.compile(f"(?:{'|'.join(f'(?P<{name}>{GRAMMAR.terminals[name]})' for name in _NAMES)})$")
#: A line alone may be quoted in another log.
_FEWEST: Final = 2


def other_tracer(lines: Sequence[str]) -> tuple[str, int] | None:
    """The tracer that printed most of the calls in some lines, where it is not strace, and its first line, from 1.

    Examples:
        >>> other_tracer(["/1:  read(8, 0x1234, 512)   Err#4 EINTR", "/1:  read(8, 0x1234, 512)   = 512"])
        ('truss (Solaris)', 1)
        >>> other_tracer(["0.000123 read(8, ''..., 512) = 512", "0.000123 read(8, ''..., 512) = 512"]) is None
        True
    """
    found: Counter[str] = Counter()
    first: dict[str, int] = {}
    calls = 0
    for number, line in enumerate(lines, 1):
        text = line.rstrip()
        calls += "(" in text and ")" in text
        if (match := _PATTERN.match(text)) is not None:
            name = _NAMES[str(match.lastgroup)]
            found[name] += 1
            first.setdefault(name, number)
    if not found:
        return None
    name, count = found.most_common(1)[0]
    return (name, first[name]) if count >= _FEWEST and 2 * found.total() > calls else None
