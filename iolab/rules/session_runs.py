"""The runs of one statement in words: what sets them apart, their order, else their median."""

from __future__ import annotations

import itertools
from statistics import median
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.metrics.formatting import count_text, short_text, size_text
from iolab.metrics.spool_statements import SAMPLE
from iolab.rules import phrases
from iolab.rules.time_parts import PART
from iolab.stats.first_runs import is_apart, two_groups
from iolab.stats.intervals import MIN_RUNS, median_interval
from iolab.stats.order import ALPHA, estimate_trend
from iolab.stats.samples import clock_step
from iolab.time_ledger.next_steps import lob_step
from iolab.time_ledger.spools import is_flush
from sqlplusparse import queried_tables
from sqlplusparse.predicates import converted_column
from sqltraceparse import without_literals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlplusparse import Spool

#: A trend is reported of this many runs, where the first and the last third differ by so much.
_LEAST_FOR_TREND: Final = 9
_LEAST_CHANGE: Final = 0.02
#: Times and round trips of runs that differ by this factor are named beside each other.
_FACTOR: Final = 2.0
#: Independent times of five runs are in order once in 60.
_LEAST_IN_ORDER: Final = 5
#: From this many on round trips, or blocks from disk, may be what sets runs apart.
MANY_TRIPS: Final = 1_000
_MOST_PLANS: Final = 4
_FULL_SCANS: Final = ("TABLE ACCESS FULL", "INDEX FAST FULL SCAN", "INDEX FULL SCAN", "INDEX FULL SCAN DESCENDING")
_MUCH_REDO: Final = 2**20
#: Round trips that are worth a word.
LEAST_TRIPS: Final = 10
#: More times that follow from changes are not said one by one.
_MOST_CHANGED: Final = 4
_MOST_TEXT: Final = 50
#: As many recursive calls as rows, but for this part, are one for each row.
_NEAR: Final = 0.1
#: Of more runs before a change the first may have been a cold one.
_FEW: Final = 2


def plans_between(spool: Spool, row: dict[str, Any]) -> list[int | None]:
    """The plan of each run; where no run has one, that which a query after it returned alone."""
    known: list[int | None] = row["plans"]
    if any(known) or not len(known) == row["runs"] == len(row["statements"]) > 1:
        return known
    found: dict[int, int] = {}
    for one in queried_tables(spool):
        column, run = one.find("plan_hash_value"), _run_before(row, one.statement)
        if column is not None and run is not None and len(one.rows) == 1 and (text := one.rows[0][column]).isdecimal():
            found.setdefault(run, int(text))
    return [found.get(run) for run in row["statements"]]


def gets_between(spool: Spool, row: dict[str, Any]) -> list[float | None]:
    """The gets of each run, as session logical reads that were listed before and after it tell; None of others."""
    if not len(row["times"]) == row["runs"] == len(row["statements"]) > 1:
        return []
    texts = spool.statements.select("statement", "text").drop_nulls().iter_rows()
    own = [statement for statement, text in texts if "v$mystat" in text.lower()]
    listed = spool.statistics.filter(pl.col("name") == "session logical reads", pl.col("basis") == "cumulative")
    places = listed.filter(pl.col("statement").is_in(own)).select("statement", "value").drop_nulls().rows()
    found: dict[int, float] = {}
    for one, two in itertools.pairwise(places):
        runs = [run for run in row["statements"] if one[0] < run < two[0]]
        found |= {runs[0]: two[1] - one[1]} if len(runs) == 1 else {}
    return [found.get(run) for run in row["statements"]]


def without_index(spool: Spool, table: str, predicates: str) -> list[str]:
    """The columns that a scan filters, where the session lists the indexes of the table and none has one of them."""
    pieces = predicates.split('"')
    wanted = dict.fromkeys(name for name, after in zip(pieces[1::2], pieces[2::2], strict=False) if after[:1] != ".")
    for one in queried_tables(spool):
        place = one.find("column_name")
        if place is None or not any(word.endswith("_ind_columns") for word in one.words):
            continue
        cells = {cell.strip() for row in one.rows for cell in row}
        if {table, f"'{table}'"} & {*cells, *one.words}:
            return [] if cells & {*wanted} else [f"`{name}`" for name in wanted]
    return []


