"""`iolab.ledger` and `iolab.ledgers`: the account of time of a log of any registered format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from weakref import finalize

import polars as pl

from iolab.loading import as_log
from iolab.time_ledger.parts import PARTS
from iolab.views import view_of
from logframe.errors import LogError
from logframe.interval import figure_cells

if TYPE_CHECKING:
    from iolab.time_ledger.account import Ledger
    from logframe import Source
    from logframe.formats import ParsedLog

#: Columns of `ledger_frame`: one row a part of a ledger, with the ledger's own figures before it.
LEDGER_FRAME: Final = pl.Schema(
    {
        "scope": pl.String(),
        "base": pl.String(),
        "total": pl.Float64(),
        "total_lo": pl.Float64(),
        "total_hi": pl.Float64(),
        "elapsed": pl.Float64(),
        "void": pl.String(),
        **PARTS,
    }
)
#: The ledgers of logs that are in memory, by identity: findings, pages and screens ask for the same ones.
_KNOWN: Final[dict[int, list[Ledger]]] = {}


def ledgers(log: ParsedLog | Source) -> list[Ledger]:
    """All accounts of time of a log: instances, foreground and background, processes, sessions; the lead one first.

    Ledgers are never added to each other.

    Args:
        log: A log as `iolab.load` gives it, or what `iolab.load` takes.

    Returns:
        One or more; none of a log that states no times at all (a list of files, a histogram).

    Raises:
        LogError: Nothing is there, or it is no known log.
    """
    one = as_log(log)
    build = view_of(one.format).ledgers
    if build is None:
        return []
    if id(one) not in _KNOWN:
        found = list(build(one))
        try:
            finalize(one, _KNOWN.pop, id(one), None)
        except TypeError:  # an object that cannot be referred to weakly
            return found
        _KNOWN[id(one)] = found
    return list(_KNOWN[id(one)])


def ledger(log: ParsedLog | Source, scope: str | None = None) -> Ledger:
    r"""The account of time of a log: parts that add up to a total.

    Args:
        log: A log as `iolab.load` gives it, or what `iolab.load` takes.
        scope: One of the `Ledger.scope` that `iolab.ledgers` lists; by default the lead ledger: foreground of the
            instance (of a global report all instances), the process or session with the longest span.

    Returns:
        A `Ledger`: ``total`` in s with bounds, ``base``, ``frame`` with one row a part (`PARTS`), ``views``,
        ``parts(view)`` with shares, ``tree(view)``, ``checks``, ``remarks``.  Where there is no total, ``void`` says
        why.

    Raises:
        LogError: The log has no times, or no ledger of that scope.

    Examples:
        >>> found = ledger(b"SQL> select 1 from dual;\n\nElapsed: 00:00:01.00\n\nSQL> select 2 from dual;\n\n"
        ...     b"Elapsed: 00:00:03.00\n")
        >>> found.base, found.total.value, found.views
        ('timed statements', 4.0, ['who'])
        >>> found.parts("who").select("name", "seconds").rows()
        [('line 5: select 2 from dual', 3.0), ('line 1: select 1 from dual', 1.0), ('not accounted for', 0.0)]
    """
    found = ledgers(log)
    if not found:
        raise LogError("the log states no times: it has no account of time")
    if scope is None:
        return found[0]
    for one in found:
        if one.scope == scope:
            return one
    raise LogError(f"no ledger of {scope!r}: the log has those of {', '.join(one.scope for one in found)}")


def ledger_frame(log: ParsedLog | Source) -> pl.DataFrame:
    """All ledgers of a log as one frame, for a file or a dataset.

    Args:
        log: A log as `iolab.load` gives it, or what `iolab.load` takes.

    Returns:
        The columns `LEDGER_FRAME`; times in s.  A void ledger is one row with its reason in ``void`` and no part.
    """
    return pl.concat([*(_frame_of(one) for one in ledgers(log)), pl.DataFrame(schema=LEDGER_FRAME)])


def _frame_of(one: Ledger) -> pl.DataFrame:
    head = {
        "scope": one.scope,
        "base": one.base,
        **figure_cells("total", one.total),
        "elapsed": None if one.elapsed is None else float(one.elapsed.value),
        "void": one.void or None,
    }
    rows = one.frame if one.frame.height else pl.DataFrame([{}], schema=PARTS)
    return rows.select(*(pl.lit(value, LEDGER_FRAME[name]).alias(name) for name, value in head.items()), pl.all())
