"""Shapes of the frames: one row a sample and name (wide), or one row a figure (long).

Figures that are printed but have no meaning are null in the frames, and flagged.

| flag            | where                                                                        |
|-----------------|------------------------------------------------------------------------------|
| `no_requests`   | a wait or a size of 0 of requests of which there were 0                      |
| `not_counted`   | md devices of Linux: no wait, no utilisation and no depth is kept for them   |
| `not_available` | -1 (nmon also: -0.0): the system or the rights do not give this figure       |
| `saturated`     | 2147483647 of nmon: the counter went over its largest number                 |
"""

from __future__ import annotations

from functools import cached_property, reduce
from operator import and_
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from hostparse.lines import GRAMMAR as LINES
from hostparse.sampling import PLACE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from hostparse.headings import Field, Heading
    from hostparse.stored import Half, Part


#: Mean of a request -> the rate of these requests.
_OF_REQUESTS: Final = {
    "read_await_ms": "reads_per_s",
    "write_await_ms": "writes_per_s",
    "discard_await_ms": "discards_per_s",
    "flush_await_ms": "flushes_per_s",
    "read_request_bytes": "reads_per_s",
    "write_request_bytes": "writes_per_s",
    "discard_request_bytes": "discards_per_s",
}
#: Mean of all requests -> the rates of which one is there.
_OF_ALL: Final = ("await_ms", "request_bytes", "queue_ms", "service_ms", "svctm_ms")
_RATES: Final = ("transfers_per_s", "reads_per_s", "writes_per_s", "discards_per_s", "flushes_per_s")
_MD_COUNTS: Final = frozenset({*_OF_REQUESTS, *_OF_ALL, "in_flight", "util_percent"} - {"request_bytes"})
#: The largest number of a signed counter of 32 bits.
_LARGEST: Final = float(2**31 - 1)
_PROCESS: Final = ("read_bytes_per_s", "write_bytes_per_s", "cancelled_write_bytes_per_s", "io_delay_ticks")


def rates_of(name: str, columns: Collection[str], scope: str) -> list[str]:
    """The rates of the requests that a figure is a mean of; none of one that is no such mean.

    Args:
        name: of the column.
        columns: those of the table.
        scope: what a row is about.
    """
    if scope != "device":
        return []
    rate = _OF_REQUESTS.get(name, "")
    return [rate] if rate in columns else [each for each in _RATES if name in _OF_ALL and each in columns]


class Rules:
    """Why figures of a table have no meaning.

    Args:
        rows: of the table.
        scope: what a row is about.
    """

    def __init__(self, rows: pl.DataFrame, scope: str) -> None:
        self._rows = rows
        self._scope = scope

    def flags(self, name: str, factor: float) -> pl.Series | None:
        """Why each figure in a column has no meaning, null where it says something; None where all do.

        Args:
            name: of the column.
            factor: what the printed figure was multiplied by.
        """
        found = [(is_so, word) for is_so, word in self._of(name, factor) if is_so.any()]
        if not found:
            return None
        flag: pl.Expr = pl.lit(None, dtype=pl.String)
        for is_so, word in reversed(found):
            flag = pl.when(is_so).then(pl.lit(word)).otherwise(flag)
        return pl.select(flag.alias(name)).to_series()

    def _of(self, name: str, factor: float) -> Iterator[tuple[pl.Series, str]]:
        """Which figures each rule speaks of, the first rule first."""
        value = self._rows.get_column(name)
        if self._scope == "process":
            if name in _PROCESS:
                yield value == -factor, "not_available"
            return
        is_zero = value == 0.0
        if self._scope.isupper():  # a table of nmon
            yield (value == -factor) | (is_zero & (1.0 / value < 0.0)), "not_available"
            yield value == _LARGEST * factor, "saturated"
        if rates := rates_of(name, self._rows.columns, self._scope):
            yield reduce(and_, (self._rows.get_column(rate) == 0.0 for rate in rates), is_zero), "no_requests"
        if self._scope == "device" and name in _MD_COUNTS:
            yield is_zero & self._is_md, "not_counted"

    @cached_property
    def _is_md(self) -> pl.Series:
        return self._rows.get_column("device").str.contains(LINES.pattern("^{MD_DEVICE}"))


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
#: This many figures are put into long rows at once: what is in memory does not grow with a log.
_FIGURES: Final = 1 << 20
_HALF: Final = "half of "
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
    """The rows of a part without the means at the end; a figure that has no meaning is null.

    Args:
        part: with its rows.
        bounds: add the bounds of the rounding.
        only: the columns of figures that are wanted; None: all.
    """
    rows, halves = _rows(part, averages=False)
    rules = Rules(rows, part.heading.scope)
    found = [rows.get_column(name) for name in ("line", *_PLACED)]
    widths: dict[str, pl.Expr] = {}
    for column in part.heading.fields:
        name = column.name
        if column.metric is None:
            found.append(rows.get_column(name))
        elif only is None or name in only:
            found.append(_unflagged(rows.get_column(name), rules.flags(name, column.metric.factor)))
            widths[name] = _width(halves.get(name, 0.0), name)
    frame = pl.DataFrame(found)
    if not bounds:
        return frame
    limits = {name: _bounds(pl.col(name), width) for name, width in widths.items()}
    ends = {
        f"{name}_{end}": each for name, both in limits.items() for end, each in zip(("lo", "hi"), both, strict=True)
    }
    order = [
        each for name in frame.columns for each in ([name, f"{name}_lo", f"{name}_hi"] if name in limits else [name])
    ]
    spread = [column for column in rows.get_columns() if column.name.startswith(_HALF)]
    return frame.hstack(spread).with_columns(**ends).select(order)


