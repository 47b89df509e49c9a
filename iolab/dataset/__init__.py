"""Logs of any number and size as a dataset of Parquet files, written by processes of one machine or by a cluster.

iolab.dataset.convert("reports/", "fleet", executor="processes:8")
iolab.dataset.scan("fleet", "foreground_events")     # a LazyFrame over all reports
iolab.dataset.sources("fleet")                       # what became of each file
"""

from typing import TYPE_CHECKING

from logframe.lazy import lazy_exports

if TYPE_CHECKING:
    from iolab.dataset.changing import compact, remove, repair
    from iolab.dataset.fleet import differing_parameters, report_frames
    from iolab.dataset.fleet_changes import (
        fleet_sentences,
        instances,
        read_changes,
        read_quantiles,
        setting_changes,
        slower_events,
    )
    from iolab.dataset.jobs import Converted, Progress
    from iolab.dataset.layout import STATUSES
    from iolab.dataset.reading import diagnostics, scan, sources, status, verify
    from iolab.dataset.run import convert

__all__ = [
    "STATUSES",
    "Converted",
    "Progress",
    "compact",
    "convert",
    "diagnostics",
    "differing_parameters",
    "fleet_sentences",
    "instances",
    "read_changes",
    "read_quantiles",
    "remove",
    "repair",
    "report_frames",
    "scan",
    "setting_changes",
    "slower_events",
    "sources",
    "status",
    "verify",
]

__getattr__, __dir__ = lazy_exports(__name__)
