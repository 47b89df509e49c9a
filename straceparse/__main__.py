"""Runs `straceparse.cli`: ``python -m straceparse LOG``."""

import sys

from logframe.processes import paused_collection

with paused_collection():  # what is imported stays
    from straceparse.cli import main

sys.exit(main())
