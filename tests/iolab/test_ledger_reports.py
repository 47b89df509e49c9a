"""Ledgers of AWR and Statspack reports: small reports with known accounts, void ones, and the real ones."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import polars as pl
import pytest

import iolab
from iolab.metrics.ash import Queue
from iolab.metrics.report_facts import ReportFacts, Samples, Statement, Wait
from iolab.pages.ledger_text import first_screen
from iolab.pages.report_summary import report_headline
from iolab.rules.compare_report import both_periods, compare_findings
from iolab.rules.finding import findings_frame
from iolab.rules.load import db_time_unaccounted
from iolab.rules.registry import apply_rules
from iolab.rules.time_parts import with_ledger
from iolab.time_ledger.reports import ledger_of, report_ledgers
from logframe.interval import Interval

if TYPE_CHECKING:
    from awrparse import AwrReport
    from iolab.time_ledger import Ledger

ROOT = Path(__file__).parents[2]
SERIES = ROOT / "sample_data" / "awr_series"
HEAD = """
WORKLOAD REPOSITORY report for

DB Name         DB Id    Instance     Inst Num Startup Time    Release     RAC
------------ ----------- ------------ -------- --------------- ----------- ---
PLUM          1234567890 plum1               1 {startup} 11.2.0.4.0  NO

Host Name        Platform                         CPUs Cores Sockets Memory(GB)
---------------- -------------------------------- ---- ----- ------- ----------
fig              Linux x86 64-bit                    8     8       2       7.80

              Snap Id      Snap Time      Sessions Curs/Sess
            --------- ------------------- -------- ---------
Begin Snap:       100 02-Jan-15 10:00:00        50       1.7
  End Snap:       101 02-Jan-15 11:00:00        52       1.8
   Elapsed:               60.00 (mins)
   DB Time:            {minutes:>8.2f} (mins)

"""
TITLE = "{:45}DB/Inst: PLUM/plum1  Snaps: 100-101\n"
END = "          -------------------------------------------------------------\n\n"
CLASS = """{}
                                     %Time      Total Wait         Avg
Wait Class                     Waits -outs        Time (s)   wait (ms)  %DB time
-------------------- --------------- ----- --------------- ----------- ---------
"""
EVENT = """
                                                Total
                                       %Time     Wait        Avg    Waits   % {}
Event                            Waits -outs Time (s)  wait (ms)     /txn   time
-------------------------- ----------- ----- -------- ---------- -------- ------
"""
MODEL = """
                                                                 % of % of Total
Statistic Name                                       Time (s) DB Time   CPU Time
------------------------------------------ ------------------ ------- ----------
"""
SQL = """{}
         Elapsed                 Elapsed Time
        Time (s)     Executions  per Exec (s) %Total   %CPU    %IO SQL Id
