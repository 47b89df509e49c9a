"""What shows that lines of a TKPROF report are missing: one that stands where it cannot, a total that is another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from logframe import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: A printed time is cut after its second decimal.
STEP_S: Final = 0.01
#: Kind of a line -> kinds of the line above it that is not blank.  Kinds that are not here may stand anywhere.
_ABOVE: Final = {
    "Parse": frozenset({"ruler"}),
    "Execute": frozenset({"Parse"}),
    "Fetch": frozenset({"Execute"}),
    "total": frozenset({"ruler"}),
    "misses": frozenset({"total", "misses"}),
    "mode": frozenset({"misses", "total"}),
    "user": frozenset({"mode", "misses", "total"}),
    "captured": frozenset({"user"}),
    "ruler": frozenset({"heading", "Fetch", "rows_heading"}),
    "rows_heading": frozenset({"user", "captured", "row_source", "mode", "misses", "other"}),
    "row_source": frozenset({"ruler", "row_source", "other"}),
    "waits": frozenset({"user", "captured", "misses", "mode", "total", "row_source", "other"}),
    "waits_heading": frozenset({"waits", "waits_heading"}),
    "wait": frozenset({"waits_heading", "wait"}),
}
#: Kinds that a block does not end with.
_OPEN: Final = frozenset(
    {"heading", "ruler", "Parse", "Execute", "Fetch", "rows_heading", "waits", "waits_heading", "mode"}
)
#: What ends the lines of one statement.
_ENDS: Final = frozenset({"stars", "overall"})


class Order:
    """Follows the kinds of the lines of a report.

    Examples:
        >>> order = Order()
        >>> [order.fault(kind) for kind in ("heading", "ruler", "Parse", "Execute")]
        ['', '', '', '']
        >>> order.fault("wait")
        'TKPROF writes no such line below a line of the kind Execute: lines between them are missing'
    """

    def __init__(self) -> None:
        self._above = ""
        self._level = -1
        self._events: set[str] = set()

    def fault(self, kind: str) -> str:
        """What is wrong with a line of this kind here; empty where nothing is.

        Args:
            kind: of the line, which is not blank; ``Parse``, ``Execute``, ``Fetch`` and ``total`` for those of calls.
        """
        above, self._above = self._above, kind
        if kind in {"rows_heading", "heading"}:
            self._level = -1
        elif kind == "waits":
            self._events = set()
        if above and ((kind in _ABOVE and above not in _ABOVE[kind]) or (kind in _ENDS and above in _OPEN)):
            return f"TKPROF writes no such line below a line of the kind {above}: lines between them are missing"
        return ""

    def fault_of_level(self, level: int) -> str:
        """What is wrong with a step of a plan that is indented so far; a plan may have several first steps."""
        above, self._level = self._level, level
        if level > above + 1:
            return "this step is not one of the plan above it by its indent: lines between them are missing"
        return ""

    def fault_of_event(self, event: str) -> str:
        """What is wrong with a row of waits for this event."""
        if event in self._events:
            return "the event is listed twice: the row may be of another statement, lines above it are missing"
        self._events.add(event)
        return ""


def unequal_totals(calls: Iterable[Mapping[str, object]], name: str) -> list[Diagnostic]:
    """A row for each table of calls whose total is not that of its lines, within what is cut off.

    Args:
        calls: the rows of all tables, in their order.
        name: of the log.
    """
    rows = []
    table: list[Mapping[str, object]] = []
    for call in calls:
        if call["call"] != "total":
            table.append(call)
            continue
        for column in ("count", "disk_blocks", "consistent_gets", "current_gets", "rows", "cpu_s", "elapsed_s"):
            most = len(table) * STEP_S if column.endswith("_s") else 0
            gap = _float(call[column]) - sum(_float(one[column]) for one in table)
            if not -1e-9 <= gap <= most + 1e-9:
                reason = f"the total of {column} is not that of the lines above it: {gap:+.2f}"
                rows.append(Diagnostic(name, int(str(call["line"])), None, "sum", None, reason))
        table = []
    return rows


def _float(figure: object) -> float:
    return float(str(figure))
