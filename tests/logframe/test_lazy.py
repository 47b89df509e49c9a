"""Lazy packages."""

import subprocess
import sys
from pathlib import Path

import pytest

from logframe import lazy_exports


def test_import_of_a_name_loads_its_module_only() -> None:
    """The package itself loads no Polars, a name that needs none loads none, and the next look-up is direct."""
    code = """
        import sys, logframe
        assert "polars" not in sys.modules and "lark" not in sys.modules
        assert logframe.is_ruler("---")
        assert "is_ruler" in vars(logframe) and "open_log" in dir(logframe)
        assert "polars" not in sys.modules
        from logframe import *
        assert open_log(b"a").lines() == ["a"]
    """
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(line.strip() for line in code.splitlines())],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_unknown_name() -> None:
    """An unknown name fails as it does in an ordinary module."""
    import logframe  # noqa: PLC0415 - the package as an object

    assert not hasattr(logframe, "open_lgo")
    with pytest.raises(ImportError, match="cannot import name 'open_lgo'"):
        exec("from logframe import open_lgo", {})  # noqa: S102 - the statement under test


def test_name_of_a_module_is_refused() -> None:
    """A function and its module of one name would change places on import."""
    with pytest.raises(ValueError, match="calls"):
        lazy_exports("package", {"calls": "calls", "sniff": "dialect"})


def test_broken_module_shows_its_own_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error within a module is not turned into a missing attribute."""
    package = tmp_path / "lazy_package_with_error"
    package.mkdir()
    (package / "__init__.py").write_text(
        'from logframe.lazy import lazy_exports\n__getattr__, __dir__ = lazy_exports(__name__, {"name": "broken"})\n',
        encoding="utf-8",
    )
    (package / "broken.py").write_text("1 / 0\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    import lazy_package_with_error  # noqa: PLC0415 - written above

    with pytest.raises(ZeroDivisionError):
        _ = lazy_package_with_error.name
