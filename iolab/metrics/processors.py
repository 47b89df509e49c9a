"""How busy the processors of a host were, and CPU profiles of an Oracle process by layer of the database.

A profile is what `hostparse.read_profile` gives.  The first letters of a function's name say which layer it belongs to
(`kcb`: buffer cache, `kd`: rows in a block, ...).  The names are the kernel's own; Oracle publishes no list, and
`LAYERS` holds what is well known in the field.

Stretches of samples: when a figure was high, where that was once, for a part of the log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from iolab.loading import as_log
from iolab.metrics.table import Metric, metrics_frame
from iolab.stats.intervals import share_interval
from logframe.errors import RefusedError
from logframe.interval import ENDS
from logframe.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hostparse import HostLog
    from hostparse.log import FrameLog
    from logframe import Source


#: Columns of `cpu_samples`.
CPU_SAMPLES: Final = pl.Schema(
    {
        "interval_start": pl.Datetime("us"),
        "interval_end": pl.Datetime("us"),
        "sample": pl.UInt32(),
        "at": pl.Datetime("us"),
        **{f"busy{end}": pl.Float64() for end in ("", "_lo", "_hi")},
        "runnable": pl.Float64(),
        "cpus": pl.Float64(),
        "weight_s": pl.Float64(),
        "untimed": pl.UInt32(),
        "unmoved": pl.UInt32(),
    }
)
#: From this share of busy time on, work waits for a processor now and then.
SATURATED: Final = 0.9
#: What a processor did -> the columns that print it, without ``_percent``; a tool prints one of each.
COLUMNS: Final = {
    "user": ("user", "usr", "us"),
    "nice": ("nice",),
    "guest": ("guest",),
    "guest of lower priority": ("gnice",),
    "system": ("system", "sys", "sy"),
    "interrupts": ("irq",),
    "soft interrupts": ("soft",),
    "steal": ("steal", "st"),
    "iowait": ("iowait", "wait", "wa", "wio"),
    "idle": ("idle", "id"),
}
#: A processor that is idle while a request is in flight is idle.
RESTING: Final = ("idle", "iowait")
#: The time of guests, which some tools print within that of users.
GUESTS: Final = ("guest", "guest of lower priority")
#: The parts of which the busy time is, which add up to 100 % with the idle time, or to this much more if rounded.
_AT_WORK: Final = frozenset({*COLUMNS} - {*RESTING} - {*GUESTS})
_SURPLUS: Final = 3
#: Why a log without samples is refused.
SINCE_START: Final = "all figures are averages since boot"
#: The same of top, atop and dstat: of other figures than those of the CPUs it is not true.
ONLY_FIRST: Final = "the CPU figures of the only sample may be averages since boot"
#: Rows of a host's frames that are samples: the first of some tools is a mean since the start of the system.
IS_SAMPLE: Final = ~pl.col("is_since_boot").fill_null(value=False)
#: Tables with the physical processors that a partition used: the column, and the percent of its entitlement.
_OF_OWN: Final = 100 * pl.col("PhysicalCPU") / pl.col("entitled")
_PARTITION: Final = {
    "host": ("physical_cpus", pl.col("entitled_percent")),
    "LPAR": ("PhysicalCPU", pl.when(pl.col("SharedCPU") > 0, pl.col("entitled") > 0).then(_OF_OWN)),
}
_THREADS: Final = "threads of one core count as processors: half busy may be all cores; a mean hides shorter peaks"


def has_several_hosts(log: HostLog) -> bool:
    """Whether the runs of a log name several hosts: their samples are never one account."""
    return log.runs.get_column("host").drop_nulls().n_unique() > 1


def cpu_samples(log: HostLog | Source, *, begin: datetime | None = None, end: datetime | None = None) -> pl.DataFrame:
    """The share of the processors' time that was busy, one row a sample.

    Time that a processor is idle while a request is in flight (``iowait``) is idle time.  Means since the start of the
    system are left out, and samples all of whose parts are 0: their counters did not move.

    Args:
        log: What `hostparse.read_host` gives.
        begin: Only samples that end after it, on the clock of the log.
        end: Only samples that begin before it.

    Returns:
        `CPU_SAMPLES`: ``busy`` from 0 to 1 with the bounds of its digits, ``runnable`` (processes that run or wait
        for a processor; vmstat), ``cpus``, ``weight_s``, the seconds within the time asked for (1 without times), and
        ``untimed`` and ``unmoved``: this many other samples are left out, because their length is not known, or because
        their counters did not move.

    Raises:
        RefusedError: The log has no sample of all processors, only means since the start of the system, is of several
            hosts, or has none in that time.
    """
    log = as_log(log, "host")
    frame = cpu_parts(log, begin=begin, end=end)
    resting = [name for name in RESTING if name in frame.columns]
    idle = {bound: pl.sum_horizontal(pl.col(f"{name}{bound}").fill_null(0.0) for name in resting) for bound in ENDS}
    busy = frame.with_columns(
        busy=(1 - idle[""] / 100).clip(0, 1),
        busy_lo=(1 - idle["_hi"] / 100).clip(0, 1),
        busy_hi=(1 - idle["_lo"] / 100).clip(0, 1),
    )
    # where the parts are more than all of the time, one of them is wrong: it may be the idle time
    work = pl.sum_horizontal(pl.col(one).fill_null(0.0) for one in COLUMNS if one in _AT_WORK & {*frame.columns})
    more = pl.max_horizontal("busy_hi", (work / 100).clip(0, 1))
    busy = busy.with_columns(busy_hi=pl.when(work + idle[""] > 100 + _SURPLUS).then(more).otherwise("busy_hi"))
    return busy.select(pl.col(name).cast(dtype) for name, dtype in CPU_SAMPLES.items())


def partition_use(log: HostLog) -> tuple[float, float] | None:
    """The physical processors that a partition of AIX used, and their percent of its entitlement; None of others.

    What is printed of processors is then no share of its logical ones.
    """
    for scope, (used, share) in _PARTITION.items():
        named = {field.name for one in log.parts.headings if one.scope == scope for field in one.fields}
        if {used, *share.meta.root_names()} <= named:
            rows = placed(log.scan(scope).filter(IS_SAMPLE), log.runs)
            mean, of_own = rows.select(mean_by_time(pl.col(used)), of_own=mean_by_time(share)).collect().row(0)
            return (mean, of_own) if mean and of_own else None
    return None


def cpu_parts(log: HostLog, *, begin: datetime | None = None, end: datetime | None = None) -> pl.DataFrame:
    """What the processors did, in percent of their time, one row a sample of all of them.

    Args: as of `cpu_samples`, and the same samples are left out.

    Returns:
        ``interval_start``, ``interval_end``, ``at`` (when it began, else when its collector wrote of it),
        ``runnable``, ``cpus``, ``weight_s``, and of each of `COLUMNS` that the
        log has a column with ``_lo`` and ``_hi``; of all samples alike ``is_timed``, ``since_boot``, ``untimed`` and
        ``unmoved`` (how many means since the start, samples whose length is not known, and samples whose counters did
        not move were left out), ``scope`` (the table).

    Raises:
        RefusedError: As `cpu_samples`.
    """
    if has_several_hosts(log):
        raise RefusedError("the samples are of several hosts")
    rows, scope, found = None, "", {}
    for scope in ("host", "cpu"):
        if scope in log.scopes:
            rows = log.scan(scope, bounds=True)
            columns = set(rows.collect_schema().names())
            found = {
                part: f"{name}_percent"
                for part, names in COLUMNS.items()
                for name in names
                if f"{name}_percent" in columns
            }
            if "idle" in found:
                break
    if rows is None or "idle" not in found:
        raise RefusedError("the log does not say how idle the processors were")
    if scope == "cpu":
        rows = rows.filter(pl.col("cpu") == "all")
    own = pl.when(pl.col("collector").is_null()).then("interval_s")
    cpus = pl.col("cpus").forward_fill().backward_fill()  # all runs are of one host, of which some print it
    if partition_use(log) is not None:
        cpus = pl.lit(None, pl.Int64)
    known = log.runs.lazy().select("run", "opened_at", known=cpus, step_s=own)
    frame = (
        rows.join(known, on="run", how="left", maintain_order="left")
        .select(
            "interval_start",
            "interval_end",
            pl.coalesce("interval_start", "interval_end", "opened_at").alias("at"),
            "sample",
            "step_s",
            pl.col("is_since_boot").fill_null(value=False),
            runnable=pl.col("runnable") if "runnable" in columns else pl.lit(None),
            cpus=pl.col("cpus") if "cpus" in columns else pl.col("known"),
            **{f"{part}{end}": pl.col(f"{name}{end}") for part, name in found.items() for end in ENDS},
        )
        .collect()
    )
    is_moving = (pl.sum_horizontal(pl.col(part).fill_null(0.0) for part in found) > 0) | pl.lit(len(found) == 1)
    frame = frame.filter(pl.col("idle").is_not_null())
    unmoved = frame.filter(~is_moving, ~pl.col("is_since_boot")).height
    frame = frame.filter(is_moving)
    if frame.height and frame.get_column("is_since_boot").all():
        raise RefusedError(SINCE_START)
    since_boot = int(frame.get_column("is_since_boot").sum())
    frame = frame.filter(~pl.col("is_since_boot")).drop("is_since_boot")
    start = pl.col("interval_start") if begin is None else pl.max_horizontal("interval_start", pl.lit(begin))
    stop = pl.col("interval_end") if end is None else pl.min_horizontal("interval_end", pl.lit(end))
    is_open = pl.col("interval_start").is_null() & pl.col("interval_end").is_not_null()  # its length is not known
    frame = frame.with_columns(weight_s=pl.when(~is_open).then((stop - start).dt.total_microseconds() / 1e6))
    if begin is None and end is None and not frame.get_column("weight_s").count():
        frame = frame.with_columns(weight_s="step_s")  # as the command states it
    if begin is not None and end is not None:  # where the collector wrote of a sample without a time of its own
        has_time, at = pl.col("interval_end").is_not_null(), pl.col("at")
        frame = frame.filter(has_time | at.is_null() | at.is_between(begin, end))
    is_timed = begin is not None or end is not None or frame.get_column("weight_s").null_count() < frame.height
    untimed = frame.get_column("weight_s").null_count() if is_timed else 0
    frame = frame.filter(pl.col("weight_s") > 0) if is_timed else frame.with_columns(weight_s=1.0)
    if frame.is_empty():
        raise RefusedError("no sample of the processors lies in that time, on the clock of the log")
    said = {"is_timed": is_timed, "since_boot": since_boot, "untimed": untimed, "unmoved": unmoved, "scope": scope}
    return frame.with_columns(pl.lit(value).alias(name) for name, value in said.items())


def host_cpu(log: HostLog | Source, *, begin: datetime | None = None, end: datetime | None = None) -> pl.DataFrame:
    r"""How busy the processors of a host were: on average, in the busiest sample, and how often nearly all were.

    Source: the definition of a mean weighted by time; `iowait` is idle time (manual page of mpstat, procfs(5)).

    Limitations: a sample is a mean of its interval; what is shorter is not seen.

    Args:
        log: What `hostparse.read_host` gives.
        begin: Only samples that end after it, on the clock of the log.
        end: Only samples that begin before it.

    Returns:
        `METRICS`: ``host_cpu_busy`` and ``host_cpu_busiest`` (ratios), ``host_cpu_saturated`` (the share of the sampled
        time in samples that were at least 90 % busy) and ``host_runnable`` (processes per processor, by vmstat).

    Examples:
        >>> from hostparse import read_host
        >>> head = " r  b   swpd   free  bi    bo   in   cs us sy id wa\n"
        >>> log = read_host((head + " 1 0 0 9 0 0 1 1 1 1 98 0\n" + " 9 0 0 9 0 0 1 1 90 5 1 4\n" * 3).encode())
        >>> host_cpu(log).select("metric", pl.col("value").round(3)).rows()[:3]
        [('host_cpu_busy', 0.95), ('host_cpu_busiest', 0.95), ('host_cpu_saturated', 1.0)]
    """
    log = as_log(log, "host")
    try:
        return cpu_metrics(cpu_samples(log, begin=begin, end=end))
    except RefusedError as refusal:
        return metrics_frame([Metric.refused("host_cpu_busy", "ratio", str(refusal))])


def exact_sum(figure: pl.Expr) -> pl.Expr:
    """A sum in steps of 1e-9, whose last digit does not depend on how threads share the rows.

    Examples:
        >>> pl.DataFrame({"share": [0.1, 0.2, 0.3, 0.4]}).select(exact_sum(pl.col("share") * 0.3)).item()
        0.3
    """
    return ((figure * 1e9).round().cast(pl.Int128, strict=False).sum().cast(pl.Float64) / 1e9).round(9)


def cpu_metrics(samples: pl.DataFrame) -> pl.DataFrame:
    """The metrics of `host_cpu` from the samples that `cpu_samples` gives."""
    weight = pl.col("weight_s")
    length = exact_sum(weight)
    mean = {bound: samples.select(exact_sum(pl.col(f"busy{bound}") * weight) / length).item() for bound in ENDS}
    most = samples.sort("busy").row(-1, named=True)
    number = counted(samples.height, "sample")
    full = {
        bound: samples.select(exact_sum(weight.filter(pl.col(f"busy{bound}") >= SATURATED)) / length).item()
        for bound in ENDS
    }
    largest = {bound: most[f"busy{bound}"] for bound in ENDS}
    named = (
        ("host_cpu_busy", mean, f"1 - idle - iowait, mean of {number} by time"),
        ("host_cpu_busiest", largest, f"1 - idle - iowait, largest of {number}"),
        ("host_cpu_saturated", full, f"time in samples at least {SATURATED:.0%} busy, of {number}"),
    )
    found = [
        Metric(name, figure[""], figure["_lo"], figure["_hi"], "ratio", basis, _THREADS)
        for name, figure, basis in named
    ]
    queue = samples.filter(pl.col("runnable").is_not_null() & (pl.col("cpus") > 0))
    if queue.height:
        value = queue.select(exact_sum(pl.col("runnable") / pl.col("cpus") * weight) / length).item()
        basis = f"running and waiting processes / processors, mean of {queue.height:,} moments"
        found.append(Metric.exact("host_runnable", value, "1", basis, "a moment each, no mean of the interval"))
    return metrics_frame(found)


#: What tools print beside `COLUMNS`.
_ALSO: Final = {"ni": "nice", "idl": "idle", "wai": "iowait", "stl": "steal", "hi": "interrupts", "hiq": "interrupts",
                "si": "soft interrupts", "siq": "soft interrupts"}  # fmt: skip
_PARTS: Final = {**{name: part for part, names in COLUMNS.items() for name in names}, **_ALSO}
#: The parts of a sample add up to 100 % for each processor, but for rounding.
_WHOLE: Final = 100.0


class _Table(NamedTuple):
    """Where a tool prints the parts of the processors' time.

    Attributes:
        frame: the frame.
        of: its column that says what a row is about.
        label: what that is for all processors together.
        name: the column with the name of a part.
        begins_at_boot: the first sample is a mean since the start of the system.
    """

    frame: str
    of: str
    label: tuple[str, ...]
    name: str
    begins_at_boot: bool = True


_TABLES: Final = {
    "top": _Table("summary", "label", ("%Cpu(s):", "Cpu(s):"), "name"),
    "dstat": _Table("samples", "group", ("total-cpu-usage", "total-usage"), "metric"),
    "atop": _Table("resources", "resource", ("CPU",), "name"),
    "collectl": _Table("samples", "group", ("CPU", "cpu"), "metric", begins_at_boot=False),
}


def tool_cpu_parts(log: FrameLog) -> pl.DataFrame:
    r"""What the processors did, in percent of their time, one row a sample.

    A tool that prints the percentages of several processors together (atop) says so how many there are.

    Args:
        log: What `iolab.load` gives of a log of top, dstat, atop or collectl.

    Returns:
        The columns of `iolab.metrics.processors.cpu_parts` that a ledger needs; samples count alike.

    Raises:
        RefusedError: The log has no sample of the processors, or only a mean since the start of the system.

    Examples:
        >>> import iolab
        >>> head = "--total-cpu-usage-- -dsk/total-\nusr sys idl wai stl| read  writ\n"
        >>> rows = "  2   1  96   1   0|1024k  346k\n 80  10   4   6   0|1024k  346k\n"
        >>> log = iolab.load((head + rows).encode())
        >>> tool_cpu_parts(log).select("user", "iowait", "since_boot").rows()
        [(80.0, 6.0, 1)]
    """
    table = _TABLES[log.kind]
    frame = log.tables.get(table.frame)
    if frame is None or frame.is_empty():
        raise RefusedError("the log does not say how idle the processors were")
    part = pl.col(table.name).str.to_lowercase().str.strip_chars("% ").replace_strict(_PARTS, default=None)
    rows = (
        frame.filter(pl.col(table.of).str.strip_chars(" -").is_in(table.label))
        .with_columns(part=part)
        .filter(pl.col("part").is_not_null() & pl.col("value").is_not_null())
    )
    sums = rows.group_by("sample", "part").agg(pl.col(f"value{end}").sum() for end in ENDS)
    wide = sums.pivot("part", index="sample", values=[f"value{end}" for end in ENDS]).sort("sample")
    parts = rows.get_column("part").unique(maintain_order=True).to_list()
    if "idle" not in parts:
        raise RefusedError("the log does not say how idle the processors were")
    first = int(table.begins_at_boot and wide.height > 0)
    if wide.height <= first:
        shown = {one: wide[-1:].get_column(f"value_{one}").item() for one in ("idle", "iowait") if one in parts}
        printed = ", ".join(f"{part} {value:g} %" for part, value in shown.items() if value is not None)
        raise RefusedError(f"{ONLY_FIRST} ({printed})" if printed else ONLY_FIRST)
    named = [pl.col(f"value{end}_{part}").alias(f"{part}{end}") for part in parts for end in ENDS]
    found = wide[first:].select("sample", *named).filter(pl.col("idle").is_not_null())
    whole = found.select((pl.sum_horizontal(*parts).mean() / _WHOLE).round(0)).item()
    cpus = whole if whole > 1 else None
    lengths = _lengths(frame).join(found.select("sample"), on="sample", how="right").get_column("s")
    is_timed = not lengths.has_nulls() and bool((lengths > 0).all())
    return found.with_columns(
        *(pl.col(f"{part}{end}") / (cpus or 1) for part in parts for end in ENDS),
        weight_s=lengths if is_timed else pl.lit(1.0),
        cpus=pl.lit(cpus, pl.Float64),
        is_timed=pl.lit(value=is_timed),
        since_boot=pl.lit(first),
        untimed=pl.lit(0),
        scope=pl.lit(table.frame),
    )


def _lengths(frame: pl.DataFrame) -> pl.DataFrame:
    """The seconds from the sample before to each, by the clock that top prints; null without one."""
    clock = pl.col("clock").str.to_time("%H:%M:%S", strict=False) if "clock" in frame.columns else pl.lit(None, pl.Time)
    rows = frame.group_by("sample").agg(at=clock.first()).sort("sample")
    return rows.select("sample", s=pl.col("at").cast(pl.Duration).dt.total_seconds().diff().cast(pl.Float64) % _DAY_S)


#: Prefix of a function -> layer; the longest that fits counts.
LAYERS: Final = {
    "kcb": "buffer cache (kcb)",
    "kcl": "global cache (kcl)",
    "kcr": "redo (kcr)",
    "kcf": "data file I/O (kcf)",
    "kc": "cache (kc)",
    "kd": "row access (kd)",
    "kt": "transactions, undo, segments (kt)",
    "kf": "ASM and file I/O (kf)",
    "ksl": "latches and waits (ksl)",
    "ksf": "file I/O (ksf)",
    "ks": "kernel services (ks)",
    "kgh": "heap memory (kgh)",
    "kgl": "library cache (kgl)",
    "kx": "execution (kx)",
    "kk": "parse and optimizer (kk)",
    "kp": "program interface (kp)",
    "kz": "security (kz)",
    "qer": "row sources (qer)",
    "qes": "execution services (qes)",
    "qka": "query execution (qka)",
    "qk": "optimizer (qk)",
    "ev": "expressions (ev)",
    "lnx": "number arithmetic (lnx)",
    "op": "calls of the client (op)",
    "tt": "client protocol (tt)",
    "ns": "network (ns)",
    "nt": "network (nt)",
    "sk": "operating system interface (sk)",
    "sl": "operating system interface (sl)",
    "ss": "operating system interface (ss)",
    "_intel": "memory and arithmetic library",
    "__intel": "memory and arithmetic library",
    "mem": "memory and arithmetic library",
}
OTHER: Final = "other functions of oracle"
KERNEL: Final = "operating system kernel"


def layer_of(function: str, module: str | None = None, *, is_kernel: bool | None = None) -> str:
    """The layer that a function belongs to.

    Args:
        function: Its name.
        module: Its module or library, where known.
        is_kernel: Whether the module is the kernel of the operating system.

    Examples:
        >>> layer_of("kcbgtcr"), layer_of("kdstf00000010000kmP"), layer_of("copy_user", "unix", is_kernel=True)
        ('buffer cache (kcb)', 'row access (kd)', 'operating system kernel')
        >>> layer_of("read", "libc.so.6"), layer_of("main", "sshd")
        ('library libc.so.6', 'program sshd')
    """
    if is_kernel:
        return KERNEL
    if module is not None and not module.startswith("oracle"):
        return f"library {module}" if "." in module else f"program {module}"
    for length in range(7, 1, -1):
        if (layer := LAYERS.get(function[:length])) is not None:
            return layer
    return OTHER


def layer_shares(samples: pl.DataFrame) -> pl.DataFrame:
    r"""Share of the samples that each layer has.

    ``ci_lo`` and ``ci_hi`` are the 95 % score interval of a share (Wilson, 1927): what this few samples leave open, if
    each is a draw of its own.  They have no meaning about functions that the profile leaves out.

    Args:
        samples: The frame of a `hostparse.CpuProfile`.

    Returns:
        One row a layer: ``layer``, ``samples``, then `METRICS`: ``sample_share``, a ratio; the largest first.  Refused
        where the functions have no samples.

    Examples:
        >>> from hostparse import read_profile
        >>> shares = layer_shares(read_profile(b"  oracle`kdst_fetch   15\n  oracle`kcbgtcr   5\n").samples)
        >>> shares.select("layer", "value").rows()
        [('row access (kd)', 0.75), ('buffer cache (kcb)', 0.25)]
    """
    layers = layers_of(samples).group_by("layer").agg(pl.col("samples").sum())
    ordered = layers.sort("samples", "layer", descending=[True, False]).rows()
    total = sum(count for _, count in ordered)
    metrics = []
    for _, count in ordered:
        basis = f"{count} of {total} samples"
        if not total:
            metrics.append(Metric.refused("sample_share", "ratio", "the profile has no samples", basis=basis))
            continue
        lo, hi = share_interval(count, total)
        caveat = "the 95 % interval of sampling; layers by the first letters of the function"
        metrics.append(Metric("sample_share", count / total, None, None, "ratio", basis, caveat, lo, hi))
    return metrics_frame(
        metrics,
        layer=pl.Series([name for name, _ in ordered], dtype=pl.String),
        samples=pl.Series([count for _, count in ordered], dtype=pl.Int64),
    )


def layers_of(samples: pl.DataFrame) -> pl.DataFrame:
    """The samples of processors at work: ``layer``, ``function``, ``samples``.

    Args:
        samples: The frame of a `hostparse.CpuProfile`.
    """
    busy = samples.filter(~pl.col("is_idle"))
    layers = [
        layer_of(function, module, is_kernel=is_kernel)
        for function, module, is_kernel in busy.select("function", "module", "is_kernel").iter_rows()
    ]
    return busy.select(pl.Series("layer", layers, dtype=pl.String), "function", pl.col("samples").cast(pl.Int64))


#: A stretch has this many samples, this share of all that are high, and is not longer than this share of the log.
_FEWEST: Final = 3
_MOSTLY: Final = 0.8
_MOST_OF_ALL: Final = 0.9
#: Seconds of this share of a sample are left out of its time.
_ROUNDED: Final = 0.05
_DAY_S: Final = 86_400
#: How many times as high a figure is inside a stretch, at least.
_HIGHER: Final = 2.0


class Stretch(NamedTuple):
    """Samples one after another, nearly all of them high.

    Attributes:
        first, last: the places of the first and the last.
        when: `, from 10:20 to 11:00`, or the numbers of the samples.
        of_all: the same beside the number of all that are high: how many of these are in it, where others are not.
    """

    first: int
    last: int
    when: str
    of_all: str


def stretch_of(is_high: Sequence[bool]) -> tuple[int, int] | None:
    """The first and last of the samples one after another that hold nearly all that are high; None without such.

    Examples:
        >>> stretch_of([False] * 5 + [True] * 3 + [False] + [True] * 2 + [False] * 4)
        (5, 10)
        >>> stretch_of([True, False] * 9), stretch_of([True] * 9)
        (None, None)
    """
    start = sum_here = best_sum = 0
    ends = (0, -1)
    for place, high in enumerate(is_high):
        sum_here += 1 if high else -1
        if sum_here > best_sum:
            best_sum, ends = sum_here, (start, place)
        if sum_here < 0:
            start, sum_here = place + 1, 0
    first, last = ends
    best = sum(is_high[first : last + 1])
    length = last - first + 1
    is_one = best >= max(_FEWEST, _MOSTLY * sum(is_high), _MOSTLY * length)
    return (first, last) if is_one and length <= _MOST_OF_ALL * len(is_high) else None


def high_stretch(rows: pl.DataFrame, is_high: pl.Expr) -> Stretch | None:
    """The stretch of the samples that are high, with its time.

    Args:
        rows: one row a sample, in order; with ``sample``, ``interval_start`` and ``interval_end``.
        is_high: which of them are high.
    """
    high = rows.select(is_high.fill_null(value=False).alias("high")).to_series().to_list()
    if (found := stretch_of(high)) is None:
        return None
    when, inside = _when(rows, *found), sum(high[found[0] : found[1] + 1])
    of_all = when if inside == sum(high) else when.replace(", ", f", {inside:,} of them ", 1)
    return Stretch(*found, when, of_all)


def raised(rows: pl.DataFrame, figure: str) -> Stretch | None:
    """The stretch in which a figure was high: above the middle of its range, and at least twice that of the others."""
    values = rows.get_column(figure).fill_null(0.0).sort()
    if values.len() < 2 * _FEWEST:
        return None
    middle = (float(values[:_FEWEST].mean()) + float(values[-_FEWEST:].mean())) / 2  # type: ignore[arg-type]  # numbers
    found = high_stretch(rows, pl.col(figure) > middle)
    if found is None:
        return None
    inside, outside = levels(rows, found, figure)
    return found if inside >= _HIGHER * outside else None


def placed(rows: pl.LazyFrame, runs: pl.DataFrame) -> pl.LazyFrame:
    """The rows of samples with their length as ``weight``, at the time when a collector wrote them without one.

    The length of a sample without a time is null; where none has a time, all count alike.
    """
    opened = runs.lazy().select("run", "opened_at")
    length = (pl.col("interval_end") - pl.col("interval_start")).dt.total_microseconds() / 1e6
    weight = pl.when((length > 0).any()).then(pl.when(length > 0).then(length)).otherwise(1.0)
    found = rows.with_columns(weight=weight).join(opened, on="run", how="left", maintain_order="left")
    return found.with_columns(interval_end=pl.coalesce("interval_end", "opened_at"))


def mean_by_time(figure: pl.Expr, where: pl.Expr | None = None) -> pl.Expr:
    """The mean of a figure of samples, each by its ``weight``; null without a sample.

    Examples:
        >>> samples = pl.DataFrame({"weight": [30.0, 10.0, 10.0], "rate": [1.0, 5.0, None]})
        >>> samples.select(mean_by_time(pl.col("rate"))).item()
        2.0
    """
    is_some = figure.is_not_null() if where is None else figure.is_not_null() & where
    weight = pl.col("weight").filter(is_some)
    return ((figure.filter(is_some) * weight).sum() / weight.sum()).fill_nan(None)


def levels(rows: pl.DataFrame, stretch: Stretch, figure: str) -> tuple[float, float]:
    """The mean of a figure in a stretch, and in the other samples, by their ``weight``."""
    place = pl.int_range(pl.len())
    is_in = place.is_between(stretch.first, stretch.last)
    means = {"in": mean_by_time(pl.col(figure), is_in), "out": mean_by_time(pl.col(figure), ~is_in)}
    inside, outside = rows.select(**means).row(0)
    return float(inside or 0.0), float(outside or 0.0)


def _when(rows: pl.DataFrame, first: int, last: int) -> str:
    begin: datetime | None = rows.item(first, "interval_start") or rows.item(first, "interval_end")
    end: datetime | None = rows.item(last, "interval_end")
    if begin is None or end is None:
        return f", in samples {rows.item(first, 'sample'):,} to {rows.item(last, 'sample'):,}"
    opened: datetime = rows.get_column("interval_end").drop_nulls().min()  # type: ignore[assignment]  # a column of times
    closed: datetime = rows.get_column("interval_end").drop_nulls().max()  # type: ignore[assignment]
    length = (end - begin).total_seconds() / (last - first + 1)
    date = "%Y-%m-%d " if (closed - opened).total_seconds() >= _DAY_S else ""
    said = [
        f"{one:{date}%H:%M}" if one.second <= _ROUNDED * length else f"{one:{date}%H:%M:%S}" for one in (begin, end)
    ]
    if last == rows.height - 1:
        return f", from {said[0]} on"
    return f", until {said[1]}" if first == 0 else f", from {said[0]} to {said[1]}"
