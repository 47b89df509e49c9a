"""Samples of sessions: the tables of Snapper, and lists of polls or of v$active_session_history as CSV."""

from __future__ import annotations

import math
import re
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from logframe import Diagnostic, LogParseError, diagnostics_frame, load_grammar, open_log, read_printed
from logframe.copied import cleanup_by_sign, plain_lines, repeated
from logframe.formats import Format, Sniff
from logframe.margins import without_shared_margin
from logframe.normalize import without_terminal_codes
from logframe.parsed_log import ParsedLog
from logframe.printed import finite
from logframe.split import csv_cells
from logframe.wording import counted
from sqlplusparse.queried import NO_COUNTS, queried_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from logframe import Source
    from logframe.formats import Head
    from logframe.kinds import DiagnosticKind
    from logframe.provenance import Part
    from sqlplusparse.queried import Column
    from sqlplusparse.reader import Spool

GRAMMAR: Final = load_grammar("sqlplusparse", "samples.lark", "line")

#: Columns of `SessionSamples.samples`.
SESSION_SAMPLES: Final = pl.Schema(
    {
        "snap": pl.UInt32(),
        "table": pl.UInt32(),
        "line": pl.UInt32(),
        "sample": pl.String(),
        "instance": pl.Int64(),
        "session": pl.Int64(),
        "serial": pl.Int64(),
        "sql_id": pl.String(),
        "sql_child": pl.Int64(),
        "state": pl.String(),
        "event": pl.String(),
        "wait_class": pl.String(),
        "active_sessions": pl.Float64(),
        "active_sessions_lo": pl.Float64(),
        "active_sessions_hi": pl.Float64(),
        "session_samples": pl.Int64(),
    }
)
#: Columns of `SessionSamples.snaps`.
SNAPS: Final = pl.Schema(
    {
        "snap": pl.UInt32(),
        "number": pl.Int64(),
        "line": pl.UInt32(),
        "window_end": pl.Datetime("us"),
        "window_s": pl.Float64(),
        "samples_taken": pl.Int64(),
        "active_sessions": pl.Float64(),
        "active_sessions_lo": pl.Float64(),
        "active_sessions_hi": pl.Float64(),
    }
)
#: Columns of `SessionSamples.others`: cells of headings that `SESSION_SAMPLES` has no column for.
OTHERS: Final = pl.Schema({"line": pl.UInt32(), "column": pl.String(), "text": pl.String()})
#: Headings -> columns of `SESSION_SAMPLES`.
_COLUMNS: Final = {
    "INST": "instance", "INST_ID": "instance", "SID": "session", "SESSION_ID": "session", "SERIAL#": "serial",
    "SESSION_SERIAL#": "serial", "SQL_ID": "sql_id", "SQL_CHILD": "sql_child", "SQL_CHILD_NUMBER": "sql_child",
    "STATE": "state", "SESSION_STATE": "state", "EVENT": "event", "EVENT2": "event", "WAIT_CLASS": "wait_class",
}  # fmt: skip
_WHOLE_COLUMNS: Final = ("instance", "session", "serial", "sql_child")
#: A poll's moment, by the first of these headings.
_MOMENTS: Final = ("SAMPLE_ID", "SAMPLE_TIME", "TM")
_KINDS: Final = ("HEADING", "ROW", "END", "STATS_END", "SNAPPER", "FILTER", "DASHES", "DONE", "SCRIPT")
_PATTERNS: Final = [(kind, re.compile(f"(?:{GRAMMAR.terminals[kind]})$")) for kind in _KINDS]
_POLLS: Final = re.compile(f"(?:{GRAMMAR.terminals['POLLS']})$")
_END: Final = re.compile(
    GRAMMAR.pattern(
        "{SNAP} (?P<number>{WHOLE}), {END_IS}(?P<end>[^,]*), {SECONDS_IS}(?P<seconds>{SECONDS}), "
        "{TAKEN_IS}(?P<taken>{WHOLE})(?:, {AVERAGE_IS}(?P<average>.*))?$"
    )
)
_OTHER_PROMPT: Final = re.compile(GRAMMAR.pattern("(?m)^{OTHER_PROMPT}"))
_SIGN: Final = re.compile(GRAMMAR.pattern("(?m)^(?:{HEADING}|{END})[ ]*$"))
_WHOLE: Final = re.compile(GRAMMAR.pattern("{WHOLE}$"))
_STAMP: Final = re.compile(GRAMMAR.pattern("{STAMP}$"))
_AVERAGE: Final = re.compile(GRAMMAR.pattern("{AVERAGE}$"))
_ACTIVITY: Final = re.compile(GRAMMAR.pattern("(?:({MEAN}){BLANKS}{OPEN})?({SHARE}){PERCENT}"))
#: Views of samples, and seconds between two of them.
_VIEWS: Final = {
    re.compile(GRAMMAR.pattern(f"(?i){{{name}}}")): step for name, step in (("EACH_SECOND", 1), ("EACH_TENTH", 10))
}
#: The first headings of the script ashtop, whose rows are seconds of samples by group.
_ASHTOP: Final = ["TOTAL SECONDS", "AAS"]
_COUNTS: Final = re.compile(GRAMMAR.pattern("(?i){COUNTS}"))
_SUMS: Final = re.compile(GRAMMAR.pattern("(?i){SUMS}"))
_ON_CPU: Final = "ON CPU"
#: The heading of numbers of samples, where a script hides its query.
_SAMPLES: Final = "SAMPLES"
#: How columns end that identify an object, a session or a place, whatever their heading is.
_IDENTIFIES: Final = ("#", "_id", "_session", "_hash_value", "_signature", "_obj", "_seq", "p1", "p2", "p3")
#: The mean of active sessions, with two decimals, and its percentage, with none, differ by no more.
_ROUNDED: Final = 0.0101


