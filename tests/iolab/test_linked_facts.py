"""Facts that a log prints apart and that belong together: a cause beside its symptom, and each thing counted once."""

from __future__ import annotations

from dataclasses import replace

import pytest

import iolab
from iolab.metrics.report_facts import ReportFacts, Statement, Wait
from iolab.pages.summary import summarize
from iolab.pages.summary_text import summary_text
from iolab.rules.writes import commit_beyond_write
from logframe.interval import Interval

VMSTAT = "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n"
VMSTAT += " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
exact = Interval.exact


def said(log: str) -> str:
    """All sentences about a log."""
    return " ".join(iolab.findings(log.encode()).get_column("sentence"))


def first_lines(log: str) -> str:
    """The three first lines below the name of a log."""
    return " ".join(summary_text(summarize(log.encode()), "a.log", width=110).splitlines()[:3])


@pytest.mark.parametrize("obj", ["", "9"])
def test_a_request_is_counted_once_whether_its_end_is_known_or_not(obj: str) -> None:
    """Completions that match no submission are rows of their own, and no more requests of the calls that submit."""
    lines = []
    for n in range(60):
        ios = [f"{{data={hex(k + 1)}, pwrite, fildes=261, nbytes=8192, offset={8192 * k}}}" for k in range(4)]
        ends = [f"{{data=0x{obj}{k + 1}, obj=0x{obj}{k + 1}, res=8192, res2=0}}" for k in range(4)]
        at = 1_700_000_000 + n * 0.31
        lines.append(f"{at:.6f} io_submit(0x7f11, 4, [{', '.join(ios)}]) = 4 <0.300000>")
        lines.append(f"{at + 0.301:.6f} io_getevents(0x7f11, 4, 9, [{', '.join(ends)}], NULL) = 4 <0.000020>")
    assert "60 calls of 4 requests, 300 ms each (75 ms per request)" in said("\n".join(lines))


def test_a_calm_host_says_all_three_and_its_cpus_are_those_of_any_heading() -> None:
    """CPUs that one tool prints are those of the host; calm devices and memory stand beside calm CPUs."""
    iostat = "Linux 5.4 (db1) \t05/20/2024 \t_x86_64_\t(16 CPU)\n\n"
    iostat += (
        "Device  r/s  w/s  rkB/s  wkB/s  r_await  w_await  %util\nsda  9.0  1.0  72.0  8.0  0.30  0.10  {0}\n\n" * 3
    )
    rows = VMSTAT + "".join(f" 1 0 0 900 1 1 {{1}} 0 10 10 1{n} 1 3 1 96 0 0\n" for n in range(12))
    log = iostat + "$ vmstat 5 12\n" + rows
    assert "16 CPUs for" in first_lines(log.format("2.10", 0))
    assert "number of CPUs" not in first_lines(log.format("2.10", 0))
    assert "no device was more than 2.1 % busy and no memory was swapped." in first_lines(log.format("2.10", 0))
    assert "was more than" not in said(log.format("92.1", 0))
    assert "no memory" not in said(log.format("2.10", 30))


@pytest.mark.parametrize(("free", "is_unused"), [(20_480, True), (400, False)])
def test_huge_pages_that_nobody_uses_stand_beside_swapping(free: int, *, is_unused: bool) -> None:
    """Memory that is reserved as huge pages and free is the first to be given back."""
    rows = VMSTAT + "".join(f" 9 9 9000 200 1 1 9000 9{n} 10 10 1{n} 1 13 11 46 30 0\n" for n in range(12))
    log = rows + "$ grep Huge /proc/meminfo\nHugePages_Total:   20480\nHugePages_Free:    "
    log += f"{free}\nHugePages_Rsvd:        0\nHugepagesize:       2048 kB\n"
    assert ("20,480 of 20,480 huge pages (40 GiB) were reserved and free" in first_lines(log)) is is_unused
    step = iolab.findings(log.encode()).filter(name="swapping").item(0, "next")
    assert step.startswith("let the SGA use" if is_unused else "see who holds")


@pytest.mark.parametrize(("printed", "of"), [("0", " for an SGA of 52 GiB"), ("0 of 64 GB", ""), ("26624", None)])
def test_an_sga_without_huge_pages_stands_beside_swapping(printed: str, of: str | None) -> None:
    """Only where the log prints that none are reserved; the SGA is named where the log prints its size."""
    rows = "".join(f" 9 9 9000 200 1 1 9000 9{n} 10 10 1{n} 1 13 11 46 30 0\n" for n in range(12))
    text = said(f"# db host{', sga_target 52G' * (of != '')}, HugePages_Total: {printed}\n{VMSTAT}{rows}")
    assert ("no huge pages were reserved" in text) is (of is not None)
    assert f"; no huge pages were reserved{of}." in text or of is None


