"""Names of Oracle's statistics, events and their like: cut names in full, idle events, and the class of each event.

A cut name is given in full where what is left fits only one: wait classes and events (V$EVENT_NAME), statistics
(V$STATNAME, V$SYS_TIME_MODEL and those of global messaging), latches (V$LATCHNAME), functions and types of files that
do I/O (V$IOSTAT_FUNCTION, V$IOSTAT_FILE), components of memory (V$MEMORY_DYNAMIC_COMPONENTS), pools (V$SGASTAT),
classes of blocks (V$WAITSTAT) and initialization parameters whose names are longer than the column of text reports.
The lists lie beside this module, a name a line.

In an event of class Idle a process waits for work; its time is no part of DB time.  Source: V$EVENT_NAME.WAIT_CLASS =
'Idle' of 10.2 to 23 as documented in the Oracle Database Reference, appendix "Oracle Wait Events", and names that
releases print outside that class although nothing waits for them.

The class of an event is for reports that do not print it.  Source: V$EVENT_NAME of 10.2 to 19 as documented in the
Oracle Database Reference, appendix "Oracle Wait Events", and the classes that reports print beside events; a line of
its list is class, tab, name; ``*`` is any rest.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

#: The wait classes of V$EVENT_NAME, and what reports list beside them.
WAIT_CLASSES: Final = (
    "Administrative",
    "Application",
    "CPU",
    "Cluster",
    "Commit",
    "Concurrency",
    "Configuration",
    "DB CPU",
    "Idle",
    "Network",
    "Other",
    "Queueing",
    "Scheduler",
    "System I/O",
    "User I/O",
)
#: Fewer letters than these are no cut name.
_SHORTEST: Final = 5
#: Kind of column -> the file of the names that it may hold.
_LISTS: Final = {
    "event": "events.txt",
    "statistic": "statistics.txt",
    "latch": "latches.txt",
    "io_function": "functions.txt",
    "filetype": "filetypes.txt",
    "component": "components.txt",
    "pool": "pools.txt",
    "block_class": "block_classes.txt",
    "parameter": "parameters.txt",
}
#: What Statspack writes before the name of a buffer cache.
_CACHES: Final = {"D:": "DEFAULT ", "K:": "KEEP ", "R:": "RECYCLE "}


@cache
def known_names(kind: str) -> tuple[str, ...]:
    """The names of a kind (`event`, `statistic`, `latch`, `wait_class`, ...) that this package knows, sorted.

    Examples:
        >>> known_names("latch")[:2], len(known_names("wait_class"))
        (('AQ Background: interrupt command latch', 'AQ Coord jobx_kwsbgsgn latch'), 15)
    """
    if kind == "wait_class":
        return WAIT_CLASSES
    return tuple(sorted(files("logframe.oracle").joinpath(_LISTS[kind]).read_text(encoding="utf-8").splitlines()))


def full_name(kind: str, printed: str, width: int | None) -> str:
    """A name in full.

    Args:
        kind: what is named: `event`, `statistic`, `latch`, `wait_class`, `io_function`, `filetype`, `component`,
            `pool`, `block_class` or `parameter`.
        printed: the name as the report has it.
        width: of its column; a name that is shorter was not cut.  None when nothing is cut, as in HTML.  The width
            does not show anything about wait classes: some versions cut them before its end.

    Returns:
        The one known name that starts so; the text itself when none does, or more than one.

    Examples:
        >>> full_name("event", "SQL*Net message from clien", 26), full_name("event", "log file sync", 30)
        ('SQL*Net message from client', 'log file sync')
        >>> full_name("wait_class", "Concurre", 8), full_name("wait_class", "Mine", 8)
        ('Concurrency', 'Mine')
        >>> full_name("statistic", "physical read total bytes optimi", 32)
        'physical read total bytes optimized'
        >>> full_name("latch", "Memory Queue Message Sub", 24)
        'Memory Queue Message Sub'
        >>> full_name("component", "DEFAULT 16K buf", 15), full_name("component", "D:buffer cache", 15)
        ('DEFAULT 16K buffer cache', 'DEFAULT buffer cache')
        >>> full_name("pool", "java p", 6), full_name("pool", "java pool", None), full_name("io_function", "LGWR", 15)
        ('java', 'java', 'LGWR')
    """
    if kind == "wait_class":
        return _completed(kind, printed)
    if kind == "pool":
        return _completed(kind, printed).removesuffix(" pool")
    if kind == "component" and printed[:2] in _CACHES:
        return _CACHES[printed[:2]] + printed[2:]
    if width is None or len(printed) < width - 1:
        return printed
    if len(printed) >= width:
        return _completed(kind, printed)
    # one short of its column: not cut, or cut after a blank
    full = _completed(kind, f"{printed} ")
    return printed if full.endswith(" ") or printed in known_names(kind) else full


def _completed(kind: str, start: str) -> str:
    """The one name that starts so; the start itself when that is a name, or there are several or none."""
    found = find_names(kind, start) if len(start) >= _SHORTEST else ()
    return found[0] if len(found) == 1 else start


@lru_cache(maxsize=1 << 13)
def find_names(kind: str, start: str) -> tuple[str, ...]:
    """The names that a printed text may stand for: the name itself, else up to two that begin so.

    Case and the number of blanks make no difference.

    Examples:
        >>> find_names("statistic", "physical reads"), find_names("statistic", "physical read total multi bl")
        (('physical reads',), ('physical read total multi block requests',))
        >>> find_names("statistic", "no such statistic")
        ()
    """
    folded, exact = _folded(kind)
    if start in known_names(kind):  # two may differ in case only
        return (start,)
    key = _key(start)
    if key in exact:
        return (exact[key],)
    place = bisect_left(folded, key)
    return tuple(exact[name] for name in folded[place : place + 2] if name.startswith(key))


@cache
def _folded(kind: str) -> tuple[list[str], dict[str, str]]:
    """The names of a kind without case, sorted, and the name that each is."""
    exact = {_key(name): name for name in known_names(kind)}
    return sorted(exact), exact


def _key(name: str) -> str:
    """A name without case and with single blanks; one at its end says that a word ends there."""
    return " ".join(name.casefold().split()) + " " * name.endswith(" ")


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
SQL*Net message from client|SQL*Net vector message from client|ssgnet: wait|standby query scn advance|
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
    """Is the event one of waiting for work, by its class or, where the log prints none, by its name?

    Examples:
        >>> [is_idle(name) for name in ("SQL*Net message from client", "db file sequential read", "PX Idle Wait")]
        [True, False, True]
        >>> is_idle("wait for unread message on broadc"), is_idle("SQL*Net more data from client"), is_idle("x", "Idle")
        (True, False, True)
        >>> is_idle("PX Deq: Execute Reply"), is_idle("PX Deq: Execute Reply", "Other")
        (True, False)
    """
    if wait_class:
        return wait_class == "Idle"
    name = " ".join(event.lower().split())
    if len(name) < _LEAST_CUT:
        return name in IDLE_EVENTS
    place = bisect_left(_SORTED, name)
    return place < len(_SORTED) and _SORTED[place].startswith(name)


#: Shorter names are not taken for cut ones.
_EVENT_CLASSES_LEAST_CUT: Final = 12


@lru_cache(maxsize=1 << 12)
def wait_class_of(event: str) -> str:
    """The wait class of an event; `Other` for all that the list does not have, as most of the class are.

    Examples:
        >>> [wait_class_of(name) for name in ("db file sequential read", "gc cr grant 2-way", "DFS lock handle")]
        ['User I/O', 'Cluster', 'Other']
        >>> wait_class_of("SQL*Net message from client"), wait_class_of("enq: TX - row lock conten")
        ('Idle', 'Application')
    """
    name = " ".join(event.lower().split())
    if is_idle(name):
        return "Idle"
    exact, beginnings = _classes()
    if name in exact:
        return exact[name]
    for begin, wait_class in beginnings:
        if name.startswith(begin):
            return wait_class
    if len(name) >= _EVENT_CLASSES_LEAST_CUT:
        found = {wait_class for full, wait_class in exact.items() if full.startswith(name)}
        if len(found) == 1:
            return found.pop()
    return "Other"


@cache
def _classes() -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Classes by name, and beginnings of names with their class, the longest first."""
    exact, beginnings = {}, []
    for line in files("logframe.oracle").joinpath("event_classes.txt").read_text(encoding="utf-8").splitlines():
        wait_class, name = line.split("\t")
        if name.endswith("*"):
            beginnings.append((name[:-1].lower(), wait_class))
        else:
            exact[name.lower()] = wait_class
    return exact, sorted(beginnings, key=lambda one: -len(one[0]))