class SessionSamples(ParsedLog):
    """Samples of sessions.

    Attributes:
        format: ``session_samples``.
        kind: ``snapper`` or ``polls``.
        source: Name of the log.
        samples: `SESSION_SAMPLES`.  Snapper: one row a line of a table, ``active_sessions`` with its rounding, and
            ``session_samples``, how many samples of sessions that is, where one whole number only fits.  Polls: one row
            a session and moment; ``sample`` is the moment as printed.  ``state`` is ``CPU`` or ``WAIT``, null where the
            log does not say.
        snaps: `SNAPS`: the end, length and number of samples of each snapshot; the time is the database server's.
            ``snap`` counts over the log, ``number`` is as printed: it begins anew where Snapper was started again.
        others: `OTHERS`.
        filters: The lines that say which sessions were sampled.
        step_s: Seconds between two samples, of the view that was queried; None where the log does not say.
        base: What shares are of, in words; of a query where its session has another one of more samples.
        asked_line: Where the query begins that returned the samples; None of a log that is no session.
        diagnostics: Lines that are no part of the samples, and rows that do not fit their heading.
    """

    format: Final = "session_samples"
    source: str
    kind: str
    diagnostics: pl.DataFrame

    def __init__(self, source: str, kind: str) -> None:
        self.source = source
        self.kind = kind
        self.samples = pl.DataFrame(schema=SESSION_SAMPLES)
        self.snaps = pl.DataFrame(schema=SNAPS)
        self.others = pl.DataFrame(schema=OTHERS)
        self.filters: tuple[str, ...] = ()
        self.step_s: int | None = None
        self.base = "the samples"
        self.asked_line: int | None = None
        self.diagnostics = diagnostics_frame([])

    def frames(self) -> dict[str, pl.DataFrame]:
        """The frames `samples`, `snaps` and `others`."""
        return {"samples": self.samples, "snaps": self.snaps, "others": self.others}

    @property
    def moments(self) -> int | None:
        """How many times the sessions were looked at; None where the log does not say."""
        if self.kind == "polls":
            return self.samples.get_column("sample").n_unique()
        taken = self.snaps.get_column("samples_taken")
        return None if self.snaps.is_empty() else int(taken.sum())

    def describe(self) -> str:
        """What the samples are, in a few words."""
        count = "an unknown number of samples" if self.moments is None else counted(self.moments, "sample")
        return f"session samples ({self.kind}), {count}"


def read_session_samples(source: Source) -> SessionSamples:
    r"""Snapper's tables of active sessions, or a CSV list of polls.

    A list of polls has a line of headings with ``STATE`` or ``SESSION_STATE``, ``EVENT``, and ``SAMPLE_TIME``,
    ``SAMPLE_ID`` or ``TM``; further columns are kept as text.  A state ``WAITED ...`` of v$session is time on CPU: its
    event is of a wait that has ended.

    Args:
        source: A path, bytes, a file object.

    Raises:
        LogParseError: The log holds neither.

    Examples:
        >>> log = read_session_samples(b"SAMPLE_ID,SID,STATE,EVENT\n1,42,WAITING,log file sync\n2,42,ON CPU,\n")
        >>> log.samples.select("sample", "state", "event").rows()
        [('1', 'WAIT', 'log file sync'), ('2', 'CPU', None)]
    """
    log = open_log(source)
    # of a long page a sign of samples may come late
    lines = _cleaned(without_shared_margin("\n".join(log.lines())).split("\n"))
    first = next((number for number, line in enumerate(lines) if line.strip()), None)
    if first is None:
        raise LogParseError("the file is empty", source=log.name, expected="samples of sessions")
    kind = "polls" if _is_polls(lines) else "snapper"
    found = _Reader(log.name, kind)
    found.notes += [*log.notes, *repeated(log.name, list(enumerate(lines, 1)))]
    if kind == "polls":
        found.read_polls(lines, first)
    else:
        found.read_snapper([line.rstrip() for line in plain_lines(lines)])
    if not found.has_table:
        raise LogParseError(
            "no table of samples", source=log.name, expected="a table of Snapper, or headings with STATE and EVENT"
        )
    return found.finish()


