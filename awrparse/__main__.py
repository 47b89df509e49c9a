"""``python -m awrparse REPORT...``."""

import sys

from awrparse.cli import main

if __name__ == "__main__":
    sys.exit(main())
