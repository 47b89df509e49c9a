"""The account of the samples of an ASH report, and of what an ADDM report states.

All samples of active sessions are the lead ledger: an ASH report prints its shares of all of them, and its statements,
services and slots hold foreground and background together.  The events alone are apart, so those have a ledger each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.metrics.ash import ON_CPU, AshTotal, ash_total, slots_of
from iolab.time_ledger.account import Account, Ledger, void_ledger
from iolab.time_ledger.parts import Place
from iolab.time_ledger.sampled import LEAST_SAMPLES, SampledParts
from logframe.interval import Interval, row_figure
from logframe.oracle import is_idle
from logframe.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from awrparse import AwrReport

_CPU_NAME: Final = "CPU, or waiting for it"
_BACKGROUND: Final = "background processes"
#: Views that are trees: the table, and its columns from the outer to the inner group.
_TREES: Final = {
    "who": ("ash_sql_events", "sql_id", "plan_hash", "event"),
    "where": ("ash_services", "service", "module", "action"),
}
#: How far samples x interval and sessions x elapsed time may differ.
_SLACK: Final = 0.005
_COUNTED: Final = dict.fromkeys(("what", "who", "where", "when"), "samples")
_TEXT: Final = 60
#: DB time below this is almost nothing (LEDGER R13).
_LEAST_S: Final = 30


def ash_ledgers(report: AwrReport) -> list[Ledger]:
    """All samples of an ASH report; then those of foreground and of background processes, by event only.

    Examples:
        >>> import awrparse
        >>> text = b'''ASH Report For TEST/TEST
        ...
        ... Top User Events            DB/Inst: TEST/TEST  (Apr 23 19:30 to 19:45)
        ...
        ...                                                                Avg Active
        ... Event                               Event Class        % Event   Sessions
        ... ----------------------------------- --------------- ---------- ----------
        ... db file sequential read             User I/O             75.00       3.00
        ... CPU + Wait for CPU                  CPU                  20.00       0.80
        ...           -------------------------------------------------------------
        ... '''
        >>> lead = ash_ledgers(awrparse.read_awr(text))[0]
        >>> lead.text
        'shares are of the samples: the report does not contain how many there are'
        >>> lead.parts().select("name", "seconds").rows()
        [('db file sequential read', 75.0), ('CPU, or waiting for it', 20.0), ('not listed', 5.0)]
    """
    total = ash_total(report)
    events = list(_events(report))
    parts = SampledParts(
        Account(Interval.exact(total.seconds), total.base, scope="instance"),
        total.samples,
        total.unit,
        has_error=total.is_counted,
    )
    _what(parts, events, total)
    for view in _TREES:
        _tree(parts, report, total, view)
    _when(parts, report, total)
    parts.put()
    if total.printed is not None and total.elapsed is not None and total.interval_s is not None:
        expected = total.printed * total.elapsed
        slack = (expected.hi - expected.lo) / 2 + _SLACK * total.seconds
        name = "Average Active Sessions x elapsed time"
        parts.account.check(name, view="what", printed=expected.value, computed=total.seconds, slack=slack)
    lead = _ledger(parts.account, total, total.samples, _text(report, total))
    if not lead.views:
        return [void_ledger("the report has no table of samples", base=total.base, scope="instance")]
    return [lead, *_by_scope(total, events)]


def _ledger(account: Account, total: AshTotal, samples: float, text: str) -> Ledger:
    few = total.is_counted and samples < LEAST_SAMPLES
    return account.ledger(
        elapsed=total.elapsed if total.interval_s is not None else None,
        unshared=f"fewer than {LEAST_SAMPLES} samples" if few else "",
        text=text,
        unit="s" if total.interval_s is not None else "samples",
        counted=_COUNTED if total.is_counted else {},
    )


def _said(total: AshTotal) -> str:
    return f"{total.samples:,} samples" if total.is_counted else "100 % of the samples"


def _text(report: AwrReport, total: AshTotal) -> str:
    if not total.is_counted:
        return "shares are of the samples: the report does not contain how many there are"
    if total.interval_s is None or total.elapsed is None:
        return f"the report has {_said(total)}, but not the time between two of them"
    every = "one per second" if total.interval_s == 1 else f"one every {total.interval_s} s"
    where = "" if report.info.cpus is None else f" on {counted(report.info.cpus, 'CPU')}"
    active = f"{total.seconds / total.elapsed.value:.3g} sessions were active{where} on average"
    return f"{active}: {_said(total)} in {total.elapsed.value:,.0f} s, {every}"


def _events(report: AwrReport) -> Iterator[dict[str, Any]]:
    """The events with their share, and whether they are those of background processes."""
    if "ash_top_events" not in report:
        return
    rows = report.with_bounds("ash_top_events").filter(pl.col("activity_pct").is_not_null())
    apart = rows.filter(pl.col("scope").is_in(["user", "background"]))
    for row in (apart if apart.height else rows).iter_rows(named=True):
        row["is_background"] = row["scope"] == "background" or row["session_type"] == "BACKGROUND"
        yield row


def _what(parts: SampledParts, events: list[dict[str, Any]], total: AshTotal) -> None:
    if not events:
        return
    # processor time is one part, whoever used it
    _, *cpu = sorted((row for row in events if row["event"] == ON_CPU), key=lambda row: row["is_background"]) or [{}]
    events = [row for row in events if row not in cpu]
    background = [row for row in events if row["is_background"]]
    listed = [_event(parts, row, total, also=cpu) for row in events if not row["is_background"]]
    if background:
        # the parent is before its children
        own = [_samples(total, row, "activity_pct") for row in background]
        whole = _sum(own)
        parts.add("what", _BACKGROUND, whole, kind="mixed", evidence=Place("ash_top_events"))
        for row in background:
            _event(parts, row, total, parent=_BACKGROUND)
        listed.append(whole)
    parts.close("what", Interval.exact(parts.samples), listed)


def _event(
    parts: SampledParts,
    row: dict[str, Any],
    total: AshTotal,
    *,
    parent: str | None = None,
    also: Sequence[dict[str, Any]] = (),
) -> Interval:
    event = str(row["event"])
    samples = _sum([_samples(total, one, "activity_pct") for one in (row, *also) if one["event"] == event])
    part = event if parent is None else f"{parent}/{event}"
    parts.add(
        "what",
        part,
        samples,
        kind=_kind(event, row["wait_class"]),
        name=_CPU_NAME if event == ON_CPU else event,
        parent=parent,
        wait_class=row["wait_class"],
        evidence=Place("ash_top_events", (event,)),
    )
    return samples


def _kind(event: str, wait_class: str | None = None) -> str:
    if event == ON_CPU:
        return "cpu"
    if is_idle(event, wait_class):
        return "idle"
    return "io" if wait_class in {"User I/O", "System I/O"} else "wait"


def _tree(parts: SampledParts, report: AwrReport, total: AshTotal, view: str) -> None:
    """Statements, their plans and events; or services, their modules and actions.

    Objects and files are no such tree: only samples of I/O have them.
    """
    table, outer, middle, inner = _TREES[view]
    if table not in report:
        return
    frame = report.with_bounds(table).filter(pl.col(outer).is_not_null() & pl.col("activity_pct").is_not_null())
    listed = []
    for (key, pdb), rows in frame.group_by(outer, "pdb", maintain_order=True):
        part = str(key) if pdb is None else f"{key} in {pdb}"
        groups = rows.partition_by(middle, maintain_order=True)
        shares = [_samples(total, one.row(0, named=True), "activity_pct") for one in groups]
        listed.append(_sum(shares))
        name, place, step = part, Place(table, (str(key),)), None
        if view == "who":
            text = next((" ".join(str(one).split()) for one in rows["sql_text"] if one), "")
            name = f"{part} {text[:_TEXT]}".rstrip()
            step = f"select * from table(dbms_xplan.display_awr('{key}'))"  # noqa: S608 - a text to show
        parts.add(view, part, listed[-1], kind="mixed", name=name, evidence=place, next_step=step)
        for group, share in zip(groups, shares, strict=True):
            name = f"{'plan ' if view == 'who' else ''}{group.item(0, middle) or 'not known'}"
            own, leaves = part, []
            if view == "where" or len(groups) > 1:
                own = parts.add(view, f"{part}/{name}", share, kind="mixed", name=name, parent=part)
            for row in group.unique(inner, keep="first", maintain_order=True).iter_rows(named=True):
                leaves.append(_samples(total, row, f"{inner}_pct"))
                leaf = str(row[inner])
                kind = _kind(leaf) if inner == "event" else "mixed"
                said = _CPU_NAME if leaf == ON_CPU else leaf
                parts.add(view, f"{own}/{leaf}", leaves[-1], kind=kind, name=said, parent=own, evidence=place)
            parts.close(view, share, leaves, parent=own, name=f"other {inner}s")
    if listed:
        parts.close(view, Interval.exact(parts.samples), listed)


def _when(parts: SampledParts, report: AwrReport, total: AshTotal) -> None:
    """The slots of time, with their most frequent events; where the report counts samples."""
    slots = slots_of(report)
    if slots.is_empty() or not total.is_counted:
        return
    rows = report["ash_activity"].filter(pl.col("samples").is_not_null())
    listed = []
    for slot, begin, count in slots.select("slot", "begin", "samples").iter_rows():
        listed.append(Interval.exact(count))
        name = str(slot).split("(")[0].strip() if begin is None else f"{begin:%Y-%m-%d %H:%M:%S}"
        parts.add("when", name, listed[-1], kind="mixed", evidence=Place("ash_activity", (str(slot),)))
        inner = []
        for event, samples in rows.filter(pl.col("slot") == slot).select("event", "samples").iter_rows():
            inner.append(Interval.exact(samples))
            own = _CPU_NAME if event == ON_CPU else str(event)
            parts.add("when", f"{name}/{event}", inner[-1], kind=_kind(str(event)), name=own, parent=name)
        if inner:
            parts.close("when", listed[-1], inner, parent=name, name="other events")
    parts.close("when", Interval.exact(parts.samples), listed)


def _by_scope(total: AshTotal, events: list[dict[str, Any]]) -> Iterator[Ledger]:
    """Foreground and background by event, where the report lists events of both.

    Samples that no row shows are of either: the total of the background is what is listed, at most all of those, too.
    """
    listed = {
        flag: [_samples(total, row, "activity_pct") for row in events if row["is_background"] == flag]
        for flag in (False, True)
    }
    if not all(listed.values()):
        return
    background, known = _sum(listed[True]), _sum(listed[False])
    rest = max(total.samples - background.value - known.value, 0.0)
    wholes = {
        "foreground": Interval(known.value + rest, known.lo, known.hi + rest),
        "background": Interval(background.value, background.lo, background.hi + rest),
    }
    for scope, samples in wholes.items():
        account = Account(samples * total.unit, total.base, scope=scope)
        parts = SampledParts(account, samples.value, total.unit, has_error=total.is_counted)
        own = [_event(parts, row, total) for row in events if row["is_background"] == (scope == "background")]
        parts.close("what", samples, own)
        parts.put()
        yield _ledger(account, total, samples.value, f"{scope} processes had {samples.value:,.0f} of {_said(total)}")


def _samples(total: AshTotal, row: dict[str, Any], column: str) -> Interval:
    """How many samples a printed percentage of all of them is."""
    share = row_figure(row, column)
    return Interval.exact(0.0) if share is None else share.capped(100.0) * (total.samples / 100)


def _sum(figures: list[Interval]) -> Interval:
    return sum(figures, Interval.exact(0.0))


def addm_ledgers(report: AwrReport) -> list[Ledger]:
    r"""The DB time that an ADDM report states, undivided; its findings are remarks, because their impacts overlap.

    Examples:
        >>> import awrparse
        >>> text = b"ADDM Report for Task 'TASK_1'\n----------\nTotal database time was 4356 seconds.\n"
        >>> text += b"The average number of active sessions was 1.21.\nThere are no findings to report.\n"
        >>> one, = addm_ledgers(awrparse.read_awr(text))
        >>> one.text, one.parts().select("name", "seconds").rows()
        ('DB time was 4,356 s: 1.21 sessions were active on average',
        [('parts, which an ADDM report does not contain', 4356.0)])
    """
    seconds = report.info.db_time_s
    if seconds is None or seconds <= 0:
        return []
    account = Account(Interval(seconds, max(seconds - 0.5, 0.0), seconds + 0.5), "DB time", scope="instance")
    account.add("what", "parts, which an ADDM report does not contain", account.total, kind="not_in_log")
    for finding, percent in addm_impacts(report):
        place = Place("addm_report_findings", (finding,))
        account.remark("detail", "addm_finding", f"ADDM: {finding}, {percent.value:.3g} %", evidence=place)
    active = report.info.average_active_sessions
    said = "" if not active else f": {active:.3g} sessions were active on average"
    unshared = "almost nothing ran" if seconds < _LEAST_S else "ADDM does not divide DB time"
    return [account.ledger(text=f"DB time was {seconds:,.0f} s{said}", unshared=unshared)]


#: Table of the findings of ADDM -> its column with their shares of the activity.
_ADDM_TABLES: Final = {"addm_report_findings": "impact_pct", "addm_findings": "finding_pct"}


def addm_impacts(report: AwrReport) -> Iterator[tuple[str, Interval]]:
    """The findings of ADDM with their share of the activity, in percent, as printed."""
    table = addm_table(report)
    if table is None:
        return
    for row in report.with_bounds(table).iter_rows(named=True):
        share = row_figure(row, _ADDM_TABLES[table])
        if share is not None and share.lo <= 100:
            yield str(row["finding"]), share.capped(100.0)


def addm_advised(report: AwrReport) -> list[str]:
    """The findings of ADDM for which the report prints actions."""
    table = addm_table(report)
    if table is None or "recommendations" not in report[table].columns:
        return []
    return report[table].filter(pl.col("recommendations") > 0).get_column("finding").to_list()


def addm_table(report: AwrReport) -> str | None:
    """The table with the findings of ADDM; None where the report has none."""
    return next((table for table in _ADDM_TABLES if table in report), None)
