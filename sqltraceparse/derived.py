"""Columns that follow from the others of a row: own times of calls, wall clocks, file and blocks of waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from sqltraceparse.nesting import INCLUSIVE
from sqltraceparse.passes import ADDED
from sqltraceparse.schema import SCHEMAS, WALL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqltraceparse.passes import Backward, Frames

#: Names under which the parameters of waits are printed.
_FILE: Final = ("file#", "file number", "file#(dba)")
_BLOCK: Final = ("block#", "first dba")
_BLOCKS: Final = ("blocks", "block cnt", "#blocks")
#: Events of 9i and 10.1 whose parameters are printed as p1, p2, p3: file, block, blocks.
_PLAIN_READS: Final = (
    "db file sequential read",
    "db file scattered read",
    "db file single write",
    "direct path read",
    "direct path write",
    "direct path read temp",
    "direct path write temp",
    "direct path read (lob)",
    "direct path write (lob)",
)


_SCHEMAS: Final = SCHEMAS["SqlTrace"]


class Derived:
    """Completes the rows of parts of a log to the frames of a trace.

    Args:
        clock: `sqltraceparse.schema.CLOCK`.
        cut_waits: lines of waits whose last parameter may lack digits.
        second: the second pass, done.
    """

    def __init__(self, clock: pl.DataFrame, cut_waits: pl.Series, second: Backward) -> None:
        self._offsets = clock.select("process", "clock", "offset_us")
        self._cut_waits = cut_waits
        self._late = second.late()

    def frames(self, frames: Frames) -> Frames:
        """The frames of a part."""
        return {name: self.frame(name, frame) for name, frame in frames.items()}

    def frame(self, name: str, frame: pl.DataFrame) -> pl.DataFrame:
        """One frame of a part, with the columns of its schema."""
        if name == "calls":
            frame = self._with_wall(_with_own(frame, self._late))
        elif name == "waits":
            frame = self._with_wall(_with_io(self._without_cut(frame)))
        elif name == "transactions":
            # one before the first time of its process is of the first clock
            frame = self._with_wall(frame.with_columns(pl.col("clock").fill_null(1)))
        return frame.select(pl.col(column).cast(dtype) for column, dtype in _SCHEMAS[name].items())

    def _with_wall(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows with the wall clock; those of no clock have none."""
        wall = (pl.col("tim_us") + pl.col("offset_us")).cast(pl.Datetime("us")).dt.replace_time_zone("UTC").cast(WALL)
        if self._offsets.height == 1:
            offset = pl.lit(self._offsets.item(0, "offset_us"), pl.Int64)
            return frame.with_columns(offset.alias("offset_us")).with_columns(wall=wall)
        if self._offsets.is_empty():
            return frame.with_columns(clock=pl.lit(None, pl.Int64), wall=pl.lit(None, WALL))
        found = frame.join(self._offsets, on=["process", "clock"], how="left", nulls_equal=True, maintain_order="left")
        return found.with_columns(wall=wall)

    def _without_cut(self, waits: pl.DataFrame) -> pl.DataFrame:
        if self._cut_waits.is_empty():
            return waits
        is_bare = pl.col("object_id").is_null() & pl.col("tim_us").is_null()
        is_cut = is_bare & pl.col("line").is_in(self._cut_waits.implode())
        return waits.with_columns(p3=pl.when(~is_cut).then("p3"))


def _with_own(calls: pl.DataFrame, late: pl.DataFrame) -> pl.DataFrame:
    """The calls with the figures that are their own alone, their waits, and what is unaccounted for."""
    if late.height and calls.height:
        late = late.filter(pl.col("number").is_between(calls.item(0, "number"), calls.item(-1, "number")))
    if late.height:
        added = [f"_{name}" for name in ADDED]
        calls = calls.join(late, on="number", how="left", maintain_order="left", suffix="_late").with_columns(
            pl.col(name).fill_null(0) + pl.col(f"{name}_late").fill_null(0) for name in added
        )
    return calls.with_columns(
        *((pl.col(name) - pl.col(f"_{name}").fill_null(0)).alias(own) for name, own in INCLUSIVE.items()),
        own_wait_us=pl.col("_wait_us").fill_null(0),
    ).with_columns(unaccounted_us=pl.col("own_elapsed_us") - pl.col("own_cpu_us") - pl.col("own_wait_us"))


def _with_io(waits: pl.DataFrame) -> pl.DataFrame:
    """Waits with file, block, blocks, requests and bytes, where their parameters say so."""

    def named(names: Sequence[str], plain: str) -> pl.Expr:
        found = (
            pl.when(pl.col("p1_name").is_in(names))
            .then("p1")
            .when(pl.col("p2_name").is_in(names))
            .then("p2")
            .when(pl.col("p3_name").is_in(names))
            .then("p3")
        )
        is_plain = (pl.col(f"{plain}_name") == plain) & pl.col("event").is_in(_PLAIN_READS)
        return found.when(is_plain).then(plain)

    shapes = waits.select("event", "p1_name", "p2_name", "p3_name").unique()
    is_read = pl.any_horizontal(
        pl.col(f"p{n}_name").is_in([*_FILE, *_BLOCK, *_BLOCKS, "p1", "bytes"]) for n in (1, 2, 3)
    )
    if not shapes.select(is_read.any()).item():
        nothing = pl.lit(None, pl.Int64)
        return waits.with_columns(file_id=nothing, block=nothing, blocks=nothing, requests=nothing, bytes=nothing)
    blocks = named(_BLOCKS, "p3")
    return waits.with_columns(
        file_id=named(_FILE, "p1"),
        block=named(_BLOCK, "p2"),
        blocks=blocks,
        requests=pl.coalesce(_first_named("requests"), pl.when(blocks.is_not_null()).then(1)),
        bytes=_first_named("bytes"),
    )


def _first_named(name: str) -> pl.Expr:
    """The parameter of this name."""
    found = pl.when(pl.col("p1_name") == name).then("p1")
    return found.when(pl.col("p2_name") == name).then("p2").when(pl.col("p3_name") == name).then("p3")
