"""What took the time of a trace by name: a peer, a file, a folder; and steps that can still be taken."""

from __future__ import annotations

import re

import pytest

import iolab
from iolab.metrics.trace_facts import ReadOrder
from iolab.pages.summary import summarize
from iolab.pages.summary_text import summary_text
from straceparse.log import read_log

ADDRESS = "sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr"
END = "+++ exited with 0 +++\n"


def _findings(log: str) -> dict[str, str]:
    found = iolab.findings(log.encode())
    return {row["name"]: f"{row['sentence']} next: {row['next']}" for row in reversed(found.to_dicts())}


def _waits(peer: str, *, are_named: bool) -> str:
    """Four polls without an answer, on a socket whose peer the connect, or -yy, names."""
    text = ""
    for number in range(4):
        at = 1700000000 + 6 * number
        fd = f"4<UDP:[10.0.0.9:4242->{peer}:53]>" if are_named else "4"
        if not are_named:
            text += f'{at}.000000 connect(4, {{{ADDRESS}("{peer}")}}, 16) = 0 <0.000014>\n'
        text += f"{at}.000100 poll([{{fd={fd}, events=POLLIN}}], 1, 5000) = 0 (Timeout) <5.005000>\n"
    return text


@pytest.mark.parametrize("are_named", [False, True])
def test_the_peer_that_did_not_answer_is_named(are_named: bool) -> None:  # noqa: FBT001 - a case
    """A time-out names the address and port of its socket, from connect or from -yy."""
    said = _findings(_waits("10.1.0.2", are_named=are_named))["trace_profile"]

    assert "10.1.0.2:53" in said
    assert "host 10.1.0.2 and port 53" in said
    assert "/proc" not in said


def test_failed_calls_state_error_and_folders() -> None:
    """Calls that failed state their error, their time and the folders; the next step is not the same log again."""
    line = 'stat("/nfs/lib{}/mod.py", 0x7f) = -1 ENOENT (No such file or directory) <0.006000>\n'
    said = _findings('stat("/x", 0x7f) = 0 <0.000100>\n' + "".join(line.format(n % 4) for n in range(200)))

    assert "200 of 201 `stat` calls failed with ENOENT, 6 ms each, in 4 folders" in said["failing_calls"]
    assert "strace" not in said["failing_calls"]


def test_the_slow_file_has_a_mean_of_its_own() -> None:
    """Where one file of a class has most of its time, its mean stands in the sentence, and that of the others."""

    def log(slow_us: int) -> str:
        rows = []
        for n in range(120):
            name, took = ("a.dbf", slow_us) if n % 3 == 0 else ("b.dbf", 500)
            rows.append(
                f'{1700000000 + 0.6 * n:.6f} pread64({3 + n % 3}</u01/{name}>, "", 8192, {n}) = 8192 <{took / 1e6:.6f}>'
            )
        return "\n".join(rows)

    uneven = " ".join(_findings(log(500_000)).values())
    even = " ".join(_findings(log(700)).values())

    assert "40 calls on `a.dbf` took 99.8 % of it, 500 ms each; the other 80 took 500 us each" in uneven
    assert "calls on `a.dbf`" not in even


@pytest.mark.parametrize("slow_us", [27_000, 1_900])
def test_the_slow_file_of_asynchronous_requests(slow_us: int) -> None:
    """A call that reaps requests names no file: that of slow requests is known by the requests themselves."""
    rows, clock = [], 1700000000.0
    for n in range(120):
        name, took = ("a.dbf", slow_us) if n % 3 == 0 else ("b.dbf", 1_700)
        request = f"{{aio_data=0x{n + 1:x}, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes={3 + n % 3}</u01/{name}>"
        request += f", aio_buf=0x7f11a0c00000, aio_nbytes=1048576, aio_offset={n << 20}}}"
        rows.append(f"{clock:.6f} io_submit(0x7f11, 1, [{request}]) = 1 <0.000060>")
        event = f"{{data=0x{n + 1:x}, obj=0x{n + 1:x}, res=1048576, res2=0}}"
        rows.append(f"{clock + 1e-4:.6f} io_getevents(0x7f11, 1, 128, [{event}], NULL) = 1 <{took / 1e6:.6f}>")
        clock += took / 1e6 + 2e-4
    said = " ".join(_findings("\n".join(rows)).values())
    slow = "40 requests on `a.dbf` took 27.1 ms each; the other 80 took 1.80 ms each"
    assert (slow in said) is (slow_us > 2_000)
    assert ("requests on" in said) is (slow_us > 2_000)