def queried_samples(spool: Spool) -> Iterator[SessionSamples]:
    r"""The samples that queries of a session returned: rows of v$active_session_history, or numbers of them by group.

    A grid of rows is known by its headings; one of numbers by a statement that names the view, as that of ashtop, or
    by a heading SAMPLES below a script.

    Examples:
        >>> from sqlplusparse import read_spool
        >>> text = "SQL> select event, count(*) from v$active_session_history group by event;\n\nEVENT      COUNT(*)\n"
        >>> found, = queried_samples(read_spool((text + "-------- ----------\nlatch x          7\n").encode()))
        >>> found.samples.select("state", "event", "session_samples").rows(), found.step_s
        ([('WAIT', 'latch x', 7)], 1)
    """
    texts = {row[0]: row[1:] for row in spool.statements.select("statement", "text", "first_line").iter_rows()}
    asked: dict[int, tuple[Column, ...]] = {}
    for number, statement, headings in spool.tables.select("table", "statement", "headings").iter_rows():
        names = [heading.upper() for heading in headings]
        is_event = not {"EVENT", "EVENT2"}.isdisjoint(names)
        if not is_event and "SQL_ID" not in names:  # most tables: their statements need no look
            continue
        text, first = texts.get(statement, ("", None))
        text = text or ""
        step = next((seconds for view, seconds in _VIEWS.items() if view.search(text)), None)
        moment = next((place for place, name in enumerate(names) if name in _MOMENTS), None)
        is_top = names[:2] == _ASHTOP
        if not is_event and step is None and not is_top:
            continue
        rows = spool.table_cells(number).rows()
        count = 0 if is_top else names.index(_SAMPLES) if not text and _SAMPLES in names else None
        if step is not None and _COUNTS.search(text):
            asked = asked or {one.table: one.columns for one in queried_tables(spool)}
            count = _count_column(names, rows, asked[number])
        if moment is None and count is None:
            continue
        found = _Reader(spool.source, "polls")
        for line, *cells in rows:
            samples = "1" if count is None else cells[count]
            if samples and _WHOLE.match(samples):
                named = [(_name(name, cell), cell or "") for name, cell in zip(names, cells, strict=True)]
                row = found.row(line, named, kept=moment if count is None else count)
                if is_event and step is not None and row["state"] is None and not _SUMS.search(text):
                    row["state"] = "CPU"  # the views have no event of a session on CPU
                moment_text = None if moment is None else cells[moment]
                found.rows.append({**row, "sample": moment_text, "session_samples": int(samples)})
        found.log.step_s, found.log.asked_line = step, first
        if found.rows:
            yield found.finish()


def _count_column(names: list[str], rows: list[tuple[Any, ...]], columns: tuple[Column, ...]) -> int | None:
    """The column that counts rows, else the first one of whole numbers that names or identifies no sample."""
    found = []
    for place, (name, column) in enumerate(zip(names, columns, strict=True)):
        is_named = (
            bool(column.words & NO_COUNTS)
            or name in _COLUMNS
            or name in _MOMENTS
            or any(word.endswith(_IDENTIFIES) for word in column.words)
        )
        if not is_named and all(row[place + 1] and _WHOLE.match(row[place + 1]) for row in rows):
            found.append((not column.counts_rows, place))
    return min(found, default=(None, None))[1]


def _name(heading: str, text: str | None) -> str:
    """The heading of a cell; SQL*Plus cuts SESSION_STATE to the width of its column."""
    return "STATE" if heading == "SESSION" and _state(text, None) is not None else heading


