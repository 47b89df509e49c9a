"""Which logs pair up: every two of a kind that make sense, and the runs within one session."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final

import polars as pl

from awrparse import AwrReport
from iolab.comparison.report_and_trace import pair_evidence
from iolab.comparison.reports import pair_reports
from iolab.comparison.result import Pairing, UnpairedError
from iolab.comparison.sessions import pair_runs, pair_sessions
from iolab.comparison.traces import pair_traces
from sqlplusparse import Spool

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from iolab.kinds import Log

#: A page of more comparisons of one kind is read by nobody: the first log is then compared with so many others.
MOST_PAIRS: Final = 5
_KINDS: Final = {"report": "report", "session": "SQL*Plus session", "trace": "trace"}
_SUMMARY: Final = "the table of strace -c has no single calls: trace without -c"


def pair(a: Log, b: Log, *, names: tuple[str, str] = ("a", "b")) -> Pairing:
    r"""Two logs compared.

    * two AWR or Statspack reports: events and wait classes side by side, as rates (`iolab.evidence.align_reports`)
    * two SQL*Plus sessions: the runs of the statements that both have, or the statements one by one (`iolab.compare`)
    * two strace logs: rates, and the times of reads of one mode and size (`iolab.compare`)
    * a report or a session, and an strace log: what both saw of the same reads (`iolab.evidence.align_trace`)

    Args:
        a: What `iolab.load` gives.
        b: The other one.
        names: What to call them.

    Raises:
        UnpairedError: If the two have nothing in common that can be compared; the message says why.

    >>> from iolab.loading import load
    >>> log = load(b"     0.000000 pread64(268, '', 8192, 0) = 8192")
    >>> pair(log, load(b"SQL> select 1 from dual;\n\nElapsed: 00:00:00.01\n"))
    Traceback (most recent call last):
    iolab.comparison.result.UnpairedError: the session shows neither physical reads nor requests nor bytes read:
    set autotrace on, or list its statistics
    """
    for log in (a, b):
        if _kind_of(log) == "summary":
            raise UnpairedError(_SUMMARY)
    if isinstance(a, pl.DataFrame):
        if isinstance(b, pl.DataFrame):
            return pair_traces(a, b, names)
        return pair_evidence(b, a, (names[1], names[0]))
    if isinstance(b, pl.DataFrame):
        return pair_evidence(a, b, names)
    if isinstance(a, AwrReport) and isinstance(b, AwrReport):
        return pair_reports(a, b, names)
    if isinstance(a, Spool) and isinstance(b, Spool):
        return pair_sessions(a, b, names)
    said = ", ".join(f"{name} is a {_KINDS[_kind_of(log)]}" for name, log in zip(names, (a, b), strict=True))
    raise UnpairedError(f"{said}: their figures are not of the same thing")


def pair_all(logs: Mapping[str, Log]) -> Iterator[Pairing]:
    """Every pairing among logs, with those that were tried and refused.

    Of each kind the first log is compared with up to five others; each report and session with each trace, up to five
    pairs; and the repeated runs of each session with each other.

    Args:
        logs: What `iolab.load` gives, by name.

    Yields:
        Pairings; those with a ``refusal`` could not be compared, and it says why.
    """
    of_kind = {kind: [name for name, log in logs.items() if _kind_of(log) == kind] for kind in (*_KINDS, "summary")}
    for name in of_kind["session"]:
        session = logs[name]
        if isinstance(session, Spool) and (found := pair_runs(session, name)) is not None:
            yield found
    for kind in _KINDS:
        first, *others = of_kind[kind] or [""]
        for other in others[:MOST_PAIRS]:
            yield _tried(logs, first, other)
        if len(others) > MOST_PAIRS:
            left = tuple(others[MOST_PAIRS:])
            yield Pairing(left, refusal=f"the first log is compared with {MOST_PAIRS} others; these are left out")
    crossed = list(product([*of_kind["session"], *of_kind["report"]], of_kind["trace"]))
    for database, trace in crossed[:MOST_PAIRS]:
        yield _tried(logs, database, trace)
    if len(crossed) > MOST_PAIRS:
        more = f"{len(crossed) - MOST_PAIRS} more pairs"
        yield Pairing((more,), refusal=f"{MOST_PAIRS} pairs of the database and a trace are shown")
    if len(logs) > 1:
        for name in of_kind["summary"]:
            yield Pairing((name,), refusal=_SUMMARY)


def _tried(logs: Mapping[str, Log], a: str, b: str) -> Pairing:
    try:
        return pair(logs[a], logs[b], names=(a, b))
    except UnpairedError as error:
        return Pairing((a, b), refusal=str(error))


def _kind_of(log: Log) -> str:
    if isinstance(log, AwrReport):
        return "report"
    if isinstance(log, Spool):
        return "session"
    return "trace" if "kind" in log.columns else "summary"
