"""The sections of a report after its summary: time model, waits, statements, statistics, I/O, parameters."""

from __future__ import annotations

from typing import Final, NamedTuple

from awr_forms import Block, Column, Table
from awr_io import controls, io_by_filetype, io_by_function, tablespaces
from awr_model import BLOCK, CPUS, MEMORY_GB, Activity, Wait
from awr_numbers import bare, by_class, fixed, in_thousands, millis

#: Statements: share of DB time, of it CPU and I/O, share of reads, executions of a thousand, id, module, text.
_STATEMENTS: Final = (
    (
        0.31,
        0.22,
        0.71,
        0.38,
        11.0,
        "7hq3wz8mt0c2f",
        "berth_plan",
        "select b.berth_id, b.free_from from berths b where b.port = :1 and b.length_m >= :2 order by b.free_from",
    ),
    (0.17, 0.35, 0.58, 0.26, 64.0, "1vd9kx4rs6b7y", "manifest", "select m.* from manifest_lines m where m.voyage = :1"),
    (0.12, 0.81, 0.09, 0.04, 190.0, "c4pnu2j8f5gaq", "tariff", "begin tariff.price(:voyage, :amount); end;"),
    (
        0.07,
        0.48,
        0.33,
        0.09,
        38.0,
        "0m6tyb1hv9zsk",
        "manifest",
        "insert into manifest_lines (voyage, line, weight_kg, opened_at) values (:1, :2, :3, sysdate)",
    ),
    (
        0.04,
        0.29,
        0.62,
        0.07,
        0.02,
        "9ra5gw7qd3xnu",
        "SQL*Plus",
        "select /*+ full(v) */ port, sum(v.tonnage) from voyages v group by port",
    ),
)


def make_sections(activity: Activity) -> list[Block]:
    """The sections, in their order."""
    return [
        time_model(activity),
        os_statistics(activity),
        foreground_classes(activity),
        event_table("Foreground Wait Events", activity.foreground, activity, activity.db_time_us, "% DB time"),
        event_table("Background Wait Events", activity.background, activity, activity.background_us, "% bg time"),
        histogram(activity),
        sql_by_elapsed(activity),
        sql_by_reads(activity),
        instance_activity(activity),
        io_by_function(activity),
        io_by_filetype(activity),
        tablespaces(activity),
        parameters(activity),
    ]


def time_model(activity: Activity) -> Table:
    """Where DB time and background time went."""
    db_time, cpu = activity.db_time_us, activity.cpu_us + activity.background_cpu_us
    shares = [("sql execute elapsed time", 0.952), ("parse time elapsed", 0.021), ("hard parse elapsed time", 0.013)]
    shares += [("PL/SQL execution elapsed time", 0.044), ("connection management call elapsed time", 0.004)]
    found = [(round(db_time * share), name, "") for name, share in shares]
    found.append((activity.cpu_us, "DB CPU", bare(100 * activity.cpu_us / cpu)))
    rows = [
        (name, fixed(time_us / 1e6), bare(100 * time_us / db_time), share)
        for time_us, name, share in sorted(found, key=lambda one: -one[0])
    ]
    background = bare(100 * activity.background_cpu_us / cpu)
    rows += [
        ("DB time", fixed(db_time / 1e6), "", ""),
        ("background elapsed time", fixed(activity.background_us / 1e6), "", ""),
        ("background cpu time", fixed(activity.background_cpu_us / 1e6), "", background),
        ("total CPU time", fixed(cpu / 1e6), "", ""),
    ]
    columns = (
        Column("Statistic Name", ("Statistic Name",), 42, "<"),
        Column("Time (s)", ("Time (s)",), 18),
        Column("% of DB Time", ("% of", "DB Time"), 7),
        Column("% of Total CPU Time", ("% of Total", "CPU Time"), 10),
    )
    return Table("Time Model Statistics", columns, rows)


def os_statistics(activity: Activity) -> Table:
    """Statistics of the operating system; times in hundredths of a second."""
    whole = activity.elapsed_us / 1e4 * CPUS
    user, system = (whole * pct / 100 for pct in (activity.user_pct, activity.user_pct * 0.14))
    loads = [f"{activity.user_pct / 100 * CPUS * factor:.0f}" for factor in (1.07, 0.96)]
    rows = [
        ("BUSY_TIME", fixed(round(user) + round(system), 0), ""),
        ("IDLE_TIME", fixed(round(whole) - round(user) - round(system), 0), ""),
        ("IOWAIT_TIME", fixed(whole * activity.wio_pct / 100, 0), ""),
        ("SYS_TIME", fixed(system, 0), ""),
        ("USER_TIME", fixed(user, 0), ""),
        ("LOAD", loads[0], loads[1] if loads[1] != loads[0] else ""),
        ("PHYSICAL_MEMORY_BYTES", fixed(MEMORY_GB * 2**30, 0), ""),
        ("NUM_CPUS", str(CPUS), ""),
        ("NUM_CPU_CORES", "8", ""),
        ("NUM_CPU_SOCKETS", "2", ""),
    ]
    columns = (
        Column("Statistic", ("Statistic",), 25, "<"),
        Column("Value", ("Value",), 22),
        Column("End Value", ("End Value",), 16),
    )
    return Table("Operating System Statistics", columns, rows)


