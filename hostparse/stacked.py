"""``iostat -D`` of AIX: four groups of figures under each disk, each with a heading of its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import polars as pl

from hostparse.clocks import Order
from hostparse.headings import Field, Heading
from hostparse.lines import GRAMMAR, TEXT, batches, kinds_of
from hostparse.runs import Run, Runs
from hostparse.sampling import PLACE
from hostparse.stored import Half, MemoryParts, Part, open_end
from hostparse.tables import Tables
from hostparse.tools import Metric
from logframe import Diagnostic

if TYPE_CHECKING:
    from logframe import Log

_B, _MS, _RATE = ("B/s", 1.0, "rate"), ("ms", 1.0, "time"), ("/s", 1.0, "rate")


def _direction(what: str, letter: str) -> dict[str, Metric]:
    """The columns of the group of reads or writes."""
    return {
        f"{letter}ps": Metric(f"{what}s_per_s", "/s", 1.0, "rate"),
        "avgserv": Metric(f"{what}_service_ms", "ms", 1.0, "time"),
        "minserv": Metric(f"{what}_service_min_ms", "ms", 1.0, "time"),
        "maxserv": Metric(f"{what}_service_max_ms", "ms", 1.0, "time"),
        "timeouts": Metric(f"{what}_timeouts", "1", 1.0, "count"),
        "fails": Metric(f"{what}_fails", "1", 1.0, "count"),
    }


_GROUPS: Final = {
    "xfer": {
        "%tm_act": Metric("util_percent", "%", 1.0, "share"),
        "bps": Metric("bytes_per_s", "B/s", 1.0, "rate"),
        "tps": Metric("transfers_per_s", "/s", 1.0, "rate"),
        "bread": Metric("read_bytes_per_s", "B/s", 1.0, "rate"),
        "bwrtn": Metric("write_bytes_per_s", "B/s", 1.0, "rate"),
    },
    "read": _direction("read", "r"),
    "write": _direction("write", "w"),
    "queue": {
        "avgtime": Metric("queue_ms", "ms", 1.0, "time"),
        "mintime": Metric("queue_min_ms", "ms", 1.0, "time"),
        "maxtime": Metric("queue_max_ms", "ms", 1.0, "time"),
        "avgwqsz": Metric("queued", "1", 1.0, "gauge"),
        "avgsqsz": Metric("in_flight", "1", 1.0, "gauge"),
        "sqfull": Metric("queue_full_per_s", "/s", 1.0, "rate"),
    },
}
#: IBM's units: thousands of bytes; seconds and hours where the column is in milliseconds.
_SUFFIXES: Final = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "S": 1e3, "H": 3.6e6}
_FIRST: Final = re.compile(GRAMMAR.pattern("^{CELL}{GAP}{FIRST_GROUP}{GAP}"))
_HEAD: Final = "^(?:(?P<device>{CELL}))?{GAP}(?P<group>{DISK_GROUP}):{GAP}(?P<words>.+)$"


def is_stacked(lines: list[str]) -> bool:
    """Whether some line begins the figures of a disk."""
    return any(_FIRST.match(line) for line in lines)


def read_stacked(log: Log) -> Tables:
    """The disks of ``iostat -D``: each is a row, with one column for each figure of its groups."""
    lines = pl.concat([batch.with_columns(kinds_of(batch)) for batch in batches(log)])
    # a blank line between a heading and its figures was added to the log
    heads = lines.filter(TEXT != "").with_columns(GRAMMAR.groups(TEXT, _HEAD).alias("head")).unnest("head")
    below = (TEXT.shift(-1).alias("below"), pl.col("line").shift(-1).alias("below_line"))
    heads = heads.with_columns(pl.col("device").forward_fill(), *below)
    found = heads.filter(pl.col("group").is_not_null())
    used = {*found.get_column("line"), *found.get_column("below_line")}
    unread = lines.filter(~pl.col("line").is_in(used) & pl.col("kind").cast(pl.String).is_in(["row", "words", "text"]))
    notes = [
        Diagnostic(log.name, line, None, "unparsed", text, "no figure of a disk")
        for line, text in unread.select("line", "text").iter_rows()
    ]
    # the first group of a disk begins it again
    again = (pl.col("group") == "xfer").cum_sum().over("device").cast(pl.UInt32).alias("sample")
    found = found.with_columns(again)
    parts = []
    for (group, words), rows in found.partition_by("group", "words", as_dict=True, maintain_order=True).items():
        part = _part(log.name, str(group), str(words).split(), rows, notes)
        if part is not None:
            parts.append(part)
    notes += open_end(log, parts, int(heads.item(-1, "line")))
    kinds = dict(lines.get_column("kind").cast(pl.String).value_counts().sort("kind").iter_rows())
    settings = [
        text.partition(":")[2].strip()
        for text in lines.filter(pl.col("kind").cast(pl.String) == "configuration").get_column("text")
    ]
    runs = Runs((Run(0, 1, system="AIX", settings=settings[0] if settings else None),), Order("mdy", is_assumed=False))
    notes.sort(key=lambda note: note.line or 0)
    return Tables(MemoryParts(parts), runs, kinds, tuple(notes))


def _part(name: str, group: str, words: list[str], rows: pl.DataFrame, notes: list[Diagnostic]) -> Part | None:
    cells = rows.get_column("below").str.strip_chars().str.extract_all(r"[^ \t]+").alias("cells")
    rows = rows.with_columns(cells)
    is_ambiguous = len(set(words)) < len(words)
    fits = (pl.col("cells").list.len() == len(words)).fill_null(value=False) & pl.lit(not is_ambiguous)
    reason = f"{'the heading names a column twice' if is_ambiguous else 'does not fit its heading'}: {' '.join(words)}"
    for line, text in rows.filter(~fits).select(pl.coalesce("below_line", "line"), "below").iter_rows():
        notes.append(Diagnostic(name, line, None, "unparsed", text, reason))
    rows = rows.filter(fits)
    if rows.is_empty():
        return None
    fields = [Field("device", group, None)]
    columns = [rows.get_column("device")]
    halves: dict[str, Half] = {}
    for number, word in enumerate(words):
        metric = _GROUPS[group].get(word) or Metric(f"{group} {word}", None, 1.0, "unknown", is_known=False)
        part = GRAMMAR.groups(pl.col("cell"), "^(?P<number>{PLAIN})(?P<unit>{POWER})?$").struct
        scale = part.field("unit").replace_strict(_SUFFIXES, default=1.0, return_dtype=pl.Float64)
        number_text = part.field("number")
        places = number_text.str.len_chars().cast(pl.Int64) - number_text.str.find(".", literal=True).cast(pl.Int64) - 1
        exact = metric.basis == "count"
        half = (
            pl.when(pl.lit(exact) & places.is_null())
            .then(0.0)
            .otherwise(0.5 * scale * 0.1 ** places.fill_null(0).cast(pl.Float64))
        )
        read = rows.select(cell=pl.col("cells").list.get(number)).select(
            "cell", (number_text.cast(pl.Float64) * scale).alias("value"), half.alias("half")
        )
        notes += [
            Diagnostic(name, rows.item(row, "below_line"), None, "no_value", cell, f"no figure under {word}")
            for row, cell in read.with_row_index().filter(pl.col("value").is_null()).select("index", "cell").iter_rows()
        ]
        fields.append(Field(metric.name, word, metric))
        columns.append(read.get_column("value").alias(metric.name))
        halves[metric.name] = read.get_column("half")
    place = rows.select(
        pl.col("below_line").alias("line"),
        pl.lit(0).alias("run"),
        "sample",
        (pl.col("sample") == 1).alias("is_since_boot"),
        pl.lit(None).alias("interval_start"),
        pl.lit(None).alias("interval_end"),
        pl.lit(None).alias("time_of_day"),
        pl.lit(False).alias("is_average"),
    )
    place = place.select(pl.col(column).cast(dtype) for column, dtype in PLACE.items())
    heading = Heading("iostat", "device", tuple(fields), False, False, False, None, False)
    return Part(heading, place.with_columns(columns), halves)
