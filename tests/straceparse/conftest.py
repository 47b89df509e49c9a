"""Fixtures over the real logs of strace."""

import csv
from pathlib import Path

import polars as pl
import pytest

from logframe import Log, open_log
from straceparse import Dialect, read_strace
from straceparse.dialects import dialect_of

#: The files of these sets are read together, as strace -ff wrote them.
SETS = ("captures/6.1-mp-ff-r/*", "captures/6.1-thread-execve-ff.*")


@pytest.fixture(scope="session")
def strace_logs(corpus: Path) -> Path:
    """The folder of the real logs of strace."""
    return corpus / "strace"


@pytest.fixture(scope="session")
def captures(strace_logs: Path) -> Path:
    """The folder of the captures made with known versions and options."""
    return strace_logs / "captures"


@pytest.fixture(scope="session")
def manifest(captures: Path) -> dict[str, dict[str, str]]:
    """Name of a capture -> its version and command line."""
    with (captures / "MANIFEST.tsv").open(encoding="utf-8") as file:
        return {row["file"]: row for row in csv.DictReader(file, delimiter="\t")}


@pytest.fixture(scope="session")
def log_names(strace_logs: Path) -> list[str]:
    """Every log, by its path within the corpus."""
    paths = sorted(path for path in strace_logs.rglob("*") if path.is_file() and path.suffix != ".tsv")
    return [path.relative_to(strace_logs).as_posix() for path in paths]


@pytest.fixture(scope="session")
def events_of(strace_logs: Path, log_names: list[str]) -> dict[str, pl.DataFrame]:
    """The events of every log; those of a ``-ff`` set were read together."""
    found: dict[str, pl.DataFrame] = {}
    for pattern in SETS:
        events = read_strace(strace_logs / pattern, include_file_paths="log")
        for (path,), part in events.group_by("log", maintain_order=True):
            found[Path(str(path)).relative_to(strace_logs).as_posix()] = part.drop("log")
    return found | {name: read_strace(strace_logs / name) for name in log_names if name not in found}


@pytest.fixture(scope="session")
def opened(strace_logs: Path, log_names: list[str]) -> dict[str, tuple[Log, Dialect]]:
    """Every log of its own, opened, and its dialect; of the files of sets only a few."""
    names = [name for place, name in enumerate(log_names) if "-ff" not in name or place % 10 == 0]
    logs = {name: open_log(strace_logs / name) for name in names}
    return {name: (log, dialect_of([log])) for name, log in logs.items()}
