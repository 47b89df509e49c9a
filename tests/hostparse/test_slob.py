"""Files that SLOB writes of a run."""

import polars as pl
import pytest

import iolab
from hostparse import read_slob

STATS = "3|30028|1354|4.509|\n1|30012|1349|4.495|\n3|30000|1348|4.493|\n5|30000|1348|5.493|\n"
CONF = """\
# settings of a run
UPDATE_PCT=20
export RUN_TIME=300
SQLNET_SERVICE_BASE="slob"
SYSDBA_PASSWD=secret_of_ours
export UPDATE_PCT RUN_TIME
"""


def test_users() -> None:
    """A user that is missing or there twice, and a rate that its row contradicts, are diagnostics; no row is lost."""
    log = iolab.load(STATS.encode())
    users = log.frames()["users"].lazy().collect()

    assert (log.format, log.describe()) == ("slob", "SLOB, work of 3 users")
    assert users.select("user", "elapsed_s", "work_units", "work_units_per_s", "line").rows() == [
        (3, 300.28, 1354, 4.509, 1),
        (1, 300.12, 1349, 4.495, 2),
        (3, 300.0, 1348, 4.493, 3),
        (5, 300.0, 1348, 5.493, 4),
    ]
    assert log.diagnostics.select("line", "kind").rows() == [
        (3, "contradiction"),
        (4, "contradiction"),
        (None, "missing"),
    ]
    assert log.diagnostics["reason"][2].startswith("2 of users 1 to 5 have no row")
    assert iolab.provenance(log, STATS.encode()).filter(pl.col("status").cast(pl.String) == "lost").is_empty()


def test_settings() -> None:
    """Values without quotes; a password is not kept."""
    log = iolab.load(CONF.encode())

    assert log.frames()["settings"].lazy().collect().rows() == [
        ("UPDATE_PCT", "20", False, 2),
        ("RUN_TIME", "300", False, 3),
        ("SQLNET_SERVICE_BASE", "slob", False, 4),
        ("SYSDBA_PASSWD", None, True, 5),
    ]
    assert log.diagnostics.is_empty()
    assert read_slob((CONF + "something else\n").encode()).diagnostics["line"].to_list() == [7]


def test_a_session_that_shows_settings() -> None:
    """Settings among other output are no file of them."""
    with pytest.raises(ValueError, match="not a log of a known kind"):
        iolab.load(("NOTIFY: the run begins\n" + CONF).encode())


@pytest.mark.parametrize("text", ["1|2|3|\n", "a=1\nb=2\n", "RUN_TIME=3\n"])
def test_other_files(text: str) -> None:
    """Fields between bars and settings of anything else are not taken for SLOB's."""
    with pytest.raises(ValueError, match="not a log of a known kind"):
        iolab.load(text.encode())
