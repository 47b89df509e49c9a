"""What becomes of the figures of a log under each transformation of the library, lossless and lossy."""

from __future__ import annotations

import random
import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl
import polars.selectors as cs
from transformations import (
    LOGGED,
    LOSSLESS_HTML,
    LOSSLESS_LINES,
    LOSSLESS_TEXT,
    NUMBERED,
    WRAPPED,
    in_page,
    in_shell,
    lines_of,
    mailed,
    numbered,
    without_lines,
)

import iolab
from logframe import LogError, open_log
from sqlplusparse import Spool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from logframe.formats import ParsedLog

    Change = Callable[[str], str | bytes]

#: Columns of numbers of lines and of names of sources, which a transformation moves.
PLACES: Final = frozenset({"line", "end_line", "first_line", "last_line", "source", "path", "file", "log"})
#: Of SQL traces these are numbers of lines, too.
_PLACES_OF_TRACES: Final = frozenset({"statement", "call", "next_call", "parent", "plan"})
#: Columns with texts whose blanks change when lines are padded, wrapped or given tabs, and what is said of them.
TEXTS: Final = frozenset(
    {"text", "sql_text", "args", "note", "notes", "reason", "title", "message", "printed_text", "remark"}
    | {"stamp", "is_whole", "predicates", "prompt"}
)
#: Figures that are computed of several lines, and so of those that are left.
_COMPUTED: Final = cs.starts_with("own_", "offset_", "kinds") | cs.by_name(
    *("delta", "unaccounted_us", "stamps", "last_tim_us", "first_tim_us", "rate", "process", "gap", "start", "end"),
    require_all=False,
)
#: The formats of databases and of strace; all others are logs of hosts.
FORMATS: Final = frozenset({"awr", "ash", "sqlplus", "sqltrace", "tkprof", "strace"})
#: So many lines show by their numbers that these are of lines.
_FEWEST_COUNTED: Final = 3
#: What a page of a spool or a mail has.
_PAGE: Final = 50


class Verdict(NamedTuple):
    """What became of a transformed log.

    Attributes:
        format: of the log.
        change: the name of the transformation.
        is_lossy: whether figures may be missing.
        outcome: `equal`, `diagnosed` (differs, and has a diagnostic that the log has not), `silent`, `refused`, or
            `joined texts` (see `joined_texts`).
        what: the frames or rows that differ, or the error.
    """

    format: str
    change: str
    is_lossy: bool
    outcome: str
    what: str


def frames_of(logs: Iterable[ParsedLog]) -> dict[str, pl.DataFrame]:
    """The frames of logs by name, without places and texts, and without rows for blank lines."""
    found: dict[str, pl.DataFrame] = {}
    for place, log in enumerate(logs):
        drop = PLACES | TEXTS | (_PLACES_OF_TRACES if log.format in {"sqltrace", "tkprof"} else frozenset())
        frames = {name: frame.lazy().collect() for name, frame in log.frames().items()}
        if isinstance(log, Spool):
            frames |= {f"table {number}": log.table(number) for number in log.tables["table"]}
        for name, frame in frames.items():
            if name == "events" and "kind" in frame.columns:
                frame = frame.filter(pl.col("kind") != "blank")  # noqa: PLW2901 - the rest of the frame
            found[f"{log.format} {place} {name}"] = frame.select([one for one in frame.columns if one not in drop])
    return found


def said(logs: Iterable[ParsedLog]) -> Counter[str]:
    """How many diagnostics of each kind logs have."""
    return Counter(kind for log in logs for kind in log.diagnostics.lazy().collect()["kind"])


class Lossy(NamedTuple):
    """What takes lines out of a log, or breaks them.

    Attributes:
        change: the function.
        removed: the lines that it takes out, counted from 1.
        width: that it breaks lines at; 0 where it breaks none.
    """

    change: Change
    removed: frozenset[int] = frozenset()
    width: int = 0


def without(removed: Iterable[int]) -> Lossy:
    """What takes some lines out of a log, counted from 1."""
    lines = frozenset(removed)
    return Lossy(lambda text: without_lines(text, lines), lines)


def changes_of(logs: list[ParsedLog], text: str, seed: int) -> Iterator[tuple[str, Change | Lossy]]:
    """Name and function of each transformation that a log of this format may undergo."""
    one = logs[0]
    form = getattr(one, "form", "text")
    if one.format in {"awr", "ash"} or form == "html":
        lossless = LOSSLESS_HTML if form == "html" else LOSSLESS_LINES | LOSSLESS_TEXT
    elif one.format in {"sqltrace", "strace"} and len(logs) == 1:
        # one or two numbers may as well be processes: nothing in such a copy shows that they are of lines
        counted = NUMBERED if len(lines_of(text)) >= _FEWEST_COUNTED else {}
        lossless = LOSSLESS_LINES | counted | (LOGGED if one.format == "strace" else {})
    elif one.format not in FORMATS:
        lossless = LOSSLESS_LINES | {"in a mail": mailed, "cat -n": numbered, "in a shell": in_shell}
    else:
        lossless = LOSSLESS_LINES | {"in page": in_page, "cat -n": numbered}
    yield from lossless.items()
    yield from ((name, Lossy(change, width=int(name.split()[-1]))) for name, change in WRAPPED.items())
    lines = lines_of(text)
    if len(lines) > 2 * _PAGE:
        start = random.Random(seed).randrange(1, len(lines) - _PAGE)  # noqa: S311 - test data
        yield "a page missing", without(range(start, start + _PAGE))
    if isinstance(one, Spool) and one.lines().height == len(lines):
        yield from _of_session(one)


