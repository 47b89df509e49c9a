"""Calls and requests are read in batches: where one ends, and what waits for another line, must not show."""

import random
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from logframe import open_logs
from straceparse import CALLS, REQUESTS, calls, io_requests, opens, read_strace, scan_strace
from straceparse.log import read_log
from straceparse.ordered import InOrder, batches_of, of_one_log
from straceparse.scan import scan_logs

CAPTURES = Path(__file__).parents[2] / "sample_data" / "captures"


def event_of(chance: random.Random, pids: list[int]) -> str:
    """A line without its process and clock: halves, handlers, descriptors and asynchronous requests of few kinds."""
    fd, data, pid = chance.choice((3, 4, 5)), chance.choice((0, 1, 2, 3)), chance.choice(pids)
    spent, place = f"<0.{chance.randint(1, 9999):06d}>", 8192 * chance.randint(0, 9)
    context, first = chance.choice((1, 1, 1, 2)), chance.choice(("CLONE_FILES", "SIGCHLD"))
    block = (
        f"{{aio_data={data:#x}, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes={fd}, aio_buf=0x7f, "
        f"aio_nbytes={chance.choice((512, 8192))}, aio_offset={place}}}"
    )
    event = f"{{data={data:#x}, obj=0x7f, res={chance.choice((512, 8192, -5))}, res2=0}}"
    return chance.choice(
        (
            "--- SIGCHLD {si_signo=SIGCHLD} ---",
            "+++ exited with 0 +++",
            f"+++ superseded by execve in pid {pid} +++",
            'execve("/bin/a", ["a"], 0x7f /* 3 vars */ <unfinished ...>',
            f"<... execve resumed>) = 0 {spent}",
            f"clone(child_stack=NULL, flags={first}strace: Process {pid} attached",
            f"clone(child_stack=NULL, flags={first}) = {pid} {spent}",
            f'openat(AT_FDCWD, "/u{chance.randint(0, 5)}/f", O_RDONLY) = {fd} {spent}',
            f'openat(AT_FDCWD, "/u{chance.randint(0, 5)}/f", O_RDONLY) = {fd} {spent}',
            f"close({fd}) = 0 {spent}",
            f"fcntl({fd}, F_DUPFD, 256) = 25{fd} {spent}",
            f"read({fd}, 0x7f, 512) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)",
            f'read({fd}, "abc", 512) = 3 {spent}',
            f"rt_sigreturn({{mask=[]}}) = {chance.choice(('0', '-1 EINTR (Interrupted system call)'))} {spent}",
            f"restart_syscall(<... resuming interrupted read ...>) = 3 {spent}",
            f"io_submit({context}, 1, [{block}]) = 1 {spent}",
            f"io_submit({context}, 2, [{block}, {block}]) = {chance.choice((1, 2))} {spent}",
            f"io_getevents({context}, 1, 128, [{event}], NULL) = 1 {spent}",
            f"io_getevents({context}, 1, 128, [{event}, {event}], {{tv_sec=0, tv_nsec=0}}) = 2 {spent}",
            f"io_getevents({context}, 1, 128,  <unfinished ...>",
            f"<... io_getevents resumed>[{event}], NULL) = 1 {spent}",
            f"pread64({fd},  <unfinished ...>",
            f'<... pread64 resumed>"abc", 512, {place}) = 512 {spent}',
            f'pread64({chance.choice((fd, 250 + fd))}, "a, b"..., 512, {place}) = 512 {spent}',
            f'write({fd}, "a, 1, 2", 7) = 7 {spent}',
        )
    )


