"""Reading the figures that findings are made of out of a report's tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

import polars as pl

from awrparse.info import prints_month, started_between
from iolab.metrics.ash import ON_CPU, ash_samples, cpu_queues
from iolab.metrics.awr import ALL_INSTANCES
from iolab.metrics.awr import elapsed as inferred
from iolab.metrics.histograms import Histogram, histograms_of
from iolab.metrics.report_facts import SAMPLED_EVERY_S, FunctionIo, ReportFacts, Samples, Statement, TopEvent, Wait
from iolab.metrics.table import figure_of
from logframe.errors import RefusedError
from logframe.interval import Interval, intersect, row_figure
from logframe.oracle import is_idle

if TYPE_CHECKING:
    from datetime import datetime

    from awrparse import AwrReport

#: Where DB time is from in a part of a report that does not state it.
FROM_SHARES: Final = "the printed shares"
#: Minutes with two decimals, in seconds.
_HALF_STEP_S: Final = 0.3
#: Printed shares from here on, in %, say what they are of.
_LEAST_SHARE_PCT: Final = 1.0
#: What SQL text begins with that calls other statements.
_BLOCKS: Final = ("begin", "declare", "call")
#: The end of a text that a list cuts.
_CUT: Final = "..."
#: Histograms of fewer waits are not read: the rules ask for 100 or more.
_LEAST_WAITS: Final = 100


#: The tables that figures are made of.
_TABLES: Final = (
    *("snapshots", "instances", "databases", "hosts", "host_cpu", "instance_cpu", "os_stats", "parameters"),
    *("time_model", "load_profile", "instance_activity", "thread_activity", "iostat_function", "services"),
    "sql",
    *("wait_classes", "foreground_wait_classes", "top_events", "foreground_events", "background_events", "wait_events"),
    *("event_histogram", "ash_activity", "ash_top_events", "ash_sql_events", "rac_events"),
)
#: Counts of a statement that its lists have.
_COUNTS: Final = ("buffer_gets", "physical_reads", "rows_processed")
#: Texts are compared where hard parses took this much of DB time.
_LEAST_PARSES: Final = 0.05
#: The facts of reports that are still in use: findings, profile and pairs ask for the same ones.
_FACTS: Final[WeakKeyDictionary[AwrReport, ReportFacts]] = WeakKeyDictionary()


def report_facts(report: AwrReport) -> ReportFacts:
    """The figures of a report; computed once for each."""
    if report not in _FACTS:
        _FACTS[report] = _report_facts(report)
    return _FACTS[report]


def _report_facts(report: AwrReport) -> ReportFacts:
    report.build(_TABLES)
    info = report.info
    model = _by_name(report, "time_model", "statistic", "time_s")
    foreground = _by_key(report, "foreground_wait_classes", "wait_class", "total_wait_s")
    all_classes = _by_key(report, "wait_classes", "wait_class", "total_wait_s")
    elapsed = _minutes(info.elapsed_s)
    if elapsed is None and "wait_classes" in report:  # a fragment without a head
        elapsed = figure_of(inferred(_table(report, "wait_classes")))
    stated = report.stated.to_dicts()
    times = _db_times(report, stated, model, elapsed)
    db_time = times[0][1] if times else None
    top, background = _top_events(report), _waits(report, "background_events")
    db_cpu, db_cpu_from = _db_cpu(report, model, foreground, top, elapsed)
    tables = ("thread_activity", "instance_activity")
    activity = {name: of for one in tables for name, of in _by_name(report, one, "statistic", "total").items()}
    os = _os(_rows(report, "os_stats"), "value")
    own = os if report.kind in {"awr", "statspack"} else {}  # not of several hosts
    host = _one_row(report, "host_cpu") or _shares_of_cpu(own)
    hard = model.get("hard parse elapsed time")
    has_parses = hard is not None and (db_time is None or hard.value >= _LEAST_PARSES * db_time.value)
    parameters = _parameters(report)
    allowed = parameters.get("cpu_count", "")
    ids = (info.begin_snap_id, info.end_snap_id)
    return ReportFacts(
        kind=report.kind,
        release=info.version,
        platform=info.platform or "",
        is_rac=bool(info.is_rac),
        is_cut=report.kind in {"awr", "statspack"}
        and "instance_activity" not in report
        and "end" not in report.line_counts,
        invalid=_invalid(report),
        snapshots=None if ids[0] is None or ids[1] is None else (ids[0], ids[1]),
        begin=info.begin_time,
        end=info.end_time,
        startups=tuple(_startups(report)),
        elapsed_s=elapsed,
        db_time_s=db_time,
        db_times_s=times,
        call_time_s=None if db_time is not None else _whole_of_shares(report, "call_time_pct"),
        db_cpu_s=db_cpu,
        db_cpu_from=db_cpu_from,
        parse_s=model.get("parse time elapsed"),
        hard_parse_s=hard,
        connect_s=model.get("connection management call elapsed time"),
        captured_pct=_stated(stated, "Time", "pct"),
        captured_sql_pct=_stated(stated, "SQL", "pct"),
        fg_wait_s=_stated(stated, "FG Wait Time", "seconds"),
        plsql_s=model.get("pl/sql execution elapsed time"),
        background_s=model.get("background elapsed time"),
        background_cpu_s=model.get("background cpu time"),
        classes={name: time for name, time in foreground.items() if name not in {"Idle", "DB CPU"}},
        class_waits=_by_key(report, "foreground_wait_classes", "wait_class", "waits"),
        has_all_events="foreground_events" in report
        and report.kind != "awr_global"
        and report["foreground_events"]["total_wait_s"].null_count() == 0,
        all_classes={name: time for name, time in all_classes.items() if name not in {"Idle", "DB CPU"}},
        events=_narrowed(_foreground(report), top, background if "foreground_events" in report else None),
        event_classes={one.event: one.wait_class for one in top if one.wait_class is not None},
        background=background,
        top_events=top,
        shares_of_all_waits=report.kind == "statspack" or (0 < (info.version or (0,))[0] < 11),
        histograms=_Histograms(report),
        cpus=info.cpus or int(own.get("NUM_CPUS", 0)) or None,
        cores=info.cores,
        cpu_count=int(allowed) if allowed.isdecimal() else None,
        **_idle(host),
        iowait_pct=row_figure(host, "wio_pct"),
        user_pct=row_figure(host, "user_pct"),
        system_pct=row_figure(host, "system_pct"),
        load_end=_float(host.get("load_end")),
        busy_cpu_pct=row_figure(_one_row(report, "instance_cpu"), "busy_cpu_pct"),
        sessions=tuple(count for count in (info.sessions_begin, info.sessions_end) if count is not None),
        activity=activity,
        redo_rate=_rate_of(report, "redo size(bytes)") or _rate_of(report, "redo size"),
        os=os,
        os_end=_os(_rows(report, "memory"), "end") | _os(_rows(report, "os_stats"), "end_value"),
        functions=_functions(report),
        statements=_statements(report),
        alike=_alike(report) if has_parses else (0, 0),
        versions=tuple(_versions(report)),
        services=_by_key(report, "services", "service", "db_time_s"),
        instances=_instances(report),
        samples=_samples(report),
        parameters=parameters,
    )


class _Histograms(Mapping[str, Histogram]):
    """The histograms with waits enough for a finding, each merged when it is asked for."""

    def __init__(self, report: AwrReport) -> None:
        # the table, and not the report, which would never be freed: the facts are kept as long as it is
        self._frame = _table(report, "event_histogram") if "event_histogram" in report else None
        self._found: dict[str, Histogram | None] = {}

    @cached_property
    def _rows(self) -> dict[str, pl.DataFrame]:
        if self._frame is None:
            return {}
        frame = self._frame
        enough = frame.filter(pl.col("waits") >= _LEAST_WAITS).get_column("event").unique()
        kept = frame.filter(pl.col("event").is_in(enough.to_list()))
        return {str(event): rows for (event,), rows in kept.group_by("event", maintain_order=True)}

    def __getitem__(self, event: str) -> Histogram:
        if event not in self._found:
            self._found[event] = histograms_of(self._rows[event]).get(event)
        found = self._found[event]
        if found is None:
            raise KeyError(event)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def _table(report: AwrReport, name: str) -> pl.DataFrame:
    return report.with_bounds(name)


def _idle(host: dict[str, Any]) -> dict[str, Interval | None]:
    """How idle the processors were, I/O waits included, and without those where the report prints them apart.

    Examples:
        >>> apart = {"user_pct": 18.2, "system_pct": 31.9, "wio_pct": 44.1, "idle_pct": 5.8}
        >>> {name: found and round(found.value, 1) for name, found in _idle(apart).items()}
        {'idle_pct': 49.9, 'idle_only_pct': 5.8}
        >>> {name: found and round(found.value, 1) for name, found in _idle({**apart, "idle_pct": 49.9}).items()}
        {'idle_pct': 49.9, 'idle_only_pct': None}
        >>> _idle({"user_pct": 87.9, "system_pct": 10.0, "wio_pct": 0.3, "idle_pct": 2.0})["idle_pct"].value
        2.0
    """
    idle, iowait = row_figure(host, "idle_pct"), row_figure(host, "wio_pct")
    busy = [_float(host.get(name)) for name in ("user_pct", "system_pct")]
    if idle is None or iowait is None or None in busy:
        return {"idle_pct": idle, "idle_only_pct": None}
    without = sum(filter(None, busy)) + idle.value  # the sum of all is 100, but for rounding
    is_apart = abs(without + iowait.value - 100) < abs(without - 100)
    return {"idle_pct": idle + iowait, "idle_only_pct": idle} if is_apart else {"idle_pct": idle, "idle_only_pct": None}


def _float(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


def _minutes(seconds: float | None) -> Interval | None:
    if seconds is None or seconds < 0:  # the clock was set back
        return None
    return Interval(seconds, max(seconds - _HALF_STEP_S, 0), seconds + _HALF_STEP_S)


def _rows(report: AwrReport, name: str) -> list[dict[str, Any]]:
    """The rows of a table with the bounds of their figures; none where the report has no such table."""
    return _table(report, name).to_dicts() if name in report else []


def _one_row(report: AwrReport, name: str) -> dict[str, Any]:
    """The row of a table that has one; empty where it has none, or one of each instance."""
    rows = _rows(report, name)
    return rows[0] if len(rows) == 1 else {}


def _own_rows(report: AwrReport, name: str) -> list[dict[str, Any]]:
    """The rows of instances, without those of all together."""
    return [row for row in _rows(report, name) if row.get("instance") not in ALL_INSTANCES]


def _all_rows(report: AwrReport, name: str) -> list[dict[str, Any]]:
    """The rows of all instances together where the report lists them, whose lists are not cut at each instance."""
    rows = _rows(report, name)
    return [row for row in rows if row.get("instance") == "*"] or rows


def _by_name(report: AwrReport, table: str, key: str, column: str) -> dict[str, Interval]:
    """A figure of each row by its name in lower case; of several instances the sum."""
    found: dict[str, Interval] = {}
    for row in _own_rows(report, table):
        figure = row_figure(row, column)
        if figure is None or row[key] is None:
            continue
        name = str(row[key]).lower()
        is_instance = row.get("instance") is not None
        if name not in found:
            found[name] = figure
        elif is_instance:
            found[name] += figure
    return found


def _db_times(
    report: AwrReport, stated: list[dict[str, Any]], model: dict[str, Interval], elapsed: Interval | None
) -> tuple[tuple[str, Interval], ...]:
    """Each statement of DB time, the most exact first: time model, head, class page, load profile, printed shares."""
    found: dict[str, Interval | None] = {
        "the time model": model.get("db time"),
        "the head": _minutes(report.info.db_time_s),
    }
    for number, row in enumerate(row for row in stated if row["what"] == "Time"):
        found[f"the foreground wait classes{number or ''}"] = row_figure(row, "seconds")
    known = tuple((where, time) for where, time in found.items() if time is not None)
    if known:
        return known
    from_load = _per_second(report, "db time(s)", elapsed)
    if from_load is not None:
        return (("the load profile", from_load),)
    for row in stated:
        whole = row["seconds"]
        if _is_db_time(row) and whole is not None and whole > 0:  # printed in whole seconds
            time = Interval(whole, min(whole - 0.5, row["seconds_lo"]), max(whole + 0.5, row["seconds_hi"]))
            return (("the SQL lists", time),)
    if report.kind == "statspack":
        return ()
    from_shares = _whole_of_shares(report, "db_time_pct")
    return () if from_shares is None else ((FROM_SHARES, from_shares),)


def _per_second(report: AwrReport, statistic: str, elapsed: Interval | None) -> Interval | None:
    """A time of the load profile over the period."""
    found = _rate_of(report, statistic)
    return None if found is None or elapsed is None or elapsed.lo <= 0 else found * elapsed


def _rate_of(report: AwrReport, statistic: str) -> Interval | None:
    """A figure of the load profile per second."""
    rate = _by_key(report, "load_profile", "statistic", "per_second")
    wanted = statistic.replace(" ", "")
    return next((figure for name, figure in rate.items() if name.lower().replace(" ", "") == wanted), None)


def _whole_of_shares(report: AwrReport, column: str) -> Interval | None:
    """What printed shares of events and classes are of: their time divided by them, from 1 % on."""
    wholes = []
    for table in ("top_events", "foreground_events", "foreground_wait_classes"):
        if table not in report or column not in report[table].columns:
            continue
        for row in _all_rows(report, table):
            time, share = row_figure(row, "total_wait_s"), row_figure(row, column)
            if time is not None and share is not None and share.lo >= _LEAST_SHARE_PCT and time.lo > 0:
                wholes.append(time / share * 100)
    try:
        return intersect(wholes)
    except RefusedError:
        return None


def _invalid(report: AwrReport) -> str:
    """Why a report has no figures by its own words: a restart between its snapshots, or a clock that was set back."""
    said, seconds = report.info.invalid, report.info.elapsed_s
    if said is None:
        if seconds is not None and seconds < 0:
            return f"the period is {seconds / 60:.2f} minutes long: the clock was set back between the snapshots"
        return ""
    line = f"line {report.invalid_line}"
    if said.startswith("ORA-"):
        return f"the instance was restarted between the two snapshots ({said.split(':')[0]}, {line})"
    return f"the report says of itself: {said.split(':', 1)[-1].strip()} ({line})"


def _startups(report: AwrReport) -> Iterator[tuple[datetime, datetime]]:
    """From when to when at the latest each instance was started."""
    for name in ("instances", "databases"):
        frame = report[name] if name in report else pl.DataFrame()
        if "startup_time" not in frame.columns:
            continue
        for moment in frame.get_column("startup_time").drop_nulls().to_list():
            yield started_between(moment, is_hour=prints_month(report.info, moment))


def _db_cpu(
    report: AwrReport,
    model: dict[str, Interval],
    foreground: dict[str, Interval],
    top: tuple[TopEvent, ...],
    elapsed: Interval | None,
) -> tuple[Interval | None, str]:
    """DB CPU, and the table that has it: time model, classes, top events, head, load profile.

    "CPU time" of Statspack is another figure, of the sessions' statistics: it is used of a report alone that prints
    shares of call time and no DB time.
    """
    names = {"db cpu"} if report.kind == "statspack" and "time_model" in report else {"db cpu", "cpu time"}
    on_cpu = next((one.time_s for one in top if one.event.lower() in names and one.time_s is not None), None)
    found = (
        (model.get("db cpu"), "time_model"),
        (foreground.get("DB CPU"), "foreground_wait_classes"),
        (on_cpu, "top_events"),
        (_minutes(report.info.db_cpu_s), "info"),
        (_per_second(report, "db cpu(s)", elapsed), "load_profile"),
    )
    return next((one for one in found if one[0] is not None), (None, "time_model"))


def _instances(report: AwrReport) -> dict[str, Interval]:
    """DB time of each instance of a report of several."""
    if report.kind != "awr_global":
        return {}
    rows = [row for row in _own_rows(report, "time_model") if str(row["statistic"]).lower() == "db time"]
    found = {str(row["instance"]): row_figure(row, "time_s") for row in rows}
    return {f"instance {name}": time for name, time in found.items() if time is not None}


def _by_key(report: AwrReport, table: str, key: str, column: str) -> dict[str, Interval]:
    """A figure of each row by its name as printed; of a name that repeats the sum."""
    found: dict[str, Interval] = {}
    for row in _own_rows(report, table):
        figure = row_figure(row, column)
        if column == "total_wait_s":  # printed in whole seconds, and its average in more digits
            figure = _waited(row_figure(row, "waits"), figure, row_figure(row, "avg_wait_ms"))
        if figure is not None and row[key] is not None:
            found[str(row[key])] = found[str(row[key])] + figure if str(row[key]) in found else figure
    return found


def _waits(report: AwrReport, table: str) -> dict[str, Wait]:
    found: dict[str, Wait] = {}
    for row in _all_rows(report, table):
        name = str(row["event"])
        waits, time, average = (row_figure(row, column) for column in ("waits", "total_wait_s", "avg_wait_ms"))
        time = _waited(waits, time, average)
        if is_idle(name, _text(row.get("wait_class"))) or waits is None or time is None:
            continue
        if name in found:
            found[name] = Wait(found[name].waits + waits, found[name].time_s + time)
        else:
            found[name] = Wait(waits, time, None if average is None else average / 1000)
    return found


def _waited(waits: Interval | None, time: Interval | None, average: Interval | None) -> Interval | None:
    """The time of waits as printed and by their average (ms); where it is too wide for its column, the average's."""
    if waits is None or average is None or waits.lo <= 0:
        return time
    with suppress(RefusedError):  # a row that contradicts itself; `metrics.contradictions` names it
        return intersect([one for one in (time, average * waits / 1000) if one is not None])
    return time


