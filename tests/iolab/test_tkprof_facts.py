"""What a TKPROF report says first: one execution for each row of another statement, the cause in a plan, the client."""

from __future__ import annotations

import re

import pytest

import iolab

HEAD = "TKPROF: Release 19.0.0.0.0 - Development on Mon Mar 1 10:00:00 2021\n\n"
CALLS = """
call     count       cpu    elapsed       disk      query    current        rows
------- ------  -------- ---------- ---------- ---------- ----------  ----------
"""
RULE = "------- ------  -------- ---------- ---------- ---------- ----------  ----------\n"


def _calls(*rows: tuple[str, int, float, int, int]) -> str:
    lines = [
        f"{name:7}{count:7}{time:10.2f}{time:11.2f}{0:11}{gets:11}{0:11}{found:12}\n"
        for name, count, time, gets, found in rows
    ]
    sums = [sum(row[place] for row in rows) for place in range(1, 5)]
    total = f"{'total':7}{sums[0]:7}{sums[1]:10.2f}{sums[1]:11.2f}{0:11}{sums[2]:11}{0:11}{sums[3]:12}\n"
    return CALLS + "".join(lines) + RULE + total


def _statement(sql: str, text: str, *rows: tuple[str, int, float, int, int]) -> str:
    head = f"{'*' * 80}\nSQL ID: {sql} Plan Hash: 12\n\n{text}\n\n"
    return f"{head}{_calls(*rows)}\nMisses in library cache during parse: 0\n"


def _waits(event: str, time: float) -> str:
    waits = "\nElapsed times include waiting on following events:\n"
    waits += "  Event waited on                             Times   Max. Wait  Total Waited\n"
    waits += "  ----------------------------------------   Waited  ----------  ------------\n"
    return waits + f"  {event:40}{9000:8}{0.2:12.2f}{time:14.2f}\n"


def _overall(*rows: tuple[str, int, float, int, int]) -> str:
    return f"{'*' * 80}\n\nOVERALL TOTALS FOR ALL NON-RECURSIVE STATEMENTS\n{_calls(*rows)}"


def _said(text: str) -> str:
    return " ".join(iolab.findings((HEAD + text).encode()).filter(name="main_statement").get_column("sentence"))


def test_hard_parses_are_those_of_the_calls_beside_them() -> None:
    """What recursive statements parsed is not in the calls of the session, nor in the hard parses beside these."""
    rows = ("Parse", 200, 90.0, 0, 0), ("Execute", 200, 1.0, 0, 0), ("Fetch", 200, 3.0, 200_000, 200)
    inner = ("Parse", 7, 0.1, 0, 0), ("Execute", 7, 0.1, 0, 0), ("Fetch", 7, 0.1, 70, 7)
    one, two = (_statement(*of).replace("parse: 0", f"parse: {of[2][1]}") for of in (
        ("2kz8q0xw4m1cd", "select id from orders", *rows), ("9mq0zk8x4w2cd", "select o from obj$", *inner),
    ))  # fmt: skip
    two = two.replace("parse: 7\n", "parse: 7\nParsing user id: SYS   (recursive depth: 1)\n")
    recursive = _overall(*inner).replace("NON-RECURSIVE", "RECURSIVE")
    found = iolab.findings((HEAD + one + two + _overall(*rows) + recursive).encode()).filter(name="hard_parses")
    assert found.item(0, "sentence").endswith("200 calls, 200 hard parses.")


@pytest.mark.parametrize("parsing", [1.0, 90.0])
def test_cpu_of_parsing_is_no_cost_of_a_get(parsing: float) -> None:
    """The CPU of execute and fetch calls for each get is said where most CPU is theirs."""
    rows = ("Parse", 200, parsing, 0, 0), ("Execute", 200, 1.0, 0, 0), ("Fetch", 200, 3.0, 200_000, 200)
    log = (HEAD + _statement("2kz8q0xw4m1cd", "select id from orders", *rows) + _overall(*rows)).encode()
    found = iolab.findings(log).filter(name="cpu_of_a_get").get_column("sentence").to_list()
    assert found == ["A logical read took at most 20.0 us of CPU on average (200,000 logical reads)."] * (parsing == 1)


