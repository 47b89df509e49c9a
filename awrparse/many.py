"""Many reports as one frame: read in parallel, keyed, in order of time."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from awrparse.canonical import build_frame
from awrparse.report import AwrReport, read_awr
from awrparse.tables import TABLES, VIEWS
from logframe import DIAGNOSTICS, Diagnostic, LogParseError, diagnostics_frame, open_logs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from logframe import Log, Source

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
#: Fewer reports than these are read by this process alone: starting another takes longer.
_PARALLEL_FROM: Final = 4


@dataclass(frozen=True)
class AwrFrames:
    """What `read_awrs` gives.

    Attributes:
        frame: the table of all reports, one below the other; its first columns are `KEYS`.
        diagnostics: what could not be read; a report that could not be read at all is one row.
    """

    frame: pl.DataFrame
    diagnostics: pl.DataFrame


def read_awrs(
    sources: Source,
    *,
    table: str = "top_events",
    printed: bool = False,
    encoding: str | None = None,
    workers: int | None = None,
    progress: bool | None = None,
) -> AwrFrames:
    """One canonical table of many reports, keyed by report, instance and snapshots, in order of time.

    Args:
        sources: paths, a folder, a glob, an archive, bytes or file objects, or a list of these.
        table: a name of `TABLES`, or of a part such as `sql_by_elapsed`.
        printed: as in `read_awr`.
        encoding: as in `read_awr`.
        workers: how many processes read; as many as there are processors when None; 1 reads in this process.
        progress: show a progress bar on the standard error; when None, only on a terminal.

    Returns:
        The frame, and the diagnostics: a bad report, or one without the table, is a row there and stops nothing.

    Raises:
        LogParseError: `table` is no table, or a path leads nowhere.
    """
    if table not in TABLES and table not in VIEWS:
        raise LogParseError(f"{table!r} is no canonical table", source="<table>", expected=", ".join(TABLES))
    logs = open_logs(sources, encoding=encoding)
    jobs = [(log.name, _content(log), table, printed) for log in logs]
    count = min(workers or os.cpu_count() or 1, len(jobs)) if len(jobs) >= _PARALLEL_FROM else 1
    bar = _Bar(len(jobs), shown=sys.stderr.isatty() if progress is None else progress)
    results = _read_here(jobs, bar) if count == 1 else _read_in_processes(jobs, count, bar)
    notes = [diagnostics_frame([note for log in logs for note in log.notes])]
    frames = [frame for found, _ in results for frame in found]
    name = VIEWS[table][0] if table in VIEWS else table
    columns, _ = build_frame(TABLES[name], [], bounds=printed and name != "info")
    empty = pl.DataFrame(schema={**KEYS, **{_clear(column): kind for column, kind in columns.schema.items()}})
    diagnostics = pl.concat([*notes, *(found for _, found in results)]) if results else notes[0]
    frame = pl.concat([empty, *frames]).sort("begin_time", "report", "part", nulls_last=True, maintain_order=True)
    return AwrFrames(frame, diagnostics)


def _content(log: Log) -> str | bytes:
    """What a worker opens: the path of a plain file, the bytes of anything else."""
    return str(log.target) if isinstance(log.target, (Path, str)) else log.target


_Job = tuple[str, str | bytes, str, bool]
_Result = tuple[list[pl.DataFrame], pl.DataFrame]


def _read_here(jobs: Iterable[_Job], bar: _Bar) -> list[_Result]:
    results = []
    for job in jobs:
        results.append(_read_one(job))
        bar.advance()
    return results


def _read_in_processes(jobs: list[_Job], count: int, bar: _Bar) -> list[_Result]:
    """Results in the order of the jobs.  The processes are spawned: a fork after a query of Polars may hang."""
    from concurrent.futures import ProcessPoolExecutor, as_completed  # noqa: PLC0415 - wanted by few
    from multiprocessing import get_context  # noqa: PLC0415 - wanted by few

    results: dict[int, _Result] = {}
    largest_first = sorted(range(len(jobs)), key=lambda number: -_size(jobs[number][1]))
    with _one_thread_each(), ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(_read_one, jobs[number]): number for number in largest_first}
        for done in as_completed(waiting):
            results[waiting[done]] = done.result()
            bar.advance()
    return [results[number] for number in range(len(jobs))]


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes started meanwhile run Polars in one thread: they shall not fight for the processors."""
    name = "POLARS_MAX_THREADS"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _size(content: str | bytes) -> int:
    """Bytes of a file; 0 where unknown."""
    if isinstance(content, bytes):
        return len(content)
    path = Path(content)
    return path.stat().st_size if path.is_file() else 0


def _read_one(job: _Job) -> _Result:
    """The table of every report in one file, and its diagnostics."""
    name, content, table, printed = job
    try:
        first = read_awr(content, printed=printed)
    except LogParseError as error:
        fault = Diagnostic(name, error.line, error.column, "unreadable", error.text, error.message)
        return [], diagnostics_frame([fault])
    frames, problems = [], []
    for number, report in enumerate(first.parts, 1):
        if table not in report:
            reason = f"the report ({report.kind}, {report.form}) has no table {table!r}"
            problems.append(diagnostics_frame([Diagnostic(name, None, None, "no_table", None, reason)]))
            continue
        frames.append(_keyed(report, name, number, report[table]))
        problems.append(report.table_diagnostics(table).with_columns(source=pl.lit(name)))
    return frames, pl.concat(problems) if problems else pl.DataFrame(schema=DIAGNOSTICS)


def _keyed(report: AwrReport, name: str, part: int, frame: pl.DataFrame) -> pl.DataFrame:
    info = report.info
    values = (
        name,
        part,
        info.db_name,
        info.instance,
        info.begin_snap_id,
        info.end_snap_id,
        info.begin_time,
        info.end_time,
        info.elapsed_s,
    )
    keys = [pl.lit(value, dtype=dtype).alias(key) for (key, dtype), value in zip(KEYS.items(), values, strict=True)]
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

    def advance(self) -> None:
        """One more is done."""
        self.done += 1
        if self.shown:
            filled = 30 * self.done // self.total
            end = "\n" if self.done == self.total else ""
            sys.stderr.write(f"\r[{'#' * filled}{'.' * (30 - filled)}] {self.done}/{self.total} reports{end}")
            sys.stderr.flush()
