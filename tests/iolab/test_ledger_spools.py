"""The account of SQL*Plus sessions: totals over runs, failed and unknown ones apart, bounds, and what is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_checks import faults

import iolab
from iolab import metrics
from iolab.pages import session_summary
from iolab.rules.sessions import session_findings
from iolab.time_ledger.parts import NO_OWNER, TIMED
from iolab.time_ledger.spools import spool_headline, spool_ledgers
from logframe.errors import LogError
from sqlplusparse import Spool, read_spool

if TYPE_CHECKING:
    from pathlib import Path

    from iolab.rules.finding import Finding
    from iolab.time_ledger.account import Ledger

RESULT = "\n  COUNT(*)\n----------\n         1\n"
CANCELLED = "ORA-01013: user requested cancel of current operation\n"


def spool(text: str) -> Spool:
    """The session of a text."""
    return read_spool(text.encode())


def run(text: str, seconds: float, *, shown: str = RESULT) -> str:
    """A statement as the client shows it with SET TIMING ON."""
    minutes, rest = divmod(round(seconds * 100), 6000)
    return f"SQL> {text};\n{shown}\nElapsed: {minutes // 60:02}:{minutes % 60:02}:{rest / 100:05.2f}\n"


def traced(text: str, seconds: float, **counts: int) -> str:
    """A query with autotrace; underlined names of counts are those of its list."""
    names = {
        "recursive calls": 0,
        "db block gets": counts.get("current", 0),
        "consistent gets": counts.get("gets", 0),
        "physical reads": counts.get("blocks", 0),
        "redo size": counts.get("redo", 0),
        "bytes sent via SQL*Net to client": 543,
        "bytes received via SQL*Net from client": 524,
        "SQL*Net roundtrips to/from client": counts.get("trips", 2),
        "sorts (memory)": 0,
        "sorts (disk)": counts.get("sorts", 0),
        "rows processed": counts.get("rows", 1),
    }
    listed = "".join(f"{value:11}  {name}\n" for name, value in names.items())
    rows = f"\n{counts['rows']} rows {'updated' if counts.get('redo') else 'selected'}.\n" if "rows" in counts else ""
    return f"{run(text, seconds, shown=rows or RESULT)}\nStatistics\n{'-' * 58}\n{listed}\n"


def account(text: str) -> Ledger:
    """The only ledger of a session."""
    (ledger,) = spool_ledgers(spool(text))
    return ledger


def found(text: str) -> list[Finding]:
    """What the rules say of a session."""
    return list(session_findings(spool(text)))


def sentences(text: str, *names: str) -> list[str]:
    """The sentences of findings of some names."""
    return [one.sentence for one in found(text) if one.name in names]


REPEATED = (
    run("select count(*) from hot", 5.0) * 3 + run("select 1 from once", 45) + run("SELECT  count(*)\nfrom HOT", 5) * 17
)
#: A full scan, a sort on disk and an update: each an hour's third.
THREE = (
    traced("select * from orders", 992.12, gets=123_456, blocks=12, trips=65_493, rows=982_374)
    + traced(
        "select * from orders order by x",
        1112.12,
        gets=123_456,
        current=8,
        blocks=2_300_012,
        trips=65_493,
        sorts=1,
        rows=982_374,
    )
    + traced("update orders set x=x+1", 1232.12, gets=123_456, blocks=56_012, redo=453_012_344, trips=3, rows=982_374)
)


def test_runs_of_one_text_are_one_part() -> None:
    """20 runs of 5 s are more than one of 45 s, whatever their case and blanks; they are named by number."""
    ledger = account(REPEATED)

    assert ledger.parts("who").select("part", "count", "seconds").rows()[:2] == [
        ("statement 1", 20.0, 100.0),
        ("statement 4", 1.0, 45.0),
    ]
    assert ledger.base == "timed statements"
    assert spool_headline(spool(REPEATED)) == "SQL*Plus session, 21 runs of 2 statements"
    assert sentences(REPEATED, "main_statement") == [
        "Statement 1 took 69 % of the time: 20 runs of 5 s.",
        "Statement 4 took 31 % of the time: 45 s.",
    ]


def test_runs_and_statements_are_counted_alike_in_heading_and_total() -> None:
    """Of 6 runs one is not timed, and one failed; those with a time and those without are 4 statements together."""
    bare = "SQL> show parameter db_cache_size\n\nNAME\n------\nx\n"
    failed = run("select 3 from t", 1, shown=CANCELLED)
    text = run("select 1 from t", 5) * 3 + run("select 2 from t", 1) + bare + failed

    assert spool_headline(spool(text)) == "SQL*Plus session, 6 runs of 4 statements"
    assert "; 1 run is not timed, 1 failed" in account(text).text


def test_literals_that_differ_in_case_or_blanks_are_other_statements() -> None:
    """Only what is outside of literals is folded."""
    text = run("select 'A  b' from t", 1) + run("SELECT 'A  b' from t", 1) + run("select 'a b' from t", 3)

    assert account(text).parts("who").select("count", "seconds").rows()[:2] == [(1.0, 3.0), (2.0, 2.0)]


def test_failed_statements_are_in_no_total_and_no_median() -> None:
    """12 runs, 7 of them cancelled after 0.31 s: five runs of 5 s, and the cancelled ones are named apart."""
    text = run("select count(*) from orders", 5) * 5 + run("select count(*) from orders", 0.31, shown=CANCELLED) * 7
    ledger = account(text)

    assert ledger.total is not None
    assert ledger.total.value == 25
    assert "7 failed (2.17 s, not counted)" in ledger.text
    assert ledger.remarks.item(0, "rule") == "failed_statements"
    assert ledger.checks.select("printed", "holds").rows() == [(pytest.approx(27.17), True)]
    assert sentences(text, "main_statement") == [
        "Statement 1 took all of the time of the statements that succeeded: 5 runs of 5 s."
    ]
    assert sentences(text, "failed_statements") == [
        "7 statements failed (ORA-01013 7 times); they took 2.17 s together."
    ]


def test_a_session_of_failed_statements_has_no_total() -> None:
    """Nothing succeeded: there is no account, and the reason says how long the statements ran."""
    ledger = account(run("select 1 from t", 3, shown=CANCELLED) * 2)

    assert ledger.void == "all 2 timed statements failed (6.00 s in all)"
    with pytest.raises(LogError):
        ledger.parts("who")


def test_an_untimed_session_has_no_ledger() -> None:
    """It is said that nothing is timed, and statements without a time are counted beside those with one."""
    bare = "SQL> select 1 from t;\n\n         1\n----------\n         1\n"

    assert spool_ledgers(spool(bare)) == []
    assert [one.name for one in found(bare)] == ["not_timed"]
    assert "; 1 statement is not timed" in account(bare + run("select 2 from t", 1)).text


def test_an_error_of_the_client_owns_no_time() -> None:
    """The Elapsed below it is of a statement that is not shown: 84 % of this session."""
    text = "SP2-0310: unable to open file\n\nElapsed: 00:00:21.00\n" + run("select 1 from t", 4)  # noqa: S608 - nobody runs it
    ledger = account(text)

    assert ledger.parts("who").select("name", "kind", "seconds").rows() == [
        ("line 4: select 1 from t", "mixed", 4.0),
        (NO_OWNER, "unlisted", 21.0),
    ]
    assert ledger.total is not None
    assert ledger.total.value == 25
    assert "`set echo on`" in ledger.remarks.filter(pl.col("role") == "next").item(0, "text")


@pytest.mark.parametrize("between", ["", "SQL> set feedback off\n"])
@pytest.mark.parametrize("last", ["00:01:35.368", "00:01:35.369", "00:01:35.367"])
def test_what_sqlcl_prints_again_is_not_added(between: str, last: str) -> None:
    """The end of a script repeats the last Elapsed, within a millisecond, and a command may stand between."""
    first = "SQL> select 1 from t;\n\n1 row selected. \nElapsed: 00:01:35.368\n"
    ledger = account(f"{first}{between}Elapsed: {last}\n")

    assert ledger.total is not None
    assert ledger.total.value == pytest.approx(95.368)
    assert ledger.checks.get_column("holds").all()


def test_another_time_below_a_command_is_counted() -> None:
    """A time that differs by more than a millisecond, or after a script was run, is no repetition."""
    first = "SQL> select 1 from t;\n\n1 row selected. \nElapsed: 00:01:35.368\n"
    other = account(f"{first}SQL> set feedback off\nElapsed: 00:01:35.371\n")
    script = account(f"{first}SQL> @load.sql\nElapsed: 00:01:35.368\n")

    assert [one.total.value for one in (other, script) if one.total] == pytest.approx([190.739, 190.736])


def test_a_commit_of_autocommit_leaves_the_time_to_its_statement() -> None:
    """An unechoed delete of two hours, committed by SET AUTOCOMMIT, owns the Elapsed below it, where its script ran."""
    text = "SQL> @run.sql\n\n79652 rows deleted.\n\nCommit complete.\n\nElapsed: 02:06:32.12\n"

    assert account(text).parts("who").select("name", "seconds").rows()[0] == ("line 1: delete", 7592.12)


def test_hours_are_never_nothing() -> None:
    """The largest statement first, reads as a bound of each block, the sort on disk, and the round trips."""
    trips = "982,374 rows took 65,493 round trips"
    said = [one for one in found(THREE) if not one.is_refused]

    wrote = "read 56,012 blocks from disk and wrote 432 MiB of redo"
    assert [one.sentence for one in said] == [
        f"The statement at line 41 took 37 % of the time; it made 123,456 gets for 982,374 rows, {wrote}.",
        "That is at most 22 ms per block, even if the whole elapsed time was I/O.",
        f"The statement at line 21 read 2,300,012 blocks in at most 484 us each and sorted on disk; {trips}.",
        f"The statement at line 1 took 30 % of the time; {trips}.",
    ]
    assert said[0].next == "take an extended SQL trace (event 10046) of its next run"  # one of them changes rows
    (refused,) = (one for one in found(THREE) if one.name == "lio_cost")
    assert (
        refused.sentence
        == "The costs of a logical read and of a round trip cannot be separated: every run also read from disk."
    )


def test_a_scan_of_two_hours_has_a_bound_of_each_block() -> None:
    """One statement is all of the time; 7,592.13 s / 88,123,456 blocks are at most 86.2 us."""
    text = traced("select count(*) from orders", 7592.12, gets=90_123_456, blocks=88_123_456)

    assert sentences(text, "main_statement", "block_cost") == [
        "The statement at line 1 took all of the time; it read 88,123,456 blocks from disk.",
        "That is at most 86.2 us per block, even if the whole elapsed time was I/O.",
    ]


def test_costs_of_statements_are_sums_and_bounds() -> None:
    """Of all runs of a text; nothing is bounded where reads overlap."""
    text = traced("select 1 from t", 0.5, gets=1000, blocks=100) + traced("select 1 from t", 1.5, gets=3000, blocks=300)
    (row,) = metrics.statement_costs(spool(text)).iter_rows(named=True)
    listing = (
        "SQL> select name, value from v$mystat;\n\nNAME" + " " * 57 + "     VALUE\n" + "-" * 60 + " ----------\n"
        "physical read total IO requests                                    1841\n"
        "cell physical IO bytes eligible for predicate offload          59301888\n"
    )
    (smart,) = metrics.statement_costs(spool(text + listing)).iter_rows(named=True)

    assert (row["part"], row["runs"], row["blocks"], row["gets"]) == ("line 1", 2, 400, 4000)
    assert row["us_per_block_hi"] == pytest.approx(2.02e6 / 400)
    assert row["us_per_get_hi"] == pytest.approx(2.02e6 / 4000)
    assert (smart["blocks"], smart["us_per_block_hi"], smart["us_per_get_hi"]) == (400, None, None)


def test_a_logical_read_has_a_cost_where_reads_and_trips_do_not_matter() -> None:
    """One block from disk is no refusal; round trips are."""
    clean = traced("select sum(x) from t", 2.0, gets=400_000, blocks=1)
    fetched = traced("select x from t", 200.0, gets=400_000, blocks=1, trips=60_000, rows=900_000)

    assert sentences(clean, "lio_cost") == [
        "Logical reads took 5.00 us each (the statement at line 1, 400,000 gets), row work and fetches included."
    ]
    assert [one.is_refused for one in found(fetched) if one.name == "lio_cost"] == [True]


def test_smart_scans_refuse_the_time_of_a_flash_read() -> None:
    """Reads that overlap take longer than the quotient: `at most` would be false."""
    listed = {
        "physical read total IO requests": 1841,
        "cell flash cache read hits": 1837,
        "physical read total bytes": 59_301_888,
        "cell physical IO bytes eligible for predicate offload": 59_301_888,
        "cell physical IO interconnect bytes returned by smart scan": 900_000,
    }
    head = f"SQL> select name, value from v$mystat;\n\nNAME{'':57}     VALUE\n{'-' * 60} ----------\n"  # noqa: S608 - nobody runs it
    text = run("select sum(blocks) from test", 0.73) + head + "".join(f"{n:60} {v:10}\n" for n, v in listed.items())
    row = metrics.read_metrics(spool(text)).filter(pl.col("metric") == "ms_per_flash_read").row(0, named=True)

    assert row["value"] is None
    assert "smart scans overlap" in row["caveats"]
    assert [one.is_refused for one in found(text) if one.name == "flash_latency"] == [True]


def test_times_below_the_clock_have_no_shares() -> None:
    """Where every statement shows 0.00 s the total may be 0: parts have times, and no shares."""
    ledger = account(run("select 1 from t", 0) + run("select 2 from t", 0))

    assert ledger.unshared == "all times are below the clock's step of 0.01 s"
    assert ledger.parts("who").get_column("share").null_count() == 3
    assert ledger.text == "timed statements took 0.00 to 0.02 s in total (clock step 0.01 s); every statement is timed"


def test_very_many_statements_are_the_largest_and_one_rest() -> None:
    """Of 1,500 statements 500 small ones are one part, which counts their runs and holds their time."""
    text = "".join(run(f"insert into t{n} values (1)", 9 if n % 3 else 1) for n in range(1500))  # noqa: S608 - a text
    parts = account(text).parts("who")
    rest = parts.filter(pl.col("name") == "500 other statements")

    assert parts.height == 1002
    assert rest.select("count", "seconds").row(0) == (500.0, 500.0)
    assert parts.get_column("seconds").sum() == 1000 * 9 + 500


def test_a_trend_of_runs_is_said_and_chance_is_not() -> None:
    """Runs that become faster are no repetitions of one experiment; runs in turns are."""
    falling = "".join(run("select 1 from t", 10 - n / 4) for n in range(12))
    turning = "".join(run("select 1 from t", 10 - n % 2) for n in range(12))

    assert sentences(falling, "runs_trend") == [
        (
            "Runs of statement 1 became faster during the session: the median was 9.62 s in the first 4 and 7.62 s "
            "in the last 4."
        )
    ]
    assert [one.next for one in found(falling) if one.name == "main_statement"] == [
        "repeat statement 1 until its runs stop becoming faster, then compare"
    ]
    assert sentences(turning, "runs_trend") == []


def test_the_screens_of_the_sample_sessions(sample_data: Path) -> None:
    """Totals, sentences and next steps of the two sessions of the project."""
    flash = read_spool(sample_data / "one_case" / "orders_flash.lst")
    runs = read_spool(sample_data / "runs" / "buffered_direct_async.txt")
    (first,), (second,) = spool_ledgers(flash), spool_ledgers(runs)
    said = {name: list(session_findings(one)) for name, one in (("flash", flash), ("runs", runs))}

    assert first.text == "timed statements took 0.55 to 0.59 s in total (clock step 0.01 s); every statement is timed"
    assert [one.sentence for one in said["flash"][:3]] == [
        "The statement at line 35 took 55 to 62 % of the time; it read 16,000 blocks from disk.",
        "That is at most 21.3 us per block, even if the whole elapsed time was I/O.",
        "The statement at line 12 read 894 blocks in at most 269 us each; 6,000 rows took 61 round trips.",
    ]
    assert said["flash"][0].next == "run it again with a warm cache, then with an extended SQL trace (event 10046)"
    assert (second.text, spool_headline(runs)) == (
        "timed statements took 196.5 s in total; every statement is timed, none failed",
        "SQL*Plus session, 93 runs of 3 statements",
    )
    assert [one.sentence for one in said["runs"][:4]] == [
        (
            "Statement 1 took 39 % of the time: 31 runs, median 2.38 s (95 % interval: 2.32 to 2.52 s), "
            "from 1.98 to 4.14 s."
        ),
        (
            "Runs of statement 1 became faster during the session: the median was 2.59 s in the first 10 and 2.29 s in "
            "the last 10."
        ),
        "Statement 2 took 32 % of the time: median 2.04 s (95 % interval: 1.47 to 2.68 s).",
        "Statement 3 took 29 % of the time: median 1.79 s (95 % interval: 1.61 to 1.91 s).",
    ]
    assert said["runs"][0].next == "repeat statement 1 until its runs stop becoming faster, then compare"


@st.composite
def sessions(draw: st.DrawFn) -> tuple[str, dict[str, float], float, float]:
    """A session of statements with known times: its text, seconds by statement, of failed ones and of nobody's."""
    text, known, failed, nobody = [], dict[str, float](), 0.0, 0.0
    for _ in range(draw(st.integers(1, 12))):
        seconds = draw(st.integers(0, 10_000)) / 100
        kind = draw(st.sampled_from(["ok", "ok", "ok", "failed", "client", "untimed"]))
        name = f"select {draw(st.integers(1, 4))} from t"  # noqa: S608 - nobody runs it
        if kind == "ok":
            blanks = draw(st.sampled_from([name, name.upper(), name.replace(" ", "  ")]))
            text.append(run(blanks, seconds))
            known[name] = known.get(name, 0.0) + seconds
        elif kind == "failed":
            text.append(run(name, seconds, shown=CANCELLED))
            failed += seconds
        elif kind == "client":
            text.append(run("selec 1", seconds, shown='SP2-0734: unknown command beginning "selec 1"\n'))
            nobody += seconds
        else:
            text.append(f"SQL> {name};\n\n  COUNT(*)\n----------\n         1\n\n")
    return "".join(text), known, failed, nobody


