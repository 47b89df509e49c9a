"""Sections of AWR-Miner: a mark before and after the result of each query."""

from sqlplusparse import read_spool

TEXT = """\
~~BEGIN-OS-INFORMATION~~
STAT_NAME            STAT_VALUE
-------------------- ----------
NUM_CPUS                      8
VERSION              11.2.0.3.0
~~END-OS-INFORMATION~~
Elapsed: 00:00:00.13

~~BEGIN-MEMORY~~

   SNAP_ID        SGA
---------- ----------
       384        1,1
       385         ,9

~~END-MEMORY~~

~~BEGIN-MEMORY~~

   SNAP_ID        SGA
---------- ----------
       386        1,2

~~END-MEMORY~~
"""


def test_sections_are_tables() -> None:
    """A mark is no row and no heading, and sections of one heading are not one table; the time is of the query."""
    spool = read_spool(TEXT.encode())

    assert spool.tables.select("title", "headings", "row_count").rows() == [
        ("~~BEGIN-OS-INFORMATION~~", ["STAT_NAME", "STAT_VALUE"], 2),
        ("~~BEGIN-MEMORY~~", ["SNAP_ID", "SGA"], 2),
        ("~~BEGIN-MEMORY~~", ["SNAP_ID", "SGA"], 1),
    ]
    assert spool.table(1).rows() == [("NUM_CPUS", "8"), ("VERSION", "11.2.0.3.0")]
    assert spool.table(2).rows() == [(384, 1.1), (385, 0.9)]
    assert spool.statements["elapsed_s"].drop_nulls().to_list() == [0.13]
    assert spool.diagnostics.is_empty()
