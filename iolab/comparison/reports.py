"""Two reports compared: where the time changed, and the settings, load, waits and statements that changed beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl
import polars.selectors as cs

from iolab.comparison.changes import OPEN
from iolab.comparison.report_sets import (
    Reports,
    cautions_of_report,
    cautions_of_sets,
    change_sentences,
    changed_latencies,
    changed_load,
    changed_settings,
    other_system,
    place_of,
    reports_apart,
)
from iolab.comparison.report_statements import (
    cautions_of_statements,
    changed_statements,
    sampled_statement,
    statement_sentences,
)
from iolab.comparison.result import Pairing, UnpairedError
from iolab.time_ledger.changes import change_of
from iolab.time_ledger.run import ledger
from logframe.errors import LogError

if TYPE_CHECKING:
    from awrparse import AwrReport
    from iolab.comparison.result import Options
    from iolab.time_ledger.changes import LedgerChange

#: Kinds of reports with the waits of one period.
_PERIODS: Final = frozenset({"awr", "awr_pdb", "awr_global", "statspack", "fragment"})


@dataclass(frozen=True)
class ReportSets:
    """Two sets of reports of one instance compared.

    Attributes:
        change: Where the time changed, the reports of a set together; None where one has no total.
        sentences: What changed, the most important first.
        settings: Parameters and facts of the head that changed (`SETTINGS`).
        load: Rates and sessions (`CHANGES`).
        latencies: Average waits and percentiles of events (`CHANGES`).
        statements: Statements (`STATEMENT_CHANGES`).
        cautions: What to know before the two are compared, each with the report it is of, or the sets.
    """

    change: LedgerChange | None
    sentences: tuple[str, ...]
    settings: pl.DataFrame
    load: pl.DataFrame
    latencies: pl.DataFrame
    statements: pl.DataFrame
    cautions: tuple[tuple[str, str], ...]


def compare_reports(before: Reports, after: Reports, name: str) -> ReportSets:
    """What changed between two sets of reports of one instance, which is called `name`."""
    settings, load = changed_settings(before, after), changed_load(before, after)
    latencies = changed_latencies(before, after)
    statements = changed_statements(*([(place_of(one), one) for one in side.values()] for side in (before, after)))
    both = [*before.items(), *after.items()]  # files of one name may be in both sets
    cautions = [(name, said) for said in cautions_of_sets(before, after)]
    cautions += [(name, said) for said in cautions_of_statements(statements)]
    cautions += [(one, said) for one, report in both for said in cautions_of_report(report)]
    try:
        change = change_of(*([ledger(report) for report in side.values()] for side in (before, after)))
    except LogError as error:
        change = None
        cautions.insert(0, (name, f"the times are not compared: {error}"))
    sentences = [*filter(None, [other_system(before, after)]), *(change.sentences if change else [])]
    is_set = len(both) > 2 or change is None
    sentences += change_sentences(settings, load, latencies, is_set=is_set)
    for when, side in (("before", before), ("after", after)):
        sentences += reports_apart(side, when)
    sentences += statement_sentences(statements)
    settings, load, latencies, statements = (
        frame.with_columns(instance=pl.lit(name, pl.String)) for frame in (settings, load, latencies, statements)
    )
    return ReportSets(change, tuple(sentences), settings, load, latencies, statements, tuple(cautions))


def pair_reports(a: AwrReport, b: AwrReport, names: tuple[str, str], _: Options) -> Pairing:
    """Two reports compared, without the account of their times, which `iolab.comparison.pair` adds.

    Raises:
        UnpairedError: If one is of another kind.
    """
    for report, name in ((a, names[0]), (b, names[1])):
        if report.kind not in _PERIODS:
            raise UnpairedError(f"{name} is a report of kind {report.kind}: it has no waits of one period")
    sides = ({names[0]: a}, {names[1] if names[1] != names[0] else f"{names[1]} (B)": b})
    found = compare_reports(*sides, "both reports")
    said = set(found.change.sentences) if found.change is not None else set()
    warning, sampled = other_system(*sides), sampled_statement(a, b)
    paragraphs = [" ".join(one for one in found.sentences if one not in said and one != warning)]
    paragraphs += [f"Note: {one}: {caution}." for one, caution in found.cautions]
    frames = {
        "Settings": found.settings,
        "Load": found.load,
        "Latencies": found.latencies,
        "Statements": found.statements,
    }
    frames = {title: frame.drop("instance") for title, frame in frames.items() if frame.height}
    tables = {title: shown for title, frame in frames.items() if (shown := _shown(frame)).height}
    return Pairing(
        names,
        "two reports",
        tuple(paragraphs),
        frames,
        tables,
        is_lettered=True,
        verdict="" if sampled is None else sampled.sentence,
        sampled=sampled,
        warning=warning,
    )


def _shown(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows that changed, with the columns that tell of one report on each side, named by the sides."""
    one_each = [name for name in frame.columns if name.endswith(("_least", "_greatest")) or name.startswith("reports_")]
    names = {name: name.replace("before", "A").replace("after", "B") for name in frame.columns}
    figures = cs.float().round_sig_figs(4)
    return frame.filter(pl.col("change") != OPEN).with_columns(figures).drop(one_each).rename(names, strict=False)
