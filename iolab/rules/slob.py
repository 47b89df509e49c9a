"""Runs of SLOB: what was set, what its users did, and what the report of the run counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.formatting import RANGE, count_text, figure_text
from iolab.metrics.lookups import statistic
from iolab.rules.finding import Evidence, Finding
from iolab.rules.registry import rule
from logframe.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awrparse import AwrReport
    from hostparse.log import FrameLog

#: Settings that say what work a run does, in the order in which they are reported.
_SETTINGS: Final = ("UPDATE_PCT", "SCAN_PCT", "RUN_TIME", "WORK_LOOP", "SCALE", "WORK_UNIT", "THREADS_PER_SCHEMA")
#: What makes rows of users no total.
_NO_TOTAL: Final = ("missing", "contradiction", "unparsed")
_READS: Final = "physical read total IO requests"
_WRITES: Final = "physical write total IO requests"

#: A report prints its length in minutes of two decimals, and a run needs time to end.
_NEAR_S: Final = 1.0


@rule("slob_settings", "slob_users", "slob_work", of="slob", needs="settings or rows of users")
def slob_findings(log: FrameLog) -> Iterator[Finding]:
    r"""What a run was set to, and the work of its users; that of all together only where each has one row.

    Examples:
        >>> from hostparse import read_slob
        >>> for one in slob_findings(read_slob(b"UPDATE_PCT=20\nRUN_TIME=300\nSCALE=250000\n")): print(one.sentence)
        SLOB was set to UPDATE_PCT 20, RUN_TIME 300, SCALE 250000.
        >>> users = "".join(f"{user}|30000|{1200 + 3 * user}|{4 + user / 100:.3f}|\n" for user in range(1, 5))
        >>> for one in slob_findings(read_slob(users.encode())): print(one.sentence)
        Each of 4 users did about 4.04 work units per second in 300 s.
        All 4 users together did 4,830 work units.
        >>> for one in slob_findings(read_slob(users[users.index("2|"):].encode())): print(one.sentence, one.is_refused)
        Each of 3 users did about 4.04 work units per second in 300 s. False
        The total work of all users is not known: 1 of users 1 to 4 has no row. True
        >>> list(slob_findings(read_slob(b"ADMIN_SQLNET_SERVICE=slob\nSYSDBA_PASSWD=x\n")))
        []
    """
    settings = {name: (value, line) for name, value, _, line in log.tables["settings"].iter_rows()}
    shown = [(name, *settings[name]) for name in _SETTINGS if name in settings and settings[name][0]]
    if shown:
        yield Finding(
            "slob_settings",
            f"SLOB was set to {', '.join(f'{name} {value}' for name, value, _ in shown)}.",
            evidence=(Evidence("settings", tuple(name for name, *_ in shown), tuple(line for *_, line in shown)),),
            order=1,
        )
    users = log.tables["users"].drop_nulls("work_units_per_s")
    if users.height:
        yield from _users(log, users)


def _users(log: FrameLog, users: pl.DataFrame) -> Iterator[Finding]:
    rates = users.get_column("work_units_per_s")
    number = users.get_column("user").n_unique()
    least, most = rates.min(), rates.max()
    shortest, longest = users.get_column("elapsed_s").min(), users.get_column("elapsed_s").max()
    yield Finding(
        "slob_users",
        f"{'Each of ' if number > 1 else ''}{count_text(number, 'user')} did {_range(least, most)} work units "
        f"per second in {_range(shortest, longest)} s.",
        detail="a work unit of SLOB is not an I/O request",
        evidence=(Evidence("users"),),
        order=2,
    )
    odd = log.diagnostics.filter(pl.col("kind").is_in(_NO_TOTAL))
    if odd.is_empty():
        yield Finding(
            "slob_work",
            f"All {count_text(number, 'user')} together did {users.get_column('work_units').sum():,} work units.",
            evidence=(Evidence("users"),),
            order=3,
        )
        return
    missing = odd.filter(kind="missing").get_column("reason").to_list()
    reason = missing[0].partition(":")[0] if missing else "some rows are repeated, damaged or contradict themselves"
    yield Finding(
        "slob_work",
        f"The total work of all users is not known: {reason}.",
        next="take the report of the run, which counts all sessions",
        evidence=(Evidence("users"),),
        is_refused=True,
    )


def _range(least: object, most: object) -> str:
    """Two figures with ``to`` between them, or one where they are equal."""
    one, other = (figure_text(float(str(value))) for value in (least, most))
    if float(str(most)) - float(str(least)) <= RANGE * float(str(most)):
        return one if one == other else f"about {other}"
    return f"{one} to {other}"


def slob_and_report(slob: tuple[str, FrameLog], report: tuple[str, AwrReport]) -> Iterator[Finding]:
    """What the report of a run counted with its settings, and whether it holds the run.

    The rates are those of the report's whole period; where that is shorter than the run was set to, or than its users
    worked, the report is of a part of it.
    """
    elapsed = report[1].info.elapsed_s
    if elapsed is None or elapsed <= 0:
        return
    settings = dict(slob[1].tables["settings"].select("name", "value").iter_rows())
    worked = slob[1].tables["users"].get_column("elapsed_s").max()
    run_time = settings.get("RUN_TIME") or ""
    length = float(str(worked)) if worked is not None else float(run_time) if run_time.isdecimal() else None
    if length is not None and elapsed + _NEAR_S < length:
        yield Finding(
            "slob_part",
            f"{report[0]} covers {figure_text(elapsed)} s, and {slob[0]} is of {figure_text(length)} s: "
            "the report is of a part of the run.",
            next="take a report between snapshots before and after the run",
            evidence=(Evidence("users" if worked is not None else "settings"),),
            is_gate=True,
        )
    if "UPDATE_PCT" not in settings:
        return
    reads, writes = (statistic(report[1], name) for name in (_READS, _WRITES))
    if reads is None:
        yield Finding(
            "slob_rate",
            f"The requests per second of the run are not known: {report[0]} has no `{_READS}`.",
            next="take a report of Oracle 11.1 or later",
            evidence=(Evidence("settings", ("UPDATE_PCT",)),),
            is_refused=True,
        )
        return
    period = Interval(elapsed, max(elapsed - _NEAR_S / 2, 0.0), elapsed + _NEAR_S / 2)
    written = "" if writes is None else f" and {figure_text(writes / period)} writes"
    yield Finding(
        "slob_rate",
        f"With UPDATE_PCT {settings['UPDATE_PCT']} the database of {report[0]} did {figure_text(reads / period)} reads"
        f"{written} per second.",
        evidence=(Evidence("settings", ("UPDATE_PCT",)),),
        order=1,
    )
