"""Classifiers: which of several patterns describes each line, by whichever engine is there.

The patterns are a grammar's (`logframe.Grammar.classifier`), in order of priority.  Polars expressions made of them
give the same answer on any machine; a pattern that needs a look at a neighbour, which the regex engine of Polars has
not, is matched by `re` over the lines that are left.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from logframe.automaton import AutomatonError
from logframe.patterns import PatternError, parse_pattern, polars_pattern
from logframe.tables import load_automaton

if TYPE_CHECKING:
    from collections.abc import Mapping

    from logframe.automaton import Automaton


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
    def automaton(self) -> Automaton:
        """The one automaton of all patterns.

        Raises:
            AutomatonError: it grows beyond its limit.
        """
        return load_automaton(self.rules)

    def kinds_of(self, lines: pl.Series) -> pl.Series:
        """The kind of each line, null where no pattern describes it or the line is null.

        Args:
            lines: texts without newlines.
        """
        return self.by_expressions(lines)

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
