"""Two accounts of time in one table: which part holds which share of the change; and what a changed part would save."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.metrics.formatting import figure_text
from iolab.shown import Shown
from iolab.time_ledger.parts import ASIDE, TIMED
from logframe.errors import LogError
from logframe.interval import Interval
from logframe.parsed_log import display
from logframe.wording import counted
from straceparse.call_table import IO_CALLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from iolab.time_ledger.parts import LedgerParts

#: Bases whose parts are compared per second of the period: their lists of events and statements may be cut.
_OF_PERIODS: Final = frozenset(
    {"DB time", "DB time plus background waits", "total call time", "background elapsed time", "samples x interval"}
)
_CLOSING: Final = ("not_accounted", "counted_twice")
_REST: Final = "not accounted for, less what is counted twice"
#: Bases as the subject of a sentence, where their names are not.
_SUBJECTS: Final = {
    "first to last record": "the time from the first to the last record",
    "first record to last record": "the time from the first to the last record",
    TIMED: "the time of the timed statements",
}
#: A change of the total below this share of the first total has no shares.
_LEAST_CHANGE: Final = 0.05
#: Rows of the table on a screen, and the least change of one, as a share of the largest.
_LEAST_ROW: Final = 0.005
_ROWS: Final = 12
#: Steps between the two totals, and the least change of one, as a share of the largest; the others are one step.
_STEPS: Final = 12
_LEAST_STEP: Final = 0.01
#: A part whose largest child has this share of its change is not named: the child is.
_MOST_OF_IT: Final = 0.6
#: Units of ledgers that count samples.
_COUNTS: Final = frozenset({"samples", "share"})
#: Kinds of parts that are no statement.
_NAMELESS: Final = ("unlisted", "not_in_log", *_CLOSING)
#: A second part with this share of the change is named beside the first; this many parts are named at most.
_SECOND: Final = 0.25
_MOST_NAMED: Final = 2
#: What to do next where the change has no name, and parts that have a sentence of their own.
_ASH: Final = "take an ASH report of both periods: @?/rdbms/admin/ashrpt"
_MOST_MOVES: Final = 3
#: Ratios so near to 1 are called equal.
_SAME: Final = 0.02
#: Rates of work that differ by more than this change the answer: it is given per unit of work, too.
_OTHER_RATE: Final = 0.1
#: Columns of `LedgerChange.table`.
_TABLE: Final = pl.Schema(
    {"part": pl.String()}
    | dict.fromkeys(("A", "B", "change", "% of the change", "count, B / A", "average, B / A"), pl.Float64())
)
#: Kinds of parts whose time is count x average.
_COUNTED: Final = frozenset({"io", "wait", "client"})
#: Bounds that differ by more of the figure are printed.
WIDE: Final = 0.05
#: Fewer round trips bring more rows each, and take up to this many times as long (measured: 1.17 for twice the rows).
ROUND_TRIPS: Final = "round trips"
MORE_ROWS: Final = 1.2
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
    **{name: "asynchronous requests overlap" for name, call in IO_CALLS.items() if call.direction is None},
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
        "class": pl.String(),
        "name": pl.String(),
        "status": pl.String(),
        **{f"{side}{end}": pl.Float64() for side in ("a", "b", "change") for end in ("", "_lo", "_hi")},
        "share": pl.Float64(),
        "count_a": pl.Float64(),
        "count_b": pl.Float64(),
        "by_count": pl.Float64(),
        "by_time": pl.Float64(),
        "next": pl.String(),
    }
)


@dataclass(frozen=True)
class LedgerChange(Shown):
    """The change from one ledger to another.

    Attributes:
        base: What the totals are, as in `Ledger.base`.
        a: The first total in `unit`.
        b: The second.
        unit: ``sessions active`` (s per second), ``s``, or ``ms per transaction``.
        parts: All parts of the views that both have (`CHANGES`), those of the largest change first in each view.
        is_shared: Whether the change is large enough, beyond its bounds, for shares.
        per_work: The same per unit of work, where both logs count it and its rate differs by more than 10 %.
        work_ratio: The second rate of work / the first; None where a log does not count it.
        is_work: Whether the totals are without idle and client time, whose parts stand beside them.
    """

    base: str
    a: Interval
    b: Interval
    unit: str
    parts: pl.DataFrame
    is_shared: bool
    per_work: LedgerChange | None = None
    work_ratio: float | None = None
    is_work: bool = False

    @property
    def change(self) -> Interval:
        """The second total less the first."""
        return self.b - self.a

    @property
    def views(self) -> list[str]:
        """The views that both ledgers have."""
        return self.parts.get_column("view").unique(maintain_order=True).to_list()

    def __str__(self) -> str:
        """The sentences, and the parts of each view as a table."""
        lines = list(self.sentences)
        for view in self.views:
            table = self.table(view)
            cells = [table.columns, *([str(one if one is not None else "") for one in row] for row in table.rows())]
            widths = [max(len(row[place]) for row in cells) for place in range(table.width)]
            lines.append("")
            lines += [
                "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in cells
            ]
        return "\n".join(lines)

    @property
    def subject(self) -> str:
        """The base as the subject of a sentence."""
        return _SUBJECTS.get(self.base, self.base)

    @property
    def sentence(self) -> str:
        """The total, how it changed, and the parts that hold the change; or the part that moved beside it.

        Examples:
            >>> from iolab.time_ledger import Account
            >>> def ledger(reads, cpu):
            ...     account = Account(Interval.exact(reads + cpu), "DB time")
            ...     _ = account.add("what", "DB CPU", Interval.exact(cpu), kind="cpu")
            ...     _ = account.add("what", "read", Interval.exact(reads), kind="io", count=Interval.exact(100))
            ...     return account.ledger()
            >>> print(change_of(ledger(10, 10), ledger(60, 10)).sentence)
            DB time rose from 20 to 70 s (+250 %); 100 % of the change is from `read`.
            >>> def parsed(parse, fetch):
            ...     account = Account(Interval.exact(parse + fetch), "first to last record")
            ...     _ = account.add("what", "CPU", Interval.exact(parse + fetch), kind="cpu")
            ...     _ = account.add("phase", "PARSE", Interval.exact(parse), kind="mixed")
            ...     _ = account.add("phase", "FETCH", Interval.exact(fetch), kind="mixed")
            ...     return account.ledger()
            >>> print(change_of(parsed(1, 2), parsed(4, 2)).sentence)
            The time from the first to the last record rose from 3 to 6 s (+100 %); 100 % of the change is from `CPU`,
            in parse calls.
            >>> print(change_of(ledger(50, 50), ledger(80, 20)).sentence)
            DB time hardly changed (100 and 100 s), but `DB CPU` fell by 30 s and `read` rose by 30 s.
            >>> print(change_of(ledger(80, 80), ledger(140, 40)).sentence)
            DB time rose from 160 to 180 s (+12 %): `read` rose by 60 s while other parts fell.
        """
        base = f"{self.subject[0].upper()}{self.subject[1:]}"
        first, second = figure_text(self.a.value), figure_text(self.b.value)
        most = self._leading()
        if not self.is_shared:
            but = f", but {' and '.join(map(self._moved, most))}" if most else ""
            return f"{base} hardly changed ({first} and {second} {self.unit}){but}."
        head = f"{base} {_verb(float(self.change.value))} from {first} to {second} {self.unit}"
        return f"{head}{self.ratio}{self.cause()}"

    @property
    def ratio(self) -> str:
        """The change in per cent of A, in brackets; empty of a total that was 0."""
        return f" ({_relative(self.a.value, self.b.value)})" if self.a.value else ""

    def cause(self, *, is_short: bool = False) -> str:
        """What holds the change of a total, as the end of a sentence; in short without words that the total says."""
        most = self._leading()
        if not most:
            return "; no part has most of the change."
        shares = [(row, float(row["share"] or 0)) for row in most]
        if sum(share for _, share in shares) > 1 + _LEAST_CHANGE:
            others = "fell" if self.change.value > 0 else "rose"
            return f": {' and '.join(map(self._moved, most))} while other parts {others}."
        if shares[0][1] < _SECOND:
            name = "time not accounted for" if most[0]["kind"] in _CLOSING else f"`{most[0]['name']}`"
            return f", spread over many parts: the largest, {name}, has {100 * shares[0][1]:.0f} % of it."
        named = [(f"{100 * min(share, 1):.0f} %", _place(row)) for row, share in shares]
        (share, place), *others_of = named
        phase = self._leading("phase")[:1]
        parsing = ", in parse calls" if any(_is_parsing(row) for row in phase) else ""
        is_closing = most[0]["kind"] in _CLOSING
        if is_short and is_closing and not others_of and not parsing:
            return f"; {share} of the change has an unknown cause."
        of = "" if is_short and not is_closing else " of the change"
        said = " and ".join([f"{share}{of} is {place}{parsing}", *(" ".join(one) for one in others_of)])
        return f"; {said}: its cause is unknown." if is_closing else f"; {said}."

    @property
    def sentences(self) -> list[str]:
        """The sentence; whether its part occurs more often or takes longer; the statement; the change per work."""
        said = [self.sentence]
        most = self._leading()
        if most and most[0]["by_count"] is not None and most[0]["a"] > 0:
            row = most[0]
            often = row["count_b"] / row["count_a"]
            longer = row["b"] / row["a"] / often
            said.append(f"`{row['name']}` occurs {_times(often)} often, and takes {_times(longer)} long each time.")
        if self.is_work:
            aside = self.parts.filter(pl.col("view") == self.views[0], pl.col("kind").is_in(list(ASIDE)))
            large = aside.filter(pl.col("change").abs() > _LEAST_CHANGE * abs(self.a.value))
            said += [f"Outside this total, {self._moved(row)}." for row in large.head(1).iter_rows(named=True)]
        if "who" in self.views[1:] and (most := self._leading("who")):
            share = float(most[0]["share"] or 0)
            of_it = f", {100 * share:.0f} % of the change" if 0 < share <= 1 + _LEAST_CHANGE else ""
            said.append(f"Among the statements, {self._moved(most[0])}{of_it}.")
        if self.per_work is not None and self.work_ratio is not None:
            said.append(f"B has {figure_text(self.work_ratio)} times as many transactions per second.")
            said.append(self.per_work.sentence)
        return said

    @property
    def moves(self) -> list[tuple[float | None, str, str, str]]:
        """Share of the change, sentence, next step and part: of the largest changes, then of a statement that is large.

        The last is the largest part whose count and average moved against each other, so that its change is small.

        Examples:
            >>> from iolab.time_ledger import Account
            >>> def ledger(cpu, reads, each):
            ...     account, time = Account(Interval.exact(cpu + reads * each), "DB time"), Interval.exact(reads * each)
            ...     _ = account.add("what", "DB CPU", Interval.exact(cpu), kind="cpu")
            ...     _ = account.add("what", "read", time, kind="io", count=Interval.exact(reads))
            ...     return account.ledger()
            >>> for move in ledger(10, 300, 0.1).compare(ledger(20, 102, 0.3)).moves: print(move[1])
            `DB CPU` rose by 10 s.
            `read` rose by 0.600 s: 66 % less often, 3 times as long each time.
        """
        if self.parts.is_empty():
            return []
        own = self.parts.filter(pl.col("view") == self.views[0])
        whole = abs(self.change.value if self.is_shared else self.a.value)
        leaves = own.filter(
            ~pl.col("part").is_in(own.get_column("parent").drop_nulls().to_list()),
            ~pl.col("kind").is_in(["contains", *(ASIDE if self.is_work else ())]),
            (pl.col("change_lo") > 0) | (pl.col("change_hi") < 0),
        ).sort(pl.col("change").abs(), descending=True, maintain_order=True)
        is_large = pl.col("change").abs() >= _LEAST_CHANGE * whole
        most = leaves.filter(is_large).head(_MOST_MOVES).to_dicts()
        who = [row for row in self._leading("who")[:1] if abs(row["change"]) >= _LEAST_CHANGE * whole]
        against = pl.min_horizontal(pl.col("by_count").abs(), pl.col("by_time").abs())
        hidden = leaves.filter(~is_large, against >= _LEAST_CHANGE * whole).sort(against, descending=True).head(1)
        said: list[tuple[float | None, str, str, str]] = []
        for row in [*most, *(who if "who" in self.views[1:] else []), *hidden.to_dicts()]:
            how = ""
            if row["by_count"] is not None and row["a"] > 0:
                often = row["count_b"] / row["count_a"]
                longer = _ratio(row["b"] / row["a"] / often, "long", "shorter")
                how = f": {_ratio(often, 'often', 'less often')}, {longer} each time"
            moved = self._moved(row)
            step = _ASH if self.base == "DB time" and row["kind"] in _CLOSING else row["next"] or ""
            said.append((row["share"], f"{moved[0].upper()}{moved[1:]}{how}.", step, row["part"]))
        return said

    def table(self, view: str | None = None) -> pl.DataFrame:
        """The parts of a view with the largest changes, children below their parents, and the total.

        Columns: ``part`` with the unit, both figures rounded to four digits, ``change``, ``% of the change``, the
        ratios ``count, B / A`` and ``average, B / A``; empty columns are left out.
        """
        view = view or self.views[0]
        size = pl.col("change").abs()
        rows = self.parts.filter(pl.col("view") == view).filter(size > 0, size >= _LEAST_ROW * size.max())
        listed = rows.head(_ROWS).to_dicts()
        made = [_cells(row, level) for row, level in _as_tree(listed, None, {row["part"] for row in listed}, 0)]
        total = {"part": "total", "A": self.a.value, "B": self.b.value, "change": self.change.value}
        frame = pl.DataFrame([*made, total], schema=_TABLE).rename({"part": f"part ({self.unit})"})
        frame = frame.with_columns(pl.selectors.float().round_sig_figs(4))
        return frame.select(name for name in frame.columns if frame[name].null_count() < frame.height)

    def steps(self) -> list[dict[str, Any]]:
        """The way from the first total to the second: parts with no part within, the largest change first.

        The rows of `parts`; small changes are one last row, unless count and average changed much against each
        other. Their changes add up to `change`; the list is empty where nothing changed.
        """
        own = self.parts.filter(pl.col("view") == pl.lit(next(iter(self.views), None)), pl.col("kind") != "contains")
        if self.is_work:
            own = own.filter(~pl.col("kind").is_in(list(ASIDE)))
        within = own.get_column("parent").drop_nulls().to_list()
        leaves = own.filter(~pl.col("part").is_in(within), pl.col("change") != 0)
        size = pl.col("change").abs()
        against = pl.min_horizontal(pl.col("by_count").abs(), pl.col("by_time").abs()).fill_null(0.0)
        is_large = (size >= _LEAST_STEP * size.max()) | (against >= _LEAST_CHANGE * size.max())
        large = leaves.filter(is_large).sort(size, "part", descending=[True, False])
        rows = large.head(_STEPS).to_dicts()
        left = {side: float(getattr(self, side).value) - sum(row[side] for row in rows) for side in "ab"}
        moved, count = left["b"] - left["a"], leaves.height - len(rows)
        if count or abs(moved) > _LEAST_STEP * max((abs(row["change"]) for row in rows), default=0.0):
            rest = dict.fromkeys(own.columns) | left | {"kind": "mixed", "change": moved, "status": "both"}
            share = moved / float(self.change.value) if self.is_shared else None
            rows.append(rest | {"name": counted(count, "other part") if count else "other parts", "share": share})
        return rows

    def to_chart(self) -> Any:  # noqa: ANN401 - a chart, imported on use
        """The way from the first total to the second as a waterfall (`iolab.charts.ledger_change`)."""
        return display().ledger_chart(self)

    def _moved(self, row: dict[str, Any]) -> str:
        """How a part changed."""
        name = "time not accounted for" if row["kind"] in _CLOSING else f"`{row['name']}`"
        unit = self.unit.removesuffix(" active")
        if row["status"] == "new":
            return f"{name} appeared with {figure_text(row['b'])} {unit}"
        if row["status"] == "vanished":
            return f"{name} disappeared with {figure_text(row['a'])} {unit}"
        return f"{name} {_verb(row['change'])} by {figure_text(abs(row['change']))} {unit}"

    def _leading(self, view: str | None = None) -> list[dict[str, Any]]:
        """The parts to name: the largest change in the direction of the total, and a second one that is large, too.

        Where the total hardly changed, the parts that moved most.  A child is named instead of its parent where it has
        most of the parent's change.
        """
        if self.parts.is_empty():
            return []
        rows = self.parts.filter(
            pl.col("view") == (view or self.views[0]),
            ~pl.col("kind").is_in(["contains", *(_NAMELESS if view else ())]),
            (pl.col("change_lo") > 0) | (pl.col("change_hi") < 0),
        )
        if self.is_work:
            rows = rows.filter(~pl.col("kind").is_in(list(ASIDE)))
        if self.is_shared:
            rows = rows.filter(pl.col("change") * float(self.change.value) > 0)
        else:  # a part that moved by little is not named
            rows = rows.filter(pl.col("change").abs() > _LEAST_CHANGE * abs(self.a.value))
        below: dict[str | None, list[dict[str, Any]]] = {}
        for row in rows.sort(pl.col("change").abs(), descending=True, maintain_order=True).iter_rows(named=True):
            below.setdefault(row["parent"], []).append(row)
        found: list[dict[str, Any]] = []
        for top in below.get(None, [])[:_MOST_NAMED]:
            named = top
            while (inner := below.get(named["part"])) and abs(inner[0]["change"]) >= _MOST_OF_IT * abs(named["change"]):
                named = inner[0]
            largest = self.change.value if self.is_shared else (found or [named])[0]["change"]
            if not found or abs(named["change"]) >= _SECOND * abs(largest):
                found.append(named)
        return found


def _times(ratio: float) -> str:
    return "as" if abs(ratio - 1) < _SAME else f"{figure_text(ratio)} times as"


def _ratio(ratio: float, what: str, less: str) -> str:
    """How often, or how long, compared with before.

    Examples:
        >>> _ratio(2.734, "long", "shorter"), _ratio(0.336, "often", "less often"), _ratio(1.01, "often", "less often")
        ('2.73 times as long', '66 % less often', 'as often')
    """
    return f"{100 * (1 - ratio):.0f} % {less}" if ratio < 1 - _SAME else f"{_times(ratio)} {what}"


def _is_parsing(phase: dict[str, Any]) -> bool:
    """Is most of the change in parse calls?  Execute and fetch calls hold the work itself: they need no mention."""
    return phase["name"].casefold() == "parse" and (phase["share"] or 0) >= _MOST_OF_IT


def _relative(a: float, b: float) -> str:
    """The change in per cent; below 1 % of it the fraction that is left.

    Examples:
        >>> _relative(20, 70), _relative(8.01, 0.00204), _relative(8, 0)
        ('+250 %', '1/3,926 of it', '-100 %')
    """
    return f"1/{a / b:,.0f} of it" if 0 < 100 * b < a else f"{100 * (b - a) / a:+,.0f} %"


def _verb(change: float) -> str:
    return "rose" if change > 0 else "fell"


def _place(row: dict[str, Any]) -> str:
    """Where a share of the change is."""
    if row["kind"] in _CLOSING:
        return "not accounted for"
    new = {"new": ", which only B lists", "vanished": ", which only A lists"}.get(row["status"], "")
    return f"from `{row['name']}`{new}"


def _cells(row: dict[str, Any], level: int) -> dict[str, object]:
    """A part as a row of `LedgerChange.table`."""
    often = longer = None
    if row["by_count"] is not None and row["a"] > 0:
        often = row["count_b"] / row["count_a"]
        longer = row["b"] / row["a"] / often
    side = {"new": "a", "vanished": "b"}.get(row["status"])
    most = f" ({side.upper()}: at most {figure_text(row[f'{side}_hi'])})" if side and row[f"{side}_hi"] else ""
    return {
        "part": f"{'- ' * level}{row['name']}{most}",
        "A": None if row["status"] == "new" else row["a"],
        "B": None if row["status"] == "vanished" else row["b"],
        "change": row["change"],
        "% of the change": None if row["share"] is None else float(round(100 * row["share"])),
        "count, B / A": often,
        "average, B / A": longer,
    }


def _as_tree(
    rows: list[dict[str, Any]], parent: str | None, there: set[str], level: int
) -> Iterator[tuple[dict[str, Any], int]]:
    """Rows with their depth, each below its parent where that is there."""
    for row in rows:
        above = row["parent"] if row["parent"] in there else None
        if above == parent and row["part"] != parent:
            yield row, level
            yield from _as_tree(rows, row["part"], there, level + 1)


def change_of(a: LedgerParts | Sequence[LedgerParts], b: LedgerParts | Sequence[LedgerParts]) -> LedgerChange:
    """Every part of two ledgers, or of the sums of two sets of them, and its share of the change of the total.

    Reports are compared per second of their periods, other logs as they are; where transactions per second differ by
    more than 10 %, reports are compared per transaction, too.  Statements of sessions are matched by their texts.

    Raises:
        LogError: A ledger is void, or their totals are not of the same kind.

    Examples:
        >>> from iolab.time_ledger import Account
        >>> def ledger(reads, each):
        ...     account = Account(Interval.exact(10.0 + reads * each), "total call time")
        ...     _ = account.add("what", "CPU", Interval.exact(10.0), kind="cpu")
        ...     _ = account.add("what", "read", Interval.exact(reads * each), kind="io", count=Interval.exact(reads))
        ...     return account.ledger()
        >>> for sentence in change_of(ledger(100, 0.1), ledger(300, 0.2)).sentences: print(sentence)
        Total call time rose from 20 to 70 s (+250 %); 100 % of the change is from `read`.
        `read` occurs 3 times as often, and takes 2 times as long each time.
    """
    a, b = _sum_of(a, "first"), _sum_of(b, "second")
    if a.base != b.base or a.unit != b.unit:
        raise LogError(f"the totals are of different kinds: {a.base} and {b.base}")
    is_period = a.base in _OF_PERIODS and all(one.elapsed is not None and one.elapsed.lo > 0 for one in (a, b))
    lengths = [one.elapsed.value if is_period and one.elapsed is not None else 1.0 for one in (a, b)]
    unit = "sessions active" if is_period else a.unit
    if a.unit in _COUNTS and a.total is not None and b.total is not None:  # how many were taken has no meaning
        lengths, unit = [a.total.value, b.total.value], "share of all"
    change = _between(a, b, lengths, unit)
    if is_period and a.transactions and b.transactions:
        ratio = b.transactions / lengths[1] / (a.transactions / lengths[0])
        per_ms = [a.transactions / 1e3, b.transactions / 1e3]
        per_work = _between(a, b, per_ms, "ms per transaction") if abs(ratio - 1) > _OTHER_RATE else None
        return replace(change, per_work=per_work, work_ratio=ratio)
    return change


def _sum_of(ledgers: LedgerParts | Sequence[LedgerParts], name: str) -> LedgerParts:
    """A set of ledgers of one kind as one, whose parts may have several rows."""
    first, *others = ledgers if isinstance(ledgers, Sequence) else [ledgers]
    for one in (first, *others):
        if one.total is None or one.void:
            raise LogError(f"the {name} log has no total: {one.void}")
        if (one.base, one.unit) != (first.base, first.unit):
            raise LogError(f"the totals are of different kinds: {first.base} and {one.base}")
        if one is not first and first.total is not None:
            first = replace(
                first,
                total=first.total + one.total,
                frame=pl.concat([first.frame, one.frame]),
                elapsed=None if first.elapsed is None or one.elapsed is None else first.elapsed + one.elapsed,
                transactions=first.transactions and one.transactions and first.transactions + one.transactions,
                hidden={view: most + one.hidden[view] for view, most in first.hidden.items() if view in one.hidden},
            )
    return first


def _named_alike(first: pl.DataFrame, second: pl.DataFrame) -> pl.DataFrame:
    """The second side with the names of the first: text and HTML print different lengths of one statement's text.

    Statspack names a statement by a hash value and AWR by its SQL id: those of one text are one statement.
    """
    parts = [side.filter(view="who").get_column("part").unique().to_list() for side in (first, second)]
    kinds = [any(part.partition(" ")[0].isdigit() for part in side) for side in parts]
    place = 2 if kinds[0] != kinds[1] else 0
    named: list[dict[str, list[str]]] = [{}, {}]
    for found, side in zip(named, parts, strict=True):
        for part in side:
            found.setdefault(part.partition(" ")[place], []).append(part)
    renamed = {
        own[0]: named[0][word][0]
        for word, own in named[1].items()
        if (place or (word.isalnum() and any(map(str.isdigit, word)))) and len(own) == len(named[0].get(word, ())) == 1
    }
    return second.with_columns(pl.col("part").replace(renamed))


def _between(a: LedgerParts, b: LedgerParts, lengths: list[float], unit: str) -> LedgerChange:
    """The change between two ledgers, each divided by a length."""
    a, b = _levelled(a, b), _levelled(b, a)
    is_work = any(one.work and one.total and one.work.value < one.total.value for one in (a, b))
    wholes = [one.work if is_work and one.work is not None else one.total for one in (a, b)]
    totals = [whole / length for whole, length in zip(wholes, lengths, strict=True) if whole is not None]
    change = totals[1] - totals[0]
    is_shared = (change.lo > 0 or change.hi < 0) and abs(change.value) > _LEAST_CHANGE * totals[0].value
    is_cut = a.base in _OF_PERIODS
    sides = [_side(one, length, name, is_cut=is_cut) for one, length, name in zip((a, b), lengths, "ab", strict=True)]
    views = [view for view in a.views if view in b.views]
    sides[1] = _named_alike(*sides)
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
        **{one: pl.coalesce(f"{one}_a", f"{one}_b") for one in ("kind", "class", "name")},
        next=pl.coalesce("next_b", "next_a"),
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
    is_aside = pl.col("kind").is_in(list(ASIDE)) & is_work
    is_split = (pl.col("count_a") > 0) & (pl.col("count_b") > 0) & pl.col("kind").is_in(list(_COUNTED))
    mean_average = (pl.col("a") / pl.col("count_a") + pl.col("b") / pl.col("count_b")) / 2
    by_count = (pl.col("count_b") - pl.col("count_a")) * mean_average
    both = both.with_columns(
        change=delta,
        change_lo=pl.col("b_lo") - pl.col("a_hi"),
        change_hi=pl.col("b_hi") - pl.col("a_lo"),
        share=pl.when(pl.lit(is_shared) & ~is_aside).then(delta / (change.value or 1.0)),
        by_count=pl.when(is_split).then(by_count),
        by_time=pl.when(is_split).then(delta - by_count),
    )
    order = {view: number for number, view in enumerate(views)}
    place = pl.col("view").replace_strict(order, return_dtype=pl.Int64, default=None)
    table = both.sort(place, pl.col("change").abs(), "part", descending=[False, True, False])
    parts = table.select(pl.col(one).cast(kind) for one, kind in CHANGES.items())
    base = "time without idle and client time" if is_work else a.base
    return LedgerChange(base, totals[0], totals[1], unit, parts, is_shared, is_work=is_work)


def _levelled(ledger: LedgerParts, other: LedgerParts) -> LedgerParts:
    """A ledger without the classes of which the other has events and no sum: their events stand beside each other."""
    top = other.frame.filter(pl.col("parent").is_null())
    loose = {*top.get_column("class").drop_nulls()} - {*top.get_column("part")}
    names = sorted(loose & {*ledger.frame.get_column("parent").drop_nulls()})
    kept = ledger.frame.filter(~pl.col("part").is_in(names) | pl.col("parent").is_not_null())
    within = pl.when(~pl.col("parent").is_in(names)).then("parent").alias("parent")
    return replace(ledger, frame=kept.with_columns(within)) if names else ledger


def _side(ledger: LedgerParts, length: float, side: str, *, is_cut: bool) -> pl.DataFrame:
    """The parts of one ledger per unit, the closing parts of a level as one, with what the level's list may hide."""
    kind = pl.col("kind").cast(pl.String)
    is_closing = kind.is_in(_CLOSING)
    level = pl.concat_str(pl.col("parent").fill_null(""), pl.lit(f"/{_REST}"))
    is_text = (pl.col("view") == "who") & pl.lit(ledger.base == TIMED)
    text = pl.col("name").str.splitn(": ", 2).struct.field("field_1").fill_null(pl.col("name"))  # without its number
    parts = ledger.frame.with_columns(
        kind.alias("kind"),
        pl.col("view").cast(pl.String),
        part=pl.when(is_closing).then(level).when(is_text).then(text.str.to_lowercase()).otherwise("part"),
        name=pl.when(is_closing).then(pl.lit(_REST)).when(is_text).then(text).otherwise("name"),
    )
    times = {side: "seconds", f"{side}_lo": "seconds_lo", f"{side}_hi": "seconds_hi", f"count_{side}": "count"}
    grouped = parts.group_by("view", "part", maintain_order=True).agg(
        *(
            pl.when(pl.col(name).count() > 0).then(pl.col(name).sum() / length).alias(new)
            for new, name in times.items()
        ),
        pl.col("parent").first().alias(f"parent_{side}"),
        *(pl.col(one).first().alias(f"{one}_{side}") for one in ("kind", "class", "name", "next")),
        parent=pl.col("parent").first(),
    )
    if not is_cut:
        return grouped.with_columns(pl.lit(0.0).alias(f"hidden_{side}"))
    is_unknown = pl.col(f"kind_{side}").is_in(["unlisted", "not_in_log", "not_accounted"])
    top = pl.col(f"{side}_hi")
    smallest = top.filter(~is_unknown & ~pl.col(f"kind_{side}").is_in(["counted_twice", "contains"])).min()
    listed = {view: most / length for view, most in ledger.hidden.items()}
    stated = pl.col("view").replace_strict(listed, default=None, return_dtype=pl.Float64)
    smallest = pl.coalesce(stated, smallest.over("view", "parent"))
    rest = top.filter(is_unknown).sum().over("view", "parent")
    return grouped.with_columns(pl.min_horizontal(smallest, rest).clip(lower_bound=0).alias(f"hidden_{side}"))


