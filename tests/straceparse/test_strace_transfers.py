"""Requests that are no read and no write of the process, restarted calls, clocks: what a log of each kind must give."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from straceparse import calls, io_requests, read_strace, unparsed

if TYPE_CHECKING:
    import polars as pl

#: A call of each kind -> op, fd, fd_out, bytes requested, bytes transferred, offset.
CALLS = {
    "sendfile(4, 3, [0] => [4096], 65536) = 4096": ("copy", 3, 4, 65536, 4096, 0),
    "sendfile64(4, 3, NULL, 65536) = 65536": ("copy", 3, 4, 65536, 65536, None),
    "sendfile(out_fd=4, in_fd=3, offset=[8192], count=100) = -1 EAGAIN (Resource temporarily unavailable)": (
        *("copy", 3, 4, 100, None, 8192),
    ),
    "copy_file_range(3, [128], 4, [0], 100, 0) = 100": ("copy", 3, 4, 100, 100, 128),
    "splice(3, NULL, 4, NULL, 65536, SPLICE_F_MOVE) = 10": ("copy", 3, 4, 65536, 10, None),
    "tee(3, 4, 512, 0) = 512": ("copy", 3, 4, 512, 512, None),
    "readahead(3, 8192, 131072) = 0": ("readahead", 3, None, 131072, None, 8192),
    "sync_file_range(4, 4096, 8192, SYNC_FILE_RANGE_WRITE) = 0": ("sync", 4, None, 8192, None, 4096),
    "msync(0x7fe3, 4096, MS_SYNC) = 0": ("sync", None, None, 4096, None, None),
    "sync() = 0": ("sync", None, None, None, None, None),
    "syncfs(4) = 0": ("sync", 4, None, None, None, None),
    "fsync(4) = 0": ("sync", 4, None, None, None, None),
}
COLUMNS = ("op", "fd", "fd_out", "bytes_requested", "bytes_transferred", "offset")


def requests_of(*lines: str) -> pl.DataFrame:
    """The requests of a log."""
    return io_requests(calls(read_strace("\n".join(lines).encode())))


@pytest.mark.parametrize("line", CALLS)
def test_calls_that_move_or_flush_data(line: str) -> None:
    """Each is one request whose op says that nothing was read into the process."""
    assert requests_of(line).select(COLUMNS).rows() == [CALLS[line]]


def test_both_files_of_a_copy_are_known() -> None:
    """From the calls that open them, or from what -y prints."""
    opened = requests_of(
        'openat(AT_FDCWD, "/u01/in", O_RDONLY) = 3',
        'openat(AT_FDCWD, "/u01/out", O_WRONLY) = 4',
        "sendfile(4, 3, NULL, 10) = 10",
        "splice(3, NULL, 4, NULL, 10, 0) = 10",
    )
    printed = requests_of("sendfile(4</u01/out>, 3</u01/in>, NULL, 10) = 10")

    assert opened.select("file", "file_out").rows() == [("/u01/in", "/u01/out")] * 2
    assert printed.select("file", "file_out").rows() == [("/u01/in", "/u01/out")]


INTERRUPTED = "? ERESTARTSYS (To be restarted if SA_RESTART is set)"


def log_of(*events: str) -> list[str]:
    """Events of one process, 100 us apart, each call 40 us long."""
    return [
        f"1795253115.{place * 100:06d} {event}" + ("" if event.startswith("---") else " <0.000040>")
        for place, event in enumerate(events)
    ]


@pytest.mark.parametrize(
    ("first", "retry", "transferred"),
    [
        (f"read(3, 0x7ffc, 4096) = {INTERRUPTED}", 'read(3, "abc"..., 4096) = 300', 300),
        (f'write(3, "abc", 3) = {INTERRUPTED}', 'write(3, "abc", 3) = 3', 3),
        (
            f"readv(3, [{{iov_base=0x7ff, iov_len=8}}], 1) = {INTERRUPTED}",
            'readv(3, [{iov_base="abcdefgh", iov_len=8}], 1) = 8',
            8,
        ),
        ("read(3, 0x7ffc, 4096) = ? ERESTARTNOINTR (To be restarted)", 'read(3, "a", 4096) = 1', 1),
        (
            "read(3, 0x7ffc, 4096) = ? ERESTART_RESTARTBLOCK (Interrupted by signal)",
            "restart_syscall(<... resuming interrupted read ...>) = 7",
            7,
        ),
        (f"fsync(3) = {INTERRUPTED}", "fsync(3) = 0", None),
    ],
)
@pytest.mark.parametrize("handler", [(), ("getpid() = 7", "rt_sigreturn({mask=[]}) = 0")])
def test_a_restarted_call_is_one_request(
    first: str, retry: str, transferred: int | None, handler: tuple[str, ...]
) -> None:
    """From its first start to its last end, with or without a handler in between."""
    lines = log_of(first, "--- SIGALRM {si_signo=SIGALRM} ---", *handler, retry)
    found = requests_of(*lines)

    assert found.select("line", "end_line", "restarts", "bytes_transferred", "errno").rows() == [
        (1, len(lines), 1, transferred, None)
    ]
    assert found.get_column("latency").dt.total_microseconds().to_list() == [(len(lines) - 1) * 100 + 40]
    assert found.get_column("latency_from").to_list() == ["stamps"]


def test_calls_interrupted_twice_and_in_two_processes() -> None:
    """Each process restarts its own call, as often as it is interrupted."""
    lines = [
        f"7  10:00:00.000000 read(3, 0x7ffc, 8) = {INTERRUPTED} <0.000001>",
        f"8  10:00:00.000010 read(3, 0x7ffc, 8) = {INTERRUPTED} <0.000001>",
        f"7  10:00:00.000020 read(3, 0x7ffc, 8) = {INTERRUPTED} <0.000001>",
        '7  10:00:00.000030 read(3, "a", 8) = 1 <0.000001>',
        '8  10:00:00.000040 read(3, "ab", 8) = 2 <0.000001>',
    ]

    assert requests_of(*lines).select("pid", "line", "end_line", "restarts", "bytes_transferred").rows() == [
        (7, 1, 4, 2, 1),
        (8, 2, 5, 1, 2),
    ]


@pytest.mark.parametrize(
    "after",
    [
        ("rt_sigreturn({mask=[]}) = -1 EINTR (Interrupted system call)", 'read(3, "a", 8) = 1'),
        ("rt_sigreturn({mask=[]}) = 0", "close(5) = 0", 'read(3, "a", 8) = 1'),
        ("close(5) = 0", 'read(3, "a", 8) = 1'),
        ('read(4, "a", 8) = 1',),
        ('read(3, "a", 9) = 1',),
    ],
)
def test_what_is_no_restart_stays_apart(after: tuple[str, ...]) -> None:
    """The program saw EINTR, did something else, or made another call."""
    found = requests_of(*log_of(f"read(3, 0x7ffc, 8) = {INTERRUPTED}", *after))

    assert found.select("bytes_transferred", "restarts").rows() == [(None, 0), (1, 0)]


def test_without_a_clock_the_parts_of_a_restarted_call_are_added() -> None:
    """All that is known is the time in the kernel."""
    found = requests_of(f"read(3, 0x7ffc, 8) = {INTERRUPTED} <0.000100>", 'read(3, "a", 8) = 1 <0.000020>')

    assert found.get_column("latency").dt.total_microseconds().to_list() == [120]
    assert found.get_column("latency_hi").dt.total_microseconds().to_list() == [122]


@pytest.mark.parametrize(("printed", "step"), [("0", 10**9), ("0.000", 10**6), ("0.000003", 10**3), ("0.000003007", 1)])
def test_the_last_decimal_bounds_each_time(printed: str, step: int) -> None:
    """Strace truncates what -T prints, so the time is below the next decimal, whatever the other lines print."""
    found = requests_of(f'read(3, "a", 8) = 1 <{printed}>', "close(3) = 0 <0.000001>")
    low, high = (found.get_column(name).dt.total_nanoseconds().item() for name in ("latency", "latency_hi"))

    assert high - low == step


def test_requests_have_a_wall_clock() -> None:
    """Of the submission: in UTC with -ttt, as local time with -t and -tt."""
    epoch = requests_of("1795253115.250000 io_submit(14, 1, [{aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=3}]) = 1")
    local = requests_of('10:00:00.250000 read(3, "a", 8) = 1')
    end = requests_of('7  00:00:00.250000 <... read resumed>"a", 8) = 1 <0.500000>')

    assert str(epoch.get_column("wall").item()) == "2026-11-21 09:25:15.250000+00:00"
    assert str(local.get_column("time_of_day").item()) == "10:00:00.250000"
    assert end.is_empty()
    split = calls(read_strace(b'7  00:00:00.250000 <... read resumed>"a", 8) = 1 <0.500000>'))
    assert str(split.get_column("time_of_day").item()) == "23:59:59.750000"


@pytest.mark.parametrize("name", ["/opt/strace-6.1", "./st", "/u01/o r/bin/x", "strace", "strace-4.26", "../t"])
@pytest.mark.parametrize("message", ["Process 5 attached", "Process 5 detached", "Process 5 attached with 9 threads"])
def test_notices_under_any_name_of_strace(name: str, message: str) -> None:
    """Strace prints its messages under the name it was started as."""
    events = read_strace(f"close(3) = 0\n{name}: {message}\nclose(4) = 0".encode())

    assert events.get_column("kind").to_list() == ["call", "unparsed" if " " in name else "notice", "call"]


@pytest.mark.parametrize("name", ["/opt/strace-6.1", "./st", "strace", "strace-4.26"])
def test_a_call_that_such_a_notice_cuts_is_whole(name: str) -> None:
    """The message comes off the arguments, and the rest of the call goes on."""
    found = calls(read_strace(f"clone(flags=SIGCHLD{name}: Process 5 attached\n, tls=0) = 5".encode()))

    assert found.select("args", "result", "state").rows() == [("flags=SIGCHLD, tls=0", 5, "whole")]


@pytest.mark.parametrize(
    "line",
    [
        "--- {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=5, si_uid=0} (Child exited) ---",
        "--- {si_signo=0x11, si_code=0x1} (Real-time signal 1) ---",
    ],
)
def test_signals_whose_name_comes_last(line: str) -> None:
    """Strace 4.7 without -X prints the struct first."""
    events = read_strace(f"close(3) = 0\n{line}".encode())

    assert events.get_column("kind").to_list() == ["call", "signal"]
    assert unparsed(events).is_empty()
