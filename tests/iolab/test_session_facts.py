"""What sessions say of runs that differ, of plans without times of statements, and of samples of sessions."""

from __future__ import annotations

import pytest

import iolab
from iolab.pages.summary import summarize
from iolab.pages.summary_text import summary_text

#: A plan with the rows that a sort returned and was expected to, and its memory.
SORT = """SQL> select * from table(dbms_xplan.display_cursor('5kw8d2zxq0vn3', 0, 'ALLSTATS LAST'));

PLAN_TABLE_OUTPUT
------------------------------------------------------------------------------------------------------------
SQL_ID  5kw8d2zxq0vn3, child number 0
-------------------------------------
select a, sum(b) from big group by a

Plan hash value: 901277344

------------------------------------------------------------------------------------------------------------
| Id  | Operation          | Name | Starts | E-Rows | A-Rows |   A-Time   | Buffers | Used-Mem | Used-Tmp|
------------------------------------------------------------------------------------------------------------
|   0 | SELECT STATEMENT   |      |      1 |        |{returned:>8}|00:41:20.00 |    1810K|          |         |
|   1 |  HASH GROUP BY     |      |      1 | {rows:>6} |{returned:>8}|00:41:20.00 |    1810K| {memory:18}|
|   2 |   TABLE ACCESS FULL| BIG  |      1 |    398M|    401M|00:06:10.00 |    1810K|          |         |
------------------------------------------------------------------------------------------------------------
"""


def test_a_change_divides_any_number_of_runs() -> None:
    """The runs before a change and those after it are two parts, however many they are."""
    run = "SQL> select count(*) from t;\n\n1 row selected.\n\nElapsed: 00:00:{:05.2f}\n"
    gather = "SQL> exec dbms_stats.gather_table_stats(user, 'T');\n\nPL/SQL procedure successfully completed.\n\n"
    before, after = (0.4, 0.42, 0.41, 0.43, 0.4, 0.42), (18.7, 19.4, 19.1, 18.9, 19.3)
    text = f"{''.join(map(run.format, before))}{gather}Elapsed: 00:00:02.00\n{''.join(map(run.format, after))}"
    said = iolab.findings(text.encode()).filter(name="main_statement").item(0, "sentence")
    assert "11 runs; 0.400 to 0.430 s, then 18.7 to 19.4 s after `exec dbms_stats.gather_table_stats" in said


def test_two_runs_that_differ_in_round_trips_say_so() -> None:
    """With two runs, too, the round trips are what differs: no cost of a block is computed from both."""
    run = "SQL> select * from t;\n\n400000 rows selected.\n\nElapsed: 00:{}\n\nStatistics\n" + "-" * 58 + "\n"
    run += "       9000  consistent gets\n       4480  physical reads\n"
    run += "{:>11}  SQL*Net roundtrips to/from client\n     400000  rows processed\n"
    text = run.format("04:37.20", 26_668) + run.format("00:09.81", 401)
    found = iolab.findings(text.encode())
    said = found.filter(name="main_statement").item(0, "sentence")
    assert said.endswith("2 runs; 26,668 round trips took 277 s, 401 round trips 9.81 s.")
    assert not {"block_cost", "first_run_slower"} & set(found.get_column("name"))


def test_the_operation_of_a_plan_without_times_of_statements() -> None:
    """A plan with A-Time says by itself where its time went, the temporary space it used, and what was expected."""
    plan = SORT.format(returned="12M", rows="100", memory="  62M (3)|     41G ")
    said = iolab.findings(plan.encode()).filter(name="plan_time").item(0, "sentence")
    assert "`HASH GROUP BY` took 2,110 s" in said
    assert "41 GiB of temporary space in 3 passes" in said
    assert "returned 12,000,000 rows, 100 expected" in said


def test_rows_of_ashtop_are_samples() -> None:
    """The script ashtop names no view: its headings say that its first column counts seconds of samples."""
    text = """SQL> @ashtop event2,sql_id 1=1 sysdate-1/24 sysdate

    Total
  Seconds     AAS %This   EVENT2                     SQL_ID        FIRST_SEEN
--------- ------- ------- -------------------------- ------------- -------------------
      512     8.5   66% | log file sync                            2021-06-15 11:00:03
      264     4.4   34% | ON CPU                     7ynm3k0xzq8v4 2021-06-15 11:00:02
"""
    found = iolab.findings(text.encode())
    assert "`log file sync` took 63 to 69 % of the samples." in found.get_column("sentence").to_list()
    assert "not_timed" not in found.get_column("name").to_list()


@pytest.mark.parametrize("holders", [1, 4])
def test_the_session_that_blocked_the_samples_leads(holders: int) -> None:
    """Of samples of sessions that are blocked, by whom is said, and what that session did; not by one of several."""
    text = "SQL> select sample_time tm, session_id sid, session_state st, event, blocking_session bsid\n"
    text += "  2  from v$active_session_history;\n\n"
    text += (
        "TM       SID ST      EVENT                      BSID\n-------- --- ------- -------------------- ----------\n"
    )
    for second in range(20):
        held = f"library cache lock          {352 + second % holders}"
        text += f"09:31:{second:02}  44 WAITING {held}\n09:31:{second:02} 352 ON CPU\n"
    said = " ".join(iolab.findings(text.encode()).filter(name="listed_waits").get_column("sentence"))
    blocked = "Session 352 blocked 20 of 40 samples, which waited for `library cache lock`; it was on CPU"
    assert said.startswith(blocked) == (holders == 1)


def test_the_scan_of_a_large_table_is_in_the_first_sentence() -> None:
    """Where one table is scanned and blocks were read from disk, the sentence of the statement names it."""
    text = "SQL> select a from t where b = 1;\n\n11 rows selected.\n\nElapsed: 00:00:48.73\n\nExecution Plan\n"
    text += "-" * 58 + "\nPlan hash value: 1829003377\n\n" + "-" * 47 + "\n| Id  | Operation         | Name | Rows  |\n"
    text += "-" * 47 + "\n|   0 | SELECT STATEMENT  |      |    11 |\n|*  1 |  TABLE ACCESS FULL| T    |    11 |\n"
    text += "-" * 47 + "\n\nStatistics\n" + "-" * 58 + "\n     813000  consistent gets\n     812390  physical reads\n"
    text += "         11  rows processed\n"
    said = " ".join(iolab.findings(text.encode()).get_column("sentence"))
    assert "it read 812,390 blocks from disk and its plan scans all of `T` for 11 rows." in said


