"""Accounts of sampled time: ASH and ADDM reports, processors and processes of a host, sessions, CPU profiles."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import iolab
from awrparse import read_awr
from hostparse import read_host, read_profile
from iolab.metrics.ash import ash_total, cpu_queues
from iolab.pages.ledger_rows import ledger_rows
from iolab.pages.summary import summarize
from iolab.pages.summary_text import summary_text
from iolab.rules.ash import ash_findings
from iolab.time_ledger.ash import ash_ledgers
from iolab.time_ledger.samples import host_ledgers, profile_ledgers, session_ledgers
from logframe.errors import LogError
from sqlplusparse import read_session_samples

if TYPE_CHECKING:
    from pathlib import Path

    from iolab.time_ledger import Ledger

BEGIN = dt.datetime(2026, 3, 1, 23, 58)  # noqa: DTZ001 - a wall clock


def ash(
    events: list[tuple[str, str, float]],
    *,
    samples: int,
    interval: int = 1,
    background: list[tuple[str, str, float]] = (),  # type: ignore[assignment]  # no list is empty
    slots: list[tuple[int, int]] = (),  # type: ignore[assignment]  # the same
    minutes: int = 10,
    more: str = "",
) -> bytes:
    """An ASH report over midnight: events in percent, slots of so many seconds with so many samples on CPU."""
    end = BEGIN + dt.timedelta(minutes=minutes)
    active = samples * interval / (60 * minutes)
    text = "\nASH Report For PLUM/plum\n\nDB Name         DB Id    Instance     Inst Num Release     RAC Host\n"
    text += "------------ ----------- ------------ -------- ----------- --- ------------\n"
    text += "PLUM            12345678 plum                1 19.0.0.0.0  NO  orchard\n\n"
    text += "CPUs           SGA Size       Buffer Cache        Shared Pool    ASH Buffer Size\n"
    text += "---- ------------------ ------------------ ------------------ ------------------\n"
    text += "   4      1,019M (100%)       728M (71.4%)       260M (25.5%)       16.0M (1.6%)\n\n\n"
    text += f"          Analysis Begin Time:   {BEGIN:%d-%b-%y %H:%M:%S}\n"
    text += f"            Analysis End Time:   {end:%d-%b-%y %H:%M:%S}\n"
    text += f"                 Elapsed Time:        {minutes:.1f} (mins)\n"
    text += f"                 Sample Count:      {samples:,}\n      Average Active Sessions:       {active:.2f}\n\n"
    for scope, rows in (("User", events), ("Background", background)):
        text += f"Top {scope} Events            DB/Inst: PLUM/plum  (Mar 1 23:58 to 00:08)\n\n"
        text += "                                                               Avg Active\n"
        text += "Event                               Event Class        % Event   Sessions\n"
        text += "----------------------------------- --------------- ---------- ----------\n"
        for event, kind, percent in rows:
            text += f"{event:35} {kind:15} {percent:10.2f} {percent / 100 * active:10.2f}\n"
        text += "          -------------------------------------------------------------\n\n"
    if slots:
        text += "Activity Over Time        DB/Inst: PLUM/plum  (Mar 1 23:58 to 00:08)\n\n"
        text += "                         Slot                                   Event\n"
        text += "Slot Time (Duration)    Count Event                             Count % Event\n"
        text += "-------------------- -------- ------------------------------ -------- -------\n"
        at = BEGIN
        for seconds, count in slots:
            text += f"{at:%H:%M:%S}   ({seconds:2} secs) {count:8,} CPU + Wait for CPU             {count:8,}    1.00\n"
            at += dt.timedelta(seconds=seconds)
        text += "          -------------------------------------------------------------\n\n"
    return (text + more + "End of Report\n").encode()


def assert_closed(ledger: Ledger) -> None:
    """Each level of each view adds up to its parent, and the top to the total."""
    assert ledger.total is not None
    for view in ledger.views:
        parts = ledger.parts(view)
        whole = dict(parts.select("part", "seconds").iter_rows()) | {None: ledger.total.value}
        for (parent,), rows in parts.group_by("parent"):
            assert rows["seconds"].sum() == pytest.approx(whole[parent], rel=1e-9, abs=1e-9), (view, parent)
        assert parts.select((pl.col("seconds_lo") <= pl.col("seconds")).all()).item()
        assert parts.select((pl.col("seconds") <= pl.col("seconds_hi") + 1e-9).all()).item()


SQL = """Top SQL with Top Events   DB/Inst: PLUM/plum  (Mar 1 23:58 to 00:08)

                                                        Sampled #
                 SQL ID             Planhash        of Executions     % Activity
