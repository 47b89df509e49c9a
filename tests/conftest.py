"""Fixtures that every test may use."""

import os
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[1]

# A busy machine is no failure of a test: how long one example takes is not what these tests ask.
settings.register_profile("iolab", deadline=None)
settings.load_profile("iolab")


@pytest.fixture(autouse=True)
def _printing_of_frames() -> Iterator[None]:
    """What a test sets for the printing of frames, as notebooks do, ends with it."""
    with pl.Config():
        yield


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The real logs beside the project; the test is skipped, saying so, where they are missing."""
    folder = Path(os.environ.get("IOLAB_CORPUS", ROOT.parent / "shared" / "corpus"))
    if not folder.is_dir():
        pytest.skip("no real logs beside the project (IOLAB_CORPUS names their folder)")
    return folder


@pytest.fixture(scope="session")
def is_whole() -> bool:
    """Whether tests read all of the real logs, and generate as much as they can: IOLAB_WHOLE_CORPUS=1, far longer."""
    return os.environ.get("IOLAB_WHOLE_CORPUS", "0") not in {"", "0"}


@pytest.fixture(scope="session")
def sample_data() -> Path:
    """The project's own logs."""
    return ROOT / "sample_data"
