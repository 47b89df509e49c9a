"""Names that text reports cut: completed where only one known name starts so, and kept as printed beside it."""

from pathlib import Path

import pytest

from awrparse import AwrReport, read_awr
from logframe.oracle import full_name, known_names

LATCHES = """Latch Activity                                 DB/Inst: FIG/fig1  Snaps: 10-11

                                           Pct    Avg   Wait                 Pct
                                    Get    Get   Slps   Time       NoWait NoWait
Latch Name                     Requests   Miss  /Miss    (s)     Requests   Miss
------------------------ -------------- ------ ------ ------ ------------ ------
AQ Coord jobx_kwsbgsgn l            117    0.0             0            0    N/A
Memory Queue Message Sub              8    0.0             0            0    N/A
a latch of next year's r              9    0.0             0            0    N/A
cache buffers chains          1,234,567    0.1    0.5      2           10    0.0
          -------------------------------------------------------------

Instance Activity Stats                        DB/Inst: FIG/fig1  Snaps: 10-11
-> Ordered by statistic name

Statistic                                     Total     per Second     per Trans
-------------------------------- ------------------ -------------- -------------
cell physical IO interconnect by         12,345,678        3,429.4         123.5
physical read total bytes                 9,999,999        2,777.8         100.0
physical read total bytes optimi          1,234,567          342.9          12.3
redo synch time overhead count (                  7            0.0           0.0
          -------------------------------------------------------------
"""


@pytest.fixture(scope="module")
def report() -> AwrReport:
    """Two sections of a text report."""
    return read_awr(LATCHES.encode())


def test_latches(report: AwrReport) -> None:
    """One name is completed; four start as the second, none as the third, and the fourth was not cut."""
    assert report["latches"].select("latch", "latch_printed").rows() == [
        ("AQ Coord jobx_kwsbgsgn latch", "AQ Coord jobx_kwsbgsgn l"),
        ("Memory Queue Message Sub", "Memory Queue Message Sub"),
        ("a latch of next year's r", "a latch of next year's r"),
        ("cache buffers chains", "cache buffers chains"),
    ]


def test_statistics(report: AwrReport) -> None:
    """A name that begins another is left alone when it is shorter than its column."""
    assert report["instance_activity"].select("statistic", "statistic_printed").rows() == [
        ("cell physical IO interconnect by", "cell physical IO interconnect by"),
        ("physical read total bytes", "physical read total bytes"),
        ("physical read total bytes optimized", "physical read total bytes optimi"),
        ("redo synch time overhead count (", "redo synch time overhead count ("),
    ]


@pytest.mark.parametrize(
    ("kind", "printed", "width", "expected"),
    [
        ("statistic", "physical read total bytes", 25, "physical read total bytes"),
        ("statistic", "session cursor cache", 21, "session cursor cache"),
        ("statistic", "flashback cache read", 21, "flashback cache read optimizations for block new"),
        ("statistic", "flashback cache read", 22, "flashback cache read"),
        ("statistic", "flashback cache read", None, "flashback cache read"),
        ("latch", "hint flashback FBA", 19, "hint flashback FBA barrier"),
        ("latch", "AQ C", 4, "AQ C"),
        ("event", "log file sync", 13, "log file sync"),
        ("wait_class", "Conc", 4, "Conc"),
        ("wait_class", "Concu", 5, "Concurrency"),
    ],
)
def test_a_name_is_completed_only_when_it_was_cut(kind: str, printed: str, width: int | None, expected: str) -> None:
    """A name that fills its column, or lacks the one blank that ends it, was cut; a known name was not."""
    assert full_name(kind, printed, width) == expected


@pytest.mark.parametrize("kind", ["event", "statistic", "latch", "wait_class"])
def test_lists_are_sorted_and_clean(kind: str) -> None:
    """The search needs sorted names; a name is not empty, padded or there twice."""
    names = known_names(kind)

    assert list(names) == sorted(set(names))
    assert all(name == name.strip() and name for name in names)
    assert len(names) >= 15


@pytest.mark.corpus
def test_most_cut_names_of_real_reports_are_completed(corpus: Path) -> None:
    """Of the statistics and latches that a real text report cuts, most come back in full."""
    cut, completed = 0, 0
    for path in (corpus / "awr").rglob("*.txt"):
        found = read_awr(path)
        for table, column, width in (("instance_activity", "statistic", 32), ("latches", "latch", 24)):
            if table in found and found.kind == "awr":
                pairs = found[table].select(column, f"{column}_printed").rows()
                assert all(full.startswith(printed) for full, printed in pairs)
                cut += sum(len(printed) == width for _, printed in pairs)
                completed += sum(len(full) > width for full, _ in pairs)

    assert cut > 300
    assert completed > 0.85 * cut
