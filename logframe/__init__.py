"""What every reader needs: opening logs, grammars, ruled tables, numbers, the registry of formats, errors."""

from typing import TYPE_CHECKING

from logframe.lazy import lazy_exports

if TYPE_CHECKING:
    from logframe.errors import (
        DIAGNOSTICS,
        Diagnostic,
        LogError,
        LogNotFoundError,
        LogParseError,
        RefusedError,
        diagnostics_frame,
    )
    from logframe.grammar import Grammar, explain, load_grammar
    from logframe.interval import Interval, intersect
    from logframe.printed import Printed, printed_columns, read_printed
    from logframe.ruled import Column, Cut, columns_of, cut_row, fits, headings, is_ruler
    from logframe.source import Log, Source, open_log, open_logs
    from logframe.wording import distinct_names, unique_names

__all__ = [
    "DIAGNOSTICS",
    "Column",
    "Cut",
    "Diagnostic",
    "Grammar",
    "Interval",
    "Log",
    "LogError",
    "LogNotFoundError",
    "LogParseError",
    "Printed",
    "RefusedError",
    "Source",
    "columns_of",
    "cut_row",
    "diagnostics_frame",
    "distinct_names",
    "explain",
    "fits",
    "headings",
    "intersect",
    "is_ruler",
    "lazy_exports",
    "load_grammar",
    "open_log",
    "open_logs",
    "printed_columns",
    "read_printed",
    "unique_names",
]

__getattr__, __dir__ = lazy_exports(__name__)