----------------------- -------------------- -------------------- --------------
Event                          % Event Top Row Source                    % RwSrc
------------------------------ ------- --------------------------------- -------
          82ud5h0qcg0bf           4238351645                  350          30.00
db file sequential read          25.00 TABLE ACCESS - BY INDEX ROWID       15.86
select * from plums where id = :1

          82ud5h0qcg0bf           1111111111                   50          10.00
CPU + Wait for CPU                9.00 INDEX - RANGE SCAN                   6.00
select * from plums where id = :1

          -------------------------------------------------------------

"""


def test_samples_of_an_ash_report_are_its_total() -> None:
    """Samples x interval; events, statements by plan and event, slots; what no row shows is a part."""
    text = ash(
        [("db file sequential read", "User I/O", 60.0), ("CPU + Wait for CPU", "CPU", 25.0)],
        samples=2_400,
        background=[("log file parallel write", "System I/O", 10.0)],
        slots=[(60, 400), (60, 2_000)],
        more=SQL,
    )
    report = read_awr(text)
    lead, foreground, background = ash_ledgers(report)

    assert (lead.base, lead.total.value if lead.total else 0) == ("samples x interval", 2_400)
    assert lead.text == "4 sessions were active on 4 CPUs on average: 2,400 samples in 600 s, one per second"
    assert lead.checks["holds"].to_list() == [True]
    for ledger in (lead, foreground, background):
        assert_closed(ledger)
    assert lead.parts().filter(level=0).select("name", "kind", "seconds").rows() == [
        ("db file sequential read", "io", 1_440.0),
        ("CPU, or waiting for it", "cpu", 600.0),
        ("background processes", "mixed", 240.0),
        ("not listed", "unlisted", 120.0),
    ]
    read = lead.parts().row(0, named=True)
    assert (read["count"], read["avg"]) == (1_440, None)
    assert read["seconds_hi"] - read["seconds"] == pytest.approx(2 * 1_440**0.5 + 0.12)  # sampling and rounding
    who = lead.parts("who")
    assert who.filter(level=0)["part"].to_list() == ["82ud5h0qcg0bf", "not listed"]
    assert who.item(0, "seconds") == pytest.approx(960)
    plans = who.filter(pl.col("name").str.starts_with("plan "))
    assert plans.select("name", pl.col("seconds").round(2)).rows() == [
        ("plan 4238351645", 720),
        ("plan 1111111111", 240),
    ]
    inner = who.filter(parent=plans.item(0, "part")).select("name", pl.col("seconds").round(2)).rows()
    assert inner == [("db file sequential read", 600), ("other events", 120)]
    slots = lead.parts("when").filter(level=0, kind="mixed")["part"].to_list()
    assert slots == ["2026-03-01 23:59:00", "2026-03-01 23:58:00"]
    assert (foreground.scope, background.scope) == ("foreground", "background")
    assert foreground.total is not None
    assert foreground.total.value == 2_160


@pytest.mark.parametrize(("other", "name"), [(40.01, "rounding of the printed figures"), (43.0, "counted twice")])
def test_shares_that_add_up_to_more_by_rounding_are_no_time_of_two_parts(other: float, name: str) -> None:
    """What two decimals leave is called so; of more than that something is in two rows."""
    events = [("direct path read", "User I/O", 60.0), ("CPU + Wait for CPU", "CPU", other)]
    text = summary_text(summarize(iolab.load(ash(events, samples=46_260))), "a")
    assert [one in text for one in ("rounding of the printed figures", "counted twice")] == [
        one == name for one in ("rounding of the printed figures", "counted twice")
    ]


def test_the_largest_event_has_the_error_of_sampling_and_a_step_that_fits_it() -> None:
    """Of background processes it says so; waits for other sessions lead to those."""
    redo = [("log file parallel write", "System I/O", 60.0)]
    locks = [("enq: TX - row lock contention", "Application", 30.0)]
    log = iolab.load(ash(locks, background=redo, samples=1_200))
    first, second = (iolab.findings(log).filter(pl.col("sentence").str.contains(f"in `{name}")).row(0, named=True)
                     for name in ("log file parallel", "enq: TX"))  # fmt: skip

    assert first["sentence"].startswith("60 % of the samples (±")
    assert "blocking_session" in second["next"]
    assert "devices of the log files" in first["next"]


def test_the_interval_of_sampling_is_derived() -> None:
    """One of ten samples is kept on disk; without the sessions active the unit is the sample."""
    events = [("CPU + Wait for CPU", "CPU", 90.0)]
    text = ash(events, samples=360, interval=10)
    (lead,) = ash_ledgers(read_awr(text))
    without = text.replace(b"Average Active Sessions:", b"Something else:        ")
    (unit,) = ash_ledgers(read_awr(without))
    contradicted = ash_ledgers(read_awr(text.replace(b"Sample Count:      360", b"Sample Count:      250")))[0]

    assert ash_total(read_awr(text)).interval_s == 10
    assert lead.total is not None
    assert unit.total is not None
    assert (lead.total.value, unit.total.value, unit.base) == (3_600, 360, "samples")
    assert "but not the time between two" in unit.text
    assert contradicted.base == "samples"  # 14.4 s is no interval


def test_few_samples_have_no_shares() -> None:
    """Fewer than 100 samples are a gate, and no share is stated."""
    report = read_awr(ash([("CPU + Wait for CPU", "CPU", 90.0)], samples=60))
    (lead,) = ash_ledgers(report)

    assert lead.parts()["share"].null_count() == lead.parts().height
    assert [one.name for one in ash_findings(report) if one.is_gate] == ["too_few_samples"]


def test_sessions_on_cpu_above_the_cpus_are_a_queue() -> None:
    """Slots in which samples saw more sessions on CPU than CPUs; neighbours are one, and what is certain is stated."""
    report = read_awr(
        ash([("CPU + Wait for CPU", "CPU", 99.0)], samples=2_400, slots=[(60, 100), (60, 900), (60, 1_200), (60, 200)])
    )
    (queue,) = cpu_queues(report, 4, 1)

    assert (queue.begin, queue.end) == (BEGIN + dt.timedelta(minutes=1), BEGIN + dt.timedelta(minutes=3))
    assert queue.sessions == pytest.approx(2_100 / 120)
    assert queue.least_s == pytest.approx(2_100 - 2 * 2_100**0.5 - 4 * 120)
    assert cpu_queues(report, 32, 1) == []
    said = {one.name: one.sentence for one in ash_findings(report)}
    assert said["cpu_queue"].startswith(
        "From 23:59 to 00:01, samples show 17.5 sessions on CPU with 4 CPUs: at least 1,520 s"
    )
    assert said["activity_over_time"] == "The load grew from 1.67 sessions at 23:58 to 20 at 00:00."


def test_a_cut_slot_is_not_compared() -> None:
    """The first and the last slot may be cut: a change is one of the slots that are whole."""
    slots = [(30, 3), (60, 900), (60, 850), (60, 880), (15, 1)]
    report = read_awr(ash([("CPU + Wait for CPU", "CPU", 99.0)], samples=2_634, slots=slots))

    assert "activity_over_time" not in {one.name for one in ash_findings(report)}


def test_dates_of_slots_over_midnight() -> None:
    """A slot prints the time of the day; its date follows from the period and the slots before it."""
    report = read_awr(ash([("CPU + Wait for CPU", "CPU", 9.0)], samples=240, slots=[(60, 60)] * 4))

    dated = report["ash_activity"]["slot_begin"].to_list()

    assert dated == [BEGIN + dt.timedelta(minutes=number) for number in range(4)]
    assert report.info.sample_count == 240
    assert report.info.average_active_sessions == 0.4
    assert report.info.cpus == 4


@pytest.mark.parametrize("before", ["Total database time was", "Database Time:"])
def test_an_addm_report_states_db_time(before: str) -> None:
    """A total that the report does not divide; its findings overlap and are remarks."""
    text = f"          ADDM Report for Task 'TASK_1'\n          ---------\n{before} 14560 seconds\n"
    text += "The average number of active sessions was 4.04.\n\nSummary of Findings\n-------------------\n"
    text += "   Description     Active Sessions      Recommendations\n                   Percent of Activity\n"
    text += "   --------------  -------------------  ---------------\n"
    text += "1  Top Plums       3.52 | 87.1          2\n2  Ripe Plums      2.2 | 54.4           0\n"
    log = iolab.load(text.encode())
    lead = iolab.ledger(log)

    assert lead.text == "DB time was 14,560 s: 4.04 sessions were active on average"
    assert lead.parts()["kind"].to_list() == ["not_in_log"]
    assert lead.parts()["share"].to_list() == [None]  # a report of findings: that all of it is unknown is no finding
    assert [text.removeprefix("ADDM: ") for text in lead.remarks["text"]] == ["Top Plums, 87.1 %", "Ripe Plums, 54.4 %"]
    assert iolab.findings(log).filter(name="addm_finding")["impact"].null_count() == 2
    assert "not_accounted_for" not in iolab.findings(log)["name"].to_list()


HEAD = "Linux 5.4.17 (quay07) \t09/14/2026 \t_x86_64_\t(16 CPU)\n\n"


def mpstat(rows: list[tuple[float, ...]]) -> bytes:
    """Samples of a minute each: user, nice, system, iowait, irq, soft, steal, guest, idle."""
    text = HEAD
    for number, row in enumerate(rows):
        text += f"20:{number:02}:00     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest   %idle\n"
        text += f"20:{number + 1:02}:00     all " + " ".join(f"{one:7.2f}" for one in row) + "\n\n"
    return text.encode()


@given(
    weights=st.lists(st.lists(st.integers(1, 1_000), min_size=9, max_size=9), min_size=1, max_size=12),
    within=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_parts_of_processor_time_are_those_that_were_printed(weights: list[list[int]], *, within: bool) -> None:
    """Any shares that add up to 100 % are the account, whether guests are within the user's or beside it."""
    rows, truth = [], dict.fromkeys(("user", "system", "steal", "iowait", "idle"), 0.0)
    for weight in weights:
        parts = [round(100 * one / sum(weight), 2) for one in weight]
        parts[-1] = round(100 - sum(parts[:-1]), 2)
        user, nice, system, wait, irq, soft, steal, guest, idle = parts
        for name, share in (
            ("user", user + nice + guest),
            ("system", system + irq + soft),
            ("steal", steal),
            ("iowait", wait),
            ("idle", idle),
        ):
            truth[name] += share / 100 * 60 * 16
        rows.append((user + guest, *parts[1:]) if within else tuple(parts))
    (lead,) = host_ledgers(read_host(mpstat(rows)))

    assert_closed(lead)
    assert lead.total is not None
    assert lead.total.value == 16 * 60 * len(rows)
    found = dict(lead.parts().filter(level=0).select("part", "seconds").iter_rows())
    assert {name: found[name] for name in truth} == pytest.approx(truth, abs=0.01 * lead.total.value / 100 * 3)
    assert dict(lead.parts().select("part", "kind").iter_rows())["iowait"] == "idle"


