"""Fixed-width lines: calls, halves of split calls, signals and exits after a prefix of fixed width, cut by slices.

One pattern validates a line before it is sliced.  It has no captures, so it runs as a plain automaton over the line,
and it guarantees what the slices rely on: the line is ASCII, its prefix has the expected width, its strings are closed,
and the first equals sign between blanks is the one before the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from logframe.grammar import load_grammar
from straceparse.schema import KIND

if TYPE_CHECKING:
    from straceparse.dialects import Dialect
    from straceparse.prefix import Layout

GRAMMAR = load_grammar("straceparse", "fixed.lark")

#: No system call has a longer name.
_NAME_WIDTH: Final = 48
#: Decimals of the elapsed time that strace prints -> terminal.
ELAPSED_TERMINALS: Final = {3: "ELAPSED_3", 6: "ELAPSED_6", 9: "ELAPSED_9"}

_LINE: Final = pl.col("_line")
_FIRST, _NAME_END, _EQUALS = pl.col("_first"), pl.col("_name_end"), pl.col("_equals")
#: Columns from the name on, and from the result on.
_EVENT, _OUTCOME, _VALUE_END = pl.col("_event"), pl.col("_outcome"), pl.col("_value_end")


class FixedWidth:
    """Expressions for the fixed-width lines of one dialect."""

    def __init__(self, layout: Layout, dialect: Dialect) -> None:
        literal = GRAMMAR.literal
        self.layout = layout
        self.can_split = dialect.can_split
        self.has_paths = dialect.has_paths
        self.elapsed_digits = dialect.elapsed_digits if dialect.has_elapsed else 0
        #: Width of the elapsed time with its decimals, brackets and the blank before them.
        self.elapsed_width = (
            self.elapsed_digits + len(f" {literal('LESS')}0.{literal('GREATER')}") if self.elapsed_digits else 0
        )
        self.unfinished = literal("BLANK") + literal("UNFINISHED_MARK")
        resumed, exited, signal = (literal(name)[0] for name in ("RESUMED_MARK", "EXITED_MARK", "SIGNAL_MARK"))
        self.is_resumed = _FIRST.eq(resumed)
        self.is_exited = _FIRST.eq(exited)
        self.is_mark = self.is_exited | _FIRST.eq(signal)
        self.is_unfinished = _LINE.str.ends_with(self.unfinished)
        # the arguments start after the parenthesis, or after "resumed>"
        self.opening = layout.width + _NAME_END + 1
        if self.can_split:
            width = len(literal("RESUMED_MARK")) + len(literal("RESUMED_END")) - 1
            self.opening += pl.when(self.is_resumed).then(width).otherwise(0)

    def condition(self) -> pl.Expr:
        """Whether a line is a fixed-width line; where it is, its parts are at `places`."""
        return _LINE.str.contains(f"^{self.pattern}$")

    @property
    def pattern(self) -> str:
        """The regular expression that describes a fixed-width line from its start to its end."""
        suffix = "_WITH_PATHS" if self.has_paths else ""
        result = f"{{RESULT{'_WITH_PATH' if self.has_paths else ''}}}"
        if self.elapsed_digits:
            result += f"{{BLANK}}{{{ELAPSED_TERMINALS[self.elapsed_digits]}}}"
        arguments = f"{{ARGUMENTS{suffix}}}"
        events = [f"{{CALL_START}}(?:{arguments}{result}|{{NO_RESULT}})", "{EXITED}", "{SIGNAL}"]
        if self.can_split:
            events += [f"{{CALL_START}}{arguments}{{UNFINISHED}}"]
            events += [f"{{RESUMED_START}}(?:{arguments}{result}|{{NO_RESULT}})"]
        return f"{self.layout.pattern}{GRAMMAR.pattern(f'(?:{chr(124).join(events)})')}"

    def without_starts(self, lines: pl.DataFrame) -> pl.DataFrame:
        """The lines without the starts of split calls; all lines where some merely end like one."""
        is_unfinished = lines.get_column("_line").str.ends_with(self.unfinished)
        start = f"^{self.layout.pattern}{GRAMMAR.pattern('{NAME}')}"
        starts = lines.filter(is_unfinished).get_column("_line").str.contains(start)
        return lines.filter(~is_unfinished) if starts.all() else lines

    def places(self) -> list[list[pl.Expr]]:
        """Positions of the parts, in steps: start of the event, end of the name, equals sign."""
        start, literal = self.layout.width, GRAMMAR.literal
        event, name_end = _LINE.str.slice(start, _NAME_WIDTH + 1), _EVENT.str.find(literal("OPEN"), literal=True)
        if self.can_split:
            resumed = literal("RESUMED_MARK")
            event = _LINE.str.slice(start, len(resumed) + _NAME_WIDTH + 1).str.strip_prefix(resumed)
            name_end = _EVENT.str.find(GRAMMAR.pattern("{NAME_END}"))
        end = _OUTCOME.str.find(literal("BLANK"), literal=True)
        if self.has_paths:
            end = pl.min_horizontal(end, _OUTCOME.str.find(literal("LESS"), literal=True))
        return [
            [
                _LINE.str.slice(start, 1).alias("_first"),
                event.alias("_event"),
                _LINE.str.find(literal("EQUALS"), literal=True).alias("_equals"),
            ],
            [name_end.alias("_name_end"), _LINE.str.slice(_EQUALS + len(literal("EQUALS"))).alias("_outcome")],
            [end.fill_null(_OUTCOME.str.len_bytes()).alias("_value_end")],
        ]

    def texts(self) -> dict[str, pl.Expr]:
        """The parts of a fixed-width line; missing parts are null."""
        texts = {
            name: _LINE.str.slice(start, length).str.strip_chars(" ")
            for name, (start, length) in self.layout.fields.items()
        }
        if self.elapsed_digits:
            texts["elapsed"] = self._elapsed()
        return {
            **texts,
            "kind": self._kind(),
            "syscall": self._syscall(),
            "args": self._args(),
            "value": self._value(),
            **({"decoration": self._decoration()} if self.has_paths else {}),
            "errno": self._errno(),
            "note": self._note(),
        }

    def _kind(self) -> pl.Expr:
        kind = pl.when(self.is_exited).then(pl.lit("exited", KIND)).when(self.is_mark).then(pl.lit("signal", KIND))
        if self.can_split:
            kind = kind.when(self.is_unfinished).then(pl.lit("unfinished", KIND))
            kind = kind.when(self.is_resumed).then(pl.lit("resumed", KIND))
        return kind.otherwise(pl.lit("call", KIND))

    def _syscall(self) -> pl.Expr:
        return pl.when(~self.is_mark).then(_EVENT.str.head(_NAME_END))

    def _args(self) -> pl.Expr:
        args = _LINE.str.slice(self.opening, _EQUALS - self.opening).str.strip_chars_end(" ").str.head(-1)
        if self.can_split:
            started = _LINE.str.slice(self.opening, _LINE.str.len_bytes() - len(self.unfinished) - self.opening)
            args = pl.when(self.is_unfinished).then(started).otherwise(args)
        return pl.when(~self.is_mark).then(args)

    def _elapsed(self) -> pl.Expr:
        # in another line that ends so, as an unfinished call does, this slice is not a number
        has_elapsed = _LINE.str.ends_with(GRAMMAR.literal("GREATER"))
        return pl.when(has_elapsed).then(_LINE.str.slice(2 - self.elapsed_width, self.elapsed_width - 3))

    def _more(self) -> pl.Expr:
        """The outcome where it has more than the result and the time, so that patterns run over few lines."""
        end = _EQUALS + len(GRAMMAR.literal("EQUALS")) + _VALUE_END
        if self.elapsed_digits:
            has_elapsed = _LINE.str.ends_with(GRAMMAR.literal("GREATER"))
            end += pl.when(has_elapsed).then(self.elapsed_width).otherwise(0)
        return pl.when(end != _LINE.str.len_bytes()).then(_OUTCOME)

    def _errno(self) -> pl.Expr:
        # it is followed by a text in parentheses
        is_noted = _LINE.str.slice(-1 - self.elapsed_width, 1) == GRAMMAR.literal("CLOSED")
        template = "{EQUALS}{VALUE}{BLANK}({ERRNO_NAME})"
        return pl.when(is_noted).then(_LINE).str.extract(GRAMMAR.pattern(template), 1)

    def _value(self) -> pl.Expr:
        status = _LINE.str.slice(self.layout.width + len(GRAMMAR.literal("EXITED_MARK")))
        status = status.str.strip_suffix(GRAMMAR.literal("END_OF_MARK"))
        value = _OUTCOME.str.head(_VALUE_END)
        return pl.when(self.is_exited).then(status).when(~self.is_mark).then(value)

    def _decoration(self) -> pl.Expr:
        return self._more().str.extract(GRAMMAR.pattern("^{DESCRIPTOR}{LESS}({PATH}){GREATER}"), 1)

    def _note(self) -> pl.Expr:
        signal, end = (len(GRAMMAR.literal(name)) for name in ("FRAME", "END_OF_SIGNAL"))
        mark = _LINE.str.slice(self.layout.width + signal).str.head(-end).str.strip_chars(" ")
        # the path that -y prints after the result may contain parentheses, too
        note = self._more().str.extract(GRAMMAR.pattern("^{VALUE}(?:{BLANK}{ERRNO_NAME})?{BLANK}({NOTE})"), 1)
        return pl.when(self.is_mark).then(mark).otherwise(note)
