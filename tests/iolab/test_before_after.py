"""Two sets of logs, before and after a change: what changed, by how much, and what may not be compared."""

from pathlib import Path

import polars as pl
import pytest
from night_reports import report

from iolab import load
from iolab.cli import main
from iolab.comparison import UnpairedError, compare_sets
from logframe.formats import ParsedLog

SERIES = Path(__file__).parents[2] / "sample_data" / "awr_series"
ARTICLES = Path(__file__).parents[2] / "sample_data" / "articles"
CAPTURES = Path(__file__).parents[2] / "sample_data" / "captures"


def session(**seconds: float) -> ParsedLog:
    """A session that timed counts of tables."""
    lines = ["SQL> set timing on"]
    for table, time in seconds.items():
        lines += [f"SQL> select count(*) from {table};", "", "  COUNT(*)", "----------", "         1", ""]  # noqa: S608 - a log
        lines += [f"Elapsed: 00:00:{time:05.2f}", ""]
    return load("\n".join(lines).encode())


def row(frame: pl.DataFrame, quantity: str, event: str | None = None) -> dict[str, object]:
    """The row of one quantity, of an event where one is named."""
    found = frame.filter(quantity=quantity)
    return (found if event is None else found.filter(event=event)).row(0, named=True)


def test_a_pair_of_reports() -> None:
    """The parameter, the sessions and the reads of the two reports around the restart, with the bounds of rounding."""
    found = compare_sets({"evening": report(4107)}, {"night": report(4109)})

    assert found.settings.rows() == [("HARBOR/harbor1 (awr)", "filesystemio_options", "NONE", "SETALL", "changed")]
    sessions = row(found.load, "sessions_active")
    assert (sessions["before"], sessions["after"], sessions["change"]) == pytest.approx((4.293, 6.868, "up"), abs=1e-3)
    assert float(str(sessions["ratio_greatest"])) - float(str(sessions["ratio_least"])) < 0.001
    reads = row(found.latencies, "average", "db file sequential read")
    assert reads["ratio"] == pytest.approx(7.75, abs=0.01)
    assert row(found.latencies, "p95", "db file sequential read")["change"] == "up"
    first, second, *_ = found.sentences
    assert first.startswith("DB time rose from 4.29 to 6.87 sessions active (+60 %): `db file sequential read` rose by")
    assert second == "`db file sequential read` occurs 0.767 times as often, and takes 7.75 times as long each time."
    assert "1 setting changed: `filesystemio_options` NONE to SETALL." in found.sentences
    (change,) = found.changes
    assert change.parts.filter(part="DB CPU")["change"].item() == pytest.approx(-0.55, abs=0.01)
    assert change.parts.filter(part="User I/O")["a"].item() == pytest.approx(3_394 / (60.19 * 60), rel=1e-3)
    assert "different hours" in found.not_compared.item(0, "reason")


def test_sets_of_reports_have_ranges_and_verdicts() -> None:
    """Six reports a side: reads differ beyond doubt, the load of single hours does not; a setting differs in a set."""
    before = {str(number): report(number) for number in range(4102, 4108)}
    after = {str(number): report(number) for number in (4109, 4111, 4112, 4114, 4115)}
    few = compare_sets(before, after)
    assert row(few.load, "sessions_active")["change"] == "within the range of the set"
    many = compare_sets(before, after | {"html": load(SERIES / "awrrpt_1_4110_4111.html")})

    assert row(many.load, "sessions_active")["change"] == "undecided"
    reads = row(many.latencies, "average", "db file sequential read")
    assert (reads["reports_before"], reads["reports_after"], reads["change"]) == (6, 6, "up")
    assert float(str(reads["before_least"])) < 0.57 < 0.68 < float(str(reads["before_greatest"]))  # noqa: PLR0133
    mixed = many.settings.filter(setting="db_cache_size")
    assert mixed.item(0, "change") == "mixed"
    assert "Settings that differ within a set: `db_cache_size`." in many.sentences
    assert "4104 stands apart before the change: 0.215 sessions active, the others 1.11 to 4.29." in many.sentences
    assert "4112 stands apart after the change: 0.249 sessions active, the others 3.13 to 6.93." in many.sentences
    del before["4104"], after["4112"]
    assert not [said for said in compare_sets(before, after).sentences if "stands apart" in said]


