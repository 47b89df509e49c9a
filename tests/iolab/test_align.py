"""Two reports side by side, and the database beside the system calls."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from awrparse import AwrReport, read_awr
from iolab.evidence.alignment import ALIGNED, TRACED, align_reports, align_trace
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


@pytest.mark.parametrize(
    ("event", "quantity", "a", "b", "ratio"),
    [
        ("db file sequential read", "waits_per_s", 446.8, 29.7, 0.1),
        ("db file sequential read", "avg_wait_ms", 0.2, 199.5, 998.9),
        ("db file sequential read", "waiting_sessions", 0.1, 5.9, 66.4),
        ("db file parallel read", "avg_wait_ms", 6.9, 547.9, 79.1),
        ("DB CPU", "db_time_share", 0.0, 0.0, 0.2),
    ],
)
def test_events_side_by_side(
    none: AwrReport, setall: AwrReport, event: str, quantity: str, a: float, b: float, ratio: float
) -> None:
    """Article 003 as rates and ratios: 29.7 against 447 reads a second, each 999 times as long."""
    events = align_reports(none, setall).events
    row = events.filter((pl.col("event") == event) & (pl.col("quantity") == quantity)).row(0, named=True)

    assert [round(row[name], 1) for name in ("a", "b", "ratio")] == [a, b, ratio]
    assert row["status"] == "both"
    assert row["ratio_lo"] <= row["ratio"] <= row["ratio_hi"]


def test_bounds_and_schema(none: AwrReport, setall: AwrReport) -> None:
    """Every value lies within its bounds, and a ratio is there wherever both sides are and the first is above zero."""
    found = align_reports(none, setall)
    for frame, key in ((found.events, "event"), (found.classes, "wait_class")):
        assert frame.schema == pl.Schema({key: pl.String(), **ALIGNED})
        for side in ("a", "b", "ratio"):
            inside = pl.col(side).is_between(f"{side}_lo", f"{side}_hi") | pl.col(side).is_null()
            assert frame.filter(~inside).is_empty()
        assert frame.filter(
            pl.col("ratio").is_null() != (pl.any_horizontal(pl.col("a", "b").is_null()) | (pl.col("a_lo") == 0))
        ).is_empty()


def test_appeared_and_vanished(none: AwrReport, setall: AwrReport) -> None:
    """Events of one list only are named, and mirrored when the reports are swapped."""
    there, back = align_reports(none, setall), align_reports(setall, none)

    assert there.vanished[0] == "free buffer waits"
    assert there.appeared[0] == "cursor: pin S wait on X"
    assert (len(there.vanished), len(there.appeared)) == (6, 6)
    assert (there.vanished, there.appeared) == (back.appeared, back.vanished)


def test_swapped_reports_are_mirrored(none: AwrReport, setall: AwrReport) -> None:
    """Each ratio turns over, bounds and all."""
    keys = ["event", "quantity"]
    there, back = (align_reports(*pair).events.sort(keys) for pair in ((none, setall), (setall, none)))
    both = there.join(back, on=keys, suffix="_back").filter(pl.col("ratio").is_not_null())
    both = both.filter(pl.col("ratio_back").is_not_null())

    assert both.height > 10
    for one, other in (("ratio", "ratio_back"), ("ratio_lo", "ratio_hi_back"), ("ratio_hi", "ratio_lo_back")):
        turned = both.filter(pl.col(other) > 0).select(pl.col(one) * pl.col(other)).to_series().to_list()
        assert turned == pytest.approx([1.0] * len(turned))


def test_different_lengths_are_flagged(none: AwrReport, setall: AwrReport) -> None:
    """The SETALL report covers 31 minutes, the other an hour: said, and inferred from the classes."""
    found = align_reports(none, setall, names=("NONE", "SETALL"))

    assert (
        "the periods have different lengths: NONE 3,566-3,611 s, SETALL 1,863-1,886 s; compare rates, not counts"
        in found.notes
    )
    assert any(note.startswith("SETALL: the length of the period, 1875") for note in found.notes)
    assert found.intervals.select("quantity", pl.col("a", "b").round()).rows() == [
        ("elapsed_s", 3589, 1875),
        ("db_time_s", 29067, 15001),
    ]
    assert str(found).startswith("NONE against SETALL\n  elapsed_s: NONE 3589 [")


def test_a_report_against_itself(setall: AwrReport) -> None:
    """All ratios hold 1, nothing appears, and the lengths are not called different."""
    found = align_reports(setall, setall)
    ratios = found.events.filter(pl.col("ratio").is_not_null())

    assert ratios.filter(~pl.lit(1.0).is_between(pl.col("ratio_lo"), pl.col("ratio_hi"))).is_empty()
    assert (found.appeared, found.vanished) == ([], [])
    assert not any("different lengths" in note for note in found.notes)
    assert "rounding does not tell whether the periods have the same length; compare rates, not counts" in found.notes


def test_given_lengths(none: AwrReport, setall: AwrReport) -> None:
    """A length that is given is taken."""
    found = align_reports(none, setall, elapsed_s=(3600, 1800))

    assert found.intervals.select("a", "b", "ratio").row(0) == (3600.0, 1800.0, 0.5)
    assert not any("inferred" in note for note in found.notes)


FRAGMENT = b"""Top 10 Foreground Events by Total Wait Time