def _foreground(report: AwrReport) -> dict[str, Wait]:
    """Foreground events; of releases that print all waits and those of the background, the difference.

    Without the table of background events nothing is known of the foreground.
    """
    own = _waits(report, "foreground_events")
    if own:
        return own
    background = _waits(report, "background_events")
    if not background:
        return {}
    found = {}
    for name, every in _waits(report, "wait_events").items():
        in_background = background.get(name)
        if in_background is None:
            found[name] = every
            continue
        waits, time = every.waits - in_background.waits, every.time_s - in_background.time_s
        if waits.hi > 0 and time.hi > 0:
            found[name] = Wait(_not_below_zero(waits), _not_below_zero(time))
    return found


def _narrowed(
    events: dict[str, Wait], top: tuple[TopEvent, ...], background: dict[str, Wait] | None
) -> dict[str, Wait]:
    """Events with the times of the table of top events where that has more digits, and counts the same waits.

    A top event is in the table of foreground events, too: where its row there cannot be read, that of the top events
    stands for it.  Statspack lists events of background processes among them: those are in their own table.  Without
    a table of foreground events ``background`` is None.
    """
    found = dict(events)
    for one in top:
        own = events.get(one.event)
        if one.waits is None or one.time_s is None:
            continue
        if own is None:
            listed = [*events.values(), *(wait for name, wait in (background or {}).items() if name == one.event)]
            is_same = any(wait.waits.meets(one.waits) and wait.time_s.meets(one.time_s) for wait in listed)
            if background is not None and not is_same and not is_idle(one.event, one.wait_class):
                found[one.event] = Wait(one.waits, one.time_s)
            continue
        try:
            found[one.event] = replace(
                own, waits=intersect([own.waits, one.waits]), time_s=intersect([own.time_s, one.time_s])
            )
        except RefusedError:
            continue
    return found


