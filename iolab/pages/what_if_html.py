"""The what-if box of a page: the total if a part occurred less often, or were shorter, as `Ledger.what_if` computes it.

The table needs no script.  With the script of pages (`page.js`) the reader chooses a part, a count and an average; the
figures that it needs are attributes of the choices.
"""

from __future__ import annotations

import html
import math
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from iolab.pages.ledger_html import bar_html, colour
from iolab.pages.ledger_rows import PAGE_LEAST
from iolab.rules.phrases import three
from iolab.time_ledger.changes import MORE_ROWS, ROUND_TRIPS, WIDE
from logframe.errors import LogError
from logframe.wording import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from iolab.pages.summary import LogSummary
    from iolab.time_ledger.account import Ledger
    from iolab.time_ledger.changes import WhatIf

#: A part with less of the total is not worth the box; and this many parts may be chosen.
_WORTH: Final = 0.1
_MOST_PARTS: Final = 12
#: Rows per fetch, or times as long, of the rows of the table.
_ROWS: Final = (10, 20, 50, 100, 200, 500, 1000)
_FACTORS: Final = (2.0, 1.0, 0.5, 0.2, 0.1)
#: What is drawn of the times of round trips, and of how many at least: of fewer the ends of the box are not known.
TRIP_TIMES: Final = {"shortest_us": 0.0, "p5_us": 0.05, "median_us": 0.5, "p95_us": 0.95, "longest_us": 1.0}
_LEAST_TRIPS: Final = 59


class Run(NamedTuple):
    """How long another trace took for the same rows of the same statement.

    Attributes:
        name: of the trace.
        rows: per fetch.
        seconds: its total.
        trip_us: the median of its round trips.
    """

    name: str
    rows: int
    seconds: float
    trip_us: float


def measured_runs(logs: Mapping[str, LogSummary]) -> dict[str, list[Run]]:
    """By the name of a trace those of the other ones that fetched as many rows of the same statement."""
    found: dict[str, tuple[object, Run]] = {}
    for name, seen in logs.items():
        trips = seen.frames.get("round_trips")
        if trips is None or seen.ledger is None or seen.ledger.total is None:
            continue
        row = trips.row(0, named=True)
        own, log = {"statement": row["statement"]}, seen.log.frames()
        rows = log["calls"].lazy().filter(op="FETCH", depth=0, **own).select(pl.col("rows").sum()).collect().item()
        texts = log["statements"].lazy().filter(**own).collect().get_column("text").to_list()
        found[name] = ((texts, rows), Run(name, row["array_size"], seen.ledger.total.value, row["median_us"]))
    return {
        name: [run for test, run in found.values() if test == own and run.name != name]
        for name, (own, _) in found.items()
    }


def what_if_html(
    ledger: Ledger,
    *,
    anchor: str,
    rows: float | None = None,
    trips: Mapping[str, Any] = MappingProxyType({}),
    runs: Sequence[Run] = (),
) -> str:
    """The box; empty of a ledger without a part that answers the question and is worth it.

    Args:
        ledger: the lead ledger of a log.
        anchor: what identifiers begin with.
        rows: how many rows a fetch brings, of a log that says so.
        trips: the rows and times of its round trips: a row of the frame ``round_trips`` of a SQL trace.
        runs: what other traces took for the same rows; they are marked where the log says how many rows a fetch brings.

    Examples:
        >>> from iolab.time_ledger.account import Account
        >>> from logframe import Interval
        >>> account = Account(Interval.exact(10.0), "total call time")
        >>> _ = account.add("what", "read", Interval.exact(8.0), kind="io", count=Interval.exact(100.0))
        >>> box = what_if_html(account.ledger(), anchor="log-1")
        >>> 'data-own="8 8 8"' in box, "<td>40 ms</td>" in box, ">6.0 s<" in box
        (True, True, True)
    """
    if ledger.void or ledger.unit != "s" or ledger.total is None or not ledger.views:
        return ""
    total = ledger.total.value
    parts = ledger.parts(ledger.views[0]).to_dicts()
    large = [row for row in parts if row["seconds"] >= PAGE_LEAST * total and row["kind"] != "contains"]
    large = sorted(large, key=lambda row: -row["own_lo"])[:_MOST_PARTS]
    answers = {row["part"]: _asked(ledger, row, 1.0) for row in large}
    parents = {row["parent"] for row in large}
    rest = [row for row in large if row["avg"] and row["part"] not in parents]
    main = next((row for row in rest if not isinstance(answers[row["part"]], str)), None)
    if main is None or main["own_hi"] < _WORTH * total:
        return ""
    rows = rows if main["name"].startswith(ROUND_TRIPS) and rows and rows >= 1 else None
    options = "".join(_option(row, answers[row["part"]], rows, is_main=row is main) for row in large)
    one = answers[main["part"]]
    caution = "" if isinstance(one, str) else one.caution
    note = "All other parts are unchanged, without overlap."
    note += " A trip with more rows takes 0 to 20 % longer (pale)." if rows else ""
    runs = runs if rows else ()
    note += "".join(
        f" ○ Measured in {run.name}: {three(run.seconds)} s with {run.rows:,} rows per fetch, "
        f"{three(run.trip_us / 1e3)} ms per trip."
        for run in runs
    )
    return (
        f'<section class="what-if" id="{anchor}-what-if" data-total="{_numbers(ledger.total)}" '
        f'data-more="{MORE_ROWS}"><h3>What if {html.escape(printable(main["name"]))} '
        f"{'brought more rows' if rows else 'were shorter'}?</h3>"
        f'<p class="fields" hidden><label>part <select>{options}</select></label></p><p role="status"></p>'
        f"{_table(ledger, main, rows, anchor, runs)}<p><small>{html.escape(f'{note} {caution}')}</small></p></section>"
        f"{_trips(trips)}"
    )


