"""The wheel: it holds what the packages read, and alone with the core libraries it reads the sample logs."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("logframe", "awrparse", "sqlplusparse", "straceparse", "sqltraceparse", "hostparse", "iolab")
#: What `iolab lab` copies: in the wheel below this folder.
SHIPPED, LAB_FILES = ("notebooks", "sample_data"), "iolab/lab_files"
#: JupyterLab's extension: file of the tree -> where it is installed, below the folder of the environment.
EXTENSION = {
    "labextension/iolab/package.json": "share/jupyter/labextensions/iolab/package.json",
    "labextension/iolab/plugin.js": "share/jupyter/labextensions/iolab/plugin.js",
    "labextension/server.json": "etc/jupyter/jupyter_server_config.d/iolab.json",
}
#: What only the extras bring.
EXTRAS = ("altair", "anywidget", "jupyterlab", "pandas", "scipy")

pytestmark = pytest.mark.install

READ_SAMPLES = """
import importlib.util, pathlib, sys
import awrparse, sqlplusparse, straceparse
folder, project, extras = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
assert not [name for name in extras if importlib.util.find_spec(name)], "extras are installed"
for package in (awrparse, sqlplusparse, straceparse):
    assert not package.__file__.startswith(project), package.__file__
captures = sorted((folder / "captures").glob("*.strace"))
assert captures
for path in captures:
    events = straceparse.read_strace(path)
    calls = straceparse.calls(events.lazy()).collect()
    print("strace", path.name, events.height, calls.height)
reports = sorted((folder / "articles").glob("003_*.txt"))
for path in reports:
    report = awrparse.read_awr(path)
    print("awr", path.name, report["top_events"].height, report["wait_classes"].height)
