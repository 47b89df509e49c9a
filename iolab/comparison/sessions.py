"""SQL*Plus sessions: the statements of two sessions, the repeated runs within one, and which cache made them fast."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Final, Literal

import polars as pl

from iolab.comparison.result import Options, Pairing, UnpairedError
from iolab.comparison.samples import compare, compare_many
from iolab.comparison.session_report import compare_match, compare_statements, draw_runs, failures
from iolab.comparison.statements import Match, Statement
from iolab.metrics.formatting import short_text
from iolab.metrics.lookups import time_change
from iolab.shown import Shown
from iolab.stats.first_runs import COLD_RATIO, MIN_SERIES, first_run
from iolab.stats.samples import SampleError, read_sample
from logframe.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from iolab.stats.comparison import Comparison
    from sqlplusparse import Spool

#: More samples than this are a list, not a comparison.
MOST_SAMPLES: Final = 6
_SHOWN: Final = 100


def pair_sessions(a: Spool, b: Spool, names: tuple[str, str], options: Options) -> Pairing:
    """Two sessions compared by what both of them ran.

    Statements are matched by text (`iolab.comparison.session_report`); where a log shows no texts, its one sample of
    runs, or its one timed statement, is compared with that of the other.

    Raises:
        UnpairedError: If they have no timed statement in common.
    """
    found = (
        compare_statements(a, b, names, options) or _pair_unechoed(a, b, names, options) or _pair_single(a, b, names)
    )
    if found is not None:
        return found
    timed = [one.statements.get_column("elapsed_s").drop_nulls().len() for one in (a, b)]
    if not all(timed):
        name = names[timed.index(0)]
        raise UnpairedError(f"{name} has no timed statement: SET TIMING ON shows the times")
    failed = " ".join(failures(a, b)).rstrip(".")
    ended = f"; {failed[0].lower()}{failed[1:]}" if failed else ""
    raise UnpairedError(f"the sessions have no timed statement with the same text{ended}")


def pair_runs(session: Spool, name: str) -> Pairing | None:
    """The repeated runs of one session: how each begins, and how the samples compare; None where nothing was repeated.

    Samples are compared with each other only where the log shows their texts: of others it is not known what was run.
    """
    samples = _samples(session.runs())
    if not samples:
        return None
    paragraphs = []
    for label, runs in list(samples.items())[:MOST_SAMPLES]:
        text = runs.item(0, "text")
        paragraphs += [] if text is None else [f"{label}: {short_text(text, _SHOWN)}"]
        paragraphs += _begin(label, runs)
    if len(samples) > MOST_SAMPLES:
        paragraphs.append(f"{len(samples) - MOST_SAMPLES} more samples are in the frame of runs.")
    echoed = {label: runs for label, runs in samples.items() if runs.item(0, "text") is not None}
    if 1 < len(echoed) <= MOST_SAMPLES:
        times = {label: runs.get_column("elapsed_s") for label, runs in echoed.items()}
        places = {label: runs.get_column("statement").to_list() for label, runs in echoed.items()}
        paragraphs.append("These are different statements: their times say which is faster, not why.")
        paragraphs += _compare_all(times, places)
    return Pairing((name,), f"{counted(len(samples), 'sample')} of repeated runs in one session", tuple(paragraphs))


def _compare_all(times: Mapping[str, pl.Series], places: Mapping[str, list[int]]) -> list[str]:
    try:
        if len(times) > 2:
            return [str(compare_many(times, orders=places))]
        (a, x), (b, y) = times.items()
        return [str(compare(x, y, names=(a, b), order_a=places[a], order_b=places[b]))]
    except SampleError as error:
        return [f"Not compared: {error}."]


def _samples(runs: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The samples with two timed runs or more, by the numbers that the frame of runs gives them."""
    timed = runs.filter(pl.col("elapsed_s").is_not_null())
    by_number = timed.group_by("sample", maintain_order=True)
    return {f"sample {number}": rows for (number,), rows in by_number if rows.height > 1}


def _begin(label: str, runs: pl.DataFrame) -> list[str]:
    """How a sample begins, and which cache the evidence names."""
    said = []
    if runs.item(0, "text") is None:
        said.append(
            f"{label}: the log does not show the statements of its {runs.height} runs; that they are of one statement "
            "is taken from what they printed. Where they are not, what follows is of no meaning."
        )
    plans = runs.get_column("plan_hash_value").drop_nulls().unique().sort().to_list()
    if len(plans) > 1:
        return [*said, f"{label}: the plan changed between the runs ({', '.join(map(str, plans))}): no one sample."]
    try:
        said.append(str(first_run(runs.get_column("elapsed_s"), name=label)))
        said.append(f"{label}: {cache_level(runs)}")
    except SampleError as error:
        said.append(f"{label}: {error}.")
    return said


