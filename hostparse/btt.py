"""``btt``: how long the requests of a blktrace were in each layer of the kernel, and in the device."""

from __future__ import annotations

from typing import Final

from hostparse.line_tool import Column, Line, LineTool
from logframe import load_grammar

GRAMMAR: Final = load_grammar("hostparse", "btt.lark", "line")

_TIMES: Final = ("min", "mean", "max")
#: From one step of a request to the next, in the order of a row: queued, got, inserted, merged, dispatched, completed.
_STEPS: Final = ("q2g", "g2i", "q2m", "i2d", "d2c")
TOOL: Final = LineTool(
    name="btt",
    title="an output of btt (blktrace)",
    grammar=GRAMMAR,
    sign="{SECTION}$",
    may_repeat=True,
    given={"steps": ("section",), "shares": ("section",), "merges": ("section",), "others": ("section",)},
    lines=(
        Line("{EDGE} (?P<section>{TITLE}) {EDGE}", columns={"section": Column("section")}, sets=("section",)),
        Line("{HEADING}|{RULER}"),
        Line(
            "(?P<step>{NAME}){GAP}"
            + "{GAP}".join(f"(?P<{name}>{{NUMBER}})" for name in _TIMES)
            + "{GAP}(?P<count>{WHOLE})",
            "steps",
            {
                "step": Column("step"),
                **{name: Column(f"{name}_ms", "figure", 1e3) for name in _TIMES},
                "count": Column("count", "whole"),
            },
        ),
        Line(
            "(?P<device>{DEVICE}){BAR}" + "{GAP}".join(f"(?P<{name}>{{NUMBER}}){{PERCENT}}" for name in _STEPS),
            "shares",
            {"device": Column("device"), **{name: Column(f"{name}_percent", "figure") for name in _STEPS}},
        ),
        Line(
            "(?P<device>{DEVICE}){BAR}(?P<queued>{WHOLE}){GAP}(?P<dispatched>{WHOLE}){GAP}(?P<ratio>{NUMBER}){BAR}"
            + "{GAP}".join(f"(?P<{name}>{{WHOLE}})" for name in ("least", "mean", "most", "total")),
            "merges",
            {
                "device": Column("device"),
                "queued": Column("queued", "whole"),
                "dispatched": Column("dispatched", "whole"),
                "ratio": Column("merge_ratio", "figure"),
                **{name: Column(f"blocks_{name}", "whole") for name in ("least", "mean", "most", "total")},
            },
        ),
        Line("(?P<text>{OTHER})", "others", {"text": Column("text")}),
    ),
)
FORMAT: Final = TOOL.format()
