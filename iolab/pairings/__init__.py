"""What logs say of each other: which pair up and why, what the comparison gives, and why others are not compared.

    a, b = iolab.load("before.html"), iolab.load("after.html")
    print(iolab.pairings.pair(a, b, names=("before", "after")))

`pair` takes any two logs: report and report, session and session, trace and trace, or one of the database and a trace.
`pair_all` finds the pairs among many logs, and the repeated runs within one session.
"""

from iolab.pairings.finding import pair, pair_all
from iolab.pairings.result import Pairing, UnpairedError

__all__ = ["Pairing", "UnpairedError", "pair", "pair_all"]
