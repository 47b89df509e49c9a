"""The view of CPU profiles: shares of the samples by layer of the database, and the functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.processors import layer_shares
from iolab.pages.figures import join_figures
from iolab.rules.tool_logs import profile_findings
from iolab.time_ledger.samples import profile_ledgers
from iolab.views import Summary, View
from logframe.wording import counted

if TYPE_CHECKING:
    from hostparse import CpuProfile


def summarize_profile(log: CpuProfile) -> Summary:
    """Shares by layer with the 95 % interval of sampling, and the samples by function."""
    shares = layer_shares(log.samples)
    layers = shares.select("layer", "samples", share="value", share_ci_lo="ci_lo", share_ci_hi="ci_hi")
    named = shares.with_columns(metric=pl.concat_str("metric", pl.lit(": "), "layer"))
    return Summary({"layers": layers, "functions": log.samples}, join_figures([named]))


def profile_headline(log: CpuProfile) -> str:
    """The tool, and how many functions there are."""
    return f"CPU profile ({log.kind}), {counted(log.samples.height, 'function')}"


VIEW: Final = View(
    summarize_profile,
    noun="CPU profile",
    findings=profile_findings,
    ledgers=profile_ledgers,
    headline=profile_headline,
    looked_at="the layers of the database",
)
