"""The documents of JSON in a log of sysstat's tools, with their figures as they are printed."""

from __future__ import annotations

import json
from itertools import accumulate, pairwise
from typing import Any, Final, NamedTuple

from logframe import Diagnostic, LogParseError

_SYSSTAT: Final = '"sysstat"'
#: This much text around a place is shown.
_SHOWN: Final = 40


class Figure(str):
    """A number of the JSON as it is printed there."""

    __slots__ = ()


_DECODER: Final = json.JSONDecoder(parse_float=Figure, parse_int=Figure)


class Document(NamedTuple):
    """One document of a log.

    Attributes:
        root: the object, with its figures as text.
        text: as far as it is whole, and what closes it.
        line: the first line of it, from 0.
        start: where its text begins in that of the log.
        end: where its text ends there.
    """

    root: dict[str, Any]
    text: str
    line: int
    start: int
    end: int


def is_document(line: str, below: str) -> bool:
    """Whether a document of sysstat begins in a line.

    Args:
        line: stripped.
        below: the line after it.
    """
    return line.startswith("{") and _SYSSTAT in line + below


def documents_of(name: str, text: str) -> tuple[list[Document], list[Diagnostic]]:
    """The documents of a log; lines that are of none are diagnostics.

    Args:
        name: of the log.
        text: of the log.

    Raises:
        LogParseError: there is not one, or none from whose beginning an object is whole.
    """
    lines = text.split("\n")
    stripped = [line.strip() for line in lines]
    starts = [number for number, each in enumerate(pairwise([*stripped, ""])) if is_document(*each)]
    places = [0, *accumulate(len(line) + 1 for line in lines)]
    found: list[Document] = []
    notes: list[Diagnostic] = []
    damage: json.JSONDecodeError | None = None
    done = 0
    for start, following in pairwise([*starts, len(lines)]):
        if start < done:  # within the document before
            continue
        begin, end = places[start], min(places[following], len(text))
        notes += _unread(name, lines[done:start], done)
        try:
            root, stop = _DECODER.raw_decode(text, text.index("{", begin))
        except json.JSONDecodeError as error:
            damage = damage or error
            document = _whole_of(text[begin : max(min(end, error.pos), begin)], start, begin)
            found += [document] if document is not None else []
            notes += _cut(name, text, (begin if document is None else document.end, end), error)
            done = following
            continue
        found.append(Document(root, text[begin:stop], start, begin, stop))
        last = start + text.count("\n", begin, stop)
        notes += _unread(name, [text[stop : places[last + 1] - 1]], last)
        done = last + 1
    notes += _unread(name, lines[done:], done)
    if damage is not None and not found:
        raise LogParseError(str(damage), source=name, line=damage.lineno, column=damage.colno) from damage
    if not found:
        raise LogParseError("no document of sysstat", source=name, expected="the JSON of a tool of sysstat")
    return found, notes


def _unread(name: str, lines: list[str], first: int, reason: str = "no JSON of sysstat") -> list[Diagnostic]:
    """Lines that are of no document."""
    return [
        Diagnostic(name, number, None, "unparsed", line.strip(), reason)
        for number, line in enumerate(lines, first + 1)
        if line.strip()
    ]


def _whole_of(text: str, line: int, start: int) -> Document | None:
    """The document that begins in a text without its end, up to the last object that is whole; None without one."""
    depth: list[str] = []
    last, closing = 0, 0
    is_string = is_escaped = False
    for place, letter in enumerate(text):
        if is_string:
            is_string, is_escaped = is_escaped or letter != '"', letter == "\\" and not is_escaped
        elif letter == '"':
            is_string = True
        elif letter in "{[":
            depth.append("}" if letter == "{" else "]")
        elif letter in "}]" and depth:
            depth.pop()
            last, closing = place + 1, len(depth)
    # what was opened before the last end was not closed since then
    whole = text[:last] + "".join(reversed(depth[:closing]))
    try:
        root, _ = _DECODER.raw_decode(whole, whole.index("{") if last else 0)
    except json.JSONDecodeError:
        return None
    return Document(root, whole, line, start, start + last)


def _cut(name: str, text: str, place: tuple[int, int], error: json.JSONDecodeError) -> list[Diagnostic]:
    """The lines of a document from where it is not whole on."""
    start, end = place
    first = text.count("\n", 0, start) + 1
    lines = text[start:end].rstrip().split("\n")
    notes = _unread(name, lines, first - 1, "the JSON ends early or is damaged: no part of what is whole")
    # the object without an end may go on in the document below
    last = first + len(lines) - 1
    line, column = (error.lineno, error.colno) if error.lineno <= last else (last, None)
    own = lines[line - first].strip() if line >= first else ""
    shown = own or text[max(error.pos - _SHOWN, 0) : error.pos + _SHOWN]
    rest = [note for note in notes if note.line != line]
    return [Diagnostic(name, line, column, "cut", shown, "the JSON ends early"), *rest]
