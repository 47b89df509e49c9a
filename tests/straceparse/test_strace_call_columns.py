"""Compiled code over columns of calls gives the answers of the expressions: numbers among arguments, gaps, halves."""

import random
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal, assert_series_equal

import straceparse
from logframe.kernel import Exported, load_kernel
from logframe.native import engine
from straceparse import joining, transfers
from straceparse.call_table import EXECUTES
from straceparse.schema import KIND

pytestmark = pytest.mark.skipif(load_kernel() is None, reason=f"no compiled code: {engine()}")

#: What stands where a number is wanted: plain decimals, and what is none or may not be one.
PLAIN = ("0", "8192", "-1", "-100", "1234567890123456", "999999999999999999")
ODD = (
    *("9223372036854775807", "18446744073709551616", "007", "-0", "+5", "0x1f", "0X1f", "1e3", "٣"),
    *("", " 7", "7 ", "AT_FDCWD", "3</a, b>", "fd=3", "count=512", "NULL"),
)
BUFFERS = ('"\\0\\0"...', '"a, 1, 2"', "0x7ffd", '"' + "x" * 300 + '"', "é, ", "", '", "')


def arguments(chance: random.Random) -> str | None:
    """The arguments of a call, most of them regular."""
    if chance.random() < 0.02:
        return None
    count = chance.choice((0, 1, 2, 3, 3, 3, 3))
    words = [chance.choice(PLAIN if chance.random() < 0.9 else ODD) for _ in range(count)]
    if words and chance.random() < 0.8:
        words.insert(1, chance.choice(BUFFERS))
    return (", " if chance.random() < 0.97 else chance.choice((",", ",, ", " ,", ", , "))).join(words)


@pytest.mark.parametrize("start", [0, 3])
def test_numbers_among_arguments(start: int) -> None:
    """Descriptor, size and offset are those of the expressions, also of a slice and of arguments in pieces."""
    chance = random.Random(start)  # noqa: S311
    texts = [arguments(chance) for _ in range(6000)]
    roles = [chance.choice((0, 1, 2)) for _ in texts]
    calls = pl.DataFrame({"args": texts, "_role": pl.Series(roles, dtype=pl.UInt8)})
    calls = pl.concat([calls[:100], calls[100:2500], calls[2500:]], rechunk=False)[start:]
    expected = transfers.by_expressions(calls)

    found = transfers.with_sizes(calls)
    read = transfers.by_compiled_code(calls)

    assert_frame_equal(found.select(expected.columns), expected)
    assert read is not None
    assert 0.1 < len(read[1]) / calls.height < 0.6, "plain rows are read by compiled code, odd ones are left"
    assert transfers.with_sizes(calls.clear()).height == 0


def lines(chance: random.Random, count: int, processes: int) -> pl.DataFrame:
    """Lines of several processes with calls in two halves, most of them paired."""
    kinds = ("call", "unfinished", "resumed", "signal", "exited", "cut", "superseded", "unparsed", "continuation")
    pids = [*range(7, 7 + processes - 1), None]
    rows = [
        (
            chance.choices(kinds, (40, 20, 20, 3, 1, 1, 1, 1, 1))[0],
            chance.choice(pids),
            chance.choice((*sorted(EXECUTES), "read", "read", "read", "a_name_of_many_letters", None)),
            None if chance.random() < 0.05 else place * 1000 - chance.randrange(3000),
            chance.random() < 0.05,
        )
        for place in range(count)
    ]
    schema: dict[str, pl.DataType | type[pl.DataType]] = {
        "kind": KIND,
        "pid": pl.Int32,
        "name": pl.String,
        "at": pl.Duration("ns"),
        "_is_closed": pl.Boolean,
    }
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    places = pl.int_range(count, dtype=pl.UInt32, eager=True)
    own = {"_row": places, "_order": places, "_owner": frame["pid"], "_log": pl.zeros(count, pl.UInt32, eager=True)}
    return frame.with_columns(_home=own["_log"], **own)


@pytest.mark.parametrize(("count", "processes"), [(1, 1), (50, 2), (5000, 9), (20_000, 4000)])
def test_gaps_and_halves(count: int, processes: int) -> None:
    """One pass finds the gaps and the halves that sorting by process finds."""
    frame = lines(random.Random(count), count, processes)  # noqa: S311
    kinds = frame.get_column("kind").to_physical().cast(pl.UInt32)
    is_exec = frame.get_column("name").is_in(EXECUTES).fill_null(value=False)
    order = joining.in_turns(frame, kinds, "_log", "pid", "_row")
    expected, halves = joining.gaps_of(frame, order), joining.halves_of(frame, order, is_exec)

    found = joining.in_one_pass(frame, is_exec)

    assert found is not None
    for name in ("gap", "has_next"):
        assert_series_equal(getattr(found[0], name), getattr(expected, name), check_names=False)
    assert found[0].pending.sort().to_list() == expected.pending.sort().to_list()
    pairs, expected_pairs = (sorted(zip(one.starts, one.ends, strict=True)) for one in (found[1], halves))
    assert pairs == expected_pairs
    assert found[1].opened.sort().to_list() == halves.opened.sort().to_list()
    assert count < 50 or len(halves.starts) > count / 100


def test_columns_without_compiled_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls and requests of whole logs are the same without compiled code."""
    for path in sorted((Path(__file__).parents[2] / "sample_data").rglob("*.strace")):
        calls = straceparse.calls(straceparse.read_strace(path))
        requests = straceparse.io_requests(calls)
        with monkeypatch.context() as patch:
            patch.setattr(joining, "load_kernel", lambda: None)
            patch.setattr(transfers, "load_kernel", lambda: None)
            others = straceparse.calls(straceparse.read_strace(path))
            assert_frame_equal(others, calls)
            assert_frame_equal(straceparse.io_requests(others), requests)


def test_memory_of_another_type() -> None:
    """A Series that is not what the compiled code reads is refused."""
    with pytest.raises(TypeError, match="is l in memory, not i"):
        Exported(pl.Series("pid", [1, 2]), "i")
    with Exported(pl.Series("args", ["a"]), "vu") as column:
        assert column.address
