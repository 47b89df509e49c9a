"""Writes ``host/``: what tools would have printed on the host of a made-up AWR report, and polls of a session.

The bytes and requests of ``awr_series/awrrpt_1_4104_4105.txt`` are spread over its hour by a seeded generator; some
I/O of other programs is added.  No figure was measured.
"""

from __future__ import annotations

import datetime as dt
import random
import sys
from pathlib import Path
from typing import NamedTuple

SAMPLE_DATA = Path(__file__).resolve().parents[1]
REPORT = SAMPLE_DATA / "awr_series" / "awrrpt_1_4104_4105.txt"
HOST = "quay07"
CPUS = 16
STEP_S = 60
#: The first report ends two seconds before the AWR report begins.
FIRST = dt.datetime(2026, 9, 14, 20, 0, 10)  # noqa: DTZ001 - the wall clock of the host
SAMPLES = 60
#: The report does not count writes: this many per second, of this many KiB.
WRITES, WRITE_KIB = 14.0, 310.0
#: A session was looked at this often per second, for as long as a statement of article 000 took.
POLLS_PER_S, POLLED_S = 16, 5.714
BANNER = "Linux 5.4.17-2136.el8uek.x86_64 ({host}.example.com) \t09/14/2026 \t_x86_64_\t({cpus} CPU)\n"
DISKS = ("nvme0n1", "nvme1n1")


class Minute(NamedTuple):
    """What the host did in one step: rates per second, and shares of the CPUs in percent."""

    end: dt.datetime
    reads: float
    read_kib: float
    writes: float
    write_kib: float
    user: float
    system: float
    wait: float


def totals() -> dict[str, int]:
    """Name of each statistic of the report -> its total."""
    found = {}
    for line in REPORT.read_text(encoding="utf-8").splitlines():
        for name in ("read total bytes", "read total IO requests"):
            if line.startswith(f"physical {name} "):
                found[name] = int(line.split()[-3].replace(",", ""))
    return found


def minutes() -> list[Minute]:
    """The hour, minute by minute; the first is the mean since the start of the system."""
    dice = random.Random(3)  # noqa: S311 - made-up data
    counted = totals()
    weights = [1 + 0.4 * dice.random() for _ in range(SAMPLES)]
    whole = sum(weights) * STEP_S
    found = [Minute(FIRST, 41.2, 1310.4, 22.9, 611.8, 6.1, 1.4, 0.8)]
    for number, weight in enumerate(weights, 1):
        share = weight / whole
        found.append(
            Minute(
                FIRST + dt.timedelta(seconds=number * STEP_S),
                counted["read total IO requests"] * share,
                counted["read total bytes"] / 1024 * share,
                WRITES * STEP_S * SAMPLES * share,
                WRITE_KIB * STEP_S * SAMPLES * share,
                0.6 + 1.0 * weight * dice.random(),  # the report counts 1.2, 0.2 and 0.1 %
                0.1 + 0.2 * dice.random(),
                0.05 + 0.1 * dice.random(),
            )
        )
    return found


def device_row(name: str, minute: Minute, share: float, dice: random.Random) -> str:
    """A row of iostat -x, sysstat 12: the waits and the depth agree by Little's law."""
    reads, writes = round(minute.reads * share, 2), round(minute.writes * share, 2)
    read_ms, write_ms = (round(0.25 + 0.3 * dice.random(), 2) if rate else 0.0 for rate in (reads, writes))
    read_kib, write_kib = minute.read_kib * share, minute.write_kib * share
    sizes = [round(kib / rate, 2) if rate else 0.0 for kib, rate in ((read_kib, reads), (write_kib, writes))]
    depth = (reads * read_ms + writes * write_ms) / 1000
    busy = min(100.0, 0.9 * depth * 100)
    return (
        f"{name:<15}{reads:8.2f}{read_kib:11.2f}{0.0:9.2f}{0.0:7.2f}{read_ms:8.2f}{sizes[0]:9.2f}"
        f"{writes:8.2f}{write_kib:11.2f}{0.0:9.2f}{0.0:7.2f}{write_ms:8.2f}{sizes[1]:9.2f}{depth:8.2f}{busy:7.2f}\n"
    )


def iostat(hour: list[Minute]) -> str:
    """`iostat -t -x 60 61`."""
    dice = random.Random(4)  # noqa: S311 - made-up data
    head = (
        f"{'Device':<15}{'r/s':>8}{'rkB/s':>11}{'rrqm/s':>9}{'%rrqm':>7}{'r_await':>8}{'rareq-sz':>9}"
        f"{'w/s':>8}{'wkB/s':>11}{'wrqm/s':>9}{'%wrqm':>7}{'w_await':>8}{'wareq-sz':>9}{'aqu-sz':>8}{'%util':>7}\n"
    )
    text = BANNER.format(host=HOST, cpus=CPUS) + "\n"
    other = Minute(FIRST, 0.4, 6.0, 3.0, 40.0, 0.0, 0.0, 0.0)
    for minute in hour:
        idle = 100 - minute.user - minute.system - minute.wait
        text += f"{minute.end:%m/%d/%Y %I:%M:%S %p}\navg-cpu:  %user   %nice %system %iowait  %steal   %idle\n"
        shares = f"{minute.user:6.2f}    0.00  {minute.system:6.2f}  {minute.wait:6.2f}    0.00  {idle:6.2f}"
        text += f"          {shares}\n\n{head}"
        text += device_row("sda", other, 1.0, dice)
        text += "".join(device_row(name, minute, 0.5, dice) for name in DISKS) + "\n"
    return text


