"""The format of lists of I/O events for the registry (`logframe.formats`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from logframe.formats import Format, Sniff

if TYPE_CHECKING:
    from hostparse.events import EventList
    from logframe import Source
    from logframe.formats import Head
    from logframe.provenance import Part

_SCORE: Final = 0.97
_LINES: Final = 400


def sniff(head: Head) -> Sniff | None:
    """Whether a log is a list of events, by the heading of one or the form of its rows."""
    from hostparse.events import sign_of_events  # noqa: PLC0415 - readers are imported on use
    from logframe.copied import sign_of_copy  # noqa: PLC0415 - see above

    line = sign_of_copy(head.text.split("\n")[:_LINES], sign_of_events)
    return None if line is None else Sniff(_SCORE, "a list of I/O events", line=line)


def read(source: Source) -> EventList:
    """The log as `hostparse.EventList`."""
    from hostparse.events import read_events  # noqa: PLC0415 - readers are imported on use

    return read_events(source)


def places(parsed: EventList, source: Source) -> list[Part]:
    """Which events came from which lines."""
    from hostparse.provenance import parts_of_events  # noqa: PLC0415 - wanted by few

    return parts_of_events(parsed, source)


FORMAT: Final = Format(name="io_events", title="a list of I/O events", sniff=sniff, read=read, places=places)
