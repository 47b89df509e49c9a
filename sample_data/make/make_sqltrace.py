"""Writes the sample traces: a session that traces itself, on two kinds of storage, and the TKPROF report of the first.

    python3 sample_data/make/make_sqltrace.py [FOLDER]

The session is made up: it does the same work twice, reads of one block through an index and a full scan, and what its
reads take is drawn from a distribution of each storage.  The figures of the lines follow from one history.
"""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from traced_session import Done, Session, Statement

FOLDER = Path(__file__).resolve().parent.parent / "sqltrace"
LOOKUP = Statement(
    "select /*+ index(o) */ order_id, customer_id, amount\n  from orders o\n where customer_id between :1 and :2",
    140_205_333_907_112,
    plan=("TABLE ACCESS BY INDEX ROWID BATCHED ORDERS", "INDEX RANGE SCAN ORDERS_CUSTOMER"),
    binds=((2, "1000"), (2, "1399")),
)
SCAN = Statement(
    "select sum(amount) from orders where status <> 'CLOSED'",
    140_205_333_941_888,
    plan=("SORT AGGREGATE", "TABLE ACCESS FULL ORDERS"),
)
FILE, TABLE_ID, BLOCKS = 7, 52_341, 1_000_000
#: Share of reads that the storage serves from its cache, and the medians of both kinds in us.
STORAGE = {"flash": (0.97, 180, 900), "disk": (0.62, 240, 5_600)}


def read_us(session: Session, storage: str) -> int:
    """What one request takes, in us."""
    share, fast, slow = STORAGE[storage]
    median = fast if session.random.random() < share else slow
    return max(60, round(session.random.lognormvariate(0, 0.25) * median))


def trace(storage: str, pid: int, start: datetime) -> Session:
    """The session on one kind of storage; the work is the same."""
    session = Session("19.22.0.0.0", seed=pid, start=start, pid=pid)
    random = session.random
    session.head("orders_report")

    def look_up() -> None:
        session.cpu(38, query=3)
        for _ in range(random.randint(12, 18)):
            place = random.randrange(BLOCKS)
            took = read_us(session, storage)
            session.wait(LOOKUP.cursor, "db file sequential read", took, (FILE, place, 1), TABLE_ID)
            session.cpu(random.randint(9, 16), query=1)
        session.lose(random.randint(0, 40))

    def scan() -> None:
        for number in range(140):
            blocks = 8 if number < 16 else 128
            took = round(read_us(session, storage) + blocks * 11)
            session.wait(SCAN.cursor, "db file scattered read", took, (FILE, number * 128, blocks), TABLE_ID)
            session.cpu(blocks * random.randint(7, 9), query=blocks)

    session.call("PARSE", LOOKUP, lambda: session.cpu(140), misses=1)
    session.bind(LOOKUP)
    fetched: list[Done] = [session.call("EXEC", LOOKUP, lambda: session.cpu(55))]
    for _ in range(60):
        fetched.append(session.call("FETCH", LOOKUP, look_up, rows=100))
        session.think(random.randint(300, 700), LOOKUP.cursor)
    session.row_sources(LOOKUP, fetched)
    session.close(LOOKUP)
    session.think(14_000_000)
    session.call("PARSE", SCAN, lambda: session.cpu(95), misses=1)
    executed = session.call("EXEC", SCAN, lambda: session.cpu(20))
    fetched = [executed, session.call("FETCH", SCAN, scan, rows=1)]
    session.row_sources(SCAN, fetched)
    session.think(450, SCAN.cursor)
    session.close(SCAN)
    session.commit()
    return session


