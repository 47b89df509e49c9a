"""Latency histograms: buckets with both ends, whatever the printed number stands for.

The number that a tool prints for a bucket is its lower end (DTrace, SystemTap), both ends (bcc, bpftrace), or its upper
end (Oracle's event histograms).  Here each bucket has ``lower`` and ``upper``, the upper end left out.  A bucket
without an end has null there, as in every frame of latencies (the wait event histograms of reports, too); ``lower_ns``
and ``upper_ns`` are both null where the log does not say the unit.

A histogram may also stand in one line as a document: a dictionary of Python (biolatency -j), JSON (bpftrace -f json).
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from logframe import Diagnostic, LogParseError, diagnostics_frame, load_grammar, open_log
from logframe.copied import lines_as_read, numbered_lines, open_end, place_in_copy, repeated, sign_of_copy
from logframe.formats import Format, Sniff
from logframe.json_leaves import loads
from logframe.parsed_log import ParsedLog
from logframe.printed import whole_number
from logframe.provenance import Claim, Part, by_line, is_tabular
from logframe.source_numbers import numbers_of_line
from logframe.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from logframe import Source
    from logframe.formats import Head


_POWERS: Final = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def ends_of(value: int, mark: str | None) -> tuple[float | None, float | None]:
    """The ends of a bucket of DTrace: ``<`` and ``>=`` mark the open ones of a linear histogram."""
    if mark is not None:
        return (None, float(value)) if mark.startswith("<") else (float(value), None)
    if value == 0:
        return 0.0, 1.0
    return (float(value), 2.0 * value) if value > 0 else (2.0 * value, float(value))


def linear_uppers(printed: Sequence[tuple[int, str | None]]) -> list[float | None]:
    """The upper ends of the buckets of a table of DTrace, where they do not double: each where the next one begins.

    Args:
        printed: value of each bucket, and the mark before it.

    Returns:
        An end for each bucket; nothing where the values are powers of two.

    Examples:
        >>> linear_uppers([(0, None), (10, None), (20, None)]), linear_uppers([(0, None), (1, None), (2, None)])
        ([10.0, 20.0, 30.0], [])
    """
    values = [value for value, mark in printed if mark is None]
    steps = [high - low for low, high in pairwise(values)]
    is_even = len(steps) > 1 and len(set(steps)) == 1 and steps[0] > 1
    if len(values) == len(printed) and all(abs(one) & (abs(one) - 1) == 0 for one in values) and not is_even:
        return []
    last = float(values[-1] + steps[-1]) if steps and steps[-1:] * 2 == steps[-2:] else None
    return [*(float(value) for value, _ in printed[1:]), last]


def amount_of(text: str) -> float | None:
    """A printed end; None without one."""
    if text == "...":
        return None
    return float(text) if text[-1].isdigit() else float(text[:-1]) * _POWERS[text[-1]]


def missing_buckets(name: str, buckets: pl.DataFrame, elided: list[int]) -> list[Diagnostic]:
    """A diagnostic for each table with a bucket that does not begin where the one above it ends."""
    by = ["histogram", "key"]
    first = pl.col("lower").first().over("histogram")
    above = buckets.select(
        *("line", *by, "lower"),
        pl.col("upper").shift().over(by).fill_null(first).alias("above_upper"),
        pl.col("line").shift().over(by).alias("above_line"),
    )
    # of whole numbers, the bucket that ends with -1 is the one before that of 0
    # a view of all instances prints them one after another, without a name: each begins with the first bucket
    is_gap = (pl.col("lower") != pl.col("above_upper")) & (pl.col("lower") != first)
    is_gap &= ~((pl.col("lower") == 0) & (pl.col("above_upper") == -1))
    found = above.filter(is_gap).unique(by, keep="first", maintain_order=True)
    return [
        Diagnostic(
            name,
            line,
            None,
            "contradiction",
            f"{lower:g}",
            f"a bucket from {upper:g} on is missing here",
        )
        for line, lower, upper, before in found.select("line", "lower", "above_upper", "above_line").iter_rows()
        if not any((before or 0) < one < line for one in elided)
    ]


def with_deltas(buckets: pl.DataFrame) -> pl.DataFrame:
    """The counts since the table before, where tables of one key go on counting.

    A count that falls says that counting began anew, or that the tool clears its tables: the tables of that key are
    then not cumulative.  A bucket that a table has several times, as of the instances of a cluster, whose order may
    change, has the counts of all since the table before on its first line.
    """
    by = ["label", "key", "lower", "upper"]
    rows = buckets.with_row_index("row")
    tables = rows.group_by(*by, "histogram", maintain_order=True).agg(
        pl.col("row", "clock_us").first(), all=pl.col("count").sum()
    )
    before = pl.col("all").shift().over(by)
    falls = (pl.col("all") < before).fill_null(value=False)
    is_fresh = falls.any().over("label", "key") & (pl.len().over(by) > 1) & pl.col("clock_us").is_null()
    first = pl.col("histogram") == pl.col("histogram").min().over("label", "key")
    since = pl.when(first).then(None).when(falls).then("all").otherwise(pl.col("all") - before.fill_null(0))
    tables = tables.select("row", since=since, is_fresh=is_fresh)
    fresh = rows.join(tables, on="row", how="left", maintain_order="left")
    cumulative = pl.col("is_cumulative") & ~pl.col("is_fresh").any().over("label", "key")
    delta = pl.when("is_cumulative").then("since").otherwise("count").alias("delta")
    return fresh.with_columns(cumulative.alias("is_cumulative")).with_columns(delta).select(buckets.columns)


GRAMMAR: Final = load_grammar("hostparse", "histogram.lark", "line")
#: The unit in a heading or a name.
UNIT: Final = re.compile(GRAMMAR.pattern(r"\b(?P<unit>{UNIT})\b"))
_NANOSECONDS: Final = {"n": 1.0, "u": 1e3, "m": 1e6, "s": 1e9}
_LONG_UNITS: Final = {"nanosec": "ns", "microsec": "us", "millisec": "ms"}
SOURCE: Final = re.compile(GRAMMAR.pattern("{SOURCE}"))
_BRACKETED: Final = re.compile(GRAMMAR.pattern(r"[(](?P<unit>{UNIT})[)]"))
#: Counts and ends of buckets lie below it.
_MOST: Final = 1 << 62


class Described(NamedTuple):
    """A table of a document.

    Attributes:
        tool: that prints such documents.
        unit: of the ends of its buckets, as printed.
        time: as printed.
        key: what the table is of.
        buckets: lower end, upper end and count of each.
    """

    tool: str
    unit: str | None
    time: str | None
    key: str | None
    buckets: list[tuple[float | None, float | None, int]]


def tables_of(line: str) -> list[Described]:
    """The tables of a document.

    Raises:
        ValueError: it is no histogram, or a number is not one that a frame can hold.

    Examples:
        >>> tables_of('{"type": "hist", "data": {"@us": [{"min": 1, "max": 1, "count": 5}]}}')
        [Described(tool='bpftrace', unit='us', time=None, key='us', buckets=[(1.0, 2.0, 5)])]
    """
    try:
        return list(_each(_document(line)))
    except (TypeError, KeyError, AttributeError, OverflowError) as error:
        raise ValueError(f"no histogram: {error}") from None


def _document(line: str) -> Any:  # noqa: ANN401 - any JSON
    """JSON, or a dictionary of Python; None where a line is neither."""
    try:
        return loads(line)
    except (ValueError, RecursionError):
        try:
            return ast.literal_eval(line)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None


def _each(found: Any) -> Iterator[Described]:  # noqa: ANN401 - any JSON
    if isinstance(found["data"], list):
        keys = [value for name, value in found.items() if name not in {"ts", "val_type", "data"}]
        key = next((value.decode() if isinstance(value, bytes) else str(value) for value in keys), None)
        buckets = [(each["interval-start"], each["interval-end"], each["count"]) for each in found["data"]]
        yield Described(
            "bcc", _text(found.get("val_type")), _text(found.get("ts")), key, [_bucket(*b) for b in buckets]
        )
        return
    if found.get("type") not in {"hist", "lhist"}:
        raise ValueError("no histogram")
    for name, each in found["data"].items():
        key = str(name).lstrip("@")
        buckets = [(one.get("min"), one.get("max"), one["count"]) for one in (each if isinstance(each, list) else [])]
        yield Described("bpftrace", unit_in(key), None, key, [_bucket(*bucket) for bucket in buckets])


def nanoseconds_in(unit: str) -> float | None:
    """Nanoseconds in a unit of time; None without one."""
    return _NANOSECONDS[_LONG_UNITS.get(unit, unit)[0]] if UNIT.fullmatch(unit) else None


def unit_in(name: str) -> str | None:
    """The unit in the name of a map or in a heading; not in a key, as in ``@read_usecs[ns-slapd]``."""
    found = UNIT.search(name.partition("[")[0].replace("_", " "))
    return None if found is None else found["unit"]


def unit_in_brackets(text: str) -> str | None:
    """The unit in ``read latency (us)``; words of a text are not (``ns-slapd`` is a program)."""
    found = _BRACKETED.search(text)
    return None if found is None else found["unit"]


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _bucket(first: float | None, last: float | None, count: int) -> tuple[float | None, float | None, int]:
    """The ends of a bucket, whose last value is printed; no number that a frame cannot hold."""
    if not 0 <= int(count) < _MOST or any(end is not None and not abs(float(end)) < _MOST for end in (first, last)):
        raise ValueError("a number that no frame can hold")
    return None if first is None else float(first), None if last is None else float(last) + 1, int(count)


#: Columns of `LatencyHistograms.buckets`: one row a bucket.
HISTOGRAMS: Final = pl.Schema(
    {
        "histogram": pl.UInt32(),
        "key": pl.String(),
        "label": pl.String(),
        "time_text": pl.String(),
        "clock_us": pl.Int64(),
        "unit": pl.String(),
        "lower": pl.Float64(),
        "upper": pl.Float64(),
        "lower_ns": pl.Float64(),
        "upper_ns": pl.Float64(),
        "count": pl.Int64(),
        "is_cumulative": pl.Boolean(),
        "delta": pl.Int64(),
        "line": pl.UInt32(),
    }
)
#: Columns of `LatencyHistograms.means`: one row a line that sums up the tables above it.
MEANS: Final = pl.Schema(
    {
        "histogram": pl.UInt32(),
        "unit": pl.String(),
        "mean": pl.Float64(),
        "total": pl.Float64(),
        "count": pl.Int64(),
        "line": pl.UInt32(),
    }
)
_KINDS: Final = (
    "BEGIN", "END", "FIELD", "ARROW_HEADING", "BOUNDS_HEADING", "QUANTIZE_HEADING", "ARROW_ROW", "BRACKET_ROW",
    "QUANTIZE_ROW", "REST_ROW", "MEAN", "CLOCK", "PAIR", "MAP_KEY", "KEY", "DOCUMENT", "ELIDED", "NOTICE",
)  # fmt: skip
#: Lines above a table that say of when, or of what, it is.
_HEADS: Final = ("BEGIN", "FIELD", "CLOCK", "KEY", "MAP_KEY")
_PATTERNS: Final = [(name, re.compile(f"(?:{GRAMMAR.terminals[name]})$")) for name in _KINDS]
_ROW: Final = re.compile(GRAMMAR.pattern(r"[ \t]*(?P<lower>{AMOUNT}) -> (?P<upper>{AMOUNT}) *: (?P<count>{AMOUNT})"))
_QUANTIZE: Final = re.compile(
    GRAMMAR.pattern(r"[ \t]*(?P<end>< |>= )?(?P<value>{AMOUNT}) \|[@ ]*?(?P<count>{AMOUNT})$")
)
_BRACKET: Final = re.compile(
    GRAMMAR.pattern(
        r"[ \t]*[(\[](?P<lower>{AMOUNT}|\.\.\.)(?:, *(?P<upper>{AMOUNT}|\.\.\.))?[)\]] +(?P<count>{AMOUNT}) "
    )
)
_MEAN: Final = re.compile(
    GRAMMAR.pattern(
        "{MEAN_IS} (?P<mean>{AMOUNT}) (?P<unit>[a-z]+), {TOTAL_IS} (?P<total>{AMOUNT}) [a-z]+, "
        "{COUNT_IS} (?P<count>{AMOUNT})$"
    )
)


@dataclass(frozen=True, repr=False)
class LatencyHistograms(ParsedLog):
    """The latency histograms of a log.

    Attributes:
        source: name of the log.
        kind: what printed them: ``bcc``, ``bpftrace``, ``dtrace``, ``perf_tools`` or ``pylatencymap``.
        buckets: `HISTOGRAMS`, one row a bucket.  ``key``: what was timed (event, device, operation); ``time_text``: the
            time as printed; ``clock_us``: the number of a record of PyLatencyMap, good for differences only;
            ``is_cumulative``: counts go on from table to table, and ``delta`` is what came since the table before.
        means: `MEANS`: what a tool prints below a table, or below the tables of several keys (then ``histogram`` is
            the last of them); the mean is cut to whole units.
        diagnostics: `logframe.DIAGNOSTICS`: lines that are no part of a histogram, and sums that do not agree.
    """

    source: str
    kind: str
    buckets: pl.DataFrame
    means: pl.DataFrame
    diagnostics: pl.DataFrame

    @property
    def format(self) -> str:
        """The format's name in the registry."""
        return "latency_histogram"

    def frames(self) -> dict[str, pl.DataFrame]:
        """The frames `buckets` and `means`."""
        return {"buckets": self.buckets, "means": self.means}

    def describe(self) -> str:
        """What was read, in a few words."""
        tables = self.buckets.get_column("histogram").n_unique()
        keys = self.buckets.get_column("key").drop_nulls().n_unique()
        return f"latency histograms ({self.kind}), {counted(tables, 'table')} of {counted(max(keys, 1), 'key')}"


