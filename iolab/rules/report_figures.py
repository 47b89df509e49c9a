"""Reading the figures that findings are made of out of a report's tables."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

import polars as pl

from iolab.rules.histograms import histograms_of
from iolab.rules.report_facts import FunctionIo, ReportFacts, TopEvent, Wait
from logframe.errors import RefusedError
from logframe.interval import Interval, intersect, row_figure
from logframe.oracle import is_idle
from logframe.printed import read_printed

if TYPE_CHECKING:
    from awrparse import AwrReport
    from iolab.rules.histograms import Histogram

#: Minutes with two decimals, in seconds.
_HALF_STEP_S: Final = 0.3
#: Histograms of fewer waits are not read: the rules ask for 100 or more.
_LEAST_WAITS: Final = 100


#: The facts of reports that are still in use: findings, profile and pairs ask for the same ones.
_FACTS: Final[WeakKeyDictionary[AwrReport, ReportFacts]] = WeakKeyDictionary()


def report_facts(report: AwrReport) -> ReportFacts:
    """The figures of a report; computed once for each."""
    if report not in _FACTS:
        _FACTS[report] = _report_facts(report)
    return _FACTS[report]


def _report_facts(report: AwrReport) -> ReportFacts:
    info = report.info
    model = _by_name(report, "time_model", "statistic", "time_s")
    foreground, all_classes = _classes(report, "foreground_wait_classes"), _classes(report, "wait_classes")
    db_cpu, db_cpu_from = _db_cpu(report, model, foreground, all_classes)
    activity = _by_name(report, "instance_activity", "statistic", "total")
    host = _one_row(report, "host_cpu")
    parameters = _parameters(report)
    allowed = parameters.get("cpu_count", "")
    captured_pct, captured_s = _captured(report)
    elsewhere = [("the time model", model["db time"])] if "db time" in model else []
    elsewhere += [("the foreground wait classes", captured_s)] if captured_s is not None else []
    operating = _table(report, "os_stats")
    return ReportFacts(
        kind=report.kind,
        release=info.version,
        platform=info.platform or "",
        is_rac=bool(info.is_rac),
        is_cut=report.kind in {"awr", "statspack"} and "instance_activity" not in report,
        elapsed_s=_minutes(info.elapsed_s),
        db_time_s=_minutes(info.db_time_s) or model.get("db time"),
        db_time_elsewhere_s=tuple(elsewhere),
        db_cpu_s=db_cpu,
        db_cpu_from=db_cpu_from,
        parse_s=model.get("parse time elapsed"),
        hard_parse_s=model.get("hard parse elapsed time"),
        captured_pct=captured_pct,
        classes={name: time for name, time in foreground.items() if name not in {"Idle", "DB CPU"}},
        all_classes={name: time for name, time in all_classes.items() if name not in {"Idle", "DB CPU"}},
        events=_narrowed(_foreground(report), _top_events(report)),
        background=_waits(report, "background_events"),
        top_events=_top_events(report),
        shares_of_all_waits=report.kind == "statspack" or (0 < (info.version or (0,))[0] < 11),
        histograms=_histograms(report),
        cpus=info.cpus,
        cores=info.cores,
        cpu_count=int(allowed) if allowed.isdecimal() else None,
        idle_pct=row_figure(host, "idle_pct"),
        user_pct=row_figure(host, "user_pct"),
        system_pct=row_figure(host, "system_pct"),
        load_end=_float(host.get("load_end")),
        busy_cpu_pct=row_figure(_one_row(report, "instance_cpu"), "busy_cpu_pct"),
        sessions=tuple(count for count in (info.sessions_begin, info.sessions_end) if count is not None),
        activity=activity,
        os=_os(operating, "value"),
        os_end=_os(operating, "end_value"),
        functions=_functions(report),
        statements=_statements(report),
        parameters=parameters,
    )


def _histograms(report: AwrReport) -> dict[str, Histogram]:
    """The histograms with waits enough for a finding."""
    if "event_histogram" not in report:
        return {}
    frame = _table(report, "event_histogram")
    enough = frame.filter(pl.col("waits") >= _LEAST_WAITS).get_column("event").unique()
    return histograms_of(frame.filter(pl.col("event").is_in(enough.to_list())))


def _table(report: AwrReport, name: str) -> pl.DataFrame:
    return report.with_bounds(name)


def _float(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


def _minutes(seconds: float | None) -> Interval | None:
    return None if seconds is None else Interval(seconds, max(seconds - _HALF_STEP_S, 0), seconds + _HALF_STEP_S)


def _one_row(report: AwrReport, name: str) -> dict[str, object]:
    """The row of a table that has one; empty where it has none, or one of each instance."""
    if name not in report:
        return {}
    frame = _table(report, name)
    return frame.row(0, named=True) if frame.height == 1 else {}


def _own_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of instances, without those of all together."""
    return (
        frame.filter(pl.col("instance").is_null() | (pl.col("instance") != "*"))
        if "instance" in frame.columns
        else frame
    )


def _by_name(report: AwrReport, table: str, key: str, column: str) -> dict[str, Interval]:
    """A figure of each row by its name in lower case; of several instances the sum."""
    if table not in report:
        return {}
    found: dict[str, Interval] = {}
    for row in _own_rows(_table(report, table)).iter_rows(named=True):
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


