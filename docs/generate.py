"""Writes the pages of this folder that are made from the code: ``python docs/generate.py [FOLDER]``.

    awr_tables.md   the canonical tables of AWR reports, from `awrparse.TABLES`
    diagnostics.md  the words of the diagnostics, from `logframe/kinds.toml`
    frames.md       the other frames, from their schemas
    chart_list.md   what each chart shows, and what to read from it, from the docstrings of `iolab.charts`
    metrics.md      what each metric means, and its limitations, from the docstrings of `iolab.metrics`
    findings.md     what each rule says, when, and what it compares with, from the register of rules
    ledger.md       the screens in it, as `iolab show` prints them

It also writes ``iolab/pages/show.schema.json``, the schema of `iolab show --json`.

A test writes them anew and compares.
"""

import doctest
import importlib
import inspect
import json
import pkgutil
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from types import FunctionType

import polars as pl

import awrparse
import awrparse.integrity
import hostparse
import iolab.charts
import iolab.metrics
import iolab.rules
import sqlplusparse
import sqltraceparse
import straceparse
from awrparse.tables import describe_tables
from hostparse.line_tool import LineTool
from iolab.pages import summary_json
from iolab.pages.summary import summarize
from iolab.pages.summary_text import summary_text
from iolab.rules.finding import meanings
from iolab.rules.registry import RULES, Rule
from logframe.kinds import kind_meanings

SECTION = re.compile(r"^(Args|Returns|Raises|Examples):$", re.MULTILINE)
#: Written by docs/awr_releases.py: table -> release -> letters of the kinds and forms.
RELEASES = Path(__file__).parent / "awr_releases.json"
Seen = dict[str, dict[str, str]]
#: A screen on the page of the time ledger: its command, and what it prints.
SCREEN = re.compile(r"(\$ iolab show (\S+)\n).*?\n```", re.DOTALL)
#: How the paragraph on the use of a chart begins.
READING = "What to read from it:"
MADE = "<!-- made by docs/generate.py -->"


def awr_tables() -> str:
    """The page of canonical AWR tables."""
    return (
        f"{MADE}\n\n# Tables of AWR, Statspack and ASH reports\n\n"
        "The same columns for every version and form; what a version does not print is null.\n\n"
        f"{describe_tables().strip()}\n\n{awr_releases()}"
    )


def awr_releases() -> str:
    """Which canonical tables are read from which releases, kinds and forms of reports."""
    seen: Seen = json.loads(RELEASES.read_text(encoding="utf-8"))
    releases = sorted({release for table in seen.values() for release in table}, key=float)
    lines = [
        "## Releases",
        "",
        "What was read from real reports and from those of the tests: `t` AWR as text, `h` as HTML, `p` of a PDB,",
        "`g` of all instances, `d` compare-period, `s` Statspack, `a` ASH as text, `b` as HTML. *Headings* is the",
        "number of sets of headings that releases print; the tests write and read the table with each of them, in",
        "text, HTML and Markdown.",
        "",
        f"| table | headings | {' | '.join(releases)} |",
        f"|---|---|{'---|' * len(releases)}",
    ]
    for name, table in awrparse.TABLES.items():
        sets = max((len(column.heads) for column in table.columns), default=0)
        cells = " | ".join(seen.get(name, {}).get(release, "") or " " for release in releases)
        lines.append(f"| `{name}` | {sets} | {cells} |")
    return "\n".join(lines) + "\n"


def diagnostics() -> str:
    """The page of the diagnostics: what each word means, and what to do."""
    head = (
        "Every line and every figure that was not read, or is doubtful, is a row of `log.diagnostics`: `line`,\n"
        "`column`, `kind`, `text` and `reason`. `kind` is one of the words below, the same for all formats; `reason` "
        "says\nwhat happened on that line."
    )
    words = [
        f"## `{word}`\n\n{one['meaning']}\n\nnext: {one['next']}"
        + (f"\n\nin 0.1.0: {one['was']}" if "was" in one else "")
        for word, one in kind_meanings().items()
    ]
    checks = [
        f"| {one.name.replace('_', ' ')} | {one.of} | {one.proves} | {one.cost_ms} |"
        for one in awrparse.integrity.checks()
    ]
    of_reports = (
        "## Checks of reports\n\nAn AWR, Statspack or ASH report is checked for missing lines and for two reports that "
        "were joined. Checks of\nfigures are `report.check()`. The time is that of one core for 0.5 MB.\n\n"
        "| check | looks at | what it proves | ms |\n|---|---|---|---|\n" + "\n".join(checks)
    )
    return "\n\n".join((MADE, "# Diagnostics", head, *words, of_reports)) + "\n"


