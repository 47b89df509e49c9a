"""Left wing: AWR and Statspack reports, and SQL*Plus spools, as dataframes.

    import awrparse

    report = awrparse.read_awr("awrrpt_1_2668_2669.html")   # report["top_events"], report.found, report.diagnostics
    spool = awrparse.read_spool("autotrace.lst")            # spool.statements, spool.statistics, spool.plans

Names are imported when they are first used, so that the import itself costs nothing.
"""

from typing import TYPE_CHECKING

from logframe.lazy import lazy_exports

if TYPE_CHECKING:
    from awrparse.info import AwrInfo
    from awrparse.many import AwrFrames, read_awrs
    from awrparse.report import AwrReport, read_awr
    from awrparse.spool import SPOOL_SCHEMAS, Spool, read_spool, read_spools, statistic_names, subtract_statistics
    from awrparse.tables import TABLES

__all__ = [
    "SPOOL_SCHEMAS",
    "TABLES",
    "AwrFrames",
    "AwrInfo",
    "AwrReport",
    "Spool",
    "read_awr",
    "read_awrs",
    "read_spool",
    "read_spools",
    "statistic_names",
    "subtract_statistics",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "AwrFrames": "many",
        "AwrInfo": "info",
        "AwrReport": "report",
        "SPOOL_SCHEMAS": "spool",
        "Spool": "spool",
        "TABLES": "tables",
        "read_awr": "report",
        "read_awrs": "many",
        "read_spool": "spool",
        "read_spools": "spool",
        "statistic_names": "spool",
        "subtract_statistics": "spool",
    },
)
