"""What a log of system calls says first: few calls with most of the time, time-outs below a parent, calls in vain."""

from __future__ import annotations

import polars as pl
import pytest

import iolab
from iolab.rules.trace_outliers import few_long_calls

WRITE = '{}.000000 pwrite64(3</nfs/b.bkp>, "", 8192, 0) = 8192 <{:.6f}>'


def _said(text: str) -> str:
    return " ".join(iolab.findings(text.encode()).get_column("sentence"))


def test_a_few_calls_with_most_of_the_time_come_first() -> None:
    """Two stalls among a hundred calls are named before the average of all, with what to look at."""
    seconds = [n for n in range(200) if not (20 < n < 82 or 100 < n < 162)]
    lines = [WRITE.format(1_700_000_000 + n, 61.2 if n in {20, 100} else 0.009) for n in seconds]
    found = iolab.findings("\n".join(lines).encode())
    stall = found.filter(name="few_long_calls").row(0, named=True)
    assert stall["rank"] < found.filter(part="file writes").item(0, "rank")
    assert stall["sentence"].startswith("2 of 78 `pwrite64` calls took 61.2 s each on `b.bkp`, 99.4 % of the time")
    assert stall["next"].startswith("see the device of `b.bkp` then: iostat -xt 1")
    even = "\n".join(WRITE.format(1_700_000_000 + n, 0.2 + 0.001 * (n % 7)) for n in range(100))
    assert "each on `b.bkp`, " not in _said(even)
    assert "none longer than 206 ms" in _said(even)


def test_stalls_of_several_processes_at_the_same_time_have_their_time() -> None:
    """Long calls of several processes that overlap are one moment; those one after another have none."""

    def said(apart: float) -> str:
        at = {pid: 10 + apart * (pid - 7) for pid in (7, 8)}
        lines = [
            f"{pid} 10:{int(n + at[pid]) // 60:02}:{(n + at[pid]) % 60:09.6f} "
            + WRITE.partition(" ")[2].format(9.0 if n == 60 else 0.009)
            for n in range(100)
            if not 60 < n < 70
            for pid in (7, 8)
        ]
        return str(iolab.findings("\n".join(lines).encode()).filter(name="few_long_calls").item(0, "sentence"))

    assert "took 9 s each on `b.bkp` in 2 processes at the same time (10:01:10), 9" in said(0.4)
    assert "took 9 s each on `b.bkp` in 2 processes, 9" in said(20)


def test_the_part_stands_above_how_its_writes_are_spread() -> None:
    """The share of all time leads; median and percentile of the writes in it follow."""
    lines = [WRITE.format(1_700_000_000 + n, 0.9) for n in range(60)]
    found = iolab.findings("\n".join(lines).encode())
    assert found.filter(part="file writes").item(0, "rank") < found.filter(name="write_latency").item(0, "rank")


def test_a_wait_for_the_server_is_looked_for_in_the_server() -> None:
    """One long read from the database server is a question to the database, also where no call has its time."""
    call = r'write(9, "\0\0\1\24\6\0\0\0\0\0\3h\3"..., 276) = 276'
    rows = r'read(9, "\0\0\37\377\6\0\0\0\0\0\20"..., 8208) = 8191'
    text, clock = "", 1_700_000_000.0
    for n in range(60):
        text += f"{clock:.6f} {call}\n{clock + 0.0001:.6f} {rows}\n"
        clock += 188.0 if n == 7 else 0.001
    found = iolab.findings(text.encode()).filter(name="few_long_calls")
    assert found.item(0, "sentence").startswith("1 of 59 `read` calls took at most 188 s on `fd 9`, 99")
    assert found.item(0, "next").startswith("see what its session waited for then")


