"""Regular lines: calls, halves of split calls, signals and exits, under a leader of fixed width, cut at known places.

Nothing here searches a line for a pattern from end to end: the leader and the name are checked by a pattern that stops
behind them, the outcome by one that starts behind the first equals sign, and the rest by counting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from straceparse.names import renamed
from straceparse.records import GRAMMAR

if TYPE_CHECKING:
    from straceparse.dialect import Dialect
    from straceparse.leader import Layout

#: A longer name, or a longer outcome, is read by pattern.
_NAME_WIDTH: Final = 48
_OUTCOME_WIDTH: Final = 120

_NAME: Final = "[a-z_][a-z0-9_]*"
_OUTCOME: Final = '(?:{VALUE})(?:{ERRNO})?(?: \\([^()"]*\\))?'
_RESUMED: Final = " resumed>"
_UNFINISHED: Final = " <unfinished ...>"
_EXITED: Final = "+++ exited with "
_SIGNAL: Final = "--- SIG"

_LINE: Final = pl.col("_line")
_OPENING, _CLOSING, _EQUALS = pl.col("_opening"), pl.col("_closing"), pl.col("_equals")


class Regular:
    """Expressions for regular lines; places are counted in bytes, so such a line is ASCII."""

    def __init__(self, layout: Layout, dialect: Dialect) -> None:
        self.layout = layout
        self.can_split = dialect.can_split
        self.elapsed_digits = dialect.elapsed_digits if dialect.has_elapsed else 0
        start = layout.width
        head = _LINE.str.slice(start, _NAME_WIDTH)
        self.outcome = _LINE.str.slice(_EQUALS + 3, _OUTCOME_WIDTH)
        self.opening = head.str.find("(", literal=True) + start
        self.syscall = _LINE.str.slice(start, _OPENING - start)
        self.is_resumed = self.is_unfinished = self.is_exited = self.is_signal = pl.lit(value=False)
        name = f"{_NAME}\\("
        if self.can_split:
            self.is_resumed = head.str.starts_with("<")
            self.is_unfinished = _LINE.str.ends_with(_UNFINISHED)
            self.is_exited, self.is_signal = head.str.starts_with(_EXITED), head.str.starts_with(_SIGNAL)
            name = (
                f"(?:{name}|<\\.\\.\\. {_NAME}{_RESUMED}|\\+\\+\\+ exited with [0-9]+ \\+\\+\\+$|{_SIGNAL}[A-Z0-9_+]+ )"
            )
            resumed_at = head.str.find(_RESUMED, literal=True) + (start + len(_RESUMED) - 1)
            self.opening = pl.when(self.is_resumed).then(resumed_at).otherwise(self.opening)
            self.syscall = (
                pl.when(self.is_resumed)
                .then(_LINE.str.slice(start + len("<... "), _OPENING - (start + len("<... ") + len(_RESUMED) - 1)))
                .otherwise(self.syscall)
            )
        self.start = f"^{layout.pattern}{name}"

    def places(self) -> list[pl.Expr]:
        """Where the arguments begin, where the first equals sign between blanks stands, and where the arguments end."""
        return [self.opening.alias("_opening"), _LINE.str.find(" = ", literal=True).alias("_equals")]

    def called(self) -> pl.Expr:
        """What stands between the opening bracket and the equals sign, or the mark of an unfinished call."""
        end = _EQUALS
        if self.can_split:
            end = pl.when(self.is_unfinished).then(_LINE.str.len_bytes() - len(_UNFINISHED)).otherwise(_EQUALS)
        return _LINE.str.slice(_OPENING + 1, end - _OPENING - 1)

    def condition(self) -> pl.Expr:
        """Is the line what its places promise?

        The leader and the name fit; behind the equals sign stands a simple outcome and nothing else; before it stands a
        closing bracket; no string is open.
        """
        elapsed = f" <[0-9]\\.[0-9]{{{self.elapsed_digits}}}>" if self.elapsed_digits else ""
        outcome = f"^(?:{_OUTCOME}{elapsed}|\\?)$"
        called = self.called()
        quotes = called.str.count_matches('"', literal=True) - called.str.count_matches('\\"', literal=True)
        bracketed = called.str.strip_chars_end(" ")
        ends = GRAMMAR.matches(self.outcome, outcome) & bracketed.str.ends_with(")") & ~bracketed.str.ends_with("...>)")
        if self.can_split:
            is_start = self.is_unfinished & ~self.is_resumed & ~called.str.contains("(", literal=True)
            is_mark = self.is_exited | (self.is_signal & _LINE.str.ends_with("---"))
            return (
                GRAMMAR.matches(_LINE, self.start)
                & (is_mark | is_start.fill_null(value=False) | ends.fill_null(value=False))
                & (is_mark | (quotes % 2 == 0))
                & (_LINE.str.len_bytes() == _LINE.str.len_chars())
            )
        return (
            GRAMMAR.matches(_LINE, self.start)
            & ends
            & (quotes % 2 == 0)
            & (_LINE.str.len_bytes() == _LINE.str.len_chars())
        )

    def texts(self) -> dict[str, pl.Expr]:
        """The parts of such a line."""
        value_end = self.outcome.str.find(" ", literal=True)
        failed = pl.when(self.outcome.str.contains(" ", literal=True)).then(self.outcome)
        args = self.called().str.strip_chars_end(" ").str.strip_suffix(")")
        value = pl.when(value_end.is_null()).then(self.outcome).otherwise(self.outcome.str.head(value_end))
        kind = pl.lit("call")
        errno = failed.str.extract(GRAMMAR.pattern("^[^ ]+({ERRNO})"), 1).str.strip_chars(" ")
        note = failed.str.extract(" (\\([^()]*\\))", 1)
        syscall = self.syscall
        if self.can_split:
            is_mark = self.is_exited | self.is_signal
            mark = _LINE.str.slice(self.layout.width + 4).str.head(-3).str.strip_chars(" ")
            note = pl.when(is_mark).then(mark).otherwise(note)
            value = pl.when(self.is_exited).then(mark.str.slice(len(_EXITED) - 4)).when(~self.is_signal).then(value)
            syscall, args = (pl.when(~is_mark).then(text) for text in (syscall, args))
            args = pl.when(self.is_unfinished).then(self.called()).otherwise(args)
            kind = (
                pl.when(self.is_unfinished)
                .then(pl.lit("unfinished"))
                .when(self.is_resumed)
                .then(pl.lit("resumed"))
                .when(self.is_exited)
                .then(pl.lit("exited"))
                .when(self.is_signal)
                .then(pl.lit("signal"))
                .otherwise(kind)
            )
        texts = {
            name: _LINE.str.slice(start, length).str.strip_chars(" ")
            for name, (start, length) in self.layout.fields.items()
        }
        if self.elapsed_digits:
            elapsed = _LINE.str.tail(self.elapsed_digits + 3).str.head(self.elapsed_digits + 2)
            texts["elapsed"] = pl.when(_LINE.str.ends_with(">") & ~self.is_unfinished).then(elapsed)
        return {
            **texts,
            "kind": kind,
            "syscall": syscall,
            "name": renamed(syscall),
            "args": args,
            "value": value,
            "errno": errno,
            "note": note,
        }
