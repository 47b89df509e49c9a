"""The verdict: a difference that matters, none that matters, or not enough evidence."""

from dataclasses import dataclass
from typing import Literal

from iolab.metrics.formatting import format_number
from iolab.stats.intervals import Estimate
from iolab.stats.report import format_p

ALPHA = 0.05
"""The level of the test."""

Outcome = Literal["different", "equivalent", "undecided"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """An outcome and the sentence that gives the reason."""

    outcome: Outcome
    reason: str


def decide(ratio: Estimate, p: float | None, threshold: float, refusal: str = "") -> Verdict:
    """The verdict from the ratio's interval, the test and the smallest difference that matters.

    Different: the whole interval is beyond the threshold and the test agrees at 5 %. Equivalent: the whole
    interval is within it. All else is undecided. The band is 1 / (1 + threshold) to 1 + threshold, so that the
    verdict does not depend on which sample is named first.

    >>> decide(Estimate(1.0106, 1.005, 1.016, ""), 0.001, 0.02)
    Verdict(outcome='equivalent', reason='the whole interval of the ratio lies within 2 %;
    a difference is there (p = 0.001), but smaller than the threshold')
    """
    percent = f"{format_number(100 * threshold)} %"
    significant = p is not None and p < ALPHA
    seen = f"a difference is there ({format_p(p)})" if p is not None and significant else ""
    if ratio.lo is None or ratio.hi is None:
        note = f"; {seen}, its size is not known" if seen else ""
        return Verdict("undecided", f"{refusal or 'no interval'}{note}")
    low, high = 1 / (1 + threshold), 1 + threshold
    if ratio.lo > high or ratio.hi < low:
        if significant:
            return Verdict("different", f"the whole interval of the ratio is beyond {percent}")
        return Verdict("undecided", f"the interval of the ratio is beyond {percent}, but the rank test does not agree")
    if low <= ratio.lo and ratio.hi <= high:
        note = f"; {seen}, but smaller than the threshold" if seen else ""
        return Verdict("equivalent", f"the whole interval of the ratio lies within {percent}{note}")
    note = f"; {seen}, whether it is larger than {percent} is open" if seen else "; more runs narrow it"
    return Verdict("undecided", f"the interval of the ratio reaches across {percent}{note}")
