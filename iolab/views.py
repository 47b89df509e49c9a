"""What iolab shows of a log and compares it with, by its format.

A `View` belongs to one format and is registered under the entry-point group ``iolab.views`` with the format's name.
A format without a view is shown by its frames alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Final, cast

import polars as pl

from iolab.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from iolab.comparison.result import Options, Pairing
    from iolab.rules.finding import Finding
    from iolab.time_ledger.account import Ledger
    from logframe.formats import ParsedLog

GROUP: Final = "iolab.views"


@dataclass(frozen=True)
class Summary:
    """What is shown first of a log.

    Attributes:
        frames: Its main frames by name.
        figures: Its metrics (`iolab.metrics.METRICS`); may be empty.
        notes: Sentences to show beside the figures.
        drawers: Functions that take the log's name and draw a chart each, by the name of the function of
            `iolab.charts` that says what to read from it; they may raise `iolab.charts.ChartError`.
    """

    frames: dict[str, pl.DataFrame]
    figures: pl.DataFrame
    notes: tuple[str, ...] = ()
    drawers: Mapping[str, Callable[[str], Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class View:
    """What iolab does with the logs of one format.

    Attributes:
        summarize: The summary of a log.
        noun: What one such log is called in a sentence.
        compare: Name of another format, or of this one, to the function that compares a log of this format with one of
            it; the function takes both logs, their names and `iolab.comparison.Options`, and raises
            `iolab.comparison.UnpairedError` with a reason.
        compares_times: Two logs of this format compare by their times, too, where `compare` refuses them.
        relate: Completes logs of this format that belong together by one another; takes and gives them by name.
        compare_runs: Compares what one log repeats; takes the log and its name, and gives None where nothing is.
        findings: What a log says first (`iolab.findings`).
        other_steps: Patterns of what to do next -> what is done in their place where a log is from.
        looked_at: What the findings are about, for the sentence that nothing stands out.
        ledgers: The accounts of the log's time (`iolab.time_ledger.Ledger`), the lead one first.
        columns: Texts that a screen shows of statements instead of count and average, by ``part`` of the ledger.
        headline: What the log is, of which database or program, host and period, in one line.
        buckets: Distributions of times to draw (`iolab.metrics.histograms.BUCKETS`), where the log is one of them.
        span: When the log begins and ends, without a zone, and whether that is UTC; None where it has no date.
        pair_findings: Name of another format, or of this one, to the function that says what a log of this format and
            one of it say together (what changed, what contradicts); it takes the name and the log of each.
    """

    summarize: Callable[[Any], Summary]
    noun: str = "log"
    compare: Mapping[str, Callable[[Any, Any, tuple[str, str], Options], Pairing]] = field(default_factory=dict)
    compares_times: bool = False
    relate: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    compare_runs: Callable[[Any, str], Pairing | None] | None = None
    findings: Callable[[Any], Iterable[Finding]] | None = None
    looked_at: str = ""
    other_steps: Callable[[Any], Mapping[str, str]] | None = None
    ledgers: Callable[[Any], Iterable[Ledger]] | None = None
    headline: Callable[[Any], str] | None = None
    columns: Callable[[Any], pl.DataFrame] | None = None
    buckets: Callable[[Any], pl.DataFrame] | None = None
    span: Callable[[Any], tuple[datetime, datetime, bool] | None] | None = None
    pair_findings: Mapping[str, Callable[[tuple[str, Any], tuple[str, Any]], Iterable[Finding]]] = field(
        default_factory=dict
    )


def summarize_frames(log: ParsedLog) -> Summary:
    """The frames of a log of a format that has no view of its own."""
    frames = {name: frame.lazy().collect() for name, frame in log.frames().items()}
    return Summary(frames, pl.DataFrame(schema=METRICS))


_DEFAULT: Final = View(summarize_frames)


def has_view(format_name: str) -> bool:
    """Does a format have a view of its own?"""
    return format_name in _registered()


@cache
def _registered() -> dict[str, EntryPoint]:
    """The views that packages register; to look for them takes 10 ms."""
    return {point.name: point for point in entry_points(group=GROUP)}


def view_of(format_name: str) -> View:
    """The view of a format; of one without a view, that which shows its frames.

    Examples:
        >>> view_of("awr").noun, view_of("no_such_format").noun
        ('report', 'log')
    """
    return cast("View", _registered()[format_name].load()) if has_view(format_name) else _DEFAULT
