"""Which rows of the frames of an strace log came from which lines, for `logframe.provenance`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from logframe import LogError
from logframe.provenance import Part, by_line
from straceparse.opening import open_logs

if TYPE_CHECKING:
    from logframe import Source
    from straceparse.log import StraceLog

#: Frames, and their columns with the first and the last line of a row.
_LINES = (("events", "line", "line"), ("requests", "line", "end_line"), ("summary", "line", "line"))


def parts_of(parsed: StraceLog, source: Source) -> list[Part]:
    """The log's text, with its events and requests by line.

    Raises:
        LogError: the log is a set of several files, whose lines have one number each.
    """
    logs = open_logs(source)
    if len(logs) > 1:
        raise LogError("the lines of a set of files are not numbered through: read its files one by one")
    frames = {name: frame.lazy().collect() for name, frame in parsed.frames().items()}
    lines = map(parsed.dialect.cleanup.cleaned, logs[0].lines())
    return [by_line("\n".join(lines), frames, [line for line in _LINES if line[0] in frames])]
