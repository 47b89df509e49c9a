"""Charts of many reports, and the notebook that draws them."""

from __future__ import annotations

import json
import math
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iolab import charts
from iolab.evidence.report_periods import BREAKS
from iolab.evidence.timeline import Timeline, read_timeline
from iolab.lab.cells import outwards

ROOT = Path(__file__).parents[2]
START = datetime(2026, 1, 1)  # noqa: DTZ001 - reports have no time zone


@pytest.fixture(scope="module")
def line() -> Timeline:
    """The time line of the sample series."""
    return read_timeline(ROOT / "sample_data" / "awr_series", workers=1).only()


def rows(chart: Any) -> list[list[dict[str, Any]]]:  # noqa: ANN401 - any chart
    """The data sets of a chart."""
    return list(chart.to_dict()["datasets"].values())


def sessions(hours: int, classes: int = 2) -> pl.DataFrame:
    """Active sessions of many hourly reports; class number n has n + 1."""
    found = [
        {"report": f"r{hour}", "instance_name": "i", "wait_class": f"class {number}", "metric": "active_sessions"}
        | {"begin_time": START + timedelta(hours=hour), "end_time": START + timedelta(hours=hour + 1)}
        | {"value": number + 1.0, "lo": number + 0.5, "hi": number + 1.5}
        for hour in range(hours)
        for number in range(classes)
    ]
    return pl.DataFrame(found)


def test_columns_are_stacked(line: Timeline) -> None:
    """In each report a class begins where the one below ends, CPU lowest, and the top is their sum."""
    drawn = rows(charts.sessions_over_time(line.sessions))[0]

    assert len({row["begin_time"] for row in drawn}) == 12
    for begin in {row["begin_time"] for row in drawn}:
        column = [row for row in drawn if row["begin_time"] == begin]
        assert (column[0]["what"], column[0]["bottom"]) == ("DB CPU", 0)
        for below, above in pairwise(column):
            assert above["bottom"] == pytest.approx(below["top"], abs=1e-5)
        total = line.sessions.filter(pl.col("begin_time") == datetime.fromisoformat(begin)).get_column("value").sum()
        assert column[-1]["top"] == pytest.approx(total, rel=1e-5)


def test_restarts_are_marked(line: Timeline) -> None:
    """One dashed line a restart, none for a gap, none where there is none."""
    marked = charts.sessions_over_time(line.sessions, line.breaks)

    assert [row["startup_time"][:16] for row in rows(marked)[1]] == ["2026-09-15T00:24"]
    gaps = line.breaks.filter(pl.col("kind") == "gap")
    assert len(rows(charts.sessions_over_time(line.sessions, gaps))) == 1
    assert len(rows(charts.sessions_over_time(line.sessions, pl.DataFrame(schema=BREAKS)))) == 1


def test_processors_are_a_line(line: Timeline) -> None:
    """The line stands at the number of processors."""
    assert {"cpus": 16, "label": "16 processors"} in rows(charts.sessions_over_time(line.sessions, cpus=16))[1]


def test_many_classes_are_few() -> None:
    """Beyond the most, the smallest classes are one, and nothing is lost."""
    drawn = rows(charts.sessions_over_time(sessions(1, classes=12), most=4))[0]

    assert len(drawn) == 5
    assert drawn[-1]["what"] == "(the rest)"
    assert drawn[-1]["top"] == sum(range(1, 13))


@pytest.mark.parametrize("draw", [charts.sessions_over_time, charts.events_over_time])
def test_years_are_drawn_in_few_rows(draw: Any) -> None:  # noqa: ANN401 - a function
    """Thousands of reports are joined by neighbours: mean by time, least and greatest bound, ends of the whole."""
    drawn = rows(draw(sessions(2 * 8760)))[0]

    assert len(drawn) <= 1000
    assert {row["value"] for row in drawn} == {1.0, 2.0}
    assert {(row["lo"], row["hi"]) for row in drawn} == {(0.5, 1.5), (1.5, 2.5)}
    assert (drawn[0]["begin_time"][:13], max(row["end_time"] for row in drawn)[:13]) == (
        "2026-01-01T00",
        "2028-01-01T00",
    )


