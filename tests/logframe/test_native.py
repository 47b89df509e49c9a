"""Compiled code that cannot be used is a reason, never a crash; the variable of the environment decides."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from logframe import native
from logframe.native import KernelError, load_compiled

SOURCE = "const char *iolab_source(void) { return IOLAB_SOURCE; }\n"
cc = shutil.which("cc")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """The folder of a package that has a C file of its own."""
    name = f"native_{abs(hash(request.node.name))}"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").write_text("", encoding="utf-8")
    (folder / "it.c").write_text(SOURCE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv(native.VARIABLE, raising=False)
    load_compiled.cache_clear()
    return folder


def compiled(folder: Path) -> Path:
    """The library of the package, compiled as an installation does."""
    if cc is None:
        pytest.skip("no C compiler")
    found = hashlib.sha256((folder / "it.c").read_bytes()).hexdigest()
    out = folder / "it.compiled"
    subprocess.run([cc, "-shared", "-fPIC", f'-DIOLAB_SOURCE="{found}"', "-o", out, folder / "it.c"], check=True)
    return out


def test_loaded(package: Path) -> None:
    """What was compiled from this very source is used."""
    compiled(package)
    found = load_compiled(package.name, "it")

    assert (found.library is not None, found.reason) == (True, "")


def test_stale(package: Path) -> None:
    """A library of other sources is not used, and the reason says what to do."""
    compiled(package)
    (package / "it.c").write_text(SOURCE + "/* changed */\n", encoding="utf-8")

    assert "was made from another it.c; install the project again" in load_compiled(package.name, "it").reason


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "not compiled: there was no C compiler"),
        (b"", "is cut; install the project again"),
        (b"no library", "cannot be loaded"),
        (b"\x7fELF\x01\x01\x01" + bytes(57), "cannot be loaded"),
    ],
)
def test_missing_or_damaged(package: Path, content: bytes | None, reason: str) -> None:
    """No library, an empty file, a text, a library of another machine: a reason each."""
    if content is not None:
        (package / "it.compiled").write_bytes(content)

    assert reason in load_compiled(package.name, "it").reason


@pytest.mark.parametrize("share", [0.2, 0.6, 0.95])
def test_a_library_that_was_cut_is_not_loaded(package: Path, share: float) -> None:
    """Its pages that are not there would end the process."""
    compiled(package)
    path = package / "it.compiled"
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])

    assert load_compiled(package.name, "it").reason == "it.compiled is cut; install the project again"


def test_a_library_without_a_function_is_not_used(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What calls a function that is missing falls back, or fails where compiled code is required."""
    compiled(package)
    assert native.load_functions(package.name, "it", no_such_function=(None,)) is None
    monkeypatch.setenv(native.VARIABLE, "require")
    with pytest.raises(KernelError, match="has no function no_such_function"):
        native.load_functions(package.name, "it", no_such_function=(None,))


def test_library_of_someone_else(package: Path) -> None:
    """A library without the function that names its source is none of this project."""
    (package / "it.c").write_text("int other(void) { return 1; }\n", encoding="utf-8")
    compiled(package)

    assert load_compiled(package.name, "it").reason == "it.compiled is no library of this project"


def test_choices(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``off`` never loads, ``require`` fails where nothing can be loaded, and a misspelt choice is an error."""
    monkeypatch.setenv(native.VARIABLE, "require")
    with pytest.raises(KernelError, match=r"IOLAB_KERNEL=require, but .*/it\.c is not in use: not compiled"):
        load_compiled(package.name, "it")
    compiled(package)
    load_compiled.cache_clear()
    assert load_compiled(package.name, "it").library is not None
    monkeypatch.setenv(native.VARIABLE, "off")
    load_compiled.cache_clear()
    assert load_compiled(package.name, "it").reason == "IOLAB_KERNEL=off"
    monkeypatch.setenv(native.VARIABLE, "of")
    load_compiled.cache_clear()
    with pytest.raises(KernelError, match="IOLAB_KERNEL='of': it must be 'require', 'off' or empty"):
        load_compiled(package.name, "it")


@pytest.mark.parametrize("choice", ["off", "wrong"])
def test_whole_process(choice: str) -> None:
    """In a fresh Python: `off` names the fallback and classifies, anything unknown ends with the error."""
    code = (
        "import polars as pl\nfrom logframe.classify import Classifier\nfrom logframe.native import engine\n"
        "print(engine()); print(Classifier({'n': '[0-9]+'}).kinds_of(pl.Series(['1', 'x'])).to_list())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={native.VARIABLE: choice}, capture_output=True, text=True, check=False
    )
    if choice == "wrong":
        assert done.returncode == 1
        assert "IOLAB_KERNEL='wrong': it must be" in done.stderr
    else:
        assert done.stdout.splitlines() == ["Polars expressions (IOLAB_KERNEL=off)", "['n', None]"], done.stderr
