"""What changed between neighbouring reports: parameters as printed, events with bounds, the sentences of both."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iolab.evidence.changes import (
    NEIGHBOUR_CHANGES,
    PARAMETER_CHANGES,
    change_sentences,
    left_out_sentences,
    neighbour_changes,
    parameter_changes,
    timeline_sentences,
    why_not_compared,
)
from iolab.evidence.timeline import Timeline, read_timeline

READ = "db file sequential read"
SERIES = Path(__file__).parents[2] / "sample_data" / "awr_series"
START = datetime(2026, 1, 1)  # noqa: DTZ001 - reports have no time zone

Page = dict[str, str | tuple[str, str]]


@pytest.fixture(scope="module")
def line() -> Timeline:
    """The time line of the sample series."""
    return read_timeline(SERIES, workers=1).only()


@pytest.fixture(scope="module")
def neighbours(line: Timeline) -> pl.DataFrame:
    """Changes of average waits in the sample series."""
    return neighbour_changes(line)


def pages(*reports: Page) -> pl.DataFrame:
    """Parameters of hourly reports; a pair is a value that changed within the hour."""
    rows = []
    for hour, page in enumerate(reports):
        times = {"begin_time": START + timedelta(hours=hour), "end_time": START + timedelta(hours=hour + 1)}
        for name, value in page.items():
            begin, end = value if isinstance(value, tuple) else (value, None)
            rows.append(
                {"report": f"r{hour}", "part": 1, "instance_name": "i", **times}
                | {"parameter": name, "instance": None, "begin": begin, "end": end, "pdb": None}
            )
    schema = {"instance": pl.String, "pdb": pl.String, "end": pl.String}
    return pl.DataFrame(rows, schema_overrides=schema)


def reported(*reports: Page) -> list[tuple[object, ...]]:
    """The changes of parameters, in short."""
    return parameter_changes(pages(*reports)).select("parameter", "status", "before", "after", "report").rows()


@pytest.mark.parametrize(
    ("reports", "expected"),
    [
        ([{"a": "1"}, {"a": "1"}], []),
        ([{"a": "1"}, {"a": "2"}], [("a", "changed", "1", "2", "r1")]),
        ([{"a": ("1", "2")}, {"a": "2"}], [("a", "changed", "1", "2", "r0")]),
        ([{"a": ("1", "2")}, {"a": "3"}], [("a", "changed", "1", "2", "r0"), ("a", "changed", "2", "3", "r1")]),
        ([{"a": "1", "b": "x"}, {"a": "1"}], [("b", "vanished", "x", None, "r1")]),
        ([{"a": "1"}, {"a": "1", "b": "x"}], [("b", "appeared", None, "x", "r1")]),
        ([{"a": "x" * 33}, {"a": "x" * 40}], []),
        ([{"a": "x" * 32 + "y"}, {"a": "x" * 40}], [("a", "changed", "x" * 32 + "y", "x" * 40, "r1")]),
        ([{"a": "1"}], []),
    ],
)
def test_parameter_changes(reports: list[Page], expected: list[tuple[object, ...]]) -> None:
    """Between reports and within one; nothing is reported that cutting of long values explains."""
    assert reported(*reports) == expected


def test_several_values_of_a_parameter_are_one() -> None:
    """Control files are rows of one parameter: one that is added is one change."""
    two = pages({"control_files": "/a"}, {"control_files": "/a"})
    more = two.filter(pl.col("report") == "r1").with_columns(begin=pl.lit("/b"))

    found = parameter_changes(pl.concat([two, more]))

    assert found.select("before", "after").rows() == [("/a", "/a, /b")]


def test_the_root_of_a_container_database_is_the_database() -> None:
    """After an upgrade to a container database the same parameter is compared, not lost and found."""
    frame = pages({"a": "1"}, {"a": "2"})
    later = pl.when(pl.col("report") == "r1").then(pl.lit("CDB$ROOT"))

    found = parameter_changes(frame.with_columns(pdb=later))

    assert found.select("parameter", "status").rows() == [("a", "changed")]


def test_instances_are_not_neighbours() -> None:
    """The same parameter may differ between instances: that is no change."""
    frame = pages({"a": "1"}, {"a": "2"})
    frame = frame.with_columns(instance_name=pl.col("report"))

    assert parameter_changes(frame).rows() == []
    assert parameter_changes(frame.clear()).schema == PARAMETER_CHANGES


@given(st.lists(st.sampled_from(["x", "y", "z"]), min_size=1, max_size=8))
def test_changes_lead_from_the_first_value_to_the_last(values: list[str]) -> None:
    """Applied one after the other, the changes of a parameter give the values of the reports."""
    found = reported(*({"a": value} for value in values))

    expected = [(one, two) for one, two in pairwise(values) if one != two]
    assert [(before, after) for _, _, before, after, _ in found] == expected


def test_parameters_of_the_series(line: Timeline) -> None:
    """The restart changed a static parameter; the buffer cache grew within an hour."""
    found = parameter_changes(line.parameters)

    assert found.select("parameter", "before", "after", "to_time").rows() == [
        ("filesystemio_options", "NONE", "SETALL", datetime(2026, 9, 15, 1, 0, 16)),  # noqa: DTZ001 - no time zone
        ("db_cache_size", str(2 * 2**30), str(8 * 2**30), datetime(2026, 9, 15, 7, 0, 14)),  # noqa: DTZ001 - as above
    ]


def test_the_greatest_change_is_at_the_restart(neighbours: pl.DataFrame) -> None:
    """Single-block reads became slower by more than any other event, and the bounds say by how much at least."""
    row = neighbours.row(0, named=True)

    assert (row["event"], row["direction"]) == ("db file sequential read", "up")
    assert (Path(row["before"]).stem, Path(row["after"]).stem) == ("awrrpt_1_4107_4108", "awrrpt_1_4109_4110")
    assert 7 < row["at_least"] == row["ratio_lo"] <= row["ratio"] <= row["ratio_hi"] < 9
    assert neighbours.get_column("more_sessions").abs().round(9).is_sorted(descending=True)
    assert neighbours.schema == NEIGHBOUR_CHANGES


def test_quantities(line: Timeline) -> None:
    """Sessions are compared likewise; a quantity that does not exist is refused."""
    found = neighbour_changes(line, quantity="sessions")

    assert found.filter(event="DB CPU").height > 5
    assert found["unit"].unique().to_list() == ["sessions"]
    with pytest.raises(ValueError, match="no quantity avg; there are avg_wait_ms, sessions"):
        neighbour_changes(line, quantity="avg")


def test_averages_of_few_waits_are_not_compared(line: Timeline) -> None:
    """Each average is of 100 waits or more in both reports; of the events wanted all are compared."""
    rare = line.latencies.with_columns(waits=pl.when(pl.col("event") == READ).then(99.0).otherwise("waits"))
    found = neighbour_changes(replace(line, latencies=rare))

    assert found.height
    assert not found.filter(event=READ).height
    assert neighbour_changes(replace(line, latencies=rare), least_waits=99).filter(event=READ).height == 11
    assert neighbour_changes(line, events=[READ])["event"].unique().to_list() == [READ]


def test_a_change_weighs_as_much_as_its_time(line: Timeline) -> None:
    """A rare event that became 100 times as long comes after a frequent one that added more active sessions."""
    later = line.latencies.get_column("begin_time").max()
    values = {
        name: pl.when(event="log file sync", begin_time=later).then(pl.col(name) * 100).otherwise(name)
        for name in ("value", "lo", "hi")
    }
    few = pl.when(pl.col("event") == "log file sync").then(100.0).otherwise("waits")
    found = neighbour_changes(replace(line, latencies=line.latencies.with_columns(**values, waits=few, waits_lo=few)))
    row, rare = found.row(0, named=True), found.filter(event="log file sync").sort("at").row(-1, named=True)

    assert row["event"] == READ
    assert rare["at_least"] > 50 > row["at_least"]
    assert abs(rare["more_sessions"]) < row["more_sessions"]
    waits = line.latencies.filter(event=READ).join(line.periods.select("report", "elapsed_s"), on="report")
    rates = [
        waits.filter(report=row[side]).select(pl.col("waits") / pl.col("elapsed_s")).item()
        for side in ("before", "after")
    ]
    most = (row["b_lo"] - row["a_hi"]) / 1000 * min(rates)
    assert 0.999 * most < row["more_sessions"] <= most


def test_an_hour_that_stands_out_is_no_usual_spread(line: Timeline) -> None:
    """Of five reports the third is slow: neither the rise nor the fall counts as what averages do anyway."""
    steady = line.latencies.filter(event=READ).sort("begin_time").head(5)
    first = steady.row(0, named=True)
    slow = pl.int_range(pl.len()) == 2
    values = {name: pl.when(slow).then(9 * first[name]).otherwise(first[name]) for name in ("value", "lo", "hi")}
    found = neighbour_changes(replace(line, latencies=steady.with_columns(**values)))

    assert found.filter("is_unusual")["direction"].to_list() == ["up", "down"]
    assert found["usual"].unique().to_list() == [1.0]


def test_what_was_not_compared_is_said(line: Timeline, tmp_path: Path) -> None:
    """Two reports that overlap are no agreement, and neither are averages of few waits."""
    text = (SERIES / "awrrpt_1_4103_4104.txt").read_text(encoding="utf-8")
    (tmp_path / "later.txt").write_text(text.replace("14-Sep-26 19:00", "14-Sep-26 18:30"), encoding="utf-8")
    (tmp_path / "first.txt").write_bytes((SERIES / "awrrpt_1_4102_4103.txt").read_bytes())
    lapped = read_timeline(tmp_path, workers=1)
    said = timeline_sentences(lapped, neighbour_changes(lapped), parameter_changes(lapped.parameters))

    assert "Not compared: 1 pair of reports that overlap." in said
    assert said[-1].startswith("No average was compared")
    assert not [
        one
        for one in timeline_sentences(line, neighbour_changes(line), parameter_changes(line.parameters))
        if "ot compared" in one
    ]


def test_a_change_within_the_usual_spread_is_none(line: Timeline) -> None:
    """Of a line without the restart no average changed beyond what neighbours differ by anyway."""
    first = line.periods.sort("begin_time").head(6)
    quiet = replace(line, periods=first)
    found = neighbour_changes(quiet)

    reads = found.filter(event="db file sequential read")
    assert reads["usual"].is_not_null().all()
    assert not reads["is_unusual"].any()
    few = neighbour_changes(replace(line, periods=first.head(3)))
    assert few["usual"].is_null().all()
    said = timeline_sentences(line, reads, parameter_changes(line.parameters.clear()))
    assert said[-1] == "No average wait changed by more than its usual spread from one report to the next."


def test_what_is_told(line: Timeline, neighbours: pl.DataFrame) -> None:
    """The sentences have the figures of the frames, and name what changed just before."""
    text = "\n".join(timeline_sentences(line, neighbours, parameter_changes(line.parameters)))

    assert "12 reports of `harbor1`" in text
    assert "1 restart; 1 gap; 1 file is no report" in text
    assert "`db file sequential read` went up" in text
    assert "`filesystemio_options` NONE to SETALL" in text
    assert "Just before 2026-09-15 01:00, the instance was started at 2026-09-15 00:24:00" in text
    assert " it" not in text.replace(" its ", " ")
    assert "db_cache_size" not in text


def test_no_change_is_told(line: Timeline, neighbours: pl.DataFrame) -> None:
    """Nothing is said to have changed where nothing did."""
    same = neighbours.with_columns(direction=pl.lit("same"))
    found = timeline_sentences(line, same, parameter_changes(line.parameters.clear()))

    assert found[-1] == "No average wait changed by more than its rounding allows from one report to the next."


def with_reads(line: Timeline, *figures: tuple[float, float, float]) -> Timeline:
    """The first reports of a line with these averages of reads, in ms, and no other event."""
    reports = line.periods.sort("begin_time").head(len(figures))
    bounds = pl.DataFrame(
        [(one, *figure) for one, figure in zip(reports["report"], figures, strict=True)], orient="row"
    )
    bounds.columns = ["report", "value", "lo", "hi"]
    reads = line.latencies.filter(event=READ).drop("value", "lo", "hi").join(bounds, on="report")
    return replace(line, periods=reports, latencies=reads.select(line.latencies.columns))


def test_a_rise_from_nothing_printed_is_a_change(line: Timeline) -> None:
    """A printed 0 has an upper bound: the factor is at least that of the bounds, and has no upper one."""
    zero = with_reads(line, (0.0, 0.0, 0.0002), (7.6, 7.5, 7.7), (0.0, 0.0, 0.0002))
    up, down = neighbour_changes(zero).sort("at").to_dicts()

    assert (up["direction"], up["ratio"], up["ratio_hi"]) == ("up", None, None)
    assert up["at_least"] == pytest.approx(7.5 / 0.0002)
    assert up["more_sessions"] > 0
    assert (down["direction"], down["at_least"]) == ("down", pytest.approx(7.5 / 0.0002))
    said = change_sentences(neighbour_changes(zero).filter(direction="up"), pl.DataFrame(schema=PARAMETER_CHANGES))
    assert f"the average of `{READ}` went up, from at most 0.0002 to 7.60 ms" in said[0]
    said = change_sentences(neighbour_changes(zero).filter(direction="down"), pl.DataFrame(schema=PARAMETER_CHANGES))
    assert f"the average of `{READ}` went down, from 7.60 to at most 0.0002 ms" in said[0]


@given(st.floats(1e-3, 1e5), st.floats(1e-6, 0.4))
def test_bounds_that_touch_are_no_change(middle: float, half: float) -> None:
    """Neighbours whose bounds have one figure in common agree, however the arithmetic rounds."""
    lower, upper = middle * (1 - half), middle * (1 + half)
    touching = ((lower, lower * 0.9, middle), (upper, middle * (1 + 2e-16), upper * 1.1))
    line = read_timeline_once()

    for figures in (touching, touching[::-1]):
        row = neighbour_changes(with_reads(line, *figures)).row(0, named=True)
        assert (row["direction"], row["at_least"], row["more_sessions"]) == ("same", 1.0, 0.0)


@cache
def read_timeline_once() -> Timeline:
    """The time line of the sample series, for tests that make many of it."""
    return read_timeline(SERIES, workers=1).only()


def test_the_greatest_is_the_greatest(neighbours: pl.DataFrame) -> None:
    """A greater change that is usual for its event, or of a fleet a fall, is named beside the one that is asked for."""
    usual = neighbours.with_columns(is_unusual=pl.int_range(pl.len()) > 0)
    said = change_sentences(usual, pl.DataFrame(schema=PARAMETER_CHANGES))
    assert said[0].startswith("The greatest change beyond its usual spread from one report to the next: ")
    assert said[1].startswith(f"The greatest change of all is a rise within its usual spread: the average of `{READ}`")

    fallen = neighbours.with_columns(
        direction=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("down")).otherwise("direction")
    )
    said = change_sentences(fallen, pl.DataFrame(schema=PARAMETER_CHANGES), of_fleet=True)
    assert said[0].startswith("The greatest rise of a wait from one report to the next at `HARBOR/harbor1`: ")
    assert said[1].startswith("The greatest change of all is a fall at `HARBOR/harbor1`: ")
    assert len(change_sentences(neighbours, pl.DataFrame(schema=PARAMETER_CHANGES), of_fleet=True)) == 1
    falls = fallen.head(1)
    said = change_sentences(falls, pl.DataFrame(schema=PARAMETER_CHANGES), of_fleet=True)
    assert said[0].startswith(f"At no instance that was compared the average of `{READ}` became longer")
    assert said[1].startswith("The greatest change of all is a fall at `HARBOR/harbor1`: ")


@pytest.mark.parametrize("more", [0.0, 0.004])
def test_changes_of_the_same_size_are_no_greatest(line: Timeline, more: float) -> None:
    """What changed and then changed back, as far as the rounding tells, removed as much as it had added."""
    figures = ((0.26 + more, 0.255, 0.265), (0.78, 0.775, 0.785), (0.26, 0.255 + more, 0.265))
    back = neighbour_changes(with_reads(line, *figures))
    said = change_sentences(back, pl.DataFrame(schema=PARAMETER_CHANGES), of_fleet=True)

    assert set(back["direction"]) == {"up", "down"}
    assert len(said) == 1


def test_a_report_of_a_negative_time_is_left_out(tmp_path: Path) -> None:
    """A counter that overflowed is no load; the report has no valid period."""
    for path in sorted(SERIES.glob("*_410[2-4]_*.txt")):
        text = path.read_text(encoding="utf-8")
        text = re.sub(r"(DB Time: +)([0-9.]+)", r"\1-\2", text) if "4103_4104" in path.name else text
        (tmp_path / path.name).write_text(text, encoding="utf-8")
    found = read_timeline(tmp_path, workers=1)

    assert found.periods.height == 2
    assert left_out_sentences(found) == ["Left out: 1 file without one instance and a valid period."]
    assert timeline_sentences(found, neighbour_changes(found), parameter_changes(found.parameters))


def test_parameters_that_changed_without_a_wait_are_named(neighbours: pl.DataFrame) -> None:
    """Of one instance; where no average changed there is no time that they would have to be of."""
    same = neighbours.with_columns(direction=pl.lit("same"))
    row = dict.fromkeys(PARAMETER_CHANGES) | {"parameter": "sga_target", "before": "1", "after": "2"}
    said = change_sentences(same, pl.DataFrame([row], schema=PARAMETER_CHANGES))

    assert said[-1] == "Parameters that changed: `sga_target` 1 to 2."


def test_what_a_report_does_not_list_has_no_value(line: Timeline, neighbours: pl.DataFrame) -> None:
    """A parameter that one report lacks was not seen to have its default value."""
    settings = parameter_changes(line.parameters)
    lost = settings.with_columns(after=pl.lit(None, pl.String))

    assert "`filesystemio_options` NONE to not listed" in change_sentences(neighbours, lost)[1]


def test_the_reason_for_not_comparing_is_the_true_one(line: Timeline) -> None:
    """One report, no such waits, figures that contradict each other, few waits."""
    reads = line.latencies.filter(event=READ)
    few = reads.with_columns(waits=pl.lit(99, reads.schema["waits"]))
    reasons = [
        why_not_compared(1, reads),
        why_not_compared(2, reads.clear()),
        why_not_compared(2, reads.with_columns(value=pl.lit(None, pl.Float64))),
        why_not_compared(2, few.with_columns(value=pl.lit(None, pl.Float64))),
        why_not_compared(2, None),
    ]

    assert reasons == [
        "a change shows in two reports of an instance at least",
        "the reports list no such waits of foreground sessions",
        "times and averages of waits contradict each other",
        *["no two reports that follow each other both have an average of 100 waits"] * 2,
    ]
