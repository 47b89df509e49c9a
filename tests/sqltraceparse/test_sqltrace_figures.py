"""Figures of row sources: in a trace and in a TKPROF report alike, whole or not at all."""

from __future__ import annotations

import pytest
from tkprof_reports import NEW

from sqltraceparse import read_sqltrace, read_tkprof

CALL = "FETCH #3:c=8,e=120,p=1,cr=4,cu=0,mis=0,r=1,dep=0,og=1,plh=9,tim=5000200"
#: The figures of a row source, one of them damaged, and the columns that are null.
DAMAGED_FIGURES = [
    ("(cr=4 pr=3 pw=9223372036854775807 time=12 us cost=3)", {"blocks_written"}),
    ("(cr=4 pr=3 pw=2 time=12 7 us cost=3)", {"elapsed_us"}),
    ("(cr=4 pr=-3 pw=2 time=12 us cost=3)", {"disk_blocks"}),
    ("(cr=,0004 pr=3 pw=2 time=12 us cost=3)", {"consistent_gets"}),
    ("(cr=4 pr=3 pw=2 time=12 us cost=x3)", {"cost"}),
    ("(cr=4 pr=3 pw=2 time=12 us cost=\N{ARABIC-INDIC DIGIT THREE})", {"cost"}),
    ("(cr=4 pr=3 pw=2 time=12 us cost=3 68979)", {"cost"}),
    ("(cr=4 pr=3 pw=2 time=12 us cost=3 unknown=5)", set()),
]
WHOLE_FIGURES = {"consistent_gets": 4, "disk_blocks": 3, "blocks_written": 2, "elapsed_us": 12, "cost": 3}


@pytest.mark.parametrize(("figures", "missing"), DAMAGED_FIGURES)
def test_a_figure_of_a_row_source_that_no_column_holds_is_named(figures: str, missing: set[str]) -> None:
    """In a trace and in a report: the figure is null, the others are read, and the line is a diagnostic."""
    trace = read_sqltrace(f"{CALL}\nSTAT #3 id=1 cnt=7 pid=0 pos=1 obj=9 op='TABLE ACCESS FULL T {figures}'".encode())
    printed = "(cr=1103 pr=1038 pw=0 time=310000 us starts=1)"
    line = NEW[: NEW.index(printed)].count("\n") + 1
    report = read_tkprof(NEW.replace(printed, figures).encode())
    expected = {name: None if name in missing else value for name, value in WHOLE_FIGURES.items()}

    assert trace.row_sources.select(*expected).row(0, named=True) == expected
    assert trace.diagnostics.select("line", "kind").rows() == [(2, "cut")]
    assert report.row_sources.select(*expected).row(0, named=True) == expected
    assert report.diagnostics.select("line", "kind").rows() == [(line, "cut")]


def test_figures_of_9i_in_a_report() -> None:
    """What 9i names r and w is what later releases name pr and pw."""
    report = read_tkprof(NEW.replace("pr=1038 pw=0 time=310000", "r=1038 w=5 time=310000").encode())

    assert report.row_sources.select("disk_blocks", "blocks_written").row(0) == (1038, 5)
    assert report.diagnostics.is_empty()
