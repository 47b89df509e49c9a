"""ASH and ADDM reports: what sampled sessions did, by event, statement and time, and what samples cannot show."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from awrparse.addm import advice_of
from iolab.metrics.ash import AshTotal, ash_total, cpu_queues, slots_of
from iolab.metrics.formatting import MOST_TEXT, count_text, short_text
from iolab.rules.finding import NOTABLE, Evidence, Finding
from iolab.rules.phrases import percent, three
from iolab.rules.registry import apply_rules, rule
from iolab.rules.time_parts import LARGE, PART
from iolab.time_ledger.ash import addm_advised, addm_impacts, addm_table, ash_ledgers
from iolab.time_ledger.next_steps import event_step, step_at
from iolab.time_ledger.sampled import LEAST_SAMPLES, sampling_error
from logframe.interval import Interval, row_figure
from logframe.oracle import wait_class_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awrparse import AwrReport
    from iolab.time_ledger.account import Ledger

#: The table with the text of an ADDM report, and what a sentence of it about times has.
_ADDM_TEXT: Final = "ADDM Report"
_SECONDS: Final = "seconds"
_AWR: Final = "take the AWR report of the same period: @?/rdbms/admin/awrrpt"
_BLOCKERS: Final = "select blocking_session, count(*) from v$active_session_history group by blocking_session"
#: Slots whose load differs by more than this factor are named.
_VARIES: Final = 1.25
#: A slot that is this much of the longest one is whole: lengths are printed rounded.
_AS_LONG: Final = 0.9
_ON_CPU: Final = "CPU + Wait for CPU"
#: A span of slots is named that holds this much of an event, and where it was this many times as frequent as outside.
_IN_SPAN: Final = 0.9
_DENSER: Final = 3
#: Most of the samples of a statement.
_MOSTLY: Final = 0.5
#: Statements that wait until no session uses an object, and let others wait meanwhile.
_DDL: Final = ("ALTER", "CREATE", "DROP", "GRANT", "REVOKE", "TRUNCATE", "COMMENT", "ANALYZE")
_QUIET: Final = "run what changes or compiles an object when no session uses it"
#: Objects and plans that are named.
_MOST_OBJECTS: Final = 2


@dataclass(frozen=True)
class AshFacts:
    """An ASH report, its samples and their account."""

    report: AwrReport
    total: AshTotal
    lead: Ledger

    def parts(self, view: str) -> Iterator[dict[str, Any]]:
        """The parts of a view that have a share of 10 % or more."""
        if view not in self.lead.views or self.lead.unshared:
            return
        for row in self.lead.parts(view).iter_rows(named=True):
            if (row["share_lo"] or 0.0) >= PART and row["kind"] not in {"unlisted", "counted_twice", "not_accounted"}:
                yield row

    def sessions(self, seconds: float, length: float | None = None) -> str:
        """This many seconds of samples as sessions active; empty where the report does not say enough for it."""
        if self.total.interval_s is None or self.total.elapsed is None:
            return ""
        return three(seconds / (length or self.total.elapsed.value))


def ash_findings(report: AwrReport) -> Iterator[Finding]:
    """The findings of an ASH report."""
    yield from apply_rules("ash", AshFacts(report, ash_total(report), ash_ledgers(report)[0]))


@rule(
    "time_profile",
    of="ash",
    needs="the table of events",
    thresholds={"90 % of the samples, 3 times as dense as in the other slots": "a convention"},
)
def events(facts: AshFacts) -> Iterator[Finding]:
    """The events with most samples; the error of sampling stands in the first sentence."""
    is_first = facts.total.is_counted
    for row in facts.parts("what"):
        name = f"`{row['name']}`" if row["name"][:1].islower() and row["kind"] != "mixed" else row["name"]
        error = ""
        if is_first and row["kind"] != "mixed":
            error = f" (± {100 * sampling_error(row['count']) / facts.total.samples:.1f} points)"
            is_first = False
        when, share, length = _when(facts.report, row)
        sessions, then = facts.sessions(share * row["seconds"], length), " then" if when else ""
        where = f"of {row['name'].lower()}" if row["kind"] == "mixed" else f"in {name}"
        detail = f": {sessions} sessions{then or ' on average'}" if sessions else ""
        if row["kind"] == "cpu":
            cpus, where = facts.report.info.cpus, "on CPU or waiting for it"
            detail = f": {sessions} sessions{'' if cpus is None else f' on {cpus} CPUs'}{then}" if sessions else ""
        of = "" if row["parent"] is None else f"of {row['parent']} "
        step, most_of = event_step(row["name"]), _place(facts.report, row["name"], row["share"])
        if row["kind"] != "mixed":
            detail = when + detail + _mostly_on(most_of)
        if most_of:
            step = step_at(row["name"], most_of)
        yield Finding(
            "time_profile",
            f"{percent(row['share'])} of the samples{error} were {of}{where}{detail}.",
            part=row["part"],
            next=step or (_BLOCKERS if row["class"] in {"Application", "Concurrency"} else _AWR),
        )


def _when(report: AwrReport, row: dict[str, Any]) -> tuple[str, float, float | None]:
    """The slots with nearly all samples of an event, where they are few, or it was rare in the others.

    Returns:
        The words, its share there, and their length in s; none, all, and None where they are not.
    """
    if "ash_activity" not in report or row["kind"] == "mixed":
        return "", 1.0, None
    slots = report["ash_activity"].select("slot_begin", "slot_s").unique().drop_nulls().sort("slot_begin")
    is_event = pl.col("event") == (_ON_CPU if row["kind"] == "cpu" else row["name"])
    own = report["ash_activity"].filter(is_event).group_by("slot_begin").agg(pl.col("samples").sum())
    columns = slots.join(own, on="slot_begin", how="left").fill_null(0).get_columns()
    begins, lengths, counts = (one.to_list() for one in columns)
    whole, length = sum(counts), sum(lengths)
    time, samples, first, last = _densest(lengths, counts, _IN_SPAN * whole)
    if not time or time >= length or samples * (length - time) < _DENSER * time * max(1, whole - samples):
        return "", 1.0, None
    end = begins[last - 1] + timedelta(seconds=lengths[last - 1])
    until = "on" if last == slots.height else f"to {end:%H:%M}"
    most = "all" if samples == whole else percent(samples / whole)
    return f", {most} of them from {begins[first]:%H:%M} {until}", samples / whole, time


def _place(report: AwrReport, event: str, share: float) -> str:
    """The object with half or more of the samples of an event, of those that a statement has of it at least."""
    if "ash_objects" not in report:
        return ""
    events = report["ash_top_events"].filter(pl.col("event") == event, scope="user").get_column("activity_pct")
    others = max(0.0, sum(events.drop_nulls().to_list()) / 100 - share)
    rows = report["ash_objects"].filter(pl.col("event") == event).drop_nulls(["object", "event_pct"])
    for row in rows.sort("event_pct", descending=True).head(1).iter_rows(named=True):
        if 2 * (row["event_pct"] / 100 - others) >= share:
            return str(row["object"])
    return ""


def _mostly_on(name: str) -> str:
    return f", mostly on `{name}`" if name else ""


def _densest(lengths: list[float], counts: list[float], least: float) -> tuple[float, float, int, int]:
    """The shortest run of slots with a number of samples: length, samples, its first slot, the one after it.

    Examples:
        >>> _densest([60, 60, 60, 60], [1, 8, 9, 1], 17), _densest([60, 60], [0, 0], 0)
        ((120.0, 17.0, 1, 3), (0, 0, 0, 0))
    """
    runs: list[tuple[float, float, int, int]] = []
    first, time, samples = 0, 0.0, 0.0
    for last, (length, count) in enumerate(zip(lengths, counts, strict=True), 1):
        time, samples = time + length, samples + count
        while first < last - 1 and samples - counts[first] >= least:
            time, samples, first = time - lengths[first], samples - counts[first], first + 1
        if samples >= least > 0:
            runs.append((time, samples, first, last))
    return min(runs, default=(0, 0, 0, 0))


def _plans(report: AwrReport, sql_id: str) -> str:
    """The plans of a statement with several, by their shares of the samples."""
    rows = report["ash_sql_events"].filter(pl.col("sql_id") == sql_id).drop_nulls(["plan_hash", "event_pct"])
    plans = rows.group_by("plan_hash").agg(pl.col("event_pct").sum()).sort("event_pct", descending=True).rows()
    if len(plans) <= 1:
        return ""
    return "; " + ", ".join(f"plan {number} {percent(share / 100)}" for number, share in plans[:_MOST_OBJECTS])


@rule("main_statement", of="ash", needs="the table of statements by event")
def statements(facts: AshFacts) -> Iterator[Finding]:
    """The statements with most samples, and the event of most of them."""
    for row in facts.parts("who"):
        if row["level"]:
            of = f"`{row['part'].split('/')[0]}`"
            where = row["name"] if row["kind"] in {"cpu", "mixed"} else f"`{row['name']}`"
            spent = f"{of} spent {percent(row['share'])} of all samples in {where}."
            yield Finding("main_statement", spent, part=row["part"], next=_AWR)
            continue
        below = pl.col("part").str.starts_with(f"{row['part']}/") & pl.col("kind").is_in(["cpu", "io", "wait"])
        events = facts.lead.parts("who").filter(below).group_by("name", "kind").agg(pl.col("share").sum())
        most = step = ""
        if events.height:
            name, kind, share = events.sort("share", "name", descending=[True, False]).row(0)
            place = _place(facts.report, name, share)
            state = "on CPU or waiting for it" if kind == "cpu" else f"in `{name}`"
            most = f"{percent(share)} {state}{_mostly_on(place)}"
            of_class = [row for row in events.rows() if row[2] >= PART and wait_class_of(row[0]) == wait_class_of(name)]
            for other, _, part in sorted(of_class, key=lambda row: -row[2])[1:2]:
                if not place and (place := _place(facts.report, other, part)):
                    most += f", {percent(part)} in `{other}`{_mostly_on(place)}"
            most = f" ({most})"
            if share >= _MOSTLY * row["share"]:  # its plan does not show why
                step = step_at(name, place) if place else event_step(name)
        sessions = facts.sessions(row["seconds"])
        said = f"`{row['part'].split()[0]}` was in {percent(row['share'])} of all samples{most}"
        if plans := _plans(facts.report, str(row["part"].split()[0])):
            said, sessions = said + plans, ""
        said += f": {sessions} sessions on average." if sessions else "."
        yield Finding("main_statement", said, part=row["part"], next=step)


@rule("activity_over_time", of="ash", needs="slots of time", thresholds={"1.25 times": "a convention"})
def activity_over_time(facts: AshFacts) -> Iterator[Finding]:
    """When most and fewest sessions were active, of the slots that are as long as the others: ends may be cut."""
    slots = slots_of(facts.report).drop_nulls().filter(pl.col("length_s") > 0)
    slots = slots.filter(pl.col("length_s") >= _AS_LONG * pl.col("length_s").max())
    if facts.total.interval_s is None or slots.height < 2 or facts.lead.unshared:
        return
    error = 2 * pl.col("samples").sqrt()
    slots = slots.with_columns(
        active=pl.col("samples") * facts.total.interval_s / pl.col("length_s"),
        most=(pl.col("samples") + error) * facts.total.interval_s / pl.col("length_s"),
        least=(pl.col("samples") - error) * facts.total.interval_s / pl.col("length_s"),
    )
    low, high = slots.sort("active").row(0, named=True), slots.sort("active").row(-1, named=True)
    if high["active"] < _VARIES * low["active"] or high["least"] <= low["most"]:
        return
    grew = low["begin"] < high["begin"]
    first, second = (low, high) if grew else (high, low)
    yield Finding(
        "activity_over_time",
        f"The load {'grew' if grew else 'fell'} from {three(first['active'])} sessions at {first['begin']:%H:%M} to "
        f"{three(second['active'])} at {second['begin']:%H:%M}.",
        next="take an ASH report of the busiest slot alone: @?/rdbms/admin/ashrpti",
        evidence=(Evidence("ash_activity", (low["slot"], high["slot"])),),
    )


@rule("cpu_queue", of="ash", needs="slots of time and the number of CPUs", thresholds={"CPUs x time": "LEDGER.md, R6"})
def cpu_queue(facts: AshFacts) -> Iterator[Finding]:
    """Slots with more sessions on CPU than there are CPUs."""
    cpus, interval = facts.report.info.cpus, facts.total.interval_s
    for one in cpu_queues(facts.report, cpus, interval)[:1] if cpus and interval else ():
        step = 10 ** max(0, len(f"{one.least_s:.0f}") - 3)
        yield Finding(
            "cpu_queue",
            f"From {one.begin:%H:%M} to {one.end:%H:%M}, samples show {three(one.sessions)} sessions on CPU with "
            f"{cpus} CPUs: at least {one.least_s // step * step:,.0f} s cannot have been CPU time.",
            next="take an ASH report of this time: @?/rdbms/admin/ashrpti, and the host: vmstat 5",
            evidence=(Evidence("ash_activity"),),
        )


@rule("sampled_objects", of="ash", needs="the tables of objects or files", thresholds={"10 %": "a convention"})
def objects(facts: AshFacts) -> Iterator[Finding]:
    """The objects and the file that were waited for most: shares of all samples, beside those of the events."""
    said: list[str] = []
    evidence: list[Evidence] = []
    for table, name, most in (("ash_objects", "object", _MOST_OBJECTS), ("ash_files", "file", 1)):
        if table not in facts.report or facts.lead.unshared:
            continue
        rows = facts.report[table].filter(pl.col("activity_pct") >= 100 * PART).unique(f"{name}_id", keep="first")
        largest = rows.sort("activity_pct", descending=True).head(most).to_dicts()
        named = [(f"`{row[name] or row['object_id']}`" if name == "object" else f"File {row['file_id']}",
                  percent(row["activity_pct"] / 100)) for row in largest]  # fmt: skip
        if named:
            (first, share), others = named[0], "".join(f", {one} in {share}" for one, share in named[1:])
            of = "" if said else " of the samples"
            said.append(f"{first if not said else first.lower()} was in {share}{of}{others}")
            evidence.append(Evidence(table, tuple(str(row[name]) for row in largest)))
    if said:
        yield Finding(
            "sampled_objects",
            f"{'; '.join(said)}.",
            evidence=tuple(evidence),
        )


@rule("sampled_plsql", of="ash", explains=("",), needs="the table of PL/SQL", thresholds={"a third": "LARGE"})
def sampled_plsql(facts: AshFacts) -> Iterator[Finding]:
    """The PL/SQL that was executed in a third of the samples or more, beside the largest part of the time."""
    if "ash_plsql" not in facts.report or facts.lead.unshared:
        return
    rows = facts.report["ash_plsql"].filter(pl.col("activity_pct") >= 100 * LARGE)
    for row in rows.sort("activity_pct", "current_pct", descending=True, nulls_last=True).head(1).to_dicts():
        inner = float(rows.filter(entry=row["entry"], current=row["entry"]).get_column("current_pct").sum()) / 100
        own = f", {percent(inner)} in its own code" if inner >= PART else ""
        yield Finding(
            "sampled_plsql",
            f"`{row['entry']}` was executed in {percent(row['activity_pct'] / 100)} of the samples{own}.",
            next="see what calls it, and how often: where SQL calls it for each row, put its work into the statement",
            evidence=(Evidence("ash_plsql", (row["entry"],)),),
        )


@rule("blocking_session", of="ash", needs="the table of blocking sessions", thresholds={"5 %": "Finding.NOTABLE"})
def blockers(facts: AshFacts) -> Iterator[Finding]:
    """A session that others waited for; only where its share is of all samples, as the event's own share shows."""
    if not facts.lead.unshared:
        yield from blockers_of(facts.report)