def test_a_statement_for_each_row_of_another_says_so() -> None:
    """A statement that is executed once for each row of another one says which, and that a join would do."""
    orders = _statement(
        "2kz8q0xw4m1cd", "select id from orders", ("Execute", 1, 0.0, 0, 0), ("Fetch", 9, 0.1, 900, 9000)
    )
    lines = ("Execute", 9000, 6.0, 0, 0), ("Fetch", 9000, 6.0, 36_000, 9000)
    total = _overall(("Execute", 9001, 6.0, 0, 0), ("Fetch", 9009, 6.1, 36_900, 18_000))
    text = orders + _statement("9mq0zk8x4w2cd", "select sum(q) from lines where id = :1", *lines) + total
    found = iolab.findings((HEAD + text).encode()).filter(name="main_statement")
    assert "9,000 executions, one for each row of `2kz8q0xw4m1cd`, 36,000 gets" in found.item(0, "sentence")
    assert found.item(0, "next").startswith("get its rows by a join in `2kz8q0xw4m1cd`")
    assert "one for each row" not in _said(text.replace("9000\n", "4000\n"))
    assert "in the client" not in found.item(0, "sentence")
    client = _waits("SQL*Net message from client", 41.3)
    assert _said(text.removesuffix(total) + client + total).endswith(
        "36,000 gets. Between its calls 41.3 s passed in the client."
    )


@pytest.mark.parametrize(
    ("text", "caller"),
    [
        ("select id, f(p) from orders", "a function in it"),
        ("insert into t select * from s", "a trigger or function of"),
    ],
)
def test_a_recursive_statement_for_each_row_is_of_a_function_or_trigger(text: str, caller: str) -> None:
    """What is executed once for each row of one statement is called by it, unless a block of the session calls it."""
    outer = _statement("2kz8q0xw4m1cd", text, ("Execute", 1, 0.0, 0, 0), ("Fetch", 9, 0.9, 900, 9040))
    inner = _statement("9mq0zk8x4w2cd", "select r from fx", ("Execute", 9000, 6.0, 36_000, 9000))
    inner = inner.replace("Misses", "Parsing user id: 104     (recursive depth: 1)\nMisses", 1)
    assert "recursive" in inner
    block = _statement("1wq0zk8x4w2cd", "begin p(:1); end;", ("Execute", 9000, 0.2, 0, 0))
    total = _overall(("Execute", 1, 0.0, 0, 0), ("Fetch", 9, 0.9, 900, 9040))
    total += _overall(("Execute", 9000, 6.0, 36_000, 9000)).replace("NON-RECURSIVE", "RECURSIVE")
    said = _said(outer + inner + total)
    assert f"9,000 executions, one for each row of `2kz8q0xw4m1cd` ({caller}" in said
    assert "one for each row" not in _said(outer + inner + block + total)
    assert "one for each row" not in _said(outer.replace("9040", "9140") + inner + total)


@pytest.mark.parametrize("depth", ["", "Parsing user id: 88     (recursive depth: 1)\n"])
def test_a_commit_for_each_row_says_so(depth: str) -> None:
    """Commits as many as the rows of an insert are the fault, not their waits; also where PL/SQL executes both."""
    insert = _statement("7mqz0k8xw4c2d", "insert into t values (:1)", ("Execute", 9000, 1.0, 18_000, 9000))
    waits = _waits("log file sync", 20.0)
    commit = _statement("23wm3kz7rps5y", "COMMIT", ("Execute", 9000, 21.0, 9000, 0)) + waits
    statements = (insert + commit).replace("Misses", f"{depth}Misses")
    total = _overall(("Execute", 18_000, 22.0, 27_000, 9000))
    total = total.replace("NON-RECURSIVE", "RECURSIVE") if depth else total
    block = _statement("1wq0zk8x4w2cd", "begin p; end;", ("Execute", 1, 0.2, 0, 0)) if depth else ""
    total += _overall(("Execute", 1, 0.2, 0, 0)) if depth else ""
    found = iolab.findings((HEAD + statements + block + total + waits).encode())
    row = found.filter(name="main_statement").row(0, named=True)
    assert (
        "9,000 executions, one for each row of `7mqz0k8xw4c2d`, 9,000 waits for `log file sync` (20" in row["sentence"]
    )
    assert row["next"].startswith("commit less often")


