"""A database session that traces itself: calls take CPU, wait and call others, and each writes its line.

The session's clock moves with what the calls do, so that every printed figure follows from the same history, and the
truth (what each call did itself, which call each wait is part of) is known.  Lines have the form of the release.
"""

import hashlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

#: Releases and what their traces print: the banner, sqlid, plan hash, tim of waits, CLOSE, str=, cost=, zone.
RELEASES = {
    "8.1.7.4.0": "Oracle8i Enterprise Edition Release 8.1.7.4.0 - Production",
    "9.2.0.8.0": "Oracle9i Enterprise Edition Release 9.2.0.8.0 - 64bit Production",
    "10.2.0.5.0": "Oracle Database 10g Enterprise Edition Release 10.2.0.5.0 - 64bit Production",
    "11.1.0.7.0": "Oracle Database 11g Enterprise Edition Release 11.1.0.7.0 - 64bit Production",
    "11.2.0.4.0": "Oracle Database 11g Enterprise Edition Release 11.2.0.4.0 - 64bit Production",
    "12.2.0.1.0": "Oracle Database 12c Enterprise Edition Release 12.2.0.1.0 - 64bit Production",
    "19.22.0.0.0": "Oracle Database 19c Enterprise Edition Release 19.0.0.0.0 - Production",
}
#: Names of the three parameters of each event.
PARAMETERS = {
    "db file sequential read": ("file#", "block#", "blocks"),
    "db file scattered read": ("file#", "block#", "blocks"),
    "db file parallel read": ("files", "blocks", "requests"),
    "direct path read": ("file number", "first dba", "block cnt"),
    "direct path write temp": ("file number", "first dba", "block cnt"),
    "cell single block physical read": ("cellhash#", "diskhash#", "bytes"),
    "log file sync": ("buffer#", "sync scn", "p3"),
    "enq: TX - row lock contention": ("name|mode", "usn<<16 | slot", "sequence"),
    "SQL*Net message to client": ("driver id", "#bytes", "p3"),
    "SQL*Net message from client": ("driver id", "#bytes", "p3"),
}
LETTERS = "0123456789abcdfghjkmnpqrstuvwxyz"


def sql_id(text: str) -> str:
    """The SQL_ID of a text: the last 64 bits of its MD5 in base 32."""
    digest = hashlib.md5(text.encode() + b"\0", usedforsecurity=False).digest()
    number = int.from_bytes(digest[8:12], "little") << 32 | int.from_bytes(digest[12:16], "little")
    return "".join(LETTERS[number >> 5 * place & 31] for place in range(12, -1, -1))


def hash_value(text: str) -> int:
    """The hash value of a text: the lower half of what SQL_ID is made of."""
    digest = hashlib.md5(text.encode() + b"\0", usedforsecurity=False).digest()
    return int.from_bytes(digest[12:16], "little")


@dataclass(frozen=True)
class Statement:
    """A statement in a cursor."""

    text: str
    cursor: int
    depth: int = 0
    command: int = 3
    plan: tuple[str, ...] = ()
    binds: tuple[tuple[int, str], ...] = ()


@dataclass
class Done:
    """What a call did: all of it, and without the calls below."""

    line: int = 0
    op: str = ""
    statement: Statement | None = None
    depth: int = 0
    cpu: int = 0
    elapsed: int = 0
    disk: int = 0
    query: int = 0
    current: int = 0
    own_cpu: int = 0
    own_elapsed: int = 0
    own_disk: int = 0
    own_wait: int = 0
    rows: int = 0
    misses: int = 0
    waits: list[int] = field(default_factory=list)