def _of_session(spool: Spool) -> Iterator[tuple[str, Change | Lossy]]:
    """What other SET commands make of a session."""
    roles = spool.lines()["role"].to_list()

    def at(*kinds: str) -> list[int]:
        return [number for number, role in enumerate(roles, 1) if role in kinds]

    def prompted(text: str) -> str:
        return re.sub("^(SQL> ?)+", lambda found: found[0].replace("SQL>", "SCOTT@orcl>"), text, flags=re.MULTILINE)

    if any(line.startswith("SQL>") for line in spool._page.lines):  # noqa: SLF001 - only such a session has the prompt
        yield "other prompt", prompted
    if inputs := at("input"):
        yield "echo off", without(inputs)
    if headings := at("heading"):
        yield "headings off", without(headings)


def verdicts(path: Path, seed: int = 0, only: Callable[[str], bool] = lambda _: True) -> Iterator[Verdict]:
    """What becomes of a log under each transformation that it may undergo.

    Raises:
        LogError: the log cannot be read.
    """
    yield from verdicts_of("\n".join(lines_of(open_log(path).text())) + "\n", seed, only)


def verdicts_of(text: str, seed: int = 0, only: Callable[[str], bool] = lambda _: True) -> Iterator[Verdict]:
    """What becomes of a text of a log under each transformation that it may undergo.

    Raises:
        LogError: the log cannot be read.
    """
    logs = list(iolab.load_all(text.encode()))
    expected, known = frames_of(logs), said(logs)
    figures: Figures | None = None
    for name, change in changes_of(logs, text, seed):
        if not only(name):
            continue
        is_lossy = isinstance(change, Lossy)
        changed = change.change(text) if isinstance(change, Lossy) else change(text)
        data = changed if isinstance(changed, bytes) else changed.encode()
        try:
            found_logs = list(iolab.load_all(data))
        except LogError as error:
            yield Verdict(logs[0].format, name, is_lossy, "refused", str(error)[:120])
            continue
        if name == "in session":  # the session is a log of its own
            found_logs = [log for log in found_logs if log.format == logs[0].format]
        found = frames_of(found_logs)
        what = added_rows(expected, found) if is_lossy else different(expected, found)
        if isinstance(change, Lossy) and not what:
            figures = figures or figures_of(logs, text.encode())
            is_page = getattr(logs[0], "form", "text") == "html"
            what = vanished(figures, figures_of(found_logs, data), change, text, is_page=is_page)
        is_diagnosed = bool(said(found_logs) - known)
        outcome = "diagnosed" if what and is_diagnosed else "silent" if what else "equal"
        if outcome == "silent" and isinstance(change, Lossy) and joined_texts(logs, found_logs, lines_of(text), change):
            outcome = "joined texts"
        yield Verdict(logs[0].format, name, is_lossy, outcome, what[:160])


def joined_texts(logs: list[ParsedLog], found: list[ParsedLog], lines: list[str], change: Lossy) -> bool:
    """Is all that differs one statement whose text is the beginning of one text and the end of another one's?

    TKPROF prints any text as it is, without its length, and the figures of a statement below it: a page that is missing
    from within one text to within another leaves the report of a statement with the text that is left.
    """
    if not change.removed or len(logs) != 1 or len(found) != 1 or logs[0].format != "tkprof":
        return False
    whole, copy = (log.frames()["statements"].lazy().collect() for log in (logs[0], found[0]))
    above, below = (lines[place].strip() for place in (min(change.removed) - 2, max(change.removed)))
    texts = [_stripped(text) for text in whole["text"]]
    is_within = all(any(line in text[1:] or line in text[:-1] for text in texts) for line in (above, below))
    joined = [
        place
        for place, text in enumerate(map(_stripped, copy["text"]))
        if text not in texts and (above, below) in pairwise(text)
    ]
    places = PLACES | TEXTS | _PLACES_OF_TRACES
    left = copy.with_row_index("place").filter(~pl.col("place").is_in(joined)).drop("place", *places, strict=False)
    return is_within and len(joined) == 1 and not added_rows({"": whole.drop(places, strict=False)}, {"": left})


def _stripped(text: str) -> list[str]:
    """The lines of a statement's text, without blanks around them."""
    return [line.strip() for line in text.split("\n")]


#: Of each line the figures that a frame or a diagnostic holds: column, text, and whether a frame does.
Figures = dict[int, list[tuple[int, str, bool]]]


