"""Lists of I/O events: one row a request or wait, with its latency.

biosnoop, iosnoop, ext4slower and its kin print words under a heading; `blkparse` prints each step of a request, from
which the time of the whole request and of the device follow where the steps pair without doubt.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from logframe import Diagnostic, LogParseError, diagnostics_frame, load_grammar, open_log
from logframe.copied import lines_as_read, numbered_lines, open_end, place_in_copy, repeated, sign_of_copy
from logframe.formats import Format, Sniff
from logframe.parsed_log import ParsedLog
from logframe.printed import LARGEST_WHOLE
from logframe.provenance import Claim, Part, by_line, is_tabular
from logframe.split import csv_cells

if TYPE_CHECKING:
    from logframe import Source
    from logframe.formats import Head

GRAMMAR: Final = load_grammar("hostparse", "events.lark", "line")

#: Columns of `EventList.events`: one row an event.
EVENTS: Final = pl.Schema(
    {
        "list": pl.UInt32(),
        "time_text": pl.String(),
        "time_s": pl.Float64(),
        "end_s": pl.Float64(),
        "cpu": pl.Int64(),
        "sequence": pl.Int64(),
        "pid": pl.Int64(),
        "command": pl.String(),
        "name": pl.String(),
        "device": pl.String(),
        "operation": pl.String(),
        "action": pl.String(),
        "offset_bytes": pl.Int64(),
        "bytes": pl.Int64(),
        "queue_ms": pl.Float64(),
        "latency_ms": pl.Float64(),
        "latency_ms_lo": pl.Float64(),
        "latency_ms_hi": pl.Float64(),
        "only_from_ms": pl.Float64(),
        "line": pl.UInt32(),
    }
)
#: Columns of `EventList.others`: what stands in a column that has no place in `EVENTS`, and totals as printed.
OTHERS: Final = pl.Schema({"line": pl.UInt32(), "heading": pl.String(), "text": pl.String()})
#: Columns of `EventList.requests`: one row a completion of blkparse.
REQUESTS: Final = pl.Schema(
    {
        "device": pl.String(),
        "operation": pl.String(),
        "offset_bytes": pl.Int64(),
        "bytes": pl.Int64(),
        "completed_s": pl.Float64(),
        "device_ms": pl.Float64(),
        "total_ms": pl.Float64(),
        "line": pl.UInt32(),
    }
)
_SECTOR: Final = 512
#: This many known words are a heading.
_FEWEST: Final = 3
#: Heading -> the column, its terminal, and its unit in bytes; of a time, how many of them make the unit of the column.
_COLUMNS: Final[dict[str, tuple[str, str, float]]] = {
    "TIME(s)": ("time_s", "NUMBER", 1.0),
    "STARTs": ("time_s", "NUMBER", 1.0),
    "ENDs": ("end_s", "NUMBER", 1.0),
    "ENDTIME_us": ("end_s", "WHOLE", 1e6),
    "TIME": ("time_text", "CLOCK", 1.0),
    "COMM": ("command", "TEXT", 1.0),
    "TASK": ("command", "TEXT", 1.0),
    "PID": ("pid", "WHOLE", 1.0),
    "TID": ("pid", "WHOLE", 1.0),
    "DISK": ("device", "WORD", 1.0),
    "DEV": ("device", "WORD", 1.0),
    "T": ("operation", "WORD", 1.0),
    "TYPE": ("operation", "WORD", 1.0),
    "SECTOR": ("offset_bytes", "WHOLE", _SECTOR),
    "BLOCK": ("offset_bytes", "WHOLE", _SECTOR),
    "OFF_KB": ("offset_bytes", "WHOLE", 1024),
    "OFFSET_b": ("offset_bytes", "WHOLE", 1),
    "BYTES": ("bytes", "WHOLE", 1),
    "QUE(ms)": ("queue_ms", "NUMBER", 1.0),
    "LAT(ms)": ("latency_ms", "NUMBER", 1.0),
    "LATms": ("latency_ms", "NUMBER", 1.0),
    "LATENCY_us": ("latency_ms", "WHOLE", 1e3),
    "FILENAME": ("name", "TEXT", 1.0),
    "FILE": ("name", "TEXT", 1.0),
}
_WHOLE_COLUMNS: Final = ("pid", "offset_bytes", "bytes")
_TEXT_COLUMNS: Final = ("time_text", "command", "name", "device", "operation")
_KINDS: Final = (
    "HEADING", "DELIMITED_HEADING", "WAIT", "BLOCK", "SUMMARY", "SUMMARY_ROW", "THRESHOLD", "ELIDED", "NOTICE",
    "PROMPT",
)  # fmt: skip
_PATTERNS: Final = [(name, re.compile(f"(?:{GRAMMAR.terminals[name]})$")) for name in _KINDS]
_SIGN: Final = re.compile(GRAMMAR.pattern("(?:{HEADING}|{DELIMITED_HEADING}|{WAIT}|{BLOCK})[ \t]*$"))
_WAIT: Final = re.compile(
    GRAMMAR.pattern(
        "(?P<time>{CLOCK})[ ]+{WAIT_PID}(?P<pid>{WHOLE}) {WAIT_EVENT}(?P<name>.*) {WAIT_TIME}(?P<us>{WHOLE})$"
    )
)
_BLOCK: Final = re.compile(
    GRAMMAR.pattern(
        "{GAP}?(?P<device>{DEVICE}){GAP}(?P<cpu>{WHOLE}){GAP}(?P<sequence>{WHOLE}){GAP}(?P<time>{NUMBER}){GAP}(?P<pid>{WHOLE}){GAP}"
        "(?P<action>{ACTION}){GAP}(?P<operation>{KIND})"
        "(?:{GAP}(?P<sector>{WHOLE})(?:{PLUS}(?P<sectors>{WHOLE}))?)?(?:{GAP}(?P<rest>.+))?$"
    )
)
_PLACE: Final = re.compile(GRAMMAR.pattern("{WHOLE}{PLUS}{WHOLE}"))
_SEVERAL: Final = re.compile(GRAMMAR.pattern("[^ \t]{WIDE_GAP}[^ \t]"))
_THRESHOLD: Final = re.compile(GRAMMAR.pattern("{SLOWER} (?P<ms>{NUMBER})"))
_KINDS_OF_HEADING: Final = {"SECTOR": "biosnoop", "BLOCK": "iosnoop", "OFF_KB": "slower", "OFFSET_b": "slower"}


@dataclass(frozen=True, repr=False)
class EventList(ParsedLog):
    """Lists of I/O events of a log.

    Attributes:
        source: name of the log.
        kind: ``biosnoop``, ``iosnoop``, ``slower`` (ext4slower, xfsslower, ...), ``oracle_waits`` or ``blkparse``.
        events: `EVENTS`.  ``time_s``: seconds since the first event, the start of the system or of the trace, as the
            tool counts them; ``time_text``: a time of day; ``only_from_ms``: faster events are not in the list, so
            its mean is not that of all requests; a latency of whole microseconds is taken as cut, others as rounded.
        requests: `REQUESTS`, of blkparse: ``device_ms`` from issue to completion, ``total_ms`` from queueing; null
            where no step, or several, may be the one before.
        others: `OTHERS`.
        diagnostics: `logframe.DIAGNOSTICS`.
    """

    source: str
    kind: str
    events: pl.DataFrame
    requests: pl.DataFrame
    others: pl.DataFrame
    diagnostics: pl.DataFrame

    @property
    def format(self) -> str:
        """The format's name in the registry."""
        return "io_events"

    def frames(self) -> dict[str, pl.DataFrame]:
        """The frames `events`, `requests` and `others`."""
        return {"events": self.events, "requests": self.requests, "others": self.others}

    def describe(self) -> str:
        """What was read, in a few words."""
        slow = self.events.get_column("only_from_ms").max()
        only = f", only those of {slow:g} ms and more" if isinstance(slow, float) and slow else ""
        return f"a list of I/O events ({self.kind}), {self.events.height:,} events{only}"


