"""The account of time of an SQL trace and of a TKPROF report: every part against a history that is known."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from ledger_checks import faults
from sample_scripts import sample_script
from tkprof_reports import HEADING

import iolab
from iolab.rules.time_parts import sentence
from iolab.time_ledger.sql_traces import BETWEEN, CALLS, CLIENT, GAP, LOB_TRIPS, TRIPS, UNFINISHED, sql_trace_ledgers
from iolab.time_ledger.tkprof import nesting_of, statements_of, tkprof_ledgers
from logframe import LogError
from sqltraceparse import read_sqltrace, read_tkprof, to_parquet

if TYPE_CHECKING:
    from pathlib import Path

    from iolab.time_ledger import Ledger

FROM_CLIENT = "SQL*Net message from client"


@pytest.fixture(scope="module")
def traced() -> Any:  # noqa: ANN401 - a script, as a module
    """The module that writes traces."""
    return sample_script("traced_session")


def wait(tim: int, ela: int, cursor: int = 1, event: str = FROM_CLIENT) -> str:
    """A wait that ends at a time."""
    return f"WAIT #{cursor}: nam='{event}' ela= {ela} driver id=1 #bytes=1 p3=0 obj#=3 tim={tim}\n"


def call(op: str, tim: int, e: int = 100, *, cursor: int = 1, c: int = 40, r: int = 10, dep: int = 0) -> str:
    """A call that ends at a time; a parse is a hard one."""
    if op == "CLOSE":
        return f"CLOSE #{cursor}:c={c},e={e},dep={dep},type=0,tim={tim}\n"
    misses = int(op == "PARSE")
    return f"{op} #{cursor}:c={c},e={e},p=0,cr=2,cu=0,mis={misses},r={r},dep={dep},og=1,plh=9,tim={tim}\n"


def lead(text: str) -> Ledger:
    """The lead ledger of a trace."""
    return sql_trace_ledgers(read_sqltrace(text.encode()))[0]


def times(ledger: Ledger, view: str = "what") -> dict[str, int]:
    """Microseconds of each part of a view."""
    return {name: round(1e6 * s) for name, s in ledger.parts(view).select("part", "seconds").iter_rows()}


def history(traced: Any, seed: int) -> tuple[Any, dict[str, Any]]:  # noqa: ANN401 - a module's session
    """A random session, and the microseconds of what happened outside calls: trips by statement, client, waits."""
    chance = random.Random(seed)  # noqa: S311 - data for tests
    made = traced.Session(chance.choice(["10.2.0.5.0", "11.2.0.4.0", "19.22.0.0.0"]), seed=seed)
    made.head()
    queries = [traced.Statement(f"update t{n}", 10 + n) for n in range(3)]
    inner = traced.Statement("select 1 from inner", 99, depth=1)
    truth: dict[str, Any] = {"trips": Counter(), "client": 0, "between": Counter()}

    def work(depth: int = 0) -> None:
        for _ in range(chance.randrange(4)):
            event = chance.choice(["db file sequential read", "db file scattered read", "log file sync"])
            made.wait(99 if depth else statement.cursor, event, chance.randrange(1, 9_000), (4, 7, 8))
        made.cpu(chance.randrange(500))
        made.lose(chance.choice([0, 0, chance.randrange(400)]))
        made.stack[-1].own_cpu += chance.choice([0, 0, 70])  # counted within a wait, too
        if not depth and chance.random() < 0.3:
            made.call("EXEC", inner, lambda: work(1))

    def think(us: int) -> None:
        made.think(us, statement.cursor)
        truth["between"]["SQL*Net message to client"] += 1

    def pause() -> None:
        made.now += chance.randrange(300)
        if chance.random() < 0.2:
            us = chance.randrange(1, 4_000)
            made.now += us
            made._wait(0, "log file sync", us, (1, 2, 3))  # noqa: SLF001 - a wait between calls
            truth["between"]["log file sync"] += us

    for _ in range(chance.randrange(2, 9)):
        statement = chance.choice(queries)
        made.call("PARSE", statement, lambda: made.cpu(30), misses=chance.randrange(2))
        pause()
        made.call("EXEC", statement, work)
        for _ in range(chance.randrange(6)):
            us = chance.randrange(1, 20_000)
            think(us)
            if made.version >= (11,) and chance.random() < 0.2:
                made.close(traced.Statement("of before", 77))  # on the way of the next fetch
            truth["trips"][statement.text] += us
            made.call("FETCH", statement, work, rows=10)
        us = chance.randrange(1, 90_000)
        think(us)
        truth["client"] += us
        pause()
    made.call("PARSE", queries[0], lambda: made.cpu(30))
    return made, truth


@pytest.mark.parametrize("seed", range(25))
def test_every_part_of_a_known_history(traced: Any, seed: int) -> None:  # noqa: ANN401
    """CPU, events, both signs of the rest, round trips, client, waits and gaps: to the microsecond, in all views."""
    made, truth = history(traced, seed)
    ledger = lead(made.text)
    what, phase, who = (times(ledger, view) for view in ("what", "phase", "who"))
    done = made.done
    rest = [one.own_elapsed - one.own_cpu - one.own_wait for one in done]
    events: Counter[str] = Counter()
    for _, event, us, of in made.waits:
        events[event] += us if of is not None else 0
    own = sum(one.own_elapsed for one in done)
    outside = sum(truth["trips"].values()) + truth["client"] + sum(truth["between"].values())
    span = max(made.now - 3, 0) - (made.boot)

    assert faults(ledger) == []
    assert (what[CALLS], what["CPU"]) == (own, sum(one.own_cpu for one in done))
    assert {name: what[name] for name, us in events.items() if us} == {name: us for name, us in events.items() if us}
    assert what["not accounted for"] == sum(max(0, one) for one in rest)
    assert what["counted twice"] == sum(min(0, one) for one in rest)
    assert (what.get(TRIPS, 0), what[CLIENT]) == (sum(truth["trips"].values()), truth["client"])
    assert what["waits between calls"] == sum(truth["between"].values())
    assert round(1e6 * ledger.total.value) == span  # type: ignore[union-attr]
    assert what[GAP] == phase[GAP] == who[GAP] == span - own - outside
    assert {op: us for op, us in phase.items() if op.isupper()} == {
        op: sum(one.own_elapsed for one in done if one.op == op) for op in {one.op for one in done}
    }
    for text in {one.statement.text for one in done if one.statement.depth == 0 and one.op != "CLOSE"}:
        calls = sum(one.own_elapsed for one in done if one.statement.text == text)
        [found] = [us for name, us in who.items() if name.endswith(text) and not name.startswith(("round", "calls"))]
        assert found == calls + truth["trips"][text]


@pytest.mark.parametrize(
    ("lines", "is_trip"),
    [
        ([call("EXEC", 1000), wait(9000, 8000), call("FETCH", 9100)], True),
        ([call("FETCH", 1000), wait(9000, 8000), call("FETCH", 9100)], True),
        ([call("FETCH", 1000), wait(9000, 8000), call("CLOSE", 9010, 5, cursor=4), call("FETCH", 9200)], True),
        ([call("FETCH", 1000), wait(9000, 8000), call("FETCH", 9050, 10, dep=1, cursor=5), call("FETCH", 9100)], True),
        ([call("FETCH", 1000), wait(9000, 8000), call("FETCH", 9100, cursor=2)], False),
        ([call("FETCH", 1000), wait(9000, 8000), call("EXEC", 9100)], False),
        ([call("PARSE", 1000), wait(9000, 8000), call("FETCH", 9100)], False),
        ([call("FETCH", 1000), wait(9000, 8000), call("PARSE", 9100)], False),
        ([call("FETCH", 1000), wait(9000, 8000)], False),
    ],
    ids=["exec", "fetch", "close on the way", "recursion", "other cursor", "exec again", "no exec", "parse", "end"],
)
def test_a_round_trip_is_a_structure(lines: list[str], *, is_trip: bool) -> None:
    """A wait for the client is a round trip where the next call of depth 0 fetches from the cursor of the last."""
    found = times(lead("".join(lines)))

    assert found.get(TRIPS, 0) == (8000 if is_trip else 0)
    assert found.get(CLIENT, 0) == (0 if is_trip else 8000)


def test_the_next_call_is_a_column_of_waits_however_a_trace_is_read(tmp_path: Path) -> None:
    """The link from a wait for the client is the same in memory and in parts; other waits have none."""
    lines = [call("EXEC", 1000)]
    for n in range(300):
        lines += [wait(n * 10_000 + 9_000, 8_000), wait(n * 10_000 + 9_040, 30, event="db file sequential read")]
        lines.append(call("FETCH", n * 10_000 + 9_100))
    data = "".join([*lines, wait(9_000_000, 5_000)]).encode()
    waits = read_sqltrace(data).waits
    files = to_parquet(data, tmp_path / "frames", batch_bytes=4_000)
    client = waits.filter(pl.col("event") == FROM_CLIENT)

    assert client.get_column("next_call").to_list() == [*range(4, 904, 3), None]
    assert waits.filter(pl.col("event") != FROM_CLIENT).get_column("next_call").null_count() == 300
    assert pl.read_parquet(files["waits"]).get_column("next_call").equals(waits.get_column("next_call"))


def test_shares_are_of_the_time_without_the_client() -> None:
    """One long wait after the last fetch is no work: it has no share, and the base says so."""
    long = call("FETCH", 5_000_000, 5_000_000) + wait(605_000_000, 600_000_000) + call("PARSE", 605_000_100)
    ledger = lead(long)
    shares = dict(ledger.parts().select("part", "share").iter_rows())

    assert ledger.work_base == "the 5.00 s without client time"
    assert shares[CLIENT] is None
    assert shares[CALLS] == pytest.approx(1)
    assert sum(share for name, share in shares.items() if name in {CALLS, GAP}) == pytest.approx(1)


SHORT = call("PARSE", 1_000_100) + call("EXEC", 1_000_200)
READ = "db file sequential read"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (SHORT + wait(1_050_000, 4_294_967_295, event=READ) + call("FETCH", 1_100_300, 100_000), "wait of 4,295 s"),
        (SHORT + wait(1_050_000, 40, event=READ) + call("FETCH", 1_100_300, 4_295_067_296), "line 4"),
        (SHORT + wait(1_050_000, 18_446_744_073_709_551_000, event=READ) + call("FETCH", 1_100_300, 100_000), "line 3"),
        (SHORT + wait(1_050_000, 40, event=READ) + call("FETCH", 1_100_300, 18_446_744_073_709_551_000), "line 4"),
        (SHORT + wait(1_050_000, -5, event=READ) + call("FETCH", 1_100_300, 100_000), "wait of -5 us"),
        (SHORT + wait(1_050_000, 40, event=READ) + call("FETCH", 1_100_300, -7), "call of -7 us"),
        (SHORT + wait(1_050_000, 40, event=READ) + call("FETCH", 1_100_300, 100_000, c=4_294_967_295), "of 4,295 s"),
        (call("FETCH", 90_000_000) + wait(90_000_900, 700) + SHORT + call("FETCH", 1_000_300), "two clocks"),
        (call("FETCH", 1_000_000) + wait(1_000_900, 700) + call("FETCH", 9_000_000), "records cover only"),
        (call("FETCH", 1_000_000, 0) + wait(1_000_000, 0), "span no time"),
    ],
    ids=["ela", "e", "ela 2^64", "e 2^64", "ela < 0", "e < 0", "c", "clocks", "coverage", "nothing"],
)
def test_void_traces_have_no_total(text: str, reason: str) -> None:
    """Counters that overflowed, clocks that run back and lines that are missing give no total, and the reason first."""
    log = iolab.load(text.encode())
    ledger = iolab.ledger(log)
    found = iolab.findings(log)

    assert ledger.total is None
    assert reason in ledger.void
    assert found.item(0, "name") in {"no_total", "trace_clock"}
    assert reason in " ".join(found.filter(name="no_total").get_column("sentence"))
    assert found.filter(pl.col("impact").is_not_null()).is_empty()


def test_numbers_that_overflowed_do_not_hide_the_rest_of_a_line() -> None:
    """A call whose time has 20 digits keeps its depth and its end; the diagnostic says what is wrong with it."""
    trace = read_sqltrace((SHORT + call("FETCH", 1_100_300, 18_446_744_073_709_551_000)).encode())

    assert trace.calls.select("depth", "elapsed_us", "tim_us").row(2) == (0, None, 1_100_300)
    assert trace.diagnostics.get_column("kind").to_list() == ["overflow"]


def test_sessions_have_ledgers_of_their_own() -> None:
    """Times of the sessions of a shared server are not added; the longest session leads."""
    lines = ["Unix process pid: 7, image: oracle@h (S000)\n"]
    for number, session in enumerate(["10.1", "20.2", "10.1", "20.2"]):
        lines += [f"*** SESSION ID:({session}) 2026-03-02 21:00:00.000\n"]
        lines += [call("EXEC", (number + 1) * 100_000, 90_000 + number * 1_000)]
    lines += [wait(500_000, 99_000), call("EXEC", 500_100)]
    found = sql_trace_ledgers(read_sqltrace("".join(lines).encode()))

    assert [(one.scope, one.total.value, one.void) for one in found if one.total] == [
        ("session 20.2", pytest.approx(0.3911), ""),
        ("session 10.1", pytest.approx(0.29), ""),
    ]
    assert all("2 sessions" in one.text for one in found)


def test_a_trace_without_waits_accounts_for_its_calls() -> None:
    """Level 1: the time between calls is not in the trace, so that the total is that of the calls."""
    ledger = lead(call("EXEC", 100_000, 90_000, c=60_000) + call("FETCH", 9_000_000, 90_000, c=60_000))
    parts = dict(ledger.parts().select("name", "kind").iter_rows())

    assert (ledger.base, ledger.total.value) == ("database calls", pytest.approx(0.18))  # type: ignore[union-attr]
    assert parts["waits, which are not in the trace (level 1 or 4)"] == "not_in_log"


def parsed(number: int, text: str, sql_id: str, *, uid: int = 50, dep: int = 0) -> str:
    """The header of a statement."""
    head = f"PARSING IN CURSOR #{number} len={len(text)} dep={dep} uid={uid} oct=3 lid=0 tim=1 hv=1 ad='1'"
    return f"=====================\n{head} sqlid='{sql_id}'\n{text}\nEND OF STMT\n"


def test_statements_that_differ_in_literals_are_one_part_and_said_first() -> None:
    """1,500 texts, each parsed anew: one statement with their number, and the hard parses are the first of its kind."""
    lines = []
    for n in range(1_500):
        at = (n + 1) * 10_000
        lines.append(parsed(2, f"delete t where id={n} and s='it''s {n}'", f"{n:013d}"))
        lines += [call("PARSE", at, 8_000, cursor=2, c=7_000), call("EXEC", at + 200, 100, cursor=2)]
        lines += [wait(at + 1_900, 1_600, cursor=2)]
    log = iolab.load("".join([*lines, call("EXEC", 15_002_000, cursor=2)]).encode())
    [row] = [one for one in iolab.ledger(log).parts("who").to_dicts() if one["name"].startswith("1,500")]
    [found] = iolab.findings(log).filter(name="hard_parses", part=row["part"]).to_dicts()

    assert row["name"] == "1,500 statements alike: delete t where id=:x and s=:x"
    assert row["share"] > 0.95
    assert found["sentence"].startswith("1,500 statements that differ only in literals took 9")
    assert "1,500 hard parses" in found["sentence"]
    assert "bind variables" in found["next"]
    assert iolab.findings(log).filter(pl.col("sentence").str.starts_with("Parsing took")).height == 1


def test_the_time_of_a_parse_is_with_the_recursive_statements_in_it() -> None:
    """20 parses of 100 ms hold recursive statements of 60 ms, one of which is parsed itself: 2 s, 1.2 s in those."""
    lines = []
    for n in range(20):
        at = (n + 1) * 200_000
        lines += [parsed(2, f"/* DS_SVC */ {n}", f"b{n:012d}", uid=0, dep=1)]
        lines += [call("PARSE", at - 50_000, 10_000, cursor=2, dep=1), call("FETCH", at, 50_000, cursor=2, dep=1)]
        lines += [parsed(1, f"x where id={n}", f"a{n:012d}"), call("PARSE", at + 10_000, 100_000)]
        lines += [call("EXEC", at + 10_200, 100)]
    found = iolab.findings(iolab.load("".join(lines).encode())).filter(name="hard_parses")
    said = " ".join(found.sort("impact", descending=True).get_column("sentence"))

    assert "20 hard parses, 2 s, 1.20 s of it in recursive statements." in said
    assert "20 hard parses, 800 ms in parsing, 2 s with the recursive statements in it." in said


def test_recursive_sql_of_the_dictionary_is_one_part() -> None:
    """Statements of SYS that others called stand together; statements that PL/SQL called stand for themselves."""
    text = parsed(1, "begin p; end;", "aaaaaaaaaaaa1") + parsed(2, "select 1 from obj$", "bbbbbbbbbbbb2", uid=0, dep=1)
    text += parsed(3, "select 1 from mine", "cccccccccccc3", dep=1)
    text += call("EXEC", 30_000, 20_000, cursor=2, dep=1) + call("EXEC", 90_000, 50_000, cursor=3, dep=1)
    ledger = lead(text + call("EXEC", 100_000, 99_000) + wait(100_010, 5))
    parts = dict(ledger.parts("who").select("name", "parent").iter_rows())

    assert parts["bbbbbbbbbbbb2 select 1 from obj$"] == "recursive SQL of SYS"
    assert parts["cccccccccccc3 select 1 from mine"] is None
    assert times(ledger, "who")["recursive SQL of SYS"] == 20_000


def test_round_trips_come_before_the_calls_of_a_slow_network() -> None:
    """129 s of fetches of 10 rows: the statement and its round trips, rows of a fetch and the array size come first."""
    lines = [parsed(1, "select id from t", "aaaaaaaaaaaa1"), call("EXEC", 900)]
    for n in range(2_000):
        lines += [wait(13_000 * n + 13_000, 12_000), call("FETCH", 13_000 * n + 13_060, 50)]
    found = iolab.findings(iolab.load("".join(lines).encode()))
    [trips] = found.filter(part=TRIPS).to_dicts()

    assert {"round_trips", "main_statement"} >= set(found.get_column("name")[1:3])
    assert (
        "of `aaaaaaaaaaaa1` took 24 s, 92 % of the time: 2,000 round trips of 12 ms, 10 rows each." in trips["sentence"]
    )
    assert "set arraysize 500" in trips["next"]
    assert "at least 24 s is the constant cost of round trips" in trips["detail"]


def test_rows_sent_one_by_one_are_said_of_the_client() -> None:
    """Executions of one statement with a wait for the client before each: application and network, but in batches."""
    lines = [parsed(1, "insert into t values (:1)", "aaaaaaaaaaaa1")]
    for n in range(100):
        lines += [call("EXEC", 13_000 * n + 900, r=1), wait(13_000 * n + 13_000, 12_000)]
    found = iolab.findings(iolab.load("".join([*lines, call("EXEC", 1_301_000)]).encode()))
    [client] = [one for one in found.filter(part=CLIENT).to_dicts() if one["detail"]]

    assert "; 100 of them, 12 ms each, were before " in client["sentence"]
    assert "batches" in client["next"]


@pytest.mark.parametrize(
    ("text", "event", "advice"),
    [
        ("commit", "log file sync", "take an AWR report"),
        ("update t set a = 1", "enq: TX - row lock contention", "see who held the lock"),
        ("select 1 from big order by 1", "direct path write temp", "look in V$SQL_WORKAREA"),
        ("select 1 from t", "PX Deq: Execute Reply", "read the traces of the parallel servers"),
        ("begin p; end;", "PL/SQL lock timer", "see the code that calls DBMS_SESSION.SLEEP"),
        ("select 1 from t@far", "SQL*Net message from dblink", "take an SQL trace of the session in the remote"),
        ("/*+ x */ select 1 from t", "db file sequential read", "see the plan: select"),
        ("begin p; end;", "db file sequential read", "see its calls and waits: iolab show --tables"),
    ],
)
def test_what_to_do_next_is_of_the_wait(text: str, event: str, advice: str) -> None:
    """A commit and a block of PL/SQL have no plan; a lock, a sort on disk or another session is not seen in one."""
    lines = [
        parsed(1, text, "aaaaaaaaaaaa1"),
        wait(9_000_000, 8_900_000, event=event),
        call("EXEC", 9_000_100, 8_999_000),
    ]
    found = iolab.findings(iolab.load("".join(lines).encode()))
    step = found.filter(name="main_statement").item(0, "next")

    assert step.startswith(advice)


def test_parses_of_a_statement_are_said_of_it() -> None:
    """A statement that is parsed anew for each execution: its plan is no matter; in TKPROF as in the trace."""
    lines = [parsed(2, "select q from s where k = :1", "0n4y7m2cz9k1v")]
    for n in range(1, 401):
        lines += [call("PARSE", n * 10_000, 9_000, cursor=2, c=8_900), call("EXEC", n * 10_000 + 200, 100, cursor=2)]
    own = (
        HEADING
        + """Parse      400      3.56       3.60          0          0          0           0
