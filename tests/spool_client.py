"""A SQL*Plus made for tests: prints sessions by the rules of the client's SET commands, with what each must give.

`session` draws statements from a seed; `printed` prints the same statements under any `Settings`.  So two texts of one
session differ in how they are printed only, and must read the same.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from sqlplusparse.autotrace import AUTOTRACE_NAMES

WORDS = ("ALPHA", "BRAVO", "DELTA FORCE", "ECHO", "X", "LONG_NAME_OF_A_TABLE", "KILO", "")
CHANGED = {"insert": "created", "update": "updated", "delete": "deleted", "merge": "merged"}


@dataclass(frozen=True)
class Settings:
    """The SET commands; the defaults are those of the client but for what makes a log complete."""

    prompt: str = "SQL> "
    underline: str = "-"
    colsep: str = " "
    echo: bool = True
    feedback: bool = True
    timing: bool = True
    autotrace: bool = True
    autocommit: bool = False
    serveroutput: bool = False
    pagesize: int = 50
    linesize: int = 200
    heading: bool = True


@dataclass(frozen=True)
class Column:
    """A column of a result; numbers stand at the right of their width."""

    heading: str
    width: int
    is_number: bool


@dataclass(frozen=True)
class Statement:
    """A statement and what running it gave."""

    kind: str
    text: str
    ticks: int
    rows: int = 0
    columns: tuple[Column, ...] = ()
    cells: tuple[tuple[str, ...], ...] = ()
    counts: tuple[int, ...] = ()
    output: tuple[str, ...] = ()


def session(seed: int, size: int = 6) -> list[Statement]:
    """Some statements, the same for the same seed."""
    chance = random.Random(seed)  # noqa: S311 - test data
    return [_statement(chance, number) for number in range(size)]


def _statement(chance: random.Random, number: int) -> Statement:
    kind = chance.choice(["select", "select", "select", "insert", "update", "delete", "plsql", "ddl"])
    ticks = chance.randrange(0, 500_000)
    counts = tuple(chance.randrange(0, 10**6) for _ in AUTOTRACE_NAMES[:-1])
    if kind == "plsql":
        output = tuple(f"step {step} took {chance.randrange(100)} ms" for step in range(chance.randrange(3)))
        return Statement(kind, f"begin load_parts({number}); end;\n/", ticks, output=output)
    if kind == "ddl":
        return Statement(kind, f"create table t{number} (n number);", ticks)
    if kind in CHANGED:
        rows = chance.randrange(0, 5000)
        text = {"insert": "insert into", "update": "update", "delete": "delete from"}[kind]
        return Statement(kind, f"{text} t{number} where n = {rows};", ticks, rows, counts=(*counts, rows))
    columns = tuple(
        Column(
            f"{'N' if is_number else 'C'}{place}",
            chance.choice([8, 10, 12]) if is_number else chance.choice([20, 24]),
            is_number,
        )
        for place, is_number in enumerate(chance.choices([True, False], k=chance.randrange(1, 6)))
    )
    rows = chance.choice([0, 1, 1, 2, 5, 14, 30])
    cells = tuple(
        tuple(
            str(chance.randrange(10 ** chance.randrange(1, 7))) if column.is_number else chance.choice(WORDS)
            for column in columns
        )
        for _ in range(rows)
    )
    cells = tuple(row if any(row) else ("ALPHA" if not columns[0].is_number else "1", *row[1:]) for row in cells)
    return Statement(kind, f"select c{number}\nfrom parts;", ticks, rows, columns, cells, (*counts, rows))


def printed(statements: list[Statement], settings: Settings) -> str:
    """The spool of a session under some settings."""
    lines: list[str] = []
    for statement in statements:
        if settings.echo:
            first, *more = statement.text.split("\n")
            lines += [settings.prompt + first, *(f"{number:>3}  {line}" for number, line in enumerate(more, 2))]
        lines += _answer(statement, settings)
    if settings.echo:
        lines.append(f"{settings.prompt}spool off")
    return "".join(f"{line}\n" for line in lines)


def _answer(statement: Statement, settings: Settings) -> list[str]:
    lines: list[str] = []
    is_query = statement.kind == "select"
    if is_query:
        lines += _grid(statement, settings)
    if settings.serveroutput:
        lines += statement.output
    if settings.feedback:
        lines += _feedback(statement)
    is_committed = settings.autocommit and statement.kind in {*CHANGED, "plsql"}
    if is_committed and settings.feedback:
        lines.append("Commit complete.")
    if settings.timing:
        seconds, hundredths = divmod(statement.ticks, 100)
        lines.append(f"Elapsed: {seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{hundredths:02d}")
        lines += [] if is_committed else [""]
    if settings.autotrace and statement.counts:
        rule = (settings.underline or "-") * 58
        lines += ["", "Execution Plan", rule, "Plan hash value: 1388734953", "", "", "Statistics", rule]
        lines += [f"{count:>11}  {name}" for count, name in zip(statement.counts, AUTOTRACE_NAMES, strict=True)] + [""]
    return lines


def _feedback(statement: Statement) -> list[str]:
    match statement.kind:
        case "select":
            text = f"{statement.rows or 'no'} row{'s' * (statement.rows != 1)} selected"
            return [*([] if statement.rows else [""]), f"{text}{'.' * bool(statement.rows)}", ""]
        case "plsql":
            return ["", "PL/SQL procedure successfully completed.", ""]
        case "ddl":
            return ["", "Table created.", ""]
        case kind:
            return ["", f"{statement.rows} row{'s' * (statement.rows != 1)} {CHANGED[kind]}.", ""]


def _grid(statement: Statement, settings: Settings) -> list[str]:
    """The pages of a result, folded where the line size is less than the columns need."""
    if not statement.rows:
        return []
    groups = _folded(statement.columns, settings)
    heading = [line for group in groups for line in _heading([column for _, column in group], settings)]
    lines: list[str] = []
    left = 0
    for row in statement.cells:
        block = [
            _row([row[place] for place, _ in group], [column for _, column in group], settings) for group in groups
        ]
        block += [""] * (len(groups) > 1)
        if left < len(block):
            lines += ["", *heading]
            left = max(settings.pagesize - 1 - len(heading), len(block))
        lines += block
        left -= len(block)
    return [*lines, ""]


def _folded(columns: tuple[Column, ...], settings: Settings) -> list[list[tuple[int, Column]]]:
    """The columns of each line of a row."""
    groups: list[list[tuple[int, Column]]] = [[]]
    used = 0
    for place, column in enumerate(columns):
        if groups[-1] and used + len(settings.colsep) + column.width > settings.linesize:
            groups.append([])
            used = 0
        used += column.width + (len(settings.colsep) if groups[-1] else 0)
        groups[-1].append((place, column))
    return groups


def _heading(columns: list[Column], settings: Settings) -> list[str]:
    """The headings and, unless UNDERLINE is OFF (empty here), the ruler below them; nothing with HEADING OFF."""
    if not settings.heading:
        return []
    headings = [_row([column.heading for column in columns], columns, settings)]
    return headings + [settings.colsep.join(settings.underline * column.width for column in columns)] * bool(
        settings.underline
    )


def _row(cells: list[str], columns: list[Column], settings: Settings) -> str:
    padded = (
        cell.rjust(column.width) if column.is_number else cell.ljust(column.width)
        for cell, column in zip(cells, columns, strict=True)
    )
    return settings.colsep.join(padded).rstrip()


def expected(statements: list[Statement], settings: Settings) -> list[tuple[object, ...]]:
    """Kind, rows, hundredths of a second and physical reads of each statement, as its session must give them."""
    found: list[tuple[object, ...]] = []
    for statement in statements:
        is_traced = settings.autotrace and bool(statement.counts)
        has_rows = bool(statement.counts) and (settings.feedback or is_traced)
        found.append(
            (
                statement.kind,
                statement.rows if has_rows else None,
                statement.ticks if settings.timing else None,
                statement.counts[3] if is_traced else None,
            )
        )
    return found


def plainer(settings: Settings) -> Settings:
    """The same output with the usual marks."""
    return replace(settings, prompt="SQL> ", underline="-", colsep=" ")
