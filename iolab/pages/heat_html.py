"""Where DB time went in many reports: a row a report, a column a group of waits, cells tinted by their share."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.formatting import figure_text
from iolab.rules.event_groups import GROUPS
from iolab.rules.shares import UNACCOUNTED

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Fewer reports stand beside each other well enough without it.
_LEAST_LOGS: Final = 3
#: A group has a column if it holds so much of one report.
_LEAST_SHARE: Final = 0.05
_WHOLE: Final = "DB time"
#: Opacity of a cell: this much for a share of nothing, and the rest in proportion.
_FAINT: Final = 0.12


def heat_html(profiles: Mapping[str, pl.DataFrame], links: Mapping[str, str]) -> str:
    """Profiles of reports as a table of tinted cells; empty for fewer than three reports with a profile.

    Args:
        profiles: of each log by name (`iolab.rules.shares.PROFILE`).
        links: the identifier of each log's part of the page.

    Examples:
        >>> from iolab.rules.shares import PROFILE
        >>> one = pl.DataFrame([("cpu", "CPU", 0.5, 2.0, "DB time")], schema=PROFILE, orient="row")
        >>> page = heat_html({"a": one, "b": one, "c": one}, {})
        >>> page.count("<rect"), '>50.0<' in page, heat_html({"a": one}, {})
        (3, True, '')
    """
    rows = {name: one for name, one in profiles.items() if one.height and one.item(0, "of") == _WHOLE}
    if len(rows) < _LEAST_LOGS:
        return ""
    largest = (
        pl.concat(rows.values())
        .filter(pl.col("group").is_in([*GROUPS, UNACCOUNTED]))
        .group_by("group", maintain_order=True)
        .agg(pl.col("share").max(), pl.col("share").sum().alias("total"))
        .filter(pl.col("share") >= _LEAST_SHARE)
        .sort("total", descending=True)
    )
    groups = largest.get_column("group").to_list()
    heads = "".join(f'<th scope="col" class="number">{html.escape(_said(group))}</th>' for group in groups)
    body = "".join(_row(name, profile, groups, links.get(name)) for name, profile in rows.items())
    return (
        '<section id="heat"><h2>Where DB time went</h2><p class="note">Share of DB time in %, by group of '
        f"waits; a group below {100 * _LEAST_SHARE:.0f} % in all reports is left out. Sessions: active on average.</p>"
        '<div class="wide heat"><table><thead><tr><th scope="col">report</th>'
        f'<th scope="col" class="number">sessions</th>{heads}</tr></thead><tbody>{body}</tbody></table></div></section>'
    )


def _said(group: str) -> str:
    return GROUPS.get(group, "not accounted for").removeprefix("waiting for ")


def _row(name: str, profile: pl.DataFrame, groups: list[str], anchor: str | None) -> str:
    shares = dict(profile.select("group", "share").iter_rows())
    first = profile.row(0, named=True)
    sessions = None if first["sessions"] is None or not first["share"] else first["sessions"] / first["share"]
    said = html.escape(name)
    link = f'<a href="#{anchor}">{said}</a>' if anchor else said
    cells = "".join(_cell(group, shares.get(group)) for group in groups)
    shown = "" if sessions is None else figure_text(sessions)
    return f'<tr><th scope="row">{link}</th><td class="number">{shown}</td>{cells}</tr>'


def _cell(group: str, share: float | None) -> str:
    if share is None:
        return "<td></td>"
    opacity = _FAINT + (1 - _FAINT) * min(share, 1.0)
    return (
        '<td class="number"><svg width="64" height="20">'
        f'<rect class="c-{group if group in GROUPS else "other"}" width="64" height="20" fill-opacity="{opacity:.2f}"/>'
        f'<text x="60" y="15" text-anchor="end">{100 * share:.1f}</text></svg></td>'
    )