def test_means_since_the_start_are_no_part() -> None:
    """The first sample of iostat is left out; a log with nothing else has no total."""
    text = HEAD
    for number, (user, idle) in enumerate(((90.0, 10.0), (20.0, 80.0), (30.0, 70.0))):
        text += f"09/14/2026 20:{number:02}:00\navg-cpu:  %user   %nice %system %iowait  %steal   %idle\n"
        text += f"        {user:7.2f}    0.00    0.00    0.00    0.00 {idle:7.2f}\n\n"
    (lead,) = host_ledgers(read_host(text.encode()))
    (void,) = host_ledgers(read_host(text[: text.index("09/14/2026 20:01")].encode()))

    assert lead.text == "processor time was 1,920 s: 16 CPUs for 120 s; the first sample (since boot) is left out"
    assert dict(lead.parts().select("part", "seconds").iter_rows())["user"] == pytest.approx(480)
    assert (void.void, void.total) == ("all figures are averages since boot", None)


def test_without_the_number_of_cpus_there_are_shares_only() -> None:
    """The log of vmstat has no number of CPUs: its total is the time of all together; rounding is no time."""
    rows = [(33, 33, 33), (34, 33, 34), (33, 34, 33)]
    text = "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n"
    text += " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
    for user, system, idle in [(1, 1, 98), *rows]:
        text += f" 1  2      0  20918  33268 299248    0    0  1148  1751 1068 5032 {user} {system} {idle}  0  0\n"
    log = read_host(text.encode())
    (lead,) = host_ledgers(log)

    assert_closed(lead)
    assert "the log states neither the length of a sample nor the number of CPUs" in lead.text
    assert lead.parts().filter(part="rounding").height <= 1
    assert lead.parts().filter(part="user").item(0, "share") == pytest.approx(1 / 3, abs=0.01)
    blocked = iolab.findings(log).filter(name="blocked_processes").item(0, "sentence")
    assert blocked == "On average 2 processes were blocked, at most 2; 1.18 MB/s were read and 1.79 MB/s were written."


