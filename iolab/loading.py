"""`load` and `load_all`: logs of any registered format, recognised by their content."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from logframe import open_log
from logframe.formats import head_of, recognise
from logframe.loading import load_all_logs, load_log
from logframe.provenance import provenance

if TYPE_CHECKING:
    from pathlib import Path

    from logframe import Source
    from logframe.formats import ParsedLog

__all__ = ["describe", "load", "load_all", "provenance"]

#: Larger files are not read as a whole to say what they are.
_LARGE: Final = 16 * 2**20


def load(source: Source, *, format: str | None = None) -> ParsedLog:  # noqa: A002 - the field's word
    r"""The log, read by the format that recognises it: content decides, never the name.

    The formats are those that the installed packages register under ``logframe.formats`` (`logframe.formats.formats`).

    Args:
        source: A path, a pattern, bytes, a file object or an uploaded file, compressed or not.  Several files are read
            where they are one log, such as the files of one run of ``strace -ff`` (``trace.4711``, ``trace.4712``).
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
    return load_log(source, format=format)


def load_all(source: Source, *, format: str | None = None) -> list[ParsedLog]:  # noqa: A002 - the field's word
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
    return load_all_logs(source, format=format)


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
