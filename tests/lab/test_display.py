"""Logs, results and frames as Python and notebooks show them."""

import html
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import iolab
from awrparse import AwrReport, read_awr
from iolab.display import frame_as_text, frame_in_notebook, show_frames, with_bounds_folded
from iolab.pages.elements import marked_html

SAMPLES = Path(__file__).parents[2] / "sample_data"

FRAME = pl.DataFrame({"name": ["v$statname a, v$mystat", 'a "b" <c>', "", None], "value": [1.5, 2.0, None, 4.0]})


def test_texts_stand_to_the_left_without_quotes() -> None:
    """Texts lose the quotes around them and keep those inside; numbers, nulls and headings stay as they are."""
    shown = frame_in_notebook(FRAME)

    for cell in ("v$statname a, v$mystat", "a &quot;b&quot; &lt;c&gt;", ""):
        assert f'<td style="text-align: left">{cell}</td>' in shown
    assert "<td>null</td><td>4.0</td>" in shown
    assert '<th style="text-align: left">name</th><th>value</th>' in shown


def test_names_of_views_are_no_formulas() -> None:
    """JupyterLab leaves the table as it is, though two dollars stand in it."""
    assert frame_in_notebook(FRAME).startswith('<div class="mathjax_ignore">')


def test_a_frame_with_columns_left_out_keeps_its_headings() -> None:
    """Where Polars leaves columns out, the headings are its own."""
    frame = pl.DataFrame({f"c{number}": ["x"] for number in range(30)})
    with pl.Config(tbl_cols=4):
        shown = frame_in_notebook(frame)

    assert (shown.count("<th>"), "c29" in shown) == (5, True)


@pytest.mark.parametrize("module", [None, SimpleNamespace(get_ipython=lambda: None)])
def test_nothing_happens_outside_a_notebook(monkeypatch: pytest.MonkeyPatch, module: object) -> None:
    """A script may choose the theme too."""
    monkeypatch.setitem(sys.modules, "IPython", module)

    show_frames()


