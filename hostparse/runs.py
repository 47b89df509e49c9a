"""Runs: where, when and by what command the samples of a stretch of a log were taken.

Lines start a run because of where they stand, as what they say may also stand within one.

* A **stamp** is the date of a run where several reports, a banner or nothing stand below it; ``-t`` and ``-T d`` print
  one above each report.  So is a line that holds a clock in a form that is not read.
* The **configuration** that AIX prints, and a **command**, start a run where a heading stands below them.
* The **heading of vmstat** is printed again on each screen.  It starts a run where it comes sooner than that, or
  where a line that is no row stands above it; not where the clocks of its rows (``-t``) go on in the same steps.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from hostparse.clocks import DAY_S, Order, date_of, date_order, long_moment, read_stamps, second_of, seconds_of_day
from hostparse.clocks import GRAMMAR as TIMES
from hostparse.lines import GRAMMAR, OPENING, OPENS, TEXT, is_kind, with_own_text
from logframe import Diagnostic
from logframe.moments import moment
from logframe.printed import whole_number

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator

    from lark import Token, Tree

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
        interval_s: seconds between samples, where the collector's head or line, or the command above, says it.
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


def stated_step(text: pl.Expr) -> pl.Expr:
    """The seconds between samples that a command states; null of other lines.

    Examples:
        >>> commands = pl.DataFrame({"text": ["$ vmstat 5 60", "$ vmstat -s"]})
        >>> commands.select(stated_step(pl.col("text"))).to_series().to_list()
        [5.0, None]
    """
    numbers = "{GAP}({SECONDS_OR_COUNT})(?:{GAP}{SECONDS_OR_COUNT})?$"
    return text.str.extract(GRAMMAR.pattern("{TOOL_AND_OPTIONS}" + numbers)).cast(pl.Float64)


def with_steps(runs: tuple[Run, ...], steps: dict[int, float]) -> tuple[Run, ...]:
    """The runs, those below a command with the seconds that it states."""
    found = list(runs)
    for line, step in steps.items():
        number = next((number for number, run in enumerate(found) if run.line > line), None)
        if number is not None and found[number].collector is None:
            found[number] = replace(found[number], interval_s=step)
    return tuple(found)


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
    from lark.exceptions import UnexpectedInput  # noqa: PLC0415 - many logs have no such line

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
    for token in tree.scan_values(lambda value: hasattr(value, "type")):
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
            settings = dict(word.split("=", 1) for word in rest.split() if "=" in word)
            # of a partition with an entitlement the figures are not of its logical processors
            return {"settings": rest, "cpus": None if "ent" in settings else _count(settings.get("lcpu"))}
        case "osw":
            key = first["OSW_NAME"].strip()
            settings_said = f"SNAP_INTERVAL {rest}" if key == "SNAP_INTERVAL" else None
            # CPU_CORES leaves out the threads of a core
            count = _count(rest) if key == "VCPUS" else None
            return {"collector": "oswatcher", "settings": settings_said, "cpus": count}
    name = first.get("FIELD_NAME", "").strip("#: ")
    step = whole_number(rest) if name == "Sample Interval(s)" else None
    return {"collector": "exawatcher", "command": rest if name == "Collection Command" else None, "interval_s": step}


def _count(text: str | None) -> int | None:
    return None if text is None else whole_number(text.strip("( CPU)"))


#: Rows between two headings of vmstat of a screen of 24 lines, or without one: procps 21, AIX and BSD 20, Solaris 19.
_SCREEN: Final = range(19, 23)
#: No screen is as low as this many rows.
_LOW: Final = 9
#: This many rows are kept for what comes after them; of more lines without them none is.
_KEPT: Final = 3
_MANY: Final = 1000


@dataclass
class RunStarts:
    """What was found up to a line; `add` takes the lines of a log batch by batch.

    Attributes:
        dates: lines of stamps that are the dates of runs, with the number of rows before each.
        starts: other lines that start runs, likewise.
        doubtful: lines of headings of vmstat that may start a run or not.
    """

    dates: dict[int, int] = field(default_factory=dict)
    starts: dict[int, int] = field(default_factory=dict)
    doubtful: list[int] = field(default_factory=list)
    _stamp: tuple[int, int] | None = None
    _is_read: bool = False
    _first: int | None = None
    _below: set[str] = field(default_factory=set)
    _is_vmstat: bool = False
    _several: int = 0
    _single: int = 0
    _head: tuple[int, int] | None = None
    _is_configuration: bool = False
    _other: int | None = None
    _heading: int | None = None
    _height: int | None = None
    _line: int = 0
    _rest: pl.DataFrame | None = None

    def add(self, lines: pl.DataFrame, *, is_last: bool = False) -> None:
        """Take more lines.

        Args:
            lines: ``line``, ``text``, ``kind`` and ``rows_before`` (the line itself among them).
            is_last: no lines come after them.
        """
        lines = lines if self._rest is None else pl.concat([self._rest, lines])
        rows = lines.select(is_kind("row")).to_series().arg_true()
        end = int(rows[-1]) if len(rows) >= _KEPT else 0
        if is_last or (not end and lines.height > _MANY):
            end = lines.height
        last, self._line = self._line, int(lines.item(end - 1, "line")) if end else self._line
        for line, kind, text, before, goes_on in self._special(lines, last, self._line):
            match kind:
                case "stamp" | "clock":
                    self._decide(before)
                    self._stamp, self._is_read = (line, before), kind == "stamp"
                    self._other = self._other if self._is_read else before
                case "configuration" | "command":
                    self._head, self._is_configuration = (line, before), kind == "configuration"
                case "words" | "vmstat":
                    self._words(line, text, before, is_vmstat=kind == "vmstat", goes_on=goes_on)
                case "opens":
                    self._begin(before)
                case _:
                    self._other = before
        if is_last and lines.height:
            self._decide(int(lines.item(-1, "rows_before")))
        self._rest = with_own_text(lines.slice(int(rows[-_KEPT]) if len(rows) >= _KEPT else end))

    def _special(self, lines: pl.DataFrame, last: int, end: int) -> Iterator[tuple[int, str, str, int, bool]]:
        """The lines after one and up to another that matter, what each may be, and whether clocks go on below it."""
        own = pl.col("line").is_between(last, end, closed="right")
        is_above = pl.col("is_above")
        is_row = is_kind("row") & GRAMMAR.matches(TEXT, "^{GAP}?{FIGURE}{GAP}{FIGURE}")
        kinds = {
            "opens": is_kind(*OPENS),
            "stamp": is_kind("stamp"),
            "configuration": is_kind("configuration"),
            "command": is_above & GRAMMAR.matches(TEXT, "^{COMMAND}$"),
            "vmstat": is_kind("words") & GRAMMAR.matches(TEXT, "^{VMSTAT_HEADING}$"),
            "words": is_kind("words"),
            "clock": is_above & ~is_row & GRAMMAR.matches(TEXT, "^{GAP}?[^ \t0-9].*{CLOCK}"),
            "other": is_above & ~is_row,
        }
        kind = pl.coalesce(pl.when(is_so).then(pl.lit(name)) for name, is_so in kinds.items())
        found = (
            lines.lazy()
            .filter(~is_kind("blank", "ruler"))
            .with_columns(is_kind("words").shift(-1).fill_null(value=True).alias("is_above"))
            .filter(own & (is_above | is_kind("words", "stamp", "configuration", *OPENS)))
            .select("line", kind.alias("kind"), "text", "rows_before")
            .filter(pl.col("kind").is_not_null())
            .collect()
        )
        there = set(found.get_column("kind"))
        left_out = set() if "vmstat" in there else {"other"}
        if self._stamp is None and self._head is None and not there & {"stamp", "clock", "configuration", "command"}:
            left_out.add("words")
        headings = {rows for _, kind, _, rows in found.iter_rows() if kind == "vmstat"}
        steps = _steps(lines, headings) if headings else set()
        for line, kind, text, rows in found.iter_rows():
            if kind not in left_out:
                yield line, kind, text, rows, kind == "vmstat" and rows in steps

    def _words(self, line: int, text: str, rows: int, *, is_vmstat: bool, goes_on: bool) -> None:
        """Take a heading, or the groups above one."""
        if self._head is not None and self._head[1] == rows:
            self._begin(rows)
            self.starts[self._head[0] if self._is_configuration else line] = rows
        self._head = None
        if text in self._below:
            self._decide(rows, is_again=True)
        if self._stamp is not None:
            self._below.add(text)
            self._first = self._first or line
            self._is_vmstat |= is_vmstat
        if is_vmstat:
            self._vmstat(line, rows, goes_on=goes_on)

    def _begin(self, rows: int) -> None:
        """A run begins."""
        self._decide(rows)
        self._several = self._single = 0
        self._heading = self._height = None

    def _decide(self, rows: int, *, is_again: bool = False) -> None:
        """Is the last stamp the date of a run?  Others of the run say so of one above a single report.

        Args:
            rows: before the line that shows where the lines below the stamp end.
            is_again: the same heading stands below the stamp once more.
        """
        if self._stamp is not None:
            line, above = self._stamp
            has_none = not self._below and rows == above
            is_several = is_again or (self._is_vmstat and rows > above + 1)
            self._several += is_several
            self._single += not is_several and not has_none
            if self._several >= self._single:
                if self._is_read:
                    self.dates[line] = above
                elif self._first is not None:
                    self.starts[self._first] = above
                self._height = None
                if self._heading is not None and self._heading < above:
                    self._heading = None
        self._first = None
        self._stamp, self._is_vmstat = None, False
        self._below.clear()

    def _vmstat(self, line: int, rows: int, *, goes_on: bool) -> None:
        """Does a heading of vmstat start a run?"""
        if self._heading is None:
            self._heading = rows
            return
        count, self._heading = rows - self._heading, rows
        if goes_on and count > 1:
            return
        if 0 < count <= _LOW or self._other == rows or (count and self._height is not None and count < self._height):
            self.starts[line] = rows
            self._height = None
        elif count in _SCREEN:
            self._height = count
        elif count and count != self._height:
            self.doubtful.append(line)


def _steps(lines: pl.DataFrame, headings: set[int]) -> set[int]:
    """The numbers of rows before headings of vmstat below which the clocks of the rows go on in the same steps."""
    near = {heading + place for heading in headings for place in (-1, 0, 1)}
    rows = lines.filter(is_kind("row") & pl.col("rows_before").is_in(list(near)))
    clock = TEXT.str.extract(TIMES.pattern("({HOUR}:{SIXTY}:{SIXTY})(?:{GAP}{ZONE})?$"))
    second = dict(rows.select("rows_before", seconds_of_day(clock)).drop_nulls().iter_rows())
    return {
        heading
        for heading in headings
        if {heading - 1, heading, heading + 1} <= second.keys()
        and (second[heading] - second[heading - 1]) % DAY_S == (second[heading + 1] - second[heading]) % DAY_S
    }
