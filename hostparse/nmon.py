"""nmon files: comma separated tables by tick, of Linux and AIX.

Rows of figures are read some megabytes of text at a time.  The few lines around them say when and where the file was
taken, the clock of each tick, and what a table is about.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from hostparse.cells import MOST_COLUMNS, figures
from hostparse.clocks import MONTHS, Order, calendar_day, of_each, past_midnights, second_of, seconds_of_day
from hostparse.headings import Field, Heading, distinct
from hostparse.lines import BATCH_BYTES, NMON, TEXT, repeated_rows, with_own_text
from hostparse.runs import Run, Runs
from hostparse.sampling import PLACE
from hostparse.stored import Collector, CrossedPart, Half, Part
from hostparse.tables import Tables
from hostparse.tools import Metric
from logframe import Diagnostic
from logframe.moments import later, moment
from logframe.printed import whole_number
from logframe.source import batches_of
from logframe.split import split_figures

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Hashable, Iterator, Sequence

    from logframe import Log


_KINDS: Final = {
    "setting": "SETTING",
    "configuration": "CONFIGURATION",
    "clock": "CLOCK",
    "process_heading": "PROCESS_HEADING",
    "process": "PROCESS",
    "arguments": "ARGUMENTS",
    "heading": "HEADING",
}


#: Kinds whose text is not kept: a file may hold many.
_MANY: Final = ("process", "arguments", "configuration", "blank")


class NmonLines(NamedTuple):
    """The lines of a file.

    Attributes:
        is_data: of every line: is it a row of figures?
        others: ``line``, ``text``, ``kind`` and ``run`` of the other lines that say something of those.
        kinds: number of lines of each kind.
    """

    is_data: pl.Series
    others: pl.DataFrame
    kinds: dict[str, int]

    @property
    def height(self) -> int:
        """The number of lines."""
        return len(self.is_data)


def sorted_out(log: Log) -> NmonLines:
    """Which lines are rows of figures, and the other lines with their kinds and the run of each."""
    is_data: list[pl.Series] = []
    others: list[pl.DataFrame] = []
    kinds: Counter[str] = Counter()
    is_row = NMON.matches(TEXT, "^{DATA_START}") & ~NMON.matches(TEXT, "^{OTHER_START}")
    for batch in _batches(log):
        found = batch.select(is_row.alias("is_data")).to_series()
        rest = batch.filter(~found).with_columns(_kind())
        kinds.update(dict(rest.get_column("kind").value_counts().iter_rows()))
        kinds["data"] += int(found.sum())
        others.append(with_own_text(rest.filter(~pl.col("kind").is_in(_MANY))))
        is_data.append(found)
    starts = (NMON.matches(TEXT, "^{FILE_START}").cum_sum().cast(pl.Int32) - 1).clip(lower_bound=0).cast(pl.UInt32)
    others_of_all = pl.concat(others).with_columns(starts.alias("run"))
    return NmonLines(pl.concat(is_data, rechunk=True), others_of_all, dict(sorted(kinds.items())))


def _batches(log: Log) -> Iterator[pl.DataFrame]:
    """The lines, some megabytes at a time: ``line`` and ``text``."""
    for lines in batches_of(log.scan(name="text", row_index_name="line"), BATCH_BYTES):
        if lines.select((TEXT.str.ends_with("\r") | TEXT.str.ends_with(" ")).any()).item():
            yield lines.with_columns(TEXT.str.strip_chars_end(" \r"))
        else:
            yield lines


class NmonRows(NamedTuple):
    """Rows of some ticks: ``line``, ``text`` and ``run``.

    Attributes:
        data: rows of figures.
        processes: rows of processes.
    """

    data: pl.DataFrame
    processes: pl.DataFrame


def rows_of(log: Log, lines: NmonLines, *, in_pieces: bool) -> Iterator[NmonRows]:
    """The rows of a file, some megabytes of text at a time, all rows of a tick together.

    Args:
        log: opened.
        lines: of the log.
        in_pieces: begin a piece with the clock of a tick; the rows of a file that was sorted are one piece.
    """
    starts = lines.others.select("line", "run").sort("line")
    clocks = lines.others.filter(pl.col("kind") == "clock").get_column("line")
    waiting: list[pl.DataFrame] = []
    for batch in _batches(log):
        last = int(batch.item(-1, "line"))
        clock = clocks.filter((clocks >= batch.item(0, "line")) & (clocks <= last)).max()
        if not in_pieces or clock is None or last == lines.height:
            waiting.append(batch)
            continue
        whole = pl.concat([*waiting, batch.filter(pl.col("line") < clock)])
        waiting = [with_own_text(batch.filter(pl.col("line") >= clock))]
        if whole.height:
            yield _rows(whole, lines, starts)
    if waiting:
        yield _rows(pl.concat(waiting), lines, starts)


def _rows(batch: pl.DataFrame, lines: NmonLines, starts: pl.DataFrame) -> NmonRows:
    """The rows among some lines."""
    is_data = lines.is_data.slice(int(batch.item(0, "line")) - 1, batch.height)
    found = []
    for rows in (batch.filter(is_data), batch.filter(~is_data).filter(NMON.matches(TEXT, "^{PROCESS}$"))):
        if starts.get_column("run").max():
            found.append(rows.join_asof(starts, on="line").with_columns(pl.col("run").fill_null(0)))
        else:
            found.append(rows.with_columns(pl.lit(0, dtype=pl.UInt32).alias("run")))
    return NmonRows(*found)


def _kind() -> pl.Expr:
    """The kind of a line that is no row of figures."""
    kind: pl.Expr = pl.when(TEXT == "").then(pl.lit("blank")).otherwise(pl.lit("text"))
    for name, terminal in reversed(_KINDS.items()):
        kind = pl.when(NMON.matches(TEXT, f"^{{{terminal}}}$")).then(pl.lit(name)).otherwise(kind)
    return kind.alias("kind")


_KIB: Final = 1024.0
_MIB: Final = 1024.0**2

_DISK: Final = {
    "BUSY": Metric("util_percent", "%", 1.0, "share"),
    "READ": Metric("read_bytes_per_s", "B/s", _KIB, "rate"),
    "WRITE": Metric("write_bytes_per_s", "B/s", _KIB, "rate"),
    "XFER": Metric("transfers_per_s", "/s", 1.0, "rate"),
    "BSIZE": Metric("request_bytes", "B", _KIB, "gauge"),
    "SIZE": Metric("request_bytes", "B", _KIB, "gauge"),
    "RXFER": Metric("read_transfers_per_s", "/s", 1.0, "rate"),
    "RIO": Metric("reads_per_s", "/s", 1.0, "rate"),
    "WIO": Metric("writes_per_s", "/s", 1.0, "rate"),
    "SERV": Metric("service_ms", "ms", 1.0, "time"),
    "READSERV": Metric("read_service_ms", "ms", 1.0, "time"),
    "WRITESERV": Metric("write_service_ms", "ms", 1.0, "time"),
    "WAIT": Metric("queue_ms", "ms", 1.0, "time"),
    # the titles say "average per second", the figures are no rates
    "AVGRIO": Metric("avgrio", None, 1.0, "unknown"),
    "AVGWIO": Metric("avgwio", None, 1.0, "unknown"),
}
#: Tables with a column for each thing: name -> (scope, metric).
CROSSED: Final = {
    **{f"DISK{word}": ("device", metric) for word, metric in _DISK.items()},
    **{f"DG{word}": ("disk_group", metric) for word, metric in _DISK.items()},
    **{f"VG{word}": ("volume_group", metric) for word, metric in _DISK.items()},
    "JFSFILE": ("file_system", Metric("used_percent", "%", 1.0, "share")),
    "JFSINODE": ("file_system", Metric("inodes_used_percent", "%", 1.0, "share")),
    "PAGING": ("paging_space", Metric("free_bytes", "B", _MIB, "gauge")),
}
#: Tables whose columns name a thing and what is counted: name -> scope.
MIXED: Final = {
    "NET": "interface",
    "NETPACKET": "interface",
    "NETSIZE": "interface",
    "NETERROR": "interface",
    "IOADAPT": "adapter",
}
_COUNTED: Final = {
    "read-KB/s": Metric("read_bytes_per_s", "B/s", _KIB, "rate"),
    "write-KB/s": Metric("write_bytes_per_s", "B/s", _KIB, "rate"),
    "read/s": Metric("read_packets_per_s", "/s", 1.0, "rate"),
    "write/s": Metric("write_packets_per_s", "/s", 1.0, "rate"),
    "reads/s": Metric("read_packets_per_s", "/s", 1.0, "rate"),
    "writes/s": Metric("write_packets_per_s", "/s", 1.0, "rate"),
    "readsize": Metric("read_packet_bytes", "B", 1.0, "gauge"),
    "writesize": Metric("write_packet_bytes", "B", 1.0, "gauge"),
    "xfer-tps": Metric("transfers_per_s", "/s", 1.0, "rate"),
}
_ENTITY: Final = re.compile(NMON.pattern("^(?P<name>.+?)[-_](?P<what>{COUNTED_WORD})$"))
_TABLE: Final = re.compile(NMON.pattern("^(?P<name>{TABLE})(?P<number>{TABLE_END})?$"))


def table_of(tag: str) -> tuple[str, str | None]:
    """The table that a tag names, and the number after it.

    Examples:
        >>> table_of("CPU001"), table_of("CPU_ALL"), table_of("DISKBUSY1"), table_of("MEMPAGES4KB")
        (('CPU', '001'), ('CPU', 'all'), ('DISKBUSY', '1'), ('MEMPAGES4KB', None))
    """
    found = _TABLE.match(tag)
    if found is None or found["number"] is None:
        return tag, None
    if found["name"] not in {"CPU", "PCPU", "SCPU"} and found["name"] not in CROSSED:
        return tag, None
    return found["name"], "all" if found["number"] == "_ALL" else found["number"]


def counted_of(column: str) -> tuple[str, Metric] | None:
    """The thing that a column of `MIXED` is about, and what is counted; None where the heading has another form.

    Examples:
        >>> counted_of("eth0-read-KB/s")[1].name, counted_of("vlan-read-read/s")[0], counted_of("else")
        ('read_bytes_per_s', 'vlan-read', None)
    """
    found = _ENTITY.match(column)
    if found is None:
        return None
    what = found["what"]
    return found["name"], _COUNTED.get(what) or Metric(
        what.replace("/s", "_per_s").replace("-", "_"), None, 1.0, "unknown"
    )


def metric_in(table: str, column: str, title: str) -> Metric:
    """The meaning of a column of a table about the whole system."""
    word = column.strip()
    is_memory = table == "MEM" and "MB" in title
    if word.endswith("%") or word.startswith("%"):
        return Metric(f"{word.strip('% ').lower().replace(' ', '_') or word}_percent", "%", 1.0, "share")
    if is_memory:
        return Metric(f"{word}_bytes", "B", _MIB, "gauge")
    if word.endswith("(MB)"):
        return Metric(f"{word.removesuffix('(MB)').strip().lower().replace(' ', '_')}_bytes", "B", _MIB, "gauge")
    if word.endswith("/s"):
        return Metric(f"{word.removesuffix('/s')}_per_s", "/s", 1.0, "rate")
    if table in {"PCPU", "SCPU"}:
        return Metric(f"{word.lower().replace(' ', '_')}_cpus", "1", 1.0, "gauge")
    return Metric(word.lower().replace(" ", "_") if table == "CPU" else word, None, 1.0, "unknown")


#: A count of more digits is damaged: no machine word holds it.


def runs_of(settings: pl.DataFrame) -> list[Run]:
    """The runs of a file, from the lines AAA."""
    found: list[Run] = []
    for (number,), group in settings.partition_by("run", as_dict=True, maintain_order=True).items():
        said: dict[str, str] = {}
        for text in group.get_column("text"):
            _, key, *rest = text.split(",", 2)
            said.setdefault(key, rest[0].strip() if rest else "")
        is_aix = "AIX" in said or said.get("build") == "AIX"
        opened = _tick_time(f"{said.get('time', '').replace('.', ':')},{said.get('date', '')}")
        known: dict[str, Any] = {
            "system": "AIX" if is_aix else (said.get("OS", "").partition(",")[0] or None),
            "release": said.get("AIX") if is_aix else said.get("OS", "").partition(",")[2].partition(",")[0] or None,
            "host": said.get("host"),
            "cpus": whole_number(said.get("cpus", "").rpartition(",")[2]),
            "interval_s": whole_number(said.get("interval", "")),
            "command": said.get("command"),
            "opened_at": opened,
            "day": opened.date() if opened else None,
        }
        found.append(Run(int(str(number)), group.item(0, "line"), **known))
    return found or [Run(0, 1)]


@cache
def _tick() -> re.Pattern[str]:
    return re.compile(NMON.pattern("(?P<clock>{DAY_TIME})(?:,(?P<day>{DAY})-(?P<month>{MONTH})-(?P<year>{YEAR}))?"))


def _tick_time(text: str) -> dt.datetime | None:
    """The wall clock in ``17:28:10,10-FEB-2016``."""
    found = _tick().match(text)
    if found is None or (month := (found["month"] or "").capitalize()) not in MONTHS:
        return None
    return moment(calendar_day(int(found["year"]), MONTHS.index(month) + 1, found["day"]), second_of(found["clock"]))


def ticks_of(name: str, clocks: pl.DataFrame, runs: Sequence[Run], notes: list[Diagnostic]) -> pl.DataFrame:
    """Each tick of each run with its time and that of the tick before."""
    part = TEXT.str.splitn(",", 3).struct
    ticks = clocks.select(
        "line",
        "run",
        "text",
        part.field("field_1").str.slice(1).cast(pl.UInt32, strict=False).alias("sample"),
        of_each(part.field("field_2"), _tick_time, pl.Datetime("us")).alias("interval_end"),
        seconds_of_day(part.field("field_2").str.slice(0, 8)).alias("seconds"),
    ).unique(["run", "sample"], keep="first", maintain_order=True)
    days = pl.DataFrame(
        {"run": [run.run for run in runs], "day": [run.base_day for run in runs]},
        schema={"run": pl.UInt32, "day": pl.Date},
    )
    ticks = ticks.sort("run", "sample").join(days, on="run", how="left", maintain_order="left")
    undated = later(pl.col("day"), past_midnights(pl.col("seconds")))
    is_strange = (
        pl.col("interval_end").is_null()
        & undated.is_not_null()
        & (pl.col("text").str.count_matches(",", literal=True) > 2)
    )
    for line, text in ticks.filter(is_strange).select("line", "text").iter_rows():
        notes.append(Diagnostic(name, line, None, "clock", text, "no date: it is taken from the head of the log"))
    ticks = ticks.with_columns(pl.coalesce("interval_end", undated).alias("interval_end"))
    for line, text in ticks.filter(pl.col("interval_end").is_null()).select("line", "text").iter_rows():
        notes.append(Diagnostic(name, line, None, "clock", text, "no time of a clock: its samples have none"))
    before = pl.col("interval_end").shift().over("run")
    for line, text in ticks.filter(pl.col("interval_end") < before).select("line", "text").iter_rows():
        notes.append(Diagnostic(name, line, None, "clock", text, "the clock goes back: no start of this interval"))
    return ticks.select(
        "run",
        "sample",
        pl.lit(False).alias("is_since_boot"),
        pl.when((before <= pl.col("interval_end")) & (pl.col("sample") == pl.col("sample").shift().over("run") + 1))
        .then(before)
        .alias("interval_start"),
        "interval_end",
        pl.col("interval_end").dt.time().alias("time_of_day"),
    )


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
        parts = []
        for metric, places, names in groups.values():
            own, steps = [cells[i] for i in places], [halves[i] for i in places]
            part = _crossed(MIXED[table.table], metric, tuple(names), place, own, steps)
            parts.append(replace(part, is_by_name=places[-1] - places[0] >= len(places)))
        return [*parts]
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
) -> CrossedPart:
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
