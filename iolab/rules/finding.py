"""One finding, the frame of many, and their order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from logframe.data_files import read_data
from logframe.interval import figure_cells

if TYPE_CHECKING:
    from collections.abc import Iterable

    from logframe.interval import Interval

#: Findings with an impact of this much are major, or notable.
MAJOR: Final = 0.20
NOTABLE: Final = 0.05
#: Findings with less impact than this do not come before facts without one.
LITTLE: Final = 0.03
#: Fewer waits are no sample of a latency.
LEAST_WAITS: Final = 30
#: The marks, in the order of the key; each is shown with its shape and its word.
MARKS: Final = ("evidence", "major", "notable", "context", "cannot tell")
#: The name of the only finding of a log of which no rule says anything.
NOTHING: Final = "nothing_found"
#: That of a run or session that was short, and in which no part of the time matters.
CALM: Final = "calm_run"
#: This many gates come before all others.
MOST_GATES: Final = 2

#: The base of facts that hold in some of the samples of a host.
OF_SAMPLES: Final = "the time of the samples"

#: Columns of the frame of findings, one row a finding in the order to read them.
FINDINGS: Final = pl.Schema(
    {
        "rank": pl.UInt32(),
        "name": pl.String(),
        "mark": pl.Enum(MARKS),
        "impact": pl.Float64(),
        "impact_lo": pl.Float64(),
        "impact_hi": pl.Float64(),
        "impact_of": pl.String(),
        "sentence": pl.String(),
        "detail": pl.String(),
        "next": pl.String(),
        "part": pl.String(),
        "evidence": pl.List(
            pl.Struct({"table": pl.String(), "rows": pl.List(pl.String()), "lines": pl.List(pl.UInt32())})
        ),
        "caveat": pl.String(),
        "refused": pl.Boolean(),
    }
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The place of the figures of a finding.

    Attributes:
        table: the frame.
        rows: the names of its rows (event, statistic, file, ...); empty means the whole table.
        lines: line numbers of the log, where it has lines.
    """

    table: str
    rows: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding.

    Attributes:
        name: what kind of finding, such as `load`.
        sentence: what was measured, in the past tense, figures inside.
        impact: its share of DB time, or of the elapsed time of a trace, from 0 to 1; None without one.
        impact_of: what the share is of: `DB time`, `elapsed time`, `the increase`.
        detail: what makes the sentence more than its figures.
        next: what to do next: the log, table, statement or command.
        part: the part of the time ledger that it is about; its share is the part's, whatever `impact` says.
        evidence: the place of the figures.
        caveat: what to know before it is used.
        is_gate: the evidence itself has a problem.
        is_refused: it says what cannot be determined.
        order: findings of equal mark are in this order; those of 0 stand before all parts of the time, and those below
            0 before these.
        position: the place of a part of the time ledger among them, from 1; set by `iolab.rules.time_parts`.
        explains: beginnings of the names of parts whose place or cause it says; those of its rule where it has none.
    """

    name: str
    sentence: str
    impact: Interval | None = None
    impact_of: str = "DB time"
    detail: str = ""
    next: str = ""
    part: str = ""
    evidence: tuple[Evidence, ...] = ()
    caveat: str = ""
    is_gate: bool = False
    is_refused: bool = False
    order: int = 5
    position: int = 0
    explains: tuple[str, ...] = ()

    @property
    def mark(self) -> str:
        """`evidence`, `major`, `notable`, `context` or `cannot tell`; by the lower bound of the impact."""
        if self.is_gate:
            return "evidence"
        if self.is_refused:
            return "cannot tell"
        if self.impact is None or self.impact.lo < NOTABLE:
            return "context"
        return "major" if self.impact.lo >= MAJOR else "notable"


def rank_findings(found: Iterable[Finding]) -> list[Finding]:
    """The findings in the order to read them.

    At most two problems of the evidence, the total, the parts of the time in the order of the ledger, other impacts
    from the largest lower bound, the rest without an impact, and what cannot be determined.

    Examples:
        >>> from logframe.interval import Interval
        >>> load, locks = Finding("load", "...", order=0), Finding("lock_waits", "...", Interval(0.3, 0.2, 0.4))
        >>> cut, gate = Finding("flash_latency", "...", is_refused=True), Finding("overlapping_shares", "...",
        ...     is_gate=True)
        >>> [one.name for one in rank_findings([cut, locks, load, gate])]
        ['overlapping_shares', 'load', 'lock_waits', 'flash_latency']
    """
    gates = [one for one in found if one.is_gate]
    others = [one for one in found if not one.is_gate]

    def place(one: Finding) -> tuple[int, float, float, int]:
        if one.is_refused:
            return 4, 0, 0, one.order
        if one.order <= 0:
            return 0, 0, 0, one.order
        if one.position:
            return 1, one.position, 0, one.order
        if one.impact is not None and one.impact.hi >= LITTLE:
            return 2, -one.impact.lo, -one.impact.value, one.order
        return 3, 0, 0, one.order

    others.sort(key=place)
    first = [one for one in others if place(one)[0] < 4]
    return [*gates[:MOST_GATES], *first, *gates[MOST_GATES:], *others[len(first) :]]


def nothing_found(looked_at: str) -> Finding:
    """What is reported of a log of which no rule says anything.

    Examples:
        >>> nothing_found("the processors and the devices").sentence
        'Nothing stands out.'
    """
    return Finding(
        NOTHING,
        "Nothing stands out.",
        detail=f"checked: {looked_at}" if looked_at else "",
    )


def is_nothing(findings: pl.DataFrame) -> bool:
    """Whether the findings of a log are only the sentence that nothing stands out.

    Examples:
        >>> is_nothing(findings_frame([Finding(NOTHING, "Nothing stands out.")])), is_nothing(findings_frame([]))
        (True, False)
    """
    return findings.get_column("name").to_list() == [NOTHING]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What is true of a finding in every log (`findings.toml`).

    Attributes:
        matters: why it matters.
        refuted_by: what would show it to be wrong.
        next: what to do next, where a rule names nothing more precise.
        caution: what to know before it is used.
        says: what it says, of a finding that no rule of one log makes.
    """

    matters: str
    refuted_by: str
    next: str
    caution: str = ""
    says: str = ""


