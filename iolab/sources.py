"""Which logs paths, folders, patterns and archives name: one by one, but the files of one strace run together."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, cast

from logframe import LogParseError, open_logs
from straceparse import dialect
from straceparse.dialects import file_pid

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from logframe import Log, Source

#: What may stand for logs: a path, a folder, a pattern, an archive, or an open file.
Place = str | Path | IO[bytes]

#: With fewer of its sampled lines strace's, a log is not an strace log.
MIN_SHARE: Final = 0.5


@dataclass(frozen=True)
class NamedLog:
    """A log that was named.

    Attributes:
        name: What it is called, short and unlike the others.
        place: Where it is, as the user would write it.
        source: What `iolab.load` takes.
    """

    name: str
    place: str
    source: Source


def find_logs(places: Iterable[Place] | Place) -> list[NamedLog]:
    r"""The logs that places name, in their order; a place that is not there stays, for its reader to say so.

    A folder or a pattern stands for each of its files, and a zip archive for each of its members.  Files that
    ``strace -ff`` wrote in one run (``trace.4711``, ``trace.4712``) are one log.

    Args:
        places: Paths, folders, patterns, archives, open files; or one of them.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("a.txt", "trace.4711", "trace.4712"):
    ...         _ = (Path(folder) / name).write_text("12:00:00.000001 close(3) = 0 <0.000004>" + chr(10))
    ...     [log.name for log in find_logs(folder)]
    ['a.txt', 'trace.* (2 files)']
    """
    several: Iterable[Place] = (
        (cast("Place", places),) if isinstance(places, str | Path) or hasattr(places, "read") else places
    )
    listed = [one for place in several for one in _listed(place)]
    sets = _sets([path for path in listed if isinstance(path, Path)])
    found: list[tuple[str, str, Source]] = []
    for one in listed:
        if isinstance(one, Path) and one in sets:
            if (files := sets[one])[0] == one:
                name = f"{one.with_suffix('').name}.* ({len(files)} files)"
                found.append((name, str(one.with_suffix(".*")), list(files)))
        elif isinstance(one, Path):
            found.append((one.name, str(one), one))
        else:
            found.append(one)
    names = _told_apart([(name, Path(place).parent.name) for name, place, _ in found])
    return [NamedLog(name, place, source) for name, (_, place, source) in zip(names, found, strict=True)]


def _listed(place: Place) -> list[Path | tuple[str, str, Source]]:
    """The files of a place; what is no file has its name, its place and its source."""
    if not isinstance(place, str | Path):
        name = str(getattr(place, "name", "<file>"))
        return [(name, name, place)]
    if "://" in str(place):
        return [(str(place).rpartition("/")[2], str(place), str(place))]
    path = Path(place).expanduser()
    if path.is_dir():
        inside = sorted(one for one in path.iterdir() if one.is_file() and not one.name.startswith("."))
    elif not path.exists() and has_magic(str(path)):
        inside = [one for name in sorted(glob(str(path), recursive=True)) if (one := Path(name)).is_file()]  # noqa: PTH207 - Path.glob takes no absolute pattern
    else:
        inside = [path]
    return [one for file in inside or [path] for one in _members(file)]


def _members(path: Path) -> list[Path | tuple[str, str, Source]]:
    """The logs of an archive that holds several; else the file itself."""
    if path.is_file() and zipfile.is_zipfile(path):
        try:
            logs = sorted(open_logs(path), key=lambda log: log.name)
        except LogParseError:
            return [path]
        if len(logs) > 1:
            return [(f"{path.name}/{Path(log.name).name}", log.name, source_of(log)) for log in logs]
    return [path]


def source_of(log: Log) -> str | Path | Mapping[str, object]:
    """An opened log as a source again: a stream is read once only."""
    return {"name": log.name, "content": log.target} if isinstance(log.target, bytes) else log.target


def is_one_run(logs: Iterable[Log]) -> bool:
    """Are these the files that ``strace -ff`` wrote in one run: one name, with a process id behind it?"""
    logs = list(logs)
    pids = {file_pid(log) for log in logs}
    stems = {log.name.rpartition(".")[0] for log in logs}
    return None not in pids and len(pids) == len(logs) and len(stems) == 1


def _sets(paths: list[Path]) -> dict[Path, tuple[Path, ...]]:
    """Each file of an ``strace -ff`` run with all files of that run, itself among them."""
    by_stem: dict[Path, list[Path]] = {}
    for path in dict.fromkeys(paths):
        if path.suffix[1:].isdecimal():
            by_stem.setdefault(path.with_suffix(""), []).append(path)
    runs = [tuple(files) for files in by_stem.values() if len(files) > 1 and all(map(_is_trace, files))]
    return {path: files for files in runs for path in files}


def _is_trace(path: Path) -> bool:
    try:
        return dialect(path).share >= MIN_SHARE
    except (LogParseError, OSError):
        return False


def _told_apart(names: list[tuple[str, str]]) -> list[str]:
    """The names; with their folder where two are called the same, and else with their place in the list."""
    short = [name for name, _ in names]
    named = [name if short.count(name) == 1 else f"{folder}/{name}" for name, folder in names]
    return [name if named.count(name) == 1 else f"{name} ({place})" for place, name in enumerate(named, 1)]
