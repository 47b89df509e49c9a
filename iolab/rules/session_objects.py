"""The object that most samples of active session history are of, by listed names, and the places of redo logs."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.rules.finding import Evidence, Finding
from iolab.rules.phrases import joined, percent
from sqlplusparse import queried_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sqlplusparse import Queried, SessionSamples, Spool

#: An object with this much of the samples is named.
_MOST: Final = 0.5
_VIEWS: Final = ("active_session_history", "active_sess_history")
_OBJECTS: Final = frozenset({"dba_objects", "all_objects", "user_objects", "cdb_objects"})
#: Waits for an index: of the objects that are asked for, the only index is the one.
_OF_INDEX: Final = "enq: TX - index contention"
_OF_LOG: Final = ("log file sync", "log file parallel write", "log buffer space")
_MEMBERS: Final = "compare the devices of the members of the redo logs: iostat -xt 5 (of NFS: nfsiostat 5)"
_NAME: Final = "see its name: select owner, object_name, object_type from dba_objects where object_id = {}"


def sampled_object(spool: Spool, event: str, number: float) -> Iterator[Finding]:
    r"""The object with most samples of an event, or of all events that its query counts by object.

    Args:
        spool: the session.
        event: the event.
        number: how many samples it has.

    Examples:
        >>> from sqlplusparse import read_spool
        >>> text = "SQL> select current_obj#, count(*) from v$active_session_history where event like 'latch%'\n"
        >>> text += "  2  group by current_obj#;\n\nCURRENT_OBJ#   COUNT(*)\n------------ ----------\n"
        >>> text += "       94411         90\n       94412         10\n\nSQL> select object_id, object_name,\n"
        >>> text += "  2  object_type from dba_objects where object_id in (94411, 94412);\n\n"
        >>> text += " OBJECT_ID OBJECT_NAME  OBJECT_TYPE\n---------- ------------ -----------\n"
        >>> text += "     94412 ORD          TABLE\n     94411 ORD_PK       INDEX\n"
        >>> for one in sampled_object(read_spool(text.encode()), "latch: x", 100): print(one.sentence)
        `ORD_PK` (INDEX, object 94411) had 90 % of 100 samples (query at line 1).
    """
    tables = [*queried_tables(spool)]
    for one in tables:
        place = one.find("current_obj#")
        count = next((n for n, column in enumerate(one.columns) if column.counts_rows), None)
        asked = [word.strip("'").rstrip("%") for word in one.words if word[:1] == "'" and _is_event(word, event)]
        is_of_it = bool(asked) or not any("event" in word for word in one.words)
        if place is None or count is None or not is_of_it or not any(word.endswith(_VIEWS) for word in one.words):
            continue
        samples: dict[str, float] = {}
        for row, figure in zip(one.rows, one.figures(count), strict=True):
            if figure is not None:
                samples[row[place]] = samples.get(row[place], 0.0) + figure.value
        total, top = sum(samples.values()), max(samples, key=lambda name: samples[name], default="")
        if not top.isdecimal() or top == "0" or samples[top] < _MOST * total:
            continue
        is_of_event = samples[top] > total - number  # it has samples of the event
        name = _names(tables, event if is_of_event else "").get(top, "")
        whose = f"`{name.partition(' ')[0]}` ({name.partition(' ')[2]}, object {top})" if name else f"Object {top}"
        said = f"{whose} had {percent(samples[top] / total)} of {total:,.0f} samples (query at line {one.line:,})."
        step = "" if name else _NAME.format(top)
        evidence = (Evidence("tables", (top,)),)
        yield Finding("listed_rows", said, next=step, evidence=evidence, explains=(event,))
        return


def log_members(tables: Iterable[Queried]) -> Iterator[Finding]:
    """The folders of the members of the redo logs, where the members of each group are in several of them."""
    for one in tables:
        group, member = one.find("group#"), one.find("member")
        if group is None or member is None or "v$logfile" not in one.words:
            continue
        folders: dict[str, set[str]] = {}
        for row in one.rows:
            folders.setdefault(row[group].strip(), set()).add(posixpath.dirname(row[member].strip()))
        each = {frozenset(ones) for ones in folders.values()}
        names = sorted(each.pop()) if len(each) == 1 else []
        if len(names) > 1 and all(names):
            places = joined([f"`{name}`" for name in names])
            said = f"Each write of the log goes to {places}, and ends with the slowest of them."
            evidence = (Evidence("tables", tuple(names)),)
            yield Finding("listed_rows", said, next=_MEMBERS, evidence=evidence, explains=_OF_LOG)
            return


def most_sampled(samples: SessionSamples) -> tuple[str, int]:
    """The event with most samples, and their number; no event of sessions that were on CPU only."""
    rows = samples.samples.drop_nulls("event").group_by("event").agg(pl.col("session_samples").sum())
    return rows.sort("session_samples", "event").row(-1) if rows.height else ("", 0)


def _is_event(literal: str, event: str) -> bool:
    """Whether a literal of a query names an event, or how it begins."""
    name = literal.strip("'")
    return bool(name.rstrip("%")) and (event.startswith(name.rstrip("%")) if name[-1:] == "%" else name == event)


def _names(tables: Sequence[Queried], event: str) -> dict[str, str]:
    """The names and types of objects by their numbers."""
    found: dict[str, str] = {}
    for one in tables:
        name, kind, number = one.find("object_name"), one.find("object_type"), one.find("object_id")
        if name is None or kind is None or not one.words & _OBJECTS:
            continue
        listed = [f"{row[name].strip()} {row[kind].strip()}" for row in one.rows]
        if number is not None:
            found |= {row[number].strip(): text for row, text in zip(one.rows, listed, strict=True)}
            continue
        asked = [word for word in one.words if word.isdecimal()]
        indexes = [text for text in listed if " INDEX" in text]
        if len(listed) == len(asked) == 1:
            found[asked[0]] = listed[0]
        elif event == _OF_INDEX and len(indexes) == 1 and len(listed) == len(asked):
            found |= dict.fromkeys(asked, indexes[0])  # its waits are for no table
    return found
