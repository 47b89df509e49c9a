"""``atop``: the resources and processes of its default view."""

from __future__ import annotations

from typing import Final

from hostparse.line_tool import Column, Line, LineTool
from logframe import load_grammar

GRAMMAR: Final = load_grammar("hostparse", "atop.lark", "line")

#: In the order of the heading.
_FIELDS: Final = ("system_cpu", "user_cpu", "delay", "virtual", "resident", "disk_read", "disk_written", "cpu")
TOOL: Final = LineTool(
    name="atop",
    title="the output of atop",
    grammar=GRAMMAR,
    sign="{TITLE}$",
    given={"resources": ("date", "clock"), "processes": ("date", "clock")},
    lines=(
        Line(
            "{ATOP}(?P<host>{CELL}){GAP}(?P<date>{CELL}){GAP}(?P<clock>{CELL}){GAP}{DASHES}(?P<elapsed>{CELL}){ELAPSED}",
            "samples",
            {name: Column(name) for name in ("host", "date", "clock", "elapsed")},
            begins=True,
            sets=("date", "clock"),
        ),
        Line(
            "(?P<label>{LABEL}) {BAR}{REST}",
            "resources",
            {
                "label": Column("resource"),
                "name": Column("name"),
                "value": Column("value", "figure"),
                "value_unit": Column("unit"),
            },
            each="{BAR}{BLANKS}(?P<name>{NAME})(?:{GAP}(?P<value>{NUMBER}){BLANKS}(?P<value_unit>{UNIT})?)?(?:{GAP}{CELL})?{END}",
        ),
        Line(
            "(?P<pid>{WHOLE})"
            + "".join(f"{{GAP}}(?P<{name}>{{CELL}})" for name in _FIELDS)
            + "{GAP}(?P<command>{REST})",
            "processes",
            {
                "pid": Column("pid", "whole"),
                **{name: Column(name) for name in _FIELDS},
                "command": Column("command"),
            },
        ),
        Line("{NOTE}|{HEADING}"),
    ),
)
FORMAT: Final = TOOL.format()
