"""What must hold of every ledger, whatever the log: its parts add up, at every level of every view."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from iolab.rules.time_parts import NEARLY_ALL, PART, VIEWS
from iolab.time_ledger import UNKNOWN

if TYPE_CHECKING:
    from iolab.time_ledger import Ledger

CLOSING = [*UNKNOWN, "counted_twice"]
#: Sums of floats differ by so little.
EXACT = 1e-6


def faults(ledger: Ledger) -> list[str]:
    """What is wrong with a ledger: sums that do not close, shares outside 0 to 1, parts without a parent."""
    if ledger.void:
        return ["a void ledger has a total or parts"] if ledger.total is not None or ledger.frame.height else []
    if ledger.total is None:
        return ["no total, and no reason"]
    found = []
    for view in ledger.views:
        parts = ledger.parts(view)
        if parts.get_column("part").n_unique() != parts.height:
            found.append(f"{view}: two parts of one id")
        lone = parts.filter(
            pl.col("parent").is_not_null() & ~pl.col("parent").is_in(parts.get_column("part").to_list())
        )
        found += [f"{view}: {name} has no parent" for name in lone.get_column("part")]
        if parts.height != ledger.frame.filter(pl.col("view") == view).height:
            found.append(f"{view}: parts are left out of the tree")
        slack = EXACT * max(abs(ledger.total.value), 1e-9)
        whole = {None: ledger.total.value} | dict(parts.select("part", "seconds").iter_rows())
        for (parent,), children in parts.group_by("parent"):
            total = float(children.get_column("seconds").sum())
            if abs(total - whole[parent]) > slack:
                found.append(f"{view}: children of {parent} are {total}, not {whole[parent]}")
            if not children.get_column("kind").cast(pl.String).is_in(CLOSING).any():
                found.append(f"{view}: {parent} has no closing part")
        kinds = pl.col("kind").cast(pl.String)
        bad = parts.filter(
            (pl.col("own_lo") > pl.col("own_hi") + slack)
            | (pl.col("own_hi") > ledger.total.hi + slack)
            | (pl.col("own_lo") < 0)
            | ((kinds != "counted_twice") & ((pl.col("share") > 1) | (pl.col("share") < 0)))
            | ((kinds == "counted_twice") & (pl.col("seconds") > slack))
            | (~kinds.is_in(CLOSING) & (pl.col("seconds") < -slack))
            | pl.col("seconds").is_nan()
        )
        found += [
            f"{view}: {row['part']}: {row['seconds']} [{row['own_lo']}, {row['own_hi']}]" for row in bad.to_dicts()
        ]
    return found


def large_parts(ledger: Ledger) -> list[str]:
    """The ids of the parts with 10 % of the time or more, by their lower bound, of the views that are findings.

    Part of a statement with nearly all of its time, and time that no row names, are in the row of another.
    """
    if ledger.void or ledger.unshared:
        return []
    found = []
    for view in [view for view in VIEWS if view in ledger.views]:
        own = dict(ledger.parts(view).select("part", "own_lo").iter_rows())
        for row in ledger.parts(view).filter(pl.col("share_lo") >= PART).to_dicts():
            is_named = row["kind"] not in {*CLOSING, "contains"}
            is_told = view == "who" and row["own_lo"] >= NEARLY_ALL * own.get(row["parent"], float("inf"))
            found += [row["part"]] if is_named and not is_told else []
    return found