def mixed_log(seed: int) -> bytes:
    """Lines of few processes in any order: most halves, requests and handlers are open for long, or for ever."""
    chance = random.Random(seed)  # noqa: S311 - reproducible lines, no secret
    pids = chance.sample(range(11, 17), chance.choice((1, 2, 5)))
    clock, lines = 1_795_253_115_000_000, []
    for _ in range(chance.choice((40, 120))):
        clock += chance.randint(1, 500)
        match chance.randint(0, 19):
            case 0:
                lines.append("output of the program")
            case 1:
                lines.append(f'"x", 512, 8192) = 512 <0.{chance.randint(1, 999999):06d}>')
            case _:
                event = event_of(chance, pids)
                lines.append(f"{chance.choice(pids)} {clock // 1_000_000}.{clock % 1_000_000:06d} {event}")
    return "".join(f"{line}\n" for line in lines).encode()


@pytest.mark.parametrize(("held_bytes", "tail"), [(0, 1 << 30), (4000, 8), (1 << 30, 1)])
def test_batches_of_calls_and_requests_do_not_show(
    monkeypatch: pytest.MonkeyPatch, held_bytes: int, tail: int, *, is_whole: bool
) -> None:
    """Batches of any size, and waiting rows in memory or in files, give what the whole log gives."""
    monkeypatch.setattr("straceparse.ordered.HELD_BYTES", held_bytes)
    monkeypatch.setattr("straceparse.joining._TAIL", tail)
    waited = 0
    for seed in range(12 if is_whole else 3):
        events = read_strace(mixed_log(tail % 97 + seed))
        whole = calls(events)
        lazy = calls(in_steps(events, (1, 7, 30)[seed % 3]))

        assert_frame_equal(whole, pl.concat([whole.clear(), *batches_of(lazy, list(CALLS))]))
        requests, found = io_requests(whole), io_requests(lazy)
        assert_frame_equal(requests, found.collect())
        waited += int((whole.get_column("end_line") > whole.get_column("line") + 3).sum())

    assert waited > 0


def in_steps(events: pl.DataFrame, step: int) -> pl.LazyFrame:
    """The events of one log, so many in a batch."""
    return of_one_log(
        events.lazy(),
        lambda columns: (events.select(columns).slice(start, step) for start in range(0, events.height, step)),
    )


@pytest.mark.parametrize("name", sorted(path.name for path in CAPTURES.glob("*.strace")))
def test_queries_of_captures(name: str) -> None:
    """Queries read a log in batches of few kilobytes, and give what the frames in memory give."""
    log = b"".join((CAPTURES / name).read_bytes().splitlines(keepends=True)[:500])
    lazy = calls(scan_logs(open_logs(log), batch_bytes=1))
    whole = calls(read_strace(log))

    assert_frame_equal(whole, lazy.collect())
    assert_frame_equal(io_requests(whole), io_requests(lazy).collect())
    is_read = pl.col("name") == "pread64"
    assert_frame_equal(whole.filter(is_read).select("gap", "end"), lazy.filter(is_read).select("gap", "end").collect())
    assert_frame_equal(whole.head(7), lazy.head(7).collect())
    assert_frame_equal(io_requests(whole).head(7), io_requests(lazy).head(7).collect())


