"""Arguments of a system call as Python values.

Argument texts repeat, so parsed ones are cached; a text that the grammar does not accept is returned as it is.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from lark import Token, Transformer, v_args
from lark.exceptions import UnexpectedInput

from logframe.grammar import load_grammar
from straceparse.records import PARTS_GRAMMAR, undecorated

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import EllipsisType

    import polars as pl
    from lark import Lark

GRAMMAR = load_grammar("straceparse", "args.lark", "arguments")

_ESCAPE = re.compile(
    PARTS_GRAMMAR.pattern("({HEX_ESCAPE})|({OCTAL_ESCAPE})|({PLAIN_ESCAPE})").encode("ascii"), re.DOTALL
)
_OCTAL = re.compile(PARTS_GRAMMAR.pattern("{OCTAL}$"))
_HEXADECIMAL: Final = PARTS_GRAMMAR.literal("HEXADECIMAL_MARK")
#: Longer texts of digits are not converted; a 64-bit number has 20 digits.
_LONGEST: Final = 1000
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
    try:
        return _parser().parse(text)
    except UnexpectedInput:
        return text


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


@cache
def _parser() -> Lark:
    return GRAMMAR.parser_with(_Values())


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


class _Named(NamedTuple):
    name: str
    value: object


def _gathered(items: list[object]) -> object:
    """The items of a struct: a dict as soon as one is named, with unnamed items under their positions."""
    if not any(isinstance(item, _Named) for item in items):
        return items
    return dict(item if isinstance(item, _Named) else (place, item) for place, item in enumerate(items))


class _Values(Transformer[Token, object]):
    """One method for each rule."""

    def arguments(self, items: list[object]) -> object:
        if items and all(isinstance(item, _Named) for item in items):
            return _gathered(items)
        return [item.value if isinstance(item, _Named) else item for item in items]

    @v_args(inline=True)
    def named(self, name: Token, value: object) -> _Named:
        return _Named(str(name), value)

    def value(self, children: list[object]) -> object:
        values = [child for child in children if not (isinstance(child, Token) and child.type == "COMMENT")]
        match values:
            case []:
                return str(children[0]).strip()
            case [before, after]:
                return Changed(before, after)
            case _:
                return values[0]

    def string(self, children: list[Token]) -> bytes:
        return unescaped(children[0].removeprefix("@")[1:-1])

    def number(self, children: list[Token]) -> object:
        return _decorated(_number(str(children[0])), children[1:])

    def words(self, children: list[Token]) -> object:
        text = str(children[0])
        return _decorated(None if text in {"NULL", "(nil)"} else text, children[1:])

    def struct(self, items: list[object]) -> object:
        gathered = _gathered(items)
        return tuple(gathered) if isinstance(gathered, list) else gathered

    def array(self, items: list[object]) -> list[object]:
        return [item.value if isinstance(item, _Named) else item for item in items]

    def bits(self, children: list[Token]) -> str:
        return f"~[{children[0] if children else ''}]"

    def ellipsis(self, _children: list[Token]) -> EllipsisType:
        return ...


def _number(text: str) -> int | str:
    """A number in the base of its prefix (``0x1f``, ``0644``); longer texts than any number stay text."""
    digits = text.removeprefix("-")
    base = 16 if digits.startswith(_HEXADECIMAL) else 8 if _OCTAL.match(digits) else 10
    return int(text, base) if len(text) <= _LONGEST else text


def _decorated(value: object, rest: list[Token]) -> object:
    return Decorated(value, undecorated(rest[0])) if rest else value
