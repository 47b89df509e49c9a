"""Asynchronous requests as columns: control blocks and events read by expressions, matched by their `data`.

This is the way of most requests: a context in which every control block and every event prints a `data` that is not
zero, as Oracle's do.  Whatever one of its calls prints otherwise (no `data`, a list that strace truncated, vectors)
leaves the whole context to `straceparse.aio`, which reads with Lark and matches by size and by order, too.  Both give
the same rows.
"""

from __future__ import annotations

from collections import defaultdict
from errno import errorcode
from functools import cache
from typing import Final

import polars as pl

from logframe.grammar import load_grammar
from straceparse.call_table import HIDDEN, SUBMITS

AIO_GRAMMAR = load_grammar("straceparse", "aio.lark")

_START: Final = "^{CONTEXT_NAME}?{UNSIGNED}{COMMA}"
_BLOCK_REST: Final = (
    "{OPERATION_NAME}?(?P<op>{OPERATION}){COMMA}{FD_NAME}(?P<fd>{DESCRIPTOR})(?P<file>{PATH})?{COMMA}"
    "{SIZE_NAME}(?P<size>{UNSIGNED}){COMMA}{OFFSET_NAME}(?P<offset>{SIGNED}){FLAGS}?{BRACE_END}"
)
_BLOCK: Final = "{BRACE}{DATA_NAME}(?P<data>{UNSIGNED}){COMMA}" + _BLOCK_REST
_EVENT_REST: Final = (
    "{COMMA}{OBJECT_NAME}?{UNSIGNED}{COMMA}{RESULT_NAME}?(?P<result>{SIGNED}){COMMA}{RESULT_2_NAME}?{SIGNED}{BRACE_END}"
)
_EVENT: Final = "{BRACE}{EVENT_DATA_NAME}?(?P<data>{UNSIGNED})" + _EVENT_REST

#: The same without data, or with data of 0 as strace 4.8 and before prints it; and a control block of 4.6 and before.
_ANY_BLOCK: Final = (
    f"(?:{{BRACE}}(?:{{DATA_NAME}}{{UNSIGNED}}{{COMMA}})?{_BLOCK_REST}"
    "|{BRACE}(?:{UNSIGNED}|{NIL})(?:{COMMA}{SIGNED}){4}{BRACE_END})"
)
_ANY_EVENT: Final = "{BRACE}{EVENT_DATA_NAME}?(?:{UNSIGNED}|{NIL})" + _EVENT_REST
_ITEMS: Final = "ITEM(?:{COMMA}ITEM)*"
_LIST: Final = f"{{LIST_NAME}}?{{LIST_START}}{_ITEMS}{{LIST_END}}"
_SUBMIT: Final = f"{_START}{{COUNT_NAME}}?{{UNSIGNED}}{{COMMA}}{_LIST}$"
#: The end of a call that reaps: what its second half prints.
_REAPED: Final = _LIST + "(?:{COMMA}?{TIMEOUT_NAME}?{TIMEOUT})?$"
_REAP: Final = f"{_START}{{COUNT_NAME}}?{{SIGNED}}{{COMMA}}{{COUNT_NAME}}?{{SIGNED}}{{COMMA}}{_REAPED}"

#: Operations of control blocks by name -> operation; any other is `other`.
OPERATIONS: Final[dict[object, str]] = {
    **dict.fromkeys(("pread", "preadv", "IOCB_CMD_PREAD", "IOCB_CMD_PREADV"), "read"),
    **dict.fromkeys(("pwrite", "pwritev", "IOCB_CMD_PWRITE", "IOCB_CMD_PWRITEV"), "write"),
    **dict.fromkeys(("fsync", "fdsync", "IOCB_CMD_FSYNC", "IOCB_CMD_FDSYNC"), "sync"),
    **dict.fromkeys(("poll", "IOCB_CMD_POLL"), "poll"),
}
#: Operations whose result is not a number of bytes.
WITHOUT_BYTES: Final = ("sync", "poll")
#: A call that says it carried more requests is a damaged line: the default of fs.aio-max-nr for the whole system.
MOST_REQUESTS: Final = 1 << 16
_ERRORS: Final = {str(number): name for number, name in errorcode.items()}


@cache
def _pattern(template: str) -> str:
    return AIO_GRAMMAR.pattern(template)


@cache
def _list_pattern(template: str, item: str) -> str:
    """A template with its items, which capture nothing."""
    plain = _pattern(item)
    for name in ("data", "op", "fd", "file", "size", "offset", "result"):
        plain = plain.replace(f"?P<{name}>", "?:")
    return _pattern(template).replace("ITEM", f"(?:{plain})")


