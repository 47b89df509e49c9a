"""``sadf -p``: one figure of sar in each line."""

from __future__ import annotations

from typing import Final

from hostparse.line_tool import Column, Line, LineTool
from logframe import load_grammar

GRAMMAR: Final = load_grammar("hostparse", "sadf_lines.lark", "line")

TOOL: Final = LineTool(
    name="sadf_lines",
    title="the output of sadf -p",
    grammar=GRAMMAR,
    sign="{FIGURE}$",
    least=2,
    lines=(
        Line(
            "(?P<host>{CELL}){TAB}(?P<interval>{WHOLE}){TAB}(?P<time>{TIME}){TAB}(?P<item>{CELL}){TAB}(?P<metric>{CELL})"
            "{TAB}(?P<value>{NUMBER})",
            "samples",
            {
                **{name: Column(name) for name in ("host", "time", "item", "metric")},
                "interval": Column("interval_s", "whole"),
                "value": Column("value", "figure"),
            },
        ),
        Line("(?P<text>{RESTART})", "restarts", {"text": Column("text")}),
    ),
)
FORMAT: Final = TOOL.format()
