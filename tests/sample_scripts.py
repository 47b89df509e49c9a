"""The scripts that write the sample data, as modules."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

MAKE = Path(__file__).parents[1] / "sample_data" / "make"


def sample_script(name: str) -> Any:  # noqa: ANN401 - a module
    """A script with its helpers beside it, imported without compiled files left there."""
    before, kept = list(sys.path), sys.dont_write_bytecode
    sys.path.insert(0, str(MAKE))
    sys.dont_write_bytecode = True
    try:
        return importlib.import_module(name)
    finally:
        sys.path[:], sys.dont_write_bytecode = before, kept
