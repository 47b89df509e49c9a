"""What changed at which instance of a fleet, from report to report, and how long reads took over all of its reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.dataset.fleet import report_frames
from iolab.evidence.report_periods import INSTANCE, SINGLE_BLOCK_READS, once, periods
from iolab.metrics.formatting import at_least_text
from iolab.metrics.histograms import QUANTILES, latency_quantiles
from iolab.metrics.table import METRICS
from logframe.errors import RefusedError
from logframe.wording import counted

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

_SIDES: Final = ("before", "after")
_ENDS: Final = ("", "_lo", "_hi")
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
#: Columns of `read_changes`.
READ_CHANGES: Final = pl.Schema(
    {
        **_WHO,
        "event": pl.String(),
        "at": pl.Datetime("us"),
        "direction": pl.String(),
        "at_least": pl.Float64(),
        **{f"avg_wait_ms_{side}{end}": pl.Float64() for side in _SIDES for end in _ENDS},
        "ratio": pl.Float64(),
        "ratio_lo": pl.Float64(),
        "ratio_hi": pl.Float64(),
        "report_before": pl.String(),
        "report_after": pl.String(),
    }
)
#: Columns of `setting_changes`.
SETTING_CHANGES: Final = pl.Schema(
    {
        **_WHO,
        "at": pl.Datetime("us"),
        "parameter": pl.String(),
        "before": pl.String(),
        "after": pl.String(),
        "report": pl.String(),
    }
)
#: Columns of `read_quantiles` before those of a metric.
_QUANTILES: Final = pl.Schema({**_WHO, "event": pl.String(), "reports": pl.Int64(), "waits": pl.Int64()})
#: The shares of a histogram add up to 100 % but for so much.
_SLACK_PCT: Final = 1.0
#: What a share that is not printed may be at most, in per cent.
_UNPRINTED_PCT: Final = 0.05


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
            pl.col("begin_time").sort_by("sessions", nulls_last=False).last().alias("busiest_at"),
        )
        .select(pl.col(name).cast(dtype) for name, dtype in INSTANCES.items())
    )


def read_changes(
    dest: str | os.PathLike[str], *, events: Iterable[str] = SINGLE_BLOCK_READS, min_waits: int = 1000
) -> pl.DataFrame:
    """How much the average wait for reads changed from each report of an instance to the next, the greatest first.

    The bounds are those of rounding; they do not describe how much averages vary from hour to hour.

    Args:
        dest: The dataset.
        events: Names of events; by default the waits for one block of a file.
        min_waits: Reports with fewer waits for the event are left out.

    Returns:
        The columns `READ_CHANGES`: ``at`` is the begin of the later report, ``ratio`` after / before, ``at_least`` the
        factor by which the average rose or fell at least, whatever the rounding.

    Raises:
        LogError: It is no dataset, or has no reports with foreground events.
    """
    frames = report_frames(dest, ["info", "foreground_events"]).frames
    known = once(periods(frames["info"])).select("report", "part", "begin_time", "end_time", *INSTANCE)
    waits = frames["foreground_events"].filter(pl.col("event").is_in(list(events)), pl.col("waits") >= min_waits)
    time = {end: pl.coalesce(f"total_wait_s{end}", "total_wait_s") for end in _ENDS}
    count = {end: pl.coalesce(f"waits{end}", "waits").cast(pl.Float64) for end in _ENDS}
    averages = (
        waits.select("report", "part", "event", *(time[end].alias(f"time{end}") for end in _ENDS), *_aliased(count))
        .join(known, on=["report", "part"])
        .filter(pl.col("time") > 0)
        .select(
            *INSTANCE,
            "event",
            "begin_time",
            "end_time",
            "report",
            after=pl.col("time") / pl.col("count") * 1000,
            after_lo=pl.col("time_lo") / pl.col("count_hi") * 1000,
            after_hi=pl.col("time_hi") / pl.col("count_lo") * 1000,
        )
        .sort(*INSTANCE, "event", "begin_time", nulls_last=True, maintain_order=True)
    )
    group = [*INSTANCE, "event"]
    pairs = averages.with_columns(
        pl.col(f"after{end}").shift().over(group).alias(f"before{end}") for end in _ENDS
    ).with_columns(pl.col("report", "end_time").shift().over(group).name.suffix("_before"))
    found = pairs.filter(pl.col("before").is_not_null(), _follows("end_time_before")).with_columns(
        ratio=pl.col("after") / pl.col("before"),
        ratio_lo=pl.col("after_lo") / pl.col("before_hi"),
        ratio_hi=pl.col("after_hi") / pl.col("before_lo"),
    )
    is_up, is_down = pl.col("ratio_lo") > 1, pl.col("ratio_hi") < 1
    renamed = {f"{side}{end}": f"avg_wait_ms_{side}{end}" for side in _SIDES for end in _ENDS}
    return (
        found.rename({**renamed, "begin_time": "at", "report": "report_after"})
        .with_columns(
            direction=pl.when(is_up).then(pl.lit("up")).when(is_down).then(pl.lit("down")).otherwise(pl.lit("same")),
            at_least=pl.when(is_up).then("ratio_lo").when(is_down).then(1 / pl.col("ratio_hi")).otherwise(1.0),
        )
        .select(pl.col(name).cast(dtype) for name, dtype in READ_CHANGES.items())
        .sort("at_least", descending=True, maintain_order=True)
    )


def _follows(end: str) -> pl.Expr:
    """Whether a report begins after the one before it ends: of two of one time neither follows the other."""
    return (pl.col("begin_time") >= pl.col(end)).fill_null(value=True)


def _aliased(count: dict[str, pl.Expr]) -> list[pl.Expr]:
    return [one.alias(f"count{end}") for end, one in count.items()]


def setting_changes(dest: str | os.PathLike[str]) -> pl.DataFrame:
    """The initialization parameters that changed from one report of an instance to the next, in order of time.

    Args:
        dest: The dataset.

    Returns:
        The columns `SETTING_CHANGES`: ``at`` is the begin of the later report (``report``); a value is null where the
        report does not list the parameter, as it has its default value.

    Raises:
        LogError: It is no dataset, or has no reports with parameters.
    """
    frames = report_frames(dest, ["info", "parameters"]).frames
    listed = (
        frames["parameters"]
        .group_by("report", "part", "parameter", maintain_order=True)
        .agg(value=pl.coalesce("end", "begin").sort().str.join(", "))
    )
    has_some = listed.select("report", "part").unique()
    known = once(periods(frames["info"])).join(has_some, on=["report", "part"], how="semi", maintain_order="left")
    own = known.select("report", "part", "begin_time", "end_time", *INSTANCE)
    names = own.join(listed, on=["report", "part"]).select(*INSTANCE, "parameter").unique(maintain_order=True)
    every = own.join(names, on=list(INSTANCE), nulls_equal=True, maintain_order="left_right")
    values = every.join(listed, on=["report", "part", "parameter"], how="left", maintain_order="left")
    group = [*INSTANCE, "parameter"]
    pairs = values.with_columns(
        before=pl.col("value").shift().over(group),
        ended=pl.col("end_time").shift().over(group),
        is_first=pl.int_range(pl.len()).over(group) == 0,
    )
    return (
        pairs.filter(~pl.col("is_first"), _follows("ended"), pl.col("before").ne_missing(pl.col("value")))
        .rename({"value": "after", "begin_time": "at"})
        .select(pl.col(name).cast(dtype) for name, dtype in SETTING_CHANGES.items())
        .sort(*INSTANCE, "at", "parameter", nulls_last=True, maintain_order=True)
    )


def merged_histograms(histograms: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Histograms of several reports as one of each group: of each bucket its share of the waits of all reports.

    The buckets of reports of other releases are others: they are merged apart.

    Args:
        histograms: The table `event_histogram` of reports with its bounds, ``report``, ``part``, and the columns `by`.
        by: Names of columns.

    Returns:
        `by`, ``event``, ``layout`` (the edges of the buckets, as text), ``reports``, ``waits``, ``from_us``, ``to_us``
        and ``waits_pct`` with its bounds.  A histogram whose shares do not add up to 100 % is left out.
    """
    one = ["report", "part", "event", "waits"]
    sections = pl.col("section")
    whole = (pl.col("waits_pct").sum().over(*one, "section") - 100).abs() <= _SLACK_PCT
    first = histograms.filter(sections.is_null() | (sections.is_not_null().all().over(one) & whole))
    edges = pl.col("from_us").sort().cast(pl.String).str.join(" ")
    share, least = pl.col("waits_pct").fill_null(0.0), pl.coalesce("waits_pct_lo", "waits_pct", pl.lit(0.0))
    most = pl.coalesce("waits_pct_hi", "waits_pct", pl.lit(_UNPRINTED_PCT))
    counts = [pl.coalesce(f"waits{end}", "waits").cast(pl.Float64) for end in _ENDS]
    parts = first.with_columns(
        layout=edges.over(one),
        total=share.sum().over(one),
        **{f"_pct{end}": value for end, value in zip(_ENDS, (share, least, most), strict=True)},
        **{f"_count{end}": value for end, value in zip(_ENDS, counts, strict=True)},
    ).filter((pl.col("total") - 100).abs() <= _SLACK_PCT, pl.col("_count") > 0)

    def weighted(end: str, base: str) -> pl.Expr:
        return (pl.col(f"_pct{end}") * pl.col(f"_count{end}")).sum() / pl.col(f"_count{base}").sum()

    return (
        parts.group_by(*by, "event", "layout", "from_us", "to_us", maintain_order=True)
        .agg(
            pl.struct("report", "part").n_unique().cast(pl.Int64).alias("reports"),
            pl.col("waits").sum(),
            waits_pct=weighted("", ""),
            waits_pct_lo=weighted("_lo", "_hi"),
            waits_pct_hi=pl.min_horizontal(weighted("_hi", "_lo"), pl.lit(100.0)),
        )
        .sort(*by, "event", "layout", "from_us", nulls_last=True, maintain_order=True)
    )