@pytest.mark.parametrize(("others", "is_named"), [("", True), ("[deadline] cfq\n", False), ("[pts]\n", True)])
def test_the_scheduler_in_which_requests_wait_has_its_name(others: str, *, is_named: bool) -> None:
    """Of several devices with different schedulers it is not known which one is meant."""
    head = f"# cat /sys/block/sdc/queue/scheduler\nnoop deadline [cfq]\n{others}"
    head += f"{'=' * 20} All Devices {'=' * 20}\n\nI2D 0.000000398 0.012000000 0.410220318 81221\n"
    rows = "D2C 0.000070210 0.004000000 0.061108204 81221\nQ2C 0.000081004 0.016000000 0.412001877 81221\n"
    assert (f"in the I/O scheduler{' `cfq`' * is_named} (I2D, 75 %)") in said(head + rows)


@pytest.mark.parametrize(
    ("printed", "is_cause"),
    [
        ("$ cat /proc/sys/sunrpc/tcp_slot_table_entries /proc/sys/sunrpc/tcp_max_slot_table_entries\n2\n2\n", True),
        ("sunrpc.tcp_max_slot_table_entries = 2\n", True),
        ("sunrpc.tcp_slot_table_entries = 2\nsunrpc.tcp_max_slot_table_entries = 65536\n", False),
        ("", False),
    ],
)
def test_slots_of_rpc_stand_beside_the_queue_that_they_make(printed: str, *, is_cause: bool) -> None:
    """Slots are a limit where more requests are in flight than there are slots."""
    head = "ops/s kB/s kB/op retrans avg RTT (ms) avg exe (ms)\n"
    sample = "nas:/u4 mounted on /u4:\n\n ops/s rpc bklog\n 2000.0 99.0\n\n"
    sample += f"read: {head} 2000.0 16000.0 8.0 0 (0.0%) 1.000 48.000\n"
    log = "$ nfsiostat 5 2\n" + sample * 2 + printed
    assert ("47 ms in the client's queue (2 RPC slots), 1 ms in" in said(log)) is is_cause


@pytest.mark.parametrize("answers", [150, 20])
def test_round_trips_with_a_client_are_pairs_of_calls(answers: int) -> None:
    """What is written and what is read are one round trip; without pairs there is only the time that was waited."""
    lines, at = [], 1_700_000_000.0
    call, answer = r"\0\33\0\0\6\0\0\0\0\0\3\5", r"\0\227\0\0\6\0\0\0\0\0\20\27"
    for n in range(150):
        if n < answers:
            lines.append(f'{at:.6f} write(17, "{answer}"..., 91) = 91 <0.000020>')
        lines.append(f'{at + 0.0001:.6f} read(17, "{call}"..., 8208) = 27 <0.019980>')
        at += 0.0201
    text = first_lines("\n".join(lines))
    assert ("150 round trips of 20 ms" in text) is (answers == 150)
    assert ("lmost nothing ran" in text) is (answers != 150)


@pytest.mark.parametrize("wait", ["semtimedop", "pread64"])
def test_one_process_that_reads_for_several_is_named(wait: str) -> None:
    """Of processes that share work, one made most reads while the others waited to be posted."""
    lines = [
        f'7 {1700000000 + n / 100:.6f} pread64(3</a.dbf>, "", 8192, {8192 * n}) = 8192 <0.009000>' for n in range(200)
    ]
    call = "semtimedop(9, [{0, -1, 0}], 1, {3, 0}) = -1 EAGAIN (Resource temporarily unavailable) <1.900000>"
    if wait == "pread64":
        call = 'pread64(3</a.dbf>, "", 8192, 0) = 8192 <1.900000>'
    for pid in (8, 9):
        lines.append(f'{pid} 1700000000.000000 pread64(3</a.dbf>, "", 8192, 0) = 8192 <0.009000>')
        lines.append(f"{pid} 1700000000.010000 {call}")
    text = said("\n".join(sorted(lines, key=lambda line: float(line.split()[1]))))
    one = "Process 7 made 200 of 202 reads within 2.00 s; the other 2 made at most 1 each within 9 ms and were idle"
    assert (f"{one} for 3.80 s in `semtimedop`." in text) is (wait == "semtimedop")
    assert ("Process 7 made" in text) is (wait == "semtimedop")


