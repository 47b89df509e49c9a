"""Where the time of a traced process passed: what each large part of its time ledger is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.metrics.formatting import size_text
from iolab.metrics.table import nanoseconds
from iolab.metrics.trace_facts import COMMAND, ENTROPY, RARE, SHORT_S, short_name, submits_in_name_only, trace_of
from iolab.metrics.trace_named import folder_of
from iolab.metrics.trace_reads import NOT_KNOWN, file_or_fd
from iolab.metrics.trace_times import STALL, times_of
from iolab.rules.finding import CALM, LEAST_WAITS, MAJOR, Evidence, Finding
from iolab.rules.phrases import capital, counted, every, named_list, often_each, percent, seconds, three
from iolab.rules.registry import rule
from iolab.rules.time_parts import NEARLY_ALL, PART, named_parts
from iolab.rules.trace_calls import (
    CLOCK,
    MORE_ENTROPY,
    NOT_SUBMITTED,
    SERVES,
    STACKS,
    UNKNOWN_END,
    WRITER,
    all_ended,
    alone,
    flushed_at_close,
    in_turn,
    is_calm,
    is_own,
    is_pair,
    is_synchronous,
    is_writer,
    process_ledger,
    silent_peer,
)
from iolab.rules.trace_stacks import below_stacks
from iolab.time_ledger.next_steps import CLIENT_WORK, MORE_ROWS
from iolab.time_ledger.run import ledgers
from iolab.time_ledger.strace import (
    AFTER,
    BETWEEN,
    CAUSES,
    MANY_TRIPS,
    PAIRS,
    REAP,
    ROUND_TRIPS,
    SUBMIT,
    UNTIMED,
    program_of,
)
from logframe.interval import Interval
from straceparse.call_classes import ASYNCHRONOUS, FILE_LOCKS, POSTS, READY, TARGETED_CALLS, with_classes
from straceparse.call_table import HIDDEN, REAPS, SUBMITS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from iolab.time_ledger.account import Ledger
    from straceparse import StraceLog

#: A file with this much of a class's time is named.
_MOST_OF_IT: Final = 0.5
#: A mean over calls of which few hold this much of the time would mislead.
_NEARLY_ALL: Final = 0.9
#: Calls on a file that take this much longer than those on others have a mean of their own.
_MUCH_SLOWER: Final = 2.0
#: This many calls are named where there is no total.
_MOST_SUMS: Final = 2
IOSTAT: Final = "take iostat -xt 1 (of NFS: nfsiostat 1) beside the next log, for the devices of the files"
_OTHER_END: Final = f"take a log of the process at the other end: {COMMAND}"
_KERNEL: Final = "see what the kernel does in it: perf record -g -p PID; where it waits: cat /proc/PID/stack"
_CPU: Final = "perf record -g -p PID, for the CPU; /proc/PID/schedstat, for the run queue"
_HOLDER: Final = "see who holds the lock: cat /proc/locks; lsof {}"
_ADDRESS: Final = "see whether the address answers: nc -vz HOST PORT; what drops the packets: tcpdump host HOST"
_SILENT: Final = "see whether {host} gets the packets and answers: tcpdump -n host {host} and port {port}"
_SESSION: Final = "see what its session waited for: V$ACTIVE_SESSION_HISTORY, or an extended SQL trace (event 10046)"
_WHILE_IT_WORKS: Final = f"take a log of the process while it works: {COMMAND}"
_FOLDER: Final = "see how many files it holds, and what serves it: ls -f {0} | wc -l; df -T {0}"
_FILE_SYSTEM: Final = "see what serves the files: df -T FILE; if NFS, nfsiostat 5; else iostat -xt 5"
#: Steps that need the program to run again; of a short run the first question is another.
_NEXT_LOGS: Final = (IOSTAT, _OTHER_END, _KERNEL, COMMAND)
#: A program whose whole run is shorter is calm: to start it took a part of that.
_RUN_S: Final = 0.01
#: Shorter calls have no stack worth a look.
_SHORT_S: Final = 1e-3
#: Classes of waits that say what others waited for, where no process did anything else.
_WAITS_OF_OTHERS: Final = ("sockets", "sleep", "the database server", FILE_LOCKS)
_NETWORK: Final = "measure the network alone: tnsping, ping"
_FEWER_TRIPS: Final = f"send more per request (arraysize, array binds); {_NETWORK}"
_PATHS: Final = "compare the paths to the peers: ss -ti (rtt, retrans), ip -s link, and ping -c 20 {}"
_WAITS: Final = "see what it waits for: EVENT and BLOCKING_SESSION of V$SESSION"
#: Class of calls -> what to look at where they timed out.
_NOT_WOKEN: Final = {
    READY: "see which peer was silent, unless the process was idle: ls -l /proc/PID/fd; lsof -p PID",
    "locks and messages": f"{_WAITS}, for Oracle; else {STACKS.removeprefix('see ')}",
}
_SERVER: Final = "the database server"
_UNKNOWN: Final = "reads and writes, file not known"
_DEVICES: Final = "character devices"
#: Classes beside those of I/O whose calls are of a file, a peer or a descriptor to be named.
_NAMED: Final = (FILE_LOCKS, "sockets", _UNKNOWN, _DEVICES)
_TRIPS: Final = f"Round trips to {_SERVER}"
#: Fewer bytes than the smallest session data unit (SDU) of Oracle Net leave room for more rows.
_FULL_PACKET: Final = 8192
#: Class of calls -> what the process did meanwhile, and what to look at next.
_MEANING: Final = {
    **dict.fromkeys(("file reads", "file writes"), ("", IOSTAT)),
    "file flushes": ("a flush waits until the data are on the device", IOSTAT),
    "sockets": ("the process waited for the other end of a socket, not for a disk", _OTHER_END),
    "pipes": ("the process waited for the other end of a pipe, not for a disk", _OTHER_END),
    "terminal": ("the process waited for a terminal, not for a disk", ""),
    _DEVICES: ("", UNKNOWN_END),
    "event descriptors": ("the process waited for an event of another thread or a timer", _OTHER_END),
    READY: ("the process waited until a socket, pipe or timer was ready", _OTHER_END),
    "locks and messages": ("a thread waited until another thread or process woke it", STACKS),
    "restarted waits": ("a wait went on after a signal or an attach interrupted it; the log does not say which", ""),
    "sleep": ("the process slept", "see what it looks at between the sleeps: iolab show --tables"),
    "child processes": ("the process waited for its children", "see the ledger of a child: iolab.ledgers(log)"),
    "the client": ("the process waited for the client at the other end of its sockets", ""),
    "likely the client (Oracle Net)": (
        "what was read begins like packets of Oracle Net, so the process waited for its client",
        "take an extended SQL trace (event 10046) of the session",
    ),
    ASYNCHRONOUS: ("requests overlap, so their times add up to more", IOSTAT),
    "file names and attributes": ("", _FILE_SYSTEM),
    "standard input and output": ("the process may have waited for the other end of a pipe", UNKNOWN_END),
    _UNKNOWN: ("", UNKNOWN_END),
    FILE_LOCKS: ("another process held the lock", _HOLDER),
    "reads of the clock": ("strace sees those that the vDSO does not answer", CLOCK),
    "the database server": (
        "what was written begins like calls of Oracle Net, so the process waited for its database server",
        _SESSION,
    ),
}
#: Classes that only a server process of the database has.
_CLIENTS: Final = ("likely the client (Oracle Net)", "the client")
#: Words for the target of a call in a sentence, where its name does not tell it.
_OF: Final = {
    "sockets": "on sockets",
    "pipes": "on pipes",
    "terminal": "on a terminal",
    "event descriptors": "on event descriptors",
    "standard input and output": "on standard input or output",
    "the client": "for the client",
    "likely the client (Oracle Net)": "likely on the client's connection",
    _UNKNOWN: "(file not known)",
    FILE_LOCKS: "for locks of files",
    "sleep": "(sleep)",
    "the database server": "from the database server",
    "/proc, /sys and files in memory": "on /proc, /sys or files in memory",
}
#: Classes and steps as the subject of a sentence, where their name in the table is not one.
_SUBJECTS: Final = {
    **dict.fromkeys(("sockets", "pipes", "event descriptors", "character devices"), "calls on {}"),
    "terminal": "calls on a terminal",
    "standard input and output": "calls on {}",
    "/proc, /sys and files in memory": "calls on {}",
    **dict.fromkeys(("the client", "child processes"), "waits for {}"),
    "likely the client (Oracle Net)": "waits that are likely for the client (Oracle Net)",
    _UNKNOWN: "reads and writes of unknown files",
    **dict.fromkeys(("file names and attributes", "locks and messages"), "calls for {}"),
    "allocation and hints": "calls for file {}",
    "memory": "memory-management calls",
    "processes": "process-management calls",
    "sleep": "sleeping",
    "reap": "waiting for completions",
    "submit": "submitting requests",
    "contexts": "contexts of asynchronous I/O",
}


@rule(
    "trace_profile",
    "time_profile",
    "total",
    "no_shares",
    "calls_without_total",
    CALM,
    of="strace",
    needs="timestamps of calls (-ttt), and times of calls (-T) for more than upper bounds",
    thresholds={"10 % of the time": "LEDGER.md section 9: every part of 10 % is a finding"},
)
def trace_profile(log: StraceLog) -> Iterator[Finding]:
    """Where the time of the process with the longest span passed; refused where the log has no times.

    Examples:
        >>> import iolab
        >>> log = b'''1700000000.000000 pread64(3</u01/a.dbf>, "", 8192, 0) = 8192 <0.000400>
        ... 1700000000.000500 recvfrom(4<TCP:[1.2.3.4:1521->1.2.3.5:99]>, "", 8192, 0, NULL, NULL) = 8 <0.000500>
        ... 1700000000.001000 close(3</u01/a.dbf>) = 0 <0.000010>'''
        >>> for one in trace_profile(iolab.load(log)): print(one.sentence)
        The records span 1.010 ms.
        `recvfrom` on sockets took 50 % of 1.01 ms: 1 call of 500 us, all of it with `1.2.3.5:99`.
        `pread64` took 40 % of 1.01 ms: 1 call of 400 us, all of it on `a.dbf`.
        >>> for one in trace_profile(iolab.load(b'pread64(3, "", 8192, 0) = 8192')): print(one.sentence)
        The log does not show where time passed: it has no timestamps (-ttt).
    """
    if trace_of(log).calls.is_empty():
        return
    found = ledgers(log)
    sums = list(_sums(log)) if not found or found[0].void else []
    if not found and not sums:
        yield Finding(
            "trace_profile",
            "The log does not show where time passed: it has no timestamps (-ttt).",
            next=COMMAND,
            is_refused=True,
        )
    if not found or found[0].void:
        yield from sums
        return
    lead = found[0]
    yield Finding("total", f"{capital(lead.text)}.", caveat=lead.unshared, order=0)
    if lead.total is not None and lead.total.hi < _RUN_S and is_calm(log):
        yield Finding(CALM, f"Nothing stands out: the whole run took only {seconds(lead.total)}.", order=0)
    if lead.unshared and (calm := _waits_for_work(log, lead)):
        yield Finding(CALM, calm, next=_next_unshared(log, lead, found), order=0)
    elif lead.unshared:
        where = f"in {lead.scope}, " if lead.scope.startswith("process ") else ""
        yield Finding("no_shares", f"{capital(where + lead.unshared)}.", next=_next_unshared(log, lead, found), order=1)
    name = "trace_profile"
    rows = [row for row in named_parts(lead) if row["view"] == "what"]
    for row in rows:
        if row["part"] == SUBMIT and submits_in_name_only(trace_of(log)) is not None:
            continue  # async_in_name_only says what it is
        is_told = any(one["parent"] == row["part"] and one["own_lo"] > NEARLY_ALL * row["own_hi"] for one in rows)
        yield _of_part(log, lead, row, "time_profile" if is_told else name)
        name = name if is_told else "time_profile"


def _waits_for_work(log: StraceLog, lead: Ledger) -> str:
    """Whether all processes are of an instance and had hardly anything to do, and no call took long; in words."""
    rests = lead.frame.filter(pl.col("view") == "what", pl.col("kind").is_in(["idle", "client"]), pl.col("count") > 0)
    names = set(rests.get_column("evidence").struct.field("rows").explode())
    times, is_rest = times_of(log), pl.col("name").is_in(POSTS)
    resting = times.classed.filter(is_rest, pl.col("kind") == "idle").get_column("pid").n_unique()
    several = times.calls.get_column("pid").n_unique()
    others = times.calls.filter(~is_rest).select("longest", "longest_open").max()
    longest = max((figure for row in others.iter_rows() for figure in row if figure), default=0) / 1e9
    if not names or not names <= set(POSTS) or resting < several or longest >= STALL.total_seconds():
        return ""
    idle, whole = float(rests.filter(pl.col("parent").is_null())["seconds"].sum()), lead.total or Interval.exact(0.0)
    who = (
        "the process waited for work" if several == 1 else f"{every(several, times.noun)} waited for work, {lead.scope}"
    )
    part = min(1.0, idle / whole.value)
    share = percent(part if trace_of(log).is_timed else Interval(part, 0, part))
    waited = f"{who[:1].lower()}{who[1:]} for {share} of {seconds(whole)}"
    return f"Nothing stands out: {waited}; no other call took more than {seconds(longest)}."


def _next_unshared(log: StraceLog, lead: Ledger, found: Sequence[Ledger]) -> str:
    children = [one for one in found[1:] if one.scope.startswith("process ") and not one.unshared]
    idle = lead.frame.filter(pl.col("view") == "what", pl.col("kind").is_in(["idle", "client"]))
    if idle.is_empty():
        return COMMAND
    if ROUND_TRIPS in lead.text:
        return MORE_ROWS
    if children:
        return alone(log, children[0].scope)
    return _WHILE_IT_WORKS


def _sums(log: StraceLog) -> Iterator[Finding]:
    """The longest calls of a log whose stamps give no total, but whose calls have their times (-T)."""
    if not trace_of(log).printed:
        return
    calls = times_of(log).classed.filter(pl.col("printed") > 0)
    is_idle = pl.col("kind").is_in(["idle", "client"])
    sums = calls.group_by("name").agg(pl.col("elapsed", "printed").sum(), pl.col("class").first(), idle=is_idle.all())
    sums = sums.filter(pl.col("elapsed") > 0).sort("elapsed", "name", descending=[True, False])
    worked = sums.filter(~pl.col("idle"))
    whole = int(worked.get_column("elapsed").sum())
    idle = sums.filter(pl.col("idle"), pl.col("elapsed") > whole).head(1)  # it is most of the time
    several = times_of(log).calls.get_column("pid").n_unique() > 1
    late = dict(times_of(log).calls.group_by("name").agg(pl.col("timed_out").sum()).iter_rows())
    for name, elapsed, count, of, rests in [*idle.iter_rows(), *worked.head(_MOST_SUMS).iter_rows()]:
        if elapsed >= PART * whole:
            time = elapsed / 1e9
            said = f"`{name}` took {seconds(time)}{' of all processes' if several else ''}"
            if rests:
                said = f"{'All processes together were' if several else 'The process was'} idle in `{name}` for "
                said += seconds(time)
            each, place = seconds(time / count) if count > 1 else "", _place(log, [name], pl.lit(value=True))[0]
            ended = "returned nothing" if name in REAPS else "timed out"
            in_vain = f", {late[name]:,} of which {ended}" if late[name] > _MOST_OF_IT * count else ""
            yield Finding(
                "calls_without_total",
                f"{said}: {often_each(Interval.exact(count), None, 'calls', each)}{in_vain}{place}.",
                next=_NOT_WOKEN.get(of, COMMAND) if in_vain else COMMAND,
                evidence=(Evidence("calls", (name,)),),
                order=1,
            )


#: A request that is only queued takes microseconds; one that was done when it was submitted is reaped in a fraction.
_QUEUED_S: Final = 0.001
_FEW: Final = 0.05
#: A call with this many requests is a batch: its time is that of all of them.
_BATCH: Final = 2
_DIRECT: Final = (
    "see whether the files are open with O_DIRECT (040000): grep flags /proc/PID/fdinfo/*; filesystemio_options"
)
_STEPS: Final = {"reap": "waiting for completions", "submit": "submitting"}


def _of_part(log: StraceLog, lead: Ledger, row: dict[str, Any], name: str) -> Finding:
    detail, next_step = _MEANING.get(row["class"] or "", ("", ""))
    said = _sentence(log, lead, row)
    if "timed out" in said:
        detail, next_step = "nothing woke the process before its time-out", _NOT_WOKEN.get(row["class"] or "", "")
        if peer := said.partition("timed out, ")[2].partition("no answer of `")[2].partition("`")[0]:
            host, _, port = peer.rpartition(":")
            next_step = _SILENT.format(host=host, port=port)
    names = row["evidence"]["rows"] if row["evidence"] else []
    if next_step == UNKNOWN_END and (peer := _peer(log, lead, row)):
        said, next_step = f"{said.removesuffix('.')}; {peer}.", CLIENT_WORK
    elif row["class"] == _UNKNOWN and len(names) == 1:
        said += _of_one_size(log, lead, row)
    if row["class"] == "file flushes" and len(names) == 1:
        writes = lead.parts().filter(pl.col("class") == "file writes", pl.col("parent").is_null())["count"].sum()
        if is_pair(row["count"], float(writes)):
            said = f"{said.removesuffix('.')}, one for each write."
    if row["part"] == SUBMIT and (reaped := _done_at_once(lead, row)):
        said, next_step = f"{said.removesuffix('.')}; {reaped}.", _DIRECT
    if next_step == _FILE_SYSTEM and names:
        next_step = step_of_folder(log, names, is_own(lead)) or next_step
    elif next_step == _HOLDER:
        next_step = _HOLDER.format(_main_file(log, lead, row)[0] or "FILE")
    said, detail, next_step = _of_waits(log, lead, row, (said, detail, next_step))
    if names == ["connect"] and ("failed" in said or "timed out" in said):
        next_step = _ADDRESS
    if row["part"] == BETWEEN and (others := _others(log, lead))[0] >= _MOST_OF_IT * row["seconds"]:
        next_step = alone(log, others[1])
    elif row["part"] == BETWEEN:
        detail, next_step = "", _CPU
        is_cpu = _used(log, lead) >= _NEARLY_ALL * row["seconds"]
        if not is_cpu and lead.remarks.filter(pl.col("part") == BETWEEN).height:  # few calls were asked for
            next_step = f"see all calls of it, without -e or -Z: {COMMAND}"
    elif row["count"] and row["seconds"] < _SHORT_S * row["count"] and next_step in {STACKS, _OTHER_END}:
        next_step = _KERNEL  # a stack, or another log, shows nothing of waits of microseconds
    if not trace_of(log).printed and "timed out" not in said:
        next_step = COMMAND
    if said.startswith(_TRIPS):
        next_step = f"{MORE_ROWS}; {_NETWORK}"
    is_short = lead.total is not None and lead.total.hi < SHORT_S
    if is_short and (next_step in _NEXT_LOGS or (next_step == _CPU and all_ended(log))):
        next_step = RARE.format(seconds(lead.total or 0.0))
    if next_step == _OTHER_END and row["class"] == READY and ":" in (peer := _uneven(log, lead, row)[1]):
        next_step = _PATHS.format(peer.rpartition(":")[0])
    if NOT_SUBMITTED in said and is_writer(log, lead):
        next_step = WRITER
    if row["class"] == _DEVICES and _main_file(log, lead, row)[0] == ENTROPY:
        detail, next_step = "a read of it waits until the kernel has enough entropy", MORE_ENTROPY
    if next_step == IOSTAT:
        file, of_ring = _of_ring(log, lead) if set(names) == set(HIDDEN) else (_main_file(log, lead, row)[0], "")
        said, next_step = said + of_ring, _iostat_of(file)
    return Finding(
        name,
        said,
        detail=detail if row["level"] == 0 else "",
        next=next_step or (_KERNEL if (row["share_lo"] or 0.0) >= MAJOR else ""),
        part=row["part"],
        evidence=(Evidence("calls", tuple(row["evidence"]["rows"])),) if row["evidence"] else (),
    )


def _of_waits(log: StraceLog, lead: Ledger, row: dict[str, Any], found: tuple[str, str, str]) -> tuple[str, str, str]:
    """The sentence, detail and next step of a part: what stacks show, of locks, and whether answers came in turn."""
    names = row["evidence"]["rows"] if row["evidence"] else []
    stacks, step = below_stacks(log, names, is_own(lead), row["count"])
    is_lock = row["class"] == "locks and messages" and not step
    said, detail, next_step = _of_locks(log, lead, row, found) if is_lock else found
    if row["class"] == "sockets" and len(names) == 1 and "; " not in said:
        turns, latency = in_turn(log, names[0], is_own(lead), _main_file(log, lead, row)[0], row["count"])
        said = f"{said.removesuffix('.')}{turns}." + (f" {latency}" if latency else "")
        next_step = _FEWER_TRIPS if latency else next_step
    if not stacks:
        return said, detail, next_step
    said = f"{said} {capital(stacks)}." if ";" in said else f"{said.removesuffix('.')}, {stacks}."
    return said, "by the stacks of the calls (-k)", step or next_step


def _of_locks(log: StraceLog, lead: Ledger, row: dict[str, Any], found: tuple[str, str, str]) -> tuple[str, str, str]:
    """The sentence, detail and next step of waits for semaphores and locks: whom an Oracle process waited for."""
    said, detail, next_step = found
    is_post = set(row["evidence"]["rows"] if row["evidence"] else []) <= set(POSTS)
    if row["kind"] == "idle":
        return said, "a process that only writes waits for work in it", _WHILE_IT_WORKS
    if next_step == STACKS and is_post:
        detail, next_step = "a process of the database sleeps in it until another posts it, busy or idle", _WAITS
    if set(_CLIENTS) & set(lead.frame.get_column("class").drop_nulls()):
        detail, next_step = "a server process sleeps until another process of the instance posts it", _SESSION
        if is_post and "timed out" in said:
            said = f"{said.removesuffix('.')}; it waited for another session to post it, as for a lock, not for I/O."
        posts = int(trace_of(log).calls.filter(name="semctl").get_column("calls").sum())
        if is_post and is_pair(row["count"], posts):
            said = f"{said.removesuffix('.')}, one for each `semctl`: it woke another process and waited for it."
    return said, detail, next_step


def _iostat_of(file: str) -> str:
    folder = file.rpartition("/")[0]
    return IOSTAT.replace("devices of the files", f"device of {folder}") if folder else IOSTAT


def _each_call(log: StraceLog, lead: Ledger, row: dict[str, Any], each: Interval) -> str:
    """How often a call was made and how long it took; the requests of a batch, or that one at a time was in flight."""
    count = Interval.exact(row["count"])
    said = often_each(count, None, "calls", seconds(each))
    if row["evidence"]["rows"][0] in HIDDEN:
        alone = times_of(log).named.rings.filter(is_own(lead)).get_column("calls").sum()
        return f"{said}, one request at a time" if alone == row["count"] else said
    if (
        row["class"] == "file writes"
        and count.lo >= LEAST_WAITS
        and is_synchronous(row["evidence"]["rows"][0], times_of(log).calls.filter(is_own(lead))["name"])
    ):
        return f"{said}{NOT_SUBMITTED}"
    if row["part"] not in {SUBMIT, REAP}:
        return said
    own = trace_of(log).requests.filter(is_own(lead), pl.col("mode") == "async")
    many = own.filter(pl.col("syscall").is_in(SUBMITS)).height / row["count"]  # one that is reaped alone is apart
    sizes = own.get_column("bytes_requested").drop_nulls()
    if row["part"] == SUBMIT and many >= _BATCH:
        noun = "calls" if row["count"] == 1 else f"calls of {three(many)} requests"
        return f"{often_each(count, None, noun, seconds(each))} ({seconds(each / many)} per request)"
    # by lines: a request and its end may print different data
    ends = own.filter(pl.any_horizontal(pl.col("bytes_transferred", "errno").is_not_null()))
    steps = own.filter(pl.col("syscall").is_in(SUBMITS)).select(at="line", by=1)
    steps = pl.concat([steps, ends.select(at="end_line", by=-1)]).sort("at", "by", descending=[False, True])
    if row["part"] == SUBMIT or not own["is_printed"].all() or steps["by"].cum_sum().max() != 1:
        return said
    if sizes.n_unique() != 1 or not sizes[0] or ends.height < row["count"]:
        return f"{said}, one request at a time"
    rate = f": {three(sizes[0] / each.value / 1e6)} MB/s" if trace_of(log).printed else ""
    return f"{said}, one {size_text(sizes[0], largest='KiB')} request at a time{rate}"


def _of_ring(log: StraceLog, lead: Ledger) -> tuple[str, str]:
    """The one file that a process opened past the page cache, or to write through it, in words: io_uring names none."""
    flags = {"has_o_direct": "O_DIRECT", "has_o_sync": "O_SYNC or O_DSYNC"}
    opened = trace_of(log).opens.filter(is_own(lead), pl.any_horizontal(*flags)).select("file", *flags).unique()
    if opened.height != 1 or not opened.item(0, "file"):
        return "", ""
    file, how = opened.item(0, "file"), " and ".join(said for flag, said in flags.items() if opened.item(0, flag))
    return file, f" The one file opened with {how} is `{short_name(file)}`."


def _done_at_once(lead: Ledger, row: dict[str, Any]) -> str:
    """What it cost to reap requests that took their time in `io_submit`: they were done then."""
    reaps = lead.parts().filter(pl.col("part") == REAP).get_column("avg").drop_nulls()
    if not reaps.len() or not row["avg"] or row["avg"] < _QUEUED_S or reaps.item() > _FEW * row["avg"]:
        return ""
    return f"reaping took {seconds(reaps.item())} each, so the requests were in effect synchronous"


def _of_one_size(log: StraceLog, lead: Ledger, row: dict[str, Any]) -> str:
    """The size and the rate of calls on unknown files that all moved as many bytes, as a sentence."""
    fds = _targets_of(log, lead, row).get_column("fd").implode()
    is_one = is_own(lead) & (pl.col("syscall") == row["evidence"]["rows"][0]) & pl.col("fd").is_in(fds)
    sizes = trace_of(log).requests.filter(is_one).get_column("bytes_transferred").drop_nulls()
    if sizes.n_unique() != 1 or not sizes[0] or sizes.len() < max(row["count"], LEAST_WAITS):
        return ""
    at_least, rate = "" if trace_of(log).printed else "at least ", sizes[0] * row["count"] / row["seconds"] / 1e6
    return f" Each moved {size_text(sizes[0], largest='KiB')}: {at_least}{three(rate)} MB/s."


def _peer(log: StraceLog, lead: Ledger, row: dict[str, Any]) -> str:
    """Whether a server waited: reads of a descriptor with as many writes to it, of a process that reads blocks."""
    ends = _targets_of(log, lead, {**row, "evidence": None})
    counts = dict(ends.group_by("name").agg(pl.col("calls").sum()).iter_rows())
    is_read = row["evidence"] and row["evidence"]["rows"] == ["read"] and "file reads" in lead.frame["class"]
    is_one = set(counts) == {"read", "write"} and ends["fd"].n_unique() == 1
    if not is_read or not is_one or not is_pair(counts["read"], counts["write"]):
        return ""
    return f"with as many writes to it, {SERVES}"


def _sentence(log: StraceLog, lead: Ledger, row: dict[str, Any]) -> str:
    whole = lead.work if lead.work is not None else lead.total
    base = seconds(whole or 0.0) + (f" ({lead.work_base})" if lead.work_base else "")
    time = Interval(row["seconds"], min(row["seconds_lo"], row["seconds"]), max(row["seconds_hi"], row["seconds"]))
    if row["share"] is None:
        took = f"{seconds(time)} of {seconds(lead.total or 0.0)}"
    else:
        took = f"{percent(Interval(row['share'], row['share_lo'], row['share_hi']))} of {base}"
    if row["part"] == BETWEEN:
        others, noun = _others(log, lead)[0], times_of(log).noun
        if others >= _MOST_OF_IT * row["seconds"]:
            return f"{capital(took)} passed between calls of {lead.scope}; other {noun} had {seconds(others)} of calls."
        if (used := _used(log, lead)) >= _NEARLY_ALL * row["seconds"]:
            return f"{capital(took)} passed between calls: it was user CPU ({seconds(used)} by `getrusage`)."
        return f"{capital(took)} passed between calls: {CAUSES}."
    if row["part"] == AFTER:
        return f"{capital(took)} passed {AFTER}: in the handler, in user code or in untraced calls."
    if row["part"] == UNTIMED:
        inside = lead.frame.filter(pl.col("parent") == UNTIMED).sort("seconds", descending=True).row(0, named=True)
        most = seconds(Interval(inside["seconds"], 0, inside["seconds"]))
        named = f"`{inside['name']}` took {most}"
        return f"{capital(took)} passed in or after calls whose duration is not logged; {named}."
    names = row["evidence"]["rows"] if row["evidence"] else []
    if row["kind"] == "counted_twice" and whole is not None:
        return (
            f"{percent(-row['seconds'] / Interval.of(whole).value)} of {base} is counted twice: times of calls overlap."
        )
    if row["kind"] == "not_accounted":
        return f"{capital(took)} is {row['name']}."
    if len(names) == 1:
        said = f"`{names[0]}`" + (f" {_OF[row['class']]}" if row["class"] in _OF else "")
    else:
        label, _, listed = str(row["name"]).partition(": ") if row["level"] else (row["name"], "", "")
        if label == "other calls":
            own = times_of(log).classed.filter(is_own(lead), pl.col("name").is_in(names)).group_by("name")
            sums = own.agg(took=(pl.col("elapsed") + pl.col("open")).sum()).sort(
                "took", "name", descending=[True, False]
            )
            label = named_list([f"`{name}`" for name in sums["name"]]) or "calls of no class"
        said = capital(_SUBJECTS.get(label, label).format(label)) + (f" ({listed})" if listed else "")
    if row["count"] is None:
        return f"{said} took {took}."
    if len(names) > 1:
        trips = _trips(log, lead, row)
        said, detail = (_TRIPS, trips) if trips else (said, counted(row["count"], "calls"))
    else:
        empty, spent = _reaped_nothing(log, lead, row)
        some = {**row, "count": row["count"] - empty}
        time = Interval(*(max(0.0, one - spent) for one in (time.value, time.lo, time.hi)))
        detail = _of_few(log, lead, row) or (
            _each_call(log, lead, some, time / Interval.exact(some["count"]))
            + _in_vain(log, lead, names[0], row["count"])
            + _even(log, lead, row)
            + (f"; {empty:,} others returned nothing" if empty else "")
        )
    if row["part"] == ASYNCHRONOUS and row["own_lo"] > 0:
        steps = lead.frame.filter(pl.col("view") == "what", pl.col("parent") == ASYNCHRONOUS, pl.col("seconds") > 0)
        steps = steps.sort("seconds", descending=True).select(pl.col("part").str.split("/").list.last(), "seconds")
        detail = ", ".join(f"{_STEPS.get(step, step)} {seconds(time)}" for step, time in steps.iter_rows())
    if uneven := _uneven(log, lead, row)[0]:
        return f"{said} took {took}: {uneven}."
    return f"{said} took {took}: {detail}{_mostly(log, lead, row)}."


def _trips(log: StraceLog, lead: Ledger, row: dict[str, Any]) -> str:
    """The round trips of a client that wrote to its database server and read what came: number, time and size."""
    if row["class"] != _SERVER:
        return ""
    own = _targets_of(log, lead, {**row, "evidence": None}).group_by("fd").agg(pl.col("calls", "name"), _inside().sum())
    fd, calls, names, _ = own.sort("elapsed", "fd", descending=True).row(0)
    if set(names) not in PAIRS or min(calls) < max(MANY_TRIPS, _NEARLY_ALL * max(calls)):
        return ""
    reads = trace_of(log).requests.filter(is_own(lead), pl.col("fd") == fd, pl.col("op") == "read")
    size = float(reads["bytes_transferred"].mean() or 0)  # type: ignore[arg-type]  # a column of numbers
    time = Interval(row["seconds"], row["seconds_lo"], row["seconds_hi"]) / Interval.exact(min(calls))
    return f"{min(calls):,} of {seconds(time)}, {size_text(round(size))} read in each" * (0 < size < _FULL_PACKET)


def _others(log: StraceLog, lead: Ledger) -> tuple[float, str]:
    """The seconds that other processes were in calls, but for waits of any event, or sleep beside I/O; who had most."""
    is_any = pl.col("class").is_in(["child processes", READY]) | (pl.col("kind") == "client")
    is_any |= (pl.col("kind") == "idle") & pl.lit(_has_io(lead))
    others = times_of(log).classed.filter(~is_own(lead), ~is_any, ~pl.col("name").is_in(POSTS)).group_by("pid")
    sums = others.agg(ns=(pl.col("elapsed") + pl.col("open")).sum()).sort("ns", "pid", descending=[True, False])
    return int(sums["ns"].sum()) / 1e9, f"process {sums.item(0, 'pid')}" if sums.height else ""


def _has_io(lead: Ledger) -> bool:
    return float(lead.parts().filter(pl.col("kind") == "io", pl.col("level") == 0)["share"].sum()) >= PART


def _of_few(log: StraceLog, lead: Ledger, row: dict[str, Any]) -> str:
    """Calls of a name of which nearly all the time is that of the ones that timed out, or of one: no mean of all."""
    own = times_of(log).calls.filter(is_own(lead), pl.col("name") == row["evidence"]["rows"][0])
    sums = own.select(pl.col("calls", "followed", "timed", "timed_out", "late").sum())
    count, followed, timed, timed_out, late = sums.row(0)
    longest = own.select(pl.max_horizontal("longest", "longest_open").max()).item()
    least = _NEARLY_ALL * row["seconds"] * 1e9
    if max(followed, timed) != row["count"] or count <= 1:  # the name is of several classes, too
        return ""
    if late >= least:
        each = late / timed_out / 1e9
        in_vain = f"{timed_out:,} of " * (timed_out < row["count"]) + counted(row["count"], "calls")
        said = f"{seconds(each)} each" if trace_of(log).printed else f"{seconds(Interval(each, 0, each))} on average"
        unanswered = silent_peer(times_of(log), row["evidence"]["rows"][0], is_own(lead))[1]
        ended = "returned nothing" if row["part"] == REAP else "timed out"
        return f"{in_vain} {ended}, {said}{unanswered}"
    if (longest or 0) >= least:
        closed = flushed_at_close(log, is_own(lead)) if row["evidence"]["rows"] == ["close"] else ""
        upto = "" if trace_of(log).printed else "at most "
        return f"{counted(row['count'], 'calls')}, the longest {upto}{seconds(longest / 1e9)}{closed}"
    return ""


def _reaped_nothing(log: StraceLog, lead: Ledger, row: dict[str, Any]) -> tuple[int, float]:
    """How many calls that reap requests returned without one, and their seconds: what the others took is a wait."""
    own = times_of(log).calls.filter(is_own(lead), pl.col("name").is_in(REAPS), row["part"] == REAP)
    empty, late = own.select(pl.col("timed_out", "late").sum()).row(0)
    is_rest = late >= _MOST_OF_IT * row["seconds"] * 1e9 or empty >= row["count"]
    return (0, 0.0) if is_rest else (empty, late / 1e9)


def _even(log: StraceLog, lead: Ledger, row: dict[str, Any]) -> str:
    """The longest request of a name whose times are even: none stands out."""
    own = times_of(log).calls.filter(is_own(lead), pl.col("name") == row["evidence"]["rows"][0])
    longest = float(own.get_column("longest").max() or 0) / 1e9  # type: ignore[arg-type]  # a column of numbers
    is_even = 0 < longest <= _MUCH_SLOWER * row["seconds"] / row["count"]
    is_one = row["kind"] == "io" and row["count"] >= LEAST_WAITS and trace_of(log).printed
    return f", none longer than {seconds(longest)}" if is_one and is_even else ""


def _in_vain(log: StraceLog, lead: Ledger, name: str, count: float) -> str:
    """How many calls of a name in the process of a ledger failed, or timed out, where most of them did."""
    own = times_of(log).calls.filter(is_own(lead), pl.col("name") == name)
    failed, timed_out = own.select(pl.col("failed", "timed_out").sum()).row(0)
    if failed <= _MOST_OF_IT * count:
        return ""
    many = f"{failed:,} of " if failed < count else "most of "
    if failed == count:
        many = "all of " if count > 1 else ""
    return f", {many}which {'timed out' if timed_out == failed else 'failed'}"


def _used(log: StraceLog, lead: Ledger) -> float:
    """The seconds of CPU of a process outside of calls, as far as its getrusage(2) says them."""
    return float(times_of(log).named.user.filter(is_own(lead)).get_column("seconds").sum())


def _mostly(log: StraceLog, lead: Ledger, row: dict[str, Any]) -> str:
    """The file, or folder, with most of the time of a class of calls."""
    if row["class"] == "file names and attributes" and row["evidence"]:
        return _place(log, row["evidence"]["rows"], is_own(lead))[0]
    file, much = _main_file(log, lead, row)
    peer = file.partition("->")[2].rstrip("]")
    return f", {much} of it with `{peer}`" if peer else f", {much} of it on `{short_name(file)}`" if file else ""


def _main_file(log: StraceLog, lead: Ledger, row: dict[str, Any]) -> tuple[str, str]:
    """The path of the file with most, or all, of the time of a class of calls; empty where none has."""
    if row["class"] is None or (row["kind"] != "io" and row["class"] not in _NAMED):
        return "", ""
    place = file_or_fd().replace(NOT_KNOWN, None) if row["class"] == _UNKNOWN else "file"
    sums = _targets_of(log, lead, row).group_by(file=place).agg(_inside().sum())
    for file, most in sums.drop_nulls("file").sort("elapsed", "file", descending=[True, False]).head(1).iter_rows():
        if most >= _MOST_OF_IT * row["seconds_hi"] * 1e9:
            return file, _much(sums, most, row["seconds_hi"] * 1e9, is_timed=trace_of(log).is_timed)
    return "", ""


def _targets_of(log: StraceLog, lead: Ledger, row: dict[str, Any]) -> pl.DataFrame:
    """The calls of a part that act on a descriptor, by file (`iolab.metrics.trace_times.CallTimes.targets`)."""
    own = times_of(log).targets.filter(is_own(lead))
    if row["evidence"]:
        own = own.filter(pl.col("name").is_in(row["evidence"]["rows"]))
    return with_classes(own).filter(pl.col("class") == row["class"])


def _uneven(log: StraceLog, lead: Ledger, row: dict[str, Any]) -> tuple[str, str]:
    """The calls on the file with most of the time where they took much longer than those on others: no mean of all.

    Waits for descriptors have the peer that ended them. Also the name of that file or peer.
    """
    names = row["evidence"]["rows"] if row["evidence"] else []
    is_reap, printed = row["class"] == ASYNCHRONOUS and row["part"] != SUBMIT, trace_of(log).printed
    is_wait = row["class"] == READY
    if ((row["kind"] != "io" and not is_wait) or len(names) != 1) and not (is_reap and printed):
        return "", ""
    rows = _targets_of(log, lead, row).with_columns(spent=nanoseconds("elapsed") if printed else _inside())
    rows = rows.with_columns(counted=pl.col("timed") if printed else pl.max_horizontal("timed", "followed"))
    if is_reap:  # what the process waited for is requests, which may overlap
        own = (pl.col("mode") == "async") & pl.col("latency").is_not_null() & is_own(lead)
        rows = trace_of(log).requests.filter(own).select("file", "fd", spent=nanoseconds("latency"), counted=1)
    if is_wait:
        rows = _ready(log, lead, row).select("spent", file="at", fd=None, counted="calls")
        if rows["spent"].sum() < _NEARLY_ALL * row["seconds_hi"] * 1e9:
            return "", ""
    sums = rows.group_by(at=file_or_fd()).agg(pl.col("spent", "counted").sum())
    sums = sums.filter(pl.col("counted") > 0).sort("spent", "at", descending=[True, False])
    if sums.height <= 1 or sums.item(0, "at") == NOT_KNOWN:
        return "", ""
    file, spent, count = sums.row(0)
    others, other_count = sums[1:].select(pl.col("spent", "counted").sum()).row(0)
    each, other = spent / count / 1e9, others / other_count / 1e9
    if spent < _MOST_OF_IT * (spent + others) or each < _MUCH_SLOWER * other or min(count, other_count) < LEAST_WAITS:
        return "", ""
    share = "" if is_reap or not printed else f"{percent(spent / (spent + others))} of it, "
    on = f"{counted(count, 'requests' if is_reap else 'calls')} {'for' if is_wait else 'on'} `{short_name(file)}` "
    on += f"took {share}"
    each_said, other_said = (seconds(one if printed else Interval(one, 0, one)) for one in (each, other))
    return f"{on}{each_said} each; the other {other_count:,} took {other_said} each", file


def _ready(log: StraceLog, lead: Ledger, row: dict[str, Any]) -> pl.DataFrame:
    """The waits of a part that ended when one descriptor was ready (`iolab.metrics.trace_named.Named.ready`)."""
    return times_of(log).named.ready.filter(is_own(lead), pl.col("name").is_in(row["evidence"]["rows"]))


def _place(log: StraceLog, names: Sequence[str], which: pl.Expr) -> tuple[str, str]:
    """The file that calls with names spent most of their time on, or the folder of those files; and that folder."""
    is_own = pl.col("name").is_in(names) & which
    times = times_of(log)
    if set(names) <= set(TARGETED_CALLS):
        sums = times.targets.filter(is_own).select(path=pl.col("file").cast(pl.String), spent=_inside())
    else:
        sums = times.named.paths.filter(is_own).select("path", "spent")
    whole = int(times.calls.filter(is_own).select(_inside().sum()).item())
    found, least = ("", ""), _MOST_OF_IT * whole
    for word, key in (("on", pl.col("path")), ("in", folder_of("path"))):
        every = sums.group_by(place=key).agg(pl.col("spent").sum())
        top = every.drop_nulls().filter(pl.col("place") != "").sort("spent", "place", descending=[True, False]).head(1)
        for place, spent in top.filter(pl.col("spent") >= least).iter_rows():
            much = _much(every, spent, whole, is_timed=trace_of(log).is_timed)
            kinds = sums.filter(folder_of("path") == place).get_column("path").str.split(".").list.last().unique()
            files = f" on `*.{kinds.item()}`" if word == "in" and kinds.len() == 1 and "/" not in kinds.item() else ""
            said = f", {much} of it{files} {word} `{short_name(place) if word == 'on' else place}`"
            found = said, place if word == "in" else ""
            least = spent / _NEARLY_ALL  # of its folder where that has much more
    return found


def step_of_folder(log: StraceLog, names: Sequence[str], which: pl.Expr) -> str:
    """What to look at where calls with names, such as `open`, spent their time on files of one folder; else nothing.

    Args:
        log: of the calls.
        names: of the calls, such as `open`.
        which: the processes to look at.
    """
    folder = "" if set(names) <= set(TARGETED_CALLS) else _place(log, names, which)[1]
    return _FOLDER.format(folder) if folder else ""


def _much(places: pl.DataFrame, part: float, whole: float, *, is_timed: bool) -> str:
    """How much one of several places has of a time: the share is known where the calls have their times."""
    return "all" if places.height == 1 else percent(part / whole) if is_timed else "most"


def _inside() -> pl.Expr:
    """The time in calls in ns, of those without a time at most."""
    return pl.col("elapsed").dt.total_nanoseconds() + pl.col("open")


@rule(
    "calls_of_all",
    of="strace",
    needs="times of calls of several processes",
    thresholds={"10 % of the longest process, half of it of others": "a convention"},
)
def calls_of_all(log: StraceLog) -> Iterator[Finding]:
    """The calls that took most time in all processes, where the process that is described made few of them.

    Where that process did nothing, calls that waited for something beside a child or a descriptor count, too.

    Examples:
        >>> import iolab
        >>> lines = ['7 1700000000.000000 epoll_wait(3, [], 9, 60000) = 1 <0.100000>',
        ...     '8 1700000000.200000 open("/u01/A.ams", 0) = 6 <1.400000>',
        ...     '9 1700000002.000000 open("/u01/A.ams", 0) = 6 <1.600000>', '7 1700000004.000000 close(4) = 0 <0.0001>']
        >>> for one in calls_of_all(iolab.load(chr(10).join(lines).encode())): print(one.sentence)
        `open` took 3 s in 2 processes: 2 calls, 1.50 s each, all of it on `A.ams`.
    """
    lead = process_ledger(log)
    times = times_of(log)
    if lead is None or lead.total is None or times.calls.get_column("pid").n_unique() <= 1:
        return
    calls = times.classed.filter(pl.col("elapsed") > 0)
    own = pl.col("elapsed").filter(is_own(lead)).sum()
    key = ("name", "class", "kind")
    of_each = calls.group_by(*key, "pid").agg(pl.col("elapsed", "timed").sum(), own=own)
    some = of_each.filter(pl.col("elapsed") > (1 - _NEARLY_ALL) * pl.col("elapsed").mean().over(key))
    sums = some.group_by(key).agg(pl.col("elapsed", "timed", "own").sum(), pl.col("pid").max(), processes=pl.len())
    least = PART * lead.total.value * 1e9
    is_work, waits = pl.col("kind").is_in(["io", "mixed", "cpu"]), pl.col("class").is_in(_WAITS_OF_OTHERS)
    worked = sums.filter(is_work & (pl.col("elapsed") >= least))
    found = worked if worked.height or _has_io(lead) else sums.filter(waits)
    top = found.sort("elapsed", "name", descending=[True, False]).head(1)
    for name, of, _, elapsed, count, own_ns, pid, processes in top.iter_rows():
        if elapsed < least or own_ns > elapsed / 2:
            return
        named = f"`{name}`" + (f" {_OF[of]}" if of in _OF else "")
        longest = float(times.calls.filter(name=name).get_column("longest").max() or 0)  # type: ignore[arg-type]  # numbers
        is_one = count > 1 and longest >= _NEARLY_ALL * elapsed
        each = often_each(Interval.exact(count), None, "calls", "" if is_one else seconds(elapsed / count / 1e9))
        each += f", the longest {seconds(longest / 1e9)}" * is_one
        program = f" (`{one}`)" if (one := program_of(times, pid)) else ""
        where = f"process {pid}{program}" if processes == 1 else counted(processes, times.noun)
        place = _place(log, [name], pl.lit(value=True))[0]
        step = MORE_ENTROPY if of == _DEVICES and f"`{ENTROPY}`" in place else _MEANING.get(of, ("", ""))[1]
        yield Finding(
            "calls_of_all",
            f"{named} took {seconds(elapsed / 1e9)} in {where}: {each}{place}.",
            Interval.exact(min(1.0, elapsed / 1e9 / lead.total.value)),
            "the longest process",
            detail="calls of several processes may have run at the same time",
            next=step or _KERNEL,
            evidence=(Evidence("calls", (name,)),),
            order=1,
        )
