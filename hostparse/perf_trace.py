"""``perf trace``: the system calls of its lines, and the summary of ``-s``."""

from __future__ import annotations

from typing import Final

from hostparse.line_tool import Column, Line, LineTool
from logframe import load_grammar

GRAMMAR: Final = load_grammar("hostparse", "perf_trace.lark", "line")

_MS: Final = ("total_ms", "min_ms", "mean_ms", "max_ms")
_TIMES: Final = "".join(f"{{GAP}}(?P<{name}>{{NUMBER}})" for name in _MS)
TOOL: Final = LineTool(
    name="perf_trace",
    title="an output of perf trace",
    grammar=GRAMMAR,
    sign="(?:{CALL}|{EVENT}|{TITLE})$",
    given={"calls_by_name": ("command", "pid"), "errors": ("command", "pid", "call")},
    lines=(
        Line(
            "(?P<start>{NUMBER}){GAP}(?:\\((?:{BLANKS}(?P<took>{NUMBER}) {MS})?{BLANKS}\\){COLON} )?"
            "(?P<who>{WHO}) (?P<event>{EVENT_NAME})[( ](?P<arguments>{REST})",
            "events",
            {
                "start": Column("start_ms", "figure"),
                "took": Column("elapsed_ms", "figure"),
                "who": Column("thread"),
                "event": Column("event"),
                "arguments": Column("arguments"),
            },
        ),
        Line(
            "(?:(?P<start>{NUMBER})|{UNKNOWN}){GAP}\\((?:{BLANKS}(?P<took>{NUMBER}) {MS})?{BLANKS}\\){COLON} "
            "(?P<who>{WHO}){GAP}(?P<continued>{CONTINUED})?(?P<name>{NAME})\\((?P<arguments>{ARGUMENTS})\\)?"
            "(?<! ){BLANKS}(?P<result>{RESULT})",
            "calls",
            {
                "start": Column("start_ms", "figure"),
                "took": Column("elapsed_ms", "figure"),
                "who": Column("thread"),
                "continued": Column("continued"),
                "name": Column("call"),
                "arguments": Column("arguments"),
                "result": Column("result"),
            },
        ),
        Line(
            "(?P<command>{COMMAND}) \\((?P<pid>{WHOLE})\\){COMMA}(?P<events>{WHOLE}){COMMA_EVENTS}"
            "(?P<share>{NUMBER}){PERCENT}",
            "threads",
            {
                "command": Column("command"),
                "pid": Column("pid", "whole"),
                "events": Column("events", "whole"),
                "share": Column("share_percent", "figure"),
            },
            sets=("command", "pid"),
        ),
        Line(
            f"(?P<call>{{NAME}}){{GAP}}(?P<count>{{WHOLE}})(?:{{GAP}}(?P<errors>{{WHOLE}}))?{_TIMES}"
            "{GAP}(?P<stddev>{NUMBER}){PERCENT}",
            "calls_by_name",
            {
                "call": Column("call"),
                "count": Column("count", "whole"),
                "errors": Column("errors", "whole"),
                **{name: Column(name, "figure") for name in _MS},
                "stddev": Column("stddev_percent", "figure"),
            },
            sets=("call",),
        ),
        Line(
            "(?P<errno>{ERRNO}){COLON} (?P<count>{WHOLE})",
            "errors",
            {"errno": Column("errno"), "count": Column("count", "whole")},
        ),
        Line("(?:{HEADING}|{RULER}|{TITLE}|{TOTAL}|{NOTE})"),
    ),
)
FORMAT: Final = TOOL.format()
