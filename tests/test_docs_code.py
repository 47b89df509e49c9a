"""Every block of code and every command of the pages is run, on the sample data of a checkout."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from awrparse.cli import main as awr_main
from iolab.cli import main as iolab_main
from sqlplusparse.cli import main as spool_main
from straceparse.cli import main as strace_main

ROOT = Path(__file__).parents[1]
#: The recipes have a test of their own, with other names for the logs.
PAGES = sorted(
    [
        *(page for page in (ROOT / "docs").glob("*.md") if page.name != "recipes.md"),
        *(ROOT / "README.md", ROOT / "CONTRIBUTING.md"),
    ]
)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^    (?:import |from |iolab |python )", re.MULTILINE)
INDENTED = re.compile(r"\n\n((?:    .*\n)+)")
#: Commands that the test suite runs elsewhere, or that need a package index, a browser or another host.
ELSEWHERE = (
    *("make", "git", "pip", "uv", ".ci/run", ".venv/bin/pytest", "ssh", "strace", "iolab lab", "IOLAB_AWR_CUTS="),
    *("PYTHON=", "TZ="),
)
LANGUAGES = {"python", "sh", "text", "mermaid", "toml", ""}
#: The names that an example uses for logs of the reader's own, and the sample that stands for each.
PLACEHOLDERS = {
    "awrrpt_1_2668_2669.html": "sample_data/awr_series/awrrpt_1_4110_4111.html",
    "before.html": "sample_data/awr_series/awrrpt_1_4102_4103.txt",
    "after.html": "sample_data/awr_series/awrrpt_1_4103_4104.txt",
    "ora_4711.strace": "sample_data/captures/async_direct_tt_T.strace",
    "buffered.strace": "sample_data/captures/async_buffered_tt_T.strace",
    "direct.strace": "sample_data/captures/async_direct_tt_T.strace",
    "autotrace.lst": "sample_data/articles/004_exadata_flash_cache.txt",
    "before.lst": "sample_data/articles/002_linux.txt",
    "after.lst": "sample_data/articles/002_linux_directio.txt",
    "runs.lst": "sample_data/runs/buffered_direct_async.txt",
}


def blocks(page: Path, *languages: str) -> list[str]:
    """The fenced blocks of a page in these languages."""
    return [text for language, text in FENCE.findall(page.read_text(encoding="utf-8")) if language in languages]


def lay_out(folder: Path) -> None:
    """Fill a folder with the sample data, and with the placeholders under their names."""
    (folder / "sample_data").symlink_to(ROOT / "sample_data")
    for name, sample in PLACEHOLDERS.items():
        shutil.copy(ROOT / sample, folder / name)
    (folder / "reports").mkdir()
    for report in (ROOT / "sample_data/awr_series").iterdir():
        shutil.copy(report, folder / "reports")
    numbered = {"old": "410[2-4]", "new": "411[0-2]", "mon": "410[2-4]", "tue": "410[5-7]", "wed": "411[0-2]"}
    for name, numbers in numbered.items():
        (folder / name).mkdir()
        for report in (ROOT / "sample_data/awr_series").glob(f"awrrpt_1_{numbers}_*.txt"):
            shutil.copy(report, folder / name)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder of the test's own that is laid out."""
    lay_out(tmp_path)
    return tmp_path


def pages_with(*languages: str) -> list[Path]:
    """The pages that have such a block."""
    return [page for page in PAGES if blocks(page, *languages)]


#: Runs the code of each page in a folder and a namespace of its own, and prints the traceback of each that fails.
RUNNER = """
import contextlib, io, json, os, sys, traceback
failures = {}
for page, (folder, code) in json.load(sys.stdin).items():
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(code, page, "exec"), {"__name__": "__main__"})
    except BaseException:
        failures[page] = traceback.format_exc()
print(json.dumps(failures))
"""


@pytest.fixture(scope="module")
def failures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The traceback of each page whose code fails; one interpreter runs them all, for each would import the same."""
    code = {}
    for page in pages_with("python"):
        folder = tmp_path_factory.mktemp(page.stem)
        lay_out(folder)
        code[page.name] = (str(folder), "\n".join(blocks(page, "python")))
    done = subprocess.run(
        [sys.executable, "-c", RUNNER], input=json.dumps(code), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("page", pages_with("python"), ids=lambda page: page.name)
def test_python(page: Path, failures: dict[str, str]) -> None:
    """The blocks of a page run one after the other."""
    assert page.name not in failures, failures[page.name]


def commands() -> list[tuple[str, str]]:
    """Each command of each page that is run here: the page and the line."""
    found = []
    for page in pages_with("sh"):
        for block in blocks(page, "sh"):
            for line in block.replace("\\\n", " ").splitlines():
                command = line.split("  #")[0].strip()
                if command and not command.startswith(("#", *ELSEWHERE)) and "ssh " not in command:
                    found.append((page.name, command))
    return found


MAINS = {"iolab": iolab_main, "awrparse": awr_main, "sqlplusparse": spool_main, "straceparse": strace_main}


@pytest.mark.parametrize(("page", "command"), commands(), ids=lambda value: value)
def test_command(page: str, command: str, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command ends with 0; what needs no shell is run in this process."""
    words = shlex.split(command)
    program = words[2] if words[:2] == ["python", "-m"] else words[0]
    monkeypatch.chdir(checkout)
    if program in MAINS and not set(command) & set("|<>"):
        assert MAINS[program](words[words.index(program) + 1 :]) == 0
        return
    assert words[0] in {"iolab", "python", "cat", "gzip"}, f"{page}: {command}"
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", command], env=env, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_say_their_language(page: Path) -> None:
    """Code stands in fences, so that it is run; an indented block is neither code nor a command."""
    text = page.read_text(encoding="utf-8")
    languages = {language for language, _ in FENCE.findall(text)}
    outside = FENCE.sub("", text)
    code = [
        block
        for block in INDENTED.findall(outside)
        if re.search(r"^    (?:import |from |iolab |python )", block, re.MULTILINE)
    ]

    assert languages <= LANGUAGES
    assert code == []