---------------- -------------- ------------- ------ ------ ------ -------------
"""
STATEMENTS = (
    ("1abcdefghijk1", 500.0, "select weight from plums"),
    ("2abcdefghijk2", 90.0, "update plums set ripe = 1"),
    ("3abcdefghijk3", 520.0, "begin pick_all; end;"),
)
CLASSES = (("User I/O", 60_000, 600), ("Commit", 2_000, 50))
EVENTS = (
    ("db file sequential read", 50_000, 540),
    ("db file scattered read", 10_000, 58),
    ("log file sync", 2_000, 50),
)


def report(
    *,
    startup: str = "01-Jan-15 00:03",
    db_time: float = 1_000.0,
    db_cpu: float = 250.0,
    classes: tuple[tuple[str, int, float], ...] = CLASSES,
    events: tuple[tuple[str, int, float], ...] = EVENTS,
    statements: tuple[tuple[str, float, str], ...] = STATEMENTS,
    class_notes: str = "",
    sql_notes: str = "-> Captured SQL account for   62.0% of Total DB Time (s):           1,000\n",
    plsql: float = 20.0,
) -> bytes:
    """A text report with these times in s."""
    text = HEAD.format(startup=startup, minutes=db_time / 60)
    text += TITLE.format("Time Model Statistics") + MODEL
    model = (("DB CPU", db_cpu), ("PL/SQL execution elapsed time", plsql), ("DB time", db_time))
    for name, seconds in (*model, ("background elapsed time", 40.0), ("background cpu time", 10.0)):
        text += f"{name:42} {seconds:>18,.1f}\n"
    text += END + TITLE.format("Foreground Wait Class") + CLASS.format(class_notes)
    for name, waits, seconds in classes:
        text += f"{name:20} {waits:>15,} {'':5} {seconds:>15,.0f} {'':11} {100 * seconds / max(db_time, 1):>9.1f}\n"
    text += END
    for title, short, rows in (
        ("Foreground Wait Events", "DB", events),
        ("Background Wait Events", "bg", (("log file parallel write", 900, 25), ("Streams AQ: plum timer", 4, 3_600))),
    ):
        text += TITLE.format(title) + EVENT.format(short)
        for name, waits, seconds in rows:
            text += f"{name[:26]:26} {waits:>11,} {'':5} {seconds:>8,.0f}\n"
        text += END
    text += TITLE.format("SQL ordered by Elapsed Time") + SQL.format(sql_notes)
    for sql_id, seconds, words in statements:
        share = 100 * seconds / max(db_time, 1)
        text += f"{seconds:>16,.1f} {100:>14,} {seconds / 100:>13,.2f} {share:>6.1f} {10.0:>6} {80.0:>6} {sql_id}\n"
        text += f"{words}\n\n"
    text += END + TITLE.format("Instance Activity Stats") + "\n"
    text += "Statistic                                     Total     per Second     per Trans\n"
    text += "-------------------------------- ------------------ -------------- -------------\n"
    return (text + "session logical reads                     1,000,000          277.8          10.0\n" + END).encode()


def rows_of(ledger: Ledger, view: str = "what") -> list[tuple[str, str | None, str, float]]:
    """Name, parent, kind and seconds of the parts."""
    return ledger.parts(view).select("name", "parent", pl.col("kind").cast(pl.String), "seconds").rows()


def assert_conserved(ledger: Ledger) -> None:
    """In every view the children of a part add up to it, and nothing is more than the whole."""
    assert ledger.total is not None
    assert ledger.views
    for view in ledger.views:
        parts = ledger.parts(view)
        sums = parts.group_by("parent").agg(pl.col("seconds").sum())
        wholes = {None: ledger.total.value, **dict(parts.select("part", "seconds").iter_rows())}
        for parent, total in sums.iter_rows():
            assert total == pytest.approx(wholes[parent], abs=1e-6 * ledger.total.value), (view, parent)
        shares = parts.filter(pl.col("share").is_not_null(), pl.col("kind") != "counted_twice")
        assert shares.filter(~pl.col("share").is_between("share_lo", "share_hi")).is_empty()
        assert shares.filter((pl.col("share_lo") < 0) | (pl.col("share_hi") > 1)).is_empty()
        assert parts.filter(pl.col("own_lo") > pl.col("own_hi")).is_empty()


def test_a_report_has_cpu_classes_events_and_what_is_neither() -> None:
    """1,000 s of DB time: 250 of CPU, 600 of reads, 50 of commits, and 100 that are neither."""
    ledger = iolab.ledger(report())

    assert_conserved(ledger)
    assert (ledger.base, ledger.scope, ledger.void, ledger.unshared) == ("DB time", "instance", "", "")
    assert rows_of(ledger) == [
        ("User I/O", None, "io", 600.0),
        ("db file sequential read", "User I/O", "io", 540.0),
        ("db file scattered read", "User I/O", "io", 58.0),
        ("unlisted in class", "User I/O", "unlisted", 2.0),
        ("DB CPU", None, "cpu", 250.0),
        ("Commit", None, "wait", 50.0),
        ("log file sync", "Commit", "wait", 50.0),
        ("unlisted in class", "Commit", "unlisted", 0.0),
        ("not accounted for", None, "not_accounted", 100.0),
    ]
    assert ledger.text == "DB time was 1,000 s in 3,600 s: little ran (0.278 sessions active)"
    assert report_headline(iolab.load(report())) == "AWR report, PLUM on fig, 11.2.0.4, 2015-01-02 10:00 to 11:00"


def test_the_bounds_are_those_of_the_printed_numbers() -> None:
    """Whole seconds of a class and a tenth of a second of DB time."""
    part = iolab.ledger(report()).parts().filter(name="User I/O")

    assert part.select("seconds_lo", "seconds_hi", "own_lo", "own_hi", "count").row(0) == (
        599.5,
        600.5,
        599.5,
        600.5,
        60_000,
    )


def test_time_that_is_counted_twice_takes_from_what_is_certainly_a_parts_own() -> None:
    """Of 900 s of waits and 250 s of CPU in 1,000 s, 150 s are in both, nobody knows in which."""
    ledger = iolab.ledger(
        report(classes=(("User I/O", 60_000, 900),), events=(("db file sequential read", 60_000, 900),))
    )

    assert_conserved(ledger)
    assert rows_of(ledger)[-1] == ("counted twice", None, "counted_twice", -150.0)
    own = dict(ledger.parts().select("name", pl.concat_list("own_lo", "own_hi")).iter_rows())
    assert own["db file sequential read"] == pytest.approx([748.9, 900.5], abs=0.7)
    assert own["DB CPU"] == pytest.approx([99.4, 250.05], abs=0.7)


def test_statements_are_parts_and_plsql_that_calls_them_is_none() -> None:
    """Captured 62 % = 620 s: 590 of it listed, 20 PL/SQL itself, and the rest not captured."""
    ledger = iolab.ledger(report())

    assert rows_of(ledger, "who") == [
        ("1abcdefghijk1 select weight from plums", None, "mixed", 500.0),
        ("2abcdefghijk2 update plums set ripe = 1", None, "mixed", 90.0),
        ("PL/SQL itself", None, "mixed", 20.0),
        ("3abcdefghijk3 begin pick_all; end;", None, "contains", 0.0),
        ("not captured", None, "not_accounted", pytest.approx(360.0)),
        ("captured, not listed", None, "unlisted", pytest.approx(30.0)),
    ]
    contains = ledger.remarks.filter(role="contains").select("part", "text").row(0)
    assert contains == ("3abcdefghijk3 begin pick_all; end;", "520 s with what it calls")


def test_the_own_time_of_plsql_is_inside_statements_that_are_captured_whole() -> None:
    """Captured SQL of 98 % and 91 % in PL/SQL: the one is inside the other, and no part."""
    notes = "-> Captured SQL account for   98.0% of Total DB Time (s):           1,000\n"
    ledger = iolab.ledger(report(sql_notes=notes, plsql=910.0))

    assert "PL/SQL itself" not in ledger.parts("who")["name"]
    assert_conserved(ledger)


def test_a_class_that_its_events_contradict_is_left_out() -> None:
    """Concurrency is printed with the time of configuration waits: both classes go, the event stands by itself."""
    ledger = iolab.ledger(
        report(
            classes=(("Concurrency", 900, 600), ("Commit", 2_000, 50)),
            events=(("log buffer space", 900, 600), ("log file sync", 2_000, 50)),
        )
    )

    assert_conserved(ledger)
    assert [row[:2] for row in rows_of(ledger)[:2]] == [("log buffer space", None), ("DB CPU", None)]
    assert "Concurrency" in ledger.remarks.filter(rule="class_contradicted")["text"].item()


@pytest.mark.parametrize("width", [8, 11], ids=["time", "time and count"])
def test_a_time_too_wide_for_its_column_is_not_unaccounted(width: int) -> None:
    """`####` for the time of the largest event: waits x average have it, else its class does."""
    row = f"{'db file sequential read':26} {{:>11}} {'':5} {{:>8}}"
    old = row.format("50,000", "540").encode()
    assert old in report()
    waits = "50,000" if width == 8 else "#" * 11
    ledger = iolab.ledger(report().replace(old, f"{row.format(waits, '#' * 8)} {'10.8':>10}".encode()))

    assert_conserved(ledger)
    shares = dict(ledger.parts().select("name", "share").rows())
    assert shares["User I/O"] == pytest.approx(0.6)
    assert shares["not accounted for"] == pytest.approx(0.1)
    if width == 8:
        assert shares["db file sequential read"] == pytest.approx(0.54, abs=0.005)


def test_a_list_of_sql_alone_is_an_account_of_the_db_time_that_it_states() -> None:
    """The line above the list has DB time, and the statements their share of it."""
    sums = "-> Captured SQL account for   62.0% of Total DB Time (s):           1,000\n"
    text = report(sql_notes=sums)
    ledger = iolab.ledger(text[text.index(b"SQL ordered by Elapsed") : text.index(b"Instance Activity Stats")])

    assert ledger.total == Interval(1_000.0, 999.5, 1_000.5)
    assert ledger.parts("who").filter(kind="mixed")["share"].to_list() == pytest.approx([0.5, 0.09])
    assert ledger.parts().select("name", "kind").rows()[0] == (
        "CPU and waits, which the report does not contain",
        "not_in_log",
    )


def test_a_block_is_named_where_plsql_itself_is_large() -> None:
    """PL/SQL blocks contain what they call, so they are no parts; the longest is named with the time of PL/SQL."""
    statements = (("3abcdefghijk3", 990.0, "begin pick_all; end;"), ("1abcdefghijk1", 30.0, "select 1 from plums"))
    sums = "-> Captured SQL account for    3.0% of Total DB Time (s):           1,000\n"
    said = iolab.findings(iolab.load(report(statements=statements, sql_notes=sums, plsql=860.0)))
    none = iolab.findings(iolab.load(report()))

    block = said.filter(name="plsql_block").row(0, named=True)
    assert "`3abcdefghijk3` took 99 %" in block["sentence"]
    assert block["impact"] == pytest.approx(0.86)
    assert "plsql_block" not in none["name"].to_list()  # a statement is large: it is named


def test_the_share_of_a_large_part_is_said_whatever_a_rule_adds() -> None:
    """A rule that explains the average of commits does not replace the share of DB time that they took."""
    text = report(classes=(("Commit", 20_000, 600),), events=(("log file sync", 20_000, 600),))
    text = text.replace(f"{900:>11,} {'':5} {25:>8,}".encode(), f"{9_000:>11,} {'':5} {25:>8,}".encode())
    said = iolab.findings(iolab.load(text))["sentence"].to_list()
    place = said.index("`log file sync` took 60 % of DB time: 5.56 waits per second, 30 ms each.")

    assert said[place + 1].startswith("A commit waited 30 ms and a log write took 2.78 ms on average;")


def test_of_a_file_of_two_reports_it_is_said_whose_figures_are_shown() -> None:
    """The findings are of the first report, and say that there is another."""
    other = report(db_time=2_000.0).replace(b"PLUM", b"PEAR").replace(b"plum1", b"pear1")
    first, *_ = iolab.findings(iolab.load(report() + other)).iter_rows(named=True)

    assert (
        first["sentence"]
        == "The file holds 2 reports, and these figures are of the first alone: the second is of PEAR, with 2,000 s of "
        "DB time, 27 % of it `db file sequential read`."
    )
    assert "several_reports" not in iolab.findings(iolab.load(report()))["name"].to_list()


def test_printed_sums_are_compared() -> None:
    """The report's own sums hold for its parts; one that does not hold is a remark, and a refusal of the rules."""
    line = (
        "-> Captured Time accounts for         {}%  of Total DB time       1,000.00 (s)\n"
        "-> Total FG Wait Time:               650.00 (s)  DB CPU time:         250.00 (s)\n"
    )
    good, bad = (iolab.load(report(class_notes=line.format(share))) for share in ("90.0", "80.0"))
    checks = [iolab.ledger(one).checks.select("check", "holds").rows() for one in (good, bad)]

    rest = [("Total FG Wait Time", True), ("Captured SQL", True)]
    assert checks == [[("Captured Time", True), *rest], [("Captured Time", False), *rest]]
    refused = iolab.findings(bad).filter(pl.col("refused"))["sentence"].to_list()
    assert any(one.startswith("The shares contradict each other: the report states 80.0 %") for one in refused)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"startup": "02-Jan-15 10:30"}, "the instance was started at 2015-01-02 10:30:00, within the period"),
        ({"db_cpu": 1_020.0}, "DB CPU (1,020.0 s) exceeds DB time (1,000.0 s)"),
        ({"db_time": 0.0, "db_cpu": 0.0}, "DB time is 0.0 s"),
        (
            {"class_notes": "-> Captured Time accounts for  90.0%  of Total DB time     2,000.00 (s)\n"},
            "DB time is 1,000.0 s in the time model, 2,000.0 s in the foreground wait classes",
        ),
    ],
)
def test_a_void_report_has_a_reason_and_nothing_else(changes: dict[str, str], reason: str) -> None:
    """A restart, CPU above DB time, two totals, nothing: no total, no part, and findings of gates alone."""
    log = iolab.load(report(**changes))  # type: ignore[arg-type]  # each by its name
    ledger = iolab.ledger(log)

    assert (ledger.total, ledger.void, ledger.views) == (None, reason, [])
    found = iolab.findings(log)
    assert found.item(0, "sentence") == f"The total time is unknown: {reason}."
    assert found.item(0, "next").endswith("awrrpt")
    assert set(found["mark"].cast(pl.String)) <= {"evidence", "cannot tell"}
    assert found["impact"].null_count() == found.height


