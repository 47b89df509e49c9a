"""What `iolab.comparison.compare` and `first_run` do with dependence, drift and independent runs of any shape.

    python benchmarks/comparison_designs.py [--samples 1000] [--seed 0]

Five tables, each figure with the standard error of the simulation:

1. two samples of a first-order autoregression: how often the interval of the ratio holds the true one, and how often
   there is a verdict `faster` or `slower` where there is no difference;
2. two samples of one median whose sizes and spreads differ: the same;
3. runs in turns, A-B-B-A and in blocks while everything slows down by 30 %: how often a true gain of 5 % is found, and
   what is found where there is none;
4. independent runs of any shape: how many series are called cold, warming up, drifting or slowing down;
5. the runs that an undecided comparison asks for: how often so many decide.

The exit status is 1 where a figure misses its limit by more than three standard errors: coverage 94 %, false
differences 2.5 % (independent) and 5 % (dependent, or of unequal spreads), gains found 95 %, alarms 5 %, decisions
80 %.
"""

import argparse
import math
import sys
from collections.abc import Callable

import numpy as np

from iolab.comparison import Comparison, compare, first_run
from iolab.stats.verdict import runs_needed

FOUND = ("faster", "slower")
Shape = Callable[[np.random.Generator, int], np.ndarray]

UNEQUAL = (((6, 0.15), (31, 0.03)), ((31, 0.15), (6, 0.03)), ((8, 0.3), (40, 0.05)), ((6, 0.3), (6, 0.05)))
"""Sizes and spreads (of the logarithms) of two samples."""

SHAPES: dict[str, Shape] = {
    "normal": lambda rng, n: 5 + 0.1 * rng.normal(size=n),
    "bimodal 80/20": lambda rng, n: np.where(rng.random(n) < 0.8, 5.0, 9.0) * np.exp(0.01 * rng.normal(size=n)),
    "10 % outliers": lambda rng, n: np.where(
        rng.random(n) < 0.1, rng.uniform(7, 30, n), 5.0 + 0.1 * rng.normal(size=n)
    ),
    "1 in n slow": lambda rng, n: np.where(rng.random(n) < 1 / n, 15.0, 5.0) * np.exp(0.01 * rng.normal(size=n)),
    "ties": lambda rng, n: (5 + 0.006 * rng.normal(size=n)).round(2),
    "lognormal": lambda rng, n: 5 * np.exp(rng.normal(size=n)),
    "Cauchy": lambda rng, n: 5 + 0.05 * np.abs(rng.standard_cauchy(n)),
}


def autoregressive(rng: np.random.Generator, n: int, rho: float, spread: float) -> np.ndarray:
    """Times around 10 s whose logarithms resemble their neighbours."""
    noise = rng.normal(size=n + 100)
    for place in range(1, n + 100):
        noise[place] = rho * noise[place - 1] + noise[place] * math.sqrt(1 - rho**2)
    return np.asarray(10 * np.exp(spread * noise[100:]))


def in_order(rng: np.random.Generator, pattern: str, gain: float, drift: float, spread: float) -> Comparison:
    """The comparison of runs made in the order of a pattern, while all get slower."""
    times: dict[str, list[float]] = {"A": [], "B": []}
    places: dict[str, list[int]] = {"A": [], "B": []}
    for place, letter in enumerate(pattern):
        pace = (1 + drift * place / len(pattern)) * math.exp(spread * rng.normal())
        times[letter].append(4 * pace * (1 - gain if letter == "B" else 1))
        places[letter].append(place)
    return compare(times["A"], times["B"], order_a=places["A"], order_b=places["B"])


class Table:
    """Shares with their standard errors, and those that miss their limit."""

    def __init__(self, samples: int) -> None:
        self.samples = samples
        self.failed: list[str] = []

    def show(self, label: str, share: float, least: float = 0.0, most: float = 1.0) -> None:
        """Print a share and check it."""
        error = math.sqrt(max(share * (1 - share), 1 / self.samples) / self.samples)
        print(f"{label:<52} {100 * share:5.1f} ±{100 * error:.1f}", flush=True)
        if not least - 3 * error <= share <= most + 3 * error:
            self.failed.append(label)


