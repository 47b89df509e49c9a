"""Writes the figures that five articles published, in the layout of the tool that prints each figure.

The figures are data in this file; no sentence of an article is. Where an article shows a table, the columns
stand where the article has them, even where they have slipped from under their ruler: that is how such a
table is pasted into a notebook. ``sample_data/README.md`` names the articles, and says what is published and
what is only layout.

    python3 sample_data/make/make_articles.py [FOLDER]

FOLDER is ``sample_data/articles`` unless given. The same figures give the same bytes.
"""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path
from typing import NamedTuple

ARTICLES = Path(__file__).resolve().parent.parent / "articles"

Rows = tuple[tuple[str, ...], ...]


class PastedTable(NamedTuple):
    """A table of an AWR text report as an article shows it.

    A column is where its cells start (``"<"``) or end (``">"``), counted from the start of the line.
    """

    heading: tuple[str, ...]
    columns: tuple[tuple[str, int], ...]
    rows: Rows


# 000: "Are Oracle Direct Path Reads Faster Than DB File Scattered Reads?"

MEDIANS = (
    ("test", "read", "io", "wait_event", "median_s", "n"),
    ("1", "buffered", "synchronous", "db file scattered read", "6.910", "31"),
    ("2", "direct", "synchronous", "direct path read", "5.654", "31"),
    ("3", "direct", "asynchronous", "", "5.714", "31"),
)

SYNC_PID = 61095
SYNC_READS = (  # gap in s, file descriptor, first 8 bytes of the block (the article shows 32), file offset
    ("0.002408", 268, r"\6\242\0\0\202w\1\10", 787496960),
    ("0.002132", 269, r"\6\242\0\0\202\303@\10", 410009600),
    ("0.002214", 268, r"\6\242\0\0\2x\1\10", 788545536),
    ("0.002334", 269, r"\6\242\0\0\2\304@\10", 411058176),
)

ASYNC_PID = 60625
ASYNC_CONTEXT = 140613531254784
READ_BYTES = 1032192
REQUESTS = {  # file descriptor: the request's own address, its buffer
    268: ("0x7fe32019ec40", "0x7fe31fd41000"),
    269: ("0x7fe32019f2a0", "0x7fe31fe51000"),
}
ASYNC_CALLS: tuple[tuple[str, int | None, int | None], ...] = (
    # gap in s, file descriptor and offset of a submitted read; both None where the two reads are collected
    ("0.000251", None, None),
    ("0.001960", 268, 908083200),
    ("0.002251", 269, 531644416),
    ("0.000245", None, None),
    ("0.002061", 268, 909131776),
)


def write_relative(gap: str, call: str) -> str:
    """A line of ``strace -r``: seconds since the line before, and the call."""
    return f"{gap:>13} {call}"


def write_sync_reads() -> str:
    """Four preads of two data files under ``strace -rp``, as strace 4.8 spells them."""
    lines = [f"Process {SYNC_PID} attached"]
    lines += [
        write_relative(gap, f'pread({fd}, "{head}"..., {READ_BYTES}, {offset}) = {READ_BYTES}')
        for gap, fd, head, offset in SYNC_READS
    ]
    return "\n".join(lines) + "\n"


def write_async_reads() -> str:
    """Three submissions and two collections of reads under ``strace -rp``, as strace 4.8 spells them."""
    events = ", ".join(f"{{{data}, {data}, {READ_BYTES}, 0}}" for data, _ in REQUESTS.values())
    lines = [f"Process {ASYNC_PID} attached"]
    for gap, fd, offset in ASYNC_CALLS:
        if fd is None:
            call = f"io_getevents({ASYNC_CONTEXT}, 2, 128, {{{events}}}, {{0, 0}}) = 2"
        else:
            data, buffer = REQUESTS[fd]
            request = f"data:{data}, pread, filedes:{fd}, buf:{buffer}, nbytes:{READ_BYTES}, offset:{offset}"
            call = f"io_submit({ASYNC_CONTEXT}, 1, {{{{{request}}}}}) = 1"
        lines.append(write_relative(gap, call))
    return "\n".join(lines) + "\n"


