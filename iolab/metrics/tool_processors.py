"""What the processors did by top, dstat, atop and collectl, whose logs are frames of printed figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from iolab.metrics.processors import COLUMNS, SINCE_START
from logframe.errors import RefusedError

if TYPE_CHECKING:
    from hostparse.log import FrameLog

_ENDS: Final = ("", "_lo", "_hi")
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
    sums = rows.group_by("sample", "part").agg(pl.col(f"value{end}").sum() for end in _ENDS)
    wide = sums.pivot("part", index="sample", values=[f"value{end}" for end in _ENDS]).sort("sample")
    parts = rows.get_column("part").unique(maintain_order=True).to_list()
    if "idle" not in parts:
        raise RefusedError("the log does not say how idle the processors were")
    first = int(table.begins_at_boot and wide.height > 0)
    if wide.height <= first:
        raise RefusedError(SINCE_START)
    named = [pl.col(f"value{end}_{part}").alias(f"{part}{end}") for part in parts for end in _ENDS]
    found = wide[first:].select("sample", *named).filter(pl.col("idle").is_not_null())
    whole = found.select(pl.sum_horizontal(*parts).mean()).item()
    cpus = round(whole / _WHOLE) if whole > 1.5 * _WHOLE else None
    return found.with_columns(
        *(pl.col(f"{part}{end}") / (cpus or 1) for part in parts for end in _ENDS),
        weight_s=pl.lit(1.0),
        cpus=pl.lit(cpus, pl.Float64),
        is_timed=pl.lit(value=False),
        since_boot=pl.lit(first),
        untimed=pl.lit(0),
        scope=pl.lit(table.frame),
    )
