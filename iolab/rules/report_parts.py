"""Parts of a report's ledger for the sentences of rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from iolab.rules import phrases
from iolab.rules.time_parts import PART
from iolab.time_ledger.reports import CALL_TIME, ledger_of
from logframe.interval import Interval

if TYPE_CHECKING:
    from iolab.metrics.report_facts import ReportFacts

#: The parts of the views of a report; rules ask for them once for each statement.
_KNOWN: Final[WeakKeyDictionary[ReportFacts, dict[str, dict[str, Part]]]] = WeakKeyDictionary()


class Part(NamedTuple):
    """A part of the ledger: its id, its share, and the base of the share."""

    part: str
    share: Interval
    base: str

    @property
    def took(self) -> str:
        """``74 % of DB time``."""
        return f"{phrases.percent(self.share)} of {self.base}"

    @property
    def is_large(self) -> bool:
        """Is it 10 % or more, certainly its own?"""
        return self.share.lo >= PART


def part_of(facts: ReportFacts, name: str, view: str = "what") -> Part | None:
    """The part of this id; None where the report has no such part, or no shares are given.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts
        >>> facts = ReportFacts(db_time_s=Interval.exact(100), db_cpu_s=Interval.exact(23))
        >>> part_of(facts, "DB CPU").took, part_of(facts, "log file sync")
        ('23 % of DB time', None)
    """
    return parts_of(facts, view).get(name)


def parts_of(facts: ReportFacts, view: str = "what") -> dict[str, Part]:
    """The parts of a view that have a share, by id, in the order to read them; computed once for each report."""
    known = _KNOWN.setdefault(facts, {})
    if view not in known:
        known[view] = _parts_of(facts, view)
    return known[view]


def _parts_of(facts: ReportFacts, view: str) -> dict[str, Part]:
    ledger = ledger_of(facts)
    if ledger.void or view not in ledger.views:
        return {}
    base = ledger.base if ledger.base == CALL_TIME else "DB time"
    return {
        row["part"]: _part(row, base) for row in ledger.parts(view).iter_rows(named=True) if row["share"] is not None
    }


def _part(row: dict[str, Any], base: str) -> Part:
    value, lo, hi = (row[name] for name in ("share", "share_lo", "share_hi"))
    return Part(row["part"], Interval(value, min(lo, value), max(hi, value)), base)
