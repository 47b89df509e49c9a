"""Arguments of a system call as Python values.

Argument texts repeat, so parsed ones are cached; a text that the grammar does not accept is returned as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from straceparse.records import PARTS_GRAMMAR, Changed, Decorated

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

#: More levels of brackets are left as text; a control block with its vector of buffers has four.
_DEEPEST: Final = 64
_OPENING: Final = tuple(PARTS_GRAMMAR.literal(name) for name in ("BRACE", "BRACKET", "PARENTHESIS"))
_CLOSING: Final = tuple(PARTS_GRAMMAR.literal(name) for name in ("BRACE_END", "BRACKET_END", "PARENTHESIS_END"))
_STRINGS = re.compile(PARTS_GRAMMAR.pattern("{STRING}"))


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
