"""Reports of TKPROF, written for these tests by its forms of 19c and 9i."""

HEADING = """call     count       cpu    elapsed       disk      query    current        rows
------- ------  -------- ---------- ---------- ---------- ----------  ----------
"""
CALLS = (
    HEADING
    + """Parse        1      0.00       0.00          0          0          0           0
Execute      1      0.01       0.01          0          0          0           0
Fetch   269234      0.02       0.31       1038       1103          0           1
------- ------  -------- ---------- ---------- ---------- ----------  ----------
total   269236      0.04       0.33       1038       1103          0           1
"""
)
WAITS = """
Elapsed times include waiting on following events:
  Event waited on                             Times   Max. Wait  Total Waited
  ----------------------------------------   Waited  ----------  ------------
  db file sequential read                      1038        0.02          0.28
  enq: TX - row lock contention                   2        0.01          0.01
"""


def filled(text: str) -> str:
    """A report with its rulers and tables."""
    parts = {"<stars>": "*" * 80, "<dashes>": "-" * 80, "<calls>": CALLS, "<waits>": WAITS}
    for name, part in parts.items():
        text = text.replace(name, part)
    return text


NEW = filled("""notes of a person

TKPROF: Release 19.0.0.0.0 - Development on Sáb Jun 25 05:37:55 2026

Copyright (c) 1982, 2019, Oracle and/or its affiliates.  All rights reserved.

Trace file: demo1_ora_4711.trc
Sort options: default

<stars>
count    = number of times OCI procedure was executed
<dashes>

<stars>

SQL ID: 2yxfq0vd6r1fm Plan Hash: 1388734953

select sum(amount),
  'Misses in library cache during parse: 9'
from
 orders


<calls>
Misses in library cache during parse: 1
Misses in library cache during execute: 2
Optimizer mode: ALL_ROWS
Parsing user id: 106  (EMP)     (recursive depth: 1)
Number of plan statistics captured: 1

Rows (1st) Rows (avg) Rows (max)  Row Source Operation
---------- ---------- ----------  ---------------------------------------------------
         1          2          3  SORT AGGREGATE (cr=1103 pr=1038 pw=0 time=310000 us starts=1)
     26924      26924      26924   TABLE ACCESS FULL ORDERS (cr=1103 pr=1038 pw=0 time=12 us cost=3 size=52 card=4)

<waits>
<stars>

The following statement encountered a error during parse:

select * from nosuch

Error encountered: ORA-00942
<stars>

OVERALL TOTALS FOR ALL NON-RECURSIVE STATEMENTS

<calls>
Misses in library cache during parse: 1
<waits>

OVERALL TOTALS FOR ALL RECURSIVE STATEMENTS

<calls>
    7  user  SQL statements in session.
  403971  lines in trace file.
""")
OLD = filled("""
TKPROF: Release 9.2.0.8.0 - Production on Thu Jun 25 05:37:55 2026

<stars>

select 1
from
 dual

<calls>
Misses in library cache during parse: 0
Optimizer goal: CHOOSE
Parsing user id: SYS

Rows     Row Source Operation
-------  ---------------------------------------------------
      1  SORT AGGREGATE
    100   TABLE ACCESS FULL ORDERS

Rows     Execution Plan
-------  ---------------------------------------------------
      0  SELECT STATEMENT   GOAL: CHOOSE
    100   PARTITION RANGE (ALL) PARTITION:
               START=1 STOP=28
<stars>
""")
