"""`load` and `load_all`: logs of any registered format, recognised by their content.

Every function of `iolab` that takes a log takes what `load` takes, too: `as_log` resolves it, and
`iolab.sources.as_logs` where there may be several.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final, Literal, cast, overload

from logframe import open_log, open_logs
from logframe.errors import LogError, LogParseError
from logframe.formats import formats, head_of, is_log, recognise
from logframe.loading import load_all_logs, load_log
from logframe.loading import provenance as provenance_of
from logframe.parsed_log import display

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl

    from awrparse import AwrReport
    from hostparse import HostLog
    from logframe import Source
    from logframe.formats import ParsedLog
    from sqlplusparse import SessionSamples, Spool
    from sqltraceparse import SqlTrace
    from straceparse import StraceLog

__all__ = ["as_log", "describe", "load", "load_all", "provenance"]


#: Larger files are not read as a whole to say what they are.
_LARGE: Final = 16 * 2**20


def _show_in_notebook() -> None:
    """In a kernel, show frames so that findings are whole sentences."""
    if "IPython" in sys.modules:
        display().show_frames()


def load(source: ParsedLog | Source, *, format: str | None = None) -> ParsedLog:  # noqa: A002 - the field's word
    r"""The log, read by the format that recognises it: content decides, never the name.

    The formats are those that the installed packages register under ``logframe.formats`` (`logframe.formats.formats`).

    Args:
        source: A path, a pattern, bytes, a file object or an uploaded file, compressed or not.  Several files are read
            where they are one log, such as the files of one run of ``strace -ff`` (``trace.4711``, ``trace.4712``).
            A log that was read already is returned as it is.
        format: Name of the format, such as ``awr``, where the guess is wrong.

    Returns:
        What the format's reader returns: an `awrparse.AwrReport`, a `sqlplusparse.Spool`, a `straceparse.StraceLog`, or
        another `logframe.formats.ParsedLog` with ``format``, ``kind``, ``frames()`` and ``diagnostics``.

    Raises:
        LogNotFoundError: Nothing is at the path.
        LogParseError: The log is empty, binary, of no kind that is read, or does not fit `format`.
        LogError: There is no format of that name.

    Examples:
        >>> load(b"     0.000123 pread64(268, '', 8192, 0) = 8192\n").describe()
        'strace log, 1 line'
        >>> load(b"SQL> select 1 from dual;\n\nElapsed: 00:00:00.01\n").frames()["statements"].item(0, "elapsed_s")
        0.01
    """
    _show_in_notebook()
    read, unread = _read_already(source)
    if not read:
        return load_log(cast("Source", source), format=format)
    if len(read) > 1 or unread:
        raise LogParseError(f"got {len(read) + len(unread)} logs, not one", expected="one log; load_all reads several")
    return _of_formats(read[0], () if format is None else (format,))


def load_all(  # what load is for one log
    source: ParsedLog | Source,
    *,
    format: str | None = None,  # noqa: A002 - the field's word
) -> list[ParsedLog]:
    r"""Every log that a source holds: members of an archive, files of a folder, a session and the report within it.

    Args:
        source: As for `load`.
        format: Name of the format of all of them, where the guess is wrong.

    Raises:
        LogNotFoundError: Nothing is at the path.
        LogParseError: One of the logs cannot be read.

    Examples:
        >>> logs = load_all([b"3 close(3) = 0\n", b"SQL> select 1 from dual;\n\nElapsed: 00:00:00.01\n"])
        >>> [log.format for log in logs]
        ['strace', 'sqlplus']
    """
    _show_in_notebook()
    read, unread = _read_already(source)
    if not read:
        return load_all_logs(cast("Source", source), format=format)
    return [*read, *(one for each in unread for one in load_all_logs(each, format=format))]


def _read_already(source: object) -> tuple[list[ParsedLog], Sequence[Source]]:
    """The logs of a source that were read before, and what else is beside them."""
    several = source if isinstance(source, (list, tuple)) else [source]
    if not several:
        raise LogError("no log was given")
    return [one for one in several if is_log(one)], [cast("Source", one) for one in several if not is_log(one)]


@overload
def as_log(log: ParsedLog | Source) -> ParsedLog: ...
@overload
def as_log(log: object, wanted: Literal["awr"], /) -> AwrReport: ...
@overload
def as_log(log: object, wanted: Literal["sqlplus"], /) -> Spool: ...
@overload
def as_log(log: object, wanted: Literal["awr"], other: Literal["sqlplus"], /) -> AwrReport | Spool: ...
@overload
def as_log(log: object, wanted: Literal["session_samples"], /) -> SessionSamples: ...
@overload
def as_log(log: object, wanted: Literal["host"], /) -> HostLog: ...
@overload
def as_log(log: object, wanted: Literal["strace"], /) -> StraceLog: ...
@overload
def as_log(log: object, wanted: Literal["sqltrace"], /) -> SqlTrace: ...
@overload
def as_log(log: object, wanted: Literal["strace"], other: Literal["sqltrace"], /) -> StraceLog | SqlTrace: ...
@overload
def as_log(log: object, *wanted: str) -> Any: ...  # noqa: ANN401 - a log of one of those formats
def as_log(log: object, *wanted: str) -> Any:
    r"""The log that a function was given: as it was read, or as what `load` takes.

    Args:
        log: What `load` gives, or takes.
        wanted: The formats that the function takes; any if none is named.

    Raises:
        LogNotFoundError: Nothing is at the path.
        LogParseError: It is no known log.
        LogError: It is a log of another format.

    Examples:
        >>> as_log(b"     0.000123 pread64(268, '', 8192, 0) = 8192\n", "awr")
        Traceback (most recent call last):
        logframe.errors.LogError: <bytes> is an strace log, where an AWR, Statspack or ASH report is needed
    """
    return _of_formats(log if is_log(log) else load(cast("Source", log)), wanted)


def _of_formats(log: ParsedLog, wanted: Sequence[str]) -> ParsedLog:
    """The log, which is of one of the formats, where any is named."""
    if wanted and log.format not in wanted:
        known = formats()
        is_of = known[log.format].title if log.format in known else f"a log of the format {log.format}"
        needed = " or ".join(known[name].title if name in known else name for name in wanted)
        raise LogError(f"{log.source} is {is_of}, where {needed} is needed")
    return log


def provenance(log: ParsedLog | Source, source: Source | None = None) -> pl.DataFrame:
    """What became of every number of a log, one row each, in the order of the source (`logframe.provenance`).

    Args:
        log: What `load` gives, or takes.
        source: What a log that was read already was read from; needed where its ``source`` is no path, as for bytes.

    Returns:
        The columns `logframe.provenance.PROVENANCE`: the place of the number, its text, what became of it
        (``status``), and the cell of a frame that holds it.

    Raises:
        LogError: The format does not say which rows came from which lines, or the source of the log is not there.

    Examples:
        >>> provenance(b"     0.000123 pread64(268, '', 8192, 0) = 8192")["status"].unique().to_list()
        ['typed']
    """
    if _read_already(log)[0]:
        return provenance_of(load(log), source)
    opened = [one.reopened() for one in open_logs(cast("Source", log))]  # a stream can be read only once
    reopened = cast("Source", opened[0] if len(opened) == 1 else opened)
    return provenance_of(load(reopened), reopened)


def describe(path: Path) -> str:
    r"""What the log at a path is, in a few words; of a large one, by its beginning.

    Raises:
        LogParseError: It is no known log.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "ora_4711.log"
        ...     _ = path.write_bytes(b"     0.000123 pread64(268, '', 8192, 0) = 8192\n")
        ...     describe(path)
        'strace log, 1 line'
    """
    size = path.stat().st_size
    if size <= _LARGE:
        return load(path).describe()
    title = recognise(head_of(open_log(path)))[0].title
    return f"{title.partition(' ')[2]}, {size / 2**20:,.0f} MiB"
