"""Listings of statistics: pages, cut names, printed figures, what they stand for, and their differences."""

from pathlib import Path

import polars as pl
import pytest

from sqlplusparse import read_spool, statistic_names, subtract_statistics
from sqlplusparse.autotrace import complete

DATA = Path(__file__).parent / "spool_data"


def test_pages_and_names() -> None:
    """Two pages are one listing, and names cut at the column's width are completed."""
    first = read_spool(DATA / "listings.log").statistics.filter(pl.col("listing") == 1)

    assert first.select("printed_name", "name", "is_truncated").rows() == [
        ("physical read total IO requ", "physical read total IO requests", True),
        ("physical read total multi b", "physical read total multi block requests", True),
        ("physical reads", "physical reads", False),
        ("physical reads cache prefet", "physical reads cache prefetch", True),
        ("redo size", "redo size", False),
        ("session pga memory", "session pga memory", False),
        ("user calls", "user calls", False),
    ]
    assert first["basis"].unique().to_list() == ["cumulative"]


def test_figures_keep_their_rounding() -> None:
    """Exponents, overflow, blanks, megabytes and decimal commas: value, bounds and weight of the last digit."""
    statistics = read_spool(DATA / "listings.log").statistics

    assert statistics.filter(pl.col("line").is_in([12, 13, 14])).select("raw", "value", "value_lo", "ulp").rows() == [
        ("3.1907E+10", 3.1907e10, 3.19065e10, 1e6),
        ("##########", None, None, None),
        (None, None, None, None),
    ]
    assert statistics.filter(pl.col("unit") == "MB").select("sid", "value", "value_lo", "value_hi").rows() == [
        (21, 56.55, 56.545, 56.555),
        (35, 0.03, 0.025, 0.035),
    ]
    assert statistics.filter(pl.col("column") == "WERT").select("name", "value", "ulp", "basis").rows() == [
        ("DB time", 1234.5, 0.1, "unknown"),
        ("user I/O wait time", 12.0, 1.0, "unknown"),
        ("CPU used by this session", 0.083, 0.001, "unknown"),
    ]


def test_deltas() -> None:
    """Run differences and interval listings are deltas, negative ones too; the interval is kept."""
    statistics = read_spool(DATA / "listings.log").statistics

    assert statistics.filter(pl.col("column") == "DIFF")["value"].to_list() == [-2084.0, -65536.0]
    assert statistics.filter(pl.col("column") == "Value").select("value", "basis", "interval_s").rows() == [
        (31.0, "delta", 17.0),
        (31407104.0, "delta", 17.0),
        (-1825.0, "delta", 17.0),
    ]


@pytest.mark.parametrize(
    ("heading", "basis"),
    [
        ("PS", "rate"),
        ("PER_SEC", "rate"),
        ("per Trans", "rate"),
        ("% of all", "rate"),
        ("AVG_S", "rate"),
        ("PERIOD", "delta"),
    ],
)
def test_a_rate_beside_a_count_is_no_count(heading: str, basis: str) -> None:
    """What is listed per second, per call or as a share has a basis of its own."""
    log = f"SQL> select n.name, e.value - b.value d, 1 ps from v$sysstat e;\n\n{'NAME':18} {'D':>6} {heading:>9}\n"
    log += f"{'-' * 18} {'-' * 6} {'-' * 9}\n{'parse count (hard)':18} {141822:>6} {471.2:>9}\n\n"
    found = read_spool(log.encode()).statistics.select("value", "basis").rows()
    assert found == [(141822.0, "delta"), (471.2, basis)]


def test_difference() -> None:
    """Two cumulative listings of a session are subtracted by name, with the bounds of both."""
    spool = read_spool(DATA / "listings.log")

    difference = spool.difference(1, 3)
    assert difference.select("name", "before", "after", "value", "value_lo", "value_hi").rows() == [
        ("physical reads", 7239.0, 9239.0, 2000.0, 2000.0, 2000.0),
        ("user calls", None, 120.0, None, None, None),
        ("redo size", 3.1907e10, 3.2007e10, 1e8, 9.9e7, 1.01e8),
    ]
    with pytest.raises(ValueError, match="deltas"):
        spool.difference(1, 5)
    empty = spool.statistics.clear()
    assert subtract_statistics(empty, empty).height == 0


def test_snapper() -> None:
    """Snapper's exact deltas with the session, the type of each row and the interval; key and colon lines."""
    spool = read_spool(DATA / "snapper.txt")

    assert spool.statistics.select("sid", "type", "name", "value", "unit", "basis", "interval_s").rows() == [
        (1090, "STAT", "session logical reads", 64245093.0, None, "delta", 130.7),
        (1090, "STAT", "pinned cursors current", -1.0, None, "delta", 130.7),
        (1090, "TIME", "DB CPU", 123160000.0, "us", "delta", 130.7),
        (1090, "WAIT", "SQL*Net message from client", 40000.0, "us", "delta", 130.7),
        (None, "STAT", "physical reads", 3369127.0, None, "unknown", None),
        (None, "STAT", "consistent gets", 4100.0, None, "unknown", None),
    ]


@pytest.mark.parametrize("end", ["seconds=130.7x", "seconds=130..7", "seconds=", "sec"])
def test_the_end_of_a_snapshot_is_read_whole(end: str) -> None:
    """An end whose length is none gives no length, and is a diagnostic."""
    text = (DATA / "snapper.txt").read_text()
    whole, spool = (read_spool(one.encode()) for one in (text, text.replace("seconds=130.7", end)))

    before, after = (set(one.diagnostics.select("kind", "line").rows()) for one in (whole, spool))
    assert whole.statistics["interval_s"].null_count() == 2
    assert spool.statistics["interval_s"].null_count() == spool.statistics.height
    assert after - before == {("unparsed", 7)}


