"""Two kinds of evidence side by side: a report against a report, and the database against the system calls.

`align_reports` compares two AWR or Statspack reports as rates and ratios with bounds.  `align_trace` puts what the
database counted beside what `strace` saw of the same reads, and says whether a difference is explained.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from awrparse import AwrReport
from iolab.metrics import average_waits, contradictions, db_time, elapsed, figure_of, total_waits
from iolab.metrics.awr import key_of, narrow_waits
from iolab.metrics.lookups import db_time_of, elapsed_of, statistic
from iolab.metrics.times import nanoseconds
from iolab.metrics.trace_reads import data_reads
from logframe.errors import RefusedError
from logframe.interval import Interval, intersect, row_figure, show

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from logframe.interval import Figure
    from sqlplusparse import Spool

#: Periods whose lengths differ by more than this are compared by rates only.
SAME_LENGTH: Final = 0.01
#: Figures of the database and of the trace within this of each other agree.
SAME_READS: Final = 0.01

_FIGURES: Final = ("a", "a_lo", "a_hi", "b", "b_lo", "b_hi", "ratio", "ratio_lo", "ratio_hi")
#: Columns of the frames of `ReportAlignment`, after the one that names the event or class.
ALIGNED: Final = pl.Schema(
    {"status": pl.String(), "quantity": pl.String(), "unit": pl.String()} | dict.fromkeys(_FIGURES, pl.Float64())
)
_TRACE_FIGURES: Final = tuple(f"{side}{end}" for side in ("database", "trace", "ratio") for end in ("", "_lo", "_hi"))
#: Columns of `align_trace`.
TRACED: Final = pl.Schema(
    {"quantity": pl.String(), "unit": pl.String()}
    | dict.fromkeys(_TRACE_FIGURES, pl.Float64())
    | {"verdict": pl.String(), "explanation": pl.String(), "database_basis": pl.String()}
)

_UNITS: Final = {"waits_per_s": "1/s", "avg_wait_ms": "ms", "waiting_sessions": "sessions", "db_time_share": "ratio"}


@dataclass(frozen=True, slots=True)
class ReportAlignment:
    """Two reports side by side.

    Attributes:
        names: what the two are called, ``a`` first.
        events: top events, one row an event and quantity (`ALIGNED`).
        classes: wait classes, likewise.
        intervals: length and DB time of both periods, and their ratio: ``quantity``, then the figures of `ALIGNED`.
        notes: what to know before the two are compared, one sentence each.
    """

    names: tuple[str, str]
    events: pl.DataFrame
    classes: pl.DataFrame
    intervals: pl.DataFrame
    notes: tuple[str, ...]

    @property
    def appeared(self) -> list[str]:
        """The events that only the second report has."""
        return self._with_status("appeared")

    @property
    def vanished(self) -> list[str]:
        """The events that only the first report has."""
        return self._with_status("vanished")

    def _with_status(self, status: str) -> list[str]:
        rows = self.events.filter(pl.col("status") == status)
        return rows.get_column("event").unique(maintain_order=True).to_list()

    def __str__(self) -> str:
        a, b = self.names
        lines = [f"{a} against {b}"]
        for row in self.intervals.iter_rows(named=True):
            sides = [show(figure) if (figure := row_figure(row, side)) else "not known" for side in ("a", "b")]
            lines.append(f"  {row['quantity']}: {a} {sides[0]}, {b} {sides[1]}")
        for title, events in ((f"only in {a}", self.vanished), (f"only in {b}", self.appeared)):
            if events:
                lines.append(f"  {title}: {', '.join(events)}")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def align_reports(
    a: AwrReport,
    b: AwrReport,
    *,
    names: tuple[str, str] = ("a", "b"),
    elapsed_s: tuple[Figure, Figure] = (None, None),
) -> ReportAlignment:
    """Two reports, or two settings, side by side: events and classes as rates, averages and their ratios, with bounds.

    Counts are never compared: each is divided by the length of its period, which is the header's, or inferred from the
    classes' time and average active sessions (`iolab.metrics.elapsed`), or both intersected.

    Args:
        a: a report.
        b: the other one.
        names: what to call them.
        elapsed_s: lengths of the periods, where you know better.

    Returns:
        A `ReportAlignment`.  Quantities: ``waits_per_s`` (1/s), ``avg_wait_ms`` (ms), ``waiting_sessions`` (time waited
        a second), ``db_time_share`` (ratio).  ``ratio`` is b / a.  ``status`` is ``both``, ``appeared`` (in b only) or
        ``vanished`` (in a only): a list of top events leaves others out, so a missing event is not zero.
    """
    sides = [_Side(report, given) for report, given in zip((a, b), elapsed_s, strict=True)]
    notes = [note for side, name in zip(sides, names, strict=True) for note in side.notes(name)]
    lengths = _pair(sides[0].elapsed, sides[1].elapsed)
    times = _pair(sides[0].db_time, sides[1].db_time)
    notes += _check_lengths(sides, names)
    notes += _check_heads(a, b, names)
    intervals = pl.DataFrame(
        [{"quantity": "elapsed_s", **lengths}, {"quantity": "db_time_s", **times}],
        schema={"quantity": pl.String(), **dict.fromkeys(_FIGURES, pl.Float64())},
    )
    return ReportAlignment(
        names,
        _align("event", "top_events", sides),
        _align("wait_class", "wait_classes", sides),
        intervals,
        tuple(dict.fromkeys(notes)),
    )


class _Side:
    """One report's figures, looked up once."""

    def __init__(self, report: AwrReport, given: Figure) -> None:
        self.tables = {name: report.with_bounds(name) for name in ("top_events", "wait_classes")}
        self.tables["top_events"] = narrow_waits(self.tables["top_events"], report.with_bounds("foreground_events"))
        self.header = elapsed_of(report)
        self.inferred = figure_of(elapsed(self.tables["wait_classes"]))
        self.inferred_db_time = figure_of(db_time(*self.tables.values()))
        self.header_db_time = db_time_of(report)
        known_times = [one for one in (self.header_db_time, self.inferred_db_time) if one is not None]
        self.contradicts_db_time = False
        try:
            self.db_time = intersect(known_times) if known_times else None
        except RefusedError:
            self.contradicts_db_time = True
            self.db_time = self.header_db_time
        self.given = None if given is None else Interval.of(given)
        self.contradicts = False
        known = [self.given] if self.given else [one for one in (self.header, self.inferred) if one is not None]
        try:
            self.elapsed = intersect(known) if known else None
        except RefusedError:
            self.contradicts = True
            self.elapsed = self.header

    def notes(self, name: str) -> Iterator[str]:
        """What is odd about the report by itself."""
        if self.contradicts and self.header and self.inferred:
            yield (
                f"{name}: the header says {show(self.header)} s, time and average active sessions of the classes "
                f"{show(self.inferred)} s; the header is taken"
            )
        if self.contradicts_db_time and self.header_db_time and self.inferred_db_time:
            yield (
                f"{name}: the header says {show(self.header_db_time)} s of DB time, times and shares of the rows "
                f"{show(self.inferred_db_time)} s; the header is taken"
            )
        if self.elapsed is None:
            yield f"{name}: the length of the period is not known: no rates; give it with elapsed_s="
        elif self.header is None and self.given is None:
            yield f"{name}: the length of the period, {show(self.elapsed)} s, is inferred from the classes"
        for sentence in contradictions(*self.tables.values()):
            yield f"{name}: {sentence}"
        events = self.tables["top_events"].get_column("event")
        if events.n_unique() < events.len():
            yield f"{name}: the report shows events by instance; the first row of each is compared"

    def quantities(self, table: str) -> dict[str, dict[str, Interval]]:
        """Event or class -> quantity -> figure."""
        frame = self.tables[table]
        key = key_of(frame)
        averages, times = (_by_key(metrics, key) for metrics in (average_waits(frame), total_waits(frame)))
        found: dict[str, dict[str, Interval]] = {}
        for row in frame.iter_rows(named=True):
            name = row[key]
            if name is None or name in found:
                continue
            figures = found[name] = {}
            waits, share = row_figure(row, "waits"), row_figure(row, "db_time_pct")
            time = times.get(name, row_figure(row, "total_wait_s"))
            if name in averages:
                figures["avg_wait_ms"] = averages[name]
            if share is not None:
                figures["db_time_share"] = share / 100
            if self.elapsed is not None and self.elapsed.lo > 0:
                if waits is not None:
                    figures["waits_per_s"] = waits / self.elapsed
                if time is not None:
                    figures["waiting_sessions"] = time / self.elapsed
        return found


