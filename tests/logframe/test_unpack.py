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
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"PK\x03\x04", "zip"),
        (b"PK is text", None),
        (b"", None),
    ],
)
def test_compression_of(start: bytes, expected: str | None) -> None:
    """Compressed data is told from text that begins alike."""
    assert compression_of(start) == expected


@pytest.mark.parametrize("start", [b"", b"12:00:01 read(3", b"WORKLOAD REPOSITORY", b"<html>", b"SQL> select"])
def test_logs_are_not_refused(start: bytes) -> None:
    """No text log begins like one of the refused formats."""
    assert refused_format(start) is None
