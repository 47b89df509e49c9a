"""Leaders of fixed width: where each field stands, when all lines of a log have the same leader.

Most logs have: ``-ttt -T`` always prints 18 characters before the call.  Then a field is a slice of the line, which is
many times faster than a pattern.  `layout_of` finds the most common leader among sampled lines, and a pattern, built
from the grammar's terminals, that a line must match before the slices are believed.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from straceparse.records import GRAMMAR

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The parts of a leader, in their order, with the group that names each.
LEADER: Final = (
    "(?:(?P<pid_column>{PID})|(?P<pid_bracket>{PID_COLUMN}))?(?P<secontext>{SECONTEXT})?(?P<clock>{CLOCK})?"
    "(?:(?P<since>{SINCE})|(?P<since_beside>{SINCE_BESIDE}))?(?P<number>{NUMBER})?(?P<address>{ADDRESS})?"
)

#: Leaders that differ in digits only have one shape.
_ZEROS: Final = str.maketrans("123456789", "000000000")
_FRACTION = re.compile(r"\.(?P<digits>[0-9]{3,9})")


@dataclass(frozen=True, slots=True)
class Layout:
    """A leader of fixed width.

    Attributes:
        width: characters before the call.
        pattern: what a line must start with.
        fields: name of a field -> start and length of its text.
    """

    width: int
    pattern: str
    fields: dict[str, tuple[int, int]]


def layout_of(lines: Iterable[str]) -> Layout | None:
    """The most common leader of fixed width; None when its parts have no fixed width (command names, contexts).

    Examples:
        >>> layout = layout_of(["12345 1795253115.946438 close(3) = 0", "999   1795253115.946438 close(3) = 0"])
        >>> layout.width, layout.fields["clock"]
        (24, (6, 17))
    """
    leader = re.compile(GRAMMAR.pattern(f"^{LEADER}"))
    layouts: Counter[tuple[str, tuple[tuple[str, tuple[int, int]], ...]]] = Counter()
    widths: dict[str, int] = {}
    shapes: dict[str, tuple[str, dict[str, tuple[int, int]]] | None] = {}
    for line in lines:
        found = leader.match(line)
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


def _shape(leader: re.Match[str]) -> tuple[str, dict[str, tuple[int, int]]] | None:
    """A pattern of fixed width for this leader, and where its fields stand."""
    pattern: list[str] = []
    fields: dict[str, tuple[int, int]] = {}
    parts = leader.groupdict()
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
        fields["clock"] = (leader.start("clock"), len(text) - 1)
        whole = "[0-9]{2}:[0-9]{2}:[0-9]{2}" if ":" in text else f"[0-9]{{{len(text.partition('.')[0].rstrip())}}}"
        pattern.append(whole + _fraction(text) + " ")
    if text := parts["since"]:
        fields["since"] = (leader.start("since"), len(text) - 1)
        pattern.append(_right_padded(len(text.partition(".")[0].rstrip(" "))) + _fraction(text) + " ")
    if text := parts["since_beside"]:
        fields["since"] = (leader.start("since_beside") + 2, len(text) - 4)
        pattern.append(rf"\(\+{_right_padded(len(text.partition('.')[0].rstrip(') ')) - 2)}{_fraction(text)}\) ")
    if text := parts["number"]:
        fields["number"] = (leader.start("number") + 1, len(text) - 3)
        pattern.append(rf"\[{_right_padded(len(text) - 3)}\] ")
    if text := parts["address"]:
        fields["address"] = (leader.start("address") + 1, len(text) - 3)
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
