"""Rank correlation of few pairs with ties: p is counted out over the orders that differ."""

from itertools import permutations

import pytest
from scipy import stats

from iolab import metrics


def p_of(x: list[float], y: list[float]) -> float:
    """The p-value that the basis prints."""
    return float(metrics.rank_correlation(x, y).item(0, "basis").rpartition("p = ")[2])


def test_nine_pairs_in_three_groups_have_a_least_p() -> None:
    """The strictest order of three groups of three: 2 of 1,680 orders go together as well, not one in 10,000."""
    groups = [10.0] * 3 + [100.0] * 3 + [1000.0] * 3
    measured = [9.0, 8.5, 8.0, 6.1, 5.9, 5.8, 2.2, 2.1, 2.0]

    assert p_of(groups, measured) == pytest.approx(2 / 1680, rel=0.01)
    assert stats.spearmanr(groups, measured).pvalue < 1e-3


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([1, 1, 2, 2, 3, 3], [4.0, 2.0, 3.0, 5.0, 6.0, 7.0]),
        ([1, 2, 3, 4, 5, 6, 7], [1.0, 1.0, 2.0, 2.0, 4.0, 3.0, 3.0]),
        ([5, 5, 5, 1, 2], [1.0, 2.0, 3.0, 4.0, 5.0]),
    ],
)
def test_the_count_is_that_of_all_permutations(x: list[float], y: list[float]) -> None:
    """Orders that differ by a swap of equal values are counted once, which changes no share."""
    seen = abs(stats.spearmanr(x, y).statistic) - 1e-9
    every = [abs(stats.spearmanr(order, y).statistic) >= seen for order in permutations(x)]

    assert p_of(x, y) == pytest.approx(sum(every) / len(every), rel=0.01)


def test_many_pairs_use_students_t() -> None:
    """Where counting would take too long the usual approximation is given."""
    x, y = list(range(30)), [(7 * place) % 31 for place in range(30)]

    assert p_of([float(one) for one in x], [float(one) for one in y]) == pytest.approx(
        stats.spearmanr(x, y).pvalue, rel=0.01
    )
