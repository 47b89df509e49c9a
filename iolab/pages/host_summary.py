"""The view of samples of the operating system: its tables, and what has to be known about them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.evidence.run_set import share_clocks
from iolab.evidence.time_lines import over_time
from iolab.metrics.formatting import until_text
from iolab.metrics.processors import host_cpu
from iolab.pages.figures import join_figures
from iolab.rules import host_severity  # noqa: F401 - registers its rules
from iolab.rules.devices import other_steps
from iolab.rules.finding import nothing_found
from iolab.rules.host_processors import processors_of_report
from iolab.rules.registry import apply_rules
from iolab.rules.samples import devices_of_others
from iolab.time_ledger.samples import host_ledgers
from iolab.views import Summary, View
from logframe.lazy import on_use

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from awrparse import AwrReport
    from hostparse import HostLog
    from iolab.rules.finding import Finding

#: Tables that are shown; the others are counters that few look for.
_SHOWN: Final = ("host", "device", "cpu", "process", "interface")

#: What the rules look at, by the tables that a log has.
_LOOKED_AT: Final = {
    "host": "the counters of the host",
    "cpu": "how busy each CPU was",
    "device": "the requests and bytes of the devices",
    "process": "the CPU time of the processes",
}
#: This many rows of a table of a large log are shown.
_MOST: Final = 100_000


def summarize_host(log: HostLog) -> Summary:
    """The runs and the wide tables, without columns that no row fills; of a large log, their first rows."""
    frames = {"runs": _filled(log.runs)}
    for scope in log.scopes:
        if scope in _SHOWN:
            frames[scope] = log.scan(scope).head(_MOST).collect() if log.parts.is_large else _filled(log.wide(scope))
    figures = [] if (cpu := host_cpu(log)).get_column("value").null_count() else [cpu]
    return Summary(frames, join_figures(figures), tuple(_notes(log, frames)), {"host_over_time": partial(_draw, log)})


def _draw(log: HostLog, name: str) -> Any:  # noqa: ANN401 - any chart
    from iolab import charts  # noqa: PLC0415 - charts are loaded for those who look at them

    return charts.host_over_time.spec(over_time({name: log}), title="Over time")


def _filled(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(column for column in frame if column.null_count() < frame.height or not frame.height)


def _notes(log: HostLog, frames: dict[str, pl.DataFrame]) -> list[str]:
    """Sentences about what the figures are not."""
    notes = []
    tables = [frame for name, frame in frames.items() if name != "runs"]
    if any(frame.get_column("is_since_boot").any() for frame in tables if "is_since_boot" in frame.columns):
        notes.append("Rows marked is_since_boot are means since the start of the system, no samples.")
    if tables and not any("interval_end" in frame.columns for frame in tables):
        notes.append("The log has no times: its samples can be counted, but not placed beside another log.")
    if "device" in frames:
        notes.append(
            "Devices of several layers (partitions, mapped devices) hold the same requests: do not add them up."
        )
    if "device" in frames and "svctm_ms" in frames["device"].columns:
        notes.append("svctm is computed from the utilisation and is no measure; it is kept as printed only.")
    if any(frame.height == _MOST for name, frame in frames.items() if name != "runs"):
        notes.append(f"Of a large log, the first {_MOST:,} rows of each table are shown; iolab convert writes all.")
    if log.diagnostics.height:
        notes.append(f"The diagnostics ({log.diagnostics.height:,}) say what was not read or assumed.")
    return notes


def host_findings(log: HostLog) -> Iterator[Finding]:
    """How busy the processors were, what they did, and the device with most requests in flight."""
    found = list(apply_rules("host", log))
    yield from found
    if not found and not host_ledgers(log):
        yield from apply_rules("host_unread", log)
    elif not found:
        yield nothing_found(", ".join(_LOOKED_AT[scope] for scope in _LOOKED_AT if scope in log.scopes))


def host_headline(log: HostLog) -> str:
    r"""The tool, the host, and from when to when.

    Examples:
        >>> from hostparse import read_host
        >>> host_headline(read_host(b" r  b   swpd   free  bi    bo   in   cs us sy id wa\n1 0 0 9 0 0 1 1 1 1 98 0\n"))
        'vmstat'
    """
    hosts = log.runs.get_column("host").drop_nulls().unique(maintain_order=True).to_list()
    said = log.kind + (f" of {hosts[0]}" if len(hosts) == 1 else f" of {len(hosts)} hosts" if hosts else "")
    ends = _span(log)
    if ends is None:
        return said
    begin, end, _ = ends
    return f"{said}, {begin:%Y-%m-%d %H:%M:%S} to {until_text(begin, end)}"


def _pair_findings(host: tuple[str, HostLog], report: tuple[str, AwrReport]) -> Iterator[Finding]:
    yield from devices_of_others(host, report)
    yield from processors_of_report(host, report)


def _span(log: HostLog) -> tuple[datetime, datetime, bool] | None:
    ends = [
        log.scan(scope).select(pl.col("interval_start").min(), pl.col("interval_end").max()).collect().row(0)
        for scope in log.scopes
        if {"interval_start", "interval_end"} <= set(log.scan(scope).collect_schema().names())
    ]
    begins, stops = ([end for pair in ends if (end := pair[place]) is not None] for place in (0, 1))
    return (min(begins), max(stops), False) if begins and stops else None


VIEW: Final = View(
    summarize_host,
    noun="log of samples",
    relate=share_clocks,
    compare={
        "awr": on_use("iolab.comparison.with_host:pair_host_and_report"),
        "strace": on_use("iolab.comparison.with_host:pair_host_and_trace"),
        "sqltrace": on_use("iolab.comparison.with_host:pair_host_and_trace"),
    },
    findings=host_findings,
    ledgers=host_ledgers,
    headline=host_headline,
    other_steps=other_steps,
    looked_at="how busy the processors were, and the requests and bytes of the devices",
    span=_span,
    pair_findings={"awr": _pair_findings},
)
