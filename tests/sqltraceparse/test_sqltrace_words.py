"""A word of a row source is another one: its figures are in the diagnostics."""

from __future__ import annotations

import pytest

from sqltraceparse import read_sqltrace, read_tkprof
from sqltraceparse.figures import figures_of

CALL = "FETCH #3:c=8,e=120,p=1,cr=4,cu=0,mis=0,r=1,dep=0,og=1,plh=9,tim=5000200"


@pytest.mark.parametrize(
    "figures", ["(c =4 pr=0 pw=0 time=12 us)", "(CR=4)", "=4 pr=0 time=12 us)", "dcr=4 pr=0)", "time=1 (cr=4 pr=0)"]
)
def test_figures_of_a_row_source_below_another_name(figures: str) -> None:
    """They are not the operation's: the line is a diagnostic, as it is in a report of TKPROF."""
    stat = f"STAT #3 id=1 cnt=1 pid=0 pos=1 obj=9 op='TABLE ACCESS FULL ORDERS {figures}'"
    plan = "STAT #3 id=1 cnt=1 pid=0 pos=1 obj=9 op='PARTITION RANGE (ALL) PARTITION: START=1 STOP=28'"

    assert read_sqltrace(f"{CALL}\n{stat}\n".encode()).diagnostics.select("line", "kind").rows() == [(2, "cut")]
    assert figures_of(f"TABLE ACCESS FULL ORDERS {figures}")[2] is False
    assert read_sqltrace(f"{CALL}\n{plan}\n".encode()).diagnostics.is_empty()


@pytest.mark.parametrize(
    "rest", ["0" * 100_000 + ",a" * 50_000, ": 1 " * 50_000 + ","], ids=["a long word", "many words"]
)
def test_a_long_identity_is_looked_at_in_linear_time(rest: str) -> None:
    """A line of 200 kB that is no identity is not read, after no search of minutes; a damaged one is known."""
    kinds = [
        read_tkprof(f"TKPROF: Release 19.0.0.0.0\n\n{'*' * 80}\nSQL ID: 14ys{end}\n".encode())
        .diagnostics["kind"]
        .to_list()
        for end in (rest, "x")
    ]

    assert kinds == [["unparsed"], ["cut", "unparsed"]]
