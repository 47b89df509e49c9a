"""Builds the documentation site in build/site without a network: docs/, notebooks with their charts, docstrings.

Each finding and each frame has a page of its own, cut from the generated pages; a chart is drawn as SVG.  A link to a
page or heading that is not there is an error.

    python release/site.py [--out build/site]
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any, Final

import vl_convert
from sphinx.cmd.build import build_main

ROOT: Final = Path(__file__).parents[1]
SOURCE: Final = ROOT / "build" / "site-source"
PACKAGES: Final = ("iolab", "awrparse", "sqlplusparse", "straceparse", "sqltraceparse", "hostparse", "logframe")
VEGA: Final = "application/vnd.vegalite.v5+json"
#: What a page can show of a cell's output, the best first.
SHOWN: Final = ("image/svg+xml", "text/html", "text/markdown", "text/plain")
#: Generated pages of many entries -> what one entry is called.
ENTRIES: Final = {"findings": "###", "frames": "###", "metrics": "###", "chart_list": "##", "diagnostics": "###"}
CONFIGURATION: Final = """
project = "iolab"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
nb_execution_mode = "off"
myst_heading_anchors = 4
html_theme = "pydata_sphinx_theme"
html_theme_options = {"navigation_with_keys": False, "show_toc_level": 2}
html_title = "iolab"
autodoc_typehints = "description"
suppress_warnings = ["myst.header", "mystnb.unknown_mime_type", "config.cache", "misc.highlighting_failure"]
templates_path = []
exclude_patterns = []
"""
_HEADING: Final = re.compile(r"^(#+) (.*)$", re.MULTILINE)
_LINK: Final = re.compile(r"\[([^\]]*)\]\((?!https?:|#|mailto:|attachment:)([^)#]+)(#[^)]*)?\)")
_FENCE: Final = re.compile(r"^```mermaid$", re.MULTILINE)


def entries(page: str, mark: str) -> list[tuple[str, str]]:
    """The entries of a generated page: their heading, and the text below it."""
    starts = [found for found in _HEADING.finditer(page) if found.group(1) == mark]
    ends = [found.start() for found in _HEADING.finditer(page) if len(found.group(1)) <= len(mark)]
    return [
        (start.group(2), page[start.end() : min((end for end in ends if end > start.start()), default=len(page))])
        for start in starts
    ]


def file_name(heading: str) -> str:
    """The name of the page of an entry: its first name.

    Examples:
        >>> file_name("`straceparse.EVENTS`"), file_name("`impossible_figure`, `load`")
        ('straceparse.EVENTS', 'impossible_figure')
    """
    return heading.split("`")[1] if "`" in heading else re.sub(r"\W+", "_", heading).strip("_")


def write(name: str, text: str) -> None:
    """Write a page of the source."""
    path = SOURCE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def tree(*names: str, caption: str = "", depth: int = 1) -> str:
    """A list of pages that the site's navigation follows."""
    head = [f":caption: {caption}"] if caption else []
    return "\n".join(["```{toctree}", f":maxdepth: {depth}", *head, "", *names, "```", ""])


def put_docs() -> list[str]:
    """The pages of docs/ and the root, entries of generated pages on pages of their own; their names."""
    names = []
    for path in sorted((ROOT / "docs").glob("*.md")):
        names.append(path.stem)
        text = local_links(_FENCE.sub("```text", path.read_text(encoding="utf-8")), "docs")
        mark = ENTRIES.get(path.stem)
        if mark:
            pages = {}
            for heading, body in entries(text, mark):
                pages.setdefault(file_name(heading), []).append(f"# {heading}\n{body}")
            for name, parts in pages.items():
                joined = "\n".join([parts[0], *(part.replace("# ", "## ", 1) for part in parts[1:])])
                write(f"{path.stem}/{name}.md", joined.replace("](", "](../").replace("](../http", "](http"))
            text += "\n" + tree(*(f"{path.stem}/{name}" for name in pages), caption="One page each")
        write(f"{path.stem}.md", text)
    for picture in (ROOT / "docs").glob("*.png"):
        shutil.copy(picture, SOURCE)
    for name in ("CHANGELOG", "CONTRIBUTING", "README"):
        write(f"{name}.md", local_links((ROOT / f"{name}.md").read_text(encoding="utf-8"), ""))
    return names


