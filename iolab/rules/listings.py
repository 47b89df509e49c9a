"""What queries of views listed: the row that matters (`listings.toml`), series of times, and who blocks whom."""

from __future__ import annotations

import math
import posixpath
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import pairwise
from operator import itemgetter
from statistics import median
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.metrics.formatting import MOST_TEXT, short_text, size_text
from iolab.rules.finding import CALM, Evidence, Finding
from iolab.rules.listed_causes import settings_of_waits, writers
from iolab.rules.listed_table import (
    TIMES,
    Figures,
    Row,
    Table,
    are_files,
    data,
    kinds_of_listings,
    listed_settings,
    say,
    units,
)
from iolab.rules.log_switches import NEXT_SWITCHES, SWITCHES, log_sizes, switches
from iolab.rules.phrases import capital, counted, percent, seconds, three
from iolab.rules.session_objects import log_members
from iolab.rules.session_runs import run_with_fewer
from iolab.rules.session_waits import (
    ANY,
    OF_STATISTICS,
    Longest,
    compared_waits,
    longest_of,
    own_statements,
    waits_of_session,
)
from iolab.rules.time_parts import LARGE, PART
from iolab.time_ledger.listings import account_of
from iolab.time_ledger.next_steps import HOLDER, event_step
from iolab.time_ledger.parts import IO_CLASSES
from iolab.time_ledger.spools import is_long
from logframe.oracle import is_idle, wait_class_of
from sqlplusparse import queried_tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from iolab.time_ledger.account import Ledger
    from sqlplusparse import Queried, Spool

_OF_SESSIONS: Final = frozenset({"v$session", "v$session_wait", "v$session_blockers", "v$wait_chains", "v$lock"})
#: Columns of views in which a session has a row for each event, or each sample.
_OF_OTHERS: Final = ("total_waits", "time_waited", "sample_time", "sample_id")
_WAITERS: Final = ("sid", "session_id", "waiting_session")
BLOCKERS: Final = ("blocking_session", "final_blocking_session", "blocker_sid", "holding_session")
_WAITED: Final = ("seconds_in_wait", "wait_time_micro", "time_since_last_wait_micro", "in_wait_secs", "ctime")
#: What tells whose session it is.
_WHOSE: Final = ("program", "module", "osuser", "machine", "username")
#: What a row is called that has no session.
_NAMING: Final = (*_WHOSE, "category", "pname", "name", "spid", "pid", "process", "xid")
SEE_SESSION: Final = "see what it does: select status, event, sql_id, program from v$session where sid = {}"
_END_SESSION: Final = "have its transaction committed or rolled back, else end it: alter system kill session"
_LEAST_SESSIONS: Final = 2
#: Columns with the snapshot that a row is of.
_SNAPSHOTS: Final = TIMES | {"snap_id"}
#: Columns with the name of a figure, and with the figure; what the parts of an interval are in s.
_NAMES: Final = ("stat_name", "metric_name", "item")
_VALUES: Final = ("value", "session_total", "average", "sofar")
_UNITS_OF_LAG: Final = (86_400, 3600, 60, 1)
_LEAST_SERIES: Final = 3
#: From a moment on a series is another where all of its figures are this many times the largest before.
_STEP: Final = 2.0
#: The ends of the buckets of a histogram, and how many ms one of them is.
_BUCKETS: Final = {"wait_time_milli": 1.0, "wait_time_micro": 1e-3}
#: Waits of this many ms and more are slow for a device.
_SLOW_MS: Final = 16
#: How a row is called that is no part beside the others, and how near to their sum a total is.
_TOTAL: Final = ("total ", "maximum ", "granule ", "aggregate ")
_SAME: Final = 1e-3
#: A device is the cause of waits where it is this many times as slow as the others.
_FAR: Final = 3
_DEVICES: Final = "see the devices: iostat -xt 5"
_NETWORK: Final = (
    "see the private network and its interface: netstat -s (reassembly), ip -s link, gv$cluster_interconnects"
)
#: What is done next about slow waits of a class; of all others the devices are looked at.
_OF_CLASSES: Final = {"Cluster": _NETWORK, "Concurrency": "", "Configuration": "", "Application": "", "Network": ""}
_STORAGE: Final = "see the storage that they share, as none is much slower than the others: iostat -xt 5"
#: Statistics of which the second has most of the first, where a statement took long to parse.
_PARSING, _CPU = "parse time elapsed", "cpu used by this session"
#: How reasons for child cursors end.
_NOT_SHARED: Final = ("_MISMATCH", "_UPGRADEABLE")
#: A share of fewer is an accident.
_LEAST_OF: Final = 100
#: What explains the time of statements of a kind only.
OF_STATEMENTS: Final = {("repeated",), ("parallel",)}
_NAME: Final = pl.col("name").str.to_lowercase()
#: The status of a job that failed.
_FAILED: Final = "FAILED"
#: What stands for the rows that the longest statement deleted, beside statistics.
_DELETED: Final = "deleted rows"
#: The keys of statistics with the views whose listings stand beside them; the last one's say what to do, too.
_BESIDE: Final = ("listing", "cause")
#: The order of a calm instance, of limits that are reached, of sessions that are blocked, of other listings, of
#: statistics, of limits that are far.
_CALM, _LIMIT, _BLOCKED, _USUAL, _STATISTIC, _HARMLESS = range(OF_STATISTICS + 2)
#: What is filled less than this needs nothing.
_FULL: Final = 0.85


