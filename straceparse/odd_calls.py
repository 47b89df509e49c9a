"""Calls whose figures are not read because a word of their line is damaged: the name of the call or of a field."""

from __future__ import annotations

from typing import Final

import polars as pl

from logframe import DIAGNOSTICS
from straceparse.aio import FIELDS, OPS, fields_of
from straceparse.aio_columns import has_known_form
from straceparse.arguments import parsed
from straceparse.call_table import SUBMITS, SUBMITS_OR_REAPS
from straceparse.descriptors import DESCRIPTOR_CALLS
from straceparse.ordered import rows_where
from straceparse.records import PARTS_GRAMMAR
from straceparse.sizes import ROLES
from straceparse.transfers import PARSED_CALLS
from straceparse.vectors import descriptor_of

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
    is_unknown, has_list = ~name.is_in(_KNOWN), args.str.contains(PARTS_GRAMMAR.literal("BRACE"), literal=True)
    size = pl.when(is_unknown).then(args).str.extract(_TRANSFER, 1).cast(pl.Int64, strict=False)
    own = pl.when(has_list).then(args.str.strip_chars_start(", "))
    is_odd = has_known_form(own) == is_unknown  # null where there is no list
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
