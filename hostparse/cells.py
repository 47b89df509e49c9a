"""Cells: rows of a table cut into the columns of its heading, and figures read with their rounding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from hostparse.columns import OPTIONAL_KEYS
from hostparse.lines import GRAMMAR, TEXT

if TYPE_CHECKING:
    from hostparse.columns import Basis
    from hostparse.headings import Heading

#: Words that stand for "not available" where a figure is expected.
_ABSENT: Final = ("-", "N/A", "n/a", "nan", "-nan", "?")
#: What ``--human`` and zpool print: units of bytes, whatever unit the heading names.
_SUFFIXES: Final = {
    "s": 512.0,
    "B": 1.0,
    **{letter: 1024.0**power for power, letter in enumerate("KMGTP", 1)},
    "k": 1024.0,
}


@dataclass(frozen=True)
class Figures:
    """One column of figures.

    Attributes:
        values: in the metric's unit; null where the cell holds no number.
        half: half a unit of the last printed place, in the same unit: one number for the column, or one a row.
        problems: positions of cells that hold no number and do not say so.
    """

    values: pl.Series
    half: float | pl.Series
    problems: pl.Series


def cut_rows(rows: pl.DataFrame, heading: Heading) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The cells of the rows under a heading.

    Args:
        rows: with ``text``.
        heading: names the columns.

    Returns:
        The rows that fit, with ``clock`` or ``stamp`` and one String column a field (``c0``, ``c1``, ...) in place of
        the text; and the rows that do not fit, as they were.
    """
    found = _cut(rows, _template(heading, "{CELL}"))
    left = found.filter(pl.col(_first(heading)).is_null())
    if left.is_empty():
        return found.drop("text"), left.select(rows.columns)
    found = found.filter(pl.col(_first(heading)).is_not_null())
    if heading.keys:  # a name that holds blanks: then the other cells must be figures
        more = _cut(left.select(rows.columns), _template(heading, "[^ \t].*?", "{FIGURE}|-"))
        left = more.filter(pl.col(_first(heading)).is_null())
        found = pl.concat([found, more.filter(pl.col(_first(heading)).is_not_null())]).sort("line")
    return found.drop("text"), left.select(rows.columns)


def _first(heading: Heading) -> str:
    return "c0" if heading.fields else "stamp"


def _cut(rows: pl.DataFrame, template: str) -> pl.DataFrame:
    return rows.with_columns(GRAMMAR.groups(TEXT, template).alias("cells")).unnest("cells")


def _template(heading: Heading, key: str, figure: str = "{CELL}") -> str:
    """The template of a row: the clock, one group a column, the stamp."""
    parts = []
    if heading.has_clock:
        parts.append("(?:(?P<clock>{CLOCK}){GAP})?")
    elif heading.has_time:
        parts.append("(?P<clock>{CLOCK}|{PLAIN}){GAP}")
    last = len(heading.fields) - 1
    for number, field in enumerate(heading.fields):
        pattern = figure if field.metric is not None else key
        gap = "{GAP}" if number else ""
        if number == last > 0 and field.name in OPTIONAL_KEYS:
            parts.append(f"(?:{gap}(?P<c{number}>.+))?")
            continue
        if field.name == "command" and number == last:
            pattern = ".+"
        parts.append(f"{gap}(?P<c{number}>{pattern})")
    if heading.has_stamp:
        parts.append("{GAP}(?P<stamp>{CELL}{GAP}{CELL}(?:{GAP}{CELL})?)")
    return f"^{{GAP}}?{''.join(parts)}$"


def figures(cells: pl.Series, factor: float, basis: Basis) -> Figures:
    """The figures in a column of cells.

    A comma is a decimal mark: the tools group no digits.  ``k M G T P`` (powers of 1,024), ``B``
    and ``s`` (sectors) are units of bytes and replace that of the heading.  Whole numbers of a
    column that counts are exact; totals are cut to whole units, so they may be almost one unit too small.
    """
    is_exact = basis == "count"
    text = cells
    values = cells.cast(pl.Float64, strict=False)
    half: float | pl.Series
    if values.null_count() == cells.null_count():
        decimals = _decimals(text)
    else:
        text = cells.str.replace(",", ".", literal=True, n=1)
        values = text.cast(pl.Float64, strict=False)
        decimals = _decimals(text)
    if not values.is_finite().all():  # a cast reads `nan` and `inf`, which are no figures
        values = pl.select(pl.when(values.is_finite()).then(values)).to_series()
    lost = values.is_null() & cells.is_not_null()
    if isinstance(decimals, int):
        half = 0.0 if is_exact and decimals == 0 else (1.0 if basis == "total" else 0.5) * 10.0**-decimals * factor
    else:
        half = (0.5 * factor) * (0.1 ** decimals.cast(pl.Float64))
        if is_exact:
            half = half * (decimals > 0).cast(pl.Float64)
    if not lost.any():
        return Figures(values * factor if factor != 1.0 else values, half, pl.Series(dtype=pl.UInt32))
    part = GRAMMAR.groups(pl.col("cell"), "^(?P<number>{PLAIN})(?P<suffix>{SUFFIX})$").struct
    suffix = part.field("suffix")
    scale = pl.when(suffix == "%").then(factor).otherwise(suffix.replace_strict(_SUFFIXES, default=None))
    number = part.field("number")
    places = number.str.len_chars().cast(pl.Int64) - number.str.find(".", literal=True).cast(pl.Int64) - 1
    distinct = pl.DataFrame({"cell": text.filter(lost).unique()}).select(
        "cell",
        (number.cast(pl.Float64) * scale).alias("value"),
        (0.5 * scale * 0.1 ** places.fill_null(0).cast(pl.Float64)).alias("half"),
    )
    more = pl.DataFrame({"cell": text}).join(distinct, on="cell", how="left", maintain_order="left")
    values = pl.select(pl.coalesce(values * factor, more.get_column("value"))).to_series()
    width = half if isinstance(half, pl.Series) else pl.Series([half]).new_from_index(0, len(cells))
    half = pl.select(pl.when(lost).then(more.get_column("half")).otherwise(width)).to_series()
    is_problem = values.is_null() & cells.is_not_null() & ~cells.is_in(_ABSENT)
    return Figures(values, half, is_problem.arg_true())


def _decimals(text: pl.Series) -> int | pl.Series:
    """How many decimals are printed: one number where all cells agree, which they mostly do."""
    if len(text) == 0:
        return 0
    if (text.str.slice(-3, 1) == ".").all():
        return 2
    point = text.str.find(".", literal=True)
    if point.null_count() == len(text):
        return 0
    decimals = (text.str.len_bytes().cast(pl.Int32) - point.cast(pl.Int32) - 1).fill_null(0)
    first = decimals[0]
    return int(first) if (decimals == first).all() else decimals
