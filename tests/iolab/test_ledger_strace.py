"""The time ledger of strace logs: what each process did, where the log tells; void where its stamps do not add up."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from ledger_checks import faults

import iolab
from logframe import LogError

if TYPE_CHECKING:
    from iolab.time_ledger import Ledger

CAPTURES = Path(__file__).parents[2] / "sample_data" / "captures"
START = 1_700_000_000


def stamped(*calls: str) -> bytes:
    """A log of -ttt: each call after its time in microseconds, and the process where it begins with one."""
    lines = []
    for call in calls:
        at, _, rest = call.partition(" ")
        pid, _, micro = at.rpartition(":")
        lines.append(f"{f'{pid} ' if pid else ''}{START + int(micro) // 10**6}.{int(micro) % 10**6:06} {rest}")
    return "\n".join(lines).encode() + b"\n"


def parts(ledger: Ledger, view: str = "what") -> dict[str, tuple[float, str]]:
    """Microseconds and kind of the parts at the top."""
    tops = ledger.parts(view).filter(pl.col("level") == 0, pl.col("seconds") != 0)
    return {row["part"]: (round(row["seconds"] * 1e6, 3), row["kind"]) for row in tops.iter_rows(named=True)}


def test_the_worked_example() -> None:
    """Asynchronous reads, every figure of the table: classes of calls, contexts apart, a last call without an end."""
    ledger = iolab.ledger(CAPTURES / "async_direct_tt_T.strace")
    rows = {row["part"]: row for row in ledger.parts().iter_rows(named=True)}
    ms = {part: round(row["seconds"] * 1e3, 3) for part, row in rows.items()}

    assert (ledger.text, round(ledger.total.value * 1e3, 3)) == ("the records span 321.094 ms", 321.094)
    assert {part: ms[f"asynchronous I/O{part}"] for part in ("", "/reap", "/contexts", "/submit")} == {
        "": 250.792,
        "/reap": 198.446,
        "/contexts": 31.386,
        "/submit": 20.960,
    }
    assert (ms["asynchronous I/O/contexts/io_setup"], ms["asynchronous I/O/contexts/io_destroy"]) == (0.133, 31.253)
    assert {part: rows[part]["count"] for part in ("asynchronous I/O", "asynchronous I/O/reap")} == {
        "asynchronous I/O": 754,
        "asynchronous I/O/reap": 452,
    }
    assert ms["between calls"] == 68.215
    small = ("other calls", "memory", "file names and attributes", "processes", "file reads")
    assert [ms[part] for part in small] == [0.895, 0.5, 0.291, 0.201, 0.042]
    last = rows["exit_group, its end is not printed"]
    assert (last["kind"], last["seconds_lo"], round(last["seconds_hi"] * 1e3, 3)) == ("not_accounted", 0, 0.158)
    assert round(100 * rows["asynchronous I/O"]["share"], 1) == 78.1
    assert faults(ledger) == []


def test_stamps_alone_give_upper_bounds() -> None:
    """From -r each call has at most the time to the next line; the parts are the total, and none of them is certain."""
    ledger = iolab.ledger(CAPTURES / "async_direct_r.strace")
    tops = ledger.parts().filter(level=0)

    assert ledger.text.startswith("the records span 511.457 ms. Without durations of calls (-T)")
    assert tops.row(0, named=True)["part"] == "asynchronous I/O"
    assert round(tops.item(0, "seconds") * 1e3, 3) == 478.303
    assert tops.get_column("own_lo").to_list() == [0] * tops.height
    assert tops.get_column("seconds").sum() == pytest.approx(0.511457, abs=1e-9)


@pytest.mark.parametrize("is_kept", [True, False])
@pytest.mark.parametrize("seed", range(12))
def test_random_logs_with_a_known_account(seed: int, monkeypatch: pytest.MonkeyPatch, *, is_kept: bool) -> None:
    """Processes make calls of known lengths with known times between them, signals and untimed calls; all add up."""
    if not is_kept:
        monkeypatch.setattr("straceparse.log.KEPT_BYTES", -1)
    log, expected = _random_log(random.Random(seed))  # noqa: S311 - reproducible lines, no secret
    found = {one.scope: one for one in iolab.ledgers(log)}

    for pid, known in expected.items():
        ledger = found[f"process {pid}"]
        assert {part: value for part, (value, _) in parts(ledger).items()} == pytest.approx(dict(known), abs=0.01)
        assert ledger.total.value * 1e6 == pytest.approx(known.total(), abs=0.01)
        assert faults(ledger) == []


CALLS = {
    'pread64(3</u01/a.dbf>, "", 8192, 0) = 8192': "file reads",
    'read(3</u01/a.dbf>, "", 8192) = 0': "file reads",
    'read(5<pipe:[7]>, "x", 512) = 512': "pipes",
    'read(6</proc/7/stat>, "x", 512) = 512': "/proc, /sys and files in memory",
    'write(3</u01/a.dbf>, "", 512) = 512': "file writes",
    "fdatasync(3</u01/a.dbf>) = 0": "file flushes",
    'recvfrom(4<TCP:[1.2.3.4:1521->1.2.3.5:9]>, "x", 99, 0, NULL, NULL) = -1 EAGAIN (x)': "sockets",
    "epoll_wait(9<anon_inode:[eventpoll]>, [], 9, 9) = 0": "waits for descriptors",
    "futex(0x7f, FUTEX_WAIT, 1, NULL) = 0": "locks and messages",
    "nanosleep({tv_sec=0, tv_nsec=1}, NULL) = 0": "sleep",
    "poll(NULL, 0, 10) = 0 (Timeout)": "sleep",
    "wait4(-1, NULL, 0, NULL) = 8": "child processes",
    "getrusage(RUSAGE_SELF, {}) = 0": "other calls",
}


def _random_log(chance: random.Random) -> tuple[bytes, dict[int, Counter[str]]]:
    lines: list[tuple[int, int, str]] = []
    expected: dict[int, Counter[str]] = {}
    for pid in chance.sample(range(100, 999), chance.randint(2, 4)):
        at = chance.randint(0, 10**5)
        known = expected[pid] = Counter()
        for _ in range(chance.randint(5, 60)):
            call, name = chance.choice([*CALLS.items()])
            spent, rest = chance.randint(1, 40_000), chance.randint(1, 9_000)
            if chance.random() < 0.1:
                lines += [(at, pid, "--- SIGALRM {si_signo=SIGALRM} ---")]
                known["after a signal or stop"] += rest
                at += rest
            if chance.random() < 0.2 and spent > 3:  # the call is split by another process's line
                begin = call[: call.index(",")] if "," in call else call[: call.index(")")]
                lines += [(at, pid, f"{begin} <unfinished ...>")]
                end = call[call.index(") = ") :]
                end = f"<... {call[: call.index('(')]} resumed>{call[len(begin) : call.index(') = ')]}{end}"
                lines += [(at + spent, pid, f"{end} <{spent / 1e6:.6f}>")]
            else:
                lines += [(at, pid, f"{call} <{spent / 1e6:.6f}>")]
            known[name] += spent
            known["between calls"] += rest
            at += spent + rest
        lines += [(at, pid, "exit_group(0) = ?"), (at + 50, pid, "+++ exited with 0 +++")]
        known["exit_group, its end is not printed"] += 50
    lines.sort(key=lambda line: line[0])
    return stamped(*(f"{pid}:{at} {text}" for at, pid, text in lines)), expected


def test_what_a_descriptor_is_of_decides() -> None:
    """Without -y the calls that made a descriptor tell it, also after a fork; else what the call can be of at all."""
    ledger = iolab.ledger(
        stamped(
            "7:0 socket(AF_INET, SOCK_STREAM, 0) = 3 <0.000001>",
            "7:10 pipe2([4, 5], O_CLOEXEC) = 0 <0.000001>",
            '7:20 openat(AT_FDCWD, "/u01/a.dbf", O_RDONLY) = 6 <0.000001>',
            "7:25 dup(3) = 9 <0.000001>",
            "7:30 clone(child_stack=NULL, flags=SIGCHLD) = 8 <0.000001>",
            '8:40 read(9, "x", 8192) = 8192 <0.000100>',
            '8:200 read(4, "x", 8192) = 8192 <0.000200>',
            '8:500 read(6, "x", 8192) = 8192 <0.000300>',
            '8:900 pread64(77, "x", 8192, 0) = 8192 <0.000400>',
            '8:1400 read(78, "x", 8192) = 8192 <0.000500>',
            '8:2000 read(0, "x", 8192) = 8192 <0.000600>',
            "8:2700 getpid() = 8 <0.000001>",
            "7:2800 getpid() = 7 <0.000001>",
        ),
        "process 8",
    )
    assert {name: value for name, value in parts(ledger).items() if name != "between calls"} == {
        "sockets": (100, "wait"),
        "pipes": (200, "wait"),
        "file reads": (700, "io"),
        "reads and writes, file not known": (500, "mixed"),
        "standard input and output": (600, "mixed"),
        "other calls": (1, "mixed"),
    }
    where = parts(ledger, "where")
    assert (where["socket:[fd 3]"], where["/u01/a.dbf"], where["descriptor 77"]) == (
        (100, "wait"),
        (300, "io"),
        (400, "io"),
    )


def test_packets_of_a_client_are_recognised() -> None:
    """Reads of an unknown descriptor that begin with their own length wait for a client of the database."""
    packet = r'read(17, "\0\25\0\0\6\0\0\0\0\0\3N\0\0\0\0\0\0\0\0\0", 8208) = 21 <%s>'
    long_ = r'read(17, "\0\0\0\25\6\0\0\0\0\0\3N\0\0\0\0\0\0\0\0\0", 8208) = 21 <%s>'
    text = 'read(17, "total 16 files", 8208) = 14 <%s>'
    tail = "300000 getpid() = 9 <0.000001>"

    client = iolab.ledger(stamped(f"0 {packet % '0.100000'}", f"150000 {long_ % '0.100000'}", tail))
    other = iolab.ledger(stamped(f"0 {text % '0.100000'}", f"150000 {packet % '0.100000'}", tail))

    assert parts(client)["likely the client (Oracle Net)"] == (200_000, "client")
    assert parts(other)["reads and writes, file not known"] == (200_000, "mixed")
    assert client.work_base == "the non-idle time"


def test_idle_is_apart_from_work() -> None:
    """Sleeping is left out of what shares are of; a process that only slept has none."""
    lines = ("0 nanosleep({tv_sec=1}, NULL) = 0 <0.600000>", '600000 read(3</u01/a>, "", 9) = 9 <0.300000>')
    ledger = iolab.ledger(stamped(*lines, "1000000 getpid() = 9 <0.000001>"))
    asleep = iolab.ledger(stamped("0 pause() = ? ERESTARTNOHAND (x) <9.999000>", "9999500 getpid() = 9 <0.000001>"))

    reads = ledger.parts().filter(part="file reads").row(0, named=True)
    assert (reads["share"], ledger.work_base) == (pytest.approx(0.75, abs=1e-4), "the non-idle time")
    assert ledger.text == "the records span 1.000 s; 60.0 % of this time was idle (nanosleep)"
    assert asleep.unshared.startswith("almost nothing ran")


def test_calls_without_a_time_in_a_log_that_times_others() -> None:
    """Without -T a split call has its stamps, the others at most the time to the next line: a part of its own."""
    ledger = iolab.ledger(
        stamped(
            "7:0 poll([{fd=3}], 1, 99) = 1",
            "7:800 read(3</u01/a>,  <unfinished ...>",
            "8:850 getpid() = 8",
            '7:900 <... read resumed>"", 9) = 9',
            "7:1000 getpid() = 7",
        )
    )
    assert ledger.scope == "process 7"
    assert parts(ledger) == {
        "calls without a time, and what followed": (800, "mixed"),
        "file reads": (100, "io"),
        "between calls": (100, "gap"),
    }
    poll = ledger.frame.filter(name="poll").row(0, named=True)
    assert (poll["own_lo"], poll["own_hi"]) == (0, pytest.approx(800e-6))


def test_the_process_that_matters_leads() -> None:
    """The longest; of several as long that with most work.  Another one with much I/O is named, and has its ledger."""
    parent = ("7:0 wait4(-1, NULL, 0, NULL) = 8 <0.990000>", "7:999000 getpid() = 7 <0.000001>")
    child = "8:%d fsync(3</u01/a>) = 0 <0.800000>", "8:%d getpid() = 8 <0.000001>"
    twin = iolab.load(stamped(*sorted((*parent, child[0] % 10_000, child[1] % 990_000), key=_at)))
    brief = "8:10000 fsync(3</u01/a>) = 0 <0.400000>"
    short = iolab.load(stamped(*sorted((*parent, brief, child[1] % 420_000), key=_at)))

    assert iolab.ledger(twin).scope == "process 8"
    assert iolab.ledger(short).scope == "process 7"
    said = iolab.findings(short).filter(name="calls_of_all")["sentence"].item()
    assert said == "`fsync` took 400 ms in process 8: 1 call of 400 ms, all of it on `a`."
    clock = iolab.ledgers(short)[-1]
    assert (clock.scope, parts(clock, "when")) == (
        "log",
        {"2 processes": (410_001, "mixed"), "1 process": (589_000, "mixed")},
    )


def _at(line: str) -> int:
    return int(line.partition(" ")[0].partition(":")[2])


def test_children_are_below_their_parents() -> None:
    """In the ledger of the wall clock the tree of processes closes at every level, also where a child lives longer."""
    log = stamped(
        '7:0 execve("/bin/sh", ["sh"], 0x7f /* 1 vars */) = 0 <0.000100>',
        "7:500 clone(child_stack=NULL, flags=SIGCHLD) = 8 <0.000100>",
        "8:1000 getpid() = 8 <0.000100>",
        "7:2000 getpid() = 7 <0.000100>",
        "8:9000 getpid() = 8 <0.000100>",
    )
    clock = iolab.ledgers(log)[-1]
    rows = clock.parts("who").select("name", "level", (pl.col("seconds") * 1e6).round()).rows()

    assert rows == [
        ("process 7 (sh)", 0, 2100),
        ("process 8 (sh)", 1, 8100),
        ("counted twice", 1, -6000),
        ("not accounted for", 0, 7000),
    ]
    assert faults(clock) == []


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        pytest.param(b"11:40:21 getpid() = 1 <0.000010>\n11:40:22 getpid() = 1 <0.000010>\n", "whole seconds", id="-t"),
        pytest.param(stamped("900 getpid() = 1 <0.000010>", "100 getpid() = 1 <0.000010>"), "set back", id="clock"),
        pytest.param(
            stamped("900 getpid() = 1 <0.000010>", "950 exit(0) = ?", "100 +++ exited with 0 +++"), "set back", id="end"
        ),
        pytest.param(
            stamped("0 pause() = 1 <9.000000>", "99 pause() = 1 <9.000000>"), "add up to more than", id="damaged"
        ),
        pytest.param(stamped("0 getpid() = 1"), "all timestamps are the same", id="one call"),
    ],
)
def test_stamps_that_do_not_add_up_make_no_total(log: bytes, reason: str) -> None:
    """The reason is the first that is said, and there are no parts."""
    ledger = iolab.ledger(log)

    assert (ledger.total, ledger.frame.height) == (None, 0)
    assert reason in ledger.void
    assert reason in iolab.findings(iolab.load(log)).item(0, "sentence")


def test_a_table_of_counts_has_no_span(tmp_path: Path) -> None:
    """Neither has a set of -ff -r, whose files share one clock; a log without stamps states no times at all."""
    row = "100.00    0.000400          10        40           pread64\n"
    rule = "------ ----------- ----------- --------- --------- ----------------\n"
    table = f"% time     seconds  usecs/call     calls    errors syscall\n{rule}{row}{rule}" + row.replace(
        "pread64", "total"
    )
    for pid in (71, 72):
        (tmp_path / f"t.{pid}").write_text('     0.000123 pread64(3, "", 8192, 0) = 8192 <0.000004>\n' * 3)

    assert (
        iolab.ledger(table.encode()).void
        == "strace -c counts CPU time in calls (-w: their duration), not the elapsed time"
    )
    assert "-ff -r" in iolab.ledgers(iolab.load(sorted(tmp_path.glob("t.*"))))[0].void
    with pytest.raises(LogError, match="states no times"):
        iolab.ledger(b'pread64(3, "", 8192, 0) = 8192 <0.000004>\n')


def test_times_of_whole_seconds_have_no_shares() -> None:
    """Where each of many times may be a second longer no share is worth saying; the seconds stand."""
    calls = [f'{n * 100_000} read(3</u01/a>, "", 9) = 9 <0>' for n in range(30)]
    ledger = iolab.ledger(stamped(*calls))

    assert "too coarsely" in ledger.unshared
    assert ledger.parts().get_column("share").null_count() == ledger.parts().height


def test_reads_of_sockets_and_failed_reads_are_no_reads_of_data() -> None:
    """A message of 8 KiB is no block; a read that had to wait, or of a closed descriptor, read nothing."""
    log = stamped(
        '0 openat(AT_FDCWD, "/u01/a.dbf", O_RDONLY) = 3</u01/a.dbf> <0.000010>',
        '100 read(4<TCP:[1.2.3.4:1521->1.2.3.5:9]>, "", 8192) = 8192 <0.000010>',
        '200 read(3</u01/a.dbf>, "", 8192) = 8192 <0.000300>',
        "600 read(5<pipe:[7]>, 0x7f, 512) = -1 EAGAIN (Resource temporarily unavailable) <0.000010>",
        "700 pread64(99, 0x7f, 512, 0) = -1 EBADF (Bad file descriptor) <0.000010>",
    )
    said = dict(iolab.findings(iolab.load(log)).select("name", "sentence").iter_rows())

    assert said["async_or_sync"] == "The only read of `a.dbf` was synchronous: 8 KiB."
    assert said["read_size"] == "1 file read returned 8 KiB."


@pytest.mark.corpus
def test_processes_of_real_logs_close(corpus: Path, capsys: pytest.CaptureFixture[str], *, is_whole: bool) -> None:
    """Without -r all processes close within 0.1 %; the sum of -r runs short of -T, within 2.5 %."""
    rests: dict[str, Counter[str]] = {"stamps": Counter(), "-r -T": Counter()}
    paths = [path for path in sorted((corpus / "strace").rglob("*.strace")) if path.is_file()]
    for path in paths if is_whole else paths[::4]:
        log = iolab.load(path)
        if log.format != "strace":
            continue
        dialect = log.dialect
        kind = "-r -T" if dialect.relative_ts != "none" and dialect.has_elapsed else "stamps"
        for one in iolab.ledgers(log):
            assert faults(one) == [], (path.name, one.scope)
            if one.void or one.scope == "log":
                continue
            closing = pl.col("name").is_in(["not accounted for", "counted twice"]) & pl.col("parent").is_null()
            rest = one.frame.filter(closing, pl.col("view") == "what").get_column("seconds").abs().sum()
            share = rest / one.total.value
            rests[kind][
                next(name for most, name in ((1e-3, "0.1 %"), (0.028, "2.8 %"), (9, "more")) if share <= most)
            ] += 1
    with capsys.disabled():
        print("", *(f"{kind}: {dict(counts)}" for kind, counts in rests.items()), sep="\n")  # noqa: T201

    assert set(rests["stamps"]) == {"0.1 %"}
    assert rests["-r -T"]["more"] == 0


def test_records_after_the_end_are_of_another_process() -> None:
    """Two logs read as one have no total, whatever their clock; the times of their calls hold."""
    one = "{}.000000 fsync(3</u01/a>) = 0 <0.300000>\n{}.400000 exit_group(0) = ?\n{}.400100 +++ exited with 0 +++\n"
    first, later = (one.replace("{}", str(1_700_000_000 + second)) for second in (0, 60))

    assert not iolab.ledger(iolab.load(first.encode())).void
    both = iolab.load((first + later).encode())
    assert iolab.ledger(both).void == "the clock was set back, or several logs were read as one"
    assert "`fsync` took 600 ms: 2 calls, 300 ms each, all of it on `a`." in iolab.findings(both)["sentence"].to_list()


def test_times_of_calls_hold_without_a_total() -> None:
    """Of -t -T there is no total, but the longest calls are said; sleep is where it is most of the time."""
    log = (
        b"10:00:00 fsync(3) = 0 <0.250000>\n10:00:00 nanosleep({1}) = 0 <1.000000>\n10:00:01 fsync(3) = 0 <0.250000>\n"
    )
    found = iolab.findings(iolab.load(log)).filter(name="calls_without_total")
    busy = iolab.findings(iolab.load(log.replace(b"<1.0", b"<0.4"))).filter(name="calls_without_total")
    assert busy["sentence"].to_list() == ["`fsync` took 500 ms: 2 calls, 250 ms each."]
    assert found["sentence"].to_list() == ["The process was idle in `nanosleep` for 1 s: 1 call.", *busy["sentence"]]
    assert found["impact"].to_list() == [None, None]


def test_calls_that_fail_are_counted() -> None:
    """A call that mostly fails is said to."""
    line = '17000000{:02}.000000 stat("/a", 0x7f) = {} <0.900000>\n'
    log = "".join(line.format(n, 0 if n % 4 == 0 else "-1 ENOENT (No such file or directory)") for n in range(8))
    said = iolab.findings(iolab.load(log.encode()))["sentence"].to_list()
    assert [one for one in said if one.endswith("8 calls, 900 ms each, 6 of which failed, all of it on `a`.")]


def test_few_traced_calls_ask_for_all() -> None:
    """Time between the calls of -e is no CPU time: the next log is one of all calls."""
    log = "".join(f'17000000{n:02}.000000 pread64(3, "", 8192, 0) = 8192 <0.100000>\n' for n in range(8))
    (found,) = iolab.findings(iolab.load(log.encode())).filter(part="between calls").to_dicts()
    assert found["next"].startswith("see all calls of it, without -e")


def test_a_process_that_did_nothing_says_so() -> None:
    """A parent that only waits has no shares; its sentence names the process that worked most, though briefly."""
    log = "7 1700000000.000000 wait4(-1, NULL, 0, NULL) = 8 <2.000000>\n"
    log += "8 1700000000.100000 fsync(3</u01/a>) = 0 <0.300000>\n8 1700000000.500000 fsync(3</u01/a>) = 0 <0.200000>\n"
    log += "7 1700000002.000000 exit_group(0) = ?\n"
    (found,) = iolab.findings(iolab.load(log.encode())).filter(name="no_shares").to_dicts()
    assert found["sentence"].startswith("In process 7, almost nothing ran:")
    assert found["next"] == "see process 8 alone: grep '^8 ' LOG | iolab show -"


def test_calls_and_gaps_beyond_the_span_make_no_total() -> None:
    """A process cannot be in a call and between calls at once: one file of `-ff -r` has stamps of all processes."""
    lines = "".join("     0.000100 gettid() = 7 <0.000060>\n" for _ in range(50))
    [one] = iolab.ledgers(iolab.load(lines.encode()))
    late = lines.replace("     0.000100", "     0.000050")
    [void] = iolab.ledgers(iolab.load((lines + late + late).encode()))

    assert one.total is not None
    assert void.total is None
    assert "add up to more than the span" in void.void


def test_a_pipeline_is_led_by_the_process_that_works() -> None:
    """Of three processes of one length the one that computes leads, not those that wait for a pipe or a child."""
    calls = ["1:0 wait4(-1, NULL, 0, NULL) = 4 <0.999000>"]
    calls += ['2:100 write(1<pipe:[7]>, "", 9) = 9 <0.990000>', "2:995000 close(1<pipe:[7]>) = 0 <0.000010>"]
    calls += ['3:150 read(0<pipe:[7]>, "", 9) = 9 <0.000010>', '3:996000 write(1<pipe:[8]>, "", 9) = 9 <0.000010>']
    calls += ['4:200 read(0<pipe:[8]>, "", 9) = 9 <0.995900>', "4:997000 close(0<pipe:[8]>) = 0 <0.000010>"]
    calls += ["1:999500 close(5) = 0 <0.000010>"]
    calls.sort(key=lambda one: int(one.split()[0].split(":")[1]))
    lead = iolab.ledgers(iolab.load(stamped(*calls)))[0]

    assert lead.scope == "process 3"
    assert "the busiest of 4 processes" in lead.text


def test_a_shell_that_waits_gives_way_to_the_child_that_works() -> None:
    """A child with most of the time of a parent that only waits for it leads, though it lived less long."""
    calls = ["1:0 wait4(-1, NULL, 0, NULL) = 2 <0.999000>", "2:200000 fsync(3</u01/a>) = 0 <0.700000>"]
    calls += ["2:900000 close(3</u01/a>) = 0 <0.000010>", "1:999500 close(5) = 0 <0.000010>"]

    assert iolab.ledgers(iolab.load(stamped(*calls)))[0].scope == "process 2"


def test_one_read_of_data_beside_those_of_libraries() -> None:
    """The loader's reads are no reads of data: a sentence about all reads says that it is of these alone."""
    log = stamped(
        '0 openat(AT_FDCWD, "/lib64/libc.so.6", O_RDONLY) = 3</usr/lib64/libc.so.6> <0.000010>',
        '100 read(3</usr/lib64/libc.so.6>, "", 832) = 832 <0.000010>',
        '200 read(4</etc/locale.alias>, "", 4096) = 2996 <0.000300>',
    )
    said = dict(iolab.findings(iolab.load(log)).select("name", "sentence").iter_rows())

    assert said["read_size"] == "1 file read returned 2.93 KiB."


