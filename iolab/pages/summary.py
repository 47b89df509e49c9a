"""The summary of one log: what it is, its main frames, figures and charts, and what was not read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from iolab.loading import load
from iolab.rules.run import findings
from iolab.time_ledger.run import ledgers
from iolab.views import view_of

if TYPE_CHECKING:
    import polars as pl

    from iolab.time_ledger.account import Ledger
    from iolab.views import Summary
    from logframe import Source
    from logframe.formats import ParsedLog


@dataclass(frozen=True)
class LogSummary:
    """The summary of one log.

    Attributes:
        what: What the log is, in a few words.
        log: The log as `iolab.load` returns it.
    """

    what: str
    log: ParsedLog

    @cached_property
    def summary(self) -> Summary:
        """What the view of its format shows: made for those who look at tables, figures or charts."""
        return view_of(self.log.format).summarize(self.log)

    @property
    def frames(self) -> dict[str, pl.DataFrame]:
        """Its main frames by name."""
        return self.summary.frames

    @property
    def figures(self) -> pl.DataFrame:
        """Its metrics (`iolab.metrics.METRICS`); may be empty."""
        return self.summary.figures

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences to show beside the figures."""
        return self.summary.notes

    @cached_property
    def findings(self) -> pl.DataFrame:
        """What the log says first (`iolab.rules.finding.FINDINGS`)."""
        return findings(self.log)

    @cached_property
    def ledger(self) -> Ledger | None:
        """The account of its time (`iolab.ledger`); None of a log that states no times."""
        return next(iter(ledgers(self.log)), None)

    @cached_property
    def headline(self) -> str:
        """What it is, of which database or program, host and period."""
        headline = view_of(self.log.format).headline
        return (headline(self.log) if headline is not None else "") or self.what

    @property
    def diagnostics(self) -> pl.DataFrame:
        """What was not read, or is doubtful (`logframe.DIAGNOSTICS`)."""
        return self.log.diagnostics

    def __repr__(self) -> str:
        return f"<LogSummary {self.log.source}: {self.what}>"

    def _repr_html_(self) -> str:
        return self.log._repr_html_()

    def charts(self, *, name: str = "log") -> list[Any]:
        """The charts of the log; none where it has nothing to draw.

        Args:
            name: What to call the log in a chart.
        """
        from iolab.charts import ChartError  # noqa: PLC0415 - charts are loaded for those who look at them

        drawn = []
        for draw in self.summary.drawers.values():
            try:
                drawn.append(draw(name))
            except ChartError:
                continue
        return drawn


def summarize(source: ParsedLog | Source, *, format: str | None = None) -> LogSummary:  # noqa: A002 - the field's word
    r"""The summary of a log of any registered format.

    Args:
        source: As for `iolab.load`.
        format: As for `iolab.load`.

    Raises:
        LogNotFoundError: Nothing is there.
        LogParseError: It is no known log.

    Examples:
        >>> summarize(b"     0.000123 pread64(268, '', 8192, 0) = 8192\n").what
        'strace log, 1 line'
    """
    log = load(source, format=format)
    return LogSummary(log.describe(), log)