def test_no_step_needs_a_process_that_has_ended() -> None:
    """Of a process whose end is in the log no step asks for its PID, its stacks or its files."""
    lines = "".join(f"{1700000000 + n}.000000 getpid() = 7 <0.000001>\n" for n in range(9))
    log = f"{lines}1700000009.000000 futex(0x7f01, FUTEX_WAIT, 2, NULL) = 0 <9.000000>\n1700000018.100000 "
    running = iolab.findings((log + "getpid() = 7 <0.000001>\n").encode()).get_column("next").drop_nulls()
    ended = iolab.findings((log + END).encode()).get_column("next").drop_nulls()

    assert any("PID" in step for step in running)
    assert ended.len() > 0
    assert not any("PID" in step.replace("PROGRAM", "") for step in ended)


def test_a_short_calm_run() -> None:
    """A program that ran for some milliseconds is called calm; a longer one, and one with an error, is not."""
    error = END.replace("0", "1")
    killed = "+++ killed by SIGKILL +++\n"
    for took, end, is_calm in ((2000, END, True), (900_000, END, False), (2000, error, False), (2000, killed, False)):
        log = f'1700000000.000000 read(3</a>, "", 9, 0) = 9 <0.000010>\n1700000000.{took:06} {end}'
        assert ("calm_run" in _findings(log)) == is_calm


def test_a_server_process_that_sleeps_on_its_semaphore_holds_no_lock() -> None:
    """Semaphores of a process that serves Oracle Net are waits of its session: no debugger shows their cause."""
    rows = []
    for n in range(30):
        at = f"17000000{n:02}"
        rows.append(f'{at}.000000 read(16, "\\0\\0\\0E\\6\\0\\0\\0\\0\\0\\3Na"..., 8208) = 69 <0.000400>')
        rows.append(f"{at}.100000 semtimedop(131076, [{{sem_num=44, sem_op=-1, sem_flg=0}}], 1, NULL) = 0 <0.800000>")
        rows.append(f'{at}.950000 write(16, "\\0\\0\\0\\26\\6\\0\\0\\0\\0\\0\\t\\5\\0\\0\\0a"..., 22) = 22 <0.000030>')
    said = _findings("\n".join(rows))["trace_profile"]

    assert "semtimedop" in said
    assert "V$ACTIVE_SESSION_HISTORY" in said
    assert "gdb" not in said
    assert "woke" not in said
    posts = [f"17000000{n:02}.060000 semctl(131076, 9, SETVAL, 0x1) = 0 <0.000008>" for n in range(30)]
    posted = _findings("\n".join(sorted(rows + posts)))["trace_profile"]
    assert "30 calls, 800 ms each, one for each `semctl`: it woke another process and waited for it." in posted


@pytest.mark.parametrize(
    ("call", "frames", "expected"),
    [
        (
            "semtimedop(7, [{52, -1, 0}], 1, {0, 100})",
            "ksliwat kslwaitctx kcrf_commit_force_int ktcCommitTxn",
            "all 30 in a commit (`kcrf_commit_force_int`: `log file sync`). next: see the writes of the log writer",
        ),
        (
            "semtimedop(7, [{52, -1, 0}], 1, {0, 100})",
            "ksliwat kslgetl kcrfw_redo_gen kcrf_commit_force_int",
            "all 30 in a wait for a latch (`kslgetl`). next: see which latch",
        ),
        (
            "semtimedop(7, [{52, -1, 0}], 1, {0, 100})",
            "ksliwat ksqcmi ksqgtlctx ktuGetTxForXid",
            "(`ktuGetTxForXid`: `enq: TX`). next: see who held the lock",
        ),
        (
            'pread64(3</u/a.dbf>, "", 8192, 0)',
            "kcbzib kcbgtcr kdst_fetch",
            "in a table scan (`kdst_fetch`). next: take iostat",
        ),
        ("semtimedop(7, [{52, -1, 0}], 1, {0, 100})", "ksliwat main", ""),
    ],
)
def test_what_the_stacks_below_the_calls_show_is_named(call: str, frames: str, expected: str) -> None:
    """A function of the Oracle kernel in nearly all stacks names what calls are part of; in half of them none does."""

    def log(step: int) -> str:
        text = ""
        for n in range(30):
            text += f"17000000{n:02}.000000 {call} = 8192 <0.900000>\n > /usr/lib64/libc-2.28.so(x+0xa) [0x1]\n"
            for name in frames.split() if n % step == 0 else ():
                text += f" > /u01/bin/oracle({name}+0x4d0) [0xd6dd04d]\n"
        return text

    every, half = (_findings(log(step))["trace_profile"] for step in (1, 2))

    assert expected in every
    assert ("(`k" in every) is bool(expected)
    assert "(`k" not in half


