"""Statistics of timed runs: samples, rank tests, intervals, run order, change points."""
