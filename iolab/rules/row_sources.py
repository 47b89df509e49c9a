"""The step of a plan that took most of its statement's time, and the statement for each row of which another ran."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.metrics.formatting import size_text
from iolab.rules.phrases import counted, percent, seconds
from iolab.rules.time_parts import LARGE
from iolab.time_ledger.next_steps import COMMIT_LESS
from iolab.time_ledger.sql_traces import has_plan, is_commit, is_query
from sqlplusparse.predicates import converted_column, converted_in_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlplusparse import Spool

    _Step = dict[str, Any]
    _Steps = Sequence[_Step]

#: A step with this much is the one to name, and a second one from this much on.
_MOST: Final = 0.5
_SECOND: Final = 0.25
#: A scan of a hundred blocks for each row, or an estimate that is as far from the rows, is named.
_MANY: Final = 100
#: Steps that keep some of the rows below them as they are.
_FILTERS: Final = ("TABLE ACCESS", "FILTER", "INDEX")
#: A sort or hash operation on disk waits for both.
_TEMP: Final = ("direct path read temp", "direct path write temp")
_GETS: Final = "made {} of the gets"
_OF_ONE: Final = "took {} of the time of one execution"
#: Plans of fewer gets, and of less time, need no word.
_MANY_GETS: Final = 10_000
LONG_US: Final = 1e6
#: What an operation of a plan of a session did, in words.
_PLAN_COUNTS: Final = {"buffers": "gets", "reads": "reads"}
#: The step of A-Time with some of the rounding of the steps below; and as a part of the time of a plan.
_STEP_S: Final = 0.05
#: From here on a plan prints thousands: the difference of two of them is rounded.
_EXACT: Final = 100_000
#: Rows are far from what a plan expects, or from those that a filter keeps, by this factor, where there are this many.
_FAR_OFF, _MANY_ROWS = 10, 1_000
#: Steps that start the one below for each partition or range of blocks; its rows are expected of all together.
_PIECES: Final = ("PARTITION ", "PX ")
#: Steps that read all of a table or index.
_SCANS: Final = ("TABLE ACCESS FULL", "TABLE ACCESS STORAGE FULL", "INDEX FULL SCAN", "INDEX FAST FULL SCAN")
SEE_PLAN: Final = "see the predicates of the plan, and its rows: iolab show --tables"
GATHER: Final = "gather statistics of its table (dbms_stats.gather_table_stats), then see E-Rows and A-Rows again"
_MORE_MEMORY: Final = (
    "give it more memory: pga_aggregate_target (where workarea_size_policy is manual: hash_area_size, sort_area_size)"
)
#: The predicate of NOT IN where a value may be null: no join is possible, so the rows are read for each row.
_NOT_IN: Final = "LNNVL("
_NOT_EXISTS: Final = "use NOT EXISTS, or declare both columns NOT NULL, so that an anti join is possible"
COMPARE_ITSELF: Final = "compare `{0}` itself, with values or a range of its own type, else index its {1}"
_MORE_COLUMNS: Final = "add the columns that its table is then filtered by to the index `{}`"
_SINGLE: Final = ", reading single blocks: consistent with undo of rows that others changed, or with chained rows"
CHANGED: Final = "see who changes these blocks meanwhile: select * from v$transaction; run it at another time"
_INDEX: Final = "see whether an index serves its predicate on `{}`: select * from dba_ind_columns"
#: A statement that is executed this often may be so for each row of another, whose rows are the same but for this part.
OFTEN: Final = 100
_SAME: Final = 0.01
#: Blocks call recursive statements, too, where there are half as many of them.
_FEW_CALLS: Final = 2
_JOIN: Final = "get its rows by a join in {}, or execute it once for many rows"
INSTEAD: Final = "get its rows by a join in {}, not row by row, or cache them"
#: What to do about a remote table that is read for each row of another.
_REMOTE: Final = "join it as a whole, not row by row: hint use_hash, or driving_site for the remote database"


def main_step(
    steps: _Steps, parents: Sequence[int | None], us: float, gets: int, runs: int, text: str | None, event: str = ""
) -> tuple[str, str]:
    """The step with most of the time, else of the gets, or how few rows it kept of those below it; what to do about it.

    Args:
        steps: rows of ``row_sources`` of one plan, each with what its children have.
        parents: the place of the parent of each; None of the first.
        us: the time of the statement; a plan with less than half of it does not show where it was spent.
        gets: of the statement.
        runs: its executions, of one of which the figures of the plan may be.
        text: of the statement.
        event: what it waited for longest, where that is half of its time.

    Returns:
        A sentence, and a next step where one is better than to see the plan; both empty where the plan does not tell.

    Examples:
        >>> plan = [{"operation": name, "rows": rows, "consistent_gets": gets, "elapsed_us": us, "cardinality": 1}
        ...     for name, rows, gets, us in (("SORT", 5, 20_000, 900), ("SCAN T (object id 7)", 4_000, 20_000, 800))]
        >>> main_step(plan, [None, 0], 1_000, 20_000, 1, ""), main_step(plan, [None, 0], 9_000, 20_000, 1, "")
        ((' `SCAN T` took 80 % of its time.', ''), ('', ''))
    """
    if not steps or (gets < _MANY_GETS and us < LONG_US):
        return "", ""
    parents = _as_one(steps, parents, gets / max(runs, 1))
    for column, least, verb in (("elapsed_us", _MOST * us, "took {} of its time"), ("consistent_gets", 0, _GETS)):
        own = _own(steps, parents, column)
        whole, most, *others = sum(own), *sorted(range(len(steps)), key=lambda n: -own[n])
        if 0 < whole * max(runs, 1) < least:
            return "", ""
        second = [n for n in others[:1] if own[n] >= _SECOND * whole]
        if not whole or sum(own[n] for n in (most, *second)) < _MOST * whole:
            continue
        step, inner = steps[most], [steps[m] for m in _below(parents, most)]
        if len(inner) == 1 and _is_filtered(step, found := inner[0], "rows"):
            name = _operation(found)
            kept, better = _kept(step["rows"], found["rows"], f"`{name}`", name.rpartition(" ")[2])
            return f" `{_operation(step)}` {kept}{_expected(found)}.", better
        of = max(whole, us) if least and whole >= least else whole  # the gets of a statement may be of several plans
        did = (verb if whole >= least else _OF_ONE).format(percent(own[most] / of))
        said = f" `{_operation(step)}` {did}"
        if (outer := _outer(steps, parents, most)) is not None and outer["rows"] >= _MANY:
            rows = f"for each of the {outer['rows']:,} rows of `{_operation(outer)}`{_expected(outer)}"
            return f"{said}, {rows}.", _REMOTE if str(step["operation"]).startswith("REMOTE") else ""
        name, blocks = _operation(step), step["consistent_gets"] or 0
        table = name.rpartition(" ")[2]
        tables = {_operation(one).rpartition(" ")[2] for one in steps if "TABLE ACCESS" in str(one["operation"])}
        is_scan = name.startswith(_SCANS) and blocks >= max(_MANY_GETS, step["rows"])
        few = f"{said}: {blocks:,} gets for {counted(step['rows'], 'rows')}"
        if is_scan and (converted := converted_in_text(text or "", table, is_only=tables == {table})):
            few += "; the statement compares `{}` converted with {}".format(*converted)
            return f"{few}.", COMPARE_ITSELF.format(*converted)
        if is_scan and blocks >= _MANY * step["rows"]:
            is_table, is_single = (
                "TABLE" in name,
                event == "db file sequential read",
            )
            return (f"{few}{_SINGLE}.", CHANGED) if is_table and is_single else (f"{few}.", _INDEX.format(table))
        also = "".join(f", `{_operation(steps[n])}` {percent(own[n] / of)}" for n in second)
        return f"{said}{also}.", ""
    return "", ""


def largest_wait(sums: pl.DataFrame, time: str, whole: float) -> tuple[_Step | None, str]:
    """The event that a statement waited for longest, where that is half of its time.

    Reads and writes of temporary space are one, of a sort or hash operation on disk: the second text says both.

    Args:
        sums: a row for each ``event``.
        time: the column with its time.
        whole: the time of the statement.

    Examples:
        >>> names = ["direct path write temp", "latch free", "direct path read temp"]
        >>> top, said = largest_wait(pl.DataFrame({"event": names, "s": [13.9, 1.0, 18.5]}), "s", 40.2)
        >>> print(top["event"] + said.partition(":")[0])
        direct path read temp; reads and writes of temporary space took 81 % of its time
        >>> largest_wait(pl.DataFrame({"event": names[1:], "s": [1.0, 18.5]}), "s", 40.2)
        (None, '')
    """
    is_temp = pl.col("event").is_in(_TEMP)
    rows = sums.with_columns(both=pl.when(is_temp).then(pl.col(time).filter(is_temp).sum()).otherwise(pl.col(time)))
    top = next(
        rows.sort("both", time, "event", descending=[True, True, False], nulls_last=True).iter_rows(named=True), None
    )
    if top is None or not 0 < whole <= 2 * (top["both"] or 0.0):
        return None, ""
    share = percent(min(1.0, top["both"] / whole))
    spilled = f"; reads and writes of temporary space took {share} of its time: a sort or hash operation on disk"
    return top, spilled * (top["both"] > top[time])


def for_each_row(
    statements: pl.DataFrame, one: _Step, word: Callable[[_Step], str], *, noun: str = "one"
) -> tuple[str, str]:
    """That a statement was executed, or committed, for each row of another, by what; and what to do about it.

    Args:
        statements: with ``part``, ``executions``, ``rows``, ``text``, ``is_recursive``.
        one: a row of them.
        word: what such a row is called.
        noun: what an execution of the statement is called.
    """
    often, commits = one["executions"] or 0, is_commit(one["text"])
    of_call = ~pl.col("is_recursive") & pl.lit(one["is_recursive"])
    rows = statements.filter(
        pl.col("part").ne_missing(pl.lit(one["part"], pl.Int64())), pl.lit(often >= OFTEN),
        of_call | pl.lit(commits) | (pl.col("executions") * OFTEN <= pl.col("rows")),
        pl.col("rows").is_between((1 - _SAME) * often, (1 + _SAME) * often),
    )  # fmt: skip
    called = statements.filter(~pl.col("is_recursive"), pl.col("executions") * _FEW_CALLS > often)
    is_called = one["is_recursive"] and not commits and not all(map(has_plan, called.get_column("text")))
    if is_called or rows.is_empty():
        return "", ""
    name = word(each := rows.row(0, named=True))
    is_call = bool(one["is_recursive"] and not each["is_recursive"] and not commits)  # else a loop
    caller = " (a function in it)" if is_query(each["text"]) else " (a trigger or function of it)"
    said = f", {noun} for each row of {name}" + caller * (is_call and has_plan(one["text"]))
    return said, (COMMIT_LESS if commits else INSTEAD if is_call else _JOIN).format(name)


def _is_filtered(step: _Step, inner: _Step, rows: str) -> bool:
    """Whether a step keeps few of the many rows of the one below it."""
    is_filter = str(step["operation"]).strip().startswith(_FILTERS)
    return is_filter and inner[rows] >= max(_FAR_OFF * (step[rows] or 0), _MANY_ROWS)


def _kept(kept: float, found: float, below: str, name: str) -> tuple[str, str]:
    """How few rows of the step below it a step kept, and what to do about it where that one is of an index."""
    better = _MORE_COLUMNS.format(name) if below.startswith("`INDEX") else ""
    return f"kept {kept:,.0f} of {found:,.0f} rows of {below}", better


def _expected(step: dict[str, Any]) -> str:
    """How many rows the optimizer expected of all starts of a step that returned many more."""
    expected = (step["cardinality"] or 0) * (step.get("starts") or 1)
    return f" ({expected:,} expected)" if expected and step["rows"] >= _MANY * expected else ""


def _outer(steps: Sequence[dict[str, Any]], parents: Sequence[int | None], place: int) -> dict[str, Any] | None:
    """The step for each of whose rows a nested loop executed another one, or what is above it."""
    while (parent := parents[place]) is not None:
        first = next((n for n in _below(parents, parent) if n > parent), place)
        if str(steps[parent]["operation"]).startswith("NESTED LOOPS") and parent < first < place:
            return steps[first]
        place = parent
    return None


def own_times(spool: Spool) -> pl.DataFrame:
    """The operations of plans with A-Time: own times and counts; ``whole`` is with their children.

    Both times are null of one that has more than its whole plan: such a figure is wrong.
    """
    timed, measured = _within(spool.plans.filter(pl.col("a_time_s") > 0)), ["a_time_s", *_PLAN_COUNTS]
    below = timed.group_by("statement", "plan", id="within").agg(pl.col(*measured).sum())
    most = pl.col("whole").filter(pl.col("parent_id").is_null()).max().over("statement", "plan") + _STEP_S
    is_wrong = (pl.col("whole") > (1 + _STEP_S) * most).fill_null(value=False)
    own = timed.join(below, on=["statement", "plan", "id"], how="left", suffix="_below").with_columns(
        *((pl.col(name) - pl.col(f"{name}_below").fill_null(0)).clip(0) for name in measured), whole="a_time_s"
    )
    return own.with_columns(pl.when(~is_wrong).then(pl.col("a_time_s", "whole")))


def _within(timed: pl.DataFrame) -> pl.DataFrame:
    """The operations with the one whose time each is in: its parent, of a scalar subquery the one that ran it."""
    into: dict[tuple[int, int, int], int] = {}
    for key, plan in timed.group_by("statement", "plan", maintain_order=True):
        steps, ids = plan.to_dicts(), plan.get_column("id").to_list()
        parents = [ids.index(one) if (one := step["parent_id"]) in ids else None for step in steps]
        own, (*others, main) = _own(steps, parents, "a_time_s"), [*_below(parents, 0)] or [0]
        if own[0] >= -_STEP_S * (1 + steps[0]["a_time_s"]):
            continue  # else the last of the trees below the statement has the time of the others, too
        holder = max(range(main, len(ids)), key=own.__getitem__)
        if sum(steps[n]["a_time_s"] for n in others) <= own[holder] + _STEP_S:
            into |= {(*key, ids[n]): ids[holder] for n in others}
    rows = timed.select("statement", "plan", "id", "parent_id").iter_rows()
    found = [into.get((statement, plan, step), of) for statement, plan, step, of in rows]
    return timed.with_columns(within=pl.Series(found, dtype=pl.Int64))


def largest_operation(plan: pl.DataFrame) -> dict[str, Any] | None:
    """The operation that took most of a plan's time, where that is a third of it or more."""
    most = plan.filter(pl.col("a_time_s") >= LARGE * pl.col("whole").max())
    found = most.sort("a_time_s", "id", descending=[True, False]).head(1)
    return next(found.iter_rows(named=True), None)


