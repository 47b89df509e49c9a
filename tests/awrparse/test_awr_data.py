"""Small reports made for these tests, of each kind and era: what they hold must come back."""

import json
from pathlib import Path

import polars as pl
import pytest

from awrparse import AwrReport, read_awr
from logframe import LogParseError

DATA = Path(__file__).parent / "awr_data"
VALID = sorted(path for path in (DATA / "valid").iterdir() if path.suffix != ".json")
INVALID = sorted(path for path in (DATA / "invalid").iterdir() if path.suffix != ".json")


@pytest.fixture(scope="module", params=VALID, ids=lambda path: path.stem)
def case(request: pytest.FixtureRequest) -> tuple[AwrReport, dict]:
    """A report, and what is expected of it."""
    path = request.param
    return read_awr(path, printed=True), json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))


def test_there_are_cases() -> None:
    """The folders were found: a wrong path must not pass as no failures."""
    assert len(VALID) >= 5
    assert len(INVALID) >= 5


def test_kind_and_form(case: tuple[AwrReport, dict]) -> None:
    """The content tells what a report is."""
    report, expected = case

    assert (report.kind, report.form) == (expected["kind"], expected["form"])


def test_info(case: tuple[AwrReport, dict]) -> None:
    """The head of the report comes back; what it does not say is None."""
    report, expected = case

    found = {name: getattr(report.info, name) for name in expected["info"]}

    assert found == pytest.approx(expected["info"])


def test_heights(case: tuple[AwrReport, dict]) -> None:
    """Every row of every table is there, once."""
    report, expected = case

    assert {name: report[name].height for name in expected["heights"]} == expected["heights"]


def test_values(case: tuple[AwrReport, dict]) -> None:
    """Figures, names in full, nulls and bounds, one by one."""
    report, expected = case

    for table, row, column, value in expected["values"]:
        found = report[table][row, column]
        assert (table, row, column, found) == (table, row, column, value if value is None else pytest.approx(value))


def test_headings(case: tuple[AwrReport, dict]) -> None:
    """Any other table is found as printed, its headings of several rows joined."""
    report, expected = case

    for title, headings in expected.get("found", {}).items():
        columns = [name for name in report.raw_tables[title].columns if not name.endswith(("_lo", "_hi"))]
        assert (title, columns) == (title, headings)


def test_diagnostics(case: tuple[AwrReport, dict]) -> None:
    """Nothing is reported but what is wrong, and that is."""
    report, expected = case

    kinds = dict(report.diagnostics["kind"].value_counts().rows())

    assert kinds == expected["diagnostics"]


def test_every_line_is_accounted_for(case: tuple[AwrReport, dict]) -> None:
    """The kinds of the lines add up to the lines of the file, and the unparsed ones are in the diagnostics."""
    report, expected = case
    if report.form == "html":
        pytest.skip("an HTML report is counted by tables")
    text = Path(report.source).read_text(encoding="utf-8")

    counts = report.line_counts

    assert sum(counts.values()) == len(text.split("\n")) - (not text.split("\n")[-1])
    assert counts.get("unparsed", 0) == expected["unparsed"]


def test_strict_raises_at_the_first_fault() -> None:
    """With strict=True the row that overflows stops the parse, and the error points at it."""
    with pytest.raises(LogParseError) as caught:
        read_awr(DATA / "valid" / "awr_text_11204.txt", strict=True)

    assert caught.value.line is not None
    assert "did not fit" in str(caught.value)


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.stem)
def test_what_is_no_report(path: Path) -> None:
    """A file that holds no report is refused with a sentence and a hint, never read as empty."""
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))

    with pytest.raises(LogParseError, match=expected["message"]) as caught:
        read_awr(path)

    assert caught.value.expected


def test_without_bounds_there_are_no_bound_columns() -> None:
    """`printed` alone adds `_lo` and `_hi`; the values are the same."""
    path = DATA / "valid" / "statspack_121.txt"

    plain, bounded = read_awr(path)["top_events"], read_awr(path, printed=True)["top_events"]

    assert plain.equals(bounded.select(plain.columns))
    assert not [name for name in plain.columns if name.endswith(("_lo", "_hi"))]


def test_page_breaks_join_one_table() -> None:
    """A table that goes on after a page break is one table."""
    report = read_awr(DATA / "valid" / "awr_text_11204.txt")

    assert [title for title in report.raw_tables if title.startswith("Foreground Wait Events")] == [
        "Foreground Wait Events"
    ]


def test_sql_text_that_looks_like_a_ruler() -> None:
    """Rulers and notes within a statement belong to it."""
    report = read_awr(DATA / "valid" / "awr_text_11204.txt")

    text = report["sql"][0, "sql_text"]

    assert "---------------- -------------- ------------- ------" in text
    assert "-> this, too, is a statement" in text


def test_markup_in_a_statement_is_text() -> None:
    """A script within a statement stays text; nothing of it is run or lost."""
    report = read_awr(DATA / "valid" / "awr_html_122.html")

    text = report["sql"][0, "sql_text"]

    assert text.startswith("select '")
    assert "alert(1)" in text
    assert text.endswith("d...")


def test_spans_keep_values_in_their_columns() -> None:
    """A cell over two rows shifts the next row's cells to their own columns."""
    report = read_awr(DATA / "valid" / "awr_html_122.html")

    expected = pl.DataFrame({"Shelf": ["top", None], "Figs Ripe": [3, 5], "Figs Green": [4, None]})

    assert report.raw_tables["Shelves"].equals(expected)


