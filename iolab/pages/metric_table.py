"""Headline figures: metrics as a table that a notebook shows, and that `make report` gathers from the notebooks."""

import html
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import polars as pl

from iolab.metrics.formatting import format_figure
from iolab.metrics.table import UPPER_BOUND
from iolab.pages import table_html
from logframe.wording import printable

#: How the figures travel inside a notebook, beside the table that is shown.
MIME: Final = "application/vnd.iolab.metrics+json"
COLUMNS: Final = ("metric", "value", "lo", "hi", "ci_lo", "ci_hi", "unit")
#: Headings of `figure_rows`: bounds of rounding in two columns, the interval of a sample in one of its own.
HEADINGS: Final = ("metric", "value", "lo", "hi", "95 % interval", "unit")
NUMBERS: Final = ("value", "lo", "hi", "95 % interval")
_INTERVAL: Final = HEADINGS.index("95 % interval")
_BOUNDS: Final = (HEADINGS.index("lo"), HEADINGS.index("hi"))
#: Headings on several lines have this width or more; texts in tables that are too wide are cut here.
_LEAST_HEAD: Final = 7
_LONGEST_CELL: Final = 44

Figures = Iterable[Mapping[str, Any]]


def figure_rows(figures: Figures) -> list[tuple[str, ...]]:
    """The figures as rows of texts under `HEADINGS`: metric, value, lo, hi, 95 % interval, unit.

    Examples:
        >>> one = {"metric": "p50", "value": 48.0, "lo": 0.0, "hi": 49.0, "unit": "us"}
        >>> figure_rows([one, one | {"caveats": "an upper bound: without -T ..."}])
        [('p50', '48', '0', '49', '', 'us'), ('p50', 'at most 49', '0', '49', '', 'us')]
        >>> figure_rows([one | {"lo": None, "hi": None, "ci_lo": 44.0, "ci_hi": 53.0}])
        [('p50', '48', '', '', '44 to 53', 'us')]
    """
    rows: list[tuple[str, ...]] = []
    for one in figures:
        unit = one["unit"] or ""
        value, lo, hi = format_figure(one["value"], one["lo"], one["hi"], unit)
        interval = ""
        if one.get("ci_lo") is not None and one.get("ci_hi") is not None:
            from_sample, ci_lo, ci_hi = format_figure(one["value"], one["ci_lo"], one["ci_hi"], unit)
            interval = f"{ci_lo} to {ci_hi}"
            value = value if lo else from_sample
        if str(one.get("caveats") or "").startswith(UPPER_BOUND):
            value = f"at most {hi}"
        rows.append((one["metric"] or "(none)", value, lo, hi, interval, unit))
    return rows


def without_empty(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[list[str], list[list[str]]]:
    """Headings and rows of `figure_rows` without the interval where none has one, and without bounds where all have.

    Examples:
        >>> without_empty(HEADINGS, [("p50", "48", "0", "49", "", "us")])
        (['metric', 'value', 'lo', 'hi', 'unit'], [['p50', '48', '0', '49', 'us']])
    """
    left_out = [_INTERVAL] if not any(row[_INTERVAL] for row in rows) else []
    if not left_out and not any(row[place] for row in rows for place in _BOUNDS):
        left_out = [*_BOUNDS]
    kept = [place for place in range(len(headings)) if place not in left_out]
    return [headings[place] for place in kept], [[row[place] for place in kept] for row in rows]


def text_table(
    rows: Iterable[Sequence[str]],
    *,
    headings: Sequence[str] = ("metric", "value", "lo", "hi", "unit"),
    numbers: Iterable[str] = NUMBERS,
    width: int | None = None,
) -> str:
    """The rows as a table of text under headings; the columns named in `numbers` are aligned to the right.

    Args:
        rows: texts.
        headings: of the columns.
        numbers: the headings of columns of numbers.
        width: of a terminal.  A wider table has its headings on several lines, and then its texts cut; what is still
            too wide is printed in parts, each with the first column.

    Examples:
        >>> print(text_table([("ms per flash read", "0.397", "0.395", "0.403", "ms")]))
        metric             value  lo     hi     unit
        ms per flash read  0.397  0.395  0.403  ms
        >>> print(text_table([("db file sequential read", "0.1997", "446.8")], width=41,
        ...     headings=("event", "ms a wait", "waits a second"), numbers=("ms a wait", "waits a second")))
                                    ms a  waits a
        event                       wait   second
        db file sequential read   0.1997    446.8
    """
    right = set(numbers)
    table = [[printable(cell) for cell in row] for row in rows]
    heads = [[heading] for heading in headings]
    if width is not None and _width(heads, table) > width:
        heads = [_wrapped(heading, [row[place] for row in table]) for place, heading in enumerate(headings)]
    if width is not None and _width(heads, table) > width:
        table = [[_cut(cell) for cell in row] for row in table]
    parts = [list(range(len(headings)))] if width is None else _parts(heads, table, width)
    return "\n\n".join(_aligned(heads, table, part, [headings[place] in right for place in part]) for part in parts)


def _wrapped(heading: str, cells: Sequence[str]) -> list[str]:
    """A heading on lines that are no wider than its column needs."""
    return textwrap.wrap(heading, max([_LEAST_HEAD, *map(len, cells)]), break_long_words=False) or [""]


def _cut(cell: str) -> str:
    return cell if len(cell) <= _LONGEST_CELL else f"{cell[: _LONGEST_CELL - 3]}..."


def _widths(heads: Sequence[Sequence[str]], table: Sequence[Sequence[str]]) -> list[int]:
    return [max(len(cell) for cell in [*head, *(row[place] for row in table)]) for place, head in enumerate(heads)]


def _width(heads: Sequence[Sequence[str]], table: Sequence[Sequence[str]]) -> int:
    return sum(_widths(heads, table)) + 2 * (len(heads) - 1)


def _parts(heads: Sequence[Sequence[str]], table: Sequence[Sequence[str]], width: int) -> list[list[int]]:
    """The columns of each part of a table that fits, the first column in all of them."""
    widths = _widths(heads, table)
    if not widths:  # every column is empty, and left out
        return []
    parts, used = [[0]], widths[0]
    for place in range(1, len(heads)):
        if used + 2 + widths[place] > width and len(parts[-1]) > 1:
            parts.append([0])
            used = widths[0]
        parts[-1].append(place)
        used += 2 + widths[place]
    return parts


def _aligned(
    heads: Sequence[Sequence[str]], table: Sequence[Sequence[str]], part: Sequence[int], right: Sequence[bool]
) -> str:
    deep = max(len(heads[place]) for place in part)
    top = [[([""] * (deep - len(heads[place])) + list(heads[place]))[line] for place in part] for line in range(deep)]
    lines = [*top, *([row[place] for place in part] for row in table)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(part))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if is_right else cell.ljust(width)
            for cell, width, is_right in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in lines
    )


