"""What a session lists of its own waits and statistics stands beside the statement that they explain."""

from __future__ import annotations

import pytest

import iolab


def _waits(*rows: tuple[str, int, float], sid: str = "sys_context('userenv', 'sid')") -> str:
    query = f"select event, total_waits, time_waited_micro/1e6 secs from v$session_event where sid = {sid}"  # noqa: S608 - a text
    head = f"SQL> {query};\n\n{'EVENT':30} TOTAL_WAITS       SECS\n{'-' * 30} ----------- ----------\n"
    return head + "".join(f"{event:30} {count:>11} {time:>10}\n" for event, count, time in rows) + "\n"


def _fetch(rows: int, trips: int) -> str:
    counts = f"       9000  consistent gets\n{0:>11}  physical reads\n{trips:>11}  SQL*Net roundtrips to/from client\n"
    head = (
        f"SQL> select id, body from doc;\n\n{rows} rows selected.\n\nElapsed: 00:01:40.00\n\nStatistics\n{'-' * 58}\n"  # noqa: S608 - a text
    )
    return f"{head}{counts}{rows:>11}  rows processed\n\n"


@pytest.mark.parametrize(
    ("event", "count", "sid", "is_said"),
    [
        ("SQL*Net message from dblink", 41_000, "sys_context('userenv', 'sid')", True),
        ("SQL*Net message from dblink", 41_000, "318", False),
        ("SQL*Net message from client", 2_010, "sys_context('userenv', 'sid')", True),
        ("SQL*Net message from client", 9, "sys_context('userenv', 'sid')", False),
        ("SQL*Net message from client", 90_000, "sys_context('userenv', 'sid')", False),
    ],
)
def test_the_waits_that_a_session_lists_are_those_of_its_statement(
    event: str,
    count: int,
    sid: str,
    is_said: bool,  # noqa: FBT001 - a case
) -> None:
    """They stand beside the statement, with their next step; those for a client where they are as many as its trips."""
    text = _fetch(rows=41_000, trips=2_000) + _waits((event, count, 91.2), ("latch free", 3, 0.1), sid=sid)
    found = iolab.findings(text.encode()).filter(name="main_statement")
    assert (f"The session waited 91.2 s for `{event}` ({count:,} waits" in found.item(0, "sentence")) == is_said
    assert ("remote database" in found.item(0, "next")) == (is_said and event.endswith("dblink"))


@pytest.mark.parametrize(("policy", "is_said"), [("manual", True), ("auto", False)])
def test_a_setting_of_the_session_explains_its_waits(policy: str, *, is_said: bool) -> None:
    """What the session set before the statement is named, where it explains the wait that took most of its time."""
    text = f"SQL> alter session set workarea_size_policy={policy} sort_area_size=65536;\n\nSession altered.\n\n"
    text += _fetch(rows=41_000, trips=2) + _waits(("direct path read temp", 41_000, 91.2))
    found = iolab.findings(text.encode()).filter(name="main_statement").row(0, named=True)
    assert ("`workarea_size_policy` = manual" in found["sentence"]) is is_said
    assert found["next"].endswith("workarea_size_policy = auto") is is_said


@pytest.mark.parametrize(
    ("rows", "stated"),
    [
        ({"table fetch continued row": 4_189_902, "table scan rows gotten": 4_212_338}, "4,189,902 fetches of"),
        ({"table fetch continued row": 4_189, "table scan rows gotten": 4_212_338}, ""),
        (
            {
                "cell num bytes in passthru during predicate offload": 130_389_147_648,
                "cell physical IO bytes eligible for predicate offload": 136_533_360_640,
                "cell physical IO bytes sent directly to DB node to balance CPU": 130_389_147_648,
            },
            "filtered nothing in 121 GiB of 127 GiB of smart scans (95 %); 130,389,147,648 bytes went to the database",
        ),
        (
            {
                "cell physical IO bytes eligible for predicate offload": 13_653_336_064,
                "cell physical IO bytes sent directly to DB node to balance CPU u": 12_884_901_888,
            },
            "To balance CPU the cells sent 12 GiB of 12.7 GiB of smart scans (94 %) directly to the database",
        ),
    ],
)  # fmt: skip
def test_differences_of_statistics_explain_the_statement_before_them(rows: dict[str, int], stated: str) -> None:
    """Statistics that a script subtracted are those of the statement between, without the text of its query."""
    text = (
        "SQL> select max(a) from t;\n\n    MAX(A)\n----------\n         7\n\nElapsed: 00:06:31.24\nSQL> @stat_end\n\n"
    )
    text += f"{'NAME':64} VALUE_BEGIN    VALUE_END         DIFF\n{'-' * 64} ----------- ------------ ------------\n"
    text += "".join(f"{name:64} {1000:>11} {1000 + count:>12} {count:>12}\n" for name, count in rows.items())
    found = iolab.findings(text.encode()).filter(name="main_statement").item(0, "sentence")
    assert (any(one in found for one in ("continued row", "filtered nothing", "To balance CPU"))) is bool(stated)
    assert stated in found


