"""What the times of real logs mean: -r, -T and the stamps of split calls."""

import re
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from straceparse import calls, gap_totals, read_strace, totals, unparsed

CAPTURES = Path(__file__).parents[2] / "sample_data" / "captures"
#: A microsecond of a column, and of a value taken from one.
US = pl.duration(microseconds=1)
US_IN_TIMEDELTA = timedelta(microseconds=1)


def _micros(seconds: str) -> int:
    whole, fraction = seconds.split(".")
    return int(whole) * 1_000_000 + int(fraction)


@pytest.mark.corpus
@pytest.mark.parametrize("version", ["4.5.20", "4.8", "4.12", "4.26", "6.1", "7.2"])
def test_elapsed_is_as_printed_and_no_gap_is_shorter(captures: Path, version: str) -> None:
    """Each call of a ``-tt -r -T`` log has the time printed at its end; its gap is at least that."""
    path = captures / f"{version}-ora-tt-r-T.strace"
    texts = path.read_text(encoding="utf-8").splitlines()
    printed = [re.search(r" <(\d+\.\d{6})>$", text) for text in texts if re.match(r"[^\"]*?\w+\(", text)]
    found = calls(read_strace(path))

    expected = [None if match is None else _micros(match.group(1)) for match in printed]

    assert found.get_column("elapsed").dt.total_microseconds().to_list() == expected
    assert found.filter(pl.col("gap") < pl.col("elapsed")).is_empty()
    assert found.get_column("gap").null_count() <= 1


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "count", "same_line", "shifted", "truth"),
    [
        ("semtimedop", 4, 2_094, 120_607, 120_447),
        ("write", 40, 128_270, 675, 234),
        ("io_getevents", 195, 24_901, 61_341, 58_126),
        ("times", 100, 3_390, 32_245, 369),
        ("getrusage", 80, 43_168, 1_247, 361),
    ],
)
def test_time_on_the_line_belongs_to_the_line_before(
    captures: Path, name: str, count: int, same_line: int, shifted: int, truth: int
) -> None:
    """Microseconds of a call by three attributions, as counted without this package: only the gap is near the truth."""
    events = read_strace(captures / "6.1-ora-tt-r-T.strace")
    wrong = events.filter((pl.col("kind") == "call") & (pl.col("name") == name)).get_column("relative_ts").sum()
    by_gap = gap_totals(calls(events)).row(by_predicate=pl.col("name") == name, named=True)
    by_elapsed = totals(events).row(by_predicate=pl.col("name") == name, named=True)

    assert by_gap["calls"] == by_elapsed["calls"] == count
    assert [time // US_IN_TIMEDELTA for time in (wrong, by_gap["gap"], by_elapsed["elapsed"])] == [
        same_line,
        shifted,
        truth,
    ]


@pytest.mark.corpus
def test_sum_of_r_is_the_clock(captures: Path) -> None:
    """The stamps rebuilt from -r follow the wall clock printed beside it within a millisecond, over all processes."""
    events = read_strace(captures / "6.1-ora-tt-r-T.strace").with_columns(
        of_day=pl.col("time_of_day").cast(pl.Duration("ns"))
    )
    drift = events.select((pl.col("of_day") - pl.col("of_day").first() - pl.col("at")).abs().max()).item()

    assert drift // US_IN_TIMEDELTA < 1000


@pytest.mark.corpus
@pytest.mark.parametrize(("name", "last"), [("4.5.20-ora-r", None), ("6.1-ora-r", "+++ exited")])
def test_last_call_of_r_has_no_gap(captures: Path, name: str, last: str | None) -> None:
    """Only a line behind it gives the last call a gap; before 4.7 strace prints none at the exit."""
    path = captures / f"{name}.strace"
    gaps = calls(read_strace(path)).get_column("gap")
    has_exit = last is not None and last in path.read_text(encoding="utf-8").splitlines()[-1]

    assert gaps.null_count() == (0 if has_exit else 1)
    assert (gaps[-1] is not None) == has_exit


@pytest.mark.corpus
def test_a_set_with_r_has_no_gaps_and_says_why(captures: Path) -> None:
    """``-ff -r`` keeps one clock for all files: no start, no gap, one diagnostic; -T stays, and the sum is the run."""
    events = read_strace(captures / "6.1-mp-ff-r")
    found = calls(events)
    clock = unparsed(events)

    assert found.select(pl.col("start", "gap").null_count()).row(0) == (found.height, found.height)
    assert found.get_column("elapsed").count() > 10_000
    assert events.get_column("relative_ts").sum() // US_IN_TIMEDELTA == 1_391_033
    assert clock.get_column("kind").to_list() == ["clock"]
    assert clock.get_column("line").to_list() == [None]


@pytest.mark.corpus
def test_times_of_split_calls(captures: Path) -> None:
    """-T wins over the two stamps of a split call; only calls that never returned have the stamps alone."""
    found = calls(read_strace(captures / "6.1-mp-f-ttt-T.strace")).filter(pl.col("state") == "split")
    by_stamps = found.filter(pl.col("elapsed_from") == "stamps")

    assert found.height > 100
    assert found.get_column("elapsed_from").null_count() == 0
    assert set(by_stamps.get_column("result_text")) == {"?"}
    assert found.filter(pl.col("end") - pl.col("start") != pl.col("elapsed")).is_empty()


