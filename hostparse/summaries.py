"""biotop and biolatpcts: block I/O of an interval by process, and percentiles of its latencies."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from hostparse.log import FrameLog
from logframe import Diagnostic, LogParseError, diagnostics_frame, load_grammar, open_log
from logframe.copied import numbered_lines, repeated, sign_of_copy
from logframe.formats import Format, Sniff
from logframe.json_leaves import json_leaves, loads
from logframe.normalize import without_terminal_codes
from logframe.provenance import Claim, by_line
from logframe.wording import counted

if TYPE_CHECKING:
    from logframe import Source
    from logframe.formats import Head
    from logframe.provenance import Part

GRAMMAR: Final = load_grammar("hostparse", "summaries.lark", "line")
#: Columns of ``processes``: the I/O of a process with a disk in an interval; those with the most bytes only.
PROCESSES: Final = pl.Schema(
    {
        "sample": pl.UInt32(),
        "time_of_day": pl.Time(),
        "pid": pl.Int64(),
        "command": pl.String(),
        "operation": pl.String(),
        "major": pl.Int64(),
        "minor": pl.Int64(),
        "device": pl.String(),
        "requests": pl.Int64(),
        "bytes": pl.Float64(),
        "bytes_lo": pl.Float64(),
        "bytes_hi": pl.Float64(),
        "latency_ms": pl.Float64(),
        "latency_ms_lo": pl.Float64(),
        "latency_ms_hi": pl.Float64(),
        "line": pl.UInt32(),
    }
)
#: Columns of ``loads``: the time of each sample of biotop, and what ``/proc/loadavg`` says.
LOADS: Final = pl.Schema(
    {
        "sample": pl.UInt32(),
        "time_of_day": pl.Time(),
        "load_1": pl.Float64(),
        "load_5": pl.Float64(),
        "load_15": pl.Float64(),
        "runnable": pl.Int64(),
        "tasks": pl.Int64(),
        "last_pid": pl.Int64(),
        "line": pl.UInt32(),
    }
)
#: Columns of ``percentiles``: null where there was no request.
PERCENTILES: Final = pl.Schema(
    {
        "sample": pl.UInt32(),
        "device": pl.String(),
        "operation": pl.String(),
        "percentile": pl.Float64(),
        "latency_ms": pl.Float64(),
        "latency_ms_lo": pl.Float64(),
        "latency_ms_hi": pl.Float64(),
        "line": pl.UInt32(),
    }
)
_KINDS: Final = {
    name: re.compile(GRAMMAR.terminals[name])
    for name in ("LOAD", "TOP_HEADING", "DOCUMENT", "PERCENTILES", "PERCENTILE_HEADING", "TOP")
}
_LOAD: Final = re.compile(
    GRAMMAR.pattern(
        "^(?P<time>{TIME}) {LOAD_WORD} (?P<load_1>{DECIMAL}) (?P<load_5>{DECIMAL}) (?P<load_15>{DECIMAL}) "
        "(?P<runnable>{WHOLE}){SLASH}(?P<tasks>{WHOLE}) (?P<last_pid>{WHOLE})$"
    )
)
_TOP: Final = re.compile(
    GRAMMAR.pattern(
        "^(?P<pid>{WHOLE}){GAP}(?P<command>{COMMAND}){GAP}(?P<operation>{DIRECTION}){GAP}(?P<major>{WHOLE}){GAP}"
        "(?P<minor>{WHOLE}){GAP}(?P<device>{DISK}){GAP}(?P<requests>{WHOLE}){GAP}(?P<kib>{DECIMAL}){GAP}"
        "(?P<latency>{DECIMAL})$"
    )
)
_LATENCY: Final = re.compile(GRAMMAR.pattern("^(?P<value>{LATENCY})(?P<unit>{LATENCY_UNIT})$"))
_OPERATION: Final = re.compile(GRAMMAR.pattern("^(?P<operation>{OPERATION})$"))
_MS: Final = {"us": 1e-3, "ms": 1.0, "s": 1e3}
#: Half of the buckets in which biolatpcts counts: 10 us below 1 ms, 1 ms below 100 ms, then 100 ms.
_BUCKETS: Final = ((1.0, 0.005), (100.0, 0.5), (float("inf"), 50.0))
_KIB: Final = 1024.0
#: What lines print, in order.
_READ: Final = {
    "processes": {
        name: _KIB if name == "bytes" else 1.0 for name in ("pid", "major", "minor", "requests", "bytes", "latency_ms")
    },
    "percentiles": {},
    "loads": dict.fromkeys(("time_of_day", "load_1", "load_5", "load_15", "runnable", "tasks", "last_pid"), 1.0),
}
_OF_TABLE: Final = {"latency_ms": 1.0}
_OF_DOCUMENT: Final = {"percentile": 1.0, "latency_ms": 1e3}
_SURE: Final = 0.96
_LINES: Final = 400
_ALL: Final = 100.0
_HALF_CENT: Final = 0.005


@dataclass
class _Reader:
    """Reads line by line."""

    name: str
    processes: list[dict[str, Any]] = field(default_factory=list)
    loads: list[dict[str, Any]] = field(default_factory=list)
    percentiles: list[dict[str, Any]] = field(default_factory=list)
    notes: list[Diagnostic] = field(default_factory=list)
    sample: int = 0
    time: str | None = None
    words: list[str] | None = None
    is_top: bool = False
    intervals: int = 0

    def read(self, number: int, line: str) -> None:
        """One line that is not blank."""
        kind = next((name for name, pattern in _KINDS.items() if pattern.fullmatch(line)), None)
        if kind == "LOAD" and (found := _LOAD.match(line)):
            self.sample += 1
            self.time, self.is_top = found["time"], False
            said = {name: float(value) for name, value in found.groupdict().items() if name != "time"}
            self.loads.append({"sample": self.sample, "time": self.time, **said, "line": number})
        elif kind == "TOP_HEADING":
            self.sample += self.is_top or not self.loads
            self.is_top, self.words = True, None
        elif kind == "TOP" and self.is_top and (found := _TOP.match(line)):
            self._top(number, found)
        elif kind == "PERCENTILE_HEADING":
            self.words, self.is_top = line.split(), False
            self.intervals += 1
        elif kind == "PERCENTILES" and self.words is not None and len(line.split()) == len(self.words):
            self._percentiles(number, self.words, line.split())
        elif kind != "DOCUMENT" or not self._document(number, line):
            self.notes.append(
                Diagnostic(self.name, number, None, "unparsed", line, "not a line of biotop or biolatpcts")
            )

    def _top(self, number: int, found: re.Match[str]) -> None:
        kib = float(found["kib"]) * _KIB
        is_cut = "." not in found["kib"]  # a whole number of KiB was cut, one with decimals was printed as it is
        latency = float(found["latency"])
        self.processes.append(
            {
                "sample": self.sample,
                "time": self.time,
                **{name: int(found[name]) for name in ("pid", "major", "minor", "requests")},
                **{name: found[name] for name in ("command", "operation", "device")},
                "bytes": kib,
                "bytes_lo": kib,
                "bytes_hi": kib + _KIB if is_cut else kib,
                "latency_ms": latency,
                "latency_ms_lo": max(latency - _HALF_CENT, 0.0),
                "latency_ms_hi": latency + _HALF_CENT,
                "line": number,
            }
        )

    def _percentiles(self, number: int, words: list[str], cells: list[str]) -> None:
        for word, cell in zip(words[1:], cells[1:], strict=True):
            row = {"device": words[0], "operation": cells[0], "percentile": float(word.removeprefix("p"))}
            if (found := _LATENCY.match(cell)) is not None:
                unit = _MS[found["unit"]]
                _, _, decimals = found["value"].partition(".")
                row |= _around(float(found["value"]) * unit, 0.5 * 10.0 ** -len(decimals) * unit)
            self.percentiles.append({"sample": self.intervals, **row, "line": number})

    def _document(self, number: int, line: str) -> bool:
        """The JSON of an interval; whether it is whole."""
        try:
            loads(line)
            # a name that is there twice is two rows
            leaves = [(*leaf.path.partition("."), leaf.value) for leaf in json_leaves(line)]
            rows: list[dict[str, Any]] = [
                {"operation": name, "percentile": float(key), "seconds": float(value)}
                for name, _, key, value in leaves
                if _OPERATION.match(name)
            ]
            rows = [row for row in rows if math.isfinite(row["seconds"]) and 0.0 <= row["percentile"] <= _ALL]
        except (ValueError, TypeError, RecursionError):
            return False
        self.intervals += 1
        for row in rows:
            seconds = row.pop("seconds")
            figures = _around(float(seconds) * 1e3, 0.0) if seconds else {}
            self.percentiles.append({"sample": self.intervals, **row, **figures, "line": number})
        return len(rows) == len(leaves)


def _around(latency: float, half: float) -> dict[str, float]:
    """A latency with the bounds of its bucket, whose middle it is, and of the rounding of that middle."""
    bucket = next(each for end, each in _BUCKETS if latency < end)
    low = latency - half - bucket
    return {"latency_ms": latency, "latency_ms_lo": max(low, 0.0), "latency_ms_hi": latency + half + bucket}


def read_summaries(source: Source) -> FrameLog:
    r"""What biotop or biolatpcts printed, interval by interval.

    A latency of biolatpcts is the middle of a bucket: its bounds are those of the bucket.  biotop lists the processes
    with the most bytes only: a process that is not there did less, not nothing.

    Args:
        source: a path, bytes, a file object.

    Returns:
        A log with the frames ``processes`` (`PROCESSES`), ``loads`` (`LOADS`) and ``percentiles`` (`PERCENTILES`).

    Raises:
        LogParseError: the log holds no row of them.

    Examples:
        >>> text = "sda  p50  p100\nread 95us 1.5ms\nwrite   -     -\n"
        >>> read_summaries(text.encode()).frames()["percentiles"].select("operation", "percentile", "latency_ms").rows()
        [('read', 50.0, 0.095), ('read', 100.0, 1.5), ('write', 50.0, None), ('write', 100.0, None)]
    """
    log = open_log(source)
    reader = _Reader(log.name)
    lines = numbered_lines(log, _recognised)
    reader.notes += repeated(log.name, lines)
    for number, line in lines:
        if line:
            reader.read(number, line.strip())
    if not reader.processes and not reader.percentiles:
        raise LogParseError("no row found", source=log.name, expected="the output of biotop or biolatpcts")
    tools = ["biotop"] * bool(reader.processes) + ["biolatpcts"] * bool(reader.percentiles)
    count = max(reader.sample if reader.processes else 0, reader.intervals if reader.percentiles else 0)
    tables = {
        "processes": _timed(reader.processes, PROCESSES),
        "loads": _timed(reader.loads, LOADS),
        "percentiles": _timed(reader.percentiles, PERCENTILES),
    }
    what = f"{' and '.join(tools)}, {counted(count, 'interval')}"
    notes = diagnostics_frame([*log.notes, *reader.notes])
    return FrameLog("block_io", "+".join(tools), log.name, tables, notes, what)


def _timed(rows: list[dict[str, Any]], schema: pl.Schema) -> pl.DataFrame:
    """Rows as a frame; their ``time`` as a time of day, null where there is no such time."""
    columns = {name: [row.get(name) for row in rows] for name in schema if name != "time_of_day"}
    frame = pl.DataFrame(columns, schema={n: kind for n, kind in schema.items() if n != "time_of_day"}, strict=False)
    if "time_of_day" in schema:
        clock = pl.Series("time_of_day", [row["time"] for row in rows], dtype=pl.String)
        frame = frame.with_columns(clock.str.to_time("%H:%M:%S", strict=False))
    return frame.select(schema.names())


def _sniff(head: Head) -> Sniff | None:
    """Whether a log is of one of these tools, by a heading, a row of percentiles below one, or their JSON."""
    return sign_of_copy(head.text.split("\n")[:_LINES], _recognised)


def _recognised(printed: list[str]) -> Sniff | None:
    lines = [without_terminal_codes(line).strip() for line in printed]
    for number, line in enumerate(lines, 1):
        if _KINDS["TOP_HEADING"].fullmatch(line):
            return Sniff(_SURE, "the output of biotop", line=number)
        # a blank line after each was added
        next_line = next((each for each in lines[number : number + 2] if each), "")
        below = _KINDS["PERCENTILES"].fullmatch(next_line)
        if (below and _KINDS["PERCENTILE_HEADING"].fullmatch(line)) or _KINDS["DOCUMENT"].fullmatch(line):
            return Sniff(_SURE, "the output of biolatpcts", line=number)
    return None


def _places(parsed: FrameLog, source: Source) -> list[Part]:
    """Which rows came from which lines."""
    lines = open_log(source).lines()
    # no latency is printed as 0 in JSON
    latency = pl.col("latency_ms").fill_null(0.0)
    frames = {**parsed.tables, "percentiles": parsed.tables["percentiles"].with_columns(latency)}
    part = by_line("\n".join(lines), frames, _READ)
    for row, number in enumerate(parsed.tables["percentiles"]["line"].to_list()):
        columns = _OF_DOCUMENT if _KINDS["DOCUMENT"].fullmatch(lines[number - 1].strip()) else _OF_TABLE
        part.claim(number, Claim("percentiles", row, columns))
    return [part]


FORMAT: Final = Format(
    name="block_io", title="a summary of block I/O", sniff=_sniff, read=read_summaries, places=_places
)