@pytest.mark.parametrize(
    ("ends", "took", "step", "is_turn", "is_latency"),
    [
        ("10.0.0.1:40000->10.0.0.2:1521", 0.011, 1, True, True),
        ("[fe80::1]:40000->[fe80::2]:1521", 0.011, 1, True, True),
        ("10.0.0.1:40000->10.0.0.2:1521", 0.0001, 1, True, False),
        ("10.0.0.1:40000->10.0.0.1:1521", 0.011, 1, True, False),
        ("10.0.0.1:40000->10.0.0.2:1521", 0.011, 3, False, False),
        ("10.0.0.2:40000->10.0.0.1:40001", 0.011, 1, False, False),
        ("10.0.0.2:8080->10.0.0.1:40000", 0.011, 1, False, False),
    ],
)
def test_requests_of_a_client_that_wait_for_their_answers(
    ends: str,
    took: float,
    step: int,
    *,
    is_turn: bool,
    is_latency: bool,
) -> None:
    """Reads one for each write are answers of the other end; even ones are consistent with the latency of a line."""
    text, at = "", 1700000000.0
    for n in range(60):
        if n % step == 0:
            text += f'{at:.6f} sendto(4<TCP:[{ends}]>, "", 1024, 0, NULL, 0) = 1024 <0.000010>\n'
        text += f'{at + 1e-4:.6f} recvfrom(4<TCP:[{ends}]>, "", 8192, 0, NULL, NULL) = 80 <{took:.6f}>\n'
        at += took + 2e-4
        took += 1e-6 if is_latency else took / 10
    said = " ".join(_findings(text).values())

    assert (", one for each `sendto`." in said) is is_turn
    assert (
        "Each request (1 KiB on average) waited for its answer; no answer came in less than 11 ms" in said
    ) is is_latency
    assert ("next: send more per request" in said) is is_latency


def test_a_table_of_calls_below_the_key_that_ended_strace() -> None:
    """`^C` before the heading of strace -c is no column, and the log is one of strace."""
    table = (
        "strace: Process 9001 attached with 212 threads\n^C% time     seconds  usecs/call     calls    errors syscall\n"
    )
    rule = "------ ----------- ----------- --------- --------- ----------------\n"
    table += rule + " 92.66   61.220411          32   1911022    402113 futex\n"
    table += "  7.34    4.847800          11    440709           read\n" + rule
    table += "100.00   66.068211          28   2351731    402113 total\n"

    assert iolab.load(table.encode()).format == "strace"
    assert "`futex` took 93 %" in _findings(table)["counted_calls"]


def test_a_trace_that_reached_its_limit() -> None:
    """The total says that the trace was cut; its step is a larger file, and other traces say nothing of it."""
    exec_ = "EXEC #1:c=0,e=9000,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,plh=1,tim={}\n"
    wait = "WAIT #1: nam='SQL*Net message from client' ela= 38000 driver id=1 #bytes=1 p3=0 obj#=-1 tim={}\n"
    log = exec_.format(19000) + wait.format(60000) + exec_.format(70000)
    cut = log + "*** DUMP FILE SIZE IS LIMITED TO 4096 BYTES ***\n"

    assert "cut at its size limit" in iolab.ledger(cut.encode()).text
    assert "max_dump_file_size" in _findings(cut)["trace_cut"]
    assert "cut" not in iolab.ledger(log.encode()).text
    assert "trace_cut" not in _findings(log)
    assert "per call" in _findings(log)["trace_gap"]
    assert "per call" not in _findings(cut)["trace_gap"]


@pytest.mark.parametrize(("step", "is_straight"), [(8192, True), (81920, False)])
def test_reads_that_go_straight_on_in_their_file(step: int, is_straight: bool) -> None:  # noqa: FBT001 - a case
    """Reads of one size, each where the one before ended, say so above the table."""
    rows = [f'{1700000000 + 0.001 * n:.6f} pread64(9, "", 8192, {step * n}) = 8192 <0.000900>' for n in range(1, 60)]
    lines = summary_text(summarize("\n".join(rows).encode()), "a.strace").splitlines()

    assert lines[2].startswith("All 59 reads returned 8 KiB each")
    assert ("all of them where the one before ended in the file" in " ".join(lines[2:4])) is is_straight


