"""What a comparison of logs could not compare: what only one side has, and how much of the time lists do not name."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

import polars as pl

from awrparse.report import AwrReport
from iolab.metrics.formatting import figure_text
from iolab.metrics.lookups import equal_settings
from iolab.time_ledger.parts import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from iolab.time_ledger.account import Ledger
    from iolab.time_ledger.changes import LedgerChange
    from logframe.formats import ParsedLog

#: What the parts of a view are called.
_NOUNS: Final = {"what": "Parts", "phase": "Phases", "who": "Statements", "where": "Places", "when": "Times"}
_SIDES: Final = ("A", "B")
#: Lists of statements that hold more of the time are as good as whole.
_NEARLY_ALL: Final = 0.9
_MOST_NAMED: Final = 3


def not_compared(
    logs: Sequence[Iterable[ParsedLog]], ledgers: Sequence[Sequence[Ledger]], change: LedgerChange | None
) -> Iterator[tuple[str, str]]:
    """What was not compared of two sides, and the reason, each as a part of a sentence; last what is equal in both.

    Args:
        logs: The logs of each side.
        ledgers: Their accounts of time.
        change: The change from the one to the other.

    Examples:
        >>> from iolab.time_ledger.account import Account
        >>> from logframe import Interval
        >>> def ledger(view, name):
        ...     account = Account(Interval.exact(10), "DB time")
        ...     _ = account.add(view, name, Interval.exact(4), kind="mixed")
        ...     return account.ledger()
        >>> a, b = ledger("who", "1vd9kx4rs6b7y"), ledger("what", "Commit")
        >>> list(not_compared([[], []], [[a], [b]], a.compare(b)))
        [('Statements', 'only A has them'), ('Parts', 'only B has them')]
        >>> c = ledger("who", "7hq3wz0nt6c2f")
        >>> for what, reason in not_compared([[], []], [[a], [c]], a.compare(c)): print(f"{what}: {reason}.")
        Statements: the lists name 40 % of DB time in A and 40 % in B.
        Statements only in A: `1vd9kx4rs6b7y`; in B at most 4 s each.
        Statements only in B: `7hq3wz0nt6c2f`; in A at most 4 s each.
    """
    if change is not None:
        views = [{view for one in side for view in one.views} for side in ledgers]
        for place, side in enumerate(_SIDES):
            alone = [noun for view, noun in _NOUNS.items() if view in views[place] - views[1 - place]]
            yield from ((noun, f"only {side} has them") for noun in alone)
        shares = [_named_share(side) for side in ledgers]
        if "who" in change.views and min(shares) < _NEARLY_ALL:
            a, b = (f"{100 * share:.0f} %" for share in shares)
            yield "Statements", f"the lists name {a} of {ledgers[0][0].base} in A and {b} in B"
        for view in change.views:
            yield from _only_in_one(change, view)
    own = [{*chain(*(log.tables if isinstance(log, AwrReport) else log.frames() for log in side))} for side in logs]
    for place, side in enumerate(_SIDES):
        if only := sorted(own[place] - own[1 - place]):
            yield f"Tables only in {side}", _listed([name.replace("_", " ") for name in only])
    reports = [log for log in chain(*logs) if isinstance(log, AwrReport)]
    if reports and (equal := equal_settings(reports)):
        yield "Equal in both", ", ".join(equal)


def _named_share(side: Sequence[Ledger]) -> float:
    """The share of the time that statements have by name."""
    named = pl.concat(one.frame for one in side).filter(view="who").filter(pl.col("parent").is_null())
    named = named.filter(~pl.col("kind").is_in([*UNKNOWN, "counted_twice"]))
    whole = sum(one.total.value for one in side if one.total is not None)
    return float(named.get_column("seconds").sum()) / whole if whole else 1.0


def _only_in_one(change: LedgerChange, view: str) -> Iterator[tuple[str, str]]:
    """The parts of a view that only one side has, the largest first, with what the other may hide at most."""
    inner = change.parts.get_column("parent").drop_nulls().to_list()
    own = change.parts.filter(~pl.col("part").is_in(inner), ~pl.col("kind").is_in([*UNKNOWN, "contains"]), view=view)
    for side, here, there, status in (("A", "a", "b", "vanished"), ("B", "b", "a", "new")):
        rows = own.filter(pl.col(here) > 0, status=status).sort(here, descending=True, maintain_order=True)
        if rows.height:
            most = rows.select(pl.col(f"{there}_hi").max()).item()
            other = f"; in {there.upper()} at most {figure_text(most)} {change.unit.removesuffix(' active')} each"
            names = [f"`{name.split(' ')[0] if view == 'who' else name}`" for name in rows.get_column("name")]
            yield f"{_NOUNS[view]} only in {side}", _listed(names) + (other if most else "")


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    shown = ", ".join(names[:_MOST_NAMED])
    return f"{shown} and {more:,} more" if more > 0 else shown
