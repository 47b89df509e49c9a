"""Several sets of logs against the first, and which reports are of one system and time."""

from pathlib import Path

import polars as pl
import pytest
from night_reports import report

from iolab import load
from iolab.cli import main
from iolab.comparison import UnpairedError, compare_sets, compare_several, pair
from iolab.comparison.several_sets import moved
from iolab.evidence import read_timeline
from logframe.formats import ParsedLog

SERIES = Path(__file__).parents[2] / "sample_data" / "awr_series"
PLUGGABLE = """<html><head><title>AWR Report for PDB</title></head><body>
<h1>WORKLOAD REPOSITORY PDB report (root snapshots)</h1>
<table border="0" summary="This table displays database instance information">
<tr><th>DB Name</th><th>DB Id</th><th>Unique Name</th><th>Role</th><th>Edition</th><th>Release</th><th>RAC</th>
<th>CDB</th></tr>
<tr><td>GROVE</td><td>1234567</td><td>GROVE</td><td>PRIMARY</td><td>EE</td><td>19.0.0.0.0</td><td>NO</td><td>YES</td></tr>
</table>
<table border="0" summary="This table displays instance information">
<tr><th>Instance</th><th>Inst Num</th><th>Startup Time</th></tr>
<tr><td>grove1</td><td>1</td><td>01-Feb-26 07:00</td></tr></table>
<table border="0" summary="This table displays container information">
<tr><th>Container DB Id</th><th>Container Name</th><th>Open Time</th></tr>
<tr><td>7654321</td><td>{name}</td><td>01-Feb-26 07:05:00</td></tr></table>
<table border="0" summary="This table displays snapshot information">
<tr><th></th><th>Snap Id</th><th>Snap Time</th><th>Sessions</th><th>Cursors/Session</th></tr>
<tr><td>Begin Snap:</td><td>{snap}</td><td>02-Feb-26 {hour:02}:00:00</td><td>40</td><td>1.0</td></tr>
<tr><td>End Snap:</td><td>{after}</td><td>02-Feb-26 {after_hour:02}:00:00</td><td>41</td><td>1.0</td></tr>
<tr><td>Elapsed:</td><td></td><td>60.00 (mins)</td><td></td><td></td></tr>
<tr><td>DB Time:</td><td></td><td>{minutes:.2f} (mins)</td><td></td><td></td></tr></table>
</body></html>"""


def pluggable(name: str, *, hour: int = 8, minutes: float = 30.0) -> str:
    """A report on one pluggable database."""
    return PLUGGABLE.format(name=name, snap=hour, hour=hour, after=hour + 1, after_hour=hour + 1, minutes=minutes)


def session(seconds: float) -> ParsedLog:
    """A session that timed one statement."""
    lines = ["SQL> set timing on", "SQL> execute work;", "", f"Elapsed: 00:00:{seconds:05.2f}", ""]
    return load("\n".join(lines).encode())


def test_each_set_is_compared_with_the_first() -> None:
    """The overview has the first set without, the others with a ratio to it; each quantity once a set."""
    sets: dict[str, dict[str, ParsedLog]] = {
        "none": {"a": report(4107)},
        "setall": {"b": report(4109)},
        "late": {"c": report(4111)},
    }
    found = compare_several(sets)

    assert (found.names, list(found.steps)) == (("none", "setall", "late"), ["setall", "late"])
    sessions = found.overview.filter(quantity="sessions_active")
    assert sessions["set"].to_list() == ["none", "setall", "late"]
    assert sessions["ratio"].is_null().to_list() == [True, False, False]
    one, two, three = sessions["value"].to_list()
    assert sessions["ratio"].to_list()[1:] == pytest.approx([two / one, three / one])
    assert not found.overview.select("instance", "event", "quantity", "set").is_duplicated().any()
    assert "setall: 1 setting changed: `filesystemio_options` NONE to SETALL." in str(found).splitlines()
    assert str(found).startswith("setall: DB time rose from 4.29 to 6.87 sessions active")
    changed = moved(found.overview)
    assert set(changed["quantity"]) >= {"sessions_active"}
    assert changed.height < found.overview.height


def test_sets_that_share_nothing_are_named_or_refused() -> None:
    """A set of another kind is named; where all are, or there is one set, it is an error."""
    sets: dict[str, dict[str, ParsedLog]] = {
        "a": {"r": report(4107)},
        "b": {"s": session(2)},
        "c": {"r2": report(4109)},
    }
    found = compare_several(sets)
    assert list(found.steps) == ["c"]
    assert "no log of before the change compares" in found.refused["b"]
    with pytest.raises(UnpairedError, match="b against a: no log"):
        compare_several({"a": sets["a"], "b": sets["b"]})
    with pytest.raises(UnpairedError, match="2 sets or more, got 1"):
        compare_several({"a": sets["a"]})


