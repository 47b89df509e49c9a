"""Hostile content raises nothing but `LogError`, loses no line, and takes time in proportion to its size."""

import time
from pathlib import Path

import pytest

from logframe import LogError
from straceparse import calls, dialect, io_requests, parse_args, read_strace, read_summary, totals, unparsed
from straceparse.log import read_log

BIG = "9" * 30
#: Lines with numbers that no column holds, brackets without end, octal numbers, empty arguments.
LINES = [
    f'read({BIG}, "a", {BIG}) = {BIG} <{BIG}.9>',
    f'{BIG} pread64({BIG}, "a", {BIG}, {BIG}) = {BIG}',
    f"fcntl(4, F_DUPFD, {BIG}) = 5",
    f"close_range(3, {BIG}) = 0",
    f"close_range({BIG}) = 0",
    f"dup2(0x{'f' * 40}, 7) = 7",
    f"clone(flags=0x{'f' * 40}) = 9",
    f"clone(flags=CLONE_FILES) = {BIG}",
    "fcntl(04, 00, 0256) = 5",
    "close(010) = 0",
    "close() = 0",
    "dup2(, ) = 3",
    "fcntl(=) = 3",
    f"sendfile({BIG}, {BIG}, [{BIG}], {BIG}) = {BIG}",
    "splice() = 1",
    "readahead(3) = 0",
    "msync([[[) = 0",
    f"io_submit({BIG}, {BIG}, [{{aio_nbytes={BIG}, aio_offset={BIG}}}]) = {BIG}",
    f"io_getevents({BIG}, 1, 2, [{{res=-{BIG}}}], NULL) = {BIG}",
    "+++ superseded by execve in pid 99999999999999999999 +++",
    "99999999999.999999 close(3) = 0 <0.1>",
    "25:61:61.999999 close(3) = 0",
    f"[pid {BIG}] close(3) = 0",
    "\x1b[33m",
    "--- {si_signo= ---",
    "read(3, 0x7ffc, 8) = ? ERESTARTSYS (To be restarted)",
    "rt_sigreturn() = ?",
]


def read_everything(log: bytes) -> None:
    """All that a log gives."""
    events = read_strace(log)
    found = calls(events)
    io_requests(found)
    totals(events)
    assert unparsed(events).get_column("reason").null_count() == 0
    parse_args(events.get_column("args"))
    dialect(log)


@pytest.mark.parametrize("line", LINES)
def test_each_line_alone_and_among_others(line: str) -> None:
    """Whatever stands in a line, every frame is made."""
    read_everything(f"{line}\n".encode())
    read_everything("\n".join([*LINES, line, *LINES]).encode())


@pytest.mark.parametrize("opening", ["[", "{", "(", "a(", "{a=[", '["', "~[", "[x => "])
@pytest.mark.parametrize("depth", [10, 63, 64, 65, 500, 20_000])
def test_deep_brackets(opening: str, depth: int) -> None:
    """Arguments nested deeper than any call has them stay text."""
    text = opening * depth

    assert len(parse_args(text)) == 1
    read_everything(f"readv(3, {text}".encode())


def test_a_whole_deep_list_stays_text() -> None:
    """64 levels are a value; more are the text itself."""
    assert parse_args("[" * 64 + "]" * 64)[0] != "[" * 64 + "]" * 64
    assert parse_args("[" * 65 + "]" * 65) == ["[" * 65 + "]" * 65]


@pytest.mark.parametrize("encoding", ["rot13", "nonsense", "base64"])
def test_encodings_that_are_none(encoding: str) -> None:
    """An error, not one of the codec."""
    with pytest.raises(LogError):
        read_strace(b"close(3) = 0", encoding=encoding)


@pytest.mark.parametrize("path", ["~nobody-of-this-name.strace", "//[a", "a\0b", "", "x" * 5000])
def test_paths_that_are_none(path: str) -> None:
    """An error that names the path."""
    with pytest.raises(LogError):
        read_strace(path)


