"""Where runs begin: dates, commands and configurations above them, and headings of vmstat that are printed again."""

from __future__ import annotations

import datetime as dt

import pytest

from hostparse import read_host

BANNER = "Linux 5.14.0 (db1) \t02/19/24 \t_x86_64_\t(2 CPU)\n\n"
REPORT = """\
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          {0}.00    0.00    1.00    0.00    0.00   80.00

Device            r/s     rkB/s   r_await  %util
sda              7.00     56.00     {0}.50   3.50

"""
SOLARIS = """\
                    extended device statistics
    r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device
    9.0    4.0   72.0   32.0  0.0  0.1    0.0   {0}.7   0   5 c0t0d0
"""
VMSTAT = """\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
"""
ROW = " 1  0      0 710000   2000 300000    0    0    20    {0}   90  150  3  1 95  1  0\n"
AIX = """\

System configuration: lcpu=8 mem=8192MB

kthr    memory              page              faults        cpu
----- ----------- ------------------------ ------------ -----------
 r  b   avm   fre  re  pi  po  fr   sr  cy  in   sy  cs us sy id wa
 2  0 220000  9000   0   0   0   0    0   0  12  310  90 40  2 58  0
 1  0 220001  9001   0   0   0   0    0   0  13  311  91  3  1 96  0
"""
DATE = "Mon Feb 19 13:0{0}:00 CET 2024\n"
AT = dt.datetime(2024, 2, 19, 13, 1)  # noqa: DTZ001 - a wall clock


def vmstat(*rows: int) -> str:
    """Blocks of vmstat below a heading each, with so many rows."""
    return "".join(VMSTAT + "".join(ROW.format(number) for number in range(count)) for count in rows)


def since_boot(log: str, scope: str = "host") -> list[tuple[int, bool | None]]:
    """Run and mark of each row."""
    return read_host(log.encode()).wide(scope).select("run", "is_since_boot").rows()


@pytest.mark.parametrize("date", [DATE.format(1), "2024-02-19 13:01:00\n", "02/19/24 13:01:00\n"])
def test_a_date_above_several_reports_is_that_of_the_run(date: str) -> None:
    """`date; iostat 5 3`: each report is a sample, and the date says when the run began."""
    log = read_host((date + BANNER + "".join(map(REPORT.format, "123"))).encode())

    for scope in ("host", "device"):
        assert log.wide(scope).select("sample", "is_since_boot").rows() == [(1, True), (2, False), (3, False)]
        assert log.wide(scope)["interval_end"].null_count() == 3
    assert log.runs["opened_at"].to_list() == [AT]
    assert log.diagnostics.is_empty()


@pytest.mark.parametrize("run", [BANNER + REPORT.format(5) + REPORT.format(1), SOLARIS.format(5) + SOLARIS.format(1)])
def test_runs_below_a_date_each(run: str) -> None:
    """Every run has a mean since the start of the system, and only its first report is one."""
    log = read_host("".join(DATE.format(minute) + run for minute in (1, 2, 3)).encode())

    assert log.wide("device").select("run", "is_since_boot").rows() == [(r, f) for r in range(3) for f in (True, False)]
    assert log.runs["opened_at"].dt.minute().to_list() == [1, 2, 3]


def test_a_stamp_above_each_report_is_its_time() -> None:
    """`-T d`, `-t` and a date above it: the stamp above each report is the end of its interval, the date is not."""
    log = read_host("".join(DATE.format(minute) + SOLARIS.format(minute) for minute in (1, 2, 3)).encode())
    assert log.wide("device").select("run", "sample").rows() == [(0, 1), (0, 2), (0, 3)]
    assert log.wide("device")["interval_end"].dt.minute().to_list() == [1, 2, 3]

    stamped = "".join(f"02/19/24 13:0{minute}:00\n{REPORT.format(minute)}" for minute in (2, 3))
    log = read_host((DATE.format(1) + BANNER + stamped).encode())
    assert log.wide("device").select("run", "sample").rows() == [(0, 1), (0, 2)]
    assert log.wide("device")["interval_end"].dt.minute().to_list() == [2, 3]
    assert log.runs["opened_at"].to_list() == [AT]


def test_a_date_below_the_last_report() -> None:
    """`iostat 5 2; date`: the date belongs to no report, and takes no sample away."""
    log = BANNER + REPORT.format(1) + REPORT.format(2) + DATE.format(3)

    assert since_boot(log, "device") == [(0, True), (0, False)]


def test_a_date_in_a_form_that_is_not_read() -> None:
    """A line with a clock above several reports begins a run, too; above each report it does not."""
    for date in ("=== 2024-02-19 13:0{0}:00 ===\n", "Mon 19 Feb 2024 01:0{0}:00 PM CET\n", "### 13:0{0}:00 db1\n"):
        log = "".join(date.format(minute) + SOLARIS.format(5) + SOLARIS.format(1) for minute in (1, 2))
        assert since_boot(log, "device") == [(run, is_first) for run in (0, 1) for is_first in (True, False)]
        log = "".join(date.format(minute) + SOLARIS.format(5) for minute in (1, 2, 3))
        assert since_boot(log, "device") == [(0, True), (0, False), (0, False)]


@pytest.mark.parametrize("between", [DATE, "", "=== 2024-02-19 13:0{0}:00 ===\n", "13:0{0}:00\n", "^C\n"])
def test_vmstat_of_several_runs(between: str) -> None:
    """`vmstat 5 3 >> log`: the first row of each run is a mean since the start of the system."""
    log = "".join(between.format(minute) + vmstat(3) for minute in (1, 2, 3))

    assert since_boot(log) == [(run, row == 0) for run in range(3) for row in range(3)]
    if between == DATE:
        assert read_host(log.encode()).runs["opened_at"].dt.minute().to_list() == [1, 2, 3]


