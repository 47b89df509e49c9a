"""The registry of log formats: what a package that reads a kind of log registers, and how a log finds its reader.

A package registers one `Format` a kind of log under the entry-point group ``logframe.formats``; its name there is the
format's name::

    [project.entry-points."logframe.formats"]
    strace = "straceparse.format:FORMAT"

`recognise` asks every registered format for a `Sniff` of a log's beginning and takes the best.  A format that raises,
or gives a score outside 0 to 1, is skipped with a `FormatWarning` that names it.
"""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from logframe.encoding import CHUNK
from logframe.errors import LogError, LogParseError
from logframe.margins import without_shared_margin
from logframe.normalize import without_terminal_codes
from logframe.parsed_log import ParsedLog, is_log

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.metadata import EntryPoint

    import polars as pl

    from logframe.provenance import Part
    from logframe.ranges import Splitting
    from logframe.source import Log, Source

__all__ = [
    "Format",
    "FormatWarning",
    "Head",
    "ParsedLog",
    "Sniff",
    "expected",
    "formats",
    "head_of",
    "is_log",
    "named_format",
    "recognise",
    "sniff_all",
    "unknown",
]

#: Group of entry points under which formats are registered.
GROUP: Final = "logframe.formats"
#: This many bytes of a log's beginning are given to `Format.sniff`.
HEAD_BYTES: Final = 1 << 16
#: Lines that a program filled up with blanks have at most this many times their length.
_PADDING: Final = 16
#: A score from here on identifies the format; the formats of lower scores are tried one after the other.
CERTAIN: Final = 0.5
#: A lower score says only that the reader has to try, not what the log is.
POSSIBLE: Final = 0.2
_NUL: Final = "\x00"


class FormatWarning(UserWarning):
    """A registered format cannot be used; the message names it and says why."""


class Sniff(NamedTuple):
    """How a format recognises the beginning of a log.

    Attributes:
        score: 0 to 1; from `CERTAIN` on the log is of this format.
        reason: What was recognised, as the end of "this is ...".
        is_refused: The log is recognised, and this format's reader does not read it.
        line: The line that shows it, counted from 1, or None.
        instead: Of a log that is refused, what to take in its place.
    """

    score: float
    reason: str
    is_refused: bool = False
    line: int | None = None
    instead: str = ""


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a log, for `Format.sniff`.

    Attributes:
        log: The opened log.
        text: Its first `HEAD_BYTES` bytes as text, lines ended by a line feed; without NUL bytes before them,
            colours of a terminal and the marks of a quotation or the indent that all lines have.
    """

    log: Log
    text: str

    @property
    def name(self) -> str:
        """Name of the log."""
        return self.log.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One kind of log.

    Attributes:
        name: Name in the registry.
        title: What a person calls it, with its article: ``an strace log``.
        sniff: Whether a log is of this format, by its beginning; None where nothing says so.
        read: Reads one source.
        read_large: Reads one source of any size in bounded memory: its frames may be LazyFrames over files in the
            folder it is given, an empty one, which stays until they are read.  None where `read` does so.
        is_one_log: Whether several files are one log (the files of ``strace -ff``); None where that never is.
        parts: All logs that one file held (the reports of one file), of the log that `read` gave; None where there is
            never more than one.
        row_keys: What the log says of itself (database, instance, period) as a frame of one row, the most general
            column first; a dataset puts it before each row and sorts by it.  None where there is nothing of the kind.
        splitting: How one large log is read in pieces by several processes (`logframe.ranges`); None where it is not.
        places: Which rows of the frames of a log that it read came from which lines of the source, for
            `logframe.provenance`; None where the format does not say.
    """

    name: str
    title: str
    sniff: Callable[[Head], Sniff | None]
    read: Callable[[Source], ParsedLog]
    read_large: Callable[[Source, Path], ParsedLog] | None = None
    is_one_log: Callable[[Sequence[Log]], bool] | None = None
    parts: Callable[[ParsedLog], Sequence[ParsedLog]] | None = None
    row_keys: Callable[[ParsedLog], pl.DataFrame] | None = None
    splitting: Callable[[], Splitting] | None = None
    places: Callable[[Any, Source], list[Part]] | None = None

    def parse(self, source: Source, folder: Path | None) -> ParsedLog:
        """The log of a source; with a folder, one whose frames may be files there."""
        if folder is None or self.read_large is None:
            return self.read(source)
        return self.read_large(source, Path(tempfile.mkdtemp(dir=folder)))


@cache
def formats() -> dict[str, Format]:
    """The registered formats by name, in the order of their names.

    Raises:
        LogError: No format is registered, or two are of one name.
    """
    return _loaded(entry_points(group=GROUP))


def _loaded(points: Sequence[EntryPoint] | tuple[EntryPoint, ...]) -> dict[str, Format]:
    found: dict[str, EntryPoint] = {}
    for point in sorted(points, key=lambda point: (point.name, point.value)):
        other = found.setdefault(point.name, point)
        if other.value != point.value:
            raise LogError(
                f"two log formats are named {point.name!r}: {_owner(other)} and {_owner(point)}; uninstall one of them"
            )
    if not found:
        raise LogError(
            "no log format is registered: the package's metadata is missing, as in a copied folder; "
            "install the project with pip"
        )
    loaded = {name: _load(point) for name, point in found.items()}
    return {name: one for name, one in loaded.items() if one is not None}