@pytest.mark.parametrize("startup", ["02-Jan-15 09:59", "02-Jan-15 11:30", "01-Jan-15 10:30"])
def test_a_start_outside_the_period_is_no_restart(startup: str) -> None:
    """An instance that was started before, or after what a copied head says, is no restart within."""
    assert iolab.ledger(report(startup=startup)).void == ""


def test_cpu_that_rounding_allows_is_not_void() -> None:
    """1,000.04 s of CPU may be printed as 1,000.0 s of DB time."""
    assert iolab.ledger(report(db_cpu=1_000.1, classes=(), events=())).void == ""


def test_a_report_over_a_restart_that_was_not_made_has_its_snapshots() -> None:
    """SQL*Plus prints the error in place of the report: a void report, whose findings name what to take."""
    log = iolab.load(SERIES / "awrrpt_1_4108_4109.txt")

    assert (log.format, report_headline(log)) == ("awr", "AWR report of snapshots 4108 to 4109, not created")
    assert iolab.ledger(log).void == "the instance was restarted between the two snapshots (ORA-20200, line 4)"
    found = iolab.findings(log)
    assert found.select("name", "refused").rows() == [("no_total", False), ("interval_interrupted", True)]
    assert found.item(0, "next") == (
        "take reports that do not span the restart (4107 to 4108, 4109 to 4110): @?/rdbms/admin/awrrpt"
    )


