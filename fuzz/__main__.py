"""``python -m fuzz``: mutated logs through every registered reader."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import click

from fuzz.driver import Result, run, seeds


@click.command()
@click.option("--count", default=1000, show_default=True, help="Cases.")
@click.option("--first", default=0, show_default=True, help="Number of the first case: continues a run.")
@click.option("--seed", default=1, show_default=True)
@click.option("--seconds", type=float, help="Begin no further case after so many seconds.")
@click.option("--processes", default=1, show_default=True)
@click.option("--thorough", is_flag=True, help="Also read each input twice, and through Parquet.")
@click.option("--corpus", type=click.Path(path_type=Path, exists=True), multiple=True, help="More logs to mutate.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("build/fuzz"), show_default=True)
def main(
    count: int,
    first: int,
    seed: int,
    seconds: float | None,
    processes: int,
    thorough: bool,  # noqa: FBT001 - click passes options by name
    corpus: tuple[Path, ...],
    out: Path,
) -> None:
    """Read mutated logs and check what must hold; ends with 1 where something failed."""
    logs = seeds(corpus)
    until = float("inf") if seconds is None else time.monotonic() + seconds
    pieces = [range(first + place, first + count, processes) for place in range(processes)]
    total = Result()
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        waiting = [pool.submit(run, seed, piece, logs, out=out, is_thorough=thorough, until=until) for piece in pieces]
        for one in (future.result() for future in waiting):
            total.cases += one.cases
            total.logs += one.logs
            total.failures += one.failures
            total.files += one.files
            total.slowest = max(total.slowest, one.slowest)
    click.echo(
        f"{total.cases:,} cases, {total.logs:,} logs read, slowest {total.slowest[0]:.2f} s (case {total.slowest[1]})"
    )
    for failure, times in total.failures.most_common():
        click.echo(f"{times:6,}  {failure}")
    for path in total.files:
        click.echo(str(path))
    sys.exit(bool(total.failures))


if __name__ == "__main__":
    main()