def _load(point: EntryPoint) -> Format | None:
    try:
        found = point.load()
    except Exception as error:  # noqa: BLE001 - whatever a plugin raises, the others go on
        _warn(point.name, f"{_owner(point)} cannot be imported: {error!r}")
        return None
    if not isinstance(found, Format) or found.name != point.name:
        _warn(point.name, f"{_owner(point)} is no Format of that name")
        return None
    return found


def _owner(point: EntryPoint) -> str:
    return f"{point.value} of {point.dist.name if point.dist else 'an unknown distribution'}"


def _warn(name: str, reason: str) -> None:
    warnings.warn(f"log format {name!r} is skipped: {reason}", FormatWarning, stacklevel=3)


def head_of(log: Log) -> Head:
    """The beginning of a log.

    Raises:
        LogParseError: The log is empty, or binary.
    """
    text = "\n".join(log.head(HEAD_BYTES)) or "\n".join(log.lines())[:HEAD_BYTES]
    if len(text) > HEAD_BYTES // 2 and text.count("   \n") > text.count("\n") // 2:
        text = "\n".join(map(str.rstrip, log.head(HEAD_BYTES * _PADDING)))
        text = text if len(text) <= HEAD_BYTES else text[:HEAD_BYTES].rpartition("\n")[0]
    if text.startswith(_NUL):
        text = "\n".join(_after_hole(log).head(HEAD_BYTES)) or text
    if not text.strip():
        raise LogParseError("the file is empty", source=log.name, expected=expected())
    if _NUL in text[:4096]:
        raise LogParseError("binary data, not a log", source=log.name, expected=expected())
    bare = without_shared_margin(without_terminal_codes(text))
    if not bare.strip():
        raise LogParseError("marks of a quotation and colours, and no log", source=log.name, expected=expected())
    return Head(log, bare)


def _after_hole(log: Log) -> Log:
    """The beginning of a log after NUL bytes, which stand where it was truncated while a program wrote it."""
    match log.target:
        case bytes():
            return replace(log, target=log.target.lstrip(_NUL.encode()))
        case Path():
            rest = b""
            with log.target.open("rb") as file:
                while not rest and (piece := file.read(CHUNK)):
                    rest = piece.lstrip(_NUL.encode())
                return replace(log, target=rest + file.read(HEAD_BYTES))
        case _:
            return log


def sniff_all(head: Head) -> list[tuple[Format, Sniff]]:
    """The answers of the registered formats that may read a log, the best score first."""
    found = []
    for one in formats().values():
        try:
            sniff = one.sniff(head)
        except Exception as error:  # noqa: BLE001 - whatever a plugin raises, the others go on
            _warn(one.name, f"its sniff raised {error!r}")
            continue
        if sniff is None:
            continue
        if not isinstance(sniff, Sniff) or not 0 <= sniff.score <= 1:
            _warn(one.name, f"its sniff returned {sniff!r}, not a Sniff with a score of 0 to 1")
            continue
        found.append((one, sniff))
    return sorted(found, key=lambda pair: -pair[1].score)


def recognise(head: Head, found: list[tuple[Format, Sniff]] | None = None) -> list[Format]:
    """The formats to try for a log, the best first: those that are certain of it, else all for which it is possible.

    Args:
        head: The head of the log.
        found: What `sniff_all` finds of it, where that is known.

    Raises:
        LogParseError: No format recognises the log, two recognise it equally, or it is recognised as a kind of log that
            is not read.
    """
    if found is None:
        found = sniff_all(head)
    certain = [(one, sniff) for one, sniff in found if sniff.score >= CERTAIN]
    if not certain:
        if not found:
            raise unknown(head)
        return [one for one, _ in found]
    best, sniff = certain[0]
    if sniff.is_refused:
        line = sniff.line
        raise LogParseError(
            f"this is {sniff.reason}, which is not read",
            source=head.name,
            line=line,
            text=None if line is None else head.text.split("\n")[line - 1][:200],
            expected=sniff.instead or expected(),
        )
    tied = [other for other, its in certain if its.score == sniff.score]
    if len(tied) > 1:
        listed = "; ".join(f"{other.name} ({its.reason})" for other, its in certain if its.score == sniff.score)
        raise LogParseError(
            f"{len(tied)} formats recognise this log equally: {listed}",
            source=head.name,
            expected=f"format={best.name!r} or another of them says which",
        )
    return [one for one, sniff in certain if not sniff.is_refused]


def unknown(head: Head) -> LogParseError:
    """The error for a log that no format takes: it shows the first line that has text."""
    lines = head.text.split("\n")
    line = next(number for number, text in enumerate(lines, 1) if text.strip())
    return LogParseError(
        "this is not a log of a known kind",
        source=head.name,
        line=line,
        text=lines[line - 1][:200],
        expected=expected(),
    )


def expected() -> str:
    """What an error names instead of the long list of kinds."""
    return "a log of a kind that `iolab formats` lists"


def named_format(name: str) -> Format:
    """The format of a name.

    Raises:
        LogError: There is not one; the message lists those that there are.
    """
    if name not in formats():
        raise LogError(f"no log format {name!r}; there are {', '.join(formats())}")
    return formats()[name]
