"""Frames as tables for readers: bounds beside their value, times with a unit, long texts cut, remarks grouped."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from typing import Any, Final

import polars as pl

from iolab.metrics.formatting import count_text, format_figure
from iolab.metrics.table import REFUSED
from iolab.pages import table_html
from iolab.pages.metric_table import HEADINGS, NUMBERS, figure_rows, text_table, without_empty
from logframe.wording import printable

#: Rows of a frame that a page shows, and columns.
MOST_ROWS: Final = 20
MOST_COLUMNS: Final = 12
#: Kinds of remarks that a page shows of one log.
MOST_REMARKS: Final = 30
_LONGEST: Final = 160
#: Numbers that count nothing: they name a line, a process, a plan.
_NAMES: Final = re.compile(r"(?:^|_)(?:line|pid|fd|statement|listing|table|sample|run|id|number|hash_value)$")
#: The unit at the end of a column's name -> how a heading shows it.
_UNITS: Final = {
    "s": "s",
    "ms": "ms",
    "us": "us",
    "ns": "ns",
    "cs": "1/100 s",
    "pct": "%",
    "kb": "KB",
    "mb": "MB",
    "gb": "GB",
    "kib": "KiB",
    "mib": "MiB",
}
#: Headings that are not their column's name with blanks.
_HEADINGS: Final = {
    "has_o_direct": "O_DIRECT",
    "e_rows": "E-Rows",
    "a_rows": "A-Rows",
    "db_time_pct": "% DB time",
    "ci95_low_s": "95 % from (s)",
    "ci95_high_s": "to (s)",
}
_UNIT_STEPS: Final = ((1_000, "ns", 1), (1_000_000, "us", 1e3), (10**9, "ms", 1e6))
_FIGURE_HEADINGS: Final = (*HEADINGS, "notes")
#: What a page need not say again of each row.
_LEFT_OUT: Final = (
    "source",
    "log",
    "raw",
    "is_known",
    "is_truncated",
    "is_shown",
    "is_total",
    "client",
    "column",
    "prompt",
    "series",
)


def format_value(value: object, *, is_name: bool = False) -> str:
    """A value of a frame as a text.

    Examples:
        >>> format_value(13653352448.0), format_value(6.2e-05), format_value(timedelta(microseconds=564))
        ('13,653,352,448', '0.000062', '564 us')
        >>> format_value(632526761, is_name=True), format_value(["C_COUNT", "CUSTDIST"]), format_value(None)
        ('632526761', 'C_COUNT, CUSTDIST', '')
    """
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int():
            return str(value) if is_name else f"{value:,}"
        case float():
            return _float(value)
        case timedelta():
            return _time(round(value.total_seconds() * 1e9))
        case datetime():
            return f"{value:%Y-%m-%d %H:%M:%S}"
        case date():
            return f"{value:%Y-%m-%d}"
        case Mapping():
            return ", ".join(f"{key} {format_value(one)}" for key, one in value.items())
        case Iterable() if not isinstance(value, str):
            return ", ".join(format_value(one) for one in value)
    text = " ".join(str(value).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def heading(column: str) -> str:
    """The heading of a column: its name in words, its unit in brackets.

    Examples:
        >>> [heading(name) for name in ("total_wait_s", "avg_wait_ms", "db_time_pct", "waits_per_s", "upper_ns", "s")]
        ['total wait (s)', 'avg wait (ms)', '% DB time', 'waits per s', 'upper (ns)', 's']
    """
    if column in _HEADINGS:
        return _HEADINGS[column]
    name, _, unit = column.rpartition("_")
    if unit in _UNITS and name and not f"_{name}".endswith("_per"):
        return f"{name.replace('_', ' ')} ({_UNITS[unit]})"
    return column.replace("_", " ")


def _float(value: float) -> str:
    """Whole numbers in full, others with six significant digits, never an exponent."""
    if value.is_integer() or abs(value) >= 1e5:
        return f"{value:,.0f}"
    text = f"{value:,.6g}"
    return text if "e" not in text else f"{value:.12f}".rstrip("0")


def _time(nanoseconds: int) -> str:
    """A time in the unit in which it reads best, with four digits."""
    for below, unit, size in _UNIT_STEPS:
        if abs(nanoseconds) < below:
            return f"{nanoseconds / size:.4g} {unit}"
    seconds = nanoseconds / 1e9
    return f"{seconds:.4g} s" if seconds < 1e4 else f"{seconds:,.0f} s"


def frame_html(frame: pl.DataFrame, *, most: int = MOST_ROWS, names: Mapping[str, str] | None = None) -> str:
    """The first rows of a frame as a table of HTML.

    Bounds (``_lo``, ``_hi``) are in brackets beside their value where the frame is one of ratios (`ratio`), and are
    left out elsewhere: a printed number shows its rounding itself.  Columns that are null throughout are left out, and
    those with the text as printed.

    Args:
        frame: Any frame.
        most: How many rows.
        names: What to call columns.
    """
    headings, rows, numbers, more = _table(frame, most, names or {})
    said = f"<p><small>and {more}: iolab convert writes all of them</small></p>" if more else ""
    return table_html(headings, rows, numbers=numbers) + said


def frame_text(
    frame: pl.DataFrame, *, most: int = MOST_ROWS, names: Mapping[str, str] | None = None, width: int | None = None
) -> str:
    """The first rows of a frame as a table of text; see `frame_html`, and `text_table` for its width.

    Examples:
        >>> print(frame_text(pl.DataFrame({"event": ["log file sync"], "a": [2.0], "a_lo": [1.5], "a_hi": [2.5],
        ...                                "ratio": [1.0]}), names={"a": "before"}))
        event             before  ratio
        log file sync  2.0 [1.5, 2.5]  1
        >>> frame_text(pl.DataFrame({"event": [None]}), width=80), frame_text(pl.DataFrame({"event": []}))
        ('', 'no rows')
    """
    if frame.is_empty():
        return "no rows"
    headings, rows, numbers, more = _table(frame, most, names or {})
    return text_table(rows, headings=headings, numbers=numbers, width=width) + (f"\nand {more}" if more else "")


def whole_frame_text(frame: pl.DataFrame, *, most: int = MOST_ROWS) -> str:
    """The first rows of a frame with all its columns, by their names, as a table of text.

    Examples:
        >>> print(whole_frame_text(pl.DataFrame({"event": ["log file sync"], "a_lo": [1.5]})))
        event          a_lo
        log file sync   1.5
    """
    shown = frame.head(most).iter_rows(named=True)
    rows = [[format_value(value, is_name=_is_name(name, value)) for name, value in row.items()] for row in shown]
    numbers = [name for name, kind in frame.schema.items() if kind.is_numeric() or kind == pl.Duration]
    more = f"\nand {count_text(frame.height - most, 'more row')}" if frame.height > most else ""
    return text_table(rows, headings=frame.columns, numbers=numbers) + more


def _is_name(column: str, value: object) -> bool:
    """Is a number the name of something, such as a line?"""
    return _NAMES.search(column) is not None and not isinstance(value, float)


def _table(
    frame: pl.DataFrame, most: int, names: Mapping[str, str]
) -> tuple[list[str], list[list[str]], list[str], str]:
    """Headings, rows, the headings of numbers, and what is not among them."""
    head = frame.head(most)
    has_bounds = any(column.startswith("ratio") for column in head.columns)
    wanted = [
        column
        for column in head.columns
        if head.get_column(column).null_count() < head.height
        and column not in _LEFT_OUT
        and not column.endswith(("_lo", "_hi", "_printed"))
        and not (column == "printed_name" and "name" in head.columns)
    ]
    kept = wanted[:MOST_COLUMNS]
    said = {column: names.get(column) or heading(column) for column in kept}
    rows = [[_cell(row, column, with_bounds=has_bounds) for column in kept] for row in head.iter_rows(named=True)]
    numbers = [said[name] for name in kept if head.schema[name].is_numeric() or head.schema[name] == pl.Duration]
    more = [
        *([count_text(frame.height - head.height, "more row")] if frame.height > head.height else []),
        *([count_text(len(wanted) - len(kept), "more column")] if len(wanted) > len(kept) else []),
    ]
    return list(said.values()), rows, numbers, " and ".join(more)


def _cell(row: Mapping[str, Any], column: str, *, with_bounds: bool) -> str:
    value = row[column]
    if with_bounds and isinstance(value, float) and row.get(f"{column}_lo") is not None:
        shown, lo, hi = format_figure(value, row[f"{column}_lo"], row[f"{column}_hi"])
        return shown if lo == hi or not lo or not hi else f"{shown} [{lo}, {hi}]"
    return format_value(value, is_name=_is_name(column, value))


def figures_html(figures: pl.DataFrame) -> str:
    """Metrics as a table, with their caveats as numbered notes below, what was refused, and how each was computed."""
    shown, caveats, refused = _noted(figures)
    parts = []
    if shown:
        headings, rows = without_empty(_FIGURE_HEADINGS, shown)
        parts.append(table_html(headings, rows, numbers=NUMBERS))
        items = "".join(f"<li>{html.escape(caveat)}</li>" for caveat in caveats)
        parts.append(f'<ol class="notes">{items}</ol>' if items else "")
        given = figures.filter(~pl.col("caveats").str.starts_with(REFUSED))
        basis = table_html(["metric", "computed from"], given.select("metric", "basis").rows())
        parts.append(f"<details><summary>how each was computed</summary>{basis}</details>")
    if refused:
        items = "".join(
            f"<li><b>{html.escape(', '.join(names))}</b>: {html.escape(why)}</li>" for why, names in refused.items()
        )
        parts.append(f"<p>Refused, with the reason:</p><ul>{items}</ul>")
    return "".join(parts)


def figures_text(figures: pl.DataFrame, *, width: int | None = None) -> str:
    """Metrics as a table of text, with their caveats as numbered notes below, and what was refused; see `figures_html`.

    Examples:
        >>> row = {"metric": "p50", "value": 48.0, "lo": 47.0, "hi": 49.0, "unit": "us", "basis": "",
        ...     "caveats": "of reads"}
        >>> print(figures_text(pl.DataFrame([row, row | {"metric": "p99", "value": None,
        ...     "caveats": "refused: one read"}])))
        metric  value    lo    hi  unit  notes
        p50      48.0  47.0  49.0  us    1
        1. of reads
        refused: p99: one read
    """
    shown, caveats, refused = _noted(figures)
    headings, trimmed = without_empty(_FIGURE_HEADINGS, shown)
    lines = [text_table(trimmed, headings=headings, width=width)] if shown else []
    notes = [f"{number}. {caveat}" for number, caveat in enumerate(caveats, 1)]
    notes += [f"refused: {', '.join(names)}: {why}" for why, names in refused.items()]
    return "\n".join([*lines, *(wrapped(note, width) for note in notes)])


def wrapped(text: str, width: int | None) -> str:
    """A paragraph on lines that are no wider than a terminal, where its width is known."""
    text = printable(text)
    if width is None:
        return text
    return "\n".join(textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False))


def _noted(figures: pl.DataFrame) -> tuple[list[tuple[str, ...]], list[str], dict[str, list[str]]]:
    """The rows of the figures with the numbers of their caveats, the caveats, and each reason with what it refused."""
    rows = figures.to_dicts()
    given = [row for row in rows if not row["caveats"].startswith(REFUSED)]
    caveats = list(dict.fromkeys(one for row in given for one in row["caveats"].split("; ") if one))
    place = {caveat: str(number) for number, caveat in enumerate(caveats, 1)}
    shown = [
        (*texts, " ".join(place[one] for one in row["caveats"].split("; ") if one))
        for texts, row in zip(figure_rows(given), given, strict=True)
    ]
    refused: dict[str, list[str]] = {}
    for row in rows:
        if row["caveats"].startswith(REFUSED):
            refused.setdefault(row["caveats"].removeprefix(REFUSED), []).append(row["metric"])
    return shown, caveats, refused


def diagnostics_html(diagnostics: pl.DataFrame) -> str:
    """Remarks as a table, those of one kind and reason together: how many, on which lines, and the first as example."""
    grouped = (
        diagnostics.with_columns(alike=pl.col("reason").str.replace_all(r"\d+", "n").str.replace_all(r"'[^']*'", "x"))
        .group_by("kind", "alike", maintain_order=True)
        .agg(
            pl.len().alias("times"),
            pl.col("line").drop_nulls().head(6).alias("lines"),
            pl.col("reason").first(),
            pl.col("text").first(),
        )
    )
    rows = [
        (
            kind,
            f"{times:,}",
            ", ".join(map(str, lines[:5])) + (", ..." if times > len(lines[:5]) else ""),
            format_value(reason),
            format_value(text),
        )
        for kind, times, lines, reason, text in grouped.head(MOST_REMARKS)
        .select("kind", "times", "lines", "reason", "text")
        .iter_rows()
    ]
    table = table_html(["remark", "times", "lines", "reason (the first)", "text (the first)"], rows, numbers=["times"])
    left = grouped.height - len(rows)
    return table + (f"<p><small>and {left:,} more kinds of remarks</small></p>" if left else "")
