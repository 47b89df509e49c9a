"""What sadf -d prints: rows between semicolons under headings with the host, the interval and a dated time."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Final

import polars as pl

from hostparse.cells import figures
from hostparse.clocks import Order, dated_clock, long_moment
from hostparse.headings import Field, Heading, read_heading
from hostparse.lines import TEXT, repeated_rows
from hostparse.runs import Run, Runs
from hostparse.sampling import PLACE
from hostparse.stored import Half, MemoryParts, Part, cut_end, open_end
from hostparse.tables import Tables
from hostparse.tools import KEYS, STATED_INTERVAL
from logframe import Diagnostic, load_grammar
from logframe.moments import later
from logframe.printed import whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from logframe import Log

GRAMMAR: Final = load_grammar("hostparse", "sadf.lark")
#: Host, interval and timestamp come before the columns of a table.
_BEFORE: Final = 3
#: After the last column of a table of which a row has several items (``-h``).
_AGAIN: Final = GRAMMAR.literal("AGAIN")


def as_sadf(log: Log) -> Log:
    r"""A table of the processors whose rows begin with a time, and its heading with a word for it, as sadf has it.

    Examples:
        >>> from logframe import open_log
        >>> text = b"Snap time %usr %idle\nMon Jan 29 23:40:36 EET 2024 20.18 79.82\n"
        >>> print(as_sadf(open_log(text)).text())
        # hostname;interval;timestamp;CPU;%usr;%idle
        ;;2024-01-29 23:40:36 EET;-1;20.18;79.82
    """
    printed, width = [line.split() for line in log.lines()], 0
    for number, cells in enumerate(printed):
        if "%idle" in cells:
            width = len(cells) - next(at for at, word in enumerate(cells) if word.startswith("%"))
            printed[number] = ["# hostname", "interval", "timestamp", "CPU", *cells[-width:]]
        elif len(cells) > width > 0 and (found := long_moment(" ".join(cells[:-width])))["time"] is not None:
            printed[number] = ["", "", f"{found['time']} {found['zone'] or ''}".strip(), "-1", *cells[-width:]]
    return replace(log, target="\n".join(map(";".join, printed)).encode())


def read_sadf(log: Log, tool: str = "sar") -> Tables:
    """The tables of a file of ``sadf -d``, and the tool whose they are."""
    lines = log.scan(name="text", row_index_name="line").collect().with_columns(TEXT.str.strip_chars_end(" \r"))
    is_heading = GRAMMAR.matches(TEXT, "^{HEADING_START}")
    is_restart = GRAMMAR.matches(TEXT, "^{RESTART}")
    width = TEXT.str.count_matches(";", literal=True) + 1
    kind = (
        pl.when(TEXT == "")
        .then(pl.lit("blank"))
        .when(is_heading)
        .then(pl.lit("words"))
        .when(is_restart)
        .then(pl.lit("restart"))
        .when(GRAMMAR.matches(TEXT, "^{COMMENT}"))
        .then(pl.lit("notice"))
        .when(width > _BEFORE)
        .then(pl.lit("row"))
        .otherwise(pl.lit("text"))
    )
    lines = lines.with_columns(
        kind.alias("kind"),
        pl.when(is_heading).then(TEXT).forward_fill().alias("heading"),
        TEXT.str.splitn(";", 2).struct.field("field_0").alias("host"),
        width.alias("width"),
    )
    shown = pl.when(pl.col("kind").is_in(["row", "restart"])).then("host").forward_fill()
    starts = (pl.col("kind") == "restart") | (shown != shown.shift())
    number = starts.fill_null(value=False).cum_sum().cast(pl.UInt32)
    rows = lines.with_columns(number.alias("run")).filter(pl.col("kind").is_in(["row", "restart"]))
    notes = _unread(log.name, lines.filter(pl.col("kind") == "text"), "no row of sadf")
    rows = rows.with_columns(pl.col("run").rank("dense").sub(1).cast(pl.UInt32))
    runs = _runs(rows)
    rows = rows.filter(pl.col("kind") == "row")
    notes += repeated_rows(log.name, rows.select("line", "text"))
    notes += _unread(log.name, rows.filter(pl.col("heading").is_null()), "a row without a heading above it")
    placed, time_notes, zones = _placed(log.name, rows, runs)
    notes += time_notes
    rows = _side_by_side(rows)
    parts: list[Part] = []
    for (text,), group in rows.drop_nulls("heading").partition_by("heading", as_dict=True, maintain_order=True).items():
        # one column for each processor that was on: as many as the row has
        widths = group.partition_by("width", maintain_order=True) if str(text).endswith("CPU*") else [group]
        for each in widths:
            part, left, reason = _part(log.name, str(text), each, placed, notes, tool)
            notes += _unread(log.name, left, reason)
            if part is not None:
                parts.append(part)
    last = rows.select(pl.col("line").max()).item() or 0
    whole, cut = cut_end(log.name, dict(enumerate(parts)), {}, last)
    notes += cut or open_end(log, whole.values(), last)
    found = tuple(replace(run, zone=zones.get(run.run)) for run in runs)
    kinds = dict(lines.get_column("kind").value_counts().sort("kind").iter_rows())
    notes.sort(key=lambda note: note.line or 0)
    return Tables(MemoryParts(whole.values()), Runs(found, Order("ymd", is_assumed=False)), kinds, tuple(notes))


def _side_by_side(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows as ``sadf -d`` has them, where ``-h`` put the items of a time in one row that fits in one way."""
    found = []
    for row in rows.filter(pl.col("heading").str.contains(_AGAIN, literal=True)).to_dicts():
        words, cells, tables = row["heading"].split(";"), row["text"].split(";"), list[list[str]]()
        for before, word in pairwise(words[_BEFORE - 1 :]):
            if word.removesuffix(_AGAIN) in KEYS or before.endswith(_AGAIN) or not tables:
                tables.append([])
            tables[-1].append(word)
        ways = list(islice(_items(tables, cells[_BEFORE:]), 2))
        for heading, item in ways[0] if len(ways) == 1 else []:
            texts = (";".join([*some[:_BEFORE], *own]) for some, own in ((words, heading), (cells, item)))
            found.append(row | dict(zip(("heading", "text"), texts, strict=True)) | {"width": _BEFORE + len(item)})
    items = pl.DataFrame(found, rows.schema)
    return pl.concat([rows.join(items, on="line", how="anti", maintain_order="left"), items])