def local_links(text: str, folder: str, up: str = "") -> str:
    """Links between the project's files as links between the site's pages; those to other files as plain text."""

    def put(found: re.Match[str]) -> str:
        label, name, anchor = found.group(1), found.group(2), found.group(3) or ""
        target = (ROOT / folder / name).resolve()
        if target.suffix in {".md", ".png"} and target.parent in {ROOT, ROOT / "docs"} and target.is_file():
            return f"[{label}]({up}{target.name}{anchor})"
        if target.suffix == ".ipynb" and target.is_file():
            return f"[{label}]({up}notebooks/{target.name})"
        if target.exists():
            return label
        sys.exit(f"{folder or '.'}: a link to {name}, which is not there")

    return _LINK.sub(put, text)


def put_notebooks() -> list[str]:
    """The notebooks, with charts as pictures; their names."""
    names = []
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        book = json.loads(path.read_text(encoding="utf-8"))
        pictures = 0
        for cell in book["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = local_links("".join(cell["source"]), "notebooks", "../")
            for output in cell.get("outputs", []):
                if "data" in output:
                    pictures += VEGA in output["data"]
                    output["data"] = shown(output["data"])
        book["metadata"]["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
        write(f"notebooks/{path.name}", json.dumps(book))
        names.append(f"notebooks/{path.stem}")
        print(f"{path.name}: {pictures} charts", flush=True)
    return names


def shown(data: dict[str, Any]) -> dict[str, Any]:
    """The one form of an output that the site shows."""
    if VEGA in data:
        data = {"image/svg+xml": vl_convert.vegalite_to_svg(data[VEGA], vl_version="5.20")}
    return next(({name: data[name]} for name in SHOWN if name in data), {"text/plain": ""})


def put_reference() -> list[str]:
    """A page for each package, with the docstrings of its public names; their names."""
    for package in PACKAGES:
        module = importlib.import_module(package)
        lines = [f"# {package}", "", "```{eval-rst}", f".. automodule:: {package}", "   :no-members:", "```", ""]
        for name in sorted(module.__all__):
            value = getattr(module, name)
            kind = "class" if inspect.isclass(value) else "function" if inspect.isfunction(value) else ""
            kind = "module" if inspect.ismodule(value) else kind
            lines += [f"## {name}", ""]
            if kind:
                target = value.__name__ if kind == "module" else f"{value.__module__}.{value.__qualname__}"
                options = ["   :members:", "   :undoc-members:"] if kind == "class" else []
                options = ["   :no-members:"] if kind == "module" else [*options, "   :no-index:"]
                lines += ["```{eval-rst}", f".. auto{kind}:: {target}", *options, "```", ""]
            else:
                lines += ["A constant; see the page of its frame." if name.isupper() else "See the source.", ""]
        write(f"reference/{package}.md", "\n".join(lines))
    return [f"reference/{package}" for package in PACKAGES]


def main() -> None:
    """Assemble the source, build the site, and print how large it is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site")
    asked = parser.parse_args()
    for folder in (SOURCE, asked.out):
        shutil.rmtree(folder, ignore_errors=True)
    write("conf.py", CONFIGURATION)
    guides, notebooks, reference = put_docs(), put_notebooks(), put_reference()
    first = ["quick_start", "first_hour", "recipes"]
    rest = [name for name in guides if name not in first]
    trees = [
        tree("README", *first, caption="Start"),
        tree(*rest, caption="Guides"),
        tree("gallery", *notebooks, caption="Notebooks"),
        tree(*reference, caption="Reference"),
        tree("CONTRIBUTING", "CHANGELOG", caption="Project"),
    ]
    write("index.md", "# iolab\n\nReading Oracle I/O evidence.\n\n" + "\n".join(trees))
    write("gallery.md", gallery(notebooks))
    if build_main(["-q", "-W", "--keep-going", "-j", "2", str(SOURCE), str(asked.out)]):
        sys.exit("the site was not built")
    pages = sum(1 for _ in asked.out.rglob("*.html"))
    size = sum(path.stat().st_size for path in asked.out.rglob("*") if path.is_file()) / 1e6
    print(f"{pages} pages, {size:.0f} MB: {asked.out / 'index.html'}")


def gallery(notebooks: list[str]) -> str:
    """A page with the first chart of each notebook."""
    lines = ["# Gallery", "", "One chart of each notebook; the notebook has the others, and what they say.", ""]
    for name in notebooks:
        book = json.loads((SOURCE / f"{name}.ipynb").read_text(encoding="utf-8"))
        outputs = (output.get("data", {}) for cell in book["cells"] for output in cell.get("outputs", []))
        drawn = next((data["image/svg+xml"] for data in outputs if "image/svg+xml" in data), None)
        if drawn:
            picture = f"gallery/{Path(name).name}.svg"
            write(picture, "".join(drawn))
            lines += [f"## [{Path(name).name}]({name}.ipynb)", "", f"![A chart of {Path(name).name}]({picture})", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