def operation_text(plan: pl.DataFrame, one: dict[str, Any], source: str = "") -> tuple[str, str]:
    """What an operation of a plan took and did, its temporary space, what rows were expected; what to do about it."""
    of = f" of `{one['object_name']}`" if one["object_name"] else ""
    counts = [(one[name] or 0, word) for name, word in _PLAN_COUNTS.items()]
    did = [f"{n if n < _EXACT else float(f'{n:.3g}'):,.0f} {word}" for n, word in counts if n]
    did[:0] = [f"{starts:,.0f} starts"] if (starts := one["starts"] or 0) >= _MANY_ROWS else []
    if one["used_tmp"]:
        passes = f" in {one['passes']:,.0f} pass{'es' * (one['passes'] > 1)}" if one["passes"] else ""
        memory, needed = one["used_mem"] or 0, one["o_mem"] or 0
        had = f", in {size_text(round(memory))} of memory ({size_text(round(needed))} needed)"
        had *= 0 < 2 * memory <= needed
        did.append(f"{size_text(round(one['used_tmp']))} of temporary space{passes}{had}")
    took = f"`{one['operation'].strip()}`{of} took {seconds(one['a_time_s'])}{source}"
    took += f": {', '.join(did)}" if did else ""
    is_scan = one["operation"].strip().startswith(_SCANS)
    took += f" for {counted(one['a_rows'], 'rows')}" * (is_scan and (one["buffers"] or 0) >= _MANY * one["a_rows"])
    inner = plan.filter(pl.col("parent_id") == one["id"]).to_dicts()
    if len(inner) == 1 and _is_filtered(one, inner[0], "a_rows"):
        name = inner[0]["object_name"] or ""
        below = f"`{inner[0]['operation'].strip()}`" + f" of `{name}`" * bool(name)
        kept, better = _kept(one["a_rows"], inner[0]["a_rows"], below, name)
        return f"{took}; it {kept}", better or SEE_PLAN
    if is_scan and any(_NOT_IN in text for text in one["predicates"] or ()):
        return f"{took}; its filter is that of NOT IN with a column that may be null (`LNNVL`)", _NOT_EXISTS
    if said := estimate(plan, one):
        return f"{took}{said}", GATHER
    if is_scan and (converted := converted_column(" ".join(one["predicates"] or ()))):
        return f"{took}; its filter converts `{converted[0]}` with {converted[1]}", COMPARE_ITSELF.format(*converted)
    return took, _MORE_MEMORY if one["used_tmp"] else SEE_PLAN


