"""The structure: downward imports without circles, public names, grammars that match their samples, small files."""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lark import Token
from lark.exceptions import UnexpectedInput
from python_patterns import patterns_in

from logframe import Grammar
from logframe.lazy import exports_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

ROOT = Path(__file__).parents[1]

#: What each package may import of the project.
MAY_IMPORT = {
    "logframe": {"logframe"},
    "awrparse": {"awrparse", "logframe"},
    "sqlplusparse": {"sqlplusparse", "logframe"},
    "straceparse": {"straceparse", "logframe"},
    "sqltraceparse": {"sqltraceparse", "logframe"},
    "hostparse": {"hostparse", "logframe"},
    "iolab": {"iolab", "awrparse", "sqlplusparse", "straceparse", "sqltraceparse", "hostparse", "logframe"},
}
LOWER = sorted(MAY_IMPORT.keys() - {"iolab"})
#: What comes with the core installation; `compression` is Python's own from 3.14 on.
CORE = {"click", "lark", "polars", "selectolax", "zstandard", "compression"}
#: A script on a database host must not load these.
HEAVY = ("altair", "anywidget", "IPython", "ipykernel", "jupyter_client", "jupyterlab", "pandas", "scipy")

#: Longer than this, a file holds more than one thing ...
LONGEST = 800
#: ... unless the reason stands here.
LONG_FILES: dict[str, str] = {}

#: Patterns of log formats that are left in Python, by package: these numbers may only fall, each pattern moved into
#: a ``.lark`` file.
PATTERNS_LEFT = {
    "logframe": 0,
    "awrparse": 0,
    "sqlplusparse": 0,
    "straceparse": 0,
    "sqltraceparse": 0,
    "hostparse": 0,
    "iolab": 0,
}
#: Files whose patterns are of no log format: how many there are, and what they are of.
OTHER_PATTERNS = {
    "logframe/encoding.py": (2, "bytes of encodings"),
    "logframe/grammar.py": (4, "the syntax of .lark files themselves"),
    "logframe/lexicon.py": (1, "the syntax of .lark files themselves"),
    "logframe/oracle/units.py": (4, "units within Oracle's names of statistics"),
    "logframe/ruled.py": (2, "rulers of any ruled table"),
    "logframe/spreadsheet.py": (2, "formulas of spreadsheets"),
    "straceparse/diagnostics.py": (1, "the column in a message of the parser"),
    "iolab/dataset/commands.py": (1, "characters of file names"),
    "iolab/dataset/layout.py": (1, "names of files of a dataset"),
    "iolab/converting.py": (1, "JSON that Polars writes"),
    "iolab/display.py": (3, "HTML that Polars writes, and ends of lines"),
    "iolab/lab/receiving.py": (3, "names of uploaded files"),
    "iolab/metrics/awr.py": (1, "a caveat of our own metrics"),
    "iolab/query.py": (2, "SQL, and a message of Polars"),
    "iolab/charts/svg.py": (1, "an expression of Vega"),
    "iolab/pages/elements.py": (2, "figures of our own sentences and tables"),
    "iolab/pages/findings_html.py": (2, "where a sentence of our own may end, and its figures"),
    "iolab/pages/tables.py": (3, "names of our own columns and reasons of diagnostics"),
    "iolab/pages/writing.py": (1, "our own verdicts"),
}

#: Words for which the field has a plainer one.
_ODD_WORDS = re.compile(
    r"\b(?:behind|believ(?:e|ed|es|ing)|nobody|held against|wings?|houses?|ground floor|wears?|dress(?:es|ed)"
    r"|told(?! apart))\b",
    re.IGNORECASE,
)
_MACHINE_PATH = re.compile(rb"/(?:work|root|home)/[a-z]")


def sources(package: str) -> list[Path]:
    """The Python files of a package."""
    found = sorted((ROOT / package).rglob("*.py"))
    assert found, f"{package} has no file"
    return found


def modules(package: str) -> list[ModuleType]:
    """The package and all its modules, imported; one that runs a program is left out."""
    top = importlib.import_module(package)
    names = [found.name for found in pkgutil.walk_packages(top.__path__, f"{package}.")]
    return [top, *(importlib.import_module(name) for name in names if not name.endswith("__main__"))]


