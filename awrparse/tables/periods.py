"""Columns of tables that compare two periods: one figure in both, and the difference as the report prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from awrparse.columns import Column

if TYPE_CHECKING:
    from awrparse.columns import Kind


def both(name: str, kind: Kind, meaning: str, first: str, second: str, difference: str = "") -> tuple[Column, ...]:
    """Columns of one figure for both periods, and of the difference."""
    columns: tuple[Column, ...] = (
        Column(f"first_{name}", kind, f"{meaning}, first period", (first,)),
        Column(f"second_{name}", kind, f"{meaning}, second period", (second,)),
    )
    if difference:
        columns += (Column(f"difference_{name}", kind, f"{meaning}, difference as printed", (difference,)),)
    return columns


def pair(name: str, kind: Kind, meaning: str, *groups: str, end: str = "Diff") -> tuple[Column, ...]:
    """Columns of one figure under a heading over both periods, and of what the report prints beside them.

    Args:
        name: of the figure.
        kind: of its cells.
        meaning: what it is.
        groups: the headings over ``1st`` and ``2nd``.
        end: ``Diff``, ``%Diff``, or nothing when there is no difference.
    """
    columns: tuple[Column, ...] = tuple(
        Column(f"{period}_{name}", kind, f"{meaning}, {period} period", tuple(f"{group} {mark}" for group in groups))
        for period, mark in (("first", "1st"), ("second", "2nd"))
    )
    heads = tuple(f"{group} {end}" for group in groups)
    if end == "Diff":
        columns += (Column(f"difference_{name}", kind, f"{meaning}, difference as printed", heads),)
    elif end == "%Diff":
        columns += (Column(f"{name}_difference_pct", "pct", f"{meaning}, difference in per cent", heads),)
    return columns


def share(meaning: str, *groups: str) -> tuple[Column, ...]:
    """Shares of both periods, with the running totals that the report prints in the order of one of them."""
    return (
        *pair("pct", "pct", meaning, *groups),
        Column("first_running_pct", "pct", "running total, first period", tuple(f"{one} 1st Total" for one in groups)),
        Column(
            "second_running_pct", "pct", "running total, second period", tuple(f"{one} 2nd Total" for one in groups)
        ),
    )
