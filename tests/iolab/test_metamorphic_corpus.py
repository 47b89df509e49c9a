"""Real logs as people and tools hand them on: the figures stay, and what a page less takes has a diagnostic."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from metamorphic import verdicts

from logframe import LogError

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.corpus

#: Of each folder larger logs are transformed on demand only; of the others one in so many is.
SAMPLES = {"awr": (400_000, 6), "sqlplus": (50_000, 12), "sqltrace": (100_000, 5), "strace": (20_000, 12)}
#: Of the transformations of a log one in so many is tried.
EVERY_CHANGE = 5


@pytest.mark.parametrize("folder", SAMPLES)
def test_figures_of_real_logs(corpus: Path, folder: str, *, is_whole: bool) -> None:
    """Every transformation of a log gives its figures, or a diagnostic that the log has not; none is silently other."""
    counts: Counter[tuple[bool, str]] = Counter()
    paths = [path for path in sorted((corpus / folder).rglob("*")) if path.is_file() and path.name != "INDEX.tsv"]
    most, every = SAMPLES[folder]
    if not is_whole:
        paths = [path for path in paths if path.stat().st_size < most][::every]
    wrong = []
    for number, path in enumerate(paths):

        def is_tried(name: str, number: int = number) -> bool:
            return is_whole or (sum(map(ord, name)) + number) % EVERY_CHANGE == 0

        try:
            found = list(verdicts(path, number, is_tried))
        except LogError:
            continue
        counts.update((one.is_lossy, one.outcome) for one in found)
        wrong += [(path.name, one) for one in found if one.outcome == "silent"]
    assert (counts.total() > 10, wrong) == (True, [])
