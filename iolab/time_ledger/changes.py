"""Two accounts of time in one table: which part holds which share of the change; and what a changed part would save."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from logframe.errors import LogError
from logframe.interval import Interval

if TYPE_CHECKING:
    from iolab.time_ledger.account import Ledger

#: Bases whose parts are compared per second of the period: their lists of events and statements may be cut.
_OF_PERIODS: Final = frozenset({"DB time", "total call time", "background elapsed time", "samples x interval"})
_CLOSING: Final = ("not_accounted", "counted_twice")
_REST: Final = "not accounted for, less what is counted twice"
#: A change of the total below this share of the first total has no shares.
_LEAST_CHANGE: Final = 0.05
#: Rows of the table on a screen.
_ROWS: Final = 12
#: A part whose largest child has this share of its change is not named: the child is.
_MOST_OF_IT: Final = 0.6
#: Kinds of parts whose time is count x average.
_COUNTED: Final = frozenset({"io", "wait", "client"})
#: A closing part above this share of the total makes a prediction doubtful.
_DOUBTFUL: Final = 0.15
_REFUSED: Final = {
    "not_accounted": "its cause is unknown",
    "counted_twice": "it is no time of its own",
    "unlisted": "the log does not list what it is",
    "not_in_log": "the log does not contain it",
    "contains": "it contains other parts",
    "gap": "it is time between calls, of several causes",
    "mixed": "it mixes several causes",
    "idle": "no work waited for it",
}
#: Names of waits and calls whose time is not the time of the I/O or of the work itself.
_NOT_ITS_OWN: Final = {
    "enq:": "a lock lasts as long as its holder keeps it",
    "read by other session": "another session does the read",
    "direct path": "the wait is not the time of the I/O, which overlaps other work",
    "cell smart": "a smart scan overlaps other work",
    "asynchronous": "asynchronous requests overlap",
    "io_submit": "asynchronous requests overlap",
    "io_getevents": "asynchronous requests overlap",
    "io_pgetevents": "asynchronous requests overlap",
    "wait4": "a parent waits for its children",
    "waitid": "a parent waits for its children",
}

#: Columns of `LedgerChange.parts`.  ``change`` = ``b`` - ``a`` = ``by_count`` + ``by_time`` where both are counted.
CHANGES: Final = pl.Schema(
    {
        "view": pl.String(),
        "part": pl.String(),
        "parent": pl.String(),
        "kind": pl.String(),
        "name": pl.String(),
        "status": pl.String(),
        **{f"{side}{end}": pl.Float64() for side in ("a", "b", "change") for end in ("", "_lo", "_hi")},
        "share": pl.Float64(),
        "count_a": pl.Float64(),
        "count_b": pl.Float64(),
        "by_count": pl.Float64(),
        "by_time": pl.Float64(),
    }
)


@dataclass(frozen=True)
class LedgerChange:
    """The change from one ledger to another.

    Attributes:
        a: The first total in `unit`.
        b: The second.
        unit: ``sessions active`` (s of a second), or ``s``.
        parts: All parts of the views that both have (`CHANGES`), those of the largest change first in each view.
        is_shared: Whether the change is large enough, beyond its bounds, for shares.
    """

    a: Interval
    b: Interval
    unit: str
    parts: pl.DataFrame
    is_shared: bool

    @property
    def change(self) -> Interval:
        """The second total less the first."""
        return self.b - self.a

    def __str__(self) -> str:
        """The sentence, and the parts of the first view as a table, those with the largest change first."""
        lines = [
            self.sentence,
            f"{'A':>12}{'B':>12}{'change':>12}{'%':>5}{'count':>10}{'average':>10}  part ({self.unit})",
        ]
        for row in (
            self.parts.filter(pl.col("view") == pl.col("view").first(), pl.col("change") != 0)
            .head(_ROWS)
            .iter_rows(named=True)
        ):
            share = "" if row["share"] is None else f"{100 * row['share']:.0f}"
            ratios = ["", ""]
            if row["by_count"] is not None and row["a"] > 0:
                often = row["count_b"] / row["count_a"]
                ratios = [f"{often:.2f} x", f"{row['b'] / row['a'] / often:.2f} x"]
            sides = [
                f"<= {row[f'{one}_hi']:.3g}" if row["status"] == gone and row[f"{one}_hi"] else f"{row[one]:,.4g}"
                for one, gone in (("a", "new"), ("b", "vanished"))
            ]
            name = row["name"] if row["parent"] is None else f"  {row['name']}"
            lines.append(
                f"{sides[0]:>12}{sides[1]:>12}{row['change']:>+12.4g}{share:>5}{ratios[0]:>10}{ratios[1]:>10}  {name}"
            )
        lines.append(f"{self.a.value:>12,.4g}{self.b.value:>12,.4g}{self.change.value:>+12.4g}{'':>25}  total")
        return "\n".join(lines)

    @property
    def sentence(self) -> str:
        """What changed, in words: the total and the part with the most of it, or the parts that moved against it."""
        change = self.change.value
        totals = f"{self.a.value:.3g} {self.unit} in A, {self.b.value:.3g} in B"
        most = self._most(float(change) if self.is_shared else None)
        said = "" if most is None else f"`{most['name']}` changed by {most['change']:+.3g}{_how(most)}"
        if not self.is_shared:
            return f"The total hardly changed: {totals}{f'; {said}' if said else ''}."
        word = "more" if change > 0 else "less"
        head = f"{totals}: {abs(change):.3g} {word} ({100 * change / self.a.value:+.0f} %)" if self.a.value else totals
        if most is None:
            return f"{head}; no part holds most of the change."
        if most["kind"] in _CLOSING:
            return f"{head}; most of it is not accounted for ({most['change']:+.3g}): its cause is unknown."
        of_all = None if most["share"] is None else float(str(most["share"]))
        share = "" if of_all is None else f", {100 * of_all:.0f} % of the change"
        if of_all is not None and of_all > 1 + _LEAST_CHANGE:
            share = ", more than the whole change: other parts moved the other way"
        return f"{head}; {said}{share}."

    def _most(self, direction: float | None) -> dict[str, object] | None:
        """The part to name: the largest change of the first view, in a direction; a child where it has most of it."""
        if self.parts.is_empty():
            return None
        view = self.parts.get_column("view")[0]
        rows = self.parts.filter(pl.col("view") == view, pl.col("kind") != "contains")
        if direction is None:  # a part that moved by little is not named
            rows = rows.filter(pl.col("change").abs() > _LEAST_CHANGE * abs(self.a.value))
        else:
            rows = rows.filter(pl.col("change") * direction > 0)
        rows = rows.filter((pl.col("change_lo") > 0) | (pl.col("change_hi") < 0))
        parent: str | None = None
        found: dict[str, object] | None = None
        while True:
            below = rows.filter(pl.col("parent").eq_missing(pl.lit(parent, pl.String)))
            if below.is_empty():
                return found
            first = below.sort(pl.col("change").abs(), descending=True).row(0, named=True)
            if found is not None and abs(first["change"]) < _MOST_OF_IT * abs(float(str(found["change"]))):
                return found
            found, parent = first, first["part"]


def _how(row: dict[str, object]) -> str:
    """Whether a part is new, or occurred more often, or took longer each time."""
    if row["status"] != "both":
        return " (new in B)" if row["status"] == "new" else " (not in B)"
    if row["by_count"] is None:
        return ""
    return f" ({row['by_count']:+.3g} by number, {row['by_time']:+.3g} by time)"


def change_of(a: Ledger, b: Ledger) -> LedgerChange:
    """Every part of two ledgers, and its share of the change of the total.

    Reports are compared per second of their periods, other logs as they are.

    Raises:
        LogError: A ledger is void, or their totals are not of the same kind.

    Examples:
        >>> from iolab.time_ledger import Account
        >>> def ledger(reads, each):
        ...     account = Account(Interval.exact(10.0 + reads * each), "total call time")
        ...     _ = account.add("what", "CPU", Interval.exact(10.0), kind="cpu")
        ...     _ = account.add("what", "read", Interval.exact(reads * each), kind="io", count=Interval.exact(reads))
        ...     return account.ledger()
        >>> found = change_of(ledger(100, 0.1), ledger(300, 0.2))
        >>> found.sentence
        '20 s in A, 70 in B: 50 more (+250 %); `read` changed by +50 (+30 by number, +20 by time), 100 % of the change.'
    """
    for one, name in ((a, "first"), (b, "second")):
        if one.total is None or one.void:
            raise LogError(f"the {name} log has no total: {one.void}")
    if a.base != b.base or a.unit != b.unit:
        raise LogError(f"the totals are of different kinds: {a.base} and {b.base}")
    is_period = a.base in _OF_PERIODS and all(one.elapsed is not None and one.elapsed.lo > 0 for one in (a, b))
    lengths = [one.elapsed.value if is_period and one.elapsed is not None else 1.0 for one in (a, b)]
    totals = [one.total / length for one, length in zip((a, b), lengths, strict=True) if one.total is not None]
    change = totals[1] - totals[0]
    is_shared = (change.lo > 0 or change.hi < 0) and abs(change.value) > _LEAST_CHANGE * totals[0].value
    is_cut = a.base in _OF_PERIODS
    sides = [_side(one, length, name, is_cut=is_cut) for one, length, name in zip((a, b), lengths, "ab", strict=True)]
    views = [view for view in a.views if view in b.views]
    both = sides[0].join(sides[1], on=["view", "part"], how="full", coalesce=True, nulls_equal=True)
    both = both.filter(pl.col("view").is_in(views))
    for side, parts in zip("ab", sides, strict=True):
        hidden = (
            parts.select("view", "parent", f"hidden_{side}").drop_nulls(f"hidden_{side}").unique(["view", "parent"])
        )
        key = pl.coalesce("parent_a", "parent_b")
        both = both.drop(f"hidden_{side}").with_columns(parent=key)
        both = both.join(hidden, on=["view", "parent"], how="left", nulls_equal=True)
    absent = {side: pl.col(side).is_null() for side in "ab"}
    both = both.with_columns(
        status=pl.when(absent["a"])
        .then(pl.lit("new"))
        .when(absent["b"])
        .then(pl.lit("vanished"))
        .otherwise(pl.lit("both")),
        kind=pl.coalesce("kind_a", "kind_b"),
        name=pl.coalesce("name_a", "name_b"),
        **{f"{side}_hi": pl.coalesce(f"{side}_hi", f"hidden_{side}", pl.lit(0.0)) for side in "ab"},
        **{f"{side}{end}": pl.col(f"{side}{end}").fill_null(0.0) for side in "ab" for end in ("", "_lo")},
    )
    # A part of a parent that is absent is at most what the parent may be.
    above = both.select("view", parent="part", up_a="a_hi", up_b="b_hi")
    both = both.join(above, on=["view", "parent"], how="left").with_columns(
        pl.when(pl.lit(is_cut) & absent_in, pl.col(f"hidden_{side}").is_null(), pl.col("parent").is_not_null())
        .then(pl.col(f"up_{side}").fill_null(0.0))
        .otherwise(f"{side}_hi")
        .alias(f"{side}_hi")
        for side, absent_in in (("a", pl.col("status") == "new"), ("b", pl.col("status") == "vanished"))
    )
    delta = pl.col("b") - pl.col("a")
    is_split = (pl.col("count_a") > 0) & (pl.col("count_b") > 0) & pl.col("kind").is_in(list(_COUNTED))
    mean_average = (pl.col("a") / pl.col("count_a") + pl.col("b") / pl.col("count_b")) / 2
    by_count = (pl.col("count_b") - pl.col("count_a")) * mean_average
    both = both.with_columns(
        change=delta,
        change_lo=pl.col("b_lo") - pl.col("a_hi"),
        change_hi=pl.col("b_hi") - pl.col("a_lo"),
        share=pl.when(pl.lit(is_shared)).then(delta / (change.value or 1.0)),
        by_count=pl.when(is_split).then(by_count),
        by_time=pl.when(is_split).then(delta - by_count),
    )
    order = {view: number for number, view in enumerate(views)}
    place = pl.col("view").replace_strict(order, return_dtype=pl.Int64, default=None)
    table = both.sort(place, pl.col("change").abs(), "part", descending=[False, True, False])
    unit = "sessions active" if is_period else a.unit
    return LedgerChange(
        totals[0], totals[1], unit, table.select(pl.col(one).cast(kind) for one, kind in CHANGES.items()), is_shared
    )


def _side(ledger: Ledger, length: float, side: str, *, is_cut: bool) -> pl.DataFrame:
    """The parts of one ledger per unit, the closing parts of a level as one, with what the level's list may hide."""
    kind = pl.col("kind").cast(pl.String)
    is_closing = kind.is_in(_CLOSING)
    level = pl.concat_str(pl.col("parent").fill_null(""), pl.lit(f"/{_REST}"))
    parts = ledger.frame.with_columns(
        kind.alias("kind"),
        pl.col("view").cast(pl.String),
        part=pl.when(is_closing).then(level).otherwise("part"),
        name=pl.when(is_closing).then(pl.lit(_REST)).otherwise("name"),
    )
    times = {side: "seconds", f"{side}_lo": "seconds_lo", f"{side}_hi": "seconds_hi", f"count_{side}": "count"}
    grouped = parts.group_by("view", "part", maintain_order=True).agg(
        *(
            pl.when(pl.col(name).count() > 0).then(pl.col(name).sum() / length).alias(new)
            for new, name in times.items()
        ),
        pl.col("parent").first().alias(f"parent_{side}"),
        pl.col("kind").first().alias(f"kind_{side}"),
        pl.col("name").first().alias(f"name_{side}"),
        parent=pl.col("parent").first(),
    )
    if not is_cut:
        return grouped.with_columns(pl.lit(0.0).alias(f"hidden_{side}"))
    is_unknown = pl.col(f"kind_{side}").is_in(["unlisted", "not_in_log", "not_accounted"])
    top = pl.col(f"{side}_hi")
    smallest = top.filter(~is_unknown & (pl.col(f"kind_{side}") != "counted_twice")).min().over("view", "parent")
    rest = top.filter(is_unknown).sum().over("view", "parent")
    return grouped.with_columns(pl.min_horizontal(smallest, rest).clip(lower_bound=0).alias(f"hidden_{side}"))


