"""Metrics as rows: one schema for all of them, also for one that is refused.

The spread of times that strace printed is what a mean, a median or a percentile of cut times allows.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from logframe.errors import RefusedError
from logframe.interval import Interval, show

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from logframe.interval import Figure


#: Columns of every frame of metrics.  Functions that give a row for each event, file or call put its name before them.
METRICS: Final = pl.Schema(
    {
        "metric": pl.String(),
        "value": pl.Float64(),
        "lo": pl.Float64(),
        "hi": pl.Float64(),
        "ci_lo": pl.Float64(),
        "ci_hi": pl.Float64(),
        "unit": pl.String(),
        "basis": pl.String(),
        "caveats": pl.String(),
    }
)

#: What the caveats of a refused metric begin with.
REFUSED: Final = "refused: "


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric; the fields are the columns of `METRICS`.

    Attributes:
        metric: its name.
        value: the figure; None when it is refused.
        lo: not below this; None when nothing bounds it below.
        hi: not above this; None when nothing bounds it above.
        unit: of value, lo and hi.
        basis: the formula, and the figures that went into it.
        caveats: what to know before it is used, separated by `; `; of a refused one, the reason.
        ci_lo: lower limit of the 95 % interval, where the figure is that of a sample.
        ci_hi: its upper limit.
    """

    metric: str
    value: float | None
    lo: float | None
    hi: float | None
    unit: str
    basis: str
    caveats: str = ""
    ci_lo: float | None = None
    ci_hi: float | None = None

    @classmethod
    def exact(cls, metric: str, value: float, unit: str, basis: str, caveats: str = "") -> Metric:
        """A metric that is known exactly."""
        return cls(metric, float(value), float(value), float(value), unit, basis, caveats)

    @classmethod
    def refused(cls, metric: str, unit: str, reason: str, *, basis: str = "") -> Metric:
        """A metric without a value, and why."""
        return cls(metric, None, None, None, unit, basis, f"{REFUSED}{reason}")

    @property
    def is_refused(self) -> bool:
        """Is there no value, for a reason?"""
        return self.value is None


def metrics_frame(metrics: Iterable[Metric], **keys: Sequence[object] | pl.Series) -> pl.DataFrame:
    """Metrics as a frame with the columns `METRICS`, in the order given; `keys` are columns put before them.

    ``lo`` and ``hi`` hold what the rounding of printed figures allows, ``ci_lo`` and ``ci_hi`` the 95 % interval of a
    sample: the two are never in one column.

    Examples:
        >>> metrics_frame([Metric("iops", 10.0, 9.0, 11.0, "1/s", "reads / s")], file=["users01.dbf"]).columns[:3]
        ['file', 'metric', 'value']
    """
    frame = pl.DataFrame([asdict(one) for one in metrics], schema=METRICS)
    return frame.select(*(pl.Series(name, values) for name, values in keys.items()), pl.all()) if keys else frame


def evaluate(
    metric: str,
    unit: str,
    formula: str,
    inputs: Mapping[str, Figure],
    compute: Callable[..., Interval],
    caveats: Iterable[str] = (),
) -> Metric:
    """A metric from its inputs, or the refused metric.

    Args:
        metric: its name.
        unit: of the result.
        formula: as text, for the basis.
        inputs: the figures by their names in the formula; a missing one is None, and refuses the metric.
        compute: takes the inputs as `Interval`, by name; raises `RefusedError` with the reason.
        caveats: of the result.
    """
    shown = [f"{name} = {_shown(figure)}" for name, figure in inputs.items()]
    basis = "; ".join([formula, ", ".join(shown)]) if shown else formula
    try:
        figures = {name: _not_negative(name, figure) for name, figure in inputs.items()}
        result = compute(**figures)
    except RefusedError as refusal:
        return Metric.refused(metric, unit, str(refusal), basis=basis)
    return Metric(metric, float(result.value), float(result.lo), float(result.hi), unit, basis, "; ".join(caveats))


def evaluate_one(
    metric: str,
    unit: str,
    formula: str,
    inputs: Mapping[str, Figure],
    compute: Callable[..., Interval],
    caveats: Iterable[str] = (),
) -> pl.DataFrame:
    """One metric as a frame; see `evaluate`."""
    return single(evaluate(metric, unit, formula, inputs, compute, caveats))


def evaluate_in(
    units: Iterable[tuple[str, str, str, int]],
    inputs: Mapping[str, Figure],
    compute: Callable[..., Interval],
    caveats: Sequence[str] = (),
) -> pl.DataFrame:
    """One quantity in several units: a row each, of name, unit, formula and divisor; see `evaluate`."""
    return metrics_frame(
        [
            evaluate(metric, unit, formula, inputs, lambda size=divisor, **figures: compute(**figures) / size, caveats)
            for metric, unit, formula, divisor in units
        ]
    )


def _shown(figure: Figure) -> str:
    try:
        return show(Interval.of(figure))
    except RefusedError:
        return "?"


