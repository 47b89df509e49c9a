"""Processes that are killed: the dataset is that of an undisturbed run, and a log that kills its reader is recorded."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from dataset_logs import assert_undisturbed, kill_one, run, statuses, trace

from iolab import dataset
from iolab.dataset.contents import GRACE
from iolab.dataset.executors import Processes
from iolab.dataset.layout import RUN
from iolab.dataset.store import LockRecord

#: How often each is killed; more in a long test by hand.
KILLS = int(os.environ.get("IOLAB_KILLS", "3"))
#: Logs in the folder of a test.
LOGS = max(24, 6 * KILLS)
TESTS = Path(__file__).parents[2]

#: A format whose reader ends its process, or never ends.
FORMAT = """
import os, time
from logframe.formats import Format, Sniff
def sniff(head):
    return Sniff(1.0, "a toy log") if head.text.startswith("TOY") else None
def read(source):
    text = open(source, "rb").read()
    if b"DIE" in text:
        os._exit(9)
    while b"HANG" in text:
        time.sleep(1)
FORMAT = Format(name="toy", title="a toy log", sniff=sniff, read=read)
"""


@pytest.fixture
def toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another distribution, with a format whose reader ends its process."""
    place = tmp_path / "site"
    (place / "toy-1.dist-info").mkdir(parents=True)
    (place / "toyformat.py").write_text(FORMAT, encoding="utf-8")
    (place / "toy-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1\n")
    (place / "toy-1.dist-info" / "entry_points.txt").write_text("[logframe.formats]\ntoy = toyformat:FORMAT\n")
    monkeypatch.syspath_prepend(place)


def test_workers_are_killed(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever process is killed, and when: its sources are read by another one."""
    monkeypatch.setattr("iolab.dataset.run.BATCH_SOURCES", 2)
    draw = random.Random(7)  # noqa: S311 - a case, not a secret
    executor = Processes(2)
    killed: list[int] = []

    def kill(_: dataset.Progress) -> None:
        if len(killed) < KILLS and draw.random() < 0.5:
            kill_one([number for _, number in executor._pools], killed, draw)  # noqa: SLF001 - what the test started

    try:
        done = dataset.convert(logs, tmp_path / "dataset", executor=executor, progress=kill)
    finally:
        executor.close()

    assert (done.counts, len(killed)) == ({"converted": LOGS}, KILLS)
    assert_undisturbed(tmp_path / "dataset", logs, tmp_path)


DRIVER = """
import sys
import iolab.dataset.run as run
from iolab import dataset
run.BATCH_SOURCES = 1
if __name__ == "__main__":
    show = lambda one: print("x", flush=True)
    dataset.convert(sys.argv[1], sys.argv[2], executor="processes:1", resume=True, progress=show)
"""


def test_the_driver_is_killed(logs: Path, tmp_path: Path) -> None:
    """After so many kills at random points a last run completes the dataset, and its workers have ended, too."""
    draw = random.Random(11)  # noqa: S311 - a case, not a secret
    script = tmp_path / "driver.py"
    script.write_text(DRIVER, encoding="utf-8")
    command = [sys.executable, str(script), str(logs), str(tmp_path / "dataset")]
    killed = 0
    while killed < KILLS:
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as driver:
            assert driver.stdout is not None
            for _ in range(draw.randint(1, 4)):
                driver.stdout.readline()
            time.sleep(draw.random() / 20)
            killed += driver.poll() is None
            driver.kill()
        assert driver.returncode == -signal.SIGKILL, "more logs are needed for so many kills"
    subprocess.run(command, check=True, capture_output=True)

    assert_undisturbed(tmp_path / "dataset", logs, tmp_path)


def test_a_sweep_leaves_the_files_of_others(logs: Path, tmp_path: Path) -> None:
    """Uncommitted files of a killed run go at once, those of an unknown run after a day; files of other names stay."""
    target = tmp_path / "dataset"
    dataset.convert(logs, target, executor="serial")
    others = [
        "notes.md",
        "fleet.duckdb",
        ".git/HEAD",
        "_delta_log/0.json",
        "strace/calls/mine.parquet",
    ]
    for name in others:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text("mine", encoding="utf-8")
    calls = target / "strace" / "calls"
    killed = "a" * RUN
    young, old = (calls / f"{run_id * 24}.parquet" for run_id in "01")
    left = [calls / f"{killed}{'0' * (24 - RUN)}.parquet", old, target / "_staging" / "left.part"]
    for path in (*left, young):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"left by a killed process")
    os.utime(old, (time.time() - GRACE - 60,) * 2)
    (target / "_lock").write_text(LockRecord(killed, state="held").to_json(), encoding="utf-8")
    dataset.convert(logs, target, executor="serial", resume=True)

    assert [name for name in others if not (target / name).is_file()] == []
    assert [path for path in left if path.exists()] == []
    assert young.is_file()
    assert dataset.verify(target) == []


@pytest.mark.usefixtures("toys")
def test_a_log_that_ends_its_reader(logs: Path, tmp_path: Path) -> None:
    """It is found by halving, tried three times and put aside; all others of its batch are converted."""
    (logs / "host0" / "ora_0000a.toy").write_bytes(b"TOY DIE\n")
    done = dataset.convert(logs, tmp_path / "dataset", executor="processes:1")
    row = dataset.sources(tmp_path / "dataset").filter(pl.col("status") == "killed").row(0, named=True)

    assert done.counts == {"converted": LOGS, "killed": 1}
    assert row["message"] == "the process that read it ended, 3 times"
    assert dataset.convert(logs, tmp_path / "dataset", executor="processes:1", resume=True).skipped == LOGS + 1
    assert dataset.verify(tmp_path / "dataset") == []


@pytest.mark.usefixtures("toys")
def test_a_reader_that_never_ends(tmp_path: Path) -> None:
    """The limit of time puts the log aside, and says so; the others are converted."""
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "a.strace").write_bytes(trace(1))
    (logs / "b.toy").write_bytes(b"TOY HANG\n")
    done = dataset.convert(logs, tmp_path / "dataset", executor="processes:1", seconds=3)
    row = dataset.sources(tmp_path / "dataset").filter(pl.col("status") == "killed").row(0, named=True)

    assert done.counts == {"converted": 1, "killed": 1}
    assert statuses(tmp_path / "dataset") == {"a.strace": "converted", "b.toy": "killed"}
    assert row["message"] == "not read within the limit of 3 s"


def test_ctrl_c_keeps_what_is_committed(logs: Path, tmp_path: Path) -> None:
    """The exit code is 130, no process is left, and the next run goes on."""
    command = [sys.executable, "-m", "iolab", "convert", str(logs), "-o", str(tmp_path / "dataset")]
    code = "import sys, iolab.dataset.run as r; r.BATCH_SOURCES = 1; from iolab.cli import main; sys.exit(main())"
    first = [sys.executable, "-c", code, *command[3:], "--executor", "processes:1"]
    with subprocess.Popen(first, stderr=subprocess.PIPE, start_new_session=True) as driver:
        while not list((tmp_path / "dataset").glob("_commits/*")):
            time.sleep(0.05)
        os.killpg(driver.pid, signal.SIGINT)
        _, said = driver.communicate(timeout=60)
    committed = dataset.sources(tmp_path / "dataset").height
    again = run(logs, tmp_path / "dataset", resume=True)

    assert driver.returncode == 130
    assert b"--resume goes on" in said
    assert 0 < committed < LOGS
    assert again.counts == {"converted": LOGS - committed}
    assert_undisturbed(tmp_path / "dataset", logs, tmp_path)
