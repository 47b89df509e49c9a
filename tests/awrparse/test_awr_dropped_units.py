"""A unit that Oracle left out where the column was full is proved by the waits of the event, or the figure is null."""

from pathlib import Path

import polars as pl
import pytest

import awrparse

REPORT = (Path(__file__).parent / "awr_data" / "valid" / "awr_text_11204.txt").read_text(encoding="utf-8")
BELOW = "Operating System Statistics - Detail"
EVENTS = """
{title} Wait Events                           DB/Inst: PLUM/plum1  Snaps: 7-8

                                                             Avg
                                        %Time Total Wait    wait    Waits   % {of}
Event                             Waits -outs   Time (s)    (ms)     /txn   time
-------------------------- ------------ ----- ---------- ------- -------- ------
{event:26} {waits:>12,}     0      1,100       1     90.0   33.3
                          ------------------------------------------------------
"""
HISTOGRAM = """
Wait Event Histogram                             DB/Inst: PLUM/plum1  Snaps: 7-8
-> Units for Total Waits column: K is 1000, M is 1000000, G is 1000000000

                                                    % of Waits
                                 -----------------------------------------------
                           Total
Event                      Waits  <1ms  <2ms  <4ms  <8ms <16ms <32ms  <=1s   >1s
-------------------------- ----- ----- ----- ----- ----- ----- ----- ----- -----
{event:26} {printed:>5}   2.1   2.9  95.0
log file sync               12.4  50.0  50.0
                          ------------------------------------------------------

"""


def read(event: str, foreground: int, background: int, printed: str) -> awrparse.AwrReport:
    """A report with one event in its three tables, the number of its waits in the histogram as given."""
    tables = [
        EVENTS.format(title="Foreground", of="DB", event=event, waits=foreground),
        EVENTS.format(title="Background", of="bg", event=event, waits=background),
        HISTOGRAM.format(event=event, printed=printed),
    ]
    before, _, after = REPORT.partition(BELOW)
    return awrparse.read_awr(f"{before}{''.join(tables)}{BELOW}{after}".encode(), printed=True)


@pytest.mark.parametrize("event", ["direct path read temp", "control file parallel writ"])
@pytest.mark.parametrize(
    ("foreground", "background", "printed", "value"),
    [
        (520_000, 1_366, "521.6", (521_600, 521_550, 521_650)),
        (100_000, 20, "100.1", (100_100, 100_050, 100_150)),
        (4_000_000, 120_000_000, "123.9", (123_900_000, 123_850_000, 123_950_000)),
        (520_000, 1_366, "521K", (521_000, 520_500, 521_500)),
    ],
)
def test_waits_of_other_tables_prove_the_unit(
    event: str, foreground: int, background: int, printed: str, value: tuple[float, float, float]
) -> None:
    """Foreground and background waits together are the figure with one of the units, and a diagnostic says so."""
    report = read(event, foreground, background, printed)
    rows = report["event_histogram"].filter(event_printed=event)
    about = report.diagnostics.filter(text=printed)

    assert rows.select("waits", "waits_lo", "waits_hi").unique().rows() == [value]
    assert report.with_bounds("event_histogram").filter(event_printed=event)["waits_lo"].unique().to_list() == [
        value[1]
    ]
    assert about["kind"].to_list() == ([] if printed.endswith("K") else ["repaired"])


@pytest.mark.parametrize(("foreground", "printed"), [(300, "521.6"), (52_000, "521.6"), (700_000, "521.6")])
def test_no_unit_without_a_proof(foreground: int, printed: str) -> None:
    """Where the waits fit no unit, or the event is in no other table, the figure is null and named."""
    report = read("direct path read temp", foreground, 0, printed)
    named = report.diagnostics.filter(pl.col("reason").str.contains("event_histogram.waits"))

    assert report["event_histogram"]["waits"].drop_nulls().to_list() == []
    assert dict(named.select("text", "kind").rows()) == {printed: "no_value", "12.4": "no_value"}
