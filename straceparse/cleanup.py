"""Cleanup of pasted logs: which lines are strace's is known here, what may precede them in `logframe.normalize`."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final

from logframe import load_grammar
from logframe.line_cleanup import LineCleanup, find_cleanup, shared_indent
from logframe.normalize import has_changed_characters
from straceparse.patterns import read_records
from straceparse.records import KINDS, PARTS_GRAMMAR

if TYPE_CHECKING:
    from collections.abc import Sequence

PASTED = load_grammar("straceparse", "pasted.lark", "editor", "grep", "listing", "process")
#: Terminals of ``pasted.lark``, in the order in which they are tried.
AMBIGUOUS_PREFIXES: Final = ("EDITOR", "GREP")
#: This many of the first lines are looked at for numbers of lines, and this few of them are not enough.
_COUNTED, _FEWEST_COUNTED = 50, 3
#: A line that begins with blanks and a whole number; the width of the seconds of ``-r``.
_PROCESS: Final = re.compile(PASTED.pattern("{PROCESS}"))
_SECONDS_WIDTH: Final = 6
#: Kinds of complete lines of strace.
_WHOLE: Final = frozenset(KINDS) - {"cut", "continuation", "chatter", "blank", "unparsed"}


def cleanup_of(lines: Sequence[str]) -> LineCleanup:
    """What was added to most of the sampled lines of a log.

    Examples:
        >>> found = cleanup_of(["> close(3) = 0  ", "> close(4) = 0  "])
        >>> found.cleaned("> close(5) = 0  ")
        'close(5) = 0'
    """
    listing = PASTED.terminals["LISTING"]
    if _are_counted(lines, listing):
        found = find_cleanup([re.sub(f"^{listing}", "", line) for line in lines], _count_whole)
        return replace(found, prefix=listing + found.prefix, has_codes=False)
    if indent := _indent_of_seconds(lines):
        return LineCleanup(prefix=indent)
    found = find_cleanup(lines, _count_whole, [PASTED.terminals[name] for name in AMBIGUOUS_PREFIXES])
    # colours are removed before strings are read, by the dialect
    return replace(found, prefix=found.prefix or _added_indent(lines), has_codes=False)


def _are_counted(lines: Sequence[str], listing: str) -> bool:
    """Do the first lines begin with 1, 2, 3 and so on?  Process ids do not."""
    first = [re.match(listing, line) for line in lines[:_COUNTED]]
    return len(first) >= _FEWEST_COUNTED and all(
        one is not None and one[0].strip(" \t:") == str(number) for number, one in enumerate(first, 1)
    )


def _added_indent(lines: Sequence[str]) -> str:
    """The blanks that all lines begin with, where one is not a prefix of strace's, which begins with a number.

    Calls are read with blanks before them; notices, tables and the rest of a line are not.
    """
    printed = [line for line in lines if line.strip()]
    indent = shared_indent(printed) if printed and printed[0][:1] in " \t" else ""
    if not indent or not all(line.lstrip(" \t")[0].isdigit() for line in printed):
        return indent
    return indent if all(map(_PROCESS.match, printed)) and not _are_seconds(printed) else ""


def _indent_of_seconds(lines: Sequence[str]) -> str:
    """What stands before the six columns of the whole seconds of ``-r``."""
    printed = [line for line in lines if line.strip()]
    found = _PROCESS.match(printed[0]) if _are_seconds(printed) else None
    return printed[0][: found.end() - _SECONDS_WIDTH] if found is not None else ""


def _are_seconds(printed: Sequence[str]) -> bool:
    """Do all lines begin with a whole number that ends in one column, the first one with 0?  Processes are not 0."""
    found = _PROCESS.match(printed[0]) if printed else None
    if found is None or found[0].strip(" \t0") or found.end() < _SECONDS_WIDTH:
        return False
    return all((one := _PROCESS.match(line)) is not None and one.end() == found.end() for line in printed)


def _count_whole(lines: list[str]) -> int:
    """The number of complete lines of strace."""
    return sum(record.kind in _WHOLE and not _is_changed(record.args or "") for record in read_records(lines))


def _is_changed(args: str) -> bool:
    """Whether a character that strace does not print occurs outside the strings."""
    return has_changed_characters(args) and has_changed_characters(_strings().sub("", args))


@cache
def _strings() -> re.Pattern[str]:
    return re.compile(PARTS_GRAMMAR.pattern("{STRING}"))
