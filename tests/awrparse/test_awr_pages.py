"""HTML pages that went through other programs, and forms of tables that the older reports have."""

from awrparse import read_awr

WORD = """<html><head><title>AWR Report for DB: FIG, Inst: fig1, Snaps: 1-2</title></head><body>
<h1>WORKLOAD REPOSITORY report for</h1>
<h3>Top 5 Timed Foreground Events</h3>
<table class=MsoNormalTable><tr><td><p class=MsoNormal><b>Event<o:p></o:p></b></p></td><td><p><b>Waits</b></p></td></tr>
<tr><td><p class=MsoNormal>log file sync<o:p></o:p></p></td><td><p>1,234<o:p></o:p></p></td></tr></table>
<h3>Global Cache Transfer Stats</h3>
<table><tr><td>&nbsp;</td><td colspan=2>CR</td></tr><tr><td>Inst No</td><td>Blocks Received</td><td>% Immed</td></tr>
<tr><td>2</td><td>12</td><td>99.5</td></tr></table>
<p>Instance Efficiency Percentages (Target 100%)</p>
<table><tr><td>Buffer Nowait %:</td><td>99.99</td><td>Redo NoWait %:</td><td>100.00</td></tr></table></body></html>"""


def test_a_page_whose_headings_are_ordinary_cells() -> None:
    """Word and mail programs know no heading cells: the first row without figures has the headings."""
    report = read_awr(WORD.encode())

    assert report["top_events"].select("event", "waits").rows() == [("log file sync", 1234)]
    assert report.raw_tables.headings("Global Cache Transfer Stats") == ("Inst No", "CR Blocks Received", "CR % Immed")
    assert report["instance_efficiency"].rows() == [("Buffer Nowait %", 99.99), ("Redo NoWait %", 100.0)]


def test_average_waits_of_all_instances_in_111_and_112() -> None:
    """Reports of all instances head them `Avg(ms)` below `Wait Time`; later ones `Avg Wait`."""
    page = """<html><h1>WORKLOAD REPOSITORY REPORT (RAC)</h1><h3>Top Timed Events</h3><table>
<tr><th></th><th colspan=2>Wait</th><th>Event</th><th colspan=3>Wait Time</th></tr>
<tr><th>I#</th><th>Class</th><th>Event</th><th>Waits</th><th>Total(s)</th><th>Avg(ms)</th><th>%DB time</th></tr>
<tr><td>*</td><td>User I/O</td><td>db file sequential read</td><td>1,000</td><td>4.10</td><td>4.1</td><td>45.6</td></tr>
</table></html>"""

    found = read_awr(page.encode())["top_events"]

    assert found.select("event", "waits", "total_wait_s", "avg_wait_ms", "db_time_pct", "instance").rows() == [
        ("db file sequential read", 1000, 4.1, 4.1, 45.6, "*")
    ]