@given(made=sessions())
@settings(max_examples=100)
def test_the_account_of_any_session_is_that_of_its_statements(made: tuple[str, dict[str, float], float, float]) -> None:
    """Seconds by text, failed ones apart, unknown ones a part; the sum is that of all Elapsed lines."""
    text, known, failed, nobody = made
    ledgers = spool_ledgers(spool(text))
    if not known and "unknown command" not in text:
        assert [bool(one.void) for one in ledgers] == ([True] if "Elapsed" in text else [])
        return
    (ledger,) = ledgers
    parts = ledger.parts("who")
    named = parts.filter(pl.col("kind") == "mixed")

    assert ledger.total is not None
    assert ledger.total.value == pytest.approx(sum(known.values()) + nobody)
    assert sorted(named.get_column("seconds")) == pytest.approx(sorted(known.values()))
    assert parts.filter(pl.col("name") == NO_OWNER).get_column("seconds").sum() == pytest.approx(nobody)
    assert parts.get_column("seconds").sum() == pytest.approx(ledger.total.value)
    assert ledger.checks.item(0, "printed") == pytest.approx(ledger.total.value + failed)
    assert ledger.checks.get_column("holds").all()
    assert all(one.sentence.endswith(".") and len(one.sentence.split()) <= 40 for one in session_findings(spool(text)))


