"""A log of samples: its frames, long and wide, and what could not be read."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

import polars as pl

from hostparse.rules import flag_of
from logframe import diagnostics_frame

if TYPE_CHECKING:
    from hostparse.runs import Runs
    from hostparse.tables import Part
    from logframe import Diagnostic

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
_RANK: Final = ("iostat", "vmstat", "mpstat", "pidstat", "sar", "zpool")


@dataclass(frozen=True)
class HostLog:
    """What the operating system saw.

    Attributes:
        source: name of the log.
        kind: the tool: iostat, vmstat, mpstat, pidstat, sar, zpool, nmon, ...; several are joined by ``+``.
        parts: the tables as they were printed.
        runs: where, when and by what command.
        diagnostics: `logframe.DIAGNOSTICS`: lines and cells that could not be read, and what was assumed.
        lines: number of lines of each kind.
    """

    source: str
    kind: str
    parts: tuple[Part, ...]
    run_list: Runs
    diagnostics: pl.DataFrame
    lines: dict[str, int] = field(default_factory=dict)

    format = "host"

    @cached_property
    def runs(self) -> pl.DataFrame:
        """One row a run: `hostparse.RUNS`."""
        return self.run_list.frame()

    @cached_property
    def scopes(self) -> tuple[str, ...]:
        """What the tables are about, in the order of the log: ``host``, ``device``, ``cpu``, ``process``, ..."""
        return tuple(dict.fromkeys(part.heading.scope for part in self.parts))

    def wide(self, scope: str, *, bounds: bool = False) -> pl.DataFrame:
        """One row a sample and device (or CPU, process, ...), one column a metric.

        Tables that split one report over several headings are joined by run, sample and name.  Figures that say nothing
        (see `hostparse.rules`) are null; the rows of means that a tool prints at its end are left out.

        Args:
            scope: one of `scopes`.
            bounds: add ``<metric>_lo`` and ``<metric>_hi``, the bounds of the rounding.

        Raises:
            KeyError: the log has no table of that scope.
        """
        parts = [part for part in self.parts if part.heading.scope == scope]
        if not parts:
            raise KeyError(f"{scope!r}: the log has {', '.join(self.scopes) or 'no table'}")
        frames = [_wide(part, bounds=bounds) for part in parts]
        if len(frames) == 1:
            return frames[0]
        keys = list(dict.fromkeys(name for part in parts for name in part.heading.keys))
        place = [name for name in (*_PLACED, *keys) if any(name in frame.columns for frame in frames)]
        if any(frame.select(set(place) & set(frame.columns)).is_duplicated().any() for frame in frames):
            return pl.concat(frames, how="diagonal").sort("line")
        together = pl.concat(frames, how="diagonal")
        values = [name for name in together.columns if name not in {*place, "line"}]
        return (
            together.group_by(place, maintain_order=True)
            .agg(pl.col("line").min(), pl.col(values).drop_nulls().first())
            .select("line", *place, *values)
            .sort("line")
        )

    @property
    def samples(self) -> pl.LazyFrame:
        """One row a figure: `hostparse.SAMPLES`.

        * ``scope``, ``name``: what it is about (device, cpu, ...) and which
        * ``metric``, ``unit``: the names of the wide frames, and their unit
        * ``printed``: the heading;  ``basis``: see `hostparse.columns.Metric`
        * ``value``, ``value_lo``, ``value_hi``: the figure and the bounds of its rounding
        * ``flag``: why ``value`` is null although something is printed: `hostparse.rules`, or ``no_figure``
        * ``is_since_boot``: a mean since the start of the system, no sample; null where it may be either
        """
        return _concat([_long(part, averages=False) for part in self.parts])

    @property
    def averages(self) -> pl.LazyFrame:
        """The means that a tool printed at its end, in the columns of `samples`; ``sample`` and the times are null."""
        return _concat([_long(part, averages=True) for part in self.parts])

    def frames(self) -> dict[str, pl.DataFrame | pl.LazyFrame]:
        """The frames by name: ``runs``, ``samples``, ``averages``, and one wide frame a scope."""
        return {
            "runs": self.runs,
            "samples": self.samples,
            "averages": self.averages,
            **{scope: self.wide(scope) for scope in self.scopes},
        }

    def describe(self) -> str:
        """One line: the tool, the host, how many samples."""
        counts = [part.frame.get_column("sample").drop_nulls().n_unique() for part in self.parts if part.frame.height]
        hosts = self.runs.get_column("host").drop_nulls().unique().sort().to_list()
        where = f" of {hosts[0]}" if len(hosts) == 1 else f" of {len(hosts)} hosts" if hosts else ""
        number = max(counts, default=0)
        about = ", ".join(self.scopes) or "nothing"
        return f"{self.kind}{where}, {number:,} sample{'' if number == 1 else 's'} of {about}"


def kind_of(parts: tuple[Part, ...]) -> str:
    """The tools that printed the tables, joined by ``+``."""
    tools = {part.heading.tool for part in parts if part.frame.height}
    return "+".join([tool for tool in _RANK if tool in tools] or sorted(tools)) or "host"


def make_diagnostics(notes: tuple[Diagnostic, ...]) -> pl.DataFrame:
    """The diagnostics of a log as a frame."""
    return diagnostics_frame(list(notes))


def _half(part: Part, name: str) -> pl.Series | float:
    return part.halves.get(name, 0.0)


def _wide(part: Part, *, bounds: bool) -> pl.DataFrame:
    columns = part.frame.columns
    found: list[pl.Expr] = []
    frame = part.frame
    for column in part.heading.fields:
        name = column.name
        if column.metric is None:
            found.append(pl.col(name))
            continue
        flag = flag_of(name, columns, part.heading.scope)
        value = pl.col(name) if flag is None else pl.when(flag.is_null()).then(pl.col(name)).alias(name)
        found.append(value)
        if bounds:
            half = _half(part, name)
            width = pl.lit(half) if isinstance(half, pl.Series) else pl.lit(half, dtype=pl.Float64)
            lo, hi = _bounds(value, width)
            found += [lo.alias(f"{name}_lo"), hi.alias(f"{name}_hi")]
    kept = frame.select("line", *_PLACED, "is_average", *found)
    return kept.filter(~pl.col("is_average")).drop("is_average")


def _bounds(value: pl.Expr, half: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """The bounds of the rounding; what is not negative has no bound below 0."""
    lo = value - half
    return pl.when(value >= 0).then(lo.clip(lower_bound=0.0)).otherwise(lo), value + half


def _long(part: Part, *, averages: bool) -> list[pl.LazyFrame]:
    """One lazy frame a column of figures."""
    columns = part.frame.columns
    rows = part.frame.lazy().filter(pl.col("is_average") == averages)
    keys = part.heading.keys
    name = (
        pl.concat_str([pl.col(key) for key in _names(keys)], separator=" ", ignore_nulls=True) if keys else pl.lit(None)
    )
    found = []
    for column in part.heading.fields:
        if column.metric is None:
            continue
        metric = column.metric
        flag = flag_of(column.name, columns, part.heading.scope)
        no_figure = pl.when(pl.col(column.name).is_null()).then(pl.lit("no_figure"))
        flag = no_figure if flag is None else pl.coalesce(flag, no_figure)
        value = pl.when(flag.is_null()).then(pl.col(column.name))
        half = _half(part, column.name)
        source = rows
        if isinstance(half, pl.Series):
            source = part.frame.with_columns(half.alias("_half")).lazy().filter(pl.col("is_average") == averages)
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


def _concat(frames: list[list[pl.LazyFrame]]) -> pl.LazyFrame:
    flat = [frame for group in frames for frame in group]
    return pl.concat(flat) if flat else pl.LazyFrame(schema=SAMPLES)
