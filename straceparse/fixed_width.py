"""Fixed-width lines: calls, halves of split calls, signals and exits after a prefix of fixed width, cut by slices.

One pattern validates a line before it is sliced.  It has no captures, so it runs as a plain automaton over the line,
and it guarantees what the slices rely on: the line is ASCII, its prefix has the expected width, its strings are closed,
and the first equals sign between blanks is the one before the result.

Compiled code cuts the columns (``fields.c``) of the lines that the automaton of the same template accepts, and
gives the same as the slices, bit for bit.  Lines with an odd field (an octal result, an overflow) are handed back as
text for the other engines.  Where there is no compiled code, the slices do all the work.
"""

from __future__ import annotations

import ctypes
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

import polars as pl

from logframe.blocks import TextBatch, text_batches
from logframe.classify import Classifier
from logframe.grammar import load_grammar
from logframe.kernel import Block, load_kernel
from logframe.line_cleanup import LineCleanup
from logframe.native import POINTER, SIZE, load_functions
from straceparse.call_table import ALIASES
from straceparse.schema import EVENTS, KIND

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from logframe import Log
    from logframe.kernel import Kernel, Tables
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


#: The kinds in the order of the numbers that ``fields.c`` writes.
_KINDS: Final = pl.Series(["call", "unfinished", "resumed", "signal", "exited"], dtype=KIND)
_CLOCKS: Final = {"none": 0, "epoch": 1, "time": 2}
#: Columns of ``fields.c`` in their order -> bytes of a value, type in the Arrow C data interface.
_COLUMNS: Final = {
    "kind": (1, "C"),
    "pid": (4, "i"),
    "clock": (8, "l"),
    "relative_ts": (8, "tDn"),
    "syscall": (16, "vu"),
    "name": (16, "vu"),
    "args": (16, "vu"),
    "result": (8, "l"),
    "result_text": (16, "vu"),
    "errno": (16, "vu"),
    "note": (16, "vu"),
    "elapsed": (8, "tDn"),
    "decoration": (16, "vu"),
    "syscall_number": (4, "i"),
    "instruction_pointer": (16, "vu"),
}
#: Columns of events -> the columns of ``fields.c`` that they are made of, where the names differ.
_SOURCES: Final = {
    "wall": ("clock",),
    "time_of_day": ("clock",),
    "_instant": ("clock",),
    "elapsed_hi": ("elapsed",),
    "fd_path": ("args", "decoration", "name"),
}


class _Prefix(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_int32)
        for name in (
            *("width", "clock_kind", "pid", "pid_length", "clock", "clock_length", "relative_ts", "relative_ts_length"),
            *("syscall_number", "syscall_number_length", "instruction_pointer", "instruction_pointer_length"),
            *("elapsed_digits", "has_paths", "can_split"),
        )
    )


class _Alias(ctypes.Structure):
    _fields_ = (
        *(("old_length", ctypes.c_uint32), ("new_length", ctypes.c_uint32)),
        *(("old_name", ctypes.c_char * 12), ("new_name", ctypes.c_char * 12)),
    )


class _Column(ctypes.Structure):
    _fields_ = (("values", ctypes.c_void_p), ("validity", ctypes.c_void_p), ("filled", ctypes.c_int64))


class _Columns(ctypes.Structure):
    _fields_ = tuple((name, _Column) for name in _COLUMNS)


_ALIASES: Final = (_Alias * len(ALIASES))(
    *(_Alias(len(old), len(new), old.encode(), new.encode()) for old, new in ALIASES.items())
)