def test_processes_of_pidstat_are_an_account() -> None:
    """Seconds on a CPU by process; what is left of the processors is idle or not listed; threads count once."""
    text = "Linux 6.18.44 (vm) \t09/14/2026 \t_x86_64_\t(2 CPU)\n"
    for number in range(3):
        text += f"\n20:00:{number:02}      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command\n"
        for pid, share, name in ((77, 80.0, "oracle"), (78, 40.0, "python"), (1, 0.5, "init")):
            figures = f"{share:7.2f}    0.00    0.00    0.00 {share:7.2f}"
            text += f"20:00:{number + 1:02}        0     {pid:5} {figures}     0  {name}\n"
    log = iolab.load(text.encode())
    lead = iolab.ledger(log)

    assert_closed(lead)
    assert lead.text == "processor time was 6 s (2 CPUs for 3 s), of which 3 processes used 60.2 %"
    assert lead.parts("who").filter(level=0).select("part", pl.col("seconds").round(3)).rows() == [
        ("process 77 oracle", 2.4),
        ("process 78 python", 1.2),
        ("process 1 init", 0.015),
        ("idle, or a process that is not listed", 2.385),
    ]
    assert iolab.findings(log).filter(name="main_statement").is_empty()
    said = iolab.findings(log).filter(name="busy_process")["sentence"].to_list()
    assert said == [
        "Process 77 (`oracle`) used 0.800 CPUs on average.",
        "Process 78 (`python`) used 0.400 CPUs on average.",
    ]


