"""Which files or URLs a path, a pattern or a folder names."""

from __future__ import annotations

import os
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from logframe.errors import LogNotFoundError, LogParseError
from logframe.limits import current

if TYPE_CHECKING:
    from os import PathLike

_URL_SCHEMES = frozenset(
    {"http", "https", "s3", "s3a", "gs", "gcs", "az", "azure", "abfs", "abfss", "adl", "hf", "file"}
)
#: Schemes whose URLs hold queries, and no patterns.
_PAGES = frozenset({"http", "https"})


def places_of(source: str | PathLike[str], *, with_subfolders: bool = False) -> list[Path | str]:
    """The files or URLs a path-like source names, at least one.

    Args:
        source: A path, a URL, a pattern or a folder, whose files are named.
        with_subfolders: Of a folder, the files of its folders, too, as `files_below` gives them.
    """
    text = str(source)
    if "\n" in text and not os.path.exists(text):  # noqa: PTH110 - Path.exists raises where the text is long
        raise LogParseError(
            "the source is text, not a path",
            source=text.split("\n", 1)[0][:60],
            expected="text.encode() reads text",
        )
    if "://" in text and text.partition("://")[0].lower() in _URL_SCHEMES:
        url = _url(text)
        if url is not None:
            return [url]
        text = unquote(urlsplit(text).path)
    path = user_path(text)
    try:
        if path.is_dir():
            found = files_below(path) if with_subfolders else sorted(one for one in path.iterdir() if one.is_file())
            _check_count(len(found), text)
        elif path.exists():
            return [path]
        else:
            found = [Path(name) for name in sorted(glob(str(path), recursive=True)) if Path(name).is_file()]  # noqa: PTH207 - Path.glob takes no absolute pattern
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise LogNotFoundError(f"not a usable path: {reason}", source=text[:200]) from error
    if not found:
        if path.is_dir():
            wanted = f"a folder with files, or the pattern {path / '**'} for those of its folders"
            raise LogNotFoundError("the folder holds no file", source=text[:200], expected=wanted)
        what = "no file matches the pattern" if has_magic(text) else "no such file"
        raise LogNotFoundError(what, source=text[:200], expected=_near(path))
    return list(found)


def files_below(folder: Path) -> list[Path]:
    """The files of a folder and of its folders, in order, without hidden ones (``.git``)."""
    found = (one for one in folder.rglob("*") if one.is_file())
    return sorted(one for one in found if not any(part.startswith(".") for part in one.relative_to(folder).parts))


def user_path(text: str | PathLike[str]) -> Path:
    """A path with ``~`` for a home folder, where it is one: a file may be called ``~x``, too.

    Examples:
        >>> user_path("~tilde.strace").name
        '~tilde.strace'

    Raises:
        LogNotFoundError: The text is empty, which is no name of the present folder.
    """
    if not str(text):
        raise LogNotFoundError("the path is empty", source="<path>", expected="the path of a log")
    try:
        return Path(text).expanduser()
    except RuntimeError:
        return Path(text)


def _url(text: str) -> str | None:
    """A URL that may be opened; None for a file of this machine.

    Raises:
        LogParseError: URLs are not allowed, or it is not a URL.
    """
    try:
        parts = urlsplit(text)
    except ValueError as error:
        raise LogParseError(f"not a URL: {error}", source=text[:200]) from error
    if parts.scheme.lower() == "file":
        if parts.netloc not in {"", "localhost"}:
            raise LogParseError(f"files of the host {parts.netloc} are not opened", source=text, expected="a path")
        return None
    if not current().allow_urls:
        raise LogParseError(
            "URLs are not opened by default",
            source=text,
            expected="a path, or the limit allow_urls (on a command line: --limit allow_urls=yes)",
        )
    if parts.scheme.lower() not in _PAGES and (has_magic(parts.path) or text.endswith("/")):
        raise LogParseError(
            "a pattern or a folder of URLs may name several logs",
            source=text,
            expected="the URL of one log, or a list of them; iolab.dataset.convert reads a bucket's prefix",
        )
    return text


def _check_count(count: int, name: str) -> None:
    if count > current().max_members:
        raise LogParseError(
            f"the folder holds {count:,} files", source=name, expected="fewer, or a higher limit max_members"
        )


def _near(path: Path) -> str:
    """A hint for a path that is not there."""
    parent = path.parent
    if has_magic(str(path)):
        return "a pattern that matches a file, such as logs/*.strace"
    if not parent.is_dir():
        return f"a file that exists; the folder {parent} does not"
    from difflib import get_close_matches  # noqa: PLC0415 - only on the way to an error

    try:
        close = get_close_matches(path.name, [entry.name for entry in parent.iterdir()], n=1)
    except OSError:  # a folder that may be entered but not listed
        close = []
    return f"a file that exists; did you mean {parent / close[0]}?" if close else "a file that exists"