def _not_negative(name: str, figure: Figure) -> Interval:
    if figure is None:
        raise RefusedError(f"{name} is not known")
    try:
        bounded = Interval.of(figure)
    except RefusedError as refusal:
        raise RefusedError(f"{name}: {refusal}") from refusal
    if bounded.lo < 0:
        raise RefusedError(f"{name} is negative: {show(bounded)}")
    return bounded


def need_time(name: str, seconds: Interval) -> None:
    """Refuse a time that the clock shows as zero.

    Raises:
        RefusedError: it does.
    """
    if seconds.value == 0 or seconds.lo <= 0:
        raise RefusedError(f"{name} is shown as {show(seconds.value)}: shorter than the clock can tell")


def need_part(part_name: str, part: Interval, whole_name: str, whole: Interval) -> None:
    """Refuse a part that is greater than its whole, beyond rounding.

    Raises:
        RefusedError: it is.
    """
    if part.lo > whole.hi:
        raise RefusedError(f"{part_name} ({show(part)}) are more than {whole_name} ({show(whole)})")


def share_of(part_name: str, part: Interval, whole_name: str, whole: Interval) -> Interval:
    """What part of a whole something is.

    Raises:
        RefusedError: the part is greater than its whole, beyond rounding.
    """
    need_part(part_name, part, whole_name, whole)
    return clip_share(part / whole)


def clip_share(share: Interval) -> Interval:
    """A share of a whole: the part of its bounds from 0 to 1, which rounding may have pushed beyond."""
    return Interval(min(max(share.value, 0), 1), min(max(share.lo, 0), 1), min(max(share.hi, 0), 1))


def single(metric: Metric) -> pl.DataFrame:
    """One metric as a frame."""
    return metrics_frame([metric])


#: Percentiles of every spread.
PERCENTILES: Final = (50, 95, 99)
#: What the caveats of an upper bound begin with.
UPPER_BOUND: Final = "an upper bound"
#: Why nothing between two moments of such a log is known.
SET_BACK: Final = f"{REFUSED}the clock was set back within the log, or logs without process ids were read as one"

#: A clock of strace prints at most nine decimals; so far apart are the decimals it may print, in nanoseconds.
_TICKS: Final = (10**9, 10**6, 10**3, 1)