def test_devices_alone_have_no_account() -> None:
    """A log of devices states no time of processors: there is no ledger, and the device is a fact."""
    log = iolab.load(b"Device r/s w/s rkB/s wkB/s r_await w_await\nsda 1 1 8 8 9 1\n\n" * 2)

    assert iolab.ledgers(log) == []


def test_session_samples_have_rounding_and_sampling() -> None:
    """Snapper: the sessions that its table does not show are a part; polls: a share with the interval of sampling."""
    rows = [(3.0, "a1", "db file sequential read"), (1.0, "b2", "ON CPU")]
    lines = [
        "-" * 60,
        "  ActSes   %Thread | INST | SQL_ID          | EVENT                        | WAIT_CLASS",
        "-" * 60,
    ]
    for active, sql_id, event in rows:
        kind = "ON CPU" if event == "ON CPU" else "User I/O"
        lines.append(f"{active:8.2f}    ({100 * active:.0f}%) |    1 | {sql_id:15} | {event:28} | {kind}")
    lines += ["", "--  End of ASH snap 1, end=2024-02-19 13:05:10, seconds=10, samples_taken=50, AAS=5", ""]
    (lead,) = session_ledgers(read_session_samples("\n".join(lines).encode()))

    assert_closed(lead)
    assert lead.total is not None
    assert (lead.total.lo, lead.total.value, lead.total.hi) == (225.0, 250.0, 275.0)
    assert lead.parts().select("name", "seconds").rows() == [
        ("db file sequential read", 150.0),
        ("CPU", 50.0),
        ("not listed", 50.0),
    ]
    assert lead.parts().item(0, "seconds_lo") < 149.75  # more than the rounding of 3.00
    assert lead.parts("who")["part"].to_list() == ["a1", "b2", "not listed"]
    assert session_ledgers(read_session_samples(b"SAMPLE_ID,SID,STATE,EVENT\n"))[0].void


def test_a_profile_is_an_account_of_its_samples() -> None:
    """Layers, and their functions; samples of idle processors are in no part."""
    (lead,) = profile_ledgers(
        read_profile(b"  oracle`kdst_fetch   150\n  oracle`kdsgrp  30\n  oracle`kcbgtcr   20\n  unix`mach_cpu_idle 9\n")
    )

    assert_closed(lead)
    assert (lead.base, lead.text) == (
        "samples",
        "the profile has 200 samples of busy processors; 9 samples of idle processors are left out",
    )
    functions = lead.parts().filter(level=1, kind="cpu")["name"].to_list()
    assert functions == ["kdst_fetch", "kdsgrp", "kcbgtcr"]
    assert lead.parts().item(0, "share_lo") == pytest.approx(0.853, abs=0.003)  # Wilson, 180 of 200
    # the samples add up; what their chance allows is no rounding
    assert ledger_rows(lead, "what")[-1].name == "not accounted for"


@pytest.mark.corpus
def test_sampled_time_of_the_corpus_is_closed(corpus: Path) -> None:
    """ASH: samples x interval = sessions x elapsed time; hosts: the parts of all samples are 100 %."""
    checked = []
    for path in sorted((corpus / "awr").rglob("*ash*")):
        if path.is_file() and path.suffix in {".txt", ".html"} and read_awr(path).kind == "ash":
            (lead, *others) = ash_ledgers(read_awr(path))
            for ledger in (lead, *others):
                assert_closed(ledger)
            checked.append(lead.checks.filter("holds").height)
            assert lead.parts().filter(level=0, kind="unlisted")["share"].sum() < 0.15
    assert checked == [1] * 5
    rests = []
    for path in sorted((corpus / "os").rglob("*")):
        try:
            log = iolab.load(path) if path.is_file() else None
        except LogError:
            continue
        for ledger in iolab.ledgers(log) if log is not None and log.format in {"host", "session_samples"} else ():
            if not ledger.void:
                assert_closed(ledger)
                if "what" in ledger.views and log.format == "host":  # type: ignore[union-attr]  # not None here
                    last = ledger.parts().filter(level=0, kind="not_accounted").filter(pl.col("part") != "rounding")
                    rests.append(last["share"].abs().sum())
    assert len(rests) > 40
    assert max(rests) < 0.001


