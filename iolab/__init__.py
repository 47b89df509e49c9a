"""Metrics, comparisons and pages for Oracle I/O logs, with bounds on every figure.

    import iolab

    log = iolab.load("unknown.log")              # any format that is registered
    iolab.metrics.read_metrics(log)              # figures with bounds, basis and caveats
    iolab.ledger(log)                            # where its time went: parts that add up to a total
    iolab.compare(a, b)                          # two logs, or two samples of runs
    iolab.sql("SELECT * FROM top_events", log)   # its tables in SQL
    iolab.write_report([...], "report.html")     # any mix of logs as one page

    %load_ext iolab                              # in IPython: %iolab show unknown.log

Names are imported on first use; comparisons of samples need ``pip install "iolab[report]"``.
"""

from typing import TYPE_CHECKING

from logframe.lazy import lazy_exports

if TYPE_CHECKING:
    from iolab import charts, comparison, dataset, evidence, metrics
    from iolab.comparison.samples import compare
    from iolab.lab.picker import LogPicker
    from iolab.loading import load, load_all, provenance
    from iolab.pages.summary import summarize
    from iolab.pages.writing import write_report
    from iolab.query import sql
    from iolab.rules.run import findings
    from iolab.time_ledger.run import ledger, ledgers

__all__ = [
    "LogPicker",
    "charts",
    "compare",
    "comparison",
    "dataset",
    "evidence",
    "findings",
    "ledger",
    "ledgers",
    "load",
    "load_all",
    "metrics",
    "provenance",
    "sql",
    "summarize",
    "write_report",
]

__getattr__, __dir__ = lazy_exports(__name__)


def load_ipython_extension(shell: object) -> None:
    """Add ``%iolab`` to an IPython session (``%load_ext iolab``)."""
    from iolab.lab.cells import add_magic  # noqa: PLC0415 - importing iolab stays cheap

    add_magic(shell)
