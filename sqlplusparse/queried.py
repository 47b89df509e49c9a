"""The tables that queries returned, each column with the expression that it was selected as."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from logframe import load_grammar, read_printed
from logframe.interval import Interval
from logframe.printed import decimal_mark

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlplusparse.reader import Spool

_GRAMMAR: Final = load_grammar("sqlplusparse", "queried.lark")
_TOKENS: Final = re.compile(_GRAMMAR.pattern("{QUOTED}|{WORD}|{SIGN}"))
_SCALE: Final = re.compile(_GRAMMAR.pattern("{SCALE}"))
_HEADING_WORDS: Final = re.compile(_GRAMMAR.pattern("{HEADING_WORD}"))
_PRODUCT: Final = re.compile(_GRAMMAR.pattern("{PRODUCT}"))
_POWER: Final = re.compile(_GRAMMAR.pattern("{POWER}"))
#: Units of time that a heading ends with, in s.
_UNITS: Final = {
    **dict.fromkeys(("s", "sec", "secs", "seconds"), 1.0), **dict.fromkeys(("ms", "msec", "millis"), 1e-3),
    **dict.fromkeys(("us", "usec", "micro", "micros", "microsecs"), 1e-6), **dict.fromkeys(("cs", "csec"), 1e-2),
    **dict.fromkeys(("min", "mins", "minutes"), 60.0), **dict.fromkeys(("h", "hours", "hrs"), 3600.0),
}  # fmt: skip
#: Units of sizes that a heading ends with, in bytes.
_SIZES: Final = {"bytes": 1.0, "kb": 2.0**10, "mb": 2.0**20, "gb": 2.0**30, "tb": 2.0**40}
#: Functions of several rows that are no sum of them.
_OF_ONE: Final = frozenset({"avg", "max", "min", "median"})
#: Words of an expression with a count of rows that is another figure.
NO_COUNTS: Final = frozenset({"distinct", "over", "ratio_to_report"})
#: Words of a heading of an average or a share.
_NO_SUMS: Final = frozenset({"avg", "average", "per", "pct", "ratio", "exec", "each", "max", "min", "mean"})


@dataclass(frozen=True)
class Column:
    """A column of a result: its heading, and the tokens it was selected as, in lower case; else the heading."""

    heading: str
    tokens: tuple[str, ...]

    @cached_property
    def words(self) -> frozenset[str]:
        """The names in its expression, without those of tables."""
        return frozenset(token.rpartition(".")[2] for token in self.tokens)

    @cached_property
    def heading_words(self) -> list[str]:
        """The words of its heading, in lower case."""
        return _HEADING_WORDS.findall(self.heading.lower())

    @property
    def heading_unit(self) -> float | None:
        """The unit of time that its heading ends with, in s; None where it names none."""
        return next((_UNITS[word] for word in reversed(self.heading_words) if word in _UNITS), None)

    @property
    def counts_rows(self) -> bool:
        """Whether it is a number of rows: neither of distinct values, nor a share or a rank, nor multiplied.

        Examples:
            >>> [Column("N", ("count", "(", *of, ")")).counts_rows for of in (("*",), ("distinct", "sid"))]
            [True, False]
        """
        return "count" in self.words and not self.words & NO_COUNTS and self._scale() == 1

    def unit(self, names: dict[str, float]) -> float | None:
        """What the figures of a sum of times have to be multiplied with to be seconds; None where it is no such sum.

        Args:
            names: columns of views, in lower case, and their units in s; or words of headings without one (0).

        Examples:
            >>> Column("ELA", ("round", "(", "elapsed_time", "/", "1e3", ",", "1", ")")).unit({"elapsed_time": 1e-6})
            0.001
            >>> Column("EACH", ("elapsed_time", "/", "executions")).unit({"elapsed_time": 1e-6})
            >>> Column("ELA_S", ("ela_s",)).unit({"elapsed_time": 1e-6, "ela": 0})
            1.0
        """
        step = next((names[name] for name in names if names[name] and name in self.words), 0.0)
        if not step:
            words = self.heading_words
            units = [_UNITS[word] for word in words[len(words) > 1 :] if word in _UNITS]
            return units[-1] if units and set(names) & set(words) and not _NO_SUMS & {*words} else None
        if self.words & {*_OF_ONE, "ratio_to_report"}:
            return None
        return step * scale if (scale := self._scale()) is not None else None

    def _scale(self) -> float | None:
        """What its figures are multiplied with to be those of the column it selects; None where others divide it."""
        scale = 1.0
        for before, sign, value in zip(("", *self.tokens), self.tokens, self.tokens[1:], strict=False):
            if sign not in {"/", "*"} or value == ")":
                continue
            factor = before if sign == "*" and not _SCALE.fullmatch(value) else value
            if not _SCALE.fullmatch(factor):
                return None
            scale = scale * float(factor) if sign == "/" else scale / float(factor)
        return scale

    def measure(self, units: Mapping[str, tuple[str, float]]) -> tuple[str, str, float, bool] | None:
        """What its figures measure: the column of a view, kind, what to multiply with, and whether rows add up.

        Args:
            units: columns of views: what one counts (``s``, ``bytes``, or ``n``), and how many.

        Returns:
            The name of an average ends with ``/``.  None where neither the expression nor the heading says it.

        Examples:
            >>> units = {"readtim": ("s", 0.01), "blocks": ("n", 1.0)}
            >>> Column("READ_S", ("sum", "(", "readtim", "/", "100", ")")).measure(units)
            ('readtim', 's', 1.0, True)
            >>> Column("MS", ("readtim", "*", "10", "/", "phyrds")).measure(units)
            ('readtim/', 's', 0.001, False)
            >>> Column("MS", ("readtim", "/", "nullif", "(", "phyrds", ",", "0", ")", "*", "10")).measure(units)
            ('readtim/', 's', 0.001, False)
            >>> Column("GB", ("blocks", "*", "block_size", "/", "1e9")).measure(units)
            ('blocks', 'bytes', 1073741824.0, True)
            >>> Column("N", ("n",)).measure(units)
        """
        heading = self.heading_words
        printed = next((("bytes", _SIZES[word]) for word in reversed(heading) if word in _SIZES), None)
        printed = printed or next((("s", _UNITS[word]) for word in heading[1:] if word in _UNITS), None)
        name = next((word for token in self.tokens if (word := token.rpartition(".")[2]) in units), "")
        scale, is_sum = self._scale(), not self.words & _OF_ONE and not _NO_SUMS & {*heading}
        if not name:
            return printed and (heading[0], *printed, is_sum)
        kind, unit = units[name]
        if scale is not None and (printed is None or kind != "n"):
            return f"{name}/" if self.words & {"avg", "median"} else name, kind, unit * scale, is_sum
        if kind == "n" and printed is not None:
            return name, *printed, is_sum
        of_time = printed if printed and printed[0] == kind else None
        over = self.tokens[: self._divided()]
        each = Column("", over)._scale()  # noqa: SLF001 - of this class
        if name not in {token.rpartition(".")[2] for token in over} or each is None:
            return None
        return f"{name}/", kind, of_time[1] if of_time else unit * each * self._scale_of_divisor(), False

    def _scale_of_divisor(self) -> float:
        """What factors within and after what another column divides make of the figures."""
        scale, depth, rest = 1.0, 0, self.tokens[self._divided() + 1 :]
        for sign, value in pairwise(rest):
            depth += (sign == "(") - (sign == ")")
            if sign in {"/", "*"} and _SCALE.fullmatch(value):
                scale *= float(value) if (sign == "/") == (depth <= 0) else 1 / float(value)
        return scale

    def _divided(self) -> int:
        """Where what another column divides begins."""
        pairs = zip(self.tokens, self.tokens[1:], strict=False)
        return next((n for n, (a, b) in enumerate(pairs) if a == "/" and not _SCALE.fullmatch(b)), len(self.tokens))


@dataclass(frozen=True)
class Queried:
    """A table that a query returned.

    Attributes:
        table, statement, line: its number in `Spool.tables`, that of its statement, and where that begins.
        words: the words of the statement, in lower case; where the log does not show it those with replaced variables.
        columns: as printed.
        spool: the session that it is of.
    """

    table: int
    statement: int | None
    line: int
    words: frozenset[str]
    columns: tuple[Column, ...]
    spool: Spool

    @cached_property
    def rows(self) -> list[tuple[str, ...]]:
        """Its rows, as printed; read on first use, as most tables are no listing of a view."""
        return self.spool.table_rows(self.table)

    def find(self, *names: str) -> int | None:
        """The first column that is selected as one of these, alone or within an expression."""
        whole = (n for name in names for n, one in enumerate(self.columns) if one.words == {name})
        return next(whole, next((n for n, one in enumerate(self.columns) if one.words & {*names}), None))

    def only(self, rows: list[tuple[str, ...]]) -> Queried:
        """The same table with some of its rows."""
        part = replace(self)
        vars(part)["rows"] = rows  # what it would read on first use
        return part

    def are_totals(self, column: int | None) -> bool:
        """Whether a column is of a view of history and holds totals since the start, no differences of them."""
        is_history = any(word.rpartition(".")[2].startswith("dba_hist_") for word in self.words)
        words = frozenset[str]() if column is None else self.columns[column].words
        return is_history and not {"lag", "lead"} & self.words and not {"-", "max"} & words

    def figures(self, column: int, unit: float = 1.0) -> list[Interval | None]:
        """The figures of a column with their rounding; None where a cell has none."""
        cells = [row[column] for row in self.rows]
        mark = decimal_mark(cell for cell in cells if cell)
        found = (read_printed(cell, decimal=mark, rounded=unit != 1.0) for cell in cells)
        ends = ((one.value, one.lo, one.hi) for one in found)
        return [
            None if value is None or lo is None or hi is None else Interval(value, lo, hi) * unit
            for value, lo, hi in ends
        ]


def queried_tables(spool: Spool) -> Iterator[Queried]:
    r"""The tables that queries of a session returned.

    Examples:
        >>> from sqlplusparse import read_spool
        >>> text = "SQL> select * from (select s.sql_id, elapsed_time/1e6 ela from v$sql s) where rownum < 9;\n\n"
        >>> text += "SQL_ID               ELA\n------------- ----------\n7xq2b0kd9mvz1   30118.42\n"
        >>> found, = queried_tables(read_spool(text.encode()))
        >>> [one.tokens for one in found.columns], "v$sql" in found.words
        ([('s.sql_id',), ('elapsed_time', '/', '1e6')], True)
    """
    statements = {row[0]: row[1:] for row in spool.statements.select("statement", "text", "first_line").iter_rows()}
    for number, statement, first, headings in spool.tables.select(
        "table", "statement", "first_line", "headings"
    ).iter_rows():
        text, line = statements.get(statement, ("", first))
        found = _TOKENS.findall(_whole_factors(text or spool.substituted(first)))
        tokens = [token.lower() if token[0] not in "'\"" else token for token in found]
        lists = list(_lists(tokens))
        columns = tuple(Column(name, _selected(name, place, headings, lists)) for place, name in enumerate(headings))
        yield Queried(number, statement, line, frozenset(tokens), columns, spool)


def _whole_factors(text: str) -> str:
    """A text with its products and powers of numbers, such as 1024*1024, as one number."""
    text = _POWER.sub(lambda found: f"{math.pow(*_numbers(found[0], ',')):.15g}", text)
    return _PRODUCT.sub(lambda found: f"{math.prod(_numbers(found[0], '*')):.15g}", text)


def _numbers(text: str, sign: str) -> list[float]:
    return [float(one) for one in text.partition("(")[2].strip(") ").split(sign)]


def _selected(heading: str, place: int, headings: Sequence[str], lists: list[list[list[str]]]) -> tuple[str, ...]:
    """The expression of a heading: that of its alias, else of its place in a list of as many columns."""
    named = [tokens for items in lists for alias, tokens in map(_alias, items) if alias == heading.lower()]
    for tokens in sorted(named, key=len, reverse=True):
        return tuple(tokens)
    of_place = next((items[place] for items in lists if len(items) == len(headings)), None)
    return (heading.lower(),) if of_place is None else tuple(_alias(of_place)[1])


def _alias(item: list[str]) -> tuple[str, list[str]]:
    """The heading of a selected item, and its expression."""
    last, before = item[-1], item[-2:-1]
    if before and (last[0] == '"' or last[0].isalpha()) and (before[0][-1] in ")'\"" or before[0][0].isalnum()):
        expression = item[:-1] if before != ["as"] else item[:-2]
        if last != "end" and expression:
            return last.strip('"').lower(), expression
    return last.strip('"').rpartition(".")[2].lower() if len(item) == 1 else "".join(item), item


def _lists(tokens: list[str]) -> Iterator[list[list[str]]]:
    """The lists of what each SELECT of a text selects, inner ones first."""
    depth, frames = 0, list[tuple[int, list[list[str]]]]()
    for token in tokens:
        depth += (token == "(") - (token == ")")
        if token == "select":
            frames.append((depth, [[]]))
        elif frames and depth == frames[-1][0] and token == "from":
            if all(items := frames.pop()[1]):
                yield items
        elif frames and depth == frames[-1][0] and token == ",":
            frames[-1][1].append([])
        else:
            for _, items in frames:
                items[-1].append(token)
