"""Two sessions: statements that ran in both, with another plan."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.formatting import count_text
from iolab.rules.finding import Evidence, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlplusparse import Spool

    _Pair = tuple[dict[str, object], dict[str, object], str]

#: Twenty pairs of one run each with the same plan differed by 0.83 to 1.09.
_NOISE: Final = (0.8, 1.25)
_SAME_GETS: Final = 0.01
_MOST: Final = 5
#: Fewer statements are no whole.
_LEAST_PAIRS: Final = 5
_MOST_LISTED: Final = 3
#: A change of gets or reads from here on is other work.
_OTHER_WORK: Final = 0.10
_COLUMNS: Final = ("statement", "text", "rows", "plan_hash_value", "elapsed_s", "gets", "physical_reads", "error")


def session_pair(first: tuple[str, Spool], second: tuple[str, Spool]) -> Iterator[Finding]:
    """Statements of two sessions with equal text, or of equally named files in the same place, whose plan differs.

    Examples:
        >>> import sqlplusparse
        >>> def session(plan, seconds): return sqlplusparse.read_spool(f'''SQL> set autotrace on
        ... SQL> select count(*) from t;
        ... Elapsed: 00:00:0{seconds}
        ... Execution Plan
        ... ----------------------------------------------------------
        ... Plan hash value: {plan}
        ... '''.encode(), printed=True)
        >>> for one in session_pair(("a", session(11, "3.38")), ("b", session(12, "1.24"))): print(one.sentence)
        Statement 1: other plan (11 to 12), 3.38 to 1.24 s.
        One run each does not show which was faster.
        >>> list(session_pair(("a", session(11, "3.38")), ("b", session(11, "1.24"))))
        []
    """
    pairs = list(_paired(first, second))
    changed = [
        (one, two, how)
        for one, two, how in pairs
        if None not in {one["plan_hash_value"], two["plan_hash_value"]}
        and one["plan_hash_value"] != two["plan_hash_value"]
    ]
    for one, two, how in changed[:_MOST]:
        yield _changed(one, two, how)
    yield from _in_all(pairs)
    if changed:
        yield Finding(
            "which_setting",
            "One run each does not show which was faster.",
            next="run each six times or more, in turns",
            is_refused=True,
        )


def _in_all(pairs: list[_Pair]) -> Iterator[Finding]:
    """The time of all statements that ran in both, and those whose time and work changed."""
    timed = [
        (one, two, times)
        for one, two, _ in pairs
        if (times := _both(one, two, "elapsed_s")) and min(times) > 0 and _is_same_work(one, two)
    ]
    if len(timed) < _LEAST_PAIRS:
        return
    before, after = (sum(times[side] for _, _, times in timed) for side in (0, 1))
    changed = []
    for one, two, times in timed:
        work = [ratio for name in ("gets", "physical_reads") if (ratio := _ratio(one, two, name)) is not None]
        if not _NOISE[0] <= times[1] / times[0] <= _NOISE[1] and any(abs(ratio - 1) >= _OTHER_WORK for ratio in work):
            changed.append((abs(times[1] - times[0]), one, two, times))
    changed.sort(key=lambda row: -row[0])
    listed = "".join(
        f"; statement {one['statement']} {times[0]:g} to {times[1]:g} s" for _, one, _, times in changed[:_MOST_LISTED]
    )
    more = f", {len(changed) - _MOST_LISTED} more" if len(changed) > _MOST_LISTED else ""
    yield Finding(
        "statements_changed",
        f"{len(timed)} statements ran in both: {before:.4g} to {after:.4g} s in all, in one run each{listed}{more}.",
        detail="named are those whose time changed by more than a quarter, and whose gets or reads by a tenth or more"
        if changed
        else "no statement changed both its time by more than a quarter and its gets or reads by a tenth",
        evidence=(Evidence("statements", tuple(str(one["statement"]) for _, one, _, _ in changed[:_MOST_LISTED])),),
        order=1,
    )


def _is_same_work(one: dict[str, object], two: dict[str, object]) -> bool:
    """Did neither end in an error, and did both return as many rows, where they say it?"""
    rows = _both(one, two, "rows")
    return one["error"] is None and two["error"] is None and (rows is None or rows[0] == rows[1])


def _ratio(one: dict[str, object], two: dict[str, object], name: str) -> float | None:
    both = _both(one, two, name)
    return None if both is None or both[0] <= 0 else both[1] / both[0]


def _paired(first: tuple[str, Spool], second: tuple[str, Spool]) -> Iterator[_Pair]:
    """Statements of both, each once, and how they were paired."""
    frames = [spool.statements.select(_COLUMNS) for _, spool in (first, second)]
    same_name = PurePath(first[0]).name == PurePath(second[0]).name
    by_text = [
        {row["text"]: row for row in frame.filter(pl.col("text").is_not_null() & pl.col("text").is_unique()).to_dicts()}
        for frame in frames
    ]
    for text, row in by_text[0].items():
        if text in by_text[1]:
            yield row, by_text[1][text], "same text"
    if not same_name:
        return
    headings = [_headings(spool) for _, spool in (first, second)]
    for one, two in zip(*(frame.to_dicts() for frame in frames), strict=False):
        if one["text"] is None and two["text"] is None and one["rows"] is not None and one["rows"] == two["rows"]:
            number, other = one["statement"], two["statement"]
            if headings[0].get(number) == headings[1].get(other):
                yield one, two, "same file name, place, rows and headings"


def _headings(spool: Spool) -> dict[object, tuple[str, ...]]:
    """The column headings of each statement's result, where the session shows them."""
    tables = spool.tables
    if "columns" not in tables.columns:
        return {}
    return {row["statement"]: tuple(row["columns"] or ()) for row in tables.iter_rows(named=True)}


def _changed(one: dict[str, object], two: dict[str, object], how: str) -> Finding:
    times, gets = (_both(one, two, name) for name in ("elapsed_s", "gets"))
    parts = []
    if times is not None:
        parts.append(f"{times[0]:g} to {times[1]:g} s")
    if gets is not None:
        parts.append(f"gets {gets[0]:,.0f} to {gets[1]:,.0f}")
    no_effect = (
        times is not None
        and gets is not None
        and min(times[0], gets[0]) > 0
        and _NOISE[0] < times[1] / times[0] < _NOISE[1]
        and abs(gets[1] / gets[0] - 1) < _SAME_GETS
    )
    reads = _both(one, two, "physical_reads")
    detail = f"paired by {how}"
    if reads is not None and reads[0] != reads[1]:
        detail += f"; physical reads {count_text(reads[0], 'block')} to {count_text(reads[1], 'block')}"
    return Finding(
        "plan_changed",
        f"Statement {one['statement']}: other plan ({one['plan_hash_value']} to {two['plan_hash_value']})"
        + "".join(f", {part}" for part in parts)
        + (": without effect on time or gets." if no_effect else "."),
        detail=detail + "; one run each is no sample of time",
        evidence=(Evidence("statements", (str(one["statement"]),)), Evidence("plans")),
        order=2,
    )


def _both(one: dict[str, object], two: dict[str, object], name: str) -> tuple[float, float] | None:
    first, second = one[name], two[name]
    if isinstance(first, (int, float)) and isinstance(second, (int, float)):
        return float(first), float(second)
    return None
