"""Reading one report: AWR, Statspack, ASH, ADDM and compare-period, text or HTML, by content.

The slots of time of active session history get their day, as reports print the time of the day alone.  Sums that a
report states above its tables are checked: ``Captured SQL account for 89.3% of Total DB Time (s): 12,613``.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

import polars as pl

from awrparse.canonical import build_frames
from awrparse.documents import documents_of, is_known
from awrparse.info import AwrInfo, read_info, unread_labels
from awrparse.integrity import contradictions_of, problems_of
from awrparse.matching import MatchedTables
from awrparse.raw_tables import RawTables
from awrparse.records import Document, Problem
from awrparse.sniff import EMBEDDED
from awrparse.sniff import IDENTITY as IDENTITY_GRAMMAR
from awrparse.tables import IDENTITY, INFO, TABLES, VIEWS
from awrparse.text import lines as line_kinds
from logframe import Diagnostic, LogParseError, diagnostics_frame, open_log
from logframe.parsed_log import ParsedLog, TableNotFoundError, near
from logframe.printed import read_printed
from logframe.processes import paused_collection
from logframe.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from awrparse.records import PrintedTable
    from logframe import Log, Source
    from logframe.printed import DecimalMark


def slots_with_dates(activity: pl.DataFrame, begin: datetime | None) -> pl.DataFrame:
    """`ash_activity` with ``slot_begin``: slots follow each other, and the first holds the begin of the period.

    Args:
        activity: The table with ``slot_start`` and ``slot_s``.
        begin: Of the period; without it, and from a slot on whose time cannot be read, the dates stay null.

    Examples:
        >>> from datetime import datetime
        >>> slots = pl.DataFrame({"slot_start": ["23:58:00", "23:58:00", "00:00:00"], "slot_s": [120.0, 120.0, 60.0],
        ...     "slot_begin": [None, None, None]})
        >>> dated = slots_with_dates(slots, datetime(2026, 3, 1, 23, 58, 30))
        >>> [f"{one:%m-%d %H:%M}" for one in dated["slot_begin"]]
        ['03-01 23:58', '03-01 23:58', '03-02 00:00']
    """
    if begin is None or activity.is_empty():
        return activity
    clock = pl.col("slot_start").str.to_time("%H:%M:%S", strict=False)
    times = activity.select(of_day=clock.cast(pl.Duration("us")), length="slot_s")
    first, length = times.row(0)
    if first is None:
        return activity
    midnight = begin.replace(hour=0, minute=0, second=0, microsecond=0)
    if midnight + first + timedelta(seconds=length or 0.0) <= begin:
        midnight += timedelta(days=1)
    of_day = pl.col("of_day")
    is_known = of_day.is_not_null().cum_min()
    days = (of_day < of_day.shift(1)).fill_null(value=False).cum_sum()
    dated = times.select(
        slot_begin=pl.when(is_known).then(pl.lit(midnight) + of_day + pl.duration(days=days)).cast(pl.Datetime("us"))
    )
    return activity.with_columns(dated)


#: One row a sum: ``what`` is `pct` of ``of``, which is `seconds` where the line says so, with the bounds of rounding.
STATED: Final = pl.Schema(
    {
        "title": pl.String(),
        "what": pl.String(),
        "of": pl.String(),
        "pct": pl.Float64(),
        "pct_lo": pl.Float64(),
        "pct_hi": pl.Float64(),
        "seconds": pl.Float64(),
        "seconds_lo": pl.Float64(),
        "seconds_hi": pl.Float64(),
    }
)
_WHOLES: Final = ("total db time", "total cpu time", "total user i/o wait time")


def stated_sums(notes: Iterable[tuple[str, str]], decimal_mark: DecimalMark) -> pl.DataFrame:
    """The sums that the remarks above tables state (`STATED`).

    Args:
        notes: Title of each table, and a remark.
        decimal_mark: Of the report.

    Examples:
        >>> notes = [("Foreground Wait Class", "Captured Time accounts for 127.3% of Total DB time 601.61 (s)"),
        ...     ("Foreground Wait Class", "Total FG Wait Time: 522.90 (s) DB CPU time: 243.00 (s)"),
        ...     ("SQL ordered by Gets", "Captured SQL account for 3.2% of Total")]
        >>> stated_sums(notes, ".").select("what", "of", "pct", "seconds").rows()
        [('Time', 'Total DB time', 127.3, 601.61), ('FG Wait Time', None, None, 522.9), ('SQL', 'Total', 3.2, None)]
    """
    rows = [row for title, note in notes for row in _sums(title, note.replace("%", " % ").split(), decimal_mark)]
    return pl.DataFrame(rows, schema=STATED, orient="row")


def _sums(title: str, words: list[str], mark: DecimalMark) -> Iterator[tuple[object, ...]]:
    if words[:4] == ["Total", "FG", "Wait", "Time:"] and len(words) > 4:
        yield (title, "FG Wait Time", None, None, None, None, *_figure(words[4], mark))
    if words[:1] != ["Captured"] or "%" not in words[3:] or len(words) < 5:
        return
    place = words.index("%")
    after = words[place + 1 :]
    numbers = [word for word in after if word[:1].isdigit() or word[:1] in ".,"]
    whole = " ".join(word for word in after[1:] if word not in {*numbers, "(s)", "(s):"}).rstrip(":")
    seconds = numbers[-1] if numbers and whole.lower() in _WHOLES else ""
    yield (title, words[1], whole, *_figure(words[place - 1], mark), *_figure(seconds, mark))


def _figure(text: str, mark: DecimalMark) -> tuple[float | None, float | None, float | None]:
    one = read_printed(text, decimal=mark)
    return one.value, one.value if one.lo is None else one.lo, one.value if one.hi is None else one.hi


_SHUTDOWN: Final = re.compile(IDENTITY_GRAMMAR.pattern("{SHUTDOWN} ({SNAP_ID}) {AND} ({SNAP_ID})"))
_TOOL_ERROR: Final = re.compile(line_kinds.GRAMMAR.pattern("{TOOL_ERROR}"))

#: The canonical tables that say where and when the report was taken.
HEAD_TABLES: Final = ("databases", "instances", "hosts", "snapshots", "host_cpu", "containers", "ash_memory")


class NoReportError(LogParseError):
    """The file was opened and is no report; where it holds the error that stopped the report, that is the reason."""


#: What each kind of report is called.
_TITLES: Final = {
    "awr": "AWR report",
    "awr_global": "AWR global report of RAC",
    "awr_pdb": "AWR report of a PDB",
    "awr_sql": "AWR report on one SQL statement",
    "awr_diff": "AWR compare-period report",
    "statspack": "Statspack report",
    "ash": "ASH report",
    "addm": "ADDM report",
    "fragment": "part of a report",
}
#: Diagnostics of what was understood: a file is read strictly in spite of them.
_UNDERSTOOD: Final = frozenset({"several_reports", "contradiction", "invalid"})
#: This many tables of a report are built one by one.
_FEW_TABLES: Final = 4


class AwrReport(ParsedLog):
    """One report.

    Attributes:
        format: ``awr``, its name among the registered formats.
        source: name of the file, or what the caller called it.
        kind: `awr`, `awr_pdb`, `awr_global`, `awr_sql`, `awr_diff`, `statspack`, `ash`, `addm` or `fragment`.
        form: `text` or `html`.
        raw_tables: every table as printed, by title.
        document: the report as it was cut into tables, for checks and provenance.
        decimal_mark: what its figures have before their decimals, `.` or `,`: the language of the session decides.
    """

    format: Literal["awr"] = "awr"
    source: str
    kind: str

    def __init__(self, source: str, document: Document, *, bounds: bool, notes: tuple[Diagnostic, ...] = ()) -> None:
        self.source = source
        self.kind = document.kind
        self.form = document.form
        self.decimal_mark = document.decimal_mark
        self.raw_tables = RawTables(document.tables, bounds=bounds, decimal_mark=document.decimal_mark)
        self._parts: tuple[AwrReport, ...] = ()
        self.document = document
        self._bounds = bounds
        self._notes = notes
        self._frames: dict[str, pl.DataFrame] = {}
        self._bounded: dict[str, pl.DataFrame] = {}
        self._problems: dict[str, list[Problem]] = {}

    @paused_collection()
    def frames(self) -> dict[str, pl.DataFrame]:
        """Every canonical table of the report by name."""
        names = self.tables
        self.build(names)
        return {name: self[name] for name in names}

    @property
    def parts(self) -> tuple[AwrReport, ...]:
        """All reports of the file, this one among them."""
        return self._parts or (self,)  # a report that refers to itself would stay until cycles are looked for

    def describe(self) -> str:
        """What the report is, in a few words."""
        release = f", release {self.info.release}" if self.info.release else ""
        form = "HTML" if self.form == "html" else "text"
        kind = _TITLES.get(self.kind, f"{self.kind} report")
        return f"{kind} ({form}){release}, {counted(len(self.raw_tables), 'table')}"

    @cached_property
    def _printed(self) -> MatchedTables:
        """Canonical name -> its printed tables."""
        return MatchedTables(self.document.tables)

    def printed_tables(self, name: str) -> list[PrintedTable]:
        """The printed tables that a canonical one is made of; none for views and `info`."""
        return self._printed.get(name, [])

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the canonical tables that this report has, in the order of `TABLES`."""
        return tuple(name for name in TABLES if name in self)

    def __contains__(self, name: object) -> bool:
        if name == INFO.name:  # the head of a report may be there without the line that names the report
            return self.kind != "fragment" or any(table.name in self._printed for table in IDENTITY)
        return name in self._printed or (name in VIEWS and VIEWS[str(name)][1] in self._orders)

    def _ipython_key_completions_(self) -> list[str]:
        return [*self.tables, *(name for name in VIEWS if name in self)]

    @cached_property
    def _orders(self) -> list[str]:
        return self["sql"]["ordered_by"].unique().to_list() if "sql" in self._printed else []

    def __getitem__(self, name: str) -> pl.DataFrame:
        """A canonical table, such as `report["top_events"]`; `TABLES` lists them with their schemas.

        Raises:
            TableNotFoundError: the report has no such table; a KeyError, too.
        """
        if name == INFO.name and name in self:
            return pl.DataFrame([self.info.as_dict()], schema=INFO.schema)
        if name in VIEWS:
            table, order = VIEWS[name]
            return self[table].filter(pl.col("ordered_by") == order)
        if name not in self._printed:
            reason = f"the report has no table {name!r}" if name in TABLES else f"{name!r} is no canonical table"
            raise TableNotFoundError(reason, source=self.source, expected=near(name, self.tables))
        if name not in self._frames:
            # who asks for several tables mostly asks for many, which cost less at once
            self.build((name,) if len(self._frames) < _FEW_TABLES else (name, *self._printed))
        return self._frames[name]

    @paused_collection()
    def build(self, names: Iterable[str]) -> None:
        """Build those of some canonical tables that the report has, at once: it costs less than one by one."""
        missing = [name for name in names if name not in self._frames and name in self._printed]
        if missing:
            tables = {name: (TABLES[name], self._printed[name]) for name in missing}
            waits = self._waits() if "event_histogram" in missing else None
            built = build_frames(tables, bounds=self._bounds, decimal_mark=self.decimal_mark, waits=waits)
            for name, (frame, problems) in built.items():
                self._frames[name], self._problems[name] = self._dated(name, frame), problems

    def with_bounds(self, name: str) -> pl.DataFrame:
        """A canonical table with `_lo` and `_hi`, whatever `printed` was; without rows when the report lacks it."""
        if self._bounds and name in self._printed:
            return self[name]
        if name not in self._bounded:
            wanted = {name: self._printed.get(name, [])}
            if len(self._bounded) >= _FEW_TABLES:
                wanted |= {other: printed for other, printed in self._printed.items() if other not in self._bounded}
            tables = {other: (TABLES[other], printed) for other, printed in wanted.items()}
            waits = self._waits() if "event_histogram" in tables else None
            built = build_frames(tables, bounds=True, decimal_mark=self.decimal_mark, waits=waits)
            self._bounded |= {other: self._dated(other, frame) for other, (frame, _) in built.items()}
        return self._bounded[name]

    def _waits(self) -> dict[str, float]:
        """The waits of each event, of foreground and background processes together."""
        wanted = [name for name in ("foreground_events", "background_events", "wait_events") if name in self._printed]
        tables = {name: (TABLES[name], self._printed[name]) for name in wanted}
        frames = [frame for frame, _ in build_frames(tables, decimal_mark=self.decimal_mark).values()]
        if not frames:
            return {}
        rows = pl.concat([frame.select("event", pl.col("waits").cast(pl.Float64)) for frame in frames]).drop_nulls()
        return dict(rows.group_by("event").agg(pl.col("waits").sum()).rows())

    def _dated(self, name: str, frame: pl.DataFrame) -> pl.DataFrame:
        """The frame; slots of active session history, which print a time of the day, with the date of the period."""
        return slots_with_dates(frame, self.info.begin_time) if name == "ash_activity" else frame

    @cached_property
    def info(self) -> AwrInfo:
        """Database, instance, host and period."""
        self.build(HEAD_TABLES)
        return read_info(self.document, {name: self[name] for name in HEAD_TABLES if name in self._printed})

    @property
    def invalid_line(self) -> int | None:
        """Number of the line that says that the figures are not valid (`AwrInfo.invalid`); None where none does."""
        found = (problem for problem in self.document.problems if problem.kind == "invalid")
        return next((self.document.line_of(problem) for problem in found), None)

    @cached_property
    def stated(self) -> pl.DataFrame:
        """Sums that remarks above tables state (`awrparse.report.STATED`): captured time and SQL, foreground waits."""
        notes = ((table.title, note) for table in self.document.tables for note in table.notes)
        return stated_sums(notes, self.decimal_mark)

    @cached_property
    def line_counts(self) -> dict[str, int]:
        """How many lines of a text report are what; the numbers add up to its lines.  Empty for HTML."""
        counts = Counter(self.document.line_kinds)
        names = line_kinds.KINDS
        return {names[number]: counts[number] for number in range(len(names)) if counts[number]}

    @cached_property
    def empty_sections(self) -> tuple[str, ...]:
        """Titles of the sections that say they have no data."""
        return tuple(self.document.empty)

    @cached_property
    def diagnostics(self) -> pl.DataFrame:
        """Whatever could not be read, one row each: line, column, text and reason.  Asking reads every table.

        The column is where the text starts in the line of a text report, the mark of a quotation included.  It is null
        for HTML, whose cells have no place in a line, and where the text stands on another line of the same record,
        stands in the line more than once with no ruler to say which is meant, or had tabs before it.
        """
        return diagnostics_frame(self._diagnostics())

    def _diagnostics(self) -> list[Diagnostic]:
        problems = list(self.document.problems)
        for printed in self.document.tables:
            problems += printed.rows.problems
        self.build(self._printed)
        for name in self._printed:
            problems += self._problems[name]
        problems += [*problems_of(self, "lines"), *unread_labels(self.document)]
        problems.sort(key=lambda problem: problem.line or 0)
        found = [*dict.fromkeys(problems), *problems_of(self, "rows")]
        return [*self._notes, *map(self._to_diagnostic, found)]

    def _to_diagnostic(self, problem: Problem) -> Diagnostic:
        """A problem as a row of the diagnostics."""
        place = self.document.column_of(problem)
        line = self.document.line_of(problem)
        return Diagnostic(self.source, line, place, problem.kind, problem.text, problem.reason)

    def table_diagnostics(self, name: str) -> pl.DataFrame:
        """What could not be read in one canonical table, and in opening the report."""
        name = VIEWS[name][0] if name in VIEWS else name
        self[name]
        cut = [problem for printed in self._printed.get(name, []) for problem in printed.rows.problems]
        return diagnostics_frame([*self._notes, *map(self._to_diagnostic, [*cut, *self._problems.get(name, [])])])

    def check(self) -> pl.DataFrame:
        """Figures that contradict each other beyond rounding, with the columns `awrparse.integrity.CHECKS`."""
        return contradictions_of(self)