def _classes(report: AwrReport, table: str) -> dict[str, Interval]:
    if table not in report:
        return {}
    found: dict[str, Interval] = {}
    for row in _own_rows(_table(report, table)).iter_rows(named=True):
        time = row_figure(row, "total_wait_s")
        if time is not None and row["wait_class"] is not None:
            name = str(row["wait_class"])
            found[name] = found[name] + time if name in found else time
    return found


def _db_cpu(
    report: AwrReport, model: dict[str, Interval], foreground: dict[str, Interval], classes: dict[str, Interval]
) -> tuple[Interval | None, str]:
    """DB CPU, and the table that has it: the time model, of a report that was cut before it the top events or classes.

    "CPU time" of Statspack is another figure: of the sessions' statistics.
    """
    if "db cpu" in model:
        return model["db cpu"], "time_model"
    names = {"db cpu"} if report.kind == "statspack" else {"db cpu", "cpu time"}
    for one in _top_events(report) if report.kind != "awr_global" else ():  # which lists those of each instance
        if one.event.lower() in names and one.time_s is not None:
            return one.time_s, "top_events"
    if "DB CPU" in foreground:
        return foreground["DB CPU"], "foreground_wait_classes"
    return classes.get("DB CPU"), "wait_classes"


def _waits(report: AwrReport, table: str) -> dict[str, Wait]:
    if table not in report:
        return {}
    found: dict[str, Wait] = {}
    for row in _own_rows(_table(report, table)).iter_rows(named=True):
        name = str(row["event"])
        waits, time, average = (row_figure(row, column) for column in ("waits", "total_wait_s", "avg_wait_ms"))
        if is_idle(name, _text(row.get("wait_class"))) or waits is None or time is None:
            continue
        if average is not None and waits.lo > 0:
            try:
                time = intersect([time, average * waits / 1000])
            except RefusedError:
                continue  # the row contradicts itself; `metrics.contradictions` names it
        if name in found:
            found[name] = Wait(found[name].waits + waits, found[name].time_s + time)
        else:
            found[name] = Wait(waits, time, None if average is None else average / 1000)
    return found


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


def _narrowed(events: dict[str, Wait], top: tuple[TopEvent, ...]) -> dict[str, Wait]:
    """Events with the times of the table of top events where that has more digits, and counts the same waits."""
    found = dict(events)
    for one in top:
        own = events.get(one.event)
        if own is None or one.waits is None or one.time_s is None:
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
    if "top_events" not in report:
        return ()
    return tuple(
        TopEvent(str(row["event"]), _text(row["wait_class"]), row_figure(row, "waits"), row_figure(row, "total_wait_s"))
        for row in _own_rows(_table(report, "top_events")).iter_rows(named=True)
    )


def _captured(report: AwrReport) -> tuple[Interval | None, Interval | None]:
    """The share and DB time of "Captured Time accounts for 127.3% of Total DB time 601.61 (s)", in per cent and s."""
    for title in report.raw_tables:
        for note in report.raw_tables.notes(title):
            words = note.replace("%", " % ").split()
            if words[:2] != ["Captured", "Time"] or "(s)" not in words:
                continue
            printed = [read_printed(word, decimal=report.decimal_mark) for word in words]
            figures = [
                Interval(
                    one.value, one.lo if one.lo is not None else one.value, one.hi if one.hi is not None else one.value
                )
                for one in printed
                if one.value is not None
            ]
            if len(figures) == 2:
                return figures[0], figures[1]
    return None, None


def _os(frame: pl.DataFrame, column: str) -> dict[str, float]:
    if column not in frame.columns or frame.is_empty():
        return {}
    known = frame.filter(pl.col(column).is_not_null())
    return dict(zip(known["statistic"].to_list(), known[column].to_list(), strict=True))


def _parameters(report: AwrReport) -> dict[str, str]:
    if "parameters" not in report:
        return {}
    rows = report["parameters"].filter(pl.col("begin").is_not_null())
    return dict(zip(rows["parameter"].to_list(), rows["begin"].to_list(), strict=True))


def _functions(report: AwrReport) -> dict[str, FunctionIo]:
    """I/O by function, with the row `TOTAL`; text reports cut names at 15 characters."""
    if "iostat_function" not in report:
        return {}
    found = {}
    for row in _own_rows(_table(report, "iostat_function")).iter_rows(named=True):
        reads, size = row_figure(row, "read_requests_per_s"), row_figure(row, "read_bytes_per_s")
        name = str(row["function"]).rstrip(":")
        name = "TOTAL" if name.lower() == "total" else name
        if reads is None or size is None or name in found:
            continue
        found[name] = FunctionIo(reads, size, row_figure(row, "waits"))
    return found


def _statements(report: AwrReport) -> tuple[tuple[str, Interval, float | None, str], ...]:
    if "sql" not in report:
        return ()
    frame = _table(report, "sql")
    if not {"ordered_by", "sql_id", "elapsed_s", "executions"} <= set(frame.columns):
        return ()
    rows = frame.filter((pl.col("ordered_by") == "elapsed") & pl.col("sql_id").is_not_null())
    found = []
    for row in rows.iter_rows(named=True):
        elapsed = row_figure(row, "elapsed_s")
        if elapsed is not None:
            found.append((str(row["sql_id"]), elapsed, _float(row["executions"]), _text(row.get("module")) or ""))
    return tuple(found)
