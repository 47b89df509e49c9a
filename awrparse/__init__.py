"""AWR, Statspack, ASH and ADDM reports as dataframes.

    import awrparse

    report = awrparse.read_awr("awrrpt_1_2668_2669.html")  # report["top_events"], report.raw_tables, report.diagnostics

Names are imported on first use, so that importing the package is cheap.
"""

from typing import TYPE_CHECKING

from logframe.lazy import lazy_exports

if TYPE_CHECKING:
    from awrparse.info import AwrInfo
    from awrparse.many import AwrFrames, read_awrs
    from awrparse.report import AwrReport, read_awr
    from awrparse.tables import TABLES

__all__ = ["TABLES", "AwrFrames", "AwrInfo", "AwrReport", "read_awr", "read_awrs"]

__getattr__, __dir__ = lazy_exports(__name__)
