"""Many reports as one frame: read in parallel, keyed, in order of time."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

import polars as pl

from awrparse.canonical import build_frame
from awrparse.report import AwrReport, NoReportError, read_awr
from awrparse.tables import TABLES, VIEWS
from logframe import DIAGNOSTICS, Diagnostic, LogParseError, diagnostics_frame, distinct_names
from logframe.processes import one_thread_each
from logframe.source import open_readable_logs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from concurrent.futures import Future

    from logframe import Log, Source
    from logframe.kinds import DiagnosticKind

#: What each row of `read_awrs` starts with, and the type.
KEYS: Final = pl.Schema(
    {
        "report": pl.String(),
        "part": pl.Int64(),
        "db_name": pl.String(),
        "instance_name": pl.String(),
        "begin_snap_id": pl.Int64(),
        "end_snap_id": pl.Int64(),
        "begin_time": pl.Datetime("us"),
        "end_time": pl.Datetime("us"),
        "elapsed_s": pl.Float64(),
    }
)
#: One more process for this many bytes: while it starts, this one has read as much.
_PARALLEL_FROM: Final = 16_000_000
#: What a process is given at a time.
_CHUNK: Final = 1_000_000


@dataclass(frozen=True)
class AwrFrames:
    """What `read_awrs` gives.

    Attributes:
        frames: table -> the rows of all reports, one below the other; the first columns are `KEYS`.
        diagnostics: what could not be read; a file that could not be read at all is one row, of the kind `unreadable`,
            and one that is no report is one row, of the kind `no_report`.
    """

    frames: dict[str, pl.DataFrame]
    diagnostics: pl.DataFrame

    @property
    def frame(self) -> pl.DataFrame:
        """The table that was asked for; the first of several."""
        return next(iter(self.frames.values()))


def read_awrs(
    sources: Source,
    *,
    table: str | Sequence[str] = "top_events",
    printed: bool = False,
    encoding: str | None = None,
    workers: int | None = None,
    progress: bool | None = None,
) -> AwrFrames:
    """One canonical table of many reports, keyed by report, instance and snapshots, in order of time.

    Args:
        sources: paths, a folder with those in it, a glob, an archive, bytes or file objects, or a list of these.
        table: a name of `TABLES`, or of a part such as `sql_by_elapsed`; or several names: each report is read once.
        printed: as in `read_awr`.
        encoding: as in `read_awr`.
        workers: how many processes read, this one among them; when None, as many as there are processors if there is
            enough to read.  A script that is not to be run again by each of them needs ``if __name__ == "__main__":``.
        progress: show a progress bar on the standard error; when None, only on a terminal.

    Returns:
        The frame, and the diagnostics: a bad report, or one without the table, is a row there and stops nothing.

    Raises:
        LogParseError: `table` is no table, or a path leads nowhere.
    """
    tables = (table,) if isinstance(table, str) else tuple(table)
    for name in tables or ("",):
        if name not in TABLES and name not in VIEWS:
            raise LogParseError(f"{name!r} is no canonical table", source="<table>", expected=", ".join(TABLES))
    logs, faults = open_readable_logs(sources, encoding=encoding)
    names = distinct_names([log.name for log in logs])
    jobs = [(name, _content(log), tables, printed) for name, log in zip(names, logs, strict=True)]
    sizes = [_size(content) for _, content, *_ in jobs]
    count = min(workers or min(os.cpu_count() or 1, 1 + sum(sizes) // _PARALLEL_FROM), len(jobs))
    bar = _Bar(len(jobs), shown=sys.stderr.isatty() if progress is None else progress)
    results = _read_in_processes(jobs, sizes, count, bar) if count > 1 else _read_here(jobs, bar)
    notes = [diagnostics_frame([*faults, *(note for log in logs for note in log.notes)])]
    frames = {name: _joined(name, [found[name] for found, _ in results], printed=printed) for name in tables}
    return AwrFrames(frames, pl.concat([*notes, *(found for _, found in results)]))


def _joined(table: str, found: list[list[pl.DataFrame]], *, printed: bool) -> pl.DataFrame:
    """The rows of one table, of all reports, in order of time."""
    name = VIEWS[table][0] if table in VIEWS else table
    columns, _ = build_frame(TABLES[name], [], bounds=printed and name != "info")
    empty = pl.DataFrame(schema={**KEYS, **{_clear(column): kind for column, kind in columns.schema.items()}})
    frames = [empty, *(frame for frames in found for frame in frames)]
    return pl.concat(frames).sort("begin_time", "report", "part", nulls_last=True, maintain_order=True)


def _content(log: Log) -> str | bytes:
    """What a worker opens: the path of a plain file, the bytes of anything else."""
    return str(log.target) if isinstance(log.target, (Path, str)) else log.target


_Job = tuple[str, str | bytes, tuple[str, ...], bool]
_Result = tuple[dict[str, list[pl.DataFrame]], pl.DataFrame]


def _read_here(jobs: Iterable[_Job], bar: _Bar) -> list[_Result]:
    results = []
    for job in jobs:
        results.append(_read_one(job))
        bar.advance(1)
    return results


def _read_all(jobs: list[_Job]) -> list[_Result]:
    """The results of some reports; what a process is given."""
    return [_read_one(job) for job in jobs]


def _read_in_processes(jobs: list[_Job], sizes: list[int], count: int, bar: _Bar) -> list[_Result]:
    """Results in the order of the jobs, read by this many processes.

    This process is one of them, and reads while the others start: it takes the smallest that is not taken yet, they
    take the largest.  They are spawned: a fork after a query of Polars may hang.
    """
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - wanted by few
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415 - wanted by few
    from multiprocessing import get_context  # noqa: PLC0415 - wanted by few

    chunks = _chunks(sizes)
    results: dict[int, _Result] = {}
    pool = ProcessPoolExecutor(count - 1, mp_context=get_context("spawn"))
    try:
        with one_thread_each():
            others = [pool.submit(_read_all, [jobs[number] for number in chunk]) for chunk in chunks]
        for chunk, other in zip(chunks, others, strict=True):
            other.add_done_callback(bar.advancing(len(chunk)))
        for chunk, other in zip(reversed(chunks), reversed(others), strict=True):
            if not other.cancel():
                break
            results.update(zip(chunk, _read_here([jobs[number] for number in chunk], bar), strict=True))
        for chunk, other in zip(chunks, others, strict=True):
            if not other.cancelled():
                try:
                    found = other.result()
                except BrokenProcessPool:  # it could not start, or was killed: what it has not read is read here
                    found = _read_here([jobs[number] for number in chunk], bar)
                results.update(zip(chunk, found, strict=True))
    finally:
        pool.shutdown(cancel_futures=True)
    return [results[number] for number in range(len(jobs))]


def _chunks(sizes: list[int]) -> list[list[int]]:
    """The numbers of the reports in chunks of some size, the largest reports first."""
    chunks: list[list[int]] = []
    free = 0
    for number in sorted(range(len(sizes)), key=lambda number: -sizes[number]):
        if not chunks or sizes[number] > free:
            chunks.append([])
            free = _CHUNK
        chunks[-1].append(number)
        free -= sizes[number]
    return chunks


def _size(content: str | bytes) -> int:
    """Bytes of a file; one chunk where unknown."""
    if isinstance(content, bytes):
        return len(content)
    path = Path(content)
    return path.stat().st_size if path.is_file() else _CHUNK


def _read_one(job: _Job) -> _Result:
    """The tables of every report in one file, and its diagnostics."""
    name, content, tables, printed = job
    try:
        first = read_awr(content, printed=printed)
    except LogParseError as error:
        kind: DiagnosticKind = "no_report" if isinstance(error, NoReportError) else "unreadable"
        fault = Diagnostic(name, error.line, error.column, kind, error.text, error.message)
        return {table: [] for table in tables}, diagnostics_frame([fault])
    return _tables_of(name, first, tables)


def bounded_frames(reports: Mapping[str, AwrReport], tables: Sequence[str]) -> AwrFrames:
    """What `read_awrs` gives with `printed`, of reports that were read already.

    Args:
        reports: By their names.
        tables: Names of `TABLES`.
    """
    results = [_tables_of(name, report, tables, is_bounded=True) for name, report in reports.items()]
    frames = {name: _joined(name, [found[name] for found, _ in results], printed=True) for name in tables}
    notes = [pl.DataFrame(schema=DIAGNOSTICS), *(found for _, found in results)]
    return AwrFrames(frames, pl.concat(notes))


def _tables_of(name: str, first: AwrReport, tables: Sequence[str], *, is_bounded: bool = False) -> _Result:
    """The tables of every report in the file of one, and its diagnostics; with bounds however it was read."""
    frames: dict[str, list[pl.DataFrame]] = {table: [] for table in tables}
    problems = [pl.DataFrame(schema=DIAGNOSTICS)]
    for number, report in enumerate(first.parts, 1):
        for table in tables:
            if table not in report:
                reason = f"the report ({report.kind}, {report.form}) has no table {table!r}"
                problems.append(diagnostics_frame([Diagnostic(name, None, None, "missing", table, reason)]))
                continue
            frame = report.with_bounds(table) if is_bounded and table != "info" else report[table]
            frames[table].append(_keyed(report, name, number, frame))
            problems.append(report.table_diagnostics(table).with_columns(source=pl.lit(name)))
    return frames, pl.concat(problems)


def row_keys(report: AwrReport) -> pl.DataFrame:
    """Database, instance, snapshots and period of a report, in one row: the columns of `KEYS` and the database's id."""
    info = report.info
    values = {
        "db_name": info.db_name,
        "db_id": info.db_id,
        "instance_name": info.instance,
        "begin_snap_id": info.begin_snap_id,
        "end_snap_id": info.end_snap_id,
        "begin_time": info.begin_time,
        "end_time": info.end_time,
        "elapsed_s": info.elapsed_s,
    }
    return pl.DataFrame([values], schema={name: KEYS.get(name, pl.Int64()) for name in values})


