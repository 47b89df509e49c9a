"""The views of samples of sessions, with the share of time on CPU and in each wait, and of AWR-Miner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.ash import session_shares
from iolab.pages.figures import join_figures
from iolab.rules.samples import session_findings
from iolab.time_ledger.samples import session_ledgers
from iolab.views import Summary, View, summarize_frames

if TYPE_CHECKING:
    from datetime import datetime

    from sqlplusparse import AwrMiner, SessionSamples


def summarize_samples(log: SessionSamples) -> Summary:
    """Shares by state with the 95 % interval of sampling, and the snapshots."""
    shares = session_shares(log)
    states = shares.select("state", "samples", share="value", share_ci_lo="ci_lo", share_ci_hi="ci_hi")
    named = shares.with_columns(
        metric=pl.concat_str("metric", pl.lit(": "), pl.col("state").fill_null("all"), ignore_nulls=True)
    )
    frames = {"states": states, "samples": log.samples}
    if log.snaps.height:
        frames["snaps"] = log.snaps
    return Summary(frames, join_figures([named]), tuple(_notes(log, shares)))


def _notes(log: SessionSamples, shares: pl.DataFrame) -> list[str]:
    notes = []
    unseen = shares.filter(state="any wait").rows(named=True)
    if unseen:
        most = 100 * unseen[0]["ci_hi"]
        notes.append(f"No sample met a wait: waits had less than {most:.2g} % of the time, with 95 % confidence.")
    if log.filters:
        notes.append(f"Not all sessions were sampled: {'; '.join(log.filters)}")
    if log.diagnostics.height:
        notes.append(f"The diagnostics ({log.diagnostics.height:,}) say what was not read.")
    return notes


def samples_headline(log: SessionSamples) -> str:
    """The tool, and when its last snapshot ended."""
    ends = log.snaps.get_column("window_end").drop_nulls().sort().dt.strftime("%Y-%m-%d %H:%M:%S")
    kind = "Snapper samples of sessions" if log.kind == "snapper" else "polls of sessions"
    return kind if ends.is_empty() else f"{kind}, to {ends[-1]}"


VIEW: Final = View(
    summarize_samples,
    noun="log of session samples",
    findings=session_findings,
    ledgers=session_ledgers,
    headline=samples_headline,
    looked_at="the states of sessions",
)


def _miner_headline(log: AwrMiner) -> str:
    """The database and the time that the snapshots cover."""
    span = _miner_span(log)
    name = log.describe()
    return name if span is None else f"{name}, {span[0]:%Y-%m-%d %H:%M} to {span[1]:%Y-%m-%d %H:%M}"


def _miner_span(log: AwrMiner) -> tuple[datetime, datetime, bool] | None:
    ends = log.snapshots.drop_nulls(["interval_start", "interval_end"])
    if ends.is_empty():
        return None
    first, last = ends.select(pl.col("interval_start").min(), pl.col("interval_end").max()).row(0)
    return first, last, False


MINER: Final = View(summarize_frames, noun="file of AWR-Miner", headline=_miner_headline, span=_miner_span)
