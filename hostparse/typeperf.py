"""Counters of Windows as CSV: typeperf, and perfmon or ``relog -f CSV``."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from hostparse.log import FrameLog
from logframe import Diagnostic, LogParseError, diagnostics_frame, load_grammar, open_log
from logframe.copied import numbered_lines, open_end, sign_of_copy
from logframe.formats import Format, Sniff
from logframe.normalize import without_terminal_codes
from logframe.printed import finite
from logframe.provenance import by_line
from logframe.wording import counted

if TYPE_CHECKING:
    from logframe import Source
    from logframe.formats import Head
    from logframe.provenance import Part

GRAMMAR: Final = load_grammar("hostparse", "typeperf.lark", "line")
#: Columns of ``samples``: one row a counter and time; values and times as printed, null where a cell is blank.
SAMPLES: Final = pl.Schema(
    {
        "time": pl.String(),
        "host": pl.String(),
        "object": pl.String(),
        "instance": pl.String(),
        "counter": pl.String(),
        "value": pl.Float64(),
        "line": pl.UInt32(),
    }
)
_KINDS: Final = {name: re.compile(GRAMMAR.terminals[name]) for name in ("HEADING", "ROW", "NOTE")}
_COUNTER: Final = re.compile(
    GRAMMAR.pattern(
        "^(?P<host>{HOST}){SEPARATOR}(?P<object>{OBJECT})(?:\\((?P<instance>{INSTANCE})\\))?{SEPARATOR}(?P<counter>{COUNTER})$"
    )
)
_SCORE: Final = 0.98
#: What a row prints.
_READ: Final = {"samples": {"time": 1.0, "value": 1.0}}


def read_typeperf(source: Source) -> FrameLog:
    r"""The counters that typeperf or perfmon wrote as CSV.

    Args:
        source: a path, bytes, a file object.

    Raises:
        LogParseError: no row of counters is below a heading.

    Examples:
        >>> heading = rb'"(PDH-CSV 4.0)","\\DB1\Processor(_Total)\% Processor Time"'
        >>> log = read_typeperf(heading + b'\n"11/24/2025 10:00:01.123","88.2"\n')
        >>> log.frames()["samples"].select("host", "object", "instance", "value").rows()
        [('DB1', 'Processor', '_Total', 88.2)]
    """
    log = open_log(source)
    lines = numbered_lines(log, _recognised)
    notes = [*log.notes, *open_end(log, lines)]
    names: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    for number, text in lines:
        line = text.strip()
        if not line or _KINDS["NOTE"].fullmatch(line):
            continue
        cells = next(csv.reader([line]))
        if _KINDS["HEADING"].fullmatch(line):
            found = [(cell, _COUNTER.match(cell)) for cell in cells[1:]]
            names = [match.groupdict() if match else {"counter": cell} for cell, match in found]
        elif not _KINDS["ROW"].fullmatch(line) or len(cells) != len(names) + 1:
            notes.append(Diagnostic(log.name, number, None, "unparsed", line, "does not fit its heading"))
        else:
            for name, cell in zip(names, cells[1:], strict=True):
                value = finite(cell.strip())
                if value is None and cell.strip():
                    notes.append(
                        Diagnostic(log.name, number, None, "no_value", cell, f"no figure of {name['counter']}")
                    )
                rows.append(
                    {
                        "time": cells[0],
                        **name,
                        "host": (name.get("host") or "").lstrip("\\") or None,
                        "value": value,
                        "line": number,
                    }
                )
    if not rows:
        raise LogParseError("no row found", source=log.name, expected="a CSV of typeperf or perfmon")
    frame = pl.DataFrame([{key: row.get(key) for key in SAMPLES} for row in rows], schema=SAMPLES)
    what = f"a CSV of typeperf, {counted(frame['time'].n_unique(), 'sample')} of {counted(len(names), 'counter')}"
    return FrameLog("typeperf", "typeperf", log.name, {"samples": frame}, diagnostics_frame(notes), what)


def _recognised(printed: list[str]) -> Sniff | None:
    for number, line in enumerate(printed, 1):
        if _KINDS["HEADING"].fullmatch(without_terminal_codes(line).strip()):
            return Sniff(_SCORE, "a CSV of typeperf or perfmon", line=number)
    return None


def _sniff(head: Head) -> Sniff | None:
    return sign_of_copy(head.text.split("\n")[:20], _recognised)


def _places(parsed: FrameLog, source: Source) -> list[Part]:
    text = "\n".join(open_log(source).lines())
    return [by_line(text, parsed.tables, _READ, once=["time"])]


FORMAT: Final = Format(
    name="typeperf", title="a CSV of typeperf or perfmon", sniff=_sniff, read=read_typeperf, places=_places
)
