"""Statements that two sessions have in common, matched by their text: times, plans, gets and reads of each."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from logframe.interval import Interval, figure_cells, row_figure
from sqlplusparse.runs import NO_RUNS, normal_text

if TYPE_CHECKING:
    from sqlplusparse import Spool

#: A time that changed by less than this share is listed as unchanged.
MIN_CHANGE: Final = 0.2
#: Statements are one where this of their ``text`` is.
KEY: Final = pl.col("text").map_elements(normal_text, return_dtype=pl.String)
_FACTS: Final = ("rows", "gets", "physical_reads")

#: One row a statement that both sessions timed; the columns of a session end in ``_a`` and ``_b``.
STATEMENTS: Final = pl.Schema(
    dict.fromkeys(("change", "text"), pl.String())
    | dict.fromkeys(("runs_a", "runs_b"), pl.Int64())
    | dict.fromkeys(("elapsed_s_a", "elapsed_s_b"), pl.Float64())
    | dict.fromkeys(("ratio", "ratio_lo", "ratio_hi", "ratio_ci_lo", "ratio_ci_hi"), pl.Float64())
    | {"verdict": pl.String(), "share_a_pct": pl.Float64(), "share_b_pct": pl.Float64()}
    | {"plan_changed": pl.Boolean(), "plan_a": pl.String(), "plan_b": pl.String()}
    | {f"{fact}_{side}": pl.Float64() for fact in _FACTS for side in "ab"}
)


@dataclass(frozen=True)
class Statement:
    """What one session shows of a statement.

    Attributes:
        text: As it was first printed.
        runs: Its timed runs in their order.
    """

    text: str
    runs: pl.DataFrame

    @property
    def times(self) -> pl.Series:
        """The elapsed times of its runs, in seconds."""
        return self.runs.get_column("elapsed_s")

    @property
    def places(self) -> list[int]:
        """The places of its runs in the session."""
        return self.runs.get_column("statement").to_list()

    @property
    def resolution(self) -> float | None:
        """The coarsest step of the clock."""
        steps = self.runs.get_column("resolution_s").drop_nulls().to_list()
        return max(steps, default=None)

    def distinct(self, column: str) -> list[int]:
        """What its runs show in a column, such as the hash values of its plans."""
        return self.runs.get_column(column).drop_nulls().unique().sort().to_list()

    def middle(self, column: str) -> float | None:
        """The median of a figure over its runs; None where no run shows it."""
        known = self.runs.get_column(column).drop_nulls().sort()
        return None if known.is_empty() else float(known.median())  # type: ignore[arg-type]  # of numbers


def find_statements(session: Spool) -> dict[str, Statement]:
    """The statements that a session timed, by their normalised texts, in their order."""
    timed = _ran(session).filter(pl.col("elapsed_s").is_not_null(), pl.col("error").is_null())
    return {
        str(key): Statement(str(rows.item(0, "text")), rows)
        for (key,), rows in timed.group_by("key", maintain_order=True)
    }


def find_failures(session: Spool) -> dict[str, str]:
    """The statements of which every run ended in an error, by their normalised texts, and the last error."""
    by_key = _ran(session).group_by("key", maintain_order=True)
    ends = by_key.agg(pl.col("error").is_null().any().alias("is_done"), "error")
    return {str(key): str(errors[-1]) for key, is_done, errors in ends.iter_rows() if not is_done}


def _ran(session: Spool) -> pl.DataFrame:
    """The statements with a text that do work on data, with their keys."""
    ran = session.statements.filter(pl.col("text").is_not_null(), ~pl.col("kind").is_in(NO_RUNS).fill_null(value=False))
    return ran.with_columns(key=KEY)


@dataclass(frozen=True)
class Match:
    """A statement in both sessions.

    Attributes:
        a: It in the first session.
        b: It in the second one.
    """

    a: Statement
    b: Statement

    def distinct(self, column: str) -> tuple[list[int], list[int]]:
        """What the runs of each session show in a column."""
        return self.a.distinct(column), self.b.distinct(column)

    @property
    def has_other_rows(self) -> bool:
        """Do both show how many rows they returned, and do they differ?  Then they did different work."""
        a, b = self.distinct("rows")
        return bool(a and b and a != b)

    @property
    def is_plan_changed(self) -> bool | None:
        """Do the plans differ?  None where one session shows none."""
        a, b = self.distinct("plan_hash_value")
        return a != b if a and b else None

    @property
    def is_repeated(self) -> bool:
        """Did both time it more than once?"""
        return min(self.a.runs.height, self.b.runs.height) > 1

    @property
    def medians(self) -> tuple[float, float]:
        """The median time in each session."""
        return self.a.middle("elapsed_s") or 0.0, self.b.middle("elapsed_s") or 0.0

    def ratio(self) -> Interval | None:
        """B / A with the bounds of the clock; None where A is shown as zero."""
        first, second = self._times()
        if first is None or second is None or first.lo <= 0 or first.value <= 0:
            return None
        return second / first

    def least_ratio(self) -> float | None:
        """What B / A is at least, also where A is shown as zero: it was below the clock's step."""
        first, second = self._times()
        return None if first is None or second is None or first.hi <= 0 else second.lo / first.hi

    def _times(self) -> tuple[Interval | None, Interval | None]:
        """The median times with the bounds of the clock."""
        sides = []
        for one in (self.a, self.b):
            rows = one.runs.select(pl.col("elapsed_s", "elapsed_s_lo", "elapsed_s_hi").median()).row(0, named=True)
            sides.append(row_figure(rows, "elapsed_s"))
        return sides[0], sides[1]


