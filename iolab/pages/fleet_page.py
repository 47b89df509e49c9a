"""The page of a dataset of reports: all instances with what changed first, then each one that changed most."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from iolab import dataset
from iolab.evidence.report_periods import INSTANCE
from iolab.pages.elements import marked_html
from iolab.pages.sections import sections_page, write_page
from iolab.pages.tables import frame_html

if TYPE_CHECKING:
    import os

#: This many instances have a part of their own; all are in the overview.
MOST_INSTANCES: Final = 100
#: Rows of a table of one instance.
_MOST_ROWS: Final = 10
_NAMES: Final = {
    "db_name": "database",
    "instance_name": "instance",
    "a": "before",
    "b": "after",
    "a_lo": "before, at least",
    "a_hi": "before, at most",
    "b_lo": "after, at least",
    "b_hi": "after, at most",
    "at_least": "at least",
    "at": "from",
    "begin_time": "begin",
    "end_time": "end",
}


class _Fleet(NamedTuple):
    """What the page shows."""

    instances: pl.DataFrame
    changes: pl.DataFrame
    settings: pl.DataFrame
    differing: pl.DataFrame
    quantiles: pl.DataFrame


def write_fleet_report(dest: str | os.PathLike[str], out: str | Path, *, most: int = MOST_INSTANCES) -> None:
    """A page about the reports of a dataset: the overview first, then each instance, folded.

    Args:
        dest: The dataset.
        out: Where the page is written; folders on the way are made.
        most: This many instances, those whose reads changed most, have a part of their own.

    Raises:
        LogError: It is no dataset, or has no report.
        OSError: The page cannot be written.
    """
    write_page(Path(out), fleet_html(dest, most=most))


def fleet_html(dest: str | os.PathLike[str], *, most: int = MOST_INSTANCES) -> str:
    """The page about the reports of a dataset; see `write_fleet_report`."""
    tables = set(dataset.status(dest).tables.get_column("table"))
    changes = dataset.read_changes(dest)
    settings = dataset.setting_changes(dest)
    fleet = _Fleet(
        dataset.instances(dest),
        changes,
        settings,
        dataset.differing_parameters(dest),
        dataset.read_quantiles(dest) if "awr/event_histogram" in tables else pl.DataFrame(),
    )
    order = _in_order(fleet)
    said = [marked_html(one) for one in dataset.fleet_sentences(fleet.instances, fleet.changes, fleet.settings)]
    sections = [
        ("overview", "Overview", f"<ul>{''.join(f'<li>{one}</li>' for one in said)}</ul>{_overview(order)}"),
        ("settings", "Settings that differ", _differing(fleet)),
        ("instances", "Instances", _instances(fleet, order.head(most), order.height)),
        ("sources", "What was not read", _unread(dest)),
    ]
    return sections_page("Reports of a fleet", sections)


def _in_order(fleet: _Fleet) -> pl.DataFrame:
    """The instances with their greatest change, the greatest first."""
    columns = ("event", "at", "direction", "at_least", "more_sessions", "a", "b", "unit")
    greatest = fleet.changes.unique(list(INSTANCE), keep="first", maintain_order=True).select(*INSTANCE, *columns)
    joined = fleet.instances.join(greatest, on=list(INSTANCE), how="left", nulls_equal=True, maintain_order="left")
    return joined.sort(-pl.col("more_sessions").abs(), "db_name", "instance_name", nulls_last=True)


def _overview(order: pl.DataFrame) -> str:
    columns = ("db_name", "instance_name", "reports", "begin_time", "active_sessions", "busiest_sessions")
    shown = order.select(
        *columns, "event", "at", "direction", "at_least", "more_sessions", "a", "b", "unit"
    ).with_columns(pl.selectors.float().round_sig_figs(3))
    return frame_html(shown, most=shown.height, names=_NAMES)


def _differing(fleet: _Fleet) -> str:
    """The parameters that differ, without those of which each instance has a value of its own, such as its name."""
    is_own = (pl.len().over("parameter") == fleet.instances.height) & (fleet.instances.height > 2)
    differing = fleet.differing.filter(~is_own)
    if differing.is_empty():
        return "<p>All instances have the same parameters.</p>"
    named = pl.col("names").list.head(5).list.join(", ")
    more = pl.col("names").list.len() > 5
    shown = differing.with_columns(
        pl.when(more).then(pl.concat_str(named, pl.lit(", ..."))).otherwise(named).alias("names"),
        pl.col("value").fill_null("default"),
    )
    return frame_html(shown, most=200, names=_NAMES)


def _instances(fleet: _Fleet, order: pl.DataFrame, count: int) -> str:
    parts = [] if order.height == count else [f"<p>The {order.height:,} whose reads changed most, of {count:,}.</p>"]
    frames = {
        "Reads, from report to report": fleet.changes.drop("before", "after"),
        "Parameters that changed": fleet.settings.drop("report"),
        "Percentiles over all reports": _percentiles(fleet.quantiles),
    }
    by_instance = {title: frame.partition_by(INSTANCE, as_dict=True) for title, frame in frames.items() if frame.width}
    for row in order.select(*INSTANCE, "reports", "begin_time", "end_time").iter_rows():
        name = escape(f"{row[0] or '?'}/{row[2] or '?'}")
        tables = []
        for title, found in by_instance.items():
            own = found.get(row[:3])
            if own is not None and own.height:
                rounded = own.drop(INSTANCE).with_columns(pl.selectors.float().round_sig_figs(4))
                tables.append(f"<h3>{title}</h3>{frame_html(rounded, most=_MOST_ROWS, names=_NAMES)}")
        period = f"{row[3]:,} reports, {row[4]:%Y-%m-%d %H:%M} to {row[5]:%Y-%m-%d %H:%M}"
        body = "".join(tables) or "<p>No figure of reads, and no change of a parameter.</p>"
        parts.append(f'<details class="log"><summary>{name} <small>{period}</small></summary>{body}</details>')
    return "".join(parts)


def _percentiles(quantiles: pl.DataFrame) -> pl.DataFrame:
    if not quantiles.width:
        return quantiles
    return quantiles.select(*INSTANCE, "event", "reports", "waits", "metric", "lo", "hi", "unit").rename(
        {"lo": "longer_than", "hi": "no_longer_than"}
    )


def _unread(dest: str | os.PathLike[str]) -> str:
    found = dataset.sources(dest)
    counts = ", ".join(f"{count:,} {status}" for status, count in sorted(dataset.status(dest).sources.items()))
    others = found.filter(~pl.col("status").is_in(["converted", "duplicate"])).select("file", "status", "message")
    return f"<p>{escape(counts)}.</p>{frame_html(others) if others.height else ''}"