@pytest.mark.corpus
def test_the_sum_of_times_is_that_of_statements_in_all_sessions(corpus: Path) -> None:
    """In every real session the statements, failed ones and those of nobody have the time of all Elapsed lines."""
    timed = 0
    wrong = []
    for path in sorted((corpus / "sqlplus").rglob("*")):
        if not path.is_file():
            continue
        try:
            ledgers = spool_ledgers(read_spool(path))
        except LogError:
            continue
        timed += len(ledgers)
        wrong += [path.name for one in ledgers if not one.void and not one.checks.get_column("holds").all()]
        for one in ledgers:
            if not one.void and one.base == TIMED:
                assert one.parts("who").get_column("seconds").sum() == pytest.approx(one.total.value)  # type: ignore[union-attr]
                is_lead = one is ledgers[0]
                found = [row.part for row in session_findings(read_spool(path)) if row.name == "main_statement"]
                assert not is_lead or found == _large(one), path.name

    assert timed > 100
    assert wrong == []


def _large(ledger: Ledger) -> list[str]:
    """The statements with a tenth of the time or more, the largest first."""
    parts = ledger.parts("who").filter((pl.col("kind") == "mixed") & (pl.col("share_lo") >= 0.1))
    return parts.filter(~pl.col("name").str.ends_with("other statements")).get_column("part").to_list()