def estimate(plan: pl.DataFrame, named: dict[str, Any]) -> str:
    """The deepest operation that returned far more or fewer rows than its plan expects of all its starts."""
    steps = plan.to_dicts()
    expected = (pl.col("e_rows") * pl.Series(_loops(steps))).clip(1)
    # A step that is started often finds few rows where the one above it needs no more: no wrong estimate.
    is_cut = pl.col("line").is_in(_cut_steps(steps)) | (pl.col("starts").fill_null(1) > 1)
    off = plan.with_columns(expected=expected).filter(
        (pl.col("a_rows").clip(1) >= _FAR_OFF * pl.col("expected"))
        | ((pl.col("expected") >= _FAR_OFF * pl.col("a_rows").clip(1)) & ~is_cut),
        pl.max_horizontal("a_rows", "expected") >= _MANY_ROWS,
    )
    if off.is_empty():
        return ""
    factor = pl.max_horizontal(
        pl.col("a_rows").clip(1) / pl.col("expected"), pl.col("expected") / pl.col("a_rows").clip(1)
    )
    is_driving = pl.col("line").is_in(_driving_steps(steps, named)) & (pl.col("a_rows") > pl.col("expected"))
    drives = off.filter(is_driving, pl.col("object_name").is_not_null()).sort(factor, "depth", descending=True)
    row = (drives if drives.height else off.sort("depth", "id", descending=[True, False])).row(0, named=True)
    of = f" of `{row['object_name']}`" if row["object_name"] else ""
    subject = "it" if row["line"] == named["line"] else f"`{row['operation'].strip()}`{of}"
    return f"; {subject} returned {row['a_rows']:,.0f} rows, {row['expected']:,.0f} expected"


