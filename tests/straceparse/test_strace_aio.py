"""Asynchronous requests read as columns are those that Lark reads call by call, in every spelling."""

import random
from collections import defaultdict
from collections.abc import Callable

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from logframe import Log
from straceparse import Dialect, aio, calls, io_requests, read_strace, scan_strace
from straceparse.aio import column_contexts
from straceparse.requests import ASYNC_CALLS, AsyncRequests
from straceparse.system_calls import CALLS

Block = Callable[[int, str, int, int, int], str]
Event = Callable[[int, int], str]

#: Versions -> a control block (data, operation, descriptor, size, offset), an event (data, result), and a timeout.
SPELLINGS: dict[str, tuple[str, Block, Event, str]] = {
    "4.8": (
        "{}",
        lambda data, op, fd, size, at: f"{{data:{data:#x}, {op}, filedes:{fd}, buf:0x7f, nbytes:{size}, offset:{at}}}",
        lambda data, result: f"{{{data:#x}, 0x7f, {result}, 0}}",
        "{{{}, 0}}",
    ),
    "4.12": (
        "[]",
        lambda data, op, fd, size, at: (
            f"{{data={data:#x}, {op}, {'reqprio=2, ' * (fd % 2)}"
            f'fildes={fd}, str="a\\"b"..., nbytes={size}, offset={at}}}'
        ),
        lambda data, result: f"{{data={data:#x}, obj=0x7f, res={result}, res2=0}}",
        "{{{}, 0}}",
    ),
    "6.1 -y": (
        "[]",
        lambda data, op, fd, size, at: (
            f"{{aio_data={data:#x}, aio_lio_opcode=IOCB_CMD_{op.upper()}, {'aio_reqprio=-1, ' * (fd % 2)}"
            f"aio_fildes={fd}</u01/x-{fd}.dbf>, aio_buf=0x7f, aio_nbytes={size}, aio_offset={at}}}"
        ),
        lambda data, result: f"{{data={data:#x}, obj=0x7f, res={result}, res2=0}}",
        "{{tv_sec={}, tv_nsec=0}}",
    ),
}
#: What stands before a line, and behind a call that returned.
PREFIXES: dict[str, tuple[Callable[[int, int], str], str]] = {
    "-r": (lambda _, __: "     0.000100 ", ""),
    "-f -ttt -T": (
        lambda pid, number: f"{pid} {1_795_253_115 + number // 1000}.{number % 1000:03d}000 ",
        " <0.000050>",
    ),
}


def log_of(spelling: str, prefix: str, seed: int, *, regular: bool, count: int = 300) -> str:
    """A log of several processes and contexts, begun in the middle; with `regular` every request prints its data."""
    chance = random.Random(f"{spelling} {prefix} {seed}")  # noqa: S311 - reproducible lines, no secret
    (first, last), block, event, timeout = SPELLINGS[spelling]
    before, behind = PREFIXES[prefix]
    waiting: list[tuple[int, int, int]] = [(1, 0x7F00, 8192), (2, 0x7F10, 8192)]  # submitted before the log began
    lines = []
    for number in range(count):
        pid, context = chance.randint(4711, 4713), chance.choice((1, 1, 2))
        if chance.random() < 0.5:
            blocks = []
            for _ in range(chance.choice((1, 1, 2, 3))):
                data = chance.choice((0x7F00, 0x7F10, 0x7F20, chance.randint(0x8000, 0xFFFF)))
                data = data if regular or chance.random() < 0.7 else 0
                size, op = chance.choice((512, 8192)), chance.choice(("pread", "pwrite", "fsync", "poll", "noop"))
                blocks.append(block(data, op, chance.randint(3, 6), size, chance.choice((0, 512, -1, 1 << 40))))
                waiting.append((context, data, size))
            result = chance.choice(
                (str(len(blocks)),) * 8 + ("1", "0", "-1 EAGAIN (Resource temporarily unavailable)", "?")
            )
            shown = blocks if regular or chance.random() < 0.9 else [*blocks[:1], "..."]
            nr = hex(context) if chance.random() < 0.5 else context
            text = f"io_submit({nr}, {len(blocks)}, {first}{', '.join(shown)}{last}) = {result}"
        else:
            own = [one for one in waiting if one[0] == context]
            taken = chance.sample(own, min(len(own), chance.choice((0, 1, 1, 2))))
            for one in taken:
                waiting.remove(one)
            events = [event(data, chance.choice((size, size, 512, 0, -5, -12345))) for _, data, size in taken]
            wait = chance.choice((", " + timeout.format(chance.choice((0, 600))), ", NULL", timeout.format(0)))
            listed = f"{first}{', '.join(events)}{last}"
            text = f"io_getevents({context}, 1, 128, {listed}{wait}) = {len(events)}"
        lines.append(before(pid, number) + text + ("" if "?" in text[-3:] else behind))
    return "\n".join(lines)


