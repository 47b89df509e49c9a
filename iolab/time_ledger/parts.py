"""The parts of an account of time: their columns, their kinds, and their shares of the total."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from iolab.shown import Shown
from logframe.errors import LogError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from logframe.interval import Interval

#: The base of the ledger of a SQL*Plus session.
TIMED: Final = "timed statements"
#: What a part of the time is.  `unlisted`: the log has the time and not the row; `not_in_log`: this section is missing;
#: `contains`: a row that encloses others, its sum is kept at 0.
KINDS: Final = (
    "cpu",
    "io",
    "wait",
    "client",
    "idle",
    "gap",
    "mixed",
    "unlisted",
    "not_in_log",
    "contains",
    "not_accounted",
    "counted_twice",
)
#: Wait classes in which a session waits for I/O.
IO_CLASSES: Final = frozenset({"User I/O", "System I/O"})
#: Kinds of time without a name: they are stated as unknown, and are no cause.
UNKNOWN: Final = frozenset({"unlisted", "not_in_log", "not_accounted"})

#: The part of the times that a session does not show a statement of.
NO_OWNER: Final = "time whose statement is unknown"
#: The part of samples in which no statement ran.
NO_STATEMENT: Final = "no SQL statement"
#: Time of PL/SQL blocks themselves, which is in no statement.
BLOCK_TIME: Final = "PL/SQL itself"
#: Kinds in which no work was waited for: they rank below work.
ASIDE: Final = frozenset({"client", "idle"})
#: The views of a ledger, in the order to read them.
VIEWS: Final = ("what", "phase", "who", "where", "when")
#: What a remark does: it voids, explains, cautions, or names what a part contains or overlaps.
ROLES: Final = ("gate", "detail", "caution", "contains", "next")

_EVIDENCE: Final = pl.Struct({"table": pl.String(), "rows": pl.List(pl.String()), "lines": pl.List(pl.Int64())})

#: Columns of `Ledger.frame`: one row a part.  ``seconds`` is as the log states it, negative for what is counted twice;
#: ``own_lo`` and ``own_hi`` are what is certainly, and at most, the part's own after removal of what is counted twice.
PARTS: Final = pl.Schema(
    {
        "view": pl.Enum(VIEWS),
        "part": pl.String(),
        "parent": pl.String(),
        "kind": pl.Enum(KINDS),
        "class": pl.String(),
        "name": pl.String(),
        "count": pl.Float64(),
        "count_lo": pl.Float64(),
        "count_hi": pl.Float64(),
        "seconds": pl.Float64(),
        "seconds_lo": pl.Float64(),
        "seconds_hi": pl.Float64(),
        "own_lo": pl.Float64(),
        "own_hi": pl.Float64(),
        "avg": pl.Float64(),
        "evidence": _EVIDENCE,
        "next": pl.String(),
    }
)
#: Columns of `Ledger.remarks`: what rules say of a part; ``part`` is null for the whole ledger.
REMARKS: Final = pl.Schema(
    {"part": pl.String(), "role": pl.Enum(ROLES), "rule": pl.String(), "text": pl.String(), "evidence": _EVIDENCE}
)
#: Columns of `Ledger.checks`: a line of the log that states a sum, and the sum of the parts, in ``unit``.
CHECKS: Final = pl.Schema(
    {
        "check": pl.String(),
        "view": pl.Enum(VIEWS),
        "printed": pl.Float64(),
        "computed": pl.Float64(),
        "slack": pl.Float64(),
        "unit": pl.String(),
        "holds": pl.Boolean(),
    }
)
NO_REMARKS: Final = pl.DataFrame(schema=REMARKS)
NO_CHECKS: Final = pl.DataFrame(schema=CHECKS)
#: Columns that `Ledger.parts` adds: depth below the total, and the share of `Ledger.work` with its bounds.
SHARES: Final = pl.Schema(
    {"level": pl.UInt32(), "share": pl.Float64(), "share_lo": pl.Float64(), "share_hi": pl.Float64()}
)
#: Sums that differ by so little, relative to the total, differ by the rounding of the arithmetic alone.
EXACT: Final = 1e-9


class Place(NamedTuple):
    """Where the figures of a part stand: the frame, the names of its rows, and line numbers where the log has lines."""

    table: str
    rows: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()

    def cell(self) -> dict[str, object]:
        """The place as a cell of the column ``evidence``."""
        return {"table": self.table, "rows": list(self.rows), "lines": list(self.lines)}


class Sampled(NamedTuple):
    """What samples of sessions show: in a view, by a name, for how long, with two standard deviations."""

    view: str
    name: str
    seconds: Interval


@dataclass(frozen=True)
class LedgerParts(Shown):
    """The parts of one conserved account of time, with their shares.

    Attributes:
        total: Seconds; None if and only if `void` says why.
        base: What the total is: ``DB time``, ``total call time``, ``timed statements``, ...
        scope: Whose time it is: ``instance``, ``all instances``, ``background``, ``process 4711``, ``session 1.2``,
            ``log``.
        void: Why there is no total; empty otherwise.  A void ledger has no parts, no shares and no comparison.
        frame: All parts of all views (`PARTS`).
        remarks: What rules say of parts (`REMARKS`).
        checks: Sums that the log states itself, compared (`CHECKS`).
        elapsed: The time that passed, in s; None where the log does not say.
        transactions: Commits and rollbacks in that time; None where the log does not say.
        work: What shares are of, in s: the total, or the total without idle and client time where that is named by
            `work_base`.
        work_base: What `work` is, for a sentence; empty where it is the total.
        unshared: Why parts have no shares (almost nothing ran, times too coarse); empty otherwise.
        text: The total as one line for the head of a screen.
        unit: What the figures of `total` and the parts are: ``s``, or what is counted where the log has no times:
            ``samples``, ``share``.
        facts_hold: Of a void ledger: whether the log's other facts hold, as it measures no span; else it is doubtful.
        counted: What the counts of a view are: ``{"what": "waits", "who": "executions"}``.
        hidden: What a part that is not listed has at most, in s, by view; of other views the smallest part says so.
        within: Seconds of CPU (``cpu``), I/O (``io``) and round trips (``network``) in the parts of the view ``who``.
        sampled: What samples show of time that has no name; they explain a part, and are never added.
    """

    total: Interval | None
    base: str
    scope: str
    void: str = ""
    frame: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=PARTS))
    remarks: pl.DataFrame = field(default_factory=NO_REMARKS.clone)
    checks: pl.DataFrame = field(default_factory=NO_CHECKS.clone)
    elapsed: Interval | None = None
    work: Interval | None = None
    work_base: str = ""
    unshared: str = ""
    text: str = ""
    unit: str = "s"
    facts_hold: bool = False
    counted: Mapping[str, str] = field(default_factory=dict)
    transactions: float | None = None
    hidden: Mapping[str, float] = field(default_factory=dict)
    within: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    sampled: tuple[Sampled, ...] = ()

    @cached_property
    def views(self) -> list[str]:
        """The views that the log supports, in the order of `VIEWS`."""
        there = set(self.frame.get_column("view").unique().cast(pl.String))
        return [view for view in VIEWS if view in there]

    def sampled_in(self, view: str) -> list[Sampled]:
        """What samples show in a view."""
        return [one for one in self.sampled if one.view == view]

    def parts(self, view: str = "what") -> pl.DataFrame:
        """The parts of one view, parents before their children, largest first by ``own_lo``, the closing part last.

        Args:
            view: One of `views`.

        Returns:
            The columns `PARTS` and `SHARES`; shares are null where `unshared` says why, and for time that is not in
            `work`.

        Raises:
            LogError: The ledger is void, or has no such view.
        """
        if self.void:
            raise LogError(f"the ledger has no parts: {self.void}")
        if view not in self.views:
            raise LogError(f"the ledger has no view {view!r}: it has {', '.join(self.views) or 'none'}")
        if view not in self._ordered:
            self._ordered[view] = _in_order(self.frame.filter(pl.col("view") == view)).with_columns(self._share())
        return self._ordered[view]

    @cached_property
    def _ordered(self) -> dict[str, pl.DataFrame]:
        """The parts of the views that were asked for."""
        return {}

    def _share(self) -> list[pl.Expr]:
        """The share of each part and its bounds: of its own time, never above 1."""
        base = self.work if self.work is not None else self.total
        is_shared = pl.lit(base is not None and base.lo > 0 and not self.unshared)
        if self.work_base:
            is_shared &= ~pl.col("kind").cast(pl.String).is_in(ASIDE)
        value, lo, hi = (1.0, 1.0, 1.0) if base is None or base.lo <= 0 else (base.value, base.lo, base.hi)
        least, most = (pl.col("own_lo") / hi).clip(0, 1), (pl.col("own_hi") / lo).clip(0, 1)
        twice = pl.col("kind") == "counted_twice"
        share = (
            pl.when(twice).then(pl.col("seconds") / value).otherwise((pl.col("seconds") / value).clip(least, most)),
            pl.when(twice).then(pl.col("seconds_lo") / value).otherwise(least),
            pl.when(twice).then(pl.col("seconds_hi") / value).otherwise(most),
        )
        return [
            pl.when(is_shared & (pl.col("kind") != "contains")).then(one).alias(name)
            for one, name in zip(share, ("share", "share_lo", "share_hi"), strict=True)
        ]

    def tree(self, view: str = "what") -> str:
        """The parts of one view as indented text: share, seconds, count and name."""
        lines = [self.text or self.base]
        for row in self.parts(view).iter_rows(named=True):
            share = "" if row["share"] is None else f"{100 * row['share']:.1f}"
            count = "" if row["count"] is None else f"{row['count']:,.0f}"
            lines.append(f"{share:>6}  {row['seconds']:>14,.6g}  {count:>12}  {'  ' * row['level']}{row['name']}")
        return "\n".join(lines)

    def __str__(self) -> str:
        """The parts of each view as indented text."""
        return "\n\n".join(map(self.tree, self.views)) or repr(self)

    def __repr__(self) -> str:
        what = f"no total: {self.void}" if self.void else (self.text or self.base)
        return f"<Ledger of {self.scope}: {what}>"


def _in_order(parts: pl.DataFrame) -> pl.DataFrame:
    """Parents before their children, the largest first, idle time and what closes a level last.

    ``level`` is the depth from 0.
    """
    last = pl.col("kind").cast(pl.String).is_in(["counted_twice", "not_accounted", "not_in_log", "unlisted"])
    aside = pl.col("kind").cast(pl.String).is_in(ASIDE)
    # An explicit closing part that is a top list's rest stands last, too; `contains` after the parts that add up.
    ordered = parts.with_columns(
        place=pl.when(aside).then(1).when(pl.col("kind") == "contains").then(2).when(last).then(3).otherwise(0),
    ).sort("place", "own_lo", "own_hi", "name", descending=[False, True, True, False])
    children: dict[str | None, list[int]] = {}
    for number, parent in enumerate(ordered.get_column("parent")):
        children.setdefault(parent, []).append(number)
    names = ordered.get_column("part").to_list()
    order: list[int] = []
    levels: list[int] = []
    waiting = [(number, 0) for number in reversed(children.get(None, []))]
    while waiting:
        number, level = waiting.pop()
        order.append(number)
        levels.append(level)
        waiting.extend((child, level + 1) for child in reversed(children.get(names[number], [])))
    return ordered[order].drop("place").with_columns(level=pl.Series(levels, dtype=pl.UInt32()))
