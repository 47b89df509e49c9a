"""Which logs paths, folders, patterns and archives name: one by one, but the files of one strace run together."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from logframe import LogParseError, open_logs
from logframe.formats import formats
from logframe.places import files_below, user_path

if TYPE_CHECKING:
    from collections.abc import Iterable

    from logframe import Source

#: What may stand for logs: a path, a folder, a pattern, an archive, or an open file.
Place = str | Path | IO[bytes]


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

    A folder stands for each file below it, a pattern for each that matches, and a zip archive for each of its members.
    Files that ``strace -ff`` wrote in one run (``trace.4711``, ``trace.4712``) are one log.

    Args:
        places: Paths, folders, patterns, archives, open files; or one of them.

    Examples:
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
    names = _distinct([(name, Path(place).parent.name) for name, place, _ in found])
    return [NamedLog(name, place, source) for name, (_, place, source) in zip(names, found, strict=True)]


def _listed(place: Place) -> list[Path | tuple[str, str, Source]]:
    """The files of a place; what is no file has its name, its place and its source."""
    if not isinstance(place, str | Path):
        name = str(getattr(place, "name", "<file>"))
        return [(name, name, place)]
    if "://" in str(place):
        return [(str(place).rpartition("/")[2], str(place), str(place))]
    path = user_path(place)
    if path.is_dir():
        inside = files_below(path)
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
    named = [name if short.count(name) == 1 else f"{folder}/{name}" for name, folder in names]
    return [name if named.count(name) == 1 else f"{name} ({place})" for place, name in enumerate(named, 1)]
