"""Logs of truss, tusc and dtruss are named and refused; strace's own logs are not."""

from __future__ import annotations

import textwrap
import time

import pytest

import iolab
from logframe import LogParseError

LOGS = {
    "Solaris": '/1:    0.0012 pread(257, "06A2", 8192, 0x01F)    = 8192\n/3:     read(8, 0x1, 512)     Err#4 EINTR\n',
    "AIX": 'kpread(12, "06A2..", 8192, 2318336)          = 8192\nkwrite(12, "06A2..", 8192)          = 8192\n',
    "HP-UX": 'pread(22, "06a2", 8192, 16384) ........... = 8192\nread(3, 0x7a00, 512) ......... ERR#4 EINTR\n',
    "dtruss": 'pread(0x101, "06A2\\0", 0x2000)\t\t = 8192 0\nopen("/etc/passwd\\0", 0x0, 0x0)\t\t = 3 0\n',
}


@pytest.mark.parametrize("system", LOGS)
def test_other_tracers_are_refused(system: str) -> None:
    """The error names the tracer: read as strace's, its times would mean something else."""
    with pytest.raises(LogParseError, match=system):
        iolab.load((LOGS[system] * 5).encode())


@pytest.mark.parametrize("before", ["\r\r", "\f\v", "\x1c\n", "\u2028\n\n"])
def test_the_line_of_another_tracer_is_that_of_the_log(before: str) -> None:
    """Lines end where those of a log do: not at a lone carriage return, a form feed or another separator."""
    with pytest.raises(LogParseError, match="dtruss") as found:
        iolab.load((before + LOGS["dtruss"] * 5).encode())

    start = before.count("\n") + 1
    assert found.value.line in {start, start + 1}  # the first may begin with what is no call
    assert found.value.text in LOGS["dtruss"]


def test_strace_is_read() -> None:
    """Calls of strace, with one quoted line of truss among them."""
    text = "0.000123 pread64(268, '', 8192, 0) = 8192\n" * 8

    assert iolab.load((text + LOGS["Solaris"].splitlines()[0] + "\n").encode()).format == "strace"


@pytest.mark.parametrize("indent", ["", "    ", "\t"])
@pytest.mark.parametrize("break_", ["words", "columns"])
@pytest.mark.parametrize("width", [72, 80, 100])
def test_wrapped_lines(width: int, break_: str, indent: str) -> None:
    """A log that an editor, a mail or a terminal broke is strace's, and what is broken is in the diagnostics."""
    lines = [
        f'4711  1795528291.{number:06d} openat(AT_FDCWD, "/u01/app/oracle/oradata/orcl/system{number:02d}.dbf", '
        f"O_RDWR|O_CLOEXEC|O_DSYNC) = {number + 3}</u01/app/oracle/oradata/orcl/system{number:02d}.dbf> <0.000056>"
        if number % 3
        else f"4711  1795528291.{number:06d} close(3) = 0 <0.000010>"
        for number in range(40)
    ]
    wrapper = textwrap.TextWrapper(width, subsequent_indent=indent, break_long_words=False)
    first, more = width, width - len(indent)
    text = "".join(
        f"{part}\n"
        for line in lines
        for part in (
            wrapper.wrap(line)
            if break_ == "words"
            else [line[:first], *(indent + line[at : at + more] for at in range(first, len(line), more))]
        )
    )
    log = iolab.load(text.encode())

    assert log.format == "strace"
    whole = log.frames()["calls"].lazy().collect().drop_nulls("elapsed").height
    assert whole >= len(lines) // 3
    assert whole + log.diagnostics.height >= len(lines)


def test_a_long_trace_of_the_optimizer_is_named() -> None:
    """A 10053 trace of any length is refused under its own name, though a record of SQL trace may come later."""
    text = "*** 10053\nPARAMETERS USED BY THE OPTIMIZER\n" + "  Best NL cost: 4.00 (resp: 4.00)\n" * 3000

    with pytest.raises(LogParseError, match="trace of the optimizer"):
        iolab.load(text.encode())


@pytest.mark.parametrize("text", ["1", "0.1", "[pid 1", "1 ", "1]"])
def test_a_long_line_is_looked_at_once(text: str) -> None:
    """What begins like a call of ltrace and goes on for ever takes linear time."""
    begun = time.process_time()
    with pytest.raises(LogParseError):
        iolab.load(f"{text * 40_000}\n".encode())

    assert time.process_time() - begun < 5
