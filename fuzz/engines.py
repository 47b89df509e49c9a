"""The engines that `fuzz.lines` compares: compiled code or expressions, whichever a process uses, and Lark."""

from __future__ import annotations

import os
from typing import Final

import polars as pl
from lark import Tree
from lark.exceptions import UnexpectedInput

from logframe import LogError
from logframe.loading import load_log
from logframe.native import VARIABLE, engine

#: Name of the frame of a log that raised what no log may raise.
FAILED: Final = "failed"

#: Frames by their names.
Frames = dict[str, pl.DataFrame]


def use_expressions() -> None:
    """Let this process load no compiled code.

    Raises:
        RuntimeError: It has loaded some.
    """
    os.environ[VARIABLE] = "off"
    if engine().startswith("compiled"):
        raise RuntimeError(engine())


def frames_of(name: str, data: bytes) -> Frames:
    """All frames of a log by the engine of this process; one with the message where it is refused or reading fails."""
    try:
        log = load_log(data, format=name)
        frames = {table: frame.lazy().collect() for table, frame in log.frames().items()}
    except LogError as error:
        return {"refused": pl.DataFrame({"message": [str(error)]})}
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what the run looks for
        return {FAILED: pl.DataFrame({"message": [f"{type(error).__name__}: {error}"]})}
    return {**frames, "diagnostics": log.diagnostics}


def by_lark(name: str, data: bytes) -> tuple[Frames, Frames]:
    """What Lark reads line by line, and the same by the engine of this process; nothing where no grammar has lines."""
    reader = _BY_LARK.get(name)
    try:
        return ({}, {}) if reader is None else reader(data)
    except LogError:
        return {}, {}


def _strace(data: bytes) -> tuple[Frames, Frames]:
    """All columns of the events but ``at``, which is made from many lines."""
    from straceparse.batches import BatchReader, _lines  # noqa: PLC0415 - a run of other formats needs no strace
    from straceparse.call_table import canonical_name  # noqa: PLC0415
    from straceparse.dialects import dialect_of  # noqa: PLC0415
    from straceparse.line_parser import read_line  # noqa: PLC0415
    from straceparse.opening import open_logs  # noqa: PLC0415
    from straceparse.patterns import PARTS  # noqa: PLC0415
    from straceparse.prefix import layout_of  # noqa: PLC0415
    from straceparse.schema import EVENTS, KIND, typed_columns  # noqa: PLC0415

    columns = [column for column in EVENTS if column != "at"]
    (log,) = open_logs(data)
    dialect = dialect_of([log])
    reader = BatchReader(layout_of(dialect.lines), dialect)
    own = pl.concat(list(reader.events(reader.lines_of(log, None), columns)))
    lines = _lines(log, dialect, None).collect()
    records = [(*(record := read_line(text)), canonical_name(record.syscall)) for text in lines.get_column("_line")]
    frame = pl.DataFrame(records, schema={f"_{part}": pl.String for part in PARTS}, orient="row")
    frame = frame.with_columns(pl.col("_kind").cast(KIND), lines.get_column("line"))
    typed = typed_columns(dialect, None, is_fixed_width=False)
    return {"events": frame.select(typed[column] for column in columns)}, {"events": own}


def _kinds(lines: list[str], parsed: list[str], own: list[str]) -> tuple[Frames, Frames]:
    """The kind of each line by Lark, and by the classifier of the format."""
    first, second = (pl.DataFrame({"text": lines, "kind": kinds}) for kinds in (parsed, own))
    return {"lines": first}, {"lines": second}


def _lines(data: bytes) -> list[str]:
    return data.decode().replace("\r", "").split("\n")


def _awr(data: bytes) -> tuple[Frames, Frames]:
    from awrparse.text.lines import GRAMMAR, KINDS, classify  # noqa: PLC0415 - a run of other formats needs no reports

    lines = _lines(data)
    parsed = [str(GRAMMAR.parse(line).data) if line.strip() else "blank" for line in lines]
    return _kinds(lines, parsed, [KINDS[kind] for kind in classify(lines)])


#: Alternatives of the rule of a line -> the kind that the reader gives them.
_SQLTRACE: Final = {"dump": "bind_field", "appname": "attribute"}


def _sqltrace(data: bytes) -> tuple[Frames, Frames]:
    """The kinds; a line that only begins as a record, which Lark refuses as the reader does, has none."""
    from sqltraceparse.grammar import GRAMMAR  # noqa: PLC0415 - a run of other formats needs no traces
    from sqltraceparse.lines import _TERMINALS as KIND_OF  # noqa: PLC0415
    from sqltraceparse.lines import classifier  # noqa: PLC0415

    def kind_of(line: str) -> str:
        try:
            branch = GRAMMAR.parse(line, start="line").children[0]
        except UnexpectedInput:
            return "unparsed"
        kind = str(branch.data) if isinstance(branch, Tree) else str(branch)
        return _SQLTRACE.get(kind, kind)

    lines = _lines(data)
    parsed = [kind_of(line) for line in lines]
    terminals = classifier().kinds_of(pl.Series(lines, dtype=pl.String)).to_list()
    own = [
        "unparsed" if name is None or (kind == "unparsed" and name.endswith("_START")) else KIND_OF[name]
        for name, kind in zip(terminals, parsed, strict=True)
    ]
    return _kinds(lines, parsed, own)


#: Kinds of lines of spools -> the rules by which Lark reads them.
_SPOOL_RULES: Final = {
    "PROMPT": ("prompt",),
    "SUBSTITUTION": ("substitution",),
    "FEEDBACK": ("rows_feedback", "done_feedback"),
    "ERROR": ("error",),
    "ELAPSED": ("elapsed",),
    "TIMER_NAME": ("timer_name",),
    "STATISTICS_HEADING": ("statistics_heading",),
    "STATISTIC": ("autotrace_statistic",),
    "PLAN_HEADING": ("plan_heading",),
    "SQL_ID": ("sql_id",),
    "PLAN_HASH": ("plan_hash",),
    "PLAN_TABLE": ("plan_table",),
    "PLAN_ROW": ("plan_row",),
    "PLAN_SECTION": ("plan_section",),
    "RULER": ("ruler",),
    "SNAPPER_ROW": ("snapper_row",),
    "SNAPPER_END": ("snapper_end",),
    "BANNER": ("banner",),
    "FENCE": ("fence",),
    "ELISION": ("elision",),
    "TRACE": ("trace",),
}


def _sqlplus(data: bytes) -> tuple[Frames, Frames]:
    """The kinds; Lark reads a line by the rules of the kind that the reader gives it."""
    from sqlplusparse.lines import GRAMMAR, KINDS, classify  # noqa: PLC0415 - a run of other formats needs no spools

    names = {kind: name for name, kind in KINDS.items()}
    lines = [line.strip() for line in _lines(data)]
    own = [names[classify(line)] for line in lines]

    def kind_of(line: str, kind: str) -> str:
        for rule in _SPOOL_RULES.get(kind, ()):
            try:
                GRAMMAR.parse(line, start=rule)
            except UnexpectedInput:
                continue
            return kind
        return "none" if kind in _SPOOL_RULES else kind

    return _kinds(lines, list(map(kind_of, lines, own)), own)


_BY_LARK: Final = {"strace": _strace, "awr": _awr, "sqltrace": _sqltrace, "sqlplus": _sqlplus}
