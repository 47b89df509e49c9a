"""The time ledger: one conserved account of all the time of a log, from which answers are computed.

`iolab.ledger` gives the lead `Ledger` of a log, `iolab.ledgers` all of them.

* `account`: the ledger and how every level is closed; `parts`: its parts; `run`: the two functions
* `reports`: AWR, Statspack and compare-period reports; `ash`: ASH reports
* `strace`: strace logs; `sql_traces`, `tkprof`: SQL traces; `spools`: SQL*Plus sessions
* `samples`: session samples, CPU profiles and processors of hosts
"""

from iolab.time_ledger.account import Account, Ledger
from iolab.time_ledger.parts import ASIDE, CHECKS, KINDS, PARTS, REMARKS, UNKNOWN, VIEWS, Place

__all__ = ["ASIDE", "CHECKS", "KINDS", "PARTS", "REMARKS", "UNKNOWN", "VIEWS", "Account", "Ledger", "Place"]