def full_scan(plans: pl.DataFrame) -> tuple[str, str]:
    """The only table of which all is scanned, else that of most cost where its filter converts a column; its filter."""
    scans = plans.filter(pl.col("operation").str.strip_chars().is_in(_FULL_SCANS)).drop_nulls("object_name")
    of: dict[str, str] = {}
    scans = scans.sort("cost", descending=True, nulls_last=True)
    for name, predicates in scans.select("object_name", "predicates").iter_rows():
        of[name] = " ".join([of.get(name, ""), *(predicates or ())])
    name, said = next(iter(of.items()), ("", ""))
    return (name, said) if len(of) == 1 or converted_column(said) else ("", "")


def not_served(spool: Spool, costs: pl.DataFrame, row: dict[str, Any], table: str, converted: tuple[str, str]) -> str:
    """The index that a function on a column keeps from serving a scan, and how fast a statement without it was."""
    column, function = converted
    index, other = _index_on(spool, table, column), _without(costs, row, *converted)
    said = f"its filter converts `{column}` with {function}"
    said += f", so index `{index}` does not serve it" * bool(index)
    return f"{said}{f'; {other}' * bool(other)}" if index or other else ""


def _index_on(spool: Spool, table: str, column: str) -> str:
    """The index of which a column is the first one, where the session lists the columns of the indexes of its table."""
    for one in queried_tables(spool):
        names = ("index_name", "column_name", "column_position", "table_name")
        name, of, position, of_table = (one.find(name) for name in names)
        is_index = any(word.endswith("_ind_columns") for word in one.words)
        if name is None or of is None or position is None or not is_index:
            continue
        if of_table is None and {word for word in one.words if word[0] == "'"} != {f"'{table}'"}:
            continue
        for row in one.rows:
            is_of_table = of_table is None or row[of_table].strip() == table
            if is_of_table and row[of].strip() == column and row[position].strip() == "1":
                return row[name].strip()
    return ""


def _without(costs: pl.DataFrame, row: dict[str, Any], column: str, function: str) -> str:
    """A statement that selects the same by a column without a function, and returned as many rows faster."""
    selected, _, condition = " ".join(str(row["text"]).lower().split()).partition(" where ")
    if function.lower() not in condition or not row["rows"]:
        return ""
    for one in costs.filter(pl.col("rows") * row["runs"] == row["rows"] * pl.col("runs")).iter_rows(named=True):
        text, _, other = " ".join(str(one["text"]).lower().split()).partition(" where ")
        is_faster = bool(one["times"]) and _FACTOR * max(one["times"]) <= min(row["times"], default=0.0)
        if text == selected and column.lower() in other and function.lower() not in other and is_faster:
            who = f"{'the statement at ' * one['part'].startswith('line')}{one['part']}"
            return f"{who}, without {function}, returned as many rows in {phrases.seconds(max(one['times']))}"
    return ""


def _run_before(row: dict[str, Any], statement: int | None) -> int | None:
    return max((run for run in row["statements"] if statement is not None and run < statement), default=None)


def changed(row: dict[str, Any]) -> str:
    """Runs that took much longer, or shorter, from a change on: their times, and what was changed."""
    runs = list(zip(row["times"], row["changes"], strict=False))
    if row["kind"] == "transaction" or len(runs) != row["runs"] or min(row["times"]) <= 0 or len(plans_of(row)) > 1:
        return ""
    parts: list[tuple[str, list[float]]] = []
    for time, text in runs:
        if parts and (text is None or (is_flush(text) and time < parts[-1][1][-1])):
            parts[-1][1].append(time)
        else:
            parts.append((text or "", [time]))
    others = [parts[0]]
    for text, times in parts[1:]:
        before = others[-1][1]
        if min(times) >= _FACTOR * max(before) or min(before) >= _FACTOR * max(times):
            others.append((text, times))
        else:
            before += times
    said, colds = list[str](), [_cold(times, _FEW if not n else 1) for n, (_, times) in enumerate(others)]
    others = [(text, times[cold is not None :]) for (text, times), cold in zip(others, colds, strict=True)]
    if not 1 < len(others) <= _MOST_CHANGED or any(max(times) >= _FACTOR * min(times) for _, times in others):
        return ""
    for n, ((text, times), cold) in enumerate(zip(others, colds, strict=True)):
        first = (
            "" if cold is None else f"{phrases.three(cold)} s and " if n else f"first {phrases.three(cold)} s, then "
        )
        said.append(f"{first}{_from_to(times)} s{f' after `{short_text(text, _MOST_TEXT)}`' * bool(n)}")
    return f"{len(runs)} runs; {', then '.join(said)}"