@paused_collection()
def read_awr(source: Source, *, strict: bool = False, printed: bool = False, encoding: str | None = None) -> AwrReport:
    """A report, read into tables that are built when asked for.

    Args:
        source: a path, bytes, a file object or an uploaded file, compressed or not.  Of a mail or a web archive the
            parts are read; lines are then counted in the part.
        strict: raise at the first line that could not be read.
        printed: add ``<column>_lo`` and ``<column>_hi`` beside each number: the values that print that way.
        encoding: of text without a byte order mark, when you know better than the guess.

    Raises:
        LogParseError: the source holds no report, or cannot be opened; with `strict`, anything not understood.

    Examples:
        >>> text = b'''Top 10 Foreground Events by Total Wait Time
        ...
        ... Event                            Waits Time (sec)  Avg(ms)  time    Class
        ... ------------------------------ ------- ---------- -------- ----- --------
        ... log file sync                      100       11.1   111.00  50.0 Commit
        ... DB CPU                                        5.0           22.5
        ... '''
        >>> read_awr(text)["top_events"].select("event", "waits", "total_wait_s", "wait_class")
        shape: (2, 4)
        ┌───────────────┬───────┬──────────────┬────────────┐
        │ event         ┆ waits ┆ total_wait_s ┆ wait_class │
        │ ---           ┆ ---   ┆ ---          ┆ ---        │
        │ str           ┆ i64   ┆ f64          ┆ str        │
        ╞═══════════════╪═══════╪══════════════╪════════════╡
        │ log file sync ┆ 100   ┆ 11.1         ┆ Commit     │
        │ DB CPU        ┆ null  ┆ 5.0          ┆ null       │
        └───────────────┴───────┴──────────────┴────────────┘
    """
    log = open_log(source, encoding=encoding)
    documents = documents_of(log)
    if not any(is_known(document) for document in documents):
        raise _no_report(log)
    several: tuple[Diagnostic, ...] = ()
    # ASH and ADDM reports stand inside the report that they explain
    lead = next((number for number, document in enumerate(documents) if document.kind not in EMBEDDED), 0)
    if len(documents) > 1:
        which = "first that is no ASH or ADDM report" if lead else "first"
        reason = f"the file holds {len(documents)} reports; this is the {which}, `parts` has them all"
        several = (Diagnostic(log.name, documents[lead].first_line, None, "several_reports", None, reason),)
    reports = [
        AwrReport(log.name, document, bounds=printed, notes=log.notes + several if number == lead else ())
        for number, document in enumerate(documents)
    ]
    parts = tuple(reports) if several else ()
    for report in reports:
        report._parts = parts  # noqa: SLF001 - its own class
    if strict:
        for report in reports:
            diagnosed = report._diagnostics()  # noqa: SLF001 - its own class
            faults = [one for one in diagnosed if one.kind not in _UNDERSTOOD]
            if faults:
                raise faults[0].to_error()
    return reports[lead]


