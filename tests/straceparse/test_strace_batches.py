"""Logs are read in batches: where one ends must not show, nor what was not sampled."""

import datetime as dt
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import straceparse
from logframe import open_logs
from straceparse.line_parser import read_line
from straceparse.scan import scan_logs

CAPTURES = Path(__file__).parents[2] / "sample_data" / "captures"
CALL = 'pread64(3, "a"..., 8192, {}) = 8192'


def by_pieces(log: bytes) -> pl.DataFrame:
    """The events of a log whose batches are full after one piece of lines."""
    return scan_logs(open_logs(log), batch_bytes=1).collect()


def log_of(lines: list[str]) -> bytes:
    """Lines as a log."""
    return "".join(f"{line}\n" for line in lines).encode()


@pytest.mark.parametrize("name", sorted(path.name for path in CAPTURES.glob("*.strace")))
def test_batches_do_not_show(name: str) -> None:
    """Many small batches give the events of one, clocks and all."""
    log = (CAPTURES / name).read_bytes() * 3

    assert_frame_equal(by_pieces(log), straceparse.read_strace(log))


def test_midnight_between_batches() -> None:
    """A clock of the day goes on after midnight, whatever the batch."""
    before = [f"23:59:{second:02}.{line:06} {CALL.format(line)}" for second in (58, 59) for line in range(20_000)]
    after = [f"00:00:00.{line:06} {CALL.format(line)}" for line in range(20_000)]
    at = by_pieces(log_of(before + after)).get_column("at")

    assert at.is_sorted()
    assert at[-1] == pl.select(pl.duration(seconds=2, microseconds=19_999).cast(pl.Duration("ns"))).item()


def test_relative_times_add_up_over_batches() -> None:
    """The sum of ``-r`` is carried from batch to batch."""
    lines = [f"     0.000100 {CALL.format(line)}" for line in range(50_000)]
    at = by_pieces(log_of(lines)).get_column("at")

    assert at.to_physical().to_list() == [100_000 * line for line in range(50_000)]


def test_what_is_asked_for_is_all_that_differs() -> None:
    """Columns, conditions and numbers of rows reach the reader, and give what the whole frame holds."""
    log = (CAPTURES / "scattered_direct_f_ttt_T_y.strace").read_bytes()
    whole, events = straceparse.read_strace(log), straceparse.scan_strace(log)
    is_error = pl.col("errno").is_not_null()

    for name in whole.columns:
        assert_frame_equal(events.select(name).collect(), whole.select(name))
    assert_frame_equal(
        events.filter(is_error).select("at", "name").collect(), whole.filter(is_error).select("at", "name")
    )
    assert_frame_equal(events.head(7).collect(), whole.head(7))
    assert_frame_equal(events.head(50).filter(is_error).collect(), whole.head(50).filter(is_error))
    assert_frame_equal(events.tail(3).collect(), whole.tail(3))
    assert events.select(pl.len()).collect().item() == whole.height
    assert_frame_equal(straceparse.scan_strace(log, n_rows=5).collect(), whole.head(5))


#: Lines that end like the start of a split call; some are one.
ENDS_LIKE_A_START = [
    "12345 1795253115.946438 read(3,  <unfinished ...>",
    "12345 1795253115.946440 <... read resumed> <unfinished ...>",
    '12345 1795253115.946440 <... read resumed>"x", (1, <unfinished ...>',
    "7 1795253115.946441 <... clock_nanosleep resumed> <unfinished ...>",
    '7 1795253115.946442 read(3, "a <unfinished ...>',
    "strace: Process 5 attached <unfinished ...>",
    "12345 1795253115.946443 strace: Exit of unknown pid 5 ignored <unfinished ...>",
    " <unfinished ...>",
    "12345 1795253115.946444  <unfinished ...>",
    "12345 1795253115.946445 ???( <unfinished ...>",
    "hello <unfinished ...>",
]
PLAIN = [f"12345 1795253116.{line:06} {CALL.format(line)} <0.000041>" for line in range(900)]


@pytest.mark.parametrize("odd", [*([line] for line in ENDS_LIKE_A_START), ENDS_LIKE_A_START], ids=str)
def test_kinds_that_are_not_asked_for(odd: list[str]) -> None:
    """Lines that are skipped because their kind is not asked for are of that kind."""
    log = log_of([*PLAIN, ENDS_LIKE_A_START[0], *odd])
    whole, events = straceparse.read_strace(log), straceparse.scan_strace(log)

    for kind in straceparse.KINDS:
        is_wanted = pl.col("kind").is_in(["call", "resumed", kind])
        found = events.filter(is_wanted).select("line", "kind", "name", "elapsed").collect()
        assert_frame_equal(found, whole.filter(is_wanted).select(found.columns))


