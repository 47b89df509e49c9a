"""``python -m fuzz``: mutated logs through every registered reader."""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from fuzz.driver import LARGEST, Result, of_format, run, running, seeds

if TYPE_CHECKING:
    from fuzz.invariants import Depth

#: Environments in which the same input must give the same frames: compiled code or none, one thread or many.
VARIANTS: Final[dict[str, dict[str, str]]] = {
    "compiled code, 2 threads": {"POLARS_MAX_THREADS": "2"},
    "no compiled code, 1 thread": {"POLARS_MAX_THREADS": "1", "IOLAB_KERNEL": "off"},
    "compiled code, 8 threads": {"POLARS_MAX_THREADS": "8"},
}


def differences(found: dict[str, Result]) -> list[tuple[int, str]]:
    """Cases of which a variant does not read what the first variant reads, and the variant.

    Args:
        found: Result of each variant; they may have run another number of cases.
    """
    first, *others = found
    return [
        (number, variant)
        for variant in others
        for number, digest in found[variant].digests.items()
        if found[first].digests.get(number, digest) != digest
    ]


@click.command()
@click.option("--count", default=1000, show_default=True, help="Cases.")
@click.option("--first", default=0, show_default=True, help="Number of the first case: continues a run.")
@click.option("--seed", default=1, show_default=True)
@click.option("--largest", default=LARGEST, show_default=True, help="Bytes of an input before it is mutated.")
@click.option("--seconds", type=float, help="Begin no further case after so many seconds.")
@click.option("--processes", default=1, show_default=True)
@click.option(
    "--thorough",
    "depth",
    flag_value="thorough",
    default="cheap",
    help="Also account for figures, read each input twice, through Parquet, and in each variant.",
)
@click.option(
    "--pages",
    "depth",
    flag_value="pages",
    default="cheap",
    help="Also make the summary of each input: text, JSON, a page.",
)
@click.option("--only", help="Mutate only logs of this format.")
@click.option("--corpus", type=click.Path(path_type=Path, exists=True), multiple=True, help="More logs to mutate.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("build/fuzz"), show_default=True)
def main(  # noqa: PLR0913, PLR0917 - one argument an option
    count: int,
    first: int,
    seed: int,
    largest: int,
    seconds: float | None,
    processes: int,
    depth: Depth,
    only: str | None,
    corpus: tuple[Path, ...],
    out: Path,
) -> None:
    """Read mutated logs and check what must hold; ends with 1 where something failed."""
    logs = seeds(corpus)
    if only is not None and not (logs := of_format(logs, only, largest)):
        raise click.BadParameter(f"there is no log of the format {only!r}", param_hint="--only")
    pieces = [range(first + place, first + count, processes) for place in range(processes)]
    variants = list(VARIANTS) if depth == "thorough" else list(VARIANTS)[:1]
    found = {variant: Result() for variant in variants}
    for variant in variants:
        os.environ.update(VARIANTS[variant])
        # the other variants need only agree with the first
        checked = depth if variant == variants[0] else "digest"
        until = float("inf") if seconds is None else time.monotonic() + seconds / len(variants)
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            waiting = [
                pool.submit(run, seed, piece, logs, out=out, depth=checked, largest=largest, until=until)
                for piece in pieces
            ]
            for future in waiting:
                try:
                    found[variant].add(future.result())
                except BrokenProcessPool:
                    raise click.ClickException(f"a process was aborted; the inputs are in {running(out)}") from None
        for name in VARIANTS[variant]:
            del os.environ[name]
        total = found[variant]
        click.echo(
            f"{variant}: {total.cases:,} cases, slowest {total.slowest[0]:.2f} s (case {total.slowest[1]}); logs read: "
            + (", ".join(f"{name} {times:,}" for name, times in sorted(total.logs.items())) or "none")
        )
        for failure, times in total.failures.most_common():
            click.echo(f"{times:6,}  {failure}")
        for path in total.files:
            click.echo(str(path))
    differ = differences(found)
    for number, variant in differ:
        click.echo(f"case {number}: {variant!r} does not read what {variants[0]!r} reads")
    sys.exit(bool(differ or any(total.failures for total in found.values())))


if __name__ == "__main__":
    main()