@pytest.mark.corpus
def test_split_calls_have_a_time_from_their_stamps(captures: Path) -> None:
    """Where -T is missing the two stamps of a split call give its time, and only there is a time known."""
    found = calls(read_strace(captures / "6.1-mp-f-r.strace"))
    has_time = found.filter(pl.col("elapsed").is_not_null())

    assert set(has_time.get_column("state")) == {"split"}
    assert set(has_time.get_column("elapsed_from")) == {"stamps"}
    assert has_time.filter(pl.col("elapsed") < 0 * US).is_empty()


@pytest.mark.parametrize("name", ["scattered_direct_f_ttt_T_y", "async_direct_f_ttt_T_y", "async_direct_tt_T"])
def test_totals_are_those_of_the_single_calls(name: str) -> None:
    """Sums and percentiles over counted times equal those over the calls themselves, ranked one by one."""
    events = read_strace(CAPTURES / f"{name}.strace")
    elapsed = pl.col("elapsed")
    ranked = elapsed.drop_nulls().sort()
    spread = {
        "median": ranked.get((elapsed.count().cast(pl.Int64) + 1) // 2 - 1, null_on_oob=True),
        "p99": ranked.get((elapsed.count().cast(pl.Int64) * 99 + 99) // 100 - 1, null_on_oob=True),
        "max": elapsed.max(),
    }
    expected = (
        events.filter(pl.col("kind").is_in(["call", "resumed"]))
        .group_by("name")
        .agg(
            calls=pl.len(),
            errors=pl.col("errno").count(),
            elapsed=pl.when(elapsed.count() > 0).then(elapsed.sum()),
            **{column: value.cast(pl.Duration("ns")) for column, value in spread.items()},
        )
    )

    assert_frame_equal(totals(events), expected, check_row_order=False)


@pytest.mark.parametrize(("count", "median", "p99"), [(1, 1, 1), (2, 1, 2), (3, 2, 3), (50, 25, 50), (101, 51, 100)])
def test_percentiles_are_nearest_ranks(count: int, median: int, p99: int) -> None:
    """The smallest time that so many per cent of the calls do not exceed: of few calls the 99th is the longest."""
    log = "\n".join(f"close(3) = 0 <0.{step:06d}>" for step in range(1, count + 1))

    assert totals(read_strace(log.encode())).select("median", "p99").row(0) == (
        median * US_IN_TIMEDELTA,
        p99 * US_IN_TIMEDELTA,
    )


#: Standard error with -f: a notice cuts the clone, and the program's own output the write.
STDERR = """clone(child_stack=NULL, flags=SIGCHLDstrace: Process 51 attached
, child_tidptr=0x7e) = 51 <0.000053>
[pid    51] read(3,  <unfinished ...>
[pid    50] wait4(-1,  <unfinished ...>
[pid    51] <... read resumed>"x", 1) = 1 <0.000010>
[pid    51] exit_group(0) = ?
[pid    51] +++ exited with 0 +++
<... wait4 resumed>NULL, 0, NULL) = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <0.000200>
--- SIGCHLD {si_signo=SIGCHLD} ---
wait4(-1, NULL, 0, NULL) = -1 ECHILD (No child processes) <0.000005>
write(1, "done\\n", 5done
)                   = 5 <0.000030>
exit_group(0) = ?
+++ exited with 0 +++
"""


def test_a_log_of_standard_error_has_all_its_calls() -> None:
    """Calls whose line was cut count once, and a call that is made again has not failed."""
    found = totals(read_strace(STDERR.encode())).select("name", "calls", "errors", elapsed=pl.col("elapsed") / US)

    assert sorted(found.rows()) == [
        ("clone", 1, 0, 53),
        ("exit_group", 2, 0, None),
        ("read", 1, 0, 10),
        ("wait4", 2, 1, 205),
        ("write", 1, 0, 30),
    ]


def test_the_child_of_a_cut_clone_is_not_its_caller() -> None:
    """Lines before the first process is named belong to the one that no call made, even where a notice cut the call."""
    found = calls(read_strace(STDERR.encode()))

    assert found.select("pid", "name").rows() == [
        (50, "clone"),
        (51, "read"),
        (50, "wait4"),
        (51, "exit_group"),
        (50, "wait4"),
        (50, "write"),
        (50, "exit_group"),
    ]


@pytest.mark.parametrize("prefix", ["", "4711  "])
@pytest.mark.parametrize("digits", ["", ".606668"])
@pytest.mark.parametrize("clock", ["11:60:20", "11:40:61", "24:00:00", "91:40:20"])
def test_a_time_that_no_clock_shows_moves_no_other_line(clock: str, digits: str, prefix: str) -> None:
    """A damaged time of day makes its line a diagnostic; the times of the other lines stay as they are."""
    lines = [f'{prefix}11:40:{second}{digits} read(3, "a"..., 512) = 512 <0.000100>' for second in range(10, 40)]
    whole = read_strace("\n".join(lines).encode())
    lines[9] = lines[9].replace(f"11:40:19{digits}", f"{clock}{digits}")
    events = read_strace("\n".join(lines).encode())

    assert unparsed(events).get_column("line").to_list() == [10]
    others = pl.col("line") != 10
    assert_frame_equal(events.filter(others), whole.filter(others))
