"""Short results as a mail or a page shows them, tabs that a whole copy was given, and prompts of other names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from polars.testing import assert_frame_equal
from transformations import commented, doubled, in_page, joined, numbered, quoted, with_tabs

import iolab
from sqlplusparse import Spool, read_spool

if TYPE_CHECKING:
    from collections.abc import Callable

RESULT = """\
NAME                             VALUE
------------------------ -------------
rows of orders                  17,246
rows of lines                   58,916
"""
WIDE = joined(
    [
        "SQL> select name, reads, gets from readers order by reads;",
        "",
        "NAME                     READS       GETS",
        "--------------------- -------- ----------",
        *(f"{'reader ' + 'x' * number:<21} {number * 137:>8} {number * 90001:>10}" for number in range(1, 9)),
        "",
        "8 rows selected.",
        "",
        "Elapsed: 00:00:00.25",
    ]
)

#: Statistics by name with a figure.
READS = (("physical reads", 3), ("session logical reads", 41), ("physical read bytes", 24))


TRACE = "FETCH #3:c=8,e=120,p=1,cr=4,cu=0,mis=0,r=1,dep=0,og=1,plh=9,tim=5000200\n" * 20


def session(prompt: str) -> str:
    """A query typed at a prompt, and its result."""
    return f"{prompt}> select count(*) from orders;\n\n  COUNT(*)\n----------\n      1234\n\n"


@pytest.mark.parametrize(
    "change",
    [doubled, quoted, lambda text: quoted(text, ">> "), numbered],
    ids=["doubled", "quoted", "twice", "cat -n"],
)
def test_a_short_result(change: Callable[[str], str]) -> None:
    """A result of few rows is recognised and read in a quotation, and with a blank line after each of its lines."""
    log = iolab.load(change(RESULT).encode())

    assert isinstance(log, Spool)
    assert_frame_equal(log.table(1), read_spool(RESULT.encode(), printed=True).table(1))
    assert log.table(1).height == 2


def test_a_short_listing_with_blank_lines() -> None:
    """Rows of figures by name that somebody has put a blank line after are one listing of one statement."""
    listing = joined([f"417 BATCH        {name:<40} {amount}M" for name, amount in (("redo size", 8), *READS)])
    spool, copy = read_spool(listing.encode()), read_spool(doubled(listing).encode())

    assert copy.statements.height == spool.statements.height == 1
    assert_frame_equal(copy.statistics.drop("line"), spool.statistics.drop("line"))


def test_short_texts_keep_their_blank_lines() -> None:
    """Blank lines between the few messages of a session are the client's."""
    spool = read_spool(b"Table created.\n\nTable altered.\n\nTable dropped.\n")

    assert spool.statements.get_column("first_line").to_list() == [1, 3, 5]
    assert spool.lines().height == 5


@pytest.mark.parametrize("mark", [commented, quoted])
@pytest.mark.parametrize("is_before", [True, False], ids=["tabs first", "marks first"])
def test_tabs_of_a_marked_session(mark: Callable[[str], str], *, is_before: bool) -> None:
    """Tab stops count from where the client, or from where the line of the script began, whichever gave the tabs."""
    expected = read_spool(WIDE.encode()).table(1)
    text = mark(with_tabs(WIDE)) if is_before else with_tabs(mark(WIDE))

    assert "\t" in text
    assert_frame_equal(read_spool(text.encode()).table(1), expected)


@pytest.mark.parametrize("prompt", ["scott@orcl", "ORCL_HIGH", "22:07:31 sys@db1"])
def test_a_session_with_another_prompt(prompt: str) -> None:
    """A session without the usual prompt in a document that holds lines of a SQL trace is read beside the trace."""
    assert {log.format for log in iolab.load_all((session(prompt) + TRACE).encode())} == {"sqlplus", "sqltrace"}
    assert [log.format for log in iolab.load_all(session(prompt).encode())] == ["sqlplus"]


@pytest.mark.parametrize("prompt", ["SQL", "scott@orcl", "22:07:31 sys@db1"])
def test_a_session_in_a_page(prompt: str) -> None:
    """A page writes the mark of a prompt as an entity: such a session is as well known, and reads the same."""
    page = in_page(session(prompt) + TRACE)
    spools = [log for log in iolab.load_all(page.encode()) if isinstance(log, Spool)]
    of_a_script = in_page(session("SQL").replace("select count(*) from orders;", "@orders") + TRACE)

    assert f"{prompt}&gt; select" in page
    assert {log.format for log in iolab.load_all(of_a_script.encode())} == {"sqlplus", "sqltrace"}
    assert [spool.statements["text"].to_list() for spool in spools] == [["select count(*) from orders"]]
    assert [spool.table(1).rows() for spool in spools] == [[(1234,)]]
