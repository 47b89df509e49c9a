"""Long lines and holes: bounded memory, one diagnostic each, and nothing else is lost."""

import subprocess
import sys
from pathlib import Path

import pytest

from logframe import open_logs
from logframe.limits import limits
from straceparse import calls, dialect, read_strace, scan_strace, unparsed
from straceparse.opening import HEAD_BYTES, shortened
from straceparse.records import LONG

LINE = '1795253115.000001 read(3, "a", 4096) = 1 <0.000041>'


@pytest.fixture(params=["bytes", "file"])
def form(request: pytest.FixtureRequest) -> str:
    """How the log is given."""
    return str(request.param)


def source_of(text: bytes, form: str, folder: Path) -> bytes | Path:
    """A log in memory, or on disk."""
    if form == "bytes":
        return text
    path = folder / "ora.strace"
    path.write_bytes(text)
    return path


@pytest.mark.parametrize("size", [999, 1000, 1001, 1500, 2001, 5000, 300_000])
@pytest.mark.parametrize("before", [0, 1, 30])
def test_a_line_over_the_limit_is_one_diagnostic(size: int, before: int, form: str, tmp_path: Path) -> None:
    """Its head is read, its length stands in the reason; every other line is as it was, and numbered as it was."""
    start = '1795253115.000002 write(3, "'
    long_line = start + "é" * ((size - len(start)) // 2)
    long_line += "x" * (size - len(long_line.encode()))
    text = "\n".join([*[LINE] * before, long_line, LINE, LINE]).encode()
    with limits(max_line_bytes=1000):
        events = read_strace(source_of(text, form, tmp_path))
        found = unparsed(events)

    assert events.get_column("line").to_list() == list(range(1, before + 4))
    assert events.get_column("kind").to_list() == ["call"] * before + ["cut", "call", "call"]
    assert events.get_column("syscall")[before] == "write"
    assert found.get_column("line").to_list() == [before + 1]
    reason = found.get_column("reason").item()
    assert (f"a line of {size} bytes" in reason and "max_line_bytes=1000" in reason) is (size > 1000)
    if size > HEAD_BYTES:
        assert len(events.get_column("args")[before].encode()) < HEAD_BYTES


def test_long_lines_next_to_each_other_and_at_the_end(form: str, tmp_path: Path) -> None:
    """Each is counted, whatever stands beside it and however the pieces of the file fall."""
    sizes = [2_000_000, 1_500_000, 50, 1_200_000]
    text = b"\n".join(b"x" * size for size in sizes)
    with limits(max_line_bytes=1 << 20):
        events = read_strace(source_of(text, form, tmp_path))

    shown = events.get_column("reason").str.extract("a line of ([0-9]+) bytes", 1).to_list()
    assert shown == ["2000000", "1500000", None, "1200000"]


def test_the_clock_goes_on_over_a_long_line() -> None:
    """The relative timestamp of an overlong line is read, so the lines after it keep their times."""
    lines = ["     0.000000 close(3) = 0", '     0.000100 write(3, "' + "x" * 9000, "     0.000200 close(4) = 0"]
    with limits(max_line_bytes=8192):
        events = read_strace("\n".join(lines).encode())

    assert events.get_column("at").dt.total_microseconds().to_list() == [0, 100, 300]


@pytest.mark.parametrize("nuls", [1, 3, 4095, 70_000, 3_000_000])
def test_a_log_that_starts_with_a_hole(nuls: int, form: str, tmp_path: Path) -> None:
    """A log truncated under strace begins with NUL bytes: its first line is read, and a diagnostic says so."""
    text = b"\0" * nuls + f"{LINE}\n{LINE}\nhello".encode()
    source = source_of(text, form, tmp_path)
    events = read_strace(source)

    assert events.get_column("kind").to_list() == ["call", "call", "unparsed"]
    assert dialect(source).has_elapsed
    found = unparsed(scan_strace(source))
    assert found.select("line", "kind").rows() == [(1, "damaged"), (3, "unparsed")]
    assert f"{nuls} NUL bytes" in found.get_column("reason")[0]
    assert calls(events).height == 2


def test_a_log_of_nuls_only() -> None:
    """There is one line, and it is no line of strace."""
    events = read_strace(b"\0" * 100_000)

    assert events.select("kind", "reason").rows() == [("unparsed", "100000 NUL bytes and nothing else")]


def test_ordinary_logs_are_not_copied() -> None:
    """Nothing is rewritten where nothing is too long."""
    log = open_logs(f"{LINE}\n".encode() * 100_000)[0]

    assert shortened(log) is log


#: The start of a long line, what it is filled with, its end, and its kind.
SHAPES = {
    "a cut call": ('write(3, "', "a", "", "cut"),
    "words": ("", "word ", "", "unparsed"),
    "NULs": ("x", "\0", "", "unparsed"),
    "a call": ('write(3, "', "a", '", 8) = 8', "call"),
    "a call of an odd dialect": ("read(3<", "/a", '>, "", 1) = 1', "call"),
    "an array": ("foo([", "{a=1, b=[2]}, ", "...]) = 0", "call"),
    "opening brackets": ("foo(", "(", "", "cut"),
    "blanks": ("close(3) = 0\t", " ", "x", "unparsed"),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("over", [-20, 100, 60_000])
def test_lines_about_the_length_that_lark_reads(shape: str, over: int) -> None:
    """No character of a long line is lost, and its kind is that of a shorter one."""
    start, filling, end, kind = SHAPES[shape]
    line = start + filling * ((LONG + over) // len(filling)) + end
    events = read_strace(f"{LINE}\n{line}\n{LINE}".encode())

    assert events.get_column("kind").to_list() == ["call", kind, "call"]
    shown = events.row(1, named=True)
    kept = shown["args"] if shown["note"] is None or kind != "unparsed" else shown["note"]
    assert len(kept) >= len(filling) * ((LONG + over) // len(filling))


def test_memory_of_a_line_of_eight_megabytes() -> None:
    """Whatever it is, a line costs at most five times its size."""
    code = """
import resource, sys, straceparse
line = sys.argv[1].encode() * (8_000_000 // len(sys.argv[1]))
good = b'1795253115.000001 close(3) = 0 <0.000041>\\n'
straceparse.read_strace(good * 3 + b'x y\\nread(3, "ab\\n')
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
events = straceparse.read_strace(good + b'1795253115.000001 write(3, "' + line + b'\\n' + good)
assert events.height == 3
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / 8_000_000)
"""
    for filling in ("a", "word ", "(", '"'):
        done = subprocess.run([sys.executable, "-c", code, filling], capture_output=True, text=True, check=True)

        assert float(done.stdout) < 5, filling


def test_memory_of_a_line_below_the_limit() -> None:
    """A line that is read whole costs at most twenty times its size, with what its columns hold."""
    code = """
import resource, sys, straceparse
start, filling, end = (part.encode() for part in sys.argv[1:])
good = b'1795253115.000001 close(3) = 0 <0.000041>\\n'
def log(size): return good + start + filling * (size // len(filling)) + end + b'\\n' + good
straceparse.read_strace(log(20_000))
text = log(2_000_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
events = straceparse.read_strace(text)
assert events.height == 3
assert events.estimated_size() > 2_000_000
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / 2_000_000)
"""
    call = '1795253115.000001 write(3, "'
    for parts in ((call, "a", ""), (call, "word ", '", 8) = 8'), ("read(3<", "/a", '>, "", 1) = 1'), ("x", "y ", "")):
        done = subprocess.run([sys.executable, "-c", code, *parts], capture_output=True, text=True, check=True)

        assert float(done.stdout) < 20, parts