Execute    400      0.04       0.04          0        800          0         400
------- ------  -------- ---------- ---------- ---------- ----------  ----------
total      800      3.60       3.64          0        800          0         400

Misses in library cache during parse: 400
"""
    )
    text = f"TKPROF: Release 19.0.0.0.0 - Development on Mon Mar 1 10:00:00 2021\n\n{'*' * 80}\n\n"
    text += f"SQL ID: 0n4y7m2cz9k1v Plan Hash: 9\n\nselect q\nfrom s where k = :1\n\n\n{own}\n{'*' * 80}\n"
    for log in ("".join(lines), text):
        found = iolab.findings(iolab.load(log.encode())).filter(name="main_statement")

        assert ": 400 hard parses, 3.6" in found.item(0, "sentence")
        assert found.item(0, "next").startswith("see why its cursor was not shared")
        assert "0n4y7m2cz9k1v" in found.item(0, "next")


@pytest.mark.parametrize("waits", [1, 2])
def test_one_long_wait_makes_no_mean_of_executions(waits: int) -> None:
    """Three executions, one of which waited: what it waited is said, not a third of it for each."""
    event = "enq: TX - row lock contention"
    lines = [parsed(1, "update t set a = 1", "aaaaaaaaaaaa1"), call("EXEC", 1_000)]
    lines += [wait(1_900 + n, 1, event=event) for n in range(waits - 1)]
    lines += [wait(90_000_000, 89_998_000, event=event), call("EXEC", 90_000_100, 89_998_500)]
    log = "".join([*lines, call("EXEC", 90_000_300)])
    (said,) = iolab.findings(iolab.load(log.encode())).filter(name="main_statement")["sentence"]

    assert f": 3 executions, {'1 wait of 90.0 s' if waits == 1 else '2 waits (the longest 90.0 s)'} for" in said


def test_a_session_that_waited_for_its_client_is_idle() -> None:
    """Three hours with 300 us of work: no shares are spoken of, all but so much is the client's."""
    log = iolab.load(
        (call("EXEC", 900) + wait(10_800_000_900, 10_800_000_000) + call("CLOSE", 10_800_001_000)).encode()
    )
    ledger, found = iolab.ledger(log), iolab.findings(log)
    [client] = found.filter(part=CLIENT).to_dicts()

    assert ledger.text == "the session took 10,800 s; all but 200 us was client time between statements"
    assert client["sentence"].startswith(
        "Between statements, the session waited 99.9 % of 10,800 s for its client: 1 wait ("
    )
    assert client["next"].startswith("see what the client did between its calls")


