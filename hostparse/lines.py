"""Lines of the tables that sampling tools print, and the kind of each."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

import polars as pl

from logframe import Diagnostic, load_grammar
from logframe.copied import REPEATED
from logframe.normalize import without_terminal_codes_expr
from logframe.source import batches_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from logframe import Log
    from logframe.classify import Classifier

GRAMMAR: Final = load_grammar("hostparse", "line.lark", "line", "cells", "human")
OPENING: Final = load_grammar(
    "hostparse", "opening.lark", "start", "banner", "zzz", "exawatcher", "field", "osw", "configuration", "restart"
)
NMON: Final = load_grammar("hostparse", "nmon.lark", "line", "parts", "time_of_tick", "cells", "counted", "table")

#: Each kind of line and the terminals that recognise it; the first that matches counts.
_KINDS: Final = {
    "blank": (),
    "collector": ("COLLECTOR_RULE", "COLLECTOR_FIELD", "OSW_HEAD"),
    "opening": ("OPENING",),
    "restart": ("RESTART",),
    "stamp": ("TIME_STAMP", "DATE_STAMP", "LONG_STAMP", "EPOCH_STAMP"),
    "banner": ("BANNER",),
    "configuration": ("CONFIGURATION",),
    "notice": ("NOTICE",),
    "ruler": ("RULER",),
    "words": ("WORDS",),
    "average": ("AVERAGE",),
    "clock_alone": ("CLOCK_ALONE",),
    "row": ("ROW",),
}
#: Template of a line -> its kind; the first that matches counts.  Most rows begin with a word that no other line has.
_RULES: Final = {
    **{"|".join(f"{{{name}}}" for name in names): kind for kind, names in _KINDS.items() if kind != "row"},
    "{ROW_START}{GAP}.*": "row",
    "{ROW}": "row",
}
#: The kinds of lines; ``text`` is a line that no rule accepts.
KINDS: Final = (*_KINDS, "text")
#: Lines that start a run: what follows has counters, a date and a host of its own.
OPENS: Final = ("opening", "banner", "restart", "collector")
TEXT: Final = pl.col("text")
KIND: Final = pl.Enum(KINDS)
#: So many bytes of text are in memory at a time.
BATCH_BYTES: Final = 8 << 20


def is_kind(*kinds: str) -> pl.Expr:
    """Whether a line is of one of some kinds, by the codes of the column ``kind``: no text is made of it."""
    code = pl.col("kind").to_physical()
    return pl.any_horizontal(code == KINDS.index(kind) for kind in kinds)


def batches(log: Log) -> Iterator[pl.DataFrame]:
    """The lines of a log, some megabytes at a time.

    Returns:
        ``line`` (UInt32, from 1), ``text`` (without carriage return, blanks at its end and colours).
    """
    for lines in batches_of(log.scan(name="text", row_index_name="line"), BATCH_BYTES):
        text = lines.get_column("text")
        if any(text.str.ends_with(end).any() for end in " \t\r"):
            text = text.str.strip_chars_end(" \t\r")
        if text.str.contains("\x1b", literal=True).any():
            text = pl.select(without_terminal_codes_expr(pl.lit(text)).str.strip_chars_end(" \t")).to_series()
        yield lines.with_columns(text.alias("text"))


def repeated_rows(name: str, rows: pl.DataFrame) -> list[Diagnostic]:
    """Diagnostics about rows that are those right above them once more: pasted or printed twice.

    Args:
        name: of the log.
        rows: ``line`` and ``text``.
    """
    is_again = (pl.col("line").diff() == 1) & (TEXT.shift() == TEXT)
    found = rows.filter(is_again)
    return [Diagnostic(name, line, None, "repeated_row", text, REPEATED) for line, text in found.iter_rows()]


def with_own_text(lines: pl.DataFrame) -> pl.DataFrame:
    """Few lines with a copy of their text: a filtered column holds on to the text of all lines."""
    return lines.with_columns(pl.Series("text", lines.get_column("text").to_list(), dtype=pl.String))


def kinds_of(lines: pl.DataFrame) -> pl.Series:
    """The kind of each line of a batch."""
    kinds = pl.Series([*_RULES.values(), None], dtype=pl.String)
    tags = _classifier().kinds_of(lines.get_column("text")).to_physical()
    return kinds.fill_null("text").cast(KIND).gather(tags.fill_null(len(_RULES))).alias("kind")


@cache
def _classifier() -> Classifier:
    return GRAMMAR.classifier({template: template for template in _RULES})