def test_a_damaged_summary_is_an_error(tmp_path: Path) -> None:
    """Numbers that no column holds make no table."""
    path = tmp_path / "c.txt"
    path.write_text(f"% time     seconds  calls syscall\n------ ----------- ----- --------\n 9.9 9e9 {BIG}x read\n")
    with pytest.raises(LogError):
        read_summary(path)


#: A start, what is repeated, an end: each takes time in proportion to its length.
SHAPES = [
    ("close(3) = 0\n3939", " ", ""),
    ("", " ", "x"),
    ("7 ", " ", "x"),
    ("close(3", " ", ")"),
    ("close(3)", " ", "x"),
    ("close(3) =", " ", "x"),
    ("foo(", ") ", ""),
    ("foo(", "<", ""),
    ("foo(", "</a>", ""),
    ("foo(", '"', ""),
    ("foo(", "/* ", ""),
    ("foo(", "*/* /", ""),
    ("", ") = ", ""),
    ("", "= ", ""),
    ("--- SIGCHLD ", "-", ""),
    ("", "1 ", "x"),
    ("", "calls ", "("),
    ("", "$ ", ""),
    ("<... read resumed>", " ", ""),
    ("read(3", " <unfinished", ""),
    ("", "Process 1 attached ", ""),
    ("", "/", ": Process 1 attached"),
]


@pytest.mark.parametrize(("start", "repeated", "end"), SHAPES)
def test_no_shape_takes_more_than_its_share(start: str, repeated: str, end: str) -> None:
    """A line of half a megabyte of anything takes seconds at most; where time grows as its square, it takes hours."""
    log = f"close(3) = 0\n{start}{repeated * (500_000 // len(repeated))}{end}\nclose(4) = 0\n".encode()
    begun = time.process_time()
    events = read_strace(log)
    unparsed(events)

    assert events.height == log.count(b"\n")
    assert time.process_time() - begun < 20


@pytest.mark.parametrize(
    "line",
    [
        f"12 1705250570.032216 close(3)       = 0 <{BIG}.000005>",
        f"12 1705250570.032216 close(3)       = {BIG} <0.000005>",
        "12 1705250570.032216 close(3)       = 0xffffffffffffffff <0.000005>",
        "12 9695253710.002941 close(3)       = 0 <0.000005>",
    ],
    ids=["elapsed", "result", "address", "clock"],
)
def test_a_number_that_no_column_holds_is_a_diagnostic(line: str) -> None:
    """It is null, and its line is named; the lines around it are not."""
    usual = "12 1705250570.032216 close(3)       = 0 <0.000005>\n" * 3
    found = unparsed(read_strace(f"{usual}{line}\n{usual}".encode()))

    assert found.select("line", "kind").rows() == [(4, "damaged")]
    assert "larger than its column holds" in found["reason"].item()


def test_digits_before_every_line() -> None:
    """Numbers of any length before lines are compared without being made."""
    lines = [f"   {'9' * 5000} close(3) = 0"] * 5

    assert read_strace("\n".join(lines).encode()).height == 5


@pytest.mark.parametrize("calls_before", ["", "close(3) = 0\nclose(4) = 0\n"], ids=["-c", "-C"])
@pytest.mark.parametrize("count", ["99999999999999999999", "1e999", "4x"])
def test_a_row_of_a_summary_that_no_column_holds_is_a_diagnostic(calls_before: str, count: str) -> None:
    """Such a row is not a row without a figure: it is named whole, also where calls stand before the table."""
    table = (
        "% time     seconds  usecs/call     calls    errors syscall\n"
        "------ ----------- ----------- --------- --------- ----------------\n"
        " 75.51    0.000296           2       121         3 pread64\n"
        f" 24.49    0.000096           {count}        60           write\n"
        "------ ----------- ----------- --------- --------- ----------------\n"
        "100.00    0.000392                   181         3 total\n"
    )
    log = read_log((calls_before + table).encode())

    assert log.summary is not None
    assert log.summary.get_column("syscall").to_list() == ["pread64", "total"]
    assert [count in text for text in log.diagnostics.get_column("text")] == [True]
