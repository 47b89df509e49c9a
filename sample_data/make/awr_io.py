"""The sections of a report about I/O: by function, by type of file, by tablespace."""

from __future__ import annotations

from typing import Final

from awr_forms import Column, Table
from awr_model import BLOCK, Activity
from awr_numbers import data, data_rate, fixed, in_thousands

#: The six columns of I/O that tables of it begin with.
TRAFFIC: Final = (
    Column("Reads: Data", ("Reads:", "Data"), 7),
    Column("Reqs per sec", ("Reqs", "per sec"), 7),
    Column("Data per sec", ("Data", "per sec"), 7),
    Column("Writes: Data", ("Writes:", "Data"), 7),
    Column("Reqs per sec", ("Reqs", "per sec"), 7),
    Column("Data per sec", ("Data", "per sec"), 7),
)
#: Tablespaces: share of cached requests, of writes.
_TABLESPACES: Final = (("HARBOR_DATA", 0.68, 0.55), ("HARBOR_INDEX", 0.27, 0.24), ("UNDOTBS1", 0.01, 0.16),
                       ("SYSAUX", 0.03, 0.04), ("SYSTEM", 0.01, 0.01))  # fmt: skip
#: What a row of I/O is made of: bytes and requests read, bytes and requests written.
Traffic = tuple[int, int, int, int]


def controls(activity: Activity) -> int:
    """Reads of control files."""
    found = (*activity.foreground, *activity.background)
    return sum(one.count for one in found if one.event == "control file sequential read")


def traffic_cells(activity: Activity, traffic: Traffic) -> tuple[str, ...]:
    """The six cells of a row of I/O."""
    cells: list[str] = []
    for size, requests in (traffic[:2], traffic[2:]):
        cells += [data(size), fixed(activity.rate(requests)).replace(",", ""), data_rate(activity.rate(size))]
    return tuple(cells)


def traffics(activity: Activity) -> dict[str, Traffic]:
    """Function -> what it read and wrote."""
    a = activity
    return {
        "Buffer Cache Reads": (a.cached_blocks * BLOCK, a.cached_requests, 0, 0),
        "Direct Reads": (a.direct_blocks * BLOCK, a.direct_requests, 0, 0),
        "DBWR": (0, 0, a.write_blocks * BLOCK, a.write_requests),
        "LGWR": (0, 0, a.redo_bytes, a.log_writes),
        "Others": (controls(a) * 16_384, controls(a), 0, 0),
    }


def total_of(found: list[Traffic]) -> Traffic:
    """The sum of rows of I/O."""
    one, two, three, four = (sum(column) for column in zip(*found, strict=True))
    return one, two, three, four


def io_by_function(activity: Activity) -> Table:
    """I/O by database function."""
    waits = {one.event: one for one in activity.foreground}
    single = waits["db file sequential read"]
    control = waits["control file sequential read"]
    averages = {
        "Buffer Cache Reads": (in_thousands(single.count), f"{single.time_us / 1000 / single.count:.1f}"),
        "Others": (in_thousands(control.count), f"{control.time_us / 1000 / control.count:.1f}"),
    }
    found = traffics(activity)
    rows = [
        (name, *traffic_cells(activity, traffic), *averages.get(name, ("0", "N/A")))
        for name, traffic in sorted(found.items(), key=lambda pair: -pair[1][0] - pair[1][2])
    ]
    count = single.count + control.count
    average = f"{(single.time_us + control.time_us) / 1000 / count:.1f}"
    rows.append(("TOTAL:", *traffic_cells(activity, total_of(list(found.values()))), in_thousands(count), average))
    names = Column("Function Name", ("Function Name",), 15, "<")
    last = (Column("Waits: Count", ("Waits:", "Count"), 7), Column("Avg Tm(ms)", ("Avg", "Tm(ms)"), 7))
    return Table("IOStat by Function summary", (names, *TRAFFIC, *last), rows)


def io_by_filetype(activity: Activity) -> Table:
    """I/O by type of file."""
    parts = traffics(activity)
    found = {
        "Data File": total_of([parts["Buffer Cache Reads"], parts["Direct Reads"], parts["DBWR"]]),
        "Log File": parts["LGWR"],
        "Control File": parts["Others"],
    }
    waits = {one.event: f"{one.time_us / 1000 / one.count:.1f}" for one in activity.foreground}
    averages = {
        "Data File": (waits["db file sequential read"], waits.get("db file scattered read", "N/A")),
        "Log File": ("N/A", "N/A"),
        "Control File": (waits["control file sequential read"], "N/A"),
    }
    rows = [(name, *traffic_cells(activity, traffic), *averages[name]) for name, traffic in found.items()]
    rows.append(("TOTAL:", *traffic_cells(activity, total_of(list(found.values()))), *averages["Data File"]))
    names = Column("Filetype Name", ("Filetype Name",), 15, "<")
    last = (Column("Small Read", ("Small", "Read"), 7), Column("Large Read", ("Large", "Read"), 7))
    return Table("IOStat by Filetype summary", (names, *TRAFFIC, *last), rows)


def tablespaces(activity: Activity) -> Table:
    """I/O by tablespace; a record takes three lines."""
    single = next(one for one in activity.foreground if one.event == "db file sequential read")
    average = f"{single.time_us / 1000 / single.count:.1f}"
    rows = []
    for name, share, write_share in _TABLESPACES:
        reads, writes = round(activity.cached_requests * share), round(activity.write_requests * write_share)
        singles = round(activity.single_requests * share)
        blocks = activity.cached_blocks / activity.cached_requests
        rows.append(
            (
                name,
                fixed(reads, 0),
                fixed(activity.rate(reads), 0),
                average,
                fixed(blocks),
                fixed(activity.rate(singles), 0),
                average,
                ".0",
                fixed(writes, 0),
                fixed(activity.rate(writes), 0),
                "0",
                "0.0",
            )
        )
    columns = (
        Column("Tablespace", ("Tablespace",), 30, "<"),
        Column("Reads", ("Reads",), 11),
        Column("Av Rds/s", ("Av", "Rds/s"), 11),
        Column("Av Rd(ms)", ("Av", "Rd(ms)"), 10),
        Column("Av Blks/Rd", ("Av", "Blks/Rd"), 10),
        Column("1-bk Rds/s", ("1-bk", "Rds/s"), 11),
        Column("Av 1-bk Rd(ms)", ("Av 1-bk", "Rd(ms)"), 10),
        Column("% Opt Reads", ("% Opt", "Reads"), 6),
        Column("Writes", ("Writes",), 11),
        Column("Writes avg/s", ("Writes", "avg/s"), 11),
        Column("Buffer Waits", ("Buffer", "Waits"), 10),
        Column("Av Buf Wt(ms)", ("Av Buf", "Wt(ms)"), 10),
    )
    return Table("Tablespace IO Stats", columns, rows, lines=(1, 7, 4))
