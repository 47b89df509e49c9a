"""What queries of v$ views listed is the answer of a session that is not timed, whatever its columns are called."""

from __future__ import annotations

import pytest

import iolab
from iolab.metrics.report_facts import ReportFacts, Wait
from iolab.pages.summary import summarize
from iolab.pages.summary_text import summary_text
from iolab.rules.gates import interval_too_long
from iolab.rules.load import instance_idle
from iolab.rules.profile import resource_manager
from iolab.time_ledger.next_steps import event_step
from logframe.interval import Interval

ROWS = "7xq2b0kd9mvz1 {:>12} {:>10}\n1mz8c4t0h5wyr {:>12} {:>10}\n"
RULER = "------------- ------------ ----------"


def spool(query: str, headings: str, rows: str, ruler: str = RULER) -> bytes:
    """A session with one query."""
    return f"SQL> {query};\n\n{headings}\n{ruler}\n{rows}\nSQL> spool off\n".encode()


def screen(text: bytes) -> list[str]:
    """The first screen below the line of the name."""
    return summary_text(summarize(text), "a.lst", width=100).splitlines()


@pytest.mark.parametrize(
    ("query", "headings", "rows"),
    [
        ("select sql_id, elapsed_time, executions from v$sql", ("ELAPSED_TIME", "EXECUTIONS"), (9e7, 9, 1e7, 2)),
        (
            "select s.sql_id, round(s.elapsed_time/1e6,1) ela, s.executions n from v$sqlstats s",
            ("ELA", "N"),
            (90, 9, 10, 2),
        ),
        (
            'select sql_id, sum(elapsed_time)/1000000 as "Ela", sum(executions) runs from gv$sqlarea group by sql_id',
            ("Ela", "RUNS"),
            (90, 9, 10, 2),
        ),
        (
            "select * from (select sql_id, elapsed_time/1000 ms, executions from v$sql order by 2) where rownum < 9",
            ("MS", "EXECUTIONS"),
            (90_000, 9, 10_000, 2),
        ),
        (
            "select sql_id, elapsed_time_delta/1e6/60 mins, executions_delta from dba_hist_sqlstat",
            ("MINS", "EXECUTIONS"),
            (1.501, 9, 0.167, 2),
        ),
        ("@top", ("ELAPSED_SEC", "EXECUTIONS"), (90, 9, 10, 2)),
        ("select sql_id, elapsed_time/1e6, executions from v$sql", ("Seconds", "Runs"), (90, 9, 10, 2)),
    ],
)
def test_a_list_of_statements_is_an_account(query: str, headings: tuple[str, str], rows: tuple[float, ...]) -> None:
    """The time is found by the expression it was selected as, by its place in the list, or by its heading."""
    figures = [f"{one:.15g}" for one in rows]
    text = spool(query, f"{'SQL_ID':13} {headings[0]:>12} {headings[1]:>10}", ROWS.format(*figures))

    (lead,) = iolab.ledgers(text)
    assert lead.total is not None
    assert lead.total.value == pytest.approx(100, rel=0.01)
    assert screen(text)[1].startswith("`7xq2b0kd9mvz1` took 90 % of the elapsed time listed: 9 executions, 10")


@pytest.mark.parametrize(
    "column", ["elapsed_time/executions", "avg(elapsed_time)", "elapsed_time/nullif(executions,0)/1e6"]
)
def test_an_average_is_no_sum(column: str) -> None:
    """Averages of statements do not add up, so there is no total of them."""
    heading = f"{'SQL_ID':13} {'EACH':>12} EXECUTIONS"
    query = f"select sql_id, {column} each, executions from v$sql"  # noqa: S608 - a text to read

    assert iolab.ledgers(spool(query, heading, ROWS.format(90, 9, 10, 2))) == []


def test_a_list_without_times_is_an_account_of_reads() -> None:
    """Logical reads are counted where no time is listed."""
    heading = f"{'SQL_ID':13}  BUFFER_GETS EXECUTIONS"
    text = spool("select sql_id, buffer_gets, executions from v$sql", heading, ROWS.format(900, 9, 100, 2))

    lines = screen(text)
    assert lines[0] == "logical reads were 1,000 of the 2 statements that the query at line 1 returned"
    assert lines[1].startswith("`7xq2b0kd9mvz1` took 90 % of the logical reads listed: 9 executions")


@pytest.mark.parametrize(
    ("column", "heading", "figure"),
    [
        ("time_waited_micro/1e6", "SECS", 40),
        ("time_waited", "WAITED", 4_000),
        ("time_waited_micro", "MICRO", 40_000_000),
    ],
)
def test_waits_are_found_by_what_was_selected(column: str, heading: str, figure: int) -> None:
    """A listing of events with an alias has the same account as one without; many commits are to be fewer."""
    ruler = "-------------------- ----------- ----------"
    head = f"{'EVENT':20} TOTAL_WAITS {heading:>10}"
    rows = f"{'log file sync':20} {900:>11} {figure:>10}\n"
    query = f"select event, total_waits, {column} {heading} from v$session_event"  # noqa: S608 - a text to read
    lines = screen(spool(query, head, rows, ruler))

    assert lines[0].startswith("waits 40.00 s that the query at line 1 returned")
    assert lines[1].startswith("`log file sync` took ")
    assert lines[-1] == "next: commit less often: once for many rows, not for each"


def test_switches_of_a_day_by_hours() -> None:
    """A day with a column for each hour: the hour with most switches is named."""
    names = [f"{hour:02}" for hour in range(24)]
    hours = ", ".join(f"sum(decode(to_char(first_time,'HH24'),'{name}',1,0)) \"{name}\"" for name in names)
    head = "DAY       " + " ".join(f"{name:>4}" for name in names)
    row = "18-FEB-20 " + " ".join(f"{211 if name == '10' else 5:>4}" for name in names)
    query = f"select trunc(first_time) day, {hours} from v$log_history group by trunc(first_time)"  # noqa: S608 - a text
    text = spool(query, head, f"{row}\n", "--------- " + " ".join(["----"] * 24))

    assert " ".join(screen(text)).startswith("Log switches were most frequent at `18-FEB-20 10`: 211 per hour")


