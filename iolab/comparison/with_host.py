"""The operating system beside a database or a process: what both saw of the same bytes and requests."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.comparison.result import Pairing
from iolab.evidence.host_alignment import align_host
from iolab.evidence.trace_on_host import align_trace_with_host

if TYPE_CHECKING:
    from collections.abc import Mapping

    from awrparse import AwrReport
    from hostparse import HostLog
    from iolab.comparison.result import Options
    from sqltraceparse import SqlTrace
    from straceparse import StraceLog

#: What a verdict of `align_host` is in a sentence.
_SAID: Final = {
    "agrees": "the host saw what the database counted",
    "more": "the host saw more than the database counted: other programs did I/O too, or the clocks differ",
    "less": "the host saw less than the database counted: a cache of the file system, a network file system, or clocks "
    "that differ",
    "missing": "the devices that served the database are not in the log: it does not show its storage",
    "part": "the samples cover a part of the report's time only; no total is taken from them",
    "possible": "the devices of the log did at least as much",
    "unknown": "the log has no times, so it is not known whether it is of the report's period; record it with times",
}


def pair_host_and_report(log: HostLog, report: AwrReport, names: tuple[str, str], _: Options) -> Pairing:
    """What samples of the operating system saw, beside what a report counted.

    Raises:
        RefusedError: The log is of another host or time, or the two have no figure in common.
    """
    aligned = align_host(report, log)
    said = _in_words(aligned, {verdict: f"{text}{_most(aligned, verdict)}" for verdict, text in _SAID.items()})
    if log.clock is not None and log.clock.why:
        said.append(f"The log has no times; assumed: {log.clock.why}.")
    why = "the samples are of the whole host, the report counts one instance; the clocks are taken to be the same"
    return Pairing(names, why, tuple(said), {"Host and database": aligned})


def pair_host_and_trace(log: HostLog, trace: StraceLog | SqlTrace, names: tuple[str, str], _: Options) -> Pairing:
    """What samples of the operating system saw, beside what a traced process asked for.

    Raises:
        RefusedError: The clocks cannot be placed beside each other, or the two have no figure in common.
    """
    aligned = align_trace_with_host(trace, log)
    said = _in_words(aligned.figures, dict(aligned.figures.select("verdict", "explanation").iter_rows()))
    why = (
        f"{aligned.figures['samples'][0]} samples lie within the trace, {aligned.begin:%Y-%m-%d %H:%M:%S} to "
        f"{aligned.end:%H:%M:%S} on their clock; they are of the whole host, the trace is of the traced processes"
    )
    frames = {"Process and host": aligned.figures, "Rate, latency and depth of both sides": aligned.sides}
    return Pairing(names, why, (*said, *(f"Note: {note}." for note in aligned.notes)), frames)


def _in_words(figures: pl.DataFrame, said: Mapping[str, str]) -> list[str]:
    """A sentence for each verdict: the quantities that it is of, and what it says."""
    groups = figures.group_by("verdict", maintain_order=True).agg(pl.col("quantity").str.replace_all("_", " "))
    return [f"{', '.join(quantities).capitalize()}: {said[verdict]}." for verdict, quantities in groups.iter_rows()]


def _most(aligned: pl.DataFrame, verdict: str) -> str:
    """Of reads that devices cannot have served: how many they served at most, of how many."""
    rows = aligned.filter(quantity="read_requests", verdict="missing").rows(named=True)
    if verdict != "missing" or not rows:
        return ""
    return f" (at most {math.ceil(rows[0]['host_hi']):,} of {rows[0]['database']:,.0f} read requests)"
