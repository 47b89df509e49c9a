"""What limits a comparison, said in sentences."""

from statistics import median

from iolab.stats.comparison import Design
from iolab.stats.effects import Effects
from iolab.stats.first_runs import first_run
from iolab.stats.order import describe_blocks, describe_order
from iolab.stats.ranks import PValues
from iolab.stats.report import format_p
from iolab.stats.samples import Sample, median_deviation, repeated_share, robust_spread
from logframe.extras import require

UNEQUAL_SPREADS = 0.01
"""Below this p value of Levene's test the spreads are called unequal."""

MANY_TIES = 0.3
"""From this share of repeated values on, a sample is called limited by its clock."""

FAR = 4.0
"""This many robust spreads above its median a run belongs to the tail,"""

SLOWER = 1.05
"""if it takes this many times the median, too."""

TAIL_ALPHA = 0.05
"""The level of the test of two tails; it is exact, so fewer alarms are false."""


def find_caveats(
    a: Sample,
    b: Sample,
    step: float | None,
    unit: str,
    effects: Effects,
    p_values: PValues,
    *,
    design: Design,
) -> list[str]:
    """One sentence for each thing that limits the comparison of these samples."""
    caveats = [effects.refusal] if effects.refusal else []
    for sample in (a, b):
        if sample.nulls:
            caveats.append(f"{sample.nulls} of {sample.name}'s values were null and dropped")
        if sample.left_out:
            caveats.append(f"the first {sample.left_out} of {sample.name}'s runs were left out on request")
        caveats += _describe_clock(sample, step, unit, effects.clock)
        caveats += describe_order(sample)
        caveats += _describe_first(sample, step, unit)
    if p_values.levene is not None and p_values.levene < UNEQUAL_SPREADS:
        caveats.append(
            f"unequal spreads of {a.name} and {b.name} (Levene {format_p(p_values.levene)}): "
            "Cliff's delta supposes one shape, the ratio of the medians and the shift do not"
        )
    if note := design.dependence.note:
        what = "rounds" if design.is_rounds else "runs"
        seen = f"neighbouring {what} resemble each other; " if design.dependence.is_visible else ""
        caveats.append(f"dependence: {seen}intervals {note}")
    if not design.is_rounds and (tail := _describe_tail(a, b, step)):
        caveats.append(tail)
    if (blocks := describe_blocks(a, b)) is not None:
        caveats.append(blocks)
    return caveats


def _describe_tail(a: Sample, b: Sample, step: float | None) -> str:
    """A sentence where one sample has more runs far above its median than the other (Fisher's exact test)."""
    slow = []
    for sample in (a, b):
        middle = median(sample.values)
        edge = middle + FAR * max(robust_spread(a.values, step), robust_spread(b.values, step))
        slow.append(sum(value > max(edge, middle * SLOWER) for value in sample.values))
    sizes = len(a.values), len(b.values)
    table = [[count, size - count] for count, size in zip(slow, sizes, strict=True)]
    p = float(require("scipy.stats").fisher_exact(table).pvalue)
    if p >= TAIL_ALPHA:
        return ""
    counts = " and ".join(
        f"{count} of {size} runs of {sample.name}" for count, size, sample in zip(slow, sizes, (a, b), strict=True)
    )
    return f"tail: {counts} lie far above their median ({format_p(p)}); medians do not show it"


def _describe_clock(sample: Sample, step: float | None, unit: str, clock: str) -> list[str]:
    repeated, deviation = repeated_share(sample.values), median_deviation(sample.values)
    if len(sample.values) < 2 or (repeated <= MANY_TIES and deviation > 0):
        return []
    against = "of unknown step" if step is None else f"of step {step:g} {unit}"
    what = "half of the runs read one value" if deviation == 0 else f"{repeated:.0%} of the runs repeat a value"
    treated = f"; {'in the intervals' if clock.startswith('ties') else 'intervals'} {clock}" if clock else ""
    return [f"resolution-limited: {what} in {sample.name} (clock {against}){treated}"]


def _describe_first(sample: Sample, step: float | None, unit: str) -> list[str]:
    found = first_run(sample.values, name=sample.name, unit=unit, resolution=step)
    if found.kind not in ("cold_first", "warm_up"):
        return []
    return [f"first run: {found.name} begins {found.ratio:.2f}x slower than it ends; drop_first leaves first runs out"]