@pytest.mark.parametrize("margin", ["> ", "> > ", "    "])
def test_a_report_within_a_mail_or_a_code_block(margin: str) -> None:
    """What a mail program puts before each line does not hide the report."""
    text = (DATA / "valid" / "awr_text_11204.txt").read_text(encoding="utf-8")
    quoted = "\n".join(margin + line for line in text.split("\n"))

    assert read_awr(quoted.encode())["top_events"].equals(read_awr(text.encode())["top_events"])


def test_a_text_report_that_a_browser_saved() -> None:
    """A text report within a page without tables is read as text."""
    text = (DATA / "valid" / "awr_text_11204.txt").read_text(encoding="utf-8")
    page = f"<html><body><pre>{text.replace('<', '&lt;')}</pre></body></html>"

    report = read_awr(page.encode())

    assert (report.kind, report.form) == ("awr", "text")
    assert report["sql"].equals(read_awr(text.encode())["sql"])


def test_pieces_of_two_reports_in_one_text() -> None:
    """The same summary table a second time starts another piece."""
    text = (DATA / "valid" / "fragment_122.txt").read_bytes()

    report = read_awr(text + b"\n\nAnd after the change:\n\n" + text)

    assert [part["top_events"].height for part in report.parts] == [3, 3]
    assert "several_reports" in report.diagnostics["kind"].to_list()


@pytest.mark.parametrize("name", ["003_filesystemio_setall.txt", "003_filesystemio_none.txt"])
def test_the_article_on_filesystemio_options(name: str, sample_data: Path) -> None:
    """The two pasted fragments of the article, misaligned headings and all: every row, every number."""
    expected = {
        "003_filesystemio_setall.txt": (11_100.0, 11_050.0, 11_150.0, 55_702, 17.9, 0.1, None, 15_558.0, 8.3),
        "003_filesystemio_none.txt": (26_200.0, 26_150.0, 26_250.0, 2_528_630, 138.0, 0.5, 138.0, 29_067.0, 8.1),
    }[name]
    report = read_awr(sample_data / "articles" / name, printed=True)
    events, classes = report["top_events"], report["wait_classes"]

    first, cpu = events.row(0, named=True), events.filter(event="DB CPU").row(0, named=True)
    figures = (
        *(first[column] for column in ("total_wait_s", "total_wait_s_lo", "total_wait_s_hi", "waits")),
        cpu["total_wait_s"],
        cpu["db_time_pct"],
        classes.filter(wait_class="DB CPU")[0, "total_wait_s"],
        classes[0, "total_wait_s"],
        classes[0, "avg_active_sessions"],
    )

    assert figures == expected
    assert (events.height, classes.height) == (10, 7 if "setall" in name else 8)
    assert (cpu["waits"], cpu["avg_wait_ms"], cpu["wait_class"]) == (None, None, None)
    assert set(events["wait_class"].drop_nulls()) <= {
        "Commit", "Concurrency", "Configuration", "Other", "System I/O", "User I/O"
    }  # fmt: skip
    assert report.diagnostics.is_empty()


def test_a_suppressed_decimal_is_still_a_decimal(sample_data: Path) -> None:
    """`2` in a column that shows tenths is [1.95, 2.05]."""
    events = read_awr(sample_data / "articles" / "003_filesystemio_setall.txt", printed=True)["top_events"]

    row = events.filter(event="db file scattered read").row(0, named=True)

    assert (row["total_wait_s_lo"], row["total_wait_s_hi"]) == (1.95, 2.05)


def test_marks_behind_a_row_are_set_aside() -> None:
    """What somebody wrote behind the last column is no part of it, and is reported."""
    text = (DATA / "valid" / "awr_text_11204.txt").read_text(encoding="utf-8")
    marked = text.replace("33.3 User I/O", "33.3 User I/O   @me")

    report = read_awr(marked.encode())

    assert report["top_events"].equals(read_awr(text.encode())["top_events"])
    assert report.diagnostics.filter(kind="misplaced")["text"].to_list() == ["@me"]


def test_a_fragment_without_headings() -> None:
    """Title and ruler alone say which column is which."""
    text = (
        "Top 5 Timed Foreground Events\n~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
        "------------------------------ ------------ ----------- ------ ------ ----------\n"
        "log file sync                         1,000          20     20   66.6 Commit\n"
    )

    events = read_awr(text.encode())["top_events"]

    assert events.row(0)[:7] == ("log file sync", "log file sync", 1000, 20.0, 20.0, 66.6, "Commit")


def test_a_row_that_fits_no_column_is_reported() -> None:
    """A shifted row that could be read in two ways is guessed, and the diagnostics say so."""
    text = (
        "Top 5 Timed Foreground Events\n~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
        "Event                                 Waits     Time(s)   (ms)   time Wait Class\n"
        "------------------------------ ------------ ----------- ------ ------ ----------\n"
        "log file sync                         1,000          20     20   66.6 Commit\n"
        "log file switch completion      100  200   300000000000000000000000 Configurat\n"
    )

    report = read_awr(text.encode())

    assert report["top_events"].height == 2
    assert report.diagnostics["kind"].to_list()[:1] == ["misplaced"]
