"""The accounts of samples of the operating system and of sessions: processors, processes, states, functions."""

from __future__ import annotations

from datetime import time
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.metrics.ash import shown_rows, whole_of
from iolab.metrics.formatting import count_text, share_text
from iolab.metrics.processors import (
    COLUMNS,
    GUESTS,
    IS_SAMPLE,
    ONLY_FIRST,
    SINCE_START,
    cpu_parts,
    exact_sum,
    has_several_hosts,
    layers_of,
    partition_use,
    tool_cpu_parts,
)
from iolab.time_ledger.account import Account, Ledger, void_ledger
from iolab.time_ledger.parts import EXACT, NO_STATEMENT, Place
from iolab.time_ledger.sampled import SampledParts
from logframe.errors import RefusedError
from logframe.interval import ENDS, Interval, figure_cells
from logframe.oracle import is_idle
from logframe.wording import counted

if TYPE_CHECKING:
    from hostparse import CpuProfile, HostLog
    from hostparse.log import FrameLog
    from sqlplusparse import SessionSamples

#: The base of an account in processors x seconds.
PROCESSOR_TIME: Final = "processor time"
#: The parts of a processor's time: name, kind, what they are made of, and what to look at next.
_PROCESSOR: Final = {
    "user": ("user code", "cpu", ("user", "nice", *GUESTS), "see the processes: pidstat -u 5"),
    "system": (
        "kernel code (system)",
        "cpu",
        ("system", "interrupts", "soft interrupts"),
        "perf top",
    ),
    "steal": ("the hypervisor (steal)", "wait", ("steal",), "see the load of the other guests of the hypervisor"),
    "iowait": ("idle, waiting for I/O (iowait)", "idle", ("iowait",), "see the devices: iostat -xt 5"),
    "idle": ("idle", "idle", ("idle",), ""),
}
_NEXT: Final = {"next": pl.String(), "parent": pl.String()}
_MEMBERS: Final = {
    "user": "processes",
    "nice": "processes of lower priority (nice)",
    "system": "kernel code without interrupts",
}
#: Lengths of two sets of samples that differ by more are of other times.
_SAME: Final = 0.01
#: A part of a part that is as large has the next step of it.
_LARGE: Final = 0.20
#: Idle samples from this share on are left out of what shares are of.
_LEAST_IDLE: Final = 0.10
#: Functions of a layer that are shown.
_MOST_FUNCTIONS: Final = 200


def host_ledgers(log: HostLog) -> list[Ledger]:
    r"""The time of the processors of a host, and of its processes where the log samples them.

    The total is processors x seconds.  Without the number of processors it is the sampled time of all of them
    together, and without times the number of samples: shares are the same.  Time in which a processor waits for I/O is
    idle time, and guests are apart from users, whether the tool prints them within or beside.

    Examples:
        >>> from hostparse import read_host
        >>> head = " r  b   swpd   free  bi    bo   in   cs us sy id wa\n"
        >>> log = read_host((head + " 1 0 0 9 0 0 1 1 1 1 98 0\n" + " 9 0 0 9 0 0 1 1 80 5 5 10\n" * 3).encode())
        >>> one, = host_ledgers(log)
        >>> one.text
        'shares are of 3 samples: the log states neither the length of a sample nor the number of CPUs'
        >>> one.parts().select("name", "kind", pl.col("seconds").round(3)).rows()[:2]
        [('user code', 'cpu', 2.4), ('kernel code (system)', 'cpu', 0.15)]
    """
    try:
        frame = cpu_parts(log)
    except RefusedError as refusal:
        if (found := _processes(log)) is not None:
            return [found]
        if str(refusal) != SINCE_START:
            return []
        return [
            _since_start(
                f"{'iostat -xt' if 'device' in log.scopes else 'vmstat'} 5 60, while the work runs", facts_hold=False
            )
        ]
    return [_host(frame, log)]


def steps_of(part: str) -> str:
    """What to look at next where a part of the processors' time is large."""
    return _PROCESSOR[part][3]