def _by_key(metrics: pl.DataFrame, key: str) -> dict[str, Interval]:
    known = metrics.filter(pl.col("value").is_not_null()).unique(key, keep="first", maintain_order=True)
    return {name: Interval(value, lo, hi) for name, value, lo, hi in known.select(key, "value", "lo", "hi").iter_rows()}


def _align(key: str, table: str, sides: list[_Side]) -> pl.DataFrame:
    a, b = (side.quantities(table) for side in sides)
    rows = []
    for name in dict.fromkeys([*a, *b]):
        status = "both" if name in a and name in b else "vanished" if name in a else "appeared"
        for quantity, unit in _UNITS.items():
            one, two = a.get(name, {}).get(quantity), b.get(name, {}).get(quantity)
            if one is not None or two is not None:
                row = {key: name, "status": status, "quantity": quantity, "unit": unit}
                rows.append(row | _pair(one, two))
    return pl.DataFrame(rows, schema={key: pl.String(), **ALIGNED})


def _pair(a: Interval | None, b: Interval | None) -> dict[str, object]:
    """Both figures and b / a; null where one is missing or may be zero."""
    ratio = None
    if a is not None and b is not None and a.lo > 0:
        ratio = b / a
    return {
        f"{side}{end}": None if figure is None else getattr(figure, field)
        for side, figure in (("a", a), ("b", b), ("ratio", ratio))
        for end, field in (("", "value"), ("_lo", "lo"), ("_hi", "hi"))
    }