def spread(
    times: pl.Series,
    name: str,
    *,
    basis: str,
    caveat: str = "",
    is_upper: bool = False,
    is_difference: bool = False,
    bounds: pl.Series | None = None,
) -> list[Metric]:
    """Mean, median, 95th and 99th percentile and maximum of times, in microseconds.

    Percentiles are times that occurred (the smallest that this many per cent do not exceed); of few times a high one is
    the longest, and its caveat says so.  strace cuts its times, so each is between what is printed and one more of its
    last decimal.

    Args:
        times: a Duration column; nulls are left out, and so are times below zero, which the caveat counts.
        name: such as ``gap_us``; the rows are ``gap_us_mean``, ``gap_us_p50``, ...
        basis: what the times are.
        caveat: of all rows.
        is_upper: the times are upper bounds of what is meant; then `lo` is 0.
        is_difference: they are differences of two cut times, and may also be one decimal too long.
        bounds: what each time is below, where the log shows the last decimal (``elapsed_hi``); without it the last
            decimal is taken from the times.

    Returns:
        Five metrics; refused when there is no time, or all are zero and the last decimal is not known.

    Examples:
        >>> times = pl.Series([2_132_000, 2_214_000, 2_334_000], dtype=pl.Int64).cast(pl.Duration("ns"))
        >>> [(one.metric, round(one.value, 1)) for one in spread(times, "gap_us", basis="gaps")][:2]
        [('gap_us_mean', 2226.7), ('gap_us_p50', 2214.0)]
    """
    counts = times.drop_nulls().dt.total_nanoseconds().sort()
    set_back = int((counts < 0).sum())
    if set_back:
        counts = counts.filter(counts >= 0)
        said = f"{_count(set_back)} below zero left out: the clock was set back"
        caveat = f"{caveat}; {said}" if caveat else said
    labels = ["mean", *(f"p{percent}" for percent in PERCENTILES), "max"]
    basis = f"{basis}; n = {counts.len()}"
    if counts.is_empty():
        reason = f"{REFUSED}no such time is in the log" + f"; {caveat}" * bool(set_back)
        return [Metric(f"{name}_{label}", None, None, None, "us", basis, reason) for label in labels]
    most = int(counts.item(-1))
    shown = _last_decimal(times, bounds)
    if not most and shown is None:
        reason = f"{REFUSED}the log's clock shows no time between them, and not how fine it is"
        return [Metric(f"{name}_{label}", None, None, None, "us", basis, reason) for label in labels]
    tick = tick_of(counts) if shown is None else shown
    last = counts.len() - 1
    places = [max(-(-counts.len() * percent // 100) - 1, 0) for percent in PERCENTILES]
    total = int((counts if most * counts.len() < 2**63 else counts.cast(pl.Int128)).sum())
    values = [total / counts.len(), *(float(counts.item(place)) for place in places), float(most)]
    few = f"of {_count(counts.len())} it is the longest"
    caveats = [caveat, *("; ".join(filter(None, (caveat, few * (place == last)))) for place in places), caveat]
    metrics = []
    for label, value, said in zip(labels, values, caveats, strict=True):
        lo = 0.0 if is_upper else max(value - tick * is_difference, 0.0)
        metrics.append(Metric(f"{name}_{label}", value / 1e3, lo / 1e3, (value + tick) / 1e3, "us", basis, said))
    return metrics


def bounds_of(frame: pl.DataFrame, column: str) -> pl.Series | None:
    """What each time of a column is below (``elapsed_hi`` of ``elapsed``); None where the frame has no such column."""
    name = f"{column}_hi"
    return frame.get_column(name) if name in frame.columns else None


def _last_decimal(times: pl.Series, bounds: pl.Series | None) -> int | None:
    """The largest distance in nanoseconds from a time to its bound; None where a time has no bound."""
    if bounds is None:
        return None
    steps = (bounds - times).filter(times.is_not_null()).dt.total_nanoseconds()
    return None if steps.is_empty() or steps.has_nulls() else int(steps.max())  # type: ignore[arg-type]


def _count(times: int) -> str:
    return "1 time" if times == 1 else f"{times} times"


def is_set_back(frame: pl.DataFrame, column: str) -> bool:
    """Does a process's clock go back from one line of the log to a later one?

    Examples:
        >>> lines = {"line": [1, 2, 3], "pid": [7, 8, 7], "start": [10, 0, 9]}
        >>> is_set_back(pl.DataFrame(lines).cast({"start": pl.Duration("ns")}), "start")
        True
    """
    return not set_back(frame, column).is_empty()


def set_back(frame: pl.DataFrame, column: str) -> pl.Series:
    """The processes whose clock goes back from one line of the log to a later one."""
    stamps = frame.select("line", "pid", column).drop_nulls(column)
    if stamps.get_column("line").is_sorted():
        if stamps.get_column(column).is_sorted():  # all processes together, in most logs
            return stamps.get_column("pid").clear()
    else:
        stamps = stamps.sort("line", maintain_order=True)
    step = pl.col(column).diff().over("pid").dt.total_nanoseconds()
    return stamps.filter(step < 0).get_column("pid").unique()


def window(first_ns: int, last_ns: int, *, lines: int, tick: int) -> Interval:
    """The time between two stamps of a log, in seconds.

    Both stamps are cut at a tick; with ``-r`` so is each of the numbers between them, and their sum runs short by up to
    a tick a line.

    Examples:
        >>> window(0, 6_680_000, lines=3, tick=1000).rounded(6)
        (0.00668, 0.006679, 0.006683)
    """
    passed = last_ns - first_ns
    return Interval(passed / 1e9, max(passed - tick, 0) / 1e9, (passed + tick * max(lines, 1)) / 1e9)


def nanoseconds(column: str) -> pl.Expr:
    """A Duration column as whole nanoseconds."""
    return pl.col(column).dt.total_nanoseconds()


def tick_of(times: pl.Series) -> int:
    """The last decimal that all the times show, in nanoseconds: one second, millisecond, microsecond or nanosecond.

    strace cuts a time there, so the true one lies between what is printed and one tick more.

    Args:
        times: whole nanoseconds.

    Examples:
        >>> tick_of(pl.Series([2_132_000, 245_000])), tick_of(pl.Series([3_000_000_000]))
        (1000, 1000000000)
    """
    known = times.filter(times != 0)
    if known.is_empty():
        return 1
    # Of few times, whole milliseconds are more likely chance than a log that prints no microseconds.
    ticks = (tick for tick in _TICKS if not (tick == 10**6 and known.len() < 3))
    return next(tick for tick in ticks if not any((part % tick != 0).any() for part in (known.head(1000), known)))


def figure_of(metrics: pl.DataFrame, metric: str | None = None, **keys: str) -> Interval | None:
    """One figure of a frame of metrics, to compute with; None where it was refused or lacks a bound.

    Args:
        metrics: what any function here gives.
        metric: its name; may be left out of a frame with one row.
        keys: values of the columns before `METRICS`, such as ``event="log file sync"``.

    Raises:
        KeyError: no row, or more than one, is meant.

    Examples:
        >>> from iolab.metrics import rate
        >>> print(figure_of(rate(10, (2.0, 1.5, 2.5))))
        5 [4, 6.7]
    """
    wanted = metrics if metric is None else metrics.filter(pl.col("metric") == metric)
    for name, value in keys.items():
        wanted = wanted.filter(pl.col(name) == value)
    if wanted.height != 1:
        request = (
            ", ".join(filter(None, [metric, *(f"{name}={value}" for name, value in keys.items())])) or "one metric"
        )
        raise KeyError(f"{request}: {wanted.height} rows of {metrics.height}")
    row = wanted.row(0, named=True)
    if None in {row["value"], row["lo"], row["hi"]}:
        return None
    return Interval(row["value"], row["lo"], row["hi"])
