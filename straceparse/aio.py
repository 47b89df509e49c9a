"""Asynchronous I/O: requests submitted by ``io_submit``, matched to their completions in ``io_getevents``.

strace has printed a control block in six ways, from ``{(nil), 0, 0, 0, 268}`` (4.6 and before: no size, no offset) to
``{aio_data=0, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=268, ...}`` (5.3 and later); all become one request.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from errno import errorcode
from typing import Any, Final

import polars as pl

from straceparse.aio_columns import AIO_GRAMMAR, MOST_REQUESTS, OPERATIONS, WITHOUT_BYTES
from straceparse.arguments import parsed
from straceparse.call_table import HIDDEN, SUBMITS
from straceparse.records import Decorated
from straceparse.schema import whole
from straceparse.transfers import descriptor_of, vector_size

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
    completed, latency_from = _completed(call, items)
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


def _completed(call: dict[str, Any], items: object) -> tuple[int | None, str]:
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
