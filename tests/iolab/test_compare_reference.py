"""The statistics against published results and independent implementations."""

import itertools
import math
from fractions import Fraction
from statistics import NormalDist, median

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.nonparametric import rank_compare_2indep

from iolab.comparison import compare, compare_many
from iolab.stats.intervals import (
    SUPERIORITY_TAIL,
    Superiority,
    hodges_lehmann_shift,
    median_interval,
    newcombe_variance,
    pseudo_median,
    pseudo_median_interval,
    ratio_interval,
    shift_interval,
    superiority,
    superiority_interval,
)
from iolab.stats.order import find_trend
from iolab.stats.ranks import exact_rank_sum_p, exact_signed_rank_p, holm, rank_sum_depth, signed_rank_depth

# Hollander and Wolfe (1973): permeability of the chorioamnion at term and at 12 to 26 weeks; the example of R's
# wilcox.test (two-sided p = 2 * 0.1272) and of the package coin (estimate 0.305, 95 % interval -0.15 to 0.76).
AT_TERM = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
EARLY = [1.15, 0.88, 0.90, 0.74, 1.21]

# Hollander and Wolfe (1973): Hamilton depression scale before and after a tranquilizer; R's wilcox.test prints
# V = 40 and a one-sided p = 0.01953.
BEFORE = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
AFTER = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]

# Brunner and Munzel (2000): pain scores; the example of R's lawstat, printed with all digits in SciPy's tests.
PAIN_Y = [1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 1, 1]
PAIN_N = [3, 3, 4, 3, 1, 2, 3, 1, 1, 5, 4]

TIED = [5.71, 5.72, 5.72, 5.73, 5.69, 5.71, 5.75]
TIED_2 = [5.72, 5.74, 5.74, 5.73, 5.77, 5.71]


def enumerate_rank_sum_p(a: list[float], b: list[float]) -> Fraction:
    """The two-sided p value by going through every way to deal the pooled values."""
    pooled = sorted([*a, *b])
    rank = {
        value: Fraction(pooled.index(value) + 1 + len(pooled) - pooled[::-1].index(value), 2) for value in set(pooled)
    }
    ranks = [rank[value] for value in [*a, *b]]
    mean = Fraction(len(a) * (len(pooled) + 1), 2)
    reach = abs(sum(ranks[: len(a)]) - mean)
    sums = [abs(sum(chosen) - mean) >= reach for chosen in itertools.combinations(ranks, len(a))]
    return Fraction(sum(sums), len(sums))


def test_hodges_lehmann_shift_and_interval_are_those_of_r() -> None:
    """Estimate, interval and p value of the published two-sample example."""
    expected = (0.305, -0.15, 0.76)

    lo, hi = shift_interval(AT_TERM, EARLY) or (math.nan, math.nan)

    assert expected == pytest.approx((hodges_lehmann_shift(AT_TERM, EARLY), lo, hi), abs=1e-9)


def test_comparison_gives_the_published_p_value_without_ties() -> None:
    """Mann-Whitney through the public function: 764 of the 3003 ways, printed by R as 0.2544."""
    result = compare(AT_TERM, EARLY)

    assert pytest.approx(764 / 3003, abs=1e-12) == result.p_values.mann_whitney
    assert round(result.p_values.mann_whitney, 4) == 0.2544
    assert result.p_values.permutation is None


@pytest.mark.parametrize(
    ("a", "b", "published"),
    [
        (list(range(1, 11)), list(range(11, 16)), 0.000666),
        ([1, 3, 5, 7, 9], [2, 4, 6, 8], 1.0),
    ],
)
def test_exact_p_values_printed_by_exact_rank_tests(a: list[float], b: list[float], published: float) -> None:
    """Two results of R's exactRankTests, quoted on the R-devel list in May 2006."""
    assert pytest.approx(published, abs=5e-7) == exact_rank_sum_p(a, b)


@pytest.mark.parametrize(
    ("a", "b"), [(AT_TERM, EARLY), (TIED, TIED_2), (PAIN_N[:8], PAIN_Y[:6]), ([1.9, 2.6, 3.7], [2.1, 1.9, 2.6, 3.3])]
)
def test_rank_sum_p_is_that_of_full_enumeration(a: list[float], b: list[float]) -> None:
    """The shift algorithm counts what going through all ways counts, ties included."""
    assert pytest.approx(float(enumerate_rank_sum_p(a, b)), abs=1e-12) == exact_rank_sum_p(a, b)


def test_rank_sum_p_is_scipys_where_scipy_is_exact() -> None:
    """31 against 31 runs without ties."""
    rng = np.random.default_rng(3)
    a, b = rng.normal(0, 1, 31), rng.normal(0.5, 1, 31)

    expected = stats.mannwhitneyu(a, b, method="exact").pvalue

    assert pytest.approx(expected, abs=1e-12) == exact_rank_sum_p(a.tolist(), b.tolist())


