"""Many sessions as one frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from logframe import Diagnostic, LogParseError, diagnostics_frame, distinct_names, open_logs
from sqlplusparse.reader import FRAMES, read_log
from sqlplusparse.schemas import SPOOL_SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from logframe import Source


@dataclass(frozen=True)
class SpoolFrames:
    """What `read_spools` gives.

    Attributes:
        frames: name of a frame -> the rows of all sessions, one below the other; the first column is `source`.
        diagnostics: what was not read, guessed or is worth a look; a log that is no session is one row, of the kind
            `unreadable`.
    """

    frames: dict[str, pl.DataFrame]
    diagnostics: pl.DataFrame

    @property
    def frame(self) -> pl.DataFrame:
        """The frame that was asked for; the first of several."""
        return next(iter(self.frames.values()))


def read_spools(
    sources: Source, *, table: str | Sequence[str] = "statements", printed: bool = False, encoding: str | None = None
) -> SpoolFrames:
    r"""One frame of many sessions, with the log's name in the column `source`.

    Args:
        sources: paths, a folder, a glob, an archive, bytes or file objects, or a list of these.
        table: a frame of `Spool` but for the diagnostics: `statements`, `timings`, `autotrace`, `statistics`, `plans`,
            `monitors`, `monitor_lines` or `tables`; or several names: each session is read once.
        printed: as in `read_spool`.
        encoding: as in `read_spool`.

    Returns:
        The frame, and the diagnostics of all logs: a log that is no session is a row there and stops nothing.

    Raises:
        LogParseError: `table` is no frame of a session, or a path leads nowhere.

    Examples:
        >>> logs = [b"SQL> commit;\n\nCommit complete.\n", b"Elapsed: 00:00:01.00\n", b"no session"]
        >>> found = read_spools(logs)
        >>> found.frame.select("source", "kind", "elapsed_s").rows()
        [('<bytes>', 'transaction', None), ('<bytes> (2)', None, 1.0)]
        >>> found.diagnostics.select("source", "kind").rows()
        [('<bytes> (2)', 'no_owner'), ('<bytes> (3)', 'unreadable')]
    """
    tables = (table,) if isinstance(table, str) else tuple(table)
    names = [name for name in FRAMES if name != "diagnostics"]
    for name in tables or ("",):
        if name not in names:
            raise LogParseError(f"a session has no frame {name!r}", source="<table>", expected=", ".join(names))
    logs = open_logs(sources, encoding=encoding)
    found: dict[str, list[pl.DataFrame]] = {name: [] for name in tables}
    notes: list[pl.DataFrame] = []
    for source, log in zip(distinct_names([log.name for log in logs]), logs, strict=True):
        try:
            spool = read_log(log, printed=printed)
        except LogParseError as error:
            fault = Diagnostic(source, error.line, error.column, "unreadable", error.text, error.message)
            notes.append(diagnostics_frame([fault]))
            continue
        notes.append(spool.diagnostics.with_columns(source=pl.lit(source)))
        for name, frames in found.items():
            frame: pl.DataFrame = getattr(spool, name)
            frames.append(frame.select(pl.lit(source).alias("source"), pl.all()))
    return SpoolFrames(
        {name: _joined(name, frames) for name, frames in found.items()}, pl.concat([diagnostics_frame([]), *notes])
    )


def _joined(table: str, frames: list[pl.DataFrame]) -> pl.DataFrame:
    """The rows of one frame, of all sessions."""
    return pl.concat(frames or [pl.DataFrame(schema={"source": pl.String(), **SPOOL_SCHEMAS[table]})])