@dataclass
class _Reader:
    name: str
    kinds: set[str] = field(default_factory=set)
    rows: list[dict[str, Any]] = field(default_factory=list)
    others: list[tuple[int, str, str]] = field(default_factory=list)
    notes: list[Diagnostic] = field(default_factory=list)
    lists: int = 0
    headings: list[str] = field(default_factory=list)
    row: re.Pattern[str] | None = None
    threshold: float | None = None
    summary: str | None = None

    def read(self, number: int, line: str) -> None:
        """One line."""
        kind = next((kind for kind, pattern in _PATTERNS if pattern.match(line)), None)
        match kind:
            case "HEADING" | "DELIMITED_HEADING":
                self._start(line, is_delimited=kind == "DELIMITED_HEADING")
            case "WAIT":
                self._wait(number, line)
            case "BLOCK":
                self._block(number, line)
            case "SUMMARY":
                self.summary = line.rstrip(":")
            case "SUMMARY_ROW":
                self.others.append((number, self.summary or "summary", line.strip()))
            case "THRESHOLD":
                self.threshold = float(found["ms"]) if (found := _THRESHOLD.search(line)) else None
            case "ELIDED":
                pass
            case "NOTICE" | "PROMPT" if not self.headings or self.row is None or not self.row.match(line):
                self.threshold = None if kind == "PROMPT" or line.startswith("Tracing") else self.threshold
                self.headings, self.row = [], None
            case _:
                self._listed(number, line)

    def _start(self, line: str, *, is_delimited: bool) -> None:
        self.lists += 1
        self.headings = line.split(",") if is_delimited else line.split()
        self.kinds.add(next((kind for word, kind in _KINDS_OF_HEADING.items() if word in self.headings), "slower"))
        self.row = None
        if not is_delimited:
            cells = (f"(?P<c{i}>{{{_COLUMNS.get(word, ('', 'WORD'))[1]}}})" for i, word in enumerate(self.headings))
            self.row = re.compile(GRAMMAR.pattern("^{GAP}?" + "{GAP}".join(cells) + "{GAP}?$"))

    def _listed(self, number: int, line: str) -> None:
        cells: list[str] = []
        if self.row is not None:
            found = self.row.match(line)
            cells = list(found.groups()) if found else []
        elif self.headings:
            cells = csv_cells(line)
        if len(cells) != len(self.headings) or not cells:
            self.note(number, line, "not an event" if not self.headings else f"does not fit: {' '.join(self.headings)}")
            return
        row: dict[str, Any] = {}
        for heading, cell in zip(self.headings, cells, strict=True):
            column, terminal, unit = _COLUMNS.get(heading, ("", "WORD", 1.0))
            if column == "" or column in row:
                self.others.append((number, heading, cell))
            elif not re.fullmatch(GRAMMAR.terminals[terminal], cell):
                self.notes.append(Diagnostic(self.name, number, None, "no_value", cell, f"no value of {heading}"))
            elif column in _TEXT_COLUMNS:
                if _SEVERAL.search(cell.strip()):
                    reason = f"columns of the row are missing in the heading: not one value of {heading}"
                    self.notes.append(Diagnostic(self.name, number, None, "no_value", cell, reason))
                row[column] = cell.strip()
            elif column in _WHOLE_COLUMNS:
                row[column] = int(cell) * int(unit)
            else:
                row[column] = float(cell) / unit
                if column == "latency_ms":
                    row |= _bounds(cell, unit)
        self._add(number, row)

    def _continue(self, kind: str) -> None:
        """A row of a list without a heading: all rows of its kind are one list."""
        self.lists += kind not in self.kinds
        self.kinds.add(kind)

    def _wait(self, number: int, line: str) -> None:
        found = _WAIT.match(line)
        assert found is not None  # noqa: S101 - the line's kind says so
        self._continue("oracle_waits")
        row = {"time_text": found["time"], "pid": int(found["pid"]), "name": found["name"]}
        self._add(number, {**row, "latency_ms": int(found["us"]) / 1e3, **_bounds(found["us"], 1e3)})

    def _block(self, number: int, line: str) -> None:
        found = _BLOCK.match(line)
        assert found is not None  # noqa: S101 - the line's kind says so
        self._continue("blkparse")
        rest = found["rest"]
        row: dict[str, Any] = {
            "time_s": float(found["time"]),
            "cpu": int(found["cpu"]),
            "sequence": int(found["sequence"]),
            "pid": int(found["pid"]),
            "device": found["device"],
            "action": found["action"],
            "operation": found["operation"],
        }
        if found["sector"] is not None:
            row["offset_bytes"] = int(found["sector"]) * _SECTOR
        if found["sectors"] is not None:
            row["bytes"] = int(found["sectors"]) * _SECTOR
        is_command = rest is not None and re.fullmatch(GRAMMAR.terminals["BRACKETED"], rest)
        if is_command and found["action"] != "C":
            row["command"] = None if rest == "[(null)]" else rest[1:-1]
        elif rest is not None:
            if _PLACE.search(rest):
                reason = "the place of this request is not read: a word stands before it that blkparse does not print"
                self.notes.append(Diagnostic(self.name, number, None, "no_value", rest, reason))
            self.others.append((number, "error" if is_command else "rest", rest[1:-1] if is_command else rest))
        self._add(number, row)

    def _add(self, number: int, row: dict[str, Any]) -> None:
        if self.threshold is not None and row.get("latency_ms_hi", self.threshold) < self.threshold:
            reason = f"faster than the {self.threshold:g} ms that the list begins at: lines above are missing"
            self.notes.append(Diagnostic(self.name, number, None, "threshold", None, reason))
            self.threshold = None
        for column in _WHOLE_COLUMNS:
            if row.get(column, 0) > LARGEST_WHOLE:
                text, row[column] = str(row[column]), None
                self.notes.append(Diagnostic(self.name, number, None, "no_value", text, f"no value of {column}"))
        self.rows.append({"list": self.lists, **row, "only_from_ms": self.threshold, "line": number})

    def note(self, number: int, line: str, reason: str) -> None:
        """A line that is no event."""
        self.notes.append(Diagnostic(self.name, number, None, "unparsed", line, reason))


