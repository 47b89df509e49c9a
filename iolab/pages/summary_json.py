"""A log as JSON, for scripts: `iolab show --json`; its form is described by ``show.schema.json`` beside this file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.metrics.table import METRICS
from iolab.rules.finding import FINDINGS
from iolab.time_ledger.parts import CHECKS, PARTS, REMARKS, SHARES
from logframe.errors import DIAGNOSTICS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from iolab.pages.summary import LogSummary
    from iolab.time_ledger.account import Ledger

#: Of the form: a name that is added does not change it, one that goes or changes its meaning does.
VERSION: Final = 1


def summary_json(seen: LogSummary, place: str) -> dict[str, object]:
    """What `iolab show --json` prints of a log.

    Args:
        seen: what `iolab.summarize` gives.
        place: where the log is.
    """
    return {
        "version": VERSION,
        "log": place,
        "format": seen.log.format,
        "kind": seen.log.kind,
        "what": seen.what,
        "headline": seen.headline,
        "ledger": _ledger(seen.ledger),
        "findings": seen.findings.to_dicts(),
        "figures": seen.figures.to_dicts(),
        "notes": list(seen.notes),
        "diagnostics": seen.diagnostics.to_dicts(),
    }


def error_json(reason: str, place: str) -> dict[str, object]:
    """What `iolab show --json` prints of a log that cannot be read."""
    return {"version": VERSION, "log": place, "error": reason}


def _ledger(ledger: Ledger | None) -> dict[str, object] | None:
    if ledger is None:
        return None
    total = (
        None if ledger.total is None else {"value": ledger.total.value, "lo": ledger.total.lo, "hi": ledger.total.hi}
    )
    head = {"total_s": total, "base": ledger.base, "scope": ledger.scope, "void": ledger.void, "text": ledger.text}
    parts = [row for view in ledger.views for row in ledger.parts(view).to_dicts()]
    return head | {"parts": parts, "remarks": ledger.remarks.to_dicts(), "checks": ledger.checks.to_dicts()}


def json_schema() -> dict[str, object]:
    """The JSON Schema of `summary_json` and `error_json`, from the schemas of the frames in it."""
    text = {"type": "string"}
    total = _object({name: {"type": "number"} for name in ("value", "lo", "hi")}) | {"type": ["object", "null"]}
    ledger: dict[str, object] = dict.fromkeys(("base", "scope", "void", "text"), text)
    ledger |= {
        "total_s": total,
        "parts": _rows({**PARTS, **SHARES}),
        "remarks": _rows(REMARKS),
        "checks": _rows(CHECKS),
    }
    head: dict[str, object] = {"version": {"const": VERSION}, "log": text}
    summary = head | dict.fromkeys(("format", "kind", "what", "headline"), text)
    summary |= {"ledger": _object(ledger) | {"type": ["object", "null"]}, "findings": _rows(FINDINGS)}
    summary |= {"figures": _rows(METRICS), "notes": {"type": "array", "items": text}, "diagnostics": _rows(DIAGNOSTICS)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "iolab show --json: one such object a line and log",
        "anyOf": [_object(summary), _object(head | {"error": text})],
    }


def _object(properties: Mapping[str, object]) -> dict[str, object]:
    return {"type": "object", "properties": dict(properties), "required": list(properties)}


def _rows(schema: Mapping[str, pl.DataType]) -> dict[str, object]:
    return {"type": "array", "items": _object({name: _type(dtype) for name, dtype in schema.items()})}


def _type(dtype: Any) -> dict[str, object]:  # noqa: ANN401 - a type of Polars, or its class
    """A type of Polars as JSON Schema; any value may be null."""
    if isinstance(dtype, pl.List):
        return {"type": ["array", "null"], "items": _type(dtype.inner)}
    if isinstance(dtype, pl.Struct):
        fields = _object({field.name: _type(field.dtype) for field in dtype.fields})
        return fields | {"type": ["object", "null"]}
    if isinstance(dtype, pl.Enum):
        return {"enum": [*dtype.categories.to_list(), None]}
    kind = "boolean" if dtype == pl.Boolean else "string" if dtype == pl.String else "number"
    return {"type": [kind if dtype.is_float() or kind != "number" else "integer", "null"]}
