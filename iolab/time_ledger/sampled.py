"""Parts of time that was sampled: this many samples, each for the time between two, with the error of sampling."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.stats.intervals import share_interval
from iolab.time_ledger.parts import EXACT, PARTS
from logframe.interval import Interval

if TYPE_CHECKING:
    from iolab.time_ledger.account import Account
    from iolab.time_ledger.parts import Place

#: Below this many samples there are no shares: the 95 % interval of a half is then wider than 20 points.
LEAST_SAMPLES: Final = 100


def sampling_error(samples: float) -> float:
    """Two standard deviations of a count of independent samples.

    Examples:
        >>> sampling_error(2_500), sampling_error(0)
        (100.0, 0.0)
    """
    return 2 * math.sqrt(max(samples, 0.0))


class SampledParts:
    """Adds parts to an `Account`, each a number of samples.

    Attributes:
        account: The account; its total is ``samples`` times ``unit``.
        samples: All samples.
        unit: What one stands for: seconds, or 1.
        has_error: Whether ``samples`` counts samples; where it is a share, the error of sampling is not known.
        is_share: Whether the error is that of a share of the samples (95 %, Wilson), not that of a count (2 sqrt(n)):
            where one sample stands for no time, only shares are known.
    """

    def __init__(
        self,
        account: Account,
        samples: float,
        unit: float = 1.0,
        *,
        has_error: bool = True,
        is_share: bool = False,
    ) -> None:
        self.account = account
        self.samples = samples
        self.unit = unit
        self.has_error = has_error
        self.is_share = is_share
        self._rows: list[dict[str, object]] = []

    def add(
        self,
        view: str,
        part: str,
        samples: Interval,
        *,
        kind: str,
        name: str = "",
        parent: str | None = None,
        wait_class: str | None = None,
        evidence: Place | None = None,
        next_step: str | None = None,
    ) -> str:
        """Add a part of this many samples (with the bounds of rounding); the bounds of sampling are added.

        A sample is no wait: parts have a count of samples and no average.
        """
        lo, hi = (samples.lo, samples.hi) if samples.value <= 0 else self._sampled(samples)
        count = (samples.value, samples.lo, samples.hi) if self.has_error else (None, None, None)
        self._rows.append(
            {
                "view": view,
                "part": part,
                "parent": parent,
                "kind": kind,
                "class": wait_class,
                "name": name or part,
                **dict(zip(("count", "count_lo", "count_hi"), count, strict=True)),
                "seconds": samples.value * self.unit,
                "seconds_lo": lo * self.unit,
                "seconds_hi": hi * self.unit,
                "evidence": None if evidence is None else evidence.cell(),
                "next": next_step,
            }
        )
        return part

    def _sampled(self, samples: Interval) -> tuple[float, float]:
        """The bounds of rounding, and of sampling around them."""
        if not self.has_error:
            return samples.lo, samples.hi
        if self.is_share:
            number = max(round(self.samples), 1)
            low, high = (share_interval(min(round(end), number), number) for end in (samples.lo, samples.hi))
            lo, hi = low[0] * self.samples, high[1] * self.samples
        else:
            error = sampling_error(samples.value)
            lo, hi = samples.lo - error, min(samples.hi + error, self.samples)
        return max(min(lo, samples.value), 0.0), max(hi, samples.value)

    def close(
        self, view: str, whole: Interval, listed: list[Interval], parent: str | None = None, name: str = "not listed"
    ) -> None:
        """Add what closes a level: samples that no row shows, or that several rows show."""
        rest = whole.value - sum(one.value for one in listed)
        slack = (whole.hi - whole.lo + sum(one.hi - one.lo for one in listed)) / 2
        kind, bounds = "unlisted", (max(rest - slack, 0.0), rest + slack)
        if abs(rest) <= EXACT * max(self.samples, 1.0):
            rest, kind, name, bounds = 0.0, "not_accounted", "not accounted for", (0.0, slack)
        elif rest < 0:  # what rounding may make is no time of two parts
            kind, name, bounds = "counted_twice", "counted twice", (rest, rest + slack)
        part = name if parent is None else f"{parent}/{name}"
        self.add(view, part, Interval(rest, *bounds), kind=kind, name=name, parent=parent)

    def put(self) -> None:
        """Put the parts into the account."""
        if self._rows:
            self.account.add_frame(pl.DataFrame(self._rows, schema=PARTS, orient="row"))