@pytest.mark.parametrize("count", [1, 2, 64, 65, 300])
def test_irregular_lines_stand_in_their_places(count: int) -> None:
    """A few lines that no slice can read, or many, first, last and in a row: each is where it was."""
    odd = [f"7<oracle> 1795253115.946441 getppid() = {line}" for line in range(count)]
    lines = [*odd[: count // 3], *PLAIN[:400], *odd[count // 3 : -1], *PLAIN[400:], odd[-1]]
    found = straceparse.read_strace(log_of(lines))

    assert found.get_column("line").to_list() == list(range(1, len(lines) + 1))
    assert found.get_column("comm").is_not_null().to_list() == ["oracle" in line for line in lines]


def hidden(middle: list[str]) -> list[str]:
    """Lines so many that those in the middle of their second quarter are not sampled."""
    plain = [f"     0.000100 {CALL.format(line)}" for line in range(6_000)]
    return plain[:1_500] + middle + plain[1_500:]


def test_options_that_were_not_sampled() -> None:
    """What a few lines print beyond the sampled ones is kept: times, paths and the wall clock."""
    events = straceparse.read_strace(
        log_of(
            hidden(
                [
                    "1795261221.659496 fsync(4</u01/users.dbf>) = 0 <0.000250>",
                    "23:59:59 close(4) = 0",
                ]
            )
        )
    )
    found = events.filter(pl.col("name").is_in(["fsync", "close"])).with_columns(pl.col("elapsed").to_physical())

    assert found.select("fd_path", "elapsed").rows() == [("/u01/users.dbf", 250_000), (None, None)]
    assert found.get_column("wall").dt.epoch("us").to_list() == [1_795_261_221_659_496, None]
    assert found.get_column("time_of_day").to_list() == [None, dt.time(23, 59, 59)]


def test_processes_that_come_and_go_unsampled() -> None:
    """On standard error ``[pid N]`` may appear only where no sample was taken; each line still has its process."""
    events = straceparse.read_strace(
        log_of(
            hidden(
                [
                    "     0.000100 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = 71",
                    "[pid    71]      0.000100 getpid() = 71",
                    "[pid    70]      0.000100 getpid() = 70",
                    "[pid    71]      0.000100 +++ exited with 0 +++",
                ]
            )
        )
    )

    assert events.get_column("pid").value_counts(sort=True).rows() == [(70, 6_002), (71, 2)]


HUGE = "99999999999999999999999999"


@pytest.mark.parametrize(
    "line",
    [
        f"{HUGE}.000100 close(3) = 0",
        "99999999.000100 close(3) = 0",
        f"99:99:99.999999 close({HUGE}) = {HUGE} <{HUGE}.000001>",
        f'pread64({HUGE}, "a"..., {HUGE}, {HUGE}) = {HUGE}',
        f'openat(AT_FDCWD, "a", O_RDONLY) = {HUGE}',
        'openat(AT_FDCWD, "a", O_RDONLY) = 99999999999',
        "dup2(99999999999, 3) = 3",
        f"io_submit(14, 1, [{{aio_data={HUGE}, aio_fildes={HUGE}, aio_nbytes={HUGE}, aio_offset={HUGE}}}]) = 1",
        f"io_getevents(14, 1, 128, [{{data={HUGE}, obj={HUGE}, res={HUGE}, res2=0}}], NULL) = 1",
        f"io_submit(14, {HUGE}, [{{}}]) = 9223372036854775807",
        f'preadv(3, [{{iov_base="", iov_len={HUGE}}}], 1, {HUGE}) = 1',
        "+++ superseded by execve in pid 99999999999 +++",
    ],
)
def test_numbers_that_no_column_holds(line: str) -> None:
    """Digits of a damaged line are null where they fit no column; nothing is raised."""
    events = straceparse.read_strace(log_of([line, "     0.000100 close(3) = 0", line]))
    calls = straceparse.calls(events)

    assert events.height == 3
    assert straceparse.io_requests(calls).schema == straceparse.REQUESTS
    assert straceparse.unparsed(events).get_column("reason").null_count() == 0


@pytest.mark.parametrize(
    ("outcome", "note"),
    [
        ("5</tmp/a (1).dbf>", None),
        ("5</tmp/a EPERM (1).dbf>", None),
        ("5</tmp/a (1).dbf> (INJECTED)", "(INJECTED)"),
        ("-1 ENOENT (No such file or directory)", "(No such file or directory)"),
        ("? ERESTARTSYS (To be restarted)", "(To be restarted)"),
        ("0 (Timeout)", "(Timeout)"),
    ],
)
@pytest.mark.parametrize("elapsed", ["", " <0.000012>"])
def test_brackets_in_the_path_of_a_result(outcome: str, note: str | None, elapsed: str) -> None:
    """Text in brackets within the path of ``-y`` is no note; slices and the grammar agree."""
    line = f'5 openat(AT_FDCWD</tmp>, "x", O_RDWR) = {outcome}{elapsed}'
    found = straceparse.read_strace(f"{line}\n{line}".encode())

    assert found.get_column("note").to_list() == [note] * 2
    assert read_line(line).note == note


@pytest.mark.parametrize("shift", range(-8, 3))
def test_processes_named_at_the_edge_of_a_piece(shift: int, tmp_path: Path) -> None:
    """One line that names a process makes the log one of several, wherever the pieces of the search meet."""
    line = CALL.format(0)
    whole, left = divmod((1 << 20) + shift, len(line) + 1)
    filled = [line] * (whole - 1) + [f"{line[:-4]}{' ' * left}8192"[: len(line) + left]]
    lines = [*filled, f"[pid  4711] {line}", *[line] * 40_000]
    path = tmp_path / "err.strace"
    path.write_bytes(log_of(lines))

    assert path.read_bytes().index(b"[pid ") == (1 << 20) + shift
    assert straceparse.dialect(path).pid == straceparse.dialect(path.read_bytes()).pid == "mixed"