def blockers_of(report: AwrReport) -> Iterator[Finding]:
    """The session that others waited for, of samples of all sessions or of those within a report of a period."""
    if "ash_blocking_sessions" not in report or "ash_top_events" not in report:
        return
    users = {
        str(row["event"]): figure
        for row in report.with_bounds("ash_top_events").iter_rows(named=True)
        if row["scope"] in {"user", "all"} and (figure := row_figure(row, "activity_pct")) is not None
    }
    for row in report.with_bounds("ash_blocking_sessions").head(1).iter_rows(named=True):
        share, event = row_figure(row, "event_pct"), str(row["event"])
        if share is None or share.lo < 100 * NOTABLE or event not in users:
            continue
        if (is_of_blocking := share.lo > users[event].hi) and report.kind != "ash":
            continue  # no share of all samples; of what is blocked it says who blocks most
        program = f" ({row['program']})" if row["program"] and "NOT FOUND" not in row["program"] else ""
        is_idle = row["samples"] is not None and row["samples"] < NOTABLE * (row["samples_of"] or 0)
        own = f"; it was active in {row['samples']:,} of {row['samples_of']:,}" if is_idle else ""
        of = "the blocking that the report counts" if is_of_blocking else "the samples"
        ddl = _ddl(report) if event.startswith("library cache") and "ash_sql_events" in report else ""
        yield Finding(
            "blocking_session",
            f"Session {row['sid']}{program} blocked other sessions in {percent(share / 100)} of {of}"
            f"{f', all in `{event}`' if report.kind == 'ash' else ''}{own}{ddl}.",  # else it stands beside the event
            None if is_of_blocking else share / 100,
            "the samples",
            next=_next_of_blocker(row["sid"], program, event, is_idle=is_idle, has_ddl=bool(ddl)),
            evidence=(Evidence("ash_blocking_sessions", (str(row["session"]),)),),
            explains=(event,),
        )


