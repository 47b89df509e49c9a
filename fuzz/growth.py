"""``python -m fuzz.growth``: shapes that were once slow, doubled: the time may double too, not more.

Each shape is a function of a size, and its text grows in proportion to it. CPU seconds are taken of one process and of
the least of a few runs; a ratio is judged once the time is long enough to be measured.
"""

from __future__ import annotations

import gc
import sys
import time
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import click

from fuzz.invariants import frames_of, read

if TYPE_CHECKING:
    from collections.abc import Callable

#: A doubled input takes at most so many times as long.
MOST: Final = 2.3
#: CPU seconds from which a ratio is judged: below them the fixed cost of a read counts.
_LONG_ENOUGH_S: Final = 0.3
#: CPU seconds after which a shape is not doubled again.
_ENOUGH_S: Final = 1.0
#: So many times the bytes and seconds are allowed to a shape that seems to grow too fast.
_MORE: Final = 3
_RUNS: Final = 2
_FIRST: Final = 2_000
_LARGEST: Final = 8_000_000

_CALL: Final = '1795253115.{:06d} read({}, "a", 4096) = 1 <0.000041>\n'
_SUBMIT: Final = "0.000000 io_submit(7, 2, [{{pread, fildes=6, nbytes=8192, offset=0}}, {{pread, a..{}=7}}]) = 2\n"
_ECHO: Final = "SQL> select {0} from dual;\n\n" + " " * 9 + "{0}\n----------\n{0:10d}\n\nElapsed: 00:00:00.01\n"
_TRACE: Final = (
    "PARSING IN CURSOR #{0} len=13 dep=0 uid=0 oct=3 lid=0 tim={1} hv=1 ad='0' sqlid='a{0}'\n"
    "select {0:6d}\nEND OF STMT\n"
    "EXEC #{0}:c=1,e=2,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,plh=0,tim={1}\n"
)
#: Oracle nests no deeper (ORA-00036).
_DEEPEST: Final = 50
_ONE: Final = "SQL> select 1 from dual;\n"
_TIMED: Final = "\nElapsed: 00:00:01.00\n"
_ROWS: Final = "SQL> select n, m from t;\n\n         N          M\n---------- ----------\n"
_NAMES: Final = _ONE + "\nNAME                 VALUE\n---------------- ---------\nconsistent gets         12\n"
_PLAN: Final = (
    _ONE
    + "\nExecution Plan\n"
    + "-" * 58
    + "\nPlan hash value: 1\n\n"
    + "-" * 27
    + "\n| Id  | Operation | Name |\n"
    + "-" * 27
    + "\n|   0 | SELECT STATEMENT | T |\n|*  1 | TABLE ACCESS FULL | T |\n"
    + "-" * 27
    + "\n\nPredicate Information (identified by operation id):\n"
    + "-" * 51
    + '\n\n   1 - filter(("A"=1\n'
)
_OLD_PLAN: Final = _ONE + "\nExecution Plan\n" + "-" * 58 + "\n   0      SELECT STATEMENT Optimizer=ALL_ROWS (Cost=4\n"
_REPORT: Final = (
    "WORKLOAD REPOSITORY report for\n\nDB Name         DB Id    Instance     Inst Num Startup Time    Release     RAC\n"
    "------------ ----------- ------------ -------- --------------- ----------- ---\n"
    "ORCL          1234567890 orcl                1 01-Jan-20 00:00 12.2.0.1.0  NO\n\n"
)
_FINDINGS: Final = (
    "          ADDM Report for Task 'TASK_1'\n          -----------------------------\n\nSummary of Findings\n"
    "-------------------\n   Description           Active Sessions      Recommendations\n"
    "                         Percent of Activity   \n"
    "   --------------------  -------------------  ---------------\n"
    "1  Buffer Busy           2.3 | 40.1           2\n"
)
_ATOP: Final = "ATOP - db1   2026/11/24 13:49:49   -----------------   10s elapsed\n"
_MARKDOWN: Final = "## Top 5 Timed Events\n\n| Event | Waits |\n|---|---|\n| log file sync | 7 |\n\n"
_PAGE: Final = "<html><title>AWR Report for DB: ORCL</title><body><h1>WORKLOAD REPOSITORY report for</h1>"
_WAITS: Final = (
    "<table summary='This table displays top 10 wait events'><tr><th>Event</th><th>Waits</th></tr>"
    "<tr><td>log file sync</td><td>7</td></tr></table>"
)


