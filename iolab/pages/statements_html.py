"""The statements of a log one by one: text, time, waits, reads, plan, and in which logs of a page they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.formatting import time_text
from iolab.pages.elements import table_html, text_html
from iolab.pages.findings_html import frame_of
from iolab.pages.ledger_rows import time_cell
from iolab.pages.ledger_text import cut
from iolab.pages.tables import frame_html
from sqlplusparse.runs import normal_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from iolab.pages.summary import LogSummary

#: Frames with the text and the name of a statement, and frames with rows to show, in the order of the page.
_TEXTS: Final = ("sql_text", "statements", "sql")
_FRAMES: Final[tuple[str, ...]] = ("sql", "calls", "waits", "autotrace", "row_sources", "plans", "sql_plan_lines")
#: A frame with a row a call or a wait -> by what the rows of a statement are added up, and what is added.
_GROUPS: Final = {"calls": "op", "waits": "event"}
_SUMS: Final = ("own_elapsed_us", "own_cpu_us", "own_disk_blocks", "own_consistent_gets", "rows", "requests", "blocks")
#: What is the same in all rows of a statement.
_SAME: Final = ("statement", "sql_id", "text", "sql_text", "process", "cursor", "scope", "plan")
_MOST: Final = 10
#: Letters of a text that are shown, and of one in a table.
_MOST_TEXT: Final = 1_000
_MOST_SHARED: Final = 160
#: What a ledger counts of statements, where that is their executions.
_RUNS: Final = ("executions", "runs")
_HEADS: Final = ("time", "executions", "per execution")
#: Logs cut long statements: texts that are alike up to here are of one.
_LEAST_TEXT: Final = 30


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a log.

    Attributes:
        part: its part of the ledger.
        rows: its rows by frame.
        sql_id: as the log has it.
        text: as far as the log has it.
        cells: time, executions and time per execution, as texts.
    """

    part: str
    rows: Mapping[str, pl.DataFrame]
    sql_id: str | None
    text: str
    cells: tuple[str, str, str]

    def is_same(self, other: Statement) -> bool:
        """Whether this is the statement of another log: by SQL_ID where both have one, else by text.

        Examples:
            >>> texts = ("select 1 from dual", "SELECT  1 FROM dual;")
            >>> one, other = (Statement("", {}, None, text, ("", "", "")) for text in texts)
            >>> one.is_same(other), one.is_same(Statement("", {}, "5vtnu5xjfajtn", "select 1", ("", "", "")))
            (True, False)
        """
        if self.sql_id and other.sql_id:
            return self.sql_id == other.sql_id
        short, long = sorted((normal_text(self.text), normal_text(other.text)), key=len)
        return short == long or (len(short) >= _LEAST_TEXT and long.startswith(short))


def statements_of(seen: LogSummary) -> list[Statement]:
    """The statements that are parts of the ledger of a log, the largest first."""
    if seen.ledger is None or seen.ledger.void or "who" not in seen.ledger.views:
        return []
    parts = [row for row in seen.ledger.parts("who").to_dicts() if row["level"] == 0 and row["evidence"]]
    parts = [row for row in parts if row["evidence"]["table"] in {"sql", "statements"}][:_MOST]
    frames = {name: frame_of(seen.log, name) for name in (*_TEXTS, *_FRAMES)} if parts else {}
    found = []
    for row in parts:
        value = next(iter(row["evidence"]["rows"]), "")
        rows = {name: own for name, frame in frames.items() if (own := _own(frame, value)).height}
        heads = [rows[name] for name in _TEXTS if name in rows]
        texts = [text for head in heads for text in head.select(r"^(sql_)?text$").to_series() if text]
        ids = [one for head in heads if "sql_id" in head.columns for one in head.get_column("sql_id") if one]
        cells = ("", "", "")
        if row["kind"] != "contains":  # else its time is in that of other statements
            is_run = row["count"] is not None and seen.ledger.counted.get("who") in _RUNS
            # of no execution there is no average
            runs = (f"{row['count']:,.0f}", "" if row["avg"] is None else time_text(row["avg"])) if is_run else ("", "")
            cells = (time_cell(row["seconds"], row["seconds_lo"], row["seconds_hi"]), *runs)
        shown = {name: _added(name, rows[name]) for name in _FRAMES if name in rows}
        found.append(Statement(row["part"], shown, next(iter(ids), None), next(iter(texts), row["name"]), cells))
    return found


def _own(frame: pl.DataFrame | None, value: str) -> pl.DataFrame:
    """The rows about a statement, which evidence names by its SQL_ID or number."""
    if frame is None:
        return pl.DataFrame()
    for column in ("sql_id", "statement"):
        if column in frame.columns and (rows := frame.filter(pl.col(column).cast(pl.String) == value)).height:
            return rows
    return pl.DataFrame()


def _added(name: str, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of a statement as they are shown: calls and waits added up; of a plan that is printed again the last."""
    if "plan" in rows.columns:
        rows = rows.filter(pl.col("plan") == pl.col("plan").max())
    if (group := _GROUPS.get(name)) in rows.columns and "elapsed_us" in rows.columns:
        own = [pl.col(one).sum() for one in _SUMS if one in rows.columns]
        if "own_elapsed_us" not in rows.columns:
            own = [pl.col("elapsed_us").sum(), pl.col("elapsed_us").max().alias("longest_us"), *own]
        return rows.group_by(group, maintain_order=True).agg(pl.len().alias("count"), *own)
    return rows.drop(_SAME, strict=False)


def statements_html(seen: LogSummary, *, anchor: str) -> tuple[str, dict[str, str]]:
    """What a log has of each of its statements, folded, and the identifier of each by its part of the ledger."""
    parts, links = [], {}
    for number, one in enumerate(statements_of(seen), 1):
        links[one.part] = f"{anchor}-statement-{number}"
        tables = "".join(
            f"<div><h4>{text_html(name.replace('_', ' '))}</h4>{frame_html(f)}</div>" for name, f in one.rows.items()
        )
        text = text_html(cut(one.text, _MOST_TEXT))
        said = ", ".join(f"{what} {cell}" for what, cell in zip(_HEADS, one.cells, strict=True) if cell)
        parts.append(
            f'<details id="{links[one.part]}"><summary><code>{text_html(one.part)}</code> <small>{text_html(said)}'
            f'</small></summary><pre class="sql">{text}</pre><div class="tables">{tables}</div></details>'
        )
    head = "<h3>Statements, one by one</h3>"
    return (f'<div id="{anchor}-statements">{head}{"".join(parts)}</div>' if parts else ""), links


def shared_html(summaries: Mapping[str, LogSummary]) -> str:
    """The statements that several logs of a page name, with their time in each."""
    groups: list[list[tuple[str, Statement]]] = []
    for name, seen in summaries.items():
        for one in statements_of(seen):
            group = next((found for found in groups if found[0][1].is_same(one)), None)
            groups.append([(name, one)]) if group is None else group.append((name, one))
    rows = [
        (
            next((one.sql_id for _, one in group if one.sql_id), ""),
            name,
            *one.cells,
            cut(" ".join(one.text.split()), _MOST_SHARED),
        )
        for group in groups
        if len({name for name, _ in group}) > 1
        for name, one in group
    ]
    table = table_html(["statement", "log", *_HEADS, "text"], rows, numbers=_HEADS)
    return f'<section id="statements"><h2>Statements in several logs</h2>{table}</section>' if rows else ""
