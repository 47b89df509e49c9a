"""Known traps of the tools' output, each on a log written for it."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest

from hostparse import SAMPLES, read_host
from logframe import LogParseError

BANNER = "Linux 4.18.0-477.el8.x86_64 (db1.example.com) \t{date} \t_x86_64_\t(32 CPU)\n\n"
OLD_ROW = (
    "{name:<13} {0:8.2f} {1:8.2f} {2:6.2f} {3:6.2f} {4:8.2f} {5:8.2f} {6:8.2f} {7:8.2f} {8:7.2f} {9:6.2f} {10:6.2f}\n"
)
OLD_HEAD = "Device:         rrqm/s   wrqm/s    r/s    w/s   rsec/s   wsec/s avgrq-sz avgqu-sz   await  svctm  %util\n"


def _old_report(stamp: str, *rows: tuple[float, ...]) -> str:
    """A report of sysstat 7 with its stamp."""
    cpu = "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n"
    cpu += "           1.00    0.00    2.00    0.50    0.00   96.50\n"
    body = "".join(OLD_ROW.format(*row, name=f"sd{chr(97 + number)}") for number, row in enumerate(rows))
    return f"{stamp}\n{cpu}\n{OLD_HEAD}{body}\n"


ROW = (0.0, 5.0, 10.0, 20.0, 160.0, 320.0, 16.0, 0.15, 5.0, 0.5, 1.5)
IDLE = (0.0,) * 11


def test_first_report_is_marked() -> None:
    """The first report of a run is a mean since the start; the others are samples."""
    log = read_host((BANNER.format(date="02/19/24") + _old_report("Time: 13:00:00", ROW) * 3).encode())

    assert log.wide("device").get_column("is_since_boot").to_list() == [True, False, False]
    assert log.wide("host").get_column("is_since_boot").to_list() == [True, False, False]


def test_each_collection_has_a_first_report() -> None:
    """OSWatcher runs `iostat 1 3` for each stamp: every run has a mean since the start of its own, and a time."""
    text = "".join(
        f"zzz ***Mon Feb 19 13:0{minute}:12 CET 2024\n" + (BANNER.format(date="02/19/24") + _old_report("", ROW) * 2)
        for minute in range(3)
    )
    log = read_host(text.encode())

    assert log.wide("device").select("run", "is_since_boot").rows() == [(r, f) for r in range(3) for f in (True, False)]
    assert log.runs.get_column("opened_at").to_list() == [dt.datetime(2024, 2, 19, 13, m, 12) for m in range(3)]  # noqa: DTZ001 - a wall clock of the host
    assert log.runs.get_column("zone").to_list() == ["CET"] * 3


@pytest.mark.parametrize("mark", [".", ","])
def test_decimal_mark(mark: str) -> None:
    """`99,70` is 99.7 and not 9970, and has the same bounds as `99.70`."""
    text = BANNER.format(date="19.02.2024") + _old_report("19.02.2024 13:05:00", ROW).replace(".", mark)
    text = text.replace(f"19{mark}02{mark}2024", "19.02.2024")
    log = read_host(text.encode())
    row = log.wide("device", bounds=True).row(0, named=True)

    assert (row["in_flight"], row["in_flight_lo"], row["in_flight_hi"]) == pytest.approx((0.15, 0.145, 0.155))
    assert row["interval_end"] == dt.datetime(2024, 2, 19, 13, 5)  # noqa: DTZ001 - a wall clock of the host
    assert log.wide("host").item(0, "idle_percent") == 96.5


def test_units() -> None:
    """Sectors are 512 bytes, kB 1,024: the same rate in four eras is the same figure."""
    heads = {
        "Device: r/s rsec/s": ("sda 1.00 2048.00", 2048 * 512),
        "Device r/s rkB/s": ("sda 1.00 1024.00", 1024 * 1024),
        "Device: r/s rMB/s": ("sda 1.00 1.00", 1024 * 1024),
        "Device tps Blk_read/s": ("sda 1.00 2048.00", 2048 * 512),
        "Device tps kB_read/s": ("sda 1.00 1.0M", 1024 * 1024),
    }
    found = {
        head: read_host(f"{head}\n{row}\n".encode()).wide("device").item(0, "read_bytes_per_s")
        for head, (row, _) in heads.items()
    }

    assert found == {head: value for head, (_, value) in heads.items()}


def test_nothing_is_no_fast_request() -> None:
    """A wait of 0.00 of no request is null; the wait of requests is kept; md devices keep no wait."""
    text = "Device  r/s  r_await  %util\nsda 0.00 0.00 0.00\nsdb 5.00 0.00 0.10\nmd0 5.00 0.00 0.00\n"
    log = read_host(text.encode())

    assert log.wide("device").select("read_await_ms", "util_percent").rows() == [(None, 0.0), (0.0, 0.1), (None, None)]
    flags = log.samples.filter(pl.col("metric") == "read_await_ms").select("name", "flag").collect()
    assert flags.rows() == [("sda", "no_requests"), ("sdb", None), ("md0", "not_counted")]


def test_svctm_is_marked_invalid() -> None:
    """The service time of iostat is no measure: it is kept under its name and marked."""
    log = read_host((BANNER.format(date="02/19/24") + _old_report("", ROW)).encode())

    assert log.samples.filter(pl.col("basis") == "invalid").collect().get_column("printed").unique().to_list() == [
        "svctm"
    ]


def test_device_last_and_split_tables() -> None:
    """`-x --pretty` splits a report over tables with the device last: they are one row again."""
    text = BANNER.format(date="02/19/24") + (
        "     r/s     rkB/s Device\n    6.90    222.14 sda\n    1.00     10.00 disk with blanks\n\n"
        "     w/s     wkB/s Device\n    1.69     57.08 sda\n    2.00     20.00 disk with blanks\n\n"
        "     f/s  aqu-sz  %util Device\n    0.00    0.10   0.46 sda\n    0.00    0.20   0.50 disk with blanks\n\n\n"
    )
    log = read_host(text.encode())

    assert log.wide("device").select("device", "reads_per_s", "writes_per_s", "in_flight").rows() == [
        ("sda", 6.9, 1.69, 0.1),
        ("disk with blanks", 1.0, 2.0, 0.2),
    ]
    assert log.diagnostics.height == 0


def test_clock_of_twelve_hours_over_midnight() -> None:
    """11:59:58 PM is followed by 12:00:03 AM of the next day; noon is 12 PM."""
    stamps = ["Time: 11:59:53 PM", "Time: 11:59:58 PM", "Time: 12:00:03 AM"]
    log = read_host((BANNER.format(date="02/03/2024") + "".join(_old_report(s, ROW) for s in stamps)).encode())
    noon = read_host((BANNER.format(date="02/03/2024") + _old_report("Time: 12:00:03 PM", ROW)).encode())

    ends = log.wide("device").get_column("interval_end").cast(pl.String).str.slice(0, 19).to_list()
    assert ends == ["2024-02-03 23:59:53", "2024-02-03 23:59:58", "2024-02-04 00:00:03"]
    assert noon.wide("device").item(0, "time_of_day") == dt.time(12, 0, 3)
    assert log.diagnostics.height == 0  # AM and PM are American: the month is first


@pytest.mark.parametrize(
    ("date", "order", "day", "is_assumed"),
    [
        ("02/19/24", None, dt.date(2024, 2, 19), False),
        ("19/02/2024", None, dt.date(2024, 2, 19), False),
        ("2024-02-03", None, dt.date(2024, 2, 3), False),
        ("03.02.2024", None, dt.date(2024, 2, 3), False),
        ("02/03/24", None, dt.date(2024, 2, 3), True),
        ("02/03/24", "dmy", dt.date(2024, 3, 2), False),
    ],
)
def test_dates(date: str, order: str | None, day: dt.date, is_assumed: bool) -> None:  # noqa: FBT001 - a case
    """The order of day and month is what the log shows, else assumed and said to be."""
    log = read_host((BANNER.format(date=date) + _old_report("", ROW)).encode(), date_order=order)  # type: ignore[arg-type]

    assert log.runs.item(0, "day") == day
    assert log.diagnostics.get_column("kind").to_list() == ["ambiguous"] * is_assumed


def test_clock_set_back() -> None:
    """A clock that goes back starts no interval, and is reported."""
    stamps = ["Time: 13:00:05", "Time: 13:00:10", "Time: 12:58:00", "Time: 12:58:05"]
    log = read_host((BANNER.format(date="02/19/24") + "".join(_old_report(s, ROW) for s in stamps)).encode())

    assert log.wide("device").get_column("interval_start").is_null().to_list() == [True, False, True, False]
    assert log.diagnostics.get_column("kind").to_list() == ["clock"]


def test_file_cut_at_both_ends() -> None:
    """Rows above the first heading, and a row cut in a figure, are in the diagnostics; no later row is a first one."""
    whole = BANNER.format(date="02/19/24") + _old_report("Time: 13:00:00", ROW, IDLE) * 3
    cut = whole.splitlines(keepends=True)[8:]
    cut[-1] = ""
    cut[-2] = cut[-2][:40] + "\n"
    log = read_host("".join(cut).encode())

    assert log.wide("device").height == 3
    assert log.wide("device").get_column("is_since_boot").any() is False
    assert log.diagnostics.select("kind", "line").rows() == [("unparsed", 1), ("unparsed", len(cut) - 1)]


def test_heading_never_seen() -> None:
    """Columns that no list knows keep their names, have no unit, and are reported once for each heading."""
    log = read_host(b"Device  r/s  zz/s  %odd  strange\nsda 1.00 2.00 3.00 4.00\n\ncolour shape\n7 8\n")

    assert log.wide("device").row(0)[-4:] == (1.0, 2.0, 3.0, 4.0)
    units = log.samples.select("metric", "unit").collect().rows()
    assert units == [
        ("reads_per_s", "/s"),
        ("zz_per_s", "/s"),
        ("odd_percent", "%"),
        ("strange", None),
        ("colour", None),
        ("shape", None),
    ]
    assert log.diagnostics.select("line", "kind").rows() == [(4, "unknown_name")]


def test_words_between_rows() -> None:
    """A message of a program between the rows does not take their heading away."""
    log = read_host(b"Device  r/s  %util\nsda 1.00 2.00\nsomething went wrong here\nsdb 3.00 4.00\n")

    assert log.wide("device").get_column("device").to_list() == ["sda", "sdb"]
    assert log.diagnostics.select("line", "kind").rows() == [(3, "unparsed")]


def test_two_hosts_in_one_file() -> None:
    """Each banner starts a run with its host and its own first report."""
    one = BANNER.format(date="02/19/24") + _old_report("", ROW) * 2
    log = read_host((one + one.replace("db1", "db2")).encode())

    assert log.runs.get_column("host").to_list() == ["db1.example.com", "db2.example.com"]
    assert log.wide("device").select("run", "is_since_boot").rows() == [(0, True), (0, False), (1, True), (1, False)]
    assert log.describe() == "iostat of 2 hosts, 4 samples of host, device"


def test_long_frame_holds_every_figure() -> None:
    """As many rows as figures, in the schema, each with the bounds of its rounding."""
    log = read_host((BANNER.format(date="02/19/24") + _old_report("Time: 13:00:00", ROW, IDLE) * 2).encode())
    samples = log.samples.collect()

    assert samples.schema == SAMPLES
    assert samples.height == 2 * (6 + 2 * 11)
    known = samples.drop_nulls("value")
    assert known.filter(~pl.col("value").is_between("value_lo", "value_hi")).height == 0
    assert known.get_column("value_lo").min() == 0.0


def test_vmstat_rows_headings_and_stamps() -> None:
    """Headings repeat within a run, rows end in a tab, the zone stands in the heading; percentages are rounded."""
    head = (
        "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----\n"
        " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 CET\n"
    )
    rows = [
        f" 2  1      0 279471 295968 312724    0    0   100     3   29   57  1  0 98  1  0 2024-02-19 13:05:1{n}\t\n"
        for n in range(4)
    ]
    log = read_host((head + "".join(rows[:2]) + head + "".join(rows[2:])).encode())
    row = log.wide("host", bounds=True).row(3, named=True)

    assert log.wide("host").get_column("is_since_boot").to_list() == [True, False, False, False]
    assert (row["runnable_lo"], row["runnable_hi"]) == (2.0, 2.0)
    assert (row["us_percent_lo"], row["us_percent_hi"]) == (0.5, 1.5)
    assert row["read_bytes_per_s"] == 102_400
    assert (row["interval_end"] - row["interval_start"]).total_seconds() == 1
    assert log.runs.item(0, "zone") == "CET"


def test_words_that_stand_twice() -> None:
    """AIX prints `sy` twice: calls among the faults, and a percentage; `vmstat -d` prints each column twice."""
    aix = read_host(
        b"System configuration: lcpu=8 mem=32768MB\n\n"
        b"kthr    memory              page              faults        cpu\n"
        b"----- ----------- ------------------------ ------------ -----------\n"
        b" r  b   avm   fre  re  pi  po  fr   sr  cy  in   sy  cs us sy id wa\n"
        b" 1  1 12345 67890   0   0   0   0    0   0  10  200 100  5  3 90  2\n"
    )
    disks = read_host(
        b"disk- ------------reads------------ ------------writes----------- -----IO------\n"
        b"       total merged sectors      ms  total merged sectors      ms    cur    sec\n"
        b"sda    15257    100      10    8395  50851   5502      20  146540      0     44\n"
        b"sda    15258    100      12    8395  50851   5502      20  146540      0     44\n"
    )

    assert aix.wide("host").select("system_calls_per_s", "sy_percent").row(0) == (200.0, 3.0)
    assert aix.runs.item(0, "settings") == "lcpu=8 mem=32768MB"
    assert disks.wide("device").select("sample", "reads", "writes", "read_bytes", "write_bytes").rows() == [
        (1, 15257.0, 50851.0, 5120.0, 10240.0),
        (2, 15258.0, 50851.0, 6144.0, 10240.0),
    ]


def test_columns_with_blanks_and_commas() -> None:
    """AIX writes `% tm_act`; Solaris prints the device last, with commas in some locales."""
    aix = read_host(b"Disks:         % tm_act     Kbps      tps    Kb_read   Kb_wrtn\nhdisk0 36.0 324.0 64.0 32 292\n")
    solaris = read_host(
        b"                    extended device statistics\n"
        b"    r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device\n"
        b"   71,1   29,2  154,5  172,3  0,0  0,1    0,0    0,7   0   2 c0t0d0\n"
    )

    assert aix.wide("device").select("util_percent", "bytes_per_s", "read_bytes").row(0) == (
        36.0,
        324 * 1024,
        32 * 1024,
    )
    assert solaris.wide("device").select("device", "reads_per_s", "service_ms", "util_percent").row(0) == (
        "c0t0d0",
        71.1,
        0.7,
        2.0,
    )


def _sar(rows: list[str], heading: str = "DEV       tps     await") -> str:
    return BANNER.format(date="02/19/24") + f"{rows[0].split()[0]}    {heading}\n" + "\n".join(rows[1:]) + "\n"


def test_sar_over_midnight_and_restart() -> None:
    """A time that goes back by most of a day is the next day, also for the run of a restart; means are no samples."""
    text = _sar(["23:50:00", "23:55:00 sda 1.00 2.00", "00:00:01 sda 3.00 4.00", "Average: sda 2.00 3.00"])
    text += "\n00:02:00     LINUX RESTART\t(9 CPU)\n\n00:05:00    DEV       tps     await\n00:10:00 sda 5.00 6.00\n"
    log = read_host(text.encode())
    device = log.wide("device")

    assert device.select(pl.col("interval_end").dt.day(), "run").rows() == [(19, 0), (20, 0), (20, 1)]
    assert log.averages.filter(pl.col("metric") == "transfers_per_s").select("value", "sample").collect().rows() == [
        (2.0, None)
    ]
    assert log.runs.get_column("cpus").to_list() == [32, 9]
    assert device.get_column("is_since_boot").any() is False


def test_sar_tables_one_after_another() -> None:
    """Each table of `sar -A` begins again at the first clock: same day, same samples, one row a sample and CPU."""
    first = "00:00:01  CPU  %user  %idle\n00:10:01  all   1.00  99.00\n23:50:01  all   2.00  98.00\n\n"
    second = "00:00:01     proc/s   cswch/s\n00:10:01       3.00     10.00\n23:50:01       4.00     20.00\n"
    log = read_host((BANNER.format(date="02/19/24") + first + second).encode())

    assert log.diagnostics.height == 0
    assert log.wide("host").select("sample", "proc_per_s", pl.col("interval_end").dt.day()).rows() == [
        (1, 3.0, 19),
        (2, 4.0, 19),
    ]
    assert log.wide("cpu").get_column("interval_end").dt.day().to_list() == [19, 19]


def test_one_stamp_for_several_devices() -> None:
    """HP-UX prints the clock on the first row of a sample; a clock alone is a sample without an active device."""
    text = (
        "HP-UX db1 B.11.23 U ia64    04/13/11\n\n"
        "02:39:32   device   %busy   avque   r+w/s  blks/s  avwait  avserv\n"
        "02:39:34   c0t2d0    0.50    0.50       1      16    0.00   13.79\n"
        "02:39:36\n"
        "02:39:38   c0t2d0    0.50    0.50       1      16    0.00   13.79\n"
        "           c0t0d0    0.50    0.50       0       8    0.00    7.89\n"
    )
    device = read_host(text.encode()).wide("device", bounds=True)

    assert device.get_column("sample").to_list() == [1, 3, 3]
    assert device.get_column("interval_start").dt.second().to_list() == [32, 36, 36]
    assert device.select("transfers_per_s_lo", "transfers_per_s_hi").row(0) == (0.5, 1.5)


def test_processes() -> None:
    """A command holds blanks; -1.00 is not available; a table of threads has dashes for what does not apply."""
    text = BANNER.format(date="02/19/24") + (
        "12:53:20      UID      TGID       TID   kB_rd/s   kB_wr/s  Command\n"
        "12:53:22     1000      8741         -     10.00     -1.00  firefox\n"
        "12:53:22     1000         -      8785      2.00      1.00  |__JS Helper\n"
    )
    process = read_host(text.encode()).wide("process")

    assert process.select("tgid", "tid", "command", "read_bytes_per_s", "write_bytes_per_s").rows() == [
        ("8741", "-", "firefox", 10_240.0, None),
        ("-", "8785", "|__JS Helper", 2_048.0, 1_024.0),
    ]


def test_average_headings_of_mpstat() -> None:
    """The means at the end have a heading of their own, and are no sample."""
    text = BANNER.format(date="02/19/24") + (
        "01:53:01 PM  CPU    %usr   %idle\n01:53:04 PM  all    1.73   95.95\n\n"
        "Average:     CPU    %usr   %idle\nAverage:     all    1.73   95.95\n"
    )
    log = read_host(text.encode())

    assert log.wide("cpu").select("cpu", "usr_percent", "is_since_boot").rows() == [("all", 1.73, False)]
    assert log.averages.collect().get_column("value").to_list() == [1.73, 95.95]


@pytest.mark.parametrize("text", [b"", b"\n\n"])
def test_nothing(text: bytes) -> None:
    """An empty log is an error; blank lines are a log without a table."""
    if not text:
        with pytest.raises(LogParseError, match="empty"):
            read_host(text)
        return

    assert read_host(text).diagnostics.get_column("kind").to_list() == ["empty"]


def test_a_clock_that_falls_between_two_runs_is_no_midnight() -> None:
    """The second run has a date of its own: its first stamp is of that day, not of the next one."""
    report = "\nTime: {}\navg-cpu:  %user   %idle\n           0.74    98.48\n\nDevice:  r/s  w/s\nsda  1.00  2.00\n"
    head = "Linux 2.6.18 (db1) \t02/{}/24\n"
    text = head.format(19) + report.format("23:59:50") + head.format(20) + report.format("00:00:20")

    ends = read_host(text.encode()).wide("device").get_column("interval_end").cast(pl.String).str.head(19).to_list()

    assert ends == ["2024-02-19 23:59:50", "2024-02-20 00:00:20"]