def _loops(steps: Sequence[dict[str, Any]]) -> list[float]:
    """How often each step was to return the rows expected: its starts, or of a part of partitions those of all."""
    above = {step["id"]: step for step in steps}

    def starts(step: dict[str, Any]) -> float:
        parent = above.get(step["parent_id"])
        return starts(parent) if parent and parent["operation"].strip().startswith(_PIECES) else step["starts"] or 1.0

    return [starts(step) for step in steps]


def _cut_steps(steps: Sequence[dict[str, Any]]) -> list[int]:
    """The lines of the steps that `rownum` ends early, and of those below them: fewer rows are no wrong estimate."""
    ends = {step["id"] for step in steps if "STOPKEY" in step["operation"]}
    for step in steps:
        ends |= {step["id"]} if step["parent_id"] in ends else set()
    return [step["line"] for step in steps if step["id"] in ends]


def _driving_steps(steps: Sequence[dict[str, Any]], named: dict[str, Any]) -> list[int]:
    """The lines of the steps whose rows decide how often a step that was started often was started."""
    above, inner = {step["id"]: step for step in steps}, named
    while (parent := above.get(inner["parent_id"])) is not None:
        outer = [step["id"] for step in steps if step["parent_id"] == parent["id"] and step["id"] < inner["id"]]
        if outer and (inner["starts"] or 0) > (parent["starts"] or 0):
            return [step["line"] for step in steps if min(outer) <= step["id"] < inner["id"]]
        inner = parent
    return []