@dataclass(frozen=True)
class WhatIf(Shown):
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
        width = self.after.hi - self.after.lo
        ends = f" (between {self.after.lo:.4g} and {self.after.hi:.4g})" if width > WIDE * self.after.value else ""
        head = (
            f"The total would be {self.after.value:.4g} s{ends}, not {self.before.value:.4g} s: {abs(saved):.3g} s "
            f"{'less' if saved >= 0 else 'more'}."
        )
        return "\n".join(filter(None, [head, f"Assumed: {self.assumption}.", self.caution]))


def what_if(
    ledger: LedgerParts,
    part: str,
    *,
    count: float | None = None,
    average: float | None = None,
    factor: float | None = None,
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
    detail = _REFUSED.get(kind) or next(
        (said for word, said in _NOT_ITS_OWN.items() if word in row["name"] or word in (row["class"] or "")), ""
    )
    if detail:
        least = max(0.0, total.lo - row["own_hi"])
        raise LogError(f"no what-if of {part!r}: {detail}; the total is between {least:.4g} and {total.hi:.4g} s")
    if factor is None:
        old = row["count"] if count is not None else row["avg"]
        if not old:
            raise LogError(f"the log has no {'count' if count is not None else 'average'} of {part!r}; give a factor")
        factor = asked[0] / old
    own = Interval(min(max(row["seconds"], row["own_lo"]), row["own_hi"]), row["own_lo"], row["own_hi"])
    ends = [(1 - factor) * own.lo, (1 - factor) * own.hi]
    is_larger = count is not None and factor < 1 and row["name"].startswith(ROUND_TRIPS)
    if is_larger:
        ends += [(1 - factor * MORE_ROWS) * own.lo, (1 - factor * MORE_ROWS) * own.hi]
    value = total.value - (1 - factor) * own.value
    after = Interval(value, min(max(0.0, total.lo - max(ends)), value), max(total.hi - min(ends), value))
    how = "" if average is None and count is None else f" because of its {'count' if average is None else 'average'}"
    assumption = f"`{part}` takes {factor:.3g} times as long{how}, all other parts are unchanged"
    assumption += ", a trip with more rows takes 0 to 20 % longer" if is_larger else ""
    closing = ledger.parts(view).filter(pl.col("level") == 0, pl.col("kind").cast(pl.String).is_in(_CLOSING))
    rest = float(closing.get_column("seconds").abs().sum())
    caution = ""
    if rest > _DOUBTFUL * total.value:
        share = f"{100 * rest / total.value:.0f} % of the total" if total.value else f"{rest:.4g} s beside a total of 0"
        caution = f"Caution: {share} is not accounted for or counted twice."
    return WhatIf(part, factor, total, after, f"{assumption}, without overlap", caution)
