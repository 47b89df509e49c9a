"""Notebooks on other logs: each answers, or refuses in a sentence; none ends in a traceback."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

import iolab
from iolab import dataset
from iolab.lab.cells import pair_sentences, read_table, refuse, set_up
from logframe.errors import LogError, RefusedError

ROOT = Path(__file__).parents[2]
NOTEBOOKS, SAMPLES = ROOT / "notebooks", ROOT / "sample_data"
_RUN = "SQL> select 1 from dual;\n\nElapsed: 00:00:01.00\n\n"
_FLASH = """SQL> select a.name, b.value from v$statname a, v$mystat b where a.statistic# = b.statistic#;

NAME                                 VALUE
------------------------------- ----------
physical read total IO requests {:>10}
cell flash cache read hits      {:>10}

"""
#: Logs that no notebook was made for, by file name.
MADE = {
    "empty.txt": b"",
    "binary.bin": bytes(range(256)) * 20,
    "diary.txt": b"Dear diary,\nnothing.\n",
    "once.lst": _RUN.encode(),
    "untimed.lst": b"SQL> select 1 from dual;\n\n         1\n----------\n         1\n\n" * 6,
    "zero.csv": b"row_length,columns,us_per_lio_a,us_per_lio_b\n40,4,0.9,0\n",
    "text.csv": b"row_length,columns,us_per_lio_a,us_per_lio_b\n40,4,0.9,n/a\n",
    "no_blocks.lst": _RUN.encode() + _FLASH.format(1841, 1837).encode(),
    "few_hits.lst": _RUN.encode() + _FLASH.format(1841, 20).encode(),
    "two_timed.lst": 2 * _RUN.encode() + _FLASH.format(1841, 1837).encode(),
    "failed.lst": b"SQL> select 1 from t;\nERROR at line 1:\nORA-00942: no table\n\nElapsed: 00:00:01.00\n\n" * 3,
}
#: One log of each kind of the samples.
KINDS = (
    "awr_series/awrrpt_1_4104_4105.txt",
    "awr_series/awrrpt_1_4108_4109.txt",
    "articles/003_filesystemio_none.txt",
    "articles/004_exadata_flash_cache.txt",
    "articles/002_hpux.txt",
    "one_case/orders_flash.lst",
    "captures/async_buffered_r.strace",
    "sqltrace/orders_flash_ora_4711.trc",
    "sqltrace/orders_flash_ora_4711.prf",
    "host/iostat.out",
    "articles/001_dtrace_profile.txt",
)


def run(notebook: Path, log: Path) -> str:
    """All cells of a notebook whose logs are replaced; the answer.

    Raises:
        LogError: The notebook refuses the log.
    """
    names: dict[str, Any] = {}
    answer = ""
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        source = "".join(cell["source"]).replace("DATASET = None", f"DATASET = {str(log)!r}")
        source = re.sub(r'DATA / f?"[^"]+"', f"Path({str(log)!r})", source)
        source = re.sub(r'f?"(\.\./sample_data|\{FOLDER\})[^"]*"', repr(str(log)), source)
        tree = ast.parse(source)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, notebook.stem, "exec"), names)  # noqa: S102 - the notebook's own code
        shown = None
        if last is not None:
            shown = eval(compile(ast.Expression(last.value), notebook.stem, "eval"), names)  # noqa: S307 - as above
        if "answer" in cell["metadata"].get("tags", []):
            answer = str(getattr(shown, "data", shown))
    return answer


@pytest.mark.parametrize("notebook", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_other_logs_are_answered_or_refused(
    notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Any other exception than a refusal, which is one sentence, fails here."""
    monkeypatch.chdir(NOTEBOOKS)
    for name, content in MADE.items():
        (tmp_path / name).write_bytes(content)
    refused, answered = [], []
    for log in [*(SAMPLES / name for name in KINDS), *(tmp_path / name for name in MADE), tmp_path / "missing.txt"]:
        try:
            answered.append(run(notebook, log))
        except (LogError, OSError) as error:
            refused.append(str(error))
    capsys.readouterr()

    assert all(refused)
    assert len(refused) + len(answered) == len(KINDS) + len(MADE) + 1
    assert refused or notebook.stem.startswith(("00", "10", "11"))


