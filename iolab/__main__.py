"""`python -m iolab`: the same as the command `iolab`."""

import sys

from iolab.cli import main

if __name__ == "__main__":
    sys.exit(main())