class Session:
    """A traced session; `lines` is the trace so far, `done` and `waits` the truth.

    Args:
        release: one of `RELEASES`.
        seed: of the plan hashes and object numbers.
        start: wall clock at the start.
        pid: of the process.
        zone: hours east of Greenwich.
    """

    def __init__(
        self, release: str, *, seed: int = 1, start: datetime | None = None, pid: int = 4711, zone: int = 2
    ) -> None:
        self.release = release
        self.version = tuple(int(part) for part in release.split("."))
        self.random = random.Random(seed)  # noqa: S311 - data for tests
        self.start = start or datetime(2026, 3, 2, 21, 0, 0, 123456, UTC)
        self.pid, self.zone = pid, zone
        self.boot = 7_782_181_000_000
        self.now = self.boot
        self.lines: list[str] = []
        self.done: list[Done] = []
        self.waits: list[tuple[int, str, int, int | None]] = []
        self.stack: list[Done] = []
        self.pending: list[int] = []
        self.sid = (145, 6021)

    # ------------------------------------------------------------------------------------------------ what stands there

    @property
    def text(self) -> str:
        """The trace."""
        return "\n".join(self.lines) + "\n"

    def stamp(self) -> str:
        """The wall clock as this release prints it."""
        wall = self.start + timedelta(microseconds=self.now - self.boot, hours=self.zone)
        if self.version >= (12, 2):
            return f"{wall:%Y-%m-%dT%H:%M:%S.%f}{self.zone:+03d}:00"
        return f"{wall:%Y-%m-%d %H:%M:%S}.{wall.microsecond // 1000:03d}"

    def tim(self) -> int:
        """The clock as this release prints it."""
        return self.now // 10_000 if self.version < (9,) else self.now

    def units(self, microseconds: int) -> int:
        """A time as this release prints it."""
        return microseconds // 10_000 if self.version < (9,) else microseconds

    def head(self, module: str = "SQL*Plus") -> None:
        """The head of the file and the attributes of the session."""
        path = f"/u01/app/oracle/diag/rdbms/demo/demo1/trace/demo1_ora_{self.pid}.trc"
        self.lines += [f"Trace file {path}" if self.version >= (11,) else path, RELEASES[self.release]]
        if self.version >= (18,):
            self.lines.append(f"Version {self.release}")
        self.lines += [
            "ORACLE_HOME = /u01/app/oracle/product/dbhome",
            "System name:\tLinux",
            "Node name:\tdemo.example.com",
            "Release:\t5.4.17-2136.el8uek.x86_64",
            "Version:\t#2 SMP Mon Jan 1 12:00:00 UTC 2024",
            "Machine:\tx86_64",
            "Instance name: demo1",
            "Redo thread mounted by this instance: 1",
            "Oracle process number: 31",
            f"Unix process pid: {self.pid}, image: oracle@demo.example.com (TNS V1-V3)",
            "",
        ]
        for name, value in (
            ("SESSION ID", f"{self.sid[0]}.{self.sid[1]}"),
            ("SERVICE NAME", "demo"),
            ("MODULE NAME", module),
            ("ACTION NAME", ""),
        ):
            self.attribute(name, value)
        self.lines.append(" ")

    def attribute(self, name: str, value: str) -> None:
        """An attribute of the session changes."""
        self.lines.append(f"*** {name}:({value}) {self.stamp()}")

    # ----------------------------------------------------------------------------------------------------- what happens

    def think(self, microseconds: int, cursor: int = 0) -> None:
        """The client takes its time; the process writes a stamp after a long silence."""
        self.now += 20
        self._wait(cursor, "SQL*Net message to client", 1, (1650815232, 1, 0))
        self.now += microseconds
        if microseconds > 10_000_000:
            self.lines += ["", f"*** {self.stamp()}"]
        self._wait(cursor, "SQL*Net message from client", microseconds, (1650815232, 1, 0))
        self.now += 12

    def wait(self, cursor: int, event: str, elapsed: int, values: tuple[int, int, int], obj: int = -1) -> None:
        """The call that runs waits."""
        self.now += elapsed
        call = self.stack[-1]
        call.own_wait += elapsed
        blocks = {"db file sequential read": 1, "db file scattered read": values[2], "direct path read": values[2]}
        call.own_disk += blocks.get(event, values[1] if event == "db file parallel read" else 0)
        call.waits.append(len(self.waits))
        self._wait(cursor, event, elapsed, values, obj)

    def _wait(self, cursor: int, event: str, elapsed: int, values: tuple[int, int, int], obj: int = -1) -> None:
        names = PARAMETERS[event] if self.version >= (10, 2) else ("p1", "p2", "p3")
        shown = " ".join(f"{name}={value}" for name, value in zip(names, values, strict=True))
        end = f" obj#={obj} tim={self.tim()}" if self.version >= (10, 2) else ""
        self.lines.append(f"WAIT #{cursor}: nam='{event}' ela= {self.units(elapsed)} {shown}{end}")
        self.waits.append((len(self.lines), event, elapsed, None))

    def cpu(self, microseconds: int, query: int = 0, current: int = 0) -> None:
        """The call that runs computes, and visits blocks of the cache."""
        self.now += microseconds
        call = self.stack[-1]
        call.own_cpu += microseconds
        call.query += query
        call.current += current

    def lose(self, microseconds: int) -> None:
        """The call that runs is not scheduled: time that nothing accounts for."""
        self.now += microseconds

    def call(
        self, op: str, statement: Statement, work: Callable[[], object], *, rows: int = 0, misses: int = 0
    ) -> Done:
        """A database call: what it does is `work`, which may call others."""
        begun = self.now
        call = Done(op=op, statement=statement, depth=statement.depth, rows=rows, misses=misses)
        below_from = len(self.done)
        self.stack.append(call)
        work()
        self.stack.pop()
        below = [one for one in self.done[below_from:] if one.depth == statement.depth + 1]
        call.elapsed = self.now - begun
        call.own_elapsed = call.elapsed - sum(one.elapsed for one in below)
        call.cpu = call.own_cpu + sum(one.cpu for one in below)
        call.disk = call.own_disk + sum(one.disk for one in below)
        call.query += sum(one.query for one in below)
        call.current += sum(one.current for one in below)
        if op == "PARSE":
            self.announce(statement)
        end = f",plh={hash_value(statement.text) % 4_000_000_000}" if self.version >= (11, 2) else ""
        self.lines.append(
            f"{op} #{statement.cursor}:c={self.units(call.cpu)},e={self.units(call.elapsed)},p={call.disk},"
            f"cr={call.query},cu={call.current},mis={misses},r={rows},dep={statement.depth},og=1{end},tim={self.tim()}"
        )
        call.line = len(self.lines)
        for place in call.waits:
            line, event, elapsed, _ = self.waits[place]
            self.waits[place] = (line, event, elapsed, call.line)
        self.done.append(call)
        self.now += 3
        return call

    def announce(self, statement: Statement) -> None:
        """The header and the text of a statement."""
        known = f" sqlid='{sql_id(statement.text)}'" if self.version >= (11,) else ""
        size, value = len(statement.text.encode()), hash_value(statement.text)
        header = f"PARSING IN CURSOR #{statement.cursor} len={size} dep={statement.depth} uid=108 "
        header += f"oct={statement.command} lid=108 tim={self.tim()} hv={value} ad='6b5c7a68'{known}"
        self.lines += [
            "=====================",
            header,
            *statement.text.split("\n"),
            "END OF STMT",
        ]

    def bind(self, statement: Statement) -> None:
        """The bind values of an execution."""
        self.lines.append(f"BINDS #{statement.cursor}:")
        if self.version >= (12, 2):
            self.lines.append("")
        for number, (kind, value) in enumerate(statement.binds):
            self.lines += [
                f" Bind#{number}",
                f"  oacdty={kind:02d} mxl=32({len(value):02d}) mxlc=00 mal=00 scl=00 pre=00",
                "  oacflg=03 fl2=1000000 frm=01 csi=873 siz=24 off=0",
                f"  kxsbbbfp=7fe9c3cf3450  bln=22  avl={len(value):02d}  flg=05",
                f'  value="{value}"' if kind == 1 else f"  value={value}",
            ]

    def row_sources(self, statement: Statement, calls: Sequence[Done]) -> None:
        """The plan of an execution, with the figures of its calls at the top."""
        rows = sum(one.rows for one in calls)
        query = sum(one.query for one in calls)
        disk = sum(one.disk for one in calls)
        elapsed = self.units(sum(one.elapsed for one in calls))
        for number, operation in enumerate(statement.plan, 1):
            starts = " str=1" if self.version >= (12, 2) else ""
            cost = f" cost={9 - number} size=52 card={rows}" if self.version >= (11,) else ""
            end = f" (cr={query} pr={disk} pw=0{starts} time={elapsed} us{cost})" if self.version >= (9, 2) else " "
            if self.version < (10,):
                end = end.replace("pr=", "r=").replace("pw=", "w=")
            self.lines.append(
                f"STAT #{statement.cursor} id={number} cnt={rows} pid={number - 1} pos=1 obj={52340 + number} "
                f"op='{operation}{end}'"
            )

    def close(self, statement: Statement, kind: int = 0) -> None:
        """The cursor is closed."""
        self.now += 9
        if self.version >= (11,):
            self.lines.append(f"CLOSE #{statement.cursor}:c=4,e=9,dep={statement.depth},type={kind},tim={self.tim()}")
            self.done.append(Done(len(self.lines), "CLOSE", statement, statement.depth, 4, 9, own_cpu=4, own_elapsed=9))

    def commit(self) -> None:
        """The transaction ends."""
        self.now += 2
        end = f", rd_only=0, tim={self.tim()}" if self.version >= (11,) else ", rd_only=0"
        self.lines.append(f"XCTEND rlbk=0{end}")
