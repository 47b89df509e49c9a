"""The lines of one log with what is known about each: the ground the block readers work on."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from awrparse.spool.lines import Kind, classify, prepared
from logframe import Diagnostic


class Mark(StrEnum):
    """What became of a line; every line of a log has exactly one."""

    INPUT = "input"
    FEEDBACK = "feedback"
    ERROR = "error"
    ELAPSED = "elapsed"
    STATISTIC = "statistic"
    ROW = "row"
    PLAN = "plan"
    TIMING = "timing"
    BLANK = "blank"
    HEADING = "heading"
    COMMAND = "command"
    PROMPT = "prompt"
    BANNER = "banner"
    SUBSTITUTION = "substitution"
    COMMENT = "comment"
    FENCE = "fence"
    ELISION = "elision"
    TRACE = "trace"
    TEXT = "text"
    UNPARSED = "unparsed"


#: Marks of lines whose content is in one of the frames.
RECORDS = frozenset(
    {Mark.INPUT, Mark.FEEDBACK, Mark.ERROR, Mark.ELAPSED, Mark.STATISTIC, Mark.ROW, Mark.PLAN, Mark.TIMING}
)

_MARKS_OF_KINDS = {
    Kind.BLANK: Mark.BLANK,
    Kind.BANNER: Mark.BANNER,
    Kind.FENCE: Mark.FENCE,
    Kind.COMMENT: Mark.COMMENT,
    Kind.ELISION: Mark.ELISION,
    Kind.TRACE: Mark.TRACE,
    Kind.SUBSTITUTION: Mark.SUBSTITUTION,
    Kind.PROMPT: Mark.PROMPT,
}


@dataclass(slots=True)
class Page:
    """The lines of a log, their kinds and marks, and the diagnostics found so far.

    Line numbers count from 0 here, and from 1 in everything that is given out.
    """

    source: str
    lines: list[str]
    kinds: list[Kind]
    marks: list[Mark]
    notes: list[Diagnostic] = field(default_factory=list)

    @classmethod
    def of(cls, source: str, text: str) -> Page:
        """The page of a text."""
        lines = prepared(text)
        kinds = [classify(line.strip()) for line in lines]
        marks = [_MARKS_OF_KINDS.get(kind, Mark.TEXT) for kind in kinds]
        return cls(source, lines, kinds, marks)

    def __len__(self) -> int:
        return len(self.lines)

    def kind(self, number: int) -> Kind:
        """The kind of a line; blank beyond the end."""
        return self.kinds[number] if number < len(self.kinds) else Kind.BLANK

    def after_blanks(self, number: int) -> int:
        """The first line from `number` on that is not blank; the page's length when there is none."""
        while number < len(self.kinds) and self.kinds[number] is Kind.BLANK:
            number += 1
        return number

    def mark(self, first: int, last: int, mark: Mark) -> None:
        """Give lines `first` to before `last` a mark; blank ones stay blank."""
        for number in range(first, last):
            if self.kinds[number] is not Kind.BLANK:
                self.marks[number] = mark

    def note(self, number: int | None, kind: str, reason: str, column: int | None = None) -> None:
        """Add a diagnostics row about a line, or about the whole log."""
        text = None if number is None else self.lines[number].strip()[:200]
        line = None if number is None else number + 1
        self.notes.append(Diagnostic(self.source, line, column, kind, text, reason))

    def refuse(self, number: int, kind: str, reason: str, column: int | None = None) -> None:
        """Add a diagnostics row about a line that is not read."""
        self.note(number, kind, reason, column)
        self.marks[number] = Mark.UNPARSED