def columns_below(heading: str) -> dict[str, float]:
    """The columns of the rows below a heading, and what their figures are multiplied by; none of another line."""
    words = heading.split(",") if "," in heading else heading.split()
    if sum(word in _COLUMNS for word in words) < min(len(words), _FEWEST):
        return {}
    known = [_COLUMNS[word] for word in words if word in _COLUMNS]
    return {column: unit if column in _WHOLE_COLUMNS else 1 / unit for column, _, unit in known}


def columns_of_line(line: str) -> dict[str, float]:
    """The columns of a row of a list without a heading, and what their figures are multiplied by."""
    if _WAIT.match(line):
        return {"time_text": 1.0, "pid": 1.0, "latency_ms": 1e-3}
    if _BLOCK.match(line):
        sectors = dict.fromkeys(("offset_bytes", "bytes"), float(_SECTOR))
        return {**dict.fromkeys(("cpu", "sequence", "time_s", "pid"), 1.0), **sectors}
    return {}


def span_of_others(line: str) -> tuple[int, int]:
    """Where a row of blkparse prints what is no column of `EVENTS`; from 0 to 0 of another row."""
    found = _BLOCK.match(line)
    return found.span("rest") if found and found["rest"] else (0, 0)


def _bounds(cell: str, units: float) -> dict[str, float]:
    """What a printed latency in this many units a millisecond may be: a decimal is rounded, a whole is cut."""
    _, point, decimals = cell.partition(".")
    half = 0.5 * 10.0 ** -len(decimals)
    lo, hi = (float(cell) - half, float(cell) + half) if point else (float(cell), float(cell) + 1)
    return {"latency_ms_lo": max(lo, 0.0) / units, "latency_ms_hi": hi / units}


