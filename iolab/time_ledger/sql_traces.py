"""The account of time of an extended SQL trace: one ledger a session, from its first record to its last.

Calls are CPU, waits and what is neither; between them the session waits for its client, for something else, or works
without a record.  A wait for the client before the next fetch of the cursor that was just executed or fetched is a
round trip; other waits for the client are time between statements, of which application, user and network cannot be
told apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

import polars as pl

from iolab.metrics.formatting import short_text
from iolab.time_ledger.account import Account, void_ledger
from iolab.time_ledger.next_steps import COMMIT_LESS, HOLDER, LOBS, MANY_COMMITS, event_step
from iolab.time_ledger.parts import IO_CLASSES, Place
from logframe.interval import Interval
from logframe.oracle import is_idle, wait_class_of
from sqltraceparse import without_literals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from iolab.time_ledger.account import Ledger
    from sqltraceparse import SqlTrace

BASE: Final = "first record to last record"
#: The base of a trace without waits (level 1 or 4): the time between calls is not in it.
BASE_OF_CALLS: Final = "database calls"
#: Ids of parts, which rules write to.
CALLS, CPU, TRIPS = "database calls", "CPU", "round trips between fetches"
LOB_TRIPS: Final = "round trips between calls on LOBs"
CLIENT, BETWEEN, GAP = "client, between statements", "waits between calls", "between records"
UNFINISHED: Final = "waits of a call that did not end"
RECURSIVE: Final = "recursive SQL of SYS"
#: What closes a level whose parts are all there.
REST: Final = "rest"
_QUERY: Final = ("select", "with")
_WITH_PLAN: Final = (*_QUERY, "insert", "update", "delete", "merge", "create")
_NEXT_OF_VOID: Final = "see calls and statements: iolab show --tables; a total needs the whole trace of one session"
#: What to look at for CPU, and for waits by the begin of their name, else by their class.
_NEXT: Final = {
    "CPU": "see the statements with most logical reads and rows: iolab show --tables",
    "User I/O": "see which objects: iolab show --tables (table reads_by_object)",
    "direct path write": "see the devices (iostat -xt 5), and LOBs that are written past the cache: dba_lobs",
    "Application": HOLDER,
    "Commit": "take an AWR report of the same time: `log file parallel write`, and commits per second",
    "PX Deq": "read the traces of the parallel servers (*_p000_*.trc): the session waited for their work",
    "Cluster": "see file# and block# of the waits (iolab show --tables), and an AWR global report of the time",
    "Concurrency": "see ASH of the same time: which sessions, objects and statements (@?/rdbms/admin/ashrpt)",
}
FROM_CLIENT: Final = ("sql*net message from client", "sql*net vector message from client")
#: A session with less of its time in records has no total.
_LEAST_COVERED: Final = 0.5
#: A single time may be longer than the span by so much: clocks of calls and waits differ a little.
_SLACK, _SLACK_US = 1.01, 10_000
#: Of less work no shares are given: times are whole microseconds, and tracing itself takes some.
_LEAST_SPAN_US: Final = 10_000
#: Work below this in a session that waited for its client nearly all the time is little.
_LITTLE_US, _LITTLE = 1_000_000, 0.01
#: Stamps and `tim` that differ by more are both said.
_MOST_DRIFT: Final = 0.01
#: Client time from here on is reported.
_LEAST_SAID: Final = 0.01
#: More statements, or sessions, are not listed one by one.
_MOST_STATEMENTS, _MOST_SESSIONS = 100, 20
_MOST_TEXT: Final = 100


@dataclass(frozen=True, eq=False)
class Session:
    """The calls and waits of one session, on one clock.

    Attributes:
        process, clock, session_id: Whose they are; `session_id` is None where the trace names none.
        calls, waits: Its rows of the frames of the trace.
        headers: The statements of the trace.
        clocks: How many clocks the session has.
    """

    process: int | None
    clock: int | None
    session_id: str | None
    calls: pl.DataFrame
    waits: pl.DataFrame
    headers: pl.DataFrame
    clocks: int = 1

    @cached_property
    def ends_us(self) -> tuple[int, int]:
        """When the first record begins and the last one ends, by the clock of the trace."""
        timed = (pl.col("tim_us").is_not_null() & pl.col("elapsed_us").is_not_null(),)
        start = pl.col("tim_us") - pl.col("elapsed_us")
        first = [frame.lazy().filter(*timed).select("line", start=start).head(1) for frame in (self.calls, self.waits)]
        root = self.calls.lazy().filter(*timed, pl.col("parent").is_null()).select("line", start=start).head(1)
        begins = pl.concat(first).sort("line").head(1).collect().get_column("start").to_list()
        begins += root.collect().get_column("start").to_list()
        ends = [frame.get_column("tim_us").max() for frame in (self.calls, self.waits)]
        return min(begins, default=0), max((int(str(end)) for end in ends if end is not None), default=0)

    @property
    def span_us(self) -> int:
        """Time from the start of the first record to the end of the last."""
        begin, end = self.ends_us
        return end - begin

    @cached_property
    def in_calls(self) -> pl.DataFrame:
        """Waits within calls by ``event``: ``count``, ``us``; the longest first."""
        return _by_event(self.waits.lazy().filter(pl.col("call").is_not_null()))

    @cached_property
    def between(self) -> pl.DataFrame:
        """Waits between calls by ``event``, as `in_calls`; those for the client among them."""
        return _by_event(self.waits.lazy().filter(pl.col("call").is_null()))

    @cached_property
    def unfinished(self) -> pl.DataFrame:
        """Waits of a cursor below the last call, but for commits and the client: those of a call that did not end."""
        waits = self.waits.filter(
            pl.col("call").is_null(), pl.col("cursor") > 0, pl.col("line") > (self.calls.get_column("line").max() or 0)
        )
        events = [event for event in waits.get_column("event").unique() if not is_idle(event)]
        return waits.filter(pl.col("event").is_in([e for e in events if wait_class_of(e) not in {"Commit", "Network"}]))

    @cached_property
    def for_client(self) -> pl.DataFrame:
        """Waits for the client between calls: ``line``, ``us``, ``op`` and ``statement`` of the next call, ``part``.

        A round trip is one whose next call of depth 0 is on a LOB, or a FETCH of the cursor of the call before it; one
        that follows a call on a LOB is of no statement (``is_trip``).
        """
        names = [one for one in self.between.get_column("event") if one.lower() in FROM_CLIENT]
        waits = self.waits.lazy().filter(
            pl.col("call").is_null(),
            pl.col("elapsed_us").is_not_null(),
            pl.col("event").is_in(names),
        )
        # A cursor that is closed on the way is no call that the client waited for; calls on LOBs have no cursor.
        of_lob = pl.col("cursor").is_null() & pl.col("parent").is_null()
        real = self.calls.lazy().filter(of_lob | (pl.col("depth") == 0), pl.col("op") != "CLOSE").sort("line")
        own = pl.col("statement").forward_fill()  # of a call on a LOB that of the call before it
        same = pl.col("cursor").forward_fill().shift() == pl.col("cursor")
        fetched = same & (pl.col("op") == "FETCH") & (pl.col("op").shift().is_in(["EXEC", "FETCH"]) | of_lob.shift())
        trip = pl.when(of_lob.shift()).then(pl.lit(LOB_TRIPS)).otherwise(pl.lit(TRIPS))
        real = real.select("line", "op", own, part=pl.when(of_lob | fetched).then(trip), is_again=own.shift() == own)
        # one on the line of a call ends it: without a line end between them it came after that call
        found = waits.select("line", us="elapsed_us").sort("line")
        found = found.join_asof(real, on="line", strategy="forward", allow_exact_matches=False)
        found = found.with_columns(pl.col("part").fill_null(CLIENT), pl.col("is_again").fill_null(value=False))
        return found.with_columns(is_trip=pl.col("part") == TRIPS).collect()

    @cached_property
    def phases(self) -> pl.DataFrame:
        """Calls by ``op``: ``count``, ``us`` of their own, ``misses``; the longest first."""
        found = self.calls.group_by("op").agg(
            count=pl.len(), us=pl.col("own_elapsed_us").sum(), misses=pl.col("misses").sum()
        )
        return found.sort("us", "op", descending=[True, False])

    @cached_property
    def parses(self) -> pl.DataFrame:
        """The PARSE calls that are in no other one: ``elapsed_us`` is with the recursive statements in them."""
        later = (pl.col("tim_us") - pl.col("elapsed_us")).reverse().cum_min().shift().reverse()
        parses = self.calls.filter(pl.col("op") == "PARSE").sort("line")
        is_outside = (pl.col("tim_us") <= later).fill_null(value=True)  # no later one began before its end
        return parses.filter((pl.col("depth") == 0) | is_outside)

    @cached_property
    def statements(self) -> pl.DataFrame:
        """Statements that are alike but for literals, the longest first.

        ``key`` (the text without literals), ``sql`` (id of the first text), ``text`` (the first one), ``texts`` (their
        number), ``statement`` and ``part`` (line of the first header), ``is_sys`` (SQL of the dictionary), ``depth``,
        ``is_recursive``,
        ``executions``, ``fetches``, ``hard_parses``, ``rows``, ``us`` of own time of the calls (of one that did not
        end its waits), ``cpu_us``,
        ``io_us``, ``parse_us`` (``parse_whole_us`` with recursive statements), ``disk_blocks``, ``gets``; ``trips`` and
        ``trip_us``: round trips between fetches, or between calls on LOBs.
        """
        op, own = pl.col("op"), pl.col("own_elapsed_us")
        sums = self.calls.group_by("statement", pl.col("cursor").is_null().alias("is_lob")).agg(
            depth=pl.col("depth").min(),
            executions=op.is_in(["EXEC", "UNMAP", "SORT UNMAP", "RPC EXEC"]).sum(),
            fetches=(op == "FETCH").sum(),
            hard_parses=((op == "PARSE") & (pl.col("misses") > 0)).sum(),
            rows=pl.col("rows").sum(),
            us=own.sum(),
            cpu_us=pl.col("own_cpu_us").sum(),
            parse_us=own.filter(op == "PARSE").sum(),
            parse_whole_us=pl.col("elapsed_us").filter(op == "PARSE").sum(),
            disk_blocks=pl.col("own_disk_blocks").sum(),
            # a call may have counted before the statements below it had
            gets=(pl.col("own_consistent_gets") + pl.col("own_current_gets")).sum().clip(lower_bound=0),
        )
        is_lob = pl.col("part") == LOB_TRIPS
        trips = self.for_client.filter(pl.col("part") != CLIENT)
        trips = trips.with_columns(pl.when(~is_lob).then("statement").alias("statement"), is_lob=is_lob)
        by_trips = trips.group_by("statement", "is_lob").agg(trips=pl.len(), trip_us=pl.col("us").sum())
        events = [one for one in self.in_calls.get_column("event") if wait_class_of(one) in IO_CLASSES]
        waited = self.waits.filter(pl.col("call").is_not_null(), pl.col("event").is_in(events))
        by_io = waited.group_by("statement").agg(io_us=pl.col("elapsed_us").sum())
        by_cut = self.unfinished.group_by("statement").agg(cut_us=pl.col("elapsed_us").sum())
        plain = pl.lit(value=False).alias("is_lob")
        for one in (by_trips, by_io.with_columns(plain), by_cut.with_columns(plain)):
            key = ["statement", "is_lob"]
            sums = sums.join(one, on=key, how="full", nulls_equal=True, coalesce=True)
        sums = sums.with_columns(us=pl.col("us").fill_null(0) + pl.col("cut_us").fill_null(0))
        sql = pl.coalesce("sql_id", pl.col("hash_value").cast(pl.String))
        names = self.headers.select("statement", "text", "user_id", sql=sql)
        found = sums.join(names, on="statement", how="left").with_columns(
            key=pl.coalesce(without_literals(pl.col("text")), "sql"),
            is_sys=((pl.col("user_id") == 0) & (pl.col("depth") > 0)).fill_null(value=False),
        )
        figures = ("executions", "fetches", "hard_parses", "rows", "us", "cpu_us", "io_us", "disk_blocks")
        parsed = ("parse_us", "parse_whole_us")
        totals = [pl.col(name).cast(pl.Int64).sum() for name in (*figures, *parsed, "gets", "trips", "trip_us")]
        grouped = found.sort("statement").group_by("key", "is_sys", "is_lob", maintain_order=True)
        first = [pl.col(name).first() for name in ("sql", "text", "statement")]
        alike = grouped.agg(*first, *totals, pl.col("depth").min(), texts=pl.struct("sql", "text").n_unique())
        alike = alike.with_columns(part="statement", is_recursive=(pl.col("depth") > 0).fill_null(value=False))
        return alike.sort(pl.col("us") + pl.col("trip_us"), "statement", descending=[True, False])


def _by_event(waits: pl.LazyFrame) -> pl.DataFrame:
    timed = waits.filter(pl.col("elapsed_us").is_not_null())
    found = timed.group_by("event").agg(count=pl.len(), us=pl.col("elapsed_us").sum()).collect()
    return found.sort("us", "event", descending=[True, False])


_SESSIONS: WeakKeyDictionary[SqlTrace, list[Session]] = WeakKeyDictionary()


def sessions_of(trace: SqlTrace) -> list[Session]:
    """The sessions of a trace, the one with the longest span first."""
    if trace not in _SESSIONS:
        _SESSIONS[trace] = sorted(_sessions(trace), key=lambda one: -one.span_us)
    return _SESSIONS[trace]


def _sessions(trace: SqlTrace) -> Iterator[Session]:
    named = trace.session.filter(pl.col("name") == "session_id").get_column("value").unique().to_list()
    if trace.clock.height <= 1 and len(named) <= 1:
        process = trace.clock.item(0, "process") if trace.clock.height else None
        yield _session(trace, (process, 1, named[0] if named else None), trace.calls, trace.waits, 1)
        return
    key = ["process", "clock", "session_id"]
    one_clock = trace.clock.group_by("process").agg(pl.col("clock").unique()).filter(pl.col("clock").list.len() == 1)
    only = dict(one_clock.select("process", pl.col("clock").list.first()).iter_rows())
    # waits of 9.2 have no time: they are of the clock of their process where that has one
    clock = pl.coalesce("clock", pl.col("process").replace_strict(only, default=None, return_dtype=pl.Int64))
    frames = [
        frame.with_columns(clock=clock) if frame.get_column("clock").null_count() else frame
        for frame in (trace.calls, trace.waits)
    ]
    end, start = pl.col("tim_us").max(), (pl.col("tim_us") - pl.col("elapsed_us")).min()
    spans = pl.concat(frame.group_by(key).agg(end=end, start=start) for frame in frames)
    found = spans.group_by(key).agg(span=pl.col("end").max() - pl.col("start").min()).drop_nulls("span")
    found = found.with_columns(clocks=pl.len().over("process", "session_id"))
    longest = found.sort("span", *key, descending=[True, False, False, False], nulls_last=True).head(_MOST_SESSIONS)
    calls, waits = (
        frame.join(longest.select(key), on=key, how="semi", nulls_equal=True, maintain_order="left").partition_by(
            key, as_dict=True, maintain_order=True
        )
        for frame in frames
    )
    for *one, _, clocks in longest.iter_rows():
        own = calls.get(tuple(one), trace.calls.clear()), waits.get(tuple(one), trace.waits.clear())
        yield _session(trace, tuple(one), *own, clocks)


def _session(
    trace: SqlTrace, key: tuple[object, ...], calls: pl.DataFrame, waits: pl.DataFrame, clocks: int
) -> Session:
    """A session; waits without a time (before 10.2) after its last call are not between two of its records."""
    last = calls.get_column("line").max()
    if last is not None and waits.height and waits.item(-1, "tim_us") is None:
        waits = waits.filter(pl.col("tim_us").is_not_null() | (pl.col("line") < last))
    process, clock, session_id = key
    return Session(process, clock, session_id, calls, waits, trace.statements, clocks)  # type: ignore[arg-type]


def sql_trace_ledgers(trace: SqlTrace) -> list[Ledger]:
    r"""The accounts of time of a trace, one a session, the one with the longest span first.

    Views: ``what`` (calls by CPU and waits, round trips, the client, waits between calls, between records), ``phase``
    (PARSE, EXEC, FETCH, ... by their own time) and ``who`` (statements that are alike but for literals, with their
    round trips).

    Examples:
        >>> import iolab
        >>> log = (b"EXEC #1:c=10,e=20,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,plh=9,tim=20020\n"
        ...     b"WAIT #1: nam='SQL*Net message from client' ela= 10000 driver id=1 #bytes=1 p3=0 obj#=3 tim=30120\n"
        ...     b"FETCH #1:c=70,e=80,p=0,cr=2,cu=0,mis=0,r=9,dep=0,og=1,plh=9,tim=30200\n")
        >>> print(sql_trace_ledgers(iolab.load(log))[0].tree())
        the session took 10.2 ms
          98.0            0.01             1  round trips between fetches
           1.0          0.0001                between records
           1.0          0.0001                database calls
           0.8           8e-05             2    CPU
           0.2           2e-05                  not accounted for
           0.0               0                  counted twice
           0.0               0                rest
    """
    sessions = sessions_of(trace)
    if not sessions or not trace.clock.height:
        return [void_ledger("no record states its time (`tim`)", base=BASE)]
    count = len(sessions)
    if count == _MOST_SESSIONS:
        count = trace.calls.select(pl.struct("process", "clock", "session_id").n_unique()).item()
    return [_ledger(trace, one, count) for one in sessions]


def _scope(trace: SqlTrace, session: Session) -> str:
    """The name of a session among the ledgers of a trace."""
    name = "log" if session.process is None else f"process {session.process}"
    if session.session_id is not None:
        is_one = session.process is None or trace.clock.get_column("process").n_unique() == 1
        name = f"session {session.session_id}" + ("" if is_one else f" of {name}")
    return name if session.clocks == 1 else f"{name}, clock {session.clock}"


def _ledger(trace: SqlTrace, session: Session, count: int) -> Ledger:
    has_waits, scope = trace.waits.height > 0, _scope(trace, session)
    own = int(session.calls.get_column("own_elapsed_us").sum())
    recorded = own + int(session.between.get_column("us").sum())
    span = session.span_us if has_waits else own
    base = BASE if has_waits else BASE_OF_CALLS
    void, line = _void(trace, session, span, recorded)
    if void:
        place = Place("waits", lines=() if line is None else (line,)).cell()
        gate: dict[str, object] = {"role": "gate", "rule": "coverage", "text": void, "evidence": place}
        step: dict[str, object] = {"role": "next", "rule": "coverage", "text": _NEXT_OF_VOID}
        return void_ledger(void, base=base, scope=scope, remarks=[gate, step], facts_hold=True)
    account = Account(_s(span), base, scope=scope)
    roots = int(session.calls.filter(pl.col("parent").is_null()).get_column("elapsed_us").sum())
    account.check("calls of depth 0", view="phase", printed=roots / 1e6, computed=own / 1e6, slack=1e-6)
    _calls_by_what(account, session, own, has_waits=has_waits)
    phases = session.phases.select("op", "count", "us").rows()
    for op, calls, us in phases:
        account.add("phase", op, _s(us), kind="mixed", count=Interval.exact(calls), evidence=Place("calls", (op,)))
    aside = _outside(account, session, span - recorded if has_waits else 0)
    _statements(account, session)
    work = _s(span - aside)
    text, work_base = _words(trace, session, span, aside, count)
    return account.ledger(
        work=work,
        work_base=work_base,
        unshared=_unshared(trace, session, span - aside),
        text=text,
        counted={"what": "waits", "phase": "calls", "who": "executions"},
    )


def _calls_by_what(account: Account, session: Session, own: int, *, has_waits: bool) -> None:
    """The calls as CPU, waits, and the rest of both signs."""
    calls = session.calls
    parent = account.add("what", CALLS, _s(own), kind="mixed")  # calls of several kinds have no mean
    cpu, rest = int(calls.get_column("own_cpu_us").sum()), calls.get_column("unaccounted_us")
    place = Place("calls")
    count = Interval.exact(calls.height)
    account.add("what", CPU, _s(cpu), kind="cpu", parent=parent, count=count, evidence=place, next_step=_NEXT["CPU"])
    _events(account, "what", session.in_calls, parent)
    more, less = int(rest.clip(lower_bound=0).sum()), int(rest.clip(upper_bound=0).sum())
    if has_waits:
        account.add("what", "not accounted for", _s(more), kind="not_accounted", parent=parent, evidence=place)
    else:
        name = "waits, which are not in the trace (level 1 or 4)"
        account.add("what", name, _s(more), kind="not_in_log", parent=parent, evidence=place)
    account.add("what", "counted twice", _s(less), kind="counted_twice", parent=parent, evidence=place)


def _events(account: Account, view: str, events: pl.DataFrame, parent: str | None) -> None:
    for event, count, us in events.select("event", "count", "us").iter_rows():
        account.add(
            view,
            event,
            _s(us),
            kind="io" if wait_class_of(event) in {"User I/O", "System I/O"} else "wait",
            parent=parent,
            wait_class=wait_class_of(event),
            count=Interval.exact(count),
            evidence=Place("waits", (event,)),
            next_step=next_of(event, count) or "the calls with these waits: iolab show --tables",
        )


def next_of(event: str, count: int = 0) -> str:
    """What to look at for a number of waits; empty where only the calls say more.

    Examples:
        >>> next_of("log file sync", 900)
        'commit less often: once for many rows, not for each'
        >>> next_of("PX Deq: Execute Reply"), next_of("reliable message")
        ('read the traces of the parallel servers (*_p000_*.trc): the session waited for their work', '')
    """
    if count > MANY_COMMITS and wait_class_of(event) == "Commit":
        return COMMIT_LESS
    if count > MANY_COMMITS and event.endswith("message from dblink"):
        return "see whether its plan has REMOTE below a nested loop: then each row is a round trip"
    begins = (step for begin, step in _NEXT.items() if event.startswith(begin))
    return event_step(event) or next(begins, "") or _NEXT.get(wait_class_of(event) or "", "")


def step_beside_plan(event: str, count: int = 0) -> str:
    """What to look at for a statement that waited for an event most of its time, where that is not its plan."""
    step = next_of(event, count)
    return "" if step == _NEXT["User I/O"] else step


def is_commit(text: str | None) -> bool:
    """Whether a statement is a COMMIT, and nothing else."""
    return (text or "").strip().rstrip(";").rstrip().upper() == "COMMIT"


def has_plan(text: str | None) -> bool:
    """Whether a statement can have a plan: a query or DML; COMMIT and PL/SQL have none.

    Examples:
        >>> has_plan("/* x */ select 1 from dual"), has_plan("BEGIN p; END;"), has_plan("commit")
        (True, False, False)
    """
    return _code(text).startswith(_WITH_PLAN)


def is_query(text: str | None) -> bool:
    """Whether a statement only reads: ``select``, or ``with`` before one.

    Examples:
        >>> is_query("(select 1 from dual)"), is_query("update t set a = 1")
        (True, False)
    """
    return _code(text).startswith(_QUERY)


def _code(text: str | None) -> str:
    """A statement in lower case from its first word on."""
    code = text or ""
    while code.startswith("/*") and "*/" in code:
        code = code.partition("*/")[2].lstrip()
    return code.lower().lstrip("( ")


def _outside(account: Account, session: Session, gap: int) -> int:
    """The parts outside calls, the same in every view; the time of clients and idle time among them, in us."""
    between = session.between.with_columns(lower=pl.col("event").str.to_lowercase())
    of_client = pl.col("lower").is_in(FROM_CLIENT)
    idle = pl.col("event").map_elements(is_idle, return_dtype=pl.Boolean)
    place = Place("waits", tuple(between.filter(of_client).get_column("event")))
    client = session.for_client.group_by("part").agg(count=pl.len(), us=pl.col("us").sum())
    sums = {part: (count, us) for part, count, us in client.select("part", "count", "us").iter_rows()}
    idles = between.filter(idle & ~of_client).select("event", "count", "us").rows()
    cut = session.unfinished.group_by("event").agg(cut=pl.len(), cut_us=pl.col("elapsed_us").sum())
    others = between.filter(~idle & ~of_client).join(cut, on="event", how="left", maintain_order="left")
    others = others.with_columns(
        pl.col("count") - pl.col("cut").fill_null(0), pl.col("us") - pl.col("cut_us").fill_null(0)
    ).filter(pl.col("count") > 0)
    cut = cut.rename({"cut": "count", "cut_us": "us"}).sort("us", "event", descending=[True, False])
    count_of_others, us_of_others = others.select(pl.col("count", "us").sum()).row(0)
    for view in ("what", "phase", "who"):
        for name, kind in ((TRIPS, "wait"), (LOB_TRIPS, "wait"), (CLIENT, "client")):
            if name in sums and (name == CLIENT or view != "who"):
                count, us = sums[name]
                number = Interval.exact(count)
                account.add(
                    view, name, _s(us), kind=kind, wait_class="Network", count=number, evidence=place,
                    next_step=LOBS if name == LOB_TRIPS else None,
                )  # fmt: skip
        for event, count, us in idles:
            number, evidence = Interval.exact(count), Place("waits", (event,))
            account.add(view, event, _s(us), kind="idle", wait_class="Idle", count=number, evidence=evidence)
        if cut.height and view != "who":  # there it is in the time of its statement
            count, us = cut.select(pl.col("count", "us").sum()).row(0)
            parent = account.add(view, UNFINISHED, _s(us), kind="wait", count=Interval.exact(count))
            if view == "what":
                _events(account, view, cut, parent)
                account.closes(parent, "other waits of this call", kind="unlisted")
        if others.height:
            parent = account.add(view, BETWEEN, _s(us_of_others), kind="wait", count=Interval.exact(count_of_others))
            if view == "what":
                _events(account, view, others, parent)
                account.closes(parent, "other waits between calls", kind="unlisted")
        if gap > 0:
            account.add(view, GAP, _s(gap), kind="gap")
        account.closes(None, REST, kind="not_accounted", view=view)
    return int(sums.get(CLIENT, (0, 0))[1] + sum(us for *_, us in idles))


def _statements(account: Account, session: Session) -> None:
    """The statements by their own time with the round trips between their fetches."""
    found = session.statements
    top, rest = found.head(_MOST_STATEMENTS), found.slice(_MOST_STATEMENTS)
    parents: dict[bool, str | None] = {False: None}
    sys = found.filter("is_sys")
    if sys.height:
        whole = sys.select(pl.col("us", "trip_us", "executions", "texts").sum()).row(0, named=True)
        parents[True] = account.add(
            "who",
            RECURSIVE,
            _s(whole["us"] + whole["trip_us"]),
            kind="mixed",
            count=Interval.exact(whole["executions"]),
            evidence=Place("statements"),
        )
        account.closes(parents[True], "other recursive SQL", kind="unlisted", view="who")
    for row in top.iter_rows(named=True):
        count = Interval.exact(row["executions"]) if row["executions"] else None
        part = account.add(
            "who",
            statement_name(row),
            _s(row["us"] + row["trip_us"]),
            kind="mixed",
            parent=parents[row["is_sys"]],
            count=count,
            evidence=Place("statements", (row["sql"],) if row["sql"] else (), lines=_lines(row)),
        )
        account.has_within(part, cpu=row["cpu_us"] / 1e6, io=row["io_us"] / 1e6, network=row["trip_us"] / 1e6)
    for is_sys, others in rest.partition_by("is_sys", as_dict=True).items():
        whole = others.select(pl.col("us", "trip_us", "executions", "texts").sum()).row(0, named=True)
        account.add(
            "who",
            f"{whole['texts']:,} other statements",
            _s(whole["us"] + whole["trip_us"]),
            kind="mixed",
            parent=parents[bool(is_sys[0])],
            count=Interval.exact(whole["executions"]),
        )


def statement_name(row: dict[str, object]) -> str:
    """A statement for a table: its id and the begin of its text; how many are alike, where they differ in literals."""
    if row["texts"] != 1 and row["key"] is not None:
        return f"{row['texts']:,} statements alike: {short_text(str(row['key']), _MOST_TEXT)}"
    if row["sql"] is None:
        return statement_word(row)
    return f"{row['sql']} {short_text(str(row['text'] or ''), _MOST_TEXT)}".rstrip()


def statement_word(row: dict[str, object]) -> str:
    """A statement without an id for a sentence."""
    return "calls on LOBs" if row.get("is_lob") else "statements without a header"


def _lines(row: dict[str, object]) -> tuple[int, ...]:
    line = row["statement"]
    return (line,) if isinstance(line, int) else ()


def _void(trace: SqlTrace, session: Session, span: int, recorded: int) -> tuple[str, int | None]:
    """Why there is no total, and the line that shows it; empty where there is one."""
    most = session.span_us * _SLACK + _SLACK_US
    figures = ((session.waits, "elapsed_us", "wait"), (session.calls, "elapsed_us", "call"))
    for frame, column, what in (*figures, (session.calls, "cpu_us", "call")):
        odd = frame.filter((pl.col(column) < 0) | (pl.col(column) > most)).head(1)
        for line, us in odd.select("line", column).iter_rows():
            of = "" if us < 0 else f" in a session of {_time(session.span_us)}"
            return f"line {line:,} states a {what} of {_time(us)}{of}: a counter overflowed or the clock was set", line
    if session.clocks > 1:
        return "the clock of the session goes back, so the lines are of two clocks", None
    begin, end = session.calls.get_column("line").min(), session.calls.get_column("line").max()
    odd = trace.diagnostics.filter(pl.col("kind") == "overflow", pl.col("line").is_between(begin, end))
    if odd.height:
        line = int(odd.item(0, "line"))
        return f"line {line:,} states a number that no time has: a counter overflowed", line
    if span <= 0:
        return "the records span no time", None
    if trace.waits.height and recorded < _LEAST_COVERED * span:
        said = (
            f"records cover only {_time(recorded)} of {_time(span)}, so lines are missing, or it used a shared server"
        )
        return said, None
    return "", None


def _unshared(trace: SqlTrace, session: Session, work: int) -> str:
    if _is_little(session, work):
        return f"only {_time(work)} was not client time"
    step = trace.resolution_us
    if step > 1 and step * session.calls.height > _MOST_DRIFT * work:
        return f"times are printed in steps of {_time(step)}"
    return ""


def _is_little(session: Session, work: int) -> bool:
    """Whether so little was not client time that no share of it matters."""
    return work < _LEAST_SPAN_US or (work < _LITTLE_US and work < _LITTLE * session.span_us)


def _words(trace: SqlTrace, session: Session, span: int, aside: int, count: int) -> tuple[str, str]:
    """The line of the total, and what shares are of."""
    whole, rate = _time(span), _rate(trace, session)
    is_off = rate is not None and abs(rate - 1) > _MOST_DRIFT
    notes = [f"`tim` ran {rate:.3g} times as fast as the dates in the trace"] if is_off else []
    notes += [f"in steps of {_time(trace.resolution_us)}"] if trace.resolution_us > 1 else []
    notes += [f"the longest of {count:,} sessions"] if count > 1 else []
    beside = f" ({', '.join(notes)})" if notes else ""
    if not trace.waits.height:
        return f"database calls took {whole}{beside}; the trace has no waits (level 1 or 4)", f"the {whole} in calls"
    work = _time(span - aside, span)
    took = f"the session took {whole}{beside}"
    if limit_of(trace, session) is not None:
        took = f"the trace was cut at its size limit, so the session took longer than {whole}{beside}"
    if work == whole:
        return took, f"the {whole} of the session"
    base = f"the {work} without client time"
    if _is_little(session, span - aside):
        said = f"all but {work}" if 2 * aside > span else _time(aside, span)
        return f"{took}; {said} was client time between statements", base
    is_part = aside > _LEAST_SAID * span
    part = f", {_time(aside, span)} of it client time" if is_part else ""
    return f"{took}{part}; shares are of {f'the other {work}' if is_part else base}", base


def limit_of(trace: SqlTrace, session: Session) -> int | None:
    """The line at which the database stopped writing of a session, as the file reached its limit; None without one."""
    end = max((int(str(frame.get_column("line").max() or 0)) for frame in (session.calls, session.waits)), default=0)
    limits = trace.diagnostics.filter(pl.col("kind") == "limit").get_column("line").sort()
    line = next((line for line in limits if line > end), None)
    others = trace.calls.get_column("line").is_between(end + 1, line or 0)
    return None if line is None or others.any() else int(line)


def _rate(trace: SqlTrace, session: Session) -> float | None:
    """Seconds of `tim` per second of the stamps, where they are of one clock."""
    clock = trace.clock.filter(pl.col("clock") == session.clock)
    if session.process is not None:
        clock = clock.filter(pl.col("process") == session.process)
    rate = clock.item(0, "rate") if clock.height == 1 else None
    return float(rate) if rate else None


def _s(us: int | None) -> Interval:
    return Interval.exact((us or 0) / 1e6)


def _time(us: int, of: int = 0) -> str:
    """A time with three digits; in s where it is a part of this many seconds, and not much smaller.

    Examples:
        >>> _time(14_570_464), _time(569_618, 14_570_464), _time(569_618), _time(3_600_000_000), _time(-5)
        ('14.6 s', '0.570 s', '570 ms', '3,600 s', '-5 us')
    """
    size, unit = 1.0, "us"
    if abs(us) >= 1_000_000 or (of >= 1_000_000 and us >= 100_000):
        size, unit = 1e6, "s"
    elif abs(us) >= 1000:
        size, unit = 1e3, "ms"
    value = us / size
    if unit == "us" or abs(value) >= 1000:
        return f"{value:,.0f} {unit}"
    return f"{value:#.3g}".rstrip(".") + f" {unit}"
