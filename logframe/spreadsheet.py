"""CSV for spreadsheets: cells that a spreadsheet would run as a formula are written as text.

Logs hold what users typed: SQL, file names, program names.  A cell that starts with ``=``, ``+``, ``-`` or ``@`` is a
formula to a spreadsheet, and a formula may start programs or send data.  Source: OWASP, "CSV Injection".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

import polars as pl

if TYPE_CHECKING:
    from polars._typing import PolarsDataType

_Frame = TypeVar("_Frame", pl.DataFrame, pl.LazyFrame)

#: A formula after the start of a cell, or after what a spreadsheet may take for the end of one.
_FORMULA: Final = r"((?:^|[;\t\r\n\x00])[\s\pC\"]*)([=+\-@＝＋－＠])"
#: A text marked so is text to a spreadsheet.
_MARKED: Final = "${1}'${2}"


def spreadsheet_safe(frame: _Frame) -> _Frame:
    """A frame whose texts no spreadsheet runs: an apostrophe stands before each formula.

    A text that is a number stays as it is.  Within a text, what follows a semicolon, a tab or a line end is
    marked as well, because some spreadsheets separate cells there.  Headings are marked in the same way.

    Args:
        frame: The table to write.

    Returns:
        The same columns; enumerations are texts.

    Examples:
        >>> frame = pl.DataFrame({"text": ["=1+cmd|' /C calc'!A0", "-1", "a; @SUM(A1)", "read"], "size": [-1, 2, 3, 4]})
        >>> spreadsheet_safe(frame).to_dict(as_series=False)
        {'text': ["'=1+cmd|' /C calc'!A0", '-1', "a; '@SUM(A1)", 'read'], 'size': [-1, 2, 3, 4]}
    """
    schema = frame.collect_schema()
    headings = pl.Series(list(schema), dtype=pl.String).str.replace_all(_FORMULA, _MARKED)
    safe = frame.with_columns(_safe(name) for name, dtype in schema.items() if _is_text(dtype))
    return safe.rename(dict(zip(schema, headings, strict=True)))


def _is_text(dtype: PolarsDataType) -> bool:
    return dtype in (pl.String, pl.Categorical, pl.Enum)


def _safe(name: str) -> pl.Expr:
    text = pl.col(name).cast(pl.String)
    is_number = text.cast(pl.Float64, strict=False).is_finite().fill_null(value=False)
    return pl.when(is_number).then(text).otherwise(text.str.replace_all(_FORMULA, _MARKED)).alias(name)