def test_signed_rank_p_is_the_published_one() -> None:
    """Both tails of R's one-sided 0.01953: 10 of 512 doubled, printed here as a fraction."""
    differences = [before - after for before, after in zip(BEFORE, AFTER, strict=True)]

    assert pytest.approx(2 * 10 / 512, abs=1e-12) == exact_signed_rank_p(differences)
    assert round((exact_signed_rank_p(differences) or 0) / 2, 5) == 0.01953


@pytest.mark.parametrize("n", [6, 9, 15, 31, 50])
def test_signed_rank_p_is_scipys(n: int) -> None:
    """Without ties and zeros SciPy's exact distribution is the reference."""
    differences = np.random.default_rng(n).normal(0.3, 1, n)

    expected = stats.wilcoxon(differences, method="exact").pvalue

    assert pytest.approx(expected, abs=1e-12) == exact_signed_rank_p(differences.tolist())


def test_signed_rank_p_with_ties_is_that_of_full_enumeration() -> None:
    """All choices of signs for differences that share their sizes."""
    differences = [1.0, 2.0, 2.0, -2.0, 3.0, 3.0, -1.0, 4.0]
    ranks = stats.rankdata(np.abs(differences))
    observed = sum(rank for rank, difference in zip(ranks, differences, strict=True) if difference > 0)
    sums = [float(np.dot(ranks, signs)) for signs in itertools.product([0, 1], repeat=len(ranks))]
    expected = sum(abs(one - sum(ranks) / 2) >= abs(observed - sum(ranks) / 2) for one in sums) / len(sums)

    assert pytest.approx(expected, abs=1e-12) == exact_signed_rank_p(differences)


@pytest.mark.parametrize(
    ("theta", "statistic", "a", "b"),
    [
        (0.7889610389610390, 3.1374674823029505, PAIN_N, PAIN_Y),
        # Munzel and Hauschke (2003), counts of five grades; lawstat's digits as quoted in statsmodels' tests.
        (
            0.5442256341789052,
            1.1757561456582,
            [x for x, n in zip(range(1, 6), [11, 51, 22, 21, 7], strict=True) for _ in range(n)],
            [x for x, n in zip(range(1, 6), [24, 37, 21, 19, 6], strict=True) for _ in range(n)],
        ),
    ],
)
def test_superiority_and_its_variance_are_those_of_lawstat(
    theta: float, statistic: float, a: list[float], b: list[float]
) -> None:
    """P(A > B) and the Brunner-Munzel statistic (theta - 1/2) / standard error."""
    found = superiority(a, b)

    assert theta == pytest.approx(found.value, abs=1e-9)
    assert statistic == pytest.approx((found.value - 0.5) / math.sqrt(found.variance), abs=1e-9)


def test_superiority_is_that_of_statsmodels() -> None:
    """Value and standard error of rank_compare_2indep on tied and untied samples."""
    for a, b in [(TIED, TIED_2), (AT_TERM, EARLY)]:
        expected = rank_compare_2indep(a, b)
        found = superiority(a, b)

        assert pytest.approx(expected.prob1, abs=1e-9) == found.value
        assert pytest.approx(math.sqrt(expected.var / expected.nobs), abs=1e-9) == math.sqrt(found.variance)


@pytest.mark.parametrize(("theta", "size_a", "size_b"), [(1.0, 6, 6), (0.75, 15, 31), (0.5, 31, 31), (0.08, 6, 15)])
def test_superiority_interval_solves_newcombes_equation(theta: float, size_a: int, size_b: int) -> None:
    """With the variance Newcombe supposes, the limits are roots of his quartic."""
    found = Superiority(value=theta, variance=newcombe_variance(theta, size_a, size_b))
    z2 = NormalDist().inv_cdf(1 - SUPERIORITY_TAIL) ** 2
    t = np.polynomial.Polynomial([0, 1])
    pairs = (size_a + size_b) / 2 - 1
    score = (theta - t) ** 2 * size_a * size_b * (2 - t) * (1 + t)
    limit = z2 * t * (1 - t) * ((2 - t) * (1 + t) + pairs * ((1 - t) * (1 + t) + t * (2 - t)))
    roots = sorted(
        root.real for root in (score - limit).roots() if abs(root.imag) < 1e-6 and -1e-6 < root.real < 1 + 1e-6
    )

    lo, hi = superiority_interval(found, size_a, size_b)

    assert any(abs(root - lo) < 1e-6 for root in roots)
    assert any(abs(root - hi) < 1e-6 for root in roots)
    assert lo <= theta <= hi


def test_kruskal_is_that_of_r() -> None:
    """Mucociliary efficiency (Hollander and Wolfe 1973), R's kruskal.test: 0.77143, p = 0.68."""
    result = compare_many(
        {
            "normal": [2.9, 3.0, 2.5, 2.6, 3.2],
            "obstructive": [3.8, 2.7, 4.0, 2.4],
            "asbestosis": [2.8, 3.4, 3.7, 2.2, 2.0],
        },
    )

    assert pytest.approx(27 / 35, abs=1e-9) == result.h
    assert round(result.p_kruskal, 2) == 0.68


