"""Reports as SQL*Plus, mail programs and editors hand them on: the typed frames stay equal."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl
import pytest
from transformations import (
    LOSSLESS_HTML,
    LOSSLESS_TEXT,
    LOSSY_HTML,
    in_page,
    joined,
    lines_of,
    numbered,
    paged,
    quoted,
    wrapped,
)

from awrparse import read_awr
from awrparse.text import lines as line_kinds
from logframe import LogError, open_log
from logframe.loading import provenance

if TYPE_CHECKING:
    from collections.abc import Callable

    from awrparse import AwrReport

HERE = Path(__file__).parent / "awr_data" / "valid"
SERIES = Path(__file__).parents[2] / "sample_data" / "awr_series"
TEXTS = [
    HERE / "awr_text_11204.txt",
    HERE / "awr_text_102_rac.txt",
    HERE / "statspack_92.txt",
    HERE / "statspack_102.txt",
    HERE / "statspack_121.txt",
    HERE / "ash_121.txt",
    HERE / "fragment_122.txt",
    SERIES / "awrrpt_1_4102_4103.txt",
    SERIES / "awrrpt_1_4111_4112.txt",
]
PAGE = SERIES / "awrrpt_1_4110_4111.html"


def typed(report: AwrReport) -> dict[tuple[int, str], pl.DataFrame]:
    """All canonical frames of all parts."""
    return {(number, name): part[name] for number, part in enumerate(report.parts) for name in part.tables}


#: Each report as it is, which many tests change.
original = lru_cache(4)(read_awr)


def encoded(text: str | bytes) -> bytes:
    """What a source of bytes holds."""
    return text.encode() if isinstance(text, str) else text


def differences(report: AwrReport, other: AwrReport) -> list[tuple[int, str]]:
    """The frames that are not equal, or only in one of the two."""
    one, two = typed(report), typed(other)
    return [
        key for key in sorted(set(one) | set(two)) if key not in one or key not in two or not one[key].equals(two[key])
    ]


@pytest.mark.parametrize("change", LOSSLESS_TEXT.values(), ids=LOSSLESS_TEXT)
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_text_reports_survive(path: Path, change: Callable[[str], str | bytes]) -> None:
    """A lossless change of a text report changes no typed frame."""
    report = original(path)
    assert (len(typed(report)) > 0, differences(report, read_awr(encoded(change(open_log(path).text()))))) == (True, [])


@pytest.mark.parametrize("change", LOSSLESS_HTML.values(), ids=LOSSLESS_HTML)
def test_html_reports_survive(change: Callable[[str], str | bytes]) -> None:
    """A lossless change of an HTML report changes no typed frame."""
    report = original(PAGE)
    assert differences(report, read_awr(encoded(change(open_log(PAGE).text())))) == []


@pytest.mark.parametrize("size", range(4, 60, 3))
def test_any_page_size(size: int) -> None:
    """Headings of pages of any size, in any place of the report, are no rows and end no table."""
    text = (HERE / "awr_text_11204.txt").read_text(encoding="utf-8")
    report = read_awr(encoded(paged(text, size)))
    assert differences(original(encoded(text)), report) == []
    assert sum(report.line_counts.values()) == paged(text, size).count("\n")
    assert report.line_counts["page_heading"] >= 2 * (text.count("\n") // size)


def test_long_lines_in_a_page_are_no_pieces() -> None:
    """Many lines of the greatest length are pieces of longer ones in a page of tables, and none in a text report."""
    lines = (SERIES / "awrrpt_1_4102_4103.txt").read_text(encoding="utf-8").split("\n")
    note = f"-> {'and more words ' * 20}".ljust(240, ".")[:240]
    text = "\n".join(f"{line}\n{note}" if "DB/Inst:" in line else line for line in lines)
    assert sum(len(line) == 240 for line in text.split("\n")) > 3
    assert differences(read_awr(encoded(text)), read_awr(encoded(in_page(text)))) == []


def test_one_heading_in_a_table() -> None:
    """A single heading between the rows of a table parts nothing."""
    text = (
        "Top 10 Foreground Events by Total Wait Time\n\n"
        "Event                            Waits Time (sec)  Avg(ms)  time    Class\n"
        "------------------------------ ------- ---------- -------- ----- --------\n"
        "log file sync                      100       11.1   111.00  50.0 Commit\n"
        "\nOUTPUT\n" + "-" * 80 + "\n"
        "db file sequential read            200        2.2    11.00  20.0 User I/O\n"
    )
    assert read_awr(text.encode())["top_events"]["waits"].to_list() == [100, 200]


def test_a_column_named_like_a_table_is_no_page() -> None:
    """One line in capitals above dashes is a page's heading only if it comes again with the same dashes."""
    text = (HERE / "awr_text_11204.txt").read_text(encoding="utf-8")
    report = read_awr(encoded(text + "\nNAMES\n" + "-" * 50 + "\nfig\n"))
    assert "page_heading" not in report.line_counts


