"""The result of comparing three or more samples."""

from dataclasses import dataclass

import polars as pl

from iolab.shown import Shown
from iolab.stats.comparison import Comparison
from iolab.stats.report import describe_time, format_estimate, format_p, make_frame
from iolab.stats.verdict import describe_verdict


@dataclass(frozen=True, slots=True)
class ManyComparison(Shown):
    """Every pair of three or more samples, with one test of them all.

    Attributes:
        names: The samples in their order.
        h: Kruskal and Wallis' statistic; None where all values are equal.
        p_kruskal: Its p value (chi-squared approximation, ties corrected).
        pairs: The comparison of each pair; the verdict uses the corrected p value.
        p_holm: The corrected p value of each pair.
    """

    names: tuple[str, ...]
    h: float | None
    p_kruskal: float
    pairs: tuple[Comparison, ...]
    p_holm: tuple[float, ...]

    def __str__(self) -> str:
        """A paragraph: the test of all, then one sentence a pair."""
        lines = [f"{len(self.names)} samples ({', '.join(self.names)}): Kruskal-Wallis {format_p(self.p_kruskal)}."]
        for pair, p in zip(self.pairs, self.p_holm, strict=True):
            a, b = pair.names
            lines.append(
                f"Of {a} and {b}, {describe_time(b, a, pair.pct_less_time)} (ratio "
                f"{b}/{a} {format_estimate(pair.ratio)}, speed-up {a}/{b} "
                f"{format_estimate(pair.speedup, 'x')}, Holm {format_p(p)}): "
                f"{describe_verdict(pair.verdict, a, b, pair.threshold)} - {pair.reason}."
            )
        caveats = dict.fromkeys(caveat for pair in self.pairs for caveat in pair.caveats)
        lines += [f"Caveat: {caveat}." for caveat in caveats]
        lines.append("Intervals 95 %, each for its pair alone; the p values are corrected for the number of pairs.")
        settings = dict.fromkeys(pair.describe_setting() for pair in self.pairs)
        lines += [f"{setting[0].upper()}{setting[1:]}" for setting in settings]
        return " ".join(lines)

    def to_frame(self) -> pl.DataFrame:
        """One row a figure: a, b, then as of `Comparison.to_frame`; a and b are null for the test of all."""
        parts = [
            pl.concat(
                [
                    pair.to_frame(),
                    make_frame([("p_holm", p, None, None, "p", f"corrected for {len(self.pairs)} pairs")]),
                ]
            ).select(pl.lit(pair.names[0]).alias("a"), pl.lit(pair.names[1]).alias("b"), pl.all())
            for pair, p in zip(self.pairs, self.p_holm, strict=True)
        ]
        no_name = pl.lit(None, pl.String)
        whole = make_frame([("p_kruskal", self.p_kruskal, None, None, "p", "all samples")])
        return pl.concat([whole.select(no_name.alias("a"), no_name.alias("b"), pl.all()), *parts])