def test_a_class_that_is_missing_had_no_sessions() -> None:
    """Joined reports: a class in half of them has half the sessions, an average wait keeps its value."""
    frame = sessions(2000).filter((pl.col("wait_class") == "class 0") | (pl.col("begin_time").dt.hour() % 2 == 0))

    joined = [row for row in rows(charts.sessions_over_time(frame))[0] if row["what"] == "class 1"]
    waits = frame.with_columns(metric=pl.lit("avg_wait_ms"))
    averages = [row for row in rows(charts.latency_over_time(waits))[0] if row["what"] == "class 1"]

    assert {row["value"] for row in joined} == {1.0}
    assert {row["value"] for row in averages} == {2.0}


def test_latency_has_its_bounds(line: Timeline) -> None:
    """One step a report with its band; a band that reaches zero is not drawn on a logarithmic axis."""
    reads = line.latencies.filter(pl.col("event") == "db file sequential read")
    drawn = rows(charts.latency_over_time(reads, line.breaks))[0]

    assert len(drawn) == 12
    assert all(row["lo"] <= row["value"] <= row["hi"] for row in drawn)
    coarse = reads.with_columns(lo=pl.lit(0.0))
    assert len(rows(charts.latency_over_time(coarse, log=False))[0]) == 12
    with pytest.raises(charts.ChartError, match="no rows"):
        charts.latency_over_time(coarse)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame.drop("lo"), "no column lo"),
        (lambda frame: frame.clear(), "no rows"),
        (lambda frame: frame.drop("wait_class"), "no column of event"),
        (lambda frame: frame.with_columns(value=pl.lit(None, pl.Float64)), "no row has a value"),
        (lambda frame: frame.with_columns(instance_name=pl.col("report")), "no single instance but r0, r1"),
    ],
)
@pytest.mark.parametrize("draw", [charts.sessions_over_time, charts.latency_over_time, charts.events_over_time])
def test_what_cannot_be_drawn_is_said(draw: Any, change: Any, message: str) -> None:  # noqa: ANN401 - functions
    """A missing column, an empty frame or two instances are an error with a sentence, never an empty picture."""
    with pytest.raises(charts.ChartError, match=message):
        draw(change(sessions(2)))


def test_a_wrong_frame_of_breaks_is_said(line: Timeline) -> None:
    """The names of the columns are given."""
    with pytest.raises(charts.ChartError, match="no column reason"):
        charts.sessions_over_time(line.sessions, line.breaks.drop("reason"))


def test_charts_are_the_same_each_time(line: Timeline) -> None:
    """The specification does not change from call to call: nbval compares it."""
    first, second = (
        json.dumps(
            [
                charts.sessions_over_time(line.sessions, line.breaks).to_dict(),
                charts.latency_over_time(line.latencies, line.breaks).to_dict(),
                charts.events_over_time(line.events).to_dict(),
            ]
        )
        for _ in range(2)
    )

    assert first == second


def test_the_notebook_names_what_is_no_report() -> None:
    """A file that holds an error in place of a report is counted, in the saved notebook, too."""
    cells = json.loads((ROOT / "notebooks/07_many_reports.ipynb").read_text(encoding="utf-8"))["cells"]
    outputs = [out["data"] for cell in cells if cell["cell_type"] == "code" for out in cell["outputs"]]
    computed = "\n".join("".join(data.get("text/markdown", data.get("text/plain", ""))) for data in outputs)

    assert "1 file is no report" in computed


@given(st.floats(-1e6, 1e6), st.sampled_from([3, 4, 5]))
def test_bounds_are_rounded_outwards(value: float, digits: int) -> None:
    """A bound in a table claims no more than the figure, and no less than a step of its last digit."""
    names = ("lo", "a_hi", "at_least", "b")
    lo, hi, least, near = outwards(pl.DataFrame([dict.fromkeys(names, value)]), digits).row(0)
    step = max(1e-6, 10.0 ** (math.floor(math.log10(abs(value) or 1)) - digits + 1)) * (1 + 1e-6)

    assert value - step <= lo <= value + 1e-9 * abs(value)
    assert value - 1e-9 * abs(value) <= hi <= value + step
    assert abs(value) - step <= abs(least) <= abs(value) * (1 + 1e-9)
    assert near == pytest.approx(value, rel=10.0 ** (1 - digits))
