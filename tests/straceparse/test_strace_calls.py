"""Calls from lines: halves joined, processes told apart, clocks rebuilt."""

from pathlib import Path

import polars as pl
import pytest

from straceparse import CALLS, calls, read_strace, totals, unparsed

US = 1000  # nanoseconds


def joined(*lines: str) -> pl.DataFrame:
    """The calls of some lines."""
    return calls(read_strace("\n".join(lines).encode()))


def times(frame: pl.DataFrame, *names: str) -> list[tuple[int | None, ...]]:
    """Durations as whole microseconds."""
    return frame.select(pl.col(*names).dt.total_microseconds()).rows()


def test_halves_are_joined_verbatim() -> None:
    """A split call has the arguments of both halves, the second's outcome, both line numbers, its own -T."""
    found = joined(
        "3698  09:36:52.167719 read(3,  <unfinished ...>",
        "3699  09:36:52.170000 close(4) = 0 <0.000004>",
        '3698  09:36:52.174828 <... read resumed>"1\\n2\\n", 4096) = 4 <0.003027>',
    )

    assert found.select("line", "end_line", "pid", "args", "result", "state").rows() == [
        (1, 3, 3698, '3, "1\\n2\\n", 4096', 4, "split"),
        (2, 2, 3699, "4", 0, "whole"),
    ]
    assert times(found, "start", "elapsed", "end") == [(0, 3027, 3027), (2281, 4, 2285)]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("wait4(-1,  <unfinished ...>", "<... wait4 resumed> [{W(s)}], 0, NULL) = 7", " [{W(s)}], 0, NULL"),
        ("futex(0x7f, 24 <unfinished ...>", "<... futex resumed>) = 0", ""),
        ("a(1, SIGCHLD, {sa_x} <unfinished ...>", "<... a resumed>, {sa_y}, 8) = 0", ", {sa_y}, 8"),
    ],
)
def test_nothing_is_put_between_halves(first: str, second: str, expected: str) -> None:
    """The separator that strace drops is not invented."""
    found = joined(f"10 {first}", f"10 {second}")
    begun = first.partition("(")[2].removesuffix("<unfinished ...>").removesuffix(" ")

    assert found.get_column("args").to_list() == [begun + expected]


def test_orphans_at_both_ends_are_kept() -> None:
    """A log that starts or ends within a call has halves, and says which."""
    found = joined(
        '7 1.5 <... read resumed>"x", 1) = 1 <0.000100>'.replace("1.5", "1795253115.000500"),
        "8 1795253115.000600 <... poll resumed>) = 0",
        "7 1795253115.000700 close(3) = 0 <0.000002>",
        "7 1795253115.000800 fsync(4 <unfinished ...>",
    )

    assert found.get_column("state").to_list() == ["resumed", "resumed", "whole", "unfinished"]
    assert times(found, "start", "elapsed", "end", "gap") == [
        (-100, 100, 0, None),
        (None, None, 100, None),
        (200, 2, 202, 100),
        (300, None, None, None),
    ]


def test_a_half_is_not_joined_to_another_call() -> None:
    """A lost half leaves two orphans when the names differ."""
    found = joined("7 read(3,  <unfinished ...>", "7 <... write resumed>) = 1")

    assert found.select("name", "state").rows() == [("read", "unfinished"), ("write", "resumed")]


def test_execve_of_a_thread_ends_under_the_process() -> None:
    """The start stands under the thread's id, the end under the process's; other threads end between them."""
    found = joined(
        "18 10:00:00.000100 nanosleep({1, 0},  <unfinished ...>",
        '19 10:00:00.000200 execve("/bin/true", ["true"], 0x7f /* 35 vars */ <unfinished ...>',
        "18 10:00:00.000300 <... nanosleep resumed> <unfinished ...>) = ?",
        "17 10:00:00.000350 pause( <unfinished ...>",
        "18 10:00:00.000400 +++ exited with 0 +++",
        "17 10:00:00.000450 <... pause resumed>) = ?",
        "17 10:00:00.000500 +++ superseded by execve in pid 19 +++",
        "17 10:00:00.000600 <... execve resumed>) = 0 <0.000390>",
        "17 10:00:00.000700 close(3) = 0 <0.000001>",
    )

    assert found.select("line", "end_line", "name", "state", "result").rows() == [
        (1, 3, "nanosleep", "split", None),
        (2, 8, "execve", "split", 0),
        (4, 6, "pause", "split", None),
        (9, 9, "close", "whole", 0),
    ]


