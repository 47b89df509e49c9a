"""Other programs read the files of a dataset: DuckDB and pandas give the same rows as Polars."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import pandas as pd
import polars as pl
import pytest
from dataset_logs import write_logs

from iolab import dataset
from iolab.dataset import worker

if TYPE_CHECKING:
    from pathlib import Path

    from iolab.dataset.writer import LogRows
    from logframe.formats import ParsedLog


@pytest.fixture(scope="module")
def dest(tmp_path_factory: pytest.TempPathFactory, sample_data: Path) -> Path:
    """A dataset of reports, traces and sessions."""
    folder = tmp_path_factory.mktemp("engines")
    write_logs(folder / "logs", 8)
    reports = sorted((sample_data / "awr_series").glob("*"))[:2]
    places = [folder / "logs", *reports, *sorted((sample_data / "sqltrace").glob("*.trc"))]
    dataset.convert(places, folder / "dataset", executor="serial")
    return folder / "dataset"


def test_every_table_is_read_by_duckdb(dest: Path) -> None:
    """All tables, all columns: the counts of values and the sums of numbers agree."""
    for table in dataset.status(dest).tables["table"]:
        frame = dataset.scan(dest, table).collect()
        files = f"{dest}/{table}/*.parquet"
        found = duckdb.sql(f"select * from read_parquet('{files}', union_by_name = true)")  # noqa: S608 - a constant

        assert found.columns == frame.columns
        counted = ", ".join(f'count("{name}")' for name in frame.columns)
        assert found.aggregate(counted).fetchall()[0] == tuple(frame.select(pl.all().count()).row(0))
        for name in frame.select(pl.selectors.integer()).columns:
            total = found.aggregate(f'sum("{name}")::BIGINT').fetchall()[0]
            assert total == (frame[name].sum() if frame[name].count() else None,)


def test_times_and_durations_in_duckdb(dest: Path) -> None:
    """A duration is nanoseconds, and a time is a timestamp, to the microsecond."""
    events = dataset.scan(dest, "strace/events").sort("source", "line").head(1).collect()
    query = f"""
        select elapsed_ns, wall::timestamptz at time zone 'UTC'
        from read_parquet('{dest}/strace/events/*.parquet') order by source, line limit 1
    """  # noqa: S608 - a constant
    elapsed, wall = duckdb.sql(query).fetchall()[0]

    assert elapsed == events.item(0, "elapsed_ns")
    assert wall == events["wall"].dt.cast_time_unit("us").dt.replace_time_zone(None).item()


def test_every_table_is_read_by_pandas(dest: Path) -> None:
    """All tables: shapes, names and numbers agree."""
    for table in dataset.status(dest).tables["table"]:
        frame = dataset.scan(dest, table).collect()
        found = pd.concat([pd.read_parquet(path) for path in sorted((dest / table).glob("*.parquet"))])

        assert found.shape == frame.shape
        assert list(found.columns) == frame.columns
        for name in frame.select(pl.selectors.integer()).columns:
            assert found[name].sum() == frame[name].sum()


def test_files_of_two_versions_in_duckdb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files with fewer and with more columns are united by name."""
    write_logs(tmp_path / "logs", 6)
    real = worker.rows_of

    def rows_of(found: ParsedLog, source: str, part: int, tables: frozenset[str] | None, *, is_large: bool) -> LogRows:
        rows = real(found, source, part, tables, is_large=is_large)
        frames = {table: frame.drop("errno", strict=False).with_columns(more=1) for table, frame in rows.frames.items()}
        return type(rows)(rows.order, rows.keys, frames)

    dest = tmp_path / "dataset"
    dataset.convert(tmp_path / "logs" / "host0", dest, executor="serial", tables=["events"])
    monkeypatch.setattr(worker, "rows_of", rows_of)
    dataset.convert(tmp_path / "logs" / "host1", dest, executor="serial", tables=["events"], resume=True)
    query = f"select count(*), count(more) from read_parquet('{dest}/strace/events/*', union_by_name = true)"  # noqa: S608 - a constant
    events = dataset.scan(dest, "events").select(pl.len(), pl.col("more").count()).collect()

    assert 0 < events.row(0)[1] < events.row(0)[0]
    assert duckdb.sql(query).fetchall()[0] == events.row(0)
