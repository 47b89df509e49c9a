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


def _answer(name: str, *changes: tuple[str, str]) -> str:
    """The answer of a notebook whose cells have been changed: its cells up to the answer are executed."""
    names: dict[str, Any] = {}
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
