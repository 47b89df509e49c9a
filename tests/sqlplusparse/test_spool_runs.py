"""Repeated runs: samples by text, by shape where nothing is echoed, by label for timings that scripts print."""

from pathlib import Path

import pytest

from sqlplusparse import read_spool

DATA = Path(__file__).parent / "spool_data"
LOOP = r"run \d+ (?P<label>\w+) took (?P<seconds>[\d.]+) seconds"

SERIES = {
    "002_linux.txt": [9.16, 9.17, 9.28, 9.18, 9.20],
    "002_hpux.txt": [63.27, 19.23, 19.28, 19.35, 19.43],
    "002_linux_directio.txt": [72.03, 66.69, 72.98, 70.14, 67.21],
}


@pytest.mark.parametrize(("name", "elapsed"), SERIES.items())
def test_article_002(sample_data: Path, name: str, elapsed: list[float]) -> None:
    """Each series of article 002 is one sample of five runs, 0.01 s resolution, flushed before every run."""
    runs = read_spool(sample_data / "articles" / name).runs()

    assert runs["elapsed_s"].to_list() == elapsed
    assert runs["run"].to_list() == [1, 2, 3, 4, 5]
    assert runs.select("sample", "resolution_s", "flushed_before").unique().rows() == [(1, 0.01, "buffer_cache")]


def test_changed_plan() -> None:
    """A rerun with ``/`` is a run of the same statement; another plan hash is flagged."""
    runs = read_spool(DATA / "english.log").runs()

    columns = ("sample", "run", "elapsed_s", "physical_reads", "recursive_calls", "is_plan_changed", "flushed_before")
    assert runs.select(columns).rows() == [
        (1, 1, 11.54, 1096001, 5, False, "buffer_cache"),
        (1, 2, 3.2, 0, 0, True, None),
    ]


def test_series_without_text() -> None:
    """Elapsed lines alone are samples, one for each series between two pieces of prose."""
    assert read_spool(DATA / "article.txt").runs().select("sample", "run", "elapsed_s").rows() == [
        (1, 1, 63.27),
        (1, 2, 19.23),
        (2, 1, 9.16),
        (2, 2, 9.17),
        (2, 3, 9.28),
    ]


def test_shape_of_output() -> None:
    """Where nothing is echoed, statements with the same output are runs; what only sets the stage is none."""
    assert read_spool(DATA / "unechoed.log").runs().select("sample", "kind", "elapsed_s").rows() == [
        (1, "select", 63.27),
        (1, "select", 19.23),
        (1, "select", 19.28),
    ]


def test_period() -> None:
    """With a period, every so-manieth statement is a run of the same one."""
    log = "".join(f"Elapsed: 00:00:0{number}.00\n" for number in range(1, 7)).encode()

    runs = read_spool(log).runs(period=2)
    assert runs.select("sample", "run", "elapsed_s").rows() == [
        (1, 1, 1.0),
        (1, 2, 3.0),
        (1, 3, 5.0),
        (2, 1, 2.0),
        (2, 2, 4.0),
        (2, 3, 6.0),
    ]


def test_timings_of_a_loop() -> None:
    """A pattern of the caller's reads the timings that a loop prints: two samples of 31."""
    spool = read_spool(DATA / "loop.log", timing_pattern=LOOP)

    runs = spool.runs()
    assert runs.group_by("sample", "text", maintain_order=True).len().rows() == [(1, "buffered", 31), (2, "direct", 31)]
    assert runs.row(0)[6:10] == (6.901, 6.9005, 6.902, 0.001)
    assert spool.statements.select("elapsed_s", "kind").rows() == [(390.11, "plsql")]
    assert spool.lines()["role"].to_list().count("timing") == 62
    assert read_spool(DATA / "loop.log").runs().height == 0


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("select 1 from DUAL;", "SELECT  1   from dual;"),
        ("select 'a' from dual;", "select 'a'\n  2  from dual;"),
        ("exec p", "exec p;"),
    ],
)
def test_same_text(first: str, second: str) -> None:
    """Blanks, case and the mark at the end make no other statement."""
    log = f"SQL> {first}\n\nElapsed: 00:00:01.00\nSQL> {second}\n\nElapsed: 00:00:02.00\n".encode()

    assert read_spool(log).runs().height == 2


def test_literals_differ() -> None:
    """Case within quotes makes another statement."""
    log = b"SQL> select 'A' from dual;\n\nElapsed: 00:00:01.00\nSQL> select 'a' from dual;\n\nElapsed: 00:00:02.00\n"

    assert read_spool(log).runs().height == 0
    assert read_spool(log).runs(min_runs=1).height == 2


def test_unknown_way() -> None:
    """A way to group runs that does not exist is refused."""
    with pytest.raises(ValueError, match="text, shape and label"):
        read_spool(DATA / "english.log").runs(by="colour")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="1 or more"):
        read_spool(DATA / "english.log").runs(period=0)
