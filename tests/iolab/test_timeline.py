"""Many reports as a time line: periods and their breaks, active sessions and latencies with bounds."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from awrparse import read_awr, read_awrs
from iolab import dataset
from iolab.evidence.changes import PARAMETER_CHANGES, neighbour_changes, parameter_changes, timeline_sentences
from iolab.evidence.report_periods import PERIODS, find_breaks, once, periods
from iolab.evidence.timeline import (
    SINGLE_BLOCK_READS,
    Timeline,
    active_sessions,
    db_time_sessions,
    latencies,
    read_timeline,
    shares_within,
)
from iolab.metrics import average_waits, waits_within
from iolab.metrics.awr import narrow_waits, total_waits
from logframe import LogNotFoundError

SERIES = Path(__file__).parents[2] / "sample_data" / "awr_series"
START = datetime(2026, 1, 1)  # noqa: DTZ001 - reports have no time zone


@pytest.fixture(scope="module")
def line() -> Timeline:
    """The time line of the sample series."""
    return read_timeline(SERIES, workers=1).only()


def period(name: str, begin: float, end: float, **more: object) -> dict[str, object]:
    """A row of `PERIODS`; times are hours after the start."""
    known = {
        "report": name,
        "part": 1,
        "kind": "awr",
        "db_id": 7,
        "db_name": "D",
        "instance_name": "i",
        "form": "text",
        "release": "12.1.0.2.0",
    }
    times = {"begin_time": START + timedelta(hours=begin), "end_time": START + timedelta(hours=end)}
    snaps = {"begin_snap_id": int(begin), "end_snap_id": int(end), "startup_time": START}
    return dict.fromkeys(PERIODS) | known | times | snaps | more


def kinds(*rows: dict[str, object]) -> list[str]:
    """The kinds of the breaks between periods."""
    return find_breaks(pl.DataFrame(list(rows), schema=PERIODS)).get_column("kind").to_list()


def test_series_in_order_of_time(line: Timeline) -> None:
    """Text and HTML reports stand in order, with the restart and the hole between them."""
    assert line.periods.get_column("begin_snap_id").to_list() == [*range(4102, 4108), *range(4109, 4113), 4114, 4115]
    assert line.breaks.select("kind", "reason").rows() == [
        ("restart", "the instance was started at 2026-09-15 00:24:00; 1 h 00 min are in no report"),
        ("gap", "snapshots 4113 to 4114, 1 h 00 min: no report compared covers them"),
    ]
    assert line.instances == ["harbor1"]


def test_a_broken_file_is_a_row(line: Timeline) -> None:
    """The file that is no report is one row of the diagnostics, though five tables were asked for."""
    rows = line.diagnostics.select(pl.col("source").str.split("/").list.last(), "kind").rows()

    assert rows == [("awrrpt_1_4108_4109.txt", "no_report")]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([period("a", 1, 2), period("b", 2, 3)], []),
        ([period("a", 1, 2), period("b", 3, 4)], ["gap"]),
        ([period("a", 1, 2), period("b", 3, 4, startup_time=START + timedelta(hours=2.5))], ["restart"]),
        ([period("a", 1, 2), period("b", 1, 2, form="html")], ["repeat"]),
        ([period("a", 1, 3), period("b", 2, 4)], ["overlap"]),
        ([period("a", 1, 5), period("b", 2, 3)], ["repeat"]),
        ([period("day", 1, 5), *(period(f"{hour}", hour, hour + 1) for hour in (1, 2, 4))], ["repeat", "gap"]),
        ([period("a", 1, 2), period("b", 3, 4, instance_name="j")], []),
        ([period("a", 1, 2), period("b", 3, 4, db_id=8)], []),
        ([period("a", 1, 2), period("b", 1, 2, kind="statspack")], ["overlap"]),
        ([period("a", 1, 2), period("b", 2, 3, kind="statspack", begin_snap_id=90)], []),
        ([period("a", 1, 2, end_snap_id=None), period("b", 2, 3)], []),
        ([period("a", 1, 2, end_snap_id=None), period("b", 2.5, 3)], ["gap"]),
        ([period("a", 1, 2, startup_time=None), period("b", 2, 3)], []),
        ([period("a", 1, 2)], []),
        ([], []),
    ],
)
def test_breaks(rows: list[dict[str, object]], expected: list[str]) -> None:
    """Neighbours that follow each other are no break; what is not known is none either."""
    assert kinds(*rows) == expected


def test_an_hour_whose_minutes_are_unknown_is_no_restart() -> None:
    """00:09 and some minute of the same hour may be one time; another minute that is known is none."""
    one = period("a", 1, 2, startup_time=START + timedelta(minutes=9), startup_hour=START)
    unknown = {"startup_time": None, "startup_hour": START}

    assert kinds(one, period("b", 2, 3, **unknown)) == []
    assert kinds(one, period("b", 2, 3, startup_time=START + timedelta(minutes=9, seconds=25))) == []
    assert kinds(period("a", 1, 2, **unknown), period("b", 2, 3, **unknown)) == []
    assert kinds(one, period("b", 2, 3, startup_time=START + timedelta(minutes=24), startup_hour=START)) == ["restart"]


def test_a_restart_is_named_as_far_as_its_time_is_known() -> None:
    """A later hour tells the restart; it was after the end of the one report and before the begin of the other."""
    later = period("b", 3.5, 4, startup_time=None, startup_hour=START + timedelta(hours=2))
    found = find_breaks(pl.DataFrame([period("a", 1, 2.5), later], schema=PERIODS))

    assert found.select("kind", "reason").rows() == [
        ("restart", "the instance was started between 2026-01-01 02:30 and 02:59; 1 h 00 min are in no report")
    ]


def test_reports_without_times_are_left_out() -> None:
    """A fragment has no place on the time line, and is reported in the diagnostics."""
    fragment = Path(__file__).parents[2] / "sample_data/articles/003_filesystemio_none.txt"
    paths = [fragment, *sorted(SERIES.glob("*4102*"))]

    line = read_timeline(paths, workers=1)

    assert line.periods.height == 1
    assert line.diagnostics.get_column("kind").to_list() == ["missing"]
    assert line.sessions.get_column("report").n_unique() == 1


@pytest.mark.parametrize(
    ("started_h", "known", "invalid", "kept"),
    [
        (1.5, "startup_time", None, 0),
        (0.5, "startup_time", None, 1),
        (1, "startup_hour", None, 1),
        (1.5, "startup_hour", None, 0),
        (0.5, "startup_time", "ERROR", 0),
    ],
)
def test_reports_without_valid_figures_are_left_out(
    started_h: float, known: str, invalid: str | None, kept: int
) -> None:
    """Figures over a restart are none, where its hour alone tells that, too; nor are those a report calls invalid."""
    started = START + timedelta(hours=started_h)
    row = period("a", 1, 2, startup_time=None) | {known: started}
    frame = pl.DataFrame([row | {"invalid": invalid}], schema={**PERIODS, "invalid": pl.String})

    assert periods(frame).height == kept


def test_a_report_in_two_forms_counts_once(tmp_path: Path) -> None:
    """A copy of a report under another name is named as a repeat, and adds nothing."""
    for name in ("a.txt", "b.txt"):
        shutil.copy(SERIES / "awrrpt_1_4102_4103.txt", tmp_path / name)

    line = read_timeline(tmp_path, workers=1)

    assert line.breaks.get_column("kind").to_list() == ["repeat"]
    assert [Path(name).name for name in line.periods.get_column("report")] == ["a.txt"]
    assert line.sessions.get_column("report").n_unique() == 1


def test_one_instance_of_several(tmp_path: Path) -> None:
    """Instances are kept apart; the one with the most reports comes first; an unknown one is refused by name."""
    text = (SERIES / "awrrpt_1_4102_4103.txt").read_text(encoding="utf-8")
    (tmp_path / "other.txt").write_text(text.replace("harbor1", "harbor2"), encoding="utf-8")
    for name in ("awrrpt_1_4102_4103.txt", "awrrpt_1_4103_4104.txt"):
        shutil.copy(SERIES / name, tmp_path)

    line = read_timeline(tmp_path, workers=1)

    assert line.instances == ["harbor1", "harbor2"]
    assert line.breaks.height == 0
    assert (line.only().periods.height, line.only("harbor2").periods.height) == (2, 1)
    alone = line.only("harbor2")
    said = timeline_sentences(alone, neighbour_changes(alone), parameter_changes(alone.parameters))
    assert said[-1] == "No average was compared: a change shows in two reports of an instance at least."
    with pytest.raises(LookupError, match="no report of the instance harbor3; there are reports of harbor1, harbor2"):
        line.only("harbor3")


def test_databases_that_share_an_instance_name(tmp_path: Path) -> None:
    """Two databases with an instance of one name are two time lines, told apart by the database id."""
    text = (SERIES / "awrrpt_1_4102_4103.txt").read_text(encoding="utf-8")
    (tmp_path / "other.txt").write_text(text.replace("2870431956", "1111111111"), encoding="utf-8")
    for name in ("awrrpt_1_4103_4104.txt", "awrrpt_1_4104_4105.txt"):
        shutil.copy(SERIES / name, tmp_path)

    line = read_timeline(tmp_path, workers=1)

    assert line.instances == ["harbor1 (2870431956)", "harbor1 (1111111111)"]
    assert line.only("harbor1 (1111111111)").sessions.get_column("report").n_unique() == 1
    assert line.only().periods.get_column("db_id").to_list() == [2870431956] * 2


def test_nothing_to_read(tmp_path: Path) -> None:
    """A folder of files that are no reports gives empty frames; a path that leads nowhere raises."""
    (tmp_path / "diary.txt").write_text("Dear diary,\nnothing.\n", encoding="utf-8")

    line = read_timeline(tmp_path, workers=1)

    assert [line.periods.height, line.sessions.height, line.latencies.height, line.breaks.height] == [0] * 4
    with pytest.raises(LookupError, match="no report of an instance was found"):
        line.only()
    with pytest.raises(LogNotFoundError):
        read_timeline(tmp_path / "nowhere", workers=1)


def test_sessions_of_classes_make_up_db_time(line: Timeline) -> None:
    """Classes and CPU of a report add up to its DB time but for the little that is not accounted for."""
    sums = line.sessions.group_by("begin_time").agg(pl.col("lo", "hi").sum()).sort("begin_time")
    whole = db_time_sessions(line.periods)

    assert sums.height == whole.height == 12
    ratio = whole.get_column("value") / sums.get_column("hi")
    assert float(str(ratio.min())) > 1.0
    assert float(str(ratio.max())) < 1.03


def test_latencies_are_those_of_one_report(line: Timeline) -> None:
    """Each row is what `average_waits` gives of the report alone: value, bounds and unit."""
    for path in sorted(SERIES.glob("awrrpt_1_410[29]*.txt")):
        if path.stat().st_size < 1000:
            continue
        report = read_awr(path, printed=True)
        alone = average_waits(narrow_waits(report["foreground_events"], report["top_events"])).sort("event")
        joined = line.latencies.filter(pl.col("report") == str(path)).sort("event")

        assert joined.height == alone.height > 10
        assert joined.get_column("event").to_list() == alone.get_column("event").to_list()
        for column in ("value", "lo", "hi"):
            assert joined.get_column(column).to_list() == pytest.approx(alone.get_column(column).to_list(), rel=1e-9)


def test_shares_of_short_reads_report_by_report(line: Timeline) -> None:
    """More than 90 % below 1 ms before the restart, fewer than 10 % after it, each within its rounding."""
    histograms = read_awrs(SERIES, table="event_histogram", printed=True, workers=1).frame
    shares = shares_within(histograms.join(line.periods, on="report", how="semi", maintain_order="left"))

    assert shares.height == 12
    assert shares["begin_time"].is_sorted()
    assert (shares["hi"] - shares["lo"] < 0.005).all()
    assert (shares["value"].head(6) > 0.9).all()
    assert (shares["value"].tail(6) < 0.1).all()
    alone = waits_within(read_awr(shares.item(0, "report")).with_bounds("event_histogram"))
    assert alone.filter(event="db file sequential read").item(0, "value") == shares.item(0, "value")


def test_idle_events_are_left_out(line: Timeline) -> None:
    """Waits for the client are no active session."""
    found = read_awrs(SERIES, table="foreground_events", printed=True, workers=1).frame

    names = active_sessions(found).get_column("event")
    assert "SQL*Net message from client" not in names.to_list()
    assert "db file sequential read" in names.to_list()
    assert line.latencies.filter(pl.col("event").is_in(SINGLE_BLOCK_READS)).height == 12


def wait_row(waits: int, seconds: float, average: float, digits: tuple[int, int]) -> dict[str, Any]:
    """A row of waits as a report prints it, with its bounds."""
    figures = {"total_wait_s": (seconds, digits[0]), "avg_wait_ms": (average, digits[1])}
    row: dict[str, Any] = {"report": "a", "instance_name": "i", "begin_time": START, "elapsed_s": 3600.0}
    row |= {"end_time": START + timedelta(hours=1), "event": "log file sync", "waits": waits, "db_time_pct": 1.0}
    for name, (value, digit) in figures.items():
        printed, half = round(value, digit), 10.0**-digit / 2
        row |= {name: printed, f"{name}_lo": max(printed - half, 0.0), f"{name}_hi": printed + half}
    return row


@settings(max_examples=60)
@given(
    waits=st.integers(1, 10**7),
    average=st.floats(0.001, 5_000),
    digits=st.tuples(st.integers(0, 2), st.integers(0, 3)),
    elapsed=st.floats(60, 90_000),
)
def test_bounds_hold_what_was_printed(waits: int, average: float, digits: tuple[int, int], elapsed: float) -> None:
    """Whatever is rounded away, the true average and the true sessions lie within the bounds, and the value too."""
    seconds = waits * average / 1000
    row = wait_row(waits, seconds, average, digits)
    row |= {"elapsed_s": round(elapsed / 60, 2) * 60, "end_time": START + timedelta(seconds=elapsed)}
    frame = pl.DataFrame([row])

    for found, truth in ((latencies(frame), average), (active_sessions(frame), seconds / elapsed)):
        value, lo, hi = found.select("value", "lo", "hi").row(0)
        assert lo <= value <= hi
        assert lo * (1 - 1e-9) - 1e-12 <= truth <= hi * (1 + 1e-9) + 1e-12


@settings(max_examples=60)
@given(
    waits=st.integers(1, 10**6),
    seconds=st.floats(0.01, 10**5),
    average=st.floats(0.01, 5_000),
    digits=st.tuples(st.integers(0, 2), st.integers(0, 2)),
)
def test_expressions_are_the_metrics(waits: int, seconds: float, average: float, digits: tuple[int, int]) -> None:
    """Any three figures, contradicting or not, give what the functions for one report give."""
    frame = pl.DataFrame([wait_row(waits, seconds, average, digits)])

    alone, joined = average_waits(frame).row(0, named=True), latencies(frame).row(0, named=True)
    assert (joined["value"] is None) == (alone["value"] is None)
    if alone["value"] is not None:
        for name in ("value", "lo", "hi"):
            assert joined[name] == pytest.approx(alone[name], rel=1e-9, abs=1e-12)
        time = total_waits(frame).row(0, named=True)
        sessions = active_sessions(frame).row(0, named=True)
        assert sessions["lo"] * 3600.3 == pytest.approx(time["lo"], rel=1e-9, abs=1e-9)
        assert sessions["hi"] * 3599.7 == pytest.approx(time["hi"], rel=1e-9, abs=1e-9)
    else:
        assert str(joined["caveats"]).startswith("refused: ")


def test_periods_have_their_schema(line: Timeline) -> None:
    """The columns are what is promised, also of nothing."""
    info = read_awrs(SERIES, table="info", workers=1).frame

    assert periods(info).schema == line.periods.schema == PERIODS
    assert periods(info.clear()).schema == PERIODS


def reports_once(*rows: dict[str, object]) -> list[str]:
    """The reports of which the periods count."""
    return once(pl.DataFrame(list(rows), schema=PERIODS)).get_column("report").to_list()


def test_a_day_beside_its_hours_does_not_count() -> None:
    """A report of a whole day and those of its hours are of the same activity: the finer ones that cover most of it."""
    hours = [period(f"{hour}", hour, hour + 1) for hour in range(14)]
    day = period("day", 0, 14)

    for rows in ([*hours, day], [day, *hours], [*hours[:7], day, *hours[7:]]):
        assert sorted(reports_once(*rows)) == sorted(str(hour) for hour in range(14))
    assert reports_once(day, *hours[:3]) == ["day"]
    assert reports_once(
        day, *(period(f"{row['report']}", hour, hour + 1, instance_name="j") for hour, row in enumerate(hours))
    ) == ["day", *(str(hour) for hour in range(14))]


def test_a_repeat_counts_once_and_an_overlap_twice() -> None:
    """Text and HTML of one period are one; periods that only overlap are of two times, in part."""
    assert reports_once(period("a", 0, 1), period("a.html", 0, 1, form="html"), period("b", 1, 2)) == ["a", "b"]
    assert reports_once(period("a", 0, 2), period("b", 1, 3)) == ["a", "b"]


def info(*hosts: str | None) -> pl.DataFrame:
    """The head of reports of two hours of one instance, each hour of each host."""
    rows = [{**period(f"{host} {hour}", hour, hour + 1), "host": host} for host in hosts for hour in (0, 1)]
    return pl.DataFrame(rows, schema={**PERIODS, "host": pl.String})


def test_a_copy_of_a_database_on_another_host_is_another_instance() -> None:
    """It has the id, the names and the times of the original; a name that text reports cut is no other host."""
    names = [
        periods(info(*hosts))["instance_name"].unique().sort().to_list()
        for hosts in (("prod", "test"), ("prod", "prod.example.com"), ("prod", None), ("Prod", "prod"))
    ]

    assert names == [["i@prod", "i@test"], ["i"], ["i"], ["i"]]
    assert once(periods(info("prod", "test"))).height == 4
    moved = info("prod").vstack(info("test").with_columns(pl.col("begin_time", "end_time") + timedelta(hours=5)))
    assert periods(moved)["instance_name"].unique().to_list() == ["i"]


def test_reports_of_one_time_are_no_neighbours(tmp_path: Path) -> None:
    """A report that begins before the one before it ends shows no change: not of a wait, and not of a setting."""
    first, second = (SERIES / f"awrrpt_1_{snaps}.txt" for snaps in ("4102_4103", "4103_4104"))
    text = second.read_text(encoding="utf-8").replace(
        "filesystemio_options          NONE", "filesystemio_options          NO  "
    )
    for hour, are_there in (("19:00", True), ("18:30", False)):
        folder = tmp_path / hour.replace(":", "")
        folder.mkdir()
        (folder / first.name).write_bytes(first.read_bytes())
        (folder / second.name).write_text(text.replace("14-Sep-26 19:00", f"14-Sep-26 {hour}"), encoding="utf-8")
        line = read_timeline(folder, workers=1, progress=False)
        dataset.convert(folder, tmp_path / f"of {hour}", executor="serial")
        changes = [neighbour_changes(line), parameter_changes(line.parameters)]
        changes += [dataset.read_changes(tmp_path / f"of {hour}"), dataset.setting_changes(tmp_path / f"of {hour}")]

        assert line.periods.height == 2
        assert [one.height > 0 for one in changes] == [are_there] * 4


def test_where_db_time_rose_most_is_reported(line: Timeline) -> None:
    """The rise and its largest part are those of the two reports; a line that never rises has no such sentence."""
    settings = parameter_changes(line.parameters)
    busy = db_time_sessions(line.periods).sort("begin_time").get_column("value").to_list()
    (said,) = [one for one in timeline_sentences(line, neighbour_changes(line), settings) if "rose most" in one]
    before, after, share = (float(one) for one in re.findall(r"(?:from|to|sessions;) ([\d.]+)", said))
    at, part = (re.findall(pattern, said)[0] for pattern in (r"begins at ([-\d]+ [:\d]+),", "`(.*)`"))
    rows = line.sessions.filter(pl.col("begin_time").dt.to_string("%Y-%m-%d %H:%M") == at, wait_class=part)

    assert after - before == pytest.approx(max(two - one for one, two in pairwise(busy)), rel=0.01)
    assert 0 < share / 100 * (after - before) <= rows.item(0, "value")
    falling = replace(line, periods=line.periods.sort("begin_time").head(2))
    assert not [one for one in timeline_sentences(falling, neighbour_changes(line), settings) if "rose most" in one]


OLD = (Path(__file__).parents[1] / "awrparse" / "awr_data" / "valid" / "awr_text_102_rac.txt").read_text(
    encoding="utf-8"
)


def old_reports(folder: Path, *changes: tuple[str, str]) -> list[Path]:
    """Two hours of an instance of 10.2, which prints waits of foreground and background together."""
    later = OLD.replace("01-Feb-10 11:00:15", "01-Feb-10 12:00:20").replace("01-Feb-10 10:00:00", "01-Feb-10 11:00:15")
    later = later.replace("2,345       7       0.9", "4,690      14       0.9")
    paths = [folder / "first.txt", folder / "second.txt"]
    for path, text in zip(paths, (OLD, later.replace("1235", "1236").replace("1234", "1235")), strict=True):
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)  # noqa: PLW2901 - each change is made in the text of the one before
        path.write_text(text, encoding="utf-8")
    return paths


def test_waits_of_old_releases_are_compared(tmp_path: Path) -> None:
    """The foreground is all waits less those of the background; idle events have no share that tells them there."""
    line = read_timeline(old_reports(tmp_path), workers=1, progress=False)
    row = neighbour_changes(line).row(0, named=True)

    assert (row["event"], row["direction"]) == ("db file sequential read", "up")
    assert row["a_lo"] <= 1000 * 2345 / 345678 <= row["a_hi"]
    assert 1.9 < row["at_least"] < 2
    assert not line.events.filter(pl.col("event").str.contains("from client")).height
    assert not line.diagnostics.filter(pl.col("text").is_in(["foreground_events", "wait_events"])).height


def test_background_waits_are_no_foreground_waits(tmp_path: Path) -> None:
    """What the background waited is taken off, with the rounding of both figures; without its table all is unknown."""
    old = "log file parallel write              23,456     .0          43       2       0.1"
    new = "db file sequential read             100,000     .0         345       3       0.1"
    line = read_timeline(old_reports(tmp_path, (old, new)), workers=1, progress=False)
    reads = line.latencies.filter(event="db file sequential read").row(0, named=True)

    assert reads["waits"] == 245678
    assert (reads["lo"], reads["hi"]) == pytest.approx((1999 * 1000 / 245678, 2001 * 1000 / 245678))
    unknown = read_timeline(old_reports(tmp_path, ("Background Wait Events ", "Other Waits            ")), workers=1)
    assert unknown.latencies.is_empty()
    said = timeline_sentences(unknown, neighbour_changes(unknown), pl.DataFrame(schema=PARAMETER_CHANGES))
    assert said[-1] == "No average was compared: the reports list no such waits of foreground sessions."


def rise_of(line: Timeline) -> str:
    """Where DB time rose most."""
    (said,) = [
        one
        for one in timeline_sentences(line, neighbour_changes(line), pl.DataFrame(schema=PARAMETER_CHANGES))
        if "rose" in one
    ]
    return said


def test_parts_of_a_rise_keep_their_rounding(line: Timeline) -> None:
    """A class that may be all of the rise is no sign that others fell; one that is surely more than all of it is."""
    classes = {"`User I/O`": line.sessions.filter(wait_class="User I/O")}
    first, second = line.periods.sort("begin_time").head(2).get_column("report")
    two = replace(line, periods=line.periods.filter(pl.col("report").is_in([first, second])))
    busy = two.periods.with_columns(db_time_s=pl.when(pl.col("report") == first).then(36000.0).otherwise(36006.0))

    def said(rise: float, half: float) -> str:
        later = pl.col("report") == second
        rows = classes["`User I/O`"].with_columns(value=pl.when(later).then(2.0 + rise).otherwise(2.0))
        rows = rows.with_columns(lo=pl.col("value") - half, hi=pl.col("value") + half)
        return rise_of(replace(two, periods=busy, sessions=rows, breaks=line.breaks.clear()))

    rise = db_time_sessions(busy).sort("begin_time").get_column("value").diff().item(1)
    assert "fell" not in said(1.01 * rise, 0.0)
    assert "100 % of the rise is `User I/O`" in said(1.01 * rise, 0.0)
    assert "`User I/O` rose by" in said(5 * rise, 0.0)
    assert "some other parts fell" in said(5 * rise, 0.0)
    assert "%" not in said(1.01 * rise, 2 * abs(rise))


def test_figures_that_differ_are_not_printed_as_one(line: Timeline) -> None:
    """A rise of DB time is told with the digits that show it."""
    first, second = line.periods.sort("begin_time").head(2).get_column("report")
    later = pl.when(pl.col("report") == second).then(188_800.0).otherwise(188_700.0)
    busy = line.periods.filter(pl.col("report").is_in([first, second])).with_columns(db_time_s=later, elapsed_s=3600.0)
    spans = busy.with_columns(end_time=pl.col("begin_time") + timedelta(hours=1))
    before, after = re.findall(r"from ([\d.]+) to ([\d.]+)", rise_of(replace(line, periods=spans)))[0]

    assert float(before) < float(after)


@pytest.mark.parametrize("missing", [0, 1])
def test_a_table_that_is_missing_is_not_zero(line: Timeline, missing: int) -> None:
    """Where one of two reports has no classes, no class is named as the part of the rise; the rise itself is."""
    whole = rise_of(line)
    at = re.findall(r"begins at ([-\d]+ [:\d]+),", whole)[0]
    ordered = line.periods.sort("begin_time").with_columns(at=pl.col("begin_time").dt.to_string("%Y-%m-%d %H:%M"))
    place = ordered.get_column("at").to_list().index(at)
    lacking = ordered.get_column("report")[place - 1 + missing]
    assert "% of the rise is" in whole
    assert rise_of(replace(line, sessions=line.sessions.filter(pl.col("report") != lacking))).endswith(
        "active sessions."
    )


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    """A day beside its hours, and a file that is of no instance and period, are in the answer."""
    for name in ("awrrpt_1_4102_4103.txt", "awrrpt_1_4103_4104.txt"):
        shutil.copy(SERIES / name, tmp_path)
    day = (SERIES / "awrrpt_1_4102_4103.txt").read_text(encoding="utf-8")
    ends = re.findall(r"End Snap: .*", (SERIES / "awrrpt_1_4103_4104.txt").read_text(encoding="utf-8"))
    (tmp_path / "day.txt").write_text(re.sub(r"End Snap: .*", ends[0], day), encoding="utf-8")
    shutil.copy(Path(__file__).parents[2] / "sample_data/articles/003_filesystemio_none.txt", tmp_path)
    line = read_timeline(tmp_path, workers=1, progress=False)
    said = timeline_sentences(line, neighbour_changes(line), pl.DataFrame(schema=PARAMETER_CHANGES))

    assert line.periods.height == 2
    assert said[1] == "Left out: 1 report of the time of others, 1 file without one instance and a valid period."
    assert not [one for one in said if "overlap" in one]