def test_the_same_logs_on_both_sides_changed_nothing() -> None:
    """Every ratio is 1 within its bounds, and no sentence names a change."""
    found = compare_sets({"a": report(4107)}, {"b": report(4107)})

    assert found.settings.is_empty()
    for frame in (found.load, found.latencies):
        known = frame.drop_nulls("ratio")
        assert known.height
        assert (known["ratio_least"] <= 1).all()
        assert (known["ratio_greatest"] >= 1).all()
        assert set(frame["change"]) == {"within the range of the set"}
    assert found.sentences[0] == "DB time hardly changed (4.29 and 4.29 sessions active)."
    assert found.sentences[1] == "No setting that the reports show changed."
    assert "No average wait" in found.sentences[-2]
    assert "none took a fifth longer" in found.sentences[-1]


def test_databases_are_compared_with_themselves() -> None:
    """Of two databases each is compared with itself; one without a partner is named; a moved one is named as two."""
    other = ("HARBOR        2870431956 harbor1 ", "PIER          1870431956 pier1   ")
    both = compare_sets({"h": report(4107), "p": report(4107, other)}, {"h": report(4109), "p": report(4109, other)})
    assert both.load.filter(quantity="sessions_active").height == 2
    assert [one.partition(":")[0] for one in both.sentences[:1]] == ["HARBOR/harbor1 (awr)"]

    alone = compare_sets({"h": report(4107), "p": report(4107, other)}, {"h": report(4109)})
    assert "no report of PIER/pier1 (awr) is of after the change" in alone.not_compared["reason"].to_list()
    moved = compare_sets({"h": report(4107)}, {"p": report(4109, other)})
    names = moved.settings.filter(setting="db_name").select("before", "after").rows()
    assert names == [("HARBOR", "PIER")]


def test_sessions_find_the_session_that_ran_the_same() -> None:
    """Statements decide which sessions are a pair, not the order of files; what got slower is in a sentence."""
    before = {"x": session(orders=2.0, items=1.0), "y": session(stock=4.0)}
    after = {"q": session(stock=4.1), "p": session(orders=9.0, items=1.0)}
    found = compare_sets(before, after)

    assert [one.names for one in found.pairings] == [("x", "p"), ("y", "q")]
    assert "Slower: select count(*) from orders: 2 s -> 9 s" in found.sentences[0]


def test_logs_of_any_kind_and_those_without_a_partner() -> None:
    """A report, a session and a trace on each side; a second trace is left over, and said to be."""
    trace = load(CAPTURES / "sequential_direct_tt_T.strace")
    other = load(CAPTURES / "sequential_buffered_tt_T.strace")
    before = {"r": report(4107), "s": session(orders=2.0), "t": trace}
    after = {"r2": report(4109), "s2": session(orders=2.0), "t2": other, "t3": trace}
    found = compare_sets(before, after)

    assert found.load.height > 5
    assert [one.names for one in found.pairings] == [("s", "s2"), ("t", "t2")]
    assert "t3" in found.not_compared["what"].to_list()


def test_reports_that_contradict_themselves_are_named() -> None:
    """A figure that cannot be is a remark of the comparison."""
    line = "DB CPU                                                4,428.9    80.0"
    wrong = (line, line.replace(" 4,428.9", "64,428.9"))
    found = compare_sets({"a": report(4102, wrong)}, {"b": report(4103)})

    said = found.not_compared.filter(what="a")["reason"].to_list()
    assert len(said) == 1
    assert "class_above_db_time" in said[0]
    alike = compare_sets({"awr.txt": report(4102, wrong)}, {"awr.txt": report(4103)}).not_compared
    assert alike.filter(what="awr.txt")["reason"].to_list() == said


def test_sets_with_nothing_in_common_are_refused() -> None:
    """A report against a trace is no change."""
    with pytest.raises(UnpairedError, match="no log of before the change compares"):
        compare_sets({"r": report(4107)}, {"t": load(CAPTURES / "sequential_direct_tt_T.strace")})


def test_the_page_of_a_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`iolab report --before --after` writes one page: sentences first, then the tables, then what is left out."""
    page = tmp_path / "change.html"
    sides = [str(path) for number in (4107, 4109) for path in SERIES.glob(f"*_{number}_*.txt")]

    assert main(["report", "--before", sides[0], "--after", sides[1], "-o", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    body = text[text.index("<h1>") :]
    assert body.index("What changed") < body.index("(+60 %)") < body.index("<h2>Settings") < body.index("<h2>Load")
    assert "filesystemio_options" in body
    assert "different hours" in body
    assert "http" not in body.replace("http://www.w3.org", "")
    capsys.readouterr()
    for words in (["--before", sides[0]], [sides[0], "--before", sides[0], "--after", sides[1]], []):
        with pytest.raises(SystemExit) as refused:
            main(["report", *words, "-o", str(page)])
        assert refused.value.code == 2
    assert main(["report", "--before", sides[0], "--after", str(tmp_path / "none.txt"), "-o", str(page)]) == 1
