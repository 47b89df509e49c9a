"""CPU profiles of an Oracle process (`hostparse.read_profile`): shares of the samples by layer of the database.

The first letters of a function's name say which layer it belongs to (`kcb`: buffer cache, `kd`: rows in a block, ...).
The names are the kernel's own; Oracle publishes no list, and `LAYERS` holds what is well known in the field.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from iolab.metrics.table import Metric, metrics_frame
from iolab.stats.intervals import share_interval

#: Prefix of a function -> layer; the longest that fits counts.
LAYERS: Final = {
    "kcb": "buffer cache (kcb)",
    "kcl": "global cache (kcl)",
    "kcr": "redo (kcr)",
    "kcf": "data file I/O (kcf)",
    "kc": "cache (kc)",
    "kd": "row access (kd)",
    "kt": "transactions, undo, segments (kt)",
    "kf": "ASM and file I/O (kf)",
    "ksl": "latches and waits (ksl)",
    "ksf": "file I/O (ksf)",
    "ks": "kernel services (ks)",
    "kgh": "heap memory (kgh)",
    "kgl": "library cache (kgl)",
    "kx": "execution (kx)",
    "kk": "parse and optimizer (kk)",
    "kp": "program interface (kp)",
    "kz": "security (kz)",
    "qer": "row sources (qer)",
    "qes": "execution services (qes)",
    "qka": "query execution (qka)",
    "qk": "optimizer (qk)",
    "ev": "expressions (ev)",
    "lnx": "number arithmetic (lnx)",
    "op": "calls of the client (op)",
    "tt": "client protocol (tt)",
    "ns": "network (ns)",
    "nt": "network (nt)",
    "sk": "operating system interface (sk)",
    "sl": "operating system interface (sl)",
    "ss": "operating system interface (ss)",
    "_intel": "memory and arithmetic library",
    "__intel": "memory and arithmetic library",
    "mem": "memory and arithmetic library",
}
OTHER: Final = "other functions of oracle"
KERNEL: Final = "operating system kernel"


def layer_of(function: str, module: str | None = None, *, is_kernel: bool | None = None) -> str:
    """The layer that a function belongs to.

    Args:
        function: Its name.
        module: Its module or library, where known.
        is_kernel: Whether the module is the kernel of the operating system.

    Examples:
        >>> layer_of("kcbgtcr"), layer_of("kdstf00000010000kmP"), layer_of("copy_user", "unix", is_kernel=True)
        ('buffer cache (kcb)', 'row access (kd)', 'operating system kernel')
        >>> layer_of("read", "libc.so.6"), layer_of("main", "sshd")
        ('library libc.so.6', 'program sshd')
    """
    if is_kernel:
        return KERNEL
    if module is not None and not module.startswith("oracle"):
        return f"library {module}" if "." in module else f"program {module}"
    for length in range(7, 1, -1):
        if (layer := LAYERS.get(function[:length])) is not None:
            return layer
    return OTHER


def layer_shares(samples: pl.DataFrame) -> pl.DataFrame:
    r"""Share of the samples that each layer has.

    ``ci_lo`` and ``ci_hi`` are the 95 % score interval of a share (Wilson, 1927): what this few samples leave open, if
    each is a draw of its own.  They have no meaning about functions that the profile leaves out.

    Args:
        samples: The frame of a `hostparse.CpuProfile`.

    Returns:
        One row a layer: ``layer``, ``samples``, then `METRICS`: ``sample_share``, a ratio; the largest first.  Refused
        where the functions have no samples.

    Examples:
        >>> from hostparse import read_profile
        >>> shares = layer_shares(read_profile(b"  oracle`kdst_fetch   15\n  oracle`kcbgtcr   5\n").samples)
        >>> shares.select("layer", "value").rows()
        [('row access (kd)', 0.75), ('buffer cache (kcb)', 0.25)]
    """
    layers = layers_of(samples).group_by("layer").agg(pl.col("samples").sum())
    ordered = layers.sort("samples", "layer", descending=[True, False]).rows()
    total = sum(count for _, count in ordered)
    metrics = []
    for _, count in ordered:
        basis = f"{count} of {total} samples"
        if not total:
            metrics.append(Metric.refused("sample_share", "ratio", "the profile has no samples", basis=basis))
            continue
        lo, hi = share_interval(count, total)
        caveat = "the 95 % interval of sampling; layers by the first letters of the function"
        metrics.append(Metric("sample_share", count / total, None, None, "ratio", basis, caveat, lo, hi))
    return metrics_frame(
        metrics,
        layer=pl.Series([name for name, _ in ordered], dtype=pl.String),
        samples=pl.Series([count for _, count in ordered], dtype=pl.Int64),
    )


def layers_of(samples: pl.DataFrame) -> pl.DataFrame:
    """The samples of processors at work: ``layer``, ``function``, ``samples``.

    Args:
        samples: The frame of a `hostparse.CpuProfile`.
    """
    busy = samples.filter(~pl.col("is_idle"))
    layers = [
        layer_of(function, module, is_kernel=is_kernel)
        for function, module, is_kernel in busy.select("function", "module", "is_kernel").iter_rows()
    ]
    return busy.select(pl.Series("layer", layers, dtype=pl.String), "function", pl.col("samples").cast(pl.Int64))
