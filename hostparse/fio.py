"""The result of fio as JSON: requests, rates and latencies of each job and direction, percentiles, shares, disks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from logframe import Diagnostic, LogParseError, diagnostics_frame, open_log
from logframe.copied import cleaned, cleanup_by_sign
from logframe.formats import Format, Sniff
from logframe.json_leaves import json_leaves, loads
from logframe.parsed_log import ParsedLog
from logframe.printed import whole_number
from logframe.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from logframe import Log, Source
    from logframe.formats import Head
    from logframe.provenance import Part

_LATENCIES: Final = {"submission": "slat", "completion": "clat", "total": "lat"}
#: Columns of `FioResult.jobs`: one row a job and direction that did requests.
JOBS: Final = pl.Schema(
    {
        "job": pl.String(),
        "number": pl.UInt32(),
        "direction": pl.String(),
        "engine": pl.String(),
        "pattern": pl.String(),
        "block_size_text": pl.String(),
        "queue_depth": pl.Int64(),
        "processes": pl.Int64(),
        "is_direct": pl.Boolean(),
        "requests": pl.Int64(),
        "bytes": pl.Int64(),
        "run_time_s": pl.Float64(),
        "requests_per_s": pl.Float64(),
        "requests_per_s_mean": pl.Float64(),
        "requests_per_s_stddev": pl.Float64(),
        "requests_per_s_samples": pl.Int64(),
        "bytes_per_s": pl.Float64(),
        **{
            f"{what}_{figure}_ms": pl.Float64()
            for what in _LATENCIES
            for figure in ("mean", "stddev", "min", "max")
        },
    }
)  # fmt: skip
#: Columns of `FioResult.percentiles`: which latency is ``completion`` or ``total``.
PERCENTILES: Final = pl.Schema(
    {
        "job": pl.String(),
        "number": pl.UInt32(),
        "direction": pl.String(),
        "latency": pl.String(),
        "percentile": pl.Float64(),
        "latency_ms": pl.Float64(),
    }
)
#: Columns of `FioResult.shares`: the share of all requests of a job with a latency in (lower, upper]; null
#: without an upper end.
SHARES: Final = pl.Schema(
    {
        "job": pl.String(),
        "number": pl.UInt32(),
        "lower_ms": pl.Float64(),
        "upper_ms": pl.Float64(),
        "share_percent": pl.Float64(),
    }
)
#: Columns of `FioResult.values`: every figure and word of the file under its names, in the order of the file.
VALUES: Final = pl.Schema({"path": pl.String(), "number": pl.Float64(), "text": pl.String(), "line": pl.UInt32()})
_DIRECTIONS: Final = ("read", "write", "trim")
#: Units in a millisecond.
_PER_MS: Final = {"ns": 1e6, "us": 1e3, "ms": 1.0}
_KIB: Final = 1024
_TWICE: Final = "a value that stands twice: the last one counts, and both are in the values"
_OUT_OF_RANGE: Final = "no number that a frame can hold: it is null, and text in the values"
_SHOWN: Final = 80
_ALL: Final = 100.0
_NO_PERCENTILE: Final = ".percentile.0.00"
_VERSION: Final = '"fio version"'


@dataclass(frozen=True, repr=False)
class FioResult(ParsedLog):
    """What fio measured.

    fio is not Oracle: compare latencies only where block size, queue depth, pattern and engine agree.

    Attributes:
        source: name of the log.
        version: of fio, as printed.
        jobs: `JOBS`; latencies are null where a direction did no request, or a synchronous engine does not submit.
        percentiles: `PERCENTILES`, as fio computed them.
        shares: `SHARES`; fio prints 0.01 for what is above 0 and less, so they may add up to more than 100.
        values: `VALUES`.
        diagnostics: `logframe.DIAGNOSTICS`: text around the JSON, and figures that contradict each other.
    """

    source: str
    version: str
    jobs: pl.DataFrame
    percentiles: pl.DataFrame
    shares: pl.DataFrame
    values: pl.DataFrame
    diagnostics: pl.DataFrame

    @property
    def format(self) -> str:
        """The format's name in the registry."""
        return "fio"

    @property
    def kind(self) -> str:
        """``fio``."""
        return "fio"

    def frames(self) -> dict[str, pl.DataFrame]:
        """The frames `jobs`, `percentiles`, `shares` and `values`."""
        return {name: getattr(self, name) for name in ("jobs", "percentiles", "shares", "values")}

    def describe(self) -> str:
        """What was measured, in a few words."""
        directions = " and ".join(self.jobs.get_column("direction").unique(maintain_order=True)) or "no requests"
        return f"a result of {self.version}, {counted(self.jobs.get_column('number').n_unique(), 'job')}, {directions}"


