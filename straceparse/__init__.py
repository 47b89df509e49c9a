"""strace logs as dataframes.

    import straceparse

    events = straceparse.scan_strace("ora_4711.strace")     # one row a line, lazy
    calls = straceparse.calls(events)                       # one row a system call
    requests = straceparse.io_requests(calls)               # one row an I/O request

Public names are imported on first use, so that the import of the package is cheap.
"""

from typing import TYPE_CHECKING

from logframe.lazy import lazy_exports

if TYPE_CHECKING:
    from straceparse.arguments import parse_args
    from straceparse.descriptors import OPENS, opens
    from straceparse.diagnostics import unparsed
    from straceparse.dialects import Dialect, dialect
    from straceparse.log import StraceLog
    from straceparse.ranges import to_parquet
    from straceparse.records import KINDS, Changed, Decorated
    from straceparse.requests import REQUESTS, io_requests
    from straceparse.scan import read_strace, scan_strace
    from straceparse.schema import EVENTS
    from straceparse.summary import SUMMARY, read_summary
    from straceparse.system_calls import CALLS, calls, gap_totals, totals

__all__ = [
    "CALLS",
    "EVENTS",
    "KINDS",
    "OPENS",
    "REQUESTS",
    "SUMMARY",
    "Changed",
    "Decorated",
    "Dialect",
    "StraceLog",
    "calls",
    "dialect",
    "gap_totals",
    "io_requests",
    "opens",
    "parse_args",
    "read_strace",
    "read_summary",
    "scan_strace",
    "to_parquet",
    "totals",
    "unparsed",
]

__getattr__, __dir__ = lazy_exports(__name__)