def error_step(code: str) -> str:
    """What to do next about an error."""
    return str(data()["errors"].get(code, "remove the cause of the error, then run what failed again"))


def listed(spool: Spool) -> list[Finding]:
    r"""The findings of the listings of a session: limits that are reached first, then in the order of the queries.

    Examples:
        >>> import sqlplusparse
        >>> text = "SQL> select to_char(first_time,'DD HH24') hr, count(*) n from v$log_history group by 1;\n\n"
        >>> text += "HR             N\n----- ----------\n18 08          5\n18 09        211\n18 10          7\n"
        >>> for one in listed(sqlplusparse.read_spool(text.encode())): print(one.sentence)
        Log switches were most frequent at `18 09`: 211 per hour, one every 17.1 s; the median is 7 per hour.
        >>> text = text.replace("18 10          7", "18 10        211")
        >>> for one in listed(sqlplusparse.read_spool(text.encode())): print(one.sentence.partition(",")[0])
        Log switches were most frequent at `18 09` and in 1 other row: 211 per hour
        >>> text = "SQL> select sid, event, seconds_in_wait from v$session;\n\n"
        >>> text += "       SID EVENT                SECONDS_IN_WAIT\n---------- -------------------- ---------------\n"
        >>> text += "        12 latch free                        20\n        13 latch free                        30\n"
        >>> for one in listed(sqlplusparse.read_spool(text.encode())): print(one.sentence)
        2 of 2 listed sessions waited for `latch free`, the longest for 30 s.
    """
    found = []
    asked = [(one, account_of(one)) for one in queried_tables(spool) if one.rows]
    tables = [Table(one) for one, account in asked if account is None]
    timed = [account for _, account in asked if account and account.unit == "s" and "what" in account.views]
    settings = listed_settings(tables)
    states = dict(pair for table in reversed(tables) for pair in _states(table))
    found_of = dict[str, Finding]()
    for table in tables:
        sessions, rows = partial(_sessions, states=states), partial(_rows, tables=tables, settings=settings)
        archived = partial(_archived, tables=tables)
        makers = (sessions, archived, _failures, _histogram, _resizes, rows, _series)
        said = next((said for make in makers if (said := list(make(table)))), [])
        found_of |= dict.fromkeys(table.views, said[0]) if said else {}
        found += said
    longest = longest_of(spool)
    ratios = [*_ratios(spool, tables, found_of, longest)]
    calm = [one for one in ratios if one.name == CALM]
    ratios = [one for one in ratios if one not in calm[1:]]  # it is calm once
    found = [one for one in found if not any(one.sentence in ratio.sentence for ratio in ratios)]
    waits = [*waits_of_session(spool, longest)]
    for n, one in enumerate(waits):  # with what statistics say of them
        beside = next((ratio for ratio in ratios if one.evidence[0].rows[0].startswith(ratio.explains or "?")), None)
        if beside is not None:
            ratios.remove(beside)
            waits[n] = replace(one, sentence=f"{one.sentence} {beside.sentence}", next=beside.next)
    causes = settings_of_waits(timed, settings, is_file=bool(settings) and are_files(tables))
    found += [*ratios, *_times(spool, longest), *waits, *causes, *log_members(one for one, _ in asked)]
    compared = [*compared_waits(asked)]
    named = {name for one in compared for name in one.evidence[0].rows}
    found += [*compared, *(one for one in writers(timed) if one.evidence[0].rows[0] not in named)]
    found.sort(key=lambda one: one.order)
    is_calm = bool(found) and found[0].order == _CALM
    if is_calm and (is_long(spool) or any(one.order < _USUAL for one in found[1:]) or _are_held(timed)):
        is_calm = not found.pop(0)
    views = set[str]().union(*(table.views for table in tables))
    shown = {view: step for view, step in data()["shown"].items() if view in views}
    steps = [next((step for view, step in shown.items() if view in one.next), one.next) for one in found]
    return [
        replace(
            one, next="" if is_calm else step, order=-1 if one.order == _CALM else n, position=int(one.order < _USUAL)
        )
        for n, (one, step) in enumerate(zip(found, steps, strict=True), 1)
    ]


def _are_held(accounts: Sequence[Ledger]) -> bool:
    """Whether a tenth of the waits that are listed is for others: their locks, latches, or blocks."""
    is_held = pl.col("class").is_in([*_OF_CLASSES]) & (pl.col("class") != "Network") & (pl.col("share_hi") >= PART)
    return any(one.parts().filter(is_held).height for one in accounts)


def _rows(table: Table, tables: Sequence[Table], settings: Mapping[str, str]) -> Iterator[Finding]:
    """The row of a listing that has most, and what it means."""
    is_told = is_far = False
    for views, begins, entry in kinds_of_listings():
        is_of_view = not views.isdisjoint(table.views) or any(word.startswith(begins) for word in table.views)
        if not is_of_view and not set(entry.get("columns", "?")) <= table.texts.keys():
            continue
        is_aside = entry.get("alone", False) and len(table.listed.rows) > 1
        if is_aside or not all(name in table.texts for name in entry.get("requires", ())):
            continue
        own = {name: ("s", unit) for name, unit in entry.get("units", {}).items()}
        if is_far and entry["most"] == ["*"]:
            return
        own_table = Table(table.listed, own) if own else table
        for kind, part in own_table.parts(entry.get("each_of", ""), data()["segments"]):
            if (said := _row(part, entry, tables, settings)) is not None:
                yield replace(said, explains=tuple(data()["segments"].get(kind, said.explains)))
                is_told, is_far = True, is_far or said.order == _HARMLESS  # another figure may be what matters
        if is_told and not is_far:
            return


