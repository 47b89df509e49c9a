"""The table of docs/statistics.md: verdicts, power and coverage of `iolab.comparison.compare`, in Markdown.

    python benchmarks/statistics_table.py [--samples 1000] [--seed 0] [--part 1/2]

Two samples of n runs each of a spread of 3 % (where nothing else is said), seeded:

- iid, AR(.5), AR(.8): logarithms that are independent, or resemble their neighbours; no difference between the samples;
- rounded: a clock whose step is as large as the spread; ties: ten different times; tails: one run in ten takes 1.2 to 3
  times as long; drift: A before B while all gets slower by 30 %;
- +8 %, spread 3 %, and +5 %, spread 2 %: how often B is called slower, beside Welch's test on the logarithms of a
  difference beyond 2 %;
- orders A-B-A-B, A-B-B-A and A-A-B-B under AR(.8).

Caveats and shifts in seconds have no part in a verdict and are not made here.
"""

import argparse
import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import stdtrit

from iolab.comparison import Comparison, compare, samples
from iolab.stats import comparison

SIZES = (3, 4, 5, 6, 7, 8, 10, 12, 15, 31, 60)
FEW_SIZES = (6, 15, 31)
DIFFERENT = ("faster", "slower", "different, size unknown")
STRETCHED = ((0.2, 1.15), (0.15, 1.25), (0.1, 1.4), (0.15, 1.3))
EDGE = math.log(1.02)

Draw = Callable[[np.random.Generator, int], np.ndarray]


def related(rng: np.random.Generator, n: int, rho: float) -> np.ndarray:
    """A stretch of a first-order autoregression of variance 1."""
    noise = rng.normal(size=n + 60)
    for place in range(1, n + 60):
        noise[place] = rho * noise[place - 1] + noise[place] * math.sqrt(1 - rho**2)
    return noise[60:]


def times(rho: float = 0.0, spread: float = 0.03) -> Draw:
    """Times around 10 s."""
    return lambda rng, n: 10 * np.exp(spread * related(rng, n, rho))


def with_tail(rng: np.random.Generator, n: int) -> np.ndarray:
    """One run in ten takes 1.2 to 3 times as long."""
    return times()(rng, n) * np.where(rng.random(n) < 0.1, rng.uniform(1.2, 3, n), 1)


def stretched(rng: np.random.Generator, share: float, factor: float) -> np.ndarray:
    """31 runs of a spread of 0.5 %, a share of which takes longer: the mean is 3 to 4.5 % longer, the median is not."""
    return times(0, 0.005)(rng, 31) * np.where(rng.permutation(31) < round(31 * share), factor, 1)


def clocked(rng: np.random.Generator, n: int) -> np.ndarray:
    """A step as large as the spread; where in a step the times lie is random, and the same for both samples."""
    return np.asarray((0.33 + 0.01 * rng.normal(size=n)).round(2))


ALIKE: dict[str, tuple[Draw, Sequence[int]]] = {
    "iid": (times(), SIZES),
    "AR(.5)": (times(0.5), SIZES),
    "AR(.8)": (times(0.8), SIZES),
    "rounded": (clocked, SIZES),
    "ties": (lambda rng, n: rng.integers(95, 105, n) / 10, FEW_SIZES),
    "tails": (with_tail, FEW_SIZES),
}


def count(results: Sequence[Comparison]) -> tuple[str, str]:
    """The share of verdicts that there is a difference, and of intervals that hold 1; in per cent."""
    bounds = [(one.ratio.lo, one.ratio.hi) for one in results if one.ratio.lo is not None]
    held = sum((lo or 0) <= 1 <= (hi or 0) for lo, hi in bounds)
    false = 100 * sum(one.verdict in DIFFERENT for one in results) / len(results)
    return f"{false:.1f}", f"{100 * held / len(bounds):.1f}" if 2 * len(bounds) > len(results) else "-"


