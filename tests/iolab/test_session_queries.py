"""What the queries of a session counted: samples by object, two runs of one query, and reports of SQL Monitor."""

from __future__ import annotations

import pytest

import iolab


def _grid(query: str, *rows: str) -> str:
    """A query and what it returned: its headings, then its rows, cells between bars."""
    cells = [row.split("|") for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [" ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
    return "\n".join([f"SQL> {query};\n", lines[0], " ".join("-" * width for width in widths), *lines[1:], "", ""])


def _said(text: str) -> str:
    return " ".join(iolab.findings(text.encode()).get_column("sentence"))


_EVENTS = _grid(
    "select event, count(*) n from v$active_session_history group by event",
    *("EVENT|         N", "enq: TX - index contention|900", "log file sync|100"),
)


def test_numbers_of_distinct_sessions_are_no_samples() -> None:
    """A query that counts nothing else has no samples."""
    query = "select event, count(distinct session_id) n from v$active_session_history group by event"
    assert "of the samples" not in _said(_grid(query, "EVENT|N", "latch free|900", "log file sync|100"))


@pytest.mark.parametrize(
    "columns", ["current_obj#, count(*) n", "current_obj# obj, count(distinct session_id) n, count(*) c"]
)
def test_samples_are_counted_by_the_column_that_counts_them(columns: str) -> None:
    """Numbers of objects and of distinct sessions are none of samples; a smaller query has its own total."""
    query = f"select sql_id, {columns} from v$active_session_history where event like 'enq: TX%' group by sql_id"  # noqa: S608 - a text
    names = (
        ("CURRENT_OBJ#|N", "118820|810", "118820|90")
        if "obj," not in columns
        else ("OBJ|N|C", "118820|4|810", "118820|4|90")
    )
    rows = (f"SQL_ID       |{names[0]}", f"9v0h2kd4q8ymt|{names[1]}", f"4kd4q8ymt9v0h|{names[2]}")
    said = _said(_EVENTS + _grid(query, *rows))
    assert "`enq: TX - index contention` took 90 % of the samples." in said
    assert "`9v0h2kd4q8ymt` took 90 % of 900 samples (query at line 8)." in said
    assert "Object 118820 had 100 % of 900 samples" in said


@pytest.mark.parametrize(
    ("types", "more", "is_named"),
    [(("TABLE", "INDEX"), 0, True), (("INDEX", "INDEX"), 0, False), (("TABLE", "INDEX"), 1000, False)],
)
def test_the_index_of_the_waits_for_an_index_is_named(types: tuple[str, str], more: int, *, is_named: bool) -> None:
    """Of objects that are listed without their numbers only one index is the one that index contention is for."""
    query = "select current_obj#, count(*) n from v$active_session_history where event like 'enq: TX - index%'"
    text = _EVENTS + _grid(query, "CURRENT_OBJ#|     N", f"118820|{890 + more}", f"118816|{10 + more}")
    names = zip(("AUTH_LOG", "AUTH_LOG_PK"), types, strict=True)
    query = "select object_name, object_type from dba_objects where object_id in (118816, 118820)"
    text += _grid(query, "OBJECT_NAME|OBJECT_TYPE", *map("|".join, names))
    query = "select sequence_name, cache_size from dba_sequences"
    said = _said(text + _grid(query, "SEQUENCE_NAME|CACHE_SIZE", "SEQ_AUTH_LOG|20"))
    assert ("`AUTH_LOG_PK` (INDEX, object 118820) had 99 % of 900 samples" in said) is is_named
    assert ("Object 118820 had" in said) is not is_named
    assert "Sequence `SEQ_AUTH_LOG` caches 20 values." in said


def _run(condition: str, elapsed: str, predicate: str) -> str:
    """A statement with its plan: two tables are scanned."""
    lines = [
        "| Id  | Operation          | Name | Rows  | Cost  |",
        "|   0 | SELECT STATEMENT   |      |    11 | 92000 |",
    ]
    lines += [
        "|*  1 |  HASH JOIN         |      |    11 | 92000 |",
        "|*  2 |   TABLE ACCESS FULL| LINE |    11 | 90000 |",
    ]
    lines += ["|   3 |   TABLE ACCESS FULL| CUST |    11 |  2000 |"]
    rule = "-" * len(lines[0])
    text = f"SQL> select a from line l, cust c where l.c = c.c and {condition};\n\n11 rows selected.\n\n"  # noqa: S608 - a text
    text += f"Elapsed: 00:00:{elapsed}\n\nExecution Plan\n{'-' * 58}\nPlan hash value: 1829003377\n\n"
    text += "\n".join(
        [rule, lines[0], rule, *lines[1:], rule, "", "Predicate Information (identified by operation id):"]
    )
    text += f'\n{"-" * 51}\n\n   1 - access("L"."C"="C"."C")\n   2 - filter({predicate})\n\n\nStatistics\n{"-" * 58}\n'
    return f"{text}     813000  consistent gets\n     812390  physical reads\n         11  rows processed\n\n"


@pytest.mark.parametrize(
    ("position", "fast", "said"),
    [
        (1, "00.31", "Its filter converts `D` with TRUNC, so index `LINE_IX` does not serve it; the statement at line"),
        (2, "00.31", "Its filter converts `D` with TRUNC; the statement at line"),
        (1, "40.31", "Its filter converts `D` with TRUNC, so index `LINE_IX` does not serve it."),
        (2, "40.31", "its plan scans all of `LINE` for 11 rows; its filter converts `D` with TRUNC."),
    ],
)
def test_a_function_on_the_first_column_of_an_index_is_the_cause(position: int, fast: str, said: str) -> None:
    """The index that a session lists for the column is named, and the statement that asks for the same without it."""
    text = _run("trunc(l.d) = :1", "48.73", 'TRUNC("L"."D")=:1')
    query = "select index_name, column_name, column_position from user_ind_columns where table_name='LINE'"
    text += _grid(query, "INDEX_NAME|COLUMN_NAME|COLUMN_POSITION", f"LINE_IX|D|{position}")
    text += _run("l.d >= :1 and l.d < :1 + 1", fast, '"L"."D">=:1 AND "L"."D"<:1+1')
    found = iolab.findings(text.encode()).filter(name="main_statement")
    assert said in found.item(0, "sentence")
    assert found.item(0, "next") == "compare `D` itself, with values or a range of its own type, else index its TRUNC"


_REPORT = """SQL> @mon
SQL Monitoring Report

Global Information
------------------------------
 Status              :  {status}
 SQL ID              :  5kx2fj93mc4p7
 SQL Execution ID    :  {execution}
 Duration            :  {duration}s

Global Stats
=======================================
| Elapsed |   Cpu   |    IO    | Buffer |
| Time(s) | Time(s) | Waits(s) |  Gets  |
=======================================
|    5120 |     466 |     4654 |    24M |
=======================================

SQL Plan Monitoring Details (Plan Hash Value=2650417733)
=========================================================================================================
| Id |      Operation       | Name |   Rows  | Execs |   Rows   | Activity |        Activity Detail         |
|    |                      |      | (Estim) |       | (Actual) |   (%)    |          (# samples)           |
=========================================================================================================
|  0 | SELECT STATEMENT     |      |         |     1 |      58K |          |                                |
|  1 |   NESTED LOOPS       |      |   3800K |     1 |    3922K |     0.35 | Cpu (18)                       |
|  2 |    TABLE ACCESS FULL | ACC  | {expected:>7} |     1 |     194K |     0.06 | Cpu (1)                        |
|  3 |    INDEX RANGE SCAN  | USG  |      20 |  194K |    3922K |    94.34 | Cpu (391)                      |
|    |                      |      |         |       |          |          | db file sequential read (4446) |
=========================================================================================================

"""


@pytest.mark.parametrize(
    ("expected", "status", "said"),
    [
        ("1", "DONE (ALL ROWS)", "`TABLE ACCESS FULL` of `ACC` returned 194,000 rows, 1 expected."),
        ("9000K", "DONE (ALL ROWS)", "`TABLE ACCESS FULL` of `ACC` returned 194,000 rows, 9,000,000 expected."),
        ("9000K", "EXECUTING", ""),
        ("190K", "DONE (ALL ROWS)", ""),
    ],
)
def test_a_report_of_sql_monitor_leads(expected: str, status: str, said: str) -> None:
    """The statement, the most active line of its plan, and its rows lead before a query that was timed."""
    report = _REPORT.format(expected=expected, status=status, execution=7, duration=5122)
    text = f"{report}SQL> select sum(n) from a;\n\n    SUM(N)\n----------\n         3\n\nElapsed: 00:00:31.88\n"  # noqa: S608
    found = iolab.findings((report.replace("94.34", "12.00") + text).encode())  # of one execution the last one counts
    first = "`5kx2fj93mc4p7` took 5,120 s (SQL Monitor). `INDEX RANGE SCAN` of `USG` (Id 3) had 94 % of the activity: "
    first += "`db file sequential read` in 4,446 of 4,837 samples."
    assert found.item(0, "sentence") == f"{first} {said}".rstrip()
    assert found.item(1, "sentence") == "Waits of class User I/O took 91 % of the time of `5kx2fj93mc4p7`: 4,654 s."
    assert found.item(0, "next").startswith("gather statistics") is bool(said)


def test_processes_of_a_monitored_statement_work_side_by_side() -> None:
    """The time of all processes is named beside the clock; a longer statement of the session itself leads."""
    report = _REPORT.format(expected="190K", status="DONE", execution=7, duration=640)
    other = "SQL> select count(*) from acc;\n\n  COUNT(*)\n----------\n         3\n\nElapsed: 00:{}:31.88\n\n"
    said = "`5kx2fj93mc4p7` ran for 640 s, 5,120 s in all its processes (SQL Monitor)."
    assert iolab.findings((report + other.format("00")).encode()).item(0, "sentence").startswith(said)
    found = iolab.findings((report + other.format("50")).encode())["sentence"].to_list()
    assert "took all of the time: 3,030 s" in found[1]
    assert any(one.startswith(said) for one in found[2:])


@pytest.mark.parametrize(
    ("longest", "said"), [("4200", "Of 4 parallel servers `p003` took 4,200 s, 82 % of it."), ("1300", "")]
)
def test_the_parallel_server_with_most_of_the_time_is_named(longest: str, said: str) -> None:
    """Of even servers none is named, and the coordinator is not among them."""
    rows = [
        ("PX Coordinator", "QC", "4.1"),
        *((f"p00{n}", "Set 1", "300") for n in range(3)),
        ("p003", "Set 1", longest),
    ]
    table = [f"| {name:14} | {kind:5} | {elapsed:>7} |" for name, kind, elapsed in rows]
    head = ["=" * 40, "|      Name      |  Type | Elapsed |", "|                |       | Time(s) |", "=" * 40]
    servers = "\n".join(["Parallel Execution Details (DOP=4 , Servers Allocated=4)", *head, *table, "=" * 40, "", ""])
    report = _REPORT.format(expected="190K", status="DONE", execution=7, duration=5120)
    text = report.replace("SQL Plan Monitoring", f"{servers}SQL Plan Monitoring")
    found = iolab.findings(text.encode()).item(0, "sentence")
    assert said in found
    assert ("parallel servers" in found) is bool(said)


@pytest.mark.parametrize("count", [189_224_118, 91_820])
def test_rows_of_one_parallel_server_stand_beside_the_monitored_statement(count: int) -> None:
    """They are of the statement that SQL Monitor reports, not of the query that looks for their key."""
    report = _REPORT.format(expected="190K", status="DONE", execution=7, duration=5120)
    report = report.replace("  NESTED LOOPS  ", "  PX COORDINATOR")
    query = "select dealer_id, count(*) from cdr_day group by dealer_id"
    text = (
        report
        + _grid(query, "DEALER_ID|COUNT(*)", f"-1|{count}", "40112|88411").rstrip()
        + "\n\nElapsed: 00:00:31.88\n"
    )
    servers = [f"P{n:04}|{n + 1_990_000 if n < 7 else 189_203_086}" for n in range(8)]
    found = iolab.findings(
        (text + _grid("select process, num_rows from v$pq_tqstat", "PROCESS|NUM_ROWS", *servers)).encode()
    )
    said = found.item(0, "sentence")
    assert "samples. Parallel server `P0007` had 93 % of the rows of 8: 189,203,086" in said
    assert ("189,224,118 rows have `DEALER_ID` -1" in said) is (count > 100_000)


@pytest.mark.parametrize(("writes", "is_own"), [(8_711, False), (71_300, True)])
def test_the_rest_of_commits_is_known_of_single_writes(writes: int, *, is_own: bool) -> None:
    """Where several commits wait for one write, what they waited for beside it is not known."""
    rows = ("log file sync|71304|2688", f"log file parallel write|{writes}|297")
    text = _grid("select event, total_waits, time_waited_s from se_delta", "EVENT|TOTAL_WAITS|TIME_WAITED_S", *rows)
    ledger = iolab.ledger(text.encode())
    assert ("rest of the commits" in ledger.parts()["name"]) is is_own
    assert ("each, a write of the log 34.1 ms; several commits may wait for one write" in ledger.text) is not is_own
    assert ledger.total is not None
    assert ledger.total.value == 2688


@pytest.mark.parametrize(("second", "is_said"), [("/u09/nfs", True), ("/u02/redo", False)])
def test_the_folders_of_the_members_of_redo_logs_are_named(second: str, *, is_said: bool) -> None:
    """Members in several folders stand beside the waits for their writes."""
    rows = ("EVENT|TOTAL_WAITS|TIME_WAITED_S", "log file sync|71304|2688", "latch free|8|1")
    text = _grid("select event, total_waits, time_waited_s from se_delta", *rows)
    members = [f"{n}|{folder}/redo{n}.log" for n in (1, 2) for folder in ("/u02/redo", second)]
    said = _said(text + _grid("select group#, member from v$logfile", "GROUP#|MEMBER", *members))
    named = "Each write of the log goes to `/u02/redo` and `/u09/nfs`, and ends with the slowest of them."
    assert (named in said) is is_said


_WAITS = "select event, total_waits, time_waited_micro from evs_delta"


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (
            (200, 3_120_000),
            "took 1.76 ms and 15.6 ms each in the listings at lines 1 and 8. Others: `log file parallel",
        ),
        ((200, 400_000), ""),
        ((400, 6_240_000), ""),
    ],
)
def test_one_query_before_and_after_a_change(second: tuple[int, int], said: str) -> None:
    """The mean waits of both stand beside the event, unless they are alike or the second ones contain the first."""
    log = "log file parallel write|300|210000"
    first = _grid(_WAITS, "EVENT|TOTAL_WAITS|TIME_WAITED_MICRO", "db file sequential read|300|528000", log)
    text = first + _grid(
        _WAITS, "EVENT|TOTAL_WAITS|TIME_WAITED_MICRO", "db file sequential read|{}|{}".format(*second), log
    )
    found = iolab.findings(text.encode())
    assert ("in the listings at lines" in " ".join(found["sentence"])) is bool(said)
    assert said in " ".join(found["sentence"])
    is_once = sum(one.startswith("`log file parallel write` took 700 us each") for one in found["sentence"]) == 0
    assert is_once or not said


