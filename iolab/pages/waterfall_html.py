"""The change of the time as a table: each part's bar begins where that of the part above it ends."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.metrics.formatting import figure_text
from iolab.pages.ledger_html import colour
from iolab.time_ledger.account import ASIDE, UNKNOWN
from logframe.wording import counted, printable

if TYPE_CHECKING:
    from iolab.time_ledger.changes import LedgerChange

#: Rows between the two totals, and the least change of one as a share of the largest; the others are one row.
_MOST: Final = 12
_LEAST: Final = 0.01
#: The longest bar in per cent of the width: the label stands right of it.
_LONGEST: Final = 77
_HEADS: Final = ("A", "B", "change", "% of the change", "count, B / A", "average, B / A", "by count", "by average")


def waterfall_html(change: LedgerChange) -> str:
    """The way from the first total to the second; of reports of other rates of work also per transaction.

    Examples:
        >>> from iolab.time_ledger.account import Account
        >>> from logframe import Interval
        >>> def ledger(cpu):
        ...     account = Account(Interval.exact(cpu + 3), "DB time")
        ...     _ = account.add("what", "DB CPU", Interval.exact(cpu), kind="cpu")
        ...     return account.ledger()
        >>> page = waterfall_html(ledger(7).compare(ledger(4)))
        >>> page.count("<tr"), ">-3</text>" in page
        (4, True)
    """
    if change.parts.is_empty():
        return ""
    shown = _table(change)
    if change.per_work is None:
        return shown
    fields = "".join(
        f'<label><input type="radio" name="{_anchor(change)}"{checked}> per {said}</label>'
        for said, checked in (("second", " checked"), ("transaction", ""))
    )
    return f'<div class="bases"><p class="tools">{fields}</p>{shown}{_table(change.per_work)}</div>'


def _table(change: LedgerChange) -> str:
    first, last = float(change.a.value), float(change.b.value)
    steps = _steps(change)
    places = [first]
    for row in steps:
        places.append(places[-1] + row["change"])
    scale = _LONGEST / (max(places) or 1.0)
    ends = [first * scale, last * scale]
    rows = [_row("A", (0.0, ends[0], ends[0]), ends, "c-total", [figure_text(first)], "level-0")]
    for row, start in zip(steps, places, strict=False):
        stop = start + row["change"]
        span = (min(start, stop) * scale, max(start, stop) * scale, stop * scale)
        name, kind = printable(" ".join(row["name"].split())), colour(row["kind"], row["class"], row["name"])
        # a closing part may have either sign: it has no bar of its own colour
        kind = "c-unknown" if kind == "c-twice" else kind
        rows.append(_row(name, span, ends, kind, _cells(row), "level-0 step", f"{row['change']:+.3g}", _anchor(change)))
    total = [figure_text(first), figure_text(last), f"{last - first:+.3g}", "100" if change.is_shared else ""]
    rows.append(_row("B", (0.0, ends[1], ends[1]), ends, "c-total", total, "level-0 sum"))
    heads = "".join(f'<th scope="col" class="number">{head}</th>' for head in _HEADS)
    head = f'<th scope="col">part</th><th scope="col">{html.escape(change.unit)}</th>{heads}'
    title = f"{html.escape(change.base)}, from A to B, in {html.escape(change.unit)}"
    table = f'<table class="ledger waterfall"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    return f'<div class="basis"><h3>{title}</h3>{table}</div>'


def _anchor(change: LedgerChange) -> str:
    """An identifier: of two changes with the same totals either will do."""
    return f"from-{change.a.value:.6g}-to-{change.b.value:.6g}"


def _steps(change: LedgerChange) -> list[dict[str, Any]]:
    """The parts that have no part within, those of the largest change, and all others as one."""
    own = change.parts.filter(pl.col("view") == change.views[0], pl.col("kind") != "contains")
    if change.is_work:
        own = own.filter(~pl.col("kind").is_in(list(ASIDE)))
    names = dict(own.select("part", "name").iter_rows())
    leaves = own.filter(~pl.col("part").is_in(own.get_column("parent").drop_nulls().to_list()), pl.col("change") != 0)
    size = pl.col("change").abs()
    large = leaves.filter(size >= _LEAST * size.max()).sort(size, "part", descending=[True, False]).head(_MOST)
    rows = [row | {"class": names.get(row["parent"])} for row in large.to_dicts()]
    left = {side: float(getattr(change, side).value) - sum(row[side] for row in rows) for side in "ab"}
    moved = left["b"] - left["a"]
    if leaves.height > len(rows) or abs(moved) > _LEAST * max((abs(row["change"]) for row in rows), default=0.0):
        rest = dict.fromkeys(own.columns) | left | {"kind": "mixed", "class": None, "change": moved, "status": "both"}
        share = moved / float(change.change.value) if change.is_shared else None
        count = leaves.height - len(rows)
        rows.append(rest | {"name": counted(count, "other part") if count else "other parts", "share": share})
    return rows


def _cells(row: dict[str, Any]) -> list[str]:
    absent = {"new": "a", "vanished": "b"}.get(row["status"])
    most = figure_text(row[f"{absent}_hi"]) if absent and row[f"{absent}_hi"] else ""
    sides = [(f"≤ {most}" if most else "") if side == absent else figure_text(row[side]) for side in "ab"]
    share = "" if row["share"] is None else str(round(100 * row["share"]))
    cells = [*sides, f"{row['change']:+.3g}", share]
    if row["by_count"] is None or row["kind"] in UNKNOWN or not row["a"]:
        return cells
    often = row["count_b"] / row["count_a"]
    return [
        *cells,
        *map(figure_text, (often, row["b"] / row["a"] / often)),
        *(f"{row[by]:+.3g}" for by in ("by_count", "by_time")),
    ]


def _row(
    name: str,
    span: tuple[float, float, float],
    ends: list[float],
    kind: str,
    cells: list[str],
    level: str,
    label: str = "",
    anchor: str = "",
) -> str:
    """A row with its bar, the step to the next row, and light lines at both totals."""
    low, high, stop = span
    lines = "".join(f'<line x1="{end:.2f}%" x2="{end:.2f}%" y2="26" class="zero"/>' for end in ends)
    if kind == "c-unknown":
        lines += f'<defs><pattern id="{anchor}" width="6" height="6" patternUnits="userSpaceOnUse">'
        lines += '<path d="M0 6 6 0" class="hatch"/></pattern></defs>'
    painted = f'class="open" fill="url(#{anchor})"' if kind == "c-unknown" else f'class="{kind}"'
    step = (
        f'<line x1="{stop:.2f}%" x2="{stop:.2f}%" y1="6" y2="26" class="whisker-line"/>' if "sum" not in level else ""
    )
    text = f'<text x="{high:.2f}%" dx="5" y="17">{label}</text>' if label else ""
    drawn = f'<rect x="{low:.2f}%" y="6" width="{max(high - low, 0.15):.2f}%" height="14" {painted}/>'
    figures = "".join(f'<td class="number">{one}</td>' for one in [*cells, *[""] * (len(_HEADS) - len(cells))])
    return (
        f'<tr class="{level}"><th scope="row">{html.escape(name)}</th><td class="bar">'
        f'<svg width="100%" height="26" aria-hidden="true">{lines}{step}{drawn}{text}</svg></td>{figures}</tr>'
    )
