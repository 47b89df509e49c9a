"""The cause that a log states beside its times stands in the sentence about them."""

from __future__ import annotations

import pytest

import iolab
from hostparse import read_host
from iolab.pages.summary import summarize
from iolab.pages.summary_text import summary_text
from iolab.rules.host_processors import swapping


def said(log: str) -> str:
    """All sentences about a log."""
    return " ".join(iolab.findings(log.encode()).get_column("sentence"))


def screen(log: str) -> list[str]:
    """The first screen below the line of the name."""
    return summary_text(summarize(log.encode()), "a.lst", width=110).splitlines()


def table(query: str, *rows: tuple[object, ...]) -> str:
    """A query of a session, its headings first."""
    wide = [max(len(str(row[n])) for row in rows) for n in range(len(rows[0]))]
    lines = [" ".join(f"{cell!s:>{size}}" for cell, size in zip(row, wide, strict=True)) for row in rows]
    return "\n".join([f"SQL> {query};\n", lines[0], " ".join("-" * size for size in wide), *lines[1:], "\n"])


def trace(text: str, waits: list[str], *, us: int, calls: str = "") -> str:
    """A trace of executions of one statement, each with a wait in it, or after it where `calls` says so."""
    head = (
        f"PARSING IN CURSOR #1 len={len(text)} dep=0 uid=9 oct=7 lid=9 tim=1000000 hv=1 ad='a' sqlid='7xq2b0kd9mvz1'\n"
    )
    lines, tim = [head + text + "\nEND OF STMT\n"], 1_000_000
    for wait in waits:
        took = 100 if calls else us + 100
        execution = f"EXEC #1:c=90,e={took},p=0,cr=2,cu=3,mis=0,r=1,dep=0,og=1,plh=9,tim={{}}\n"
        line = f"WAIT #1: nam={wait.format(us)} tim={{}}\n"
        order = [execution.format(tim + 100), line.format(tim + us + 100)]
        if not calls:
            order = [line.format(tim + us), execution.format(tim + us + 100)]
        lines += order
        tim += us + 200
    return "".join(lines)


@pytest.mark.parametrize(
    ("text", "wait", "stated"),
    [
        (
            "delete from a where id = :1",
            "{} ela= {{}} name|mode=1414332420 object #={} table/partition=0 obj#=-1",
            "key",
        ),
        ("update a set id = :1", "{} ela= {{}} name|mode=1414332421 object #={} table/partition=0 obj#=-1", "key"),
        (
            "insert into a values (:1)",
            "{} ela= {{}} name|mode=1414332420 object #={} table/partition=0 obj#=-1",
            "lock",
        ),
        (
            "delete from a where id = :1",
            "{} ela= {{}} name|mode=1414332422 object #={} table/partition=0 obj#=-1",
            "lock",
        ),
    ],
)
def test_the_object_and_mode_of_a_lock(text: str, wait: str, stated: str) -> None:
    """A wait for a lock of a table names its object; one of a parent in a shared mode is usually a foreign key's."""
    waits = [wait.format("'enq: TM - contention'", 4711)] * 9
    found = said(trace(text, waits, us=50_000))
    assert "for `enq: TM - contention` on object 4711, mode" in found
    assert ("consistent with a foreign key without an index" in found) is (stated == "key")
    waits[0] = waits[0].replace("4711", "4712")
    assert "on object" not in said(trace(text, waits, us=50_000))


@pytest.mark.parametrize(("cache", "named"), [(13, " of sequences (cache 13)"), (99, "")])
def test_the_cache_of_a_row_cache_lock(cache: int, named: str) -> None:
    """A wait for the dictionary cache names what its entries are of, where all waits are for one cache."""
    waits = [f"'row cache lock' ela= {{}} cache id={cache} mode=0 request=5 obj#=-1"] * 9
    found = said(trace("insert into a values (s.nextval)", waits, us=50_000))
    assert f"for `row cache lock`{named}." in found


@pytest.mark.parametrize(("slow", "is_said"), [(40, True), (200, False)])
def test_few_slow_waits_are_no_mean(slow: int, *, is_said: bool) -> None:
    """Where few waits have nearly all of the time, a mean of all is of none: they are counted instead."""
    head = "PARSING IN CURSOR #1 len=9 dep=0 uid=9 oct=3 lid=9 tim=1000000 hv=1 ad='a' sqlid='7xq2b0kd9mvz1'\nselect 1"
    lines, tim = [head, "END OF STMT"], 1_000_000
    times = [90_000] * slow + [400] * 500
    for took in times:
        tim += took
        lines.append(
            f"WAIT #1: nam='db file sequential read' ela= {took} file#=1 block#={tim} blocks=1 obj#=7 tim={tim}"
        )
    took = sum(times) + 100
    lines.append(f"FETCH #1:c=90,e={took},p=9,cr=2,cu=3,mis=0,r=1,dep=0,og=1,plh=9,tim={tim + 100}")
    found = said("\n".join(lines) + "\n")
    assert (f"{slow} of which took 90 ms or longer, 95 % of this time" in found) is is_said


def test_the_object_of_a_row_that_is_locked() -> None:
    """Of a lock of a row the object is that of the row."""
    wait = "'enq: TX - row lock contention' ela= {} name|mode=1415053318 usn<<16 | slot=9 sequence=8 obj#=54"
    found = said(trace("update a set b = 1 where id = :1", [wait] * 9, us=50_000))
    assert "for `enq: TX - row lock contention` on object 54, mode 6." in found


