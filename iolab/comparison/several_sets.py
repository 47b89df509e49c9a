"""Several sets of logs, such as a week each of three settings: each later set against the first one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.comparison.before_after import BeforeAfter, compare_sets
from iolab.comparison.changes import DOWN, UP
from iolab.comparison.result import UnpairedError
from iolab.shown import Shown
from iolab.sources import as_logs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from iolab.comparison.result import Options
    from iolab.sources import Places
    from logframe.formats import ParsedLog

#: A quantity of the overview.
_KEYS: Final = ("instance", "event", "quantity", "unit")
#: Columns of `SeveralSets.overview`: a row a quantity and set; the ratio and change are against the first set.
OVERVIEW: Final = pl.Schema(
    dict.fromkeys((*_KEYS, "set"), pl.String())
    | dict.fromkeys(("value", "least", "greatest"), pl.Float64())
    | {"reports": pl.Int64()}
    | dict.fromkeys(("ratio", "ratio_least", "ratio_greatest"), pl.Float64())
    | {"change": pl.String()}
)


@dataclass(frozen=True)
class SeveralSets(Shown):
    """Sets of logs, each compared with the first.

    Attributes:
        names: The sets, the first one first.
        steps: What changed from the first set to each later one.
        refused: Sets that share nothing with the first, and why.
        overview: The load and the latencies of all sets, a row a quantity and set (`OVERVIEW`).
    """

    names: tuple[str, ...]
    steps: dict[str, BeforeAfter]
    refused: dict[str, str]
    overview: pl.DataFrame

    def __str__(self) -> str:
        """What changed, set by set."""
        return "\n".join(f"{name}: {sentence}" for name, step in self.steps.items() for sentence in step.sentences)


def compare_several(
    sets: Mapping[str, Mapping[str, ParsedLog] | Places], *, options: Options | None = None
) -> SeveralSets:
    """What changed from the first of several sets of logs to each of the others.

    Each comparison is one of two sets (`compare_sets`), so its verdicts are corrected for its own quantities only.

    Args:
        sets: The logs of each set by its name, as `compare_sets` takes them; the first set is what the others are
            compared with.
        options: How runs of statements are compared.

    Raises:
        UnpairedError: If there are fewer than two sets, or none of the others compares with the first.
    """
    if len(sets) < 2:
        raise UnpairedError(f"a comparison takes 2 sets or more, got {len(sets)}")
    (first, logs), *others = [(name, as_logs(each)) for name, each in sets.items()]
    steps: dict[str, BeforeAfter] = {}
    refused: dict[str, str] = {}
    for name, other in others:
        try:
            steps[name] = compare_sets(logs, other, options=options)
        except UnpairedError as error:
            refused[name] = str(error)
    if not steps:
        raise UnpairedError("; ".join(f"{name} against {first}: {reason}" for name, reason in refused.items()))
    return SeveralSets(tuple(sets), steps, refused, _overview(first, steps))


def _overview(first: str, steps: Mapping[str, BeforeAfter]) -> pl.DataFrame:
    """The quantities of all sets; of the first set as any comparison has them, for it is the same in all."""
    found = []
    for name, step in steps.items():
        changes = pl.concat([step.load, step.latencies])
        for label, side in ((first, "before"), (name, "after")):
            values = {end: f"{side}{f'_{end}' if end else ''}" for end in ("", "least", "greatest")}
            columns = [pl.col(column).alias(end or "value") for end, column in values.items()]
            columns += [pl.lit(label).alias("set"), pl.col(f"reports_{side}").alias("reports")]
            rows = changes.with_columns(columns)
            if side == "before":
                blank = [pl.lit(None, dtype).alias(one) for one, dtype in OVERVIEW.items() if one.startswith("ratio")]
                rows = rows.with_columns(*blank, pl.lit(None, pl.String).alias("change"))
            found.append(rows.select(list(OVERVIEW)))
    overview = pl.concat(found).unique([*_KEYS, "set"], keep="first", maintain_order=True)
    keys = overview.select(_KEYS).unique(maintain_order=True).with_row_index("place")
    return overview.join(keys, on=_KEYS, nulls_equal=True).sort("place", maintain_order=True).drop("place")


def moved(overview: pl.DataFrame) -> pl.DataFrame:
    """The rows of quantities that changed in a set."""
    names = overview.filter(pl.col("change").is_in([UP, DOWN])).select(_KEYS).unique(maintain_order=True)
    return overview.join(names, on=_KEYS, how="semi", nulls_equal=True, maintain_order="left")