@pytest.mark.parametrize("column", [None, "log"])
def test_files_of_one_run_share_a_clock_and_a_execve(tmp_path: Path, column: str | None) -> None:
    """Files of ``-ff`` count from the set's first stamp, and a thread's execve ends in its process's file."""
    files = {
        "t.17": [
            "1795254875.000000 close(3) = 0",
            "1795254875.000500 +++ superseded by execve in pid 19 +++",
            "1795254875.000600 <... execve resumed>) = 0 <0.000450>",
        ],
        "t.19": ['1795254875.000100 execve("/bin/true", [], 0x7f <pid changed to 17 ...>'],
    }
    for name, lines in files.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = calls(read_strace(tmp_path / "t.*", include_file_paths=column))

    assert found.select("pid", "name", "state").rows() == [(17, "close", "whole"), (19, "execve", "split")]
    assert times(found, "start", "elapsed") == [(0, None), (100, 450)]
    assert read_strace(tmp_path / "t.19").get_column("note").to_list() == ["pid changed to 17"]


def test_files_of_one_run_that_pass_midnight(tmp_path: Path) -> None:
    """A process born after midnight starts after the others, though its clock of the day is less."""
    (tmp_path / "t.17").write_text("23:59:59.000000 close(3) = 0\n00:00:02.000000 close(4) = 0\n", encoding="utf-8")
    (tmp_path / "t.18").write_text("00:00:01.000000 close(5) = 0\n", encoding="utf-8")
    found = calls(read_strace(tmp_path / "t.*"))

    assert times(found, "start") == [(0,), (3_000_000,), (2_000_000,)]


def test_logs_of_different_runs_are_kept_apart(tmp_path: Path) -> None:
    """Two logs with the same process number do not share calls."""
    for name, text in (("a.strace", "5 read(3,  <unfinished ...>"), ("b.strace", "5 <... read resumed>) = 0")):
        (tmp_path / name).write_text(text + "\n", encoding="utf-8")
    found = calls(read_strace(tmp_path / "*.strace", include_file_paths="log"))

    assert found.get_column("state").to_list() == ["unfinished", "resumed"]
    assert found.columns == ["log", *CALLS]


@pytest.mark.parametrize(
    ("lines", "args", "state", "result"),
    [
        (
            (
                "09:25:36.059133 clone(child_stack=NULL, flags=A|SIGCHLDstrace: Process 4251 attached\n"
                ", child_tidptr=0x7e) = 4251 <0.000053>"
            ),
            "child_stack=NULL, flags=A|SIGCHLD, child_tidptr=0x7e",
            "whole",
            4251,
        ),
        (
            "09:25:36.059133 clone(Process 5334 attached\nchild_stack=0, flags=B) = 5334 <0.000063>",
            "child_stack=0, flags=B",
            "whole",
            5334,
        ),
        (
            (
                "09:25:25.862746 semtimedop(41, [{1, -1, 0}], 1, {0, 30000000}strace: Process 2147 detached\n"
                " <detached ...>"
            ),
            "41, [{1, -1, 0}], 1, {0, 30000000}",
            "detached",
            None,
        ),
        (
            "09:25:25.862746 io_getevents(0x7f01678b0000, 2, 128/opt/x/strace: Process 31375 detached\n <detached ...>",
            "0x7f01678b0000, 2, 128",
            "detached",
            None,
        ),
        (
            "09:25:25.862746 rt_sigsuspend([], 8../strace: Process 31219 attached\n <unfinished ...>",
            "[], 8",
            "unfinished",
            None,
        ),
    ],
)
def test_a_notice_in_the_middle_of_a_line(lines: str, args: str, state: str, result: int | None) -> None:
    """The call is whole again and the notice is not among its arguments."""
    found = joined(lines)

    assert found.select("line", "end_line", "args", "state", "result").rows() == [(1, 2, args, state, result)]


def test_program_output_in_the_middle_of_a_line() -> None:
    """``2>&1`` glues what the program writes to the call that writes it."""
    found = joined('write(1, "Running on line 5\\n", 18Running on line 5', ")     = 18", "close(1) = 0")

    assert found.select("line", "end_line", "name", "result", "state").rows() == [
        (1, 2, "write", 18, "whole"),
        (3, 3, "close", 0, "whole"),
    ]


