"""A script that ran twice in one session, such as before and after a patch: whether its statements changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.metrics.formatting import short_text
from iolab.rules.finding import Evidence, Finding
from iolab.rules.phrases import counted, seconds
from iolab.time_ledger.spools import changes, gets_of

if TYPE_CHECKING:
    from sqlplusparse import Spool

#: Kinds of statements that ask or change for themselves, and whose plan and gets tell that they did the same work.
_KINDS: Final = ("select", "insert", "update", "delete", "merge")
#: Runs of fewer statements are no script, nor are those of a smaller part of the time.
_LEAST, _MOST = 2, 0.5
#: Gets of the same work, and times of single runs with the same plan, differ by no more; two steps of the clock.
_SAME_GETS, _SAME_TIME, _CLOCK_S = 0.01, 0.25, 0.021
#: Parsing makes gets, too: at least this many more, and this part of all, are other work.
_OTHER_GETS, _OTHER_PART = 1_000, 0.1
_MOST_NAMED, _MOST_TEXT = 2, 50
_COMPARE_LOAD: Final = "compare the load and its waits at both times, where something else is slow: the AWR reports"
_COMPARE_PLANS: Final = "compare the plans of both runs, and what changed between them"


def script_twice(spool: Spool, costs: pl.DataFrame) -> Finding | None:
    r"""Whether the plans, gets and times of statements that all ran twice, one after the other, are the same.

    Args:
        spool: the session.
        costs: `iolab.metrics.statement_costs` of it.

    Returns:
        None where times alone differ, or the log shows neither plans nor gets.

    Examples:
        >>> import sqlplusparse
        >>> from iolab.metrics import statement_costs
        >>> run = "SQL> select {0} from t;\n\nElapsed: 00:00:0{1}\n\nStatistics\n" + "-" * 58 + "\n"
        >>> run += "          0  db block gets\n{2:>11}  consistent gets\n          1  rows processed\n"
        >>> before, after = (run.format(1, "0.74", 61_204) + run.format(2, one, gets)
        ...                  for one, gets in (("0.39", 18_844), ("0.40", 18_844)))
        >>> spool = sqlplusparse.read_spool((before + after).encode())
        >>> script_twice(spool, statement_costs(spool)).sentence
        '2 statements ran twice with the same gets, in about the same time: 1.13 s, then 1.14 s together.'
    """
    rows = costs.filter(pl.col("runs") == _LEAST, pl.col("text").is_not_null()).to_dicts()
    timed = float(costs.get_column("elapsed_s").sum())
    if len(rows) < _LEAST or sum(row["elapsed_s"] for row in rows) < _MOST * timed:
        return None
    first, second = max(row["statements"][0] for row in rows), min(row["statements"][1] for row in rows)
    if first >= second or any(len(row["times"]) < _LEAST for row in rows):
        return None
    gets = gets_of(spool)
    for row in rows:
        row["counts"] = [gets.get(one) for one in row["statements"]]
    known = [row for row in rows if row["kind"] in _KINDS and (None not in row["counts"] or None not in row["plans"])]
    others = [row for row in known if _has_other_work(row)]
    alike = [row for row in rows if row not in others]
    if len(known) < _LEAST or not all(_is_as_long(row) and _more_gets(row) <= _SAME_GETS for row in alike):
        return None
    between = changes(spool, [first, second])[1]
    after = f"; between them `{short_text(between, _MOST_TEXT)}` ran" if between else ""
    if others:
        others.sort(key=lambda row: -abs(row["times"][1] - row["times"][0]))
        named = "; ".join(map(_change, others[:_MOST_NAMED]))
        said = f"Of {counted(len(known), 'statements')} that ran twice, {len(others):,} changed: {named}{after}."
    else:
        same = [
            name
            for name, column in (("plans", "plans"), ("gets", "counts"))
            if all(None not in row[column] for row in known)
        ]
        times = [seconds(sum(row["times"][n] for row in known)) for n in (0, 1)]
        said = f"{counted(len(known), 'statements')} ran twice with the same {' and '.join(same) or 'work'}, "
        said += f"in about the same time: {times[0]}, then {times[1]} together{after}."
    places = (Evidence("statements", tuple(str(one) for row in known for one in row["statements"])),)
    step = _COMPARE_PLANS if others else _COMPARE_LOAD
    return Finding("runs_alike", said, next=step, evidence=places, order=1 if others else -1)


def _has_other_work(row: dict[str, Any]) -> bool:
    """Whether one run had another plan, or made far more gets."""
    more = _more_gets(row)
    return len({*row["plans"]} - {None}) > 1 or (more >= _OTHER_PART and more * max(row["counts"]) >= _OTHER_GETS)


def _more_gets(row: dict[str, Any]) -> float:
    """How many more gets one run made, as a part of them."""
    return 0.0 if None in row["counts"] else (max(row["counts"]) - min(row["counts"])) / (max(row["counts"]) or 1)


def _is_as_long(row: dict[str, Any]) -> bool:
    short, long = sorted(row["times"])
    return bool(long - short <= max(_CLOCK_S, _SAME_TIME * long))


def _change(row: dict[str, Any]) -> str:
    """What changed from the first run of a statement to the second."""
    parts = [f"{seconds(row['times'][0])} to {seconds(row['times'][1])}"]
    if len({*row["plans"]} - {None}) > 1:
        parts.append("plan `{}` to `{}`".format(*row["plans"]))
    if None not in row["counts"] and row["counts"][0] != row["counts"][1]:
        parts.append("{:,.0f} to {:,.0f} gets".format(*row["counts"]))
    return f"{row['part']} ({', '.join(parts)})"
