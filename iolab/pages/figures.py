"""Frames of metrics as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from iolab.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterable


def join_figures(parts: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """The metrics of several frames (`iolab.metrics.METRICS`), in their order; an empty frame of none.

    Examples:
        >>> join_figures([]).columns
        ['metric', 'value', 'lo', 'hi', 'ci_lo', 'ci_hi', 'unit', 'basis', 'caveats']
    """
    return pl.concat([pl.DataFrame(schema=METRICS), *(part.select(list(METRICS)) for part in parts)])
