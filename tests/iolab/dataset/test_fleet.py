"""Questions to the reports of a dataset: the answers of the files, and of figures that are known."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from awrparse import read_awrs
from iolab import dataset
from iolab.evidence.timeline import read_timeline
from logframe.errors import LogError

if TYPE_CHECKING:
    from pathlib import Path

AT = datetime(2026, 1, 1)  # noqa: DTZ001 - reports have no time zone


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory, sample_data: Path) -> Path:
    """The reports of two databases: those of the sample series, and some of them of another database and value."""
    folder = tmp_path_factory.mktemp("fleet") / "reports"
    folder.mkdir()
    for path in sorted((sample_data / "awr_series").glob("*.txt"))[:4]:
        text = path.read_text(encoding="utf-8")
        (folder / path.name).write_text(text, encoding="utf-8")
        other = re.sub("HARBOR", "ANCHOR", text)
        (folder / f"anchor_{path.name}").write_text(re.sub("harbor1", "anchor1", other), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def dest(logs: Path) -> Path:
    """Their dataset."""
    dataset.convert(logs, logs.parent / "dataset", executor="serial")
    return logs.parent / "dataset"


def test_frames_are_those_of_the_files(logs: Path, dest: Path) -> None:
    """The same rows and columns as from the reports themselves."""
    names = ("info", "foreground_events", "parameters")
    expected = read_awrs(logs, table=names, printed=True, workers=1)
    found = dataset.report_frames(dest, names)

    for name in names:
        assert_frame_equal(expected.frames[name], found.frames[name])


def test_the_time_line_of_a_dataset(logs: Path, dest: Path) -> None:
    """It is that of the folder of reports."""
    expected, found = read_timeline(logs, workers=1), read_timeline(dest)

    assert found.instances == expected.instances
    for name in ("periods", "breaks", "sessions", "events", "latencies", "parameters"):
        assert_frame_equal(getattr(expected, name), getattr(found, name))


def test_one_database(dest: Path) -> None:
    """A condition on what a dataset has of every report selects reports."""
    found = dataset.report_frames(dest, ["info"], where=pl.col("db_name") == "ANCHOR").frames["info"]

    assert found["db_name"].unique().to_list() == ["ANCHOR"]
    assert found.height == 4


def test_slower_events(dest: Path) -> None:
    """Averages before and after are sums of times over sums of waits, with all the digits that any table prints."""
    waits = dataset.report_frames(dest, ["foreground_events"]).frames["foreground_events"]
    at = waits["begin_time"].unique().sort()[2]
    found = dataset.slower_events(dest, at=at, least_waits=1)
    own = waits.filter((pl.col("event") == "db file sequential read") & (pl.col("db_name") == "HARBOR"))
    lo, hi = (
        own.filter(pl.col("begin_time") >= at).select(pl.col(f"total_wait_s{end}").sum() / pl.col("waits").sum()).item()
        for end in ("_lo", "_hi")
    )
    row = found.row(
        by_predicate=(pl.col("db_name") == "HARBOR") & (pl.col("event") == "db file sequential read"), named=True
    )

    assert (row["reports_before"], row["reports_after"]) == (2, 2)
    assert (
        lo * 1000 <= row["avg_wait_ms_after_lo"] <= row["avg_wait_ms_after"] <= row["avg_wait_ms_after_hi"] <= hi * 1000
    )
    assert row["avg_wait_ms_after_hi"] - row["avg_wait_ms_after_lo"] < (hi - lo) * 1000 / 2
    assert row["ratio_lo"] <= row["ratio"] <= row["ratio_hi"]
    assert dataset.slower_events(dest, at=AT).is_empty()


def test_differing_parameters(dest: Path, tmp_path: Path, logs: Path) -> None:
    """A value that one instance has alone comes first; a parameter that all have alike is not listed."""
    assert dataset.differing_parameters(dest)["parameter"].unique().to_list() == ["db_name"]
    for path in logs.glob("anchor_*"):
        text = path.read_text(encoding="utf-8")
        (tmp_path / path.name).write_text(
            re.sub(r"(?m)^(db_block_size +)8192\b", r"\g<1>16384", text), encoding="utf-8"
        )
    places = [*logs.glob("awr*"), tmp_path]
    dataset.convert(places, tmp_path / "dataset", executor="serial")
    found = dataset.differing_parameters(tmp_path / "dataset")

    assert found["parameter"].unique(maintain_order=True).to_list() == ["db_block_size", "db_name"]
    blocks = found.filter(parameter="db_block_size").sort("value")
    assert blocks.select("value", "instances", pl.col("names").list.first()).rows() == [
        ("16384", 1, "ANCHOR/anchor1"),
        ("8192", 1, "HARBOR/harbor1"),
    ]


def test_databases_of_one_name_are_two(tmp_path: Path, logs: Path) -> None:
    """Parameters of two databases of one name are told apart by the database id, in each table of a fleet."""
    for number, path in enumerate(sorted(logs.glob("awr*"))[:2] * 2):
        text = path.read_text(encoding="utf-8")
        other = text.replace("2870431956", "1111111111").replace(
            "filesystemio_options          NONE", "filesystemio_options          ASYN"
        )
        (tmp_path / f"{number}.txt").write_text(other if number > 1 else text, encoding="utf-8")
    dataset.convert(tmp_path, tmp_path / "dataset", executor="serial")
    names = {f"harbor1 ({number})" for number in (2870431956, 1111111111)}

    for frame in (dataset.instances(tmp_path / "dataset"), dataset.read_changes(tmp_path / "dataset")):
        assert set(frame["instance_name"]) == names
    found = dataset.differing_parameters(tmp_path / "dataset")
    assert {name for (name,) in found["names"]} == {f"HARBOR/{name}" for name in names}
    assert found["parameter"].unique().to_list() == ["filesystemio_options"]


def test_a_dataset_without_reports(tmp_path: Path) -> None:
    """It is refused, with the reason."""
    (tmp_path / "a.strace").write_bytes(b"3 close(3) = 0\n")
    dataset.convert(tmp_path / "a.strace", tmp_path / "dataset", executor="serial")

    with pytest.raises(LogError, match="holds no report"):
        dataset.slower_events(tmp_path / "dataset", at=AT)


def test_what_a_report_lacks_is_not_known(tmp_path: Path, logs: Path) -> None:
    """An instance without a list of parameters has no default values, and one without DB time is never busiest."""
    for path in sorted(logs.glob("*.txt")):
        text = path.read_text(encoding="utf-8")
        text = re.sub(r"DB Time: +[\d.,]+ \(mins\)", "DB Time: 100.00 (mins)", text)
        if path.name.startswith("anchor"):
            text = re.sub(r"(?m)^ *DB Time: .*$", "", re.sub("init.ora Parameters", "Some Other List", text))
        (tmp_path / path.name).write_text(text, encoding="utf-8")
    dataset.convert(tmp_path, tmp_path / "dataset", executor="serial")
    anchor, harbor = dataset.instances(tmp_path / "dataset").sort("db_name").to_dicts()

    assert dataset.setting_changes(tmp_path / "dataset").filter(db_name="ANCHOR").is_empty()
    assert dataset.differing_parameters(tmp_path / "dataset").is_empty()
    assert (anchor["active_sessions"], anchor["busiest_sessions"], anchor["busiest_at"]) == (None, None, None)
    assert harbor["busiest_at"] == read_timeline(tmp_path / "dataset").only("harbor1").periods.sort(
        pl.col("elapsed_s"), maintain_order=True
    ).item(0, "begin_time")
