"""A session whose truth is known, in the form of every release: calls, waits, nesting, statements, clocks."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import polars as pl
import pytest

from logframe import open_log
from sqltraceparse import read_sqltrace, scan_sqltrace
from sqltraceparse.reader import read_pieces
from sqltraceparse.trace import assembled

RELEASES = ["8.1.7.4.0", "9.2.0.8.0", "10.2.0.5.0", "11.1.0.7.0", "11.2.0.4.0", "12.2.0.1.0", "19.22.0.0.0"]
TIMED = RELEASES[2:]


@pytest.mark.parametrize("release", RELEASES)
def test_every_line_has_a_kind(write: Any, release: str) -> None:  # noqa: ANN401
    """No line is lost: the events are the lines, and none is unparsed."""
    session = write(release)
    events = scan_sqltrace(session.text.encode()).collect()
    trace = read_sqltrace(session.text.encode())

    assert events.get_column("line").to_list() == list(range(1, len(session.lines) + 1))
    assert events.filter(pl.col("kind") == "unparsed").is_empty()
    assert trace.kinds.get_column("lines").sum() == len(session.lines)
    assert trace.diagnostics.is_empty()


@pytest.mark.parametrize("release", RELEASES)
def test_figures_of_calls(write: Any, release: str) -> None:  # noqa: ANN401
    """Each call has its figures, with and without the calls below it, whatever the units of the release."""
    session = write(release)
    unit = 10_000 if release.startswith("8.") else 1
    found = read_sqltrace(session.text.encode()).calls
    expected = [(one.line, one.op, one.depth, one.disk or None, one.rows or None) for one in session.done]
    shown = found.select("line", "op", "depth", "disk_blocks", "rows").with_columns(
        pl.when(pl.col(name) != 0).then(name) for name in ("disk_blocks", "rows")
    )

    assert expected == shown.rows()
    assert [one.elapsed // unit * unit for one in session.done] == found.get_column("elapsed_us").to_list()
    if unit == 1:
        names = ("own_elapsed_us", "own_cpu_us")
        own = found.select(*names, pl.col("own_disk_blocks").fill_null(0)).rows()

        assert [(one.own_elapsed, one.own_cpu, one.own_disk) for one in session.done] == own


@pytest.mark.parametrize("release", RELEASES)
def test_calls_of_waits(write: Any, release: str) -> None:  # noqa: ANN401
    """Each wait is part of the call in which it happened; waits for the client are part of none."""
    session = write(release)
    waits = read_sqltrace(session.text.encode()).waits
    unit = 10_000 if release.startswith("8.") else 1
    expected = [(line, event, elapsed // unit * unit, call) for line, event, elapsed, call in session.waits]

    assert expected == waits.select("line", "event", "elapsed_us", "call").rows()
    assert waits.filter(pl.col("event") == "db file scattered read").select("file_id", "requests").unique().rows() == [
        (4, 1)
    ]


@pytest.mark.parametrize("release", RELEASES)
def test_statements_binds_and_plans(write: Any, release: str) -> None:  # noqa: ANN401
    """Texts are whole though they hold lines of other kinds; binds and plans belong to their statement."""
    session = write(release)
    trace = read_sqltrace(session.text.encode())
    texts = [one.statement.text for one in session.done if one.op == "PARSE"]
    inner = trace.statements.filter(pl.col("depth") == 1).get_column("statement").to_list()

    assert texts == trace.statements.get_column("text").to_list()
    assert trace.statements.get_column("is_whole").all()
    values = ["33", "HR", None] * 6

    assert values == trace.binds.get_column("value").to_list()
    assert inner == trace.binds.get_column("statement").unique(maintain_order=True).to_list()
    assert inner == trace.row_sources.get_column("statement").unique(maintain_order=True).to_list()
    operations = ["SORT AGGREGATE", "TABLE ACCESS FULL ORDERS"] * 6

    assert operations == trace.row_sources.get_column("operation").to_list()
    runs = trace.calls.filter(pl.col("op") == "EXEC", pl.col("depth") == 1).get_column("line").to_list()

    assert runs == trace.binds.get_column("call").unique(maintain_order=True).to_list()


@pytest.mark.parametrize("release", TIMED)
def test_accounts_add_up(write: Any, release: str) -> None:  # noqa: ANN401
    """What calls did themselves is what the outermost calls took in all; nothing is counted twice."""
    session = write(release, seed=5, rounds=20)
    calls = read_sqltrace(session.text.encode()).calls
    outermost = calls.filter(pl.col("parent").is_null())

    assert outermost.get_column("elapsed_us").sum() == calls.get_column("own_elapsed_us").sum()
    assert outermost.get_column("cpu_us").sum() == calls.get_column("own_cpu_us").sum()
    assert (calls.get_column("unaccounted_us") >= 0).all()
    assert set(outermost.get_column("depth")) == {0}


@pytest.mark.parametrize("release", TIMED)
def test_wall_clock(write: Any, release: str) -> None:  # noqa: ANN401
    """The wall clock of each line lies within the bounds of the clock, and those hold the truth."""
    session = write(release)
    trace = read_sqltrace(session.text.encode())
    clock = trace.clock.row(0, named=True)
    shift = timedelta(hours=0 if session.version >= (12, 2) else session.zone)
    truth = int((session.start + shift).timestamp()) * 10**6 + session.start.microsecond - session.boot

    assert clock["offset_lo_us"] <= truth <= clock["offset_hi_us"]
    assert abs(clock["offset_us"] - truth) <= 1_000
    assert clock["zone_is_known"] == (session.version >= (12, 2))
    assert clock["rate"] == pytest.approx(1, abs=1e-3)
    assert trace.waits.get_column("wall").null_count() == 0


@pytest.mark.parametrize("batch_bytes", [1, 3_000, 20_000])
def test_batches_do_not_matter(write: Any, tmp_path: Any, batch_bytes: int) -> None:  # noqa: ANN401
    """The same frames, whatever the size of the batches that the file is read in."""
    session = write("19.22.0.0.0", seed=3, rounds=30)
    path = tmp_path / "a.trc"
    path.write_text(session.text)
    whole = read_sqltrace(path)
    log = open_log(path)
    pieces = list(read_pieces(log, batch_bytes=batch_bytes))
    parts = assembled(pieces, log.name, [])

    assert len(pieces) > 1

    assert {name: frame.rows() for name, frame in whole.frames().items()} == {
        name: frame.rows() for name, frame in parts.frames().items()
    }
