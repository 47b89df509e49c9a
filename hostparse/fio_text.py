"""fio: its normal output, its terse output, and its logs of latencies (``--write_lat_log``)."""

from __future__ import annotations

from typing import Final

from hostparse.line_tool import Column, Line, LineTool
from logframe import load_grammar

GRAMMAR: Final = load_grammar("hostparse", "fio_text.lark", "line")

_MS: Final = {"nsec": 1e-6, "usec": 1e-3, "msec": 1.0, "sec": 1e3}
_POWERS: Final = {"k": 1e3, "M": 1e6}
_SIZES: Final = {
    f"{letter}{i}B": base**power
    for i, base in (("i", 1024.0), ("", 1000.0))
    for power, letter in enumerate(("", "K", "M", "G", "T"))
}
_FIGURES: Final = ("min", "max", "mean", "stddev")
_SPREAD: Final = {name: Column(f"requests_per_s_{name}", "figure") for name in _FIGURES}
_LATENCY: Final = {name: Column(f"latency_{name}_ms", "figure", units=_MS, unit="latency_unit") for name in _FIGURES}
#: The first fields of a direction in terse output: KiB, KiB/s, requests per second, ms; latencies in us.
_TERSE: Final = {
    "size": Column("bytes", "figure", 1024.0),
    "rate": Column("bytes_per_s", "figure", 1024.0),
    "iops": Column("requests_per_s", "figure"),
    "took": Column("run_time_ms", "figure"),
    **{f"{kind}_{name}": Column(f"{kind}_{name}_ms", "figure", 1e-3) for kind in ("slat", "clat") for name in _FIGURES},
    "percentiles": Column("percentiles"),
    **{f"lat_{name}": Column(f"lat_{name}_ms", "figure", 1e-3) for name in _FIGURES},
    "rates": Column("rates"),
}
_FIELD: Final = {"percentiles": "{TERSE_PERCENTILES}", "rates": "{TERSE_RATES}"}