def frames() -> str:
    """The page of the other frames."""
    parts = [MADE, "# Frames", "## strace logs"]
    schemas = ("EVENTS", "CALLS", "REQUESTS", "SUMMARY")
    parts += [f"### `straceparse.{name}`\n\n{schema_table(getattr(straceparse, name))}" for name in schemas]
    parts.append("## SQL\\*Plus and SQLcl spools")
    parts += [f"### `{name}`\n\n{schema_table(schema)}" for name, schema in sqlplusparse.SPOOL_SCHEMAS.items()]
    parts.append("## Samples of sessions")
    schemas = ("SESSION_SAMPLES", "SNAPS", "OTHERS")
    parts += [f"### `sqlplusparse.{name}`\n\n{schema_table(getattr(sqlplusparse, name))}" for name in schemas]
    parts.append("## Extended SQL traces and TKPROF reports")
    parts += [
        f"### `{kind}` `{name}`\n\n{schema_table(schema)}"
        for kind, schemas in sqltraceparse.SCHEMAS.items()
        for name, schema in schemas.items()
    ]
    parts.append("## Samples of the operating system, latency histograms and CPU profiles")
    schemas = ("SAMPLES", "RUNS", "HISTOGRAMS", "PROFILE")
    parts += [f"### `hostparse.{name}`\n\n{schema_table(getattr(hostparse, name))}" for name in schemas]
    parts.append("## Tools whose lines have one form each")
    for tool in line_tools():
        names = dict.fromkeys(line.table for line in tool.lines if line.table)
        parts += [f"### `{tool.name}` `{name}`\n\n{schema_table(tool.schema(name))}" for name in names]
    return "\n\n".join(parts) + "\n"


def line_tools() -> list[LineTool]:
    """The tools of the operating system that are a grammar and a table of lines, by name."""
    found = pkgutil.iter_modules(hostparse.__path__, "hostparse.")
    values = (value for one in found for value in vars(importlib.import_module(one.name)).values())
    return sorted({one.name: one for one in values if isinstance(one, LineTool)}.values(), key=lambda one: one.name)


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
    parts = [MADE, "# What each metric means, and its limitations"]
    parts.append(
        "Every function gives a frame with `metric`, `value`, `lo`, `hi`, `ci_lo`, `ci_hi`, `unit`, `basis` and "
        "`caveats`. A metric that its inputs contradict is refused: its value is null and its caveats begin with "
        "`refused:`."
    )
    parts.append(
        "`lo` and `hi` are what the rounding of the printed figures allows. `ci_lo` and `ci_hi` are the 95 % interval "
        "of a sample, such as the samples of a profile or of active sessions; comparisons of runs (`iolab.compare`) "
        "have them, too. The two are never in one column: a printed average of few waits is known to many digits and "
        "may still be far from the average of more waits. What "
        'is listed under "Limitations" cannot be seen from the figures; what can be seen is refused.'
    )
    named = (getattr(iolab.metrics, name) for name in iolab.metrics.__all__)  # they are loaded on use
    metrics = [member for member in named if isinstance(member, FunctionType)]
    for topic in sorted({member.__module__ for member in metrics}, key=lambda name: (heading_of(name), name)):
        parts.append(f"## {heading_of(topic)}")
        # in the order of the file: that of the lazily loaded names varies from run to run
        members = sorted(
            (member for member in metrics if member.__module__ == topic), key=lambda one: one.__code__.co_firstlineno
        )
        parts += [f"### `{member.__name__}{parameters(member)}`\n\n{described(member)}" for member in members]
    return "\n\n".join(parts) + "\n"


def chart_list() -> str:
    """The page of charts: what each shows, and what to read from it."""
    parts = [MADE, "# What each chart shows, and what to read from it"]
    functions = {name: getattr(iolab.charts, name) for name in iolab.charts.__all__}
    for name, function in functions.items():
        paragraphs = (inspect.getdoc(function) or "").split("\n\n")
        reading = [text.removeprefix(READING).strip() for text in paragraphs if text.startswith(READING)]
        if reading:
            parts.append(f"## `{name}`\n\n{paragraphs[0]}\n\n**{READING}** {reading[0]}")
    return "\n\n".join(parts).replace("``", "`") + "\n"


#: What the rules of a kind are about, in the order of the page.
KINDS = {
    "report": "AWR and Statspack reports",
    "fragment": "Fragments of reports",
    "awr_diff": "Compare-period reports",
    "ash": "ASH reports",
    "addm": "ADDM reports",
    "sqlplus": "SQL\\*Plus sessions",
    "sqltrace": "Extended SQL traces",
    "tkprof": "TKPROF reports",
    "strace": "strace logs",
}


