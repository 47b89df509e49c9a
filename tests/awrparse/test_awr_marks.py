"""Reports of sessions whose NLS_NUMERIC_CHARACTERS print ``1.234,56``: the same figures, or a diagnostic."""

import re
from pathlib import Path

import polars.selectors as cs
import pytest

from awrparse import read_awr
from awrparse.documents import find_mark

DATA = Path(__file__).parent / "awr_data" / "valid"
REPORTS = sorted(path for path in DATA.iterdir() if path.suffix != ".json")
_NUMBER = re.compile(
    r"(?<![\w.,])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?(?=(?:[KMGT%]|[num]?s|E[+]\d+)?(?![\w.,]))|(?<![\w.,])\.\d+"
)

TOP = """Top 5 Timed Foreground Events
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
                                                           Avg
                                                          wait   % DB
Event                                 Waits     Time(s)   (ms)   time Wait Class
------------------------------ ------------ ----------- ------ ------ ----------
"""


def with_commas(text: str) -> str:
    """The report as a German session prints it: each figure as wide as before, release and times untouched."""
    return _NUMBER.sub(lambda found: found.group().translate(str.maketrans(",.", ".,")), text)


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_the_same_report_with_decimal_commas(path: Path) -> None:
    """Every canonical table of every form is the same; only texts keep the marks that the report prints."""
    text = path.read_text(encoding="utf-8")
    points, commas = read_awr(text.encode(), printed=True), read_awr(with_commas(text).encode(), printed=True)

    assert (points.decimal_mark, commas.decimal_mark) == (".", ",")
    assert points.info == commas.info
    assert points.tables == commas.tables
    for name in points.tables:
        # a text may hold figures, which stay as printed
        same = cs.numeric() | cs.temporal()
        assert (name, commas[name].select(same).equals(points[name].select(same))) == (name, True)
    assert commas.check().drop("reason").equals(points.check().drop("reason"))
    kinds = [report.diagnostics["kind"].sort().to_list() for report in (points, commas)]
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_tables_as_printed_have_the_same_types(path: Path) -> None:
    """`found` reads numbers with the report's mark: a column of figures stays one."""
    text = path.read_text(encoding="utf-8")
    points, commas = read_awr(text.encode()), read_awr(with_commas(text).encode())

    assert list(points.raw_tables) == list(commas.raw_tables)
    for title in points.raw_tables:
        assert (title, points.raw_tables[title].schema) == (title, commas.raw_tables[title].schema)


@pytest.mark.parametrize(
    ("text", "mark", "is_clear"),
    [
        ("Elapsed:               60,22 (mins)\nDB Time:           1.229,53 (mins)", ",", True),
        ("Elapsed:               60.22 (mins)\nDB Time:           1,229.53 (mins)", ".", True),
        ("<td>Elapsed:</td><td>60,22 (mins)</td><td>&#160;</td>", ",", True),
        ("Elapsed:               60,22 (mins)\nDB Time:           1,229.53 (mins)", ".", False),
        ("log file sync   1.234   1.234   5.678", ".", True),
        ("a 1,2 b 3,4 c", ".", True),
        ("log file sync   1.234   12,5   99,8\nDB CPU     50,2    10,1", ",", True),
        ("log file sync   1,234   12.5   99.8\nDB CPU     50.2    10,1", ".", True),
        ("1,5 2,5 3,5 1.5 2.5 3.5", ".", False),
        ("", ".", True),
        ("Release 11.2.0.4.0  23-Apr-14  0/0/0  (1,2)", ".", True),
    ],
)
def test_marks(text: str, mark: str, *, is_clear: bool) -> None:
    """Only a mark that cannot group digits tells; figures that disagree are reported."""
    assert find_mark(text).mark == mark
    assert (find_mark(text).reason == "") is is_clear


def test_a_report_of_both_marks_is_reported() -> None:
    """A head with points over tables with commas: no figure is misread, each is null with its diagnostic."""
    rows = "log file sync                         1.234        12,5   10,1   66,6 Commit\n"
    head = "Elapsed:               60.22 (mins)\nDB Time:           1,229.53 (mins)\n\n"

    report = read_awr((head + TOP + rows).encode())

    assert report["top_events"].row(0, named=True)["total_wait_s"] is None
    assert report["top_events"].row(0, named=True)["db_time_pct"] is None
    assert report.diagnostics["kind"].to_list() == ["repaired", "no_value", "no_value", "no_value"]


def test_a_head_of_both_marks_is_reported() -> None:
    """Elapsed time with a comma, DB time with a point: one of them is wrong, and the diagnostics say so."""
    head = "Elapsed:               60,22 (mins)\nDB Time:           1,229.53 (mins)\n\n"

    report = read_awr((head + TOP + "log file sync   1   2   3   4 Commit\n").encode())

    assert "ambiguous" in report.diagnostics["kind"].to_list()
    assert "decimal comma" in report.diagnostics.filter(kind="ambiguous")[0, "reason"]


def test_a_pasted_table_with_commas() -> None:
    """Without a head the figures themselves tell; names, ids and lists are left alone."""
    rows = (
        "db file sequential read             123.456       1.234   10,0   66,6 User I/O\n"
        "DB CPU                                              250           13,5\n"
        "log file sync                         1.234        12,5   10,1    0,7 Commit\n"
    )

    events = read_awr((TOP + rows).encode())["top_events"]

    assert events["waits"].to_list() == [123456, None, 1234]
    assert events["total_wait_s"].to_list() == [1234.0, 250.0, 12.5]
    assert events["avg_wait_ms"].to_list() == [10.0, None, 10.1]
    assert events["db_time_pct"].to_list() == [66.6, 13.5, 0.7]


def test_a_comma_that_groups_no_three_digits_is_no_number() -> None:
    """`60,22` among points is not 6,022: it is null with a diagnostic."""
    rows = "log file sync                         1,234       60,22   10.1   66.6 Commit\n" * 2

    report = read_awr((TOP + rows).encode())

    assert report["top_events"]["total_wait_s"].to_list() == [None] * 2
    assert report.diagnostics["kind"].to_list() == ["no_value"] * 2
