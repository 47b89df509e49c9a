"""Sessions in the encodings of other consoles: the word for Elapsed tells which it is."""

from __future__ import annotations

import pytest

import sqlplusparse

SESSION = "SQL> select count(*) from {table};\n\n  COUNT(*)\n----------\n       100\n\n{elapsed}\nSQL> exit\n"


@pytest.mark.parametrize(
    ("encoding", "table", "elapsed", "label"),
    [
        ("cp932", "表", "経過: 00:00:05.32", "経過"),
        ("euc-jp", "t", "経過: 00:00:05.32", "経過"),
        ("big5", "客戶", "已用時間:  00: 00: 05.32", "已用時間"),
        ("cp949", "고객", "경   과: 00:00:05.32", "경   과"),
        ("cp1251", "т", "Затрач.время: 00:00:05.32", "Затрач.время"),
        ("koi8-r", "т", "Затрач.время: 00:00:05.32", "Затрач.время"),
        ("cp866", "т", "Затрач.время: 00:00:05.32", "Затрач.время"),
        ("cp850", "t", "Ecoulé : 00 :00 :05.32", "Ecoulé"),
        ("cp1252", "t", "Ecoulé : 00 :00 :05.32", "Ecoulé"),
        ("gb18030", "表", "已用时间:  00: 00: 05.32", "已用时间"),
    ],
)
def test_elapsed_in_the_encoding_of_a_console(encoding: str, table: str, elapsed: str, label: str) -> None:
    """The time is read, its label and the statement are text, and the diagnostics say which encoding was taken."""
    spool = sqlplusparse.read_spool(SESSION.format(table=table, elapsed=elapsed).encode(encoding))
    assert (spool.encoding, spool.timings["label"].to_list()) == (encoding, [label])
    assert spool.statements["elapsed_s"].to_list() == [5.32]
    assert spool.statements["text"].item().endswith(f" from {table}")
    found = spool.diagnostics.filter(kind="encoding")["reason"].to_list()
    assert [f"read as {encoding}" in reason for reason in found] == [True]


@pytest.mark.parametrize("encoding", ["cp850", "cp1252"])
@pytest.mark.parametrize(
    ("elapsed", "feedback", "rows"),
    [
        ("Abgelaufen: 00:00:05.32", "14 Zeilen ausgewählt.", 14),
        ("Abgelaufen: 00:00:05.32", "3 Zeilen gelöscht.", 3),
        ("Decorrido: 00:00:05.32", "não há linhas selecionadas", 0),
        ("Transcurrido: 00:00:05.32", "Confirmación terminada.", None),
    ],
)
def test_feedback_in_the_encoding_of_a_console(encoding: str, elapsed: str, feedback: str, rows: int | None) -> None:
    """Where the word for Elapsed is plain ASCII, what the client says of the rows tells the encoding."""
    spool = sqlplusparse.read_spool(f"SQL> set timing on\n{feedback}\n\n{elapsed}\n".encode(encoding))
    assert spool.encoding == encoding
    assert spool.statements.select("message", "rows", "elapsed_s").rows() == [(feedback, rows, 5.32)]


def test_an_encoding_that_was_named_is_taken() -> None:
    """Whoever names the encoding knows better than a word."""
    content = SESSION.format(table="t", elapsed="Затрач.время: 00:00:05.32").encode("cp1251")
    assert sqlplusparse.read_spool(content, encoding="latin-1").encoding == "latin-1"


def test_lines_that_end_in_carriage_returns_alone() -> None:
    """An old editor's line ends: the same session."""
    text = SESSION.format(table="t", elapsed="Elapsed: 00:00:05.32")
    plain, copied = (sqlplusparse.read_spool(one.encode()) for one in (text, text.replace("\n", "\r")))
    assert plain.statements.rows() == copied.statements.rows()
    assert plain.lines().rows() == copied.lines().rows()
