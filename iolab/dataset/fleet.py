"""Questions to the reports of many databases: a time line of each, slower reads, settings that differ.

    frames = report_frames("fleet", ["info", "foreground_events"], where=pl.col("db_name") == "HARBOR")
    iolab.evidence.read_timeline("fleet")      # as of a folder of reports
    slower_events("fleet", at=datetime(2026, 9, 14))
    differing_parameters("fleet")

Reports of the same period of an instance, such as the text and the HTML of one, count once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from awrparse import AwrFrames, read_awrs
from iolab.dataset.layout import concat
from iolab.dataset.reading import collected, diagnostics, scan, status
from iolab.evidence.report_periods import INSTANCE, SINGLE_BLOCK_READS, once, periods
from logframe import DIAGNOSTICS
from logframe.errors import LogError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence
    from datetime import datetime

#: The format whose tables are queried.
_FORMAT: Final = "awr"
#: Columns that say which instance a report is of.
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


def report_frames(dest: str | os.PathLike[str], tables: Sequence[str], *, where: pl.Expr | None = None) -> AwrFrames:
    """Tables of the reports of a dataset, as `awrparse.read_awrs` gives those of files with ``printed=True``.

    Args:
        dest: The dataset.
        tables: Names of tables.
        where: Which rows; of the columns that a dataset has of every report: ``source``, ``part``, ``db_name``,
            ``db_id``, ``instance_name``, ``begin_snap_id``, ``end_snap_id``, ``begin_time``, ``end_time``,
            ``elapsed_s``.

    Raises:
        LogError: It is no dataset, or has no report.

    Returns:
        Each table, without rows where no report has it, and the diagnostics of the reports.
    """
    known = {name for name in status(dest).tables["table"] if name.startswith(f"{_FORMAT}/")}
    if f"{_FORMAT}/info" not in known:
        raise LogError(f"{dest} holds no report with the table info")
    # Without sources `read_awrs` gives each table without rows, but with its columns.
    empty = read_awrs([], table=list(tables), printed=True, workers=1).frames
    found = {name: _frame(dest, name, where) for name in {*tables, "info"} if f"{_FORMAT}/{name}" in known}
    frames = {
        name: concat([empty[name].lazy(), *([found[name].lazy()] if name in found else [])]).collect()
        for name in tables
    }
    reports = found["info"].select("report", "part")
    notes = [diagnostics(dest).join(reports, left_on="source", right_on="report", how="semi")]
    for name, frame in frames.items():
        lacking = reports.join(frame, on=["report", "part"], how="anti").select(source="report")
        fields = {"kind": pl.lit("missing"), "text": pl.lit(name), "source": pl.col("source")}
        fields["reason"] = pl.lit(f"the report has no table {name!r}")
        notes.append(
            lacking.select(fields.get(one, pl.lit(None)).cast(dtype).alias(one) for one, dtype in DIAGNOSTICS.items())
        )
    return AwrFrames(frames, pl.concat(notes))


def _frame(dest: str | os.PathLike[str], name: str, where: pl.Expr | None) -> pl.DataFrame:
    """A table with the columns of `awrparse.read_awrs`, in order of time."""
    lazy = scan(dest, f"{_FORMAT}/{name}")
    found = collected(dest, lazy if where is None else lazy.filter(where))
    own_id = {"table_db_id": "db_id"} if "table_db_id" in found.columns else {}
    return (
        found.drop("db_id")
        .rename({"source": "report", **own_id})
        .with_columns(pl.col("part").cast(pl.Int64))
        .sort("begin_time", "report", "part", nulls_last=True, maintain_order=True)
    )


def slower_events(
    dest: str | os.PathLike[str],
    *,
    at: datetime,
    events: Iterable[str] = SINGLE_BLOCK_READS,
    min_waits: int = 1000,
) -> pl.DataFrame:
    """Which instances wait longer for events after a time than before it: average waits with bounds, the slowest first.

    The average is the sum of the times of all reports on one side of the time, divided by the sum of their waits.
    A report that lies on both sides counts on neither.  The bounds are those of rounding; they do not describe how much
    averages vary from hour to hour.

    Args:
        dest: The dataset.
        at: The time, by the clock of the hosts.
        events: Names of events; by default the waits for one block of a file.
        min_waits: Instances with fewer waits on one of the sides are left out.

    Returns:
        The columns `SLOWER`, one row an instance and event, by `ratio_lo`: ``ratio`` is after / before.

    Raises:
        LogError: It is no dataset, or has no reports with foreground events.
    """
    frames = report_frames(dest, ["info", "foreground_events"]).frames
    known = once(periods(frames["info"])).select("report", "part", "db_id", "instance_name")
    waits = frames["foreground_events"].drop("instance_name").join(known, on=["report", "part"])
    side = (
        pl.when(pl.col("end_time") <= at).then(pl.lit("before")).when(pl.col("begin_time") >= at).then(pl.lit("after"))
    )
    wanted = waits.filter(pl.col("event").is_in(list(events)) & (pl.col("waits") > 0)).with_columns(side=side)
    ends = ("", "_lo", "_hi")
    sums = (
        wanted.filter(pl.col("side").is_not_null() & pl.col("total_wait_s").is_not_null())
        .group_by(*INSTANCE, "event", "side", maintain_order=True)
        .agg(
            pl.struct("report", "part").n_unique().cast(pl.Int64).alias("reports"),
            *(pl.coalesce(f"total_wait_s{end}", "total_wait_s").sum().alias(f"time{end}") for end in ends),
            *(pl.coalesce(f"waits{end}", "waits").cast(pl.Float64).sum().alias(f"waits{end}") for end in ends),
        )
        .filter(pl.col("waits") >= min_waits)
        .with_columns(
            avg_wait_ms=pl.col("time") / pl.col("waits") * 1000,
            avg_wait_ms_lo=pl.col("time_lo") / pl.col("waits_hi") * 1000,
            avg_wait_ms_hi=pl.col("time_hi") / pl.col("waits_lo") * 1000,
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
        .select(pl.col(name).cast(dtype) for name, dtype in SLOWER.items())
        .sort("ratio_lo", descending=True, nulls_last=True, maintain_order=True)
    )


def _sided(name: str, side: str) -> str:
    """``avg_wait_ms_lo`` of a side as ``avg_wait_ms_before_lo``."""
    for end in ("_lo", "_hi"):
        if name.endswith(end):
            return f"{name.removesuffix(end)}_{side}{end}"
    return f"{name}_{side}"


def differing_parameters(dest: str | os.PathLike[str]) -> pl.DataFrame:
    """The initialization parameters whose values differ between instances, each by its last report.

    Args:
        dest: The dataset.

    Returns:
        ``parameter``, ``value`` (at the end of the report; null: the last report does not list the parameter, as it
        has its default value), ``instances`` (their number) and ``names`` (``database/instance``); the rarest value of
        a parameter first.

    Raises:
        LogError: It is no dataset, or has no reports with parameters.
    """
    frames = report_frames(dest, ["info", "parameters"]).frames
    known = once(periods(frames["info"])).sort("end_time").unique([*INSTANCE], keep="last", maintain_order=True)
    name = pl.concat_str(pl.col("db_name").fill_null("?"), pl.lit("/"), pl.col("instance_name").fill_null("?"))
    key = [*INSTANCE, "name"]
    instances = known.select("report", "part", *INSTANCE, name=name)
    listed = (
        frames["parameters"]
        .join(instances, on=["report", "part"])
        .select(*key, "parameter", value=pl.coalesce("end", "begin"))
    )
    values = listed.group_by(*key, "parameter", maintain_order=True).agg(pl.col("value").sort().str.join(", "))
    every = instances.select(key).join(values.select("parameter").unique(maintain_order=True), how="cross")
    counted = (
        every.join(values, on=[*key, "parameter"], how="left", nulls_equal=True, maintain_order="left")
        .group_by("parameter", "value", maintain_order=True)
        .agg(pl.len().cast(pl.Int64).alias("instances"), pl.col("name").sort().alias("names"))
    )
    differs = pl.len().over("parameter") > 1
    return counted.filter(differs).sort("parameter", "instances", "value", maintain_order=True)