@pytest.mark.parametrize(
    ("other", "followed"),
    [
        ('read(3, "", 100) = 100 <0.000010>', 58),  # of no data
        ('pread64(8, "", 8192, 0) = 8192 <0.000900>', None),  # of another descriptor
        ('read(9, "", 8192) = 8192 <0.000900>', None),  # of an offset that is not known
    ],
)
@pytest.mark.parametrize("rows", [1, 7, 100])
def test_the_order_of_reads_is_that_of_any_batches(rows: int, other: str, followed: int | None) -> None:
    """Reads that go straight on are counted from batch to batch, as long as they are of one descriptor."""
    lines = [f'{1700000000 + 0.001 * n:.6f} pread64(9, "", 8192, {8192 * n}) = 8192 <0.000900>' for n in range(1, 60)]
    lines.insert(30, f"1700000000.030500 {other}")
    order = ReadOrder()
    for batch in read_log("\n".join(lines).encode()).requests.collect().iter_slices(rows):
        order.add(batch)

    assert order.followed == followed


def test_a_flush_for_each_write_is_said() -> None:
    """As many flushes as writes are one for each; of fewer writes nothing is said."""

    def said(writes: int) -> str:
        rows = [f'{1700000000 + n:.6f} write(3</u01/journal.dat>, "", 120) = 120 <0.000010>' for n in range(writes)]
        rows += [f"{1700000000.1 + n:.6f} fsync(3</u01/journal.dat>) = 0 <0.400000>" for n in range(40)]
        return " ".join(iolab.findings("\n".join(sorted(rows)).encode()).get_column("sentence"))

    assert "one for each write" in said(40)
    assert "one for each write" not in said(10)


@pytest.mark.parametrize("writes", [60, 20])
def test_a_server_that_waits_for_its_client_on_an_unknown_descriptor(writes: int) -> None:
    """Reads of a descriptor with as many writes to it, of a process that reads blocks, are consistent with a server."""
    rows = []
    for n in range(60):
        rows.append(f'{1700000000 + n:.6f} read(14, "abc", 8208) = 326 <0.900000>')
        rows.append(f'{1700000000 + n + 0.91:.6f} pread64(258, "", 8192, {8192 * n}) = 8192 <0.001000>')
        rows += [f'{1700000000 + n + 0.95:.6f} write(14, "abcd", 541) = 541 <0.000020>'] * (n < writes)
    said = " ".join(_findings("\n".join(rows)).values())

    assert ("consistent with a server that waits for its client" in said) is (writes == 60)


def test_requests_that_are_done_when_they_were_submitted() -> None:
    """Reaping them costs next to nothing, and that is said; a queue that is reaped slowly is asynchronous."""
    submit = "io_submit(0x7f00, 1, [{{aio_data=0x1, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=262, aio_nbytes=8192, "
    submit += "aio_offset={0}}}]) = 1 <0.0{1}>"
    reap = "io_getevents(0x7f00, 1, 128, [{{data=0x1, obj=0x1, res=8192, res2=0}}], NULL) = 1 <0.0{0}>"
    for took, waited, is_said in (("10000", "00007", True), ("10000", "09000", False)):
        lines = []
        for n in range(60):
            at = 1700000000 + n / 20
            lines += [f"{at:.6f} {submit.format(8192 * n, took)}", f"{at + 0.011:.6f} {reap.format(waited)}"]
        said = " ".join(iolab.findings("\n".join(lines).encode()).get_column("sentence"))
        assert ("so the requests were in effect synchronous" in said) == is_said


def test_the_peer_of_slow_writes_to_a_socket_is_named() -> None:
    """Where `-yy` prints both ends, the far one is said."""
    line = '{:.6f} write(14<TCP:[10.20.1.5:1521->10.44.8.19:51122]>, "..."..., 8155) = 8155 <0.035000>'
    text = "\n".join(line.format(1700000000 + n / 20) for n in range(60)).encode()
    assert "all of it with `10.44.8.19:51122`" in " ".join(iolab.findings(text).get_column("sentence"))


