"""The formats of extended SQL traces and of TKPROF reports for the registry (`logframe.formats`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from logframe.formats import HEAD_BYTES, Format, Sniff

if TYPE_CHECKING:
    from pathlib import Path

    from logframe import Source
    from logframe.formats import Head
    from logframe.provenance import Part
    from logframe.ranges import Piece, Splitting
    from sqltraceparse.tkprof import Tkprof
    from sqltraceparse.trace import SqlTrace

#: A record at the beginning of a file identifies it, however much other text there is.
_LEAST: Final = 0.6
#: The score of a report that says what it is.
_TITLED: Final = 0.97
#: The score of a trace file of the database without a record near its beginning: the records may come later.
_POSSIBLE: Final = 0.2


def sniff(head: Head) -> Sniff | None:
    """Whether a log is an SQL trace: by the share of its first lines that are lines of a trace, if one is a record."""
    from sqltraceparse.heads import other_of, share_of  # noqa: PLC0415 - readers are imported on use

    share, first = share_of(head.text)
    if first is not None:
        return Sniff(max(_LEAST, share), "an extended SQL trace", line=first)
    other = other_of(head.text)
    if other is None or other.what == "a TKPROF report":
        return None
    if other.may_follow and len(head.text) >= HEAD_BYTES // 2:
        return Sniff(_POSSIBLE, f"{other.what}, perhaps with an SQL trace in it", line=other.line)
    return Sniff(_LEAST, other.what, is_refused=True, line=other.line)


def read(source: Source) -> SqlTrace:
    """The trace as `sqltraceparse.SqlTrace`."""
    from sqltraceparse.trace import read_sqltrace  # noqa: PLC0415 - readers are imported on use

    return read_sqltrace(source)


def sniff_tkprof(head: Head) -> Sniff | None:
    """Whether a log is a TKPROF report: by its first line, which text may precede."""
    from sqltraceparse.heads import other_of  # noqa: PLC0415 - readers are imported on use

    other = other_of(head.text)
    if other is None or other.what != "a TKPROF report":
        return None
    return Sniff(_TITLED, "a TKPROF report", line=other.line)


def read_large(source: Source, folder: Path) -> Piece:
    """The trace with its frames in files."""
    from sqltraceparse.parquet import read_large as read_frames  # noqa: PLC0415 - wanted by few

    return read_frames(source, folder)


def read_tkprof(source: Source) -> Tkprof:
    """The report as `sqltraceparse.Tkprof`."""
    from sqltraceparse.tkprof import read_tkprof as read_report  # noqa: PLC0415 - readers are imported on use

    return read_report(source)


def splitting() -> Splitting:
    """How a large trace is read in pieces."""
    from sqltraceparse.ranges import SPLITTING  # noqa: PLC0415 - wanted by few

    return SPLITTING


def places(parsed: SqlTrace | Tkprof, source: Source) -> list[Part]:
    """Which rows came from which lines."""
    from sqltraceparse.provenance import parts_of  # noqa: PLC0415 - wanted by few

    return parts_of(parsed, source)


TKPROF: Final = Format(name="tkprof", title="a TKPROF report", sniff=sniff_tkprof, read=read_tkprof, places=places)
FORMAT: Final = Format(
    name="sqltrace",
    title="an extended SQL trace",
    sniff=sniff,
    read=read,
    read_large=read_large,
    splitting=splitting,
    places=places,
)