def _row(table: Table, entry: dict[str, Any], tables: Sequence[Table], settings: Mapping[str, str]) -> Finding | None:
    of_size = [name for name, one in table.figures.items() if one.kind != "n" and one.is_sum and name not in _VALUES]
    names = of_size[:1] if entry["most"] == ["*"] else entry["most"]
    name, most = next(((name, one) for name in names if (one := table.ratio(name)) is not None), ("", None))
    values = [(value, -n) for n, value in enumerate(most.values) if value is not None] if most is not None else []
    cells = table.listed.rows
    if most is not None and most.is_sum:
        values = without_totals(values, cells)
    if most is None or not values or max(values)[0] <= entry.get("above", 0):
        return None
    value, row = max(values)[0], -max(values)[1]
    same = [place for one in entry.get("by", ()) if (place := table.texts.get(one)) is not None]
    values = [(one, n) for one, n in values if all(cells[-n][place] == cells[row][place] for place in same)]
    others = [one for one, n in values if -n != row]
    texts = {"most": percent(value) if most.kind == "ratio" else most.said(value)}
    is_one = len(table.listed.rows) == 1  # a row that was asked for alone is no share of anything
    if not is_one:
        texts["rows"] = f"{len(values):,}" if same or most.is_sum else f"{len(cells):,}"
    if most.is_sum and not is_one:
        total = value + sum(others)
        if value < max(entry.get("share", 0.0), entry.get("skew", 0.0) / len(values)) * total:
            return None
        texts |= {"most%": percent(value / total), "sum": most.said(total)}
    if tied := others.count(value):
        texts["tied"] = counted(tied, "other rows")
    if "{alike}" in entry["say"] and not most.is_sum:
        others, near = _near(table, most, row, values)
        texts |= near
    typical = median(others) if others else 0.0
    far = value / typical if typical > 0 else 0.0
    if others:
        texts["most~"] = most.said(typical)
    counts = next((table.figures[per] for per in entry.get("each", ()) if per in table.figures), None)
    if counts is not None and (count := counts.values[row]):
        rates, typical = _rates(most, row, values, counts.values)
        texts, far = texts | rates, value / count / typical if typical else 0.0
    listed = table.listed
    figures = {n for n, column in enumerate(listed.columns) if column.measure(units()) is not None}
    label = [text.strip() for n, text in enumerate(listed.rows[row]) if text and n not in figures]
    texts["label"] = short_text(" ".join(label), MOST_TEXT)
    texts["heading"] = next(
        (one.heading for one in listed.columns if (found := one.measure(units())) and found[0] == name), ""
    )
    texts |= {"key": key} if "by" in entry and (key := _key_of(value, tables)) else {}
    texts |= {"reason": reason} if "known" in entry and (reason := _reason(tables)) else {}
    texts |= {"asked": asked} if (asked := table.asked(row)) else {}
    texts |= {"session": _session(table, listed.rows[row]), **settings}
    said = Row(table, row, **texts)
    sentence, step = say(entry["say"], said), say(entry.get("known" if "reason" in texts else "next", ""), said)
    if not sentence or "``" in sentence:
        return None
    is_severe = "severe" in entry and value >= entry["severe"]
    is_far = "severe" in entry and most.kind == "ratio" and value < _FULL
    are_slow = 0 < far < _FAR and typical >= _SLOW_MS / 1e3
    step = _STORAGE if "of_events" in entry and are_slow else step
    slow = entry.get("of_events", ()) if far >= _FAR or are_slow else ()
    return Finding(
        "listed_rows", sentence, next="" if is_far else step or "", evidence=(Evidence("tables", (texts["label"],)),),
        order=_LIMIT if is_severe else _HARMLESS if is_far else _USUAL,
        explains=(said[entry["of_row"]],)
        if "of_row" in entry
        else tuple(table.events if entry.get("of_asked") else entry.get("explains", slow)),
    )  # fmt: skip


def _alike(figures: dict[int, float], row: int) -> set[int]:
    """A row and the few others that have at least half as much; the row alone where these are most of all."""
    found = {n for n, value in figures.items() if 2 * value >= figures[row]}
    return found if 2 * len(found) <= len(figures) else {row}


def _near(
    table: Table, most: Figures, row: int, values: Sequence[tuple[float, int]]
) -> tuple[list[float], dict[str, str]]:
    """The figures of the other rows but for a few that are much like the largest; a clause about these (``alike``)."""
    figures = {row: most.values[row] or 0.0, **{-n: value for value, n in values}}
    near = _alike(figures, row)
    rest = [value for n, value in figures.items() if n not in near]
    if near == {row}:
        return rest, {}
    said = f"{counted(len(near) - 1, 'others')} had {most.said(min(figures[n] for n in near))} or more"
    names = {n: next((cell for cell in cells if cell[:1] == "/"), "/") for n, cells in enumerate(table.listed.rows)}
    folder = posixpath.commonpath([names[n] for n in near])
    within = {n for n, name in names.items() if name.startswith(f"{folder}/")}
    return rest, {"alike": said + f", all in `{folder}`" * (within == near)}