def _pair_unechoed(a: Spool, b: Spool, names: tuple[str, str], options: Options) -> Pairing | None:
    """The one sample of each where the logs do not show the statements."""
    samples = [list(_samples(one.runs()).values()) for one in (a, b)]
    if [len(side) for side in samples] != [1, 1] or any(side[0].item(0, "text") is not None for side in samples):
        return None
    x, y = samples[0][0], samples[1][0]
    found = _compare_unechoed(x, y, names, options)
    return Pairing(
        names,
        "each has one sample of repeated runs",
        ("The logs do not show the statements: that both ran the same one is your word.", str(found)),
        drawers=(partial(draw_runs, x, y, names, "Every run in its place"),),
        verdict="" if isinstance(found, str) else found.headline,
        is_lettered=not isinstance(found, str),
    )


def _compare_unechoed(x: pl.DataFrame, y: pl.DataFrame, names: tuple[str, str], options: Options) -> Comparison | str:
    """Two samples of runs; a sentence if they are not, or returned other numbers of rows: different work."""
    match = Match(Statement("", x), Statement("", y))
    if match.has_other_rows:
        shown = " against ".join(", ".join(map(str, counts)) for counts in match.distinct("rows"))
        return f"Not compared: the row count differs ({shown}), so they did different work."
    try:
        return compare_match(match, names, options)
    except SampleError as error:
        return f"Not compared: {error}."


def _pair_single(a: Spool, b: Spool, names: tuple[str, str]) -> Pairing | None:
    """One timed statement each, of which a log does not show the text."""
    rows = [one.statements.filter(pl.col("elapsed_s").is_not_null()) for one in (a, b)]
    if [one.height for one in rows] != [1, 1]:
        return None
    first, second = (one.row(0, named=True) for one in rows)
    if first["text"] is not None and second["text"] is not None:
        return None
    evidence = ["the text is not in both logs"]
    for column, what in (("plan_hash_value", "plan hash"), ("rows", "row count")):
        if first[column] is not None and second[column] is not None:
            if first[column] != second[column]:
                raise UnpairedError(f"the {what} differs ({first[column]} against {second[column]}): different work")
            evidence.append(f"the {what} is equal ({first[column]})")
    times = [(row["elapsed_s"], row.get("elapsed_s_lo"), row.get("elapsed_s_hi")) for row in (first, second)]
    return Pairing(
        names,
        "each timed one statement",
        (f"Are they the same statement? {'; '.join(evidence).capitalize()}.",),
        {"The change": time_change(*times)},
    )


Level = Literal["buffer cache", "below Oracle", "parse", "several", "unknown"]


@dataclass(frozen=True, slots=True)
class CacheLevel(Shown):
    """Which cache made later runs faster, as far as the evidence goes.

    Attributes:
        level: ``buffer cache``, ``below Oracle`` (file system, array, flash), ``parse``, ``several``, or ``unknown``.
        possible: The explanations the evidence leaves.
        evidence: What was looked at, one sentence each.
    """

    level: Level
    possible: tuple[str, ...]
    evidence: tuple[str, ...]

    def __str__(self) -> str:
        """A paragraph with the level and the evidence."""
        left = f" (left: {', '.join(self.possible)})" if self.level == "unknown" and self.possible else ""
        return f"Cache level: {self.level}{left}. {' '.join(f'{sentence}.' for sentence in self.evidence)}"

    def to_frame(self) -> pl.DataFrame:
        """One row a piece of evidence: level, evidence."""
        return pl.DataFrame(
            {"level": [self.level] * len(self.evidence), "evidence": self.evidence},
            schema={"level": pl.String, "evidence": pl.String},
        )


#: Physical reads that differ by no more than this share are the same reads.
SAME_READS = 0.1

#: Physical reads down to this share of the first run's are fewer reads.
LESS_READS = 0.8