def test_a_plan_belongs_to_the_run_of_its_time() -> None:
    """Of a statement that a script ran, without its text, the plan that took as long is its plan."""
    text = """SQL> set timing on
SQL> @run.sql

         N
----------
    181306

Elapsed: 00:01:38.61
SQL> set timing off
SQL> select * from table(dbms_xplan.display_cursor(null,null,'ALLSTATS LAST'));

PLAN_TABLE_OUTPUT
-----------------------------------------------------------------------------------
SQL_ID  4m1kzq8w0d7ru, child number 0
-------------------------------------
select count(*) from o, s where s.o = o.o

Plan hash value: 1180532467

-----------------------------------------------------------------------------------
| Id  | Operation          | Name  | Starts | E-Rows | A-Rows |   A-Time   | Buffers |
-----------------------------------------------------------------------------------
|   0 | SELECT STATEMENT   |       |      1 |        |      1 |00:01:38.58 |     11M |
|   1 |  NESTED LOOPS      |       |      1 |      2 |   181K |00:01:38.51 |     11M |
|   2 |   TABLE ACCESS FULL| O     |      1 |      2 |   184K |00:00:00.94 |   41207 |
|   3 |   INDEX RANGE SCAN | S_IX  |   184K |    206 |    22M |00:01:08.27 |   2165K |
-----------------------------------------------------------------------------------
"""
    said = iolab.findings(text.encode()).filter(name="plan_time").get_column("sentence").to_list()
    assert [one.startswith("`INDEX RANGE SCAN` of `S_IX` took 68.3 s by the plan") for one in said] == [True]
    longer = iolab.findings(text.replace("00:01:38.61", "00:03:38.61").encode())
    assert longer.filter(name="plan_time").is_empty()


def test_a_work_area_with_passes_leads() -> None:
    """A sort or hash join that went to disk is the fact of a listing of work areas, whatever else is larger."""
    text = "SQL> select sql_id, sid, operation_type, round(expected_size/1048576) exp_mb, number_passes,\n"
    text += "  2  round(tempseg_size/1048576) temp_mb from v$sql_workarea_active;\n\n"
    text += "SQL_ID         SID OPERATION_TYPE      EXP_MB NUMBER_PASSES    TEMP_MB\n"
    text += "------------- ---- --------------- ---------- ------------- ----------\n"
    text += "b7h03dkq2xw5c  233 HASH-JOIN               58             7      43960\n"
    text += "2p9tm5xsk61uj   88 SORT (v2)              912             0\n\nSQL> \n"
    said = iolab.findings(text.encode()).filter(name="listed_rows").item(0, "sentence")
    assert (
        said == "`HASH-JOIN` of `b7h03dkq2xw5c` in session 233 went to disk (passes: 7): 42.9 GiB of temporary space."
    )


def test_the_state_of_a_session_that_blocks_is_said() -> None:
    """Where the log lists the session that blocks, its state stands beside it, and no query for it is advised."""
    text = "SQL> select sid, status, event, blocking_session bs, seconds_in_wait siw from v$session;\n\n"
    text += "  SID STATUS   EVENT                           BS        SIW\n"
    text += "----- -------- ----------------------------- ---- ----------\n"
    text += "  417 INACTIVE SQL*Net message from client              1873\n"
    text += "   27 ACTIVE   enq: TX - row lock contention  417       1866\n\n"
    text += "SQL> select sid, type, id1, id2, request, ctime from v$lock where sid = 417;\n\n"
    text += (
        "  SID TY        ID1        ID2    REQUEST      CTIME\n----- -- ---------- ---------- ---------- ----------\n"
    )
    text += (
        "  417 TX     655378     184211          0       1881\n  417 TM      92417          0          0       1881\n\n"
    )
    found = iolab.findings(text.encode()).filter(name="listed_waits")
    assert found.item(0, "sentence").endswith("session 417 blocked 1 of them. It was INACTIVE for 1,873 s.")
    assert found.item(0, "next").startswith("have its transaction committed")
    assert "CTIME" not in " ".join(iolab.findings(text.encode()).get_column("sentence"))
    whose = "select sid, status, program, machine from v$session where sid = 417;\n\n"
    whose += "  SID STATUS   PROGRAM      MACHINE\n----- -------- ------------ -------\n"
    whose += f"  417 INACTIVE toad.exe     pc-17\n\n{text}"
    said = iolab.findings(f"SQL> {whose}".encode()).filter(name="listed_waits").item(0, "sentence")
    assert said.endswith("It was INACTIVE (`toad.exe`, `pc-17`).")


#: A statement of 100 s, then a listing of statistics of the session.
OF_A_SESSION = """SQL> set timing on
SQL> {text};

         N
----------
         1

Elapsed: 00:01:40.00
{more}SQL> select n.name, s.value from {view} s join v$statname n on n.statistic# = s.statistic#;

NAME                                                                  VALUE
---------------------------------------------------------------- ----------
{rows}
Elapsed: 00:00:00.02
"""


def _of_a_session(view: str = "v$mystat", text: str = "select sum(a) from t", more: str = "", **rows: int) -> str:
    values = "".join(f"{name.replace('_', ' '):64} {value:10}\n" for name, value in rows.items())
    log = OF_A_SESSION.format(text=text, view=view, rows=values, more=more)
    return str(iolab.findings(log.encode()).filter(name="main_statement").item(0, "sentence"))


def test_statistics_of_the_session_explain_its_statement() -> None:
    """Chained rows stand beside the statement with most of the time where the session listed its own statistics."""
    rows = {"table_fetch_by_rowid": 418_204, "table_fetch_continued_row": 412_911}
    assert "Rows are chained or migrated: 412,911 fetches" in _of_a_session(**rows)
    assert "chained" not in _of_a_session("v$sysstat", **rows)
    assert "chained" not in _of_a_session(**rows | {"table_fetch_continued_row": 411})


