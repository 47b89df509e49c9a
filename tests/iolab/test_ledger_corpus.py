"""Ledgers of real logs: every view closes, what the logs state themselves agrees, and no large part goes unsaid."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import polars as pl
import pytest
from ledger_checks import faults, large_parts

import iolab
from iolab.pages.ledger_rows import LARGE, LEAST, ledger_rows
from logframe import LogError

if TYPE_CHECKING:
    from pathlib import Path

    from iolab.time_ledger import Ledger

pytestmark = pytest.mark.corpus

#: Of each folder larger logs are read on demand only; of the others one in so many is.
SAMPLES = {"awr": (2_000_000, 2), "sqlplus": (200_000, 3), "sqltrace": (2_000_000, 1), "strace": (300_000, 6)}
SAMPLES |= {"os": (500_000, 3)}
#: Bounds of the rest of a level, as shares of the total: the classes of the printed distribution.
CLASSES = (0.001, 0.01, 0.1, 1.0)


@pytest.mark.parametrize("folder", SAMPLES)
def test_ledgers_of_real_logs(corpus: Path, folder: str, *, is_whole: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """In every view of every ledger the parts add up to the total; large parts have a finding and a row."""
    paths = [path for path in sorted((corpus / folder).rglob("*")) if path.is_file() and path.name != "INDEX.tsv"]
    most, every = SAMPLES[folder]
    if not is_whole:
        paths = [path for path in paths if path.stat().st_size < most][::every]
    rests: defaultdict[str, Counter[str]] = defaultdict(Counter)
    checked: Counter[bool] = Counter()
    wrong = []
    for path in paths:
        try:
            log = iolab.load(path)
        except LogError:
            continue
        found = iolab.ledgers(log)
        for one in found:
            wrong += [f"{path.name}: {one.scope}: {fault}" for fault in faults(one)]
            checked.update(one.checks.get_column("holds").to_list())
            rests[one.base][_rest(one)] += 1
        if found and not found[0].void:
            said = set(iolab.findings(log).get_column("part").drop_nulls().to_list())
            views = [view for view in ("what", "who") if view in found[0].views]
            large = large_parts(found[0])
            wrong += [f"{path.name}: {part}: no finding" for part in large if part not in said]
            for least in (LEAST, LARGE):
                rows = {row.part for view in views for row in ledger_rows(found[0], view, least=least)}
                wrong += [f"{path.name}: {part}: no row" for part in large if part not in rows]
    lines = [f"{folder}: {base}: {dict(sorted(classes.items()))}" for base, classes in rests.items()]
    lines.append(f"{folder}: sums that logs print: {checked[True]} agree, {checked[False]} do not")
    with capsys.disabled():
        print("", *lines, *wrong[:20], sep="\n")  # noqa: T201

    assert (sum(classes.total() for classes in rests.values()) > 5, len(wrong)) == (True, 0)


def _rest(one: Ledger) -> str:
    """How much of the total closes the first view, as a class of the distribution."""
    if one.void or one.total is None or one.total.value <= 0:
        return "void"
    tops = one.parts(one.views[0]).filter(
        (pl.col("level") == 0) & pl.col("kind").is_in(["not_accounted", "counted_twice"])
    )
    rest = float(tops.get_column("seconds").abs().sum()) / one.total.value
    return next((f"rest <= {100 * most:g} %" for most in CLASSES if rest <= most), "rest above")
