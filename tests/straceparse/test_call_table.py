"""One table of system calls that do I/O; what a descriptor is of decides what is a read of data."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import iolab
from iolab import metrics
from straceparse import StraceLog, opens
from straceparse.call_table import IO_CALLS, PLACED, VECTORED, IoCall
from straceparse.transfers import transfer_of

TABLE = "call_table.py"
ROOT = Path(__file__).parents[2]
#: Names of calls that are names of directions, too.
AMBIGUOUS = {"read", "write", "sync", "readahead", "tee", "splice"}


def strings_of(path: Path) -> set[str]:
    """The string constants of a module that are no documentation."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    }


@pytest.mark.parametrize("package", ["straceparse", "iolab"])
def test_no_other_module_names_a_call(package: str) -> None:
    """Requests, metrics, rules and charts take the calls from the table."""
    names = IO_CALLS.keys() - AMBIGUOUS
    found = {
        (path.name, name)
        for path in (ROOT / package).rglob("*.py")
        if path.name != TABLE
        for name in names & strings_of(path)
    }

    # the page's colours know reads of single blocks by the names of waits and calls
    assert found <= {("ledger_html.py", "pread64")}


NEW_CALL = """
import pathlib, sys, types
path = pathlib.Path("straceparse/call_table.py")
row = '    "pread128": IoCall("read", size=2, offset=3, is_at_end=True, is_of_file=True),\\n'
text = path.read_text().replace('    "readv": IoCall(', row + '    "readv": IoCall(', 1)
import importlib.machinery
module = types.ModuleType("straceparse.call_table")
sys.modules["straceparse.call_table"] = module
exec(compile(text, str(path), "exec"), module.__dict__)
import iolab
from iolab import metrics
log = iolab.load(b'1.000000 pread128(3</u01/a.dbf>, "", 8192, 16384) = 8192 <0.000400>\\n' * 3)
requests = log.requests.collect()
print(requests.select("op", "bytes_transferred", "offset").row(0), metrics.read_sizes(requests).item(0, "value"))
print(next(part for part in iolab.ledger(log).parts()["name"] if "pread128" in part))
"""


