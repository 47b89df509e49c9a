"""Extended SQL traces (event 10046) and TKPROF reports as dataframes.

    import sqltraceparse

    events = sqltraceparse.scan_sqltrace("db1_ora_4711.trc")    # one row a line, lazy
    trace = sqltraceparse.read_sqltrace("db1_ora_4711.trc")     # calls, waits, statements, binds, row sources, ...
    report = sqltraceparse.read_tkprof("report.prf")            # statements, calls, row sources, waits

Names are imported when they are first used, so that the import itself costs nothing.
"""

from typing import TYPE_CHECKING

from logframe.lazy import lazy_exports

if TYPE_CHECKING:
    from sqltraceparse.accounts import account_time, profile, statement_totals, without_literals
    from sqltraceparse.heads import Head
    from sqltraceparse.parquet import to_parquet
    from sqltraceparse.schema import KINDS, SCHEMAS
    from sqltraceparse.tkprof import Tkprof, read_tkprof
    from sqltraceparse.trace import EVENTS, SqlTrace, read_sqltrace, scan_sqltrace

__all__ = [
    "EVENTS",
    "KINDS",
    "SCHEMAS",
    "Head",
    "SqlTrace",
    "Tkprof",
    "account_time",
    "profile",
    "read_sqltrace",
    "read_tkprof",
    "scan_sqltrace",
    "statement_totals",
    "to_parquet",
    "without_literals",
]

__getattr__, __dir__ = lazy_exports(__name__)
