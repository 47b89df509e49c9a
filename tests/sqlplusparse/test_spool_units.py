"""Units of statistics: what Oracle counts in centiseconds, microseconds, or KB says so."""

import pytest

from iolab.metrics import statistic, us_per_lio
from sqlplusparse import Spool, read_spool

VIEW = "select name, value from v$mystat natural join v$statname"


def listing(query: str, heading: str, *rows: tuple[str, str]) -> Spool:
    """A session with one listing."""
    lines = [f"SQL> {query};", "", f"{'NAME':<40} {heading:>10}", f"{'-' * 40} {'-' * 10}"]
    lines += [f"{name:<40} {value:>10}" for name, value in rows]
    return read_spool("\n".join([*lines, "", ""]).encode())


def units(spool: Spool) -> list[str | None]:
    """The unit of each figure."""
    return spool.statistics["unit"].to_list()


def test_units_by_name() -> None:
    """The unit is that of the statistic where the heading names none."""
    rows = [
        ("CPU used by this session", "504"),
        ("redo synch time (usec)", "736"),
        ("redo KB read", "9"),
        ("redo size", "11,500"),
        ("physical reads", "7"),
    ]

    assert units(listing(VIEW, "VALUE", *rows)) == ["cs", "us", "KB", None, None]


def test_units_of_the_time_model() -> None:
    """The time model counts in microseconds, also what V$STATNAME counts in centiseconds."""
    view = "select stat_name name, value from v$sess_time_model"

    assert units(listing(view, "VALUE", ("DB time", "504"), ("parse time elapsed", "9"))) == ["us", "us"]
    assert units(listing(VIEW, "VALUE", ("DB time", "504"), ("parse time elapsed", "9"))) == ["cs", "cs"]
    assert units(listing("select * from mine", "VALUE", ("DB time", "504"), ("DB CPU", "9"))) == ["us", "us"]


@pytest.mark.parametrize("scaling", ["value/100", "round(value / 1000)", "0.01*s.value"])
def test_unit_of_what_was_calculated(scaling: str) -> None:
    """What a query calculates has no unit, unless the heading names one."""
    query = f"select name, {scaling} value from v$mystat"

    assert units(listing(query, "VALUE", ("CPU used by this session", "5"))) == [None]
    assert units(listing(query, "SECONDS", ("CPU used by this session", "5"))) == ["s"]


def test_cost_of_a_get() -> None:
    """The CPU of 504 centiseconds for a million gets is 5.04 us for each."""
    spool = listing(VIEW, "VALUE", ("CPU used by this session", "504"), ("session logical reads", "1000000"))
    cpu, gets = statistic(spool, "CPU used by this session"), statistic(spool, "session logical reads")

    assert us_per_lio(gets, cpu_s=cpu).item(0, "value") == pytest.approx(5.04)


def test_units_of_autotrace() -> None:
    """SQLcl's list of session statistics has units, too."""
    spool = read_spool(
        b"SQL> select 1 from dual;\n\nStatistics\n-----------------------------------------------------------\n"
        b"                  26  CPU used by this session\n                  10  consistent gets\n"
        b"               81920  logical read bytes from cache\n                  10  session logical reads\n"
    )
    shown = spool.autotrace.filter("is_shown")

    assert shown.select("name", "unit").rows() == [
        ("CPU used by this session", "cs"),
        ("consistent gets", None),
        ("logical read bytes from cache", None),
        ("session logical reads", None),
    ]
    assert statistic(spool, "CPU used by this session").value == pytest.approx(0.26)
