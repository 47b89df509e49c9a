"""Data sets of events: the folder appears whole or not at all, wherever it is, and nothing is lost."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from logframe import LogError, LogParseError
from straceparse import read_strace, to_parquet

LOG = "\n".join(f"1795253115.{place:06d} close({place}) = 0 <0.000041>" for place in range(5000)).encode()


@pytest.mark.parametrize("name", ["out", "a/b/out", "./out", "out/"])
def test_a_relative_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The files are where the caller asked, and the paths that come back exist."""
    monkeypatch.chdir(tmp_path)
    files = to_parquet(LOG, name, lines_per_file=2000)

    assert [file.as_posix() for file in files] == [(Path(name) / f"part-0000{n}.parquet").as_posix() for n in range(3)]
    assert all(file.is_file() for file in files)
    assert pl.read_parquet(files).equals(read_strace(LOG))
    assert [path.name for path in tmp_path.rglob("*.part")] == []
    with pytest.raises(FileExistsError, match="not empty"):
        to_parquet(LOG, name)


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    """A folder that was made before is as good as a new one."""
    (tmp_path / "out").mkdir()

    assert len(to_parquet(LOG, tmp_path / "out")) == 1


def test_a_url_is_refused_before_anything_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No folder named ``s3:`` appears."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LogError, match="is a URL"):
        to_parquet(LOG, "s3://lake/x")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("seed", range(4))
def test_bytes_that_are_no_log_make_no_data_set(tmp_path: Path, seed: int) -> None:
    """Whatever its name is, alone or beside a log; a log that ends in its first call is one."""
    noise = tmp_path / "noise.strace"
    noise.write_bytes(random.Random(seed).randbytes(20_000).replace(b"\0", b"\xff"))  # noqa: S311 - test data
    (tmp_path / "log.strace").write_bytes(LOG)
    for source in (noise, [tmp_path / "log.strace", noise]):
        with pytest.raises(LogParseError, match="no line of it is one of strace's") as caught:
            to_parquet(source, tmp_path / "out")
        assert Path(caught.value.source).name == "noise.strace"

    assert not (tmp_path / "out").exists()
    assert len(to_parquet(b'read(3, "cut', tmp_path / "out")) == 1


def test_a_fault_leaves_nothing(tmp_path: Path) -> None:
    """Whatever stops the writing, the folder is not there, and a retry works."""

    def stop(_: int) -> None:
        raise RuntimeError("stopped")

    with pytest.raises((RuntimeError, pl.exceptions.PolarsError)):
        to_parquet(LOG, tmp_path / "out", lines_per_file=100, progress=stop)

    assert list(tmp_path.iterdir()) == []
    assert len(to_parquet(LOG, tmp_path / "out")) == 1


def test_a_killed_process_leaves_no_data_set(tmp_path: Path) -> None:
    """The name is free until every file is complete."""
    source = tmp_path / "log.strace"
    source.write_bytes(LOG * 60)
    code = "import sys, straceparse; straceparse.to_parquet(sys.argv[1], sys.argv[2], lines_per_file=1000)"
    for place in range(3):
        out = tmp_path / f"out{place}"
        with subprocess.Popen([sys.executable, "-c", code, str(source), str(out)], env=os.environ) as process:
            while process.poll() is None and not list(tmp_path.glob(f".out{place}.*.part/part-0000[1-9]*")):
                time.sleep(0.005)
            process.kill()

        assert process.returncode == 0 or not out.exists()