@pytest.mark.parametrize("others", [6_512, 12])
def test_blocks_are_of_an_event_that_read_them_all(others: int) -> None:
    """The blocks of a statement with waits for other reads, too, are not those of its largest wait."""
    waits = "\nElapsed times include waiting on following events:\n"
    waits += "  Event waited on                             Times   Max. Wait  Total Waited\n"
    waits += "  ----------------------------------------   Waited  ----------  ------------\n"
    waits += f"  {'direct path read temp':40}{112_308:8}{1.12:12.2f}{800.0:14.2f}\n"
    waits += f"  {'direct path write temp':40}{58_240:8}{0.88:12.2f}{300.0:14.2f}\n"
    waits += f"  {'db file scattered read':40}{others:8}{0.2:12.2f}{40.0:14.2f}\n"
    calls = ("Execute", 1, 0.0, 0, 0), ("Fetch", 2, 1400.0, 400_000, 3)
    text = (_statement("6u0bg1x0qh9m3", "select 1 from claims", *calls) + waits + _overall(*calls) + waits).replace(
        f"{0:11}{400_000:11}", f"{3_894_120:11}{400_000:11}"
    )
    assert f"{'3,894,120 blocks from disk, ' * (others < 100)}112,308 waits for `direct path read temp`" in _said(text)
    assert ("blocks" in _said(text)) is (others < 100)


def test_the_rows_that_a_plan_threw_away() -> None:
    """The step with most of the gets says how many rows of the step below it were kept, and how many were expected."""
    plan = "Number of plan statistics captured: 1\n\nRows (1st) Rows (avg) Rows (max)  Row Source Operation\n"
    plan += "---------- ---------- ----------  ---------------------------------------------------\n"
    cost = " us cost=12 size=6 card=1"
    plan += "{0:10} {0:10} {0:10}  TABLE ACCESS BY INDEX ROWID LOTS (cr=90000 pr=0 pw=0 time={1}" + cost + ")\n"
    plan += f"{50_000:10} {50_000:10} {50_000:10}   INDEX RANGE SCAN LOTS_IX (cr=400 pr=0 pw=0 time=90000{cost})\n"
    calls = ("Execute", 1, 0.0, 0, 0), ("Fetch", 2, 9.0, 90_000, 3)
    text = "{}".join((_statement("c8kz0qx4w2m1d", "select 1 from lots", *calls), _overall(*calls)))
    said = "`TABLE ACCESS BY INDEX ROWID LOTS` kept 3 of 50,000 rows of `INDEX RANGE SCAN LOTS_IX` (1 expected)."
    assert said in _said(text.format(plan.format(3, 9_000_000)))
    assert "`TABLE ACCESS BY INDEX ROWID LOTS` took 99 % of its time" in _said(
        text.format(plan.format(50_000, 9_000_000))
    )
    assert "LOTS_IX" not in _said(text.format(plan.format(3, 900_000)))  # the plan shows little of the 9 s
    assert "made 99.6 % of the gets" in _said(re.sub(r" time=\d+ us", "", text.format(plan.format(50_000, 0))))


def test_a_session_that_waited_for_its_client_needs_no_finer_times() -> None:
    """Where nearly all time passed between calls, the next step is the client."""
    waits = "\nElapsed times include waiting on following events:\n"
    waits += "  Event waited on                             Times   Max. Wait  Total Waited\n"
    waits += "  ----------------------------------------   Waited  ----------  ------------\n"
    waits += f"  {'SQL*Net message from client':40}{400:8}{{:12.2f}}{{:14.2f}}\n"
    text = _overall(("Execute", 400, 2.0, 900, 400)) + waits
    for waited, first in ((900.0, "see what the client did"), (1.0, "read the trace itself")):
        found = iolab.findings((HEAD + text.format(waited, waited)).encode())
        assert found.filter(name="total").item(0, "next").startswith(first)


