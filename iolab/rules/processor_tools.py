"""Facts of top, dstat, atop and collectl beside the processors' time: load, busy and blocked processes, disks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import polars as pl

from hostparse.kernel_counters import device_samples
from iolab.metrics.formatting import count_text
from iolab.metrics.processors import RESTING, SATURATED
from iolab.rules.finding import OF_SAMPLES, Evidence, Finding, nothing_found
from iolab.rules.host_processors import PROFILE, idle_time, largest_share
from iolab.rules.phrases import percent, three
from iolab.rules.registry import apply_rules, rule
from iolab.time_ledger.samples import tool_ledgers
from logframe.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostparse.log import FrameLog

#: Processes with less of a processor are not named.
_LEAST_CPU: Final = 0.5
_MOST_PROCESSES: Final = 3
#: This many processes of a user that run one program are named together; the program of a command, without numbers.
_ALIKE: Final = 3
_DIGITS: Final = [*map(str, range(10))]
_ORACLE: Final = "ora"
_LESS: Final = "run fewer `{0}` at a time, or let them yield: renice -n 19 -u {1}; ionice -c 3 for its I/O"
#: A process that cannot be interrupted nearly always waits for I/O.
_BLOCKED: Final = "D"
#: A load below this is no load.
_LEAST_LOAD: Final = 1.0
_DISKS: Final = ("dsk/total",)
_MEGABYTE: Final = 1e6


def tool_findings(log: FrameLog) -> Iterator[Finding]:
    """The findings of such a log."""
    found = list(apply_rules("processor_tool", log))
    yield from found
    if not found and not tool_ledgers(log):
        yield nothing_found("the processors and processes")


def counter_findings(log: FrameLog) -> Iterator[Finding]:
    """What devices did between the stamps of counters, by the rules of samples; their rows are rows of counters."""
    devices = device_samples(log)
    if devices is None:
        yield replace(
            nothing_found(""), sentence="No counters of a device stand twice with a time, so there are no rates."
        )
        return
    for one in apply_rules("host", devices):
        yield replace(one, evidence=tuple(Evidence("disks", of.rows) for of in one.evidence))


def _sampled(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows without the first sample, a mean since the start of the system, where others follow."""
    return frame.filter(pl.col("sample") > 1) if frame.get_column("sample").n_unique() > 1 else frame


@rule("busy_process", of="processor_tool", needs="processes of top", thresholds={"half a CPU": "a convention"})
def busy_process(log: FrameLog) -> Iterator[Finding]:
    r"""The processes that used half a processor or more.

    Examples:
        >>> import iolab
        >>> head = "top - 08:18:1{} up  5:27,  0 user,  load average: 3.03, 1.24, 1.81\n"
        >>> head += "  PID USER      PR  NI    VIRT    RES    SHR S  %CPU %MEM     TIME+ COMMAND\n"
        >>> row = " 2488 oracle    20   0 1699064 274448  74452 {} {}   1.1   0:35.14 ora_dbw0_orcl\n"
        >>> text = head.format(1) + row.format("R", "1.0") + head.format(6) + row.format("D", 96.7)
        >>> for one in tool_findings(iolab.load(text.encode())): print(one.sentence)
        Process 2488 (`ora_dbw0_orcl`) used 0.967 CPUs on average.
        1 process was blocked (state D) in the last sample: `ora_dbw0_orcl`.
        The load average was 3.03 (1 minute) in the last sample.
    """
    rows = log.tables.get("processes", pl.DataFrame())
    if not {"cpu_percent", "pid", "command"}.issubset(rows.columns):
        return
    own = _sampled(rows)
    number = own.get_column("sample").n_unique()
    when = " on average" if own.height < rows.height else " in the only sample"
    used = own.group_by("pid", "command").agg(
        cpus=pl.col("cpu_percent").sum() / 100 / max(number, 1),
        share=(pl.col("cpu_percent") >= 100 * _LEAST_CPU).sum() / max(number, 1),
    )
    family, alike = _families(own, number) if {"user", "state"}.issubset(own.columns) else (None, used.clear())
    if family is not None:
        yield replace(family, sentence=f"{family.sentence.removesuffix('.')}{when}.")
    used = used.join(alike, on="pid", how="anti")
    busy = used.filter(pl.col("cpus") >= _LEAST_CPU).sort("cpus", "pid", descending=[True, False])
    for pid, command, cpus, share in busy.head(_MOST_PROCESSES).iter_rows():
        yield Finding(
            "busy_process",
            f"Process {pid} (`{command}`) used {three(cpus)} CPUs{when}.",
            next=PROFILE.format(pid),
            evidence=(Evidence("processes", (str(pid),)),),
            impact=Interval.exact(min(share, 1.0)),
            impact_of=OF_SAMPLES,
            order=1,
        )


