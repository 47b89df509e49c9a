"""What queries of v$ views listed is the answer of a session that is not timed, whatever its columns are called."""

from __future__ import annotations

import pytest

import iolab
from iolab.pages.summary import summarize
from iolab.pages.summary_text import summary_text

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
