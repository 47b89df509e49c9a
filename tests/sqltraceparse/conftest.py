"""Traces written for these tests: a session of any release whose truth is known."""

from __future__ import annotations

import random
from typing import Any

import pytest
from sample_scripts import sample_script


@pytest.fixture(scope="session")
def traced() -> Any:  # noqa: ANN401 - a script, as a module
    """The module that writes traces."""
    return sample_script("traced_session")


@pytest.fixture(scope="session")
def write(traced: Any) -> Any:  # noqa: ANN401 - a module
    """A function that makes a session of a release with nested calls, reads, binds, silence and a failing statement."""

    def written(release: str, *, seed: int = 1, rounds: int = 3) -> Any:  # noqa: ANN401 - of the module
        session = traced.Session(release, seed=seed)
        session.head()
        is_old = session.version < (11, 2)
        outer = traced.Statement("begin\n  load_orders;\nend;", 3 if is_old else 140205333907, command=47)
        inner = traced.Statement(
            "select /* WAIT #1: nam='no wait' ela= 5 p1=1 p2=2 p3=3\nEND OF STMT\n*/ sum(amount)\n\n  from orders",
            5 if is_old else 140205444907,
            depth=1,
            plan=("SORT AGGREGATE", "TABLE ACCESS FULL ORDERS"),
            binds=((2, "33"), (1, "HR"), (2, "")),
        )
        lowest = traced.Statement("select file# from file$ where ts#=:1", 7 if is_old else 140205555907, depth=2)
        random = session.random

        def read(statement: Any, most: int) -> None:  # noqa: ANN401
            for _ in range(random.randint(0, most)):
                blocks = random.choice((1, 1, 8, 16))
                event = "db file sequential read" if blocks == 1 else "db file scattered read"
                session.wait(
                    statement.cursor, event, random.randint(80, 9000), (4, random.randint(1, 10**6), blocks), 52341
                )
                session.cpu(random.randint(5, 60), query=blocks)

        def look_up() -> None:
            session.call("PARSE", lowest, lambda: session.cpu(31), misses=1)
            session.call("EXEC", lowest, lambda: session.cpu(12))
            session.call("FETCH", lowest, lambda: read(lowest, 2), rows=1)

        def parse_inner() -> None:
            session.cpu(20)
            look_up()
            session.lose(random.randint(0, 500))

        def run() -> None:
            for _ in range(rounds):
                session.call("PARSE", inner, parse_inner, misses=1)
                session.bind(inner)
                session.call("EXEC", inner, lambda: session.cpu(40))
                fetched = session.call("FETCH", inner, lambda: read(inner, 9), rows=1)
                session.row_sources(inner, [fetched])
                session.close(inner, 3)
                session.cpu(random.randint(1, 30))

        session.call("PARSE", outer, lambda: session.cpu(100), misses=1)
        session.call("EXEC", outer, run, rows=1)
        session.think(25_000_000, outer.cursor)
        session.close(outer)
        session.commit()
        session.call("PARSE", outer, lambda: session.cpu(10))
        session.call("EXEC", outer, run, rows=1)
        session.think(400, outer.cursor)
        return session

    return written


@pytest.fixture(scope="session")
def damaged(write: Any) -> Any:  # noqa: ANN401 - a function of a module
    """A function of a seed that gives the lines of a session, deleted, cut, fused, inserted, swapped and repeated."""

    def lines_of(seed: int) -> list[str]:
        lines = list(write("19.22.0.0.0" if seed % 2 else "10.2.0.5.0", seed=seed).lines)
        chance = random.Random(seed)  # noqa: S311 - data for tests
        for _ in range(12):
            place = chance.randrange(len(lines) - 1)
            match chance.randrange(6):
                case 0:
                    del lines[place : place + chance.randrange(9)]
                case 1:
                    lines[place] = lines[place][: chance.randrange(len(lines[place]) + 1)]
                case 2:
                    lines[place : place + 2] = [lines[place] + lines[place + 1]]
                case 3:
                    other = ["", "   ", "END OF STMT", "x" * 500, "BINDS #3:", "*** ", "\t=='"]
                    lines.insert(place, chance.choice(other))
                case 4:
                    lines[place], lines[place + 1] = lines[place + 1], lines[place]
                case _:
                    lines[place:place] = lines[chance.randrange(len(lines)) :][:5]
        return lines

    return lines_of