def _next_of_blocker(sid: int, program: str, event: str, *, is_idle: bool, has_ddl: bool) -> str:
    if has_ddl:
        return _QUIET
    if "LGWR" in program:
        return event_step(event) or "see the redo devices: iostat -xt 5"
    if is_idle:
        return f"have its transaction committed or rolled back, else end session {sid}"
    return f"take an ASH report of session {sid}: @?/rdbms/admin/ashrpti"


def _ddl(report: AwrReport) -> str:
    """The statement with most samples of those that change or compile an object."""
    verb = pl.col("sql_text").str.strip_chars().str.split(" ").list.first().str.to_uppercase()
    rows = report["ash_sql_events"].filter(verb.is_in(_DDL))
    found = rows.sort("activity_pct", descending=True).select("sql_id", "sql_text").head(1).rows()
    return "".join(f"; `{sql_id}` ran meanwhile: {short_text(text, MOST_TEXT)}" for sql_id, text in found)


@rule(
    "too_few_samples", of="ash", thresholds={"100 samples": "95 % interval of a half wider than 20 percentage points"}
)
def too_few_samples(facts: AshFacts) -> Iterator[Finding]:
    """This few samples that they are no profile."""
    if facts.total.is_counted and facts.total.samples < LEAST_SAMPLES:
        yield Finding(
            "too_few_samples",
            f"The report has {count_text(facts.total.samples, 'sample')}: too few for shares.",
            detail=f"with fewer than {LEAST_SAMPLES} samples the 95 % interval of a share of half is wider than 20 "
            "percentage points",
            next="take an ASH report of a longer period: @?/rdbms/admin/ashrpti",
            evidence=(Evidence("ash_activity"),),
            is_gate=True,
        )


