"""Metrics as rows: one schema for all of them, also for one that is refused."""

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
