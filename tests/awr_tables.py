"""Tables of reports, written from the definitions of the canonical tables: all columns, all spellings of headings."""

from __future__ import annotations

import re
from datetime import datetime
from re import _constants as codes
from re import _parser as parser
from typing import TYPE_CHECKING, Final, NamedTuple

from awrparse import TABLES
from logframe.oracle import known_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from awrparse.columns import Column, Table

#: What Statspack prints above the records of files.
FILE_HEADS: Final = """\
File IO Stats  DB/Inst: FIG/fig1  Snaps: 10-11

Tablespace               Filename
------------------------ ----------------------------------------------------
                        Av   Mx                                             Av
                 Av     Rd   Rd    Av                    Av        Buffer  BufWt
         Reads Reads/s (ms)  Bkt Blks/Rd       Writes Writes/s      Waits  (ms)
-------------- ------- ----- --- ------- ------------ -------- ---------- ------
"""
#: Tables that are not written here: those of labels, and those that are made of several printed tables.
OTHERS: Final = {table.name for table in TABLES.values() if table.shape not in {"rows", "sum"}} | {
    *("info", "compare_snapshots", "compare_snapshots_difference", "sql_plans", "sql_plan_lines"),
    *(table.name for table in TABLES.values() if not any(column.heads for column in table.columns)),
}
#: Statements need the form of their section in text reports.
NO_TEXT: Final = {"sql", "compare_sql"}
#: Titles of tables whose pattern leaves open what they are about.
TITLES: Final = {
    "sql": "SQL ordered by Gets",
    "segments": "Segments by Logical Reads",
    "event_histogram": "Wait Event Histogram",
    "databases": "Database Summary",
    "instances": "Database Instances",
    "hosts": "Host Name",
    "containers": "WORKLOAD REPOSITORY",
    "snapshots": "Snapshot",
    "parameters": "init.ora Parameters",
    "compare_parameters": "init.ora Parameters",
    "top_events": "Top 5 Timed Foreground Events",
    "compare_sql": "Top SQL Comparison by Elapsed Time",
    "compare_file_io": "Top File Comparison by IO",
    "compare_segments": "Top Segments Comparison by Logical Reads",
    "ash_memory": "ASH Report For FIG/fig",
}
#: Column that holds several figures -> a cell and the columns it is parted into, by the number of the row.
SPLITS: Final = {
    "session": lambda row: (
        f"{20 + row},  {30 + row}(   1)",
        {"sid": 20 + row, "serial": 30 + row, "instance_number": 1},
    ),
    "samples_printed": lambda row: (
        f"{40 + row}/300 [ 13%]",
        {"samples": 40 + row, "samples_of": 300, "samples_pct": 13.0},
    ),
    "slot": lambda row: (f"19:3{row}:00  (2.5 min)", {"slot_start": f"19:3{row}:00", "slot_s": 150.0}),
    "spin_sleeps": lambda row: (f"{50 + row}/4/3/2/1", {}),
    "values": lambda row: (f'"{row}","7","8"', {"p1": str(row), "p2": "7", "p3": "8"}),
}
SIZE: Final = "1,019M (12.5%)"


class Printed(NamedTuple):
    """A table as a report prints it, and the values that its canonical frame must have."""

    title: str
    headings: list[str]
    rows: list[list[str]]
    expected: list[dict[str, object]]


def title_of(table: Table) -> str:
    """A title of the table: the shortest text that its first pattern describes."""
    return TITLES.get(table.name) or _shortest(parser.parse(table.titles[0]))


def _shortest(items: Iterable[tuple[object, object]]) -> str:
    found = ""
    for code, argument in items:
        if code is codes.LITERAL:
            found += chr(argument)
        elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT):
            found += argument[0] * _shortest(argument[2])
        elif code is codes.BRANCH:
            found += _shortest(argument[1][0])
        elif code is codes.SUBPATTERN:
            found += _shortest(argument[3])
        elif code is codes.IN:
            found += "1" if argument[0][0] is codes.CATEGORY else chr(argument[0][1])
        elif code is codes.ANY:
            found += "x"
    return found