# 001: "Logical I/O"

LOGICAL_IO = (
    ("row_length", "columns", "us_per_lio_a", "us_per_lio_b"),
    ("2500", "1", "1.44", "5.04"),
    ("2500", "5", "1.34", "5.44"),
    ("2500", "25", "1.43", "5.39"),
    ("250", "1", "2.06", "8.87"),
    ("250", "5", "4.41", "8.97"),
    ("250", "25", "2.50", "8.64"),
    ("25", "1", "5.32", "8.56"),
    ("25", "5", "5.52", "8.29"),
    ("25", "25", "6.85", "8.94"),
)

PROFILE = (
    ("kcbz_fp_buf", 13),
    ("kdst_fetch", 14),
    ("skgslcas", 30),
    ("kcbgtcr", 181),
    ("kdstf00000010000kmP", 316),
)


def write_profile() -> str:
    """An aggregation of ``dtrace``: the function on the CPU, and how many samples found it there."""
    return "".join(f"  oracle`{function:<19}{count:>6}\n" for function, count in PROFILE)


# 002: "db file parallel read on Linux and HP-UX"

PARALLEL_READS = {
    "002_linux": ("00:00:09.16", "00:00:09.17", "00:00:09.28", "00:00:09.18", "00:00:09.20"),
    "002_hpux": ("00:01:03.27", "00:00:19.23", "00:00:19.28", "00:00:19.35", "00:00:19.43"),
    "002_linux_directio": ("00:01:12.03", "00:01:06.69", "00:01:12.98", "00:01:10.14", "00:01:07.21"),
}


def write_flushed_runs(elapsed: tuple[str, ...]) -> str:
    """A spool that empties the buffer cache before every run of one query; only the query is timed."""
    run = (
        "SQL> alter system flush buffer_cache;\n"
        "\n"
        "System altered.\n"
        "\n"
        "SQL> select /*+ index(test testi) */ sum(blocks) from test;\n"
        "\n"
        "Elapsed: {}\n"
        "\n"
    )
    return "".join(run.format(time) for time in elapsed)


# 003: "Effects of the values 'Setall' vs 'None' on the Oracle initialization parameter filesystemIO_options"

SETALL_EVENTS = PastedTable(
    heading=(
        "                                       Total Wait  Wait     % DB    Wait",
        "Event                            Waits Time (sec)  Avg(ms)  time    Class",
        "------------------------------ ------- ---------- -------- ----- --------",
    ),
    columns=(("<", 0), (">", 39), (">", 49), (">", 58), (">", 64), ("<", 65)),
    rows=(
        ("db file sequential read", "55,702", "11.1K", "199.49", "74.1", "User I/O"),
        ("db file parallel read", "7,101", "3890.4", "547.86", "25.9", "User I/O"),
        ("DB CPU", "", "17.9", "", ".1", ""),
        ("cursor: pin S wait on X", "53", "2.9", "55.09", ".0", "Concurre"),
        ("library cache load lock", "93", "2.3", "24.25", ".0", "Concurre"),
        ("db file scattered read", "47", "2", "41.62", ".0", "User I/O"),
        ("read by other session", "107", "1.6", "15.19", ".0", "User I/O"),
        ("log file sync", "27", "1.5", "55.75", ".0", "Commit"),
        ("Disk file operations I/O", "63", "1.3", "21.14", ".0", "User I/O"),
        ("control file sequential read", "123", "1.1", "9.20", ".0", "System I"),
    ),
)

SETALL_CLASSES = PastedTable(
    heading=(
        "                                           Avg             Avg",
        "                            Total Wait    Wait   % DB   Active",
        "Wait Class         Waits    Time (sec)    (ms)   time Sessions",
        "-------------- ---------- ------------ ------- ------ --------",
    ),
    columns=(("<", 0), (">", 25), (">", 38), (">", 46), (">", 52), (">", 60)),
    rows=(
        ("User I/O", "71,514", "15,558", "217.55", "103.7", "8.3"),
        ("System I/O", "14,235", "1,071", "75.23", "7.1", "0.6"),
        ("DB CPU", "", "", "", ".1", "0.0"),
        ("Concurrency", "203", "6", "29.23", ".0", "0.0"),
        ("Commit", "38", "2", "49.41", ".0", "0.0"),
        ("Other", "526", "2", "3.04", ".0", "0.0"),
        ("Network", "80", "0", "0.00", ".0", "0.0"),
    ),
)

