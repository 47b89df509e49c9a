"""The head of a trace file, and what a file is that has one but is no SQL trace."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

import polars as pl

from logframe import load_grammar
from sqltraceparse.grammar import GRAMMAR, cleanup_of
from sqltraceparse.lines import CODES, classified
from sqltraceparse.sections import sort_lines

SNIFF: Final = load_grammar("sqltraceparse", "sniff.lark", "other")
#: Terminal of ``sniff.lark``, what a file with it is, and whether records of an SQL trace may follow in it.
_OTHERS: Final = (
    ("PROFILE", "a TVD$XTAT profile of an SQL trace", False),
    ("TKPROF", "a TKPROF report", False),
    ("OPTIMIZER", "a trace of the optimizer (event 10053)", True),
    ("DEADLOCK", "a dump of a deadlock", True),
    ("STATE", "a dump of the state of processes", True),
    ("TRACE_FILE", "a trace file of the database without a record of an SQL trace", True),
)
_ANY_OTHER: Final = re.compile(f"(?m)^(?:{'|'.join(f'(?:{SNIFF.terminals[terminal]})' for terminal, *_ in _OTHERS)})")
#: A text without one has no record.
_RECORD_MARK: Final = re.compile(GRAMMAR.pattern("{RECORD_MARK}"))
#: Kinds of lines that only an SQL trace has.
_RECORDS: Final = (
    *("wait", "call", "close", "lob", "transaction", "row_source"),
    *("parsing", "parse_error", "error", "binds"),
)
_RECORD_CODES: Final = [CODES[kind] for kind in _RECORDS]
#: A hundredth of a second in microseconds.
CENTISECOND_US: Final = 10_000
#: Field of the head, as printed -> attribute.
_FIELDS: Final = {
    "Node name": "host",
    "System name": "system",
    "Instance name": "instance",
    "Database name": "database",
    "Build label": "build",
    "Trace file": "path",
    "Dump file": "path",
}


@dataclass(frozen=True, slots=True)
class Head:
    """What the first lines of a trace say of the database and its host; None where they do not.

    Attributes:
        release: of the database, ``19.14.2.0.0``.
        host, system: name of the host and of its operating system.
        instance, database: names.
        build: the build label.
        path: of the file, where it was written.
        process: the operating system's number of the process.
        image: the program: ``oracle@host (TNS V1-V3)``, ``(J003)`` for a job, ``(P000)`` for parallel execution.
        continues: the file whose continuation this is.
    """

    release: str | None = None
    host: str | None = None
    system: str | None = None
    instance: str | None = None
    database: str | None = None
    build: str | None = None
    path: str | None = None
    process: int | None = None
    image: str | None = None
    continues: str | None = None

    @property
    def is_centiseconds(self) -> bool:
        """Does this release print times in hundredths of a second?"""
        major = (self.release or "").partition(".")[0]
        return len(major) == 1 and major <= "8"

    @property
    def resolution_us(self) -> int | None:
        """The unit of the printed times in microseconds; None where no release is printed."""
        if self.release is None:
            return None
        return CENTISECOND_US if self.is_centiseconds else 1


def head_of(heads: pl.DataFrame) -> Head:
    """The head of a trace, from the lines of one (``text``, ``kind``); of several files in one, the first."""
    found: dict[str, str | int] = {}
    for text, kind in heads.rows():
        key, value = _field(text, kind)
        if key is not None and value:
            found.setdefault(key, value)
        if kind == "process" and "," in text:
            found.setdefault("image", text.partition("image:")[2].strip())
    banner = found.pop("banner", None)
    if banner is not None:
        found.setdefault("release", banner)  # from 18c on the line below it says more
    return Head(**found)  # type: ignore[arg-type]


def _field(text: str, kind: str) -> tuple[str | None, str | int]:
    """The attribute that a line of the head gives, and its value."""
    if kind == "process":
        return "process", int(re.findall(GRAMMAR.pattern("{NUMBER}"), text)[0])
    if kind == "continued":
        return "continues", text.strip("* ").rpartition(" FILE ")[2].strip()
    if text.startswith("Version ") and text[8:9].isdigit():
        return "release", text[8:].strip()
    if text.startswith(("Oracle", "Personal")) and " Release " in text:
        release = text.partition(" Release ")[2].split(" ")[0]
        return "banner", release
    if text.startswith("/") or text[1:3] == ":\\":
        return "path", text.strip()
    for name, key in _FIELDS.items():
        if text.startswith(name):
            return key, text[len(name) :].strip(" :=\t")
    return None, ""


class Other(NamedTuple):
    """What a file is that holds no record of an SQL trace.

    Attributes:
        what: as the end of "this is ...".
        line: the line that shows it.
        may_follow: records may come later in the file: other parts of the database write to the same file.
    """

    what: str
    line: int
    may_follow: bool


@lru_cache(maxsize=1)
def other_of(text: str) -> Other | None:
    r"""What a file without a record of an SQL trace is, by its beginning; None where nothing says so.

    Examples:
        >>> other_of("Trace file /u01/db1_ora_4711.trc\nQUERY BLOCK SIGNATURE").what
        'a trace of the optimizer (event 10053)'
    """
    if _ANY_OTHER.search(text) is None:
        return None
    for terminal, what, may_follow in _OTHERS:
        found = re.search(f"(?m)^(?:{SNIFF.terminals[terminal]})", text)
        if found is not None:
            return Other(what, text.count("\n", 0, found.start()) + 1, may_follow)
    return None


def share_of(text: str) -> tuple[float, int | None]:
    """The share of lines that are lines of a trace, and the number of the first record (None: there is not one)."""
    if _RECORD_MARK.search(text) is None:
        return 0.0, None
    printed = text.split("\n")
    printed = cleanup_of(printed).cleaned_lines(printed)
    numbers = pl.int_range(1, len(printed) + 1, dtype=pl.Int64, eager=True)
    lines = pl.DataFrame({"line": numbers, "text": printed})
    batch = classified(lines)
    if not batch.lines.get_column("code").is_in(_RECORD_CODES).any():
        return 0.0, None  # the place of a line makes no record of it
    kind = pl.col("kind")
    written, foreign, first = (
        sort_lines(batch, "", is_last=True)
        .lines.select(
            (kind != "blank").sum(),
            foreign=(kind == "unparsed").sum(),
            first=pl.col("line").filter(kind.is_in(_RECORDS)).first(),
        )
        .row(0)
    )
    return (0.0, None) if first is None else (1 - foreign / written, first)
