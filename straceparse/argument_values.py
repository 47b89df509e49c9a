"""Arguments of a system call, parsed by Lark (`straceparse.arguments`); imported on use, and Lark with it."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from lark import Token, Transformer, v_args
from lark.exceptions import UnexpectedInput

from logframe.grammar import load_grammar
from straceparse.records import PARTS_GRAMMAR, Changed, Decorated, undecorated, unescaped

if TYPE_CHECKING:
    from types import EllipsisType

    from lark import Lark

GRAMMAR = load_grammar("straceparse", "args.lark", "arguments")

_OCTAL = re.compile(PARTS_GRAMMAR.pattern("{OCTAL}$"))
_HEXADECIMAL: Final = PARTS_GRAMMAR.literal("HEXADECIMAL_MARK")
#: Longer texts of digits are not converted; a 64-bit number has 20 digits.
_LONGEST: Final = 1000


def values_of(text: str) -> object:
    """The arguments of one call; the text itself where the grammar does not accept it."""
    try:
        return _parser().parse(text)
    except UnexpectedInput:
        return text


@cache
def _parser() -> Lark:
    return GRAMMAR.parser_with(_Values())


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
