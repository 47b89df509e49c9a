"""Fixed-width lines: calls, halves of split calls, signals and exits after a prefix of fixed width, cut by slices.

One pattern validates a line before it is sliced.  It has no captures, so it runs as a plain automaton over the line,
and it guarantees what the slices rely on: the line is ASCII, its prefix has the expected width, its strings are closed,
and the first equals sign between blanks is the one before the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from straceparse.records import GRAMMAR
from straceparse.schema import KIND

if TYPE_CHECKING:
    from straceparse.dialects import Dialect
    from straceparse.prefix import Layout

#: No system call has a longer name.
_NAME_WIDTH: Final = 48

_NAME: Final = f"[a-z_][a-z0-9_]{{0,{_NAME_WIDTH - 1}}}"
_EXITED: Final = "+++ exited with "
_SIGNAL: Final = "--- SIG"
_RESUMING: Final = "<... "
_RESUMED: Final = " resumed>"
_UNFINISHED: Final = " <unfinished ...>"


def _arguments() -> str:
    """Printable ASCII with closed strings and brackets, and without an equals sign between blanks."""
    inside, inside_first = r"(?:[!#-\[\]-~]|\\[!-~])", r"(?:[!#-<>-\[\]-~]|\\[!-~])"
    string = f'"(?:{inside}| +(?:{inside_first}|={inside}))*(?: +=?)?"'
    plain, plain_first = "[!#-'*-;=-~]", "[!#-'*-;>-~]"
    path = r"[A-Za-z0-9_]<(?:[!#-;=?-\[\]-~]|\\[!-~])+>"
    group = rf"\((?:[ !#-'*-;>-~]|{string})*\)"
    groups = rf"\((?:[ !#-'*-;>-~]|{string}|{group})*\)"
    other = f"{string}|{path}|{groups}|<<"
    return f"(?:{plain}|{other}| +(?:{plain_first}|{other}|=(?:{plain}|{other})))*"


_ARGUMENTS: Final = _arguments()
#: What -y prints after a descriptor, without nested brackets.
_PATH: Final = r"<[ !#-;=?-\[\]-~]+>"
_TEXT: Final = r" \([ !#-'*-;=-~]*\)"

_LINE: Final = pl.col("_line")
_FIRST, _NAME_END, _EQUALS = pl.col("_first"), pl.col("_name_end"), pl.col("_equals")
#: Columns from the name on, and from the result on.
_EVENT, _OUTCOME, _VALUE_END = pl.col("_event"), pl.col("_outcome"), pl.col("_value_end")


class FixedWidth:
    """Expressions for the fixed-width lines of one dialect."""

    def __init__(self, layout: Layout, dialect: Dialect) -> None:
        self.layout = layout
        self.can_split = dialect.can_split
        self.has_paths = dialect.has_paths
        self.elapsed_digits = dialect.elapsed_digits if dialect.has_elapsed else 0
        self.is_resumed = _FIRST == "<"
        self.is_exited = _FIRST == "+"
        self.is_mark = (_FIRST == "+") | (_FIRST == "-")
        self.is_unfinished = _LINE.str.ends_with(_UNFINISHED)
        # the arguments start after the parenthesis, or after "resumed>"
        self.opening = layout.width + _NAME_END + 1
        if self.can_split:
            self.opening += pl.when(self.is_resumed).then(len(_RESUMING) + len(_RESUMED) - 1).otherwise(0)

    def condition(self) -> pl.Expr:
        """Whether a line is a fixed-width line; where it is, its parts are at `places`."""
        elapsed = f" <[0-9]\\.[0-9]{{{self.elapsed_digits}}}>" if self.elapsed_digits else ""
        path = f"(?:{_PATH})?" if self.has_paths else ""
        end = f" *\\) += (?:(?:0x[0-9a-f]+|-?[0-9]+{path})(?:(?:{{ERRNO}})?{_TEXT})?|\\?{{ERRNO}}{_TEXT}){elapsed}"
        start, unknown = f"{_NAME}\\(", "[0-9]*\\) += \\?"
        events = [f"{start}{_ARGUMENTS}{end}", start + unknown, "\\+\\+\\+ exited with [0-9]+ \\+\\+\\+"]
        events += [f"{_SIGNAL}[A-Z0-9_+]+ [ -~]*---"]
        if self.can_split:
            resumed = f"<\\.\\.\\. {_NAME}{_RESUMED}"
            events += [f"{start}{_ARGUMENTS} +<unfinished \\.\\.\\.>", f"{resumed}{_ARGUMENTS}{end}", resumed + unknown]
        return GRAMMAR.matches(_LINE, f"^{self.layout.pattern}(?:{'|'.join(events)})$")

    def without_starts(self, lines: pl.DataFrame) -> pl.DataFrame:
        """The lines without the starts of split calls; all lines where some merely end like one."""
        is_unfinished = lines.get_column("_line").str.ends_with(_UNFINISHED)
        starts = lines.filter(is_unfinished).get_column("_line").str.contains(f"^{self.layout.pattern}[a-z_]")
        return lines.filter(~is_unfinished) if starts.all() else lines

    def places(self) -> list[list[pl.Expr]]:
        """Positions of the parts, in steps: start of the event, end of the name, equals sign."""
        start = self.layout.width
        event, name_end = _LINE.str.slice(start, _NAME_WIDTH + 1), _EVENT.str.find("(", literal=True)
        if self.can_split:
            event = _LINE.str.slice(start, len(_RESUMING) + _NAME_WIDTH + 1).str.strip_prefix(_RESUMING)
            name_end = _EVENT.str.find("[ (]")
        end = _OUTCOME.str.find(" ", literal=True)
        if self.has_paths:
            end = pl.min_horizontal(end, _OUTCOME.str.find("<", literal=True))
        return [
            [
                _LINE.str.slice(start, 1).alias("_first"),
                event.alias("_event"),
                _LINE.str.find(" = ", literal=True).alias("_equals"),
            ],
            [name_end.alias("_name_end"), _LINE.str.slice(_EQUALS + 3).alias("_outcome")],
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
            started = _LINE.str.slice(self.opening, _LINE.str.len_bytes() - len(_UNFINISHED) - self.opening)
            args = pl.when(self.is_unfinished).then(started).otherwise(args)
        return pl.when(~self.is_mark).then(args)

    def _elapsed(self) -> pl.Expr:
        # in a line without it, this slice is not a number
        return _LINE.str.slice(-(self.elapsed_digits + 3), self.elapsed_digits + 2)

    def _more(self) -> pl.Expr:
        """The outcome where it has more than the result and the time, so that patterns run over few lines."""
        end = _EQUALS + 3 + _VALUE_END
        if self.elapsed_digits:
            end += pl.when(_LINE.str.ends_with(">")).then(self.elapsed_digits + len(" <0.>")).otherwise(0)
        return pl.when(end != _LINE.str.len_bytes()).then(_OUTCOME)

    def _errno(self) -> pl.Expr:
        # it is followed by a text in parentheses
        place = self.elapsed_digits + len(" <0.>)") if self.elapsed_digits else 1
        line = pl.when(_LINE.str.slice(-place, 1) == ")").then(_LINE)
        return line.str.extract(GRAMMAR.pattern(" = [^ <]+(?:<[^>]*>)?({ERRNO})"), 1).str.strip_chars(" ")

    def _value(self) -> pl.Expr:
        status = _LINE.str.slice(self.layout.width + len(_EXITED)).str.strip_suffix(" +++")
        value = _OUTCOME.str.head(_VALUE_END)
        return pl.when(self.is_exited).then(status).when(~self.is_mark).then(value)

    def _decoration(self) -> pl.Expr:
        return self._more().str.extract("^-?[0-9]+<([^<>]*)>", 1)

    def _note(self) -> pl.Expr:
        mark = _LINE.str.slice(self.layout.width + 4).str.head(-3).str.strip_chars(" ")
        # the path that -y prints after the result may contain parentheses, too
        note = self._more().str.extract(GRAMMAR.pattern("^[^ <]+(?:<[^<>]*>)?(?:{ERRNO})? (\\([^()]*\\))"), 1)
        return pl.when(self.is_mark).then(mark).otherwise(note)
