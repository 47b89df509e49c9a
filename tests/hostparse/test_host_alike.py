"""Rows that show as many decimals as the first and last one are cut at once; one that does not changes no figure."""

import random

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from hostparse import read_host

HEADS = {
    "iostat": "Device            r/s     rkB/s   r_await  %util\n",
    "vmstat": "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n"
    " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n",
}


def log(tool: str, odd: str | None, seed: int) -> bytes:
    """A log of 40 rows; a row of other decimals, or with a word for a figure, stands in its middle."""
    draw = random.Random(seed)  # noqa: S311 - data for tests
    rows = []
    for number in range(40):
        if tool == "iostat":
            rows.append(f"sd{number % 4} " + " ".join(f"{draw.random() * 900:8.2f}" for _ in range(4)))
        else:
            rows.append(" ".join(f"{draw.randrange(10**6):7}" for _ in range(17)))
    if odd is not None:
        rows[20] = odd
    banner = "Linux 5.4.17 (db1) \t02/19/24 \t_x86_64_\t(4 CPU)\n\n" if tool == "iostat" else ""
    return (banner + HEADS[tool] + "\n".join(rows) + "\n").encode()


@pytest.mark.parametrize(
    ("tool", "odd"),
    [("iostat", "sda 1.5 2.25 3 0.125"), ("iostat", "sda 1,50 2,25 3,00 0,12"), ("iostat", "sda 1.50 - 3.00 0.12"),
     ("iostat", "sda 1.50 nan 3.00 0.12"), ("vmstat", " ".join(["1.5"] * 17)), ("vmstat", " ".join(["7k"] * 17))],
)  # fmt: skip
@pytest.mark.parametrize("seed", range(3))
def test_one_odd_row(tool: str, odd: str, seed: int) -> None:
    """The figures and bounds of the other rows are those of the log without it."""
    kept = ["line", "scope", "name", "metric", "value", "value_lo", "value_hi", "flag"]
    plain, other = (
        read_host(log(tool, each, seed)).samples.select(kept).collect().sort("line", "metric") for each in (None, odd)
    )
    place = (3 if tool == "iostat" else 2) + 21

    assert plain.height == other.height
    assert_frame_equal(plain.filter(pl.col("line") != place), other.filter(pl.col("line") != place))
    assert not plain.filter(pl.col("line") == place).equals(other.filter(pl.col("line") == place))


def test_bounds_of_totals_with_other_decimals() -> None:
    """A total is cut to whole units of its last place: it may be one unit too small, in every row of a mixed column."""
    text = (
        "Linux 5.4.17 (db1) \t02/19/24 \t_x86_64_\t(4 CPU)\n\n"
        "Device             tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn\n"
        "sda 1.00 2.00 3.00 100 200\n"
        "sdb 1.00 2.00 3.00 100.5 200\n"
    )
    bounds = read_host(text.encode()).wide("device", bounds=True)
    totals = [name.removesuffix("_hi") for name in bounds.columns if name.endswith("_hi") and "per_s" not in name]
    units = {name: (bounds[f"{name}_hi"] - bounds[f"{name}_lo"]).to_list() for name in totals}

    assert units == {"read_bytes": [2048.0, pytest.approx(204.8)], "write_bytes": [2048.0, 2048.0]}
