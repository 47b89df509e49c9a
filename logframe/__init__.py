"""Ground floor: opening logs, grammars, ruled tables, printed numbers, errors.  Knows no format."""

from logframe.errors import (
    DIAGNOSTICS,
    Diagnostic,
    LogNotFoundError,
    LogParseError,
    diagnostics_frame,
)
from logframe.grammar import Grammar, explain, load_grammar
from logframe.printed import Printed, printed_columns, read_printed
from logframe.ruled import Column, Cut, columns_of, cut_row, fits, headings, is_ruler
from logframe.source import Log, Source, open_log, open_logs

__all__ = [
    "DIAGNOSTICS",
    "Column",
    "Cut",
    "Diagnostic",
    "Grammar",
    "Log",
    "LogNotFoundError",
    "LogParseError",
    "Printed",
    "Source",
    "columns_of",
    "cut_row",
    "diagnostics_frame",
    "explain",
    "fits",
    "headings",
    "is_ruler",
    "load_grammar",
    "open_log",
    "open_logs",
    "printed_columns",
    "read_printed",
]
