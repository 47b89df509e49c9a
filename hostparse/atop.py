"""``atop``: the resources, and the processes of each of its views, by the words of the view's heading."""

from __future__ import annotations

from typing import Final

from hostparse.line_tool import OTHERS, Column, Line, LineTool
from logframe import load_grammar

GRAMMAR: Final = load_grammar("hostparse", "atop.lark", "line")

#: Words of the headings -> columns; times, sizes and shares as printed.
_FIELDS: Final = {
    "SYSCPU": "system_cpu",
    "USRCPU": "user_cpu",
    "RDELAY": "run_delay",
    "BDELAY": "block_delay",
    "VSIZE": "virtual_size",
    "RSIZE": "resident_size",
    "VGROW": "virtual_growth",
    "RGROW": "resident_growth",
    "RDDSK": "disk_read",
    "WRDSK": "disk_written",
    "WCANCL": "writes_cancelled",
    "CPU": "cpu",
    "ACPU": "cpu_of_all",
    "MEM": "memory",
    "DSK": "disk",
    "ADSK": "disk_of_all",
}
#: What stands after a value -> by what it counts.
_UNITS: Final = {
    **{f"e{power}": 10.0**power for power in range(1, 13)},
    **{letter: 1024.0**power for power, letter in enumerate("KMGTP", 1)},
}
TOOL: Final = LineTool(
    name="atop",
    title="an output of atop",
    grammar=GRAMMAR,
    sign="{TITLE}$",
    given={"resources": ("date", "clock"), "processes": ("date", "clock")},
    lines=(
        Line(
            "{ATOP}(?P<host>{CELL}){GAP}(?P<date>{CELL}){GAP}(?P<clock>{CELL}){GAP}(?P<flags>{DASHES})(?P<elapsed>{CELL}){ELAPSED}",
            "samples",
            {name: Column(name) for name in ("host", "date", "clock", "flags", "elapsed")},
            begins=True,
            sets=("date", "clock"),
        ),
        Line(
            "(?P<label>{LABEL}) {BAR}{REST}",
            "resources",
            {
                "label": Column("resource"),
                "name": Column("name"),
                "duration": Column("duration"),
                "value": Column("value", "figure", units=_UNITS),
                "value_unit": Column("unit"),
            },
            each="{BAR}{BLANKS}(?P<name>{NAME})(?:{GAP}(?:(?P<duration>{DURATION})|(?P<value>{NUMBER})(?:{BLANKS}(?P<value_unit>{UNIT}))?))?(?:{GAP}{REST_OF_CELL})?{END}",
        ),
        Line("(?P<heading>{HEADING})", columns={"heading": Column("heading")}, sets=("heading",)),
        Line(
            "{PROCESS}",
            "processes",
            {
                "PID": Column("pid", "whole"),
                **{word: Column(name) for word, name in _FIELDS.items()},
                "CMD": Column("command"),
                OTHERS: Column("other_cells"),
            },
            heading="heading",
        ),
        Line("{NOTE}"),
    ),
)
FORMAT: Final = TOOL.format()
