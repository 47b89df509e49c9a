"""Wait events of class Idle: a process that waits for work.  Their time is no part of DB time.

Source: V$EVENT_NAME.WAIT_CLASS = 'Idle' of 10.2 to 23 as documented in the Oracle Database Reference, appendix "Oracle
Wait Events", and names that releases print outside that class although nothing waits for them.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Final

#: Names as V$EVENT_NAME has them, separated by `|`.
_LIST: Final = """
AQPC idle|AQPC: new master|ASM background timer|ASM cluster membership changes|auto-sqltune: wait graph update|
Backup Appliance Comm SGA setup wait|Backup Appliance Servlet wait|Backup Appliance Surrogate wait|
Backup Appliance waiting for work|Backup Appliance waiting restore start|blockchain reader process idle wait|
cell worker idle|class slave wait|cmon timer|CRS group registration status|
Data Guard broker: wait upon ORA-12850 error|Data Guard: controlfile update|Data Guard: Gap Manager|
Data Guard: Timer|DIAG idle wait|dispatcher timer|Emon coordinator main loop|EMON idle wait|EMON slave idle wait|
Emon slave main loop|fbar timer|GCR sleep|gcs for action|gcs remote message|gcs yield cpu|
ges reconfiguration to start|ges remote message|ges2 LMON to wake up LMD - mrcvr|heartbeat monitor sleep|
heartbeat redo informer|HS message to agent|i/o slave wait|imco timer|IORM Scheduler Slave Idle Wait|iowp file id|
iowp msg|job scheduler coordinator slave wait|jobq slave shutdown wait|jobq slave TJ process wait|jobq slave wait|
JOX Jit Process Sleep|JS external job|knlqdeq|KSV master wait|LMS CR slave timer|LGWR worker group idle|
LNS ASYNC archive log|LNS ASYNC dest activation|LNS ASYNC end of log|lock manager wait for remote message|
Logical Standby Apply Delay|LogMiner builder: branch|LogMiner builder: idle|LogMiner client: transaction|
LogMiner client waiting for transaction|LogMiner merger: idle|LogMiner preparer: idle|LogMiner reader: log (idle)|
LogMiner reader: redo (idle)|LogMiner: activate|LogMiner: find session|LogMiner: internal|LogMiner: other|
LogMiner: reset|lreg timer|MRP redo arrival|MRP state inspection|OFS idle|parallel recovery control message reply|
parallel recovery coordinator idle wait|parallel recovery coordinator waits for slave cleanup|
parallel recovery slave idle wait|parallel recovery slave next change|parallel recovery slave wait for change|PING|
pipe get|PL/SQL lock timer|pman timer|pmon timer|pool server timer|process in prespawned state|
PX Deq Credit: need buffer|PX Deq Credit: send blkd|PX Deq: Execute Reply|PX Deq: Execution Msg|
PX Deq: Index Merge Close|PX Deq: Index Merge Execute|PX Deq: Index Merge Reply|PX Deq: Join ACK|PX Deq: kdcph_mai|
PX Deq: kdcphc_ack|PX Deq: Metadata Update|PX Deq: Msg Fragment|PX Deq: Parse Reply|PX Deq: reap credit|
PX Deq: Table Q Normal|PX Deq: Table Q Sample|PX Deq: Txn Recovery Reply|PX Deq: Txn Recovery Start|PX Deque wait|
PX Idle Wait|Queue Monitor IPC wait|Queue Monitor Slave Wait|Queue Monitor Task Wait|Queue Monitor Wait|
rdbms ipc message|recovery apply pending|recovery merger idle|recovery receiver idle|recovery sender idle|
REPL Apply: txns|REPL Capture/Apply: messages|REPL Capture/Apply: RAC AQ qmn coordinator|RFS dispatch|
scginq AST call|SCM slave idle|SGA: MMAN sleep for component shrink|Sharded Queues: Part Maintenance idle|
shared server idle wait|simulated log write delay|single-task message|smon timer|Space Manager: slave idle wait|
SQL*Net message from client|SQL*Net message from dblink|SQL*Net vector message from client|
SQL*Net vector message from dblink|ssgnet: wait|standby query scn advance|
Streams AQ: deallocate messages from Streams Pool|Streams AQ: delete acknowledged messages|
Streams AQ: emn coordinator idle wait|Streams AQ: load balancer idle|Streams AQ: qmn coordinator idle wait|
Streams AQ: qmn coordinator waiting for slave to start|Streams AQ: qmn slave idle wait|
Streams AQ: waiting for messages in the queue|Streams AQ: waiting for time management or cleanup tasks|
Streams capture: waiting for archive log|Streams fetch slave: waiting for txns|virtual circuit next request|
virtual circuit status|VKRM Idle|VKTM Init Wait for GSGA|VKTM Logical Idle Wait|
wait for unread message on broadcast channel|wait for unread message on multiple broadcast channels|
wakeup event for builder|wakeup event for preparer|wakeup event for reader|watchdog main loop|
WCR: replay client notify|WCR: replay clock|WCR: replay paused
"""
#: Names in lower case; text reports cut names, so `is_idle` compares the part that is printed.
IDLE_EVENTS: Final = frozenset(name.strip().lower() for name in _LIST.replace("\n", "").split("|"))
_SORTED: Final = sorted(IDLE_EVENTS)
#: Shorter names are not taken for cut ones.
_LEAST_CUT: Final = 24


def is_idle(event: str, wait_class: str | None = None) -> bool:
    """Is the event one of waiting for work, by its class or by its name?

    Examples:
        >>> [is_idle(name) for name in ("SQL*Net message from client", "db file sequential read", "PX Idle Wait")]
        [True, False, True]
        >>> is_idle("wait for unread message on broadc"), is_idle("SQL*Net more data from client"), is_idle("x", "Idle")
        (True, False, True)
    """
    if wait_class == "Idle":
        return True
    name = " ".join(event.lower().split())
    if len(name) < _LEAST_CUT:
        return name in IDLE_EVENTS
    place = bisect_left(_SORTED, name)
    return place < len(_SORTED) and _SORTED[place].startswith(name)
