"""A log in byte ranges has the events of the whole log: numbers of lines, times and processes among them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import straceparse
from logframe import open_log
from logframe.ranges import ranges_of
from straceparse.dialects import dialect_of
from straceparse.ranges import facts_of, scan_range, starts_of

if TYPE_CHECKING:
    from pathlib import Path

COUNTS = (2, 9)


def prefixes(kind: str, lines: int, draw: random.Random) -> list[str]:
    """What strace prints before each line with some options; the clock of a day passes midnight twice."""
    at = 23 * 3600.0 + 3000
    found = []
    for _ in range(lines):
        step = draw.choice([0.000012, 0.4, 7.0, 700.0])
        at += step
        of_day = at % 86_400
        shown = f"{int(of_day // 3600):02d}:{int(of_day % 3600 // 60):02d}:{of_day % 60:09.6f}"
        match kind:
            case "-r":
                found.append(f"{step:12.6f} ")
            case "-tt":
                found.append(f"{shown} ")
            case "-t":
                found.append(f"{shown[:8]} ")
            case "-ttt":
                found.append(f"{1_795_253_115 + at:.6f} ")
            case "-tt -r":
                found.append(f"{shown} (+{step:12.6f}) ")
            case _:
                found.append("")
    return found


def log_of(kind: str, seed: int, lines: int = 900) -> bytes:
    """A log of one process, or of several that start and end (``-f``), with lines that are no calls."""
    draw = random.Random(seed)  # noqa: S311 - a case, not a secret
    follows = "-f" in kind
    pids = [4711]
    made = []
    for prefix in prefixes(kind.removesuffix(" -f").removesuffix(" -f -o"), lines, draw):
        pid = draw.choice(pids)
        shown = f"[pid {pid:5}] " if len(pids) > 1 else ""
        if kind.endswith("-o"):
            shown = f"{pid} "
        elif not follows:
            shown = ""
        dice = draw.random()
        if follows and dice < 0.02 and len(pids) < 4:
            pids.append(max(pids) + 1)
            made.append(f"{shown}{prefix}clone(child_stack=NULL, flags=CLONE_VM) = {pids[-1]} <0.000100>")
        elif follows and dice < 0.05 and len(pids) > 1:
            pids.remove(pid)
            made.append(f"{shown}{prefix}+++ exited with 0 +++")
        elif dice < 0.06:
            made.append("a line of the program")
        elif dice < 0.08:
            made.append(f"{shown}{prefix}--- SIGCHLD {{si_signo=SIGCHLD, si_code=CLD_EXITED}} ---")
        elif dice < 0.1 and follows:
            made.append(f"{shown}{prefix}read({draw.randint(3, 99)},  <unfinished ...>")
        else:
            read = f'pread64({draw.randint(3, 99)}, "..."..., 8192, {draw.randrange(1 << 40)}) = 8192 <0.000123>'
            made.append(f"{shown}{prefix}{read}")
    return "\n".join(made).encode() + draw.choice([b"", b"\n"])


def assert_ranges_agree(source: bytes | Path, counts: tuple[int, ...] = COUNTS) -> None:
    """The events of the ranges of a log, one after the other, are those of the log."""
    whole = straceparse.read_strace(source)
    log = open_log(source)
    dialect = dialect_of([log])
    for count in counts:
        cuts = ranges_of(log, count)
        starts = starts_of([facts_of(log, cut, dialect) for cut in cuts], dialect)
        parts = [scan_range(log, cut, start, dialect).collect() for cut, start in zip(cuts, starts, strict=True)]

        assert cuts[0].start == 0
        assert [cut.start for cut in cuts[1:]] == [cut.end for cut in cuts[:-1]]
        assert_frame_equal(whole, pl.concat(parts))


KINDS = ("-r", "-t", "-tt", "-ttt", "-tt -r", "", "-r -f", "-tt -f", "-ttt -f", "-f", "-ttt -f -o", "-r -f -o")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [1, 2])
def test_ranges_agree_with_the_log(kind: str, seed: int) -> None:
    """Whatever the options: one log in 2 ranges, another in 9."""
    assert_ranges_agree(log_of(kind, seed, 300), (COUNTS[seed - 1],))


@pytest.mark.parametrize("kind", ["-r -f", "-tt"])
def test_many_ranges(kind: str) -> None:
    """In 64 ranges, some of them of few lines."""
    assert_ranges_agree(log_of(kind, 4, 300), (64,))


def test_more_ranges_than_lines() -> None:
    """There are then as many ranges as lines; an empty line is one, too."""
    assert_ranges_agree(b"12:00:00.000001 close(3) = 0\n\n12:00:00.000002 close(4) = 0", (1, 2, 50))


def test_carriage_returns_and_long_lines(tmp_path: Path) -> None:
    """Lines of Windows, and one that is longer than the others together."""
    lines = log_of("-ttt", 5, 200).replace(b"\n", b"\r\n").split(b"\r\n")
    lines.insert(100, b'1795253115.0 write(1, "' + b"x" * 200_000 + b'", 200000) = 200000')
    path = tmp_path / "a.strace"
    path.write_bytes(b"\r\n".join(lines))

    assert_ranges_agree(path)


@pytest.mark.corpus
def test_ranges_of_real_logs(corpus: Path) -> None:
    """Real logs agree, too."""
    for path in sorted((corpus / "strace").iterdir()):
        if path.is_file() and 0 < path.stat().st_size < 3_000_000:
            try:
                log = open_log(path)
            except straceparse.LogParseError:
                continue
            if dialect_of([log]).share:
                assert_ranges_agree(path, (5,))