@rule("wait_counts", of="ash")
def wait_counts(_facts: AshFacts) -> Iterator[Finding]:
    """What no ASH report shows."""
    yield Finding(
        "wait_counts",
        "The report does not show how many waits there were, nor how long one took: samples do not count waits.",
        next=_AWR,
        evidence=(Evidence("ash_top_events"),),
        is_refused=True,
    )


_INVALIDATES: Final = "see what invalidates cursors: statistics, DDL, grants of that time (dba_objects.last_ddl_time)"
#: Beginnings of findings of ADDM that say what took the time, not why.
_NO_CAUSES: Final = ("CPU", "Top ", "Unusual ")


def addm_findings(report: AwrReport) -> Iterator[Finding]:
    """What ADDM found, in its own words and figures."""
    yield from apply_rules("addm", report)


@rule("addm_finding", of="addm", needs="a table of findings")
def addm_named(report: AwrReport) -> Iterator[Finding]:
    r"""The findings of ADDM with their printed impact; impacts overlap, so they are no parts of the time.

    Examples:
        >>> import awrparse
        >>> report = awrparse.read_awr(b"          ADDM Report for Task 'TASK_1'\n          ------------------\n")
        >>> for one in addm_findings(report): print(one.sentence, one.is_refused)
        The report does not show what ADDM found: it has no table of findings. True
        >>> report = awrparse.read_awr(b"          ADDM Report for Task 'TASK_1'\n          ------------------\n"
        ...     b"There are no findings to report.\n")
        >>> for one in addm_findings(report): print(one.sentence, one.is_refused)
        ADDM had no findings to report. False
    """
    table = addm_table(report)
    if table is None:
        yield Finding(
            "addm_finding",
            "The report does not show what ADDM found: it has no table of findings.",
            detail="the report is cut, or says in another language that ADDM found nothing",
            next=_AWR,
            is_refused=True,
        )
        return
    if report[table].is_empty():
        yield Finding("addm_finding", "ADDM had no findings to report.", evidence=(Evidence("info"),))
    advised, details = addm_advised(report), _details(report, table)
    for place, (finding, share) in enumerate(sorted(addm_impacts(report), key=lambda one: -one[1].value)):
        stated, reasons, actions, usual = details.get(finding, ([], [], [], ""))
        said = f"ADDM rates `{finding}` at {percent(share / 100)} of the activity"
        own = [*stated, *reasons][:1] if place and not actions else stated if place else [*stated, *reasons][:2]
        said += f": {'; '.join(own)}" if own else ""
        said += f"; it advises: {actions[0]}" if actions else ""
        step = f"see whether this advice of ADDM fits: {usual}" if usual else ""
        step = step or (f"see the actions that the report lists for `{finding}`" if finding in advised else _AWR)
        yield Finding("addm_finding", f"{said}.", next=step, evidence=(Evidence(table, (finding,)),))