def first_sentences(text: str) -> dict[str, str]:
    """What is said of a log, by name; of several findings of a name the first."""
    found = iolab.findings(iolab.load(text.encode()))
    return dict(reversed(found.select("name", "sentence").rows()))


def test_idle_samples_are_no_share_of_work() -> None:
    """Shares are of the samples that are not idle; a log with nothing else has none."""
    head = "SAMPLE_ID,SID,STATE,EVENT,WAIT_CLASS,SQL_ID\n"
    rows = ("WAITING,enq: TX - row lock contention,Application,9abcdefghij01", "ON CPU,,,7qwertyuiop12")
    idle = "WAITING,SQL*Net message from client,Idle,"

    def polls(*states: str) -> bytes:
        return (head + "".join(f"{n},1,{states[n % len(states)]}\n" for n in range(400))).encode()

    lead = iolab.ledger(iolab.load(polls(*rows, idle, idle)))
    assert_closed(lead)
    shares = {row["name"]: row["share"] for row in lead.parts("what").iter_rows(named=True)}
    assert shares["CPU"] == shares["enq: TX - row lock contention"] == 0.5
    assert shares["SQL*Net message from client"] is None
    said = iolab.findings(iolab.load(polls(*rows, idle, idle)))["sentence"].to_list()
    assert "`SQL*Net message from client` is idle time: 200 samples." in said
    assert not [one for one in said if "no SQL statement" in one]
    only = iolab.load(polls(idle))
    assert iolab.ledger(only).unshared == "almost nothing ran: all samples are idle"
    assert not [one for one in iolab.findings(only)["sentence"] if "%" in one]


def four_processors(one: float, others: float, *, moves: bool = False, kernel: float = 0) -> str:
    """Three samples of four processors, the second of which, or a later one each time, is so busy with interrupts."""
    text = "Linux 6.1.0 (fig) \t09/14/2026 \t_x86_64_\t(4 CPU)\n"
    heads = ("%usr", "%nice", "%sys", "%iowait", "%irq", "%soft", "%steal", "%guest", "%gnice", "%idle")
    for number in range(3):
        text += f"\n20:0{number}:00     CPU" + "".join(f"{name:>9}" for name in heads) + "\n"
        full = 1 + number * moves
        for cpu in ("all", *range(4)):
            busy = (one + 3 * others) / 4 if cpu == "all" else one if cpu == full else others
            figures = (0, 0, kernel, 0, 0, busy, 0, 0, 0, 100 - busy - kernel)
            text += f"20:0{number + 1}:00    {cpu:>4}" + "".join(f"{one:9.2f}" for one in figures) + "\n"
    return text


def test_one_processor_can_be_the_limit() -> None:
    """One full processor is said, though the mean of all is low; where all are full the mean says it."""
    assert first_sentences(four_processors(99, 3))["busiest_processor"] == (
        "CPU 1 was 99 % busy, mostly with soft interrupts (99 %); all 4 CPUs together were 27 % busy."
    )
    assert first_sentences(four_processors(99, 3, moves=True))["busiest_processor"] == (
        "In 3 of 3 samples one CPU was at least 90 % busy, not always the same: 1, 2 and 3; all 4 CPUs together were "
        "27 % busy."
    )
    for one, others in ((99, 98), (80, 3), (3, 3)):
        assert "busiest_processor" not in first_sentences(four_processors(one, others))


def test_interrupts_within_the_time_of_the_kernel_are_named_there() -> None:
    """Their own sentence says no other time than that of the kernel does."""
    said = iolab.findings(iolab.load(four_processors(96, 28, kernel=4).encode())).get_column("sentence").to_list()

    assert (
        "Kernel code (system) took 49 % of processor time: soft interrupts 45 %, kernel code without interrupts 4.0 %."
        in said
    )
    assert "Soft interrupts took 45 % of processor time." in said