@pytest.mark.corpus
def test_wrapped_pages_keep_their_figures(corpus: Path) -> None:
    """Blanks at the end of a line are lost when it wraps: they may be missing in texts, and in nothing else."""
    for path in sorted((corpus / "awr").rglob("*.html"))[::8]:
        text, report = open_log(path).text(), read_awr(path)
        if report.form != "html":
            continue
        for name, change in LOSSY_HTML.items():
            other = read_awr(encoded(change(text)))
            for _, table in differences(report, other):
                one, two = report[table], other[table]
                assert (path.name, name, table, one.height) == (path.name, name, table, two.height)
                unequal = [column for column in one.columns if not one[column].equals(two[column])]
                assert all(one[column].dtype == pl.String for column in unequal), (path.name, name, table, unequal)


def test_wrapped_report_of_the_series() -> None:
    """A page that SQL*Plus has wrapped at any line size has the figures of the page."""
    text, report = open_log(PAGE).text(), read_awr(PAGE)
    for width in (100, 132, 250, 500, 999):
        assert (width, differences(report, read_awr(encoded(wrapped(text, width))))) == (width, [])


def titles_as(text: str, before: str, behind: str = "") -> str:
    """The titles of a report and of its sections between marks of Markdown."""
    lines = lines_of(text)
    kinds = line_kinds.classify(lines)
    titles = (line_kinds.BANNER, line_kinds.TITLE)
    pairs = zip(lines, kinds, strict=True)
    return joined([f"{before}{line.strip()}{behind}" if what in titles else line for line, what in pairs])


def stamped(text: str, form: str) -> str:
    """As a job's output in a log with times."""
    return joined([form.format(number % 60) + line for number, line in enumerate(lines_of(text))])


def added(text: str) -> str:
    """As a diff shows a new file."""
    head = "diff --git a/report b/report\n--- /dev/null\n+++ b/report\n@@ -0,0 +1,99 @@\n"
    return head + joined([f"+{line}" for line in lines_of(text)])


PREFIXED: Final[dict[str, Callable[[str], str]]] = {
    "cat -n": numbered,
    "grep -n": lambda text: numbered(text, "{}:"),
    "pipe": lambda text: quoted(text, "| "),
    "narrow pipe": lambda text: quoted(text, "|"),
    "boxed": lambda text: joined([f"| {line} |" for line in lines_of(text)]),
    "boxed to a width": lambda text: joined([f"|{line:<132}|" for line in lines_of(text)]),
    "quoted": quoted,
    "jenkins": lambda text: stamped(text, "[2026-11-21T18:36:{:02}.123Z] "),
    "date and time": lambda text: stamped(text, "2026-11-21 18:36:{:02} "),
    "time": lambda text: stamped(text, "18:36:{:02} "),
    "syslog": lambda text: stamped(text, "Nov 21 18:36:{:02} dbhost job[4711]: "),
    "diff": added,
    "numbered in a log": lambda text: stamped(numbered(text), "18:36:{:02} "),
}
MARKED: Final[dict[str, Callable[[str], str]]] = {
    "headings": lambda text: titles_as(text, "## "),
    "bold": lambda text: titles_as(text, "**", "**"),
    "bold headings": lambda text: titles_as(text, "### **", "**"),
}


