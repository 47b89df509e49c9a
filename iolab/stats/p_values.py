"""The tests of two samples: each p value, or None where the test has no meaning."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from iolab.stats.ranks import MAX_EXACT, exact_rank_sum_p
from logframe.extras import require


@dataclass(frozen=True, slots=True)
class PValues:
    """The p values, all two-sided; None where a test has no meaning (too few runs, all values equal, no ties).

    Attributes:
        mann_whitney: Mann-Whitney U; exact up to 50 runs without ties, else normal with ties corrected.
        permutation: The exact permutation test of the same statistic, where there are ties, up to 50 runs.
        levene: Equal spreads (Brown-Forsythe: Levene around the medians); a small one is a caveat of the comparison.
    """

    mann_whitney: float
    permutation: float | None
    levene: float | None

    @property
    def p(self) -> float:
        """The p value the verdict uses: the permutation test where there are ties, else Mann-Whitney."""
        return self.mann_whitney if self.permutation is None else self.permutation


def run_tests(a: Sequence[float], b: Sequence[float]) -> PValues:
    """The p values of two samples.

    Examples:
        >>> run_tests([1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]).p
        0.0021645021645021645
    """
    np, stats = require("numpy"), require("scipy.stats")
    distinct = len(set(a) | set(b))
    tied = distinct < len(a) + len(b)
    if distinct == 1:
        return PValues(1.0, 1.0, None)
    exact = not tied and max(len(a), len(b)) <= MAX_EXACT
    # Zero spreads divide by zero inside; what comes out as nan is reported as None.
    with np.errstate(all="ignore"):
        levene = float(stats.levene(a, b, center="median").pvalue) if min(len(a), len(b)) > 2 else None
    return PValues(
        mann_whitney=float(stats.mannwhitneyu(a, b, method="exact" if exact else "asymptotic").pvalue),
        permutation=exact_rank_sum_p(a, b) if tied else None,
        levene=None if levene is None or math.isnan(levene) else levene,
    )