def findings() -> str:
    """The page of findings: what each rule says, when, and an example."""
    for found in pkgutil.iter_modules(iolab.rules.__path__, "iolab.rules."):
        importlib.import_module(found.name)
    parts = [MADE, "# Findings"]
    parts.append(
        "`iolab.findings(log)` first says the total of the [time ledger](ledger.md), then each part with 10 % of it or "
        "more (`time_profile`, `main_statement`), then what the rules below find. A rule that is about a part of the "
        "time replaces the sentence of that part; its share is always that of the ledger. A rule about a problem of "
        "the evidence comes first; one about sizes, settings or latencies comes below the parts of the time."
    )
    seen: set[str] = set()
    for kind in [*KINDS, *sorted({one.of for one in RULES} - KINDS.keys())]:
        own = [one for one in RULES if one.of == kind]
        if own:
            parts.append(f"## {KINDS.get(kind, kind.replace('_', ' ').capitalize())}")
        parts += [rule_text(one, seen) for one in own]
    parts.append("## The time ledger, and pairs of logs")
    parts += [f"### `{name}`\n\n{meaning_text(name)}" for name in meanings() if name not in seen]
    return "\n\n".join(parts) + "\n"


def ledger() -> str:
    """The page of the time ledger, with the screens as they are printed now."""
    page = (Path(__file__).parent / "ledger.md").read_text(encoding="utf-8")
    return SCREEN.sub(lambda found: f"{found[1]}{screen(found[2])}\n```", page)


def screen(log: str) -> str:
    """The first screen of a sample log."""
    seen = summarize(Path(__file__).parents[1] / log)
    name = Path(log).name
    return f"{name}: {seen.headline}\n{summary_text(seen, name)}"


def meaning_text(name: str) -> str:
    """Why a finding matters, what to know of it, what would refute it, and what to do next."""
    if name not in meanings():
        raise SystemExit(f"add the section [{name}] to iolab/rules/findings.toml: why it matters, and what to do next")
    meaning = meanings()[name]
    caution = f"\n* Caution: {meaning.caution}" if meaning.caution else ""
    says = f"{meaning.says}\n\n" if meaning.says else ""
    return (
        f"{says}* Why it matters: {meaning.matters}{caution}\n* Refuted by: {meaning.refuted_by}.\n"
        f"* Next: {meaning.next}."
    )


def rule_text(one: Rule, seen: set[str]) -> str:
    """What a rule says, when, what it compares with, an example from its doctest, and the meaning of new names."""
    doc = inspect.cleandoc(one.find.__doc__ or "")
    says = SECTION.split(doc)[0].strip().replace("``", "`")
    lines = [f"### `{one.name}`" + "".join(f", `{name}`" for name in one.says), says]
    if one.needs:
        lines.append(f"Needs: {one.needs}.")
    if one.thresholds:
        rows = "\n".join(f"| {value} | {source} |" for value, source in one.thresholds.items())
        lines.append(f"| threshold | source |\n|---|---|\n{rows}")
    examples = [example.want.strip() for example in doctest.DocTestParser().get_examples(doc)]
    sentences = [text.splitlines()[0] for text in examples if text and text[0].isalnum() | (text[0] == "`")]
    if shown := [text for text in sentences if text.endswith(".") and " " in text]:
        lines.append(f"> {shown[0]}")
    names = (one.name, *one.says)
    for name in names:
        if name not in seen:
            lines += [f"`{name}`:"] * (len(names) > 1) + [meaning_text(name)]
    seen.update(names)
    return "\n\n".join(lines)


def heading_of(module: str) -> str:
    """What a module is about: the first words of its docstring."""
    words = re.split("[:.]", sys.modules[module].__doc__ or "", maxsplit=1)[0].removeprefix("Metrics of ")
    return words[:1].upper() + words[1:]


def described(function: FunctionType) -> str:
    """What a docstring says before the arguments, and what comes back."""
    text, *rest = SECTION.split(inspect.cleandoc(function.__doc__ or ""))
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    returned = inspect.cleandoc(sections["Returns"]) if "Returns" in sections else ""
    says = "\n\n".join(filter(None, [text.strip(), f"Gives: {returned[:1].lower()}{returned[1:]}" if returned else ""]))
    return says.replace("Limitations:", "**Limitations:**").replace("``", "`")


def parameters(function: FunctionType) -> str:
    """The names of a function's parameters, without their types."""
    signature = inspect.signature(function)
    untyped = [one.replace(annotation=one.empty) for one in signature.parameters.values()]
    return str(signature.replace(parameters=untyped, return_annotation=signature.empty))


PAGES = {
    "awr_tables.md": awr_tables,
    "chart_list.md": chart_list,
    "diagnostics.md": diagnostics,
    "findings.md": findings,
    "frames.md": frames,
    "ledger.md": ledger,
    "metrics.md": metrics,
}


def main() -> None:
    """Write the pages."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for name, page in PAGES.items():
        (folder / name).write_text(page(), encoding="utf-8")
        print(folder / name)
    if (pages := folder.resolve().parent / "iolab" / "pages").is_dir():
        schema = json.dumps(summary_json.json_schema(), indent=1) + "\n"
        (pages / "show.schema.json").write_text(schema, encoding="utf-8")


if __name__ == "__main__":
    main()
