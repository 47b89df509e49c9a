"""`load`: whatever kind of log this is, by its content."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import awrparse
import sqlplusparse
import straceparse
from iolab.sources import MIN_SHARE, is_one_run, source_of
from logframe import LogParseError, open_logs

if TYPE_CHECKING:
    import polars as pl

    from logframe import Log, Source

#: So much of a log is looked at.
_HEAD: Final = 1 << 16

_REPORT: Final = re.compile(
    r"WORKLOAD REPOSITORY|STATSPACK report for|AWR (?:RAC |Compare Period )?Report|ASH Report|ADDM Report",
    re.IGNORECASE,
)
_SESSION: Final = re.compile(r"^(?:SQL> |Elapsed: \d|Statistics\s*$|SQL\*Plus: Release|SQLcl: Release)", re.MULTILINE)
#: The heading of the table of ``strace -c``; ``-U`` chooses its columns and their order.
_SUMMARY: Final = re.compile(r"^(?=.*(?:% time|calls|seconds))(?=.*\bsyscall\b)[ a-z0-9%/,.()-]+$", re.MULTILINE)
_OTHERS: Final = (
    (re.compile(r"^TKPROF: Release", re.MULTILINE), "a TKPROF report"),
    (re.compile(r"^(?:PARSING IN CURSOR #|WAIT #|EXEC #)", re.MULTILINE), "an extended SQL trace (event 10046)"),
    (re.compile(r"^(?:Trace file |\*\*\* SESSION ID)", re.MULTILINE), "a trace file of the database"),
    (
        re.compile(r"^\s*\S+`\S+\s+\d+\s*$", re.MULTILINE),
        "a dtrace profile; `read_profile` of iolab.metrics.cpu_profile reads it",
    ),
    (re.compile(r"^\s*[{\[]"), "JSON"),
)
EXPECTED: Final = "an AWR or Statspack report, a SQL*Plus or SQLcl session, or an strace log"


def load(source: Source) -> awrparse.AwrReport | sqlplusparse.Spool | pl.DataFrame:
    r"""The log, read by the reader of its kind: content decides, never the name.

    Args:
        source: a path, a glob, bytes, a file object or an uploaded file, compressed or not.  Several files are read
            when they are of one run of ``strace -ff``, which names them so: ``trace.4711``, ``trace.4712``.

    Returns:
        * an AWR, Statspack or ASH report, or tables copied out of one: an `awrparse.AwrReport` with printed bounds
        * a SQL*Plus or SQLcl session: an `sqlplusparse.Spool` with printed bounds
        * an strace log: the events, as `straceparse.read_strace` gives them
        * the table of ``strace -c``: as `straceparse.read_summary` gives it

    Raises:
        LogNotFoundError: nothing is at the path.
        LogParseError: the log is empty, binary, or of no kind that is read; it says what was found and what to try.

    Examples:
        >>> load(b"     0.000123 pread64(268, '', 8192, 0) = 8192\n").item(0, "syscall")
        'pread64'
        >>> load(b"SQL> select 1 from dual;\n\nElapsed: 00:00:00.01\n").statements.item(0, "elapsed_s")
        0.01
    """
    logs = open_logs(source)
    if len(logs) > 1:
        return _load_several(logs)
    log = logs[0]
    reopened = source_of(log)
    text = _head(log)
    kind = _kind_of(log, text)
    if kind == "summary":
        return straceparse.read_summary(reopened)
    if kind == "strace":
        return straceparse.read_strace(reopened)
    readers = (_read_awr, _read_spool) if kind == "report" else (_read_spool, _read_awr)
    if kind is None:
        readers = (_read_awr, _read_spool)
    for read in readers:
        try:
            return read(reopened)
        except LogParseError:
            continue
    raise _unknown(log, text)


def _read_awr(source: Source) -> awrparse.AwrReport:
    return awrparse.read_awr(source, printed=True)


def _read_spool(source: Source) -> sqlplusparse.Spool:
    return sqlplusparse.read_spool(source, printed=True)


def _load_several(logs: list[Log]) -> pl.DataFrame:
    kinds = {_kind_of(log, _head(log)) for log in logs}
    if kinds == {"strace"} and is_one_run(logs):
        return straceparse.read_strace([source_of(log) for log in logs])
    named = f"{len(logs)} logs ({', '.join(log.name for log in logs[:3])}{', ...' if len(logs) > 3 else ''})"
    if kinds == {"strace"}:
        raise LogParseError(
            f"{named} of different runs of strace: read as one, their times would be mixed",
            source=logs[0].name,
            expected="one log, or the files of one run as strace -ff names them; load several one by one, or take "
            "straceparse.read_strace",
        )
    raise LogParseError(
        f"{named}, not all of them strace's",
        source=logs[0].name,
        expected="one log; load several one by one, or awrparse.read_awrs, sqlplusparse.read_spools",
    )


def _head(log: Log) -> str:
    text = "\n".join(log.head(_HEAD)) or "\n".join(log.lines())[:_HEAD]
    if not text.strip():
        raise LogParseError("the file is empty", source=log.name, expected=EXPECTED)
    if "\x00" in text[:4096]:
        raise LogParseError("binary data, not a log", source=log.name, expected=EXPECTED)
    return text


def _kind_of(log: Log, text: str) -> str | None:
    """`report`, `session`, `strace`, `summary`; None where no sign decides."""
    if _SESSION.search(text):
        return "session"
    if _REPORT.search(text):
        return "report"
    dialect = straceparse.dialect(source_of(log))
    if dialect.share >= MIN_SHARE or dialect.has_stacks or dialect.has_dumps:
        return "strace"
    if _SUMMARY.search(text):
        return "summary"
    return None


def _unknown(log: Log, text: str) -> LogParseError:
    """The error for a log that no reader takes."""
    signs = ((hit.end(), what) for sign, what in _OTHERS if (hit := sign.search(text)) is not None)
    end, found = next(signs, (len(text) - len(text.lstrip()), "no log of a known kind"))
    line = text.count("\n", 0, end) + 1
    shown = text.split("\n")[line - 1][:200]
    return LogParseError(f"this is {found}", source=log.name, line=line, text=shown, expected=EXPECTED)