def _cold(times: Sequence[float], few: int) -> float | None:
    """The first of more than a few runs, where it took longest: it may have filled a cache."""
    return times[0] if len(times) > few and times[0] > max(times[1:]) else None


def by_reads(row: dict[str, Any]) -> str:
    """Runs that read blocks from disk, or made recursive calls, and took longer, and those that did not."""
    return _by_count(row, "reads", "block", " from disk") or _by_count(row, "recursive", "recursive call")


def _by_count(row: dict[str, Any], column: str, noun: str, more: str = "") -> str:
    runs = [run for run in zip(row[column], row["times"], strict=True) if run[0] is not None]
    most = max((count for count, _ in runs), default=0)
    cold = [run for run in runs if _FACTOR * run[0] > most]
    warm = [run for run in runs if run not in cold]
    if len(runs) < len(row["times"]) or most < MANY_TRIPS or not warm or len(plans_of(row)) > 1:
        return ""
    if min(time for _, time in cold) < _FACTOR * max(time for _, time in warm):
        return ""
    slow, fast = (_from_to([time for _, time in one]) for one in (cold, warm))
    few = max(count for count, _ in warm)
    least = f"at most {count_text(few, noun)}" if few else "none"
    return f"{len(runs)} runs; with {count_text(most, noun)}{more} {slow} s, with {least} {fast} s"


def _from_to(times: list[float]) -> str:
    ends = [phrases.three(end) for end in (min(times), max(times))]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def plans_of(row: dict[str, Any]) -> dict[int, list[float]]:
    """The times of the runs of each plan."""
    plans: dict[int, list[float]] = {}
    for plan, time in zip(row["plans"], row["times"], strict=True):
        if plan is not None:
            plans.setdefault(plan, []).append(time)
    return plans


def _gets_of(row: dict[str, Any], plan: int) -> str:
    """The median of the gets of the runs of a plan, where they are known."""
    pairs = zip(row["plans"], row.get("gets_between", ()), strict=False)
    gets = [count for one, count in pairs if one == plan and count is not None]
    return f" and {median(gets):,.0f} gets" if gets else ""


def explained_by(kind: str, row: dict[str, Any], plans: pl.DataFrame) -> bool:
    """Whether statistics of a kind (`explains` of `listings.toml`) may be why a statement took its time."""
    if kind == "repeated":
        reads = [one or 0 for one in row["reads"]]
        return len(reads) > 1 and min(reads) * _FACTOR > max(reads) and min(reads) >= MANY_TRIPS
    if kind == "temporary":
        return bool(row["disk_sorts"])
    if kind == "parallel":
        hints = (part.partition("*/")[0] for part in str(row["text"] or "").lower().split("/*+")[1:])
        words = [word for hint in hints for word in hint.split() if word[:8] == "parallel"]
        return row["kind"] == "select" and any([*words, *(one.strip()[:3] == "PX " for one in plans["operation"])])
    return True


def by_trips(row: dict[str, Any]) -> str:
    """Runs with more and fewer round trips, where those with more took longer."""
    runs = [run for run in zip(row["trips"], row["times"], strict=True) if run[0]]
    (fewest, fast), (most, slow) = (min(runs), max(runs)) if len(runs) == len(row["times"]) else ((1, 0.0), (1, 0.0))
    if most < MANY_TRIPS or most < _FACTOR * fewest or slow < max(row["times"]) or slow < _FACTOR * fast:
        return ""
    said = f"{len(runs)} runs; {most:,} round trips took {phrases.three(slow)} s"
    return f"{said}, {count_text(fewest, 'round trip')} {phrases.three(fast)} s"


