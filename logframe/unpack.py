"""Unpacking: compressed files and archives, known by their magic bytes, within the limits of `logframe.limits`."""

from __future__ import annotations

import bz2
import io
import json
import lzma
import struct
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from itertools import pairwise
from typing import IO, TYPE_CHECKING, Final, NamedTuple, Protocol, cast

from logframe.errors import Diagnostic, LogParseError
from logframe.limits import MIN_RATIO_BYTES, current

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Makes an empty file to write unpacked or transcoded data to.
Spool = Callable[[], IO[bytes]]


class Unpacked(NamedTuple):
    """One decompressed file, its name, and a note when its compressed data was damaged."""

    name: str
    stream: IO[bytes]
    note: Diagnostic | None


class _Decompressor(Protocol):
    """What the decompressors of the standard library and of zstandard share."""

    def decompress(self, data: bytes, max_length: int = -1, /) -> bytes: ...
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...


_MAGIC = {
    "gzip": b"\x1f\x8b\x08",
    "bzip2": b"BZh",
    "xz": b"\xfd7zXZ\x00",
    "lzma": b"\x5d\x00\x00",
    "zstd": b"\x28\xb5\x2f\xfd",
    "zip": b"PK\x03\x04",
}
#: How each line of a log begins that Docker keeps (its ``json-file`` driver): an object with a line of the program.
_DOCKER: Final = b'{"log":"'
#: Where the header of a tar archive names its format, and the bytes there.
_TAR: Final = (slice(257, 262), b"ustar")

#: Where the header of the format before xz has the size of the data: unknown, or less than 256 TiB.
_LZMA_SIZE = slice(5, 13)

_REFUSED = {
    b"\x7fELF": "an executable (ELF)",
    b"%PDF-": "a PDF document",
    b"\x89PNG": "a picture (PNG)",
    b"\xff\xd8\xff": "a picture (JPEG)",
    b"GIF8": "a picture (GIF)",
    b"PAR1": "a Parquet file",
    b"SQLite format 3": "a SQLite database",
    b"7z\xbc\xaf\x27\x1c": "a 7-Zip archive",
    b"Rar!": "a RAR archive",
    b"\x1f\x9d": "a compress (.Z) file",
    b"\xd0\xcf\x11\xe0": "an old Office document",
}


#: What the standard library raises where the directory of an archive is damaged.
_DAMAGED_ARCHIVE = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, struct.error, OSError, EOFError),
    *(ValueError, OverflowError, NotImplementedError, RuntimeError, MemoryError),
)
_DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError)

#: Compressed data is fed to its decompressor in pieces of this many bytes.
_PIECE = 1 << 16
#: A decompressor gives at most this many bytes a call.
_MOST_OUT = 1 << 20
#: Input of one call of `zstandard`: a block is at most 128 KiB of output for a few bytes of input.
_ZSTD_PIECE = 1 << 9


def compression_of(start: bytes) -> str | None:
    """The compression that the first bytes of a file announce, or None.

    Examples:
        >>> compression_of(b"BZh91AY&SY")
        'bzip2'
    """
    if start.startswith(b"BZh") and not start[3:4].isdigit():
        return None
    if start.startswith(_MAGIC["lzma"]) and not _is_lzma(start):
        return None
    if start[: 2 * len(_DOCKER)].replace(b" ", b"").startswith(_DOCKER):
        return "docker"
    if start[_TAR[0]] == _TAR[1]:
        return "tar"
    return next((name for name, magic in _MAGIC.items() if start.startswith(magic)), None)


def _is_lzma(start: bytes) -> bool:
    """Is this the header of the format before xz: after its properties the size of the data, if it is known?"""
    size = start[_LZMA_SIZE]
    return len(size) == 8 and (size == b"\xff" * 8 or size.endswith(b"\0\0"))


def refused_format(start: bytes) -> str | None:
    """What a file is when it is surely no log, by its first bytes; None when it may be one."""
    return next((name for magic, name in _REFUSED.items() if start.startswith(magic)), None)


