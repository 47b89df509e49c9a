"""Prefixes of fixed width: the position of each field, where most lines of a log have the same prefix.

``-ttt -T`` always prints 18 characters before the call.  Then a field is a slice of the line, which is many times
faster than a regular expression.  `layout_of` finds the most common prefix among the sampled lines, and a pattern that
validates a line before it is sliced.  The pattern is made from the printed text: its digits vary, and the blanks that
pad a number give way to digits wherever the field's terminal still accepts the text.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Final

from straceparse.records import GRAMMAR, PARTS_GRAMMAR, PREFIX, PREFIX_TERMINALS

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Fields without a fixed width, and those whose digits are hexadecimal.
_VARIABLE: Final = ("secontext",)
_HEXADECIMAL: Final = ("instruction_pointer",)

#: Prefixes that differ in digits only have the same shape.
_ZEROS: Final = str.maketrans("123456789", "000000000")
_DIGITS: Final = frozenset("0123456789")
_HEX_DIGITS: Final = _DIGITS | frozenset("abcdef")
#: How the time of day comes out of its shape; not every such time exists.
_ANY_TIME_OF_DAY: Final = ":".join(["[0-9][0-9]"] * 3)
#: A longer field is damaged: strace prints none.
_WIDEST: Final = 60
#: A number and the blanks that pad it.
_PADDED: Final = re.compile("(?<! )( *)(0+)( *)")


@dataclass(frozen=True, slots=True)
class Layout:
    """A prefix of fixed width.

    Attributes:
        width: characters before the call.
        pattern: regular expression of the prefix.
        fields: name of a field -> start and length of its text.
    """

    width: int
    pattern: str
    fields: dict[str, tuple[int, int]]


def layout_of(lines: Iterable[str]) -> Layout | None:
    """The most common prefix of fixed width; None where a part has no fixed width (command names, contexts).

    Examples:
        >>> layout = layout_of(["12345 1795253115.946438 close(3) = 0", "999   1795253115.946438 close(3) = 0"])
        >>> layout.width, layout.fields["clock"]
        (24, (6, 17))
    """
    prefix = re.compile(GRAMMAR.pattern(f"^{PREFIX}"))
    layouts: Counter[tuple[int, str, tuple[tuple[str, tuple[int, int]], ...]]] = Counter()
    shapes: dict[str, Layout | None] = {}
    for line in lines:
        found = prefix.match(line)
        if found is None:
            continue
        shape = found.group().translate(_ZEROS)
        if shape not in shapes:
            shapes[shape] = _layout(found)
        layout = shapes[shape]
        if layout is not None:
            layouts[layout.width, layout.pattern, tuple(layout.fields.items())] += 1
    if not layouts:
        return None
    (width, pattern, items), _ = layouts.most_common(1)[0]
    return Layout(width, pattern, dict(items))


def _layout(prefix: re.Match[str]) -> Layout | None:
    """The layout of this prefix; None where a field has no fixed width."""
    patterns: list[str] = []
    fields: dict[str, tuple[int, int]] = {}
    for group, terminal in PREFIX_TERMINALS.items():
        text = prefix[group]
        if not text:
            continue
        field = group.partition("__")[0]
        found = None if field in _VARIABLE else _field(text, terminal, is_hexadecimal=field in _HEXADECIMAL)
        if found is None:
            return None
        pattern, start, end = found
        patterns.append(pattern)
        fields[field] = (prefix.start(group) + start, end - start)
    return Layout(prefix.end(), "".join(patterns), fields)


def _field(text: str, terminal: str, *, is_hexadecimal: bool) -> tuple[str, int, int] | None:
    """Pattern of the texts of one field in this width, and where its value starts and ends; None for text in it."""
    if PARTS_GRAMMAR.literal("LESS") in text or len(text) > _WIDEST:
        return None
    digits = _HEX_DIGITS if is_hexadecimal else _DIGITS
    shape = "".join("0" if char in digits else char for char in text)
    return _form(shape, terminal, "[0-9a-f]" if is_hexadecimal else "[0-9]")


@lru_cache(1000)
def _form(shape: str, terminal: str, kind: str) -> tuple[str, int, int] | None:
    """What `_field` gives for a text whose digits, which are of this kind, are written as zeros."""
    accepts = re.compile(GRAMMAR.pattern(f"{{{terminal}}}"))
    shapes = [one for one in _paddings(shape) if accepts.fullmatch(one)]
    if not shapes or "0" not in shape:
        return None
    places = [place for one in shapes for place, char in enumerate(one) if char == "0"]
    pattern = "|".join("".join(kind if char == "0" else re.escape(char) for char in one) for one in shapes)
    pattern = pattern.replace(_ANY_TIME_OF_DAY, GRAMMAR.pattern("{TIME_OF_DAY}"))
    return f"(?:{pattern})", min(places), max(places) + 1


def _paddings(shape: str) -> list[str]:
    """The shapes of the same width in which each number has any number of digits, its blanks all on one side."""
    pieces: list[list[str]] = []
    end = 0
    for found in _PADDED.finditer(shape):
        width = len(found.group())
        options = {"0" * width: None}
        for count in range(width - 1, 0, -1):
            options |= {"0" * count + " " * (width - count): None, " " * (width - count) + "0" * count: None}
            if count < width - 1:
                options |= {" " * (width - count - 1) + "0" * count + " ": None}
        pieces += [[shape[end : found.start()]], list(options)]
        end = found.end()
    return ["".join(parts) for parts in product(*pieces, [shape[end:]])]
