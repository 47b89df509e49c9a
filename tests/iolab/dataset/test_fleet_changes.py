"""What changed in a fleet: the answers are those of the model that the reports were written from."""

from __future__ import annotations

import json
import re
from itertools import accumulate
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from sample_scripts import sample_script

from iolab import dataset
from iolab.cli import iolab
from iolab.dataset.fleet_changes import merged_histograms
from iolab.pages.fleet_page import fleet_html

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


@pytest.mark.parametrize("name", ["HARBOR", "ANCHOR", "WHARF"])
def test_changes_hold_the_truth(model: Any, dest: Path, name: str) -> None:  # noqa: ANN401 - see above
    """The averages of neighbouring reports are those of the model, within their bounds."""
    found = dataset.read_changes(dest).filter(db_name=name).sort("at")
    truth = [wait.time_us / wait.count / 1000 for wait in waits_of(model, name)]

    assert found.height == 11
    for row, before, after in zip(found.to_dicts(), truth[:-1], truth[1:], strict=True):
        assert row["avg_wait_ms_before_lo"] <= before <= row["avg_wait_ms_before_hi"]
        assert row["avg_wait_ms_after_lo"] <= after <= row["avg_wait_ms_after_hi"]
        assert row["ratio_lo"] <= after / before <= row["ratio_hi"]
        assert row["at_least"] <= max(after / before, before / after)


def test_the_greatest_change_and_what_was_set(dest: Path) -> None:
    """HARBOR lost its page cache; the sentences say so, and which parameter changed with it."""
    changes, settings = dataset.read_changes(dest), dataset.setting_changes(dest)
    sentences = dataset.fleet_sentences(dataset.instances(dest), changes, settings)

    assert changes.row(0, named=True)["db_name"] == "HARBOR"
    assert changes.item(0, "at_least") > 7
    assert sentences[1].startswith("At 1 of 3 instances")
    assert sentences[-1] == "Parameters that changed just before it: `filesystemio_options` NONE to SETALL."
    assert settings.group_by("parameter", maintain_order=True).len().sort("parameter").rows() == [
        ("db_cache_size", 3),
        ("filesystemio_options", 1),
    ]


def test_a_quiet_fleet(dest: Path) -> None:
    """Where nothing became slower a sentence says so."""
    nothing = dataset.read_changes(dest).clear()

    assert (
        "At no instance" in dataset.fleet_sentences(dataset.instances(dest), nothing, dataset.setting_changes(dest))[-1]
    )


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


def histogram(report: str, waits: int, *shares: float, edges: tuple[float, ...] = (0.0, 1000.0)) -> pl.DataFrame:
    """A histogram of two buckets."""
    rows = {"report": report, "part": 1, "event": READ, "section": None, "waits": waits}
    ends = [*edges[1:], None]
    frame = pl.DataFrame(
        [{**rows, "from_us": a, "to_us": b, "waits_pct": c} for a, b, c in zip(edges, ends, shares, strict=True)],
        schema_overrides={"section": pl.String},
    )
    bounds = {
        f"{name}{end}": pl.col(name).cast(pl.Float64) for name in ("waits", "waits_pct") for end in ("_lo", "_hi")
    }
    return frame.with_columns(**bounds)


def test_histograms_are_merged_by_their_waits() -> None:
    """A report of many waits weighs more; other buckets are merged apart; shares that do not add up are left out."""
    found = merged_histograms(
        pl.concat(
            [
                histogram("a", 100, 90.0, 10.0),
                histogram("b", 300, 50.0, 50.0),
                histogram("c", 100, 50.0, 20.0),
                histogram("d", 50, 60.0, 40.0, edges=(0.0, 500.0)),
            ]
        ),
        [],
    )

    assert found.select("from_us", "reports", "waits", "waits_pct").rows() == [
        (0.0, 2, 400, 60.0),
        (1000.0, 2, 400, 40.0),
        (0.0, 1, 50, 60.0),
        (500.0, 1, 50, 40.0),
    ]
    assert (found["waits_pct_lo"] <= found["waits_pct"]).all()
    assert (found["waits_pct_hi"] >= found["waits_pct"]).all()


def test_the_page(dest: Path, tmp_path: Path) -> None:
    """The overview first, then each instance, folded; of many only the first, and the page says how many."""
    whole, few = fleet_html(dest), fleet_html(dest, most=1)
    done = CliRunner().invoke(iolab, ["report", str(dest), "-o", str(tmp_path / "page.html")])

    assert whole.count("<details") == 3
    assert whole.index("The greatest rise: HARBOR/harbor1") < whole.index("<details")
    assert "<code>filesystemio_options</code> NONE to SETALL" in whole
    assert few.count("<details") == 1
    assert "The 1 whose reads changed most, of 3." in few
    assert done.exit_code == 0
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == whole


def test_the_answer_of_the_notebook_is_computed() -> None:
    """The first cell states no figure; the first text that is computed names the greatest rise."""
    cells = json.loads((ROOT / "notebooks/09_fleet.ipynb").read_text(encoding="utf-8"))["cells"]
    outputs = [out.get("data", {}) for cell in cells if cell["cell_type"] == "code" for out in cell["outputs"]]
    said = next("".join(data["text/markdown"]) for data in outputs if "text/markdown" in data)

    assert not re.findall(r"\d", "".join(cells[0]["source"]))
    assert said.startswith("**The greatest rise: HARBOR/harbor1")
    assert "`filesystemio_options` NONE to SETALL" in said
