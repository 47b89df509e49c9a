"""The comparison of engines on mutated lines: its logs, and that it sees what differs."""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path

import polars as pl
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from awrparse.text.lines import GRAMMAR as REPORTS
from fuzz.engines import FAILED, by_lark, frames_of
from fuzz.lines import differences, mutated_log
from sqlplusparse.lines import GRAMMAR as SPOOLS
from sqltraceparse.grammar import GRAMMAR as TRACES

#: Lines of a format as its tool prints them.
LINES = {
    "strace": [
        f'41{n % 7} 1700000000.{n:06d} pread64({n % 9}, ""..., 8192, {n}) = 8192 <0.000{n:03d}>' for n in range(90)
    ],
    "sqltrace": [
        f"WAIT #{n % 5}: nam='db file scattered read' ela= {n} file#=7 block#={n} blocks=8" for n in range(90)
    ],
    "awr": [f"Event {n:<20}  {n:>9,} {n:>9}.{n % 10}" for n in range(90)],
    "sqlplus": [f"SQL> desc t{n}\n\n{n:>10}\n----------\n{n:>10}\n\nElapsed: 00:00:00.{n:02d}" for n in range(60)],
}


def log_of(name: str, seed: int = 1) -> bytes:
    """A mutated log of a format."""
    lines = [line for block in LINES[name] for line in block.split("\n")]
    return mutated_log(lines, 60, random.Random(seed))[0]  # noqa: S311 - cases, not secrets


def test_mutated_lines_are_distinct_and_repeatable() -> None:
    """The head is as it was, each mutated line is there once and new, and the seed decides."""
    lines = LINES["strace"]
    data, count = mutated_log(lines, 60, random.Random(2))  # noqa: S311 - as above
    made = data.decode().split("\n")
    changed = [line for line in made if line not in lines and line]

    assert made[:40] == lines[:40]
    assert len(changed) == len(set(changed)) <= count <= 60
    assert data == mutated_log(lines, 60, random.Random(2))[0]  # noqa: S311 - as above
    assert data != mutated_log(lines, 60, random.Random(3))[0]  # noqa: S311 - as above


@pytest.mark.parametrize("name", LINES)
def test_lark_agrees(name: str) -> None:
    """Each grammar reads mutated lines as the reader does."""
    parsed, own = by_lark(name, log_of(name))
    (frame,) = parsed.values()

    assert frame.height > 60
    assert not list(differences(name, "", own, parsed))


def test_lark_agrees_where_one_terminal_begins_as_another() -> None:
    """Lines of an SQL trace that begin as another kind does, or hold blanks and tabs alone, are of one kind."""
    words = ["END OF STMT", "Release", "WAIT #1:", "CPU", "With the", "BINDS #1:", "=====", "Bind#0", "*** 2020"]
    words += ["Version 19.24.0.0", "Version 19.24.0.0.s"]
    ends = ["", " ", "\t", "ing, Data Mining options", " ing, and Testing options", "x"]
    blanks = ["\t" * tabs + " " * count + "\t" * more for tabs in (0, 1) for count in (0, 1, 2, 3) for more in (0, 1)]
    made = [*LINES["sqltrace"][0].split("\n"), *(word + end for word in words for end in ends)]
    made += [before + after for before in blanks for after in ("", "x", " x=1")]
    parsed, own = by_lark("sqltrace", "\n".join(made).encode())

    assert not list(differences("sqltrace", "", own, parsed))


#: Grammars of lines, and what is put into each of their samples: at every place.
GRAMMARS = {"sqltrace": TRACES, "sqlplus": SPOOLS, "awr": REPORTS}
INSERTED = ("é", "\u00a0", "\x0c", " ", ":", "#", "0", "x")


@pytest.mark.parametrize("name", GRAMMARS)
def test_lark_agrees_on_damaged_samples(name: str) -> None:
    """Each sample of a grammar cut at every place, with a mark at every place, and begun as each other one begins."""
    samples = list(dict.fromkeys(sample for _, sample in GRAMMARS[name].samples if sample))
    starts = {one[: place.end()] for one in samples for place in list(re.finditer(r"[^A-Za-z0-9]+", one))[:3]}
    made = [start + one for start in starts for one in samples]
    for one in samples:
        for place in range(min(len(one), 80)):
            made += [one[:place], one[place:], one[:place] + one[place + 1 :]]
            made += [one[:place] + mark + one[place:] for mark in INSERTED]
    parsed, own = by_lark(name, "\n".join(dict.fromkeys(made)).encode())

    assert len(samples) > 30
    assert not list(differences(name, "", own, parsed))


def test_lark_agrees_where_a_path_is_damaged() -> None:
    """What begins as a socket and does not end as one is no path: in an argument, in a result, of any length."""
    paths = ["pipe:[305166", "pipe:[305166]", "pipe:[305166]]", "TCP:[1:1->2:2", "TCP:[1:1->2:2]", ":[7", "x:["]
    paths += ["x:[]7", "x:[7]>7", "x:7[", "x", "x:", "x-y", "x.y", "x:]", "/a b", "x:[a b", "x:[a b]", "a b", "/x:[7"]
    stamp = "418 1700000000.000300"
    made = [line.replace("(", "(3</u01/x.dbf>, ") for line in LINES["strace"]]
    for path in paths:
        made.append(f'{stamp} pread64(3<{path}>, "x", 8192, 0) = 1 <0.000001>')
        made.append(f"{stamp} dup(3<{path}>) = 9<{path}> <0.000001>")
        made.append(f'{stamp} open("x", O_RDONLY) = 3<{path}> <0.000001>')
    data = "\n".join(made).encode()
    parsed, own = by_lark("strace", data)

    assert not list(differences("strace", "", own, parsed))


def test_a_difference_is_found() -> None:
    """A value, a type, a row or a frame that differs, and a reader that failed in both engines alike."""
    frames = frames_of("strace", log_of("strace"))
    events = frames["events"]
    for other, column in (
        (events.with_columns(pl.when(pl.col("line") == 3).then(7).otherwise("result").alias("result")), "result"),
        (events.with_columns(pl.when(pl.col("line") != 3).then("args").alias("args")), "args"),
        (events.head(-1), ""),
        (events.cast({"result": pl.Int32}, strict=False), ""),
    ):
        (found,) = differences("strace", "both", frames, {**frames, "events": other})
        assert (found.table, found.column) == ("events", column)
    failed = {FAILED: pl.DataFrame({"message": ["KeyError: 'x'"]})}

    assert not list(differences("strace", "both", frames, frames))
    assert [found.table for found in differences("strace", "both", failed, failed)] == [FAILED]
    assert [found.example for found in differences("strace", "both", frames, {})] == [f"frames {sorted(frames)} and []"]


def test_a_log_that_fails_is_no_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a reader raises beside its own errors is a frame of its own; a refusal is another."""

    def fails(*_: object, **__: object) -> None:
        raise KeyError("x")

    assert set(frames_of("strace", b"")) == {"refused"}
    monkeypatch.setattr("fuzz.engines.load_log", fails)
    assert set(frames_of("strace", b"close(3) = 0")) == {FAILED}
