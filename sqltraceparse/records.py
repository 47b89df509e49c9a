"""Records other than waits and calls: statements, binds, row sources, transactions, errors, stamps and attributes."""

from __future__ import annotations

from functools import cache, partial, wraps
from typing import TYPE_CHECKING, Final, TypeVar

import polars as pl

from logframe import Diagnostic
from sqltraceparse.figures import COLUMNS, DAMAGED
from sqltraceparse.figures import GRAMMAR as FIGURES
from sqltraceparse.grammar import GRAMMAR
from sqltraceparse.regular import signed
from sqltraceparse.schema import KIND

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqltraceparse.sections import Text

_TEXT: Final = pl.col("text")


def _number(name: str, pattern: str) -> pl.Expr:
    """The number that the pattern captures, null where it is missing or too long."""
    return _TEXT.str.extract(pattern, 1).cast(pl.Int64, strict=False).alias(name)


def _field(name: str, key: str) -> pl.Expr:
    """A field ``key=number`` that is followed by a blank, a comma or the end of a whole line."""
    return _number(name, rf"[ :,]{key}=(-?[0-9]+)(?:[ ,)]|$)")


def _quoted(name: str, terminal: str) -> pl.Expr:
    """What stands between the quotes of a terminal, null where it is missing or empty."""
    value = _token(_TEXT, f"({{{terminal}}})").str.splitn("'", 3).struct.field("field_1")
    return pl.when(value != "").then(value).alias(name)


def _token(text: pl.Expr, template: str) -> pl.Expr:
    """What the group of a template describes."""
    return text.str.extract(GRAMMAR.pattern(template), 1)


_CURSOR: Final = signed(_token(_TEXT, "#({NUMBER})")).alias("cursor")
_Read = TypeVar("_Read")


def _of_kinds(*kinds: str) -> Callable[[Callable[[pl.DataFrame, str], _Read]], Callable[[pl.DataFrame, str], _Read]]:
    """Makes of what reads lines of some kinds a function of all lines; what it gives of none is made once."""

    def of_all(read: Callable[[pl.DataFrame, str], _Read]) -> Callable[[pl.DataFrame, str], _Read]:
        nothing = cache(partial(read, pl.DataFrame(schema={"line": pl.Int64, "text": pl.String, "kind": KIND}), ""))

        @wraps(read)
        def found(lines: pl.DataFrame, name: str) -> _Read:
            kept = lines.filter(pl.col("kind").is_in(kinds))
            return read(kept, name) if kept.height else nothing()

        return found

    return of_all


def statements(
    lines: pl.DataFrame, printed: pl.Series, texts: list[Text], name: str
) -> tuple[pl.DataFrame, list[Diagnostic]]:
    """One row a statement header, with its text.

    Args:
        lines: of a batch: ``place``, ``line``, ``text``, ``kind``; headers are among them.
        printed: the text of every line of the batch.
        texts: places of the texts.
        name: of the log, for diagnostics.
    """
    heads = lines.select("place", "line", "text").join(
        pl.DataFrame(
            {
                "place": [text.header for text in texts],
                "start": [text.start for text in texts],
                "end": [text.end for text in texts],
                "step": [text.step for text in texts],
                "is_whole": [text.is_whole for text in texts],
            },
            schema={
                "place": lines.schema["place"],
                "start": pl.Int64,
                "end": pl.Int64,
                "step": pl.Int64,
                "is_whole": pl.Boolean,
            },
        ),
        on="place",
        maintain_order="left",
    )
    whole = GRAMMAR.matches(_TEXT, "^(?:{PARSING_LINE}|{PARSE_ERROR_LINE})$")
    found = heads.select(
        pl.col("line").alias("statement"),
        _CURSOR,
        _quoted("sql_id", "SQL_ID"),
        _field("hash_value", "hv"),
        _quoted("address", "ADDRESS"),
        _texts(printed, heads),
        "is_whole",
        _field("length", "len"),
        _field("depth", "dep"),
        _field("user_id", "uid"),
        _field("schema_id", "lid"),
        _field("command", "oct"),
        _field("error", "err"),
        _field("tim_us", "tim"),
    )
    cut = heads.filter(~whole).select("line", "text").rows()
    reason = "the header of this statement is cut; what it says for certain is read"
    return found, [Diagnostic(name, line, None, "cut", text, reason) for line, text in cut]


def _texts(printed: pl.Series, heads: pl.DataFrame) -> pl.Series:
    """The text of each header, its lines joined."""
    places = heads.select("place", pl.int_ranges("start", "end", "step").alias("at")).explode("at", empty_as_null=False)
    joined = (
        places.with_columns(text=printed.gather(places.get_column("at")))
        .group_by("place", maintain_order=True)
        .agg(pl.col("text").str.join("\n"))
    )
    return heads.select("place").join(joined, on="place", how="left", maintain_order="left").get_column("text")


