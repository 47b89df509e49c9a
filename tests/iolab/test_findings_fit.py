"""What a screen says first, and advises, is of what took the time: waits, parsing, failures, time-outs, paging."""

from __future__ import annotations

import polars as pl
import pytest

import iolab
from iolab.metrics.report_facts import ReportFacts, Statement, Wait
from iolab.pages.ledger_text import first_screen
from iolab.rules.finding import Finding, findings_frame
from iolab.rules.load import cpu_is_the_time, db_time_unaccounted, host_memory_exhausted, parse_time
from iolab.rules.time_parts import with_ledger
from iolab.time_ledger.reports import ledger_of
from logframe.interval import Interval

ONE = "7cx3m1qp9zgj5"
RUN = "SQL> {}\n{}\nElapsed: {}\n\n"


def screen(text: str) -> list[str]:
    """The first screen of a log, without the bars."""
    log = iolab.load(text.encode())
    return first_screen(iolab.findings(log), iolab.ledgers(log)[0]).splitlines()


def step(events: dict[str, float], hard_parse_s: float = 0.0, statement_s: float = 80.0) -> str:
    """What to do next about a statement with most of 100 s, beside these waits."""
    facts = ReportFacts(
        db_time_s=Interval.exact(100),
        events={name: Wait(Interval.exact(500), Interval.exact(time)) for name, time in events.items()},
        hard_parse_s=Interval.exact(hard_parse_s),
        statements=(Statement(ONE, Interval.exact(statement_s)),),
    )
    return str(ledger_of(facts).frame.filter(part=ONE).item(0, "next"))


@pytest.mark.parametrize(
    ("event", "advice"),
    [
        ("enq: TX - index contention", "see the index that grows"),
        ("enq: TX - row lock contention", "see the blocking sessions"),
        ("log file switch (checkpoint incomplete)", "enlarge the log files"),
        ("log file sync", "see the redo devices"),
    ],
)
def test_a_plan_is_no_advice_for_waits_of_others(event: str, advice: str) -> None:
    """Most of DB time in such a wait, and most of it in the statement: both are the same time."""
    assert step({event: 70}).startswith(advice)
    assert step({event: 30}).startswith("see the plan")
    assert step({event: 70}, statement_s=20).startswith("see the plan")


def test_the_step_of_several_events_is_that_of_their_sum() -> None:
    """Reads and writes of temporary files are one sort; parsing is more than its waits; reads are of the plan."""
    assert step({"direct path read temp": 40, "direct path write temp": 33}).startswith("look in V$SQL_WORKAREA")
    assert step({"latch: shared pool": 20}, hard_parse_s=70).startswith("see statements that differ")
    assert step({"db file sequential read": 70}).startswith("see the plan")


@pytest.mark.parametrize("parse_s", [20.0, 70.0])
def test_parsing_of_half_the_time_is_said_beside_its_cpu(parse_s: float) -> None:
    """Less of it stands below the table."""
    facts = ReportFacts(
        db_time_s=Interval.exact(100),
        elapsed_s=Interval.exact(50),
        db_cpu_s=Interval.exact(80),
        parse_s=Interval.exact(parse_s),
        hard_parse_s=Interval.exact(parse_s),
    )
    ledger = ledger_of(facts)
    found = findings_frame(with_ledger([*cpu_is_the_time(facts), *parse_time(facts)], [ledger]))
    lines = first_screen(found, ledger).splitlines()

    assert lines[1].startswith("CPU took 80 %")
    assert lines[2].startswith("Parsing took 70 %") == (parse_s == 70)
    assert ("force_matching_signature" in lines[-1]) == (parse_s == 70)


def test_memory_that_is_short_is_said_beside_the_time_of_it() -> None:
    """Pages to and from the disk, and swap that filled in the period: the rest of DB time is of that."""
    before = {"VM_IN_BYTES": 4e10, "VM_OUT_BYTES": 3e10, "SWAP_FREE_BYTES": 9e9, "PHYSICAL_MEMORY_BYTES": 1.6e10}
    held = "SGA and PGA were 96 % of the memory"
    for free, held_pct, is_short in ((4e9, 50.0, "free swap fell"), (9e9, 50.0, ""), (9e9, 96.0, held)):
        facts = ReportFacts(
            db_time_s=Interval.exact(14_792),
            elapsed_s=Interval.exact(3_645),
            db_cpu_s=Interval.exact(1_902),
            cpus=4,
            idle_pct=Interval.exact(50),
            classes={"Concurrency": Interval.exact(2_446)},
            os=before,
            os_end={"SWAP_FREE_BYTES": free, "% Host Mem used for SGA+PGA": held_pct},
        )
        ledger = ledger_of(facts)
        found = [*db_time_unaccounted(facts), *host_memory_exhausted(facts)]
        lines = first_screen(findings_frame(with_ledger(found, [ledger])), ledger).splitlines()

        assert lines[1].startswith("71 % of DB time is counted neither as CPU nor as a wait")
        paged = lines[2].startswith(f"11.0 MB/s were paged in and 8.23 MB/s out; {is_short or 'free swap fell'}")
        assert paged == bool(is_short)
        assert lines[-1].startswith("next: reduce SGA and PGA") == bool(is_short)


