"""The cost of a logical I/O from a session's own statistics: CPU where it is listed, else an upper bound."""

import pytest

from iolab import load, metrics
from iolab.pages.summary import summarize

HEAD = b"""SQL> set timing on
SQL> select /* scan */ count(*) from orders;

  COUNT(*)
----------
   1000000

Elapsed: 00:00:02.10

SQL> select n.name, s.value from v$mystat s, v$statname n where n.statistic# = s.statistic#;

NAME                                                                  VALUE
---------------------------------------------------------------- ----------
"""


def session(**statistics: int) -> bytes:
    """A session that timed one statement and listed statistics, underscores for blanks."""
    return HEAD + b"".join(
        b"%-64s %10d\n" % (name.replace("_", " ").encode(), value) for name, value in statistics.items()
    )


def cost(**statistics: int) -> dict[str, object]:
    """The metric of such a session."""
    found = metrics.lio_cost(load(session(**statistics)))
    assert found is not None
    return found.row(0, named=True)


def test_cpu_of_the_session_gives_the_cost_and_its_step() -> None:
    """1.97 s of CPU for 400,000 gets: 4.925 us, known to a centisecond at both ends; elapsed time is not asked."""
    found = cost(session_logical_reads=400_000, physical_reads=0, CPU_used_by_this_session=197)

    assert (found["value"], found["lo"], found["hi"]) == pytest.approx((4.925, 4.9, 4.95))
    assert "cpu_s" in str(found["basis"])


def test_gets_are_consistent_and_current_ones() -> None:
    """Where `session logical reads` is not listed."""
    found = cost(consistent_gets=300_000, db_block_gets=100_000, physical_reads=0, CPU_used_by_this_session=197)

    assert found["value"] == pytest.approx(4.925)


def test_without_cpu_the_elapsed_time_is_an_upper_bound() -> None:
    """2.10 s for 400,000 gets: at most 5.275 us."""
    found = cost(session_logical_reads=400_000, physical_reads=0)

    assert (found["value"], found["lo"]) == pytest.approx((5.25, 0.0))
    assert str(found["caveats"]).startswith("an upper bound")


def test_reads_from_disk_refuse_it() -> None:
    """The time is then not that of logical I/O."""
    found = cost(session_logical_reads=400_000, physical_reads=12, CPU_used_by_this_session=197)

    assert found["value"] is None
    assert "came from disk" in str(found["caveats"])


def test_a_session_without_gets_has_no_cost() -> None:
    """Nothing is guessed."""
    assert metrics.lio_cost(load(session(physical_reads=0, CPU_used_by_this_session=197))) is None
    assert metrics.lio_cost(load(session(session_logical_reads=0, physical_reads=0))) is None


def test_the_summary_of_a_session_shows_it() -> None:
    """`iolab show --figures` prints the cost by CPU, not the bound by elapsed time."""
    log = session(session_logical_reads=400_000, physical_reads=0, CPU_used_by_this_session=197)
    figures = summarize(log).figures

    assert figures.filter(metric="us_per_lio")["value"].item() == pytest.approx(4.925)


def test_a_read_of_80_us_against_single_gets() -> None:
    """Flash and caches of arrays: one block in 80 us is 16 times a get of 5 us, not the 37 times of an older paper."""
    assert metrics.pio_lio_factor(0.080, (4.925, 4.9, 4.95)).item(0, "value") == pytest.approx(16.24, abs=0.01)
