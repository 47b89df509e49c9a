"""Logs for the tests of datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from dataset_logs import write_logs

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def logs(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder of logs, as many as the module's `LOGS` says."""
    write_logs(tmp_path / "logs", getattr(request.module, "LOGS", 12))
    return tmp_path / "logs"
