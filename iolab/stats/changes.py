"""Change points of a short series of run times: where its level jumps, found exactly."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from iolab.stats.samples import NORMAL_MAD
from logframe.extras import require

PENALTY = 6.0
"""What one change must save, in noise variances, per log(n)."""


MIN_STRETCH = 3
"""The fewest runs of every level but the first."""


NO_NOISE = 1e-9
"""The relative noise supposed where neighbours are all equal: any jump is one."""


@dataclass(frozen=True, slots=True)
class Changes:
    """A series cut into stretches of one level.

    Attributes:
        starts: The place of the first run of each stretch; the first is 0.
        cost: The squared distances from the levels in noise variances, plus the penalties.
        line_cost: The same for one straight line through the whole series instead of levels.
    """

    starts: tuple[int, ...]
    cost: float
    line_cost: float


def estimate_noise(logs: Sequence[float], least: float) -> float:
    """The standard deviation of a run around its level, from the differences of neighbours.

    Differences are blind to the levels themselves: a jump spoils only one of them, and the median ignores it.
    """
    differences = [following - one for one, following in pairwise(logs)]
    return max(NORMAL_MAD * median([abs(difference) for difference in differences]) / math.sqrt(2), least)


def find_changes(values: Sequence[float], *, step: float | None = None) -> Changes:
    """The best cut of the series into levels, on the logarithms of the values.

    Optimal partitioning by dynamic programming: the squared distances from the mean of each stretch plus
    PENALTY * log(n) noise variances a change are as small as they can be. Stretches of one run are allowed.
    Source: Jackson et al., An algorithm for optimal partitioning of data on an interval (2005).

    Examples:
        >>> find_changes([63.0, 63.5, 62.7, 19.2, 19.3, 19.1, 19.2, 19.4]).starts
        (0, 3)
    """
    np = require("numpy")
    logs = [math.log(value) for value in values]
    n = len(logs)
    noise = estimate_noise(logs, (step or 0.0) / math.sqrt(12) / median(values)) or NO_NOISE
    scaled = (np.array(logs) - logs[0]) / noise
    penalty = PENALTY * math.log(n)
    sums = np.concatenate([[0.0], np.cumsum(scaled)])
    squares = np.concatenate([[0.0], np.cumsum(scaled**2)])
    best, cut_before = np.full(n + 1, math.inf), [0] * (n + 1)
    best[0] = -penalty
    for end in range(1, n + 1):
        # Only the first stretch may be short: a lone slow run later is an outlier, not a level.
        begin = np.array([0, *range(1, end - MIN_STRETCH + 1)])
        squared_sums = (sums[end] - sums[begin]) ** 2 / (end - begin)
        costs = best[begin] + np.maximum(squares[end] - squares[begin] - squared_sums, 0.0) + penalty
        place = int(np.argmin(costs))
        best[end], cut_before[end] = costs[place], int(begin[place])
    starts: list[int] = []
    end = n
    while end > 0:
        starts.append(cut_before[end])
        end = cut_before[end]
    return Changes(starts=tuple(reversed(starts)), cost=float(best[n]), line_cost=_line_cost(scaled.tolist()) + penalty)


def _line_cost(values: Sequence[float]) -> float:
    n = len(values)
    centre, level = (n - 1) / 2, math.fsum(values) / n
    slope = math.fsum((place - centre) * (value - level) for place, value in enumerate(values))
    slope /= math.fsum((place - centre) ** 2 for place in range(n))
    return math.fsum((value - level - slope * (place - centre)) ** 2 for place, value in enumerate(values))
