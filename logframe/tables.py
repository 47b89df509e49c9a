"""Automata kept between runs: their tables in the user's cache folder, by a hash of what they were built from.

A table is checked when it is loaded: its own hash, its size, and every number in it, because compiled code runs it
without looking.  A cache that cannot be read or written is no error: the automaton is built again.
"""

from __future__ import annotations

import hashlib
import json
import sys
from array import array
from functools import cache
from importlib.resources import files
from typing import Final

from logframe.automaton import STATE_LIMIT, Automaton, build_automaton
from logframe.user_cache import body_of, cache_folder, keep, signed

_MAGIC: Final = b"automaton 1\n"
#: An automaton depends on the code that builds it.
_BUILDERS: Final = ("patterns.py", "nfa.py", "automaton.py", "tables.py")


@cache
def load_automaton(rules: tuple[tuple[str, str], ...], *, limit: int = STATE_LIMIT) -> Automaton:
    """The automaton of named patterns, as `build_automaton` gives it, from the cache where it is there.

    Raises:
        AutomatonError: as `build_automaton`.
    """
    path = cache_folder("automata") / f"{_key(rules, limit)}.tables"
    kinds = tuple(name for name, _ in rules)
    try:
        return unpacked_tables(path.read_bytes(), kinds)
    except (OSError, ValueError):
        automaton = build_automaton(rules, limit=limit)
    keep(path, packed_tables(automaton))
    return automaton


def packed_tables(automaton: Automaton) -> bytes:
    """An automaton as bytes, with a hash of them at the start."""
    head = {"kinds": automaton.kinds, "width": automaton.width, "start": automaton.start, "states": automaton.states}
    parts = [json.dumps(head).encode(), b"\n", automaton.classes, automaton.tags]
    parts += [automaton.steps.typecode.encode(), sys.byteorder.encode(), b"\n", automaton.steps.tobytes()]
    return signed(_MAGIC, b"".join(parts))


def unpacked_tables(data: bytes, kinds: tuple[str, ...]) -> Automaton:
    """The automaton of `packed_tables`.

    Raises:
        ValueError: the bytes are damaged, of another machine or other patterns, or lead out of the tables.
    """
    line, _, rest = body_of(_MAGIC, data).partition(b"\n")
    head = json.loads(line)
    states, width, start = (_count(head, name) for name in ("states", "width", "start"))
    classes, tags, rest = rest[:256], rest[256 : 256 + states], rest[256 + states :]
    layout, _, numbers = rest.partition(b"\n")
    if layout[:1] not in {b"H", b"I"} or layout[1:] != sys.byteorder.encode() or tuple(head["kinds"]) != kinds:
        raise ValueError("the tables are of another machine or other patterns")
    steps = array(layout[:1].decode())
    steps.frombytes(numbers)
    if not is_sound(classes, width, start, steps, tags, len(kinds)):
        raise ValueError("the tables lead out of themselves")
    return Automaton(kinds, classes, width, start, steps, tags)


def is_sound(classes: bytes, width: int, start: int, steps: array[int], tags: bytes, kinds: int) -> bool:
    """Are all numbers of the tables within them?"""
    states = len(tags)
    return (
        len(classes) == 256
        and width > max(classes)
        and 0 <= start < states
        and len(steps) == states * width
        and max(steps) < states
        and max(tags) <= kinds <= 255
        and not any(steps[:width])
        and not tags[0]
    )


def _count(head: dict[str, object], name: str) -> int:
    value = head.get(name)
    if not isinstance(value, int) or not 0 <= value < 1 << 24:
        raise ValueError(f"the tables have no {name}")
    return value


def _key(rules: tuple[tuple[str, str], ...], limit: int) -> str:
    found = hashlib.sha256(json.dumps([sys.version_info[:2], limit, rules]).encode())
    for name in _BUILDERS:
        found.update(files("logframe").joinpath(name).read_bytes())
    return found.hexdigest()
