"""Asynchronous I/O: requests submitted by ``io_submit``, matched to their completions in ``io_getevents``.

strace has printed a control block in six ways, from ``{(nil), 0, 0, 0, 268}`` (4.6 and before: no size, no offset) to
``{aio_data=0, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=268, ...}`` (5.3 and later); all become one request.

A context in which every control block and every event prints a `data` that is not zero, as Oracle's do, is read and
matched by expressions.  Whatever one of its calls prints otherwise (no `data`, a list that strace truncated, vectors)
leaves the whole context to Lark, which matches by size and by order, too.  Both give the same rows.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from errno import errorcode
from functools import cache
from typing import Any, Final

import polars as pl

from logframe.grammar import load_grammar
from straceparse.arguments import parsed
from straceparse.call_table import HIDDEN, OPERATIONS, SUBMITS
from straceparse.records import Decorated
from straceparse.schema import whole
from straceparse.transfers import descriptor_of, vector_size

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


#: Control block operations, by number (linux/aio_abi.h) and by name -> operation.
OPS: Final[dict[object, str]] = {
    **OPERATIONS,
    **dict.fromkeys((0, 7), "read"),
    **dict.fromkeys((1, 8), "write"),
    **dict.fromkeys((2, 3), "sync"),
    5: "poll",
}
_HEXADECIMAL: Final = AIO_GRAMMAR.literal("HEXADECIMAL_MARK")
#: A field of a control block -> its names across versions.
FIELDS: Final = {
    "data": ("aio_data", "data"),
    "op": ("aio_lio_opcode", 0, 1, 2),
    "fd": ("aio_fildes", "fildes", "filedes"),
    "size": ("aio_nbytes", "nbytes"),
    "offset": ("aio_offset", "offset"),
    "vector": ("aio_buf", "iovec", "iov", "buf"),
}
#: Calls whose requests start with them.
_SUBMITS: Final = (*SUBMITS, *HIDDEN)


@dataclass(frozen=True, slots=True)
class Request:
    """One asynchronous request, or a completion whose request is not in the log; times in nanoseconds."""

    row: int
    place: int
    call: dict[str, Any]
    data: int | None = None
    op: str | None = None
    fd: int | None = None
    file: str | None = None
    requested: int | None = None
    offset: int | None = None
    is_printed: bool = True
    submitted: int | None = None
    transferred: int | None = None
    completed: int | None = None
    latency_from: str | None = None
    end_line: int | None = None
    match: str = "none"
    errno: str | None = None
    requests: int = 1


@dataclass(frozen=True, slots=True)
class _Completion:
    """One event that ``io_getevents`` returned."""

    data: int | None = None
    result: int | None = None
    is_printed: bool = False


def request_of(row: dict[str, Any]) -> Request:
    """A request that was read as columns, in the form that the call itself gives."""
    path = row["file"]
    return Request(
        row["_row"],
        row["_place"],
        row,
        data=row["_data"],
        op=OPS.get(row["op"], "other"),
        fd=_printed(row["fd"]),
        file=None if path is None else path[1:-1],
        requested=_printed(row["size"]),
        offset=_printed(row["offset"]),
        submitted=row["start"],
    )


def _printed(number: str | None) -> int | None:
    return None if number is None else int(number, 16 if number.startswith(_HEXADECIMAL) else 10)


def by_call(rows: pl.DataFrame, others: list[str], waiting: dict[tuple[object, ...], list[Request]]) -> list[Request]:
    """The requests that are completed by calls whose arguments Lark reads, one call at a time.

    Args:
        rows: the calls; their times are numbers of nanoseconds.
        others: columns that name the log of a call.
        waiting: the requests of each context that wait, which this changes.
    """
    calls = rows.rows(named=True)
    values = map(parsed, rows.get_column("args"))
    steps = list(zip(calls, values, strict=True))
    if not others:  # a request exists from the start of its call; a completion at the end of the reaping call
        steps.sort(key=lambda step: (step[0]["line" if step[0]["name"] in SUBMITS else "end_line"], step[0]["_row"]))
    found: list[Request] = []
    for call, arguments in steps:
        items = list(arguments.values()) if isinstance(arguments, dict) else arguments
        context = (*(call[name] for name in others), _integer(items[0]) if isinstance(items, list) and items else None)
        if call["name"] in SUBMITS:
            waiting[context] += _submitted(call, items)
        elif call["name"] in HIDDEN:
            found += _ring(call)
        else:
            found += _reaped(call, items, waiting[context])
            if not waiting[context]:
                del waiting[context]
    return found


def frame_of(requests: list[Request], others: list[str]) -> pl.DataFrame:
    """One row a request, with the columns `others` and `ASYNC_SCHEMA`."""
    return pl.DataFrame(
        [tuple(map(_clamped, _row(request, others))) for request in requests],
        schema={**dict.fromkeys(others, pl.String), **ASYNC_SCHEMA},
        orient="row",
    )


def _submitted(call: dict[str, Any], items: object) -> list[Request]:
    """The requests of one ``io_submit``: the number that it returned, or that it prints if the result is unknown."""
    blocks = items[2] if isinstance(items, list) and len(items) > 2 else None
    blocks = [block for block in blocks if block is not ...] if isinstance(blocks, list | tuple) else []
    wanted = items[1] if isinstance(items, list) and len(items) > 1 and isinstance(items[1], int) else len(blocks)
    count = _clamp_count(wanted if call["result"] is None else call["result"], len(blocks))
    plain = Request(call["_row"], 0, call, submitted=call["start"], is_printed=False)
    return [
        replace(_block(plain, blocks[place]), place=place) if place < len(blocks) else replace(plain, place=place)
        for place in range(count)
    ]


def fields_of(block: dict[object, object]) -> dict[str, object]:
    """The values of a control block by the names of `FIELDS`; None for one that is not there."""
    return {name: next((block[key] for key in keys if key in block), None) for name, keys in FIELDS.items()}


def _block(plain: Request, block: object) -> Request:
    """A control block as a request; without fields where strace printed only its address."""
    if isinstance(block, tuple) and len(block) >= 5:
        data, _, op, _, fd = block[:5]  # strace 4.6 and before; the second is the key, the fourth the priority
        number, path = descriptor_of(fd)
        return replace(plain, data=_integer(data), op=OPS.get(op, "other"), fd=number, file=path)
    if not isinstance(block, dict):
        return plain
    fields = fields_of(block)
    # strace 4.7 to 4.18 does not name the operation; 4.7 to 4.10 not the offset and the buffers of a vectored request
    nameless = [value for key, value in block.items() if isinstance(key, int)][0 if "aio_lio_opcode" in block else 1 :]
    number, path = descriptor_of(fields["fd"])
    requested = _integer(fields["size"])
    vector = next((one for one in (fields["vector"], *nameless) if isinstance(one, list)), None)
    if requested is None and vector is not None:
        requested = vector_size(vector)
    return replace(
        plain,
        data=_integer(fields["data"]),
        op=OPS.get(fields["op"], "other"),
        fd=number,
        file=path,
        requested=requested,
        offset=next((one for one in (fields["offset"], *nameless) if isinstance(one, int)), None),
        is_printed=True,
    )


def _reaped(call: dict[str, Any], items: object, waiting: list[Request]) -> list[Request]:
    """The requests that one ``io_getevents`` completed, removed from those that wait."""
    completed, latency_from = _aio_completed(call, items)
    done = []
    completions = _completions(call, items)
    for place, (completion, (match, found)) in enumerate(
        zip(completions, _matches(completions, waiting, call["pid"]), strict=True)
    ):
        request = found or Request(call["_row"], place, call, is_printed=completion.is_printed)
        result = completion.result
        has_bytes = result is not None and result >= 0 and request.op not in WITHOUT_BYTES
        done.append(
            replace(
                request,
                transferred=result if has_bytes else None,
                errno=_errno(result),
                completed=completed,
                latency_from=latency_from if completed is not None else None,
                end_line=call["end_line"],
                match=match,
            )
        )
    return done


def _completions(call: dict[str, Any], items: object) -> list[_Completion]:
    events = items[3] if isinstance(items, list) and len(items) > 3 else None
    events = [event for event in events if event is not ...] if isinstance(events, list | tuple) else []
    count = _clamp_count(call["result"] or 0, len(events))
    found = []
    for event in events[:count]:
        if isinstance(event, dict):
            found.append(_Completion(_integer(event.get("data")), _integer(event.get("res")), is_printed=True))
        elif isinstance(event, tuple) and len(event) > 2:
            found.append(_Completion(_integer(event[0]), _integer(event[2]), is_printed=True))
    return found + [_Completion()] * (count - len(found))


def _aio_completed(call: dict[str, Any], items: object) -> tuple[int | None, str]:
    """Time of the completions of a call, and its source."""
    if call["end"] is not None:
        return call["end"], call["elapsed_from"]
    timeout = items[4] if isinstance(items, list) and len(items) > 4 else None
    parts = list(timeout.values()) if isinstance(timeout, dict) else timeout
    if isinstance(parts, list | tuple) and parts and all(part == 0 for part in parts):
        return call["start"], "poll"
    if call["start"] is None or call["gap"] is None:
        return None, "gap"
    return call["start"] + call["gap"], "gap"


def _matches(
    completions: list[_Completion], waiting: list[Request], pid: int | None
) -> list[tuple[str, Request | None]]:
    """The waiting request of each completion, removed from those that wait, and how it was matched.

    The most certain matches come first: a short read must not take by order the request whose size another completion
    of the same call has.
    """
    found: list[tuple[str, Request | None]] = [("none", None)] * len(completions)
    own = [one for one in waiting if one.call["pid"] == pid]
    for match, fits in (("data", _has_data), ("size", _has_size), ("order", _can_be)):
        for place, completion in enumerate(completions):
            if found[place][1] is not None:
                continue
            # a thread may reap what another submitted, but two processes may use one number for two contexts
            tried = (own, waiting) if match == "data" else (own or waiting,)
            request = next((one for some in tried for one in some if fits(completion, one)), None)
            if request is not None:
                for some in (own, waiting):
                    if request in some:
                        some.remove(request)
                found[place] = (match, request)
    return found


def _has_data(completion: _Completion, request: Request) -> bool:
    return bool(completion.data) and request.data == completion.data


def _has_size(completion: _Completion, request: Request) -> bool:
    return request.requested is not None and request.requested == completion.result and _can_be(completion, request)


def _can_be(completion: _Completion, request: Request) -> bool:
    """Whether the printed fields allow it: the kernel returns `data` unchanged, and at most the requested size."""
    if completion.is_printed and (request.is_printed or request.data) and (request.data or 0) != (completion.data or 0):
        return False
    most = 0 if request.op == "sync" else request.requested
    return most is None or completion.result is None or completion.result <= most


def _ring(call: dict[str, Any]) -> list[Request]:
    """One row for the requests of an ``io_uring_enter``, whose contents strace does not see."""
    count = _clamp_count(call["result"] or 0, 0)
    if not count:
        return []
    return [
        Request(call["_row"], 0, call, op="other", submitted=call["start"], is_printed=False, requests=count),
    ]


def _clamp_count(count: int, printed: int) -> int:
    """The number of requests, or the number printed where it is so large that the line must be damaged."""
    return printed if count > MOST_REQUESTS else max(count, 0)


def _errno(result: int | None) -> str | None:
    """The name of the error that a completion reports as a negative number; the number where it has no name."""
    if result is None or result >= 0:
        return None
    return errorcode.get(-result, str(-result))


def _integer(value: object) -> int | None:
    if isinstance(value, Decorated):
        value = value.value
    return value if isinstance(value, int) else None


ASYNC_SCHEMA: Final[dict[str, pl.DataType]] = {
    "_row": pl.UInt32(),
    "_place": pl.UInt32(),
    "line": pl.UInt32(),
    "end_line": pl.UInt32(),
    "pid": pl.Int32(),
    "op": pl.String(),
    "mode": pl.String(),
    "syscall": pl.String(),
    "fd": pl.Int64(),
    "file": pl.String(),
    "bytes_requested": pl.Int64(),
    "bytes_transferred": pl.Int64(),
    "offset": pl.Int64(),
    "requests": pl.UInt32(),
    "restarts": pl.UInt32(),
    "wall": pl.Int64(),
    "time_of_day": pl.Int64(),
    "submitted": pl.Duration("ns"),
    "completed": pl.Duration("ns"),
    "latency": pl.Duration("ns"),
    "latency_from": pl.String(),
    "match": pl.String(),
    "is_printed": pl.Boolean(),
    "errno": pl.String(),
}


def _clamped(cell: object) -> object:
    return whole(cell) if isinstance(cell, int) and not isinstance(cell, bool) else cell


def _row(request: Request, others: list[str]) -> tuple[object, ...]:
    call = request.call
    has_both = request.submitted is not None and request.completed is not None
    return (
        *(call[name] for name in others),
        request.row,
        request.place,
        call["line"],
        request.end_line if request.end_line is not None else call["end_line"],
        call["pid"],
        request.op or "other",
        "async",
        call["name"],
        request.fd,
        request.file,
        request.requested,
        request.transferred,
        request.offset,
        request.requests,
        0,
        call["wall"] if call["name"] in _SUBMITS else None,
        call["time_of_day"] if call["name"] in _SUBMITS else None,
        request.submitted,
        request.completed,
        request.completed - request.submitted if has_both else None,  # type: ignore[operator]
        request.latency_from if has_both else None,
        request.match if call["name"] not in HIDDEN else None,
        request.is_printed,
        request.errno,
    )
