"""Whether the processors of a host were short: the claim that a system is "choked by CPU", tested on samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.evidence.host_alignment import check_host
from iolab.metrics.formatting import share_text
from iolab.metrics.processors import SATURATED, SINCE_START, cpu_metrics, cpu_samples
from iolab.rules.finding import Evidence, Finding
from logframe.errors import RefusedError
from logframe.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awrparse import AwrReport
    from hostparse import HostLog

#: Fewer samples say nothing of the time between them.
_FEWEST: Final = 10
_MOSTLY: Final = 0.5
#: Shares below this are all alike.
_LEAST_SHARE: Final = 0.001


def processors(log: HostLog) -> Iterator[Finding]:
    r"""How busy the processors were in all samples of a log; nothing of a log without samples of them.

    Examples:
        >>> from hostparse import read_host
        >>> def log(idle: int) -> HostLog:
        ...     row = f" 9 0 0 9 0 0 1 1 {95 - idle} 5 {idle} 0\n"
        ...     return read_host((" r  b   swpd   free  bi    bo   in   cs us sy id wa\n" + row * 21).encode())
        >>> for one in processors(log(2)): print(one.sentence)
        The processors were 98 [97, 99] % busy on average; 20 of 20 samples were at least 90 % busy: work waited for
        one.
        >>> for one in processors(log(70)): print(one.sentence)
        The processors were 30 [29, 31] % busy on average, 30 [29, 31] % in the busiest of 20 samples.
        >>> list(processors(read_host(b"Device  r/s  await\nsda 1.0 2.0\n")))
        []
        >>> head = " r  b   swpd   free  bi    bo   in   cs us sy id wa\n"
        >>> for one in processors(read_host((head + " 9 0 0 9 0 0 1 1 95 5 0 0\n").encode())): print(one.sentence)
        How busy the processors were: the log has only means since the start of the system.
    """
    try:
        cpu_samples(log)
    except RefusedError as refusal:
        if str(refusal) == SINCE_START:
            yield Finding(
                "processors",
                f"How busy the processors were: {SINCE_START}.",
                why="the first report of such a tool is that mean: what happened while work ran cannot be seen in it",
                collect="`vmstat 5 60` while the work runs",
                evidence=(Evidence("cpu" if "cpu" in log.scopes else "host"),),
                is_refused=True,
            )
        return
    yield from _of(log, "", None)


def processors_of_report(host: tuple[str, HostLog], report: tuple[str, AwrReport]) -> Iterator[Finding]:
    """How busy the processors were in a report's time; nothing where host or time are others, or no sample says so."""
    try:
        check_host(report[1], host[1])
    except RefusedError:
        return
    name, log = host
    timed = any(
        log.scan(scope).select(pl.col("interval_end").is_not_null().any()).collect().item() for scope in log.scopes
    )
    # samples without a clock are all taken: they may be of other times
    when = f" in the time of {report[0]}, by {name}" if timed else f" in all samples of {name}, which prints no time"
    yield from _of(log, when, report[1])


def _of(log: HostLog, when: str, report: AwrReport | None) -> Iterator[Finding]:
    begin, end = (report.info.begin_time, report.info.end_time) if report is not None else (None, None)
    if report is not None and (begin is None or end is None or not log.runs.height):
        return
    try:
        samples = cpu_samples(log, begin=begin, end=end)
    except RefusedError:
        return
    figures = {row["metric"]: row for row in cpu_metrics(samples).iter_rows(named=True)}
    busy, most, full = (figures[f"host_cpu_{name}"] for name in ("busy", "busiest", "saturated"))
    number = samples.height
    mean = f"The processors were {_share(busy)} busy on average{when}"
    if number == 1:
        mean = f"The processors were {_share(busy)} busy{when}"
        end_of = " in the only sample: it says nothing of other times."
    elif full["hi"] == 0:
        end_of = f", {_share(most)} in the busiest of {number:,} samples."
    else:
        some = round(full["value"] * number)
        waited = ": work waited for one" if full["lo"] >= _MOSTLY and number >= _FEWEST else ""
        end_of = f"; {some:,} of {number:,} samples were at least {SATURATED:.0%} busy{waited}.".replace("%", " %")
    if report is not None and (own := _of_host(report)) is not None:
        end_of = f"{end_of[:-1]}; the report itself counts {own:.1f} %."
    yield Finding(
        "processors_of_report" if report is not None else "processors",
        mean + end_of,
        why="what is neither idle nor `iowait`, a mean by time; from 90 % on work waits for a processor now and then",
        refuted_by="samples of a shorter step with longer run queues, or `resmgr:cpu quantum` waits",
        evidence=(Evidence("cpu" if "cpu" in log.scopes else "host"),),
        caveat=busy["caveats"],
        order=1,
    )


def _share(figure: dict[str, float]) -> str:
    """A share with the digits that the samples have.

    Examples:
        >>> _share({"value": 0.41, "lo": 0.405, "hi": 0.415}), _share({"value": 0.0, "lo": 0.0, "hi": 0.00005})
        ('41 %', 'under 0.1 %')
    """
    if figure["hi"] < _LEAST_SHARE:
        return "under 0.1 %"
    return share_text(Interval(figure["value"], figure["lo"], figure["hi"]))


def _of_host(report: AwrReport) -> float | None:
    """The busy share of the processors that a report of one instance prints, in percent."""
    if "host_cpu" not in report:
        return None
    rows = report["host_cpu"]
    if rows.height != 1:
        return None
    busy, idle = rows.item(0, "busy_pct"), rows.item(0, "idle_pct")
    return busy if busy is not None else None if idle is None else 100.0 - idle
