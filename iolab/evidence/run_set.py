"""The logs of one run: the times that one log lacks and another has, and all of them beside the run's report."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

import polars as pl

from hostparse import AssumedClock
from iolab.evidence.host_alignment import ALIGNED, align_host
from iolab.loading import as_log
from iolab.metrics.processors import IS_SAMPLE
from iolab.sources import as_logs
from logframe.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from awrparse import AwrReport
    from hostparse import HostLog
    from iolab.sources import Places
    from logframe import Source

#: Columns of `align_run`.
RUN_ALIGNED: Final = pl.Schema({"log": pl.String(), **ALIGNED})
#: Fewer samples of two logs have the same number by chance.
_FEWEST: Final = 10
#: Logs that were started and stopped together differ by one sample at most.
_APART: Final = 1


def align_run(report: AwrReport | Source, logs: Mapping[str, HostLog] | Places) -> pl.DataFrame:
    """What each log of a run's set saw of the bytes and requests that the run's report counted.

    The set is one run because the caller says so (its directory, as with SLOB): nothing in the logs proves it.  A log
    without times takes them from another one of the set (`share_clocks`), and says so in ``explanation``.

    Args:
        report: the AWR or Statspack report of the run.
        logs: samples of the run by name, such as those of ``iostat.out``, ``vmstat.out`` and ``mpstat.out``.

    Returns:
        ``log`` and the columns of `align_host`, one row a log and quantity; a log that cannot be compared has one row
        with the verdict `refused` and the reason in ``explanation``.
    """
    report = as_log(report, "awr")
    frames = [pl.DataFrame(schema=RUN_ALIGNED)]
    for name, log in share_clocks(logs).items():
        try:
            aligned = align_host(report, log)
        except RefusedError as refusal:
            aligned = pl.DataFrame({"verdict": ["refused"], "explanation": [str(refusal)]})
        missing = [pl.lit(None, dtype=kind).alias(key) for key, kind in ALIGNED.items() if key not in aligned.columns]
        frames.append(aligned.with_columns(*missing, log=pl.lit(name)).select(RUN_ALIGNED.names()))
    return pl.concat(frames)


def share_clocks(logs: Mapping[str, HostLog] | Places) -> dict[str, HostLog]:
    """The logs of a run, those without times with an `hostparse.AssumedClock` where another log supports one.

    A log whose first report is the mean since the start of the system, printed when the tool started, is taken to have
    started with a log of the same host that has times, a constant step, and as many samples or one more or less.  What
    two such logs would place at different times is not placed.

    Args:
        logs: samples of one run, by name.
    """
    named: dict[str, HostLog] = as_logs(logs, "host")
    clocks = {name: found for name, log in named.items() if (found := _steps(log)) is not None}
    placed = {}
    for name, log in named.items():
        offers = [] if log.clock is not None else _offers(log, named, clocks)
        placed[name] = replace(log, clock=offers[0]) if _agree(offers) else log
    return placed


def _offers(
    log: HostLog, logs: Mapping[str, HostLog], clocks: Mapping[str, tuple[pl.Series, float]]
) -> list[AssumedClock]:
    """The times that other logs suggest for one without times."""
    count = _untimed(log)
    if count is None:
        return []
    offers = []
    for other, (starts, step) in clocks.items():
        one, two = _hosts(log), _hosts(logs[other])
        if (one and two and one != two) or abs(count - len(starts)) > _APART:
            continue
        why = (
            f"times of {other}: both are taken to be of one run, started together, one report every {step:g} s "
            f"({count:,} and {len(starts):,} samples)"
        )
        offers.append(AssumedClock(starts[0], step, why))
    return offers


def _agree(offers: list[AssumedClock]) -> bool:
    """Whether there are times, and all place the first report at the same second."""
    ends = [offer.first_end for offer in offers]
    return bool(ends) and max(ends) - min(ends) <= timedelta(seconds=1)


def _hosts(log: HostLog) -> set[str]:
    return {name.partition(".")[0].lower() for name in log.runs.get_column("host").drop_nulls()}


def _reports(log: HostLog) -> pl.DataFrame:
    """One row a report of the log: its number, times, and whether it is a mean since the start of the system."""
    columns = ["run", "sample", "is_since_boot", "interval_start", "interval_end", "time_of_day"]
    found = [frame.select(*(name for name in columns if name in frame.columns)) for frame in map(log.wide, log.scopes)]
    if not found:
        return pl.DataFrame()
    whole = pl.concat(found, how="diagonal_relaxed")
    return whole.unique(["run", "sample"], keep="first", maintain_order=True).sort("run", "sample")


def _untimed(log: HostLog) -> int | None:
    """How many samples follow the first report of a log without any time; None for other logs."""
    reports = _reports(log)
    timed = {"interval_start", "interval_end", "time_of_day"} & set(reports.columns)
    if log.runs.height != 1 or reports.is_empty() or any(reports[name].drop_nulls().len() for name in timed):
        return None
    means = reports.get_column("is_since_boot").to_list()
    return len(means) - 1 if len(means) > _FEWEST and means[0] is True and True not in means[1:] else None


def _steps(log: HostLog) -> tuple[pl.Series, float] | None:
    """The starts of a log's samples and the mean seconds between them; None where they are not all known, or vary."""
    reports = _reports(log)
    if log.runs.height != 1 or reports.is_empty() or "interval_start" not in reports.columns:
        return None
    samples = reports.filter(IS_SAMPLE)
    if (
        samples.height < _FEWEST
        or samples.select("interval_start", "interval_end").null_count().sum_horizontal().item()
    ):
        return None
    lengths = samples.select(length=pl.col("interval_end") - pl.col("interval_start")).get_column("length")
    step = lengths.mean()
    # stamps are of whole seconds
    if not isinstance(step, timedelta) or not ((lengths - step).abs() <= timedelta(seconds=1)).all():
        return None
    return samples.get_column("interval_start"), step.total_seconds()
