"""Findings: their frame, their order, the words they never use, and gates that silence what would follow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import awrparse
import iolab
from iolab.metrics.report_facts import ReportFacts, Wait
from iolab.metrics.report_figures import report_facts
from iolab.rules import gates, load, profile
from iolab.rules.finding import FINDINGS, Finding, findings_frame
from logframe import LogParseError
from logframe.interval import Interval

ROOT = Path(__file__).parents[2]
#: Words of folklore: verdicts that no log supports.
FOLKLORE = (
    *("bottleneck", "healthy", "poor", "root cause", "overloaded", "undersized", "oversized", "should", "hit ratio"),
    *("is bad", "is good", "slow disk", "bad disk", "add cpu", "increase log_buffer", "tune ", "starvation"),
    *(
        "contention is",
        "recommend",
        "best practice",
        "knee",
        "asynchronous is faster",
        "direct is faster",
        "so it is not",
    ),
)


def _sample_logs() -> list[Path]:
    folder = ROOT / "sample_data"
    return [
        path for part in ("articles", "awr_series", "captures", "runs") for path in sorted((folder / part).iterdir())
    ]


@pytest.fixture(scope="module")
def found() -> dict[str, pl.DataFrame]:
    """The findings of every log of the project."""
    logs = {}
    for path in _sample_logs():
        try:
            logs[path.name] = iolab.findings(iolab.load(path))
        except LogParseError:
            continue
    return logs


def test_every_sample_log_gives_the_columns_of_findings(found: dict[str, pl.DataFrame]) -> None:
    """The columns are the same for reports, sessions and traces, and ranks count from 1."""
    assert len(found) > 20
    for name, frame in found.items():
        assert frame.schema == FINDINGS, name
        assert list(range(1, frame.height + 1)) == frame["rank"].to_list(), name


def test_no_sentence_uses_words_of_folklore(found: dict[str, pl.DataFrame]) -> None:
    """Neither the sentences of sample logs nor any text in the rules holds a verdict that no log supports."""
    texts = [text for frame in found.values() for text in (*frame["sentence"], *frame["detail"].drop_nulls())]
    assert texts
    assert [(word, text) for text in texts for word in FOLKLORE if word in text.lower()] == []
    rules = (ROOT / "iolab" / "rules").glob("*.py")
    assert [
        (path.name, line)
        for path in rules
        for line in path.read_text(encoding="utf-8").splitlines()
        for word in FOLKLORE
        if word in line.lower()
    ] == []


def test_figures_lie_within_their_bounds(found: dict[str, pl.DataFrame]) -> None:
    """An impact has bounds that hold it, from 0 to 1, and a refused finding has none."""
    for name, frame in found.items():
        known = frame.filter(pl.col("impact").is_not_null())
        assert known.filter(
            ~pl.col("impact").is_between("impact_lo", "impact_hi") | (pl.col("impact_hi") > 1) | pl.col("refused")
        ).is_empty(), name


def test_sentences_are_short_and_end_with_a_point(found: dict[str, pl.DataFrame]) -> None:
    """A sentence is one, of at most 40 words with its figures."""
    for frame in found.values():
        for sentence in frame["sentence"]:
            assert sentence.endswith(".")
            assert len(sentence.split()) <= 40, sentence


def test_a_contradiction_silences_every_share() -> None:
    """Where DB CPU and DB time contradict each other no rule gives an impact."""
    wait = Wait(Interval.exact(10_000), Interval.exact(400))
    facts = ReportFacts(
        elapsed_s=Interval.exact(3_600),
        db_time_s=Interval.exact(500),
        db_cpu_s=Interval.exact(900),
        parse_s=Interval.exact(300),
        events={"db file sequential read": wait, "enq: TX - row lock contention": wait},
        classes={"User I/O": Interval.exact(400), "Application": Interval.exact(400)},
    )
    rules = (load.load, load.cpu_is_the_time, load.parse_time, load.db_time_unaccounted, profile.main_statement)

    assert [one.is_gate for one in gates.impossible_figure(facts)] == [True]
    assert [one for rule in (*rules, profile.lock_waits) for one in rule(facts)] == []


def test_rank_has_two_gates_the_load_and_falling_impacts() -> None:
    """A third gate comes after what has an impact; what the log cannot tell is last."""
    impacts = [Finding(str(share), ".", Interval(share, share, share)) for share in (0.1, 0.4, 0.2)]
    others = [Finding("x", ".", is_gate=True)] * 3 + [
        Finding("load", ".", order=0),
        Finding("no", ".", is_refused=True),
    ]

    names = findings_frame([*others, *impacts])["name"].to_list()

    assert names == ["x", "x", "load", "0.4", "0.2", "0.1", "x", "no"]


def test_two_reports_begin_with_their_change() -> None:
    """Of two reports the change stands first, and belongs to neither of them."""
    folder = ROOT / "sample_data" / "awr_series"
    paths = sorted(folder.glob("*.txt"))[:2]

    frame = iolab.findings({path.name: iolab.load(path) for path in paths})

    assert frame.item(0, "log") is None
    assert frame.item(0, "name") == "load"
    assert "DB time fell from" in frame.item(0, "sentence")
    assert [None, *(path.name for path in paths)] == frame["log"].unique(maintain_order=True).to_list()


def test_waits_of_all_processes_are_not_those_of_the_foreground() -> None:
    """Where a report prints all waits and those of the background, the foreground is the difference."""
    heading = "{}   DB/Inst: X/x  Snaps: 1-2\n\n"
    columns = (
        "                                                                 Avg\n"
        "                                        %Time    Total Wait     wait     Waits\n"
        "Event                             Waits -outs      Time (s)     (ms)      /txn\n"
        "---------------------------- ---------- ----- ------------- -------- ---------\n"
    )
    row = "{:28} {:>10,}    .0 {:>13,} {:>8} {:>9}\n"
    writes = row.format("log file parallel write", 1000, 90, 90, "1.0")
    every = heading.format("Wait Events") + columns + writes
    every += row.format("db file sequential read", 5000, 60, 12, "5.0")
    behind = heading.format("Background Wait Events") + columns + writes
    report = awrparse.read_awr((every + "\n" + behind).encode(), printed=True)

    facts = report_facts(report)

    assert "wait_events" in report.tables
    assert list(facts.events) == ["db file sequential read"]
    assert facts.background["log file parallel write"].waits.value == 1000


def test_a_cut_report_says_nothing_of_missing_time() -> None:
    """Of a report that ends early, DB time that its tables do not explain is no finding."""
    facts = ReportFacts(
        elapsed_s=Interval.exact(3_600),
        db_time_s=Interval.exact(5_000),
        db_cpu_s=Interval.exact(500),
        events={"db file sequential read": Wait(Interval.exact(10_000), Interval.exact(400))},
    )

    assert len(list(load.db_time_unaccounted(facts))) == 1
    assert list(load.db_time_unaccounted(replace(facts, is_cut=True))) == []


def test_findings_take_what_load_takes(tmp_path: Path) -> None:
    """A path, bytes, an open file, a log, and lists of them; a name of no file is an error, never an empty frame."""
    path = ROOT / "sample_data" / "articles" / "003_filesystemio_none.txt"
    expected = iolab.findings(iolab.load(path))
    with path.open("rb") as file:
        for given in (path, str(path), path.read_bytes(), file):
            assert iolab.findings(given)["sentence"].to_list() == expected["sentence"].to_list()
    assert set(iolab.findings([str(path), path.read_bytes()])["log"].drop_nulls()) == {path.name, "<bytes>"}
    for wrong in ("no_such_log.txt", tmp_path / "none", ["no_such_log.txt"]):
        with pytest.raises(FileNotFoundError):
            iolab.findings(wrong)


def test_a_parameter_without_its_name_is_none() -> None:
    """A value whose name a copy lost is a row with a diagnostic, and breaks no finding."""
    text = (ROOT / "sample_data" / "one_case" / "awrrpt_1_881_882.txt").read_text()
    row = "\ncompatible      "
    assert row in text
    report = iolab.load(text.replace(row, f"\n{' ' * 30}lost of its name{row}").encode())
    assert report["parameters"].get_column("parameter").null_count() == 1
    found, before = (iolab.findings(one).get_column("sentence") for one in (report, text.encode()))
    assert set(before) <= set(found)
