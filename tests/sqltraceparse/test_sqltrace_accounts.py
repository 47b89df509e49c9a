"""Where the time went: every microsecond once."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from iolab import ledger
from sqltraceparse import account_time, profile, read_sqltrace, statement_totals


@pytest.fixture(scope="module")
def session(write: Any) -> Any:  # noqa: ANN401
    """A long session of 19c."""
    return write("19.22.0.0.0", seed=7, rounds=25)


def test_the_profile_is_the_response_time(session: Any) -> None:  # noqa: ANN401
    """Its parts are what calls did and waits between them; shares are of that, and idle waits have none."""
    trace = read_sqltrace(session.text.encode())
    rows = profile(trace)
    busy = rows.filter(~pl.col("is_idle"))
    between = sum(elapsed for _, event, elapsed, call in session.waits if call is None and "from client" not in event)
    reads = [elapsed for _, event, elapsed, _ in session.waits if event == "db file sequential read"]
    read = rows.row(by_predicate=pl.col("component") == "db file sequential read", named=True)

    assert busy.get_column("total_us").sum() == sum(one.own_elapsed for one in session.done) + between
    assert busy.get_column("share").sum() == pytest.approx(1)
    assert rows.filter(pl.col("is_idle")).select("component", "share").rows() == [("SQL*Net message from client", None)]
    assert (read["calls"], read["total_us"], read["max_us"]) == (len(reads), sum(reads), max(reads))
    assert sorted(reads)[len(reads) // 2 - 1] <= read["p50_us"] <= sorted(reads)[len(reads) // 2]


def test_profiles_by_statement_add_up(session: Any) -> None:  # noqa: ANN401
    """The profile of each statement is a part of the whole."""
    trace = read_sqltrace(session.text.encode())
    whole = profile(trace).group_by("component").agg(pl.col("total_us").sum()).sort("component")
    parts = profile(trace, by=["sql_id"])

    assert whole.rows() == parts.group_by("component").agg(pl.col("total_us").sum()).sort("component").rows()
    assert parts.filter(~pl.col("is_idle")).group_by("sql_id").agg(pl.col("share").sum()).get_column(
        "share"
    ).to_list() == pytest.approx([1, 1, 1])


def test_no_shares_where_no_time_passed() -> None:
    """Shares of nothing are null, in the profile of all and of the statement whose calls took no time."""
    call = b"EXEC #%d:c=0,e=%d,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,plh=0,tim=1000\n"

    assert profile(read_sqltrace(call % (1, 0))).get_column("share").to_list() == [None, None]
    assert ledger(call % (1, 0)).void == "the records span no time"
    by_cursor = profile(read_sqltrace(call % (1, 0) + call % (2, 50)), by=["cursor"])
    assert set(by_cursor.select("cursor", "share").rows()) == {(1, None), (2, 1.0), (2, 0.0)}


def test_the_account_of_a_session(session: Any) -> None:  # noqa: ANN401
    """The span is CPU, waits and the rest of calls, idle time, other waits, and a gap that is named."""
    [row] = account_time(read_sqltrace(session.text.encode())).iter_rows(named=True)
    idle = sum(elapsed for _, event, elapsed, _ in session.waits if "from client" in event)

    assert row["cpu_us"] == sum(one.own_cpu for one in session.done)
    assert row["idle_us"] == idle
    assert row["span_us"] == sum(row[name] for name in row if name.endswith("_us") and name != "span_us")
    assert 0 <= row["gap_share"] < 0.001


def test_totals_of_statements(session: Any) -> None:  # noqa: ANN401
    """Calls by statement, with and without those below."""
    rows = statement_totals(read_sqltrace(session.text.encode()))
    by_text: dict[str, list[Any]] = {}
    for one in session.done:
        by_text.setdefault(one.statement.text, []).append(one)

    assert rows.height == len(by_text)
    for row in rows.iter_rows(named=True):
        calls = by_text[row["text"]]

        assert row["executions"] == sum(one.op == "EXEC" for one in calls)
        assert row["elapsed_us"] == sum(one.elapsed for one in calls if one.op != "CLOSE")
        assert row["own_elapsed_us"] == sum(one.own_elapsed for one in calls)
        assert row["own_disk_blocks"] == sum(one.own_disk for one in calls)
        assert row["own_wait_us"] == sum(one.own_wait for one in calls)


def test_waits_without_a_clock_that_are_sent_inside_a_call() -> None:
    """Before 10g waits have no tim: what is sent before the wait for the client is between calls, else in a call."""
    call = "{}:c=0,e={},p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=4,tim={}"
    to_client = "WAIT #1: nam='SQL*Net message to client' ela= {} p1=1 p2=1 p3=0"
    from_client = "WAIT #1: nam='SQL*Net message from client' ela= 700 p1=1 p2=1 p3=0"
    lines = [
        "PARSING IN CURSOR #1 len=15 dep=0 uid=5 oct=3 lid=5 tim=1000000 hv=1 ad='1'\nselect * from t\nEND OF STMT",
        call.format("EXEC #1", 50, 1000200),
        to_client.format(3),
        "WAIT #1: nam='db file sequential read' ela= 500 p1=1 p2=1 p3=1",
        call.format("FETCH #1", 900, 1001200),
        from_client,
        to_client.format(4),
        call.format("FETCH #1", 300, 1002300),
        to_client.format(5),
        from_client,
        call.format("FETCH #1", 100, 1003300),
    ]
    frames = read_sqltrace("\n".join([*lines, ""]).encode()).frames()

    assert frames["calls"]["own_wait_us"].to_list() == [0, 503, 4, 0]
    assert frames["waits"]["call_from"].to_list() == ["order", "order", None, "order", None, None]
