"""`%load_ext iolab`: what it adds to a session, and that importing iolab loads none of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

SAMPLES = Path(__file__).parents[2] / "sample_data"
TRACE = SAMPLES / "sqltrace/orders_flash_ora_4711.trc"
CHART = "application/vnd.vegalite.v5+json"


@pytest.fixture
def shell() -> Iterator[Any]:
    """A session with the extension; `shown` has what was displayed."""
    module = pytest.importorskip("IPython.core.interactiveshell")
    session = module.InteractiveShell.instance()
    session.shown = []
    session.display_pub.publish = lambda data, **_: session.shown.append(data)
    session.run_line_magic("load_ext", "iolab")
    yield session
    module.InteractiveShell.clear_instance()


def texts(shell: Any) -> list[str]:  # noqa: ANN401 - IPython's shell
    """The Markdown that was displayed."""
    return [data["text/markdown"] for data in shell.shown if "text/markdown" in data]


def test_show_says_what_a_log_says(shell: Any) -> None:  # noqa: ANN401 - as above
    """One log: its headline, its total, its findings; a variable of the session may name it."""
    shell.user_ns["LOG"] = str(TRACE)
    shell.run_cell("%iolab show $LOG")

    assert len(texts(shell)) == 1
    assert texts(shell)[0].startswith(f"**{TRACE.name}**: extended SQL trace")
    assert "14.6 s" in texts(shell)[0]
    assert "`db file scattered read` took 36 %" in texts(shell)[0]


def test_several_logs_begin_with_a_line_each(shell: Any, tmp_path: Path) -> None:  # noqa: ANN401 - as above
    """Patterns and quoted names are taken; what would break the table of them does not."""
    strange = tmp_path / "my | log.trc"
    strange.write_bytes(TRACE.read_bytes())
    shell.run_cell(f'%iolab show "{strange}" {SAMPLES}/one_case/*.lst')
    lines = texts(shell)[0].splitlines()

    assert [line.count("|") - line.count("\\|") for line in lines] == [4, 4, 4, 4]
    assert lines[2].startswith("| my \\| log.trc | extended SQL trace")
    assert len(texts(shell)) == 3


def test_ledger_and_charts_are_drawn(shell: Any) -> None:  # noqa: ANN401 - as above
    """The account of time as a chart; charts of numbers zoom, those with names do not."""
    shell.run_cell(f"%iolab ledger {TRACE}")
    assert [CHART in data for data in shell.shown] == [True]
    shell.shown.clear()
    shell.run_cell(f"%iolab charts {TRACE} {SAMPLES}/articles/003_filesystemio_none.txt")
    bound = [[param.get("bind") for param in data[CHART].get("params", [])] for data in shell.shown]
    assert bound == [["scales"], ["scales"], [], []]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("", "Usage: `%iolab show LOG...`"),
        ("show", "Usage"),
        ("weigh a.trc", "Usage"),
        ("show no_such.trc", "no_such.trc"),
        ('show "a.trc', "No closing quotation"),
    ],
)
def test_what_cannot_be_shown_is_a_sentence(shell: Any, line: str, reason: str) -> None:  # noqa: ANN401 - as above
    """A refusal, not a traceback; the session goes on."""
    assert shell.run_cell(f"%iolab {line}").success
    assert texts(shell)[0].startswith("**Not answered:** ")
    assert reason in texts(shell)[0]


def test_importing_iolab_loads_none_of_it() -> None:
    """The extension costs nothing where it is not used."""
    code = "import sys, iolab; print(sorted(sys.modules.keys() & {'IPython', 'polars', 'altair', 'iolab.lab'}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.stdout.strip() == "[]"