def _items(tables: list[list[str]], cells: list[str]) -> Iterator[list[tuple[list[str], list[str]]]]:
    """The ways to divide cells into items of tables; a name differs from figures, which have decimals.

    Examples:
        >>> list(_items([["CPU", "%idle[...]"], ["DEV", "tps[...]"]], ["-1", "9.00", "sda", "0.50"]))
        [[(['CPU', '%idle'], ['-1', '9.00']), (['DEV', 'tps'], ['sda', '0.50'])]]
    """
    if not tables:
        yield from [] if cells else [[]]
        return
    last = tables[0][-1].removesuffix(_AGAIN)
    words, is_many = [*tables[0][:-1], last], last != tables[0][-1]
    for width in range(2, len(cells) + 1) if last == "CPU*" else [len(words)]:
        for end in range(width, (len(cells) if is_many else width) + 1, width):
            own = [cells[at : at + width] for at in range(0, end, width)]
            if is_many and [_is_figure(cell) for cell in own[-1]] != [False] + [True] * (width - 1):
                break
            yield from ([*((words, one) for one in own), *rest] for rest in _items(tables[1:], cells[end:]))


def _is_figure(cell: str) -> bool:
    whole, _, decimals = cell.removeprefix("-").partition(".")
    return whole.isdigit() and decimals.isdigit()


def _unread(name: str, rows: pl.DataFrame, reason: str) -> list[Diagnostic]:
    return [
        Diagnostic(name, line, None, "unparsed", text, reason) for line, text in rows.select("line", "text").iter_rows()
    ]


def _runs(rows: pl.DataFrame) -> list[Run]:
    """One run from each restart on; the restart says how many processors there are."""
    found = []
    for (number,), group in rows.partition_by("run", as_dict=True, maintain_order=True).items():
        first = group.row(0, named=True)
        cpus = first["text"].rpartition("(")[2].removesuffix(" CPU)") if first["kind"] == "restart" else ""
        at = group.select(dated_clock(TEXT.str.split(";").list.get(2), "ymd").struct.field("time")).item(0, 0)
        restarted = at.hour * 3600 + at.minute * 60 + at.second if first["kind"] == "restart" and at else None
        count = whole_number(cpus)
        day = at.date() if at is not None else None
        found.append(
            Run(
                int(str(number)),
                first["line"],
                None,
                "Linux",
                None,
                first["host"] or None,
                count,
                day,
                restarted_s=restarted,
            )
        )
    return found or [Run(0, 1)]