def test_a_call_that_lasts_for_the_whole_log_keeps_the_order(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The calls after it wait in temporary files, which are gone afterwards."""
    monkeypatch.setattr("straceparse.ordered.HELD_BYTES", 1)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    first, last = "7 1795250000.000000 wait4(-1,  <unfinished ...>", "7 1795259000.000000 <... wait4 resumed>NULL) = 8"
    clock, call = 1_795_250_001, 'pread64(3, "a"..., 512, 1024) = 512 <0.000100>'
    lines = [first, *(f"8 {clock + line}.000000 {call}" for line in range(2000)), last]
    log = "".join(f"{line}\n" for line in lines).encode()
    lazy = calls(scan_logs(open_logs(log), batch_bytes=1))
    files = []
    for batch in batches_of(lazy, ["line", "args"]):
        files.append(len(list(tmp_path.rglob("*.parquet"))))
        assert batch.get_column("line").is_sorted()

    assert lazy.collect().get_column("line").to_list() == [*range(1, 2002)]
    assert max(files) > 0
    assert list(tmp_path.rglob("*.parquet")) == []


def test_an_execve_of_a_thread_is_of_its_process() -> None:
    """Its gap ends at the mark of the takeover; the lines of the process keep their own gaps."""
    log = b"""18 1795253115.000100 close(3) = 0
19 1795253115.000200 execve("/bin/true", ["true"], 0x7f /* 35 vars */ <unfinished ...>
18 1795253115.000300 pause( <unfinished ...>
18 1795253115.000400 <... pause resumed>) = ?
18 1795253115.000500 +++ superseded by execve in pid 19 +++
18 1795253115.000600 <... execve resumed>) = 0 <0.000390>
18 1795253115.000700 close(3) = 0 <0.000001>
"""
    found = calls(read_strace(log))

    assert found.select("line", "end_line", pl.col("gap").dt.total_microseconds()).rows() == [
        (1, 1, 200),
        (2, 6, 390),  # not below -T
        (3, 4, 200),
        (7, 7, None),
    ]


def test_logs_without_calls() -> None:
    """A query over no line of a call, and one over no line that is left, give empty frames of the same columns."""
    found = calls(scan_strace(b"strace: Process 1 attached\nhello\n"))

    assert found.collect().schema == CALLS
    assert io_requests(found).collect().schema == REQUESTS
    assert found.filter(pl.col("name") == "close").collect().is_empty()


def test_rows_that_are_given_late_take_their_place() -> None:
    """Rows come out in order whatever waits for what."""
    order = InOrder()
    first = pl.DataFrame({"_row": [1, 2, 4]}, schema={"_row": pl.UInt32})
    second = pl.DataFrame({"_row": [0, 3, 5]}, schema={"_row": pl.UInt32})

    assert list(order.add(first, 0)) == []
    rows = pl.concat(list(order.add(second, None))).get_column("_row").to_list()
    assert rows == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "text",
    [
        *(pytest.param(mixed_log(seed), id=f"seed {seed}") for seed in range(3)),
        pytest.param(b"11 1700000000.000100 --- SIGCHLD {si_signo=SIGCHLD} ---\n" * 3, id="no call"),
        pytest.param(b"11 1700000000.000100 close(3) = 0 <0.000001>\n" * 3, id="no request"),
        pytest.param(b'openat(AT_FDCWD, "a.dbf", O_RDONLY|O_DIRECT) = 3\nlseek(3, 0, SEEK_\nremark\n', id="no clock"),
        pytest.param(b'  0.000100 dread64(3, "", 8192, 0) = 8192\nlseek(3, 0\n, SEEK_SET) = 0\n', id="damaged"),
    ],
)
@pytest.mark.parametrize("step", [1, 7])
def test_one_pass_gives_what_the_frames_hold(text: bytes, step: int) -> None:
    """Calls, opens, requests, diagnostics and the number of lines, in batches of any size."""
    kept, passed = read_log(text), read_log(text)
    passed.is_kept, passed.events = False, in_steps(kept.events.collect(), step)
    requests, columns = [name for name in REQUESTS if name != "wall"], ["line", "name", "elapsed"]
    taken: list[pl.DataFrame] = []
    found = passed.read_once(requests, columns, taken.append)
    whole = kept.read_once(requests, columns, taken.append)

    assert_frame_equal(pl.concat(taken[:-1]), taken[-1])
    assert_frame_equal(taken[-1], kept.calls.select(columns).collect())
    assert_frame_equal(found.requests, whole.requests)
    assert_frame_equal(
        found.requests.cast({name: REQUESTS[name] for name in requests}), kept.requests.select(requests).collect()
    )
    assert_frame_equal(found.opens, opens(kept.calls.collect()))
    assert found.lines == whole.lines == kept.events.collect().height
    assert_frame_equal(passed.diagnostics, kept.diagnostics)
