"""A quantity of two sets of reports: its range on each side, their ratio, and what may be said of the change.

Of fewer than six reports a side a change is one where the ranges do not meet.  From six on the reports are samples, in
the order of their times, and a verdict is given (`iolab.comparison.compare`).  Many quantities are compared at once, so
their p values are corrected for the share of false discoveries.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.comparison.samples import compare
from iolab.metrics.formatting import figure_text
from iolab.stats.intervals import MIN_RUNS
from iolab.stats.samples import SampleError
from logframe.extras import require
from logframe.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from iolab.stats.comparison import Comparison

#: A figure of one report, and the place of the report in time; None where its time is not known.
Placed = tuple[Interval, float | None]

_RANGE: Final = tuple(f"{side}{end}" for side in ("before", "after", "ratio") for end in ("", "_least", "_greatest"))
#: Columns of the load (without an event) and of the latencies: middle, least and greatest over the reports of a set,
#: the rounding of their figures included; ``instance`` is what the reports are of.
CHANGES: Final = pl.Schema(
    {"instance": pl.String(), "event": pl.String(), "quantity": pl.String(), "unit": pl.String()}
    | dict.fromkeys(_RANGE, pl.Float64())
    | {"reports_before": pl.Int64(), "reports_after": pl.Int64(), "change": pl.String()}
)
#: What `change` says where the two ranges do not meet, and where they do.
UP: Final = "up"
DOWN: Final = "down"
OPEN: Final = "within the range of the set"
_VERDICTS: Final = {"slower": UP, "faster": DOWN}


@dataclass
class Change:
    """A quantity of both sets.

    Attributes:
        row: The columns from ``before`` on of `CHANGES`.
        found: The comparison of the reports as samples; None below six a side.
    """

    row: dict[str, Any]
    found: Comparison | None = None


def measure_change(before: Sequence[Placed], after: Sequence[Placed]) -> Change | None:
    """Middle, least and greatest of both sets, and their ratio; None where a set has no figure.

    Examples:
        >>> def figures(*values): return [(Interval.exact(value), None) for value in values]
        >>> change = measure_change(figures(2, 3, 4), figures(9, 6, 12))
        >>> [change.row[name] for name in ("before", "after", "ratio", "ratio_least", "ratio_greatest", "change")]
        [3.0, 9.0, 3.0, 1.5, 6.0, 'up']
    """
    if not before or not after:
        return None
    row: dict[str, Any] = {}
    spans = []
    for side, figures in (("before", before), ("after", after)):
        span = Interval(
            float(median(one.value for one, _ in figures)),
            min(one.lo for one, _ in figures),
            max(one.hi for one, _ in figures),
        )
        spans.append(span)
        row |= {side: span.value, f"{side}_least": span.lo, f"{side}_greatest": span.hi}
        row[f"reports_{side}"] = len(figures)
    first, second = spans
    if first.lo > 0:
        ratio = second / first
        row |= {"ratio": ratio.value, "ratio_least": ratio.lo, "ratio_greatest": ratio.hi}
    row["change"] = UP if second.lo > first.hi else DOWN if second.hi < first.lo else OPEN
    if min(len(before), len(after)) < MIN_RUNS or min(one.value for one, _ in (*before, *after)) <= 0:
        return Change(row)
    places = [place for _, place in (*before, *after)]
    is_ordered = None not in places and len(set(places)) == len(places)
    sides = [sorted(side, key=lambda one: one[1] or 0.0) if is_ordered else side for side in (before, after)]
    orders = [[place or 0.0 for _, place in side] if is_ordered else None for side in sides]
    try:
        found = compare(*([one.value for one, _ in side] for side in sides), order_a=orders[0], order_b=orders[1])
    except SampleError:
        return Change(row)
    return Change(row, found)


def decide_together(changes: Sequence[Change], schema: pl.Schema) -> pl.DataFrame:
    """The rows of changes that are looked at together, with their verdicts.

    A change among many is one only where it stays significant when at most 5 % of all that are called so may be false.

    Source: Benjamini and Hochberg, Controlling the false discovery rate (1995).
    """
    tested = [(change, change.found) for change in changes if change.found is not None]
    if tested:
        corrected = require("scipy.stats").false_discovery_control([found.design.p for _, found in tested])
        for (change, found), p in zip(tested, corrected.tolist(), strict=True):
            verdict = found.design.decide(p, found.threshold, found.of_means)
            change.row["change"] = _VERDICTS.get(verdict.outcome, verdict.outcome)
    return pl.DataFrame([change.row for change in changes], schema=schema, orient="row")


def from_to(row: Mapping[str, Any], *, factor: float = 1.0, unit: str | None = None) -> str:
    """A change in words: from, to, and how many times.

    Args:
        row: Of `CHANGES`.
        factor: What the figures are multiplied with, to be in another unit.
        unit: The unit; by default that of the row, without that of rates.

    Examples:
        >>> ends = {f"{name}_{end}": None for name in ("before", "after") for end in ("least", "greatest")}
        >>> row = {"before": 37.8, "after": 4.57499, "unit": "1/s", "ratio": None, "change": "down"} | ends
        >>> counts = {"reports_before": 2, "reports_after": 2}
        >>> limits = {"before_least": 37.5, "before_greatest": 38.04, "after_least": 4.1, "after_greatest": 5.0}
        >>> from_to(row | counts | limits)  # each figure is rounded once
        '37.8 (37.5 to 38.0) to 4.57 (4.10 to 5)'
    """
    if unit is None:
        unit = "" if row["unit"] in ("1/s", "sessions") else row["unit"]
    is_set = max(row["reports_before"], row["reports_after"]) > 1
    sides = []
    for side in ("before", "after"):
        shown = figure_text(row[side] * factor)
        ends = [figure_text(row[f"{side}_{end}"] * factor) for end in ("least", "greatest")]
        sides.append(f"{shown} ({ends[0]} to {ends[1]})" if is_set else shown)
    said = f"{sides[0]} to {sides[1]}{f' {unit}' if unit else ''}"
    if row["ratio"] is not None:
        ratio = Interval(row["ratio"], row["ratio_least"], row["ratio_greatest"])
        said += f": {figure_text(ratio.value if is_set else ratio)} times"
    return said if row["change"] in (UP, DOWN) else f"{said}, {row['change']}"
