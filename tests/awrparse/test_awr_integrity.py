"""The register of checks: all modules are in it, and no check knows the report's class."""

from __future__ import annotations

import ast
from pathlib import Path

import awrparse.integrity
from awrparse.integrity import checks
from awrparse.integrity.registry import _MODULES

FOLDER = Path(awrparse.integrity.__file__).parent


def test_every_module_is_asked() -> None:
    """A check that is written in a new file is made."""
    assert {path.stem for path in FOLDER.glob("*.py")} - {"__init__", "registry"} == set(_MODULES)


def test_checks_have_names_of_their_own() -> None:
    """One name, one check; each says what it proves."""
    names = [check.name for check in checks()]
    assert len(names) == len(set(names)) > 20
    assert all(check.proves and check.cost_ms for check in checks())


def test_no_check_imports_the_report() -> None:
    """The report asks the register; imports within functions and for types count, too."""
    for path in FOLDER.glob("*.py"):
        imported = {
            node.module
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom)
        }
        assert "awrparse.report" not in imported, path.name
    report = ast.parse((FOLDER.parent / "report.py").read_text(encoding="utf-8"))
    modules = {node.module for node in ast.walk(report) if isinstance(node, ast.ImportFrom)}
    assert {name for name in modules if name and name.startswith("awrparse.integrity")} == {"awrparse.integrity"}
