"""One automaton for many patterns: which of them describes a whole line, found in one pass over its bytes.

`build_automaton` turns named patterns, in order of priority, into one minimal deterministic automaton over UTF-8 bytes.
Patterns become a nondeterministic automaton (Thompson's construction), conditions on neighbours are resolved while
its sets of states are enumerated (subset construction), and equivalent states are merged (Moore).  A line
that is not valid UTF-8 is described by no pattern.

The tables are plain integers: `logframe.kernel` runs them over buffers, `Automaton.kind_of` over one line.
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from logframe.nfa import Nfa
from logframe.patterns import PatternError, parse_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

#: An automaton of more states before minimisation is refused: a pattern of it blows up.
STATE_LIMIT: Final = 20_000


class AutomatonError(ValueError):
    """No automaton can be built from a pattern; the message names it."""


@dataclass(frozen=True, slots=True)
class Automaton:
    """A minimal deterministic automaton over bytes.

    Attributes:
        kinds: names of the patterns, in order of priority.
        classes: of each byte its class: bytes of one class lead from every state to the same state.
        width: number of classes.
        start: the first state.
        steps: ``steps[state * width + class]`` is the next state; state 0 is dead: nothing leads out of it.
        tags: of each state the pattern that describes a line which ends there, from 1; 0 for none.
    """

    kinds: tuple[str, ...]
    classes: bytes
    width: int
    start: int
    steps: array[int]
    tags: bytes

    def kind_of(self, line: bytes) -> str | None:
        """The first pattern that describes the whole line; None where none does."""
        state = self.start
        for byte in line:
            state = self.steps[state * self.width + self.classes[byte]]
        tag = self.tags[state]
        return self.kinds[tag - 1] if tag else None

    @property
    def states(self) -> int:
        """Number of states, the dead one among them."""
        return len(self.tags)


def build_automaton(rules: Iterable[tuple[str, str]], *, limit: int = STATE_LIMIT) -> Automaton:
    r"""The automaton of named patterns, each in the syntax of `re` and meant for a whole line.

    Args:
        rules: name and pattern; where several describe a line, the first of them is its kind.
        limit: the most states before minimisation.

    Raises:
        AutomatonError: a pattern uses syntax that cannot be compiled, or the automaton grows beyond `limit`; the
            message names the pattern.

    Examples:
        >>> automaton = build_automaton([("number", r"\d+"), ("word", r"\w+")])
        >>> automaton.kind_of(b"42"), automaton.kind_of(b"x42"), automaton.kind_of(b"4 2")
        ('number', 'word', None)
    """
    named = list(rules)
    if len(named) > 255:
        raise AutomatonError(f"{len(named)} patterns in one automaton; at most 255 have a tag")
    nfa = Nfa()
    for place, (name, pattern) in enumerate(named):
        try:
            nfa.add_rule(place, parse_pattern(pattern))
        except PatternError as error:
            raise AutomatonError(f"{name}: {error}; no automaton can be built from it") from error
    rows, tags = _determined(nfa, [name for name, _ in named], limit)
    return _minimal(tuple(name for name, _ in named), nfa, rows, tags)


def _determined(nfa: Nfa, names: list[str], limit: int) -> tuple[list[list[int]], list[int]]:
    """Rows of next states by class, and tags, of the automaton whose states are sets; state 0 is the empty set."""
    nfa.close()
    start = nfa.start_set()
    numbers = {(0, 0): 0, start: 1}
    order = [(0, 0), start]
    rows: list[list[int]] = []
    tags: list[int] = []
    done = 0
    while done < len(order):
        current = order[done]
        done += 1
        row = []
        for found in nfa.steps(current):
            number = numbers.get(found)
            if number is None:
                number = numbers[found] = len(order)
                order.append(found)
                if number > limit:
                    raise AutomatonError(_too_large(nfa, names, order, limit))
            row.append(number)
        rows.append(row)
        tags.append(nfa.tag_of(current))
    return rows, tags


def _too_large(nfa: Nfa, names: list[str], order: list[tuple[int, int]], limit: int) -> str:
    """The message for an automaton beyond the limit: it names the pattern with most sets of its own states."""
    seen = Counter(place for place, _ in {(place, own) for bits, _ in order for place, own in nfa.shares(bits)})
    place, count = seen.most_common(1)[0]
    return (
        f"{names[place]}: the automaton has more than {limit} states, and this pattern alone is in {count} of "
        "them; rewrite it, or give it an automaton of its own"
    )


def _minimal(kinds: tuple[str, ...], nfa: Nfa, rows: list[list[int]], tags: list[int]) -> Automaton:
    """The automaton with equivalent states merged, and with equivalent bytes merged into classes."""
    blocks = tags
    count = len(set(tags))
    while True:
        seen: dict[tuple[int, ...], int] = {}
        lookup = blocks.__getitem__
        blocks = [
            seen.setdefault((block, *map(lookup, row)), len(seen)) for block, row in zip(blocks, rows, strict=True)
        ]
        if len(seen) == count:
            break
        count = len(seen)
    first: dict[int, int] = {}
    for state, block in enumerate(blocks):
        first.setdefault(block, state)
    # blocks are numbered by their first state, so the dead state stays 0
    merged = [[blocks[target] for target in rows[state]] for state in first.values()]
    columns: dict[tuple[int, ...], int] = {}
    classes = [columns.setdefault(column, len(columns)) for column in zip(*merged, strict=True)]
    steps = array("H" if len(merged) <= 0xFFFF else "I")
    kept = list(columns)
    for state in range(len(merged)):
        steps.extend(column[state] for column in kept)
    return Automaton(
        kinds,
        bytes(classes[number] for number in nfa.byte_classes),
        len(kept),
        blocks[1],
        steps,
        bytes(tags[state] for state in first.values()),
    )
