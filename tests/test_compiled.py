"""Packaging of compiled code: wheel, sdist and editable installation, each with and without a C compiler."""

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted(path.relative_to(ROOT) for path in ROOT.glob("*/*.c"))
COMPILED = {path.with_suffix(".compiled").as_posix() for path in SOURCES}
#: What takes the place of a compiler -> what the warning says of it.
NO_COMPILER = {
    "there-is-none": "no C compiler: there-is-none: No such file or directory",
    "false": "false failed with status 1",
    "true": "true failed with status 0",
    "'": "CC cannot be read",
}

pytestmark = pytest.mark.install


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small copy of the project: its packages, without notebooks and sample data."""
    source = tmp_path / "tree"
    ignored = shutil.ignore_patterns("__pycache__", "*.compiled")
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for package in settings["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]:
        shutil.copytree(ROOT / package, source / package, ignore=ignored)
    for name in ("notebooks", "sample_data"):
        (source / name).mkdir()
        (source / name / "README.md").write_text("none", encoding="utf-8")
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, source)
    return source


@pytest.fixture
def compiler() -> str:
    """The C compiler of this machine."""
    found = shutil.which("cc")
    if found is None:
        pytest.skip("no C compiler")
    return found


def build(tree: Path, target: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Build a target in ``dist``, as a build front end does."""
    code = f"from hatchling import build; print(build.build_{target}('dist'))"
    environment = {name: value for name, value in os.environ.items() if name not in {"CC", "IOLAB_KERNEL"}}
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=tree,
        env=environment | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def built(tree: Path, target: str, **variables: str) -> tuple[Path, str]:
    """What was built, and all that was said."""
    (tree / "dist").mkdir(exist_ok=True)
    done = build(tree, target, **variables)
    assert done.returncode == 0, done.stderr
    return tree / "dist" / done.stdout.splitlines()[-1], done.stdout + done.stderr


def compiled_in(wheel: Path) -> set[str]:
    """The libraries that a wheel holds."""
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if name.endswith(".compiled")}


def engine_of(folder: Path, **variables: str) -> str:
    """What the packages of a folder say of their engine."""
    code = "import logframe; from logframe.native import engine; print(logframe.__file__); print(engine())"
    environment = {name: value for name, value in os.environ.items() if name != "IOLAB_KERNEL"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=environment | variables | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    place, engine = done.stdout.splitlines()
    assert Path(place).is_relative_to(folder)
    return engine


@pytest.mark.usefixtures("compiler")
def test_wheel_with_a_compiler(tree: Path, tmp_path: Path) -> None:
    """The wheel is one of its platform, holds every library, and an installed copy runs them."""
    wheel, _ = built(tree, "wheel")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")  # noqa: S202 - the wheel that the test has just built

    assert "-py3-none-" in wheel.name
    assert not wheel.name.endswith("-any.whl")
    assert compiled_in(wheel) == COMPILED
    assert engine_of(tmp_path / "installed") == "compiled kernel"
    assert list(tree.glob("*/*.compiled")) == []


@pytest.mark.parametrize("compiler", NO_COMPILER)
def test_wheel_without_a_compiler(tree: Path, compiler: str) -> None:
    """One warning with the reason, and a wheel for any machine; a library that lay about is not taken along."""
    (tree / "logframe" / "kernel.compiled").write_bytes(b"stale")
    wheel, said = built(tree, "wheel", CC=compiler)

    assert wheel.name.endswith("-py3-none-any.whl")
    assert compiled_in(wheel) == set()
    assert said.count("Compiled code is left out") == 1
    assert NO_COMPILER[compiler] in said


@pytest.mark.usefixtures("compiler")
def test_sdist_makes_the_same_wheel(tree: Path, tmp_path: Path) -> None:
    """The sdist holds the C files, the hook and no library; a wheel built of it has every library."""
    (tree / "logframe" / "kernel.compiled").write_bytes(b"stale")
    sdist, _ = built(tree, "sdist")
    with tarfile.open(sdist) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # known since Python 3.11.4
        archive.extractall(tmp_path / "sdist")  # noqa: S202 - the sdist that the test has just built
    (copy,) = (tmp_path / "sdist").iterdir()
    held = {path.relative_to(copy).as_posix() for path in copy.rglob("*") if path.is_file()}

    assert {"hatch_build.py", *(path.as_posix() for path in SOURCES)} <= held
    assert not [name for name in held if name.endswith(".compiled")]
    assert compiled_in(built(copy, "wheel")[0]) == COMPILED
    assert built(copy, "wheel", CC="false")[0].name.endswith("-py3-none-any.whl")


@pytest.mark.usefixtures("compiler")
def test_editable(tree: Path) -> None:
    """An editable installation compiles into the tree; one without a compiler deletes what was there."""
    wheel, _ = built(tree, "editable")
    assert {path.relative_to(tree).as_posix() for path in tree.glob("*/*.compiled")} == COMPILED
    assert compiled_in(wheel) == set()
    assert engine_of(tree, IOLAB_KERNEL="require") == "compiled kernel"
    _, said = built(tree, "editable", CC="false")
    assert "Compiled code is left out" in said
    assert list(tree.glob("*/*.compiled")) == []
    assert engine_of(tree).startswith("Polars expressions (not compiled")
    assert [path.name for path in tree.iterdir() if path.name.startswith(".compiled")] == []


@pytest.mark.usefixtures("compiler")
def test_stale_library(tree: Path) -> None:
    """A C file that changed after the installation is not run by its old library, until it is installed again."""
    built(tree, "editable")
    with (tree / "logframe" / "kernel.c").open("a", encoding="utf-8") as source:
        source.write("/* changed */\n")
    assert "was made from another kernel.c" in engine_of(tree)
    built(tree, "editable")
    assert engine_of(tree) == "compiled kernel"


@pytest.mark.parametrize("target", ["wheel", "editable"])
def test_choices(tree: Path, target: str) -> None:
    """``require`` fails the build without a compiler, ``off`` compiles nothing, and a misspelt choice is an error."""
    (tree / "dist").mkdir()
    required, misspelt = (
        build(tree, target, IOLAB_KERNEL=choice, CC="false").stderr for choice in ("require", "requires")
    )
    assert "CompileError: false failed with status 1" in required
    assert "IOLAB_KERNEL='requires': it must be 'require', 'off' or empty" in misspelt
    wheel, said = built(tree, target, IOLAB_KERNEL="off")
    assert wheel.name.endswith("-py3-none-any.whl")
    assert "Compiled code" not in said
    assert list(tree.glob("*/*.compiled")) == []


def test_a_compiler_that_hangs(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler that does not end is stopped, and the reason says so."""
    monkeypatch.syspath_prepend(tree)
    monkeypatch.delitem(sys.modules, "hatch_build", raising=False)
    import hatch_build  # type: ignore[import-not-found]  # noqa: PLC0415 - the copy in the tree

    monkeypatch.setattr(hatch_build, "TIMEOUT_S", 0.2)
    monkeypatch.setenv("CC", "sh -c 'exec sleep 60'")
    with pytest.raises(hatch_build.CompileError, match=r"did not end within 0\.2 s"):
        hatch_build.compile_all([tree / "logframe" / "kernel.c"], tree)