@pytest.mark.parametrize("ms", [0.1, 30])
def test_how_a_file_was_opened_matters_where_its_reads_took_the_time(ms: float) -> None:
    """Files whose opening is not in the log are named where half of the time of the reads is theirs."""
    lines = ['100.000000 openat(AT_FDCWD, "/u2/slow.dbf", O_RDWR|O_DIRECT) = 9</u2/slow.dbf> <0.000010>']
    for n in range(100):
        lines.append(f'{101 + n / 10:.6f} pread64(9</u2/slow.dbf>, "", 8192, 0) = 8192 <0.020000>')
        lines.append(f'{101.03 + n / 10:.6f} pread64(4</u1/other.dbf>, "", 8192, 0) = 8192 <{ms / 1e3:.6f}>')
    assert ("whether `other.dbf` was opened" in said("\n".join(lines))) is (ms == 30)


def test_commits_of_each_row_are_the_cause_of_their_waits() -> None:
    """Where there is a commit for each row, what a commit is made of is no question; a standby or late post is."""
    insert = Statement("6kd2v9s1xq8fa", exact(70), text="INSERT INTO t", counts={"rows_processed": 41_000})
    facts = ReportFacts(
        db_time_s=exact(60), elapsed_s=exact(900), statements=(insert,),
        events={"log file sync": Wait(exact(42_000), exact(44))},
        background={"log file parallel write": Wait(exact(40_000), exact(14))},
        activity={"user commits": exact(42_000)},
    )  # fmt: skip
    (found,) = commit_beyond_write(facts)
    assert found.sentence.startswith(
        "Sessions committed once per row: 42,000 commits for 41,000 rows of `6kd2v9s1xq8fa`. A commit waited 1.05 ms"
    )
    assert found.next.startswith("commit less often")
    # a writer of several processes, its writes fast; of executions whose rows no list has
    again = Statement(insert.sql_id, exact(70), exact(41_000), text="INSERT INTO t")
    several = replace(facts, statements=(again,), background={"log file parallel write": Wait(exact(2e6), exact(950))})
    said = "Sessions committed once per execution: 42,000 commits for 41,000 executions of `6kd2v9s1xq8fa`. "
    said += "Commits waited for the log: a log write took 475 us on average."
    assert [one.sentence for one in commit_beyond_write(several)] == [said]
    (of_pdb,) = commit_beyond_write(replace(several, kind="awr_pdb", background={}))
    assert said.startswith(of_pdb.sentence)
    assert of_pdb.sentence.endswith("`6kd2v9s1xq8fa`.")
    facts.activity["user commits"] = exact(800)
    assert [one.sentence.endswith("does not show what the rest was.") for one in commit_beyond_write(facts)] == [True]


@pytest.mark.parametrize(
    ("remote", "stated"), [(18_000, "18 ms of it was `SYNC Remote Write`"), (20, "an average write")]
)
def test_redo_on_another_host_is_a_part_of_a_commit(remote: int, stated: str) -> None:
    """A long wait for another host is the part of a commit that its disk does not explain."""
    log = "SQL> select event, total_waits, time_waited_micro/1e6 secs from v$system_event;\n\n"
    log += "EVENT                          TOTAL_WAITS       SECS\n" + "-" * 30 + " ----------- ----------\n"
    for name, secs in (("log file sync", 19_400), ("SYNC Remote Write", remote), ("log file parallel write", 600)):
        log += f"{name:30} {1_000_000:11} {secs:10}\n"
    assert stated in first_lines(log + "\n")


def test_a_report_of_all_instances_has_the_sequence_of_its_lock() -> None:
    """Headings of the statements may lack the line above them; a sequence is then known as in other reports."""
    names = ("SQL Id", "Elapsed (s)", "CPU (s)", "Gets", "Reads", "Rows", "Execs", "SQL Text")
    rows = [("vdzc22hhgdfuh", "900.0", "9.0", "7", "1", "1,000", "1,000", "INSERT INTO t VALUES (s.NEXTVAL)")]
    title = "SQL ordered by Elapsed Time (Global)"
    page = f'<html><body><h1>WORKLOAD REPOSITORY REPORT (RAC)</h1><h3>{title}</h3><table summary="{title}"><tr>'
    page += "".join(f"<th>{name}</th>" for name in names) + "</tr>"
    page += "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    report = iolab.load((page + "</table></body></html>").encode())
    assert report["sql"].select("elapsed_s", "executions", "rows_processed").row(0) == (900.0, 1_000, 1_000)