def test_a_few_short_round_trips_are_not_said() -> None:
    """One round trip of 200 us in 250 s is no fact."""
    text = call("EXEC", 900) + wait(1_200, 200) + call("FETCH", 250_000_000, 249_998_000, c=249_000_000)

    assert "round_trips" not in iolab.findings(iolab.load(text.encode())).get_column("name").to_list()


# ----------------------------------------------------------------------------------------------------------- TKPROF


def table(elapsed: float, *, cpu: float, gets: int, calls: int = 10) -> str:
    """A table of calls, nearly all of it fetching."""
    row = "{:<7}{:>7}{:>10.2f}{:>11.2f}{:>11}{:>11}{:>11}{:>12}\n".format
    rows = [("Parse", 1, 0.0, 0.0, 0), ("Execute", 1, 0.0, 0.0, 0), ("Fetch", calls - 2, cpu, elapsed, gets)]
    ruler = HEADING.splitlines()[1] + "\n"
    body = "".join(row(name, count, c, e, 0, g, 0, 0) for name, count, c, e, g in rows)
    return HEADING + body + ruler + row("total", calls, cpu, elapsed, 0, gets, 0, 0)


def report(*statements: tuple[str, int, str], overall: tuple[str, str | None] | None) -> bytes:
    """A TKPROF report of statements (text, depth, table and what follows it), with overall totals."""
    stars = "*" * 80 + "\n"
    parts = [
        "TKPROF: Release 19.0.0.0.0 - Development on Mon Mar 2 23:40:11 2026\n\nTrace file: d_ora_1.trc\n\n",
        stars,
    ]
    for text, depth, figures in statements:
        of = f"     (recursive depth: {depth})" if depth else ""
        parts += [f"\n{text}\n\n\n{figures}\nParsing user id: 108{of}\n", stars]
    if overall is not None:
        parts += ["\nOVERALL TOTALS FOR ALL NON-RECURSIVE STATEMENTS\n\n", overall[0]]
        if overall[1] is not None:
            parts += ["\n\nOVERALL TOTALS FOR ALL RECURSIVE STATEMENTS\n\n", overall[1]]
    return "".join(parts).encode()


