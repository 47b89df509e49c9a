"""The answers of the notebooks: computed from their logs, near the top, and others with other logs."""

from __future__ import annotations

import ast
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from iolab.lab.notebooks import ANSWER, CHART
from logframe.errors import RefusedError

ROOT = Path(__file__).parents[2]
NOTEBOOKS = ROOT / "notebooks"
#: A figure of an answer: with a decimal point, or of three digits or more.
_FIGURE = re.compile(r"(?<![\w.,])(?:\d[\d,]*\.\d+|\d{3,}|\d{1,3}(?:,\d{3})+)(?![.,]?\d)(?!\w)")
#: Each notebook with an answer, and what is changed in its cells so that it is of other logs.
_OTHERS = {
    "01_direct_or_buffered": ("buffered_direct_async.txt", "buffered_direct_async_warm.txt"),
    "02_logical_io_cost": ("READ_MS, BLOCKS = 6.0, 128", "READ_MS, BLOCKS = 3.0, 64"),
    "03_first_run_cold": ("articles/002_linux.txt", "articles/002_hpux.txt"),
    "04_flash_cache_latency": (
        "read_spool(SPOOL)",
        'read_spool(__import__("pathlib").Path(SPOOL).read_bytes().replace(b"00.73", b"01.46"))',
    ),
    "05_filesystemio_options": ("003_filesystemio_setall", "003_filesystemio_none"),
    "06_async_io_from_strace": ("async_direct_tt_T", "scattered_direct_tt_T"),
    "07_many_reports": (
        '"../sample_data/awr_series"',
        '__import__("glob").glob("../sample_data/awr_series/*_410[2-5]_*")',
    ),
    "08_sql_trace": ("orders_flash_ora_4711.trc", "orders_disk_ora_4890.trc"),
    "10_database_and_host": ("awrrpt_1_4104_4105", "awrrpt_1_4105_4106"),
    "11_one_case": ('"../sample_data/sqltrace/orders_flash_4711.strace",', ""),
}


def _cells(name: str) -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    return cells


def _saved(name: str) -> str:
    """The answer as it was saved."""
    (cell,) = (cell for cell in _cells(name) if ANSWER in cell["metadata"].get("tags", []))
    return "".join("".join(out["data"].get("text/markdown", "")) for out in cell["outputs"] if "data" in out)


def _answer(name: str, *changes: tuple[str, str], names: dict[str, Any] | None = None) -> str:
    """The answer of a notebook whose cells have been changed: its cells up to the answer are executed.

    With ``names`` all cells are, and these are theirs.
    """
    is_whole, names = names is not None, {} if names is None else names
    shown = ""
    for cell in _cells(name):
        if cell["cell_type"] != "code":
            continue
        source = "".join(cell["source"])
        for old, new in changes:
            source = source.replace(old, new)
        tree = ast.parse(source)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, name, "exec"), names)  # noqa: S102 - the notebook's own code
        last_value = compile(ast.Expression(last.value), name, "eval") if last is not None else "None"
        value = eval(last_value, names)  # noqa: S307 - the notebook's own code
        if ANSWER in cell["metadata"].get("tags", []):
            shown = value.data
            if not is_whole:
                break
    return shown


def test_every_notebook_of_a_question_has_an_answer() -> None:
    """The list of this test is that of the notebooks that are tagged."""
    tagged = [path.stem for path in sorted(NOTEBOOKS.glob("*.ipynb")) if f'"{ANSWER}"' in path.read_text("utf-8")]

    assert {*_OTHERS, "00_start_here"} <= set(tagged)


@pytest.mark.parametrize("name", _OTHERS)
def test_first_screen_is_the_answer_and_a_chart(name: str) -> None:
    """The answer is the first that is shown, with a verdict in bold, and a chart comes next."""
    shown = [cell for cell in _cells(name) if any("data" in out for out in cell.get("outputs", []))]
    kept = [
        cell for cell in shown if not all("widget" in str(out) or "LogPicker" in str(out) for out in cell["outputs"])
    ]

    assert ANSWER in kept[0]["metadata"].get("tags", [])
    assert "**" in _saved(name)
    assert any(CHART in out.get("data", {}) for out in kept[1]["outputs"])


