"""Records of several lines, each under a ruler of its own: over pages, with a statement, and with lines missing."""

from __future__ import annotations

import polars as pl
from awr_tables import FILE_HEADS

import iolab
from awrparse import read_awr

TITLE = "Top SQL with Top Events            DB/Inst: FIG/fig1  (Nov 21 10:00 to 10:15)\n"
HEADS = """
                                                        Sampled #
                 SQL ID             Planhash        of Executions     % Activity
----------------------- -------------------- -------------------- --------------
Event                          % Event Top Row Source                    % RwSrc
------------------------------ ------- --------------------------------- -------
"""
FIRST = """          9figplumfig01           1234567891                    4          33.25
CPU + Wait for CPU               20.00 TABLE ACCESS - FULL                 11.25
select a from plums where b = 1

"""
MORE = """db file sequential read          13.25 INDEX - UNIQUE SCAN                 10.25

"""
SECOND = """          9figplumfig02           1234567892                    5          12.50
log file sync                    12.00 ** Row Source Not Available **      12.75
update plums set b = 2

"""
END = f"{'':10}{'-' * 61}\n"
ROWS = [
    ("9figplumfig01", 33.25, "CPU + Wait for CPU", 20.0, "select a from plums where b = 1"),
    ("9figplumfig01", 33.25, "db file sequential read", 13.25, "select a from plums where b = 1"),
    ("9figplumfig02", 12.5, "log file sync", 12.0, "update plums set b = 2"),
]
COLUMNS = ("sql_id", "activity_pct", "event", "event_pct", "sql_text")

SEEDS = """\
SEEDS                    /u01/seeds01.dbf
           100     0.1   2.0   4     1.0           10        0          0
"""
PLUMS = """\
PLUMS                    /u01/plums01.dbf
           200     0.2   3.0   5     1.0           20        0          0
"""


def lost(text: str) -> list[str]:
    """The numbers of a report that no frame has, and no diagnostic names."""
    found = iolab.provenance(read_awr(text.encode(), printed=True))
    return found.filter(pl.col("status").is_in(["lost", "raw"]))["text"].to_list()


def test_statements_with_their_events() -> None:
    """The figures of a statement stand above those of its events, and its text below the first of them."""
    whole = TITLE + HEADS + FIRST + MORE + SECOND + END
    paged = TITLE + HEADS + FIRST + f"\f{TITLE}" + HEADS + MORE + SECOND + END

    for text in (whole, paged):
        report = read_awr(text.encode())
        assert report["ash_sql_events"].select(COLUMNS).rows() == ROWS
        assert report.diagnostics["text"].to_list() == []
        assert lost(text) == []


def test_a_statement_that_lost_a_line() -> None:
    """The event below a statement is missing, so its figures and its text may be another's: a diagnostic says so."""
    lines = (TITLE + HEADS + FIRST + MORE + SECOND + END).split("\n")
    for gone in ("CPU + Wait", "log file sync"):
        damaged = "\n".join(line for line in lines if not line.startswith(gone))
        found = read_awr(damaged.encode()).diagnostics

        assert found.filter(pl.col("reason").str.contains("lines are missing")).height > 0


def test_files_over_two_pages() -> None:
    """Both rulers of a record are repeated on the next page, and are none of its rows."""
    text = f"{FILE_HEADS}{SEEDS}\f{FILE_HEADS}{PLUMS}{END}"
    report = read_awr(text.encode())

    assert report["file_io"].select("tablespace", "file", "reads", "writes").rows() == [
        ("SEEDS", "/u01/seeds01.dbf", 100, 10),
        ("PLUMS", "/u01/plums01.dbf", 200, 20),
    ]
    assert report.diagnostics["text"].to_list() == []
    assert lost(text) == []


def test_a_file_that_lost_its_name_or_its_figures() -> None:
    """A record of one line where all others have two is named, and no figure goes to another file."""
    name, figures = PLUMS.splitlines(keepends=True)
    for half in (name, figures):
        report = read_awr(f"{FILE_HEADS}{SEEDS}{half}{SEEDS.replace('seeds01', 'seeds02')}{END}".encode())

        assert report["file_io"]["reads"].to_list() == [100, None, 100]
        assert report["file_io"]["file"].to_list()[::2] == ["/u01/seeds01.dbf", "/u01/seeds02.dbf"]
        assert report.diagnostics["text"].to_list() == [half.strip()]


def test_reads_of_files_by_their_times() -> None:
    """Statspack prints the ranges below the name of each file; a blank tablespace is the one above."""
    text = """File Read Histogram  DB/Inst: FIG/fig1  Snaps: 10-11
-> Number of single block reads in each time range
-> ordered by Tablespace, File

Tablespace               Filename
------------------------ ----------------------------------------------------
    0 - 2 ms     2 - 4 ms    4 - 8 ms     8 - 16 ms   16 - 32 ms       32+ ms
------------ ------------ ------------ ------------ ------------ ------------
SEEDS                    /u01/seeds01.dbf
       1,101        1,102        1,103        1,104        1,105        1,106
                         /u01/seeds02.dbf
          11            0           13           14           15           16

"""
    report = read_awr((text + END).encode())

    assert report["file_read_histogram"].rows() == [
        ("SEEDS", "/u01/seeds01.dbf", 1101, 1102, 1103, 1104, 1105, 1106),
        ("SEEDS", "/u01/seeds02.dbf", 11, 0, 13, 14, 15, 16),
    ]
    assert report.diagnostics["text"].to_list() == []
    assert lost(text + END) == []


OBJECTS = """Top DB Objects            DB/Inst: FIG/fig1  (Nov 21 10:00 to 10:15)
-> With respect to Application, Cluster, User I/O and buffer busy waits only.

      Object ID % Activity Event                             % Event
--------------- ---------- ------------------------------ ----------
Object Name (Type)                                    Tablespace
----------------------------------------------------- --------------------------
          71001      31.25 db file parallel read               31.25
PLUMS.STONES (TABLE)                                  ORCHARD

          71002      21.50 db file parallel read               12.75
PLUMS.SEEDS_2 (TABLE)                                 ORCHARD
                           db file sequential read              8.75

          71003      11.50 db file sequential read             11.50
PLUMS.SEEDS_3 (INDEX)                                 ORCHARD2

"""


def test_objects_with_several_events_without_the_blank_lines_between_them() -> None:
    """A second event of an object has one line: the figures say where the next object begins."""
    whole = OBJECTS + END
    found = {len(text): read_awr(text.encode())["ash_objects"] for text in (whole, without_blank_lines(whole))}
    names = ["object_id", "event", "event_pct", "object", "tablespace"]

    assert len(found) == 2
    for frame in found.values():
        assert frame.select(names).rows() == [
            (71001, "db file parallel read", 31.25, "PLUMS.STONES (TABLE)", "ORCHARD"),
            (71002, "db file parallel read", 12.75, "PLUMS.SEEDS_2 (TABLE)", "ORCHARD"),
            (71002, "db file sequential read", 8.75, "PLUMS.SEEDS_2 (TABLE)", "ORCHARD"),
            (71003, "db file sequential read", 11.5, "PLUMS.SEEDS_3 (INDEX)", "ORCHARD2"),
        ]
    assert read_awr(without_blank_lines(whole).encode()).diagnostics.filter(pl.col("kind") == "cut").is_empty()


def without_blank_lines(text: str) -> str:
    """A copy as `grep .` makes it."""
    return "".join(f"{line}\n" for line in text.split("\n") if line)
