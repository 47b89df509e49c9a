"""Two AWR or Statspack reports side by side."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab import charts
from iolab.comparison.report_sets import other_system
from iolab.comparison.result import Pairing, UnpairedError
from iolab.evidence.alignment import align_reports
from iolab.metrics.class_times import class_times
from iolab.metrics.formatting import figure_text
from iolab.rules.gates import LEAST_WAITS
from logframe.interval import row_figure

if TYPE_CHECKING:
    from awrparse import AwrReport
    from iolab.comparison.session_report import Options

#: Kinds of reports that have top events or wait classes of one period.
_PERIODS: Final = ("awr", "awr_pdb", "awr_global", "statspack", "fragment")
_QUANTITIES: Final = {
    "avg_wait_ms": "ms a wait",
    "waits_per_s": "waits a second",
    "waiting_sessions": "sessions waiting",
}
_OFTEN: Final = "ratio of waits a second"
_LONGER: Final = "ratio of ms a wait"
_WHERE: Final = {"both": "A and B", "vanished": "A only", "appeared": "B only"}


def pair_reports(a: AwrReport, b: AwrReport, names: tuple[str, str], _: Options) -> Pairing:
    """Two reports compared by rates.

    Raises:
        UnpairedError: If one is of another kind, or shows neither top events nor wait classes.
    """
    for report, name in ((a, names[0]), (b, names[1])):
        if report.kind not in _PERIODS:
            raise UnpairedError(f"{name} is a report of kind {report.kind}: it has no waits of one period")
    both = [table for table in ("top_events", "wait_classes") if table in a and table in b]
    if not both:
        raise UnpairedError("the reports have neither top events nor wait classes in common")
    aligned = align_reports(a, b, names=names)
    frames = {"Events": aligned.events, "Wait classes": aligned.classes}
    frames = {"Periods": aligned.intervals} | {title: frame for title, frame in frames.items() if frame.height}
    tables = {title: frame if title == "Periods" else _by_name(frame) for title, frame in frames.items()}
    paragraphs = ["Counts are divided by the length of their period; a ratio is B / A."]
    if aligned.appeared or aligned.vanished:
        paragraphs.append("An event in one list only is not zero in the other: lists of top events leave the rest out.")
    paragraphs += [f"Note: {note}." for note in aligned.notes]
    named = dict(zip(names, (a, b), strict=True))
    drawn = {}
    if "top_events" in both:
        drawn["top_events"] = {name: report.with_bounds("top_events") for name, report in named.items()}
    times = {name: class_times(report) for name, report in named.items()}
    if all(frame.height for frame in times.values()):
        drawn["wait_classes"] = times
    verdict = _verdict(aligned.intervals, tables.get("Events"))
    return Pairing(
        names,
        "two reports, compared as rates",
        tuple(paragraphs),
        frames,
        tables,
        is_lettered=True,
        verdict=" ".join(filter(None, [other_system({"A": a}, {"B": b}), verdict])),
        drawers=tuple(partial(_draw, table, reports) for table, reports in sorted(drawn.items(), reverse=True)),
    )


def _verdict(intervals: pl.DataFrame, events: pl.DataFrame | None) -> str:
    """Sessions active in both, and how the event with most time changed of those that were waited for often enough.

    Empty where neither is known.
    """
    rows = {row["quantity"]: row for row in intervals.iter_rows(named=True)}
    sides = [
        (row_figure(rows["db_time_s"], side), row_figure(rows["elapsed_s"], side))
        for side in ("a", "b")
        if {"db_time_s", "elapsed_s"} <= set(rows)
    ]
    said = []
    active = [time / length for time, length in sides if time is not None and length is not None and length.lo > 0]
    if len(active) == 2 and active[0].lo > 0:
        first, second = active
        said.append(
            f"{figure_text(first)} sessions were active in A, {figure_text(second)} in B: B / A "
            f"{figure_text(second / first)}"
        )
    both = pl.DataFrame()
    if events is not None and "elapsed_s" in rows:
        is_named = (pl.col("where") == _WHERE["both"]) & pl.col(_LONGER).is_not_null()
        counts = [pl.col(f"{_QUANTITIES['waits_per_s']}, {side}") * rows["elapsed_s"][side.lower()] for side in "AB"]
        both = events.filter(is_named, pl.min_horizontal(counts) >= LEAST_WAITS)
    if both.height:
        row = both.row(0, named=True)
        often, longer = (figure_text(row[name]) for name in (_OFTEN, _LONGER))
        said.append(f"`{row['event']}` was waited for {often} times as often, {longer} times as long")
    return f"{'; '.join(said)}." if said else ""


def _by_name(frame: pl.DataFrame) -> pl.DataFrame:
    """One row an event or class, those with the most time first: values of both, and their ratios with bounds."""
    key = frame.columns[0]
    names = frame.select(key, where=pl.col("status").replace_strict(_WHERE, return_dtype=pl.String)).unique(
        key, keep="first", maintain_order=True
    )
    weight = pl.lit(0.0)
    for quantity, said in _QUANTITIES.items():
        sides = [pl.col(side.lower()).round_sig_figs(4).alias(f"{said}, {side}") for side in "AB"]
        # The ratio of the time waited is the product of the other two.
        ratios = [] if quantity == "waiting_sessions" else [f"ratio{end}" for end in ("", "_lo", "_hi")]
        rows = frame.filter(pl.col("quantity") == quantity).select(
            key, *sides, pl.col(ratios).name.replace("ratio", f"ratio of {said}")
        )
        names = names.join(rows, on=key, how="left", maintain_order="left")
        if quantity == "waiting_sessions":
            weight = pl.max_horizontal(f"{said}, A", f"{said}, B")
    return names.sort(weight, descending=True, nulls_last=True, maintain_order=True)


def _draw(table: str, reports: dict[str, pl.DataFrame]) -> Any:  # noqa: ANN401 - any chart
    if table == "top_events":
        return charts.top_events(reports)
    return charts.wait_classes(reports)
