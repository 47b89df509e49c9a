"""`iolab.sql`: SQL over the tables of logs, or of a dataset."""

from __future__ import annotations

import re
import warnings
from functools import partial
from os import PathLike, fspath
from typing import TYPE_CHECKING

import polars as pl

from awrparse.tables import VIEWS
from iolab.dataset.layout import is_dataset
from iolab.loading import as_log
from iolab.sources import find_logs, is_one
from iolab.time_ledger.run import ledger_frame
from logframe.errors import LogError
from logframe.parsed_log import near

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from iolab.sources import NamedLog, Places
    from logframe.formats import ParsedLog


def sql(query: str, logs: Places, *, say: Callable[[str], object] = warnings.warn) -> pl.DataFrame:
    """The result of a query in SQL over the tables of logs, or of a dataset (Polars SQL).

    Args:
        query: Such as ``SELECT event, total_wait_s FROM top_events ORDER BY 2 DESC``; ``SHOW TABLES`` lists the tables.
        logs: A log or several, as for `iolab.findings`, or the folder of a dataset (`iolab.dataset`).
        say: Takes a line for each log of several that could not be read: its place and the reason.

    Returns:
        The rows.  The tables are the frames of the log, its ``ledger`` and its ``diagnostics``; those of several logs
        have the log's name before each row, in ``source``.  Those of a dataset are called by their own name, and with
        that of their format before it (``awr_top_events``).

    Raises:
        LogError: The query is not valid, or names a table or a column that is not there; the message lists those that
            are.  Or none of several logs could be read.
        LogParseError: The only log is no known log.
        LogNotFoundError: Nothing is at the path.

    Examples:
        >>> log = b"     0.000123 pread64(268, '', 8192, 0) = 8192"
        >>> sql("SELECT syscall, count(*) AS calls FROM calls GROUP BY syscall", log).rows()
        [('pread64', 1)]
        >>> sql("SELECT * FROM call", log)
        Traceback (most recent call last):
        logframe.errors.LogError: there is no table call: did you mean calls? There are calls, diagnostics, events,
        ledger, requests
    """
    words = {word.lower() for word in re.findall(r"\w+", query)}
    tables = _tables(logs, words, say)
    wanted = {name for name in tables if name.lower() in words or {"show", "tables"} <= words}
    try:
        with pl.SQLContext({name: tables[name]() for name in sorted(wanted)}) as context:
            return context.execute(query, eager=True)
    except pl.exceptions.PolarsError as error:
        raise LogError(_explained(str(error), tables, wanted)) from error


def _explained(said: str, tables: dict[str, Callable[[], pl.LazyFrame]], wanted: set[str]) -> str:
    """What is wrong with a query, and the names that there are."""
    listed = ", ".join(sorted(tables)) or "none"
    if missing := re.search(r"relation '(.+?)' was not found", said):
        name = missing.group(1)
        close = near(name, tables)
        return f"there is no table {name}: did you mean {close}? There are {listed}"
    columns = "; ".join(f"{name} has {', '.join(tables[name]().collect_schema())}" for name in sorted(wanted))
    return f"the query cannot be run: {said.partition(chr(10))[0]}. " + (columns or f"The tables are {listed}")


def _read(named: Sequence[NamedLog], say: Callable[[str], object]) -> dict[str, ParsedLog]:
    """The logs by name; of several, those that can be read."""
    from iolab.pages.sections import reason_of, refuse_empty  # noqa: PLC0415 - only where a log cannot be read

    found: dict[str, ParsedLog] = {}
    failed: list[str] = []
    for one in named:
        try:
            found[one.name] = as_log(one.source)
        except Exception as error:
            if len(named) == 1:
                raise
            failed.append(f"{one.place}: {reason_of(error, one.place, given=len(named))}")
    refuse_empty(failed, len(named))
    for line in failed:
        say(line)
    return found


def _tables(logs: Places, words: set[str], say: Callable[[str], object]) -> dict[str, Callable[[], pl.LazyFrame]]:
    """The tables by name, each made when a query names it."""
    if isinstance(logs, (str, PathLike)) and is_dataset(fspath(logs)):
        return _of_dataset(fspath(logs), words)
    if not (named := find_logs(logs)):
        raise LogError("no log was given")
    is_single = is_one(logs) and len(named) == 1
    found: dict[str, list[Callable[[], pl.LazyFrame]]] = {}
    for source, log in _read(named, say).items():
        frames: dict[str, Callable[[], pl.LazyFrame]] = {name: frame.lazy for name, frame in log.frames().items()}
        frames |= {"ledger": partial(_ledger, log), "diagnostics": log.diagnostics.lazy}
        frames |= {word: log[word].lazy for word in words - frames.keys() if word in log}  # a view of a report
        for name, frame in frames.items():
            found.setdefault(name, []).append(frame if is_single else _with_source(frame, source))
    return {name: partial(_together, parts) for name, parts in found.items()}


def _ledger(log: ParsedLog) -> pl.LazyFrame:
    return ledger_frame(log).lazy()


def _with_source(frame: Callable[[], pl.LazyFrame], source: str) -> Callable[[], pl.LazyFrame]:
    return lambda: frame().select(pl.lit(source).alias("source"), pl.all().exclude("source"))


def _together(parts: list[Callable[[], pl.LazyFrame]]) -> pl.LazyFrame:
    frames = [part() for part in parts]
    return frames[0] if len(frames) == 1 else pl.concat(frames, how="diagonal_relaxed")


def _of_dataset(dataset: str, words: set[str]) -> dict[str, Callable[[], pl.LazyFrame]]:
    from iolab import dataset as datasets  # noqa: PLC0415 - wanted for datasets only

    names = datasets.status(dataset).tables.get_column("table").to_list()
    short = [name.rpartition("/")[2] for name in names]
    found: dict[str, Callable[[], pl.LazyFrame]] = {}
    for name, own in zip(names, short, strict=True):
        for called in (name.replace("/", "_"), *([own] if short.count(own) == 1 else [])):
            found[called] = partial(datasets.scan, dataset, name)
    for view in words & VIEWS.keys() if "awr/sql" in names else ():
        found[view] = partial(_of_order, dataset, VIEWS[view][1])
    return found


def _of_order(dataset: str, order: str) -> pl.LazyFrame:
    from iolab import dataset as datasets  # noqa: PLC0415 - wanted for datasets only

    return datasets.scan(dataset, "awr/sql").filter(pl.col("ordered_by") == order)
