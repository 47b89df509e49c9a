"""Errors whose message goes on over several lines, and the Elapsed of the statement that failed."""

from __future__ import annotations

import pytest

import sqlplusparse

SESSION = """SQL> exec p
BEGIN p; END;

*
ERROR at line 1:
{message}


Elapsed: 00:00:00.02
SQL> select count(*) from t;

  COUNT(*)
----------
       100

Elapsed: 00:00:01.50
SQL> exit
"""


NOT_DECLARED = """ORA-06550: line 1, column 7:
PLS-00201: identifier 'P' must be declared
ORA-06550: line 1, column 7:
PL/SQL: Statement ignored"""
OF_TWO_LINES = """ORA-20001: the first line
the second of a message
ORA-06512: at "APP.P", line 3
ORA-06512: at line 1"""
WITHOUT_CODE_AT_ITS_END = """ORA-29400: data cartridge error
KUP-04040: file x.dat not found
error opening file"""


@pytest.mark.parametrize(
    ("message", "code"),
    [(NOT_DECLARED, "ORA-06550"), (OF_TWO_LINES, "ORA-20001"), (WITHOUT_CODE_AT_ITS_END, "ORA-29400")],
)
def test_the_message_of_an_error_goes_on_to_the_blank_line(message: str, code: str) -> None:
    """One statement failed; its Elapsed is its own, and the next statement keeps its own."""
    spool = sqlplusparse.read_spool(SESSION.format(message=message).encode())
    assert spool.statements.select("text", "kind", "status", "error", "elapsed_s").rows() == [
        ("exec p", "plsql", "error", code, 0.02),
        ("select count(*) from t", "select", "ok", None, 1.5),
    ]
    assert spool.diagnostics["kind"].to_list() == ["failed"]


def test_output_behind_an_error_is_no_message() -> None:
    """Where blank lines have been dropped, a result begins right behind the error."""
    text = (
        "select 1 from nix\n*\nERROR at line 1:\nORA-00942: table or view does not exist\n  COUNT(*)\n----------\n  7\n"
    )
    spool = sqlplusparse.read_spool(text.encode())
    assert spool.table(1).rows() == [(7,)]


@pytest.mark.parametrize("feedback", ["1 Zeile wurde ausgewählt.", "Selezionata 1 riga.", "1 riga selezionata."])
def test_one_row_is_one_in_other_languages(feedback: str) -> None:
    """The singular is a number of rows, too."""
    session = "SQL> select 1 from dual;\n\n         1\n----------\n         1\n\n"
    spool = sqlplusparse.read_spool(f"{session}{feedback}\n\nSQL> exit\n".encode())
    assert spool.statements["rows"].to_list() == [1]