def _rates(
    most: Figures, row: int, values: Sequence[tuple[float, int]], counts: Sequence[float | None]
) -> tuple[dict[str, str], float]:
    """What one of a row takes, the few rows that take nearly as much, and the average of the others."""
    rates = {-n: value / count for value, n in values if (count := counts[-n])}
    alike = _alike(rates, row)
    slow, rest = (sum(value for value, n in values if (-n in alike) is of) for of in (True, False))
    texts, typical = {"each": most.said(rates[row])}, rest / (sum(counts[n] or 0 for n in {*rates} - alike) or 1)
    if len(rates) > len(alike):
        texts["each~"] = most.said(typical)
    if len(alike) > 1:
        least = f"{counted(len(alike) - 1, 'others')} of {most.said(min(rates[n] for n in alike))} or more"
        texts["alike"] = f"{percent(slow / (slow + rest))} with {least}"
    return texts, typical


def without_totals(values: list[tuple[float, int]], cells: Sequence[Sequence[str]]) -> list[tuple[float, int]]:
    """The figures of rows that are parts: none that is called a total, or is as much as all others together."""
    parts = [(one, n) for one, n in values if not any(f"{cell} ".lower().startswith(_TOTAL) for cell in cells[-n])]
    rest = sum(one for one, _ in sorted(parts)[:-1]) if len(parts) > _LEAST_SERIES else -1.0
    return sorted(parts)[:-1] if math.isclose(rest, max(parts, default=(0.0,))[0], rel_tol=_SAME) else parts or values


def _series(table: Table, of_bytes: str = "") -> Iterator[Finding]:
    """A series of times: the moment from which on it is another, else its peak."""
    place, columns = table.moments, [one.measure(units()) for one in table.listed.columns]
    firsts = {one[0]: (one[1], n) for n, one in reversed([*enumerate(columns)]) if one}  # as in the figures
    figures = [(name, n) for kind in ("bytes", "s", "n") for name, (of, n) in firsts.items() if of == kind]
    if place is None or not figures:
        return
    said, of_column = "", ""
    for name, column in sorted(figures, key=lambda one: -(jump := _jump(table.figures[one[0]])) * (jump >= _STEP)):
        of = table.figures[name]
        cells = zip(table.listed.rows, of.values, strict=True)
        found = [(str(row[place]).strip(), value) for row, value in cells if value is not None and row[place]]
        if len(found) < _LEAST_SERIES or len({label for label, _ in found}) < len(found):
            continue
        what = of_bytes if of.kind == "bytes" and of_bytes else f"`{table.listed.columns[column].heading.strip()}`"
        what += f" of `{table.event}`" * bool(table.event)
        if step := _step(found, of, what):
            said, of_column = step, name
            break
        label, most = max(found, key=lambda one: one[1])
        usual = median(value for _, value in found)
        if not said and most > min(value for _, value in found):
            said = f"{what} was largest at `{label}`: {of.said(most)}; the median is {of.said(usual)}."
            of_column = name
    if not said:
        return
    step = _DEVICES if wait_class_of(table.event) in IO_CLASSES else ""
    yield Finding("listed_rows", capital(said), next=step, evidence=(Evidence("tables", (of_column,)),), order=_USUAL)


def _step(found: list[tuple[str, float]], of: Figures, what: str) -> str:
    """The moment from which on all figures are far above all before, as a sentence; empty without one."""
    for n in range(2, len(found) - 1):
        before, after = [value for _, value in found[:n]], [value for _, value in found[n:]]
        if min(after) > _STEP * max(before) > 0:
            ends = [f"{of.said(min(one))} to {of.said(max(one))}" for one in (after, before)]
            return f"from `{found[n][0]}` on {what} was {ends[0]} in each row listed; before, {ends[1]}."
    return ""


def _jump(of: Figures) -> float:
    """How many times its median the largest figure of a column is."""
    values = [value for value in of.values if value is not None]
    return max(values) / usual if values and (usual := median(values)) > 0 else 0.0


def _failures(table: Table) -> Iterator[Finding]:
    """How many of the jobs that are listed, such as backups, failed, and the last one of them."""
    jobs = next((jobs for view, jobs in data()["jobs"].items() if view in table.views), None)
    status = table.texts.get("status")
    if jobs is None or status is None:
        return
    failed = [row for row in table.listed.rows if _FAILED in str(row[status])]
    if not failed:
        return
    noun, step = jobs
    time = table.moments
    last = f", the last one at `{max(str(row[time]).strip() for row in failed)}`" if time is not None else ""
    said = f"{len(failed):,} of the {len(table.listed.rows):,} {noun} listed failed{last}."
    yield Finding("listed_rows", said, next=step, evidence=(Evidence("tables", (_FAILED,)),), order=_LIMIT)


def _archived(table: Table, tables: Sequence[Table]) -> Iterator[Finding]:
    """How often logs were switched, else a series of the redo that was archived."""
    found = [*switches(table, log_sizes(tables))]
    if not found and table.views & SWITCHES:
        found = [replace(said, next=NEXT_SWITCHES) for said in _series(table, "the archived redo")]
    yield from found


def _states(table: Table) -> Iterator[tuple[str, str]]:
    """The sessions of a listing with their status, and since when they have it."""
    sid, status = table.texts.get("sid"), table.texts.get("status")
    times = next((table.figures[name].values for name in ("last_call_et", *_WAITED) if name in table.figures), ())
    for n, row in enumerate(table.listed.rows):
        if sid is not None and status is not None and row[sid] and row[status]:
            since = f" for {seconds(time)}" if times and (time := times[n]) is not None else ""
            yield str(row[sid]).strip(), f"{str(row[status]).strip()}{since}{_whose(table, row)}"


