"""Which rows of the frames of an strace log came from which lines, for `logframe.provenance`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from logframe import LogError
from logframe.copied import place_in_copy
from logframe.provenance import Claim, Part, by_line
from straceparse.opening import open_logs
from straceparse.summary import names_below

if TYPE_CHECKING:
    from logframe import Source
    from straceparse.log import StraceLog

#: What stands before the arguments of a call, and after them.
_BEFORE: Final = dict.fromkeys(("pid", "time_of_day", "wall", "relative_ts", "syscall_number"), 1.0)
_BEHIND: Final = dict.fromkeys(("result", "elapsed"), 1.0)
#: What the arguments say of a request, and those of the call that waits for one of several.
_ARGUMENTS: Final = dict.fromkeys(("fd", "fd_out", "bytes_requested", "offset"), 1.0)
_REAPED: Final = dict.fromkeys(("bytes_transferred",), 1.0)


def parts_of(parsed: StraceLog, source: Source) -> list[Part]:
    """The log's text, with its events and requests by line.

    Raises:
        LogError: the log is a set of several files, whose lines have one number each.
    """
    logs = open_logs(source)
    if len(logs) > 1:
        raise LogError("the lines of a set of files are not numbered through: read its files one by one")
    frames = {name: frame.lazy().collect() for name, frame in parsed.frames().items()}
    copied = logs[0].lines()
    lines = parsed.dialect.cleanup.cleaned_lines(copied)
    part = by_line("\n".join(lines), frames, {name: {} for name in frames})
    part.place = place_in_copy(copied, lines)
    columns: dict[str, float] = {}
    summary = frames["summary"]["line"].to_list() if "summary" in frames else []
    counts = dict(zip(summary, range(len(summary)), strict=True))
    for number, line in enumerate(lines, 1) if counts else ():
        names = names_below(line) if "syscall" in line else []
        columns = {name: 1.0 for name in names if name} or columns
        if number in counts:
            part.claim(number, Claim("summary", counts[number], columns))
    if "events" not in frames:
        return [part]
    for row, (line, name, args) in enumerate(frames["events"].select("line", "name", "args").rows()):
        start, end = _arguments(lines[line - 1], name, args)
        part.claim(line, Claim("events", row, _BEFORE, 0, start))
        part.claim(line, Claim("events", row, _BEHIND, end, len(lines[line - 1]) + 1))
    requests = frames["requests"].select("line", "end_line", "mode", "match").rows()
    for row, (line, end_line, mode, match) in enumerate(requests):
        part.claim(line, Claim("requests", row, _ARGUMENTS))
        if end_line is not None and end_line != line:
            # an event that was found by its size repeats the size that was asked for
            kept = _REAPED if match == "size" else ()
            part.claim(end_line, Claim("requests", row, _REAPED if mode == "async" else _ARGUMENTS, kept=kept))
    return [part]


def _arguments(line: str, name: str | None, args: str | None) -> tuple[int, int]:
    """Where the arguments of a call begin and end in its line.

    Examples:
        >>> _arguments("7 close(3) = 0", "close", "3")
        (8, 9)
    """
    start = line.find(args or "", line.find(name or "") + len(name or ""))
    return (start, start + len(args or "")) if start >= 0 else (len(line), len(line))
