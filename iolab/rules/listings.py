"""What queries of v$ views listed that is no account of time: log switches, and what sessions wait for."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import TYPE_CHECKING, Final

from iolab.rules.finding import Evidence, Finding
from iolab.rules.phrases import counted, seconds, three
from iolab.time_ledger.next_steps import HOLDER, event_step
from logframe.oracle import is_idle, wait_class_of
from sqlplusparse import queried_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlplusparse import Queried, Spool

_SWITCHES: Final = frozenset({"v$log_history", "gv$log_history", "v$loghist", "v$archived_log", "gv$archived_log"})
_NEXT_SWITCHES: Final = event_step("log file switch")
#: A matrix of switches has a column for each hour of the day.
_HOURS: Final = 24
#: How long a session has waited, and the unit in s.
_WAITING: Final = {"seconds_in_wait": 1.0, "wait_time_micro": 1e-6, "time_since_last_wait_micro": 1e-6}
_OF_SESSIONS: Final = frozenset({"v$session", "gv$session", "v$session_wait", "gv$session_wait"})
#: Columns of views in which a session has a row for each event, or each sample.
_OF_OTHERS: Final = ("total_waits", "time_waited", "sample_time", "sample_id")
_LEAST_SESSIONS: Final = 2


def listed(spool: Spool) -> Iterator[Finding]:
    r"""The findings of the listings of a session.

    Examples:
        >>> import sqlplusparse
        >>> text = "SQL> select to_char(first_time,'DD HH24') hr, count(*) n from v$log_history group by 1;\n\n"
        >>> text += "HR             N\n----- ----------\n18 08          5\n18 09        211\n18 10          7\n"
        >>> for one in listed(sqlplusparse.read_spool(text.encode())): print(one.sentence)
        Log switches were most frequent at `18 09`: 211 per hour, one every 17.1 s; the median is 7 per hour.
        >>> text = "SQL> select sid, event, seconds_in_wait from v$session;\n\n"
        >>> text += "       SID EVENT                SECONDS_IN_WAIT\n---------- -------------------- ---------------\n"
        >>> text += "        12 latch free                        20\n        13 latch free                        30\n"
        >>> for one in listed(sqlplusparse.read_spool(text.encode())): print(one.sentence)
        2 of 2 listed sessions waited for `latch free`, the longest for 30 s.
    """
    for one in queried_tables(spool):
        yield from _switches(one)
        yield from _sessions(one)


def _switches(one: Queried) -> Iterator[Finding]:
    """The hour with most switches, of a list of hours, or of days with a column for each hour."""
    if not one.words & _SWITCHES or not one.rows:
        return
    names = [column.heading.strip() for column in one.columns]
    hours = [place for place, name in enumerate(names) if name.upper().lstrip("H").isdecimal()]
    is_count = [place for place, column in enumerate(one.columns) if column.words & {"count", "sum"}]
    if len(hours) == _HOURS:
        cells = [(f"{row[0]} {names[place]}", n, place) for place in hours for n, row in enumerate(one.rows)]
    elif len(is_count) == 1 and any("HH" in token.upper() for token in one.words if token[0] == "'"):
        labels = [place for place in range(len(names)) if place != is_count[0]]
        cells = [(" ".join(str(row[place]) for place in labels), n, is_count[0]) for n, row in enumerate(one.rows)]
    else:
        return
    figures = {place: one.figures(place) for place in {place for _, _, place in cells}}
    found = [(value.value, label) for label, n, place in cells if (value := figures[place][n]) is not None]
    if not found or max(found)[0] <= 0:
        return
    most, label = max(found)
    each = f", one every {seconds(3600 / most)}" if most > 1 else ""
    usual = f"; the median is {three(median(value for value, _ in found))} per hour" if len(found) > 2 else ""
    yield Finding(
        "log_switches",
        f"Log switches were most frequent at `{label}`: {three(most)} per hour{each}{usual}.",
        next=_NEXT_SWITCHES,
        evidence=(Evidence("tables", (label,)),),
        position=1,
    )


def _sessions(one: Queried) -> Iterator[Finding]:
    """The event that most of the listed sessions waited for, how long, and the session that blocks most of them."""
    event, session = one.find("event"), one.find("sid", "session_id")
    if event is None or session is None or one.find(*_OF_OTHERS) is not None:
        return
    state, blocker = one.find("state"), one.find("blocking_session", "final_blocking_session")
    rows = [n for n, row in enumerate(one.rows) if row[event] and row[session]]
    if len(rows) < _LEAST_SESSIONS or not one.words & _OF_SESSIONS:
        return
    waiting = [n for n in rows if state is None or not str(one.rows[n][state]).upper().startswith("WAITED")]
    events = Counter(str(one.rows[n][event]) for n in waiting)
    work = Counter({name: count for name, count in events.items() if not is_idle(name, wait_class_of(name))})
    if not events:
        return
    (name, count), *_ = (work or events).most_common(1)
    own = [n for n in waiting if one.rows[n][event] == name]
    said = f"{count:,} of {counted(len(rows), 'listed sessions')} waited for `{name}`"
    place = next((found for column in _WAITING if (found := one.find(column)) is not None), None)
    unit = None if place is None else one.columns[place].unit(_WAITING)
    if place is not None and unit is not None:
        times = [time.value for n in own if (time := one.figures(place, unit)[n]) is not None]
        said += f", the longest for {seconds(max(times))}" if times else ""
    holders = Counter(str(one.rows[n][blocker]) for n in own if blocker is not None and one.rows[n][blocker])
    step = event_step(name) or HOLDER
    if holders:
        holder, blocked = holders.most_common(1)[0]
        said += f"; session {holder.strip()} blocked {blocked:,} of them"
        step = f"see what it does: select status, event, sql_id, program from v$session where sid = {holder.strip()}"  # noqa: S608 - text
    yield Finding(
        "listed_waits", f"{said}.", next=step if work else "", evidence=(Evidence("tables", (name,)),), position=1
    )
