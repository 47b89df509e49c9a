"""The frontier of docs/statistics.md: what each strength of the correction for dependence gains and costs, in Markdown.

    python benchmarks/dependence_frontier.py [--samples 1000] [--seed 0]

The samples and seeds are those of `statistics_table.py`.  Each pair is compared once without a correction.  Its
interval and p value are then widened as `iolab.comparison.compare` does it: by the estimate of the dependence, which
counts from another standard score on (`unseen_score`), or by a fixed factor.
"""

import argparse
import math
from unittest.mock import patch

import numpy as np
from statistics_table import ALIKE, DIFFERENT, slower_by_welch, times

from iolab.comparison import Comparison, compare, samples
from iolab.stats import comparison, order
from iolab.stats.order import Dependence, measure_dependence, widen, widen_p
from iolab.stats.verdict import decide

SIZES = (6, 8, 10, 12, 15)
SCORES = (math.inf, 1.0, 0.5, 0.0)
FACTORS = (1.5, 1.75, 2.0)
POWERS = ((1.08, 0.03), (1.05, 0.02))

Pair = tuple[np.ndarray, np.ndarray]


def judge(one: Comparison, of: Dependence) -> tuple[bool, bool]:
    """Does the interval hold 1, and is a difference found, if the comparison is corrected for this dependence?"""
    ratio = widen(one.ratio, of, is_positive=True)
    verdict = decide(ratio, widen_p(one.design.p, of), one.threshold, dependence=of.refusal)
    return (ratio.lo or 0) <= 1 <= (ratio.hi or 0), verdict.outcome in DIFFERENT


def measure(pair: Pair, score: float) -> Dependence:
    """The dependence of a pair that counts from this score on."""
    with patch.object(order, "unseen_score", lambda _: score):
        return measure_dependence(*(one.tolist() for one in pair))


def compare_uncorrected(a: list[float], b: list[float]) -> Comparison:
    """The comparison of two samples without a correction for dependence."""
    with patch.object(order, "unseen_score", lambda _: math.inf):
        return compare(a, b)


def main() -> None:
    """Print the rows of the table."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--samples", type=int, default=1000)
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    samples.find_caveats, comparison.shift_interval = lambda *_args, **_named: [], lambda *_args, **_named: None
    for n in SIZES:
        pairs: dict[str, list[Pair]] = {}
        for name in ("iid", "AR(.5)", "AR(.8)"):
            rng, draw = np.random.default_rng([chosen.seed, n, len(name)]), ALIKE[name][0]
            pairs[name] = [(draw(rng, n), draw(rng, n)) for _ in range(chosen.samples)]
        for ratio, spread in POWERS:
            rng, draw = np.random.default_rng([chosen.seed, n, round(100 * ratio)]), times(0, spread)
            pairs[f"+{ratio}"] = [(draw(rng, n), ratio * draw(rng, n)) for _ in range(chosen.samples)]
        plain = {name: [compare_uncorrected(a.tolist(), b.tolist()) for a, b in made] for name, made in pairs.items()}
        welch = {name: 100 * sum(slower_by_welch(a, b) for a, b in pairs[name]) / chosen.samples for name in pairs}
        kept = order.unseen_score(n)
        scores = sorted({*SCORES, kept}, reverse=True)
        for label, strength in [("score", one) for one in scores] + [("factor", one) for one in FACTORS]:
            held, found = {}, {}
            for name, made in pairs.items():
                of = [Dependence(0.0, strength) if label == "factor" else measure(pair, strength) for pair in made]
                judged = np.array([judge(*both) for both in zip(plain[name], of, strict=True)])
                held[name], found[name] = 100 * judged.mean(axis=0)
            mark = " (chosen)" if label == "score" and strength == kept else ""
            powers = " | ".join(
                f"{found[name]:.1f} (Welch {welch[name]:.1f})" for name in pairs if name.startswith("+")
            )
            print(
                f"| {n} | {label} {strength:.3g}{mark} | {held['iid']:.1f} | {held['AR(.5)']:.1f} | "
                f"{found['AR(.8)']:.1f} | {powers} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
