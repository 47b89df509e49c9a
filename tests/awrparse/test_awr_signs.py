"""What shows that a piece of a report is missing: each sign on a report that has it, and none on a whole one."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import polars as pl
import pytest
from awr_pages import EVENTS, page, row, table

from awrparse import read_awr
from awrparse.integrity import markup

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

#: Kinds of diagnostics that say that a piece is missing.
SIGNS = {
    *("damaged", "missing", "repeated", "misplaced", "foreign", "sum", "unknown_name", "unparsed", "cut"),
}


def signs_of(text: str) -> list[tuple[str, str]]:
    """Kind and reason of each sign in a report."""
    found = read_awr(text.encode()).diagnostics.filter(pl.col("kind").is_in(SIGNS))
    return found.select("kind", "reason").rows()


def kinds_of(text: str) -> set[str]:
    """The kinds of the signs in a report."""
    return {kind for kind, _ in signs_of(text)}


def test_a_whole_page_has_no_sign() -> None:
    """Rows of two styles by turns, sections that the contents list, sums and labels with styles of their own."""
    assert signs_of(page()) == []


@pytest.mark.parametrize("first", range(1, 5))
@pytest.mark.parametrize("second", range(len(EVENTS)))
def test_rows_of_another_histogram(first: int, second: int) -> None:
    """From a row of one histogram to a row of the next, of equal width: the title between them is lost."""
    text = page()
    start = text.index(row(EVENTS[first], first, 1), text.index("(up to 32 ms)</h3>"))
    end = text.index(row(EVENTS[second], second, 2), text.index("(up to 2 sec)</h3>"))
    damaged = text[:start] + text[end:]

    assert "missing" in kinds_of(damaged)
    assert any(reason.startswith("event_histogram: ") for _, reason in signs_of(damaged))


@pytest.mark.parametrize("lost", [1, 3])
def test_rows_of_one_style_below_each_other(lost: int) -> None:
    """An odd number of rows is missing within a table."""
    text = page()
    start = text.index(row(EVENTS[1], 1))
    end = text.index(row(EVENTS[1 + lost], 1 + lost), start)

    found = read_awr((text[:start] + text[end:]).encode()).diagnostics.filter(pl.col("kind") == "damaged")
    assert found["line"].to_list() == [text[:start].count("\n") + 1]
    assert found["reason"].str.starts_with("event_histogram: ").all()


def _cuts(text: str) -> Sequence[tuple[int, int]]:
    """Places within the second and the fourth row of the first histogram that are of the same cell, or the next."""
    one, two = text.index(row(EVENTS[1], 1)), text.index(row(EVENTS[3], 3))
    return [
        (one + 25, two + 60),  # within a tag, to a text
        (one + 3, two + 1),  # from within one tag into another
        (text.index("</td>", one) + 2, text.index("</td>", two) + 40),
        (text.index(">", one + 5) + 2, text.index("class", two) + 4),
    ]


@pytest.mark.parametrize("number", range(4))
def test_markup_that_does_not_fit(number: int) -> None:
    """A piece from anywhere in a row to anywhere in another leaves tags that do not fit each other."""
    start, end = _cuts(page())[number]
    assert kinds_of(page()[:start] + page()[end:]) & {"damaged", "misplaced"}


def test_a_row_with_the_styles_of_two() -> None:
    """The beginning of one row and the end of the next, cut at the same cell."""
    text = page()
    one, two = text.index(row(EVENTS[1], 1)), text.index(row(EVENTS[2], 2))
    damaged = text[: text.index("<td align", one)] + text[text.index("<td align", two) :]
    assert "damaged" in kinds_of(damaged)


def test_a_table_twice() -> None:
    """A copy of a table of one row right below it, without its title."""
    one = table("Wait event histogram", [row(EVENTS[0], 0)])
    assert one in page()
    assert kinds_of(page().replace(one, f"{one}<p />\n{one}")) == {"repeated"}


def test_a_section_twice() -> None:
    """The rest of another report, whose sections come again."""
    text = page()
    again = text.index('<a class="awr" name="20">')
    assert "repeated" in kinds_of(text[: text.index("</body>")] + text[again:])


def test_a_page_without_end_tags_has_no_sign() -> None:
    """HTML needs no end of cells and rows: a page that has none of them is whole."""
    assert signs_of(page().replace("</td>", "").replace("</tr>", "").replace("</th>", "")) == []


def test_a_page_that_breaks_a_rule_everywhere_has_no_sign() -> None:
    """Where all rows have one style, or all rows of many tables, rows of one style say nothing."""
    assert signs_of(page().replace("awrnc", "awrc")) == []


PIECES = (
    "<td>",
    "</td>",
    "<tr>",
    "</tr>",
    "<table>",
    "</table>",
    '"',
    ">",
    "<",
    "'>",
    "<th>",
    '<a b="c">',
    "<TD class='awrc'>",
)


def test_rows_at_once_are_rows_tag_by_tag(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is lost, repeated or added, a row that is read at once shows what its tags one by one show."""
    chance = random.Random(4)  # noqa: S311 - reproducible damage, no secret
    pages = [page()]
    for _ in range(60):
        text = pages[0]
        for _ in range(chance.randint(1, 4)):
            start = chance.randrange(len(text))
            end = start + chance.choice((1, 4, 40, 400))
            middle = chance.choice(("", text[start:end] * 2, chance.choice(PIECES) + text[start:end]))
            text = text[:start] + middle + text[end:]
        pages.append(text)

    def state(text: str) -> tuple[object, ...]:
        parts = markup._Parts(text)  # noqa: SLF001 - both ways through a page
        return parts.faults, parts.styles, parts._counts  # noqa: SLF001 - as above

    found = [state(text) for text in pages]
    taken = []
    read_row = markup._Parts._read_row  # noqa: SLF001 - as above

    def counted(parts: markup._Parts, row: re.Match[str]) -> bool:
        taken.append(read_row(parts, row))
        return taken[-1]

    with monkeypatch.context() as patched:
        patched.setattr(markup._Parts, "_read_row", lambda *_: False)  # noqa: SLF001 - as above
        assert [state(text) for text in pages] == found
    monkeypatch.setattr(markup._Parts, "_read_row", counted)  # noqa: SLF001 - as above
    state(pages[0])
    assert sum(taken) > 10


