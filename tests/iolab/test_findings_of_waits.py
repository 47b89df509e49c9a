"""Whom a traced process waited for, and when a host was overloaded: what an average or one process would hide."""

from __future__ import annotations

import pytest

import iolab
from iolab.metrics.processors import stretch_of
from iolab.pages.ledger_text import first_screen

VMSTAT = (
    "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n"
    " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
)
SAR = "Linux 5.14.0 (db1) \t03/04/2024 \t_x86_64_\t(8 CPU)\n\n"


def screen(text: str) -> str:
    """The first screen of a log, its sentences in one line."""
    log = iolab.load(text.encode())
    ledgers = iolab.ledgers(log)
    return " ".join(first_screen(iolab.findings(log), ledgers[0] if ledgers else None).split())


def sar(head: str, row: str, count: int = 24, heavy: range = range(8, 14)) -> str:
    """A log of sar with a sample each 10 minutes, of which some are the second of two forms."""
    light, full = row.split("|")
    times = [f"{n // 6:02}:{n % 6}0:00" for n in range(count + 1)]
    rows = [f"{time} {full if n in heavy else light}" for n, time in enumerate(times[1:])]
    return SAR + f"{times[0]} {head}\n" + "\n".join(rows) + "\n"


def children(parent: str, child: str, count: int = 9, *, clone: str = "SIGCHLD") -> str:
    """A process that makes others, which make one call each while the parent waits, or does nothing that is traced."""
    lines = []
    for n in range(count):
        at, pid = 1_700_000_000 + 2 * n, 701 + n
        lines.append(f"700 {at}.000000 clone(child_stack=NULL, flags={clone}, child_tidptr=0x7f) = {pid} <0.000100>")
        lines.append(f"700 {at}.001000 {parent}")
        lines.append(f"{pid} {at}.100000 {child.format(n=n)}")
    return "\n".join([*lines, "700 1700000018.000000 close(3) = 0 <0.000100>"]) + "\n"


@pytest.mark.parametrize(
    ("child", "said"),
    [
        (
            'open("/u01/diag/ADR_CONTROL.ams", O_RDONLY) = 6 <1.400000>',
            "`open` took 12.6 s in 9 processes: 9 calls, 1.40 s each, all of it on `ADR_CONTROL.ams`.",
        ),
        (
            'write(4</mnt/nas/f{n}.dat>, "x"..., 8192) = 8192 <1.500000>',
            "`write` took 13.5 s in 9 processes: 9 calls, 1.50 s each, all of it on `*.dat` in `/mnt/nas`.",
        ),
        (
            "clock_nanosleep(CLOCK_REALTIME, 0, {{tv_sec=1, tv_nsec=0}}, NULL) = 0 <1.400000>",
            "`clock_nanosleep` (sleep) took 12.6 s in 9 processes: 9 calls, 1.40 s each.",
        ),
    ],
)
@pytest.mark.parametrize(
    "parent",
    [
        "getpid() = 700 <0.000010>",
        "wait4(-1, NULL, 0, NULL) = 1 <1.900000>",
        "epoll_wait(3, [], 9, 1900) = 0 <1.900000>",
    ],
)
def test_the_calls_of_children_lead(parent: str, child: str, said: str) -> None:
    """A parent that waits, or makes no calls meanwhile: what its children did took the time."""
    shown = screen(children(parent, child))

    assert said in shown
    assert shown.index(said) < shown.index(" part ") if " part " in shown else True
    assert "user CPU" not in shown


def test_threads_are_no_processes() -> None:
    """Tasks made with CLONE_THREAD are threads of one process."""
    shown = screen(
        children("getpid() = 700 <0.000010>", 'read(4</u01/a>, "", 9) = 9 <1.400000>', clone="CLONE_THREAD|CLONE_VM")
    )
    assert "in 9 threads" in shown


