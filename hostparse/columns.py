"""What each printed column means: its name here, its unit, and the factor to that unit.

A column whose heading is not listed keeps its printed name; a unit is taken from the heading itself (``%``, ``/s``,
``kb``) or is null: no unit is guessed.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Basis = Literal["rate", "share", "time", "gauge", "count", "total", "invalid", "unknown"]


class Metric(NamedTuple):
    """The meaning of one column of figures.

    Attributes:
        name: the column's name in the frames; its unit stands in the name.
        unit: ``/s``, ``B/s``, ``B``, ``ms``, ``s``, ``%``, ``1`` or None where the heading does not say it.
        factor: what the printed figure is multiplied by.
        basis: ``rate`` (per second of the interval), ``share`` (percent), ``time``, ``gauge`` (a mean or a level),
            ``count`` (an exact whole number), ``total`` (counted over the interval or since the start), ``invalid``
            (not to be used: what the tool prints is no measure), ``unknown``.
        is_known: the heading is in the list.
    """

    name: str
    unit: str | None
    factor: float = 1.0
    basis: Basis = "gauge"
    is_known: bool = True


#: The length of an interval as sadf states it, from the time that the system is up; stamps may contradict it.
STATED_INTERVAL: Final = Metric("stated_interval_s", "s", 1.0, "gauge")
#: Columns that name what a row is about, and what they name.
KEYS: Final = {
    "Device": "device",
    "DEV": "device",
    "device": "device",
    "Disks": "device",
    "disk": "device",
    "DISK": "device",
    "pool": "device",
    "CPU": "cpu",
    "NODE": "node",
    "INTR": "interrupt",
    "TTY": "terminal",
    "IFACE": "interface",
    "FILESYSTEM": "file_system",
    "MOUNTPOINT": "file_system",
    "FCHOST": "adapter",
    "BUS": "bus",
    "FAN": "fan",
    "TEMP": "sensor",
    "IN": "sensor",
    "DEVICE": "sensor_device",
    "UID": "uid",
    "USER": "user",
    "TGID": "tgid",
    "PID": "pid",
    "TID": "tid",
    "Command": "command",
    "idvendor": "vendor_id",
    "idprod": "product_id",
    "manufact": "manufacturer",
    "product": "product",
    "BAT": "battery",
    "status": "status",
}
#: Names that stand last and may be missing.
OPTIONAL_KEYS: Final = frozenset({"manufacturer", "product", "status"})
#: Names without blanks: numbers, and names of users.
ONE_WORD: Final = frozenset({"cpu", "node", "interrupt", "uid", "user", "tgid", "pid", "tid", "bus", "fan", "battery"})
#: Keys of which a row of a process has several; beside them, ``CPU`` is a figure.
PROCESS_KEYS: Final = frozenset({"uid", "user", "tgid", "pid", "tid", "command"})

_KIB, _MIB, _GIB, _SECTOR = 1024.0, 1024.0**2, 1024.0**3, 512.0


def _bytes_family() -> dict[str, Metric]:
    """Rates and totals of bytes: ``rkB/s``, ``kB_read/s``, ``MB_read``, ``Blk_wrtn/s``, ``rsec/s``, ..."""
    factors = {"kB": _KIB, "MB": _MIB, "GB": _GIB, "Blk": _SECTOR}
    long = {"read": "read", "wrtn": "write", "dscd": "discard", "w+d": "write_and_discard"}
    found = {}
    for unit, factor in factors.items():
        for word, what in long.items():
            found[f"{unit}_{word}/s"] = Metric(f"{what}_bytes_per_s", "B/s", factor, "rate")
            found[f"{unit}_{word}"] = Metric(f"{what}_bytes", "B", factor, "total")
        found[f"{unit}/s"] = Metric("bytes_per_s", "B/s", factor, "rate")
    for letter, what in {"r": "read", "w": "write", "d": "discard"}.items():
        for unit, factor in {"kB": _KIB, "MB": _MIB, "GB": _GIB, "sec": _SECTOR, "d_sec": _SECTOR}.items():
            found[f"{letter}{unit}/s"] = Metric(f"{what}_bytes_per_s", "B/s", factor, "rate")
        found[f"{letter}/s"] = Metric(f"{what}s_per_s".replace("writes", "writes"), "/s", 1.0, "rate")
        found[f"{letter}rqm/s"] = Metric(f"{what}_merges_per_s", "/s", 1.0, "rate")
        found[f"%{letter}rqm"] = Metric(f"{what}_merged_percent", "%", 1.0, "share")
        found[f"{letter}_await"] = Metric(f"{what}_await_ms", "ms", 1.0, "time")
        found[f"{letter}areq-sz"] = Metric(f"{what}_request_bytes", "B", _KIB, "gauge")
    found["rd_sec/s"] = Metric("read_bytes_per_s", "B/s", _SECTOR, "rate")
    found["wr_sec/s"] = Metric("write_bytes_per_s", "B/s", _SECTOR, "rate")
    return found


#: Printed heading -> meaning, whatever the tool.
COMMON: Final = {
    **_bytes_family(),
    "f/s": Metric("flushes_per_s", "/s", 1.0, "rate"),
    "f_await": Metric("flush_await_ms", "ms", 1.0, "time"),
    "tps": Metric("transfers_per_s", "/s", 1.0, "rate"),
    "rtps": Metric("reads_per_s", "/s", 1.0, "rate"),
    "wtps": Metric("writes_per_s", "/s", 1.0, "rate"),
    "dtps": Metric("discards_per_s", "/s", 1.0, "rate"),
    "bread/s": Metric("read_bytes_per_s", "B/s", _SECTOR, "rate"),
    "bwrtn/s": Metric("write_bytes_per_s", "B/s", _SECTOR, "rate"),
    "bdscd/s": Metric("discard_bytes_per_s", "B/s", _SECTOR, "rate"),
    "pgpgin/s": Metric("paged_in_bytes_per_s", "B/s", _KIB, "rate"),
    "pgpgout/s": Metric("paged_out_bytes_per_s", "B/s", _KIB, "rate"),
    "rqm/s": Metric("merges_per_s", "/s", 1.0, "rate"),
    "%rqm": Metric("merged_percent", "%", 1.0, "share"),
    "await": Metric("await_ms", "ms", 1.0, "time"),
    "areq-sz": Metric("request_bytes", "B", _KIB, "gauge"),
    "avgrq-sz": Metric("request_bytes", "B", _SECTOR, "gauge"),
    "aqu-sz": Metric("in_flight", "1", 1.0, "gauge"),
    "avgqu-sz": Metric("in_flight", "1", 1.0, "gauge"),
    "svctm": Metric("svctm_ms", "ms", 1.0, "invalid"),
    "%util": Metric("util_percent", "%", 1.0, "share"),
    # pidstat
    "kB_rd/s": Metric("read_bytes_per_s", "B/s", _KIB, "rate"),
    "kB_wr/s": Metric("write_bytes_per_s", "B/s", _KIB, "rate"),
    "kB_ccwr/s": Metric("cancelled_write_bytes_per_s", "B/s", _KIB, "rate"),
    "iodelay": Metric("io_delay_ticks", None, 1.0, "total"),
    "%CPU": Metric("cpu_percent", "%", 1.0, "share"),
    "VSZ": Metric("virtual_bytes", "B", _KIB, "count"),
    "RSS": Metric("resident_bytes", "B", _KIB, "count"),
    "StkSize": Metric("stack_bytes", "B", _KIB, "count"),
    "StkRef": Metric("stack_used_bytes", "B", _KIB, "count"),
    "usr-ms": Metric("usr_ms", "ms", 1.0, "total"),
    "system-ms": Metric("system_ms", "ms", 1.0, "total"),
    "guest-ms": Metric("guest_ms", "ms", 1.0, "total"),
    "minflt-nr": Metric("minor_faults", "1", 1.0, "total"),
    "majflt-nr": Metric("major_faults", "1", 1.0, "total"),
    "threads": Metric("threads", "1", 1.0, "count"),
    "fd-nr": Metric("descriptors", "1", 1.0, "count"),
    "prio": Metric("priority", "1", 1.0, "count"),
    # sar
    "runq-sz": Metric("runnable", "1", 1.0, "count"),
    "plist-sz": Metric("tasks", "1", 1.0, "count"),
    "blocked": Metric("blocked", "1", 1.0, "count"),
    "rxkB/s": Metric("received_bytes_per_s", "B/s", _KIB, "rate"),
    "txkB/s": Metric("sent_bytes_per_s", "B/s", _KIB, "rate"),
    "MBfsfree": Metric("free_bytes", "B", _MIB, "gauge"),
    "MBfsused": Metric("used_bytes", "B", _MIB, "gauge"),
    # Solaris, HP-UX, AIX
    "kr/s": Metric("read_bytes_per_s", "B/s", _KIB, "rate"),
    "kw/s": Metric("write_bytes_per_s", "B/s", _KIB, "rate"),
    "Mr/s": Metric("read_bytes_per_s", "B/s", _MIB, "rate"),
    "Mw/s": Metric("write_bytes_per_s", "B/s", _MIB, "rate"),
    "actv": Metric("in_flight", "1", 1.0, "gauge"),
    "wait": Metric("queued", "1", 1.0, "gauge"),
    "wsvc_t": Metric("queue_ms", "ms", 1.0, "time"),
    "asvc_t": Metric("service_ms", "ms", 1.0, "time"),
    "svc_t": Metric("await_ms", "ms", 1.0, "time"),
    "%w": Metric("queued_percent", "%", 1.0, "share"),
    "%b": Metric("util_percent", "%", 1.0, "share"),
    "%busy": Metric("util_percent", "%", 1.0, "share"),
    "avque": Metric("queued_and_in_flight", "1", 1.0, "gauge"),
    "r+w/s": Metric("transfers_per_s", "/s", 1.0, "rate"),
    "blks/s": Metric("bytes_per_s", "B/s", _SECTOR, "rate"),
    "Kbs/s": Metric("bytes_per_s", "B/s", _KIB, "rate"),
    "avwait": Metric("queue_ms", "ms", 1.0, "time"),
    "avserv": Metric("service_ms", "ms", 1.0, "time"),
    "%tm_act": Metric("util_percent", "%", 1.0, "share"),
    "Kbps": Metric("bytes_per_s", "B/s", _KIB, "rate"),
    "Kb_read": Metric("read_bytes", "B", _KIB, "total"),
    "Kb_wrtn": Metric("write_bytes", "B", _KIB, "total"),
    "tin": Metric("terminal_in_per_s", "/s", 1.0, "rate"),
    "tout": Metric("terminal_out_per_s", "/s", 1.0, "rate"),
    "physc": Metric("physical_cpus", "1", 1.0, "gauge"),
    "%entc": Metric("entitled_percent", "%", 1.0, "share"),
    "bps": Metric("bytes_per_s", None, 1.0, "rate"),
}

#: What vmstat prints; the unit of its memory columns depends on an option that the output does not show.
VMSTAT: Final = {
    "r": Metric("runnable", "1", 1.0, "count"),
    "b": Metric("blocked", "1", 1.0, "count"),
    "w": Metric("swapped_out", "1", 1.0, "count"),
    "swpd": Metric("swpd", None, 1.0, "count"),
    "free": Metric("free", None, 1.0, "count"),
    "buff": Metric("buff", None, 1.0, "count"),
    "cache": Metric("cache", None, 1.0, "count"),
    "inact": Metric("inact", None, 1.0, "count"),
    "active": Metric("active", None, 1.0, "count"),
    "avm": Metric("active_virtual_bytes", "B", 4096.0, "count"),
    "fre": Metric("free_bytes", "B", 4096.0, "count"),
    "swap": Metric("swap", None, 1.0, "count"),
    "si": Metric("si", None, 1.0, "rate"),
    "so": Metric("so", None, 1.0, "rate"),
    "bi": Metric("read_bytes_per_s", "B/s", _KIB, "rate"),
    "bo": Metric("write_bytes_per_s", "B/s", _KIB, "rate"),
    "in": Metric("interrupts_per_s", "/s", 1.0, "rate"),
    "cs": Metric("context_switches_per_s", "/s", 1.0, "rate"),
    "us": Metric("us_percent", "%", 1.0, "share"),
    "sy": Metric("sy_percent", "%", 1.0, "share"),
    "id": Metric("id_percent", "%", 1.0, "share"),
    "wa": Metric("wa_percent", "%", 1.0, "share"),
    "st": Metric("st_percent", "%", 1.0, "share"),
    "gu": Metric("gu_percent", "%", 1.0, "share"),
    "pc": Metric("physical_cpus", "1", 1.0, "gauge"),
    "ec": Metric("entitled_percent", "%", 1.0, "share"),
    "faults sy": Metric("system_calls_per_s", "/s", 1.0, "rate"),
    "cpu sy": Metric("sy_percent", "%", 1.0, "share"),
    **{word: Metric(f"{word}_per_s", "/s", 1.0, "rate") for word in ("re", "pi", "po", "fr", "sr", "cy", "mf", "de")},
    # vmstat -d: since the start of the system
    **{
        f"{what}s {word}": Metric(name, unit, factor, "total")
        for what in ("read", "write")
        for word, name, unit, factor in (
            ("total", f"{what}s", "1", 1.0),
            ("merged", f"{what}_merges", "1", 1.0),
            ("sectors", f"{what}_bytes", "B", _SECTOR),
            ("ms", f"{what}_ms", "ms", 1.0),
        )
    },
    "cur": Metric("in_flight", "1", 1.0, "count"),
    "sec": Metric("busy_s", "s", 1.0, "total"),
}

#: What ``zpool iostat`` prints.
ZPOOL: Final = {
    "alloc": Metric("allocated_bytes", "B", 1.0, "gauge"),
    "free": Metric("free_bytes", "B", 1.0, "gauge"),
    "operations read": Metric("reads_per_s", "/s", 1.0, "rate"),
    "operations write": Metric("writes_per_s", "/s", 1.0, "rate"),
    "bandwidth read": Metric("read_bytes_per_s", "B/s", 1.0, "rate"),
    "bandwidth write": Metric("write_bytes_per_s", "B/s", 1.0, "rate"),
}


#: What biopattern counts of a disk in an interval; the shares are cut to whole numbers.
BIOPATTERN: Final = {
    "%RND": Metric("random_percent", "%", 1.0, "total"),
    "%SEQ": Metric("sequential_percent", "%", 1.0, "total"),
    "COUNT": Metric("requests", "1", 1.0, "count"),
    "KBYTES": Metric("bytes", "B", _KIB, "total"),
}


def metric_of(printed: str, tool: str) -> Metric:
    """The meaning of a printed column of a tool.

    Examples:
        >>> metric_of("rkB/s", "iostat")[:3]
        ('read_bytes_per_s', 'B/s', 1024.0)
        >>> metric_of("%soft", "mpstat")[:2], metric_of("colour", "sar")[:2]
        (('soft_percent', '%'), ('colour', None))
    """
    special = {"vmstat": VMSTAT, "zpool": ZPOOL, "biopattern": BIOPATTERN}.get(tool, {})
    if found := special.get(printed) or COMMON.get(printed):
        return found
    is_known = tool in {"sar", "mpstat", "pidstat"} or printed in _CPU
    word = printed.strip("%").replace("/s", "").replace("-", "_").replace("+", "_and_").lower() or printed
    if printed.startswith("%"):
        return Metric(f"{word}_percent", "%", 1.0, "share", is_known)
    if printed.endswith("/s"):
        return Metric(f"{word}_per_s", "/s", 1.0, "rate", is_known)
    if tool == "sar" and printed.startswith("kb") and len(printed) > 2:
        return Metric(f"{word[2:]}_bytes", "B", _KIB, "gauge")
    return Metric(printed, None, 1.0, "unknown", is_known)


_CPU: Final = frozenset(
    {"%user", "%usr", "%nice", "%system", "%sys", "%iowait", "%steal", "%idle", "%irq", "%soft", "%guest", "%gnice"}
)
