"""Two extended SQL traces compared by the statements that both ran: regressions first.

Statements with the same text, at the same depth, are compared per execution, by their own time: without that of the
statements they called, which have rows of their own.  A changed plan is a result.  Where both processed other numbers
of rows per execution they did different work: their times are listed and not called slower or faster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.comparison.result import Pairing, UnpairedError
from iolab.comparison.statements import KEY, MIN_CHANGE, change_of, describe_plan_change, plan_steps
from iolab.metrics.formatting import count_text, figure_text, short_text, time_text
from logframe.interval import Interval, figure_cells

if TYPE_CHECKING:
    from iolab.comparison.result import Options
    from sqltraceparse import SqlTrace

#: What a trace shows of one statement, and of all by normalised text and depth.
_Statement = dict[str, Any]
_Found = dict[tuple[str, int], _Statement]
#: More statements than this are in the frame only.
MOST_LISTED: Final = 8
_SHOWN: Final = 80
#: Rows per execution that differ by more than this share are other work.
_SAME_ROWS: Final = 0.01
#: Figures per execution.
_FIGURES: Final = ("cpu_s", "wait_s", "rows", "gets", "disk_blocks")
_SIDES: Final = ("a", "b")

#: One row a statement that both traces ran.  Times are its own, per execution; those of a trace end in ``_a``, ``_b``.
STATEMENTS: Final = pl.Schema(
    {
        "change": pl.String(),
        "text": pl.String(),
        "depth": pl.Int64(),
        "executions_a": pl.Int64(),
        "executions_b": pl.Int64(),
        "elapsed_s_a": pl.Float64(),
        "elapsed_s_b": pl.Float64(),
        "ratio": pl.Float64(),
        "ratio_lo": pl.Float64(),
        "ratio_hi": pl.Float64(),
        "added_s": pl.Float64(),
        "share_a_pct": pl.Float64(),
        "share_b_pct": pl.Float64(),
        "plan_changed": pl.Boolean(),
        "plan_a": pl.String(),
        "plan_b": pl.String(),
        **{f"{name}_{side}": pl.Float64() for name in _FIGURES for side in _SIDES},
    }
)


def pair_sql_traces(a: SqlTrace, b: SqlTrace, names: tuple[str, str], options: Options) -> Pairing:
    """Two traces compared.

    Frame: ``Statements`` (`STATEMENTS`), those first that added the most time in B.

    Raises:
        UnpairedError: If they have no executed statement in common.
    """
    del options  # of runs that are samples; the executions of one session are not
    first, second = _statements(a), _statements(b)
    keys = [key for key in first if key in second]
    if not keys:
        raise UnpairedError("the traces have no executed statement with the same text")
    totals = [sum(row["own_elapsed_us"] for row in side.values()) / 1e6 for side in (first, second)]
    rows = {key: _row(first[key], second[key], totals) for key in keys}
    keys.sort(key=lambda key: _rank(rows[key]))
    frame = pl.DataFrame([rows[key] for key in keys], schema=STATEMENTS, orient="row")
    paragraphs = [_headline(frame)]
    changed = [key for key in keys if rows[key]["change"] in {"slower", "faster"} or rows[key]["plan_changed"]]
    for key in changed[:MOST_LISTED]:
        steps = (plan_steps(log.row_sources, own[key]["statement"]) for log, own in ((a, first), (b, second)))
        paragraphs.append(_describe(rows[key], describe_plan_change(*steps)))
    paragraphs.append(
        "The times are those of the executions in these traces. One trace each does not show how much the times of "
        "other runs would differ."
    )
    for name, trace in zip(names, (a, b), strict=True):
        if trace.waits.is_empty():
            paragraphs.append(f"{name} has no waits (level 1 or 4): what is not CPU is unaccounted for.")
    why = f"both executed {count_text(len(keys), 'statement')} with the same text"
    frames, shown = ({"Statements": one} for one in (frame, frame.drop(_LEFT_OUT)))
    return Pairing(names, why, tuple(paragraphs), frames, shown, is_lettered=True, verdict=paragraphs[0])


#: Columns of the frame that a table for readers leaves out.
_LEFT_OUT: Final = ("ratio_lo", "ratio_hi", "depth", "cpu_s_a", "cpu_s_b", "wait_s_a", "wait_s_b")


def _statements(trace: SqlTrace) -> _Found:
    """The executed statements of a trace by normalised text and depth, with sums over their executions."""
    texts = trace.statements.filter(pl.col("text").is_not_null(), "is_whole").select("statement", "text")
    own = trace.calls.filter(pl.col("op") != "CLOSE").join(texts.with_columns(key=KEY), on="statement")
    found = own.group_by("key", "depth", maintain_order=True).agg(
        pl.col("text").first(),
        pl.col("statement").unique(maintain_order=True),
        pl.col("own_elapsed_us", "own_cpu_us", "own_wait_us", "own_disk_blocks").sum(),
        gets=pl.col("own_consistent_gets").sum() + pl.col("own_current_gets").sum(),
        rows=pl.col("rows").sum(),
        calls=pl.len().cast(pl.Int64),
        executions=(pl.col("op") == "EXEC").sum().cast(pl.Int64),
        plans=pl.col("plan_hash").filter(pl.col("plan_hash") > 0).unique().sort(),
    )
    error = trace.resolution_us if trace.resolution_us > 1 else 0
    rows = found.filter(pl.col("executions") > 0).with_columns(error_us=pl.col("calls") * error)
    return {(row["key"], row["depth"]): row for row in rows.iter_rows(named=True)}


def _row(a: _Statement, b: _Statement, totals: list[float]) -> dict[str, Any]:
    """One statement in both traces (`STATEMENTS`)."""
    ratio = _ratio(a, b)
    times = [side["own_elapsed_us"] / 1e6 / side["executions"] for side in (a, b)]
    rows = [side["rows"] / side["executions"] for side in (a, b)]
    is_other_work = abs(rows[0] - rows[1]) > _SAME_ROWS * max(rows)
    plans = [", ".join(map(str, side["plans"])) or None for side in (a, b)]
    row: dict[str, Any] = {
        "change": "other rows" if is_other_work else change_of(ratio),
        "text": " ".join(str(a["text"]).split()),
        "depth": a["depth"],
        **figure_cells("ratio", ratio),
        "added_s": (times[1] - times[0]) * b["executions"],
        "plan_changed": None if None in plans else plans[0] != plans[1],
    }
    for side, one, time, total, plan in zip(_SIDES, (a, b), times, totals, plans, strict=True):
        count = one["executions"]
        row |= {
            f"executions_{side}": count,
            f"elapsed_s_{side}": time,
            f"share_{side}_pct": 100 * time * count / total if total else None,
            f"plan_{side}": plan,
            f"cpu_s_{side}": one["own_cpu_us"] / 1e6 / count,
            f"wait_s_{side}": one["own_wait_us"] / 1e6 / count,
            f"rows_{side}": one["rows"] / count,
            f"gets_{side}": one["gets"] / count,
            f"disk_blocks_{side}": one["own_disk_blocks"] / count,
        }
    return row


def _ratio(a: _Statement, b: _Statement) -> Interval | None:
    """B / A of the own time of an execution, with what the step of the clock allows; None where A shows no time."""
    sides = []
    for one in (a, b):
        time, error = one["own_elapsed_us"], one["error_us"]
        sides.append(Interval(time, max(0, time - error), time + error) / one["executions"])
    return None if sides[0].lo <= 0 else sides[1] / sides[0]


def _rank(row: dict[str, Any]) -> tuple[int, float]:
    """Regressions by the time they add, then improvements by what they save, then the rest by their time."""
    order = {"slower": 0, "faster": 1}.get(row["change"], 2)
    return order, -abs((row["added_s"] if order < 2 else row["share_b_pct"]) or 0.0)


def _headline(frame: pl.DataFrame) -> str:
    """How many statements got slower and faster, and what the largest change is."""
    alike = frame.filter(pl.col("change") != "other rows")
    if alike.is_empty():
        return "No statement processed as many rows per execution in both."
    slower, faster = (alike.filter(change=change).height for change in ("slower", "faster"))
    more, other = f"{100 * MIN_CHANGE:.0f} %", frame.height - alike.height
    said = f"Of {count_text(alike.height, 'statement')} that did the same work, {slower} took more than {more} longer "
    said += f"in B and {faster} more than {more} less"
    said += f"; {other} more processed other numbers of rows" if other else ""
    changed = alike.filter(pl.col("change").is_in(["slower", "faster"]))
    if changed.height:
        top = changed.sort(pl.col("added_s").abs(), descending=True).row(0, named=True)
        times = " to ".join(time_text(top[f"elapsed_s_{side}"]) for side in _SIDES)
        said += f". The largest change is {times} per execution of `{short_text(top['text'], _SHOWN)}`"
    return f"{said}."


def _describe(row: dict[str, Any], steps: str) -> str:
    """One statement in words: time of an execution, plan, gets and blocks; what changed in the steps of its plan."""
    said = [f"{short_text(row['text'], _SHOWN)}: {row['change']}"]
    times = " to ".join(time_text(row[f"elapsed_s_{side}"]) for side in _SIDES)
    ratio = "" if row["ratio"] is None else f" (B / A {figure_text(row['ratio'])})"
    counted = " and ".join(f"{row[f'executions_{side}']:,}" for side in _SIDES)
    said.append(f"{times} per execution{ratio}, {counted} executions")
    for name, what in (("rows", "rows"), ("gets", "gets"), ("disk_blocks", "blocks from disk")):
        values = [row[f"{name}_{side}"] for side in _SIDES]
        if max(values) > 0:
            said.append(f"{what} {' to '.join(figure_text(value) if value else '0' for value in values)}")
    if row["plan_changed"]:
        said.append(f"other plan ({row['plan_a']} to {row['plan_b']}{f'; {steps}' if steps else ''})")
    return f"{'; '.join(said)}."
