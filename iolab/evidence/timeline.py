"""Many reports of one instance as a time line: periods, breaks between them, active sessions and latencies over time.

    line = iolab.evidence.timeline.read_timeline("reports/").only()
    line.breaks                                  # restarts, and periods that no report covers
    iolab.charts.sessions_over_time(line.sessions, line.breaks)

The functions take what `awrparse.read_awrs` gives, read with ``printed=True``, and give one row a report and event or
class, with the columns of a metric: every figure is a rate or an average with bounds, never a count, so that reports of
different length are comparable.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from awrparse import read_awrs
from iolab.dataset.fleet import report_frames
from iolab.dataset.layout import DESCRIPTION
from iolab.evidence.report_periods import CLOCK_S, SINGLE_BLOCK_READS, find_breaks, of_instances, once, periods
from iolab.metrics.awr import foreground_waits, intersected, key_of, narrow_waits
from iolab.metrics.histograms import waits_within
from iolab.metrics.table import METRICS
from logframe import DIAGNOSTICS, LogError
from logframe.interval import ENDS
from logframe.oracle import is_idle

if TYPE_CHECKING:
    from collections.abc import Iterable

    from awrparse import AwrFrames
    from logframe import Source

#: Columns that name the report, before the event or class and the columns of a metric.
KEYS: Final = ("report", "instance_name", "begin_time", "end_time")

#: The head of a report shows minutes with two decimals.
_HALF_STEP_S: Final = 0.3
#: The table that prints some of the foreground events once more, now and then with more digits.
_NARROWING: Final = "top_events"
#: Tables that a report may lack: they narrow the bounds of the foreground events, or stand for these.
_SUBSTITUTES: Final = (_NARROWING, "wait_events", "background_events")
#: The tables of reports that a time line is made of.
TABLES: Final = ("info", "foreground_wait_classes", "foreground_events", "parameters", *_SUBSTITUTES)
_NONE: Final = (
    "no report of an instance was found (one without times, or with a restart between its snapshots, is left out)"
)
#: Why a report is not on a time line.
LEFT_OUT: Final = "no valid report of one instance between two snapshots, with times and without a restart between them"
_AVERAGE: Final = "an average is no latency: look at the histogram for modes"


@dataclass(frozen=True)
class Timeline:
    """What `read_timeline` gives: frames of all reports, in order of time.

    Attributes:
        periods: one row a report (`iolab.evidence.report_periods.PERIODS`).
        breaks: restarts, gaps, overlaps and repeated reports (`iolab.evidence.report_periods.BREAKS`).
        sessions: average active sessions by wait class of foreground sessions, `DB CPU` among them.
        events: average active sessions by foreground event, `DB CPU` among them.
        latencies: average wait of every foreground event, in ms.
        parameters: initialization parameters as printed.
        diagnostics: what could not be read; a bad report is a row and stops nothing.
    """

    periods: pl.DataFrame
    breaks: pl.DataFrame
    sessions: pl.DataFrame
    events: pl.DataFrame
    latencies: pl.DataFrame
    parameters: pl.DataFrame
    diagnostics: pl.DataFrame

    @property
    def instances(self) -> list[str]:
        """The instances, the one with the most reports first; with the database id where databases share the name."""
        names = self.periods.get_column("instance_name").drop_nulls().to_list()
        return sorted(set(names), key=lambda name: (-names.count(name), name))

    def only(self, instance: str | None = None) -> Timeline:
        """The time line of one instance; of the one with the most reports where none is named.

        Args:
            instance: One of `instances`.

        Raises:
            NoInstanceError: There is no such instance.
        """
        names = self.instances
        if not names or (instance is not None and instance not in names):
            what = f"no report of the instance {instance}" if instance else _NONE
            raise NoInstanceError(f"{what}; there are reports of {', '.join(names)}" if names else what)
        framed = ("periods", "breaks", "sessions", "events", "latencies", "parameters")
        return replace(self, **{one: getattr(self, one).filter(instance_name=instance or names[0]) for one in framed})


class NoInstanceError(LogError, LookupError):
    """There is no report of an instance."""


def read_timeline(sources: Source, *, workers: int | None = None, progress: bool | None = None) -> Timeline:
    """The time line of many reports: text and HTML, of any release, compressed or not.

    Two reports of the same snapshots, such as the text and the HTML of one, count once.  Reports of a whole cluster
    name no instance; take those of its instances.

    Args:
        sources: As for `awrparse.read_awrs`: a folder, a glob, a list of paths, an archive; or a dataset
            (`iolab.dataset`).
        workers: How many processes read; 1 reads in this one, which is quickest for a few small reports.
        progress: Show a progress bar on the standard error; when None, only on a terminal.

    Raises:
        LogNotFoundError: A path leads nowhere.
    """
    if isinstance(sources, (str, Path)) and Path(sources, DESCRIPTION).is_file():
        return timeline_of(report_frames(sources, TABLES))
    return timeline_of(read_awrs(sources, table=TABLES, printed=True, workers=workers, progress=progress))


def timeline_of(read: AwrFrames) -> Timeline:
    """The time line of the reports of which the tables `TABLES` were read, from files or from a dataset."""
    known = periods(read.frames["info"])
    single = once(known)
    frames = {name: of_instances(frame, single) for name, frame in read.frames.items()}
    waits = foreground_waits(frames["foreground_events"], frames["wait_events"], frames["background_events"])
    waits = narrow_waits(waits, frames[_NARROWING], ("report", "part", "event"))
    sessions = active_sessions(frames["foreground_wait_classes"])
    cpu = sessions.filter(pl.col("wait_class") == "DB CPU").rename({"wait_class": "event"})
    events = pl.concat([cpu, active_sessions(waits)])
    return Timeline(
        single,
        find_breaks(known),
        sessions,
        events.sort("begin_time", "report", maintain_order=True),
        latencies(waits),
        frames["parameters"],
        _problems(read, known, waits),
    )


def _problems(read: AwrFrames, known: pl.DataFrame, waits: pl.DataFrame) -> pl.DataFrame:
    """Diagnostics of all tables, each once; of a report without a period only that it has none."""
    is_missing = (pl.col("kind") == "missing") & (pl.col("text") == "info")
    missing = read.diagnostics.filter(is_missing).get_column("source")
    untimed = read.frames["info"].join(known, on=["report", "part"], how="anti", maintain_order="left")
    lost = pl.concat([missing, untimed.get_column("report")]).unique(maintain_order=True)
    fields = {"source": pl.col("source"), "kind": pl.lit("missing"), "reason": pl.lit(LEFT_OUT)}
    untimed_rows = pl.DataFrame({"source": lost}).select(
        fields.get(name, pl.lit(None)).cast(dtype).alias(name) for name, dtype in DIAGNOSTICS.items()
    )
    is_replaced = (pl.col("kind") == "missing") & pl.col("text").is_in(TABLES) & pl.col("source").is_in(lost.to_list())
    found = pl.col("source").is_in(waits.get_column("report").unique().to_list())
    is_replaced |= (pl.col("kind") == "missing") & pl.col("text").is_in(_SUBSTITUTES)
    is_replaced |= (pl.col("kind") == "missing") & (pl.col("text") == "foreground_events") & found
    return pl.concat([read.diagnostics.filter(~is_replaced), untimed_rows]).unique(
        ["source", "line", "kind", "reason"], keep="first", maintain_order=True
    )


def active_sessions(waits: pl.DataFrame) -> pl.DataFrame:
    """Average active sessions of each class or event and report: time / elapsed time, with bounds.

    The time is what the report prints, and average * waits, intersected; the elapsed time is that of the head, and the
    time between the snapshots, intersected.  Foreground classes, with `DB CPU`, make up DB time / elapsed roughly only:
    time on the run queue is in no class, and not every foreground wait is within a user call.

    Args:
        waits: One of the tables `foreground_wait_classes`, `wait_classes`, `top_events`, `foreground_events` of many
            reports, as `awrparse.read_awrs` gives it with ``printed=True``.

    Returns:
        `KEYS`, the class or event, then `METRICS`: ``active_sessions``, in sessions.  Idle events are left out.

    Examples:
        >>> from datetime import datetime
        >>> waits = pl.DataFrame({"report": ["a"], "instance_name": ["i"], "begin_time": [datetime(2026, 1, 1, 1)],
        ...     "end_time": [datetime(2026, 1, 1, 2)], "elapsed_s": [3600.0], "wait_class": ["User I/O"],
        ...     "waits": [1000], "total_wait_s": [7200.0], "db_time_pct": [50.0]})
        >>> [round(one, 4) for one in active_sessions(waits).select("value", "lo", "hi").row(0)]
        [2.0, 1.9998, 2.0002]
    """
    key = key_of(waits)
    timed = _timed(_awake(waits))
    return _metrics(
        timed.filter(pl.col("elapsed_lo") > 0),
        (key,),
        ("active_sessions", "sessions", "time waited / elapsed time"),
        (
            pl.col("time") / pl.col("elapsed"),
            pl.col("time_lo") / pl.col("elapsed_hi"),
            pl.col("time_hi") / pl.col("elapsed_lo"),
        ),
        pl.lit(""),
    )


def latencies(waits: pl.DataFrame, *, events: Iterable[str] | None = None) -> pl.DataFrame:
    """The average wait of each event and report, with bounds: as printed, and time / waits, intersected.

    The same figures as `iolab.metrics.average_waits` gives of one report.  Where the two contradict each other beyond
    rounding the value is null, and the caveats say so.

    Args:
        waits: A table of waits of many reports with ``waits``, ``total_wait_s`` and ``avg_wait_ms``, as
            `awrparse.read_awrs` gives it with ``printed=True``.
        events: The events wanted, such as `SINGLE_BLOCK_READS`; by default all.

    Returns:
        `KEYS`, the event or class, ``waits`` with its bounds, then `METRICS`: ``avg_wait_ms``, in ms.  Rows without
        waits are left out.
    """
    key = key_of(waits)
    wanted = waits if events is None else waits.filter(pl.col(key).is_in(list(events)))
    timed = _timed(wanted.filter(pl.col("waits") > 0))
    pairs = (("time", "waits"), ("time_lo", "waits_hi"), ("time_hi", "waits_lo"))
    divided = [pl.col(time) * 1000 / pl.col(waits) for time, waits in pairs]
    agrees, joint = intersected(divided, [pl.col(f"average{end}") for end in ENDS])
    contradiction = "refused: time / waits and the average contradict each other"
    return _metrics(
        timed,
        (key, "waits", "waits_lo", "waits_hi"),
        ("avg_wait_ms", "ms", "total_wait_s * 1000 / waits, and avg_wait_ms as shown"),
        tuple(pl.when(agrees).then(one) for one in joint),
        pl.when(agrees).then(pl.lit(_AVERAGE)).otherwise(pl.lit(contradiction)),
    )


def shares_within(
    histograms: pl.DataFrame, *, to_us: float = 1000.0, events: Iterable[str] = SINGLE_BLOCK_READS
) -> pl.DataFrame:
    """The share of each event's waits that were shorter than a time, report by report (`iolab.metrics.waits_within`).

    Args:
        histograms: The table `event_histogram` of many reports, as `awrparse.read_awrs` gives it with ``printed=True``.
        to_us: The time, in microseconds.
        events: The events wanted.

    Returns:
        `KEYS`, the event, then `METRICS`: ``share_within_1000_us``, a ratio, in order of time.
    """
    parts = [pl.DataFrame(schema={**{key: histograms.schema[key] for key in KEYS}, "event": pl.String(), **METRICS})]
    for _, rows in histograms.group_by(*KEYS, maintain_order=True):
        found = waits_within(rows, to_us=to_us, events=list(events))
        named = rows.select(KEYS).head(1)
        parts.append(named.join(found, how="cross") if found.height else parts[0].clear())
    return pl.concat(parts).sort("begin_time", "report", "event", maintain_order=True)


def db_time_sessions(periods: pl.DataFrame) -> pl.DataFrame:
    """Average active sessions of each report as its head has them: DB time / elapsed time, with bounds.

    Args:
        periods: What `iolab.evidence.report_periods.periods` gives.

    Returns:
        `KEYS`, then `METRICS`: ``average_active_sessions``, in sessions.
    """
    timed = with_elapsed(periods.filter(pl.col("db_time_s").is_not_null()))
    least = (pl.col("db_time_s") - _HALF_STEP_S).clip(lower_bound=0)
    return _metrics(
        timed.filter(pl.col("elapsed_lo") > 0),
        (),
        ("average_active_sessions", "sessions", "db_time_s / elapsed_s"),
        (
            pl.col("db_time_s") / pl.col("elapsed"),
            least / pl.col("elapsed_hi"),
            (pl.col("db_time_s") + _HALF_STEP_S) / pl.col("elapsed_lo"),
        ),
        pl.lit("of foreground sessions: DB time holds no background work"),
    )


def _awake(waits: pl.DataFrame) -> pl.DataFrame:
    """Rows that are no idle waits: those have no share of DB or call time; where no row has one, by their names."""
    shares = [name for name in ("db_time_pct", "call_time_pct") if name in waits.columns]
    if "event" not in waits.columns or not shares:
        return waits
    idle = [name for name in waits.get_column("event").drop_nulls().unique() if is_idle(name)]
    has_share = pl.any_horizontal(pl.col(shares).is_not_null())
    return waits.filter(has_share | ~(has_share.any().over("report") | pl.col("event").is_in(idle)))


def with_elapsed(frame: pl.DataFrame) -> pl.DataFrame:
    """Length of the period with bounds: of the head and of the snapshots, where they agree."""
    clock = (pl.col("end_time") - pl.col("begin_time")).dt.total_microseconds() / 1e6
    head = pl.coalesce("elapsed_s", clock)
    lo, hi = head - _HALF_STEP_S, head + _HALF_STEP_S
    joint_lo, joint_hi = pl.max_horizontal(lo, clock - CLOCK_S), pl.min_horizontal(hi, clock + CLOCK_S)
    agrees = joint_lo <= joint_hi
    return frame.with_columns(
        elapsed_lo=pl.when(agrees).then(joint_lo).otherwise(lo), elapsed_hi=pl.when(agrees).then(joint_hi).otherwise(hi)
    ).with_columns(elapsed=head.clip(pl.col("elapsed_lo"), pl.col("elapsed_hi")))


def _timed(waits: pl.DataFrame) -> pl.DataFrame:
    """Time, waits and average with bounds; the time joined with average * waits where they agree."""
    columns = []
    for name, short in (("total_wait_s", "time"), ("waits", "waits"), ("avg_wait_ms", "average")):
        value = pl.col(name).cast(pl.Float64) if name in waits.columns else pl.lit(None, pl.Float64)
        ends = [pl.col(f"{name}{end}") if f"{name}{end}" in waits.columns else value for end in ENDS[1:]]
        columns += [value.alias(short), ends[0].alias(f"{short}_lo"), ends[1].alias(f"{short}_hi")]
    frame = with_elapsed(waits).with_columns(columns)
    own = [pl.col(f"time{end}") for end in ENDS]
    agrees, joint = intersected(own, [pl.col(f"average{end}") * pl.col(f"waits{end}") / 1000 for end in ENDS])
    kept = [pl.when(agrees).then(new).otherwise(old) for new, old in zip(joint, own, strict=True)]
    return frame.with_columns(one.alias(f"time{end}") for one, end in zip(kept, ENDS, strict=True))


def _metrics(
    frame: pl.DataFrame,
    own: tuple[str, ...],
    what: tuple[str, str, str],
    figure: tuple[pl.Expr, ...],
    caveats: pl.Expr,
) -> pl.DataFrame:
    """Rows of metrics after the columns that say what they are about."""
    metric, unit, basis = what
    value, lo, hi = figure
    fields = {
        "metric": pl.lit(metric),
        "value": value,
        "lo": lo,
        "hi": hi,
        "ci_lo": pl.lit(None),
        "ci_hi": pl.lit(None),
        "unit": pl.lit(unit),
        "basis": pl.lit(basis),
    }
    made = [(fields | {"caveats": caveats})[name].cast(dtype).alias(name) for name, dtype in METRICS.items()]
    return frame.select(*KEYS, *own, *made).sort("begin_time", "report", maintain_order=True)
