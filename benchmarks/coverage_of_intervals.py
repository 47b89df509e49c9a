"""How often the 95 % intervals of `iolab.comparison.samples` hold the true value, and how often its tests cry wolf.

    python benchmarks/coverage_of_intervals.py [--samples 4000] [--seed 0]

Samples of 6, 15 and 31 runs are drawn where the truth is known:

- normal: 10 s against 9.5 s, spread 0.5 s;
- skewed: lognormal, sigma 0.5, the medians 5 : 4;
- tied: normal times read from a clock whose step is half of their spread, the medians one spread apart and
  anywhere inside a step. The truth is that of the times before the clock rounded them;
- coarse: the same with a step of twice the spread. Nothing can be exact here: at least 93 % is required, and "wider" is
  the share of the samples whose intervals say that they are wider.

"effect" has the difference above, "none" draws both samples from one distribution. The second table counts false
alarms at 5 % where there is no difference; the third is no simulation: it has the levels that rank intervals and rank
tests of so few runs can have at all, counted out. A cell fails when it is outside 93-97 % (a test: above 5 %) by more
than three standard errors of the simulation, which follow each figure; then the exit status is 1. About 16
minutes for 4,000 samples.
"""

import argparse
import math
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from iolab.comparison import compare, compare_many, compare_paired
from iolab.stats.comparison import measure_effects
from iolab.stats.first_runs import first_run
from iolab.stats.intervals import Superiority, superiority_interval
from iolab.stats.ranks import rank_sum_depth, signed_rank_depth

SIZES = (6, 15, 31)
LOW, HIGH, ALPHA = 0.93, 0.97, 0.05
STEP = 0.01

Draw = Callable[[np.random.Generator, int], list[float]]


@dataclass(frozen=True)
class World:
    """Two distributions and what is true of them."""

    draw_a: Draw
    draw_b: Draw
    median_a: float
    median_b: float
    shift: float
    superiority: float
    step: float | None = None


def make_normal(*, effect: bool) -> World:
    """Normal times, one spread apart."""
    mean_b = 9.5 if effect else 10.0
    return World(
        draw_a=lambda rng, n: rng.normal(10, 0.5, n).tolist(),
        draw_b=lambda rng, n: rng.normal(mean_b, 0.5, n).tolist(),
        median_a=10,
        median_b=mean_b,
        shift=10 - mean_b,
        superiority=NormalDist().cdf((10 - mean_b) / 0.5 / math.sqrt(2)),
    )


def make_skewed(*, effect: bool) -> World:
    """Lognormal times; the median of a difference is found numerically, it is not the difference of the medians."""
    median_b = 8.0 if effect else 10.0
    quantiles = np.exp(0.5 * np.array([NormalDist().inv_cdf((i + 0.5) / 2000) for i in range(2000)]))
    return World(
        draw_a=lambda rng, n: (10 * rng.lognormal(0, 0.5, n)).tolist(),
        draw_b=lambda rng, n: (median_b * rng.lognormal(0, 0.5, n)).tolist(),
        median_a=10,
        median_b=median_b,
        shift=float(np.median(np.subtract.outer(10 * quantiles, median_b * quantiles))),
        superiority=NormalDist().cdf(math.log(10 / median_b) / 0.5 / math.sqrt(2)),
    )


def make_rounded(rng: np.random.Generator, steps: float, *, effect: bool) -> World:
    """Normal times of a spread of so many steps, read from a clock; where they lie inside a step is random."""
    spread = steps * STEP
    mean_a = 5 + float(rng.uniform(-0.5, 0.5)) * STEP
    mean_b = mean_a - spread + float(rng.uniform(-0.5, 0.5)) * STEP if effect else mean_a

    def read(mean: float) -> Draw:
        return lambda rng, n: [round(value, 2) for value in rng.normal(mean, spread, n).tolist()]

    def shares(mean: float) -> list[float]:
        times = NormalDist(mean, spread)
        ticks = range(round(mean / STEP) - 60, round(mean / STEP) + 61)
        return [times.cdf((tick + 0.5) * STEP) - times.cdf((tick - 0.5) * STEP) for tick in ticks]

    offset = round(mean_a / STEP) - round(mean_b / STEP)
    below = np.concatenate([[0.0], np.cumsum(shares(mean_b))])
    wins = 0.0
    for place, share in enumerate(shares(mean_a)):
        lower, upper = (min(max(place + offset + extra, 0), len(below) - 1) for extra in (0, 1))
        wins += share * float(below[lower] + below[upper]) / 2
    return World(read(mean_a), read(mean_b), mean_a, mean_b, mean_a - mean_b, wins, STEP)


