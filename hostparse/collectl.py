"""``collectl``: its brief lines, its tables, and its plot format (``-P``), one row a figure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from hostparse.log import FrameLog
from logframe import Diagnostic, LogParseError, diagnostics_frame, load_grammar, open_log
from logframe.copied import numbered_lines, open_end, sign_of_copy
from logframe.formats import Format, Sniff
from logframe.normalize import without_terminal_codes
from logframe.provenance import by_line
from logframe.wording import counted

if TYPE_CHECKING:
    from logframe import Source
    from logframe.formats import Head
    from logframe.provenance import Part

GRAMMAR: Final = load_grammar("hostparse", "collectl.lark", "line")
#: Columns of ``samples``: one row a figure; the time as printed, else that of the record above.
SAMPLES: Final = pl.Schema(
    {
        **{name: pl.String() for name in ("time", "section", "group", "item", "metric", "printed")},
        **{name: pl.Float64() for name in ("value", "value_lo", "value_hi")},
        **{name: pl.UInt32() for name in ("sample", "line")},
    }
)
_KINDS: Final = [
    (name, re.compile(GRAMMAR.terminals[name])) for name in ("RECORD", "NOTE", "SECTION", "BARS", "HEADING", "ROW")
]
_SIGN: Final = re.compile(GRAMMAR.pattern("{RECORD}|{SECTION}|{BARS}|{PLOT}"))
_BAR: Final = re.compile(GRAMMAR.pattern("<{DASHES}(?P<name>{GROUP_NAME}){DASHES}>"))
_WORD: Final = re.compile(GRAMMAR.pattern("(?P<group>{GROUP})?(?P<word>{WORD})"))
_FIGURE: Final = re.compile(GRAMMAR.pattern("(?P<number>{NUMBER})(?P<letter>{LETTER})?"))
#: Words above cells that say when and of what a row is.
_TIMES: Final = frozenset({"Date", "Time"})
_KEYS: Final = frozenset({"Cpu", "Num", "Name", "Node"})
_LETTERS: Final = " KMGTP"
_LINES: Final = 200


class _Column(NamedTuple):
    """A word of a heading.

    Attributes:
        group: the words above it, or in brackets before it.
        word: itself.
    """

    group: str
    word: str


def read_collectl(source: Source) -> FrameLog:
    r"""The figures of an output of collectl.

    A figure that is cut to thousands (``22K``) has the bounds of what it may be, of 1,000 and of 1,024.

    Args:
        source: a path, bytes, a file object.

    Raises:
        LogParseError: no row of figures is below a heading.

    Examples:
        >>> log = read_collectl(b"#<--CPU--><-Disks-->\n#cpu sys KBRead\n  19  18   22K\n")
        >>> log.frames()["samples"].select("group", "metric", "value", "value_lo", "value_hi").rows()[2]
        ('Disks', 'KBRead', 22528.0, 22000.0, 23552.0)
    """
    log = open_log(source)
    lines = numbered_lines(log, _recognised)
    notes = [*log.notes, *open_end(log, lines)]
    rows: list[dict[str, Any]] = []
    bars: list[tuple[int, int, str]] = []
    columns: list[_Column] = []
    section, recorded, separator, sample = "", "", None, 0
    for number, text in lines:
        line = text.strip()
        kind = next((name for name, pattern in _KINDS if pattern.fullmatch(line)), None)
        match kind:
            case "RECORD":
                recorded, sample = line.rpartition("(")[2].partition(")")[0], sample + 1
            case "SECTION":
                section, bars = line.strip("# "), []
            case "BARS":
                bars = [(*one.span(), one["name"]) for one in _BAR.finditer(text)]
            case "HEADING":
                separator = "," if "," in line else None
                columns = [_column(one, bars) for one in _WORD.finditer(text.replace("#", " ", 1))]
            case "ROW" if columns and len(cells := line.split(separator)) == len(columns):
                sample += not recorded
                place = {"section": section, "sample": max(sample, 1), "line": number}
                rows += [{**place, **row} for row in _figures(columns, cells, recorded)]
            case "NOTE":
                pass
            case _ if line:
                notes.append(Diagnostic(log.name, number, None, "unparsed", line, "does not fit its heading"))
    if not rows:
        raise LogParseError("no row found", source=log.name, expected="an output of collectl")
    frame = pl.DataFrame(rows, schema=SAMPLES)
    what = f"an output of collectl, {counted(frame['sample'].n_unique(), 'sample')}, {counted(len(rows), 'figure')}"
    return FrameLog("collectl", "collectl", log.name, {"samples": frame}, diagnostics_frame(notes), what)


def _column(word: re.Match[str], bars: list[tuple[int, int, str]]) -> _Column:
    """A word of a heading, with the bar above its middle."""
    middle = sum(word.span()) / 2
    above = next((name for start, end, name in bars if start <= middle < end), "")
    return _Column((word["group"] or above).strip("[]"), word["word"])


def _figures(columns: list[_Column], cells: list[str], recorded: str) -> list[dict[str, Any]]:
    """The figures of a row, each with the names that stand in the row before its group, or in it."""
    found = list(zip(columns, cells, strict=True))
    time = " ".join(cell for column, cell in found if column.word in _TIMES) or recorded or None
    items: dict[str, list[str]] = {}
    figures = []
    for column, cell in found:
        if column.word in _TIMES:
            continue
        figure = _FIGURE.fullmatch(cell)
        if column.word in _KEYS or figure is None:
            items.setdefault(column.group, []).append(cell)
        else:
            figures.append((column, cell, figure))
    rows = []
    for column, cell, figure in figures:
        item = " ".join([*items.get("", []), *(items.get(column.group, []) if column.group else [])])
        names = {"time": time, "group": column.group, "item": item or None, "metric": column.word, "printed": cell}
        value, low, high = _value(column, figure)
        rows.append({**names, "value": value, "value_lo": low, "value_hi": high})
    return rows


def _value(column: _Column, figure: re.Match[str]) -> tuple[float, float, float]:
    """A figure and its bounds: rounded as it is printed, or cut to thousands."""
    number = float(figure["number"])
    if not (letter := figure["letter"]):
        half = 0.5 * 10.0 ** -len(figure["number"].partition(".")[2])
        return number, max(number - half, min(number, 0.0)), number + half
    power = _LETTERS.index(letter)
    base = 1024.0 if column.group == "Memory" or column.word.startswith("KB") else 1000.0
    return number * base**power, number * 1000.0**power, (number + 1) * 1024.0**power


def _recognised(printed: list[str]) -> Sniff | None:
    for number, line in enumerate(printed, 1):
        if _SIGN.fullmatch(without_terminal_codes(line).strip()):
            return Sniff(0.98, "an output of collectl", line=number)
    return None


def _sniff(head: Head) -> Sniff | None:
    return sign_of_copy(head.text.split("\n")[:_LINES], _recognised)


def _places(parsed: FrameLog, source: Source) -> list[Part]:
    text = "\n".join(open_log(source).lines())
    columns = {"samples": {"time": 1.0, "value": 1.0}}
    part = by_line(text, parsed.tables, columns, once=["time"])
    part.separator = "," if "#Date," in text else ""
    return [part]


FORMAT: Final = Format(name="collectl", title="an output of collectl", sniff=_sniff, read=read_collectl, places=_places)
