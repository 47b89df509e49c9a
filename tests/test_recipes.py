"""Every recipe of docs/recipes.md runs as it stands, on the project's own logs."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import iolab

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "sample_data"
TEXT = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
RECIPES = re.findall(r"^## (\d+\. [^\n]+)\n+(?:[^#`\n][^\n]*\n+)?```python\n(.*?)```", TEXT, re.DOTALL | re.MULTILINE)
#: Recipes of one to five lines; those of the second hour follow.
SHORT = 11
#: What the recipes call the logs.
LOGS = {
    "awr.txt": "awr_series/awrrpt_1_4102_4103.txt",
    "awr_later.txt": "awr_series/awrrpt_1_4103_4104.txt",
    "linux.txt": "articles/002_linux.txt",
    "linux_directio.txt": "articles/002_linux_directio.txt",
    "session.txt": "runs/buffered_direct_async.txt",
    "flash.txt": "articles/004_exadata_flash_cache.txt",
    "session.lst": "one_case/orders_flash.lst",
    "session.trc": "sqltrace/orders_flash_ora_4711.trc",
    "iostat.out": "host/iostat.out",
    "ora_4711.strace": "captures/async_direct_f_ttt_T_y.strace",
}


def test_recipes_are_short() -> None:
    """Eleven tasks, none longer than five lines, and nine for the second hour, none longer than ten; all numbered."""
    lengths = [len([line for line in code.splitlines() if line]) for _, code in RECIPES]

    assert [int(title.partition(".")[0]) for title, _ in RECIPES] == list(range(1, 21))
    assert max(lengths[:SHORT]) <= 5
    assert max(lengths) <= 10


def lay_out(folder: Path) -> None:
    """A folder with the logs of the recipes."""
    logs = folder / "logs"
    (logs / "reports").mkdir(parents=True)
    for name, sample in LOGS.items():
        shutil.copy(SAMPLES / sample, logs / name)
    spool = (logs / "session.lst").read_text(encoding="utf-8")
    later = re.sub(r"^( *)\d+(  physical reads)$", r"\g<1>7\2", spool, flags=re.MULTILINE)
    (logs / "session_later.lst").write_text(later, encoding="utf-8")
    for path in sorted((SAMPLES / "awr_series").iterdir())[:3]:
        shutil.copy(path, logs / "reports" / path.name)


@pytest.mark.parametrize("code", [code for _, code in RECIPES], ids=[title for title, _ in RECIPES])
def test_a_recipe_runs(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A recipe prints a result, or writes a file."""
    lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)

    exec(code, {"iolab": iolab, "pl": pl})  # noqa: S102 - the recipe is the test

    written = [path for path in tmp_path.iterdir() if path.is_file() and path.stat().st_size]
    printed = capsys.readouterr().out
    assert printed.strip() or written
    assert not printed.startswith("shape: (0,")


def names_after(number: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names that a recipe leaves behind."""
    lay_out(folder)
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {"iolab": iolab, "pl": pl}
    exec(RECIPES[number - 1][1], names)  # noqa: S102 - the recipe is the test
    return names


def test_autotrace_of_two_sessions_pairs_each_statement_with_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two sessions of the same statements give each statistic of each once, with the figure of both sides."""
    both = names_after(13, tmp_path, monkeypatch)["both"]
    reads = both.filter(name="physical reads")

    assert both.height == iolab.load(tmp_path / "logs/session.lst").autotrace.height
    assert reads["value"].to_list() == [894, 16_000]
    assert reads["value_later"].to_list() == [7, 7]


def test_a_period_counts_once_among_the_top_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second copy of a report changes nothing: the mean is of periods."""
    events = names_after(6, tmp_path / "one", monkeypatch)["events"]
    shutil.copy(
        SAMPLES / "awr_series/awrrpt_1_4102_4103.txt", tmp_path / "one/logs/reports/the_same_under_another_name.txt"
    )
    again: dict[str, Any] = {"iolab": iolab, "pl": pl}
    exec(RECIPES[5][1], again)  # noqa: S102 - the recipe is the test

    assert events["event"].n_unique() > 3
    assert again["events"].drop("report").equals(events.drop("report"))