def _unflagged(values: pl.Series, flags: pl.Series | None) -> pl.Series:
    """The figures that say something."""
    return values if flags is None else values.set(flags.is_not_null(), None)


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
    together = pl.concat(groups, how="diagonal_relaxed")  # a field of JSON may be a name here, and a figure there
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


#: A figure that has no meaning is null, and why.
_SAID: Final = (
    pl.when(pl.col("flag").is_null()).then(pl.col("value")).alias("value"),
    pl.coalesce("flag", pl.when(pl.col("value").is_null()).then(pl.lit("no_figure"))),
)
_LO, _HI = _bounds(pl.col("value"), pl.col("half"))
_ORDER: Final = [{"value_lo": _LO, "value_hi": _HI}.get(name, pl.col(name)).alias(name) for name in SAMPLES]


def _width(half: Half, name: str) -> pl.Expr:
    return pl.col(_half_of(name)) if isinstance(half, pl.Series) else pl.lit(half, dtype=pl.Float64)


def needed_columns(heading: Heading, names: Collection[str]) -> set[str]:
    """The columns of a part that figures under some names are made of."""
    columns = {field.name for field in heading.fields}
    found = {*PLACE, *heading.keys}
    for field in heading.fields:
        if field.metric is not None and field.name in names:
            found.add(field.name)
            found.update(rates_of(field.name, columns, heading.scope))
    return found


def long_rows(part: Part, *, averages: bool, only: str | None = None) -> Iterator[pl.DataFrame]:
    """The figures of a part, one a row, column after column, as frames of the schema `SAMPLES` that follow one another.

    Args:
        part: with its rows.
        averages: the means at the end; else the samples.
        only: the column that is wanted; None: all.
    """
    rows, halves = _rows(part, averages=averages)
    fields = [field for field in part.heading.fields if field.metric is not None and only in {None, field.name}]
    keys = part.heading.keys if averages else _names(part.heading.keys)
    name = pl.concat_str(*keys, separator=" ", ignore_nulls=True) if keys else pl.lit(None, pl.String)
    placed = rows.select(*_PLACED, "line", name.alias("name"))
    size = max(1, _FIGURES // max(rows.height, 1))
    for start in range(0, len(fields) if rows.height else 0, size):
        yield _figures(rows, placed, fields[start : start + size], halves, part.heading.scope)


def _figures(
    rows: pl.DataFrame, placed: pl.DataFrame, fields: Sequence[Field], halves: Mapping[str, Half], scope: str
) -> pl.DataFrame:
    """The figures of some columns, one a row."""
    said = pl.DataFrame(
        [(scope, field.name, field.printed, field.metric.unit, field.metric.basis) for field in fields if field.metric],
        schema=dict.fromkeys(("scope", "metric", "printed", "unit", "basis"), pl.String),
        orient="row",
    )
    number = (pl.int_range(rows.height * len(fields), eager=True) // rows.height).alias("field")
    rules = Rules(rows, scope)
    flags = [rules.flags(field.name, field.metric.factor) for field in fields if field.metric]
    none = pl.Series([None], dtype=pl.String).new_from_index(0, rows.height)
    widths = [(_half_of(field.name), halves.get(field.name, 0.0)) for field in fields]
    columns = {
        "value": [rows.get_column(field.name) for field in fields],
        "flag": [none if flag is None else flag for flag in flags],
        "half": [
            rows.get_column(name)
            if isinstance(half, pl.Series)
            else pl.Series([half], dtype=pl.Float64).new_from_index(0, rows.height)
            for name, half in widths
        ],
    }
    found = pl.concat([placed] * len(fields)).hstack(
        [
            *said.select(pl.all().gather(number)).get_columns(),
            *(pl.concat([part.alias(name) for part in some]) for name, some in columns.items()),
        ]
    )
    return found.with_columns(_SAID).select(_ORDER)


def _rows(part: Part, *, averages: bool) -> tuple[pl.DataFrame, dict[str, Half]]:
    """The samples of a part, or its means, with the half units of columns where they differ from row to row."""
    frame, halves = part.rows()
    spread = [half.alias(_half_of(name)) for name, half in halves.items() if isinstance(half, pl.Series)]
    is_average = frame.get_column("is_average")
    if not averages and not is_average.any():
        return frame.hstack(spread), halves
    return frame.hstack(spread).filter(is_average == averages), halves


def _half_of(name: str) -> str:
    """The column of the half units of another, where they differ from row to row."""
    return f"{_HALF}{name}"


def _names(keys: tuple[str, ...]) -> tuple[str, ...]:
    """The keys that name a row; a user is not one beside a process."""
    return tuple(key for key in keys if key not in {"uid", "user"}) or keys
