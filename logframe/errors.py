"""Errors and diagnostics: what went wrong, where, and what to try.

    ValueError
    └── LogError                   what the content of logs does not allow
        ├── LogParseError          a log, or a line of it, could not be read
        │   └── LogNotFoundError   there is no such log (also a FileNotFoundError)
        └── RefusedError           figures that do not support a result

The errors of samples, comparisons and charts in `iolab` derive from `LogError`, too.  A reader raises only
`LogParseError` and `LogNotFoundError`.  With ``strict=False`` (the default everywhere) a bad line raises nothing: it
becomes one row of the diagnostics frame, whose columns are `DIAGNOSTICS`:

| column   | type   | meaning                                                                   |
|----------|--------|---------------------------------------------------------------------------|
| `source` | String | name of the log: its path, or what the caller called it                   |
| `line`   | Int64  | line number, counted from 1; null when the row speaks of the whole log    |
| `column` | Int64  | column of the offending character, counted from 1; null when unknown      |
| `kind`   | Enum   | one word per cause (`logframe.kinds`)                                     |
| `text`   | String | the text in question, as it is in the log                             |
| `reason` | String | one sentence for a person                                                 |
"""

from __future__ import annotations

from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from logframe.kinds import KINDS
from logframe.wording import printable

if TYPE_CHECKING:
    from logframe.kinds import DiagnosticKind

DIAGNOSTICS = pl.Schema(
    {
        "source": pl.String(),
        "line": pl.Int64(),
        "column": pl.Int64(),
        "kind": pl.Enum(KINDS),
        "text": pl.String(),
        "reason": pl.String(),
    }
)

#: What is installed beside this package: its lines are of no interest where a log is at fault.
_INSTALLED: Final = str(Path(__file__).parents[1])
#: A line is shown in an error message up to this many characters.
SHOWN_WIDTH = 160


class LogError(ValueError):
    """The content of logs does not allow the request; the message is the reason.

    Catch it once around everything that reads, computes, compares or draws; a fault of the program is no `LogError`.
    """

    def _render_traceback_(self) -> list[str]:
        """What IPython shows: the line of the cell and the message, without the lines of this project."""
        calls = [one for one in extract_tb(self.__traceback__) if not one.filename.startswith(_INSTALLED)]
        own = [f"line {one.lineno}: {one.line}" for one in calls[-1:]]
        return [*own, f"{type(self).__name__}: {self}"]


class RefusedError(LogError):
    """The inputs do not support the result; the message is the reason."""


class LogParseError(LogError):
    """A log, or one line of it, could not be read.

    Catch it once around any reader; no other exception comes from the content of a log::

        try:
            events = straceparse.read_strace(path, strict=True)
        except LogParseError as error:
            print(error)  # source:line:column, the line, a caret, a hint
            print(error.line, error.expected)

    Attributes:
        message: what was found, in one sentence.
        source: name of the log.
        line: line number counted from 1, or None.
        column: column counted from 1, or None.
        text: the line as it is in the log, or None.
        expected: what would have been accepted, or what to try; may be empty.

    Examples:
        >>> print(LogParseError("no result", source="a.strace", line=7, column=9, text="read(3, ", expected="')'"))
        a.strace:7:9: no result
          read(3,
                  ^
          expected: ')'
    """

    def __init__(
        self,
        message: str,
        *,
        source: str = "<log>",
        line: int | None = None,
        column: int | None = None,
        text: str | None = None,
        expected: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.source = source
        self.line = line
        self.column = column
        self.text = text
        self.expected = expected

    def __reduce__(self) -> tuple[object, ...]:
        """Survive a trip between processes, keyword arguments and all."""
        return (_rebuild, (type(self), self.message, self.__dict__))

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.source, self.line, self.column) if part is not None)
        shown = [f"{place}: {self.message}"]
        if self.text is not None:
            shown += _point_at(self.text, self.column)
        if self.expected:
            shown.append(f"  expected: {self.expected}")
        return "\n".join(shown)


class LogNotFoundError(LogParseError, FileNotFoundError):
    """There is no log at the path, or no path matches the pattern."""


def _rebuild(kind: type[LogParseError], message: str, state: dict[str, object]) -> LogParseError:
    """An error made again from its pickled parts."""
    error = kind(message)
    error.__dict__.update(state)
    return error


def _point_at(text: str, column: int | None) -> list[str]:
    """The line, cut to a readable width around the column, and a caret under the column."""
    start = max(0, (column or 1) - 1 - SHOWN_WIDTH // 2)
    lines = [f"  {printable(text[start : start + SHOWN_WIDTH])}".rstrip()]
    if column is not None:
        lines.append(" " * (column - 1 - start + 2) + "^")
    return lines


class Diagnostic(NamedTuple):
    """One row of the diagnostics frame; the fields are its columns."""

    source: str
    line: int | None
    column: int | None
    kind: DiagnosticKind
    text: str | None
    reason: str

    def to_error(self) -> LogParseError:
        """The exception that `strict=True` raises for this row."""
        return LogParseError(self.reason, source=self.source, line=self.line, column=self.column, text=self.text)


def diagnostics_frame(rows: list[Diagnostic]) -> pl.DataFrame:
    """The rows as a frame with the schema `DIAGNOSTICS`, in the order given.

    Examples:
        >>> diagnostics_frame([]).columns
        ['source', 'line', 'column', 'kind', 'text', 'reason']
    """
    return pl.DataFrame(rows, schema=DIAGNOSTICS, orient="row")
