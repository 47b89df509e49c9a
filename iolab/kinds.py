"""What a log is, in a few words: for an upload, a page and the terminal."""

from pathlib import Path
from typing import Final

import polars as pl

import awrparse
import sqlplusparse
import straceparse
from iolab.loading import load
from logframe import open_log

#: Files above this are not read whole to say what they are.
_BIG: Final = 16 * 2**20
_HEAD: Final = 2**15

_KINDS: Final = {
    "awr": "AWR report",
    "awr_global": "AWR global report of RAC",
    "awr_pdb": "AWR report of a PDB",
    "awr_diff": "AWR compare-period report",
    "statspack": "Statspack report",
    "ash": "ASH report",
    "addm": "ADDM report",
    "fragment": "part of a report",
}
_FORMS: Final = {"html": "HTML", "text": "text"}

Log = awrparse.AwrReport | sqlplusparse.Spool | pl.DataFrame


def describe(path: Path) -> str:
    r"""What the log at a path is; of a big one, by its beginning.

    Raises:
        LogParseError: If it is no known log.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "ora_4711.log"
    ...     _ = path.write_bytes(b"     0.000123 pread64(268, '', 8192, 0) = 8192\n")
    ...     describe(path)
    'strace log, 1 line'
    """
    size = path.stat().st_size
    if size <= _BIG:
        return describe_log(load(path))
    head = "\n".join(open_log(path).head(_HEAD)).encode()
    what = describe_log(load({"name": path.name, "content": head})).partition(",")[0]
    return f"{what}, {size / 2**20:,.0f} MiB"


def describe_log(log: Log) -> str:
    """What a loaded log is."""
    if isinstance(log, awrparse.AwrReport):
        release = f", release {log.info.release}" if log.info.release else ""
        kind, form = _KINDS.get(log.kind, f"{log.kind} report"), _FORMS.get(log.form, log.form)
        return f"{kind} ({form}){release}, {_counted(len(log.found), 'table')}"
    if isinstance(log, sqlplusparse.Spool):
        return f"SQL*Plus session, {_counted(log.statements.height, 'statement')}"
    if "kind" in log.columns:
        return f"strace log, {_counted(log.height, 'line')}"
    return f"strace -c summary, {_counted(log.height, 'call')}"


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def frames_of(log: Log) -> dict[str, pl.DataFrame]:
    """Every frame of a loaded log, by name.

    >>> list(frames_of(load(b"     0.000123 pread64(268, '', 8192, 0) = 8192")))
    ['events', 'calls', 'requests']
    """
    if isinstance(log, awrparse.AwrReport):
        return {name: log[name] for name in log.tables}
    if isinstance(log, sqlplusparse.Spool):
        names = ("statements", "timings", "autotrace", "statistics", "plans", "tables")
        return {**{name: getattr(log, name) for name in names}, "runs": log.runs()}
    if "kind" not in log.columns:
        return {"summary": log}
    found = straceparse.calls(log)
    return {"events": log, "calls": found, "requests": straceparse.io_requests(found)}
