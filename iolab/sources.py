"""Which logs paths, folders, patterns and archives name: one by one, but the files of one strace run together."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from glob import glob, has_magic
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from iolab.loading import as_log
from logframe import LogParseError, open_logs
from logframe.errors import LogError
from logframe.formats import ParsedLog, formats, is_log
from logframe.places import files_below, user_path
from logframe.source import Log, OneSource

if TYPE_CHECKING:
    from logframe import Source

#: What may stand for one or several logs: a path, a folder, a pattern, an archive, bytes, an open file, or a log that
#: was read already.
Place = OneSource | ParsedLog
#: What a function of several logs takes: one of these, several, or several by name.
Places = Place | Iterable[Place] | Mapping[str, Place]
#: Name, place and source of a log that is no file of its own.
_Found = tuple[str, str, "ParsedLog | Source"]


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
    source: ParsedLog | Source


def is_one(places: object) -> bool:
    """Is it a single place: not several in a list, or by name?"""
    if isinstance(places, Mapping):  # an uploaded file, or places by name
        return {"name", "content"} <= places.keys()
    single = (str, PathLike, bytes, bytearray, memoryview, Log)
    return isinstance(places, single) or hasattr(places, "read") or is_log(places)


def as_logs(logs: Mapping[str, ParsedLog] | Places, *wanted: str) -> dict[str, Any]:
    r"""The logs that a function was given, by name: as they were read, or as what `iolab.load` takes.

    Args:
        logs: Logs by name, or what `find_logs` takes.
        wanted: The formats that the function takes; any if none is named.

    Raises:
        LogNotFoundError: Nothing is at a path.
        LogParseError: One of them is no known log.
        LogError: None was given, or one is of another format.

    Examples:
        >>> {name: log.describe() for name, log in as_logs([b"3 close(3) = 0\n"]).items()}
        {'<bytes>': 'strace log, 1 line'}
    """
    if not (named := find_logs(logs)):
        raise LogError("no log was given")
    return {one.name: as_log(one.source, *wanted) for one in named}


def find_logs(places: Places) -> list[NamedLog]:
    r"""The logs that places name, in their order; a place that is not there stays, for its reader to say so.

    A folder stands for each file below it, a pattern for each that matches, and a zip archive for each of its members.
    Files that ``strace -ff`` wrote in one run (``trace.4711``, ``trace.4712``) are one log.

    Args:
        places: Paths, folders, patterns, archives, open files, logs that were read already; or one of them.  In a
            mapping, each by its name.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for name in ("a.txt", "trace.4711", "trace.4712"):
        ...         _ = (Path(folder) / name).write_text("12:00:00.000001 close(3) = 0 <0.000004>" + chr(10))
        ...     [log.name for log in find_logs(folder)]
        ['a.txt', 'trace.* (2 files)']
    """
    if isinstance(places, Mapping) and not is_one(places):
        return [one for name, place in places.items() for one in _called(str(name), find_logs(cast("Place", place)))]
    several = [cast("Place", places)] if is_one(places) else cast("Iterable[Place]", places)
    listed = [one for place in several for one in _listed(place)]
    sets = _sets([path for path in listed if isinstance(path, Path)])
    found: list[_Found] = []
    for one in listed:
        if isinstance(one, Path) and one in sets:
            if (files := sets[one])[0] == one:
                name = f"{one.with_suffix('').name}.* ({len(files)} files)"
                found.append((name, str(one.with_suffix(".*")), list(files)))
        elif isinstance(one, Path):
            found.append((one.name, str(one), one))
        else:
            found.append(one)
    names = _distinct([(name, Path(place).parent.name) for name, place, _ in found])
    return [NamedLog(name, place, source) for name, (_, place, source) in zip(names, found, strict=True)]


def _called(name: str, found: list[NamedLog]) -> list[NamedLog]:
    """The logs of a place that has a name: that is the name of a single one."""
    if not found:
        raise LogError(f"no log of {name!r} was given")
    return [NamedLog(name if len(found) == 1 else f"{name}/{one.name}", one.place, one.source) for one in found]


def _listed(place: Place) -> list[Path | _Found]:
    """The files of a place; what is no file has its name, its place and its source."""
    if is_log(place):
        return [(Path(place.source).name or place.source, place.source, place)]
    if not isinstance(place, (str, PathLike)):
        uploaded = place.get("name") if isinstance(place, Mapping) else getattr(place, "name", None)
        name = str(uploaded or ("<bytes>" if isinstance(place, (bytes, bytearray, memoryview)) else "<file>"))
        return [(name, name, cast("Source", place))]
    if "://" in fspath(place):
        return [(fspath(place).rpartition("/")[2], fspath(place), fspath(place))]
    path = user_path(place)
    if path.is_dir():
        inside = files_below(path)
    elif not path.exists() and has_magic(str(path)):
        inside = [one for name in sorted(glob(str(path), recursive=True)) if (one := Path(name)).is_file()]  # noqa: PTH207 - Path.glob takes no absolute pattern
    else:
        inside = [path]
    return [one for file in inside or [path] for one in _members(file)]


def _members(path: Path) -> list[Path | _Found]:
    """The logs of an archive that holds several; else the file itself."""
    if path.is_file() and zipfile.is_zipfile(path):
        try:
            logs = sorted(open_logs(path), key=lambda log: log.name)
        except LogParseError:
            return [path]
        if len(logs) > 1:
            return [(f"{path.name}/{Path(log.name).name}", log.name, log.reopened()) for log in logs]
    return [path]


def _sets(paths: list[Path]) -> dict[Path, tuple[Path, ...]]:
    """Each file that is a part of one log with all files of that log, itself among them."""
    by_stem: dict[Path, list[Path]] = {}
    for path in dict.fromkeys(paths):
        if path.suffix[1:].isdecimal():
            by_stem.setdefault(path.with_suffix(""), []).append(path)
    sets = [tuple(files) for files in by_stem.values() if len(files) > 1 and _is_one_log(files)]
    return {path: files for files in sets for path in files}


def _is_one_log(paths: list[Path]) -> bool:
    """Whether a registered format reads the files as one log."""
    try:
        logs = open_logs(paths)
        return any(one.is_one_log is not None and one.is_one_log(logs) for one in formats().values())
    except (LogParseError, OSError):
        return False


def _distinct(names: list[tuple[str, str]]) -> list[str]:
    """The names; with their folder where two are called the same, and else with their place in the list."""
    short = [name for name, _ in names]
    named = [name if short.count(name) == 1 or not folder else f"{folder}/{name}" for name, folder in names]
    return [name if named.count(name) == 1 else f"{name} ({place})" for place, name in enumerate(named, 1)]
