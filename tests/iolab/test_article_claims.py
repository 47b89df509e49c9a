"""Claims of the source articles that their own figures contradict."""

from pathlib import Path

import polars as pl
import pytest

from awrparse import read_awr
from iolab import metrics
from iolab.cli import main
from iolab.comparison import SampleError, compare_medians
from sqlplusparse import read_session_samples

ARTICLES = Path(__file__).parents[2] / "sample_data" / "articles"


@pytest.mark.parametrize(("name", "share", "most"), [("setall", 0.0095, 0.01), ("none", 0.0385, 0.04)])
def test_the_processors_were_idle(name: str, share: float, most: float) -> None:
    """The claim "choked by CPU": sessions used below 1 % of one CPU with SETALL, and below 4 % with NONE."""
    report = read_awr(ARTICLES / f"003_filesystemio_{name}.txt")
    row = report.with_bounds("top_events").filter(pl.col("event") == "DB CPU").row(0, named=True)
    seconds = metrics.Interval(row["total_wait_s"], row["total_wait_s_lo"], row["total_wait_s_hi"])
    elapsed = metrics.figure_of(metrics.elapsed(report.with_bounds("wait_classes")))
    assert elapsed is not None

    used = seconds / elapsed

    assert used.value == pytest.approx(share, abs=5e-4)
    assert used.hi < most


#: Article 000 sampled its session sixteen times a second; the asynchronous statement took 5.714 s.
POLLS_A_RUN = int(5.714 * 16)


def polls(number: int, *waits: int) -> bytes:
    """Samples of one session that was on CPU, but for those named."""
    rows = [f"{one},42,{'WAITING,direct path read' if one in waits else 'ON CPU,'}" for one in range(number)]
    return "\n".join(["SAMPLE_ID,SID,STATE,EVENT", *rows, ""]).encode()


@pytest.mark.parametrize(("runs", "most"), [(1, 0.033), (31, 0.00107)])
def test_a_wait_that_was_never_seen_may_have_been(runs: int, most: float) -> None:
    """Article 000, "never once saw a wait event": waits may be 3 % of one run (0.19 s), and 0.1 % of 31 runs."""
    shares = metrics.session_shares(read_session_samples(polls(runs * POLLS_A_RUN)))
    never = shares.filter(state="any wait").row(0, named=True)

    assert (never["value"], never["ci_hi"]) == (0.0, pytest.approx(most, rel=0.02))


def test_one_wait_among_the_samples_is_seen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One sample in a wait is a share with an interval, and waits are not said to be unseen; also by `iolab show`."""
    log = tmp_path / "samples.csv"
    log.write_bytes(polls(POLLS_A_RUN, 17))
    shares = metrics.session_shares(read_session_samples(log))

    assert shares["state"].to_list() == ["CPU", "direct path read"]
    wait = shares.row(1, named=True)
    assert wait["ci_lo"] < 1 / POLLS_A_RUN == wait["value"] < wait["ci_hi"]
    assert main(["show", "--figures", str(log)]) == 0
    assert "direct path read" in capsys.readouterr().out


def test_published_medians_have_an_effect_and_no_test() -> None:
    """Article 000 gives medians of 31 runs: 18.2 % less time, and no p value can be computed from them."""
    found = compare_medians(6.910, 5.654, n=(31, 31), names=("buffered", "direct"))

    assert found.pct_less_time.value == pytest.approx(18.18, abs=0.01)
    assert not hasattr(found, "p_values")
    with pytest.raises(SampleError):
        compare_medians(float("nan"), 5.654, n=(31, 31))
