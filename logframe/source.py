"""Opening any source as logs: lines of UTF-8 text, no byte lost.

`open_logs` takes a path, a glob, a folder, bytes, a file object, an uploaded file, a URL where the limits allow it, or
a list of them, and gives one `Log` each.  Compression is known by magic bytes, never by suffix; text that is not
UTF-8 is transcoded, and what was guessed or could not be decoded is in `Log.notes`.

A plain UTF-8 file is scanned where it lies.  Anything else is kept as UTF-8 in memory, or, above `MEMORY_LIMIT`, in a
temporary file that is removed when Python ends.
"""

from __future__ import annotations

import atexit
import io
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import polars as pl

from logframe.encoding import CHUNK, Decoded, decode
from logframe.errors import Diagnostic, LogNotFoundError, LogParseError
from logframe.limits import current
from logframe.places import places_of
from logframe.unpack import compression_of, refused_format, unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Transcoded or decompressed text above this many bytes lives in a temporary file.
MEMORY_LIMIT = 32 << 20

#: Gets the number of bytes of each batch of a log that is read; None where no one waits for it.
WATCH: ContextVar[Callable[[int], object] | None] = ContextVar("WATCH", default=None)
#: This much of a log shows how its lines end.
_SAMPLE_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Log:
    """One opened log.

    Attributes:
        name: its path, ``archive/member`` within an archive, or what the caller called it.
        encoding: how its bytes were read (`utf-8`, `utf-16`, `cp1252`, `gb18030`, ...).
        compression: `gzip`, `bzip2`, `xz`, `lzma`, `zstd`, `zip`, `docker` (lines within JSON objects) or None.
        notes: diagnostics about opening it: guessed encoding, escaped bytes, compressed data that ends early.
        target: where the UTF-8 text is: a path, a URL or the bytes themselves.
    """

    name: str
    encoding: str
    compression: str | None
    notes: tuple[Diagnostic, ...]
    target: Path | str | bytes

    def scan(self, *, name: str = "line", row_index_name: str | None = None) -> pl.LazyFrame:
        """The lines as a LazyFrame of one String column, without newlines and the carriage returns before them."""
        if isinstance(self.target, bytes) and not self.target:
            schema: dict[str, type[pl.DataType]] = {name: pl.String}
            if row_index_name:
                schema = {row_index_name: pl.UInt32, **schema}
            return pl.LazyFrame(schema=schema)
        return pl.scan_lines(
            self.target,
            name=name,
            row_index_name=row_index_name,
            row_index_offset=1,
            glob=not isinstance(self.target, Path),
        )

    def text(self) -> str:
        r"""All text, with ``\r\n`` turned into ``\n``."""
        match self.target:
            case bytes():
                data = self.target.decode("utf-8")
            case Path():
                data = self.target.read_bytes().decode("utf-8")
            case _:
                data = "\n".join(self.scan().collect().to_series())
        return data.replace("\r\n", "\n") if "\r" in data else data

    def lines(self) -> list[str]:
        r"""All lines, without their ends; ``a\nb`` and ``a\nb\n`` are both two lines, and empty text has no line.

        Only a line feed ends a line: form feeds and Unicode separators stay within it.
        """
        text = self.text()
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        return lines

    def head(self, size: int = 1 << 18) -> list[str]:
        """The first lines, as many as `size` bytes hold; a last line that is cut by `size` is left out."""
        match self.target:
            case bytes():
                data = self.target[: size + 1]
            case Path():
                with self.target.open("rb") as file:
                    data = file.read(size + 1)
            case _:
                return self.scan().head(2000).collect().to_series().to_list()
        lines = data.decode("utf-8", errors="ignore").replace("\r\n", "\n").split("\n")
        if (len(data) > size and len(lines) > 1) or not lines[-1]:
            lines.pop()
        return lines

    def tail(self, size: int = 1 << 18) -> list[str]:
        """The last lines, as many as `size` bytes hold, the first of them perhaps cut; none of a log elsewhere."""
        match self.target:
            case bytes():
                data = self.target[-size:]
            case Path():
                with self.target.open("rb") as file:
                    file.seek(max(file.seek(0, io.SEEK_END) - size, 0))
                    data = file.read()
            case _:
                return []
        return data.decode("utf-8", errors="ignore").replace("\r\n", "\n").split("\n")

    def reopened(self) -> str | Path | Mapping[str, object] | Log:
        """The log as a source again, for another reader: a stream can be read only once.

        A log with notes stays as it was opened: its text alone no longer says what was guessed, or that it ends early.
        """
        if self.notes:
            return self
        return {"name": self.name, "content": self.target} if isinstance(self.target, bytes) else self.target

    def is_empty(self) -> bool:
        """Is there no byte of text at all?"""
        match self.target:
            case bytes():
                return not self.target
            case Path():
                return self.target.stat().st_size == 0
            case _:
                return self.scan().head(1).collect().is_empty()


