"""How a process reads, and what a log cannot tell of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from iolab.metrics.trace_modes import MODES, By, io_mode
from straceparse import calls, io_requests, read_strace

if TYPE_CHECKING:
    import polars as pl

SAMPLES = Path(__file__).parents[2] / "sample_data"
PATH = "whether reads went through the buffer cache or by direct path, because the calls are the same"


def read_calls(log: str | bytes) -> pl.DataFrame:
    """The calls of a sample or of a text."""
    return calls(read_strace(SAMPLES / log if isinstance(log, str) else log))


@pytest.mark.parametrize(
    ("name", "mode", "reads", "share"),
    [
        ("articles/000_sync_reads.strace", "synchronous", (4, 0), 0.0),
        ("articles/000_async_reads.strace", "asynchronous", (0, 5), 1.0),
        ("captures/scattered_buffered_r.strace", "synchronous", (300, 0), 0.0),
        ("captures/async_direct_f_ttt_T_y.strace", "asynchronous", (0, 300), 1.0),
    ],
)
def test_verdict_of_a_log(name: str, mode: str, reads: tuple[int, int], share: float) -> None:
    """The traces of article 000 and of the captures, each as one row."""
    row = io_mode(read_calls(name), by="log").row(0, named=True)

    assert (row["mode"], (row["sync_reads"], row["async_reads"]), row["async_share"]) == (mode, reads, share)
    assert row["limitations"].startswith(PATH)


@pytest.mark.parametrize(("by", "rows"), [("file", 4), ("process", 2), ("log", 1)])
def test_rows(by: By, rows: int) -> None:
    """Two processes read two files."""
    found = io_mode(read_calls("captures/scattered_direct_f_ttt_T_y.strace"), by=by)

    assert (found.height, found.schema) == (rows, MODES)
    assert found.get_column("sync_bytes").sum() == 300 * 1_032_192


@pytest.mark.parametrize(
    ("name", "is_direct"),
    [("scattered_buffered_r", False), ("scattered_direct_r", True), ("scattered_direct_f_ttt_T_y", True)],
)
def test_the_open_shows_o_direct(name: str, *, is_direct: bool) -> None:
    """Where the open is in the log, so is O_DIRECT; -y names the file in full, the open from its folder."""
    found = io_mode(read_calls(f"captures/{name}.strace"))

    assert found.get_column("has_o_direct").to_list() == [is_direct] * found.height
    assert found.get_column("limitations").to_list() == [PATH] * found.height


def test_without_the_open() -> None:
    """A log that began later names neither file nor O_DIRECT."""
    found = io_mode(read_calls("articles/000_async_reads.strace").tail(2))

    assert found.select("file", "has_o_direct").row(0) == ("(not known)", None)
    assert found.item(0, "limitations").split("; ") == [
        PATH,
        "whether the kernel read asynchronously, because without O_DIRECT it reads within io_submit",
        "whether the page cache was used, because the log begins after the open, which shows O_DIRECT",
        "which file was read, because the log begins after the request was submitted",
    ]


CUT = b"""     0.000100 io_submit(14, 3, [{data=0x1, pread, fildes=256, nbytes=8192, offset=0}, ...]) = 3
     0.000100 io_getevents(14, 3, 9, [{data=0x1, res=8192}, {data=0x2, res=8192}, {data=0x3, res=8192}], NULL) = 3
"""
WHOLE = b"""     0.000100 io_submit(14, 1, [{data=0x1, pread, fildes=256, nbytes=8192, offset=0}]) = 1
     0.000100 io_getevents(14, 1, 9, [{data=0x1, res=8192}], NULL) = 1
"""


@pytest.mark.parametrize("by", ["file", "process", "log"])
def test_a_list_that_strace_cut(by: By) -> None:
    """Where strace printed one request of three, one read is counted, and it is said that -v prints the others."""
    cut = io_mode(calls(read_strace(CUT)), by=by)
    whole = io_mode(calls(read_strace(WHOLE)), by=by)

    assert cut.item(0, "async_reads") == 1
    assert cut.item(0, "limitations").endswith(
        "all requests, because strace cut their lists short (trace with strace -v)"
    )
    assert "strace -v" not in whole.item(0, "limitations")


MIXED = b"""     0.000000 pread64(256</dev/sdb>, "", 8192, 0) = 8192
     0.000100 io_submit(14, 1, {{data:0x1, pread, filedes:256</dev/sdb>, nbytes:24576, offset:0}}) = 1
     0.000100 io_getevents(14, 1, 128, {{0x1, 0x1, 24576, 0}}, {0, 0}) = 1
     0.000100 pread64(256</dev/sdb>, "", 8192, 8192) = 8192
