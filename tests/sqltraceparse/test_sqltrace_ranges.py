"""A trace in ranges has the rows of the whole trace: statements, clocks, calls, plans and diagnostics among them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from logframe import LogError, open_log
from sqltraceparse import read_sqltrace
from sqltraceparse.ranges import SPLITTING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from logframe.ranges import Piece

COUNTS = (3, 64)


def pieces_of(source: bytes | Path, count: int) -> list[Piece] | None:
    """The pieces of a trace in about so many ranges; None where it is not split."""
    log = open_log(source)
    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    cuts = SPLITTING.cuts(log, max(1, size // count))
    facts = [SPLITTING.facts(log, cut) for cut in cuts]
    pieces = None if None in facts else SPLITTING.pieces(log, cuts, facts)
    return None if pieces is None else [SPLITTING.read(log, piece) for piece in pieces]


def assert_ranges_agree(source: bytes | Path, counts: tuple[int, ...] = COUNTS) -> int:
    """The rows of the pieces, one after the other, are those of the trace; how many pieces there were at most."""
    whole = read_sqltrace(source)
    most = 0
    for count in counts:
        pieces = pieces_of(source, count)
        if pieces is None:
            continue
        most = max(most, len(pieces))
        for name, frame in whole.frames().items():
            assert_frame_equal(frame, pl.concat([piece.tables[name].lazy().collect() for piece in pieces]))
        notes = pl.concat([piece.diagnostics for piece in pieces])
        assert_frame_equal(whole.diagnostics, notes)
    return most


@pytest.mark.parametrize("release", ["8.1.7.4.0", "9.2.0.8.0", "10.2.0.5.0", "11.2.0.4.0", "19.22.0.0.0"])
def test_ranges_agree_with_the_trace(write: Callable[..., Any], release: str) -> None:
    """Whatever the release; the trace is cut at each call of depth 0."""
    assert assert_ranges_agree(write(release, rounds=9).text.encode()) > 2


@pytest.mark.parametrize("seed", range(3))
def test_damaged_traces(damaged: Callable[[int], list[str]], seed: int) -> None:
    """Lines that are missing, cut, repeated or in another order: where such a trace is split, nothing differs."""
    assert_ranges_agree("\n".join(damaged(seed)).encode(), (3, 20))


def test_several_processes(write: Callable[..., Any]) -> None:
    """Traces one after the other are cut; traces of two processes in turns are read as a whole."""
    pid = re.compile(rb"(?<=process pid: )[0-9]+")
    one, other = (
        pid.sub(number, write("19.22.0.0.0", seed=seed).text.encode()) for seed, number in ((3, b"4711"), (4, b"4712"))
    )

    assert assert_ranges_agree(one + other) > 2
    assert assert_ranges_agree(one + one) > 1
    assert assert_ranges_agree(one + other + one, (4, 30)) == 0


@pytest.mark.parametrize("back", [2_000_000, 10**12])
def test_a_clock_that_runs_back(write: Callable[..., Any], back: int) -> None:
    """Files of two boots: the second clock has the number, the offset and the rate that it has in the whole trace."""
    lines = write("19.22.0.0.0", seed=5).text.split("\n")
    half = len(lines) // 2
    pattern = re.compile(r"tim=(\d+)")
    later = [pattern.sub(lambda found: f"tim={max(1, int(found[1]) - back)}", line) for line in lines[half:]]
    lines[half:] = later
    lines[half // 2] = pattern.sub("tim=12", lines[half // 2])

    assert assert_ranges_agree("\n".join(lines).encode(), (4, 30)) > 2


def test_a_text_that_holds_a_call(write: Callable[..., Any]) -> None:
    """A line of a statement that reads as a call of depth 0 is no place to cut: the trace is read as a whole."""
    text = write("19.22.0.0.0", seed=6).text
    call = "EXEC #7:c=1,e=1,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,plh=0,tim=99\n"
    statement = "select 1 /*\n" + call * 300 + "*/ from dual"
    head = f"PARSING IN CURSOR #9 len={len(statement)} dep=0 uid=0 oct=3 lid=0 tim=1 hv=1 ad='6b' sqlid='abc'\n"

    assert assert_ranges_agree((text + head + statement + "\nEND OF STMT\n").encode(), (2, 3, 9)) == 0


@pytest.mark.parametrize("release", ["8.1.7.4.0", "9.2.0.8.0", "19.22.0.0.0"])
def test_a_trace_without_a_head(write: Callable[..., Any], release: str) -> None:
    """The unit of its times follows from the whole trace; where that is no microsecond it is read as a whole."""
    lines = write(release, rounds=9).text.split("\n")
    first = next(number for number, line in enumerate(lines) if line.startswith("PARSING"))

    assert_ranges_agree("\n".join(lines[first:]).encode())


def test_quoted_traces(write: Callable[..., Any]) -> None:
    """A trace out of a mail is read as a whole; so is one whose call before a cut has a broken number."""
    text = write("19.22.0.0.0", rounds=9).text
    quoted = "\n".join(f"> {line}" for line in text.split("\n"))
    broken = re.sub(r"(?m)^((?:EXEC|FETCH|PARSE) #.*dep=0.*tim=\d+)(\d{3})$", r"\1\n\2", text)

    assert assert_ranges_agree(quoted.encode()) == 0
    assert assert_ranges_agree(broken.encode()) == 0


@pytest.mark.corpus
def test_ranges_of_real_traces(corpus: Path, *, is_whole: bool) -> None:
    """Real traces agree, too: one in six."""
    split = 0
    for path in sorted((corpus / "sqltrace").rglob("*"))[:: 1 if is_whole else 6]:
        if path.is_file() and 0 < path.stat().st_size < 3_000_000:
            try:
                read_sqltrace(path)
            except LogError:
                continue
            if open_log(path).target == path:
                split += assert_ranges_agree(path, (3, 12)) > 1

    assert split > (10 if is_whole else 1)