def read_fio(source: Source) -> FioResult:
    """The result that ``fio --output-format=json`` (or ``json+``) wrote.

    The unit of a latency is taken from its name: ``clat_ns`` of fio 3, ``clat`` (microseconds) of fio 2.

    Args:
        source: a path, bytes, a file object.

    Raises:
        LogParseError: the log holds no such result, or it is cut.

    Examples:
        >>> one = '{"fio version": "fio-3.1", "jobs": [{"jobname": "a", "read": {"total_ios": 2, "clat_ns": {"mean": 5e5}}}]}'
        >>> read_fio(one.encode()).jobs.select("job", "direction", "requests", "completion_mean_ms").row(0)
        ('a', 'read', 2, 0.5)
    """  # noqa: E501 - one line of JSON
    log = opened(source)
    text = log.text()
    start, end = span_of(text)
    try:
        document = loads(text[start:end]) if start < end else None
    except (ValueError, RecursionError) as error:
        raise LogParseError(f"the JSON ends early or is damaged: {error}", source=log.name) from None
    if not isinstance(document, dict) or "fio version" not in document or not isinstance(document.get("jobs"), list):
        raise LogParseError("no result of fio", source=log.name, expected='JSON with "fio version" and "jobs"')
    try:
        return _result(log, text, (start, end), document)
    except (
        TypeError, ValueError, AttributeError, KeyError, OverflowError, RecursionError, pl.exceptions.PolarsError
    ) as error:  # fmt: skip
        raise LogParseError(f"the result has another form than fio writes: {error}", source=log.name) from None


def opened(source: Source) -> Log:
    """A result of fio without colours and marks of a mail."""
    return cleaned(open_log(source), lambda head: cleanup_by_sign(head, _has_version))


def _has_version(lines: list[str]) -> bool:
    return any(line.lstrip(" \t{").startswith(_VERSION) for line in lines)


def span_of(text: str) -> tuple[int, int]:
    r"""Where the result begins in a text, and after its end; (0, 0) without one.

    Examples:
        >>> span_of('fio: {"jobs": []}\n')
        (5, 17)
    """
    first, end = text.find("{"), text.rfind("}") + 1
    return (first, end) if 0 <= first < end else (0, 0)


def _result(log: Log, text: str, place: tuple[int, int], document: dict[str, Any]) -> FioResult:
    """The frames of a result, and the text around its place."""
    first, last = (text.count("\n", 0, end) + 1 for end in place)
    notes = [
        Diagnostic(log.name, number, None, "foreign", line, "no part of the result")
        for number, line in enumerate(text.split("\n"), 1)
        if line.strip() and not first <= number <= last
    ]
    jobs: list[dict[str, Any]] = []
    percentiles: list[dict[str, Any]] = []
    shares: list[dict[str, Any]] = []
    shared = document.get("global options") or {}
    for number, job in enumerate(each for each in document["jobs"] if isinstance(each, dict)):
        one: dict[str, Any] = {"job": str(job.get("jobname", "")), "number": number}
        options = {**shared, **(job.get("job options") or {})}
        shares += [{**one, **share} for share in _shares(job)]
        for direction in _DIRECTIONS:
            figures = job.get(direction)
            if isinstance(figures, dict) and figures.get("total_ios"):
                jobs.append({**one, "direction": direction, **_options(options), **_figures(figures)})
                percentiles += [{**one, "direction": direction, **row} for row in _percentiles(figures)]
                if (reason := _contradiction(jobs[-1])) is not None:
                    notes.append(Diagnostic(log.name, None, None, "contradiction", one["job"], reason))
    whole = text[place[0] : place[1]]
    leaves = list(json_leaves(whole))
    notes += [
        Diagnostic(log.name, first + leaf.line, None, "overflow", f"{leaf.path}: {leaf.value[:_SHOWN]}", _OUT_OF_RANGE)
        for leaf in leaves
        if isinstance(leaf.value, str) and whole[leaf.end - 1] != '"'
    ]
    # fio 3.1 fills its lists of percentiles with more of 0
    named = [leaf for leaf in leaves if not leaf.path.endswith(_NO_PERCENTILE)]
    twice = [one for one, other in pairwise(named) if (one.path, one.value) == (other.path, other.value)]
    notes += [Diagnostic(log.name, first + one.line, None, "repeated", one.path, _TWICE) for one in twice]
    values = [(leaf.path, *_cell(leaf.value), first + leaf.line) for leaf in leaves]
    return FioResult(
        log.name,
        str(document["fio version"]),
        pl.DataFrame(jobs, schema=JOBS),
        pl.DataFrame(percentiles, schema=PERCENTILES),
        pl.DataFrame(shares, schema=SHARES),
        pl.DataFrame(values, schema=VALUES, orient="row"),
        diagnostics_frame([*log.notes, *notes]),
    )


