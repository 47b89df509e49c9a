"""Writing the files of one batch."""

from __future__ import annotations

import io
import tempfile
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.dataset.commits import DataFile
from iolab.dataset.layout import OWN_TABLES, SCHEMAS, SOURCES, concat, digest
from iolab.time_ledger.run import ledger_frame
from logframe import DIAGNOSTICS
from logframe.formats import formats
from logframe.parquet import physical, write_parquet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from iolab.dataset.jobs import Rewrite
    from iolab.dataset.store import Store
    from logframe.formats import ParsedLog

#: What each row of a table starts with; columns of these names get the prefix ``table_``.
PLACE: Final = pl.Schema({"source": pl.String(), "part": pl.Int32()})
#: The table of the accounts of time (`iolab.time_ledger.run.LEDGER_FRAME`).
_LEDGER: Final = "ledger"
#: Ids of the schemas that this process has written: run and id.
_WRITTEN: set[tuple[str, str]] = set()


@dataclass(frozen=True, slots=True)
class LogRows:
    """The rows of one log, by table.

    Attributes:
        order: What the log is sorted by among the logs of its batch.
        keys: Names of the columns that the dataset has put before those of the table.
        frames: Table -> its rows, with the columns of the dataset.
    """

    order: tuple[Any, ...]
    keys: tuple[str, ...]
    frames: dict[str, pl.LazyFrame]


def rows_of(
    log: ParsedLog, source: str, part: int, tables: frozenset[str] | None, *, is_large: bool = False
) -> LogRows:
    """The tables of a log as the dataset holds them.

    Each row starts with the source, the number of the log in it, and what the log says of itself
    (`Format.row_keys`: for a report its database, instance and period).  A column of a table that has the name of one
    of these gets the prefix ``table_``.  A log that is too large for memory, or a piece of one, has no ledger.
    """
    row_keys = formats()[log.format].row_keys
    own = None if row_keys is None else row_keys(log)
    keys: dict[str, Any] = {"source": source, "part": part, **({} if own is None else own.row(0, named=True))}
    types = {**PLACE, **({} if own is None else own.schema)}
    first = [pl.lit(value, dtype=types[name]).alias(name) for name, value in keys.items()]
    frames = {}
    wanted = {
        name: frame for name, frame in log.frames().items() if tables is None or tables & {name, f"{log.format}/{name}"}
    }
    if not is_large and (tables is None or tables & {_LEDGER, f"{log.format}/{_LEDGER}"}):
        wanted |= {_LEDGER: account} if (account := ledger_frame(log)).height else {}
    for name, frame in wanted.items():
        table = f"{log.format}/{name}"
        lazy = frame.lazy()
        schema = lazy.collect_schema()
        shown = [
            column.name.prefix("table_") if column.meta.output_name() in keys else column for column in physical(schema)
        ]
        frames[table] = lazy.select(shown).select(*first, pl.all())
    order = tuple((value is None, value) for name, value in keys.items() if name not in PLACE)
    return LogRows((log.format, *order, source, part), tuple(keys), frames)


