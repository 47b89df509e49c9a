"""Finding the files of sources, without reading them: folders, patterns, archives, lists, prefixes of object stores."""

from __future__ import annotations

import os
from contextlib import suppress
from glob import has_magic, iglob
from pathlib import Path
from stat import S_IFDIR, S_IFLNK, S_IFMT, S_IFREG
from typing import TYPE_CHECKING, Final

from iolab.dataset.jobs import Listed
from logframe.errors import LogError, LogNotFoundError, LogParseError
from logframe.places import user_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


#: Files, and what is listed to say that it is not read: links to nothing and to folders.
_LISTED: Final = (S_IFREG, S_IFDIR, S_IFLNK)


def list_files(
    sources: Iterable[str | os.PathLike[str]], *, outside: str | None = None, lists: tuple[str, ...] = ()
) -> Iterator[Listed]:
    """The files that sources name, one at a time, in no particular order; a file may come twice.

    What is below a folder and cannot be opened is listed, too: links to nothing and to folders, folders that cannot be
    read.  Pipes, sockets and devices there are not.

    Args:
        sources: Files, archives, folders with all that is below them, patterns, prefixes of an object store
            (``s3://bucket/prefix/``), and ``@file``: a file with one source a line.  Hidden files and folders are left
            out.
        outside: A folder that is left out: the dataset.
        lists: The lists that name these sources.

    Raises:
        LogNotFoundError: Nothing is at a path, or nothing matches a pattern.
        LogError: A list names itself, or a source can be read only once.
    """
    for source in sources:
        text = os.fspath(source)
        if text.startswith("@") and not Path(text).exists():
            name = str(user_path(text[1:]).resolve())
            if name in lists:
                raise LogError(f"the list {text[1:]} names itself")
            yield from list_files(_lines(text[1:]), outside=outside, lists=(*lists, name))
            continue
        if "://" in text:
            from iolab.dataset.objects import list_objects  # noqa: PLC0415 - its library is optional

            yield from list_objects(text)
            continue
        path = user_path(text).absolute()
        if path.is_dir():
            yield from _below(str(path), outside)
        elif path.is_file():
            yield _listed(str(path))
        elif path.exists():
            raise LogError(f"{text} is no file and no folder, and each source is read twice: write it to a file")
        else:
            yield from _matching(text, path, outside)


def _lines(name: str) -> list[str]:
    """The sources that a file lists."""
    try:
        text = user_path(name).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise LogNotFoundError("the list of sources cannot be read", source=name) from error
    return [line.strip() for line in text.split("\n") if line.strip() and not line.startswith("#")]


def _matching(text: str, path: Path, outside: str | None) -> Iterator[Listed]:
    is_found = False
    for name in iglob(str(path), recursive=True):  # noqa: PTH207 - Path.glob takes no absolute pattern
        if name == outside or name.startswith(f"{outside}/"):
            continue
        is_found = True
        if os.path.isfile(name):  # noqa: PTH113 - this is called for millions of names
            yield _listed(name)
        elif "**" not in text and os.path.isdir(name):  # noqa: PTH112 - see above; ** matches what is below, too
            yield from _below(name, outside)
    if not is_found:
        what = "nothing matches the pattern" if has_magic(text) else "no such file or folder"
        raise LogNotFoundError(what, source=text, expected="a file, a folder, a pattern, an archive or @list")


def _below(folder: str, outside: str | None) -> Iterator[Listed]:
    """All files below a folder."""
    waiting = [folder]
    while waiting:
        folder = waiting.pop()
        try:
            entries = os.scandir(folder)
        except OSError:
            if (found := _status(folder)) is not None:
                yield _listed(folder, found)
            continue
        with entries:
            for entry in entries:
                path = entry.path
                if entry.name[0] == "." or path == outside:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(path)
                elif (found := _status(entry)) is not None and S_IFMT(found.st_mode) in _LISTED:
                    yield _listed(path, found)


def _status(entry: os.DirEntry[str] | str) -> os.stat_result | None:
    """What the system says of a file, or of a link that leads to nothing; None where it is not there any more."""
    try:
        return os.stat(entry) if isinstance(entry, str) else entry.stat()  # noqa: PTH116 - see `_listed`
    except OSError:
        with suppress(OSError):  # a link to nothing has a status of its own
            return os.lstat(entry)
        return None


def refuse_folder(path: str) -> None:
    """Refuse a folder that was listed as a file (`list_files`).

    Raises:
        LogParseError: It is a link to a folder, or a folder that could not be read then.
        OSError: It is a folder that cannot be read.
    """
    if not os.path.isdir(path):  # noqa: PTH112 - this is called for millions of names
        return
    if os.path.islink(path):  # noqa: PTH114 - see above
        raise LogParseError("a link to a folder, which is not followed: name the folder", source=path)
    os.scandir(path).close()
    raise LogParseError("a folder that could not be read when sources were listed", source=path)


def _listed(path: str, status: os.stat_result | None = None) -> Listed:
    found = status or os.stat(path)  # noqa: PTH116 - this is called for millions of names
    return Listed(name_of(path), (path,), _stamp(found), found.st_size, found.st_mtime_ns // 1000)


def name_of(path: str) -> str:
    """The name of a file in a dataset: its path, and of bytes that are not UTF-8 their numbers."""
    return path if path.isascii() else os.fsencode(path).decode("utf-8", "backslashreplace")


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
