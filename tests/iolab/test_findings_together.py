"""Findings of logs together, and of reports without one period: what changed, what contradicts, what is refused."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import iolab
from iolab.metrics.awr import _parameters
from iolab.metrics.report_facts import ReportFacts, Wait
from iolab.rules.pairs import load_change, settings_changed
from iolab.rules.reports import report_pair_findings
from logframe.interval import Interval

ROOT = Path(__file__).parents[2]
SERIES = sorted((ROOT / "sample_data" / "awr_series").glob("*.txt"))
DATA = ROOT / "tests" / "awrparse" / "awr_data" / "valid"

_COUNT = "select count(*) from t"

ASH = """ASH Report For TEST/TEST

DB Name         DB Id    Instance     Inst Num Release     RAC Host
------------ ----------- ------------ -------- ----------- --- ------------
TEST            12345678 TEST                1 12.1.0.2.0  NO  dbhost

Top User Events            DB/Inst: TEST/TEST  (Apr 23 19:30 to 19:45)

                                                               Avg Active
Event                               Event Class        % Event   Sessions
----------------------------------- --------------- ---------- ----------
log file sync                       Commit               55.00       2.20
CPU + Wait for CPU                  CPU                  25.00       1.00
null event                          Other                 2.50       0.10
          -------------------------------------------------------------

Top Blocking Sessions      DB/Inst: TEST/TEST  (Apr 23 19:30 to 19:45)

   Blocking Sid (Inst) % Activity Event Caused                      % Event
---------------------- ---------- ------------------------------ ----------
User                 Program                          # Samples Active     XIDs
-------------------- ------------------------------ ------------------ --------
        3,    1(     1)      {blocked} log file sync                       {blocked}
SYS                  oracle@dbhost (LGWR)             153/300 [ 51%]          0

          -------------------------------------------------------------
"""


def _together(*logs: tuple[str, bytes | Path]) -> pl.DataFrame:
    found = iolab.findings({name: iolab.load(source) for name, source in logs})
    return found.filter(pl.col("log").is_null())


def _trace(reads: int, *, size: int = 8192, flags: str = "O_RDONLY|O_DIRECT", file: str = "users01.dbf") -> bytes:
    """Synchronous reads of one file, one each millisecond."""
    lines = [f'1700000000.000000 openat(AT_FDCWD, "/u01/{file}", {flags}) = 3</u01/{file}> <0.000010>']
    lines += [
        f'1700000000.{number:03}000 pread64(3</u01/{file}>, ""..., {size}, {size * number}) = {size} <0.000400>'
        for number in range(1, reads + 1)
    ]
    return "\n".join(lines).encode()


def _asynchronous(reads: int, *, size: int = 8192, flags: str = "O_RDONLY|O_DIRECT") -> bytes:
    """Pairs of requests of one file by io_submit, a pair each millisecond."""
    lines = [f'1700000000.000000 openat(AT_FDCWD, "/u01/users01.dbf", {flags}) = 3</u01/users01.dbf> <0.000010>']
    for number in range(1, reads + 1):
        blocks = ", ".join(
            f'{{data=0x{pair}, pread, fildes=3</u01/users01.dbf>, buf="", nbytes={size}, offset={size * 2 * number}}}'
            for pair in (1, 2)
        )
        events = ", ".join(f"{{data=0x{pair}, obj=0x{pair}, res={size}, res2=0}}" for pair in (1, 2))
        lines.append(f"1700000000.{number:03}000 io_submit(0x7f0, 2, [{blocks}]) = 2 <0.000020>")
        lines.append(f"1700000000.{number:03}100 io_getevents(0x7f0, 2, 2, [{events}], NULL) = 2 <0.000400>")
    return "\n".join(lines).encode()


def test_two_reports_of_one_period_are_no_change() -> None:
    """A report and a copy of it overlap: a gate says so, and nothing else is said of both."""
    found = _together(("a.txt", SERIES[0]), ("b.txt", SERIES[0]))

    assert found["name"].to_list() == ["evidence_mismatch"]
    assert "their periods overlap" in found.item(0, "sentence")


def test_two_reports_of_one_instance_are_compared() -> None:
    """Two periods of one instance give the change of the load, without a gate."""
    found = _together(("a.txt", SERIES[0]), ("b.txt", SERIES[1]))

    assert "load" in found["name"]
    assert "evidence_mismatch" not in found["name"]


def test_reports_of_two_databases_are_no_change() -> None:
    """What differs between two databases is named, and it is no change of one system."""
    found = _together(("a.txt", SERIES[0]), ("b.txt", DATA / "awr_text_11204.txt"))

    assert found["name"].to_list() == ["evidence_mismatch"]
    assert "differs" in found.item(0, "sentence")


def test_synchronous_and_asynchronous_reads_have_rates() -> None:
    """The rates stand with the number of requests at a time, in one run each."""
    found = _together(("sync", _trace(60)), ("async", _asynchronous(60)))

    sentence = found.filter(pl.col("name") == "sync_against_async").item(0, "sentence")
    assert "with one read at a time" in sentence
    assert "with at most 2 at a time" in sentence
    assert "in one run each" in sentence


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        (_trace(60, size=65536), "reads of 64 KiB, the other of 8 KiB"),
        (_trace(60, file="other.dbf"), "the files differ"),
        (_trace(60, flags="O_RDONLY"), "without O_DIRECT"),
    ],
)
def test_reads_that_are_not_alike_are_refused(first: bytes, reason: str) -> None:
    """Another size, another file, or the kernel's cache in between: which was faster is not said."""
    found = _together(("sync", first), ("async", _asynchronous(60))).filter(pl.col("name") == "sync_against_async")

    assert found["refused"].to_list() == [True]
    assert reason in found.item(0, "sentence")


