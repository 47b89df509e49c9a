"""Logs that came out of containers (docker, compose, kubectl) are those that the program wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from transformations import LOGGED, joined

import iolab
from logframe import open_log

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

#: A log of each family.
LOGS = (
    "host/iostat.out",
    "host/biolatency.txt",
    "captures/async_direct_f_ttt_T_y.strace",
    "sqltrace/orders_disk_ora_4890.trc",
    "awr_series/awrrpt_1_4102_4103.txt",
)
LINES = 400


def frames_of(content: bytes) -> tuple[str, dict[str, pl.DataFrame]]:
    """The format of a log and its frames, without the name of the log."""
    log = iolab.load(content)
    found = {name: frame.lazy().collect() for name, frame in log.frames().items()}
    return log.format, {name: frame.drop("log", "source", strict=False) for name, frame in found.items()}


@pytest.mark.parametrize("form", LOGGED)
@pytest.mark.parametrize("name", LOGS)
def test_a_log_of_a_container(sample_data: Path, name: str, form: str) -> None:
    """Its format and its frames are those of the log itself, their lines too."""
    lines = (sample_data / name).read_text(encoding="utf-8").splitlines()
    text = joined(lines[:LINES] if "awr" not in name else lines)
    changed = LOGGED[form](text)
    printed = frames_of(changed.encode() if isinstance(changed, str) else changed)
    expected = frames_of(text.encode())

    assert printed[0] == expected[0]
    assert printed[1].keys() == expected[1].keys()
    for table, frame in expected[1].items():
        assert printed[1][table].equals(frame), table


@pytest.mark.parametrize("form", LOGGED)
@pytest.mark.parametrize("name", LOGS)
def test_the_numbers_of_a_log_of_a_container(sample_data: Path, name: str, form: str) -> None:
    """Each number of the log is where it is without the container, and none of a prefix is a figure of it."""
    lines = (sample_data / name).read_text(encoding="utf-8").splitlines()
    text = joined(lines[: LINES // 4] if "awr" not in name else lines)
    changed = LOGGED[form](text)
    content = changed.encode() if isinstance(changed, str) else changed
    found = iolab.provenance(iolab.load(content), content)
    expected = iolab.provenance(iolab.load(text.encode()), text.encode())
    columns = ["line", "text", "status", "frame", "frame_column", "frame_row"]
    typed = found.filter(status="typed")

    assert typed.select(columns).rows() == expected.filter(status="typed").select(columns).rows()
    assert typed.height > 20
    assert found.filter(status="lost").height == expected.filter(status="lost").height
    copied = open_log(content).lines()  # what Docker keeps in objects as the program wrote it
    for line, column, printed in typed.select("line", "column", "text").rows():
        assert copied[line - 1][column - 1 :].startswith(printed)


def test_other_lines_of_docker_stay() -> None:
    """A line that is no object of docker is not lost: it is read as it is."""
    text = '{"log":"a 1 close(3) = 0\\n","stream":"stdout","time":"2026"}\n{"log": 5}\nrest\n'
    log = iolab.load((text * 3).replace("a 1 ", "").encode(), format="strace")

    assert log.frames()["events"].lazy().collect().height == 9