@pytest.mark.parametrize(
    ("wait", "release", "name"),
    [
        ("fcntl(4{}, F_SETLKW, {{l_type=F_WRLCK}})", "fcntl(4{}, F_SETLK, {{l_type=F_UNLCK}})", "fcntl F_SETLKW"),
        (
            "fcntl(4{}, F_OFD_SETLKW, {{l_type=F_WRLCK}})",
            "fcntl(4{}, F_OFD_SETLK, {{l_type=F_UNLCK}})",
            "fcntl F_SETLKW",
        ),
        ("flock(4{}, LOCK_EX)", "flock(4{}, LOCK_UN)", "flock"),
    ],
)
@pytest.mark.parametrize("path", ["</mnt/spool/.lock>", ""])
def test_a_wait_for_the_lock_of_a_file_names_it(wait: str, release: str, name: str, path: str) -> None:
    """Waits are counted without releases, with the file of -y or of the open, and the holder is looked for next."""
    calls = [(1, 'openat(AT_FDCWD, "/mnt/spool/.lock", O_RDWR) = 4' + path, 0.0001)]
    for n in range(4):
        calls += [(2 + 40 * n, wait.format(path) + " = 0", 30.0), (40 + 40 * n, release.format(path) + " = 0", 0.0001)]
    shown = screen("".join(f"{1_700_000_000 + at}.000000 {call} <{took:.6f}>\n" for at, call, took in calls))

    assert f"`{name}` for locks of files took" in shown
    assert "4 calls, 30 s each, all of it on `.lock`." in shown
    assert "next: see who holds the lock: cat /proc/locks; lsof /mnt/spool/.lock" in shown


def test_packets_say_which_end_the_process_is() -> None:
    """What is written calls a function of the server: the process is a client, and waits for its server."""
    call, answer = '"\\0\\25\\0\\0\\6\\0\\0\\0\\0\\0\\3^"...', '"\\0\\25\\0\\0\\6\\0\\0\\0\\0\\0\\6\\""...'

    def log(sent: str, got: str) -> str:
        line = "1700000{n}.000000 write(9, {sent}, 21) = 21 <0.000020>\n"
        line += "1700000{n}.100000 read(9, {got}, 8208) = 21 <0.800000>\n"
        return "".join(line.format(n=n, sent=sent, got=got) for n in range(100, 130))

    shown = screen(log(call, answer))
    assert "`read` from the database server took" in shown
    assert "perf trace" not in shown
    assert "likely the client (Oracle Net)" in screen(log(answer, call))


def test_a_descriptor_that_is_sent_to_is_a_socket() -> None:
    """A read of a descriptor that another call used as a socket waits for the other end."""
    line = '170000000{n}.000000 sendto(5, "a", 1, 0, NULL, 0) = 1 <0.000020>\n'
    line += '170000000{n}.100000 read(5, "b", 9) = 1 <0.800000>\n'
    assert "`read` on sockets took" in screen("".join(line.format(n=n) for n in range(9)))


def test_waits_until_a_time_out_are_said_to_be_so() -> None:
    """Without -T, too; the last call has no successor, so no mean counts it."""
    lines = "     0.000000 epoll_wait(6, [], 32, 1000) = 0\n" + "     1.001000 epoll_wait(6, [], 32, 1000) = 0\n" * 40
    shown = screen(lines)

    assert "it waited until a time-out: nothing arrived" in shown
    assert "40 calls timed out, at most 1.00 s on average." in shown


def test_no_log_of_each_call_is_advised_for_short_ones() -> None:
    """A process that spins makes millions of calls: a profile says which code does."""
    head = "% time     seconds  usecs/call     calls    errors syscall\n"
    rule = "------ ----------- ----------- --------- --------- ----------------\n"
    for name, advice in (
        ("sched_yield", "which code spins"),
        ("getpid", "perf record"),
        ("futex", "who holds the lock"),
    ):
        shown = screen(f"{head}{rule}100.00   18.400000           0  61000000           {name}\n{rule}")
        assert advice in shown.partition("next: ")[2]
        assert "strace -f" not in shown


