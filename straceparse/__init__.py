"""Right wing: strace logs as dataframes.

    import straceparse

    events = straceparse.scan_strace("ora_4711.strace")     # one row a line, lazy
    calls = straceparse.calls(events)                       # one row a system call
    requests = straceparse.io_requests(calls)               # one row an I/O request

Names are imported when they are first used, so that the import itself costs nothing.
"""

from typing import TYPE_CHECKING

from logframe.lazy import lazy_exports

if TYPE_CHECKING:
    from straceparse.arguments import Changed, Decorated, parse_args
    from straceparse.diagnose import unparsed
    from straceparse.dialect import Dialect, sniff
    from straceparse.joins import CALLS, calls
    from straceparse.parquet import to_parquet
    from straceparse.records import KINDS
    from straceparse.requests import REQUESTS, io_requests
    from straceparse.scan import read_strace, scan_strace
    from straceparse.schema import EVENTS
    from straceparse.summary import SUMMARY, read_summary
    from straceparse.sums import gap_totals, totals

__all__ = [
    "CALLS",
    "EVENTS",
    "KINDS",
    "REQUESTS",
    "SUMMARY",
    "Changed",
    "Decorated",
    "Dialect",
    "calls",
    "gap_totals",
    "io_requests",
    "parse_args",
    "read_strace",
    "read_summary",
    "scan_strace",
    "sniff",
    "to_parquet",
    "totals",
    "unparsed",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "CALLS": "joins",
        "Changed": "arguments",
        "Decorated": "arguments",
        "Dialect": "dialect",
        "EVENTS": "schema",
        "KINDS": "records",
        "REQUESTS": "requests",
        "SUMMARY": "summary",
        "calls": "joins",
        "gap_totals": "sums",
        "io_requests": "requests",
        "parse_args": "arguments",
        "read_strace": "scan",
        "read_summary": "summary",
        "scan_strace": "scan",
        "sniff": "dialect",
        "to_parquet": "parquet",
        "totals": "sums",
        "unparsed": "diagnose",
    },
)
