"""The schema of the events frame, and how text becomes its types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from straceparse.records import GRAMMAR as LINE_GRAMMAR
from straceparse.records import KINDS, PARTS_GRAMMAR

if TYPE_CHECKING:
    from straceparse.dialects import Dialect

KIND: Final = pl.Enum(KINDS)
DURATION: Final = pl.Duration("ns")

#: Columns of the events frame, one row per line of the log.
EVENTS: Final = pl.Schema(
    {
        "line": pl.UInt32(),
        "pid": pl.Int32(),
        "comm": pl.String(),
        "at": DURATION,
        "wall": pl.Datetime("ns", "UTC"),
        "time_of_day": pl.Time(),
        "relative_ts": DURATION,
        "kind": KIND,
        "syscall": pl.String(),
        "name": pl.String(),
        "args": pl.String(),
        "result": pl.Int64(),
        "result_text": pl.String(),
        "errno": pl.String(),
        "note": pl.String(),
        "elapsed": DURATION,
        "elapsed_hi": DURATION,
        "fd_path": pl.String(),
        "syscall_number": pl.Int32(),
        "instruction_pointer": pl.String(),
        "reason": pl.String(),
    }
)

#: Calls whose first argument or result is a process, after which ``-Y`` prints its command.
_PROCESS_CALLS: Final = (
    *("clone", "clone2", "clone3", "fork", "vfork", "wait4", "waitpid", "kill", "tkill", "tgkill", "ptrace"),
    *("getpid", "gettid", "getppid", "getpgid", "getpgrp", "getsid", "setsid", "setpgid", "set_tid_address"),
    *("prlimit64", "process_vm_readv", "process_vm_writev", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "get_robust_list"),
    *("sched_getaffinity", "sched_setaffinity", "sched_getparam", "sched_setparam", "sched_getscheduler"),
    *("sched_setscheduler", "sched_getattr", "sched_setattr", "sched_rr_get_interval", "migrate_pages", "move_pages"),
)

_TOO_LARGE: Final = "a number of this line is larger than its column holds: it is null"
#: Shorter numbers fit: ten digits are the fewest that a column of processes does not hold.
_LONG: Final = 10
_NANO: Final = pl.Decimal(28, 9)


def typed_columns(dialect: Dialect, pid: int | None, *, is_fixed_width: bool) -> dict[str, pl.Expr]:
    """The columns of `EVENTS` from the raw columns ``_kind``, ``_pid``, ... of one log, all but ``at``.

    Also ``_instant``: the clock in nanoseconds, from which `straceparse.batches` computes ``at``.

    Args:
        dialect: of the log.
        pid: the process id in the name of the log (``-ff``), or None.
        is_fixed_width: the lines have only the parts that the dialect names; else each may have any.
    """
    value = pl.col("_value")
    of_day, since_1970 = _clocks(dialect, is_fixed_width=is_fixed_width)
    has_relative_ts, has_elapsed, has_paths = (
        shown or not is_fixed_width for shown in (dialect.relative_ts != "none", dialect.has_elapsed, dialect.has_paths)
    )
    shown = value
    if has_paths:
        less, greater = (pl.lit(PARTS_GRAMMAR.literal(name)) for name in ("LESS", "GREATER"))
        shown = pl.concat_str(value, pl.concat_str(less, "_decoration", greater).fill_null(""))
    elapsed = nanoseconds(pl.col("_elapsed")) if has_elapsed else pl.lit(None, pl.Int64)
    step = pl.lit(10 ** (9 - dialect.elapsed_digits)) if is_fixed_width else last_decimal(pl.col("_elapsed"))
    columns = {
        "line": pl.col("line"),
        "pid": pl.lit(pid) if dialect.pid == "file" else pl.col("_pid").cast(pl.Int32, strict=False),
        "comm": pl.col("_comm"),
        "wall": since_1970,
        "time_of_day": of_day,
        "relative_ts": nanoseconds(pl.col("_relative_ts")) if has_relative_ts else pl.lit(None),
        "kind": pl.col("_kind"),
        "syscall": pl.col("_syscall"),
        "name": pl.col("_name"),
        "args": pl.col("_args"),
        "result": number(value),
        "result_text": shown,
        "errno": pl.col("_errno"),
        "note": pl.col("_note"),
        "elapsed": elapsed,
        "elapsed_hi": elapsed + step,
        "fd_path": _fd_path() if has_paths else pl.lit(None),
        "syscall_number": pl.col("_syscall_number").cast(pl.Int32, strict=False),
        "instruction_pointer": pl.col("_instruction_pointer"),
        "reason": pl.col("_reason"),
    }
    printed = {
        "wall": (pl.col("_clock"), dialect.clock != "none" or not is_fixed_width),
        "relative_ts": (pl.col("_relative_ts"), has_relative_ts),
        "elapsed": (pl.col("_elapsed"), has_elapsed),
        "pid": (pl.col("_pid"), dialect.pid not in {"file", "none"} or not is_fixed_width),
        "syscall_number": (pl.col("_syscall_number"), dialect.has_syscall_number or not is_fixed_width),
        "result": (value, True),
    }
    lost = [
        (text.str.len_bytes() >= _LONG)
        & PARTS_GRAMMAR.matches(text, "^{INTEGER}")
        & columns[name].cast(EVENTS[name], strict=False).is_null()
        & (of_day.is_null() if name == "wall" else True)
        for name, (text, is_shown) in printed.items()
        if is_shown
    ]
    columns["reason"] = pl.coalesce("_reason", pl.when(pl.any_horizontal(lost)).then(pl.lit(_TOO_LARGE)))
    typed = {name: column.cast(EVENTS[name], strict=False).alias(name) for name, column in columns.items()}
    return {**typed, "_instant": (since_1970 if dialect.clock == "epoch" else of_day).alias("_instant")}


def nanoseconds(seconds: pl.Expr) -> pl.Expr:
    """Seconds with up to nine printed decimals as whole nanoseconds; exact, no float is involved."""
    return seconds.cast(_NANO, strict=False).to_physical().cast(pl.Int64, strict=False)


def last_decimal(seconds: pl.Expr) -> pl.Expr:
    """The value of the last printed decimal in nanoseconds: strace truncates times, it does not round them."""
    decimals = seconds.str.len_bytes() - seconds.str.find(PARTS_GRAMMAR.literal("DOT"), literal=True) - 1
    return pl.lit(10, pl.Int64).pow(9 - decimals.fill_null(0).cast(pl.Int64).clip(0, 9))


def _clocks(dialect: Dialect, *, is_fixed_width: bool) -> tuple[pl.Expr, pl.Expr]:
    """The clock in nanoseconds: of the day (``-t``, ``-tt``), and since 1970 (``-ttt``); null for the other kind."""
    text, missing = pl.col("_clock"), pl.lit(None, pl.Int64)
    if is_fixed_width and dialect.clock == "none":
        return missing, missing
    if is_fixed_width and dialect.clock == "epoch":
        return missing, nanoseconds(text)
    hours, minutes = (text.str.slice(start, 2).cast(pl.Int64, strict=False) for start in (0, 3))
    of_day = hours * 3600 * 10**9 + minutes * 60 * 10**9 + nanoseconds(text.str.slice(6))
    if is_fixed_width and dialect.clock == "time":
        return of_day, missing
    return pl.when(LINE_GRAMMAR.matches(text, "^{TIME_OF_DAY}")).then(of_day), nanoseconds(text)


def number(value: pl.Expr) -> pl.Expr:
    """A printed number as Int64: decimal, hexadecimal (``0x7f..``) or octal (``022``, of umask)."""
    mark = PARTS_GRAMMAR.literal("HEXADECIMAL_MARK")
    is_hexadecimal = value.str.starts_with(mark)
    hexadecimal = pl.when(is_hexadecimal).then(value).str.slice(len(mark)).str.to_integer(base=16, strict=False)
    is_octal = value.str.starts_with(mark[0]) & ~is_hexadecimal & (value.str.len_bytes() > 1)
    octal = pl.when(is_octal).then(value).str.to_integer(base=8, strict=False)
    return pl.coalesce(octal, value.cast(pl.Int64, strict=False), hexadecimal)


def _fd_path() -> pl.Expr:
    """What ``-y`` prints after the first argument if that is a descriptor, else after the result."""
    first = pl.col("_args").str.extract(PARTS_GRAMMAR.pattern("^{FD_NAME}?{DECIMAL}({DECORATION})"), 1)
    first = first.str.strip_suffix(PARTS_GRAMMAR.literal("DELETED")).str.slice(1).str.head(-1)
    path = pl.coalesce(first, pl.col("_decoration"))
    return pl.when(~pl.col("_name").is_in(_PROCESS_CALLS)).then(path)


def whole(value: object, bits: int = 64) -> int | None:
    """A whole number that fits a column of this many bits; None for anything else, such as damaged digits."""
    return value if isinstance(value, int) and -(1 << bits - 1) <= value < 1 << bits - 1 else None
