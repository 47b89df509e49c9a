"""What a report says about itself: database, instance, host, period."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from awrparse.records import Problem
from awrparse.sniff import IDENTITY
from awrparse.text.layout import GRAMMAR
from awrparse.values import read_time
from logframe import read_printed
from logframe.printed import LARGEST_WHOLE, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from awrparse.records import Document

#: How Statspack of 10g says what host it is about.
_HOST_LABELS: Final = {"host name": "host", "num cpus": "cpus", "phys memory (mb)": "memory_gb"}
_SNAPS = re.compile(IDENTITY.pattern(r"{SNAPS} ({SNAP_ID})\s*-\s*({SNAP_ID})"))
_DB = re.compile(IDENTITY.pattern(r"{DB} ({DB_NAME}),?(?: {INST} ({DB_NAME}),)?(?:\s|$)"))
_ASH = re.compile(IDENTITY.pattern(r"^{ASH_FOR} ({DB_NAME})/(\S+)"))
#: What the text of an ADDM report says of all activity.
_ADDM: Final = {
    "db_time_s": re.compile(GRAMMAR.pattern("{ADDM_DB_TIME} *({FINDING_FIGURE})")),
    "average_active_sessions": re.compile(GRAMMAR.pattern("{ADDM_SESSIONS} *({FINDING_FIGURE})")),
}


@dataclass(frozen=True)
class AwrInfo:
    """The head of a report.  What the report does not say is None.

    Attributes:
        kind: `awr`, `awr_pdb`, `awr_global`, `awr_sql`, `awr_diff`, `statspack`, `ash`, `addm` or `fragment`.
        form: `text` or `html`.
        db_name: database.
        db_id: its id.
        instance: instance; None in a report of several.
        instance_number: its number.
        release: such as `12.2.0.1.0`.
        is_rac: is it one of several instances?
        is_cdb: is it a container database?
        container: the pluggable database that a report of one (`awr_pdb`) is of.
        startup_time: when the instance was started, to the minute; None where the minutes are not known
            (`prints_month`).
        startup_hour: the hour in which it was started.
        host: host name; text reports cut it at 16 characters.
        platform: operating system.
        cpus: logical processors.
        cores: cores.
        sockets: sockets.
        memory_gb: memory of the host.
        begin_snap_id: first snapshot.
        end_snap_id: last snapshot.
        begin_time: when the first was taken, by the host's clock.
        end_time: when the last was taken.
        elapsed_s: time between them, printed in minutes of two decimals; of several instances the longest.
        db_time_s: DB time, printed likewise, in seconds by ADDM; of several instances the sum.
        db_cpu_s: CPU time of the sessions, which Statspack prints there, in minutes.
        average_active_sessions: which Statspack, ASH and ADDM reports print there.
        sample_count: samples of active sessions (ASH).
        sessions_begin: sessions at the first snapshot.
        sessions_end: sessions at the last.
        invalid: the line in which the report, or the error in its place, says that it has no valid figures.
    """

    kind: str
    form: str
    db_name: str | None = None
    db_id: int | None = None
    instance: str | None = None
    instance_number: int | None = None
    release: str | None = None
    is_rac: bool | None = None
    is_cdb: bool | None = None
    container: str | None = None
    startup_time: datetime | None = None
    startup_hour: datetime | None = None
    host: str | None = None
    platform: str | None = None
    cpus: int | None = None
    cores: int | None = None
    sockets: int | None = None
    memory_gb: float | None = None
    begin_snap_id: int | None = None
    end_snap_id: int | None = None
    begin_time: datetime | None = None
    end_time: datetime | None = None
    elapsed_s: float | None = None
    db_time_s: float | None = None
    db_cpu_s: float | None = None
    average_active_sessions: float | None = None
    sample_count: int | None = None
    sessions_begin: int | None = None
    sessions_end: int | None = None
    invalid: str | None = None

    @property
    def version(self) -> tuple[int, ...]:
        """The release as numbers, such as (12, 2, 0, 1, 0); empty when unknown."""
        return tuple(number for part in (self.release or "").split(".") if (number := whole_number(part)) is not None)

    def as_dict(self) -> dict[str, object]:
        """Field name -> value."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