def slower_by_welch(a: np.ndarray, b: np.ndarray) -> bool:
    """Is B slower by more than 2 %, by Welch's interval on the logarithms?"""
    x, y = np.log(a), np.log(b)
    parts = x.var(ddof=1) / len(x), y.var(ddof=1) / len(y)
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / (len(x) - 1) + parts[1] ** 2 / (len(y) - 1))
    return bool(y.mean() - x.mean() - stdtrit(freedom, 0.975) * math.sqrt(sum(parts)) > EDGE)


def in_order(rng: np.random.Generator, pattern: str, ratio: float, rho: float, drift: float) -> Comparison:
    """The comparison of runs made in an order, of one autoregression."""
    all_runs = 10 * np.exp(0.03 * related(rng, len(pattern), rho) + np.linspace(0, math.log1p(drift), len(pattern)))
    places = {letter: [place for place, one in enumerate(pattern) if one == letter] for letter in "AB"}
    b = (all_runs[places["B"]] * ratio).tolist()
    return compare(all_runs[places["A"]].tolist(), b, order_a=places["A"], order_b=places["B"])


def main() -> None:
    """Print the rows of the table."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--samples", type=int, default=1000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--part", choices=("all", "1/2", "2/2"), default="all", help="half of the rows")
    chosen = options.parse_args()
    samples.find_caveats, comparison.shift_interval = lambda *_args, **_named: [], lambda *_args, **_named: None
    draws = range(chosen.samples)
    if chosen.part != "2/2":
        for name, (draw, sizes) in ALIKE.items():
            for n in sizes:
                rng = np.random.default_rng([chosen.seed, n, len(name)])
                found = [compare(draw(rng, n).tolist(), draw(rng, n).tolist()) for _ in draws]
                print(f"| {name} | {n} | {' | '.join(count(found))} | |", flush=True)
        for share, factor in STRETCHED:
            rng = np.random.default_rng([chosen.seed, round(100 * share), round(100 * factor)])
            found = [compare(times(0, 0.005)(rng, 31).tolist(), stretched(rng, share, factor).tolist()) for _ in draws]
            equal = 100 * sum(one.verdict == "equivalent" for one in found) / chosen.samples
            print(f"| {share:.0%} of B's runs x {factor}: called equivalent | 31 | {equal:.1f} | | |", flush=True)
    if chosen.part == "1/2":
        return
    for spread, ratio in ((0.03, 1.08), (0.02, 1.05)):
        for n in SIZES:
            rng = np.random.default_rng([chosen.seed, n, round(100 * ratio)])
            pairs = [(times(0, spread)(rng, n), ratio * times(0, spread)(rng, n)) for _ in draws]
            seen = sum(compare(a.tolist(), b.tolist()).verdict in DIFFERENT for a, b in pairs)
            welch = sum(slower_by_welch(a, b) for a, b in pairs)
            shares = f"{100 * seen / chosen.samples:.1f} (Welch {100 * welch / chosen.samples:.1f})"
            print(f"| +{ratio - 1:.0%}, spread {spread:.0%} | {n} | | | {shares} |", flush=True)
    for label, unit, drift in (
        ("A-B-A-B", "AB", 0.0),
        ("A-B-B-A", "ABBA", 0.0),
        ("A-A-B-B", "", 0.0),
        ("drift", "", 0.3),
    ):
        for n in (8, 16, 32):
            pattern = unit * (2 * n // len(unit)) if unit else "A" * n + "B" * n
            rng = np.random.default_rng([chosen.seed, n, len(label), int(10 * drift)])
            rho = 0.0 if drift else 0.8
            alike = [in_order(rng, pattern, 1.0, rho, drift) for _ in draws]
            apart = [in_order(rng, pattern, 1.08, rho, drift).verdict in DIFFERENT for _ in draws]
            name = "A before B, drift 30 %" if drift else f"{label}, AR(.8), +8 %"
            power = f"{100 * sum(apart) / chosen.samples:.1f}"
            print(f"| {name} | {n} | {' | '.join(count(alike))} | {power} |", flush=True)


if __name__ == "__main__":
    main()
