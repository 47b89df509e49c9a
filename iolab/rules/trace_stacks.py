"""What the calls of an Oracle process were part of, by the functions in the stacks below them (strace -k)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

import polars as pl

from logframe.data_files import read_data

if TYPE_CHECKING:
    from collections.abc import Sequence

    from straceparse import StraceLog

#: The stacks of at least this part of the calls have to agree.
_NEARLY_ALL: Final = 0.9


@cache
def _waits() -> list[dict[str, Any]]:
    return list(read_data("iolab.rules", "stacks")["wait"])


#: The calls of logs in use, and what is known of their stacks: each part of the time asks for its own calls.
_STACKS: Final[WeakKeyDictionary[StraceLog, tuple[pl.DataFrame, pl.DataFrame]]] = WeakKeyDictionary()


def _stacks_of(log: StraceLog) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The calls of a log by number, and of those whose stack has a known function the first entry of the table."""
    if log not in _STACKS:
        is_end = pl.col("kind").is_in(["call", "resumed"])  # a stack follows the line on which its call ends
        lines = log.events.select("pid", "name", "note", "kind", "elapsed", call=is_end.cum_sum()).collect()
        function = pl.col("note").str.split("(").list.get(1, null_on_oob=True).str.split("+").list.first()
        frames = lines.filter(pl.col("kind") == "stack").select("call", function=function)
        found = [
            frames.filter(pl.any_horizontal(pl.col("function").str.starts_with(one) for one in row["functions"]))
            .unique("call", keep="first", maintain_order=True)
            .with_columns(entry=pl.lit(number))
            for number, row in enumerate(_waits())
        ]
        known = pl.concat(found).unique("call", keep="first", maintain_order=True)
        _STACKS[log] = lines.filter(is_end).select("call", "pid", "name", "elapsed"), known
    return _STACKS[log]


def below_stacks(log: StraceLog, names: Sequence[str], which: pl.Expr, count: int | None) -> tuple[str, str]:
    """What nearly all calls with names were part of by their stacks, in words, and what to do next (`stacks.toml`).

    Args:
        log: of the calls.
        names: of the calls, such as `semtimedop`.
        which: the processes to look at.
        count: of the calls; empty texts where the name has calls of other kinds, too.

    Examples:
        >>> import iolab
        >>> log = b'''10:14:22.119237 semtimedop(7, [{52, -1, 0}], 1, {0, 100}) = 0 <0.008634>
        ...  > /usr/lib64/libc-2.28.so(semtimedop+0xa) [0xf987a]
        ...  > /u01/bin/oracle(kcrf_commit_force_int+0x4d0) [0xd6dd04d]'''
        >>> below_stacks(iolab.load(log), ["semtimedop"], pl.lit(value=True), 1)[0]
        'in a commit (`kcrf_commit_force_int`: `log file sync`)'
    """
    if not log.dialect.has_stacks or not names:
        return "", ""
    calls, known = _stacks_of(log)
    calls = calls.filter(which, pl.col("name").is_in(names))
    if calls.height != count:
        return "", ""
    sums = (
        known.join(calls, on="call")
        .group_by("entry")
        .agg(pl.len(), pl.col("elapsed").sum(), pl.col("function").mode().sort().first())
    )
    top = sums.sort("elapsed", "len", descending=True).select("entry", "len", "function").head(1)
    for entry, many, name in top.filter(pl.col("len") >= _NEARLY_ALL * count).iter_rows():
        row, of = _waits()[entry], f"{many:,} of {count:,} " if many < count else f"all {many:,} " if many > 1 else ""
        event = f": `{row['event']}`" if "event" in row else ""
        return f"{of}in {row['what']} (`{name}`{event})", row.get("next", "")
    return "", ""
