"""Figures too long for their column in result grids, and sessions of which there are none."""

from __future__ import annotations

import pytest

import sqlplusparse
from logframe import LogParseError
from sqlplusparse.schemas import SPOOL_SCHEMAS

GRID = b"""SQL> select n, name, size_mb, bar, id from t;

         N NAME          SIZE_MB BAR                ID
---------- ---------- ---------- ---------- ----------
        .5 a          ########## ####       ##########
     -3.25            ########## ##########          5
########## b          ########## #

3 rows selected.

SQL> exit
"""


def test_overflowed_figures_are_null_and_told() -> None:
    """`##########` is null with a diagnostic, in a column that holds nothing else, too; bars of ``#`` are text."""
    spool = sqlplusparse.read_spool(GRID)
    assert spool.table(1).to_dict(as_series=False) == {
        "N": [0.5, -3.25, None],
        "NAME": ["a", None, "b"],
        "SIZE_MB": [None, None, None],
        "BAR": ["####", "##########", "#"],
        "ID": [None, 5, None],
    }
    found = spool.diagnostics.filter(kind="overflow")
    assert [(line, reason.split(":")[0]) for line, reason in found.select("line", "reason").iter_rows()] == [
        (5, "SIZE_MB"),
        (5, "ID"),
        (6, "SIZE_MB"),
        (7, "N"),
        (7, "SIZE_MB"),
    ]


def test_strict_raises_where_a_figure_did_not_fit() -> None:
    """A figure that was not read is not read in a grid either."""
    with pytest.raises(LogParseError, match="did not fit") as caught:
        sqlplusparse.read_spool(GRID, strict=True)
    assert caught.value.line == 5


@pytest.mark.parametrize("table", ["statements", "timings", "autotrace", "statistics", "plans", "tables"])
def test_no_sessions_give_a_frame_without_rows(table: str) -> None:
    """An empty list of logs is no error, and its frame has the columns of any other."""
    frame = sqlplusparse.read_spools([], table=table).frame
    assert frame.rows() == []
    assert dict(frame.schema) == {"source": frame.schema["source"], **SPOOL_SCHEMAS[table]}
    assert frame.schema == sqlplusparse.read_spools([GRID], table=table).frame.schema
