"""One way in: every public function that takes a log takes whatever `iolab.load` takes, and what it returns."""

from __future__ import annotations

import inspect
import io
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import iolab
from iolab import comparison, evidence, metrics
from iolab.loading import load
from logframe import LogError, LogParseError
from logframe.formats import ParsedLog

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLES = Path(__file__).parents[2] / "sample_data"
REPORT = SAMPLES / "awr_series/awrrpt_1_4102_4103.txt"
SESSION = SAMPLES / "articles/004_exadata_flash_cache.txt"
STRACE = SAMPLES / "captures/async_direct_f_ttt_T_y.strace"
VMSTAT = SAMPLES / "host/vmstat.out"
POLLS = b"SAMPLE_ID,SID,STATE,EVENT\n" + b"1,42,ON CPU,\n" * 100

#: Classes of logs, and what stands for everything that `iolab.load` takes, in annotations.
_LOGS = re.compile(r"\b(?:ParsedLog|AwrReport|Spool|StraceLog|SqlTrace|HostLog|SessionSamples)\b")
_SOURCES = re.compile(r"\b(?:Source|Places?|PathLike)\b")

Call = tuple["Path | bytes", "Callable[[Any], Any]"]
#: Each function of one log, or of several: a log, and a call with whatever stands for it.
CALLS: dict[str, Call] = {
    "iolab.compare": (REPORT, lambda log: iolab.compare(log, REPORT)),
    "iolab.findings": (REPORT, iolab.findings),
    "iolab.ledger": (REPORT, iolab.ledger),
    "iolab.ledgers": (REPORT, iolab.ledgers),
    "iolab.load": (REPORT, iolab.load),
    "iolab.load_all": (REPORT, iolab.load_all),
    "iolab.provenance": (STRACE, lambda log: iolab.provenance(log, STRACE)),
    "iolab.sql": (REPORT, lambda log: iolab.sql("SELECT event, waits FROM top_events", log)),
    "iolab.summarize": (REPORT, iolab.summarize),
    "iolab.write_report": (STRACE, lambda log: iolab.write_report(log, "page.html")),
    "comparison.compare_sets": (REPORT, lambda log: comparison.compare_sets({"a": REPORT}, {"b": log}).sentences),
    "comparison.compare_several": (
        REPORT,
        lambda log: comparison.compare_several({"a": {"r": REPORT}, "b": {"r": log}}).overview,
    ),
    "comparison.pair": (REPORT, lambda log: comparison.pair(REPORT, log)),
    "comparison.pair_all": (REPORT, lambda log: list(comparison.pair_all({"a": REPORT, "b": log}))),
    "evidence.align_host": (REPORT, lambda log: evidence.align_host(log, VMSTAT)),
    "evidence.align_latency": (REPORT, lambda log: evidence.align_latency(log, load(STRACE)["requests"].collect())),
    "evidence.align_run": (REPORT, lambda log: evidence.align_run(log, {"vmstat": VMSTAT})),
    "evidence.align_trace": (SESSION, lambda log: evidence.align_trace(log, load(STRACE)["requests"].collect())),
    "evidence.align_trace_with_host": (STRACE, lambda log: evidence.align_trace_with_host(log, VMSTAT)),
    "evidence.align_waits": (STRACE, lambda log: evidence.align_waits(_TRACE, log)),
    "evidence.over_time": (REPORT, lambda log: evidence.over_time({"a": log})),
    "evidence.share_clocks": (VMSTAT, lambda log: list(evidence.share_clocks({"a": log}))),
    "metrics.ash_samples": (REPORT, metrics.ash_samples),
    "metrics.class_times": (REPORT, metrics.class_times),
    "metrics.cpu_samples": (VMSTAT, metrics.cpu_samples),
    "metrics.db_time_of": (REPORT, metrics.db_time_of),
    "metrics.elapsed_of": (REPORT, metrics.elapsed_of),
    "metrics.host_cpu": (VMSTAT, metrics.host_cpu),
    "metrics.lio_cost": (SESSION, metrics.lio_cost),
    "metrics.read_metrics": (SESSION, metrics.read_metrics),
    "metrics.session_shares": (POLLS, metrics.session_shares),
    "metrics.statement_costs": (SESSION, metrics.statement_costs),
    "metrics.statistic": (SESSION, lambda log: metrics.statistic(log, "physical reads")),
}
_TRACE = SAMPLES / "sqltrace/orders_flash_ora_4711.trc"
#: Functions that take many files at once and spread them over processes: paths and bytes, not objects.
OF_FILES = {"evidence.read_timeline"}


