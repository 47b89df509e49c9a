"""The work of one process: identify files, convert a batch of sources.

`convert_batch` depends on its arguments alone and writes files that no reader sees before they are committed, so it may
run anywhere, several times.
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.dataset.jobs import Done, Item, Job, Listed, Made, Settings
from iolab.dataset.layout import SOURCES
from iolab.dataset.listing import refuse_folder, stamp_of
from iolab.dataset.pieces import UNREADABLE, guarded, raise_of_place, split_of
from iolab.dataset.writer import BatchWriter, LogRows, rows_of
from logframe import DIAGNOSTICS, Diagnostic, LogParseError, diagnostics_frame
from logframe.formats import formats
from logframe.loading import load_log, logs_within
from logframe.source import each_log, open_logs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from logframe.formats import ParsedLog
    from logframe.source import Log

_CHUNK: Final = 1 << 20
#: The text of a source that is larger is written to its tables without being held in memory.
LARGE: Final = 32 << 20
_CHANGED: Final = "the file changed while it was read"


def identify(settings: Settings, listed: Sequence[Listed]) -> list[Item]:
    """The sources in files, with the hashes of their content; a file that cannot be opened has a message instead.

    Raises:
        LogError: An object store does not answer.
        OSError: A disk is full.
    """
    found: list[Item] = []
    for one in listed:
        with guarded(settings):
            try:
                found += _items_of(one, settings.piece_bytes)
            except UNREADABLE as error:
                raise_of_place(error)
                found.append(Item(one.file, one, None, 0, None, str(error)))
            except Exception as error:  # noqa: BLE001 - a fault of the program stops one source only
                raise_of_place(error)
                found.append(Item(one.file, one, None, 0, None, f"{type(error).__name__}: {error}"))
    return found


def _items_of(listed: Listed, piece: int) -> list[Item]:
    with _local(listed) as files:
        if len(files) > 1:
            whole = blake2b(digest_size=16)
            size = 0
            for log in (log for file in files for log in each_log(Path(file))):
                part, count = _hash(log)
                whole.update(part.encode())
                size += count
            return [Item(listed.file, listed, None, size, whole.hexdigest() if size else None)]
        items = []
        refuse_folder(files[0])
        for log in each_log(Path(files[0])):
            text, count = _hash(log)
            member = _member(log, files[0])
            source = f"{listed.file}{member or ''}".encode(errors="backslashreplace").decode()
            split = split_of(log, count, piece) if log.target == Path(listed.file) else None
            items.append(Item(source, listed, member, count, text if count else None, split=split))
        return [replace(item, in_file=len(items)) for item in items]


def _member(log: Log, file: str) -> str | None:
    """Name of a log within an archive, with a slash before it; None for the log that a file is."""
    shown = file.encode(errors="surrogateescape").decode(errors="backslashreplace")
    return log.name.removeprefix(shown) if log.name.startswith(f"{shown}/") else None


@contextmanager
def _local(listed: Listed) -> Iterator[Sequence[str]]:
    """The files of this machine that hold a source; those of an object store are copied."""
    if "://" not in listed.files[0]:
        yield listed.files
        return
    from iolab.dataset.objects import fetch  # noqa: PLC0415 - its library is optional

    with tempfile.TemporaryDirectory(prefix="iolab-fetched-") as folder:
        yield [str(fetch(url, Path(folder))) for url in listed.files]


def _hash(log: Log) -> tuple[str, int]:
    """Hash and size of the text of a log."""
    found = blake2b(digest_size=16)
    match log.target:
        case bytes():
            found.update(log.target)
            return found.hexdigest(), len(log.target)
        case Path():
            size = 0
            with log.target.open("rb") as file:
                while piece := file.read(_CHUNK):
                    found.update(piece)
                    size += len(piece)
            return found.hexdigest(), size
        case _:
            raise LogParseError("its text is not on this machine", source=log.name)


def convert_batch(settings: Settings, job: Job) -> Done:
    """Write the files of a batch.

    Raises:
        OSError: The files cannot be written.
    """
    with settings.store.staging() as folder:
        writer = BatchWriter(settings.store, job.batch, folder, settings.run)
        if job.status:
            results = [_recorded(job, item) for item in job.items]
        elif job.made is not None:
            results = [_made(job.items[0], job.made)]
        else:
            results = _converted(settings, job, writer)
        for result in results:
            writer.add_source(result.row, result.diagnostics)
        writer.write()
        for rewrite in job.rewrites:
            writer.carry_over(rewrite)
        files = writer.publish()
    rows = writer.rows
    if job.made is not None and results[0].row["status"] == "converted":
        files, rows = (*job.made.files, *files), rows + job.made.rows
    columns = ("source", "file", "stamp", "hash", "status", "in_file")
    sources = tuple(tuple(result.row[name] for name in columns) for result in results)
    return Done(files, sources, rows)


@dataclass(slots=True)
class _Result:
    """What became of a source: its row of `_sources`, its diagnostics."""

    item: Item
    row: dict[str, Any]
    diagnostics: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=DIAGNOSTICS))


def _recorded(job: Job, item: Item) -> _Result:
    """A source that is not read."""
    assert job.status is not None  # noqa: S101 - the caller checked
    if job.status == "duplicate":
        return _Result(item, _row(item, job.status, duplicate_of=job.originals[item.source]))
    return _problem(item, job.status, job.message or "")


def _made(item: Item, made: Made) -> _Result:
    """A source that was read in pieces."""
    if stamp_of(item.listed.files) != item.listed.stamp:
        return _problem(item, "changed", _CHANGED)
    row = _row(item, "converted", format=made.format, kind=made.kind, parts=1, rows=made.rows)
    return _Result(item, row)


def _row(item: Item, status: str, **more: object) -> dict[str, Any]:
    listed = item.listed
    modified = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=listed.modified)
    own = {"source": item.source, "file": listed.file, "status": status, "size_bytes": listed.size}
    own |= {"content_bytes": item.content_bytes, "modified": modified, "stamp": listed.stamp, "hash": item.hash}
    own["in_file"] = item.in_file
    return dict.fromkeys(SOURCES) | own | more


def _problem(item: Item, status: str, message: str, line: int | None = None) -> _Result:
    row = Diagnostic(item.source, line, None, "unreadable", None, message)
    return _Result(item, _row(item, status, message=message), diagnostics_frame([row]))


def _converted(settings: Settings, job: Job, writer: BatchWriter) -> list[_Result]:
    """The sources of a batch, read; the members of one archive in one pass."""
    results: dict[str, _Result] = {}
    by_file: dict[str, list[Item]] = {}
    for item in job.items:
        if item.message is not None:
            results[item.source] = _problem(item, "unreadable", item.message)
        else:
            by_file.setdefault(item.listed.file, []).append(item)
    for items in by_file.values():
        if items[0].member is None:
            results[items[0].source] = _read(settings, items[0], None, writer)
        else:
            _read_members(settings, {str(item.member): item for item in items}, writer, results)
    return [results[item.source] for item in job.items]


def _read_members(
    settings: Settings, wanted: dict[str, Item], writer: BatchWriter, results: dict[str, _Result]
) -> None:
    """Read members of an archive."""
    listed = next(iter(wanted.values())).listed
    problem = "the archive has no such member any more"
    try:
        with _local(listed) as files:
            for log in each_log(Path(files[0])):
                item = wanted.pop(_member(log, files[0]) or "", None)
                if item is not None:
                    results[item.source] = _read(settings, item, log, writer)
                if not wanted:
                    break
    except UNREADABLE as error:
        raise_of_place(error)
        problem = str(error)
    for item in wanted.values():
        results[item.source] = _problem(item, "unreadable", problem)


def _read(settings: Settings, item: Item, log: Log | None, writer: BatchWriter) -> _Result:
    """Read one source and add its rows to the batch."""
    mark = writer.mark()
    with guarded(settings):
        try:
            is_large = item.content_bytes > LARGE
            with (
                _local(item.listed) if log is None else nullcontext(()) as files,
                writer.folder() if is_large else nullcontext() as folder,
            ):
                parts = _parts(files, log, folder)
                if not parts:
                    return _problem(item, "unreadable", "it holds no log")
                found: list[LogRows] = []
                problems = []
                for number, part in enumerate(parts, 1):
                    rows = rows_of(part, item.source, number, settings.tables, is_large=is_large)
                    problems.append(part.diagnostics.select(DIAGNOSTICS.names()))
                    found.append(rows)
                count = sum(writer.add(rows, is_large=is_large) for rows in found)
        except UNREADABLE as error:
            raise_of_place(error)
            writer.reset(mark)
            return _problem(item, "unreadable", str(error), getattr(error, "line", None))
        except (Exception, pl.exceptions.PanicException) as error:  # noqa: BLE001 - a fault of the program stops one source only
            raise_of_place(error)
            writer.reset(mark)
            return _problem(item, "failed", f"{type(error).__name__}: {error}")
    if stamp_of(item.listed.files) != item.listed.stamp:
        writer.reset(mark)
        return _problem(item, "changed", _CHANGED)
    kinds = dict.fromkeys(part.kind for part in parts)
    formats = dict.fromkeys(part.format for part in parts)
    row = _row(item, "converted", format=",".join(formats), kind=",".join(kinds), parts=len(parts), rows=count)
    return _Result(item, row, pl.concat(problems))


def _parts(files: Sequence[str], log: Log | None, folder: Path | None) -> list[ParsedLog]:
    """The logs in a source: a session and the report within it, all reports of one file."""
    if len(files) > 1:
        return [load_log([Path(file) for file in files])]
    opened = [log] if log is not None else open_logs(Path(files[0]))
    return [part for one in opened for parsed in logs_within(one, folder=folder) for part in _all_parts(parsed)]


def _all_parts(parsed: ParsedLog) -> Sequence[ParsedLog]:
    """All logs of the file of one log."""
    own = formats()[parsed.format].parts
    return [parsed] if own is None else own(parsed)