def async_calls(log: bytes, *, with_log: bool = False) -> tuple[pl.DataFrame, list[str]]:
    """The rows that `AsyncRequests` gets, and the columns that name the log."""
    found = calls(read_strace(log))
    if with_log:
        found = found.with_columns((pl.col("line") % 2).cast(pl.String).alias("log"))
    others = [name for name in found.columns if name not in CALLS]
    rows = found.filter(pl.col("state") != "resumed").with_row_index("_row")
    rows = rows.filter(pl.col("name").is_in(ASYNC_CALLS))
    return rows.with_columns(pl.col("start", "end", "gap", "wall", "time_of_day").to_physical()), others


def assert_same(rows: pl.DataFrame, others: list[str], *steps: int) -> int:
    """Both readers give the same requests, at once and in batches of so many rows; the number of them."""
    expected = requests_by_call(rows, others).sort("_row", "_place")
    for step in (rows.height, *steps):
        reader, found = AsyncRequests(others), []
        for start in range(0, rows.height, step):
            batch = rows.slice(start, step)
            found.append(reader.add(batch, batch.get_column("line").max())[0])  # type: ignore[arg-type]
        found.append(reader.add(rows.clear(), None)[0])

        assert_frame_equal(expected, pl.concat(found).sort("_row", "_place"))
    return expected.height


def requests_by_call(rows: pl.DataFrame, others: list[str]) -> pl.DataFrame:
    """The requests as Lark reads them."""
    waiting: dict[tuple[object, ...], list[aio.Request]] = defaultdict(list)
    found = aio.by_call(rows, others, waiting)
    return aio.frame_of([*found, *(request for requests in waiting.values() for request in requests)], others)


@pytest.mark.parametrize("regular", [True, False])
@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_columns_are_what_lark_reads(spelling: str, prefix: str, *, regular: bool, is_whole: bool) -> None:
    """Requests, completions without one, errors, polls and clocks, whatever the order of the calls."""
    found = 0
    for seed in range(12 if is_whole else 2):
        log = log_of(spelling, prefix, seed, regular=regular).encode()
        found += assert_same(*async_calls(log, with_log=seed % 3 == 1), (7, 40, 130)[seed % 3])

    assert found > 300


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_regular_calls_are_read_as_columns(spelling: str) -> None:
    """Where every request prints its data, no call is left to Lark; one odd context leaves the others alone."""
    log = log_of(spelling, "-f -ttt -T", 1, regular=True)
    columns, rest, _ = column_contexts(*async_calls(log.encode()), set())
    assert (columns.height > 200, rest.height) == (True, 0)
    odd = "4711 1795253120.000000 io_getevents(2, 1, 128, [{data=0, obj=0x7f, res=8192, res2=0}], NULL) = 1 <0.000050>"
    columns, rest, _ = column_contexts(*async_calls(f"{log}\n{odd}".encode()), set())

    assert set(columns.get_column("_context")) == {1}
    assert rest.height > 30


