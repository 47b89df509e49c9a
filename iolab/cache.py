"""First runs and caches: whether a series of repeated runs begins cold, and which cache the evidence names.

A run time alone never tells that a cache was warm: a series that is equally fast from the first run on may be
cached or not. So `first_run` says "cache state undetermined" unless a reference is given, and `cache_level`
names a cache only when every other explanation is ruled out by what was recorded. `parse_noise` names the runs that
parsed while the others did not.
"""

from iolab.stats.caches import CacheLevel, cache_level, parse_noise
from iolab.stats.series import FirstRun, first_run

__all__ = ["CacheLevel", "FirstRun", "cache_level", "first_run", "parse_noise"]