def has_known_form(args: pl.Expr) -> pl.Expr:
    """Whether the arguments of a call, or of a half of one, submit or reap requests and are of the usual form."""
    forms = [_list_pattern(_SUBMIT, _ANY_BLOCK), *(_list_pattern(one, _ANY_EVENT) for one in (_REAP, f"^{_REAPED}"))]
    return args.str.contains("|".join(forms))


def reaps_nothing(args: pl.Expr) -> pl.Expr:
    """Whether the arguments of a call that reaps, or of its second half, are of the usual form with an empty list."""
    forms = (_pattern(one.replace(_ITEMS, "")) for one in (_REAP, f"^{_REAPED}"))
    return args.str.contains("|".join(forms))


def column_contexts(
    rows: pl.DataFrame, others: list[str], odd: set[tuple[object, ...]] | None
) -> tuple[pl.DataFrame, pl.DataFrame, set[tuple[object, ...]] | None]:
    """The calls of contexts that are read as columns, and all other calls.

    Args:
        rows: calls that submit and reap requests, as `straceparse.aio.AsyncRequests` gets them.
        others: columns that name the log of a call.
        odd: contexts that are not read as columns, because of earlier calls; None for all contexts.

    Returns:
        The first frame has only calls that carried requests, and the columns ``_step`` (their order in time),
        ``_context`` and ``_items`` (the texts of the control blocks or events that count).  The third is `odd`, with
        the contexts of these calls that are.
    """
    if odd is None:
        return rows.clear(), rows, None
    found = rows.with_columns(_step(others)).lazy().with_columns(_context_and_count()).with_columns(_items()).collect()
    carries = (pl.col("_count") > 0).fill_null(value=True)
    used = found.filter(carries & ~pl.col("name").is_in(HIDDEN))
    if used.get_column("_context").has_nulls():
        return rows.clear(), rows, None
    is_whole = (pl.col("_items").list.len() == pl.col("_count")).fill_null(value=False)
    # a zero is no data: the match goes by size or order then
    has_data = ~pl.col("_items").list.eval(pl.element().str.contains(_pattern("{BRACE}{NO_DATA}"))).list.any()
    is_other = ~(is_whole & has_data & (pl.col("_count") <= MOST_REQUESTS))
    keys = [*others, "_context"]
    odd = {*odd, *used.filter(is_other).select(keys).unique().iter_rows()}
    if not odd:
        # calls that carried nothing mean nothing to either reader
        return used, found.filter(pl.col("name").is_in(HIDDEN)).select(rows.columns), odd
    table = pl.DataFrame(list(odd), schema=used.select(keys).schema, orient="row")
    columns = used.join(table, on=keys, how="anti", nulls_equal=True, maintain_order="left")
    rest = found.join(columns, on="_row", how="anti", maintain_order="left")
    return columns, rest.select(rows.columns), odd


def _step(others: list[str]) -> pl.Expr:
    """The order of calls in time: a request exists from the start of its call, a completion at the end of its call."""
    if others:  # the calls of several logs are in order already
        return pl.col("_row").cast(pl.Int64).alias("_step")
    turn = pl.when(pl.col("name").is_in(SUBMITS)).then("line").otherwise("end_line").cast(pl.Int64)
    return (turn * (1 << 32) + pl.col("_row").cast(pl.Int64)).alias("_step")


def _context_and_count() -> list[pl.Expr]:
    """The context of a call, and the number of requests that it carried; null where they are not known."""
    args, result = pl.col("args"), pl.col("result")
    context = args.str.extract(_pattern("^{CONTEXT_NAME}?({UNSIGNED}){COMMA}"), 1)
    # a submission that did not return has submitted all that it prints
    wanted = (
        pl.when(result.is_null()).then(args).str.extract(_pattern(f"{_START}{{COUNT_NAME}}?({{UNSIGNED}}){{COMMA}}"), 1)
    )
    is_submit = pl.col("name").is_in(SUBMITS)
    count = pl.when(is_submit).then(pl.coalesce(result, _number(wanted))).otherwise(result.fill_null(0))
    return [_number(context).alias("_context"), count.alias("_count")]


def _items() -> pl.Expr:
    """The texts of the control blocks or events that count; null where the arguments have another form."""
    args, is_submit = pl.col("args"), pl.col("name").is_in(SUBMITS)
    submits, reaps = pl.when(is_submit).then(args), pl.when(~is_submit).then(args)
    block = pl.when(submits.str.contains(_list_pattern(_SUBMIT, _BLOCK))).then(args)
    event = pl.when(reaps.str.contains(_list_pattern(_REAP, _EVENT))).then(args)
    found = pl.coalesce(
        block.str.extract_all(_list_pattern("ITEM", _BLOCK)), event.str.extract_all(_list_pattern("ITEM", _EVENT))
    )
    return found.list.head(pl.col("_count")).alias("_items")


