"""The notebooks' form, and the pages made of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from iolab.lab.notebooks import ANSWER, CHART, NotebookError, find_notebooks, report_notebooks, run_notebook
from iolab.pages.metric_table import headline

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def read(path: Path) -> dict[str, Any]:
    """A notebook as JSON."""
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def count_lines(source: str) -> int:
    """Lines that are not blank."""
    return sum(bool(line.strip()) for line in source.splitlines())


def test_there_are_notebooks() -> None:
    """The tests below look at something."""
    assert len(NOTEBOOKS) >= 10


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_form_of_a_notebook(path: Path) -> None:
    """A question and its answer first, at most ten lines of code a cell, saved with outputs, a chart, and caveats."""
    cells = read(path)["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    text = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    first = "".join(cells[0]["source"])
    charts = [data for cell in code for data in (out.get("data", {}) for out in cell["outputs"]) if CHART in data]

    assert first.startswith("# ")
    assert "?" in first.splitlines()[0]
    assert "**" in first or any(ANSWER in cell["metadata"].get("tags", []) for cell in code)
    assert [cell["id"] for cell in code if count_lines("".join(cell["source"])) > 10] == []
    assert all(cell["execution_count"] for cell in code)
    assert charts
    assert "## Caveats" in text
    assert str(ROOT) not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_an_answer_with_figures_says_of_which_logs_it_is(path: Path) -> None:
    """Text does not change with the logs: an answer with a figure names the sample or what was published."""
    _, *bold = "".join(read(path)["cells"][0]["source"]).split("**")
    answer = bold[0] if bold else ""

    assert not any(sign.isdigit() for sign in answer) or "published" in answer or "sample" in answer


def write_notebook(path: Path, *sources: str) -> None:
    """A notebook of code cells below a heading."""
    cells: list[dict[str, Any]] = [
        {"cell_type": "markdown", "id": "top", "metadata": {}, "source": "# Why?\n\n**Because.**"}
    ]
    for number, source in enumerate(sources):
        cell = {"cell_type": "code", "id": f"c{number}", "metadata": {}, "source": source}
        cells.append({**cell, "outputs": [], "execution_count": None})
    text = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(text), encoding="utf-8")


def test_pages_of_a_notebook(tmp_path: Path) -> None:
    """The page and the index hold the answer and the chart, and ask no network for anything; the table is printed."""
    source = "from iolab import charts\nimport polars as pl\ncharts.enable_theme()\n"
    source += "charts.histogram(pl.DataFrame({'elapsed_s': [1.0, 2.0]}))"
    metric = "pl.DataFrame({'metric': ['x'], 'value': [0.397], 'lo': [0.395], 'hi': [0.403], 'unit': ['ms']})"
    table = f"from iolab.pages.metric_table import headline\nheadline({metric})"
    write_notebook(tmp_path / "a.ipynb", "silent = 1", source, "silent = 2", "silent = 3", table)
    said: list[str] = []

    report_notebooks(tmp_path, tmp_path / "out", say=said.append)

    for name in ("a.html", "index.html"):
        page = (tmp_path / "out" / name).read_text(encoding="utf-8")
        assert "<strong>Because.</strong>" in page
        assert 'class="chart"' in page
        assert "default-src 'none'" in page
        assert all(word not in page for word in ("<link", "src=http", 'src="http', "@import", "<iframe"))
    assert "x       0.397  0.395  0.403  ms" in said[1]
    page = (tmp_path / "out" / "a.html").read_text(encoding="utf-8")
    assert page.count("<summary>code</summary>") == 2  # code that shows nothing is with the code below it
    assert page.count("silent</span>") == 3


def test_a_cell_that_fails_is_named(tmp_path: Path) -> None:
    """The error says which notebook and why."""
    write_notebook(tmp_path / "bad.ipynb", "1 / 0")

    with pytest.raises(NotebookError, match=r"bad\.ipynb: ZeroDivisionError"):
        run_notebook(tmp_path / "bad.ipynb")


def test_no_notebook_is_an_error(tmp_path: Path) -> None:
    """An empty folder makes no empty report."""
    with pytest.raises(FileNotFoundError, match="no notebook in"):
        find_notebooks(tmp_path)


def test_headline_names_what_is_missing() -> None:
    """A metric that no frame has is an error, not a gap in the table."""
    with pytest.raises(KeyError):
        headline(only=["no_such_metric"])
