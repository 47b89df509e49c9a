"""The statistics under `iolab.compare` and `iolab.cache`: samples, rank tests, intervals, run order, change points."""