#: How Statspack and ASH reports say how many sessions were active on average.
_SESSIONS: Final = ("av act sess", "average active sessions")
#: Labels of the two snapshots.
_SNAPSHOTS: Final = {"begin snap": "begin", "end snap": "end"}
#: Labels of times in the table of the snapshots.
_MINUTES: Final = {"elapsed": "elapsed_s", "elapsed time": "elapsed_s", "db time": "db_time_s", "db cpu": "db_cpu_s"}


def read_info(document: Document, frames: dict[str, pl.DataFrame]) -> AwrInfo:
    """The head of a report, from its canonical tables and its title."""
    found: dict[str, object] = {}
    _take(found, frames.get("databases"), "db_name", "db_id", "release", "host", rac="is_rac", cdb="is_cdb")
    containers = frames.get("containers")
    if document.kind == "awr_pdb" and containers is not None and containers.height == 1:
        _take(found, containers, "container")
    instances = frames.get("instances")
    if instances is not None and instances.height == 1:
        _take(found, instances, "instance", "instance_number", "startup_time", "release", "host", "platform")
        _take(found, instances, "begin_time", "end_time", "elapsed_s", "db_time_s")
    _take(found, frames.get("hosts"), "host", "platform", "cpus", "cores", "sockets", "memory_gb")
    if instances is not None and instances.height > 1:
        _take_several(found, instances)
    if (host_cpu := frames.get("host_cpu")) is not None and host_cpu.height == 1:
        _take(found, host_cpu, "cpus", "cores", "sockets")
    _take(found, frames.get("ash_memory"), "cpus")
    _take_snapshots(found, frames.get("snapshots"))
    for name in ("is_rac", "is_cdb"):
        if isinstance(found.get(name), str):
            found[name] = found[name] == "YES"
    _take_labels(found, document)
    _take_title(found, document.title)
    for problem in document.problems:
        if problem.kind == "invalid":
            _set(found, "invalid", problem.text)
    if document.kind == "statspack":  # its head has a column for the name and nothing in it
        _set(found, "db_name", document.db_name)
    info = AwrInfo(document.kind, document.form, **{name: value for name, value in found.items() if value is not None})  # type: ignore[arg-type]  # the frames have these types
    if (started := info.startup_time) is None:
        return info
    hour = started.replace(minute=0, second=0)
    return replace(info, startup_hour=hour, startup_time=None if prints_month(info, started) else started)


def prints_month(info: AwrInfo, started: datetime) -> bool:
    """Whether the minutes of a startup time are the month: HTML reports of 11.2 to 12.2 print it for them."""
    is_release = not info.version or (11,) <= info.version < (18,)
    return info.form == "html" and info.kind != "awr_global" and is_release and started.minute == started.month


def started_between(moment: datetime, *, is_hour: bool) -> tuple[datetime, datetime]:
    """From when to when at the latest an instance was started, of a time that is known to the second, minute or hour.

    Examples:
        >>> [f"{end:%H:%M:%S}" for end in started_between(datetime(2026, 9, 14, 8, 31), is_hour=False)]
        ['08:31:00', '08:31:59']
    """
    if is_hour:
        hour = moment.replace(minute=0)
        return hour, hour + timedelta(minutes=59, seconds=59)
    return moment, moment + timedelta(seconds=0 if moment.second else 59)


def _take(found: dict[str, object], frame: pl.DataFrame | None, *names: str, **renamed: str) -> None:
    """First values of columns, where nothing is known yet."""
    if frame is None or frame.is_empty():
        return
    row = frame.row(0, named=True)
    for name, target in [*((name, name) for name in names), *renamed.items()]:
        if found.get(target) is None:
            found[target] = row.get(name)


def _take_several(found: dict[str, object], instances: pl.DataFrame) -> None:
    """Of all instances: the whole period, the longest elapsed time, and DB time of all together."""
    for name, value in (
        ("begin_time", instances["begin_time"].min()),
        ("end_time", instances["end_time"].max()),
        ("elapsed_s", instances["elapsed_s"].max()),
        ("db_time_s", instances["db_time_s"].sum() if instances["db_time_s"].count() else None),
    ):
        _set(found, name, value)


