"""What is kept between runs: files in the user's cache folder, each with a hash of its content at the start.

A file that cannot be read, is damaged or cannot be written is no error: what it holds is made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
from pathlib import Path
from typing import Final

_DIGEST: Final = hashlib.sha256().digest_size


def cache_folder(kind: str) -> Path:
    """The folder of one kind of files: in ``$XDG_CACHE_HOME`` or the system's usual place."""
    if named := os.environ.get("XDG_CACHE_HOME"):
        return Path(named) / "iolab" / kind
    usual = "~/Library/Caches" if sys.platform == "darwin" else "~/.cache"
    return Path(os.path.expanduser(usual)) / "iolab" / kind  # noqa: PTH111 - Path.expanduser raises where there is no home


def signed(magic: bytes, body: bytes) -> bytes:
    r"""A content as it is kept: what it is, its hash, and itself.

    Examples:
        >>> body_of(b"a note\n", signed(b"a note\n", b"text"))
        b'text'
    """
    return magic + hashlib.sha256(body).digest() + body


def body_of(magic: bytes, data: bytes) -> bytes:
    """The content of what `signed` gave.

    Raises:
        ValueError: the bytes are damaged, or another kind of content.
    """
    digest, body = data[len(magic) : len(magic) + _DIGEST], data[len(magic) + _DIGEST :]
    if not data.startswith(magic) or hashlib.sha256(body).digest() != digest:
        raise ValueError("the kept content is damaged")
    return body


def keep(path: Path, data: bytes) -> None:
    """Write a file whole or not at all; one that cannot be written is left out."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(data)
            Path(name).replace(path)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise
