"""Recognition: whether a log holds samples of the operating system, by lines that only such tools print."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final

from hostparse.tools import TOOLS
from logframe import load_grammar
from logframe.copied import cleanup_by_sign
from logframe.line_cleanup import shared_indent
from logframe.normalize import without_terminal_codes

if TYPE_CHECKING:
    from logframe.line_cleanup import LineCleanup

SNIFF: Final = load_grammar("hostparse", "sniff.lark", "start")

#: Terminals of ``sniff.lark`` -> what they show: of forms that several tools print, and of the tools.
_SIGNS: Final = {
    "SADF": "the output of sadf",
    "XML": "the XML of sadf",
    "TIMED": "samples of the processors with times",
    "JSON": "the JSON of a sysstat tool",
    "OPENING": "a file of OSWatcher or ExaWatcher",
    "BANNER": "the output of a sysstat tool or of sar",
    **{terminal: what for tool in TOOLS.values() for terminal, what in tool.signs.items()},
}


#: An addition is looked for in this many lines.
_CLEANED: Final = 120


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(f"(?:{'|'.join(f'(?P<{name}>{SNIFF.terminals[name]})' for name in _SIGNS)})$")


def cleanup_of(lines: list[str]) -> LineCleanup:
    r"""What other programs added to every line of a log: quotes of a mail, a prefix, an indent.

    Examples:
        >>> cleanup_of(["> 13:05:00  CPU  %usr  %idle", "> 13:05:03  all  1.73  95.95"]).cleaned("> 13:05:06  all")
        '13:05:06  all'
        >>> cleanup_of(["    Linux 4.18.0 (db1) 	02/19/24", "", "    Device  r/s"]).cleaned("    sda  1.5")
        'sda  1.5'
        >>> cleanup_of(["\tLinux 4.18.0 (db1) \t02/19/24", "", "\tDevice  r/s"]).cleaned("\tsda  1.5")
        'sda  1.5'
    """
    plain = [without_terminal_codes(line) for line in lines[:_CLEANED]]
    found = cleanup_by_sign(plain, sign_in)
    written = [line for line in plain if line.strip()]
    if found.prefix or not written:
        return found
    # rows may begin with blanks: an indent shows where a line that no tool indents has it
    margin = shared_indent(written)
    if margin and any(_first_line().match(line.removeprefix(margin).rstrip()) for line in written):
        return replace(found, prefix=margin)
    return found


def is_timed_table(line: str) -> bool:
    """Whether a line is the heading of the processors' parts after a word for the time of each row."""
    return re.fullmatch(SNIFF.terminals["TIMED"], line) is not None


@cache
def _first_line() -> re.Pattern[str]:
    names = ("BANNER", "OPENING", "NMON", "SADF", "CONFIGURATION")
    return re.compile("|".join(f"(?:{SNIFF.terminals[name]})" for name in names))


def sign_in(lines: list[str]) -> tuple[int, str] | None:
    """The first line that only such a tool prints, counted from 1, and what it shows.

    Examples:
        >>> sign_in(["", "procs -----------memory---------- ---swap-- -----io----"])
        (2, 'the output of vmstat')
        >>> sign_in(["SQL> select * from dual;"]) is None
        True
    """
    match = _pattern().match
    for number, line in enumerate(lines, 1):
        if found := match(without_terminal_codes(line).rstrip()):
            return number, _SIGNS[str(found.lastgroup)]
    return None
