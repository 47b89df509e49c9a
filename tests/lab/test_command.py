"""The command line and the page about logs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import iolab
from iolab import write_report
from iolab.cli import main
from iolab.pages.ledger_text import MOST_LINES

SAMPLES = Path(__file__).parents[2] / "sample_data"
SPOOL = SAMPLES / "articles/004_exadata_flash_cache.txt"
REPORT = SAMPLES / "articles/003_filesystemio_none.txt"
TRACE = SAMPLES / "captures/async_direct_tt_T.strace"


def test_show_prints_figures(capsys: pytest.CaptureFixture[str]) -> None:
    """`show --figures` prints the figures with their bounds."""
    assert main(["show", "--figures", str(SPOOL)]) == 0
    assert "ms_per_flash_read   0.397   0.395   0.403  ms" in capsys.readouterr().out


def test_show_prints_findings_first(capsys: pytest.CaptureFixture[str]) -> None:
    """`show` prints the total, the parts and sentences in at most 18 lines; `--all` leaves no sentence out."""
    assert main(["show", str(SPOOL)]) == 0
    shown = capsys.readouterr().out
    assert shown.splitlines()[1].startswith("timed statements took 0.730 s")
    assert "Flash answered 99.8 % of 1,841 read requests." in shown
    assert "ms_per_flash_read" not in shown
    assert len(shown.splitlines()) <= MOST_LINES

    assert main(["show", "--all", "--tables", str(SPOOL)]) == 0
    assert "Flash answered" in (shown := capsys.readouterr().out)
    assert "    `select" in shown
    assert "statements" in shown


def test_show_json(capsys: pytest.CaptureFixture[str]) -> None:
    """`show --json` is one object a log, for scripts."""
    assert main(["show", "--json", str(SPOOL), str(TRACE)]) == 0

    spool, trace = map(json.loads, capsys.readouterr().out.splitlines())
    figures = {one["metric"]: one["value"] for one in spool["figures"]}
    assert (figures["block_size"], trace["what"].partition(",")[0]) == (8192.0, "strace log")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["show", "/no/such/log"], 1), (["report", "/no/such/log", "-o", "/no/such/folder/page.html"], 1)],
)
def test_what_cannot_be_read_is_1(arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    """A missing path gives one line and exit code 1, never a traceback."""
    assert main(arguments) == code
    assert capsys.readouterr().err.count("Traceback") == 0


@pytest.mark.parametrize("arguments", [[], ["show"], ["no-such-command"], ["convert", "x", "--format", "xml"]])
def test_a_wrong_command_line_is_2(arguments: list[str]) -> None:
    """The parser of the command line says what is wrong."""
    with pytest.raises(SystemExit) as raised:
        main(arguments)
    assert raised.value.code == 2


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize(("log", "name"), [(SPOOL, "statistics"), (REPORT, "top_events"), (TRACE, "requests")])
def test_convert_writes_frames(tmp_path: Path, kind: str, log: Path, name: str) -> None:
    """Every frame becomes a file."""
    assert main(["convert", str(log), "-o", str(tmp_path), "--format", kind]) == 0
    assert (tmp_path / f"{name}.{kind}").stat().st_size > 100


@pytest.mark.parametrize("log", [SPOOL, REPORT, TRACE])
def test_convert_writes_a_workbook(tmp_path: Path, log: Path) -> None:
    """A sheet a frame: numbers are numbers, texts no formulas, headings name the unit, and two runs are equal."""
    books = [tmp_path / f"{name}.xlsx" for name in "ab"]
    for book in books:
        assert main(["convert", str(log), "-o", str(book), "--format", "xlsx"]) == 0
    frames = {**iolab.load(log).frames(), "diagnostics": iolab.load(log).diagnostics}

    assert books[0].read_bytes() == books[1].read_bytes()
    sheets = pd.read_excel(books[0], sheet_name=None, engine="openpyxl")
    assert set(frames) <= sheets.keys()
    for name, frame in frames.items():
        whole = frame.lazy().collect()
        assert len(sheets[name]) == whole.height
        for column, kind in whole.schema.items():
            if kind.is_float() and whole[column].null_count() < whole.height:
                found = sheets[name][column].dropna().to_list()
                assert found == pytest.approx(whole[column].drop_nulls().to_list())


def test_report_of_any_mix(tmp_path: Path) -> None:
    """A page has every log that was read, and says which were not and why."""
    broken = tmp_path / "diary.txt"
    broken.write_text("Dear diary,\nnothing.\n", encoding="utf-8")

    failed = write_report([SPOOL, REPORT, TRACE, broken], tmp_path / "page.html")

    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert [line.partition(":")[0] for line in failed] == ["diary.txt"]
    assert all(text in page for text in ("0.397", "free buffer waits", "1,032,192", "not a log of a known kind"))
    assert page.count('<figure class="drawn') - page.count('<figure class="drawn narrow-only"') == 7


def test_compare_reports(capsys: pytest.CaptureFixture[str]) -> None:
    """Two reports are compared per second: the lengths of their periods differ."""
    assert main(["compare", str(SAMPLES / "articles/003_filesystemio_setall.txt"), str(REPORT)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("DB time hardly changed (8.01 and 8.11 sessions active), but `free buffer waits` appeared")


def test_compare_spools(capsys: pytest.CaptureFixture[str]) -> None:
    """Two spools of one statement are compared by the times of its runs."""
    logs = [str(SAMPLES / f"articles/002_{name}.txt") for name in ("linux", "linux_directio")]

    assert main(["compare", *logs]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith(
        "The time of the timed statements rose from 46.0 to 349 s (+659 %); 100 % of the change is from"
    )
    supposed = "supposing that runs do not depend on their neighbours"
    assert f"A and B differ, but too few runs show by how much: B / A 7.64, {supposed}. A: 002_linux.txt;" in said
    assert "002_linux.txt (A, 5 runs) against 002_linux_directio.txt (B, 5 runs)" in said


@pytest.mark.parametrize(
    ("logs", "said"),
    [
        ((TRACE, SAMPLES / "captures/sequential_direct_tt_T.strace"), "Read times are not compared"),
        ((SAMPLES / "articles/004_exadata_flash_cache.txt", TRACE), "the session's own figures"),
    ],
    ids=["two traces", "a session and a trace"],
)
def test_compare_traces(logs: tuple[Path, Path], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Traces are compared with each other, and put beside what the database counted."""
    assert main(["compare", *map(str, logs)]) == 0
    assert said in " ".join(capsys.readouterr().out.split())