@pytest.mark.parametrize(
    ("others", "said"), [(0, "with no answer of `10.0.0.53:53`"), (1, "3 of them with no answer of `10.0.0.53:53`")]
)
def test_the_time_outs_of_children_explain_the_wait_of_their_parent(others: int, said: str) -> None:
    """A parent that only waits is no idle process: what its children waited for in vain is said, with the peer."""
    text = ""
    for n in range(4):
        pid, at = 11 + n, 1700000000 + 5 * n
        text += f"10 {at}.000000 clone(child_stack=NULL, flags=SIGCHLD) = {pid} <0.000200>\n"
        text += f"10 {at}.000300 wait4(-1, NULL, 0, NULL) = {pid} <4.999000>\n"
        text += f"{pid} {at}.000400 connect(3, {{sa_family=AF_INET, sin_port=htons(53), "
        text += f'sin_addr=inet_addr("10.0.0.{54 if n < others else 53}")}}, 16) = 0 <0.000020>\n'
        text += f"{pid} {at}.000500 poll([{{fd=3, events=POLLIN}}], 1, 4998) = 0 (Timeout) <4.998000>\n"
    found = iolab.findings(text.encode())
    sentence = found.filter(name="timed_out_below").item(0, "sentence")
    assert sentence == f"4 `poll` calls timed out after 5.00 s each in 4 processes, {said}."


def test_one_long_call_among_calls_of_another_process_is_no_mean() -> None:
    """A parent waits for a child that asked for several file systems, of which one did not answer."""
    text = '7 1700000000.000000 read(0<pipe:[99]>, "", 512) = 0 <190.900000>\n'
    text += "".join(f'8 170000000{n}.000000 statfs("/u0{n}", {{f_bsize=4096}}) = 0 <0.000008>\n' for n in range(6))
    text += '8 1700000006.000000 statfs("/mnt/stage_nfs", 0x7f) = -1 ESTALE (Stale file handle) <184.317402>\n'
    text += "7 1700000195.100000 close(4) = 0 <0.000010>\n"
    found = iolab.findings(text.encode()).filter(name="calls_of_all").item(0, "sentence")
    assert "7 calls, the longest 184 s, 99.9 % of it on `stage_nfs`" in found


def test_calls_that_were_counted_and_failed_say_so() -> None:
    """Where nearly all calls of the longest row of strace -c failed, that is said."""
    head = "% time     seconds  usecs/call     calls    errors syscall\n"
    rule = "------ ----------- ----------- --------- --------- ----------------\n"
    rows = (
        " 75.00    3.000000          30    100000{:>10} stat\n 25.00    1.000000          10    100000           read\n"
    )
    text = head + rule + rows + rule + "100.00    4.000000                200000     99990 total\n"
    assert "100,000 calls, 30.0 us each, 99,990 of which failed." in _said(text.format(99990))
    assert "failed" not in _said(text.format(9))
    assert "vDSO" not in _said(text.format(9))
    assert "those that the vDSO does not answer" in _said(text.format(9).replace(" stat", " clock_gettime"))


@pytest.mark.parametrize(
    ("before", "call", "more", "said"),
    [
        (
            "20817 6-03:11 ora_dbw0_PLUM\n",
            "pwrite64",
            "",
            "each, synchronous (no `io_submit`). `ora_dbw0_PLUM` writes so",
        ),
        ("20817 6-03:11 ora_p000_PLUM\n", "pwrite64", "", "each, synchronous (no `io_submit`)."),
        ("20817 6-03:11 ora_dbw0_PLUM\n", "pwrite64", "io_submit", "30.0 us each."),
        ("cat /sys/x/current_clocksource\nxen\n", "gettimeofday", "clock_gettime", "The clock source is `xen`."),
        ("", "gettimeofday", "clock_gettime", "that the vDSO does not answer."),
    ],
)
def test_lines_beside_counted_calls_say_what_they_are(before: str, call: str, more: str, said: str) -> None:
    """A database writer without asynchronous I/O, and calls of one clock, are named by the lines beside them."""
    text = before + "% time     seconds  usecs/call     calls    errors syscall\n"
    text += "------ ----------- ----------- --------- --------- ----------------\n"
    for share, count, name in (
        (75, 100000, call),
        (22, 29333, more or "semtimedop"),
        (2, 2667, "times"),
        (1, 9, "lseek"),
    ):
        text += f" {share:>2}.00 {share / 25:>11.6f}          30 {count:>9}           {name}\n"
    text += "------ ----------- ----------- --------- --------- ----------------\n"
    text += "100.00    4.000000                132009         0 total\n"

    found = _said(text)

    assert said in found
    assert ("`gettimeofday` and `clock_gettime` took 97 % of the 4 s" in found) == (more == "clock_gettime")
    assert ("asynchronous I/O is off" in found) == ("ora_dbw0" in before and not more)