def cache_level(runs: pl.DataFrame) -> CacheLevel:
    """Which cache made the later runs of a statement faster, by evidence.

    Args:
        runs: One row a run, in run order: those of one sample of `Spool.runs`, or the columns `elapsed` (a number or
            a duration), and, where known, `physical_reads` (blocks), `recursive_calls` and `flushed_before` (whether
            the buffer cache was flushed before the run). A missing column and a null both mean "not recorded".

    The first run is compared with the median of the others:

    - physical reads fall by a fifth or more: the buffer cache took part;
    - physical reads stay the same within a tenth: the buffer cache did not;
    - physical reads not recorded, but the buffer cache flushed before every later run: it did not either;
    - no physical reads at all: nothing below Oracle was used;
    - recursive calls fall to a half or less: the parse took part; else it did not.

    A level is named when one explanation is shown, or when all but one are ruled out.

    Raises:
        SampleError: If an elapsed time is not a finite number above zero.

    Examples:
        >>> print(cache_level(pl.DataFrame({
        ...     "elapsed": [63.3, 19.2, 19.3, 19.3], "physical_reads": [7239] * 4, "recursive_calls": [0] * 4})))
        Cache level: below Oracle. The first run took 3.28x the median of the 3 others.
        Physical reads stayed the same (7239 to 7239): not the buffer cache.
        Recursive calls did not fall (0 to 0): not the parse.
    """
    if runs.schema.get("flushed_before") == pl.String:
        names = pl.col("flushed_before").str.split(", ")
        runs = runs.with_columns(flushed_before=names.list.contains("buffer_cache").fill_null(value=False))
    known = runs.rename({"elapsed_s": "elapsed"}, strict=False).drop_nulls("elapsed")
    values = read_sample(known["elapsed"], "elapsed").values
    if len(values) < 2:
        return CacheLevel("unknown", (), ("One run cannot be compared with another",))
    ratio = values[0] / median(values[1:])
    compared = f"The first run took {ratio:.2f}x the median of the {len(values) - 1} others"
    if ratio < COLD_RATIO:
        return CacheLevel("unknown", (), (f"{compared}: nothing got faster, so no cache shows",))
    evidence = [compared]
    if len(values) < MIN_SERIES:
        evidence.append(f"{len(values)} runs are too few to say that this is not chance")
    elif first_run(values).kind in ("flat", "two_groups", "slow_down"):
        return CacheLevel("unknown", (), (f"{compared}: that is within the spread of the runs",))
    # True: shown; False: ruled out; None: neither.
    verdicts: dict[Level, bool | None] = {
        "buffer cache": _judge_buffer_cache(known, evidence),
        "parse": _judge_parse(known, evidence),
        "below Oracle": _judge_storage(known, evidence),
    }
    shown = tuple(name for name, verdict in verdicts.items() if verdict)
    left = tuple(name for name, verdict in verdicts.items() if verdict is not False)
    if len(shown) > 1:
        return CacheLevel("several", shown, tuple(evidence))
    named = shown if len(left) > 1 and left == (*shown, "below Oracle") else left
    return CacheLevel(named[0] if len(named) == 1 else "unknown", named, tuple(evidence))


#: Where the other runs have no more than this share of a run's recursive calls, that run parsed and they did not.
PARSE_SHARE = 0.1


def parse_noise(runs: pl.DataFrame) -> tuple[int, ...]:
    """The runs, counted from 1, that made recursive calls while their siblings made hardly any.

    Such a run holds a hard parse or dynamic sampling beside the statement's work: its time is not that of the others.
    The siblings of a run are all others; it is compared with their median.

    Args:
        runs: One row a run of one statement, in run order, with `recursive_calls`; null where they are not recorded.

    Returns:
        Their places; none where nothing is recorded, or where every run makes such calls.

    Examples:
        >>> parse_noise(pl.DataFrame({"recursive_calls": [912, 0, 0, 14, 0]}))
        (1, 4)
    """
    if "recursive_calls" not in runs.columns:
        return ()
    known = [(place, calls) for place, calls in enumerate(runs["recursive_calls"].to_list(), 1) if calls is not None]
    if len(known) < 3:
        return ()
    return tuple(
        place
        for place, calls in known
        if calls > 0 and median(other for at, other in known if at != place) <= calls * PARSE_SHARE
    )


def _first_and_others(runs: pl.DataFrame, column: str) -> tuple[float, float] | None:
    """The first value and the median of the others, or None if one is missing."""
    if column not in runs.columns or runs[column].null_count():
        return None
    values = runs[column].cast(pl.Float64).to_list()
    return values[0], median(values[1:])


def _judge_buffer_cache(runs: pl.DataFrame, evidence: list[str]) -> bool | None:
    reads = _first_and_others(runs, "physical_reads")
    later = runs["flushed_before"].to_list()[1:] if "flushed_before" in runs.columns else [None]
    flushed = all(later)
    if reads is None:
        evidence.append("Physical reads are not recorded for every run")
        if not flushed:
            return None
        evidence.append("The buffer cache was flushed before every later run: not the buffer cache")
        return False
    first, others = reads
    change = f"({first:.0f} to {others:.0f})"
    if others < first and others <= first * LESS_READS:
        evidence.append(f"Physical reads fell {change}: the buffer cache")
        if flushed:
            evidence.append("A flush is recorded before every later run all the same")
        return True
    if abs(others - first) <= SAME_READS * max(first, others):
        evidence.append(f"Physical reads stayed the same {change}: not the buffer cache")
        return False
    evidence.append(f"Physical reads changed too little or the wrong way {change} to say")
    return None


def _judge_parse(runs: pl.DataFrame, evidence: list[str]) -> bool | None:
    calls = _first_and_others(runs, "recursive_calls")
    if calls is None:
        evidence.append("Recursive calls are not recorded for every run")
        return None
    first, others = calls
    if first > 0 and others <= first / 2:
        evidence.append(f"Recursive calls fell ({first:.0f} to {others:.0f}): the parse")
        return True
    evidence.append(f"Recursive calls did not fall ({first:.0f} to {others:.0f}): not the parse")
    return False


def _judge_storage(runs: pl.DataFrame, evidence: list[str]) -> bool | None:
    reads = _first_and_others(runs, "physical_reads")
    if reads is not None and reads[0] == 0:
        evidence.append("The first run read no block: nothing below Oracle")
        return False
    return None