def in_order(row: dict[str, Any]) -> str:
    """Runs of which each took longer than the one before, or shorter."""
    times = row["times"]
    pairs = list(itertools.pairwise(times))
    is_longer, is_shorter = (all(sign * a < sign * b for a, b in pairs) for sign in (1, -1))
    if len(times) < _LEAST_IN_ORDER or not (is_longer or is_shorter) or max(times) < _FACTOR * min(times):
        return ""
    first, last = phrases.three(times[0]), phrases.three(times[-1])
    return (
        f"{len(times)} runs, each {'longer' if is_longer else 'shorter'} than the one before, from {first} to {last} s"
    )


def sample(row: dict[str, Any], *, is_whole: bool) -> str:
    """The median of runs, from six on with its 95 % interval; of several plans the median of each."""
    times = row["times"]
    plans = plans_of(row)
    if len(plans) > 1:
        listed = [
            f"{len(own)} of plan `{plan}`, median {phrases.three(median(own))} s{_gets_of(row, plan)}"
            for plan, own in plans.items()
        ]
        said = f"{len(times)} runs; {', '.join(listed[:_MOST_PLANS])}{' and others' if listed[_MOST_PLANS:] else ''}"
        change = next((text for text in row.get("changes", ()) if text), None)
        return f"{said}; between them `{short_text(change, _MOST_TEXT)}` ran" if change and len(plans) == 2 else said
    if is_whole and min(times) > 0 and (groups := two_groups(times, clock_step(times), is_mixed=False)):
        said = " and ".join(f"{len(one):,} of {phrases.three(one[0])} to {phrases.three(one[-1])} s" for one in groups)
        return f"{len(times)} runs, in two groups: {said}"
    is_cold = len(times) > MIN_RUNS and times[-1] > 0 and is_apart(times, clock_step(times))
    warm = times[1:] if is_cold else times
    said = f"median{' of' if is_cold else ''} {phrases.three(median(warm))} s"
    ends = [phrases.three(end) for end in (min(warm), max(warm))]
    if len(warm) >= MIN_RUNS and ends[0] != ends[1]:
        low, high = map(phrases.three, median_interval(warm))
        said += f" (95 % interval: {low} to {high} s)"
    if is_cold:
        return f"{len(times)} runs, the first {phrases.three(times[0])} s, then a {said}"
    if not is_whole:
        return said
    return (
        f"{len(times)} runs, {said}, from {ends[0]} to {ends[1]} s"
        if ends[0] != ends[1]
        else f"{len(times)} runs of {ends[0]} s"
    )


def but_for_literals(costs: pl.DataFrame, row: dict[str, Any], total: float) -> str:
    """How many statements differ from one only in literals and took about as long, and their share of the total."""
    key = without_literals(pl.col("text"))
    alike = costs.filter((key == key.filter(pl.col("part") == row["part"]).first()).fill_null(value=False))
    times = alike.get_column("elapsed_s").to_list()
    if len(times) < 2 or _FACTOR * min(times) < max(times):
        return ""
    share = phrases.percent(sum(times) / total)
    return f"{len(times):,} statements that differ only in literals took {share} of the time together. "


def changed_rows(spool: Spool, row: dict[str, Any]) -> int:
    """How many rows a statement changed in all its runs, by the feedback of the client."""
    runs = spool.statements.filter(pl.col("statement").is_in(row["statements"]))
    return int(runs.get_column("rows").sum()) if runs.height == row["runs"] else 0


def recursion(cost: dict[str, Any]) -> str:
    """The recursive calls of a statement, where it made one or more for each row: a function, or a trigger."""
    calls, rows = cost["recursive_calls"] or 0, cost["rows"] or 0
    if calls < max(MANY_TRIPS, (1 - _NEAR) * rows) or not rows:
        return ""
    return f"made {calls:,} recursive calls ({phrases.three(calls / rows)} per row)"


