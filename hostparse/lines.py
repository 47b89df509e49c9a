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
#: The kinds of lines; ``text`` is a line that no rule accepts, ``date`` a stamp of a run (`hostparse.runs`).
KINDS: Final = (*_KINDS, "text", "date")
#: Lines that start a run: what follows has counters, a date and a host of its own.
OPENS: Final = ("opening", "banner", "restart", "collector", "date")
TEXT: Final = pl.col("text")
KIND: Final = pl.Enum(KINDS)
#: The kind of each rule, then of a line that no rule describes.
_KIND_OF: Final = pl.Series("kind", [*_RULES.values(), "text"], dtype=KIND)
#: This many bytes of text are in memory at a time.
BATCH_BYTES: Final = 8 << 20


@cache
def is_kind(*kinds: str) -> pl.Expr:
    """Whether a line is of one of some kinds, by the codes of the column ``kind``: no text is made of it."""
    code, (first, *others) = pl.col("kind").to_physical(), [KINDS.index(kind) for kind in kinds]
    return code.is_in([first, *others]) if others else code == first


def batches(log: Log) -> Iterator[pl.DataFrame]:
    """The lines of a log, some megabytes at a time.

    Returns:
        ``line`` (UInt32, from 1), ``text`` (without carriage return, blanks at its end and colours).
    """
    for lines in batches_of(log.scan(name="text", row_index_name="line"), BATCH_BYTES):
        has_end, has_codes = lines.select(
            has_end=pl.any_horizontal(TEXT.str.ends_with(end) for end in " \t\r").any(),
            has_codes=TEXT.str.contains("\x1b", literal=True).any(),
        ).row(0)
        if has_end:
            lines = lines.with_columns(TEXT.str.strip_chars_end(" \t\r"))  # noqa: PLW2901 - a step of three
        if has_codes:
            lines = lines.with_columns(without_terminal_codes_expr(TEXT).str.strip_chars_end(" \t"))  # noqa: PLW2901
        if lines.select(TEXT.str.contains(GRAMMAR.pattern("{DAYS}|{SECONDS}")).any()).item():
            lines = lines.with_columns(_western(TEXT))  # noqa: PLW2901 - see above
        yield lines


def _western(text: pl.Expr) -> pl.Expr:
    """Dates and clocks of Chinese and Japanese locales in the form of the others."""
    clock = "({TWO_DIGITS}){HOURS}({TWO_DIGITS}){MINUTES}({TWO_DIGITS}){SECONDS}"
    date = "({FOUR_DIGITS}){YEARS}({TWO_DIGITS}){MONTHS}({TWO_DIGITS}){DAYS}"
    text = text.str.replace_all(GRAMMAR.pattern(clock), "$1:$2:$3")
    return text.str.replace_all(GRAMMAR.pattern(date), "$1-$2-$3")


def repeated_rows(name: str, rows: pl.DataFrame) -> list[Diagnostic]:
    """Diagnostics about rows that are those right above them once more: pasted or printed twice.

    Args:
        name: of the log.
        rows: ``line`` and ``text``.
    """
    is_again = (pl.col("line").diff() == 1) & (TEXT.shift() == TEXT)
    found = rows.filter(is_again)
    return [Diagnostic(name, line, None, "repeated", text, REPEATED) for line, text in found.iter_rows()]


def with_own_text(lines: pl.DataFrame) -> pl.DataFrame:
    """Few lines with a copy of their text: a filtered column holds on to the text of all lines."""
    return lines.with_columns(pl.Series("text", lines.get_column("text").to_list(), dtype=pl.String))


def kinds_of(lines: pl.DataFrame) -> pl.Series:
    """The kind of each line of a batch."""
    places = _classifier().kinds_of(lines.get_column("text")).to_physical()
    return _KIND_OF.gather(places.fill_null(len(_RULES)))


@cache
def _classifier() -> Classifier:
    return GRAMMAR.classifier({template: template for template in _RULES})