def test_time_that_is_neither_cpu_nor_a_wait_is_said_in_the_total() -> None:
    """A process that waited for a processor has little CPU and hardly any waits; without waits nothing is known."""
    text = (
        "TKPROF: Release 19.0.0.0.0\n\nTrace file: t_ora_1.trc\n\nselect a from t\n\n"
        "call     count       cpu    elapsed       disk      query    current        rows\n"
        "------- ------  -------- ---------- ---------- ---------- ----------  ----------\n"
        "Parse        1      0.00       0.00          0          0          0           0\n"
        "Execute      1      0.00       0.00          0          0          0           0\n"
        "Fetch        2     20.00      80.00         40       4000          0           1\n"
        "------- ------  -------- ---------- ---------- ---------- ----------  ----------\n"
        "total        4     20.00      80.00         40       4000          0           1\n"
    )
    waits = (
        "\nElapsed times include waiting on following events:\n"
        "  Event waited on                             Times   Max. Wait  Total Waited\n"
        "  ----------------------------------------   Waited  ----------  ------------\n"
        "  db file sequential read                         40        0.01          0.40\n"
    )
    said = iolab.ledger((text + waits).encode()).text
    assert said.endswith("; 74.5 % of it is neither CPU nor a wait")
    assert "neither" not in iolab.ledger(text.encode()).text


def test_time_without_cpu_and_waits_is_no_matter_of_the_plan() -> None:
    """A statement that was mostly neither on a CPU nor in a wait says so, and asks for the run queue."""
    text = _statement("c8kz0qx4w2m1d", "select 1 from lots", ("Fetch", 2, 100.0, 90_000, 3))
    text = text.replace(f"{100.0:10.2f}{100.0:11.2f}", f"{20.0:10.2f}{100.0:11.2f}") + _waits(
        "db file sequential read", 5.0
    )
    found = iolab.findings((HEAD + text).encode()).filter(name="main_statement").row(0, named=True)

    assert found["sentence"].endswith(" 75 % of this is neither CPU nor a wait: consistent with waiting for a CPU.")
    assert "vmstat" in found["next"]
    assert "neither" not in _said(text.replace(f"{5.0:14.2f}", f"{75.0:14.2f}"))


@pytest.mark.parametrize(("waited", "counted"), [(0.9, True), (30.0, True), (0.9, False)])
def test_commits_outside_the_calls_are_not_counted_twice(waited: float, counted: bool) -> None:  # noqa: FBT001 - a case
    """A wait for a commit that the calls leave no time for is beside them; one that they contain is not."""
    event = "log file sync" if counted else "db file sequential read"
    rows = ("Execute", 900, 1.0, 900, 900), ("Fetch", 0, 0.0, 0, 0)
    text = _statement("2kz8q0xw4m1cd", "insert into t values (:1)", *rows) + _waits(event, waited)
    ledger = iolab.ledger((HEAD + text + _overall(*rows) + _waits(event, waited)).encode())
    parts = dict(ledger.parts().select("name", "seconds").iter_rows())
    assert parts[event] == waited
    assert ("counted twice" in parts) != counted
    assert round(ledger.total.value, 6) == 1.0 + waited * counted  # type: ignore[union-attr]
    assert ("commits between calls" in ledger.text) == counted
    assert ledger.base == ("calls and commits" if counted else "call time")
    for view in ("phase", "who"):
        assert ("commits between calls" in ledger.parts(view)["name"].to_list()) == counted


