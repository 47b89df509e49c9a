"""Classifiers: which of several patterns describes each line, by whichever engine is there.

The patterns are a grammar's (`logframe.Grammar.classifier`), in order of priority.  The compiled kernel runs one
automaton of them all over the lines (`logframe.kernel`).  Where it is missing, Polars expressions made of the same
patterns give the same answer; a pattern that needs look-around, which the regex engine of Polars has not, is
matched by `re` over the lines that are left.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from logframe.automaton import AutomatonError
from logframe.kernel import MOST_BYTES, Tables, load_kernel
from logframe.patterns import PatternError, parse_pattern, polars_pattern
from logframe.tables import load_automaton

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from logframe.automaton import Automaton
    from logframe.kernel import Kernel


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
