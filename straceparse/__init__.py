"""Right wing: strace logs as dataframes."""