def test_a_failure_that_was_the_session_is_said_first() -> None:
    """It is in no total; one that was short is not."""
    ok, error = RUN.format("alter index i rebuild;", "Index altered.", "{}"), "ORA-30036: unable to extend segment\n"
    failed = RUN.format("insert into a select * from b;", error, "01:02:02.00")
    long, short = screen(ok.format("00:03:32.00") + failed), screen(ok.format("09:03:32.00") + failed)

    assert long[1] == "The statement at line 5 failed with ORA-30036 after 3,722 s; the rest of the session took 212 s."
    assert [line for line in long if line.startswith("next: enlarge the undo tablespace")]
    assert " ".join(short).count("The statement at line 1 took all of the time") == 1
    assert "failed with" not in " ".join(short)


@pytest.mark.parametrize("seconds", ["00.03", "00.30", "03.00"])
def test_a_session_of_no_time_needs_no_trace(seconds: str) -> None:
    """Two statements of 30 ms: nothing stands out, and nothing is to do; of 3 s a trace shows what they waited for."""
    text = "".join(RUN.format(one, "", f"00:00:{seconds}") for one in ("select a from t;", "select b from t;"))
    lines = screen(text)

    assert lines[1].startswith("Nothing stands out: no statement took longer than 30 ms") == (seconds == "00.03")
    assert ("next:" not in " ".join(lines)) == (seconds == "00.03")
    assert lines[-1].startswith("next: repeat with longer runs") == (seconds == "00.30")
    assert ("trace" in " ".join(lines)) == (seconds == "03.00")
    assert "Nothing stands out" not in " ".join(screen(text + RUN.format("select c from t;", "", "").split("Elap")[0]))


@pytest.mark.parametrize(("disk", "counted"), [(1, 212_040), (0, 212_040), (0, 5_000_000)])
def test_a_sort_on_disk_is_no_matter_of_the_cache(disk: int, counted: int) -> None:
    """A sort that went to disk, or more blocks from disk than gets: another run reads them again."""
    statistics = f"""
Statistics
----------------------------------------------------------
          0  recursive calls
          0  db block gets
  {counted:9}  consistent gets
    1922118  physical reads
          0  redo size
       1000  bytes sent via SQL*Net to client
        400  bytes received via SQL*Net from client
          2  SQL*Net roundtrips to/from client
          0  sorts (memory)
          {disk}  sorts (disk)
          1  rows processed
"""
    text = RUN.format("select * from trades order by c;", "\n1 row selected.\n", "00:31:44.66") + statistics
    found = iolab.findings(iolab.load(text.encode())).filter(name="main_statement")

    assert found.item(0, "next").startswith("look in V$SQL_WORKAREA") == (counted < 1_922_118)


def said(log: str, name: str) -> str:
    """The sentence of a call in a log of strace."""
    found = iolab.findings(iolab.load(log.encode()))
    return str(found.filter(pl.col("sentence").str.starts_with(f"`{name}`")).item(0, "sentence"))


def test_no_mean_over_calls_of_two_kinds() -> None:
    """Time-outs beside answers, and one long call beside short ones."""
    poll = "17000000{:02}.000000 poll([{{fd=7, events=POLLIN}}], 1, 5000) = {} <{}>\n"
    late = "".join(
        poll.format(10 * n, "0 (Timeout)", "5.000000") + poll.format(10 * n + 6, "1 ([{fd=7}])", "0.000400")
        for n in range(4)
    )
    long = "".join(f"17000000{10 + n}.000000 fsync(3</a>) = 0 <0.000400>\n" for n in range(4))
    long += "1700000020.000000 fsync(3</a>) = 0 <9.000000>\n"

    assert "4 of 8 calls timed out, 5 s each." in said(late, "poll")
    assert "5 calls, the longest 9 s" in said(long, "fsync")
    assert "each" in said(long.replace("0.000400", "0.900000"), "fsync")


def test_a_cause_is_below_the_part_that_it_explains() -> None:
    """What explains an event of a tenth of the time stands below it, where it takes no more than it."""
    events = {
        name: Wait(Interval.exact(900), Interval.exact(s)) for name, s in (("log file sync", 60), ("latch: x", 20))
    }
    facts = ReportFacts(db_time_s=Interval.exact(100), elapsed_s=Interval.exact(50), events=events)

    def order(**fields: object) -> list[str]:
        causes = [Finding("logons", "It is this.", **fields)]  # type: ignore[arg-type]
        rows = findings_frame(with_ledger(causes, [ledger_of(facts)])).to_dicts()
        return [row["part"] or "" for row in rows if row["name"] == "logons"]

    assert order(explains=("log file",)) == ["log file sync"]
    assert order(explains=("log file",), impact=Interval.exact(0.5)) == ["log file sync"]
    assert order(explains=("log file",), impact=Interval.exact(0.7)) == [""]
    assert order(explains=("log file",), is_refused=True) == [""]
    assert order(explains=("latch",)) == ["latch: x"]
    assert order(explains=("gc ",)) == [""]
    assert order() == [""]


def test_the_step_of_a_calm_hour_is_another_hour() -> None:
    """Where little ran no plan is worth a look, but that of a statement with most of it."""

    def step(time: float) -> str:
        one = Statement("7x0zq3mw9kd1f", Interval.exact(time), cpu_s=Interval.exact(time))
        facts = ReportFacts(
            db_time_s=Interval.exact(300),
            db_cpu_s=Interval.exact(280),
            elapsed_s=Interval.exact(3_600),
            statements=(one,),
        )
        return str(ledger_of(facts).parts("who").filter(level=0).item(0, "next"))

    assert "busy hour" in step(80)
    assert "plan" in step(250)
