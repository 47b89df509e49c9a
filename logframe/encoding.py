r"""Decoding: any bytes of a log into UTF-8 text, nothing dropped, every guess reported.

In this order: a byte order mark; the encoding the caller names; UTF-16 without a mark (every other byte is NUL);
UTF-8; and for text that is not UTF-8 the encoding that fits: GB18030 when its high bytes come in the pairs of Chinese
text, else cp1252, else Latin-1.  Text that is UTF-8 but for a few bytes stays UTF-8, and those bytes are written as
``\xNN``.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING

from logframe.errors import Diagnostic, LogParseError

if TYPE_CHECKING:
    from logframe.unpack import Spool

#: Logs are read in pieces of this many bytes.
CHUNK = 1 << 20

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_HIGH_RUN = re.compile(rb"[\x80-\xff]+")
_GB2312_PAIRS = re.compile(rb"(?:[\xa1-\xf7][\xa1-\xfe])+")
#: Above this share of lines that are not UTF-8 among lines with high bytes, the text is in another encoding.
_FOREIGN_SHARE = 0.5
#: This many escaped lines get a diagnostics row of their own; the rest are counted in one row.
_ESCAPED_ROWS = 20


@dataclass(frozen=True)
class Decoded:
    """Text decoded from a stream; `text()` gives its UTF-8 bytes.

    Attributes:
        encoding: the name of the encoding.
        is_plain: the stream's own bytes already are this text.
        notes: diagnostics.
    """

    encoding: str
    is_plain: bool
    notes: tuple[Diagnostic, ...]
    stream: IO[bytes]

    def text(self) -> IO[bytes]:
        """The UTF-8 text, from its start."""
        self.stream.seek(0)
        return self.stream


def decode(source: IO[bytes], name: str, *, encoding: str | None, spool: Spool) -> Decoded:
    """The text of a file.

    Args:
        source: binary, can seek, at its start.
        name: of the log, for diagnostics.
        encoding: used when given and no byte order mark says otherwise.
        spool: makes the file that holds text which is not simply the stream's bytes.

    Raises:
        LogParseError: the encoding named is unknown.
    """
    start = source.read(CHUNK)
    source.seek(0)
    guess = _marked(start) or encoding or _utf16_without_mark(start)
    if guess is None or guess.lower().replace("_", "-") in {"utf-8", "utf8"}:
        if _is_utf8(source):
            return Decoded("utf-8", True, (), source)
        return _decode_foreign(source, name, spool)
    try:
        is_text = codecs.lookup(guess)._is_text_encoding  # noqa: SLF001 - as bytes.decode asks
    except LookupError as error:
        raise LogParseError(f"unknown encoding {guess!r}", source=name, expected="a Python codec") from error
    if not is_text:
        raise LogParseError(
            f"{guess!r} is no encoding of text", source=name, expected="a text encoding, such as cp1252"
        )
    return _transcoded(source, guess, name, spool)


def _marked(start: bytes) -> str | None:
    return next((encoding for mark, encoding in _MARKS if start.startswith(mark)), None)


def _utf16_without_mark(start: bytes) -> str | None:
    """UTF-16 of mostly Latin text has a NUL in every other place."""
    sample = start[:4096]
    if len(sample) < 4:
        return None
    even, odd = sample[0::2].count(0) / len(sample[0::2]), sample[1::2].count(0) / len(sample[1::2])
    if odd > 0.7 and even < 0.2:
        return "utf-16-le"
    if even > 0.7 and odd < 0.2:
        return "utf-16-be"
    return None


def _is_utf8(source: IO[bytes]) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        while chunk := source.read(CHUNK):
            if not chunk.isascii() or decoder.getstate()[0]:
                decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    finally:
        source.seek(0)
    return True


def _decode_foreign(source: IO[bytes], name: str, spool: Spool) -> Decoded:
    """Text that is not all UTF-8: in another encoding, or damaged in places."""
    high = bad = 0
    sample = bytearray()
    for line in source:
        if line.isascii():
            continue
        high += 1
        if not _is_valid(line):
            bad += 1
            if len(sample) < CHUNK:
                sample += line
    source.seek(0)
    if bad <= _FOREIGN_SHARE * high or bad == 0:
        return _escaped(source, name, spool)
    guess = _fitting(bytes(sample))
    reason = f"not UTF-8: read as {guess}, a guess from its bytes; encoding='...' overrides it"
    note = Diagnostic(name, None, None, "encoding", None, reason)
    decoded = _transcoded(source, guess, name, spool)
    return replace(decoded, notes=(note, *decoded.notes))


def _is_valid(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _fitting(sample: bytes) -> str:
    """The encoding that fits bytes which are not UTF-8."""
    runs = _HIGH_RUN.findall(sample)
    paired = sum(len(run) for run in runs if _GB2312_PAIRS.fullmatch(run))
    if paired > 0.8 * sum(map(len, runs)):
        return "gb18030"
    try:
        sample.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252"


def _escaped(source: IO[bytes], name: str, spool: Spool) -> Decoded:
    r"""UTF-8 text with each undecodable byte written as ``\xNN``, and a note for its line."""
    out = spool()
    notes = []
    escaped = 0
    for number, line in enumerate(source, 1):
        text = line.decode("utf-8", errors="backslashreplace")
        out.write(text.encode("utf-8"))
        if not line.isascii() and not _is_valid(line):
            escaped += 1
            if escaped <= _ESCAPED_ROWS:
                reason = r"bytes that are not UTF-8 are written as \xNN"
                notes.append(Diagnostic(name, number, None, "encoding", text.rstrip("\r\n")[:200], reason))
    if escaped > _ESCAPED_ROWS:
        reason = (
            rf"{escaped} lines have bytes that are not UTF-8, written as \xNN; the first {_ESCAPED_ROWS} are listed"
        )
        notes.append(Diagnostic(name, None, None, "encoding", None, reason))
    return Decoded("utf-8", False, tuple(notes), out)


def _transcoded(source: IO[bytes], encoding: str, name: str, spool: Spool) -> Decoded:
    r"""Text of a known encoding as UTF-8; what it cannot decode is written as ``\xNN`` and counted in a note."""
    out = spool()
    reader = codecs.getincrementaldecoder(encoding)(errors="backslashreplace")
    strict = codecs.getincrementaldecoder(encoding)(errors="strict")
    notes = []
    damaged = False
    while chunk := source.read(CHUNK):
        out.write(reader.decode(chunk).encode("utf-8", errors="backslashreplace"))
        if not damaged:
            try:
                strict.decode(chunk)
            except UnicodeError:
                damaged = True
    out.write(reader.decode(b"", final=True).encode("utf-8", errors="backslashreplace"))
    if damaged:
        reason = rf"some bytes are not {encoding}; they are written as \xNN"
        notes.append(Diagnostic(name, None, None, "encoding", None, reason))
    return Decoded(encoding.removesuffix("-sig"), False, tuple(notes), out)
