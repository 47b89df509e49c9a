"""Logs read by the formats that recognise them (`logframe.formats`), and what became of their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from logframe.errors import LogError, LogParseError
from logframe.formats import CERTAIN, POSSIBLE, formats, head_of, named_format, recognise, sniff_all, unknown
from logframe.source import open_logs

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from logframe.formats import Format, Head, ParsedLog, Sniff
    from logframe.source import Log, Source


def load_log(
    source: Source,
    *,
    format: str | None = None,  # noqa: A002 - the field's word
    folder: Path | None = None,
) -> ParsedLog:
    """One log, read by the format that recognises it: content decides, never the name.

    Args:
        source: A path, a pattern, bytes, a file object or an uploaded file, compressed or not.  Several files are read
            where a format says that they are one log, such as the files of one run of ``strace -ff``.
        format: Name of the format, where the guess is wrong.
        folder: For the frames of a log that is too large for memory; they may be read while it is there.

    Raises:
        LogNotFoundError: Nothing is at the path.
        LogParseError: The log is empty, binary, of no kind that is read, or does not fit `format`.
        LogError: There is no format of that name.
    """
    logs = open_logs(source)
    if len(logs) > 1:
        return _read_several(logs, format)
    reopened = logs[0].reopened()
    if format is not None:
        return named_format(format).parse(reopened, folder)
    return _read_by_best(reopened, head_of(logs[0]), folder)


def _read_by_best(
    reopened: Source, head: Head, folder: Path | None, found: list[tuple[Format, Sniff]] | None = None
) -> ParsedLog:
    """The log as the best format that can read it gives it."""
    found = sniff_all(head) if found is None else found
    errors = []
    for one in recognise(head, found):
        try:
            return one.parse(reopened, folder)
        except LogParseError as error:
            errors.append(error)
    # a reader that had to try any text does not say what the log is
    raise errors[0] if found[0][1].score >= POSSIBLE else unknown(head)


def _read_several(logs: list[Log], name: str | None) -> ParsedLog:
    wanted = [named_format(name)] if name is not None else list(formats().values())
    for one in wanted:
        if one.is_one_log is not None and one.is_one_log(logs):
            return one.read([log.reopened() for log in logs])
    listed = f"{', '.join(log.name for log in logs[:3])}{', ...' if len(logs) > 3 else ''}"
    raise LogParseError(
        f"got {len(logs)} logs, not one: {listed}",
        source=logs[0].name,
        expected="one log, or the files that one program wrote as one log (strace -ff); load_all reads several",
    )


def load_all_logs(source: Source, *, format: str | None = None) -> list[ParsedLog]:  # noqa: A002 - the field's word
    """Every log that a source holds: the members of an archive, the files of a folder, a report within a session.

    Files that are one log (``strace -ff``) are read as one.  A log that several formats recognise is read by each of
    them: a session that spooled a report gives the report and the session.

    Args:
        source: As for `load_log`.
        format: Name of the format of all of them, where the guess is wrong.

    Raises:
        LogNotFoundError: Nothing is at the path.
        LogParseError: One of the logs cannot be read.
    """
    logs = open_logs(source)
    for one in formats().values():
        if len(logs) > 1 and one.is_one_log is not None and one.is_one_log(logs):
            return [one.read([log.reopened() for log in logs])]
    return [parsed for log in logs for parsed in logs_within(log, format=format)]


def logs_within(
    log: Log,
    *,
    format: str | None = None,  # noqa: A002 - the field's word
    folder: Path | None = None,
) -> list[ParsedLog]:
    """One opened log as each format that recognises it reads it: a session that spooled a report gives both.

    Args:
        log: The log.
        format: Name of the only format that is asked.
        folder: As for `load_log`.

    Raises:
        LogParseError: It cannot be read.
    """
    if format is not None:
        return [named_format(format).parse(log.reopened(), folder)]
    head = head_of(log)
    found = sniff_all(head)
    certain = [(one, sniff) for one, sniff in found if sniff.score >= CERTAIN and not sniff.is_refused]
    read = []
    if len({sniff.score for _, sniff in certain}) > 1:
        for one, _ in certain:
            try:
                read.append(one.parse(log.reopened(), folder))
            except LogParseError:
                continue
    return read or [_read_by_best(log.reopened(), head, folder, found)]


def provenance(parsed: ParsedLog, source: Source | None = None) -> pl.DataFrame:
    r"""What became of every number of a log, one row each, in the order of the source.

    Args:
        parsed: The log as read.
        source: What it was read from; needed where `parsed.source` is no path, as for bytes and uploads.

    Returns:
        One row a number.

        * ``line``, ``column``: where the number stands, counted from 1
        * ``table``, ``table_row``, ``cell``: of an HTML page: the table, its row and cell, counted from 1
        * ``text``: as printed
        * ``frame``, ``frame_column``, ``frame_row``: the cell, rows counted from 0 (``table 2``: the second table of a
          session); of a lost number the row that lacks it
        * ``status``: one of the words below

        * ``typed``: it is the cell of a frame of ``parsed.frames()``, in a row that was read from this place
        * ``raw``: it is in a table as printed (of a report, or the result of a query), or a figure that was read
          elsewhere is repeated
        * ``layout``: a page number, a ruler, a heading
        * ``text``: it is part of SQL text, a name or prose
        * ``diagnosed``: a diagnostic names it, or its line
        * ``lost``: none of these

    Raises:
        LogError: The format does not say where its figures came from, or `source` is not the log that was read.

    Examples:
        >>> log = b"     0.000123 pread64(268, '', 8192, 0) = 8192\n"
        >>> provenance(load_log(log), log).select("text", "status", "frame_column").rows()[:2]
        [('0.000123', 'typed', 'relative_ts'), ('268', 'typed', 'fd')]
    """
    from logframe.provenance import account  # noqa: PLC0415 - wanted by few

    one = formats().get(parsed.format)
    if one is None or one.places is None:
        raise LogError(f"the format {parsed.format!r} does not say where its figures came from")
    return account(one.places(parsed, parsed.source if source is None else source), parsed.diagnostics)