NONE_EVENTS = PastedTable(
    heading=(
        "Event                              Waits     Time     Wait  % DB     Wait",
        "                                            (sec)  Avg(ms)  time    Class",
        "------------------------------ ---------- ------- -------- ----- --------",
    ),
    columns=(("<", 0), (">", 41), (">", 49), (">", 58), (">", 64), ("<", 65)),
    rows=(
        ("free buffer waits", "2,528,630", "26.2K", "10.35", "90.0", "Configur"),
        ("db file parallel read", "226,393", "1569", "6.93", "5.4", "User I/O"),
        ("db file sequential read", "1,603,321", "320.2", "0.20", "1.1", "User I/O"),
        ("buffer exterminate", "19,919", "200.4", "10.06", ".7", "Other"),
        ("DB CPU", "", "138", "", ".5", ""),
        ("write complete waits", "47", "136.9", "2912.46", ".5", "Configur"),
        ("latch: cache buffers chains", "16,208", "135", "8.33", ".5", "Concurre"),
        ("latch: cache buffers lru chain", "26,913", "116.8", "4.34", ".4", "Other"),
        ("db file scattered read", "1,513", "49", "32.39", ".2", "User I/O"),
        ("log buffer space", "99", "23.5", "237.62", ".1", "Configur"),
    ),
)

NONE_CLASSES = PastedTable(
    heading=(
        "                                                    Avg             Avg",
        "                                  Total Wait       Wait   % DB   Active",
        "Wait Class            Waits       Time (sec)       (ms)   time Sessions",
        "-------------- ------------ ---------------- ---------- ------ --------",
    ),
    columns=(("<", 0), (">", 27), (">", 43), (">", 55), (">", 62), (">", 70)),
    rows=(
        ("Configuration", "2,792,212", "29,067", "10.41", "100.0", "8.1"),
        ("System I/O", "23,147", "3,611", "155.99", "12.4", "1.0"),
        ("User I/O", "1,867,661", "1,953", "1.05", "6.7", "0.5"),
        ("Other", "53,904", "396", "7.34", "1.4", "0.1"),
        ("Concurrency", "18,577", "229", "12.32", ".8", "0.1"),
        ("DB CPU", "", "138", "", ".5", "0.0"),
        ("Commit", "50", "1", "13.11", ".0", "0.0"),
        ("Network", "72", "0", "0.00", ".0", "0.0"),
    ),
)


def write_rows(table: PastedTable) -> list[str]:
    """The lines of a table: its heading, then each cell at its column."""
    lines = list(table.heading)
    for row in table.rows:
        line = ""
        for cell, (side, position) in zip(row, table.columns, strict=True):
            start = position if side == "<" else position - len(cell)
            line = line.ljust(start) + cell if cell else line
        lines.append(line)
    return lines


def write_fragment(events: PastedTable, classes: PastedTable) -> str:
    """Two tables of an AWR text report, as they are pasted: the top events, then the wait classes."""
    lines = ["Top 10 Foreground Events by Total Wait Time", "", *write_rows(events)]
    lines += ["", "Wait Classes by Total Wait Time", *write_rows(classes)]
    return "\n".join(lines) + "\n"


# 004: "Exadata flash cache latency .4 milliseconds"


TIMED_QUERY = """\
SQL> select sum(BLOCKS) from test;

SUM(BLOCKS)
-----------
 1983309312

Elapsed: 00:00:00.73

Statistics
----------------------------------------------------------
       7239  physical reads

SQL> set autotrace off
SQL> set timing off
"""

