"""The values of a JSON text, each with its path and its line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_DECODER: Final = json.JSONDecoder()


class Leaf(NamedTuple):
    """A value that is no object and no list.

    Attributes:
        path: names of the objects around it and its own, and numbers of the lists.
        value: as read.
        line: of the value, counted from 0.
        start: where its name begins, or the value in a list, counted from 0.
        end: where the value ends.
    """

    path: str
    value: Any
    line: int
    start: int
    end: int


def json_leaves(text: str) -> Iterator[Leaf]:
    r"""The values that are no objects and lists, in the order of the text, which `json.loads` reads without an error.

    Args:
        text: JSON.

    Examples:
        >>> [tuple(leaf) for leaf in json_leaves('{"a": 1,\n "b": [{"c": null}, "x"]}')]
        [('a', 1, 0, 1, 7), ('b[0].c', None, 1, 17, 26), ('b[1]', 'x', 1, 29, 32)]
    """
    yield from _Walk(text).value("", None)


class _Walk:
    """A place in a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._here = 0
        self._line = 0

    def value(self, path: str, name: int | None) -> Iterator[Leaf]:
        """The values from here on to the end of what begins here, whose name begins at a place."""
        opening = self._next()
        if opening not in "{[":
            line, start = self._line, self._here
            yield Leaf(path, self._take(), line, start if name is None else name, self._here)
            return
        number = 0
        self._here += 1
        while self._next() not in "}]":
            if opening == "{":
                start = self._here
                key = str(self._take())
                self._next()
                self._here += 1
                yield from self.value(f"{path}.{key}" if path else key, start)
            else:
                yield from self.value(f"{path}[{number}]", None)
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