@dataclass(frozen=True)
class WhatIf:
    """What the total would be with a changed part.

    Attributes:
        part: The name of the part.
        factor: Its time after / before.
        before: The total in s.
        after: The total after, with bounds.
        assumption: What is assumed, in words.
        caution: What makes it doubtful; empty where nothing does.
    """

    part: str
    factor: float
    before: Interval
    after: Interval
    assumption: str
    caution: str = ""

    def __str__(self) -> str:
        saved = self.before.value - self.after.value
        head = (
            f"The total would be {self.after.value:.4g} s (between {self.after.lo:.4g} and {self.after.hi:.4g}), not "
            f"{self.before.value:.4g} s: {abs(saved):.3g} s {'less' if saved >= 0 else 'more'}."
        )
        return "\n".join(filter(None, [head, f"Assumed: {self.assumption}.", self.caution]))


def what_if(
    ledger: Ledger, part: str, *, count: float | None = None, average: float | None = None, factor: float | None = None
) -> WhatIf:
    """The total of a ledger if one part had another count, another average, or were ``factor`` times as long.

    Args:
        ledger: Of one log.
        part: The name of a part of the view `what`, or of the first view.
        count: The new count.
        average: The new average in s.
        factor: The part's time after / before; only one of the three may be given.

    Raises:
        LogError: The ledger is void, there is no such part, or its time does not answer the question; the message
            states what the total is without it, and with it.

    Examples:
        >>> from iolab.time_ledger import Account
        >>> account = Account(Interval.exact(10.0), "total call time")
        >>> _ = account.add("what", "read", Interval.exact(8.0), kind="io", count=Interval.exact(100.0))
        >>> what_if(account.ledger(), "read", average=0.04).after.value
        6.0
    """
    if ledger.total is None:
        raise LogError(f"the log has no total: {ledger.void}")
    asked = [one for one in (count, average, factor) if one is not None]
    if len(asked) != 1 or not 0 <= asked[0] < float("inf"):
        raise LogError("a what-if takes one of count, average and factor, finite and not negative")
    if ledger.unit != "s":
        raise LogError(f"the log counts {ledger.unit}, not seconds")
    view = "what" if "what" in ledger.views else ledger.views[0]
    rows = ledger.parts(view).filter((pl.col("name") == part) | (pl.col("part") == part))
    if rows.height != 1:
        names = ", ".join(ledger.parts(view).get_column("part").head(8))
        raise LogError(
            f"{'several parts are' if rows.height else 'no part is'} called {part!r}; there are {names}, ..."
        )
    row = rows.row(0, named=True)
    total, kind = ledger.total, row["kind"]
    why = _REFUSED.get(kind) or next(
        (said for word, said in _NOT_ITS_OWN.items() if word in row["name"] or word in (row["class"] or "")), ""
    )
    if why:
        least = max(0.0, total.lo - row["own_hi"])
        raise LogError(f"no what-if of {part!r}: {why}; the total is between {least:.4g} and {total.hi:.4g} s")
    if factor is None:
        old = row["count"] if count is not None else row["avg"]
        if not old:
            raise LogError(f"the log has no {'count' if count is not None else 'average'} of {part!r}; give a factor")
        factor = asked[0] / old
    own = Interval(min(max(row["seconds"], row["own_lo"]), row["own_hi"]), row["own_lo"], row["own_hi"])
    ends = [(1 - factor) * own.lo, (1 - factor) * own.hi]
    value = total.value - (1 - factor) * own.value
    after = Interval(value, min(max(0.0, total.lo - max(ends)), value), max(total.hi - min(ends), value))
    how = "" if average is None and count is None else f" because of its {'count' if average is None else 'average'}"
    assumption = f"`{part}` takes {factor:.3g} times as long{how}, all other parts are unchanged"
    closing = ledger.parts(view).filter(pl.col("level") == 0, pl.col("kind").cast(pl.String).is_in(_CLOSING))
    rest = float(closing.get_column("seconds").abs().sum())
    caution = ""
    if rest > _DOUBTFUL * total.value:
        caution = (
            f"Caution: {100 * rest / float(total.value):.0f} % of the total is not accounted for or counted twice."
        )
    return WhatIf(part, factor, total, after, f"{assumption}, without overlap", caution)