@pytest.mark.parametrize("form", ["{{tv_sec={}, tv_usec={}}}", "{{{}, {}}}"])
def test_time_between_calls_is_cpu_where_getrusage_says_so(form: str) -> None:
    """User time from one getrusage to the last, in both forms of strace; the kernel's may have been within calls."""
    for step, is_said in ((100_000, True), (1_000, False)):
        lines = []
        for n in range(60):
            used = form.format(7 + n * step // 1_000_000, n * step % 1_000_000)
            other = form.format(n // 10, 5)
            times = f"{{ru_utime={used}, ru_stime={other}, ...}}"
            lines += [f"{1700000000 + n / 10:.6f} getrusage(RUSAGE_SELF, {times}) = 0 <0.000006>"]
        screen = " ".join(iolab.findings("\n".join(lines).encode()).get_column("sentence"))
        assert ("it was user CPU (5.90 s by `getrusage`)" in screen) == is_said


def _writer(*, other: str = "") -> str:
    """A process that is posted, writes redo, and stalls after each 100th write: 13 % of its time."""
    post = "{:.6f} semtimedop(98305, [{{19, -1, 0}}], 1, {{3, 0}}) = 0 <0.080000>"
    write = '{:.6f} pwrite64(257</u01/redo01.log>, "", 512, 0) = 512 <{:.6f}>'
    lines, start = [], 1_700_000_000.0
    for n in range(600):
        took = 1.5 if n % 100 == 50 else 0.001
        lines += [post.format(start), *([other.format(start + 0.083)] if other else [])]
        lines += [write.format(start + 0.085, took)]
        start += 0.1 + took
    return "\n".join(lines)


def test_a_writer_that_is_posted_waits_for_work_and_its_stalls_are_said() -> None:
    """Posts before writes are idle time of LGWR; those of a process that reads are no waits for work."""
    log = _writer()
    said = _findings(log)
    read = '{:.6f} pread64(258</u01/a.dbf>, "", 8192, 0) = 8192 <0.000300>'

    assert "was idle (semtimedop)" in said["total"]
    assert said["few_long_calls"].startswith(
        "6 of 600 `pwrite64` calls took 1.50 s each on `redo01.log`, one every 11.6 s, "
    )
    assert "next: see the device of `redo01.log` then: iostat -xt 1" in said["few_long_calls"]
    assert "(p99 1 ms, the longest 1.50 s)" in said["write_latency"]
    beside = _findings(_writer(other=read))
    assert "was idle" not in beside["total"]
    assert "6 of 600 `pwrite64` calls" in beside["few_long_calls"]


def test_requests_one_at_a_time_have_their_size_whatever_data_their_ends_print() -> None:
    """Control blocks have the size, and lines the order, where the data of requests and ends are not the same."""
    submit = "1700000000.{0:06} io_submit(7, 1, [{{data=0x{0:x}, preadv, fildes=258, "
    submit += "iovec=[{{iov_base=0x7, iov_len=1048576}}], offset=0}}]) = 1 <0.000010>"
    reap = "1700000000.{:06} io_getevents(7, 1, 8, [{{data=0x7f1, obj=0x7f1, res=1048576, res2=0}}], NULL) = 1 "
    reap += "<0.040000>"
    said = _findings("\n".join(f"{submit.format(n)}\n{reap.format(n + 20)}" for n in range(41_000, 900_000, 41_000)))

    assert ", one 1,024 KiB request at a time: 26.2 MB/s" in said["trace_profile"]
    assert "21 completions in io_getevents match no request of io_submit" in said["async_or_sync"]


def test_all_files_that_were_read_alike_are_counted() -> None:
    """The sentence is of all files, not of the first that are shown."""
    line = '1.{:06} pread64({}, "", 8192, {}) = 8192 <0.000300>'
    said = _findings("\n".join(line.format(400 * n, 257 + n % 5, 8192 * n) for n in range(40)))

    assert "All 40 reads of `fd 257`, `fd 258` and 3 others were synchronous: 320 KiB." in said["async_or_sync"]
    assert "`fd 257`, `fd 258` and 3 others" in said["page_cache_bypassed"]


def test_fast_reads_that_were_counted_are_many_not_slow() -> None:
    """A sleep of a second is no CPU time; a short summary of attached processes is calm."""
    reads = _counted(40, 20, 400_000).replace("0.210000", "31.20000").replace("31.200000", " 0.310000", 1)
    slow = _counted(40, 20, 4_000).replace("0.210000", "31.20000").replace("31.200000", " 0.310000", 1)
    said = _findings(reads)["counted_calls"]

    assert "78 us each; as elapsed time (-w) that is fast, so their number counts, not the storage" in said
    sleep = "  1.00    9.000000     1000000         9           epoll_wait\n"
    waits = _findings(reads.replace("  1.00 ", sleep + "  1.00 ", 1))["counted_calls"]
    assert "78 us each: fast, so their number counts, not the storage. next" in waits
    assert "their number" not in _findings(slow)["counted_calls"]
    calm = _counted(900, 900, 900).replace("31.200000", " 0.200000").replace(" 1.940000", " 0.040000")
    found = _findings("strace: Process 9910 attached\n" + calm)
    assert found["calm_run"].startswith("Nothing stands out: 450 ms in calls of the process that strace attached to;")
    assert "runs often" in _findings(calm)["counted_calls"]
    assert "calm_run" not in _findings(calm)


def _counted(read: int, write: int, pread: int) -> str:
    """A table of strace -c -w of a process that reads files by `pread64`."""
    head = "% time     seconds  usecs/call     calls    errors syscall\n"
    rule = "------ ----------- ----------- --------- --------- ----------------\n"
    counts = (("read", 31.2, read), ("write", 1.94, write), ("pread64", 0.21, pread))
    rows = "".join(f"{1.0:6.2f} {time:11.6f} {10:11d} {count:9d} {'':9} {name}\n" for name, time, count in counts)
    return head + rule + rows + rule + f"100.00 {33.35:11.6f} {'':11} {read + write + pread:9d} {'':9} total\n"


@pytest.mark.parametrize(("counts", "is_server"), [((9000, 9000, 320), True), ((9000, 400, 320), False)])
def test_counted_reads_with_as_many_writes_are_no_reads_of_a_disk(
    counts: tuple[int, int, int], *, is_server: bool
) -> None:
    """A server process reads its files by other calls; a program whose libraries alone are read so may copy files."""
    said = _findings(_counted(*counts))["counted_calls"]

    assert ("consistent with a server that waits for its client, not for a disk; 320 `pread64`" in said) is is_server
    assert ("next: send and fetch more rows per call" in said) is is_server
    assert "consistent with a server" not in _findings(_counted(9000, 9000, 4))["counted_calls"]
    assert "not the elapsed time" in _findings(_counted(*counts))["no_total"]


@pytest.mark.parametrize(
    "file", ["TCP:[10.0.0.1:1521->10.0.0.9:51822]", "TCP:[10.0.0.1:51822->10.0.0.9:80]", "pipe:[7]"]
)
def test_a_socket_or_pipe_is_no_file_that_was_written_and_read(file: str) -> None:
    """What the client or another process took to answer is no part of the other time: no share of it, above all."""
    line = '{:.6f} {}(9<{}>, "", 21) = 21 <0.{:06}>'
    calls = [("write", 0.0, 2_000), ("read", 0.003, 40_000)]
    lines = [line.format(1_700_000_000 + n / 20 + at, call, file, us) for n in range(99) for call, at, us in calls]
    found = _findings("\n".join(lines))

    assert found
    assert "written_and_read" not in found
    assert all(float(share) <= 100 for one in found.values() for share in re.findall(r"([\d.]+) %", one))


@pytest.mark.parametrize("other", ["/u01/temp01.dbf", "/u01/sales.dbf"])
def test_a_file_that_is_written_and_read_is_one_fact(other: str) -> None:
    """Both halves of the work on a temporary file are in one sentence, and the step is its work area."""
    line = '{:.6f} {}64(3<{}>, "", 1048576, {}) = 1048576 <0.009000>'
    lines = [line.format(1_700_000_000 + n / 100, "pwrite", "/u01/temp01.dbf", n << 20) for n in range(40)]
    lines += [line.format(1_700_000_000.4 + n / 100, "pread", other, n << 20) for n in range(40)]
    found = _findings("\n".join(lines))

    assert ("written_and_read" in found) is (other == "/u01/temp01.dbf")
    if "written_and_read" in found:
        assert found["written_and_read"].startswith(
            "`temp01.dbf` took 90 % of 799 ms: 45 % to write it (40 requests, 9"
        )
        assert "next: look in V$SQL_WORKAREA" in found["written_and_read"]
    assert all("most of it" not in one for one in found.values())


@pytest.mark.parametrize(("size", "is_said"), [(8192, False), (1 << 20, True)])
def test_reads_of_single_blocks_raise_no_question_of_direct_path(size: int, *, is_said: bool) -> None:
    """Only reads of several blocks may have been read past the buffer cache."""
    log = "\n".join(
        f'{1700000000 + n}.000000 pread64(3</u01/a.dbf>, "", {size}, {n * size}) = {size} <0.100000>' for n in range(9)
    )

    assert ("buffered_or_direct_path" in _findings(log)) is is_said


def test_the_work_stands_beside_a_wait_for_work_that_was_counted() -> None:
    """What a process did is not hidden by the call in which it waits until there is something to do."""
    table = _counted(500, 20, 40).replace("read\n", "semtimedop\n", 1).replace("31.2", "11.2")
    said = _findings(table)["counted_calls"]

    assert "500 calls, 22.4 ms each, where it may be idle. `write` took 90 % of the other 2.15 s: 20 calls" in said


def test_a_wait_without_descriptors_is_no_wait_for_what_did_not_arrive() -> None:
    """A select of nothing is a sleep, as of a process that spins for a latch."""
    sleep = "{:.6f} select({}, [{}], [], [], {{tv_sec=0, tv_usec=10000}}) = 0 (Timeout) <0.010100>"
    logs = ("\n".join(sleep.format(1700000000 + n / 50, *fds) for n in range(60)) for fds in ((0, ""), (8, "7")))

    assert ["nothing arrived" in iolab.ledger(log.encode()).text for log in logs] == [False, True]


def test_the_file_of_a_long_call_is_that_which_it_names() -> None:
    """A call without a descriptor names its file in its arguments."""
    line = '{:.6f} openat(AT_FDCWD, "/u01/lib/{}", O_RDONLY) = 3 <{:.6f}>'
    lines = [line.format(1700000000 + n / 100, f"{n}.so", 0.00001) for n in range(60)]
    lines.append(line.format(1700000001, "tnsnames.ora", 6.8))

    assert "1 of 61 `openat` calls took 6.80 s on `tnsnames.ora`" in _findings("\n".join(lines))["few_long_calls"]


def test_the_share_of_a_file_is_a_figure() -> None:
    """Half of the time is not most of it where another file has the other half."""
    line = '{:.6f} pwrite64(3</u01/{}.dbf>, "", 8192, 0) = 8192 <0.009000>'
    lines = [line.format(1700000000 + n / 100, "ab"[n % 3 > 0]) for n in range(60)]

    assert "67 % of it on `b.dbf`" in _findings("\n".join(lines))["trace_profile"]


@pytest.mark.parametrize("slow_us", [60_000, 1_500])
def test_the_slow_descriptor_where_times_are_upper_bounds(slow_us: int) -> None:
    """Times from one line to the next bound the calls of each descriptor, too."""
    rows = ["     0.000000 getppid() = 1"]
    for n in range(80):
        fd, took = ((257, slow_us), (256, 2_000))[n % 2]
        rows += [f'     0.000100 pread64({fd}, "", 8192, {n}) = 8192', f"     {took / 1e6:.6f} getppid() = 1"]
    said = " ".join(_findings("\n".join(rows)).values())
    slow = "40 calls on `fd 257` took at most 60 ms each; the other 40 took at most 2 ms each"
    assert (slow in said) is (slow_us > 2_000)
    assert ("calls on `fd" in said) is (slow_us > 2_000)


@pytest.mark.parametrize(("result", "others"), [(0, "; 40 others returned nothing."), (1, "")])
def test_calls_that_reaped_nothing_are_no_waits(result: int, others: str) -> None:
    """A call that only looks for requests takes no time: the mean is that of the others."""
    rows = []
    for n in range(40):
        at = 1700000000 + n / 10
        rows.append(f"{at:.6f} io_getevents(7, 1, 128, {{}}, {{0, 0}}) = {result} <0.000004>")
        rows.append(f"{at + 0.001:.6f} io_getevents(7, 1, 128, {{...}}, {{600, 0}}) = 1 <0.094000>")
    said = _findings("\n".join(rows))["trace_profile"]
    assert (f"40 calls, 94 ms each{others}" if others else "80 calls, 47.0 ms each") in said
    assert ("others returned" in said) is bool(others)


@pytest.mark.parametrize(("folder", "is_nfs"), [("/arch_nfs/FINP", True), ("/u01/confset", False)])
def test_the_step_for_writes_names_their_folder(folder: str, is_nfs: bool) -> None:  # noqa: FBT001 - a case
    """The tool for the folder with the writes is that of its file system, as far as its name tells."""
    line = '17000000{}.000000 pwrite64(3<{}/a.arc>, "", 1048576, 0) = 1048576 <0.130000>'
    said = _findings("\n".join(line.format(n, folder) for n in range(10, 50)))["write_latency"]
    assert ("next: `nfsiostat 1` of /arch_nfs/FINP" in said) is is_nfs
    assert ("next: `iostat -xt 1` of the device of /u01/confset:" in said) is not is_nfs


@pytest.mark.parametrize("count", [1, 6])
def test_the_folder_of_several_slow_files_is_named(count: int) -> None:
    """Of several slow opens the folder says more than the slowest file: its step counts its files."""
    line = '{:.6f} open("/u01/adump/{}.aud", O_CREAT) = 7 <{:.6f}>'
    times = [(1700000000 + (2.6 + 0.41 * n if n else 0), 0.4 if n else 3) for n in range(6)]
    rows = [line.format(at, n % count, took) for n, (at, took) in enumerate(times)]
    said = " ".join(_findings("\n".join(rows)).values())
    assert ("on `*.aud` in `/u01/adump`" in said) is (count > 1)
    assert ("ls -f /u01/adump | wc -l" in said) is (count > 1)


@pytest.mark.parametrize("slow_us", [26_000, 800])
def test_the_peer_whose_answers_are_slow_is_named(slow_us: int) -> None:
    """A poll of several sockets says which was ready: the time of each path is known."""
    one, other = (f"{n}<TCP:[10.0.4{n}.12:28814->10.0.4{n}.50:2049]>" for n in (1, 2))
    rows = []
    for n in range(80):
        ready, took = ((one, 700), (other, slow_us))[n % 2]
        call = f"poll([{{fd={one}, events=POLLIN}}, {{fd={other}, events=POLLIN}}], 2, 600000)"
        result = f"1 ([{{fd={ready}, revents=POLLIN}}])"
        rows.append(f"{1700000000 + n * 0.0264:.6f} {call} = {result} <{took / 1e6:.6f}>")
    said = " ".join(_findings("\n".join(rows)).values())
    assert ("40 calls for `10.0.42.50:2049` took 97 % of it, 26 ms each; the other 40 took 700 us" in said) is (
        slow_us > 800
    )
    assert ("ping -c 20 10.0.42.50" in said) is (slow_us > 800)


@pytest.mark.parametrize("other", ["", "/u04/redo.1"])
def test_the_file_of_requests_in_memory_is_the_one_that_was_opened(other: str) -> None:
    """Requests of io_uring name no file; one that is open with O_DSYNC is said, and whether one waits for the other."""
    rows = [
        f'1700000000.00{n}000 openat(AT_FDCWD, "{path}", O_RDWR|O_DIRECT|O_DSYNC) = {5 + n} <0.000010>'
        for n, path in enumerate(filter(None, ["/u04/redo.0", other]))
    ]
    most = 2 if other else 1
    for n in range(40):
        call = f"io_uring_enter(6<anon_inode:[io_uring]>, 1, {most}, IORING_ENTER_GETEVENTS, NULL, 8) = 1"
        rows.append(f"{1700000000.1 + n / 40:.6f} {call} <0.022000>")
    said = " ".join(_findings("\n".join(rows)).values())
    assert ("40 calls, 22 ms each, one request at a time." in said) is (not other)
    assert ("The one file opened with O_DIRECT and O_SYNC or O_DSYNC is `redo.0`." in said) is (not other)
    assert ("for the device of /u04" in said) is (not other)


@pytest.mark.parametrize(
    ("files", "call", "is_writer"), [(3, "pwrite64", True), (1, "pwrite64", False), (3, "write", False)]
)
def test_the_step_of_a_writer_without_asynchronous_io(files: int, call: str, *, is_writer: bool) -> None:
    """The screen of a process that writes to several files one by one asks for the setting, not for the device."""
    text, at = "", 1700000000.0
    for n in range(90):
        for name, took in ((f'{call}({3 + n % files}</u/{n % files}.dbf>, "", 8192, 0)', 2700), ("times(NULL)", 5)):
            text += f"{at:.6f} {name} = 8192 <{took / 1e6:.6f}>\n"
            at += took / 1e6
        text += f"{at:.6f} getrusage(RUSAGE_SELF, 0x7f) = 0 <0.000005>\n{at + 1e-5:.6f} getpid() = 7 <0.000005>\n"
        at += 2e-5
    seen = summarize(text.encode())
    step = summary_text(seen, "dbw0.strace", width=100).rpartition("next: ")[2]

    assert step.startswith("if it is a database writer: see why asynchronous I/O is off") == is_writer
    assert ("iostat" in step) != is_writer
