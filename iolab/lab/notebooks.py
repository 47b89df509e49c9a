"""Running the notebooks, and the pages that `make report` makes of them."""

import copy
import html
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from iolab.pages import chart_html, page_html
from iolab.pages.metric_table import MIME, Headline
from logframe.atomic import replacing
from logframe.errors import LogError
from logframe.extras import require

CHART: Final = "application/vnd.vegalite.v5+json"
#: The tag of the cell that computes a notebook's answer from its logs.
ANSWER: Final = "answer"
_WIDGET: Final = "application/vnd.jupyter.widget-view+json"
#: What a kernel needs for the same output everywhere: one time zone.
_SETTLED: Final = {"TZ": "UTC", "JUPYTER_PLATFORM_DIRS": "1"}
_LEAD: Final = """<h1>Which kind of read is faster, and by how much?</h1>
<p class="lead">Each question below is answered from logs: what the database, the operating system and timed runs
say of it. Every figure has the bounds that its evidence allows.</p>"""
_TEMPLATE: Final = """{% extends 'basic/index.html.j2' %}
{% block input %}<details><summary>code</summary>{{ super() }}</details>{% endblock input %}"""


class NotebookError(LogError):
    """A notebook did not run to its end; the message names the cell's first line and the error."""


@dataclass(frozen=True)
class Run:
    """A notebook that was run.

    Attributes:
        name: Its file's name without the suffix.
        title: Its first heading.
        lead: The Markdown below that heading, and the answer that is computed.
        notebook: The notebook with its outputs.
        headlines: The headline figures that it shows.
        seconds: How long it ran.
    """

    name: str
    title: str
    lead: str
    notebook: Any
    headlines: list[Headline]
    seconds: float

    @property
    def charts(self) -> list[dict[str, Any]]:
        """The specifications of its charts."""
        return [data[CHART] for data in _outputs(self.notebook) if CHART in data]


def find_notebooks(folder: Path) -> list[Path]:
    """The notebooks of a folder in the order of their names.

    Raises:
        FileNotFoundError: If there is not one.
    """
    found = sorted(folder.glob("*.ipynb"))
    if not found:
        raise FileNotFoundError(f"no notebook in {folder}")
    return found


def run_notebook(path: Path, *, timeout_s: int = 300) -> Run:
    """A notebook run from top to bottom, in its own folder and by the Python that runs this.

    Args:
        path: The notebook; the file is not changed.
        timeout_s: How long a cell may take.

    Raises:
        NotebookError: If a cell fails.
    """
    nbformat, nbclient = require("nbformat"), require("nbclient")
    notebook = nbformat.read(path, as_version=4)
    started = time.monotonic()
    client = nbclient.NotebookClient(
        notebook,
        timeout=timeout_s,
        kernel_name="python3",
        extra_arguments=["--log-level=40"],
        resources={"metadata": {"path": str(path.parent)}},
        record_timing=False,
    )
    try:
        with _environment(_SETTLED):
            client.execute()
    except nbclient.exceptions.CellExecutionError as error:
        raise NotebookError(f"{path.name}: {error.ename}: {error.evalue}\n\n{error}") from error
    title, lead = _opening(notebook)
    headlines = [
        Headline(data[MIME]["figures"], note=data[MIME]["note"]) for data in _outputs(notebook) if MIME in data
    ]
    return Run(path.stem, title or path.stem, lead, notebook, headlines, time.monotonic() - started)


def save_notebook(path: Path) -> None:
    """Run a notebook and write it back with its outputs, without what differs from run to run.

    Raises:
        NotebookError: If a cell fails; the file is not changed then.
    """
    notebook = run_notebook(path).notebook
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number:02}"
        for output in cell.get("outputs", []):
            # Names a widget of the kernel that has ended; JupyterLab would show an error in its place.
            output.get("data", {}).pop(_WIDGET, None)
        cell.metadata.pop("execution", None)
    require("nbformat").write(notebook, path)


def _joined(cells: list[Any]) -> list[Any]:
    """The cells of a page: code that shows nothing is part of the code below it, so that one line stands for both."""
    found: list[Any] = []
    for cell in cells:
        before = found[-1] if found else None
        if before is not None and before.cell_type == cell.cell_type == "code" and not before.outputs:
            before.source += f"\n\n{cell.source}"
            before.outputs = cell.outputs
        else:
            found.append(cell)
    return found


