"""What changed at which instance of a fleet, from report to report, and how long reads took over all of its reports."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.dataset.fleet import report_frames
from iolab.evidence.changes import change_sentences, neighbour_changes, parameter_changes, why_not_compared
from iolab.evidence.report_periods import INSTANCE, LEAST_WAITS, SINGLE_BLOCK_READS, of_instances, once, periods
from iolab.evidence.timeline import KEYS, read_timeline
from iolab.metrics.histograms import QUANTILES
from iolab.metrics.table import METRICS
from logframe.errors import RefusedError
from logframe.wording import counted

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from datetime import datetime

_WHO: Final = pl.Schema({"db_name": pl.String(), "db_id": pl.Int64(), "instance_name": pl.String()})
#: Columns of `instances`.
INSTANCES: Final = pl.Schema(
    {
        **_WHO,
        "release": pl.String(),
        "reports": pl.Int64(),
        "begin_time": pl.Datetime("us"),
        "end_time": pl.Datetime("us"),
        "covered_s": pl.Float64(),
        "active_sessions": pl.Float64(),
        "busiest_sessions": pl.Float64(),
        "busiest_at": pl.Datetime("us"),
    }
)
#: Columns of `slower_events`.
SLOWER: Final = pl.Schema(
    {
        "db_name": pl.String(),
        "db_id": pl.Int64(),
        "instance_name": pl.String(),
        "event": pl.String(),
        "reports_before": pl.Int64(),
        "reports_after": pl.Int64(),
        "waits_before": pl.Float64(),
        "waits_after": pl.Float64(),
        **{f"avg_wait_ms_{side}{end}": pl.Float64() for side in ("before", "after") for end in ("", "_lo", "_hi")},
        "ratio": pl.Float64(),
        "ratio_lo": pl.Float64(),
        "ratio_hi": pl.Float64(),
    }
)
#: Columns of `read_quantiles` before those of a metric.
_QUANTILES: Final = pl.Schema({**_WHO, "event": pl.String(), "reports": pl.Int64(), "waits": pl.Int64()})
#: The shares of a histogram add up to 100 % but for so much.
_SLACK_PCT: Final = 1.5
_BOTH: Final = "foreground and background waits"


def instances(dest: str | os.PathLike[str]) -> pl.DataFrame:
    """The instances of a dataset, one row each: its reports, the time that they cover, and how busy it was.

    Args:
        dest: The dataset.

    Returns:
        The columns `INSTANCES`.  ``active_sessions`` is DB time over elapsed time of all its reports,
        ``busiest_sessions`` the greatest of one report, which begins at ``busiest_at``.

    Raises:
        LogError: It is no dataset, or has no report.
    """
    known = once(periods(report_frames(dest, ["info"]).frames["info"])).with_columns(
        sessions=pl.col("db_time_s") / pl.col("elapsed_s")
    )
    timed = pl.col("db_time_s").is_not_null()
    return (
        known.group_by(INSTANCE, maintain_order=True)
        .agg(
            pl.col("release").last(),
            pl.len().alias("reports"),
            pl.col("begin_time").min(),
            pl.col("end_time").max(),
            pl.col("elapsed_s").sum().alias("covered_s"),
            (pl.col("db_time_s").filter(timed).sum() / pl.col("elapsed_s").filter(timed).sum()).alias(
                "active_sessions"
            ),
            pl.col("sessions").max().alias("busiest_sessions"),
            pl.col("begin_time").filter(pl.col("sessions") == pl.col("sessions").max()).first().alias("busiest_at"),
        )
        .with_columns(pl.col("active_sessions").fill_nan(None))
        .select(pl.col(name).cast(dtype) for name, dtype in INSTANCES.items())
    )


def read_changes(
    dest: str | os.PathLike[str], *, events: Sequence[str] = SINGLE_BLOCK_READS, least_waits: int = LEAST_WAITS
) -> pl.DataFrame:
    """How much the average wait for reads changed from each report of an instance to the next.

    Args:
        dest: The dataset.
        events: Names of events; by default the waits for one block of a file.
        least_waits: Reports with fewer waits for the event are left out.

    Returns:
        What `iolab.evidence.neighbour_changes` gives: what changed most time is first.

    Raises:
        LogError: It is no dataset, or has no report.
    """
    return neighbour_changes(read_timeline(dest), events=events, least_waits=least_waits)


def slower_events(
    dest: str | os.PathLike[str],
    *,
    at: datetime,
    events: Sequence[str] = SINGLE_BLOCK_READS,
    least_waits: int = LEAST_WAITS,
) -> pl.DataFrame:
    """Which instances wait longer for events after a time than before it: average waits with bounds, the slowest first.

    The average is the sum of the times of all reports on one side of the time, divided by the sum of their waits.
    A report that lies on both sides counts on neither.  The bounds are those of rounding; they do not describe how much
    averages vary from hour to hour.

    Args:
        dest: The dataset.
        at: The time, by the clock of the hosts.
        events: Names of events; by default the waits for one block of a file.
        least_waits: Instances with fewer waits on one of the sides are left out.

    Returns:
        The columns `SLOWER`, one row an instance and event, by `ratio_lo`: ``ratio`` is after / before.

    Raises:
        LogError: It is no dataset, or has no reports with foreground events.
    """
    line = read_timeline(dest)
    side = (
        pl.when(pl.col("end_time") <= at).then(pl.lit("before")).when(pl.col("begin_time") >= at).then(pl.lit("after"))
    )
    waits = line.latencies.filter(pl.col("event").is_in(list(events))).drop_nulls("value")
    owned = waits.join(line.periods.select(*KEYS, "db_name", "db_id"), on=KEYS, nulls_equal=True)
    ends, average = ("", "_lo", "_hi"), {"": "value", "_lo": "lo", "_hi": "hi"}
    sums = (
        owned.with_columns(side=side)
        .drop_nulls("side")
        .group_by(*INSTANCE, "event", "side", maintain_order=True)
        .agg(
            pl.len().cast(pl.Int64).alias("reports"),
            *((pl.col(average[end]) * pl.col(f"waits{end}")).sum().alias(f"time{end}") for end in ends),
            *(pl.col(f"waits{end}").sum() for end in ends),
        )
        .filter(pl.col("waits") >= least_waits)
        .with_columns(
            avg_wait_ms=pl.col("time") / pl.col("waits"),
            avg_wait_ms_lo=pl.col("time_lo") / pl.col("waits_hi"),
            avg_wait_ms_hi=pl.col("time_hi") / pl.col("waits_lo"),
        )
    )
    columns = ("reports", "waits", "avg_wait_ms", "avg_wait_ms_lo", "avg_wait_ms_hi")
    before, after = (
        sums.filter(pl.col("side") == one).select(
            *INSTANCE, "event", *(pl.col(name).alias(_sided(name, one)) for name in columns)
        )
        for one in ("before", "after")
    )
    return (
        before.join(after, on=[*INSTANCE, "event"], nulls_equal=True)
        .with_columns(
            ratio=pl.col("avg_wait_ms_after") / pl.col("avg_wait_ms_before"),
            ratio_lo=pl.col("avg_wait_ms_after_lo") / pl.col("avg_wait_ms_before_hi"),
            ratio_hi=pl.col("avg_wait_ms_after_hi") / pl.col("avg_wait_ms_before_lo"),
        )
        .with_columns(pl.when(pl.col(one).is_finite()).then(one) for one in ("ratio", "ratio_lo", "ratio_hi"))
        .select(pl.col(name).cast(dtype) for name, dtype in SLOWER.items())
        .sort("ratio_lo", descending=True, nulls_last=True, maintain_order=True)
    )


def _sided(name: str, side: str) -> str:
    """``avg_wait_ms_lo`` of a side as ``avg_wait_ms_before_lo``."""
    for end in ("_lo", "_hi"):
        if name.endswith(end):
            return f"{name.removesuffix(end)}_{side}{end}"
    return f"{name}_{side}"


def setting_changes(dest: str | os.PathLike[str]) -> pl.DataFrame:
    """The initialization parameters that changed from one report of an instance to the next, in order of time.

    Args:
        dest: The dataset.

    Returns:
        What `iolab.evidence.parameter_changes` gives; a value is null where the report does not list the parameter.

    Raises:
        LogError: It is no dataset, or has no reports with parameters.
    """
    frames = report_frames(dest, ["info", "parameters"]).frames
    return parameter_changes(of_instances(frames["parameters"], once(periods(frames["info"]))))


def read_quantiles(
    dest: str | os.PathLike[str],
    *,
    quantiles: Sequence[float] = QUANTILES,
    events: Sequence[str] = SINGLE_BLOCK_READS,
) -> pl.DataFrame:
    """Percentiles of the waits for reads of each instance, over all of its reports, as bounds.

    Averages of percentiles are no percentiles, so the histograms are added up first.  Each table of a histogram shows a
    part of the range, and tables of several releases have other buckets: at every edge each bounds the share of the
    waits that were shorter, and a percentile lies between the last edge that it is beyond and the first it is within.

    Args:
        dest: The dataset.
        quantiles: Shares between 0 and 1.
        events: Names of events.

    Returns:
        ``db_name``, ``db_id``, ``instance_name``, ``event``, ``reports``, ``waits``, then `iolab.metrics.METRICS`: the
        percentile is longer than ``lo`` and at most ``hi``, which is null where no table bounds it.  A table whose
        shares do not add up to 100 % is left out.

    Raises:
        LogError: It is no dataset, or has no report with wait event histograms.
    """
    frames = report_frames(dest, ["info", "event_histogram"]).frames
    own = of_instances(frames["event_histogram"], once(periods(frames["info"])))
    return merged_quantiles(own.filter(pl.col("event").is_in(list(events))), quantiles)


def merged_quantiles(own: pl.DataFrame, quantiles: Sequence[float] = QUANTILES) -> pl.DataFrame:
    """Percentiles of the histograms of many reports; see `read_quantiles`.

    Args:
        own: The table `event_histogram` of reports with its bounds, and the columns that name an instance.
        quantiles: Shares between 0 and 1.
    """
    report = [*INSTANCE, "report", "part", "event"]
    table = [*report, "section", "waits"]
    whole = (pl.col("waits_pct").sum().over(table) - 100).abs() <= _SLACK_PCT
    wanted = own.filter(pl.col("from_us").is_not_null(), whole)
    least = pl.coalesce("waits_pct_lo", "waits_pct", pl.lit(0.0)) / 100
    shares = wanted.select(*table, "from_us", "to_us", share=least)
    ends = pl.concat([wanted.select("event", edge=name) for name in ("from_us", "to_us")]).drop_nulls().unique()
    below = (
        shares.join(ends, on="event")
        .group_by(*table, "edge")
        .agg(
            within=pl.col("share").filter(pl.col("to_us") <= pl.col("edge")).sum(),
            beyond=pl.col("share").filter(pl.col("from_us") >= pl.col("edge")).sum(),
        )
        .group_by(*report, "edge")
        .agg(pl.col("waits").max(), pl.col("within", "beyond").max())
        .group_by(*INSTANCE, "event", "edge")
        .agg(
            pl.len().cast(pl.Int64).alias("reports"),
            pl.col("waits").sum(),
            (pl.col("within", "beyond") * pl.col("waits")).sum() / pl.col("waits").sum(),
        )
        .sort(*INSTANCE, "event", "edge", nulls_last=True)
    )
    found = [
        below.group_by(*INSTANCE, "event", "reports", "waits", maintain_order=True)
        .agg(
            metric=pl.lit(f"wait_us_p{quantile * 100:g}"),
            lo=pl.col("edge").filter(pl.col("beyond") > 1 - quantile).max().fill_null(0.0),
            hi=pl.col("edge").filter(pl.col("within") >= quantile).min(),
            basis=pl.lit(f"edges of histograms around {quantile:g} of the waits of all reports"),
        )
        .with_columns(value=pl.coalesce("hi", "lo"), ci_lo=None, ci_hi=None, unit=pl.lit("us"), caveats=pl.lit(_BOTH))
        .select(pl.col(name).cast(dtype) for name, dtype in {**_QUANTILES, **METRICS}.items())
        for quantile in quantiles
    ]
    return pl.concat(found).sort(*INSTANCE, "event", nulls_last=True, maintain_order=True)


def fleet_sentences(
    all_instances: pl.DataFrame, changes: pl.DataFrame, settings: pl.DataFrame, averages: pl.DataFrame | None = None
) -> list[str]:
    """The main findings about a fleet, a sentence each: what was read, where reads got slower, what changed before.

    Args:
        all_instances: What `instances` gives.
        changes: What `read_changes` gives.
        settings: What `setting_changes` gives.
        averages: `iolab.evidence.timeline.Timeline.latencies` of the events: then the reasons why instances are not
            compared are known.

    Raises:
        RefusedError: The dataset has no report of an instance.
    """
    count, reports = all_instances.height, int(all_instances.get_column("reports").sum())
    databases = all_instances.select("db_name", "db_id").unique().height
    first, last = all_instances.select(pl.col("begin_time").min(), pl.col("end_time").max()).row(0)
    if first is None or last is None:
        raise RefusedError("the dataset has no report of an instance with its times")
    read = f"{counted(reports, 'report')} of {counted(count, 'instance')} of {counted(databases, 'database')}"
    sentences = [f"{read}, {first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M}."]
    if reports == count:
        return [*sentences, "No instance has two reports, so the dataset shows no change."]
    least = 2.0
    much = changes.filter(pl.col("at_least") >= least, direction="up").select(INSTANCE).unique().height
    if compared := changes.select(INSTANCE).unique().height:
        sentences += change_sentences(changes, settings, of_fleet=True)
        sentences.append(
            f"At {much:,} of {counted(compared, 'instance')} such an average became at least {least:g} times as long "
            "from one report to the next."
        )
    lacking = all_instances.join(changes, on=INSTANCE, how="anti", nulls_equal=True).select("instance_name", "reports")
    reasons = Counter(
        why_not_compared(number, None if averages is None else averages.filter(instance_name=name))
        for name, number in lacking.iter_rows()
    )
    return sentences + [f"Not compared: {counted(many, 'instance')}; {reason}." for reason, many in reasons.items()]