#: One log, or what leads to one or several; a log that is open already.
OneSource = str | PathLike[str] | bytes | bytearray | memoryview | IO[bytes] | IO[str] | Mapping[str, object] | Log
Source = OneSource | Iterable[OneSource]


def open_logs(source: Source, *, encoding: str | None = None) -> list[Log]:
    r"""The logs that a source holds, in order (a glob's and a folder's by name).

    Args:
        source: a path, glob, folder or URL; bytes; a file object; an uploaded file (a mapping with ``name`` and
            ``content``); or a list of these.
        encoding: how to decode text that has no byte order mark, when you know better than the guess.

    Raises:
        LogNotFoundError: nothing is at the path, or nothing matches the pattern.
        LogParseError: compressed data that cannot be read at all, or a format that is no text log.

    Examples:
        >>> open_logs(b"one\r\ntwo")[0].lines()
        ['one', 'two']
    """
    logs: list[Log] = []
    for item in _items(source):
        logs += map(_with_line_feeds, _open_item(item, encoding))
    return logs


def open_readable_logs(source: Source, *, encoding: str | None = None) -> tuple[list[Log], list[Diagnostic]]:
    """The logs of `open_logs`, and a diagnostic for each file that cannot be opened, such as a damaged archive.

    Of a folder, the logs of its folders, too.

    Raises:
        LogNotFoundError: as `open_logs`.
    """
    logs: list[Log] = []
    faults: list[Diagnostic] = []
    for item in _items(source):
        for place in places_of(item, with_subfolders=True) if isinstance(item, (str, PathLike)) else [item]:
            try:
                logs += map(_with_line_feeds, _open_item(place, encoding))
            except LogNotFoundError:
                raise
            except LogParseError as error:
                faults.append(Diagnostic(error.source, None, None, "unreadable", None, error.message))
    return logs, faults


def _with_line_feeds(log: Log) -> Log:
    """The log; one whose lines end with carriage returns alone, with line feeds."""
    match log.target:
        case bytes():
            sample = log.target[:_SAMPLE_BYTES]
        case Path():
            with log.target.open("rb") as file:
                sample = file.read(_SAMPLE_BYTES)
        case _:
            return log
    if b"\n" in sample or b"\r" not in sample:
        return log
    data = log.target if isinstance(log.target, bytes) else log.target.read_bytes()
    return replace(log, target=data.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))


def open_log(source: Source, *, encoding: str | None = None) -> Log:
    """The one log that a source holds.

    Raises:
        LogParseError: as `open_logs`, and when the source holds several logs or none.
    """
    logs = open_logs(source, encoding=encoding)
    if len(logs) != 1:
        names = ", ".join(log.name for log in logs[:3])
        raise LogParseError(
            f"{len(logs)} logs where one is wanted" + (f" ({names}, ...)" if logs else ""),
            source=_name_of(source),
            expected="one log; read several one by one",
        )
    return logs[0]


def batches_of(lines: pl.LazyFrame, batch_bytes: int, *, piece_rows: int | None = None) -> Iterator[pl.DataFrame]:
    """Lines, as of `Log.scan`, in batches of about this many bytes of text; none is empty.

    Args:
        lines: With a column of text.
        batch_bytes: Of a batch, at least, except the last.
        piece_rows: Rows of the pieces that a batch is put together of; None: as many as Polars gives.
    """
    held: list[pl.DataFrame] = []
    size = 0
    watch = WATCH.get()
    for piece in lines.collect_batches(chunk_size=piece_rows, maintain_order=True):
        if piece.height:
            held.append(piece)
        own = int(piece.estimated_size())
        size += own
        if watch is not None:
            watch(own)
        if held and size >= batch_bytes:
            yield pl.concat(held)
            held, size = [], 0
    if held:
        yield pl.concat(held)


def _items(source: Source) -> Iterator[OneSource]:
    """The single items of a source."""
    if isinstance(source, (str, PathLike, bytes, bytearray, memoryview, Mapping, Log)) or hasattr(source, "read"):
        yield cast("OneSource", source)
    elif isinstance(source, Iterable):
        for item in source:
            yield from _items(item)
    else:
        raise TypeError(f"a log's source is a path, bytes or a file object, not {type(source).__name__}")


def each_log(path: str | PathLike[str]) -> Iterator[Log]:
    """The logs of one file, opened one at a time: of an archive each member, so that only one is in memory.

    A temporary file that holds a log is removed when the next one is asked for.

    Raises:
        LogNotFoundError: there is no such file.
        LogParseError: as `open_logs`; of a damaged archive after the members before the damage.
    """
    for place in places_of(path):
        for log in _logs_at(place, None):
            yield log
            if isinstance(log.target, Path) and log.target.parent == temporary_folder():
                log.target.unlink(missing_ok=True)