PLAN = """
Rows (1st) Rows (avg) Rows (max)  Row Source Operation
---------- ---------- ----------  ---------------------------------------------------
        18         18         18  HASH GROUP BY (cr=210400 pr=0 pw=0 time=96390110 us starts=1 cost=5 card=9)
     30122      30122      30122   HASH JOIN  (cr=210400 pr=0 pw=0 time=96280110 us starts=1 cost=500 size=90 card=9)
       800        800        800    TABLE ACCESS FULL CUST (cr=400 pr=0 pw=0 time=2110 us starts=1 cost=50 card=8)
     30122      30122      30122    TABLE ACCESS FULL ORD (cr=210000 pr=0 pw=0 time=95120110 us starts=1 cost=5 card=41)
"""


@pytest.mark.parametrize(
    ("condition", "column"),
    [
        ("TRUNC(O.TS) = :B1", "TS"),
        ("to_char( o.ts, 'YYYY' ) like :b1", "TS"),
        ("O.TS = TRUNC(:B1)", ""),
        ("UPPER(C.NAME) = :B1", ""),
        ("TRUNC(SYSDATE) > O.TS", ""),
    ],
)
def test_a_scan_of_a_table_whose_column_the_statement_converts(condition: str, column: str) -> None:
    """The text shows why no index serves the scan: a function of a column of the table that is scanned."""
    text = f"select c.name, sum(o.total) from ord o, cust c where c.id = o.cid and {condition} group by c.name"  # noqa: S608 - a text
    log = _statement("2kz8q0xw4m1cd", text, ("Execute", 1, 0.0, 0, 0), ("Fetch", 2, 96.4, 210_400, 18)) + PLAN
    log += _overall(("Execute", 1, 0.0, 0, 0), ("Fetch", 2, 96.4, 210_400, 18))
    found = iolab.findings((HEAD + log).encode()).filter(name="main_statement")
    assert (f"the statement compares `{column}` converted" in found.item(0, "sentence")) == bool(column)
    assert found.item(0, "next").startswith(f"compare `{column}` itself") == bool(column)


@pytest.mark.parametrize(("rows", "caller"), [(300, "a function in it"), (30, "")])
def test_a_trace_says_what_executes_a_statement_for_each_row(rows: int, caller: str) -> None:
    """A recursive statement that ran as often as the query above it has rows is of a function of that query."""
    header = (
        "PARSING IN CURSOR #{0} len=9 dep={0} uid=88 oct=3 lid=88 tim=1000 hv=1 ad='7' sqlid='{1}'\n{2}\nEND OF STMT\n"
    )
    call = "{} #{}:c={},e={},p=0,cr=9,cu=0,mis=0,r={},dep={},og=1,plh=5,tim={}\n"
    lines = [
        header.format(0, "aaaa0aaaaaaaa", "select f(a) from t"),
        header.format(1, "bbbb0bbbbbbbb", "select r from fx"),
    ]
    lines += [call.format("EXEC", 0, 9, 9, 0, 0, 1_010)]
    for now in range(10_000, 3_010_000, 10_000):
        lines += [call.format("EXEC", 1, 9, 9, 0, 1, now), call.format("FETCH", 1, 9_000, 9_000, 1, 1, now + 9_500)]
    lines += [call.format("FETCH", 0, 2_720_000, 3_009_000, rows, 0, 3_010_500)]
    found = iolab.findings("".join(lines).encode()).filter(name="main_statement")
    said = found.filter(found["sentence"].str.contains("bbbb0bbbbbbbb` took")).item(0, "sentence")
    assert ("one for each row of `aaaa0aaaaaaaa` (a function in it)" in said) == bool(caller)


@pytest.mark.parametrize("kept", [60_151, 910_000])
def test_the_rows_of_an_index_that_its_table_does_not_keep(kept: int) -> None:
    """Where few rows of an index pass the filter of the table, the index lacks the columns of that filter."""
    plan = PLAN[: PLAN.index("        18")]
    plan += f"{kept:>10} {kept:>10} {kept:>10}  TABLE ACCESS BY INDEX ROWID EV (cr=990000 pr=0 pw=0 time=96390110 us)\n"
    plan += "    991022     991022     991022   INDEX RANGE SCAN EV_IX2 (cr=4622 pr=0 pw=0 time=280110 us)\n"
    rows = ("Execute", 1, 0.0, 0, 0), ("Fetch", 2, 96.4, 990_000, kept)
    log = _statement("2kz8q0xw4m1cd", "select * from ev where dev between :1 and :2 and k = :3", *rows) + plan
    found = iolab.findings((HEAD + log + _overall(*rows)).encode()).filter(name="main_statement")
    is_few = kept < 99_000
    assert ("kept 60,151 of 991,022 rows of `INDEX RANGE SCAN EV_IX2`" in found.item(0, "sentence")) == is_few
    assert ("to the index `EV_IX2`" in found.item(0, "next")) == is_few


