"""A log whose frames are all there is to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from logframe.parsed_log import ParsedLog

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, repr=False)
class FrameLog(ParsedLog):
    """A log as frames (`logframe.formats.ParsedLog`).

    Attributes:
        format: the format's name in the registry.
        kind: the tool.
        source: name of the log.
        tables: the frames by name.
        diagnostics: `logframe.DIAGNOSTICS`.
        what: the log in a few words.
    """

    format: str
    kind: str
    source: str
    tables: dict[str, pl.DataFrame]
    diagnostics: pl.DataFrame
    what: str

    def frames(self) -> dict[str, pl.DataFrame]:
        """The frames by name."""
        return self.tables

    def describe(self) -> str:
        """The log in a few words."""
        return self.what
