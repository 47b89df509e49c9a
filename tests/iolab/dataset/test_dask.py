"""A Dask cluster gives the dataset of one process; workers and the scheduler may end at any time."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import dask
import distributed  # noqa: F401 - its settings
import pytest
from dask.utils import parse_timedelta
from dataset_logs import assert_undisturbed, kill_one

from iolab import dataset
from iolab.dataset.executors import DaskCluster, UnreachableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KILLS = int(os.environ.get("IOLAB_KILLS", "1"))
#: Logs in the folder of a test.
LOGS = 12 + 4 * KILLS

pytestmark = pytest.mark.filterwarnings("ignore")  # those of Dask are not this project's


def test_workers_of_a_cluster_are_killed(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their sources are read by others."""
    monkeypatch.setattr("iolab.dataset.run.BATCH_SOURCES", 2)
    draw = random.Random(3)  # noqa: S311 - a case, not a secret
    cluster = DaskCluster.local(2)
    killed: list[int] = []

    def kill(_: dataset.Progress) -> None:
        if len(killed) < KILLS:
            kill_one(list(cluster._client.run(os.getpid).values()), killed, draw)  # noqa: SLF001 - what the test started

    try:
        done = dataset.convert(logs, tmp_path / "dataset", executor=cluster, progress=kill)
    finally:
        cluster.close()

    assert (done.counts, len(killed)) == ({"converted": LOGS}, KILLS)
    assert_undisturbed(tmp_path / "dataset", logs, tmp_path)


@contextmanager
def scheduler() -> Iterator[tuple[subprocess.Popen[bytes], subprocess.Popen[bytes], int]]:
    """A scheduler with one worker, in processes of their own, and its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen([*dask, "--no-dashboard"], **quiet) as one:
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", f"tcp://127.0.0.1:{port}", "--nthreads", "1"]
        with subprocess.Popen([*worker, "--no-dashboard", "--death-timeout", "120"], **quiet) as other:
            try:
                yield one, other, port
            finally:
                one.kill()
                other.terminate()


def test_the_scheduler_is_killed(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run ends with an error that says so, what is committed stays, and another cluster goes on."""
    monkeypatch.setattr("iolab.dataset.run.BATCH_SOURCES", 2)
    monkeypatch.setattr("iolab.dataset.executors._PATIENCE", 120.0)  # a worker starts slowly on a busy machine
    dest = tmp_path / "dataset"
    for number in range(KILLS):
        with scheduler() as (process, _, port):

            def kill(_: dataset.Progress, process: subprocess.Popen[bytes] = process) -> None:
                process.kill()

            with pytest.raises(UnreachableError, match="--resume"):
                dataset.convert(logs, dest, executor=f"dask://127.0.0.1:{port}", progress=kill, resume=number > 0)
    committed = dataset.sources(dest).height
    done = dataset.convert(logs, dest, executor="dask-local:1", resume=True)

    assert KILLS <= committed < LOGS
    assert done.counts == {"converted": LOGS - committed}
    assert_undisturbed(dest, logs, tmp_path)


def test_the_last_worker_ends(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster that has no worker any more is given up after a while; what is committed stays."""
    monkeypatch.setattr("iolab.dataset.run.BATCH_SOURCES", 2)
    monkeypatch.setattr("iolab.dataset.executors._ALONE", 2.0)
    monkeypatch.setattr("iolab.dataset.executors._COUNTED", 0.5)
    with scheduler() as (_, worker, port):

        def end(_: dataset.Progress) -> None:
            worker.terminate()
            worker.wait()

        with pytest.raises(UnreachableError, match="had no worker for 2 s; what is committed stays"):
            dataset.convert(logs, tmp_path / "dataset", executor=f"dask://127.0.0.1:{port}", progress=end)

    committed = dataset.sources(tmp_path / "dataset").height
    assert 0 < committed < LOGS
    assert dataset.convert(logs, tmp_path / "dataset", executor="serial", resume=True).skipped == committed


def test_a_scheduler_without_workers(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error says that the scheduler answers, and has no worker."""
    with scheduler() as (_, worker, port):
        worker.kill()
        worker.wait()
        monkeypatch.setattr("iolab.dataset.executors._PATIENCE", 20.0)
        with pytest.raises(UnreachableError, match="has no worker"):
            dataset.convert(logs, tmp_path / "dataset", executor=f"dask://127.0.0.1:{port}")


def test_a_worker_that_starts_slowly_stays() -> None:
    """A local cluster waits for a worker that was killed for as long as it takes; the setting ends with the cluster."""
    before = dask.config.get("distributed.deploy.lost-worker-timeout")
    cluster = DaskCluster.local(1)
    try:
        assert parse_timedelta(dask.config.get("distributed.deploy.lost-worker-timeout")) >= 3600
    finally:
        cluster.close()
    assert dask.config.get("distributed.deploy.lost-worker-timeout") == before


def test_a_scheduler_that_is_not_there(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error says which address does not answer."""
    monkeypatch.setattr("iolab.dataset.executors._PATIENCE", 0.5)

    with pytest.raises(UnreachableError, match=r"127\.0\.0\.1:9 does not answer"):
        dataset.convert(logs, tmp_path / "dataset", executor="dask://127.0.0.1:9")


#: A run whose scheduler is killed at the first commit, as a command would end it.
KILL_SCHEDULER = """
import os, signal, sys
from iolab import dataset
from iolab.dataset import executors, run

logs, dest, port, scheduler = sys.argv[1:]
run.BATCH_SOURCES, executors._PATIENCE = 2, 240.0
def kill(_): os.kill(int(scheduler), signal.SIGKILL)
try:
    dataset.convert(logs, dest, executor=f"dask://127.0.0.1:{port}", progress=kill)
except executors.UnreachableError as error:
    sys.exit(f"iolab: {error}")
"""


def test_b16_a_dead_scheduler_leaves_one_line_and_no_traceback(logs: Path, tmp_path: Path) -> None:
    """All that a user sees of a scheduler that died is the sentence that says what to do: no traceback of asyncio."""
    with scheduler() as (process, _, port):
        done = subprocess.run(
            [sys.executable, "-c", KILL_SCHEDULER, str(logs), str(tmp_path / "dataset"), str(port), str(process.pid)],
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )

    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        "iolab: the Dask scheduler does not answer any more; what is committed stays: --resume goes on\n"
    )
