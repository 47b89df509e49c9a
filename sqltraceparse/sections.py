"""Kinds of lines: by their pattern, and by their place where the place decides.

Regular waits, calls and closes are known by one pattern each; they are nearly all lines.  The few others are compared
with the patterns of the grammar.  Then the places: the text of a statement runs from its header to ``END OF STMT``, by
the length that the header says, whatever its lines look like; binds are what follows ``BINDS`` with a leading blank.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from logframe import Diagnostic
from sqltraceparse.grammar import GRAMMAR
from sqltraceparse.lines import CODES
from sqltraceparse.schema import KIND, KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqltraceparse.lines import Batch
    from sqltraceparse.waits import Waits

_TEXT: Final = pl.col("text")

#: Kinds that a line has by its own form, so that they end a text which has no end mark.
_KNOWN: Final = tuple(
    CODES[name] for name in KINDS if name not in {"blank", "bind", "bind_field", "head", "text", "unparsed"}
)
_HEADERS: Final = (CODES["parsing"], CODES["parse_error"])
#: Kinds that do not end a section of binds; a stamp may be written between two of its lines.
_BETWEEN: Final = tuple(CODES[name] for name in ("bind", "bind_field", "blank", "unparsed", "stamp", "attribute"))
#: A statement that is this long, in bytes, is not waited for.
_LONGEST_TEXT: Final = 4 << 20
#: In a log with a blank line after each line fewer lines than this share have none.
_LEAST_SINGLE: Final = 0.1
#: Such a log has more blank lines than this share.
_LEAST_BLANK: Final = 0.4
#: Lines of one bind's value.
_LONGEST_VALUE: Final = 400


class Text(NamedTuple):
    """The text below a header: places of lines in the batch, the end not included.

    Of a log that has a blank line after each line the text is every second one (`step`).
    """

    header: int
    start: int
    end: int
    is_whole: bool
    step: int = 1


class Sorted(NamedTuple):
    """Lines of a batch with their kinds.

    Attributes:
        lines: ``line``, ``text``, ``kind``, ``is_whole`` (a wait, call or close with all fields); in the file's order.
        texts: places of the texts of statements.
        open_from: place of the first line that needs lines which are not in the batch yet.
        diagnostics: what is wrong with texts.
        waits, calls: the whole ones among the lines, where compiled code has read them.
    """

    lines: pl.DataFrame
    texts: list[Text]
    open_from: int
    diagnostics: list[Diagnostic]
    waits: Waits | None = None
    calls: pl.DataFrame | None = None

    def ready(self, diagnostics: list[Diagnostic]) -> Sorted:
        """The lines that wait for no other, with further diagnostics."""
        lines = self.lines.head(self.open_from)
        if lines.is_empty():
            return self._replace(lines=lines)
        done = int(lines.item(-1, "line"))
        hidden = lines.filter("is_whole", pl.col("kind") == "text").get_column("line")

        def kept(frame: pl.DataFrame) -> pl.DataFrame:
            if self.open_from == self.lines.height and hidden.is_empty():
                return frame
            return frame.filter(pl.col("line") <= done, ~pl.col("line").is_in(hidden.implode()))

        return self._replace(
            lines=lines,
            diagnostics=[*self.diagnostics, *(row for row in diagnostics if row.line is not None and row.line <= done)],
            waits=None if self.waits is None else self.waits.changed(kept),
            calls=None if self.calls is None else kept(self.calls),
        )


def sort_lines(batch: Batch, name: str, *, is_last: bool) -> Sorted:
    """The kinds of lines by their form and place, and what must wait for the next batch.

    Args:
        batch: lines with the kind that each has by itself; the batch begins outside of any section.
        name: of the log, for diagnostics.
        is_last: no lines follow.
    """
    lines = batch.lines.select("line", "text")
    codes = batch.lines.get_column("code")
    diagnostics: list[Diagnostic] = []
    texts, open_from = _texts(lines, codes, name, diagnostics, is_last=is_last)
    if texts:
        places = [place for text in texts for place in range(text.header + 1, text.end)]
        codes = codes.scatter(pl.Series(places, dtype=pl.UInt32), CODES["text"])
    codes = _placed(lines, codes)
    if not is_last:
        hot = codes.head(open_from) <= CODES["close"]
        solid = hot.arg_true()
        open_from = int(solid[-1]) + 1 if len(solid) else 0
        texts = [text for text in texts if text.end <= open_from]
        diagnostics = [row for row in diagnostics if row.line is not None and row.line < _line(lines, open_from)]
    kinds = codes.cat.to(KIND).alias("kind")
    found = lines.with_columns(kinds, batch.lines.get_column("is_whole"))
    return Sorted(found, texts, open_from, diagnostics, batch.waits, batch.calls)


# ---------------------------------------------------------------------------------------------- texts of statements


def _texts(
    lines: pl.DataFrame, codes: pl.Series, name: str, diagnostics: list[Diagnostic], *, is_last: bool
) -> tuple[list[Text], int]:
    """The texts below headers, and the place from which on lines must wait."""
    heads = lines.select("text", code=codes).with_row_index("place").filter(pl.col("code").is_in(_HEADERS))
    if heads.is_empty():
        return [], lines.height
    measure = _Measure(lines, codes)
    ends = (codes == CODES["end_of_statement"]).arg_true().to_list()
    is_error = (heads.get_column("code") == CODES["parse_error"]).to_list()
    head_texts = heads.get_column("text")
    lengths = head_texts.str.extract(GRAMMAR.pattern("{LENGTH}([0-9]{1,9})(?: |$)"), 1).cast(pl.Int64)
    found: list[Text] = []
    places = heads.get_column("place").to_list()
    busy_until = 0
    for number, (header, length) in enumerate(zip(places, lengths, strict=True)):
        if header < busy_until:
            continue  # it stands in the text of another statement
        following = places[number + 1] if number + 1 < len(places) else lines.height
        if is_error[number]:
            text = _failed_text(header, length, codes, measure)
        else:
            text = _text(header, length, ends, following, measure)
        if text is None:
            if not is_last and measure.size(header, lines.height) < min(length or 0, _LONGEST_TEXT) + (64 << 10):
                return found, header
            end = _next_known(codes, header)
            text = Text(header, header + 1, end, is_whole=False)
            if not is_error[number]:
                reason = "the text of this statement has no end mark; it ends at the next line of a known form"
                diagnostics.append(Diagnostic(name, _line(lines, header), None, "cut", head_texts[number], reason))
        elif not text.is_whole and length is not None:
            size = measure.size(text.header, text.end)
            reason = f"the header says that the text has {length:,} bytes; {size:,} are there"
            diagnostics.append(Diagnostic(name, _line(lines, header), None, "cut", head_texts[number], reason))
        found.append(text)
        busy_until = text.end
    return found, lines.height


class _Measure:
    """Sizes of texts between places: in bytes, and in characters where they differ.

    Where nearly all records have a blank line after them, so have the lines of texts: it is no part of them.
    """

    def __init__(self, lines: pl.DataFrame, codes: pl.Series) -> None:
        is_blank = codes == CODES["blank"]
        self._is_doubled = False
        if float(is_blank.mean() or 0.0) > _LEAST_BLANK:  # type: ignore[arg-type]  # of booleans
            single = ~is_blank & ~is_blank.shift(-1, fill_value=True)
            self._is_doubled = float(single.mean() or 0.0) < _LEAST_SINGLE  # type: ignore[arg-type]
        self._texts = lines.get_column("text")
        #: Bytes up to the end of each line; a Series gives one value at a time slowly.
        self._to = lines.select((_TEXT.str.len_bytes().cast(pl.Int64) + 1).cum_sum()).to_series().to_list()

    def size(self, header: int, end: int) -> int:
        """Bytes of the lines between a header and an end."""
        return 0 if end <= header + 1 else self._to[end - 1] - self._to[header] - 1

    def fits(self, header: int, end: int, length: int) -> bool:
        """Have the lines this length, in bytes, in characters, or with line ends of two bytes?"""
        if self._is_doubled:
            return False
        if end <= header + 1:
            return length == 0
        size = self.size(header, end)
        # the header counts a line feed and a zero byte at the end, which SQL*Plus sends, and line ends of two bytes
        breaks = end - header - 2
        if length - size in {0, 1, 2, breaks}:
            return True
        chars = int(self._texts.slice(header + 1, end - header - 1).str.len_chars().sum()) + breaks
        return length - chars in {0, breaks}

    def is_doubled(self, header: int, end: int) -> bool:
        """Is there a blank line before each of the lines and before the end, as in all of the log?"""
        if not self._is_doubled:
            return False
        lines = self._texts.slice(header + 1, end - header - 1)
        is_odd = lines.len() >= 3 and lines.len() % 2 == 1
        return is_odd and bool((lines.gather_every(2).str.strip_chars(" \t") == "").all())

    def fits_doubled(self, header: int, end: int, length: int) -> bool:
        """Have the lines this length without the blank line before each of them and before the end?"""
        if not self.is_doubled(header, end):
            return False
        own = self._texts.slice(header + 1, end - header - 1).gather_every(2, offset=1)
        breaks = own.len() - 1
        sizes = (int(size.sum()) + breaks for size in (own.str.len_bytes(), own.str.len_chars()))
        return any(length - size in {0, 1, 2, breaks} for size in sizes)


def _text(header: int, length: int | None, ends: list[int], following: int, measure: _Measure) -> Text | None:
    """The text of a statement; None where it has no end mark."""
    first = bisect_right(ends, header)
    if length is not None:
        for end in ends[first:]:
            if measure.fits(header, end, length):
                return Text(header, header + 1, end, is_whole=True)
            if measure.fits_doubled(header, end, length):
                return Text(header, header + 2, end, is_whole=True, step=2)
            if measure.size(header, end) > length * 4:
                break
    if first < len(ends) and ends[first] < following:
        is_doubled = measure.is_doubled(header, ends[first])
        return Text(header, header + 1 + is_doubled, ends[first], is_whole=False, step=1 + is_doubled)
    return None


def _failed_text(header: int, length: int | None, codes: pl.Series, measure: _Measure) -> Text | None:
    """The text below PARSE ERROR, which has no end mark; None where the batch ends before it."""
    end = _next_known(codes, header)
    if length is not None:
        for place in range(header + 1, min(end + _LONGEST_VALUE, len(codes)) + 1):
            if measure.fits(header, place, length):
                return Text(header, header + 1, place, is_whole=True)
            if measure.fits_doubled(header, place, length):
                return Text(header, header + 2, place, is_whole=True, step=2)
            if measure.size(header, place) > length + place - header:
                break
    return None if end == len(codes) else Text(header, header + 1, end, is_whole=False)


def _next_known(codes: pl.Series, header: int) -> int:
    """The place of the next line that has a form of its own, or the end of the batch."""
    start, step = header + 1, 64
    while start < len(codes):
        known = codes.slice(start, step).is_in(_KNOWN).arg_true()
        if len(known):
            return start + int(known[0])
        start, step = start + step, step * 8
    return len(codes)


def _line(lines: pl.DataFrame, place: int) -> int:
    return int(lines.item(min(place, lines.height - 1), "line")) + (place >= lines.height)


# -------------------------------------------------------------------------------------------------- binds and heads


def _placed(lines: pl.DataFrame, codes: pl.Series) -> pl.Series:
    """The kinds with those of lines that are binds or head only where they stand."""
    loose = codes.is_in([CODES["bind"], CODES["bind_field"], CODES["unparsed"]])
    if not loose.any():
        return codes
    for place, end in _open_values(lines, codes):
        codes = codes.scatter(list(range(place + 1, end)), CODES["bind_field"])
    others = (codes > CODES["close"]).arg_true()  # few lines; a wait, call or close between two of them ends a section
    has_figure = lines.get_column("text").gather(others).str.contains(GRAMMAR.pattern("{BROKEN_NUMBER}"))
    code, is_after_record = pl.col("code"), pl.col("place").cast(pl.Int64).diff() > 1
    within = (
        pl.when(code.is_in([CODES["binds"], CODES["head"]]))
        .then(code)
        .when(~code.is_in(_BETWEEN) | is_after_record)
        .then(CODES["unparsed"])
        .forward_fill()
        .fill_null(CODES["unparsed"])
    )
    placed = (
        pl.when(code.is_in([CODES["bind"], CODES["bind_field"]]) & (within != CODES["binds"]))
        .then(within)
        .when((code == CODES["unparsed"]) & (within == CODES["head"]) & ~has_figure)
        .then(within)
        .otherwise(code)
        .cast(pl.UInt8)
    )
    return codes.scatter(
        others, pl.DataFrame({"code": codes.gather(others), "place": others}).select(placed).to_series()
    )


def _open_values(lines: pl.DataFrame, codes: pl.Series) -> Iterator[tuple[int, int]]:
    """Places of binds' values that go on in the next lines, and where they end."""
    is_field = codes == CODES["bind_field"]
    if not is_field.any():
        return
    fields = is_field.arg_true()
    texts = lines.get_column("text")
    is_open = texts.gather(fields).str.contains(GRAMMAR.pattern("^{OPEN_VALUE}$"))
    for place in fields.filter(is_open).to_list():
        for end in range(place + 1, min(place + _LONGEST_VALUE, lines.height)):
            if codes[end] <= CODES["close"] or codes[end] == CODES["bind"]:
                break
            if str(texts[end]).endswith(('"', '"...')):
                yield place, end + 1
                break