BLOCK, INNER, OTHER = "begin p; end;", "select sum(a) from t", "select 1 from other"


@pytest.mark.parametrize(
    ("gets", "inner", "kind", "total"),
    [
        ((100_300, 100_000), (4.0, 5.0), "inside", (5.0, 5.01)),
        ((99_990, 100_000), (4.0, 3.0), "unknown", (4.0, 7.02)),
        ((40, 100_000), (4.0, 3.0), "apart", (7.0, 7.02)),
        ((500_000, 100_000), (4.0, 3.0), "unknown", (4.0, 7.02)),
        ((500_000, 100_000), (4.0, 9.0), "apart", (13.0, 13.02)),
        ((500_000, 12), (4.0, 3.0), "unknown", (4.0, 7.02)),
    ],
)
def test_recursive_statements_are_inside_or_apart_by_their_gets(
    gets: tuple[int, int], inner: tuple[float, float], kind: str, total: tuple[float, float]
) -> None:
    """A statement with the gets of the recursive ones, and no fewer, contains them; more gets or time do not fit."""
    outer = inner[0] + 1.0 if kind == "inside" else inner[0]
    own = inner[0] if kind == "inside" else inner[1]
    first = table(outer, cpu=outer - 0.5, gets=gets[0])
    second = table(own, cpu=own - 0.5, gets=gets[1])
    found = read_tkprof(report((BLOCK, 0, first), (INNER, 1, second), overall=(first, second)))
    [ledger] = tkprof_ledgers(found)
    parts = dict(ledger.parts("who").select("name", "parent").iter_rows())
    [name] = [one for one in parts if one.endswith(INNER)] or [""]

    assert nesting_of(found, statements_of(found)).kind == kind
    assert faults(ledger) == []
    assert (ledger.total.lo, ledger.total.hi) == pytest.approx(total)  # type: ignore[union-attr]
    if kind == "inside":
        assert str(parts[name]).endswith(BLOCK)
    elif kind == "apart":
        assert parts[name] is None
    else:
        assert parts["recursive statements, inside the others or beside them"] is None


