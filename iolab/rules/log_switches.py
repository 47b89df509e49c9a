"""How often the logs of redo were switched, by the listings of a session, and how large they are."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import TYPE_CHECKING, Final

from iolab.metrics.formatting import size_text
from iolab.rules.finding import Evidence, Finding
from iolab.rules.phrases import counted, seconds, three
from iolab.rules.session_waits import OF_STATISTICS
from iolab.time_ledger.next_steps import event_step

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from iolab.rules.listed_table import Table
    from sqlplusparse import Queried

SWITCHES: Final = frozenset({"v$log_history", "v$loghist", "v$archived_log", "dba_hist_archived_log"})
NEXT_SWITCHES: Final = event_step("log file switch")
#: A matrix of switches has a column for each hour of the day.
_HOURS: Final = 24
_AGGREGATES: Final = frozenset({"count", "sum", "avg", "max", "min"})
#: Few logs of this size and less hold little redo.
_SMALL: Final = 2**30


def log_sizes(tables: Sequence[Table]) -> str:
    """The sizes of the groups of logs that are listed, where they are small; empty without them."""
    sizes = [
        size
        for table in tables
        if "v$log" in table.views and "bytes" in table.figures
        for size in table.figures["bytes"].values
        if size
    ]
    if len(sizes) < 2 or max(sizes) > _SMALL:
        return ""
    ends = dict.fromkeys(size_text(round(end)) for end in (min(sizes), max(sizes)))
    return f"The {len(sizes):,} groups of logs have {' to '.join(ends)} each."


def switches(table: Table, sizes: str = "") -> Iterator[Finding]:
    """The hour with most switches, of a list of hours, of days with a column for each hour, or of single switches.

    Args:
        table: a listing; one of other views has no switches.
        sizes: a sentence about the sizes of the logs (`log_sizes`).
    """
    one = table.listed
    if not table.views & SWITCHES:
        return
    names = [column.heading.strip() for column in one.columns]
    hours = [place for place, name in enumerate(names) if name.upper().lstrip("H").isdecimal()]
    is_count = [n for n, column in enumerate(one.columns) if "count" in column.words and "/" not in column.words]
    time = table.moments
    labels = [n for n, column in enumerate(one.columns) if column.words.isdisjoint(_AGGREGATES)]
    per = _period(one, labels) if is_count else "hour"
    if len(hours) == _HOURS:
        figures = {place: one.figures(place) for place in hours}
        cells = [(f"{row[0]} {names[place]}", figures[place][n]) for place in hours for n, row in enumerate(one.rows)]
        found = [(label, value.value) for label, value in cells if value is not None]
    elif len(is_count) == 1 and per:
        rows = zip(one.rows, one.figures(is_count[0]), strict=True)
        pairs = [(" ".join(str(row[n]) for n in labels), value) for row, value in rows]
        found = [(label, value.value) for label, value in pairs if value is not None]
    else:
        times = [str(row[time]).partition(":") for row in one.rows if row[time]] if time is not None else []
        found = [*Counter(hour.strip() for hour, colon, _ in times if colon and not is_count).items()]
    if max((value for _, value in found), default=0) <= 0:
        return
    label, most = max(found, key=lambda pair: pair[1])
    per = "hour" if per == "minute" and all(name.endswith(":00") for name, _ in found) else per
    length = {"minute": 60, "hour": 3600, "day": 86_400}[per]
    is_last = found.index((label, most)) in {0, len(found) - 1} and len(found) > 1  # it may not be over
    each = f", one every {seconds(length / most)}{' or less' * is_last}" if most > 1 else ""
    usual = f"; the median is {three(median(value for _, value in found))} per {per}" if len(found) > 2 else ""
    others = sum(value == most for _, value in found) - 1
    tied = f" and in {counted(others, 'other rows')}" if others else ""
    said = f"Log switches were most frequent at `{label}`{tied}: {three(most)} per {per}{each}{usual}."
    yield Finding(
        "log_switches",
        f"{said} {sizes}".rstrip(),
        next=NEXT_SWITCHES,
        evidence=(Evidence("tables", (label,)),),
        order=OF_STATISTICS - 1,
        explains=("log file switch",),
    )


def _period(one: Queried, labels: Sequence[int]) -> str:
    """What each row of a listing of times is of, by the formats of these; empty where they do not say it."""
    words = {token for n in labels for token in one.columns[n].tokens}
    formats, of_all = (" ".join(word.upper() for word in of if word[0] == "'") for of in (words, one.words))
    is_of_days = "DD" in formats or ("trunc" in words and not formats)
    known = formats if formats or is_of_days else of_all
    return "minute" if "MI" in known else "hour" if "HH" in known else "day" * is_of_days
