"""`StraceLog`: one strace log as an object, as every registered format returns one."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import polars as pl

from logframe import LogParseError, diagnostics_frame
from logframe.wording import counted
from straceparse.diagnostics import unparsed
from straceparse.dialects import dialect_of
from straceparse.opening import open_logs
from straceparse.requests import io_requests
from straceparse.scan import scan_logs
from straceparse.summary import has_summary, read_summary, unread_lines
from straceparse.system_calls import calls

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from logframe import Log, Source
    from straceparse.dialects import Dialect

#: The events of a log of at most so many bytes are parsed once and kept; those of a larger log are parsed on each use.
KEPT_BYTES: Final = 32 << 20


class StraceLog:
    """An strace log: its lines, its system calls and its I/O requests as LazyFrames.

    Attributes:
        format: ``strace``.
        kind: ``strace``, or ``strace_summary`` for the table of ``strace -c``.
        source: Name of the log; of a ``-ff`` set, the name of its first file.
        dialect: The options of strace that wrote it.
        events: One row a line (`straceparse.EVENTS`).
        calls: One row a system call (`straceparse.CALLS`).
        requests: One row an I/O request (`straceparse.REQUESTS`).
        summary: The table of ``strace -c`` or ``-C`` (`straceparse.SUMMARY`), or None.
    """

    format: Final = "strace"

    def __init__(self, logs: list[Log], dialect: Dialect) -> None:
        self._logs = logs
        self.dialect = dialect
        self.source = logs[0].name
        self.kind = "strace" if dialect.share or not dialect.has_summary else "strace_summary"

    def __repr__(self) -> str:
        return f"<StraceLog {self.source}: {self.describe()}>"

    @cached_property
    def is_kept(self) -> bool:
        """Whether the events are parsed once and kept in memory."""
        return all(not isinstance(log.target, str) for log in self._logs) and self._bytes() <= KEPT_BYTES

    def _bytes(self) -> int:
        return sum(_size(log.target) for log in self._logs if not isinstance(log.target, str))

    @cached_property
    def events(self) -> pl.LazyFrame:
        """One row a line."""
        scanned = scan_logs(self._logs, dialect=self.dialect)
        return scanned.collect().lazy() if self.is_kept else scanned

    @cached_property
    def calls(self) -> pl.LazyFrame:
        """One row a system call."""
        return calls(self.events.collect()).lazy() if self.is_kept else calls(self.events)

    @cached_property
    def requests(self) -> pl.LazyFrame:
        """One row an I/O request."""
        return io_requests(self.calls.collect()).lazy() if self.is_kept else io_requests(self.calls)

    @cached_property
    def summary(self) -> pl.DataFrame | None:
        """The table of ``strace -c``, or None where the log has none."""
        if not self.dialect.has_summary:
            return None
        with_table = [log.reopened() for log in self._logs if has_summary(log)]
        return read_summary(with_table) if with_table else None

    @cached_property
    def diagnostics(self) -> pl.DataFrame:
        """What was wrong when the log was opened, and the lines that were not read, or only in part, and why."""
        opened = diagnostics_frame([note for log in self._logs for note in log.notes])
        has_calls = self.kind == "strace"
        notes = unparsed(self.events) if has_calls else opened.clear()
        if self.dialect.has_summary:
            rows = [row for log in self._logs for row in unread_lines(log, has_calls=has_calls)]
            notes = notes.vstack(diagnostics_frame(rows).join(notes, on=["line", "text"], how="anti"))
        return opened.vstack(notes)

    def frames(self) -> Mapping[str, pl.DataFrame | pl.LazyFrame]:
        """The frames by name: events, calls, requests; of a summary only that."""
        summary = {} if self.summary is None else {"summary": self.summary}
        if self.kind == "strace_summary":
            return summary
        return {"events": self.events, "calls": self.calls, "requests": self.requests, **summary}

    def describe(self) -> str:
        """What the log is, in a few words."""
        if self.kind == "strace_summary":
            height = 0 if self.summary is None else self.summary.height
            return f"strace -c summary, {counted(height, 'call')}"
        count = self.events.select(pl.len()).collect().item() if self.is_kept else None
        return "strace log" + (f", {counted(count, 'line')}" if count is not None else "")


def _size(target: Path | str | bytes) -> int:
    if isinstance(target, bytes):
        return len(target)
    return 0 if isinstance(target, str) else target.stat().st_size


def read_log(source: Source) -> StraceLog:
    r"""An strace log, or the files of one ``-ff`` set.

    Raises:
        LogNotFoundError: There is no such log.
        LogParseError: The log is empty, or no line of it is strace's.

    Examples:
        >>> log = read_log(b"     0.000123 pread64(268, '', 8192, 0) = 8192\n")
        >>> log.describe(), log.requests.collect().item(0, "bytes_transferred")
        ('strace log, 1 line', 8192)
    """
    logs = open_logs(source)
    dialect = dialect_of(logs)
    if not dialect.share and not (dialect.has_summary and any(has_summary(log) for log in logs)):
        first = next((line for line in logs[0].head(1 << 12) if line.strip()), None)
        raise LogParseError("no line is strace's", source=logs[0].name, line=1, text=first, expected="output of strace")
    return StraceLog(logs, dialect)