def test_sessions_that_wait_for_one_session() -> None:
    """What most of the listed sessions wait for, and who blocks them; idle sessions do not count."""
    event, idle = "enq: TX - row lock contention", "SQL*Net message from client"
    rows = "".join(f"{sid:4} {event:30} {100 + sid:>15} {233:>16}\n" for sid in (11, 12))
    rows += "".join(f"{sid:4} {idle:30} {9000:>15} {'':>16}\n" for sid in (13, 14, 15))
    text = spool(
        "select sid, event, seconds_in_wait, blocking_session from v$session",
        f" SID {'EVENT':30} SECONDS_IN_WAIT BLOCKING_SESSION",
        rows,
        f"---- {'-' * 30} --------------- ----------------",
    )

    said = " ".join(screen(text))
    assert f"2 of 5 listed sessions waited for `{event}`, the longest for 112 s; session 233 blocked 2 of them." in said


def grid(query: str, *rows: str) -> bytes:
    """A session with one query; cells are separated by bars, the first row has the headings."""
    cells = [row.split("|") for row in rows]
    widths = [max(len(row[n]) for row in cells) for n in range(len(cells[0]))]
    is_text = [not cells[1][n].strip(" #.").replace(".", "").isdecimal() for n in range(len(widths))]
    lines = [
        " ".join(f"{one:{'<' if text else '>'}{width}}" for one, width, text in zip(row, widths, is_text, strict=True))
        for row in cells
    ]
    ruler = " ".join("-" * width for width in widths)
    return spool(query, lines[0], "\n".join(lines[1:]) + "\n", ruler)


SERIES = ("2020-05-01|11.2", "2020-05-02|9.4", "2020-05-03|210.8", "2020-05-04|333.1")


@pytest.mark.parametrize(
    ("query", "rows", "said"),
    [
        (
            "select resource_name, current_utilization c, limit_value l from v$resource_limit",
            ("RESOURCE_NAME|C|L", "sessions|12|600", "processes|397|400", "locks|14|UNLIMITED"),
            "`processes` was at 99.2 % of its limit: 397 of 400.",
        ),
        (
            "select sid, opname, round(time_remaining/60) m, elapsed_seconds/60 e from gv$session_longops",
            ("SID|OPNAME|M|E", "7|Hash Join|2|1", "9|Sort Output|120|6"),
            "`Sort Output` by session 9 has 7,200 s to go, after 360 s.",
        ),
        (
            "select file#, round(readtim/100) s, phyrds n from v$filestat order by 2 desc",
            ("FILE#|S|N", "12|900|10000", "4|20|10000", "5|80|40000"),
            "`12` took 90 % of the read time of the 3 files listed: 900 s, 90 ms per read; the others took 2 ms.",
        ),
        (
            "select file#, round(readtim*10/nullif(phyrds,0),1) ms from v$filestat",
            ("FILE#|MS", "12|90.5", "4|2.5", "5|2.5"),
            "`12` had the slowest reads of the 3 files listed: 90.5 ms each; the median of the others is 2.50 ms.",
        ),
        (
            "select s.sid, u.blocks*8192/power(1024,3) gb from v$tempseg_usage u, v$session s",
            ("SID|GB", "12|60", "4|20"),
            "Session 12 holds 75 % of the temporary space listed: 60 GiB.",
        ),
        (
            "select program, pga_alloc_mem/(1024*1024) mb from v$process",
            ("PROGRAM|MB", "oracle (J001)|960", "oracle (DBW0)|40"),
            "`oracle (J001)` holds 96 % of the PGA memory of the 2 listed: 960 MiB.",
        ),
        (
            "select name, total_mb, free_mb from v$asm_diskgroup",
            ("NAME|TOTAL_MB|FREE_MB", "DATA|102400|1024", "FRA|102400|51200"),
            "`DATA` was 99 % full, the most of 2: 1 GiB of 100 GiB were free.",
        ),
        (
            "select object_name, statistic_name, value from v$segment_statistics",
            ("OBJECT_NAME|STATISTIC_NAME|VALUE", "T_IX|row lock waits|900", "T|row lock waits|100"),
            "`T_IX` had 90 % of `row lock waits` of the 2 segments listed: 900.",
        ),
        *(
            (f"select {name}, bytes from {view}", ("NAME|BYTES", *rows), said)  # noqa: S608 - a text
            for name, view, rows, said in (
                (
                    "name",
                    "v$sgainfo",
                    ("Buffer Cache Size|3072", "Shared Pool Size|1024", "Granule Size|512", "Maximum SGA Size|5000"),
                    "`Buffer Cache Size` is the largest of the 2 parts of memory listed: 3 KiB, 75 %.",
                ),
                (
                    "pool name",
                    "v$sgastat",
                    ("java|1024", "large|1024", "shared|2048", "all of it|4096"),
                    "`shared` is the largest of the 3 parts of memory listed: 2 KiB, 50 %.",
                ),
                (
                    "tablespace_name name",
                    "dba_segments",
                    ("A|8192", "B|1024", "C|1024", "TOTAL|10240"),
                    "`A` has 80 % of BYTES of the 3 rows listed: 8 KiB.",
                ),
            )
        ),
        (
            "select machine, status, count(*) from v$session group by machine, status",
            ("MACHINE|STATUS|COUNT(*)", "app1|INACTIVE|480", "app2|ACTIVE|20"),
            "`app1 INACTIVE` has 96 % of the sessions listed: 480 of 500.",
        ),
        (
            "select event, wait_time_milli, wait_count from v$event_histogram",
            ("EVENT|WAIT_TIME_MILLI|WAIT_COUNT", "log file sync|8|60", "log file sync|32|30", "log file sync|64|10"),
            "40 % of the 100 waits for `log file sync` took 16 ms or longer; the slowest 10 took 32 to 64 ms.",
        ),
        (
            "select trunc(completion_time) d, sum(blocks*block_size)/1024/1024/1024 gb from v$archived_log",
            ("D|GB", *SERIES),
            "From `2020-05-03` on the archived redo was 211 GiB to 333 GiB in each row listed; before, 9.40",
        ),
        (
            "select first_time, sequence# from v$log_history",
            ("FIRST_TIME|SEQUENCE#", *(f"18-FEB-20 {hour}:{n:02}:00|{n}" for hour in (9, 10, 10, 10) for n in (7, 8))),
            "Log switches were most frequent at `18-FEB-20 10`: 6 per hour",
        ),
        (
            "select sid, type, id1, request, ctime from v$lock",
            ("SID|TYPE|ID1|REQUEST|CTIME", "7|TX|99|0|900", "8|TX|99|6|800", "9|TX|99|6|20"),
            "2 listed sessions waited for a `TX` lock, the longest for 800 s; session 7 blocked 2 of them.",
        ),
        (
            "select waiting_session, holding_session from dba_waiters",
            ("WAITING_SESSION|HOLDING_SESSION", "11|61", "12|61", "61|777"),
            "3 of 3 listed sessions waited; session 777 blocked 3 of them, 2 through others.",
        ),
        (
            "select name, value from v$sysstat",
            ("NAME|VALUE", "table fetch by rowid|1000", "table fetch continued row|700"),
            "Rows are chained or migrated: 700 fetches of a continued row for 1,000 fetches by rowid.",
        ),
        (
            "select input_type, status, start_time from v$rman_backup_job_details",
            ("INPUT_TYPE|STATUS|START_TIME", "DB FULL|COMPLETED|2019-03-10", "ARCHIVELOG|FAILED|2019-03-11"),
            "1 of the 2 backups listed failed, the last one at `2019-03-11`.",
        ),
    ],
)
def test_the_row_that_matters_is_said(query: str, rows: tuple[str, ...], said: str) -> None:
    """Whatever a view lists, the row with most leads, and no clock is asked for; beside short statements, too."""
    text = grid(query, *rows)

    shown = " ".join(screen(text))
    assert shown.startswith(said)
    assert "set timing on" not in shown
    timed = screen(text.replace(b"\nSQL> spool off", b"\nElapsed: 00:00:00.01\n\nSQL> spool off"))
    assert " ".join(timed[1:]).startswith(said)


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("select country, revenue_mb from sales", ("COUNTRY|REVENUE_MB", "FR|900", "IT|10")),
        ("select name, used_mb from v$unknown", ("NAME|USED_MB", "a|30", "b|40", "c|30")),
        (
            "select resource_name, limit_value from v$resource_limit",
            ("RESOURCE_NAME|LIMIT_VALUE", "a|UNLIMITED", "b|x"),
        ),
        ("select status, start_time from v$rman_status", ("STATUS|START_TIME", "COMPLETED|2019-03-10")),
    ],
)
def test_a_listing_without_a_row_that_matters_says_nothing(query: str, rows: tuple[str, ...]) -> None:
    """Rows of users, rows of a view that is not known with no large one, and limits without figures."""
    assert "listed" not in " ".join(screen(grid(query, *rows)))


