"""Latencies of a report's histogram beside those of a trace: agreement, disagreement, and what is refused."""

import random
from pathlib import Path

import polars as pl
import pytest

from awrparse import AwrReport
from iolab import load
from iolab.comparison import UnpairedError, pair
from iolab.evidence import align_latency
from logframe.errors import RefusedError
from straceparse import StraceLog

SERIES = Path(__file__).parents[2] / "sample_data" / "awr_series"
#: 2026-09-14 23:10 UTC, within the report.
BEGIN = 1_789_427_400.0


def report() -> AwrReport:
    """A report of the sample night: 91.7 % of the single-block reads took less than 1 ms."""
    (path,) = SERIES.glob("*_4107_4108.txt")
    found = load(path)
    assert isinstance(found, AwrReport)
    return found


def trace(factor: float, reads: int = 400, *, size: int = 8192, begin: float = BEGIN, timed: bool = True) -> StraceLog:
    """Reads of a process: log-normal times around 0.3 ms times a factor."""
    rng = random.Random(7)  # noqa: S311 - no secret
    lines, now = [], begin
    for number in range(reads):
        time = 300e-6 * factor * rng.lognormvariate(0, 0.8)
        shown = f" <{time:.6f}>" if timed else ""
        lines.append(f'{now:.6f} pread64(268, "\\6\\242"..., {size}, {number * size}) = {size}{shown}')
        now += time + 1e-4
    found = load("\n".join([*lines, ""]).encode())
    assert isinstance(found, StraceLog)
    return found


def aligned(log: StraceLog) -> pl.DataFrame:
    """The comparison with the report."""
    return align_latency(report(), log.requests.collect())


@pytest.mark.parametrize(
    ("factor", "verdicts"),
    [(1, {"p50": "agrees"}), (30, {"p50": "longer", "p95": "longer"}), (0.01, {"p95": "shorter"})],
)
def test_the_interval_of_the_trace_meets_the_bucket_or_not(factor: float, verdicts: dict[str, str]) -> None:
    """Reads of the same kind agree; those of thirty times the time are longer, those from memory shorter."""
    found = aligned(trace(factor))

    assert {name: one for name, one in found.select("quantile", "verdict").iter_rows() if name in verdicts} == verdicts
    assert (found["trace_ci_lo"] <= found["trace"]).all()
    assert (found["trace"] <= found["trace_ci_hi"].fill_null(1e12)).all()
    disagrees = found.filter(pl.col("verdict") != "agrees")["explanation"].to_list()
    assert all(disagrees)


def test_few_reads_have_no_upper_end_of_the_tail() -> None:
    """Of 40 reads the 99th percentile is beyond all of them, perhaps."""
    row = aligned(trace(1, 40)).filter(quantile="p99").row(0, named=True)

    assert row["trace_ci_hi"] is None
    assert row["verdict"] in {"agrees", "longer"}


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (trace(1, 29), "times 29 synchronous reads"),
        (trace(1, size=16_384), "times 0 synchronous reads of 8,192 bytes"),
        (trace(1, timed=False), "times 0 synchronous reads"),
    ],
)
def test_what_cannot_be_compared_is_refused(log: StraceLog, reason: str) -> None:
    """Too few reads, other blocks, and a trace without -T."""
    with pytest.raises(RefusedError, match=reason):
        aligned(log)


def test_a_pair_has_its_latencies_and_another_day_has_none() -> None:
    """`pair` compares latencies where the times fit, says why not where they cannot, and refuses another day."""
    found = pair(report(), trace(1), names=("awr", "trace"))
    assert "Latency of single-block reads" in found.frames
    assert any(text.startswith("Single-block reads: p50 0 to 1000 us in the report") for text in found.paragraphs)
    few = pair(report(), trace(1, 10), names=("awr", "trace"))
    assert any("Latencies are not compared: the trace times 10" in text for text in few.paragraphs)
    with pytest.raises(UnpairedError, match="was taken on"):
        pair(report(), trace(1, begin=BEGIN - 86_400 * 30), names=("awr", "trace"))