@pytest.mark.parametrize(("gets", "is_named"), [((60_000, 40_000), True), ((50_000, 50_000), False)])
def test_the_statement_that_makes_the_gets_of_a_block_is_named(gets: tuple[int, int], *, is_named: bool) -> None:
    """A block that contains two statements: the one with most of its gets stands in the block's sentence."""
    tables = [table(5.0, cpu=4.9, gets=100_000), *(table(2.0, cpu=1.9, gets=one) for one in gets)]
    both = table(4.0, cpu=3.8, gets=100_000)
    statements = [(text, int(n > 0), tables[n]) for n, text in enumerate((BLOCK, INNER, OTHER))]
    found = iolab.findings(read_tkprof(report(*statements, overall=(tables[0], both))))
    said = found.filter(name="main_statement").item(0, "sentence")

    assert ("60 % of them by" in said) is is_named


def test_waits_of_a_report_without_an_overall_list_are_those_of_its_statements() -> None:
    """The rest is then within the rounding of the report, not most of its time; clients' waits are no part of it."""
    waits = """
Elapsed times include waiting on following events:
  Event waited on                             Times   Max. Wait  Total Waited
  ----------------------------------------   Waited  ----------  ------------
  db file sequential read                       894        0.00          {:.2f}
  SQL*Net message from client                    60        9.00         99.00
"""
    one, two = table(2.00, cpu=0.5, gets=9), table(1.00, cpu=0.3, gets=9)
    log = read_tkprof(
        report(
            (INNER, 0, one + waits.format(1.50)),
            (OTHER, 0, two + waits.format(0.70)),
            overall=(table(3.00, cpu=0.8, gets=18, calls=20), None),
        )
    )
    [ledger] = tkprof_ledgers(log)
    parts = {row["name"]: row for row in ledger.parts().to_dicts()}
    found = iolab.findings(log)

    assert parts["db file sequential read"]["seconds"] == pytest.approx(2.2)
    assert parts["db file sequential read"]["count"] == 1_788
    assert abs(parts["not accounted for (within rounding)"]["seconds"]) < 0.01
    assert "SQL*Net message from client" not in parts
    assert "; between calls, the session waited 198 s for its client, 120 times, 1.65 s each" in ledger.text
    assert found.filter(name="client_time").is_empty()
    [culprit] = found.filter(name="main_statement").head(1).to_dicts()
    assert "took 67 % of call time" in culprit["sentence"]
    assert INNER in culprit["detail"]


