"""Findings of a run of SLOB with its report: its rates, a report of a part of the run, and what cannot be said."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import awrparse
import iolab
from hostparse import read_slob
from iolab.metrics import statistic
from iolab.rules.run import findings_together
from iolab.rules.slob import slob_and_report

if TYPE_CHECKING:
    from awrparse import AwrReport


@pytest.fixture(scope="module")
def report(sample_data: Path) -> AwrReport:
    """A report with its length and totals of requests."""
    return awrparse.read_awr(sample_data / "awr_series" / "awrrpt_1_4104_4105.txt")


def said(settings: str, report: AwrReport) -> list[tuple[str, str]]:
    """Name and sentence of what both say together."""
    pair = slob_and_report(("slob.conf", read_slob(settings.encode())), ("awr.txt", report))
    return [(one.name, one.sentence) for one in pair]


def test_the_rates_of_a_run(report: AwrReport) -> None:
    """Requests of the report by its length, with the setting; no rate of settings that do not name it."""
    [(name, sentence)] = said("UPDATE_PCT=20\nRUN_TIME=300\n", report)
    reads = statistic(report, "physical read total IO requests")
    assert reads is not None
    assert report.info.elapsed_s is not None

    assert name == "slob_rate"
    assert sentence.startswith("With UPDATE_PCT 20 the database of awr.txt did ")
    rate = float(sentence.partition(" did ")[2].split()[0].replace(",", ""))
    assert rate == pytest.approx(reads.value / report.info.elapsed_s, rel=0.005)
    assert said("SCALE=250000\nWORK_LOOP=0\n", report) == []


@pytest.mark.parametrize("work", ["UPDATE_PCT=20\nRUN_TIME=99999\n", "1|9999900|1354|0.014|\n2|9999900|1354|0.014|\n"])
def test_a_report_of_a_part_of_the_run(work: str, report: AwrReport) -> None:
    """By the setting, or by the time that users worked, the run was longer than the report."""
    name, sentence = said(work, report)[0]

    assert name == "slob_part"
    assert sentence.endswith("the report is of a part of the run.")


def test_a_report_without_requests(report: AwrReport) -> None:
    """Nothing is said of rates that the report does not count."""
    pair = slob_and_report(
        ("slob.conf", read_slob(b"UPDATE_PCT=20\nRUN_TIME=300\n")), ("old.txt", _without_activity(report))
    )
    assert [(one.name, one.is_refused) for one in pair] == [("slob_rate", True)]


def _without_activity(report: AwrReport) -> AwrReport:
    lines = Path(report.source).read_text(encoding="utf-8").split("\n")
    return awrparse.read_awr("\n".join(line for line in lines if "IO requests" not in line).encode())


def test_the_logs_of_a_run_together(report: AwrReport) -> None:
    """Six logs of a run are compared with its report; as many logs of one format are not."""
    users = iolab.load(b"1|30000|1203|4.010|\n")
    settings = iolab.load(b"UPDATE_PCT=20\nRUN_TIME=300\n")
    row = b"procs -----------memory---------- -----io---- -system-- ----cpu----\n"
    row += b" r  b   swpd   free  bi    bo   in   cs us sy id wa\n" + b" 9 0 0 9 0 0 1 1 25 5 70 0\n" * 9
    of_run = {"awr.txt": report, "db_stats.out": users, "slob.conf": settings, "vmstat.out": iolab.load(row)}
    more = {"mpstat.out": iolab.load(row), "other.out": iolab.load(row)}

    assert "slob_rate" in findings_together(list({**of_run, **more}.items()))["name"].to_list()
    assert findings_together([(str(number), settings) for number in range(5)] + [("awr.txt", report)]).is_empty()