def _below(parents: Sequence[int | None], place: int | None) -> list[int]:
    return [n for n, parent in enumerate(parents) if parent == place]


def _own(steps: _Steps, parents: Sequence[int | None], column: str) -> list[Any]:
    """What each step took without those below it."""
    values = [step[column] or 0 for step in steps]
    return [value - sum(values[m] for m in _below(parents, n)) for n, value in enumerate(values)]


def _as_one(steps: _Steps, parents: Sequence[int | None], gets: float) -> Sequence[int | None]:
    """The parents, with the trees of scalar subqueries below the step whose gets contain theirs: none counts twice."""
    roots, values = _below(parents, None), [step["consistent_gets"] or 0 for step in steps]
    if len(roots) < 2 or sum(values[n] for n in roots) <= (1 + _SAME) * gets:
        return parents
    main, own = max(roots, key=lambda n: (values[n], n)), _own(steps, parents, "consistent_gets")
    ends = [n for n in roots if n > main] + [len(steps)]
    into = max(range(main, ends[0]), key=lambda n: own[n])
    return [into if n in roots and n != main and values[n] <= own[into] else of for n, of in enumerate(parents)]


def _operation(step: dict[str, Any]) -> str:
    return " ".join(str(step["operation"]).partition("(object id")[0].split())