TOOL: Final = LineTool(
    name="fio_text",
    title="a text report of fio",
    grammar=GRAMMAR,
    sign="(?:{JOB}|{SETTING}|{TERSE})$",
    given={
        "rates": ("job",),
        "rate_spread": ("job", "direction"),
        "latencies": ("job", "direction"),
        "percentiles": ("job", "direction", "latency"),
        "shares": ("job",),
        "terse": ("direction",),
    },
    lines=(
        Line(
            "(?P<job>{NAME}){GROUP}(?P<group>{WHOLE}){RW}(?P<pattern>{WORD}){BS}(?P<sizes>{REST}){ENGINE}(?P<engine>{WORD}){DEPTH}"
            "(?P<depth>{WHOLE})",
            "settings",
            {
                "job": Column("job"),
                "group": Column("group", "whole"),
                "pattern": Column("pattern"),
                "sizes": Column("block_size_text"),
                "engine": Column("engine"),
                "depth": Column("queue_depth", "whole"),
            },
        ),
        Line(
            "(?P<job>{NAME}){GROUP_ID}(?P<group>{WHOLE}){JOBS}(?P<processes>{WHOLE}){CLOSING}(?P<state>{REST})",
            "jobs",
            {
                "job": Column("job"),
                "group": Column("group", "whole"),
                "processes": Column("processes", "whole"),
                "state": Column("state"),
            },
            begins=True,
            sets=("job",),
        ),
        Line(
            "(?P<direction>{DIRECTION}){IOPS}(?P<iops>{NUMBER})(?P<iops_unit>{POWER})?{BW}(?P<rate>{NUMBER})"
            "(?P<rate_unit>{SIZE_UNIT}){PER_S}\\((?P<decimal>{NUMBER}{DECIMAL_UNIT}{SLASH_S})\\)\\((?P<size>{NUMBER})"
            "(?P<size_unit>{SIZE_UNIT}){SLASH}(?P<took>{NUMBER})(?P<took_unit>{TIME_UNIT})\\)(?P<note>{REST})",
            "rates",
            {
                "direction": Column("direction"),
                "iops": Column("requests_per_s", "figure", units=_POWERS),
                "rate": Column("bytes_per_s", "figure", units=_SIZES),
                "decimal": Column("decimal_rate"),
                "size": Column("bytes", "figure", units=_SIZES),
                "took": Column("run_time_ms", "figure", units=_MS),
                "note": Column("note"),
            },
            sets=("direction",),
        ),
        Line(
            "{IOPS_MIN}{BLANKS}(?P<min>{NUMBER}){MAX}{BLANKS}(?P<max>{NUMBER}){AVG}{BLANKS}(?P<mean>{NUMBER})"
            "{STDEV}{BLANKS}(?P<stddev>{NUMBER}){SAMPLES}(?P<samples>{WHOLE})",
            "rate_spread",
            {**_SPREAD, "samples": Column("requests_per_s_samples", "whole")},
        ),
        Line(
            "(?P<kind>{KIND}) \\((?P<latency_unit>{TIME_UNIT}){MIN}{BLANKS}(?P<min>{NUMBER}){MAX}{BLANKS}"
            "(?P<max>{NUMBER}){AVG}{BLANKS}(?P<mean>{NUMBER}){STDEV}{BLANKS}(?P<stddev>{NUMBER})",
            "latencies",
            {"kind": Column("latency"), **_LATENCY},
        ),
        Line(
            "(?P<kind>{KIND}){PERCENTILES_WORD}(?P<unit>{TIME_UNIT}){CLOSING}",
            columns={"kind": Column("latency"), "unit": Column("latency_unit")},
            sets=("latency", "latency_unit"),
        ),
        Line(
            "{PERCENTILES}",
            "percentiles",
            {
                "percentile": Column("percentile", "figure"),
                "at": Column("latency_ms", "figure", units=_MS, unit="latency_unit"),
            },
            each="(?P<percentile>{NUMBER}){TH}{BLANKS}(?P<at>{NUMBER}){BRACKET}",
        ),
        Line(
            "(?P<kind>{KIND}) \\((?P<latency_unit>{TIME_UNIT})\\){BLANKS}: {REST}",
            "shares",
            {
                "upper": Column("upper_ms", "figure", units=_MS, unit="latency_unit"),
                "least": Column("is_at_least"),
                "share": Column("share_percent", "figure"),
            },
            each="(?P<least>{AT_LEAST})?(?P<upper>{NUMBER}){EQUALS}(?P<share>{NUMBER}){PERCENT}",
        ),
        Line(
            "{TERSE_VERSION}(?:(?P<version>{FIO}){SEMICOLON})?(?P<job>{NAME}){SEMICOLON}(?P<group>{WHOLE}){SEMICOLON}"
            "(?P<error>{WHOLE}){SEMICOLON}{TERSE_FIGURES}(?:{SEMICOLON}(?P<rest>{TERSE_REST}))?",
            "terse",
            {
                "version": Column("version"),
                "job": Column("job"),
                "group": Column("group", "whole"),
                "error": Column("error", "whole"),
                **_TERSE,
                "rest": Column("rest"),
            },
            each="".join(f"(?P<{name}>{_FIELD.get(name, '{NUMBER}')}){{SEMICOLON}}" for name in _TERSE),
            each_is=("direction", ("read", "write", "trim")),
        ),
        Line("(?P<text>{OTHER})", "others", {"text": Column("text")}),
    ),
)
LOG: Final = LineTool(
    name="fio_log",
    title="a log of fio (of latencies, IOPS or bandwidth)",
    grammar=GRAMMAR,
    sign="{ENTRY}$",
    score=0.8,
    least=3,
    may_repeat=True,
    lines=(
        Line(
            "(?P<time>{WHOLE}){COMMA}(?P<took>{WHOLE}){COMMA}(?P<code>{WHOLE}){COMMA}(?P<size>{WHOLE})(?P<note>{REST})",
            "entries",
            {
                "time": Column("time_ms", "whole"),
                "took": Column("value", "whole"),
                "code": Column("direction_code", "whole"),
                "size": Column("request_bytes", "whole"),
                "note": Column("rest"),
            },
        ),
    ),
)
FORMAT: Final = TOOL.format()
LOG_FORMAT: Final = LOG.format()