class _Reader:
    """Collects the rows of one log."""

    def __init__(self, source: str, kind: str) -> None:
        self.log = SessionSamples(source, kind)
        self.rows: list[dict[str, Any]] = []
        self.snaps: list[dict[str, Any]] = []
        self.others: list[tuple[int, str, str]] = []
        self.notes: list[Diagnostic] = []
        self.has_table = False

    def finish(self) -> SessionSamples:
        """The log."""
        log = self.log
        log.samples = pl.DataFrame(self.rows, schema=SESSION_SAMPLES)
        log.snaps = pl.DataFrame(self.snaps, schema=SNAPS)
        log.others = pl.DataFrame(self.others, schema=OTHERS, orient="row")
        log.diagnostics = diagnostics_frame(self.notes)
        return log

    def read_polls(self, lines: list[str], first: int) -> None:
        """One row a line under the headings."""
        headings = [cell.upper() for cell in _cells(lines[first])]
        moment = next((headings.index(name) for name in _MOMENTS if name in headings), None)
        if moment is None:
            return
        self.has_table = True
        for number, line in enumerate(lines[first + 1 :], first + 2):
            if not line.strip() or line == lines[first]:
                continue
            cells = _cells(line)
            if len(cells) != len(headings):
                self._note(number, line, "misplaced", f"{len(cells)} values under {len(headings)} headings")
                continue
            row = self.row(number, list(zip(headings, cells, strict=True)), kept=moment)
            self.rows.append({**row, "sample": cells[moment] or None, "session_samples": 1})

    def read_snapper(self, lines: list[str]) -> None:
        """The rows of each table, and the line that ends a snapshot: it has the time and the number of samples."""
        headings: list[str] | None = None
        snap = table = start = 0
        for number, line in enumerate(lines, 1):
            kind = next((name for name, pattern in _PATTERNS if pattern.match(line)), None)
            cells = [cell.strip() for cell in line.split("|")]
            if kind == "HEADING":
                headings, table, self.has_table = [cell.upper() for cell in cells], table + 1, True
            elif kind == "ROW" and headings is not None and len(cells) == len(headings):
                row = self.row(number, list(zip(headings, cells, strict=True))[1:])
                self.rows.append({**row, **self._activity(number, line, cells[0]), "snap": snap + 1, "table": table})
            elif kind == "END" and (end := _END.match(line)) is not None:
                snap, headings = snap + 1, None
                self._end(snap, number, line, end)
                for row in self.rows[start:]:
                    row["session_samples"] = _count(row, int(end["taken"]))
                start = len(self.rows)
            elif kind == "FILTER":
                self.log.filters += (line,)
            elif line and kind in {None, "ROW", "END", "STATS_END"}:
                self._note(number, line, "foreign", "no part of a table of samples")
        if start < len(self.rows):
            last = self.rows[-1]["line"]
            self._note(last, None, "cut", "the line with the number of samples is missing after these rows")

    def _end(self, snap: int, number: int, line: str, end: re.Match[str]) -> None:
        """Keep a snapshot; of its figures a damaged one is null, and its number follows that of the one before."""
        average, moment, printed = end["average"] or "", _moment(end["end"]), int(end["number"])
        mean = read_printed(average if _AVERAGE.match(average) else "", rounded=True)
        if moment is None:
            self._note(number, line, "damaged", f"{end['end']!r} is no time")
        if average and mean.value is None:
            self._note(number, line, "damaged", f"{average!r} is no mean of active sessions")
        before = self.snaps[-1]["number"] if self.snaps else printed - 1
        if printed not in {1, before + 1}:
            self._note(number, line, "cut", f"snapshot {printed} follows snapshot {before}")
        self.snaps.append(
            {
                "snap": snap,
                "number": printed,
                "line": number,
                "window_end": moment,
                "window_s": finite(end["seconds"]),
                "samples_taken": int(end["taken"]),
                "active_sessions": mean.value,
                "active_sessions_lo": mean.lo,
                "active_sessions_hi": mean.hi,
            }
        )

    def _activity(self, number: int, line: str, text: str) -> dict[str, float | None]:
        """Mean active sessions with rounding: ``2.35    (235%)``, where both must agree, or ``26322%``."""
        mean_text, share_text = _ACTIVITY.match(text).groups()  # type: ignore[union-attr]  # it begins a row
        share = float(share_text)
        value, lo, hi = share / 100, max(share - 0.5, 0) / 100, (share + 0.5) / 100
        if mean_text:
            value, lo, hi, *_ = read_printed(mean_text, rounded=True)  # type: ignore[assignment]  # a number
            if abs(value - share / 100) > _ROUNDED:
                self._note(number, line, "contradiction", f"{mean_text} is not {share_text} %")
        return {"active_sessions": value, "active_sessions_lo": lo, "active_sessions_hi": hi}

    def row(self, number: int, cells: list[tuple[str, str]], kept: int | None = None) -> dict[str, Any]:
        """The cells of a line by columns of `SESSION_SAMPLES`."""
        row: dict[str, Any] = {"line": number}
        for place, (heading, text) in enumerate(cells):
            name = _COLUMNS.get(heading)
            is_whole = name in _WHOLE_COLUMNS
            if name is None or name in row or (is_whole and text and not _WHOLE.match(text)):
                if text and place != kept:
                    self.others.append((number, heading, text))
            else:
                row[name] = (int(text) if is_whole else text) if text else None
        state, event = row.get("state"), row.get("event")
        row["state"] = _state(state, event)
        if state is not None and row["state"] is None:
            self.others.append((number, "STATE", state))
        if row["state"] == "CPU":
            if event is not None and event != _ON_CPU:
                self.others.append((number, "EVENT", event))
            row["event"] = None
        return row

    def _note(self, number: int, text: str | None, kind: DiagnosticKind, reason: str) -> None:
        self.notes.append(Diagnostic(self.log.source, number, None, kind, text, reason))


