"""`python -m iolab`: the same as the command `iolab`."""

import sys

from logframe.processes import paused_collection

with paused_collection():  # what is imported stays
    from iolab.cli import main

if __name__ == "__main__":
    sys.exit(main())
