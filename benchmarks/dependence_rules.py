"""Other rules for runs that depend on their neighbours, in docs/statistics.md: as Markdown.

    python benchmarks/dependence_rules.py [--samples 4000] [--seed 36]

Intervals of the difference of two mean logarithms of n runs each, on samples as in `dependence_frontier.py`:

- Bartlett's estimate of the long-run variance over all lags (fixed b = 1; Kiefer and Vogelsang 2002);
- means of 3 batches, with Student's quantile of 4 degrees of freedom;
- prewhitened: the variance of what a first-order autoregression leaves, and its long-run variance;
- the posterior of the difference under the likelihood of a first-order autoregression, with the correlation on a grid
  and a prior for it.

Where a rule has no quantile of its own, that which holds 95 % of independent samples of the same size is taken.
"""

import argparse
import math

import numpy as np
from scipy.linalg import toeplitz
from scipy.special import stdtr, stdtrit
from statistics_table import EDGE

SIZES = (6, 8, 10, 12, 15)
LEVEL = 0.975
GRID = np.round(np.arange(-0.95, 0.985, 0.05), 3)
#: The prior share of no correlation; the rest is even over correlations above 0, or over all where there is no share.
PRIORS = {"even over -1 to 1": None, "half at 0": 0.5, "0.8 at 0": 0.8}

Samples = tuple[np.ndarray, np.ndarray]


def draw(rng: np.random.Generator, count: int, n: int, rho: float, spread: float, ratio: float = 1.0) -> Samples:
    """The logarithms of two samples, one pair a row."""
    noise = rng.normal(size=(2, count, n))
    for place in range(1, n):
        noise[..., place] = rho * noise[..., place - 1] + noise[..., place] * math.sqrt(1 - rho**2)
    return spread * noise[0], math.log(ratio) + spread * noise[1]


def bartlett(values: np.ndarray) -> np.ndarray:
    """The long-run variance over all lags."""
    n, rest = values.shape[1], values - values.mean(1, keepdims=True)
    products = [(rest[:, lag:] * rest[:, : n - lag]).sum(1) / n for lag in range(n)]
    return np.asarray(products[0] + 2 * sum((1 - lag / n) * one for lag, one in enumerate(products) if lag))


def batches(values: np.ndarray) -> np.ndarray:
    """The variance of the mean of 3 batches, times n."""
    means = np.stack([values[:, places].mean(1) for places in np.array_split(np.arange(values.shape[1]), 3)], 1)
    return np.asarray(means.var(1, ddof=1) * values.shape[1] / 3)


def prewhitened(values: np.ndarray, rho: np.ndarray) -> np.ndarray:
    """The long-run variance of an autoregression with this correlation."""
    rest = values - values.mean(1, keepdims=True)
    left = rest[:, 1:] - rho[:, None] * rest[:, :-1]
    return np.asarray(left.var(1) * (values.shape[1] - 1) / (values.shape[1] - 3) / (1 - rho) ** 2)


def correlation(pair: Samples) -> np.ndarray:
    """The pooled correlation of neighbours, its bias removed, between 0 and 0.9."""
    n, found = pair[0].shape[1], []
    for values in pair:
        rest = values - values.mean(1, keepdims=True)
        found.append((rest[:, 1:] * rest[:, :-1]).sum(1) / (rest**2).sum(1))
    return np.clip((n * (found[0] + found[1]) / 2 + 1) / (n - 4), 0, 0.9)


def errors(pair: Samples) -> dict[str, np.ndarray]:
    """The standard error of the difference by each rule."""
    n, rho = pair[0].shape[1], correlation(pair)
    found = {
        "Student, no correction": sum(one.var(1, ddof=1) for one in pair),
        "Bartlett, all lags": sum(map(bartlett, pair)),
        "means of 3 batches": sum(map(batches, pair)),
        "prewhitened": sum(prewhitened(one, rho) for one in pair),
    }
    return {name: np.sqrt(variance / n) for name, variance in found.items()}


def below(pair: Samples, share: float | None, edges: tuple[float, ...]) -> list[np.ndarray]:
    """The posterior probability that the difference is below each edge."""
    n = pair[0].shape[1]
    free, one = 2 * n - 2, np.ones(n)
    prior = np.ones_like(GRID) if share is None else np.where(GRID > 0, (1 - share) / (GRID > 0).sum(), 0.0)
    if share is not None:
        prior[np.argmin(abs(GRID))] = share
    weights, centres, scales = [], [], []
    for rho, probability in zip(GRID, prior, strict=True):
        matrix = toeplitz(rho ** np.arange(n))
        inverse = np.linalg.inv(matrix)
        whole = one @ inverse @ one
        means = [values @ inverse @ one / whole for values in pair]
        rests = [values - mean[:, None] for values, mean in zip(pair, means, strict=True)]
        squares = sum(np.einsum("ij,jk,ik->i", rest, inverse, rest) for rest in rests)
        fit = np.linalg.slogdet(matrix)[1] + np.log(whole) + free / 2 * np.log(squares)
        weights.append(np.log(probability + 1e-300) - fit)
        centres.append(means[1] - means[0])
        scales.append(np.sqrt(squares / free * 2 / whole))
    weight = np.exp(np.array(weights) - np.max(weights, 0))
    return [(weight * stdtr(free, (edge - np.array(centres)) / scales)).sum(0) / weight.sum(0) for edge in edges]


def main() -> None:
    """Print the rows of the table."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--samples", type=int, default=4000)
    options.add_argument("--seed", type=int, default=36)
    chosen = options.parse_args()
    for n in SIZES:
        rng = np.random.default_rng([chosen.seed, n])
        cells = [(0.0, 0.03, 1.0), (0.5, 0.03, 1.0), (0.8, 0.03, 1.0), (0.0, 0.03, 1.08), (0.0, 0.02, 1.05)]
        made = [draw(rng, chosen.samples, n, *cell) for cell in cells]
        a, b = draw(rng, 5 * chosen.samples, n, 0.0, 0.03)
        quantiles = {name: np.quantile(abs((b - a).mean(1)) / one, 0.95) for name, one in errors((a, b)).items()}
        quantiles |= {"Student, no correction": stdtrit(2 * n - 2, LEVEL), "means of 3 batches": stdtrit(4, LEVEL)}
        rows: dict[str, list[tuple[float, float]]] = {}
        for pair in made:
            apart = (pair[1] - pair[0]).mean(1)
            for name, error in errors(pair).items():
                half = quantiles[name] * error
                found = (apart - half > EDGE) | (apart + half < -EDGE)
                rows.setdefault(name, []).append((np.mean(abs(apart) <= half), np.mean(found)))
            for name, share in PRIORS.items():
                zero, more, less = below(pair, share, (0.0, EDGE, -EDGE))
                found = (more < 1 - LEVEL) | (less > LEVEL)
                held = np.mean(abs(zero - 0.5) <= LEVEL - 0.5)
                rows.setdefault(f"autoregression, prior {name}", []).append((held, np.mean(found)))
        for name, cell in rows.items():
            figures = [cell[0][0], cell[1][0], cell[2][1], cell[3][1], cell[4][1]]
            print(f"| {n} | {name} | {' | '.join(f'{100 * one:.1f}' for one in figures)} |", flush=True)


if __name__ == "__main__":
    main()
