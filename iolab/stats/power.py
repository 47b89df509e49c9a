"""How many runs would decide an open comparison: power as a number.

Source: Julious, Sample sizes for clinical trials with normal data (2004), for the sizes of a comparison and of an
equivalence; on the logarithms, with the standard error that the samples show.  A quarter of the squared quantile is
added for spreads that are estimated: Guenther, Sample size formulas for normal theory t tests (1981).
"""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

POWER: Final = 0.8
"""How often this many runs would decide."""

MOST_RUNS: Final = 100_000
"""More runs than this are not a plan."""


@dataclass(frozen=True, slots=True)
class RunsNeeded:
    """Runs in each sample (or rounds) that would decide four times in five.

    Attributes:
        if_equal: If there is no difference, to say that it is smaller than the threshold; None beyond 100,000.
        if_seen: If the true ratio is the one seen, to say that it is larger; None where that is within the threshold.
    """

    if_equal: int | None
    if_seen: int | None

    def __str__(self) -> str:
        """A part of a sentence."""
        equal = "more than 100,000" if self.if_equal is None else f"about {self.if_equal:,}"
        if self.if_seen is None:
            return f"{equal} would decide it if there is no difference (power {POWER:.0%})"
        return (
            f"about {self.if_seen:,} would decide it if the true difference is the one seen, {equal} without one "
            f"(power {POWER:.0%})"
        )


def runs_needed(ratio: float, error: float, runs: int, threshold: float) -> RunsNeeded | None:
    """The runs that would decide; None where the samples show no spread.

    Args:
        ratio: The ratio seen.
        error: The standard error of its logarithm.
        runs: The runs in the smaller sample, or the rounds.
        threshold: The smallest relative difference that matters.

    Examples:
        >>> print(runs_needed(1.05, 0.02, 15, 0.02))
        about 58 would decide it if the true difference is the one seen, about 162 without one (power 80%)
    """
    if not 0 < error < math.inf:
        return None
    normal, edge = NormalDist(), math.log1p(threshold)
    level = normal.inv_cdf(0.975)

    def size(distance: float, power: float) -> int | None:
        wanted = runs * (error * (level + normal.inv_cdf(power)) / distance) ** 2
        return None if wanted > MOST_RUNS else max(math.ceil(wanted + level**2 / 4), runs + 1)

    beyond = abs(math.log(ratio)) - edge
    return RunsNeeded(
        # Both ends of the interval must lie inside, so each may fail half as often.
        if_equal=size(edge, 1 - (1 - POWER) / 2),
        if_seen=size(beyond, POWER) if beyond > 0 else None,
    )