def lost(path: Path, change: Callable[[str], str]) -> list[object]:
    """What differs in a decorated report: frames, kind, period."""
    report, other = original(path), read_awr(change(open_log(path).text()).encode())

    def head(one: AwrReport) -> tuple[object, ...]:
        return one.kind, one.info.begin_time, one.info.end_time, one.info.elapsed_s

    return [*differences(report, other), *([head(other)] if head(report) != head(other) else [])]


@pytest.mark.parametrize("name", [*PREFIXED, *MARKED])
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_decorated_texts(path: Path, name: str) -> None:
    """What stands before the lines of a text report, or around its titles, changes no figure."""
    assert lost(path, (PREFIXED | MARKED)[name]) == []


@pytest.mark.parametrize("name", PREFIXED)
def test_decorated_pages(name: str) -> None:
    """The same for the source of a page."""
    assert lost(PAGE, PREFIXED[name]) == []


@pytest.mark.parametrize("name", ["cat -n", "jenkins", "diff"])
@pytest.mark.parametrize("path", [TEXTS[0], PAGE], ids=["text", "page"])
def test_places_in_decorated_reports(path: Path, name: str) -> None:
    """Figures are found in the lines of the file, behind what stands before them."""
    text = PREFIXED[name](open_log(path).text()).encode()
    found = [provenance(read_awr(source), source) for source in (open_log(path).text().encode(), text)]
    plain, decorated = (frame.filter(frame["status"] == "typed").height for frame in found)
    assert plain == decorated > 0
    assert "lost" not in found[1]["status"].cast(pl.String).to_list()


@pytest.mark.corpus
def test_decorated_corpus(corpus: Path) -> None:
    """Every report of the corpus, in every decoration."""
    faults = []
    for path in sorted(one for one in (corpus / "awr").rglob("*") if one.suffix in {".txt", ".html"}):
        try:
            form = original(path).form
        except LogError:
            continue
        changes = PREFIXED | (MARKED if form == "text" else {})
        faults += [(path.name, name, found) for name, change in changes.items() if (found := lost(path, change))]
    assert faults == []


def test_the_report_that_embeds_others_is_the_report() -> None:
    """ASH and ADDM reports within or before a report are parts of it, and never what the file is."""
    report = (HERE / "awr_text_11204.txt").read_text(encoding="utf-8")
    ash = (HERE / "ash_121.txt").read_text(encoding="utf-8")
    addm = "          ADDM Report for Task 'TASK_1'\n\nThere are no findings to report.\n\n"
    for text, parts in ((ash + report, ["ash", "awr"]), (report + ash, ["awr", "ash"]), (addm + report, ["awr"])):
        found = read_awr(text.encode())
        assert (found.kind, [part.kind for part in found.parts]) == ("awr", parts)
        assert found["top_events"].equals(read_awr(report.encode())["top_events"])
    page = PAGE.read_text(encoding="utf-8")
    assert read_awr(page.replace("<h1", "<h1>ADDM Report for Task 'T'</h1><h1", 1).encode()).kind == "awr"


@pytest.mark.parametrize("width", [77, 78])
def test_cut_hash_values_are_no_ids(width: int) -> None:
    """A copy that cuts the column of the hash values has none, and says so of each statement."""
    text = (HERE / "statspack_102.txt").read_text(encoding="utf-8")
    whole, cut = (read_awr("\n".join([line[:end] for line in text.split("\n")]).encode()) for end in (200, width))
    assert whole["sql"]["old_hash_value"].null_count() == 0
    assert cut["sql"]["old_hash_value"].null_count() == whole["sql"].height
    assert cut.diagnostics.filter(pl.col("reason").str.contains("too short for an id")).height == whole["sql"].height


