"""The findings of a compare-period report: what changed from its first to its second period."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from iolab.metrics.awr import PERIODS, period_facts, with_all_waits
from iolab.rules import pairs
from iolab.rules.finding import Evidence, Finding
from iolab.rules.phrases import percent
from iolab.rules.registry import rule
from iolab.rules.report_parts import LARGE, parts_of
from iolab.time_ledger.reports import NOT_ACCOUNTED
from logframe.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awrparse import AwrReport

#: Parts that no row of the report names.
_UNNAMED: Final = (NOT_ACCOUNTED, "counted twice")


@rule("load", "load_or_latency", "settings_changed", of="awr_diff", needs="snapshots, time model and top events")
def compare_findings(report: AwrReport) -> Iterator[Finding]:
    """What changed from the first to the second period of a compare-period report."""
    before, after = (period_facts(report, side, place) for place, side in enumerate(PERIODS))
    yield from pairs.load_change(before, after, tables=("compare_snapshots", "compare_top_events"))
    yield from pairs.settings_changed(before, after, table="compare_parameters")


@rule("time_profile", of="awr_diff", needs="wait classes and events", thresholds={"10 %": "LEDGER section 9"})
def both_periods(report: AwrReport) -> Iterator[Finding]:
    """The parts that are large in either period, with their share of both."""
    first, second = (
        parts_of(with_all_waits(period_facts(report, side, place), report, side)) for place, side in enumerate(PERIODS)
    )
    for name in {**first, **second}:
        shares = [parts[name].share if name in parts else Interval.exact(0) for parts in (first, second)]
        if max(one.lo for one in shares) < LARGE or not (first and second) or name in _UNNAMED:
            continue
        said = "CPU" if name == "DB CPU" else f"`{name}`" if name[:1].islower() else name
        took = [
            f"{percent(share)} of DB time in the {side} period" for share, side in zip(shares, PERIODS, strict=True)
        ]
        if name not in first:
            said += f" took {took[1]}; the first does not list it among its top events."
        elif name not in second:
            said += f" took {took[0]}; the second does not list it among its top events."
        else:
            said += f" took {took[0]}, {percent(shares[1])} in the second."
        yield Finding(
            "time_profile",
            said,
            None if shares[0].lo >= LARGE else shares[1],
            "" if shares[0].lo >= LARGE else "DB time of the second period",
            part=name if shares[0].lo >= LARGE else "",
            next="" if shares[0].lo >= LARGE else "take the report of the second period alone: @?/rdbms/admin/awrrpt",
            evidence=(Evidence("compare_wait_classes"), Evidence("compare_wait_events")),
        )
