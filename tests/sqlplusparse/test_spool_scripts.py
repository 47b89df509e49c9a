"""Sessions under the settings that hide what was typed: every figure has its own statement, or none and a diagnostic.

Each class of settings is a generator (`spool_scripts`), of which a number of sessions is read.
"""

from collections import Counter

import polars as pl
import pytest
from spool_scripts import ODD_PROMPTS, PROMPTS, TRACES, WAYS, faults, script, show, ways

from sqlplusparse import read_spool

SESSIONS = 40
MIXED = 300
CLASSES = [
    *({"way": way} for way in WAYS),
    *({"prompt": prompt, "client": "sqlplus", "way": way} for prompt in PROMPTS for way in ("typed", "stdin")),
    *({"prompt": prompt, "client": "sqlplus", "way": "typed"} for prompt in ("hr>", "hr#", "=", "-> ", "«hr» ")),
    *({"way": way, "sqlnumber": False, "client": "sqlplus"} for way in WAYS),
    *({"trace": trace, "timing": False, "way": "off", "result": "grid", "client": "sqlplus"} for trace in TRACES),
    *({"prompt": prompt, "client": "sqlplus", "way": "echo", "sqlnumber": False} for prompt in PROMPTS),
    *({"prompt": prompt, "client": "sqlplus", "way": "stdin", "feedback": 0, "trace": "explain"} for prompt in PROMPTS),
    {"sql_id": True, "client": "sqlplus", "feedback": 6},
    {"autocommit": True, "way": "off"},
    {"autocommit": True, "way": "off", "timing": False},
    {"sql_id": True, "client": "sqlplus"},
    {"client": "sqlcl"},
    {"result": "json", "client": "sqlcl"},
    {"result": "html", "client": "sqlplus"},
    {"terminal": 80, "way": "typed", "client": "sqlplus"},
    {"terminal": 120, "way": "typed", "client": "sqlplus"},
    {"feedback": 0, "way": "off"},
    *({"termout": False, "way": way} for way in ("echo", "off")),
    *({"time": True, "prompt": "sys@DB19 AS SYSDBA> ", "result": "grid", "way": way} for way in ("typed", "echo")),
]


@pytest.mark.parametrize("settings", CLASSES, ids=str)
@pytest.mark.parametrize("linesize", [80, 132])
def test_no_wrong_owner(settings: dict[str, object], linesize: int) -> None:
    """No part of a statement is another's, no text is another's, and no session is read without a right statement."""
    found: Counter[str] = Counter()
    for seed in range(SESSIONS):
        found += faults(show(script(seed), ways(seed, **settings, linesize=linesize)))

    assert {kind: count for kind, count in found.items() if kind.startswith("silent")} == {}
    assert found["right"] > 10 * found.total() / 11


@pytest.mark.parametrize("way", WAYS)
def test_no_wrong_owner_under_drawn_settings(way: str) -> None:
    """The same for settings drawn together, at prompts that show nothing of their kind, too."""
    found: Counter[str] = Counter()
    for seed in range(MIXED):
        drawn = ways(seed, way=way, client="sqlplus")
        found += faults(show(script(seed), drawn)) if drawn.linesize >= 80 else Counter()

    assert {kind: count for kind, count in found.items() if kind.startswith("silent")} == {}


@pytest.mark.parametrize("prompt", ODD_PROMPTS)
@pytest.mark.parametrize("terminal", [None, 80])
def test_no_wrong_owner_at_odd_prompts(prompt: str, terminal: int | None) -> None:
    """Where a prompt cannot be told from text, the texts behind it are lost, and a diagnostic says so."""
    found: Counter[str] = Counter()
    for seed in range(SESSIONS):
        for way in WAYS:
            drawn = ways(seed, prompt=prompt, way=way, client="sqlplus", linesize=100, terminal=terminal)
            found += faults(show(script(seed), drawn))

    assert {kind: count for kind, count in found.items() if kind.startswith("silent")} == {}


@pytest.mark.parametrize("prompt", PROMPTS)
def test_an_elapsed_behind_a_prompt_is_read(prompt: str) -> None:
    """A statement from the standard input that prints nothing else has its Elapsed in the line of its prompt."""
    log = f"""{prompt}{prompt}
Table created.

Elapsed: 00:00:01.22
{prompt}  2    3  Elapsed: 00:00:39.38
{prompt}No errors.
{prompt}{prompt}Elapsed: 00:00:07.11
{prompt}
"""
    spool = read_spool(log.encode())

    assert spool.timings["elapsed_s"].to_list() == [1.22, 39.38, 7.11]
    assert spool.statements["elapsed_s"].drop_nulls().to_list() == [1.22, 39.38, 7.11]
    assert spool.statements["text"].drop_nulls().to_list() == []


