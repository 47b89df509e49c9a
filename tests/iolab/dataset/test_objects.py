"""A dataset on an object store is that on disk; its sources may be there, too."""

from __future__ import annotations

import os
import socket
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING

import boto3
import polars as pl
import pytest
from dataset_logs import PNG, content, run, trace
from object_store import failing, object_store
from polars.testing import assert_frame_equal

from iolab import dataset
from iolab.dataset.objects import ObjectStore
from iolab.dataset.store import TakenError
from logframe.errors import LogError, LogNotFoundError

#: Logs in the folder of a test.
LOGS = 6

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of an object store on this machine."""
    with object_store() as address:
        yield address


@pytest.fixture
def bucket(server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An empty bucket."""
    for name, value in (
        ("AWS_ENDPOINT_URL", server),
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
        ("AWS_REGION", "us-east-1"),
    ):
        monkeypatch.setenv(name, value)
    client = boto3.client("s3", region_name="us-east-1")
    client.create_bucket(Bucket="fleet")
    yield "s3://fleet"
    for one in client.list_objects_v2(Bucket="fleet").get("Contents", []):
        client.delete_object(Bucket="fleet", Key=one["Key"])
    client.delete_bucket(Bucket="fleet")


def upload(folder: Path, prefix: str) -> None:
    """Copy a folder to the bucket."""
    client = boto3.client("s3", region_name="us-east-1")
    for path in folder.rglob("*"):
        if path.is_file():
            client.put_object(Bucket="fleet", Key=f"{prefix}/{path.relative_to(folder)}", Body=path.read_bytes())


def assert_same(one: str | Path, other: str | Path, prefixes: tuple[str, str] = ("", "")) -> None:
    """Two datasets hold the same rows, whatever the sources are called before their common part."""
    first, second = content(one), content(other)
    assert first.keys() == second.keys()
    for table in first.keys() - {"_sources"}:
        a, b = (
            frame[table].select(pl.all().str.replace_all(prefix or "^$", "", literal=bool(prefix))).sort(pl.all())
            for frame, prefix in zip((first, second), prefixes, strict=True)
        )
        assert_frame_equal(a, b)


def test_a_dataset_on_an_object_store(logs: Path, bucket: str, tmp_path: Path) -> None:
    """Converted, continued, changed, compacted and verified there, with the rows of a dataset on disk."""
    dest = f"{bucket}/data/set"
    assert run(logs, dest).counts == {"converted": 6}
    run(logs, tmp_path / "dataset")
    assert_same(dest, tmp_path / "dataset")

    assert run(logs, dest, resume=True).skipped == 6
    (logs / "host0" / "ora_0000.strace").write_bytes(trace(77))
    assert run(logs, dest, resume=True).counts == {"converted": 1}
    run(logs, tmp_path / "fresh")
    assert_same(dest, tmp_path / "fresh")
    assert dataset.verify(dest) == []
    dataset.compact(dest)
    assert dataset.verify(dest) == []
    assert_same(dest, tmp_path / "fresh")


def test_processes_write_to_an_object_store(logs: Path, bucket: str) -> None:
    """Workers have the settings of the environment, too."""
    done = dataset.convert(logs, f"{bucket}/set", executor="processes:1")

    assert done.counts == {"converted": 6}
    assert dataset.verify(f"{bucket}/set") == []


def test_sources_on_an_object_store(logs: Path, bucket: str, tmp_path: Path) -> None:
    """A prefix names its objects; their ETags say what has changed."""
    upload(logs, "in")
    done = dataset.convert(f"{bucket}/in/", tmp_path / "dataset", executor="serial")
    run(logs, tmp_path / "local")

    assert done.counts == {"converted": 6}
    assert_same(tmp_path / "dataset", tmp_path / "local", (f"{bucket}/in", str(logs)))
    (logs / "host0" / "ora_0000.strace").write_bytes(trace(77))
    (logs / "picture.png").write_bytes(PNG)
    upload(logs, "in")
    again = dataset.convert(f"{bucket}/in/", tmp_path / "dataset", executor="serial", resume=True)
    assert again.counts == {"converted": 1, "unreadable": 1}
    one = dataset.convert(f"{bucket}/in/host1/ora_0001.strace", f"{bucket}/one", executor="serial")
    assert one.counts == {"converted": 1}


