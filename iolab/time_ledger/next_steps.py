"""What to look at next for a wait event, by the beginning of its name; its class alone does not decide."""

from __future__ import annotations

from typing import Final

_ASH: Final = "an ASH report of the period (@?/rdbms/admin/ashrpt)"
SEGMENT: Final = f"take {_ASH}: its object is the segment"
PARSES: Final = (
    "see statements that differ in literals alone: select force_matching_signature, count(*) from v$sql group by 1"
)
#: For waits of parsing where little time was hard parsing.
CHILDREN: Final = "see statements with many child cursors: select sql_id, version_count from v$sqlarea order by 2 desc"
_LOGS: Final = "see size and number of the log files, and whether archiving keeps up: select * from v$log"
HOLDER: Final = "see who held the lock: BLOCKING_SESSION of V$SESSION, or of ASH in the same time"
BIND: Final = "use bind variables; where the code cannot change: cursor_sharing = force"
NOT_SHARED: Final = "see why its cursor was not shared: select * from v$sql_shared_cursor where sql_id = '{}'"
#: A cursor with more children than this is not shared.
MANY_CHILDREN: Final = 100
CLIENT_WORK: Final = "see what the client did between its calls: its own log, or the user who waited"
MORE_ROWS: Final = "send and fetch more rows per call (arraysize, array binds), or run it nearer to the database"
COMMIT_LESS: Final = "commit less often: once for many rows, not for each"
#: A session with more commits than this, or an instance with more per second, commits often.
MANY_COMMITS: Final = 100
#: Log writes that are faster on average are not slow.
FAST_WRITE_S: Final = 0.005
#: How waits for redo on another host begin.
REMOTE_REDO: Final = ("LGWR real time apply sync", "SYNC Remote Write", "Redo Transport", "LNS")
STANDBY: Final = "select dest_name, affirm, transmit_mode from v$archive_dest where target = 'STANDBY'"
BUSY_HOUR: Final = "take a report of the busy hour: @?/rdbms/admin/awrrpt"
#: For reads of LOBs past the buffer cache.
CACHE_LOBS: Final = "cache the LOBs: alter table T modify lob (C) (cache); or read only those that are needed"
#: With this many round trips for each row something is read beside the rows, such as LOBs.
_MORE_TRIPS: Final = 1.5
LOBS: Final = (
    "see what is read beside rows; LOBs come by prefetch (SQL*Plus: set lobprefetch; JDBC: defaultLobPrefetchSize)"
)
#: For a sort or hash operation on disk.
ON_DISK: Final = (
    "look in V$SQL_WORKAREA for the sort or hash operation on disk; see pga_aggregate_target "
    "(where workarea_size_policy is manual: sort_area_size, hash_area_size)"
)
#: The first that an event begins with counts.
_STEPS: Final = {
    **dict.fromkeys(REMOTE_REDO, STANDBY),
    "enq: HW": f"see the segment that grows, and its extents allocated in advance; {SEGMENT}",
    "enq: SQ": "enlarge sequences with a small cache: select * from dba_sequences where cache_size < 100",
    "enq: TX - index": f"see the index that grows at one end (reverse key, or hash partitions); {SEGMENT}",
    "enq: TX - allocate ITL": f"see the segment with too few transaction slots (INITRANS); {SEGMENT}",
    "enq: TM": "see foreign keys without an index, and LOCK TABLE statements: the blocking sessions in " + _ASH,
    "enq: US": "see undo segments that go offline and online: select * from v$undostat",
    "enq: CF": "see the devices of the control files: iostat -xt 5",
    "enq: SS": "see temporary space by instance: select * from gv$sort_segment",
    "enq: ST": "see temporary tablespaces and extents of dictionary-managed tablespaces: dba_tablespaces",
    "enq: KO": "see the writers and the objects of direct path reads: select * from v$instance_recovery",
    "enq: UL": "see the code that calls DBMS_LOCK, and the session that holds the lock: " + _ASH,
    "enq: JI": "see refreshes of materialized views that run at once: select * from dba_mview_refresh_times",
    "enqueue": "see the lock and its holder while it lasts: select * from v$lock where block = 1",
    "DFS lock handle": "see sequences that are ordered or have a small cache: select * from dba_sequences",
    "row cache lock": "see which cache (v$rowcache), and sequences with a small cache: select * from dba_sequences",
    "enq: RO": "see truncated and dropped segments: " + _ASH,
    "undo segment": "select * from v$undostat",
    "sort segment": "see temporary space: select * from v$sort_segment",
    "statement suspended": "see the space that is missing: select * from dba_resumable",
    "log file switch (archiving": "see the devices of the logs and their archive: iostat -xt 5; see "
    "log_archive_max_processes",
    "log file switch (checkpoint": "enlarge the log files, or add groups; see whether the writers keep up: "
    "select * from v$log",
    "log file switch": _LOGS,
    "log file parallel write": "see the devices of the log files: iostat -xt 5",
    "log buffer space": "see the devices of the log files (iostat -xt 5), and log_buffer",
    "checkpoint completed": _LOGS,
    "free buffer waits": "see the writers and their devices: iostat -xt 5; select * from v$instance_recovery",
    "write complete waits": "see the writers and their devices: iostat -xt 5; select * from v$instance_recovery",
    "latch: shared pool": PARSES,
    "latch: row cache": PARSES,
    "library cache lock": "see DDL, grants and compilation of objects in use: the blocking sessions in " + _ASH,
    "library cache pin": "see the sessions that run what is compiled: select * from v$access",
    "library cache": PARSES,
    "cursor: pin S wait on X": "see the session that parses it meanwhile: BLOCKING_SESSION of V$SESSION, or of ASH",
    "cursor: ": CHILDREN,
    "latch: cache buffers chains": f"see the hot block: its statement and segment; {SEGMENT}",
    "buffer busy waits": SEGMENT,
    **dict.fromkeys(
        ("gc cr block lost", "gc current block lost", "gc cr failure"),
        "see what the private network drops, on each node: netstat -s; ip -s link; its switch and its buffers",
    ),
    "gc buffer busy": SEGMENT,
    "direct path read temp": ON_DISK,
    "direct path write temp": ON_DISK,
    "Backup: ": "see the media manager and its tape or network; more channels, where it has more devices",
    "PL/SQL lock timer": "see the code that calls DBMS_SESSION.SLEEP or DBMS_LOCK.SLEEP",
    "SQL*Net message from dblink": "take an SQL trace of the session in the remote database",
    "SQL*Net more data from dblink": "take an SQL trace of the session in the remote database",
    "SQL*Net more data from client": "see the network, and the client: how large its sends are, and how slow",
    "SQL*Net more data to client": "see the network, and what the client fetches: columns, rows, and how fast it reads",
    "TCP Socket": "see the service that the code calls (UTL_HTTP, UTL_TCP, UTL_SMTP), and how fast it answers",
    "External Procedure": "see how the agent extproc is started: listener.ora, and its log",
    "resmgr:pq queued": "see the degree of the statements, and parallel_servers_target: select * from v$pq_sysstat",
    "resmgr:": "see the active plan: select * from v$rsrc_plan",
    "acknowledge over PGA limit": "see who holds the memory (v$process.pga_alloc_mem), then raise pga_aggregate_limit",
}
#: Classes of blocks that sessions change at once -> what to do.
BLOCKS: Final = {
    **dict.fromkeys(("segment header", "free list"), "use a tablespace with automatic segment space management (ASSM)"),
    "undo header": "use automatic undo (undo_management)",
}


