"""The values of a JSON text, each with its path and its line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_DECODER: Final = json.JSONDecoder()


def json_leaves(text: str) -> Iterator[tuple[str, Any, int]]:
    r"""The values that are no objects and lists, in the order of the text, which `json.loads` reads without an error.

    Args:
        text: JSON.

    Yields:
        The path, the value, and its line counted from 0.

    Examples:
        >>> list(json_leaves('{"a": 1,\n "b": [{"c": null}, "x"]}'))
        [('a', 1, 0), ('b[0].c', None, 1), ('b[1]', 'x', 1)]
    """
    yield from _Walk(text).value("")


class _Walk:
    """A place in a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._here = 0
        self._line = 0

    def value(self, path: str) -> Iterator[tuple[str, Any, int]]:
        """The values from here on to the end of what begins here."""
        opening = self._next()
        if opening not in "{[":
            line = self._line
            yield path, self._take(), line
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