def test_statspack_that_calls_its_results_invalid_is_void() -> None:
    """The line above the report voids it; without the line the same report has its shares."""
    text = (ROOT / "tests" / "awrparse" / "awr_data" / "valid" / "statspack_102.txt").read_text(encoding="utf-8")
    line = "ERROR: Snapshots chosen span an instance shutdown: RESULTS ARE INVALID\n"

    assert iolab.ledger(text.encode()).void == ""
    void = iolab.ledger((line + text).encode()).void
    assert void == (
        "the report says of itself: Snapshots chosen span an instance shutdown: RESULTS ARE INVALID (line 1)"
    )
    assert "invalid" in iolab.load((line + text).encode()).diagnostics["kind"].to_list()


def test_two_reports_of_a_file_have_a_ledger_each() -> None:
    """Ledgers are never added: the second report's stand beside the first's, under their own scope."""
    found = iolab.ledgers(report() + report(db_time=2_000.0, classes=(), events=()))

    assert [(one.scope, one.total.value) for one in found if one.total] == [
        ("instance", 1_000.0),
        ("background", 40.0),
        ("report 2, instance", 2_000.0),
        ("report 2, background", 40.0),
    ]


def test_background_time_is_an_account_of_its_own_without_timers() -> None:
    """A wait that is longer than all background time is a timer that nobody waits for."""
    ledger = iolab.ledger(report(), scope="background")

    assert_conserved(ledger)
    assert rows_of(ledger) == [
        ("log file parallel write", None, "io", 25.0),
        ("background CPU", None, "cpu", 10.0),
        ("not accounted for", None, "not_accounted", 5.0),
    ]
    assert "timer" in ledger.remarks["rule"].to_list()


def test_almost_nothing_has_parts_without_shares() -> None:
    """20 s in an hour: rows, no shares, and one sentence in place of the others."""
    log = iolab.load(report(db_time=20.0, db_cpu=5.0, classes=(("User I/O", 60, 10),), events=(), statements=()))
    ledger = iolab.ledger(log)

    assert ledger.unshared == "almost nothing ran"
    assert ledger.parts()["share"].null_count() == ledger.parts().height
    assert iolab.findings(log)["name"].to_list() == ["instance_idle"]


