"""One word of a log is another: a figure is in its own column, or its line is a diagnostic."""

from __future__ import annotations

import datetime as dt

import pytest

import iolab
from hostparse import read_host

PIDSTAT = """Linux 5.14.0-70 (orchard) \t11/23/26 \t_x86_64_\t(4 CPU)

# Time        UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command
1763856000      0         1    0.00    0.07    0.00    0.08    0.15     2  systemd
1763856000     54      4711   12.50    3.25    0.00    0.50   15.75     1  ora_dbw0_fig
"""
IOSTAT = """Linux 5.14.0-70 (orchard) \t11/23/26 \t_x86_64_\t(4 CPU)

avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           1.49   39.91    1.67    0.94    0.00   56.00

Device             tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn
sda               8.59       222.13        57.08    1599857     410544

avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           2.50   30.00    1.50    1.00    0.00   65.00

Device             tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn
sda               9.00       100.00        50.00       1000        500
"""
SOLARIS = """                    extended device statistics
    r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device
   71.1   29.2  154.5  172.3  0.0  0.1    0.0    0.7   0   2 c0t0d0
   12.9    0.0   61.7    0.0  0.0  0.0    0.2    0.7   0   1 c0t1d0
"""
SAR = """Linux 5.14.0-70 (orchard) \t11/23/26 \t_x86_64_\t(4 CPU)

12:00:01        CPU     %user     %nice   %system   %iowait    %steal     %idle
12:10:01        all      1.73      0.00      0.98      1.32      0.00     95.97
12:10:01         18     12.16      0.00      8.78     20.27      0.00     58.79
"""
HP_UX = """HP-UX orchard B.11.23 U ia64    11/23/26

02:39:36   device   %busy   avque   r+w/s  blks/s  avwait  avserv

02:39:41   c0t2d0    3.00    0.50       6      50    0.00    5.25
           c0t3d0    1.00    0.50       2      30    0.00    4.25
"""
NMON = """AAA,progname,nmon
AAA,host,orchard
CPU_ALL,CPU Total orchard,User%,Sys%,Wait%,Idle%
ZZZZ,T0001,12:00:01,23-NOV-2026
CPU_ALL,T0001,3.2,4.6,0.0,92.2
"""


def diagnosed(text: str) -> list[int | None]:
    """The lines that diagnostics are about, but for the order of dates."""
    return read_host(text.encode(), date_order="mdy").diagnostics["line"].to_list()


@pytest.mark.parametrize("text", [PIDSTAT, IOSTAT, SOLARIS, SAR, HP_UX, NMON])
def test_undamaged_logs_have_no_diagnostic(text: str) -> None:
    """The logs that are damaged below."""
    assert diagnosed(text) == []


@pytest.mark.parametrize("word", ["Zeit", "Tim ", "Heure"])
def test_the_time_of_pidstat_under_another_word(word: str) -> None:
    """What stands before the names of a process is the time, whatever it is called."""
    text = PIDSTAT.replace("Time", word)
    frame = read_host(text.encode()).wide("process")
    assert frame["interval_end"].dt.date().to_list() == [dt.date(2025, 11, 23)] * 2
    assert word.strip() not in frame.columns
    assert frame.drop("line").equals(read_host(PIDSTAT.encode()).wide("process").drop("line"))


@pytest.mark.parametrize(
    ("text", "old", "new", "lines"),
    [
        # a heading lacks a word: figures would be under the next one
        (PIDSTAT, "UID       PID", "          PID", [4, 5]),
        (PIDSTAT, "%usr %system", "%usr%system", [4, 5]),
        (PIDSTAT, "       PID    %usr %system  %guest   %wait    %CPU   CPU  Command", "", [4, 5]),
        (SOLARIS, "    w/s", "", [3, 4]),
        (SOLARIS, "kw/s wait", "kw/swait", [3, 4]),
        # the row of all processors below the heading of disks
        (
            IOSTAT,
            "\n\navg-cpu:  %user   %nice %system %iowait  %steal   %idle\n           2.50",
            "\n\n           2.50",
            [9],
        ),
        # a row has a word more than its heading
        (SAR, " 18 ", " 18 xyzzy ", [5]),
        (HP_UX, "02:39:41   c0t2d0", "c0t2d0   02:39:41", [5]),
        (SAR, "CPU     %user     %nice", "CPU              %nice", [4, 5]),
        (NMON, ",User%,Sys%,Wait%,Idle%", "", [5]),
    ],
)
def test_rows_that_are_not_those_of_their_heading(text: str, old: str, new: str, lines: list[int]) -> None:
    """No figure is the name of a disk, a process or a command, and each such row is a diagnostic."""
    assert old in text
    damaged = text.replace(old, new, 1)
    assert set(lines) <= set(diagnosed(damaged))
    assert not set(lines) & set(read_host(damaged.encode()).samples.collect()["line"].to_list())


def test_pages_of_memory_are_those_of_aix() -> None:
    """A heading that lost a letter has no unit: memory is printed in pages beside `avm` only."""
    text = " r  b   swpd   fre   buff  cache   si   so    bi    bo   in   cs us sy id wa\n" + (
        " 1  0    524 763388 147224 819640    0    0     0     0   69  120  0  0 99  1\n" * 2
    )
    assert "free_bytes" not in read_host(text.encode()).wide("host").columns


def test_means_below_a_heading_that_is_not_that_of_the_samples() -> None:
    """What stands below the label of means is a mean, whatever words the heading has."""
    means = (
        SAR.splitlines()[2].replace("12:00:01", "Average:")
        + "\nAverage:        all      1.73"
        + 5 * "      1.00"
        + "\n"
    )
    for heading in (means, means.replace("%nice", "%nize"), means.replace("%idle", "%idle xyzzy")):
        log = read_host(f"{SAR}\n{heading}".encode())
        assert set(log.samples.collect()["line"]) == {4, 5}
    assert read_host(f"{SAR}\n{means.replace('%nice', '%nize')}".encode()).averages.collect().height == 6


@pytest.mark.parametrize("ids", ["UID       PID", "UID      TGID       TID", "USER      PID"])
@pytest.mark.parametrize("label", ["Average:", "Durchschn.:", "Moyenne :"])
def test_the_user_of_a_mean_of_a_process_is_kept(ids: str, label: str) -> None:
    """A mean is in no wide frame: its user is in the name, and no number of its line is lost."""
    users = {"4711": "4322", "4713": "54321"}
    gap = " " * 9 + "-" if "TID" in ids else ""
    rows = [f"{user:>9} {process:>9}{gap}    12.50  ora_{process}_fig" for process, user in users.items()]
    head = f"      {ids}    %usr  Command"
    tables = [f"{start} {line}" for start in ("12:00:01", label) for line in (head, *rows)]
    text = "\n".join(["Linux 5.14.0-70 (orchard) \t11/23/26 \t_x86_64_\t(4 CPU)\n", *tables, ""])
    log = read_host(text.encode())

    names = [name.split() for name in log.averages.collect()["name"]]
    kept = [set(name) >= {process, user} for name, (process, user) in zip(names, users.items(), strict=True)]

    assert kept == [True, True]
    assert "lost" not in iolab.provenance(log, text.encode())["status"]