TITLE = "{:<50}DB/Inst: FIG/fig  Snaps: 1-2\n"
END = " " * 10 + "-" * 61 + "\n"
HEAD = "WORKLOAD REPOSITORY report for\n\n"
SEGMENTS = (
    TITLE.format("Segments by Current Blocks Received")
    + "-> Total Current Blocks Received:             420\n\n"
    + "                                                                 Current\n"
    + "           Tablespace                      Subobject  Obj.       Blocks\n"
    + "Owner         Name    Object Name            Name     Type      Received  %Total\n"
    + "---------- ---------- -------------------- ---------- ----- ------------ -------\n"
    + "FIG        FIGS       ALPHA                           TABLE           39    9.29\n"
    + "FIG        FIGS       BETA                            INDEX           29    6.90\n"
)


def test_figures_out_of_line() -> None:
    """Rows of a table with other columns fit the gaps of this ruler, and do not end where its columns do."""
    assert signs_of(f"{HEAD}{SEGMENTS}{END}") == []
    other = "dc_figs                            130            1           35\n"
    assert kinds_of(f"{HEAD}{SEGMENTS}{other}{END}") == {"misplaced"}


def test_rows_among_notes() -> None:
    """Where the headings are cut off, the rows below the notes are in no table, and are named."""
    rows = "Others\n     1.2M     0.0 .001107      0M     0.0      0M       8    17.1\n"
    title = TITLE.format("IOStat by Function summary") + "-> ordered by (Data Read + Write) desc\n"
    assert signs_of(f"{HEAD}{SEGMENTS}{END}{title}{END}") == []
    assert kinds_of(f"{HEAD}{SEGMENTS}{END}{title}{rows}{END}") == {"unknown_name"}


