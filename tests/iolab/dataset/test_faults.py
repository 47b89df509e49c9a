"""Runs that end, or stand still, at any operation on the store: each log once, nothing of others removed, no fault.

`IOLAB_KILLS` says how many points are drawn of each kind; 20 by hand.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from threading import Event, Thread
from typing import TYPE_CHECKING

import boto3
import pytest
from dataset_logs import content, run, trace, write_logs
from object_store import failing, object_store
from polars.testing import assert_frame_equal

from iolab import dataset
from iolab.dataset.changing import writing
from iolab.dataset.commits import live_commits
from iolab.dataset.objects import ObjectStore, open_store
from iolab.dataset.store import LOCK, LocalStore, TakenError
from logframe.errors import LogError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import polars as pl

#: How many points are drawn.
POINTS = int(os.environ.get("IOLAB_KILLS", "2"))
#: Logs in the folder of a test.
LOGS = 5
_OPERATIONS = ("read", "put", "put_new", "put_if", "take", "entries", "delete")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


class Ended(BaseException):
    """The process of a run ends."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of an object store on this machine."""
    with object_store() as address:
        yield address


@pytest.fixture
def bucket(server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A bucket; locks expire at once."""
    settings = {"ENDPOINT_URL": server, "ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b", "REGION": "us-east-1"}
    for name, value in settings.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setattr("iolab.dataset.objects.EXPIRES", -60.0)
    boto3.client("s3").create_bucket(Bucket="fleet")
    return "s3://fleet"


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many commits, and a checkpoint after every four."""
    monkeypatch.setattr("iolab.dataset.run.BATCH_SOURCES", 1)
    monkeypatch.setattr("iolab.dataset.commits.FOLD", 2)


def hook(monkeypatch: pytest.MonkeyPatch, kind: type, called: Callable[[object, bool], None]) -> None:
    """Call a function before and after each operation of a store, with the store and whether it is done."""
    for name in _OPERATIONS:
        if (real := getattr(kind, name, None)) is not None:

            def operation(store: object, *arguments: object, _real: Callable[..., object] = real) -> object:
                called(store, False)
                found = _real(store, *arguments)
                called(store, True)
                return found

            monkeypatch.setattr(kind, name, operation)


def convert(logs: Path, dest: str | Path) -> None:
    """One run of few tables."""
    run(logs, dest, resume=True, tables=["events", "statements"])  # type: ignore[arg-type]


def convert_until(number: int, logs: Path, dest: str | Path, kind: type) -> bool:
    """A run that ends at a step, before or after an operation; whether it came to it."""
    steps = [0]

    def step(*_: object) -> None:
        steps[0] += 1
        if steps[0] >= number:
            raise Ended

    with pytest.MonkeyPatch.context() as patch:
        hook(patch, kind, step)
        try:
            convert(logs, dest)
        except Ended:
            return True
        except (LogError, OSError):
            return steps[0] >= number
    return False


def steps_of(logs: Path, dest: str | Path, kind: type) -> int:
    """How many steps a whole run has."""
    steps = [0]
    with pytest.MonkeyPatch.context() as patch:
        hook(patch, kind, lambda *_: steps.__setitem__(0, steps[0] + 1))
        convert(logs, dest)
    return steps[0]


def change(logs: Path, seed: int) -> None:
    """Another content of one log, and one log more."""
    (logs / "host0" / "ora_0000.strace").write_bytes(trace(seed + 100))
    (logs / "host0" / f"ora_new_{seed}.strace").write_bytes(trace(seed + 200))


def assert_whole(dest: str | Path, expected: dict[str, pl.DataFrame], files: set[str]) -> None:
    """A dataset holds these rows, no file of no batch, and what others put there."""
    assert dataset.verify(dest) == []
    found = content(dest)
    assert expected.keys() == found.keys()
    for table in expected.keys() - {"_sources"}:
        assert_frame_equal(expected[table], found[table])
    store = open_store(dest)
    live = {file.key for one in live_commits(store).values() for file in one.files if file.table[0] != "_"}
    assert {entry.key for entry in store.entries() if entry.key[0] != "_"} == live | files


@pytest.mark.parametrize("seed", range(POINTS))
def test_a_run_on_disk_that_ends_anywhere(tmp_path: Path, seed: int) -> None:
    """Of a first run and of one over changed logs; the next one completes it, and others' files stay."""
    _ends_anywhere(tmp_path, tmp_path / "dataset", LocalStore, seed)


@pytest.mark.parametrize("seed", range(POINTS))
def test_a_run_on_an_object_store_that_ends_anywhere(
    bucket: str, server: str, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same, where requests fail by chance."""
    with failing(server, seed) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        _ends_anywhere(tmp_path, f"{bucket}/ends{seed}", ObjectStore, seed)


def _ends_anywhere(tmp_path: Path, dest: str | Path, kind: type, seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - a case, not a secret
    logs = tmp_path / "logs"
    write_logs(logs, LOGS)
    most = steps_of(logs, tmp_path / "counted", LocalStore)
    store = kind(str(dest))
    files = {"notes.md", "strace/events/mine.parquet"}
    for changed in (False, True):
        if changed:
            change(logs, seed)
            for name in files:
                store.put(name, b"mine")
        convert_until(draw.randint(1, most), logs, dest, kind)
        for _ in range(9):  # where an answer does not come, a run may end with an error
            try:
                convert(logs, dest)
                break
            except (LogError, OSError):
                continue
    convert(logs, dest)
    convert(logs, tmp_path / "undisturbed")

    assert_whole(dest, content(tmp_path / "undisturbed"), files)


@pytest.mark.parametrize("seed", range(POINTS))
def test_a_run_that_stands_still(bucket: str, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another run takes its lock and completes the dataset; the first one goes on, notices it and changes nothing."""
    monkeypatch.setattr("iolab.dataset.objects._RENEWED", 0.05)
    draw = random.Random(seed)  # noqa: S311 - a case, not a secret
    logs = tmp_path / "logs"
    write_logs(logs, LOGS)
    most = steps_of(logs, tmp_path / "counted", LocalStore)
    dest, number = f"{bucket}/still{seed}", draw.randint(10, most)
    stands, goes_on = Event(), Event()
    first: list[object] = []
    steps = [0]
    error: list[BaseException | None] = []

    def step(store: object, _: bool) -> None:  # noqa: FBT001 - of `hook`
        first[:] = first or [store]
        if store is first[0]:
            steps[0] += 1
            if steps[0] >= number:
                stands.set()
                goes_on.wait()

    def suspended() -> None:
        try:
            convert(logs, dest)
            error.append(None)
        except BaseException as raised:  # noqa: BLE001 - looked at below
            error.append(raised)
        finally:
            stands.set()

    hook(monkeypatch, ObjectStore, step)
    other = Thread(target=suspended)
    other.start()
    stands.wait()
    convert(logs, dest)
    committed = content(dest)
    goes_on.set()
    other.join()
    convert(logs, tmp_path / "undisturbed")

    assert isinstance(error[0], LogError) or steps[0] < number
    for table, rows in content(dest).items():
        assert_frame_equal(rows, committed[table])
    assert_whole(dest, content(tmp_path / "undisturbed"), set())


def test_a_file_that_another_run_removed(tmp_path: Path) -> None:
    """A run that misses a file says that it lost its lock, where it did; else that the file is missing."""
    store = LocalStore(str(tmp_path / "dataset"))
    with pytest.raises(FileNotFoundError), writing(store):
        store.read("no such file")
    with pytest.raises(TakenError), writing(store):  # noqa: PT012 - the lock goes while the run is on
        (tmp_path / "dataset" / LOCK).unlink()
        store.read("a file that the other run removed")


DRIVER = """
import sys
import iolab.dataset.run as run
import iolab.dataset.objects as objects
from iolab import dataset
run.BATCH_SOURCES, objects.EXPIRES, objects._RENEWED = 1, 2.0, 0.3
if __name__ == "__main__":
    show = lambda one: print("x", flush=True)
    dataset.convert(sys.argv[1], sys.argv[2], executor=sys.argv[3], resume=True, tables=["events"], progress=show)
"""


def test_processes_that_are_killed_or_stopped(bucket: str, server: str, tmp_path: Path) -> None:
    """A driver is killed, another one stopped for longer than its lock; a third completes the dataset."""
    draw = random.Random(POINTS)  # noqa: S311 - a case, not a secret
    logs, script = tmp_path / "logs", tmp_path / "driver.py"
    write_logs(logs, LOGS + POINTS)
    script.write_text(DRIVER, encoding="utf-8")
    dest = f"{bucket}/processes"
    command = [sys.executable, str(script), str(logs), dest, "serial"]
    stopped: list[subprocess.Popen[str]] = []
    with failing(server, POINTS) as address:
        environment = {**os.environ, "AWS_ENDPOINT_URL": address}
        for number in range(max(2, POINTS // 2)):
            with subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
            ) as driver:
                assert driver.stdout is not None
                driver.stdout.readline()
                time.sleep(draw.random() / 2)
                if number % 2:
                    driver.kill()
                    continue
                driver.send_signal(signal.SIGSTOP)
                time.sleep(2.5)
                subprocess.run(command, check=False, capture_output=True, env=environment)
                was_over = driver.poll() is not None
                driver.send_signal(signal.SIGCONT)
                stopped.append(driver)
                driver.communicate(timeout=60)
                assert was_over or driver.returncode == 1
            time.sleep(2.5)
    subprocess.run([*command[:-1], "serial"], check=True, capture_output=True)
    run(logs, tmp_path / "undisturbed", tables=["events"])

    assert stopped
    assert_whole(dest, content(tmp_path / "undisturbed"), set())