@pytest.mark.parametrize("condition", ["event = 'db file sequential read'", "inst_id = 1"])
def test_a_script_tells_its_event_by_its_variables(condition: str) -> None:
    """Where the log has no query, the lines with its variables replaced name the event of a histogram."""
    text = f"SQL> @evh\nold   4:  where &1\nnew   4:  where {condition}\nsampling ...\n\n"
    text += _grid("x", "WAIT_TIME_MILLI|WAIT_COUNT", "1|188204", "64|70000").partition("\n\n")[2]
    name = "the event" if "inst_id" in condition else "db file sequential read"
    assert f"waits for `{name}` took 16 ms or longer" in _said(text)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("alter system set pga_aggregate_target=24G", " in 50 s, after `alter system set pga_aggregate_target=24G`."),
        ("alter system flush buffer_cache", " in 50 s."),
    ],
)
def test_a_script_without_its_text_that_ran_again_after_a_change(change: str, said: str) -> None:
    """As many rows and bytes with as many gets, far faster: what was changed between them may be why."""
    traced = "\n\n40 rows selected.\n\nElapsed: 00:0{}:50.00\n\nStatistics\n" + "-" * 58 + "\n  0  db block gets\n"
    traced += "  900000  consistent gets\n  176008  bytes sent via SQL*Net to client\n  40  rows processed\n\n"
    between = f"SQL> {change};\n\nSystem altered.\n\nElapsed: 00:00:00.03\n"
    text = (
        f"SQL> @q21\nSQL> SQL>   2    3  {traced.format(9)}{between}SQL> @q21\nSQL> SQL>   2    3  {traced.format(0)}"
    )
    found = iolab.findings(text.encode()).filter(name="main_statement").item(0, "sentence")
    assert f"sent as many rows and bytes{said}" in found


