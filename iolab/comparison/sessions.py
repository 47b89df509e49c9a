"""SQL*Plus sessions: the runs of one statement in two sessions, and the repeated runs within one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.comparison.result import Pairing, UnpairedError
from iolab.comparison.samples import SampleError, compare, compare_many, compare_paired
from iolab.metrics.logical import time_change
from iolab.stats.cache_levels import cache_level
from iolab.stats.first_runs import first_run
from sqlplusparse.runs import normal_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlplusparse import Spool

#: More samples than this are a list, not a comparison.
MOST_SAMPLES: Final = 6
_SHOWN: Final = 100


def pair_sessions(a: Spool, b: Spool, names: tuple[str, str]) -> Pairing:
    """Two sessions compared by what both of them ran.

    Repeated runs of a statement that both have are compared as samples; where there are none, the statements that both
    timed are compared one by one; and two single times are only told as a change.

    Raises:
        UnpairedError: If they have no timed statement in common.
    """
    found = (
        _pair_samples(a, b, names)
        or _pair_unechoed(a, b, names)
        or _pair_statements(a, b, names)
        or _pair_single(a, b, names)
    )
    if found is not None:
        return found
    timed = [one.statements.get_column("elapsed_s").drop_nulls().len() for one in (a, b)]
    if not all(timed):
        name = names[timed.index(0)]
        raise UnpairedError(f"{name} has no timed statement: SET TIMING ON shows the times")
    raise UnpairedError("the sessions have no timed statement with the same text")


def pair_runs(session: Spool, name: str) -> Pairing | None:
    """The repeated runs of one session: how each begins, and how the samples compare; None where nothing was repeated.

    Samples are compared with each other only where the log shows their texts: of others nobody knows what was run.
    """
    samples = _samples(session.runs())
    if not samples:
        return None
    paragraphs = []
    for label, runs in list(samples.items())[:MOST_SAMPLES]:
        text = runs.item(0, "text")
        paragraphs += [] if text is None else [f"{label}: {_short(text)}"]
        paragraphs += _begin(label, runs)
    if len(samples) > MOST_SAMPLES:
        paragraphs.append(f"{len(samples) - MOST_SAMPLES} more samples are in the frame of runs.")
    echoed = {label: runs for label, runs in samples.items() if runs.item(0, "text") is not None}
    if 1 < len(echoed) <= MOST_SAMPLES:
        times = {label: runs.get_column("elapsed_s") for label, runs in echoed.items()}
        places = {label: runs.get_column("statement").to_list() for label, runs in echoed.items()}
        paragraphs.append("These are different statements: their times say which is faster, not why.")
        paragraphs += _compare_all(times, places)
    counted = f"{len(samples)} sample{'s' * (len(samples) > 1)}"
    return Pairing((name,), f"{counted} of repeated runs in one session", tuple(paragraphs))


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


def _short(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= _SHOWN else f"{one_line[:_SHOWN]}..."


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
        evidence = runs.select(
            "physical_reads",
            "recursive_calls",
            elapsed="elapsed_s",
            flushed_before=pl.col("flushed_before").str.contains("buffer_cache").fill_null(value=False),
        )
        said.append(f"{label}: {cache_level(evidence)}")
    except SampleError as error:
        said.append(f"{label}: {error}.")
    return said


def _pair_samples(a: Spool, b: Spool, names: tuple[str, str]) -> Pairing | None:
    """Repeated runs of statements with the same text."""
    sides = [_by_text(one.runs().filter(pl.col("elapsed_s").is_not_null())) for one in (a, b)]
    texts = [text for text in sides[0] if text in sides[1]]
    if not texts:
        return None
    pairs = [(_short(text), sides[0][text], sides[1][text]) for text in texts[:MOST_SAMPLES]]
    paragraphs = [_compare_runs(x, y, names, label) for label, x, y in pairs]
    if len(texts) > MOST_SAMPLES:
        paragraphs.append(f"{len(texts) - MOST_SAMPLES} more statements that both ran are not compared.")
    drawers = tuple(partial(_draw, x, y, names, label) for label, x, y in pairs)
    return Pairing(names, "both ran the same statements repeatedly", tuple(paragraphs), drawers=drawers)


def _pair_unechoed(a: Spool, b: Spool, names: tuple[str, str]) -> Pairing | None:
    """The one sample of each where the logs do not show the statements."""
    samples = [list(_samples(one.runs()).values()) for one in (a, b)]
    if [len(side) for side in samples] != [1, 1] or any(side[0].item(0, "text") is not None for side in samples):
        return None
    x, y = samples[0][0], samples[1][0]
    return Pairing(
        names,
        "each has one sample of repeated runs",
        (
            "The logs do not show the statements: that both ran the same one is your word.",
            _compare_runs(x, y, names, ""),
        ),
        drawers=(partial(_draw, x, y, names, "Every run in its place"),),
    )


def _by_text(runs: pl.DataFrame) -> dict[str, pl.DataFrame]:
    echoed = runs.filter(pl.col("text").is_not_null())
    return {normal_text(rows.item(0, "text")): rows for _, rows in echoed.group_by("sample", maintain_order=True)}


def _compare_runs(x: pl.DataFrame, y: pl.DataFrame, names: tuple[str, str], label: str) -> str:
    """Two samples of runs as a paragraph; samples with different plans are of different work."""
    begin = f"{label}: " if label else ""
    known: dict[str, str] = {}
    for column, condition in (
        ("plan_hash_value", "plan hash"),
        ("rows", "row count"),
        ("physical_reads", "physical reads"),
    ):
        sides = [one.get_column(column).drop_nulls().unique().sort().to_list() for one in (x, y)]
        if not all(sides):
            continue
        if condition != "physical reads" and sides[0] != sides[1]:
            shown = " against ".join(", ".join(map(str, side)) for side in sides)
            return f"{begin}not compared: the {condition} differs ({shown}), so they did different work."
        known[condition] = "equal" if sides[0] == sides[1] else "different"
    resolutions = [step for one in (x, y) for step in one.get_column("resolution_s").drop_nulls()]
    try:
        result = compare(
            x.get_column("elapsed_s"),
            y.get_column("elapsed_s"),
            names=names,
            resolution=max(resolutions) if resolutions else None,
            conditions=known,
        )
    except SampleError as error:
        return f"{begin}not compared: {error}."
    return f"{begin}{result}"


def _pair_statements(a: Spool, b: Spool, names: tuple[str, str]) -> Pairing | None:
    """Statements with the same text, each timed once in both."""
    sides = []
    for one in (a, b):
        timed = one.statements.filter((pl.col("elapsed_s") > 0) & pl.col("text").is_not_null())
        sides.append(
            timed.with_columns(key=pl.col("text").map_elements(normal_text, return_dtype=pl.String)).unique(
                "key", keep="first", maintain_order=True
            )
        )
    both = sides[0].join(sides[1], on="key", how="inner", maintain_order="left", suffix="_b")
    if both.height < 2:
        return None
    steps, times = (
        [one for side in ("", "_b") for one in both.get_column(f"{name}{side}").drop_nulls()]
        for name in ("resolution_s", "elapsed_s")
    )
    # Two clients may have clocks of different steps: no one step is that of both where a time is below the coarser one.
    coarser = max(steps, default=None)
    try:
        result = compare_paired(
            both.get_column("elapsed_s"),
            both.get_column("elapsed_s_b"),
            names=names,
            labels=[_short(text) for text in both.get_column("text")],
            plan_hashes=(both.get_column("plan_hash_value").to_list(), both.get_column("plan_hash_value_b").to_list()),
            row_counts=(both.get_column("rows").to_list(), both.get_column("rows_b").to_list()),
            resolution=coarser if coarser is not None and min(times) >= coarser else None,
        )
    except SampleError as error:
        raise UnpairedError(str(error)) from error
    frame = both.select("text", a="elapsed_s", b="elapsed_s_b", ratio=pl.col("elapsed_s_b") / pl.col("elapsed_s"))
    why = f"both timed {both.height} statements with the same texts"
    return Pairing(names, why, (str(result),), {"Times in s": frame}, is_lettered=True)


def _pair_single(a: Spool, b: Spool, names: tuple[str, str]) -> Pairing | None:
    """One timed statement each."""
    rows = [one.statements.filter(pl.col("elapsed_s").is_not_null()) for one in (a, b)]
    if [one.height for one in rows] != [1, 1]:
        return None
    first, second = (one.row(0, named=True) for one in rows)
    texts = [row["text"] and normal_text(row["text"]) for row in (first, second)]
    if all(texts) and texts[0] != texts[1]:
        return None
    evidence = [f"the text is {'equal' if all(texts) else 'not in both logs'}"]
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


def _draw(x: pl.DataFrame, y: pl.DataFrame, names: tuple[str, str], title: str) -> Any:  # noqa: ANN401 - any chart
    from iolab import charts  # noqa: PLC0415 - Altair is loaded for those who look at charts

    runs = pl.concat(
        one.select(pl.lit(name).alias("sample"), "run", "elapsed_s") for name, one in zip(names, (x, y), strict=True)
    )
    return charts.run_strip(runs, title=title)