def _no_report(log: Log) -> NoReportError:
    """The error for a file without a table of a report; an error of Oracle in it says why there is not one."""
    text = log.text()
    stopped = _TOOL_ERROR.search(text)
    if stopped is None:
        return NoReportError(
            "no AWR, Statspack or ASH table found", source=log.name, expected="a report, or tables copied out of one"
        )
    shown = stopped.group().rstrip()
    line = text.count("\n", 0, stopped.start()) + 1
    return NoReportError(f"no report was made: {shown}", source=log.name, line=line, text=shown)


def read_refusal(source: Source) -> AwrReport:
    r"""What SQL*Plus prints in place of a report over a restart, as a report without tables; it has its snapshots.

    Raises:
        LogParseError: The source is no such error.

    Examples:
        >>> error = b"ORA-20200: The instance was shutdown between snapshots 7 and 8\n"
        >>> info = read_refusal(error).info
        >>> info.kind, info.begin_snap_id, info.end_snap_id, info.invalid
        ('awr', 7, 8, 'ORA-20200: The instance was shutdown between snapshots 7 and 8')
    """
    log = open_log(source)
    text = log.text()
    found = _SHUTDOWN.search(text)
    if found is None:
        raise _no_report(log)
    line = text.count("\n", 0, found.start())
    problem = Problem(line + 1, "invalid", text.split("\n")[line].strip(), "the script made no report")
    title = f"Snaps: {found.group(1)}-{found.group(2)}"
    return AwrReport(log.name, Document("awr", "text", [], problems=[problem], title=title), bounds=True)
