"""Top floor: what Oracle I/O logs say, with bounds, and what two sets of runs allow one to say.

    import iolab

    log = iolab.load("unknown.log")              # an AWR report, a spool, the events of a strace log
    iolab.metrics.read_metrics(log)              # figures with bounds, basis and caveats
    iolab.compare.compare(a, b)                  # two samples of runs
    iolab.write_report([...], "report.html")     # any mix of logs as one page

Names are imported when they are first used; charts, pictures and statistics need ``pip install "iolab[lab]"``.
"""

from typing import TYPE_CHECKING

from logframe.lazy import lazy_exports

if TYPE_CHECKING:
    from iolab import align, cache, changes, charts, compare, io_mode, metrics, pairings, periods, profile, timeline
    from iolab.lab.picker import LogPicker
    from iolab.loading import load
    from iolab.report.looks import look
    from iolab.report.writing import write_report

__all__ = [
    "LogPicker",
    "align",
    "cache",
    "changes",
    "charts",
    "compare",
    "io_mode",
    "load",
    "look",
    "metrics",
    "pairings",
    "periods",
    "profile",
    "timeline",
    "write_report",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {"LogPicker": "lab.picker", "load": "loading", "look": "report.looks", "write_report": "report.writing"},
    modules=(
        "align",
        "cache",
        "changes",
        "charts",
        "compare",
        "io_mode",
        "metrics",
        "pairings",
        "periods",
        "profile",
        "timeline",
    ),
)
