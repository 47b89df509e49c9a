"""What people and tools do to traces: a lossless transformation changes no typed cell, a lossy one is diagnosed."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from transformations import LOSSLESS_LINES, NUMBERED, coloured, joined, quoted

import iolab
from sqltraceparse import SqlTrace, read_sqltrace

if TYPE_CHECKING:
    from collections.abc import Callable

RELEASES = ["8.1.7.4.0", "9.2.0.8.0", "10.2.0.5.0", "11.2.0.4.0", "19.22.0.0.0"]


#: Name -> what loses nothing; tabs change the texts of statements.
LOSSLESS: Final = {name: change for name, change in (LOSSLESS_LINES | NUMBERED).items() if name != "tabs"}
#: Columns that are numbers of lines.
LINES: Final = ("line", "statement", "call", "next_call", "parent", "plan")


def data_of(changed: str | bytes) -> bytes:
    """As read from a file."""
    return changed if isinstance(changed, bytes) else changed.encode()


def figures(trace: SqlTrace) -> dict[str, pl.DataFrame]:
    """The frames without the numbers of lines, and texts without blanks at the ends of lines."""
    found = {}
    for name, frame in trace.frames().items():
        kept = frame.drop([one for one in LINES if one in frame.columns])
        if name == "statements":
            kept = kept.with_columns(pl.col("text").str.replace_all(r"[ \t]+(\n|$)", "$1"))
        found[name] = kept
    return found


@lru_cache(8)
def original(text: str) -> tuple[SqlTrace, dict[str, pl.DataFrame]]:
    """A trace before it is changed, and its figures."""
    trace = read_sqltrace(text.encode())
    return trace, figures(trace)


def check(text: str, other: SqlTrace) -> None:
    """The same figures, and no diagnostic that was not there before."""
    trace, expected = original(text)
    found = figures(other)

    for name, frame in expected.items():
        assert_frame_equal(found[name], frame)
    assert other.diagnostics.height <= trace.diagnostics.height


@pytest.mark.parametrize("name", LOSSLESS)
@pytest.mark.parametrize("release", RELEASES)
def test_lossless(write: Any, release: str, name: str) -> None:  # noqa: ANN401 - a function
    """Sessions of every release with nested calls, binds and texts that resemble records; `iolab.load` knows them."""
    text = joined(write(release, seed=4, rounds=2).lines)
    found = iolab.load(data_of(LOSSLESS[name](text)))

    assert isinstance(found, SqlTrace)
    check(text, found)


@pytest.mark.parametrize("width", [72, 80, 132])
@pytest.mark.parametrize("release", RELEASES)
def test_wrapped_lines_are_diagnosed(write: Any, release: str, width: int) -> None:  # noqa: ANN401 - a function
    """A record that a mail program wrapped keeps the fields before the break; what differs is on a line with a row."""
    lines = list(write(release, seed=4, rounds=2).lines)
    pieces, numbers = [], []
    for number, line in enumerate(lines):
        cut = [line[start : start + width] for start in range(0, len(line), width)] or [""]
        pieces += cut
        numbers += [number] * len(cut)
    whole, cut_trace = read_sqltrace(joined(lines).encode()), read_sqltrace(joined(pieces).encode())
    said = set(cut_trace.diagnostics.get_column("line").to_list())
    printed = {number + 1: row for number, row in enumerate(numbers)}

    for name in ("waits", "calls"):
        columns = ["cursor", "elapsed_us", "tim_us", *(["event", "p1", "p2", "p3"] if name == "waits" else ["cpu_us"])]
        rows = {row[0]: row[1:] for row in whole.frames()[name].select("line", *columns).iter_rows()}
        for line, *row in cut_trace.frames()[name].select("line", *columns).iter_rows():
            if line not in said:
                assert tuple(row) == rows[printed[line] + 1]
        missing = rows.keys() - {printed[line] + 1 for line in cut_trace.frames()[name].get_column("line")}
        assert missing <= {printed[line] + 1 for line in said if line in printed}


def test_the_unit_without_a_head(write: Any) -> None:  # noqa: ANN401 - a function
    """Of a trace of 8i that was joined late the stamps show the unit; without them it is said that none is known."""
    lines = list(write("8.1.7.4.0", seed=4, rounds=2).lines)
    whole = read_sqltrace(joined(lines).encode())
    start = next(number for number, line in enumerate(lines) if line.startswith("*** "))
    late = read_sqltrace(joined(lines[start:]).encode())
    bare = read_sqltrace(joined([line for line in lines[start:] if not line.startswith("*** ")]).encode())

    assert late.resolution_us == whole.resolution_us == 10_000
    assert late.calls.get_column("elapsed_us").to_list() == whole.calls.get_column("elapsed_us").to_list()
    assert bare.diagnostics.select("line", "kind").rows() == [(1, "ambiguous")]


@pytest.mark.parametrize("change", [*NUMBERED.values(), coloured, quoted], ids=[*NUMBERED, "coloured", "quoted"])
def test_lines_of_a_trace_in_an_indented_note(change: Callable[[str], str | bytes]) -> None:
    """Lines of a trace with an indent in a note are read with what an editor or a mail puts before the indent, too."""
    trace = "".join(
        f"\tWAIT #3: nam='db file sequential read' ela= {one} p1=5 p2=20753 p3=1\n" for one in range(70, 78)
    )
    note = f"Reads one by one\n================\n\n{trace}\n\tEXEC #3:c=0,e=120,p=0,cr=0,cu=0,mis=0,r=0,tim=11\n"
    expected = iolab.load(note.encode()).frames()["waits"].lazy().collect()
    found = iolab.load(data_of(change(note))).frames()["waits"].lazy().collect()

    assert expected.get_column("elapsed_us").to_list() == [*range(70, 78)]
    assert_frame_equal(found, expected)