SILENT = "\n  COUNT(*)\n----------\n     40000\n\nElapsed: 00:00:0{:.2f}\n"


@pytest.mark.parametrize(
    ("times", "said"),
    [
        (
            (5.01, 5.12, 0.98, 1.02, 5.2, 1.0, 0.97, 5.06),
            "in two groups: 4 took 0.970 to 1.02 s and 4 took 5.01 to 5.20 s",
        ),
        ((5.0, 5.1, 5.2, 5.3), " took 20.6 s together, the longest 5.30 s."),
        ((0.0, 5.1, 5.2, 5.3), " took 15.6 s together, the longest 5.30 s."),
    ],
)
def test_times_without_a_text_are_said_together(times: tuple[float, ...], said: str) -> None:
    """They come first, as one sample: rows of single times without a text tell nothing."""
    first = found("".join(map(SILENT.format, times)))
    [one] = [one for one in first if one.name == "runs"]

    assert said in one.sentence
    assert one.sentence.startswith(f"{len(times)} statements that the log does not echo took ")
    assert one.position == 1
    assert one.next.startswith("`set echo on`")


def test_failures_that_took_longer_than_the_rest_come_first() -> None:
    """A statement that failed after two hours comes before the query of three minutes."""
    failed = run("create index i on big(a)", 7_391.54, shown="ERROR at line 1:\nORA-01652: unable to extend\n\n")
    log = spool(failed + run("select count(*) from big", 190.2))
    said = iolab.findings(log).filter(pl.col("name") != "total")

    assert said.item(0, "sentence") == (
        "The statement at line 1 failed with ORA-01652 after 7,390 s; the rest of the session took 190 s."
    )
    assert said.item(0, "next").startswith("see who uses it (v$tempseg_usage)")
    assert said.filter(name="main_statement").item(0, "next").startswith("take an extended SQL trace")


