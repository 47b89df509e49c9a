"""Real logs: less than one in a thousand of their numbers is lost."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

import iolab
from fuzz.perturbation import GOOD, perturbed
from logframe import LogError, open_log

pytestmark = pytest.mark.corpus

#: Larger files are read by other tests.
MAX_BYTES = 1_500_000
#: Of a log that consists of samples so many lines.
MOST_LINES = 1_000
#: Of all numbers of a folder so many may be lost; of sessions one has Snapper's rates, which no frame holds.
FOLDERS = {
    "awr": 0.0001,
    "sqlplus": 0.01,
    "sqltrace": 0.001,
    **dict.fromkeys(
        (
            "os/iostat_vmstat",
            "os/oswbb_iostat",
            "os/iostat_unix",
            "os/exawatcher",
            "os/sysstat",
            "os/nmon",
            "os/slob",
            "os/latency_hist",
            "os/blkparse",
            "os/fio",
        ),
        0.001,
    ),
    "os/session": 0,
    "strace/found": 0.001,
}


def beginning(path: Path) -> bytes:
    """The first lines of a log; samples repeat themselves."""
    return "".join(open_log(path).text().splitlines(keepends=True)[:MOST_LINES]).encode()


@pytest.mark.parametrize("folder", FOLDERS)
def test_lost_numbers(corpus: Path, folder: str, *, is_whole: bool) -> None:
    """Every eighth log of a folder, and the beginning of long samples of the operating system."""
    counts: Counter[str] = Counter()
    paths = [path for path in sorted((corpus / folder).rglob("*")) if path.is_file() and path.name != "INDEX.tsv"]
    for path in paths[:: 8 if len(paths) > 20 and not is_whole else 1]:
        if path.stat().st_size > MAX_BYTES:
            continue
        try:
            source = path if is_whole or not folder.startswith("os/") else beginning(path)
            found = [iolab.provenance(log, source) for log in iolab.load_all(source)]
        except LogError:
            continue
        for frame in found:
            counts.update(dict(frame.group_by(pl.col("status").cast(pl.String)).len().rows()))
    assert counts["typed"] > 0
    assert counts["lost"] <= FOLDERS[folder] * counts.total()


#: Of each log of the sample so many lines are read, and so many numbers changed.
FIRST_LINES, NUMBERS = 60, 12
#: Of changed numbers so many may change other cells, or none.
WRONG = 0.01


def test_another_digit(corpus: Path, *, is_whole: bool) -> None:
    """Every 16th log: another digit in a number is another value in the cell that is said to hold it, and no other."""
    paths = [path for path in sorted(corpus.rglob("*")) if path.is_file() and path.stat().st_size < MAX_BYTES]
    outcomes = perturbed(paths[:: 1 if is_whole else 16], numbers=NUMBERS, lines=FIRST_LINES)
    wrong = [one for one in outcomes if one.outcome not in GOOD]
    assert len(outcomes) > 100
    assert len(wrong) <= WRONG * len(outcomes), wrong