print("spool", "004", sqlplusparse.read_spool(folder / "articles" / "004_exadata_flash_cache.txt").statistics.height)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of what it is made of."""
    source = tmp_path_factory.mktemp("source")
    for name in (*PACKAGES, *SHIPPED, "labextension"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints"))
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    out = source / "dist"
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", out],
        cwd=source,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return next(out.glob("*.whl"))


def test_wheel_holds_every_file_of_the_packages(wheel: Path) -> None:
    """Modules, grammars, word lists and `py.typed`: what is in the tree is in the wheel, and nothing else is."""
    expected = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".compiled"
    } | {
        f"{LAB_FILES}/{path.relative_to(ROOT).as_posix()}"
        for folder in SHIPPED
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and ".ipynb_checkpoints" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name and not name.endswith(".compiled")}

    data = {name.partition(".data/data/")[2]: name for name in held if ".data/data/" in name}
    assert held - set(data.values()) == expected
    assert set(data) == set(EXTENSION.values())
    assert {f"{package}/py.typed" for package in PACKAGES} <= held
    assert [name for name in held if name.endswith(".lark")]


def test_extension_of_the_wheel_is_that_of_the_tree() -> None:
    """One version, and as much as is in the tree; JupyterLab finds what its description names."""
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / "labextension").rglob("*") if path.is_file()}
    described = json.loads((ROOT / "labextension/iolab/package.json").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert files == set(EXTENSION)
    assert (described["name"], described["version"]) == (project["name"], project["version"])
    assert (ROOT / "labextension/iolab" / described["jupyterlab"]["_build"]["load"]).is_file()


def test_extension_is_installed_and_enabled() -> None:
    """`jupyter labextension list` says so of the installation that runs this, and its copy is that of the tree."""
    done = subprocess.run(
        [sys.executable, "-m", "jupyter", "labextension", "list"], capture_output=True, text=True, check=False
    )
    said = next(line for line in (done.stdout + done.stderr).splitlines() if line.split()[:1] == ["iolab"])

    assert "enabled" in said
    assert "OK" in said
    for own, installed in EXTENSION.items():
        assert (Path(sys.prefix) / installed).read_bytes() == (ROOT / own).read_bytes(), "make lint installs it again"


def install(wheel: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """A new environment with the wheel and what it asks for: with uv where it is there, else with venv and pip."""
    python = folder / "bin" / "python"
    if uv := shutil.which("uv"):
        subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, folder], check=True)
        command: list[str | Path] = [uv, "pip", "install", "--quiet", "--python", python, wheel]
    else:
        venv.create(folder, with_pip=True)
        command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1", wheel]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_installed_alone_it_reads_the_sample_logs(wheel: Path, sample_data: Path, tmp_path: Path) -> None:
    """In an empty environment, with the core libraries only, every capture and article is read from the wheel."""
    folder = tmp_path / "empty"
    installed = install(wheel, folder)
    if installed.returncode:
        last = (installed.stderr or installed.stdout).strip().rsplit("\n", 1)[-1]
        pytest.skip(f"no package registry: {last[:120]}")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run(
        [folder / "bin" / "python", "-c", READ_SAMPLES, sample_data, ROOT, *EXTRAS],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    read = [line.split() for line in done.stdout.splitlines()]

    assert sorted({words[0] for words in read}) == ["awr", "spool", "strace"]
    assert [words for words in read if "0" in words[2:]] == []


ELF = b"\x7fELF\x02\x01\x01" + bytes(11)
LIBRARIES = {
    "linux-x86_64": ELF + b"\x3e\0" + bytes(60) + b"iolab_source GLIBC_2.14",
    "musl-aarch64": ELF + b"\xb7\0" + bytes(60) + b"iolab_source",
    "macos-arm64": b"\xcf\xfa\xed\xfe\x0c\0\0\x01" + bytes(60) + b"iolab_source",
    "windows-amd64": b"MZ" + bytes(58) + b"\x40\0\0\0PE\0\0\x64\x86" + b"iolab_source",
}


@pytest.fixture(scope="module")
def wheels() -> ModuleType:
    """release/wheels.py, a script."""
    spec = importlib.util.spec_from_file_location("wheels", ROOT / "release" / "wheels.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write_wheel(folder: Path, tag: str, library: bytes) -> Path:
    """A wheel with one C file and its library."""
    path = folder / f"iolab-1-py3-none-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("logframe/kernel.c", "")
        archive.writestr("logframe/kernel.compiled", library)
    return path


@pytest.mark.parametrize("target", LIBRARIES)
def test_a_wheel_of_its_platform_passes(target: str, wheels: ModuleType, tmp_path: Path) -> None:
    """The format and the processor of each library are those of the tag; of no other."""
    path = write_wheel(tmp_path, wheels.TARGETS[target][1], LIBRARIES[target])

    assert wheels.check(path, target) == 1
    for other in LIBRARIES.keys() - {target}:
        with pytest.raises(wheels.WheelError, match="not"):
            wheels.check(write_wheel(tmp_path, wheels.TARGETS[other][1], LIBRARIES[target]), other)


@pytest.mark.parametrize(
    ("library", "said"),
    [
        (LIBRARIES["linux-x86_64"].replace(b"2.14", b"2.34"), "asks for glibc 2.34"),
        (LIBRARIES["linux-x86_64"].replace(b"iolab_source", b""), "does not export iolab_source"),
        (b"", "is unknown"),
    ],
)
def test_a_library_that_hosts_cannot_load_is_refused(
    library: bytes, said: str, wheels: ModuleType, tmp_path: Path
) -> None:
    """A newer glibc than the tag promises, a missing function, no library."""
    path = write_wheel(tmp_path, wheels.TARGETS["linux-x86_64"][1], library)

    with pytest.raises(wheels.WheelError, match=said):
        wheels.check(path, "linux-x86_64")


def test_wheels_of_other_platforms(wheels: ModuleType, tmp_path: Path) -> None:
    """What the compiler of ziglang makes here passes the checks, for Linux, macOS and any machine."""
    pytest.importorskip("ziglang", reason="ziglang is installed by `make wheels`")
    for target in ("linux-aarch64", "macos-arm64", wheels.PURE):
        assert wheels.check(wheels.build(target, tmp_path), target) == (0 if target == wheels.PURE else 7)
    assert len(wheels.write_checksums(tmp_path).read_text().splitlines()) == 3