def test_blocked_processes_are_those_of_the_whole_swapping() -> None:
    """Samples with few blocked processes within a stretch of swapping are in its mean, not in that of the others."""
    blocked = [0] * 12 + [24, 25, 26, 24, 4, 26, 25, 5, 24, 3, 4, 3] + [1] * 12
    rows = "".join(
        f" 1 {many} 9000 200 1 1 {9000 if 12 <= n < 24 else 0} 90 10 10 1 1 3 1 66 30 0\n"
        for n, many in enumerate([0, *blocked], start=-1)
    )
    assert "16.1 processes were blocked, in samples 14 to 25, 0.500 in the others, at most 26" in said(VMSTAT + rows)


@pytest.mark.parametrize("idle", [0.5, 60.0])
def test_full_cpus_stand_beside_the_load_and_before_processes(idle: float) -> None:
    """Of many busy processes one is no fact: the CPUs are."""
    text = ""
    for n in range(3):
        text += f"top - 14:0{n}:10 up 210 days,  3:01,  4 users,  load average: 41.20, 38.10, 29.77\n"
        text += (
            f"%Cpu(s): {99.5 - idle:.1f} us,  0.5 sy,  0.0 ni, {idle:.1f} id,  0.0 wa,  0.0 hi,  0.0 si,  0.0 st\n\n"
        )
        text += "    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n"
        text += "".join(
            f"  3011{k} oracle 20 0 102.4g 2.1g 2.0g R 9{k}.0 0.8 12:01.22 oracle_3011{k}\n" for k in range(5)
        )
        text += "\n"
    lines = first_lines(text)

    assert ("The CPUs were 99.5 % busy. The load average was 41.2" in lines) is (idle < 1)


def test_a_process_that_uses_one_whole_cpu_is_the_fact_however_many_there_are() -> None:
    """A thread cannot use more than one: on a large host that is a small share, and the limit of its work."""
    text = "Linux 5.4.17 (dbp01) \t04/18/2024 \t_x86_64_\t(64 CPU)\n"
    for n in range(4):
        text += f"\n20:00:{n:02}      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command\n"
        text += f"20:00:{n + 1:02}      501      2199    2.10   97.40    0.00    0.00   99.50     1  ora_mman_p\n"
    assert "Process 2199 (`ora_mman_p`) used 0.995 CPUs on average" in first_lines(text)


@pytest.mark.parametrize(("scanned", "is_short"), [(41_000, True), (12, False)])
def test_the_page_scanner_of_solaris_shows_that_memory_was_short(scanned: int, *, is_short: bool) -> None:
    """Pages in and out are those of files, too, on Solaris: what the kernel scans for free ones tells."""
    head = " kthr      memory            page            disk          faults      cpu\n"
    head += " r b w   swap  free  re  mf pi po fr de sr s0 s1 s2 s3   in   sy   cs us sy id\n"
    row = " 1 9 0 900000 61000 400 900 3000 7000 9000 0 {} 9 0 0 0 4000 9000 5000 14 31 55\n"
    text = head + "".join(row.format(0 if n < 6 else scanned) for n in range(13))

    assert ("Memory was short in 7 of 12 samples" in said(text)) is is_short
    assert ("scanned 41,000 pages per second for free ones, 7,000 KiB/s were paged out" in said(text)) is is_short


@pytest.mark.parametrize(("more", "is_known"), [("", True), (" ent=2.00", False)])
def test_the_logical_processors_of_aix_are_those_that_processes_wait_for(more: str, *, is_known: bool) -> None:
    """The configuration above the samples states them; figures of a partition with an entitlement are of that."""
    head = "kthr    memory              page              faults        cpu\n"
    head += "----- ----------- ------------------------ ------------ -----------\n"
    head += " r  b   avm   fre  re  pi  po  fr   sr  cy  in   sy  cs us sy id wa\n"
    row = "36  0 8100200 98000   0   0   0   0     0   0 900 90000 41000 78 21  1  0\n"
    text = f"\nSystem configuration: lcpu=8 mem=65536MB{more}\n\n{head}{row * 9}"

    assert ("36 were runnable on 8 CPUs on average" in said(text)) is is_known
    assert ("number of CPUs" not in first_lines(text)) is is_known


def test_a_slice_of_solaris_has_the_requests_of_its_disk() -> None:
    """What is printed of both is one fact."""
    text = "SunOS balmyday 5.10 Generic sun4u    03/18/2004\n\n"
    text += "12:36:32   device        %busy   avque   r+w/s  blks/s  avwait  avserv\n\n"
    for n in range(3):
        rows = "".join(
            f"           {name:12} 40    0.7      26    9000     0.0    28.1\n" for name in ("dad1", "dad1,a")
        )
        text += f"12:3{n + 7}:01{rows[8:]}\n"

    assert "`dad1` averaged" in said(text)
    assert "`dad1,a` averaged" not in said(text)