def test_a_report_of_times_below_its_steps_has_no_shares() -> None:
    """0.00 is up to 10 ms: said as a bound, never as no time."""
    [ledger] = tkprof_ledgers(
        read_tkprof(report((OTHER, 0, table(0, cpu=0, gets=9)), overall=(table(0, cpu=0, gets=9), None)))
    )

    assert ledger.text.startswith("calls of the session took at most 0.01 s")
    assert ledger.parts().get_column("share").null_count() == ledger.parts().height


def test_what_exceeds_a_total_of_nothing_is_in_seconds() -> None:
    """CPU time of calls that took 0.00 s is no share of their time."""
    figures = table(0, cpu=0.01, gets=9)
    [ledger] = tkprof_ledgers(read_tkprof(report((OTHER, 0, figures), overall=(figures, None))))
    said = [sentence(ledger, row) for row in ledger.parts().filter(kind="counted_twice").to_dicts()]

    assert len(said) == 1
    assert "%" not in said[0]
    assert " ms" in said[0]
    assert "beside a total of 0" in ledger.what_if("CPU", factor=0.5).caution


EVENTS = """
Elapsed times include waiting on following events:
  Event waited on                             Times   Max. Wait  Total Waited
  ----------------------------------------   Waited  ----------  ------------
"""


@pytest.mark.parametrize(
    ("event", "seconds", "is_inside"),
    [
        ("PX Deq: Execute Reply", 59.80, True),
        ("SQL*Net message from dblink", 59.80, True),
        ("PL/SQL lock timer", 59.80, True),
        ("jobq slave wait", 3600.0, False),
        ("SQL*Net message from client", 5.0, False),
    ],
)
def test_idle_waits_that_fit_into_the_calls_are_in_them(event: str, seconds: float, *, is_inside: bool) -> None:
    """Waits for parallel servers, another database or a timer are within calls; the client's is always between."""
    line = f"  {event:<42}{60:>7}{1.0:>12.2f}{seconds:>14.2f}\n"
    line += f"  {'SQL*Net message from client':<42}{9:>7}{1.0:>12.2f}{700.0:>14.2f}\n" if is_inside else ""
    log = read_tkprof(report((INNER, 0, table(60.7, cpu=0.88, gets=300) + EVENTS + line), overall=None))
    [ledger] = tkprof_ledgers(log)
    found = iolab.findings(log)
    said = " ".join(found.get_column("sentence"))

    assert (event in ledger.parts().get_column("name")) is is_inside
    assert faults(ledger) == []
    assert (f"60 waits for `{event}`" in said) is is_inside  # of the statement, however long it waited for its client
    assert ("session waited 700 s for its client, 9 times" in said) is is_inside


