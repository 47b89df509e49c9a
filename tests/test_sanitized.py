"""The C files under AddressSanitizer and UndefinedBehaviorSanitizer: silent on regular, odd and damaged lines."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: What runs the compiled code over many buffers.
TESTS = (
    "tests/logframe/test_kernel.py",
    "tests/logframe/test_shapes.py",
    "tests/logframe/test_figures.py",
    "tests/awrparse/test_awr_page_cells.py",
    "tests/straceparse/test_strace_call_columns.py",
    "tests/straceparse/test_strace_compiled.py",
    "tests/sqltraceparse/test_sqltrace_compiled.py",
)

pytestmark = pytest.mark.install


@pytest.fixture(scope="module")
def sanitizer() -> Path:
    """The run-time library of AddressSanitizer, which must be loaded before Python."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    asked = [compiler, "-print-file-name=libasan.so"]
    found = Path(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip())
    if not found.is_absolute():
        pytest.skip("the C compiler has no AddressSanitizer")
    return found


@pytest.fixture(scope="module")
def tree(sanitizer: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the packages whose compiled code is instrumented."""
    folder = tmp_path_factory.mktemp("sanitized")
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    ignored = shutil.ignore_patterns("__pycache__", "*.compiled")
    for package in (*settings["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"], "tests"):
        shutil.copytree(ROOT / package, folder / package, ignore=ignored)
    for name in ("notebooks", "sample_data", "dist"):
        (folder / name).mkdir()
        (folder / name / "README.md").write_text("none", encoding="utf-8")
    shutil.copytree(ROOT / "sample_data" / "make", folder / "sample_data" / "make")
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, folder)
    done = subprocess.run(
        [sys.executable, "-c", "from hatchling import build; build.build_editable('dist')"],
        cwd=folder,
        env=os.environ | {"CC": "cc -g -fsanitize=address,undefined -fno-sanitize-recover", "IOLAB_KERNEL": "require"},
        capture_output=True,
        text=True,
        check=False,
    )
    if "CompileError" in done.stderr:
        pytest.skip(f"the C compiler cannot build for {sanitizer.name}: {done.stderr[-200:]}")
    assert done.returncode == 0, done.stderr
    return folder


def run(tree: Path, sanitizer: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python in the tree with the sanitizer; leaks are not looked for, because Python keeps memory when it ends."""
    options = {
        "LD_PRELOAD": str(sanitizer),
        "ASAN_OPTIONS": "detect_leaks=0:halt_on_error=1",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        "IOLAB_KERNEL": "require",
        "IOLAB_DAMAGED_LINES": "200",
        "PYTHONPATH": str(tree),
    }
    return subprocess.run(
        [sys.executable, *arguments], cwd=tree, env=os.environ | options, capture_output=True, text=True, check=False
    )


def test_it_finds_what_it_looks_for(tree: Path, sanitizer: Path) -> None:
    """A tag read beyond the last line is reported: the tests below are not silent because nothing looks."""
    code = (
        "import straceparse; assert straceparse.__file__.startswith('{}'), straceparse.__file__\n"
        "from dataclasses import replace\nfrom logframe.kernel import Tables, load_kernel\n"
        "from logframe.automaton import build_automaton\nkernel = load_kernel(); text = kernel.block_of(b'1\\n2')\n"
        "lines = replace(kernel.lines_of(text), count=40)\n"
        "kernel.tags_of(text, lines, Tables(build_automaton([('n', '[0-9]')])))"
    )
    done = run(tree, sanitizer, "-c", code.format(tree))

    assert done.returncode != 0
    assert "AddressSanitizer: heap-buffer-overflow" in done.stderr, done.stderr[-500:]


def test_silent(tree: Path, sanitizer: Path) -> None:
    """The tests of the compiled code run in the instrumented copy and no access is out of bounds or undefined."""
    done = run(tree, sanitizer, *("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not corpus", *TESTS))

    assert "Sanitizer" not in done.stdout + done.stderr, (done.stdout + done.stderr)[-2000:]
    assert "runtime error" not in done.stdout + done.stderr, (done.stdout + done.stderr)[-2000:]
    assert done.returncode == 0, done.stdout[-2000:]
    assert "passed" in done.stdout
