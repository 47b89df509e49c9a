"""The first pages of a report: whose it is, its load, its top events, its wait classes, its caches."""

from __future__ import annotations

from awr_forms import Block, Column, Labels, Table
from awr_model import BLOCK, CPUS, MEMORY_GB, Activity
from awr_numbers import bare, by_class, fixed, millis, scaled, time_of

DB_ID = 2870431956


def make_summary(activity: Activity) -> list[Block]:
    """The blocks of the summary, in their order."""
    return [
        *head(activity),
        load_profile(activity),
        efficiency(activity),
        top_events(activity),
        wait_classes(activity),
        host_cpu(activity),
        cache_sizes(activity),
    ]


def head(activity: Activity) -> list[Block]:
    """Database, host and snapshots."""
    hour, own = activity.hour, activity.hour.instance
    database = Table(
        "",
        (
            Column("DB Name", ("DB Name",), 12, "<"),
            Column("DB Id", ("DB Id",), 11),
            Column("Instance", ("Instance",), 12, "<"),
            Column("Inst num", ("Inst Num",), 8),
            Column("Startup Time", ("Startup Time",), 15, "<"),
            Column("Release", ("Release",), 11, "<"),
            Column("RAC", ("RAC",), 3, "<"),
        ),
        [(own.database, str(DB_ID), own.name, "1", time_of(hour.startup, seconds=False), own.release, "NO")],
        is_section=False,
    )
    host = Table(
        "",
        (
            Column("Host Name", ("Host Name",), 16, "<"),
            Column("Platform", ("Platform",), 32, "<"),
            Column("CPUs", ("CPUs",), 4),
            Column("Cores", ("Cores",), 5),
            Column("Sockets", ("Sockets",), 7),
            Column("Memory (GB)", ("Memory(GB)",), 10),
        ),
        [(own.host, "Linux x86 64-bit", str(CPUS), "8", "2", f"{MEMORY_GB:.2f}")],
        is_section=False,
    )
    sessions = (40 + round(60 * hour.level), 41 + round(60 * hour.level))
    ends = [
        ("Begin Snap:", hour.begin_snap, hour.begin, sessions[0], "1.4"),
        ("End Snap:", hour.begin_snap + 1, hour.end, sessions[1], "1.5"),
    ]
    minutes = [("Elapsed:", activity.elapsed_us / 6e7), ("DB Time:", activity.db_time_us / 6e7)]
    text = ["              Snap Id      Snap Time      Sessions Curs/Sess"]
    text.append("            --------- ------------------- -------- ---------")
    text += [
        f"{label:>11} {snap:>9} {time_of(time, seconds=True):<19}{count:>9}{cursors:>10}"
        for label, snap, time, count, cursors in ends
    ]
    text += [f"{label:>11} {minute:>19,.2f} (mins)" for label, minute in minutes]
    rows = [
        (label, str(snap), time_of(time, seconds=True), str(count), cursors)
        for label, snap, time, count, cursors in ends
    ]
    rows += [(label, "", f"{minute:,.2f} (mins)", "", "") for label, minute in minutes]
    return [database, host, Labels("", text, ("", "Snap Id", "Snap Time", "Sessions", "Cursors/Session"), rows)]


def load_profile(activity: Activity) -> Labels:
    """Work per second and per transaction."""
    a = activity
    totals = [
        ("DB Time(s)", a.db_time_us / 1e6),
        ("DB CPU(s)", a.cpu_us / 1e6),
        ("Background CPU(s)", a.background_cpu_us / 1e6),
        ("Redo size (bytes)", a.redo_bytes),
        ("Logical read (blocks)", a.gets),
        ("Block changes", a.changes),
        ("Physical read (blocks)", a.cached_blocks + a.direct_blocks),
        ("Physical write (blocks)", a.write_blocks),
        ("Read IO requests", a.cached_requests + a.direct_requests),
        ("Write IO requests", a.write_requests),
        ("Read IO (MB)", (a.cached_blocks + a.direct_blocks) * BLOCK / 2**20),
        ("Write IO (MB)", a.write_blocks * BLOCK / 2**20),
        ("User calls", a.calls),
        ("Parses (SQL)", a.parses),
        ("Hard parses (SQL)", a.hard_parses),
        ("Logons", a.logons),
        ("Executes (SQL)", a.executes),
        ("Rollbacks", a.rollbacks),
        ("Transactions", a.transactions),
    ]
    rows = []
    for label, total in totals:
        per = ["", "", ""]
        if label != "Transactions":
            per[0] = fixed(total / a.transactions)
        if label.endswith("(s)"):
            per[1:] = [fixed(total / a.executes, 2), fixed(total / a.calls, 2)]
        rows.append((f"{label}:", fixed(a.rate(total)), *per))
    text = [
        f"{'Load Profile':<27}{'Per Second':>15}   {'Per Transaction':>15}  Per Exec  Per Call",
        f"{'~' * 15:<27}{'-' * 15}   {'-' * 15} {'-' * 9} {'-' * 9}",
    ]
    text += [f"{label:>24}{second:>18}{per:>18}{exe:>10}{call:>10}".rstrip() for label, second, per, exe, call in rows]
    return Labels("Load Profile", text, ("", "Per Second", "Per Transaction", "Per Exec", "Per Call"), rows)


