"""Every real trace: lines accounted for, sums and counts as an independent count of the text gives them."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import polars as pl
import pytest

from logframe import LogParseError, open_log
from sqltraceparse import SqlTrace, read_sqltrace

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.corpus

#: Files without a record, and a word of what is said of them.
LOOKALIKES = {
    "oravm2_lmd0_17315.trc": "deadlock",
    "04_cbo_troubleshoot_1.trc": "10053",
    "view_merge_01_08.trc": "10053",
    "view_merge_01_09.trc": "10053",
    "view_merge_01_10.trc": "10053",
    "ch_14_10053_08.trc": "10053",
    "ch_14_10053_09.trc": "10053",
    "tvdxtat.txt": "profile",
    "q10trc.md": "TKPROF",
    "tk.prf": "TKPROF",
}
#: Kinds of diagnostics that a damaged or edited file has; all other files have none.
DAMAGED = {
    "broken_trace.trc": {"cut": 7, "repaired": 1},
    "malformed_stat.trc": {"cut": 1},
    "mixed_execs.trc": {"cut": 1, "clock": 1},
    "two_statements_one_cursor.trc": {"cut": 4},
    "no_timezone.trc": {"cut": 1},
    "simple_trace.trc": {"cut": 1},
    "simple_trace_2x.trc": {"cut": 1},
    "parse_error.trc": {"unparsed": 1},
    "dbm10203_ora_24433.trc": {"clock": 1},
    "dbm10203_s000_24374.trc": {"clock": 1},
}


def named(path: Path, table: dict[str, object]) -> str | None:
    """The entry of a table whose name ends the path."""
    return next((name for name in table if str(path).endswith(name)), None)


@pytest.fixture(scope="module")
def traces(corpus: Path) -> dict[Path, SqlTrace]:
    """Every trace of the corpus, read."""
    paths = [*sorted((corpus / "sqltrace").glob("*.trc")), *sorted((corpus / "sqlplus").rglob("*.trc"))]
    kept = [path for path in paths if named(path, LOOKALIKES) is None and path.is_file()]
    kept = [path for path in kept if re.search(r"(?m)^(?:WAIT|EXEC|CLOSE) #", open_log(path).text())]
    return {path: read_sqltrace(path) for path in kept}


def test_every_line_is_accounted_for(traces: dict[Path, SqlTrace]) -> None:
    """The lines of all kinds are the lines of the file, and the second record of a fused line."""
    assert len(traces) > 25
    for path, trace in traces.items():
        fused = trace.diagnostics.filter(pl.col("kind") == "repaired").height

        assert trace.kinds.get_column("lines").sum() == len(open_log(path).lines()) + fused, path


def test_waits_are_those_of_the_text(traces: dict[Path, SqlTrace]) -> None:
    """Count and sum of each event, by a search of the text that knows nothing of the reader."""
    for path, trace in traces.items():
        count: Counter[str] = Counter()
        total: Counter[str] = Counter()
        for event, elapsed in re.findall(r"WAIT #\d+: nam='([^']*)' ela= ?(-?\d+) ", open_log(path).text()):
            count[event] += 1
            total[event] += int(elapsed)
        found = trace.waits.group_by("event").agg(pl.len(), pl.col("elapsed_us").sum())

        assert {event: (count[event], total[event]) for event in count} == {
            event: (number, elapsed) for event, number, elapsed in found.iter_rows()
        }, path


def test_calls_are_those_of_the_text(traces: dict[Path, SqlTrace]) -> None:
    """Count, CPU and elapsed time of each kind of call; statements, binds, row sources and transactions."""
    for path, trace in traces.items():
        text = open_log(path).text()
        found = re.findall(r"(PARSE|EXEC|FETCH|CLOSE) #\d+:c=(\d+),e=(\d+),", text)
        found += re.findall(r"(LOB[A-Z]+): type=[A-Z ]+,bytes=\d+,c=(\d+),e=(\d+),", text)
        calls = trace.calls.filter(pl.col("elapsed_us").is_not_null())

        assert sorted((op, int(cpu), int(elapsed)) for op, cpu, elapsed in found) == sorted(
            calls.select("op", "cpu_us", "elapsed_us").iter_rows()
        ), path
        counts = (
            len(re.findall(r"(?m)^PARSING IN CURSOR #", text)) + len(re.findall(r"(?m)^PARSE ERROR #", text)),
            len(re.findall(r"(?m)^ Bind#\d", text)),
            len(re.findall(r"(?m)^STAT #\d+ id=", text)),
            len(re.findall(r"(?m)^XCTEND", text)),
        )

        assert counts == (
            trace.statements.height,
            trace.binds.height,
            trace.row_sources.height,
            trace.transactions.height,
        ), path


def test_diagnostics_are_known(traces: dict[Path, SqlTrace]) -> None:
    """What is said of damaged files, and nothing of the others."""
    for path, trace in traces.items():
        expected = DAMAGED.get(named(path, DAMAGED) or "", {})  # type: ignore[arg-type]

        assert dict(trace.diagnostics.get_column("kind").value_counts().rows()) == expected, path


def test_own_times_are_the_time_of_the_outermost_calls(traces: dict[Path, SqlTrace]) -> None:
    """No call's own time is negative, and together they are what the outermost calls took."""
    for path, trace in traces.items():
        outermost = trace.calls.filter(pl.col("parent").is_null())

        assert trace.calls.get_column("own_elapsed_us").drop_nulls().min() >= 0, path  # type: ignore[operator]
        assert outermost.get_column("elapsed_us").sum() == trace.calls.get_column("own_elapsed_us").sum(), path


def test_one_host_has_one_clock(traces: dict[Path, SqlTrace]) -> None:
    """Processes of one host and boot have one offset of tim to the wall clock, found from each alone within 0.1 ms."""
    offsets = {
        trace.clock.item(0, "offset_us")
        for path, trace in traces.items()
        if "array-size-tests" in path.name and "from-vm" not in path.name
    }

    assert len(offsets) == 5
    assert max(offsets) - min(offsets) < 100


def test_lookalikes(corpus: Path) -> None:
    """Files without a record are refused by name."""
    for name, word in LOOKALIKES.items():
        [path] = [path for path in (corpus / "sqltrace").iterdir() if path.name.endswith(name)]
        with pytest.raises(LogParseError, match=word):
            read_sqltrace(path)
