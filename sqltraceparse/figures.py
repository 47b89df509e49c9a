"""The figures in brackets after the operation of a row source, in traces and in TKPROF reports."""

from __future__ import annotations

import re
from typing import Final

from logframe import load_grammar

GRAMMAR: Final = load_grammar("sqltraceparse", "figures.lark", "figures")

#: Figure as printed -> its column.
COLUMNS: Final = {
    "cr": "consistent_gets",
    "pr": "disk_blocks",
    "r": "disk_blocks",
    "pw": "blocks_written",
    "w": "blocks_written",
    "str": "starts",
    "starts": "starts",
    "time": "elapsed_us",
    "cost": "cost",
    "size": "size_bytes",
    "card": "cardinality",
}
#: Reason of the diagnostic of a row source with figures that no column holds.
DAMAGED: Final = "the row source is cut or damaged; what it says for certain is read"

_FIGURES: Final = re.compile(GRAMMAR.pattern("{ROW_FIGURES}(?={OBJECT_ID}?$)"))
_WHOLE: Final = re.compile(GRAMMAR.pattern("{WHOLE_FIGURES}"))
_LOOSE: Final = re.compile(GRAMMAR.pattern("{LOOSE_FIGURE}"))
_FIGURE: Final = re.compile(GRAMMAR.pattern("({FIGURE_NAME})=({WHOLE_NUMBER})(?={FIGURE_END})"))


def figures_of(text: str) -> tuple[str, dict[str, int | None], bool]:
    """An operation without its figures, each figure by its column, and whether all of them are read.

    Examples:
        >>> figures_of("SORT AGGREGATE (cr=4 r=1 w=0 time=12 us)")[0]
        'SORT AGGREGATE'
        >>> figures_of("INDEX UNIQUE SCAN ORDERS_PK (cr=3 pr=0)(object id 74550)")[0]
        'INDEX UNIQUE SCAN ORDERS_PK (object id 74550)'
        >>> operation, figures, is_whole = figures_of("SORT (cr=4 pr=1 time=12 7 us)")
        >>> figures["consistent_gets"], figures["elapsed_us"], is_whole
        (4, None, False)
    """
    found: dict[str, int | None] = dict.fromkeys(COLUMNS.values())
    bracket = _FIGURES.search(text)
    if bracket is None:
        return text, found, _LOOSE.search(text) is None
    found |= {COLUMNS[name]: int(value) for name, value in _FIGURE.findall(bracket.group())}
    operation = " ".join(filter(None, (text[: bracket.start()], text[bracket.end() :].strip())))
    return operation, found, _WHOLE.fullmatch(bracket.group()) is not None and _LOOSE.search(operation) is None
