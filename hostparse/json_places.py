"""Which rows of the frames came from which values of the JSON of sysstat's tools, for `logframe.provenance`."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from hostparse.json_documents import documents_of
from hostparse.sysstat_json import rows_of
from logframe.json_leaves import json_leaves
from logframe.provenance import Claim, Part

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from hostparse.stored import Part as Printed
    from logframe.json_leaves import Leaf

_STAMP: Final = "timestamp"
_COMMENTS: Final = "comments"
_STATISTICS: Final = "statistics"
#: Steps of a path to a sample, and to what it holds.
_SAMPLE: Final = 3


class Offsets:
    """Offsets in a text as lines and columns."""

    def __init__(self, text: str) -> None:
        self._lines = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]

    def place(self, offset: int) -> tuple[int, int]:
        r"""Line and column of an offset, counted from 1.

        Examples:
            >>> Offsets("a\nbc").place(3)
            (2, 2)
        """
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1


class JsonPlaces:
    """Where the values of documents are, each a place of its own, and what has them.

    Args:
        text: of the log, as it was read.
        parts: the parts of the log.
        rows: of each, its rows in the wide frames.
        flags: of each row of ``samples``.
        runs: number of rows of ``runs``.
    """

    def __init__(
        self,
        text: str,
        parts: Sequence[Printed],
        rows: Sequence[Sequence[tuple[int, Claim]]],
        flags: Sequence[str | None],
        runs: int,
    ) -> None:
        self._text = text
        self._documents, _ = documents_of("", text)
        self._offsets = Offsets(text)
        self._headings = [part.heading for part in parts]
        self._claims_of = [[claim for _, claim in its] for its in rows]
        self._flags = flags
        self._runs = runs
        #: Row of ``samples`` of the first row of each part, by the name of the value.
        self._samples: list[dict[str, int]] = []
        row = 0
        for part in parts:
            fields = {}
            for each in part.heading.fields:
                if each.metric is not None:
                    fields[each.printed] = row
                    row += part.frame.height
            self._samples.append(fields)
        self._rows = [
            (part, row, each)
            for part, rows in enumerate(rows_of(self._documents).tables.values())
            for row, each in enumerate(rows[: parts[part].frame.height])
        ]

    def part(self, frames: Mapping[str, pl.DataFrame]) -> Part:
        """The part of the text."""
        found = Part(self._text, frames)
        starts: list[tuple[int, int]] = [(1, 1)]
        for number, document in enumerate(self._documents):
            owners = self._owners(number)
            for leaf in json_leaves(document.text):
                if (start := document.start + leaf.start) >= document.end:
                    break
                starts.append(self._offsets.place(start))
                key = len(starts) - 1
                found.claims[key], found.statuses[key] = self._claims(leaf, *owners)
                # what follows a value up to the name of the next one: names of objects
                starts.append(self._offsets.place(document.start + leaf.end))
                found.statuses[len(starts) - 1] = "layout"
            starts.append(self._offsets.place(document.end))
        found.starts = starts
        return found

    def _owners(self, document: int) -> tuple[dict[str, tuple[int, int]], dict[str, list[tuple[int, int]]]]:
        """The part and the row that has the object at a path, and those of the first row of each part in a sample."""
        objects: dict[str, tuple[int, int]] = {}
        samples: dict[str, dict[int, int]] = {}
        for part, row, each in self._rows:
            if each.document == document:
                objects[each.path] = part, row
                samples.setdefault(".".join(each.path.split(".")[:_SAMPLE]), {}).setdefault(part, row)
        return objects, {path: list(rows.items()) for path, rows in samples.items()}

    def _claims(
        self, leaf: Leaf, objects: Mapping[str, tuple[int, int]], samples: Mapping[str, Sequence[tuple[int, int]]]
    ) -> tuple[list[Claim], str]:
        """What has a value, and what becomes of its numbers otherwise."""
        steps = leaf.path.split(".")
        if len(steps) < _SAMPLE or not steps[_SAMPLE - 1].startswith(_STATISTICS):
            is_comment = len(steps) >= _SAMPLE and steps[_SAMPLE - 1].startswith(_COMMENTS)
            columns = dict.fromkeys(("cpus", "day", "interval_s", "restarted_s"), 1.0)
            return [Claim("runs", row, columns) for row in range(self._runs)], "text" if is_comment else "layout"
        if len(steps) > _SAMPLE and steps[_SAMPLE] == _STAMP:
            rows = samples.get(".".join(steps[:_SAMPLE]), ())
            return [self._claim(part, row, steps[-1]) for part, row in rows[:1]], "layout"
        path, _, name = leaf.path.rpartition(".")
        if path not in objects:
            return [], "lost"
        part, row = objects[path]
        first = self._samples[part].get(name)
        is_flagged = first is not None and self._flags[first + row] is not None
        return [self._claim(part, row, name)], "diagnosed" if is_flagged else "lost"

    def _claim(self, part: int, row: int, printed: str) -> Claim:
        """The row with the column of a name; without such a figure, with those that say what and when the row is."""
        claim = self._claims_of[part][row]
        field = next((one for one in self._headings[part].fields if one.metric and one.printed == printed), None)
        if field is not None:
            return claim._replace(columns={field.name: claim.columns[field.name]})
        figures = {one.name for one in self._headings[part].fields if one.metric}
        return claim._replace(columns={name: 1.0 for name in claim.columns if name not in figures})
