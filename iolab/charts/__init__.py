"""Charts: a frame in, an `altair.Chart` out.

Each function says what a DBA reads from its picture.  Frames of any size may be given: they are aggregated in Polars
before anything is drawn.  `iolab.theme.enable()` dresses them, and lets JupyterLab draw them without a network.
"""

from iolab.charts._frames import ChartError
from iolab.charts.awr import top_events, wait_classes
from iolab.charts.estimates import estimates
from iolab.charts.logical import pio_lio_factors
from iolab.charts.reads import read_sizes
from iolab.charts.runs import ecdf, histogram, run_strip
from iolab.charts.traces import queue_depth

__all__ = [
    "ChartError",
    "ecdf",
    "estimates",
    "histogram",
    "pio_lio_factors",
    "queue_depth",
    "read_sizes",
    "run_strip",
    "top_events",
    "wait_classes",
]