def _cells(line: str) -> list[str]:
    """The values of a line of CSV; none of a line that is no CSV."""
    return [cell.strip() for cell in csv_cells(line, skips_blanks=True)]


def _moment(text: str) -> datetime | None:
    """A stamp as a time; None of a day or an hour that there is not."""
    try:
        return datetime.fromisoformat(text) if _STAMP.match(text) else None
    except ValueError:
        return None


def _state(state: str | None, event: str | None) -> str | None:
    """CPU or WAIT: by the state where there is one, else by the event."""
    if state is None:
        return None if event is None else "CPU" if event == _ON_CPU else "WAIT"
    words = state.upper()
    if words in {_ON_CPU, "CPU"} or words.startswith("WAITED"):
        return "CPU"
    return "WAIT" if words in {"WAITING", "WAIT"} else None


def _count(row: dict[str, Any], taken: int) -> int | None:
    """The one whole number of samples that the mean of active sessions stands for."""
    fewest, most = math.ceil(row["active_sessions_lo"] * taken), math.floor(row["active_sessions_hi"] * taken)
    return fewest if fewest == most else None


def _is_samples(lines: list[str]) -> bool:
    return _is_polls(lines) or _SIGN.search("\n".join(lines)) is not None


def _is_polls(lines: list[str]) -> bool:
    return _POLLS.match(next((line for line in lines if line.strip()), "")) is not None


def _cleaned(lines: list[str]) -> list[str]:
    """Lines without colours and what other programs added to most of them."""
    plain = [without_terminal_codes(line).rstrip() for line in lines]
    cleanup = cleanup_by_sign(plain, _is_samples)
    return cleanup.cleaned_lines(plain) if cleanup.prefix else plain


def sniff(head: Head) -> Sniff | None:
    """Whether a log is samples of sessions only; a session that holds other statements is a session."""
    lines = _cleaned(head.text.split("\n"))
    if _is_polls(lines):
        return Sniff(0.95, "a list of polls of sessions")
    if not _is_samples(lines):
        return None
    return Sniff(0.4 if _OTHER_PROMPT.search("\n".join(lines)) else 0.95, "tables of Snapper")


def places(parsed: SessionSamples, source: Source) -> list[Part]:
    """Which samples came from which lines."""
    from logframe.provenance import Claim, by_line, is_tabular, printed_columns_of  # noqa: PLC0415 - wanted by few

    text = open_log(source).lines()
    snaps = dict.fromkeys(("number", "window_end", "window_s", "samples_taken", "active_sessions"), 1.0)
    samples = {name: 1.0 for name in printed_columns_of(parsed.samples) if name not in {"snap", "table"}}
    is_polls = parsed.kind == "polls"
    columns = {"snaps": snaps, "samples": samples if is_polls else {}}
    part = by_line("\n".join(text), parsed.frames(), columns, is_row=is_tabular)
    for row, number in enumerate(() if is_polls else parsed.samples["line"].to_list()):
        # the mean of active sessions stands first, and again as a percentage, or only so
        has_mean = "%)" in text[number - 1]
        active = {"active_sessions": 1.0 if has_mean else 0.01}
        part.claim(number, Claim("samples", row, {**active, **samples, **active}))
        part.statuses[number] = "raw" if has_mean else "lost"
    part.separator = "," if parsed.kind == "polls" else ""
    return [part]


FORMAT: Final = Format(
    name="session_samples", title="a log of session samples", sniff=sniff, read=read_session_samples, places=places
)
