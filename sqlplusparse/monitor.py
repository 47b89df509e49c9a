"""Reports of SQL Monitor as text: the global statistics of an execution, and the lines of its plan.

The report has ``Global Information`` (names and values), ``Global Stats``, ``Parallel Execution Details`` and ``SQL
Plan Monitoring Details`` (tables between bars, with headings of two lines).

What a plan explains is the statement of the session with the text that DBMS_XPLAN or SQL Monitor shows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from logframe import read_printed
from logframe.printed import whole_number
from sqlplusparse.lines import DIGITS, Pattern
from sqlplusparse.page import LineRole
from sqlplusparse.predicates import PLAN_GRAMMAR
from sqlplusparse.runs import normal_text

if TYPE_CHECKING:
    from sqlplusparse.page import Page
    from sqlplusparse.records import Plan, Statement


_STATS: Final = "Global Stats"
_TITLES: Final = Pattern("{MONITOR_TITLE}", PLAN_GRAMMAR)
#: Each title has one of these words, which are looked for faster than the titles.
_TITLE_WORDS: Final = ("Global", "Monitoring")
_DETAILS: Final = Pattern(r"{MONITOR_DETAILS}(?P<hash>{DIGITS})\)", PLAN_GRAMMAR)
_SERVERS: Final = Pattern("{MONITOR_SERVERS}", PLAN_GRAMMAR)
_INFORMATION: Final = Pattern(" *(?P<name>{INFORMATION_NAME}) *: {1,3}(?P<value>{REST})", PLAN_GRAMMAR)
_BAR_RULE: Final = Pattern("{SHORT_RULE}", PLAN_GRAMMAR)
_FOUND: Final = {
    "SQL ID": "sql_id",
    "Status": "status",
    "SQL Execution ID": "execution_id",
    "Execution Started": "started",
    "Duration": "duration_s",
    "Instance ID": "instance",
}
#: Headings of ``Global Stats``, their lines joined -> column.
STATISTICS: Final = {
    "elapsed time(s)": "elapsed_s",
    "queuing time(s)": "queuing_s",
    "cpu time(s)": "cpu_s",
    "io waits(s)": "io_wait_s",
    "application waits(s)": "application_wait_s",
    "concurrency waits(s)": "concurrency_wait_s",
    "cluster waits(s)": "cluster_wait_s",
    "pl/sql time(s)": "plsql_s",
    "other waits(s)": "other_wait_s",
    "fetch calls": "fetch_calls",
    "buffer gets": "buffer_gets",
    "read reqs": "read_requests",
    "read bytes": "read_bytes",
    "write reqs": "write_requests",
    "write bytes": "write_bytes",
    "offload elig bytes": "offload_eligible_bytes",
    "offload returned bytes": "offload_returned_bytes",
    "uncompressed bytes": "uncompressed_bytes",
    "cell offload": "cell_offload_pct",
}
#: Headings of the plan's lines -> column.
LINES: Final = {
    "id": "id",
    "operation": "operation",
    "name": "object_name",
    "rows (estim)": "e_rows",
    "cost": "cost",
    "time active(s)": "active_s",
    "start active": "start_active_s",
    "execs": "starts",
    "rows (actual)": "a_rows",
    "read reqs": "read_requests",
    "read bytes": "read_bytes",
    "write reqs": "write_requests",
    "write bytes": "write_bytes",
    "cell offload": "cell_offload_pct",
    "mem": "memory_bytes",
    "temp": "temp_bytes",
    "mem (max)": "max_memory_bytes",
    "temp (max)": "max_temp_bytes",
    "activity (%)": "activity_pct",
    "activity detail (# samples)": "activity_detail",
    "progress": "progress_pct",
}
#: The line of an operation is continued in lines without an id.
_MARKERS: Final = "->* "


@dataclass(slots=True)
class Monitor:
    """One report: its figures by column, and its lines."""

    first: int
    last: int
    found: dict[str, object] = field(default_factory=dict)
    lines: list[dict[str, object]] = field(default_factory=list)


def read_monitors(page: Page) -> list[Monitor]:
    """The reports of SQL Monitor in a log; figures under a heading that is not known are reported."""
    monitors: list[Monitor] = []
    text = "\n".join(page.lines)
    if not any(word in text for word in _TITLE_WORDS) or _TITLES.search(text) is None:
        return monitors
    information: dict[str, object] = {}
    number = 0
    while number < len(page):
        line = page.lines[number].strip()
        if line == "Global Information":
            information, number = _information(page, number + 1)
            continue
        if line == _STATS or (details := _DETAILS.match(line)):
            is_stats = line == _STATS
            rows, end = _table(page, number + 1)
            if is_stats or not monitors or monitors[-1].lines:
                monitors.append(Monitor(number, end, dict(information)))
                information = {}
            monitor = monitors[-1]
            monitor.last = end
            if is_stats:
                monitor.found |= _figures(page, number, rows[0], STATISTICS, set()) if rows else {}
            elif details is not None:
                monitor.found["plan_hash_value"] = whole_number(details["hash"])
                monitor.lines = _lines(page, number, rows)
            number = max(end, number + 1)
            continue
        if monitors and not monitors[-1].lines and _SERVERS.fullmatch(line):
            rows, number = _table(page, number + 1)
            monitors[-1].found |= _longest_server(rows)
            continue
        number += 1
    return monitors


def _longest_server(rows: list[dict[str, str]]) -> dict[str, object]:
    """How many parallel servers there were, and the one that took longest; the coordinator is not among them."""
    heading = next((name for name, column in STATISTICS.items() if column == "elapsed_s"), "")
    servers = [(row["name"].strip(), _figure("longest_server_s", row[heading].strip())) for row in rows
               if row.get("name", "").strip() and heading in row and row.get("type", "").strip() != "QC"]  # fmt: skip
    known = [one for one in servers if isinstance(one[1]["longest_server_s"], float)]
    if not known or len(known) < len(servers):
        return {}
    name, figure = max(known, key=lambda one: one[1]["longest_server_s"])  # type: ignore[arg-type,return-value]
    return {"servers": len(known), "longest_server": name, **figure}


def note_untitled(page: Page, plans: list[tuple[int | None, Plan]], monitors: list[Monitor]) -> None:
    """Plans of SQL Monitor below no title: what only its reports print is not read."""
    for _, plan in plans:
        first = plan.operations[0].line if plan.layout == "monitor" and plan.operations else None
        if first is not None and not any(monitor.first <= first < monitor.last for monitor in monitors):
            page.note(first, "cut", "a plan of SQL Monitor without its title: its times and reads are not read")


def _information(page: Page, number: int) -> tuple[dict[str, object], int]:
    """Names and values below ``Global Information``, and the line after them."""
    found: dict[str, object] = {}
    while number < len(page):
        line = page.lines[number]
        if _BAR_RULE.fullmatch(line):
            number += 1
            continue
        shown = _INFORMATION.fullmatch(line)
        if shown is None:
            break
        name = _FOUND.get(shown["name"])
        if name is not None:
            value = shown["value"]
            found[name] = _seconds(value) if name == "duration_s" else value
        page.roles[number] = LineRole.PLAN
        number += 1
    if "instance" in found:
        found["instance"] = whole_number(str(found["instance"]))
    return found, number


def _seconds(text: str) -> float | None:
    figure = text.removesuffix("s")
    whole, _, decimals = figure.partition(".")
    return float(figure) if whole_number(whole + decimals) is not None else None


def _table(page: Page, number: int) -> tuple[list[dict[str, str]], int]:
    """The rows of a table between bars, cells by their headings in small letters, and the line after it."""
    headings: list[str] = []
    rows: list[dict[str, str]] = []
    rules = 0
    while number < len(page) and rules < 3:
        line = page.lines[number].strip()
        if _BAR_RULE.fullmatch(line):
            rules += 1
            page.roles[number] = LineRole.HEADING
        elif not line.startswith("|"):
            break
        else:
            cells = line.strip("|").split("|")
            if rules == 1:
                above = headings or [""] * len(cells)
                headings = [f"{top} {cell.strip()}".strip() for top, cell in zip(above, cells, strict=False)]
                page.roles[number] = LineRole.HEADING
            elif len(cells) == len(headings):
                row = dict(zip(_told_apart(headings), cells, strict=True))
                rows.append({**row, "": str(number)})
                page.roles[number] = LineRole.PLAN
            else:
                reason = f"a row of SQL Monitor with {len(cells)} cells; its heading has {len(headings)}"
                page.refuse(number, "unparsed", reason)
        number += 1
    return rows, number


def _told_apart(headings: list[str]) -> list[str]:
    """The headings in small letters; of two that are alike the first is the known one."""
    names = [heading.lower() for heading in headings]
    return [f"{name}, again" if name in names[:place] else name for place, name in enumerate(names)]


def _figures(
    page: Page, number: int, row: dict[str, str], columns: dict[str, str], unknown: set[str]
) -> dict[str, object]:
    """The figures of a row; headings that are not known are noted, and added to `unknown`, once a table."""
    found: dict[str, object] = {}
    for heading, cell in row.items():
        name = columns.get(heading)
        if name is not None:
            found |= _figure(name, cell.strip())
        elif heading and cell.strip() and heading not in unknown:
            unknown.add(heading)
            page.note(number, "unknown_name", f"SQL Monitor: the figures under {heading!r} are not read")
    return found


def _figure(name: str, cell: str) -> dict[str, object]:
    """A figure with its bounds: bytes scale by 1024, all else by 1000."""
    base = 1024 if name.endswith("_bytes") else 1000
    text = cell.removesuffix("%").lstrip("+").strip()
    if base == 1024 and text.endswith("B"):
        text = text.removesuffix("B").strip()
    is_rounded = name.endswith(("_s", "_pct"))
    printed = read_printed(text, base=base, rounded=is_rounded)
    return {name: printed.value, f"{name}_lo": printed.lo, f"{name}_hi": printed.hi}


def _lines(page: Page, number: int, rows: list[dict[str, str]]) -> list[dict[str, object]]:
    lines: list[dict[str, object]] = []
    unknown: set[str] = set()
    for row in rows:
        texts = {LINES.get(heading, ""): cell.strip() for heading, cell in row.items()}
        printed = texts.get("id", "").strip(_MARKERS)
        identity = whole_number(printed)
        if identity is None:
            figures = (cell for heading, cell in row.items() if heading and LINES.get(heading) not in _TEXTS[1:])
            if printed.isdecimal():
                page.refuse(int(row[""]), "unparsed", "the number of a plan line is too large")
            elif any(map(DIGITS.search, figures)):
                page.refuse(int(row[""]), "unparsed", "figures of a plan line without a number")
            elif lines and texts.get("activity_detail"):
                lines[-1]["activity_detail"] = (
                    f"{lines[-1]['activity_detail'] or ''}\n{texts['activity_detail']}".strip()
                )
            continue
        cells = {heading: cell for heading, cell in row.items() if LINES.get(heading) not in _TEXTS}
        lines.append(
            {
                "line": int(row[""]) + 1,
                "id": identity,
                **{name: texts.get(name) or None for name in _TEXTS if name != "id"},
                **_figures(page, number, cells, LINES, unknown),
            }
        )
    return lines


_TEXTS: Final = ("id", "operation", "object_name", "activity_detail")


#: A text that was cut is compared from this many characters on.
_FEWEST_COMMON: Final = 40


def link_plans(statements: list[Statement], plans: list[tuple[int | None, Plan]], monitors: list[Monitor]) -> None:
    """Give each plan of a cursor the statement that it explains: the last one above it with its text.

    Plans of SQL Monitor get the id and the plan hash value of their report.
    """
    if not monitors and all(plan.sql_text is None for _, plan in plans):
        return
    shown = {
        statement.ordinal: "".join(normal_text(statement.text).split())
        for statement in statements
        if statement.text is not None
    }
    for owner, plan in plans:
        first = plan.operations[0].line if plan.operations else -1
        for monitor in monitors:
            if monitor.first <= first < monitor.last:
                plan.sql_id = plan.sql_id or _text(monitor.found.get("sql_id"))
                hash_value = monitor.found.get("plan_hash_value")
                plan.hash_value = hash_value if isinstance(hash_value, int) else plan.hash_value
        if plan.sql_text is None:
            continue
        text = "".join(normal_text(plan.sql_text).split())
        last = owner if owner is not None else owner_of(first, statements) or len(statements)
        plan.explains = next(
            (ordinal for ordinal in range(last, 0, -1) if ordinal in shown and _is_same(text, shown[ordinal])), None
        )
        if plan.explains is not None and plan.hash_value is not None:
            statements[plan.explains - 1].cursor_hash = plan.hash_value


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _is_same(shown: str, typed: str) -> bool:
    """Are two texts one, or is the first the beginning of the second?"""
    return shown == typed or (len(shown) >= _FEWEST_COMMON and typed.startswith(shown))


def owner_of(number: int, statements: list[Statement]) -> int | None:
    """The statement whose lines a line is one of; None between statements."""
    return next((one.ordinal for one in statements if one.first <= number < one.last), None)