def many(line: str, size: int) -> str:
    """So many lines, each with its number in it."""
    return "".join(line.format(number % 1_000_000, 3 + number) for number in range(size // len(line) + 1))


#: Name of each shape, and its text at a size of about so many bytes.
SHAPES: Final[dict[str, Callable[[int], str]]] = {
    "strace: calls": lambda n: many(_CALL, n),
    "strace: blanks after a number": lambda n: "close(3) = 0\n3939" + " " * n,
    "strace: digits before a call": lambda n: f"12:00:00.000001 (+ {'1' * n}.000001) close(3) = 0\n",
    "strace: opening brackets": lambda n: _CALL.format(1, 3) + "read(" + "(" * n + "\n",
    "strace: a long word after a call": lambda n: _CALL.format(1, 3) * 3 + "close(3) = 0" + "x" * n + "\n",
    "strace: commas": lambda n: _CALL.format(1, 3) + "writev(3, [" + "{}, " * (n // 4) + "\n",
    "strace: blanks among the arguments": lambda n: _SUBMIT.format("") * 3 + _SUBMIT.format(" " * n),
    "strace: sockets among the arguments": lambda n: (
        _CALL.format(1, 3) * 3 + "poll(" + "5<UNIX:[7]>" * (n // 11) + "\n"
    ),
    "strace: shifts among the arguments": lambda n: _CALL.format(1, 3) + "poll(" + "1<<a>b>" * (n // 7) + "\n",
    "strace: quotes and backslashes": lambda n: _CALL.format(1, 3) + 'read(3, "' + '\\"' * (n // 2) + "\n",
    "strace: many unfinished calls": lambda n: many("{1} 12:00:00.{0:06d} read(3, <unfinished ...>\n", n),
    "strace: many processes": lambda n: many("{1} 12:00:00.{0:06d} close(3) = 0\n", n),
    "strace: nothing that parses": lambda n: _CALL.format(1, 3) + many("what {0} is this {1}\n", n),
    "spool: statements": lambda n: many(_ECHO, n),
    "spool: tabs and digits": lambda n: _ONE + "\t1" * (n // 2) + "\n" + _TIMED,
    "spool: rulers": lambda n: _ONE + "--- " * (n // 8) + "\n" + "1   " * (n // 8) + "\n",
    "spool: rulers below each other": lambda n: _ONE + ("-" * 20 + "\n") * (n // 21) + _TIMED,
    "spool: a quote without end": lambda n: "SQL> select '\n" + many("  2  abc {} {}\n", n),
    "spool: a comment without end": lambda n: "SQL> select /*\n" + many("  2  abc {} {}\n", n),
    "spool: prompts alone": lambda n: _ONE + "SQL> \n" * (n // 6) + _TIMED,
    "spool: rows": lambda n: _ROWS + many("{:10d} {:10d}\n", n),
    "spool: lines below an open predicate": lambda n: _PLAN + many("AND {} {}\n", n),
    "spool: lines below an open row of an old plan": lambda n: _OLD_PLAN + many("cut {} {}x\n", n),
    "spool: signs of an old plan": lambda n: _OLD_PLAN + "   1    0   TABLE ACCESS OF  (" + "=" * n + "\n" + _TIMED,
    "spool: blanks in a row of Snapper": lambda n: _ONE + "23,21" + " " * (n // 2) + "x" * (n // 2) + "4\n" + _TIMED,
    "spool: blanks after a time": lambda n: _ONE + "00:01:10" + " " * n + "(1>\tselect\n" + _TIMED,
    "spool: marks of a mail": lambda n: ">" * n + " " + _ONE + _TIMED,
    "SQL trace: cursors": lambda n: many(_TRACE, n),
    "SQL trace: open cursors and waits": lambda n: (
        "*** SESSION ID:(1.1) 2020-01-01 00:00:00.000\n"
        + many("WAIT #{0}: nam='db file sequential read' ela= 5 file#=1 block#=2 blocks=1 obj#=-1 tim={1}\n", n)
    ),
    "SQL trace: a statement without end": lambda n: _TRACE.format(1, 2).split("select")[0] + many("and {} = {}\n", n),
    "SQL trace: nested calls": lambda n: (
        _TRACE.format(1, 2)
        + "".join(
            f"EXEC #1:c=1,e=2,p=0,cr=0,cu=0,mis=0,r=0,dep={_DEEPEST - step % _DEEPEST},og=1,plh=0,tim={step}\n"
            for step in range(n // 65)
        )
    ),
    "AWR: nested tables": lambda n: _PAGE + "<table><tr><td>" * (n // 15),
    "AWR: nested lists": lambda n: _REPORT + "<ul><li>" * (n // 8),
    "AWR: nested lists of a page": lambda n: _PAGE + _WAITS + "<ul><li>" * (n // 8),
    "AWR: nested divisions": lambda n: _REPORT + "<div>" * (n // 5),
    "AWR: nested divisions of a page": lambda n: _PAGE + _WAITS + "<div>" * (n // 5),
    "AWR: attributes of a cell": lambda n: (
        _PAGE + _WAITS + "<table><tr><td " + many("a{}={} ", n).replace("\n", "") + ">1</td></tr></table>"
    ),
    "AWR: spanned cells": lambda n: (
        _PAGE
        + "<table summary='x'>"
        + "<tr><td colspan=1000 rowspan=1000>1</td></tr>" * (n // 45)
        + "</table></body></html>"
    ),
    "AWR: rows": lambda n: (
        _PAGE
        + '<table summary="This table displays top 10 wait events"><tr><th>Event</th><th>Waits</th></tr>'
        + many("<tr><td>event {}</td><td>{}</td></tr>", n)
        + "</table></body></html>"
    ),
    "AWR: cells without a row": lambda n: _PAGE + "<table>" + "<td>1" * (n // 5),
    "AWR: entities": lambda n: _PAGE + "<table><tr><td>" + "&amp;" * (n // 5),
    "AWR: text lines": lambda n: _REPORT + many("Statistic {} of a table that does not exist {}\n", n),
    "AWR: blanks in text that holds a tag": lambda n: _REPORT + "1 " + " " * n + "a\n<td>\n",
    "AWR: rulers": lambda n: _REPORT + ("-" * 20 + " ") * (n // 21) + "\n" + many("{:20d} {:20d}\n", 200),
    "AWR: blank lines": lambda n: _REPORT + "\n" * n,
    "AWR: repeated heads": lambda n: many(_REPORT, n),
    "iostat: devices": lambda n: (
        "Linux 5.4 (h)  01/01/2020  _x86_64_ (2 CPU)\n\n"
        + many("Device             tps    kB_read/s\nsda{0}   {0}.00   {1}.00\n\n", n)
    ),
    "strace: blanks before a line": lambda n: _CALL.format(1, 3) + " " * n + _CALL.format(2, 3),
    "spool: dots": lambda n: _ONE + "." * n + "x\n" + "..." + _TIMED,
    "spool: a row of numbers": lambda n: _NAMES + "physical reads " + "1 " * (n // 2) + "x 5\n" + _TIMED,
    "spool: lines run together": lambda n: (
        _ONE + "1 row selected. Elapsed: 00:00:05.85 12 consistent gets " + "0" * n + "\n" + _TIMED
    ),
    "spool: dashes": lambda n: "a\n" + "-" * n + "x\nb\n\n" + _ONE + _TIMED,
    "TKPROF: dots": lambda n: "TKPROF: Release 19.0.0.0.0\n\n" + " " + "." * n + "x\n",
    "TKPROF: a long word of a damaged identity": lambda n: (
        "TKPROF: Release 19.0.0.0.0\n\n" + "*" * 80 + "\nSQL ID: 14ys" + "0" * (n // 2) + ",a" * (n // 4) + "\n"
    ),
    "TKPROF: many words of a damaged identity": lambda n: (
        "TKPROF: Release 19.0.0.0.0\n\n" + "*" * 80 + "\nSQL ID: 14ys" + ": 1 " * (n // 4) + ",\n"
    ),
    "spool: blanks before a name": lambda n: _NAMES + " " * n + "physical reads ---\n",
    "plan: blanks of a cell": lambda n: _PLAN.partition("\n\nPredicate")[0].replace("| T |", "| T" + " " * n + "|", 1),
    "perf: blanks of a frame": lambda n: (
        "ora 4711 [001] 123.456789: 250000 cpu-clock:\n\t 8f2b1c0 kcbgtcr+0x1a3 " + " " * n + "x\n\n"
    ),
    "perf trace: blanks of a call": lambda n: (
        "0.072 (0.016 ms): ora/3239 read(fd: 3, count: 8) = 8\n" * 3
        + f"1.1 ({' ' * (n // 2)}): ora/3239 read(fd: 3{' ' * (n // 2)}x\n"
    ),
    "biotop: blanks of a row": lambda n: (
        "12:00:00 loadavg: 0.1 0.1 0.1 1/1 1\n\nPID    COMM             D MAJ MIN DISK       I/O  Kbytes  AVGms\n"
        "2 ora_lgwr W 202 1 xvda1 8 8.0 1.02\n2 ora_lgwr W 202 1   " + " " * n + "x\n"
    ),
    "folded stacks: blanks": lambda n: "main;read 5\nmain;" + "x " * 10 + " " * n + "x\nmain;write 7\n",
    "samplers: blanks of a heading": lambda n: _ONE + "Active%" + " " * n + "x\n" + _TIMED,
    "ADDM: blanks of a finding": lambda n: _FINDINGS + "1     Top SQL" + " " * (n // 2) + "0" * (n // 2) + "\n",
    "samplers: tabs": lambda n: _ONE + "\t" * (n // 2) + "x\n" + "r/s " * (n // 8) + "\n",
    "any log: a long name of a container": lambda n: "a->" * (n // 3) + "\n",
    "atop: parts of a duration": lambda n: _ATOP + "CPU | a " + "1h" * (n // 2) + "x y z |\n",
    "atop: blanks of a value": lambda n: _ATOP + "CPU | a 1" + " " * n + "x y |\n",
    "AWR: blanks of a title of Markdown": lambda n: _MARKDOWN + "**A" + " " * n + "x\n",
    "dstat: dashes": lambda n: "-" * n + "\n",
    "AWR: tables of one title": lambda n: _PAGE + "<h3>Orchard</h3><table><tr><td>1</td></tr></table>" * (n // 54),
    "AWR: openings of anchors": lambda n: _PAGE + _WAITS + "<a" * (n // 2),
    "AWR: openings of cells": lambda n: _PAGE + _WAITS + "<td" * (n // 3),
    "AWR: openings of comments": lambda n: _PAGE + _WAITS + "<!--" * (n // 4),
    "nmon: moments": lambda n: (
        "AAA,progname,nmon\nAAA,host,h\nCPU_ALL,CPU Total h,User%,Sys%\n"
        + many("ZZZZ,T{1:07d},00:00:00,01-JAN-2020\nCPU_ALL,T{1:07d},{0}.1,2.0\n", n)
    ),
}


def seconds(text: bytes) -> float:
    """CPU seconds to read a log and all of its frames."""
    took = []
    for _ in range(_RUNS):
        gc.collect()
        begin = time.process_time()
        for log in read(text):
            frames_of(log)
        took.append(time.process_time() - begin)
    return min(took)


def measured(shape: Callable[[int], str]) -> list[tuple[int, float]]:
    """Bytes and CPU seconds of a shape, doubled from a small size until it takes long enough.

    Args:
        shape: Text of the shape at a size.
    """
    found: list[tuple[int, float]] = []
    size = _FIRST
    more = 1
    while size <= more * _LARGEST and (not found or found[-1][1] < more * _ENOUGH_S):
        text = shape(size).encode()
        found.append((len(text), seconds(text)))
        size *= 2
        # what comes after a step shows that it was one
        more = _MORE if growth(found) > MOST else 1
    return found


def growth(found: list[tuple[int, float]]) -> float:
    """Ratio of the CPU seconds of the last doubled size to those of the size, where they can be measured."""
    *_, ratio = 1.0, *(second / first for (_, first), (_, second) in pairwise(found) if first >= _LONG_ENOUGH_S)
    return ratio


@click.command()
@click.argument("names", nargs=-1)
def main(names: tuple[str, ...]) -> None:
    """Measure the shapes whose name begins with one of NAMES, or all; ends with 1 where one grows too fast."""
    too_fast = 0
    for name, shape in SHAPES.items():
        if names and not name.startswith(names):
            continue
        found = measured(shape)
        ratio = growth(found)
        too_fast += ratio > MOST
        size, took = found[-1]
        click.echo(
            f"{name:40} {size:12,} bytes {took:6.2f} s, {took / size * 1e9:8.1f} ns a byte, "
            f"doubled {ratio:4.2f} times{' TOO FAST' if ratio > MOST else ''}"
        )
    sys.exit(bool(too_fast))


if __name__ == "__main__":
    main()