def unpacked(file: IO[bytes], compression: str, name: str, spool: Spool) -> Iterator[Unpacked]:
    """Each file within a compressed file or archive, decompressed, one at a time: the caller closes each stream.

    Members of an archive that are compressed themselves are decompressed; archives within archives are not opened.
    Data that ends early or is damaged gives what precedes the damage, and a note.

    Raises:
        LogParseError: Nothing can be read (an archive that is damaged, empty or encrypted, data that is no data), or
            more comes out than `logframe.limits` allow.
    """
    if compression in {"zip", "tar"}:
        yield from _members(file, compression, name, spool)
        return
    if compression == "docker":
        yield _checked(_without_objects(file, spool(), name), "", name)
        return
    out = spool()
    damage = _decompress(file, compression, out, name)
    out.seek(0)
    start = out.read(_PIECE)
    if compression_of(start) == "tar":
        out.seek(0)
        yield from _members(out, "tar", name, spool)
        return
    if compression_of(start) == "docker":
        out.seek(0)
        out = _without_objects(out, spool(), name)
    out.seek(0, io.SEEK_END)
    yield _checked(out, damage, name)


def _without_objects(file: IO[bytes], out: IO[bytes], name: str) -> IO[bytes]:
    """The lines that a program wrote, out of the objects in which Docker keeps them; other lines as they are."""
    budget = Budget(name)
    for line in file:
        try:
            text = json.loads(line)["log"].encode()
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            text = line
        budget.spend(len(text))
        out.write(text)
    return out


class Budget:
    """Counts the bytes that come out of a source and refuses more than the limits allow.

    Args:
        name: Name of the log, for the error.
        packed: Bytes of compressed data, or None without any.
    """

    def __init__(self, name: str, packed: int | None = None) -> None:
        self.name = name
        self.packed = packed
        self.out = 0
        self.limits = current()

    def spend(self, count: int) -> None:
        """Count bytes.

        Raises:
            LogParseError: They are more than a limit allows; the error names it.
        """
        self.out += count
        if self.out > self.limits.max_bytes:
            raise LogParseError(
                f"more than {self.limits.max_bytes:,} bytes come out of it",
                source=self.name,
                expected="a smaller log, or a higher limit max_bytes",
            )
        if self.packed is not None and self.out > max(MIN_RATIO_BYTES, self.limits.max_ratio * max(self.packed, 1)):
            raise LogParseError(
                f"{self.packed:,} compressed bytes give more than {self.limits.max_ratio} times as many",
                source=self.name,
                expected="a log, or a higher limit max_ratio",
            )


def _decompress(file: IO[bytes], compression: str, out: IO[bytes], name: str) -> str:
    """Write the decompressed data to `out`; what was wrong with it, or an empty string."""
    budget = Budget(name, 0)
    try:
        for piece in _pieces(file, compression, budget):
            budget.spend(len(piece))
            out.write(piece)
    except EOFError:
        return "it ends early"
    except (*_DAMAGE, _zstd_error()) as error:
        if isinstance(error, LogParseError):
            raise
        return str(error)
    return ""


def _pieces(file: IO[bytes], compression: str, budget: Budget) -> Iterator[bytes]:
    """The decompressed data in pieces of bounded size, stream after stream.

    Raises:
        EOFError: The data ends early.
    """
    decompressor = _decompressor(compression)
    has_ended = True
    waiting = b""
    while data := waiting or file.read(_PIECE):
        if not waiting:
            budget.packed = (budget.packed or 0) + len(data)
        if has_ended and not data.strip(b"\0"):
            waiting = b""
            continue
        has_ended, waiting = False, b""
        yield decompressor.decompress(data, _MOST_OUT)
        while not decompressor.eof and (rest := _rest(decompressor)) is not None:
            yield decompressor.decompress(rest, _MOST_OUT)
        if decompressor.eof:
            has_ended, waiting = True, decompressor.unused_data
            decompressor = _decompressor(compression)
    if not has_ended:
        raise EOFError


def _rest(decompressor: _Decompressor) -> bytes | None:
    """What a decompressor still has to give without more data: the data to call it with, or None."""
    if (tail := getattr(decompressor, "unconsumed_tail", None)) is not None:
        return tail or None
    return None if getattr(decompressor, "needs_input", True) else b""


def _members(file: IO[bytes], kind: str, name: str, spool: Spool) -> Iterator[Unpacked]:
    """The files of an archive, in their order."""
    packed = file.seek(0, io.SEEK_END)
    file.seek(0)
    budget = Budget(name, packed)
    is_empty = True
    try:
        read = _zip_members if kind == "zip" else _tar_members
        for member, stream in read(file, name):
            yield _member(stream, f"{name}/{member}", budget, spool)
            is_empty = False
    except LogParseError:
        raise
    except _DAMAGED_ARCHIVE as error:
        raise LogParseError(f"damaged {kind} archive: {error}", source=name) from error
    if is_empty:
        raise LogParseError(f"the {kind} archive is empty", source=name)