@pytest.mark.parametrize("prompt", PROMPTS)
def test_output_behind_prompts_is_no_statement(prompt: str) -> None:
    """Where nothing typed is in the log, what stands behind prompts was printed, whatever it says."""
    log = f"{prompt * 4}Elapsed time: 0 cs\nPL/SQL procedure successfully completed.\n\n{prompt * 2}No errors.\n"

    assert read_spool(f"{log}{prompt}\n".encode()).statements["text"].drop_nulls().to_list() == []


@pytest.mark.parametrize("result", ["json", "html"])
def test_results_are_read(result: str) -> None:
    """The rows of a result in JSON or HTML are those that the client had."""
    for seed in range(SESSIONS):
        runs = script(seed)
        settings = ways(
            seed, result=result, client="sqlcl" if result == "json" else "sqlplus", way="typed", pagesize=50
        )
        spool = read_spool(show(runs, settings).text.encode())
        expected = [run.statement.cells for run in runs if run.statement.cells]

        queries = spool.tables.join(spool.statements.filter(kind="select"), on="statement", how="semi")
        tables = [spool.table_cells(table).drop("line").rows() for table in queries["table"].sort()]
        assert tables == [list(cells) for cells in expected]


@pytest.mark.parametrize("width", [80, 100, 120])
def test_a_terminal_breaks_no_word(width: int) -> None:
    """What was typed has the same text whatever the width of the terminal that broke its lines."""
    for seed in range(SESSIONS):
        runs = script(seed)
        plain = ways(seed, way="typed", client="sqlplus", result="grid", terminal=None, linesize=200)
        narrow = ways(seed, way="typed", client="sqlplus", result="grid", terminal=width, linesize=200)
        texts = [read_spool(show(runs, one).text.encode()).statements["text"].to_list() for one in (plain, narrow)]

        assert texts[0] == texts[1]


