"""Runs: where, when and by what command the samples of a stretch of a log were taken."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import polars as pl
from lark import Token, Tree
from lark.exceptions import UnexpectedInput

from hostparse.clocks import GRAMMAR as TIMES
from hostparse.clocks import Order, date_of, date_order, long_moment, read_stamps, second_of
from hostparse.lines import OPENING, OPENS, TEXT, is_kind
from logframe import Diagnostic
from logframe.moments import moment
from logframe.printed import whole_number

if TYPE_CHECKING:
    import datetime as dt

    from hostparse.clocks import DateOrder

#: The rules of ``opening.lark`` that a line of each kind may be.
_RULES: Final = {
    "banner": ("banner",),
    "opening": ("zzz", "exawatcher"),
    "collector": ("field", "osw"),
    "configuration": ("configuration",),
    "restart": ("restart",),
}


@dataclass(frozen=True)
class Run:
    """One stretch of a log whose counters, date and host are the same.

    Attributes:
        run: number within the log, from 0.
        line: the line it starts with.
        collector: ``oswatcher``, ``exawatcher`` or None.
        system: ``Linux``, ``SunOS``, ``HP-UX``, ``AIX`` or None.
        release: of the system's kernel.
        host: as printed.
        cpus: number of processors.
        day: the date in the banner.
        opened_at: wall clock at which the collector started it.
        zone: name or offset of the zone of the times, as printed; names such as EST and CST are ambiguous.
        interval_s: seconds between samples, where the collector's head or line says it.
        command: of the tool, where the collector's head says it.
        restarted_s: second of the day at which the system started, where the run begins with a restart.
        settings: what AIX prints as its configuration, or OSWatcher in its head.
    """

    run: int
    line: int
    collector: str | None = None
    system: str | None = None
    release: str | None = None
    host: str | None = None
    cpus: int | None = None
    day: dt.date | None = None
    opened_at: dt.datetime | None = None
    zone: str | None = None
    interval_s: float | None = None
    command: str | None = None
    restarted_s: int | None = None
    settings: str | None = None

    @property
    def base_day(self) -> dt.date | None:
        """The date of the first sample, where the log says it."""
        return self.opened_at.date() if self.opened_at is not None else self.day


RUNS: Final = pl.Schema(
    {
        "run": pl.UInt32(),
        "line": pl.UInt32(),
        "collector": pl.String(),
        "system": pl.String(),
        "release": pl.String(),
        "host": pl.String(),
        "cpus": pl.Int64(),
        "day": pl.Date(),
        "opened_at": pl.Datetime("us"),
        "zone": pl.String(),
        "interval_s": pl.Float64(),
        "command": pl.String(),
        "restarted_s": pl.Int64(),
        "settings": pl.String(),
    }
)


@dataclass(frozen=True)
class Runs:
    """The runs of a log, and the order of the parts of its dates."""

    runs: tuple[Run, ...]
    order: Order

    def frame(self) -> pl.DataFrame:
        """One row a run; the columns are the attributes of `Run`."""
        rows = [tuple(getattr(run, name) for name in RUNS) for run in self.runs]
        return pl.DataFrame(rows, schema=RUNS, orient="row")


def read_runs(marks: pl.DataFrame, order: DateOrder, before: Run | None) -> tuple[Run, ...]:
    """The runs of a piece of a log.

    Args:
        marks: ``line``, ``text``, ``kind``, ``run`` and ``opens`` (it starts a run) of the lines between its rows.
        order: of the parts of dates.
        before: the run that goes on at its beginning.
    """
    opening = marks.filter(pl.col("opens") | is_kind("configuration"))
    parsed = [_parsed(kind, text) for kind, text in opening.select("kind", "text").iter_rows()]
    runs: list[Run] = [] if before is None else [replace(before, run=0)]
    times = _times(opening, parsed, order)
    for (line, number), said, at in zip(opening.select("line", "run").iter_rows(), parsed, times, strict=True):
        while len(runs) <= number:
            runs.append(Run(len(runs), line if len(runs) == number else 1))
        new = {key: value for key, value in {**said, **at}.items() if key in RUNS and value is not None}
        runs[number] = replace(runs[number], **new)
    runs = runs or [Run(0, 1)]
    for number in range(1, len(runs)):
        runs[number] = _completed(runs[number], runs[number - 1])
    return tuple(runs)


def dates_of(marks: pl.DataFrame) -> tuple[list[str], list[str], bool]:
    """The dates of opening lines and of stamps (``text`` and ``kind``), and whether a clock has twelve hours."""
    opening = marks.filter(is_kind(*OPENS, "configuration")).select("kind", "text").unique(maintain_order=True)
    parsed = [_parsed(kind, text) for kind, text in opening.iter_rows()]
    pattern = TIMES.pattern("^({PART}{MARK}{PART}{MARK}{PART})")
    stamps = marks.filter(is_kind("stamp")).get_column("text").str.extract(pattern).drop_nulls()
    halves = TIMES.pattern("{SIXTY}:{SIXTY}{GAP}{HALF}")
    has_halves = marks.filter(is_kind("stamp", "words"), TEXT.str.contains(halves)).height > 0
    opened = [*dict.fromkeys(found["date"] for found in parsed if "date" in found)]
    return opened, stamps.unique().to_list(), has_halves


def order_of(opened: list[str], stamped: list[str], *, has_halves: bool, said: DateOrder | None) -> Order:
    """The order of the parts of the dates of a log, from what `dates_of` finds."""
    if said:
        return Order(said, is_assumed=False)
    return date_order([*opened, *sorted(stamped)], twelve_hours=has_halves)


def _completed(run: Run, before: Run) -> Run:
    """A restart, and a collection after the first one, do not describe the host: it is the one before."""
    if run.host is not None or (run.collector is None and run.restarted_s is None):
        return run
    kept = ("collector", "system", "release", "host", "cpus", "day", "interval_s", "command")
    return replace(run, **{name: getattr(before, name) for name in kept if getattr(run, name) is None})


def _times(opening: pl.DataFrame, parsed: list[dict[str, Any]], order: DateOrder) -> list[dict[str, Any]]:
    """The dates and times in the opening lines."""
    found: list[dict[str, Any]] = []
    dates = opening.filter(is_kind("date"))
    dated = read_stamps(dates, order).select("time", "zone").iter_rows() if dates.height else iter(())
    for (kind, text), said in zip(opening.select("kind", "text").iter_rows(), parsed, strict=True):
        day = date_of(said["date"], order) if "date" in said else None
        second = second_of(said["clock"]) if "clock" in said else None
        at = moment(day, second)
        if kind == "banner":
            found.append({"day": day})
        elif kind == "restart":
            found.append({"restarted_s": second})
        elif kind == "opening" and at is not None:
            found.append({"opened_at": at})
        elif kind == "opening":
            time = long_moment(text)
            found.append({"opened_at": time["time"], "zone": time["zone"]})
        elif kind == "date":
            at, zone = next(dated)
            found.append({"opened_at": at, "zone": zone})
        else:
            found.append({})
    return found


@lru_cache(maxsize=4096)
def _tree(rule: str, text: str) -> Tree[Token] | None:
    try:
        return OPENING.parse(text, start=rule)
    except UnexpectedInput:
        return None


def unread_heads(name: str, marks: pl.DataFrame) -> list[Diagnostic]:
    """Lines that begin a run, or say what it runs on, of which nothing is read."""
    heads = marks.filter(is_kind("banner", "restart", "configuration")).select("line", "kind", "text")
    reason = "the head of a run is damaged: nothing of it is read"
    return [
        Diagnostic(name, line, None, "unparsed", text, reason)
        for line, kind, text in heads.iter_rows()
        if _read(kind, text) is None
    ]


def _parsed(kind: str, text: str) -> dict[str, Any]:
    """What an opening line says: attributes of `Run`, and ``date`` and ``clock`` as printed."""
    found = _read(kind, text)
    if found is not None:
        return _said(*found)
    return {"collector": "oswatcher"} if kind == "opening" else {}


def _read(kind: str, text: str) -> tuple[str, Tree[Token]] | None:
    """The rule that an opening line follows, and its parts."""
    trees = ((rule, _tree(rule, text.strip())) for rule in _RULES.get(kind, ()))
    return next(((rule, tree) for rule, tree in trees if tree is not None), None)


def _said(rule: str, tree: Tree[Token]) -> dict[str, Any]:
    words: dict[str, list[str]] = {}
    for token in tree.scan_values(lambda value: isinstance(value, Token)):
        words.setdefault(token.type, []).append(str(token))
    first = {name: values[0] for name, values in words.items()}
    rest = first.get("REST", "").strip()
    match rule:
        case "banner":
            said: dict[str, Any] = {"date": first["DATE"], "cpus": _count(first.get("CPUS"))}
            if "LINUX" in first:
                host, release = first["HOST_IN_BRACKETS"].strip("()"), words["WORD"]
            else:
                host, *release = words["WORD"]
            return {**said, "host": host, "system": first.get("SYSTEM", "Linux"), "release": " ".join(release)}
        case "zzz":
            numbers = words["NUMBER"]
            return {"collector": "oswatcher", "interval_s": whole_number(numbers[1]) if len(numbers) > 1 else None}
        case "exawatcher":
            return {"collector": "exawatcher", "date": first["DATE"], "clock": first["CLOCK"]}
        case "restart":
            return {"clock": first["CLOCK"], "cpus": _count(first.get("CPUS"))}
        case "configuration":
            return {"settings": rest}
        case "osw":
            is_step = first["OSW_NAME"].strip() == "SNAP_INTERVAL"
            return {"collector": "oswatcher", "settings": f"SNAP_INTERVAL {rest}" if is_step else None}
    name = first.get("FIELD_NAME", "").strip("#: ")
    step = whole_number(rest) if name == "Sample Interval(s)" else None
    return {"collector": "exawatcher", "command": rest if name == "Collection Command" else None, "interval_s": step}


def _count(text: str | None) -> int | None:
    return None if text is None else whole_number(text.strip("( CPU)"))