def test_unknown_context_leaves_all_calls_to_lark() -> None:
    """A call whose context cannot be read may belong to any."""
    block = "{aio_data=0x1, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=3, aio_buf=0x7f, aio_nbytes=512, aio_offset=0}"
    log = f"io_submit(1, 1, [{block}]) = 1\nio_submit(ctx, 1, [{block}]) = 1"

    assert column_contexts(*async_calls(log.encode()), set())[0].is_empty()
    assert scan_strace(log.encode()).collect().height == 2


@pytest.mark.corpus
def test_real_logs(opened: dict[str, tuple[Log, Dialect]], *, is_whole: bool) -> None:
    """The asynchronous requests of real logs, of one in three, by both readers."""
    found = 0
    with_requests = [log for log, _ in opened.values() if log.text().count("io_submit(")]
    for log in with_requests[:: 1 if is_whole else 3]:
        found += assert_same(*async_calls(log.text().encode()), *((7, 40) if is_whole else (40,)))

    assert found > 100


@pytest.mark.parametrize("seed", range(4))
def test_requests_are_matched_at_once_as_one_by_one(seed: int) -> None:
    """Pairs made by sorting are those of a queue for each `data`, where requests of one `data` wait alone or not."""
    chance = random.Random(seed)  # noqa: S311 - reproducible, no secret
    rows = [
        (context, chance.randint(1, 40 * (1 + seed % 2)), step, chance.randint(0, 2), chance.randint(1, 3))
        for step, context in enumerate(chance.choices((1, 2), k=300))
    ]
    schema = {"_context": pl.Int64, "_data": pl.Int64, "_step": pl.Int64, "_place": pl.Int64, "pid": pl.Int32}
    steps = pl.DataFrame(chance.sample(rows, len(rows)), schema=schema, orient="row")
    is_submit = pl.Series([chance.random() < 0.5 for _ in range(steps.height)])
    submitted = steps.filter(is_submit).with_row_index("_request")
    completed = steps.filter(~is_submit).with_row_index("_completion")
    numbered = pl.concat(
        [
            submitted.select(*schema, pl.col("_request").cast(pl.Int64).alias("_number")),
            completed.select(*schema, (-1 - pl.col("_completion").cast(pl.Int64)).alias("_number")),
        ]
    ).sort("_step", "_place")
    found = aio._matched(submitted, completed, ["_context"])  # noqa: SLF001 - both ways to the same pairs
    expected = aio._queued(numbered, ("_context", "_data"))  # noqa: SLF001 - as above

    assert expected.height > 30
    assert sorted(found.rows()) == sorted(expected.rows())


def test_events_that_another_process_cut_off_keep_their_sizes() -> None:
    """Strace 4 prints a blank at both ends of the cut; the event is that of the request, and nothing is left over."""
    head = "7 1700000000.{:06d} io_{}"
    submit, reap = "submit(140300, 1, {{{{0x7f0{}, 0, 0, 0, 262}}}}) = 1 <0.000010>", "getevents(140300, 1, 128,  "
    lines = []
    for number in range(3):
        event = f"{{{{0x7f0{number}, 0x7f, 1048576, 0}}}}, {{600, 0}}) = 1 <0.000100>"
        lines += [head.format(1000 * number, submit.format(number)), head.format(1000 * number + 20, reap)]
        lines[-1] += "<unfinished ...>"
        lines += [f"9 1700000000.{1000 * number + 21:06d} getpid() = 9 <0.000001>"]
        lines += [f"7 1700000000.{1000 * number + 120:06d} <... io_getevents resumed> {event}"]
    requests = io_requests(calls(read_strace("\n".join(lines).encode())))
    assert requests.select("syscall", "bytes_transferred").rows() == [("io_submit", 1_048_576)] * 3