@pytest.mark.parametrize(("commits", "is_each"), [(150, True), (15, False)])
def test_a_commit_for_each_row(commits: int, *, is_each: bool) -> None:
    """Where commits are as many as the rows of a statement, the wait for them says whose rows they are."""
    waits = ["'log file sync' ela= {} buffer#=9 sync scn=8 p3=0 obj#=-1"] * 150
    log = trace("insert into a values (:1)", waits, us=4000, calls="after")
    lines = log.splitlines(keepends=True)
    kept = [line for n, line in enumerate(lines) if "log file" not in line or n // 2 % (150 // commits) == 0]
    assert (", a commit for each row of `7xq2b0kd9mvz1`." in said("".join(kept))) is is_each


@pytest.mark.parametrize(
    ("text", "blocks", "is_lob"), [("doc_id", 0, True), ("dbms_lob.substr(body)", 9, True), ("a", 9, False)]
)
def test_direct_path_reads_that_no_step_of_a_plan_made_are_of_lobs(text: str, blocks: int, *, is_lob: bool) -> None:
    """A report counts the reads of each execution; those that are beside the plan are of LOBs that are not cached."""
    rule = "------- ------  -------- ---------- ---------- ---------- ----------  ----------\n"
    rows = [("Parse", 1, 0.0, 0), ("Execute", 3000, 0.9, 0), ("Fetch", 3000, 70.0, 9000), ("total", 6001, 70.9, 9000)]
    lines = [f"{name:7}{n:7}{0.9:10.2f}{time:11.2f}{disk:11}{9000:11}{0:11}{3000:12}\n" for name, n, time, disk in rows]
    calls = "\ncall     count       cpu    elapsed       disk      query    current        rows\n" + rule
    calls += "".join(lines[:3]) + rule + lines[3]
    plan = "\nRows     Row Source Operation\n-------  ---------------------------------------------------\n"
    plan += f"      1  TABLE ACCESS BY INDEX ROWID D (cr=3 pr={blocks} pw=0 time=38 us)\n"
    waits = "\nElapsed times include waiting on following events:\n"
    waits += "  Event waited on                             Times   Max. Wait  Total Waited\n"
    waits += "  ----------------------------------------   Waited  ----------  ------------\n"
    waits += f"  {'direct path read':40}{9000:8}{0.2:12.2f}{68.0:14.2f}\n"
    log = "TKPROF: Release 19.0.0.0.0 - Development on Mon Mar 1 10:00:00 2021\n\n" + "*" * 80
    log += f"\nSQL ID: 7xq2b0kd9mvz1 Plan Hash: 12\n\nselect {text} from d where id = :1\n\n{calls}"
    log += f"\nMisses in library cache during parse: 0\n{plan}{waits}" + "*" * 80
    log += f"\n\nOVERALL TOTALS FOR ALL NON-RECURSIVE STATEMENTS\n{calls}{waits}"
    found = iolab.findings(log.encode()).filter(name="main_statement")
    assert ("(68 s), 3 per execution: LOBs that are not cached." in found.item(0, "sentence")) is is_lob
    assert found.item(0, "next").startswith("cache the LOBs") is is_lob


@pytest.mark.parametrize(("most", "is_uneven"), [(9_000_000, True), (60_000, False)])
def test_the_parallel_server_with_most_rows_is_the_cause(most: int, *, is_uneven: bool) -> None:
    """Rows that one server of a set received explain the statement before them; producers are another set."""
    statement = "SQL> create table b as select * from a;\n\nTable created.\n\nElapsed: 00:30:00.00\n"
    servers = [(1, 0, "Consumer", f"P00{n}", most if n == 3 else 50_000 + n) for n in range(8)]
    servers += [(1, 0, "Producer", f"P01{n}", 1_200_000 + n) for n in range(8)]
    log = statement + table(
        "select dfo_number, tq_id, server_type, process, num_rows from v$pq_tqstat",
        ("DFO_NUMBER", "TQ_ID", "SERVER_TYPE", "PROCESS", "NUM_ROWS"), *servers,
    )  # fmt: skip
    log += table("select k, count(*) n from a group by k", ("K", "N"), (7, most - 1000), (8, 40))
    found = said(log)
    assert (
        "Parallel server `P003` had 96 % of the rows of 8 (Consumer): 9,000,000, the others 50,004" in found
    ) is is_uneven
    assert ("8,999,000 rows have `K` 7" in found) is is_uneven


def totals() -> str:
    """What an instance waited for since it started."""
    rows = ("db file sequential read", 9_000_000, 8000), ("log file sync", 100_000, 900)
    query = "select event, total_waits, round(time_waited_micro/1e6) secs from v$system_event"
    return table(query, ("EVENT", "TOTAL_WAITS", "SECS"), *rows)


@pytest.mark.parametrize(
    ("active", "busy", "is_calm"), [(".31", "4.9", True), ("31.2", "4.9", False), (".31", "93.1", False)]
)
def test_totals_since_the_start_are_no_answer_where_the_present_is_listed(
    active: str, busy: str, *, is_calm: bool
) -> None:
    """An instance with few active sessions and idle CPUs is calm, whatever it waited for since it started."""
    metrics = ("Average Active Sessions", active), ("Host CPU Utilization (%)", busy)
    now = table(
        "select metric_name, round(average,2) average from v$sysmetric_summary", ("METRIC_NAME", "AVERAGE"), *metrics
    )
    lines = screen(totals() + now)
    assert ("db file sequential read" in "".join(lines)) is (active == "31.2")
    assert lines[0].startswith("Nothing stands out: on average 0.31") is is_calm
    assert not is_calm or not any(line.startswith("next:") for line in lines)
    rate = ("Database Time Per Sec", 100 * float(active)), metrics[1]
    lines = screen(totals() + table("select metric_name, value from v$sysmetric", ("METRIC_NAME", "VALUE"), *rate))
    assert lines[0].startswith("Nothing stands out: on average 0.31") is is_calm


def test_switches_are_those_of_the_column_that_counts_them() -> None:
    """A count in GB beside the count of switches is no count, nor are switches bytes; they explain waits for them."""
    rows = [(f"2020-01-23 0{hour}", count, round(count * 50 / 1024, 1)) for hour, count in enumerate((5, 19, 221, 16))]
    query = "select to_char(first_time,'YYYY-MM-DD HH24') hour, count(*) switches, round(count(*)*50/1024,1) gb"
    listing = table(f"{query} from v$log_history group by 1", ("HOUR", "SWITCHES", "GB"), *rows)
    waits = table(
        "select event, total_waits, round(time_waited_micro/1e6) secs from v$system_event",
        ("EVENT", "TOTAL_WAITS", "SECS"),
        *[("log file switch (checkpoint incomplete)", 41_873, 77_306), ("log file sync", 9000, 900)],
    )
    found = iolab.findings((listing + waits).encode()).get_column("sentence").to_list()
    lead = next(n for n, one in enumerate(found) if one.startswith("`log file switch (checkpoint incomplete)` took"))
    assert found[lead + 1].startswith(
        "Log switches were most frequent at `2020-01-23 02`: 221 per hour, one every 16.3 s;"
    )
    last = said(table(f"{query} from v$log_history group by 1", ("HOUR", "SWITCHES", "GB"), *rows[:-1]))
    assert "221 per hour, one every 16.3 s or less;" in last  # the hour may not be over
    logs = table("select group#, bytes/1024/1024 mb from v$log", ("GROUP#", "MB"), (1, 50), (2, 50), (3, 100))
    assert "the median is 17.5 per hour. The 3 groups of logs have 50 MiB to 100 MiB each." in said(listing + logs)
    assert "`GB` was" not in " ".join(found)
    other = query.replace("count(*) switches", "sum(blocks) switches").replace("first_time", "begin_time")
    series = said(table(f"{other} from v$undostat group by 1", ("HOUR", "SWITCHES", "GB"), *rows))
    assert "`GB` was largest at `2020-01-23 02`: 221" not in series


@pytest.mark.parametrize(("samples", "is_one"), [(15_190, True), (700, False)])
def test_the_statement_and_work_area_behind_samples(samples: int, *, is_one: bool) -> None:
    """Samples of an event by statement say whose they are, and a work area on disk why."""
    ash = "from v$active_session_history group by"
    events = [("direct path read temp", 16_214), ("ON CPU", 4406), ("log file sync", 46)]
    log = table(f"select nvl(event,'ON CPU') event, count(*) samples {ash} event", ("EVENT", "SAMPLES"), *events)
    statements = [("2wmz74k1pb9fd", "HASH JOIN", "direct path read temp", samples)]
    statements += [("f0c2s9ah3yd1q", "SORT", "direct path read temp", 1011), ("f0c2s9ah3yd1q", "SORT", "ON CPU", 5406)]
    log += table(
        f"select sql_id, sql_plan_operation op, nvl(event,'ON CPU') event, count(*) n {ash} sql_id, op, event",
        *(("SQL_ID", "OP", "EVENT", "N"), *statements),
    )
    area = ("2wmz74k1pb9fd", "HASH-JOIN", 28_460, 204, "11 PASSES", 223)
    log += table(
        "select sql_id, operation_type, estimated_optimal_size/1024/1024 opt_mb, last_memory_used/1024/1024 mem_mb,"
        " last_execution, max_tempseg_size/1024/1024/1024 temp_gb from v$sql_workarea",
        *(("SQL_ID", "OPERATION_TYPE", "OPT_MB", "MEM_MB", "LAST_EXECUTION", "TEMP_GB"), area),
    )
    lines = " ".join(screen(log))
    whose = "`2wmz74k1pb9fd` (HASH JOIN) had 94 % of the samples of `direct path read temp`"
    assert (whose in lines) is is_one
    assert "`HASH-JOIN` of `2wmz74k1pb9fd` went to disk (11 PASSES): 223 GiB" in lines
    assert "it had 204 MiB of memory and needs 27.8 GiB." in lines


@pytest.mark.parametrize(("cpu", "is_said"), [(48_282, True), (9_000, False)])
def test_waits_are_the_smaller_part_where_cpu_took_most_of_the_time(cpu: int, *, is_said: bool) -> None:
    """Totals of waits have no CPU; the time model that is listed beside them has."""
    query = "select stat_name, round(value/1e6) secs from v$sys_time_model"
    lines = screen(totals() + table(query, ("STAT_NAME", "SECS"), ("DB time", 54_618), ("DB CPU", cpu)))
    assert ("CPU took 88 % of the DB time, so waits are its smaller part" in " ".join(lines[:3])) is is_said


def test_hard_parses_of_the_time_model_lead() -> None:
    """Time in hard parses comes before the CPU that they use; counts are no rates, and cursors alike are the cause."""
    query = "select stat_name, round(value/1e6) secs from v$sys_time_model"
    rows = ("DB time", 18_411), ("DB CPU", 13_881), ("hard parse elapsed time", 10_988)
    log = totals() + table(query, ("STAT_NAME", "SECS"), *rows)
    counts = ("parse count (hard)", 61, 0.2), ("parse count (total)", 66, 0.3)
    log += table("select name, value, value/300 ps from v$sysstat", ("NAME", "VALUE", "PS"), *counts)
    found = iolab.findings(log.encode()).get_column("sentence").to_list()
    hard, cpu = (next(n for n, one in enumerate(found) if one.startswith(word)) for word in ("Hard parses", "CPU took"))
    assert found[hard] == "Hard parses took 60 % of the DB time: 61 of 66 parses were hard."
    assert hard < cpu
    query = "select force_matching_signature fms, count(*) n, max(parsing_schema_name) usr from v$sqlarea group by 1"
    log += table(query, ("FMS", "N", "USR"), (11480371204412208813, 900, "SHOP"), (4018822017740129921, 100, "PIM"))
    assert f"{found[hard]} 900 cursors of SHOP share one signature, 90 % of those listed:" in said(log)


@pytest.mark.parametrize("lost", [16_154, 3])
def test_blocks_that_the_private_network_lost_are_those_of_all_instances(lost: int) -> None:
    """Statistics of several instances are added up, and slow waits for blocks lead to the network, not to disks."""
    waits = [(n, "gc cr block 2-way", 6_462_693, 78_389) for n in (1, 2)]
    head = ("INST_ID", "EVENT", "TOTAL_WAITS", "SECS")
    log = table(
        "select inst_id, event, total_waits, round(time_waited_micro/1e6) secs from gv$system_event", head, *waits
    )
    buckets = [
        (n, "gc cr block 2-way", end, count) for n in (1, 2) for end, count in ((16, 9000), (32, 4000), (256, 200 + n))
    ]
    query = "select inst_id, event, wait_time_milli, wait_count from gv$event_histogram"
    log += table(query, ("INST_ID", "EVENT", "WAIT_TIME_MILLI", "WAIT_COUNT"), *buckets)
    rows = [
        (n, name, count // 2)
        for n in (1, 2)
        for name, count in (("gc blocks lost", lost), ("gc cr blocks received", 9_000_000))
    ]
    log += table("select inst_id, name, value from gv$sysstat", ("INST_ID", "NAME", "VALUE"), *rows)
    found = iolab.findings(log.encode())
    sentences = " ".join(found.get_column("sentence"))
    assert "the slowest 403 took 128 to 256 ms" in sentences
    assert ("lost 16,154 blocks; 9,000,000 blocks" in sentences) is (lost > 9)
    assert any(step.startswith("see the private network") for step in found.get_column("next").drop_nulls())
    assert not any("iostat" in step for step in found.get_column("next").drop_nulls())


def test_buckets_of_powers_of_two_in_us_end_where_the_next_begins() -> None:
    """A bucket that ends at 16.4 ms is of waits of 8.2 ms and more, none of which is known to be slow."""
    rows = (8192, 9000), (16_384, 22), (32_768, 2)
    query = "select wait_time_micro, wait_count from v$event_histogram_micro where event = 'db file sequential read'"
    assert "All but 2 of the 9,024 waits for `db file sequential read` took less than 16 ms" in said(
        table(query, ("WAIT_TIME_MICRO", "WAIT_COUNT"), *rows)
    )


def test_a_history_of_one_event_leads_before_the_queries_that_listed_it() -> None:
    """Of several columns the one that changed for good is the fact, with its event; a query of a history is no work."""
    rows = [
        (f"12-NOV {hour:02}:00", "db file sequential read", 3000 + 200 * hour, 2 + hour % 3, 0.6)
        for hour in range(10, 16)
    ]
    rows += [
        (f"12-NOV {hour:02}:00", "db file sequential read", 3000 - 20 * hour, 3 + hour % 9, 5.1)
        for hour in range(16, 22)
    ]
    query = "select to_char(end_interval_time,'DD-MON HH24:MI') snap_end, event_name, total_waits waits,"
    query += " round(time_waited_micro/1e6) secs, round(time_waited_micro/total_waits/1000,2) avg_ms"
    query += " from dba_hist_system_event"
    log = table(query, ("SNAP_END", "EVENT_NAME", "WAITS", "SECS", "AVG_MS"), *rows) + "Elapsed: 00:00:02.18\n"
    lines = " ".join(screen(log))
    assert "From `12-NOV 16:00` on `AVG_MS` of `db file sequential read` was 5.10 ms to 5.10 ms" in lines
    assert lines.index("From `12-NOV") < lines.index("took all of the time")
    assert "next: see the devices" in lines


@pytest.mark.parametrize(
    ("label", "moment", "said_of"),
    [
        (
            "to_char(first_time,'DD.MM HH24:MI')",
            "07.11 18:{}",
            "4 per minute, one every 15 s; the median is 3 per minute.",
        ),
        (
            "to_char(first_time,'DD.MM HH24:MI')",
            "07.11 {}:00",
            "4 per hour, one every 900 s; the median is 3 per hour.",
        ),
        ("to_char(first_time,'DD.MM')", "{}.11", "4 per day, one every 21,600 s; the median is 3 per day."),
        ("trunc(first_time)", "{}-NOV-22", "4 per day, one every 21,600 s; the median is 3 per day."),
    ],
)
def test_switches_are_those_of_a_minute_hour_or_day(label: str, moment: str, said_of: str) -> None:
    """Rows of minutes or days are no hours, but for times of day that are all whole hours."""
    inner = "(select first_time, count(*) over (partition by trunc(first_time,'HH24')) of_h from v$log_history)"
    rows = [(moment.format(n), 3 + (n == 15), 1) for n in range(10, 21)]
    query = "select {} t, count(*) n, max(of_h) h from {} group by 1"
    log = table(query.format(label, inner), ("T", "N", "H"), *rows)
    assert f"most frequent at `{moment.format(15)}`: {said_of}" in said(log)


def test_a_series_without_a_change_has_no_peak() -> None:
    """Sizes that are all alike are largest nowhere."""
    rows = [(f"2020-01-23 0{n}", 50) for n in range(1, 6)]
    query = "select to_char(first_time,'YYYY-MM-DD HH24') hour, sum(blocks*block_size)/1024/1024 mb from v$archived_log"
    assert "was largest at" not in said(table(f"{query} group by 1", ("HOUR", "MB"), *rows))


def test_blocked_sessions_lead_before_totals_since_the_start() -> None:
    """A lock that sessions wait for now is the answer, and no limit that is not reached, nor a calm average."""
    waiting = [(n, "enq: TX - row lock contention", 0, 99) for n in (11, 12, 13)]
    query = "select sid, event, seconds_in_wait, blocking_session from v$session"
    log = totals() + table(query, ("SID", "EVENT", "SECONDS_IN_WAIT", "BLOCKING_SESSION"), *waiting)
    metric = table(
        "select metric_name, value from v$sysmetric", ("METRIC_NAME", "VALUE"), ("Average Active Sessions", ".4")
    )
    lines = screen(log + metric)
    assert lines[0].startswith(
        "3 of 3 listed sessions waited for `enq: TX - row lock contention`; session 99 blocked 3"
    )
    assert "Nothing stands out" not in "".join(lines)
    assert "sequential read" not in "".join(lines)


@pytest.mark.parametrize(
    ("apply", "transport", "stated"),
    [
        (
            "+00 01:15:55",
            "+00 00:00:01",
            "Apply lag was 4,555 s, transport lag 1 s: the apply of redo (811 KB/s) is behind",
        ),
        (
            "+01 00:00:00",
            "+00 23:59:10",
            "Transport lag was 86,350 s, apply lag 86,400 s: the transport of redo is behind",
        ),
        ("+00 00:00:05", "+00 00:00:00", ""),
    ],
)
def test_the_lag_of_a_standby(apply: str, transport: str, stated: str) -> None:
    """Whether the apply or the transport of redo is behind stands beside the waits of recovery."""
    query = "select name, value from v$dataguard_stats"
    log = table(query, ("NAME", "VALUE"), ("transport lag", transport), ("apply lag", apply))
    log += table(
        "select item, sofar from v$recovery_progress", ("ITEM", "SOFAR"), ("Active Apply Rate", 811), ("Log Files", 9)
    )
    log += totals().replace("db file sequential read", "recovery read          ")
    found = said(log)
    assert stated in found
    assert ("lag was" in found) is bool(stated)
    assert not stated or stated in " ".join(screen(log)[1:5])
    earlier = table(query, ("NAME", "VALUE"), ("transport lag", "+00 00:00:00"), ("apply lag", "+00 00:00:07"))
    assert ("Apply lag was 4,555 s, 7 s at first, " in said(earlier + log)) is ("811" in stated)


def test_counts_of_a_listing_are_its_own() -> None:
    """Of an even number of values the median is a half; a wait of no second has no time; a label is no figure."""
    days = [(f"0{n}-MAY", count) for n, count in enumerate((9, 6, 10, 9, 8, 3), 1)]
    log = table("select to_char(first_time,'DD-MON') d, count(*) switches from v$log_history", ("D", "SWITCHES"), *days)
    hours = [("11-OCT 06:00", 8, 4637), ("11-OCT 07:00", 21, 12172)]
    query = "select to_char(trunc(first_time,'HH24'),'DD-MON HH24:MI') h, count(*) n, round(sum(blocks)/3600) kb_s"
    query += " from v$archived_log"
    log += table(query, ("H", "N", "KB_S"), *hours)
    sessions = (1, "recovery read", 0), (2, "recovery read", 0)
    log += table("select sid, event, seconds_in_wait from v$session", ("SID", "EVENT", "SECONDS_IN_WAIT"), *sessions)
    found = said(log)
    assert "the median is 8.50" in found
    assert "most frequent at `11-OCT 07:00`: 21 per hour" in found
    assert "2 of 2 listed sessions waited for `recovery read`." in found


def test_rows_expected_of_partitions_are_of_all_of_them() -> None:
    """A step that is started for each partition returns its rows in all; one below a nested loop for each start."""
    head = "SQL> select * from table(dbms_xplan.display_cursor('5kw8d2zxq0vn3', 0, 'ALLSTATS LAST'));\n\n"
    head += f"PLAN_TABLE_OUTPUT\n{'-' * 90}\nSQL_ID  5kw8d2zxq0vn3, child number 0\n{'-' * 37}\nselect 1 from b\n\n"
    head += f"Plan hash value: 901277344\n\n{'-' * 88}\n"
    head += (
        "| Id  | Operation            | Name | Starts | E-Rows | A-Rows |   A-Time   | Buffers |  Reads |\n"
        + "-" * 88
        + "\n"
    )
    row = "|{:4} | {:20} | {:4} | {:6} | {:>6} | {:>6} |00:{}.00 |   1810K |  1810K |\n"
    for parent, expected in (("PARTITION RANGE ALL", "500"), ("NESTED LOOPS", "1,500")):
        plan = row.format(0, "SELECT STATEMENT", "", 1, "", "90K", "41:20")
        plan += row.format(1, f" {parent}", "", 1, "500", "90K", "41:19")
        plan += row.format(2, "  TABLE ACCESS FULL", "BIG", 3, "500", "90K", "41:18")
        assert f"returned 90,000 rows, {expected} expected" in said(f"{head}{plan}{'-' * 88}\n")


def submits(*, is_cut: bool, of: str = "pwrite", size: int = 8192, count: int = 3) -> str:
    """Calls of io_submit that take their time themselves, with some requests each."""
    lines, clock = [], 1_700_000_000.0
    for n in range(60):
        entries = [
            f"{{data={hex(k + 1)}, {of}, fildes=26{k % 3}, nbytes={size}, offset={size * (9 * n + k)}}}"
            for k in range(count)
        ]
        shown = [*entries[:2], "..."] if is_cut else entries
        events = [f"{{data={hex(k + 1)}, obj={hex(k + 1)}, res={size}, res2=0}}" for k in range(count)]
        events = [*events[:2], "..."] if is_cut else events
        lines.append(f"{clock:.6f} io_submit(0x7f11, {count}, [{', '.join(shown)}]) = {count} <0.300000>")
        lines.append(
            f"{clock + 0.3001:.6f} io_getevents(0x7f11, {count}, 512, [{', '.join(events)}], NULL) = {count} <0.000020>"
        )
        clock += 0.31
    return "\n".join(lines)


def test_a_batch_of_requests_has_a_time_of_its_own() -> None:
    """Requests of a call are counted by its result, and its time is that of all; those printed are no count."""
    cut, whole = said(submits(is_cut=True, count=96)), said(submits(is_cut=False))
    assert "60 calls of 96 requests, 300 ms each (3.12 ms per request)" in cut
    assert "writes to" not in cut
    assert "60 calls of 3 requests, 300 ms each (100 ms per request)" in whole
    assert "60 writes to `fd 260`" in whole


@pytest.mark.parametrize("depth", [1, 2])
def test_one_request_at_a_time(depth: int) -> None:
    """A process that waits for each of its requests says so beside the time of the waits."""
    lines, clock = [], 1_700_000_000.0
    for n in range(60):
        entries = [
            f"{{data={hex(k + 1)}, pread, fildes=7, nbytes=1048576, offset={1048576 * (2 * n + k)}}}"
            for k in range(depth)
        ]
        events = [f"{{data={hex(k + 1)}, obj={hex(k + 1)}, res=1048576, res2=0}}" for k in range(depth)]
        lines.append(f"{clock:.6f} io_submit(0x7f11, {depth}, [{', '.join(entries)}]) = {depth} <0.000060>")
        lines.append(
            f"{clock + 1e-4:.6f} io_getevents(0x7f11, 1, 128, [{', '.join(events)}], NULL) = {depth} <0.040000>"
        )
        clock += 0.041
    log = "\n".join(lines)
    assert ("60 calls, 40 ms each, one 1,024 KiB request at a time: 26.2 MB/s." in said(log)) is (depth == 1)
    assert any("MB/s" in line for line in screen(log)[:3]) is (depth == 1)


@pytest.mark.parametrize(("us", "is_cached"), [(12, True), (400, False)])
def test_reads_too_short_for_a_disk(us: int, *, is_cached: bool) -> None:
    """Reads of a file whose open is not in the log are consistent with the page cache where no drive is so fast."""
    line = '{:.6f} pread64(258, "", 8192, {}) = 8192 <0.{:06}>'
    log = "\n".join(line.format(1_700_000_000 + n * 6e-4, 8192 * (n * 7 % 900), us + n % 3) for n in range(400))
    stated = "400 reads of 8 KiB took 13.0 us on average: consistent with the page cache, not a disk"
    assert (stated in said(log)) is is_cached
    direct = f'1699999999.000000 openat(AT_FDCWD, "/u01/a.dbf", O_RDWR|O_DIRECT) = 258 <0.000010>\n{log}'
    assert "page cache, not a disk" not in said(direct)


def test_a_server_process_whose_waits_time_out_waits_for_another_session() -> None:
    """Its client waits for it, and it sleeps until another session posts it: no disk is slow."""
    rows, clock = [], 1_700_000_000.0
    for n in range(40):
        rows.append(f'{clock:.6f} read(16, "\\0\\0\\0E\\6\\0\\0\\0\\0\\0\\3Na"..., 8208) = 69 <0.000400>')
        rows.append(f'{clock + 0.001:.6f} pread64(258, "", 8192, {n * 8192}) = 8192 <0.000500>')
        late = "-1 EAGAIN (Resource temporarily unavailable) <3.000000>"
        rows.append(f"{clock + 0.002:.6f} semtimedop(2031617, [{{18, -1, 0}}], 1, {{tv_sec=3, tv_nsec=0}}) = {late}")
        rows.append(
            f'{clock + 3.003:.6f} write(16, "\\0\\0\\0\\26\\6\\0\\0\\0\\0\\0\\t\\5\\0\\0\\0a"..., 22) = 22 <0.000030>'
        )
        clock += 3.004
    stated = "it waited for another session to post it, as for a lock, not for I/O."
    assert stated in said("\n".join(rows))
    assert stated not in said("\n".join(row for row in rows if "(16" not in row))


def test_a_list_of_processes_is_of_ps_and_says_who_holds_the_memory() -> None:
    """Processes without a time are those of ps; they stand beside the swapping that they may be the cause of."""
    head = " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
    row = " 9 20 {} 400000 2600 67000000 15000 16000 18000 19000 23000 48000  6 30 35 29  0\n"
    samples = head + "".join(row.format(9_000_000 + 9000 * n) for n in range(9))
    listed = "  PID   RSS    VSZ COMMAND\n31204 18204331 21204331 java -Xmx16g\n  977 1411204 66204331 ora_dbw0_a\n"
    log = read_host((samples + listed).encode())
    (found,) = swapping(log)
    assert log.kind == "vmstat+ps"
    assert log.wide("process").get_column("command").to_list() == ["java -Xmx16g", "ora_dbw0_a"]
    assert "of the processes listed, `java -Xmx16g` 17.4 GiB and `ora_dbw0_a` 1.35 GiB" in found.sentence
    assert "ps -eo" not in found.next
    (alone,) = swapping(read_host(samples.encode()))
    assert "ps -eo" in alone.next
    assert read_host(b"# Time   UID   PID  %usr  Command\n1692579199 0 1 0.50 systemd\n").kind == "pidstat"


WAITS = "select event, total_waits, time_waited_micro/1e6 s from delta_of_events"


@pytest.mark.parametrize(
    ("why", "reason", "step"),
    [
        ("", "", "next: see why its cursor was not shared"),
        (
            table("select reason, count(*) n from r group by reason", ("REASON", "N"), ("BIND_MISMATCH", 2200)),
            "; the most frequent reason is `BIND_MISMATCH` 2,200",
            "next: have all sessions run it alike",
        ),
        (
            table(
                "select child_number, bind_mismatch b, optimizer_mismatch o from v$sql_shared_cursor",
                ("CHILD_NUMBER", "B", "O"),
                *((n, "N" if n else "Y", "Y") for n in range(3)),
            ),
            "; the most frequent reason is `OPTIMIZER_MISMATCH` 3",
            "next: have all sessions run it alike",
        ),
    ],
)
def test_child_cursors_are_the_cause_of_waits_for_them(why: str, reason: str, step: str) -> None:
    """They stand beside the waits with the reason that the log shows; it is not to be looked up again."""
    query = "select sql_id, version_count from v$sqlarea"
    log = table(query, ("SQL_ID", "VERSION_COUNT"), ("7xq2b0kd9mvz1", 2300), ("1mz8c4t0h5wyr", 2))
    waits = table(WAITS, ("EVENT", "TOTAL_WAITS", "S"), ("cursor: mutex S", 900, 90), ("latch free", 9, 10))
    lines = screen(waits + log + why)
    assert "`cursor: mutex S` took 90 %" in lines[1]
    assert f"`7xq2b0kd9mvz1` has 2,300 child cursors, most of the 2 listed{reason}." in " ".join(lines[2:4])
    assert any(line.startswith(step) for line in lines)


@pytest.mark.parametrize(
    ("event", "write", "is_beside"),
    [
        ("free buffer waits", "db file parallel write", True),
        ("log file sync", "log file parallel write", True),
        ("latch free", "db file parallel write", False),
    ],
)
def test_writes_of_a_background_process_beside_the_waits_for_them(event: str, write: str, *, is_beside: bool) -> None:
    """They are in a listing of their own."""
    waits = table(WAITS, ("EVENT", "TOTAL_WAITS", "S"), (event, 900, 90), ("db file scattered read", 9, 10))
    log = waits + table(WAITS, ("EVENT", "TOTAL_WAITS", "S"), (write, 400, 16), ("rdbms ipc reply", 9, 1))
    assert (screen(log)[2] == f"`{write}` took 40 ms each: 400 writes, 16 s.") is is_beside


def test_slow_files_of_saved_statistics_beside_the_reads() -> None:
    """A table with the columns of v$filestat is one, and files that are as slow are no measure of the others."""
    query = "select f.file#, d.name, f.phyrds, f.readtim from my_deltas f, v$datafile d where d.file# = f.file#"
    files = [(n, f"/u{n}/a.dbf", 1000, 6000 if n < 2 else 100) for n in range(8)]
    waits = table(WAITS, ("EVENT", "TOTAL_WAITS", "S"), ("db file sequential read", 8000, 126), ("latch free", 9, 1))
    lines = screen(waits + table(query, ("FILE#", "NAME", "PHYRDS", "READTIM"), *files))
    assert " ".join(lines[2:4]).startswith(
        "`/u0/a.dbf` took 48 % of the read time of the 8 files listed: 60 s, 60 ms per read; "
        "95 % with 1 other of 60 ms or more; the others took 1 ms."
    )


def test_a_file_is_named_by_its_own_name() -> None:
    """Beside the name of its tablespace, which other files have, too."""
    query = "select f.file#, t.name tablespace, d.name, f.phyrds, f.readtim from v$filestat f, v$datafile d"
    files = [(n, "PAY", f"/u{n}/a.dbf", 1000, 6000 if n < 2 else 100) for n in range(8)]
    said = " ".join(screen(table(query, ("FILE#", "TABLESPACE", "NAME", "PHYRDS", "READTIM"), *files)))
    assert "`/u0/a.dbf` took 48 % of the read time" in said


def test_figures_with_a_decimal_comma() -> None:
    """A column of which one figure cannot group thousands has decimal commas in all of them."""
    rows = [("enq: TX - row lock contention", 31, "18764,31"), ("db file sequential read", 204117, "816,47")]
    lines = screen(table(WAITS, ("EVENT", "TOTAL_WAITS", "S"), *rows))
    assert "`enq: TX - row lock contention` took 96 % of the waits of the query: 31 waits, 605 s each." in " ".join(
        lines
    )


@pytest.mark.parametrize("order", [1, -1])
def test_resizes_of_memory_say_what_grew_and_what_shrank(order: int) -> None:
    """From the first size to the last, in whatever order they are listed; a least size is of what shrank."""
    query = "select component, oper_type, initial_size/1048576 a_mb, final_size/1048576 b_mb from v$sga_resize_ops"
    rows = [("shared pool", "GROW", 1024 * n, 1024 * n + 1024) for n in range(1, 4)]
    rows += [("DEFAULT buffer cache", "SHRINK", 8192 - 1024 * n, 7168 - 1024 * n) for n in range(3)]
    lines = screen(table(query, ("COMPONENT", "OPER_TYPE", "A_MB", "B_MB"), *rows[::order]))
    grew = "`shared pool` grew from 1 GiB to 4 GiB and `DEFAULT buffer cache` shrank from 8 GiB to 5 GiB in 6 resizes."
    assert " ".join(lines[:-1]).endswith(grew)
    assert lines[-1] == "next: set a least size of it: db_cache_size"


def test_a_backup_says_which_end_took_its_time() -> None:
    """Jobs of one kind are compared, and channels of one type and device are summed, without the rows of all."""
    jobs = "select input_type, elapsed_seconds, input_bytes_per_sec/1048576 mb from v$rman_backup_job_details"
    log = table(jobs, ("INPUT_TYPE", "ELAPSED_SECONDS", "MB"), ("DB", 100, 200), ("LOGS", 7, 90), ("DB", 900, 30))
    heads = ("TYPE", "DEVICE_TYPE", "S", "MB")
    rows = [("OUTPUT", "SBT_TAPE", 880, 7), ("OUTPUT", "SBT_TAPE", 890, 6), ("AGGREGATE", "SBT_TAPE", 1770, 13)]
    sync = "select type, device_type, io_time_total/100 s, effective_bytes_per_second/1048576 mb from v$backup_sync_io"
    found = said(log + table(sync, heads, *rows, ("INPUT", "DISK", 5, 100)))
    assert "`DB` took 900 s, reading 30 MiB/s, the longest of 2; the median of the others is 100 s." in found
    assert "`OUTPUT` of SBT_TAPE took 1,770 s in the 2 rows listed: at most 890 s, with 6 MiB/s." in found


@pytest.mark.parametrize(
    ("value", "event", "folder", "expected"),
    [
        (
            "FALSE",
            "free buffer waits",
            "",
            "`disk_asynch_io` = FALSE: writes are not asynchronous; `db_writer_processes` = 1:",
        ),
        (
            "FALSE",
            "free buffer waits",
            "/u01",
            "`disk_asynch_io` = FALSE, `filesystemio_options` = none: writes are not",
        ),
        (
            "FALSE",
            "free buffer waits",
            "+DATA",
            "`disk_asynch_io` = FALSE: writes are not asynchronous; `db_writer_processes` = 1:",
        ),
        ("TRUE", "free buffer waits", "", ""),
        ("FALSE", "latch free", "", ""),
    ],
)
def test_a_setting_that_is_listed_is_the_cause_of_a_wait(value: str, event: str, folder: str, expected: str) -> None:
    """Writers that cannot write asynchronously are behind waits for free buffers, and stand beside them."""
    waits = ("EVENT", "TOTAL_WAITS", "S"), (event, 38_120, 1811), ("db file sequential read", 41_022, 184)
    log = table(WAITS, *waits)
    rows = ("disk_asynch_io", value), ("filesystemio_options", "none"), ("db_writer_processes", "1")
    log += table("select name, value from v$parameter", ("NAME", "VALUE"), *rows)
    log += table("select name from v$datafile", ("NAME",), (f"{folder}/sys.dbf",)) if folder else ""
    found = iolab.findings(log.encode()).get_column("sentence").to_list()
    lead = next(n for n, one in enumerate(found) if one.startswith(f"`{event}` took"))
    assert found[lead + 1].startswith(expected) if expected else not any("asynchronous" in one for one in found)
