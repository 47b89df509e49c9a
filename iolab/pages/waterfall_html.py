"""The change of the time as a table: each part's bar begins where that of the part above it ends."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.metrics.formatting import figure_text, time_text
from iolab.pages.elements import figure_html, marked_html
from iolab.pages.findings_html import part_anchor
from iolab.pages.ledger_html import chip_html, colour, paint, pattern_html
from iolab.pages.ledger_rows import aligned_rows
from iolab.time_ledger.parts import UNKNOWN
from logframe.wording import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from iolab.comparison.result import SampledStatement
    from iolab.time_ledger.changes import LedgerChange

#: The longest bar in per cent of the width: the label stands right of it.
_LONGEST: Final = 77
_MOST_STATEMENTS: Final = 9
#: Signs in cells, and the rule that gives the bound.
_RULES: Final = {
    "≤": "not in the list, so at most its smallest row",
    "±": "two standard deviations of the number of samples",
    "?": "not listed on both sides, so it cannot be determined",
}
_HEADS: Final = (
    *("A", "B", "change", "% of the\u00a0change"),
    *("count, B\u00a0/\u00a0A", "average, B\u00a0/\u00a0A", "by count", "by average"),
)


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
        >>> page.partition("<details")[0].count("<tr"), ">−3</text>" in page
        (4, True)
    """
    if change.parts.is_empty():
        return ""
    shown = _table(change)
    if change.per_work is None:
        return shown
    fields = "".join(
        f'<label><input type="radio" name="{part_anchor(change, "")}"{checked}> per {said}</label>'
        for said, checked in (("second", " checked"), ("transaction", ""))
    )
    return f'<div class="bases"><p class="tools">{fields}</p>{shown}{_table(change.per_work)}</div>'


def _table(change: LedgerChange) -> str:
    first, last = float(change.a.value), float(change.b.value)
    steps = change.steps()
    places = [first]
    for row in steps:
        places.append(places[-1] + row["change"])
    scale = _LONGEST / (max(places) or 1.0)
    ends = [first * scale, last * scale]
    total = [figure_text(first), figure_text(last), _signed(last - first), "100" if change.is_shared else ""]
    rules = f"{part_anchor(change, 'parts')}-rules"
    cells = aligned_rows([total[:1], *map(_cells, steps), total], len(_HEADS))
    shown = [[figure_html(one, rules) for one in own] for own in cells]
    rows = [_row("A", (0.0, ends[0], ends[0]), ends, "c-total", shown[0], "level-0")]
    for row, start, own in zip(steps, places, shown[1:], strict=False):
        stop = start + row["change"]
        span = (min(start, stop) * scale, max(start, stop) * scale, stop * scale)
        name = html.escape(printable(" ".join(row["name"].split())))
        is_code = row["kind"] in {"io", "wait"}
        kind = colour(row["kind"], row["class"], row["name"])
        # a closing part may have either sign: it has no bar of its own colour
        kind = "c-unknown" if kind == "c-twice" else kind
        anchor = part_anchor(change, row["part"] or "rows")
        label = figure_html(_signed(row["change"]), rules)
        rows.append(_row(name, span, ends, kind, own, "level-0 step", label, anchor, is_code=is_code))
    rows.append(_row("B", (0.0, ends[1], ends[1]), ends, "c-total", shown[-1], "level-0 sum"))
    heads = "".join(f'<th scope="col" class="number">{head}</th>' for head in _HEADS)
    head = f'<th scope="col">part</th><th scope="col">{html.escape(change.unit)}</th>{heads}'
    title = f"{html.escape(change.base)}, from A to B, in {html.escape(change.unit)}"
    table = f"<caption>{title}</caption><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
    said = _rules(table, rules)
    return f'<div class="basis"><table class="ledger waterfall">{table}</table>{said}{_both_rows(change)}</div>'