class Headline:
    """Figures shown as a table, in a terminal and in a notebook.

    Attributes:
        figures: One mapping a figure: metric, value, lo, hi, ci_lo, ci_hi, unit.
        note: A sentence below them.
    """

    def __init__(self, figures: Figures, *, note: str = "") -> None:
        self.note = note
        self.figures = [{name: _rounded(one.get(name)) for name in COLUMNS} for one in map(_in_percent, figures)]

    def __str__(self) -> str:
        headings, rows = without_empty(HEADINGS, figure_rows(self.figures))
        return text_table(rows, headings=headings) + (f"\n{self.note}" if self.note else "")

    def __repr__(self) -> str:
        return str(self)

    def to_html(self) -> str:
        """The table as HTML."""
        headings, rows = without_empty(HEADINGS, figure_rows(self.figures))
        table = table_html(headings, rows, numbers=NUMBERS)
        return table + (f"<p>{html.escape(self.note)}</p>" if self.note else "")

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        del include, exclude  # Jupyter's protocol: all forms may be given
        return {
            "text/plain": str(self),
            "text/html": self.to_html(),
            MIME: {"figures": self.figures, "note": self.note},
        }


def headline(*frames: pl.DataFrame, only: Iterable[str] | None = None, note: str = "") -> Headline:
    """The figures that answer a question, shown as a table.

    Args:
        frames: Frames of metrics: metric, value, lo, hi, unit, the interval of a sample (ci_lo, ci_hi) where there is
            one, and more columns that are not shown.
        only: The metrics to show, in this order; by default all.
        note: A sentence below them.

    Raises:
        KeyError: If `only` names a metric that no frame has.

    Examples:
        >>> frame = pl.DataFrame({"metric": ["speedup"], "value": [1.2221], "lo": [1.2219], "hi": [1.2223],
        ...     "unit": ["x"]})
        >>> headline(frame)
        metric     value       lo       hi  unit
        speedup  1.22210  1.22190  1.22230  x
    """
    rows = [
        dict.fromkeys(COLUMNS) | row
        for frame in frames
        for row in frame.select(name for name in COLUMNS if name in frame.columns).iter_rows(named=True)
    ]
    if only is not None:
        by_name = {row["metric"]: row for row in reversed(rows)}
        rows = [by_name[name] for name in only]
    return Headline(rows, note=note)


def _in_percent(figure: Mapping[str, Any]) -> Mapping[str, Any]:
    """A ratio of a part and its whole as per cent."""
    if figure["unit"] != "ratio":
        return figure
    percent = {
        name: None if figure.get(name) is None else 100 * figure[name]
        for name in ("value", "lo", "hi", "ci_lo", "ci_hi")
    }
    return {**figure, **percent, "unit": "%"}


def _rounded(value: object) -> object:
    """A float of nine significant digits: the last digits of a sum may differ between machines."""
    return float(f"{value:.9g}") if isinstance(value, float) else value