@dataclass
class _State:
    """Where the reader is in a log."""

    number: int = 0
    kind: str = ""
    key: str | None = None
    label: str | None = None
    time_text: str | None = None
    clock_us: int | None = None
    unit: str | None = None
    source: str | None = None
    is_exclusive: bool = False
    in_record: bool = False
    in_table: bool = False
    counted: int = 0
    since_mean: int = 0
    waiting: tuple[int, str] | None = None
    #: lines of a head (its clock, its key) with no bucket below them yet
    heads: dict[str, tuple[int, str]] = field(default_factory=dict)
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    means: list[tuple[Any, ...]] = field(default_factory=list)
    notes: list[Diagnostic] = field(default_factory=list)
    kinds: set[str] = field(default_factory=set)
    #: rows of the table of DTrace that is read: place among `rows`, printed value, the mark before it, and the scale
    printed: list[tuple[int, int, str | None, float | None]] = field(default_factory=list)
    elided: list[int] = field(default_factory=list)

    def start(self, kind: str) -> None:
        """A table begins."""
        self.end_table()
        self.number += 1
        self.kinds.add(kind)
        self.kind = kind
        self.in_table = True
        self.counted = 0

    def begin_record(self) -> None:
        """A record of PyLatencyMap begins."""
        self.in_record, self.in_table = True, False
        self.key = self.label = self.time_text = self.clock_us = self.unit = self.source = None

    def end_table(self) -> None:
        """Where the steps of a table of DTrace are no powers of two, a bucket ends where the next one begins."""
        printed, self.printed = self.printed, []
        uppers = linear_uppers([(value, mark) for _, value, mark, _ in printed])
        for (place, _, mark, scale), upper in zip(printed, uppers, strict=False):
            if mark is None:
                row = self.rows[place]
                self.rows[place] = (*row[:7], upper, row[8], _times(upper, scale), *row[10:])

    @property
    def scale(self) -> float | None:
        """Nanoseconds in the unit of the table, where it is known."""
        return None if self.unit is None else nanoseconds_in(self.unit)

    def add(self, line: int, lower: float | None, upper: float | None, count: int) -> None:
        """A bucket of the table."""
        self.counted += count
        self.since_mean += count
        self.heads.clear()
        scale = self.scale
        ns = [_times(end, scale) for end in (lower, upper)]
        self.rows.append(
            (
                self.number, self.key, self.label, self.time_text, self.clock_us, self.unit, lower, upper, *ns, count,
                self.in_record or self.kind == "dtrace", None, line,
            )
        )  # fmt: skip