@pytest.mark.parametrize("reads", [412_306, 26])
def test_direct_path_reads_of_a_repeated_statement(reads: int) -> None:
    """Runs that read as much again by direct path found nothing in the cache; a run that read little did."""
    counts = "\n\nStatistics\n" + "-" * 58 + "\n     412338  consistent gets\n{:>11}  physical reads\n\n"
    again = "SQL> select sum(a) from t;\n\n         N\n----------\n         1\n\nElapsed: 00:01:39.00"
    more = counts.format(412_306) + again + counts.format(reads)
    said = _of_a_session(more=more, physical_reads=824_644, physical_reads_direct=824_612)
    assert ("direct path reads brought 824,612 and left none in the buffer cache" in said) == (reads == 412_306)
    assert "direct" not in _of_a_session(physical_reads=824_644, physical_reads_direct=824_612)


@pytest.mark.parametrize("servers", ["Server Threads", "Queries Parallelized"])
def test_a_parallel_statement_that_ran_serially(servers: str) -> None:
    """Where the session parallelized no query, a statement with a parallel hint ran serially."""
    more = "SQL> select statistic, last_query, session_total from v$pq_sesstat;\n\n"
    more += f"STATISTIC                      LAST_QUERY SESSION_TOTAL\n{'-' * 30} ---------- -------------\n"
    more += f"{servers:30}          0             0\nAllocation Height                       0             0\n\n"
    text = "select /*+ parallel(f 16) */ sum(a) from t f"
    said = _of_a_session(text=text, more=more, parse_count=1)
    assert ("It ran serially, although its plan or hint is parallel" in said) == (servers == "Queries Parallelized")
    assert "serially" not in _of_a_session(text="select sum(a) from t", more=more, parse_count=1)
    assert "serially" not in _of_a_session(
        text=text, more=more.replace("            0\n", "            2\n"), parse_count=1
    )


def test_the_estimate_is_of_the_step_that_drives() -> None:
    """Of the steps that decide how often the slow one is started, that farthest from its estimate is named."""
    plan = """SQL> select * from table(dbms_xplan.display_cursor('5kw8d2zxq0vn3', 0, 'ALLSTATS LAST'));

PLAN_TABLE_OUTPUT
------------------------------------------------------------------------------------------------------
SQL_ID  5kw8d2zxq0vn3, child number 0
-------------------------------------
select count(*) from s, i where i.s = s.s

Plan hash value: 901277344

------------------------------------------------------------------------------------------------------
| Id  | Operation                      | Name | Starts | E-Rows | A-Rows |   A-Time   | Buffers | Reads |
------------------------------------------------------------------------------------------------------
|   0 | SELECT STATEMENT               |      |      1 |        |      1 |00:00:43.17 |    1019K| 88412 |
|   1 |  SORT AGGREGATE                |      |      1 |      1 |      1 |00:00:43.17 |    1019K| 88412 |
|   2 |   NESTED LOOPS                 |      |      1 |     11 |    611K|00:00:43.02 |    1019K| 88412 |
|   3 |    TABLE ACCESS BY INDEX ROWID | S    |      1 |      4 |    203K|00:00:03.91 |   38214 |  4110 |
|   4 |     INDEX RANGE SCAN           | S_IX |      1 |    104 |    241K|00:00:00.31 |     902 |   610 |
|   5 |    TABLE ACCESS BY INDEX ROWID | I    |    203K|      3 |    611K|00:00:38.90 |     980K| 84302 |
|   6 |     INDEX RANGE SCAN           | I_IX |    203K|     90 |    611K|00:00:01.90 |     800K|   302 |
------------------------------------------------------------------------------------------------------
"""
    said = iolab.findings(plan.encode()).filter(name="plan_time").item(0, "sentence")
    assert said.endswith("`TABLE ACCESS BY INDEX ROWID` of `S` returned 203,000 rows, 4 expected.")


def test_a_cold_first_run_does_not_hide_a_change() -> None:
    """The first run of all may have read from disk: the change between the others is named all the same."""
    run = "SQL> select count(*) from t;\n\n1 row selected.\n\nElapsed: 00:00:{:05.2f}\n"
    gather = "SQL> exec dbms_stats.gather_table_stats(user, 'T');\n\nPL/SQL procedure successfully completed.\n\n"
    text = "".join(map(run.format, (4.31, 1.12, 1.09, 1.1))) + gather + "".join(map(run.format, (38.9, 39.4)))
    said = iolab.findings(text.encode()).filter(name="main_statement").item(0, "sentence")
    assert "6 runs; first 4.31 s, then 1.09 to 1.12 s, then 38.9 to 39.4 s after `exec dbms_stats.gather" in said
    text = run.format(49.4) + gather + "".join(map(run.format, (12.1, 1.5)))
    said = iolab.findings(text.encode()).filter(name="main_statement").item(0, "sentence")
    assert "3 runs; 49.4 s, then 12.1 s and 1.50 s after `exec dbms_stats.gather" in said


def test_not_in_of_a_column_that_may_be_null_is_named() -> None:
    """Such a filter makes an anti join impossible, so that a table is scanned for each row of another."""
    plan = """SQL> select * from table(dbms_xplan.display_cursor(null,null,'ALLSTATS LAST'));

---------------------------------------------------------------------------------------
| Id  | Operation           | Name | Starts | E-Rows | A-Rows |   A-Time   | Buffers |
---------------------------------------------------------------------------------------
|   0 | SELECT STATEMENT    |      |      1 |        |      1 |00:52:09.68 |    172M |
|*  1 |  FILTER             |      |      1 |        |    217 |00:52:09.68 |    172M |
|   2 |   TABLE ACCESS FULL | A    |      1 |  84612 |  84907 |00:00:00.31 |    3118 |
|*  3 |   TABLE ACCESS FULL | P    |  84466 |      1 |  84249 |00:52:08.91 |    172M |
---------------------------------------------------------------------------------------

Predicate Information (identified by operation id):
---------------------------------------------------

   1 - filter( IS NULL)
   3 - filter({})
"""
    said = [
        " ".join(iolab.findings(plan.format(text).encode())["sentence"])
        for text in ('LNNVL("P"."POST_ID"<>:B1)', '"P"."POST_ID"=:B1')
    ]
    assert ["NOT IN with a column that may be null" in one for one in said] == [True, False]