@pytest.mark.parametrize(("depth", "rows"), [(1, 300), (1, 30), (0, 300)])
def test_a_trace_names_the_query_of_a_loop(depth: int, rows: int) -> None:
    """A statement that ran once for each row of another of its depth is in a loop over it, not in a function."""
    header = (
        "PARSING IN CURSOR #{0} len=9 dep={1} uid=88 oct=3 lid=88 tim=1000 hv=1 ad='7' sqlid='{2}'\n{3}\nEND OF STMT\n"
    )
    call = "{} #{}:c={},e={},p=0,cr=9,cu=0,mis=0,r={},dep={},og=1,plh=5,tim={}\n"
    lines = [header.format(1, depth, "aaaa0aaaaaaaa", "select a from t")]
    lines += [header.format(2, depth, "bbbb0bbbbbbbb", "update u set a = 1")]
    lines += [call.format("EXEC", 1, 9, 9, 0, depth, 1_010), call.format("FETCH", 1, 9, 9, rows, depth, 1_050)]
    lines += [call.format("EXEC", 2, 9_000, 9_000, 1, depth, now) for now in range(20_000, 3_020_000, 10_000)]
    found = iolab.findings("".join(lines).encode()).filter(name="main_statement")
    said = found.filter(found["sentence"].str.contains("bbbb0bbbbbbbb` took")).row(0, named=True)
    assert ("one for each row of `aaaa0aaaaaaaa`, " in said["sentence"]) == (rows == 300)
    assert ("or execute it once" in said["next"]) == (rows == 300)


@pytest.mark.parametrize("rows", [20, 2])
def test_parses_and_hard_parses_are_of_the_same_statements(rows: int) -> None:
    """Misses of recursive statements are no hard parses of the calls; CPU of parsing is none of a logical read."""
    calls = ("Parse", 9, 90.0, 0, 0), ("Execute", 9, 0.0, 0, 0), ("Fetch", 9, 3.0, 101_000, 9)
    log = _statement("2kz8q0xw4m1cd", "select 1 from t", *calls).replace("parse: 0", "parse: 9")
    inner = ("Parse", 1, 0.0, 0, 0), ("Execute", rows, 0.0, 0, 0), ("Fetch", rows, 0.0, 9, rows)
    log += _statement("9mq0zk8x4w2cd", "select 1 from obj$", *inner).replace("parse: 0", "parse: 1")
    log += "Optimizer mode: CHOOSE\nParsing user id: SYS   (recursive depth: 1)\n" + _overall(*calls)
    log += _overall(*inner).replace("NON-RECURSIVE", "RECURSIVE")
    said = " ".join(iolab.findings((HEAD + log).encode()).get_column("sentence"))
    assert "9 calls, 9 hard parses." in said
    assert "A logical read took" not in said


@pytest.mark.parametrize(("seconds", "often"), [(0.6, 2700), (0.6, 200), (9.0, 2700)])
def test_many_short_executions_leave_nothing_to_gain(seconds: float, often: int) -> None:
    """Where all calls took little, and each of many executions next to nothing, no plan is worth a look."""
    rows = ("Execute", often, 0.0, 0, 0), ("Fetch", often, seconds, 4 * often, often)
    log = _statement("2kz8q0xw4m1cd", "select p from sku where id = :1", *rows) + _overall(*rows)
    one = iolab.findings((HEAD + log).encode()).filter(name="main_statement").row(0, named=True)
    is_calm = (seconds, often) == (0.6, 2700)
    assert ("Nothing stands out" in one["sentence"]) == is_calm
    assert ("plan" in one["next"]) != is_calm


