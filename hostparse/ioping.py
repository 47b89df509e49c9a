"""``ioping``: the time of each request of a test of a device or a directory."""

from __future__ import annotations

from typing import Final

from hostparse.line_tool import Column, Line, LineTool
from logframe import load_grammar

GRAMMAR: Final = load_grammar("hostparse", "ioping.lark", "line")

_TIME: Final = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3, "min": 6e4}
_SIZE: Final = {"B": 1.0, "KiB": 1024.0, "MiB": 1024.0**2, "GiB": 1024.0**3}
#: Of ``-p`` and ``-B``: requests, ns, requests and bytes per second, ns of a request, and all requests with the pauses.
_RAW: Final = {
    "requests": Column("requests", "whole"),
    "took": Column("busy_ns", "whole"),
    "iops": Column("requests_per_s", "whole"),
    "rate": Column("bytes_per_s", "whole"),
    **{name: Column(f"latency_{name}_ns", "whole") for name in ("min", "mean", "max", "mdev")},
    "generated": Column("requests_generated", "whole"),
    "passed": Column("passed_ns", "whole"),
}
_SPREAD: Final = ("min", "mean", "max", "mdev")
TOOL: Final = LineTool(
    name="ioping",
    title="an output of ioping",
    grammar=GRAMMAR,
    sign="(?:{REQUEST}|{TITLE})$",
    lines=(
        Line(
            "(?P<size>{NUMBER}) (?P<size_unit>{SIZE_UNIT}) (?P<direction>{DIRECTION}) (?P<target>{TARGET})"
            "{REQUEST_WORD}(?P<request>{WHOLE}){TIME_WORD}(?P<took>{NUMBER}) (?P<took_unit>{TIME_UNIT})"
            "(?: (?P<state>{STATE}))?",
            "requests",
            {
                "size": Column("bytes", "figure", units=_SIZE),
                "direction": Column("direction"),
                "target": Column("target"),
                "request": Column("request", "whole"),
                "took": Column("latency_ms", "figure", units=_TIME),
                "state": Column("state"),
            },
        ),
        Line(
            "{SPREAD_WORDS}"
            + "{SLASH}".join(f"(?P<{name}>{{NUMBER}}) (?P<{name}_unit>{{TIME_UNIT}})" for name in _SPREAD),
            "statistics",
            {name: Column(f"latency_{name}_ms", "figure", units=_TIME) for name in _SPREAD},
        ),
        Line(" ".join(f"(?P<{name}>{{WHOLE}})" for name in _RAW), "intervals", _RAW),
        Line("(?P<text>{TOTALS})", "totals", {"text": Column("text")}),
        Line("{TITLE}"),
    ),
)
FORMAT: Final = TOOL.format()
