# ruff: noqa: S608 - the statements are printed, never run
"""Sessions of clients under every setting that hides what was typed, each line with the statement that printed it.

`script` draws a session, `show` prints it as its client would, `faults` compares what the reader made of it with who
printed each line.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from operator import add
from typing import TYPE_CHECKING, Final

from spool_client import CHANGED, Column, Settings, Statement, _grid

from sqlplusparse.autotrace import AUTOTRACE_NAMES
from sqlplusparse.blocks import read_blocks
from sqlplusparse.missing_lines import note_missing_lines
from sqlplusparse.page import Page
from sqlplusparse.records import Autotrace, Clock, Grid, Outcome, Plan, Typed
from sqlplusparse.session import read_statements

if TYPE_CHECKING:
    from collections.abc import Iterable

UNOWNED: Final = ("UNOWNED",)
#: How statements reach the client: typed, from a script with SET ECHO ON or OFF, or from its standard input.
WAYS: Final = ("typed", "echo", "off", "stdin")
PROMPTS: Final = (
    *("SQL> ", "> ", "$ ", "# ", ">> ", "scott@orcl> ", "hr> ", "12:00:01 SQL> "),
    *("hr@xe SQL> ", "[oracle@db1] SQL> ", "sys@DB19 AS SYSDBA> ", "PERF:dba> ", "TEST % "),
    *("? ", ":", "~ ", "<< ", "* ", "db1:", "hr@xe:", "HR_XE ", "12:00:01 HR@XE ", "hr|xe| "),
)
#: Prompts that show nothing of their kind: their texts may be lost, where a diagnostic says so.
ODD_PROMPTS: Final = (
    "",
    "| ",
    "+ ",
    "/ ",
    "- ",
    "x",
    "hr ",
    "Enter SQL: ",
    "SQL>",
    "1> ",
    "=> ",
    "hr@xe$ ",
    "SQL*Plus: ",
)
TRACES: Final = ("off", "on", "traceonly", "explain", "statistics")
_DONE: Final = {
    "ddl": "Table created.",
    "alter session": "Session altered.",
    "procedure": "Procedure created.",
    "plsql": "PL/SQL procedure successfully completed.",
}
_WHOLE: Final = (
    "select /*+ full(o) */ o.order_id, o.customer_id, i.product_id "
    "from orders{n} o, items i where o.id = i.order_id and i.qty > {n}"
)


@dataclass(frozen=True)
class Ways:
    """The settings of one session, beside those of `Settings`."""

    way: str = "typed"
    prompt: str = "SQL> "
    sqlnumber: bool = True
    timing: bool = True
    feedback: int = 1
    sql_id: bool = False
    autocommit: bool = False
    trace: str = "off"
    linesize: int = 100
    pagesize: int = 50
    client: str = "sqlplus"
    result: str = "grid"
    terminal: int | None = None
    time: bool = False
    heading: bool = True
    verify: bool = False
    blank_lines: bool = False
    termout: bool = True


@dataclass
class Run:
    """What was given to the client once, and what it gave; `owner` numbers the runs of a session."""

    statement: Statement
    code: str | None = None
    is_client_error: bool = False
    plan_hash: int = 0


@dataclass
class Shown:
    """The lines of a session, each with the number of the run that printed it (None: no statement's)."""

    lines: list[str] = field(default_factory=list)
    owners: list[int | None] = field(default_factory=list)
    texts: dict[int, str] = field(default_factory=dict)

    def add(self, lines: Iterable[str], owner: int | None) -> None:
        """More lines of one owner."""
        for line in lines:
            self.lines.append(line)
            self.owners.append(owner)

    def run_on(self, text: str) -> None:
        """A prompt without what is typed at it: what is printed next stands in its line."""
        self.lines.append(text)
        self.owners.append(-1)

    @property
    def text(self) -> str:
        """The whole log; a prompt that ends no line runs on."""
        text = ""
        for line, owner in zip(self.lines, self.owners, strict=True):
            text += line if owner == -1 else f"{line}\n"
        return text

    @property
    def printed_by(self) -> list[int | None]:
        """The owner of each line of the text."""
        return [owner for owner in self.owners if owner != -1]


def ways(seed: int, **fixed: object) -> Ways:
    """Settings drawn from a seed, but for those that are given."""
    chance = random.Random(f"ways {seed}")  # noqa: S311 - test data
    client = chance.choice(["sqlplus"] * 4 + ["sqlcl"])
    drawn: dict[str, object] = {
        "way": chance.choice(WAYS),
        "prompt": chance.choice(PROMPTS + ODD_PROMPTS) if chance.random() < 0.4 else "SQL> ",
        "sqlnumber": chance.random() > 0.15,
        "timing": chance.random() < 0.85,
        "feedback": chance.choice([0, 1, 1, 6]),
        "sql_id": chance.random() < 0.15,
        "autocommit": chance.random() < 0.2,
        "trace": chance.choice(TRACES) if chance.random() < 0.6 else "off",
        "linesize": chance.choice([40, 80, 80, 100, 132, 200]),
        "pagesize": chance.choice([14, 50, 1000, 0]),
        "client": client,
        "result": chance.choice(["grid"] * 6 + ["json" if client == "sqlcl" else "html", "csv"]),
        "terminal": chance.choice([None, None, None, 80, 120]),
        "time": chance.random() < 0.1,
        "heading": chance.random() < 0.85,
        "verify": chance.random() < 0.15,
        "blank_lines": chance.random() < 0.15,
        "termout": chance.random() > 0.1,
    } | fixed
    if drawn["result"] != "grid" or drawn["client"] == "sqlcl":
        drawn |= {"trace": "off", "terminal": None, "verify": False, "blank_lines": False, "time": False}
    if drawn["client"] == "sqlcl":
        drawn |= {"prompt": "SQL> ", "sqlnumber": True, "sql_id": False, "way": chance.choice(["typed", "off"])}
    return Ways(**drawn)  # type: ignore[arg-type]


def script(seed: int, size: int = 7) -> list[Run]:
    """Some runs, the same for the same seed."""
    chance = random.Random(f"script {seed}")  # noqa: S311 - test data
    return [_run(chance, number) for number in range(size)]


def _run(chance: random.Random, number: int) -> Run:
    kind = chance.choice(
        ["select"] * 5
        + ["insert", "update", "delete", "plsql", "ddl", "commit", "alter session", "failed", "sp2", "set"]
        + ["procedure", "wrong block", "describe", "print"]
    )
    ticks = 101 + number * 1009 + chance.randrange(900)
    rows = chance.choice([0, 1, 2, 3, 7, 14, 30])
    counts = (*(chance.randrange(10**6) for _ in AUTOTRACE_NAMES[:-1]), rows)
    plan_hash = 10**9 + number * 10**6 + chance.randrange(10**6)
    match kind:
        case "select" | "failed":
            columns = tuple(
                Column(f"{'N' if is_number else 'C'}{place}", 10 if is_number else 20, is_number)
                for place, is_number in enumerate(chance.choices([True, False], k=chance.randrange(1, 5)))
            )
            cells = tuple(
                tuple(
                    str(chance.randrange(1, 10**5)) if one.is_number else chance.choice(["ALPHA", "DELTA FORCE", "X"])
                    for one in columns
                )
                for _ in range(rows)
            )
            text = chance.choice(
                [
                    f"select c{number}, x\n  from parts\n where n = {rows};",
                    f"select * from t{number};",
                    _WHOLE.format(n=number) + ";",
                ]
            )
            if kind == "failed":
                return Run(
                    Statement("select", text.replace("from ", "from no_"), ticks), code="ORA-00942", plan_hash=plan_hash
                )
            return Run(Statement("select", text, ticks, rows, columns, cells, counts), plan_hash=plan_hash)
        case "sp2":
            text, code = chance.choice(
                [("print :nothing", "SP2-0552"), ("foo bar", "SP2-0734"), ("@nowhere", "SP2-0310")]
            )
            return Run(Statement("sp2", text, ticks), code=code, is_client_error=True)
        case "set":
            return Run(
                Statement(
                    "set",
                    chance.choice(["set arraysize 100", "column a format a10", "rem next part", "define n = 3"]),
                    0,
                ),
                is_client_error=True,
            )
        case "procedure":
            text = f"create or replace procedure p{number} as\nbegin\n  nothing;\nend;\n/"
            return Run(Statement("procedure", text, ticks), code="PLS-00201" if chance.random() < 0.5 else None)
        case "wrong block":
            return Run(Statement("wrong block", f"begin\n  nothing({number});\nend;\n/", ticks), code="ORA-06550")
        case "describe" | "print":
            text = chance.choice([f"prompt part {number}", "show user", "show errors"])
            return Run(Statement("set", f"describe t{number}" if kind == "describe" else text, 0), is_client_error=True)
        case "plsql":
            output = tuple(
                chance.choice(
                    [
                        f"step {step} took {chance.randrange(100)} ms",
                        f"Run {step}: {chance.randrange(900)} hsecs",
                        f"loaded {step}",
                        f"{step} rows inserted",
                        f"ORA-00001 ignored in step {step}",
                        f"select {step} from parts",
                    ]
                )
                for step in range(chance.randrange(4))
            )
            return Run(Statement("plsql", f"begin\n  load_parts({number});\nend;\n/", ticks, output=output))
        case "ddl":
            return Run(Statement("ddl", f"create table t{number}\n(n number);", ticks))
        case "commit" | "alter session":
            return Run(
                Statement(
                    kind, "commit;" if kind == "commit" else f"alter session set sort_area_size = {number};", ticks
                )
            )
        case _:
            text = {"insert": "insert into", "update": "update", "delete": "delete from"}[kind]
            return Run(
                Statement(kind, f"{text} t{number}\nwhere n = {rows};", ticks, rows, counts=counts), plan_hash=plan_hash
            )


def show(runs: list[Run], ways: Ways) -> Shown:
    """The spool of a session."""
    shown = Shown()
    is_scripted = ways.way == "off"
    if is_scripted:
        shown.add([f"{ways.prompt}@script.sql"], None)
    # what a script runs after SET TERMOUT OFF shows nothing, neither itself nor its output, until SET TERMOUT ON
    hidden = range(0) if ways.termout or ways.way not in {"echo", "off"} else range(2, 2 + len(runs) // 2)
    for number, run in enumerate(runs):
        if number in hidden:
            if number == hidden.start and ways.way == "echo":
                shown.add([f"{ways.prompt}set termout off"], None)
            continue
        _show_typed(shown, run, number, ways)
        answer = _answer(run, ways)
        if ways.result == "html":
            answer = _marked(answer, run)
        shown.add(answer, number)
    if is_scripted and ways.client == "sqlcl" and ways.timing and runs and not runs[-1].is_client_error:
        shown.add([_elapsed(runs[-1].statement.ticks, ways)], None)
    if ways.way == "stdin":
        shown.run_on("12:59:59 " * ways.time + ways.prompt)
        shown.add(["Disconnected from Oracle Database 19c Enterprise Edition Release 19.0.0.0.0 - Production"], None)
    else:
        shown.add([f"{ways.prompt}spool off"], None)
    return shown


def _show_typed(shown: Shown, run: Run, number: int, ways: Ways) -> None:
    """What the log shows of what was typed."""
    first, *more = run.statement.text.split("\n")
    if ways.blank_lines and len(more) > 1:
        more.insert(1, "")
    if ways.way == "off":
        return
    clock = f"12:{number // 60:02d}:{number % 60:02d} " if ways.time else ""
    prompt = clock + ways.prompt
    marks = [clock + f"{place:>3}  " if ways.sqlnumber else prompt for place, _ in enumerate(more, 2)]
    if ways.way == "stdin":
        shown.run_on(prompt + "".join(marks))
        return
    lines = [prompt + first, *map(add, marks, more)]
    if ways.terminal is not None and ways.way == "typed":
        lines = [line[start : start + ways.terminal] for line in lines for start in range(0, len(line), ways.terminal)]
    if ways.result == "html":
        lines = [part for line in lines for part in (line.replace(">", "&gt;"), "<br>")]
    shown.add(lines, number)
    if run.statement.kind == "sp2":
        shown.texts[number] = run.statement.text
    elif not run.is_client_error:
        text = run.statement.text
        shown.texts[number] = text[:-2] if text.endswith("\n/") else text[:-1]


def _elapsed(ticks: int, ways: Ways) -> str:
    digits = 3 if ways.client == "sqlcl" else 2
    seconds, fraction = divmod(ticks, 10**digits)
    return f"Elapsed: {seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{fraction:0{digits}d}"


def _answer(run: Run, ways: Ways) -> list[str]:
    one = run.statement
    if one.kind == "set":
        return _printed(one, ways)
    if run.is_client_error:
        message = {
            "SP2-0552": 'Bind variable "NOTHING" not declared.',
            "SP2-0734": 'unknown command beginning "foo bar" - rest of line ignored.',
            "SP2-0310": 'unable to open file "nowhere.sql"',
        }
        return [f"{run.code}: {message[run.code or '']}"]
    lines: list[str] = []
    if ways.verify and one.kind in {"select", *CHANGED} and ways.way != "stdin":
        line = one.text.split("\n")[-1].removesuffix(";")
        lines = [f"old   {one.text.count(chr(10)) + 1}: {line.replace('=', '= &n')}", f"new   1: {line}"]
    if one.kind == "procedure" and run.code is not None:
        lines += ["", "Warning: Procedure created with compilation errors.", ""]
    elif run.code is not None:
        lines += _failed(run, ways)
    else:
        is_shown = ways.trace not in {"traceonly", "explain", "statistics"} or one.kind != "select"
        if one.kind == "select" and is_shown:
            lines += _result(one, ways)
        lines += one.output
        lines += _feedback(one, ways)
    if ways.timing:
        lines += [_elapsed(one.ticks, ways)]
    if run.code is None and one.counts and ways.trace != "off":
        lines += _traced(run, ways)
    return lines


def _printed(one: Statement, ways: Ways) -> list[str]:
    """What a command of the client prints."""
    match one.text.split():
        case ["describe", name]:
            rule = " " + "-" * 41 + " -------- " + "-" * 28
            return [
                f" {'Name':<41} {'Null?':<8} Type",
                rule,
                f" {'ID':<41} {'NOT NULL':<8} NUMBER",
                f" {name.upper():<50} VARCHAR2(30)",
                "",
            ]
        case ["prompt", *words]:
            return [" ".join(words)]
        case ["show", "user"]:
            return ['USER is "HR"']
        case ["show", "errors"] if ways.way != "off":
            heading = ["Errors for PROCEDURE P:", "", "LINE/COL ERROR", "-------- " + "-" * 56]
            return [*heading, "3/3      PL/SQL: Statement ignored", "3/3      PLS-00201: identifier must be declared"]
        case ["show", "errors"]:
            return ["No errors."]
        case _:
            return []


def _failed(run: Run, ways: Ways) -> list[str]:
    """The report of an error, with the line of the statement that it is in."""
    line = run.statement.text.split("\n")[0].removesuffix(";")
    message = f"{run.code}: table or view does not exist"
    if run.code == "ORA-06550":
        lines = ["  nothing;", "  *", "ERROR at line 2:", "ORA-06550: line 2, column 3:"]
        return [*lines, "PLS-00201: identifier 'NOTHING' must be declared", "ORA-06550: line 2, column 3:", "", ""]
    if ways.client == "sqlcl":
        where = "Error at Command Line : 1 Column : 15"
        return [
            "",
            "Error starting at line : 1 in command -",
            line,
            where,
            "Error report -",
            f"SQL Error: {message}",
            "*Cause:",
            "*Action:",
        ]
    line = line[: ways.linesize]
    return [line, " " * (min(len(line), 14)) + "*", "ERROR at line 1:", message, "", ""]


def _result(one: Statement, ways: Ways) -> list[str]:
    if ways.result == "json":
        names = ",".join(f'{{"name":"{column.heading}","type":"VARCHAR2"}}' for column in one.columns)
        items = [
            "," * bool(place)
            + "{"
            + ",".join(f'"{column.heading.lower()}":"{cell}"' for column, cell in zip(one.columns, row, strict=True))
            + "}"
            for place, row in enumerate(one.cells)
        ]
        return ['{"results":[{"columns":[' + names + '],"items":[', *items, "]}]}"]
    if ways.result == "csv":
        rows = [[column.heading for column in one.columns], *one.cells]
        return ["", *(",".join(cell if cell.isdigit() else f'"{cell}"' for cell in row) for row in rows), ""]
    if ways.pagesize == 0 or not ways.heading:
        grid = list(_grid(one, Settings(pagesize=10**6, linesize=ways.linesize)))
        return (
            [
                line
                for line in grid
                if line and not set(line) <= {"-", " "} and not line.lstrip().startswith(("N0", "C0"))
            ]
            if ways.linesize >= 100
            else grid
        )
    underline = "_" if ways.client == "sqlcl" else "-"
    return _grid(one, Settings(pagesize=ways.pagesize, linesize=ways.linesize, underline=underline))


def _feedback(one: Statement, ways: Ways) -> list[str]:
    if not ways.feedback:
        return [""] * (one.kind != "select")
    lines: list[str] = []
    rows = f"{one.rows} row{'s' * (one.rows != 1)}"
    if one.kind == "select":
        if one.rows == 0:
            lines = ["", "no rows selected", ""]
        elif one.rows >= ways.feedback:
            lines = [f"{rows} selected.", ""]
    elif one.kind == "commit":
        lines = ["", "Commit complete.", ""]
    else:
        lines = ["", _DONE[one.kind] if one.kind in _DONE else f"{rows} {CHANGED[one.kind]}.", ""]
    if ways.sql_id and lines and one.kind != "commit":
        lines += [f"SQL_ID: {one.ticks:0>7}abcdf{one.rows % 10}", ""]
    if ways.autocommit and one.kind in {*CHANGED, "plsql"}:
        lines += ["Commit complete.", ""]
    return lines


def _traced(run: Run, ways: Ways) -> list[str]:
    lines: list[str] = []
    if ways.trace != "statistics":
        width = 72
        rule = "-" * width
        operations = [
            f"{run.statement.kind.upper()} STATEMENT",
            " HASH JOIN",
            "  TABLE ACCESS FULL",
            "  TABLE ACCESS FULL",
        ]
        plan = ["", "Execution Plan", "-" * 58, f"Plan hash value: {run.plan_hash}", "", rule]
        plan += ["| Id  | Operation          | Name | Rows  | Cost (%CPU)| Time     |".ljust(width), rule]
        plan += [
            f"|   {place} | {name:<18} | T    |   {place + 2:>3} |     3   (0)| 00:00:01 |".ljust(width)
            for place, name in enumerate(operations)
        ]
        plan += [
            rule,
            "",
            "Predicate Information (identified by operation id):",
            "-" * 51,
            "",
            '   1 - access("O"."ID"="I"."ORDER_ID")',
            "",
        ]
        for line in plan:
            pieces = [line[start : start + ways.linesize].rstrip() for start in range(0, len(line), ways.linesize)] or [
                ""
            ]
            lines += pieces
    if ways.trace != "explain":
        lines += ["", "Statistics", "-" * 58]
        lines += [f"{count:>11}  {name}" for count, name in zip(run.statement.counts, AUTOTRACE_NAMES, strict=True)]
        lines += [""]
    return lines


def _marked(lines: list[str], run: Run) -> list[str]:
    """The same under SET MARKUP HTML ON."""
    grid = (
        _grid(run.statement, Settings(pagesize=10**6, linesize=10**4))
        if run.statement.kind == "select" and run.code is None
        else []
    )
    if not grid:
        return [part for line in lines for part in ([line, "<br>"] if line else [""])]
    left = lines[
        next(
            (place for place, line in enumerate(lines) if line.startswith(("Elapsed", f"{run.statement.rows} row"))),
            len(lines),
        ) :
    ]
    table = ["<p>", "<table border='1' width='90%' align='center' summary='Script output'>", "<tr>"]
    for column in run.statement.columns:
        table += ['<th scope="col">', column.heading, "</th>"]
    table += ["</tr>"]
    for row in run.statement.cells:
        table += ["<tr>"]
        for column, cell in zip(run.statement.columns, row, strict=True):
            table += [
                '<td align="right">' if column.is_number else "<td>",
                cell.rjust(10) if column.is_number else cell,
                "</td>",
            ]
        table += ["</tr>"]
    return [*table, "</table>", "<p>", "", *(part for line in left for part in ([line, "<br>"] if line else [""]))]


def faults(shown: Shown) -> Counter[str]:
    """What the reader made of a session: statements `right`, and each kind of fault, `silent` or `diagnosed`."""
    page = Page.of("log", shown.text)
    blocks = read_blocks(page)
    statements = read_statements(page, blocks)
    note_missing_lines(page, statements, blocks)
    owners = shown.printed_by
    told = [note for note in page.notes if note.kind not in {"failed", "no_heading", "repaired", "missing", "unparsed"}]
    untold = {note.line - 1 for note in page.notes if "does not show its text" in note.reason and note.line is not None}
    noted = {note.line - 1 for note in told if note.line is not None}
    found: Counter[str] = Counter()
    timed: dict[int, list[int]] = {}
    for statement in statements:
        parts: dict[int, list[int]] = {}
        for block in statement.blocks:
            if isinstance(block.content, (Clock, Outcome, Autotrace, Plan, Grid, Typed)) and block.last > block.first:
                grid = block.content if isinstance(block.content, Grid) else None
                line = page.place(grid.rows[0] if grid is not None and grid.rows else block.first)
                while line < len(owners) - 1 and not page.lines[block.first].strip():
                    line += 1
                owner = owners[line]
                if isinstance(block.content, Typed) and owner is None:
                    continue
                parts.setdefault(-2 if owner is None else owner, []).append(line)
        span = range(page.place(statement.first) - 2, page.place(statement.last - 1) + 4)
        is_noted = not noted.isdisjoint(span)
        said = "diagnosed" if is_noted else "silent"
        for owner in parts:
            timed.setdefault(owner, []).append(statement.ordinal)
        if len(parts) > 1:
            found[f"{said} two owners"] += 1
        elif -2 in parts:
            found[f"{said} invented"] += 1
        elif parts:
            owner = next(iter(parts))
            truth = shown.texts.get(owner)
            if statement.text is None and truth is not None:
                found["diagnosed text lost" if told or not untold.isdisjoint(span) else "silent text lost"] += 1
            elif (
                statement.text is not None
                and statement.kind not in {"command", "host"}
                and statement.text.split() != (truth or "").split()
            ) or (statement.text is not None and "\n" not in (truth or "\n") and statement.text != truth):
                found[f"{said} text"] += 1
            else:
                found["right"] += 1
    for ordinals in timed.values():
        if len(ordinals) > 1:
            spans = [
                range(page.place(statements[one - 1].first) - 2, page.place(statements[one - 1].last - 1) + 4)
                for one in ordinals
            ]
            found[f"{'silent' if all(noted.isdisjoint(span) for span in spans) else 'diagnosed'} in two"] += 1
    for block in blocks:
        if block.token in UNOWNED:
            found["diagnosed no owner" if page.place(block.first) in noted else "silent no owner"] += 1
    return found