def vmstat(hour: list[Minute]) -> str:
    """`vmstat -n -t 60 61`."""
    dice = random.Random(5)  # noqa: S311 - made-up data
    text = (
        "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----\n"
        " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC\n"
    )
    for minute in hour:
        user, system, wait = round(minute.user), round(minute.system), round(minute.wait)
        text += (
            f"{dice.randint(1, 6):2d} {dice.randint(0, 2):2d}      0 {dice.randint(900_000, 990_000)} 204800 8192000"
            "    0    0 "
            f"{round(minute.read_kib + 6):5d} {round(minute.write_kib + 40):5d} {dice.randint(4000, 9000)} "
            f"{dice.randint(8000, 19_000)} {user:2d} {system:2d} {100 - user - system - wait:2d} {wait:2d}  0 "
            f"{minute.end:%Y-%m-%d %H:%M:%S}\n"
        )
    return text


def nmon(hour: list[Minute]) -> str:
    """`nmon -f -s 60 -c 60`."""
    disks = ",".join(("sda", *DISKS))
    text = (
        f"AAA,progname,nmon\nAAA,command,nmon -f -s {STEP_S} -c {SAMPLES}\nAAA,version,16n\nAAA,disks_per_line,150\n"
        f"AAA,host,{HOST}\nAAA,OS,Linux,5.4.17-2136.el8uek.x86_64\nAAA,time,{FIRST:%H:%M.%S}\nAAA,date,14-SEP-2026\n"
        f"AAA,interval,{STEP_S}\nAAA,snapshots,{SAMPLES}\nAAA,cpus,{CPUS}\n"
        f"CPU_ALL,CPU Total {HOST},User%,Sys%,Wait%,Idle%,Steal%,Busy,CPUs\n"
        f"DISKBUSY,Disk %Busy {HOST},{disks}\nDISKREAD,Disk Read KB/s {HOST},{disks}\n"
        f"DISKWRITE,Disk Write KB/s {HOST},{disks}\nDISKXFER,Disk transfers per second {HOST},{disks}\n"
    )
    for tick, minute in enumerate(hour[1:], 1):
        name = f"T{tick:04}"
        idle = 100 - minute.user - minute.system - minute.wait
        read, write = minute.read_kib / 2, minute.write_kib / 2
        rate = (minute.reads + minute.writes) / 2
        busy = min(100.0, rate * 0.04)
        text += (
            f"ZZZZ,{name},{minute.end:%H:%M:%S},14-SEP-2026\n"
            f"CPU_ALL,{name},{minute.user:.1f},{minute.system:.1f},{minute.wait:.1f},{idle:.1f},0.0,,{CPUS}\n"
            f"DISKBUSY,{name},0.2,{busy:.1f},{busy:.1f}\nDISKREAD,{name},6.0,{read:.1f},{read:.1f}\n"
            f"DISKWRITE,{name},40.0,{write:.1f},{write:.1f}\nDISKXFER,{name},3.4,{rate:.1f},{rate:.1f}\n"
        )
    return text


def biolatency(hour: list[Minute]) -> str:
    """`biolatency -D 3600 1`, of the devices of the database."""
    dice = random.Random(6)  # noqa: S311 - made-up data
    text = "Tracing block device I/O... Hit Ctrl-C to end.\n"
    for name in DISKS:
        requests = sum(minute.reads + minute.writes for minute in hour[1:]) * STEP_S / 2
        shares = {64: 0.02, 128: 0.21, 256: 0.55, 512: 0.17, 1024: 0.04, 2048: 0.01}
        counts = {lower: round(requests * share * (0.9 + 0.2 * dice.random())) for lower, share in shares.items()}
        text += f"\ndisk = '{name}'\n     usecs               : count     distribution\n"
        for lower, count in counts.items():
            stars = "*" * round(40 * count / max(counts.values()))
            text += f"{lower:10d} -> {2 * lower - 1:<10d} : {count:<8d} |{stars:<40}|\n"
    return text


def polls(hour: list[Minute]) -> str:
    """One session every sixteenth of a second, while it read asynchronously: each time on a processor."""
    text = "SAMPLE_TIME,SID,SERIAL#,STATE,EVENT\n"
    for number in range(int(POLLS_PER_S * POLLED_S)):
        at = hour[30].end + dt.timedelta(seconds=number / POLLS_PER_S)
        text += f"{at:%Y-%m-%d %H:%M:%S.%f},212,4711,ON CPU,\n"
    return text


def main() -> None:
    """Write the files, into the folder of the command line or ``host/``."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else SAMPLE_DATA / "host"
    folder.mkdir(exist_ok=True)
    hour = minutes()
    files = {"iostat.out": iostat, "vmstat.out": vmstat, "quay07_260914_2000.nmon": nmon, "biolatency.txt": biolatency}
    files["session_polls.csv"] = polls
    for name, make in files.items():
        (folder / name).write_text(make(hour), encoding="utf-8")
        print(f"wrote {folder / name}")


if __name__ == "__main__":
    main()
