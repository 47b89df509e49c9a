"""``python -m sqlplusparse LOG...``."""

import sys

from sqlplusparse.cli import main

if __name__ == "__main__":
    sys.exit(main())
