"""Logs that are recognised and not read: an error names the tool, and what to take in its place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NoReturn

from logframe import LogParseError, load_grammar, open_log
from logframe.copied import sign_of_copy
from logframe.formats import Format, Sniff
from logframe.normalize import without_terminal_codes

if TYPE_CHECKING:
    from logframe import Source
    from logframe.formats import Head

GRAMMAR: Final = load_grammar("hostparse", "refused.lark", "line")
_LINES: Final = 400
#: Terminal -> the score of a log with such a line, what it is, and what to take in its place.
_TOOLS: Final = {
    "PROCMON": (
        0.98,
        "a CSV of Process Monitor (Procmon)",
        "a CSV of typeperf for the disks, or an extended SQL trace",
    ),
    "LIBRARY_CALLS": (0.98, "a log of ltrace", "strace -f -T -ttt -y"),
    "LIBRARY_SUMMARY": (0.98, "a summary of ltrace (ltrace -c)", "strace -c"),
    "SADF_RAW": (0.98, "the raw counters of sadf (sadf -r)", "sadf -j of the same file"),
    "ATOP_LABELS": (0.98, "the labelled or JSON output of atop (atop -P, -J)", "atop without -P and -J"),
    "PERFMON": (0.98, "the XML of perfmon", "a CSV of it: relog -f CSV"),
}
_SIGN: Final = re.compile("|".join(f"(?P<{name}>{GRAMMAR.terminals[name]})" for name in _TOOLS))
#: A call of a library may stand in any text: this many lines of it are a log.
_LEAST_CALLS: Final = 3


def _found(lines: list[str]) -> tuple[str, int] | None:
    calls = 0
    for number, line in enumerate(lines, 1):
        match = _SIGN.fullmatch(without_terminal_codes(line).strip())
        if match is None or match.lastgroup is None:
            continue
        calls += match.lastgroup == "LIBRARY_CALLS"
        if match.lastgroup != "LIBRARY_CALLS" or calls == _LEAST_CALLS:
            return match.lastgroup, number
    return None


def sniff(head: Head) -> Sniff | None:
    """Whether a log is of one of these tools."""
    found = sign_of_copy(head.text.split("\n")[:_LINES], _found)
    if found is None:
        return None
    score, what, instead = _TOOLS[found[0]]
    return Sniff(score, what, line=found[1], is_refused=True, instead=instead)


def read(source: Source) -> NoReturn:
    r"""Refuse the log by its name.

    Raises:
        LogParseError: always.

    Examples:
        >>> from logframe import LogParseError
        >>> try: read(b"RESET\n")
        ... except LogParseError as error: print(str(error).split(": ", 1)[1])
        this is the labelled or JSON output of atop (atop -P, -J), which is not read
          expected: atop without -P and -J
    """
    log = open_log(source)
    found = sign_of_copy(log.lines()[:_LINES], _found)
    what, instead = _TOOLS[found[0]][1:] if found else ("not a log of a known kind", "the output of another tool")
    raise LogParseError(f"this is {what}, which is not read", source=log.name, expected=instead)


FORMAT: Final = Format(name="refused", title="a log that is refused by its name", sniff=sniff, read=read)
