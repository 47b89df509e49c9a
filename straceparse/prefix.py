"""Prefixes of fixed width: the position of each field, where most lines of a log have the same prefix.

``-ttt -T`` always prints 18 characters before the call.  Then a field is a slice of the line, which is many times
faster than a regular expression.  `layout_of` finds the most common prefix among the sampled lines, and a pattern that
validates a line before it is sliced.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from straceparse.records import GRAMMAR

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The fields of a prefix in their order, each in a named group.
PREFIX: Final = (
    "(?:(?P<pid_column>{PID})|(?P<pid_bracket>{PID_COLUMN}))?(?P<secontext>{SECONTEXT})?(?P<clock>{CLOCK})?"
    "(?:(?P<relative_ts>{RELATIVE_TS})|(?P<relative_ts_with_clock>{RELATIVE_TS_WITH_CLOCK}))?(?P<syscall_number>{SYSCALL_NUMBER})?(?P<instruction_pointer>{INSTRUCTION_POINTER})?"
)

#: Prefixes that differ in digits only have the same shape.
_ZEROS: Final = str.maketrans("123456789", "000000000")
_FRACTION = re.compile(r"\.(?P<digits>[0-9]{3,9})")


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
    layouts: Counter[tuple[str, tuple[tuple[str, tuple[int, int]], ...]]] = Counter()
    widths: dict[str, int] = {}
    shapes: dict[str, tuple[str, dict[str, tuple[int, int]]] | None] = {}
    for line in lines:
        found = prefix.match(line)
        if found is None:
            continue
        picture = found.group().translate(_ZEROS)
        if picture not in shapes:
            shapes[picture] = _shape(found)
        shape = shapes[picture]
        if shape is None:
            continue
        pattern, fields = shape
        layouts[pattern, tuple(fields.items())] += 1
        widths[pattern] = found.end()
    if not layouts:
        return None
    (pattern, items), _ = layouts.most_common(1)[0]
    return Layout(widths[pattern], pattern, dict(items))


def _shape(prefix: re.Match[str]) -> tuple[str, dict[str, tuple[int, int]]] | None:
    """A pattern of fixed width for this prefix, and the positions of its fields."""
    pattern: list[str] = []
    fields: dict[str, tuple[int, int]] = {}
    parts = prefix.groupdict()
    if (parts["pid_column"] or parts["pid_bracket"] or "").count("<") or parts["secontext"]:
        return None
    if text := parts["pid_column"]:
        width = len(text) - 1
        fields["pid"] = (0, width)
        pattern.append(_left_padded(width) + " ")
    if text := parts["pid_bracket"]:
        width = len(text) - len("[pid ] ")
        fields["pid"] = (len("[pid "), width)
        pattern.append(rf"\[pid {_right_padded(width)}\] ")
    if text := parts["clock"]:
        fields["clock"] = (prefix.start("clock"), len(text) - 1)
        whole = "[0-9]{2}:[0-9]{2}:[0-9]{2}" if ":" in text else f"[0-9]{{{len(text.partition('.')[0].rstrip())}}}"
        pattern.append(whole + _fraction(text) + " ")
    if text := parts["relative_ts"]:
        fields["relative_ts"] = (prefix.start("relative_ts"), len(text) - 1)
        pattern.append(_right_padded(len(text.partition(".")[0].rstrip(" "))) + _fraction(text) + " ")
    if text := parts["relative_ts_with_clock"]:
        fields["relative_ts"] = (prefix.start("relative_ts_with_clock") + 2, len(text) - 4)
        pattern.append(rf"\(\+{_right_padded(len(text.partition('.')[0].rstrip(') ')) - 2)}{_fraction(text)}\) ")
    if text := parts["syscall_number"]:
        fields["syscall_number"] = (prefix.start("syscall_number") + 1, len(text) - 3)
        pattern.append(rf"\[{_right_padded(len(text) - 3)}\] ")
    if text := parts["instruction_pointer"]:
        fields["instruction_pointer"] = (prefix.start("instruction_pointer") + 1, len(text) - 3)
        pattern.append(rf"\[[0-9a-f]{{{len(text) - 3}}}\] ")
    return "".join(pattern), fields


def _fraction(text: str) -> str:
    found = _FRACTION.search(text)
    return rf"\.[0-9]{{{len(found.group('digits'))}}}" if found else ""


def _left_padded(width: int) -> str:
    """Digits and then blanks, `width` characters in all."""
    choices = [f"[0-9]{{{digits}}}" + " " * (width - digits) for digits in range(width, 0, -1) if digits <= 7]
    return f"(?:{'|'.join(choices)})"


def _right_padded(width: int) -> str:
    """Blanks and then digits, `width` characters in all."""
    return f"(?:{'|'.join(' ' * (width - digits) + f'[0-9]{{{digits}}}' for digits in range(width, 0, -1))})"