def make_worlds(kind: str, rng: np.random.Generator, *, effect: bool) -> Iterator[World]:
    """An endless supply of worlds of a kind."""
    if kind in ("normal", "skewed"):
        world = make_normal(effect=effect) if kind == "normal" else make_skewed(effect=effect)
        while True:
            yield world
    while True:
        yield make_rounded(rng, 2.0 if kind == "tied" else 0.5, effect=effect)


def count_coverage(kind: str, n: int, *, effect: bool, samples: int, seed: int) -> dict[str, float]:
    """The share of the samples whose interval holds the truth, for each interval."""
    rng = np.random.default_rng([seed, zlib.crc32(kind.encode()), n, effect])
    worlds = make_worlds(kind, rng, effect=effect)
    hits = dict.fromkeys(("median", "ratio", "shift", "P(A>B)", "said"), 0)
    for _ in range(samples):
        world = next(worlds)
        found = measure_effects(
            world.draw_a(rng, n),
            world.draw_b(rng, n),
            step=world.step,
        )
        truths = {
            "median": (found.medians[0], world.median_a),
            "ratio": (found.ratio, world.median_b / world.median_a),
            "shift": (found.shift, world.shift),
            "P(A>B)": (found.superiority, world.superiority),
        }
        for name, (estimate, truth) in truths.items():
            if estimate.lo is None or estimate.hi is None:
                raise AssertionError(f"{kind} {n}: {name} has no interval")
            hits[name] += estimate.lo <= truth <= estimate.hi
        hits["said"] += "widened" in found.clock
    return {name: count / samples for name, count in hits.items()}


def count_pair_coverage(kind: str, n: int, samples: int, seed: int) -> float:
    """The share of the samples of pairs whose interval holds the true ratio of 0.9."""
    rng = np.random.default_rng([seed, zlib.crc32(kind.encode()), n])
    hits = 0
    for _ in range(samples):
        statements = rng.lognormal(0, 1.0, n)
        first = statements * rng.lognormal(0, 0.05, n)
        second = 0.9 * statements * rng.lognormal(0, 0.05, n)
        if kind == "tied":
            first, second = (np.maximum(times.round(2), STEP) for times in (first, second))
        ratio = compare_paired(first.tolist(), second.tolist()).ratio
        hits += ratio.lo is not None and ratio.hi is not None and ratio.lo <= 0.9 <= ratio.hi
    return hits / samples


def count_alarms(kind: str, n: int, samples: int, seed: int) -> dict[str, float]:
    """The share of the samples without a difference for which each test says there is one."""
    rng = np.random.default_rng([seed, zlib.crc32(kind.encode()), n, 9])
    worlds = make_worlds(kind, rng, effect=False)
    alarms: dict[str, int] = {}
    for _ in range(samples):
        world = next(worlds)
        a, b, c = (world.draw_a(rng, n) for _ in range(3))
        pair = compare(a, b, resolution=world.step)
        many = compare_many({"a": a, "b": b, "c": c}, resolution=world.step)
        p_values = {
            "rank test": pair.p_values.p,
            "Mann-Whitney": pair.p_values.mann_whitney,
            "spreads": pair.p_values.levene,
            "Kruskal": many.p_kruskal,
            "Holm": min(many.p_holm),
            "Wilcoxon": compare_paired(a, b).p_wilcoxon,
        }
        for name, p in p_values.items():
            alarms[name] = alarms.get(name, 0) + (p is not None and p < ALPHA)
        first = first_run(a, resolution=world.step).kind not in {"flat", "two_groups"}
        alarms["verdict"] = alarms.get("verdict", 0) + (pair.verdict not in {"equivalent", "undecided"})
        alarms["first run"] = alarms.get("first run", 0) + first
    return {name: count / samples for name, count in alarms.items()}


def describe_share(share: float, samples: int) -> str:
    """A share in per cent and its standard error.

    Examples:
        >>> describe_share(0.95, 4000)
        '95.0 ±0.3'
    """
    return f"{100 * share:.1f} ±{100 * math.sqrt(share * (1 - share) / samples):.1f}"


