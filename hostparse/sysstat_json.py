"""The JSON of sysstat's tools: ``sadf -j``, ``iostat -o JSON``, ``mpstat -o JSON``."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from hostparse.cells import figures
from hostparse.clocks import Order, date_order, dated_clock, day_of, seconds_of_day
from hostparse.headings import Field, Heading
from hostparse.json_documents import Figure, documents_of
from hostparse.runs import Run, Runs
from hostparse.sampling import PLACE
from hostparse.stored import Half, MemoryParts, Part
from hostparse.tables import Tables
from hostparse.tools import COMMON, KEYS, STATED_INTERVAL, Metric, metric_of
from logframe import Diagnostic, LogParseError
from logframe.copied import REPEATED
from logframe.json_leaves import json_leaves
from logframe.moments import later
from logframe.printed import whole_number

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator, Sequence

    from hostparse.json_documents import Document
    from logframe import Log

#: Names of the things that rows are about, in the words of the JSON.
_NAMES: Final = {
    "disk-device": "device",
    "disk_device": "device",
    "cpu": "cpu",
    "node": "node",
    "intr": "interrupt",
    "iface": "interface",
    "line": "terminal",
    "filesystem": "file_system",
    "fchost": "adapter",
    "pid": "pid",
    "command": "command",
}
#: Sections whose figures are percentages without saying so.
_SHARES: Final = frozenset({"avg-cpu", "cpu-load", "cpu-load-all", "node-load"})
#: Keys of the JSON -> the headings of the text, where a name lost its unit.
_HEADINGS: Final = {
    "util": "%util",
    "rrqm": "%rrqm",
    "wrqm": "%wrqm",
    "drqm": "%drqm",
    "rkB": "rkB/s",
    "wkB": "wkB/s",
    "dkB": "dkB/s",
    "rd_sec": "rd_sec/s",
    "wr_sec": "wr_sec/s",
    "dc_sec": "dd_sec/s",
}
#: Keys of memory -> what the headings of the text have.
_ABBREVIATED: Final = {"inactive": "inact", "shared": "shmem"}
#: Sections whose figures are in KiB.
_KILOBYTES: Final = frozenset({"memory", "hugepages"})
#: Sections whose figures are rates; others that begin with "net-" have rates, too.
_RATES: Final = frozenset(
    {"process-and-context-switch", "swap-pages", "paging", "serial", "io-reads", "io-writes", "io-discard"}
    | {"fchosts", "softnet"}
)
_NO_RATES: Final = frozenset({"blg_len"})
_SOCKETS: Final = frozenset({"net-sock", "net-sock6"})
#: Steps of a path to a sample.
_SAMPLE: Final = 3
Key = tuple[str, tuple[str, ...]]
"""A table: the section of its objects, and their names."""


class Row(NamedTuple):
    """One object of figures.

    Attributes:
        document: its document, from 0.
        path: of the object in it.
        run: its run.
        sample: its sample, from 1.
        line: where it begins.
        statistics: the object of the sample.
        cells: names and figures.
    """

    document: int
    path: str
    run: int
    sample: int
    line: int | None
    statistics: dict[str, Any]
    cells: dict[str, Any]


def read_sysstat_json(log: Log) -> Tables:
    """The tables of a JSON file of sysstat; one that was cut is read as far as it goes.

    Raises:
        LogParseError: the file is no JSON of sysstat, even without its end.
    """
    try:
        return _read(log)
    except RecursionError:
        raise LogParseError("objects within objects, more than sysstat writes", source=log.name) from None
    except (AttributeError, TypeError) as error:
        raise LogParseError(f"the JSON has another form than sysstat writes: {error}", source=log.name) from None


class Rows(NamedTuple):
    """What documents hold.

    Attributes:
        runs: where and when.
        tables: the objects of figures by table.
        order: of the parts of dates.
        others: line and text of values of samples that are in no object of a table.
        repeated: line and path of objects that are those before them once more.
        mixed: line and path of objects of a list whose first object is named by another key.
    """

    runs: list[Run]
    tables: dict[Key, list[Row]]
    order: Order
    others: list[tuple[int, str]]
    repeated: list[tuple[int | None, str]]
    mixed: list[tuple[int | None, str]]


def rows_of(documents: Sequence[Document]) -> Rows:
    """What some documents hold."""
    dates = [str(host["date"]) for host in _hosts(documents) if "date" in host]
    found = Rows([], {}, date_order(dates, twelve_hours=False), [], [], [])
    for number, document in enumerate(documents):
        _add(document, number, found)
    return found


def _hosts(documents: Sequence[Document]) -> list[dict[str, Any]]:
    return [host for document in documents for host in document.root.get("sysstat", {}).get("hosts", [])]


def _read(log: Log) -> Tables:
    text = log.text()
    documents, notes = documents_of(log.name, text)
    found = rows_of(documents)
    runs, tables, order = found.runs, found.tables, found.order
    for line, shown in found.others:
        notes.append(Diagnostic(log.name, line, None, "unparsed", shown, "no value of a table"))
    notes += [Diagnostic(log.name, line, None, "repeated", path, REPEATED) for line, path in found.repeated]
    reason = "of another table than the list that it stands in: lines may be missing above"
    notes += [Diagnostic(log.name, line, None, "misplaced", path, reason) for line, path in found.mixed]
    if order.is_assumed:
        reason = "day and month may be the other way round: the month is taken to come first"
        shown = next(str(host["date"]) for host in _hosts(documents) if "date" in host)
        notes.append(Diagnostic(log.name, None, None, "ambiguous", shown, reason))
    # sadf prints a date and a time
    is_sadf = any(isinstance(each.statistics.get("timestamp"), dict) for rows in tables.values() for each in rows[:1])
    is_iostat = not is_sadf and any("avg-cpu" in key or "disk" in key for key, _ in tables)
    is_mpstat = not is_sadf and any(key in {"node-load", "cpu-load"} for key, _ in tables)
    tool = "iostat" if is_iostat else "mpstat" if is_mpstat else "sar"
    said: list[Diagnostic] = []
    parts = [_part(log.name, section, rows, runs, order, tool, said) for (section, _), rows in tables.items()]
    notes += {note.text: note for note in reversed(said)}.values()  # a sample has many tables
    kinds = {"json": text.count("\n") + (not text.endswith("\n"))}
    return Tables(MemoryParts(parts), Runs(tuple(runs), order), kinds, tuple(notes))


def _add(document: Document, number_of_document: int, found: Rows) -> None:
    """The hosts of a document."""
    runs, tables = found.runs, found.tables
    lines: dict[str, int] = {}
    others: dict[str, tuple[int, str]] = {}
    for leaf in json_leaves(document.text):
        line = lines[leaf.path] = leaf.line + document.line + 1
        steps = leaf.path.split(".")
        if len(steps) >= _SAMPLE and steps[2].startswith("statistics[") and steps[3:4] != ["timestamp"]:
            others[leaf.path] = (line, f"{leaf.path}: {leaf.value}")
    for number, host in enumerate(document.root.get("sysstat", {}).get("hosts", [])):
        printed = day_of(pl.lit(str(host.get("date", ""))), found.order.order)
        day = pl.select(pl.coalesce(day_of(pl.lit(str(host.get("file-date", ""))), "ymd"), printed)).item()
        cpus = str(host.get("number-of-cpus", ""))
        first = Run(
            len(runs),
            document.line + 1,
            system=host.get("sysname"),
            release=host.get("release"),
            host=host.get("nodename"),
            cpus=whole_number(cpus),
            day=day,
            zone="UTC" if "file-utc-time" in host else None,
        )
        restarts = _restarts(host, first, lines, f"sysstat.hosts[{number}].restarts")
        runs += [first, *(run for _, run in restarts)]
        samples: Counter[int] = Counter()
        of_host = host.get("statistics", [])
        for place, (statistics, run) in enumerate(zip(of_host, _runs_of(of_host, first, restarts), strict=True)):
            samples[run] += 1
            named: dict[str, str] = {}
            for section, path, row in _rows(statistics, f"sysstat.hosts[{number}].statistics[{place}]"):
                for key in row:
                    others.pop(f"{path}.{key}", None)
                at = lines.get(f"{path}.{next(iter(row))}")
                if path.endswith("]") and named.setdefault(path.rpartition("[")[0], next(iter(row))) != next(iter(row)):
                    found.mixed.append((at, path))
                one = Row(number_of_document, path, run, samples[run], at, statistics, row)
                rows = tables.setdefault((section, tuple(row)), [])
                if rows and rows[-1][:2] != one[:2] and rows[-1][2:4] == one[2:4] and rows[-1].cells == row:
                    found.repeated.append((at, path))
                rows.append(one)
    found.others.extend(others.values())


def _restarts(host: dict[str, Any], first: Run, lines: dict[str, int], path: str) -> list[tuple[dt.datetime, Run]]:
    """The restarts of a host in the order of time, and the run that begins with each: it says how many processors."""
    listed = [each.get("boot", {}) if isinstance(each, dict) else {} for each in host.get("restarts", [])]
    booted = []
    for place, (boot, at) in enumerate(zip(listed, _times_of(listed), strict=True)):
        if at is not None:
            cpus = str(boot.get("cpu_count", ""))
            line = lines.get(f"{path}[{place}].boot.{next(iter(boot))}", first.line)
            booted.append((at, line, first.cpus if (count := whole_number(cpus)) is None else count))
    found = []
    for number, (at, line, count) in enumerate(sorted(booted), first.run + 1):
        seconds = at.hour * 3600 + at.minute * 60 + at.second
        found.append((at, replace(first, run=number, line=line, cpus=count, day=at.date(), restarted_s=seconds)))
    return found


def _runs_of(statistics: list[dict[str, Any]], first: Run, restarts: list[tuple[dt.datetime, Run]]) -> list[int]:
    """The run of each sample: that of the last restart before it; the first one where the sample has no date."""
    if not restarts:
        return [first.run] * len(statistics)
    runs, begins = [first.run, *(run.run for _, run in restarts)], [begin for begin, _ in restarts]
    times = _times_of([each.get("timestamp") for each in statistics])
    return [first.run if at is None else runs[bisect_left(begins, at)] for at in times]


def _times_of(stamps: Sequence[object]) -> list[dt.datetime | None]:
    """The time in the date and the clock of each stamp; None if they are not."""
    printed = [_stamp(stamp) for stamp in stamps]
    texts = pl.Series([f"{date} {clock}" for date, clock, _ in printed], dtype=pl.String)
    return pl.select(dated_clock(pl.lit(texts), "ymd").struct.field("time")).to_series().to_list()


def _rows(value: Any, path: str, section: str = "") -> Iterator[tuple[str, str, dict[str, Any]]]:  # noqa: ANN401 - whatever JSON holds
    """Each row with the section that it stands in, and its path: objects of figures, one by one or in lists."""
    if isinstance(value, list):
        for number, each in enumerate(value):
            yield from _rows(each, f"{path}[{number}]", section)
    elif isinstance(value, dict):
        scalars = {key: each for key, each in value.items() if not isinstance(each, dict | list)}
        if section and scalars:
            yield section, path, scalars
        for key, each in value.items():
            if key != "timestamp" and isinstance(each, dict | list):
                yield from _rows(each, f"{path}.{key}", key)


def _part(
    name: str, section: str, rows: list[Row], runs: list[Run], order: Order, tool: str, notes: list[Diagnostic]
) -> Part:
    stamps = [_stamp(row.statistics.get("timestamp")) for row in rows]
    place = pl.DataFrame(
        {
            "run": [row.run for row in rows],
            "sample": [row.sample for row in rows],
            "line": [row.line for row in rows],
            "date": [date or None for date, _, _ in stamps],
            "clock": [clock for _, clock, _ in stamps],
            "step": pl.Series([step for *_, step in stamps], dtype=pl.String).cast(pl.Float64, strict=False),
            "base": [runs[row.run].base_day for row in rows],
            "restarted": [runs[row.run].restarted_s for row in rows],
        },
        schema={
            "run": pl.UInt32,
            "sample": pl.UInt32,
            "line": pl.UInt32,
            "date": pl.String,
            "clock": pl.String,
            "step": pl.Float64,
            "base": pl.Date,
            "restarted": pl.Int64,
        },
    )
    day = pl.coalesce(day_of(pl.col("date"), "ymd"), "base")
    dated = dated_clock(pl.col("clock"), order.order).struct.field("time")
    end = pl.coalesce(dated, later(day, seconds_of_day(pl.col("clock"))))
    place = place.with_columns(end.alias("interval_end"))
    ends = place.select("run", "sample", "interval_end").unique().sort("run", "sample")
    ends = ends.with_columns(pl.col("interval_end").shift().over("run").alias("before")).drop("interval_end")
    place = place.join(ends, on=["run", "sample"], how="left", maintain_order="left")
    stated = later(pl.col("interval_end"), -pl.col("step"))
    # the counters begin with the restart of the system, where the interval printed is longer
    restart = later(pl.col("base"), pl.col("restarted"))
    start: pl.Expr = pl.when(stated.is_not_null()).then(pl.max_horizontal(stated, restart))
    if tool == "mpstat":  # one step between all samples, and none since the start of the system where there are several
        step = (pl.col("interval_end") - pl.col("before")).median().over("run")
        start = pl.coalesce(start, pl.col("interval_end") - step)
    early = place.filter(pl.col("before").is_null() & (stated < restart)).unique("run", maintain_order=True)
    notes += [
        Diagnostic(name, line, None, "clock", clock, "the interval printed begins before the restart, which is used")
        for line, clock in early.select("line", "clock").iter_rows()
    ]
    place = place.with_columns(
        ((pl.col("sample") == 1) & pl.lit(tool == "iostat")).alias("is_since_boot"),
        pl.coalesce("before", start).alias("interval_start"),
        pl.col("interval_end").dt.time().alias("time_of_day"),
        pl.lit(False).alias("is_average"),
    )
    place = place.select(pl.col(column).cast(dtype) for column, dtype in PLACE.items())
    fields: list[Field] = []
    columns: list[pl.Series] = []
    halves: dict[str, Half] = {}
    for number, key in enumerate(rows[0].cells, 1):
        label = key or f"column_{number}"
        values = [row.cells.get(key) for row in rows]
        cells = pl.Series([None if value is None else str(value) for value in values], dtype=pl.String)
        named = _NAMES.get(key) or KEYS.get(key)
        is_text = not any(isinstance(value, Figure) for value in values)
        if named is not None and (is_text or named != "interrupt"):
            fields.append(Field(named, key, None))
            columns.append(cells.alias(named))
            continue
        metric = _metric(section, label, tool)
        read = figures(cells, metric.factor, metric.basis)
        if len(read.problems):
            fields.append(Field(label, key, None))
            columns.append(cells.alias(label))
            continue
        unique = metric.name if metric.name not in halves else f"{metric.name}_{len(fields)}"
        fields.append(Field(unique, key, metric))
        columns.append(read.values.alias(unique))
        halves[unique] = read.half
    steps = pl.Series([None if step is None else str(step) for *_, step in stamps], dtype=pl.String)
    if steps.null_count() < len(steps):
        read = figures(steps, 1.0, STATED_INTERVAL.basis)
        fields.append(Field(STATED_INTERVAL.name, "interval", STATED_INTERVAL))
        columns.append(read.values.alias(STATED_INTERVAL.name))
        halves[STATED_INTERVAL.name] = read.half
    scope = next((field.name for field in fields if field.metric is None), "host")
    heading = Heading(tool, scope, tuple(fields), False, False, False, None, False)
    return Part(heading, place.with_columns(columns), halves)


def _stamp(value: object) -> tuple[str, str | None, str | None]:
    """The date, the clock and the step of a timestamp, which is text or an object."""
    if isinstance(value, dict):
        step = value.get("interval")
        return str(value.get("date", "")), value.get("time"), str(step) if step is not None else None
    return "", value if isinstance(value, str) else None, None


def _metric(section: str, key: str, tool: str) -> Metric:
    if section in _SHARES:
        return metric_of(f"%{key}", tool)
    word = _heading_of(section, key)
    return COMMON.get(word) or metric_of(word, tool)


def _heading_of(section: str, key: str) -> str:
    """The heading under which the text of the tool prints what a section of the JSON says below a key.

    The JSON leaves out units, and uses one key in several sections; its headings differ.

    Examples:
        >>> _heading_of("net-tcp", "active"), _heading_of("memory", "active"), _heading_of("psi-io", "some_avg10")
        ('active/s', 'kbactive', '%sio-10')
    """
    if section.startswith("psi-"):
        what, _, span = key.partition("_avg")
        return f"%{what[:1]}{section.removeprefix('psi-')}{'-' * bool(span)}{span}"
    if key.endswith("-percent"):
        return f"%{key.removesuffix('-percent')}"
    if section in _KILOBYTES:
        return f"kb{_ABBREVIATED.get(key, key)}"
    if section in _RATES or (section.startswith("net-") and section not in _SOCKETS):
        return key if key in COMMON or key in _NO_RATES else f"{key}/s"
    return _HEADINGS.get(key, key)
