"""An extended SQL trace: where its time went, what a read cost, which statement and what is not accounted for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.formatting import as_sentence, count_text, figure_text, share_text, time_text
from iolab.metrics.sql_trace import ASYNCHRONOUS, cpu_step, reads_of, us_per_get
from iolab.rules.event_groups import group_of
from iolab.rules.finding import Evidence, Finding
from iolab.rules.gates import LEAST_WAITS
from iolab.rules.shares import PROFILE
from logframe.interval import Interval
from sqltraceparse import account_time, profile, statement_totals
from sqltraceparse.accounts import CPU, UNACCOUNTED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqltraceparse import SqlTrace

_OF: Final = "response time"
#: Components that the first sentence names.
_MOST_NAMED: Final = 3
_MOST_EVENTS: Final = 2
_STATEMENT_SHARE: Final = 0.2
_GAP_SHARE: Final = 0.05
_LEAST_PART: Final = 0.005
#: Smaller parts are not named in a sentence.
_LEAST_NAMED: Final = 0.01
#: CPU and waits that add up to more than this overlap.
_OVERLAP: Final = 1.10
#: Fewer logical reads, or less CPU than so many of its steps, give no cost of one: n steps are known to sqrt(n).
_LEAST_GETS: Final = 1_000
_LEAST_STEPS: Final = 100
#: From so much disk in the gets on, the CPU of reading is in it; with so much time unaccounted for, CPU may be missing.
_MOST_FROM_DISK: Final = 0.10
_MOST_UNACCOUNTED: Final = 0.10
#: Times are whole microseconds: a call of less than this is known to a tenth at best.
_LEAST_CALL_US: Final = 10
_FROM_CLIENT: Final = "SQL*Net message from client"
_CLIENTS: Final = {"session": "its client", "sessions": "their clients"}


def sql_trace_findings(trace: SqlTrace) -> Iterator[Finding]:
    r"""The findings of an extended SQL trace.

    Examples:
        >>> import iolab
        >>> log = (b"WAIT #1: nam='db file sequential read' ela= 600 file#=1 block#=2 blocks=1 obj#=3 tim=1700\n"
        ...     b"FETCH #1:c=200,e=1000,p=1,cr=2,cu=0,mis=0,r=1,dep=0,og=1,plh=9,tim=2000\n")
        >>> for one in sql_trace_findings(iolab.load(log)): print(one.sentence)
        Of 1 ms of response time 60.0 % was `db file sequential read`, 20.0 % CPU, 20.0 % unaccounted for.
        `db file sequential read`: 1 wait of 600 us: too few for a latency.
    """
    for rule in (
        clock_is_off,
        parts_overlap,
        where_time_went,
        client_waits,
        cost_of_reads,
        main_statement,
        cost_of_gets,
        not_in_the_trace,
    ):
        yield from rule(trace)


def clock_is_off(trace: SqlTrace) -> Iterator[Finding]:
    """A gate: the clock of the trace does not run as the wall clock does."""
    for line, reason in (
        trace.diagnostics.filter(pl.col("kind") == "clock").select("line", "reason").head(1).iter_rows()
    ):
        words = " ".join("`tim`" if word == "tim" else word for word in reason.split(" "))
        yield Finding("trace_clock", as_sentence(words), evidence=(Evidence("clock", lines=(line,)),), is_gate=True)


def parts_overlap(trace: SqlTrace) -> Iterator[Finding]:
    r"""A gate: CPU and waits of the calls add up to more than the calls took.

    Examples:
        >>> import iolab
        >>> wait = "WAIT #1: nam='db file sequential read' ela= 600 file#=1 block#=2 blocks=1 obj#=3 tim=1700\n"
        >>> fetch = "FETCH #1:c={cpu},e=1000,p=1,cr=2,cu=0,mis=0,r=1,dep=0,og=1,plh=9,tim=2000\n"
        >>> def log(cpu): return iolab.load((wait + fetch.format(cpu=cpu)).encode())
        >>> for one in parts_overlap(log(1000)): print(one.sentence)
        CPU and waits add up to 160.0 % of 1 ms of response time: shares say the order, not the parts.
        >>> list(parts_overlap(log(400)))
        []
    """
    busy = profile(trace).filter(~pl.col("is_idle"))
    response = int(busy.get_column("total_us").sum())
    counted = int(busy.filter(pl.col("component") != UNACCOUNTED).get_column("total_us").sum())
    if response <= 0 or counted <= _OVERLAP * response:
        return
    step = cpu_step(trace.calls)
    waited = int(busy.filter(~pl.col("component").is_in([CPU, UNACCOUNTED])).get_column("total_us").sum())
    if waited > _OVERLAP * response:
        said, why = f"Waits alone add up to {share_text(waited / response)}", "calls that waited are not in the log"
    else:
        said, why = f"CPU and waits add up to {share_text(counted / response)}", "CPU within a wait is counted in both"
        why += f"; the host counts CPU in steps of about {step:,} us" if step > 1 else ""
    yield Finding(
        "overlapping_shares",
        f"{said} of {time_text(response / 1e6)} of response time: shares say the order, not the parts.",
        why=why,
        refuted_by="parts that add up over more calls",
        evidence=(Evidence("profile"),),
        is_gate=True,
    )


def where_time_went(trace: SqlTrace) -> Iterator[Finding]:
    """The largest parts of the response time; idle time beside it.

    Examples:
        >>> import iolab
        >>> log = iolab.load(b"FETCH #1:c=1000,e=500,p=0,cr=2,cu=0,mis=0,r=1,dep=0,og=1,plh=9,tim=2000")
        >>> for one in where_time_went(log): print(one.sentence, one.impact)
        Response time was 500 us; 1 ms of CPU was counted for it. None
        >>> short = iolab.load(b"CLOSE #1:c=1,e=1,dep=0,type=0,tim=2000")
        >>> for one in where_time_went(short): print(one.sentence)
        Response time was 1 us in 1 call: too short for shares, as times are whole microseconds.
    """
    parts = profile(trace)
    busy = parts.filter(~pl.col("is_idle"))
    total = int(busy.get_column("total_us").sum())
    if total <= 0:
        return
    top = busy.filter(pl.col("share") >= _LEAST_NAMED).head(_MOST_NAMED).select("component", "share", "total_us").rows()
    idle = int(parts.filter("is_idle").get_column("total_us").sum())
    who = "session" if trace.calls.get_column("session_id").n_unique() <= 1 else "sessions"
    beside = f" Beside it the {who} waited {time_text(idle / 1e6)} for {_CLIENTS[who]}." if idle else ""
    calls = trace.calls.height
    if total < _LEAST_CALL_US * calls:
        said = (
            f"Response time was {time_text(total / 1e6)} in {count_text(calls, 'call')}: too short for shares, as "
            "times are whole microseconds."
        )
        impact = None
    elif top[0][1] > 1:
        part, _, time = top[0]
        counted = f"{time_text(time / 1e6)} of {_name(part)} was counted for it"
        said, impact = f"Response time was {time_text(total / 1e6)}; {counted}.", None
    else:
        named = ", ".join(
            f"{share_text(share)}{' was' if place == 0 else ''} {_name(part)}"
            for place, (part, share, _) in enumerate(top)
        )
        said, impact = f"Of {time_text(total / 1e6)} of response time {named}.", Interval.exact(float(top[0][1]))
    yield Finding(
        "sql_trace_profile",
        said + beside,
        impact,
        _OF,
        caveat=_not_counted(trace)
        if trace.waits.height
        else "the trace has no waits (level 1 or 4): what is not CPU is unaccounted for",
        evidence=(Evidence("profile", tuple(part for part, *_ in top)),),
        order=0,
    )


def client_waits(trace: SqlTrace) -> Iterator[Finding]:
    r"""How long the session waited for its client at a time, where that is longer than all its response time.

    Examples:
        >>> import iolab
        >>> wait = "WAIT #1: nam='SQL*Net message from client' ela= 12000 driver id=1 #bytes=1 p3=0 obj#=3 tim={}\n"
        >>> call = "FETCH #1:c=10,e=10,p=0,cr=2,cu=0,mis=0,r=1,dep=0,og=1,plh=9,tim={}\n"
        >>> def log(count): return iolab.load("".join(call.format(13_000 * n) + wait.format(13_000 * n + 12_010)
        ...     for n in range(1, count + 1)).encode())
        >>> for one in client_waits(log(40)): print(one.sentence)
        Between calls the session waited 480 ms for its client, 40 times: half took at most 12 ms.
        >>> list(client_waits(log(3)))
        []
    """
    waits = trace.waits.filter(pl.col("event") == _FROM_CLIENT)
    times = waits.get_column("elapsed_us")
    whole = int(times.sum())
    response = int(profile(trace).filter(~pl.col("is_idle")).get_column("total_us").sum())
    if times.len() < LEAST_WAITS or whole <= response or trace.calls.get_column("session_id").n_unique() > 1:
        return
    middle = times.quantile(0.5, "equiprobable") or 0.0
    yield Finding(
        "client_waits",
        f"Between calls the session waited {time_text(whole / 1e6)} for its client, {times.len():,} times: half "
        f"took at most {time_text(middle / 1e6)}.",
        why="round trips and the client's own work are in it; fetching more rows a call makes fewer of them",
        refuted_by="a trace on the client's side, or of its network",
        caveat="a user who thinks is a client that works",
        evidence=(Evidence("waits", (_FROM_CLIENT,)),),
        order=0,  # it is longer than all that the parts of the response time are of
    )


def _not_counted(trace: SqlTrace) -> str:
    """Calls with time that is no wait, and no CPU, where they hold most of what is unaccounted for.

    Some kernels count the CPU of a call as none, or as all of its time.

    Examples:
        >>> import iolab
        >>> call = "FETCH #1:c={cpu},e=14,p=0,cr=2,cu=0,mis=0,r=1,dep=0,og=1,plh=9,tim={tim}"
        >>> lines = [call.format(cpu=14 if n % 4 == 0 else 0, tim=2000 + 100 * n) for n in range(8)]
        >>> _not_counted(iolab.load(chr(10).join(lines).encode()))
        '6 of 8 calls show time and no CPU: what is unaccounted for may be CPU that was not counted'
    """
    left = trace.calls.filter(pl.col("unaccounted_us") > 0)
    silent = left.filter(pl.col("own_cpu_us") == 0)
    missing, of_silent = (int(frame.get_column("unaccounted_us").sum()) for frame in (left, silent))
    whole = int(trace.calls.get_column("own_elapsed_us").sum())
    if missing < _MOST_UNACCOUNTED * whole or of_silent < missing / 2 or not silent.height:
        return ""
    return (
        f"{silent.height:,} of {count_text(trace.calls.height, 'call')} show{'s' if silent.height == 1 else ''} time "
        "and no CPU: what is unaccounted for may be CPU that was not counted"
    )


def cost_of_reads(trace: SqlTrace) -> Iterator[Finding]:
    """What one wait of the most expensive read events took, and how many blocks it brought."""
    reads = reads_of(trace.waits)
    busy = profile(trace).filter(~pl.col("is_idle")).drop_nulls("share")
    shares = dict(busy.select("component", "share").iter_rows())
    order = (
        reads.group_by("event").agg(pl.col("elapsed_us").sum()).sort("elapsed_us", "event", descending=[True, False])
    )
    for event in order.get_column("event").head(_MOST_EVENTS):
        own = reads.filter(pl.col("event") == event)
        times = own.get_column("elapsed_us")
        if times.len() < LEAST_WAITS and shares.get(event, 0.0) < _LEAST_NAMED:
            continue  # too few for a latency, and of no weight
        mean, middle = float(times.sum()) / times.len(), times.quantile(0.5, "equiprobable")
        blocks = own.get_column("blocks").drop_nulls()
        size = ""
        if blocks.len() and int(blocks.sum()) != blocks.len():
            size = f", {figure_text(float(blocks.sum()) / blocks.len())} blocks each"
        if times.len() < LEAST_WAITS:
            average = "" if times.len() == 1 else " on average"
            said = (
                f"{count_text(times.len(), 'wait')} of {time_text(mean / 1e6)}{average}{size}: too few for a latency."
            )
        else:
            said = (
                f"{time_text(mean / 1e6)} a wait on average, half took at most {time_text((middle or 0) / 1e6)} "
                f"({count_text(times.len(), 'wait')}{size})."
            )
        caveat = ""
        if event in ASYNCHRONOUS:
            caveat = "reads may be submitted before the wait begins: they took as long as the waits, or longer"
        yield Finding(
            "cost_of_a_read",
            f"`{event}`: {said}",
            None if shares.get(event, 0.0) > 1 else Interval.exact(float(shares.get(event, 0.0))),
            _OF,
            caveat=caveat,
            evidence=(Evidence("waits", (event,)),),
            order=2,
        )


def main_statement(trace: SqlTrace) -> Iterator[Finding]:
    """The statement that took most of the time of all calls by itself."""
    totals = statement_totals(trace)
    whole = int(trace.calls.get_column("own_elapsed_us").sum())
    if totals.height < 2 or whole <= 0:
        return
    row = totals.row(0, named=True)
    share = (row["own_elapsed_us"] or 0) / whole
    if row["sql"] is None or share < _STATEMENT_SHARE:
        return
    of = "of hash value " if str(row["sql"]).isdecimal() else ""
    yield Finding(
        "main_statement",
        f"Statement {of}`{row['sql']}` took {share_text(share)} of the time of all calls by itself: "
        f"{time_text(row['own_elapsed_us'] / 1e6)}, {count_text(row['executions'], 'execution')}, "
        f"{count_text(row['own_disk_blocks'], 'block')} from disk.",
        Interval.exact(share),
        "call time",
        evidence=(Evidence("statements", (row["sql"],)),),
        order=3,
    )


def cost_of_gets(trace: SqlTrace) -> Iterator[Finding]:
    r"""CPU of one logical read at most: row work is in it.

    Examples:
        >>> import iolab
        >>> line = "FETCH #1:c={cpu},e=4400,p=0,cr=1000,cu=0,mis=0,r=1,dep=0,og=1,plh=9,tim={tim}\n"
        >>> def log(cpu): return iolab.load("".join(line.format(cpu=cpu, tim=n * 10_000) for n in (1, 2, 3)).encode())
        >>> for one in cost_of_gets(log(4_321)): print(one.sentence)
        At most 4.32 us of CPU a logical read (3,000 gets).
        >>> list(cost_of_gets(log(4_000)))  # 12 ms counted in steps of 1 ms: too coarse
        []
        >>> list(cost_of_gets(log(0)))  # calls with time and no CPU: the host did not count it
        []
    """
    row = us_per_get(trace.calls).row(0, named=True)
    if row["value"] is None:
        return
    own = trace.calls.filter(pl.col("op").is_in(["EXEC", "FETCH"]))
    gets = int((own.get_column("own_consistent_gets") + own.get_column("own_current_gets")).sum())
    silent = own.filter((pl.col("unaccounted_us") > 0) & (pl.col("own_cpu_us") == 0))
    if (left := int(silent.get_column("unaccounted_us").sum())) > _MOST_UNACCOUNTED * (left + row["value"] * gets):
        return  # CPU that the host did not count would be in it: no upper bound
    if int(own.get_column("own_disk_blocks").sum()) > _MOST_FROM_DISK * gets:
        return
    step = cpu_step(trace.calls)
    if gets < _LEAST_GETS or (step > 1 and row["value"] * gets < _LEAST_STEPS * step):
        return
    yield Finding(
        "cpu_of_a_get",
        f"At most {time_text(row['value'] / 1e6)} of CPU a logical read ({count_text(gets, 'get')}).",
        caveat=row["caveats"],
        evidence=(Evidence("calls"),),
        order=6,
    )


def not_in_the_trace(trace: SqlTrace) -> Iterator[Finding]:
    """Time between the first and the last line that no line accounts for; unknown with lines of several clocks."""
    if trace.clock.height > 1 or next(clock_is_off(trace), None) is not None:
        return
    rows = account_time(trace)
    span, gap = int(rows.get_column("span_us").sum()), int(rows.get_column("gap_us").sum())
    if span <= 0 or abs(gap) / span < _GAP_SHARE:
        return
    if gap < 0:
        sentence = f"Calls and waits overlap by {time_text(-gap / 1e6)}: some are counted twice by the database."
    else:
        sentence = (
            f"{share_text(gap / span)} of the {time_text(span / 1e6)} from the first to the last line "
            f"({time_text(gap / 1e6)}) is in no line."
        )
    yield Finding(
        "trace_gap",
        sentence,
        caveat="between very short calls it is what tracing itself takes; else lines are missing, or a shared server "
        "worked for other sessions",
        evidence=(Evidence("accounts"),),
        order=7,
    )


def sql_trace_profile(trace: SqlTrace) -> pl.DataFrame:
    """The parts of the response time of a trace (`PROFILE`)."""
    busy = profile(trace).filter(~pl.col("is_idle"), pl.col("share") >= _LEAST_PART)
    return pl.DataFrame(
        [(_group(part), part, share, None, _OF) for part, share in busy.select("component", "share").iter_rows()],
        schema=PROFILE,
        orient="row",
    )


def _group(component: str) -> str:
    """The group of events whose colour a part has."""
    return "cpu" if component == CPU else "other" if component == UNACCOUNTED else group_of(component)


def _name(component: str) -> str:
    return component if component in {"CPU", "unaccounted for"} else f"`{component}`"
