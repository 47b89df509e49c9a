"""Writes the pages of this folder that are made from the code: ``python docs/generate.py [FOLDER]``.

    awr_tables.md   the canonical tables of AWR reports, from `awrparse.TABLES`
    frames.md       the frames of strace logs and of spools, from their schemas
    metrics.md      what each metric means and when not to believe it, from the docstrings of `iolab.metrics`

A test writes them anew and compares.
"""

import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FunctionType

import polars as pl

import awrparse
import iolab.metrics
import straceparse
from awrparse.tables import describe_tables

SECTION = re.compile(r"^(?:Args|Returns|Raises|Examples):$", re.MULTILINE)
MADE = "<!-- made by docs/generate.py -->"


def awr_tables() -> str:
    """The page of canonical AWR tables."""
    return (
        f"{MADE}\n\n# Tables of AWR, Statspack and ASH reports\n\n"
        "The same columns for every version and form; what a version does not print is null.\n\n"
        f"{describe_tables().strip()}\n"
    )


def frames() -> str:
    """The page of the other frames."""
    parts = [MADE, "# Frames", "## strace logs"]
    schemas = ("EVENTS", "CALLS", "REQUESTS", "SUMMARY")
    parts += [f"### `straceparse.{name}`\n\n{schema_table(getattr(straceparse, name))}" for name in schemas]
    parts.append("## SQL\\*Plus and SQLcl spools")
    parts += [f"### `{name}`\n\n{schema_table(schema)}" for name, schema in awrparse.SPOOL_SCHEMAS.items()]
    return "\n\n".join(parts) + "\n"


def schema_table(schema: Mapping[str, pl.DataType]) -> str:
    """A schema as a Markdown table."""
    rows = [f"| `{name}` | {type_name(dtype)} |" for name, dtype in schema.items()]
    return "\n".join(("| column | type |", "|---|---|", *rows))


def type_name(dtype: pl.DataType) -> str:
    """A type as a reader calls it."""
    match dtype:
        case pl.Enum():
            return "one of " + ", ".join(f"`{name}`" for name in dtype.categories)
        case pl.Duration():
            return f"duration, {dtype.time_unit}"
        case pl.Datetime():
            return f"date and time, {dtype.time_unit}" + (f", {dtype.time_zone}" if dtype.time_zone else "")
        case _:
            return str(dtype)


def metrics() -> str:
    """The page of metrics."""
    parts = [MADE, "# What each metric means and when not to believe it"]
    parts.append(
        "Every function gives a frame with `metric`, `value`, `lo`, `hi`, `unit`, `basis` and `caveats`. A metric that "
        "its inputs contradict is refused: its value is null and its caveats begin with `refused:`."
    )
    parts += [f"## `{name}`\n\n{text}" for name, text in described()]
    return "\n\n".join(parts) + "\n"


def described() -> Iterator[tuple[str, str]]:
    """Each metric's signature and what its docstring says before the arguments."""
    for name, member in vars(iolab.metrics).items():
        if isinstance(member, FunctionType) and not name.startswith("_"):
            text = SECTION.split(inspect.cleandoc(member.__doc__ or ""))[0]
            yield f"{name}{parameters(member)}", text.replace("``", "`").strip()


def parameters(function: FunctionType) -> str:
    """The names of a function's parameters, without their types."""
    names = [
        name if parameter.default is parameter.empty else f"{name}={parameter.default!r}"
        for name, parameter in inspect.signature(function).parameters.items()
    ]
    return f"({', '.join(names)})"


PAGES = {"awr_tables.md": awr_tables, "frames.md": frames, "metrics.md": metrics}


def main() -> None:
    """Write the pages."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for name, page in PAGES.items():
        (folder / name).write_text(page(), encoding="utf-8")
        print(folder / name)


if __name__ == "__main__":
    main()
