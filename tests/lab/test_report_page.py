"""The page about logs: what is shown is what was read, each refusal with its reason, and nothing of this machine."""

import gc
import re
import subprocess
import sys
import weakref
from collections.abc import Mapping
from html import unescape
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from selectolax.lexbor import LexborHTMLParser

from iolab import write_report
from iolab.cli import main
from iolab.pages import writing
from iolab.pages.summary import LogSummary, summarize
from iolab.pages.tables import diagnostics_html, figures_html, format_value, frame_html
from logframe import DIAGNOSTICS

SAMPLES = Path(__file__).parents[2] / "sample_data"
ARTICLES = SAMPLES / "articles"
CAPTURES = SAMPLES / "captures"
TRACED = "select sum(amount) from orders where status <> 'CLOSED'"

#: Some of each kind: old and new, text and HTML, whole and excerpts, with and without times and reads.
CORPUS = (
    "awr/_snippets/awr_text_11.2.0.3_rac_aix_exadata.txt",
    "awr/Apress__troubleshooting-oracle-perf-14/chapter05__ash_1930_1945.html",
    "awr/Apress__troubleshooting-oracle-perf-14/chapter05__sp_1930_1945.txt",
    "awr/Apress__troubleshooting-oracle-perf-14/chapter05__awrd_1830_1845-1930_1945.txt",
    "awr/Lucky29011__reports/addm.html",
    "awr/therealkevinc__AWRS/awr_rac.html",
    "sqlplus/_excerpts_by_index/exadata_mystats_flash_54026671713.txt",
    "sqlplus/_excerpts_by_index/fr_ko_pt_es_ru_zh_elapsed_lines.txt",
    "sqlplus/2019210654__sostu785ab59e/2020/lab03/centos7.5/results/10/t1/testlog13.md",
    "sqlplus/mtnpreiss__sql_tests/test_delete.sql",
    "strace/captures/6.1-ora-r-io.strace",
    "strace/captures/6.1-ora-c.strace",
    "strace/captures/4.5.20-attach-rp.strace",
    "strace/found/web__lfree_controlfile/fg-t-pread.strace",
    "strace/found/web__lucifer_ckpt_fr/ckpt-f-r.strace",
)


