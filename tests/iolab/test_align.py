"""The database beside the system calls."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from awrparse import AwrReport, read_awr
from iolab.evidence.alignment import TRACED, align_trace
from sqlplusparse import read_spool
from straceparse import calls, io_requests, read_strace

SAMPLES = Path(__file__).parents[2] / "sample_data"


def report(name: str) -> AwrReport:
    """One of the reports of article 003."""
    return read_awr(SAMPLES / "articles" / f"003_filesystemio_{name}.txt")


@pytest.fixture(scope="module")
def none() -> AwrReport:
    """The report with filesystemio_options=NONE."""
    return report("none")


@pytest.fixture(scope="module")
def setall() -> AwrReport:
    """The report with filesystemio_options=SETALL."""
    return report("setall")


def requests(name: str) -> pl.DataFrame:
    """The requests of a capture."""
    return io_requests(calls(read_strace(SAMPLES / "captures" / f"{name}.strace")))


def test_a_time_that_a_step_of_the_clock_made_is_left_out(setall: AwrReport) -> None:
    """A gap of minus five seconds is no time of a read: what is left is 2 ms at most."""
    log = b"""1700000010.000000 pread64(3, "", 8192, 0) = 8192
1700000005.000000 pread64(3, "", 8192, 16384) = 8192
1700000005.002000 pread64(3, "", 8192, 24576) = 8192
"""
    found = align_trace(setall, io_requests(calls(read_strace(log))))

    assert found.filter(pl.col("quantity") == "single_block_reads_time").select("trace_lo", "trace_hi").row(0) == (
        0.0,
        0.002,
    )


def session(requests_count: int, total: int, blocks: int) -> bytes:
    """A session's own statistics."""
    listing = (
        "NAME                                 VALUE\n------------------------------- ----------\n"
        f"physical read total IO requests {requests_count:>10}\n"
        f"physical read total bytes       {total:>10}\n"
        f"physical reads                  {blocks:>10}\n"
    )
    return b"SQL> select name, value from v$mystat;\n\n" + listing.encode()


@pytest.mark.parametrize(
    ("statistics", "verdicts"),
    [
        (session(300, 309_657_600, 37_800), ["agrees"] * 3),
        (session(302, 310_000_000, 37_900), ["agrees"] * 3),
        (session(600, 619_315_200, 75_600), ["differs"] * 3),
        (session(30, 30_965_760, 3_780), ["differs"] * 3),
    ],
)
def test_a_session_beside_its_trace(statistics: bytes, verdicts: list[str]) -> None:
    """Requests, bytes and blocks from both sides of the system call; a difference names its causes."""
    found = align_trace(read_spool(statistics), requests("scattered_direct_r"))

    assert found.schema == TRACED
    assert found.get_column("quantity").to_list() == ["requests", "bytes", "blocks"]
    assert found.get_column("trace").to_list() == [300, 309_657_600, 37_800]
    assert found.get_column("verdict").to_list() == verdicts
    assert (found.get_column("explanation") != "").to_list() == [verdict != "agrees" for verdict in verdicts]


def test_a_report_beside_a_trace(none: AwrReport) -> None:
    """A trace is a part of what the instance did: reads and their time, none of it an error."""
    found = align_trace(none, requests("sequential_direct_tt_T"))
    rows = {row["quantity"]: row for row in found.iter_rows(named=True)}

    assert rows["single_block_reads"]["database"] == 1_603_321
    assert rows["single_block_reads"]["trace"] == 300
    assert rows["single_block_reads_time"]["verdict"] == "part"
    assert rows["multi_block_reads"]["trace"] == 0
    assert rows["single_block_reads_time"]["trace"] == pytest.approx(0.040333)


def test_time_from_an_r_log_is_a_bound(setall: AwrReport) -> None:
    """Without -T the time in the reads is between nothing and the gaps."""
    found = align_trace(setall, requests("sequential_direct_r"))
    row = found.filter(pl.col("quantity") == "single_block_reads_time").row(0, named=True)

    assert row["trace_lo"] == 0
    assert row["explanation"].endswith("without -T the trace gives an upper bound")


def test_asynchronous_reads_are_other_waits(setall: AwrReport) -> None:
    """Asynchronous multi-block reads are no db file scattered read, and that is said."""
    found = align_trace(setall, requests("async_direct_tt_T"))
    row = found.filter(pl.col("quantity") == "multi_block_reads").row(0, named=True)

    assert row["explanation"].endswith("asynchronous reads are direct path reads, not these waits")


def test_all_statements_of_a_session_are_beside_the_trace_of_its_process() -> None:
    """Where autotrace shows several statements, their reads together are compared; one of them on request."""
    spool = SAMPLES / "one_case/orders_flash.lst"
    reads = io_requests(calls(read_strace(SAMPLES / "sqltrace/orders_flash_4711.strace")))
    each = read_spool(spool).autotrace.filter(name="physical reads").select("statement", "value").drop_nulls()

    whole = align_trace(read_spool(spool), reads).row(by_predicate=pl.col("quantity") == "blocks", named=True)
    first = align_trace(read_spool(spool), reads, statement=each.item(0, 0)).row(0, named=True)

    assert each.height > 1
    assert (whole["database"], whole["verdict"]) == (each.get_column("value").sum(), "agrees")
    assert (first["database"], first["verdict"]) == (each.item(0, 1), "differs")