def eras(table: Table) -> int:
    """How many sets of headings cover every spelling."""
    return max((len(column.heads) for column in table.columns), default=1)


def printed(table: Table, era: int, height: int = 3) -> Printed:
    """The table with the spellings of one era; where a column has fewer, with its last."""
    columns = [column for column in table.columns if column.heads and column.name not in table.group]
    headings = [re.sub(r"#\d+$", "", column.heads[min(era, len(column.heads) - 1)]) for column in columns]
    rows, expected = [], []
    for number in range(height):
        cells, values = [], {}
        for place, column in enumerate(columns):
            cell, value = _cell(table, column, place, number)
            if column.kind == "ms" and "(us)" in headings[place]:
                value = {column.name: (place * 10 + number + 0.5) / 1000}
            cells.append(cell)
            values |= value
        rows.append(cells)
        expected.append(values)
    return Printed(title_of(table), headings, rows, expected)


def _cell(table: Table, column: Column, place: int, row: int) -> tuple[str, dict[str, object]]:
    name, step = column.name, place * 10 + row
    if name in table.splits:
        if name in SPLITS:
            cell, parts = SPLITS[name](row)
            known = {part: value for part, value in parts.items() if part in table.by_name}
            return cell, {name: cell, **known}
        stem = name.removesuffix("_printed")
        return SIZE, {name: SIZE, f"{stem}_bytes": 1019.0 * 1024**2, f"{stem}_pct": 12.5}
    if table.name == "snapshots" and name == "snapshot":
        return ("Begin Snap:", {name: "Begin Snap:"}) if row == 0 else ("End Snap:", {name: "End Snap:"})
    match column.kind:
        case "count":
            return f"{1000 + step:,}", {name: 1000 + step}
        case "number" | "pct" | "s" | "ms" | "us":
            return f"{step}.5", {name: step + 0.5}
        case "bytes" | "kbytes" | "mbytes":
            return f"{step + 1}K", {name: (step + 1) * 1024.0}
        case "minutes":
            return f"{step}.25", {name: step * 60 + 15.0}
        case "time":
            return f"23-Apr-14 19:3{row}:10", {name: datetime(2014, 4, 23, 19, 30 + row, 10)}  # noqa: DTZ001
        case "flag":
            return "YES", {name: True}
        case "text":
            return (f"Fig{step}x", {name: f"Fig{step}x"})
        case kind:
            known = known_names(kind)
            cell = known[step % len(known)]
            return cell, {name: cell.removesuffix(" pool") if kind == "pool" else cell}


def as_html(one: Printed, notes: str = "") -> str:
    """The table in a page."""
    heads = "".join(f"<th>{_escaped(heading) or '&#160;'}</th>" for heading in one.headings)
    body = "\n".join("<tr>" + "".join(f"<td>{_escaped(cell)}</td>" for cell in row) + "</tr>" for row in one.rows)
    return (
        f"<html><body><h1>WORKLOAD REPOSITORY report for</h1>\n<h3>{_escaped(one.title)}</h3>{notes}\n"
        f"<table><tr>{heads}</tr>\n{body}</table></body></html>"
    )


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def as_text(one: Printed, notes: str = "") -> str:
    """The table in a text report, with headings of one line above a ruler."""
    widths = [max(map(len, cells)) + 1 for cells in zip(one.headings, *one.rows, strict=True)]
    lines = [one.headings, ["-" * width for width in widths], *one.rows]
    body = "\n".join(
        " ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
    end = " " * 26 + "-" * 54
    return f"\n{one.title}     DB/Inst: FIG/fig  Snaps: 1-2\n{notes}\n{body}\n{end}\n"


def as_markdown(one: Printed, notes: str = "") -> str:
    """The table in Markdown, its title above it."""
    lines = [one.headings, [":---"] + ["---:"] * (len(one.headings) - 1), *one.rows]
    body = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
    return f"Some words.\n\n## {one.title}\n\n{notes}{body}\n"
