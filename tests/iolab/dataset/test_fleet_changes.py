"""What changed in a fleet: the answers are those of the model that the reports were written from."""

from __future__ import annotations

import json
import math
import re
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from sample_scripts import sample_script

from iolab import dataset
from iolab.cli import iolab
from iolab.dataset.fleet_changes import merged_quantiles
from iolab.evidence import left_out_sentences
from iolab.evidence.timeline import read_timeline
from iolab.pages.fleet_page import fleet_html

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[3]
READ = "db file sequential read"


@pytest.fixture(scope="module")
def model() -> Any:  # noqa: ANN401 - a script, as a module
    """The script that writes the fleet."""
    return sample_script("make_fleet")


@pytest.fixture(scope="module")
def dest(model: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:  # noqa: ANN401 - see above
    """The dataset of the fleet."""
    folder = tmp_path_factory.mktemp("fleet")
    model.write_fleet(folder / "reports")
    tables = ("info", "foreground_events", "event_histogram", "parameters")
    done = dataset.convert(folder / "reports", folder / "dataset", executor="serial", tables=tables)
    assert done.counts == {"converted": 36}
    return folder / "dataset"


def waits_of(model: Any, name: str) -> list[Any]:  # noqa: ANN401 - see above
    """The true waits for single blocks of an instance, hour by hour."""
    make_activity = sample_script("awr_model").make_activity
    activities = [make_activity(hour) for hour in model.plan_fleet() if hour.instance.database == name]
    return [next(wait for wait in one.foreground if wait.event == READ) for one in activities]


def test_instances(dest: Path) -> None:
    """Each instance with its reports and the time that they cover, which is less than from begin to end."""
    found = dataset.instances(dest)

    assert found.get_column("db_name").to_list() == ["ANCHOR", "HARBOR", "WHARF"]
    assert found.get_column("reports").to_list() == [12, 12, 12]
    assert (found["covered_s"] < (found["end_time"] - found["begin_time"]).dt.total_seconds()).all()
    assert (found["active_sessions"] < found["busiest_sessions"]).all()


def test_every_report_of_the_dataset_is_counted(tmp_path: Path) -> None:
    """One without a head and one that is cut are named, so that the reports add up to the files."""
    reports, places = tmp_path / "reports", sorted((ROOT / "sample_data/awr_series").glob("*_410[56]_*.txt"))
    reports.mkdir()
    whole = [path.read_text(encoding="utf-8") for path in places]
    (reports / "whole.txt").write_text(whole[0], encoding="utf-8")
    (reports / "cut.txt").write_text(whole[1][: whole[1].index("Foreground Wait Events")], encoding="utf-8")
    table = whole[0][whole[0].index("Top 10 Foreground Events") :]
    (reports / "table.txt").write_text(table[: table.index("\n\n\n") + 1], encoding="utf-8")
    assert dataset.convert(reports, tmp_path / "made", executor="serial").counts == {"converted": 3}

    for source in (tmp_path / "made", reports):
        line = read_timeline(source)
        assert line.periods.height == 2
        assert left_out_sentences(line) == [
            "Left out: 1 file without one instance and a valid period.",
            "1 report has no table of waits or of parameters.",
        ]


def test_a_ratio_to_nothing_is_no_figure(tmp_path: Path) -> None:
    """An average that is printed as 0 before has no ratio, and none of its bounds is infinite."""
    for number in (4105, 4106):
        (path,) = (ROOT / "sample_data/awr_series").glob(f"*_{number}_*.txt")
        text = path.read_text(encoding="utf-8")
        if number == 4105:
            text = text.replace(" 1920.6       0.63", "    0.0       0.00").replace(
                " 1,921       0.63", "     0       0.00"
            )
        (tmp_path / path.name).write_text(text, encoding="utf-8")
    dataset.convert(tmp_path, tmp_path / "made", executor="serial")
    at = dataset.read_changes(tmp_path / "made").item(0, "at")
    row = dataset.slower_events(tmp_path / "made", at=at).row(0, named=True)

    assert (row["avg_wait_ms_before"], row["ratio"], row["ratio_hi"]) == (0.0, None, None)
    assert row["ratio_lo"] > 1


@pytest.mark.parametrize("name", ["HARBOR", "ANCHOR", "WHARF"])
def test_changes_hold_the_truth(model: Any, dest: Path, name: str) -> None:  # noqa: ANN401 - see above
    """The averages of neighbouring reports are those of the model, within their bounds."""
    found = dataset.read_changes(dest).filter(db_name=name).sort("at")
    truth = [wait.time_us / wait.count / 1000 for wait in waits_of(model, name)]

    assert found.height == 11
    for row, before, after in zip(found.to_dicts(), truth[:-1], truth[1:], strict=True):
        assert row["a_lo"] <= before <= row["a_hi"]
        assert row["b_lo"] <= after <= row["b_hi"]
        assert row["ratio_lo"] <= after / before <= row["ratio_hi"]
        assert row["at_least"] <= max(after / before, before / after)


def test_the_greatest_change_and_what_was_set(dest: Path) -> None:
    """HARBOR lost its page cache; the sentences say so, and which parameter changed with it."""
    changes, settings = dataset.read_changes(dest), dataset.setting_changes(dest)
    sentences = dataset.fleet_sentences(dataset.instances(dest), changes, settings)

    assert changes.row(0, named=True)["db_name"] == "HARBOR"
    assert changes.item(0, "at_least") > 7
    assert sentences[1].startswith(f"The greatest rise of `{READ}` from one report to the next at `HARBOR/harbor1`: ")
    assert (
        sentences[2] == "Parameters that changed just before 2026-09-15 01:00: `filesystemio_options` NONE to SETALL."
    )
    assert sentences[3].startswith("At 1 of 3 instances")
    assert settings.group_by("parameter", maintain_order=True).len().sort("parameter").rows() == [
        ("db_cache_size", 3),
        ("filesystemio_options", 1),
    ]


def test_a_quiet_fleet(dest: Path) -> None:
    """Where nothing became slower a sentence says so; an instance that was not compared is no quiet one."""
    fleet, settings, changes = dataset.instances(dest), dataset.setting_changes(dest), dataset.read_changes(dest)
    same = changes.with_columns(direction=pl.lit("same"), at_least=pl.lit(1.0))
    said = dataset.fleet_sentences(fleet, same, settings)

    assert (
        f"At no instance that was compared the average of `{READ}` became longer by more than its rounding allows."
        in said
    )
    assert not [one for one in said if "Not compared" in one]
    assert dataset.fleet_sentences(fleet, same.filter(db_name="HARBOR"), settings)[-1].startswith(
        "Not compared: 2 instances"
    )
    assert dataset.fleet_sentences(fleet, same.clear(), settings)[1:] == [
        "Not compared: 3 instances; no two reports that follow each other both have an average of 100 waits."
    ]
    none = read_timeline(dest).latencies.clear()
    assert dataset.fleet_sentences(fleet, same.clear(), settings, none)[1:] == [
        "Not compared: 3 instances; the reports list no such waits of foreground sessions."
    ]


@pytest.mark.parametrize("name", ["HARBOR", "ANCHOR", "WHARF"])
def test_percentiles_of_all_reports(model: Any, dest: Path, name: str) -> None:  # noqa: ANN401 - see above
    """The bucket of a percentile is that of the waits of all hours together."""
    edges = [0, *sample_script("awr_model").EDGES_US, None]
    counts = [sum(one) for one in zip(*(wait.ranges for wait in waits_of(model, name)), strict=True)]
    reached = list(accumulate(counts))
    found = dataset.read_quantiles(dest).filter(db_name=name)

    assert found.height == 3
    for metric, lo, hi in found.select("metric", "lo", "hi").iter_rows():
        share = int(metric.rpartition("p")[2]) / 100
        place = next(number for number, count in enumerate(reached) if count >= share * reached[-1])
        assert lo <= edges[place]
        assert hi is None or hi >= edges[place + 1]


def histogram(report: str, waits: Sequence[float], *tables: Sequence[float]) -> pl.DataFrame:
    """The tables of a histogram, each with the edges of a part of the range: shares of all waits, rounded to 0.1 %."""
    rows = []
    for number, edges in enumerate(tables):
        ends = [0.0, *edges, math.inf]
        for start, end in pairwise(ends):
            share = round(100 * sum(start <= one < end for one in waits) / len(waits), 1)
            count = sum(edges[0] <= one < edges[-1] for one in waits) if number else len(waits)
            place = {"db_name": "X", "db_id": 1, "instance_name": "x", "report": report, "part": 1, "event": READ}
            kind = {"section": f"part {number}" if number else None, "waits": count, "from_us": start}
            shares = {"waits_pct": share, "waits_pct_lo": max(share - 0.05, 0), "waits_pct_hi": share + 0.05}
            rows.append(place | kind | {"to_us": None if end == math.inf else end} | shares)
    kinds = {"section": pl.String, "waits": pl.Int64, "to_us": pl.Float64} | dict.fromkeys(
        ("from_us", "waits_pct", "waits_pct_lo", "waits_pct_hi"), pl.Float64
    )
    return pl.DataFrame(rows, schema_overrides=kinds)


COARSE, FINE, LONG = (512.0,), (512.0, 1000.0, 2000.0, 32000.0), (32000.0, 64000.0, 125000.0)


@given(st.lists(st.lists(st.floats(1, 200_000), min_size=20, max_size=60), min_size=1, max_size=3), st.data())
def test_percentiles_hold_those_of_all_waits(hours: list[list[float]], data: st.DataObject) -> None:
    """Whichever parts of the range a report prints, and with which edges, the bounds hold the percentile."""
    layouts = st.sampled_from([(COARSE,), (FINE,), (COARSE, FINE), (COARSE, FINE, LONG), (LONG, FINE)])
    made = [histogram(str(number), waits, *data.draw(layouts)) for number, waits in enumerate(hours)]
    found = merged_quantiles(pl.concat(made))
    waits = sorted(one for hour in hours for one in hour)

    assert found.height == 3
    assert found.select("reports", "waits").unique().rows() == [(len(hours), len(waits))]
    for metric, lo, hi in found.select("metric", "lo", "hi").iter_rows():
        value = waits[math.ceil(int(metric.rpartition("p")[2]) / 100 * len(waits) - 1e-9) - 1]
        assert lo <= value
        assert hi is None or value <= hi


def test_a_part_of_the_range_is_not_all(dest: Path) -> None:
    """The few waits of a table of long ones are a part of all: no row is theirs, and its edges narrow the others."""
    waits = [100.0] * 900 + [40_000.0] * 60 + [100_000.0] * 40
    found = merged_quantiles(histogram("a", waits, COARSE, LONG))
    alone = merged_quantiles(histogram("a", waits, COARSE))

    assert found.select("waits", "lo", "hi").rows() == [
        (1000, 0.0, 512.0),
        (1000, 32000.0, 64000.0),
        (1000, 64000.0, 125000.0),
    ]
    assert alone["hi"].to_list() == [512.0, None, None]
    lost = histogram("a", waits, LONG).filter(pl.col("from_us") > 0)
    assert merged_quantiles(lost).is_empty()
    assert dataset.read_quantiles(dest, events=["no such event"]).is_empty()


def test_the_page(dest: Path, tmp_path: Path) -> None:
    """The overview first, then each instance, folded; of many only the first, and the page says how many."""
    whole, few = fleet_html(dest), fleet_html(dest, most=1)
    done = CliRunner().invoke(iolab, ["report", str(dest), "-o", str(tmp_path / "page.html")])

    assert whole.count("<details") == 3
    assert whole.index("from one report to the next at <code>HARBOR/harbor1") < whole.index("<details")
    assert "<code>filesystemio_options</code> NONE to SETALL" in whole
    assert few.count("<details") == 1
    assert "The 1 whose reads changed most, of 3." in few
    assert done.exit_code == 0
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == whole


def test_the_answer_of_the_notebook_is_computed() -> None:
    """The first cell states no figure; the first text that is computed names the greatest change."""
    cells = json.loads((ROOT / "notebooks/09_fleet.ipynb").read_text(encoding="utf-8"))["cells"]
    outputs = [out.get("data", {}) for cell in cells if cell["cell_type"] == "code" for out in cell["outputs"]]
    said = next("".join(data["text/markdown"]) for data in outputs if "text/markdown" in data)

    assert not re.findall(r"\d", "".join(cells[0]["source"]))
    assert said.startswith(f"**The greatest rise of `{READ}` from one report to the next at `HARBOR/harbor1`")
    assert "`filesystemio_options` NONE to SETALL" in said
