"""AWR-Miner: what the repository knows of a database and its host, snapshot by snapshot, as its script spools it.

The file is a spool of results between marks (``~~BEGIN-MAIN-METRICS~~``); `read_awr_miner` reads it as a session and
makes time series of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from logframe import Diagnostic, diagnostics_frame
from logframe.formats import Format, Sniff
from logframe.parsed_log import ParsedLog
from logframe.printed import printed_columns
from logframe.wording import counted
from sqlplusparse.lines import COMMANDS, GRAMMAR, SECTION_MARKS, Pattern

if TYPE_CHECKING:
    from logframe import Source
    from logframe.formats import Head
    from logframe.provenance import Part
    from sqlplusparse.reader import Spool

#: Columns of `AwrMiner.snapshots`: the end has minutes, and neither a zone.
SNAPSHOTS: Final = pl.Schema(
    {
        "line": pl.UInt32(),
        "snap": pl.Int64(),
        "instance": pl.Int64(),
        "interval_start": pl.Datetime("us"),
        "interval_end": pl.Datetime("us"),
        "duration_s": pl.Float64(),
    }
)
#: Columns of `AwrMiner.series`: one row a figure.
SERIES: Final = pl.Schema(
    {
        "line": pl.UInt32(),
        "section": pl.String(),
        "snap": pl.Int64(),
        "instance": pl.Int64(),
        "interval_start": pl.Datetime("us"),
        "interval_end": pl.Datetime("us"),
        "subject": pl.String(),
        "metric": pl.String(),
        "value": pl.Float64(),
        "value_lo": pl.Float64(),
        "value_hi": pl.Float64(),
        "printed": pl.String(),
    }
)
#: Columns of `AwrMiner.labels`: the texts of a line, such as the module of a statement; `SERIES` has its figures.
LABELS: Final = pl.Schema({"line": pl.UInt32(), "section": pl.String(), "label": pl.String(), "text": pl.String()})
#: Columns of `AwrMiner.settings`: facts of the host and the database, and its initialization parameters.
SETTINGS: Final = pl.Schema({"line": pl.UInt32(), "section": pl.String(), "name": pl.String(), "text": pl.String()})
_MAIN: Final = "MAIN-METRICS"
#: Sections of names and values without a snapshot.
_NAMED: Final = frozenset({"OS-INFORMATION", "DATABASE-PARAMETERS", "DATABASE-PARAMETERS2"})
#: What a line of figures prints, in order; the length of an interval in minutes.
_PRINTED: Final = {
    "snapshots": {"snap": 1.0, "duration_s": 60.0, "interval_end": 1.0, "instance": 1.0},
    "series": {"snap": 1.0, "instance": 1.0, "value": 1.0},
}
_SNAPS: Final = frozenset({"snap", "snap_id"})
_INSTANCES: Final = frozenset({"inst", "instance_number", "inst_id"})
#: What a figure of a line is about: the first of these columns that the section has.
_SUBJECTS: Final = ("sql_id", "event_name", "function_name", "object_type", "wait_class")
#: Columns of figures that name something, of which no sum or mean is taken.
_NAMES: Final = frozenset({"plan_hash", "plan_hash_value"})
#: A column is one of texts where more than this share of its cells are no figures.
_MOST_UNREAD: Final = 0.5
_STAMP: Final = "%y/%m/%d %H:%M"
_DECIMAL_COMMA: Final = Pattern("{DECIMAL_COMMA}", COMMANDS)
_SIGN: Final = Pattern("(?m)^{SECTION_BEGIN}[A-Z]", GRAMMAR)


class AwrMiner(ParsedLog):
    """A file of AWR-Miner.

    Attributes:
        format: ``awr_miner``.
        kind: ``awr_miner``.
        source: name of the file.
        snapshots: `SNAPSHOTS`.
        series: `SERIES`: ``metric`` is the heading in small letters, ``subject`` the event, object type, function or
            statement that the figure is about, null for the whole database or host.  Averages of the main metrics are
            over the snapshot, those with ``_max`` are the largest minute.
        labels: `LABELS`.
        settings: `SETTINGS`.
        diagnostics: what was not read.
    """

    format: Final = "awr_miner"
    kind: Final = "awr_miner"
    source: str
    diagnostics: pl.DataFrame

    def __init__(self, spool: Spool, frames: dict[str, pl.DataFrame]) -> None:
        self.source = spool.source
        self.spool = spool
        self.snapshots = frames["snapshots"]
        self.series = frames["series"]
        self.labels = frames["labels"]
        self.settings = frames["settings"]
        overflowed = pl.col("printed").str.strip_chars("#") == ""  # the session's own diagnostics name these
        unread = self.series.filter(pl.col("value").is_null() & ~overflowed)
        notes = [
            Diagnostic(self.source, line, None, "damaged", printed, f"{printed!r} is no figure of {metric}")
            for line, metric, printed in unread.select("line", "metric", "printed").rows()
        ]
        self.diagnostics = pl.concat([spool.diagnostics, diagnostics_frame(notes)]).sort("line", maintain_order=True)

    def frames(self) -> dict[str, pl.DataFrame]:
        """The frames `snapshots`, `series`, `labels` and `settings`."""
        return {name: getattr(self, name) for name in ("snapshots", "series", "labels", "settings")}

    def setting(self, name: str) -> str | None:
        """A fact of the host or the database, such as ``DB_NAME``; None where the file has none of this name."""
        found = self.settings.filter(pl.col("name") == name).get_column("text")
        return found.item(0) if found.len() else None

    def describe(self) -> str:
        """What the file is, in a few words."""
        database = self.setting("DB_NAME")
        of = f" of {database}" if database else ""
        return f"AWR-Miner{of}, {counted(self.snapshots.height, 'snapshot')}"


def read_awr_miner(source: Source) -> AwrMiner:
    r"""A file of AWR-Miner (``awr-hist-*.out``) as time series.

    Args:
        source: a path, bytes, a file object; compressed or not.

    Raises:
        LogParseError: the file has no section.

    Examples:
        >>> log = read_awr_miner(
        ...     b"~~BEGIN-MAIN-METRICS~~\n\n      snap      dur_m end                  inst     os_cpu\n"
        ...     b"---------- ---------- -------------- ---------- ----------\n"
        ...     b"       100         60 14/10/13 13:26          1         ,4\n\n~~END-MAIN-METRICS~~\n"
        ... )
        >>> log.series.select("snap", "metric", "value", "interval_start").rows()
        [(100, 'os_cpu', 0.4, datetime.datetime(2014, 10, 13, 12, 26))]
    """
    from sqlplusparse.reader import read_spool  # noqa: PLC0415 - readers are imported on use

    spool = read_spool(source)
    tables = [
        (section, spool.table_cells(table))
        for table, title in enumerate(spool.tables.get_column("title"), 1)
        if (section := str(title or "").removeprefix(SECTION_MARKS[0]).rstrip("~"))
        and title.startswith(SECTION_MARKS[0])
    ]
    texts = (text for _, frame in tables for text in pl.concat_list(frame.columns[1:]).pipe(_texts, frame))
    decimal = "," if any(_DECIMAL_COMMA.fullmatch(text) for text in texts) else "."
    return AwrMiner(spool, _series([(section, _named(frame)) for section, frame in tables], decimal))


def _texts(cells: pl.Expr, frame: pl.DataFrame) -> list[str]:
    return frame.select(cells.explode()).to_series().drop_nulls().to_list()


def _named(frame: pl.DataFrame) -> pl.DataFrame:
    """The cells under their headings in small letters; blank ones null."""
    frame = frame.rename({name: name.lower() for name in frame.columns})
    return frame.with_columns(pl.col(pl.String).replace("", None))


def _series(tables: list[tuple[str, pl.DataFrame]], decimal: str) -> dict[str, pl.DataFrame]:
    snapshots = [pl.DataFrame(schema=SNAPSHOTS)]
    series, labels = [pl.DataFrame(schema=SERIES)], [pl.DataFrame(schema=LABELS)]
    settings = [pl.DataFrame(schema=SETTINGS)]
    for section, cells in tables:
        columns = cells.columns[1:]
        if section in _NAMED or not _SNAPS.union(_SUBJECTS).intersection(columns):
            if len(columns) == 2:
                named = cells.select("line", section=pl.lit(section), name=columns[0], text=columns[1])
            else:
                named = cells.unpivot(index="line", variable_name="name", value_name="text")
                named = named.with_columns(section=pl.lit(section))
            settings.append(_of(named, SETTINGS))
            continue
        keys = {"snap": _key(columns, _SNAPS), "instance": _key(columns, _INSTANCES)}
        table = cells.with_columns(key.cast(pl.Int64, strict=False).alias(name) for name, key in keys.items())
        if section == _MAIN:
            snapshots.append(_snapshots(table, decimal))
        subject = next((name for name in _SUBJECTS if name in columns), None)
        given = {*_SNAPS, *_INSTANCES, *_NAMES, "end", "dur_m", subject}
        rest = [name for name in columns if name not in given]
        index = ["line", "snap", "instance", "subject"]
        long = table.with_columns(subject=pl.lit(None, pl.String) if subject is None else pl.col(subject))
        long = long.unpivot(rest, index=index, variable_name="metric", value_name="printed").drop_nulls("printed")
        long = long.with_columns(printed_columns("printed", name="value", bounds=True, rounded=True, decimal=decimal))
        unread = long.group_by("metric").agg(pl.col("value").is_null().mean())
        texts = unread.filter(pl.col("value") > _MOST_UNREAD).get_column("metric")
        is_text = pl.col("metric").is_in(texts.implode())
        series.append(_of(long.filter(~is_text).with_columns(section=pl.lit(section)), SERIES))
        ids = [name for name in columns if name in _NAMES]
        of_text = [long.filter(is_text).select("line", label="metric", text="printed")]
        of_text += [table.select("line", label=pl.lit(name), text=name) for name in ids]
        labels += [_of(one.with_columns(section=pl.lit(section)), LABELS) for one in of_text]
    ends = pl.concat(snapshots)
    return {
        "snapshots": ends,
        "series": _timed(pl.concat(series), ends),
        "labels": pl.concat(labels),
        "settings": pl.concat(settings),
    }


def _key(columns: list[str], names: frozenset[str]) -> pl.Expr:
    return next((pl.col(name) for name in columns if name in names), pl.lit(None, pl.String))


def _of(frame: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    """A frame with the columns of a schema; those that it has not are null."""
    columns: dict[str, Any] = {name: pl.col(name) if name in frame.columns else pl.lit(None) for name in schema}
    return frame.select(column.cast(schema[name]).alias(name) for name, column in columns.items())


def _snapshots(table: pl.DataFrame, decimal: str) -> pl.DataFrame:
    minutes = table.select(printed_columns("dur_m", decimal=decimal)).to_series()
    ends = table.select(
        "line",
        "snap",
        "instance",
        interval_end=pl.col("end").str.to_datetime(_STAMP, strict=False),
        duration_s=60 * minutes,
    )
    start = pl.col("interval_end") - pl.duration(seconds="duration_s")
    return _of(ends.with_columns(interval_start=start), SNAPSHOTS)


def _timed(series: pl.DataFrame, ends: pl.DataFrame) -> pl.DataFrame:
    """Figures with the time of their snapshot: of their instance, else of the first instance that has it."""
    times = ends.select("snap", "instance", "interval_start", "interval_end")
    any_instance = times.group_by("snap", maintain_order=True).first().drop("instance")
    bare = series.drop("interval_start", "interval_end")
    own = bare.join(times.unique(["snap", "instance"]), on=["snap", "instance"], how="left", maintain_order="left")
    found = own.join(any_instance, on="snap", how="left", maintain_order="left", suffix="_any")
    is_whole = pl.col("instance").is_null()
    return found.with_columns(
        pl.when(is_whole).then(f"{name}_any").otherwise(name).alias(name) for name in ("interval_start", "interval_end")
    ).select(series.columns)


def sniff(head: Head) -> Sniff | None:
    """Whether a log has a section of AWR-Miner."""
    found = _SIGN.search(head.text)
    return (
        None
        if found is None
        else Sniff(0.97, "sections of AWR-Miner", line=head.text.count("\n", 0, found.start()) + 1)
    )


def places(parsed: AwrMiner, source: Source) -> list[Part]:
    """Which figures came from which lines."""
    from logframe import open_log  # noqa: PLC0415 - wanted by few
    from logframe.provenance import by_line, is_tabular  # noqa: PLC0415

    text = "\n".join(open_log(source).lines())
    frames = parsed.frames()
    return [by_line(text, frames, _PRINTED, once=["snap", "instance"], is_row=is_tabular)]


FORMAT: Final = Format(name="awr_miner", title="a file of AWR-Miner", sniff=sniff, read=read_awr_miner, places=places)
