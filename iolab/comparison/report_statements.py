"""The statements of two sets of reports: what an execution took, before and after, and which plans it had.

The sections `SQL ordered by ...` list the largest statements of a report, so a statement that is missing there may have
run.  Figures are averages per execution, of the section's own totals and with the bounds of both.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.comparison.changes import DOWN, UP, Change, decide_together, from_to, measure_change
from iolab.comparison.report_sets import trusted_times
from iolab.comparison.result import SampledStatement
from iolab.metrics.formatting import count_text, share_text, short_text
from iolab.metrics.report_figures import report_facts
from iolab.rules.phrases import percent
from iolab.time_ledger.sampled import sampling_error
from logframe.errors import RefusedError
from logframe.interval import Interval, intersect, row_figure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from awrparse import AwrReport

#: What is computed per execution: column, total of a section, and the average that the section may print.
_PER_EXECUTION: Final = (
    ("elapsed_per_exec_s", "elapsed_s", "elapsed_per_exec_s"),
    ("gets_per_exec", "buffer_gets", "gets_per_exec"),
    ("reads_per_exec", "physical_reads", "reads_per_exec"),
    ("rows_per_exec", "rows_processed", "rows_per_exec"),
)
_ELAPSED: Final = _PER_EXECUTION[0][0]
_OTHERS: Final = tuple(name for name, _, _ in _PER_EXECUTION[1:])
#: Which section goes first where several have a total.
_SECTIONS: Final = ("elapsed", "cpu", "io_wait", "gets", "reads", "executions", "cluster_wait", "parses")
#: Tables that name the plans of a statement, and the column of the plan.
_PLANS: Final = {
    "ash_sql_events": "plan_hash",
    "ash_sql_row_sources": "plan_hash",
    "sql_plans": "plan_hash_value",
}
#: What `change` says of a statement that one set lists, and of one whose time per execution a set does not show.
ONLY_BEFORE: Final = "listed before only"
ONLY_AFTER: Final = "listed after only"
UNKNOWN: Final = "time not shown by both"
#: What `plans` says where both sets show plans.
SAME_PLAN: Final = "same"
NEW_PLAN: Final = "changed"
SOME_PLANS: Final = "partly"
#: This many statements of a kind get a place in a sentence, from this ratio on.
_MOST_NAMED: Final = 3
_LEAST_RATIO: Final = 1.2
#: From this ratio on the rows an execution returned are other work.
_OTHER_ROWS: Final = 1.5
_SHOWN: Final = 40
_MS: Final = 1000

_SIDES: Final = ("before", "after")
#: Columns of the statements; ``least`` and ``greatest`` are over the reports of a set, the rounding included.
STATEMENT_CHANGES: Final = pl.Schema(
    {"instance": pl.String(), "sql_id": pl.String(), "pdb": pl.String(), "change": pl.String()}
    | {f"ratio{end}": pl.Float64() for end in ("", "_least", "_greatest")}
    | {f"{_ELAPSED}_{side}{end}": pl.Float64() for side in _SIDES for end in ("", "_least", "_greatest")}
    | {f"{name}_{side}": pl.Float64() for name in ("share_pct", "executions_per_s", *_OTHERS) for side in _SIDES}
    | {"plans": pl.String(), "plans_before": pl.String(), "plans_after": pl.String()}
    | {"reports_before": pl.Int64(), "reports_after": pl.Int64(), "module": pl.String(), "sql_text": pl.String()}
)

Key = tuple[str, str | None]


@dataclass
class Seen:
    """A statement in one report.

    Attributes:
        figures: Per execution, by the names of `STATEMENT_CHANGES`.
        share: Its elapsed time as a share of the report's DB time.
        executions_per_s: How often it ran.
        plans: The hash values that the report shows.
    """

    figures: dict[str, Interval] = field(default_factory=dict)
    share: float | None = None
    executions_per_s: float | None = None
    plans: frozenset[int] = frozenset()
    module: str | None = None
    text: str | None = None


def statements_of(report: AwrReport) -> dict[Key, Seen]:
    """The statements that a report lists, by SQL id (hash value of Statspack) and pluggable database."""
    found: dict[Key, Seen] = {}
    elapsed, db_time = trusted_times(report)
    plans = _plans(report)
    for row in _rows(report):
        key = (str(row["sql_id"]), row["pdb"])
        one = found.setdefault(key, Seen(plans=plans.get(key, plans.get((key[0], None), frozenset()))))
        one.module, one.text = one.module or row["module"], one.text or row["sql_text"]
        executions, total = row_figure(row, "executions"), row_figure(row, "elapsed_s")
        if one.share is None and total is not None and db_time is not None and db_time.value > 0:
            one.share = total.value / db_time.value
        if one.executions_per_s is None and executions is not None and elapsed is not None and elapsed.lo > 0:
            one.executions_per_s = executions.value / elapsed.value
        for name, column, average in _PER_EXECUTION:
            figure = None if name in one.figures else _per_execution(row, executions, column, average)
            if figure is not None:
                one.figures[name] = figure
    return found


def _rows(report: AwrReport) -> Iterator[dict[str, Any]]:
    """The rows of the sections, the best section first; of a statement listed twice in one section, none."""
    if "sql" in report:
        table = report.with_bounds("sql").with_columns(
            sql_id=pl.coalesce("sql_id", pl.col("old_hash_value").cast(pl.String)),
        )
        sections = pl.col("ordered_by").replace_strict(
            {name: place for place, name in enumerate(_SECTIONS)}, default=None, return_dtype=pl.Int64
        )
        known = table.with_columns(place=sections).drop_nulls(["sql_id", "place"])
        unique = known.filter(~pl.struct("place", "sql_id", "pdb").is_duplicated())
        yield from unique.sort("place", maintain_order=True).iter_rows(named=True)
    if "sql_plans" in report:
        blank = dict.fromkeys(("pdb", "module", "sql_text"))
        by_statement = report["sql_plans"].drop_nulls(["sql_id", "elapsed_ms", "executions"]).group_by("sql_id")
        totals = by_statement.agg(pl.col("elapsed_ms", "executions").sum()).sort("sql_id")
        for row in totals.iter_rows(named=True):
            yield blank | row | {"elapsed_s": row["elapsed_ms"] / _MS}


def _per_execution(row: dict[str, Any], executions: Interval | None, total: str, average: str) -> Interval | None:
    """A total by its executions, within what the section prints as the average; None where they contradict."""
    figure = row_figure(row, total) if total in row else None
    if figure is None or executions is None or executions.lo <= 0:
        return None
    printed = row_figure(row, average) if average in row else None
    try:
        return intersect([figure / executions, *([] if printed is None else [printed])])
    except RefusedError:
        return None


def _plans(report: AwrReport) -> dict[Key, frozenset[int]]:
    """The plans of each statement that tables of samples, or a report on one statement, name; 0 is no plan."""
    found: dict[Key, set[int]] = {}
    for table, column in _PLANS.items():
        if table not in report:
            continue
        frame = report[table]
        rows = frame.select("sql_id", "pdb" if "pdb" in frame.columns else pl.lit(None, pl.String).alias("pdb"), column)
        for sql_id, pdb, plan in rows.drop_nulls(["sql_id", column]).iter_rows():
            if plan:
                found.setdefault((sql_id, pdb), set()).add(plan)
    return {key: frozenset(plans) for key, plans in found.items()}


def changed_statements(
    before: Iterable[tuple[float | None, AwrReport]], after: Iterable[tuple[float | None, AwrReport]]
) -> pl.DataFrame:
    """The statements that the sections of both sets list (`STATEMENT_CHANGES`).

    Those that take longer come first, by the share of DB time that they take more; then those that take less long; then
    those of one set, and the rest.

    Args:
        before: The reports of the first set, each with its place in time.
        after: Those of the second.
    """
    sides = [[(place, statements_of(report)) for place, report in side] for side in (before, after)]
    keys = dict.fromkeys(key for side in sides for _, found in side for key in found)
    seen = {key: [[(place, found[key]) for place, found in side if key in found] for side in sides] for key in keys}
    frame = decide_together([_measure(key, of_sides) for key, of_sides in seen.items()], STATEMENT_CHANGES)
    order = {UP: 0, DOWN: 1, ONLY_AFTER: 2, ONLY_BEFORE: 3}
    # What of the time is due to the change: that after it, or that before it, without what equal executions would take.
    due = {
        UP: pl.col("share_pct_after") * (1 - 1 / pl.col("ratio")),
        DOWN: pl.col("share_pct_before") * (1 - pl.col("ratio")),
    }
    weight = pl.coalesce(
        *(pl.when(change=change).then(one) for change, one in due.items()), "share_pct_after", "share_pct_before"
    )
    return frame.sort(
        pl.col("change").replace_strict(order, default=4, return_dtype=pl.Int64),
        weight,
        descending=[False, True],
        nulls_last=True,
        maintain_order=True,
    )


def _measure(key: Key, seen: list[list[tuple[float | None, Seen]]]) -> Change:
    """A statement of both sets (`STATEMENT_CHANGES`)."""
    row: dict[str, Any] = {"sql_id": key[0], "pdb": key[1]}
    every = [one for side in seen for _, one in side]
    row["module"] = next((one.module for one in every if one.module), None)
    row["sql_text"] = next((one.text for one in every if one.text), None)
    shown: list[frozenset[int]] = []
    for side, found in zip(_SIDES, seen, strict=True):
        ones = [one for _, one in found]
        row[f"reports_{side}"] = len(ones)
        row[f"share_pct_{side}"] = _middle(None if one.share is None else 100 * one.share for one in ones)
        row[f"executions_per_s_{side}"] = _middle(one.executions_per_s for one in ones)
        for name in _OTHERS:
            row[f"{name}_{side}"] = _middle(one.figures[name].value for one in ones if name in one.figures)
        shown.append(frozenset().union(*(one.plans for one in ones)))
        row[f"plans_{side}"] = ", ".join(map(str, sorted(shown[-1]))) or None
    if all(shown):
        row["plans"] = SAME_PLAN if shown[0] == shown[1] else SOME_PLANS if shown[0] & shown[1] else NEW_PLAN
    figures = [[(one.figures[_ELAPSED], place) for place, one in side if _ELAPSED in one.figures] for side in seen]
    for side, listed in zip(_SIDES, figures, strict=True):
        alone = measure_change(listed, listed)
        for end in ("", "_least", "_greatest") if alone else ():
            row[f"{_ELAPSED}_{side}{end}"] = None if alone is None else alone.row[f"before{end}"]
    if not all(seen):
        return Change(row | {"change": ONLY_AFTER if seen[1] else ONLY_BEFORE})
    if (change := measure_change(*figures)) is None:
        return Change(row | {"change": UNKNOWN})
    row |= {name: value for name, value in change.row.items() if name.startswith(("ratio", "change"))}
    return Change(row, change.found)


def _middle(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def sampled_statement(a: AwrReport, b: AwrReport) -> SampledStatement | None:
    """The statement that most samples of a report have and none of its SQL lists, with its share in the other."""
    sides = [report_facts(a), report_facts(b)]
    found = [(share, sql_id, text, at) for at, side in enumerate(sides) for sql_id, text, share in side.sampled_only]
    if not found or not all(side.samples.statements for side in sides):
        return None
    share, sql_id, text, at = max(found)
    listed = {name: other for name, _, other in sides[1 - at].samples.statements}
    one, other = "AB"[at], "BA"[at]
    least = listed.get(sql_id, min(listed.values())) / 100
    those = f"{'' if sql_id in listed else 'less than '}{percent(least)} of those of {other}"
    said = f"No SQL list names `{sql_id}`: {percent(share / 100)} of the samples of {one}, {those}."
    shares = [_share_of(share / 100, sides[at].samples.count)]
    rest = _share_of(least, sides[1 - at].samples.count) if sql_id in listed else Interval(0.0, 0.0, least)
    shares.insert(1 - at, rest)
    return SampledStatement(said, sql_id, text, (shares[0], shares[1]))


def _share_of(share: float, samples: int) -> Interval:
    """A share of samples, with two standard deviations of their number."""
    wide = sampling_error(share * samples) / samples if samples else share
    return Interval(share, max(0.0, share - wide), share + wide)


def statement_sentences(statements: pl.DataFrame) -> Iterator[str]:
    """Which statements changed: how many of those in both sets, and the largest of them.

    Statements that changed by less than a fifth are counted and not named.
    """
    if statements.is_empty():
        return
    both = statements.filter(~pl.col("change").is_in([ONLY_BEFORE, ONLY_AFTER]))
    far = pl.max_horizontal(pl.col("ratio"), 1 / pl.col("ratio")) >= _LEAST_RATIO
    moved = {change: both.filter(far, change=change) for change in (UP, DOWN)}
    if both.height:
        plans = both.filter(plans=NEW_PLAN).height
        changed = f"; {count_text(plans, 'has', 'have')} another plan" if plans else ""
        longer, less = (moved[change].height for change in (UP, DOWN))
        said = f"{longer} took at least a fifth longer per execution, {less} at least a sixth less"
        if not longer and not less:
            said = "none took a fifth longer or a sixth less per execution"
        yield f"Of {count_text(both.height, 'statement')} that both list, {said}{changed}."
    for change, title in ((UP, "Longer"), (DOWN, "Less long")):
        named = [_said(row, change) for row in moved[change].head(_MOST_NAMED).iter_rows(named=True)]
        if named:
            yield f"{title}: {'; '.join(named)}."
    for change, side in ((ONLY_AFTER, "after"), (ONLY_BEFORE, "before")):
        share = f"share_pct_{side}"
        rows = statements.filter(pl.col("change") == change, pl.col(share) >= 1)
        named = [
            f"{_name(row)}, {share_text(row[share] / 100)} of DB time"
            for row in rows.sort(share, descending=True, maintain_order=True).head(_MOST_NAMED).iter_rows(named=True)
        ]
        if named:
            yield f"{change.capitalize()}: {'; '.join(named)}."


def _name(row: Mapping[str, Any]) -> str:
    text = " ".join(str(row["sql_text"] or row["module"] or "").replace("`", "'").split())
    short = short_text(text, _SHOWN)
    return f"`{row['sql_id']}`" + (f" ({short})" if short else "")


def _said(row: Mapping[str, Any], change: str) -> str:
    """A statement that changed: its time, its share, its plans, its rows."""
    columns = {f"{side}{end}": row[f"{_ELAPSED}_{side}{end}"] for side in _SIDES for end in ("", "_least", "_greatest")}
    of_ms = row[f"{_ELAPSED}_before"] < 1
    time = from_to({**row, **columns}, factor=_MS if of_ms else 1, unit="ms" if of_ms else "s")
    side = "after" if change == UP else "before"
    share = row[f"share_pct_{side}"]
    parts = [f"{_name(row)} {time}"]
    parts += [] if share is None else [f"{share_text(share / 100)} of DB time {side}"]
    parts += ["another plan"] if row["plans"] == NEW_PLAN else []
    first, second = (row[f"rows_per_exec_{one}"] for one in _SIDES)
    if first and second and not 1 / _OTHER_ROWS <= second / first <= _OTHER_ROWS:
        parts.append(f"{second / first:.3g} times the rows")
    return ", ".join(parts)


def cautions_of_statements(statements: pl.DataFrame) -> Iterator[str]:
    """What the lists of statements leave open."""
    counts = statements.get_column("change")
    if counts.is_in([ONLY_BEFORE, ONLY_AFTER]).any():
        yield "a statement that one set lists may have run in the other: a report lists the largest only"
    if statements.get_column("plans").is_not_null().any():
        yield "plans of statements are those that samples of sessions met, so a plan that ran shortly may be missing"