def tool_ledgers(log: FrameLog) -> list[Ledger]:
    """The time of the processors by top, dstat, atop or collectl: shares without the sample since boot."""
    try:
        return [_host(tool_cpu_parts(log))]
    except RefusedError as refusal:
        again = f"{log.kind} with several samples, while the work runs"
        return [_since_start(again, str(refusal), facts_hold=True)] if str(refusal).startswith(ONLY_FIRST) else []


def _since_start(take: str, why: str = SINCE_START, *, facts_hold: bool) -> Ledger:
    remark: dict[str, object] = {"part": None, "role": "next", "rule": "processors", "text": take}
    return void_ledger(why, base=PROCESSOR_TIME, scope="host", remarks=[remark], facts_hold=facts_hold)


def _host(frame: pl.DataFrame, log: HostLog | None = None) -> Ledger:
    scope = str(frame.item(0, "scope"))
    weight, elapsed = pl.col("weight_s"), frame.select(exact_sum(pl.col("weight_s"))).item()
    is_timed, cpus = bool(frame.item(0, "is_timed")), frame.get_column("cpus").cast(pl.Float64)
    is_total = is_timed and not cpus.null_count()
    if not is_total:
        frame = frame.with_columns(cpus=pl.lit(1.0))
    named = [name for name in COLUMNS if name in frame.columns]
    sums = frame.select(
        exact_sum((pl.col(f"{name}{end}").fill_null(0.0) / 100).clip(0, 1) * weight * pl.col("cpus")).alias(
            f"{name}{end}"
        )
        for name in named
        for end in ENDS
    ).row(0, named=True)
    figures = {name: _bounded(*(sums[f"{name}{end}"] for end in ENDS)) for name in named}
    total = frame.select(exact_sum(weight * pl.col("cpus"))).item()
    if _contains_guests(frame, named):
        inner = sum((figures[name] for name in GUESTS if name in figures), Interval.exact(0.0))
        own = figures["user"].value - inner.value
        figures["user"] = _bounded(own, figures["user"].lo - inner.hi, figures["user"].hi - inner.lo)
    base = PROCESSOR_TIME if is_total else "the processors' time"
    account = Account(Interval.exact(total), base, scope="host")
    rows: list[dict[str, Any]] = []
    for part, (name, kind, members, step) in _PROCESSOR.items():
        own_parts = {member: figures[member] for member in members if member in figures}
        if not own_parts:
            continue
        whole = sum(own_parts.values(), Interval.exact(0.0))
        row = _row(part, name, kind, _bounded(whole.value, whole.lo, min(whole.hi, total)), scope)
        rows.append(row | {"next": step or None})
        shown = {member: one for member, one in own_parts.items() if one.value > 0}
        if len(shown) > 1:
            rows += [
                _row(f"{part}/{member}", _MEMBERS.get(member, member), kind, one, scope, part)
                | {"next": step if one.lo >= _LARGE * total else None}
                for member, one in shown.items()
            ]
    rest = total - sum(row["seconds"] for row in rows if row["parent"] is None)
    slack = sum(row["seconds_hi"] - row["seconds_lo"] for row in rows if row["parent"] is None) / 2
    if abs(rest) <= max(slack, EXACT * total):
        rest = 0.0 if abs(rest) <= EXACT * total else rest
        kind = "counted_twice" if rest < 0 else "not_accounted"
        rows.append(_row("rounding", "rounding of the printed shares", kind, Interval.exact(rest), scope))
    account.add_frame(pl.DataFrame([{"view": "what", "next": None, **row} for row in rows], schema_overrides=_NEXT))
    if log is not None:
        _add_processes(log, account, total, elapsed if is_total else None)
    text = _text(frame, total, elapsed, is_total=is_total, is_timed=is_timed, is_counted=not cpus.null_count())
    if log is not None and not is_total and partition_use(log) is not None:
        text = "shares are of the processor time of a partition, which uses parts of physical CPUs"
    return account.ledger(
        elapsed=Interval.exact(elapsed) if is_timed else None,
        unit="s" if is_total else "share",
        text=text if log is None else text + _restarts(log),
    )


def _restarts(log: HostLog) -> str:
    """When the system was restarted within the log."""
    seconds = log.runs.get_column("restarted_s").drop_nulls()
    if seconds.is_empty():
        return ""
    at = " and ".join(f"{time(one // 3600, one // 60 % 60, one % 60)}" for one in seconds.head(2))
    return f"; the system restarted at {at}" if seconds.len() <= 2 else f"; the system restarted {seconds.len()} times"


