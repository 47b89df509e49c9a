"""The ledgers of an strace log: the time of each process by class of calls, and between them (`iolab.ledger`).

The total of a process is the time from its first stamp to its last.  It is in calls, between calls, or after a signal
or stop; a call without a time has at most the time to the next line of its process.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.formatting import count_text, share_text, time_text
from iolab.metrics.table import nanoseconds
from iolab.metrics.trace_times import times_of
from iolab.time_ledger.account import Account, Ledger, void_ledger
from logframe.interval import Interval
from straceparse.call_classes import ASYNCHRONOUS, NOTHING, POSTS, READY_CALLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from iolab.metrics.trace_times import CallTimes
    from straceparse import StraceLog
    from straceparse.dialects import Dialect

BASE: Final = "first to last record"
_SPAN: Final = "the records span"
#: What the parts of every process may be, beside the classes of calls.
BETWEEN: Final = "between calls"
AFTER: Final = "after a signal or stop"
SUBMIT: Final = f"{ASYNCHRONOUS}/submit"
REAP: Final = f"{ASYNCHRONOUS}/reap"
UNTIMED: Final = "calls without a time, and what followed"
NO_END: Final = "calls whose end is not printed"
_CLOSING: Final = "not accounted for"
_NO_FILE: Final = "calls without a file"
_REST: Final = "other files"
#: This many processes, the longest, have a ledger of their own; this many files and targets have a row.
_MOST_PROCESSES: Final = 200
_MOST_FILES: Final = 200
#: Bounds wider than this share of the span make shares worthless, and work below this share of it is nothing.
_COARSE: Final = 0.10
_NOTHING: Final = 0.01
#: A process that was mostly idle, and worked for less than this many seconds, did almost nothing.
_MOSTLY: Final = 0.5
_LEAST_S: Final = 0.01
#: Processes of about the longest span, of which the one with most work leads.
_ALIKE: Final = 0.95
#: The calls of round trips, and how many there are at least.
PAIRS: Final = ({"read", "write"}, {"recv", "send"}, {"recvfrom", "sendto"}, {"recvmsg", "sendmsg"})
MANY_TRIPS: Final = 100
ROUND_TRIPS: Final = "round trips"
#: A log of this few kinds of calls was asked for them (-e).
_FEW_CALLS: Final = 3
#: Idle time from this share on is left out of what shares are of.
_IDLE: Final = 0.10
_SECOND: Final = 10**9
_TOO_LONG: Final = "the calls and the time between them add up to more than the span of the records"
_ONE_STAMP: Final = "all timestamps are the same"
_SET_BACK: Final = "the clock was set back, or several logs were read as one"
CAUSES: Final = "user CPU, run queue, page faults, untraced calls or strace itself"
_NEXT: Final = "strace -f -ttt -T -yy -v -o FILE -p PID"
#: Columns that are added up.
_ADDED: Final = ("calls", "elapsed", "slack", "between", "open", "printed", "timed", "followed")


def strace_ledgers(log: StraceLog) -> Iterator[Ledger]:
    r"""One ledger a process, the longest first, and one of the wall clock where there are several.

    Examples:
        >>> import iolab
        >>> log = b"1700000000.000000 read(3</u01/a>, \"\", 4096) = 4096 <0.000300>\n"
        >>> log += b"1700000000.000500 close(3</u01/a>) = 0 <0.000100>\n"
        >>> (one,) = strace_ledgers(iolab.load(log))
        >>> for row in one.parts().select("name", (pl.col("seconds") * 1e6).round(3)).rows(): print(row)
        ('file reads: read', 300.0)
        ('between calls', 200.0)
        ('file names and attributes: close', 100.0)
        ('not accounted for', 0.0)
        >>> seconds = b"11:40:21 read(3) = 1 <0.0003>\n11:40:22 read(3) = 1 <0.000300>\n"
        >>> next(strace_ledgers(iolab.load(seconds))).void
        'the timestamps are whole seconds (-t), and calls are shorter'
    """
    if log.kind != "strace":
        words = [text.split() for text in log.diagnostics["text"].drop_nulls() if "strace" in text]
        is_wall = any("-w" in one for one in words)  # the command is in the log
        what = (
            "strace -w -c counts the time of calls"
            if is_wall
            else "strace -c counts CPU time in calls (-w: their duration)"
        )
        yield _void(f"{what}, not the elapsed time")
        return
    times = times_of(log)
    if not int(times.calls.get_column("stamped").sum()) and log.dialect.relative_ts == "none":
        return  # such a log states no times
    reason = _why_void(log, times)
    if reason:
        yield _void(reason)
        return
    spans = _spans(times)
    back = pl.Series(list(times.set_back), dtype=pl.Int32)
    in_calls = times.calls.group_by("pid").agg(inside=(nanoseconds("elapsed") + pl.col("between")).sum())
    length = pl.col("last") - pl.col("first")
    spans = spans.join(in_calls, on="pid", how="left", nulls_equal=True, maintain_order="left")
    is_whole = (length > 0) & (pl.col("inside") <= (1 + _COARSE) * length)
    whole = spans.filter(~pl.col("pid").is_in(back.implode(), nulls_equal=True) & is_whole)
    if whole.is_empty():
        damaged = _ONE_STAMP if spans.filter(length > 0).is_empty() else _TOO_LONG
        yield _void(_SET_BACK if times.set_back else damaged)
        return
    step = _step(log.dialect)
    calls = times.classed
    whole, is_busy = _lead_first(whole.head(_MOST_PROCESSES), times)
    several = f"{spans.height:,} {times.noun}"
    is_longest = whole.item(0, "pid") == spans.item(0, "pid")
    of = f" ({'the longest' if is_longest else 'the busiest'} of {several})"
    of = of if is_longest or is_busy else f" (of {several}, none busy)"
    for number, row in enumerate(whole.iter_rows(named=True)):
        own = calls.filter(pl.col("pid").eq_missing(pl.lit(row["pid"], pl.Int32)))
        ledger = _process(times, row, own, step)
        if spans.height > 1:
            who = f"of process {row['pid']}" if row["pid"] is not None else "without a process number"
            program = program_of(times, row["pid"])
            text = ledger.text.replace(_SPAN, f"the records {who}{f' ({program})' if program else ''} span", 1)
            head, *tail = text.split(";", 1)
            ledger = replace(ledger, text=";".join([f"{head}{'' if number else of}", *tail]))
        yield ledger
    if spans.height > 1 and not times.set_back:
        yield _wall_clock(times, spans, step)


def _lead_first(spans: pl.DataFrame, times: CallTimes) -> tuple[pl.DataFrame, bool]:
    """The processes, the longest first, unless another one that is about as long worked more, or half of its time.

    And whether any worked.

    Work is I/O and what passed between calls.  Waits for pipes, sockets and locks count where no process worked for a
    tenth of the time; sleep and waits for children never do.  A process that left nearly all I/O to those that it made
    comes after them.
    """
    inside = pl.col("elapsed") + pl.col("open")
    is_io = (pl.col("kind") == "io") | (pl.col("class") == ASYNCHRONOUS)
    worked = times.classed.group_by("pid").agg(
        io=inside.filter(is_io).sum(),
        work=(pl.when(is_io).then(inside).otherwise(0) + pl.col("between")).sum(),
        waited=inside.filter(pl.col("kind") == "wait").sum(),
    )
    length = pl.col("last") - pl.col("first")
    found = spans.join(worked, on="pid", how="left", nulls_equal=True, maintain_order="left")
    is_busy = found.select((pl.col("work").max() >= _IDLE * length.max()).fill_null(value=False)).item()
    if not is_busy:
        found = found.with_columns(work=pl.col("work") + pl.col("waited"))
    is_long = (length >= _ALIKE * length.max()) | (pl.col("work") >= _MOSTLY * length.max())
    if starters := _starters(found, times):
        is_long = ~pl.col("pid").is_in(starters)
    alike = pl.when(is_long).then(pl.col("work").fill_null(0)).otherwise(-1)
    order = found.sort(alike, length, descending=[True, True], maintain_order=True)
    return order.drop("io", "work", "waited"), is_busy


def _starters(found: pl.DataFrame, times: CallTimes) -> list[int]:
    """The processes that left nearly all I/O to those that they made, where that I/O is more than nothing."""
    length = pl.col("last") - pl.col("first")
    is_much = (pl.col("io") >= _IDLE * length) & (pl.col("io") >= _NOTHING * length.max())
    starters = set[int]()
    for pid in found.filter(is_much).get_column("pid").drop_nulls():
        made_by = times.parents.get(pid)
        while made_by is not None and made_by not in starters:
            starters.add(made_by)
            made_by = times.parents.get(made_by)
    io, of_starters = (int(rows["io"].sum()) for rows in (found, found.filter(pl.col("pid").is_in(starters))))
    return [*starters] if of_starters <= (1 - _ALIKE) * io else []


def _void(reason: str) -> Ledger:
    remark: dict[str, object] = {"part": None, "role": "next", "rule": "trace_again", "text": _NEXT}
    return void_ledger(reason, base=BASE, remarks=[remark], facts_hold=True)


def _why_void(log: StraceLog, times: CallTimes) -> str:
    """Why the log has no total; empty where it has one."""
    dialect = log.dialect
    has_steps = dialect.relative_ts != "none"
    if not int(times.calls.get_column("stamped").sum()):
        return "the files of strace -ff -r share one clock, so their timestamps do not add up"
    if dialect.clock == "time" and not dialect.clock_digits and (not has_steps or dialect.pid == "file"):
        return "the timestamps are whole seconds (-t), and calls are shorter"
    return ""


def _step(dialect: Dialect) -> tuple[int, bool]:
    """The last decimal of the stamps in ns, and whether the stamps are sums of cut numbers (-r)."""
    is_relative = dialect.relative_ts != "none" and dialect.pid != "file"
    digits = dialect.relative_ts_digits if is_relative else dialect.clock_digits
    return 10 ** (9 - min(digits or 6, 9)), is_relative


def _spans(times: CallTimes) -> pl.DataFrame:
    """First and last stamp of each process (ns), and its calls; the longest first."""
    of_calls = times.calls.group_by("pid", maintain_order=True).agg(
        nanoseconds("first").min(), nanoseconds("last").max(), pl.col("calls").sum(), pl.col("stamped").sum()
    )
    marks = times.marks.select("pid", mark_first="first", mark_last="last")
    spans = of_calls.join(marks, on="pid", how="left", nulls_equal=True, maintain_order="left").with_columns(
        first=pl.min_horizontal("first", "mark_first"), last=pl.max_horizontal("last", "mark_last")
    )
    spans = spans.filter(pl.col("first").is_not_null()).drop("mark_first", "mark_last")
    length = pl.col("last") - pl.col("first")
    return spans.sort(length, "calls", "pid", descending=[True, True, False], maintain_order=True)


def _process(times: CallTimes, span: dict[str, int], sums: pl.DataFrame, step: tuple[int, bool]) -> Ledger:
    """The ledger of one process."""
    pid, ns = span["pid"], span["last"] - span["first"]
    tick, is_relative = step
    total = Interval(
        ns / _SECOND, max(ns - tick, 0) / _SECOND, (ns + tick * (span["calls"] if is_relative else 1)) / _SECOND
    )
    account = Account(total, BASE, scope="process" if pid is None else f"process {pid}")
    is_printed = int(sums.get_column("printed").sum()) > 0
    is_timed = int(sums.get_column("timed").sum()) > 0
    account.add_frame(_what(sums, is_timed=is_timed))
    account.add_frame(_where(sums, is_timed=is_timed))
    add = partial(_add_rest, account)
    between, slack = int(sums.get_column("between").sum()), int(sums.get_column("slack").sum())
    if is_timed:
        add(BETWEEN, Interval(between, max(between - slack, 0), between), kind="gap")
        traced = sums.get_column("name").unique().sort().to_list()
        if len(traced) <= _FEW_CALLS:
            said = f"the log has only {' and '.join(f'`{name}`' for name in traced)}, so this contains all other calls"
            account.remark("caution", "trace_profile", said, part=BETWEEN)
        elif calls_failed(times):
            said = "the log has only calls that failed (strace -Z), so this contains all other calls"
            account.remark("caution", "trace_profile", said, part=BETWEEN)
    marks = times.marks.filter(pl.col("pid").eq_missing(pl.lit(pid, pl.Int32)))
    after = int(marks.get_column("after").sum())
    if after:
        add(AFTER, Interval.exact(after), kind="gap", count=Interval.exact(int(marks.get_column("marks").sum())))
    opened = int(sums.get_column("open").sum()) if is_timed else 0
    if opened:
        without = sums.filter(pl.col("calls") > pl.col("timed"))
        count = int((without.get_column("calls") - without.get_column("timed")).sum())
        names = without.get_column("name").unique().to_list()
        if is_printed:
            name = f"{names[0]}, its end is not printed" if count == 1 else NO_END
            add(NO_END, Interval(opened, 0, opened), kind="not_accounted", count=Interval.exact(count), name=name)
        else:
            add(UNTIMED, Interval.exact(opened), kind="mixed", count=Interval.exact(count))
            account.add_frame(_untimed(without))
    rest = ns - int(sums.get_column("elapsed").sum()) - int(sums.get_column("open").sum()) - between - after
    error = tick * (span["calls"] if is_relative else 1)
    name, kind = (_CLOSING, "not_accounted") if rest >= 0 else ("counted twice", "counted_twice")
    ends = (0, rest) if rest >= 0 else (rest - error, min(0, rest + error))
    add(name, Interval(rest, *ends), kind=kind)
    own = times.calls.filter(pl.col("pid").eq_missing(pl.lit(pid, pl.Int32)))
    ready = own.filter(pl.col("name").is_in(READY_CALLS))
    read = own.filter(pl.col("name").is_in(sums.filter(kind="client").get_column("name").implode()))
    trips = _round_trips(sums, max(read.get_column("longest").drop_nulls(), default=0))
    # without a descriptor such a call is a sleep: nothing was to arrive
    slept = sums.filter(pl.col("name").is_in(READY_CALLS), pl.col("file").cast(pl.String) == NOTHING)
    late = int(ready.get_column("late").sum()) - int(slept.select((pl.col("elapsed") + pl.col("open")).sum()).item())
    return _finished(account, sums, late / _SECOND, trips, is_timed=is_timed)


def _round_trips(sums: pl.DataFrame, longest: int) -> str:
    """How often a process wrote to its client and read what came next, and the time of both; empty of few.

    The time is left out where the ``longest`` of its reads may be most of it.
    """
    is_of_client = pl.col("fd").is_in(sums.filter(kind="client").get_column("fd").implode())  # and its writes
    client = sums.filter(is_of_client).group_by("fd").agg(pl.col("elapsed").sum(), pl.col("calls", "name"))
    for _, elapsed, calls, names in client.sort("elapsed", "fd", descending=True).head(1).iter_rows():
        if set(names) in PAIRS and min(calls) >= max(MANY_TRIPS, _ALIKE * max(calls)):
            each = f" of {time_text(elapsed / _SECOND / min(calls))}"
            return f"{min(calls):,} {ROUND_TRIPS}{each if longest < _MOSTLY * elapsed else ''}"
    return ""


def _finished(account: Account, sums: pl.DataFrame, late: float, trips: str, *, is_timed: bool) -> Ledger:
    """The ledger, with what shares are of, and the total in one line."""
    total = account.total
    idle = {kind: _seconds(sums.filter(kind=kind), "elapsed") for kind in ("idle", "client")}
    aside = sum(idle.values()) / total.value
    work, work_base, unshared = None, "", ""
    at_most = "" if is_timed else "at most "
    rested = (
        aside if is_timed else _seconds(sums.filter(pl.col("name").is_in(POSTS), kind="idle"), "open") / total.value
    )
    if _seconds(sums, "slack") > _COARSE * total.value:
        unshared = "times are printed too coarsely: their rounding adds up to more than 10 % of the total"
    elif rested > 1 - _NOTHING or (aside > _MOSTLY and (1 - aside) * total.value < _LEAST_S):
        rest = f"{at_most}{share_text(min(rested, 1.0))} of the time was idle or waiting for the client"
        unshared = f"{'the process itself hardly ran' if trips else 'almost nothing ran'}: {rest}"
    elif aside >= _IDLE:
        work, work_base = total * (1 - aside), "the non-idle time"
    text = f"{_SPAN} {_length(total)}"
    if not is_timed:
        text += ". Without durations of calls (-T), each share of time is an upper bound"
    most = {} if is_timed else {kind: _seconds(sums.filter(kind=kind), "open") for kind in idle}
    for kind, seconds in (*idle.items(), *most.items()):
        if seconds >= _IDLE * total.value:
            names = _added(sums.filter(kind=kind), "pid").item(0, "names").to_list()[:2]
            what = "idle"
            if kind == "client":
                is_sure = sums.filter(kind=kind, target="server").height
                what = "waiting for the client" if is_sure else "likely waiting for the client"
            share, of = share_text(min(seconds / total.value, 1.0)), ", ".join(names)
            text += f"; {at_most}{share} of this time was {what} ({trips if kind == 'client' and trips else of})"
    if late >= _MOSTLY * total.value:
        most_of_it = f"{at_most}{share_text(late / total.value)} of this time"
        text += f"; for {most_of_it} it waited until a time-out: nothing arrived"
    counted = dict.fromkeys(("what", "where"), "calls")
    return account.ledger(elapsed=total, work=work, work_base=work_base, unshared=unshared, text=text, counted=counted)


def _seconds(sums: pl.DataFrame, column: str) -> float:
    return int(sums.get_column(column).sum()) / _SECOND


def _add_rest(
    account: Account, part: str, ns: Interval, *, kind: str, count: Interval | None = None, name: str = ""
) -> None:
    """Add a part that is no class of calls, to every view."""
    for view in ("what", "where"):
        account.add(view, name or part, ns / _SECOND, kind=kind, count=count)


def calls_failed(times: CallTimes) -> int:
    """How many calls the log has, if it has several and each of them failed; else 0."""
    calls, failed = (int(times.calls.get_column(name).sum()) for name in ("calls", "failed"))
    return calls if failed == calls > _FEW_CALLS else 0


def program_of(times: CallTimes, pid: int | None) -> str | None:
    """The program of a process: what it, or the process that made it, executed last; without its folder."""
    seen: set[int | None] = set()
    while pid is not None and pid not in times.programs and pid not in seen:
        seen.add(pid)
        pid = times.parents.get(pid)
    program = times.programs.get(pid)
    return program.rpartition("/")[2] if program else None


def _length(total: Interval) -> str:
    return f"{total.value * 1e3:,.3f} ms" if total.value < 1 else f"{total.value:,.3f} s"


def _what(sums: pl.DataFrame, *, is_timed: bool) -> pl.DataFrame:
    """Classes of calls, and calls by name where a class has several; asynchronous I/O by step."""
    is_step = pl.col("step").is_not_null()
    group = pl.when(is_step).then(pl.col("class") + "/" + pl.col("step")).otherwise("class")
    keyed = sums.with_columns(group=group)
    tops = _added(keyed, "class")
    one = pl.when(pl.col("names").list.len() == 1, pl.col("class") != ASYNCHRONOUS)
    tops = tops.with_columns(
        part="class",
        parent=pl.lit(None, pl.String),
        kind=pl.when(pl.col("class") == ASYNCHRONOUS).then(pl.lit("io")).otherwise("kind"),
        name=one.then(pl.col("class") + ": " + pl.col("names").list.first()).otherwise("class"),
    )
    steps = _added(keyed.filter(is_step), "class", "group", "step").with_columns(
        part="group", parent="class", name=pl.col("step") + ": " + pl.col("names").list.join(", ")
    )
    several = keyed.filter(pl.col("name").n_unique().over("group") > 1)
    calls = _added(several, "class", "group", "name").with_columns(
        part=pl.col("group") + "/" + pl.col("name"), parent="group"
    )
    parts = [
        level.select("part", "parent", "kind", "class", "name", "names", *_ADDED) for level in (tops, steps, calls)
    ]
    return _closed(_as_parts(pl.concat(parts), "what", is_timed=is_timed))


def _closed(parts: pl.DataFrame) -> pl.DataFrame:
    """Parts, with what closes each level below the top: calls add up to their class exactly, whatever their bounds."""
    parents = parts.select(parent=pl.col("parent").drop_nulls().unique(maintain_order=True))
    zero = dict.fromkeys(("seconds", "seconds_lo", "seconds_hi"), pl.lit(0.0))
    name = pl.lit(_CLOSING)
    closing = parents.with_columns(
        part=pl.col("parent") + "/" + name, kind=pl.lit("not_accounted"), name=name, view=pl.lit("what"), **zero
    )
    return pl.concat([parts, closing], how="diagonal_relaxed")


def _untimed(without: pl.DataFrame) -> pl.DataFrame:
    """The calls without a time in a log that times others: each has at most the time to the next line."""
    names = _added(without, "name").with_columns(
        followed=pl.col("calls") - pl.col("timed"), part=UNTIMED + "/" + pl.col("name")
    )
    names = names.with_columns(elapsed=pl.lit(0), slack=pl.lit(0), parent=pl.lit(UNTIMED), **{"class": pl.lit(UNTIMED)})
    return _closed(_as_parts(names, "what", is_timed=False))


def _where(sums: pl.DataFrame, *, is_timed: bool) -> pl.DataFrame:
    """Files and other targets of calls; all calls without one together."""
    has_target = pl.col("target").is_not_null() & (pl.col("fd").is_not_null() | pl.col("file").is_not_null())
    named = pl.coalesce(pl.col("file").cast(pl.String), pl.concat_str(pl.lit("descriptor "), "fd"))
    label = pl.when(has_target & (named != NOTHING)).then(named).otherwise(pl.lit(_NO_FILE))
    keyed = sums.with_columns(part=label)
    files = _added(keyed, "part").sort(pl.col("elapsed") + pl.col("open"), "part", descending=[True, False])
    if files.height > _MOST_FILES:
        few = files.head(_MOST_FILES).get_column("part")
        keyed = keyed.with_columns(
            part=pl.when(pl.col("part").is_in(few.implode())).then("part").otherwise(pl.lit(_REST))
        )
        files = _added(keyed, "part")
    parts = files.with_columns(parent=pl.lit(None, pl.String), name="part", **{"class": pl.lit(None, pl.String)})
    return _as_parts(parts, "where", is_timed=is_timed)


def _added(rows: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """The sums of groups, their kind, and the names of their calls, the longest first."""
    time = pl.col("elapsed") + pl.col("open")
    names = pl.col("name").sort_by(time, "name", descending=[True, False]).unique(maintain_order=True)
    kind = pl.when(pl.col("kind").n_unique() == 1).then(pl.col("kind").first()).otherwise(pl.lit("mixed"))
    return rows.group_by(keys, maintain_order=True).agg(*(pl.col(one).sum() for one in _ADDED), names=names, kind=kind)


def _as_parts(rows: pl.DataFrame, view: str, *, is_timed: bool) -> pl.DataFrame:
    """Rows of `PARTS`: calls without a time last at most until the next line; in a log with times they are a part."""
    opened = pl.lit(0, pl.Int64) if is_timed else pl.col("open")
    found = rows.select(
        "part",
        "parent",
        "kind",
        "class",
        "name",
        view=pl.lit(view),
        count=pl.col("timed" if is_timed else "followed").cast(pl.Float64),
        # rounded: how Polars divides depends on how many rows a thread has
        seconds=((pl.col("elapsed") + opened) / _SECOND).round(9),
        seconds_lo=(pl.col("elapsed") / _SECOND).round(9),
        seconds_hi=((pl.col("elapsed") + pl.col("slack") + opened) / _SECOND).round(9),
        evidence=pl.struct(table=pl.lit("calls"), rows="names", lines=pl.lit([], pl.List(pl.Int64))),
    )
    return found.filter(pl.col("count") > 0)


def _wall_clock(times: CallTimes, spans: pl.DataFrame, step: tuple[int, bool]) -> Ledger:
    """The ledger of the log's wall clock: how many processes were there at a time, and how long each."""
    first, last = int(spans.get_column("first").min()), int(spans.get_column("last").max())  # type: ignore[arg-type]
    total = Interval((last - first) / _SECOND, (last - first - step[0]) / _SECOND, (last - first + step[0]) / _SECOND)
    account = Account(total, BASE, scope="log")
    changes = pl.concat(
        [spans.select(at="first", change=pl.lit(1, pl.Int64)), spans.select(at="last", change=pl.lit(-1, pl.Int64))]
    )
    curve = changes.group_by("at").agg(pl.col("change").sum()).sort("at").with_columns(alive=pl.col("change").cum_sum())
    lengths = curve.with_columns(ns=pl.col("at").shift(-1) - pl.col("at")).drop_nulls("ns")
    for alive, ns in lengths.group_by("alive").agg(pl.col("ns").sum()).sort("alive").iter_rows():
        name = "no process" if not alive else count_text(alive, "process", "processes")
        account.add("when", name, Interval.exact(ns / _SECOND), kind="mixed" if alive else "idle")
    _add_processes(account, times, spans.head(_MOST_PROCESSES))
    text = f"{_SPAN} {_length(total)}, of {count_text(spans.height, 'process', 'processes')}"
    return account.ledger(elapsed=total, text=text)


def _add_processes(account: Account, times: CallTimes, spans: pl.DataFrame) -> None:
    """Processes below those that made them: a parent that waits for its children has their time, too."""
    rows = spans.select("pid", length=(pl.col("last") - pl.col("first")) / _SECOND)
    lengths = {pid: length for pid, length in rows.iter_rows() if pid is not None}
    parts: dict[int, str] = {}
    waiting = [*lengths]
    while waiting:
        later = []
        for pid in waiting:
            parent = times.parents.get(pid)
            if parent in lengths and parent not in parts and parent in waiting:
                later.append(pid)
                continue
            program = program_of(times, pid)
            name = f"process {pid} ({program})" if program else f"process {pid}"
            length = Interval.exact(lengths[pid])
            parts[pid] = account.add("who", name, length, kind="mixed", parent=parts.get(parent) if parent else None)
        if len(later) == len(waiting):
            break  # a loop: a number was used again
        waiting = later
    for part in parts.values():
        account.closes(part, "without its children", kind="not_accounted", view="who")