def test_shares_of_a_part_of_a_report_say_what_they_are_of() -> None:
    """Shares of call time are no shares of DB time; what stands below the list is not in the log."""
    text = (
        b"Top 5 Timed Events                                         Avg %Total\n"
        b"~~~~~~~~~~~~~~~~~~                                        wait   Call\n"
        b"Event                                 Waits    Time (s)   (ms)   Time Wait Class\n"
        b"------------------------------ ------------ ----------- ------ ------ ----------\n"
        b"db file sequential read              79,083       6,540     83   65.4   User I/O\n"
        b"CPU time                                          1,090          10.9\n"
    )
    ledger = iolab.ledger(text)

    assert ledger.base == "total call time"
    assert_conserved(ledger)
    assert rows_of(ledger)[-1][:3] == ("not among the top events", None, "not_in_log")
    assert ledger.parts()["own_lo"].to_list()[-1] == 0.0


@pytest.mark.parametrize("is_of_all", [True, False])
def test_waits_of_the_background_are_named_where_the_total_is_of_all_waits(*, is_of_all: bool) -> None:
    """The top events of 9.2 are shares of CPU and all waits: what is not of sessions is of background processes."""
    background = {"db file parallel write": 1_700, "log file parallel write": 300, "LGWR wait for redo copy": 0}
    facts = ReportFacts(
        kind="statspack",
        call_time_s=Interval.exact(7_000 if is_of_all else 5_000),
        db_cpu_s=Interval.exact(1_000),
        events={"log file switch (checkpoint incomplete)": Wait(Interval.exact(5_000), Interval.exact(4_000))},
        background={name: Wait(Interval.exact(9_000), Interval.exact(time)) for name, time in background.items()},
        has_all_events=True,
        shares_of_all_waits=is_of_all,
    )
    parts = dict(ledger_of(facts).parts().select("part", "seconds").iter_rows())

    assert parts.get("waits of background processes") == (2_000 if is_of_all else None)
    assert parts.get("not accounted for", 0.0) == 0.0


def test_waits_that_the_report_does_not_contain_are_not_unaccounted() -> None:
    """CPU alone: the rest may be anything, and no rule says that it is neither CPU nor a wait."""
    log = iolab.load(report(classes=(), events=()))

    assert rows_of(iolab.ledger(log))[-1] == ("waits, which the report does not contain", None, "not_in_log", 750.0)
    assert "db_time_unaccounted" not in iolab.findings(log)["name"]


def test_a_report_of_all_instances_uses_each_of_them_once() -> None:
    """Instances are the view `where`; the rows of all together give the events, and shifted classes are dropped."""
    facts = ReportFacts(
        kind="awr_global",
        db_time_s=Interval.exact(1_000),
        db_cpu_s=Interval.exact(45),
        instances={"instance 1": Interval.exact(600), "instance 2": Interval.exact(400)},
        classes={"Concurrency": Interval.exact(510), "User I/O": Interval.exact(430)},
        events={
            "db file sequential read": Wait(Interval.exact(9_000), Interval.exact(429)),
            "log buffer space": Wait(Interval.exact(100), Interval.exact(331)),
            "free buffer waits": Wait(Interval.exact(900), Interval.exact(173)),
        },
        has_all_events=False,
    )
    ledger = ledger_of(facts)

    assert_conserved(ledger)
    assert rows_of(ledger, "where")[:2] == [
        ("instance 1", None, "mixed", 600.0),
        ("instance 2", None, "mixed", 400.0),
    ]
    assert [row[0] for row in rows_of(ledger)] == [
        "db file sequential read",
        "log buffer space",
        "free buffer waits",
        "DB CPU",
        "not accounted for",
    ]
    assert {row[1] for row in rows_of(ledger)} == {None}


def test_a_compare_period_report_is_two_ledgers_that_say_whose_waits_they_hold() -> None:
    """The waits of both processes and sessions are in its tables: the base says so."""
    facts = ReportFacts(
        kind="awr_diff", db_time_s=Interval.exact(100), events={"x": Wait(Interval.exact(1), Interval.exact(9))}
    )

    assert ledger_of(facts).base == "DB time plus background waits"