@pytest.mark.parametrize(
    ("inner", "main", "operation"),
    [
        ("00:27:39.20", "00:27:41.90", "TABLE ACCESS FULL` of `ITEMS"),
        ("00:13:01.90", "00:14:39.90", "SORT ORDER BY"),
    ],
)
def test_a_scalar_subquery_stands_beside_what_ran_it(inner: str, main: str, operation: str) -> None:
    """Its time is in that of the last tree of the plan, where both together took longer than the statement."""
    plan = """SQL> select * from table(dbms_xplan.display_cursor(null,null,'ALLSTATS LAST'));

----------------------------------------------------------------------------------------
| Id  | Operation           | Name  | Starts | E-Rows | A-Rows |   A-Time   | Buffers |
----------------------------------------------------------------------------------------
|   0 | SELECT STATEMENT    |       |      1 |        |  41188 |00:27:41.90 |    242M |
|   1 |  SORT AGGREGATE     |       |  41188 |      1 |  41188 |{inner} |    120M |
|*  2 |   TABLE ACCESS FULL | ITEMS |  41188 |     12 |    512K|{inner} |    120M |
|   3 |  SORT ORDER BY      |       |      1 |  40980 |  41188 |{main} |    242M |
|   4 |   TABLE ACCESS FULL | CUST  |      1 |  40980 |  41188 |00:00:00.06 |    1911 |
----------------------------------------------------------------------------------------

Predicate Information (identified by operation id):
---------------------------------------------------

   2 - filter(TO_CHAR("I"."CUST_NO")=:B1)
"""
    found = iolab.findings(plan.format(inner=inner, main=main).encode()).filter(name="plan_time").item(0, "sentence")
    assert f"`{operation}` took " in found
    assert ("its filter converts `CUST_NO` with TO_CHAR" in found) is ("ITEMS" in operation)


def test_gets_of_a_statement_that_reads_next_to_nothing() -> None:
    """With next to no block from disk the gets are what the statement did, and a warm cache is no advice."""
    text = "SQL> select a from t where b = 1;\n\n11 rows selected.\n\nElapsed: 00:00:18.73\n\nExecution Plan\n"
    text += (
        "-" * 58
        + "\nPlan hash value: 1829003377\n\n"
        + "-" * 53
        + "\n| Id  | Operation               | Name | Rows  |\n"
    )
    text += (
        "-" * 53
        + "\n|   0 | SELECT STATEMENT        |      |    11 |\n|   1 |  INDEX FULL SCAN        | T_I  |    11 |\n"
    )
    text += (
        "-" * 53
        + "\n\nStatistics\n"
        + "-" * 58
        + "\n          0  db block gets\n    3100000  consistent gets\n         14  physical reads\n"
    )
    text += "         11  rows processed\n"
    found = iolab.findings(text.encode()).filter(name="main_statement").row(0, named=True)
    assert "made 3,100,000 gets for 11 rows, 14 blocks from disk and its plan scans all of `T_I`" in found["sentence"]
    assert "warm cache" not in found["next"]
    read = text.replace("         14  physical", "    2900000  physical")
    assert "made 3,100,000 gets" not in " ".join(iolab.findings(read.encode()).get_column("sentence"))


def test_rows_that_were_deleted_after_their_copy_failed() -> None:
    """A script that went on after an error, and deleted what the failed statement reads, may have lost data."""
    text = "SQL> insert into kept select * from moves where d < 9;\nERROR at line 1:\n"
    text += "ORA-01653: unable to extend table A.KEPT by 8192 in tablespace T\n\nElapsed: 00:11:20.31\n"
    text += "SQL> delete from {} where d < 9;\n\n8812 rows deleted.\n\nElapsed: 00:24:02.18\n"
    found = iolab.findings(text.format("moves").encode())
    assert found.item(1, "name") == "went_on"
    assert found.item(1, "sentence") == (
        "The statement at line 1 failed (ORA-01653), but the script went on: line 6 deleted 8,812 rows of `moves`, "
        "from which it reads."
    )
    assert "went_on" not in iolab.findings(text.format("others").encode()).get_column("name").to_list()


def test_runs_that_returned_another_number_of_rows_are_counted() -> None:
    """Runs that are in the share and not among the times are named, whatever else is said of the runs."""
    run = "SQL> delete from t where rownum <= 50;\n\n{} rows deleted.\n\nElapsed: 00:00:{:05.2f}\n"
    text = "".join(run.format(50, 5.0 + 3 * n) for n in range(12)) + run.format(12, 45.0)
    found = iolab.findings(text.encode())
    said = found.filter(name="main_statement").item(0, "sentence")
    assert "12 runs, each longer than the one before" in said
    assert said.endswith("; 1 more returned another number of rows (45 s).")
    assert found.filter(name="runs_trend").item(0, "sentence").endswith("of those with the same number of rows.")


def test_statements_of_one_signature_are_one() -> None:
    """Rows of v$sql that differ in literals alone add up, where their signature is listed."""
    text = "SQL> select sql_id, force_matching_signature, executions, elapsed_time/1e6 ela, sql_text from v$sql;\n\n"
    text += "SQL_ID        FORCE_MATCHING_SIGNATURE EXECUTIONS        ELA SQL_TEXT\n"
    text += f"{'-' * 13} {'-' * 24} {'-' * 10} {'-' * 10} {'-' * 20}\n"
    text += f"9w8px3182vws7 {77:24} {9000:10} {40:10} begin c(:1); end;\n"
    for n in range(9):
        text += f"7mz8c4t0h5w{n}r {{}} {1:10} {10:10} begin p({n}); end;\n".replace("{}", f"{55:24}")
    said = iolab.findings(text.encode()).get_column("sentence").to_list()
    assert "9 statements alike: begin p(0); end; took 69 % of the elapsed time listed: 9 executions, 10 s each." in said
    alone = iolab.findings(text.replace(f"{55:24}", f"{0:24}").encode()).get_column("sentence").to_list()
    assert not any("alike" in one for one in alone)


def test_a_commit_that_waits_for_more_than_the_log() -> None:
    """Commits that take many times as long as the writes of the log are no fault of its disk, nor of their number."""
    text = "SQL> select event, total_waits, time_waited_micro from v$system_event;\n\n"
    text += f"EVENT                     TOTAL_WAITS TIME_WAITED_MICRO\n{'-' * 25} {'-' * 11} {'-' * 17}\n"
    text += f"{'log file sync':25} {1000:11} {30_000_000:17}\n"
    text += f"{'SQL*Net message from client':.25} {1000:11} {90_000_000:17}\n" + "log file parallel write{:14}{:18}\n"
    load = "\nSQL> select stat_name, value from v$osstat;\n\nSTAT_NAME                 VALUE\n-------------------- "
    load += "----------\nNUM_CPUS                      8\nLOAD                      61.12\n"
    slow = iolab.load((text.format(1000, 600_000) + load).encode())
    assert "`log file sync` took 30 ms each, a write of the log 600 us" in iolab.ledger(slow).text
    found = iolab.findings(slow)
    assert "The load was 61.12 on 8 CPUs." in found.get_column("sentence").to_list()
    assert found.filter(part="log file sync").item(0, "next").startswith("see whether LGWR gets a CPU")
    usual = iolab.load(text.format(1000, 25_000_000).encode())
    assert "a write of the log" not in iolab.ledger(usual).text


