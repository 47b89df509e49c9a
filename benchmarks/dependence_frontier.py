"""The frontier of docs/statistics.md: what each strength of the correction for dependence gains and costs, in Markdown.

    python benchmarks/dependence_frontier.py [--samples 1000] [--seed 0]

The samples and seeds are those of `statistics_table.py`.  Each pair is compared once without a correction.  Its
interval and p value are then widened as `iolab.comparison.compare` does it: by the estimate of the dependence, which
counts from another standard score on (`unseen_score`), or by a fixed factor, or by other known rules (`RULES`).

With `--seen` it prints how often neighbours are said to resemble each other in pairs of independent samples; with
`--wide` how often the interval that a verdict of few runs states beside its assumption holds the true ratio.
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

SIZES = (6, 8, 10, 12, 15, 18, 20, 31)
SCORES = (math.inf, 1.0, 0.5, 0.0)
FACTORS = (1.5, 1.75, 2.0)
#: Other values of `iolab.stats.order`, by name.
RULES: dict[str, dict[str, object]] = {
    "effective runs and their Student's quantile, always": {
        "unseen_score": lambda _: -math.inf, "SPARE_ERRORS": 0.0, "RAMP": 1e-9},
    "the same, where 5 % is exceeded": {
        "unseen_score": lambda _: 1.645, "SPARE_ERRORS": 0.0, "RAMP": 1e-9},
    "a ramp of 1 from score 1": {"unseen_score": lambda runs: min(KEPT(runs), 1.0), "RAMP": 1.0},
    "a floor of 0.5 from 18 runs": {"unseen_score": lambda runs: max(KEPT(runs), 0.5)},
}  # fmt: skip
KEPT = order.unseen_score
SEEN_SIZES = (3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 18, 20, 22, 25, 31, 45, 60)
WIDE_SIZES = (6, 7, 8, 9, 10, 11, 12, 13, 14)
POWERS = ((1.08, 0.03), (1.05, 0.02))

Pair = tuple[np.ndarray, np.ndarray]


def judge(one: Comparison, of: Dependence) -> tuple[bool, bool]:
    """Does the interval hold 1, and is a difference found, if the comparison is corrected for this dependence?"""
    ratio = widen(one.ratio, of, is_positive=True)
    verdict = decide(ratio, widen_p(one.design.p, of), one.threshold, dependence=of.refusal)
    return (ratio.lo or 0) <= 1 <= (ratio.hi or 0), verdict.outcome in DIFFERENT


def measure(pair: Pair, rule: dict[str, object]) -> Dependence:
    """The dependence of a pair by a rule."""
    with patch.multiple(order, **rule):
        return measure_dependence(*(one.tolist() for one in pair))


def print_seen(count: int, seed: int) -> None:
    """How often neighbours are said to resemble each other in two independent samples, by their size."""
    for n in SEEN_SIZES:
        made = np.random.default_rng([seed, n]).normal(size=(count, 2, n)).tolist()
        share = sum(measure_dependence(*pair).is_visible for pair in made) / count
        error = math.sqrt(max(share * (1 - share), 1 / count) / count)
        print(f"| {n} | {100 * share:.1f} ±{100 * error:.1f} |", flush=True)


def print_wide(count: int, seed: int) -> None:
    """How often the interval for correlated neighbours holds the true ratio, by the size of the samples."""
    for n in WIDE_SIZES:
        held = []
        for name in ("iid", "AR(.5)"):
            rng, draw = np.random.default_rng([seed, n, len(name)]), ALIKE[name][0]
            found = [compare(draw(rng, n).tolist(), draw(rng, n).tolist()).ratio_if_correlated for _ in range(count)]
            held.append(100 * sum((one.lo or 0) <= 1 <= (one.hi or 0) for one in found) / count)
        print(f"| {n} | {held[0]:.1f} | {held[1]:.1f} |", flush=True)


def compare_uncorrected(a: list[float], b: list[float]) -> Comparison:
    """The comparison of two samples without a correction for dependence."""
    with patch.object(order, "unseen_score", lambda _: math.inf):
        return compare(a, b)


def main() -> None:
    """Print the rows of the table."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--samples", type=int, default=1000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--seen", action="store_true", help="only how often dependence is seen where there is none")
    options.add_argument("--wide", action="store_true", help="only the interval for correlated neighbours")
    chosen = options.parse_args()
    if chosen.seen:
        print_seen(chosen.samples, chosen.seed)
        return
    samples.find_caveats, comparison.shift_interval = lambda *_args, **_named: [], lambda *_args, **_named: None
    if chosen.wide:
        print_wide(chosen.samples, chosen.seed)
        return
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
        rules = {
            f"score {one:.3g}{' (chosen)' if one == kept else ''}": {"unseen_score": lambda _, one=one: one}
            for one in scores
        }
        for label, rule in (rules | {f"factor {one:.3g}": one for one in FACTORS} | RULES).items():
            held, found = {}, {}
            for name, made in pairs.items():
                of = [Dependence(0.0, rule) if isinstance(rule, float) else measure(pair, rule) for pair in made]
                judged = np.array([judge(*both) for both in zip(plain[name], of, strict=True)])
                held[name], found[name] = 100 * judged.mean(axis=0)
            powers = " | ".join(
                f"{found[name]:.1f} (Welch {welch[name]:.1f})" for name in pairs if name.startswith("+")
            )
            print(
                f"| {n} | {label} | {held['iid']:.1f} | {held['AR(.5)']:.1f} | {found['AR(.8)']:.1f} | {powers} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
