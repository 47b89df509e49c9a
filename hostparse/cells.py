"""Cells: rows of a table cut into the columns of its heading, and figures read with their rounding."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate, pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from hostparse.lines import GRAMMAR, TEXT
from hostparse.tools import ONE_WORD, OPTIONAL_KEYS
from logframe.split import split_figures

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostparse.headings import Heading
    from hostparse.tools import Basis

#: No tool prints more columns; the time and the memory that a pattern takes grow with the square of their number.
MOST_COLUMNS: Final = 1000
#: Nor more beside a name that holds blanks: each of their cells has the pattern of a figure.
_MOST_BESIDE_NAMES: Final = 300
#: Forms of plain figures by the number of their decimals, from none on.
_FORMS: Final = {
    name: re.compile(GRAMMAR.terminals[name])
    for name in ("NO_DECIMAL", "ONE_DECIMAL", "TWO_DECIMALS", "THREE_DECIMALS")
}
#: Words that stand for "not available" where a figure is expected.
_ABSENT: Final = ("-", "N/A", "n/a", "nan", "-nan", "?")
#: A time of day before the cells of a row.
_CLOCK_WIDTH: Final = len("00:00:00")
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


class Cut(NamedTuple):
    """Rows under a heading.

    Attributes:
        rows: those that fit, with ``clock`` or ``stamp`` and one column a field (``c0``, ``c1``, ...) in place of the
            text: String, or Float64 where compiled code has read the figures.
        left: those that do not fit, as they were.
        decimals: of each field, where all its cells are plain figures with so many; empty where that is not known.
    """

    rows: pl.DataFrame
    left: pl.DataFrame
    decimals: Mapping[str, int] = MappingProxyType({})


def cut_rows(rows: pl.DataFrame, heading: Heading) -> Cut:
    """The cells of the rows under a heading.

    Args:
        rows: with ``text``.
        heading: names the columns.
    """
    if (alike := _cut_alike(rows, heading)) is not None:
        return alike
    found = _cut(rows, _template(heading, "{CELL}"))
    fits = _fits(heading)
    left = found.filter(~fits)
    if left.is_empty():
        return Cut(found.drop("text"), left.select(rows.columns))
    found = found.filter(fits)
    names = [f"c{number}" for number, field in enumerate(heading.fields) if field.metric is None]
    # a name that holds blanks: then the other cells must be figures
    if 0 < len(names) < len(heading.fields) <= _MOST_BESIDE_NAMES:
        words = [name for name in names if heading.fields[int(name[1:])].name in ONE_WORD]
        like = dict.fromkeys(_figures_of(heading), "{FIGURE}|-") | dict.fromkeys(words, "{CELL}")
        more = _cut(left.select(rows.columns), _template(heading, "[^ \t].*?", like))
        # a name neither begins nor ends with a figure, nor holds one with decimals: such a row has too many cells
        ends = "^{FIGURE}{GAP}|{GAP}(?:{FIGURE}$|{DECIMAL}{GAP})"
        fits &= ~pl.any_horizontal(GRAMMAR.matches(pl.col(name), ends).fill_null(value=False) for name in names)
        left = more.filter(~fits)
        found = pl.concat([found, more.filter(fits)]).sort("line")
    return Cut(found.drop("text"), left.select(rows.columns))


def with_blanks(rows: pl.DataFrame, heading: Heading) -> pl.DataFrame:
    """The rows with a sign for each cell that is blank, where every other cell ends below its word.

    AIX prints nothing for a queue that was empty (``sar -q``).

    Args:
        rows: with ``text``, which begins with a clock, or the word for means.
        heading: names the columns.
    """
    if not heading.has_clock or {*heading.of.blank}.isdisjoint(heading.printed):
        return rows
    ends = [*accumulate((len(word) + 1 for word in heading.printed), initial=_CLOCK_WIDTH)]
    printed_at = [TEXT.str.slice(start, end - start) for start, end in pairwise(ends)]
    cells = [cell.str.strip_chars() for cell in printed_at]
    is_below = pl.all_horizontal(
        (cell == "") | ~at.str.ends_with(" ") for cell, at in zip(cells, printed_at, strict=True)
    )
    clock = TEXT.str.slice(0, _CLOCK_WIDTH).str.strip_chars()
    printed = pl.concat_str(clock, *(pl.when(cell != "").then(" " + cell) for cell in cells), ignore_nulls=True)
    filled = pl.concat_str(
        clock, *(" " + pl.when(cell != "").then(cell).otherwise(pl.lit(_ABSENT[0])) for cell in cells)
    )
    # where no figure stands below two words, what is cut is what is printed
    is_whole = is_below & (printed == TEXT.str.replace_all(GRAMMAR.pattern("{GAP}"), " "))
    return rows.with_columns(text=pl.when(is_whole).then(filled).otherwise(TEXT))


def _cut_alike(rows: pl.DataFrame, heading: Heading) -> Cut | None:
    """The cells, where the figures of each column have as many decimals in all rows; None where they do not.

    One pass then cuts the rows and says the rounding of every figure.
    """
    names = _figures_of(heading)
    ends = _cut(rows[[0, -1]], _template(heading, "{CELL}")) if names and rows.height > 1 else None
    if ends is None or ends.filter(_fits(heading)).height < ends.height:
        return None
    forms: dict[str, str] = {}
    for name in names:
        form = next((form for form, like in _FORMS.items() if all(like.fullmatch(cell) for cell in ends[name])), None)
        if form is None:
            return None
        forms[name] = form
    decimals = {name: list(_FORMS).index(form) for name, form in forms.items()}
    found = _split(rows, heading, decimals)
    if found is None:
        found = _cut(rows, _template(heading, "{CELL}", {name: f"{{{form}}}" for name, form in forms.items()}))
        if found.filter(_fits(heading)).height < found.height:
            return None
    return Cut(found.drop("text"), rows.clear(), decimals)


def _split(rows: pl.DataFrame, heading: Heading, decimals: Mapping[str, int]) -> pl.DataFrame | None:
    """The rows cut by compiled code: one word or none is a name, and all others are figures."""
    names = len(heading.fields) - len(decimals)
    has_time = heading.has_clock or heading.has_time or heading.has_stamp
    if has_time or names > 1 or (names == 1 and heading.fields[0].metric is not None):
        return None
    found = split_figures(rows.get_column("text"), list(decimals.values()), words=names)
    if found is None:
        return None
    rows = rows.with_columns(TEXT.str.extract(GRAMMAR.pattern("^{GAP}?({CELL})")).alias("c0")) if names else rows
    if names and rows.get_column("c0").str.contains(".", literal=True).any():  # such a name may be a figure
        return None
    return rows.with_columns(*(column.alias(each) for column, each in zip(found, decimals, strict=True)))


def _figures_of(heading: Heading) -> list[str]:
    """The names of the cells that are figures."""
    return [f"c{number}" for number, field in enumerate(heading.fields) if field.metric is not None]


def _fits(heading: Heading) -> pl.Expr:
    """Did the template describe the row?  A clock is no word of a name: such a row lacks a cell.

    Nor is a figure with decimals a name, or the first word of a command: such a row is of another heading.
    """
    first = pl.col("c0" if heading.fields else "stamp")
    fits = first.is_not_null()
    if not heading.fields:
        return fits
    if heading.has_clock or heading.has_time:
        fits &= ~GRAMMAR.matches(first, "(?:^|{GAP})(?:{HALF}|{CLOCK})(?:{GAP}|$)").fill_null(value=False)
    last = heading.fields[-1]
    if heading.fields[0].metric is None:
        fits &= ~GRAMMAR.matches(first, "^{DECIMAL}$").fill_null(value=False)
    if last.name == "command":
        command = pl.col(f"c{len(heading.fields) - 1}")
        fits &= ~GRAMMAR.matches(command, "^{FIGURE}{GAP}").fill_null(value=False)
    return fits


def _cut(rows: pl.DataFrame, template: str) -> pl.DataFrame:
    return rows.with_columns(GRAMMAR.groups(TEXT, template).alias("cells")).unnest("cells")


def _template(heading: Heading, key: str, like: Mapping[str, str] = MappingProxyType({})) -> str:
    """The template of a row: the clock, one group a column, the stamp.

    Args:
        heading: names the columns.
        key: the template of a name.
        like: the templates of cells that are others than these.
    """
    parts = []
    if heading.has_clock:
        parts.append("(?:(?P<clock>{CLOCK}){GAP})?")
    elif heading.has_time:
        parts.append("(?P<clock>{CLOCK}|{PLAIN}){GAP}")
    last = len(heading.fields) - 1
    for number, field in enumerate(heading.fields):
        pattern = like.get(f"c{number}", key if field.metric is None else "{CELL}")
        gap = "{GAP}" if number else ""
        if number == last > 0 and field.name in OPTIONAL_KEYS:
            parts.append(f"(?:{gap}(?P<c{number}>.+))?")
            continue
        if field.name == "command" and number == last:
            pattern = ".+"
        parts.append(f"{gap}(?P<c{number}>{pattern})")
    if heading.has_stamp:
        parts.append("{GAP}(?P<stamp>{CLOCK}|{CELL}{GAP}{CELL}(?:{GAP}{CELL})?)")
    return f"^{{GAP}}?{''.join(parts)}$"


def figures(cells: pl.Series, factor: float, basis: Basis, decimals: int | None = None) -> Figures:
    """The figures in a column of cells.

    A comma is a decimal mark: the tools group no digits.  ``k M G T P`` (powers of 1,024), ``B``
    and ``s`` (sectors) are units of bytes and replace that of the heading.  Whole numbers of a
    column that counts are exact; totals are cut to whole units, so they may be almost one unit too small.

    Args:
        cells: as printed; or the figures of all of them, where it is known how many decimals they have.
        factor: from the printed unit to that of the column.
        basis: of the metric.
        decimals: of all cells, where it is known that they are plain figures.
    """
    text = cells
    values = cells if cells.dtype == pl.Float64 else cells.cast(pl.Float64, strict=False)
    if decimals is None and values.null_count() > cells.null_count():
        text = cells.str.replace(",", ".", literal=True, n=1)
        values = text.cast(pl.Float64, strict=False)
    scaled = values if factor == 1.0 else values * factor
    if decimals is None and not scaled.is_finite().all():  # a cast reads `nan` and `inf`, which are no figures
        scaled = pl.select(pl.when(scaled.is_finite()).then(scaled)).to_series()
    half = _half(_decimals(text) if decimals is None else decimals, factor, basis)
    if scaled.null_count() == cells.null_count():
        return Figures(scaled, half, pl.Series(dtype=pl.UInt32))
    lost = scaled.is_null() & cells.is_not_null()
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
    of_suffix = more.get_column("value")
    values = pl.select(pl.coalesce(scaled, pl.when(of_suffix.is_finite()).then(of_suffix))).to_series()
    width = half if isinstance(half, pl.Series) else pl.Series([half]).new_from_index(0, len(cells))
    half = pl.select(pl.when(lost).then(more.get_column("half")).otherwise(width)).to_series()
    is_problem = values.is_null() & cells.is_not_null() & ~cells.is_in(_ABSENT)
    return Figures(values, half, is_problem.arg_true())


def _half(decimals: int | pl.Series, factor: float, basis: Basis) -> float | pl.Series:
    """Half a unit of the last place; a whole one of totals with a fixed number of decimals."""
    is_exact = basis == "count"
    units = (1.0 if basis == "total" else 0.5) * factor
    if isinstance(decimals, int):
        return 0.0 if is_exact and decimals == 0 else units * 10.0**-decimals
    powers = {count: 10.0**-count for count in decimals.unique()}
    half = units * decimals.replace_strict(powers, return_dtype=pl.Float64)
    return half * (decimals > 0).cast(pl.Float64) if is_exact else half


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