def test_a_process_that_sleeps_until_it_is_posted() -> None:
    """Time-outs of semaphores are counted without stamps, too, and the next step is the database."""
    line = "semtimedop(32768, [{1, -1, 0}], 1, {3, 0}) = -1 EAGAIN (Resource temporarily unavailable) <3.000100>\n"
    found = iolab.findings((line * 40 + "semtimedop(32768, [{1, -1, 0}], 1, {3, 0}) = 0 <1.000000>\n").encode())
    row = found.row(0, named=True)
    assert row["sentence"] == "`semtimedop` took 121 s: 41 calls, 2.95 s each, 40 of which timed out."
    assert "BLOCKING_SESSION" in row["next"]
    assert "does not show where time passed" not in " ".join(found.get_column("sentence"))


@pytest.mark.parametrize(("op", "took"), [("pwrite", "0.000400"), ("pwrite", "0.400000"), ("pread", "0.000400")])
def test_a_writer_that_waits_for_work_is_calm(op: str, took: str) -> None:
    """A timer that ends the sleep of a process that only writes is no lock; a slow write is no calm."""
    text, at = "", 1700000000.0
    block = f'{{{op}, filedes:259, str:"\\6"..., nbytes:8192, offset:512}}'
    for _ in range(20):
        for call, time in (
            ("semtimedop(32768, [{11, -1, 0}], 1, {3, 0}) = -1 EAGAIN (Resource temporarily unavailable)", "3.000100"),
            (f"io_submit(140552, 1, {{{block}}}) = 1", "0.000100"),
            ("io_getevents(140552, 1, 128, {{(nil), 0x7fd4, 8192, 0}}{600, 0}) = 1", took),
            ("times(NULL) = 477121293", "0.000004"),
        ):
            text += f"{at:.6f} {call} <{time}>\n"
            at += float(time)

    found = iolab.findings(text.encode())

    is_calm = (op, took) == ("pwrite", "0.000400")
    assert ("calm_run" in found["name"]) == is_calm
    assert any("BLOCKING_SESSION" in one for one in found["next"].drop_nulls()) == (op == "pread")


@pytest.mark.parametrize(("flag", "size"), [("|O_DSYNC", 15360), ("|O_DSYNC", 15361), ("", 15360)])
def test_synchronous_writes_without_times_take_what_dd_printed(flag: str, size: int) -> None:
    """The line of dd is no call of another process; its time is that of the writes where its bytes are theirs."""
    text = f'openat(AT_FDCWD, "/b/a.dbf", O_WRONLY|O_CREAT|O_TRUNC{flag}, 0666) = 3\n'
    text += 'read(0, "a", 512) = 512\nwrite(3, "a", 512) = 512\n' * 30
    text += f"30+0 records in\n30+0 records out\n{size} bytes (15 kB, 15 KiB) copied, 0.3 s, 51.2 kB/s\n"
    log = iolab.load(text.encode())

    found = iolab.findings(log)

    said = "30 writes to `a.dbf` were synchronous (O_SYNC or O_DSYNC), 512 bytes on average."
    took = " `dd` printed 300 ms for its copy: 10 ms per write, 0.0512 MB/s."
    lead = found.filter(~pl.col("name").eq("lines_not_read")).item(0, "sentence")
    assert (lead == said + took * (size == 15360)) == bool(flag)
    assert log.calls.collect()["pid"].drop_nulls().is_empty()


