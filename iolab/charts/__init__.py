"""Charts: a frame in, an `altair.Chart` out.

Each function says what a DBA reads from its picture.  Frames of any size may be given: they are aggregated in Polars
before anything is drawn.  `enable_theme()` sets their style and lets JupyterLab draw
them without a network; `save`
writes them as PNG, SVG, JSON or a page.
"""

from typing import TYPE_CHECKING

from logframe.lazy import lazy_exports

if TYPE_CHECKING:
    from iolab.charts._frames import ChartError
    from iolab.charts.awr import top_events, wait_classes
    from iolab.charts.figures import estimates, pio_lio_factors, queue_depth, read_sizes
    from iolab.charts.heat import latency_heat_map
    from iolab.charts.hosts import histograms_over_time, host_over_time, latencies_of_both
    from iolab.charts.ledger import ledger_bars, ledger_change
    from iolab.charts.many_reports import events_over_time, latency_over_time, sessions_over_time
    from iolab.charts.runs import ecdf, histogram, run_strip
    from iolab.charts.saving import save
    from iolab.charts.theme import enable_theme
    from iolab.charts.timeline import call_timeline

__all__ = [
    "ChartError",
    "call_timeline",
    "ecdf",
    "enable_theme",
    "estimates",
    "events_over_time",
    "histogram",
    "histograms_over_time",
    "host_over_time",
    "latencies_of_both",
    "latency_heat_map",
    "latency_over_time",
    "ledger_bars",
    "ledger_change",
    "pio_lio_factors",
    "queue_depth",
    "read_sizes",
    "run_strip",
    "save",
    "sessions_over_time",
    "top_events",
    "wait_classes",
]

__getattr__, __dir__ = lazy_exports(__name__)
