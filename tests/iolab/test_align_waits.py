"""Waits of a trace beside the system calls of the same reads: what the database adds, and what is refused."""

import random
from datetime import UTC, datetime
from typing import Any

import pytest
from sample_scripts import sample_script

from iolab import load
from iolab.evidence import align_waits
from iolab.evidence.wait_alignment import WaitAlignment
from logframe import RefusedError
from sqltraceparse import SqlTrace
from straceparse import StraceLog

START = datetime(2026, 3, 2, 21, tzinfo=UTC)


@pytest.fixture(scope="module")
def traced() -> Any:  # noqa: ANN401 - a script, as a module
    """The module that writes traces."""
    return sample_script("traced_session")


def session(traced: Any, release: str = "19.22.0.0.0", seed: int = 3) -> tuple[str, list[Any]]:  # noqa: ANN401
    """A trace, and of each of its reads: the end, the times before, of and after its call, in us, and its blocks."""
    chance = random.Random(seed)  # noqa: S311 - data for tests
    made = traced.Session(release, start=START, pid=4711)
    made.head()
    statement = traced.Statement("select 1 from t", 5)
    truth = []

    def work() -> None:
        for _ in range(60):
            made.cpu(chance.randrange(20, 400))
            blocks = chance.choice((1, 1, 1, 8))
            before, own, after = chance.randrange(1, 9), chance.randrange(90, 900), chance.randrange(3, 30)
            event = "db file sequential read" if blocks == 1 else "db file scattered read"
            made.wait(5, event, before + own + after, (4, chance.randrange(9_999), blocks), 77)
            truth.append((made.now - made.boot, before, own, after, blocks))

    for _ in range(3):
        made.call("PARSE", statement, lambda: made.cpu(30))
        made.call("FETCH", statement, work, rows=1)
        made.think(11_000_000, 5)
    return made.text, truth


def calls(
    truth: list[Any],
    *,
    pid: str = "[pid  4711] ",
    shift_us: int = 0,
    block: int = 8192,
    elapsed: bool = True,
) -> str:
    """The strace log of the reads."""
    begun = int(START.timestamp() * 1_000_000)
    lines = []
    for end, _, own, after, blocks in truth:
        start = begun + end - after - own + shift_us
        size = blocks * block
        time = f" <{own / 1e6:.6f}>" if elapsed else ""
        lines.append(f'{pid}{start / 1e6:.6f} pread64(257, "..."..., {size}, {block * 7}) = {size}{time}')
    return "\n".join(lines) + "\n"


def aligned(trace: str, log: str, shift_s: float | None = None) -> WaitAlignment:
    """The waits of a trace beside the calls of a log."""
    waits, calls = load(trace.encode()), load(log.encode())
    assert isinstance(waits, SqlTrace)
    assert isinstance(calls, StraceLog)
    return align_waits(waits, calls, shift_s=shift_s)


@pytest.mark.parametrize("shift_us", [0, 700, -900])
def test_what_the_database_adds(traced: Any, shift_us: int) -> None:  # noqa: ANN401
    """Each wait is given its call, whatever the clocks differ by within the bounds."""
    text, truth = session(traced)
    found = aligned(text, calls(truth, shift_us=shift_us))

    assert found.process == 4711
    assert found.block_size == 8192
    assert found.waits.get_column("calls").to_list() == [1] * len(truth)
    assert found.waits.get_column("added_us").round(3).to_list() == [before + after for _, before, _, after, _ in truth]
    assert found.summary.get_column("matched").sum() == len(truth)
    assert found.offset_lo_us <= shift_us <= found.offset_hi_us
    assert found.samples().height == 2 * len(truth)


def test_block_size_is_found(traced: Any) -> None:  # noqa: ANN401
    """The size of the calls says how large a block is."""
    text, truth = session(traced)

    assert aligned(text, calls(truth, block=16384)).block_size == 16384


def test_reads_without_a_wait_and_waits_without_a_read(traced: Any) -> None:  # noqa: ANN401
    """What has no partner is counted and given none."""
    text, truth = session(traced)
    found = aligned(text, calls(truth[::20] + truth[20:]))
    alone = found.waits.filter(found.waits.get_column("calls") == 0)

    assert 0 < alone.height < 20
    assert alone.get_column("call_us").null_count() == alone.height


def test_a_log_of_a_part_of_the_time(traced: Any) -> None:  # noqa: ANN401
    """Waits before and after strace's log are left out, and counted."""
    text, truth = session(traced)
    found = aligned(text, calls(truth[60:120]))

    assert found.waits.height == 60
    assert found.notes == ("120 waits for reads lie outside the time of strace's log",)


def test_a_trace_without_a_zone(traced: Any) -> None:  # noqa: ANN401
    """Local time without a zone is refused; with the seconds to UTC it is aligned, and said."""
    text, truth = session(traced, release="11.2.0.4.0")
    with pytest.raises(RefusedError, match="without a zone: its distance"):
        aligned(text, calls(truth))
    found = aligned(text, calls(truth), shift_s=-7200)

    assert found.waits.get_column("calls").to_list() == [1] * len(truth)
    assert found.notes == ("the trace prints no zone; its stamps were moved by -7,200 s, as given",)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"pid": "[pid  9999] "}, "no process is in both logs"),
        ({"pid": ""}, "the strace log does not say which process it is of"),
        ({"elapsed": False}, "it needs -T"),
        ({"shift_us": 3_600_000_000}, "none of the [0-9]+ waits for reads lies in the time of the strace log"),
        ({"block": 1000}, "the clocks cannot be aligned"),
    ],
)
def test_refused(traced: Any, changed: dict[str, Any], reason: str) -> None:  # noqa: ANN401
    """Logs that are not of the same reads."""
    text, truth = session(traced)
    with pytest.raises(RefusedError, match=reason):
        aligned(text, calls(truth, **changed))


def test_without_a_date(traced: Any) -> None:  # noqa: ANN401
    """A log with the time since the last call has no clock."""
    text, truth = session(traced)
    lines = [f"[pid  4711]      0.000100 {line.split(' ', 4)[-1]}" for line in calls(truth).splitlines()]
    with pytest.raises(RefusedError, match="it needs -ttt"):
        aligned(text, "\n".join(lines))


def test_reads_that_are_all_alike(traced: Any) -> None:  # noqa: ANN401
    """Where waits and calls come at equal distances, one offset is as good as the next."""
    made = traced.Session("19.22.0.0.0", start=START, pid=4711)
    made.head()
    truth = []

    def work() -> None:
        for _ in range(200):
            made.cpu(100)
            made.wait(5, "db file sequential read", 50, (4, 5, 1), 77)
            truth.append((made.now - made.boot, 2, 45, 3, 1))

    made.call("FETCH", traced.Statement("select 1 from t", 5), work, rows=1)
    made.think(11_000_000, 5)
    with pytest.raises(RefusedError, match="the reads are too alike"):
        aligned(made.text, calls(truth))