@pytest.mark.parametrize("write", [21.0, 0.0])
def test_reads_and_writes_of_temporary_space_are_one(write: float) -> None:
    """Neither is half of the time, both are: a sort on disk, and the two steps of the plan that share the time."""
    plan = PLAN[: PLAN.index("        18")]
    for name, time in (("HASH GROUP BY", 100), (" HASH JOIN", 53), ("  TABLE ACCESS FULL EV", 9)):
        gets = 990_000
        plan += f"         9          9          9  {name} (cr={gets} pr=0 pw=0 time={time * 1_000_000} us)\n"
    plan += _waits("direct path read temp", 32.0)
    plan += f"  {'direct path write temp':40}{900:8}{0.2:12.2f}{write:14.2f}\n" if write else ""
    rows = ("Execute", 1, 100.0, 990_000, 9)
    log = _statement("2kz8q0xw4m1cd", "insert into t select a, sum(b) from ev group by a", rows).replace(
        "    100.00     100.00", "     47.00     100.00"
    )
    said = _said(log + plan + _overall(rows))
    assert ("temporary space took 53 % of its time: a sort or hash operation on disk" in said) == bool(write)
    assert "`HASH GROUP BY` took 47 % of its time, `HASH JOIN` 44 %." in said


@pytest.mark.parametrize("event", ["db file sequential read", "db file scattered read"])
def test_a_scan_that_reads_single_blocks_needs_no_index(event: str) -> None:
    """Where a scan of a table waits for single blocks, they are of undo or chained rows; else look for an index."""
    step = "         9          9          9  TABLE ACCESS FULL EV (cr=990000 pr=9000 pw=0 time=99000000 us)\n"
    rows = ("Fetch", 1, 100.0, 990_000, 9)
    log = _statement("2kz8q0xw4m1cd", "select a from ev", rows) + PLAN[: PLAN.index("        18")] + step
    found = iolab.findings((HEAD + log + _waits(event, 90.0) + _overall(rows)).encode())
    one = found.filter(name="main_statement").row(0, named=True)
    assert ("undo" in one["sentence"]) == (event == "db file sequential read")
    assert ("v$transaction" in one["next"]) == (event == "db file sequential read")


def test_calls_of_a_trace_have_no_mean() -> None:
    """A parse of nothing and an execution of all of the time are two calls, not two waits of half of the time."""
    call = "{} #1:c={},e={},p=0,cr=9,cu=0,mis=0,r=0,dep=0,og=1,plh=5,tim={}\n"
    log = call.format("PARSE", 90, 90, 1_000) + call.format("EXEC", 900_000, 4_000_000, 4_002_000)
    row = iolab.ledger(log.encode()).parts().filter(part="database calls").row(0, named=True)
    assert (row["count"], row["avg"]) == (None, None)


@pytest.mark.parametrize("inner", [990_000, 200])
def test_a_scalar_subquery_is_not_counted_twice(inner: int) -> None:
    """Its plan is a tree of its own, and its time is in the step that executes it, too; other trees stand beside it."""
    step = "{0:10} {0:10} {0:10}  {1} (cr={2} pr=0 pw=0 time={3} us)\n".format
    plan = step(900, "SORT AGGREGATE", inner, 99_000_000) + step(900, " TABLE ACCESS FULL EV", inner, 98_000_000)
    plan += step(4, "HASH GROUP BY", 990_300, 99_900_000) + step(900, " VIEW", 990_200, 99_500_000)
    plan += step(900, "  TABLE ACCESS FULL CUST", 200, 1_000)
    rows = ("Fetch", 2, 99.9, 990_300, 4)
    log = _statement("2kz8q0xw4m1cd", "select (select sum(u) from ev) from cust", rows)
    said = _said(log + PLAN[: PLAN.index("        18")] + plan + _overall(rows))
    assert ("`TABLE ACCESS FULL EV` took 98 % of its time" in said) == (inner == 990_000)