def test_a_notebook_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a kernel frames are shown by this module."""
    found: dict[Any, Any] = {}
    texts: dict[Any, Any] = {}
    kinds = {"text/html": found, "text/plain": texts}
    formatters = {kind: SimpleNamespace(for_type=of.__setitem__) for kind, of in kinds.items()}
    formatter = SimpleNamespace(formatters=formatters)
    shell = SimpleNamespace(display_formatter=formatter)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))

    show_frames()

    assert (found, texts) == ({pl.DataFrame: frame_in_notebook}, {pl.DataFrame: frame_as_text})


@pytest.fixture(scope="module")
def report() -> AwrReport:
    """A report of ten minutes."""
    return read_awr(SAMPLES / "one_case/awrrpt_1_881_882.txt")


def test_a_log_shows_what_it_is(report: AwrReport) -> None:
    """Scope, period, ledger, first sentences and tables with their sizes, as text and as HTML; one line as `repr`."""
    for shown in (str(report), html.unescape(re.sub("<[^>]+>", "", report._repr_html_()))):
        for part in (
            "DEMO on demo.example.com",
            "22:55 to 23:05",
            "DB time was 80.8 s in 601 s",
            "CPU took 82 %",
        ):
            assert part in shown
    assert "top_events (10 rows)" in str(report)
    assert "sql_by_reads" in report._ipython_key_completions_()
    assert 'log["top_events"]' in html.unescape(report._repr_html_())
    assert repr(report).count("\n") == 0


@pytest.mark.parametrize(
    "sample",
    [
        "one_case/awrrpt_1_881_882.txt",
        "articles/004_exadata_flash_cache.txt",
        "captures/async_direct_f_ttt_T_y.strace",
        "sqltrace/orders_flash_ora_4711.trc",
        "sqltrace/orders_flash_ora_4711.prf",
        "host/iostat.out",
        "host/biolatency.txt",
        "host/session_polls.csv",
        "articles/001_dtrace_profile.txt",
    ],
)
def test_the_objects_of_all_formats_have_the_same_names(sample: str) -> None:
    """Frames by name and by Tab, findings, ledger, charts that draw, and a name that is not there is an error."""
    log = iolab.load(SAMPLES / sample)

    assert set(log._ipython_key_completions_()) >= set(log.frames())
    for name in log.frames():
        assert name in log
        assert type(log[name]) is type(log.frames()[name])
    with pytest.raises(KeyError, match="nothing"):
        log["nothing"]
    assert log.findings.equals(iolab.findings(log))
    assert set(log.charts) <= set(dir(log.charts))
    assert repr(log.charts).count("\n") == max(len(log.charts) - 1, 0)
    for name in log.charts:
        with suppress(iolab.charts.ChartError):
            assert log.charts[name].to_dict()["config"] is not None
    assert not hasattr(log.charts, "nothing")
    assert repr(log).startswith(f"<{type(log).__name__} ")
    assert log._repr_html_().count("<div") == log._repr_html_().count("</div>")
    assert log.describe() in html.unescape(log._repr_html_())
    if iolab.ledgers(log):
        assert log.ledger.base == iolab.ledger(log).base


def test_pieces_and_sums_look_in_a_notebook_as_on_a_page(report: AwrReport) -> None:
    """Each class of a piece, its label and the key is styled in the block, and so is the sum of an account."""
    block = report.ledger._repr_html_()
    classes = re.findall(r'<(?:div|p) class="((?:piece|key)[^"]*)"|<rect [^>]*class="(c-[^"]*)"', block)
    used = {one for said in classes for one in " ".join(said).split()} - {"icicle-key"}
    assert used > {"piece", "key", "c-system_io"}
    style = block[block.index("<style>") : block.index("</style>")]
    assert {one for one in used if not re.search(rf"\.{one}\b[^}}]*{{", style)} == set()
    assert "table.ledger :is(tfoot tr" in style


def test_what_a_log_holds_is_text() -> None:
    """Markup within a log stays text in a notebook."""
    spool = iolab.load(b"SQL> select '<img src=x onerror=alert(1)>' from dual;\n\nElapsed: 00:00:09.01\n")

    for shown in (spool._repr_html_(), spool.ledger._repr_html_(), frame_in_notebook(spool.findings)):
        assert "<img" not in shown


def test_findings_are_whole_sentences(report: AwrReport) -> None:
    """No sentence is cut, also of a frame that was filtered, and as text."""
    found = report.findings.filter(pl.col("mark") == "major").select("rank", "mark", "impact", "sentence", "next")
    printer = SimpleNamespace(text=(texts := []).append)
    frame_as_text(found, printer, cycle=False)

    for sentence in found["sentence"]:
        assert marked_html(sentence) in frame_in_notebook(found)
        assert sentence in texts[0]


def test_bounds_are_folded_where_columns_would_be_left_out() -> None:
    """A wide frame has bounds in brackets; one whose columns were chosen stays as it is."""
    wide = iolab.load(SAMPLES / "one_case/orders_flash.lst").statements
    narrow = wide.select("elapsed_s", "elapsed_s_lo", "elapsed_s_hi")
    exact = pl.DataFrame({"n": [5.0], "n_lo": [5.0], "n_hi": [5.0]})

    assert "0.23 [0.225, 0.24]" in with_bounds_folded(wide)["elapsed_s"].to_list()
    assert "elapsed_s_lo" in frame_in_notebook(narrow)
    assert with_bounds_folded(exact).to_dicts() == [{"n": "5.0"}]


def test_results_show_themselves(report: AwrReport) -> None:
    """Ledgers, their comparison, predictions and comparisons of logs and of samples are shown by their words."""
    ledger = report.ledger
    results = [
        ledger,
        ledger.compare(ledger),
        ledger.what_if("db file sequential read", factor=0.5),
        iolab.compare(report, report),
        iolab.compare([1.0, 1.1, 1.2], [2.0, 2.1, 2.2]),
    ]

    for result in results:
        texts: list[str] = []
        result._repr_pretty_(SimpleNamespace(text=texts.append), cycle=False)
        assert texts == [str(result)]
        assert result._repr_html_().startswith('<div class="iolab mathjax_ignore">')
    assert "would be" in results[2]._repr_html_()


def test_a_mistake_ends_in_one_short_message() -> None:
    """In a notebook an error of a log is the line of the cell and the message, not a traceback through the readers."""
    code = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(colors="nocolor")
shell.run_cell("import iolab\\nlog = iolab.ledger('no_such_report.html')")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    shown = done.stdout.strip().splitlines()

    assert shown[0] == "line 2: log = iolab.ledger('no_such_report.html')"
    assert shown[1] == "LogNotFoundError: no_such_report.html: no such file"
    assert shown[2] == "  expected: a file that exists"
    assert len(shown) == 3
