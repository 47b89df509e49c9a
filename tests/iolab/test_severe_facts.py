"""What was too much for a host stands first; the lengths and means that a log states are those that are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

import iolab
from hostparse import read_host
from iolab.metrics.processors import cpu_parts
from iolab.pages.ledger_text import first_screen

if TYPE_CHECKING:
    from collections.abc import Callable

VMSTAT = "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n"
VMSTAT += " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
LINUX = "Linux 5.4 (db1) \t05/20/2024 \t_x86_64_\t(4 CPU)\n\n"
QUEUE = """
System configuration: lcpu=16 drives=4 paths=8 vdisks=0

hdisk5          xfer:  %tm_act      bps      tps      bread      bwrtn
                         99.8     7.0M   800.0       5.2M    1752.5K
                read:      rps  avgserv  minserv  maxserv   timeouts      fails
                        600.0      6.0      0.2     85.4          0          0
               write:      wps  avgserv  minserv  maxserv   timeouts      fails
                        200.0      2.0      0.3     15.4          0          0
               queue:  avgtime  mintime  maxtime  avgwqsz    avgsqsz     sqfull
                         95.0      0.0    356.0     76.0        4.0    {full}
"""


def _vmstat(row: str) -> str:
    """Twelve rows, of which no two are alike."""
    return VMSTAT + "".join(row.format(n).replace(" ", "  ") + "\n" for n in range(12))


def _screen(log: bytes) -> list[str]:
    accounts = iolab.ledgers(log)
    return first_screen(iolab.findings(log), accounts[0] if accounts else None, width=100).splitlines()


def _mpstat(count: int, *, is_headed_before: bool = False) -> str:
    """Samples of four CPUs, of which the last one has only interrupts."""
    text = LINUX
    for number in range(count):
        head = f"10:00:{5 * number - 5 * is_headed_before + 5:02} AM"
        clock = f"10:00:{5 * number + 5:02} AM"
        text += f"{head}  CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal   %idle\n"
        text += f"{clock}  all    5.00    0.00    0.00    0.00    0.00   25.00    0.00   70.00\n"
        text += "".join(
            f"{clock}    {cpu}    6.67    0.00    0.00    0.00    0.00    0.00    0.00   93.33\n" for cpu in (0, 1, 2)
        )
        text += f"{clock}    3    0.00    0.00    0.00    0.00    0.00   100.00    0.00    0.00\n\n"
    return text


@pytest.mark.parametrize(
    ("log", "fact"),
    [
        (_vmstat(" 3 0 2000 90{} 1 1 6000 9000 10 10 1 1 14 11 75 0 0"), "The host swapped 6,000 KiB/s in"),
        (_mpstat(5, is_headed_before=True), "CPU 3 was 100 % busy"),
        (
            LINUX + ("avg-cpu: %user %nice %system %iowait %steal %idle\n 9.00 0.00 1.00 30.00 0.00 60.00\n\n"
            "Device r/s w/s rkB/s wkB/s r_await w_await aqu-sz %util\n"
            "sdc 9.0 500.0 90.0 60000.0 1.0 60.0 30.0 100.0\n\n") * 12,
            "`sdc` was at least 90 % busy in 11 of 11 samples",
        ),
    ],
)  # fmt: skip
def test_severe_facts_stand_below_the_total(log: str, fact: str) -> None:
    """Swap, one full CPU and a full device stand above the table; the mean of calm CPUs does not."""
    lines = _screen(log.encode())
    table = next(number for number, line in enumerate(lines) if "part" in line.split())

    assert lines[1].startswith(fact)
    assert not any("CPUs were" in line for line in lines[:table] if not line.startswith(fact[:5]))


def test_busy_cpus_lead_where_they_are_too_much() -> None:
    """CPUs that were nearly always busy are a severe fact themselves."""
    lines = _screen(_vmstat(" 9 0 0 90{} 1 1 0 0 10 10 1 1 90 8 2 0 0").encode())

    assert lines[1].startswith("The CPUs were 98 % busy")


@pytest.mark.parametrize(
    ("command", "step"),
    [
        ("$ vmstat 5 60", 5.0),
        ("[oracle@db1 ~]$ vmstat -w 10", 10.0),
        ("$ mpstat -P ALL 2 9", 2.0),
        ("$ vmstat -s", None),
        ("$ mpstat -P 3", None),
    ],
)
def test_a_command_states_the_length_of_a_sample(command: str, step: float | None) -> None:
    """The seconds of a command above its output are those of its samples, and the command is no line left over."""
    log = read_host(f"{command}\n{_vmstat(' 3 0 0 90{} 1 1 0 0 10 10 1 1 14 11 75 0 0')}".encode())

    assert log.runs.get_column("interval_s").to_list() == [step]
    assert log.diagnostics.is_empty() == (step is not None)
    assert cpu_parts(log).get_column("weight_s").to_list() == [step or 1.0] * 11


def test_mpstat_with_an_interval_has_no_mean_since_boot() -> None:
    """A first sample below a heading of its own time is a mean since boot only where it is the only one."""
    for count, is_since_boot in ((1, True), (4, False)):
        first = read_host(_mpstat(count).encode()).wide("cpu").filter(sample=1)
        assert set(first.get_column("is_since_boot")) == {is_since_boot}


def test_a_request_waits_in_the_queue_of_the_host_too() -> None:
    """AIX: the time of a request, and what is in flight, are with the queue, which leads where it is full."""
    full, calm = (
        iolab.findings((QUEUE + QUEUE[QUEUE.index("hdisk") :]).format(full=full).encode()) for full in ("534.5", "0.0")
    )
    sentences = full.get_column("sentence").to_list()

    assert sentences[0].startswith("The queue to `hdisk5` was full in 1 of 1 sample, 534 times per second: requests")
    assert "queue_depth" in full.item(0, "next")
    assert any("80 on average" in one and "101 ms each" in one for one in sentences)
    assert any("a request took 100 ms" in one for one in sentences)
    assert "full_queue" not in set(calm.get_column("name"))
    assert not any("iostat -D" in (step or "") for found in (full, calm) for step in found.get_column("next"))


def test_a_group_of_disks_that_waits_in_the_host_is_sent_more() -> None:
    """AIX: several disks of which requests wait in the host lead to their queue_depth, not to who uses them."""
    sample = QUEUE[QUEUE.index("hdisk") :].format(full="534.5")
    sample = "".join(sample.replace("hdisk5 ", f"hdisk{n} ") for n in (5, 6, 7))
    head = QUEUE[: QUEUE.index("hdisk")]
    (queued,), (quick,) = (
        iolab.findings((head + text * 3).encode()).filter(pl.col("sentence").str.starts_with("All 3")).to_dicts()
        for text in (sample, sample.replace("  95.0 ", "   1.0 "))
    )
    assert "in the queue of the host" in queued["sentence"]
    assert "queue_depth" in queued["next"]
    assert "in the queue of the host" not in quick["sentence"]
    assert "queue_depth" not in quick["next"]


@pytest.mark.parametrize(
    ("rates", "slow_path_ms", "said"),
    [
        ((900.0, 900.0), 24.0, "2 other `dm-*` devices with as many requests or more averaged 600 us or less."),
        ((900.0, 60.0), 24.0, "2 other `dm-*` devices averaged 600 us or less."),
        ((900.0, 3.0), 24.0, "Another `dm-*` device with as many requests averaged 600 us."),
        ((3.0, 3.0), 24.0, None),
    ],
)
def test_a_busy_device_beside_quick_ones(rates: tuple[float, float], slow_path_ms: float, said: str | None) -> None:
    """Volumes of several paths are compared with each other, not with the paths; the quick ones are named once."""
    head = "Device            r/s     w/s     rkB/s     wkB/s   r_await w_await  aqu-sz  %util\n"
    row = "{:8} 1.00 {} 8.00 2400.00 0.50 {} {} {}\n"
    sample = head + row.format("dm-5", 300.0, 18.0, 5.4, 99.0) + row.format("sdd", 300.0, slow_path_ms, 5.4, 99.0)
    sample += "".join(row.format(f"dm-{n}", rate, 0.6, 0.1, 12.0) for n, rate in enumerate(rates))
    found = iolab.findings((f"{sample}\n" * 5).encode()).filter(name="saturated_device")
    own = found.filter(pl.col("sentence").str.starts_with("`dm-5`")).row(0, named=True)
    assert own["sentence"].endswith(said or "requests in flight; a request took 17.9 ms on average.")
    assert own["next"].startswith("see what it does not share") is ("as many" in (said or ""))
    assert found.filter(pl.col("sentence").str.contains("averaged")).height == bool(said)


@pytest.mark.parametrize(
    ("row", "busy", "waited"),
    [
        ("9 7 0 9000 90 9000 0 0 10{0} 50 900 900 41 17 -16 58 0", "58 %", "39 to 58 %"),
        ("9 7 0 9000 90 9000 0 0 10{0} 50 900 900 41 17 0 58 0", "41 to 58 %", "39 to 58 %"),
        ("9 7 0 9000 90 9000 0 0 10{0} 50 900 900 41 17 25 58 0", "16 to 58 %", "14 to 58 %"),
        ("9 7 0 9000 90 9000 0 0 10{0} 50 900 900 21 8 13 58 0", "28 to 30 %", "58 %"),
    ],
)
def test_parts_of_more_than_all_of_the_time_contradict_nothing(row: str, busy: str, waited: str) -> None:
    """Where vmstat prints more than 100 %, or less than no idle time, busy and idle time are ranges that fit."""
    said = " ".join(iolab.findings(_vmstat(row).encode()).get_column("sentence"))
    assert f"The CPUs were {busy} busy on average" in said
    assert f"idle with I/O in flight for {waited} of the time" in said


def test_top_of_one_sample_says_no_more_than_it_shows() -> None:
    """Load and processes of a single sample are not called averages since boot."""
    head = "top - 08:18:11 up  5:27,  0 user,  load average: 31.03, 1.24, 1.81\n"
    head += "%Cpu(s): 91.8 us,  7.4 sy,  0.0 ni,  0.5 id,  0.1 wa,  0.0 hi,  0.2 si,  0.0 st\n\n"
    head += "  PID USER      PR  NI    VIRT    RES    SHR S  %CPU %MEM     TIME+ COMMAND\n"
    log = head + " 2488 oracle    20   0 1699064 274448  74452 R 921.0   1.1   0:35.14 java\n"
    said = " ".join(_screen(log.encode()))

    assert "since boot (idle 0.5 %, iowait 0.1 %)" in said
    assert iolab.load(log.encode()).describe() == "an output of top, 5 lines"
    assert "all figures" not in said
    assert "used 9.21 CPUs in the only sample" in said


def test_mounts_of_nfs() -> None:
    """The first sample of nfsiostat is a mean since the mount; the slowest mount leads."""
    heads = "ops/s            kB/s           kB/op         retrans    avg RTT (ms)    avg exe (ms)\n"

    def sample(ms: int) -> str:
        text = ""
        for name, took in (("u04", ms), ("u05", 1)):
            text += f"nas:/{name} mounted on /{name}:\n\n   ops/s   rpc bklog\n   100.000   0.000\n\n"
            for word in ("read", "write"):
                text += f"{word}: {heads}  50.000 400.000 8.000 2 (4.0%) {took / 2:.3f} {took}.000\n"
        return text

    log = "$ nfsiostat 5 3\n" + sample(7) + sample(100) + sample(300)
    sentence = iolab.findings(log.encode()).item(0, "sentence")

    assert iolab.load(log.encode()).format == "nfsiostat"
    assert sentence.startswith(
        "Reads of `/u04` took 200 ms each, 100 ms of it on the network and in the server: 50 per"
    )
    assert "4.0 % sent again" in sentence


@pytest.mark.parametrize(
    ("heads", "beyond", "queued"),
    [
        ("avg queue (ms)          errors", "8.000 0 (0.0%)", "8 ms"),
        ("avg queue (ms)", "8.000", "8 ms"),
        ("errors", "0 (0.0%)", "8.50 ms"),
        ("", "", "8.50 ms"),
    ],
)
def test_the_queue_of_nfs_is_as_printed(heads: str, beyond: str, queued: str) -> None:
    """Newer versions of nfsiostat print the time in the queue; in others it is what is not the round trip."""
    rows = (
        f"read: ops/s kB/s kB/op retrans avg RTT (ms) avg exe (ms) {heads}\n 50.0 400.0 8.0 0 (0.0%) 0.5 9.0 {beyond}\n"
    )
    log = f"nas:/u04 mounted on /u04:\n\n   ops/s   rpc bklog\n   50.000   0.000\n\n{rows}"
    assert f"9 ms each, {queued} in the client's queue" in iolab.findings(log.encode()).item(0, "sentence")


@pytest.mark.parametrize(("rate", "others"), [(300.0, "as many requests"), (190.0, "as many requests or more")])
def test_the_slow_device_among_equal_ones(rate: float, others: str) -> None:
    """A device that is slow with as many requests as others are quick with, or fewer, has a fault of its own."""
    head = "Device            r/s     w/s     rkB/s     wkB/s   r_await w_await  %util\n"
    row = "dm-{}            {}    1.00   2400.00      8.00      {}    0.50  {}\n"
    quick = "".join(row.format(n, 301.0 + n, 0.6, 12.0) for n in (1, 2, 3))
    sample = head + quick + row.format(4, rate, 24.0, 99.0) + "\n"
    found = iolab.findings((sample * 5).encode()).filter(name="slow_device").row(0, named=True)
    assert found["sentence"].endswith(f"3 other devices with {others} averaged 600 us or less.")
    assert found["next"].startswith("see what it does not share with the others: multipath -ll")
    busier = " ".join(_screen((sample * 5).replace(str(rate), "900.0").encode()))
    seldom = sample * 2 + sample.replace("24.0", "4.0") * 5
    assert "other devices" not in " ".join(iolab.findings(seldom.encode()).get_column("sentence"))
    assert "other devices with as many" not in busier


SOLARIS = """                    extended device statistics       ---- errors ---
    r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b s/w h/w trn tot device
