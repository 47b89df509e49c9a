"""Unpacking: compressed files and archives, known by their magic bytes."""

from __future__ import annotations

import bz2
import lzma
import sys
import zipfile
import zlib
from collections.abc import Callable
from typing import IO, NamedTuple, Protocol, cast

from logframe.errors import Diagnostic, LogParseError

#: Makes an empty file to write unpacked or transcoded data to.
Spool = Callable[[], IO[bytes]]


class Unpacked(NamedTuple):
    """One decompressed file, its name, and a note when its compressed data was damaged."""

    name: str
    stream: IO[bytes]
    note: Diagnostic | None


class _Decompressor(Protocol):
    """What the decompressors of the standard library and of zstandard share."""

    def decompress(self, data: bytes, /) -> bytes: ...
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


_DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError)

#: Compressed data is fed to its decompressor in pieces of this many bytes.
_PIECE = 1 << 16


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
    return next((name for name, magic in _MAGIC.items() if start.startswith(magic)), None)


def _is_lzma(start: bytes) -> bool:
    """Is this the header of the format before xz: after its properties the size of the data, if it is known?"""
    size = start[_LZMA_SIZE]
    return len(size) == 8 and (size == b"\xff" * 8 or size.endswith(b"\0\0"))


def refused_format(start: bytes) -> str | None:
    """What a file is when it is surely no log, by its first bytes; None when it may be one."""
    return next((name for magic, name in _REFUSED.items() if start.startswith(magic)), None)


def unpacked(file: IO[bytes], compression: str, name: str, spool: Spool) -> list[Unpacked]:
    """Each file within a compressed file or archive, decompressed.

    Data that ends early or is damaged gives what stands before the damage, and a note.

    Raises:
        LogParseError: nothing can be read: an archive that is damaged, empty or encrypted, data that is no data.
    """
    if compression == "zip":
        return _unzipped(file, name, spool)
    out = spool()
    damage = _decompress(file, compression, out)
    return [_checked(out, damage, name)]


def _decompress(file: IO[bytes], compression: str, out: IO[bytes]) -> str:
    """Write the decompressed data to `out`; what was wrong with it, or an empty string."""
    decompressor = _decompressor(compression)
    while piece := file.read(_PIECE):
        try:
            out.write(decompressor.decompress(piece))
            while decompressor.eof and decompressor.unused_data.strip(b"\0"):
                rest = decompressor.unused_data
                decompressor = _decompressor(compression)
                out.write(decompressor.decompress(rest))
        except (*_DAMAGE, _zstd_error()) as error:
            return str(error)
    return "" if decompressor.eof else "it ends early"


def _unzipped(file: IO[bytes], name: str, spool: Spool) -> list[Unpacked]:
    try:
        with zipfile.ZipFile(file) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            if not entries:
                raise LogParseError("the zip archive is empty", source=name)
            return [_unzip_entry(archive, entry, f"{name}/{entry.filename}", spool) for entry in entries]
    except zipfile.BadZipFile as error:
        raise LogParseError(f"damaged zip archive: {error}", source=name) from error


def _unzip_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str, spool: Spool) -> Unpacked:
    if entry.flag_bits & 1:
        raise LogParseError("the zip archive is encrypted", source=name, expected="an archive without a password")
    out = spool()
    damage = ""
    try:
        with archive.open(entry) as stream:
            while piece := stream.read(_PIECE):
                out.write(piece)
    except (*_DAMAGE, zipfile.BadZipFile, NotImplementedError) as error:
        damage = str(error)
    return _checked(out, damage, name)


def _checked(out: IO[bytes], damage: str, name: str) -> Unpacked:
    if damage and not out.tell():
        raise LogParseError(f"damaged compressed data: {damage}", source=name)
    out.seek(0)
    if not damage:
        return Unpacked(name, out, None)
    reason = f"the compressed data is damaged ({damage}); what stands before the damage was read"
    return Unpacked(name, out, Diagnostic(name, None, None, "damaged", None, reason))


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
            import zstandard  # noqa: PLC0415 - the standard library has it from 3.14 on

            return cast("_Decompressor", zstandard.ZstdDecompressor().decompressobj())


def _zstd_error() -> type[Exception]:
    if sys.version_info >= (3, 14):
        from compression import zstd  # noqa: PLC0415 - new in 3.14

        return cast("type[Exception]", zstd.ZstdError)
    import zstandard  # noqa: PLC0415 - the standard library has it from 3.14 on

    return cast("type[Exception]", zstandard.ZstdError)