def _both_rows(change: LedgerChange) -> str:
    """Each part of both sides and of the change with its bounds, folded: what bars and sentences link to."""
    lines = []
    for row in change.parts.filter(pl.col("kind") != "contains", view=change.views[0]).to_dicts():
        ends = [f"{side}{end}" for side in ("a", "b", "change") for end in ("", "_lo", "_hi")]
        cells = "".join(f'<td class="number">{figure_text(row[one])}</td>' for one in ends)
        name = html.escape(printable(" ".join(row["name"].split())))
        lines.append(f'<tr id="{part_anchor(change, row["part"])}"><th scope="row">{name}</th>{cells}</tr>')
    heads = "".join(
        f'<th scope="col" class="number">{side}{end}</th>'
        for side in ("A", "B", "change")
        for end in ("", ", at least", ", at most")
    )
    table = f'<thead><tr><th scope="col">part</th>{heads}</tr></thead><tbody>{"".join(lines)}</tbody>'
    summary = f"<summary>Both rows of each part with bounds, in {html.escape(change.unit)}</summary>"
    anchor = part_anchor(change, "rows")
    return f'<details id="{anchor}">{summary}<div class="wide"><table>{table}</table></div></details>'


def beside_waterfall_html(
    change: LedgerChange,
    not_compared: Iterable[tuple[str, str]],
    *,
    sampled: SampledStatement | None = None,
    texts: Mapping[str, str] | None = None,
) -> str:
    """The statements of both sides beside what could not be compared, each with the reason.

    Args:
        change: what changed.
        not_compared: what could not be compared, and why.
        sampled: a statement that only samples name: it stands first.
        texts: what has the text of a statement on the page, by SQL_ID.

    Examples:
        >>> from iolab.time_ledger.account import Account
        >>> from logframe import Interval
        >>> def ledger(*statements):
        ...     account = Account(Interval.exact(10), "DB time")
        ...     for name, seconds in statements:
        ...         part = account.add("who", name, Interval.exact(seconds), kind="mixed", count=Interval.exact(2))
        ...     return account.ledger()
        >>> page = beside_waterfall_html(ledger(("1a x", 4), ("1b y", 2)).compare(ledger(("1a x", 6))), [])
        >>> "<td class=number>1</td><td class=number>2 s → 3 s</td>" in page
        True
        >>> "<code>1b</code> <small>left list</small>" in page, ">≤</a> 4</td>" in page
        (True, True)
    """
    own = change.parts.filter(pl.col("parent").is_null(), ~pl.col("kind").is_in([*UNKNOWN, "contains"]), view="who")
    rules, texts = f"{part_anchor(change, 'statements')}-rules", texts or {}
    found: list[tuple[str, str, str, list[str]]] = []
    if sampled is not None:
        sides = [share * float(total.value) for share, total in zip(sampled.shares, (change.a, change.b), strict=True)]
        shown = [f"{figure_text(one.value)} ± {figure_text(one.hi - one.value)}" for one in sides]
        shown = [text if one.value else f"≤ {figure_text(one.hi)}" for text, one in zip(shown, sides, strict=True)]
        tag = f"{sampled.moved}, samples" if sampled.moved.isalpha() else "samples"
        found.append((sampled.sql_id, tag, f"{sampled.sql_id} {sampled.text}", [*shown, "?", ""]))
    for row in own.head(_MOST_STATEMENTS).to_dicts():
        counts = [row["count_a"], row["count_b"]]
        runs = figure_text(counts[1] / counts[0]) if all(counts) else "?"
        each = [time_text(row[side] / count) for side, count in zip("ab", counts, strict=True) if count and row[side]]
        tag = {"new": "new in list", "vanished": "left list"}.get(row["status"], "")
        found.append((row["part"], tag, row["name"], [*_cells(row)[:2], runs, " → ".join(each)]))
    lines = ""
    for (part, tag, words, _), cells in zip(found, aligned_rows([one[3] for one in found], 4), strict=True):
        name, _, text = printable(" ".join(words.split())).partition(" ")
        named = f"<code>{name}</code>" if name.isalnum() and not name.isalpha() else html.escape(name)
        named = f'<a href="#{html.escape(texts[name])}">{named}</a>' if name in texts else named
        head = f"{named}{f' <small>{tag}</small>' if tag else ''} {html.escape(text)}"
        figures = "".join(f"<td class=number>{figure_html(one, rules)}</td>" for one in cells)
        start = f'<tr class="who" id="{part_anchor(change, part)}"><th scope="row" title="{html.escape(words)}">'
        lines += f"{start}{head}</th>{figures}</tr>"
    heads = "".join(f'<th scope="col" class="number">{one}</th>' for one in ("A", "B", "runs, B / A", "per run"))
    caption = f"<caption>Statements <small>{html.escape(change.unit)}, by size of change</small></caption>"
    table = f'<table class="ledger">{caption}<thead><tr><th scope="col">statement</th>{heads}</tr></thead>'
    items = "".join(f"<li><b>{html.escape(what)}</b>: {marked_html(reason)}.</li>" for what, reason in not_compared)
    parts = [f"<div>{table}<tbody>{lines}</tbody></table>{_rules(lines, rules)}</div>"] if lines else []
    if items:
        items = f'<p class="lead"><b>What could not be compared</b></p><ul class="unknown">{items}</ul>'
        parts.append(f"<div>{items}</div>")
    return f'<div class="ledgers">{"".join(parts)}</div>' if parts else ""


