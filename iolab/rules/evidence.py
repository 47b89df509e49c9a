"""A trace beside a report or a session: do they belong together?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.comparison.report_and_trace import why_apart, why_unknown
from iolab.evidence.alignment import align_trace
from iolab.metrics.formatting import count_text
from iolab.metrics.trace_facts import COMMAND
from iolab.rules.finding import Evidence, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awrparse import AwrReport
    from sqlplusparse import Spool
    from straceparse import StraceLog

#: Quantities that a session counts for itself, the most telling first.
_COUNTED: Final = ("blocks", "requests", "bytes")


def report_and_trace(first: tuple[str, AwrReport], second: tuple[str, StraceLog]) -> Iterator[Finding]:
    """A gate where a trace is of another system or time than a report; refused where times are missing.

    Examples:
        >>> import awrparse, iolab
        >>> trace = iolab.load(b"     0.000123 pread64(268, '', 8192, 0) = 8192")
        >>> lines = ("Top 10 Foreground Events by Total Wait Time", "",
        ...     "Event                            Waits Time (sec)  Avg(ms)  time    Class",
        ...     "------------------------------ ------- ---------- -------- ----- --------",
        ...     "log file sync                      100       11.1   111.00  50.0 Commit")
        >>> report = iolab.load(chr(10).join(lines).encode())
        >>> for one in report_and_trace(("awr.txt", report), ("x.strace", trace)): print(one.sentence)
        awr.txt and x.strace may be of different times: at least one of them has no date.
    """
    if second[1].kind != "strace":
        return
    names = (first[0], second[0])
    calls = second[1].calls.collect()
    apart = why_apart(first[1], calls, names)
    if apart:
        yield Finding(
            "evidence_mismatch",
            f"{apart}: the two logs do not belong together.",
            evidence=(Evidence("info"),),
            is_gate=True,
        )
    elif why_unknown(first[1], calls, names):
        yield Finding(
            "evidence_mismatch",
            f"{names[0]} and {names[1]} may be of different times: at least one of them has no date.",
            next=f"`{COMMAND}` within the period of a report",
            is_refused=True,
        )


def session_and_trace(first: tuple[str, Spool], second: tuple[str, StraceLog]) -> Iterator[Finding]:
    """Do a session and a trace count the same reads?  A gate where they do not."""
    if second[1].kind != "strace":
        return
    requests = second[1].requests.collect()
    try:
        aligned = align_trace(first[1], requests)
    except LookupError:
        return
    known = aligned.filter(pl.col("quantity").is_in(_COUNTED) & (pl.col("trace") > 0) & (pl.col("database") > 0))
    for row in known.sort(pl.col("quantity").cast(pl.Enum(_COUNTED))).head(1).iter_rows(named=True):
        unit = "byte" if row["unit"] == "B" else str(row["unit"]).removesuffix("s")
        counted, traced = count_text(row["database"], unit), f"{row['trace']:,.0f}"
        evidence = (Evidence("statistics"), Evidence("requests"))
        if row["verdict"] == "agrees":
            yield Finding(
                "evidence_agrees",
                f"The session counted {counted} (`{row['database_basis']}`), the strace log {traced}: they may be of "
                "one execution.",
                evidence=evidence,
                order=3,
            )
        else:
            yield Finding(
                "evidence_mismatch",
                f"The session counted {counted} (`{row['database_basis']}`), the strace log {traced}: figures of one "
                "are not used for the other.",
                detail=str(row["explanation"]),
                evidence=evidence,
                is_gate=True,
            )
