"""Samples and the report of one run: the clock that one log has for all, and what no log of the set supports."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import polars as pl
import pytest

import awrparse
from hostparse import read_host
from iolab.comparison.matching import pair_all
from iolab.evidence import align_run, share_clocks
from iolab.metrics import statistic
from iolab.rules.run import findings_together

if TYPE_CHECKING:
    from pathlib import Path

    from awrparse import AwrReport
    from hostparse import HostLog
    from logframe.formats import ParsedLog

#: Samples before, within and after the report's time.
_BEFORE, _WITHIN, _AFTER = 7, 48, 5


@pytest.fixture(scope="module")
def report(sample_data: Path) -> AwrReport:
    """A report with a begin, an end and totals of bytes."""
    return awrparse.read_awr(sample_data / "awr_series" / "awrrpt_1_4104_4105.txt")


def _step(report: AwrReport) -> timedelta:
    begin, end = report.info.begin_time, report.info.end_time
    assert begin is not None
    assert end is not None
    return timedelta(seconds=(end - begin).total_seconds() / _WITHIN)


def _mpstat(report: AwrReport, *, host: str | None = None, late: int = 0, jump: int = 0) -> HostLog:
    """Samples with times: `late` samples later than the others, `jump` seconds lost before the 20th."""
    begin = report.info.begin_time
    assert begin is not None
    at = begin + (late - _BEFORE) * _step(report)
    lines = [f"Linux 5.4.17 ({host or report.info.host}) \t{at:%m/%d/%Y} \t_x86_64_\t(8 CPU)", ""]
    lines.append(f"{at:%H:%M:%S}     CPU    %usr    %sys   %idle")
    for number in range(_BEFORE + _WITHIN + _AFTER):
        at += _step(report) + timedelta(seconds=jump if number == 20 else 0)
        lines.append(f"{at:%H:%M:%S}     all    5.00    1.00   94.00")
    return read_host(("\n".join(lines) + "\n").encode())


def _vmstat(report: AwrReport, *, more: int = 0) -> HostLog:
    """Samples without times: the report's reads within its time, and twice as many before and after it."""
    total = statistic(report, "physical read total bytes")
    assert total is not None
    rate = round(total.value / (_step(report) * _WITHIN).total_seconds() / 1024)
    rates = [1, *[2 * rate] * _BEFORE, *[rate] * _WITHIN, *[2 * rate] * (_AFTER + more)]
    lines = ["procs -----------memory---------- -----io----", " r  b   free   bi    bo"]
    return read_host(("\n".join([*lines, *(f" 1  0  1000  {rate}  5" for rate in rates)]) + "\n").encode())


def _iostat(report: AwrReport) -> HostLog:
    """Samples without times of a device that did nothing."""
    text = f"Linux 5.4.17 ({report.info.host}) \t02/19/24 \t_x86_64_\t(8 CPU)\n\n"
    table = "Device r/s w/s rkB/s wkB/s\nsda 0.00 0.00 0.00 0.00\n\n"
    return read_host((text + table * (1 + _BEFORE + _WITHIN + _AFTER)).encode())


def _reads(frame: pl.DataFrame, log: str) -> dict[str, object]:
    return frame.filter(pl.col("log") == log, pl.col("quantity") == "read_bytes").row(0, named=True)


def test_one_log_has_the_times_of_all(report: AwrReport) -> None:
    """The bytes agree, the devices are not the database's, there is no ratio to them, and each assumption is named."""
    logs = {"iostat.out": _iostat(report), "vmstat.out": _vmstat(report), "mpstat.out": _mpstat(report)}
    aligned = align_run(report, logs)

    host, device = _reads(aligned, "vmstat.out"), _reads(aligned, "iostat.out")
    assert (host["verdict"], device["verdict"]) == ("agrees", "missing")
    assert host["ratio"] == pytest.approx(1.0, abs=2e-3)
    assert device["ratio"] is None
    assert "times of mpstat.out" in str(host["explanation"])
    refused = aligned.filter(log="mpstat.out").row(0, named=True)
    assert (refused["verdict"], refused["explanation"]) == ("refused", "the samples have no rates of bytes or requests")


