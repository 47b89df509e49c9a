"""Reading: a log of any of these tools, by what it holds."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Final

from hostparse.json_documents import is_document
from hostparse.log import HostLog, kind_of, make_diagnostics
from hostparse.nmon import is_nmon, read_nmon
from hostparse.pieces import read_tables
from hostparse.recognise import cleanup_of, is_timed_table
from hostparse.sadf import GRAMMAR as SADF
from hostparse.sadf import as_sadf, read_sadf
from hostparse.sadf_xml import as_json, is_xml
from hostparse.stacked import is_stacked, read_stacked
from hostparse.stored import Collector
from hostparse.sysstat_json import read_sysstat_json
from logframe import Diagnostic, LogParseError, open_log
from logframe.copied import cleaned

if TYPE_CHECKING:
    from hostparse.clocks import DateOrder
    from hostparse.tables import Tables
    from logframe import Log, Source


#: What a log is shows in this many lines that are not blank.
_BEGINNING: Final = 20
#: The rows of a larger log are kept in files.
LARGE_BYTES: Final = 32 << 20


def read_host(source: Source, *, encoding: str | None = None, date_order: DateOrder | None = None) -> HostLog:
    """What the operating system saw: the samples of iostat, vmstat, mpstat, pidstat, sar and their kin.

    Columns are read by their headings, whatever the version and the options.  No line is lost: one that cannot be read
    is a row of the diagnostics.  The rows of a large log are kept in temporary files, which are removed when the log is
    used no more: `HostLog.scan` and `HostLog.frames` then give LazyFrames over them.

    Args:
        source: a path, bytes, a file object; compressed or not.
        encoding: of a log that is not UTF-8, when you know better than the guess.
        date_order: ``mdy`` or ``dmy``, where the dates of the log do not show it.

    Raises:
        LogNotFoundError: there is no such log.
        LogParseError: the log is empty or no text.

    Examples:
        >>> log = read_host(b'''Linux 4.18.0 (db1) 	02/19/24 	_x86_64_	(4 CPU)
        ...
        ... Device            r/s     rkB/s   r_await  %util
        ... sda              6.90    222.14     12.58   0.32
        ...
        ... Device            r/s     rkB/s   r_await  %util
        ... sda             10.00     80.00      0.50   0.50
        ... ''')
        >>> log.describe()
        'iostat of db1, 2 samples of device'
        >>> log.wide("device").select("sample", "is_since_boot", "reads_per_s", "read_bytes_per_s").rows()
        [(1, True, 6.9, 227471.36), (2, False, 10.0, 81920.0)]
    """
    return read_in(source, None, encoding=encoding, date_order=date_order)


def read_in(
    source: Source, folder: Path | None, *, encoding: str | None = None, date_order: DateOrder | None = None
) -> HostLog:
    """The log that `read_host` gives; the rows of a large one are in files in a folder.

    Args:
        source: as for `read_host`.
        folder: an empty one, which stays until the frames are read; None: a temporary one that the log removes.
        encoding: as for `read_host`.
        date_order: as for `read_host`.

    Raises:
        LogNotFoundError: there is no such log.
        LogParseError: the log is empty or no text.
    """
    log = cleaned(open_log(source, encoding=encoding), cleanup_of)
    if log.is_empty():
        raise LogParseError("the log is empty", source=log.name, expected="the output of iostat, vmstat, sar, ...")
    collector = _collector(log, folder)
    try:
        tables = _tables(log, date_order, collector)
    except BaseException:
        collector.remove()
        raise
    if not tables.parts.is_large:  # a form that is not read in pieces
        collector.remove()
    notes = (*log.notes, *tables.diagnostics)
    if not any(map(tables.parts.height, range(len(tables.parts.headings)))):
        notes = (*notes, Diagnostic(log.name, None, None, "empty", None, "the log has no row of a table"))
    return HostLog(log.name, kind_of(tables.parts), tables.parts, tables.runs, make_diagnostics(notes), tables.kinds)


def _collector(log: Log, folder: Path | None) -> Collector:
    """For the rows of a log: in memory, or in files where they are many."""
    size = len(log.target) if isinstance(log.target, bytes) else 0
    if isinstance(log.target, Path):
        size = log.target.stat().st_size
    if size < LARGE_BYTES:
        return Collector()
    return Collector(folder or Path(mkdtemp(prefix="host-log-")), is_owned=folder is None)


def _tables(log: Log, date_order: DateOrder | None, collector: Collector) -> Tables:
    """The tables of a log, by the reader of its form."""
    head = log.head(1 << 14) or log.lines()[:1]
    if is_nmon(head):
        return read_nmon(log, collector)
    # the command of a session may stand above what it printed
    first = [line.strip() for line in head if line.strip()][:_BEGINNING]
    if any(line.startswith(SADF.literal("HEADING_START")) for line in first):
        return read_sadf(log)
    if any(is_timed_table(line) for line in first):
        return read_sadf(as_sadf(log), "mpstat")
    if is_xml(first):
        as_printed = as_json(log)
        tables = read_sysstat_json(as_printed)
        return replace(tables, diagnostics=(*as_printed.notes[len(log.notes) :], *tables.diagnostics))
    if any(is_document(line, below) for line, below in pairwise([*first, ""])):
        return read_sysstat_json(log)
    if is_stacked(head):
        return read_stacked(log)
    return read_tables(log, date_order=date_order, collector=collector)
