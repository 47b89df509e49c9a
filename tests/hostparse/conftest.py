"""Fixtures of the tests over samples of the operating system."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def host_logs(corpus: Path) -> Path:
    """The real logs of sampling tools."""
    folder = corpus / "os"
    if not folder.is_dir():
        pytest.skip("no logs of sampling tools in the corpus")
    return folder
