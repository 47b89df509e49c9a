"""Pasted parts of a report: the shares and averages of its list of top events, as printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from iolab.metrics.formatting import count_text, share_text, time_text
from iolab.rules.finding import NOTABLE, Evidence, Finding, nothing_found
from iolab.rules.gates import LEAST_WAITS
from iolab.rules.load import NOTHING_SESSIONS
from logframe.interval import row_figure
from logframe.oracle import is_idle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awrparse import AwrReport
    from iolab.rules.report_facts import ReportFacts

_MOST: Final = 3
_LOOKED_AT: Final = "the printed shares of top events: the log is a part of a report"
_CPU: Final = ("db cpu", "cpu time")
#: What a column of shares is of.
_SHARES: Final = {"db_time_pct": "DB time", "call_time_pct": "call time"}


def fragment_findings(report: AwrReport) -> Iterator[Finding]:
    r"""The largest of the printed top events of a part of a report.

    Examples:
        >>> import awrparse
        >>> text = b'''Top 5 Timed Events                                         Avg %Total
        ... ~~~~~~~~~~~~~~~~~~                                        wait   Call
        ... Event                                 Waits    Time (s)   (ms)   Time Wait Class
        ... ------------------------------ ------------ ----------- ------ ------ ----------
        ... db file sequential read              79,083      73,024    923   65.4   User I/O
        ... CPU time                                         12,205          10.9
        ... log file sync                            20          30   1500    0.1     Commit
        ... '''
        >>> for one in fragment_findings(awrparse.read_awr(text)): print(one.sentence)
        `db file sequential read` was 65.4 % of call time: 79,083 waits of 923 ms on average.
        CPU was 10.9 % of call time.
    """
    why = "as printed: the log is a part of a report, without its period and its load"
    found = list(_printed_shares(report, why, "the whole report"))
    yield from found or [nothing_found(_LOOKED_AT)]


def findings_without_db_time(report: AwrReport, facts: ReportFacts) -> Iterator[Finding]:
    """The largest of the printed top events of a report that does not print DB time, as Statspack before 10g.

    Without a finding where almost nothing ran.
    """
    times = [
        one.time_s for one in facts.top_events if one.time_s is not None and not is_idle(one.event, one.wait_class)
    ]
    elapsed = facts.elapsed_s
    if facts.db_time_s is not None or elapsed is None or sum(one.hi for one in times) < NOTHING_SESSIONS * elapsed.lo:
        return
    yield from _printed_shares(report, "as printed: the report does not say DB time", "the time model of 10g and later")


def _printed_shares(report: AwrReport, why: str, refuted_by: str) -> Iterator[Finding]:
    """The largest of the printed top events; what a share is of is what the heading says."""
    shown = 0
    rows = report.with_bounds("top_events").iter_rows(named=True) if "top_events" in report else ()
    for row in rows:
        base = next((name for name in _SHARES if row.get(name) is not None), None)
        printed = None if base is None else row_figure(row, base)
        event = str(row["event"])
        if base is None or printed is None or printed.lo > 100 or printed.lo < 100 * NOTABLE:
            continue
        if shown == _MOST or is_idle(event, row["wait_class"]):
            continue
        shown += 1
        share = (printed / 100).capped(1)
        said = "CPU" if event.lower() in _CPU else f"`{event}`"
        waits, average = row_figure(row, "waits"), row_figure(row, "avg_wait_ms")
        took = ""
        if waits is not None and average is not None and waits.lo >= LEAST_WAITS:
            took = f": {count_text(waits.value, 'wait')} of {time_text(average / 1e3)} on average"
        yield Finding(
            "printed_share",
            f"{said} was {share_text(share)} of {_SHARES[base]}{took}.",
            share,
            _SHARES[base],
            why=why,
            refuted_by=refuted_by,
            evidence=(Evidence("top_events", (event,)),),
        )
