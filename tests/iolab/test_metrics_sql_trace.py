"""Metrics, findings and the summary of extended SQL traces, against the truth of a session that was written for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sample_scripts import sample_script

import iolab
from iolab import metrics
from iolab.views import view_of
from sqltraceparse import read_sqltrace, read_tkprof

SAMPLES = Path(__file__).parents[2] / "sample_data"
FLASH = SAMPLES / "sqltrace" / "orders_flash_ora_4711.trc"


@pytest.fixture(scope="module")
def make() -> Any:  # noqa: ANN401 - a script, as a module
    """The script that writes the samples."""
    return sample_script("make_sqltrace")


@pytest.fixture(scope="module")
def session(make: Any) -> Any:  # noqa: ANN401 - a module
    """The truth of the first sample."""
    return make.trace("flash", 4711, make.datetime(2026, 3, 2, 21, 0, 0, 123_456, make.UTC))


def test_the_samples_are_what_the_script_writes(make: Any, session: Any) -> None:  # noqa: ANN401 - a module
    """Byte for byte."""
    assert session.text == FLASH.read_text()
    assert make.tkprof(session) == FLASH.with_suffix(".prf").read_text()


def test_what_a_read_cost(session: Any) -> None:  # noqa: ANN401
    """The times of the waits of each event are those that happened."""
    waits = read_sqltrace(FLASH).waits
    times = sorted(elapsed for _, event, elapsed, _ in session.waits if event == "db file sequential read")
    rows = metrics.wait_latency(waits).filter(pl.col("event") == "db file sequential read")
    found = dict(rows.select("metric", "value").iter_rows())

    assert found["wait_us_mean"] == pytest.approx(sum(times) / len(times))
    assert found["wait_us_p50"] in times
    assert found["wait_us_max"] == times[-1]


def test_sizes_of_reads() -> None:
    """Blocks as the waits print them; bytes only where the block size is given."""
    waits = read_sqltrace(FLASH).waits
    sizes = metrics.wait_sizes(waits)
    known = metrics.wait_sizes(waits, block_size=8192)
    single, multi = "db file sequential read", "db file scattered read"

    def value(frame: pl.DataFrame, event: str, metric: str) -> float | None:
        found: float | None = frame.row(
            by_predicate=(pl.col("event") == event) & (pl.col("metric") == metric), named=True
        )["value"]
        return found

    blocks = (16 * 8 + 124 * 128) / 140

    assert value(sizes, single, "blocks_per_read") == 1
    assert value(sizes, multi, "blocks_per_read") == pytest.approx(blocks)
    assert value(sizes, multi, "kib_per_read") is None
    assert value(known, multi, "kib_per_read") == pytest.approx(blocks * 8)
    assert dict(metrics.multiblock_count(waits).select("metric", "value").iter_rows()) == {
        "mbrc_mean": pytest.approx(blocks),
        "mbrc_max": 128,
    }
    assert metrics.read_shares(waits).get_column("value").sum() == pytest.approx(1)


def test_cost_of_a_get(session: Any) -> None:  # noqa: ANN401
    """Own CPU of executions and fetches over their gets."""
    own = [one for one in session.done if one.op in {"EXEC", "FETCH"} and one.query]
    [row] = metrics.us_per_get(read_sqltrace(FLASH).calls).iter_rows(named=True)

    assert row["value"] == pytest.approx(sum(one.own_cpu for one in own) / sum(one.query for one in own))
    assert "row work is in it" in row["caveats"]


def test_rows_of_fetches() -> None:
    """The array size that the client asks for."""
    found = metrics.rows_per_fetch(read_sqltrace(FLASH).calls)

    assert dict(found.select("metric", "value").iter_rows())["array_size"] == 100


def test_a_trace_without_waits_or_fetches_refuses() -> None:
    """What is not there has no figure, and the reason stands there."""
    trace = read_sqltrace(b"PARSE #3:c=0,e=70,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,tim=11205333910\n")
    frames = [
        metrics.multiblock_count(trace.waits),
        metrics.us_per_get(trace.calls),
        metrics.rows_per_fetch(trace.calls),
    ]
    for frame in frames:
        assert frame.get_column("value").null_count() == frame.height
        assert frame.get_column("caveats").str.starts_with("refused:").all()
    assert metrics.wait_latency(trace.waits).is_empty()


def test_findings_say_where_time_went() -> None:
    """The largest wait and the largest statement have their share, their count and their average."""
    found = iolab.findings(read_sqltrace(FLASH))
    said = dict(found.select("part", "sentence").iter_rows())
    reads = metrics.wait_latency(read_sqltrace(FLASH).waits).filter(event="db file sequential read")
    middle = reads.filter(metric="wait_us_p50").item(0, "value")

    assert said["db file sequential read"] == (
        "`db file sequential read` took 33 % of the 0.570 s without client time: 894 waits of 212 "
        f"us on average; half of them took at most {middle:.0f} us."
    )
    assert (
        found.filter(name="main_statement")
        .item(0, "sentence")
        .startswith("`5vtnu5xjfajtn` took 59 % of the 0.570 s without client time")
    )
    assert (
        found.filter(name="main_statement").item(0, "next").startswith("see the plan of `5vtnu5xjfajtn` (line 1,268)")
    )


def test_a_clock_that_is_off_is_said_first() -> None:
    """A gate stands before all other findings."""
    lines = []
    for second in range(0, 12, 2):
        tim = 1_000_000_000 + round(second * 1e6 / 1.024)
        lines += [f"*** 2026-03-02 21:00:{second:02}.000", f"XCTEND rlbk=0, rd_only=1, tim={tim}"]
        lines.append(f"EXEC #3:c=5,e=9,p=0,cr=1,cu=0,mis=0,r=1,dep=0,og=1,tim={tim}")
    rows = iolab.findings(iolab.load("\n".join(lines).encode()))

    assert rows.item(0, "name") == "trace_clock"
    assert "0.9766" in rows.item(0, "sentence")


def test_views() -> None:
    """Traces and TKPROF reports have a summary of their own with charts and frames."""
    trace, report = read_sqltrace(FLASH), read_tkprof(FLASH.with_suffix(".prf"))
    seen = view_of("sqltrace").summarize(trace)

    assert list(seen.frames)[:3] == ["profile", "accounts", "statements"]
    assert [drawer("orders").to_dict()["title"] is not None for drawer in seen.drawers.values()] == [True, True]
    assert "totals" in view_of("tkprof").summarize(report).frames