def test_what_is_large_in_one_period_alone_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads of the first period are a finding, though the second, whose account leads, has none of them."""
    reads = {"db file sequential read": Wait(Interval.exact(9_000), Interval.exact(90))}
    locks = {"enq: TX - row lock contention": Wait(Interval.exact(9), Interval.exact(180))}
    periods = {"first": (100, reads), "second": (200, locks)}

    def of_side(_report: object, side: str, _place: int) -> ReportFacts:
        time, events = periods[side]
        elapsed = Interval.exact(100)
        return ReportFacts(kind="awr_diff", db_time_s=Interval.exact(time), elapsed_s=elapsed, events=events)

    for module in ("iolab.rules.compare_report", "iolab.time_ledger.reports"):
        monkeypatch.setattr(f"{module}.period_facts", of_side)
        monkeypatch.setattr(f"{module}.with_all_waits", lambda facts, *_: facts)
    report = cast("AwrReport", SimpleNamespace(kind="awr_diff", parts=()))
    lead, other = report_ledgers(report)

    assert lead.text == "first period: DB time 100 s, 1.00 sessions active; second: 200 s, 2.00 sessions active"
    assert (lead.scope, other.scope) == ("second period", "first period")
    assert "  part, second period\n" in first_screen(findings_frame([]), lead)
    listed = "`{}` took 90 % of DB time in the {} period; the {} does not list it among its top events.".format
    assert [(one.sentence, one.impact_of) for one in both_periods(report)] == [
        (listed("db file sequential read", "first", "second"), "DB time of the first period"),
        (listed("enq: TX - row lock contention", "second", "first"), ""),
    ]


def test_a_report_about_one_statement_is_the_account_of_its_elapsed_time() -> None:
    """12.3 s: 2 of CPU, 10 of reads, the rest not accounted for; its plans are who."""
    text = (
        "WORKLOAD REPOSITORY SQL Report\n\nSnapshot Period Summary\n\n"
        + HEAD.split("\n\n", 2)[2].format(startup="01-Jan-15 00:03", minutes=10)
        + "SQL ID: 7ws837zynp1zv                    DB/Inst: PLUM/plum1  Snaps: 100-101\n\n"
        "    Plan Hash           Total Elapsed                 1st Capture   Last Capture\n"
        "#   Value                    Time(ms)    Executions       Snap ID        Snap ID\n"
        "--- ---------------- ---------------- ------------- ------------- --------------\n"
        "1   2222222222                 12,345            60           101            101\n"
        + END
        + "Plan 1(PHV: 2222222222)\n-----------------------\n\n"
        + TITLE.format("Plan Statistics")
        + "\nStat Name                                Statement   Per Execution % Snap\n"
        "---------------------------------------- ---------- -------------- -------\n"
        "Elapsed Time (ms)                            12,345          205.8    15.9\n"
        "CPU Time (ms)                                 2,000           33.3     1.4\n"
        "Executions                                       60            N/A     N/A\n"
        "Disk Reads                                    5,820           97.0     1.4\n"
        "User I/O Wait Time (ms)                      10,000          166.7     1.4\n" + END
    )
    ledger = iolab.ledger(text.encode())

    assert (
        ledger.text
        == "elapsed time of the statement was 12.345 s, 60 executions of 97.0 reads; this is 15.9 % of DB time"
    )
    assert [row[0] for row in rows_of(ledger)] == ["User I/O", "CPU", "not accounted for"]
    assert rows_of(ledger, "who")[0] == ("plan 2222222222", None, "mixed", 12.345)


def test_samples_say_what_the_rest_was() -> None:
    """A queue for processors in one slot explains what the mean of the period hides, and names its statement."""
    queue = Queue(datetime(2026, 1, 11, 10, 45), datetime(2026, 1, 11, 10, 55), 34.2, 12_394)  # noqa: DTZ001
    facts = ReportFacts(
        db_time_s=Interval.exact(41_424),
        db_cpu_s=Interval.exact(6_449),
        elapsed_s=Interval.exact(3_555),
        cpus=12,
        idle_pct=Interval.exact(58),
        classes={"User I/O": Interval.exact(11_622)},
        samples=Samples(4_097, Interval.exact(8.12), (queue,), (("0kg3s5m4uzp32", "SELECT 1", 44.6),)),
    )
    found = findings_frame(with_ledger(apply_rules("report", facts), [ledger_of(facts)]))

    assert found["name"].to_list()[:4] == ["load", "db_time_unaccounted", "cpu_queue", "sampled_statement"]
    assert found.filter(pl.col("part") == "not accounted for").height == 3
    assert (
        found.item(1, "next") == "take an ASH report of 10:45 to 10:55 for SQL id 0kg3s5m4uzp32: @?/rdbms/admin/ashrpti"
    )
    without = list(db_time_unaccounted(replace(facts, samples=Samples(), idle_pct=Interval.exact(5))))
    assert without[0].sentence.endswith("; the CPUs were 95 % busy, consistent with waiting for one.")


@pytest.mark.parametrize("seed", range(40))
def test_a_random_account_is_conserved_and_holds_the_truth(seed: int) -> None:
    """Random CPU, waits and overlap, printed and rounded: every true time lies in its bounds, every level closes."""
    dice = random.Random(seed)  # noqa: S311 - no secret
    names = [
        "db file sequential read",
        "db file scattered read",
        "log file sync",
        "latch: shared pool",
        "gc cr request",
    ]
    of = dict(zip(names, ["User I/O", "User I/O", "Commit", "Concurrency", "Cluster"], strict=True))
    true = {name: dice.uniform(0, 3_000) for name in names if dice.random() < 0.8}
    cpu, rest = dice.uniform(1, 4_000), dice.uniform(-0.3, 1.0)
    total = max(cpu + 1, (sum(true.values()) + cpu) * (1 + rest))
    classes = {name: sum(time for event, time in true.items() if of[event] == name) for name in set(of.values())}
    text = report(
        db_time=total,
        db_cpu=cpu,
        classes=tuple((name, 100, round(time)) for name, time in classes.items() if time),
        events=tuple((event, dice.randint(1, 10**6), round(time)) for event, time in true.items()),
        statements=tuple((f"{n}abcdefghijk{n}", round(total * dice.uniform(0, 0.5), 1), "select 1") for n in range(3)),
        sql_notes="",
    )
    ledger = iolab.ledger(text)

    assert ledger.void == ""
    assert_conserved(ledger)
    for row in ledger.parts().iter_rows(named=True):
        if row["name"] in true:
            assert row["seconds_lo"] - 1e-9 <= true[row["name"]] <= row["seconds_hi"] + 1e-9
        if row["kind"] in {"not_accounted", "counted_twice"} and row["parent"] is None:
            assert row["seconds_lo"] - 1e-6 <= total - cpu - sum(true.values()) <= row["seconds_hi"] + 1e-6


def test_one_statement_of_several_containers_is_several_parts() -> None:
    """The id alone is no key: each container's executions are its own."""
    several = tuple(Statement("csbsw569ddtxd", Interval.exact(300), text="select 1", pdb=f"PDB{n}") for n in (1, 2, 3))
    ledger = ledger_of(ReportFacts(db_time_s=Interval.exact(1_000), statements=several))

    assert [row[0] for row in rows_of(ledger, "who")[:3]] == [f"csbsw569ddtxd (PDB{n}) select 1" for n in (1, 2, 3)]
    assert_conserved(ledger)


