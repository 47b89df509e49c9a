"""The words for what was not read, or is doubtful: one vocabulary for the diagnostics of all formats."""

from __future__ import annotations

from typing import Final, Literal, get_args

from logframe.data_files import read_data

#: The column `kind` of the diagnostics, from lines to figures.
DiagnosticKind = Literal[
    "unparsed",
    "damaged",
    "cut",
    "missing",
    "foreign",
    "misplaced",
    "repeated",
    "repaired",
    "encoding",
    "limit",
    "unreadable",
    "no_report",
    "several_reports",
    "invalid",
    "empty",
    "no_heading",
    "unknown_name",
    "no_value",
    "overflow",
    "rounded",
    "ambiguous",
    "no_owner",
    "failed",
    "clock",
    "since_boot",
    "threshold",
    "sum",
    "contradiction",
]
KINDS: Final[tuple[DiagnosticKind, ...]] = get_args(DiagnosticKind)


def kind_meanings() -> dict[str, dict[str, str]]:
    """The ``meaning`` of each word, and what to do ``next``, in full sentences."""
    return read_data("logframe", "kinds")
