"""Runs `straceparse.cli`: ``python -m straceparse LOG``."""

import gc
import sys

from logframe.processes import paused_collection

with paused_collection():  # what is imported stays
    from straceparse.cli import main

    gc.freeze()  # else the first search would go through all of it

sys.exit(main())