def test_an_unknown_view_has_its_dominant_row() -> None:
    """The row of a view that is not known is said where it holds half of what is listed."""
    text = grid("select name, used_mb from v$unknown", "NAME|USED_MB", "pool a|900", "pool b|100")
    assert screen(text)[0] == "`pool a` has 90 % of USED_MB of the 2 rows listed: 900 MiB."


def test_an_error_is_the_fact_of_a_session_without_times() -> None:
    """A failed logon is said with what to do next; an object that a script may drop is not."""
    failed = b"SQL> conn a/b@c\nERROR:\nORA-28000: the account is locked\n\n\nSQL> spool off\n"
    lines = screen(failed)
    assert lines[0] == "The statement at line 2 failed: ORA-28000: the account is locked."
    assert "account unlock" in lines[1]
    usual = b"SQL> drop table t;\ndrop table t\n *\nERROR at line 1:\nORA-00942: table or view does not exist\n"
    assert "failed:" not in screen(usual)[0]
    typed = b"SQL> select x frm t;\nselect x frm t\n *\nERROR at line 1:\nORA-00923: FROM keyword not found\n\n"
    again = b"SQL> select x from t;\n\n         X\n----------\n         7\n\nSQL> spool off\n"
    assert "failed:" in " ".join(screen(typed + b"SQL> spool off\n"))
    assert "failed:" not in " ".join(screen(typed + again))


@pytest.mark.parametrize(("event", "is_plan"), [("resmgr:pq queued", False), ("resmgr:cpu quantum", True)])
def test_a_queue_of_parallel_statements_is_no_plan_of_cpu(event: str, is_plan: bool) -> None:  # noqa: FBT001
    """Waits in the queue of parallel statements are not those for a share of the processors, and have another step."""
    waits = {event: Wait(Interval.exact(900), Interval.exact(600))}
    found = list(resource_manager(ReportFacts(db_time_s=Interval.exact(1_000), events=waits)))
    assert [one.sentence for one in found] == ["The resource manager held sessions back."] * is_plan
    assert ("parallel_servers_target" in event_step(event)) == (not is_plan)