@pytest.mark.parametrize(
    ("high", "found"),
    [
        ("...###..", (3, 5)),
        ("..##.###..", (2, 7)),
        ("###.....", (0, 2)),
        ("#.#.#.#.", None),
        ("########", None),
        ("...##....", None),
        ("###...###", None),
    ],
)
def test_a_stretch_holds_nearly_all_that_is_high(high: str, found: tuple[int, int] | None) -> None:
    """One stretch of three samples or more that is not the whole log."""
    assert stretch_of([one == "#" for one in high]) == found


@pytest.mark.parametrize(
    ("head", "row", "said"),
    [
        (
            "DEV tps rkB/s wkB/s areq-sz aqu-sz await %util",
            "sdb 300.00 900.00 90.00 9.00 0.40 1.20 20.00|sdb 300.00 900.00 90.00 9.00 27.00 90.00 99.80",
            (
                "`sdb` was at least 90 % busy in 6 of 24 samples, from 01:20 to 02:20, with up to 27 "
                "requests in flight; a "
                "request took 90 ms on average. Requests to `sdb` averaged more than 20 ms in 6 of 24 "
                "samples, from 01:20 "
                "to 02:20: 90 ms on average; 1.20 ms in the others."
            ),
        ),
        (
            "runq-sz plist-sz ldavg-1 ldavg-5 ldavg-15 blocked",
            "2 940 2.0 2.0 2.0 1|120 4200 90.0 70.0 60.0 2",
            (
                "Processes waited for a CPU in 6 of 24 samples, from 01:20 to 02:20: 120 were runnable on 8 CPUs on "
                "average, at most 120; 2 in the others. The number of processes rose from 940 to 4,200 meanwhile."
            ),
        ),
        (
            "pgpgin/s pgpgout/s fault/s majflt/s pgfree/s pgscank/s pgscand/s pgsteal/s %vmeff",
            (
                "500.00 900.00 900.00 0.50 9.00 0.00 0.00 0.00 0.00"
                "|86000.00 900.00 900.00 2500.00 9.00 0.00 184000.00 9.00 9.00"
            ),
            (
                "Memory was short in 6 of 24 samples, from 01:20 to 02:20: processes scanned 184,000 pages "
                "per second for "
                "free ones, 2,500 major faults per second; 88.1 MB/s were paged in, 0.512 in the others."
            ),
        ),
        (
            "CPU %user %nice %system %iowait %steal %idle",
            "all 5.00 0.00 1.00 1.00 0.00 93.00|all 5.00 0.00 1.00 44.00 0.00 50.00",
            (
                "Idle time with I/O in flight (iowait) was 44 % of the processors' time, from 01:20 to "
                "02:20; 1.0 % in the "
                "others."
            ),
        ),
        (
            "IFACE rxpck/s txpck/s rxkB/s txkB/s rxcmp/s txcmp/s rxmcst/s",
            "eth1 900.00 900.00 900.00 90.00 0.00 0.00 0.00|eth1 900.00 900.00 117000.00 90.00 0.00 0.00 0.00",
            (
                "`eth1` received 120 MB/s and sent 0.0922 MB/s; consistent with a full link of 1 Gbit/s, from 01:20 to "
                "02:20; 1.01 MB/s in all in the others."
            ),
        ),
        (
            "pswpin/s pswpout/s",
            "0.00 0.00|2500.00 1000.00",
            "The host swapped 10,000 KiB/s in and 4,000 KiB/s out, from 01:20 to 02:20.",
        ),
    ],
)
def test_an_hour_that_matters_is_named(head: str, row: str, said: str) -> None:
    """A device, run queue, memory, CPUs, link or swap in one hour of four: from when to when, and what was else."""
    shown = screen(sar(head, row))

    assert said in shown
    assert "processes were blocked" not in shown


