"""The pages made from the code are those in the tree, and links between pages lead somewhere."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    [*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "sample_data" / "README.md"]
)
PAGES_MADE = ["awr_tables.md", "chart_list.md", "findings.md", "frames.md", "ledger.md", "metrics.md"]
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")


def test_pages_made_from_the_code_are_up_to_date(tmp_path: Path) -> None:
    """`python docs/generate.py` would change nothing."""
    subprocess.run([sys.executable, ROOT / "docs" / "generate.py", tmp_path], check=True, cwd=ROOT)
    made = sorted(tmp_path.iterdir())

    assert [page.name for page in made] == PAGES_MADE
    for page in made:
        assert page.read_text(encoding="utf-8") == (ROOT / "docs" / page.name).read_text(encoding="utf-8"), page.name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files(page: Path) -> None:
    """Every relative link of a page names a file of the tree."""
    targets = LINK.findall(page.read_text(encoding="utf-8"))

    assert [target for target in targets if not (page.parent / target).exists()] == []


#: Where the kind of a diagnostic stands among the arguments of what makes one.
KIND_PLACES = {"Problem": 1, "Diagnostic": 3}


def diagnostic_kinds() -> Iterator[str]:
    """The kinds of diagnostics that the readers name where they make one."""
    for package in ("awrparse", "straceparse", "sqlplusparse", "sqltraceparse", "hostparse", "logframe"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                place = KIND_PLACES.get(getattr(node.func, "id", "")) if isinstance(node, ast.Call) else None
                if place is None:
                    continue
                given = [*node.args[place : place + 1], *(one.value for one in node.keywords if one.arg == "kind")]
                yield from (one.value for one in given if isinstance(one, ast.Constant))


def test_each_kind_of_diagnostic_is_described() -> None:
    """docs/diagnostics.md has an entry for each, once, with what to do."""
    page = (ROOT / "docs" / "diagnostics.md").read_text(encoding="utf-8")
    described = re.findall(r"^### `(\w+)`\n\n.+\n\nnext: .+$", page, re.MULTILINE)

    assert len(described) == len(set(described)) == page.count("\n### ")
    assert len(kinds := set(diagnostic_kinds())) > 40
    assert kinds - set(described) == set()