@pytest.mark.parametrize("later", [777, 111])
def test_plans_and_gets_that_were_listed_between_runs(later: int) -> None:
    """A query after each run tells its plan, and another its gets: they, not the order of the runs, set them apart."""
    run = "SQL> select count(*) from t;\n\n  COUNT(*)\n----------\n         7\n\nElapsed: 00:00:{:05.2f}\n"
    asked = "SQL> select sql_id, plan_hash_value from v$session s, v$sql q where s.prev_sql_id = q.sql_id;\n\n"
    asked += "SQL_ID        PLAN_HASH_VALUE\n------------- ---------------\n9s2mt0v4h7q1b {:15}\n\n"
    gets = "SQL> select n.name, m.value from v$statname n, v$mystat m where n.statistic# = m.statistic#;\n\n"
    gets += "NAME                        VALUE\n---------------------- ----------\nsession logical reads  {:10}\n\n"
    times = [2.1] * 6 + [27.9, 28.1, 28.1, 28.2]
    text, total = "", 0
    for n, time in enumerate(times):
        total += 20_000 if n < 6 else 1_900_000
        text += run.format(time) + asked.format(111 if n < 6 else later) + gets.format(total)
    found, is_other = iolab.findings(text.encode()), later != 111
    said = found.filter(name="main_statement").item(0, "sentence")
    plans = "6 of plan `111`, median 2.10 s and 20,000 gets, 4 of plan `777`, median 28.1 s and 1,900,000 gets"
    assert (plans in said) is is_other
    assert ("runs_trend" in found.get_column("name")) is not is_other
    assert ("keep `111`" in found.filter(name="main_statement").item(0, "next")) is is_other


def test_a_function_on_a_column_of_the_table_that_is_scanned() -> None:
    """A predicate that converts a column is why no index on it serves: the sentence names both."""
    text = "SQL> select a from orders where c = :1;\n\nElapsed: 00:00:07.92\n\nExecution Plan\n" + "-" * 58 + "\n"
    text += "Plan hash value: 1\n\n" + "-" * 42 + "\n| Id  | Operation         | Name   | Rows |\n" + "-" * 42 + "\n"
    text += "|   0 | SELECT STATEMENT  |        |    1 |\n|*  1 |  TABLE ACCESS FULL| ORDERS |    1 |\n" + "-" * 42
    text += "\n\nPredicate Information (identified by operation id):\n" + "-" * 51 + "\n\n   1 - filter({})\n\n\n"
    text += "Statistics\n" + "-" * 58 + "\n     482117  consistent gets\n     482009  physical reads\n"
    text += "          0  db block gets\n          1  rows processed\n"
    for predicate, said in {
        'TO_NUMBER("EXT_REF")=448120931': "`EXT_REF` with TO_NUMBER",
        'TRUNC("O"."CREATED")=TRUNC(SYSDATE@!)': "`CREATED` with TRUNC",
        'INTERNAL_FUNCTION("CREATED")>=:1': "`CREATED` with INTERNAL_FUNCTION",
        '"S"=1 AND UPPER("NAME") LIKE :1': "`NAME` with UPPER",
        'INTERNAL_FUNCTION("STATUS")': "",  # so a plan prints a list of literals
        '"C"=TO_NUMBER(:1) AND ("S"=1 OR "T"=2)': "",
    }.items():
        main = iolab.findings(text.format(predicate).encode()).filter(name="main_statement").item(0, "sentence")
        assert main.endswith(f"all of `ORDERS`{'; its filter converts ' * bool(said)}{said}.")


@pytest.mark.parametrize("rows", [1, 50])
def test_a_trace_names_its_commits(rows: int) -> None:
    """A statement that is a COMMIT has no text worth an id alone, and says so where each row had one of its own."""
    head = (
        "PARSING IN CURSOR #{0} len=9 dep=0 uid=87 oct={1} lid=87 tim={2} hv={0} ad='a' sqlid='{3}'\n{4}\nEND OF STMT\n"
    )
    call = "EXEC #{}:c=10,e={},p=0,cr=1,cu=4,mis=0,r={},dep=0,og=1,plh=0,tim={}\n"
    text = head.format(7, 2, 1000, "7bq4d1ksw0n9v", "INSERT INTO T VALUES (:1)")
    text += head.format(8, 44, 1000, "23wm3kz7rps5y", "COMMIT")
    for n in range(1, 331):
        text += call.format(7, 100, rows, 10_000 * n + 100)
        text += f"WAIT #8: nam='log file sync' ela= 7000 buffer#=1 sync scn=2 p3=0 obj#=9 tim={10_000 * n + 7_200}\n"
        text += call.format(8, 7_100, 0, 10_000 * n + 7_210)
    main = iolab.findings(text.encode()).filter(name="main_statement").row(0, named=True)
    assert main["sentence"].startswith("`COMMIT` (`23wm3kz7rps5y`) took ")
    assert main["next"] == "commit less often: once for many rows, not for each"
    assert (", one for each row of `7bq4d1ksw0n9v`, 330 waits" in main["sentence"]) is (rows == 1)


@pytest.mark.parametrize(("obj", "of_table", "is_undo"), [(0, 52, True), (52, 52, False), (0, 0, False)])
def test_a_query_that_reads_undo(obj: int, of_table: int, is_undo: bool) -> None:  # noqa: FBT001 - a case
    """Single blocks without an object, where the table's reads have theirs, are undo that a query needs."""
    text = "PARSING IN CURSOR #7 len=9 dep=0 uid=87 oct=3 lid=87 tim=1000 hv=7 ad='a' sqlid='7bq4d1ksw0n9v'\n"
    text += "select sum(a) from t\nEND OF STMT\n"
    wait = "WAIT #7: nam='db file {}' ela= {} file#={} block#={} blocks={} obj#={} tim={}\n"
    for n in range(1, 101):
        text += wait.format("sequential read", 4_000, 3, n, 1, obj, 5_000 * n)
    text += wait.format("scattered read", 900, 6, 9, 32, of_table, 501_000)
    text += "FETCH #7:c=9000,e=501500,p=132,cr=900,cu=0,mis=0,r=1,dep=0,og=1,plh=0,tim=502000\n"
    row = iolab.findings(text.encode()).filter(name="main_statement").row(0, named=True)
    assert ("100 of them for undo (obj# 0)" in row["sentence"]) is is_undo
    assert ("v$transaction" in row["next"]) is is_undo