def _trips(row: Mapping[str, Any]) -> str:
    """How many rows round trips brought, and how long they took: a box with a line through it, on a log scale."""
    if row.get("round_trips", 0) < _LEAST_TRIPS or row["shortest_us"] <= 0:
        return ""
    times = [row[name] for name in TRIP_TIMES]
    low, wide = math.log(times[0]), math.log(times[-1] / times[0]) or 1.0
    first, left, middle, right, last = (100 * (math.log(one) - low) / wide for one in times)
    drawn = f'<line x1="{first}%" x2="{last:.2f}%" y1="10" y2="10" class="whisker"/>'
    drawn += f'<rect x="{left:.2f}%" width="{right - left:.2f}%" y="4" height="12" class="c-network"/>'
    drawn += f'<rect x="{middle:.2f}%" width="2" y="1" height="18" class="c-total"/>'
    shortest, few, half, most, longest = (three(one / 1e3) for one in times)
    drawn += f'<text y="34">{shortest}</text><text x="100%" y="34" text-anchor="end">{longest} ms</text>'
    said = (
        f"The array size was {row['array_size']:,} rows; a fetch brought {three(row['rows_per_fetch'])} on average. "
        f"{row['round_trips']:,} round trips: median {half} ms (mark), 5 to 95 % from {few} to {most} ms (box), "
        f"shortest {shortest} ms, longest {longest} ms; log scale."
    )
    return (
        f'<div class="trips"><h3>Round trips</h3><svg class="trips" width="100%" height="38" role="img" '
        f'aria-label="{said}">{drawn}</svg><p><small>{said}</small></p></div>'
    )


def _asked(ledger: Ledger, row: dict[str, Any], factor: float) -> WhatIf | str:
    """The answer, or the reason of a refusal."""
    try:
        return ledger.what_if(row["part"], factor=factor)
    except LogError as error:
        return str(error)


def _numbers(one: Any) -> str:  # noqa: ANN401 - an Interval, or what has the same
    return f"{one.lo:.12g} {one.value:.12g} {one.hi:.12g}"


def _option(row: dict[str, Any], answer: WhatIf | str, rows: float | None, *, is_main: bool) -> str:
    own = min(max(row["seconds"], row["own_lo"]), row["own_hi"])
    data = f'data-own="{row["own_lo"]:.12g} {own:.12g} {row["own_hi"]:.12g}"'
    if isinstance(answer, str):
        data += f' data-refused="{html.escape(answer)}"'
    if row["count"] and row["avg"]:
        data += f' data-count="{row["count"]:.12g}" data-average="{1e3 * row["avg"]:.6g}"'
    if row["name"].startswith(ROUND_TRIPS):
        data += f' data-rows="{rows or ""}"'
    name = html.escape(printable(" ".join(row["name"].split())))
    return f"<option {data}{' selected' if is_main else ''}>{name}</option>"


def _table(ledger: Ledger, row: dict[str, Any], rows: float | None, anchor: str, runs: Sequence[Run]) -> str:
    """The total for other numbers of rows per fetch, or other averages; that of the log itself among them."""
    steps = sorted({*_ROWS, rows, *(run.rows for run in runs)}) if rows else _FACTORS
    found = [(step, ledger.what_if(row["part"], **_question(row, rows, step))) for step in steps]
    longest = max([*(float(one.after.hi) for _, one in found), *(run.seconds for run in runs)])
    digits = 1 if longest >= 10 else 3
    heads = ["rows per fetch" if rows else "average", *["round trips"] * bool(rows), "", "total", "times as fast"]
    lines = []
    for step, one in found:
        after = one.after
        is_now = step == (rows or 1.0)
        each = f"{step:,.0f}" if rows else f"{three(1e3 * step * row['avg'])} ms"
        trips = f"<td>{row['count'] * one.factor:,.0f}</td>" if rows else ""
        kind = "c-total" if is_now else colour(row["kind"], row["class"], row["name"])
        rings = [run.seconds / longest for run in runs if run.rows == step]
        bar = bar_html(float(after.lo) / longest, float(after.hi) / longest, kind, anchor, rings=rings)
        said = f"{'this log: ' if is_now else ''}{_range(after, digits)} s"
        faster = _range(one.before / after, 2) if after.lo > 0 else ""
        kind = " class=now" if is_now else ""
        lines.append(f"<tr{kind}><td>{each}</td>{trips}<td class=bar>{bar}</td><td>{said}</td><td>{faster}</td></tr>")
    shown = "".join(f'<th scope="col">{one}</th>' if one else "<td></td>" for one in heads)
    return f'<table class="ledger"><thead><tr>{shown}</tr></thead><tbody>{"".join(lines)}</tbody></table>'


def _range(one: Any, digits: int) -> str:  # noqa: ANN401 - see above
    """A figure, or its bounds where they are apart, with as many decimals as those above and below it."""
    ends = (one.lo, one.hi) if one.hi - one.lo > WIDE * one.value else (one.value,)
    return " to ".join(f"{float(end):,.{digits}f}" for end in ends)


def _question(row: dict[str, Any], rows: float | None, step: float) -> dict[str, float]:
    return {"count": row["count"] * rows / step} if rows else {"factor": step}