PLAN = """SQL> select * from table(dbms_xplan.display_cursor(null,null,'allstats last'));

PLAN_TABLE_OUTPUT
----------------------------------------------------------------------------------------
SQL_ID  9tk3m5x7q1z2v, child number 0
-------------------------------------
select count(*) from big

Plan hash value: 2211552296

-----------------------------------------------------------------------------------------------
| Id  | Operation          | Name | Starts | E-Rows | A-Rows |   A-Time   | Buffers | Reads  |
-----------------------------------------------------------------------------------------------
|   0 | SELECT STATEMENT   |      |      1 |        |      1 |00:00:48.18 |     950K|    948K|
|   1 |  SORT AGGREGATE    |      |      1 |      1 |      1 |00:00:48.18 |     950K|    948K|
|*  2 |   TABLE ACCESS FULL| BIG  |      1 |    120 |  12001 |00:00:{time} |     950K|    948K|
-----------------------------------------------------------------------------------------------

"""


def test_the_operation_with_most_of_a_plan_is_named() -> None:
    """A plan with A-Time says where a statement's time was, without that of the operations below; even plans do not."""
    timed = run("select count(*) from big", 48.2)
    named, even, wrong = (
        iolab.findings(spool(timed + PLAN.format(time=time))).filter(name="plan_time")
        for time in ("48.17", "24.09", "57.99")
    )
    assert wrong.is_empty()  # no operation took longer than its plan

    assert named.item(0, "sentence") == (
        "`TABLE ACCESS FULL` of `BIG` took 48.2 s by the plan (A-Time): 950,000 gets, 948,000 reads; it returned "
        "12,001 rows, 120 expected."
    )
    exact = iolab.findings(spool(timed + PLAN.format(time="48.17").replace("|    120 |", "|  12001 |")))
    steps = (named.item(0, "next"), exact.filter(name="plan_time").item(0, "next"))
    assert ["gather_table_stats" in step for step in steps] == [True, False]
    assert (named.item(0, "part"), named.item(0, "impact_lo")) == (None, pytest.approx(1.0, abs=0.01))
    assert even.item(0, "sentence") == (
        "`SORT AGGREGATE` took 24.1 s by the plan (A-Time); `TABLE ACCESS FULL` of `BIG` returned 12,001 rows, "
        "120 expected."
    )


