"""Clocks and ticks that are damaged."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import iolab

SAR = (
    "Linux 5.4.17 (db1) \t11/22/2026 \t_x86_64_\t(2 CPU)\n\n"
    "10:00:01        CPU     %user     %nice   %system   %iowait    %steal     %idle\n"
    + "".join(
        f"10:0{minute}:01        all      1.00      0.00      2.00      3.00      0.00     94.00\n"
        for minute in range(1, 6)
    )
)
IOSTAT = (
    "Device:            tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn\n"
    "sda               1.00         2.00         3.00         10         20\n\n"
)
ARCHIVE = "".join(f"zzz ***Sun Nov 22 10:0{minute}:01 UTC 2026\n\n{IOSTAT}" for minute in range(1, 6))
NMON = (
    "AAA,progname,nmon\nAAA,date,22-NOV-2026\nAAA,time,10:00:01\nCPU_ALL,CPU Total db1,User%,Sys%,Wait%,Idle%\n"
    "DISKREAD,Disk Read KB/s db1,sda,sdb\n"
    + "".join(
        f"ZZZZ,T000{minute},10:0{minute}:01,22-NOV-2026\nCPU_ALL,T000{minute},1.0,2.0,3.0,94.0\n"
        f"DISKREAD,T000{minute},5.0,6.0\n"
        for minute in range(1, 6)
    )
)


@pytest.mark.parametrize("clock", ["10:63:01", "10:03:71", "10:03:60", "30:03:01"])
@pytest.mark.parametrize("log", [SAR, ARCHIVE, NMON], ids=["sar", "archive", "nmon"])
def test_a_clock_that_shows_no_time_of_day(log: str, clock: str) -> None:
    """The row has no time, and never that of the row above; its line is a diagnostic; the other rows are as before."""
    whole, damaged = (
        iolab.load({"name": "a.log", "content": text.encode()}) for text in (log, log.replace("10:03:01", clock))
    )
    found = damaged.diagnostics.filter(pl.col("kind") == "clock")
    assert (whole.diagnostics.height, found.height, damaged.diagnostics.height) == (0, 1, 1)
    line = found.item(0, "line")
    assert clock in log.replace("10:03:01", clock).splitlines()[line - 1]

    for name, column in (("runs", "opened_at"), ("cpu", "interval_end")):
        if name not in whole.frames() or (name == "runs" and log is not ARCHIVE):
            continue
        before, after = (one.frames()[name].lazy().select(column).collect().to_series() for one in (whole, damaged))
        assert before.null_count() == 0
        assert after.drop_nulls().to_list() == [at for place, at in enumerate(before) if place != 2]
        assert after.null_count() == 1


@pytest.mark.parametrize("row", ["DISKREAD,T00x3,5.0,6.0", "DISKREAD,X0003,5.0,6.0", "CPU_ALL,a,1.0,2.0,3.0,94.0"])
def test_a_row_of_nmon_without_its_tick_is_no_heading(row: str) -> None:
    """The rows after it keep the columns of the table's own heading."""
    whole = iolab.load({"name": "a.nmon", "content": NMON.encode()})
    damaged = iolab.load({"name": "a.nmon", "content": NMON.replace("ZZZZ,T0004", f"{row}\nZZZZ,T0004").encode()})

    assert damaged.diagnostics.select("kind", "text").rows() == [("unparsed", row)]
    samples = [one.frames()["samples"].lazy().drop("line").collect() for one in (whole, damaged)]
    assert_frame_equal(*samples)
