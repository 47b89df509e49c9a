"""CPU profiles of an Oracle process: samples by function, and shares by layer of the kernel of the database.

The first letters of a function's name say which layer it belongs to (`kcb`: buffer cache, `kd`: rows in a block, ...).
The names are the kernel's own; Oracle publishes no list, and `LAYERS` holds what is well known in the field.
"""

from __future__ import annotations

import math
import re
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.table import Metric, metrics_frame
from logframe import LogParseError, open_log

if TYPE_CHECKING:
    from collections.abc import Iterator

    from logframe import Source

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
#: Columns of `read_profile`.
SAMPLES: Final = pl.Schema({"function": pl.String(), "module": pl.String(), "samples": pl.Int64()})

_KERNEL_MODULES: Final = re.compile(r"^(?:unix|genunix|\[?(?:kernel|guest\.kernel)[^\]]*\]?|vmlinux.*|\[.*\])$")
_OFFSET: Final = re.compile(r"\+0x[0-9a-f]+$")
_AGGREGATED: Final = re.compile(r"^\s*(?P<module>[^\s`]+)`(?P<function>\S+)(?:\s+(?P<count>\d+))?\s*$")
_COUNT: Final = re.compile(r"^\s+(?P<count>\d+)\s*$")
_PERF_HEAD: Final = re.compile(r"^\S.*\s(?:\[\d+\]\s+)?\d+\.\d+:\s+(?:\d+\s+)?\S+:\s*(?P<frame>\S.*)?$")
_PERF_FRAME: Final = re.compile(r"^\s+[0-9a-f]+\s+(?P<function>\S.*?)\s+\((?P<module>[^()]*)\)\s*$")
_FOLDED: Final = re.compile(r"^(?P<stack>\S.*?)\s+(?P<count>\d+)\s*$")
_CONFIDENCE: Final = 0.95


def read_profile(source: Source) -> pl.DataFrame:
    r"""The samples of a profile by function: the function that was running, not those that called it.

    Three forms are read: what ``dtrace`` prints of an aggregation (functions or stacks, ``module`function``), ``perf
    script``, and folded stacks (``a;b;c 12``).

    Args:
        source: a path, bytes, a file object.

    Returns:
        The columns `SAMPLES`: ``function``, ``module`` (null in folded stacks), ``samples``; most samples first.

    Raises:
        LogParseError: the file is empty, or in none of the forms; or a line of folded stacks is not.

    Examples:
        >>> read_profile(b"  oracle`kdst_fetch   14\n  oracle`kcbgtcr   181\n").rows()
        [('kcbgtcr', 'oracle', 181), ('kdst_fetch', 'oracle', 14)]
        >>> read_profile(b"main;opiodr;kcbgtcr 3\nmain;opiodr 1\n").rows()
        [('kcbgtcr', None, 3), ('opiodr', None, 1)]
    """
    log = open_log(source)
    lines = log.lines()
    if not any(line.strip() for line in lines):
        raise LogParseError("the file is empty", source=log.name, expected="a profile")
    found: list[tuple[str, str | None, int]]
    if any(_AGGREGATED.match(line) for line in lines):
        found = list(_read_dtrace(lines))
    elif any(_PERF_FRAME.match(line) for line in lines):
        found = list(_read_perf(lines))
    else:
        found = list(_read_folded(lines, log.name))
    if not found:
        raise LogParseError(
            "no sample found", source=log.name, expected="a dtrace aggregation, perf script, or folded stacks"
        )
    return (
        pl.DataFrame(found, schema=SAMPLES, orient="row")
        .group_by("function", "module")
        .agg(pl.col("samples").sum())
        .sort("samples", "function", "module", descending=[True, False, False])
    )


def _read_dtrace(lines: list[str]) -> Iterator[tuple[str, str, int]]:
    """Functions with their count, or stacks (the running function first) above their count."""
    top: tuple[str, str] | None = None
    for line in lines:
        if frame := _AGGREGATED.match(line):
            name = (_OFFSET.sub("", frame["function"]), frame["module"])
            if frame["count"]:
                yield *name, int(frame["count"])
            else:
                top = top or name
        elif (count := _COUNT.match(line)) and top is not None:
            yield *top, int(count["count"])
            top = None


def _read_perf(lines: list[str]) -> Iterator[tuple[str, str, int]]:
    """One sample a heading; its first frame is the running function."""
    is_wanted = False
    for line in lines:
        if frame := _PERF_FRAME.match(line):
            if is_wanted:
                yield _OFFSET.sub("", frame["function"]), frame["module"].rpartition("/")[2], 1
            is_wanted = False
        elif _PERF_HEAD.match(line):
            is_wanted = True


def _read_folded(lines: list[str], source: str) -> Iterator[tuple[str, str | None, int]]:
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        stack = _FOLDED.match(line)
        if stack is None:
            raise LogParseError(
                "no sample of a profile",
                source=source,
                line=number,
                column=1,
                text=line,
                expected="a dtrace aggregation, perf script, or folded stacks (a;b;c 12)",
            )
        yield stack["stack"].rpartition(";")[2], None, int(stack["count"])


def layer_of(function: str, module: str | None = None) -> str:
    """The layer that a function belongs to.

    Examples:
        >>> layer_of("kcbgtcr"), layer_of("kdstf00000010000kmP"), layer_of("copy_user", "[kernel.kallsyms]")
        ('buffer cache (kcb)', 'row access (kd)', 'operating system kernel')
    """
    if module is not None and _KERNEL_MODULES.match(module):
        return KERNEL
    if module is not None and not module.startswith("oracle") and "." in module:
        return f"library {module}"
    for length in range(7, 1, -1):
        if (layer := LAYERS.get(function[:length])) is not None:
            return layer
    return OTHER


def layer_shares(samples: pl.DataFrame) -> pl.DataFrame:
    r"""Share of the samples that each layer has.

    The bounds are the 95 % score interval of a share (Wilson, 1927): what so few samples leave open, if each is a draw
    of its own.  They say nothing about functions that the profile leaves out.

    Args:
        samples: what `read_profile` gives.

    Returns:
        One row a layer: ``layer``, ``samples``, then `METRICS`: ``sample_share``, a ratio; the largest first.

    Examples:
        >>> shares = layer_shares(read_profile(b"  oracle`kdst_fetch   15\n  oracle`kcbgtcr   5\n"))
        >>> shares.select("layer", "value").rows()
        [('row access (kd)', 0.75), ('buffer cache (kcb)', 0.25)]
    """
    layers: dict[str, int] = {}
    for function, module, count in samples.select("function", "module", "samples").iter_rows():
        layer = layer_of(function, module)
        layers[layer] = layers.get(layer, 0) + count
    total = sum(layers.values())
    ordered = sorted(layers.items(), key=lambda one: (-one[1], one[0]))
    metrics = []
    for _, count in ordered:
        lo, hi = _score_interval(count, total)
        basis = f"{count} of {total} samples"
        caveat = "the 95 % interval of sampling; layers by the first letters of the function"
        metrics.append(Metric("sample_share", count / total, lo, hi, "ratio", basis, caveat))
    return metrics_frame(
        metrics,
        layer=pl.Series([name for name, _ in ordered], dtype=pl.String),
        samples=pl.Series([count for _, count in ordered], dtype=pl.Int64),
    )


def _score_interval(count: int, total: int) -> tuple[float, float]:
    """The score interval of a share."""
    z = NormalDist().inv_cdf((1 + _CONFIDENCE) / 2)
    share = count / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total)) / (1 + z * z / total)
    return max(min(middle - half, share), 0.0), min(max(middle + half, share), 1.0)