def test_very_many_statements_that_differ_in_literals_are_one_part() -> None:
    """4,000 single inserts are one part with their sum; a few alike stay apart."""
    made = "\n1 row created.\n"
    text = "".join(
        run(f"insert into t values ({n}, 'x')", 0.01 if n % 5 else 0.0, shown=made)  # noqa: S608 - a text
        for n in range(4_000)
    )
    text += run("select 1 from t", 1) + run("select 2 from t", 2)
    ledger = account(text)
    parts = ledger.parts("who")
    row = parts.filter(pl.col("name").str.contains("alike")).row(0, named=True)

    assert (row["name"], row["count"]) == ("4,000 statements alike: insert into t values (:x, :x)", 4_000)
    assert row["seconds"] == pytest.approx(32)
    assert parts.height == 4
    assert faults(ledger) == []
    [said] = [one for one in found(text) if "literals" in one.sentence]
    assert said.part == row["part"]
    assert "array binds" in said.next


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        (
            run("update t set a = 1", 9, shown="\n1 row updated.\n"),
            "take an extended SQL trace (event 10046) of its next run",
        ),
        (run("exec p", 9), "take an extended SQL trace (event 10046) of its next run"),
        (run("select 1 from t", 9), "run it again with `set autotrace"),
        (traced("select a from t", 90, gets=99_000, blocks=12, trips=8_000, rows=120_000), "fetch more rows at a time"),
        (traced("select a from t", 90, gets=99_000, blocks=12, trips=800, rows=400_000), "run it again with a warm"),
    ],
)
def test_what_to_do_next_changes_no_rows(text: str, advice: str) -> None:
    """A statement that changes rows is not run again for a measurement; many small fetches come before a warm cache."""
    assert next(one.next for one in found(text) if one.name == "main_statement").startswith(advice)


def test_a_plan_that_took_time_is_said_where_nothing_is_timed() -> None:
    """A-Time of its first line is the time of the statement; without it the session prints no time."""
    text = (  # noqa: S608 - a text
        "SQL> select * from table(dbms_xplan.display_cursor(null, null, 'ALLSTATS LAST'));\n\nPLAN_TABLE_OUTPUT\n"
        "{0}\nSQL_ID  7abc0plan0001, child number 0\n{0}\nselect count(*) from t\n\nPlan hash value: 906334482\n\n{0}\n"
        "| Id  | Operation          | Name | Starts | E-Rows | A-Rows |   A-Time   | Buffers |\n{0}\n"
        "|   0 | SELECT STATEMENT   |      |      1 |        |      1 |00:01:31.20 |    9912 |\n"
        "|   1 |  TABLE ACCESS FULL | T    |      1 |     10 |     12 |00:01:31.19 |    9912 |\n{0}\n"
    ).format("-" * 84)

    begin = "The plan of `7abc0plan0001` reports 91.2 s (A-Time) and 9,912 gets"
    assert [(one.name, one.sentence) for one in found(text)] == [
        ("plan_time", f"{begin}; `TABLE ACCESS FULL` of `T` took 91.2 s: 9,912 gets for 12 rows.")
    ]
    assert [one.name for one in found(text.replace("00:01:31", "00:00:00").replace(".20", ".00"))] == ["not_timed"]


@pytest.mark.parametrize("kept", [37, 3_000])
def test_a_step_that_drops_most_rows_of_its_index(kept: int) -> None:
    """The index finds many rows of which its table keeps few: columns of the filter are missing in it."""
    rule = "-" * 84
    text = (
        "SQL> exec show_plan\n\nPLAN_TABLE_OUTPUT\n"
        f"{rule}\nSQL_ID  7abc0plan0001, child number 0\n{rule}\nselect a from t\n{rule}\n"
        f"| Id  | Operation                   | Name | E-Rows | A-Rows |   A-Time   | Buffers |\n{rule}\n"
        f"|   0 | SELECT STATEMENT            |      |        | {kept:6} |00:01:31.20 |   99124 |\n"
        f"|   1 |  TABLE ACCESS BY INDEX ROWID| T    |   9000 | {kept:6} |00:01:31.19 |   99124 |\n"
        f"|   2 |   INDEX RANGE SCAN          | T_I  |   9000 |   9000 |00:00:01.19 |     124 |\n{rule}\n"
    )
    [one] = found(text)
    assert ("it kept 37 of 9,000 rows of `INDEX RANGE SCAN` of `T_I`" in one.sentence) == (kept == 37)
    assert ("to the index `T_I`" in one.next) == (kept == 37)


def test_a_bound_of_minutes_is_no_bound_of_a_block() -> None:
    """12 blocks in 760 s: the reads are not what took the time, so no column claims it."""
    text = traced("select a from t", 760, gets=99_000, blocks=12) + traced("select b from t", 1, gets=9, blocks=2_000)

    assert session_summary.VIEW.columns(spool(text)).get_column("per_block").to_list() == ["", "<=505 us"]  # type: ignore[misc]


def test_a_slow_first_run_stands_apart() -> None:
    """The median is that of the other runs; a first run that is about as long is one of them."""
    query, warm = "select sum(v) from big", (6.1, 6.0, 6.2, 6.1, 5.9, 6.1, 6.0, 6.05, 6.2)
    slow, alike = (found("".join(run(query, time) for time in (first, *warm))) for first in (31.2, 6.3))
    said = [next(one.sentence for one in some if "10 runs" in one.sentence) for some in (slow, alike)]

    assert "10 runs, the first 31.2 s, then a median of 6.10 s (95 % interval: " in said[0]
    assert "10 runs, median 6.10 s" in said[1]


def test_a_share_beside_failed_statements_says_of_what_it_is() -> None:
    """The time of a statement that failed is not in the total: the share of another one is of those that succeeded."""
    failed = run("select 1 from big", 421, shown="*\nERROR at line 1:\n" + CANCELLED)

    said = sentences(failed + run("select 2 from small", 3), "main_statement")

    assert said == ["The statement at line 7 took all of the time of the statements that succeeded: 3 s."]
    assert sentences(run("select 2 from small", 3), "main_statement") == [
        "The statement at line 1 took all of the time: 3 s."
    ]


