"""Run starts: lines that start a run because of where they stand, as what they say may also stand within one.

* A **stamp** is the date of a run where several reports, a banner or nothing stand below it; ``-t`` and ``-T d`` print
  one above each report.  So is a line that holds a clock in a form that is not read.
* The **configuration** that AIX prints, and a **command**, start a run where a heading stands below them.
* The **heading of vmstat** is printed again on each screen.  It starts a run where it comes sooner than that, or
  where a line that is no row stands above it; not where the clocks of its rows (``-t``) go on in the same steps.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import polars as pl

from hostparse.clocks import DAY_S, seconds_of_day
from hostparse.clocks import GRAMMAR as TIMES
from hostparse.lines import GRAMMAR, OPENS, TEXT, is_kind, with_own_text

if TYPE_CHECKING:
    from collections.abc import Iterator

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
