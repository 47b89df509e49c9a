"""A cursor that was closed for good has no statement until the next one is announced."""

from __future__ import annotations

import polars as pl
import pytest
from sample_scripts import sample_script

from sqltraceparse import read_sqltrace

HEAD = "Oracle Database 11g Enterprise Edition Release 11.2.0.4.0 - 64bit Production\n"
PARSING = """=====================
PARSING IN CURSOR #2 len=21 dep={depth} uid=0 oct=3 lid=0 tim={tim} hv=1 ad='7a' sqlid='{sql_id}'
select {text} from t
END OF STMT
"""
CALL = "{op} #2:c=0,e=50,p=0,cr=0,cu=0,mis=0,r=0,dep={depth},og=1,plh={plan},tim={tim}\n"
CLOSE = "CLOSE #2:c=0,e=5,dep=1,type={kind},tim=1000160\n"
FIRST = PARSING.format(depth=1, tim=1000000, sql_id="aaaaaaaaaaaa1", text="first_one_")
SECOND = PARSING.format(depth=0, tim=2000000, sql_id="bbbbbbbbbbbb2", text="second_one")


def owners(*parts: str) -> list[str | None]:
    """The statement of each call."""
    calls = read_sqltrace((HEAD + "".join(parts)).encode()).calls
    return calls.get_column("sql_id").to_list()


def call(op: str, tim: int, *, depth: int = 1, plan: int = 11) -> str:
    """A call of the cursor."""
    return CALL.format(op=op, tim=tim, depth=depth, plan=plan)


@pytest.mark.parametrize(("kind", "after"), [(0, None), (1, "aaaaaaaaaaaa1"), (3, "aaaaaaaaaaaa1")])
def test_a_call_after_a_hard_close_has_no_statement(kind: int, after: str | None) -> None:
    """``type=0`` ends the cursor; one that was kept in the session's cache keeps its statement."""
    later = call("EXEC", 2000150, depth=0, plan=77) + call("FETCH", 2900150, depth=0, plan=77)
    found = owners(FIRST, call("EXEC", 1000100), CLOSE.format(kind=kind), later)

    assert found == ["aaaaaaaaaaaa1", "aaaaaaaaaaaa1", after, after]


def test_the_next_statement_of_the_number_counts_at_once() -> None:
    """A statement that is announced on the line after the close owns its calls."""
    found = owners(FIRST, call("EXEC", 1000100), CLOSE.format(kind=0), SECOND, call("EXEC", 2000150, depth=0, plan=77))

    assert found == ["aaaaaaaaaaaa1", "aaaaaaaaaaaa1", "bbbbbbbbbbbb2"]


@pytest.mark.parametrize("seed", range(20))
def test_owners_are_those_of_the_session(seed: int) -> None:
    """Cursors of one number are closed for good or kept, announced again or not: no call has another's statement."""
    made = sample_script("traced_session")
    session = made.Session("11.2.0.4.0", seed=seed)
    chance = session.random
    statements = [made.Statement(f"begin p{number}; end;", 7 + number % 3) for number in range(8)]
    truth: list[str | None] = []
    open_now: dict[int, str | None] = {}
    session.head()
    for _ in range(60):
        one = chance.choice(statements)
        if open_now.get(one.cursor) != one.text or chance.random() < 0.3:
            session.call("PARSE", one, lambda: session.cpu(20))
            truth.append(made.sql_id(one.text))
            open_now[one.cursor] = one.text
        session.call("EXEC", one, lambda: session.cpu(30))
        truth.append(made.sql_id(one.text))
        if chance.random() < 0.4:
            kind = chance.choice([0, 1, 3])
            session.close(one, kind)
            truth.append(made.sql_id(one.text))
            if kind == 0:
                open_now[one.cursor] = None
                if chance.random() < 0.5:  # used again without an announcement: nobody knows by whom
                    session.call("EXEC", one, lambda: session.cpu(30))
                    truth.append(None)
    calls = read_sqltrace(session.text.encode()).calls

    assert calls.get_column("sql_id").to_list() == truth
    assert calls.filter(pl.col("sql_id").is_null() != pl.col("statement").is_null()).is_empty()
