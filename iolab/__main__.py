"""`python -m iolab`: the same as the command `iolab`."""

import gc
import sys

from logframe.processes import paused_collection

with paused_collection():  # what is imported stays
    from iolab.cli import main

    gc.freeze()  # else the first search would go through all of it

if __name__ == "__main__":
    sys.exit(main())