def system_calls(session: Session) -> str:
    """The strace log (-f -ttt -T) of the reads of a session: each call lies within the wait of the database."""
    random = Random(session.pid)  # noqa: S311 - data for tests
    begun = round(session.start.timestamp() * 1_000_000) - session.boot
    lines = []
    for line in session.lines:
        found = re.match(r"WAIT #\d+: nam='db file .* ela= (\d+) file#=\d+ block#=(\d+) blocks=(\d+) .*tim=(\d+)", line)
        if found is None:
            continue
        waited, block, blocks, end = map(int, found.groups())
        before, after = random.randint(2, 5), random.randint(6, 24)
        start = begun + end - waited + before
        call = f'pread64(257, "..."..., {blocks * 8192}, {block * 8192}) = {blocks * 8192}'
        lines.append(f"[pid {session.pid:5}] {start / 1e6:.6f} {call} <{(waited - before - after) / 1e6:.6f}>")
    return "\n".join(lines) + "\n"


def cut(microseconds: int) -> str:
    """A time as TKPROF prints it: cut after hundredths of a second."""
    return f"{microseconds // 10_000 / 100:.2f}"


def table(calls: list[Done]) -> str:
    """The table of calls of TKPROF."""
    lines = [
        "call     count       cpu    elapsed       disk      query    current        rows",
        "------- ------  -------- ---------- ---------- ---------- ----------  ----------",
    ]
    rows = [(name, [one for one in calls if one.op == op]) for name, op in (("Parse", "PARSE"), ("Execute", "EXEC"))]
    rows.append(("Fetch", [one for one in calls if one.op == "FETCH"]))
    for name, own in (*rows, ("total", [one for _, some in rows for one in some])):
        if name == "total":
            lines.append(lines[1])
        figures = [sum(getattr(one, key) for one in own) for key in ("own_cpu", "own_elapsed", "own_disk", "query")]
        lines.append(
            f"{name:<7} {len(own):6}  {cut(figures[0]):>8} {cut(figures[1]):>10} {figures[2]:10} {figures[3]:10} "
            f"{sum(one.current for one in own):10}  {sum(one.rows for one in own):10}"
        )
    return "\n".join(lines)


def tkprof(session: Session) -> str:
    """The TKPROF report of a session."""
    stars = "*" * 80
    parts = [
        "\nTKPROF: Release 19.0.0.0.0 - Development on Mon Mar 2 23:40:11 2026\n",
        "Copyright (c) 1982, 2019, Oracle and/or its affiliates.  All rights reserved.\n",
        f"Trace file: demo1_ora_{session.pid}.trc\nSort options: default\n",
        stars,
    ]
    for statement in (LOOKUP, SCAN):
        own = [one for one in session.done if one.statement is statement]
        waits = [session.waits[place] for one in own for place in one.waits]
        parts += [f"\n{statement.text}\n\n", table(own), "\nMisses in library cache during parse: 1"]
        parts += [
            "Optimizer mode: ALL_ROWS\nParsing user id: 108  \n",
            "Elapsed times include waiting on following events:",
        ]
        parts += [
            "  Event waited on                             Times   Max. Wait  Total Waited",
            "  ----------------------------------------   Waited  ----------  ------------",
        ]
        for event in sorted({event for _, event, _, _ in waits}):
            times = [elapsed for _, name, elapsed, _ in waits if name == event]
            parts.append(f"  {event:<40} {len(times):8}  {cut(max(times)):>10}  {cut(sum(times)):>12}")
        parts.append(stars)
    parts += ["\nOVERALL TOTALS FOR ALL NON-RECURSIVE STATEMENTS\n", table(session.done), ""]
    return "\n".join(parts)


def main() -> None:
    """Write the files."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    sessions = {
        "flash": trace("flash", 4711, datetime(2026, 3, 2, 21, 0, 0, 123_456, UTC)),
        "disk": trace("disk", 4890, datetime(2026, 3, 2, 21, 30, 0, 654_321, UTC)),
    }
    files = {f"orders_{name}_ora_{session.pid}.trc": session.text for name, session in sessions.items()}
    files["orders_flash_ora_4711.prf"] = tkprof(sessions["flash"])
    files["orders_flash_4711.strace"] = system_calls(sessions["flash"])
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
        print(folder / name)


if __name__ == "__main__":
    main()
