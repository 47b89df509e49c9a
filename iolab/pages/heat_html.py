"""The ledgers of several logs: a table for each base, a row a log, a column a part, cells tinted by their share."""

from __future__ import annotations

import html
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.metrics.formatting import figure_text
from iolab.pages.ledger_html import colour
from iolab.pages.ledger_rows import time_cell
from iolab.rules.phrases import three
from logframe.wording import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from iolab.time_ledger.account import Ledger

#: Fewer logs stand beside each other well enough without it.
_LEAST_LOGS: Final = 3
#: A part has a column if it holds this much of one log.
_LEAST_SHARE: Final = 0.05
_MOST_PARTS: Final = 9
#: Opacity of a cell: this much for a share of zero, and the rest in proportion.
_FAINT: Final = 0.12


def heat_html(
    ledgers: Mapping[str, Ledger],
    links: Mapping[str, str],
    begins: Mapping[str, str] = MappingProxyType({}),
    gaps: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The lead ledgers of logs as tables of tinted cells, one a base; a void one is a row with its reason.

    Args:
        ledgers: the lead ledger of each log by name.
        links: the identifier of each log's part of the page.
        begins: when each begins, of those that say so.
        gaps: what is missing before a log.

    Examples:
        >>> from iolab.time_ledger.account import Account
        >>> from logframe import Interval
        >>> account = Account(Interval.exact(10), "DB time")
        >>> cpu = account.add("what", "DB CPU", Interval.exact(5), kind="cpu")
        >>> one = account.ledger(elapsed=Interval.exact(5))
        >>> page = heat_html({"a": one, "b": one, "c": one}, {})
        >>> page.count(">50.0<"), heat_html({"a": one}, {})
        (6, '')
    """
    bases: dict[str, dict[str, Ledger]] = {}
    for name, one in ledgers.items():
        bases.setdefault(one.base, {})[name] = one
    tables = [_table(base, group, links, begins, gaps) for base, group in bases.items() if len(group) >= _LEAST_LOGS]
    if not any(tables):
        return ""
    return f'<section id="heat"><h2>Where time went</h2>{"".join(tables)}</section>'


def _table(
    base: str, group: Mapping[str, Ledger], links: Mapping[str, str], begins: Mapping[str, str], gaps: Mapping[str, str]
) -> str:
    parts = {name: _shares(one) for name, one in group.items() if not one.void}
    known = [frame for frame in parts.values() if frame.height]
    columns: list[tuple[str, str]] = []
    if known:
        largest = (
            pl.concat(known)
            .group_by("name", maintain_order=True)
            .agg(pl.col("share").max(), total=pl.col("share").sum(), style=pl.col("style").first())
            .filter(pl.col("share") >= _LEAST_SHARE)
            .sort("total", "name", descending=[True, False])
            .head(_MOST_PARTS)
        )
        columns = list(largest.select("name", "style").iter_rows())
    has_rate = any(one.elapsed is not None for one in group.values())
    slow, rates = _rates(group)
    heads = ["active"] * has_rate + ["total", *(name for name, _ in columns), *slow]
    shown = "".join(f'<th scope="col" class="number">{html.escape(printable(one))}</th>' for one in heads)
    wide = 1 + bool(begins) + len(heads)
    body = "".join(
        (f'<tr class="gap"><td colspan="{wide}">{html.escape(gaps[name])}</td></tr>' if name in gaps else "")
        + _row(name, one, parts.get(name), columns, links.get(name), begins, rates.get(name, []), has_rate=has_rate)
        for name, one in group.items()
    )
    note = f"Share of {html.escape(base)} in %; a part below {100 * _LEAST_SHARE:.0f} % in all logs has no column."
    note += " Active: sessions active on average." if has_rate else ""
    begin = '<th scope="col">begin</th>' if begins else ""
    head = f'<tr><th scope="col">log</th>{begin}{shown}</tr>'
    table = f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"
    return f'<p class="note">{note}</p><div class="wide heat">{table}</div>'


def leading_wait(ledgers: Mapping[str, Ledger]) -> tuple[str, dict[str, dict[str, Any]]]:
    """The wait, without parts of its own, that took longest in all logs, and its row by log; empty without one."""
    weight: dict[str, float] = {}
    rows: dict[str, dict[str, dict[str, Any]]] = {}
    for log, one in ledgers.items():
        parts = one.parts("what").to_dicts() if "what" in one.views and not one.void else []
        inner = {row["parent"] for row in parts}
        for row in parts:
            if row["avg"] and row["part"] not in inner and row["kind"] in {"io", "wait"}:
                rows.setdefault(row["name"], {})[log] = row
                weight[row["name"]] = weight.get(row["name"], 0.0) + row["seconds"]
    name = max(weight, key=lambda part: (weight[part], part), default="")
    return name, rows.get(name, {})


def _rates(group: Mapping[str, Ledger]) -> tuple[list[str], dict[str, list[str]]]:
    """Average and rate of the leading wait, and transactions per second, by log."""
    slow, rows = leading_wait(group)
    found = {}
    for log, one in group.items():
        own, elapsed = rows.get(log, {}), one.elapsed.value if one.elapsed is not None else 0
        counts = (own.get("count"), one.transactions)
        cells = [three(count / elapsed) if count and elapsed else "" for count in counts]
        found[log] = [three(1e3 * own["avg"]) if own else "", *cells]
    heads = [f"{slow} (ms)", "per s", "transactions per s"]
    kept = [n for n in range(len(heads)) if slow and any(cells[n] for cells in found.values())]
    return [heads[n] for n in kept], {log: [cells[n] for n in kept] for log, cells in found.items()}


def _shares(one: Ledger) -> pl.DataFrame:
    """The top-level parts of a ledger with their share and colour."""
    view = "what" if "what" in one.views else next(iter(one.views), None)
    schema = pl.Schema({"name": pl.String(), "share": pl.Float64(), "style": pl.String()})
    if view is None:
        return pl.DataFrame(schema=schema)
    tops = one.parts(view).filter(
        (pl.col("level") == 0) & pl.col("share").is_not_null() & (pl.col("kind") != "contains")
    )
    rows = [
        (row["name"], row["share"], colour(row["kind"], row["class"], row["name"]))
        for row in tops.iter_rows(named=True)
    ]
    return pl.DataFrame(rows, schema=schema, orient="row")


def _row(
    name: str,
    one: Ledger,
    parts: pl.DataFrame | None,
    columns: list[tuple[str, str]],
    anchor: str | None,
    begins: Mapping[str, str],
    rates: list[str],
    *,
    has_rate: bool,
) -> str:
    said = html.escape(printable(name))
    link = f'<a href="#{anchor}">{said}</a>' if anchor else said
    begin = f"<td>{begins.get(name, '')}</td>" if begins else ""
    if parts is None or one.total is None:
        wide = len(columns) + 1 + has_rate + len(rates)
        why = html.escape(printable(one.void))
        return f'<tr><th scope="row">{link}</th>{begin}<td colspan="{wide}">no total: {why}</td></tr>'
    shares = dict(parts.select("name", "share").iter_rows())
    cells = "".join(_cell(style, shares.get(part)) for part, style in columns)
    rate = ""
    if has_rate:
        active = one.total / one.elapsed if one.elapsed is not None and one.elapsed.lo > 0 else None
        rate = f'<td class="number">{"" if active is None else figure_text(active.value)}</td>'
    more = "".join(f'<td class="number">{cell}</td>' for cell in rates)
    total = time_cell(one.total.value, one.total.lo, one.total.hi)
    return f'<tr><th scope="row">{link}</th>{begin}{rate}<td class="number">{total}</td>{cells}{more}</tr>'


def _cell(style: str, share: float | None) -> str:
    if share is None:
        return "<td></td>"
    opacity = _FAINT + (1 - _FAINT) * min(max(share, 0.0), 1.0)
    kind = "c-other" if style in {"c-unknown", "c-twice"} else style
    return (
        '<td class="number"><svg width="64" height="20">'
        f'<rect class="{kind}" width="64" height="20" fill-opacity="{opacity:.2f}"/>'
        f'<text x="60" y="15" text-anchor="end">{100 * share:.1f}</text></svg></td>'
    )
