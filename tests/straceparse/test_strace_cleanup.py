"""Logs that came by mail, from a blog or out of a log collector: the same events as the log itself."""

import random
import re
from collections.abc import Callable

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import iolab
from logframe.line_cleanup import LineCleanup
from straceparse import calls, dialect, io_requests, read_strace, read_summary, unparsed
from straceparse.dialects import AMBIGUOUS_PREFIXES, PASTED, cleanup_of
from straceparse.line_parser import read_line

#: Logs with prefixes of several kinds; none of them is pasted.
LOGS = {
    "-f -tt -T": [
        '3698  09:36:52.167719 openat(AT_FDCWD, "/u01/a  b.dbf", O_RDWR) = 5 <0.000041>',
        '3698  09:36:52.167819 pread64(5, "\\6\\242"..., 8192, 0)  = 8192 <0.000141>',
        "3699  09:36:52.167919 read(5,  <unfinished ...>",
        "3698  09:36:52.168019 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED} ---",
        '3699  09:36:52.168119 <... read resumed>"x", 1) = 1 <0.000150>',
        "3698  09:36:52.168219 close(5)                = 0 <0.000009>",
        "3698  09:36:52.168319 +++ exited with 0 +++",
    ],
    "-r": [
        f'     0.{step:06d} pread64(5, "\\1"..., 8192, {8192 * step}) = -1 EINTR (Interrupted system call)'
        for step in range(5)
    ],
    "no prefix": ['read(3, "a", 4096)                      = 1', "close(3)                                = 0"] * 3,
}
PASTINGS: dict[str, Callable[[int, str], str]] = {
    "mail": lambda _, line: f"> {line}",
    "mail of a mail": lambda _, line: f">> {line}",
    "indented": lambda _, line: f"    {line}",
    "tab": lambda _, line: f"\t{line}",
    "syslog": lambda _, line: f"Nov 21 18:36:01 dbhost1 strace[4711]: {line}",
    "container": lambda place, line: f"2026-11-21T18:36:01.{place:09d}Z stdout F {line}",
    "ts": lambda _, line: f"Nov 21 18:36:01 {line}",
    "cat -n": lambda place, line: f"{place:6}\t{line}",
    "grep -n": lambda place, line: f"{place}:{line}",
    "grep": lambda _, line: f"ora_4711.trc:{line}",
    "blanks at the end": lambda _, line: f"{line:100} ",
    "no-break spaces": lambda _, line: line.replace("  ", "\u00a0 "),
    "tabs": lambda _, line: line.replace("        ", "\t").replace(") = ", ")\t= "),
    "quotation marks": lambda _, line: re.sub('"(.*?)"', "\u201c\\1\u201d", line).replace("...,", "\u2026,"),
    "page source": lambda _, line: line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"),
    "mail from a word processor": lambda _, line: f"> {line}  ".replace("  ", " \u00a0"),
    "mail from Windows": lambda _, line: f"> {line}\r",
}


@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize("how", PASTINGS)
def test_a_pasted_log_is_the_log(name: str, how: str) -> None:
    """What was put around the lines changes no column, and no line is unread."""
    lines = LOGS[name]
    expected = read_strace("\n".join(lines).encode())
    pasted = "\n".join(PASTINGS[how](place, line) for place, line in enumerate(lines, 1)).encode()
    found = read_strace(pasted)
    if how in {"no-break spaces", "tabs"}:  # a run of blanks within a string is shorter than it was
        expected, found = (frame.with_columns(pl.col("args").str.replace_all(" +", " ")) for frame in (expected, found))

    assert_frame_equal(found, expected)
    assert unparsed(found).is_empty()
    assert str(dialect(pasted)) == str(dialect("\n".join(lines).encode()))


@pytest.mark.parametrize("how", ["mail", "indented", "blanks at the end", "no-break spaces", "syslog"])
def test_a_pasted_summary_is_the_summary(how: str) -> None:
    """So are the tables of ``-c``."""
    lines = [
        "% time     seconds  usecs/call     calls    errors syscall",
        "------ ----------- ----------- --------- --------- ----------------",
        " 75.51    0.000296           2       121         3 pread64",
        " 24.49    0.000096           1        60           write",
        "------ ----------- ----------- --------- --------- ----------------",
        "100.00    0.000392           2       181         3 total",
    ]
    pasted = "\n".join(PASTINGS[how](place, line) for place, line in enumerate(lines, 1)).encode()

    assert_frame_equal(read_summary(pasted), read_summary("\n".join(lines).encode()))


@pytest.mark.parametrize("name", LOGS)
def test_a_log_that_was_not_pasted_keeps_every_character(name: str) -> None:
    """Nothing is removed from lines that are strace's as they stand, whatever their strings hold."""
    lines = [line.replace('"', '"> &lt; \u201c 12:\u00a0', 1) for line in LOGS[name]]

    assert cleanup_of(lines) == LineCleanup()
    assert cleanup_of([]) == LineCleanup()