def test_a_report_of_unknown_time_and_a_trace_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """A fragment names no period: what is missing is said, with exit code 1."""
    assert main(["compare", str(REPORT), str(TRACE)]) == 1
    assert "does not say when it begins and ends" in capsys.readouterr().err


def test_compare_json(capsys: pytest.CaptureFixture[str]) -> None:
    """`compare --json` has the words and every figure with its bounds."""
    assert main(["compare", "--json", str(TRACE), str(SAMPLES / "captures/async_buffered_tt_T.strace")]) == 0

    found = json.loads(capsys.readouterr().out)
    rate = next(row for row in found["frames"]["Figures of the reads"] if row["metric"] == "read_mb_per_s")
    assert found["logs"] == [TRACE.name, "async_buffered_tt_T.strace"]
    assert rate["ratio_lo"] <= rate["ratio"] <= rate["ratio_hi"]


def test_compare_unlike_logs(capsys: pytest.CaptureFixture[str]) -> None:
    """A report and a session have nothing in common that is compared here: said, with exit code 1."""
    assert main(["compare", str(REPORT), str(SPOOL)]) == 1
    assert "they cannot be compared" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["report", "show", "convert", "compare", "report-notebooks"])
def test_help_has_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every command shows how it is called."""
    assert main([command, "--help"]) == 0
    assert f"examples:\n  iolab {command} " in capsys.readouterr().out


def test_report_and_convert_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Scripts are shown where the page and the files are, and what was not read."""
    page = tmp_path / "page.html"
    assert main(["report", str(SPOOL), str(tmp_path / "none.txt"), "-o", str(page), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert main(["convert", str(SPOOL), "-o", str(tmp_path / "frames"), "--format", "parquet", "--json"]) == 0
    files = [json.loads(line)["file"] for line in capsys.readouterr().out.splitlines()]

    assert (report["page"], len(report["failed"])) == (str(page), 1)
    assert all(Path(file).is_file() for file in files)
    assert any(file.endswith("statistics.parquet") for file in files)


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ("articles/003_filesystemio_setall.txt", "articles/003_filesystemio_none.txt", "DB time hardly changed (8.01"),
        (
            "captures/scattered_buffered_tt_T.strace",
            "captures/scattered_direct_tt_T.strace",
            "The time from the first to the last record fell",
        ),
    ],
)
def test_compare_begins_with_the_verdict_and_fits_the_terminal(
    first: str,
    second: str,
    verdict: str,
    columns: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The first line says the result; no line is wider than the terminal."""
    monkeypatch.setenv("COLUMNS", str(columns))

    assert main(["compare", str(SAMPLES / first), str(SAMPLES / second)]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(verdict)
    assert [line for line in lines if len(line) > columns] == []


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("log", ["articles/003_filesystemio_setall.txt", "captures/async_direct_tt_T.strace"])
def test_show_fits_the_terminal(
    log: str, columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Findings, figures and tables are no wider than the terminal; the heading has the log's whole path."""
    monkeypatch.setenv("COLUMNS", str(columns))

    assert main(["show", str(SAMPLES / log), "--findings", "--figures", "--tables"]) == 0

    assert [line for line in capsys.readouterr().out.splitlines()[1:] if len(line) > columns] == []


@pytest.mark.parametrize("stream", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_closed_streams_are_no_error(stream: str, tmp_path: Path) -> None:
    """Schedulers start programs without input and output: a result that goes nowhere is none, and no traceback."""
    words = [sys.executable, "-m", "iolab", "convert", str(SPOOL), "-o", str(tmp_path / "frames"), "--format", "csv"]
    shell = f"{' '.join(words)} {stream}"
    done = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, cwd=SAMPLES.parent, check=False)

    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert any((tmp_path / "frames").iterdir())


def test_a_page_is_made_within_a_limit_of_memory(tmp_path: Path) -> None:
    """Its charts need no engine of a browser, which reserves gigabytes of address space."""
    page = tmp_path / "page.html"
    words = f"{sys.executable} -m iolab report {REPORT} -o {page}"
    environment = {**os.environ, "POLARS_MAX_THREADS": "1"}
    command = ["sh", "-c", f"ulimit -v 6000000; {words}"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=SAMPLES.parent, env=environment, check=False)

    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert 'class="drawn' in page.read_text(encoding="utf-8")


def test_python_without_docstrings_writes_a_page(tmp_path: Path) -> None:
    """Pages need no Altair, which makes its functions of docstrings."""
    command = [sys.executable, "-OO", "-m", "iolab", "report", str(REPORT), "-o", str(tmp_path / "page.html")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=SAMPLES.parent, check=False)

    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