def _times(end: float | None, scale: float | None) -> float | None:
    return None if end is None or scale is None else end * scale


def kind_of_line(line: str) -> str | None:
    """The terminal that describes a line; None where none does."""
    return next((name for name, pattern in _PATTERNS if pattern.match(line)), None)


def sign_of_histogram(lines: list[str]) -> int | None:
    """The first line that only a histogram has, counted from 1."""
    sure = [pattern for name, pattern in _PATTERNS if name.endswith("_HEADING") or name in {"BEGIN", "BRACKET_ROW"}]
    found = (number for number, line in enumerate(lines, 1) if any(each.match(line.rstrip()) for each in sure))
    return next(found, None)


def read_histograms(source: Source) -> LatencyHistograms:
    r"""The latency histograms of a log of DTrace, SystemTap, bcc, perf-tools, bpftrace or PyLatencyMap.

    Args:
        source: a path, bytes, a file object.

    Raises:
        LogParseError: the log holds no histogram.

    Examples:
        >>> read = read_histograms(b"     usecs : count     distribution\n   128 -> 255 : 25 |****|\n")
        >>> read.buckets.select("lower", "upper", "lower_ns", "upper_ns", "count").row(0)
        (128.0, 256.0, 128000.0, 256000.0, 25)
    """
    log = open_log(source)
    state = _State()
    lines = numbered_lines(log, sign_of_histogram)
    state.notes += [*repeated(log.name, lines), *open_end(log, lines)]
    for number, line in lines:
        _read_line(log.name, state, number, line)
    _flush(log.name, state)
    _without_buckets(log.name, state)
    state.end_table()
    if not state.rows:
        raise LogParseError("no histogram found", source=log.name, expected="a table of counts by latency")
    buckets = with_deltas(pl.DataFrame(state.rows, schema=HISTOGRAMS, orient="row"))
    notes = diagnostics_frame([*log.notes, *state.notes, *missing_buckets(log.name, buckets, state.elided)])
    means = pl.DataFrame(state.means, schema=MEANS, orient="row")
    return LatencyHistograms(log.name, "+".join(sorted(state.kinds)), buckets, means, notes)