@rule("addm_finding", of="period", explains=("",), needs="findings of ADDM in an AWR report")
def addm_beside(report: AwrReport) -> Iterator[Finding]:
    """The cause that ADDM found for a third of the activity or more, beside the largest part of the time."""
    table = addm_table(report)
    if table is None:
        return
    causes = [one for one in addm_impacts(report) if not one[0].startswith(_NO_CAUSES) and "Class" not in one[0]]
    finding, share = max(causes, key=lambda one: one[1].value, default=("", Interval.exact(0)))
    if share.lo >= LARGE * 100:
        place = Evidence(table, (finding,))
        said = f"ADDM rates `{finding}` at {percent(share / 100)} of the activity."
        yield Finding("addm_finding", said, next=_INVALIDATES * ("Invalidations" in finding), evidence=(place,))


def _details(report: AwrReport, table: str) -> dict[str, tuple[list[str], list[str], list[str], str]]:
    """Of each finding sentences with figures, on it and on reasons, actions that name something, and its first one."""
    texts, rows = report.raw_tables, report[table]
    if _ADDM_TEXT not in texts or "finding_number" not in rows.columns or rows.get_column("task").n_unique() > 1:
        return {}
    advice, found = advice_of(texts[_ADDM_TEXT].get_column("text")), {}
    for number, name in rows.select("finding_number", "finding").iter_rows():
        if one := advice.get(number):
            stated = [text for text in one.found if _has_digit(text) and text not in name][:1]
            reasons = []
            for texts_of in one.reasons:  # how long something took says more than other figures
                figures = [text for text in texts_of if _has_digit(text)]
                reasons += sorted(figures, key=lambda text: _SECONDS not in text)[:1]
            actions = [text for several in one.actions for text in several]
            named = [_clause(text) for text in actions if '"' in text]
            found[name] = [*map(_clause, stated)], [*map(_clause, reasons)], named, next(map(_clause, actions), "")
    return found


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def _clause(sentence: str) -> str:
    """A sentence of ADDM as a clause: names in the marks of names.

    Examples:
        >>> _clause('Set the parameter "sga_target" to 9 M.'), _clause("I/O took 9 seconds.")
        ('set the parameter `sga_target` to 9 M', 'I/O took 9 seconds')
    """
    text = sentence.removesuffix(".").replace('"', "`")
    return text if text.split(" ")[0][1:].lower() != text.split(" ")[0][1:] else text[:1].lower() + text[1:]
