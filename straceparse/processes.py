"""The process of each line of a log of standard error.

There strace prints ``[pid N]`` only while it traces more than one process.
"""

from __future__ import annotations

import re
from typing import Final

import polars as pl

from straceparse.records import KINDS, PARTS_GRAMMAR

#: Kinds of lines that belong to one process.
_STAMPED: Final = frozenset(KINDS[:5]) | frozenset(KINDS[6:11])
_DETACHED = re.compile(PARTS_GRAMMAR.pattern("{DETACHED_BEFORE}({PID_DIGITS}){DETACHED_AFTER}$"))


def survivors(rows: pl.Series) -> pl.Series:
    """The process of each line of a log that prints it only while several processes are traced.

    A line without a pid belongs to the only process that was seen and has not ended; before the first pid, to the
    process that no ``clone`` or ``fork`` returned.
    """
    frame = rows.struct.unnest()
    if frame.filter(pl.col("pid").is_null() & pl.col("kind").is_in(_STAMPED)).is_empty():
        return frame.get_column("pid")
    born = set(_children(frame))
    named = frame.get_column("pid").drop_nulls().unique(maintain_order=True).to_list()
    first = next((pid for pid in named if pid not in born), None)
    alive: dict[int, None] = {} if first is None else {first: None}
    last = first
    pids: list[int | None] = []
    for printed, kind, note in frame.select("pid", "kind", "note").iter_rows():
        if kind == "notice" and (gone := _DETACHED.search(note)):
            alive.pop(int(gone.group(1)), None)  # strace 4.6 and before print no exit
        pid = printed
        if pid is None and kind in _STAMPED:
            if len(alive) == 1:
                pid = next(iter(alive))
            elif last in alive or not alive:
                pid = last
        if pid is not None:
            last = pid
            alive[pid] = None
            if kind in {"exited", "killed"}:
                alive.pop(pid)
        pids.append(pid)
    return pl.Series(rows.name, pids, dtype=pl.Int32)


def _children(frame: pl.DataFrame) -> list[int | None]:
    """The results of the calls that create processes; of a call that a notice cut, from its continuation."""
    is_end = pl.col("kind") == "continuation"
    ends = frame.filter(pl.col("kind").is_in(["cut", "continuation"])).with_columns(
        pl.when(is_end).then(pl.col("name").shift(1)).otherwise("name").alias("name")
    )
    makes = pl.col("name").is_in(["clone", "clone2", "clone3", "fork", "vfork"])
    return [
        *frame.filter(makes).get_column("result").to_list(),
        *ends.filter(makes & is_end).get_column("result").to_list(),
    ]
