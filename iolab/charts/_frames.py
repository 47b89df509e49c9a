"""What charts share: frames made small before they are drawn, and the colours of wait classes.

Every chart gets a few hundred rows, whatever the size of the log.  Each common class has its own colour in every chart,
and no two of one chart share one.
"""

from __future__ import annotations

import math
from itertools import chain, cycle
from typing import TYPE_CHECKING, Final

import polars as pl
import polars.selectors as cs

from logframe import LogError

if TYPE_CHECKING:
    from collections.abc import Sequence

#: A picture is no clearer with more points, and a notebook that holds them is slower.
MAX_POINTS: Final = 500
#: Nanoseconds in a unit of time.
NANOSECONDS: Final = {"ns": 1, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}


class ChartError(LogError):
    """A frame cannot be drawn: a column is missing, or nothing is left to draw."""


def need(frame: pl.DataFrame, *columns: str) -> None:
    """An error that names the columns which the frame lacks.

    Raises:
        ChartError: If there is such a column, or the frame has no rows.

    Examples:
        >>> need(pl.DataFrame({"run": [1]}), "elapsed_s")
        Traceback (most recent call last):
        iolab.charts._frames.ChartError: the frame has no column elapsed_s; it has run
    """
    if missing := [name for name in columns if name not in frame.columns]:
        raise ChartError(f"the frame has no column {', '.join(missing)}; it has {', '.join(frame.columns)}")
    if frame.is_empty():
        raise ChartError("the frame has no rows: there is nothing to draw")


def named(column: str) -> pl.Expr:
    """The names in a column as texts; a blank one is called "(none)", for Vega-Lite sorts by no null.

    Examples:
        >>> pl.DataFrame({"event": ["log file sync", None]}).select(named("event")).to_series().to_list()
        ['log file sync', '(none)']
    """
    return pl.col(column).cast(pl.String).fill_null("(none)")


def in_unit(frame: pl.DataFrame, column: str, unit: str) -> pl.Expr:
    """The column as numbers: a Duration in the unit of time, anything else as it is.

    Examples:
        >>> frame = pl.DataFrame({"t": [1_500]}, schema={"t": pl.Duration("us")})
        >>> frame.select(in_unit(frame, "t", "ms")).item()
        1.5
    """
    if isinstance(frame.schema[column], pl.Duration):
        if unit not in NANOSECONDS:
            raise ChartError(f"{unit} is no unit of time; there are {', '.join(NANOSECONDS)}")
        return pl.col(column).dt.total_nanoseconds() / NANOSECONDS[unit]
    return pl.col(column).cast(pl.Float64)