"""


def test_both_modes_of_one_file() -> None:
    """A file that is read both ways is mixed: shares of bytes, and when each was."""
    row = io_mode(read_calls(MIXED)).row(0, named=True)

    assert (row["mode"], row["sync_bytes"], row["async_bytes"], row["async_share"]) == ("mixed", 16384, 24576, 0.6)
    times = [row[name].total_seconds() for name in ("sync_from", "sync_to", "async_from", "async_to")]
    assert times == [0.0, 0.0003, 0.0001, 0.0001]
    assert "which database file was read, because ASM reads are of the disk group's devices" in row["limitations"]


def test_io_uring_is_not_known() -> None:
    """Requests in shared memory are not seen."""
    log = b"     0.000000 io_uring_enter(5, 4, 1, IORING_ENTER_GETEVENTS, NULL, 8) = 4\n"
    row = io_mode(read_calls(log)).row(0, named=True)

    assert (row["mode"], row["async_share"]) == ("unknown", None)
    assert row["limitations"] == "what io_uring carried, because its requests are in memory that strace does not see"


def test_requests_will_do() -> None:
    """Requests give the same modes as calls; only the opens are not among them. Lazy frames are collected."""
    found = read_calls("captures/async_buffered_r.strace")
    by_calls, by_requests = io_mode(found.lazy()), io_mode(io_requests(found))

    assert by_requests.drop("has_o_direct", "limitations").equals(by_calls.drop("has_o_direct", "limitations"))
    assert by_requests.get_column("has_o_direct").null_count() == by_requests.height


def test_no_reads_no_rows() -> None:
    """A log without reads of data has no mode."""
    assert io_mode(read_calls(b"     0.000000 close(3) = 0\n"), by="log").is_empty()


def test_the_open_of_a_file_whose_name_strace_escapes() -> None:
    """The name of the open is undone as that of the requests is."""
    log = (
        b'openat(AT_FDCWD, "/u01/d\\303\\244ten.dbf", O_RDONLY|O_DIRECT) = 7\n'
        b'pread64(7, "x"..., 8192, 0) = 8192\n'
    )  # fmt: skip
    found = io_mode(read_calls(log))

    assert found.select("file", "has_o_direct").rows() == [("/u01/däten.dbf", True)]


def test_waiting_in_io_uring_is_no_request() -> None:
    """A call that submits nothing reads nothing."""
    assert io_mode(
        read_calls(b"     0.000000 io_uring_enter(5, 0, 1, IORING_ENTER_GETEVENTS, NULL, 8) = 0\n")
    ).is_empty()


def test_io_uring_beside_reads_is_said() -> None:
    """A process that also reads by pread is synchronous as far as it is seen; what io_uring carried is not."""
    log = (
        b'     0.000000 pread64(7, "", 8192, 0) = 8192\n'
        b"     0.000100 io_uring_enter(5, 1, 0, 0, NULL, 8) = 1\n"
    )  # fmt: skip
    row = io_mode(read_calls(log), by="process").row(0, named=True)

    assert (row["mode"], row["sync_reads"], row["async_reads"]) == ("synchronous", 1, 0)
    assert row["limitations"].endswith(
        "what io_uring carried, because its requests are in memory that strace does not see"
    )
    assert "which file" in row["limitations"]


TWO_FILES = b"""openat(AT_FDCWD, "./users01.dbf", O_RDWR|O_DIRECT) = 0
openat(AT_FDCWD, "/dev/sdb", O_RDWR) = 8
openat(AT_FDCWD, "/dev/sdb", O_RDWR|O_DIRECT) = -1 EINVAL (Invalid argument)
io_submit(14, 1, [{data=0x1, pread, fildes=0</u01/users01.dbf>, nbytes=8192, offset=0}]) = 1
io_getevents(14, 1, 9, [{data=0x1, res=8192}], NULL) = 1
pread64(8</dev/sdb>, "", 8192, 0) = 8192
"""


def test_opens_count_where_they_succeeded() -> None:
    """The open that failed says nothing, descriptor 0 is one, and a name from the folder is that of the file."""
    found = io_mode(read_calls(TWO_FILES))

    assert found.select("file", "has_o_direct").rows() == [("/u01/users01.dbf", True), ("/dev/sdb", False)]
    assert found.get_column("limitations").to_list() == [
        PATH,
        f"{PATH}; which database file was read, because ASM reads are of the disk group's devices",
    ]


def test_a_process_with_files_of_both_kinds() -> None:
    """One answer for both files would be wrong, so there is none; a device among them is named."""
    row = io_mode(read_calls(TWO_FILES), by="process").row(0, named=True)

    assert (row["mode"], row["has_o_direct"]) == ("mixed", None)
    assert "ASM reads are of the disk group's devices" in row["limitations"]