def _flush(name: str, state: _State) -> None:
    """A line that might have been the key of a table is not one."""
    if state.waiting is not None:
        state.notes.append(
            Diagnostic(name, *state.waiting[:1], None, "unparsed", state.waiting[1], "not part of a histogram")
        )
        state.waiting = None


def _without_buckets(name: str, state: _State) -> None:
    """Figures of a head below which no bucket stands are in no frame."""
    state.notes += [
        Diagnostic(name, number, None, "unparsed", line, "no bucket stands below it")
        for number, line in state.heads.values()
        if next(numbers_of_line(line), None) is not None
    ]
    state.heads.clear()


def _read_line(name: str, state: _State, number: int, line: str) -> None:
    if not line.strip():
        if state.in_table and not state.in_record:
            state.in_table, state.key = False, None  # a key stands right above its table
        return
    kind = kind_of_line(line)
    if kind is None or (kind == "PAIR" and not state.in_record):
        _flush(name, state)
        state.waiting = (number, line)
        return
    if kind == "QUANTIZE_HEADING" and state.waiting is not None:
        state.key = " ".join(state.waiting[1].replace("\\0", "").split())  # DTrace prints the key above its table
        state.waiting = None
    elif kind != "ELIDED":
        _flush(name, state)
    if kind in _HEADS:
        what = line.partition(",")[0].strip() if kind == "FIELD" else kind
        if what in state.heads or kind == "BEGIN":
            _without_buckets(name, state)
        state.heads[what] = (number, line)
    match kind:
        case "BEGIN":
            state.begin_record()
        case "END":
            state.in_record = state.in_table = False
        case "FIELD":
            _read_field(name, state, number, line)
        case "CLOCK":
            state.time_text = line.strip().rstrip(":")
        case "KEY":
            state.key = line.partition("=")[2].strip().strip("'")
        case "MAP_KEY":
            state.start("bpftrace")
            state.key = line[1:-1] or None
            state.unit = unit_in(line)
        case "ARROW_HEADING" | "BOUNDS_HEADING":
            state.is_exclusive = kind == "BOUNDS_HEADING"
            state.start("perf_tools" if state.is_exclusive else "bcc")
            state.unit = unit_in(line)
        case "QUANTIZE_HEADING":
            state.start("pylatencymap" if state.in_record else "dtrace")
            state.unit = state.unit if state.in_record else unit_in_brackets(state.key or "")
        case "MEAN":
            _read_mean(name, state, number, line)
        case "DOCUMENT":
            _read_document(name, state, number, line)
        case "ELIDED":
            state.elided.append(number)
        case "NOTICE":
            pass
        case _:
            _read_bucket(name, state, number, line, kind)


def _read_mean(name: str, state: _State, number: int, line: str) -> None:
    """The mean, the sum and the number of what the table above it counts, or the tables of all functions."""
    said = _MEAN.match(line)
    if said is None:
        return
    figures = (float(said["mean"]), float(said["total"]), int(said["count"]))
    state.means.append((state.number, said["unit"], *figures, number))
    if figures[2] not in {state.counted, state.since_mean}:
        reason = f"the buckets above add up to {state.counted}"
        state.notes.append(Diagnostic(name, number, None, "sum", line, reason))
    state.since_mean = 0


def _read_field(name: str, state: _State, number: int, line: str) -> None:
    """A field of a record of PyLatencyMap."""
    if state.in_record and state.in_table:
        reason = "a field of a record below buckets; the lines between two records are missing"
        state.notes.append(Diagnostic(name, number, None, "contradiction", line, reason))
        state.begin_record()
    word, _, rest = line.partition(",")
    rest = rest.strip()
    match word.strip():
        case "timestamp":
            unit, _, more = rest.partition(",")
            clock, _, text = more.partition(",")
            state.clock_us = whole_number(clock) if unit.strip() == "microsec" else None
            state.time_text = text.strip() or None
            if state.clock_us is None:
                state.notes.append(Diagnostic(name, number, None, "unparsed", line, "no clock in microseconds"))
        case "latencyunit":
            state.unit = rest
            if state.scale is None:
                state.notes.append(Diagnostic(name, number, None, "unparsed", line, "no unit of time that is known"))
        case "label":
            state.label = rest
        case _:
            state.source = rest.lower() if SOURCE.fullmatch(rest.lower()) else None