def parse_step(parses: float, hard_parses: float, texts: int, sql_id: str | None) -> str:
    """What to do about parses of statements that differ at most in literals; of one text binds would change nothing.

    Examples:
        >>> parse_step(900, 1, 1, "a1n8x4v7c0mpd"), parse_step(900, 900, 900, None)
        ('keep cursors open: parse once, execute often', 'use bind variables; where the code cannot change: \
        cursor_sharing = force')
        >>> parse_step(900, 900, 1, "a1n8x4v7c0mpd")
        "see why its cursor was not shared: select * from v$sql_shared_cursor where sql_id = 'a1n8x4v7c0mpd'"
    """
    if 2 * hard_parses < parses:
        return "keep cursors open: parse once, execute often"
    return BIND if texts > 1 else NOT_SHARED.format(sql_id or "...")


def lob_step(trips: float, rows: float) -> str:
    """What to do about round trips that each row needs several of; empty of fewer."""
    return LOBS if rows and trips >= _MORE_TRIPS * rows else ""


def event_step(event: str) -> str:
    """What to look at next for a wait event; empty where its class says as much.

    Examples:
        >>> event_step("log file switch completion")
        'see size and number of the log files, and whether archiving keeps up: select * from v$log'
        >>> event_step("db file sequential read")
        ''
    """
    return next((step for begin, step in _STEPS.items() if event.startswith(begin)), "")


def step_at(event: str, segment: str) -> str:
    """What to look at next for a wait event of a segment that the log names.

    Examples:
        >>> step_at("enq: TX - index contention", "T_PK")
        'see the index that grows at one end (reverse key, or hash partitions): `T_PK`'
        >>> step_at("gc buffer busy acquire", "T_PK"), step_at("db file sequential read", "T")
        ('spread what sessions change at once in `T_PK`: hash partitions; of an index, a reverse key', '')
    """
    spread = f"spread what sessions change at once in `{segment}`: hash partitions; of an index, a reverse key"
    return event_step(event).replace(f"; {SEGMENT}", f": `{segment}`").replace(SEGMENT, spread)