def test_the_page_of_several_sets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`iolab report --set`: all sets side by side, then a section a set; wrong words are errors of the command line."""
    page = tmp_path / "sets.html"
    paths = {number: next(SERIES.glob(f"*_{number}_*")) for number in (4107, 4109, 4111, 4112)}
    words = [f"none={paths[4107]}", f"setall={paths[4109]}", f"late={paths[4111]}", f"late={paths[4112]}"]

    assert main(["report", *(one for word in words for one in ("--set", word)), "-o", str(page)]) == 0
    body = page.read_text(encoding="utf-8")
    body = body[body.index("<h1>") :]
    assert body.index("All sets") < body.index("setall against none") < body.index("late against none")
    overview = body[: body.index("setall against none")]
    assert ": 1.60 times, up" in overview
    assert " to " in overview
    capsys.readouterr()
    for wrong in (["--set", words[0]], ["--set", "none"], ["--set", f"={paths[4107]}", "--set", words[0]]):
        with pytest.raises(SystemExit) as refused:
            main(["report", *wrong, "-o", str(page)])
        assert refused.value.code == 2


def test_two_pluggable_databases_are_two_systems(tmp_path: Path) -> None:
    """Reports of two pluggable databases of one instance and period: no repeat, no set, no change of one system."""
    one, two, later = pluggable("APPLE"), pluggable("PEAR", minutes=50), pluggable("APPLE", hour=10, minutes=60)
    for name, text in (("a", one), ("b", two), ("c", later)):
        (tmp_path / f"{name}.html").write_text(text, encoding="utf-8")
    line = read_timeline(tmp_path, workers=1)
    assert line.instances == ["grove1/APPLE", "grove1/PEAR"]
    assert "repeat" not in line.breaks["kind"].to_list()

    before, after = {"a": load(one.encode()), "b": load(two.encode())}, {"c": load(later.encode())}
    found = compare_sets(before, after)

    assert found.load.filter(quantity="sessions_active").select("before", "after").row(0) == (0.5, 1.0)
    assert found.load["instance"].to_list() == ["GROVE/grove1/APPLE (awr_pdb)"]
    assert any("GROVE/grove1/PEAR" in reason for reason in found.not_compared["reason"])


def test_reports_of_one_time_count_once_and_are_named() -> None:
    """Text and HTML of one report are one; one report on both sides, and sets in the other order, are remarks."""
    twice = compare_sets({"a": report(4107), "again": report(4107)}, {"b": report(4109)})
    assert twice.load["reports_before"].unique().to_list() == [1]
    assert "of the same snapshots as a: it counts once" in twice.not_compared["reason"].to_list()

    same = compare_sets({"a": report(4107)}, {"b": report(4107)})
    assert "a of before and b of after the change are of one time" in same.not_compared["reason"].to_list()
    back = compare_sets({"a": report(4109)}, {"b": report(4107)})
    said = "the reports of before the change are of a later time than those of after it"
    assert said in back.not_compared["reason"].to_list()
    right = compare_sets({"a": report(4107)}, {"b": report(4109)}).not_compared["reason"]
    assert not right.str.contains("one time|later time").any()


def test_a_table_of_two_databases_says_which() -> None:
    """Each row of a comparison of two databases names its own."""
    other = ("HARBOR        2870431956 harbor1 ", "PIER          1870431956 pier1   ")
    sides = [{"h": report(number), "p": report(number, other)} for number in (4107, 4109)]
    found = compare_sets(*sides)
    for frame in (found.settings, found.load, found.latencies, found.statements):
        assert set(frame["instance"]) == {"HARBOR/harbor1 (awr)", "PIER/pier1 (awr)"}
        assert frame.select(pl.exclude("instance")).is_duplicated().any()


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [("harbor1 ", "harbor9 ", "instance"), ("quay07", "brig42", "host"), ("2870431956", "2870431957", "database id")],
)
def test_two_systems_are_said_first(old: str, new: str, what: str) -> None:
    """Reports of another instance, host or database are no change of one system: the first sentence says so."""
    other = report(4107, (old, new))
    found = compare_sets({"a": other}, {"b": report(4109)})
    assert found.sentences[0].startswith(f"The {what} differs (")
    assert pair(other, report(4109), names=("a", "b")).verdict.startswith(f"The {what} differs (")
    same = pair(report(4107), report(4109), names=("a", "b"))
    assert same.verdict.startswith("DB time rose from 4.29")


@pytest.mark.parametrize(
    ("old", "new", "lacks"),
    [
        ("Elapsed:               60.19", "Elapsed:           60,190.00", {"sessions_active", "read_iops"}),
        ("Elapsed:               60.19", "Elapsed:                0.00", {"sessions_active", "read_iops"}),
        ("DB Time:              258.39", "DB Time:           99,999.00", {"sessions_active"}),
    ],
)
def test_a_head_that_the_report_contradicts_gives_no_rates(old: str, new: str, lacks: set[str]) -> None:
    """A wrong length or DB time is in no rate, session or share; a remark says why, and averages of waits remain."""
    found = compare_sets({"a": report(4107, (old, new))}, {"b": report(4109)})

    assert not lacks & set(found.load["quantity"])
    assert found.not_compared.height
    assert found.latencies.height
    if "DB Time" in old:
        assert found.load.height
        assert found.statements["share_pct_before"].null_count() == found.statements.height
    else:
        assert found.statements["executions_per_s_before"].null_count() == found.statements.height