def test_two_round_trips_for_each_row_are_no_small_fetch() -> None:
    """A trace that reads a LOB after each row has more round trips than rows: a larger fetch would not help."""
    wait = "WAIT #1: nam='SQL*Net message from client' ela= 6000 driver id=1 #bytes=1 p3=0 obj#=3 tim={}\n"
    call = "{} #1:c=10,e=10,p=0,cr=2,cu=0,mis=0,r={},dep=0,og=1,plh=9,tim={}\n"
    for trips, said in ((1, "1 row each"), (2, "for each row")):
        lines = [call.format("EXEC", 0, 1_000)]
        for now in range(8_000, 608_000, 10_000):
            lines += [wait.format(now + 100 * trip) for trip in range(trips)] + [call.format("FETCH", 1, now + 900)]
        found = iolab.findings("".join(lines).encode()).filter(name="round_trips")
        assert said in found.item(0, "sentence")
        assert ("prefetch" in found.item(0, "next")) == (trips == 2)


def test_a_quiet_database_is_asked_for_nothing() -> None:
    """Where all of DB time in one hour were half a session, no hour was busy: no report of one is asked for."""
    quiet, busy = (
        ReportFacts(db_time_s=Interval.exact(time), elapsed_s=Interval.exact(550_000)) for time in (700, 40_000)
    )
    assert [one.next for one in interval_too_long(quiet)] == [""]
    assert [one.next for one in instance_idle(quiet)] == [""]
    assert [one.next for one in interval_too_long(busy)] == ["take reports of single hours: @?/rdbms/admin/awrrpt"]


@pytest.mark.parametrize(("count", "hit"), [(182_207, "42.75"), (182_207, None), (0, "42.75")])
def test_memory_beyond_its_target_leads(count: int, hit: str | None) -> None:
    """Names and values of a view are statistics: more PGA memory than its target allows, if ever, comes first."""
    figures = {
        "aggregate PGA target parameter": 2 << 30,
        "total PGA allocated": 6 << 30,
        "over allocation count": count,
    }
    figures |= {"cache hit percentage": hit} if hit else {}
    rows = "".join(f"{name:40} {value:>12}\n" for name, value in figures.items())
    said = screen(
        spool("select name, value from v$pgastat", f"{'NAME':40} {'VALUE':>12}", rows, f"{'-' * 40} {'-' * 12}")
    )
    most = "PGA memory went beyond its target of 2 GiB 182,207 times (over allocation count): 6 GiB were allocated"
    text = " ".join(said).split("next:", maxsplit=1)
    assert text[0].strip().endswith(
        f"{most}{'; 42.75 % of the bytes were found in it (cache hit percentage)' * bool(hit)}."
    ) is (count > 0)
    assert ("v$pga_target_advice" in text[-1]) is (count > 0)


def test_a_full_recovery_area_and_what_fills_it() -> None:
    """Shares in per cent are said with their unit, and a little of a type is not severe."""
    query = "select file_type, percent_space_used pct_used from v$recovery_area_usage"
    for used, said in (
        (96.72, "`ARCHIVED LOG` filled 97 % of the recovery area."),
        (9.5, "`ARCHIVED LOG` filled 9.5 %"),
    ):
        rows = f"REDO LOG                       .80\nARCHIVED LOG                 {used:5}\n"
        text = spool(query, "FILE_TYPE                 PCT_USED", rows, "----------------------- ----------")
        assert said in " ".join(screen(text))


def joined(*texts: bytes) -> bytes:
    """One session of several queries."""
    return b"".join(text.replace(b"SQL> spool off\n", b"") for text in texts) + b"SQL> spool off\n"


@pytest.mark.parametrize("slow", [31.4, 1.1])
@pytest.mark.parametrize(
    ("query", "headings"),
    [
        ("select name, reads, round(read_time/nullif(reads,0)*1000,2) ms from v$asm_disk", "NAME|READS|MS"),
        ("select file#, phyrds, round(readtim/phyrds*10,2) ms from v$filestat", "FILE#|PHYRDS|MS"),
        ("select filename, small_read_reqs n, small_read_servicetime ms from v$iostat_file", "FILENAME|N|MS"),
    ],
)
def test_a_device_far_slower_than_the_others_is_the_cause_of_the_waits(query: str, headings: str, slow: float) -> None:
    """It stands below the event and has its next step; where all are alike it is one listing of several."""
    rows = [f"d{n}|1000|{slow if n == 2 else 0.9 + n / 100}" for n in range(5)]
    waits = grid(
        "select event, total_waits, time_waited_micro/1e6 s from v$system_event",
        *("EVENT|TOTAL_WAITS|S", "db file sequential read|9000|300", "log file sync|100|2"),
    )
    text = joined(grid(query, headings, *rows), waits)
    found = iolab.findings(text)
    said = found.filter(found["sentence"].str.contains("`d[0-9]`"))
    assert (said.item(0, "part") == "db file sequential read") == (slow > 9)
    assert ("SQL trace" in screen(text)[-1]) == (slow < 9)


@pytest.mark.parametrize("typical", [21.9, 0.9])
def test_files_that_are_slow_alike_lead_to_their_storage(typical: float) -> None:
    """No file is the cause where none is much slower than the others; a trace would show the same waits."""
    rows = [f"f{n}|1000|{typical + n / 10}" for n in range(6)]
    query = "select name, phyrds, round(readtim/nullif(phyrds,0)*10,2) rd from v$filestat"
    waits = grid(
        "select event, total_waits, time_waited_micro/1e6 s from v$system_event",
        *("EVENT|TOTAL_WAITS|S", "db file sequential read|9000|300", "log file sync|100|2"),
    )
    text = joined(grid(query, "NAME|PHYRDS|RD", *rows), waits)
    assert ("storage that they share" in screen(text)[-1]) == (typical > 9)
    assert f"{typical + 0.5:.3g}" in " ".join(iolab.findings(text).get_column("sentence"))


