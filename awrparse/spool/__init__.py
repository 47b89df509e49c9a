"""SQL*Plus and SQLcl sessions as dataframes.

One direction: text -> lines (`lines`, by the terminals of ``line.lark``) -> blocks (`blocks` and the reader of each
kind: `inputs`, `grids`, `listings`, `plans`, `autotrace`, `elapsed`) -> statements (`session`, by ``session.lark``)
-> frames (`frames`, `planframe`, `tableframe`, `runs`).
"""

from awrparse.spool.reader import Spool, read_spool, read_spools
from awrparse.spool.schemas import SPOOL_SCHEMAS
from awrparse.spool.statnames import statistic_names
from awrparse.spool.subtract import subtract_statistics

__all__ = [
    "SPOOL_SCHEMAS",
    "Spool",
    "read_spool",
    "read_spools",
    "statistic_names",
    "subtract_statistics",
]