def public_functions() -> dict[str, Callable[..., object]]:
    """Every public function of iolab that may take a log."""
    modules = {"comparison": comparison, "evidence": evidence, "metrics": metrics}
    found = {f"{name}.{one}": getattr(module, one) for name, module in modules.items() for one in module.__all__}
    found |= {f"iolab.{name}": getattr(iolab, name) for name in iolab.__all__}
    return {name: one for name, one in found.items() if inspect.isfunction(one)}


def test_every_function_of_a_log_is_listed_and_says_so() -> None:
    """A parameter that is a log may be a source, too, by its annotation; the calls below are of all such functions."""
    of_logs = set()
    for name, function in public_functions().items():
        for parameter in inspect.signature(function).parameters.values():
            said = str(parameter.annotation)
            if _LOGS.search(said) or re.search(r"\bPlaces?\b|\bSource\b", said):
                of_logs.add(name)
                assert _SOURCES.search(said), f"{name}({parameter}) takes logs, and no paths"

    assert of_logs - OF_FILES - {"comparison.compare"} == CALLS.keys()


def plain(value: object) -> object:
    """A result as something that compares."""
    match value:
        case pl.DataFrame():
            return value.to_dicts()
        case list() | tuple():
            return [plain(one) for one in value]
        case iolab.comparison.Pairing() | iolab.pages.summary.LogSummary():
            return re.sub(r"<bytes>|<file>|\S*log\.txt", "LOG", str(value))
        case _ if isinstance(value, ParsedLog):
            return value.describe()
    return getattr(value, "frame", value) if not hasattr(value, "parts") else value.parts().to_dicts()


@pytest.mark.parametrize("name", CALLS)
def test_every_form_of_a_log_gives_the_same(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path as text, a path, a pattern, bytes, an open file, the log itself, and a list of one give one result."""
    given, call = CALLS[name]
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "logs" / "log.txt"
    path.parent.mkdir()
    if isinstance(given, bytes):
        path.write_bytes(given)
    else:
        shutil.copy(given, path)
    data = path.read_bytes()
    forms = [str(path), path, str(path.parent / "*.txt"), data, io.BytesIO(data), load(path)]
    forms += [] if name == "iolab.compare" else [[path], [load(path)]]  # a list of that is a sample of run times
    results = []
    for form in forms:
        try:
            results.append(plain(call(form)))
        except LogError as error:  # a comparison that is refused is refused of every form
            results.append(re.sub(r"<bytes>|<file>|\S*log\.txt", "LOG", str(error)))
    is_of_several = name in {"iolab.findings", "iolab.sql"}  # a list gets a column that names the log
    expected = results[0]

    assert results[: -2 if is_of_several else None] == [expected] * (len(forms) - 2 * is_of_several)
    assert len(results[-1]) == len(expected) if is_of_several else True


@pytest.mark.parametrize("name", CALLS)
def test_what_is_no_log_is_an_error(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that is no file is not found, prose is no log, and an empty list is none: never an empty result."""
    call = CALLS[name][1]
    monkeypatch.chdir(tmp_path)
    prose = tmp_path / "notes.txt"
    prose.write_text("Dear all,\nthe disks are slow again.\n", encoding="utf-8")

    for missing in ("awrrpt_1_881_882.txt", "*.html"):
        if name != "iolab.write_report":  # of many logs the page names those that it cannot read
            with pytest.raises(FileNotFoundError) as raised:
                call(missing)
            assert isinstance(raised.value, LogError)
    with pytest.raises(LogError, match="not a log of a known kind"):
        call(prose)
    if name != "iolab.compare":
        with pytest.raises(LogError):
            call([])


@pytest.mark.parametrize("name", [name for name in CALLS if name.startswith(("metrics.", "evidence.align"))])
def test_a_log_of_another_kind_is_named(name: str) -> None:
    """Where only some formats are taken, the error says what was found and what is needed."""
    with pytest.raises(LogError, match=r"is a result of fio, where .+ is needed"):
        CALLS[name][1](b'{"fio version": "fio-3.28", "jobs": []}')


def test_several_logs_of_one_pattern(tmp_path: Path) -> None:
    """A pattern or a folder of several logs is several logs where several are taken, and an error where one is."""
    for name in ("a.txt", "b.txt"):
        shutil.copy(SESSION, tmp_path / name)
    for places in (str(tmp_path), str(tmp_path / "*.txt"), [tmp_path / "a.txt", tmp_path / "b.txt"]):
        assert iolab.findings(places)["log"].unique().sort().to_list() == ["a.txt", "b.txt"]
    with pytest.raises(LogParseError, match="got 2 logs, not one"):
        iolab.ledger(str(tmp_path))
    with pytest.raises(LogParseError, match="got 2 logs, not one"):
        iolab.ledger([load(SESSION), load(SESSION)])
