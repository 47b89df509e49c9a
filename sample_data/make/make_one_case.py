"""Writes the spool and the AWR report of the test whose SQL trace and system calls `make_sqltrace.py` writes.

    python3 sample_data/make/make_one_case.py [FOLDER]

The spool is what the client of the traced session printed: its times and counts follow from that session's history.
The report is of the ten minutes around it, on the same instance, with the work of other sessions in it.
FOLDER is ``sample_data/one_case`` unless given.
"""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from awr_model import Hour, Instance
from make_awr_series import write_report
from make_sqltrace import LOOKUP, SCAN, trace

if TYPE_CHECKING:
    from traced_session import Session, Statement

FOLDER = Path(__file__).resolve().parent.parent / "one_case"
#: The ten minutes of the report, in the local time of the database host (two hours east of Greenwich).
PERIOD = Hour(
    begin_snap=881,
    begin=datetime(2026, 3, 2, 22, 55, 3),  # noqa: DTZ001 - a report has no time zone
    end=datetime(2026, 3, 2, 23, 5, 4),  # noqa: DTZ001 - see above
    startup=datetime(2026, 2, 8, 5, 12),  # noqa: DTZ001 - see above
    kind="quiet",
    level=1.0,
    has_page_cache=True,
    cache_mb=(2_048, 2_048),
    instance=Instance("DEMO", "demo1", "demo.example.com", "19.0.0.0.0"),
)
ANSWER = "SUM(AMOUNT)\n-----------\n   48213377\n"


def client_us(session: Session, statement: Statement) -> int:
    """What the client saw a statement take: its calls, and the waits for the client between them."""
    waited = rf"WAIT #{statement.cursor}: nam='SQL\*Net message from client' ela= (\d+)"
    idle = sum(int(found) for found in re.findall(waited, session.text))
    return sum(one.own_elapsed for one in session.done if one.statement is statement) + idle


def statement_of(session: Session, statement: Statement) -> str:
    """A statement as SQL*Plus prints it with times and the statistics of autotrace."""
    own = [one for one in session.done if one.statement is statement]
    rows, fetches = sum(one.rows for one in own), sum(one.op == "FETCH" for one in own)
    first, *others = (line.strip() for line in statement.text.split("\n"))
    text = "\n".join([f"SQL> {first}", *(f"  {number}  {line}" for number, line in enumerate(others, 2))]) + ";"
    result = f"\n{rows} rows selected.\n" if rows > 1 else f"\n{ANSWER}"
    counts = {
        "recursive calls": 0,
        "db block gets": sum(one.current for one in own),
        "consistent gets": sum(one.query for one in own),
        "physical reads": sum(one.own_disk for one in own),
        "redo size": 0,
        "bytes sent via SQL*Net to client": 361 + 19 * rows,
        "bytes received via SQL*Net from client": 388 + 11 * fetches,
        "SQL*Net roundtrips to/from client": fetches + 1,
        "sorts (memory)": 0,
        "sorts (disk)": 0,
        "rows processed": rows,
    }
    listing = "\n".join(f"{count:11}  {name}" for name, count in counts.items())
    elapsed = f"00:00:{client_us(session, statement) // 10_000 / 100:05.2f}"
    return f"{text}\n{result}\nElapsed: {elapsed}\n\nStatistics\n{'-' * 58}\n{listing}\n"


def spool(session: Session) -> str:
    """The spool of the client."""
    head = "SQL> set arraysize 100\nSQL> set timing on\nSQL> set autotrace traceonly statistics\n"
    first, second = (statement_of(session, one) for one in (LOOKUP, SCAN))
    first = first.replace(":1 and :2", ":lo and :hi")
    head += "SQL> variable lo number\nSQL> variable hi number\nSQL> exec :lo := 1000; :hi := 1399\n\n"
    head += "PL/SQL procedure successfully completed.\n\nElapsed: 00:00:00.00\n"
    return "\n".join([head, first, f"SQL> set autotrace on statistics\n{second}", "SQL> spool off\n"])


def main() -> None:
    """Write the files."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    session = trace("flash", 4711, datetime(2026, 3, 2, 21, 0, 0, 123_456, UTC))
    files = {"awrrpt_1_881_882.txt": write_report(PERIOD, "text"), "orders_flash.lst": spool(session)}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
        print(name)


if __name__ == "__main__":
    main()
