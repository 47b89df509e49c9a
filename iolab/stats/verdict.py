"""The verdict: faster, slower, equivalent, different by an unknown amount, or not enough evidence."""

from dataclasses import dataclass
from typing import Literal

from iolab.metrics.formatting import format_number
from iolab.stats.intervals import Estimate
from iolab.stats.report import format_estimate, format_p

ALPHA = 0.05
"""The level of the test."""

Outcome = Literal["faster", "slower", "equivalent", "different, size unknown", "undecided"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """An outcome and the sentence that gives the reason."""

    outcome: Outcome
    reason: str


def decide(
    ratio: Estimate,
    p: float | None,
    threshold: float,
    *,
    refusal: str = "",
    dependence: str = "",
    needed: str = "",
    means: Estimate | None = None,
    supposed: str = "",
) -> Verdict:
    """The verdict on B from the interval of B / A, the test and the smallest difference that matters.

    Faster or slower: the whole interval is beyond the threshold and the test agrees at 5 %. Equivalent: the whole
    interval is within it. Different, size unknown: there is no interval, and the test finds a difference, as where few
    runs separate completely. All else is undecided, also alike medians with means that differ: a few runs took longer.
    The band is 1 / (1 + threshold) to 1 + threshold, so that the verdict does not depend on which sample is named
    first.

    Args:
        ratio: B / A.
        p: The p value of no difference, corrected for dependence.
        threshold: The smallest relative difference that matters.
        refusal: Why there is no interval.
        dependence: Why dependence leaves the verdict open, or an empty text.
        needed: How many runs would decide, said where the verdict is open.
        means: B / A of the means, where it is known: alike medians are equivalent if it lies within the threshold, too.
        supposed: What the interval supposes, said with a verdict.

    Examples:
        >>> decide(Estimate(1.0, 0.99, 1.01, ""), 0.8, 0.02, means=Estimate(1.475, 1.1, 1.9, ""))
        Verdict(outcome='undecided', reason='the whole interval of the ratio of the medians lies within 2 %, but the
        ratio of the means is 1.5 (95 %: 1.1 to 1.9): a few runs make the difference')
        >>> decide(Estimate(1.0106, 1.005, 1.016, ""), 0.001, 0.02)
        Verdict(outcome='equivalent', reason='the whole interval of the ratio lies within 2 %;
        a difference is there (p = 0.001), but smaller than the threshold')
    """
    percent = f"{format_number(100 * threshold)} %"
    significant = p is not None and p < ALPHA
    seen = f"a difference is there ({format_p(p)})" if p is not None and significant else ""
    more = f"; {needed}" if needed else ""
    assumption = f"; it supposes {supposed}" if supposed else ""
    if dependence:
        return Verdict("undecided", f"{dependence}{more}")
    if ratio.lo is None or ratio.hi is None:
        if seen:
            return Verdict("different, size unknown", f"{seen}; {refusal or 'no interval'}{assumption}")
        return Verdict("undecided", f"{refusal or 'no interval'}{more}")
    low, high = 1 / (1 + threshold), 1 + threshold
    if ratio.lo > high or ratio.hi < low:
        if significant:
            outcome: Outcome = "slower" if ratio.lo > high else "faster"
            return Verdict(outcome, f"the whole interval of the ratio is beyond {percent}{assumption}")
        return Verdict(
            "undecided", f"the interval of the ratio is beyond {percent}, but the rank test does not agree{more}"
        )
    if low <= ratio.lo and ratio.hi <= high:
        if means is not None and not (low <= (means.lo or means.value) and (means.hi or means.value) <= high):
            why = "a few runs make the difference" if _are_apart(means.value, 1.0, threshold) else "a few runs blur it"
            return Verdict(
                "undecided",
                f"the whole interval of the ratio of the medians lies within {percent}, but the ratio of the means is "
                f"{format_estimate(means)}: {why}",
            )
        note = f"; {seen}, but smaller than the threshold" if seen else ""
        return Verdict("equivalent", f"the whole interval of the ratio lies within {percent}{note}{assumption}")
    note = f"; {seen}, whether it is larger than {percent} is open" if seen else ""
    return Verdict("undecided", f"the interval of the ratio reaches across {percent}{note}{more}")


def describe_verdict(outcome: Outcome, a: str, b: str, threshold: float) -> str:
    """The verdict in words.

    Examples:
        >>> describe_verdict("faster", "buffered", "direct", 0.02), describe_verdict("equivalent", "a", "b", 0.02)
        ('direct is faster than buffered', 'equivalent within 2 %')
    """
    if outcome in ("faster", "slower"):
        return f"{b} is {outcome} than {a}"
    return f"equivalent within {format_number(100 * threshold)} %" if outcome == "equivalent" else outcome


def verdict_line(
    outcome: Outcome, ratio: Estimate, threshold: float, *, a: str = "A", b: str = "B", means: float | None = None
) -> str:
    """The verdict as the first sentence of a comparison, with the ratio that it rests on.

    `means` is B / A of the means: if it differs from that of the medians, by the threshold too, it is reported.

    Examples:
        >>> verdict_line("faster", Estimate(0.818, 0.815, 0.82, ""), 0.02)
        'B was faster than A: B / A 0.8180 (95 %: 0.8150 to 0.8200).'
        >>> verdict_line("different, size unknown", Estimate(2.11, None, None, ""), 0.02)
        'A and B differ, but too few runs show by how much: B / A 2.11.'
        >>> verdict_line("undecided", Estimate(1.0, 0.99, 1.01, ""), 0.02, means=1.475)
        'Whether A or B was faster is not decided: B / A 1.000 (95 %: 0.990 to 1.010), and 1.48 of the means.'
    """
    said = {
        "equivalent": f"{a} and {b} were alike within {format_number(100 * threshold)} %",
        "different, size unknown": f"{a} and {b} differ, but too few runs show by how much",
        "undecided": f"Whether {a} or {b} was faster is not decided",
    }.get(outcome, f"{b} was {outcome} than {a}")
    of_means = ""
    if means is not None and _are_apart(means, ratio.value, threshold):
        of_means = f", and {format_number(means)} of the means"
    return f"{said}: {b} / {a} {format_estimate(ratio)}{of_means}."


def _are_apart(means: float, medians: float, threshold: float) -> bool:
    """Does the ratio of the means say another thing than that of the medians?"""
    return max(means / medians, medians / means) > 1 + threshold
