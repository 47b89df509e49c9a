"""TKPROF reports: what TKPROF made of a trace, statement by statement.

TKPROF cuts its times to 10 ms, it does not round them: 0.04 is at least 0.04 and less than 0.05.  So
the printed total is that of Parse, Execute and Fetch, or up to 0.02 more; in none of 180 tables of reports of 11.1 to
19c was it less.  The figures of a statement are without those of the statements that it called.

A line that stands where it cannot, or a total that is another, shows that lines of a report are missing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import polars as pl

from logframe import Diagnostic, LogParseError, Source, diagnostics_frame, load_grammar, open_log
from logframe.margins import without_page, without_shared_margin
from logframe.normalize import without_terminal_codes
from logframe.parsed_log import ParsedLog
from logframe.wording import counted
from sqltraceparse.figures import DAMAGED, figures_of
from sqltraceparse.schema import TKPROF_CALLS, TKPROF_ROW_SOURCES, TKPROF_STATEMENTS, TKPROF_WAITS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


#: A printed time is cut after its second decimal.
STEP_S: Final = 0.01
#: Kind of a line -> kinds of the line above it that is not blank.  Kinds that are not here may stand anywhere.
_ABOVE: Final = {
    "Parse": frozenset({"ruler"}),
    "Execute": frozenset({"Parse"}),
    "Fetch": frozenset({"Execute"}),
    "total": frozenset({"ruler"}),
    "misses": frozenset({"total", "misses"}),
    "mode": frozenset({"misses", "total"}),
    "user": frozenset({"mode", "misses", "total"}),
    "captured": frozenset({"user"}),
    "ruler": frozenset({"heading", "Fetch", "rows_heading"}),
    "rows_heading": frozenset({"user", "captured", "row_source", "mode", "misses", "other"}),
    "row_source": frozenset({"ruler", "row_source", "other"}),
    "waits": frozenset({"user", "captured", "misses", "mode", "total", "row_source", "other"}),
    "waits_heading": frozenset({"waits", "waits_heading"}),
    "wait": frozenset({"waits_heading", "wait"}),
}
#: Kinds that a block does not end with.
_OPEN: Final = frozenset(
    {"heading", "ruler", "Parse", "Execute", "Fetch", "rows_heading", "waits", "waits_heading", "mode"}
)
#: What ends the lines of one statement.
_ENDS: Final = frozenset({"stars", "overall"})


class Order:
    """Follows the kinds of the lines of a report.

    Examples:
        >>> order = Order()
        >>> [order.fault(kind) for kind in ("heading", "ruler", "Parse", "Execute")]
        ['', '', '', '']
        >>> order.fault("wait")
        'TKPROF writes no such line below a line of the kind Execute: lines between them are missing'
    """

    def __init__(self) -> None:
        self._above = ""
        self._level = -1
        self._events: set[str] = set()

    def fault(self, kind: str) -> str:
        """What is wrong with a line of this kind here; empty where nothing is.

        Args:
            kind: of the line, which is not blank; ``Parse``, ``Execute``, ``Fetch`` and ``total`` for those of calls.
        """
        above, self._above = self._above, kind
        if kind in {"rows_heading", "heading"}:
            self._level = -1
        elif kind == "waits":
            self._events = set()
        if above and ((kind in _ABOVE and above not in _ABOVE[kind]) or (kind in _ENDS and above in _OPEN)):
            return f"TKPROF writes no such line below a line of the kind {above}: lines between them are missing"
        return ""

    def fault_of_level(self, level: int) -> str:
        """What is wrong with a step of a plan that is indented so far; a plan may have several first steps."""
        above, self._level = self._level, level
        if level > above + 1:
            return "this step is not one of the plan above it by its indent: lines between them are missing"
        return ""

    def fault_of_event(self, event: str) -> str:
        """What is wrong with a row of waits for this event."""
        if event in self._events:
            return "the event is listed twice: the row may be of another statement, lines above it are missing"
        self._events.add(event)
        return ""


def unequal_totals(calls: Iterable[Mapping[str, object]], name: str) -> list[Diagnostic]:
    """A row for each table of calls whose total is not that of its lines, within what is cut off.

    Args:
        calls: the rows of all tables, in their order.
        name: of the log.
    """
    rows = []
    table: list[Mapping[str, object]] = []
    for call in calls:
        if call["call"] != "total":
            table.append(call)
            continue
        for column in ("count", "disk_blocks", "consistent_gets", "current_gets", "rows", "cpu_s", "elapsed_s"):
            most = len(table) * STEP_S if column.endswith("_s") else 0
            gap = _float(call[column]) - sum(_float(one[column]) for one in table)
            if not -1e-9 <= gap <= most + 1e-9:
                reason = f"the total of {column} is not that of the lines above it: {gap:+.2f}"
                rows.append(Diagnostic(name, int(str(call["line"])), None, "sum", None, reason))
        table = []
    return rows


def _float(figure: object) -> float:
    return float(str(figure))


GRAMMAR: Final = load_grammar("sqltraceparse", "tkprof.lark", "line", "checked", "part")
_NO_LINE: Final = "this is not a line of a TKPROF report"
_NO_HEADING: Final = "a row of calls below a ruler without a heading of calls above it: it is read as text"
_ODD_USER: Final = "this line of the user is damaged; what it says for certain is read"
_ODD_IDENTITY: Final = (
    "this looks like a damaged line of an SQL ID and a plan hash; it is read as text of the statement"
)

#: Kinds in the order in which a line is compared with them, and their terminals.
_KINDS: Final = (
    *(("blank", "[ \t]*"), ("heading", "{HEADING}"), ("ruler", "{RULER}"), ("call", "{CALL}"), ("stars", "{STARS}")),
    *(("dashes", "{DASHES}"), ("title", "{TITLE}"), ("copyright", "{COPYRIGHT}"), ("source", "{SOURCE}")),
    *(("sort", "{SORT}"), ("legend", "{LEGEND}"), ("sql_id", "{SQL_ID}"), ("plan_hash", "{PLAN_HASH}")),
    *(("misses", "{MISSES}"), ("mode", "{MODE}"), ("user", "{USER}"), ("captured", "{CAPTURED}")),
    *(("rows_heading", "{ROWS_HEADING}"), ("waits", "{WAITS}"), ("waits_heading", "{WAITS_HEADING}")),
    *(("overall", "{OVERALL}"), ("failed", "{FAILED}"), ("error", "{ERROR}"), ("stamp", "{SESSION}")),
    *(("counted", "{COUNTED}"), ("wait", "{WAIT}"), ("row_source", "{ROW_SOURCE}")),
)
_ROW: Final = "^ *({NUMBER})(?: +({NUMBER}) +({NUMBER}))?  ( *)(.*)$"
#: Kinds that only stand below the table of calls; above it the same form is text of a statement.
_BELOW: Final = frozenset(
    {"misses", "mode", "user", "captured", "rows_heading", "waits", "waits_heading", "wait", "row_source"}
)


@dataclass(frozen=True, eq=False, repr=False)
class Tkprof(ParsedLog):
    """A TKPROF report.

    Attributes:
        source: name of the log.
        release: of TKPROF.
        trace: the trace file that it was made of.
        statements: one row a statement, with its text, plan hash, misses, mode, user, depth and error.
        calls: one row a line of a table of calls, of the ``scope`` ``statement``, ``non_recursive`` or ``recursive``.
        row_sources: one row a step of a plan.
        waits: one row an event, of a statement or of a scope.
        diagnostics: what was not read, and totals that do not add up.
    """

    source: str
    release: str | None
    trace: str | None
    statements: pl.DataFrame
    calls: pl.DataFrame
    row_sources: pl.DataFrame
    waits: pl.DataFrame
    diagnostics: pl.DataFrame
    format: str = field(default="tkprof", init=False)
    kind: str = field(default="tkprof", init=False)

    def frames(self) -> dict[str, pl.DataFrame]:
        """The frames by name."""
        return {name: getattr(self, name) for name in ("statements", "calls", "row_sources", "waits")}

    def describe(self) -> str:
        """What the log is, in one line."""
        of = f" of {self.release}" if self.release else ""
        return f"TKPROF report{of}, {counted(self.statements.height, 'statement')}"


def read_tkprof(source: Source, *, encoding: str | None = None) -> Tkprof:
    r"""A TKPROF report in memory.

    Args:
        source: one report: a path, bytes or a file object, compressed or not; text around it is left out.
        encoding: of text that is not UTF-8, when you know better than the guess.

    Raises:
        LogNotFoundError: there is no such log.
        LogParseError: the log is empty, or holds no TKPROF report.

    Examples:
        >>> report = read_tkprof(
        ...     b"TKPROF: Release 19.0.0.0.0 - Development on Thu Jun 25 05:37:55 2026\n\nselect 1 from dual\n\n"
        ...     b"call     count       cpu    elapsed       disk      query    current        rows\n"
        ...     b"Fetch        2      0.02       0.31       1038       1103          0           1\n"
        ... )
        >>> report.calls.select("call", "count", "elapsed_s_lo", "elapsed_s_hi", "disk_blocks").row(0)
        ('Fetch', 2, 0.31, 0.32, 1038)
    """
    log = open_log(source, encoding=encoding)
    reader = _Reader(log.name)
    text = without_shared_margin(without_page(without_terminal_codes("\n".join(log.lines()))))
    for number, line in enumerate(text.split("\n"), 1):
        reader.read(number, line)
    reader.end()
    if not reader.calls and not reader.has_title:
        raise LogParseError("this is no TKPROF report", source=log.name, expected="the output of tkprof")
    rows = [*log.notes, *reader.rows, *unequal_totals(reader.calls, log.name)]
    return Tkprof(
        source=log.name,
        release=reader.release,
        trace=reader.trace,
        statements=pl.DataFrame(reader.statements, schema=TKPROF_STATEMENTS),
        calls=pl.DataFrame(reader.calls, schema=TKPROF_CALLS),
        row_sources=pl.DataFrame(reader.row_sources, schema=TKPROF_ROW_SOURCES),
        waits=pl.DataFrame(reader.waits, schema=TKPROF_WAITS),
        diagnostics=diagnostics_frame(rows),
    )


class _Reader:
    """Reads line by line; `statements`, `calls`, ... are rows."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.release: str | None = None
        self.trace: str | None = None
        self.has_title = False
        self.statements: list[dict[str, object]] = []
        self.calls: list[dict[str, object]] = []
        self.row_sources: list[dict[str, object]] = []
        self.waits: list[dict[str, object]] = []
        self.rows: list[Diagnostic] = []
        self._patterns = [(kind, re.compile(GRAMMAR.pattern(template))) for kind, template in _KINDS]
        self._whole_user = re.compile(GRAMMAR.pattern("{WHOLE_USER}"))
        self._like_identity = re.compile(GRAMMAR.pattern("{LIKE_IDENTITY}"))
        self._pending: list[tuple[int, str]] = []
        self._known: dict[str, object] = {}
        self._statement: dict[str, object] | None = None
        self._scope: str | None = None
        self._plan = "row source"
        self._is_table = self._is_below_ruler = False
        self._order = Order()
        self._handlers: dict[str, Callable[[int, str], None]] = {
            "title": self._title,
            "source": self._source,
            "stars": self._block,
            "dashes": self._block,
            "sql_id": self._identity,
            "plan_hash": self._identity,
            "heading": self._heading,
            "call": self._call,
            "misses": self._misses,
            "mode": self._mode,
            "user": self._user,
            "captured": self._captured,
            "rows_heading": self._rows_heading,
            "row_source": self._row_source,
            "wait": self._wait,
            "overall": self._overall,
            "failed": self._failed,
            "error": self._error,
            "other": self._other,
        }

    def read(self, number: int, line: str) -> None:
        """Take the next line."""
        bare = line.rstrip().expandtabs(8)
        kind = next((kind for kind, pattern in self._patterns if pattern.fullmatch(bare)), "other")
        if not self._is_table and (kind in _BELOW or kind == "other"):
            kind, bare = "other", line.rstrip()
        if kind == "other" and not self.has_title and not self.statements and not bare.startswith("call "):
            return  # text before the report
        self._is_below_ruler = kind == "ruler" or (kind == "call" and self._is_below_ruler)
        if kind != "blank":
            self._check(number, bare, self._order.fault(self._kind_in_order(kind, bare)))
        if kind == "blank" and self._pending and not self._is_table:
            self._pending.append((number, ""))
        elif (handler := self._handlers.get(kind)) is not None:
            handler(number, bare)

    def _kind_in_order(self, kind: str, line: str) -> str:
        """The kind of a line for `Order`: within the text of a statement every line is text."""
        if not self._is_table and kind in {"call", "ruler"}:
            return "other"
        return line.partition(" ")[0] if kind == "call" else kind

    def _check(self, number: int, line: str, fault: str) -> None:
        """A diagnostic for a line where there is a fault."""
        if fault:
            self.rows.append(Diagnostic(self.name, number, None, "clock", line.strip(), fault))

    def end(self) -> None:
        """No line follows."""
        self._block(0, "")

    # ------------------------------------------------------------------------------------------------- lines by kind

    def _title(self, number: int, line: str) -> None:
        del number
        self.has_title = True
        self._pending = []
        self.release = line.split()[2]

    def _source(self, number: int, line: str) -> None:
        del number
        if line.startswith("Trace file: "):
            self.trace = self.trace or line.partition(": ")[2].strip()

    def _block(self, number: int, line: str) -> None:
        """The end of what is reported of one statement."""
        del number, line
        for at, text in self._pending:
            if text:
                self.rows.append(Diagnostic(self.name, at, None, "unparsed", text, _NO_LINE))
        self._pending, self._known = [], {}
        self._statement, self._scope, self._is_table = None, None, False

    def _identity(self, number: int, line: str) -> None:
        said: dict[str, object] = {}
        if found := re.search(GRAMMAR.pattern("^{SQL_ID_LABEL} ?({ID})"), line):
            said["sql_id"] = found[1]
        if found := re.search(GRAMMAR.pattern("{PLAN_HASH_LABEL} ({NUMBER})"), line):
            said["plan_hash"] = int(found[1])
        if any(self._known.get(name, value) != value for name, value in said.items()):
            self._check(number, line, f"the statement of line {self._known['line']} has no table of calls")
        self._known = {"line": number, **self._known, **said}

    def _heading(self, number: int, line: str) -> None:
        """The table of calls begins: what stands before it is the statement's text."""
        del line
        self._is_table = True
        if self._scope is None:
            self._new_statement(number)

    def _new_statement(self, number: int) -> None:
        lines = [text for _, text in self._pending]
        while lines and not lines[-1]:
            lines.pop()
        first = next((at for at, text in self._pending if text), number)
        self._statement = {
            **dict.fromkeys(TKPROF_STATEMENTS),
            "statement": len(self.statements) + 1,
            "line": first,
            "text": "\n".join(lines).strip("\n"),
            "depth": 0,
            **self._known,
        }
        self.statements.append(self._statement)
        self._pending, self._known = [], {}

    def _owner(self) -> dict[str, object]:
        scope = self._scope or "statement"
        return {"scope": scope, "statement": self._statement["statement"] if self._statement else None}

    def _call(self, number: int, line: str) -> None:
        if not self._is_table:
            self._check(number, line, _NO_HEADING if self._is_below_ruler else "")
            self._pending.append((number, line))
            return
        name, count, cpu, elapsed, *blocks = line.split()
        names = ("disk_blocks", "consistent_gets", "current_gets", "rows")
        self.calls.append(
            {
                **self._owner(),
                "line": number,
                "call": name,
                "count": int(count),
                **_cut("cpu_s", cpu),
                **_cut("elapsed_s", elapsed),
                **dict(zip(names, map(int, blocks), strict=True)),
            }
        )

    def _misses(self, number: int, line: str) -> None:
        del number
        if self._statement is not None:
            what = "misses_execute" if "execute" in line else "misses_parse"
            self._statement[what] = int(line.rpartition(":")[2])

    def _mode(self, number: int, line: str) -> None:
        del number
        if self._statement is not None:
            self._statement["optimizer_mode"] = line.partition(":")[2].strip()

    def _user(self, number: int, line: str) -> None:
        if self._statement is None:
            return
        if not self._whole_user.fullmatch(line):
            self.rows.append(Diagnostic(self.name, number, None, "cut", line, _ODD_USER))
        said = line.partition(":")[2]
        if found := re.search(GRAMMAR.pattern("{DEPTH}"), said):
            self._statement["depth"] = int(found.group().rpartition(":")[2].rstrip(")"))
            said = said[: found.start()]
        user = said.split()
        if user and user[0].isascii() and user[0].isdecimal():
            self._statement["user_id"] = int(user[0])
            user = user[1:]
        self._statement["user_name"] = " ".join(user).strip("()") or None

    def _captured(self, number: int, line: str) -> None:
        del number
        if self._statement is not None:
            self._statement["plans_captured"] = int(line.rpartition(":")[2])

    def _rows_heading(self, number: int, line: str) -> None:
        del number
        self._plan = "explain" if line.endswith("Execution Plan") else "row source"

    def _row_source(self, number: int, line: str) -> None:
        found = re.match(GRAMMAR.pattern(_ROW), line)
        if found is None or self._statement is None:
            self._other(number, line)
            return
        first, average, most, indent, operation = found.groups()
        operation, figures, is_whole = figures_of(operation)
        if not is_whole:
            self.rows.append(Diagnostic(self.name, number, None, "cut", line, DAMAGED))
        self._check(number, line, self._order.fault_of_level(len(indent)))
        self.row_sources.append(
            {
                "statement": self._statement["statement"],
                "line": number,
                "plan": self._plan,
                "level": len(indent),
                "rows": int(first),
                "rows_avg": None if average is None else int(average),
                "rows_max": None if most is None else int(most),
                "operation": operation,
                **figures,
            }
        )

    def _wait(self, number: int, line: str) -> None:
        event, waits, longest, total = line.strip().rsplit(None, 3)
        self._check(number, line, self._order.fault_of_event(event))
        self.waits.append(
            {
                **self._owner(),
                "line": number,
                "event": event,
                "waits": int(waits),
                **_cut("max_wait_s", longest),
                **_cut("total_wait_s", total),
            }
        )

    def _overall(self, number: int, line: str) -> None:
        self._block(number, line)
        self._scope = "non_recursive" if "NON-" in line else "recursive"

    def _failed(self, number: int, line: str) -> None:
        del line
        self._pending = []
        self._known.setdefault("line", number)

    def _error(self, number: int, line: str) -> None:
        """The end of a statement that failed: there is no table of calls."""
        self._new_statement(number)
        if self._statement is not None:
            found = re.search(GRAMMAR.pattern("{ORA}"), line)
            self._statement["error"] = int(found.group()[4:]) if found else None
        self._is_table = True

    def _other(self, number: int, line: str) -> None:
        if not self._is_table and self._scope is None:
            if self._like_identity.fullmatch(line):
                self.rows.append(Diagnostic(self.name, number, None, "cut", line, _ODD_IDENTITY))
            self._pending.append((number, line))
        elif self._plan == "explain" and line.startswith("   ") and self.row_sources:
            last = self.row_sources[-1]  # a step of an explained plan that goes on in the next line
            last["operation"] = f"{last['operation']} {line.strip()}"
        else:
            self.rows.append(Diagnostic(self.name, number, None, "unparsed", line, _NO_LINE))


def _cut(name: str, printed: str) -> dict[str, float]:
    """A time that is cut after its last decimal: the printed value, and its bounds."""
    value = float(printed)
    return {name: value, f"{name}_lo": value, f"{name}_hi": round(value + STEP_S, 2)}
