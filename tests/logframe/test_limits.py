"""Limits of what is opened, and the sources that need them."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import random
import tarfile
import threading
import zipfile
from typing import TYPE_CHECKING

import pytest
import zstandard

from logframe import LogParseError, open_logs
from logframe.errors import LogError
from logframe.limits import current, limits, parsed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LINE = b"12:00:00.000001 close(3) = 0 <0.000004>\n"
PACK = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, "zstd": zstandard.compress}


def tarred(members: dict[str, bytes], mode: str = "w") -> bytes:
    """A tar archive, with a folder in it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        folder = tarfile.TarInfo("logs")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


@pytest.mark.parametrize("pack", PACK.values(), ids=PACK)
def test_a_bomb_is_refused(pack: Callable[[bytes], bytes]) -> None:
    """Data that grows beyond the ratio is refused, and the error names the limit."""
    packed = pack(bytes(200 << 20))

    with limits(max_ratio=300), pytest.raises(LogParseError, match="more than 300 times as many") as caught:
        open_logs(packed)
    assert "max_ratio" in caught.value.expected


@pytest.mark.parametrize("pack", PACK.values(), ids=PACK)
def test_many_streams_and_padding(pack: Callable[[bytes], bytes]) -> None:
    """Streams one after the other are one log, and zeros after them are padding."""
    data = LINE * 50_000
    (log,) = open_logs(pack(data) * 3 + bytes(512))

    assert log.text().encode() == data * 3


def test_max_bytes() -> None:
    """The error names the limit, and a higher limit lets the log pass."""
    packed = gzip.compress(LINE * 1000)
    with limits(max_bytes=1000), pytest.raises(LogParseError, match="more than 1,000 bytes") as caught:
        open_logs(packed)
    assert "max_bytes" in caught.value.expected
    assert len(open_logs(packed)[0].lines()) == 1000


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz"])
def test_members_of_a_tar_archive(mode: str) -> None:
    """Each file of a tar archive is a log, compressed or not."""
    found = open_logs(
        {"name": "logs.tar", "content": tarred({"logs/a": LINE, "logs/b.gz": gzip.compress(LINE * 2)}, mode)}
    )

    assert [(log.name, len(log.lines())) for log in found] == [("logs.tar/logs/a", 1), ("logs.tar/logs/b.gz", 2)]


def test_archives_within_archives() -> None:
    """One level is opened."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("inner.tar", tarred({"a": LINE}))
    with pytest.raises(LogParseError, match="an archive within an archive"):
        open_logs(out.getvalue())


def test_too_many_members() -> None:
    """The count of members has a limit, of a folder as of an archive."""
    archive = tarred({str(number): LINE for number in range(5)})
    with limits(max_members=3), pytest.raises(LogParseError, match="more than 3 members"):
        open_logs(archive)


@pytest.mark.parametrize("damage", [slice(0, 700), slice(0, 512)])
def test_a_damaged_tar(damage: slice) -> None:
    """It is refused as a damaged archive, never with another exception."""
    with pytest.raises(LogParseError, match=r"damaged|empty"):
        open_logs(tarred({"a": LINE * 100})[damage] + b"x")


def test_a_device_that_never_ends() -> None:
    """What never ends is refused at the limit of streams."""
    with limits(max_stream_bytes=1 << 20), pytest.raises(LogParseError, match="more than 1,048,576 bytes") as caught:
        open_logs("/dev/zero")
    assert "max_stream_bytes" in caught.value.expected


def test_a_pipe_with_a_name(tmp_path: Path) -> None:
    """A FIFO is read like a file, as process substitution gives one."""
    path = tmp_path / "pipe"
    os.mkfifo(path)

    def feed() -> None:
        path.write_bytes(LINE * 3)

    writer = threading.Thread(target=feed)
    writer.start()
    (log,) = open_logs(path)
    writer.join()

    assert len(log.lines()) == 3


@pytest.mark.parametrize("url", ["http://example.invalid/a.log", "s3://bucket/a.log", "HTTPS://example.invalid/a"])
def test_urls_are_opened_only_where_asked_for(url: str) -> None:
    """No reader asks a network unless the limits say so."""
    with pytest.raises(LogParseError, match="URLs are not opened") as caught:
        open_logs(url)
    assert "allow_urls" in caught.value.expected
    with limits(allow_urls=True):
        assert open_logs(url)[0].target == url


@pytest.mark.parametrize("url", ["s3://bucket/in/*.html", "gs://bucket/in/a[12].log", "s3://bucket/in/"])
def test_several_objects_are_no_log(url: str) -> None:
    """Objects that a pattern names would be read as one log, whose rows nobody can tell apart."""
    with limits(allow_urls=True), pytest.raises(LogParseError, match="several logs"):
        open_logs(url)


def test_files_of_another_host() -> None:
    """``file://host/`` asks another machine."""
    with pytest.raises(LogParseError, match="files of the host elsewhere"):
        open_logs("file://elsewhere/etc/hosts")


def test_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names that a shell, a URL parser or Polars would take for something else."""
    monkeypatch.chdir(tmp_path)
    for name in (b"~tilde.strace", b"caf\xe9.log", b"a[1].log", b"q?.log", b"//[a".replace(b"/", b"_")):
        with open(name, "wb") as file:  # noqa: PTH123 - the name is bytes
            file.write(LINE)
        (log,) = open_logs(os.fsdecode(name))
        assert log.scan().collect().height == 1, name
        log.name.encode()
    with pytest.raises(LogParseError):
        open_logs("//[a")


def test_no_encoding_of_text() -> None:
    """A codec of Python that does not decode bytes is refused."""
    with pytest.raises(LogParseError, match="no encoding of text"):
        open_logs(b"caf\xe9", encoding="rot13")


def test_limits_of_a_command_line() -> None:
    """Numbers with a unit, and what is neither."""
    assert parsed("max_stream_bytes=2M") == {"max_stream_bytes": 2 << 20}
    for text in ("max_bytes", "=3", "max_bytes=x", "max_bytes=-1"):
        with pytest.raises(LogError, match="a limit is NAME=NUMBER"):
            parsed(text)
    with pytest.raises(LogError, match="no limit 'depth'"), limits(depth=3):
        pass
    assert current().max_ratio == 1000


def test_damaged_directories_of_archives() -> None:
    """Whatever byte of an archive is another, it is read or refused with the project's own error."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.log", LINE * 20)
    chance = random.Random(5)  # noqa: S311 - cases, not secrets
    for data in (out.getvalue(), tarred({"a.log": LINE * 20})):
        for _ in range(300):
            damaged = bytearray(data)
            for _ in range(chance.choice((1, 2, 5))):
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
            with contextlib.suppress(LogParseError):
                open_logs(bytes(damaged))
