"""Output appears whole under its name or not at all."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from iolab import write_report
from logframe.atomic import new_folder, replacing
from logframe.errors import LogError
from straceparse.cli import main

#: Writes one text after the other, for ever.
WRITER = """
import sys
from logframe.atomic import replacing

print("ready", flush=True)
while True:
    for text in sys.argv[2:]:
        with replacing(sys.argv[1]) as out, out.open("w") as file:
            for _ in range(100_000):
                file.write(text)
"""
TRACE = Path(__file__).parents[2] / "sample_data/captures/async_direct_r.strace"


def test_an_error_leaves_the_old_file(tmp_path: Path) -> None:
    """What fails within the block changes nothing, and leaves no part."""
    path = tmp_path / "out.txt"
    path.write_text("old")

    def fail() -> None:
        with replacing(path) as out:
            out.write_text("half")
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        fail()

    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_input_is_never_overwritten(tmp_path: Path) -> None:
    """By its identity, whatever it is called."""
    log = tmp_path / "x.csv"
    log.write_bytes(TRACE.read_bytes())
    link = tmp_path / "link.csv"
    link.symlink_to(log)

    assert main(["-o", str(link), str(log)]) == 1
    with pytest.raises(LogError, match="is one of the inputs"):
        write_report(log, link)
    assert log.read_bytes() == TRACE.read_bytes()


def test_a_killed_writer(tmp_path: Path, *, is_whole: bool) -> None:
    """Killed at random moments: the old content or the new one, nothing between, and the next try works."""
    path = tmp_path / "out.txt"
    old, new = "old" * 100_000, "new" * 100_000
    command = [sys.executable, "-c", WRITER, str(path), "old", "new"]
    for attempt in range(50 if is_whole else 15):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(random.Random(attempt).uniform(0, 0.05))  # noqa: S311 - moments, not secrets
            writer.send_signal(signal.SIGKILL)
        if path.exists():
            assert path.read_text() in (old, new)
        for part in tmp_path.glob("*.part"):
            part.unlink()
    with replacing(path) as out:
        out.write_text(new)
    assert path.read_text() == new


def test_a_full_disk(tmp_path: Path) -> None:
    """A small file system that fills up: the old page stays, and no part is left."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        page = disk / "page.html"
        page.write_text("old page")
        with pytest.raises(OSError, match="No space left"):
            write_report(TRACE, page)
        assert page.read_text() == "old page"
        assert [one.name for one in disk.iterdir()] == ["page.html"]
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """One error that names the place."""
    if os.geteuid() == 0:
        pytest.skip("the superuser may write everywhere")
    tmp_path.chmod(0o500)
    with pytest.raises(OSError, match="Permission denied"), replacing(tmp_path / "x") as out:
        out.write_text("x")


def test_parts_of_killed_processes_are_removed(tmp_path: Path) -> None:
    """The next writer of the same output removes them; those that are fresh, of living processes or of others stay."""
    path = tmp_path / "frames"
    code = """
import os, sys
from logframe.atomic import new_folder, replacing
with new_folder(sys.argv[1]) as folder, replacing(sys.argv[1] + ".csv") as file:
    (folder / "a.parquet").write_text("half")
    file.write_text("half")
    os._exit(9)
"""
    for _ in range(2):
        subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    left = sorted(tmp_path.glob(".*.part"))
    assert len(left) == 4
    old = time.time() - 100_000
    for part in left[::2]:
        os.utime(part, (old, old))
    alive = tmp_path / left[0].name.replace(left[0].name.split("-")[1], str(os.getpid()))
    other = tmp_path / f".frames.csv.00000000-{left[0].name.split('-')[1]}-abc.part"
    for part in (alive, other):
        part.write_text("half")
        os.utime(part, (old, old))

    with new_folder(path) as folder, replacing(f"{path}.csv") as file:
        (folder / "a.parquet").write_text("whole")
        file.write_text("whole")

    assert sorted(tmp_path.glob(".*.part")) == sorted([left[1], left[3], alive, other])
    assert (path / "a.parquet").read_text() == "whole"


def test_what_is_no_file_is_written_to(tmp_path: Path) -> None:
    """A device and a pipe stay what they are, and get the bytes."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE)
    with replacing(pipe) as out:
        out.write_bytes(b"whole")
    assert reader.communicate(timeout=20)[0] == b"whole"
    assert pipe.is_fifo()

    with replacing("/dev/null") as out:
        out.write_bytes(b"nothing")
    assert Path("/dev/null").is_char_device()
    code = "from logframe.atomic import replacing\nwith replacing('/dev/stdout') as out: out.write_text('said')"
    said = tmp_path / "said.txt"
    with said.open("wb") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
    assert said.read_text() == "said"


def test_links_modes_and_owners_are_kept(tmp_path: Path) -> None:
    """A link leads to the new page, and a private page stays private."""
    (tmp_path / "www").mkdir()
    page, link = tmp_path / "www" / "page.html", tmp_path / "page.html"
    page.write_text("old")
    page.chmod(0o600)
    link.symlink_to(page)
    if os.geteuid() == 0:
        os.chown(page, 1234, 1234)

    with replacing(link) as out:
        out.write_text("new")

    assert link.is_symlink()
    assert page.read_text() == link.read_text() == "new"
    assert page.stat().st_mode & 0o777 == 0o600
    assert page.stat().st_uid == (1234 if os.geteuid() == 0 else os.geteuid())
    assert sorted(one.name for one in (tmp_path / "www").iterdir()) == ["page.html"]
