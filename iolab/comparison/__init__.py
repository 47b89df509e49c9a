"""Comparisons: two samples of timed runs, or two logs of any kind, with what the evidence allows one to say.

    a, b = iolab.load("before.html"), iolab.load("after.html")
    print(iolab.comparison.pair(a, b, names=("before", "after")))
    print(iolab.compare(buffered, direct, names=("buffered", "direct")))

`compare`, `compare_many`, `compare_paired` and `compare_medians` compare samples of run times.  `pair` compares any two
logs: report and report, session and session, trace and trace, or one of the database and a trace.  `pair_all` finds the
pairs among many logs, and the repeated runs within one session.  `compare_sets` says what changed between two sets of
logs, `compare_several` from the first of several sets to each other one.

A run time alone never shows that a cache was warm: a series that is equally fast from the first run on may be cached or
not.  So `first_run` says "cache state undetermined" unless a reference is given, and `cache_level` names a cache only
where every other explanation is ruled out by what was recorded.  `parse_noise` names the runs that parsed while the
others did not.
"""

from typing import TYPE_CHECKING

from logframe.lazy import lazy_exports

if TYPE_CHECKING:
    from iolab.comparison.before_after import BeforeAfter, compare_sets
    from iolab.comparison.matching import pair, pair_all
    from iolab.comparison.result import Options, Pairing, UnpairedError
    from iolab.comparison.samples import compare, compare_many
    from iolab.comparison.sessions import CacheLevel, cache_level, parse_noise
    from iolab.comparison.several_sets import SeveralSets, compare_several
    from iolab.stats.comparison import Comparison, ManyComparison
    from iolab.stats.first_runs import FirstRun, first_run
    from iolab.stats.pairs import MedianComparison, PairedComparison, compare_medians, compare_paired
    from iolab.stats.samples import SampleError
    from iolab.stats.verdict import CONDITIONS

__all__ = [
    "CONDITIONS",
    "BeforeAfter",
    "CacheLevel",
    "Comparison",
    "FirstRun",
    "ManyComparison",
    "MedianComparison",
    "Options",
    "PairedComparison",
    "Pairing",
    "SampleError",
    "SeveralSets",
    "UnpairedError",
    "cache_level",
    "compare",
    "compare_many",
    "compare_medians",
    "compare_paired",
    "compare_sets",
    "compare_several",
    "first_run",
    "pair",
    "pair_all",
    "parse_noise",
]

__getattr__, __dir__ = lazy_exports(__name__)