def test_blocked_processes_are_those_of_their_hour() -> None:
    """The mean of a log of vmstat hides it; a collector's clock places it."""
    row = " 1 {:2}      0 812344  99221 8123441    0    0     9     9 5000 9000  5  2 {} {:2}  0\n"
    text = "".join(
        f"zzz ***Tue Jun 11 15:{n:02}:00 CEST 2019\n{VMSTAT}{row.format(0, 92, 1)}"
        + (row.format(24, 33, 60) if 20 <= n < 30 else row.format(0, 92, 1))
        for n in range(40)
    )
    assert "On average 24 processes were blocked, from 15:20 to 15:29, 0 in the others, at most 24" in screen(text)


def test_no_process_waited_where_the_cpus_are_not_counted() -> None:
    """40 runnable processes may each have a CPU: the log of vmstat does not say how many there are."""
    shown = screen(VMSTAT + "40  0      0 812344  99221 8123441    0    0     9     9 5000 9000  9 84  7  0  0\n" * 30)

    assert "The CPUs were 93 % busy on average, mostly with kernel code (84 %)" in shown
    assert "The runnable processes were 40 on average while the CPUs were at least 90 % busy, at most 40." in shown
    assert "waited for a CPU" not in shown


def test_requests_in_flight_have_one_base() -> None:
    """Solaris prints those that wait in the host and those in the device apart: both are in flight."""
    stamp = "Tuesday, October 7, 2014 at 11:00:{:02} AM CEST\n                    extended device statistics\n"
    head = "    r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device\n"
    row = "  180.0   20.0 1435.0  307.0 10.0 30.0   50.0  150.0  99 100 c4t0d0\n"
    shown = screen("".join(stamp.format(n) + head + row for n in range(0, 50, 10)))

    assert "`c4t0d0` had the most requests in flight, 40 on average." in shown
    assert "with up to 40 requests in flight" in shown
    assert "pidstat" not in shown


def test_samples_of_a_collector_are_told_from_means_since_boot() -> None:
    """A mean since boot hardly moves after several intervals; samples, one each time, do."""
    head = "Device:         r/s     w/s    rkB/s    wkB/s  avgqu-sz   await  %util\n"
    row = "sda          {:.2f}   10.00  2000.00   100.00    {:.2f}   {:.2f}  {:.2f}\n"

    def log(hot: range) -> str:
        return "".join(
            f"zzz ***Tue Mar 14 02:{n:02}:00 CET 2017\n{head}"
            + (row.format(30, 20, 600, 100) if n in hot else row.format(270, 0.6, 2, 34))
            for n in range(40)
        )

    assert "`sda` was at least 90 % busy in 10 of 40 samples, from 02:15 to 02:24" in screen(log(range(15, 25)))
    assert "averages since boot" in screen(log(range(0)))


def test_a_stretch_says_how_many_of_the_high_samples_it_holds() -> None:
    """The number of all high samples is not said to be within a time that lacks one of them."""
    row = "10:{:02}:00 AM     all     {:.2f}      0.00      2.00      0.50      0.00     {:.2f}\n"
    busy = [10, 10, *[95] * 12, 60, 95]
    text = "Linux 5.4.17 (quay07) \t11/22/2022 \t_x86_64_\t(8 CPU)\n\n"
    text += "10:00:00 AM     CPU     %user     %nice   %system   %iowait    %steal     %idle\n"
    text += "".join(row.format(n + 1, user, 97.5 - user) for n, user in enumerate(busy))
    for cut, said in (
        (16, "13 of 16 samples were at least 90 % busy, 12 of them from 10:02"),
        (14, "12 of 14 samples were at least 90 % busy, from"),
    ):
        lines = text.splitlines(keepends=True)[: 3 + cut]
        assert said in " ".join(iolab.findings("".join(lines).encode()).get_column("sentence"))
