"""Lazy packages."""

import subprocess
import sys
from pathlib import Path

import pytest


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


def write_package(folder: Path, name: str, exports: str, **modules: str) -> None:
    """A lazy package that imports names under TYPE_CHECKING, and its modules."""
    package = folder / name
    package.mkdir()
    text = "from typing import TYPE_CHECKING\nfrom logframe.lazy import lazy_exports\n"
    text += f"if TYPE_CHECKING:\n    {exports}\n__getattr__, __dir__ = lazy_exports(__name__)\n"
    (package / "__init__.py").write_text(text, encoding="utf-8")
    for module, source in modules.items():
        (package / f"{module}.py").write_text(source, encoding="utf-8")


def test_name_of_a_module_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function and a module of one name would change places on import."""
    exports = "from lazy_package_with_clash.calls import calls, sniff"
    write_package(tmp_path, "lazy_package_with_clash", exports, calls="def calls(): ...\ndef sniff(): ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    import lazy_package_with_clash  # noqa: PLC0415 - written above

    with pytest.raises(ValueError, match="share the name calls"):
        _ = lazy_package_with_clash.sniff


def test_names_of_other_packages_and_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name may come from another package, and a module may be public itself; only what is used is loaded."""
    exports = "from logframe.ruled import is_ruler; from lazy_package_of_all import beside"
    write_package(tmp_path, "lazy_package_of_all", exports, beside="value = 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    import lazy_package_of_all  # noqa: PLC0415 - written above

    assert "beside" not in vars(lazy_package_of_all)
    assert {"beside", "is_ruler"} <= set(dir(lazy_package_of_all))
    assert lazy_package_of_all.beside.value == 3
    assert lazy_package_of_all.is_ruler("---")
    assert "is_ruler" in vars(lazy_package_of_all)


def test_broken_module_shows_its_own_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error within a module is not turned into a missing attribute."""
    write_package(
        tmp_path, "lazy_package_with_error", "from lazy_package_with_error.broken import name", broken="1 / 0\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import lazy_package_with_error  # noqa: PLC0415 - written above

    with pytest.raises(ZeroDivisionError):
        _ = lazy_package_with_error.name
