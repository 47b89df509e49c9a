"""Atomic output: a file appears whole under its name, or not at all, and never replaces an input.

Files are locked between processes, on systems with and without `fcntl`.  What is kept between runs lies in the user's
cache folder, each file with a hash of its content at the start.  A file there that cannot be read, is damaged or cannot
be written is no error: what it holds is made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import secrets
import shutil
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any, Final
from zlib import crc32

from logframe.errors import LogError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


#: A part that a killed process left is removed by the next writer when it is older than this many seconds.
_STALE_S: Final = 3600


@contextmanager
def replacing(path: str | Path, *, inputs: Iterable[object] = ()) -> Iterator[Path]:
    """A path to write to; what was written there takes the place of `path` when the block ends without an error.

    The data is flushed to the disk before it is renamed, so that after a fault there is the old file or the new one.
    The new file has the mode and, where it may be given away, the owner of the old one.  A link stays, and the file it
    leads to is replaced.  What is no file (a device, a pipe, standard output) is written to when the block ends.

    Args:
        path: The output.
        inputs: What is read to make it; those that are paths must not be the same file.

    Raises:
        LogError: The output is a folder, or one of the inputs.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with replacing(Path(folder) / "a.txt") as out:
        ...         _ = out.write_text("whole")
        ...     sorted(one.name for one in Path(folder).iterdir())
        ['a.txt']
    """
    target = Path(path)
    check_output(target, inputs)
    if _is_stream(target):
        with TemporaryDirectory() as folder:
            written = Path(folder) / target.name
            yield written
            with written.open("rb") as source, target.open("wb") as stream:
                shutil.copyfileobj(source, stream)
        return
    target = target.resolve() if target.is_symlink() else target
    temporary = _part_of(target)
    try:
        yield temporary
        if target.exists():
            _keep_access(target, temporary)
        publish(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _is_stream(target: Path) -> bool:
    """Whether an output is a device, a pipe or a descriptor of this process: none of them may be replaced by a file."""
    return (target.exists() and not target.is_file()) or target.absolute().parts[1:2] in {("dev",), ("proc",)}


def _keep_access(old: Path, new: Path) -> None:
    """Give a file the mode and the owner of another one; without the right to give it away it stays the writer's."""
    stat = old.stat()
    if hasattr(os, "chown"):
        with suppress(OSError):
            os.chown(new, stat.st_uid, stat.st_gid)
    new.chmod(stat.st_mode & 0o7777)


def publish(part: Path, target: Path) -> None:
    """Give a file that is whole its name, in place of what has it; after a power failure it is whole, too.

    Args:
        part: The file, on the same file system.
        target: Its name, in a folder that exists.
    """
    flush(part)
    part.replace(target)
    flush_folder(target.parent)


def flush(path: Path) -> None:
    """Write what the system holds of a file to the disk."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


@contextmanager
def new_folder(path: str | Path) -> Iterator[Path]:
    """A folder to write to; it takes the name of `path` when the block ends without an error, and not before.

    Args:
        path: The output: a folder that does not exist, or is empty.

    Raises:
        LogError: The output is a URL.
        FileExistsError: There is a file of that name, or a folder that is not empty.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with new_folder(Path(folder) / "frames") as out:
        ...         _ = (out / "a.txt").write_text("whole")
        ...     [one.relative_to(folder).as_posix() for one in sorted(Path(folder).rglob("*.*"))]
        ['frames/a.txt']
    """
    if "://" in str(path):
        raise LogError(f"{path} is a URL: name a folder of this machine, and copy it")
    target = Path(path).absolute()
    if target.is_dir() and any(target.iterdir()):
        raise FileExistsError(f"{path} is not empty; name a new folder")
    if target.exists() and not target.is_dir():
        raise FileExistsError(f"{path} is a file; name a new folder")
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = _part_of(target)
    temporary.mkdir()
    try:
        yield temporary
        for written in sorted(temporary.rglob("*")):
            if written.is_file():
                flush(written)
        flush_folder(temporary)
        temporary.rename(target)
        flush_folder(target.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _part_of(target: Path) -> Path:
    """A new name beside an output, under which it is written; parts that killed processes left there are removed.

    The name holds the machine and the process that writes.  Only parts of this machine whose process is gone are
    removed, when they were not written to for `_STALE_S`: containers may share a folder and not their process numbers.
    """
    host = f"{crc32(platform.node().encode()):08x}"
    start = f".{target.name[:120]}.{host}-"
    for part in target.parent.glob(f"{escape(start)}*.part"):
        pid = part.name.removeprefix(start).partition("-")[0]
        try:
            is_stale = pid.isdecimal() and not _is_alive(int(pid)) and time.time() - part.stat().st_mtime > _STALE_S
            if is_stale and part.is_dir():
                shutil.rmtree(part, ignore_errors=True)
            elif is_stale:
                part.unlink()
        except OSError:  # another process was faster, or may not remove it
            continue
    return target.with_name(f"{start}{os.getpid()}-{secrets.token_hex(6)}.part")


def _is_alive(pid: int) -> bool:
    """Whether there may be a process of this number."""
    if os.name != "posix":  # elsewhere asking may end it
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def check_output(target: Path, inputs: Iterable[object] = ()) -> None:
    """Whether an output may be written, before anything is read.

    Raises:
        LogError: It is a folder, or one of the inputs by its identity.
    """
    if target.is_dir():
        raise LogError(f"{target} is a folder: name the file to write")
    if target.exists() and any(_is_same(target, one) for one in inputs):
        raise LogError(f"{target} is one of the inputs: writing it would lose it")


def _is_same(target: Path, other: Any) -> bool:  # noqa: ANN401 - any source
    if not isinstance(other, (str, os.PathLike)):
        return False
    try:
        return target.samefile(os.fspath(other))
    except (OSError, ValueError):
        return False


def flush_folder(folder: Path) -> None:
    """Write the names in a folder to the disk; not every file system allows that."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)


if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


def lock_file(file: IO[Any], *, wait: bool = True) -> None:
    """Hold an open file alone until it is closed or its process ends.

    Args:
        file: Open for writing.
        wait: Wait for another process that holds it.

    Raises:
        BlockingIOError: Another process holds it, and `wait` is false.
        OSError: The file system has no locks.
    """
    if sys.platform == "win32":
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError(*error.args) from error
    else:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


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