def test_equal_runs_have_no_range() -> None:
    """Where all runs took the same time, as printed, neither an interval nor the ends are worth a word."""
    said = sentences(run("select count(*) from hot", 5) * 8, "main_statement")

    assert said == ["Statement 1 took all of the time: 8 runs of 5 s."]


GROUPED = """SQL> select {columns}, count(*) from {view} where sample_time > sysdate - 1 group by {columns};

{heading} {count:>10}
{ruler} ----------
{rows}

Elapsed: 00:00:00.12
"""


def grouped(view: str, columns: str, rows: dict[str, int]) -> str:
    """A query that counts samples."""
    lines = "\n".join(f"{name:30} {count:>10}" for name, count in rows.items())
    return GROUPED.format(
        columns=columns, view=view, heading=f"{columns.upper():30}", count="COUNT(*)", ruler="-" * 30, rows=lines
    )


def test_numbers_of_samples_in_a_session_are_an_account() -> None:
    """Counts of v$active_session_history by event and by statement: two accounts, and what both say most of."""
    events = {"log file sync": 410, "": 121, "db file sequential read": 31}
    text = grouped("dba_hist_active_sess_history", "event", events)
    text += grouped("dba_hist_active_sess_history", "sql_id", {"7h35uxf5uhmm1": 400, "4ztz048yfq32s": 77})
    found = iolab.findings(iolab.load(text.encode()))
    ledgers = spool_ledgers(spool(text))

    assert found.item(0, "sentence") == "The log has 562 samples of sessions, one every 10 s (about 5,620 s in total)."
    assert found.item(1, "sentence").startswith("`log file sync` took 69 to 76 % of the samples")
    statements = found.filter(name="main_statement").get_column("sentence")
    assert [one.split()[0] for one in statements] == [
        "`7h35uxf5uhmm1`",
        "`4ztz048yfq32s`",
    ]
    assert [faults(one) for one in ledgers] == [[]] * 3


def test_rows_of_samples_in_a_session_are_an_account() -> None:
    """Rows of v$active_session_history, whose heading SESSION_STATE is cut to the width of its column."""
    head = (
        "SQL> select sample_id, sql_id, session_state, event, wait_class from v$active_session_history;\n\n"
        " SAMPLE_ID SQL_ID        SESSION EVENT                        WAIT_CLASS\n"
        "---------- ------------- ------- ---------------------------- ---------------\n"
    )
    rows = [
        f"{number:>10} 7h35uxf5uhmm1 "
        + ("ON CPU" if number % 4 == 0 else "WAITING enq: TX - row lock contention Application")
        for number in range(400)
    ]
    (lead,) = spool_ledgers(spool(head + "\n".join(rows) + "\n\n400 rows selected.\n"))

    assert lead.parts().select("name", "seconds").rows()[:2] == [
        ("enq: TX - row lock contention", 300.0),
        ("CPU", 100.0),
    ]
    assert lead.parts("who").select("name", "seconds").rows()[:1] == [("7h35uxf5uhmm1", 400.0)]
    assert "about 400 s" in lead.text


def test_a_session_that_took_longer_than_its_samples_is_one_of_times() -> None:
    """A short look at samples between long statements does not hide them."""
    text = run("select count(*) from big", 900) + grouped("v$active_session_history", "event", {"log file sync": 41})

    assert iolab.ledger(text.encode()).base == "timed statements"


def test_waits_that_a_query_returned_are_an_account() -> None:
    """Rows of v$session_event: hundredths of a second, idle events aside; several sessions are added up."""
    head = "SQL> select sid, event, total_waits, time_waited from v$session_event;\n\n"
    head += "       SID EVENT                          TOTAL_WAITS TIME_WAITED\n"
    head += "---------- ------------------------------ ----------- -----------\n"
    rows = [(7, "direct path read temp", 300, 6_000), (8, "direct path read temp", 100, 2_000)]
    rows += [(7, "log file sync", 10, 2_000), (7, "SQL*Net message from client", 9, 90_000)]
    text = head + "".join(f"{sid:>10} {event:30} {waits:>11} {time:>11}\n" for sid, event, waits, time in rows)
    lead = account(text)

    assert faults(lead) == []
    assert lead.parts().select("name", "seconds", "count", pl.col("share").round(2)).rows()[:3] == [
        ("direct path read temp", 80.0, 400.0, 0.8),
        ("log file sync", 20.0, 10.0, 0.2),
        ("SQL*Net message from client", 900.0, 9.0, None),
    ]
    assert iolab.findings(iolab.load(text.encode())).item(1, "sentence").startswith("`direct path read temp` took 80 %")


def test_runs_in_two_groups_have_no_median() -> None:
    """Runs of 2 s and of 9 s: a median of 5.5 s is the time of none of them, in whatever order they came."""
    text = "".join(run("select max(x) from t", seconds) for seconds in (2.0, 2.1, 2.0, 2.1, 9.0, 9.1, 9.0, 9.1))

    assert sentences(text, "main_statement") == [
        "Statement 1 took all of the time: 8 runs, in two groups: 4 of 2 to 2.10 s and 4 of 9 to 9.10 s."
    ]


def test_a_session_of_a_failed_statement_names_its_error() -> None:
    """Where nothing succeeded there is no total, and the statement that failed is said."""
    failed = run("select 1 from big", 421, shown="*\nERROR at line 1:\n" + CANCELLED)
    found = iolab.findings(iolab.load(failed.encode())).get_column("sentence").to_list()

    assert found[0].startswith("The total time is unknown: the only timed statement failed")
    assert [one for one in found if one.endswith(" failed (ORA-01013) after 421 s.")]


def test_small_statements_that_differ_in_literals_are_one_part() -> None:
    """20 calls of one procedure of a twentieth of the time each are one part; with a large one they stand apart."""
    text = "".join(run(f"exec nightly({number})", 5.0 + number / 100) for number in range(20))
    one = text + run("exec nightly(99)", 60)

    assert sentences(text, "main_statement") == ["20 statements that differ only in literals took 100 % of the time."]
    assert sentences(one, "main_statement")[0].endswith(" took 37 % of the time: 60 s.")


def test_runs_that_differ_in_round_trips_or_in_order_are_named() -> None:
    """Array sizes explain the times of runs, and so does growth from run to run; independent times do neither."""
    query = "select * from big"
    trips = "\nStatistics\n" + "-" * 58 + "\n{:>10}  SQL*Net roundtrips to/from client\n     250000  rows processed\n"
    sizes = "".join(
        run(query, time) + trips.format(count) for count, time in ((125_001, 312.0), (16_668, 47.1), (51, 2.6))
    )
    same = "".join(run(query, time) + trips.format(51) for time in (2.6, 312.0, 47.1))
    growing = "".join(
        run("delete from q where rownum < 9", time, shown="\n8 rows deleted.\n")
        for time in (11.7, 15.0, 20.0, 26.0, 40.0)
    )
    mixed = "".join(
        run("delete from q where rownum < 9", time, shown="\n8 rows deleted.\n")
        for time in (11.7, 40.0, 20.0, 26.0, 15.0)
    )
    said = [
        iolab.findings(spool(text)).filter(name="main_statement").item(0, "sentence")
        for text in (sizes, same, growing, mixed)
    ]

    assert said[0].endswith(": 3 runs; 125,001 round trips took 312 s, 51 round trips 2.60 s.")
    assert "round trips" not in said[1]
    assert said[2].endswith(": 5 runs, each longer than the one before, from 11.7 to 40 s.")
    assert "than the one before" not in said[3]


def runs_with(statement: str, *times: float, between: str = "", reads: tuple[int, ...] = ()) -> bytes:
    """Runs of a statement with another one between them, and what autotrace counted."""
    text = ""
    for number, time in enumerate(times):
        text += f"SQL> {between};\n\nSession altered.\n\nElapsed: 00:00:00.01\n" * bool(between and number == 1)
        text += f"SQL> {statement};\n\n1 row selected.\n\nElapsed: 00:{int(time // 60):02}:{time % 60:05.2f}\n"
        if reads:
            text += f"\nStatistics\n{'-' * 58}\n  0  db block gets\n  400000  consistent gets\n"
            text += f"  {reads[number]}  physical reads\n  1  rows processed\n"
    return text.encode()


@pytest.mark.parametrize(
    "change", ["alter session set optimizer_mode=rule", "exec :b := 7", "alter table t disable all triggers"]
)
def test_what_changed_between_two_runs_is_said(change: str) -> None:
    """Runs that differ by a factor have the statement between them in their sentence."""
    found = iolab.findings(runs_with("select count(*) from t where a = :b", 0.5, 90.0, between=change))
    said = found.filter(pl.col("name") == "main_statement").item(0, "sentence")
    assert said.endswith(f"2 runs; 0.500 s, then 90 s after `{change}`.")
    assert "first_run_slower" not in found.get_column("name")


def test_runs_from_disk_and_from_cache_are_told_apart() -> None:
    """Where later runs were warm, neither a warm cache is advised nor a cost refused, and no flush made them faster."""
    times, flush = (80.0, 4.1, 4.0, 4.2), "alter system flush shared_pool"
    found = iolab.findings(runs_with("select count(*) from t", *times, reads=(90_000, 0, 12, 0), between=flush))
    said = found.row(1, named=True)
    assert said["sentence"].endswith("4 runs; with 90,000 blocks from disk 80 s, with at most 12 blocks 4 to 4.20 s.")
    assert not [one for one in found.get_column("next").drop_nulls() if "warm cache" in one]
    assert "cannot be separated" not in " ".join(found.get_column("sentence"))


def test_the_plan_of_the_slow_run_is_cited() -> None:
    """Of two runs of a statement with plans of their own the operation is that of the run that took the time."""
    plans = {seconds: PLAN.replace("48.18", "{time}").format(time=f"{seconds:02}.00") for seconds in (2, 58)}
    runs = [run("select count(*) from big", seconds) + plan for seconds, plan in plans.items()]
    found = iolab.findings(spool("".join(runs))).filter(name="plan_time")
    assert found.get_column("sentence").str.contains("took 58 s by the plan").to_list() == [True]