def _keyed(report: AwrReport, name: str, part: int, frame: pl.DataFrame) -> pl.DataFrame:
    values = {"report": name, "part": part, **row_keys(report).row(0, named=True)}
    keys = [pl.lit(values[key], dtype=dtype).alias(key) for key, dtype in KEYS.items()]
    return frame.rename({column: _clear(column) for column in frame.columns}).select(*keys, pl.all())


def _clear(column: str) -> str:
    """The name of a table's column beside the keys."""
    return f"table_{column}" if column in KEYS else column


class _Bar:
    """A progress bar of one line on the standard error."""

    def __init__(self, total: int, *, shown: bool) -> None:
        self.total = total
        self.shown = shown and total > 1
        self.done = 0
        self._lock = Lock()

    def advance(self, count: int) -> None:
        """This many more are done."""
        with self._lock:
            self.done += count
            if self.shown:
                filled = 30 * self.done // self.total
                end = "\n" if self.done == self.total else ""
                sys.stderr.write(f"\r[{'#' * filled}{'.' * (30 - filled)}] {self.done}/{self.total} reports{end}")
                sys.stderr.flush()

    def advancing(self, count: int) -> Callable[[Future[list[_Result]]], None]:
        """What another process's work calls when it is done: by then this many more are."""

        def advance(work: Future[list[_Result]]) -> None:
            if not work.cancelled() and work.exception() is None:
                self.advance(count)

        return advance