@_of_kinds("binds", "bind", "bind_field")
def binds(kept: pl.DataFrame, name: str) -> tuple[pl.DataFrame, list[Diagnostic]]:
    """One row a bind: ``line``, ``section`` (the line of its BINDS), ``cursor``, position, type, lengths, value.

    The database numbers the binds of a section from 0 and writes each part of a bind once and in one order; a bind that
    stands otherwise has lines of two, and a diagnostic says so.
    """
    kind, line = pl.col("kind"), pl.col("line")
    is_header, is_bind = kind == "binds", kind == "bind"
    numbered = kept.with_columns(
        section=pl.when(is_header).then(line).forward_fill(),
        cursor=pl.when(is_header).then(_CURSOR).forward_fill(),
        # "value=  Bind#2" is the end of one bind and the start of the next
        bind=pl.when(is_bind | is_header | GRAMMAR.matches(_TEXT, "^{VALUE_AND_BIND}$")).then(line).forward_fill(),
    ).filter(~is_header)
    text = _TEXT.str.join("\n")
    joined = numbered.group_by("section", "cursor", "bind", maintain_order=True).agg(text.alias("text"))
    value = _token(_TEXT, "(?s)\n{VALUE_START}(.*)$")
    printed = pl.when(GRAMMAR.matches(value, "(?s)^{QUOTED_VALUE}$")).then(
        value.str.strip_chars_end().str.strip_prefix('"').str.replace(GRAMMAR.pattern('"({ELLIPSIS})?$'), "$1")
    )
    plain = pl.when(GRAMMAR.matches(value, "^{NO_VALUE}(?:$|\n)")).then(None).otherwise(value.str.strip_chars_end())
    numbers = {name: _number(name, f"{key}=([0-9]+)(?:[ (\n]|$)") for name, key in _BIND_NUMBERS.items()}
    length = numbers["length"]
    found = joined.select(
        pl.col("bind").alias("line"),
        "section",
        "cursor",
        _number("position", r"(?i)bind ?#?([0-9]+)"),
        *numbers.values(),
        pl.coalesce(printed, plain).alias("value"),
        (pl.when(length.is_not_null()).then(length == 0)).alias("is_null"),
        (_is_mixed() | _has_odd_number(numbers) | (_has_no_value() & (length > 0))).alias("is_mixed"),
    )
    place = pl.col("position")
    is_other = pl.col("is_mixed") | (place != place.shift().over("section").fill_null(-1) + 1)
    reason = "a number of this bind is damaged, or lines are missing in it or above it: its figures may be of two binds"
    rows = [Diagnostic(name, line, None, "cut", None, reason) for line in found.filter(is_other)["line"]]
    return found.drop("is_mixed").cast(_BINDS), rows


def _has_odd_number(numbers: dict[str, pl.Expr]) -> pl.Expr:
    """Is the part of a bind there that prints one of its numbers, and that number not?"""
    return pl.any_horizontal(
        GRAMMAR.matches(_TEXT, f"(?m)^{{{_PART_OF_NUMBER[name]}}}") & one.is_null() for name, one in numbers.items()
    )


def _has_no_value() -> pl.Expr:
    """Is the part of a bind there that stands above its value, and the value not?"""
    place, value = (GRAMMAR.matches(_TEXT, f"(?m)^{{{one}}}") for one in ("BIND_PLACE", "VALUE_START"))
    return place & ~value


def _is_mixed() -> pl.Expr:
    """Has a bind a part twice, or one without the part that is written before it?"""
    types, flags, places, values = (
        _TEXT.str.count_matches(GRAMMAR.pattern(f"(?m)^{{{one}}}")) for one in _PARTS_OF_BINDS
    )
    # one that was cut at the end of the log lacks the last parts only
    return (types > 1) | (flags > types) | (places > flags) | (values > 1) | ((values > 0) & (places == 0))


#: Column of a number of a bind -> what is printed before it.
_BIND_NUMBERS: Final = {"data_type": "(?:oacdty|dty)", "max_length": " mxl", "length": " avl"}
_PART_OF_NUMBER: Final = {"data_type": "BIND_TYPE", "max_length": "BIND_TYPE", "length": "BIND_PLACE"}
#: Terminals of the lines of a bind in their order: its type, its flags, its place in memory, its value.
_PARTS_OF_BINDS: Final = ("BIND_TYPE", "BIND_FLAGS", "BIND_PLACE", "VALUE_START")

_BINDS: Final = pl.Schema(
    {
        "line": pl.Int64(),
        "section": pl.Int64(),
        "cursor": pl.Int64(),
        "position": pl.Int64(),
        "data_type": pl.Int64(),
        "max_length": pl.Int64(),
        "length": pl.Int64(),
        "value": pl.String(),
        "is_null": pl.Boolean(),
    }
)

#: Column of a figure of a row source -> the names under which it is printed.
_FIGURES: Final = {
    column: "|".join(key for key, own in COLUMNS.items() if own == column) for column in COLUMNS.values()
}


