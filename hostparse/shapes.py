"""Shapes of the frames: one row a sample and name (wide), or one row a figure (long)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from hostparse.rules import flag_of
from hostparse.sampling import PLACE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from hostparse.headings import Heading
    from hostparse.parts import Half, Part

#: Columns of `HostLog.samples`: one row a figure.
SAMPLES: Final = pl.Schema(
    {
        "run": pl.UInt32(),
        "sample": pl.UInt32(),
        "is_since_boot": pl.Boolean(),
        "interval_start": pl.Datetime("us"),
        "interval_end": pl.Datetime("us"),
        "time_of_day": pl.Time(),
        "scope": pl.String(),
        "name": pl.String(),
        "metric": pl.String(),
        "printed": pl.String(),
        "unit": pl.String(),
        "basis": pl.String(),
        "value": pl.Float64(),
        "value_lo": pl.Float64(),
        "value_hi": pl.Float64(),
        "flag": pl.String(),
        "line": pl.UInt32(),
    }
)
_PLACED: Final = ("run", "sample", "is_since_boot", "interval_start", "interval_end", "time_of_day")


class Layout(NamedTuple):
    """How the parts of one scope become one frame.

    Attributes:
        groups: numbers of parts whose rows are about the same, in the same order: they are put side by side.
        is_merged: rows of two groups may be of one sample and name: they are merged.
    """

    groups: tuple[tuple[int, ...], ...]
    is_merged: bool


def wide_rows(part: Part, *, bounds: bool, only: Collection[str] | None = None) -> pl.DataFrame:
    """The rows of a part without the means at the end; a figure that says nothing is null.

    Args:
        part: with its rows.
        bounds: add the bounds of the rounding.
        only: the columns of figures that are wanted; None: all.
    """
    frame, halves = part.rows()
    found: list[pl.Expr] = []
    for column in part.heading.fields:
        name = column.name
        if only is not None and column.metric is not None and name not in only:
            continue
        if column.metric is None:
            found.append(pl.col(name))
            continue
        flag = flag_of(name, frame.columns, part.heading.scope, column.metric.factor)
        value = pl.col(name) if flag is None else pl.when(flag.is_null()).then(pl.col(name)).alias(name)
        found.append(value)
        if bounds:
            lo, hi = _bounds(value, _width(halves.get(name, 0.0)))
            found += [lo.alias(f"{name}_lo"), hi.alias(f"{name}_hi")]
    kept = frame.select("line", *_PLACED, "is_average", *found)
    return kept.filter(~pl.col("is_average")).drop("is_average")


def layout_of(pieces: Callable[[], Iterable[list[pl.DataFrame]]], keys: Sequence[tuple[str, ...]]) -> Layout:
    """How wide frames of one scope become one: tables that split a report are side by side, the others merged.

    Args:
        pieces: gives the frames of each piece of the log.
        keys: of each frame.
    """
    if len(keys) == 1:
        return Layout(((0,),), is_merged=False)
    same: set[tuple[int, int]] | None = None
    for frames in pieces():
        found = {
            (number, other)
            for number, frame in enumerate(frames)
            for other in range(number)
            if keys[other] == keys[number]
            and frames[other].height == frame.height
            and not set(_values(frame, keys[number])) & set(_values(frames[other], keys[other]))
            and frames[other].select(_place(keys[other])).equals(frame.select(_place(keys[number])))
        }
        same = found if same is None else same & found
    groups: list[list[int]] = []
    names: list[set[str]] = []
    columns = next(iter(pieces()), [])
    for number in range(len(keys)):
        values = set(_values(columns[number], keys[number])) if columns else set()
        for place, group in enumerate(groups):
            if (number, group[0]) in (same or ()) and not values & names[place]:
                group.append(number)
                names[place] |= values
                break
        else:
            groups.append([number])
            names.append(values)
    is_merged = len(groups) > 1 and _are_several([group[0] for group in groups], pieces, keys)
    return Layout(tuple(tuple(group) for group in groups), is_merged)


def _are_several(
    heads: list[int], pieces: Callable[[], Iterable[list[pl.DataFrame]]], keys: Sequence[tuple[str, ...]]
) -> bool:
    """Whether a sample and name has rows in several frames, and in none of them several rows."""
    found = False
    for frames in pieces():
        own = [frames[number].select(_place(keys[number])) for number in heads]
        if any(frame.is_duplicated().any() for frame in own):
            return False
        found = found or pl.concat(own, how="diagonal").is_duplicated().any()
    return found


def _place(key: tuple[str, ...]) -> list[str]:
    return [*_PLACED, *key]


def _values(frame: pl.DataFrame, key: tuple[str, ...]) -> list[str]:
    return [name for name in frame.columns if name not in {*_place(key), "line"}]


def joined(frames: Sequence[pl.DataFrame], keys: Sequence[tuple[str, ...]], layout: Layout) -> pl.DataFrame:
    """Wide frames of one scope as one."""
    groups = [
        frames[group[0]].hstack([column for n in group[1:] for column in frames[n].select(_values(frames[n], keys[n]))])
        for group in layout.groups
    ]
    if len(groups) == 1:
        return groups[0]
    together = pl.concat(groups, how="diagonal")
    if not layout.is_merged:
        return together.sort("line", maintain_order=True)
    place = list(dict.fromkeys([*_PLACED, *(name for key in keys for name in key)]))
    values = [name for name in together.columns if name not in {*place, "line"}]
    return (
        together.group_by(place, maintain_order=True)
        .agg(pl.col("line").min(), pl.col(values).drop_nulls().first())
        .select("line", *place, *values)
        .sort("line", maintain_order=True)
    )


def _bounds(value: pl.Expr, half: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """The bounds of the rounding; what is not negative has no bound below 0."""
    lo = value - half
    return pl.when(value >= 0).then(lo.clip(lower_bound=0.0)).otherwise(lo), value + half


def _width(half: Half) -> pl.Expr:
    return pl.lit(half) if isinstance(half, pl.Series) else pl.lit(half, dtype=pl.Float64)


def needed_columns(heading: Heading, names: Collection[str]) -> set[str]:
    """The columns of a part that figures under some names are made of."""
    columns = {field.name for field in heading.fields}
    found = {*PLACE, *heading.keys}
    for field in heading.fields:
        if field.metric is not None and field.name in names:
            found.add(field.name)
            flag = flag_of(field.name, columns, heading.scope, field.metric.factor)
            found.update(flag.meta.root_names() if flag is not None else ())
    return found


def long_rows(part: Part, *, averages: bool, only: str | None = None) -> list[pl.LazyFrame]:
    """One lazy frame of the schema `SAMPLES` a column of figures: the samples, or the means at the end.

    Args:
        part: with its rows.
        averages: the means.
        only: the column that is wanted; None: all.
    """
    frame, halves = part.rows()
    rows = frame.lazy().filter(pl.col("is_average") == averages)
    keys = part.heading.keys
    name = (
        pl.concat_str([pl.col(key) for key in _names(keys)], separator=" ", ignore_nulls=True) if keys else pl.lit(None)
    )
    found = []
    for column in part.heading.fields:
        if column.metric is None or only not in {None, column.name}:
            continue
        metric = column.metric
        flag = flag_of(column.name, frame.columns, part.heading.scope, metric.factor)
        no_figure = pl.when(pl.col(column.name).is_null()).then(pl.lit("no_figure"))
        flag = no_figure if flag is None else pl.coalesce(flag, no_figure)
        value = pl.when(flag.is_null()).then(pl.col(column.name))
        half = halves.get(column.name, 0.0)
        source = rows
        if isinstance(half, pl.Series):
            source = frame.with_columns(half.alias("_half")).lazy().filter(pl.col("is_average") == averages)
        width = pl.col("_half") if isinstance(half, pl.Series) else pl.lit(half, dtype=pl.Float64)
        lo, hi = _bounds(value, width)
        found.append(
            source.select(
                *_PLACED,
                pl.lit(part.heading.scope).alias("scope"),
                name.cast(pl.String).alias("name"),
                pl.lit(column.name).alias("metric"),
                pl.lit(column.printed).alias("printed"),
                pl.lit(metric.unit, dtype=pl.String).alias("unit"),
                pl.lit(metric.basis).alias("basis"),
                value.alias("value"),
                lo.alias("value_lo"),
                hi.alias("value_hi"),
                flag.alias("flag"),
                "line",
            )
        )
    return found


def _names(keys: tuple[str, ...]) -> tuple[str, ...]:
    """The keys that name a row; a user is none beside a process."""
    return tuple(key for key in keys if key not in {"uid", "user"}) or keys


def stacked(frames: list[list[pl.LazyFrame]]) -> pl.LazyFrame:
    """All long rows, one part after another."""
    flat = [frame for group in frames for frame in group]
    return pl.concat(flat) if flat else pl.LazyFrame(schema=SAMPLES)