@pytest.mark.parametrize(("waited", "used", "is_said"), [(819, 773, True), (99, 140, False), (2_900, 773, False)])
def test_statistics_of_a_session_divide_the_time_of_its_statement(waited: int, used: int, is_said: bool) -> None:  # noqa: FBT001 - a case
    """Their differences are parts of its time where one is a third of it, and all of them together not more than it."""
    text = "SQL> delete from t;\n\n1000000 rows deleted.\n\nElapsed: 00:00:16.63\nSQL> @diff\n\n"
    text += f"{'NAME':45} VALUE_BEGIN  VALUE_END       DIFF\n{'-' * 45} ----------- ---------- ----------\n"
    for name, value in (("redo log space wait time", waited), ("CPU used by this session", used), ("redo entries", 90)):
        text += f"{name:45} {500:11} {500 + value:10} {value:10}\n"
    row = iolab.findings(text.encode()).filter(name="main_statement").row(0, named=True)
    said = "By the statistics of the session, waits for space in the redo logs took 8.19 s, CPU took 7.73 s."
    assert row["sentence"].endswith(said) is is_said
    assert ("v$log" in row["next"]) is is_said


@pytest.mark.parametrize(("parses", "is_said"), [(95, False), (950, True)])
def test_a_share_of_few_is_no_statistic(parses: int, is_said: bool) -> None:  # noqa: FBT001 - a case
    """95 of 98 executions in a session are what a few queries of views do."""
    text = "SQL> select n.name, s.value from v$mystat s join v$statname n using (statistic#);\n\n"
    text += f"{'NAME':45}      VALUE\n{'-' * 45} ----------\n"
    for name, value in (("parse count (total)", parses), ("execute count", parses + 3)):
        text += f"{name:45} {value:10}\n"
    said = " ".join(iolab.findings(text.encode()).get_column("sentence"))
    assert ("Nearly each execution was parsed" in said) is is_said


@pytest.mark.parametrize("calls", [48_211, 12])
def test_runs_that_differ_in_recursive_calls_say_so(calls: int) -> None:
    """A first run that parsed is slower for its recursive calls: the sentence of the statement shows them."""
    run = f"SQL> select a from t;\n\nElapsed: 00:00:{{}}\n\nStatistics\n{'-' * 58}\n{{:>11}}  recursive calls\n"  # noqa: S608 - a text
    run += "       9000  consistent gets\n          0  physical reads\n        800  rows processed\n\n"
    found = iolab.findings((run.format("14.20", calls) + run.format("00.31", 0)).encode())
    said = "2 runs; with 48,211 recursive calls 14.2 s, with none 0.310 s"
    assert (said in found.filter(name="main_statement").item(0, "sentence")) == (calls > 12)
    assert "first_run_slower" in found.get_column("name")  # two runs do not show that it is always so


@pytest.mark.parametrize(
    ("rows", "memory", "step"),
    [
        ("139M", "21M (9)|     28G", "more memory"),
        ("1412", "21M (9)|     28G", "statistics"),
        ("139M", "21M (0)|", "rows"),
    ],
)
def test_the_next_step_of_an_operation_is_of_what_it_shows(rows: str, memory: str, step: str) -> None:
    """Rows that were expected leave temporary space, or else the predicates."""
    plan = SORT.format(returned="139M", rows=rows, memory=memory)
    found = iolab.findings(plan.encode()).filter(name="plan_time")
    assert step in found.item(0, "next")
    assert ("temporary space" in found.item(0, "sentence")) == ("28G" in memory)


@pytest.mark.parametrize(("reads", "operation"), [(98_000, "HASH GROUP BY"), (10, "SORT ORDER BY")])
def test_rows_of_a_sum_are_none_of_its_scan(reads: int, operation: str) -> None:
    """What a scan was for is not the rows of a sum over it; runs of the same reads and times need no other run."""
    text = ""
    for blocks, time in ((98_000, "47.31"), (reads, "46.88")):
        text += "SQL> select s, count(*) from trip where d = 4 group by s;\n\nElapsed: 00:00:" + time  # noqa: S608 - a text
        text += f"\n\nExecution Plan\n{'-' * 58}\nPlan hash value: 22\n\n{'-' * 40}\n"
        text += f"| Id  | Operation          | Name | Rows |\n{'-' * 40}\n"
        text += f"|   0 | SELECT STATEMENT   |      |    4 |\n|   1 |  {operation:17} |      |    4 |\n"
        text += "|   2 |   TABLE ACCESS FULL| TRIP | 1300 |\n{}\n\nStatistics\n{}\n".format("-" * 40, "-" * 58)
        text += f"     117120  consistent gets\n{blocks:>11}  physical reads\n          2  rows processed\n\n"
    said = " ".join(iolab.findings(text.encode()).get_column("sentence"))
    assert ("scans all of `TRIP` for 4 rows" in said) == (operation == "SORT ORDER BY")
    assert ("do not show whether a first run" in said) == (reads == 10)


def test_a_top_n_query_ends_early_and_expects_no_fewer_rows() -> None:
    """Steps that `rownum` cuts are no wrong estimate; the memory of a sort beside what it needed is the cause."""
    plan = SORT.format(returned="50", rows="398M", memory="  31M (9)|     24G ")
    whole = plan.replace("HASH GROUP BY     ", "SORT GROUP BY STOP").replace("GROUP BY STOP", "ORDER BY STOPKEY"[:13])
    cut = plan.replace("HASH GROUP BY     ", "COUNT STOPKEY     ")
    said = [iolab.findings(text.encode()).filter(name="plan_time").item(0, "sentence") for text in (whole, cut)]
    assert ["398,000,000 expected" in one for one in said] == [True, False]