@_of_kinds("row_source")
def row_sources(kept: pl.DataFrame, name: str) -> tuple[pl.DataFrame, list[Diagnostic]]:
    """One row a row source (a STAT line), its figures cumulative of its children's as printed."""
    operation = _token(_TEXT, "({OPERATION})").str.splitn("'", 2).struct.field("field_1").str.head(-1)
    figures = operation.str.extract(FIGURES.pattern("({ROW_FIGURES})$"), 1)
    found = kept.select(
        "line",
        _CURSOR,
        _field("id", "id"),
        _field("parent_id", "pid"),
        _field("position", "pos"),
        _field("object_id", "obj"),
        operation.str.strip_suffix(figures.fill_null("")).str.strip_chars_end().alias("operation"),
        _field("rows", "cnt"),
        *(
            figures.str.extract(FIGURES.pattern(f"[ (](?:{keys})=({{WHOLE_NUMBER}}){{FIGURE_END}}"), 1)
            .cast(pl.Int64)
            .alias(column)
            for column, keys in _FIGURES.items()
        ),
        (~GRAMMAR.matches(_TEXT, "^{STAT_LINE}$")).alias("is_cut"),
        # a figure in two pieces, such as "size=60 68979", one of too many digits, ...
        (~FIGURES.matches(figures, "^{WHOLE_FIGURES}$")).alias("is_odd"),
        "text",
    )
    has_loose = FIGURES.matches(pl.col("operation"), "{LOOSE_FIGURE}")
    odd = found.filter(pl.col("is_cut") | pl.col("is_odd").fill_null(value=False) | has_loose)
    rows = [Diagnostic(name, line, None, "cut", text, DAMAGED) for line, text in odd.select("line", "text").iter_rows()]
    return found.filter(pl.col("id").is_not_null()).drop("is_cut", "is_odd", "text"), rows


@_of_kinds("transaction")
def transactions(kept: pl.DataFrame, name: str) -> tuple[pl.DataFrame, list[Diagnostic]]:
    """One row an end of a transaction (XCTEND)."""
    found = kept.select(
        "line",
        (_number("rlbk", r" rlbk=([01])[, ]") == 1).alias("is_rollback"),
        (_number("rd_only", r" rd_only=([01])(?:[, ]|$)") == 1).alias("is_read_only"),
        _field("tim_us", "tim"),
    )
    cut = kept.filter(~GRAMMAR.matches(_TEXT, "^{TRANSACTION_LINE}$")).select("line", "text").rows()
    reason = "the end of a transaction is cut; what it says for certain is read"
    return found, [Diagnostic(name, line, None, "cut", text, reason) for line, text in cut]


@_of_kinds("error")
def errors(kept: pl.DataFrame, name: str) -> tuple[pl.DataFrame, list[Diagnostic]]:
    """One row an error of a call (ERROR); errors of parses stand in the statements."""
    found = kept.select("line", _CURSOR, _field("error", "err"), _field("tim_us", "tim"))
    cut = kept.filter(~GRAMMAR.matches(_TEXT, "^{ERROR_LINE}$")).select("line", "text").rows()
    return found, [Diagnostic(name, line, None, "cut", text, "the line of an error is cut") for line, text in cut]


@_of_kinds("process")
def processes(kept: pl.DataFrame, _name: str) -> pl.DataFrame:
    """The process that each line of its kind names: ``line``, ``process``."""
    return kept.select("line", _number("process", r"(?:pid|id): ([0-9]+)"))


@_of_kinds("stamp", "attribute")
def attributes(kept: pl.DataFrame, _name: str) -> pl.DataFrame:
    """What the session says of itself: ``line``, ``name`` (``session_id``, ``module``...), ``value``, ``stamp``.

    A stamp that stands alone has the name ``stamp`` and no value, or that of its container.
    """
    starred = GRAMMAR.groups(
        _TEXT,
        r"^{STARS} (?:(?P<name>[A-Z][A-Z ]*):\((?P<value>.*)\)(?: (?P<at>[0-9-]{10}[ T].*?))?"
        r"|(?P<alone>{STAMP})) *$",
    )
    cut = kept.select("line", "text", starred.alias("parts")).unnest("parts")
    name = (
        pl.col("name")
        .str.strip_suffix(GRAMMAR.literal("ATTRIBUTE_NAME_END"))
        .str.to_lowercase()
        .str.replace(" ", "_", literal=True, n=9)
    )
    is_appname = GRAMMAR.matches(_TEXT, "^{APPNAME}$")
    container = _token(pl.col("alone"), "({CONTAINER})$").str.strip_chars().str.slice(1).str.head(-1)
    found = cut.filter(~is_appname).select(
        "line",
        pl.when(pl.col("name").is_null()).then(pl.lit("stamp")).otherwise(name).alias("name"),
        pl.when(pl.col("name").is_null()).then(container).otherwise("value").alias("value"),
        pl.coalesce("at", pl.col("alone").str.replace(GRAMMAR.pattern("{CONTAINER}$"), "")).alias("stamp"),
    )
    old = cut.filter(is_appname)
    if old.is_empty():
        return found
    said = [
        old.select(
            "line",
            pl.lit(name).alias("name"),
            _token(_TEXT, f" {key}='(.*?)'{{APPNAME_HASH}}").alias("value"),
            pl.lit(None, pl.String).alias("stamp"),
        )
        for name, key in (("module", "mod"), ("action", "act"))
    ]
    return pl.concat([found, *said]).sort("line", maintain_order=True)
