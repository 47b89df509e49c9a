"""Samples of sessions: Snapper of two generations, lists of polls, and what is not a sample."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import polars as pl
import pytest

from iolab import load
from iolab.metrics import session_shares
from iolab.pages.samples_summary import summarize_samples
from logframe import LogParseError
from logframe.loading import provenance
from sqlplusparse import SessionSamples, read_session_samples

if TYPE_CHECKING:
    from pathlib import Path

_RULE = "-" * 60


def _snapper(rows: list[tuple[float, str, str]], *, taken: int, total: str = "", table: int = 1) -> str:
    """Snapper 4: one snapshot; `table` tables of the same samples."""
    lines = [_RULE, "  ActSes   %Thread | INST | SQL_ID          | P1TEXT     | EVENT             | WAIT_CLASS", _RULE]
    for active, sql_id, event in rows:
        head = f"{active:8.2f}    ({100 * active:.0f}%)"
        kind = "ON CPU" if event == "ON CPU" else "User I/O"
        lines.append(f"{head} |    1 | {sql_id:15} | file#      | {event:17} | {kind}")
    end = f"--  End of ASH snap 1, end=2024-02-19 13:05:10, seconds=10, samples_taken={taken}{total}"
    return "\n".join([*lines * table, "", end, "", "PL/SQL procedure successfully completed.", ""])


def test_snapper_four() -> None:
    """Figures, their rounding, the count of samples, the window, and the heading that has no column."""
    log = read_session_samples(
        _snapper(
            [(2.35, "aaaaaaaaaaaa1", "direct path read"), (0.65, "b", "ON CPU")], taken=20, total=", AAS=3"
        ).encode()
    )
    first, second = log.samples.rows(named=True)

    assert (first["state"], first["event"], first["instance"]) == ("WAIT", "direct path read", 1)
    assert (second["state"], second["event"]) == ("CPU", None)
    assert (first["active_sessions_lo"], first["active_sessions_hi"]) == pytest.approx((2.345, 2.355))
    assert log.samples["session_samples"].to_list() == [47, 13]
    assert log.snaps.select("window_end", "window_s", "samples_taken").row(0) == (
        datetime(2024, 2, 19, 13, 5, 10),  # noqa: DTZ001 - a wall clock
        10.0,
        20,
    )
    assert log.others.select("column", "text").unique().rows() == [("P1TEXT", "file#")]
    assert log.diagnostics.is_empty()


def test_snapper_three() -> None:
    """A percentage beyond 100 % is several sessions; a count that rounding leaves open is null."""
    text = (
        "Active% | SQL_ID          | EVENT            | WAIT_CLASS\n"
        " 31400% | aaaaaaaaaaaa1   | library cache: x | Concurrency\n\n"
        "--  End of ASH snap 1, end=2011-02-10 11:06:40, seconds=5, samples_taken=23\n"
    )
    counted = read_session_samples(text.encode())
    open_count = read_session_samples(text.replace("taken=23", "taken=230").encode())

    assert counted.samples.select("active_sessions", "session_samples").row(0) == (314.0, 7222)
    assert open_count.samples["session_samples"].to_list() == [None]
    row = session_shares(counted).row(0, named=True)
    assert (row["value"], row["lo"], row["hi"]) == (1.0, None, None)
    assert "does not show" in row["caveats"]


@pytest.mark.parametrize("tables", [1, 2])
def test_shares_of_snapper(tables: int) -> None:
    """Rows of one event are added, further tables are not, and what is not shown widens lo and hi."""
    rows = [(3.0, "a", "direct path read"), (1.0, "b", "direct path read"), (1.0, "b", "ON CPU")]
    full = session_shares(read_session_samples(_snapper(rows, taken=20, total=", AAS=5", table=tables).encode()))
    part = session_shares(read_session_samples(_snapper(rows, taken=20, total=", AAS=10", table=tables).encode()))

    assert full.select("state", "samples", "value").rows() == [("direct path read", 80, 0.8), ("CPU", 20, 0.2)]
    assert full.item(1, "ci_lo") == pytest.approx(0.1334, abs=1e-3)
    assert part.select("state", "value").rows() == [("direct path read", 0.4), ("CPU", 0.1)]
    assert part.item(1, "lo") < 0.1
    assert part.item(1, "hi") > 0.5


def test_a_cut_snapshot_has_no_shares() -> None:
    """Rows without the number of samples are kept, diagnosed, and in no share."""
    text = _snapper([(2.0, "a", "ON CPU")], taken=20).split("--  End")[0]
    log = read_session_samples(text.encode())

    assert log.samples.height == 1
    assert log.diagnostics["kind"].to_list() == ["cut"]
    assert session_shares(log)["value"].to_list() == [None]


def _polls(states: list[tuple[str, str]], *, extra: str = "") -> bytes:
    rows = [
        f"2024-02-19 13:05:{number / 16:06.3f} , 4711 ,{state},{event},{extra}"
        for number, (state, event) in enumerate(states)
    ]
    return ("SAMPLE_TIME , SID , STATE , EVENT , MODULE\n" + "\n".join(rows) + "\n").encode()


def test_polls_that_never_met_a_wait() -> None:
    """A wait that has ended is time on CPU; no wait in n samples is less than 3/n, not none."""
    log = load(_polls([("WAITED SHORT TIME", "db file scattered read"), ("ON CPU", "")] * 160))
    assert isinstance(log, SessionSamples)
    shares = session_shares(log)

    assert log.samples["state"].unique().to_list() == ["CPU"]
    assert log.samples["event"].null_count() == 320
    assert log.others.filter(column="EVENT").height == 160
    assert shares["state"].to_list() == ["CPU", "any wait"]
    assert shares.item(1, "ci_hi") == pytest.approx(3 / 320, rel=0.01)
    assert summarize_samples(log).notes == (
        "No sample met a wait: waits had less than 0.93 % of the time, with 95 % confidence.",
    )


def test_polls_with_waits() -> None:
    """Shares of the samples; a row with too many values is not shifted into other columns."""
    log = read_session_samples(
        _polls([("WAITING", "log file sync")] * 3 + [("ON CPU", "")]) + b"x,4711,WAITING,a,b,c\n"
    )

    assert session_shares(log).select("state", "samples", "value").rows() == [
        ("log file sync", 3, 0.75),
        ("CPU", 1, 0.25),
    ]
    assert log.diagnostics["reason"].to_list() == ["6 values under 5 headings"]


def test_state_that_is_not_known() -> None:
    """A state of another script is kept as printed and is neither CPU nor wait."""
    log = read_session_samples(b"SAMPLE_ID,SID,STATE,EVENT\n1,7,SLEEPING,x\n")

    assert log.samples["state"].to_list() == [None]
    assert ("STATE", "SLEEPING") in log.others.select("column", "text").rows()


@pytest.mark.parametrize(
    "text",
    [
        _snapper([(1.0, "a", "ON CPU")], taken=10).replace("2024-02-19", "2024-13-45"),
        _snapper([(1.0, "a", "ON CPU")], taken=10).replace("1.00 ", "9" * 400 + ".00 "),
        _snapper([(1.0, "a", "ON CPU")], taken=10).replace("taken=10", "taken=" + "9" * 400),
        _snapper([(1.0, "a", "ON CPU")], taken=0),
        "SAMPLE_ID,SID,STATE,EVENT\n1,7,WAITING," + "x" * 200_000 + "\n2,7,WAITING,y\n",
        'SAMPLE_ID,SID,STATE,EVENT\n1,7,WAITING,"x\n2,' + "9" * 400 + ",WAITING,y\n",
        '"SAMPLE_ID, STATE, EVENT"\n1,7\n',
    ],
)
def test_damaged_logs(text: str) -> None:
    """A day that there is not, numbers beyond any figure, long values: a row, a diagnostic, or an error."""
    try:
        log = read_session_samples(text.encode())
    except LogParseError:
        return
    assert session_shares(log).height
    assert log.samples.height + log.diagnostics.height


def test_a_session_with_other_statements_is_a_session() -> None:
    """Snapper called at a prompt is samples; beside a query the log is a session, whose statements are not lost."""
    text = _snapper([(1.0, "a", "ON CPU")], taken=10)

    assert load(f"SQL> @snapper ash 10 1 all\n{text}".encode()).format == "session_samples"
    assert load(f"SQL> select 1 from dual;\n\nElapsed: 00:00:00.01\n\n{text}".encode()).format == "sqlplus"


@pytest.mark.parametrize("text", [b"", b"no table\n"])
def test_logs_without_samples(text: bytes) -> None:
    """What holds no samples is refused."""
    with pytest.raises(LogParseError):
        read_session_samples(text)


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "taken", "figures"),
    [("snapper_v433_ash.log", 17, {"WAIT": 118, "CPU": 1}), ("snapper_v3_ash_pct.log", 23, {"WAIT": 6836})],
)
def test_real_logs(corpus: Path, name: str, taken: int, figures: dict[str, int]) -> None:
    """Every row is read, its count of samples is recovered, and nothing is left over."""
    path = corpus / "os" / "session" / name
    if not path.is_file():
        pytest.skip("no session samples in the corpus")
    log = load(path)
    assert isinstance(log, SessionSamples)

    assert log.moments == taken
    assert dict(log.samples.group_by("state").agg(pl.col("session_samples").sum()).iter_rows()) == figures
    assert log.diagnostics.is_empty()


def test_an_end_at_no_time_is_a_diagnostic() -> None:
    """A date that does not exist is null, and its line is named."""
    log = read_session_samples(_snapper([(1.0, "a", "x")], taken=1).replace("2024-02-19", "2024-62-00").encode())

    assert log.snaps["window_end"].to_list() == [None]
    assert log.diagnostics.select("kind", "reason").rows() == [("damaged", "'2024-62-00 13:05:10' is no time")]


@pytest.mark.parametrize(
    ("printed", "damaged", "kind"),
    [
        ("13:05:10,", "13:05:100,", "damaged"),
        ("13:05:10,", ",", "damaged"),
        ("AAS=3", "AAS=1000000000000000000000000", "damaged"),
        ("AAS=3", "AAS=3x", "damaged"),
        ("(235%)", "(295%)", "contradiction"),
        ("2.35 ", "2.85 ", "contradiction"),
        ("snap 2", "snap 3", "cut"),
    ],
)
def test_figures_that_contradict_others_or_no_column_holds(printed: str, damaged: str, kind: str) -> None:
    """A figure is read whole or not at all, and each that the log prints twice is checked; all are accounted for."""
    snaps = [_snapper([(2.35, "a", "x"), (0.65, "b", "ON CPU")], taken=20, total=", AAS=3") for _ in range(2)]
    whole = snaps[0] + snaps[1].replace("snap 1", "snap 2")
    again = read_session_samples((whole + snaps[0]).encode())
    text = whole.replace(printed, damaged).encode()
    log = read_session_samples(text)

    assert again.diagnostics.is_empty()
    assert again.snaps.select("snap", "number").rows() == [(1, 1), (2, 2), (3, 1)]
    assert provenance(again, (whole + snaps[0]).encode()).filter(status="lost").is_empty()
    assert set(log.diagnostics["kind"]) == {kind}
    if kind == "damaged":
        assert log.snaps.select("window_end", "active_sessions").null_count().sum_horizontal().item() == 2
