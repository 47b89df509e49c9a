"""Cleanup of pasted logs: mail quotes, line numbers, timestamps of other programs, typographic quotes.

What was added to the lines is detected once, in the sampled lines: a cleanup is used only if more of them are lines of
strace with it than without it.  Then it is applied to every line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from logframe import load_grammar
from straceparse.patterns import read_records
from straceparse.records import KINDS, PARTS_GRAMMAR

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

PASTED = load_grammar("straceparse", "pasted.lark", "mail", "syslog", "container", "line_number", "editor", "grep")
#: Terminals of ``pasted.lark``: what other programs put before each line, in the order in which they are tried.
PASTED_PREFIXES: Final = ("MAIL", "SYSLOG", "CONTAINER", "LINE_NUMBER")
#: Those that may also be a part of strace's own prefix: they are tried last.
AMBIGUOUS_PREFIXES: Final = ("EDITOR", "GREP")
#: Characters that strace does not print -> what they were before a word processor, a wiki or a blog changed them.
CHANGED: Final = {
    "\t": " ",
    "\u00a0": " ",
    "\u201c": '"',
    "\u201d": '"',
    "\u201e": '"',
    "\u2033": '"',
    "\u2026": "...",
    "&lt;": "<",
    "&gt;": ">",
    "&quot;": '"',
    "&amp;": "&",
}
_BLANKS: Final = " \t\u00a0"

#: Number of sampled lines that a candidate is tried on.
_TRIED: Final = 120
#: Kinds of complete lines of strace.
_WHOLE: Final = frozenset(KINDS) - {"cut", "continuation", "chatter", "blank", "unparsed"}


@dataclass(frozen=True, slots=True)
class LineCleanup:
    """What other programs added to the lines of a log.

    Attributes:
        prefix: pattern of what precedes most lines.
        has_changed: some characters were replaced (`CHANGED`).
        has_blanks_at_end: lines are padded with blanks.
    """

    prefix: str = ""
    has_changed: bool = False
    has_blanks_at_end: bool = False

    def apply(self, line: pl.Expr) -> pl.Expr:
        """The lines as strace wrote them; the same expression where nothing was added."""
        if self.prefix:
            line = line.str.replace(f"^{self.prefix}", "")
        if self.has_changed:
            line = line.str.replace_many(CHANGED)
        return line.str.strip_chars_end(_BLANKS) if self.has_blanks_at_end else line

    def cleaned(self, line: str) -> str:
        """One line as strace wrote it."""
        if self.prefix:
            line = re.sub(f"^{self.prefix}", "", line)
        if self.has_changed:
            for changed, original in CHANGED.items():
                line = line.replace(changed, original)
        return line.rstrip(_BLANKS) if self.has_blanks_at_end else line


def cleanup_of(lines: Sequence[str]) -> LineCleanup:
    """What was added to most of the sampled lines of a log.

    Examples:
        >>> found = cleanup_of(["> close(3) = 0  ", "> close(4) = 0  "])
        >>> found.cleaned("> close(5) = 0  ")
        'close(5) = 0'
    """
    written = [line for line in (line.removesuffix("\r") for line in lines) if line.strip(_BLANKS)]
    tried = written[:: max(1, len(written) // _TRIED)]
    has_changed = any(map(_has_changed, tried))
    ends = 2 * sum(line.endswith(tuple(_BLANKS)) for line in tried) > len(tried)
    best = as_is = LineCleanup(has_blanks_at_end=ends)
    most = _whole(tried, as_is)
    # prefixes that may be a process or a time of strace are tried after the others
    early, late = (
        ((), ())
        if 2 * most >= len(tried)
        else ([PASTED.terminals[name] for name in names] for names in (PASTED_PREFIXES, AMBIGUOUS_PREFIXES))
    )
    for prefix in (*early, "", *([_indent(tried)] if late else ()), *late):
        having = sum(re.match(prefix, line) is not None for line in tried)
        if 2 * having <= len(tried):
            continue
        for changed in (False, True) if has_changed else (False,):
            candidate = LineCleanup(prefix, changed, ends)
            whole = most if candidate == as_is else _whole(tried, candidate)
            if whole > most and (not prefix or 2 * whole >= having):
                best, most = candidate, whole
    return best


def _whole(lines: Sequence[str], cleanup: LineCleanup) -> int:
    """The number of complete lines of strace after the cleanup."""
    records = read_records([cleanup.cleaned(line) for line in lines])
    return sum(record.kind in _WHOLE and not _is_changed(record.args or "") for record in records)


def _is_changed(args: str) -> bool:
    """Whether a character that strace does not print occurs outside the strings."""
    return _has_changed(args) and _has_changed(_strings().sub("", args))


def _has_changed(text: str) -> bool:
    return any(changed in text for changed in CHANGED)


@cache
def _strings() -> re.Pattern[str]:
    return re.compile(PARTS_GRAMMAR.pattern("{STRING}"))


def _indent(lines: Sequence[str]) -> str:
    """The blanks that all lines start with, as a pattern."""
    shortest = min((line[: len(line) - len(line.lstrip(_BLANKS))] for line in lines), key=len, default="")
    return shortest if all(line.startswith(shortest) for line in lines) else ""
