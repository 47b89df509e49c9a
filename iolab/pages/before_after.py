"""The page of a change: what changed between two sets of logs, on its first screen by how much."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl
import polars.selectors as cs

from iolab.comparison.before_after import compare_sets
from iolab.loading import load
from iolab.pages.elements import marked_html
from iolab.pages.findings_html import MOST, Said, moves_html, sentences_html, verdict_html
from iolab.pages.ledger_folder import sets_head
from iolab.pages.sections import reason_of, refuse_empty, sections_page, write_page
from iolab.pages.tables import frame_html
from iolab.pages.waterfall_html import beside_waterfall_html, waterfall_html
from iolab.pages.writing import pairing_html
from iolab.sources import Place, find_logs
from logframe import LogParseError
from logframe.atomic import check_output
from logframe.errors import LogError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from iolab.comparison.before_after import BeforeAfter
    from iolab.comparison.result import Options
    from iolab.time_ledger.changes import LedgerChange
    from logframe.formats import ParsedLog

#: Characters of a statement that the table shows.
_TEXT_SHOWN: Final = 60


def write_change_report(
    before: Iterable[Place],
    after: Iterable[Place],
    out: str | Path,
    *,
    options: Options | None = None,
    say: Callable[[str], object] = lambda _: None,
) -> list[str]:
    """A page about a change: settings, load, latencies, plans and statements of two sets of logs, before and after.

    Args:
        before: Paths, folders, patterns or archives of the logs of before the change, of any formats.
        after: Those of after it.
        out: Where the page is written; folders on the way are made.
        options: How runs of statements are compared.
        say: Takes a line of progress a log.

    Returns:
        One line a log that could not be read, with the reason; the page has them too.

    Raises:
        UnpairedError: If no log of one set compares with one of the other.
        LogError: If a set has no log, none of its logs could be read, or the page would overwrite one.
        OSError: If the page cannot be written.
    """
    page = Path(out)
    sets, failed = read_sets({"before": before, "after": after}, page, say)
    result = compare_sets(sets["before"], sets["after"], options=options)
    title, kind = sets_head(sets)
    write_page(page, change_html(result, failed, heading=title, kind=kind))
    return failed


def read_sets(
    sets: Mapping[str, Iterable[Place]], page: Path, say: Callable[[str], object]
) -> tuple[dict[str, dict[str, ParsedLog]], list[str]]:
    """The logs of each set by name, and a line a log that could not be read.

    Raises:
        LogError: If a set has no log, none of its logs could be read, or the page would overwrite one.
    """
    found: dict[str, dict[str, ParsedLog]] = {}
    failed: list[str] = []
    for title, places in sets.items():
        named = find_logs(places)
        if not named:
            raise LogError(f"no log of {title} was given")
        check_output(page, [one.place for one in named])
        logs, unread = found.setdefault(title, {}), []
        for one in named:
            say(f"{title}: {one.place}")
            try:
                logs[one.name] = load(one.source)
            except (LogParseError, OSError) as error:
                unread.append(f"{one.name}: {reason_of(error, one.place)}")
        refuse_empty(unread, len(named), title)
        failed += unread
    return found, failed


def change_html(
    result: BeforeAfter, failed: Iterable[str] = (), *, heading: str = "Before and after", kind: str = ""
) -> str:
    """The page of a change; its heading says of what, where and when, and the line below it of which kind of log."""
    return sections_page(heading, change_sections(result, failed, kind=kind))


def change_sections(result: BeforeAfter, failed: Iterable[str] = (), *, kind: str = "") -> list[tuple[str, str, str]]:
    """Anchor, title and body of each part of a change that has something to show."""
    left = [] if result.changes else result.not_compared.rows()
    sections = [
        ("changed", "What changed", _first_screen(result, kind)),
        ("settings", "Settings", _table(result.settings)),
        ("load", "Load", _table(_shown(result.load)) + _ranges(result.load)),
        ("latency", "Latencies", _table(_shown(result.latencies)) + _ranges(result.latencies)),
        ("statements", "Statements", _statements(result.statements)),
        ("logs", "Logs compared one by one", "".join(pairing_html(one, is_drawn=True) for one in result.pairings)),
        ("left-out", "What may not be compared, or only with care", _left_out(left, failed)),
    ]
    return [(anchor, title, body) for anchor, title, body in sections if body]


def _first_screen(result: BeforeAfter, kind: str) -> str:
    names = [kind] * bool(kind) + [
        f"{side}: {escape(', '.join(names))}" for side, names in zip(("Before", "After"), result.names, strict=True)
    ]
    in_changes = tuple(sentence for one in result.changes for sentence in one.sentences)
    others = [sentence for sentence in result.sentences if not sentence.endswith(in_changes or ("\0",))]
    most = 1 if result.changes else MOST
    first, more = others[:most], "".join(f"<li>{marked_html(one)}</li>" for one in others[most:])
    said = "".join(f"{verdict_html(one)}{_moves(one, result, first)}" for one in result.changes)
    said = said or f'<div class="sentences">{sentences_html(Said("", one) for one in first)}</div>'
    folded = f"<details><summary>{len(others) - most} more</summary><ul>{more}</ul></details>" if more else ""
    return f'<p class="lead">{" · ".join(names)}</p>{said}{folded}'


def _moves(one: LedgerChange, result: BeforeAfter, others: Iterable[str]) -> str:
    """What holds a change, the way from before to after, and statements; with the last what could not be compared."""
    left, said = (result.not_compared.rows(), others) if one is result.changes[-1] else ((), ())
    texts = {sql_id: f"statement-{sql_id}" for sql_id in _texts(result.statements)}
    moves = moves_html(one, waterfall_html(one), [Said("", other) for other in said])
    return moves + beside_waterfall_html(one, left, texts=texts)


def _texts(statements: pl.DataFrame) -> dict[str, str]:
    """The text of each statement by its SQL_ID."""
    return {} if statements.is_empty() else dict(statements.select("sql_id", "sql_text").drop_nulls().rows())


def _table(frame: pl.DataFrame) -> str:
    if "instance" in frame.columns and frame.get_column("instance").n_unique() == 1:
        frame = frame.drop("instance")
    return frame_html(frame, most=frame.height) if frame.height else ""


def _shown(changes: pl.DataFrame) -> pl.DataFrame:
    """The columns of changes that readers want, rounded to four digits."""
    figures = [name for name, kind in changes.schema.items() if kind == pl.Float64]
    counts = ["reports_before", "reports_after"]
    one_each = changes.select(pl.max_horizontal(counts).max()).item() in (None, 1)
    ends = cs.matches("(before|after)_(least|greatest)$")
    return changes.with_columns(pl.col(figures).round_sig_figs(4)).drop(cs.by_name(counts) | ends if one_each else [])


def _ranges(changes: pl.DataFrame) -> str:
    if changes.is_empty():
        return ""
    said = (
        "Least and greatest: over the reports of a set, the rounding of their figures included; percentiles are buckets"
    )
    return f"<p><small>{said}.</small></p>"


def _statements(changes: pl.DataFrame) -> str:
    """Two tables of the statements: time per execution with share and text, and the work and plans of an execution."""
    if changes.is_empty():
        return ""
    time, work = cs.starts_with("elapsed_per_exec_s"), cs.contains("_per_exec_") & ~cs.starts_with("elapsed")
    shown = _shown(changes)
    is_single = "reports_before" not in shown.columns
    times = shown.select(
        "instance",
        "sql_id",
        "pdb",
        "change",
        cs.by_name("ratio") if is_single else cs.starts_with("ratio"),
        (time * 1000).round_sig_figs(4).name.replace("elapsed_per_exec_s", "ms_per_exec"),
        cs.starts_with("share_pct"),
        cs.starts_with("executions_per_s"),
        pl.col("sql_text").str.replace_all(r"\s+", " ").str.slice(0, _TEXT_SHOWN),
    )
    worked = shown.select("instance", "sql_id", work, cs.starts_with("plans"))
    worked = worked.filter(pl.any_horizontal(pl.exclude("instance", "sql_id").is_not_null()))
    note = (
        "Averages of an execution, by the totals that a section prints; a statement's time holds that of the "
        "statements it calls and of its parallel processes.  Shares are of DB time, so they can add up to more than "
        "100 %"
    )
    more = f"<h3>Blocks, rows and plans of an execution</h3>{_table(worked)}" if worked.height else ""
    more += "".join(
        f'<details id="statement-{escape(sql_id)}"><summary><code>{escape(sql_id)}</code></summary>'
        f'<pre class="sql">{escape(text)}</pre></details>'
        for sql_id, text in _texts(changes).items()
    )
    return f"{_table(times)}<p><small>{note}.</small></p>{more}"


def _left_out(rows: Iterable[tuple[str, str]], failed: Iterable[str]) -> str:
    items = [f"<li><b>{escape(what)}</b>: {marked_html(reason)}</li>" for what, reason in rows]
    items += [f"<li>not read: {escape(line)}</li>" for line in failed]
    return f"<ul>{''.join(items)}</ul>" if items else ""