def clear_temporary() -> None:
    """Remove all temporary files of this process; no log that was opened before may be read after it."""
    for path in temporary_folder().iterdir():
        path.unlink(missing_ok=True)


def _open_item(item: OneSource, encoding: str | None) -> list[Log]:
    if isinstance(item, Log):
        return [item]
    if isinstance(item, (str, PathLike)):
        return [log for place in places_of(item) for log in _logs_at(place, encoding)]
    if isinstance(item, Mapping):
        content = item.get("content")
        if not isinstance(content, (bytes, bytearray, memoryview)):
            raise TypeError("an uploaded file is a mapping with 'name' and 'content' (bytes)")
        return list(_logs_in(io.BytesIO(bytes(content)), str(item.get("name", "<upload>")), encoding))
    if isinstance(item, (bytes, bytearray, memoryview)):
        return list(_logs_in(io.BytesIO(bytes(item)), "<bytes>", encoding))
    return _open_copied(item, str(getattr(item, "name", "<file>")), encoding)


def _open_copied(stream: IO[bytes] | IO[str], name: str, encoding: str | None) -> list[Log]:
    """The logs of a stream that can be read only once: a pipe, a device, an open file."""
    most, count = current().max_stream_bytes, 0
    with tempfile.SpooledTemporaryFile(max_size=MEMORY_LIMIT) as copy:
        while piece := stream.read(CHUNK):
            data = piece.encode() if isinstance(piece, str) else piece
            count += len(data)
            if count > most:
                raise LogParseError(
                    f"more than {most:,} bytes come out of it",
                    source=name,
                    expected="a stream that ends, or a higher limit max_stream_bytes",
                )
            copy.write(data)
        copy.seek(0)
        return list(_logs_in(cast("IO[bytes]", copy), name, encoding))


def _logs_at(place: Path | str, encoding: str | None) -> Iterator[Log]:
    """The logs of a file or a URL."""
    if isinstance(place, str):
        yield Log(place, encoding or "utf-8", None, (), place)
        return
    name = str(place).encode(errors="surrogateescape").decode(errors="backslashreplace")
    try:
        with place.open("rb") as file:
            if not file.seekable() or not place.is_file():  # a pipe; a device may say that it can seek
                yield from _open_copied(file, name, encoding)
                return
            # Polars takes no path that is not UTF-8: the text of such a file is kept as a copy.
            yield from _logs_in(file, name, encoding, place if name == str(place) else None)
    except OSError as error:
        if isinstance(error, LogParseError):
            raise
        raise LogParseError(f"cannot be read: {error.strerror or error}", source=name) from error


def _logs_in(file: IO[bytes], name: str, encoding: str | None, path: Path | None = None) -> Iterator[Log]:
    """The logs in a binary stream that can seek; `path` where the stream is a file on disk."""
    start = file.read(CHUNK)
    file.seek(0)
    if refused := refused_format(start):
        raise LogParseError(f"{refused}, not a text log", source=name, expected="a text or HTML file")
    compression = compression_of(start)
    with ExitStack() as files:

        def spool() -> IO[bytes]:
            """A file in memory that moves to disk when it grows; closed when the logs are open."""
            return files.enter_context(tempfile.SpooledTemporaryFile(max_size=MEMORY_LIMIT))

        if compression is None:
            decoded = decode(file, name, encoding=encoding, spool=spool)
            target = path if path is not None and decoded.is_plain else _kept(decoded)
            yield Log(name, decoded.encoding, None, decoded.notes, target)
            return
        left = MEMORY_LIMIT
        for member in unpacked(file, compression, name, spool):
            with member.stream:
                decoded = decode(member.stream, member.name, encoding=encoding, spool=spool)
                notes = decoded.notes if member.note is None else (member.note, *decoded.notes)
                with decoded.stream:
                    log = Log(member.name, decoded.encoding, compression, notes, _kept(decoded, left))
            left -= len(log.target) if isinstance(log.target, bytes) else 0
            yield log


def _kept(decoded: Decoded, left: int = MEMORY_LIMIT) -> Path | bytes:
    """The decoded text: as bytes where at most ``left`` of memory hold it, as a temporary file where not."""
    text = decoded.text()
    size = text.seek(0, io.SEEK_END)
    text.seek(0)
    if size <= left:
        return text.read()
    with tempfile.NamedTemporaryFile(dir=temporary_folder(), suffix=".txt", delete=False) as out:
        shutil.copyfileobj(text, out, CHUNK)
    return Path(out.name)


@cache
def temporary_folder() -> Path:
    """The folder for large transcoded logs; removed when Python ends."""
    folder = Path(tempfile.mkdtemp(prefix="logframe-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _name_of(source: object) -> str:
    return str(source)[:200] if isinstance(source, (str, PathLike)) else f"<{type(source).__name__}>"
