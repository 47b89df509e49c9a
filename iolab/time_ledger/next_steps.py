"""What to look at next for a wait event, by the beginning of its name; its class alone does not decide."""

from __future__ import annotations

from typing import Final

_ASH: Final = "an ASH report of the period (@?/rdbms/admin/ashrpt)"
_SEGMENT: Final = f"{_ASH}: its object is the segment"
PARSES: Final = (
    "statements that differ in literals alone: select force_matching_signature, count(*) from v$sql group by 1"
)
_LOGS: Final = "size and number of the log files, and whether archiving keeps up: select * from v$log"
HOLDER: Final = "who held the lock: BLOCKING_SESSION of V$SESSION, or of ASH in the same time"
KEEP_CURSORS: Final = "keep cursors open and bind values"
#: For a sort or hash join on disk.
ON_DISK: Final = "a sort or hash join on disk: V$SQL_WORKAREA of the statement, and pga_aggregate_target"
#: The first that an event begins with counts.
_STEPS: Final = {
    "enq: HW": f"the segment that grows, and its extents allocated in advance. {_SEGMENT}",
    "enq: SQ": "sequences with a small cache: select * from dba_sequences where cache_size < 100",
    "enq: TX - index": f"the index that grows at one end (reverse key, or hash partitions). {_SEGMENT}",
    "enq: TX - allocate ITL": f"the segment with too few transaction slots (INITRANS). {_SEGMENT}",
    "enq: TM": "foreign keys without an index, and LOCK TABLE statements: the blocking sessions in " + _ASH,
    "enq: US": "undo segments that go offline and online: select * from v$undostat",
    "enq: CF": "the devices of the control files: iostat -xt 5",
    "enq: SS": "temporary space by instance: select * from gv$sort_segment",
    "enq: ST": "temporary tablespaces and extents of dictionary-managed tablespaces: dba_tablespaces",
    "enq: KO": "the writers and the objects of direct path reads: select * from v$instance_recovery",
    "enq: RO": "truncated and dropped segments: " + _ASH,
    "undo segment": "select * from v$undostat",
    "sort segment": "temporary space: select * from v$sort_segment",
    "statement suspended": "the space that is missing: select * from dba_resumable",
    "log file switch": _LOGS,
    "log buffer space": "the devices of the log files (iostat -xt 5), and log_buffer",
    "checkpoint completed": _LOGS,
    "free buffer waits": "the database writers and their devices: iostat -xt 5; select * from v$instance_recovery",
    "write complete waits": "the database writers and their devices: iostat -xt 5; select * from v$instance_recovery",
    "latch: shared pool": PARSES,
    "latch: row cache": PARSES,
    "library cache lock": "DDL, grants and compilation of objects in use: the blocking sessions in " + _ASH,
    "library cache": PARSES,
    "cursor: ": "statements with many child cursors: select sql_id, version_count from v$sqlarea order by 2 desc",
    "latch: cache buffers chains": f"the hot block: its statement and segment. {_SEGMENT}",
    "buffer busy waits": _SEGMENT,
    "gc buffer busy": _SEGMENT,
    "direct path read temp": ON_DISK,
    "direct path write temp": ON_DISK,
    "PL/SQL lock timer": "the code that calls DBMS_SESSION.SLEEP or DBMS_LOCK.SLEEP",
    "SQL*Net message from dblink": "an SQL trace of the session in the remote database",
    "SQL*Net more data from dblink": "an SQL trace of the session in the remote database",
    "resmgr:": "the active plan: select * from v$rsrc_plan",
}


def event_step(event: str) -> str:
    """What to look at next for a wait event; empty where its class says as much.

    Examples:
        >>> event_step("log file switch (archiving needed)")
        'size and number of the log files, and whether archiving keeps up: select * from v$log'
        >>> event_step("db file sequential read")
        ''
    """
    return next((step for begin, step in _STEPS.items() if event.startswith(begin)), "")
