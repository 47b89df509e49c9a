"""Magic bytes."""

import pytest

from logframe.unpack import compression_of, refused_format


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (b"\x1f\x8b\x08\x00", "gzip"),
        (b"BZh9", "bzip2"),
        (b"BZhere is text", None),
        (b"\xfd7zXZ\x00", "xz"),
        (b"\x5d\x00\x00\x80\x00" + b"\xff" * 8, "lzma"),
        (b"\x5d\x00\x00\x00\x01\xd2\x04\x00\x00\x00\x00\x00\x00", "lzma"),
        (b"\x5d\x00\x00\x80", None),
        ("] \N{LATIN SMALL LETTER A WITH MACRON}".encode("utf-16-le") * 3, None),
        ("]\N{LATIN CAPITAL LETTER A WITH MACRON} is text".encode("utf-16-le"), None),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"PK\x03\x04", "zip"),
        (b"PK is text", None),
        (b"", None),
    ],
)
def test_compression_of(start: bytes, expected: str | None) -> None:
    """Compressed data is distinguished from text that begins alike."""
    assert compression_of(start) == expected


@pytest.mark.parametrize("start", [b"", b"12:00:01 read(3", b"WORKLOAD REPOSITORY", b"<html>", b"SQL> select"])
def test_logs_are_not_refused(start: bytes) -> None:
    """No text log begins like one of the refused formats."""
    assert refused_format(start) is None
