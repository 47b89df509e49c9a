"""Both engines give the same events: the Polars expressions, and Lark line by line."""

import random
import re

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from logframe import Log
from straceparse import EVENTS, Dialect
from straceparse.batches import BatchReader
from straceparse.names import canonical_name
from straceparse.patterns import PARTS
from straceparse.prefix import layout_of
from straceparse.records import read_line
from straceparse.schema import KIND, typed_columns

pytestmark = pytest.mark.corpus

#: All columns of a line alone; the clock is made from many lines, after both engines.
COLUMNS = [name for name in EVENTS if name != "at"]
#: So many lines of each log are read by both engines; of the -r captures all are.
SAMPLE = 150
#: What damages a line, beside cuts and the pieces of other lines.
MARKS = '"\\()<>={}[], =?x0-'


def by_expressions(lines: list[str], dialect: Dialect) -> pl.DataFrame:
    """The events of lines, as `straceparse.scan_strace` reads them."""
    frame = pl.LazyFrame({"_line": lines}).with_row_index("line", 1)
    return pl.concat(list(BatchReader(layout_of(dialect.lines), dialect).events(frame, COLUMNS)))


def by_lark(lines: list[str], dialect: Dialect) -> pl.DataFrame:
    """The events of lines, each read by the grammar."""
    records = [(*(record := read_line(line)), canonical_name(record.syscall)) for line in lines]
    frame = pl.DataFrame(records, schema={f"_{part}": pl.String for part in PARTS}, orient="row")
    frame = frame.with_columns(pl.col("_kind").cast(KIND)).with_row_index("line", 1)
    typed = typed_columns(dialect, None, is_fixed_width=False)
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


def test_both_engines_agree_on_real_lines(opened: dict[str, tuple[Log, Dialect]]) -> None:
    """Wherever a log prints a part of a line, both engines find it and nothing else."""
    compared = 0
    for name, (log, dialect) in opened.items():
        lines = bare_lines(log)
        if "-r" not in name or "mp-" in name:
            lines = lines[:: max(1, len(lines) // SAMPLE)]
        compared += len(lines)

        assert_frame_equal(by_expressions(lines, dialect), by_lark(lines, dialect))
    assert compared > 30_000


@pytest.mark.parametrize("seed", range(2))
def test_both_engines_agree_on_damaged_lines(opened: dict[str, tuple[Log, Dialect]], seed: int) -> None:
    """A line that is cut, mended wrongly or run into another is the same to both."""
    chance = random.Random(seed)  # noqa: S311 - reproducible damage, no secret
    for name in chance.sample(sorted(opened), 40):
        log, dialect = opened[name]
        lines = bare_lines(log)
        broken = [damaged(chance.choice(lines), lines, chance) for _ in range(100)]

        assert_frame_equal(by_expressions(broken, dialect), by_lark(broken, dialect))
