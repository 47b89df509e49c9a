"""SQL*Plus and SQLcl sessions as dataframes.

    import sqlplusparse

    spool = sqlplusparse.read_spool("autotrace.lst")    # spool.statements, spool.statistics, spool.plans

One direction: text -> lines (`lines`, by the terminals of ``line.lark``) -> blocks (`blocks` and the reader of each
kind: `statements`, `grids`, `listings`, `plans`, `autotrace`, `elapsed`) -> statements (`session`, by ``session.lark``)
-> frames (`frames`, `planframe`, `tableframe`, `runs`).  What stands within lines is described by ``command.lark``
(what is typed), ``feedback.lark``, ``listing.lark`` and ``plan.lark``.  Names are imported on first use.
"""

from typing import TYPE_CHECKING

from logframe.lazy import lazy_exports

if TYPE_CHECKING:
    from sqlplusparse.autotrace import statistic_names
    from sqlplusparse.awr_miner import AwrMiner, read_awr_miner
    from sqlplusparse.frames import subtract_statistics
    from sqlplusparse.queried import Queried, queried_tables
    from sqlplusparse.reader import Spool, SpoolFrames, read_spool, read_spools
    from sqlplusparse.schemas import SPOOL_SCHEMAS
    from sqlplusparse.session_samples import (
        OTHERS,
        SESSION_SAMPLES,
        SNAPS,
        SessionSamples,
        queried_samples,
        read_session_samples,
    )

__all__ = [
    "OTHERS",
    "SESSION_SAMPLES",
    "SNAPS",
    "SPOOL_SCHEMAS",
    "AwrMiner",
    "Queried",
    "SessionSamples",
    "Spool",
    "SpoolFrames",
    "queried_samples",
    "queried_tables",
    "read_awr_miner",
    "read_session_samples",
    "read_spool",
    "read_spools",
    "statistic_names",
    "subtract_statistics",
]

__getattr__, __dir__ = lazy_exports(__name__)
