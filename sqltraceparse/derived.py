"""Columns that follow from the others of a row: own times of calls, wall clocks, file and blocks of waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from logframe.moments import in_calendar
from sqltraceparse.nesting import INCLUSIVE
from sqltraceparse.passes import ADDED, with_process
from sqltraceparse.schema import SCHEMAS, WALL
from sqltraceparse.waits import NAMES

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
        self._process = second.process

    def frames(self, frames: Frames) -> Frames:
        """The frames of a part; the clock is that of the log."""
        return {name: self.frame(name, frames) for name in _SCHEMAS if name in frames}

    def frame(self, name: str, frames: Frames) -> pl.DataFrame:
        """One frame of a part, with the columns of its schema.

        Args:
            name: of the frame.
            frames: those of the part, as `sqltraceparse.passes.Backward.add` gives them; waits need more than one.
        """
        frame = frames[name]
        if name == "calls":
            frame = self._with_wall(_with_own(frame, self._late))
        elif name == "waits":
            frame = self._with_wall(_with_io(self._without_cut(self._waits(frames)), frames["shapes"]))
        elif name == "transactions":
            # one before the first time of its process is of the first clock
            frame = self._with_wall(frame.with_columns(pl.col("clock").fill_null(1)))
        other = {column: dtype for column, dtype in _SCHEMAS[name].items() if frame.schema[column] != dtype}
        return frame.select(_SCHEMAS[name].names()).cast(other)  # type: ignore[arg-type]  # of names to types

    def _with_wall(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows with the wall clock; those of no clock have none."""
        if self._offsets.height == 1:
            return frame.with_columns(wall=_wall(pl.lit(self._offsets.item(0, "offset_us"), pl.Int64)))
        if self._offsets.is_empty():
            return frame.with_columns(clock=pl.lit(None, pl.Int64), wall=pl.lit(None, WALL))
        found = frame.join(self._offsets, on=["process", "clock"], how="left", nulls_equal=True, maintain_order="left")
        return found.with_columns(wall=_wall(pl.col("offset_us")))

    def _waits(self, frames: Frames) -> pl.DataFrame:
        """The waits with their call, and with what their numbers stand for."""
        waits = with_process({"waits": frames["waits"]}, self._process)["waits"]
        waits = waits.drop("owner").hstack(frames["links"])
        tables = (("shape", "shapes"), ("owner", "owners"), ("session", "sessions"))
        return waits.with_columns(
            column
            for number, name in tables
            for column in frames[name].select(pl.all().gather(waits.get_column(number))).get_columns()
        )

    def _without_cut(self, waits: pl.DataFrame) -> pl.DataFrame:
        if self._cut_waits.is_empty():
            return waits
        is_bare = pl.col("object_id").is_null() & pl.col("tim_us").is_null()
        is_cut = is_bare & pl.col("line").is_in(self._cut_waits.implode())
        return waits.with_columns(p3=pl.when(~is_cut).then("p3"))


def _wall(offset: pl.Expr) -> pl.Expr:
    micros = (pl.col("tim_us") + offset).cast(pl.Datetime("us"))
    return in_calendar(micros).dt.replace_time_zone("UTC").cast(WALL)


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


def _with_io(waits: pl.DataFrame, shapes: pl.DataFrame) -> pl.DataFrame:
    """Waits with file, block, blocks, requests and bytes, where their parameters say so.

    Args:
        waits: with ``shape``, ``p1``, ``p2``, ``p3``.
        shapes: `sqltraceparse.grammar.SHAPES`.
    """
    parameters = {"file_id": _FILE, "block": _BLOCK, "blocks": _BLOCKS, "requests": ("requests",), "bytes": ("bytes",)}
    rows = [(event in _PLAIN_READS, names) for event, *names in shapes.select(NAMES).iter_rows()]
    places = pl.DataFrame(
        {
            name: [_place(wanted, printed, place if is_plain else None) for is_plain, printed in rows]
            for place, (name, wanted) in enumerate(parameters.items(), 1)
        },
        schema=dict.fromkeys(parameters, pl.UInt8),
    )
    shape = waits.get_column("shape")
    found = waits.with_columns(_parameter(places.get_column(name), shape) for name in places.columns)
    if not places.get_column("blocks").count():
        return found
    return found.with_columns(requests=pl.coalesce("requests", pl.when(pl.col("blocks").is_not_null()).then(1)))


def _place(names: Sequence[str], printed: Sequence[str | None], plain: int | None) -> int | None:
    """The number of the first parameter that has one of the names, or that is printed as ``p1``, ``p2``, ``p3``."""
    found = next((number for number, name in enumerate(printed, 1) if name in names), None)
    if found is None and plain is not None and plain <= len(printed) and printed[plain - 1] == f"p{plain}":
        return plain
    return found


def _parameter(places: pl.Series, shape: pl.Series) -> pl.Expr:
    """The parameter whose number depends on the shape."""
    known = sorted({place for place in places.to_list() if place is not None})
    if len(known) == 1 and not places.null_count() and not shape.null_count():
        return pl.col(f"p{known[0]}").alias(places.name)
    place = places.gather(shape)
    found: pl.Expr = pl.lit(None, pl.Int64)
    for number in known:
        found = pl.when(place == number).then(f"p{number}").otherwise(found)
    return found.alias(places.name)
