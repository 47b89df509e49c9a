"""``iotop -b``: reads and writes of each thread, and of all."""

from __future__ import annotations

from typing import Final

from hostparse.line_tool import Column, Line, LineTool
from logframe import load_grammar

GRAMMAR: Final = load_grammar("hostparse", "iotop.lark", "line")

_UNITS: Final = {f"{letter}{end}": 1024.0**power for power, letter in enumerate("BKMGT") for end in ("", "/s")}
_MOVED: Final = {
    "read": Column("read_bytes_per_s", "figure", units=_UNITS),
    "write": Column("write_bytes_per_s", "figure", units=_UNITS),
}
_RATE: Final = "(?P<{0}>{{NUMBER}}) (?P<{0}_unit>{{RATE_UNIT}})"
_CLOCK: Final = "(?:(?P<time>{TIME}){GAP})?"


def _total(word: str, *, begins: bool) -> Line:
    return Line(
        f"{_CLOCK}(?P<which>{{{word}}}){{READ_WORD}}{{COLON}}{{GAP}}{_RATE.format('read')}{{BAR}}"
        f"{{{word}}}{{WRITE_WORD}}{{COLON}}{{GAP}}{_RATE.format('write')}(?:{{BAR}}(?P<date>{{DATE}}))?",
        "totals",
        {"time": Column("clock"), "date": Column("date"), "which": Column("which"), **_MOVED},
        begins=begins,
    )


TOOL: Final = LineTool(
    name="iotop",
    title="an output of iotop",
    grammar=GRAMMAR,
    sign="(?:{TOTAL}|{HEADING}|{THREAD})$",
    lines=(
        *(_total(name, begins=begins) for name, begins in (("TOTAL_WORD", True), ("OTHER_WORD", False))),
        Line(
            f"{_CLOCK}(?P<tid>{{WHOLE}}){{GAP}}(?P<priority>{{WORD}}){{GAP}}(?P<user>{{WORD}}){{GAP}}"
            f"{_RATE.format('read')}{{GAP}}{_RATE.format('write')}{{GAP}}"
            "(?:{UNAVAILABLE}|(?P<swap>{NUMBER}){PERCENT}{GAP}(?P<io>{NUMBER}){PERCENT}){GAP}(?P<command>{REST})",
            "threads",
            {
                "time": Column("clock"),
                "tid": Column("tid", "whole"),
                "priority": Column("priority"),
                "user": Column("user"),
                **_MOVED,
                "swap": Column("swap_in_percent", "figure"),
                "io": Column("io_wait_percent", "figure"),
                "command": Column("command"),
            },
        ),
        Line("{HEADING}|{NOTE}"),
    ),
)
FORMAT: Final = TOOL.format()