@pytest.mark.parametrize("view", ["v$pgastat", "v$parameter"])
def test_values_of_names_are_no_parts_of_a_whole(view: str) -> None:
    """A target and a limit have no sum, so neither has a share; sizes of segments have."""
    query = f"select name, value/1048576 mb from {view}"  # noqa: S608 - a text
    assert "%" not in " ".join(screen(grid(query, "NAME|MB", "pga target|256", "global bound|25.6", "limit|301.2")))


@pytest.mark.parametrize("own", ["v$mystat", "v$sysstat"])
@pytest.mark.parametrize("applied", [61_120_331, 900])
def test_undo_explains_a_statement_with_the_open_transaction(own: str, applied: int) -> None:
    """Undo that its session applied explains a statement, beside the largest transaction that the session lists."""
    statement = b"SQL> select count(*) from t;\n\n  COUNT(*)\n----------\n         7\n\nElapsed: 00:14:22.07\n"
    undo = "data blocks consistent reads - undo records applied"
    query = f"select n.name, m.value from {own} m, v$statname n"  # noqa: S608 - a text
    statistics = grid(query, "NAME|VALUE", "consistent gets|61922118", f"{undo}|{applied}")
    open_ones = grid(
        "select s.sid, s.module, t.used_urec from v$transaction t, v$session s",
        *("SID|MODULE|USED_UREC", "712|REBUILD|61980331", "55|web|2"),
    )
    found = iolab.findings(joined(statement, statistics, open_ones))
    lead = found.filter(name="main_statement").row(0, named=True)
    is_cause = applied > 1_000 and own == "v$mystat"
    assert ("61,120,331 undo records" in lead["sentence"]) == is_cause
    assert ("Session 712 (`REBUILD`) had an open transaction, the largest" in lead["sentence"]) == is_cause
    assert ("v$transaction" in str(lead["next"])) == is_cause
    assert "".join(found["sentence"]).count("Session 712") == 1


@pytest.mark.parametrize("view", ["v$deltas", "dba_hist_event_histogram"])
def test_a_histogram_is_of_one_event_and_one_snapshot(view: str) -> None:
    """Waits of several events and snapshots are not added; totals are compared by what was added between two."""
    totals = {"log file sync": ((900, 0), (950, 9), (990, 10)), "latch free": ((500, 5), (600, 6), (700, 7))}
    rows = [
        f"{snap}|{event}|{end}|{count}"
        for event, of in totals.items()
        for snap, counts in enumerate(of, 7)
        for end, count in zip((8, 64), counts, strict=True)
    ]
    query = f"select snap_id, event_name, wait_time_milli, wait_count from {view}"  # noqa: S608 - a text
    said = " ".join(screen(grid(query, "SNAP_ID|EVENT_NAME|WAIT_TIME_MILLI|WAIT_COUNT", *rows)))
    share, waits, best = ("1.0 %", "1,000", 7) if view[0] == "v" else ("15 %", "59", 9)
    at = f"At SNAP_ID `{9 if view[0] == 'v' else 8}` {share} of the {waits} waits for `log file sync` took 16 ms"
    assert f"{at} or longer, at `{best}`" in said
    assert "latch free" not in said


@pytest.mark.parametrize("names", [("DB CPU", "db file sequential read"), ("latch free", "db file sequential read")])
def test_cpu_among_events_is_no_wait(names: tuple[str, str]) -> None:
    """CPU is a part of the time that a query lists, and its waits are shares of that time."""
    rows = [f"{name}|{count}|{time}" for name, count, time in zip(names, ("   ", "900"), (64, 36), strict=True)]
    said = " ".join(screen(grid("select event_name, waits, time_s from e", "EVENT_NAME|WAITS|TIME_S", *rows)))
    of = "time" if names[0] == "DB CPU" else "waits"
    assert f"`db file sequential read` took 36 % of the {of} of the query" in said
    assert ("CPU took 64 % of the time of the query." in said) == (of == "time")
    assert ("CPU time is not among them" in said) == (of == "waits")


@pytest.mark.parametrize(("active", "of"), [((1.2, 1.6), "Host"), ((1.2, 9.6), "Host"), ((1.2, 1.6), "Other")])
@pytest.mark.parametrize("waited", [30, 0])
def test_a_calm_instance_is_calm_first_and_needs_nothing(active: tuple[float, ...], of: str, waited: int) -> None:
    """Metrics of each hour are all below what is busy; a limit that is far, and own short queries, need no step."""
    query = "select begin_time, metric_name, average from hourly"
    rows = [f"{n}:00|Average Active Sessions|{one}" for n, one in enumerate(active)]
    metrics = grid(query, "BEGIN_TIME|METRIC_NAME|AVERAGE", *rows, f"0:00|{of} CPU Utilization (%)|14.25")
    limit = "select resource_name, current_utilization c, limit_value l from v$resource_limit"
    text = joined(metrics, grid(limit, "RESOURCE_NAME|C|L", "sessions|12|600", "processes|211|1500"))
    text = text.replace(b"\nSQL> spool off", b"\nElapsed: 00:00:00.41\n\nSQL> spool off")
    held = f"enq: TX - row lock contention|9|{waited}"
    text = joined(text, grid("@ev", "EVENT|WAITS|SECONDS", "db file sequential read|9|90", held))
    found = iolab.findings(text)
    is_calm = max(active) < 2 and of == "Host" and not waited
    calm = "Nothing stands out: at most 1.6 sessions were active, and the CPUs of the host were 14.25 % busy."
    assert (calm.replace("14.25", "14.2") in found["sentence"].head(2).to_list()) == is_calm
    assert "enlarged" not in "".join(found["next"].drop_nulls())
    assert (found["next"].null_count() == found.height) == is_calm


