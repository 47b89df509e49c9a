"""What a run did, and how far it is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Converted:
    """What a run did.

    Attributes:
        found: Files that were found.
        skipped: Files that the dataset holds already.
        counts: Status -> sources (`iolab.dataset.STATUSES`), and `touched`: sources whose file was written again with
            the same content.
        rows: Rows that were written.
        content_bytes: Bytes of text that were read.
        batches: Batches that were committed.
        seconds: Time of the run.
    """

    found: int
    skipped: int
    counts: dict[str, int]
    rows: int
    content_bytes: int
    batches: int
    seconds: float

    def __str__(self) -> str:
        counts = {**dict.fromkeys(("converted", "unreadable", "duplicate", "killed"), 0), **self.counts}
        shown = [f"{self.skipped:,} skipped", *(f"{count:,} {status}" for status, count in counts.items())]
        return f"{self.found:,} files: {', '.join(shown)}; {self.rows:,} rows, {self.seconds:,.1f} s"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Attributes:
        done: Bytes of files that are committed.
        total: Bytes of files to be read.
        counts: As in `Converted`.
        rows: As in `Converted`.
    """

    done: int
    total: int
    counts: dict[str, int]
    rows: int