@pytest.mark.parametrize("name", _OTHERS)
def test_no_text_and_no_title_holds_a_figure_of_the_answer(name: str) -> None:
    """Text stays where logs change: it states no figure of the answer, nor does a title of a chart."""
    figures = set(_FIGURE.findall(_saved(name)))
    texts = ["".join(cell["source"]) for cell in _cells(name) if cell["cell_type"] == "markdown"]
    texts += [
        line for cell in _cells(name) for line in cell["source"] if cell["cell_type"] == "code" and "title=" in line
    ]

    assert figures
    assert [(figure, text) for figure in figures for text in texts if figure in _FIGURE.findall(text)] == []


@pytest.mark.parametrize("name", _OTHERS)
def test_an_answer_is_of_the_logs_that_are_given(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With other logs the answer is another one, and none of its lines with a figure stays but by chance."""
    monkeypatch.chdir(NOTEBOOKS)
    monkeypatch.setitem(os.environ, "POLARS_MAX_THREADS", "1")
    saved, other = _saved(name), _answer(name, _OTHERS[name])

    assert other
    assert other != saved
    assert set(_FIGURE.findall(other)) != set(_FIGURE.findall(saved))


def test_remarks_in_notebooks_are_sentences() -> None:
    """A remark of a list begins with a capital, a figure or a name, as a sentence does; no plural of one row."""
    remark = re.compile(r"- (?:[A-Z0-9`<\[■▲○✕◆*]|\w+[._]\w).*")
    said = {
        (path.stem, line)
        for path in sorted(NOTEBOOKS.glob("*.ipynb"))
        for cell in _cells(path.stem)
        for out in cell.get("outputs", [])
        for line in "".join(out.get("data", {}).get("text/markdown", "")).splitlines()
    }

    assert len(said) > 50
    assert [one for one in said if one[1].startswith("- ") and not remark.fullmatch(one[1])] == []
    assert [one for one in said if re.search(r"(?<![\d.,])1 \w*rows\b|\. [a-z]", one[1])] == []


def test_few_rounds_are_compared_without_an_interval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five rounds give no interval: the ratio is said, and why it is not bounded."""
    log = tmp_path / "five.lst"
    kinds = ("buffered", "direct", "asynchronous")
    log.write_text(
        "".join(
            f"SQL> host ./reader {kind}\n\nElapsed: 00:00:0{2 + place}.{run * 3 % 5:02}\n\n"
            for run in range(5)
            for place, kind in enumerate(kinds)
        )
    )
    monkeypatch.chdir(NOTEBOOKS)
    said = _answer("01_direct_or_buffered", ('DATA / "runs/buffered_direct_async.txt"', f"Path({str(log)!r})"))

    (line,) = [one for one in said.splitlines() if "direct against buffered" in one and "5 and 5 runs" in one]
    assert " times its time, 5 and 5 runs: " in line
    assert "no interval: 5 " in line


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ((5, 1) * 5, "no steady level: the runs fall into two groups"),
        ((0, 0.01, 0.01, 0.02), "**HP-UX: not answered**, a time is shown as 0 s."),
        ((63.27, 19.23, 19.28, 19.35, 19.43), "flushed before every later run: not the buffer cache"),
    ],
)
def test_a_series_is_answered_with_what_limits_it(
    times: tuple[float, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two groups have no level, a time of 0 s no ratio, and a slow first run the caches that the log leaves."""
    flush = "SQL> alter system flush buffer_cache;\n\nSystem altered.\n\nSQL> select 1 from t;\n\n"
    ends = [f"Elapsed: 00:{int(one // 60):02}:{one % 60:05.2f}\n\n" for one in times]
    log = tmp_path / "series.lst"
    log.write_text("".join(flush + end for end in ends))
    monkeypatch.chdir(NOTEBOOKS)

    assert said in _answer("03_first_run_cold", ("../sample_data/articles/002_hpux.txt", str(log)))


def _spool(path: Path, kinds: tuple[str, ...], runs: int) -> Path:
    path.write_text(
        "".join(
            f"SQL> host ./reader {kind}\n\nElapsed: 00:00:0{2 + place}.{run * 7 % 10:02}\n\n"
            for run in range(runs)
            for place, kind in enumerate(kinds)
        )
    )
    return path


def test_two_kinds_of_runs_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The question of the notebook is of two kinds; medians without a number of runs have none."""
    log, medians = _spool(tmp_path / "two.lst", ("buffered", "direct"), 10), tmp_path / "medians.csv"
    medians.write_text("median_s\n4.00\n3.00\n2.00\n")
    monkeypatch.chdir(NOTEBOOKS)
    names: dict[str, Any] = {}
    said = _answer(
        "01_direct_or_buffered",
        ('DATA / "runs/buffered_direct_async.txt"', f"Path({str(log)!r})"),
        ('DATA / "runs/buffered_direct_async_warm.txt"', f"Path({str(log)!r})"),
        (', 3: "asynchronous"}', "}"),
        ('DATA / "articles/000_medians.csv"', f"Path({str(medians)!r})"),
        names=names,
    )

    assert "direct against buffered: slower" in said
    assert "runs by the source" not in str(names["pairs"][0])


def test_traces_without_reads_and_with_reads_of_both_modes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trace without a read says so; of two modes each has its own time, in the sentence and in the table."""
    (tmp_path / "writes.strace").write_text(
        '10:00:00.000000 pwrite64(5, ""..., 8192, 0) = 8192 <0.010000>\n'
        '10:00:01.000000 pwrite64(5, ""..., 8192, 8192) = 8192 <0.010000>\n'
    )
    begin, end = "aio_data={0}, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=6, aio_nbytes=8192, aio_offset=0", "NULL"
    lines = [f'10:00:0{second}.000000 pread64(5, ""..., 8192, 0) = 8192 <0.000200>' for second in (0, 1, 2)]
    lines += [
        f"10:00:03.000000 io_submit(0x7f, 1, [{{{begin.format('0x10')}}}]) = 1 <0.000100>",
        f"10:00:03.000500 io_getevents(0x7f, 1, 1, [{{data=0x10, obj=0x20, res=8192, res2=0}}], {end}) = 1 <0.007500>",
    ]
    (tmp_path / "both.strace").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(NOTEBOOKS)
    samples = "../sample_data/captures/"
    said = _answer(
        "06_async_io_from_strace",
        (f"{samples}scattered_direct_tt_T.strace", str(tmp_path / "writes.strace")),
        (f"{samples}async_direct_tt_T.strace", str(tmp_path / "both.strace")),
        names=(names := {}),
    )

    assert "- One at a time, O_DIRECT: **no read of a file or device**" in said
    assert "a synchronous read took 200 us at the median, an asynchronous read took 8,000 us at the median" in said
    shown = [row["metric"] for row in names["figures_of"]("two in flight, O_DIRECT").to_dicts()]
    assert len(shown) == len(set(shown))


def test_a_statement_at_two_depths_has_one_cost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its reads are all its calls': a part of the calls over all reads would be below the time of a read."""
    text = (ROOT / "sample_data/sqltrace/orders_disk_ora_4890.trc").read_text()
    head, _, _ = text.partition("PARSING IN CURSOR")
    parsing = "PARSING IN CURSOR #{0} len=8 dep={1} uid=0 oct=3 lid=0 tim={2} hv=1 ad='7f' sqlid='abc'\nselect 1\n"
    parsing += "END OF STMT\n"
    fetch = "FETCH #{0}:c=0,e={1},p=1,cr=1,cu=0,mis=0,r=1,dep={2},og=4,plh=1,tim={3}\n"
    wait = "WAIT #{0}: nam='db file sequential read' ela= 900 file#=1 block#=2 blocks=1 obj#=1 tim={1}\n"
    (tmp_path / "depths.trc").write_text(
        head.rpartition("=====")[0].rpartition("=====")[0]
        + "=====================\n"
        + parsing.format(1, 1, 1_000_000)
        + wait.format(1, 1_002_000)
        + fetch.format(1, 1_000, 1, 1_002_100)
        + "=====================\n"
        + parsing.format(2, 0, 1_003_000)
        + wait.format(2, 1_005_000)
        + fetch.format(2, 1_000, 0, 1_005_100)
    )
    monkeypatch.chdir(NOTEBOOKS)
    _answer(
        "08_sql_trace",
        ('f"{FOLDER}/orders_flash_ora_4711.trc"', repr(str(tmp_path / "depths.trc"))),
        names=(names := {}),
    )

    (cost,) = names["costs"](names["flash"]).to_dicts()
    assert (cost["reads"], cost["measured_us"], cost["calls_over_reads_us"]) == (2, 900.0, 1000.0)


def test_repeated_shapes_and_small_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table with one shape twice is shown as it is; equal ends are one figure, and no figure has an exponent."""
    table = tmp_path / "twice.csv"
    table.write_text("row_length,columns,us_per_lio_a,us_per_lio_b\n10,1,0.01,2.0\n10,1,0.01,2.0\n")
    monkeypatch.chdir(NOTEBOOKS)
    said = _answer("02_logical_io_cost", ("../sample_data/articles/001_logical_io.csv", str(table)), names={})

    assert "times 4,690 on machine A and 23.4 on machine B" in said


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no statement of the session is timed"),
        ("physical read total IO requests", "does not list `physical read total IO requests`"),
        ("cell flash cache read hits", "does not list `cell flash cache read hits`"),
    ],
)
def test_flash_reads_are_refused_for_what_is_missing(
    text: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason is what the log lacks, not what it lists."""
    rows = [f"{name:40} {1000:>10}" for name in ("cell flash cache read hits", "physical read total IO requests")]
    kept = "\n".join(row for row in rows if not text or not row.startswith(text))
    log = tmp_path / "untimed.lst"
    log.write_text(
        f"SQL> @statistics\n\n{'NAME':40} {'VALUE':>10}\n{'-' * 40} {'-' * 10}\n{kept}\n\n2 rows selected.\n\n"
    )
    monkeypatch.chdir(NOTEBOOKS)
    with pytest.raises(RefusedError, match=why):
        _answer("04_flash_cache_latency", ("../sample_data/articles/004_exadata_flash_cache.txt", str(log)))


def test_a_report_with_foreground_classes_alone_is_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Releases before 12 print the foreground wait classes alone: their CPU and their tables are read all the same."""
    report = "../sample_data/awr_series/awrrpt_1_4104_4105.txt"
    text = (NOTEBOOKS / report).read_text()
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text(text.replace("Wait Classes by Total Wait Time", "Removed"))
    second.write_text(first.read_text())
    assert "Removed" in first.read_text()
    monkeypatch.chdir(NOTEBOOKS)
    said = _answer(
        "05_filesystemio_options",
        ("../sample_data/articles/003_filesystemio_setall.txt", str(first)),
        ("../sample_data/articles/003_filesystemio_none.txt", str(second)),
        names=(names := {}),
    )

    assert "CPU of the sessions, of one processor: at most" in said
    assert set(names["classes"]) == {"SETALL", "NONE"}


def test_one_read_is_of_every_log_that_measures_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trace of calls alone measures a read; of a report the average is the time over the waits, not its rounding."""
    log = tmp_path / "reads.strace"
    log.write_text("".join(f'10:00:0{n}.000000 pread64(5, ""..., 8192, 0) = 8192 <0.000250>\n' for n in range(3)))
    report = ROOT / "sample_data/one_case/awrrpt_1_881_882.txt"
    monkeypatch.chdir(NOTEBOOKS)
    said = _answer("11_one_case", ("PATHS = []", f"PATHS = {[str(log), str(report)]!r}"), names=(names := {}))

    assert "250 us by the strace log (system call of 8,192 B, mean)" in said
    (row,) = names["one_read"].filter(log="AWR report").to_dicts()
    assert row["us_hi"] - row["us_lo"] < 5


def test_what_is_missing_for_a_comparison_with_the_host_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples alone lack the report; a report alone the samples."""
    monkeypatch.chdir(NOTEBOOKS)
    for name, missing in (
        ("host/iostat.out", "an AWR or Statspack report of the same time is missing"),
        ("awr_series/awrrpt_1_4104_4105.txt", "samples of the report's host"),
    ):
        said = _answer("10_database_and_host", ("PATHS = []", f'PATHS = ["../sample_data/{name}"]'))
        assert missing in said