def _not_below_zero(figure: Interval) -> Interval:
    return Interval(max(figure.value, 0), max(figure.lo, 0), max(figure.hi, 0))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _top_events(report: AwrReport) -> tuple[TopEvent, ...]:
    """The top events; a report of all instances may list those of foreground sessions by themselves."""
    own = [row for row in _all_rows(report, "rac_events") if row["section"] == "top_foreground"]
    return tuple(
        TopEvent(
            str(row["event"]),
            _text(row["wait_class"]),
            row_figure(row, "waits"),
            _waited(*(row_figure(row, column) for column in ("waits", "total_wait_s", "avg_wait_ms"))),
        )
        for row in own or _all_rows(report, "top_events")
    )


def _stated(stated: list[dict[str, Any]], what: str, column: str) -> Interval | None:
    """A sum that a remark above a table states, of DB time or by itself."""
    for row in stated:
        if row["what"] == what and (row["of"] is None or _is_db_time(row)):
            return row_figure(row, column)
    return None


def _is_db_time(row: dict[str, Any]) -> bool:
    return (row["of"] or "").lower() == "total db time"


def _os(rows: list[dict[str, Any]], column: str) -> dict[str, float]:
    return {row["statistic"]: row[column] for row in rows if row.get(column) is not None}


def _shares_of_cpu(os: dict[str, float]) -> dict[str, Any]:
    """The columns of the host's processors that 10g prints as times only; idle time has I/O waits in it or not.

    Examples:
        >>> _shares_of_cpu({"BUSY_TIME": 60.0, "IDLE_TIME": 40.0, "USER_TIME": 50.0, "SYS_TIME": 10.0})
        {'user_pct': 50.0, 'system_pct': 10.0, 'idle_pct': 40.0}
    """
    whole = os.get("BUSY_TIME", 0.0) + os.get("IDLE_TIME", 0.0)
    names = {"user_pct": "USER_TIME", "system_pct": "SYS_TIME", "idle_pct": "IDLE_TIME"}
    return {name: 100 * os[of] / whole for name, of in names.items() if of in os} if whole else {}