def test_vmstat_of_aix_repeats_its_configuration() -> None:
    """The configuration, below a date or not, begins a run of AIX."""
    expected = [(0, True), (0, False), (1, True), (1, False)]

    assert since_boot(AIX + AIX) == since_boot(DATE.format(1) + AIX + DATE.format(2) + AIX) == expected


def test_a_heading_on_each_screen() -> None:
    """The heading is printed after as many rows as a screen has: sooner, it is another run's."""
    assert since_boot(vmstat(21, 21, 4)) == [(0, row == 0) for row in range(46)]
    assert since_boot(DATE.format(1) + vmstat(21, 21, 4)) == since_boot(vmstat(21, 21, 4))
    assert since_boot(DATE.format(1) + vmstat(3, 3)) == [(run, row == 0) for run in (0, 1) for row in range(3)]
    assert since_boot(vmstat(21, 9, 21, 2)) == [(run, row == 0) for run in (0, 1) for row in range((30, 23)[run])]
    assert since_boot(DATE.format(1) + vmstat(21, 4) + DATE.format(2) + vmstat(21, 4)) == [
        (run, row == 0) for run in (0, 1) for row in range(25)
    ]


def test_a_heading_that_may_be_either() -> None:
    """After 40 rows it may be the next screen or the next run: null, with a diagnostic."""
    log = read_host(vmstat(40, 2).encode())

    assert log.wide("host")["is_since_boot"].to_list() == [True, *[False] * 39, None, False]
    assert log.diagnostics.filter(kind="since_boot")["line"].to_list() == [45]


def test_clocks_that_go_on_show_that_a_run_does() -> None:
    """`vmstat -t` on a low screen: the rows below the heading go on in the same steps; those of another run do not."""
    stamps = [f"2024-02-19 13:05:{second:02}" for second in (0, 5, 10, 15, 20, 25, 50, 55)]
    rows = [f"{ROW.format(1)[:-1]} {stamp}\n" for stamp in stamps]
    head = VMSTAT.replace("\n", " -----timestamp-----\n", 1).replace("st\n", "st                 CET\n")
    log = head + "".join(rows[:3]) + head + "".join(rows[3:6]) + head + "".join(rows[6:])

    assert since_boot(log) == [*((0, row == 0) for row in range(6)), (1, True), (1, False)]


@pytest.mark.parametrize(
    "line",
    [
        "[oracle@db1 ~]$ {0} 5 2",
        "SQL> !{0} 1 3",
        "db1 {0} 1 3",
        "$ /usr/bin/{0} -x",
        "Script started on Mon 19 Feb 2024 01:00:00 PM CET",
        "Monday, February 19, 2024 01:00:00 PM CET",
        "13:00:00",
        " 13:00:00 up 10 days,  2:03,  3 users,  load average: 0.10, 0.20, 0.30",
        "### 2024-02-19 13:00:00 db1",
        "9 lines of the log of db1 follow",
    ],
)
def test_a_line_above_the_log_is_no_row(line: str) -> None:
    """Whatever stands above a log, its first report is a mean since the start of the system."""
    two = [(0, True), (0, False)]

    assert since_boot(f"{line.format('vmstat')}\n{vmstat(2)}") == two
    assert since_boot(f"{line.format('iostat')}\n{BANNER}{REPORT.format(1)}{REPORT.format(2)}", "device") == two
    assert since_boot(f"{line.format('iostat')}\n{SOLARIS.format(1)}{SOLARIS.format(2)}", "device") == two


@pytest.mark.parametrize(
    ("log", "scope"),
    [
        (ROW.format(1) + vmstat(2), "host"),
        ("0 95 1 0\n" + vmstat(2), "host"),
        ("sda              8.00     64.00     1.00   2.50\n\n" + REPORT.format(1) + REPORT.format(2), "device"),
        ("          3.00    0.00    1.00    0.00    0.00   96.00\n\n" + REPORT.format(1) + REPORT.format(2), "device"),
        ("32.0  0.0  0.1    0.0   6.7   0   5 c0t1d0\n" + SOLARIS.format(1) + SOLARIS.format(2), "device"),
    ],
)
def test_rows_above_the_first_heading_show_that_the_log_is_cut(log: str, scope: str) -> None:
    """A log whose beginning was cut off holds samples only, also where the cut is within a row."""
    assert since_boot(log, scope) == [(0, False)] * 2


def test_rows_of_a_cut_log_are_not_of_the_run_below() -> None:
    """The rows stand above a banner: the run that begins there has its first report."""
    assert since_boot(f"sda  8.00  64.00  1.00  2.50\n\n{BANNER}{REPORT.format(1)}", "device") == [(0, True)]


def test_runs_below_a_command_each() -> None:
    """The commands in a session begin the runs."""
    for prompt in ("$ iostat -xn 5 2\n", "$ iostat -xn\n", "root@db1:/var/log> /usr/bin/iostat -xn 5\n"):
        log = (prompt + SOLARIS.format(1) + SOLARIS.format(2)) * 2
        assert since_boot(log, "device") == [(run, is_first) for run in (0, 1) for is_first in (True, False)]
    assert since_boot(f"$ vmstat 5 21\n{vmstat(21)}" * 2) == [(run, row == 0) for run in (0, 1) for row in range(21)]