def test_waits_that_a_package_prints_are_those_of_the_statement_before() -> None:
    """`snap_events` lists what the session waited since its start, in hundredths of a second."""
    text = _fetch(rows=41_000, trips=20_500) + "SQL> exec snap_events.end_snap\n"
    text += f"Session Events - 22-Sep 11:48:52\nInterval:-      719 seconds\n{'-' * 57}\n"
    text += f"{'Event':43}{'Waits':>12}{'Time_outs':>12}{'Csec':>12}{'Avg Csec':>12}{'Max Csec':>12}\n"
    text += f"{'-----':43}{'-----':>12}{'---------':>12}{'----':>12}{'--------':>12}{'--------':>12}\n"
    text += f"{'SQL*Net message from client':43}{20_500:>12,}{0:>12}{9_120:>12,}{'.445':>12}{211:>12}\n"
    text += "\nPL/SQL procedure successfully completed.\n\n"
    found = iolab.findings(text.encode()).filter(name="main_statement").row(0, named=True)
    assert found["sentence"].endswith(
        "The session waited 91.2 s for `SQL*Net message from client` (20,500 waits of 4.45 ms)."
    )
    assert found["next"].startswith("fetch more rows at a time")


def test_a_pause_is_no_work_beside_what_a_session_lists() -> None:
    """A session that waits between two lists is calm where these say so."""
    metrics = "select metric_name, value from v$sysmetric;\n\nMETRIC_NAME                  VALUE\n"
    text = f"SQL> {metrics}----------------------- ----------\nAverage Active Sessions        .86\n\n"
    text += "Elapsed: 00:00:00.01\n"
    text += "SQL> exec dbms_session.sleep(600)\n\nPL/SQL procedure successfully completed.\n\nElapsed: 00:10:00.01\n"
    found = iolab.findings(text.encode())
    assert found.item(0, "sentence").startswith("Nothing stands out: on average 0.86 sessions were active")
    steps = found.filter(name="main_statement").get_column("next").to_list()
    assert steps == ["compare what the session listed before this pause and after it"]


@pytest.mark.parametrize("trips", [96_001, 3_201])
def test_more_round_trips_than_rows_are_no_small_fetch(trips: int) -> None:
    """Each row needs them, so no larger fetch helps: what is read beside the rows does."""
    found = iolab.findings(_fetch(rows=48_000, trips=trips).encode()).filter(name="main_statement")
    is_many = trips > 48_000
    assert ("2.00 for each row" in found.item(0, "sentence")) == is_many
    assert ("lobprefetch" in found.item(0, "next"), "arraysize" in found.item(0, "next")) == (is_many, not is_many)


def test_round_trips_lead_to_a_larger_fetch_without_the_text_of_the_statement() -> None:
    """A spool without echo has rows and round trips, too."""
    found = iolab.findings(_fetch(rows=48_000, trips=24_001).partition(";\n")[2].encode())
    assert "(`set arraysize 500`): 2 rows took a round trip" in found.filter(name="main_statement").item(0, "next")


@pytest.mark.parametrize(("trips", "is_said"), [(24_001, True), (12, False)])
def test_small_fetches_stand_beside_the_blocks_from_disk(trips: int, *, is_said: bool) -> None:
    """A statement that reads a little may have taken its time in round trips."""
    text = _fetch(rows=48_000, trips=trips).replace("          0  physical reads", "      11214  physical reads")
    found = iolab.findings(text.encode()).filter(name="main_statement").item(0, "sentence")
    assert "it read 11,214 blocks from disk" in found
    assert ("; 48,000 rows took 24,001 round trips." in found) is is_said


@pytest.mark.parametrize("is_same", [True, False])
def test_waits_are_those_of_the_runs_before_their_listing(is_same: bool) -> None:  # noqa: FBT001 - a case
    """Waits of a session add up until it connects again; those of two sets of runs stand beside each other."""
    run = "SQL> select count(*) from big;\n\n1 row selected.\n\nElapsed: 00:0{}.00\n\n"
    change = "SQL> alter system set filesystemio_options=setall;\n\nSystem altered.\n\nElapsed: 00:00:00.01\n"
    again = "SQL> connect bench/*****\nConnected.\n" * (not is_same)
    waits = [
        _waits(("direct path read", 9_000 * (1 + is_same * n), s)) for n, s in enumerate((90.0, 90.0 * is_same + 18))
    ]
    text = run.format("0:50") * 2 + waits[0] + change + again + run.format("0:10") * 2 + waits[1]
    said = iolab.findings(text.encode()).filter(name="main_statement").item(0, "sentence")
    assert "took 90 s in 2 runs (9,000 waits of 10 ms), then 18 s in 2 runs (9,000 waits of 2 ms)." in said


