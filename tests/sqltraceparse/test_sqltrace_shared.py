"""Traces of processes that serve several sessions (shared servers, DRCP): a cursor is of the session that opened it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

import sqltraceparse
from logframe import open_log
from sqltraceparse import read_sqltrace
from sqltraceparse.ranges import SPLITTING

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "Trace file demo_s000_77.trc\nOracle Database 10g Enterprise Edition Release 10.2.0.4.0 - Production\n"
CURSOR = 3


class Server:
    """A trace of a shared server, and the header that each of its lines belongs to."""

    def __init__(self) -> None:
        self.lines = HEAD.splitlines()
        self.owners: dict[int, int | None] = {}
        self._tim = 1_000_000

    def session(self, name: str) -> None:
        """Another session is served."""
        self.lines.append(f"*** SESSION ID:({name}) 2024-01-01 00:00:00.000")

    def header(self, cursor: int = CURSOR) -> int:
        """A statement is parsed; its line is returned."""
        text = f"select {len(self.lines)} from t"  # noqa: S608 - the text of a trace
        self.lines += [
            f"PARSING IN CURSOR #{cursor} len={len(text)} dep=0 uid=1 oct=3 lid=1 tim={self._tim} hv=1 ad='6b5c7a68'",
            *(text, "END OF STMT"),
        ]
        return len(self.lines) - 2

    def fetch(self, owner: int | None, cursor: int = CURSOR) -> None:
        """A wait, the fetch it is part of and a row source of a cursor."""
        self._tim += 1_000
        wait = f"WAIT #{cursor}: nam='db file sequential read' ela= 310 file#=4 block#=2 blocks=1 obj#=7"
        self.lines += [
            f"{wait} tim={self._tim - 500}",
            f"FETCH #{cursor}:c=100,e=900,p=1,cr=2,cu=0,mis=0,r=1,dep=0,og=1,tim={self._tim}",
            f"STAT #{cursor} id=1 cnt=1 pid=0 pos=1 obj=0 op='SORT AGGREGATE (cr=3 pr=2 pw=0 time=900 us)'",
        ]
        self.owners |= dict.fromkeys(range(len(self.lines) - 2, len(self.lines) + 1), owner)

    @property
    def log(self) -> bytes:
        """The trace."""
        return "\n".join([*self.lines, ""]).encode()


def shared() -> Server:
    """Three sessions whose cursors have one number; the second parses none, the lines before the first name none."""
    server = Server()
    early = server.header()
    server.fetch(early)
    server.session("7.1")
    server.fetch(early)
    own = server.header()
    server.fetch(own)
    server.session("8.5")
    server.fetch(early)  # it may be that of the session before the log
    other = server.header(CURSOR + 1)
    server.session("9.9")
    last = server.header()
    for _ in range(3):
        server.session("7.1")
        server.fetch(own)
        server.session("9.9")
        server.fetch(last)
        server.session("8.5")
        server.fetch(other, CURSOR + 1)
    return server


def owners_in(frames: dict[str, pl.LazyFrame | pl.DataFrame]) -> dict[int, int | None]:
    """The header of each wait, call and row source, by line."""
    rows = [frames[name].lazy().select("line", "statement").collect() for name in ("waits", "calls", "row_sources")]
    return dict(sorted(pl.concat(rows).iter_rows()))


def test_a_cursor_is_of_its_session() -> None:
    """A number that two sessions use at a time is of two statements."""
    server = shared()

    assert owners_in(read_sqltrace(server.log).frames()) == server.owners


def test_a_cursor_of_another_session_has_no_statement() -> None:
    """Where the header of a session's own cursor is not in the log, that of another session is not taken."""
    server = Server()
    server.session("7.1")
    server.fetch(server.header())
    server.session("8.5")
    server.fetch(None)

    assert owners_in(read_sqltrace(server.log).frames()) == server.owners


def test_one_session_named_again_is_one() -> None:
    """Its line is printed again after a change of its module, or when a file was cut."""
    server = Server()
    server.session("7.1")
    own = server.header()
    for _ in range(3):
        server.fetch(own)
        server.session("7.1")

    assert owners_in(read_sqltrace(server.log).frames()) == server.owners


@pytest.mark.parametrize("batch_bytes", [200, 700, 4_000])
def test_in_parts(tmp_path: Path, batch_bytes: int) -> None:
    """Whatever was parsed in a part before."""
    server = shared()
    files = sqltraceparse.to_parquet(server.log, tmp_path, batch_bytes=batch_bytes)

    assert owners_in({name: pl.scan_parquet(path) for name, path in files.items()}) == server.owners


def test_no_ranges() -> None:
    """Several processes do not read such a trace in ranges, which know the last header of a cursor only."""
    one, several = Server(), shared()
    one.session("7.1")
    own = one.header()
    for _ in range(9):
        one.fetch(own)

    for server, is_read_so in ((one, True), (several, False)):
        log = open_log(server.log)
        cuts = SPLITTING.cuts(log, len(server.log) // 3)
        facts = [SPLITTING.facts(log, cut) for cut in cuts]
        assert len(cuts) > 1
        assert None not in facts
        assert (SPLITTING.pieces(log, cuts, facts) is not None) == is_read_so
