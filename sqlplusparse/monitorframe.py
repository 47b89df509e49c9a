"""Reports of SQL Monitor into frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from sqlplusparse.schemas import MONITOR_LINES, MONITORS, no_rows

if TYPE_CHECKING:
    from sqlplusparse.monitor import Monitor


def monitors_frame(monitors: list[Monitor], owners: list[int | None]) -> pl.DataFrame:
    """One row a report (`MONITORS`)."""
    if not monitors:
        return no_rows("monitors")
    rows = [
        {"statement": owner, "monitor": ordinal, "line": monitor.first + 1, **monitor.found}
        for ordinal, (monitor, owner) in enumerate(zip(monitors, owners, strict=True), 1)
    ]
    return pl.DataFrame({name: [row.get(name) for row in rows] for name in MONITORS}, schema=MONITORS, strict=False)


def monitor_lines_frame(monitors: list[Monitor]) -> pl.DataFrame:
    """One row a line of a plan (`MONITOR_LINES`)."""
    if not monitors:
        return no_rows("monitor_lines")
    rows = [{"monitor": ordinal, **line} for ordinal, monitor in enumerate(monitors, 1) for line in monitor.lines]
    columns = {name: [row.get(name) for row in rows] for name in MONITOR_LINES}
    return pl.DataFrame(columns, schema=MONITOR_LINES, strict=False)
