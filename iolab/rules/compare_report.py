"""The findings of a compare-period report: what changed from its first to its second period."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.awr import PERIODS, period_facts, with_all_waits
from iolab.rules import pairs
from iolab.rules.finding import Evidence, Finding
from iolab.rules.phrases import percent, seconds, three
from iolab.rules.registry import rule
from iolab.rules.report_parts import parts_of
from iolab.rules.time_parts import PART
from iolab.time_ledger.reports import NOT_ACCOUNTED, plan_of
from logframe.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awrparse import AwrReport
    from iolab.metrics.report_facts import ReportFacts

#: Parts that no row of the report names.
_UNNAMED: Final = (NOT_ACCOUNTED, "counted twice")
#: Work per execution, by the end of its columns.
_WORK: Final = {"gets_per_exec": "gets", "reads_per_exec": "blocks read"}
#: A statement with this much of the change of DB time explains it.
_MOST: Final = 0.5


@rule(
    "load",
    "load_or_latency",
    "settings_changed",
    of="awr_diff",
    needs="snapshots, time model and top events",
    thresholds={"half of the change": "one statement explains it"},
)
def compare_findings(report: AwrReport) -> Iterator[Finding]:
    """What changed from the first to the second period of a compare-period report."""
    facts = _periods(report)
    # a top event of one period alone is in the other as among all its waits
    names = [name for one, _ in facts for name in one.events]
    before, after = (
        replace(one, events={name: whole.events[name] for name in names if name in whole.events} | one.events)
        for one, whole in facts
    )
    found = list(pairs.load_change(before, after, tables=("compare_snapshots", "compare_top_events")))
    for one in _statement(report, before, after):  # beside the part that made up most of the change
        parts = sorted([*found[1:2], one], key=lambda part: part.impact.lo if part.impact else 0.0, reverse=True)
        evidence = tuple(at for part in parts for at in part.evidence)
        found[1:2] = [replace(one, sentence=" ".join(part.sentence for part in parts), evidence=evidence)]
    if len(found) == 1:  # no part made up much of a change: that the total hardly changed is not said by its line
        found[0] = replace(found[0], name="load_or_latency")
    yield from found
    yield from pairs.settings_changed(before, after, table="compare_parameters")


def _periods(report: AwrReport) -> list[tuple[ReportFacts, ReportFacts]]:
    """The facts of both periods: with the top events, and with all waits."""
    facts = [period_facts(report, side, place) for place, side in enumerate(PERIODS)]
    return [(one, with_all_waits(one, report, side)) for one, side in zip(facts, PERIODS, strict=True)]


def _statement(report: AwrReport, before: ReportFacts, after: ReportFacts) -> Iterator[Finding]:
    """The statement that made up most of the change of DB time, and how its executions changed."""
    if before.sessions_active is None or after.sessions_active is None or "compare_sql" not in report:
        return
    first, second = before.sessions_active.value, after.sessions_active.value
    shares = pl.col("first_pct", "second_pct").fill_null(0.0) / 100
    rows = report["compare_sql"].filter(pl.col("ordered_by") == "elapsed", pl.col("sql_id").is_not_null())
    change = pl.col("second_pct") * second - pl.col("first_pct") * first
    rows = rows.with_columns(shares).with_columns(part=change / (second - first)).filter(pl.col("part") >= _MOST)
    if rows.is_empty() or abs(second - first) <= PART * max(first, second):
        return
    row = rows.sort("part", "sql_id", descending=[True, False]).row(0, named=True)
    took = [row[f"{side}_elapsed_per_exec_ms"] for side in PERIODS]
    each = f": {seconds(took[1] / 1e3)} per execution after {seconds(took[0] / 1e3)}" if None not in took else ""
    same = report["compare_sql"].filter(pl.col("sql_id") == row["sql_id"]).to_dicts()
    for name, what in _WORK.items() if each else ():
        known = [one for one in ([row[f"{side}_{name}"] for side in PERIODS] for row in same) if None not in one]
        each += "".join(f", {three(after)} {what} after {three(before)}" for before, after in known[:1])
    printed = row["plans"] or "/".join(str(row[f"{side}_plans"]) for side in (*PERIODS, "both"))
    plans = [int(one) for one in printed.split("/") if one.strip().isdigit()]
    changed = "; its plan changed" if len(plans) == 3 and plans[2] > max(plans[:2]) else ""
    what = "increase" if second > first else "decrease"
    yield Finding(
        "load_or_latency",
        f"`{row['sql_id']}` made up {percent(min(row['part'], 1.0))} of the {what} in DB time{each}{changed}.",
        Interval.exact(min(row["part"], 1.0)),
        f"the {what}",
        next=f"compare its plans, and {plan_of(row['sql_id'])}",
        evidence=(Evidence("compare_sql", (row["sql_id"],)),),
    )


@rule("time_profile", of="awr_diff", needs="wait classes and events", thresholds={"10 %": "LEDGER section 9"})
def both_periods(report: AwrReport) -> Iterator[Finding]:
    """The parts that are large in either period, with their share of both."""
    first, second = (parts_of(whole) for _, whole in _periods(report))
    for name in {**first, **second}:
        shares = [parts[name].share if name in parts else Interval.exact(0) for parts in (first, second)]
        if max(one.lo for one in shares) < PART or not (first and second) or name in _UNNAMED:
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
            None if shares[1].lo >= PART else shares[0],
            "" if shares[1].lo >= PART else "DB time of the first period",
            part=name if shares[1].lo >= PART else "",
            next="" if shares[1].lo >= PART else "take the report of the first period alone: @?/rdbms/admin/awrrpt",
            evidence=(Evidence("compare_wait_classes"), Evidence("compare_wait_events")),
        )