def _parameters(report: AwrReport) -> dict[str, str]:
    if "parameters" not in report:
        return {}
    names, values = (report["parameters"].get_column(name).to_list() for name in ("parameter", "begin"))
    return {name: value for name, value in zip(names, values, strict=True) if name is not None and value is not None}


def _functions(report: AwrReport) -> dict[str, FunctionIo]:
    """I/O by function, with the row `TOTAL`; text reports cut names at 15 characters."""
    found: dict[str, FunctionIo] = {}
    for row in _own_rows(report, "iostat_function"):
        reads, size = row_figure(row, "read_requests_per_s"), row_figure(row, "read_bytes_per_s")
        name = str(row["function"]).rstrip(":")
        name = "TOTAL" if name.lower() == "total" else name
        if reads is None or size is None or name in found:
            continue
        found[name] = FunctionIo(reads, size, row_figure(row, "waits"))
    return found


def _statements(report: AwrReport) -> tuple[Statement, ...]:
    """The statements of all lists that print elapsed times; of one in several lists the row of the first."""
    rows = _all_rows(report, "sql")
    key = "sql_id" if any(row.get("sql_id") for row in rows) else "old_hash_value"
    first: dict[tuple[object, object], dict[str, Any]] = {}
    for row in sorted(rows, key=lambda row: row.get("ordered_by") != "elapsed"):
        if row.get("elapsed_s") is not None and row.get(key) is not None:
            first.setdefault((row[key], row.get("pdb")), row)
    counts: dict[tuple[object, object], dict[str, float]] = {}
    for row in rows:
        known = counts.setdefault((row.get(key), row.get("pdb")), {})
        known |= {name: row[name] for name in _COUNTS if row.get(name) is not None and name not in known}
        if row.get("ordered_by") in {"reads", "gets"} and row.get("total_pct") is not None:
            known[f"{row['ordered_by']}_pct"] = row["total_pct"]
    found = []
    for one, row in first.items():
        elapsed = row_figure(row, "elapsed_s")
        if elapsed is None:
            continue
        cpu, io = (_part_of(row, elapsed, *columns) for columns in (("cpu_s", "cpu_pct"), ("io_wait_s", "io_pct")))
        text = " ".join((_text(row.get("sql_text")) or "").split())
        executions, module = row_figure(row, "executions"), _text(row.get("module")) or ""
        pdb = _text(row.get("pdb")) or ""
        is_by_elapsed = row.get("ordered_by") == "elapsed"
        block, sql_id = _is_block(text), str(row[key])
        found.append(
            Statement(sql_id, elapsed, executions, cpu, io, module, text, pdb, block, is_by_elapsed, counts[one])
        )
    return tuple(sorted(found, key=lambda one: -one.elapsed_s.value))


