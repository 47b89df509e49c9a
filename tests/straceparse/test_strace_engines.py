"""Both engines give the same events: the Polars expressions, and Lark line by line."""

import random
import re

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from logframe import Log
from straceparse import EVENTS, Dialect, dialect
from straceparse.batches import BatchReader
from straceparse.call_table import canonical_name
from straceparse.line_parser import read_line
from straceparse.patterns import PARTS
from straceparse.prefix import layout_of
from straceparse.records import LONG
from straceparse.schema import KIND, typed_columns

#: All columns of a line alone; the clock is made from many lines, after both engines.
COLUMNS = [name for name in EVENTS if name != "at"]
#: So many lines of each log are read by both engines; of the -r captures all are.
SAMPLE = 150
#: What damages a line, beside cuts and the pieces of other lines.
MARKS = '"\\()<>={}[], =?x0-'


def by_expressions(lines: list[str], found: Dialect) -> pl.DataFrame:
    """The events of lines, as `straceparse.scan_strace` reads them."""
    frame = pl.LazyFrame({"_line": lines}).with_row_index("line", 1)
    return pl.concat(list(BatchReader(layout_of(found.lines), found).events(frame, COLUMNS)))


def by_lark(lines: list[str], found: Dialect) -> pl.DataFrame:
    """The events of lines, each read by the grammar."""
    records = [(*(record := read_line(line)), canonical_name(record.syscall)) for line in lines]
    frame = pl.DataFrame(records, schema={f"_{part}": pl.String for part in PARTS}, orient="row")
    frame = frame.with_columns(pl.col("_kind").cast(KIND)).with_row_index("line", 1)
    typed = typed_columns(found, None, is_fixed_width=False)
    return frame.select(typed[name] for name in COLUMNS)


def bare_lines(log: Log) -> list[str]:
    """The lines of a log without colours and carriage returns."""
    return [re.sub("\x1b\\[[0-9;]*m", "", line.removesuffix("\r")) for line in log.lines()]


def damaged(line: str, lines: list[str], chance: random.Random) -> str:
    """A line that lost or gained something in one place."""
    start, other = chance.randint(0, len(line)), chance.choice(lines)
    end = chance.randint(start, len(line))
    return chance.choice(
        [
            line[:start],
            line[start:],
            line[:start] + line[end:],
            line[:start] + chance.choice(MARKS) + line[start:],
            line[:start] + other,
            line[:start] + other[chance.randint(0, len(other)) :],
        ]
    )


#: Lines in which a dialect that was sampled elsewhere shows less than the line: what is not sampled must be read alike.
LOGS = {
    "a path in the start of a call only": [
        "7  pread64(257</u01/x.dbf>,  <unfinished ...>",
        '7  execve("/bin/true", [], 0x7f <pid changed to 16829 ...>',
        "7  execve(0x7f <pid changed to 16829 ...>",
        '7  <... pread64 resumed>"a"..., 8192, 0) = 8192',
    ],
    "a path in one late line": [*["7  close(3) = 0"] * 20, "7  close(4</u01/x.dbf>) = 0", "7  dup(4) = 5</u01/x.dbf>"],
    "a command in one line": [*["7  close(3) = 0"] * 20, "7<oracle>  close(3) = 0"],
    "an elapsed time in few lines": [*["close(3) = 0"] * 20, "close(3) = 0 <0.000001>"],
    "elapsed times of two precisions": ["close(3) = 0 <0.000001>", "close(3) = 0 <0.001>", "close(3) = 0 <1.0001>"],
    "elapsed times of four decimals": ["close(3) = 0 <0.0001>", "close(3) = 0 <0.0003>"],
    "relative timestamps of two widths": ["     0.000100 close(3) = 0", " 1000000.000100 close(3) = 0"],
    "pids of all widths": [f"{10**digits:<5} close(3) = 0" for digits in range(7)],
    "bracketed pids": ["[pid  3698] close(3) = 0", "[pid 123456] close(3) = 0", "[pid123456] close(3) = 0"],
    "syscall numbers": ["[  12] close(3) = 0", "[ 334] close(3) = 0", "[1000] close(3) = 0", "[12  ] close(3) = 0"],
    "clock and relative": ["09:36:52.1 close(3) = 0", "09:36:52.123456 (+     0.000156) close(3) = 0"] * 2,
    "signals that hold the end of a call": [
        *["7  close(3) = 0"] * 20,
        "7  --- SIGCHLD {si_signo=SIGCHLD, si_stim) = 0} ---",
        "7  --- 33 {si_signo=33) = 0} ---",
        "7  --- {si_signo=SIGCONT) = 0} ---",
    ],
    "halves that end in a mark, with a word before it": [
        *["7  close(3) = 0"] * 20,
        '7  <... pread64 resumed>"..."..., 8192, 7783219<unfinished ...>',
        "7  <... read resumed>3<pid changed to 9 ...>",
        "7  <... nanosleep resumed>3<detached ...>",
        "7  read(3<unfinished ...>",
        "7  nanosleep(3<detached ...>",
    ],
    "times in nanoseconds, and a signal that ends with a time": [
        *[f"7  1700000000.{number:06d} close(3) = 0 <0.000041{number:03d}>" for number in range(20)],
        "7  1700000001.000000 --- SIGCHLD {si_signo=SIGCHLD, si_pid=8, si_stime=1 /* 0.01 s */} ---",
        "7  1700000001.000000 close(3 <unfinished ...>",
    ],
    "unknown instruction pointers": ["[????????????????] close(3) = 0", "[00007f914b634c47] close(3) = 0"],
}


@pytest.mark.parametrize("name", LOGS)
def test_both_engines_agree_on_lines_unlike_the_sample(name: str) -> None:
    """Whatever the sampled lines show, each line is read the same by both."""
    lines = LOGS[name]
    for sample in (lines, lines[:1], lines[-1:]):
        found = dialect("\n".join(sample).encode())

        assert_frame_equal(by_expressions(lines, found), by_lark(lines, found))


@pytest.mark.corpus
def test_both_engines_agree_on_real_lines(opened: dict[str, tuple[Log, Dialect]]) -> None:
    """Wherever a log prints a part of a line, both engines find it and nothing else."""
    compared = 0
    for name, (log, found) in opened.items():
        lines = [line for line in bare_lines(log) if len(line) <= LONG]  # of longer ones Lark parses the start only
        if "-r" not in name or "mp-" in name:
            lines = lines[:: max(1, len(lines) // SAMPLE)]
        compared += len(lines)

        assert_frame_equal(by_expressions(lines, found), by_lark(lines, found))
    assert compared > 30_000


@pytest.mark.corpus
@pytest.mark.parametrize("seed", range(2))
def test_both_engines_agree_on_damaged_lines(opened: dict[str, tuple[Log, Dialect]], seed: int) -> None:
    """A line that is cut, mended wrongly or run into another is the same to both."""
    chance = random.Random(seed)  # noqa: S311 - reproducible damage, no secret
    for name in chance.sample(sorted(opened), 40):
        log, found = opened[name]
        lines = bare_lines(log)
        broken = [damaged(chance.choice(lines), lines, chance) for _ in range(100)]

        assert_frame_equal(by_expressions(broken, found), by_lark(broken, found))