def test_where_nobody_works_the_one_that_waits_for_a_lock_leads() -> None:
    """A parent, a child that sleeps and one that waits for the lock that it holds: the wait is what to look at."""
    calls = ["1:0 wait4(-1, NULL, 0, NULL) = 3 <0.999000>", "2:1000 nanosleep({1}, NULL) = 0 <0.900000>"]
    calls += ["3:2000 flock(3</u01/lock>, LOCK_EX) = 0 <0.950000>", "2:950000 close(3) = 0 <0.000010>"]
    calls += ["3:998000 close(3) = 0 <0.000010>", "1:999500 close(5) = 0 <0.000010>"]
    calls.sort(key=lambda one: int(one.split()[0].split(":")[1]))

    assert iolab.ledgers(iolab.load(stamped(*calls)))[0].scope == "process 3"


def test_the_process_that_did_the_io_leads_not_the_one_that_started_it() -> None:
    """A program that leaves its I/O to a child computes, or waits in ways of its own: the child has the account."""
    log = "7 1700000000.000000 clone(child_stack=NULL, flags=SIGCHLD) = 8 <0.001000>\n"
    log += '8 1700000001.000000 pread64(3</u01/a>, "", 8192, 0) = 8192 <0.800000>\n'
    log += "8 1700000002.000000 exit_group(0) = ?\n7 1700000009.000000 exit_group(0) = ?\n"
    assert iolab.ledger(iolab.load(log.encode())).scope == "process 8"
    assert iolab.ledger(iolab.load(log.replace("pread64(3</u01/a>", "recvfrom(3").encode())).scope == "process 7"


def test_a_long_close_names_the_file_and_what_was_written_to_it() -> None:
    """A client of NFS sends what was written when the file is closed: that call has the time of the writes."""
    log = '1700000000.000000 open("/nas/b.dbf", O_WRONLY|O_CREAT) = 4 <0.000100>\n'
    log += "".join(f'170000000{n}.000000 write(4, ""..., 65536) = 65536 <0.000050>\n' for n in range(1, 5))
    log += "1700000005.000000 close(5) = 0 <0.000100>\n1700000006.000000 close(4) = 0 <50.000000>\n"
    said = iolab.findings(iolab.load(log.encode()))["sentence"].to_list()
    assert any("the longest 50 s, after 256 KiB were written to `/nas/b.dbf`" in one for one in said)
    assert not any(
        ", after" in one for one in iolab.findings(iolab.load(log.replace("close(4)", "close(6)").encode()))["sentence"]
    )
