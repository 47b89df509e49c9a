"""A pairing: two logs, or the runs of one, compared.

logframe.RefusedError
+-- UnpairedError      two logs cannot be compared, and why
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from iolab.shown import Shown
from logframe.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from iolab.time_ledger.changes import LedgerChange


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
        warning: What makes the comparison doubtful as a whole; it stands before the verdict.
        change: Where the time changed; None where the logs have no totals of one kind.
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
    warning: str = ""
    change: LedgerChange | None = None

    def with_change(self, change: LedgerChange) -> Pairing:
        """This comparison with the change of the time in front of its result, tables and charts."""
        first, *others = change.sentences
        shown = {f"{_TITLES.get(view, 'Where the time changed')}": change.table(view) for view in change.views}
        return replace(
            self,
            change=change,
            verdict=" ".join(filter(None, [self.warning, first, self.verdict])),
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