@pytest.mark.corpus
def test_the_rest_of_real_reports_is_distributed_as_it_was_measured(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """LEDGER, 12: level 1, the printed checks, and conservation of every view of every report."""
    rests: dict[tuple[str, float], float] = {}
    checks: list[tuple[str, bool]] = []
    for path in sorted((corpus / "awr").rglob("*")):
        if path.suffix not in {".txt", ".html"}:
            continue
        log = iolab.load(path)
        for one in iolab.ledgers(log) if log.kind not in {"ash", "addm"} else ():  # type: ignore[attr-defined]
            if one.void or one.total is None:
                continue
            assert_conserved(one)
            if one.scope in {"instance", "all instances", "pluggable database"} and one.total.value >= 30:
                top = one.parts().filter(
                    pl.col("parent").is_null(), pl.col("kind").is_in(["not_accounted", "counted_twice"])
                )
                rests[log.info.instance or "", round(one.total.value)] = top["seconds"].sum() / one.total.value  # type: ignore[attr-defined]
                if one.total.value >= 60:
                    checks += one.checks.select("check", "holds").rows()
    edges = [-9.0, -0.08, -0.02, -0.01, 0.0, 0.01, 0.03, 0.19, 9.0]
    counts = [sum(low < share <= high for share in rests.values()) for low, high in pairwise(edges)]
    with capsys.disabled():
        print("", *zip(pairwise(edges), counts, strict=True), f"{len(checks)} checks", sep="\n")  # noqa: T201

    assert all(holds for _, holds in checks)
    assert sum(share > 0.19 for share in rests.values()) == 6
    assert sum(share < -0.08 for share in rests.values()) == 5


@pytest.mark.corpus
def test_worked_examples(corpus: Path) -> None:
    """LEDGER 13.1 and the screens: the same totals, parts and shares."""
    reports = {path.name: iolab.ledger(path) for path in (
        corpus / "awr/jberesni__AWR1page/data__awrKC.txt",
        corpus / "awr/sarthi2020__AWR-reports/awr_rpt_4.html",
        corpus / "awr/Apress__troubleshooting-oracle-perf-14/chapter05__awr_1930_1945.txt",
    )}  # fmt: skip
    texts = [one.text for one in reports.values()]
    assert texts == [
        (
            "DB time was 601.6 s in 121 s: 4.96 sessions were active on average; "
            "the 72 CPUs (cpu_count 8) were 92 % idle"
        ),
        "DB time was 41,423.7 s in 3,555 s: 11.7 sessions were active on average; the 12 CPUs were 58 % idle",
        "DB time was 12,612.5 s in 903 s: 14.0 sessions were active on average; the 8 CPUs were 58 % idle",
    ]
    polled = {row["name"]: row for row in reports["data__awrKC.txt"].parts().iter_rows(named=True)}
    assert [polled["User I/O"][name] for name in ("own_lo", "own_hi")] == pytest.approx([357.292285, 523.5])
    assert [polled["DB CPU"][name] for name in ("own_lo", "own_hi")] == pytest.approx([77.742285, 243.05])
    twice = polled["counted twice"]
    assert [twice[f"seconds{end}"] for end in ("", "_lo", "_hi")] == pytest.approx(
        [-164.605, -165.208, -164.003], abs=0.06
    )
    queue = reports["awr_rpt_4.html"].parts().filter(name="not accounted for").row(0, named=True)
    assert (round(queue["seconds"]), round(100 * queue["share"], 1)) == (23_353, 56.4)
    reads = reports["chapter05__awr_1930_1945.txt"].parts().filter(name="db file sequential read").row(0, named=True)
    assert (reads["count"], round(reads["avg"] * 1e3, 2), round(100 * reads["share"], 1)) == (770_898, 12.11, 74.0)


@pytest.mark.parametrize(
    ("event", "wanted", "not_wanted"),
    [
        ("enq: HW - contention", "segment", "log"),
        ("Backup: MML write backup piece", "media manager", "trace"),
        ("enq: SQ - contention", "dba_sequences", "log"),
        ("log buffer space", "log_buffer", "segment"),
        ("free buffer waits", "writers", "v$log"),
        ("direct path read temp", "sort", "dbms_xplan"),
        ("log file switch (checkpoint incomplete)", "v$log", "dbms_xplan"),
    ],
)
def test_the_next_step_is_of_the_event_and_not_of_its_class(event: str, wanted: str, not_wanted: str) -> None:
    """Waits of one class have different causes: what to look at depends on the event."""
    facts = ReportFacts(
        db_time_s=Interval.exact(100),
        statements=(Statement("1abcdefghijk1", Interval.exact(90), io_s=Interval.exact(80), text="select 1"),),
        events={event: Wait(Interval.exact(10), Interval.exact(80))},
    )
    step = ledger_of(facts).parts().row(0, named=True)["next"]

    assert wanted in step
    assert not_wanted not in step


def test_a_top_event_stands_for_its_row_that_cannot_be_read() -> None:
    """The row of the largest event is damaged in the table of all events: the list of the top events has it."""
    top = (
        TITLE.format("Top 10 Foreground Events by Total Wait Time")
        + "                                            Tota    Wait   % DB\n"
        + "Event                                 Waits Time Avg(ms)   time Wait Class\n"
        + "------------------------------ ------------ ---- ------- ------ ----------\n"
        + "log file sync                        50,000  540    10.8   54.0 Commit\n"
        + "DB CPU                                       250           25.0\n"
        + END
    )
    whole = report(classes=(), events=(("log file sync", 50_000, 540), ("SQL*Net more data to client", 900, 20)))
    row = next(line for line in whole.splitlines() if line.startswith(b"log file sync"))
    damaged = whole.replace(row, row.replace(b"540", b"5?0"))
    at = damaged.index(b"Time Model Statistics")
    both = damaged[:at] + top.encode() + damaged[at:]

    assert ("log file sync", 540.0) in [(row[0], row[3]) for row in rows_of(iolab.ledger(both))]


def test_a_top_event_of_background_processes_is_no_part_of_db_time() -> None:
    """Statspack lists them among its top events; their own table says whose they are."""
    text = (SERIES / "awrrpt_1_4102_4103.txt").read_text(encoding="utf-8")
    row = "buffer busy waits                    6,669        2.9       0.44     .1 Concurre"
    for waits, is_background in (("  118,896", True), ("  118,897", False)):
        other = f"log file parallel write          {waits}      137.0       1.15    2.5 System I"
        made = iolab.load(text.replace(row, other).encode())

        assert ("log file parallel write" in iolab.ledger(made).frame["part"].to_list()) != is_background


def test_a_part_of_a_report_without_cpu_time_leaves_the_rest_open() -> None:
    """Where no table with CPU time is there, the rest is not unaccounted for: it may be CPU."""
    facts = ReportFacts(
        kind="fragment",
        db_time_s=Interval.exact(1_000),
        events={"log file sync": Wait(Interval.exact(10), Interval.exact(80))},
    )

    assert rows_of(ledger_of(facts))[-1] == ("not in this part of the report", None, "not_in_log", 920.0)


@pytest.mark.parametrize(("hard_s", "step"), [(2.0, "many child cursors"), (60.0, "force_matching_signature")])
def test_waits_of_the_library_cache_without_hard_parses(hard_s: float, step: str) -> None:
    """Where next to nothing was hard parsed no literals are to be looked for, but cursors with many children."""
    exact = Interval.exact
    facts = ReportFacts(
        db_time_s=exact(100),
        elapsed_s=exact(50),
        db_cpu_s=exact(20),
        hard_parse_s=exact(hard_s),
        classes={"Concurrency": exact(70)},
        events={"library cache: mutex X": Wait(exact(10_000), exact(70))},
        statements=(Statement("a1n8x4v7c0mpd", exact(80), exact(1_000_000)),),
    )
    steps = ledger_of(facts).frame["next"].drop_nulls().to_list()

    assert [one for one in steps if step in one]
    assert {"many child cursors", "force_matching_signature"} & {
        word for word in ("many child cursors", "force_matching_signature") for one in steps if word in one
    } == {step}


def test_a_change_that_no_part_made_is_said_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second period that is four times as long has four times the time: per second nothing changed."""

    def of_side(_report: object, side: str, _place: int) -> ReportFacts:
        factor = 1 if side == "first" else 4
        time, elapsed = Interval.exact(100 * factor), Interval.exact(80 * factor)
        return ReportFacts(kind="awr_diff", db_time_s=time, elapsed_s=elapsed)

    monkeypatch.setattr("iolab.rules.compare_report.period_facts", of_side)
    monkeypatch.setattr("iolab.rules.compare_report.with_all_waits", lambda facts, *_: facts)
    found = list(compare_findings(cast("AwrReport", {})))

    assert [one.name for one in found] == ["load_or_latency"]
    assert found[0].sentence == "DB time plus background waits hardly changed (1.25 and 1.25 sessions active)."


@pytest.mark.parametrize(("end", "is_cut"), [("End of Report\n", False), ("", True)])
def test_a_report_with_its_end_is_not_cut(end: str, is_cut: bool) -> None:  # noqa: FBT001 - a case
    """A report without instance activity ends before it, unless its last line is there."""
    text = (SERIES / "awrrpt_1_4104_4105.txt").read_text(encoding="utf-8").partition("Instance Activity Stats")[0]
    found = iolab.findings((text.rpartition("\n")[0] + "\n\n" + end).encode())

    assert ("report_is_cut" in found.get_column("name")) is is_cut