def test_a_new_call_is_one_row() -> None:
    """A call that does not exist is added to the table: its requests, figures and time are those of a read."""
    done = subprocess.run([sys.executable, "-c", NEW_CALL], cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.stderr == ""
    assert done.stdout.splitlines() == ["('read', 8192, 16384) 3.0", "file reads: pread128"]


#: Calls that do not exist, whose arguments stand elsewhere than those of any other.
ELSEWHERE = {
    "gather": IoCall("write", buffers=1),
    "scatter_at": IoCall("read", fd=3, buffers=0, offset=1),
    "move_at": IoCall("copy", fd=4, size=0, offset=3, fd_out=1),
}


@pytest.mark.parametrize("name", [*VECTORED, *PLACED, *ELSEWHERE])
def test_arguments_are_read_where_the_table_says(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Descriptors, size and offset of every call are the arguments at the positions of its row, and no others."""
    monkeypatch.setattr("straceparse.transfers.IO_CALLS", {**IO_CALLS, **ELSEWHERE})
    call = {**IO_CALLS, **ELSEWHERE}[name]
    printed = [str(100 + position) for position in range(6)]
    if call.buffers is not None:
        printed[call.buffers] = '[{iov_base="a"..., iov_len=8192}]'
    found = transfer_of(name, ", ".join(printed))

    expected = [None if place is None else 100 + place for place in (call.fd, call.fd_out, call.offset)]
    assert [found.fd, found.fd_out, found.offset] == expected
    assert found.size == (8192 if call.size is None else 100 + call.size)


#: A call, what its descriptor is of, and whether it is a read of data.
CASES = [
    ('pread64(3</u01/a.dbf>, "", 8192, 0) = 8192', "file", True),
    ('read(3</u01/a.log>, "", 8192) = 1001', "file", True),
    ('readv(3</u01/a.dbf>, [{iov_base="", iov_len=4096}, {iov_base="", iov_len=4096}], 2) = 8192', "file", True),
    ('read(3</u01/a.log>, "", 8192) = 0', "file", False),
    ("pread64(3</u01/a.dbf>, 0x7f00, 8192, 0) = -1 EIO (Input/output error)", "file", False),
    ('pread64(3</dev/sdb<block 8:16>>, "", 8192, 0) = 8192', "block", True),
    ('read(3</dev/input/mice<char 13:63>>, "", 512) = 512', "character", False),
    ('read(0</dev/pts/0<char 136:0>>, "", 512) = 512', "terminal", False),
    ('read(3<TCP:[10.0.0.1:1521->10.0.0.2:9]>, "", 8208) = 8192', "socket", False),
    ('read(3<pipe:[168699]>, "", 512) = 512', "pipe", False),
    ('read(3<anon_inode:[eventfd]>, "", 512) = 512', "event", False),
    ('read(3</proc/7/maps>, "", 1024) = 1024', "kernel", False),
    ('read(3</usr/lib/x86_64-linux-gnu/libc.so.6>, "", 832) = 832', "file", False),
    ('read(0, "", 512) = 512', "standard", True),
    ('read(7, "", 8192) = 8192', "unknown", True),
    ('read(7, "", 8192) = 100', "unknown", False),
    ("read(7, 0x7f00, 8192) = -1 EAGAIN (Resource temporarily unavailable)", "unknown", False),
]


@pytest.mark.parametrize(("call", "target", "is_data"), CASES)
def test_what_is_a_read_of_data(call: str, target: str, is_data: bool) -> None:  # noqa: FBT001 - a case
    """The target decides, and only where the log does not name it the size."""
    requests = iolab.load(f"1.000000 {call} <0.000400>\n".encode()).requests.collect()

    assert requests.get_column("target").to_list() == [target]
    assert "<" not in (requests.item(0, "file") or "")
    assert bool(metrics.data_reads(requests).height) == is_data


def test_requests_of_io_uring_are_a_lower_bound() -> None:
    """What the ring carried is counted, and neither totals nor depth are exact."""
    log = b"""1.000000 pread64(3</u01/a.dbf>, "", 8192, 0) = 8192 <0.000400>
1.000500 io_uring_enter(4<anon_inode:[io_uring]>, 8, 0, 0, NULL, 8) = 8 <0.000010>
1.000600 io_uring_enter(4<anon_inode:[io_uring]>, 8, 0, 0, NULL, 8) = 8 <0.000010>
"""
    requests = iolab.load(log).requests.collect()
    reads = metrics.read_sizes(requests)

    assert reads.select("metric", "value", "hi").row(0) == ("reads", 1.0, None)
    assert "16 requests" in reads.item(0, "caveats")
    assert metrics.depth(requests).get_column("value").null_count() == 2


def test_writes_and_flushes_have_figures() -> None:
    """Each file's writes and flushes: number, bytes, times; waits on a pipe are not among them."""
    lines = ['1700000000.000000 openat(AT_FDCWD, "/u01/redo.log", O_RDWR|O_DIRECT|O_DSYNC) = 3 <0.000010>']
    for number in range(1, 31):
        at = f"1700000000.{number:03}"
        lines += [
            f'{at}000 pwrite64(3</u01/redo.log>, "", 1024, {number << 10}) = 1024 <0.0002{number:02}>',
            f'{at}400 write(5<pipe:[7]>, "", 512) = 512 <0.000900>',
        ]
        if number % 10 == 0:
            lines.append(f"{at}900 fdatasync(3</u01/redo.log>) = 0 <0.002000>")
    log = iolab.load("\n".join(lines).encode())
    assert isinstance(log, StraceLog)
    found = metrics.writes_by_file(log.requests.collect(), opens(log.calls.collect()))

    assert found.height == 1
    row = found.row(0, named=True)
    assert (row["writes"], row["bytes"], row["syncs"], row["writes_per_sync"]) == (30, 30_720, 3, 10.0)
    assert (row["write_us_p50"], row["write_us_p99"], row["sync_us_p50"]) == (215.0, 230.0, 2000.0)
    assert (row["has_o_direct"], row["has_o_sync"]) == (True, True)
    said = iolab.findings(log).filter(pl.col("name") == "write_latency")
    assert said.get_column("sentence").to_list() == [
        "30 writes to `redo.log` (O_SYNC or O_DSYNC), 1 KiB on average, took a median of 215 us (p99 230 us)."
    ]