def test_two_traces_of_one_mode_say_nothing_together() -> None:
    """Both synchronous: there is no comparison of modes."""
    assert _together(("a", _trace(60)), ("b", _trace(60))).is_empty()


def _session(seconds: list[float], gets: list[int]) -> bytes:
    parts = []
    for number, (time, got) in enumerate(zip(seconds, gets, strict=True)):
        parts.append(
            f"SQL> {_COUNT}{number};\n\n  COUNT(*)\n----------\n         1\n\n"
            f"Elapsed: 00:00:{time:05.2f}\n\nExecution Plan\n"
            "----------------------------------------------------------\nPlan hash value: 11\n\n\nStatistics\n"
            "----------------------------------------------------------\n          0  recursive calls\n"
            f"          0  db block gets\n{got:11}  consistent gets\n          0  physical reads\n"
            "          0  redo size\n          1  rows processed\n\n"
        )
    return "".join(parts).encode()


def test_statements_that_ran_in_both_sessions_are_added_up() -> None:
    """Five statements and more have a sum; those whose time and gets changed are named, and no others."""
    before = _session([1.0, 2.0, 3.0, 4.0, 5.0], [1000] * 5)
    after = _session([1.0, 2.0, 3.0, 1.0, 2.0], [1000, 1000, 1000, 200, 1000])

    found = _together(("a.lst", before), ("b.lst", after)).filter(pl.col("name") == "statements_changed")

    sentence = found.item(0, "sentence")
    assert sentence.startswith("5 statements ran in both: 15 to 9 s in all, in one run each; statement 4 4 to 1 s")
    assert "statement 5" not in sentence
    assert (
        _together(("a.lst", before[: len(before) // 2]), ("b.lst", after))
        .filter(pl.col("name") == "statements_changed")
        .is_empty()
    )


def test_a_statement_that_failed_or_returned_other_rows_is_in_no_sum() -> None:
    """Its time is that of other work."""
    before = _session([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [1000] * 7)
    plain, failed, _ = before.partition(b"SQL> " + f"{_COUNT}6".encode())
    rest = b"\n\nERROR at line 1:\nORA-01555: snapshot too old\n\n\nElapsed: 00:00:00.01\n"
    after = (plain + failed + b";\n" + rest).replace(b"1  rows processed", b"2  rows processed", 1)

    found = _together(("a.lst", before), ("b.lst", after)).filter(pl.col("name") == "statements_changed")

    assert found.item(0, "sentence").startswith("5 statements ran in both: 20 to 20 s in all")


def test_a_session_beside_a_trace_agrees_or_is_a_gate() -> None:
    """Equal counts of blocks read are said; others are a gate."""
    session = _session([1.0], [1000]).replace(b"0  physical reads", b"60  physical reads")

    agrees = _together(("a.lst", session), ("t.strace", _trace(60)))
    differs = _together(("a.lst", session), ("t.strace", _trace(600)))

    assert agrees["name"].to_list() == ["evidence_agrees"]
    assert differs["name"].to_list() == ["evidence_mismatch"]
    assert "60 blocks" in differs.item(0, "sentence")
    assert "600" in differs.item(0, "sentence")


def test_a_report_of_another_year_beside_a_trace_is_a_gate() -> None:
    """Periods that do not meet are named."""
    found = _together(("awr.txt", SERIES[0]), ("t.strace", _trace(60)))

    assert found["name"].to_list() == ["evidence_mismatch"]
    assert "do not belong together" in found.item(0, "sentence")


def test_ash_report_has_shares_of_samples_and_refuses_times() -> None:
    """Events, the blocking session, and what samples cannot show; events below 10 % are not named."""
    found = iolab.findings(iolab.load(ASH.replace("{blocked}", "55.00").encode()))

    named = found.filter(pl.col("name") != "not_accounted_for")
    assert named["name"].to_list() == ["total", "time_profile", "blocking_session", "time_profile", "wait_counts"]
    assert named["impact"].to_list() == [None, 0.55, 0.55, 0.25, None]
    assert found.filter("refused").get_column("name").to_list() == ["wait_counts"]
    assert not any("null event" in sentence for sentence in found["sentence"])


def test_a_blocker_with_a_share_of_another_base_has_no_share_of_the_samples() -> None:
    """More than the event itself has: the share is of what was blocked, and no part of the samples."""
    found = iolab.findings(iolab.load(ASH.replace("{blocked}", "80.00").encode())).filter(name="blocking_session")

    assert "in 80 % of the blocking that the report counts" in found.item(0, "sentence")
    assert found.item(0, "impact_of") != "the samples"


def test_findings_of_an_addm_report() -> None:
    """ADDM's own findings are read from the summary of its report; one above 100 % is none."""
    lines = ["          ADDM Report for Task 'T1'", "          -------------------------", ""]
    lines += ["Summary of Findings", "-------------------", "   Description     Active Sessions      Recommendations"]
    lines += ["                   Percent of Activity", "   --------------  -------------------  ---------------"]
    lines += ["1  Top Trees       .52 | 41.3           2", "2  Ripe Plums      2 | 158            0", ""]
    found = iolab.findings(iolab.load("\n".join(lines).encode()))

    assert found["sentence"].to_list() == ["ADDM rates `Top Trees` at 41 % of the activity."]
    assert found["refused"].to_list() == [False]


def test_settings_of_a_compare_period_report() -> None:
    """The second period's value is printed where it differs from the first's; lists in several rows are left out."""
    frame = pl.DataFrame(
        [
            ("cursor_sharing", None, "EXACT", None, "FORCE"),
            ("db_block_size", None, "8192", None, None),
            ("open_cursors", "30", "60", None, None),
            ("control_files", None, "+DATA/a", None, "+DATA/b"),
            (None, None, "+FRA/a", None, None),
        ],
        schema=["parameter", "first_begin", "first_end", "second_begin", "second_end"],
        orient="row",
    )
    report: Any = SimpleNamespace(with_bounds=lambda _: frame)
    before, after = (ReportFacts(parameters=_parameters(report, side)) for side in ("first", "second"))
    (found,) = settings_changed(before, after)

    assert found.sentence == "1 parameter of 3 changed between the reports: `cursor_sharing` EXACT to FORCE."


def facts(sessions: float, **waits: tuple[float, float]) -> ReportFacts:
    """An hour with so many sessions active; of each event how many waits, and the seconds of one."""
    exact = Interval.exact
    events = {name.replace("_", " "): Wait(exact(count), exact(count * each)) for name, (count, each) in waits.items()}
    return ReportFacts(elapsed_s=exact(3600), db_time_s=exact(3600 * sessions), events=events)


def test_waits_that_became_longer_are_said_whatever_the_load_did() -> None:
    """Half as many waits of twice the time are no change of the load; others may change it against them."""
    before = facts(2, db_file_sequential_read=(3_600_000, 0.001), log_file_sync=(360_000, 0.005))
    same = facts(2, db_file_sequential_read=(1_800_000, 0.002), log_file_sync=(360_000, 0.005))
    less = facts(1.5, db_file_sequential_read=(1_800_000, 0.003), log_file_sync=(3_600, 0.005))
    alike = facts(2, db_file_sequential_read=(3_600_000, 0.0011), log_file_sync=(360_000, 0.005))
    said = {
        name: [one.sentence for one in load_change(before, after)]
        for name, after in (("same", same), ("less", less), ("alike", alike))
    }

    twice = "`db file sequential read` occurred 50 % less often, and each took 2 times as long."
    assert said["same"][1:] == [twice]
    assert said["less"][1] == twice.replace("2 times", "3 times")
    assert said["less"][2].startswith(
        "`log file sync` made up 99 % of the decrease in DB time: its waits occurred 99 % less often"
    )
    assert len(said["alike"]) == 1


def test_two_reports_are_compared_in_the_order_of_time() -> None:
    """Whatever the order of the names: the name of snapshot 1000 is before that of 999."""
    paths = SERIES[:2]
    reports = [(path.name, iolab.load(path)) for path in paths]
    forward, backward = ([one.sentence for one in report_pair_findings(*order)] for order in (reports, reports[::-1]))

    assert forward == backward
    assert forward[0].startswith("DB time fell from ")


def test_what_hardly_occurred_before_is_a_part_of_the_increase() -> None:
    """Two waits before and thousands after have no ratio worth a word; their time has a share of the increase."""
    before = facts(1, db_file_sequential_read=(360_000, 0.005), enq_TX=(2, 0.001))
    after = facts(4, db_file_sequential_read=(360_000, 0.005), enq_TX=(180_000, 0.060))
    said = [one.sentence for one in load_change(before, after)][1]
    assert said == "`enq TX` made up 99.9 % of the increase in DB time: it went from 0.000000556 to 3 sessions active."