@cache
def meanings() -> dict[str, Meaning]:
    """The meaning of every finding, by name.

    Examples:
        >>> meanings()["log_writer_busy"].refuted_by
        'an extended SQL trace of the log writer'
    """
    return {name: Meaning(**entry) for name, entry in read_data("iolab.rules", "findings").items()}


def _usual_next(one: Finding) -> str:
    """What is done next after a major finding, a refusal or a problem of the evidence."""
    if one.mark not in {"major", "cannot tell", "evidence"} or one.name not in meanings():
        return ""
    return meanings()[one.name].next


def findings_frame(found: Iterable[Finding]) -> pl.DataFrame:
    """Findings as a frame (`FINDINGS`), ranked; where nothing stands out, nothing is to do."""
    found = list(found)
    is_calm = any(one.name in {NOTHING, CALM} for one in found)
    rows = [
        {
            "rank": number,
            "name": one.name,
            "mark": one.mark,
            **figure_cells("impact", one.impact),
            "impact_of": None if one.impact is None else one.impact_of,
            "sentence": one.sentence,
            "detail": one.detail or None,
            "next": one.next or (None if is_calm and not one.is_gate else _usual_next(one)) or None,
            "part": one.part or None,
            "evidence": [{"table": of.table, "rows": list(of.rows), "lines": list(of.lines)} for of in one.evidence],
            "caveat": one.caveat or None,
            "refused": one.is_refused,
        }
        for number, one in enumerate(rank_findings(found), 1)
    ]
    return pl.DataFrame(rows, schema=FINDINGS, orient="row")


@cache
def _platforms() -> list[dict[str, Any]]:
    return list(read_data("iolab.rules", "platforms")["platform"])


def platform_steps(words: str, disks: Iterable[str] = (), settings: str = "") -> dict[str, str]:
    """Patterns of what to do next on Linux -> what is done on the platform of a log (`platforms.toml`).

    Args:
        words: that name the platform, as a report or the first line of a log has them.
        disks: names of devices.
        settings: of the system, as AIX prints them.

    Examples:
        >>> platform_steps("Microsoft Windows x86 64-bit")["iostat -xt( 5)?"]
        'perfmon (PhysicalDisk: Avg. Disk sec/Read and sec/Write)'
        >>> platform_steps("", ["hdisk8"])["biolatency -D 10 1|biosnoop -Q"], platform_steps("Linux x86 64-bit")
        ('iostat -D 5', {})
    """
    names = [*disks]
    for one in _platforms():
        is_named = any(word in words.lower() for word in one["words"])
        has_disks = any(name.startswith(tuple(one["disks"])) for name in names)
        if is_named or has_disks or (one["settings"] and one["settings"] in settings):
            return dict(one["steps"])
    return {}
