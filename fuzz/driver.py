"""The driver: cases numbered by a seed, a time limit for each, failures minimised to files."""

from __future__ import annotations

import hashlib
import os
import random
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from fuzz.invariants import Checked, Depth, Violation, check, read
from fuzz.mutators import mutate
from fuzz.timer import Hang, at_most

ROOT: Final = Path(__file__).parents[1]
#: Logs that are mutated: made for this project, and so in every checkout.
FOLDERS: Final = ("sample_data", "tests")
_SUFFIXES: Final = {".txt", ".html", ".log", ".lst", ".strace", ".trc", ".prf", ".nmon", ".dat", ".json", ".out"}
#: Larger samples make a case slow without making it stranger.
LARGEST: Final = 60_000
#: CPU seconds after which a case counts as hanging, whatever its size.
HANG_S: Final = 20.0
_ROUNDS: Final = 60


@dataclass
class Result:
    """What a run found.

    Attributes:
        cases: Inputs that were read.
        logs: Logs that the readers took, by format.
        failures: Kind of each failure and how often it was seen.
        files: Where the minimised inputs are.
        slowest: CPU seconds and number of the slowest case.
        digests: Digest of what was read, by number of the case; none of a case that fails a check the variants lack.
    """

    cases: int = 0
    logs: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    files: list[Path] = field(default_factory=list)
    slowest: tuple[float, int] = (0.0, 0)
    digests: dict[int, str] = field(default_factory=dict)

    def add(self, other: Result) -> None:
        """Add the result of other cases."""
        self.cases += other.cases
        self.logs += other.logs
        self.failures += other.failures
        self.files += other.files
        self.slowest = max(self.slowest, other.slowest)
        self.digests |= other.digests


def seeds(folders: tuple[Path, ...] = ()) -> list[bytes]:
    """The logs that are mutated, in a fixed order.

    Args:
        folders: More folders, such as a corpus of real logs.
    """
    paths = [path for folder in (*(ROOT / name for name in FOLDERS), *folders) for path in sorted(folder.rglob("*"))]
    found = [path for path in paths if path.suffix in _SUFFIXES and path.is_file() and path.stat().st_size]
    return [path.read_bytes() for path in found]


def of_format(logs: list[bytes], name: str, largest: int) -> list[bytes]:
    """Those logs of which an excerpt is read as one of this format."""
    return [log for log in logs if name in {one.format for one in read(excerpt(log, largest, random.Random(name)))}]


def excerpt(log: bytes, largest: int, chance: random.Random) -> bytes:
    """At most so many bytes of a log: its first lines, by which it is recognised, and lines of another place."""
    if len(log) <= largest:
        return log
    head = log.rfind(b"\n", 0, largest // 3) + 1
    start = log.find(b"\n", chance.randrange(head, len(log))) + 1
    return log[:head] + log[start : start + largest - head]


def case(seed: int, number: int, logs: list[bytes], largest: int = LARGEST) -> bytes:
    """The input of one case: the same for the same seed, number, logs and size."""
    chance = random.Random(f"{seed}:{number}")
    first, second = (excerpt(chance.choice(logs), largest, chance) for _ in range(2))
    return mutate(first, second, chance)


def failure_of(data: bytes, *, depth: Depth = "cheap") -> tuple[str, Checked]:
    """What fails of an input, as one line that is the same for the same fault, or an empty text; and what was read."""
    nothing = Checked([], "")
    try:
        with at_most(HANG_S):
            return "", check(data, depth=depth)
    except Hang as error:
        return f"Hang: {error}", nothing
    except Violation as error:
        return f"Violation: {error}", nothing
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a panic of Polars is a BaseException
        own = [frame for frame in traceback.extract_tb(error.__traceback__) if str(ROOT) in frame.filename]
        place = f"{Path(own[-1].filename).name}:{own[-1].name}" if own else "?"
        return f"{type(error).__name__} at {place}: {str(error).splitlines()[0][:80] if str(error) else ''}", nothing


def minimised(data: bytes, failure: str, *, depth: Depth = "cheap") -> bytes:
    """A smaller input with the same failure: lines are left out, then bytes, as long as it fails alike."""
    kind = failure.partition(":")[0]
    for separator in (b"\n", b""):
        parts = data.split(separator) if separator else [data[place : place + 1] for place in range(len(data))]
        size = max(len(parts) // 2, 1)
        for _ in range(_ROUNDS):
            for start in range(0, len(parts), size):
                shorter = parts[:start] + parts[start + size :]
                tried = separator.join(shorter)
                if tried and failure_of(tried, depth=depth)[0].partition(":")[0] == kind:
                    parts = shorter
                    break
            else:
                if size == 1:
                    break
                size = max(size // 2, 1)
        data = separator.join(parts)
        if len(data) > LARGEST // 10:
            break
    return data


def run(
    seed: int,
    numbers: range,
    logs: list[bytes],
    *,
    out: Path | None = None,
    depth: Depth = "cheap",
    largest: int = LARGEST,
    until: float = float("inf"),
) -> Result:
    """Run cases one after the other.

    Args:
        seed: Seed of all cases.
        numbers: Numbers of the cases.
        logs: What `seeds` gives.
        out: Folder for the minimised failures, and for the input that ends the process (`running`); none are written
            without it.
        depth: As for `fuzz.invariants.check`.
        largest: Bytes of an input before it is mutated.
        until: Moment of `time.monotonic` after which no further case begins.
    """
    result = Result()
    present = None if out is None else running(out) / f"{os.getpid()}.log"
    for number in numbers:
        if time.monotonic() > until:
            break
        data = case(seed, number, logs, largest)
        if present is not None:
            present.write_bytes(data)
        begin = time.process_time()
        failure, read = failure_of(data, depth=depth)
        result.slowest = max(result.slowest, (time.process_time() - begin, number))
        result.cases += 1
        result.logs.update(read.formats)
        if depth == "digest" or (depth == "thorough" and not failure):
            result.digests[number] = read.digest or failure
        if failure:
            if failure not in result.failures and out is not None:
                path = out / f"{hashlib.sha256(failure.encode()).hexdigest()[:12]}.log"
                path.write_bytes(minimised(data, failure, depth=depth))
                path.with_suffix(".txt").write_text(f"{failure}\nseed {seed}, case {number}\n", encoding="utf-8")
                result.files.append(path)
            result.failures[failure] += 1
    if present is not None:
        present.unlink()
    return result


def running(out: Path) -> Path:
    """The folder with the input of each process: of one that a library aborted, it stays."""
    folder = out / "running"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
