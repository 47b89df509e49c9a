"""AWR and Statspack reports, and SQL*Plus spools, as dataframes."""

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
