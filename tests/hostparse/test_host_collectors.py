"""What collectors print above the output of the tools that they run: ExaWatcher and OSWatcher."""

from __future__ import annotations

import datetime as dt

from hostparse import read_host

CPU = """\
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           {}.00    0.00    2.00    3.00    0.00   90.00
"""
DISKS = """
Device:         rrqm/s   wrqm/s     r/s     w/s   rsec/s   wsec/s avgrq-sz avgqu-sz   await  svctm  %util
sda               0.00     1.00   {}.00   20.00   160.00   320.00    16.00     0.05    1.50   0.40   1.20

"""
EXAWATCHER = f"""\
############################################################
# Starting Time:        03/25/2026 10:15:00
# Sample Interval(s):   5
# Collection Command:   /usr/bin/iostat -t -x  5  2
############################################################
zzz <03/25/2026 10:15:00> Count:2
Linux 4.14.35-1902.el7uek.x86_64 (cel07.example.com) \t03/25/2026 \t_x86_64_\t(32 CPU)

Time: 10:15:00 AM
{CPU.format(1)}{DISKS.format(10)}Time: 10:15:05 AM
{CPU.format(4)}{DISKS.format(40)}"""
OSWATCHER = f"""\
Linux OSWbb v8.3.2
SNAP_INTERVAL 30
CPU_CORES 8
VCPUS 16
OSWgCompliant
zzz ***Wed Mar 25 10:15:00 CET 2026
{CPU.format(1)}{DISKS.format(10)}zzz ***Wed Mar 25 10:15:30 CET 2026
{CPU.format(4)}{DISKS.format(40)}"""


def test_exawatcher() -> None:
    """The command and its interval, the host, and the begin of the collection; the samples have their times."""
    log = read_host(EXAWATCHER.encode())
    runs = log.frames()["runs"].lazy().collect()
    columns = ("collector", "host", "cpus", "interval_s", "command", "opened_at")
    begin = dt.datetime(2026, 3, 25, 10, 15)  # noqa: DTZ001 - the log has no zone

    assert runs.select(columns).rows() == [
        ("exawatcher", "cel07.example.com", 32, 5.0, "/usr/bin/iostat -t -x  5  2", begin)
    ]
    devices = log.frames()["device"].lazy().select("interval_end", "reads_per_s").collect()
    assert devices.rows() == [(begin, 10.0), (begin + dt.timedelta(seconds=5), 40.0)]
    assert log.diagnostics["text"].to_list() == []


def test_oswatcher() -> None:
    """Each collection has its time and zone; the interval and the CPUs (threads of the cores) stand in the head."""
    log = read_host(OSWATCHER.encode())
    begin = dt.datetime(2026, 3, 25, 10, 15)  # noqa: DTZ001 - the zone has a column of its own

    runs = log.frames()["runs"].lazy().select("collector", "zone", "opened_at", "settings", "cpus").collect()
    assert runs.rows() == [
        ("oswatcher", "CET", begin, "SNAP_INTERVAL 30", 16),
        ("oswatcher", "CET", begin + dt.timedelta(seconds=30), None, 16),
    ]
    devices = log.frames()["device"].lazy().select("run", "reads_per_s").collect()
    assert devices.rows() == [(0, 10.0), (1, 40.0)]
    assert log.diagnostics["text"].to_list() == []