def column_requests(
    calls: pl.DataFrame, waiting: pl.DataFrame | None, others: list[str], schema: dict[str, pl.DataType]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The requests that are completed by calls that `column_contexts` gives, and those that wait then.

    Args:
        calls: the next calls.
        waiting: the requests that wait before them; None at the start.
        others: columns that name the log of a call.
        schema: columns of the first result, after `others`.
    """
    is_submit = pl.col("name").is_in(SUBMITS)
    submitted = _exploded(calls.filter(is_submit), _BLOCK)
    submitted = (submitted if waiting is None else pl.concat([waiting, submitted])).with_row_index("_request")
    completed = _exploded(calls.filter(~is_submit), _EVENT).with_columns(_completed()).with_row_index("_completion")
    pairs = _matched(submitted, completed, [*others, "_context"])
    result = pl.col("_result")
    ends = completed.select(
        "_completion", result.alias("_end_result"), pl.col("end_line").alias("_end_line"), "_completed", "_from"
    )
    done = submitted.join(pairs, on="_request", maintain_order="left").join(
        ends, on="_completion", how="left", maintain_order="left"
    )
    waiting = submitted.join(pairs, on="_request", how="anti", maintain_order="left").drop("_request")
    alone = completed.join(pairs, on="_completion", how="anti", maintain_order="left").with_columns(
        pl.lit("other").alias("op"),
        pl.lit("none").alias("match"),
        pl.lit(None, pl.Int64).alias("wall"),
        pl.lit(None, pl.Int64).alias("time_of_day"),
    )
    return pl.concat([_finished(_request(done), others, schema), _finished(alone, others, schema)]), waiting


def column_rest(waiting: pl.DataFrame, others: list[str], schema: dict[str, pl.DataType]) -> pl.DataFrame:
    """The requests that were never completed."""
    nothing = {"_end_line": pl.UInt32, "_end_result": pl.Int64, "_completed": pl.Int64, "_from": pl.String}
    return _finished(
        _request(waiting.with_columns(pl.lit(None, dtype).alias(name) for name, dtype in nothing.items()), "none"),
        others,
        schema,
    )


def _request(rows: pl.DataFrame, match: str = "data") -> pl.DataFrame:
    """The columns of requests, from control blocks with the ends of the calls that reaped them."""
    has_times = pl.col("start").is_not_null() & pl.col("_completed").is_not_null()
    return rows.with_columns(
        pl.coalesce("_end_line", "end_line").alias("end_line"),
        pl.col("op").replace_strict(OPERATIONS, default="other").alias("op"),
        _number(pl.col("fd")).alias("fd"),
        pl.col("file").str.strip_prefix("<").str.strip_suffix(">"),
        _number(pl.col("size")).alias("bytes_requested"),
        _number(pl.col("offset")).alias("offset"),
        pl.col("_end_result").alias("_result"),
        pl.col("start").alias("submitted"),
        pl.when(has_times).then(pl.col("_completed") - pl.col("start")).alias("latency"),
        pl.when(has_times).then("_from").alias("latency_from"),
        pl.lit(match).alias("match"),
    )


def _exploded(calls: pl.DataFrame, item: str) -> pl.DataFrame:
    """One row an item: its parts as text, but ``_data`` and ``_result`` as numbers, and its ``_place`` in the call."""
    items = calls.with_columns(pl.int_ranges(0, pl.col("_items").list.len()).alias("_place")).explode(
        "_items", "_place"
    )
    parts = pl.col("_items").str.extract_groups(f"^{_pattern(item)}$").struct.unnest()
    found = items.drop("op", "fd", "file", strict=False).with_columns(parts)
    result = _number(pl.col("result")) if item == _EVENT else pl.lit(None, pl.Int64)
    return found.with_columns(_number(pl.col("data")).alias("_data"), result.alias("_result"))


def _completed() -> list[pl.Expr]:
    """Time of a completion, and its source, as in `straceparse.aio`."""
    does_not_wait = pl.col("args").str.contains(_pattern("{NO_TIMEOUT}$"))
    has_end, start = pl.col("end").is_not_null(), pl.col("start")
    return [
        pl.when(has_end)
        .then("end")
        .when(does_not_wait)
        .then(start)
        .otherwise(start + pl.col("gap"))
        .alias("_completed"),
        pl.when(has_end)
        .then(pl.col("elapsed_from").cast(pl.String))
        .when(does_not_wait)
        .then(pl.lit("poll"))
        .otherwise(pl.lit("gap"))
        .alias("_from"),
    ]


def _matched(submitted: pl.DataFrame, completed: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Pairs of ``_request`` and ``_completion``: each completion takes the oldest request that waits with its data.

    One of its own process goes first: a thread may reap what another submitted, but two processes may use one number
    for two contexts, and one `data`.
    """
    columns = (*keys, "_data", "_step", "_place", "pid")
    steps = pl.concat(
        [
            submitted.select(*columns, pl.col("_request").cast(pl.Int64).alias("_number")),
            completed.select(*columns, (-1 - pl.col("_completion").cast(pl.Int64)).alias("_number")),
        ]
    )
    names = (*keys, "_data")
    is_submit, is_same = (
        pl.col("_number") >= 0,
        pl.all_horizontal(pl.col(name).eq_missing(pl.col(name).shift(1)) for name in names),
    )
    ordered = steps.sort(*names, "_step", "_place").with_columns(
        pl.when(is_same & is_submit.shift(1)).then(pl.col("_number").shift(1)).alias("_waiting")
    )
    # mostly no two requests with the same data wait at a time
    several = ordered.filter(is_submit & pl.col("_waiting").is_not_null()).select(names).unique()
    if several.height:
        queued = steps.join(several, on=names, how="semi", nulls_equal=True, maintain_order="left")
        ordered = ordered.join(several, on=names, how="anti", nulls_equal=True)
    alone = ordered.filter(~is_submit & pl.col("_waiting").is_not_null()).select(
        pl.col("_waiting").cast(pl.UInt32).alias("_request"),
        (-1 - pl.col("_number")).cast(pl.UInt32).alias("_completion"),
    )
    return alone if several.is_empty() else pl.concat([alone, _queued(queued.sort("_step", "_place"), names)])


def _queued(steps: pl.DataFrame, names: tuple[str, ...]) -> pl.DataFrame:
    """The pairs of `_matched` where several requests with the same data wait at a time."""
    waiting: dict[tuple[object, ...], list[tuple[int, int | None]]] = defaultdict(list)
    pairs: list[tuple[int, int]] = []
    texts = zip(*(steps.get_column(name).to_list() for name in names), strict=True)
    owners, numbers = (steps.get_column(name).to_list() for name in ("pid", "_number"))
    for key, pid, number in zip(texts, owners, numbers, strict=True):
        queue = waiting[key]
        if number >= 0:
            queue.append((number, pid))
        elif queue:
            taken = 0
            if queue[0][1] != pid and len(queue) > 1:
                taken = next((place for place, (_, owner) in enumerate(queue) if owner == pid), 0)
            pairs.append((queue.pop(taken)[0], -1 - number))
    return pl.DataFrame(pairs, schema={"_request": pl.UInt32, "_completion": pl.UInt32}, orient="row")


def _finished(rows: pl.DataFrame, others: list[str], schema: dict[str, pl.DataType]) -> pl.DataFrame:
    """The rows with the columns of the result; those that they lack are null."""
    result = pl.col("_result")
    text = (-result).cast(pl.String)
    rows = rows.with_columns(
        pl.lit("async").alias("mode"),
        pl.col("name").alias("syscall"),
        pl.when((result >= 0) & ~pl.col("op").is_in(WITHOUT_BYTES)).then(result).alias("bytes_transferred"),
        pl.lit(1).alias("requests"),
        pl.lit(0).alias("restarts"),
        pl.col("_completed").alias("completed"),
        pl.lit(value=True).alias("is_printed"),
        pl.when(result < 0).then(text.replace(_ERRORS)).alias("errno"),
    )
    nothing = {name: pl.lit(None, dtype).alias(name) for name, dtype in schema.items() if name not in rows.columns}
    return rows.with_columns(nothing.values()).select(
        *others, *(pl.col(name).cast(dtype) for name, dtype in schema.items())
    )


def _number(text: pl.Expr) -> pl.Expr:
    """A printed number as Int64; the patterns allow none that does not fit."""
    mark = AIO_GRAMMAR.literal("HEXADECIMAL_MARK")
    hexadecimal = (
        pl.when(text.str.starts_with(mark)).then(text).str.slice(len(mark)).str.to_integer(base=16, strict=False)
    )
    return pl.coalesce(text.cast(pl.Int64, strict=False), hexadecimal)
