"""What a query asks for reaches the reader: kinds, columns, numbers of rows; each gives what the whole frame holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from logframe import LogParseError
from sqltraceparse import scan_sqltrace

if TYPE_CHECKING:
    from pathlib import Path

LOG = b"".join(
    (
        f"PARSING IN CURSOR #7 len=9 dep=0 uid=8 oct=3 lid=8 tim={number}01 hv=9 ad='7f' sqlid='b1x7k2d9q0abc'\n"
        f"select {number % 10}1\nEND OF STMT\n"
        f"EXEC #7:c=1,e=2,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,plh=9,tim={number}02\n"
        f"WAIT #7: nam='db file sequential read' ela= {number} file#=1 block#=2 blocks=1 obj#=3 tim={number}03\n"
        f"FETCH #7:c=3,e=4,p=1,cr=4,cu=0,mis=0,r=1,dep=0,og=1,plh=9,tim={number}04\n"
        f"CLOSE #7:c=0,e=5,dep=0,type=0,tim={number}05\n"
    ).encode()
    for number in range(100, 140)
)
WHOLE = scan_sqltrace(LOG).collect()


@pytest.mark.parametrize(
    "predicate",
    [
        pl.col("kind") == "wait",
        pl.col("kind").is_in(["call", "close"]),
        pl.col("kind") == "close",
        pl.col("elapsed_us") > 120,
        (pl.col("kind") == "wait") & (pl.col("elapsed_us") > 120),
    ],
    ids=str,
)
def test_conditions(predicate: pl.Expr) -> None:
    """With all columns, with some, and with those that the condition needs left out."""
    expected = WHOLE.filter(predicate)

    assert 0 < expected.height < WHOLE.height
    assert_frame_equal(scan_sqltrace(LOG).filter(predicate).collect(), expected)
    assert_frame_equal(
        scan_sqltrace(LOG).filter(predicate).select("line", "tim_us").collect(), expected["line", "tim_us"]
    )
    assert_frame_equal(scan_sqltrace(LOG).filter(predicate).head(3).collect(), expected.head(3))


@pytest.mark.parametrize("count", [0, 1, 7, 10_000])
def test_first_rows(count: int) -> None:
    """So many events, from the beginning."""
    assert_frame_equal(scan_sqltrace(LOG).head(count).collect(), WHOLE.head(count))


def test_several_logs(tmp_path: Path) -> None:
    """Each row has the file that it is from; an empty file among others is an error that names it."""
    for name in ("a.trc", "b.trc"):
        (tmp_path / name).write_bytes(LOG)
    found = scan_sqltrace([tmp_path / "a.trc", tmp_path / "b.trc"], include_file_paths="file").collect()

    assert found.group_by("file", maintain_order=True).len()["len"].to_list() == [WHOLE.height] * 2
    (tmp_path / "c.trc").touch()
    with pytest.raises(LogParseError, match="the log is empty"):
        scan_sqltrace([tmp_path / "a.trc", tmp_path / "c.trc"])
