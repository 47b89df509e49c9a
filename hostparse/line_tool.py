"""A tool whose lines have one form each: what a line is, and what is read of it, as data of the tool's own module."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from hostparse.frame_log import FrameLog
from logframe import Diagnostic, LogParseError, diagnostics_frame, open_log
from logframe.copied import numbered_lines, open_end, repeated, sign_of_copy
from logframe.formats import Format, Sniff
from logframe.normalize import without_terminal_codes
from logframe.printed import finite, whole_number
from logframe.provenance import by_line
from logframe.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from logframe import Source
    from logframe.formats import Head
    from logframe.grammar import Grammar
    from logframe.provenance import Part

_LINES: Final = 200
#: The group of what stands below other words of a heading than those of columns.
OTHERS: Final = "*"
_ENDS: Final = ("_lo", "_hi")
#: Beside the columns of a tool: the lines that a row is of, and the sample, counted from 1.
_PLACE: Final = {"sample": pl.UInt32(), "line": pl.UInt32()}


class Column(NamedTuple):
    """How the text of a group is read.

    Attributes:
        name: of the column; a figure with a unit has the unit to which it is converted.
        kind: ``text``, ``whole`` (an exact number) or ``figure`` (rounded: its bounds are in ``_lo`` and ``_hi``).
        factor: of a figure without a unit of its own.
        units: factor by the text of the group of the unit, of this line or as a column that a line above set.
        unit: that group; ``<group>_unit`` where it is empty.
    """

    name: str
    kind: str = "text"
    factor: float = 1.0
    units: Mapping[str, float] | None = None
    unit: str = ""


@dataclass(frozen=True)
class Line:
    """One kind of line.

    Attributes:
        template: of the whole line, with a named group a column.
        table: the frame that has a row of it; None: recognised, and no record.
        columns: group -> column.
        each: template of one of several records within the line.
        each_is: the column that says which of these records one is, and its values in order.
        begins: a new sample begins with it.
        sets: columns that the lines below it have, too, until another line sets them.
        heading: the column set above that holds a heading; its words are the groups of the cells below them.
        once: the column whose values are different in all rows of a sample: one that is there begins the next.
        records: gives the groups of each record in the line, from the columns set above and the line; None where it
            does not fit them.
    """

    template: str
    table: str | None = None
    columns: Mapping[str, Column] = field(default_factory=dict)
    each: str = ""
    each_is: tuple[str, tuple[str, ...]] | None = None
    begins: bool = False
    sets: tuple[str, ...] = ()
    heading: str = ""
    once: str = ""
    records: Callable[[Mapping[str, Any], str], Sequence[Mapping[str, str]] | None] | None = None


def _others(words: Sequence[str], cells: Sequence[str], columns: Mapping[str, Column]) -> dict[str, str]:
    """The cells below words of a heading that are no column, with these words."""
    others = [f"{word}={cell}" for word, cell in zip(words, cells, strict=True) if word not in columns]
    return {OTHERS: " ".join(others)} if others else {}


@dataclass(frozen=True)
class LineTool:
    """A tool.

    Attributes:
        name: of the format.
        title: of the format, with an article.
        grammar: of its lines.
        lines: what a line may be; the first that matches counts.
        sign: template of a line that only this tool prints.
        score: of a log with such a line.
        given: columns of a table that lines above its rows set.
        least: this many lines with the sign.
        may_repeat: a line that is the one above once more is another record.
    """

    name: str
    title: str
    grammar: Grammar
    lines: tuple[Line, ...]
    sign: str
    score: float = 0.97
    given: Mapping[str, Sequence[str]] = field(default_factory=dict)
    least: int = 1
    may_repeat: bool = False

    @cached_property
    def _patterns(self) -> list[tuple[Line, re.Pattern[str], re.Pattern[str] | None]]:
        compiled = self.grammar.pattern
        return [
            (one, re.compile(f"^{compiled(one.template)}$"), re.compile(compiled(one.each)) if one.each else None)
            for one in self.lines
        ]

    @cached_property
    def _sign(self) -> re.Pattern[str]:
        return re.compile(self.grammar.pattern(f"^{self.sign}"))

    @property
    def _all(self) -> dict[str, Column]:
        return {column.name: column for line in self.lines for column in line.columns.values()}

    def schema(self, table: str) -> pl.Schema:
        """The columns of one of its frames: those that are set above, those of its lines, sample and line."""
        own = [self._all[name] for name in self.given.get(table, ())]
        own += [column for line in self.lines if line.table == table for column in line.columns.values()]
        found: dict[str, pl.DataType] = {}
        for one in own:
            dtype = {"text": pl.String(), "whole": pl.Int64()}.get(one.kind, pl.Float64())
            found[one.name] = dtype
            found |= {f"{one.name}{end}": dtype for end in _ENDS if one.kind == "figure"}
        return pl.Schema({**found, **_PLACE})

    def read(self, source: Source) -> FrameLog:
        """The log as frames.

        Raises:
            LogParseError: No line is a record.
        """
        log = open_log(source)
        lines = numbered_lines(log, self._recognised)
        tables: dict[str, list[dict[str, Any]]] = {line.table: [] for line in self.lines if line.table}
        notes = [*log.notes, *([] if self.may_repeat else repeated(log.name, lines)), *open_end(log, lines)]
        above: dict[str, Any] = {}
        sample = 0
        seen: set[object] = set()
        for number, text in lines:
            if not (printed := text.strip()):
                continue
            kinds = ((one, whole.match(printed), each) for one, whole, each in self._patterns)
            found = next(((one, match, each) for one, match, each in kinds if match), None)
            if found is None:
                notes.append(Diagnostic(log.name, number, None, "unparsed", printed, f"no line of {self.name}"))
                continue
            line, match, each = found
            printed_groups = match.groupdict()
            if line.heading:
                words = str(above.get(line.heading) or "").split()
                cells = printed.split(maxsplit=max(len(words) - 1, 0))
                if not words or len(cells) != len(words):
                    notes.append(Diagnostic(log.name, number, None, "unparsed", printed, "does not fit its heading"))
                    continue
                printed_groups = {**dict(zip(words, cells, strict=True)), **_others(words, cells, line.columns)}
            parts = line.records(above, printed) if line.records else [{}]
            if each:
                parts = [one.groupdict() for one in each.finditer(printed)]
            if parts is None:
                notes.append(Diagnostic(log.name, number, None, "unparsed", printed, "does not fit its heading"))
                continue
            if line.begins:
                sample, seen = sample + 1, set()
            for place, one in enumerate(parts):
                row, bad = self._row(line, {**printed_groups, **one}, above)
                notes += [Diagnostic(log.name, number, None, "no_value", text, f"no {name}") for name, text in bad]
                above |= {name: row.get(name) for key in line.sets for name in (key, f"{key}_lo", f"{key}_hi")}
                if line.each_is is not None and place < len(line.each_is[1]):
                    row[line.each_is[0]] = line.each_is[1][place]
                if line.once:
                    sample, seen = (max(sample, 1) + 1, set()) if row[line.once] in seen else (sample, seen)
                    seen.add(row[line.once])
                if line.table:
                    names = self.given.get(line.table, ())
                    given = {name: above.get(name) for key in names for name in (key, f"{key}_lo", f"{key}_hi")}
                    tables[line.table].append({**given, **row, "sample": max(sample, 1), "line": number})
        if not any(tables.values()):
            raise LogParseError("no row found", source=log.name, expected=self.title)
        frames = {}
        for name, rows in tables.items():
            schema = self.schema(name)
            frames[name] = pl.DataFrame([{key: row.get(key) for key in schema} for row in rows], schema=schema)
        what = f"{self.title}, {counted(sum(map(len, tables.values())), 'row')}"
        return FrameLog(self.name, self.name, log.name, frames, diagnostics_frame(notes), what)

    @staticmethod
    def _row(
        line: Line, groups: Mapping[str, str | None], above: Mapping[str, Any]
    ) -> tuple[dict[str, Any], list[tuple[str, str]]]:
        row: dict[str, Any] = {}
        bad: list[tuple[str, str]] = []
        for group, column in line.columns.items():
            text = groups.get(group)
            if text is None:
                continue
            text = text.strip()
            value: Any = text
            if column.kind == "whole":
                value = whole_number(text)
            elif column.kind == "figure":
                value = finite(text)
                unit = column.unit or f"{group}_unit"
                factor = column.factor * (column.units or {}).get(
                    (groups.get(unit) or above.get(unit) or "").strip(), 1.0
                )
                if value is not None:
                    half = 0.5 * 10.0 ** -len(text.partition(".")[2]) * factor
                    value *= factor
                    row |= {f"{column.name}_lo": max(value - half, min(value, 0.0)), f"{column.name}_hi": value + half}
            row[column.name] = value
            if value is None:
                bad.append((column.name, text))
        return row, bad

    def _recognised(self, printed: list[str]) -> Sniff | None:
        hits = [n for n, line in enumerate(printed, 1) if self._sign.match(without_terminal_codes(line).strip())]
        return Sniff(self.score, self.title, line=hits[0]) if len(hits) >= self.least else None

    def sniff(self, head: Head) -> Sniff | None:
        """Whether the log is of this tool, by a line that only it prints."""
        return sign_of_copy(head.text.split("\n")[:_LINES], self._recognised)

    def places(self, parsed: FrameLog, source: Source) -> list[Part]:
        """Which rows came from which lines; a figure that was converted is held as it is printed, too."""
        frames = {name: self._as_printed(name, frame) for name, frame in parsed.tables.items()}
        return [by_line("\n".join(open_log(source).lines()), frames, [(name, "line", "line") for name in frames])]

    def _as_printed(self, table: str, frame: pl.DataFrame) -> pl.DataFrame:
        factors: dict[str, set[float]] = {}
        for line in self.lines:
            for column in line.columns.values() if line.table == table else ():
                inner = (column.units or {"": 1.0}).values()
                factors.setdefault(column.name, set()).update(column.factor * one for one in inner)
        return frame.with_columns(
            (pl.col(name) / factor).round(9).alias(f"{name} / {factor}")
            for name, of in factors.items()
            for factor in sorted(of - {1.0})
        )

    def format(self) -> Format:
        """The tool for the registry."""
        return Format(name=self.name, title=self.title, sniff=self.sniff, read=self.read, places=self.places)