@pytest.mark.parametrize(("size", "step", "is_said"), [(730, 1, True), (8208, 1, False), (730, 2, False)])
def test_round_trips_of_a_client_lead(size: int, step: int, *, is_said: bool) -> None:
    """Pairs of small sends and receives are round trips; the lines of another program are no damage of the log."""
    text = ""
    for n in range(200):
        text += r'     0.038000 write(9, "\0\25\0\0\6\0\0\0\0\0\3\5$\2\0\0\0\17\0\0\0", 21) = 21' + "\n"
        if n % step == 0:
            begin = f"\\{size >> 8:o}\\{size & 255:o}"  # a packet of Oracle Net begins with its length
            text += (
                f'     0.000060 read(9, "{begin}\\0\\0\\6\\0\\0\\0\\0\\0\\6\\2\\2\\1\\1\\17\\0\\0"..., 8208) = {size}\n'
            )
        text += "rows of the query\n" * (n % 5 == 0)
    text += "     0.038000 exit_group(0) = ?\n"

    found = iolab.findings(text.encode())

    said = "Round trips to the database server took at most 100 % of 7.61 s: 200 of at most 38.1 ms, "
    said += "730 bytes read in each."
    assert (said in found["sentence"].to_list()) == is_said
    assert "evidence" not in found["mark"]


FILES = ((3, "a"), (4, "b"))


@pytest.mark.parametrize("longest", ["0.400000", "0.150000", ""])
def test_even_calls_are_not_read_again(monkeypatch: pytest.MonkeyPatch, longest: str) -> None:
    """Where few long calls cannot have most of the time, the sums of the first pass say so, with and without `-T`."""
    ends = {"0.400000": (" <0.400000>", " <0.400000>"), "0.150000": (" <0.150000>", " <0.005000>"), "": ("", "")}[
        longest
    ]
    lines = [f'1700000{n:03}.000000 pread64(3</u01/a.dbf>, "", 8192, 0) = 8192{ends[n > 0]}' for n in range(60)]
    log = iolab.load("\n".join(lines).encode())
    iolab.ledger(log)
    monkeypatch.setattr(type(log), "calls", property(lambda _: pytest.fail("the calls are read again")))
    assert not list(few_long_calls(log))


@pytest.mark.parametrize(("gap_us", "took_us"), [(1_000, 16), (1_000, 90), (20, 16)])
def test_reads_out_of_memory_stand_beside_the_time_between_calls(gap_us: int, took_us: int) -> None:
    """Where the time passed between calls, what its short reads came from is said with it, once for all files."""
    lines = [
        f'1700000000.00000{n} openat(AT_FDCWD, "/u1/{name}.dbf", O_RDWR|O_DSYNC) = {n} <0.000001>\n'
        for n, name in FILES
    ]
    for n in range(500):
        at = 1_000 + n * (gap_us + took_us)
        lines.append(f'1700000000.{at:06} pread64({3 + n % 2}, "", 8192, {8192 * n}) = 8192 <0.{took_us:06}>\n')
    found = iolab.findings("".join(lines).encode())
    cached = found.filter(name="page_cache_share")
    assert cached.height == (took_us < 32)
    for row in cached.iter_rows(named=True):
        files, of = "`a.dbf` and `b.dbf`", "they came from the page cache, not a disk"
        assert row["sentence"].startswith(f"500 reads of 8 KiB of {files} took 16 us on average: {of}")
        assert (row["part"] == "between calls") == (gap_us > 500)
        lead = found.filter(name="trace_profile").item(0, "rank")
        assert row["rank"] == lead + 1 or gap_us < 500


@pytest.mark.parametrize("rest", ["semtimedop", "read"])
def test_calm_processes_are_calm_together(rest: str) -> None:
    """The longest call is that of all processes; where one of them has other work than to write, none is calm."""
    lines = []
    for pid, name, took in ((7, "semtimedop", 400), (8, rest, 700)):
        at = 1700000000.0
        for _ in range(27 - pid):
            sleep = f"{pid} {at:.6f} {name}(32768, [{{11, -1, 0}}], 1, {{3, 0}}) = 0 <3.000100>"
            write = f'pwrite64(3</u/a.dbf>, "", 8192, 0) = 8192 <0.000{took}>'
            lines += [sleep, f"{pid} {at + 3.0002:.6f} {write}"]
            at += 3.002

    said = _said("\n".join(sorted(lines, key=lambda line: line.split()[1])))

    calm = "both processes waited for work, process 7 for 99.9 % of 60.0 s; no other call took more than 700 us."
    assert (calm in said) == ("Nothing stands out" in said) == (rest == "semtimedop")