def notebook_html(run: Run) -> str:
    """A notebook as a self-contained page: its code folded away, its charts drawn from their specifications."""
    exporter_class = require("nbconvert").HTMLExporter
    notebook = copy.deepcopy(run.notebook)
    for cell in notebook.cells:
        cell["outputs"] = [_shown(output, run.title) for output in cell.get("outputs", [])] if "outputs" in cell else []
        if cell.cell_type != "code":
            del cell["outputs"]
    notebook.cells = _joined(notebook.cells)
    exporter = exporter_class(
        raw_template=_TEMPLATE, exclude_input_prompt=True, exclude_output_prompt=True, exclude_anchor_links=True
    )
    body, _ = exporter.from_notebook_node(notebook)
    styles = require("pygments.formatters").HtmlFormatter(style="friendly").get_style_defs(".highlight")
    back = '<p><a href="index.html">All questions</a></p>'
    return page_html(run.title, body, styles=_only_light(styles), before=back)


def index_html(runs: Sequence[Run]) -> str:
    """The first page: the headline figures, then each question with its answer and its chart."""
    to_html = require("nbconvert.filters").markdown2html
    parts = [_LEAD]
    for run in runs:
        parts.append(f'<section id="{run.name}">\n<h2><a href="{run.name}.html">{html.escape(run.title)}</a></h2>')
        parts.append(to_html(run.lead))
        parts += [one.to_html() for one in run.headlines]
        parts += [chart_html(spec, label=run.title) for spec in run.charts[:1]]
        parts.append(f'<p><a href="{run.name}.html">The evidence</a></p>\n</section>')
    return page_html("Oracle I/O evidence", "\n".join(parts))


def report_notebooks(folder: Path, out: Path, *, say: Callable[[str], object] = print) -> list[Run]:
    """Run every notebook of a folder, write a page of each and an index, and print the headline figures.

    Args:
        folder: Where the notebooks are.
        out: Where the pages go; made if it is not there.
        say: Takes each line of progress and of the result.

    Raises:
        FileNotFoundError: If there is no notebook.
        NotebookError: If a cell fails.
    """
    paths = find_notebooks(folder)
    out.mkdir(parents=True, exist_ok=True)
    runs = []
    for number, path in enumerate(paths, 1):
        run = run_notebook(path)
        with replacing(out / f"{run.name}.html") as page:
            page.write_text(notebook_html(run), encoding="utf-8")
        runs.append(run)
        say(f"[{number}/{len(paths)}] {path.name}  {run.seconds:.1f} s")
    with replacing(out / "index.html") as page:
        page.write_text(index_html(runs), encoding="utf-8")
    for run in runs:
        if run.headlines:
            say("\n".join(["", run.title, *map(str, run.headlines)]))
    say(f"\n{len(runs)} pages: {out / 'index.html'}")
    return runs


def _outputs(notebook: Any) -> Iterator[Mapping[str, Any]]:  # noqa: ANN401 - nbformat has no types
    """The data of every output that has some."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "data" in output:
                yield output["data"]


def _opening(notebook: Any) -> tuple[str, str]:  # noqa: ANN401 - nbformat has no types
    """The first heading, and the text below it up to the next cell with what the cell tagged `answer` shows."""
    answer = [
        output["data"]["text/markdown"]
        for cell in notebook.cells
        if ANSWER in cell.metadata.get("tags", [])
        for output in cell.get("outputs", [])
        if "text/markdown" in output.get("data", {})
    ]
    first = next((cell.source for cell in notebook.cells if cell.cell_type == "markdown"), "")
    heading, _, rest = first.partition("\n")
    return heading.lstrip("# ").strip(), "\n\n".join([rest.strip(), *answer])


def _shown(output: Any, label: str) -> Any:  # noqa: ANN401 - nbformat has no types
    """An output in a form that a page can show: charts as elements, widgets as a remark."""
    data = output.get("data")
    if data is None:
        return output
    if CHART in data:
        output["data"] = {"text/html": chart_html(data[CHART], label=label)}
    elif _WIDGET in data:
        output["data"] = {"text/html": "<p><small>Open the notebook in JupyterLab to upload a log here.</small></p>"}
    else:
        data.pop(MIME, None)
    return output


def _only_light(styles: str) -> str:
    """Styles for a light ground; on a dark one the code keeps the colour of the text."""
    return f"@media (prefers-color-scheme: light) {{ {styles} }} .highlight {{ background: none; }}"


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """The environment that a kernel is started in; what was there is put back."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