def foreground_classes(activity: Activity) -> Table:
    """Waits of foreground sessions by class, and their CPU."""
    found = [(time_us, name, count, late) for name, (count, time_us, late) in by_class(activity.foreground).items()]
    rows = []
    for time_us, name, count, late in sorted([*found, (activity.cpu_us, "DB CPU", 0, 0)], reverse=True):
        waits, timeouts = (fixed(count, 0), timeout_share(late, count)) if count else ("", "")
        share = fixed(100 * time_us / activity.db_time_us)
        rows.append((name, waits, timeouts, fixed(time_us / 1e6, 0), millis(time_us, count), share))
    columns = (
        Column("Wait Class", ("Wait Class",), 20, "<"),
        Column("Waits", ("Waits",), 15),
        Column("%Time -outs", ("%Time", "-outs"), 5),
        Column("Total Wait Time (s)", ("Total Wait", "Time (s)"), 15),
        Column("Avg wait (ms)", ("Avg", "wait (ms)"), 11),
        Column("%DB time", ("%DB time",), 9),
    )
    return Table("Foreground Wait Class", columns, rows)


def timeout_share(timeouts: int, count: int) -> str:
    """Waits that timed out, in per cent: blank without any, 0 for few."""
    return f"{100 * timeouts / count:.0f}" if timeouts else ""


def event_table(title: str, waits: tuple[Wait, ...], activity: Activity, whole_us: int, share: str) -> Table:
    """Events by their time, the idle ones last and without a share."""
    rows = []
    for one in sorted(waits, key=lambda one: (one.wait_class == "Idle", -one.time_us)):
        part = "" if one.wait_class == "Idle" else bare(100 * one.time_us / whole_us)
        numbers = (fixed(one.count, 0), timeout_share(one.timeouts, one.count), fixed(one.time_us / 1e6, 0))
        per_transaction = fixed(one.count / activity.transactions)
        rows.append((one.event, *numbers, millis(one.time_us, one.count), per_transaction, part))
    columns = (
        Column("Event", ("Event",), 26, "<"),
        Column("Waits", ("Waits",), 11),
        Column("%Time -outs", ("%Time", "-outs"), 5),
        Column("Total Wait Time (s)", ("Total", "Wait", "Time (s)"), 8),
        Column("Avg wait (ms)", ("Avg", "wait (ms)"), 10),
        Column("Waits /txn", ("Waits", "/txn"), 8),
        Column(share, tuple(share.rsplit(" ", 1)), 6),
    )
    return Table(title, columns, rows)


def histogram(activity: Activity) -> Table:
    """Waits of each event by how long they took; foreground and background together."""
    counts: dict[str, list[int]] = {}
    idle = {one.event for one in (*activity.foreground, *activity.background) if one.wait_class == "Idle"}
    for one in (*activity.foreground, *activity.background):
        before = counts.get(one.event, [0] * len(one.ranges))
        counts[one.event] = [first + second for first, second in zip(before, one.ranges, strict=True)]
    rows = []
    for event in sorted(counts, key=lambda event: (event in idle, event)):
        whole = sum(counts[event])
        shares = [bare(100 * count / whole) if count else "" for count in counts[event]]
        rows.append((event, in_thousands(whole), *shares))
    ranges = ("<1ms", "<2ms", "<4ms", "<8ms", "<16ms", "<32ms", "<=1s", ">1s")
    columns = (Column("Event", ("Event",), 25, "<"), Column("Total Waits", ("Total", "Waits"), 6))
    return Table("Wait Event Histogram", (*columns, *(Column(one, (one,), 5) for one in ranges)), rows)


class Statement(NamedTuple):
    """A statement's part in an hour."""

    elapsed_s: float
    executions: int
    reads: int
    row: tuple[float, ...]
    sql_id: str
    text: tuple[str, str]


def statements(activity: Activity) -> list[Statement]:
    """What each statement took of the hour."""
    reads = activity.cached_blocks + activity.direct_blocks
    return [
        Statement(
            activity.db_time_us / 1e6 * share,
            max(1, round(activity.executes / 1000 * executions)),
            round(reads * read_share),
            (100 * share, 100 * cpu, 100 * io),
            sql_id,
            (module, text),
        )
        for share, cpu, io, read_share, executions, sql_id, module, text in _STATEMENTS
    ]


