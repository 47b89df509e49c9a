"""Whether two measures go together: what a table of figures supports of "the more of this, the more of that"."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Final

from iolab.metrics.table import REFUSED, Metric, single
from logframe.extras import require

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

#: Above this p-value a table does not support that two measures go together.
ALPHA: Final = 0.05
#: With fewer pairs no rank correlation reaches 5 %.
MIN_PAIRS: Final = 5
#: Up to this many different orders are counted out; Student's t calls too many of few pairs a relation.
MAX_COUNTED: Final = 50_000


def rank_correlation(x: Sequence[float], y: Sequence[float], *, metric: str = "rank_correlation") -> pl.DataFrame:
    """Spearman's rank correlation of two measures: 1 when they rise together, -1 when one rises as the other falls.

    Source: Spearman (1904); the p-value is that of Student's t with n - 2 degrees of freedom (`scipy.stats.spearmanr`),
    where a measure has at most 50,000 different orders (8 pairs, or more with ties) the share of them that go together
    as well: nine pairs in three groups of three cannot be below 2 / 1,680.  The caveat says whether this many pairs
    support a relation at all.  Refused with fewer than 5 pairs, when one of the measures does not change, or holds
    something that is not a finite number.

    Limitations: not a cause; of few pairs, only a near-perfect order differs from chance.

    Args:
        x: one measure.
        y: the other, pair by pair.
        metric: what to call it.

    Returns:
        One row (`METRICS`): a number from -1 to 1; ``lo`` and ``hi`` are null.  The basis holds n and p.

    Raises:
        ValueError: the two are of different length.

    Examples:
        >>> row = rank_correlation([1, 5, 25, 1, 5, 25], [2.0, 1.0, 2.5, 3.0, 2.2, 0.9]).row(0, named=True)
        >>> round(row["value"], 2), row["caveats"]
        (-0.36, 'not supported: p = 0.53 of 6 pairs is not below 0.05')
    """
    if len(x) != len(y):
        raise ValueError(f"{len(x)} figures against {len(y)}: they must be pairs")
    formula = f"Spearman's rank correlation; n = {len(x)}"
    if len(x) < MIN_PAIRS:
        reason = f"{REFUSED}{len(x)} pairs are too few: no order of them is unlikely"
        return single(Metric(metric, None, None, None, "rho", formula, reason))
    if not all(value is not None and math.isfinite(value) for value in (*x, *y)):
        reason = f"{REFUSED}one of the measures holds something that is not a finite number"
        return single(Metric(metric, None, None, None, "rho", formula, reason))
    if len(set(x)) == 1 or len(set(y)) == 1:
        return single(Metric.refused(metric, "rho", "one of the measures does not change", basis=formula))
    result = require("scipy.stats").spearmanr(x, y)
    rho = float(result.statistic)
    p = _counted_p(x, y) if min(map(_orders, (x, y))) <= MAX_COUNTED else float(result.pvalue)
    verdict = (
        f"not supported: p = {p:.2g} of {len(x)} pairs is not below {ALPHA}"
        if p >= ALPHA
        else "a relation, not a cause"
    )
    return single(Metric(metric, rho, None, None, "rho", f"{formula}, p = {p:.2g}", verdict))


def _counted_p(x: Sequence[float], y: Sequence[float]) -> float:
    """The share of all orders of one measure that go together with the other as well as theirs, in either direction."""
    np, stats = require("numpy"), require("scipy.stats")
    # Ranks from their mean, doubled: whole numbers, so that equal sums are equal.
    one, other = (np.rint(2 * stats.rankdata(values)).astype(int) - (len(x) + 1) for values in (x, y))
    fewer, kept = (one, other) if _orders(x) < _orders(y) else (other, one)
    sums = np.abs(np.array(list(_different_orders(sorted(fewer.tolist())))) @ kept)
    return float((sums >= abs(int(one @ other))).mean())


def _orders(values: Sequence[float]) -> int:
    """How many different orders the values have: those that differ by a swap of equal ones are one.

    Examples:
        >>> _orders([1, 2, 3]), _orders([25, 25, 25, 250, 250, 250, 2500, 2500, 2500])
        (6, 1680)
    """
    return math.factorial(len(values)) // math.prod(map(math.factorial, Counter(values).values()))


def _different_orders(values: list[int]) -> Iterator[list[int]]:
    """Every different order of sorted values, each once, in lexicographic order.

    Examples:
        >>> list(_different_orders([1, 1, 2]))
        [[1, 1, 2], [1, 2, 1], [2, 1, 1]]
    """
    order = list(values)
    while True:
        yield list(order)
        low = next((place for place in range(len(order) - 2, -1, -1) if order[place] < order[place + 1]), None)
        if low is None:
            return
        high = next(place for place in range(len(order) - 1, low, -1) if order[place] > order[low])
        order[low], order[high] = order[high], order[low]
        order[low + 1 :] = reversed(order[low + 1 :])