@pytest.mark.parametrize("width", [74, 77, 78, 79])
@pytest.mark.parametrize("path", [path for path in TEXTS if "fragment" not in path.stem], ids=lambda path: path.stem)
def test_figures_are_not_cut_silently(path: Path, width: int) -> None:
    """Where a copy cuts the last column, its figures are the report's, or a diagnostic says that they may differ."""
    text = open_log(path).text()
    whole, cut = (read_awr("\n".join([line[:end] for line in lines_of(text)]).encode()) for end in (200, width))
    told = cut.diagnostics.filter(pl.col("kind").cast(pl.String).is_in(["cut", "damaged"])).height
    other = [
        (name, column)
        for name in set(whole.tables) & set(cut.tables)
        if whole[name].height == cut[name].height
        for column in set(whole[name].columns) & set(cut[name].columns)
        if whole[name][column].dtype.is_numeric()
        and cut[name][column].dtype.is_numeric()
        and (whole[name][column].ne_missing(cut[name][column]) & cut[name][column].is_not_null()).any()
    ]
    assert told > 0 or other == []


def mail_wrapped(text: str, width: int) -> str:
    """As mail programs break long lines: at a blank, which is lost."""
    lines: list[str] = []
    for line in lines_of(text):
        rest = line
        while len(rest) > width and (place := rest.rfind(" ", 1, width + 1)) > 0:
            lines.append(rest[:place].rstrip())
            rest = rest[place + 1 :].lstrip()
        lines.append(rest)
    return joined(lines)


@pytest.mark.parametrize("width", [60, 66, 72, 76])
def test_a_wrapped_snapshot_is_no_other_one(width: int) -> None:
    """Of a head that a mail program has wrapped, times are read where they belong, or not at all."""
    text = (HERE / "statspack_102.txt").read_text(encoding="utf-8")
    info, whole = read_awr(mail_wrapped(text, width).encode()).info, read_awr(text.encode()).info
    assert info.begin_time in {whole.begin_time, None}
    assert info.end_time in {whole.end_time, None}
    assert info.sessions_end in {whole.sessions_end, None}


@pytest.mark.parametrize("width", [66, 70, 72, 76, 78])
def test_headings_that_a_mail_moved_are_no_other_columns(width: int) -> None:
    """A share of the call time does not become one of DB time because the lines of the headings are broken."""
    text = """STATSPACK report for

Foreground Wait Events  DB/Inst: FIG/fig1  Snaps: 100-101

                                                             Avg          %Total
                                          %Tim Total Wait   wait    Waits   Call
Event                               Waits  out   Time (s)   (ms)     /txn   Time
---------------------------- ------------ ---- ---------- ------ -------- ------
db file sequential read           774,575    0      9,438     12      3.0   74.2
log file sync                     257,878    0        270      1      1.0    2.1
          -------------------------------------------------------------
"""
    whole, broken = (read_awr(one.encode()) for one in (text, mail_wrapped(text, width)))
    assert whole["foreground_events"]["call_time_pct"].to_list() == [74.2, 2.1]
    found = broken["foreground_events"] if "foreground_events" in broken.tables else whole["foreground_events"].clear()
    assert found["db_time_pct"].count() == 0
    assert found.height or "unknown_name" in broken.diagnostics["kind"].to_list()


def test_tables_of_markdown_without_outer_bars() -> None:
    """Bars between the cells alone make a table, too."""
    rows = ("Event|Waits|Total Wait Time (sec)|Wait Class", "---|---:|---:|---", "log file sync|100|11.1|Commit")
    report = read_awr("\n".join(["## Top 10 Foreground Events by Total Wait Time", "", *rows, ""]).encode())
    assert report["top_events"].select("event", "waits", "total_wait_s").rows() == [("log file sync", 100, 11.1)]