def read_events(source: Source) -> EventList:
    r"""The I/O events that biosnoop, iosnoop, ext4slower and its kin, a trace of waits, or blkparse listed.

    Args:
        source: a path, bytes, a file object.

    Raises:
        LogParseError: the log holds no list of events.

    Examples:
        >>> log = b"TIME(s)  COMM  PID  DISK  T SECTOR  BYTES  LAT(ms)\n0.0042  ora_lgwr  7  dm-3  R 16  8192  0.74\n"
        >>> read_events(log).events.select("pid", "offset_bytes", "bytes", "latency_ms").row(0)
        (7, 8192, 8192, 0.74)
    """
    log = open_log(source)
    reader = _Reader(log.name)
    lines = numbered_lines(log, sign_of_events)
    rows = [(number, line) for number, line in lines if not _WAIT.match(line)]  # waits may be alike
    reader.notes += [*repeated(log.name, rows), *open_end(log, lines)]
    for number, line in lines:
        if line:
            reader.read(number, line)
        else:
            reader.headings, reader.row = [], None  # text follows
    if not reader.rows:
        raise LogParseError(
            "no I/O event found", source=log.name, expected="a heading with a latency, and rows below it"
        )
    events = pl.DataFrame(reader.rows, schema=EVENTS)
    others = pl.DataFrame(reader.others, schema=OTHERS, orient="row")
    notes = diagnostics_frame([*log.notes, *reader.notes])
    return EventList(log.name, "+".join(sorted(reader.kinds)), events, _requests(events), others, notes)