@pytest.mark.parametrize("p_values", [[0.01, 0.04, 0.03], [0.2, 0.2, 0.001, 0.9], [0.5], [1.0, 0.6, 0.02, 0.02, 0.01]])
def test_holm_is_that_of_statsmodels(p_values: list[float]) -> None:
    """Step-down correction in the given order."""
    assert multipletests(p_values, method="holm")[1].tolist() == pytest.approx(holm(p_values), abs=1e-12)


def test_pseudo_median_is_the_middle_of_the_walsh_averages() -> None:
    """Depression data: -0.46, and with 9 values the interval leaves out 5 averages on each side."""
    differences = [after - before for before, after in zip(BEFORE, AFTER, strict=True)]
    averages = sorted((x + y) / 2 for x, y in itertools.combinations_with_replacement(differences, 2))

    assert pytest.approx(median(averages), abs=1e-12) == pseudo_median(differences)
    assert pytest.approx(-0.46, abs=1e-9) == pseudo_median(differences)
    assert pytest.approx((averages[5], averages[-6]), abs=1e-12) == pseudo_median_interval(differences)


@pytest.mark.parametrize("n", [6, 15, 31])
def test_depths_keep_at_least_95_percent(n: int) -> None:
    """One difference or average more on each side would fall below 95 %, by SciPy's distributions."""
    depth = rank_sum_depth(n, n, 0.95)
    p_sum = [stats.mannwhitneyu(*_samples_with_u(n, u), method="exact").pvalue for u in (depth, depth + 1)]
    assert p_sum[0] <= 0.05 < p_sum[1]

    signed = signed_rank_depth(n, 0.95)
    p_signed = [exact_signed_rank_p(_differences_with_sum(n, value)) or 0.0 for value in (signed, signed + 1)]
    assert p_signed[0] <= 0.05 < p_signed[1]


def _samples_with_u(n: int, u: int) -> tuple[list[float], list[float]]:
    """Two samples of n distinct values of which u pairs have a > b."""
    a: list[float] = []
    left = u
    for place in range(n):
        wins = min(n, left)
        left -= wins
        a.append(wins + 0.5 + place / 1000)
    return a, [float(value) for value in range(1, n + 1)]


def _differences_with_sum(n: int, positive: int) -> list[float]:
    """Differences of sizes 1 to n whose positive ranks add up to the given sum."""
    differences, left = [], positive
    for size in range(n, 0, -1):
        if size <= left:
            differences.append(float(size))
            left -= size
        else:
            differences.append(-float(size))
    return differences


def test_ratio_interval_is_that_of_the_shift_of_the_logarithms() -> None:
    """R's wilcox.test(log(b), log(a), conf.int = TRUE) by order statistics; the same both ways round."""
    a, b = [7.1, 7.9, 7.4, 8.3, 7.6, 8.8, 7.2], [6.1, 6.6, 5.9, 6.9, 6.3, 7.0, 6.4]
    ratios = sorted(y / x for x in a for y in b)
    depth = rank_sum_depth(7, 7, 0.95)
    found = ratio_interval(a, b)

    assert found is not None
    assert found[0] <= ratios[depth] * (1 + 1e-12)
    assert found[1] >= ratios[-1 - depth] * (1 - 1e-12)
    assert found == pytest.approx((ratios[depth], ratios[-1 - depth]), rel=0.03)
    back = ratio_interval(b, a)
    assert back == pytest.approx((1 / found[1], 1 / found[0]))


@pytest.mark.parametrize("n", [6, 7, 15, 31])
def test_median_interval_lies_between_the_two_order_statistics_around_95_percent(n: int) -> None:
    """Between x(k) and x(k+1), where k is SciPy's binomial quantile."""
    k = int(stats.binom.ppf(0.025, n, 0.5))
    values = [float(value) for value in range(1, n + 1)]

    lo, hi = median_interval(values)

    assert k <= lo < k + 1
    assert lo + hi == pytest.approx(n + 1)


def test_trend_is_kendalls() -> None:
    """SciPy's tau and p value, ties included."""
    expected = stats.kendalltau(range(len(TIED)), TIED)

    trend = find_trend(TIED)

    assert trend is not None
    assert (expected.statistic, expected.pvalue) == pytest.approx((trend.tau, trend.p), abs=1e-9)


def test_the_shift_interval_holds_what_brunner_and_munzel_do_not_refuse() -> None:
    """Just outside of it SciPy's test refuses equality at 5 %, whatever the spreads and ties."""
    rng = np.random.default_rng(1)
    for place in range(60):
        a, b = rng.normal(10, 1, rng.integers(6, 20)), rng.normal(10, rng.choice([0.1, 1, 4]), rng.integers(6, 20))
        if place % 3 == 0:
            a, b = a.round(1), b.round(1)
        lo, hi = shift_interval(a.tolist(), b.tolist()) or (math.nan, math.nan)
        assert stats.brunnermunzel(a - lo + 1e-6, b).pvalue < 0.05
        assert stats.brunnermunzel(a - hi - 1e-6, b).pvalue < 0.05
