r"""Patterns of terminals as trees: what an automaton can be built from, and the same pattern for Polars.

A pattern is parsed by Python's own parser (``re._parser``), so that its meaning is that of `re`, decided as follows:

* ``\d``, ``\w`` and ``\s`` are ASCII, as with `re.ASCII`; ``.`` and ``[^a]`` take any other character, too.
* A pattern describes a whole line, which holds no newline: ``.`` and every class leave it out.
* For such a verdict a lazy repetition equals a greedy one.
* ``^``, ``$``, ``\A``, ``\Z``, ``\b``, ``\B`` and look-around of one character are conditions on one neighbour.

Everything else (back-references, longer look-around, possessive repetition, conditionals) is a `PatternError`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

_parser: Any = import_module("re._parser")

#: Ranges of code points, both ends included, in order and apart.
Ranges = tuple[tuple[int, int], ...]
_LAST: Final = 0x10FFFF
#: The code points of text: no newline, no surrogate.
_TEXT: Final[Ranges] = ((0, 9), (11, 0xD7FF), (0xE000, _LAST))
#: The characters that take several bytes.
BEYOND_ASCII: Final[Ranges] = ((128, 0xD7FF), (0xE000, _LAST))
_CATEGORIES: Final[dict[str, Ranges]] = {
    "DIGIT": ((48, 57),),
    "SPACE": ((9, 13), (32, 32)),
    "WORD": ((48, 57), (65, 90), (95, 95), (97, 122)),
}


class PatternError(ValueError):
    """A pattern holds syntax that no automaton of this module can express."""


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of a set."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Beside:
    """A condition on one neighbour: the character after this place (`is_ahead`) or before it is in a set.

    At the end or the start of the line there is no neighbour, and `at_edge` is the answer.
    """

    ranges: Ranges
    is_ahead: bool
    at_edge: bool


@dataclass(frozen=True, slots=True)
class Sequence:
    """One part after the other."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several parts."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part, this many times; `most` is None where there is no limit."""

    part: Node
    least: int
    most: int | None


Node = Chars | Beside | Sequence | Choice | Repeat


def parse_pattern(pattern: str) -> Node:
    r"""The tree of a pattern in the syntax of `re`.

    Raises:
        PatternError: the pattern is no regular expression, or holds syntax outside the language of this module.

    Examples:
        >>> parse_pattern("a+")
        Repeat(part=Chars(ranges=((97, 97),)), least=1, most=None)
        >>> parse_pattern(r"(?=ab)")
        Traceback (most recent call last):
        logframe.patterns.PatternError: look-around of more than one character
    """
    try:
        parsed = _parser.parse(pattern, re.ASCII)
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(f"not a regular expression: {error}") from error
    flags = parsed.state.flags
    if flags & re.LOCALE:
        raise PatternError("the flag L")
    return _sequence(parsed, bool(flags & re.IGNORECASE))


def united(*sets: Ranges) -> Ranges:
    """The code points that are in any of the sets.

    Examples:
        >>> united(((1, 3), (9, 9)), ((4, 5),))
        ((1, 5), (9, 9))
    """
    merged: list[tuple[int, int]] = []
    for first, last in sorted(pair for ranges in sets for pair in ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return tuple(merged)


def inverted(ranges: Ranges) -> Ranges:
    """The code points that are not in the set."""
    out: list[tuple[int, int]] = []
    start = 0
    for first, last in ranges:
        if first > start:
            out.append((start, first - 1))
        start = last + 1
    if start <= _LAST:
        out.append((start, _LAST))
    return tuple(out)


def common(one: Ranges, other: Ranges) -> Ranges:
    """The code points that are in both sets."""
    return inverted(united(inverted(one), inverted(other)))


def _sequence(items: Any, ignores_case: bool) -> Node:  # noqa: ANN401, FBT001 - what `re` parsed has no type
    parts = tuple(_node(str(operator), value, ignores_case) for operator, value in items)
    return parts[0] if len(parts) == 1 else Sequence(parts)


def _node(operator: str, value: Any, ignores_case: bool) -> Node:  # noqa: ANN401, FBT001 - as in _sequence
    match operator:
        case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
            return Chars(_class(operator, value, ignores_case))
        case "BRANCH":
            return Choice(tuple(_sequence(items, ignores_case) for items in value[1]))
        case "SUBPATTERN":
            _, added, removed, items = value
            if added & re.LOCALE:
                raise PatternError("the flag L")
            return _sequence(items, (ignores_case or bool(added & re.IGNORECASE)) and not removed & re.IGNORECASE)
        case "MAX_REPEAT" | "MIN_REPEAT":
            least, most, items = value
            return Repeat(_sequence(items, ignores_case), least, None if most == _parser.MAXREPEAT else int(most))
        case "AT":
            return _edge(str(value))
        case "ASSERT" | "ASSERT_NOT":
            direction, items = value
            return _beside(_sequence(items, ignores_case), direction > 0, operator == "ASSERT_NOT")
        case _:
            raise PatternError(f"the construct {operator.lower()}")


def _class(operator: str, value: Any, ignores_case: bool) -> Ranges:  # noqa: ANN401, FBT001 - as in _sequence
    match operator:
        case "ANY":
            return _TEXT
        case "LITERAL":
            ranges: Ranges = ((value, value),)
        case "NOT_LITERAL":
            return common(inverted(_folded(((value, value),), ignores_case)), _TEXT)
        case _:
            return _set(value, ignores_case)
    return common(_folded(ranges, ignores_case), _TEXT)


def _set(items: Any, ignores_case: bool) -> Ranges:  # noqa: ANN401, FBT001 - as in _sequence
    negated = False
    found: list[Ranges] = []
    for operator, value in items:
        match str(operator):
            case "NEGATE":
                negated = True
            case "LITERAL":
                found.append(((value, value),))
            case "RANGE":
                found.append(((value[0], value[1]),))
            case _:
                found.append(_category(str(value)))
    ranges = _folded(united(*found), ignores_case)
    return common(inverted(ranges) if negated else ranges, _TEXT)


def _category(name: str) -> Ranges:
    name = name.removeprefix("CATEGORY_")
    ranges = _CATEGORIES[name.removeprefix("NOT_")]
    return inverted(ranges) if name.startswith("NOT_") else ranges


def _folded(ranges: Ranges, ignores_case: bool) -> Ranges:  # noqa: FBT001 - as in _sequence
    """The set with both cases of its ASCII letters, where case does not count."""
    if not ignores_case:
        return ranges
    if common(ranges, BEYOND_ASCII) not in {(), BEYOND_ASCII}:
        raise PatternError("characters beyond ASCII where case does not count")
    lower, upper = common(ranges, ((97, 122),)), common(ranges, ((65, 90),))
    shifted = [(first - 32, last - 32) for first, last in lower] + [(first + 32, last + 32) for first, last in upper]
    return united(ranges, tuple(shifted))


def _edge(place: str) -> Node:
    word = _CATEGORIES["WORD"]
    match place:
        case "AT_BEGINNING" | "AT_BEGINNING_STRING":
            return Beside((), is_ahead=False, at_edge=True)
        case "AT_END" | "AT_END_STRING":
            return Beside((), is_ahead=True, at_edge=True)
        case "AT_BOUNDARY" | "AT_NON_BOUNDARY":
            sides = []
            for before in (True, False):
                after = before is (place == "AT_NON_BOUNDARY")
                left = Beside(word if before else inverted(word), is_ahead=False, at_edge=not before)
                right = Beside(word if after else inverted(word), is_ahead=True, at_edge=not after)
                sides.append(Sequence((left, right)))
            return Choice(tuple(sides))
        case _:
            raise PatternError(f"the place {place.lower()}")


def _beside(node: Node, is_ahead: bool, is_negative: bool) -> Beside:  # noqa: FBT001 - as in _sequence
    """A look-around of one character, or of the end of the line, as a condition."""
    options = node.parts if isinstance(node, Choice) else (node,)
    ranges: Ranges = ()
    at_edge = False
    for option in options:
        if isinstance(option, Chars):
            ranges = united(ranges, option.ranges)
        elif isinstance(option, Beside) and option.is_ahead is is_ahead and not option.ranges:
            at_edge = at_edge or option.at_edge
        else:
            raise PatternError("look-around of more than one character")
    if is_negative:
        return Beside(common(inverted(ranges), _TEXT), is_ahead, not at_edge)
    return Beside(ranges, is_ahead, at_edge)


def polars_pattern(node: Node) -> str | None:
    r"""The same language for the regex engine of Polars; None where a condition on a neighbour is not an edge.

    Examples:
        >>> polars_pattern(parse_pattern(r"\d{2}(?:a|bc)*$"))
        '[0-9]{2}(?:[a]|[b][c])*$'
    """
    match node:
        case Chars(ranges):
            if not ranges:
                return r"[^\x{0}-\x{10FFFF}]"
            return f"[{''.join(_range(first, last) for first, last in ranges)}]"
        case Beside((), is_ahead, True):
            return "$" if is_ahead else "^"
        case Beside():
            return None
        case Sequence(parts):
            return _joined(parts, "")
        case Choice(parts):
            joined = _joined(parts, "|")
            return None if joined is None else f"(?:{joined})"
        case Repeat(part, least, most):
            inner = polars_pattern(part)
            if inner is None:
                return None
            inner = inner if isinstance(part, Chars | Choice) else f"(?:{inner})"
            return inner + _count(least, most)


def _joined(parts: tuple[Node, ...], glue: str) -> str | None:
    texts = [polars_pattern(part) for part in parts]
    return None if None in texts else glue.join(text for text in texts if text is not None)


def _count(least: int, most: int | None) -> str:
    match least, most:
        case 0, None:
            return "*"
        case 1, None:
            return "+"
        case 0, 1:
            return "?"
        case _, None:
            return f"{{{least},}}"
        case _:
            return f"{{{least}}}" if least == most else f"{{{least},{most}}}"


def _range(first: int, last: int) -> str:
    return _escaped(first) if first == last else f"{_escaped(first)}-{_escaped(last)}"


def _escaped(code: int) -> str:
    char = chr(code)
    return char if char.isascii() and char.isalnum() else f"\\x{{{code:X}}}"