def _take_snapshots(found: dict[str, object], snapshots: pl.DataFrame | None) -> None:
    if snapshots is None:
        return
    for row in snapshots.iter_rows(named=True):
        # the cells of a line that a mail program has wrapped are those of another line
        side = _SNAPSHOTS.get(str(row["snapshot"]).strip(" :").lower())
        if side is None:
            continue
        found[f"{side}_snap_id"] = row["snap_id"]
        found[f"{side}_time"] = row["snap_time"]
        found[f"sessions_{side}"] = row["sessions"]


def labels_of(row: Sequence[str]) -> list[tuple[str, str]]:
    """The cells of a row as labels, in lower case, each with the text of the next cell that has one.

    Examples:
        >>> labels_of(("DB Time:", "", "1.0 (mins)", ""))
        [('db time', '1.0 (mins)'), ('', '1.0 (mins)')]
    """
    following = ""
    found = []
    for cell in reversed(row):
        if following:
            found.append((cell.removesuffix(":").strip().lower(), following))
        following = cell or following
    return found[::-1]


def _take_labels(found: dict[str, object], document: Document) -> None:
    for _, _, name, value in _labelled(document):
        _set(found, name, value)


def unread_labels(document: Document) -> Iterator[Problem]:
    """What the head says of these fields and cannot be read; it is null."""
    for line, text, name, value in _labelled(document):
        if value is None and read_printed(text).flag != "absent" and not text.endswith(":"):
            reason = f"{text[:60]!r} cannot be read as {name}; it is null"
            yield Problem(line or None, "no_value", text, reason)


def _labelled(document: Document) -> Iterator[tuple[int, str, str, object]]:
    """Line, text, field and value of each label: elapsed and DB time of the table of the snapshots, ASH's period."""
    if document.kind == "addm":
        yield from _of_addm(document)
        return
    for table in document.tables[:8]:
        is_head = any("".join(heading.split()).lower() == "snaptime" for heading in table.rows.headings)
        for line, row in zip(table.rows.lines, table.rows.cells, strict=True):
            for label, text in labels_of(row):
                if label in _MINUTES and ("(mins)" in text or is_head):
                    value: object = None
                    if "(mins)" in text:
                        value = read_printed(text, time_unit="s", decimal=document.decimal_mark).value
                    yield line, text, _MINUTES[label], value
                elif label in _SESSIONS:
                    value = read_printed(text, decimal=document.decimal_mark).value
                    yield line, text, "average_active_sessions", value
                elif label == "sample count" and document.kind == "ash":
                    count = read_printed(text, decimal=document.decimal_mark).value
                    yield line, text, "sample_count", None if count is None else int(min(count, LARGEST_WHOLE))
                elif label in _HOST_LABELS:
                    yield line, text, _HOST_LABELS[label], _host_value(label, text, document)
                elif label in {"analysis begin time", "analysis end time"}:
                    yield line, text, "begin_time" if "begin" in label else "end_time", read_time(text)


def _of_addm(document: Document) -> Iterator[tuple[int, str, str, object]]:
    """The same of what an ADDM report says in words."""
    for table in document.tables[:1]:
        for line, row in zip(table.rows.lines, table.rows.cells, strict=True):
            for name, pattern in _ADDM.items():
                if found := pattern.search(row[0]):
                    yield line, found[1], name, read_printed(found[1], decimal=document.decimal_mark).value


def _host_value(label: str, text: str, document: Document) -> object:
    """What Statspack of 10g says of the host: its name, or a number."""
    if label == "host name":
        return text or None
    value = read_printed(text, decimal=document.decimal_mark).value
    if value is None:
        return None
    if label == "num cpus":
        return int(value) if value < LARGEST_WHOLE else None
    return value / 1024


def _take_title(found: dict[str, object], title: str) -> None:
    if snaps := _SNAPS.search(title):
        _set(found, "begin_snap_id", int(snaps.group(1)))
        _set(found, "end_snap_id", int(snaps.group(2)))
    if names := _DB.search(title) or _ASH.search(title):
        for name, value in zip(("db_name", "instance"), names.groups(), strict=True):
            _set(found, name, value.rstrip(",") if value else None)


def _set(found: dict[str, object], name: str, value: object) -> None:
    """Take a value where nothing is known yet."""
    if found.get(name) is None:
        found[name] = value
