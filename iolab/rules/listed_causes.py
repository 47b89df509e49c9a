"""What else a session lists that explains the waits that it lists: settings, and writes of background processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.rules.finding import Evidence, Finding
from iolab.rules.listed_table import data
from iolab.rules.phrases import counted, seconds
from iolab.rules.report_causes import settings_behind
from iolab.rules.session_waits import OF_STATISTICS
from iolab.rules.time_parts import PART
from iolab.time_ledger.next_steps import REMOTE_REDO, event_step

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from iolab.time_ledger.account import Ledger

#: Their place in the order of listings.
_ORDER: Final = OF_STATISTICS - 1


def settings_of_waits(accounts: Sequence[Ledger], settings: Mapping[str, str], *, is_file: bool) -> Iterator[Finding]:
    """The settings that are listed, and explain a wait with a tenth of a listing of waits or more.

    Args:
        accounts: of the waits that were listed.
        settings: the values of parameters by their names.
        is_file: whether the data files are those of a file system.
    """
    cpus, stated = float(settings.get("cpu_count") or 0), set[str]()
    for one in accounts:
        for event in one.parts().filter(pl.col("share_lo") >= PART).sort("share", descending=True)["name"]:
            said, step, names = settings_behind(event, settings, cpus, is_file=is_file)
            if said and said not in stated:
                stated.add(said)
                place = (Evidence("tables", names),)
                yield Finding("listed_rows", said, next=step, evidence=place, order=_ORDER, explains=(event,))


def writers(accounts: Sequence[Ledger]) -> Iterator[Finding]:
    """How long the writes of a background process took, in another listing than the waits for them."""
    for account in accounts:
        rows = account.parts().filter(pl.col("count") > 0).select("name", "seconds", "count").rows()
        for name, time, count in sorted(rows, key=lambda row: -row[1]):
            explains = tuple(data()["writers"].get(name, ()))
            if explains and not any(other in explains for other, _, _ in rows):
                said, place = f"{counted(count, 'writes')}, {seconds(time)}", (Evidence("tables", (name,)),)
                said = f"`{name}` took {seconds(time / count)} each: {said}."
                step = event_step(name) if name.startswith(REMOTE_REDO) else ""
                yield Finding("listed_rows", said, evidence=place, next=step, order=_ORDER, explains=explains)
