"""``nfsiostat``: requests of each NFS mount, how long they took, and how many were sent again."""

from __future__ import annotations

from typing import Final

from hostparse.line_tool import Column, Line, LineTool
from logframe import load_grammar

GRAMMAR: Final = load_grammar("hostparse", "nfsiostat.lark", "line")

TOOL: Final = LineTool(
    name="nfsiostat",
    title="an output of nfsiostat",
    grammar=GRAMMAR,
    sign="{OPERATION}$",
    may_repeat=True,
    given={"operations": ("export", "mount", "direction")},
    lines=(
        Line(
            "(?P<export>{EXPORT}){MOUNTED_ON}(?P<mount>{FOLDER}){COLON}",
            columns={"export": Column("export"), "mount": Column("mount")},
            sets=("export", "mount"),
            once="mount",
        ),
        Line("{HEADINGS}"),
        Line("{OF_MOUNT}"),
        Line("(?P<direction>{DIRECTION}){COLON}.*", columns={"direction": Column("direction")}, sets=("direction",)),
        Line(
            "(?P<rate>{NUMBER}){GAP}(?P<moved>{NUMBER}){GAP}{NUMBER}{GAP}(?P<again>{WHOLE}) {SHARE_BEFORE}"
            "(?P<share>{NUMBER}){SHARE_END}{GAP}(?P<rtt>{NUMBER}){GAP}(?P<exe>{NUMBER})"
            "(?:{GAP}(?P<queue>{NUMBER})(?:{GAP}{WHOLE} {SHARE_BEFORE}{REST})?|{GAP}{REST})?",
            "operations",
            {
                "rate": Column("requests_per_s", "figure"),
                "moved": Column("bytes_per_s", "figure", 1024.0),
                "again": Column("retransmissions", "whole"),
                "share": Column("retransmitted_percent", "figure"),
                "rtt": Column("round_trip_ms", "figure"),
                "exe": Column("latency_ms", "figure"),
                "queue": Column("queue_ms", "figure"),
            },
        ),
        Line("{COMMAND}"),
    ),
)
FORMAT: Final = TOOL.format()
