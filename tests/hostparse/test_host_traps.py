"""Each known trap of these logs by its name: what a reader that takes the printed text at its word would get wrong."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest

from hostparse import read_histograms, read_host

NMON = """\
AAA,progname,nmon
AAA,host,db1
AAA,time,12:00:00
AAA,date,17-OCT-2017
FILE,File I/O db1,iget,readch,writech
ZZZZ,T0001,12:00:10,17-OCT-2017
FILE,T0001,12,2147483647,2147483646
"""
SAR = """\
Linux 5.4.17 (db1) \t02/19/24 \t_x86_64_\t(2 CPU)

{0}     CPU     %user     %idle
{1}     all      2.15     97.85
{2}     all      2.25     97.75
"""
COMMA = """\
Linux 5.4.17 (db1) \t19.02.2024 \t_x86_64_\t(2 CPU)

13:05:00     CPU    %usr   %idle
13:05:03     all    0,14   99,70
13:05:06       0    1,50   98,50
"""


VMSTAT = " r  b   swpd   free  bi    bo   in   cs us sy id wa\n" + " 9  0  0  9  1  1  1  1  5  5 90  0\n" * 3


def test_saturated_counter() -> None:
    """The largest number of 32 bits is no figure, with a flag; one less is one."""
    figures = read_host(NMON.encode()).samples.collect().filter(pl.col("metric").is_in(["readch", "writech"]))

    assert figures.select("value", "flag").rows() == [(None, "saturated"), (2147483646.0, None)]


@pytest.mark.parametrize(
    ("start", "clocks", "times"),
    [
        ("11:59:58 AM", ("12:00:03 PM", "12:00:08 PM"), (dt.time(12, 0, 3), dt.time(12, 0, 8))),
        ("11:59:58 PM", ("12:00:03 AM", "12:00:08 AM"), (dt.time(0, 0, 3), dt.time(0, 0, 8))),
        ("12:59:58 PM", ("01:00:03 PM", "01:00:08 PM"), (dt.time(13, 0, 3), dt.time(13, 0, 8))),
    ],
)
def test_clock_of_twelve_hours(start: str, clocks: tuple[str, str], times: tuple[dt.time, dt.time]) -> None:
    """12 PM is noon and 12 AM is midnight; the date is that of the heading."""
    rows = read_host(SAR.format(start, *clocks).encode()).wide("cpu")

    assert tuple(rows["time_of_day"]) == times
    day = 20 if times[0].hour == 0 else 19
    assert rows["interval_end"].to_list() == [dt.datetime.combine(dt.date(2024, 2, day), time) for time in times]
    assert (rows["interval_end"] - rows["interval_start"]).dt.total_seconds().to_list() == [5, 5]


def test_stamp_without_a_date() -> None:
    """A time of day without a date in the log stays a time of day."""
    report = "Time: {}\nDevice:    r/s   w/s  await\nsda       1.50  2.50   0.75\n\n"
    rows = read_host((report.format("23:59:58") + report.format("00:00:03")).encode()).wide("device")

    assert rows["time_of_day"].to_list() == [dt.time(23, 59, 58), dt.time(0, 0, 3)]
    assert rows["interval_end"].null_count() == 2


def test_decimal_comma() -> None:
    """`99,70` is 99.7 with the bounds of two decimals, and no 9970."""
    rows = read_host(COMMA.encode()).wide("cpu", bounds=True)

    assert rows["idle_percent"].to_list() == [99.7, 98.5]
    assert rows["idle_percent_hi"].to_list() == pytest.approx([99.705, 98.505])


@pytest.mark.parametrize(
    ("log", "scope"),
    [
        (VMSTAT, "host"),
        ("Device  r/s  await\nsda 1.0 2.0\n\n" * 3, "device"),
        ("pool        alloc   free   read  write   read  write\ntank  230G  24.0G  0  9  112K  318K\n" * 3, "device"),
    ],
    ids=["vmstat", "iostat", "zpool"],
)
def test_first_sample_is_since_the_start_of_the_system(log: str, scope: str) -> None:
    """The first report of a run is a mean since then, and only that one."""
    assert read_host(log.encode()).wide(scope)["is_since_boot"].to_list() == [True, False, False]


@pytest.mark.parametrize(
    ("log", "ends"),
    [
        ("     usecs : count     distribution\n   128 -> 255 : 25 |****|\n", (128.0, 256.0)),
        ("  >=(ms) .. <(ms)   : I/O      |Distribution |\n   1 -> 2 : 25 |****|\n", (1.0, 2.0)),
        ("@us:\n[128, 256)            25 |@@@@|\n", (128.0, 256.0)),
        ("@us:\n[1K, 2K)              25 |@@@@|\n", (1024.0, 2048.0)),
        ("   value  ------------- Distribution ------------- count\n   128 |@@@@   25\n", (128.0, 256.0)),
    ],
    ids=["bcc", "perf-tools", "bpftrace", "bpftrace K", "dtrace"],
)
def test_ends_of_buckets(log: str, ends: tuple[float, float]) -> None:
    """The same arrow includes its upper end for bcc and leaves it out for perf-tools."""
    assert read_histograms(log.encode()).buckets.select("lower", "upper", "count").rows() == [(*ends, 25)]


_PIDSTAT = (
    "# Time        UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command\n"
    "{}     0         17    0.00    1.00    0.00    0.00    1.00     0  ora_lgwr_x\n"
    "1600000002     0         17    0.00    1.00    0.00    0.00    1.00     0  ora_lgwr_x\n"
)
_STAMPS = "{}\nDevice            r/s     rkB/s   %util\nsda              7.00     56.00    3.50\n"
_BEYOND = ("253402300800", "1000000000000", "-99999999999999", "18446745673711", "99999999999999999999")


@pytest.mark.parametrize(
    ("log", "printed"),
    [
        *((_PIDSTAT, seconds) for seconds in _BEYOND),
        (_STAMPS, _BEYOND[1]),
        (_STAMPS, "9" * 5_000),
        (_STAMPS, "Mon Feb 19 13:05:00 CET 0000"),
        (NMON.replace("17-OCT-2017", "{0}"), "17-OCT-0000"),
    ],
)
def test_time_that_no_calendar_holds(log: str, printed: str) -> None:
    """Seconds since 1970 and dates outside the years 1 to 9999 are no time, and have a diagnostic."""
    start = "" if log.startswith("AAA") else SAR.splitlines()[0] + "\n\n"
    host = read_host((start + log.format(printed)).encode())

    assert host.samples.collect().get_column("interval_end").to_list()[0] is None
    assert any(printed in text for text in host.diagnostics.get_column("text"))


TABLE = """\
13:00:01        CPU     %user     %nice   %system   %iowait    %steal     %idle
13:10:01        all      1.00      0.00      2.00      3.00      0.00     94.00
"""


@pytest.mark.parametrize("end", ["(3.10 8", ") 8/0.7 0 8 8 0", "(db1) 0.07 2"])
def test_a_damaged_banner_is_named(end: str) -> None:
    """A banner with pieces of another line says nothing of the host, and is a diagnostic."""
    rows = f"\n\n{TABLE}"
    head = "Linux 4.18.0 (db1) 02/19/24 _x86_64_ (8 CPU)"
    whole, damaged = (read_host(f"{one}{rows}".encode()) for one in (head, f"Linux 4.18.0 02/19/24 {end}"))

    assert whole.runs["host"].to_list() == ["db1"]
    assert whole.diagnostics.is_empty()
    assert damaged.runs["host"].to_list() == [None]
    assert damaged.diagnostics.filter(kind="unparsed").get_column("line").to_list() == [1]
