"""The ledgers of several logs: a table for each base, a row a log, with a bar of its parts on one scale."""

from __future__ import annotations

import html
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from iolab.metrics.formatting import figure_text
from iolab.pages.ledger_html import BAR_BOX, MEANING, chip_html, colour, paint, patterns_html
from iolab.pages.ledger_rows import aligned, aligned_rows, time_cell
from iolab.rules.phrases import three
from logframe.wording import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from iolab.time_ledger.account import Ledger

#: Fewer logs stand beside each other well enough without it.
_LEAST_LOGS: Final = 3
_ANCHOR: Final = "heat"
#: The parts of a log by name: the class of the style sheet that colours each, and its seconds.
_Parts = dict[str, tuple[str, float]]


def heat_html(
    ledgers: Mapping[str, Ledger],
    links: Mapping[str, str],
    begins: Mapping[str, str] = MappingProxyType({}),
    gaps: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The lead ledgers of logs as tables, one a base; a void one is a row with its reason.

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
        >>> page.count(">50.0<"), page.count(" CPU</td>"), heat_html({"a": one}, {})
        (3, 3, '')
    """
    bases: dict[str, dict[str, Ledger]] = {}
    for name, one in ledgers.items():
        bases.setdefault(one.base, {})[name] = one
    tables = [_table(base, group, links, begins, gaps) for base, group in bases.items() if len(group) >= _LEAST_LOGS]
    if not any(tables):
        return ""
    return f'<section id="{_ANCHOR}"><h2>Where time went</h2>{"".join(tables)}</section>'


def _table(
    base: str, group: Mapping[str, Ledger], links: Mapping[str, str], begins: Mapping[str, str], gaps: Mapping[str, str]
) -> str:
    parts = {name: parts_of(one) for name, one in group.items() if not one.void}
    sizes = {name: 0.0 if (time := group[name].elapsed) is None else time.value for name in parts}
    if not (is_rate := min(sizes.values(), default=0.0) > 0):
        sizes = dict.fromkeys(parts, 1.0)
    longest = max((sum(size for _, size in own.values()) / sizes[name] for name, own in parts.items()), default=0.0)
    weight: dict[str, float] = {}
    for name, own in parts.items():
        for part, (style, size) in own.items():
            # time without a name is the last piece of each bar
            weight[part] = weight.get(part, 0.0) + (-1.0 if style == "c-unknown" else size / sizes[name])
    order = sorted(weight, key=lambda part: (-weight[part], part))
    slow, rates = _rates(group)
    heads = ["sessions active" if is_rate else "total", base, "largest part", f"% of {base}", *slow]
    totals = {name: total for name in parts if (total := group[name].total) is not None}
    sessions = [
        figure_text(one.value / sizes[name]) if is_rate else time_cell(one.value, one.lo, one.hi)
        for name, one in totals.items()
    ]
    said = dict(zip(totals, aligned(sessions), strict=True))
    shown = "".join(
        f'<th scope="col"{"" if n in {1, 2} else " class=number"}>{html.escape(printable(one))}</th>'
        for n, one in enumerate(heads)
    )
    wide = 1 + bool(begins) + len(heads)
    body = ""
    for name, one in group.items():
        body += f'<tr class="gap"><td colspan="{wide}">{html.escape(gaps[name])}</td></tr>' if name in gaps else ""
        link = html.escape(printable(name))
        link = f'<a href="#{links[name]}">{link}</a>' if name in links else link
        begin = f'<a href="#{links[name]}">{begins[name]}</a>' if name in begins and name in links else ""
        begin = f'<td class="begin">{begin or begins.get(name, "")}</td>' if begins else ""
        cells = f'<td colspan="{len(heads)}">no total: {html.escape(printable(one.void))}</td>'
        if name in totals:
            bar = _bar(parts[name], order, totals[name].value, longest * sizes[name])
            cells = f'<td class="number">{said[name]}</td><td class="bar">{bar}</td>'
            cells += _largest(parts[name], totals[name].value)
            cells += "".join(f'<td class="number">{cell}</td>' for cell in rates.get(name, []))
        body += f'<tr><th scope="row">{link}</th>{begin}{cells}</tr>'
    styles = {style for own in parts.values() for style, _ in own.values()} - {"c-other"}
    chips = "".join(f"<span>{chip_html(one, _ANCHOR)} {said}</span>" for one, said in MEANING.items() if one in styles)
    begin = '<th scope="col" class="begin">begin</th>' if begins else ""
    table = f'<table class="ledger logs"><thead><tr><th scope="col">log</th>{begin}{shown}</tr></thead>'
    chips += f'<svg width="0" height="0" aria-hidden="true">{patterns_html(_ANCHOR)}</svg>'
    return f'<p class="key">{chips}</p><div class="wide heat">{table}<tbody>{body}</tbody></table></div>'


def parts_of(one: Ledger) -> _Parts:
    """The parts of a ledger by what their colour means; those without a colour, and statements, by their names."""
    view = "what" if "what" in one.views else next(iter(one.views), "")
    rows = [row for row in one.parts(view).to_dicts() if row["kind"] != "contains"] if view else []
    found: _Parts = {}
    for row in rows:
        within = sum(max(inner["seconds"], 0.0) for inner in rows if inner["parent"] == row["part"])
        size = max(row["seconds"], 0.0) - within
        if size > 0 and row["kind"] != "counted_twice":
            style = colour(row["kind"], row["class"], row["name"])
            name = row["name"] if style == "c-other" or view != "what" else MEANING[style]
            found[name] = (style, found.get(name, (style, 0.0))[1] + size)
    return found


def _bar(own: _Parts, order: list[str], total: float, longest: float) -> str:
    """The parts of a log one beside the other."""
    place, drawn = 0.0, ""
    for part in order:
        style, size = own.get(part, ("", 0.0))
        width = 100 * size / longest if longest else 0.0
        tip = html.escape(f"{printable(part)} {100 * size / total:.1f} %") if total else ""
        piece = f'<rect x="{place:.2f}" y="1" width="{width:.2f}" height="12" {paint(style, _ANCHOR)}>'
        drawn += f"{piece}<title>{tip}</title></rect>" if width >= 0.05 else ""
        place += width
    return f"<svg {BAR_BOX}>{drawn}</svg>"


def _largest(own: _Parts, total: float) -> str:
    """The cells of the largest part and its share."""
    part = max(own, key=lambda name: own[name][1], default="")
    chip = f"{chip_html(own[part][0], _ANCHOR)} " if part else ""
    share = f"{100 * own[part][1] / total:.1f}" if part and total else ""
    return f'<td>{chip}{html.escape(printable(part))}</td><td class="number">{share}</td>'


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
    shown = aligned_rows([[cells[n] for n in kept] for cells in found.values()], len(kept))
    return [heads[n] for n in kept], dict(zip(found, shown, strict=False))