def _zip_members(file: IO[bytes], name: str) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(file) as archive:
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        _check_count(len(entries), name)
        ends = sorted((entry.header_offset, entry.header_offset + entry.compress_size) for entry in entries)
        if any(end >= start for (_, end), (start, _) in pairwise(ends)):
            raise LogParseError(
                "the members of the zip archive overlap", source=name, expected="an archive of a zip tool"
            )
        for entry in entries:
            if entry.flag_bits & 1:
                raise LogParseError(
                    "the zip archive is encrypted", source=f"{name}/{entry.filename}", expected="one without a password"
                )
            with archive.open(entry) as stream:
                yield entry.filename, stream


def _tar_members(file: IO[bytes], name: str) -> Iterator[tuple[str, IO[bytes]]]:
    with tarfile.open(fileobj=file, mode="r:") as archive:
        for number, entry in enumerate(archive):
            _check_count(number, name)
            if entry.isfile() and (stream := archive.extractfile(entry)) is not None:
                with stream:
                    yield entry.name, stream


def _check_count(count: int, name: str) -> None:
    if count > current().max_members:
        raise LogParseError(
            f"the archive has more than {current().max_members:,} members",
            source=name,
            expected="a smaller archive, or a higher limit max_members",
        )


def _member(stream: IO[bytes], name: str, budget: Budget, spool: Spool) -> Unpacked:
    """One member, decompressed where it is compressed itself."""
    out = spool()
    damage = ""
    try:
        while piece := stream.read(_PIECE):
            budget.spend(len(piece))
            out.write(piece)
    except (*_DAMAGE, zipfile.BadZipFile, tarfile.TarError, NotImplementedError) as error:
        if isinstance(error, LogParseError):
            raise
        damage = str(error)
    out.seek(0)
    inner = compression_of(out.read(_PIECE))
    if inner in {"zip", "tar"}:
        raise LogParseError("an archive within an archive is not opened", source=name, expected="its members as files")
    if inner is None:
        out.seek(0, io.SEEK_END)
        return _checked(out, damage, name)
    out.seek(0)
    plain = spool()
    damage = _decompress(out, inner, plain, name) or damage
    return _checked(plain, damage, name)


def _checked(out: IO[bytes], damage: str, name: str) -> Unpacked:
    if damage and not out.tell():
        raise LogParseError(f"damaged compressed data: {damage}", source=name)
    out.seek(0)
    if not damage:
        return Unpacked(name, out, None)
    reason = f"the compressed data is damaged ({damage}); what precedes the damage was read"
    return Unpacked(name, out, Diagnostic(name, None, None, "unreadable", None, reason))


class _Zstd:
    """`zstandard`, which has no bound for the output of one call, as a decompressor that takes small pieces."""

    def __init__(self) -> None:
        import zstandard  # noqa: PLC0415 - the standard library has it from 3.14 on

        self._object = zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj()
        self.unconsumed_tail = b""

    def decompress(self, data: bytes, max_length: int = -1, /) -> bytes:
        """The next piece; input is taken little by little, as one byte of it may give megabytes."""
        del max_length  # a small piece of input bounds the output
        now, self.unconsumed_tail = data[:_ZSTD_PIECE], data[_ZSTD_PIECE:]
        found: bytes = self._object.decompress(now)
        return found

    @property
    def eof(self) -> bool:
        """Whether the frame has ended."""
        return bool(self._object.eof)

    @property
    def unused_data(self) -> bytes:
        """What follows the frame."""
        return bytes(self._object.unused_data) + self.unconsumed_tail


def _decompressor(compression: str) -> _Decompressor:
    match compression:
        case "gzip":
            return cast("_Decompressor", zlib.decompressobj(wbits=31))
        case "bzip2":
            return bz2.BZ2Decompressor()
        case "xz" | "lzma":
            return lzma.LZMADecompressor()
        case _ if sys.version_info >= (3, 14):
            from compression import zstd  # noqa: PLC0415 - new in 3.14

            return cast("_Decompressor", zstd.ZstdDecompressor())
        case _:
            return _Zstd()


def _zstd_error() -> type[Exception]:
    if sys.version_info >= (3, 14):
        from compression import zstd  # noqa: PLC0415 - new in 3.14

        return cast("type[Exception]", zstd.ZstdError)
    import zstandard  # noqa: PLC0415 - the standard library has it from 3.14 on

    return cast("type[Exception]", zstandard.ZstdError)
