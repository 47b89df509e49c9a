"""How a process reads: synchronously, asynchronously, or both; per file, process or log.

Only the calls decide: ``pread64``, ``preadv``, ``read`` and their like are synchronous, ``io_submit`` is asynchronous.
Whether the database read through its buffer cache or past it (direct path read) cannot be seen: the calls are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import polars as pl

from iolab.metrics.trace_reads import NOT_KNOWN, file_or_fd, is_data_read
from straceparse import io_requests, opens
from straceparse.call_table import HIDDEN, REAPS, SUBMITS

if TYPE_CHECKING:
    from collections.abc import Iterable

By = Literal["file", "process", "log"]

_DURATION: Final = pl.Duration("ns")
#: Columns of `io_mode`.
MODES: Final = pl.Schema(
    {
        "pid": pl.Int32(),
        "file": pl.String(),
        "mode": pl.Enum(["synchronous", "asynchronous", "mixed", "unknown"]),
        "sync_reads": pl.Int64(),
        "async_reads": pl.Int64(),
        "sync_bytes": pl.Int64(),
        "async_bytes": pl.Int64(),
        "async_share": pl.Float64(),
        "sync_from": _DURATION,
        "sync_to": _DURATION,
        "async_from": _DURATION,
        "async_to": _DURATION,
        "has_o_direct": pl.Boolean(),
        "limitations": pl.String(),
    }
)

#: The columns of the requests that tell how a process reads.
_LOOKED_AT: Final = (
    *("pid", "fd", "file", "target", "op", "mode", "syscall", "requests", "is_printed", "match"),
    *("bytes_requested", "bytes_transferred", "submitted", "completed", "errno"),
)
#: This many reads are summed at a time: groups of many rows take several times their memory.
_PIECE: Final = 1 << 17

_KEYS: Final[dict[By, list[str]]] = {"file": ["pid", "file"], "process": ["pid"], "log": []}

_PATH_OF_READ: Final = "whether reads went through the buffer cache or by direct path, because the calls are the same"
_NO_FILE: Final = "which file was read, because the log begins after the open (trace with strace -y)"
_CUT: Final = "all requests, because strace cut their lists short (trace with strace -v)"
_BEFORE: Final = "which file was read, because the log begins after the request was submitted"
_DEVICE: Final = "which database file was read, because ASM reads are of the disk group's devices"
_URING: Final = "what io_uring carried, because its requests are in memory that strace does not see"
_NO_OPEN: Final = "whether the page cache was used, because the log begins after the open, which shows O_DIRECT"
_SUBMITTED: Final = "whether the kernel read asynchronously, because without O_DIRECT it reads within io_submit"


def io_mode(frame: pl.DataFrame | pl.LazyFrame, *, by: By = "file", opened: pl.DataFrame | None = None) -> pl.DataFrame:
    """The mode of the reads: `synchronous`, `asynchronous`, `mixed`, or `unknown` (io_uring only).

    Args:
        frame: what `straceparse.calls` or `straceparse.io_requests` gives.  Calls tell more: the opens are among them.
        by: one row a process and file, a process, or one for the whole log.
        opened: what `straceparse.opens` gives, where the frame is of requests and the opens are known.

    Returns:
        The columns `MODES`, in the order in which the reads began:

        * ``pid``, ``file``: null where the rows are not grouped by it; ``fd N`` where the log does not name the file
        * ``mode``;  ``sync_reads``, ``async_reads``: reads of data (`iolab.metrics.data_reads`)
        * ``sync_bytes``, ``async_bytes``: bytes returned;  ``async_share``: share of the bytes that was asynchronous;
          null where no byte is known
        * ``sync_from`` to ``sync_to``, ``async_from`` to ``async_to``: first and last start of such reads, or the last
          that was reaped where starts are not in the log
        * ``has_o_direct``: was the file opened with O_DIRECT, past the page cache of the operating system; null when
          the open is not in the log.  It is not the database's direct path.
        * ``limitations``: what the log does not show, separated by `; `

    Examples:
        >>> from straceparse import calls, read_strace
        >>> log = b'''     0.000000 pread64(268, ""..., 1032192, 787496960) = 1032192
        ...      0.002132 pread64(268, ""..., 1032192, 788545536) = 1032192'''
        >>> io_mode(calls(read_strace(log))).select("file", "mode", "sync_reads", "async_share").row(0)
        ('fd 268', 'synchronous', 2, 0.0)
    """
    frame = frame.lazy().collect()
    is_requests = "op" in frame.columns
    requests = frame if is_requests else io_requests(frame)
    ways = _ways(opened if is_requests else opens(frame))
    uring = pl.col("syscall").is_in(HIDDEN) & (pl.col("requests") > 0)
    wanted = is_data_read(requests) | uring
    looked_at = requests.select(_LOOKED_AT)
    pieces = [*looked_at.iter_slices(_PIECE)] or [looked_at]
    parts = pl.concat([_parts(piece.filter(wanted), uring) for piece in pieces])
    modes = {
        "sync": pl.col("mode") == "sync",
        "async": (pl.col("mode") == "async") & ~pl.col("is_uring"),
    }
    sums = [
        part
        for way, is_own in modes.items()
        for part in (
            pl.col("reads").filter(is_own).sum().alias(f"{way}_reads"),
            pl.col("bytes").filter(is_own).sum().alias(f"{way}_bytes"),
            pl.col("first").filter(is_own).min().alias(f"{way}_from"),
            pl.col("last").filter(is_own).max().alias(f"{way}_to"),
        )
    ]
    is_late = pl.col("is_reaped") & (pl.col("file") == NOT_KNOWN)
    files = pl.col("file").unique(maintain_order=True).alias("files")
    found = parts.group_by(_KEYS[by] or pl.lit(1).alias("log"), maintain_order=True).agg(
        *sums, pl.col("is_uring").any(), is_late.any().alias("is_late"), files
    )
    cut = set(requests.filter(pl.col("syscall").is_in(SUBMITS), ~pl.col("is_printed")).get_column("pid"))
    rows = [
        _row({**row, "is_cut": bool(row["async_reads"]) and (row["pid"] in cut if "pid" in row else bool(cut))}, ways)
        for row in found.iter_rows(named=True)
        if row["files"]
    ]
    return pl.DataFrame(rows, schema=MODES)


def _parts(reads: pl.DataFrame, uring: pl.Expr) -> pl.DataFrame:
    """The sums of some reads, one row a process, descriptor and mode."""
    return (
        reads.with_columns(is_uring=uring, moment=pl.coalesce("submitted", "completed"))
        .group_by("pid", "file", "fd", "mode", "is_uring", maintain_order=True)
        .agg(
            reads=pl.len().cast(pl.Int64),
            bytes=pl.col("bytes_transferred").sum(),
            first=pl.col("moment").min(),
            last=pl.col("moment").max(),
            is_reaped=pl.col("syscall").is_in(REAPS).any(),
        )
        .with_columns(file=file_or_fd())
    )


def _row(row: dict[str, object], opened: dict[str, bool]) -> dict[str, object]:
    """One row of `MODES`."""
    reads = {name: int(str(row[f"{name}_reads"])) for name in ("sync", "async")}
    sizes = {name: int(str(row[f"{name}_bytes"])) for name in ("sync", "async")}
    files = [str(file) for file in row["files"]] if isinstance(row["files"], list) else []
    total = sum(sizes.values())
    flags = {_is_direct(file, opened) for file in files}
    has_o_direct = flags.pop() if len(flags) == 1 else None
    if reads["sync"] and reads["async"]:
        mode = "mixed"
    else:
        mode = "synchronous" if reads["sync"] else "asynchronous" if reads["async"] else "unknown"
    return {
        **{name: row.get(name) for name in MODES if name in row},
        "mode": mode,
        "async_share": sizes["async"] / total if total else None,
        "has_o_direct": has_o_direct,
        "limitations": "; ".join([*_limitations(files, mode, has_o_direct=has_o_direct), *_not_shown(row)]),
    }


def _limitations(files: list[str], mode: str, *, has_o_direct: bool | None) -> Iterable[str]:
    """What the log cannot tell."""
    if mode != "unknown":
        yield _PATH_OF_READ
    if mode in {"asynchronous", "mixed"} and not has_o_direct:
        yield _SUBMITTED
    if has_o_direct is None and mode != "unknown":
        yield _NO_OPEN
    if any(file.startswith("fd ") for file in files) and mode != "unknown":
        yield _NO_FILE
    if any(file.startswith("/dev/") for file in files):
        yield _DEVICE


def _not_shown(row: dict[str, object]) -> Iterable[str]:
    """Which requests the log does not show, or not from their submission on."""
    if row["is_cut"]:
        yield _CUT
    if row["is_late"]:
        yield _BEFORE
    if row["is_uring"]:
        yield _URING


def _ways(opened: pl.DataFrame | None) -> dict[str, bool]:
    """Each file that a call opened -> whether its last open had O_DIRECT."""
    if opened is None:
        return {}
    return dict(opened.filter(pl.col("file").is_not_null()).select("file", "has_o_direct").iter_rows())


def _is_direct(file: str, opened: dict[str, bool]) -> bool | None:
    """Was the file opened with O_DIRECT?  ``-y`` names it in full where the open may have named it from its folder."""
    for path, is_direct in opened.items():
        if file == path or file.endswith("/" + path.removeprefix("./")):
            return is_direct
    return None
