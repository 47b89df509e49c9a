"""A tool whose lines have one form each: what a line is, and what is read of it, as data of the tool's own module."""

from __future__ import annotations

import re
from collections import ChainMap, Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from hostparse.log import FrameLog
from logframe import Diagnostic, LogParseError, diagnostics_frame, open_log
from logframe.copied import numbered_lines, open_end, repeated, sign_of_copy
from logframe.formats import Format, Sniff
from logframe.normalize import without_terminal_codes
from logframe.printed import finite, whole_number
from logframe.provenance import Claim, by_line
from logframe.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

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


def _parts(
    match: re.Match[str], each: re.Pattern[str] | None, printed: str
) -> list[tuple[re.Match[str], Mapping[str, str | None]]]:
    """The records of a line, each with its groups: the line itself, or what repeats in it."""
    return [(one, one.groupdict()) for one in (each.finditer(printed) if each else (match,))]


class _Record(NamedTuple):
    """A row of a table, and how it was read.

    Attributes:
        row: its cells.
        line: what the line is.
        matches: of the record and of the line.
        factors: what printed figures were multiplied by.
    """

    row: dict[str, Any]
    line: Line
    matches: tuple[re.Match[str], re.Match[str]]
    factors: dict[str, float]

    def columns(self) -> dict[str, float]:
        """The columns in the order in which they are printed, and their factors."""
        groups = ChainMap(*({group: one.start(group) for group in one.re.groupindex} for one in self.matches))
        # cells below a heading have no groups of their own
        order = sorted(self.line.columns, key=lambda group: groups.get(group, 0))
        return {name: self.factors.get(name, 1.0) for name in (self.line.columns[group].name for group in order)}


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
        for record in self._records(log.name, lines, notes):
            tables[record.line.table or ""].append(record.row)
        if not any(tables.values()):
            raise LogParseError("no row found", source=log.name, expected=self.title)
        frames = {}
        for name, rows in tables.items():
            schema = self.schema(name)
            frames[name] = pl.DataFrame([{key: row.get(key) for key in schema} for row in rows], schema=schema)
        what = f"{self.title}, {counted(sum(1 for _ in log.lines()), 'line')}"
        return FrameLog(self.name, self.name, log.name, frames, diagnostics_frame(notes), what)

    def _records(self, log: str, lines: Iterable[tuple[int, str]], notes: list[Diagnostic]) -> Iterator[_Record]:
        """The records of the lines of a log, one after another."""
        above: dict[str, Any] = {}
        sample = 0
        seen: set[object] = set()
        for number, text in lines:
            if not (printed := text.strip()):
                continue
            kinds = ((one, whole.match(printed), each) for one, whole, each in self._patterns)
            found = next(((one, match, each) for one, match, each in kinds if match), None)
            if found is None:
                notes.append(Diagnostic(log, number, None, "unparsed", printed, f"no line of {self.name}"))
                continue
            line, match, each = found
            printed_groups = match.groupdict()
            if line.heading:
                words = str(above.get(line.heading) or "").split()
                cells = printed.split(maxsplit=max(len(words) - 1, 0))
                if not words or len(cells) != len(words):
                    notes.append(Diagnostic(log, number, None, "unparsed", printed, "does not fit its heading"))
                    continue
                printed_groups = {**dict(zip(words, cells, strict=True)), **_others(words, cells, line.columns)}
            parts = _parts(match, each, printed)
            if line.records:
                if (records := line.records(above, printed)) is None:
                    notes.append(Diagnostic(log, number, None, "unparsed", printed, "does not fit its heading"))
                    continue
                parts = [(match, one) for one in records]
            if line.begins:
                sample, seen = sample + 1, set()
            for place, (one, groups) in enumerate(parts):
                row, factors, bad = self._row(line, {**printed_groups, **groups}, above)
                notes += [Diagnostic(log, number, None, "no_value", text, f"no {column}") for column, text in bad]
                above |= {key: row.get(key) for name in line.sets for key in (name, f"{name}_lo", f"{name}_hi")}
                if line.each_is is not None and place < len(line.each_is[1]):
                    row[line.each_is[0]] = line.each_is[1][place]
                if line.once:
                    sample, seen = (max(sample, 1) + 1, set()) if row[line.once] in seen else (sample, seen)
                    seen.add(row[line.once])
                if line.table:
                    names = self.given.get(line.table, ())
                    given = {key: above.get(key) for name in names for key in (name, f"{name}_lo", f"{name}_hi")}
                    row = {**given, **row, "sample": max(sample, 1), "line": number}
                    yield _Record(row, line, (one, match), factors)

    @staticmethod
    def _row(
        line: Line, groups: Mapping[str, str | None], above: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], list[tuple[str, str]]]:
        row: dict[str, Any] = {}
        factors: dict[str, float] = {}
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
                factors[column.name] = factor
            row[column.name] = value
            if value is None:
                bad.append((column.name, text))
        return row, factors, bad

    def _recognised(self, printed: list[str]) -> Sniff | None:
        hits = [n for n, line in enumerate(printed, 1) if self._sign.match(without_terminal_codes(line).strip())]
        return Sniff(self.score, self.title, line=hits[0]) if len(hits) >= self.least else None

    def sniff(self, head: Head) -> Sniff | None:
        """Whether the log is of this tool, by a line that only it prints."""
        return sign_of_copy(head.text.split("\n")[:_LINES], self._recognised)

    def places(self, parsed: FrameLog, source: Source) -> list[Part]:
        """Which cells were read from where."""
        log = open_log(source)
        part = by_line("\n".join(log.lines()), parsed.tables, {name: {} for name in parsed.tables})
        rows: Counter[str] = Counter()
        for record in self._records(log.name, numbered_lines(log, self._recognised), []):
            table = record.line.table or ""
            part.claim(record.row["line"], Claim(table, rows[table], record.columns()))
            rows[table] += 1
        return [part]

    def format(self) -> Format:
        """The tool for the registry."""
        return Format(name=self.name, title=self.title, sniff=self.sniff, read=self.read, places=self.places)
