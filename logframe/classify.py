"""Classifiers: which of several patterns describes each line, by whichever engine is there.

The patterns are a grammar's (`logframe.Grammar.classifier`), in order of priority.  The compiled kernel runs one
automaton of them all over the lines (`logframe.kernel`).  Where it is missing, Polars expressions made of the same
patterns give the same answer; a pattern that needs look-around, which the regex engine of Polars has not, is
matched by `re` over the lines that are left.

The tables of an automaton are kept in the user's cache folder, by a hash of what they were built from.  A table is
checked when it is loaded: its own hash, its size, and every number in it, because compiled code runs it
without looking.  A cache that cannot be read or written is no error: the automaton is built again.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from array import array
from functools import cache, cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Final

import polars as pl

from logframe.atomic import body_of, cache_folder, keep, signed
from logframe.automaton import STATE_LIMIT, Automaton, AutomatonError, build_automaton
from logframe.kernel import MOST_BYTES, Tables, load_kernel
from logframe.patterns import PatternError, parse_pattern, polars_pattern

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from logframe.kernel import Kernel


_MAGIC: Final = b"automaton 1\n"
#: An automaton depends on the code that builds it.
_BUILDERS: Final = ("patterns.py", "nfa.py", "automaton.py", "classify.py")


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


class Classifier:
    r"""Gives each line the first of several kinds whose pattern describes it.

    Args:
        rules: name of each kind and its pattern in the syntax of `re`, meant for a whole line; the first that
            describes a line is its kind.

    Raises:
        AutomatonError: a pattern uses syntax outside the language of `logframe.patterns`.

    Examples:
        >>> classifier = Classifier({"number": r"[0-9]+", "blank": r" *"})
        >>> classifier.kinds_of(pl.Series(["42", "x", ""])).to_list()
        ['number', None, 'blank']
    """

    def __init__(self, rules: Mapping[str, str]) -> None:
        self.rules = tuple(rules.items())
        self.kinds = tuple(rules)
        self._expressions: list[str | None] = []
        for name, pattern in self.rules:
            try:
                self._expressions.append(polars_pattern(parse_pattern(pattern)))
            except PatternError as error:
                raise AutomatonError(f"{name}: {error}; lines cannot be classified by it") from error

    @property
    def dtype(self) -> pl.Enum:
        """The type of the kinds: an Enum of their names, in order of priority."""
        return pl.Enum(self.kinds)

    @cached_property
    def _by_tag(self) -> pl.Series:
        return pl.Series([None, *self.kinds], dtype=self.dtype)

    @cached_property
    def automaton(self) -> Automaton:
        """The one automaton of all patterns.

        Raises:
            AutomatonError: it grows beyond its limit.
        """
        return load_automaton(self.rules)

    @cached_property
    def tables(self) -> Tables:
        """The tables of the automaton, for the kernel.

        Raises:
            AutomatonError: the automaton grows beyond its limit.
        """
        return Tables(self.automaton)

    def kinds_of(self, lines: pl.Series) -> pl.Series:
        """The kind of each line, null where no pattern describes it or the line is null.

        Args:
            lines: texts without newlines; one that holds a newline has no kind.
        """
        kernel = load_kernel()
        if kernel is None or int(lines.str.len_bytes().sum()) + len(lines) > MOST_BYTES:
            return self.by_expressions(lines)
        return self.by_kernel(lines, kernel)

    def tags_of(self, lines: Sequence[str]) -> bytes:
        """The place of each line's kind among the kinds, from 1, one byte a line; 0 where no pattern describes it.

        It is `kinds_of` for a few thousand lines that are in Python already.
        """
        kernel = load_kernel()
        if kernel is not None:
            data = "\n".join([*lines, ""]).encode()
            if len(data) <= MOST_BYTES:
                text = kernel.block_of(data)
                found = kernel.lines_of(text)
                if found.count == len(lines):  # no newline is within a text
                    tags = kernel.tags_of(text, found, self.tables)
                    return bytes(tags.view)
        kinds = self.kinds_of(pl.Series(lines, dtype=pl.String)).to_physical().cast(pl.Int16)
        return bytes((kinds + 1).fill_null(0).to_list())

    def by_kernel(self, lines: pl.Series, kernel: Kernel) -> pl.Series:
        """As `kinds_of`, by the compiled kernel; the lines have at most `logframe.kernel.MOST_BYTES` bytes."""
        filled = lines.fill_null("") if lines.null_count() else lines
        text = kernel.block_of(filled.str.join("\n").item().encode() + b"\n" * bool(len(lines)))
        found = kernel.lines_of(text)
        if found.count != len(lines):
            return self.by_expressions(lines)  # a newline is within a text
        tags = kernel.series("tag", "C", found.count, kernel.tags_of(text, found, self.tables))
        kinds = self._by_tag.gather(tags.cast(pl.UInt32)).alias(lines.name)
        return kinds.set(lines.is_null(), None) if lines.null_count() else kinds

    def by_expressions(self, lines: pl.Series) -> pl.Series:
        """As `kinds_of`, by Polars alone."""
        frame = pl.DataFrame({"line": lines, "kind": pl.Series([None], dtype=self.dtype).new_from_index(0, len(lines))})
        for (name, pattern), expression in zip(self.rules, self._expressions, strict=True):
            found: pl.Series | pl.Expr
            if expression is None:
                found = _matched(frame, re.compile(pattern, re.ASCII))
            else:
                found = pl.col("line").str.contains(f"^(?:{expression})$")
            kind = pl.when(pl.col("kind").is_null() & found).then(pl.lit(name, self.dtype)).otherwise("kind")
            frame = frame.with_columns(kind=kind)
        return frame.get_column("kind").alias(lines.name)


def _matched(frame: pl.DataFrame, pattern: re.Pattern[str]) -> pl.Series:
    """Which lines that have no kind yet does the pattern describe?"""
    return pl.Series(
        [
            kind is None and line is not None and "\n" not in line and pattern.fullmatch(line) is not None
            for line, kind in frame.select("line", "kind").iter_rows()
        ],
        dtype=pl.Boolean,
    )
