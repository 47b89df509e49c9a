"""`StraceLog`: one strace log as an object, as every registered format returns one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import polars as pl
import polars.selectors as cs

from logframe import LogParseError, diagnostics_frame
from logframe.parsed_log import ParsedLog
from logframe.wording import counted
from straceparse.descriptors import listed_files, opens
from straceparse.diagnostics import Unread, unparsed
from straceparse.dialects import dialect_of
from straceparse.opening import open_logs
from straceparse.ordered import batches_of, is_known_as_one_log, rows_where, tapped
from straceparse.requests import REQUESTS, io_requests
from straceparse.scan import scan_logs
from straceparse.summary import has_summary, read_summary, unread_lines
from straceparse.system_calls import CALLS
from straceparse.system_calls import calls as calls_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from logframe import Log, Source
    from straceparse.dialects import Dialect

#: Events of a log of at most this many bytes are parsed once and kept; those of a larger log are parsed each time.
KEPT_BYTES: Final = 32 << 20
#: Lines of a process that are no call, and the columns that tell when they came.
_MARKED: Final = ("signal", "stopped", "exited", "killed", "superseded")
MARKS: Final = ("line", "pid", "kind", "at", "result", "note")
#: Columns of calls that `opens` needs.
_OF_OPENS: Final = ("line", "pid", "name", "args", "result")


@dataclass(frozen=True, slots=True)
class ReadOnce:
    """What one pass over a log gives.

    Attributes:
        lines: How many the log has.
        opens: The calls that opened a file (`straceparse.opens`).
        requests: Columns of the requests; texts are categories, which take a fraction of the memory.
    """

    lines: int
    opens: pl.DataFrame
    requests: pl.DataFrame


class StraceLog(ParsedLog):
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
    source: str
    kind: str

    def __init__(self, logs: list[Log], dialect: Dialect) -> None:
        self._logs = logs
        self.dialect = dialect
        self.source = logs[0].name
        self.kind = "strace" if dialect.share or not dialect.has_summary else "strace_summary"

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
        return calls_of(self.events.collect()).lazy() if self.is_kept else calls_of(self.events)

    @cached_property
    def listed(self) -> pl.DataFrame:
        """The files of descriptors that lsof or ls listed above the calls (`straceparse.descriptors.FILES`)."""
        return listed_files(self._logs[0].head(), has_pids=self.dialect.pid != "none")

    @cached_property
    def requests(self) -> pl.LazyFrame:
        """One row an I/O request."""
        calls = self.calls
        return io_requests(calls.collect(), self.listed).lazy() if self.is_kept else io_requests(calls, self.listed)

    def read_once(
        self,
        requests: Sequence[str],
        calls: Sequence[str],
        take: Callable[[pl.DataFrame], object],
        mark: Callable[[pl.DataFrame], object] = lambda _: None,
        look: Callable[[pl.DataFrame], object] = lambda _: None,
        looked: Sequence[str] = (),
    ) -> ReadOnce:
        r"""Some columns of the requests, in one pass over a large log that gives the calls and the diagnostics, too.

        Args:
            requests: Columns of `straceparse.REQUESTS`.
            calls: Columns of `straceparse.CALLS`.
            take: Is given the calls with these columns, in order, batch by batch.
            mark: Is given the signals, stops and ends of processes (`MARKS`) before the calls that follow them.
            look: Is given the requests, in order, batch by batch.
            looked: Columns that it is given beside those of the requests; they are not kept.

        Examples:
            >>> log = read_log(b"     0.000123 pread64(268, '', 8192, 0) = 8192\n")
            >>> found = log.read_once(["op"], ["name"], lambda batch: print(batch.rows()))
            [('pread64',)]
            >>> found.lines, found.requests.rows()
            (1, [('read',)])
        """
        if self.is_kept or not is_known_as_one_log(self.events):
            lines = int(self.events.select(pl.len()).collect().item())
            all_calls = self.calls.collect()
            mark(_marks(self.events.select(MARKS).collect()))
            take(all_calls.select(calls))
            found = self.requests.collect() if self.is_kept else io_requests(all_calls, self.listed)
            look(found.select(*requests, *looked))
            return ReadOnce(lines, opens(all_calls), _narrow(found, requests))
        unread = Unread()
        opened: list[pl.DataFrame] = []

        def taken(batch: pl.DataFrame) -> None:
            opened.append(opens(batch))
            take(batch.select(calls))

        def looked_at(batch: pl.DataFrame) -> None:
            unread.add(batch.select(unread.columns))
            mark(_marks(batch.select(MARKS)))

        read = tapped(self.events, list(dict.fromkeys([*unread.columns, *MARKS])), looked_at)
        called = tapped(calls_of(read), list(dict.fromkeys([*calls, *_OF_OPENS])), taken)
        taken(pl.DataFrame(schema=CALLS))  # there may be none
        parts = [_narrow(pl.DataFrame(schema=REQUESTS), requests)]
        for batch in batches_of(io_requests(called, self.listed), [*requests, *looked]):
            look(batch)
            parts.append(_narrow(batch, requests))
        self._unread = unread.found(self.events)
        return ReadOnce(unread.lines, pl.concat(opened), pl.concat(parts))

    def read_calls(
        self, calls: Sequence[str], take: Callable[[pl.DataFrame], object], mark: Callable[[pl.DataFrame], object]
    ) -> None:
        """As `read_once`, without requests and diagnostics."""
        if self.is_kept or not is_known_as_one_log(self.events):
            mark(_marks(self.events.select(MARKS).collect()))
            take(self.calls.select(calls).collect())
            return
        read = tapped(self.events, [*MARKS], lambda batch: mark(_marks(batch)))
        take(pl.DataFrame(schema=CALLS).select(calls))  # there may be none
        for batch in batches_of(calls_of(read), [*calls]):
            take(batch)

    @cached_property
    def _unread(self) -> pl.DataFrame:
        """The lines that were not read, or only in part."""
        return unparsed(self.events)

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
        notes = self._unread if has_calls else opened.clear()
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


def _marks(events: pl.DataFrame) -> pl.DataFrame:
    """The signals, stops and ends of processes."""
    return rows_where(events, pl.col("kind").is_in(_MARKED))


def _narrow(rows: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """These columns, texts as categories: a view of a text keeps the memory of its whole batch."""
    return rows.select(columns).with_columns(cs.string().cast(pl.Categorical))


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