def read_quantiles(
    dest: str | os.PathLike[str],
    *,
    quantiles: Sequence[float] = QUANTILES,
    events: Sequence[str] = SINGLE_BLOCK_READS,
) -> pl.DataFrame:
    """Percentiles of the waits for reads of each instance, over all of its reports: of the merged histograms.

    Averages of percentiles are no percentiles, so the histograms are added up first.

    Args:
        dest: The dataset.
        quantiles: Shares between 0 and 1.
        events: Names of events.

    Returns:
        ``db_name``, ``db_id``, ``instance_name``, ``event``, ``reports``, ``waits``, then `iolab.metrics.METRICS` as
        `iolab.metrics.latency_quantiles` gives them: ``value`` is the upper edge of the bucket.

    Raises:
        LogError: It is no dataset, or has no report with wait event histograms.
    """
    frames = report_frames(dest, ["info", "event_histogram"]).frames
    known = once(periods(frames["info"])).select("report", "part", *INSTANCE)
    own = frames["event_histogram"].drop("db_name", "instance_name", "db_id", strict=False)
    wanted = own.filter(pl.col("event").is_in(list(events))).join(known, on=["report", "part"])
    merged = merged_histograms(wanted, INSTANCE)
    found = [pl.DataFrame(schema={**_QUANTILES, **METRICS})]
    for _, rows in merged.group_by(*INSTANCE, "event", "layout", maintain_order=True):
        buckets = rows.with_columns(section=pl.lit(None, pl.String))
        metrics = latency_quantiles(buckets, quantiles=quantiles).drop("event")
        head = rows.head(1).select(pl.col(name).cast(dtype) for name, dtype in _QUANTILES.items())
        found.append(head.join(metrics, how="cross").select(found[0].columns))
    return pl.concat(found, how="vertical_relaxed")


