"""How fast samples of the operating system are read: CPU seconds and MB/s of iostat -x and nmon.

The logs are generated; a small one is read first, so that grammars and libraries are loaded.  Run it with
``POLARS_MAX_THREADS=1`` for the speed of one core.

    python benchmarks/host.py [--size MB]
"""

from __future__ import annotations

import argparse
import random
import resource
import time

import hostparse

DEVICES = 60
DISKS = 100


def iostat(size: int) -> bytes:
    """Reports of ``iostat -t -x`` of sysstat 7, distinct rows, at least so many bytes."""
    dice = random.Random(1)  # noqa: S311 - made-up data
    head = "Device:         rrqm/s   wrqm/s   r/s   w/s   rsec/s   wsec/s avgrq-sz avgqu-sz   await  svctm  %util\n"
    rows = [
        f"{0:9.2f}{dice.random() * 30:9.2f}{dice.random() * 90:6.2f}{dice.random() * 90:6.2f}"
        + "".join(f"{dice.random() * 900:9.2f}" for _ in range(4))
        + f"{dice.random() * 9:8.2f}{dice.random():7.2f}{dice.random() * 99:7.2f}\n"
        for _ in range(5000)
    ]
    parts = ["Linux 2.6.18-194.el5 (cel01.example.com) \t02/19/24\n\n"]
    written = number = 0
    while written < size:
        second = number * 5
        stamp = f"Time: {second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}\n"
        cpu = "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n"
        cpu += "           0.74    0.00    0.43    0.35    0.00   98.48\n"
        report = stamp + cpu + "\n" + head
        report += "".join(f"sd{device:<11}{dice.choice(rows)}" for device in range(DEVICES)) + "\n"
        parts.append(report)
        written += len(report)
        number += 1
    return "".join(parts).encode()


def nmon(size: int) -> bytes:
    """Ticks of nmon with tables of disks and 64 CPUs, at least so many bytes."""
    dice = random.Random(2)  # noqa: S311 - made-up data
    disks = ",".join(f"sd{disk}" for disk in range(DISKS))
    tables = ("DISKBUSY", "DISKREAD", "DISKWRITE", "DISKXFER", "DISKBSIZE")
    rows = [",".join(f"{dice.random() * 99:.1f}" for _ in range(DISKS)) for _ in range(500)]
    parts = ["AAA,progname,nmon\nAAA,host,db1\nAAA,time,00:00.00\nAAA,date,17-OCT-2017\nAAA,interval,1\n"]
    parts += [f"{table},Disk db1,{disks}\n" for table in tables]
    parts += [f"CPU{cpu:03},CPU {cpu} db1,User%,Sys%,Wait%,Idle%\n" for cpu in range(1, 65)]
    written = tick = 0
    while written < size:
        tick += 1
        name = f"T{tick:04}"
        text = f"ZZZZ,{name},{tick // 3600 % 24:02}:{tick // 60 % 60:02}:{tick % 60:02},{17 + tick // 86400}-OCT-2017\n"
        text += "".join(f"{table},{name},{dice.choice(rows)}\n" for table in tables)
        text += "".join(f"CPU{cpu:03},{name},1.0,2.0,3.0,94.0\n" for cpu in range(1, 65))
        parts.append(text)
        written += len(text)
    return "".join(parts).encode()


def main() -> None:
    """Read both kinds and print their speed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=50, help="megabytes of each log")
    size = parser.parse_args().size * 1_000_000
    for make in (iostat, nmon):
        hostparse.read_host(make(200_000)).wide("device")
        log = make(size)
        start = time.process_time()
        read = hostparse.read_host(log)
        seconds = time.process_time() - start
        start = time.process_time()
        rows = read.wide("device").height
        wide = time.process_time() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        megabytes = len(log) / 1e6
        print(
            f"{make.__name__:<8}{megabytes:7.0f} MB read in {seconds:5.2f} CPU s, {megabytes / seconds:5.0f} MB/s; "
            f"{rows:,} rows of devices in {wide:.2f} s; peak {peak:,.0f} MiB"
        )


if __name__ == "__main__":
    main()
