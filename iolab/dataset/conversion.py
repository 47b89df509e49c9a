"""`convert`: logs of any number and size to a dataset."""

from __future__ import annotations

import json
import os
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from iolab.dataset.changing import writing
from iolab.dataset.executors import DaskCluster, Executor, Processes, Serial
from iolab.dataset.jobs import Settings
from iolab.dataset.layout import DESCRIPTION, VERSION, describe
from iolab.dataset.listing import list_files
from iolab.dataset.objects import open_store
from iolab.dataset.run import Run
from iolab.dataset.store import LOCK, STAGING, LocalStore
from logframe.errors import LogError
from logframe.limits import current

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from iolab.dataset.jobs import Converted, Progress
    from iolab.dataset.store import Store

#: Limit of time for one source, in seconds.
SECONDS: Final = 900.0
#: A larger log of a format that can be split is read in pieces of about this many bytes.
PIECE_BYTES: Final = 64 << 20


def convert(
    sources: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    dest: str | os.PathLike[str],
    *,
    executor: str | Executor = "processes",
    tables: Iterable[str] | None = None,
    since: date | None = None,
    resume: bool = False,
    retry: bool = False,
    seconds: float = SECONDS,
    progress: Callable[[Progress], object] | None = None,
) -> Converted:
    r"""Convert logs of every registered format to a dataset of Parquet files.

    What is committed stays, whatever happens afterwards; a run that was interrupted is continued with ``resume=True``,
    which converts what is new or has changed and nothing else.  Logs of the same content are converted once.  A log
    that cannot be read is a row of `sources`, and stops nothing.

    A script that uses processes needs ``if __name__ == "__main__":``, for each process imports it.

    Args:
        sources: Files, folders with all that is below them, patterns, archives, ``s3://bucket/prefix/``, ``@file`` (one
            source a line); or one of these.
        dest: Folder of the dataset, or ``s3://bucket/prefix``.
        executor: ``processes``, ``processes:4``, ``dask-local:4``, ``dask://host:port``, ``serial``, or an object with
            the methods of `iolab.dataset.executors.Executor`.
        tables: Names of the tables to write, such as ``foreground_events`` or ``awr/foreground_events``; None for all.
        since: Files that did not change since are left out; a `date` or `datetime`, UTC where it has no time zone.
        resume: Continue an existing dataset.
        retry: Also read again what was unreadable, killed or failed before.
        seconds: Limit of time for one source, or one piece of a large one; 0 for none.  Only an executor with processes
            of its own keeps it.
        progress: Called after each commit.

    Raises:
        LogNotFoundError: Nothing is at one of the sources.
        LogError: The dataset exists and `resume` is False, the folder holds something else, the dataset is of a newer
            version or was made with other tables, another run writes to it, or the executor is not known.
        OSError: The dataset cannot be written.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "ora_4711.log").write_bytes(b"     0.000123 pread64(268, '', 8192, 0) = 8192\n")
        ...     done = convert(Path(folder, "ora_4711.log"), Path(folder, "dataset"), executor="serial")
        >>> done.counts
        {'converted': 1}
    """
    named = [sources] if isinstance(sources, (str, os.PathLike)) else list(sources)
    store = open_store(dest)
    wanted = None if tables is None else sorted(set(tables))
    _check(store, wanted, resume=resume)
    with writing(store) as (writer, plan):
        if describe(store) is None:
            store.put(DESCRIPTION, json.dumps({"version": VERSION, "tables": wanted}).encode())
        _check(store, wanted, resume=True)
        outside = store.url if isinstance(store, LocalStore) else None
        plan.add_files(list_files(named, outside=outside), since=_microseconds(since))
        pool = open_executor(executor) if plan.counts(retry=retry)[1] else open_executor("serial")
        chosen = None if wanted is None else frozenset(wanted)
        settings = Settings(store, chosen, current(), seconds, PIECE_BYTES, pool.is_own_process, writer.run)
        try:
            run = Run(*(store, plan, pool, settings), writer=writer, retry=retry, progress=progress)
            run.go()
        finally:
            if pool is not executor:
                pool.close()
        return run.result()


def _check(store: Store, tables: list[str] | None, *, resume: bool) -> None:
    """Refuse a place that cannot be written to.

    Raises:
        LogError: With the reason.
    """
    if isinstance(store, LocalStore) and Path(store.root).is_file():
        raise LogError(f"{store.root} is a file: name a folder")
    known: dict[str, Any] | None = describe(store)
    if known is None:
        keys = (entry.key for entry in store.entries())
        first = next((key for key in keys if key != LOCK and not key.startswith(STAGING)), None)
        if first is not None:
            raise LogError(f"{store.url} is no dataset, and not empty (it holds {first}): name a new folder")
        return
    if not resume:
        raise LogError(f"{store.url} is a dataset: continue it with --resume (resume=True), or name a new folder")
    if known.get("tables") != tables:
        made = ", ".join(known["tables"]) if known.get("tables") else "all tables"
        raise LogError(f"{store.url} was made with {made}: continue it with the same tables, or name a new folder")


def _microseconds(since: date | None) -> int | None:
    if since is None:
        return None
    at = since if isinstance(since, datetime) else datetime(since.year, since.month, since.day, tzinfo=UTC)
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1e6)


def open_executor(text: str | Executor) -> Executor:
    """The executor of a description.

    Args:
        text: ``processes``, ``processes:4``, ``serial``, ``dask-local``, ``dask-local:4`` or ``dask://host:port``; or
            an `Executor`.

    Raises:
        LogError: It is not one of these.

    Examples:
        >>> open_executor("serial").workers
        1
    """
    if not isinstance(text, str):
        return text
    kind, _, rest = text.partition(":")
    if kind == "serial" and not rest:
        return Serial()
    if kind in {"processes", "dask-local"} and (not rest or (rest.isdecimal() and int(rest))):
        count = int(rest) if rest else None
        return Processes(count) if kind == "processes" else DaskCluster.local(count)
    if kind == "dask" and rest.startswith("//") and rest.rpartition(":")[2].isdecimal():
        return DaskCluster.at(f"tcp:{rest}")
    raise LogError(
        f"no executor {text!r}; there are processes, processes:N, serial, dask-local, dask-local:N and dask://HOST:PORT"
    )