def test_lists_of_statistics_with_lines_of_traces_are_a_session() -> None:
    """Statistics of two runs with excerpts of their traces below them are no trace that lacks lines."""
    heads = f"Name{'Value':>78}\n----{'-----':>78}\n"
    wait = "\tWAIT #3: nam='db file sequential read' ela= 9012 p1=5 p2=24939 p3=1\n"
    text = ""
    for fetched in (481_880, 0):
        rows = (
            ("session logical reads", 736_512),
            ("table fetch by rowid", 250_000),
            ("table fetch continued row", fetched),
        )
        text += "Stats for the query\n===================\n\n" + heads
        text += (
            "".join(f"{name:40}{value:>42,}\n" for name, value in rows if value)
            + "\nWaits from trace file:\n"
            + 9 * wait
            + "\n"
        )
    log = iolab.load(text.encode())
    assert log.format == "sqlplus"
    assert iolab.findings(log).item(0, "sentence").startswith("Rows are chained or migrated: 481,880 fetches")
    assert iolab.load((9 * wait).encode()).format == "sqltrace"


def test_statistics_of_runs_that_differ_are_of_none() -> None:
    """Smart scans of a second run say nothing of the first."""
    text = ""
    for seconds, eligible in ((93, 0), (2, 31_898_000_000)):
        text += (
            f"SQL> select count(*) from t;\n\n  COUNT(*)\n----------\n         7\n\nElapsed: 00:01:{seconds:02}.70\n"  # noqa: S608 - a text
        )
        text += "SQL> select n.name, s.value from v$mystat s join v$statname n using (statistic#);\n\n"
        text += f"{'NAME':60} {'VALUE':>14}\n{'-' * 60} {'-' * 14}\n"
        figures = {
            "physical read total IO requests": 32_418 - eligible // 10**9,
            "physical read total bytes": 31_904_000_000,
            "cell physical IO bytes eligible for predicate offload": eligible,
            "cell physical IO interconnect bytes returned by smart scan": eligible // 900,
            "cell flash cache read hits": 32_377,
        }
        text += "".join(f"{name:60} {value:>14}\n" for name, value in figures.items()) + "\n"
    names = set(iolab.findings(text.encode()).get_column("name"))
    assert not names & {"offload", "flash_hits", "flash_latency"}
    once = set(iolab.findings(text[text.rindex("SQL> select count") :].encode()).get_column("name"))
    assert once >= {"offload", "flash_hits"}


@pytest.mark.parametrize("commits", [1, 49_000])
def test_commits_explain_the_waits_for_them_beside_a_load_with_fewer(commits: int) -> None:
    """Statistics of the slow load, not of the one after it, say how often it committed; a load with fewer is named."""
    text, done = "", "\nPL/SQL procedure successfully completed.\n\nElapsed: 00:{}\n"
    ends, rule = "SQL> execute snap_{}.end_snap\n{}\n{} - 06-Nov 17:22:41\nInterval:-  434 seconds\n{}\n", "-" * 80
    for time, count in (("07:14.42", 50_000), ("00:02.31", commits)):
        text += f"SQL> @load 50000\n{done.format(time)}{ends.format('my_stats', rule, 'Session stats', rule)}"
        text += f"{'Name':60}{'Value':>20}\n{'----':60}{'-----':>20}\n"
        text += f"{'user commits':60}{count:>20,}\n{'execute count':60}{50_003:>20,}\n{done.format('00:00.06')}"
        text += ends.format("events", rule, "System Waits", rule)
        for row in (("Event", "Waits", "Time_outs", "Csec"), ("-----", "-----", "---------", "----")):
            text += f"{row[0]:45}{row[1]:>12}{row[2]:>12}{row[3]:>15}\n"
        text += f"{'log file sync':45}{count:>12,}{0:>12}{count / 1.2:>15,.2f}\n{done.format('00:00.01')}"
    found = iolab.findings(text.encode()).filter(name="main_statement").row(0, named=True)
    assert "waited 417 s for `log file sync` (50,000 waits of 8.33 ms). There were 50,000 commits" in found["sentence"]
    assert ("; a run of as many executions took 2.31 s (commits: 1)." in found["sentence"]) == (commits == 1)
    assert found["next"].startswith("commit once for many rows")


@pytest.mark.parametrize("sorts", [1, 0])
def test_temporary_space_explains_a_statement_that_sorted_on_disk(sorts: int) -> None:
    """The space that is listed after it, and the size of work areas, stand beside a sort on disk alone."""
    text = _fetch(rows=41_000, trips=2) + "SQL>\n"
    text = text.replace(f"{41_000:>11}  rows", f"{sorts:>11}  sorts (disk)\n{41_000:>11}  rows")
    text += "SQL> @temp\n\nSEGTYPE   SQL_ID           MB_USED\n--------- ------------- ---------\n"
    text += "SORT      8v1kq02ny5d4x     38412\nHASH      8v1kq02ny5d4x      6107\n\nSQL> @par\n\n"
    text += f"{'NAME':32} VALUE\n{'-' * 32} ----------\n{'pga_aggregate_target':32} 512M\n\n"
    found = iolab.findings(text.encode())
    said = (
        "A session holds 86 % of the temporary space listed: 37.5 GiB, SORT of `8v1kq02ny5d4x`; `pga_aggregate_target`"
    )
    assert (said in found.filter(name="main_statement").item(0, "sentence")) == (sorts == 1)
    assert "".join(found["sentence"]).count(said) == 1
