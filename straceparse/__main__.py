"""Runs `straceparse.cli`: ``python -m straceparse LOG``."""

import sys

from straceparse.cli import main

sys.exit(main())
