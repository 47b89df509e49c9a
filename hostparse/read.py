"""Reading: a log of any of these tools, by what it holds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hostparse.log import HostLog, kind_of, make_diagnostics
from hostparse.nmon import is_nmon, read_nmon
from hostparse.recognise import cleanup_of
from hostparse.sadf import GRAMMAR as SADF
from hostparse.sadf import read_sadf
from hostparse.stacked import is_stacked, read_stacked
from hostparse.sysstat_json import read_sysstat_json
from hostparse.tables import read_tables
from logframe import Diagnostic, LogParseError, open_log

if TYPE_CHECKING:
    from hostparse.clocks import DateOrder
    from hostparse.tables import Tables
    from logframe import Log, Source


def read_host(source: Source, *, encoding: str | None = None, date_order: DateOrder | None = None) -> HostLog:
    """What the operating system saw: the samples of iostat, vmstat, mpstat, pidstat, sar and their kin.

    Columns are read by their headings, whatever the version and the options.  No line is lost: one that cannot be read
    is a row of the diagnostics.

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
    log = _cleaned(open_log(source, encoding=encoding))
    if log.is_empty():
        raise LogParseError("the log is empty", source=log.name, expected="the output of iostat, vmstat, sar, ...")
    tables = _tables(log, date_order)
    notes = (*log.notes, *tables.diagnostics)
    if not any(part.frame.height for part in tables.parts):
        notes = (*notes, Diagnostic(log.name, None, None, "empty", None, "no row of a table"))
    return HostLog(log.name, kind_of(tables.parts), tables.parts, tables.runs, make_diagnostics(notes), tables.kinds)


def _cleaned(log: Log) -> Log:
    """The log without what other programs added to every line; such logs were pasted, and are small."""
    cleanup = cleanup_of(log.head(1 << 14))
    if not cleanup.prefix:
        return log
    return replace(log, target="\n".join(cleanup.cleaned(line) for line in log.lines()).encode())


def _tables(log: Log, date_order: DateOrder | None) -> Tables:
    """The tables of a log, by the reader of its form."""
    head = log.head(1 << 14) or log.lines()[:1]
    first = next((line.strip() for line in head if line.strip()), "")
    if is_nmon(head):
        return read_nmon(log)
    if first.startswith(SADF.literal("HEADING_START")):
        return read_sadf(log)
    if first.startswith("{") and '"sysstat"' in "".join(head[:3]):
        return read_sysstat_json(log)
    if is_stacked(head):
        return read_stacked(log)
    return read_tables(log, date_order=date_order)