class BatchWriter:
    """Gathers the rows of a batch, and writes one file a table.

    Args:
        store: The dataset.
        batch: Id of the batch.
        folder: For files that are not complete.
        run: Id of the run: a dataset may have been removed, and made again, since another one.

    Attributes:
        rows: Rows of the tables that were added.
    """

    def __init__(self, store: Store, batch: str, folder: Path, run: str) -> None:
        self.rows = 0
        self._run = run
        self._store = store
        self._batch = batch
        self._folder = folder
        self._logs: list[tuple[LogRows, dict[str, pl.DataFrame]]] = []
        self._sources: list[dict[str, Any]] = []
        self._diagnostics: list[pl.DataFrame] = []
        self._files: list[tuple[Path, DataFile]] = []
        self._kept: list[DataFile] = []
        self._count: defaultdict[str, int] = defaultdict(int)

    def mark(self) -> tuple[int, int, int]:
        """The state, for `reset`."""
        return len(self._logs), len(self._files), self.rows

    def reset(self, mark: tuple[int, int, int]) -> None:
        """Forget the rows that were added since."""
        logs, files, self.rows = mark
        del self._logs[logs:], self._files[files:]

    def add(self, log: LogRows, *, is_large: bool) -> int:
        """Add the rows of a log; how many they are.

        Args:
            log: Its rows.
            is_large: Write them at once, in bounded memory, each table to a file of its own.
        """
        count = 0
        if is_large:
            for table, frame in log.frames.items():
                file = self._new_file()
                rows = write_parquet(frame, file)
                self._add_file(file, table, rows, self._schema_id(frame.collect_schema(), log.keys))
                count += rows
        else:
            frames = {table: frame.collect() for table, frame in log.frames.items()}
            self._logs.append((log, frames))
            count = sum(frame.height for frame in frames.values())
        self.rows += count
        return count

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """A folder for what is needed within the block."""
        with tempfile.TemporaryDirectory(dir=self._folder) as name:
            yield Path(name)

    def add_source(self, row: dict[str, Any], diagnostics: pl.DataFrame) -> None:
        """Add what became of a source."""
        self._sources.append(row)
        self.add_diagnostics(row["source"], diagnostics)

    def add_diagnostics(self, source: str, diagnostics: pl.DataFrame) -> None:
        """Add what was not read of a source."""
        self._diagnostics.append(diagnostics.with_columns(source=pl.lit(source, pl.String)))

    def write(self) -> None:
        """Write one file a table, the logs in the order of what they say of themselves."""
        by_table: defaultdict[str, list[pl.DataFrame]] = defaultdict(list)
        keys: dict[str, tuple[str, ...]] = {}
        for log, frames in sorted(self._logs, key=lambda pair: _comparable(pair[0].order)):
            for table, frame in frames.items():
                by_table[table].append(frame)
                keys[table] = log.keys
        self._logs.clear()
        for table in list(by_table):
            frame = concat([one.lazy() for one in by_table.pop(table)]).collect()
            self.write_table(table, frame, keys[table])
        if self._sources:
            self.write_table("_sources", pl.DataFrame(self._sources, schema=SOURCES, orient="row"), ("source",))
        if self._diagnostics:
            notes = pl.concat([pl.DataFrame(schema=DIAGNOSTICS), *self._diagnostics])
            self.write_table("_diagnostics", notes, ("source",))

    def carry_over(self, rewrite: Rewrite) -> None:
        """Write the rows of a batch that is replaced, without those of the sources that are converted again."""
        sources = pl.concat([self._read(old) for old in rewrite.files if old.table == "_sources"])
        dropped = sources.get_column("source").is_in(list(rewrite.drop))
        if dropped.all():
            return
        have_rows = sources.filter(dropped & sources.get_column("status").is_in(["converted", "lost"])).height > 0
        for old in rewrite.files:
            if old.table not in OWN_TABLES and not have_rows:
                self._kept.append(old)
                continue
            rows = self._read(old)
            kept = rows.filter(~pl.col("source").is_in(list(rewrite.drop)))
            if old.table == "_sources" and rewrite.stamps:
                kept = _restamped(kept, rewrite.stamps)
            if old.table == "_sources" and rewrite.is_lost:
                is_lost = pl.col("status") == "converted"
                kept = kept.with_columns(status=pl.when(is_lost).then(pl.lit("lost")).otherwise("status"))
            self._write(old.table, kept, old.schema)

    def _read(self, file: DataFile) -> pl.DataFrame:
        return pl.read_parquet(io.BytesIO(self._store.read(file.key)))

    def write_table(self, table: str, frame: pl.DataFrame, keys: Sequence[str]) -> None:
        """Write a file of a table.

        Args:
            table: Its name.
            frame: Its rows.
            keys: Names of the columns that its rows are sorted by.
        """
        self._write(table, frame, self._schema_id(frame.schema, keys))

    def publish(self) -> tuple[DataFile, ...]:
        """Move the files to their places; they belong to the dataset when they are committed."""
        for file, entry in self._files:
            self._store.take(file, entry.key)
        return (*(entry for _, entry in self._files), *self._kept)

    def _write(self, table: str, frame: pl.DataFrame, schema: str) -> None:
        file = self._new_file()
        self._add_file(file, table, write_parquet(frame, file), schema)

    def _new_file(self) -> Path:
        self._count[""] += 1
        return self._folder / f"{self._count['']}.parquet"

    def _add_file(self, file: Path, table: str, rows: int, schema: str) -> None:
        self._count[table] += 1
        number = self._count[table]
        key = f"{table}/{self._batch}{f'-{number}' if number > 1 else ''}.parquet"
        self._files.append((file, DataFile(table, key, rows, file.stat().st_size, schema)))

    def _schema_id(self, schema: pl.Schema, keys: Sequence[str]) -> str:
        """The id of the columns, which are stored once, with the names of the keys."""
        name = digest([*schema.items(), *keys])
        if (self._run, name) not in _WRITTEN:
            data = io.BytesIO()
            pl.DataFrame(schema=schema).write_parquet(data, metadata={"keys": ",".join(keys)})
            self._store.put_new(f"{SCHEMAS}{name}.parquet", data.getvalue())
            _WRITTEN.add((self._run, name))
        return name


def _comparable(order: tuple[Any, ...]) -> tuple[Any, ...]:
    """The order with values that compare: a missing value stands last."""
    return tuple((one[0], "" if one[0] else one[1]) if isinstance(one, tuple) else one for one in order)


def _restamped(sources: pl.DataFrame, stamps: dict[str, tuple[str, int]]) -> pl.DataFrame:
    """The rows of sources, some of them with the stamp of a file that changed, but not its content."""
    new = pl.DataFrame(
        [(source, stamp, modified) for source, (stamp, modified) in stamps.items()],
        schema={"source": pl.String, "_stamp": pl.String, "_modified": pl.Int64},
        orient="row",
    )
    modified = pl.col("_modified").cast(SOURCES["modified"])
    return (
        sources.join(new, on="source", how="left", maintain_order="left")
        .with_columns(stamp=pl.coalesce("_stamp", "stamp"), modified=pl.coalesce(modified, "modified"))
        .drop("_stamp", "_modified")
    )
