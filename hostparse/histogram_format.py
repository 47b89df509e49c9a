"""The format of latency histograms for the registry (`logframe.formats`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from logframe.formats import Format, Sniff

if TYPE_CHECKING:
    from hostparse.histograms import LatencyHistograms
    from logframe import Source
    from logframe.formats import Head
    from logframe.provenance import Part

_SCORE: Final = 0.85


def sniff(head: Head) -> Sniff | None:
    """Whether a log holds a latency histogram, by the heading of one."""
    if "|" not in head.text and "<begin record>" not in head.text:
        return None
    from hostparse.histograms import sign_of_histogram  # noqa: PLC0415 - readers are imported on use
    from logframe.copied import sign_of_copy  # noqa: PLC0415 - see above

    line = sign_of_copy(head.text.split("\n"), sign_of_histogram)
    return None if line is None else Sniff(_SCORE, "a latency histogram", line=line)


def read(source: Source) -> LatencyHistograms:
    """The log as `hostparse.LatencyHistograms`."""
    from hostparse.histograms import read_histograms  # noqa: PLC0415 - readers are imported on use

    return read_histograms(source)


def places(parsed: LatencyHistograms, source: Source) -> list[Part]:
    """Which buckets and means came from which lines."""
    from hostparse.provenance import parts_of_histograms  # noqa: PLC0415 - wanted by few

    return parts_of_histograms(parsed, source)


FORMAT: Final = Format(name="latency_histogram", title="a latency histogram", sniff=sniff, read=read, places=places)
