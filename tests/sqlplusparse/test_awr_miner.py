"""AWR-Miner: sections as time series, with the decimal mark of the whole file; no figure is lost."""

import random
import sys
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

import iolab
from fuzz.perturbation import GOOD, Perturbation
from iolab.evidence.time_lines import over_time
from logframe import open_log
from sqlplusparse import read_awr_miner

START = datetime.fromisoformat("2026-03-02 12:00")


def grid(headings: list[str], rows: list[list[str]]) -> list[str]:
    """A result with each column as wide as its widest cell, texts at the left."""
    widths = [max(10, *(len(row[place]) for row in [headings, *rows])) for place in range(len(headings))]
    lines = [" ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in [headings, *rows]]
    return [lines[0].rstrip(), " ".join("-" * width for width in widths), *(line.rstrip() for line in lines[1:])]


def miner(seed: int, decimal: str = ".") -> tuple[str, dict[tuple[str, int, int, str], float]]:
    """A made file, and its figures by section, snapshot, instance (0: all) and metric."""
    chance = random.Random(seed)  # noqa: S311 - test data
    figures: dict[tuple[str, int, int, str], float] = {}
    lines = ["~~BEGIN-OS-INFORMATION~~", *grid(["STAT_NAME", "STAT_VALUE"], [["DB_NAME", "MADE"], ["NUM_CPUS", "8"]])]
    lines += ["~~END-OS-INFORMATION~~", "Elapsed: 00:00:00.13", "", "~~BEGIN-MAIN-METRICS~~", ""]
    names = ["os_cpu", "aas", "read_mb_s", "write_mb_s"]
    rows = []
    for snap in range(1, chance.randrange(2, 9)):
        for instance in (1, 2):
            row = [round(chance.uniform(0, 900), 3) for _ in names]
            figures |= {("MAIN-METRICS", snap, instance, name): value for name, value in zip(names, row, strict=True)}
            end = START + timedelta(hours=snap, minutes=instance)
            printed = [f"{value:.3f}".removeprefix("0").replace(".", decimal) for value in row]
            rows.append([str(snap), "60", f"{end:%y/%m/%d %H:%M}", str(instance), *printed])
    lines += [*grid(["snap", "dur_m", "end", "inst", *names], rows), "", "~~END-MAIN-METRICS~~", ""]
    lines += ["~~BEGIN-SIZE-ON-DISK~~", "", *grid(["SNAP_ID", "SIZE_GB"], [["1", f"49{decimal}3"]])]
    figures["SIZE-ON-DISK", 1, 0, "size_gb"] = 49.3
    return "\n".join([*lines, "", "~~END-SIZE-ON-DISK~~", ""]), figures


@pytest.mark.parametrize("decimal", [".", ","])
def test_every_figure_has_its_snapshot(decimal: str) -> None:
    """A comma before three digits is a decimal mark, where another of the file can be nothing else."""
    for seed in range(20):
        text, figures = miner(seed, decimal)
        log = read_awr_miner(text.encode())
        read = log.series.select("section", "snap", pl.col("instance").fill_null(0), "metric", "value").rows()

        assert {tuple(row[:4]): row[4] for row in read} == pytest.approx(figures)
        assert log.setting("DB_NAME") == "MADE"
        assert log.diagnostics.is_empty()
        ends = log.series.filter(section="MAIN-METRICS").select("snap", "instance", "interval_end").unique().rows()
        assert all(end == START + timedelta(hours=snap, minutes=instance) for snap, instance, end in ends)


@pytest.mark.parametrize(("sign", "kind"), [("#", "overflow"), ("x", "damaged")])
def test_a_damaged_figure_is_named_and_its_neighbours_are_read(sign: str, kind: str) -> None:
    """One cell that is no figure makes no text of its column."""
    text, figures = miner(1)
    at = text.index("26/03/02 13:01") + len("26/03/02 13:01 1")
    start = next(place for place in range(at, len(text)) if text[place] != " ")
    end = text.index(" ", start)
    log = read_awr_miner((text[:start] + sign * (end - start) + text[end:]).encode())

    assert log.series.get_column("value").null_count() == 1
    assert log.series.height == len(figures)
    assert log.diagnostics["kind"].to_list() == [kind]


@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("seed", range(4))
def test_every_number_has_its_place(seed: int, decimal: str) -> None:
    """Each figure is a cell with its value, and another digit is another value of that cell and of no other."""
    text, figures = miner(seed, decimal)
    found = iolab.provenance(iolab.load(text.encode()), text.encode())
    values = found.filter(frame="series", frame_column="value")
    lost = found.filter(~pl.col("status").is_in(["typed", "text"]))

    assert lost.select("line", "text", "status").rows() == []
    assert sorted(float(f"0{one}".replace(",", ".")) for one in values["text"]) == pytest.approx(
        sorted(figures.values())
    )
    changed = [one.outcome for one in Perturbation(text, seed).run(60)]
    assert len(changed) > 20
    assert set(changed) <= set(GOOD)


def test_known_by_its_sections_and_drawn_over_time() -> None:
    """The registry reads it as its own format; a MB of the script has 2^20 bytes."""
    text, figures = miner(3)
    log = iolab.load(text.encode())
    drawn = over_time({"made": log})

    assert log.format == "awr_miner"
    assert set(drawn["panel"]) == {"processors busy (%)", "active sessions", "read (MB/s)", "written (MB/s)"}
    first = drawn.filter(panel="read (MB/s)", series="made instance 1").sort("begin").item(0, "value")
    assert first == pytest.approx(figures["MAIN-METRICS", 1, 1, "read_mb_s"] * 1.048576)


@pytest.mark.corpus
def test_no_row_of_a_real_file_is_lost(corpus: Path) -> None:
    """Each line between a ruler and the end of its section is a row of a frame."""
    paths = sorted((corpus / "os" / "awr_miner").glob("*.gz"))
    assert paths
    for path in paths:
        log = read_awr_miner(path)
        numbers = pl.concat([frame.select("line") for frame in log.frames().values()])["line"]
        assert set(rows_of(list(open_log(path).lines()))) <= set(numbers)


def rows_of(lines: list[str]) -> list[int]:
    """The numbers of the lines below a ruler within a section."""
    found: list[int] = []
    is_below = False
    for number, line in enumerate(lines, 1):
        if line.startswith("~~"):
            is_below = False
        elif line.startswith("---"):
            is_below = True
        elif is_below and line.strip():
            found.append(number)
    return found
