"""Opening strace logs: lines without end and logs that start with NUL bytes are made readable in bounded memory.

A log that is truncated while strace writes it goes on where strace was, after a hole of NUL bytes.  They are removed
from its first line.  Of a line longer than the limit ``max_line_bytes`` the head is kept.  What was done to a line is
the `reason` of its event.

Logs of truss, tusc and dtruss are refused: read as strace's, their times would mean something else.
"""

from __future__ import annotations

import io
import re
import tempfile
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from logframe import Log, Source, load_grammar
from logframe import open_logs as open_any
from logframe.limits import current
from logframe.source import MEMORY_LIMIT, temporary_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


#: Of a line that is too long this many bytes are kept: prefix, name and first arguments.
HEAD_BYTES: Final = 4096
#: A log is searched for long lines in steps of this many bytes.
_STEP: Final = 4096
_CHUNK: Final = 1 << 20
_NUL: Final = b"\0"


@dataclass(frozen=True, slots=True)
class ShortenedLog(Log):
    """A log some lines of which were shortened.

    Attributes:
        reasons: number of each such line -> what was done to it.
    """

    reasons: dict[int, str] = field(default_factory=dict)


def open_logs(source: Source, *, encoding: str | None = None) -> list[Log]:
    """The logs of a source, as `logframe.open_logs` opens them, without overlong lines.

    Raises:
        LogNotFoundError: there is no such log.
        LogParseError: it cannot be opened.
    """
    return [shortened(log) for log in open_any(source, encoding=encoding)]


def shortened(log: Log) -> Log:
    r"""The log, its overlong lines cut and the NUL bytes at its start removed; the same object where it has none.

    Examples:
        >>> log = shortened(open_any(b"\0\0\0close(3) = 0\n")[0])
        >>> log.lines(), log.reasons
        (['close(3) = 0'], {1: '3 NUL bytes before this line: the log was truncated while strace wrote it'})
    """
    if isinstance(log.target, str):
        return log
    limit = current().max_line_bytes
    with closing(_opened(log.target)) as file:
        size = file.seek(0, io.SEEK_END)
        if not _has_nul(file) and not _may_be_long(file, size, limit):
            return log
        file.seek(0)
        with tempfile.SpooledTemporaryFile(max_size=MEMORY_LIMIT) as out:
            reasons = _shorten(file, out, limit)
            if not reasons:
                return log
            target = _kept(out)
    own = {one.name: getattr(log, one.name) for one in fields(Log)}
    return ShortenedLog(**{**own, "target": target}, reasons=reasons)


def _opened(target: Path | bytes) -> IO[bytes]:
    return target.open("rb") if isinstance(target, Path) else io.BytesIO(target)


def _has_nul(file: IO[bytes]) -> bool:
    file.seek(0)
    return file.read(1) == _NUL


def _may_be_long(file: IO[bytes], size: int, limit: int) -> bool:
    """Whether a line may be longer than the limit: one of the windows of half its size has no line end.

    Nearly always the first step of a window has one, so little of a log is read.
    """
    window = max(limit // 2, 1)
    for start in range(0, size - window + 1 if size > limit else 0, window):
        file.seek(start)
        left = window
        while left > 0:
            piece = file.read(min(_STEP, left))
            if b"\n" in piece:
                break
            left -= len(piece)
            if not piece:
                return False
        else:
            return True
    return False


def _shorten(file: IO[bytes], out: IO[bytes], limit: int) -> dict[int, str]:
    """Write the log to `out`, overlong lines cut; the reasons of the lines that are not as they were."""
    reasons: dict[int, str] = {}
    number = 1
    held = b""
    cut = 0  # bytes of an overlong line that were read so far
    for piece in _without_hole(file, reasons):
        lines = (held + piece).split(b"\n")
        held = lines.pop()
        if lines and cut:
            reasons[number] = _too_long(cut + len(lines[0]), limit)
            out.write(b"\n")
            number += 1
            del lines[0]
            cut = 0
        for line in lines:
            if len(line) > limit:
                reasons[number] = _too_long(len(line), limit)
                out.write(_head(line) + b"\n")
            else:
                out.write(line + b"\n")
            number += 1
        if cut or len(held) > limit:
            if not cut:
                out.write(_head(held))
            cut += len(held)
            held = b""
    if cut:
        reasons[number] = _too_long(cut, limit)
    out.write(held)
    return reasons


def _without_hole(file: IO[bytes], reasons: dict[int, str]) -> Iterator[bytes]:
    """The pieces of a file, without the NUL bytes at its start."""
    hole = 0
    while piece := file.read(_CHUNK):
        rest = piece.lstrip(_NUL)
        hole += len(piece) - len(rest)
        if rest:
            if hole:
                reasons[1] = f"{hole} NUL bytes before this line: the log was truncated while strace wrote it"
            yield rest
            break
    if hole and not piece:
        reasons[1] = f"{hole} NUL bytes and nothing else"
        yield _NUL
    while piece := file.read(_CHUNK):
        yield piece


def _head(line: bytes) -> bytes:
    """The start of a line, without a part of a character at its end."""
    return line[:HEAD_BYTES].decode("utf-8", errors="ignore").encode()


def _too_long(size: int, limit: int) -> str:
    return (
        f"a line of {size} bytes, of which the first {HEAD_BYTES} were read: it is longer than the limit "
        f"max_line_bytes={limit}"
    )


def _kept(file: IO[bytes]) -> Path | bytes:
    """The shortened text: as bytes when small, as a temporary file when not."""
    size = file.tell()
    file.seek(0)
    if size <= MEMORY_LIMIT:
        return file.read()
    with tempfile.NamedTemporaryFile(dir=temporary_folder(), suffix=".strace", delete=False) as out:
        while piece := file.read(_CHUNK):
            out.write(piece)
    return Path(out.name)


GRAMMAR: Final = load_grammar("straceparse", "other_tracers.lark", "line")

_NAMES: Final = {
    "DTRUSS": "dtruss (DTrace)",
    "TRUSS": "truss (Solaris)",
    "AIX_TRUSS": "truss (AIX)",
    "TUSC": "tusc (HP-UX)",
}
_PATTERN: Final = re.compile(f"(?:{'|'.join(f'(?P<{name}>{GRAMMAR.terminals[name]})' for name in _NAMES)})$")
#: A line alone may be quoted in another log.
_FEWEST: Final = 2


def other_tracer(lines: Sequence[str]) -> tuple[str, int] | None:
    """The tracer that printed most of the calls in some lines, where it is not strace, and its first line, from 1.

    Examples:
        >>> other_tracer(["/1:  read(8, 0x1234, 512)   Err#4 EINTR", "/1:  read(8, 0x1234, 512)   = 512"])
        ('truss (Solaris)', 1)
        >>> other_tracer(["0.000123 read(8, ''..., 512) = 512", "0.000123 read(8, ''..., 512) = 512"]) is None
        True
    """
    found: Counter[str] = Counter()
    first: dict[str, int] = {}
    calls = 0
    for number, line in enumerate(lines, 1):
        text = line.rstrip()
        calls += "(" in text and ")" in text
        if (match := _PATTERN.match(text)) is not None:
            name = _NAMES[str(match.lastgroup)]
            found[name] += 1
            first.setdefault(name, number)
    if not found:
        return None
    name, count = found.most_common(1)[0]
    return (name, first[name]) if count >= _FEWEST and 2 * found.total() > calls else None
