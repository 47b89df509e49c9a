"""The format of samples of the operating system for the registry (`logframe.formats`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from logframe.formats import Format, Sniff

if TYPE_CHECKING:
    from pathlib import Path

    from hostparse.log import HostLog
    from logframe import Source
    from logframe.formats import Head
    from logframe.provenance import Part

#: This many lines at the beginning of a log are looked at.
_LINES: Final = 400
#: A sign in the first lines is of the log itself; one further down may be of a command that a session ran.
_BEGINNING: Final = 20
_SURE: Final = 0.95
_POSSIBLE: Final = 0.4


def sniff(head: Head) -> Sniff | None:
    """Whether a log holds samples: a banner, a collector's line or a heading of a known tool near its beginning."""
    from hostparse.recognise import cleanup_of, sign_in  # noqa: PLC0415 - readers are imported on use

    lines = head.text.split("\n")[:_LINES]
    found = sign_in(lines)
    if found is None and (prefix := (cleanup := cleanup_of(lines)).prefix):
        found = sign_in(cleanup.cleaned_lines(lines)) if prefix else None
    if found is None:
        return None
    line, what = found
    return Sniff(_SURE if line <= _BEGINNING else _POSSIBLE, what, line=line)


def read(source: Source) -> HostLog:
    """The log as `hostparse.HostLog`."""
    from hostparse.read import read_host  # noqa: PLC0415 - readers are imported on use

    return read_host(source)


def read_large(source: Source, folder: Path) -> HostLog:
    """The log with its rows in files."""
    from hostparse.read import read_in  # noqa: PLC0415 - readers are imported on use

    return read_in(source, folder)


def places(parsed: HostLog, source: Source) -> list[Part]:
    """Which samples came from which lines."""
    from hostparse.provenance import parts_of  # noqa: PLC0415 - wanted by few

    return parts_of(parsed, source)


FORMAT: Final = Format(
    name="host",
    title="a log of iostat, vmstat, sar or nmon",
    sniff=sniff,
    read=read,
    read_large=read_large,
    places=places,
)
