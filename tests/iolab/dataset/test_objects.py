"""A dataset on an object store is that on disk; its sources may be there, too."""

from __future__ import annotations

from contextlib import redirect_stderr
from io import StringIO
from typing import TYPE_CHECKING

import boto3
import polars as pl
import pytest
from dataset_logs import PNG, content, run, trace
from moto.server import ThreadedMotoServer
from polars.testing import assert_frame_equal

from iolab import dataset
from iolab.dataset.objects import ObjectStore
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
    with redirect_stderr(StringIO()):
        found = ThreadedMotoServer(port=0, verbose=False)
        found.start()
        host, port = found.get_host_and_port()
        yield f"http://{host}:{port}"
        found.stop()


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


def test_refusals(logs: Path, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two writers, an empty prefix, a bucket that is not there, another scheme: each an error that says why."""
    store = ObjectStore(f"{bucket}/set")

    assert store.put_new("key", b"first")
    assert not store.put_new("key", b"second")
    assert store.read("key") == b"first"
    store.delete("key")
    with store.lock(), pytest.raises(LogError, match="is being written by process"):
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
