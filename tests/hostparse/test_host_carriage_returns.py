"""Host logs whose lines end with carriage returns alone give the samples of those with line feeds."""

import pytest
from polars.testing import assert_frame_equal

import hostparse

IOSTAT = """Linux 5.10.0 (db1) \t11/21/26 \t_x86_64_\t(2 CPU)

Device             tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn
sda              12.00       800.00         4.00       8000         40
sdb               3.00        24.00         0.00        240          0
"""
VMSTAT = """procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 1  0      0 812345  12345 456789    0    0     5     7  100  200  3  1 95  1  0
 2  1      0 812000  12345 456790    0    0    50    70  150  250  5  2 90  3  0
"""


@pytest.mark.parametrize("text", [IOSTAT, VMSTAT], ids=["iostat", "vmstat"])
def test_carriage_returns(text: str) -> None:
    """All frames, and no further diagnostic."""
    log, other = hostparse.read_host(text.encode()), hostparse.read_host(text.replace("\n", "\r").encode())

    assert log.frames()["samples"].lazy().collect().height > 1
    for name, frame in log.frames().items():
        assert_frame_equal(other.frames()[name].lazy().collect(), frame.lazy().collect())
    assert other.diagnostics.height == log.diagnostics.height
