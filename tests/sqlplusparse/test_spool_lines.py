"""Single lines: the grammar's samples, the classifier, and what must not be taken for a session's own line."""

import ast
from pathlib import Path

import pytest

import sqlplusparse
from sqlplusparse.elapsed import read_clock
from sqlplusparse.lines import GRAMMAR, RULES, Kind, classify
from sqlplusparse.prepare import prepared
from sqlplusparse.session import GRAMMAR as SESSION
from sqlplusparse.session import group

#: The kind that the classifier gives to the samples of a rule; None for rules that need their neighbours.
KINDS = {
    "prompt": Kind.PROMPT,
    "continuation": None,
    "substitution": Kind.SUBSTITUTION,
    "rows_feedback": Kind.FEEDBACK,
    "done_feedback": Kind.FEEDBACK,
    "block_feedback": Kind.FEEDBACK,
    "commit_feedback": Kind.FEEDBACK,
    "symbol_ruler": None,
    "error": Kind.ERROR,
    "elapsed": Kind.ELAPSED,
    "timer_name": Kind.TIMER_NAME,
    "statistics_heading": Kind.STATISTICS_HEADING,
    "autotrace_statistic": Kind.STATISTIC,
    "session_statistic": None,
    "plan_heading": Kind.PLAN_HEADING,
    "sql_id": Kind.SQL_ID,
    "plan_hash": Kind.PLAN_HASH,
    "plan_table": Kind.PLAN_TABLE,
    "plan_row": Kind.PLAN_ROW,
    "old_plan_row": None,
    "plan_section": Kind.PLAN_SECTION,
    "ruler": Kind.RULER,
    "snapper_row": Kind.SNAPPER_ROW,
    "typed_statistic": None,
    "snapper_end": Kind.SNAPPER_END,
    "banner": Kind.BANNER,
    "fence": Kind.FENCE,
    "elision": Kind.ELISION,
    "trace": Kind.TRACE,
}
#: The samples of rules; those of terminals are matched in tests/test_structure.py.
SAMPLES = [(rule, line) for rule, line in GRAMMAR.samples if rule.islower()]


def test_every_rule_has_a_sample() -> None:
    """No rule of the line grammar stands without a line that shows what it reads."""
    assert {rule for rule, _ in SAMPLES} == set(RULES)


@pytest.mark.parametrize(("rule", "line"), SAMPLES)
def test_samples_match_their_rule(rule: str, line: str) -> None:
    """Lark reads each sample as its rule, and the classifier, by the same terminals, gives the same kind."""
    assert GRAMMAR.parse(line, rule).data == rule
    assert KINDS[rule] is None or classify(line) == KINDS[rule]


@pytest.mark.parametrize(("rule", "blocks"), SESSION.samples)
def test_samples_are_one_statement(rule: str, blocks: str) -> None:
    """Each sample of the session grammar is one whole statement."""
    assert rule == "statement"
    assert group(blocks.split()) == [(0, len(blocks.split()))]


@pytest.mark.parametrize(
    "line",
    [
        "[Timer timed (per call in ms): Elapsed: 0.01221, CPU: 0.01304]",
        "Elapsed:   15.02 (mins)",
        "Elapsed: 00:00:61.00",
        "Elapsed: 00:00:05",
        "started at 10:00:00.00 and Elapsed: 00:00:05.10",
        "Time: 12:00:00.5",
        "|   0 | SELECT STATEMENT |      1 |00:00:00.01 |",
        "2020-01-03 00:00:00.00",
        "tim=2020: 00:00:00.01",
    ],
)
def test_look_alikes_are_refused(line: str) -> None:
    """A line that only resembles an Elapsed line is none."""
    assert classify(line) != Kind.ELAPSED
    assert read_clock(line, 0) is None


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("Bench run 1 created", Kind.TEXT),
        ("Table was created.", Kind.TEXT),
        ("physical reads 7239", Kind.TEXT),
        ("where qty > 5", Kind.TEXT),
        ("- a list item", Kind.TEXT),
        ("-- a comment", Kind.COMMENT),
        ("-", Kind.RULER),
        ("---- ----------", Kind.RULER),
        ("____ ____", Kind.RULER),
        ("", Kind.BLANK),
        ("ORA", Kind.TEXT),
        ("no rows selected", Kind.FEEDBACK),
        ("Package body LOG_PKG created.", Kind.FEEDBACK),
        ("Warning: Package Body created with compilation errors.", Kind.FEEDBACK),
    ],
)
def test_classify(line: str, kind: int) -> None:
    """A line is of the kind a reader of logs would give it."""
    assert classify(line) == kind


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\n\n", ["a", ""]),
        ("\n", [""]),
        ("a  \r\n\tb\n", ["a", "        b"]),
        ("\x1b[1mSQL>\x1b[0m x\n", ["SQL> x"]),
        ("\x1b]0;me@host:~\x07$ ls\n", ["$ ls"]),
        ("selx\bect\n", ["select"]),
        ("-- a remark\n-- another\n", ["-- a remark", "-- another"]),
        ("-- 1 row selected.\n--\n--Elapsed: 00:00:01.00\n", ["1 row selected.", "", "Elapsed: 00:00:01.00"]),
        ("-----\n-- x\n", ["-----", "-- x"]),
        ("> SQL> commit;\n>\n> Elapsed: 00:00:01.00\n", ["SQL> commit;", "", "Elapsed: 00:00:01.00"]),
        ("> > ```\n> > 1 row selected.\n> > Elapsed: 00:00:01.00", ["```", "1 row selected.", "Elapsed: 00:00:01.00"]),
        ("> -- Elapsed: 00:00:01.00\n", ["Elapsed: 00:00:01.00"]),
        ("a\n\r", ["a", ""]),
        ("Elapsed: 00:00:01.00\n-- 1  redo size\n-- ", ["Elapsed: 00:00:01.00", "1  redo size", ""]),
        ("> I think so\n\n> where a > 5\n", ["> I think so", "", "> where a > 5"]),
        ("SQL> column name -\n> format a30\n", ["SQL> column name -", "> format a30"]),
    ],
)
def test_prepared(text: str, lines: list[str]) -> None:
    """Escapes, tabs, carriage returns and comment marks go; no line is lost or moved."""
    assert prepared(text) == lines


PACKAGE = Path(sqlplusparse.__file__).parent
FRAMES = {"awr_miner", "cli", "frames", "provenance", "session_samples", "reader", "runs", "schemas"}


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("*.py")), ids=lambda path: path.stem)
def test_layers(path: Path) -> None:
    """Records know no Polars, frames know no Lark."""
    imported = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").split(".")[0])

    assert ("lark" if path.stem in FRAMES else "polars") not in imported
