"""Compiled code gives the frames of the Polars expressions, bit for bit, on regular, odd and damaged lines."""

import os
from typing import Any

import pytest
from polars.testing import assert_frame_equal

import sqltraceparse
from logframe import open_log
from logframe.kernel import load_kernel
from sqltraceparse import lines
from sqltraceparse.reader import read_pieces, sorted_batches
from sqltraceparse.trace import assembled

#: Sessions that are damaged; a long run takes thousands.
SESSIONS = int(os.environ.get("IOLAB_DAMAGED_LINES", "1500")) // 50
#: Lines that are regular and odd at once.
ODD = (
    "WAIT #1: nam='db file sequential read' ela= 5 p1=1 p2=2 XCTEND rlbk=0",
    "WAIT #1: nam='x' ela= 5 a STAT #3 id=1 b=2 c=3 obj#=4 tim=5",
    "WAIT #1: nam='' ela=-5 =1 =2 =3",
    "WAIT #1: nam='é' ela= 5 p1=1 p2=2 p3=3",
    "WAIT #1: nam='x' ela= 999999999999999999 p1=-1 p2=2 p3=3 obj#=-1 tim=999999999999999999",
    "WAIT #1: nam='x' ela= 1999999999999999999 p1=1 p2=2 p3=3",
    "WAIT #1: nam='x' ela= 5 id=0 0=0 1=1",
    "WAIT #1: nam='x' ela= 5 " + "n" * 600 + "=1 p2=2 p3=3",
    "SORT UNMAP #3:c=0,e=12,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=4,tim=11205333999",
    "CLOSE #3:c=-1,e=16,dep=0,type=3,tim=294220652",
    "FETCH #3:c=-1,e=16,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=4,plh=0,tim=1",
)


@pytest.fixture(autouse=True)
def _compiled() -> None:
    if load_kernel() is None:
        pytest.skip("no compiled code")


def by_expressions(monkeypatch: pytest.MonkeyPatch, text: bytes) -> sqltraceparse.SqlTrace:
    """The trace by the other engine."""
    with monkeypatch.context() as patched:
        patched.setattr(lines, "load_kernel", lambda: None)
        log = open_log(text)
        return assembled(read_pieces(log), log.name, [])


def check(monkeypatch: pytest.MonkeyPatch, text: bytes) -> None:
    """Both engines give the same frames."""
    log = open_log(text)
    trace, other = assembled(read_pieces(log), log.name, []), by_expressions(monkeypatch, text)

    for name, frame in trace.frames().items():
        assert_frame_equal(frame, other.frames()[name])
    assert_frame_equal(trace.diagnostics, other.diagnostics)
    assert_frame_equal(trace.kinds, other.kinds)


@pytest.mark.parametrize("seed", range(SESSIONS))
def test_damaged(damaged: Any, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:  # noqa: ANN401 - a function
    """Sessions with lines deleted, cut, fused, inserted, swapped and repeated."""
    check(monkeypatch, "\n".join(damaged(seed)).encode())


@pytest.mark.parametrize("line", ODD)
def test_odd_lines(write: Any, monkeypatch: pytest.MonkeyPatch, line: str) -> None:  # noqa: ANN401 - a function
    """A line that only nearly is regular, and one with more than meets the pattern."""
    known = list(write("19.22.0.0.0", seed=1).lines)
    known[20:20] = [line]
    check(monkeypatch, "\r\n".join(known).encode())


def test_addresses(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN401 - a function
    """Cursors are addresses, which Solaris extends by their sign to 20 digits: they only have other numbers."""
    known = "\n".join(write("19.22.0.0.0", seed=1).lines)
    plain = sqltraceparse.read_sqltrace(known.encode())
    cursors = sorted({*plain.calls["cursor"].drop_nulls(), *plain.waits["cursor"].drop_nulls()}, reverse=True)
    for number in cursors:
        for end in (":", " "):
            known = known.replace(f" #{number}{end}", f" #{2**64 - 2**31 + number % 2**31}{end}")
    check(monkeypatch, known.encode())

    trace = sqltraceparse.read_sqltrace(known.encode())
    assert trace.calls["cursor"].max() < 0
    assert_frame_equal(trace.diagnostics.drop("text"), plain.diagnostics.drop("text"))
    for name, frame in trace.frames().items():
        if "cursor" in frame.columns:
            assert_frame_equal(frame.drop("cursor"), plain.frames()[name].drop("cursor"))


@pytest.mark.parametrize("end", ["\r\n", "\r\r\n"])
def test_line_ends(write: Any, monkeypatch: pytest.MonkeyPatch, end: str) -> None:  # noqa: ANN401 - a function
    """Carriage returns, one or, where they were added twice, two, change nothing."""
    known = write("19.22.0.0.0", seed=1).lines
    check(monkeypatch, end.join(known).encode())

    plain = sqltraceparse.read_sqltrace("\n".join(known).encode()).frames()
    for name, frame in sqltraceparse.read_sqltrace(end.join(known).encode()).frames().items():
        assert_frame_equal(frame, plain[name])


def test_it_is_used(write: Any) -> None:  # noqa: ANN401 - a function
    """Whole waits and calls of a plain trace come from compiled code: the comparison is one of two engines."""
    log = open_log("\n".join(write("19.22.0.0.0", seed=1).lines).encode())
    (found,) = sorted_batches(log)

    assert found.waits is not None
    assert found.calls is not None
    assert found.waits.rows.height > 10
    assert found.calls.height > 10
