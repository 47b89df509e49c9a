"""The tables of the reports of many databases, and the settings in which they differ.

    frames = report_frames("fleet", ["info", "foreground_events"], where=pl.col("db_name") == "HARBOR")
    iolab.evidence.read_timeline("fleet")      # as of a folder of reports
    differing_parameters("fleet")

Reports of the same period of an instance, such as the text and the HTML of one, count once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from awrparse import AwrFrames, read_awrs
from iolab.dataset.layout import concat
from iolab.dataset.reading import collected, diagnostics, scan, sources, status
from iolab.evidence.report_periods import INSTANCE, of_instances, once, periods
from logframe import DIAGNOSTICS
from logframe.errors import LogError

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

#: The format whose tables are queried.
_FORMAT: Final = "awr"
_ROOT: Final = "CDB$ROOT"


def report_frames(dest: str | os.PathLike[str], tables: Sequence[str], *, where: pl.Expr | None = None) -> AwrFrames:
    """Tables of the reports of a dataset, as `awrparse.read_awrs` gives those of files with ``printed=True``.

    Args:
        dest: The dataset.
        tables: Names of tables.
        where: Which rows; of the columns that a dataset has of every report: ``source``, ``part``, ``db_name``,
            ``db_id``, ``instance_name``, ``begin_snap_id``, ``end_snap_id``, ``begin_time``, ``end_time``,
            ``elapsed_s``.

    Raises:
        LogError: It is no dataset, or has no report.

    Returns:
        Each table, without rows where no report has it, and the diagnostics of the reports.
    """
    known = {name for name in status(dest).tables["table"] if name.startswith(f"{_FORMAT}/")}
    if f"{_FORMAT}/info" not in known:
        raise LogError(f"{dest} holds no report with the table info")
    # Without sources `read_awrs` gives each table without rows, but with its columns.
    empty = read_awrs([], table=list(tables), printed=True, workers=1).frames
    found = {name: _frame(dest, name, where) for name in {*tables, "info"} if f"{_FORMAT}/{name}" in known}
    frames = {
        name: concat([empty[name].lazy(), *([found[name].lazy()] if name in found else [])]).collect()
        for name in tables
    }
    reports = found["info"].select("report", "part")
    notes = [diagnostics(dest).join(reports, left_on="source", right_on="report", how="semi")]
    of_format = sources(dest).filter(pl.col("format").str.split(",").list.contains(_FORMAT)).select(report="source")
    fragments = of_format.join(reports, on="report", how="anti") if where is None else of_format.clear()
    for name, frame in frames.items():
        lacking = reports.join(frame, on=["report", "part"], how="anti").select(source="report")
        lacking = pl.concat([lacking, fragments.select(source="report")] if name == "info" else [lacking])
        fields = {"kind": pl.lit("missing"), "text": pl.lit(name), "source": pl.col("source")}
        fields["reason"] = pl.lit(f"the report has no table {name!r}")
        notes.append(
            lacking.select(fields.get(one, pl.lit(None)).cast(dtype).alias(one) for one, dtype in DIAGNOSTICS.items())
        )
    return AwrFrames(frames, pl.concat(notes))


def _frame(dest: str | os.PathLike[str], name: str, where: pl.Expr | None) -> pl.DataFrame:
    """A table with the columns of `awrparse.read_awrs`, in order of time."""
    lazy = scan(dest, f"{_FORMAT}/{name}")
    found = collected(dest, lazy if where is None else lazy.filter(where))
    own_id = {"table_db_id": "db_id"} if "table_db_id" in found.columns else {}
    return (
        found.drop("db_id")
        .rename({"source": "report", **own_id})
        .with_columns(pl.col("part").cast(pl.Int64))
        .sort("begin_time", "report", "part", nulls_last=True, maintain_order=True)
    )


def differing_parameters(dest: str | os.PathLike[str]) -> pl.DataFrame:
    """The initialization parameters whose values differ between instances, each by its last report.

    Values of single pluggable databases are left out.

    Args:
        dest: The dataset.

    Returns:
        ``parameter``, ``value`` (at the end of the report; null: the last report lists parameters, and not this one),
        ``instances`` (their number) and ``names`` (``database/instance``); the rarest value of a parameter first.  An
        instance whose last report has no list of parameters is in none: its settings are not known.

    Raises:
        LogError: It is no dataset, or has no reports with parameters.
    """
    frames = report_frames(dest, ["info", "parameters"]).frames
    known = once(periods(frames["info"])).sort("end_time").unique([*INSTANCE], keep="last", maintain_order=True)
    own = of_instances(frames["parameters"], known).filter(pl.col("pdb").fill_null(_ROOT) == _ROOT)
    listed = own.select(*INSTANCE, "parameter", value=pl.coalesce("end", "begin"))
    values = listed.group_by(*INSTANCE, "parameter", maintain_order=True).agg(
        pl.col("value").unique().sort().str.join(", ")
    )
    listing = values.select(INSTANCE).unique(maintain_order=True)
    every = listing.join(values.select("parameter").unique(maintain_order=True), how="cross")
    name = pl.concat_str(pl.col("db_name").fill_null("?"), pl.lit("/"), pl.col("instance_name").fill_null("?"))
    counted = (
        every.join(values, on=[*INSTANCE, "parameter"], how="left", nulls_equal=True, maintain_order="left")
        .group_by("parameter", "value", maintain_order=True)
        .agg(pl.len().cast(pl.Int64).alias("instances"), name.sort().alias("names"))
    )
    differs = pl.len().over("parameter") > 1
    return counted.filter(differs).sort("parameter", "instances", "value", maintain_order=True)
