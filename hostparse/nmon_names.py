"""The tables of nmon: what their rows are about, and what their figures mean."""

from __future__ import annotations

import re
from typing import Final

from hostparse.columns import Metric
from hostparse.lines import NMON

_KIB: Final = 1024.0
_MIB: Final = 1024.0**2

_DISK: Final = {
    "BUSY": Metric("util_percent", "%", 1.0, "share"),
    "READ": Metric("read_bytes_per_s", "B/s", _KIB, "rate"),
    "WRITE": Metric("write_bytes_per_s", "B/s", _KIB, "rate"),
    "XFER": Metric("transfers_per_s", "/s", 1.0, "rate"),
    "BSIZE": Metric("request_bytes", "B", _KIB, "gauge"),
    "SIZE": Metric("request_bytes", "B", _KIB, "gauge"),
    "RXFER": Metric("read_transfers_per_s", "/s", 1.0, "rate"),
    "RIO": Metric("reads_per_s", "/s", 1.0, "rate"),
    "WIO": Metric("writes_per_s", "/s", 1.0, "rate"),
    "SERV": Metric("service_ms", "ms", 1.0, "time"),
    "READSERV": Metric("read_service_ms", "ms", 1.0, "time"),
    "WRITESERV": Metric("write_service_ms", "ms", 1.0, "time"),
    "WAIT": Metric("queue_ms", "ms", 1.0, "time"),
    # the titles say "average per second", the figures are no rates
    "AVGRIO": Metric("avgrio", None, 1.0, "unknown"),
    "AVGWIO": Metric("avgwio", None, 1.0, "unknown"),
}
#: Tables with a column for each thing: name -> (scope, metric).
CROSSED: Final = {
    **{f"DISK{word}": ("device", metric) for word, metric in _DISK.items()},
    **{f"DG{word}": ("disk_group", metric) for word, metric in _DISK.items()},
    **{f"VG{word}": ("volume_group", metric) for word, metric in _DISK.items()},
    "JFSFILE": ("file_system", Metric("used_percent", "%", 1.0, "share")),
    "JFSINODE": ("file_system", Metric("inodes_used_percent", "%", 1.0, "share")),
    "PAGING": ("paging_space", Metric("free_bytes", "B", _MIB, "gauge")),
}
#: Tables whose columns name a thing and what is counted: name -> scope.
MIXED: Final = {
    "NET": "interface",
    "NETPACKET": "interface",
    "NETSIZE": "interface",
    "NETERROR": "interface",
    "IOADAPT": "adapter",
}
_COUNTED: Final = {
    "read-KB/s": Metric("read_bytes_per_s", "B/s", _KIB, "rate"),
    "write-KB/s": Metric("write_bytes_per_s", "B/s", _KIB, "rate"),
    "read/s": Metric("read_packets_per_s", "/s", 1.0, "rate"),
    "write/s": Metric("write_packets_per_s", "/s", 1.0, "rate"),
    "reads/s": Metric("read_packets_per_s", "/s", 1.0, "rate"),
    "writes/s": Metric("write_packets_per_s", "/s", 1.0, "rate"),
    "readsize": Metric("read_packet_bytes", "B", 1.0, "gauge"),
    "writesize": Metric("write_packet_bytes", "B", 1.0, "gauge"),
    "xfer-tps": Metric("transfers_per_s", "/s", 1.0, "rate"),
}
_ENTITY: Final = re.compile(NMON.pattern("^(?P<name>.+?)[-_](?P<what>{COUNTED_WORD})$"))
_TABLE: Final = re.compile(NMON.pattern("^(?P<name>{TABLE})(?P<number>{TABLE_END})?$"))


def table_of(tag: str) -> tuple[str, str | None]:
    """The table that a tag names, and the number after it.

    Examples:
        >>> table_of("CPU001"), table_of("CPU_ALL"), table_of("DISKBUSY1"), table_of("MEMPAGES4KB")
        (('CPU', '001'), ('CPU', 'all'), ('DISKBUSY', '1'), ('MEMPAGES4KB', None))
    """
    found = _TABLE.match(tag)
    if found is None or found["number"] is None:
        return tag, None
    if found["name"] not in {"CPU", "PCPU", "SCPU"} and found["name"] not in CROSSED:
        return tag, None
    return found["name"], "all" if found["number"] == "_ALL" else found["number"]


def counted_of(column: str) -> tuple[str, Metric] | None:
    """The thing that a column of `MIXED` is about, and what is counted; None where the heading has another form.

    Examples:
        >>> counted_of("eth0-read-KB/s")[1].name, counted_of("vlan-read-read/s")[0], counted_of("else")
        ('read_bytes_per_s', 'vlan-read', None)
    """
    found = _ENTITY.match(column)
    if found is None:
        return None
    what = found["what"]
    return found["name"], _COUNTED.get(what) or Metric(
        what.replace("/s", "_per_s").replace("-", "_"), None, 1.0, "unknown"
    )


def metric_in(table: str, column: str, title: str) -> Metric:
    """The meaning of a column of a table about the whole system."""
    word = column.strip()
    is_memory = table == "MEM" and "MB" in title
    if word.endswith("%") or word.startswith("%"):
        return Metric(f"{word.strip('% ').lower().replace(' ', '_') or word}_percent", "%", 1.0, "share")
    if is_memory:
        return Metric(f"{word}_bytes", "B", _MIB, "gauge")
    if word.endswith("(MB)"):
        return Metric(f"{word.removesuffix('(MB)').strip().lower().replace(' ', '_')}_bytes", "B", _MIB, "gauge")
    if word.endswith("/s"):
        return Metric(f"{word.removesuffix('/s')}_per_s", "/s", 1.0, "rate")
    if table in {"PCPU", "SCPU"}:
        return Metric(f"{word.lower().replace(' ', '_')}_cpus", "1", 1.0, "gauge")
    return Metric(word.lower().replace(" ", "_") if table == "CPU" else word, None, 1.0, "unknown")
