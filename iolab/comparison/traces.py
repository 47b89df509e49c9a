"""Two strace logs: rates side by side, and the times of reads that are alike."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab import charts
from iolab.comparison.result import Pairing, UnpairedError
from iolab.comparison.samples import compare
from iolab.metrics.formatting import figure_text, format_number
from iolab.metrics.table import REFUSED, UPPER_BOUND, figure_of, nanoseconds
from iolab.metrics.trace_queue import depth
from iolab.metrics.trace_reads import data_reads, read_rate, read_sizes
from iolab.stats.samples import SampleError
from iolab.stats.verdict import describe_time, describe_verdict, format_estimate, format_p
from logframe.interval import ENDS, figure_cells, row_figure
from logframe.wording import counted

if TYPE_CHECKING:
    from iolab.comparison.result import Options
    from straceparse import StraceLog

#: Fewer reads of one mode and size give no interval.
MIN_READS: Final = 6
#: This many batches a trace has, if each then has this many reads.
BATCHES: Final = 30
MIN_BATCH: Final = 5
#: This many kinds of reads are compared, those with the most bytes.
MOST_KINDS: Final = 3
_BLOCK: Final = 8192

_FIGURES: Final = ("reads", "avg_read_kib", "read_mb_per_s", "reads_per_s", "depth_max", "depth_mean")
#: Columns of the figures of two traces.
SIDES: Final = pl.Schema(
    {"metric": pl.String(), "unit": pl.String()}
    | {f"{side}{end}": pl.Float64() for side in ("a", "b", "ratio") for end in ENDS}
)


def pair_traces(a: StraceLog, b: StraceLog, names: tuple[str, str], options: Options) -> Pairing:
    """The reads of two traces compared.

    Raises:
        UnpairedError: If one has no reads of data, or no single calls.
    """
    check_calls(a, b)
    requests = [log.requests.collect() for log in (a, b)]
    reads = [data_reads(one).filter(pl.col("bytes_transferred") > 0) for one in requests]
    for name, found in zip(names, reads, strict=True):
        if found.is_empty():
            raise UnpairedError(f"{name} has no reads of data that were completed")
    sides, notes = _side_by_side(requests)
    paragraphs = ["Ratios are B / A. Both times include the cost of strace itself.", *notes]
    drawers, verdicts = [], []
    kinds = _kinds_in_common(reads)
    if not kinds:
        paragraphs.append(
            "Read times are not compared: no kind of read (mode and size) occurs six times or more in both logs "
            f"({_listed(reads[0], 'A')}; {_listed(reads[1], 'B')})."
        )
    for mode, size in kinds[:MOST_KINDS]:
        alike = [one.filter((pl.col("mode") == mode) & (pl.col("bytes_transferred") == size)) for one in reads]
        column, measure, refusal = _measure(alike, mode)
        said = f"{_said(mode)} reads of {_size(size)}"
        if refusal:
            paragraphs.append(f"{said}: times are not compared, as {refusal}.")
            continue
        paragraph, line = _compared(alike, column, f"{said}, {measure}", options.threshold)
        paragraphs.append(paragraph)
        verdicts += [f"{said}: {line}"] if line else []
        drawers.append(partial(_draw, alike, column, names, f"{said}: {measure}"))
    if len(kinds) > MOST_KINDS:
        paragraphs.append(f"{len(kinds) - MOST_KINDS} more kinds of reads that both logs have are not compared.")
    return Pairing(
        names,
        "two strace logs, compared by rates, and by the times of reads of one mode and size",
        tuple(paragraphs),
        {"Figures of the reads": sides},
        is_lettered=True,
        drawers=tuple(drawers),
        verdict=verdicts[0] if verdicts else _rates_line(sides),
    )


def _rates_line(sides: pl.DataFrame) -> str:
    """The rates of both in a sentence, where no kind of read is in both, or that they are not known."""
    row = sides.filter(pl.col("metric") == "read_mb_per_s").row(0, named=True)
    a, b = row_figure(row, "a"), row_figure(row, "b")
    if a is None or b is None:
        unknown = " and ".join(name for name, rate in zip("AB", (a, b), strict=True) if rate is None)
        return f"How fast {unknown} read is not known."
    return f"A read {figure_text(a, 'MB/s')}, B read {figure_text(b, 'MB/s')}; their reads are not alike."


def check_calls(*logs: StraceLog) -> None:
    """Refuse the table of ``strace -c``.

    Raises:
        UnpairedError: If a log is one.
    """
    if any(log.kind == "strace_summary" for log in logs):
        raise UnpairedError("the table of strace -c has no single calls: trace without -c")


def _side_by_side(requests: list[pl.DataFrame]) -> tuple[pl.DataFrame, list[str]]:
    """Figures of both and their ratios; and what was refused."""
    metrics = [
        pl.concat([read_sizes(one), read_rate(one), depth(one)]).filter(pl.col("metric").is_in(_FIGURES))
        for one in requests
    ]
    rows, notes = [], []
    for metric in _FIGURES:
        found = [one.filter(pl.col("metric") == metric).row(0, named=True) for one in metrics]
        for name, row in zip("AB", found, strict=True):
            if row["value"] is None:
                notes.append(f"{name}: {metric} cannot be computed: {row['caveats'].removeprefix(REFUSED)}.")
        figures = [figure_of(one, metric) for one in metrics]
        row = {"metric": metric, "unit": found[0]["unit"]}
        for side, one in zip(("a", "b"), found, strict=True):
            row |= {f"{side}{end}": one[name] for end, name in (("", "value"), ("_lo", "lo"), ("_hi", "hi"))}
        first, second = figures
        if first is not None and second is not None and first.lo > 0:
            row |= figure_cells("ratio", second / first)
        rows.append(row)
    return pl.DataFrame(rows, schema=SIDES), notes


def _kinds_in_common(reads: list[pl.DataFrame]) -> list[tuple[str, int]]:
    """The modes and sizes that both have often enough, those with the most bytes first."""
    counted = [
        one.group_by(pl.col("mode").cast(pl.String), "bytes_transferred")
        .agg(pl.len())
        .filter(pl.col("len") >= MIN_READS)
        for one in reads
    ]
    both = counted[0].join(counted[1], on=["mode", "bytes_transferred"])
    weight = (pl.col("len") + pl.col("len_right")) * pl.col("bytes_transferred")
    ordered = both.with_columns(weight=weight).sort("weight", "mode", descending=[True, False])
    return ordered.select("mode", "bytes_transferred").rows()


def _measure(alike: list[pl.DataFrame], mode: str) -> tuple[str, str, str]:
    """The column to compare, what it is, and why there is not one."""
    if all(_is_full(one, "latency") for one in alike):
        sources = {tuple(one.get_column("latency_from").cast(pl.String).unique().sort()) for one in alike}
        bounds = [bool({"gap", "poll"} & set(one.get_column("latency_from").cast(pl.String))) for one in alike]
        if mode == "sync" or not any(bounds):
            return "latency", "time in the call (-T)" if mode == "sync" else "submission to reaping", ""
        if all(bounds):
            return "latency", f"submission to the line after the reaping, {UPPER_BOUND}", ""
        return "", "", f"one log has -T and the other has not ({len(sources)} ways of telling when a read was reaped)"
    if mode == "sync" and all(_is_full(one, "gap") for one in alike):
        return "gap", f"start to the process's next call, {UPPER_BOUND} of the latency: a log has no -T", ""
    return "", "", "a log does not tell how long they took"


def _is_full(reads: pl.DataFrame, column: str) -> bool:
    """Has nearly every row the time?  The last call of a log may have none."""
    return reads.get_column(column).null_count() <= 0.1 * reads.height


def _compared(alike: list[pl.DataFrame], column: str, said: str, threshold: float) -> tuple[str, str]:
    """The comparison of two samples of reads as a paragraph, and as one sentence."""
    samples, what = zip(*(_batches(one.sort("line").get_column(column)) for one in alike), strict=True)
    means = [float(one.select(nanoseconds(column).mean()).item()) / 1e3 for one in alike]
    try:
        result = compare(*samples, names=("A", "B"), unit="us", threshold=threshold, means=(means[0], means[1]))
    except SampleError as error:
        return f"{said}: not compared: {error}.", ""
    a, b = (format_estimate(one, "us") for one in result.medians)
    p = format_p(result.design.p)
    caveats = "".join(f" Caveat: {caveat}." for caveat in result.caveats)
    averages = " and ".join(f"{format_number(mean)} us" for mean in means)
    return (
        f"{said}. A: median {a}, of {what[0]}; B: median {b}, of {what[1]}; means {averages}. "
        f"{describe_time('B', 'A', result.pct_less_time)}; ratio {format_estimate(result.ratio)}, {p}. "
        f"Verdict: {describe_verdict(result.verdict, 'A', 'B', result.threshold)} - {result.reason}.{caveats} "
        "A trace is one run: how runs differ from each other is not in the interval."
    ), result.headline


def _batches(times: pl.Series) -> tuple[pl.Series, str]:
    """The medians of batches of neighbouring reads, and what they are; the reads themselves where they are few.

    Neighbouring reads depend on each other, and an interval of them is too narrow.  Batches depend less: the method of
    batch means (A. M. Law, Simulation Modeling and Analysis, chapter 9), with medians.
    """
    known = times.drop_nulls()
    size = known.len() // BATCHES
    if size < MIN_BATCH:
        return known, f"{known.len():,} reads"
    # What is left over goes to the last batch, so that no read is dropped.
    place = (pl.int_range(pl.len()) // size).clip(upper_bound=BATCHES - 1)
    medians = (
        pl.DataFrame({"time": known}).group_by(place.alias("batch"), maintain_order=True).agg(pl.col("time").median())
    )
    return medians.get_column("time"), f"{BATCHES} batches of {size:,} reads"


def _draw(alike: list[pl.DataFrame], column: str, names: tuple[str, str], title: str) -> Any:  # noqa: ANN401 - any chart
    drawn = pl.concat(one.select(pl.lit(name).alias("log"), column) for name, one in zip(names, alike, strict=True))
    return charts.ecdf.spec(drawn, value=column, by="log", title=title)


def _listed(reads: pl.DataFrame, name: str) -> str:
    """The kinds of reads that a log has most."""
    kinds = reads.group_by(pl.col("mode").cast(pl.String), "bytes_transferred").agg(pl.len())
    most = kinds.sort("len", "mode", "bytes_transferred", descending=[True, False, False]).head(2)
    found = ", ".join(f"{count:,} {_said(mode).lower()} of {_size(size)}" for mode, size, count in most.iter_rows())
    return f"{name} has mostly {found}"


def _said(mode: str) -> str:
    return {"sync": "Synchronous", "async": "Asynchronous"}.get(mode, mode)


def _size(size: int) -> str:
    blocks, rest = divmod(size, _BLOCK)
    return f"{size:,} B" if rest or not blocks else f"{counted(blocks, 'block')} of 8 KiB"
