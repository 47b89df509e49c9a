"""The nondeterministic automaton of `logframe.automaton`: Thompson's construction over UTF-8 bytes.

States are numbers, sets of states are the bits of an integer.  An edge is taken on a byte of a mask (256 bits), without
a byte, or without a byte where a neighbour satisfies a condition (`logframe.patterns.Beside`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from logframe.patterns import BEYOND_ASCII, Beside, Chars, Choice, Node, PatternError, Ranges, Repeat, Sequence, common

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Repetitions are written out; a pattern of more states is refused.
_MOST_STATES: Final = 100_000
_ASCII: Final[Ranges] = ((0, 127),)
#: The bytes of characters beyond ASCII.
_HIGH_BYTES: Final = ((1 << 256) - 1) ^ ((1 << 128) - 1)


class Nfa:
    """States and edges of all rules together; state 0 is the start."""

    def __init__(self) -> None:
        self.bytes: list[list[tuple[int, int]]] = [[]]
        self.free: list[list[int]] = [[]]
        self.guarded: list[list[tuple[int, bool, bool, int]]] = [[]]  # mask, is_ahead, at_edge, target
        self.accepts: dict[int, int] = {}
        self.firsts: list[int] = []
        self.byte_classes: list[int] = []

    def add_rule(self, place: int, node: Node) -> None:
        """Add a pattern whose lines get the tag ``place + 1``."""
        first = len(self.bytes)
        self.firsts.append(first)
        start = self._state()
        self.free[0].append(start)
        self.accepts[self._built(node, start)] = place

    def _state(self) -> int:
        if len(self.bytes) >= _MOST_STATES:
            raise PatternError(f"more than {_MOST_STATES} states when its repetitions are written out")
        self.bytes.append([])
        self.free.append([])
        self.guarded.append([])
        return len(self.bytes) - 1

    def _built(self, node: Node, start: int) -> int:
        """The state after a node that begins at a state."""
        match node:
            case Chars(ranges):
                end = self._state()
                for path in byte_paths(ranges):
                    here = start
                    for mask in path[:-1]:
                        following = self._state()
                        self.bytes[here].append((mask, following))
                        here = following
                    self.bytes[here].append((path[-1], end))
                return end
            case Beside(ranges, is_ahead, at_edge):
                end = self._state()
                self.guarded[start].append((_neighbours(ranges), is_ahead, at_edge, end))
                return end
            case Sequence(parts):
                for part in parts:
                    start = self._built(part, start)
                return start
            case Choice(parts):
                end = self._state()
                for part in parts:
                    first = self._state()
                    self.free[start].append(first)
                    self.free[self._built(part, first)].append(end)
                return end
            case Repeat(part, least, most):
                return self._repeated(part, least, most, start)

    def _repeated(self, part: Node, least: int, most: int | None, start: int) -> int:
        for _ in range(least):
            start = self._built(part, start)
        end = self._state()
        if most is None:
            loop = self._state()
            self.free[start].append(loop)
            self.free[self._built(part, loop)].append(loop)
            self.free[loop].append(end)
            return end
        self.free[start].append(end)
        for _ in range(most - least):
            start = self._built(part, start)
            self.free[start].append(end)
        return end

    def close(self) -> None:
        """Prepare the tables that `steps` needs, once all rules are added."""
        masks = {mask for edges in self.bytes for mask, _ in edges}
        masks |= {mask for edges in self.guarded for mask, *_ in edges}
        ordered = sorted(masks)
        seen: dict[tuple[int, ...], int] = {}
        self.byte_classes = [
            seen.setdefault(tuple(mask >> byte & 1 for mask in ordered), len(seen)) for byte in range(256)
        ]
        self._count = len(seen)
        one_byte = {number: byte for byte, number in enumerate(self.byte_classes)}
        self._classes = {
            mask: [number for number in range(self._count) if mask >> one_byte[number] & 1] for mask in masks
        }
        self._one_byte = [one_byte[number] for number in range(self._count)]
        self._closures: list[int | None] = [None] * len(self.bytes)
        self._guarded_bits = sum(1 << state for state, edges in enumerate(self.guarded) if edges)
        groups = {edge[:3] for edges in self.guarded for edge in edges if not edge[1]}
        self._guarded_groups = sorted(groups)
        self._sides = [self._side(byte) for byte in self._one_byte]
        self._moves = [[(self._classes[mask], self._closure(target)) for mask, target in edges] for edges in self.bytes]

    def _side(self, byte: int | None) -> int:
        """Which conditions on the character before hold after this byte (None: at the start), as bits."""
        return sum(
            1 << place
            for place, (mask, _, at_edge) in enumerate(self._guarded_groups)
            if (at_edge if byte is None else mask >> byte & 1)
        )

    def _closure(self, state: int) -> int:
        """The state and all that no byte and no condition separates from it."""
        known = self._closures[state]
        if known is not None:
            return known
        found, waiting = 1 << state, [state]
        while waiting:
            for target in self.free[waiting.pop()]:
                if not found >> target & 1:
                    found |= 1 << target
                    waiting.append(target)
        # states that only lead on without a byte need no place in a set
        kept = sum(
            1 << number
            for number in _places(found)
            if self.bytes[number] or self.guarded[number] or number in self.accepts
        )
        self._closures[state] = kept
        return kept

    def start_set(self) -> tuple[int, int]:
        """The set of states at the start of a line, with the conditions on the character before that hold there."""
        return self._keyed(self._closure(0), self._side(None))

    def _keyed(self, bits: int, side: int) -> tuple[int, int]:
        return (bits, side if bits & self._guarded_bits else 0)

    def steps(self, current: tuple[int, int]) -> list[tuple[int, int]]:
        """The next set for each class of bytes."""
        bits, side = current
        found = [0] * self._count
        if not bits & self._guarded_bits:
            for state in _places(bits):
                for classes, closure in self._moves[state]:
                    for number in classes:
                        found[number] |= closure
        else:
            for number, byte in enumerate(self._one_byte):
                for state in _places(self._opened(bits, side, byte)):
                    for classes, closure in self._moves[state]:
                        if number in classes:
                            found[number] |= closure
        return [self._keyed(next_bits, self._sides[number]) for number, next_bits in enumerate(found)]

    def _opened(self, bits: int, side: int, byte: int | None) -> int:
        """The set with the states after conditions that hold before this byte (None: at the end)."""
        waiting = _places(bits & self._guarded_bits)
        while waiting:
            for mask, is_ahead, at_edge, target in self.guarded[waiting.pop()]:
                if is_ahead:
                    holds = at_edge if byte is None else bool(mask >> byte & 1)
                else:
                    holds = bool(side >> self._guarded_groups.index((mask, is_ahead, at_edge)) & 1)
                if holds and (added := self._closure(target) & ~bits):
                    bits |= added
                    waiting += _places(added & self._guarded_bits)
        return bits

    def tag_of(self, current: tuple[int, int]) -> int:
        """The tag of a line that ends in this set: the first rule's place plus one; 0 for none."""
        bits, side = current
        if bits & self._guarded_bits:
            bits = self._opened(bits, side, None)
        return min((self.accepts[state] + 1 for state in _places(bits) if state in self.accepts), default=0)

    def shares(self, bits: int) -> Iterator[tuple[int, int]]:
        """The part of a set that belongs to each rule, where there is one."""
        ends = [*self.firsts[1:], len(self.bytes)]
        for place, (first, end) in enumerate(zip(self.firsts, ends, strict=True)):
            if own := bits >> first & ((1 << end - first) - 1):
                yield place, own


