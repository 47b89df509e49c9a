"""Reports of the sample night, as they are or with some of their text changed."""

from __future__ import annotations

from pathlib import Path

from awrparse import AwrReport
from iolab import load

SERIES = Path(__file__).parents[1] / "sample_data" / "awr_series"


def report(number: int, *changes: tuple[str, str]) -> AwrReport:
    """The report that begins with this snapshot, some of its text replaced."""
    (path,) = SERIES.glob(f"*_{number}_{number + 1}.*")
    text = path.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    found = load(text.encode())
    assert isinstance(found, AwrReport)
    return found
