"""The operating system and one process: what both saw of the same seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolab.comparison.host_and_report import quantities_text
from iolab.comparison.result import Pairing, UnpairedError
from iolab.evidence.trace_on_host import align_trace_with_host
from logframe.errors import RefusedError

if TYPE_CHECKING:
    from hostparse import HostLog
    from sqltraceparse import SqlTrace
    from straceparse import StraceLog


def pair_host_and_trace(log: HostLog, trace: StraceLog | SqlTrace, names: tuple[str, str]) -> Pairing:
    """What samples of the operating system saw, beside what a traced process asked for.

    Raises:
        UnpairedError: The clocks cannot be placed beside each other, or the two have no figure in common.
    """
    try:
        aligned = align_trace_with_host(trace, log)
    except RefusedError as refusal:
        raise UnpairedError(f"{refusal}") from refusal
    paragraphs = []
    by_verdict = aligned.figures.group_by("verdict", maintain_order=True).agg("quantity", "explanation")
    for _, quantities, said in by_verdict.iter_rows():
        paragraphs.append(f"{quantities_text(quantities)}: {said[0]}.")
    figures = aligned.figures.row(0, named=True)
    why = (
        f"{figures['samples']} samples lie within the trace, {aligned.begin:%Y-%m-%d %H:%M:%S} to "
        f"{aligned.end:%H:%M:%S} on their clock; they are of the whole host, the trace is of the traced processes"
    )
    frames = {"Process and host": aligned.figures, "Rate, latency and depth of both sides": aligned.sides}
    return Pairing(names, why, (*paragraphs, *(f"Note: {note}." for note in aligned.notes)), frames)
