"""The units in which Oracle counts its statistics.

V$SESSTAT and V$SYSSTAT count most times in centiseconds; names with ``(usec)`` or ``(ms)`` say otherwise, and a few
times are in microseconds without saying so.  V$SESS_TIME_MODEL and V$SYS_TIME_MODEL count in microseconds, also what
has a name in V$STATNAME.  Source: Oracle Database Reference, "Statistics Descriptions", V$SESSTAT, V$SESS_TIME_MODEL.
"""

from __future__ import annotations

import re
from typing import Final

#: Counted in units of 10 ms.
CENTISECONDS: Final = frozenset(
    {
        "CPU used by this session",
        "CPU used when call started",
        "DB time",
        "IPC CPU used by this session",
        "application wait time",
        "change write time",
        "cluster wait time",
        "concurrency wait time",
        "gc CPU used by this session",
        "gc cr block build time",
        "gc cr block flush time",
        "gc cr block receive time",
        "gc cr block send time",
        "gc current block flush time",
        "gc current block pin time",
        "gc current block receive time",
        "gc current block send time",
        "global enqueue CPU used by this session",
        "global enqueue get time",
        "in call idle wait time",
        "non-idle wait time",
        "parse time cpu",
        "parse time elapsed",
        "recursive cpu usage",
        "redo log space wait time",
        "redo synch time",
        "redo write broadcast ack time",
        "redo write time",
        "scheduler wait time",
        "user I/O wait time",
    }
)
#: Counted in microseconds, though the name does not say so.
MICROSECONDS: Final = frozenset(
    {
        "Effective IO time",
        "file io service time",
        "file io wait time",
        "redo write finish time",
        "redo write gather time",
        "redo write issue time",
        "redo write schedule time",
        "redo write total time",
    }
)
#: Names of the time model alone.
TIME_MODEL: Final = frozenset(
    {
        "DB CPU",
        "Java execution elapsed time",
        "PL/SQL compilation elapsed time",
        "PL/SQL execution elapsed time",
        "RMAN cpu time (backup/restore)",
        "background IM population cpu time",
        "background IM trickle repopulation cpu time",
        "background cpu time",
        "background elapsed time",
        "connection management call elapsed time",
        "failed parse (out of shared memory) elapsed time",
        "failed parse elapsed time",
        "hard parse (bind mismatch) elapsed time",
        "hard parse (sharing criteria) elapsed time",
        "hard parse elapsed time",
        "inbound PL/SQL rpc elapsed time",
        "repeated bind elapsed time",
        "sequence load elapsed time",
        "sql execute elapsed time",
    }
)
#: Times of V$OSSTAT, in units of 10 ms; of all processors together but for the averages.
OS_TIMES: Final = frozenset(
    {
        *(f"{of}{what}_TIME" for of in ("", "AVG_") for what in ("BUSY", "IDLE", "IOWAIT", "NICE", "SYS", "USER")),
        "OS_CPU_WAIT_TIME",
        "RSRC_MGR_CPU_WAIT_TIME",
    }
)
#: Names of V$STATNAME that the time model has, too.
SHARED: Final = frozenset({"DB time", "parse time elapsed"})
_NAMED: Final = (
    (re.compile(r"\((?:usec|us)\)"), "us"),
    (re.compile(r"\((?:msec|ms)\)"), "ms"),
    (re.compile(r"\(ns\)"), "ns"),
    (re.compile(r"\bKB\b"), "KB"),
)


def unit_of(name: str, *, is_time_model: bool = False) -> str | None:
    """The unit that Oracle counts a statistic in: `cs`, `us`, `ms`, `ns`, `KB`; None for counts and for bytes.

    Args:
        name: the statistic's name, in full.
        is_time_model: it is a row of V$SESS_TIME_MODEL or V$SYS_TIME_MODEL.

    Examples:
        >>> unit_of("CPU used by this session"), unit_of("redo synch time (usec)"), unit_of("redo KB read")
        ('cs', 'us', 'KB')
        >>> unit_of("DB time"), unit_of("DB time", is_time_model=True), unit_of("physical reads")
        ('cs', 'us', None)
        >>> unit_of("OS_CPU_WAIT_TIME"), unit_of("LOAD")
        ('cs', None)
    """
    if name in TIME_MODEL or name in MICROSECONDS or (is_time_model and name in SHARED):
        return "us"
    if name in CENTISECONDS:
        return "cs"
    if name in OS_TIMES:
        return "cs"
    return next((unit for pattern, unit in _NAMED if pattern.search(name)), None)