def _bounded(value: float, lo: float, hi: float) -> Interval:
    value = max(value, 0.0)
    return Interval(value, max(min(lo, value), 0.0), max(hi, value))


def _row(part: str, name: str, kind: str, figure: Interval, scope: str, parent: str | None = None) -> dict[str, Any]:
    return {
        "part": part,
        "parent": parent,
        "kind": kind,
        "name": name,
        **figure_cells("seconds", figure),
        "evidence": Place(scope, (part,)).cell(),
    }


def _contains_guests(frame: pl.DataFrame, named: list[str]) -> bool:
    """Whether the tool prints the time of guests within that of users: the parts then add up to 100 % without it."""
    guests = [name for name in GUESTS if name in named]
    if not guests or "user" not in named:
        return False
    others = pl.sum_horizontal(pl.col(name).fill_null(0.0) for name in named if name not in guests)
    own = pl.sum_horizontal(pl.col(name).fill_null(0.0) for name in guests)
    within, beside = frame.select(
        within=(others - 100).abs().sum(), beside=(others + own - 100).abs().sum()
    ).row(0)  # fmt: skip
    return bool(within < beside)


def _text(
    frame: pl.DataFrame, total: float, elapsed: float, *, is_total: bool, is_timed: bool, is_counted: bool
) -> str:
    boot = bool(frame.item(0, "since_boot"))
    if is_total:
        said = f"{PROCESSOR_TIME} was {total:,.0f} s: {_cpus(frame.get_column('cpus'))} for {elapsed:,.0f} s"
        return f"{said}; the first sample (since boot) is left out" if boot else said
    of = "processor time" if is_timed else counted(frame.height, "sample")
    if is_timed or is_counted:
        of += " after the one since boot" if boot and not is_timed else ""
        return (
            f"shares are of {of}: the log does not state the {'number of CPUs' if is_timed else 'length of a sample'}"
        )
    return f"shares are of {of}: the log states neither the length of a sample nor the number of CPUs"


def _cpus(numbers: pl.Series) -> str:
    least, most = (int(one) for one in numbers.unique().sort().gather([0, -1]))
    return counted(least, "CPU") if least == most else f"{least} to {most} CPUs"


def _add_processes(log: HostLog, account: Account, total: float, elapsed: float | None) -> None:
    """The processes of the same samples, as another view of the same total."""
    sampled = _process_times(log)
    if sampled is None or elapsed is None or abs(sampled[1] - elapsed) > _SAME * elapsed:
        return
    _put_processes(account, sampled[0], total)


def _process_times(log: HostLog) -> tuple[pl.DataFrame, float] | None:
    """Seconds on a CPU by process, and the length of all samples; None where the log samples no processes."""
    if "process" not in log.scopes or has_several_hosts(log):
        return None
    rows = log.scan("process", bounds=True)
    columns = rows.collect_schema().names()
    if not {"cpu_percent", "pid", "command", "interval_start"}.issubset(columns):
        return None
    weight = (pl.col("interval_end") - pl.col("interval_start")).dt.total_microseconds() / 1e6
    # rows of threads have no process id
    own = rows.filter(IS_SAMPLE & pl.col("cpu_percent").is_not_null() & (pl.col("pid") != "-")).with_columns(
        weight_s=weight
    )
    own = own.filter(pl.col("weight_s") > 0)
    length = own.group_by("run", "sample").agg(pl.col("weight_s").max()).select(exact_sum(pl.col("weight_s")))
    found = own.group_by("pid", "command").agg(
        exact_sum(pl.col(f"cpu_percent{end}") / 100 * pl.col("weight_s")).alias(f"seconds{end}") for end in ENDS
    )
    frame, seconds = pl.collect_all([found.sort("pid", "command"), length])
    return None if frame.is_empty() else (frame, float(seconds.item()))


