"""Two sessions compared by the statements that both timed: regressions first, then improvements, then the set.

Statements with the same text and the same number of rows are compared, whatever their plans: a changed plan is a
result.  Of repeated runs each statement gets a verdict (`iolab.comparison.compare`); a statement timed once has a
ratio, and no verdict, as the spread of its runs is not known.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab import charts
from iolab.comparison.result import Options, Pairing
from iolab.comparison.samples import compare
from iolab.comparison.statements import (
    MIN_CHANGE,
    STATEMENTS,
    Match,
    describe_plan_change,
    describe_row,
    find_failures,
    find_statements,
    plan_steps,
)
from iolab.metrics.formatting import count_text, format_figure, format_number, short_text
from iolab.stats.pairs import compare_paired
from iolab.stats.samples import SampleError
from iolab.stats.verdict import describe_time
from logframe.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iolab.stats.comparison import Comparison
    from iolab.stats.pairs import PairedComparison
    from sqlplusparse import Spool

#: More statements than this are in the frame only.
MOST_LISTED: Final = 8
_SHOWN: Final = 100
_DIRECTIONS: Final = {
    "slower": "slower",
    "faster": "faster",
    "same": f"within {MIN_CHANGE:.0%} or the clock's step",
    "unknown": "of unknown ratio (shown as zero)",
}


def compare_statements(a: Spool, b: Spool, names: tuple[str, str], options: Options) -> Pairing | None:
    """The statements that both sessions timed; None without one.

    Frame: ``Statements`` (`STATEMENTS`), the worst first.
    """
    first, second = find_statements(a), find_statements(b)
    matches = [Match(first[text], second[text]) for text in first if text in second]
    if not matches:
        return None
    alike = [match for match in matches if not match.has_other_rows]
    totals = (sum(match.medians[0] for match in alike), sum(match.medians[1] for match in alike))
    results: list[tuple[dict[str, Any], Match, Comparison | None]] = []
    for match in alike:
        row, found = describe_row(match, totals), None
        if match.is_repeated:
            with suppress(SampleError):
                found = compare_match(match, names, options)
        if found is not None:
            row |= {"verdict": found.verdict, "ratio_ci_lo": found.ratio.lo, "ratio_ci_hi": found.ratio.hi}
            row["change"] = found.verdict if found.verdict in ("slower", "faster") else row["change"]
        results.append((row, match, found))
    results.sort(key=lambda result: _rank(result[0]))
    compared = [(match, found) for _, match, found in results if found is not None]
    frame = pl.DataFrame([row for row, _, _ in results], schema=STATEMENTS, orient="row")
    failed = failures(a, b)
    whole, said = _compare_set(alike, names, options) if len(alike) > 1 else (None, "")
    headline = _headline(frame, len(matches), totals, whole)
    paragraphs = [headline, *failed]
    for change in ("slower", "faster"):
        listed = [(row, match) for row, match, _ in results if row["change"] == change]
        paragraphs += [_describe(row, plan_change(a, b, match)) for row, match in listed[:MOST_LISTED]]
        if len(listed) > MOST_LISTED:
            paragraphs.append(f"{len(listed) - MOST_LISTED} more that got {change} are in the table.")
    unmoved = [row for row, _, _ in results if row["change"] not in ("slower", "faster") and row["plan_changed"]]
    paragraphs += [_describe(row, "") for row in unmoved[:MOST_LISTED]]
    paragraphs += [f"{short_text(match.a.text, _SHOWN)}: {found}" for match, found in compared[:MOST_LISTED]]
    if len(compared) > MOST_LISTED:
        paragraphs.append(f"{len(compared) - MOST_LISTED} more comparisons of repeated runs are in the table.")
    paragraphs += [said] if said else []
    paragraphs += _left_out([match for match in matches if match.has_other_rows])
    frames = {"Statements": frame} if alike else {}
    drawers = tuple(
        partial(draw_runs, match.a.runs, match.b.runs, names, short_text(match.a.text, _SHOWN))
        for match, _ in compared[:MOST_LISTED]
    )
    why = f"both timed {counted(len(matches), 'statement')} with the same text"
    return Pairing(
        names,
        why,
        tuple(paragraphs),
        frames,
        _shown_tables(frames),
        is_lettered=True,
        drawers=drawers,
        verdict=" ".join([_verdict(frame, [found for _, found in compared], headline), *failed]),
    )


def failures(a: Spool, b: Spool) -> list[str]:
    """The statements that one session timed, and that ended in an error in the other."""
    said = []
    for name, failing, other in (("B", b, a), ("A", a, b)):
        failed, done = find_failures(failing), find_statements(other)
        both = [f"{short_text(done[key].text, _SHOWN)} ({error})" for key, error in failed.items() if key in done]
        if both:
            more = f"; and {len(both) - MOST_LISTED} more" if len(both) > MOST_LISTED else ""
            said.append(f"Failed in {name}: {'; '.join(both[:MOST_LISTED])}{more}.")
    return said


def _verdict(frame: pl.DataFrame, compared: Sequence[Comparison], headline: str) -> str:
    """The result in one sentence: of the one statement that was repeated, else how many got slower and faster."""
    if frame.height == 1 and compared:
        return compared[0].headline
    return headline.partition(". ")[0].removesuffix(".") + "."


def _rank(row: dict[str, Any]) -> tuple[int, float]:
    """Regressions by the time they add, then improvements by what they save, then the others by their time."""
    a, b = row["elapsed_s_a"], row["elapsed_s_b"]
    place = {"slower": 0, "faster": 1, "unknown": 2, "same": 3}[row["change"]]
    return place, {0: a - b, 1: b - a}.get(place, -max(a, b))


def compare_match(match: Match, names: tuple[str, str], options: Options) -> Comparison:
    """The repeated runs of a statement as samples.

    Raises:
        SampleError: If they are no samples.
    """
    known: dict[str, str] = {}
    for column, condition in (
        ("plan_hash_value", "plan hash"),
        ("rows", "row count"),
        ("physical_reads", "physical reads"),
    ):
        sides = match.distinct(column)
        if all(sides):
            shown = " against ".join(", ".join(map(str, side[:3])) for side in sides)
            known[condition] = "equal" if sides[0] == sides[1] else f"different ({shown})"
    times = match.a.times, match.b.times
    order_a, order_b = options.places(times[0].len(), times[1].len())
    return compare(
        *times,
        names=names,
        resolution=_resolution([match]),
        threshold=options.threshold,
        order_a=order_a,
        order_b=order_b,
        design=options.design,
        conditions=known,
    )


def plan_change(a: Spool, b: Spool, match: Match) -> str:
    """What changed in the plan of a statement; empty where it did not, or the logs do not show the plans."""
    if not match.is_plan_changed:
        return ""
    return describe_plan_change(plan_steps(a.plans, match.a.places), plan_steps(b.plans, match.b.places))


def _headline(frame: pl.DataFrame, matched: int, totals: tuple[float, float], whole: PairedComparison | None) -> str:
    """How many statements got slower and faster, what many small changes are together, and the time of all."""
    counts = dict(frame.group_by("change").agg(pl.len()).iter_rows())
    parts = [f"{counts[change]} {said}" for change, said in _DIRECTIONS.items() if change in counts]
    if not parts:
        return f"Of {count_text(matched, 'statement')} with the same text none can be compared."
    changed = frame.get_column("plan_changed").sum()
    plans = f"; the plan of {changed} changed" if changed else ""
    first, second = (format_number(round(total, 2)) for total in totals)
    share = frame.filter(pl.col("change") == "slower").get_column("share_b_pct").sum()
    part = f" Those that got slower take {share:.0f} % of B's time." if counts.get("slower") else ""
    together = ""
    if whole is not None and whole.verdict in ("slower", "faster") and "same" in counts:
        together = f"; in the middle {describe_time('B', 'A', whole.pct_less_time)}"
    return (
        f"Of {counted(frame.height, 'statement')} in B against A: {', '.join(parts)}{together}{plans}. "
        f"One run of each takes {first} s in A and {second} s in B.{part}"
    )


def _describe(row: dict[str, Any], steps: str) -> str:
    """A statement that changed: times, ratio, share, plan, gets and reads."""
    a, b = (format_number(row[f"elapsed_s_{side}"]) for side in "ab")
    said = {"slower": "Slower", "faster": "Faster"}.get(row["change"], "Plan changed")
    value, lo, hi = format_figure(row["ratio"], row["ratio_lo"], row["ratio_hi"])
    times = f", {value}x" + (f" ({lo} to {hi} by the clock's step)" if lo != hi else "") if value else ""
    if row["ratio"] is None and (least := row["ratio_lo"]):
        times = f", {format_number(float(f'{least:.2g}'))}x at least"
    share = "" if row["share_b_pct"] is None else f", {row['share_b_pct']:.0f} % of B's time"
    parts = [f"{said}: {short_text(row['text'], _SHOWN)}: {a} s -> {b} s{times}{share}"]
    if row["plan_changed"]:
        parts.append(f"plan changed ({row['plan_a']} -> {row['plan_b']}{': ' + steps if steps else ''})")
    elif row["plan_changed"] is None:
        parts.append("plans not shown")
    else:
        parts.append("same plan")
    for fact in ("gets", "physical_reads"):
        sides = [row[f"{fact}_{side}"] for side in "ab"]
        if None not in sides:
            first, second = map(format_number, sides)
            parts.append(f"{fact.replace('_', ' ')} {first} -> {second}")
    if row.get("verdict") is None:
        parts.append("timed once: no verdict" if 1 in (row["runs_a"], row["runs_b"]) else "no verdict")
    else:
        parts.append(f"verdict: {row['verdict']}")
    return "; ".join(parts) + "."


def _compare_set(alike: list[Match], names: tuple[str, str], options: Options) -> tuple[PairedComparison | None, str]:
    """The set as a whole: geometric mean of the ratios, total time; none where its verdict would hide a statement."""
    timed = [match for match in alike if min(match.medians) > 0]
    left_out = len(alike) - len(timed)
    zero = f"{count_text(left_out, 'statement')} with a time shown as zero"
    if any(describe_row(match, (0.0, 0.0))["change"] != "unknown" for match in alike if min(match.medians) <= 0):
        return None, f"The set is not compared: {zero}, and a change."
    if left_out and len(timed) < 2:
        return None, f"The set is not compared: {zero} {'have' if left_out > 1 else 'has'} no ratio."
    try:
        result = compare_paired(
            [match.medians[0] for match in timed],
            [match.medians[1] for match in timed],
            names=names,
            labels=[short_text(match.a.text, _SHOWN) for match in timed],
            plan_hashes=_single(timed, "plan_hash_value"),
            row_counts=_single(timed, "rows"),
            resolution=_resolution(timed),
            threshold=options.threshold,
        )
    except SampleError as error:
        return None, f"The set is not compared: {error}."
    return result, f"The set{f', without {zero}' if left_out else ''}: {result}"


def _single(matches: list[Match], column: str) -> tuple[list[int | None], list[int | None]]:
    """The one figure that the runs of each statement show in a column, in each session; None where they differ."""
    sides = zip(*(match.distinct(column) for match in matches), strict=True)
    a, b = ([found[0] if len(found) == 1 else None for found in side] for side in sides)
    return a, b


def _resolution(matches: list[Match]) -> float | None:
    """The step of the clocks; None where a time is below it: clients of different steps have no step in common."""
    sides = [one for match in matches for one in (match.a, match.b)]
    coarser = max((step for one in sides if (step := one.resolution) is not None), default=None)
    return coarser if coarser and min(float(str(one.times.min())) for one in sides) >= coarser else None


def _left_out(others: list[Match]) -> list[str]:
    if not others:
        return []
    shown = []
    for match in others[:MOST_LISTED]:
        sides = (", ".join(map(str, counts)) for counts in match.distinct("rows"))
        times = " -> ".join(f"{format_number(middle)} s" for middle in match.medians)
        shown.append(f"{short_text(match.a.text, _SHOWN)} ({' against '.join(sides)} rows, {times})")
    more = f"; and {len(others) - MOST_LISTED} more" if len(others) > MOST_LISTED else ""
    return [f"Not compared, as the row counts differ and they did different work: {'; '.join(shown)}{more}."]


def _shown_tables(frames: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """The frames for readers: without columns that no row has."""
    return {
        title: frame.select(column for column in frame.get_columns() if column.null_count() < frame.height)
        for title, frame in frames.items()
    }


def draw_runs(x: pl.DataFrame, y: pl.DataFrame, names: tuple[str, str], title: str) -> Any:  # noqa: ANN401 - any chart
    """Every run of two samples in its place."""
    runs = pl.concat(
        one.select(pl.lit(name).alias("sample"), run=pl.int_range(1, pl.len() + 1), elapsed_s=pl.col("elapsed_s"))
        for name, one in zip(names, (x, y), strict=True)
    )
    return charts.run_strip.spec(runs, title=title)