def _requests(events: pl.DataFrame) -> pl.DataFrame:
    """The completions of blkparse with the times since their issue and their queueing.

    A step belongs to a completion where it is the only one of that kind at that place since the completion before.
    """
    key = ["device", "offset_bytes", "bytes"]
    steps = events.filter(pl.col("action").is_in(["Q", "D", "C"]) & pl.col("bytes").is_not_null())
    steps = steps.sort("time_s", maintain_order=True).with_columns(
        ((pl.col("action") == "C").cast(pl.UInt32).cum_sum(reverse=True).over(key)).alias("round")
    )
    time = {step: pl.col("time_s").filter(pl.col("action") == step) for step in "QDC"}
    one = {step: pl.when(time[step].len() == 1).then(time[step].first()) for step in "QD"}
    found = steps.filter(pl.col("round") > 0).group_by(*key, "round", maintain_order=True)
    rows = found.agg(
        pl.col("operation").last(),
        time["C"].last().alias("completed_s"),
        ((time["C"].last() - one["D"]) * 1e3).alias("device_ms"),
        ((time["C"].last() - one["Q"]) * 1e3).alias("total_ms"),
        pl.col("line").last(),
    )
    return rows.select(pl.col(name).cast(dtype) for name, dtype in REQUESTS.items()).sort("completed_s", "line")


def sign_of_events(lines: list[str]) -> int | None:
    """The first line that only a list of events has, counted from 1."""
    return next((number for number, line in enumerate(lines, 1) if _SIGN.match(line)), None)


_SCORE: Final = 0.97
#: A heading is looked for in this many lines.
_SNIFFED: Final = 400


def _sniff(head: Head) -> Sniff | None:
    """Whether a log is a list of events, by the heading of one or the form of its rows."""
    line = sign_of_copy(head.text.split("\n")[:_SNIFFED], sign_of_events)
    return None if line is None else Sniff(_SCORE, "a list of I/O events", line=line)


def _places(parsed: EventList, source: Source) -> list[Part]:
    """The text of a list of I/O events, with its rows by line."""
    copied, text = lines_as_read(open_log(source), sign_of_events)
    part = by_line("\n".join(text), parsed.frames(), {name: {} for name in parsed.frames()}, is_row=is_tabular)
    rows = dict(zip(parsed.events["line"].to_list(), range(parsed.events.height), strict=True))
    columns: dict[str, float] = {}
    for number, line in enumerate(text, 1):
        columns = columns_below(line) or columns
        if (row := rows.get(number)) is not None:
            part.claim(number, Claim("events", row, columns_of_line(line) or columns))
    for row, number in enumerate(parsed.others["line"].to_list()):
        part.claim(number, Claim("others", row, {"heading": 1.0, "text": 1.0}, *span_of_others(text[number - 1])))
    part.place = place_in_copy(copied, text)
    return [part]


FORMAT: Final = Format(name="io_events", title="a list of I/O events", sniff=_sniff, read=read_events, places=_places)
