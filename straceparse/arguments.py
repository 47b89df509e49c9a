"""Arguments of a system call as Python values.

Argument texts repeat, so parsed ones are cached; a text that the grammar does not accept is returned as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from straceparse.records import PARTS_GRAMMAR

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

_ESCAPE = re.compile(
    PARTS_GRAMMAR.pattern("({HEX_ESCAPE})|({OCTAL_ESCAPE})|({PLAIN_ESCAPE})").encode("ascii"), re.DOTALL
)
#: More levels of brackets are left as text; a control block with its vector of buffers has four.
_DEEPEST: Final = 64
_OPENING: Final = tuple(PARTS_GRAMMAR.literal(name) for name in ("BRACE", "BRACKET", "PARENTHESIS"))
_CLOSING: Final = tuple(PARTS_GRAMMAR.literal(name) for name in ("BRACE_END", "BRACKET_END", "PARENTHESIS_END"))
_STRINGS = re.compile(PARTS_GRAMMAR.pattern("{STRING}"))
_PLAIN_ESCAPES: Final = {b"n": b"\n", b"t": b"\t", b"v": b"\v", b"f": b"\f", b"r": b"\r", b"a": b"\a", b"b": b"\b"}


class Decorated(NamedTuple):
    """A number or name with the path that ``-y`` prints after it."""

    value: object
    path: str


class Changed(NamedTuple):
    """A value that the kernel changed during the call (``before => after``)."""

    before: object
    after: object


def parse_args(texts: str | pl.Series | Iterable[str | None]) -> list[object]:
    r"""The arguments of each call as a list of Python values; a dict where every argument is named.

    * numbers are ``int``, in the base printed (``0644`` is octal); strings are ``bytes`` with their escapes undone;
      ``NULL`` and ``(nil)`` are None
    * flags, constants and expressions stay text: ``"O_RDWR|O_LARGEFILE"``
    * ``[...]`` is a list, ``{a=1}`` a dict, ``{1, 2}`` a tuple; an omission is ``...``
    * ``3</path>`` is a `Decorated`, ``128 => 16`` a `Changed`

    Args:
        texts: one text, or a column of them.

    Returns:
        One item per text; the text itself where the grammar does not accept it, None where it is null.

    Examples:
        >>> parse_args(r'268, "\6\242"..., 8192, 0')
        [[268, b'\x06\xa2', 8192, 0]]
        >>> parse_args(["1401, 1, [{aio_data=0, aio_nbytes=8192, aio_offset=512}]"])[0][2]
        [{'aio_data': 0, 'aio_nbytes': 8192, 'aio_offset': 512}]
        >>> parse_args("0x7fe7, 2, {{data:0x7fe3, pread, filedes:268, nbytes:8192, offset:0}}")[0][2][0]
        {'data': 32739, 1: 'pread', 'filedes': 268, 'nbytes': 8192, 'offset': 0}
    """
    every = [texts] if isinstance(texts, str) else texts
    return [_own(parsed(text)) for text in every]


def _own(value: object) -> object:
    """A copy of mutable values, so that callers cannot change the cache."""
    match value:
        case list():
            return [_own(item) for item in value]
        case dict():
            return {key: _own(item) for key, item in value.items()}
        case Decorated():
            return value  # a number or a name, and a path
        case Changed():
            return Changed(_own(value.before), _own(value.after))
        case tuple():
            return tuple(map(_own, value))
    return value


@lru_cache(maxsize=1 << 12)
def parsed(text: str | None) -> object:
    """The arguments of one call as in `parse_args`; shared with the cache: do not change them."""
    if text is None or _is_too_deep(text):
        return text
    from straceparse.argument_values import values_of  # noqa: PLC0415 - most logs have no arguments for Lark

    return values_of(text)


def _is_too_deep(text: str) -> bool:
    """Whether brackets outside strings are nested deeper than any argument of a system call."""
    if sum(map(text.count, _OPENING)) <= _DEEPEST:
        return False
    depth = 0
    for char in _STRINGS.sub("", text):
        depth += (char in _OPENING) - (char in _CLOSING)
        if depth > _DEEPEST:
            return True
    return False


def is_escaped(text: str) -> bool:
    """Whether a printed string or path may contain escapes."""
    return "\\" in text


def unescaped(text: str) -> bytes:
    r"""The bytes of a printed string: ``\n``, ``\"``, ``\1`` to ``\377`` and ``\xNN`` undone.

    Examples:
        >>> unescaped(r"\6\242\0\0a\"")
        b'\x06\xa2\x00\x00a"'
    """
    if not is_escaped(text):
        return text.encode("utf-8", errors="surrogateescape")
    return _ESCAPE.sub(_unescape, text.encode("utf-8", errors="surrogateescape"))


def _unescape(found: re.Match[bytes]) -> bytes:
    hexadecimal, octal, plain = found.groups()
    if hexadecimal:
        return bytes.fromhex(hexadecimal[2:].decode("ascii"))
    if octal:
        return bytes([int(octal[1:], 8) & 0xFF])
    return _PLAIN_ESCAPES.get(plain[1:], plain[1:])
