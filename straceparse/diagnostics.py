"""Diagnostics: the lines of a log that could not be parsed, or only in part, and the reasons.

The figures of a call are not read where a word of its line is damaged: the name of the call or of a field.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from logframe import DIAGNOSTICS, LogParseError
from straceparse.aio import FIELDS, OPS, fields_of, has_known_form, reaps_nothing
from straceparse.arguments import parsed
from straceparse.call_table import SUBMITS, SUBMITS_OR_REAPS
from straceparse.descriptors import DESCRIPTOR_CALLS
from straceparse.ordered import batches_of, compact, rows_where
from straceparse.records import PARTS_GRAMMAR
from straceparse.schema import EVENTS
from straceparse.transfers import PARSED_CALLS, ROLES, descriptor_of

if TYPE_CHECKING:
    from logframe import Source


#: All names in a control block, those in an event, and the fewest values of a control block without names.
_BLOCK_KEYS: Final = {
    *(key for keys in FIELDS.values() for key in keys),
    *("key", "aio_key", "reqprio", "aio_reqprio", "str", "aio_str", "aio_flags", "aio_resfd", "aio_rw_flags", "resfd"),
}
_EVENT_KEYS: Final = {"data", "obj", "res", "res2"}
_OLD_BLOCK: Final = 5
#: Calls whose names are known: those that are read, and others with a descriptor, a text and a number.
_KNOWN: Final = [
    *(*ROLES, *PARSED_CALLS, *SUBMITS_OR_REAPS, *sorted(DESCRIPTOR_CALLS)),
    *("recv", "send", "mq_receive", "syslog"),
]
_TRANSFER: Final = PARTS_GRAMMAR.pattern(
    "^{FD_NAME}?{DECIMAL}{DECORATION}?{COMMA}{ARGUMENT_NAME}?{STRING}{ELLIPSIS}?{COMMA}"
    "{SIZE_NAME}?({DECIMAL})(?:{COMMA}{OFFSET_NAME}?{DECIMAL})?$"
)
#: A text, or the begin of a list of control blocks or events: other arguments are never odd.
_TEXT_OR_LIST: Final = [PARTS_GRAMMAR.literal("QUOTE"), *(f"{one}{PARTS_GRAMMAR.literal('BRACE')}" for one in "[{")]
_ODD_LIST: Final = "a control block or an event of this call has a field that strace does not print, or lacks one"
_ODD_NAME: Final = (
    "the name of this call is damaged: none of this name moves bytes or has such a list; it is no request"
)


def maybe_odd(events: pl.DataFrame, source: pl.Expr) -> pl.DataFrame:
    """The calls that do not look as most do, for `odd_calls`.

    Args:
        events: `straceparse.EVENTS`.
        source: the name of the log.
    """
    name, args = pl.col("name"), pl.col("args")
    is_unknown = (pl.col("kind") == "call") & ~name.is_in(_KNOWN)
    maybe = rows_where(events, pl.col("reason").is_null() & (is_unknown | name.is_in(SUBMITS_OR_REAPS)))
    maybe = rows_where(maybe, name.is_in(SUBMITS_OR_REAPS) | args.str.contains_any(_TEXT_OR_LIST))
    is_unknown, has_list = ~name.is_in(_KNOWN), args.str.contains(PARTS_GRAMMAR.literal("BRACE"), literal=True)
    size = pl.when(is_unknown).then(args).str.extract(_TRANSFER, 1).cast(pl.Int64, strict=False)
    own = pl.when(has_list).then(args.str.strip_chars_start(", "))
    is_odd = (has_known_form(own) == is_unknown) & (is_unknown | ~reaps_nothing(own))  # null where there is no list
    return maybe.filter(is_odd | pl.col("result").is_between(1, size)).select(
        source.alias("source"), pl.col("line").cast(pl.Int64), "name", "syscall", own.fill_null(args).alias("args")
    )


def odd_calls(calls: pl.DataFrame) -> pl.DataFrame:
    """`logframe.DIAGNOSTICS` of those calls of which something is not read."""
    rows = []
    for source, line, name, syscall, args in calls.iter_rows():
        is_list = name in SUBMITS_OR_REAPS
        if not is_list or not is_read_whole(name, args):
            text = f"{syscall}({args}"
            rows.append((source, line, None, "damaged", text, _ODD_LIST if is_list else _ODD_NAME))
    return pl.DataFrame(rows, schema=DIAGNOSTICS | {"kind": pl.String}, orient="row")


def is_read_whole(name: str, args: str) -> bool:
    """Whether all control blocks or events of a call have the fields that strace prints, and no others.

    Args:
        name: of a call that submits or reaps requests.
        args: its arguments, or those of the half of it that has the list.

    Examples:
        >>> block = "{pread, fildes=268, buf=0x7f97, nbytes=8192, offset=512}"
        >>> is_read_whole("io_submit", f"1, 1, [{block}]"), is_read_whole("io_submit", f"1, 1, [{block.upper()}]")
        (True, False)
    """
    values = parsed(args)
    items = list(values.values()) if isinstance(values, dict) else values
    lists = [item for item in items if isinstance(item, list | tuple)] if isinstance(items, list) else []
    is_known = _is_known_block if name in SUBMITS else _is_known_event
    return bool(lists) and all(is_known(item) for item in lists[0] if isinstance(item, dict | tuple))


def _is_known_block(block: dict[object, object] | tuple[object, ...]) -> bool:
    if isinstance(block, tuple):
        return len(block) >= _OLD_BLOCK
    found = fields_of(block)
    nameless = [value for key, value in block.items() if isinstance(key, int)]
    has_size = found["size"] is not None or any(isinstance(one, list) for one in block.values())
    has_offset = found["offset"] is not None or any(isinstance(one, int) for one in nameless)
    ops = (block.get(key) for key in FIELDS["op"])
    op = next((one for one in ops if isinstance(one, str) or (isinstance(one, int) and one in OPS)), None)
    return (
        all(isinstance(key, int) or key in _BLOCK_KEYS for key in block)
        and all(isinstance(found[name], int | None) for name in ("data", "size", "offset"))
        and descriptor_of(found["fd"])[0] is not None
        and op is not None
        and ((has_size and has_offset) or OPS.get(op) not in {"read", "write"})
    )


def _is_known_event(event: dict[object, object] | tuple[object, ...]) -> bool:
    fields = list(event.values()) if isinstance(event, dict) else event
    is_named = not isinstance(event, dict) or set(event) == _EVENT_KEYS
    # strace 4.8 and before prints a number that is zero as (nil)
    return is_named and len(fields) == len(_EVENT_KEYS) and all(isinstance(one, int | None) for one in fields)


#: Kinds of damaged lines; another line with a reason was read in part.
_DAMAGED: Final = ("unparsed", "cut", "continuation")
#: The columns of events that tell whether a line was read.
_LOOKED_AT: Final = ("line", "at", "relative_ts", "kind", "syscall", "name", "args", "result", "note", "reason")
_WRAPPED: Final = "the next line looks like the rest of this one: its result or its time may be cut"
_CLOCK_OF_MANY: Final = (
    "strace -ff -r keeps one clock for all files, so the numbers of one file are not times between its own calls: "
    "no start and no gap is given; -T or -ttt has them"
)


def unparsed(events: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    r"""The lines that no rule accepts, one row per line, with text and reason.

    A call whose line was interrupted is listed only if its continuation is missing.  A row without a line number is
    about the whole log.

    Args:
        events: the result of `scan_strace` or `read_strace`.

    Returns:
        The columns of `logframe.DIAGNOSTICS`: ``source`` (the log, if the events have a column for it), ``line``,
        ``column``, ``kind`` (``unparsed``, ``cut``, ``missing``, ``clock``,
        ``damaged`` for a line that was read in part), ``text``, ``reason``.

    Examples:
        >>> from straceparse import read_strace
        >>> unparsed(read_strace(b"close(3) = 0\nhello")).select("line", "text", "reason").row(0)
        (2, 'hello', 'not a line of strace: program output, or damaged')
    """
    lazy = events.lazy()
    log = next(
        (name for name, dtype in lazy.collect_schema().items() if name not in EVENTS and dtype == pl.String), None
    )
    unread = Unread(log)
    for batch in batches_of(lazy, unread.columns):
        unread.add(batch)
    return unread.found(lazy)


class Unread:
    """Finds the lines that no rule accepts among events, batch by batch.

    Args:
        log: the column of the events that names their log, if they have one.

    Attributes:
        columns: of the events that are looked at.
        lines: how many were looked at.
    """

    def __init__(self, log: str | None = None) -> None:
        self._log = log
        self._source = _source_of(log)
        self.columns = [*([] if log is None else [log]), *_LOOKED_AT]
        self.lines = 0
        self._is_clock = self._has_starts = False
        self._damaged: list[pl.DataFrame] = []
        self._odd: list[pl.DataFrame] = []

    def add(self, events: pl.DataFrame) -> None:
        """Look at the next events."""
        self.lines += events.height
        clocked = rows_where(events, pl.col("relative_ts").is_not_null())
        self._is_clock |= clocked.height > 0
        self._has_starts |= clocked.get_column("at").null_count() < clocked.height
        damaged = events.filter(pl.col("kind").is_in(_DAMAGED) | pl.col("reason").is_not_null()).select(
            self._source.alias("source"), "line", pl.col("kind").cast(pl.String), "syscall", "args", "note", "reason"
        )
        self._damaged += [compact(damaged)] if damaged.height or not self._damaged else []
        odd = maybe_odd(events, self._source)
        self._odd += [compact(odd)] if odd.height or not self._odd else []

    def found(self, events: pl.LazyFrame) -> pl.DataFrame:
        """The diagnostics of all events that were added.

        Args:
            events: all of them; they are read again where a line may belong to the one before it.
        """
        if not self._damaged:
            return pl.DataFrame(schema=DIAGNOSTICS)
        damaged, odd = pl.concat(self._damaged), pl.concat(self._odd)
        found = _with_wrapped(_without_ends(_unread(damaged), events, self._log), events, self._log)
        found = _in_order(found, odd_calls(odd)) if odd.height else found
        is_end = pl.col("kind") == "continuation"
        kind = pl.when(is_end).then(pl.lit("missing")).otherwise(pl.col("kind").cast(pl.String))
        found = found.with_columns(kind.cast(DIAGNOSTICS["kind"]).alias("kind"))
        if self._is_clock and not self._has_starts:
            row = pl.DataFrame([(None, None, None, "clock", None, _CLOCK_OF_MANY)], schema=DIAGNOSTICS, orient="row")
            found = pl.concat([row, found])
        return found


def _source_of(log: str | None) -> pl.Expr:
    """The name of the log of each event."""
    return pl.lit(None, pl.String) if log is None else pl.col(log)


def _unread(lines: pl.DataFrame) -> pl.DataFrame:
    """The damaged lines: without cut lines that are followed by their continuation, and without these."""
    kind = pl.when(pl.col("kind").is_in(_DAMAGED)).then("kind").otherwise(pl.lit("damaged"))
    has_continuation = pl.col("kind").shift(-1) == "continuation"
    has_start = pl.col("kind").shift(1) == "cut"
    is_continued = (
        pl.when(pl.col("kind") == "cut").then(has_continuation).when(pl.col("kind") == "continuation").then(has_start)
    ).fill_null(value=False)
    text = pl.when(pl.col("syscall").is_null()).then(pl.coalesce("note", "args"))
    reason = pl.when(pl.col("kind") == "continuation").then(pl.lit("the start of this call is not in the log"))
    return lines.filter(~is_continued).select(
        "source",
        pl.col("line").cast(pl.Int64),
        pl.col("reason").str.extract("column ([0-9]+)", 1).cast(pl.Int64).alias("column"),
        kind.alias("kind"),
        text.otherwise(pl.concat_str("syscall", pl.lit("("), "args")).alias("text"),
        reason.otherwise("reason").alias("reason"),
    )


def _without_ends(found: pl.DataFrame, events: pl.LazyFrame, log: str | None) -> pl.DataFrame:
    """The damaged lines, without continuations of an unfinished line directly before (``-z``)."""
    rest = pl.col("kind") == "continuation"
    ends = found.filter(rest).get_column("line")
    if ends.is_empty():
        return found
    starts = (
        events.filter((pl.col("kind") == "unfinished") & (pl.col("line").cast(pl.Int64) + 1).is_in(ends.implode()))
        .select(_source_of(log).alias("source"), pl.col("line").cast(pl.Int64) + 1, kind=pl.lit("continuation"))
        .collect()
    )
    return found.join(starts, on=["source", "line", "kind"], how="anti", nulls_equal=True, maintain_order="left")


def _with_wrapped(found: pl.DataFrame, events: pl.LazyFrame, log: str | None) -> pl.DataFrame:
    """The damaged lines, and the calls whose next line looks like the end of a number or a time that was wrapped."""
    is_rest = (pl.col("kind") == "unparsed") & PARTS_GRAMMAR.matches(pl.col("text"), "^{WRAPPED_END}$")
    rests = found.filter(is_rest).select("source", "line")
    if rests.is_empty():
        return found
    line = pl.col("line").cast(pl.Int64)
    starts = (
        events.filter(pl.col("kind").is_in(["call", "resumed"]) & (line + 1).is_in(rests.get_column("line").implode()))
        .select(
            _source_of(log).alias("source"),
            line,
            pl.lit(None, pl.Int64).alias("column"),
            pl.lit("cut").alias("kind"),
            pl.concat_str("syscall", pl.lit("("), "args", pl.lit(") = "), "result_text").alias("text"),
            pl.lit(_WRAPPED).alias("reason"),
        )
        .collect()
        .join(rests.with_columns(pl.col("line") - 1), on=["source", "line"], how="semi", nulls_equal=True)
    )
    return _in_order(found, starts)


def _in_order(found: pl.DataFrame, more: pl.DataFrame) -> pl.DataFrame:
    """The rows of both, log by log in the order of their lines."""
    both = pl.concat([found, more])
    order = both.select("source").unique(maintain_order=True).with_row_index("_order")
    both = both.join(order, on="source", how="left", nulls_equal=True)
    return both.sort("_order", "line", maintain_order=True).drop("_order")


def raise_first(events: pl.DataFrame, source: Source) -> None:
    """Raise for the first line that could not be parsed.

    Raises:
        LogParseError: there is such a line.
    """
    for name, line, column, _, text, reason in unparsed(events).filter(pl.col("line").is_not_null()).iter_rows():
        raise LogParseError(
            reason,
            source=name or (str(source)[:200] if isinstance(source, str) or hasattr(source, "__fspath__") else "<log>"),
            line=line,
            column=column,
            text=text,
            expected="a line of strace; without strict=True it becomes a row of unparsed(events)",
        )
