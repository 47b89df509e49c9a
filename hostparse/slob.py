"""What SLOB writes of a run: the work of each user (``db_stats.out``), and its settings (``slob.conf``)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import polars as pl

from hostparse.log import FrameLog
from logframe import Diagnostic, LogParseError, diagnostics_frame, load_grammar, open_log
from logframe.copied import numbered_lines, sign_of_copy
from logframe.formats import Format, Sniff
from logframe.normalize import without_terminal_codes
from logframe.provenance import by_line

if TYPE_CHECKING:
    from logframe import Source
    from logframe.formats import Head
    from logframe.provenance import Part

GRAMMAR: Final = load_grammar("hostparse", "slob.lark", "line")
#: Columns of ``users``: the work of a session, which may have rows of several tries.
USERS: Final = pl.Schema(
    {
        "user": pl.Int64(),
        "elapsed_s": pl.Float64(),
        "work_units": pl.Int64(),
        "work_units_per_s": pl.Float64(),
        "work_units_per_s_lo": pl.Float64(),
        "work_units_per_s_hi": pl.Float64(),
        "line": pl.UInt32(),
    }
)
#: Columns of ``settings``: values without quotes; those of passwords are null and secret.
SETTINGS: Final = pl.Schema({"name": pl.String(), "value": pl.String(), "is_secret": pl.Boolean(), "line": pl.UInt32()})
_USER: Final = re.compile(
    GRAMMAR.pattern(r"^(?P<user>{NUMBER}){BAR}(?P<cs>{NUMBER}){BAR}(?P<units>{NUMBER}){BAR}(?P<rate>{RATE}){BAR}$")
)
_SETTING: Final = re.compile(GRAMMAR.pattern("^(?:{EXPORTED})?(?P<name>{NAME}){EQUALS}(?P<value>{VALUE})$"))
_SECRET: Final = re.compile(GRAMMAR.pattern("^{SECRET}$"))
_PASSED: Final = re.compile(GRAMMAR.pattern("^(?:{COMMENT}|{EXPORT})$"))
_SIGN: Final = re.compile(GRAMMAR.pattern("^{SIGN}$"))
_CS: Final = 100.0
_LINES: Final = 200
#: Of the lines of a file of users this many are rows: a shell may stand around them.
_MOST: Final = 0.75
_SCORE: Final = 0.9
#: This many different settings of SLOB show that a file is one.
_FEWEST: Final = 2


def read_slob(source: Source) -> FrameLog:
    r"""The work of each user of a run of SLOB, or the settings of one.

    Many processes append to ``db_stats.out`` at once: rows may be missing, so that a sum of them is no total.

    Args:
        source: a path, bytes, a file object.

    Returns:
        A log with the frames ``users`` (`USERS`) and ``settings`` (`SETTINGS`).

    Raises:
        LogParseError: the log holds neither.

    Examples:
        >>> log = read_slob(b"3|30028|1354|4.509|\n1|30012|1349|4.495|\n")
        >>> log.frames()["users"].select("user", "elapsed_s", "work_units").rows()
        [(3, 300.28, 1354), (1, 300.12, 1349)]
        >>> log.diagnostics["reason"].to_list()
        ['1 of users 1 to 3 has no row: its figures are lost, and a sum of the rows is no total']
    """
    log = open_log(source)
    users: list[tuple[int, re.Match[str]]] = []
    settings = []
    notes = list(log.notes)
    for number, text in numbered_lines(log, _recognised):
        line = text.strip()
        if found := _USER.match(line):
            users.append((number, found))
        elif found := _SETTING.match(line):
            is_secret = _SECRET.match(found["name"]) is not None
            value = None if is_secret else found["value"].strip().strip("\"'")
            settings.append((found["name"], value, is_secret, number))
        elif line and not _PASSED.match(line):
            notes.append(Diagnostic(log.name, number, None, "unparsed", line, "no line of SLOB"))
    if not users and not settings:
        raise LogParseError("no row found", source=log.name, expected="db_stats.out or slob.conf of SLOB")
    frame = _users(log.name, users, notes)
    tables = {"users": frame, "settings": pl.DataFrame(settings, schema=SETTINGS, orient="row")}
    kind = "+".join(["slob_users"] * bool(users) + ["slob_settings"] * bool(settings))
    of_users = f"SLOB, work of {frame['user'].n_unique():,} users"
    what = of_users if users else f"SLOB, {len(settings):,} settings"
    return FrameLog("slob", kind, log.name, tables, diagnostics_frame(notes), what)


def _users(name: str, rows: list[tuple[int, re.Match[str]]], notes: list[Diagnostic]) -> pl.DataFrame:
    """The rows of users, with diagnostics about those that are missing, repeated or contradict themselves."""
    found = []
    lines: dict[int, int] = {}
    for line, row in rows:
        user, cs, units, rate = row.group("user", "cs", "units", "rate")
        value = float(rate) if rate.strip(".") else None
        half = 0.5 * 10.0 ** -len(rate.partition(".")[2])
        bounds = (None, None) if value is None else (max(value - half, 0.0), value + half)
        found.append((int(user), int(cs) / _CS, int(units), value, *bounds, line))
        expected = int(units) / (int(cs) / _CS) if int(cs) else None
        if value is not None and expected is not None and abs(expected - value) > 2 * half:
            reason = f"{units} work units in {int(cs) / _CS:g} s are {expected:.3f} a second"
            notes.append(Diagnostic(name, line, None, "contradiction", rate, reason))
        if int(user) in lines:
            reason = f"user {user} has a row in line {lines[int(user)]} too"
            notes.append(Diagnostic(name, line, None, "contradiction", user, reason))
        lines.setdefault(int(user), line)
    missing = max(lines, default=0) - len(lines)
    if missing > 0:
        have = "has no row: its figures are" if missing == 1 else "have no row: their figures are"
        reason = f"{missing:,} of users 1 to {max(lines):,} {have} lost, and a sum of the rows is no total"
        notes.append(Diagnostic(name, None, None, "missing", None, reason))
    return pl.DataFrame(found, schema=USERS, orient="row")


def _sniff(head: Head) -> Sniff | None:
    """Whether a log is of SLOB: rows of users alone, or settings of SLOB."""
    return sign_of_copy(head.text.split("\n")[:_LINES], _recognised)


def _recognised(printed: list[str]) -> Sniff | None:
    lines = [line for line in (without_terminal_codes(each).strip() for each in printed) if line]
    whole = lines[:-1] or lines
    if lines and sum(_USER.match(line) is not None for line in whole) >= max(_MOST * len(whole), 1):
        return Sniff(_SCORE, "the work of the users of SLOB", line=1)
    # a session that shows its settings is no file of them
    is_all = all(_SETTING.match(line) or _PASSED.match(line) for line in whole)
    if is_all and len({line.partition("=")[0] for line in lines if _SIGN.match(line)}) >= _FEWEST:
        return Sniff(_SCORE, "the settings of SLOB")
    return None


def _places(parsed: FrameLog, source: Source) -> list[Part]:
    """Which rows came from which lines."""
    columns = {"users": {"user": 1.0, "elapsed_s": 1 / _CS, "work_units": 1.0, "work_units_per_s": 1.0}}
    text = "\n".join(open_log(source).lines())
    part = by_line(text, parsed.tables, columns)
    part.separator = "|" if parsed.tables["users"].height else ""
    return [part]


FORMAT: Final = Format(name="slob", title="a file of SLOB", sniff=_sniff, read=read_slob, places=_places)