def _alike(report: AwrReport) -> tuple[int, int]:
    """How many of the statements listed are another one but for literals, and how many are listed with their text."""
    from sqltraceparse import without_literals  # noqa: PLC0415 - its grammar is loaded for reports with hard parses

    texts = [
        report[name].select(pl.coalesce(pl.col("^(sql_id|old_hash_value)$").cast(pl.String)).alias("id"), "sql_text")
        for name in ("sql_text", "sql")
        if name in report
    ]
    if not texts:
        return 0, 0
    rows = pl.concat(texts).drop_nulls().filter(pl.col("sql_text").str.tail(3) != _CUT).unique("id", keep="first")
    rows = rows.with_columns(key=without_literals(pl.col("sql_text")))
    return rows.filter(pl.col("key").is_duplicated(), pl.col("key") != pl.col("sql_text")).height, rows.height


def _versions(report: AwrReport) -> Iterator[tuple[str, int]]:
    """SQL_ID and number of child cursors of the statements that a list has them of, and that ran as often or more."""
    for row in _rows(report, "sql"):
        versions = row.get("versions")
        if row.get("sql_id") and versions and (row.get("executions") or versions) >= versions:
            yield row["sql_id"], versions


def _part_of(row: dict[str, object], elapsed: Interval, time: str, share: str) -> Interval | None:
    """A part of a statement's time, as printed or by its share."""
    printed, percent = row_figure(row, time), row_figure(row, share)
    return printed if printed is not None or percent is None else elapsed * percent / 100