Event                            Waits Time (sec)  Avg(ms)  time    Class
------------------------------ ------- ---------- -------- ----- --------
log file sync                      100       11.1   500.00  50.0 Commit
DB CPU                                        5.0           22.5
"""


def test_what_a_report_says_against_itself(setall: AwrReport) -> None:
    """Averages of another population and a length that nothing tells are noted; then there are no rates."""
    found = align_reports(read_awr(FRAGMENT), setall, names=("x", "y"))

    assert any(
        note.startswith("x: log file sync: avg_wait_ms: the figures contradict each other") for note in found.notes
    )
    assert "x: the length of the period is not known: no rates; give it with elapsed_s=" in found.notes
    assert found.events.filter(pl.col("quantity") == "waits_per_s").get_column("a").null_count() > 0


HOUR = (SAMPLES / "awr_series" / "awrrpt_1_4102_4103.txt").read_bytes()


def test_a_header_and_its_classes() -> None:
    """Both tell the length: where they agree nothing is said, where they do not the header is taken, and said."""
    agreed = align_reports(read_awr(HOUR), read_awr(HOUR))
    shorter = HOUR.replace(b"60.18 (mins)", b"30.09 (mins)")
    contradicted = align_reports(read_awr(shorter), read_awr(HOUR), names=("x", "y"))

    assert agreed.intervals.select("a", "b").row(0) == pytest.approx((3610.8, 3610.8))
    assert not any("the header" in note or "length" in note for note in agreed.notes)
    assert contradicted.intervals.item(0, "a") == pytest.approx(1805.4)
    assert [note for note in contradicted.notes if "header" in note] == [
        (
            "x: the header says 1805.4 [1805.1, 1805.7] s, time and average active sessions of the classes "
            "3697 [3543, 3852] s; the header is taken"
        )
    ]


def test_events_of_one_side_are_named_in_the_text(none: AwrReport, setall: AwrReport) -> None:
    """Each list under the name of the report that has it, and no list where there is none."""
    lines = str(align_reports(none, setall, names=("NONE", "SETALL"))).splitlines()
    found = align_reports(none, setall)

    assert f"  only in NONE: {', '.join(found.vanished)}" in lines
    assert f"  only in SETALL: {', '.join(found.appeared)}" in lines
    assert "only in" not in str(align_reports(none, none))


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


def test_db_time_is_what_the_header_and_the_rows_allow() -> None:
    """The header's minutes of two decimals are finer than shares of DB time rounded to 0.1 %: the bounds are both's."""
    folder = Path(__file__).parents[2] / "sample_data" / "awr_series"
    a, b = (read_awr(folder / f"awrrpt_1_{number}_{number + 1}.txt") for number in (4102, 4103))
    row = align_reports(a, b).intervals.row(1, named=True)

    assert row["quantity"] == "db_time_s"
    assert (row["a_lo"], row["a_hi"]) == (pytest.approx(5535.3), pytest.approx(5535.9))
    assert (row["b_lo"], row["b_hi"]) == (pytest.approx(3995.7), pytest.approx(3996.3))