@pytest.mark.parametrize(("scans", "is_said"), [(480, True), (30, False)])
def test_a_scan_for_each_deleted_row_is_a_key_without_an_index(scans: int, is_said: bool) -> None:  # noqa: FBT001
    """The statistics of the session have as many scans of long tables as rows were deleted."""
    text = "SQL> delete from c where s = 'X';\n\n480 rows deleted.\n\nElapsed: 00:15:28.61\n"
    rows = {"table scans (long tables)": scans, "session logical reads": 19_842_611, "redo entries": 3_000}
    lines = "".join(f"{name:60} {1:11} {value + 1:10} {value:10}\n" for name, value in rows.items())
    heads = f"{'NAME':60} VALUE_BEGIN  VALUE_END       DIFF\n{'-' * 60} {'-' * 11} {'-' * 10} {'-' * 10}\n"
    said = _said(f"{text}SQL> @snap_end\n\n{heads}{lines}\n3 rows selected.\n")
    assert (
        "scanned once for each of its 480 deleted rows (480 scans of long tables): a foreign key" in said
    ) == is_said


def test_statistics_of_two_runs_are_those_of_the_longer_one() -> None:
    """Runs with literals and with bind variables: the parses of the run that took the time are the fact."""
    text = ""
    for time, hard in ((7_012, 20_014), (211, 8)):
        rows = {"DB time": time, "parse count (hard)": hard, "parse count (total)": 20_091, "execute count": 20_148}
        lines = "".join(f"{name:64}{value:>17,}\n" for name, value in rows.items())
        head = f"{'-' * 33}\nSession stats - 12-Mar 09:41:27\nInterval:-  71 seconds\n"
        text += f"SQL> execute snap_my_stats.end_snap\n{head}"
        text += f"{'-' * 33}\n{'Name':73}Value\n{'----':73}-----\n{lines}\nPL/SQL procedure successfully completed.\n\n"
    assert _said(text).startswith("99.6 % of the parses were hard: 20,014 of 20,091.")
