"""``top -b``: what its head says, and the processes of its default columns."""

from __future__ import annotations

from typing import Final

from hostparse.line_tool import Column, Line, LineTool
from logframe import load_grammar

GRAMMAR: Final = load_grammar("hostparse", "top.lark", "line")

_SIZES: Final = {"": 1024.0, "m": 1024.0**2, "g": 1024.0**3, "t": 1024.0**4, "p": 1024.0**5}
_SPACE: Final = "(?P<{0}>{{NUMBER}})(?P<{0}_unit>{{SIZE}})?"
_LOADS: Final = ("load_1", "load_5", "load_15")
TOOL: Final = LineTool(
    name="top",
    title="the output of top",
    grammar=GRAMMAR,
    sign="(?:{HEAD}|{HEADING})$",
    given={"processes": ("clock",), "summary": ("clock",)},
    lines=(
        Line(
            "{TOP_WORD}(?P<time>{TIME}) (?P<up>{REST}){LOAD_WORD}"
            + "{COMMA}".join(f"(?P<{name}>{{NUMBER}})" for name in _LOADS),
            "heads",
            {"time": Column("clock"), "up": Column("up"), **{name: Column(name, "figure") for name in _LOADS}},
            begins=True,
            sets=("clock",),
        ),
        Line(
            "(?P<label>{LABEL}){REST}",
            "summary",
            {"label": Column("label"), "value": Column("value", "figure"), "name": Column("name")},
            each="(?P<value>{NUMBER}){PERCENT}(?P<name>{NAME})",
        ),
        Line(
            "(?P<pid>{WHOLE}){GAP}(?P<user>{WORD}){GAP}(?P<priority>{PRIORITY}){GAP}(?P<nice>{PRIORITY}){GAP}"
            + "{GAP}".join(_SPACE.format(name) for name in ("virtual", "resident", "shared"))
            + "{GAP}(?P<state>{WORD}){GAP}(?P<cpu>{NUMBER}){GAP}(?P<memory>{NUMBER}){GAP}(?P<used>{WORD}){GAP}"
            "(?P<command>{REST})",
            "processes",
            {
                "pid": Column("pid", "whole"),
                "user": Column("user"),
                "priority": Column("priority"),
                "nice": Column("nice"),
                **{name: Column(f"{name}_bytes", "figure", units=_SIZES) for name in ("virtual", "resident", "shared")},
                "state": Column("state"),
                "cpu": Column("cpu_percent", "figure"),
                "memory": Column("memory_percent", "figure"),
                "used": Column("cpu_time"),
                "command": Column("command"),
            },
        ),
        Line("{HEADING}"),
    ),
)
FORMAT: Final = TOOL.format()