def change_of(ratio: Interval | None) -> str:
    """Which way a time went: ``slower`` or ``faster`` beyond a fifth and the clock's step, else ``same``.

    Examples:
        >>> change_of(Interval(1.5, 1.1, 1.9)), change_of(Interval(3.0, 2.9, 3.1)), change_of(None)
        ('same', 'slower', 'unknown')
    """
    if ratio is None:
        return "unknown"
    if ratio.lo > 1 + MIN_CHANGE:
        return "slower"
    return "faster" if ratio.hi < 1 / (1 + MIN_CHANGE) else "same"


def describe_row(match: Match, totals: tuple[float, float]) -> dict[str, Any]:
    """The row of a match in `STATEMENTS`, without what a comparison of samples adds."""
    ratio, least = match.ratio(), match.least_ratio()
    middles = match.medians
    change = change_of(ratio)
    if ratio is None and least is not None and least > 1 + MIN_CHANGE:
        change = "slower"
    row: dict[str, Any] = {
        "change": change,
        "text": " ".join(match.a.text.split()),
        **figure_cells("ratio", ratio),
        "ratio_lo": least if ratio is None else ratio.lo,
        "plan_changed": match.is_plan_changed,
    }
    for side, one, middle, total in zip("ab", (match.a, match.b), middles, totals, strict=True):
        row |= {
            f"runs_{side}": one.runs.height,
            f"elapsed_s_{side}": middle,
            f"share_{side}_pct": 100 * middle / total if total else None,
            f"plan_{side}": ", ".join(map(str, one.distinct("plan_hash_value"))) or None,
        }
        row |= {f"{fact}_{side}": one.middle(fact) for fact in _FACTS}
    return row


def plan_steps(plans: pl.DataFrame, statements: list[int]) -> Counter[str]:
    """The operations of the last plan of a statement with their objects, and how often it has each.

    Args:
        plans: The plans of a session or of a SQL trace, whose operations name their objects.
        statements: The numbers of the statement.
    """
    last = plans.filter(pl.col("statement").is_in(statements)).filter(pl.col("plan") == pl.col("plan").max())
    parts = [pl.col(name).str.strip_chars() for name in ("operation", "object_name") if name in plans.columns]
    steps = last.select(pl.concat_str(parts, separator=" ", ignore_nulls=True)).to_series()
    return Counter(step for step in steps.drop_nulls() if step)


def describe_plan_change(a: Counter[str], b: Counter[str]) -> str:
    """Which operations are in one plan only.

    Examples:
        >>> describe_plan_change(Counter(["INDEX RANGE SCAN T_IX", "SORT"]), Counter(["TABLE ACCESS FULL T", "SORT"]))
        'only in A: INDEX RANGE SCAN T_IX; only in B: TABLE ACCESS FULL T'
    """
    if not a or not b:
        return ""
    parts = []
    for name, only in (("A", a - b), ("B", b - a)):
        if only:
            steps = (f"{count} x {step}" if count > 1 else step for step, count in only.items())
            parts.append(f"only in {name}: {', '.join(steps)}")
    return "; ".join(parts) or "the same operations"