def test_stolen_time_and_swapping_are_said() -> None:
    """What the hypervisor took, and memory that was read back from the disk, are no work of the host."""
    head = "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n"
    head += " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
    row = " 2 20 900000  65536   1024  20480 {} 3000 44000 56000 9000 12000 20 10 30  0 40\n"

    said = first_sentences(head + row.format(2000) * 20)
    assert said["stolen_time"] == "The CPUs were taken by the hypervisor (steal) for 40 % of the time."
    assert said["swapping"] == "The host swapped 2,000 KiB/s in and 3,000 KiB/s out."
    assert "swapping" not in first_sentences(head + row.format(2) * 20)


def test_a_device_that_is_never_idle_comes_before_idle_processors() -> None:
    """Idle processors say nothing of the host: the queue of a device is said first."""
    text = "Linux 6.1.0 (fig) \t09/14/2026 \t_x86_64_\t(4 CPU)\n"
    for number in range(4):
        text += f"\n09/14/2026 08:0{number}:00 PM\navg-cpu:  %user   %nice %system %iowait  %steal   %idle\n"
        text += "           2.00    0.00    1.00   40.00    0.00   57.00\n\n"
        text += "Device r/s w/s rkB/s wkB/s r_await w_await\nsda 200.0 1.0 1600.0 8.0 90.0 1.0\n"
    found = iolab.findings(iolab.load(text.encode()))
    assert found["name"].to_list()[:2] == ["device_load", "processors"]
    assert not [one for one in found["sentence"] if "host was idle" in one]


def test_several_hosts_are_the_reason() -> None:
    """Samples of several hosts are refused as such."""
    text = "Linux 6.1.0 ({}) \t09/14/2026 \t_x86_64_\t(4 CPU)\n\n20:00:00 CPU %user %system %iowait %idle\n"
    text += "20:01:00 all 1.00 1.00 0.00 98.00\n20:02:00 all 1.00 1.00 0.00 98.00\n\n"
    said = first_sentences(text.format("fig") + text.format("quince"))
    assert "its samples are of several hosts" in said["nothing_read"]


@pytest.mark.parametrize(("between", "are_two"), [(0, True), (4, True), (60, False)])
def test_two_groups_of_times_are_said(between: int, *, are_two: bool) -> None:
    """Few times between two peaks, or none, make two groups; a shoulder does not."""
    text = "     usecs               : count     distribution\n"
    for low, count in ((128, 900), (256, between), (512, between), (1024, 300), (2048, 100)):
        text += f"{low:>10} -> {2 * low - 1:<10} : {count:<8} |*|\n"
    assert ("two_groups" in first_sentences(text)) is are_two


TOP = """top - 10:15:0{n} up 30 days,  2:11,  3 users,  load average: {load}, 20.52, 14.21
Tasks: 512 total,  12 running, 500 sleeping,   0 stopped,   0 zombie
%Cpu(s): {us:4.1f} us,  5.0 sy,  0.0 ni, {idle:4.1f} id, 43.0 wa,  0.0 hi,  1.0 si,  0.0 st

  PID USER      PR  NI    VIRT    RES    SHR S  %CPU %MEM     TIME+ COMMAND
 4711 oracle    20   0 12.345g 1.234g 1.100g D  {dbw:4.1f}  2.0  10:11.12 ora_dbw0_orc
 4800 root      20   0  123456  12345   1234 R  {rman:4.1f}  0.1   1:11.12 rman

"""


def test_samples_of_top_are_an_account_of_the_processors() -> None:
    """States of the processors, load, the process with most CPU, blocked processes; the first sample is since boot."""
    first = TOP.format(n=1, load="1.11", us=50.0, idle=1.0, dbw=99.0, rman=1.0)
    later = [TOP.format(n=n, load=f"2{n}.50", us=11.0, idle=40.0, dbw=5.0, rman=60.0) for n in (2, 3)]
    log = "".join([first, *later]).encode()
    (lead,) = iolab.ledgers(iolab.load(log))
    said = iolab.findings(iolab.load(log)).get_column("sentence").to_list()

    shares = {row["part"]: round(row["share"], 3) for row in lead.parts().filter(level=0).iter_rows(named=True)}
    assert shares == {"user": 0.11, "system": 0.06, "iowait": 0.43, "idle": 0.4, "steal": 0.0, "rounding": 0.0}
    assert "The CPUs were idle, with I/O in flight (iowait), for 43 % of the time." in said
    assert "Process 4800 (`rman`) used 0.600 CPUs on average." in said
    assert "1 process was blocked (state D) on average, 1 at most: `ora_dbw0_orc`." in said
    assert "The load average was 23.5 (1 minute) in the last sample." in said
    assert not [one for one in said if one.startswith("Process 4711")]