def fleet_sentences(all_instances: pl.DataFrame, changes: pl.DataFrame, settings: pl.DataFrame) -> list[str]:
    """The main findings about a fleet, a sentence each: what was read, where reads got slower, what changed before.

    Args:
        all_instances: What `instances` gives.
        changes: What `read_changes` gives.
        settings: What `setting_changes` gives.

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
    slower = changes.filter(direction="up").unique(list(INSTANCE), keep="first", maintain_order=True)
    if slower.is_empty():
        steady = "At no instance an average read became slower from one report to the next, beyond rounding."
        single = "No instance has two reports, so the dataset shows no change."
        return [*sentences, single if reports == count else steady]
    least = 2.0
    much = slower.filter(pl.col("at_least") >= least).height
    sentences.append(
        f"At {much:,} of {counted(count, 'instance')} the average read became at least {least:g} times as long "
        "from one report to the next."
    )
    row = slower.row(0, named=True)
    before, after = (row[f"avg_wait_ms_{side}"] for side in _SIDES)
    sentences.append(
        f"The greatest rise: {row['db_name']}/{row['instance_name']}, `{row['event']}`, from {before:.3g} to "
        f"{after:.3g} ms, by a factor of {at_least_text(row['at_least'])} at least, in the report that begins at "
        f"{row['at']:%Y-%m-%d %H:%M}."
    )
    same = pl.all_horizontal(pl.col(name).eq_missing(pl.lit(row[name], _WHO[name])) for name in INSTANCE)
    meanwhile = settings.filter(same, pl.col("at") == row["at"])
    if meanwhile.height:
        named = [
            f"`{name}` {before or 'default'} to {after or 'default'}"
            for name, before, after in meanwhile.select("parameter", "before", "after").head(4).iter_rows()
        ]
        sentences.append(f"Parameters that changed just before it: {', '.join(named)}.")
    return sentences