def test_parsing_of_a_report_is_said() -> None:
    """Parse calls with a tenth of the time or more have a sentence of their own."""
    parse, fetch = ("Parse", 300, 12.10, 14.90), ("Fetch", 600, 1.10, 1.60)
    row = "{:<7}{:>7}{:>10.2f}{:>11.2f}{:>11}{:>11}{:>11}{:>12}\n".format
    total = ("total", 900, 13.20, 16.50)
    ruler = HEADING.splitlines()[1] + "\n"
    figures = HEADING + row(*parse, 0, 9, 0, 0) + row(*fetch, 0, 9, 0, 9) + ruler + row(*total, 0, 18, 0, 9)
    found = iolab.findings(read_tkprof(report((INNER, 0, figures), overall=(figures, None))))
    [one] = found.filter(part="Parse").to_dicts()

    assert one["sentence"].startswith("Parsing took 90 % of call time: 300 calls, ")
    assert one["name"] == "hard_parses"


# ------------------------------------------------------------------------------------------------------------ corpus


@pytest.mark.corpus
def test_traces_and_reports_of_the_corpus_close(corpus: Path) -> None:
    """Sessions of dedicated servers close within 10 % unless they are of 2 ms; spliced ones are void; reports agree."""
    gaps: list[tuple[float, float]] = []
    void = reports = 0
    for path in sorted((corpus / "sqltrace").iterdir()):
        try:
            log = iolab.load(path)
        except LogError:
            continue
        for one in iolab.ledgers(log):
            assert faults(one) == [], path.name
            void += bool(one.void)
            if log.format == "tkprof":
                reports += bool(one.checks.get_column("holds").all())
            elif not one.void and "_ora_" in path.name and one.total is not None:
                gap = one.parts().filter(pl.col("level") == 0, pl.col("kind").is_in(["gap", "counted_twice"]))
                gaps.append((abs(gap.get_column("seconds").sum()) / one.total.value, one.total.value))

    assert (void, reports) == (3, 8)
    assert len(gaps) == 16
    assert sum(gap <= 0.01 for gap, _ in gaps) == 10
    assert [round(total, 4) for gap, total in gaps if gap > 0.1] == [0.002, 0.0015]


def test_a_statement_that_waited_for_a_log_switch_is_no_matter_of_its_plan() -> None:
    """The largest wait of a statement says what to look at: its plan does not change a log switch."""
    event = "log file switch (checkpoint incomplete)"
    lines = [parsed(1, "insert into t values (1)", "aaaaaaaaaaaa1")]
    lines += [wait(1_000_000, 990_000, event=event), call("EXEC", 1_000_050, 1_000_000)]
    found = iolab.findings(iolab.load("".join(lines).encode()))
    steps = found.filter(name="main_statement").get_column("next").to_list()

    assert steps
    assert all("v$log" in step and "plan" not in step for step in steps)


@pytest.mark.parametrize(("failed", "said"), [(40, "40 statements failed"), (1, "1 statement failed")])
def test_statements_that_were_not_parsed_are_said(failed: int, said: str) -> None:
    """A flood of statements with an error is a fact of the trace, also where it has no total; one alone is, too."""
    line = "PARSE ERROR #3:len={} dep=0 uid=88 oct=3 lid=88 tim={} err=942\n{}\n"
    text = "".join(line.format(len(one), 1_000 * n, one) for n, one in enumerate(["select 1 from gone"] * failed))
    found = iolab.findings(iolab.load((text + wait(41_000, 900) + call("EXEC", 42_000)).encode()))

    times = f"{said} to parse: ORA-00942 {failed} time{'s' * (failed > 1)}."
    assert times in found.get_column("sentence").to_list()


def test_waits_of_a_call_that_did_not_end_are_its_statement_s() -> None:
    """Below the last call waits of its cursor are of one that did not end; those of a commit, or no cursor, are not."""
    text = parsed(1, "select 1 from big", "aaaaaaaaaaaa1") + call("EXEC", 1_000)
    cut = text + "".join(wait(1_000 + 900 * n, 890, event=READ) for n in range(1, 40))
    ledger = lead(cut)

    assert times(ledger)[UNFINISHED] == 39 * 890
    assert BETWEEN not in times(ledger)
    assert times(ledger, "who")["aaaaaaaaaaaa1 select 1 from big"] == 39 * 890 + 100
    assert not faults(ledger)
    for other in (wait(1_900, 890, event="log file sync"), wait(1_900, 890, cursor=0, event=READ)):
        assert UNFINISHED not in times(lead(text + other))
    assert UNFINISHED not in times(lead(cut + call("FETCH", 40_000, 39_000)))


@pytest.mark.parametrize("each", [500, 5_000])
def test_what_the_client_took_between_calls_on_lobs_is_of_the_lobs(each: int) -> None:
    """A statement has the round trips between its fetches; those after a call on a LOB are none of its own."""
    lob = "LOBREAD: type=PERSISTENT LOB,bytes=32512,c=12,e=2000,p=4,cr=2,cu=0,tim={}\n"
    text, tim = parsed(1, "select id, body from document", "aaaaaaaaaaaa1") + call("EXEC", 1_000), 2_000
    for _ in range(20):
        text += call("FETCH", tim, r=1) + wait(tim + 800, 700)
        for _ in range(9):
            tim += 3_000 + each
            text += lob.format(tim - each - 100) + wait(tim, each, cursor=0)
        tim += 200
    ledger = lead(text + call("FETCH", tim, r=0) + call("CLOSE", tim + 90))
    found = iolab.findings(iolab.load(text.encode()))

    assert times(ledger)[TRIPS] == 20 * 700
    assert times(ledger)[LOB_TRIPS] == 180 * each
    assert times(ledger, "who")["calls on LOBs"] == 180 * (2_000 + each)
    assert not faults(ledger)
    [said] = found.filter(name="main_statement").get_column("sentence")
    assert said.startswith("Calls on LOBs took")
    assert "179 round trips (" in said
    assert not found.get_column("sentence").str.contains("`aaaaaaaaaaaa1` took").any()