@pytest.mark.parametrize("errors", [219, 0])
def test_a_failing_disk_comes_before_a_harmless_level(errors: int) -> None:
    """Errors of a disk, or its slow reads, come before a group that is 70 % full, which needs no step."""
    groups = grid(
        "select name, total_mb, free_mb from v$asm_diskgroup", "NAME|TOTAL_MB|FREE_MB", "DATA|1000|300", "B|9|9"
    )
    rows = [f"D{n}|100|{30 + n}|1000|{errors if n == 2 else 0}|{88 if n == 2 else 4 + n / 10}" for n in range(6)]
    query = "select name, total_mb, free_mb, reads, read_errs, read_time from v$asm_disk"
    found = iolab.findings(joined(groups, grid(query, "NAME|TOTAL_MB|FREE_MB|READS|READ_ERRS|READ_TIME", *rows)))
    first = found.item(0, "sentence")
    assert first.startswith(
        f"Disk `D2` had {errors} read errors; a read took 88 ms" if errors else "Disk `D2` took 81 %"
    )
    full = found.filter(found["sentence"].str.contains("70 % full"))
    assert full.item(0, "next") is None


@pytest.mark.parametrize("events", ["= 'log file sync'", "in ('log file sync', 'latch free')"])
def test_a_histogram_of_one_event_has_its_name(events: str) -> None:
    """The event that was asked for is the name of the waits; of several it is not known."""
    query = f"select wait_time_milli, wait_count from v$event_histogram where event {events}"  # noqa: S608 - a text
    said = " ".join(screen(grid(query, "WAIT_TIME_MILLI|WAIT_COUNT", "8|60", "32|30", "64|10")))
    assert f"100 waits for `{'log file sync' if '=' in events else 'the event'}` took 16 ms" in said


@pytest.mark.parametrize(
    ("query", "rows", "said"),
    [
        ("from user_ind_columns where table_name = 'T'", ("INDEX_NAME|COLUMN_NAME", "T_PK|ID", "T_IX|TS"), True),
        ("from user_ind_columns where table_name = 'T'", ("INDEX_NAME|COLUMN_NAME", "T_PK|ID", "T_IX|PLATE"), False),
        ("from dba_ind_columns", ("TABLE_NAME|COLUMN_NAME", "T|ID", "T|TS"), True),
        ("from user_ind_columns where table_name = 'U'", ("INDEX_NAME|COLUMN_NAME", "U_PK|ID", "U_IX|TS"), False),
        ("from user_tab_columns where table_name = 'T'", ("DATA_TYPE|COLUMN_NAME", "DATE|ID", "DATE|TS"), False),
    ],
)
def test_a_scan_whose_filter_no_listed_index_serves(query: str, rows: tuple[str, ...], said: bool) -> None:  # noqa: FBT001
    """Where the session lists the indexes of a table that is scanned, the columns that none of them has are named."""
    plan = """
Execution Plan
----------------------------------------------------------
Plan hash value: 1190220331

----------------------------------------------------------------------
| Id  | Operation          | Name | Rows | Cost (%CPU) | Time     |
----------------------------------------------------------------------
|   0 | SELECT STATEMENT   |      |    1 |   398K  (1) | 01:19:40 |
|*  1 |  TABLE ACCESS FULL | T    |    1 |   398K  (1) | 01:19:40 |
----------------------------------------------------------------------

Predicate Information (identified by operation id):
---------------------------------------------------

   1 - filter("A"."PLATE"='X' AND "EXIT" IS NULL)


Statistics
----------------------------------------------------------
          0  db block gets
    1461240  consistent gets
    1460911  physical reads
          1  rows processed

"""
    scan = b"SQL> select id from t a where plate = 'X' and exit is null;\n\nElapsed: 00:01:47.32\n" + plan.encode()
    names = rows[0].replace("|", ", ")
    found = iolab.findings(joined(scan, grid(f"select {names} {query}", *rows)))
    lead = found.filter(name="main_statement").row(0, named=True)
    assert ("for 1 row; no index listed has `PLATE` or `EXIT`." in lead["sentence"]) == said
    assert (lead["next"] == "index `T` by what its query asks for: `PLATE`, `EXIT`") == said
    assert ("lio_cost" in found["name"]) != said


@pytest.mark.parametrize(
    ("query", "cpu", "step"),
    [
        ("select module, action, event, count(*) n from v$active_session_history group by 1, 2, 3", 300, "stop_job"),
        (
            "select program, action, event, count(*) n from dba_hist_active_sess_history group by 1, 2, 3",
            300,
            "stop_job",
        ),
        ("select module, action, event, count(*) n from v$active_session_history group by rollup(1, 2, 3)", 0, "stop"),
        ("select username, machine, event, count(*) n from v$active_session_history group by 1, 2, 3", 300, "trace"),
    ],
)
def test_samples_of_a_job_have_its_name_and_its_cpu(query: str, cpu: int, step: str) -> None:
    """Samples without an event are on CPU, unless sums of groups lack it; a module of most samples is named first."""
    names = [word.upper() for word in query.split()[1:3]]
    rows = ("DBMS_SCHEDULER|GATHER|direct path read|600", "DBMS_SCHEDULER|GATHER||250", "web|x|log file sync|100",
            "web|x||50")  # fmt: skip
    heads = "|".join([*(name.strip(",") for name in names), "EVENT", "N"])
    text = grid(query, heads, *rows)
    said = " ".join(screen(text))
    assert ("CPU took 27 to 33 % of the samples." in said, "not said" in said) == (cpu > 0, cpu == 0)
    assert ("`DBMS_SCHEDULER GATHER` had 85 % of the samples: `direct path read` 60 %" in said) == (step != "trace")
    assert step in screen(text)[-1]