def _session(table: Table, row: Sequence[str]) -> str:
    """The session of a row, and whose it is; else what names the row; a session without a name where nothing does."""
    sid = table.texts.get("sid")
    if sid is not None and row[sid]:
        return f"Session {row[sid].strip()}{_whose(table, row, 2)}"
    named = ((row[place] or "").strip() for name in _NAMING if (place := table.texts.get(name)) is not None)
    return next((f"`{one}`" for one in named if one), "A session")


def _whose(table: Table, row: Sequence[str], most: int = len(_WHOSE)) -> str:
    """Whose session it is, in brackets."""
    whose = [place for name in _WHOSE if (place := table.texts.get(name)) is not None]
    names = dict.fromkeys(f"`{text.strip()}`" for place in whose if (text := row[place]) and text.strip())
    return f" ({', '.join([*names][:most])})" if names else ""


def _sessions(table: Table, states: Mapping[str, str]) -> Iterator[Finding]:
    """What most of the listed sessions waited for, how long, and the session that blocks most of them."""
    one = table.listed
    event, session, blocker = one.find("event"), one.find(*_WAITERS), one.find(*BLOCKERS)
    if session is None or "count" in table.texts:
        return
    if one.find(*_OF_OTHERS) is not None:
        yield from _blocked_samples(one, session, event, blocker)
        return
    if event is None and blocker is None:
        yield from _locks(table, session)
        return
    rows = [n for n, row in enumerate(one.rows) if row[session] and (event is None or row[event])]
    is_known = blocker is not None or table.views & _OF_SESSIONS
    if not is_known or len(rows) < (_LEAST_SESSIONS if blocker is None else 1):
        return
    state = one.find("state")
    waiting = [n for n in rows if state is None or not str(one.rows[n][state]).upper().startswith("WAITED")]
    blocked = {n: str(one.rows[n][blocker]).strip() for n in waiting if blocker is not None and one.rows[n][blocker]}
    events = Counter(str(one.rows[n][event]) for n in (blocked or waiting) if event is not None)
    work = Counter({name: count for name, count in events.items() if not is_idle(name, wait_class_of(name))})
    if not events and not blocked:
        return
    name = (work or events).most_common(1)[0][0] if events else ""
    own = [n for n in waiting if event is None or one.rows[n][event] == name]
    own = own if event is not None else [*blocked]
    said = f"{len(own):,} of {counted(len(rows), 'listed sessions')} waited{f' for `{name}`' if name else ''}"
    times = next((table.figures[column].values for column in _WAITED if column in table.figures), ())
    if waited := [time for n in own if times and (time := times[n])]:
        said += f", the longest for {seconds(max(waited))}"
    step = event_step(name) or HOLDER
    if holder := _blocker({str(one.rows[n][session]).strip(): held for n, held in blocked.items() if n in own}):
        said += f"; session {holder[0]} blocked {holder[1]}"
        step = SEE_SESSION.format(holder[0])
        if holder[0] in states:
            said += f". It was {states[holder[0]]}"
            step = _END_SESSION if states[holder[0]].startswith("INACTIVE") else step
    yield Finding(
        "listed_waits", f"{said}.", next=step if work or blocked else "", evidence=(Evidence("tables", (name,)),),
        order=_BLOCKED if blocked else _USUAL,
    )  # fmt: skip


def _blocked_samples(one: Queried, session: int, event: int | None, blocker: int | None) -> Iterator[Finding]:
    """The session that blocked most of the samples that were blocked, for what they waited, and what it did itself."""
    blocked = [row for row in one.rows if blocker is not None and row[blocker]]
    if blocker is None or event is None or not blocked:
        return
    held = Counter((str(row[blocker]).strip(), str(row[event]).strip()) for row in blocked)
    (holder, name), count = held.most_common(1)[0]
    if 2 * count < len(blocked):
        return  # others block as many: what they wait for is the fact
    own = [row for row in one.rows if str(row[session]).strip() == holder]
    busy = sum(any(text and text.strip() == "ON CPU" for text in row) for row in own)
    did = f"; it was on CPU in {busy:,} of its own {len(own):,}" if own else ""
    yield Finding(
        "listed_waits",
        f"Session {holder} blocked {count:,} of {len(one.rows):,} samples, which waited for `{name}`{did}.",
        next=event_step(name) or HOLDER, evidence=(Evidence("tables", (holder,)),), order=_BLOCKED,
    )  # fmt: skip


def _blocker(blocked: dict[str, str]) -> tuple[str, str] | None:
    """The session at the end of most chains of sessions that block each other, and how many it blocks.

    Examples:
        >>> _blocker({"11": "61", "12": "777", "61": "777"})
        ('777', '3 of them, 1 through others')
    """
    ends = Counter[str]()
    for waiter, first in blocked.items():
        end, seen = first, {waiter}
        while end in blocked and end not in seen:
            seen.add(end)
            end = blocked[end]
        ends[end] += 1
    if not ends:
        return None
    holder, count = ends.most_common(1)[0]
    through = count - sum(1 for end in blocked.values() if end == holder)
    return holder, f"{count:,} of them{f', {through:,} through others' if through else ''}"


