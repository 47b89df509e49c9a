"""Limits of what is opened: how much may come out of a source before it is refused, and whether URLs are opened.

`limits` changes them for a block of code; every command line has the option ``--limit NAME=VALUE``::

    with logframe.limits(max_bytes=200 << 30, allow_urls=True):
        log = iolab.load("s3://bucket/ora_4711.strace")
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final

from logframe.errors import LogError

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What is opened at most.

    Attributes:
        max_bytes: Bytes of one log after decompression or transcoding.
        max_stream_bytes: Bytes of a pipe, a device or an open file that cannot seek.
        max_ratio: Decompressed bytes for each compressed byte, once more than `MIN_RATIO_BYTES` came out.
        max_members: Members of one archive, and files of one folder or pattern.
        max_line_bytes: Bytes of one line of a log that is read line by line; of a longer one the head is read.
        allow_urls: Whether ``http://``, ``s3://`` and their like are opened.
    """

    max_bytes: int = 64 << 30
    max_stream_bytes: int = 8 << 30
    max_ratio: int = 1000
    max_members: int = 100_000
    max_line_bytes: int = 2 << 20
    allow_urls: bool = False


#: Less than this may come out of any amount of compressed data.
MIN_RATIO_BYTES: Final = 64 << 20

_CURRENT: Final[ContextVar[Limits]] = ContextVar("limits", default=Limits())  # noqa: B039 - Limits is frozen


def current() -> Limits:
    """The limits in force."""
    return _CURRENT.get()


@contextmanager
def limits(**changes: Any) -> Iterator[Limits]:  # noqa: ANN401 - the fields of Limits
    """Change limits for a block of code.

    Args:
        changes: Fields of `Limits`.

    Raises:
        LogError: There is no limit of a name.

    Examples:
        >>> with limits(max_ratio=10):
        ...     current().max_ratio
        10
        >>> current().max_ratio
        1000
    """
    known = [field.name for field in fields(Limits)]
    if unknown := [name for name in changes if name not in known]:
        raise LogError(f"no limit {unknown[0]!r}; there are {', '.join(known)}")
    token = _CURRENT.set(replace(current(), **changes))
    try:
        yield current()
    finally:
        _CURRENT.reset(token)


def parsed(text: str) -> dict[str, int | bool]:
    """A limit as a command line gives it: ``max_bytes=10G``.

    Raises:
        LogError: It is no name and number.

    Examples:
        >>> parsed("max_bytes=10G"), parsed("allow_urls=yes")
        ({'max_bytes': 10737418240}, {'allow_urls': True})
    """
    name, _, value = text.partition("=")
    if value in {"yes", "no"}:
        return {name: value == "yes"}
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
    number, unit = (value[:-1], units[value[-1]]) if value[-1:] in units else (value, 1)
    if not name or not number.isdecimal():
        raise LogError(f"a limit is NAME=NUMBER, with an optional suffix K, M, G or T, not {text!r}")
    return {name: int(number) * unit}