def text_of(page: Path) -> str:
    """What a reader reads, one table cell or paragraph a line."""
    body = re.sub(r"<(script|style).*?</\1>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return unescape(re.sub(r"<[^>]+>", "\n", body))


def test_a_frame_called_samples_is_of_any_kind(tmp_path: Path) -> None:
    """Several tools have samples: a page is made of those, too, of which no finding and no figure can be said."""
    names = ("sadf_p", "atop", "collectl", "dstat")
    seen = [summarize(SAMPLES / f"tools/{name}.out") for name in names]
    assert all("samples" in one.frames for one in seen)
    assert any(one.findings.is_empty() and one.figures.is_empty() for one in seen)

    for name in names:
        assert write_report(SAMPLES / f"tools/{name}.out", tmp_path / f"{name}.html") == []


def test_logs_that_pair_up_are_compared(tmp_path: Path) -> None:
    """Two reports and two traces are compared, a report and a trace aligned; what does not pair has a reason."""
    logs = [ARTICLES / f"003_filesystemio_{name}.txt" for name in ("setall", "none")]
    logs += [CAPTURES / f"scattered_{name}_tt_T.strace" for name in ("direct", "buffered")]
    logs += [ARTICLES / "004_exadata_flash_cache.txt", ARTICLES / "002_linux.txt"]

    assert write_report(logs, tmp_path / "page.html") == []

    text = text_of(tmp_path / "page.html")
    assert "DB time hardly changed (8.01 and 8.11 sessions active), but" in " ".join(text.split())
    assert "Two strace logs, compared by rates" in text
    assert "Both sides of the system calls" in text
    assert "Not compared" in text
    assert "the sessions have no timed statement with the same text" in text


def test_one_log_says_that_there_is_nothing_to_compare(tmp_path: Path) -> None:
    """A page of one log has no comparison, and says what would make one."""
    write_report(CAPTURES / "async_direct_r.strace", tmp_path / "page.html")

    assert "No comparison" not in text_of(tmp_path / "page.html")


def test_two_logs_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """Files of one name in two folders keep their own section and comparison."""
    for folder, name in (("before", "setall"), ("after", "none")):
        (tmp_path / folder).mkdir()
        text = (ARTICLES / f"003_filesystemio_{name}.txt").read_text(encoding="utf-8")
        (tmp_path / folder / "awr.txt").write_text(text, encoding="utf-8")

    write_report([tmp_path / "before/awr.txt", tmp_path / "after/awr.txt"], tmp_path / "page.html")

    assert "before/awr.txt and after/awr.txt" in text_of(tmp_path / "page.html")


def test_calls_without_times_have_no_time() -> None:
    """A log without -T has no elapsed time of its calls: null, not zero."""
    frame = summarize(CAPTURES / "async_direct_r.strace").frames["calls"]

    assert frame.get_column("elapsed").null_count() == frame.height


def test_latencies_name_their_mode() -> None:
    """Synchronous and asynchronous latencies are two rows with two names."""
    figures = summarize(CAPTURES / "async_direct_tt_T.strace").figures.get_column("metric").to_list()

    assert "latency_us_p50 (async)" in figures
    assert len(set(figures)) == len(figures)


def test_a_log_without_reads_has_no_figures() -> None:
    """Nothing is divided by no reads: there is a sentence instead of refusals, and the figures of the writes."""
    nothing = summarize(b"     0.000000 lseek(3, 0, SEEK_SET) = 0\n     0.000100 close(3) = 0\n")
    seen = summarize(b"     0.000000 write(3, '', 8192) = 8192\n     0.000100 close(3) = 0\n")

    assert nothing.figures.is_empty()
    assert not [one for one in seen.figures.get_column("metric") if "read" in one]
    assert all("no reads of files or devices" in one.notes[0] for one in (nothing, seen))


def test_a_clock_of_whole_seconds_bounds_nothing() -> None:
    """Reads within one second of `-t` have no upper bound of nanoseconds: the latency is refused."""
    lines = "".join(f"10:00:01 pread64(3, '', 8192, {8192 * n}) = 8192\n" for n in range(4))
    rows = summarize(lines.encode()).figures.filter(pl.col("metric").str.starts_with("latency_us")).to_dicts()

    assert [row["value"] for row in rows] == [None] * 5
    assert "no time between them" in rows[0]["caveats"]


def test_upper_bounds_are_shown_as_such(tmp_path: Path) -> None:
    """A latency from gaps is shown as `at most`, never as the value alone."""
    write_report(CAPTURES / "scattered_direct_r.strace", tmp_path / "page.html")
    cells = text_of(tmp_path / "page.html").split("\n")
    place = cells.index("latency_us_p50 (sync)")

    assert next(cell for cell in cells[place + 1 :] if cell).startswith("at most ")


def test_figures_have_numbered_notes() -> None:
    """A caveat of several figures stands once below the table, a refused figure in a list with its reason."""
    row = {"value": 2.0, "lo": 1.9, "hi": 2.1, "unit": "ms", "basis": "a / b", "caveats": "an average; of all"}
    refused = row | {"metric": "z", "value": None, "caveats": "refused: a is more than b"}
    text = figures_html(pl.DataFrame([row | {"metric": "x"}, row | {"metric": "y"}, refused]))

    assert text.count("an average") == 1
    assert text.count(">1 2</td>") == 2
    assert "<b>z</b>: a is more than b" in text


def test_remarks_of_one_kind_are_one_row() -> None:
    """Eleven remarks that differ in their numbers only are one row with their number and first lines."""
    rows = [("s", n, "repaired", f"text {n}", f"cut at column {n}") for n in range(1, 12)]
    columns = {"source": pl.String, "line": pl.Int64, "kind": pl.String, "text": pl.String, "reason": pl.String}
    text = diagnostics_html(pl.DataFrame(rows, schema=columns, orient="row"))

    assert set(columns) <= set(DIAGNOSTICS)
    assert text.count("<tr>") == 2
    assert ">11<" in text
    assert "1, 2, 3, 4, 5, ..." in text


def test_frames_are_cut_and_say_so() -> None:
    """Long frames show their first rows; columns of nulls and of this machine's paths are left out."""
    frame = pl.DataFrame({"source": ["/a/b"] * 50, "line": range(50), "empty": [None] * 50, "bytes": [8192] * 50})
    text = frame_html(frame, most=3)

    assert "/a/b" not in text
    assert "empty" not in text
    assert "and 47 more rows" in text
    assert text.count("8,192") == 3


def test_headings_show_units() -> None:
    """A reader sees words and a unit in brackets, not the name of a column."""
    text = frame_html(pl.DataFrame({"total_wait_s": [1.5], "db_time_pct": [57.6], "has_o_direct": [True]}))

    assert re.findall(r"<th(?: [^>]*)?>(.*?)</th>", text) == ["total wait (s)", "% DB time", "O_DIRECT"]


def test_a_session_of_runs_has_its_medians(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Repeated runs are one row a statement, on the terminal and on the page: a median with its interval."""
    log = SAMPLES / "runs/buffered_direct_async.txt"
    samples = summarize(log).frames["samples"]
    assert main(["show", str(log)]) == 0
    shown = capsys.readouterr().out
    write_report(log, tmp_path / "page.html")

    assert samples.select("runs", "median_s").rows() == [(31, 2.377), (31, 2.039), (31, 1.787)]
    assert all(
        low < median < high for low, median, high in samples.select("ci95_low_s", "median_s", "ci95_high_s").rows()
    )
    assert "31 runs, median 2.38 s (95 % interval: 2." in shown
    assert "statement=" not in shown
    assert "31 runs, median 2.38 s" in text_of(tmp_path / "page.html")


def test_few_reads_are_no_distribution() -> None:
    """Of four reads no curve of their times is drawn."""
    few, many = (
        summarize(path).charts() for path in (ARTICLES / "000_sync_reads.strace", CAPTURES / "async_direct_r.strace")
    )

    assert "Latency of reads" not in [chart.title for chart in few]
    assert "Latency of reads" in [chart.title for chart in many]


def test_a_missing_log_is_named_once(tmp_path: Path) -> None:
    """The reason has no "line" where the file has none."""
    logs = [tmp_path / "none.log", ARTICLES / "000_sync_reads.strace"]

    assert write_report(logs, tmp_path / "page.html") == ["none.log: no such file"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("none.log", "iolab: none.log: no such file"),
        ("none.log {log}.pdf", "iolab: none of the 2 logs could be read:"),
        ("--before none.log --after {log}", "iolab: none.log: no such file"),
        ("--set one={log} --set two=none.log", "iolab: none.log: no such file"),
    ],
)
def test_nothing_is_written_where_nothing_could_be_read(
    tmp_path: Path, words: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """No page of reasons alone: the reason is the error, in a line, and a page of before stays."""
    page, log = tmp_path / "page.html", ARTICLES / "000_sync_reads.strace"
    page.write_text("before", encoding="utf-8")

    assert main(["report", *words.format(log=log).split(), "-o", str(page)]) == 1

    shown = capsys.readouterr()
    assert said in shown.err.splitlines()
    assert shown.out == ""
    assert page.read_text(encoding="utf-8") == "before"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0"), (1e15, "1,000,000,000,000,000"), (-0.5, "-0.5"), (1234567.891, "1,234,568"), ("a\n  b", "a b")],
)
def test_values_are_written_out(value: object, shown: str) -> None:
    """No exponents, no line breaks, no digits that are not there."""
    assert format_value(value) == shown


@pytest.mark.corpus
@pytest.mark.parametrize("name", CORPUS)
def test_pages_of_real_logs(name: str, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every real log has a page with exit code 0, without this machine's paths, exponents, or Python's own words."""
    page = tmp_path / "page.html"

    assert main(["report", str(corpus / name), "-o", str(page)]) == 0
    assert capsys.readouterr().err.count("\n") == 1
    text = text_of(page)
    assert str(corpus) not in text
    assert re.findall(r"\b\d\.\d+e[+-]\d+\b|\bNone\b|\bnan\b|\binf\b|\bTrue\b|datetime\.|timedelta", text) == []
    assert max(len(line) for line in text.split("\n")) < 1500
    assert sum(bool(line.strip()) for line in text.split("\n")) < 3000


def test_the_first_chart_of_any_comparison_is_at_the_top(tmp_path: Path) -> None:
    """Where the time changed between two sessions stands before the logs, and once."""
    runs = Path(__file__).parents[2] / "sample_data" / "runs"
    page = tmp_path / "page.html"
    write_report(sorted(runs.glob("*.txt"))[:2], page)
    first, _, rest = page.read_text(encoding="utf-8").partition('<section id="logs">')

    drawn = first[first.index('<div class="basis">') :]
    assert drawn.count('class="ledger waterfall"') == 1
    assert drawn[: drawn.index("</table>")] not in rest
    assert "<svg" in rest


@pytest.mark.parametrize("reports", [1, 7])
def test_a_page_loads_no_chart_library(tmp_path: Path, reports: int) -> None:
    """One report is a page with drawings, seven one without; neither needs Altair, a browser's engine or SciPy."""
    report = (ARTICLES / "003_filesystemio_setall.txt").read_bytes()
    for number in range(reports):
        (tmp_path / f"report_{number}.txt").write_bytes(report)
    page = tmp_path / "page.html"
    heavy = {"altair", "vl_convert", "numpy", "scipy"}
    code = f"import sys, iolab; print(iolab.write_report(*sys.argv[1:]), {heavy} & set(sys.modules))"

    done = subprocess.run([sys.executable, "-c", code, tmp_path, page], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["[]", "set()"]
    assert ('class="drawn' in page.read_text(encoding="utf-8")) == (reports == 1)


@pytest.mark.parametrize(
    ("logs", "picture", "said"),
    [
        (
            ["sqltrace/orders_flash_ora_4711.prf"],
            'icicle" role="group"',
            'aria-label="call time: db file scattered read',
        ),
        (["articles/001_dtrace_profile.txt"], 'icicle" role="group"', "<title>samples 554</title>"),
        (["host/biolatency.txt"], 'histogram">', "<figcaption>How long each took"),
        (["one_case/awrrpt_1_881_882.txt", "sqltrace/orders_flash_4711.strace"], 'when">', "<figcaption>When each log"),
    ],
)
def test_a_page_of_each_kind_has_a_picture_at_the_top(tmp_path: Path, logs: list[str], picture: str, said: str) -> None:
    """Of a TKPROF report its ledger, of a histogram its bars, of logs of several kinds when they were."""
    page = tmp_path / "page.html"
    write_report([SAMPLES / log for log in logs], page)

    top = page.read_text(encoding="utf-8").partition("<h2>")[0].partition("<h3>")[0]
    assert f'<figure class="{picture}' in top
    assert said in top
    assert top.count("<rect") > 1


def test_a_table_is_not_twice_on_a_page(tmp_path: Path) -> None:
    """Where findings cite a whole table that the page shows anyway, their links go to that one."""
    page, log = tmp_path / "page.html", tmp_path / "biolatency.txt"
    rows = ((64, 127, 10), (128, 255, 300), (256, 511, 90))
    log.write_text(
        "     usecs               : count     distribution\n"
        + "".join(f"{low:>10} -> {high:<10} : {count:<8} |*|\n" for low, high, count in rows),
        encoding="utf-8",
    )
    write_report(log, page)

    text = page.read_text(encoding="utf-8")
    assert text.count(">buckets</h") == 1
    assert text.count('href="#log-1-buckets"') == text.count('id="log-1-buckets"') == 1


def test_only_the_longest_words_of_a_wide_table_are_broken() -> None:
    """A printed table keeps names of files within the paper and statements' identifiers whole."""
    words = {"sql_id": ["309mwpa4tk161"], "file": ["/u01/oradata/PLUM/users01.dbf"]}
    counts = {f"count_{number}": [178_450_620_416] for number in range(4)}
    narrow, wide = (frame_html(pl.DataFrame(words | some)) for some in ({}, counts))

    assert "breaks" not in narrow
    assert wide.count("breaks") == 2  # heading and cell
    assert "users01.dbf</td>" in wide.partition('<td class="breaks"')[2]
    assert 'class="dense tight"' in frame_html(pl.DataFrame({f"n{number}": [10**13] for number in range(12)}))


def test_a_report_whose_clock_was_set_back_has_no_total_and_stops_nothing(tmp_path: Path) -> None:
    """A negative Elapsed is the reason why there is no total; the other logs of the page are there."""
    path = next((Path(__file__).parents[2] / "sample_data" / "awr_series").glob("*4104_4105.txt"))
    text = path.read_text(encoding="utf-8")
    back = tmp_path / "back.txt"
    back.write_text(text.replace("Elapsed:               60.19", "Elapsed:              -60.19"), encoding="utf-8")

    assert write_report([back, path], tmp_path / "page.html") == []
    assert "the clock was set back between the snapshots" in text_of(tmp_path / "page.html")


def test_a_statement_of_no_execution_has_no_average(tmp_path: Path) -> None:
    """The page has the time of a statement that was not executed to its end, and no time of an execution."""
    log = tmp_path / "report.txt"
    log.write_text(
        "SQL ordered by Elapsed Time\n-> Captured SQL account for   89.3% of Total DB Time (s):             300\n\n"
        "        Elapsed                  Elapsed Time\n"
        "        Time (s)    Executions  per Exec (s)  %Total   %CPU    %IO    SQL Id\n"
        "---------------- -------------- ------------- ------ ------ ------ -------------\n"
        "           267.9              0                 89.3    3.3     .0 9zyx8k2abcdef\nselect 1 from t\n",
        encoding="utf-8",
    )

    assert write_report([log], tmp_path / "page.html") == []
    assert "9zyx8k2abcdef" in text_of(tmp_path / "page.html")


def test_a_fault_at_one_log_is_a_row_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A program error at one of several logs is named; at the only log it is an error."""
    good, bad = ARTICLES / "003_filesystemio_setall.txt", CAPTURES / "async_direct_r.strace"

    def summarize_or_fail(source: object, **options: object) -> object:
        if str(source).endswith("async_direct_r.strace"):
            raise ZeroDivisionError("nothing to divide")
        return summarize(source, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("iolab.pages.writing.summarize", summarize_or_fail)
    monkeypatch.setattr("iolab.pages.summary.summarize", summarize_or_fail)

    said = "a fault of this program, please report it: ZeroDivisionError: nothing to divide"
    assert write_report([good, bad], tmp_path / "page.html") == [f"async_direct_r.strace: {said}"]
    assert said in text_of(tmp_path / "page.html")
    with pytest.raises(ZeroDivisionError):
        write_report([bad], tmp_path / "other.html")
    assert main(["show", str(good), str(bad)]) == 1
    assert said in capsys.readouterr().err


def test_a_page_of_very_many_logs_keeps_none_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has the time of each and the two between which it changed; a link leads to the row of the log."""
    read: list[weakref.ref[object]] = []

    def kept(source: object) -> LogSummary:
        seen = summarize(source)  # type: ignore[arg-type]
        read.append(weakref.ref(seen.log))
        return seen

    monkeypatch.setattr("iolab.pages.writing.summarize", kept)
    alive: list[int] = []
    draw = writing.heat_html

    def drawn(*words: Mapping[str, Any]) -> str:
        gc.collect()
        alive.append(sum(one() is not None for one in read))
        return draw(*words)

    monkeypatch.setattr("iolab.pages.writing.heat_html", drawn)
    pages = []
    (tmp_path / "no_log.pdf").write_bytes(b"%PDF-1.4 of no use")
    for most in (20, 5):
        monkeypatch.setattr("iolab.pages.writing._MOST_WHOLE", most)
        failed = write_report([SAMPLES / "awr_series", tmp_path / "no_log.pdf"], tmp_path / "page.html")
        assert [one.partition(":")[0] for one in failed] == ["no_log.pdf"]
        pages.append((tmp_path / "page.html").read_text(encoding="utf-8"))

    assert alive == [13, 0]
    assert len(pages[1]) < len(pages[0]) / 3
    whole, short = (LexborHTMLParser(page) for page in pages)
    assert [one.text() for one in whole.css("p.verdict")] == [one.text() for one in short.css("p.verdict")]
    for anchor in ("strip", "heat", "comparisons"):
        page, other = (of.css_first(f"#{anchor}") for of in (whole, short))
        assert page is not None
        assert other is not None
        assert page.text() == other.text(), anchor
    links = {str(link.attributes["href"]) for link in short.css("a[href^='#log-']")}
    assert len(links) == 14
    for link in links:
        assert len(short.css(link)) == 1


def test_each_statement_has_its_time_waits_reads_and_plan(tmp_path: Path) -> None:
    """A row of the ledger leads to its statement; one that several logs name is in a table of all of them."""
    trace, spool = SAMPLES / "sqltrace/orders_flash_ora_4711.trc", SAMPLES / "one_case/orders_flash.lst"
    report = SAMPLES / "one_case/awrrpt_1_881_882.txt"
    write_report([trace, spool, report], tmp_path / "page.html")
    page = LexborHTMLParser((tmp_path / "page.html").read_text(encoding="utf-8"))
    links = [node.attributes["href"] for node in page.css("table.ledger tr.who th a")]
    folds = [page.css_first(str(link)) for link in links]
    first = next(fold for fold in folds if "5vtnu5xjfajtn" in fold.text())
    titles = [node.text() for node in first.css("h4")]
    shared = [[cell.text() for cell in row.css("td")[:4]] for row in page.css("#statements tbody tr")]

    assert len(links) == len(set(links)) >= 6
    assert first.css_first("pre").text().split() == TRACED.split()
    assert titles == ["calls", "waits", "row sources"]
    assert "db file scattered read" in first.text()
    assert "TABLE ACCESS FULL ORDERS" in first.text()
    assert shared == [
        ["5vtnu5xjfajtn", trace.name, "333.305 ms", "1"],
        ["5vtnu5xjfajtn", spool.name, "0.33 s", "1"],
    ]