def _locks(table: Table, session: int) -> Iterator[Finding]:
    """Of rows of v$lock the session that holds what most others request."""
    one = table.listed
    request = one.find("request")
    keys = [place for name in ("type", "id1", "id2") if (place := one.find(name)) is not None]
    if request is None or not keys:
        return
    asked = [n for n, row in enumerate(one.rows) if (row[request] or "0").strip() not in {"0", "None"}]
    held = {
        tuple(row[place] for place in keys): str(row[session]).strip()
        for n, row in enumerate(one.rows)
        if n not in asked
    }
    blocked = {
        str(one.rows[n][session]).strip(): held[key]
        for n in asked
        if (key := tuple(one.rows[n][k] for k in keys)) in held
    }
    if (holder := _blocker(blocked)) is None:
        return
    times = table.figures.get("ctime")
    waited = [value for n in asked if times is not None and (value := times.values[n]) is not None]
    longest = f", the longest for {seconds(max(waited))}" if waited else ""
    kind = f" `{one.rows[asked[0]][keys[0]]}`" if one.find("type") is not None else ""
    yield Finding(
        "listed_waits",
        f"{counted(len(asked), 'listed sessions')} waited for a{kind} lock{longest}; "
        f"session {holder[0]} blocked {holder[1]}.",
        next=SEE_SESSION.format(holder[0]),
        evidence=(Evidence("tables", (holder[0],)),),
        order=_BLOCKED,
    )


def _histogram(table: Table) -> Iterator[Finding]:
    """Of buckets of waits the event with most slow ones, those that became slow with it, and the slowest bucket.

    Each snapshot has its own figures: they are the difference to the one before where the view is one of totals.
    """
    event, counts = table.texts.get("event", table.texts.get("event_name")), table.figures.get("wait_count")
    buckets = ((table.texts.get(name), unit) for name, unit in _BUCKETS.items())
    bucket, unit = next((one for one in buckets if one[0] is not None), (None, 1.0))
    if bucket is None or counts is None:
        return
    time = next((n for n, one in enumerate(table.listed.columns) if one.words & _SNAPSHOTS), None)
    waits: dict[str, dict[str, Counter[float]]] = {}
    asked = table.events[0] if len(table.events) == 1 else "the event"
    for row, end, count in zip(table.listed.rows, table.listed.figures(bucket, unit), counts.values, strict=True):
        if end is not None and count:
            name, when = (default if n is None else str(row[n]).strip() for n, default in ((event, asked), (time, "")))
            waits.setdefault(name, {}).setdefault(when, Counter())[end.value] += round(count)  # of all instances
    if time is not None and table.listed.are_totals(table.texts.get("wait_count")):
        waits = {name: of for name, one in waits.items() if (of := _between(one))}
    heading = "" if time is None else table.listed.columns[time].heading.strip()
    slow = {name: {when: _slow(one) for when, one in of.items()} for name, of in waits.items()}
    worst = {name: max(of, key=lambda when: of[when]) for name, of in slow.items()}
    most = max((slow[name][when] for name, when in worst.items()), default=0)
    for name in sorted((one for one in slow if slow[one][worst[one]] > 0), key=lambda one: -slow[one][worst[one]]):
        when, of, ends = worst[name], waits[name], waits[name][worst[name]]
        best = min(of, key=lambda one: slow[name][one] / of[one].total())
        shares = [slow[name][one] / of[one].total() for one in (when, best)]
        is_jump = shares[0] > max(_FAR * shares[1], _SAME)
        if slow[name][when] < (PART if is_jump else 1) * most:
            continue
        said = f"of the {ends.total():,.0f} waits for `{name}` took"
        said = (
            f"All but {slow[name][when]:,.0f} {said} less than {_SLOW_MS} ms"
            if shares[0] < _SAME
            else f"{percent(shares[0])} {said} {_SLOW_MS} ms or longer"
        )
        said = f"At {heading} `{when}` {said[0].lower()}{said[1:]}" if len(of) > 1 else said
        said += f", at `{best}` {percent(shares[1])}. The" if is_jump else "; the"
        yield Finding(
            "listed_rows",
            f"{said} slowest {ends[max(ends)]:,.0f} took {three(max(ends) / 2)} to {three(max(ends))} ms.",
            next=event_step(name) or _OF_CLASSES.get(wait_class_of(name) or "", _DEVICES),
            evidence=(Evidence("tables", (name,)),),
            order=_USUAL,
            explains=("log file sync", name) if name == "log file parallel write" else (name,),
        )


def _slow(ends: Counter[float]) -> float:
    """The slow waits of a histogram, by the ends of its buckets."""
    return sum(count for end, count in ends.items() if end / 2 >= _SLOW_MS)


def _between(totals: dict[str, Counter[float]]) -> dict[str, Counter[float]]:
    """What was added from each snapshot to the next; none from one after which the totals began again."""
    ordered = [*totals.items()]
    is_latest_first = ordered[0][1].total() > ordered[-1][1].total()
    pairs = pairwise(ordered[::-1] if is_latest_first else ordered)
    found = {when: after - before for (_, before), (when, after) in pairs if before <= after}
    return {when: one for when, one in found.items() if one.total()}