def _rules(shown: str, anchor: str) -> str:
    """What the signs of a table say, those that it has."""
    used = " ".join(f"{sign}: {rule}." for sign, rule in _RULES.items() if f">{sign}</a>" in shown)
    return f'<p class="note" id="{anchor}">{used}</p>' if used else ""


def _signed(change: float) -> str:
    return f"{'-' if change < 0 else '+'}{figure_text(abs(change))}"


def _cells(row: dict[str, Any]) -> list[str]:
    absent = {"new": "a", "vanished": "b"}.get(row["status"])
    most = figure_text(row[f"{absent}_hi"]) if absent and row[f"{absent}_hi"] else ""
    sides = [(f"≤ {most}" if most else "") if side == absent else figure_text(row[side]) for side in "ab"]
    share = "" if row["share"] is None else str(round(100 * row["share"]))
    cells = [*sides, _signed(row["change"]), share]
    if row["by_count"] is None or row["kind"] in UNKNOWN or not row["a"]:
        return cells
    often = row["count_b"] / row["count_a"]
    return [
        *cells,
        *map(figure_text, (often, row["b"] / row["a"] / often)),
        *(_signed(row[by]) for by in ("by_count", "by_time")),
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
    *,
    is_code: bool = False,
) -> str:
    """A row with its name, escaped, its bar, the step to the next row, and light lines at both totals."""
    low, high, stop = span
    lines = "".join(f'<line x1="{end:.2f}%" x2="{end:.2f}%" y2="26" class="zero"/>' for end in ends)
    if kind == "c-unknown":
        lines += f"<defs>{pattern_html(f'{anchor}-unknown', 6)}</defs>"
    step = (
        f'<line x1="{stop:.2f}%" x2="{stop:.2f}%" y1="6" y2="26" class="whisker-line"/>' if "sum" not in level else ""
    )
    text = f'<text x="{high:.2f}%" dx="5" y="17">{label}</text>' if label else ""
    drawn = f'<rect x="{low:.2f}%" y="6" width="{max(high - low, 0.15):.2f}%" height="14" {paint(kind, anchor)}/>'
    if anchor:
        said = f"{name} {label}"
        drawn = f'<a href="#{anchor}" aria-label="{said}"><title>{said}</title>{drawn}</a>'
    head = (chip_html(kind, anchor) if label else "") + (f"<code>{name}</code>" if is_code else name)
    figures = "".join(f'<td class="number">{one}</td>' for one in cells)
    seen = 'role="group" aria-label="from A to B"' if anchor else 'aria-hidden="true"'
    return (
        f'<tr class="{level}"><th scope="row">{head}</th><td class="bar">'
        f'<svg width="100%" height="26" {seen}>{lines}{step}{drawn}{text}</svg></td>{figures}</tr>'
    )