def other_runs(row: dict[str, Any]) -> str:
    """The runs that are in the share of a statement and not in its times."""
    others = row["runs"] - len(row["times"])
    time = f"{phrases.three(row['elapsed_s'] - sum(row['times']))} s{' together' * (others > 1)}"
    return f"; {others:,} more returned another number of rows ({time})" if others else ""


def trend(row: dict[str, Any]) -> tuple[str, str] | None:
    """Whether runs of one plan became faster or slower in the session, and the medians of the first and last third."""
    times = row["times"]
    if len(times) < _LEAST_FOR_TREND or len({*row["plans"]} - {None}) > 1:
        return None
    third = len(times) // 3
    first, last = median(times[:third]), median(times[-third:])
    found = estimate_trend(times)
    is_one = found is not None and found.p < ALPHA and (last > first) == (found.tau > 0)
    if not is_one or abs(last - first) < _LEAST_CHANGE * first:
        return None
    said = (
        f"the median was {phrases.three(first)} s in the first {third} and {phrases.three(last)} s in the last {third}"
        + (" of those with the same number of rows" if row["runs"] > len(times) else "")
    )
    return ("slower" if last > first else "faster"), said


def is_same_work(row: dict[str, Any]) -> bool:
    """Whether all runs of a statement read as many blocks from disk, but for a few, in the same time."""
    figures = [row["times"], row["reads"]]
    return all(None not in one and min(one) >= (1 - PART) * max(one) > 0 for one in figures)


def run_with_fewer(spool: Spool, part: str, of: str) -> dict[str, str]:
    """A run after which one statistic (`of`) had grown as much as after another run, and another a tenth as much."""
    runs, last = list[tuple[float, float, float]](), 0
    for (_, statement), rows in spool.statistics.filter(basis="delta").group_by(
        "listing", "statement", maintain_order=True
    ):
        values = dict(rows.select(pl.col("name").str.to_lowercase(), "value").drop_nulls().iter_rows())
        is_between = pl.col("statement").is_between(last, statement, closed="none")
        time = max(spool.statements.filter(is_between).get_column("elapsed_s").drop_nulls(), default=0.0)
        if time and part in values and values.get(of):
            runs.append((values[part], values[of], time))
        last = statement
    most, count, longer = max(runs, default=(0.0, 0.0, 0.0))
    few = [
        (time, n) for n, of_it, time in runs if 10 * n <= most and abs(of_it - count) <= _NEAR * count and time < longer
    ]
    return {"fewer": f"{few[0][1]:,.0f}", "fewer_s": phrases.seconds(few[0][0])} if few else {}


def scan(row: dict[str, Any], gets: str) -> list[str]:
    """What the plan of a statement scans, and the function on a column in its predicate; `gets` it has made."""
    if not row["scanned"]:
        return []
    is_of_one = row["rows"] is not None and row["runs"] < SAMPLE and not row["aggregates"] and not gets
    few = f" for {count_text(row['rows'], 'row')}" if is_of_one else ""
    said = f"its plan scans all of `{row['scanned']}`{few}"
    is_told = row["converted"] and not row["why"]
    said += "; its filter converts `{}` with {}".format(*row["converted"]) if is_told else ""
    return [said + (f"; no index listed has {' or '.join(row['unindexed'])}" if row["unindexed"] else "")]


def done(cost: dict[str, Any]) -> list[str]:
    """What a statement did besides reading."""
    redo = cost["redo_bytes"] or 0
    wrote = f"wrote {size_text(redo)} of redo" if redo >= _MUCH_REDO else ""
    return [one for one in ("sorted on disk" if cost["disk_sorts"] else "", wrote, recursion(cost)) if one]


def trips_of(cost: dict[str, Any]) -> str:
    """The round trips of a query's rows, where there were many."""
    trips, rows = cost["round_trips"] or 0, cost["rows"] or 0
    if trips >= MANY_TRIPS and lob_step(trips, rows):
        return f"{rows:,} rows took {trips:,} round trips, {phrases.three(trips / rows)} for each row"
    return f"{rows:,} rows took {trips:,} round trips" if rows > trips >= LEAST_TRIPS else ""
