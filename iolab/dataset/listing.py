"""Finding the files of sources, without reading them: folders, patterns, archives, lists, prefixes of object stores."""

from __future__ import annotations

import os
from glob import has_magic, iglob
from pathlib import Path
from typing import TYPE_CHECKING

from iolab.dataset.jobs import Listed
from logframe.errors import LogNotFoundError
from logframe.places import user_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


def list_files(sources: Iterable[str | os.PathLike[str]], *, outside: str | None = None) -> Iterator[Listed]:
    """The files that sources name, one at a time, in no particular order; a file may come twice.

    Args:
        sources: Files, archives, folders with all that is below them, patterns, prefixes of an object store
            (``s3://bucket/prefix/``), and ``@file``: a file with one source a line.  Hidden files and folders are left
            out.
        outside: A folder that is left out: the dataset.

    Raises:
        LogNotFoundError: Nothing is at a path, or nothing matches a pattern.
    """
    for source in sources:
        text = os.fspath(source)
        if text.startswith("@") and not Path(text).exists():
            yield from list_files(_lines(text[1:]), outside=outside)
            continue
        if "://" in text:
            from iolab.dataset.objects import list_objects  # noqa: PLC0415 - its library is optional

            yield from list_objects(text)
            continue
        path = user_path(text).absolute()
        if path.is_dir():
            yield from _below(str(path), outside)
        elif path.exists():
            yield _listed(str(path))
        else:
            yield from _matching(text, path, outside)


def _lines(name: str) -> list[str]:
    """The sources that a file lists."""
    try:
        text = user_path(name).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise LogNotFoundError("the list of sources cannot be read", source=name) from error
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _matching(text: str, path: Path, outside: str | None) -> Iterator[Listed]:
    is_found = False
    for name in iglob(str(path), recursive=True):  # noqa: PTH207 - Path.glob takes no absolute pattern
        if name == outside or name.startswith(f"{outside}/"):
            continue
        is_found = True
        if os.path.isfile(name):  # noqa: PTH113 - this is called for millions of names
            yield _listed(name)
    if not is_found:
        what = "nothing matches the pattern" if has_magic(text) else "no such file or folder"
        raise LogNotFoundError(what, source=text, expected="a file, a folder, a pattern, an archive or @list")


def _below(folder: str, outside: str | None) -> Iterator[Listed]:
    """All files below a folder."""
    waiting = [folder]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.name.startswith(".") or entry.path == outside:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif entry.is_file():
                    yield _listed(entry.path, entry.stat())


def _listed(path: str, status: os.stat_result | None = None) -> Listed:
    found = status or os.stat(path)  # noqa: PTH116 - this is called for millions of names
    shown = path if path.isascii() else path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return Listed(shown, (path,), _stamp(found), found.st_size, found.st_mtime_ns // 1000)


def _stamp(status: os.stat_result) -> str:
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}"


def stamp_of(files: Sequence[str]) -> str | None:
    """The stamp of a file or of the files of one log; None where one is not there any more.

    It changes with the size, the time of the last change of the content, and that of its attributes.
    """
    if "://" in files[0]:
        from iolab.dataset.objects import stamp_of_object  # noqa: PLC0415 - its library is optional

        return stamp_of_object(files[0])
    try:
        stamps = [_stamp(os.stat(file)) for file in files]  # noqa: PTH116 - this is called for millions of names
    except OSError:
        return None
    return stamps[0] if len(stamps) == 1 else joined_stamp(stamps)


def joined_stamp(stamps: Sequence[str]) -> str:
    """The stamp of several files."""
    from iolab.dataset.layout import digest  # noqa: PLC0415 - wanted by few

    return f"{len(stamps)}:{digest(stamps)}"