def _check_lengths(sides: list[_Side], names: tuple[str, str]) -> Iterator[str]:
    a, b = (side.elapsed for side in sides)
    if a is None or b is None or a.lo <= 0:
        return
    ratio = b / a
    if ratio.hi < 1 - SAME_LENGTH or ratio.lo > 1 + SAME_LENGTH:
        yield (
            f"the periods have different lengths: {names[0]} {a.lo:,.0f}-{a.hi:,.0f} s, "
            f"{names[1]} {b.lo:,.0f}-{b.hi:,.0f} s; compare rates, not counts"
        )
    elif ratio.lo < 1 - SAME_LENGTH or ratio.hi > 1 + SAME_LENGTH:
        yield "rounding does not tell whether the periods have the same length; compare rates, not counts"


def _check_heads(a: AwrReport, b: AwrReport, names: tuple[str, str]) -> Iterator[str]:
    for field, what in (
        ("db_name", "database"),
        ("instance", "instance"),
        ("container", "pluggable database"),
        ("release", "release"),
        ("host", "host"),
        ("cpus", "number of CPUs"),
        ("form", "form of the report"),
    ):
        one, two = getattr(a.info, field), getattr(b.info, field)
        if field != "form" and one is not None and two is not None and one != two:
            yield f"the {what} differs: {names[0]} {one}, {names[1]} {two}"
    if "fragment" in {a.kind, b.kind}:
        yield "of at least one report there is a fragment only: database, host and period are the author's word"