def _processes(log: HostLog) -> Ledger | None:
    """The account of a log that samples processes and no processors."""
    sampled = _process_times(log)
    if sampled is None:
        return None
    frame, length = sampled
    cpus = log.runs.get_column("cpus").max()
    used = float(frame.select(exact_sum(pl.col("seconds"))).item())
    total = used if cpus is None else float(cpus) * length  # type: ignore[arg-type]  # a column of whole numbers
    base = "the CPU time of the listed processes" if cpus is None else PROCESSOR_TIME
    if total <= 0:
        return None
    account = Account(Interval.exact(total), base, scope="host")
    _put_processes(account, frame, total)
    number = count_text(frame.height, "process", "processes")
    said = f"{number} used {used:,.3g} s of CPU in {length:,.0f} s"
    if cpus is not None:
        said = f"{PROCESSOR_TIME} was {total:,.0f} s ({_cpus(log.runs.get_column('cpus').drop_nulls())} for "
        said += f"{length:,.0f} s), of which {number} used {share_text(used / total)}"
    return account.ledger(elapsed=Interval.exact(length), text=said)


def _put_processes(account: Account, frame: pl.DataFrame, total: float) -> None:
    name = pl.concat_str(pl.lit("process "), "pid", pl.lit(" "), pl.col("command").fill_null(""))
    account.add_frame(
        frame.select(
            pl.lit("who").alias("view"),
            part=name,
            kind=pl.lit("cpu"),
            name=name,
            seconds="seconds",
            seconds_lo="seconds_lo",
            seconds_hi="seconds_hi",
            next=pl.format("see what it did: perf record -g -p {} -- sleep 10", "pid"),
            evidence=pl.struct(
                table=pl.lit("process"),
                rows=pl.concat_list("pid"),
                lines=pl.lit([], pl.List(pl.Int64)),
            ),
        )
    )
    account.closes(None, "idle, or a process that is not listed", kind="unlisted", view="who")
    if frame.get_column("seconds").sum() > total:
        account.remark("caution", "check", "processes have more CPU time than the processors: their number is not that")


def session_ledgers(log: SessionSamples) -> list[Ledger]:
    r"""The samples of sessions on CPU and in each wait, and their statements.

    Seconds are not known: the total is the number of samples of sessions; rows that the log does not show are a part.

    Examples:
        >>> from sqlplusparse import read_session_samples
        >>> polls = "".join(f"{number},42,{'ON CPU' if number % 4 else 'WAITING'},{'' if number % 4 else 'free x'}\n"
        ...     for number in range(200))
        >>> one, = session_ledgers(read_session_samples(("SAMPLE_ID,SID,STATE,EVENT\n" + polls).encode()))
        >>> one.text, one.base
        ('the log has 200 samples of sessions, taken in 200 polls', 'samples of sessions')
        >>> one.parts().select("name", "seconds", pl.col("seconds_lo", "seconds_hi").round(1)).rows()[1]
        ('free x', 50.0, 39.0, 62.9)
    """
    base = "samples of sessions"
    rows = shown_rows(log)
    if rows is None:
        reason = "the log contains no sample" if log.samples.is_empty() else "the number of samples is missing"
        return [void_ledger(reason, base=base)]
    whole = whole_of(log)
    named = rows.select(
        *(pl.col(f"active_sessions{end}").alias(f"active{end}") for end in ENDS),
        "wait_class",
        "sql_id",
        state=pl.when(pl.col("state") == "CPU").then(pl.lit("CPU")).otherwise(pl.col("event")).fill_null("not said"),
    )
    shown = float(named.get_column("active").sum())
    if shown <= 0:
        return [void_ledger("no session was sampled", base=base)]
    total = shown if whole is None else max(whole.value, shown)
    exact = Interval(total, min(whole.lo, total), max(whole.hi, total)) if whole is not None else Interval.exact(total)
    account = Account(exact, base)
    parts = SampledParts(account, total, is_share=True)
    states = named.group_by("state").agg(pl.col("wait_class").drop_nulls().first()).iter_rows()
    rests = pl.col("state").is_in([state for state, wait_class in states if _kind_of(state, wait_class) == "idle"])
    idle = float(named.filter(rests).get_column("active").sum())
    is_busy = not _LEAST_IDLE * total <= idle < total  # or there is nothing else
    resting = named.group_by("sql_id").agg(rests.all().alias("rests")).filter("rests").get_column("sql_id").to_list()
    for view, column in (("what", "state"), ("who", "sql_id")):
        known = rows.select("state", "event") if view == "what" else rows.select("sql_id")
        if known.null_count().sum_horizontal().item() == known.width * rows.height:
            continue
        listed = []
        groups = named.group_by(column, maintain_order=True).agg(
            pl.col("active", "active_lo", "active_hi").sum(), pl.col("wait_class").drop_nulls().first()
        )
        for name, value, lo, hi, wait_class in groups.iter_rows():
            listed.append(Interval(value, min(lo, value), max(hi, value)))
            is_rest = view == "who" and name in resting
            kind = ("idle" if is_rest else "mixed") if view == "who" else _kind_of(str(name), wait_class)
            text = NO_STATEMENT if name is None else str(name)
            parts.add(view, text, listed[-1], kind=kind, wait_class=wait_class if view == "what" else None,
                      evidence=Place("samples", (text,)))  # fmt: skip
        parts.close(view, exact, listed)
    parts.put()
    is_counted = log.snaps.height > 0 or log.samples.get_column("sample").null_count() < log.samples.height
    moments = f", taken in {counted(log.moments or 0, 'poll')}" if is_counted and log.moments else ""
    seconds = "" if log.step_s is None else f", one every {log.step_s} s (about {total * log.step_s:,.0f} s in total)"
    if log.kind == "snapper" and whole is None:
        account.remark("caution", "session_samples", "rows that the log does not show are not in any part")
    return [
        account.ledger(
            unit="samples",
            text=f"the log has {counted(round(total), 'sample')} of sessions{moments}{seconds}",
            counted={"what": "samples", "who": "samples"},
            unshared="almost nothing ran: all samples are idle" if idle >= total else "",
            work=None if is_busy else exact * (1 - idle / total),
            work_base="" if is_busy else "the non-idle samples",
        )
    ]


