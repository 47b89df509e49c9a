"""SQL*Plus sessions: the statements of two sessions, and the repeated runs within one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.comparison.result import Pairing, UnpairedError
from iolab.comparison.samples import Comparison, SampleError, compare, compare_many
from iolab.comparison.session_report import Options, compare_match, compare_statements, draw_runs, failures
from iolab.comparison.statements import Match, Statement
from iolab.metrics.formatting import short_text
from iolab.metrics.logical import time_change
from iolab.stats.cache_levels import cache_level
from iolab.stats.first_runs import first_run
from logframe.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        flushed = pl.col("flushed_before").str.split(", ")
        evidence = runs.select(
            "physical_reads",
            "recursive_calls",
            elapsed="elapsed_s",
            flushed_before=flushed.list.contains("buffer_cache").fill_null(value=False),
        )
        said.append(f"{label}: {cache_level(evidence)}")
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
        shown = " against ".join(", ".join(map(str, one.row_counts)) for one in (match.a, match.b))
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