def _resizes(table: Table) -> Iterator[Finding]:
    """The part of memory that grew most, and the one that shrank most, from the first resize to the last."""
    name, before, after = table.texts.get("component"), *map(table.figures.get, ("initial_size", "final_size"))
    sizes: dict[str, list[tuple[float, float]]] = {}
    for n, row in enumerate(table.listed.rows if before and after else ()):
        one, other = before.values[n], after.values[n]  # type: ignore[union-attr] # there are rows of these only
        if name is not None and one and other and one != other:
            sizes.setdefault(row[name].strip(), []).append((one, other))
    changes = [(0.0, "", "")]
    for part, ones in sizes.items():
        is_latest_first = len(ones) > 1 and ones[0][0] == ones[1][1] and ones[0][1] != ones[1][0]
        first, last = (ones[-1][0], ones[0][1]) if is_latest_first else (ones[0][0], ones[-1][1])
        changes += [(last - first, f"`{part}` {{}} from {size_text(round(first))} to {size_text(round(last))}", part)]
    shrank, grew = min(changes), max(changes)
    said = [grew[1].format("grew")] * (grew[0] > 0) + [shrank[1].format("shrank")] * (shrank[0] < 0)
    least = "db_cache_size" if "buffer cache" in shrank[2] else f"{shrank[2].lower().replace(' ', '_')}_size"
    step = f"set a least size of it: {least}" if shrank[0] < 0 else ""
    if said:
        whole = f"{' and '.join(said)} in {counted(sum(map(len, sizes.values())), 'resizes')}."
        yield Finding("listed_rows", whole, next=step, evidence=(Evidence("tables", tuple(sizes)),), order=_USUAL)


def _key_of(rows: float, tables: Sequence[Table]) -> str:
    """The value with nearly as many rows, in a listing of values and their number."""
    for table in tables:
        values = [n for n, column in enumerate(table.listed.columns) if "count" not in column.words]
        counts = table.figures["count"].values if len(values) == 1 and "count" in table.figures else ()
        for row, count in zip(table.listed.rows, counts, strict=False):
            if count and 1 - PART <= count / rows <= 1 + _SAME:
                return f"{count:,.0f} rows have `{table.listed.columns[values[0]].heading.strip()}` {row[values[0]]}"
    return ""


def _reason(tables: Sequence[Table]) -> str:
    """Why most child cursors were not shared: counted by reason, or a column of Y and N for each."""
    found = Counter[str]()
    for table in tables:
        counts = table.figures["count"].values if "count" in table.figures else ()
        for n, row in enumerate(table.listed.rows):
            for column, cell in zip(table.listed.columns, row, strict=True):
                if cell.endswith(_NOT_SHARED) and counts:
                    found[cell] += int(counts[n] or 0)
                elif cell == "Y":
                    found.update(word.upper() for word in column.words if word.upper().endswith(_NOT_SHARED))
    return next((f"`{name}` {count:,}" for name, count in found.most_common(1)), "")


def _lag(text: str | None) -> float | None:
    """The seconds of an interval such as ``+00 01:15:55``; None of other texts."""
    parts = str(text).strip().removeprefix("+").replace(":", " ").split()
    if len(parts) != len(_UNITS_OF_LAG) or not all(part.replace(".", "").isdecimal() for part in parts):
        return None
    return sum(float(part) * unit for part, unit in zip(parts, _UNITS_OF_LAG, strict=True))


def _named(tables: Sequence[Table], key: str, *, is_plain: bool = False) -> dict[str, float]:
    """The figures of listings of a name and its value, such as v$pgastat; plain ones are as the view has them."""
    found: dict[str, float] = {}
    for table in tables:
        name, value = table.texts.get(key), next((table.texts[one] for one in _VALUES if one in table.texts), None)
        if name is None or value is None or (is_plain and len(table.listed.columns[value].tokens) != 1):
            continue
        own: dict[str, list[float]] = {}
        for row, number in zip(table.listed.rows, table.listed.figures(value), strict=True):
            figure = _lag(row[value]) if number is None else number.value
            if figure is not None:
                own.setdefault(str(row[name]).strip(), []).append(figure)
        is_of_all = "inst_id" in table.texts  # a view of all instances has a row of each
        one_of = max if key == "metric_name" else sum if is_of_all else itemgetter(-1)
        found |= {label: one_of(figures) for label, figures in own.items()}
    return found


