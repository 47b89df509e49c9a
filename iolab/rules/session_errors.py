"""Statements of a session that failed, and those after them that went on as if they had not."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final, Protocol

import polars as pl

from iolab.metrics.formatting import short_text
from iolab.rules import phrases
from iolab.rules.finding import Evidence, Finding
from iolab.rules.listings import error_step
from iolab.rules.registry import rule
from logframe.interval import Interval
from logframe.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from iolab.time_ledger.account import Ledger
    from sqlplusparse import Spool

#: Failed statements that took less are counted with those without a time.
_LEAST_TIMED_S: Final = 0.1
_MOST_CODES: Final = 4
#: Errors of objects that do not exist, or do already: a script drops and creates what may be there.
_USUAL_ERRORS: Final = (
    "ORA-00942", "ORA-00955", "ORA-01418", "ORA-01432", "ORA-01434", "ORA-01918", "ORA-02289", "ORA-04043", "ORA-04080",
)  # fmt: skip
#: Errors of the text of a statement, such as ORA-00933: the next one is the same without the fault.
_OF_TYPING: Final = "ORA-009"
_MOST_MESSAGE: Final = 120
#: Errors come after the limit that caused them, and before other listings.
_AFTER_LIMITS: Final = 1
#: Kinds whose failure leaves data missing, and the statements after them that destroy what was to be kept.
_KEEPS: Final = ("insert", "merge", "ddl", "update")
_TAKES: Final = (("delete", "from"), ("truncate", "table"), ("drop", "table"))
_READS: Final = ("from", "join")


class _Facts(Protocol):
    """What the rules take of a session (`iolab.rules.sessions.SpoolFacts`)."""

    @property
    def spool(self) -> Spool: ...
    @property
    def ledger(self) -> Ledger | None: ...
    @property
    def failed(self) -> pl.DataFrame: ...
    @property
    def failed_s(self) -> float: ...


@rule("failed_statements", of="sqlplus", needs="statements with an error and an `Elapsed`")
def failed_statements(facts: _Facts) -> Iterator[Finding]:
    r"""Statements that failed after some time: it is in no total and in no median.

    Examples:
        >>> import sqlplusparse
        >>> from iolab.rules.sessions import SpoolFacts
        >>> text = "SQL> select 1 from t;\nORA-01013: user requested cancel\n\nElapsed: 00:00:09.00\n"
        >>> spool = sqlplusparse.read_spool((text * 2).encode())
        >>> for one in failed_statements(SpoolFacts(spool)): print(one.sentence)
        2 statements failed (ORA-01013 2 times); they took 18 s together.
    """
    failed, time = facts.failed, facts.failed_s
    if time < _LEAST_TIMED_S:
        yield from untimed_errors(facts.spool)
        return
    codes = failed.get_column("error").value_counts(sort=True).head(_MOST_CODES)
    listed = ", ".join(code if count == 1 else f"{code} {count} times" for code, count in codes.rows())
    said = f"The statement at line {failed.item(0, 'first_line'):,} failed ({listed}) after {phrases.seconds(time)}."
    if failed.height > 1:
        said = f"{failed.height:,} statements failed ({listed}); they took {phrases.seconds(time)} together."
    total, impact = facts.ledger.total if facts.ledger is not None else None, None
    if total is not None and time > total.hi:
        longest, line, code = failed.select("elapsed_s", "first_line", "error").row(0)
        rest, impact = time - longest + total.value, Interval.exact(time / (time + total.hi))
        if longest > rest:
            said = f"The statement at line {line:,} failed with {code} after {phrases.seconds(longest)}; "
            said += f"the rest of the session took {phrases.seconds(rest)}."
    yield Finding(
        "failed_statements",
        said,
        impact,
        "timed statements, failed ones included",
        next=error_step(str(failed.item(0, "error"))) if impact is not None else "",
        position=int(impact is not None),
        evidence=(Evidence("statements", tuple(map(str, failed.get_column("statement").head(20)))),),
        order=3,
    )


def untimed_errors(spool: Spool) -> Iterator[Finding]:
    """What failed in a session that is not timed; objects that do not exist, or do already, are usual in scripts."""
    is_retyped = (pl.col("error").str.head(7) == _OF_TYPING) & (pl.col("status").shift(-1) == "ok")
    is_usual = pl.col("error").is_in(_USUAL_ERRORS) | (is_retyped & (pl.col("kind").shift(-1) == pl.col("kind")))
    failed = spool.statements.filter(pl.col("error").str.head(3) == "ORA", ~is_usual)
    if failed.is_empty() or spool.timings.height:
        return
    line, code, message = failed.select("first_line", "error", "message").row(0)
    said = f"The statement at line {line:,} failed: {short_text(message or code, _MOST_MESSAGE)}"
    others = failed.filter(pl.col("error") != code).get_column("error").unique(maintain_order=True).to_list()
    alike = failed.filter(pl.col("error") == code).height - 1
    said += f"; {counted(alike, 'other statements')} did, too" if alike else ""
    said += f"; others failed with {phrases.named_list(others)}" if others else ""
    places = (Evidence("statements", tuple(map(str, failed.get_column("statement").head(20)))),)
    yield Finding(
        "failed_statements", f"{said}.", next=error_step(code), evidence=places, position=1, order=_AFTER_LIMITS
    )


@rule("went_on", of="sqlplus", needs="a statement that failed, and one after it that deleted what it read")
def went_on(facts: _Facts) -> Iterator[Finding]:
    """Rows that were deleted although the statement that copies them had failed."""
    rows = facts.spool.statements.filter(pl.col("text").is_not_null()).to_dicts()
    for number, one in enumerate(rows):
        if one["status"] != "error" or one["kind"] not in _KEEPS:
            continue
        read = {name for word, name in itertools.pairwise(_words(one["text"])) if word in _READS}
        later = next((row for row in rows[number + 1 :] if _destroyed(row) in read), None)
        if later is None:
            continue
        between = (row for row in rows[number:] if row["statement"] < later["statement"])
        if any(row["text"] == one["text"] and row["status"] == "ok" for row in between):  # it was run again
            continue
        did = f"deleted {counted(later['rows'], 'row')} of" if later["rows"] else "emptied"
        yield Finding(
            "went_on",
            f"The statement at line {one['first_line']:,} failed ({one['error']}), but the script went on: line "
            f"{later['first_line']:,} {did} `{_destroyed(later)}`, from which it reads.",
            detail=f"`{short_text(one['text'], _MOST_MESSAGE)}`",
            next="see whether those rows are kept anywhere, else restore them; then: whenever sqlerror exit rollback",
            evidence=(Evidence("statements", (str(one["statement"]), str(later["statement"]))),),
            position=1,
            order=_AFTER_LIMITS,
        )
        return


def _destroyed(row: dict[str, Any]) -> str:
    """The table from which a statement took rows; empty where it failed, or took none."""
    words = _words(row["text"])
    if row["status"] != "ok" or row["rows"] == 0 or tuple(words[:2]) not in _TAKES:
        return ""
    return words[2] if len(words) > len(_TAKES[0]) else ""


def _words(text: str) -> list[str]:
    return text.replace('"', "").replace(";", " ").replace(",", " ").lower().split()
