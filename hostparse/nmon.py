"""nmon files: comma separated tables by tick, of Linux and AIX."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from hostparse.cells import MOST_COLUMNS, figures
from hostparse.clocks import Order
from hostparse.headings import Field, Heading, distinct
from hostparse.lines import NMON, TEXT, repeated_rows
from hostparse.nmon_lines import rows_of, sorted_out
from hostparse.nmon_names import CROSSED, MIXED, counted_of, metric_in, table_of
from hostparse.nmon_ticks import runs_of, ticks_of
from hostparse.parts import CrossedPart, Half, Part
from hostparse.runs import Runs
from hostparse.sampling import PLACE
from hostparse.stored import Collector
from hostparse.tables import Tables
from logframe import Diagnostic
from logframe.split import split_figures

if TYPE_CHECKING:
    from collections.abc import Hashable

    from hostparse.columns import Metric
    from hostparse.nmon_lines import NmonLines
    from logframe import Log

#: Keys of a process in the words of the heading of TOP.
_PROCESS_KEYS: Final = {"+PID": "pid", "Command": "command", "WLMclass": "workload_class"}
#: A line of nmon has a few columns for each disk or interface of the host; longer headings are damage.
_MOST_COLUMNS: Final = 5_000


class _Title(NamedTuple):
    """What a heading says of a table."""

    table: str
    columns: tuple[str, ...]
    title: str


class _Table(NamedTuple):
    """Rows of one table under one heading: ``line``, ``run``, ``tick``, ``tag`` and ``rest`` (the figures)."""

    table: str
    columns: tuple[str, ...]
    title: str
    rows: pl.DataFrame


def is_nmon(lines: list[str]) -> bool:
    """Whether the first lines of a log are those of an nmon file: settings, or ticks and their rows."""
    first = [line.rstrip() for line in lines[:50] if line.strip()]
    certain = re.compile(NMON.pattern("^(?:{SETTING}|{CLOCK}|{DATA_START}.*|{PROCESS})$"))
    possible = re.compile(NMON.pattern("^(?:{HEADING}|{CONFIGURATION}|{PROCESS_HEADING}|{ARGUMENTS})$"))
    sure = sum(certain.match(line) is not None for line in first)
    return sure > 0 and sure + sum(possible.match(line) is not None for line in first) > len(first) // 2


def read_nmon(log: Log, collector: Collector | None = None) -> Tables:
    """The tables of an nmon file.

    Args:
        log: opened.
        collector: of the parts; None: one in memory.
    """
    collector = collector or Collector()
    lines = sorted_out(log)
    try:
        return _read(log, lines, collector, in_pieces=True)
    except _UnorderedError:
        collector.clear()
        return _read(log, lines, collector, in_pieces=False)


class _UnorderedError(Exception):
    """Ticks come again later in the file: it cannot be read in pieces."""


def _read(log: Log, lines: NmonLines, collector: Collector, *, in_pieces: bool) -> Tables:
    others = lines.others
    notes = [
        Diagnostic(log.name, line, None, "unparsed", text, "not a line of nmon")
        for line, text in others.filter(pl.col("kind") == "text").select("line", "text").iter_rows()
    ]
    runs = runs_of(others.filter(pl.col("kind") == "setting"))
    ticks = ticks_of(log.name, others.filter(pl.col("kind") == "clock"), runs, notes)
    known, titles = _titles(others.filter(pl.col("kind") == "heading"))
    is_heading = (pl.col("kind") == "process_heading") & NMON.matches(TEXT, "^{PROCESS_COLUMNS}")
    words = next(iter(others.filter(is_heading).get_column("text")), None)
    keys: dict[Hashable, None] = {}
    latest: dict[int, int] = {}
    for rows in rows_of(log, lines, in_pieces=in_pieces):
        pieces: dict[Hashable, Part] = {}
        for printed in rows:
            notes += repeated_rows(log.name, printed.select("line", "text"))
        for number, table in _tables(log.name, rows.data, known, titles, ticks, notes, latest):
            for place, part in enumerate(_parts(log.name, table, lines.height, notes)):
                pieces[number, place] = part
        keys.update(dict.fromkeys(pieces))
        for part in _processes(log.name, rows.processes, words, ticks, notes):
            pieces["process"] = part
        collector.add(pieces)
    notes.sort(key=lambda note: note.line or 0)
    parts = collector.finish(keys)
    return Tables(parts, Runs(tuple(runs), Order("dmy", is_assumed=False)), lines.kinds, tuple(notes))


def _titles(headings: pl.DataFrame) -> tuple[pl.DataFrame, list[_Title]]:
    """The number of the table that each heading names, and what the tables are called."""
    titles: dict[tuple[str, tuple[str, ...]], tuple[int, _Title]] = {}
    numbers: list[int | None] = []
    tags: list[str] = []
    for text in headings.get_column("text"):
        tag, title, *columns = text.split(",")
        table, number = table_of(tag)
        names = tuple(column.strip() for column in columns if column.strip())  # some versions print two commas
        tags.append(tag)
        if len(names) > _MOST_COLUMNS:
            numbers.append(None)
            continue
        key = (table if number != "all" else f"{table}_ALL", names)
        numbers.append(titles.setdefault(key, (len(titles), _Title(key[0].removesuffix("_ALL"), names, title)))[0])
    known = pl.DataFrame(
        {"tag": tags, "table": numbers, "heading_line": headings.get_column("line")},
        schema={"tag": pl.String, "table": pl.Int32, "heading_line": pl.UInt32},
    )
    return known, [title for _, title in titles.values()]


def _tables(
    name: str,
    data: pl.DataFrame,
    known: pl.DataFrame,
    titles: list[_Title],
    ticks: pl.DataFrame,
    notes: list[Diagnostic],
    latest: dict[int, int],
) -> list[tuple[int, _Table]]:
    """The rows of each table under the heading that holds for them, with the number of the table.

    Args:
        name: of the log.
        data: rows of a piece of it.
        known: what `_titles` gives.
        titles: likewise.
        ticks: of the file.
        notes: gets diagnostics.
        latest: the last tick of each run in the pieces before; gets those of this one.

    Raises:
        _UnorderedError: a tick of a piece before comes again.
    """
    part = TEXT.str.splitn(",", 3).struct
    cut = [part.field(f"field_{number}").alias(name) for number, name in enumerate(("tag", "second", "rest"))]
    tick = pl.col("second").str.slice(1).cast(pl.UInt32, strict=False).alias("tick")
    data = data.select("line", "run", *cut).select("line", "run", "tag", tick, "rest")
    if known.get_column("tag").is_duplicated().any():
        data = data.join_asof(known, left_on="line", right_on="heading_line", by="tag", check_sortedness=False)
    else:
        data = data.join(known, on="tag", how="left", maintain_order="left")
    for line, rest in data.filter(pl.col("tick").is_null()).select("line", "rest").iter_rows():
        notes.append(Diagnostic(name, line, None, "unparsed", rest, "the number of the tick is too large for one"))
    data = data.drop_nulls("tick")
    for run, least, most in data.group_by("run").agg(least=pl.min("tick"), most=pl.max("tick")).iter_rows():
        if least <= latest.get(run, -1):
            raise _UnorderedError
        latest[run] = most
    of_none = data.filter(pl.col("table").is_null())
    for line, tag, tick, rest in of_none.select("line", "tag", "tick", "rest").iter_rows():
        text = f"{tag},T{tick:04},{rest or ''}"
        notes.append(Diagnostic(name, line, None, "unparsed", text, "a row of a table without a heading"))
    data = data.drop_nulls("table")
    found = data.hstack(_placed(data, ticks).drop("line", "run").get_columns()).partition_by(
        "table", as_dict=True, maintain_order=True
    )
    return [(number, _Table(*titles[number], rows)) for (number,), rows in found.items() if isinstance(number, int)]


def _cells(
    name: str, table: _Table, last_line: int, notes: list[Diagnostic]
) -> tuple[pl.DataFrame, list[pl.Series], list[Half]]:
    """The rows that fit, their figures by column as printed, and half a unit of the last place of each column."""
    width = len(table.columns)
    for decimals in (1, 0):
        if (alike := split_figures(table.rows.get_column("rest"), [decimals] * width, separator=",")) is not None:
            return table.rows, alike, [0.5 * 0.1**decimals] * width
    rest = pl.col("rest")
    counted = table.rows.with_columns((rest.str.count_matches(",", literal=True) + 1).alias("fields"))
    fields = counted.get_column("fields")
    if (fields == width).all():
        return _read_cells(name, table, counted, notes)
    is_long = (pl.col("fields") > width) & ~rest.str.ends_with(",")
    is_cut = (pl.col("fields") < width) & (pl.col("line") == last_line)
    is_unfit = is_long | (pl.col("fields") > width + 1) | ((pl.col("fields") < width) & ~is_cut)
    for line, text, number in counted.filter(is_unfit).select("line", _whole_row(), "fields").iter_rows():
        reason = f"{number} figures under {width} names: which is which is not known"
        notes.append(Diagnostic(name, line, None, "unparsed", text, reason))
    for line, text in counted.filter(is_cut).select("line", _whole_row()).iter_rows():
        notes.append(
            Diagnostic(name, line, None, "cut", text, "the file ends within this row; its last figure is null")
        )
    # a row that ends early may end within a figure
    rows = counted.filter(~is_unfit).with_columns(pl.when(is_cut).then(rest.str.replace("[^,]*$", "")).otherwise(rest))
    return _read_cells(name, table, rows, notes)


def _whole_row() -> pl.Expr:
    """The text of a row that was cut."""
    return pl.concat_str("tag", pl.lit(",T"), pl.col("tick").cast(pl.String).str.zfill(4), pl.lit(","), "rest")


def _read_cells(
    name: str, table: _Table, rows: pl.DataFrame, notes: list[Diagnostic]
) -> tuple[pl.DataFrame, list[pl.Series], list[Half]]:
    """The figures of rows that fit."""
    width = len(table.columns)
    text = rows.get_column("rest")
    names = [f"c{number}" for number in range(width)]
    if text.str.contains(_cells_of("TENTHS")).all():
        halves: list[Half] = [0.05] * width
        cells = _split(text, names, pl.Float64())
    elif text.str.contains(_cells_of("WHOLE")).all():
        halves = [0.5] * width
        cells = _split(text, names, pl.Float64())
    else:
        halves = []
        read: list[pl.Series] = []
        for column, printed in zip(_split(text, names, pl.String()), table.columns, strict=True):
            found = figures(column.str.strip_chars().replace("", None), 1.0, "gauge")
            for row in found.problems:
                note = Diagnostic(
                    name, rows.item(row, "line"), None, "no_value", column[row], f"no figure under {printed}"
                )
                notes.append(note)
            read.append(found.values)
            halves.append(found.half)
        return rows, read, halves
    return rows, cells, halves


def _cells_of(terminal: str) -> str:
    """The pattern of a row whose cells are all of a kind, or empty."""
    return NMON.pattern(f"^{{{terminal}}}?(?:,{{{terminal}}}?)*$")


def _split(text: pl.Series, names: list[str], dtype: pl.DataType) -> list[pl.Series]:
    """The fields between commas."""
    if len(text) == 0:
        return [pl.Series(name, dtype=dtype) for name in names]
    # a first row of as many fields as columns, and a comma after every row: a reader of CSV passes over blank ones
    data = ("," * len(names) + "\n" + ",\n".join(text.to_list()) + ",").encode()
    schema = {**dict.fromkeys(names, dtype), "_end": pl.String()}
    frame = pl.read_csv(data, has_header=False, schema=schema, quote_char=None, truncate_ragged_lines=True)
    return frame.slice(1).drop("_end").get_columns()


def _parts(name: str, table: _Table, last_line: int, notes: list[Diagnostic]) -> list[Part]:
    """The parts of one table."""
    if not table.columns:
        is_filled = pl.col("rest").str.strip_chars(", ") != ""
        for line, text in table.rows.filter(is_filled).select("line", _whole_row()).iter_rows():
            notes.append(Diagnostic(name, line, None, "unparsed", text, "figures under a heading without names"))
        return []
    rows, cells, halves = _cells(name, table, last_line, notes)
    place = rows.select(PLACE.keys())
    if table.table in CROSSED:
        scope, metric = CROSSED[table.table]
        return [_crossed(scope, metric, table.columns, place, cells, halves)]
    if table.table in MIXED:
        groups: dict[str, tuple[Metric, list[int], list[str]]] = {}
        for number, column in enumerate(table.columns):
            found = counted_of(column)
            entity, metric = found if found is not None else ("", metric_in(table.table, column, table.title))
            group = groups.setdefault(metric.name, (metric, [], []))
            group[1].append(number)
            group[2].append(entity)
        return [
            _crossed(
                MIXED[table.table], metric, tuple(names), place, [cells[i] for i in which], [halves[i] for i in which]
            )
            for metric, which, names in groups.values()
        ]
    is_cpu = table.table in {"CPU", "PCPU", "SCPU"}
    scope = table.table.lower() if is_cpu else table.table
    fields = [Field(scope, table.table, None)] if is_cpu else []
    columns = []
    if is_cpu:
        which = rows.get_column("tag").str.strip_prefix(table.table).replace("_ALL", "all")
        columns.append(which.alias(scope))
    by_name: dict[str, Half] = {}
    metrics = [metric_in(table.table, column, table.title) for column in table.columns]
    names = distinct([*(field.name for field in fields), *(metric.name for metric in metrics)])[len(fields) :]
    for cell, half, column, metric, unique in zip(cells, halves, table.columns, metrics, names, strict=True):
        fields.append(Field(unique, column, metric))
        columns.append(_scaled(cell, metric).alias(unique))
        by_name[unique] = half * metric.factor
    return [Part(_heading(scope, fields), place.with_columns(columns), by_name)]


def _scaled(cells: pl.Series, metric: Metric) -> pl.Series:
    """Figures in the unit of their metric; null where that is too large."""
    if metric.factor == 1.0:
        return cells
    scaled = cells * metric.factor
    return scaled if scaled.is_finite().all() else scaled.set(scaled.is_infinite(), None)


def _heading(scope: str, fields: list[Field]) -> Heading:
    return Heading("nmon", scope, tuple(fields), False, False, False, None, False)


def _placed(rows: pl.DataFrame, ticks: pl.DataFrame) -> pl.DataFrame:
    """The columns of `PLACE` of rows with ``line``, ``run`` and ``tick``."""
    placed = rows.select("line", "run", pl.col("tick").alias("sample"), pl.lit(False).alias("is_average")).join(
        ticks, on=["run", "sample"], how="left", maintain_order="left"
    )
    placed = placed.with_columns(pl.col("is_since_boot").fill_null(value=False))
    return placed.select(pl.col(column).cast(dtype) for column, dtype in PLACE.items())


def _crossed(
    scope: str, metric: Metric, names: tuple[str, ...], place: pl.DataFrame, cells: list[pl.Series], halves: list[Half]
) -> Part:
    """A table with a column for each name."""
    columns = [f"c{number}" for number in range(len(names))]
    frame = place.with_columns(_scaled(cell, metric).alias(column) for cell, column in zip(cells, columns, strict=True))
    scaled = {column: half * metric.factor for column, half in zip(columns, halves, strict=True)}
    heading = _heading(scope, [Field(scope, scope, None), Field(metric.name, metric.name, metric)])
    return CrossedPart(heading, frame, scaled, names=names)


def _processes(
    name: str, rows: pl.DataFrame, heading: str | None, ticks: pl.DataFrame, notes: list[Diagnostic]
) -> list[Part]:
    """The processes of TOP; the command may hold commas."""
    if rows.is_empty():
        return []
    words = [] if heading is None else heading.split(",")[1:]
    if heading is None or len(words) > MOST_COLUMNS:
        reason = "a process without the heading of TOP" if heading is None else f"under {len(words):,} columns of TOP"
        notes += [
            Diagnostic(name, line, None, "unparsed", text, reason)
            for line, text in rows.select("line", "text").iter_rows()
        ]
        return []
    groups = ["(?P<pid>{PROCESS_NUMBER})", "T(?P<tick>{PROCESS_NUMBER})"]
    patterns = ["{PROCESS_COMMAND}" if word == "Command" else "{PROCESS_CELL}" for word in words[2:]]
    groups += [f"(?P<c{i}>{cell})" for i, cell in enumerate(patterns, 2)]
    template = "^{PROCESS_START}" + ",".join(groups) + "$"
    found = rows.with_columns(NMON.groups(TEXT, template).alias("cells")).unnest("cells")
    bad = found.filter(pl.col("pid").is_null())
    notes += [
        Diagnostic(name, line, None, "unparsed", text, "does not fit the heading of TOP")
        for line, text in bad.select("line", "text").iter_rows()
    ]
    found = found.filter(pl.col("pid").is_not_null()).with_columns(pl.col("tick").cast(pl.UInt32, strict=False))
    place = _placed(found, ticks)
    fields = [Field("pid", "+PID", None)]
    columns = [found.get_column("pid").str.strip_chars_start("0").replace("", "0")]
    halves: dict[str, Half] = {}
    metrics = {word: metric_in("TOP", word, "") for word in words[2:]}
    names = distinct(["pid", *(_PROCESS_KEYS.get(word, metrics[word].name) for word in words[2:])])
    for number, (word, unique) in enumerate(zip(words[2:], names[1:], strict=True), 2):
        cells = found.get_column(f"c{number}")
        if word in _PROCESS_KEYS:
            fields.append(Field(unique, word, None))
            columns.append(cells.alias(unique))
            continue
        metric = metrics[word]._replace(name=unique)
        read = figures(
            cells.str.strip_chars().replace("", None), metric.factor, "count" if metric.unit is None else metric.basis
        )
        for row in read.problems:
            notes.append(
                Diagnostic(name, found.item(row, "line"), None, "no_value", cells[row], f"no figure under {word}")
            )
        fields.append(Field(metric.name, word, metric))
        columns.append(read.values.alias(metric.name))
        halves[metric.name] = read.half
    return [Part(_heading("process", fields), place.with_columns(columns), halves)]
