"""The grammar of one line of a trace."""

from logframe import load_grammar

#: ``trace.lark``: lines as a whole (`line`), regular lines (`whole`), what is sought within a line (`part`), and what
#: listings add (`listing`).
GRAMMAR = load_grammar("sqltraceparse", "trace.lark", "line", "whole", "part", "listing")