def _is_block(text: str) -> bool:
    """Is a statement PL/SQL, by its first word after comments?

    Examples:
        >>> _is_block("/* job */ BEGIN run; END;"), _is_block("declare x;"), _is_block("select begin from t")
        (True, True, False)
    """
    rest = text.lstrip()
    while rest.startswith("/*") and "*/" in rest:
        rest = rest.split("*/", 1)[1].lstrip()
    first = rest[:8].lower()
    return any(first.startswith(word) and not first[len(word) : len(word) + 1].isalnum() for word in _BLOCKS)


def _samples(report: AwrReport) -> Samples:
    """Active session history inside the report."""
    on_cpu: Interval | None = None
    if "ash_top_events" in report:
        for row in report.with_bounds("ash_top_events").iter_rows(named=True):
            if row["event"] == ON_CPU and row.get("session_type") in {None, "FOREGROUND"} and on_cpu is None:
                on_cpu = row_figure(row, "avg_active_sessions")
    statements: dict[str, tuple[str, float]] = {}
    if "ash_sql_events" in report:
        columns = ("sql_id", "sql_text", "activity_pct", "plan_hash")
        rows = (
            report["ash_sql_events"]
            .filter(pl.col("sql_id").is_not_null())
            .unique(["sql_id", "plan_hash"], keep="first", maintain_order=True)
        )
        for sql_id, text, share, _ in rows.select(columns).iter_rows():
            known = statements.get(sql_id, (text or "", 0.0))
            statements[sql_id] = (known[0], known[1] + (share or 0.0))
    listed = sorted(((name, text, share) for name, (text, share) in statements.items()), key=lambda one: -one[2])
    cpus = report.info.cpus or 0
    queues = cpu_queues(report, cpus, SAMPLED_EVERY_S) if cpus and report.kind == "awr" else []
    return Samples(ash_samples(report) or 0, on_cpu, tuple(queues), tuple(listed))