def imported(path: Path) -> Iterator[str]:
    """The full names of what a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""


def project_files() -> list[Path]:
    """The files that git tracks; all files where there is no repository."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        return [path for name in listed.stdout.decode().split("\0") if name and (path := ROOT / name).is_file()]
    built = {"build", "dist", "__pycache__"}
    found = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
    return [
        ROOT / path
        for path in found
        if not any(
            part in built or (part.startswith(".") and part not in {".ci", ".github"}) for part in path.parts[:-1]
        )
    ]


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_imports_go_down_only(package: str) -> None:
    """The order is iolab -> awrparse, straceparse -> logframe, also within functions and for type checkers only."""
    upward = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sources(package)
        for name in imported(path)
        if name.split(".")[0] in MAY_IMPORT.keys() - MAY_IMPORT[package]
    ]

    assert upward == []


def imported_modules(path: Path, known: dict[str, Path]) -> set[str]:
    """The modules of the project that a file imports, wherever in the file."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            full = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (full & known.keys()) or {str(node.module)}
    return found & known.keys()


def test_no_import_circles() -> None:
    """The modules of all packages can be put into an order in which each imports only those before it.

    What is imported within functions, or for type checkers, counts as well.
    """
    known = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for package in MAY_IMPORT
        for path in sources(package)
    }
    graph = {name: imported_modules(path, known) - {name} for name, path in known.items()}

    order = list(TopologicalSorter(graph).static_order())  # raises CycleError, which names the circle

    assert len(order) == len(known)


def test_a_trace_is_shown_without_the_reader_of_html() -> None:
    """`iolab show` of an strace log imports neither the HTML parser nor a charts library."""
    code = """
import json, sys
from iolab.cli import main
code = main(["show", "sample_data/captures/async_direct_r.strace"])
print(json.dumps([code, sorted(set(sys.modules) & {"selectolax", "altair", "scipy", "IPython"})]), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)

    assert json.loads(done.stderr.splitlines()[-1]) == [0, []]


@pytest.mark.parametrize("package", LOWER)
def test_lower_packages_need_the_core_only(package: str) -> None:
    """Whatever the lower packages import, the core installation brings."""
    foreign = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sources(package)
        for name in imported(path)
        if name.split(".")[0] not in CORE | MAY_IMPORT[package] | sys.stdlib_module_names
    ]

    assert foreign == []


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_patterns_of_formats_are_in_grammars(package: str) -> None:
    """No pattern of a log format is added in Python; what is of no format is listed with its reason."""
    found = {path.relative_to(ROOT).as_posix(): list(patterns_in(path)) for path in sources(package)}
    listed = {name: OTHER_PATTERNS[name][0] for name in found.keys() & OTHER_PATTERNS.keys()}
    left = [f"{name}:{line}: {text}" for name in found.keys() - listed.keys() for line, text in found[name]]

    assert {name: len(found[name]) for name in listed} == listed
    assert len(left) <= PATTERNS_LEFT[package], "\n".join(sorted(left))