def whole_ticks(frame: pl.DataFrame, column: str, *, most: int = 10) -> list[int]:
    """Where to mark an axis of counts: whole numbers up to the greatest, in steps of 1, 2 or 5, at most so many.

    Examples:
        >>> whole_ticks(pl.DataFrame({"depth": [0, 2]}), "depth"), whole_ticks(pl.DataFrame({"run": [1, 93]}), "run")
        ([0, 1, 2], [10, 20, 30, 40, 50, 60, 70, 80, 90])
    """
    low, high = frame.select(pl.col(column).min().alias("low"), pl.col(column).max().alias("high")).row(0)
    steps = (digit * 10**power for power in range(18) for digit in (1, 2, 5))
    step = next(step for step in steps if (high - low) // step < most)
    return list(range(math.ceil(low / step) * step, math.floor(high) + 1, step))


def time_unit(last: object) -> tuple[str, int]:
    """The unit in which an axis that ends at this many nanoseconds reads best, and its nanoseconds.

    Examples:
        >>> time_unit(250_000_000), time_unit(90 * 10**9)
        (('ms', 1000000), ('s', 1000000000))
    """
    unit = "s" if isinstance(last, int) and last >= 10 * NANOSECONDS["s"] else "ms"
    return unit, NANOSECONDS[unit]


def samples_of(frame: pl.DataFrame, value: str, by: str | None, unit: str, *, above_zero: bool = False) -> pl.DataFrame:
    """The values to draw as columns ``sample`` and ``value``, nulls dropped; one sample called "all" without ``by``.

    Raises:
        ChartError: If nothing is left.
    """
    need(frame, value, *([] if by is None else [by]))
    name = pl.lit("all") if by is None else named(by)
    drawn = frame.select(sample=name, value=in_unit(frame, value, unit)).filter(pl.col("value").is_finite())
    if above_zero:
        drawn = drawn.filter(pl.col("value") > 0)
    if drawn.is_empty():
        raise ChartError(f"no row has a {value}{' above zero' if above_zero else ''}: there is nothing to draw")
    return drawn


def order_of(frame: pl.DataFrame, column: str = "sample") -> list[str]:
    """The values of a column in the order they first appear."""
    return frame.get_column(column).unique(maintain_order=True).to_list()


def box_of(drawn: pl.DataFrame) -> pl.DataFrame:
    """Median, quartiles and ends of the whiskers of each sample; whiskers reach to the last value within 1.5 boxes.

    Examples:
        >>> runs = pl.DataFrame({"sample": ["a"] * 5, "value": [1.0, 2, 3, 4, 20]})
        >>> box_of(runs).select("low", "median", "high").row(0)
        (1.0, 3.0, 4.0)
    """
    value = pl.col("value")
    fence = 1.5 * (pl.col("q3") - pl.col("q1"))
    quartiles = drawn.group_by("sample", maintain_order=True).agg(
        n=pl.len(),
        q1=value.quantile(0.25, "linear"),
        median=value.median(),
        q3=value.quantile(0.75, "linear"),
    )
    inside = drawn.join(quartiles, on="sample", maintain_order="left").filter(
        value.is_between(pl.col("q1") - fence, pl.col("q3") + fence)
    )
    ends = inside.group_by("sample", maintain_order=True).agg(low=value.min(), high=value.max())
    return shorten(quartiles.join(ends, on="sample", maintain_order="left"))


def steps_of(drawn: pl.DataFrame) -> pl.DataFrame:
    """The empirical distribution of each sample: ``value`` and the ``share`` of values up to it, in few steps.

    Examples:
        >>> steps_of(pl.DataFrame({"sample": ["a", "a"], "value": [1.0, 3.0]})).rows()
        [('a', 1.0, 0.5), ('a', 3.0, 1.0)]
    """
    ranked = drawn.sort("sample", "value", maintain_order=True).with_columns(
        rank=pl.int_range(1, pl.len() + 1).over("sample"), n=pl.len().over("sample")
    )
    every = pl.max_horizontal(pl.col("n") // MAX_POINTS, pl.lit(1))
    kept = ranked.filter((pl.col("rank") % every == 0) | (pl.col("rank") == 1) | (pl.col("rank") == pl.col("n")))
    steps = shorten(kept.select("sample", "value", share=pl.col("rank") / pl.col("n")))
    order = pl.DataFrame({"sample": order_of(drawn)}).with_row_index("place")
    return steps.join(order, on="sample", maintain_order="left").sort("place", "value", "share").drop("place")


def bin_edges(low: float, high: float, *, bins: int, log: bool) -> list[float]:
    """Edges of equal bins from low to high, equal in ratio if ``log``.

    Examples:
        >>> bin_edges(1, 100, bins=2, log=True)
        [1.0, 10.0, 100.0]
    """
    if log:
        return [10**edge for edge in bin_edges(math.log10(low), math.log10(high), bins=bins, log=False)]
    if high <= low:  # one value only: a bin as wide as a thousandth of it
        high = low + max(abs(low), 1.0) * 1e-3
    return [low + (high - low) * place / bins for place in range(bins + 1)]


def bins_of(drawn: pl.DataFrame, *, bins: int, log: bool) -> pl.DataFrame:
    """How many values of each sample lie in each bin: ``sample, low, high, count``, empty bins left out."""
    low, high = drawn.get_column("value").min(), drawn.get_column("value").max()
    if not isinstance(low, float) or not isinstance(high, float):
        raise ChartError("the values are no numbers: there is nothing to draw")
    edges = bin_edges(low, high, bins=bins, log=log)
    return (
        drawn.with_columns(bin=place_in("value", edges, log=log))
        .group_by("sample", "bin", maintain_order=True)
        .agg(count=pl.len())
        .with_columns(low=at_edge("bin", edges), high=at_edge("bin", edges[1:]))
        .sort("sample", "bin")
        .select("sample", pl.col("low", "high").round_sig_figs(6), "count")
    )


def place_in(column: str, edges: list[float], *, log: bool) -> pl.Expr:
    """The number of the equal bin, from 0, that a value lies in; the last bin holds its upper edge."""
    value, low, high = pl.col(column), edges[0], edges[-1]
    if log:
        value, low, high = value.log10(), math.log10(low), math.log10(high)
    bins = len(edges) - 1
    return ((value - low) * (bins / (high - low)) + 1e-9).floor().cast(pl.Int64).clip(0, bins - 1)


def at_edge(column: str, edges: list[float]) -> pl.Expr:
    """The edge with the number in a column."""
    return pl.col(column).replace_strict(dict(enumerate(edges)), default=edges[-1], return_dtype=pl.Float64)


def shorten(frame: pl.DataFrame, digits: int = 6) -> pl.DataFrame:
    """Floats cut to six significant digits: more is noise in a picture, and differs in the last digit."""
    return frame.with_columns(cs.float().round_sig_figs(digits))


#: What is drawn together because it is too little to draw alone; `Other` is a wait class of its own.
REST: Final = "(the rest)"
#: More are not told apart in one bar.
MOST_CLASSES: Final = 8
#: On a light and on a dark ground; green for the CPU and blue for I/O, as in Oracle's own tools.  Those of groups of
#: waits are the same in the profile of a page (`page.css`).
CLASS_COLOURS: Final = {
    "DB CPU": ("#1E7B45", "#5FD77C"),
    "User I/O": ("#0A3F94", "#4A82F0"),
    "System I/O": ("#5B7FA8", "#7FA3CC"),
    "Commit": ("#C87A00", "#EE9A2B"),
    "Configuration": ("#5E3512", "#D8BD9E"),
    "Application": ("#DF4A55", "#E5484D"),
    "Concurrency": ("#7A1049", "#C4437A"),
    "Cluster": ("#8459BF", "#9273CC"),
    "Network": ("#666F00", "#DCE63C"),
    "not accounted for": ("#6C7682", "#8F99A6"),
    "background CPU": ("#4E463C", "#B3A48F"),
    REST: ("#8F84B5", "#857AAE"),
    "Other": ("#1599B5", "#C4ECFA"),
}
_OWN: Final = {name: light for name, (light, _) in CLASS_COLOURS.items()}
#: What other classes get: the colours that no class of the chart has, those that mean least first.
_SPARE: Final = (*reversed(_OWN.values()),)
#: The text of a page, not of a chart: it stays dark on a dark page, where bars are light.
_INK: Final = "#1B2128"


def class_colours(names: Sequence[str]) -> list[str]:
    """A colour for each class: its own, else one that none of the others has; above `MOST_CLASSES` they repeat.

    Examples:
        >>> class_colours(["DB CPU", "Cluster", "User I/O"])
        ['#1E7B45', '#8459BF', '#0A3F94']
    """
    taken = {_OWN[name] for name in names if name in _OWN}
    free = chain((colour for colour in _SPARE if colour not in taken), cycle(_SPARE))
    return [_OWN[name] if name in _OWN else next(free) for name in names]


def ink_on(colour: str) -> str:
    """The colour of a text on a coloured background: white or ink, whichever has the greater contrast.

    Examples:
        >>> ink_on("#0A3F94"), ink_on("#C87A00")
        ('white', '#1B2128')
    """
    return "white" if contrast("#FFFFFF", colour) >= contrast(_INK, colour) else _INK


def contrast(one: str, two: str) -> float:
    """The contrast of two colours, from 1 to 21.

    Source: WCAG 2.1, contrast ratio and relative luminance.

    Examples:
        >>> round(contrast("#FFFFFF", "#000000"), 1), round(contrast("#1E7B45", "#FFFFFF"), 1)
        (21.0, 5.3)
    """
    low, high = sorted(_luminance(colour) for colour in (one, two))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