def test_a_table_below_a_section_without_data() -> None:
    """A ruler below the line that ends an empty section is of another section, whose title is lost."""
    empty = (
        TITLE.format("Top Sessions running PQs") + "\n          No data exists for this section of the report.\n" + END
    )
    ruler = "--------------- ----------\n"
    rest = f"{ruler}File                 Reads\n{ruler}fig.dbf              12.50\n"
    assert signs_of(f"{HEAD}{SEGMENTS}{END}{empty}") == []
    assert "missing" in kinds_of(f"{HEAD}{SEGMENTS}{END}{empty}{rest}{END}")


def test_labels_of_the_head_in_another_table() -> None:
    """Rows below `Snap Id`, or below a host, that are labels of other lines."""
    host = "Host Name        Platform                         CPUs Cores Sockets Memory(GB)\n"
    host += "---------------- -------------------------------- ---- ----- ------- ----------\n"
    host += "fig              Linux x86 64-bit                    2     2       1       1.96\n"
    snaps = "              Snap Id      Snap Time      Sessions Curs/Sess\n"
    snaps += "            --------- ------------------- -------- ---------\n"
    begin = "Begin Snap:        37 12-Feb-17 12:16:04        25       1.6\n"
    times = "   Elapsed:                6.03 (mins)\n   DB Time:              141.41 (mins)\n"
    assert signs_of(f"{HEAD}{host}\n{snaps}{begin}{times}") == []
    assert kinds_of(f"{HEAD}{host}   DB Time:              141.41 (mins)\n") == {"foreign"}
    event = "log file sync                         3,825       1,495    391   17.6 Commit\n"
    assert "foreign" in kinds_of(f"{HEAD}{host}\n{snaps}{event}")
    assert kinds_of(f"{begin}{times}\n{SEGMENTS}{END}") == {"foreign"}


def test_a_statement_with_two_texts() -> None:
    """Lines between a statement's figures and the text of another are missing."""
    sql = TITLE.format("SQL ordered by {}")
    heads = (
        "\n        Elapsed                  Elapsed Time\n"
        "        Time (s)    Executions  per Exec (s)  %Total   %CPU    %IO    SQL Id\n"
        "---------------- -------------- ------------- ------ ------ ------ -------------\n"
    )
    one = "            20.0             10          2.00   20.0   10.0   80.0 abcdefghijk01\nselect fig from figs\n\n"
    other = one.replace("select fig from figs", "update figs set fig = 1")
    cpu = heads.replace("Elapsed  ", "CPU      ", 1)
    whole = f"{HEAD}{sql.format('Elapsed Time')}{heads}{one}{END}{sql.format('CPU Time')}{cpu}{one}{END}"
    assert signs_of(whole) == []
    damaged = whole[::-1].replace(one[::-1], other[::-1], 1)[::-1]
    assert kinds_of(damaged) == {"foreign"}


def test_a_lost_histogram() -> None:
    """Of histograms that follow each other one in the middle is missing."""
    heads = (
        "\nEvent                      Waits  <1us\n"
        "------------------------- ------ -----\n"
        "fig wait                       1 100.0\n"
    )
    parts = [TITLE.format(f"Wait Event Histogram (up to {text})") + heads + END for text in ("64 us", "32 ms", "2 sec")]
    assert "missing" not in kinds_of(HEAD + "".join(parts))
    assert "missing" in kinds_of(HEAD + parts[0] + parts[2])


@pytest.mark.parametrize("end", ["  7.5", "    9.0   .142M     5.5     8.9"])
def test_a_row_with_more_values_than_headings(end: str) -> None:
    """A row of another table below the headings of the load profile: values beyond its columns are named."""
    text = (
        "WORKLOAD REPOSITORY report for\n\n"
        "Load Profile                    Per Second   Per Transaction  Per Exec  Per Call\n"
        "~~~~~~~~~~~~~~~            ---------------   --------------- --------- ---------\n"
        f"TOTAL:             2.8G    26.0   .809M    511M{end}\n"
        "             DB CPU(s):               12.9               0.0      0.00      0.00\n"
    )
    values = 4 + len(end.split())

    assert ("misplaced", f"{values} values where the table has 4 columns") in signs_of(text)


