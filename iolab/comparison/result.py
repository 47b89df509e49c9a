"""A pairing: two logs, or the runs of one, compared, and the options of comparisons.

logframe.RefusedError
+-- UnpairedError      two logs cannot be compared, and why
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, cast, get_args

from iolab.shown import Shown
from iolab.stats.samples import SampleError, check_threshold
from logframe.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from iolab.time_ledger.changes import LedgerChange
    from logframe.interval import Interval


Design = Literal["auto", "rounds", "samples"]
Order = Literal["unknown", "sequential", "turns", "abba"]


@dataclass(frozen=True, slots=True)
class Options:
    """How sessions are compared.

    Attributes:
        threshold: The smallest relative difference that matters.
        design: ``rounds`` pairs the runs, ``samples`` does not, ``auto`` follows the order.
        order: How the runs of the two logs were made, which no log shows: ``sequential``, in ``turns``, or ``abba``.
    """

    threshold: float = 0.02
    design: Design = "auto"
    order: Order = "unknown"

    @classmethod
    def checked(cls, threshold: float, design: str, order: str) -> Options:
        """The options of a command line.

        Raises:
            SampleError: If the threshold is no share between 0 and 1, or a word is not known.

        Examples:
            >>> Options.checked(0.05, "rounds", "turns")
            Options(threshold=0.05, design='rounds', order='turns')
        """
        check_threshold(threshold)
        if design not in get_args(Design) or order not in get_args(Order):
            raise SampleError(f"no design {design!r} of order {order!r}")
        return cls(threshold, cast("Design", design), cast("Order", order))

    def places(self, runs_a: int, runs_b: int) -> tuple[list[int], list[int]] | tuple[None, None]:
        """The places of the runs in the order of all.

        Examples:
            >>> Options(order="abba").places(3, 3), Options().places(2, 2)
            (([0, 3, 4], [1, 2, 5]), (None, None))
        """
        if self.order == "unknown":
            return None, None
        if self.order == "sequential":
            return list(range(runs_a)), list(range(runs_a, runs_a + runs_b))
        flips = (lambda turn: turn % 2) if self.order == "abba" else (lambda _: 0)
        return (
            [2 * turn + flips(turn) for turn in range(runs_a)],
            [2 * turn + 1 - flips(turn) for turn in range(runs_b)],
        )


class UnpairedError(RefusedError):
    """Two logs cannot be compared; the message is the reason."""


WHAT_CHANGED: Final = "What took the time"
#: Titles of the tables of a change by view.
_TITLES: Final = {
    "what": WHAT_CHANGED,
    "who": "Whose time it was",
    "where": "Where the time was spent",
    "when": "When the time was spent",
}


class SampledStatement(NamedTuple):
    """A statement that samples name and no list: in words, and its share of the samples of both; 0 where unknown."""

    sentence: str
    sql_id: str
    text: str
    shares: tuple[Interval, Interval]

    @property
    def moved(self) -> str:
        """How its share changed, in a word or as a ratio."""
        a, b = (one.value for one in self.shares)
        return "new" if not a else "gone" if not b else f"× {b / a:.3g}"

    def share_of(self, change: LedgerChange) -> float:
        """Which share of a change its samples have."""
        a, b = (one.value * total.value for one, total in zip(self.shares, (change.a, change.b), strict=True))
        return float((b - a) / change.change.value) if change.is_shared else 0.0


@dataclass(frozen=True)
class Pairing(Shown):
    """Two logs, or the runs of one session, compared; or the reason why they are not.

    Attributes:
        names: What the logs are called.
        why: What makes them a pair.
        paragraphs: The result in words, each a paragraph.
        frames: The figures by title; ``a`` is of the first log, ``b`` of the second.
        tables: The same for readers, where the frames are too long for them.
        is_lettered: The words and tables call the logs A and B.
        refusal: Why there is no comparison; empty where there is one.
        drawers: Functions that draw a chart each; they may raise `iolab.charts.ChartError`.
        verdict: The result in one sentence, or what leaves it open.
        beside: What of it is not about the change of the time.
        warning: What makes the comparison doubtful as a whole; it stands before the verdict.
        change: Where the time changed; None where the logs have no totals of one kind.
        not_compared: What could not be compared, and the reason.
        sampled: The statement that only samples name; None where the logs have none.
    """

    names: tuple[str, ...]
    why: str = ""
    paragraphs: tuple[str, ...] = ()
    frames: dict[str, pl.DataFrame] = field(default_factory=dict)
    tables: dict[str, pl.DataFrame] = field(default_factory=dict)
    is_lettered: bool = False
    refusal: str = ""
    drawers: tuple[Callable[[], Any], ...] = ()
    verdict: str = ""
    beside: str = ""
    warning: str = ""
    change: LedgerChange | None = None
    not_compared: tuple[tuple[str, str], ...] = ()
    sampled: SampledStatement | None = None

    def with_change(self, change: LedgerChange) -> Pairing:
        """This comparison with the change of the time in front of its result, tables and charts."""
        first, *others = change.sentences
        shown = {f"{_TITLES.get(view, 'Where the time changed')}": change.table(view) for view in change.views}
        return replace(
            self,
            change=change,
            verdict=" ".join(filter(None, [self.warning, first, self.verdict])),
            beside=self.verdict,
            paragraphs=(*filter(None, [" ".join(others)]), *(one for one in self.paragraphs if one != self.verdict)),
            frames={"Where the time changed": change.parts, **self.frames},
            tables={**shown, **(self.tables or self.frames)},
            is_lettered=True,
            drawers=(change.to_chart, *self.drawers),
        )

    @property
    def title(self) -> str:
        """The names as a heading."""
        return " and ".join(self.names)

    @property
    def legend(self) -> str:
        """Which log the letters are of; empty without any."""
        return "; ".join(map("{}: {}".format, "AB", self.names)) if self.is_lettered else ""

    def __str__(self) -> str:
        """The result in words."""
        said = [f"Not compared: {self.refusal}."] if self.refusal else self.paragraphs
        head = [f"{self.title}: {self.why}." if self.why else self.title]
        return "\n\n".join([*filter(None, [self.verdict]), *head, *filter(None, [self.legend]), *said])

    def charts(self) -> list[Any]:
        """The charts of the pairing; none where there is nothing to draw."""
        from iolab.charts import ChartError  # noqa: PLC0415 - charts are loaded for those who look at them

        drawn = []
        for draw in self.drawers:
            try:
                drawn.append(draw())
            except ChartError:
                continue
        return drawn
