"""Flash cache and offload of Exadata, of a report or of the statement of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from iolab.metrics.formatting import count_text, figure_text, share_text, time_text
from iolab.rules.finding import Evidence, Finding
from logframe.errors import RefusedError
from logframe.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_HITS: Final = "cell flash cache read hits"
_REQUESTS: Final = "physical read total io requests"
_BYTES: Final = "physical read total bytes"
_ELIGIBLE: Final = "cell physical io bytes eligible for predicate offload"
_RETURNED: Final = "cell physical io interconnect bytes returned by smart scan"
#: From this share on the time of reads is flash time.
_NEARLY_ALL: Final = 0.95
_LEAST_REQUESTS: Final = 100
_KIB: Final = 1024


def exadata(
    statistics: Mapping[str, Interval],
    *,
    elapsed_s: Interval | None = None,
    table: str = "instance_activity",
) -> Iterator[Finding]:
    """Hits of flash cache, the time of a hit where nearly all reads are hits, and what smart scans saved.

    Args:
        statistics: figures by their names in V$STATNAME, in lower case.
        elapsed_s: the time of one serial statement; None for a report, whose period is no time of reads.
        table: that has the figures.

    Examples:
        >>> def figures(hits, requests, **others): return {
        ...     "cell flash cache read hits": Interval.exact(hits),
        ...     "physical read total io requests": Interval.exact(requests),
        ...     **{name.replace("_", " "): Interval.exact(value) for name, value in others.items()}}
        >>> elapsed = Interval(0.73, 0.725, 0.74)
        >>> read = figures(1837, 1841, physical_read_total_bytes=59_301_888)
        >>> for one in exadata(read, elapsed_s=elapsed): print(one.sentence)
        99.8 % of 1,841 read requests were answered from flash.
        At most 397 [394, 403] us a read of 31.5 KiB from flash.
        >>> for one in exadata(figures(103_676_522, 123_661_694), elapsed_s=elapsed): print(one.sentence,
        ...     one.is_refused)
        83.8 % of 123,661,694 read requests were answered from flash. False
        The time of a read from flash: 16.2 % of the reads were not answered from it. True
        >>> list(exadata({}))
        []
    """
    hits, requests = statistics.get(_HITS), statistics.get(_REQUESTS)
    eligible, returned, size = statistics.get(_ELIGIBLE), statistics.get(_RETURNED), statistics.get(_BYTES)
    smart = eligible is not None and eligible.value > 0
    if hits is not None and requests is not None and requests.lo >= _LEAST_REQUESTS and 0 < hits.hi <= requests.hi:
        share = hits / requests
        share = share.capped(1)
        rows = Evidence(table, (_HITS, "physical read total IO requests"))
        yield Finding(
            "flash_hits",
            f"{share_text(share)} of {count_text(requests.value, 'read request')} were answered from flash.",
            why="reads of all kinds; smart scans count theirs, too",
            refuted_by="cell metrics of the period",
            evidence=(rows,),
            order=4,
        )
        yield from _flash_latency(hits, requests, share, elapsed_s, size, rows, smart=smart)
    if smart and eligible is not None and returned is not None and size is not None and size.lo > 0:
        of_all, saved = eligible / size, 1 - returned / eligible
        if of_all.lo > 1.0 + 1e-6 or saved.hi < 0:
            return
        yield Finding(
            "offload",
            f"{share_text(Interval(min(of_all.value, 1), min(of_all.lo, 1), min(of_all.hi, 1)))} of the bytes were "
            "eligible "
            f"for smart scan, {share_text(saved)} of them did not cross the interconnect.",
            why="bytes as on disk; storage indexes and column selection are in the saving",
            refuted_by="`cell physical IO interconnect bytes` of the same scope",
            evidence=(Evidence(table, (_ELIGIBLE, _RETURNED)),),
            order=4,
        )


def _flash_latency(
    hits: Interval,
    requests: Interval,
    share: Interval,
    elapsed_s: Interval | None,
    size: Interval | None,
    rows: Evidence,
    *,
    smart: bool,
) -> Iterator[Finding]:
    if share.hi < _NEARLY_ALL or smart:
        missing = 1 - share
        reasons = [f"{share_text(missing)} of the reads were not answered from it"] if share.hi < _NEARLY_ALL else []
        reasons += ["smart scans overlap their reads"] if smart else []
        yield Finding(
            "flash_latency",
            f"The time of a read from flash: {', and '.join(reasons)}.",
            collect="the histogram of `cell single block physical read`",
            evidence=(rows,),
            is_refused=True,
        )
        return
    if elapsed_s is None or share.lo < _NEARLY_ALL:
        return
    try:
        each = elapsed_s / hits
        of = "" if size is None else f" of {figure_text(size / requests / _KIB, 'KiB')}"
    except RefusedError:
        return
    yield Finding(
        "flash_latency",
        f"At most {time_text(each)} a read{of} from flash.",
        why="all of the elapsed time is counted as time of reads, one after the other",
        refuted_by="parallel query, or reads that were asynchronous",
        evidence=(rows, Evidence("statements")),
        order=4,
    )