@pytest.mark.parametrize("took", [True, False])
@pytest.mark.parametrize(("ended", "work"), [("", "both"), (" = 0", "both"), ("", "pread64"), ("", "")])
def test_a_process_that_works_by_a_timer_is_calm(ended: str, work: str, *, took: bool) -> None:
    """Sleeps that time out with writes, and reads of a control file, between are idle; without, one may be a lock."""
    text, at = "", 1700000000.0
    late = ended or " = -1 EAGAIN (Resource temporarily unavailable)"
    calls = [(f"semtimedop(32770, [{{16, -1, 0}}], 1, {{3, 0}}){late}", 3.0007), ("times(NULL) = 39011", 0.0001)]
    names = [name for name in ("pread64", "pwrite64", "pwrite64") if work in {name, "both"}]
    calls += [(f'{name}(256, "\\25\\302\\0"..., 16384, 49152) = 16384', 0.0008) for name in names]
    for call, time in calls * 20:
        text += f"{at:.6f} {call}{f' <{time:.6f}>' if took else ''}\n"
        at += time + 0.0001

    said = _said(text)

    is_calm = not ended and work == "both"
    stated = (
        f"Nothing stands out: the process waited for work for {'99.9' if took else 'at most 100'} % of 60.1 s; no other"
    )
    assert (stated in said) == ("Nothing stands out" in said) == is_calm


@pytest.mark.parametrize("longest", ["0.020000", "9.000000"])
def test_round_trips_to_a_named_client_are_counted(longest: str) -> None:
    """Writes to the socket of a client and reads of it are round trips; one long wait makes no mean of them."""
    text, client = "", "17<TCP:[10.44.2.18:1521->10.201.7.3:51234]>"
    for n in range(200):
        took, at = "0.020000" if n else longest, 1700000000 + 0.03 * n + 9 * (n > 0)
        text += f'{at:.6f} read({client}, "", 8208) = 21 <{took}>\n'
        text += f'{at + (0.025 if n else 9.01):.6f} write({client}, "", 190) = 190 <0.000020>\n'

    said = iolab.ledger(text.encode()).text

    assert ("(200 round trips of 20.0 ms)" in said) == (longest == "0.020000")
    assert ("(200 round trips)" in said) == (longest != "0.020000")


@pytest.mark.parametrize("fd", ["21", "21</dev/random<char 1:8>>", "21</dev/nst0<char 9:0>>", "21</u01/a.dbf>", "22"])
def test_long_reads_of_a_descriptor_that_another_thread_opened(fd: str) -> None:
    """The file is that of the open of any thread; reads of a device that is no disk are not looked for in iostat."""
    text = (
        "7 1700000000.000000 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD) = 8 <0.000090>\n"
    )
    text += '7 1700000000.000200 open("/dev/random", O_RDONLY) = 21 <0.000018>\n'
    for n in range(100):
        at, took = 1700000001 + n + 59 * (n > 40), "59.500000" if n == 40 else "0.000012"
        text += f'8 {at}.000000 read({fd if n == 40 else "9</u01/b.jar>"}, "", 20) = 8 <{took}>\n'
    row = iolab.findings(text.encode()).filter(name="few_long_calls").row(0, named=True)

    named, step = {
        "21</dev/nst0<char 9:0>>": ("nst0", "ls -l /proc/PID/fd"),
        "21</u01/a.dbf>": ("a.dbf", "iostat -xt 1"),
        "22": ("fd 22", "ls -l /proc/PID/fd"),
    }.get(fd, ("/dev/random", "/dev/urandom"))
    assert row["sentence"].startswith(f"1 of 100 `read` calls took 59.5 s on `{named}`, ")
    assert step in row["next"]
    assert ("iostat" in row["next"]) == (step == "iostat -xt 1")


