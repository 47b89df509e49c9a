"""Names that a log leaves blank: every chart draws them, as "(none)"."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from iolab import charts, write_report
from iolab.charts._frames import whole_ticks

DATA = Path(__file__).parents[1] / "awrparse/awr_data/valid"
NAMES = ["log file sync", None]
METRIC = {"value": [2.0, 1.0], "lo": [1.9, 0.9], "hi": [2.1, 1.1], "unit": ["ms", "ms"]}
PERIOD = {
    "report": ["a", "a"],
    "instance_name": ["i", "i"],
    "begin_time": ["2026-01-01T01:00"] * 2,
    "end_time": ["2026-01-01T02:00"] * 2,
}
EVENTS = pl.DataFrame({"event": NAMES, "avg_wait_ms": [5.0, 3.0], "total_wait_s": [1.5, 2.0], "waits": [27, 3]})
OVER_TIME = pl.DataFrame({**PERIOD, "event": NAMES, **METRIC}).with_columns(
    pl.col("begin_time", "end_time").str.to_datetime("%Y-%m-%dT%H:%M")
)
RUNS = pl.DataFrame({"sample": NAMES, "run": [1, 2], "elapsed_s": [6.9, 5.7]})
READS = pl.DataFrame({"trace": NAMES, "op": ["read", "read"], "bytes_transferred": [8192, 1032192]})
CALLS = pl.DataFrame({"pid": [1, 1], "name": NAMES, "start": [0, 4], "end": [3, 5], "gap": [4, None]})
CALLS = CALLS.with_columns(pl.col("start", "end", "gap").cast(pl.Duration("ms")))


DRAWN: dict[str, Callable[[], Any]] = {
    "top_events": lambda: charts.top_events({"a": EVENTS}),
    "wait_classes": lambda: charts.wait_classes({"a": EVENTS.rename({"event": "wait_class"})}),
    "estimates": lambda: charts.estimates(pl.DataFrame({"metric": NAMES, **METRIC})),
    "pio_lio_factors": lambda: charts.pio_lio_factors(pl.DataFrame({"shape": NAMES, "machine": NAMES, **METRIC})),
    "events_over_time": lambda: charts.events_over_time(OVER_TIME),
    "sessions_over_time": lambda: charts.sessions_over_time(OVER_TIME),
    "latency_over_time": lambda: charts.latency_over_time(OVER_TIME),
    "run_strip": lambda: charts.run_strip(RUNS),
    "histogram": lambda: charts.histogram(RUNS, by="sample"),
    "ecdf": lambda: charts.ecdf(RUNS, value="elapsed_s", by="sample", unit="s"),
    "read_sizes": lambda: charts.read_sizes(READS, by="trace"),
    "call_timeline": lambda: charts.call_timeline(CALLS),
}


@pytest.mark.parametrize("chart", DRAWN)
def test_a_blank_name_is_drawn(chart: str) -> None:
    """A row without a name is in the picture, under a name that says so, and the specification is valid."""
    spec = DRAWN[chart]().to_dict()

    drawn = [value for rows in spec["datasets"].values() for row in rows for value in row.values()]
    assert ("other calls" if chart == "call_timeline" else "(none)") in drawn


def test_a_report_whose_top_event_is_blank(tmp_path: Path) -> None:
    """A page is made of a report in which the name of an event is missing."""
    text = (DATA / "awr_html_122.html").read_text(encoding="utf-8")
    assert "direct path read" in text
    (tmp_path / "blank.html").write_text(text.replace("direct path read", ""), encoding="utf-8")

    failed = write_report(tmp_path / "blank.html", tmp_path / "page.html")

    assert failed == []
    assert "(none)" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("values", "marks"),
    [
        ([1, 5], [1, 2, 3, 4, 5]),
        ([0, 0], [0]),
        ([1, 31], [5, 10, 15, 20, 25, 30]),
        ([3, 1_000_000], list(range(100_000, 1_000_001, 100_000))),
        ([1.0, 2.0], [1, 2]),
    ],
)
def test_counts_are_marked_at_whole_numbers(values: list[float], marks: list[int]) -> None:
    """An axis of counts has no mark at half a run, and not too many."""
    assert whole_ticks(pl.DataFrame({"run": values}), "run") == marks