def test_every_form_of_a_pattern_is_found(tmp_path: Path) -> None:
    """A pattern is found in the call, in parts, and as a constant; blanks, separators and terminals are none."""
    path = tmp_path / "reader.py"
    path.write_text(
        """
WAIT = "WAIT #" + r"[0-9]+"
re.compile(WAIT)
re.search(rf"^Elapsed: {CLOCK}", text)
pl.col("text").str.contains(f"{WAIT}$")
name.str.strip_chars().str.starts_with("APPNAME")
texts.str.replace_many({"a1": "b"})
re.compile(rb"[a-z]{3}")
re.compile(rf"^(?P<name>{GRAMMAR.pattern('{NAME}')})$|[ \\t]+")
re.split(r"\\s{2,}", line)
GRAMMAR.groups(TEXT, "^{NAME} seconds=(?P<taken>{WHOLE})(?:, {STAMP})?$")
GRAMMAR.pattern(r"^{PREFIX}(?P<value>{VALUE})[ \\t]*(?=\\r?\\n)")
number.str.replace(",", ".", literal=True)
""",
        encoding="utf-8",
    )

    assert [pattern.line for pattern in sorted(patterns_in(path))] == [3, 4, 5, 6, 7, 8, 11]


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_all_is_sorted_and_resolves(package: str) -> None:
    """`__all__` is in the order of ruff (constants, classes, functions), and every name in it is there."""
    for module in modules(package):
        names = getattr(module, "__all__", [])

        assert names == sorted(set(names), key=lambda name: (not name.isupper(), not name[0].isupper(), name))
        assert [name for name in names if not hasattr(module, name)] == []


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_loading_every_module(package: str) -> None:
    """In a fresh Python: no public name changes its meaning, and a lower package loads no Altair, Jupyter or SciPy."""
    code = f"""
import importlib, json, pkgutil, sys
import {package} as package
before = {{name: getattr(package, name) for name in getattr(package, "__all__", [])}}
for found in pkgutil.walk_packages(package.__path__, "{package}."):
    if not found.name.endswith("__main__"):
        importlib.import_module(found.name)
changed = [name for name, value in before.items() if getattr(package, name) is not value]
print(json.dumps([changed, sorted(set(sys.modules) & set({HEAVY!r}))]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    changed, heavy = json.loads(done.stdout)

    assert changed == []
    assert package == "iolab" or heavy == []


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_lists_of_lazy_packages_agree(package: str) -> None:
    """A lazy package names the same for readers (`__all__`) and for type checkers and the interpreter."""
    lazy = [module for module in modules(package) if "lazy_exports" in vars(module) and hasattr(module, "__path__")]

    assert lazy
    for module in lazy:
        own = {name for name in module.__all__ if name not in vars(module) or name in exports_of(module.__name__)}
        assert own - {"lazy_exports"} == exports_of(module.__name__).keys()


GRAMMAR_FILES = sorted(
    path.relative_to(ROOT).as_posix() for package in MAY_IMPORT for path in (ROOT / package).rglob("*.lark")
)


@pytest.fixture(scope="module")
def grammars() -> dict[str, Grammar]:
    """Path of each grammar file -> the grammar that a module made of it."""
    return {
        f"{grammar.package.replace('.', '/')}/{grammar.name}": grammar
        for package in MAY_IMPORT
        for module in modules(package)
        for grammar in vars(module).values()
        if isinstance(grammar, Grammar)
    }


def test_every_grammar_is_loaded(grammars: dict[str, Grammar]) -> None:
    """No grammar lies about unused, and none is loaded from elsewhere."""
    assert sorted(grammars) == GRAMMAR_FILES


@pytest.mark.parametrize("name", GRAMMAR_FILES)
def test_samples_match_their_rules(name: str, grammars: dict[str, Grammar]) -> None:
    """Each sample line is accepted: by its own terminal or rule where a text may be that rule, else by some rule."""
    grammar = grammars[name]
    refused = [
        (rule, sample)
        for rule, sample in grammar.samples
        if not (
            re.fullmatch(grammar.terminals[rule], sample)
            if rule.isupper()
            else any(accepts(grammar, start, sample) for start in ([rule] if rule in grammar.start else grammar.start))
        )
    ]

    assert len(grammar.samples) > 1
    assert refused == []


def accepts(grammar: Grammar, start: str, text: str) -> bool:
    """Does the text match the rule?  Where the terminals are only declared, the text is their names."""
    try:
        if "%declare" not in grammar.text:
            grammar.parse(text, start=start)
            return True
        parser = grammar.parser.parse_interactive(start=start)
        for name in text.split():
            parser.feed_token(Token(name, name))
        parser.feed_eof()
    except UnexpectedInput:
        return False
    return True


def test_files_stay_small() -> None:
    """A long file holds more than one thing, unless it is listed with a reason; a list entry that is short is stale."""
    folders = (*MAY_IMPORT, "tests", "benchmarks", "sample_data/make")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in {".py", ".lark"}]
    long = {
        path.relative_to(ROOT).as_posix() for path in paths if path.read_text(encoding="utf-8").count("\n") > LONGEST
    }

    assert long == set(LONG_FILES)


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_doctests_have_the_heading_of_google_style(package: str) -> None:
    """Docstrings have one style: a doctest is below `Examples:`, where editors and documentation tools find it."""
    bare = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sources(package)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        if ">>>" in (text := ast.get_docstring(node) or "") and "Examples:" not in text
    ]

    assert bare == []


def test_no_path_of_a_machine() -> None:
    """Nothing in the project names a folder of the machine it was written on; only logs in test data may hold paths."""
    found = [
        f"{path.relative_to(ROOT)}: {hit.group().decode()}"
        for path in project_files()
        if not any(part.endswith("_data") for part in path.relative_to(ROOT).parts[1:-1])
        if (hit := _MACHINE_PATH.search(path.read_bytes()))
    ]

    assert found == []


def test_plain_words() -> None:
    """Code and pages use the usual words: no figure of speech that a reader has to guess and cannot search for."""
    folders = (*MAY_IMPORT, "docs", "fuzz", "benchmarks")
    paths = [
        path for name in folders for path in (ROOT / name).rglob("*") if path.suffix in {".py", ".lark", ".c", ".md"}
    ]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {odd.group()}"
        for path in [*paths, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (odd := _ODD_WORDS.search(line))
    ]

    assert found == []