def show_unequal(table: Table, seed: int) -> None:
    """Samples of one median whose sizes and spreads differ: coverage of the ratio, and false differences."""
    for (n, spread), (m, other) in UNEQUAL:
        rng = np.random.default_rng([seed, n, m])
        pairs = [
            compare(10 * np.exp(spread * rng.normal(size=n)), 10 * np.exp(other * rng.normal(size=m)))
            for _ in range(table.samples)
        ]
        label = f"{n} runs, spread {spread:.0%}, and {m}, spread {other:.0%}"
        held = sum((one.ratio.lo or 0) <= 1 <= (one.ratio.hi or 0) for one in pairs) / table.samples
        table.show(f"{label}: coverage", held, least=0.94)
        table.show(f"{label}: false differences", sum(one.verdict in FOUND for one in pairs) / table.samples, most=0.05)


def main() -> int:
    """Print the tables; 1 if a figure misses its limit."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--samples", type=int, default=1000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--only-dependence", action="store_true", help="the first table alone")
    chosen = options.parse_args()
    table = Table(chosen.samples)
    for n in (15, 31):
        for rho in (0.0, 0.5, 0.8):
            rng = np.random.default_rng([chosen.seed, n, int(10 * rho)])
            pairs = [
                compare(autoregressive(rng, n, rho, 0.05), autoregressive(rng, n, rho, 0.05))
                for _ in range(chosen.samples)
            ]
            held = sum((one.ratio.lo or 0) <= 1 <= (one.ratio.hi or 0) for one in pairs) / chosen.samples
            different = sum(one.verdict in FOUND for one in pairs) / chosen.samples
            table.show(f"AR({rho}), n = {n}: coverage", held, least=0.94 if rho < 0.8 else 0.85)
            table.show(f"AR({rho}), n = {n}: false differences", different, most=0.025 if rho == 0 else 0.05)
    if chosen.only_dependence:
        return bool(table.failed)
    show_unequal(table, chosen.seed)
    for name, pattern in (("ABAB", "AB" * 31), ("ABBA", "ABBA" * 15), ("AAABBB", "AAABBB" * 12)):
        for gain in (0.05, 0.0):
            rng = np.random.default_rng([chosen.seed, len(pattern), int(100 * gain)])
            found = sum(in_order(rng, pattern, gain, 0.3, 0.02).verdict in FOUND for _ in range(chosen.samples))
            limits = {"least": 0.95} if gain else {"most": 0.025}
            table.show(f"{name}, drift 30 %, gain {gain:.0%}: different", found / chosen.samples, **limits)
    for n in (5, 8, 10, 15, 31, 50):
        for name, shape in SHAPES.items():
            rng = np.random.default_rng([chosen.seed, n, len(name)])
            kinds = [first_run(shape(rng, n).tolist()).kind for _ in range(chosen.samples)]
            alarms = sum(kind not in {"flat", "two_groups", "first_apart"} for kind in kinds)
            table.show(f"{name}, n = {n}: not flat", alarms / chosen.samples, most=0.05)
    rng = np.random.default_rng([chosen.seed, 4])
    planned = runs_needed(1.0, math.sqrt(math.pi * 0.02**2 / 12), 12, 0.02)
    size = (planned.if_equal if planned else None) or 0
    decided = sum(
        compare(autoregressive(rng, size, 0, 0.02), autoregressive(rng, size, 0, 0.02)).verdict == "equivalent"
        for _ in range(chosen.samples)
    )
    table.show(f"equal samples of the {size} runs asked for: decided", decided / table.samples, least=0.8)
    print("All figures are within their limits." if not table.failed else f"Out of limits: {'; '.join(table.failed)}")
    return bool(table.failed)


if __name__ == "__main__":
    sys.exit(main())