class FieldCutter:
    """Cuts the fixed-width lines of one dialect.

    Args:
        kernel: the compiled kernel.
        library: the functions of ``fields.c``.
        fixed_width: template and layout of the lines.
        dialect: of the log.
        pid: the process id in the name of the log (``-ff``), or None.
        fd_path: the expression of that column, over ``_args``, ``_decoration`` and ``_name``.
    """

    def __init__(
        self,
        kernel: Kernel,
        library: ctypes.CDLL,
        fixed_width: FixedWidth,
        dialect: Dialect,
        pid: int | None,
        fd_path: pl.Expr,
    ) -> None:
        self._kernel = kernel
        self._cut = library.iolab_cut
        self._dialect = dialect
        self._pid = pid
        self._fd_path = fd_path
        self._tables = _tables(fixed_width.pattern)
        fields = fixed_width.layout.fields
        self._prefix = _Prefix(
            width=fixed_width.layout.width,
            clock_kind=_CLOCKS[dialect.clock],
            elapsed_digits=fixed_width.elapsed_digits,
            has_paths=fixed_width.has_paths,
            can_split=fixed_width.can_split,
            **{name: start for name, (start, _) in fields.items()},
            **{f"{name}_length": length for name, (_, length) in fields.items()},
        )

    def batches(self, log: Log, n_rows: int | None, batch_bytes: int) -> Iterator[TextBatch]:
        """The lines of a log, `n_rows` at most, in batches of about this many bytes."""
        return text_batches(self._kernel, log, batch_bytes, n_rows)

    def read(self, batch: TextBatch, columns: Collection[str]) -> tuple[pl.DataFrame, pl.Series, pl.DataFrame | None]:
        """The events of a batch.

        Returns:
            One row a line with these columns; whether the row is filled; and the lines of the rows that are not, with
            ``line`` and ``_line``, or None without one.
        """
        kernel, lines = self._kernel, batch.lines
        tags = kernel.tags_of(batch.text, lines, self._tables)
        wanted = {source for name in columns for source in _SOURCES.get(name, (name,)) if source in _COLUMNS}
        blocks = {name: self._blocks(lines.count, _COLUMNS[name][0]) for name in wanted}
        cut = _Columns(**{name: _Column(values.address, valid.address, 0) for name, (values, valid) in blocks.items()})
        left = self._cut(
            *(batch.text.address, batch.size, lines.starts.address, lines.ends.address, lines.count, tags.address),
            *(ctypes.byref(self._prefix), _ALIASES, len(_ALIASES), ctypes.byref(cut)),
        )
        raw = {}
        for name, (values, valid) in blocks.items():
            arrow_format = _COLUMNS[name][1]
            missing = 0 if name == "kind" else lines.count - getattr(cut, name).filled
            raw[name] = kernel.series(
                *(name, arrow_format, lines.count, values),
                validity=valid if missing else None,
                null_count=missing,
                text=batch.text if arrow_format == "vu" else None,
            )
        numbers = pl.int_range(batch.first, batch.first + lines.count, dtype=pl.UInt32, eager=True).alias("line")
        found = pl.DataFrame([self._column(name, raw, numbers) for name in columns])
        is_filled = kernel.series("tag", "C", lines.count, tags) != 0
        if not left:
            return found, is_filled, None
        rest = kernel.unmatched("_line", batch.text, lines, tags, left)
        return found, is_filled, pl.DataFrame([numbers.filter(~is_filled), rest])

    def _blocks(self, count: int, width: int) -> tuple[Block, Block]:
        """Zeroed memory for the values of a column, and for a bit each that says whether it is there."""
        return Block(self._kernel, count * width, zeroed=True), Block(self._kernel, count + 7 >> 3, zeroed=True)

    def _column(self, name: str, raw: dict[str, pl.Series], numbers: pl.Series) -> pl.Series:
        """A column of the events."""
        match name:
            case "line":
                return numbers
            case "kind":
                return _KINDS.gather(raw["kind"].cast(pl.UInt32)).alias(name)
            case "pid" if self._dialect.pid == "file":
                return pl.Series(name, [self._pid], dtype=EVENTS[name]).new_from_index(0, len(numbers))
            case "_instant":
                return raw["clock"].alias(name)
            case "wall" if self._dialect.clock == "epoch":
                return raw["clock"].cast(EVENTS[name]).alias(name)
            case "time_of_day" if self._dialect.clock == "time":
                return raw["clock"].cast(EVENTS[name]).alias(name)
            case "elapsed_hi" if "elapsed" in raw:
                step = 10 ** (9 - self._dialect.elapsed_digits)
                bound: pl.Series = raw["elapsed"].to_physical() + step
                return bound.cast(EVENTS[name]).alias(name)
            case "fd_path" if self._dialect.has_paths:
                parts = pl.DataFrame([raw[part].alias(f"_{part}") for part in ("args", "decoration", "name")])
                return parts.select(self._fd_path.alias(name)).get_column(name)
            case _ if name in raw and name not in {"wall", "time_of_day"}:
                return raw[name]
            case _:
                return pl.Series(name, [None], dtype=EVENTS[name]).new_from_index(0, len(numbers))


@cache
def _library() -> ctypes.CDLL | None:
    cut = (SIZE, POINTER, SIZE, POINTER, POINTER, SIZE, POINTER, POINTER, POINTER, SIZE, POINTER)
    return load_functions("straceparse", "fields", iolab_cut=cut)


@lru_cache(maxsize=64)
def _tables(pattern: str) -> Tables:
    """The tables of one pattern: logs of one dialect with fields of the same widths share them."""
    return Classifier({"fixed_width": pattern}).tables


def cutter_of(fixed_width: FixedWidth, dialect: Dialect, pid: int | None, fd_path: pl.Expr) -> FieldCutter | None:
    """The cutter for the fixed-width lines of a dialect; None without compiled code, or where lines need cleaning.

    Raises:
        KernelError: as `logframe.native.load_compiled`.
    """
    kernel, library = load_kernel(), _library()
    if kernel is None or library is None or not _is_plain(fixed_width, dialect):
        return None
    return FieldCutter(kernel, library, fixed_width, dialect, pid, fd_path)


def _is_plain(fixed_width: FixedWidth, dialect: Dialect) -> bool:
    """Whether lines are read as they stand in the log, and have one clock at one place."""
    if dialect.has_colour or dialect.cleanup != LineCleanup():
        return False
    return dialect.clock in _CLOCKS and (dialect.clock == "none") == ("clock" not in fixed_width.layout.fields)
