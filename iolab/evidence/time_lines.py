"""Figures of hosts and reports over time, as one frame for one picture (`iolab.charts.host_over_time`)."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final, cast

import polars as pl

from iolab.metrics.lookups import statistic
from iolab.metrics.processors import IS_SAMPLE, cpu_samples
from iolab.metrics.report_figures import report_facts
from iolab.sources import as_logs
from logframe.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from awrparse import AwrReport
    from hostparse import HostLog
    from iolab.sources import Places
    from logframe.formats import ParsedLog
    from sqlplusparse import AwrMiner

#: Columns of `over_time`.
OVER_TIME: Final = pl.Schema(
    {
        "panel": pl.String(),
        "series": pl.String(),
        "begin": pl.Datetime("us"),
        "end": pl.Datetime("us"),
        "value": pl.Float64(),
    }
)
#: This many devices are drawn, those with the most requests.
MOST_DEVICES: Final = 4
_MB: Final = 1e6
#: Columns that are drawn, the panel of each, and how many of its units that of the panel is.
_SHOWN: Final = (
    ("read_bytes_per_s", "read (MB/s)", _MB),
    ("write_bytes_per_s", "written (MB/s)", _MB),
    ("read_await_ms", "time of a read (ms)", 1.0),
)
_RATES: Final = ("reads_per_s", "transfers_per_s", "read_bytes_per_s")
#: Columns of AWR-Miner, which counts 2^20 bytes as a MB: the panel of each, and by what its figures are multiplied.
_SNAPSHOT_MEANS: Final = {
    "os_cpu": ("processors busy (%)", 1.0),
    "read_mb_s": ("read (MB/s)", 2**20 / _MB),
    "write_mb_s": ("written (MB/s)", 2**20 / _MB),
    "aas": ("active sessions", 1.0),
    "s_blk_r_lat": ("time of a read (ms)", 1.0),
}
_EVENT: Final = "db file sequential read"


def over_time(logs: Mapping[str, ParsedLog] | Places) -> pl.DataFrame:
    """What samples of a host and reports of a database say of processors, reads and sessions, sample by sample.

    Figures of a device are of that device alone; they are not added up, since devices of several layers hold the same
    requests.  Logs without times are left out; clocks are taken as printed.

    Args:
        logs: What `iolab.load` gives of hosts, of reports and of AWR-Miner, by name; other logs are left out.

    Returns:
        `OVER_TIME`: ``panel`` names the quantity and its unit, ``series`` the log and what it is about.
    """
    frames = [pl.DataFrame(schema=OVER_TIME)]
    for name, log in as_logs(logs).items():
        if log.format == "host":
            frames += _host(name, cast("HostLog", log))
        elif log.format == "awr":
            frames.append(_report(name, cast("AwrReport", log)))
        elif log.format == "awr_miner":
            frames += _snapshots(name, cast("AwrMiner", log))
    single = (
        pl.concat(frames).drop_nulls().unique(["panel", "series", "begin", "end"], keep="first", maintain_order=True)
    )
    return single.sort("panel", "series", "begin", maintain_order=True)


def _panel(frame: pl.DataFrame, panel: str, series: pl.Expr, value: pl.Expr) -> pl.DataFrame:
    return frame.select(
        panel=pl.lit(panel), series=series, begin="interval_start", end="interval_end", value=value.cast(pl.Float64)
    )


def _host(name: str, log: HostLog) -> list[pl.DataFrame]:
    found: list[pl.DataFrame] = []
    with contextlib.suppress(RefusedError):
        found.append(_panel(cpu_samples(log), "processors busy (%)", pl.lit(name or "all"), 100 * pl.col("busy")))
    for scope in ("host", "device"):
        if scope not in log.scopes:
            continue
        rows = log.scan(scope).filter(IS_SAMPLE)
        columns = rows.collect_schema().names()
        shown = [each for each in _SHOWN if each[0] in columns]
        series = pl.lit(name or "all")
        if scope == "device":
            series = pl.concat_str(pl.lit(f"{name} " if name else ""), "device")
            rate = next((rate for rate in _RATES if rate in columns), None)
            if rate is not None:
                busy = rows.group_by("device").agg(pl.col(rate).sum()).collect()
                busy = busy.sort(rate, "device", descending=[True, False]).head(MOST_DEVICES)
                rows = rows.filter(pl.col("device").is_in(busy.get_column("device").implode()))
        keys = ["device"] if scope == "device" else []
        frame = rows.select("interval_start", "interval_end", *keys, *(each[0] for each in shown)).collect()
        found += [_panel(frame, panel, series, pl.col(column) / factor) for column, panel, factor in shown]
    return found


def _snapshots(name: str, log: AwrMiner) -> list[pl.DataFrame]:
    """Means of each snapshot, by instance."""
    named = pl.concat_str(pl.lit(f"{name} " if name else ""), pl.lit("instance "), "instance")
    found: list[pl.DataFrame] = []
    for metric, (panel, factor) in _SNAPSHOT_MEANS.items():
        rows = log.series.filter(section="MAIN-METRICS", metric=metric)
        found.append(_panel(rows, panel, named, factor * pl.col("value")))
    return found


def _report(name: str, report: AwrReport) -> pl.DataFrame:
    begin, end = report.info.begin_time, report.info.end_time
    if begin is None or end is None or end <= begin:
        return pl.DataFrame(schema=OVER_TIME)
    seconds = (end - begin).total_seconds()
    figures: dict[str, tuple[str, float | None]] = {}
    for panel, counted in (
        ("read (MB/s)", "physical read total bytes"),
        ("written (MB/s)", "physical write total bytes"),
    ):
        total = statistic(report, counted)
        figures[panel] = (name, None if total is None else total.value / seconds / _MB)
    if report.info.db_time_s is not None:
        figures["active sessions"] = (name, report.info.db_time_s / seconds)
    read = report_facts(report).events.get(_EVENT)
    if read is not None and read.avg_s is not None:
        figures["time of a read (ms)"] = (f"{name} {_EVENT}", 1000 * read.avg_s.value)
    rows = [(panel, series, begin, end, value) for panel, (series, value) in figures.items()]
    return pl.DataFrame(rows, schema=OVER_TIME, orient="row")
