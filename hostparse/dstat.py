"""``dstat``: CPU, disks, network and more, in groups of columns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from hostparse.line_tool import Column, Line, LineTool
from logframe import load_grammar

if TYPE_CHECKING:
    from collections.abc import Mapping

GRAMMAR: Final = load_grammar("hostparse", "dstat.lark", "line")

_CELL: Final = re.compile(GRAMMAR.pattern("(?P<stamp>{STAMP})|(?P<value>{NUMBER})(?P<value_unit>{UNIT})?|-"))
_OF_BYTES: Final = re.compile(GRAMMAR.pattern("{OF_BYTES}"))
#: Unit of a cell -> factor: bytes are in powers of 1024, what is counted in powers of 1000.
_UNITS: Final = {
    f"{letter}{base}": float(base) ** power for power, letter in enumerate("BkMGTP") for base in (1000, 1024)
}


def _names(above: Mapping[str, Any], printed: str) -> list[dict[str, str]] | None:
    """The headings of the groups above them."""
    is_below = printed.rstrip(" |").count("|") + 1 == len(str(above.get("groups") or "").split())
    return [{"names": printed}] if is_below else None


def _cells(above: Mapping[str, Any], printed: str) -> list[dict[str, str]] | None:
    """The cells of a row with their group and their heading; None where it does not fit the lines above it."""
    groups = [group.strip("-") for group in str(above.get("groups") or "").split()]
    names = str(above.get("names") or "").rstrip(" |").split("|")
    parts = printed.rstrip(" |").split("|")
    if not len(groups) == len(names) == len(parts):
        return None
    found: list[dict[str, str]] = []
    stamp: dict[str, str] = {}
    for group, heads, part in zip(groups, names, parts, strict=True):
        cells, base = list(_CELL.finditer(part)), 1024 if _OF_BYTES.fullmatch(group) else 1000
        if len(cells) != len(heads.split()):
            return None
        for name, cell in zip(heads.split(), cells, strict=True):
            if cell["stamp"]:
                stamp = {"stamp": cell["stamp"]}
            elif cell["value"]:
                unit = {"value_unit": f"{cell['value_unit']}{base}"} if cell["value_unit"] else {}
                found.append({"group": group, "metric": name, "value": cell["value"], **unit})
    return [{**stamp, **one} for one in found]


TOOL: Final = LineTool(
    name="dstat",
    title="an output of dstat",
    grammar=GRAMMAR,
    sign="{SIGN}$",
    may_repeat=True,
    lines=(
        Line("(?P<groups>{GROUPS})", columns={"groups": Column("groups")}, sets=("groups",)),
        Line("{NAMES}", columns={"names": Column("names")}, sets=("names",), records=_names),
        Line(
            "{ROW}",
            "samples",
            {
                "stamp": Column("time"),
                "group": Column("group"),
                "metric": Column("metric"),
                "value": Column("value", "figure", units=_UNITS),
            },
            records=_cells,
            begins=True,
        ),
        Line("{NOTE}"),
    ),
)
FORMAT: Final = TOOL.format()