LOOKUP, SHORT = "select a from t where b = '{}'", "select a from t{} where b = :b"
#: A statement, its feedback, its time and what autotrace counted.
COUNTED = """SQL> {text};

{rows} rows {did}.

Elapsed: 00:{time}

Statistics
----------------------------------------------------------
{calls:>11}  recursive calls
          0  db block gets
{gets:>11}  consistent gets
{reads:>11}  physical reads
          2  SQL*Net roundtrips to/from client
{rows:>11}  rows processed
"""


def counted(text: str, time: str, **counts: object) -> str:
    """A statement with autotrace."""
    figures = {"rows": 5, "did": "selected", "calls": 0, "gets": 40, "reads": 0} | counts
    return COUNTED.format(text=text, time=time, **figures)


def first_of(text: str) -> str:
    """The sentence of the largest statement."""
    return str(iolab.findings(text.encode()).filter(name="main_statement").item(0, "sentence"))


def test_statements_that_differ_in_literals_are_one_fact() -> None:
    """Three alike of the same length stand together; one that is much shorter is another case."""
    slow = [counted(LOOKUP.format(n), "04:10.00", gets=1_285_000, reads=1_284_000) for n in range(3)]
    fast = counted(LOOKUP.format("z"), "00:01.00")
    assert first_of("".join(slow)).startswith(
        "3 statements that differ only in literals took 100 % of the time together."
    )
    assert "literals" not in first_of("".join([*slow, fast]))


def test_recursive_calls_of_each_row_are_said() -> None:
    """A function in the select list calls once for each row; a few recursive calls are no cause."""
    each, few = (counted("select a, f(a) from t", "06:52.00", rows=9_000, gets=900_000, calls=n) for n in (9_010, 300))
    assert "made 9,010 recursive calls (1.00 per row)" in first_of(each)
    assert "recursive" not in first_of(few)


def test_what_a_change_took_for_each_row() -> None:
    """By the feedback of the client; of a query the rows are not what took the time."""
    run = "SQL> {};\n\n41882017 rows {}.\n\nElapsed: 05:36:29.44\n"
    change, query = run.format("update t set a = f(b)", "updated"), run.format("select * from t", "selected")
    assert (
        first_of(change) == "The statement at line 1 took all of the time: 20,200 s for 41,882,017 rows, 482 us each."
    )
    assert "each" not in first_of(query)


def test_a_session_of_short_statements_is_calm() -> None:
    """Six statements of 20 ms are more than ten steps of the clock together; five blocks from disk do not matter."""
    text = "".join(counted(SHORT.format(n), "00:00.02", gets=90, reads=n) for n in range(6))
    found = iolab.findings(text.encode())
    assert found.filter(name="calm_run").item(0, "sentence") == (
        "Nothing stands out: no statement took longer than 20 ms, made more than 90 gets or read more than 5 blocks "
        "from disk."
    )
    slower = iolab.findings(text.replace("00:00.02", "00:00.12").encode())
    assert slower.filter(name="calm_run").is_empty()


def test_parsing_is_the_time_of_a_statement_and_its_cpu() -> None:
    """SQLcl prints the statistics of the session below a statement: time of parsing is CPU, and said once."""
    text = counted("select * from t", "00:41.26")
    lines = "        3984  CPU used by this session\n        {}  parse time elapsed\n"
    one, other = (text.replace("          0  db block", f"{lines.format(n)}          0  db block") for n in (3954, 12))
    assert "By the statistics of the session, parsing took 39.5 s." in first_of(one)
    assert "parsing" not in first_of(other)


#: Rows of Snapper, one of them blocked by a session.
SNAP = """
---------------------------------------------------------------------------------------------------------------
  ActSes   %Thread | SQL_ID          | EVENT                               | WAIT_CLASS      | BLOCKING_SESSION
---------------------------------------------------------------------------------------------------------------
{:8.2f}   ({:.0%}) | 5ydg6m7bk0n2z   | enq: TX - row lock contention       | Application     | {}
     .69     (69%) | b8t1q0w2mrk4a   | ON CPU                              | ON CPU          |

--  End of ASH snap {}, end=2024-03-05 11:22:{}, seconds=5, samples_taken=45, AAS=21.3
"""


def test_the_session_that_blocks_most_samples_comes_first() -> None:
    """With how many it blocked at first and at the end; without a blocker the event comes first."""
    for holder, first in (
        ("3107", "Session 3107 blocked 97 % of the samples: 19 sessions in the first interval, 26 in the last."),
        ("", "`enq: TX - row lock contention` took 97 % of the samples."),
    ):
        snaps = [SNAP.format(n, n, holder, place, 20 + 5 * place) for place, n in enumerate((19, 26), 1)]
        found = iolab.findings(f"SQL> @snapper ash 5 2 all\n{''.join(snaps)}".encode())
        assert first in found.get_column("sentence").head(2).to_list()


@pytest.mark.parametrize(("plan", "is_known"), [(1234567, True), (7654321, False)])
def test_a_sort_on_disk_and_its_run_with_more_memory(plan: int, is_known: bool) -> None:  # noqa: FBT001 - a case
    """SQLcl's list may begin with statistics of SQL*Plus; the slash runs the query with the same plan again."""
    rule = "-" * 44 + "\n"
    shown = "\n500 rows selected.\n\nExplain Plan\n" + "-" * 59 + "\n\nPLAN_TABLE_OUTPUT\n"
    shown += f"{rule}Plan hash value: {{}}\n\n{rule}"
    shown += f"| Id  | Operation          | Name | Rows    |\n{rule}|   0 | SELECT STATEMENT   |      |     88M |\n"
    shown += f"|   1 |  SORT ORDER BY     |      |     88M |\n|   2 |   TABLE ACCESS FULL| T    |     88M |\n{rule}\n"
    shown += "Statistics\n" + "-" * 59
    shown += "\n       1102  bytes received via SQL*Net from client\n      48812  bytes sent via SQL*Net to client\n"
    shown += "          4  calls to get snapshot scn: kcmgss\n     910122  consistent gets\n{:>11}  physical reads\n"
    shown += "{:>11}  physical reads direct temporary tablespace\n          1  sorts (disk)\n"
    shown += "          1  workarea executions - multipass\n\nElapsed: 00:{}.00\n"
    more = "SQL> alter session set sort_area_size=2147483647;\n\nSession altered.\n\n"
    text = f"SQL> select * from t order by a;\n{shown.format(1234567, 6_632_602, 5_722_600, '21:52')}{more}SQL> /\n"  # noqa: S608
    text += shown.format(plan, 1_706_102, 796_100, "03:51")
    said = iolab.findings(text.encode()).filter(name="main_statement").item(0, "sentence")
    assert ("2 runs; 1,312 s, then 231 s after `alter session set sort_area_size" in said) == is_known
    whose = "its longest run" if is_known else "it"
    assert f"5,722,600 of the 6,632,602 blocks that {whose} read (86 %) were temporary (sorts on disk: 1); " in said