def sql_by_elapsed(activity: Activity) -> Table:
    """Statements by their elapsed time."""
    found = sorted(statements(activity), key=lambda one: -one.elapsed_s)
    rows = [
        (
            fixed(one.elapsed_s),
            fixed(one.executions, 0),
            fixed(one.elapsed_s / one.executions, 2),
            *(bare(share) for share in one.row),
            one.sql_id,
        )
        for one in found
    ]
    columns = (
        Column("Elapsed Time (s)", ("Elapsed", "Time (s)"), 16),
        Column("Executions", ("Executions",), 14),
        Column("Elapsed Time per Exec (s)", ("Elapsed Time", "per Exec (s)"), 13),
        Column("%Total", ("%Total",), 6),
        Column("%CPU", ("%CPU",), 6),
        Column("%IO", ("%IO",), 6),
        Column("SQL Id", ("SQL Id",), 13, "<"),
    )
    return Table("SQL ordered by Elapsed Time", columns, rows, texts=tuple(one.text for one in found))


def sql_by_reads(activity: Activity) -> Table:
    """Statements by the blocks they read."""
    found = sorted(statements(activity), key=lambda one: -one.reads)
    total = activity.cached_blocks + activity.direct_blocks
    rows = [
        (
            fixed(one.reads, 0),
            fixed(one.executions, 0),
            fixed(one.reads / one.executions),
            bare(100 * one.reads / total),
            fixed(one.elapsed_s),
            *(bare(share) for share in one.row[1:]),
            one.sql_id,
        )
        for one in found
    ]
    columns = (
        Column("Physical Reads", ("Physical", "Reads"), 11),
        Column("Executions", ("Executions",), 11),
        Column("Reads per Exec", ("Reads", "per Exec"), 10),
        Column("%Total", ("%Total",), 6),
        Column("Elapsed Time (s)", ("Elapsed", "Time (s)"), 10),
        Column("%CPU", ("%CPU",), 6),
        Column("%IO", ("%IO",), 6),
        Column("SQL Id", ("SQL Id",), 13, "<"),
    )
    return Table("SQL ordered by Reads", columns, rows, texts=tuple(one.text for one in found))


def instance_activity(activity: Activity) -> Table:
    """Statistics of V$SYSSTAT that the other tables are made of."""
    a = activity
    reads, requests = a.cached_blocks + a.direct_blocks, a.cached_requests + a.direct_requests
    totals = {
        "CPU used by this session": round((a.cpu_us + a.background_cpu_us) / 1e4),
        "DB time": round(a.db_time_us / 1e4),
        "db block changes": a.changes,
        "execute count": a.executes,
        "logons cumulative": a.logons,
        "parse count (hard)": a.hard_parses,
        "parse count (total)": a.parses,
        "physical read IO requests": requests,
        "physical read bytes": reads * BLOCK,
        "physical read total IO requests": requests + controls(a),
        "physical read total bytes": reads * BLOCK + controls(a) * 16_384,
        "physical reads": reads,
        "physical reads cache": a.cached_blocks,
        "physical reads direct": a.direct_blocks,
        "physical write IO requests": a.write_requests,
        "physical write bytes": a.write_blocks * BLOCK,
        "physical writes": a.write_blocks,
        "redo size": a.redo_bytes,
        "redo writes": a.log_writes,
        "session logical reads": a.gets,
        "user calls": a.calls,
        "user commits": a.transactions - a.rollbacks,
        "user rollbacks": a.rollbacks,
    }
    rows = [
        (name, fixed(total, 0), fixed(a.rate(total)), fixed(total / a.transactions))
        for name, total in sorted(totals.items(), key=lambda pair: pair[0].lower())
    ]
    columns = (
        Column("Statistic", ("Statistic",), 32, "<"),
        Column("Total", ("Total",), 18),
        Column("per Second", ("per Second",), 14),
        Column("per Trans", ("per Trans",), 13),
    )
    return Table("Instance Activity Stats", columns, rows)


def parameters(activity: Activity) -> Table:
    """Initialization parameters; the second value where it changed within the hour."""
    hour = activity.hour
    begin, end = (str(size * 2**20) for size in hour.cache_mb)
    found = {
        "compatible": hour.instance.release,
        "cpu_count": str(CPUS),
        "db_block_size": str(BLOCK),
        "db_file_multiblock_read_count": "128",
        "db_name": hour.instance.database,
        "disk_asynch_io": "TRUE",
        "filesystemio_options": "NONE" if hour.has_page_cache else "SETALL",
        "log_buffer": str(32_768 * 1024),
        "pga_aggregate_target": str(4 * 2**30),
        "processes": "600",
        "sga_max_size": str(24 * 2**30),
        "shared_pool_size": str(3 * 2**30),
        "undo_tablespace": "UNDOTBS1",
    }
    rows = [(name, value, "") for name, value in found.items()]
    rows.append(("db_cache_size", begin, "" if begin == end else end))
    columns = (
        Column("Parameter Name", ("Parameter Name",), 29, "<"),
        Column("Begin value", ("Begin value",), 33, "<"),
        Column("End value (if different)", ("End value", "(if different)"), 14, "<"),
    )
    return Table("init.ora Parameters", columns, sorted(rows))
