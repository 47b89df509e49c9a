"""A column is renamed in one step: `docs/rename.py`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from docs.rename import rename

ROOT = Path(__file__).parents[1]
READ = "import doctest, awrparse.report; print(awrparse.report.__file__); print(doctest.testmod(awrparse.report))"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A package, a page and a log that has the name of a column in it."""
    shutil.copytree(ROOT / "awrparse", tmp_path / "awrparse")
    shutil.copytree(ROOT / "sample_data" / "one_case", tmp_path / "sample_data")
    shutil.copy(ROOT / "README.md", tmp_path)
    (tmp_path / "sample_data" / "notes.txt").write_text("total_wait_s")
    return tmp_path


def test_a_column_is_renamed_with_its_frames(tree: Path) -> None:
    """Tables, code and drawn frames have the new name, with bounds and in longer names; logs are left alone."""
    changed = rename(tree, "total_wait_s", "wait_time_s")
    done = subprocess.run([sys.executable, "-c", READ], cwd=tree, capture_output=True, text=True, check=False)

    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        str(tree / "awrparse" / "report.py"),
        "TestResults(failed=0, attempted=" + done.stdout.rpartition("=")[2].strip(),
    ]
    assert "first_wait_time_s" in (tree / "awrparse" / "tables" / "compare.toml").read_text()
    assert (tree / "sample_data" / "notes.txt").read_text() == "total_wait_s"
    assert tree / "awrparse" / "tables" / "waits.toml" in changed


def test_a_name_in_use_is_refused(tree: Path) -> None:
    """Two columns never become one, and a name that is not there is an error; no file is changed."""
    before = {path: path.read_bytes() for path in tree.rglob("*.toml")}
    with pytest.raises(SystemExit, match="avg_wait_ms is in use"):
        rename(tree, "total_wait_s", "avg_wait_ms")
    with pytest.raises(SystemExit, match="nothing is called total_wait_h"):
        rename(tree, "total_wait_h", "wait_h")

    assert before == {path: path.read_bytes() for path in before}