REQUESTS_READ = ("physical read total IO requests", "1841")
# the statement, the heading of its second column, the width of its first, its rows
LISTINGS: tuple[tuple[str, str, int, Rows], ...] = (
    (
        """\
SQL> select a.name, b.value from v$statname a, v$mystat b where a.statistic# = b.statistic#
  2  and a.name in ('physical read total IO requests', 'cell flash cache read hits');
""",
        "VALUE",
        31,
        (REQUESTS_READ, ("cell flash cache read hits", "1837")),
    ),
    (
        """\
SQL> select a.name, b.value/1024/1024 mb from v$statname a, v$mystat b where a.statistic# = b.statistic#
  2  and a.name = 'physical read total bytes';
""",
        "MB",
        27,
        (("physical read total bytes", "56.5546875"),),
    ),
    (
        """\
SQL> select a.name, b.value from v$statname a, v$mystat b where a.statistic# = b.statistic#
  2  and a.name = 'physical read total IO requests';
""",
        "VALUE",
        31,
        (REQUESTS_READ,),
    ),
)


def write_listing(heading: str, width: int, rows: Rows) -> str:
    """Names and values as SQL*Plus lists them: a ruler for each column, the values right-aligned in ten."""
    lines = [f"{'NAME':<{width}} {heading:>10}", f"{'-' * width} {'-' * 10}"]
    lines += [f"{name:<{width}} {value:>10}" for name, value in rows]
    return "\n".join(lines) + "\n"


def write_flash_cache_session() -> str:
    """A SQL*Plus session: a query with timing and autotrace on, then the session's statistics by name."""
    listings = [f"{statement}\n{write_listing(heading, width, rows)}\n" for statement, heading, width, rows in LISTINGS]
    return TIMED_QUERY + "".join(listings)


# What the articles say in their text and not in a table: the article, the quantity in our words, the figure as printed

CLAIMS = (
    ("article", "quantity", "printed", "unit"),
    ("000", "less time by direct reads", "17", "%"),
    ("000", "time of buffered reads", "6.9", "s"),
    ("000", "time of direct reads", "5.7", "s"),
    ("001", "blocks of a multiblock read", "128", "blocks"),
    ("001", "time of a multiblock read", "6", "ms"),
    ("001", "rate of a multiblock read", "160", "MB/s"),
    ("001", "time of as many logical I/Os", "1", "ms"),
    ("001", "physical / logical", "6", "x"),
    ("001", "logical I/O, older paper", "53", "us"),
    ("001", "physical / logical, older paper", "37", "x"),
    ("002", "HP-UX cached / Linux cached", "2", "x"),
    ("003", "length of each test", "1", "h"),
    ("004", "time of a flash cache read", ".397", "ms"),
    ("004", "time of a flash cache read, rounded", ".4", "ms"),
    ("004", "size of a flash cache read", "32", "KiB"),
    ("004", "blocks of a flash cache read", "4", "blocks"),
)


def write_csv(rows: Rows) -> str:
    """Rows with a heading as comma-separated text, one line feed a row."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def write_articles(folder: Path) -> list[Path]:
    """The files written into *folder*, one for every excerpt of the articles."""
    texts = {
        "000_medians.csv": write_csv(MEDIANS),
        "000_sync_reads.strace": write_sync_reads(),
        "000_async_reads.strace": write_async_reads(),
        "001_logical_io.csv": write_csv(LOGICAL_IO),
        "001_dtrace_profile.txt": write_profile(),
        **{f"{name}.txt": write_flushed_runs(elapsed) for name, elapsed in PARALLEL_READS.items()},
        "003_filesystemio_setall.txt": write_fragment(SETALL_EVENTS, SETALL_CLASSES),
        "003_filesystemio_none.txt": write_fragment(NONE_EVENTS, NONE_CLASSES),
        "004_exadata_flash_cache.txt": write_flash_cache_session(),
        "claims.csv": write_csv(CLAIMS),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return [folder / name for name in texts]


if __name__ == "__main__":
    for path in write_articles(Path(sys.argv[1]) if sys.argv[1:] else ARTICLES):
        print(path.name)
