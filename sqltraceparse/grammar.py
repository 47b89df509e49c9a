"""The grammar of one line of a trace."""

from __future__ import annotations

import re
from functools import cache

from logframe import load_grammar

#: ``trace.lark``: lines as a whole (`line`), regular lines (`whole`), what is sought within a line (`part`), and what
#: listings add (`listing`).
GRAMMAR = load_grammar("sqltraceparse", "trace.lark", "line", "whole", "part", "listing")


@cache
def record_start() -> re.Pattern[str]:
    """What a record of a trace starts with."""
    return re.compile(GRAMMAR.pattern("{RECORD_START}"))