def test_the_step_of_a_plan_stands_beside_work_on_a_processor() -> None:
    """A statement whose time is CPU names the step of its plan, as far as that took the time."""

    def said(us: int) -> str:
        rows = "STAT #1 id=1 cnt=1 pid=0 pos=1 obj=0 op='SORT AGGREGATE (cr=48122 pr=0 pw=0 time={} us)'\n"
        rows += "STAT #1 id=2 cnt=5 pid=1 pos=1 obj=7 op='TABLE ACCESS FULL EVENTS (cr=48122 pr=0 pw=0 time={} us)'\n"
        run = "FETCH #1:c=800000,e=800000,p=0,cr=48122,cu=0,mis=0,r=1,dep=0,og=1,plh=9,tim=900000\n"
        text = parsed(1, "select 1 from events", "aaaaaaaaaaaa1") + call("EXEC", 1_000) + run + wait(901_000, 900)
        found = iolab.findings(iolab.load((text + rows.format(us, us - 9)).encode()))
        return str(found.filter(name="main_statement").item(0, "sentence"))

    # 790 ms of the 801 ms of the statement, not of the 790 ms of its plan
    assert said(790_000).endswith(" `TABLE ACCESS FULL EVENTS` took 99 % of its time: 48,122 gets for 5 rows.")
    assert said(601_000).endswith(" `TABLE ACCESS FULL EVENTS` took 75 % of its time: 48,122 gets for 5 rows.")
    assert "EVENTS" not in said(7_000)


def test_a_step_that_a_nested_loop_executes_is_said_with_its_rows() -> None:
    """A remote table read for each row of another: the rows that the optimizer did not expect, and what to do."""
    plan = "".join(
        f"STAT #1 id={n} cnt=500 pid={n > 1:d} pos={max(1, n - 1)} obj=0 op='{name} (cr=50 pr=0 pw=0 str={starts} "
        f"time={us} us cost=1 size=1 card=1)'\n"
        for n, (name, starts, us) in enumerate(
            (("NESTED LOOPS ", 1, 2_000_000), ("TABLE ACCESS FULL ORDERS", 1, 9_000), ("REMOTE  CUST", 500, 1_980_000)),
            start=1,
        )
    )
    link = "SQL*Net message from dblink"
    lines = [parsed(1, "select 1 from orders", "aaaaaaaaaaaa1"), call("EXEC", 1_000)]
    lines += [wait(2_000 + n * 4_000, 3_960, event=link) for n in range(1, 501)]
    lines += [call("FETCH", 2_010_000, 2_005_000), wait(2_011_000, 900), plan]
    [found] = iolab.findings(iolab.load("".join(lines).encode())).filter(name="main_statement").to_dicts()

    rows = "for each of the 500 rows of `TABLE ACCESS FULL ORDERS` (1 expected)"
    assert found["sentence"].endswith(f" `REMOTE CUST` took 99 % of its time, {rows}.")
    assert "driving_site" in found["next"]


def test_date_lines_that_differ_from_tim_are_no_sign_of_lines_that_were_moved() -> None:
    """Where `tim` runs on at another speed the distance is stated, and is no problem of the evidence."""
    lines = []
    for second in range(0, 12, 2):
        tim = 1_000_000_000 + round(second * 0.9e6)
        lines += [
            f"*** 2026-03-02 21:00:{second:02}.000",
            f"EXEC #3:c=5,e=9,p=0,cr=1,cu=0,mis=0,r=1,dep=0,og=1,tim={tim}",
        ]
    found = iolab.findings(iolab.load("\n".join(lines).encode())).filter(name="trace_clock").row(0, named=True)

    assert found["sentence"] == "`tim` advances 0.9 times as fast as the date lines (***), which are 10.0 s apart."
    assert found["mark"] == "context"


def test_a_session_with_little_work_is_its_client_s() -> None:
    """One per cent of the time, and less than a second of it, is given no shares."""
    few = lead(call("EXEC", 20_000, 20_000) + wait(5_020_000, 5_000_000) + call("EXEC", 5_021_000))
    more = lead(call("EXEC", 20_000, 20_000) + wait(1_020_000, 1_000_000) + call("EXEC", 1_021_000))

    assert few.text.endswith("s; all but 21.0 ms was client time between statements")
    assert few.unshared
    assert not more.unshared


def test_a_parse_of_the_client_is_in_no_other_call() -> None:
    """Its end and the begin of the next one, computed from its time, overlap by a clock that is not exact."""
    text = ""
    for n in range(1, 21):
        text += parsed(1, f"x where id={n}", f"{n:013d}")
        text += call("PARSE", n * 100_000, 100_300) + call("EXEC", n * 100_000 + 50, 40)
    found = iolab.findings(iolab.load(text.encode())).filter(pl.col("sentence").str.starts_with("Parsing took"))
    assert "20 hard parses" in found.item(0, "sentence")