def _kind_of(state: str, wait_class: str | None) -> str:
    if state == "CPU":
        return "cpu"
    if is_idle(state, wait_class):
        return "idle"
    return "io" if wait_class in {"User I/O", "System I/O"} else "wait"


def profile_ledgers(log: CpuProfile) -> list[Ledger]:
    r"""The samples of a CPU profile by layer and function; waits have no sample, so they are in no part.

    Examples:
        >>> from hostparse import read_profile
        >>> one, = profile_ledgers(read_profile(b"  oracle`kdst_fetch   150\n  oracle`kcbgtcr   50\n"))
        >>> one.text
        'the profile has 200 samples of busy processors'
        >>> one.parts().select("name", "seconds").rows()[:2]
        [('row access (kd)', 150.0), ('kdst_fetch', 150.0)]
    """
    shares = layers_of(log.samples)
    total = float(shares.get_column("samples").sum())
    if total <= 0:
        return [void_ledger("the profile contains no samples", base="samples")]
    parts = SampledParts(Account(Interval.exact(total), "samples"), total, is_share=True)
    for (layer,), rows in shares.group_by("layer", maintain_order=True):
        number = float(rows.get_column("samples").sum())
        name = str(layer)
        parts.add("what", name, Interval.exact(number), kind="cpu", evidence=Place("samples", (name,)))
        functions = rows.group_by("function", maintain_order=True).agg(pl.col("samples").sum())
        top = functions.sort("samples", descending=True, maintain_order=True).head(_MOST_FUNCTIONS)
        inner = [Interval.exact(float(count)) for count in top.get_column("samples")]
        for function, one in zip(top.get_column("function"), inner, strict=True):
            place = Place("samples", (function,))
            parts.add("what", f"{name}/{function}", one, kind="cpu", name=function, parent=name, evidence=place)
        parts.close("what", Interval.exact(number), inner, parent=name, name="other functions")
    parts.put()
    idle = int(log.samples.filter("is_idle").get_column("samples").sum())
    said = f"the profile has {total:,.0f} samples of busy processors"
    return [
        parts.account.ledger(
            unit="samples",
            text=f"{said}; {idle:,} samples of idle processors are left out" if idle else said,
            counted={"what": "samples"},
        )
    ]
