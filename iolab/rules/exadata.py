"""Flash cache and offload of Exadata, of a report or of the statement of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.formatting import count_text
from iolab.rules.finding import Evidence, Finding
from iolab.rules.phrases import percent, seconds, three
from iolab.rules.registry import rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from awrparse import AwrReport
    from logframe.interval import Interval

_HITS: Final = "cell flash cache read hits"
READ_REQUESTS: Final = "physical read total IO requests"
_BYTES: Final = "physical read total bytes"
_ELIGIBLE: Final = "cell physical io bytes eligible for predicate offload"
_RETURNED: Final = "cell physical io interconnect bytes returned by smart scan"
#: From this share on the time of reads is flash time.
_NEARLY_ALL: Final = 0.95
_LEAST_REQUESTS: Final = 100
_KIB: Final = 1024
#: Disks of cells that are so busy, and databases with this many of the requests, in %.
_BUSY_PCT: Final = 50.0
_LARGE_PCT: Final = 10.0


@rule(
    "exadata_cells",
    of="period",
    explains=("cell ",),
    needs="tables of storage cells",
    thresholds={"50 % busy": "a queue forms", "10 % of the requests": "LEDGER section 9"},
)
def exadata_cells(report: AwrReport) -> Iterator[Finding]:
    """How busy the disks of the cells were, how long their requests waited, and which databases issued them."""
    if "exadata_outliers" in report:
        rows = report["exadata_outliers"].filter((pl.col("section") == "os_io") & (pl.col("cell") == "All"))
        for (disk,), own in rows.group_by("disk_type", maintain_order=True):
            means = dict(own.select("measure", "mean").drop_nulls().iter_rows())
            totals = dict(own.select("measure", "total").drop_nulls().iter_rows())
            busy, rate = means.get("% Disk Utilization"), totals.get("IOPs")
            if busy is None or rate is None or busy < _BUSY_PCT:
                continue
            yield Finding(
                "exadata_cells",
                f"The `{disk}` disks of the cells were {percent(busy / 100)} busy: {three(rate)} requests per second"
                f"{_latency_text(report, str(disk))}.",
                next="see the cells: cellcli -e list metrichistory where name like 'CD_IO.*'",
                evidence=(Evidence("exadata_outliers", (str(disk),)), Evidence("exadata_cell_latency")),
                order=3,
            )
    if "exadata_databases" not in report:
        return
    rows = report["exadata_databases"].filter((pl.col("ordered_by") == "requests") & pl.col("cell").is_null())
    shares = rows.filter(pl.col("db_name").is_not_null()).sort("requests", descending=True, nulls_last=True)
    named = list(shares.select("db_name", "total_pct").drop_nulls().iter_rows())
    own_name = (report.info.db_name or "").lower()
    others = [(name, share) for name, share in named if name.lower() != own_name]
    mine = next((share for name, share in named if name.lower() == own_name), None)
    if mine is not None and others and others[0][1] >= _LARGE_PCT:
        yield Finding(
            "exadata_cells",
            f"This database issued {percent(mine / 100)} of the requests to the cells, `{others[0][0]}` "
            f"{percent(others[0][1] / 100)}.",
            next="see the plan of the I/O resource manager: cellcli -e list iormplan detail",
            evidence=(Evidence("exadata_databases"),),
            order=4,
        )


def _latency_text(report: AwrReport, disk: str) -> str:
    if "exadata_cell_latency" not in report:
        return ""
    rows = report["exadata_cell_latency"].filter((pl.col("disk_type") == disk) & pl.col("disk").is_null())
    wait, service = rows["avg_wait_ms"].mean(), rows["avg_service_ms"].mean()
    if not isinstance(wait, float) or not isinstance(service, float):
        return ""
    return f"; each waited {seconds(wait / 1000)} and was served in {seconds(service / 1000)}"


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
        >>> from logframe.interval import Interval
        >>> def figures(hits, requests, **others): return {
        ...     "cell flash cache read hits": Interval.exact(hits),
        ...     "physical read total io requests": Interval.exact(requests),
        ...     **{name.replace("_", " "): Interval.exact(value) for name, value in others.items()}}
        >>> elapsed = Interval(0.73, 0.725, 0.74)
        >>> read = figures(1837, 1841, physical_read_total_bytes=59_301_888)
        >>> for one in exadata(read, elapsed_s=elapsed): print(one.sentence)
        Flash answered 99.8 % of 1,841 read requests.
        A read of 31.5 KiB from flash took at most 403 us.
        >>> for one in exadata(figures(103_676_522, 123_661_694), elapsed_s=elapsed): print(one.sentence,
        ...     one.is_refused)
        Flash answered 84 % of 123,661,694 read requests. False
        The time of a read from flash cannot be computed: 16 % of the reads did not come from flash. True
        >>> eligible = {"cell physical io bytes eligible for predicate offload": Interval.exact(0)}
        >>> print(list(exadata(figures(99, 190_000) | eligible))[-1].sentence)
        No byte was eligible for smart scan: what was scanned came through the buffer cache.
        >>> list(exadata({}))
        []
    """
    hits, requests = statistics.get(_HITS), statistics.get(READ_REQUESTS.lower())
    eligible, returned, size = statistics.get(_ELIGIBLE), statistics.get(_RETURNED), statistics.get(_BYTES)
    smart = eligible is not None and eligible.value > 0
    if hits is not None and requests is not None and requests.lo >= _LEAST_REQUESTS and 0 < hits.hi <= requests.hi:
        share = (hits / requests).capped(1)
        rows = Evidence(table, (_HITS, READ_REQUESTS))
        yield Finding(
            "flash_hits",
            f"Flash answered {percent(share.value)} of {count_text(requests.value, 'read request')}.",
            evidence=(rows,),
            order=4,
            explains=("cell single block", "cell multiblock", "cell list of blocks"),
        )
        reasons = [f"{percent((1 - share).value)} of the reads did not come from flash"] * (share.hi < _NEARLY_ALL)
        reasons += ["smart scans overlap their reads"] * smart
        if reasons:
            yield Finding(
                "flash_latency",
                f"The time of a read from flash cannot be computed: {', and '.join(reasons)}.",
                next="see the histogram of `cell single block physical read`",
                evidence=(rows,),
                is_refused=True,
            )
        elif elapsed_s is not None and share.lo >= _NEARLY_ALL:
            of = "" if size is None else f" of {three((size / requests / _KIB).value)} KiB"
            yield Finding(
                "flash_latency",
                f"A read{of} from flash took at most {seconds((elapsed_s / hits).hi)}.",
                evidence=(rows, Evidence("statements")),
                order=4,
            )
    if hits is not None and hits.lo > 0 and eligible is not None and eligible.hi == 0:
        yield Finding(
            "offload",
            "No byte was eligible for smart scan: what was scanned came through the buffer cache.",
            next="see why: cell_offload_processing, _serial_direct_read, and the size of the table beside the cache",
            evidence=(Evidence(table, (_ELIGIBLE,)),),
            order=4,
            explains=("cell multiblock",),
        )
    if smart and eligible is not None and returned is not None and size is not None and size.lo > 0:
        of_all, saved = eligible / size, 1 - returned / eligible
        if of_all.lo > 1.0 + 1e-6 or saved.hi < 0:
            return
        yield Finding(
            "offload",
            f"{percent(min(of_all.value, 1))} of bytes were eligible for smart scan; {percent(saved.value)} of these "
            "did not cross the interconnect.",
            evidence=(Evidence(table, (_ELIGIBLE, _RETURNED)),),
            order=4,
        )
