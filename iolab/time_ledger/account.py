"""The account of time of one log: parts that add up to a total, closed at every level.

A builder of a format (`iolab.time_ledger.reports`, `.strace`, ...) opens an `Account` with a total, adds parts to its
views, and gets a `Ledger`, in which an explicit part closes each level: ``not accounted for`` (positive) or ``counted
twice`` (negative).  So a sum over the children of a part is always the part, and nothing is dropped in silence.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.time_ledger.parts import (
    CHECKS,
    EXACT,
    NO_CHECKS,
    NO_REMARKS,
    PARTS,
    REMARKS,
    UNKNOWN,
    LedgerParts,
)
from logframe.interval import Interval, figure_cells
from logframe.parsed_log import display

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from iolab.time_ledger.changes import LedgerChange, WhatIf
    from iolab.time_ledger.parts import Place

#: Kinds that close a level.
_CLOSING: Final = UNKNOWN | {"counted_twice"}
#: The parts of a view that have one parent; None at the top.
_Level = tuple[str, str | None]


@dataclass(frozen=True, repr=False)
class Ledger(LedgerParts):
    """One conserved account of time: its parts (`LedgerParts`), compared, predicted and drawn."""

    def compare(self, other: Ledger) -> LedgerChange:
        """Every part of this ledger and another one, and the change of each (`iolab.time_ledger.changes`)."""
        from iolab.time_ledger.changes import change_of  # noqa: PLC0415 - loaded for those who compare

        return change_of(self, other)

    def what_if(
        self, part: str, *, count: float | None = None, average: float | None = None, factor: float | None = None
    ) -> WhatIf:
        """The total if a part had another count or average, or its time a factor (`iolab.time_ledger.changes`)."""
        from iolab.time_ledger.changes import what_if  # noqa: PLC0415 - loaded for those who ask

        return what_if(self, part, count=count, average=average, factor=factor)

    def to_chart(self, view: str = "what") -> Any:  # noqa: ANN401 - a chart, imported on use
        """The parts of one view as bars with bounds, indented as in `tree` (`iolab.charts.ledger_bars`)."""
        return display().ledger_chart(self, view)


def void_ledger(
    reason: str,
    *,
    base: str,
    scope: str = "log",
    remarks: Sequence[dict[str, object]] = (),
    facts_hold: bool = False,
) -> Ledger:
    """A ledger without a total.

    Args:
        reason: Why there is not one, as the end of "no total: ...".
        base: What the total would be.
        scope: Whose time it would be.
        remarks: Rows of `REMARKS`.
        facts_hold: Whether the log's other facts hold.
    """
    said = pl.DataFrame(remarks, schema=REMARKS, orient="row")
    return Ledger(None, base, scope, reason, remarks=said, facts_hold=facts_hold)


class Account:
    """Builds one `Ledger`: parts are added under their parents, and every level is closed at the end.

    Args:
        total: The total in s.
        base: What it is.
        scope: Whose time it is.
        is_upper: The log gives what a part took together with what followed it: parts add up, and of each part nothing
            is certainly its own.

    Examples:
        >>> account = Account(Interval(100, 99.5, 100.5), "DB time", scope="instance")
        >>> io = account.add("what", "User I/O", Interval(60, 59.5, 60.5), kind="io")
        >>> read = account.add("what", "db file sequential read", Interval.exact(55), kind="io", parent=io,
        ...     count=Interval.exact(1000))
        >>> cpu = account.add("what", "DB CPU", Interval.exact(45), kind="cpu")
        >>> account.closes(io, "unlisted in class", kind="unlisted")
        >>> parts = account.ledger().parts().select("name", "seconds", "own_lo", "own_hi", "share")
        >>> for row in parts.rows(): print(row)
        ('User I/O', 60.0, 53.5, 60.5, 0.6)
        ('db file sequential read', 55.0, 49.0, 55.0, 0.55)
        ('unlisted in class', 5.0, 0.0, 5.5, 0.05)
        ('DB CPU', 45.0, 39.0, 45.0, 0.45)
        ('counted twice', -5.0, 0.0, 0.0, -0.05)
    """

    def __init__(self, total: Interval, base: str, *, scope: str = "log", is_upper: bool = False) -> None:
        self.total = total
        self._is_upper = is_upper
        self.base = base
        self.scope = scope
        self._rows: list[dict[str, Any]] = []
        self._remarks: list[dict[str, object]] = []
        self._checks: list[dict[str, object]] = []
        self._ids: set[tuple[str, str]] = set()
        self._within: dict[str, dict[str, float]] = {}
        self._hidden: dict[str, float] = {}
        #: How a level whose parts are less than their parent is closed, by view and parent.
        self._closings: dict[tuple[str, str | None], tuple[str, str]] = {}

    def add(
        self,
        view: str,
        name: str,
        seconds: Interval,
        *,
        kind: str,
        parent: str | None = None,
        wait_class: str | None = None,
        count: Interval | None = None,
        evidence: Place | None = None,
        next_step: str | None = None,
    ) -> str:
        """Add a part.

        Args:
            view: One of `VIEWS`.
            name: As the log prints it; completed where the log cuts it.
            seconds: Its time as the log states it; negative for `counted_twice`.
            kind: One of `KINDS`.
            parent: The part that it is in, as this function returned it; None at the top.
            wait_class: Wait class, or class of system calls.
            count: How often; None where the log has none.
            evidence: Where its figures stand.
            next_step: What to look at or collect next.

        Returns:
            Its id: the name, with the parent's before it where the view has that name already.
        """
        part = name
        if (view, part) in self._ids:
            part = f"{parent or view}/{name}"
            number = 2
            while (view, part) in self._ids:
                part, number = f"{parent or view}/{name} ({number})", number + 1
        self._ids.add((view, part))
        avg = None
        if kind != "cpu" and count is not None and count.value > 0:
            avg = seconds.value / count.value
        self._rows.append(
            {
                "view": view,
                "part": part,
                "parent": parent,
                "kind": kind,
                "class": wait_class,
                "name": name,
                **figure_cells("count", count),
                **figure_cells("seconds", seconds),
                "own_lo": None,
                "own_hi": None,
                "avg": avg,
                "evidence": None if evidence is None else evidence.cell(),
                "next": next_step,
            }
        )
        return part

    def add_frame(self, frame: pl.DataFrame) -> None:
        """Add many parts at once.

        Args:
            frame: At least ``view``, ``part`` (unique in its view), ``kind``, ``name`` and ``seconds``; other columns
                of `PARTS` where they are known.  Without bounds a figure is exact.
        """
        have = frame.columns
        given = {
            "seconds_lo": "seconds",
            "seconds_hi": "seconds",
            "count_lo": "count",
            "count_hi": "count",
        }
        full = frame.with_columns(
            pl.col(source).alias(name) if source in have else pl.lit(None).alias(name)
            for name, source in given.items()
            if name not in have
        )
        if "avg" not in have and "count" in have:
            counted = (pl.col("count") > 0) & (pl.col("kind").cast(pl.String) != "cpu")
            full = full.with_columns(avg=pl.when(counted).then(pl.col("seconds") / pl.col("count")))
        missing = [pl.lit(None).alias(name) for name in PARTS if name not in full.columns]
        full = full.with_columns(missing).select(pl.col(name).cast(kind) for name, kind in PARTS.items())
        rows = full.to_dicts()
        self._ids.update((row["view"], row["part"]) for row in rows)
        self._rows += rows

    def closes(self, parent: str | None, name: str, *, kind: str, view: str = "what") -> None:
        """Name the part that closes a level where its parts are less than their parent (default: not accounted for)."""
        self._closings[view, parent] = (name, kind)

    def hides(self, view: str, seconds: float) -> None:
        """Say what a part that the list of a view does not name has at most."""
        self._hidden[view] = seconds

    def has_within(self, part: str, **seconds: float | None) -> None:
        """Say how many seconds of a statement were of a kind, as far as that is known."""
        known = {kind: one for kind, one in seconds.items() if one is not None and one > 0}
        if known:
            self._within[part] = known

    def remark(
        self, role: str, rule: str, text: str, *, part: str | None = None, evidence: Place | None = None
    ) -> None:
        """Add a remark of a rule (`REMARKS`)."""
        cell = None if evidence is None else evidence.cell()
        self._remarks.append({"part": part, "role": role, "rule": rule, "text": text, "evidence": cell})

    def check(self, check: str, *, view: str, printed: float, computed: float, slack: float, unit: str = "s") -> bool:
        """Compare a sum that the log states with that of the parts; a contradiction is a remark, too.

        Returns:
            Whether they agree within ``slack``.
        """
        holds = abs(printed - computed) <= slack
        self._checks.append(
            {
                "check": check,
                "view": view,
                "printed": float(printed),
                "computed": float(computed),
                "slack": float(slack),
                "unit": unit,
                "holds": holds,
            }
        )
        if not holds:
            said = f"{check}: the log states {printed:,.6g} {unit}, its parts add up to {computed:,.6g} {unit}"
            self.remark("caution", "check", said)
        return holds

    def ledger(
        self,
        *,
        elapsed: Interval | None = None,
        work: Interval | None = None,
        work_base: str = "",
        unshared: str = "",
        text: str = "",
        unit: str = "s",
        counted: Mapping[str, str] | None = None,
        transactions: float | None = None,
    ) -> Ledger:
        """The ledger: every level closed, the own time of every part computed.

        Args: as the fields of `Ledger`.
        """
        self._find_own(self._close_levels())
        return Ledger(
            self.total,
            self.base,
            self.scope,
            frame=pl.DataFrame(self._rows, schema=PARTS, orient="row"),
            remarks=pl.DataFrame(self._remarks, schema=REMARKS, orient="row") if self._remarks else NO_REMARKS.clone(),
            checks=pl.DataFrame(self._checks, schema=CHECKS, orient="row") if self._checks else NO_CHECKS.clone(),
            elapsed=elapsed,
            work=work,
            work_base=work_base,
            unshared=unshared,
            text=text,
            unit=unit,
            counted=dict(counted or {}),
            transactions=transactions,
            hidden=self._hidden,
            within=self._within,
        )

    def _close_levels(self) -> dict[_Level, list[dict[str, Any]]]:
        """Add the part that closes each level: the parent less its children; the parts of each level."""
        parents = {(row["view"], row["part"]): row for row in self._rows}
        levels: dict[_Level, list[dict[str, Any]]] = {}
        for row in self._rows:
            levels.setdefault((row["view"], row["parent"]), []).append(row)
        for (view, parent), parts in levels.items():
            whole = self.total
            if parent is not None:
                row = parents[view, parent]
                seconds = row["seconds"]
                whole = Interval(seconds, min(row["seconds_lo"], seconds), max(row["seconds_hi"], seconds))
            listed, most, least = (
                fsum(part[name] for part in parts) for name in ("seconds", "seconds_hi", "seconds_lo")
            )
            rest, lo, hi = whole.value - listed, whole.lo - most, whole.hi - least
            if abs(rest) <= EXACT * abs(self.total.value):
                rest = 0.0
                if any(part["kind"] in _CLOSING for part in parts):
                    continue
            name, kind = self._closings.get((view, parent), ("not accounted for", "not_accounted"))
            if rest < 0:
                name, kind = "counted twice", "counted_twice"
            self.add(view, name, Interval(rest, min(lo, rest), max(hi, rest)), kind=kind, parent=parent)
            parts.append(self._rows[-1])
        return levels

    def _find_own(self, levels: Mapping[_Level, Sequence[Mapping[str, Any]]]) -> None:
        """Each part's own time: without what may be counted twice at its level and above, at most the total."""
        twice = {
            level: fsum(max(0.0, -part["seconds_lo"]) for part in parts if part["kind"] == "counted_twice")
            for level, parts in levels.items()
        }
        above = {(row["view"], row["part"]): (row["view"], row["parent"]) for row in self._rows}
        lost = {}
        for level in levels:
            lost[level], outer = twice[level], level
            while outer[1] is not None:
                outer = above[outer[0], outer[1]]
                lost[level] += twice[outer]
        for row in self._rows:
            row["own_lo"] = row["own_hi"] = 0.0
            if row["kind"] != "counted_twice":
                row["own_hi"] = min(max(row["seconds_hi"], 0.0), self.total.hi)
                if not self._is_upper or row["kind"] in UNKNOWN:
                    own = max(row["seconds_lo"] - lost[row["view"], row["parent"]], 0.0)
                    row["own_lo"] = min(own, row["own_hi"])