def test_sql_id_of_each_feedback() -> None:
    """SET FEEDBACK ON SQL_ID prints it below the feedback: it is the statement's."""
    for seed in range(SESSIONS):
        runs = script(seed)
        settings = ways(seed, way="typed", client="sqlplus", result="grid", sql_id=True, feedback=1, terminal=None)
        shown = show(runs, settings)
        spool = read_spool(shown.text.encode())
        printed = [line.split()[1] for line in shown.lines if line.startswith("SQL_ID: ")]

        assert spool.statements["sql_id"].drop_nulls().to_list() == printed


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("linesize", [40, 100])
def test_no_time_is_lost_at_a_prompt(prompt: str, linesize: int) -> None:
    """Every Elapsed that a session prints is among its times, whatever the prompt, also one that a mail begins with."""
    for seed in range(SESSIONS // 2):
        shown = show(script(seed), ways(seed, prompt=prompt, way="stdin", linesize=linesize, result="grid"))
        printed = sum(line.count("Elapsed: ") for line in shown.lines)

        assert read_spool(shown.text.encode()).timings.height == printed


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_time_behind_prompts_of_continuation_lines(prompt: str) -> None:
    """Lines of few words between blank ones are no quotation: the marks before them are the prompt."""
    log = f"""Elapsed: 00:00:09.18
{prompt}SP2-0310: unable to open file "nowhere.sql"
{prompt}  2    3  Elapsed: 00:00:29.24

Elapsed: 00:00:35.83
{prompt}
"""

    assert read_spool(log.encode()).timings["elapsed_s"].to_list() == [9.18, 29.24, 35.83]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_the_lines_of_a_comment_are_no_statement(prompt: str) -> None:
    """The client prompts for the lines of a comment with DOC>, whatever its own prompt is."""
    log = f"""{prompt}/* block comment
DOC>select 1 from dual;
DOC>*/
{prompt}select count(*) from emp;

  COUNT(*)
----------
        14

Elapsed: 00:00:01.11
{prompt}/* another
DOC>delete from emp;
DOC>*/
{prompt}@run2.sql

Table altered.

Elapsed: 00:00:51.98

Execution Plan
----------------------------------------------------------
Plan hash value: 1006815413
"""
    statements = read_spool(log.encode()).statements
    texts = statements["text"].drop_nulls().to_list()

    assert [text for text in texts if "delete" in text or "1 from dual" in text] == []
    assert statements.filter(elapsed_s=1.11)["text"].to_list() == ["select count(*) from emp"]
    assert statements.filter(elapsed_s=51.98).height == 1
    assert statements.filter(pl.col("plan_hash_value").is_not_null())["elapsed_s"].to_list() == [51.98]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_prompt_is_no_word_of_a_statement(prompt: str) -> None:
    """What lines of statements without a prompt begin with is no prompt, however often they do."""
    log = """grant select on a to b;

Grant succeeded.

grant select on b to c;

Grant succeeded.

insert into t
select * from a;

2 rows created.

Elapsed: 00:00:01.00
"""
    typed = "".join(prompt + line + "\n" if line[:5] == "grant" else line + "\n" for line in log.split("\n"))

    assert read_spool(log.encode()).statements["text"].to_list() == [
        "grant select on a to b",
        "grant select on b to c",
        "insert into t\nselect * from a",
    ]
    assert read_spool(typed.encode()).timings["elapsed_s"].to_list() == [1.0]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_refused_command_belongs_to_its_prompt(prompt: str) -> None:
    """What the client refuses was typed at the prompt above, whatever it says."""
    log = f"""{prompt}foo bar
SP2-0734: unknown command beginning "foo bar"
{prompt}select * from t;

no rows selected

{prompt}select * from t2;

no rows selected

{prompt}exit
"""
    statements = read_spool(log.encode()).statements

    assert statements["text"].to_list() == ["foo bar", "select * from t", "select * from t2"]


@pytest.mark.parametrize("time", ["", "12:00:0{} "])
@pytest.mark.parametrize("prompt", ["- ", "? ", "HR_XE ", "SQL> "])
def test_prompts_with_times_are_printed_several_times(prompt: str, time: str) -> None:
    """Each prompt in a line may have another time."""
    one, two, three, four = (time.format(number) + prompt for number in range(4))
    log = f"""{one}
Elapsed: 00:00:01.00
{two}{three}
         N
----------
         1
         2

         N
----------
         3

Elapsed: 00:00:02.00
{four}
Elapsed: 00:00:03.00
{one}Disconnected from Oracle Database 19c Enterprise Edition Release 19.0.0.0.0 - Production
"""

    spool = read_spool(log.encode())

    assert spool.statements["elapsed_s"].to_list() == [1.0, 2.0, 3.0]
    assert spool.tables.select("statement", "row_count").rows() == [(2, 3)]


def test_at_an_empty_prompt_the_next_statement_follows_directly() -> None:
    """A plan's predicates, a result and what the client prints end where a statement begins or is answered."""
    log = """select count(*) from emp;

         N
----------
         1

Elapsed: 00:00:01.00

Execution Plan
----------------------------------------------------------
Plan hash value: 77

------------------------------------------
| Id  | Operation          | Name | Rows  |
------------------------------------------
|   0 | SELECT STATEMENT   |      |     1 |
|*  1 |  TABLE ACCESS FULL | EMP  |    10 |
------------------------------------------

Predicate Information (identified by operation id):
---------------------------------------------------

   1 - filter("N">1)

select * from t2;
describe t2
 Name                                      Null?    Type
 ----------------------------------------- -------- ----------------------------
 ID                                        NOT NULL NUMBER
"""
    spool = read_spool(log.encode())

    assert spool.statements.select("kind", "text").rows() == [
        ("select", "select count(*) from emp"),
        ("select", "select * from t2"),
        ("command", None),
    ]
    assert spool.plans["predicates"].to_list() == [[], ['filter("N">1)']]


def test_the_line_that_an_error_quotes_ends_no_statement() -> None:
    """Output that begins as a statement does not go on in the line of another one, which an error marks."""
    log = """select 0 from parts

  nothing;
  *
ERROR at line 2:
ORA-06550: line 2, column 3:
"""
    assert read_spool(log.encode()).statements["text"].to_list() == [None]


def test_a_single_line_behind_an_unknown_prompt_is_told() -> None:
    """One line does not show what a prompt is: the text is null, and a diagnostic names the line."""
    spool = read_spool(b"? select * from t;\n\nno rows selected\n\nElapsed: 00:00:01.00\n")

    assert spool.statements.select("text", "elapsed_s").rows() == [(None, 1.0)]
    assert spool.diagnostics.filter(kind="ambiguous")["line"].to_list() == [1]
