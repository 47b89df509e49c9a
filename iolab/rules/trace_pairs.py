"""Two strace logs: the same reads done one at a time and asynchronously."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.formatting import figure_text
from iolab.metrics.table import figure_of
from iolab.metrics.trace_facts import Trace, opens_of, short_name, trace_of
from iolab.metrics.trace_queue import depth
from iolab.metrics.trace_reads import read_rate
from iolab.rules.finding import Evidence, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from logframe.interval import Interval
    from straceparse import StraceLog

#: One file and one size hold so large a share of the bytes, and one mode of the reads.
_NEARLY_ALL: Final = 0.95
_LEAST_READS: Final = 30
#: A rate known less well than this is not compared.
_COARSE: Final = 0.10


@dataclass(frozen=True, slots=True)
class _Series:
    """The reads of a trace, where they are of one file, one size and one mode.

    Attributes:
        file: its name without folders.
        size: bytes of a read.
        is_async: by io_submit.
        is_direct: opened with O_DIRECT; None where the log does not hold the open, or holds both ways.
        rate: MB/s; None where the log does not tell.
        most: requests at a time, at most; None where the log does not tell.
    """

    file: str
    size: int
    is_async: bool
    is_direct: bool | None
    rate: Interval | None
    most: float | None


def trace_pair(first: tuple[str, StraceLog], second: tuple[str, StraceLog]) -> Iterator[Finding]:
    """The rates of synchronous and asynchronous reads of one file and size; refused where caches may make them.

    Examples:
        >>> import iolab
        >>> start = '1700000000.000000 openat(AT_FDCWD, "/u01/users01.dbf", O_RDONLY|O_DIRECT) = 3 <0.000010>'
        >>> lines = [f'1700000000.{n:06} pread64(3</u01/users01.dbf>, ""..., 8192, {8192 * n}) = 8192 <0.000400>'
        ...          for n in range(1000, 60_000, 1000)]
        >>> log = iolab.load(chr(10).join([start, *lines]).encode())
        >>> list(trace_pair(("a", log), ("b", log)))  # both are synchronous
        []
    """
    if {first[1].kind, second[1].kind} != {"strace"}:
        return
    found = [_series(trace_of(log)) for _, log in (first, second)]
    if found[0] is None or found[1] is None or found[0].is_async == found[1].is_async:
        return
    one, two = found[0], found[1]
    evidence = (Evidence("requests"),)
    differs = _difference(one, two)
    if differs:
        yield Finding(
            "sync_against_async",
            f"The rates of synchronous and asynchronous reads cannot be compared: {differs}.",
            next="repeat both runs on one file, with reads of one size and O_DIRECT",
            evidence=evidence,
            is_refused=True,
        )
        return
    if one.rate is None or two.rate is None:
        return
    said = [
        f"{name} {figure_text(series.rate, 'MB/s')} {_at_a_time(series)}"
        for (name, _), series in zip((first, second), (one, two), strict=True)
        if series.rate is not None
    ]
    ratio = two.rate / one.rate
    yield Finding(
        "sync_against_async",
        f"Reads of {one.size // 1024:,} KiB of `{one.file}` with O_DIRECT: {'; '.join(said)}: {figure_text(ratio)} "
        "times as much, in one run each.",
        evidence=evidence,
        order=1,
    )


def _at_a_time(series: _Series) -> str:
    if not series.is_async:
        return "with one read at a time"
    return "asynchronously" if series.most is None else f"with at most {series.most:.0f} at a time"


def _difference(one: _Series, two: _Series) -> str:
    """What makes the reads of two traces no pair; empty where nothing does."""
    if any(series.file.startswith("fd ") for series in (one, two)):
        return "a log does not name its file"
    if one.file != two.file:
        return f"the files differ (`{one.file}` and `{two.file}`)"
    if one.size != two.size:
        return f"one log has reads of {one.size // 1024:,} KiB, the other of {two.size // 1024:,} KiB"
    if None in {one.is_direct, two.is_direct}:
        return "a log does not show how the file was opened"
    if not (one.is_direct and two.is_direct):
        return "without O_DIRECT the data may have come from the page cache"
    for series in (one, two):
        if series.rate is None or series.rate.hi - series.rate.lo > _COARSE * series.rate.value:
            return "the times of a log are too coarse for a rate"
    return ""


def _series(trace: Trace) -> _Series | None:
    """The reads of a trace as one series; None where they are of several files, sizes or modes, or few."""
    files = trace.data_files
    done = trace.reads.filter(pl.col("bytes_transferred") > 0).collect()
    if not files or done.is_empty() or trace.unprinted:
        return None
    size_of = pl.col("bytes_transferred")
    by_size = done.group_by(size_of).agg(held=size_of.sum()).sort("held", size_of, descending=True)
    size, held = int(by_size.item(0, 0)), int(by_size.item(0, "held"))
    total = int(by_size.get_column("held").sum())
    alike = done.filter(size_of == size)
    share = float(alike.select((pl.col("mode") == "async").mean()).item())
    main = files[0]
    own = sum(found for name in ("sync_bytes", "async_bytes") if isinstance(found := main[name], int))
    if min(own, held) < _NEARLY_ALL * total or alike.height < _LEAST_READS or 1 - _NEARLY_ALL < share < _NEARLY_ALL:
        return None
    if share < _NEARLY_ALL and alike.get_column("pid").n_unique() > 1:  # several processes read at a time
        return None
    ways = {direct for _, direct in opens_of(trace, str(main["file"]))}
    top = depth(alike).filter(pl.col("metric") == "depth_max").get_column("value").to_list()
    return _Series(
        file=short_name(main["file"]),
        size=size,
        is_async=share >= _NEARLY_ALL,
        is_direct=ways.pop() if len(ways) == 1 else None,
        rate=figure_of(read_rate(alike), "read_mb_per_s"),
        most=top[0] if top else None,
    )