def _read_bucket(name: str, state: _State, number: int, line: str, kind: str) -> None:
    """One bucket, by the form of its row."""
    if kind == "PAIR":
        if not state.in_table:
            state.start("pylatencymap")
        value, count = (int(cell) for cell in line.split(","))
        is_upper = state.source == "oracle" or (state.source is None and "event_histogram" in (state.label or ""))
        if is_upper:
            state.add(number, 0.0 if value <= 1 else value / 2, float(value), count)
        elif state.source is not None:
            state.add(number, float(value), value * 2.0 if value else 1.0, count)
        else:
            state.add(number, None, None, count)
            reason = "the record does not say whether its numbers are lower or upper ends of buckets"
            state.notes.append(Diagnostic(name, number, None, "contradiction", line, reason))
        return
    if not state.in_table:
        reason = "a bucket without a heading above it"
        state.notes.append(Diagnostic(name, number, None, "unparsed", line, reason))
        return
    if kind == "ARROW_ROW" and (row := _ROW.match(line)):
        end = int(row["upper"]) + (0 if state.is_exclusive else 1)
        state.add(number, float(row["lower"]), float(end), int(row["count"]))
    elif kind == "BRACKET_ROW" and (row := _BRACKET.match(line)):
        lower, upper = amount_of(row["lower"]), amount_of(row["upper"] or row["lower"])
        state.add(number, lower, upper + 1 if upper is not None and row["upper"] is None else upper, int(row["count"]))
    elif row := _QUANTIZE.match(line):
        state.printed.append((len(state.rows), int(row["value"]), row["end"], state.scale))
        state.add(number, *ends_of(int(row["value"]), row["end"]), int(row["count"]))