"""


@pytest.mark.parametrize("step", [25, 0])
def test_devices_of_one_path_are_one_sentence(step: int) -> None:
    """Devices that are full and slow alike are named together; errors that grew beside them come first."""
    row = "   50.0   10.0  400.0  100.0  0.0 {} 0.0 {} 0 {} 0 0 {} {} {}\n"
    text = ""
    for n in range(6):
        text += SOLARIS + "".join(row.format(" 0.2", 4.0, 60, 0, 0, f"c2t50A0d{one}") for one in (1, 2))
        errors = 4000 + step * n
        text += "".join(row.format("18.0", 300.0 + one, 100, errors, errors, f"c3t50B0d{one}") for one in (1, 2, 3))
    said = iolab.findings(text.encode()).get_column("sentence").to_list()
    assert said[0].startswith("Transport errors of 3 of 5 devices (`c3t50B0d*`) grew by 375, from 12,000") == (step > 0)
    assert said[0].endswith("consistent with a failing path (HBA, cable, port), not a disk.") == (step > 0)
    full = said[1 if step else 0]
    assert full.startswith("3 of 5 devices (`c3t50B0d*`) were at least 90 % busy in 5 of 5 samples")
    assert full.endswith("A request to them took 302 ms on average; 4 ms to the others.")
    assert not any("d2` was at least" in one or "averaged more than" in one for one in said)


@pytest.mark.parametrize("slow", [5, 12])
def test_devices_of_a_group_have_their_time(slow: int) -> None:
    """Devices that were full together have the time of it; one that was slow for longer is told beside them."""
    text = "AIX db1 3 7 00F6A5954C00    04/02/24\n\nSystem configuration: lcpu=64  mode=Capped\n\n"
    text += "00:00:00     device    %busy    avque    r+w/s    Kbs/s   avwait   avserv\n"
    row = "00:{:02}:00     hdisk{}   {}      0.0     100     1099      0.0     {}\n"
    for n in range(1, 31):
        text += "".join(row.format(n, one, *((99, 42.0) if 11 <= n <= 15 else (20, 1.4))) for one in (1, 2))
        text += row.format(n, 3, 99 if 11 <= n <= 15 else 20, 42.0 if 11 <= n < 11 + slow else 1.4)
    said = iolab.findings(text.encode()).get_column("sentence").to_list()
    full = "All 3 devices were at least 90 % busy in 5 of 30 samples, from 00:10 to 00:15."
    assert any(one.startswith(full) for one in said)
    assert any("`hdisk3` averaged more than 20 ms in 12 of 30" in one for one in said) == (slow > 5)
    assert not any("`hdisk1` averaged" in one for one in said)


@pytest.mark.parametrize(("rate", "is_slower"), [(56, True), (190, False)])
def test_a_device_that_slows_down(rate: int, *, is_slower: bool) -> None:
    """Requests that take longer at a lower rate are told with both rates; at the same rate with their times."""
    head = "\nAIX db1 3 7 00F6A5954C00    04/02/24\n\nSystem configuration: lcpu=64  mode=Capped\n\n"
    head += "00:00:00     device    %busy    avque    r+w/s    Kbs/s   avwait   avserv\n"
    row = "00:{:02}:00     hdisk23   {}      0.0     {}     1099      0.0     {}\n"
    text = head + "".join(row.format(n + 1, *((30, 204, 1.4) if n < 5 else (99, rate, 42.0))) for n in range(20))
    said = iolab.findings(text.encode()).item(0, "sentence")
    slower = f"`hdisk23` slowed down from 00:05 on: requests took 42 ms at {rate} per second in 15 of 20 samples"
    assert said.startswith(slower) is is_slower
    assert ("1.40 ms at 204 per second in the others" in said) is is_slower


@pytest.mark.parametrize(("busy", "took", "is_calm"), [(27, 5.3, True), (27, 25.0, False), (45, 5.3, False)])
def test_devices_that_are_calm(busy: int, took: float, *, is_calm: bool) -> None:
    """A log of devices below 40 % busy, without a slow request, has nothing that stands out."""
    head = "HP-UX db1 B.11.31 U ia64    10/06/26\n\n09:00:01   device   %busy   avque   r+w/s  blks/s  avwait  avserv\n"
    row = "09:0{}:01    disk3    1.98    0.50       9     158    0.00    3.43\n"
    row += "           disk11   {}    0.50      20    1216    0.00    {}\n"
    screen = _screen((head + "".join(row.format(n, busy, took) for n in range(1, 5))).encode())
    assert screen[0].startswith("Nothing stands out: each device was at most 27 % busy in any sample.") is is_calm
    assert ("next: take a log while the work runs" in screen) is is_calm


@pytest.mark.parametrize(
    ("shape", "begin"),
    [
        (lambda n: 1150 if n < 10 else 1150 + 90 * (n - 9), "The number of processes grew from 01:30 until the end of"),
        (lambda n: 1150 if n < 10 else 4900, ""),
        (lambda n: 1150 + 90 * n if n < 30 else 2000, ""),
        (lambda n: 1150 + 3 * n, ""),
    ],
    ids=["grows", "step", "ends", "small"],
)
def test_processes_that_grow_until_the_end(shape: Callable[[int], int], begin: str) -> None:
    """Processes that pile up until the end lead, with memory; a step, a load that ends and a small rise do not."""
    text = "Linux 5.4 (db1) \t05/20/2024 \t_x86_64_\t(8 CPU)\n\n"
    clocks = [f"{n // 6:02}:{10 * (n % 6):02}:01" for n in range(60)]
    text += (
        "00:00:01 kbmemfree kbmemused  %memused kbbuffers  kbcached  kbcommit   %commit  kbactive   kbinact   kbdirty\n"
    )
    for n, clock in enumerate(clocks, 1):
        more = shape(n) / 50
        text += (
            f"{clock} 31866954 33940458 {30 + more / 2:.2f} 188000 {41200000 // more:.0f} 46000000 {more:.2f} 1 1 1\n"
        )
    text += "\n00:00:01      runq-sz  plist-sz   ldavg-1   ldavg-5  ldavg-15   blocked\n"
    text += "".join(f"{clock} 1 {shape(n)} 3.0 3.0 3.00 0\n" for n, clock in enumerate(clocks, 1))
    found = iolab.findings(text.encode())
    said = " ".join(found.filter(name="growth").get_column("sentence"))
    assert bool(said) is bool(begin)
    assert said.startswith(begin)
    if begin:
        assert found.item(0, "name") == "growth"
        assert (
            "from 1,150 to 5,740. Memory used rose from 41.5 to 87.4 % and committed memory from 23 to 115 %." in said
        )
        assert "The page cache fell from 1.71 to 0.342 GiB." in said
        assert said.endswith("consistent with sessions or processes that do not end.")


def test_a_full_link_in_nmon_leads() -> None:
    """The interfaces of nmon count as those of sar: a link that is full stands first."""
    text = "AAA,progname,nmon\nAAA,host,db1\nAAA,time,22:00.01\nAAA,date,12-NOV-2023\nAAA,interval,30\nAAA,cpus,4\n"
    text += (
        "CPU_ALL,CPU Total db1,User%,Sys%,Wait%,Idle%,Busy,CPUs\nNET,Network I/O db1,eth1-read-KB/s,eth1-write-KB/s\n"
    )
    for n in range(1, 13):
        text += f"ZZZZ,T{n:04},22:{n:02}:00,12-NOV-2023\nCPU_ALL,T{n:04},4.0,1.0,0.0,95.0,,4\nNET,T{n:04},90.0,{{}}\n"
    assert "consistent with a full link of 1 Gbit/s" in _screen(text.replace("{}", "117600.0").encode())[1]
    assert "full link" not in " ".join(_screen(text.replace("{}", "17600.0").encode()))


def test_time_that_the_hypervisor_took_leads() -> None:
    """Time that the hypervisor takes in one stretch stands before what the host did all the time."""
    row = " 3 0 2000 90{{}} 1 1 0 0 10 10 1 1 {us} 5 {idle} 0 {st}\n"
    rows = [
        row.format(us=40, idle=idle, st=st).format(n) for n, (idle, st) in enumerate([(55, 0)] * 9 + [(15, 40)] * 4)
    ]
    screen = _screen((VMSTAT + "".join(rows)).encode())
    assert screen[1].startswith("Time taken by the hypervisor (steal) was 40 % of the processors' time")


def test_devices_that_are_nearly_idle_are_said_to_be() -> None:
    """Of devices without load the first words are that none stands out."""
    head = "Device            r/s     w/s     rkB/s     wkB/s   r_await w_await  %util\n"
    text = head + "sda 9.0 1.0 72.0 8.0 0.50 0.50 {}\n\n"
    assert "Nothing stands out: each device was at most 1.8 % busy" in " ".join(
        _screen((text.format(1.8) * 4).encode())
    )
    assert "stands out" not in " ".join(_screen((text.format(48.0) * 4).encode()))


def test_a_sample_without_its_figures_is_none_of_the_busy_ones() -> None:
    """A line that is cut, or whose figures are no numbers, counts neither as busy nor as idle."""
    row = " {} 0 0 900 10 10 0 0 10 10 100 100 {} {} {} 0 0\n"
    log = VMSTAT + row.format(1, 1, 1, 98) * 2
    unknown = iolab.findings((log + row.format("##", 80, 20, 0)).encode())
    assert "run_queue" not in unknown.get_column("name")
    log += row.format(9, 80, 20, 0) * 3
    for cut in (
        " - - - - - - - - - - - - - - - - -\n",
        " 1 0 0 900 10 10 0 0 10 10 100 100 1 1 ## 0 0\n",
        " 4 0 0 9\n",
    ):
        said = iolab.findings((log + cut).encode()).get_column("sentence").to_list()
        assert any("The runnable processes were 9" in one for one in said), (cut, said)


def test_an_even_rate_of_a_full_device_is_as_under_a_limit() -> None:
    """Requests per second that are the same in each sample are said to be so; a rate that varies is not."""
    head = "Device            r/s     w/s     rkB/s     wkB/s   r_await w_await  aqu-sz  %util\n"
    row = "nvme1n1 {} 400.0 20800.0 3200.0 21.0 3.00 60.0 100.0\n\n"
    even = _screen((head + row.format(2600.0)).encode() * 6)
    assert "3,000 to 3,000 requests per second, as under a limit" in " ".join(even)
    varied = "".join(head + row.format(2000.0 + 100 * n) for n in range(6))
    assert "as under a limit" not in " ".join(_screen(varied.encode()))


def test_the_hypervisor_has_its_share_in_the_first_sentence() -> None:
    """Where it takes processors nearly all the time there is no stretch to name, but a share."""
    row = " 9 0 2000 90{} 1 1 0 0 10 10 1 1 45 5 2 0 48\n"
    screen = _screen((VMSTAT + "".join(row.format(n) for n in range(12))).encode())
    assert "taken by the hypervisor (48 % of the time)" in " ".join(screen[:3])


def test_samples_of_a_full_link_beside_the_longest_stretch_are_counted_apart() -> None:
    """A second window is named by its samples, and is not in the mean of the others."""
    head = "10:00:00 AM IFACE rxpck/s txpck/s rxkB/s txkB/s rxcmp/s txcmp/s rxmcst/s %ifutil\n"
    rates = [1000.0] * 20 + [110_000.0] * 20 + [1000.0] * 20 + [110_000.0] * 4 + [1000.0] * 4
    rows = "".join(
        f"{10 + n // 60}:{n % 60:02}:00 AM eth0 9.0 9.0 {rate} 0.00 0.0 0.0 0.0 {rate / 1170:.2f}\n"
        for n, rate in enumerate(rates, 1)
    )
    text = "Linux 5.4 (db1) \t05/20/2024 \t_x86_64_\t(8 CPU)\n\n" + head + rows
    said = iolab.findings(text.encode()).filter(name="busy_interface").item(0, "sentence")
    assert said.startswith("`eth0` received 113 MB/s and sent 0 MB/s, 94 % of its link speed, from 10:20 to ")
    assert said.endswith(", and in 4 other samples; 1.02 MB/s in all in the others.")


@pytest.mark.parametrize(("fewer", "devices"), [(4, "4 of 6"), (1, "3 of 6")])
def test_devices_slow_in_half_as_many_samples_are_of_one_group(fewer: int, devices: str) -> None:
    """A burst of writes to all disks passes each of them in another number of samples; once is no burst."""
    head = "Device            r/s     w/s     rkB/s   wkB/s  r_await w_await aqu-sz  %util\n"
    text = ""
    for n in range(20):
        slow = {f"sd{one}": 4 <= n < 4 + (fewer if one == "d" else 6) for one in "abcdef"}
        rows = "".join(
            f"{name:14} 0.5 300.0 4.0 2400.0 1.0 {90.0 if late and name < 'sde' else 2.0} 3.0 40.0\n"
            for name, late in slow.items()
        )
        text += f"05/20/24 10:{n:02}:00\n{head}{rows}\n"
    said = iolab.findings(("Linux 5.4 (db1) \t05/20/24 \t_x86_64_\t(8 CPU)\n\n" + text).encode())
    first = said.filter(name="slow_device").item(0, "sentence")
    assert first.startswith(f"Writes to {devices} devices ("), first