@pytest.mark.parametrize(("first", "tie"), [("1", ""), ("2", " and in 1 other row")])
def test_extremes_of_a_listing_are_of_all_its_rows(first: str, tie: str) -> None:
    """The longest query and the shortest retention are of the listing, not of the time with most errors."""
    query = "select to_char(begin_time,'HH24:MI') b, maxquerylen, tuned_undoretention tur, ssolderrcnt from v$undostat"
    head = "B|MAXQUERYLEN|TUR|SSOLDERRCNT"
    shown = " ".join(screen(grid(query, head, f"08:00|9000|930|{first}", "08:10|9600|940|2", "08:20|13800|905|1")))
    at = "08:00" if tie else "08:10"
    assert f"at `{at}`{tie}: 2 times; the longest query ran 13,800 s, the least retention of undo was 905 s" in shown
    calm = grid(query, head, "08:00|900|21600|0", "08:10|1620|21600|0")
    assert "enlarge" not in " ".join(screen(calm))


@pytest.mark.parametrize(("last", "said"), [(15.6, "`HRS` was largest"), (3.8, "`IN_GB` was largest")])
def test_the_column_that_jumped_is_the_fact(last: float, said: str) -> None:
    """Of several columns of a series the one that jumped is named, not one that is as ever."""
    columns = "to_char(end_time,'DD HH24') et, input_bytes/1073741824 in_gb, elapsed_seconds/3600 hrs"
    rows = "06 01|5900|3.6", "13 01|5950|3.7", f"20 13|6010|{last}"
    shown = " ".join(screen(grid(f"select {columns} from v$rman_backup_job_details", "ET|IN_GB|HRS", *rows)))  # noqa: S608 - a text
    assert f"{said} at `20 13`" in shown


@pytest.mark.parametrize(
    ("writes", "sync_s", "write_s", "step"),
    [(900, 100, 90, "log files"), (900, 2, 1, "commit less"), (9000, 100, 90, "")],
)
def test_writes_of_the_log_are_within_the_commits(writes: int, sync_s: int, write_s: int, step: str) -> None:
    """What commits waited for is no part beside them; where it is slow, its device is next, and its histogram there."""
    query = "select event, total_waits, time_waited_micro/1e6 s from v$system_event"
    log = grid(
        query, "EVENT|TOTAL_WAITS|S", f"log file sync|1000|{sync_s}", f"log file parallel write|{writes}|{write_s}"
    )
    query = "select event, wait_time_milli, wait_count from v$event_histogram where event = 'log file parallel write'"
    rows = "log file parallel write|1|800", "log file parallel write|512|100"
    log += grid(query, "EVENT|WAIT_TIME_MILLI|WAIT_COUNT", *rows) if sync_s > 2 else b""
    total = iolab.ledger(log).total
    assert total is not None
    assert total.value == sync_s + write_s * (writes > 1000)
    shown = screen(log)
    assert ("took 16 ms or longer; the slowest 100 took 256 to 512 ms" in " ".join(shown[1:5])) == (sync_s > 2)
    assert step in shown[-1]


def test_slow_files_of_one_folder_are_named_together() -> None:
    """Files much like the slowest are told apart from the others, with their folder where no other file is in it."""
    query = "select d.name, f.phyrds, round(f.readtim*10/nullif(f.phyrds,0),1) ms from v$filestat f, v$datafile d"
    headings, ruler = f"{'NAME':30} {'PHYRDS':>8} {'MS':>6}", f"{'-' * 30} {'-' * 8} {'-' * 6}"
    slow = [(f"/u07/db/hist{n}.dbf", 60 - n) for n in range(3)]
    fast = [(f"/u0{n}/db/idx{n}.dbf", 5) for n in range(1, 6)]
    rows = [f"{name:30} {1000:>8} {ms:>6}" for name, ms in [*slow, *fast]]
    text = screen(spool(query, headings, "\n".join(rows), ruler))
    said = " ".join(text)
    assert "60 ms each; 2 others had 58 ms or more, all in `/u07/db`; the median of the others is 5 ms" in said


def test_commits_stand_beside_the_waits_for_them() -> None:
    """As many commits as executions are the cause of waits for the log; a few are not."""
    waits = spool(
        "select event, total_waits, time_waited from v$session_event",
        f"{'EVENT':24} TOTAL_WAITS TIME_WAITED",
        f"{'log file sync':24} {214_388:>11} {814_674:>11}",
        f"{'-' * 24} {'-' * 11} {'-' * 11}",
    ).decode()
    for commits, is_said in ((214_391, True), (4_391, False)):
        rows = f"{'execute count':24} {214_702:>11}\n{'user commits':24} {commits:>11}"
        query = "select n.name, s.value from v$sesstat s, v$statname n"
        text = waits + spool(query, f"{'NAME':24} {'VALUE':>11}", rows, f"{'-' * 24} {'-' * 11}").decode()
        assert (f"There were {commits:,} commits for 214,702 executions" in " ".join(screen(text.encode()))) == is_said


@pytest.mark.parametrize(("unit", "ends"), [("milli", (8, 32, 64)), ("micro", (8_192, 32_768, 65_536))])
def test_the_ends_of_buckets_are_no_times(unit: str, ends: tuple[int, ...]) -> None:
    """Times that are ends of buckets are no account of waits; the listing beside it with seconds is."""
    rows = [f"db file sequential read|{end}|{count}" for end, count in zip(ends, (60, 30, 10), strict=True)]
    histogram = grid("@hist", f"EVENT|WAIT_TIME_{unit.upper()}|WAIT_COUNT", *rows)
    said = " ".join(
        screen(grid("@ev", "EVENT|WAITS|SECONDS", "log file sync|900|38.6", "latch free|3|1.4") + histogram)
    )
    assert "40 % of the 100 waits for `db file sequential read` took 16 ms or longer" in said
    assert "`log file sync` took 97 % of the waits of the query: 900 waits, 42.9 ms each." in said
    assert said.count("of the waits of the query") == 1