def _options(options: dict[str, Any]) -> dict[str, Any]:
    depth, processes = options.get("iodepth"), options.get("numjobs")
    return {
        "engine": options.get("ioengine"),
        "pattern": options.get("rw") or options.get("readwrite"),
        "block_size_text": options.get("bs") or options.get("blocksize"),
        "queue_depth": whole_number(str(depth)),
        "processes": whole_number(str(processes)),
        "is_direct": options["direct"] == "1" if "direct" in options else None,
    }


def _figures(figures: dict[str, Any]) -> dict[str, Any]:
    """The figures of one direction; a rate in KiB/s where the version prints no other."""
    rate = figures.get("bw_bytes")
    run_time = figures.get("runtime")
    row: dict[str, Any] = {
        "requests": figures["total_ios"],
        "bytes": figures.get("io_bytes"),
        "run_time_s": None if run_time is None else run_time / 1e3,
        "requests_per_s": figures.get("iops"),
        "requests_per_s_mean": figures.get("iops_mean"),
        "requests_per_s_stddev": figures.get("iops_stddev"),
        "requests_per_s_samples": figures.get("iops_samples"),
        "bytes_per_s": rate if rate is not None else None if figures.get("bw") is None else figures["bw"] * _KIB,
    }
    for name, found, per_ms in _latencies(figures):
        if found.get("max", found.get("mean")):
            for figure in ("mean", "stddev", "min", "max"):
                row[f"{name}_{figure}_ms"] = None if found.get(figure) is None else found[figure] / per_ms
    return row


def _latencies(figures: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], float]]:
    """The latencies of one direction: the name, the figures, and how many of their units are a millisecond."""
    for name, word in _LATENCIES.items():
        unit = "ns" if f"{word}_ns" in figures else "us"
        found = figures.get(f"{word}_ns" if unit == "ns" else word)
        if isinstance(found, dict):
            yield name, found, _PER_MS[unit]


def _percentiles(figures: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The percentiles; fio 3.1 fills its list with a percentile 0 of 0, which is not one."""
    for name, found, per_ms in _latencies(figures):
        for percentile, value in (found.get("percentile") or {}).items():
            if 0.0 < float(percentile) <= _ALL and value is not None:
                yield {"latency": name, "percentile": float(percentile), "latency_ms": value / per_ms}


def _shares(job: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The shares by latency: a key is the upper end of its bucket, and the key before it the lower end."""
    lower = 0.0
    for unit, per_ms in _PER_MS.items():
        for key, share in (job.get(f"latency_{unit}") or {}).items():
            upper = None if key.startswith(">=") else float(key) / per_ms
            if upper is not None and not math.isfinite(upper):
                continue  # the values have it
            yield {"lower_ms": lower, "upper_ms": upper, "share_percent": share}
            lower = upper or lower


def _contradiction(row: dict[str, Any]) -> str | None:
    """The rate times the run time is the number of requests, within a hundredth (the run time is in milliseconds)."""
    rate, seconds, requests = row["requests_per_s"], row["run_time_s"], row["requests"]
    if rate is None or not seconds or abs(rate * seconds - requests) <= max(1.0, 0.01 * requests):
        return None
    return f"{rate:.6g} requests/s in {seconds:g} s are not the {requests} requests that are printed"


def _cell(value: object) -> tuple[float | None, str | None]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None, None if value is None else str(value)
    return float(value), None


def sniff(head: Head) -> Sniff | None:
    """Whether a log is a result of fio, by the first name of its JSON."""
    place = head.text.find(_VERSION)
    return None if place < 0 else Sniff(0.97, "a result of fio as JSON", line=head.text.count("\n", 0, place) + 1)


def places(parsed: FioResult, source: Source) -> list[Part]:
    """The text of a result of fio, each value a place with its row; the other frames are made of them."""
    from hostparse.json_places import Offsets  # noqa: PLC0415 - wanted by few
    from logframe.provenance import Claim, Part, printed_columns_of  # noqa: PLC0415 - as above

    text = opened(source).text()
    begin, end = span_of(text)
    offsets = Offsets(text)
    part = Part(text, {"values": parsed.values}, default="text")
    starts = [(1, 1)]
    rows = {place: row for row, place in enumerate(parsed.values.select("path", "line").iter_rows())}
    first = text.count("\n", 0, begin) + 1
    columns = printed_columns_of(parsed.values)
    for leaf in json_leaves(text[begin:end]):
        starts += [offsets.place(begin + leaf.start), offsets.place(begin + leaf.end)]
        if (row := rows.get((leaf.path, first + leaf.line))) is not None:
            part.claims[len(starts) - 2] = [Claim("values", row, columns)]
        part.statuses[len(starts) - 2] = "lost"
    part.starts = starts
    return [part]


FORMAT: Final = Format(name="fio", title="a result of fio", sniff=sniff, read=read_fio, places=places)