def test_what_is_known_is_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No size of a read, or too few hits: each is answered to the last cell, and says what it lacks."""
    monkeypatch.chdir(NOTEBOOKS)
    notebook = NOTEBOOKS / "04_flash_cache_latency.ipynb"
    for name, content in MADE.items():
        (tmp_path / name).write_bytes(content)

    assert "at most 0.544 [0.542, 0.550] ms a read" in run(notebook, tmp_path / "no_blocks.lst")
    assert "no time of a read from flash" in run(notebook, tmp_path / "few_hits.lst")
    with pytest.raises(LogError, match="timed 2 statements, and its statistics count the reads of all"):
        run(notebook, tmp_path / "two_timed.lst")


def test_a_dataset_without_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One report cannot change: the answer stands, and what needs a change is refused; no report is refused at once."""
    monkeypatch.chdir(NOTEBOOKS)
    for name, why in ((KINDS[0], "no average read was compared"), ("one_case/orders_flash.lst", "no report")):
        dataset.convert(SAMPLES / name, tmp_path / why, executor="serial")
        with pytest.raises(LogError, match=why):
            run(NOTEBOOKS / "09_fleet.ipynb", tmp_path / why)


def test_one_report_of_each_instance_shows_no_change(tmp_path: Path) -> None:
    """Nothing is claimed of a change that two reports would show."""
    dataset.convert(SAMPLES / KINDS[0], tmp_path / "one", executor="serial")
    nothing = dataset.read_changes(tmp_path / "one"), dataset.setting_changes(tmp_path / "one")
    sentences = dataset.fleet_sentences(dataset.instances(tmp_path / "one"), *nothing)

    assert sentences[1:] == ["No instance has two reports, so the dataset shows no change."]


def test_no_sentence_names_an_argument_of_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader of a notebook calls none: of every two samples the answer, or why there is none, is in plain words."""
    monkeypatch.chdir(ROOT)
    logs = {name: iolab.load(SAMPLES / name) for name in KINDS[2:]}
    headless = b"".join((SAMPLES / KINDS[7]).read_bytes().partition(b"=====")[1:])
    logs |= {"headless.trc": iolab.load(headless), "own.strace": iolab.load(SAMPLES / KINDS[6])}
    said = pair_sentences(logs)

    assert len(said) > 20
    assert [one for one in said if re.search(r"\w=\W|; give \w|iolab\.|: Ratios are", one)] == []


def test_a_refusal_is_shown_as_a_sentence() -> None:
    """In IPython a cell that refuses shows its reason and no traceback, and counts as failed: the run stops there."""
    shell_module = pytest.importorskip("IPython.core.interactiveshell")
    shell = shell_module.InteractiveShell.instance()
    try:
        set_up()
        shown: list[str] = []
        shell.display_pub.publish = lambda data, **_: shown.append(data.get("text/markdown", ""))
        result = shell.run_cell("from iolab.lab.cells import refuse\nrefuse('the log has no reads')")
        assert not result.success
        assert shown == ["**Not answered:** the log has no reads"]
    finally:
        shell_module.InteractiveShell.clear_instance()


def test_tables_are_refused_with_a_reason(tmp_path: Path) -> None:
    """A table that lacks a column, or is no table."""
    table = tmp_path / "a.csv"
    table.write_text("a,b\n1,2\n", encoding="utf-8")
    assert read_table(table, "b", texts=("a",)).row(0) == ("1", 2)
    with pytest.raises(RefusedError, match="has no column c: it has a, b"):
        read_table(table, "c")
    table.write_text("a,b\n1,2,3,4\n", encoding="utf-8")
    with pytest.raises(RefusedError, match="is not a CSV file"):
        read_table(table, "c")
    for rows, why in (("", "no rows"), ("1,0\n", "above zero"), ("1,x\n", "above zero"), ("1,\n2,3\n", "above zero")):
        table.write_text(f"a,b\n{rows}", encoding="utf-8")
        with pytest.raises(RefusedError, match=why):
            read_table(table, "b")
    with pytest.raises(RefusedError, match=r"^why$"):
        refuse("why")
