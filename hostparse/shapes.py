"""Shapes of the frames: one row a sample and name (wide), or one row a figure (long)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from hostparse.rules import flag_of

if TYPE_CHECKING:
    from collections.abc import Iterable

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


def wide_rows(part: Part, *, bounds: bool) -> pl.DataFrame:
    """The rows of a part without the means at the end; a figure that says nothing is null; bounds where asked for."""
    frame, halves = part.rows()
    found: list[pl.Expr] = []
    for column in part.heading.fields:
        name = column.name
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


def joined(rows: Iterable[pl.DataFrame], keys: list[tuple[str, ...]]) -> pl.DataFrame:
    """Wide frames of one scope as one: tables that split a report are side by side, the others one after another."""
    frames = _side_by_side(rows, keys)
    if len(frames) == 1:
        return frames[0]
    names = list(dict.fromkeys(name for group in keys for name in group))
    together = pl.concat(frames, how="diagonal")
    place = [name for name in (*_PLACED, *names) if name in together.columns]
    if not together.select(place).is_duplicated().any():
        return together.sort("line")
    if any(frame.select(set(place) & set(frame.columns)).is_duplicated().any() for frame in frames):
        return together.sort("line")
    values = [name for name in together.columns if name not in {*place, "line"}]
    return (
        together.group_by(place, maintain_order=True)
        .agg(pl.col("line").min(), pl.col(values).drop_nulls().first())
        .select("line", *place, *values)
        .sort("line")
    )


def _side_by_side(frames: Iterable[pl.DataFrame], keys: list[tuple[str, ...]]) -> list[pl.DataFrame]:
    """Frames with the same samples and names in the same order are put beside each other, without a join."""
    found: list[tuple[list[str], pl.DataFrame]] = []
    for frame, key in zip(frames, keys, strict=True):
        place = [*_PLACED, *key]
        for number, (other_place, other) in enumerate(found):
            values = [name for name in frame.columns if name not in {*place, "line"}]
            if (
                other_place == place
                and other.height == frame.height
                and not set(values) & set(other.columns)
                and other.select(place).equals(frame.select(place))
            ):
                found[number] = (place, other.hstack(frame.select(values)))
                break
        else:
            found.append((place, frame))
    return [frame for _, frame in found]


def _bounds(value: pl.Expr, half: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """The bounds of the rounding; what is not negative has no bound below 0."""
    lo = value - half
    return pl.when(value >= 0).then(lo.clip(lower_bound=0.0)).otherwise(lo), value + half


def _width(half: Half) -> pl.Expr:
    return pl.lit(half) if isinstance(half, pl.Series) else pl.lit(half, dtype=pl.Float64)


def long_rows(part: Part, *, averages: bool) -> list[pl.LazyFrame]:
    """One lazy frame of the schema `SAMPLES` a column of figures: the samples, or the means at the end."""
    frame, halves = part.rows()
    rows = frame.lazy().filter(pl.col("is_average") == averages)
    keys = part.heading.keys
    name = (
        pl.concat_str([pl.col(key) for key in _names(keys)], separator=" ", ignore_nulls=True) if keys else pl.lit(None)
    )
    found = []
    for column in part.heading.fields:
        if column.metric is None:
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