def test_an_interrupted_run_on_an_object_store(
    logs: Path, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next run removes what was not committed, and goes on."""
    monkeypatch.setattr("iolab.dataset.run.BATCH_SOURCES", 1)

    def stop(_: dataset.Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(logs, f"{bucket}/set", progress=stop)
    ObjectStore(f"{bucket}/set").put("strace/events/lost.parquet", b"half")
    assert run(logs, f"{bucket}/set", resume=True).counts == {"converted": 5}
    run(logs, tmp_path / "fresh")

    assert dataset.verify(f"{bucket}/set") == []
    assert_same(f"{bucket}/set", tmp_path / "fresh")


def test_answers_that_are_errors_after_the_write(
    logs: Path, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that has done what it was asked for and says 500: the run finds its own lock and commits there."""
    monkeypatch.setattr("iolab.dataset.run.BATCH_SOURCES", 1)
    with failing(os.environ["AWS_ENDPOINT_URL"]) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        assert run(logs, f"{bucket}/set").counts == {"converted": 6}
        run(logs, tmp_path / "fresh")
        assert_same(f"{bucket}/set", tmp_path / "fresh")


def test_a_lock_of_a_run_that_reads_for_long(logs: Path, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is renewed by a thread while the run lists sources; a record that another run wrote is found at once."""
    monkeypatch.setattr("iolab.dataset.objects.EXPIRES", 3.0)
    monkeypatch.setattr("iolab.dataset.objects._RENEWED", 0.2)
    store = ObjectStore(f"{bucket}/set")
    with store.lock("a" * 12) as lock:
        time.sleep(4)
        lock.check()
        with pytest.raises(LogError, match="is being written by process"):
            run(logs, f"{bucket}/set")
    with pytest.raises(TakenError, match="has taken the lock"), store.lock("b" * 12):
        store.put("_lock", b"another")


class Gate:
    """Forwards connections to an address, until it is cut.

    Args:
        address: ``http://host:port``.
    """

    def __init__(self, address: str) -> None:
        host, _, port = address.removeprefix("http://").partition(":")
        self._target = host, int(port)
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                pair = self._listener.accept()[0], socket.create_connection(self._target)
                self._open += pair
                for one, other in (pair, pair[::-1]):
                    Thread(target=self._copy, args=(one, other), daemon=True).start()

    @staticmethod
    def _copy(one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while data := one.recv(1 << 16):
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)

    def cut(self) -> None:
        """End all connections, and take no more."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for one in self._open:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


@pytest.mark.parametrize("remote", ["the dataset", "the sources"])
def test_a_connection_that_is_lost(
    logs: Path, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, remote: str
) -> None:
    """The run ends with an error that says so, no source is at fault, what is committed stays, and the next goes on."""
    monkeypatch.setattr("iolab.dataset.run.BATCH_SOURCES", 1)
    monkeypatch.setattr("iolab.dataset.run._CHUNK_FILES", 1)
    upload(logs, "in")
    source = logs if remote == "the dataset" else f"{bucket}/in/"
    dest = f"{bucket}/set" if remote == "the dataset" else tmp_path / "dataset"
    address = os.environ["AWS_ENDPOINT_URL"]
    gate = Gate(address)

    with monkeypatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", gate.address)
        with pytest.raises(LogError, match="s3://fleet/"):
            run(source, dest, progress=lambda _: gate.cut())
    monkeypatch.setattr("iolab.dataset.objects.EXPIRES", -5.0)
    found = dataset.sources(dest)

    assert found.get_column("status").to_list() == ["converted"]
    assert run(source, dest, resume=True).counts == {"converted": 5}
    run(logs, tmp_path / "fresh")
    assert dataset.verify(dest) == []
    assert_same(dest, tmp_path / "fresh", ("", "") if remote == "the dataset" else (f"{bucket}/in", str(logs)))


def test_credentials_that_fail(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error of the store is that of the run, for the dataset and for sources."""

    class Refuses(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

        def do_GET(self) -> None:
            body = b"<Error><Code>InvalidAccessKeyId</Code><Message>The key does not exist</Message></Error>"
            self.send_response(403)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(b"" if self.command == "HEAD" else body)

        do_PUT = do_HEAD = do_GET  # noqa: N815 - names of the library

    with ThreadingHTTPServer(("127.0.0.1", 0), Refuses) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        for name, value in (
            ("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}"),
            ("AWS_ACCESS_KEY_ID", "wrong"),
            ("AWS_SECRET_ACCESS_KEY", "wrong"),
            ("AWS_REGION", "us-east-1"),
        ):
            monkeypatch.setenv(name, value)
        with pytest.raises((LogError, PermissionError), match=r"s3://fleet/set|403"):
            run(logs, "s3://fleet/set")
        with pytest.raises((LogError, PermissionError), match=r"s3://fleet/in|403"):
            run("s3://fleet/in/", tmp_path / "dataset")
        server.shutdown()


def test_refusals(logs: Path, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two writers, an empty prefix, a bucket that is not there, another scheme: each an error that says why."""
    store = ObjectStore(f"{bucket}/set")

    assert store.put_new("key", b"first")
    assert not store.put_new("key", b"second")
    assert store.read("key") == b"first"
    store.delete("key")
    with store.lock("0" * 12), pytest.raises(LogError, match="is being written by process"):
        run(logs, f"{bucket}/set")
    with pytest.raises(LogNotFoundError, match="no object"):
        run("s3://fleet/nothing/", f"{bucket}/set")
    with pytest.raises((LogError, FileNotFoundError), match="nobucket"):
        run(logs, "s3://nobucket/set")
    with pytest.raises(LogError, match="no s3://"):
        run(logs, "gs://fleet/set")
    monkeypatch.setattr("iolab.dataset.objects.EXPIRES", -5.0)
    store.put("_lock", b"{}")
    assert run(logs, f"{bucket}/set", resume=True).counts == {"converted": 6}