@pytest.mark.parametrize("what", ["analyze table t list chained rows into c", "merge into t using s on (t.a = s.a)"])
def test_what_looks_for_a_cause_does_not_lead(what: str) -> None:
    """The statement leads that was looked at, with what the statistics around it explain; others lead by their time."""
    counts = "{:60}{:>10}\n" * 2
    names = ("table fetch by rowid", "table fetch continued row")
    listing = (
        "SQL> @mystat\n\n{:60}{:>10}\n" + "-" * 60 + " " + "-" * 9 + "\n{}\n2 rows selected.\n\nElapsed: 00:00:00.02\n"
    )
    before, after = (
        listing.format("NAME", "VALUE", counts.format(names[0], n, names[1], m))
        for n, m in ((204, 8), (3_402_118, 3_188_402))
    )
    done = "Table analyzed." if what[0] == "a" else "9 rows merged."
    run = "SQL> exec rate\n\nPL/SQL procedure successfully completed.\n\nElapsed: 00:04:57.02\n"
    text = f"{before}{run}{after}SQL> {what};\n\n{done}\n\nElapsed: 00:06:12.40\n"
    found = iolab.findings(text.encode()).filter(name="main_statement").get_column("sentence")
    is_aside = what[0] == "a"
    first = text[: text.index("SQL> exec" if is_aside else f"SQL> {what}")].count("\n") + 1
    assert found[0].startswith(f"The statement at line {first} took")
    assert ("3,188,402 fetches of a continued row" in found[0]) == is_aside
    assert summary_text(summarize(text.encode()), "a.lst").index(found[0][:30]) < 200


@pytest.mark.parametrize("blocks", [99_000, 9_000])
def test_more_blocks_than_gets_are_of_temporary_space(blocks: int) -> None:
    """Each block of a table that is read is a get, too."""
    rows = "\n\n         A\n----------\n         1\n\nElapsed: 00:01:30.00\n\nStatistics\n" + "-" * 58
    text = f"SQL> select a from t;{rows}\n          0  db block gets\n       9000  consistent gets\n"  # noqa: S608 - a text
    text += f"{blocks:>11}  physical reads\n\n"
    said = " ".join(iolab.findings(text.encode()).get_column("sentence"))
    assert ("most of them temporary" in said) == (blocks == 99_000)


@pytest.mark.parametrize(("took", "unit"), [(4.1, "Elapsed"), (9.3, "Elapsed"), (4.1, "CPU"), (4.1, "Ela/Call")])
def test_times_that_a_block_printed(took: float, unit: str) -> None:
    """A table of elapsed times that are most of a block's says where its time went; no other table does."""
    rows = f"Timer       {unit:>8}  Calls\n----------- --------  -----\nload            2.90      1\n"
    rows += "check           1.00  4,000\nTotal           3.91  4,001\n(end)\n"
    end = f"\nPL/SQL procedure successfully completed.\n\nElapsed: 00:00:{took:05.2f}\n"
    said = "".join(iolab.findings(iolab.load(f"SQL> exec load\n{rows}{end}".encode())).get_column("sentence"))
    is_said = took < 5 and unit == "Elapsed"
    assert (
        "By the table at line 2, `load` took 74 % of 3.91 s (1 call), `check` 26 % (4,000 calls)." in said
    ) == is_said
    assert ("By the table" in said) == is_said


@pytest.mark.parametrize("heading", ["Function MicroS", "Subtree MicroS"])
def test_a_profile_that_was_listed_after_a_run(heading: str) -> None:
    """Own times of functions, in us, are of the block that ran before the query of the profile."""
    text = "PL/SQL procedure successfully completed.\n\nElapsed: 00:00:08.28\n\n"
    text += f"Module   Function     {heading}   Calls\n-------- ------------ --------------- -------\n"
    text += "BASE     sql_line_85          4098514     548\nBASE     sql_line_15          1738142       1\n\n"
    text += "Elapsed: 00:00:00.00\n"
    said = "".join(iolab.findings(iolab.load(text.encode())).get_column("sentence"))
    is_said = heading[0] == "F"
    assert ("`sql_line_85` took 70 % of 5.84 s (548 calls), `sql_line_15` 30 % (1 call)." in said) == is_said


@pytest.mark.parametrize(("gets", "timed"), [(3_000, ""), (30, ""), (3_000, "\nElapsed: 00:00:01.00\n")])
def test_statements_without_a_time_are_ranked_by_gets(gets: int, timed: str) -> None:
    """Where autotrace counted and nothing is timed, gets rank the statements; a few need no word."""
    text = (
        "Hash join\n\n\n8 rows selected.\n{timed}\nStatistics\n{rule}\n  0  db block gets\n  {gets}  consistent gets\n"
    )
    text += "  504  bytes sent via SQL*Net to client\n  8  rows processed\n\n\n"
    text = "".join(text.format(gets=one, timed=timed, rule="-" * 58) for one in (gets, gets // 10))
    said = "".join(iolab.findings(iolab.load(text.encode())).get_column("sentence"))
    is_ranked = gets == 3_000 and not timed
    assert ("select, below `Hash join` took 91 % of the logical reads; line 17 sent" in said) == is_ranked
    assert ("line 17 sent as many rows and bytes with 300 gets, 10 times fewer" in said) == is_ranked
    assert ("Line 19 sent as many rows and bytes with 300 gets" in said) == bool(timed)


@pytest.mark.parametrize(("above", "name"), [("Gather statistics", ", below `Gather statistics`"), ("end;", "")])
def test_the_line_above_a_statement_without_a_text_names_it(above: str, name: str) -> None:
    """A prompt of a script says what follows; the end of a text does not."""
    log = iolab.load(f"{above}\n\nPL/SQL procedure successfully completed.\n\nElapsed: 00:00:46.80\n".encode())
    assert iolab.ledger(log).parts("who").item(0, "name") == f"line 3: plsql{name}"
