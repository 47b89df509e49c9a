"""The accounts of what queries of v$ views returned: waits of a session or the instance, and listed statements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from iolab.metrics.formatting import MOST_TEXT, share_text, short_text, time_text
from iolab.time_ledger.account import Account
from iolab.time_ledger.next_steps import (
    COMMIT_LESS,
    FAST_WRITE_S,
    HOLDER,
    MANY_COMMITS,
    REMOTE_REDO,
    STANDBY,
    event_step,
)
from iolab.time_ledger.parts import Place
from logframe.interval import Interval, row_figure
from logframe.oracle import is_idle, wait_class_of
from logframe.wording import counted
from sqlplusparse import queried_tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from iolab.time_ledger.account import Ledger
    from sqlplusparse import Queried, Spool

#: Columns with the time of waits, and their unit in s; words of a heading, where the query is not in the log.
_WAITED: Final = {
    **dict.fromkeys(("time_waited_micro", "time_waited_micro_fg"), 1e-6),
    **dict.fromkeys(("time_waited", "time_waited_fg", "csec"), 0.01),
    **dict.fromkeys(("waited", "waits", "wait", "time", "seconds", "secs"), 0),
}
#: What CPU is called among events.
_CPU: Final = frozenset({"db cpu", "cpu", "on cpu", "cpu time", "cpu used", "cpu + wait for cpu"})
#: The count of a bucket of a histogram: the times beside it are ends of buckets.
_OF_BUCKET: Final = "wait_count"
#: The same of the time of statements, and of its parts.
_ELAPSED: Final = {
    **dict.fromkeys(("elapsed_time", "elapsed_time_delta"), 1e-6),
    **dict.fromkeys(("elapsed", "ela", "elap"), 0),
}
_PARTS: Final = {
    "CPU": ("cpu", "cpu_time", "cpu_time_delta"),
    "User I/O": ("io", "user_io_wait_time", "iowait_delta"),
    "Application": ("wait", "application_wait_time", "apwait_delta"),
    "Concurrency": ("wait", "concurrency_wait_time", "ccwait_delta"),
    "Cluster": ("wait", "cluster_wait_time", "clwait_delta"),
}
#: Views of totals since the instance started, and metrics of the sessions that are active: how much of one is one.
_SINCE_START: Final = frozenset({"v$system_event", "gv$system_event"})
_ACTIVE: Final = {"Average Active Sessions": 1, "Database Time Per Sec": 100}
#: What is counted where no time is listed: what it is called, and its columns.
_COUNTED: Final = {
    "logical reads": ("buffer_gets", "buffer_gets_delta"),
    "physical reads": ("disk_reads", "disk_reads_delta", "physical_read_requests"),
}
#: Columns of reports of SQL Monitor: what their time is, and its kind.
_MONITORED: Final = {
    "cpu_s": ("CPU", "cpu"),
    "io_wait_s": ("User I/O", "io"),
    "application_wait_s": ("Application", "wait"),
    "concurrency_wait_s": ("Concurrency", "wait"),
    "cluster_wait_s": ("Cluster", "wait"),
    "queuing_s": ("queuing", "wait"),
    "other_wait_s": ("other waits", "wait"),
}
_EXECUTIONS: Final = ("executions", "executions_delta", "execs", "exec")
_STATEMENT: Final = ("sql_id", "sql_text", "hash_value")
_SYNC, _LOG_WRITE = "log file sync", "log file parallel write"
#: A commit that waits this many times as long as a write of the log waits for something else.
_MUCH_LONGER: Final = 5.0
#: Commits have a write each where there are this many writes for one of them, or more.
_OWN_WRITE: Final = 0.9
_NOT_THE_LOG: Final = "see whether LGWR gets a CPU: vmstat 5 (column r); single slow writes: v$event_histogram"
_IO: Final = ("User I/O", "System I/O")
_ID_LENGTH: Final = 13
#: A single row is no list of which one has most.
_LEAST_ROWS: Final = 2
_CALLED: Final = "see what it waits for, and how often it is called: its source, and an extended SQL trace of the run"


def listing_ledgers(spool: Spool) -> list[Ledger]:
    """The accounts of the listings of a session, that of most time first; those of counts come last.

    Waits since the instance started are left out where the session lists that hardly any is active, or who is blocked.
    """
    tables = [*queried_tables(spool)]
    aside = _SINCE_START if any(map(_is_present, tables)) else frozenset()
    found = [ledger for one in tables if not one.words & aside and (ledger := account_of(one)) is not None]
    found += [ledger for ledger in [_of_monitors(spool)] if ledger is not None]
    return sorted(found, key=lambda one: (one.unit != "s", -(one.work or one.total or Interval.exact(0.0)).value))


def last_monitors(spool: Spool) -> list[dict[str, Any]]:
    """The last report of SQL Monitor of each execution, the longest first."""
    found = {}
    for row in spool.monitors.drop_nulls("elapsed_s").to_dicts():
        found[(row["sql_id"], row["execution_id"] or row["monitor"])] = row
    return sorted(found.values(), key=lambda row: -row["elapsed_s"])


def _of_monitors(spool: Spool) -> Ledger | None:
    """The account of the executions that SQL Monitor reports: CPU and classes of waits, and the statements."""
    rows = last_monitors(spool)
    total = sum((figure for row in rows if (figure := row_figure(row, "elapsed_s"))), Interval.exact(0.0))
    if total.value <= 0:
        return None
    first = f"`{rows[0]['sql_id']}`" if rows[0]["sql_id"] else "the statement"
    account = Account(total, f"the time of {first if len(rows) == 1 else f'{len(rows):,} executions'}")
    for column, (name, kind) in _MONITORED.items():
        figures = [figure for row in rows if (figure := row_figure(row, column)) is not None]
        if figures:
            time, place = sum(figures, Interval.exact(0.0)), Place("monitors", (column,))
            account.add("what", name, time, kind=kind, wait_class=name, evidence=place)
    for row in rows[: len(rows) * (len(rows) > 1)]:
        name = " ".join(["statement", *[row["sql_id"]] * bool(row["sql_id"]), f"(line {row['line']:,})"])
        time = row_figure(row, "elapsed_s") or Interval.exact(0.0)
        account.add("who", name, time, kind="mixed", evidence=Place("monitors", (name,)))
    who = first if len(rows) == 1 else f"{len(rows):,} executions"
    ran = [row["duration_s"] or row["elapsed_s"] for row in rows]
    gets = sum(row["buffer_gets"] or 0 for row in rows)
    did = f": about {float(f'{gets:.3g}'):,.0f} buffer gets" * bool(gets)
    text = f"SQL Monitor (line {rows[0]['line']:,}) reports {seconds_text(total)} of {who}{did}"
    return account.ledger(text=text, elapsed=Interval.exact(sum(ran)))


def _is_present(listed: Queried) -> bool:
    """Whether a listing says that less than one session is active, or which ones wait for another."""
    name, value, blocker = listed.find("metric_name"), listed.find("value", "average"), listed.find("blocking_session")
    if name is not None and value is not None:
        pairs = zip(listed.rows, listed.figures(value), strict=True)
        return any(figure is not None and figure.hi < _ACTIVE.get(row[name].strip(), 0) for row, figure in pairs)
    return blocker is not None and any(row[blocker] for row in listed.rows)


def account_of(listed: Queried) -> Ledger | None:
    """The account of one listing; None where it is of neither waits, statements nor functions."""
    return _of_waits(listed) or _of_statements(listed) or _of_functions(listed)


def _of_functions(listed: Queried) -> Ledger | None:
    r"""The account of the functions of a profile of PL/SQL (DBMS_HPROF): the own time of each.

    Examples:
        >>> import sqlplusparse
        >>> text = "Function tree   Module   Subtree MicroS Function MicroS      Calls\n"
        >>> text += "--------------- -------- -------------- --------------- ----------\n"
        >>> text += "RUN             PKG             4000000         1000000          1\n"
        >>> text += " GET_RESPONSE   UTL_HTTP        3000000         3000000        500\n\n2 rows selected.\n"
        >>> (one,) = listing_ledgers(sqlplusparse.read_spool(text.encode()))
        >>> print(one.tree())
        functions of PL/SQL took 4.00 s by the profile at line 1
          75.0               3           500  UTL_HTTP.GET_RESPONSE
          25.0               1             1  PKG.RUN
           0.0               0                not accounted for
    """
    words = [{*one.heading_words} for one in listed.columns]
    times = [n for n, of in enumerate(words) if "function" in of and listed.columns[n].heading_unit and len(of) > 1]
    names = [n for n, of in enumerate(words) if "function" in of and n not in times]
    if len(times) != 1 or len(names) != 1 or len(listed.rows) < _LEAST_ROWS:
        return None
    modules = [n for n, of in enumerate(words) if of == {"module"}]
    functions = [".".join(row[n].strip() for n in [*modules, *names] if row[n].strip()) for row in listed.rows]
    spent = _sums(functions, listed.figures(times[0], listed.columns[times[0]].heading_unit or 1.0))
    counts = _counts(listed, functions, "calls")
    total = sum(spent.values(), Interval.exact(0.0))
    if total.value <= 0:
        return None
    account = Account(total, "the time of the profile")
    for name, time in spent.items():
        place = Place("tables", (name,))
        account.add("what", name, time, kind="mixed", count=counts.get(name), evidence=place, next_step=_CALLED)
    text = f"functions of PL/SQL took {seconds_text(total)} by the profile at line {listed.line:,}"
    return account.ledger(text=text, counted={"what": "calls"})


def _of_waits(listed: Queried) -> Ledger | None:
    r"""The account of the waits of v$session_event or v$system_event: CPU time is a part where the query has it.

    Examples:
        >>> import sqlplusparse
        >>> text = "SQL> select event, total_waits, time_waited/100 secs from v$session_event;\n\n"
        >>> text += "EVENT                TOTAL_WAITS       SECS\n-------------------- ----------- ----------\n"
        >>> text += "log file sync                100         40\nlatch free                     5         10\n"
        >>> (one,) = listing_ledgers(sqlplusparse.read_spool(text.encode()))
        >>> print(one.tree())
        waits 50.00 s that the query at line 1 returned; CPU time is not among them
          80.0              40           100  log file sync
          20.0              10             5  latch free
           0.0               0                not accounted for
    """
    event, place = listed.find("event", "event_name"), _time_column(listed, _WAITED)
    if event is None or place is None or listed.find(_OF_BUCKET) is not None:
        return None
    if listed.find("snap_id") is not None and listed.are_totals(place[0]):  # no differences between snapshots
        return None
    events = [row[event] for row in listed.rows]
    if len({*events}) < _LEAST_ROWS and listed.find("event") is None:  # a series of one event
        return None
    times = _sums(events, listed.figures(*place))
    counts = _counts(listed, events, "total_waits", "total_waits_fg", "waits")
    within = _written(times, counts)
    total = sum((time for name, time in times.items() if name != within), Interval.exact(0.0))
    if total.value <= 0:
        return None
    is_own = bool(within) and counts[within].hi >= _OWN_WRITE * counts[_SYNC].lo
    slow, of_commits = _slow_commit(times, counts, is_own=is_own or not within)
    cpu = sum((time for name, time in times.items() if name.lower() in _CPU), Interval.exact(0.0))
    of = "waits" if cpu.value <= 0 else "time"
    account, idle = Account(total, f"the {of} of the query"), Interval.exact(0.0)
    for name in sorted(times, key=lambda one: one == within):
        time = times[name]
        if name == within and not is_own:  # no part of them is known: several commits wait for one write
            continue
        wait_class = wait_class_of(name)
        kind = "idle" if is_idle(name, wait_class) else "io" if wait_class in _IO else "wait"
        kind = "cpu" if name.lower() in _CPU else kind
        idle += time if kind == "idle" else Interval.exact(0.0)
        count = counts.get(name)
        account.add(
            "what", name, time, kind=kind, wait_class=wait_class, count=count, evidence=Place("tables", (name,)),
            parent=_SYNC if name == within else None,
            next_step=(of_commits if name in {_SYNC, within} else "")
            or event_step(name) or _step_of_class(wait_class, count),
        )  # fmt: skip
    if is_own:
        more = times[_SYNC] - times[within]
        account.add("what", "rest of the commits", more, kind="wait", parent=_SYNC, next_step=of_commits or None)
    rest = total - idle
    is_mixed = rest.lo > 0 and idle.value > 0
    took = (
        f"{of} not idle took {seconds_text(rest)} (query" if is_mixed else f"{of} {seconds_text(total)} that the query"
    )
    said = f"{took} at line {listed.line:,}{')' if is_mixed else ' returned'}; "
    said += f"CPU was {seconds_text(cpu)} of it" if of == "time" else "CPU time is not among them"
    said += f"; `{within}` is within `{_SYNC}`" if is_own else ""
    return account.ledger(
        text=said + slow,
        counted={"what": "waits"},
        work=rest if is_mixed else None,
        work_base=f"the {of} not idle" if is_mixed else "",
        unshared="" if rest.lo > 0 else "all waits are idle",
    )


def _written(times: Mapping[str, Interval], counts: Mapping[str, Interval]) -> str:
    """The event of writes that commits waited for, where these were no more and no longer: it is in their waits."""
    is_in = all(_LOG_WRITE in one and _SYNC in one and one[_LOG_WRITE].hi <= one[_SYNC].hi for one in (times, counts))
    return _LOG_WRITE if is_in else ""


def _slow_commit(times: Mapping[str, Interval], counts: Mapping[str, Interval], *, is_own: bool) -> tuple[str, str]:
    """That a commit waited many times as long as a write of the log, and for what; the next step; empty of others."""
    if any(name not in figures or figures[name].lo <= 0 for figures in (times, counts) for name in (_SYNC, _LOG_WRITE)):
        return "", ""
    sync, write = (times[name].value / counts[name].value for name in (_SYNC, _LOG_WRITE))
    said = f"; `{_SYNC}` took {time_text(sync)} each, a write of the log {time_text(write)}"
    if not sync >= _MUCH_LONGER * write > 0:
        is_slow = 2 * write >= sync and write >= FAST_WRITE_S
        step = event_step(_LOG_WRITE) if is_slow else _step_of_class("Commit", counts[_SYNC]) or ""
        return f"{said}; several commits may wait for one write" * (not is_own), step
    said += ": "
    for name in (name for name in counts if name.startswith(REMOTE_REDO) and counts[name].lo > 0):
        if sync / 2 <= (each := times[name].value / counts[name].value) <= sync:
            return f"{said}{time_text(each)} of it was `{name}`", STANDBY
    return f"{said}commits waited for more than an average write", _NOT_THE_LOG


def _step_of_class(wait_class: str | None, count: Interval | None) -> str | None:
    if wait_class == "Commit" and count is not None and count.lo > MANY_COMMITS:
        return COMMIT_LESS
    return HOLDER if wait_class == "Application" else None


def _of_statements(listed: Queried) -> Ledger | None:
    r"""The account of statements that v$sql, v$sqlstats or their history listed: elapsed time, else what was counted.

    Examples:
        >>> import sqlplusparse
        >>> text = "SQL> select sql_id, elapsed_time/1e6 ela, cpu_time/1e6 cpu, executions from v$sql;\n\n"
        >>> text += "SQL_ID               ELA        CPU EXECUTIONS\n------------- ---------- ---------- ----------\n"
        >>> text += "7xq2b0kd9mvz1        300        240          3\n1mz8c4t0h5wyr        100         60         50\n"
        >>> (one,) = listing_ledgers(sqlplusparse.read_spool(text.encode()))
        >>> print(one.tree(), one.tree("who"), sep="\n")
        elapsed time was 400.0 s of the 2 statements that the query at line 1 returned
          75.0             300                CPU
          25.0             100                not CPU
        elapsed time was 400.0 s of the 2 statements that the query at line 1 returned
          75.0             300             3  7xq2b0kd9mvz1
          25.0             100            50  1mz8c4t0h5wyr
           0.0               0                not accounted for
    """
    key = next((found for name in _STATEMENT if (found := listed.find(name)) is not None), None)
    if key is None or len(listed.rows) < _LEAST_ROWS:
        return None
    names = _alike(listed, key)
    base, place, unit = "elapsed time", _time_column(listed, _ELAPSED), "s"
    if place is None:
        unit = base = next((name for name, names in _COUNTED.items() if listed.find(*names) is not None), "")
        column = listed.find(*_COUNTED[base]) if base else None
        if column is None:
            return None
        place = column, 1.0
    times, runs = _sums(names, listed.figures(*place)), _counts(listed, names, *_EXECUTIONS)
    total = sum(times.values(), Interval.exact(0.0))
    if total.value <= 0:
        return None
    account = Account(total, f"the {base} listed")
    top = max(times, key=lambda name: times[name].value)
    first = {name: str(row[key]) for name, row in reversed([*zip(names, listed.rows, strict=True)])}
    if unit == "s":
        _add_parts(account, listed, _plan_of(first[top]))
    cpu = _time_column(listed, dict.fromkeys(_PARTS["CPU"][1:], 1e-6) | {"cpu": 0})
    cpus = {} if cpu is None else _sums(names, listed.figures(*cpu))
    gets = _counts(listed, names, *_COUNTED["logical reads"])
    for name, time in times.items():
        part = account.add(
            "who", short_text(name, MOST_TEXT), time, kind="mixed", count=runs.get(name),
            evidence=Place("tables", (name,)), next_step=_plan_of(first[name]),
        )  # fmt: skip
        has_cpu = unit == "s" and name in cpus and time.value > 0
        did = [f"{share_text(cpus[name].value / time.value)} of it CPU"] if has_cpu else []
        if name in gets and (ran := runs.get(name)) is not None and ran.lo > 0:
            each = float(f"{gets[name].value / ran.value:.3g}")
            did.append(f"{each:,.12g} logical reads per execution")
        if did:
            account.remark("detail", "main_statement", ", ".join(did), part=part)
    figure = seconds_text(total) if unit == "s" else f"{total.value:,.0f}"
    number = counted(len({row[key] for row in listed.rows}), "statement")
    said = f"{figure} of the {number} that the query at line {listed.line:,} returned"
    were = "was" if unit == "s" else "were"
    return account.ledger(text=f"{base} {were} {said}", unit=unit, counted={"who": "executions"})


def _alike(listed: Queried, key: int) -> Sequence[str | None]:
    """The name of the statement of each row; of those that differ in literals alone it is the same."""
    signature, text = listed.find("force_matching_signature"), listed.find("sql_text", "txt", "text")
    names = [row[key] for row in listed.rows]
    if signature is None or signature == key:
        return names
    found: dict[str, list[int]] = {}
    for n, row in enumerate(listed.rows):
        if row[key] and row[signature] and str(row[signature]).strip() != "0":
            found.setdefault(str(row[signature]).strip(), []).append(n)
    for value, places in found.items():
        if len({names[n] for n in places}) > 1:
            what = value if text is None else str(listed.rows[places[0]][text] or value)
            alike = f"{len({listed.rows[n][key] for n in places}):,} statements alike: {what}"
            names = [alike if n in places else name for n, name in enumerate(names)]
    return names


def _plan_of(name: str) -> str:
    if len(name) == _ID_LENGTH and name.isalnum():
        return f"see the plan of `{name}`: select * from table(dbms_xplan.display_cursor('{name}'))"  # noqa: S608 - text
    return "see its plan: select sql_id, sql_text from v$sql, then dbms_xplan.display_cursor"


def _add_parts(account: Account, listed: Queried, next_step: str) -> None:
    """The parts of the elapsed time of the statements, where the query has their columns."""
    rest, named = account.total, list[str]()
    for name, (kind, *columns) in _PARTS.items():
        place = _time_column(listed, {**dict.fromkeys(columns, 1e-6), name.lower(): 0})
        times = [] if place is None else [one for one in listed.figures(*place) if one is not None]
        if len(times) < len(listed.rows):
            continue
        time, at = sum(times, Interval.exact(0.0)), Place("tables", (name,))
        account.add("what", name, time, kind=kind, wait_class=name, evidence=at, next_step=next_step)
        rest -= time
        named.append(name)
    if rest is not account.total and rest.value > 0:
        account.closes(None, f"not {' or '.join(named)}", kind="not_accounted")


def _time_column(listed: Queried, names: dict[str, float]) -> tuple[int, float] | None:
    """The first column that is a sum of times, and its unit in s."""
    found = ((place, one.unit(names)) for place, one in enumerate(listed.columns))
    return next(((place, unit) for place, unit in found if unit is not None), None)


def _counts(listed: Queried, keys: Sequence[str | None], *names: str) -> dict[str, Interval]:
    column = listed.find(*names)
    return {} if column is None else _sums(keys, listed.figures(column))


def _sums(keys: Sequence[str | None], figures: list[Interval | None]) -> dict[str, Interval]:
    """The sums of a column by the names of its rows: one may have several, of each child or instance."""
    found: dict[str, Interval] = {}
    for key, figure in zip(keys, figures, strict=True):
        if key and figure is not None:
            found[str(key)] = found.get(str(key), Interval.exact(0.0)) + figure
    return found


def seconds_text(figure: Interval) -> str:
    """A sum of times with the digits that a reader needs.

    Examples:
        >>> [seconds_text(Interval.exact(figure)) for figure in (196.488, 12.3456, 0.31)]
        ['196.5 s', '12.35 s', '0.310 s']
    """
    decimals = 1 if figure.value >= 100 else 2 if figure.value >= 1 else 3
    return f"{figure.value:,.{decimals}f} s"
