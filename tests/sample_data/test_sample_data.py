"""The sample data: small, listed, free of traces of the machine that made them, and the articles reproducible."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

SAMPLE_DATA = Path(__file__).resolve().parents[2] / "sample_data"
MAKE = SAMPLE_DATA / "make"
FILES = sorted(
    path.relative_to(SAMPLE_DATA).as_posix()
    for path in SAMPLE_DATA.rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
)
LOGS = [
    name
    for name in FILES
    if name.startswith(("articles/", "awr_series/", "captures/", "one_case/", "runs/", "sqltrace/"))
]
CAPTURES = [name for name in LOGS if name.startswith("captures/")]
RUNS = [name for name in LOGS if name.startswith("runs/")]


def test_every_kind_of_file_is_there() -> None:
    """No loop below runs over nothing."""
    expected = {
        "articles": 12,
        "awr_series": 13,
        "captures": 15,
        "host": 5,
        "make": 17,
        "one_case": 2,
        "runs": 2,
        "sqltrace": 4,
        "tools": 20,
        "README.md": 1,
    }

    assert expected == Counter(Path(name).parts[0] for name in FILES)


def test_total_size_is_small() -> None:
    """All of it together stays under 5 MB, so that a clone stays small."""
    assert sum((SAMPLE_DATA / name).stat().st_size for name in FILES) < 5_000_000


def test_readme_lists_every_file_and_no_other() -> None:
    """The table of files and the folder hold the same names."""
    readme = (SAMPLE_DATA / "README.md").read_text(encoding="utf-8")
    table = readme.split("\n## Files\n")[1].split("\n## ")[0]

    assert sorted(re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)) == FILES


@pytest.mark.parametrize("name", FILES)
def test_no_file_names_a_private_folder(name: str) -> None:
    """The machine that made the samples cannot be seen in them: no home, work or temporary folder."""
    text = (SAMPLE_DATA / name).read_text(encoding="utf-8")

    assert re.findall(r"/(?:root|tmp|work|home)\b", text) == []


@pytest.mark.parametrize("name", CAPTURES)
def test_a_capture_has_an_empty_environment(name: str) -> None:
    """No variable of the environment can be in a capture: the traced program got none."""
    first = (SAMPLE_DATA / name).read_text(encoding="utf-8").splitlines()[0]

    assert re.findall(r'execve\("\./reader", \[.*\], 0x[0-9a-f]+ /\* (\d+) vars \*/\) = 0', first) == ["0"]


@pytest.mark.parametrize("name", CAPTURES)
def test_a_capture_holds_the_reads_its_command_asks_for(name: str) -> None:
    """300 reads of data come back whole, by a count that uses no parser: preads of moved files, or events."""
    text = (SAMPLE_DATA / name).read_text(encoding="utf-8")
    if "/async_" in name:
        sizes = re.findall(r"\bres=(\d+),", text)
    else:
        whole = r"pread64\(25[67].*\) += (\d+)(?: |$)"
        resumed = r"pread64 resumed>.*\) += (\d+)(?: |$)"
        sizes = re.findall(f"(?:{whole}|{resumed})", text, re.MULTILINE)
        sizes = [first or second for first, second in sizes]

    assert Counter(sizes) == {"8192" if "/sequential_" in name else "1032192": 300}


@pytest.mark.parametrize("name", RUNS)
def test_the_runs_take_turns(name: str) -> None:
    """A log has 31 runs of each kind, in the order buffered, direct, asynchronous, each at least 0.3 s."""
    text = (SAMPLE_DATA / name).read_text(encoding="utf-8")
    runs = re.findall(
        r"^SQL> host \./reader (.*) --count 2000 users01\.dbf users02\.dbf\n\nElapsed: 00:00:(\d\d\.\d{3})\n$",
        text,
        re.MULTILINE,
    )

    assert [mode for mode, _ in runs] == ["scattered", "scattered --direct", "async --direct"] * 31
    assert text.count("Elapsed:") == len(runs)
    assert min(float(elapsed) for _, elapsed in runs) >= 0.3


@pytest.mark.parametrize("name", RUNS)
def test_a_log_of_runs_states_its_cache(name: str) -> None:
    """What the page cache held is said in the log itself, for a reader who has no README."""
    text = (SAMPLE_DATA / name).read_text(encoding="utf-8")
    state = "warm" if name.endswith("_warm.txt") else "cold"

    assert re.findall(r"^SQL> REMARK Cache state: (\w+);", text, re.MULTILINE) == [state]


def test_articles_are_reproducible(tmp_path: Path) -> None:
    """The script writes the very files that are committed: same names, same bytes."""
    subprocess.run([sys.executable, MAKE / "make_articles.py", tmp_path], check=True, capture_output=True)
    committed = {path.name: path.read_bytes() for path in (SAMPLE_DATA / "articles").iterdir()}

    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == committed


def test_the_logs_of_one_case_are_reproducible_and_agree(tmp_path: Path) -> None:
    """The script writes the committed files; the spool counts the blocks of the trace and of the system calls."""
    subprocess.run([sys.executable, "-B", MAKE / "make_one_case.py", tmp_path], check=True, capture_output=True)
    committed = {path.name: path.read_bytes() for path in (SAMPLE_DATA / "one_case").iterdir()}
    trace, calls = (SAMPLE_DATA / "sqltrace" / f"orders_flash_{name}" for name in ("ora_4711.trc", "4711.strace"))
    spool = committed["orders_flash.lst"].decode()

    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == committed
    printed = sum(map(int, re.findall(r"(\d+)  physical reads", spool)))
    assert printed == sum(map(int, re.findall(r"nam='db file .* blocks=(\d+)", trace.read_text(encoding="utf-8"))))
    assert printed * 8192 == sum(map(int, re.findall(r" = (\d+) <", calls.read_text(encoding="utf-8"))))


@pytest.mark.parametrize(
    ("nanoseconds", "expected"),
    [
        (0, "00:00:00.000"),
        (999_999, "00:00:00.000"),
        (1_234_999_999, "00:00:01.234"),
        (59_999_999_999, "00:00:59.999"),
        (3_600_000_000_000, "01:00:00.000"),
        (360_061_002_000_000, "100:01:01.002"),
    ],
)
def test_elapsed_is_cut_off_not_rounded(nanoseconds: int, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A time is written as SQLcl writes it, never longer than it was."""
    monkeypatch.syspath_prepend(MAKE)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    format_elapsed = runpy.run_path(str(MAKE / "make_runs.py"))["format_elapsed"]

    assert format_elapsed(nanoseconds) == expected
