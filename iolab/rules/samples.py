"""Samples of sessions and of the operating system: where sampled time went, and whose devices were sampled."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from iolab.evidence.host_alignment import align_host
from iolab.metrics.session_samples import session_shares
from iolab.rules.finding import NOTABLE, Evidence, Finding
from logframe.errors import RefusedError
from logframe.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awrparse import AwrReport
    from hostparse import HostLog
    from sqlplusparse import SessionSamples

_OF: Final = "sampled time"


def sampled_time(log: SessionSamples) -> Iterator[Finding]:
    r"""The states that had the sampled time of sessions, from 5 % on; and waits that no sample met.

    Examples:
        >>> from sqlplusparse import read_session_samples
        >>> head = "SAMPLE_ID,SID,STATE,EVENT\n"
        >>> polls = head + "".join(f"{number},42,ON CPU,\n" for number in range(200))
        >>> for one in sampled_time(read_session_samples(polls.encode())): print(one.sentence)
        CPU had 100.0 % of the sampled time of sessions (95 % interval 98.1 to 100.0 %).
        No sample met a wait: waits had at most 1.5 % of the time, with 95 % confidence.
        >>> few = read_session_samples((head + "1,42,SLEEPING,\n").encode())
        >>> [one.is_refused for one in sampled_time(few)]
        [True]
    """
    shares = session_shares(log)
    named = [row for row in shares.iter_rows(named=True) if row["value"] is not None and row["state"] != "not said"]
    if not named:
        yield Finding(
            "sampled_time",
            "The samples do not say where time went.",
            why=shares.item(0, "caveats"),
            collect="samples with the state of each session, and how many were taken",
            is_refused=True,
        )
    for row in named:
        evidence = (Evidence("samples", (row["state"],)),)
        if row["state"] == "any wait":
            yield Finding(
                "no_wait_met",
                f"No sample met a wait: waits had at most {100 * row['ci_hi']:.1f} % of the time, with 95 % "
                "confidence.",
                why=row["basis"],
                refuted_by="an extended SQL trace of the same session with waits",
                evidence=evidence,
                caveat="waits that come with the beat of the samples are missed",
                order=6,
            )
        elif row["value"] >= NOTABLE:
            least, most = row["ci_lo"], row["ci_hi"]
            state = "CPU" if row["state"] == "CPU" else f"`{row['state']}`"
            bounds = [row["value"] if row[end] is None else row[end] for end in ("lo", "hi")]
            yield Finding(
                "sampled_time",
                f"{state} had {100 * row['value']:.1f} % of the sampled time of sessions (95 % interval "
                f"{100 * least:.1f} to {100 * most:.1f} %).",
                Interval(row["value"], *bounds),
                impact_of=_OF,
                why=row["basis"],
                evidence=evidence,
                caveat=row["caveats"],
            )


def devices_of_others(host: tuple[str, HostLog], report: tuple[str, AwrReport]) -> Iterator[Finding]:
    """Devices that cannot have served the database of a report: no latency of its storage is in their log.

    Nothing is said where the two cannot be compared (`iolab.evidence.align_host`), or where the devices did enough.
    """
    try:
        aligned = align_host(report[1], host[1])
    except RefusedError:
        return
    missing = aligned.filter(quantity="read_requests", verdict="missing").rows(named=True)
    for row in missing:
        when = ", if both are of the same time" if row["covered_s"] is None else ""
        yield Finding(
            "devices_of_others",
            f"The devices of {host[0]} did not serve the database of {report[0]}{when}: at most "
            f"{math.ceil(row['host_hi']):,} of its {row['database']:,.0f} read requests.",
            why=row["explanation"],
            refuted_by="samples of other hosts or times under these names",
            collect="iostat of all devices of the database's files, such as those of ASM",
            evidence=(Evidence("device"),),
            is_gate=True,
        )
