"""Regular waits, calls and closes, cut at their equals signs.

A pattern of the grammar says that a line is regular (`sqltraceparse.sections`): its fields are all there, in order, and
no equals sign stands elsewhere.  Cutting at the equals signs gives the values, each followed by the name of the next.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from sqltraceparse.grammar import GRAMMAR
from sqltraceparse.schema import CALLS, WAITS

#: Columns of waits as they are printed, before they are given to calls.
RAW_WAITS: Final = pl.Schema(
    {
        name: WAITS[name]
        for name in (
            *("line", "cursor", "event", "elapsed_us", "p1_name", "p1", "p2_name", "p2", "p3_name", "p3"),
            *("object_id", "tim_us"),
        )
    }
)
#: Columns of calls as they are printed.
RAW_CALLS: Final = pl.Schema(
    {
        name: CALLS[name]
        for name in (
            *("line", "cursor", "op", "depth", "cpu_us", "elapsed_us", "disk_blocks", "consistent_gets"),
            *("current_gets", "rows", "misses", "goal", "plan_hash", "close_type", "lob_type", "lob_bytes", "tim_us"),
        )
    }
)
#: Field of a call, as printed -> its column.
FIELDS: Final = {
    "c": "cpu_us",
    "e": "elapsed_us",
    "p": "disk_blocks",
    "cr": "consistent_gets",
    "cu": "current_gets",
    "mis": "misses",
    "r": "rows",
    "dep": "depth",
    "og": "goal",
    "plh": "plan_hash",
    "type": "close_type",
    "bytes": "lob_bytes",
    "tim": "tim_us",
}

_PARTS: Final = pl.col("parts").struct


#: Digits of the longest number that is read at once, and of the second half of a longer one.
_MOST_DIGITS, _HALF = 18, 10


def waits(lines: pl.LazyFrame) -> pl.LazyFrame:
    """Regular waits (``line``, ``text``) as `RAW_WAITS`.

    Examples:
        >>> text = "WAIT #7: nam='db file sequential read' ela= 343 file#=4 block#=20 blocks=1 obj#=-1 tim=5793"
        >>> waits(pl.LazyFrame({"line": [1], "text": [text]})).collect().row(0)
        (1, 7, 'db file sequential read', 343, 'file#', 4, 'block#', 20, 'blocks', 1, -1, 5793)
    """
    parts = [_PARTS.field(f"field_{number}") for number in range(8)]
    ela, p1, p2, p3 = (pl.col(name).struct for name in ("ela", "p1", "p2", "p3"))
    return (
        lines.select("line", pl.col("text").str.split_exact("=", 7).alias("parts"))
        .select(
            "line",
            _number_of(parts[0]).alias("cursor"),
            parts[1].str.splitn("'", 3).struct.field("field_1").alias("event"),
            parts[2].str.strip_prefix(" ").str.splitn(" ", 2).alias("ela"),
            parts[3].str.splitn(" ", 2).alias("p1"),
            parts[4].str.splitn(" ", 2).alias("p2"),
            parts[5].str.splitn(" ", 2).alias("p3"),
            _before(parts[6], " ").alias("object_id"),
            parts[7].alias("tim_us"),
        )
        .select(
            "line",
            signed(pl.col("cursor")).alias("cursor"),
            "event",
            ela.field("field_0").cast(pl.Int64).alias("elapsed_us"),
            ela.field("field_1").alias("p1_name"),
            p1.field("field_0").cast(pl.Int64).alias("p1"),
            p1.field("field_1").alias("p2_name"),
            p2.field("field_0").cast(pl.Int64).alias("p2"),
            p2.field("field_1").alias("p3_name"),
            p3.field("field_0").cast(pl.Int64).alias("p3"),
            _whole("object_id"),
            _whole("tim_us"),
        )
    )


def calls(lines: pl.LazyFrame) -> pl.LazyFrame:
    """Regular calls (``line``, ``text``) as `RAW_CALLS`.

    Examples:
        >>> text = "FETCH #7:c=8,e=12,p=0,cr=1,cu=2,mis=0,r=15,dep=1,og=1,plh=138,tim=2942"
        >>> calls(pl.LazyFrame({"line": [1], "text": [text]})).collect().row(0)[:9]
        (1, 7, 'FETCH', 1, 8, 12, 0, 1, 2)
    """
    has_plan = _PARTS.field("field_11").is_not_null()
    part = {number: _PARTS.field(f"field_{number}") for number in range(12)}
    head = pl.col("head").struct
    return (
        lines.select("line", pl.col("text").str.split_exact("=", 11).alias("parts"))
        .select(
            "line",
            part[0].str.splitn(" #", 2).alias("head"),
            _before(part[1], ",").alias("cpu_us"),
            _before(part[2], ",").alias("elapsed_us"),
            _before(part[3], ",").alias("disk_blocks"),
            _before(part[4], ",").alias("consistent_gets"),
            _before(part[5], ",").alias("current_gets"),
            _before(part[6], ",").alias("misses"),
            _before(part[7], ",").alias("rows"),
            _before(part[8], ",").alias("depth"),
            _before(part[9], ",").alias("goal"),
            pl.when(has_plan).then(_before(part[10], ",")).alias("plan_hash"),
            pl.when(has_plan).then(part[11]).otherwise(part[10]).alias("tim_us"),
        )
        .with_columns(op=head.field("field_0"), cursor=_before(head.field("field_1"), ":"))
        .select(_typed(RAW_CALLS, missing={"close_type", "lob_type", "lob_bytes"}))
    )


def closes(lines: pl.LazyFrame) -> pl.LazyFrame:
    """Regular closes of cursors (``line``, ``text``) as `RAW_CALLS`."""
    part = {number: _PARTS.field(f"field_{number}") for number in range(6)}
    cut = lines.select("line", pl.col("text").str.split_exact("=", 5).alias("parts")).select(
        "line",
        pl.lit("CLOSE").alias("op"),
        _number_of(part[0]).alias("cursor"),
        _before(part[1], ",").alias("cpu_us"),
        _before(part[2], ",").alias("elapsed_us"),
        _before(part[3], ",").alias("depth"),
        _before(part[4], ",").alias("close_type"),
        part[5].alias("tim_us"),
    )
    there = {"line", "op", "cursor", "cpu_us", "elapsed_us", "depth", "close_type", "tim_us"}
    return cut.select(_typed(RAW_CALLS, missing=set(RAW_CALLS) - there))


def calls_and_closes(lines: pl.LazyFrame) -> pl.LazyFrame:
    """Regular calls and closes (``line``, ``text``) as `RAW_CALLS`, in their order."""
    is_close = GRAMMAR.matches(pl.col("text"), "^{CLOSE_START}$")
    parts = [calls(lines.filter(~is_close)), closes(lines.filter(is_close))]
    return pl.concat(parts).sort("line", maintain_order=True)


def lobs(lines: pl.LazyFrame) -> pl.LazyFrame:
    """Regular calls on LOBs (``line``, ``text``) as `RAW_CALLS`; they have no cursor and no depth."""
    pattern = (
        "^(?P<op>{LOB_CALL}): type=(?P<lob_type>{LOB_TYPE}),bytes=(?P<lob_bytes>[0-9]+),c=(?P<cpu_us>-?[0-9]+),"
        "e=(?P<elapsed_us>-?[0-9]+),p=(?P<disk_blocks>[0-9]+),cr=(?P<consistent_gets>[0-9]+),"
        "cu=(?P<current_gets>[0-9]+),tim=(?P<tim_us>[0-9]+)$"
    )
    cut = lines.select("line", GRAMMAR.groups(pl.col("text"), pattern).alias("parts")).unnest("parts")
    return cut.select(
        _typed(RAW_CALLS, missing={"cursor", "depth", "rows", "misses", "goal", "plan_hash", "close_type"})
    )


def _before(text: pl.Expr, mark: str) -> pl.Expr:
    """What stands before a separator."""
    return text.str.splitn(mark, 2).struct.field("field_0")


def _number_of(text: pl.Expr) -> pl.Expr:
    """The number of the cursor: what stands between a hash and a colon."""
    return _before(text.str.splitn("#", 2).struct.field("field_1"), ":")


def signed(text: pl.Expr) -> pl.Expr:
    """The number of a cursor: an address above 2^63, as Solaris prints, is that of its 64 bits with a sign.

    Examples:
        >>> pl.select(signed(pl.lit("18446744071495830240")), two=signed(pl.lit("140"))).row(0)
        (-2213721376, 140)
    """
    tail = text.str.slice(text.str.len_bytes() - _HALF, _HALF).cast(pl.Int64, strict=False)
    long = text.str.slice(0, text.str.len_bytes() - _HALF).cast(pl.Int64, strict=False) * 10**_HALF + tail
    return pl.when(text.str.len_bytes() > _MOST_DIGITS).then(long).otherwise(text.cast(pl.Int64, strict=False))


def signed_number(text: str) -> int:
    """The same of one number.

    Examples:
        >>> signed_number("18446744071495830240")
        -2213721376
    """
    return (int(text) + 2**63) % 2**64 - 2**63


def _whole(name: str) -> pl.Expr:
    return pl.col(name).cast(pl.Int64)


def _typed(schema: pl.Schema, *, missing: set[str]) -> list[pl.Expr]:
    """The columns of a schema from texts of the same names."""
    texts = {name: signed(pl.col(name)) if name == "cursor" else pl.col(name) for name in schema if name not in missing}
    return [texts.get(name, pl.lit(None)).cast(dtype).alias(name) for name, dtype in schema.items()]