def _places(bits: int) -> list[int]:
    """The numbers of the bits that are set."""
    found = []
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1)
        bits ^= low
    return found


def _mask(first: int, last: int) -> int:
    return (1 << last + 1) - (1 << first)


def byte_paths(ranges: Ranges) -> list[tuple[int, ...]]:
    """The UTF-8 bytes of a set of characters: paths of masks, one character of the set being a byte of each mask.

    Examples:
        >>> [len(path) for path in byte_paths(((97, 122), (0x400, 0x4FF)))]
        [1, 2]
    """
    paths: list[tuple[int, ...]] = []
    ascii_mask = sum(_mask(first, last) for first, last in common(ranges, _ASCII))
    if ascii_mask:
        paths.append((ascii_mask,))
    for bounds in ((0x80, 0x7FF), (0x800, 0xD7FF), (0xE000, 0xFFFF), (0x10000, 0x10FFFF)):
        for first, last in common(ranges, (bounds,)):
            paths += _split(chr(first).encode(), chr(last).encode())
    return paths


def _split(first: bytes, last: bytes) -> list[tuple[int, ...]]:
    """Paths for all encoded characters from `first` to `last`, which have the same length."""
    if len(first) == 1:
        return [(_mask(first[0], last[0]),)]
    low, high = b"\x80" * (len(first) - 1), b"\xbf" * (len(first) - 1)
    if first[0] == last[0]:
        return [(1 << first[0], *rest) for rest in _split(first[1:], last[1:])]
    paths: list[tuple[int, ...]] = []
    start, end = first[0], last[0]
    if first[1:] != low:
        paths += [(1 << start, *rest) for rest in _split(first[1:], high)]
        start += 1
    if last[1:] != high:
        paths += [(1 << end, *rest) for rest in _split(low, last[1:])]
        end -= 1
    if start <= end:
        paths.append((_mask(start, end), *[_mask(0x80, 0xBF)] * (len(first) - 1)))
    return paths


def _neighbours(ranges: Ranges) -> int:
    """The bytes beside a place where the neighbour is in a set of characters.

    Raises:
        PatternError: the set has some characters beyond ASCII but not all, which one byte does not tell.
    """
    beyond = common(ranges, BEYOND_ASCII)
    if beyond not in {(), BEYOND_ASCII}:
        raise PatternError("look-around at some characters beyond ASCII")
    return sum(_mask(first, last) for first, last in common(ranges, _ASCII)) | (_HIGH_BYTES if beyond else 0)