@pytest.mark.parametrize(("waited", "rows"), [(1_148.2, 135_000), (1_148.2, 9_000_000), (9.0, 135_000)])
def test_a_client_that_takes_the_time_comes_first(waited: float, rows: int) -> None:
    """Waits for the client longer than all calls, in the round trips of one statement: how many rows each brought."""
    calls = ("Execute", 1, 0.0, 0, 0), ("Fetch", 9000, 22.2, 137_000, rows)
    wait = _waits("SQL*Net message from client", waited)
    log = HEAD + _statement("2kz8q0xw4m1cd", "select * from ev", *calls) + wait + _overall(*calls) + wait
    found = iolab.findings(log.encode())
    own = found.filter(name="round_trips")
    assert own.height == (waited > 1_000)
    assert ("took 100 % of call time:" in _said(log.removeprefix(HEAD))) == (waited > 1_000)
    if own.height:
        assert own.item(0, "sentence").endswith(f"9,000 round trips of 128 ms, {rows // 9000:,} rows each.")
        assert own.item(0, "rank") < found.filter(name="main_statement").item(0, "rank")
        assert ("arraysize" in own.item(0, "next")) == (rows < 500 * 9000)


@pytest.mark.parametrize("is_beside", [True, False])
def test_row_sources_beyond_the_calls_of_a_statement_show_recursive_calls_apart(*, is_beside: bool) -> None:
    """Another statement has as many gets as the recursive one; the row sources of its caller tell where these are."""
    sources = "\nRows     Row Source Operation\n-------  " + "-" * 51 + "\n"
    sources += f"      4  HASH GROUP BY (cr={900_000 + 2_000 if is_beside else 2_000} pr=0 pw=0 time=5 us)\n"
    rows = ("Execute", 1, 0.0, 0, 0), ("Fetch", 2, 40.0, 900_000, 4)
    caller = ("Execute", 1, 0.0, 0, 0), ("Fetch", 2, 6.0, 2_000, 4)
    inner = ("Execute", 6000, 0.1, 0, 0), ("Fetch", 6000, 30.0, 900_000, 6000)
    text = _statement("2kz8q0xw4m1cd", "select sum(q) from lines", *rows)
    text += _statement("5kz8q0xw4m1cd", "select f(id) from orders", *caller) + sources
    text += _statement("9mq0zk8x4w2cd", "SELECT SUM(Q) FROM LINES WHERE ID = :B1", *inner)
    text += "Parsing user id: SYS   (recursive depth: 1)\n"
    text += _overall(("Execute", 2, 0.0, 0, 0), ("Fetch", 4, 46.0, 902_000, 8))
    text += _overall(*inner).replace("NON-RECURSIVE", "RECURSIVE")
    assert ("took 53 % of" in _said(text)) == is_beside, _said(text)


def test_a_block_that_waits_in_a_statement_that_it_calls_names_it_and_its_wait() -> None:
    """The update has less than half of the gets and all of the time; its wait is no wait for a CPU."""
    block = ("Execute", 212, 300.0, 27_000, 212)
    others, update = ("Execute", 900, 2.0, 16_000, 900), ("Execute", 2129, 290.0, 11_000, 2129)
    deep = "Parsing user id: 58   (recursive depth: 1)\n"
    text = _statement("2kz8q0xw4m1cd", "BEGIN p; END;", block).replace(
        "     300.00     300.00", "       2.00     300.00"
    )
    text += _waits("SQL*Net message to client", 0.0)
    text += _statement("9mq0zk8x4w2cd", "UPDATE BIN SET Q = 1", update).replace(
        "     290.00     290.00", "       1.00     290.00"
    )
    text += deep + _waits("enq: TX - row lock contention", 288.0)
    text += _statement("5mq0zk8x4w2cd", "SELECT 1 FROM LINES", others) + deep
    text += _overall(block).replace("     300.00     300.00", "       2.00     300.00")
    said = _said(text)
    assert "97 % of its time in `9mq0zk8x4w2cd` (2,129 executions), 9,000 waits for `enq: TX" in said
    assert "consistent with waiting for a CPU" not in said