def efficiency(activity: Activity) -> Labels:
    """Hit ratios."""
    a = activity
    hits = {
        "Buffer Nowait %": 100 - 100 * sum(w.count for w in a.foreground if w.event == "buffer busy waits") / a.gets,
        "Redo NoWait %": 100.0,
        "Buffer  Hit   %": 100 - 100 * a.cached_blocks / a.gets,
        "In-memory Sort %": 100.0,
        "Library Hit   %": 99.41,
        "Soft Parse %": 100 - 100 * a.hard_parses / a.parses,
        "Execute to Parse %": 100 - 100 * a.parses / a.executes,
        "Latch Hit %": 99.93,
    }
    cells = [(f"{label}:", f"{value:.2f}") for label, value in hits.items()]
    pairs = [(*cells[place], *cells[place + 1]) for place in range(0, len(cells), 2)]
    title = "Instance Efficiency Percentages (Target 100%)"
    text = [title, "~" * len(title)]
    text += [f"{one:>28}{value:>8}{other:>21}{second:>8}" for one, value, other, second in pairs]
    return Labels(title, text, ("",) * 4, pairs)


def top_events(activity: Activity) -> Table:
    """The ten that took most time, the CPU among them."""
    found = [(one.time_us, one) for one in activity.foreground if one.wait_class != "Idle"]
    ranked = sorted([*found, (activity.cpu_us, None)], key=lambda pair: -pair[0])[:10]
    rows = []
    for time_us, one in ranked:
        share = bare(100 * time_us / activity.db_time_us)
        if one is None:
            rows.append(("DB CPU", "", scaled(time_us / 1e6), "", share, ""))
        else:
            average = millis(time_us, one.count)
            rows.append((one.event, fixed(one.count, 0), scaled(time_us / 1e6), average, share, one.wait_class))
    columns = (
        Column("Event", ("Event",), 30, "<"),
        Column("Waits", ("Waits",), 11),
        Column("Total Wait Time (sec)", ("Total Wait", "Time (sec)"), 10),
        Column("Wait Avg(ms)", ("Wait", "Avg(ms)"), 10),
        Column("% DB time", ("% DB", "time"), 6),
        Column("Wait Class", ("Wait", "Class"), 8, "<"),
    )
    return Table("Top 10 Foreground Events by Total Wait Time", columns, rows, is_section=False)


def wait_classes(activity: Activity) -> Table:
    """Waits by class, foreground and background."""
    sums = by_class((*activity.foreground, *activity.background))
    found = [(time_us, name, count) for name, (count, time_us, _) in sums.items()]
    rows = []
    for time_us, name, count in sorted([*found, (activity.cpu_us, "DB CPU", 0)], reverse=True):
        share = bare(100 * time_us / activity.db_time_us)
        sessions = fixed(time_us / activity.elapsed_us)
        waits = fixed(count, 0) if count else ""
        rows.append((name, waits, fixed(time_us / 1e6, 0), millis(time_us, count), share, sessions))
    columns = (
        Column("Wait Class", ("Wait Class",), 16, "<"),
        Column("Waits", ("Waits",), 16),
        Column("Total Wait Time (sec)", ("Total Wait", "Time (sec)"), 16),
        Column("Avg Wait (ms)", ("Avg", "Wait", "(ms)"), 11),
        Column("% DB time", ("% DB", "time"), 6),
        Column("Avg Active Sessions", ("Avg", "Active", "Sessions"), 8),
    )
    return Table("Wait Classes by Total Wait Time", columns, rows, is_section=False)


def host_cpu(activity: Activity) -> Table:
    """CPU use of the host."""
    load = activity.user_pct / 100 * CPUS
    system = activity.user_pct * 0.14
    idle = 100 - activity.user_pct - system
    columns = (
        Column("CPUs", ("CPUs",), 5),
        Column("Cores", ("Cores",), 5),
        Column("Sockets", ("Sockets",), 7),
        Column("Load Average Begin", ("Begin",), 9),
        Column("Load Average End", ("End",), 9),
        Column("%User", ("%User",), 9),
        Column("%System", ("%System",), 9),
        Column("%WIO", ("%WIO",), 9),
        Column("%Idle", ("%Idle",), 9),
    )
    figures = (load * 1.07, load * 0.96)
    shares = (activity.user_pct, system, activity.wio_pct, idle)
    row = (str(CPUS), "8", "2", *(f"{one:.2f}" for one in figures), *(f"{one:.1f}" for one in shares))
    return Table("Host CPU", columns, [row], is_section=False, group=" " * 18 + "Load Average")


def cache_sizes(activity: Activity) -> Labels:
    """Sizes of the caches at both snapshots."""
    begin, end = activity.hour.cache_mb
    rows = [
        ("Buffer Cache:", f"{begin:,}M", f"{end:,}M", "Std Block Size:", "8K"),
        ("Shared Pool Size:", "3,072M", "3,072M", "Log Buffer:", "32,768K"),
    ]
    text = [f"{'Cache Sizes':<29}{'Begin':>10} {'End':>10}", f"{'~' * 11:<29}{'-' * 10} {'-' * 10}"]
    text += [f"{label:>28}{first:>11}{last:>11}{other:>17}{value:>11}" for label, first, last, other, value in rows]
    return Labels("Cache Sizes", text, ("", "Begin", "End", "", ""), rows)