@pytest.mark.parametrize(("size", "fds"), [(262144, 1), (262144, 2), (None, 1)])
@pytest.mark.parametrize("took", [True, False])
def test_writes_to_an_unknown_file_have_their_descriptor_and_size(size: int | None, fds: int, *, took: bool) -> None:
    """A descriptor without a file is named where all calls are on it, and the size where it is that of all."""
    text = ""
    for n in range(80):
        end = f"{size or 262144 - n}{' <0.050000>' if took else ''}"
        text += f'{1700000000 + n * 0.05001:.6f} write({21 + n % fds}, "\\6\\242"..., 262144) = {end}\n'
    said = _said(text)

    rate = "5.24" if took else "at least 5.24"
    assert ("calls, 50 ms each, all of it on `fd 21`." in said) == (took and fds == 1)
    assert (f" Each moved 256 KiB: {rate} MB/s." in said) == bool(size)


@pytest.mark.parametrize(("records", "is_said"), [("8388608+0", True), ("4096+0", False), ("8388607+1", False)])
def test_a_copy_in_small_blocks_leads(records: str, *, is_said: bool) -> None:
    """What `dd` printed beside a summary says the size of its blocks, where all are whole, and the rate."""
    text = f"{records} records in\n{records} records out\n4294967296 bytes (4.3 GB) copied, 411.207 s, 10.4 MB/s\n"
    text += "% time     seconds  usecs/call     calls    errors syscall\n"
    text += "------ ----------- ----------- --------- --------- ----------------\n"
    text += " 54.03   46.913377           5   8390133           read\n"
    text += " 45.94   39.884205           4   8389007           write\n"
    text += "------ ----------- ----------- --------- --------- ----------------\n"
    text += "100.00   86.827202              16788552           total\n"
    found = iolab.findings(text.encode()).filter(pl.col("name").is_in(["copied_in_blocks", "counted_calls"]))
    lead = found.row(0, named=True)

    assert (lead["sentence"] == "`dd` copied 4 GiB in blocks of 512 bytes: 411 s, 10.4 MB/s.") == is_said
    assert ("bs=1M" in (lead["next"] or "")) == is_said


@pytest.mark.parametrize("is_timed", [True, False])
def test_calls_without_a_class_are_named_by_their_time(*, is_timed: bool) -> None:
    """The one that took most comes first, with times of calls and without."""
    calls = [("uname({...})", 100), *[("times(NULL)", 400), ("acct(NULL)", 150)] * 40]
    lines, at, before = "", 0, 0
    for call, us in calls:
        stamp = f"{1_700_000_000 + at / 1e6:.6f}" if is_timed else f"{before / 1e6:.6f}"
        lines += f"{stamp} {call} = 0{f' <{us / 1e6:.6f}>' if is_timed else ''}\n"
        at, before = at + us, us
    sentences = iolab.findings(lines.encode()).get_column("sentence").to_list()
    assert any(one.startswith("`times`, `acct` and `uname` took") for one in sentences)


@pytest.mark.parametrize("option", ["", "-w "])
def test_the_command_of_a_summary_says_what_it_counts(option: str) -> None:
    """A log with its command says whether times are of the processor or of the clock."""
    head = "% time     seconds  usecs/call     calls    errors syscall\n"
    head += "------ ----------- ----------- --------- --------- ----------------\n"
    text = f"[oracle@db load]$ strace {option}-c -o /tmp/cnt sqlldr parfile=a.par\n{head}"
    text += " 98.00  189.316600        2062     91800           read\n"
    text += "  2.00    3.816600         381     10000           write\n"
    ledger = iolab.ledger(text.encode())
    assert ledger.void.startswith("strace -w -c counts the time of calls" if option else "strace -c counts CPU time")


def test_one_pause_after_a_call_is_no_mean_of_its_calls() -> None:
    """Without -T the time until the next line is at most the call's: one pause of many is said to be one."""
    text = "".join(f"17000000{n:02}.000000 brk(0x56) = 0x56\n17000000{n:02}.000100 read(3, 1) = 1\n" for n in range(20))
    text += "1700000020.000000 brk(0x56) = 0x56\n1700000220.000000 read(3, 1) = 1\n1700000220.000100 close(3) = 0\n"
    said = iolab.findings(text.encode()).get_column("sentence").str.join(" ").item()
    assert "`brk` took at most 91 % of 220 s: 21 calls, the longest at most 200 s." in said