@pytest.mark.parametrize("sid", ["412", "   "])
def test_a_row_without_its_session_is_not_said(sid: str) -> None:
    """A cell that is empty names nobody."""
    rows = f"{sid:>10}     388112      99120\n       413         12          1\n"
    query = "select s.sid, t.used_urec, t.used_ublk from v$transaction t, v$session s"
    log = f"SQL> {query};\n\n       SID  USED_UREC  USED_UBLK\n---------- ---------- ----------\n{rows}\n"
    said = " ".join(iolab.findings(log.encode()).get_column("sentence"))
    assert ("Session 412 had an open transaction" in said) == (sid == "412")
    times = grid("select used_urec, start_time from v$transaction", "USED_UREC|START_TIME", "61880|02/12/19 09:17:44")
    shown = " ".join(iolab.findings(times).get_column("sentence"))
    assert "A session had an open transaction since 02/12/19 09:17:44: 61,880 undo records." in shown
    assert "``" not in said


@pytest.mark.parametrize("event", ["buffer busy waits", "latch free"])
def test_the_segment_of_a_wait_stands_beside_it(event: str) -> None:
    """Of statistics of segments, those that are of the event explain it; reads, which are far more, do not."""
    rows = ("buffer busy waits|T_PK|940", "buffer busy waits|T|60", "logical reads|T|99000", "logical reads|U|98000")
    query = "select statistic_name, object_name, value from segstat_delta"
    waits = grid("@ev", "EVENT|WAITS|SECONDS", f"{event}|900|38.6", "log file sync|3|1.4")
    found = iolab.findings(joined(waits, grid(query, "STATISTIC_NAME|OBJECT_NAME|VALUE", *rows)))
    said = found.filter(found["sentence"] == "`T_PK` had 94 % of `buffer busy waits` of the 2 segments listed: 940.")
    assert (said.item(0, "part") == event) == (event == "buffer busy waits")
    assert "`logical reads`" not in "".join(found["sentence"])


@pytest.mark.parametrize("fetches", [700, 7])
def test_the_table_with_chained_rows_stands_beside_their_fetches(fetches: int) -> None:
    """The listing of tables names the one whose rows are chained, whether they were fetched or not."""
    tables = "select table_name, num_rows, chain_cnt, pct_free from dba_tables"
    listed = grid(tables, "TABLE_NAME|NUM_ROWS|CHAIN_CNT|PCT_FREE", "CDR|41208|39911|0")
    rows = ("NAME|VALUE", "table fetch by rowid|1000", f"table fetch continued row|{fetches}")
    said = " ".join(iolab.findings(joined(listed, grid("select name, value from v$sysstat", *rows)))["sentence"])
    table = "`CDR` has 39,911 chained or migrated rows of 41,208 (PCTFREE 0)."
    assert said.count(table) == 1
    assert (f"for 1,000 fetches by rowid. {table}" in said) == (fetches == 700)


@pytest.mark.parametrize(
    ("where", "columns", "is_said"),
    [("table_name = 'CDR'", 312, True), ("table_name = 'CDR'", 212, False), ("owner = 'SCOTT'", 4000, False)],
)
def test_more_than_255_columns_are_the_cause_of_chained_rows(where: str, columns: int, *, is_said: bool) -> None:
    """A rebuild does not mend them; the columns of all tables of an owner are no columns of one."""
    chained = grid("select name, value from v$sysstat", "NAME|VALUE", "table fetch by rowid|1000",
        "table fetch continued row|700")  # fmt: skip
    counted = grid(f"select count(*) from dba_tab_columns where {where}", "COUNT(*)", str(columns))  # noqa: S608 - a text
    found = iolab.findings(joined(chained, counted)).to_dicts()
    first = next(one for one in found if one["sentence"].startswith("Rows are chained"))
    assert ("`CDR` has 312 columns: a row with values in more" in first["sentence"]) is is_said
    assert first["next"].startswith("keep the columns that are queried among" if is_said else "raise PCTFREE")
    assert not any(" 4,000 columns" in one["sentence"] for one in found)


def test_writes_of_a_standby_explain_commits() -> None:
    """The waits of the log writer for a standby, in a listing of background processes, are why commits wait."""
    log = grid("select event, total_waits, time_waited/100 s from v$session_event", "EVENT|TOTAL_WAITS|S",
        "log file sync|84127|4096.9", "db file sequential read|201188|241.4")  # fmt: skip
    log += grid("select event, total_waits, time_waited/100 s from v$system_event", "EVENT|TOTAL_WAITS|S",
        "log file parallel write|18907|17.2", "SYNC Remote Write|18902|869.5")  # fmt: skip
    found = iolab.findings(log).to_dicts()
    first = next(one for one in found if one["sentence"].startswith("`SYNC Remote Write` took 46"))
    assert first["part"] == "log file sync"
    assert "v$archive_dest" in first["next"]


@pytest.mark.parametrize(("waited", "is_said"), [(108, True), (30, False)])
def test_reads_that_are_most_of_the_time_come_before_parses(waited: int, is_said: bool) -> None:  # noqa: FBT001
    """Statistics without a statement's time: what most of the time was, then what could be better."""
    rows = {"DB time": 138, "user I/O wait time": waited, "parse count (total)": 1074, "execute count": 1078}
    lines = "".join(f"{name:64}{value:>20}\n" for name, value in rows.items())
    query, head = "select name, value from v$mystat natural join v$statname", f"{'NAME':64}{'VALUE':>20}"
    said = iolab.findings(spool(query, head, lines, ruler=f"{'-' * 64} {'-' * 19}")).get_column("sentence").to_list()
    first = "Waits for reads and writes (User I/O) took 78 % of DB time: 1.08 s."
    parsed = "Nearly each execution was parsed: 1,074 parses of 1,078 executions."
    assert said[:2] == [first, parsed] if is_said else said[0] == parsed