def figures_of(logs: Iterable[ParsedLog], data: bytes) -> Figures:
    """The figures of each line that are in a frame, or that a diagnostic names."""
    places: dict[tuple[int, int], tuple[str, bool]] = {}
    for log in logs:
        # numbers in the arguments of a system call are in a frame with them
        held = {"typed", "raw", "diagnosed", *(["text"] if log.format == "strace" else [])}
        try:
            rows = iolab.provenance(log, data).select("line", "column", "text", "status").rows()
        except LogError:  # a format that does not say where its figures came from
            continue
        for line, column, text, status in rows:
            if status in held and not places.get((line, column), ("", False))[1]:
                places[line, column] = (text, status == "typed")
    found: Figures = {}
    for (line, column), figure in places.items():
        found.setdefault(line, []).append((column, *figure))
    return found


def vanished(expected: Figures, found: Figures, change: Lossy, text: str, *, is_page: bool = False) -> str:
    """The figures of lines that a damaged log still has, and that are in none of its frames and diagnostics.

    A page is joined before it is read: its figures are compared without their lines.
    """
    lost: Counter[tuple[int, str]] = Counter()
    place = 0
    for number, line in enumerate(lines_of(text), 1):
        if number in change.removed:
            continue
        width = change.width or len(line) + 1
        pieces = range(place + 1, place + 1 + max(1, -(-len(line) // width)))
        place = pieces[-1]
        left = Counter(one for piece in pieces for _, one, _ in found.get(piece, ())) if not is_page else Counter()
        # those that are cut in two are none of a line
        typed = Counter(
            one
            for column, one, is_typed in expected.get(number, ())
            if is_typed and (column - 1) // width == (column + len(one) - 2) // width
        )
        for one, count in (typed - left).items():
            lost[0 if is_page else number, one] += count
    if is_page:
        lost -= Counter((0, one) for figures in found.values() for _, one, _ in figures)
    return f"{lost.total()} figures are gone: {[*lost.elements()][:8]}" if lost else ""


def different(expected: dict[str, pl.DataFrame], found: dict[str, pl.DataFrame]) -> str:
    """The frames that are not equal, with the columns of the first."""
    names = [one for one in sorted(expected.keys() | found.keys()) if not _is_equal(expected.get(one), found.get(one))]
    if not names:
        return ""
    one, two = expected.get(names[0]), found.get(names[0])
    if one is None or two is None:
        return f"{'no' if two is None else 'new'} {names}"
    columns = [name for name in one.columns if name not in two.columns or not one[name].equals(two[name])]
    return f"{names[0]} {one.height}->{two.height} {columns[:6]}; {names[1:6]}"


def _is_equal(one: pl.DataFrame | None, two: pl.DataFrame | None) -> bool:
    if one is None or two is None:
        return (one is None or one.is_empty()) and (two is None or two.is_empty())
    return one.equals(two)


def added_rows(expected: dict[str, pl.DataFrame], found: dict[str, pl.DataFrame]) -> str:
    """The rows of a damaged log that the whole one has not: figures in a place where they were not printed."""
    problems = []
    known, copied = _by_kind(expected), _by_kind(found)
    for name, frames in copied.items():
        columns = sorted({column for frame in (*frames, *known.get(name, ())) for column in frame.columns})
        of_name = _rows(known.get(name, []), columns)
        added = _not_parts(_rows(frames, columns) - of_name, of_name)
        if added:
            problems.append(f"{name} +{len(added)} {dict(zip(columns, added[0], strict=True))}")
    return "; ".join(problems)


def _not_parts(rows: Iterable[tuple[object, ...]], whole: Iterable[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """The rows whose figures are not all those of one row of the others."""
    by_places: dict[tuple[int, ...], list[tuple[object, ...]]] = {}
    for row in rows:
        by_places.setdefault(tuple(place for place, one in enumerate(row) if one is not None), []).append(row)
    found = []
    for places, those in by_places.items():
        known = {tuple(one[place] for place in places) for one in whole if not places or places[-1] < len(one)}
        found += [row for row in those if tuple(row[place] for place in places) not in known]
    return found


def _by_kind(frames: dict[str, pl.DataFrame]) -> dict[str, list[pl.DataFrame]]:
    """The figures of all frames of a name, without counts of what stands above them."""
    kinds: dict[str, list[pl.DataFrame]] = {}
    ordinals = {"statement", "plan", "listing", "table", "run", "sample", "call", "timing", "ordinal", "series"}
    ordinals |= {"histogram", "list", "explains"}
    for name, frame in frames.items():
        kind = re.sub(r"\d+", "", name)
        if " runs" not in kind and "tables" not in kind:
            kept = frame.select(cs.numeric() - cs.by_name(*ordinals, require_all=False) - _COMPUTED)
            kinds.setdefault(kind, []).append(kept)
    return kinds


def _rows(frames: list[pl.DataFrame], columns: list[str]) -> Counter[tuple[object, ...]]:
    """The rows of frames with some figure, in the order of columns; those that a frame has not are null."""
    rows: Counter[tuple[object, ...]] = Counter()
    for frame in frames:
        placed = frame.select(pl.col(one) if one in frame.columns else pl.lit(None).alias(one) for one in columns)
        rows.update(row for row in placed.iter_rows() if any(cell is not None for cell in row))
    return rows
