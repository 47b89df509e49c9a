"""vmstat of AIX with a clock, of procps with wide columns, and of BSD: times, and no unit that is not printed."""

from __future__ import annotations

import datetime as dt

import polars as pl

import iolab
from hostparse import read_host

AIX = """\
System configuration: lcpu=4 mem=8192MB

   kthr       memory                         page                       faults           cpu             time
----------- --------------------- ------------------------------------ ------------------ ----------- --------
  r   b   p        avm        fre    fi    fo    pi    po    fr     sr    in     sy    cs us sy id wa hr mi se
  1   1   0     224780      16773     0     0     0     0     0      0   188   1380   157 57 32  0 10 23:59:58
  2   1   0     225060      16093     0     0     0     0     0      0   214   1476   186 48 37  0 16 00:00:03
"""
WIDE = """\
--procs-- -----------memory---------- ---swap-- -----io---- -system-- -------cpu------- -----timestamp-----
   r    b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st gu                 CET
   2    0      0 279471 295968 312724    0    0     1     3   29   57  0  0 99  0  0  1 2024-02-19 13:05:13
   2    0      0 279471 295968 312725    0    0     2     3   29   57  0  0 99  0  0  1 2024-02-19 13:05:18
"""
BSD = """\
 procs     memory       page                    disks     faults       cpu
 r  b  w  avm  fre  flt  re  pi  po   fr   sr ad0 ad1   in    sy    cs us sy id
 0  0  0 8192 1.5M  312   0   1   0  387   12   3   0  120   890   640  2  1 97
"""


def test_a_clock_without_a_date() -> None:
    """`vmstat -It` of AIX: three words of the heading are one clock; no date is made up."""
    host = read_host(AIX.encode()).wide("host")

    assert host["time_of_day"].to_list() == [dt.time(23, 59, 58), dt.time(0, 0, 3)]
    assert host["interval_end"].null_count() == 2
    assert host.select("system_calls_per_s", "sy_percent", "wa_percent").row(1) == (1476.0, 37.0, 16.0)
    assert read_host(AIX.encode()).diagnostics.is_empty()


def test_wide_columns() -> None:
    """The newest procps begins the line of groups with dashes and has a share of guests."""
    log = iolab.load(WIDE.encode())
    assert log.format == "host"
    host = read_host(WIDE.encode()).wide("host")

    assert host["gu_percent"].to_list() == [1.0, 1.0]
    assert host["interval_start"].to_list() == [None, dt.datetime(2024, 2, 19, 13, 5, 13)]  # noqa: DTZ001 - a wall clock


def test_memory_of_bsd_has_no_unit_but_the_printed_one() -> None:
    """A figure without a suffix is not taken for pages of 4 KiB, one with a suffix is in bytes; no number is lost."""
    log = read_host(BSD.encode())
    memory = log.samples.filter(pl.col("metric").is_in(["avm", "fre"])).collect()

    assert memory.select("value", "unit").rows() == [(8192.0, None), (1.5 * 1024**2, None)]
    assert iolab.provenance(log, BSD.encode()).filter(status="lost").is_empty()
