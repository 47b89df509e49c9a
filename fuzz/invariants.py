"""What must hold of any input, whatever it holds."""

from __future__ import annotations

import hashlib
import io
import warnings
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import polars as pl
from selectolax.lexbor import LexborHTMLParser

from logframe import DIAGNOSTICS, LogError
from logframe.formats import FormatWarning
from logframe.loading import load_all_logs, provenance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from logframe.formats import ParsedLog


#: What is checked of an input, beside what is cheap.
Depth = Literal["cheap", "digest", "thorough", "pages"]
#: Characters that a terminal would act on.
_CONTROLS: Final = frozenset(chr(number) for number in range(32)) - {"\n"}


class Violation(AssertionError):  # noqa: N818 - what was violated, not an error of the program
    """An invariant does not hold."""


class Checked(NamedTuple):
    """What was read of an input that holds what must hold.

    Attributes:
        formats: Format of each log.
        digest: Digest of all frames: the same for the same figures; empty unless it was asked for.
    """

    formats: list[str]
    digest: str


def read(data: bytes) -> list[ParsedLog]:
    """The logs of an input; none where it is refused with one of the project's own errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", FormatWarning)  # a format that fails to recognise a log
        try:
            return load_all_logs({"name": "fuzzed.log", "content": data})
        except LogError:
            return []


def frames_of(log: ParsedLog) -> dict[str, pl.DataFrame]:
    """Every frame of a log, and its diagnostics."""
    frames = {name: frame.lazy().collect() for name, frame in log.frames().items()}
    if log.diagnostics.schema != DIAGNOSTICS:
        raise Violation(f"{log.format}: the diagnostics have the schema {log.diagnostics.schema}")
    return {**frames, "diagnostics": log.diagnostics}


def is_described(log: ParsedLog, frames: dict[str, pl.DataFrame]) -> None:
    """The log says what it is, and each column of bounds is beside its figure."""
    if not log.describe() or "\n" in log.describe():
        raise Violation(f"{log.format}: described as {log.describe()!r}")
    for name, frame in frames.items():
        for column in frame.columns:
            alone = column.removesuffix("_lo") if column.endswith("_lo") else column
            if alone != column and alone not in frame.columns and f"{alone}_hi" not in frame.columns:
                raise Violation(f"{log.format}: {name}.{column} has no figure beside it")


def bounds_hold(log: ParsedLog, frames: dict[str, pl.DataFrame]) -> None:
    """A figure lies within its own bounds."""
    for name, frame in frames.items():
        checks = []
        for column, dtype in frame.schema.items():
            lo, hi = f"{column}_lo", f"{column}_hi"
            if lo in frame.columns and hi in frame.columns and dtype.is_numeric():
                unknown = pl.any_horizontal(pl.col(lo, hi, column).is_null())
                checks.append((unknown | pl.col(column).is_between(lo, hi)).all().alias(column))
        for column, holds in _first_row(frame, checks):
            if not holds:
                raise Violation(f"{log.format}: {name}.{column} lies outside its bounds")


def figures_are_finite(log: ParsedLog, frames: dict[str, pl.DataFrame]) -> None:
    """A figure too large for its type is none: it is null, or its line is a diagnostic."""
    for name, frame in frames.items():
        floats = [column for column, dtype in frame.schema.items() if dtype.is_float()]
        for column, holds in _first_row(frame, [pl.col(column).is_finite().all() for column in floats]):
            if not holds:
                raise Violation(f"{log.format}: {name}.{column} is infinite or no number")


def _first_row(frame: pl.DataFrame, checks: list[pl.Expr]) -> Iterable[tuple[str, bool]]:
    """The name and the value of each check of a frame."""
    return frame.select(checks).row(0, named=True).items() if checks else ()


def lines_are_accounted_for(log: ParsedLog, frames: dict[str, pl.DataFrame]) -> None:
    """A reader that counts lines has each once; no row names a line that the log has not."""
    if log.kind == "strace" and "events" in frames:
        numbers = frames["events"].get_column("line")
        if numbers.n_unique() != numbers.len():
            raise Violation("strace: a line is there twice")
    spool_lines = getattr(log, "lines", None)
    if log.format == "sqlplus" and callable(spool_lines):
        parts = spool_lines().get_column("part")
        if parts.null_count():
            raise Violation("sqlplus: a line is neither a record nor recognised nor a diagnostic")


def no_figure_is_lost_in_silence(log: ParsedLog, data: bytes) -> None:
    """A log that loses a figure has a diagnostic: a damaged log is one that says so."""
    try:
        lost = provenance(log, {"name": "fuzzed.log", "content": data}).filter(status="lost")
    except LogError:  # the source holds more than the log
        return
    if lost.height and log.diagnostics.is_empty():
        line, text, frame = lost.select("line", "text", "frame").row(0)
        raise Violation(f"{log.format}: {frame} lost {text[:40]!r} of line {line} without a diagnostic")


def parquet_keeps_it(log: ParsedLog, frames: dict[str, pl.DataFrame]) -> None:
    """Each frame survives a trip through Parquet."""
    for name, frame in frames.items():
        out = io.BytesIO()
        frame.write_parquet(out)
        out.seek(0)
        if not pl.read_parquet(out).equals(frame):
            raise Violation(f"{log.format}: {name} is another after Parquet")


def can_be_shown(log: ParsedLog) -> None:
    """The summary of a log is made as text, as JSON and as a page, and nothing of the log acts in them."""
    # charts and rules take a second to import, which a run without pages need not wait for
    from iolab.command_line import as_text  # noqa: PLC0415
    from iolab.pages.log_section import log_section  # noqa: PLC0415
    from iolab.pages.summary import summarize  # noqa: PLC0415
    from iolab.pages.summary_text import PARTS, summary_text  # noqa: PLC0415
    from iolab.time_ledger.run import ledger_frame  # noqa: PLC0415

    seen = summarize(log)
    text = summary_text(seen, "fuzzed.log", parts=PARTS, width=80, is_whole=True)
    if _CONTROLS.intersection(text):
        raise Violation(f"{log.format}: the text has control characters of the log")
    figures_are_finite(log, {**seen.frames, "figures": seen.figures, "ledger": ledger_frame(log)})
    frames = {"findings": seen.findings, "figures": seen.figures, "diagnostics": seen.diagnostics}
    as_text({name: frame.to_dicts() for name, frame in frames.items()} | {"notes": seen.notes})
    section = log_section(1, "fuzzed.log", seen, is_only=True, is_drawn=True)
    if LexborHTMLParser(section).css_first("script, iframe, object, embed, link, base") is not None:
        raise Violation(f"{log.format}: the page has an element of the log")


#: Checked of every input.
CHEAP: Final[tuple[Callable[[ParsedLog, dict[str, pl.DataFrame]], None], ...]] = (
    is_described,
    bounds_hold,
    figures_are_finite,
    lines_are_accounted_for,
)


def digest_of(frames: list[dict[str, pl.DataFrame]]) -> str:
    """Digest of the schemas and the values of all frames."""
    found = hashlib.blake2b(digest_size=16)
    for log in frames:
        for name in sorted(log):
            frame = log[name]
            found.update(f"{name} {frame.schema}".encode())
            found.update(repr(frame.rows()).encode(errors="surrogatepass"))
    return found.hexdigest()


def check(data: bytes, *, depth: Depth = "cheap") -> Checked:
    """Read an input and check what must hold.

    Args:
        data: The input.
        depth: ``digest``: also make a digest of what was read; ``thorough``: also account for its figures, read it
            twice, and through Parquet; ``pages``: also make its summary as text, JSON and a page.

    Raises:
        Violation: An invariant does not hold.
    """
    logs = read(data)
    frames = [frames_of(log) for log in logs]
    for log, its in zip(logs, frames, strict=True):
        for invariant in CHEAP:
            invariant(log, its)
        if depth == "pages":
            can_be_shown(log)
    if depth == "thorough":
        if len(logs) == 1:
            no_figure_is_lost_in_silence(logs[0], data)
        again = [frames_of(log) for log in read(data)]
        for log, first, second in zip(logs, frames, again, strict=True):
            if first.keys() != second.keys() or any(not first[name].equals(second[name]) for name in first):
                raise Violation(f"{log.format}: read twice, it is not the same")
            parquet_keeps_it(log, first)
    return Checked([log.format for log in logs], digest_of(frames) if depth in {"digest", "thorough"} else "")
