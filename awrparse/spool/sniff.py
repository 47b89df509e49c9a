"""What a log is when it is no session: said by name, with the reader that takes it."""

from __future__ import annotations

import re
from typing import Final

_SIGNS: Final = (
    (
        re.compile(r"^TKPROF: Release", re.MULTILINE),
        "a TKPROF report",
        "a SQL*Plus or SQLcl session; TKPROF reports are not read",
    ),
    (
        re.compile(
            r"^WORKLOAD REPOSITORY|<title>AWR|^STATSPACK report for|^\s*STATSPACK report", re.MULTILINE | re.IGNORECASE
        ),
        "an AWR or Statspack report",
        "a SQL*Plus or SQLcl session; read_awr reads reports",
    ),
    (
        re.compile(r"^(?:PARSING IN CURSOR #|WAIT #|EXEC #|FETCH #|PARSE #)", re.MULTILINE),
        "an extended SQL trace (event 10046)",
        "a SQL*Plus or SQLcl session; SQL traces are not read",
    ),
    (
        re.compile(r"^(?:Trace file |Dump file |\*\*\* (?:SESSION ID|SERVICE NAME|ACTION NAME))", re.MULTILINE),
        "a trace file of the database",
        "a SQL*Plus or SQLcl session; trace files are not read",
    ),
    (
        re.compile(r"^(?:\[?pid +\d+\]? )?(?:[\d:.]+ +)?(?:pread64|read|openat|io_submit)\(", re.MULTILINE),
        "an strace log",
        "a SQL*Plus or SQLcl session; straceparse reads strace logs",
    ),
)
#: Signs are looked for in this much text.
_HEAD: Final = 1 << 16
_CONTROL: Final = re.compile(r"[\x00-\x06\x0e-\x1a\x1c-\x1f\ufffd]")


def other_format(text: str) -> tuple[str, str] | None:
    """What a text is when it is another kind of log, and what to do with it; None when nothing says so.

    Examples:
        >>> other_format("PARSING IN CURSOR #2 len=20")
        ('an extended SQL trace (event 10046)', 'a SQL*Plus or SQLcl session; SQL traces are not read')
    """
    head = text[:_HEAD]
    return next(((what, hint) for sign, what, hint in _SIGNS if sign.search(head)), None)


def is_binary(text: str) -> bool:
    """Is this no text: are more than a few of its characters control characters?"""
    head = text[:_HEAD]
    return len(_CONTROL.findall(head)) > 0.02 * max(len(head), 1)