@pytest.mark.parametrize(
    ("rest", "args", "result", "errno"),
    [
        ('"abc"..., 9216, 8704) = 9216 <0.000043>', '3, "abc"..., 9216, 8704', 9216, None),
        ('"$ a > b", 8)                           = 8 <0.000043>', '3, "$ a > b", 8', 8, None),
        ("0x7fb25e5ecfb0, 0)     = -1 ENOENT (No such file) <0.000043>", "3, 0x7fb25e5ecfb0, 0", -1, "ENOENT"),
        ("[{WIFSTOPPED(s) && WSTOPSIG(s) == SIGSTOP}], 0) = 5 <0.000043>",
         "3, [{WIFSTOPPED(s) && WSTOPSIG(s) == SIGSTOP}], 0", 5, None),
    ],
)  # fmt: skip
def test_halves_that_z_left_without_a_leader(rest: str, args: str, result: int, errno: str | None) -> None:
    """With -z and several processes, the end of a split call follows its start without process and name."""
    events = read_strace(
        "7 1700000000.000001 close(9 <unfinished ...>\n"  # of another process, and never resumed
        f"5 1700000000.000100 pread64(3,  <unfinished ...>\n{rest}\n"
        "5 1700000000.000300 close(3) = 0 <0.000009>".encode()
    )
    found = calls(events)

    assert found.select("pid", "line", "end_line", "args", "result", "errno", "state").rows()[1:] == [
        (5, 2, 3, args, result, errno, "whole"),
        (5, 4, 4, "3", 0, None, "whole"),
    ]
    assert times(found, "gap", "elapsed")[1] == (200, 43)
    assert unparsed(events).is_empty()
    assert times(totals(events).filter(name="pread64"), "elapsed") == [(43,)]


def test_an_end_without_its_start_is_still_reported() -> None:
    """Only a line marked as unfinished right before excuses an end without a prefix, and only in its own log."""
    events = read_strace(b"5 read(3,  <unfinished ...>\n6 close(4) = 0\n1, 2) = 3\n")

    assert unparsed(events).select("line", "kind").rows() == [(3, "missing")]
    two = pl.concat([
        read_strace(b"5 close(3) = 0\n1, 2) = 3").with_columns(log=pl.lit("a")),
        read_strace(b"5 read(3,  <unfinished ...>").with_columns(log=pl.lit("b")),
    ])  # fmt: skip
    assert unparsed(two).select("source", "line", "kind").rows() == [("a", 2, "missing")]


@pytest.mark.parametrize("start", ["0.000000", "0.004711"])
def test_sum_of_r_counts_from_the_first_line(start: str) -> None:
    """Whatever the first line prints, the log starts at zero; the gap of a call is on the line behind it."""
    found = joined(f"     {start} read(3) = 0", "     0.000100 read(4) = 0", "     3.004190 read(5) = 0")

    assert times(found, "start", "gap", "elapsed") == [(0, 100, None), (100, 3_004_190, None), (3_004_290, None, None)]


def test_r_runs_across_processes() -> None:
    """With -f the numbers chain over all processes; each process's gaps come from the rebuilt clock."""
    found = joined(
        "7      0.000000 read(3) = 0",
        "8      0.000100 read(3) = 0",
        "7      0.000200 --- SIGCHLD {si_signo=SIGCHLD} ---",
        "8      0.000300 +++ exited with 0 +++",
        "7      0.000400 read(4) = 0",
    )

    assert times(found, "start", "gap") == [(0, 300), (100, 500), (1000, None)]


def test_midnight_is_passed() -> None:
    """A clock that falls by more than twelve hours is the next day's; a small step back is a step back."""
    found = joined(
        "23:59:59.999000 close(3) = 0",
        "00:00:00.001000 close(4) = 0",
        "00:00:00.000500 close(5) = 0",
        "23:59:59.000000 close(6) = 0",
        "00:00:01.000000 close(7) = 0",
    )

    assert times(found, "start") == [(0,), (2000,), (1500,), (86_399_001_000,), (86_401_001_000,)]


def test_pid_that_comes_and_goes_on_standard_error() -> None:
    """Lines without a process belong to the only one alive: the first before a fork, the survivor after exits."""
    events = read_strace(
        b"clone(child_stack=NULL) = 11\n"
        b"[pid    10] close(3) = 0\n"
        b"[pid    11] close(4) = 0\n"
        b"[pid    11] +++ exited with 0 +++\n"
        b"close(5) = 0\n"
        b"+++ exited with 0 +++\n"
    )

    assert events.get_column("pid").to_list() == [10, 10, 11, 11, 10, 10]


def test_pid_that_goes_with_an_old_notice() -> None:
    """Old versions print no exit; its notice says who is gone."""
    events = read_strace(
        b"[pid    10] rt_sigsuspend([] <unfinished ...>\n"
        b"[pid    11] exit_group(0) = ?\n"
        b"Process 11 detached\n"
        b"<... rt_sigsuspend resumed> ) = ? ERESTARTNOHAND (To be restarted)\n"
    )

    assert events.get_column("pid").to_list() == [10, 11, None, 10]
    assert calls(events).get_column("state").to_list() == ["split", "whole"]