def test_a_log_gives_its_times_only_where_they_fit(report: AwrReport) -> None:
    """Another number of samples, another host, a clock that jumps, clocks that contradict each other: no times."""
    vmstat, clock = _vmstat(report), _mpstat(report)
    iostat = _iostat(report)

    def is_placed(**logs: HostLog) -> bool:
        return next(iter(share_clocks(logs).values())).clock is not None

    assert is_placed(vmstat=vmstat, mpstat=clock)
    assert is_placed(vmstat=_vmstat(report, more=1), mpstat=clock)
    assert not is_placed(vmstat=_vmstat(report, more=2), mpstat=clock)
    assert not is_placed(vmstat=vmstat, mpstat=_mpstat(report, jump=40))
    assert not is_placed(iostat=iostat, mpstat=_mpstat(report, host="elsewhere"))
    assert not is_placed(vmstat=vmstat, mpstat=clock, other=_mpstat(report, late=1))
    assert not is_placed(vmstat=vmstat, iostat=iostat)


def test_wrong_times_are_seen(report: AwrReport) -> None:
    """Times that are one sample late change the sum: the host then saw more than the database."""
    aligned = align_run(report, {"vmstat.out": _vmstat(report), "mpstat.out": _mpstat(report, late=-3)})

    assert _reads(aligned, "vmstat.out")["verdict"] == "more"


def test_logs_that_are_read_together(report: AwrReport) -> None:
    """The pairs of a page take the times of the other log, and say so."""
    logs: dict[str, ParsedLog] = {"awr.txt": report, "vmstat.out": _vmstat(report), "mpstat.out": _mpstat(report)}
    said = [str(pairing) for pairing in pair_all(logs)]

    assert any("saw what the database counted" in text and "times of mpstat.out" in text for text in said)
    assert any("no rates of bytes" in text for text in said)


def test_devices_of_others_are_a_finding(report: AwrReport) -> None:
    """Of idle devices the page says that they are not the database's; of a whole host there is nothing to say."""
    named: list[tuple[str, ParsedLog]] = [("awr.txt", report), ("iostat.out", _iostat(report))]
    found = findings_together(named)

    assert found["name"].to_list() == ["devices_of_others"]
    assert (
        "The devices of iostat.out did not serve the database of awr.txt, if both are of the same time: at most "
        in found.item(0, "sentence")
    )
    assert found.item(0, "impact") is None
    assert findings_together([named[0], ("vmstat.out", _vmstat(report))]).is_empty()
    of_processors = findings_together([named[0], ("mpstat.out", _mpstat(report))])
    assert of_processors["name"].to_list() == ["processors_of_report"]


@pytest.mark.corpus
def test_a_run_of_slob(corpus: Path) -> None:
    """The set gives the known figures with no time typed in."""
    folder = corpus / "os" / "slob"
    if not folder.is_dir():
        pytest.skip("no run of SLOB in the corpus")
    report = awrparse.read_awr(folder / "awr.txt.128")
    logs = {f"{tool}.out": read_host(folder / f"{tool}.out") for tool in ("iostat", "vmstat", "mpstat")}
    aligned = align_run(report, logs)

    host = _reads(aligned, "vmstat.out")
    assert host["verdict"] == "agrees"
    assert host["host"] == pytest.approx(178.50e9, rel=1e-4)
    assert host["ratio"] == pytest.approx(1.0003, abs=1e-4)
    devices = aligned.filter(log="iostat.out")
    assert set(devices["verdict"]) == {"missing"}
    assert devices["ratio"].null_count() == devices.height
    said = [str(pairing) for pairing in pair_all({"awr.txt": report, **logs})]
    assert any("at most 10 of 21,782,367 read requests" in text for text in said)
