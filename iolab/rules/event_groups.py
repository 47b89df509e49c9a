"""Groups of foreground events by what they wait for: the parts of the profile of DB time.

Source: Oracle Database Reference, appendix "Oracle Wait Events".  Groups, not events: the largest event and the largest
group may differ.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from logframe.oracle.names import known_names

#: Reports of text cut names to so many characters at least.
_SHORTEST_CUT: Final = 20
#: What each group is called in a sentence after "is" or "was", in the order of colours of the charts.
GROUPS: Final = {
    "cpu": "CPU",
    "single_block": "single-block reads",
    "other_reads": "multiblock and direct reads",
    "smart_scan": "smart scans of the storage cells",
    "commit": "commits",
    "space_to_write": "waiting for space to write",
    "shared_reads": "waiting for another session's read or block",
    "locks": "locks",
    "concurrency": "latches, mutexes and library cache",
    "cluster": "the cluster",
    "network": "network",
    "other": "other waits",
}
_SINGLE_BLOCK: Final = frozenset(
    {
        "db file sequential read",
        "db file parallel read",
        "cell single block physical read",
        "cell list of blocks physical read",
        "cell single block physical read: flash cache",
        "cell single block physical read: pmem cache",
        "cell single block physical read: rdma",
        "cell single block physical read: xrmem cache",
        "cell single block read request",
        "cell list of blocks read request",
    }
)
_OTHER_READS: Final = frozenset(
    {
        "db file scattered read",
        "direct path read",
        "direct path read temp",
        "direct path read (lob)",
        "cell multiblock physical read",
        "cell multiblock read request",
    }
)
_SMART_SCAN: Final = frozenset(
    {"cell smart table scan", "cell smart index scan", "cell smart file creation", "cell smart restore from backup"}
)
_SPACE: Final = frozenset({"log buffer space", "free buffer waits", "write complete waits"})
_SHARED: Final = frozenset({"read by other session", "buffer busy waits", "buffer busy"})
_NETWORK: Final = frozenset(
    {
        "sql*net message to client",
        "sql*net more data to client",
        "sql*net more data from client",
        "sql*net break/reset to client",
        "sql*net message to dblink",
        "sql*net more data to dblink",
        "sql*net more data from dblink",
        "tcp socket (kgas)",
        "arch wait on sendreq",
    }
)
_CONCURRENCY: Final = ("latch", "cursor:", "library cache", "row cache", "mutex", "latch free")


@lru_cache(maxsize=1 << 12)
def group_of(event: str) -> str:
    """The group of an event that is not idle, a key of `GROUPS`; of a cut name that of all events that begin so.

    Examples:
        >>> [group_of(name) for name in ("log buffer space", "log file switch completion", "enq: TX - contention")]
        ['space_to_write', 'space_to_write', 'locks']
        >>> group_of("DB CPU"), group_of("gc cr block 2-way"), group_of("external table read")
        ('cpu', 'cluster', 'other')
        >>> group_of("cell single block physical"), group_of("cell multiblock physical r"), group_of("db file s")
        ('single_block', 'other_reads', 'other')
    """
    name = event.lower()
    group = _group_of(name)
    if group != "other" or len(name) < _SHORTEST_CUT:
        return group
    groups = {_group_of(known.lower()) for known in known_names("event") if known.lower().startswith(name)}
    return groups.pop() if len(groups) == 1 else group


def _group_of(name: str) -> str:
    if name in {"db cpu", "cpu time"}:
        return "cpu"
    if name in _SINGLE_BLOCK:
        return "single_block"
    if name in _OTHER_READS:
        return "other_reads"
    if name in _SMART_SCAN:
        return "smart_scan"
    if name == "log file sync":
        return "commit"
    if name in _SPACE or name.startswith("log file switch"):
        return "space_to_write"
    if name in _SHARED:
        return "shared_reads"
    if name.startswith("enq:"):
        return "locks"
    if name.startswith("gc "):
        return "cluster"
    if name in _NETWORK:
        return "network"
    return "concurrency" if name.startswith(_CONCURRENCY) else "other"