def test_stack_frames_are_no_quotes() -> None:
    """A log of ``-k`` is mostly lines that begin with a blank and a greater-than sign."""
    log = ["close(3) = 0", *[" > /usr/lib/libc.so.6(__close+0x12) [0xfe3d2]"] * 20]

    assert read_strace("\n".join(log).encode()).get_column("kind").to_list() == ["call", *["stack"] * 20]


@pytest.mark.parametrize(("rule", "sample"), PASTED.samples)
def test_prefixes_match_their_samples(rule: str, sample: str) -> None:
    """Each pattern matches everything before the call, and nothing of it; each terminal has a sample."""
    prefix = PASTED.pattern(f"^{{{rule.upper()}}}")

    assert re.sub(prefix, "", sample).strip().removeprefix("09:36:52 ") == "close(3) = 0"
    assert {rule.upper() for rule, _ in PASTED.samples} == {*AMBIGUOUS_PREFIXES, "LISTING", "PROCESS"}


def test_blanks_behind_a_few_lines() -> None:
    """A line that someone touched is read even where most lines are as strace wrote them."""
    lines = ["close(3) = 0", "close(4) = 0  ", "exit_group(0) = ? \t", "+++ exited with 0 +++ ", "close(5) = 0"]

    assert read_strace("\n".join(lines).encode()).get_column("kind").to_list() == [*["call"] * 3, "exited", "call"]
    assert read_line("program output ").note == "program output "


@pytest.mark.parametrize("blank", [" ", "\t", "\u00a0"])
def test_blanks_behind_all_lines_are_removed_before_they_are_read(blank: str) -> None:
    """So that the slices take them, as they take lines that were not padded."""
    log = [f"{line}{blank}" for line in LOGS["-f -tt -T"]]

    assert [cleanup_of(log).cleaned(line) for line in log] == LOGS["-f -tt -T"]


def test_random_surroundings_lose_no_line() -> None:
    """Whatever is put around lines of whatever log, every line is an event, and what follows works."""
    chance = random.Random(5)  # noqa: S311 - reproducible damage, no secret
    for _ in range(30):
        ways = [PASTINGS[chance.choice(list(PASTINGS))] for _ in range(2)]
        lines = [chance.choice(LOGS[chance.choice(list(LOGS))]) for _ in range(20)]
        pasted = [chance.choice(ways)(place, line) for place, line in enumerate(lines)]
        events = read_strace("\n".join(pasted).encode())

        assert events.get_column("line").to_list() == list(range(1, 21))
        io_requests(calls(events))


CALLS = ["read(3, ''..., 8192) = 8192", "close(3) = 0", "write(4, ''..., 512) = 512", "dup2(3, 256)     = 256"]


@pytest.mark.parametrize("prefix", ["", "3698  ", "     0.000123 ", "3698  09:36:52.167719 "])
def test_lines_numbered_by_a_listing(prefix: str) -> None:
    """Numbers that count the lines are no processes, whatever strace printed below them."""
    lines = [f"{prefix}{call}" for call in CALLS * 4]
    listed = "".join(f"{number:5d}  {line}\n" for number, line in enumerate(lines, 1))
    text = "".join(f"{line}\n" for line in lines)

    assert_frame_equal(read_strace(listed.encode()), read_strace(text.encode()))


def test_indent_of_notices_and_tables() -> None:
    """Where a whole log was indented, its notices and tables are read as its calls are."""
    lines = ["strace: Process 4711 attached", *CALLS * 3, "% time     seconds", "------ -----------"]
    kinds = read_strace("".join(f"    {line}\n" for line in lines).encode())["kind"].to_list()

    assert kinds == ["notice", *["call"] * 12, "table", "table"]


def test_tabs_in_a_few_lines() -> None:
    """Tabs between a call and its result are blanks, though few lines have them."""
    lines = ["dup2(3, 256)\t\t= 256", *["pread64(3, ''..., 8192, 0) = 8192"] * 900]

    assert read_strace("".join(f"{line}\n" for line in lines).encode())["result"].to_list()[:2] == [256, 8192]


@pytest.mark.parametrize("width", [60, 80])
def test_wrapped_logs_are_recognised(width: int) -> None:
    """A log whose lines were wrapped is strace's; a broken call is rejoined, or its lines are diagnostics."""
    call = '09:36:52.167719 pread64(257, "\\6\\242\\0\\0\\27\\4\\300\\1"..., 8192, 4431872) = 8192 <0.000041>'
    short = "09:36:52.167719 close(3) = 0 <0.000041>"
    wrapped = [call[start : start + width] for start in range(0, len(call), width)]
    text = "".join(f"{line}\n" for _ in range(30) for line in (*wrapped, *wrapped, *wrapped, short))
    log = iolab.load(text.encode())

    assert log.format == "strace"
    results = log.frames()["calls"].lazy().collect()["result"].drop_nulls().to_list()
    assert results.count(8192) + log.diagnostics.lazy().collect().height >= 90
    assert set(results) <= {8192, 0}