def align_trace(
    database: AwrReport | Spool, requests: pl.DataFrame, *, block_size: int = 8192, statement: int | None = None
) -> pl.DataFrame:
    """What the database counted beside what `strace` saw: requests, blocks, bytes, single- and multi-block reads, time.

    A session's figures (autotrace, session statistics) and the trace of its process should agree.  A report counts all
    sessions of its instance, and a trace one process for as long as it was attached: then the trace is a part.

    Args:
        database: what `awrparse.read_awr` or `sqlplusparse.read_spool` gives.
        requests: what `straceparse.io_requests` gives; `iolab.metrics.data_reads` is applied here.
        block_size: bytes in a block of the database.
        statement: the statement of a spool, where autotrace shows several.

    Returns:
        The columns `TRACED`, one row a quantity that both sides can tell: ``database`` and ``trace`` with bounds,
        ``ratio`` (trace / database), and a ``verdict``: `agrees` (within 1 % or within the bounds), `part` (less than
        the whole instance did, as expected), `differs`; ``explanation`` names the causes to look for.
    """
    reads = data_reads(requests).filter(pl.col("bytes_transferred").is_not_null())
    size = pl.col("bytes_transferred")
    single, multi = reads.filter(size == block_size), reads.filter((size > block_size) & (size % block_size == 0))
    is_report = isinstance(database, AwrReport)
    waits = _wait_figures(database) if isinstance(database, AwrReport) else {}

    def look_up(name: str) -> Interval | None:
        return statistic(database, name, statement=statement)

    total = int(reads.get_column("bytes_transferred").sum())
    sides: list[tuple[str, str, str, Interval | None, Interval | None]] = [
        _counted("requests", look_up, "physical read total IO requests", reads.height, "reads"),
        _counted("bytes", look_up, "physical read total bytes", total, "B"),
    ]
    if total % block_size == 0:
        sides.append(_counted("blocks", look_up, "physical reads", total // block_size, "blocks"))
    for name, rows, event in (
        ("single_block_reads", single, "db file sequential read"),
        ("multi_block_reads", multi, "db file scattered read"),
    ):
        count, time = waits.get(event, (None, None))
        if count is not None:
            sides.append((name, "reads", f"waits of {event}", count, Interval.exact(rows.height)))
        if time is not None:
            sides.append((f"{name}_time", "s", f"time of {event}", time, _time_of(rows)))
    found = [
        _traced(*side, is_report=is_report, has_async=not reads.filter(pl.col("mode") == "async").is_empty())
        for side in sides
        if side[3] is not None and side[4] is not None
    ]
    return pl.DataFrame(found, schema=TRACED)


def _counted(
    quantity: str, look_up: Callable[[str], Interval | None], name: str, traced: int, unit: str
) -> tuple[str, str, str, Interval | None, Interval | None]:
    return quantity, unit, name, look_up(name), Interval.exact(traced)


def _wait_figures(report: AwrReport) -> dict[str, tuple[Interval | None, Interval | None]]:
    """Number and time of each event's waits."""
    table = "foreground_events" if "foreground_events" in report else "top_events"
    frame = report.with_bounds(table)
    times = _by_key(total_waits(frame), "event")
    return {row["event"]: (row_figure(row, "waits"), times.get(row["event"])) for row in frame.iter_rows(named=True)}


def _time_of(reads: pl.DataFrame) -> Interval | None:
    """Time in synchronous reads; from ``-r`` between nothing and the gaps."""
    sync = reads.filter(pl.col("mode") == "sync")
    for column in ("latency", "gap"):
        if not sync.is_empty() and sync.get_column(column).null_count() < sync.height:
            times = sync.select(nanoseconds(column)).to_series()
            seconds = int(times.filter(times >= 0).sum()) / 1e9  # below zero, the clock was set back
            return Interval(seconds, seconds if column == "latency" else 0.0, seconds)
    return None


def _traced(
    quantity: str,
    unit: str,
    basis: str,
    database: Interval | None,
    trace: Interval | None,
    *,
    is_report: bool,
    has_async: bool,
) -> dict[str, object]:
    if database is None or trace is None:
        raise ValueError("both sides must be known")
    ratio = trace / database if database.lo > 0 else None
    overlaps = trace.lo <= database.hi and database.lo <= trace.hi
    is_near = ratio is not None and abs(ratio.value - 1) <= SAME_READS
    if overlaps or is_near:
        verdict, explanation = "agrees", ""
    elif trace.hi < database.lo and is_report:
        verdict = "part"
        explanation = (
            "the report counts every session of the instance for its period, the trace one process while attached"
        )
    elif trace.hi < database.lo:
        verdict = "differs"
        explanation = (
            "the trace began after the statement or ended before it; parallel servers read for it; "
            "cells answered a smart scan; statistics are the session's since its logon"
        )
    else:
        verdict = "differs"
        explanation = "the trace holds other statements, or reads of control files and other files that are not counted"
    if has_async and quantity.endswith("_reads"):
        explanation = "; ".join(
            filter(None, [explanation, "asynchronous reads are direct path reads, not these waits"])
        )
    if quantity.endswith("_time") and trace.lo == 0:
        explanation = "; ".join(filter(None, [explanation, "without -T the trace gives an upper bound"]))
    figures = {
        f"{side}{end}": None if figure is None else float(getattr(figure, field))
        for side, figure in (("database", database), ("trace", trace), ("ratio", ratio))
        for end, field in (("", "value"), ("_lo", "lo"), ("_hi", "hi"))
    }
    return {
        "quantity": quantity,
        "unit": unit,
        **figures,
        "verdict": verdict,
        "explanation": explanation,
        "database_basis": basis,
    }
