"""The page of several sets of logs: all sets side by side, then each against the first."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from iolab.comparison.several_sets import compare_several, moved
from iolab.metrics.formatting import figure_text
from iolab.pages.before_after import change_sections, read_sets
from iolab.pages.sections import sections_page, write_page
from iolab.pages.tables import frame_html

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from iolab.comparison.result import Options
    from iolab.comparison.several_sets import SeveralSets
    from iolab.sources import Place


def write_sets_report(
    sets: Mapping[str, Iterable[Place]],
    out: str | Path,
    *,
    options: Options | None = None,
    say: Callable[[str], object] = lambda _: None,
) -> list[str]:
    """A page about several sets of logs: all of them side by side, and what changed from the first to each other.

    Args:
        sets: Paths, folders, patterns or archives of the logs of each set, by its name.
        out: Where the page is written; folders on the way are made.
        options: How runs of statements are compared.
        say: Takes a line of progress a log.

    Returns:
        One line a log that could not be read, with the reason; the page has them too.

    Raises:
        UnpairedError: If there are fewer than two sets, or none of the others compares with the first.
        LogError: If a set has no log, none of its logs could be read, or the page would overwrite one.
        OSError: If the page cannot be written.
    """
    page = Path(out)
    logs, failed = read_sets(sets, page, say)
    result = compare_several(logs, options=options)
    write_page(page, sets_html(result, failed))
    return failed


def sets_html(result: SeveralSets, failed: Iterable[str] = ()) -> str:
    """The page of several sets."""
    first = result.names[0]
    sections = [("overview", "All sets", _overview(result))]
    for number, (name, step) in enumerate(result.steps.items(), 2):
        parts = "".join(f"<h3>{title}</h3>{body}" for _, title, body in change_sections(step))
        sections.append((f"set-{number}", f"{name} against {first}", parts))
    left = [f"<li><b>{escape(name)}</b>: {escape(reason)}</li>" for name, reason in result.refused.items()]
    left += [f"<li>not read: {escape(line)}</li>" for line in failed]
    if left:
        sections.append(("left-out", "Not compared", f"<ul>{''.join(left)}</ul>"))
    return sections_page("Sets of logs", sections)


def _overview(result: SeveralSets) -> str:
    """The quantities that changed in a set, a column a set, with the ratio to the first."""
    note = f"<p>Ratios are to {escape(result.names[0])}; least and greatest over the reports of a set in brackets.</p>"
    rows = moved(result.overview).with_columns(cell=pl.struct(pl.all()).map_elements(_cell, return_dtype=pl.String))
    if rows.is_empty():
        return f"{note}<p>No load and no latency of the reports differs beyond the range of the sets.</p>"
    keys = ["instance", "event", "quantity", "unit"]
    wide = rows.pivot("set", index=keys, values="cell", maintain_order=True)
    several = wide.get_column("instance").n_unique() > 1
    sets = [name for name in result.names if name in wide.columns]
    return note + frame_html(wide.select(*keys[0 if several else 1 :], *sets), most=wide.height)


def _cell(row: Mapping[str, float | str | None]) -> str:
    """A quantity of a set: the middle, its range of several reports, and the ratio where it changed."""

    def shown(value: float | str | None) -> str:
        return figure_text(float(str(value)))

    said = shown(row["value"])
    if row["reports"] != 1:
        said += f" ({shown(row['least'])} to {shown(row['greatest'])})"
    if row["change"] is None:
        return said
    ratio = "" if row["ratio"] is None else f"{shown(row['ratio'])} times, "
    return f"{said}: {ratio}{row['change']}"