def test_collapsed_blanks() -> None:
    """A listing whose blanks a web page collapsed is still read."""
    ruler = b"---------------------------------------- ----------\n"
    log = b"NAME VALUE\n" + ruler + b"physical reads 1000\nphysical read bytes 8192000\n"

    assert read_spool(log).statistics.select("name", "value").rows() == [
        ("physical reads", 1000.0),
        ("physical read bytes", 8192000.0),
    ]


def test_other_grids_are_no_listings() -> None:
    """Parameters, counts and the like stay tables."""
    log = b"NAME          VALUE\n------------- -----\ndb_block_size  8192\ncpu_count         4\n"
    spool = read_spool(log)

    assert spool.statistics.height == 0
    assert spool.table(1).rows() == [("db_block_size", 8192), ("cpu_count", 4)]


def test_article_004(sample_data: Path) -> None:
    """The listings of article 004 are one session's record, with the figures it gives."""
    spool = read_spool(sample_data / "articles" / "004_exadata_flash_cache.txt")

    assert {
        (name, unit): value for name, unit, value in spool.record().select("name", "unit", "value").iter_rows()
    } == {
        ("physical read total IO requests", None): 1841.0,
        ("cell flash cache read hits", None): 1837.0,
        ("physical read total bytes", "MB"): 56.5546875,
    }
    bytes_row = spool.record().filter(pl.col("unit") == "MB")
    assert bytes_row.select("value_lo", "value_hi").rows() == [(56.55468745, 56.55468755)]
    assert spool.statements.select("elapsed_s", "elapsed_s_lo", "elapsed_s_hi", "physical_reads").row(0) == (
        0.73,
        0.725,
        0.74,
        7239,
    )


def test_dictionary() -> None:
    """Names are unique, fit V$STATNAME's 64 characters, and hold the ones that matter here."""
    names = statistic_names()

    assert len(names) == len(set(names))
    assert max(map(len, names)) <= 64
    assert {"cell flash cache read hits", "physical read total bytes", "session logical reads"} <= set(names)


@pytest.mark.parametrize("name", statistic_names())
def test_whole_names_are_kept(name: str) -> None:
    """A name of the dictionary stands for itself, even where another begins like it."""
    assert complete(name) == (name, True, False)


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("redo size for", ("redo size for", False, True)),
        ("Physical  Reads", ("physical reads", True, False)),
        ("physical read total byt", ("physical read total byt", False, True)),
        ("red", ("red", False, False)),
        ("no such thing at all", ("no such thing at all", False, False)),
    ],
)
def test_complete(printed: str, expected: tuple[str, bool, bool]) -> None:
    """A name is completed only where a single one begins so."""
    assert complete(printed) == expected


def test_wrapped_names() -> None:
    """A name that its narrow column wraps is one name, with the figure beside its first line; null stays null."""
    lines = [
        "SQL> select name, value from v$mystat;",
        "",
        "NAME                                VALUE",
        "------------------------------ ----------",
        "physical read total IO request       1841",
        "s",
        "",
        "physical read total multi bloc       1800",
        "k requests",
        "",
        "physical reads direct                   7",
        "temporary tablespace",
        "physical reads",
        "# as of today",
    ]
    spool = read_spool("\n".join([*lines, ""]).encode())

    assert spool.statistics.select("name", "value", "is_truncated").rows() == [
        ("physical read total IO requests", 1841.0, False),
        ("physical read total multi block requests", 1800.0, False),
        ("physical reads direct temporary tablespace", 7.0, False),
        ("physical reads", None, False),
        ("# as of today", None, False),
    ]


@pytest.mark.parametrize("heading", ["SNAP_ID", "INST_ID"])
def test_figures_of_several_snapshots_are_no_listing(heading: str) -> None:
    """A name that comes once for each snapshot or instance says nothing alone: the grid keeps all its columns."""
    log = (
        f"SQL> select * from figures;\n\n{heading:>10} STAT_NAME                VALUE\n"
        "---------- ------------------- ----------\n"
        "         {0} physical reads              12\n         {1} physical reads              15\n"
    )
    one = read_spool(log.format(7, 7).encode())
    assert one.statistics["value"].to_list() == [12.0, 15.0]
    several = read_spool(log.format(7, 8).encode())
    assert several.statistics.is_empty()
    assert several.table(1).rows() == [(7, "physical reads", 12), (8, "physical reads", 15)]


def test_all_columns_of_snapper_are_kept() -> None:
    """The listing has the difference of each statistic; a table of the session has what else its rows print."""
    spool = read_spool(Path(__file__).parent / "spool_data" / "snapper.txt")
    found = spool.table(1)

    assert found.get_column("STATISTIC").to_list() == spool.statistics.head(4).get_column("name").to_list()
    assert found.select("DELTA", "DELTA/SEC", "%TIME", "WAITS", "WAITS/SEC", "AVERAGE").row(3) == (
        *(40000, "306.04us", ".0%", 2, 0.02, "20ms average wait"),
    )
    assert found.get_column("DELTA/SEC").to_list() == ["491.59k", "-.01", "942.31ms", "306.04us"]


def test_statistics_below_half_a_heading() -> None:
    """Names of statistics with a figure each are statistics, though the heading of the figures is lost."""
    lines = (
        *("Name", "----", "redo size                     11,132", "calls to get snapshot scn: kcmgss       2", ""),
        *(
            "messages sent                      6",
            "my own counter                     7",
            "redo copy      75     0    25",
        ),
    )
    spool = read_spool("\n".join(lines).encode() + b"\n")

    assert spool.statistics.select("line", "name", "value").rows() == [
        (3, "redo size", 11132),
        (4, "calls to get snapshot scn: kcmgss", 2),
        (6, "messages sent", 6),
    ]