def _placed(name: str, rows: pl.DataFrame, runs: list[Run]) -> tuple[pl.DataFrame, list[Diagnostic], dict[int, str]]:
    """The columns of `PLACE` of each row; an interval starts at the stamp before, else by the interval printed.

    The counters of an interval begin with the restart of the system, where the interval printed is longer.
    """
    cells = TEXT.str.splitn(";", 4).struct
    read = rows.select(
        "line",
        "run",
        "text",
        cells.field("field_1").cast(pl.Float64, strict=False).alias("seconds"),
        dated_clock(cells.field("field_2"), "ymd").alias("at"),
    ).unnest("at")
    zones = read.group_by("run").agg(pl.col("zone").drop_nulls().unique()).filter(pl.col("zone").list.len() == 1)
    ends = read.drop_nulls("time").unique(["run", "time"], keep="first", maintain_order=True).sort("run", "time")
    ends = ends.with_columns(
        (pl.int_range(pl.len()).over("run") + 1).alias("sample"), pl.col("time").shift().over("run").alias("before")
    )
    stated = later(pl.col("time"), -pl.col("seconds"))
    restarts = pl.DataFrame(
        {
            "run": [run.run for run in runs],
            "day": [run.day if run.restarted_s is not None else None for run in runs],
            "second": [run.restarted_s for run in runs],
        },
        schema={"run": pl.UInt32, "day": pl.Date, "second": pl.Int64},
    ).select("run", restart=later(pl.col("day"), pl.col("second")))
    ends = ends.join(restarts, on="run", how="left", maintain_order="left")
    first = pl.max_horizontal(
        pl.when(pl.col("seconds") > 0).then(stated), pl.when(pl.col("seconds") > 0).then("restart")
    )
    ends = ends.with_columns(pl.coalesce("before", first).alias("interval_start"))
    early = ends.filter(pl.col("before").is_null() & (stated < pl.col("restart")) & (pl.col("seconds") > 0))
    differs = ((pl.col("time") - pl.col("before")).dt.total_seconds() - pl.col("seconds")).abs() > 1
    odd = ends.filter(differs)
    notes = [
        Diagnostic(
            name,
            row["line"],
            None,
            "clock",
            row["text"][:80],
            "the interval printed is not the time between the stamps, which is used",
        )
        for row in odd.head(1).iter_rows(named=True)
    ]
    notes += [
        Diagnostic(
            name, line, None, "clock", text[:80], "the interval printed begins before the restart, which is used"
        )
        for line, text in early.select("line", "text").iter_rows()
    ]
    bad = read.filter(pl.col("time").is_null())
    notes += [
        Diagnostic(name, line, None, "clock", text, "no date and time")
        for line, text in bad.select("line", "text").iter_rows()
    ]
    place = read.select("line", "run", "time").join(
        ends.select("run", "time", "sample", "interval_start"), on=["run", "time"], how="left", maintain_order="left"
    )
    place = place.with_columns(
        pl.lit(False).alias("is_since_boot"),
        pl.col("time").alias("interval_end"),
        pl.col("time").dt.time().alias("time_of_day"),
        pl.lit(False).alias("is_average"),
    )
    zone_of = dict(zones.select("run", pl.col("zone").list.first()).iter_rows())
    return place.select(pl.col(column).cast(dtype) for column, dtype in PLACE.items()), notes, zone_of


def _part(
    name: str, text: str, rows: pl.DataFrame, placed: pl.DataFrame, notes: list[Diagnostic], tool: str
) -> tuple[Part | None, pl.DataFrame, str]:
    """The rows under a heading, and those that do not fit it with the reason."""
    words = text.split(";")[_BEFORE:]
    if any(_AGAIN in word for word in words):
        return None, rows, "sadf -h put items side by side that fit the heading in no way, or several: see sadf -d"
    if words[-1:] == ["CPU*"]:
        more = int(rows.item(0, "width")) - _BEFORE - len(words) + 1
        words = [*words[:-1], *(f"CPU*{number}" for number in range(1, more + 1))]
    read = read_heading(" ".join(words), "", True)
    heading = replace(read, tool=tool, fields=(Field(STATED_INTERVAL.name, "interval", STATED_INTERVAL), *read.fields))
    fits = pl.col("width") == _BEFORE + len(words)
    found = rows.filter(fits)
    columns = [f"c{number}" for number in range(_BEFORE + len(words))]
    cells = found.select(TEXT.str.split(";").list.to_struct(fields=columns)).unnest("text") if found.height else None
    if cells is None:
        return None, rows.filter(~fits), f"does not fit its heading: {text}"
    frame = found.select("line").join(placed, on="line", how="left", maintain_order="left")
    made, halves, problems = _figures(heading, cells, found)
    notes += [
        Diagnostic(name, line, None, "no_value", cell, f"no figure under {printed}") for line, printed, cell in problems
    ]
    return (
        Part(heading, frame.select(*PLACE).with_columns(made), halves),
        rows.filter(~fits),
        f"does not fit its heading: {text}",
    )


def _figures(
    heading: Heading, cells: pl.DataFrame, rows: pl.DataFrame
) -> tuple[list[pl.Series], dict[str, Half], list[tuple[int, str, str]]]:
    """The columns of a table, with half a unit of the last place of each, and the cells that hold no figure."""
    made: list[pl.Series] = []
    halves: dict[str, Half] = {}
    problems = []
    for number, field in [(1, heading.fields[0]), *enumerate(heading.fields[1:], _BEFORE)]:
        column = cells.get_column(f"c{number}")
        if field.metric is None:
            made.append(
                column.replace("-1", "all").alias(field.name) if field.name == "cpu" else column.alias(field.name)
            )
            continue
        read = figures(column.replace("", None), field.metric.factor, field.metric.basis)
        made.append(read.values.alias(field.name))
        halves[field.name] = read.half
        problems += [(rows.item(row, "line"), field.printed, column[row]) for row in read.problems]
    return made, halves, problems
