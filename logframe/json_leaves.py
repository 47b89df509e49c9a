"""The values of a JSON text, each with its path and its line."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from logframe.printed import LARGEST_WHOLE

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Digits and sign of the longest number of a frame.
_MOST_DIGITS: Final = len(str(-LARGEST_WHOLE))


def _whole(text: str) -> int | str:
    return number if len(text) <= _MOST_DIGITS and abs(number := int(text)) <= LARGEST_WHOLE else text


def _decimal(text: str) -> float | str:
    return number if math.isfinite(number := float(text)) else text


_DECODER: Final = json.JSONDecoder(parse_int=_whole, parse_float=_decimal, parse_constant=str)
_NUMBERS: Final = json.JSONDecoder(
    parse_int=lambda text: None if isinstance(found := _whole(text), str) else found,
    parse_float=lambda text: None if isinstance(found := _decimal(text), str) else found,
    parse_constant=lambda _: None,
)


def loads(text: str) -> Any:  # noqa: ANN401 - any JSON
    """What a JSON text holds, with null for each number that no frame can hold and for NaN.

    Args:
        text: JSON.

    Raises:
        ValueError: it is damaged.
        RecursionError: it is nested too deeply.

    Examples:
        >>> loads('{"a": 1, "b": 1e999, "c": NaN, "d": 99999999999999999999, "e": 0.5}')
        {'a': 1, 'b': None, 'c': None, 'd': None, 'e': 0.5}
    """
    return _NUMBERS.decode(text)


class Leaf(NamedTuple):
    """A value that is no object and no list.

    Attributes:
        path: names of the objects around it and its own, and numbers of the lists.
        value: as read; a number that no frame can hold, and NaN, as text.
        line: of the value, counted from 0.
        start: where the value begins, counted from 0.
        end: where the value ends.
    """

    path: str
    value: Any
    line: int
    start: int
    end: int


def json_leaves(text: str) -> Iterator[Leaf]:
    r"""The values that are no objects and lists, in the order of the text, which `loads` reads without an error.

    Args:
        text: JSON.

    Examples:
        >>> [tuple(leaf) for leaf in json_leaves('{"a": 1,\n "b": [{"c": null}, "x"]}')]
        [('a', 1, 0, 6, 7), ('b[0].c', None, 1, 22, 26), ('b[1]', 'x', 1, 29, 32)]
    """
    yield from _Walk(text).value("")


class _Walk:
    """A place in a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._here = 0
        self._line = 0

    def value(self, path: str) -> Iterator[Leaf]:
        """The values from here on to the end of what begins here."""
        opening = self._next()
        if opening not in "{[":
            line, start = self._line, self._here
            yield Leaf(path, self._take(), line, start, self._here)
            return
        number = 0
        self._here += 1
        while self._next() not in "}]":
            if opening == "{":
                key = str(self._take())
                self._next()
                self._here += 1
                yield from self.value(f"{path}.{key}" if path else key)
            else:
                yield from self.value(f"{path}[{number}]")
            number += 1
            if self._next() == ",":
                self._here += 1
        self._here += 1

    def _next(self) -> str:
        """The next character that is no blank."""
        while (letter := self._text[self._here]).isspace():
            self._line += letter == "\n"
            self._here += 1
        return letter

    def _take(self) -> Any:  # noqa: ANN401 - any JSON
        value, self._here = _DECODER.raw_decode(self._text, self._here)
        return value
