"""Logs for the tests of datasets: small ones of several formats, made of a seed."""

from __future__ import annotations

import os
import random
import signal
from typing import TYPE_CHECKING

import polars as pl
from polars.testing import assert_frame_equal

from iolab import dataset

if TYPE_CHECKING:
    from pathlib import Path

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"


def trace(seed: int, lines: int = 20) -> bytes:
    """An strace log of reads (``-ttt -T``)."""
    draw = random.Random(seed)  # noqa: S311 - not a secret
    at = 1_795_253_115.0 + seed
    made = []
    for _ in range(lines):
        at += draw.random() / 100
        size = draw.choice([8192, 16384, 1_048_576])
        made.append(
            f'{at:.6f} pread64({draw.randint(3, 300)}, "..."..., {size}, {draw.randrange(1 << 40)}) = {size}'
            f" <{draw.random() / 1000:.6f}>"
        )
    return "\n".join(made).encode() + b"\n"


def session(seed: int) -> bytes:
    """A session of SQL*Plus with timings."""
    draw = random.Random(seed)  # noqa: S311 - not a secret
    runs = [
        f"SQL> select count(*) from t{seed} where id > {number};\n\n  COUNT(*)\n----------\n"  # noqa: S608 - nothing runs it
        f"{draw.randint(1, 9999):10}\n\n"
        f"Elapsed: 00:00:{draw.random() * 20:05.2f}\n"
        for number in range(3)
    ]
    return "\n".join(runs).encode()


def write_logs(folder: Path, count: int, *, first: int = 0) -> None:
    """Logs of several formats in folders within a folder."""
    for seed in range(first, first + count):
        place = folder / f"host{seed % 3}"
        place.mkdir(parents=True, exist_ok=True)
        if seed % 4 == 3:
            (place / f"session_{seed:04d}.txt").write_bytes(session(seed))
        else:
            (place / f"ora_{seed:04d}.strace").write_bytes(trace(seed))


def run(sources: Path | list[Path], dest: Path, **options: object) -> dataset.Converted:
    """Convert in this process."""
    return dataset.convert(sources, dest, executor="serial", **options)  # type: ignore[arg-type]


def content(dest: Path) -> dict[str, pl.DataFrame]:
    """All that a dataset holds, whatever its batches: table -> its rows, sorted."""
    tables = dataset.status(dest).tables.get_column("table").to_list()
    found = {}
    for table in tables:
        frame = dataset.scan(dest, table).collect()
        found[table] = frame.select(pl.col("source"), pl.struct(pl.all()).struct.json_encode().alias("row")).sort(
            "source", "row"
        )
    return found


def statuses(dest: Path) -> dict[str, str]:
    """Name of each source without its folder -> its status."""
    rows = dataset.sources(dest).select("source", "status").iter_rows()
    return {source.rpartition("/")[2]: status for source, status in rows}


def assert_undisturbed(dest: Path, logs: Path, folder: Path) -> None:
    """A dataset is that of one run in this process, all of it and nothing else."""
    run(logs, folder / "undisturbed")
    expected, found = content(folder / "undisturbed"), content(dest)

    assert dataset.verify(dest) == []
    assert not (dest / "_staging").exists()
    assert expected.keys() == found.keys()
    for table, rows in expected.items():
        assert_frame_equal(rows, found[table])


def kill_one(processes: list[int], killed: list[int], draw: random.Random) -> None:
    """Kill one of these processes by chance, none that was killed before.

    An executor that gave no job to a process does not know yet that it has ended, and names it still.
    """
    if alive := [number for number in processes if number not in killed]:
        killed.append(draw.choice(alive))
        os.kill(killed[-1], signal.SIGKILL)