def _read_document(name: str, state: _State, number: int, line: str) -> None:
    try:
        tables = tables_of(line)
    except ValueError:
        state.notes.append(Diagnostic(name, number, None, "unparsed", line[:200], "not part of a histogram"))
        return
    for table in tables:
        state.start(table.tool)
        state.unit, state.key = table.unit, table.key
        state.time_text = table.time if table.tool == "bcc" else state.time_text
        for bucket in table.buckets:
            state.add(number, *bucket)
    state.in_table = False


#: Lines that say something of the table below them.
_OF_TABLE: Final = ("FIELD", "CLOCK", "KEY", "MAP_KEY", "ARROW_HEADING")
#: Kinds of lines that print the upper end of a bucket -> how far it is beyond what is printed.
_BEYOND: Final = {"ARROW_ROW": 1.0, "BRACKET_ROW": 0.0, "DOCUMENT": 1.0, "PAIR": 0.0}
#: Columns of what stands above a table.
_ABOVE: Final = dict.fromkeys(("clock_us", "time_text", "key", "label", "unit"), 1.0)
_SCORE: Final = 0.85


def _sniff(head: Head) -> Sniff | None:
    """Whether a log holds a latency histogram, by the heading of one."""
    if "|" not in head.text and "<begin record>" not in head.text:
        return None
    line = sign_of_copy(head.text.split("\n"), sign_of_histogram)
    return None if line is None else Sniff(_SCORE, "a latency histogram", line=line)


def _places(parsed: LatencyHistograms, source: Source) -> list[Part]:
    """The text of latency histograms, with buckets and means by line.

    Lines above a table (time, key, unit) are of its first bucket.  After an arrow and in JSON stands the largest whole
    number within the bucket, which is one less than its end, unless the heading says otherwise.
    """
    copied, lines = lines_as_read(open_log(source), sign_of_histogram)
    kinds = [kind_of_line(line.rstrip()) for line in lines]
    beyond = {**_BEYOND, "ARROW_ROW": 0.0} if "BOUNDS_HEADING" in kinds else _BEYOND
    less = [beyond.get(kinds[line - 1] or "") for line in parsed.buckets["line"]]
    buckets = parsed.buckets.with_columns(upper=pl.col("upper") - pl.Series(less, dtype=pl.Float64))
    frames = {"buckets": buckets.drop("lower_ns", "upper_ns", "histogram"), "means": parsed.means}
    part = by_line("\n".join(lines), frames, is_row=is_tabular)
    part.place = place_in_copy(copied, lines)
    part.separator = "," if "pylatencymap" in parsed.kind else ""
    claimed = set(part.claims)
    first = dict(reversed([(line, row) for row, line in enumerate(buckets["line"].to_list())]))
    below: int | None = None
    for number in range(len(lines), 0, -1):
        below = first.get(number, below)
        kind = None if number in claimed else kinds[number - 1]
        if kind in _OF_TABLE and below is not None:
            part.claim(number, Claim("buckets", below, _ABOVE))
        if kind in _OF_TABLE or kind == "MEAN":
            part.statuses[number] = "lost"
    return [part]


FORMAT: Final = Format(
    name="latency_histogram", title="a latency histogram", sniff=_sniff, read=read_histograms, places=_places
)
