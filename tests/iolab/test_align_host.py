"""Samples of the operating system beside a report: what agrees, what is missing, and what is refused."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

import awrparse
from hostparse import read_host
from iolab.comparison import UnpairedError, pair
from iolab.evidence import align_host
from iolab.metrics import statistic
from logframe.errors import RefusedError

if TYPE_CHECKING:
    from datetime import timedelta
    from pathlib import Path

    from awrparse import AwrReport


@pytest.fixture(scope="module")
def report(sample_data: Path) -> AwrReport:
    """A report of the sample data that has a begin, an end and totals of bytes."""
    for path in sorted(sample_data.rglob("*.txt")):
        try:
            found = awrparse.read_awr(path)
        except ValueError:
            continue
        if found.info.begin_time is not None and statistic(found, "physical read total bytes") is not None:
            return found
    pytest.fail("no report in the sample data has a begin and a total of bytes")


def _total(report: AwrReport, name: str = "physical read total bytes") -> float:
    found = statistic(report, name)
    assert found is not None
    return found.value


def _vmstat(report: AwrReport, factor: float, *, shift: timedelta | None = None, share: float = 1.0) -> bytes:
    """Vmstat -t with sixty samples over the report's time, whose reads are those of the report times a factor."""
    begin, end = report.info.begin_time, report.info.end_time
    assert begin is not None
    assert end is not None
    step = (end - begin) / 60
    blocks = round(_total(report) * factor / (end - begin).total_seconds() / 1024)
    rows = ["procs ---memory--- -----io---- -----timestamp-----", " r  b   free   bi    bo                 UTC"]
    for number in range(int(60 * share) + 1):
        at = begin + number * step + (shift or 0 * step)
        rows.append(f" 1  0  1000  {blocks}  5 {at:%Y-%m-%d %H:%M:%S}")
    return ("\n".join(rows) + "\n").encode()


def _verdicts(frame: Any) -> dict[str, str]:  # noqa: ANN401 - a DataFrame
    return dict(frame.select("quantity", "verdict").iter_rows())


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "agrees"), (1.5, "more"), (0.5, "less")])
def test_bytes_of_a_host(report: AwrReport, factor: float, verdict: str) -> None:
    """The sum of the samples within the report's time is compared; the first report is no sample."""
    aligned = align_host(report, read_host(_vmstat(report, factor)))
    row = aligned.row(0, named=True)

    assert _verdicts(aligned)["read_bytes"] == verdict
    assert row["ratio"] == pytest.approx(factor, rel=1e-3)
    assert row["samples"] == 60
    assert row["host_lo"] <= row["host"] <= row["host_hi"]


def test_samples_of_a_part_of_the_time(report: AwrReport) -> None:
    """A sum over half of the time is no total, and has no ratio."""
    aligned = align_host(report, read_host(_vmstat(report, 1.0, share=0.5)))

    assert _verdicts(aligned)["read_bytes"] == "part"
    assert aligned.item(0, "ratio") is None


def test_devices_beside_a_little_time_without_samples(report: AwrReport) -> None:
    """Devices are not called missing for a minute that no sample covers."""
    text = _vmstat(report, 1.0).decode().splitlines()
    begin, end = report.info.begin_time, report.info.end_time
    assert begin is not None
    assert end is not None
    rate = _total(report) / (end - begin).total_seconds() / 1024
    rows = "".join(f"{row[-19:]}\nDevice r/s rkB/s\nsda 1.00 {rate:.2f}\n\n" for row in text[2:-1])
    aligned = align_host(report, read_host(rows.encode()))

    assert _verdicts(aligned)["read_bytes"] == "possible"


def test_samples_of_another_time(report: AwrReport) -> None:
    """Samples of another day are refused; no zone is guessed."""
    begin, end = report.info.begin_time, report.info.end_time
    assert begin is not None
    assert end is not None
    with pytest.raises(RefusedError, match="zones are not guessed"):
        align_host(report, read_host(_vmstat(report, 1.0, shift=(end - begin) * 5)))


def _iostat(host: str, rate: float) -> bytes:
    text = f"Linux 4.18.0 ({host}) \t02/19/24 \t_x86_64_\t(4 CPU)\n\n"
    return (
        text + f"Device r/s w/s rkB/s wkB/s\nsda {rate:.2f} 0.00 0.00 0.00\nsdb 0.00 0.00 0.00 0.00\n\n" * 3
    ).encode()


def test_devices_that_did_not_serve_the_database(report: AwrReport) -> None:
    """Whatever the clock: the busiest sample for the whole time is less than the database read."""
    host = (report.info.host or "db1").partition(".")[0]
    aligned = align_host(report, read_host(_iostat(host, 0.0)))

    assert set(_verdicts(aligned).values()) == {"missing"}
    assert aligned.get_column("ratio").null_count() == aligned.height
    assert "no latency and no utilisation" in aligned.item(0, "explanation")


def test_devices_that_may_have(report: AwrReport) -> None:
    """Devices that did more say nothing without times."""
    host = (report.info.host or "db1").partition(".")[0]
    aligned = align_host(report, read_host(_iostat(host, 1e9)))

    assert _verdicts(aligned)["read_requests"] == "unknown"


def test_samples_of_another_host(report: AwrReport) -> None:
    """A host of another name is refused, and the pairing says why."""
    if report.info.host is None:
        pytest.skip("the report names no host")
    log = read_host(_iostat("elsewhere", 0.0))
    with pytest.raises(RefusedError, match="elsewhere"):
        align_host(report, log)
    with pytest.raises(UnpairedError, match="elsewhere"):
        pair(log, report, names=("iostat.out", "awr.txt"))


def test_pairing_in_words(report: AwrReport) -> None:
    """The verdicts are sentences."""
    pairing = pair(read_host(_vmstat(report, 1.0)), report, names=("vmstat.out", "awr.txt"))

    assert "the host saw what the database counted" in str(pairing)
    assert list(pairing.frames) == ["Host and database"]


@pytest.mark.corpus
def test_a_run_of_slob(corpus: Path) -> None:
    """The devices that served the database are not in iostat; vmstat saw its bytes, under the clock that is stated."""
    folder = corpus / "os" / "slob"
    if not folder.is_dir():
        pytest.skip("no run of SLOB in the corpus")
    report = awrparse.read_awr(folder / "awr.txt.128")
    iostat, vmstat = (read_host(folder / f"{tool}.out") for tool in ("iostat", "vmstat"))
    clock: dict[str, Any] = {"first_end": datetime(2013, 5, 2, 13, 53, 1), "step_s": 3.0}  # noqa: DTZ001 - a wall clock

    assert set(_verdicts(align_host(report, iostat)).values()) == {"missing"}
    devices = align_host(report, iostat, **clock)
    assert set(_verdicts(devices).values()) == {"missing"}
    assert devices.filter(devices["quantity"] == "read_requests").item(0, "host_hi") < 10
    assert devices.get_column("ratio").null_count() == devices.height
    host = align_host(report, vmstat, **clock)
    assert _verdicts(host) == {"read_bytes": "agrees", "write_bytes": "agrees"}
    assert host.item(0, "host") == pytest.approx(178.50e9, rel=1e-4)
    assert host.get_column("ratio").to_list() == pytest.approx([1.0003, 0.9902], abs=1e-4)
    assert "times assumed: the first report ended at 2013-05-02 13:53:01" in host.item(0, "explanation")
