"""The pages made from the code are those in the tree, and links between pages lead somewhere."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import iolab.metrics
from logframe import DIAGNOSTICS
from logframe.kinds import KINDS, kind_meanings

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    [*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "sample_data" / "README.md"]
)
PAGES_MADE = ["awr_tables.md", "chart_list.md", "diagnostics.md", "findings.md", "frames.md", "ledger.md", "metrics.md"]
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")


def test_pages_made_from_the_code_are_up_to_date(tmp_path: Path) -> None:
    """`python docs/generate.py` would change nothing."""
    subprocess.run([sys.executable, ROOT / "docs" / "generate.py", tmp_path], check=True, cwd=ROOT)
    made = sorted(tmp_path.iterdir())

    assert [page.name for page in made] == PAGES_MADE
    for page in made:
        assert page.read_text(encoding="utf-8") == (ROOT / "docs" / page.name).read_text(encoding="utf-8"), page.name


def test_headings_of_metrics_are_signatures() -> None:
    """A heading of the page of metrics can be written in a call: what must be named is behind `*`, keys are `**`."""
    headings = re.findall(r"^### `(\w+)(\(.*\))`$", (ROOT / "docs" / "metrics.md").read_text("utf-8"), re.MULTILINE)

    assert len(headings) > 30
    for name, parameters in headings:
        arguments = ast.parse(f"def {name}{parameters}: ...").body[0].args  # type: ignore[attr-defined]
        spec = inspect.getfullargspec(getattr(iolab.metrics, name))
        assert [one.arg for one in arguments.args] == spec.args, name
        assert [one.arg for one in arguments.kwonlyargs] == spec.kwonlyargs, name
        stars = [one and one.arg for one in (arguments.vararg, arguments.kwarg)]
        assert stars == [spec.varargs, spec.varkw], name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files(page: Path) -> None:
    """Every relative link of a page names a file of the tree."""
    targets = LINK.findall(page.read_text(encoding="utf-8"))

    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_each_kind_of_diagnostic_is_described() -> None:
    """The words that mypy allows are those with a meaning and what to do, and one is enough for one idea."""
    assert KINDS == tuple(kind_meanings()) == tuple(DIAGNOSTICS["kind"].categories)
    assert len(KINDS) <= 30
    for one in kind_meanings().values():
        assert {"meaning", "next"} <= one.keys() <= {"meaning", "next", "was"}
        assert one["meaning"].endswith(".")
        assert one["next"].endswith(".")
