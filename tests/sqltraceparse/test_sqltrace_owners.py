# ruff: noqa: S608 - the statements are printed, never run
"""Traces drawn from seeds, each line with its owner: none is given to another without a diagnostic."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from sqltraceparse import read_sqltrace

HEADS = (
    "Oracle9i Enterprise Edition Release 9.2.0.8.0 - Production",
    "Oracle Database 10g Enterprise Edition Release 10.2.0.5.0 - 64bit Production",
    "Oracle Database 19c Enterprise Edition Release 19.0.0.0.0 - Production\nVersion 19.14.2.0.0",
)
EVENTS = ("db file sequential read", "direct path read", "log file sync", "enq: TX - row lock contention")
SEEDS = 60


class Drawn:
    """A trace with the statement and the enclosing call of each of its lines."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311 - test data
        head = self.chance.choice(HEADS)
        self.has_times = not head.startswith("Oracle9i")
        self.has_close = "19c" in head
        self.lines = ["/u01/app/db1_ora_4711.trc", *head.split("\n")]
        self.tim = 10**6 * self.chance.randrange(1, 9999)
        self.open: dict[int, str | None] = {}
        self.count = 0
        self.calls: dict[int, tuple[str | None, int | None]] = {}
        self.waits: dict[int, tuple[str | None, int | None]] = {}
        self.errors: dict[int, str | None] = {}
        self.uncertain: set[int] = set()
        for _ in range(self.chance.randrange(3, 12)):
            self._use(0)
            self.tim += self.chance.randrange(1, 9999)
        self.text = "\n".join(self.lines) + "\n"
        self.last = len(self.lines)
        if self.chance.random() < 0.2:
            self.text = self.text[: self.chance.randrange(len(self.text) // 2, len(self.text))]
            self.last = self.text.count("\n")

    def _add(self, line: str) -> int:
        self.lines.append(line)
        return len(self.lines)

    def _announce(self, cursor: int, depth: int) -> None:
        self.count += 1
        text = f"select {self.count} from dual"
        sql_id = f" sqlid='{self.count:013d}'" if self.has_close else ""
        self._add("=" * 21)
        self._add(
            f"PARSING IN CURSOR #{cursor} len={len(text)} dep={depth} uid=5 oct=3 lid=5 tim={self.tim}"
            f" hv={self.count} ad='{self.count:08x}'{sql_id}"
        )
        self._add(text)
        self._add("END OF STMT")
        self.open[cursor] = text

    def _wait(self, cursor: int, event: str, ticks: int) -> int:
        self.tim += ticks
        shown = ticks + (1 << 32) * (self.chance.random() < 0.003)
        tail = f"file#=4 block#=9 blocks=1 obj#=5 tim={self.tim}" if self.has_times else "p1=4 p2=9 p3=1"
        line = self._add(f"WAIT #{cursor}: nam='{event}' ela= {shown} {tail}")
        if shown > ticks:
            self.uncertain.add(line)
        return line

    def _call(self, op: str, cursor: int, depth: int) -> int:
        start, waits, below = self.tim, [], []
        for _ in range(self.chance.choice([0, 0, 1, 2, 4])):
            self.tim += self.chance.randrange(1, 50)
            if depth < 3 and self.chance.random() < 0.25:
                below += self._use(depth + 1)
            else:
                waits.append(self._wait(cursor, self.chance.choice(EVENTS), self.chance.randrange(1, 9000)))
        self.tim += self.chance.randrange(1, 90)
        elapsed = self.tim - start
        shown = self.chance.choices([elapsed, elapsed + (1 << 32), (1 << 64) - 5], [100, 1, 1])[0]
        line = self._add(
            f"{op} #{cursor}:c={self.chance.choice([0, 1000, elapsed])},e={shown},p=0,cr=1,cu=0,mis=0,r=1,dep={depth},"
            f"og=1,tim={self.tim}"
        )
        self.calls[line] = self.open.get(cursor), None
        self.waits |= {wait: (self.open.get(cursor), line) for wait in waits}
        self.calls |= {call: (self.calls[call][0], line) for call in below}
        return line

    def _use(self, depth: int) -> list[int]:
        cursor, chance = self.chance.choice([1 + depth, 11 + depth]), self.chance
        calls = []
        if depth == 0 and chance.random() < 0.1:
            text = f"select {self.count} from nosuch"
            self._add(f"PARSE ERROR #{cursor}:len={len(text)} dep=0 uid=5 oct=3 lid=5 tim={self.tim} err=942\n{text}")
            self.lines[-1:] = self.lines[-1].split("\n")
            self.open[cursor] = None
        elif (self.open.get(cursor) is None or chance.random() < 0.4) and chance.random() > 0.06:
            self._announce(cursor, depth)
            calls.append(self._call("PARSE", cursor, depth))
        calls.append(self._call("EXEC", cursor, depth))
        if chance.random() < 0.1:
            self.errors[self._add(f"ERROR #{cursor}:err=1422 tim={self.tim}")] = self.open.get(cursor)
        for _ in range(chance.choice([0, 1, 1, 3])):
            if depth == 0 and chance.random() < 0.5:
                line = self._wait(cursor, "SQL*Net message from client", chance.randrange(100, 99999))
                self.waits[line] = self.open.get(cursor), None
            calls.append(self._call("FETCH", cursor, depth))
        if self.has_close and chance.random() < 0.5:
            kind = chance.choice([0, 0, 1, 2, 3])
            self.tim += 5
            self._add(f"CLOSE #{cursor}:c=0,e=5,dep={depth},type={kind},tim={self.tim}")
            if kind == 0:
                self.open[cursor] = None
        return calls


@pytest.mark.parametrize("group", range(4))
def test_no_line_has_anothers_owner(group: int) -> None:
    """Cursors closed, kept and used again, statements that are not announced, failed parses, overflowed counters."""
    faults: Counter[str] = Counter()
    right = 0
    for seed in range(group * SEEDS, (group + 1) * SEEDS):
        drawn = Drawn(seed)
        trace = read_sqltrace(drawn.text.encode())
        texts = dict(trace.statements.select("statement", "text").rows())
        noted = set(trace.diagnostics["line"].to_list())
        for name, truth, frame in (
            ("call", drawn.calls, trace.calls.select("line", "statement", "parent")),
            ("wait", drawn.waits, trace.waits.select("line", "statement", "call")),
        ):
            found = {line: (texts.get(statement), up) for line, statement, up in frame.rows()}
            for line, (text, up) in truth.items():
                is_whole = max(line, up or 0) <= drawn.last  # a trace that is cut may lack the call
                if is_whole and line not in noted and line not in drawn.uncertain:
                    right += found.get(line) == (text, up)
                    faults[name] += found.get(line) != (text, up)
        failed = dict(trace.errors.select("line", "statement").rows())
        faults["error"] += sum(
            texts.get(failed[line]) != text for line, text in drawn.errors.items() if line <= drawn.last
        )

    assert +faults == Counter()
    assert right > 100 * SEEDS


@pytest.mark.parametrize("line", ["WAIT", "PARSE", "EXEC"])
@pytest.mark.parametrize("extra", [1, 42, 99_999])
def test_a_counter_that_may_have_overflowed_first(line: str, extra: int) -> None:
    """Above the first line of a trace nothing shows whether 2**32 microseconds passed: the figure stays, told."""
    elapsed, figures = 2**32 + extra, "p=0,cr=0,cu=0,mis=0,r=0,dep=1,og=1,tim=9000000099"
    first = {
        "WAIT": f"WAIT #2: nam='direct path read' ela= {elapsed} file#=4 block#=1 blocks=1 obj#=5 tim=9000000099",
        "PARSE": f"PARSE #2:c=0,e={elapsed},{figures}",
        "EXEC": f"EXEC #2:c=0,e={elapsed},{figures}",
    }[line]
    head = "Trace file /u01/x.trc\nOracle Database 11g Enterprise Edition Release 11.2.0.4.0 - 64bit Production\n"
    outer = "EXEC #3:c=0,e=500,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,tim=9000000400\n"
    trace = read_sqltrace(f"{head}{first}\n{outer}".encode())
    frame = trace.waits if line == "WAIT" else trace.calls

    assert frame["elapsed_us"][0] == elapsed
    assert trace.diagnostics.filter(kind="overflow")["line"].to_list() == [3]