def test_one_sample_of_top_has_no_shares() -> None:
    """The only sample is a mean since the start: its facts are said as such, and nothing else."""
    log = iolab.load(TOP.format(n=1, load="3.00", us=11.0, idle=40.0, dbw=5.0, rman=60.0).encode())

    assert iolab.ledger(log).void
    assert "Process 4800 (`rman`) used 0.600 CPUs in the only sample." in set(iolab.findings(log)["sentence"])


def test_percentages_of_several_processors_say_how_many_there_are() -> None:
    """Atop adds up the shares of all processors: 400 % are four of them."""
    head = "ATOP - db1      2024/02/19  13:18:{}      -----------------      10s elapsed\n"
    row = "CPU | sys      {}% | user    {}% | irq       0% | idle    {}% | wait      {}% |\n"
    log = head.format("24") + row.format(1, 1, 398, 0) + head.format("34") + row.format(20, 300, 40, 40)
    lead = iolab.ledger(iolab.load(log.encode()))

    assert {row["part"]: round(row["share"], 3) for row in lead.parts().filter(level=0).iter_rows(named=True)} == {
        "user": 0.75, "system": 0.05, "iowait": 0.1, "idle": 0.1, "rounding": 0.0
    }  # fmt: skip


def test_processor_time_of_all_processes_is_one_part() -> None:
    """CPU of sessions and of background processes is one row; other events of the background are apart."""
    events = [("CPU + Wait for CPU", "CPU", 20.0), ("enq: TX - row lock contention", "Application", 65.0)]
    background = [("CPU + Wait for CPU", "CPU", 2.0), ("log file parallel write", "System I/O", 1.5)]
    lead, foreground, _ = ash_ledgers(read_awr(ash(events, background=background, samples=1_200)))

    assert lead.parts().filter(part="CPU + Wait for CPU").item(0, "seconds") == pytest.approx(264)
    assert lead.parts().filter(part="background processes").item(0, "seconds") == pytest.approx(18)
    assert foreground.parts().filter(part="CPU + Wait for CPU").item(0, "seconds") == pytest.approx(240)
    assert_closed(lead)


def test_who_blocked_others_stands_beside_what_they_waited_for() -> None:
    """Of any event that blocks: the session is the second sentence, and its step is the first."""
    events = [("library cache lock", "Concurrency", 60.0), ("CPU + Wait for CPU", "CPU", 30.0)]
    more = "Top Blocking Sessions        DB/Inst: PLUM/plum  (Mar 1 23:58 to 00:08)\n\n"
    more += "   Blocking Sid (Inst) % Activity Event Caused                      % Event\n"
    more += "---------------------- ---------- ------------------------------ ----------\n"
    more += "User                 Program                          # Samples Active     XIDs\n"
    more += "-------------------- ------------------------------ ------------------ --------\n"
    more += f"{'655, 8841(   1)':>22} {55.0:10.2f} {'library cache lock':30} {55.0:10.2f}\n"
    more += f"{'DBADMIN':20} {'SQL Developer':30} {'10/600 [  2%]':>18} {0:8}\n\n"
    more += "          -------------------------------------------------------------\n\n"
    lines = summary_text(summarize(iolab.load(ash(events, samples=1_200, more=more))), "ash.txt").splitlines()

    assert "of the samples (±" in lines[1]
    assert "`library cache lock`" in lines[1]
    assert lines[2].startswith("Session 655 (SQL Developer) blocked other sessions in 55 % of the samples")
    assert "next: have its transaction committed or rolled back, else end session 655" in lines


@pytest.mark.parametrize(("entry", "inner"), [(71.12, 70.84), (71.12, 3.0), (20.0, 20.0)])
def test_the_plsql_of_a_third_of_the_samples_is_named(entry: float, inner: float) -> None:
    """The table of PL/SQL says what code was executed all the time, and how much was its own."""
    more = "Top PL/SQL Procedures      DB/Inst: PLUM/plum  (Mar 1 23:58 to 00:08)\n\n"
    for names, percent in (("PLSQL Entry Subprogram", "% Activity"), ("PLSQL Current Subprogram", "% Current")):
        more += f"{names:65} {percent}\n{'-' * 65} ----------\n"
    more += f"CTX.TENANT {entry:65.2f}\n   CTX.TENANT {inner:62.2f}\n\n" + " " * 10 + "-" * 61 + "\n\n"
    found = iolab.findings(ash([("CPU + Wait for CPU", "CPU", 90.0)], samples=6_000, more=more))
    said = found.filter(name="sampled_plsql").get_column("sentence").to_list()
    own = ", 71 % in its own code" * (inner > 10)
    assert said == [f"`CTX.TENANT` was executed in 71 % of the samples{own}."] * (entry > 33)