def _families(rows: pl.DataFrame, number: int) -> tuple[Finding | None, pl.DataFrame]:
    """The processes of one user and program that used most together, beside those used next, and their numbers."""
    program = pl.col("command").str.split(" ").list.first().str.replace_many(_DIGITS, [""])
    families = rows.group_by("user", program=program).agg(
        name=pl.col("command").first(),
        names=pl.col("command").n_unique(),
        cpus=pl.col("cpu_percent").sum() / 100 / number,
        most=pl.struct("sample").value_counts().struct.field("count").max(),
        share=pl.col("sample").n_unique() / number,
        pid="pid",
    )
    busy = families.filter(pl.col("cpus") >= _LEAST_CPU, pl.col("most") >= _ALIKE).sort("cpus", descending=True)
    if busy.is_empty():
        return None, rows.clear().select("pid")
    said = [
        f"{most:,} processes {'like ' if names > 1 else ''}`{name}` of user `{user}` used {three(cpus)} CPUs"
        for user, name, names, cpus, most in busy.select("user", "name", "names", "cpus", "most").head(2).iter_rows()
    ]
    top = busy.row(0, named=True)
    less = _LESS.format(top["name"], top["user"])
    is_oracle = top["user"].startswith(_ORACLE) or top["name"].startswith(_ORACLE)
    finding = Finding(
        "busy_process",
        f"{'; '.join(said)}.",
        next=PROFILE.format(top["pid"][0]) if is_oracle else less,
        evidence=(Evidence("processes", tuple(map(str, top["pid"][:_MOST_PROCESSES]))),),
        impact=Interval.exact(min(top["share"], 1.0)),
        impact_of=OF_SAMPLES,
        order=0,
    )
    return finding, busy.head(2).select(pl.col("pid").explode().unique())


@rule("blocked_processes", of="processor_tool", needs="states of processes", thresholds={"0.5": "a convention"})
def blocked_processes(log: FrameLog) -> Iterator[Finding]:
    """Processes that could not be interrupted: nearly always they wait for I/O."""
    rows = log.tables.get("processes", pl.DataFrame())
    if "state" not in rows.columns:
        return
    own = _sampled(rows)
    counts = own.group_by("sample").agg((pl.col("state") == _BLOCKED).sum()).get_column("state").to_list()
    mean = sum(counts) / max(len(counts), 1)
    if mean < _LEAST_CPU:
        return
    blocked = own.filter(pl.col("state") == _BLOCKED)
    names = blocked.get_column("command").value_counts(sort=True).sort("count", "command", descending=[True, False])
    listed = ", ".join(f"`{name}`" for name in names.get_column("command").head(_MOST_PROCESSES))
    more = names.height - _MOST_PROCESSES
    is_waiting = largest_share(tool_ledgers(log), "iowait") is not None
    said = "1 process was blocked" if mean == 1 else f"{three(mean)} processes were blocked"
    when = f"on average, {max(counts)} at most" if counts[1:] else "in the last sample"
    yield Finding(
        "blocked_processes",
        f"{said} (state D) {when}: {listed}{f' and {more} more' if more > 0 else ''}.",
        next="see the devices: iostat -xt 5; where they wait: cat /proc/PID/stack",
        evidence=(Evidence("processes", tuple(map(str, blocked.get_column("pid").unique().sort().head(20)))),),
        impact=Interval.exact(sum(count > 0 for count in counts) / len(counts)) if is_waiting else None,
        impact_of=OF_SAMPLES,
        order=1,
    )


@rule("idle_processors", "stolen_time", of="processor_tool", needs="samples of the processors")
def idle_processors(log: FrameLog) -> Iterator[Finding]:
    """How long the processors were idle, with and without I/O in flight, or taken by the hypervisor."""
    for lead in tool_ledgers(log):
        yield from idle_time(lead)


@rule(
    "load_average",
    of="processor_tool",
    needs="the load average of top",
    thresholds={"1": "one process that always runs"},
)
def load_average(log: FrameLog) -> Iterator[Finding]:
    """The load average beside the CPUs, where the log has those."""
    heads = log.tables.get("heads", pl.DataFrame())
    if "load_1" not in heads.columns or heads.is_empty():
        return
    last = heads.row(-1, named=True)
    if (last["load_1"] or 0.0) < _LEAST_LOAD:
        return
    labels = set(log.tables["summary"].get_column("label")) if "summary" in log.tables else set[str]()
    cpus = sum("Cpu" in label and "(s)" not in label for label in labels)
    on = f" on {count_text(cpus, 'CPU')}" if cpus else ""
    leads = tool_ledgers(log)
    rests = [largest_share(leads, part, least=0.0) for part in RESTING]
    busy = 1 - sum(rest[1].value for rest in rests if rest)
    is_full = any(rests) and busy >= SATURATED
    full = f"The CPUs were {percent(busy)} busy. " if is_full else ""
    yield Finding(
        "load_average",
        f"{full}The load average was {three(last['load_1'])}{on} (1 minute) in the last sample.",
        detail="it counts processes that ran, waited for a CPU or were blocked",
        next="" if is_full and "processes" in log.tables else "see how many of each: vmstat 5 (columns r and b)",
        evidence=(Evidence("heads", lines=(last["line"],)),),
        impact=Interval.exact(busy) if is_full else None,
        impact_of=OF_SAMPLES,
        order=-1 if is_full else 1,
    )


@rule("bytes_of_disks", of="processor_tool", needs="dsk/total of dstat")
def bytes_of_disks(log: FrameLog) -> Iterator[Finding]:
    """What all disks read and wrote per second."""
    rows = log.tables.get("samples", pl.DataFrame())
    if not {"group", "metric", "value"}.issubset(rows.columns):
        return
    own = _sampled(rows.filter(pl.col("group").is_in(_DISKS)))
    means = dict(own.group_by("metric").agg(pl.col("value").mean()).iter_rows())
    read, written = (means.get(name) for name in ("read", "writ"))
    if read is None or written is None or max(read, written) < _MEGABYTE:
        return
    yield Finding(
        "bytes_of_disks",
        f"All disks read {three(read / _MEGABYTE)} MB/s and wrote {three(written / _MEGABYTE)} MB/s on average.",
        next="see the devices: iostat -xt 5",
        evidence=(Evidence("samples", _DISKS),),
        order=2,
    )
