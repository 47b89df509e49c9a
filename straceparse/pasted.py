"""What other programs do to the lines of a log: quotes of a mail, line numbers, stamps, typographic marks.

A log that came by mail, from a blog or out of syslog is still a log.  What was done to its lines is found once, in the
sampled lines, and only where more of these are strace's without it; then it is undone in every line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from straceparse.arguments import GRAMMAR
from straceparse.irregular import read_records
from straceparse.records import KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

_STAMP: Final = (
    "(?:[A-Z][a-z]{2} [ 0-9][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2}|[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}[^ ]*)"
)
#: Patterns of what may stand before each line, with a line that has it.
PREFIXES: Final = {
    "(?:> ?)+": "> close(3) = 0",  # a mail
    f"{_STAMP} [^ ]+ [^ :]+: ?": "Nov 21 18:36:01 dbhost strace[4711]: close(3) = 0",  # syslog, journalctl
    f"{_STAMP} (?:std(?:out|err) [FP] )?": "2026-11-21T18:36:01.123456Z stdout F close(3) = 0",  # containers, ts
    " *[0-9]+(?:\t|: ?)": "    12\tclose(3) = 0",  # cat -n, grep -n
}
#: Those that could also be a part of a leader: they are tried last.
LIKE_LEADERS: Final = {
    " *[0-9]+ ": "  12 09:36:52 close(3) = 0",  # an editor
    '[^ :"(<>]+:(?:[0-9]+:)?': "ora_4711.strace:12:close(3) = 0",  # grep
}
#: Characters that strace does not print, and what they were before a word processor, a wiki or a blog changed them.
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
_CHANGED = re.compile("|".join(CHANGED))
_BLANKS: Final = " \t\u00a0"

#: So many of the sampled lines are tried.
_TRIED: Final = 120
#: Kinds of lines that strace wrote, whole.
_WHOLE: Final = frozenset(KINDS) - {"cut", "continuation", "chatter", "blank", "unparsed"}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands around the lines of a log and is no part of them.

    Attributes:
        prefix: pattern of what stands before most lines.
        has_changed: some characters have become others (`CHANGED`).
        has_blanks_at_end: lines are padded with blanks.
    """

    prefix: str = ""
    has_changed: bool = False
    has_blanks_at_end: bool = False

    def removed(self, line: pl.Expr) -> pl.Expr:
        """The lines without their surroundings; the column as it is where there are none."""
        if self.prefix:
            line = line.str.replace(f"^{self.prefix}", "")
        if self.has_changed:
            line = line.str.replace_many(CHANGED)
        return line.str.strip_chars_end(_BLANKS) if self.has_blanks_at_end else line

    def bare(self, line: str) -> str:
        """One line without its surroundings."""
        if self.prefix:
            line = re.sub(f"^{self.prefix}", "", line)
        if self.has_changed:
            line = _CHANGED.sub(lambda found: CHANGED[found.group()], line)
        return line.rstrip(_BLANKS) if self.has_blanks_at_end else line


def surroundings_of(lines: Sequence[str]) -> Surroundings:
    """What stands around most of the sampled lines of a log.

    Examples:
        >>> found = surroundings_of(["> close(3) = 0  ", "> close(4) = 0  "])
        >>> found.bare("> close(5) = 0  ")
        'close(5) = 0'
    """
    written = [line for line in (line.removesuffix("\r") for line in lines) if line.strip(_BLANKS)]
    tried = written[:: max(1, len(written) // _TRIED)]
    has_changed = any(map(_CHANGED.search, tried))
    ends = 2 * sum(line.endswith(tuple(_BLANKS)) for line in tried) > len(tried)
    best = as_is = Surroundings(has_blanks_at_end=ends)
    most = _whole(tried, as_is)
    # what could be a process or a time to strace comes behind what could not
    before = () if 2 * most >= len(tried) else PREFIXES
    behind = () if 2 * most >= len(tried) else (_indent(tried), *LIKE_LEADERS)
    for prefix in (*before, "", *behind):
        having = sum(re.match(prefix, line) is not None for line in tried)
        if 2 * having <= len(tried):
            continue
        for changed in (False, True) if has_changed else (False,):
            candidate = Surroundings(prefix, changed, ends)
            whole = most if candidate == as_is else _whole(tried, candidate)
            if whole > most and (not prefix or 2 * whole >= having):
                best, most = candidate, whole
    return best


def _whole(lines: Sequence[str], around: Surroundings) -> int:
    """How many lines are strace's, and whole, without their surroundings."""
    records = read_records([around.bare(line) for line in lines])
    return sum(record.kind in _WHOLE and not _is_changed(record.args or "") for record in records)


def _is_changed(args: str) -> bool:
    """Does a character that strace does not print stand outside the strings?"""
    return _CHANGED.search(args) is not None and _CHANGED.search(_strings().sub("", args)) is not None


@cache
def _strings() -> re.Pattern[str]:
    return re.compile(GRAMMAR.pattern("{STRING}"))


def _indent(lines: Sequence[str]) -> str:
    """The blanks that all lines start with, as a pattern."""
    shortest = min((line[: len(line) - len(line.lstrip(_BLANKS))] for line in lines), key=len, default="")
    return shortest if all(line.startswith(shortest) for line in lines) else ""