def test_lazy_in_lazy_out() -> None:
    """A LazyFrame of events gives a LazyFrame of the same calls."""
    events = read_strace(b"10 read(3,  <unfinished ...>\n10 <... read resumed>) = 0")

    assert isinstance(calls(events.lazy()), pl.LazyFrame)
    assert calls(events.lazy()).collect().equals(calls(events))
    assert calls(events).schema == CALLS


def test_no_calls_at_all() -> None:
    """A log without a call gives an empty frame of the same columns."""
    found = joined("strace: Process 1 attached", "hello")

    assert found.schema == CALLS
    assert found.is_empty()


#: Halves without the other half in real logs: killed or exited inside a call, a log that was cut, the last line of an
#: attach.  Everything else is joined.
ORPHANS = {
    "captures/4.12-attach-tt-T.strace": {"detached": 1},
    "captures/4.12-mp-f-ttt-T.strace": {"unfinished": 1},
    "captures/4.5.20-attach-rp.strace": {"unfinished": 1},
    "captures/4.5.20-attach-tt-T.strace": {"unfinished": 1},
    "captures/4.5.20-mp-f-ttt-T.strace": {"unfinished": 1},
    "captures/6.1-attach-2pids.strace": {"unfinished": 1, "detached": 1},
    "captures/6.1-attach-f-tt-T-stderr.strace": {"detached": 1},
    "captures/6.1-attach-rp-stderr.strace": {"detached": 1},
    "captures/6.1-thread-execve-ff.16829": {"resumed": 1},
    "captures/6.1-thread-execve-ff.16831": {"unfinished": 1},
    "captures/7.2-attach-tt-T.strace": {"detached": 1},
    "found/ericmoritz__uwsgi-fastrouter-bug/strace.log": {"unfinished": 1},
    "found/johnlcf__Stana/test__stardict.out": {"unfinished": 1},
}


@pytest.mark.corpus
def test_orphans_of_real_logs(events_of: dict[str, pl.DataFrame]) -> None:
    """Every half in the corpus finds its other half but for those known; no time is negative."""
    orphans = {}
    for name, events in events_of.items():
        found = calls(events)
        halves = found.filter(~pl.col("state").is_in(["whole", "split"])).get_column("state").value_counts()
        if halves.height:
            orphans[name] = dict(halves.rows())
        zero = pl.duration(microseconds=0)

        assert found.filter((pl.col("gap") < zero) | (pl.col("elapsed") < zero)).is_empty(), name
        is_start = pl.col("kind").is_in(["call", "unfinished", "detached", "cut"])
        starts = events.filter(is_start).height
        assert found.height == starts + orphans.get(name, {}).get("resumed", 0), name
    assert orphans == ORPHANS


@pytest.mark.corpus
def test_execve_across_threads_in_real_logs(captures: Path) -> None:
    """The same program with -f and with -ff: the thread's execve is one call of both logs."""
    for source in ("6.1-thread-execve.strace", "6.1-thread-execve-ff.*"):
        found = calls(read_strace(captures / source))

        assert set(found.get_column("state")) == {"whole", "split"}
        execve = found.filter((pl.col("name") == "execve") & (pl.col("state") == "split"))
        assert execve.select("args", "result").rows()[0][0].startswith('"/bin/true", ["true"]')
        assert execve.get_column("elapsed").null_count() == 0


@pytest.mark.corpus
def test_no_process_is_unknown_on_standard_error(captures: Path) -> None:
    """In captures whose process numbers come and go every line of strace's has a process."""
    ours = ~pl.col("kind").is_in(["notice", "continuation", "blank", "chatter", "unparsed"])
    for path in captures.glob("*-mp-f*-stderr*.strace"):
        assert read_strace(path).filter(ours & pl.col("pid").is_null()).is_empty(), path.name


@pytest.mark.parametrize("chunks", [1, 3])
def test_diagnostics_of_frames_in_several_chunks(chunks: int) -> None:
    """A filter over chunks leaves empty ones; the text of a cut call is put together all the same."""
    log = b'hello world\n12:00:00.000001 read(3, "abc", 4096) = 3 <0.000004>\n12:00:00.000002 read(3, "ab'
    events = read_strace(log)
    parts = [events.slice(place, 1) for place in range(3)] if chunks > 1 else [events]
    found = unparsed(pl.concat(parts, rechunk=False))

    assert found.select("line", "kind", "text").rows() == [
        (1, "unparsed", "hello world"),
        (3, "cut", 'read(3, "ab'),
    ]