def exact_levels(n: int) -> dict[str, tuple[float, float]]:
    """The confidence of each rank interval of n runs: of the one that is used, and of the next narrower one."""
    # By hand and not by iolab's own counts: the number of choices for each rank sum, by recursion.
    sums = {0: {0: 1}}
    for rank in range(1, 2 * n + 1):
        for size in range(min(rank, n), 0, -1):
            for total, ways in sums.get(size - 1, {}).items():
                at = sums.setdefault(size, {})
                at[total + rank] = at.get(total + rank, 0) + ways
    lowest = n * (n + 1) // 2
    signed = {0: 1}
    for rank in range(1, n + 1):
        moved = dict(signed)
        for total, ways in signed.items():
            moved[total + rank] = moved.get(total + rank, 0) + ways
        signed = moved

    def levels(counts: dict[int, int], start: int, depth: int) -> tuple[float, float]:
        ways = sum(counts.values())
        tails = [sum(counts.get(start + place, 0) for place in range(depth + extra)) for extra in (1, 2)]
        return 1 - 2 * tails[0] / ways, 1 - 2 * tails[1] / ways

    return {
        "shift": levels(sums[n], lowest, rank_sum_depth(n, n, 1 - ALPHA)),
        "pairs": levels(signed, 0, signed_rank_depth(n, 1 - ALPHA)),
    }


def describe_separation(n: int, samples: int, seed: int) -> str:
    """How unevenly P(A > B) of so few normal runs, one spread apart, is covered."""
    rng = np.random.default_rng([seed, n, 5])
    slow, fast = rng.normal(10, 0.5, (samples, n)), rng.normal(9.5, 0.5, (samples, n))
    apart = float((slow.min(axis=1) > fast.max(axis=1)).mean())
    low, high = superiority_interval(Superiority(1.0, 0.0), n, n)
    truth = make_normal(effect=True).superiority
    return (
        f"{n} normal runs one spread apart do not overlap in {describe_share(apart, samples)} % of {samples} samples: "
        f"P(A>B) is then 1 [{low:.3f}, {high:.3f}], and all of these hold the true {truth:.3f} "
        "or none does"
    )


def print_row(cells: list[str], widths: list[int]) -> None:
    """One line of a table."""
    print(" | ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True)), flush=True)


def main() -> int:
    """Print both tables; 1 if a cell is out of bounds."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--samples", type=int, default=4000, help="samples a cell (default 4000)")
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    slack = 3 * math.sqrt(HIGH * (1 - HIGH) / chosen.samples)
    low = LOW - 3 * math.sqrt(LOW * (1 - LOW) / chosen.samples)
    failed: list[str] = []
    print(f"Share of {chosen.samples} samples whose 95 % interval holds the truth, in %")
    widths = [8, 6, 4, 9, 9, 9, 9, 6]
    print_row(["samples", "", "n", "median", "ratio", "shift", "P(A>B)", "wider"], widths)
    for kind in ("normal", "skewed", "tied", "coarse"):
        for effect in (True, False):
            for n in SIZES:
                shares = count_coverage(kind, n, effect=effect, samples=chosen.samples, seed=chosen.seed)
                said = shares.pop("said")
                label = "effect" if effect else "none"
                print_row(
                    [
                        kind,
                        label,
                        str(n),
                        *(describe_share(share, chosen.samples) for share in shares.values()),
                        f"{100 * said:.0f}",
                    ],
                    widths,
                )
                high = 1.0 if kind == "coarse" else HIGH + slack
                failed += [f"{kind} {label} {n} {name}" for name, share in shares.items() if not low <= share <= high]
    for kind in ("normal", "tied"):
        for n in SIZES:
            share = count_pair_coverage(kind, n, chosen.samples, chosen.seed)
            print_row([kind, "pairs", str(n), "", describe_share(share, chosen.samples), "", "", ""], widths)
            if not low <= share <= HIGH + slack:
                failed.append(f"{kind} pairs {n}")
    samples = max(200, chosen.samples // 4)
    limit = ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / samples)
    print(f"\nFalse alarms at 5 % in {samples} samples without a difference, in %")
    for kind in ("normal", "skewed", "tied"):
        for n in SIZES:
            alarms = count_alarms(kind, n, samples, chosen.seed)
            if (kind, n) == ("normal", SIZES[0]):
                widths = [8, 4, *(max(9, len(name)) for name in alarms)]
                print_row(["samples", "n", *alarms], widths)
            print_row([kind, str(n), *(describe_share(share, samples) for share in alarms.values())], widths)
            failed += [f"{kind} {n} {name}" for name, share in alarms.items() if share > limit]
    print(
        "\nExact confidence of the rank intervals without ties, counted out, in %: the one used, the next narrower one"
    )
    for n in SIZES:
        cells = [
            f"{name} {100 * used:.2f} ({100 * narrower:.2f})" for name, (used, narrower) in exact_levels(n).items()
        ]
        print(f"n = {n}: {', '.join(cells)}")
    print(describe_separation(SIZES[0], 50 * chosen.samples, chosen.seed))
    print(f"\n{'All cells are within bounds.' if not failed else 'Out of bounds: ' + ', '.join(failed)}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