def _ratios(spool: Spool, tables: Sequence[Table], found_of: dict[str, Finding], longest: Longest) -> Iterator[Finding]:
    """Statistics that say something beside another, the first with what a listing (`found_of`, by view) says of it."""
    traced = dict(spool.autotrace.filter(statement=longest.statement).select(_NAME, "value").drop_nulls().iter_rows())
    counts = spool.statistics.filter(pl.col("basis") != "rate")
    most = pl.col("value").filter(_NAME == "db time").max().over("listing")
    counts = counts.sort(most, maintain_order=True)  # of several runs those of the one with most time are kept
    counted_of = traced | dict(counts.select(_NAME, "value").drop_nulls().iter_rows())
    is_after = (pl.col("statement") > longest.statement) & pl.lit(longest.statement > 0)
    after = spool.statistics.filter(is_after, pl.col("basis") == "delta")
    after = after.filter(pl.col("listing") == pl.col("listing").min())  # of the statement that took longest
    counted_of |= dict(after.select(_NAME, "value").drop_nulls().iter_rows())
    listed = _named(tables, "name", is_plain=True) | _named(tables, "statistic", is_plain=True)
    listed |= {name: value for key in _NAMES for name, value in _named(tables, key).items()}
    deleted = longest.runs.filter(statement=longest.statement, kind="delete").get_column("rows")
    values = {name.lower(): value for name, value in listed.items()} | counted_of | {_DELETED: float(deleted.sum())}
    metrics = {name.lower() for name in _named(tables, "metric_name")}
    is_series = any("metric_name" in one.texts and len(one.listed.rows) > len(metrics) for one in tables)
    own = _own_names(spool, tables, longest.statement) | {*traced, _DELETED}
    values |= {other: values[name] for name, other in data()["aliases"].items() if name in values}
    firsts = _named(tables[::-1], "name", is_plain=True)
    values |= {f"{name.lower()} at first": one for name, one in firsts.items() if one != listed[name]}
    own |= {other for name, other in data()["aliases"].items() if name in own}
    for entry in data()["ratios"]:
        names = {name: entry[name].lower() for name in ("part", "of", "beside") if name in entry}
        part, of, beside = (values.get(names.get(name, names["of"]), 0) for name in ("part", "of", "beside"))
        is_none = names["part"] in values and not part and "least" not in entry
        is_some = "least" in entry and entry["least"] * of <= part <= entry.get("most", math.inf) * max(of, 1)
        is_some &= of >= entry.get("fewest", _LEAST_OF)
        below = entry.get("below", {})
        is_calm = {names["part"], names["of"]} <= values.keys() and all(
            values.get(one.lower(), 0) < most for one, most in below.items()
        )
        if not (is_calm if below else is_none or (is_some and beside > entry.get("above", 0))):
            continue
        explains = (entry["explains"],) if "explains" in entry and own >= {names["part"], names["of"]} else ()
        explains = tuple(entry["of_part"]) if "of_part" in entry else explains
        if not explains and entry.get("explains", ANY) != ANY:
            continue
        texts = {"part": f"{part:,.0f}", "of": f"{of:,.0f}", "share": percent(part / of) if of else ""}
        texts["part/100"] = three(part / 100)
        texts |= run_with_fewer(spool, names["part"], names["of"]) if "of_part" in entry else {}
        texts |= {"part_size": size_text(round(part)), "of_size": size_text(round(of))}
        texts["whose"] = (
            "it" if longest.runs.height <= 1 else "its longest run" if names["part"] in traced else "the session"
        )
        texts |= {name: f"{one:,.{3 if one % 1 and name in metrics else 15}g}" for name, one in values.items()}
        texts["upto"] = "at most" if is_series else "on average"
        table = "statistics" if names["part"] in counted_of else "tables"
        evidence = (Evidence(table, (entry["part"], entry["of"])),)
        if (said := say(entry["say"], texts)) is not None:
            listings = [[found_of.pop(view) for view in entry.get(key, ()) if view in found_of] for key in _BESIDE]
            said = " ".join([said, *(one.sentence for ones in listings for one in ones[:1])])
            step = listings[-1][0].next if listings[-1] else entry["next"]
            order = _CALM if below else _LIMIT if entry.get("severe") else _STATISTIC
            name = CALM if below else "listed_rows"
            yield Finding(name, said, next=step, evidence=evidence, order=order, explains=explains)


def _times(spool: Spool, of: Longest) -> Iterator[Finding]:
    """The parts of the time of the statement that took longest, where statistics below it are of it alone."""
    longest, elapsed, _ = of
    own = spool.statistics.filter(pl.col("statement") > longest, pl.col("basis") == "delta")
    words = {name.lower(): said for name, said in data()["times"].items()}
    counts = (
        rows.select(name=_NAME, s=pl.col("value").cast(pl.Float64) / 100)
        for rows in (own, spool.autotrace.filter(statement=longest))
    )
    rows = pl.concat(counts).filter(pl.col("name").is_in([*words]), pl.col("s") >= PART * elapsed).unique("name")
    if rows.filter(pl.col("name") == _PARSING, pl.col("s") >= LARGE * elapsed).height:
        rows = rows.filter(pl.col("name") != _CPU)  # parsing is CPU
    rows = rows.sort("s", "name", descending=[True, False])
    if rows.is_empty() or not LARGE * elapsed <= rows.item(0, "s") <= rows["s"].sum() <= (1 + PART) * elapsed:
        return
    said = ", ".join(f"{words[name][0]} took {seconds(s)}" for name, s in rows.iter_rows())
    yield Finding(
        "listed_rows",
        f"By the statistics of the session, {said}.",
        next=words[rows.item(0, "name")][1],
        evidence=(Evidence("statistics", tuple(rows["name"])),),
        order=_STATISTIC,
        explains=(ANY,),
    )


def _own_names(spool: Spool, tables: Sequence[Table], longest: int) -> set[str]:
    """The statistics that the session listed of itself after the statement that took longest."""
    own = own_statements(spool, longest)
    # a script without its text that lists statistics right before the statement and right after it is of the session
    silent = spool.statements.filter(pl.col("text").is_null(), pl.col("statement").is_in([longest - 1, longest + 1]))
    around = silent.filter(pl.col("statement").is_in(spool.statistics["statement"].implode()))["statement"]
    own += [longest + 1] * (around.len() > 1)
    listed = _named([one for one in tables if one.listed.statement in own], "statistic")
    is_own = pl.col("statement").is_in(own) | ((pl.col("statement") > longest) & (pl.col("basis") == "delta"))
    return {*map(str.lower, listed), *spool.statistics.filter(is_own).select(_NAME).to_series()}