def test_two_tables_under_one_title() -> None:
    """A table whose title and terminator above were lost has other headings than the one that it then stands below."""
    first = """Wait Classes by Total Wait Time
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
                                        Total Wait        Wait   % DB   Active
Wait Class                  Waits       Time (sec)        (ms)   time Sessions
---------------- ---------------- ---------------- ----------- ------ --------
User I/O                  712,004            4,103        5.76   61.0      1.1
Commit                      9,118               21        2.30     .3      0.0
"""
    second = """
                                     %Time      Total Wait         Avg
Wait Class                     Waits -outs        Time (s)   wait (ms)  %DB time
-------------------- --------------- ----- --------------- ----------- ---------
User I/O                     711,902                 4,101        5.76      60.9
                          ------------------------------------------------------
"""
    title = "\n" + TITLE.format("Foreground Wait Class")

    assert signs_of(HEAD + first + title + second) == []
    assert kinds_of(HEAD + first + second) == {"missing"}


def test_rows_that_no_table_takes() -> None:
    """Rows among the periods of a comparison and among the caches that are none of theirs; a cut row of a histogram."""
    names = "Snapshot Set  Begin Snap Id Begin Snap Time            End Snap Id End Snap Time             "
    names += "Avg Active Users           Elapsed Time (min)            DB time (min)\n"
    rulers = " ".join("-" * width for width in (12, 14, 25, 12, 25, 26, 26, 26)) + "\n"
    first = f"{'1st':<12} {1822:>14} {'23-Apr-14 18:30:05 (Wed)':<25} {1823:>12} {'23-Apr-14 18:45:06 (Wed)':<25} "
    first += " ".join(f"{text:>26}" for text in ("7.1", "15.02", "106.55")) + "\n"
    periods = HEAD.replace("REPOSITORY", "REPOSITORY COMPARE PERIOD") + names + rulers + first
    assert [kind for kind, _ in signs_of(periods)] == []
    assert kinds_of(periods + first.replace("1st", "0.4")) == {"unknown_name"}

    caches = "Cache Sizes                       Begin        End\n~~~~~~~~~~~                  ---------- ----------\n"
    buffer = "               Buffer Cache:       512M       512M  Std Block Size:         8K\n"
    assert signs_of(HEAD + caches + buffer) == []
    assert kinds_of(HEAD + caches + buffer.replace(" Buffer", "0 Buffer")) == {"foreign"}
    assert kinds_of(f"{HEAD}{caches}{buffer}   Elapsed:                6.03 (mins)\n") == {"foreign"}

    histogram = TITLE.format("Wait Event Histogram") + "Event                      Waits  <1us\n"
    histogram += "------------------------- ------ -----\nfig wait                       1 100.0\n"
    assert signs_of(HEAD + histogram + END) == []
    assert kinds_of(HEAD + histogram + "log file sync                785K\n") == {"unknown_name"}


def test_a_blank_line_with_a_tab_among_the_lines_of_a_statement() -> None:
    """It is no row of another table."""
    text = (
        "SQL ordered by Gets  DB/Inst: FIG/fig  Snaps: 1-2\n"
        "                                   Gets              Elapsed\n"
        "  Buffer Gets   Executions     per Exec   %Total    Time (s)  %CPU   %IO    SQL Id\n"
        "------------- ------------ ------------ ------ ------------ ----- ----- -------------\n"
        "       21,955        1,196         18.4   38.0         25.1  22.0  71.0 7hq3wz8mt0c2f\n"
        "Module: fig\nselect\n  \t  \n  1 from dual\n\n"
    )
    assert signs_of(HEAD + text + END) == []
