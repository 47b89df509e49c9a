"""Where pages break: between the figures of a statement and its module, within a note, within a tag."""

from awrparse import read_awr

HEADS = """SQL ordered by CPU Time                        DB/Inst: FIG/fig1  Snaps: 10-11
-> %Total - CPU Time      as a percentage of Total DB CPU

    CPU                   CPU per           Elapsed
  Time (s)  Executions    Exec (s) %Total   Time (s)   %CPU    %IO    SQL Id
---------- ------------ ---------- ------ ---------- ------ ------ -------------
"""
END = "          -------------------------------------------------------------\n"


def test_a_page_ends_between_the_figures_and_the_module() -> None:
    """The module on the next page is the module, and no part of the statement."""
    text = (
        f"{HEADS}       3.8            2       1.91    1.1       23.2   16.5     .9 0w26sk6t6gq98\n"
        f"\f\n{HEADS}Module: MMON_SLAVE\nselect 1 from dual\n\n"
        "       2.5            5       0.50    0.7        3.0   83.3     .0 1w26sk6t6gq98\n"
        f"select Module: from plums\n\n{END}"
    )

    report = read_awr(text.encode())

    assert report["sql"].select("sql_id", "module", "sql_text").rows() == [
        ("0w26sk6t6gq98", "MMON_SLAVE", "select 1 from dual"),
        ("1w26sk6t6gq98", None, "select Module: from plums"),
    ]
    assert report.diagnostics.is_empty()


def test_a_note_that_blank_lines_tear_apart() -> None:
    """The end of a note is no title: the table keeps the title of its section."""
    text = (
        "Latch Sleep Breakdown                          DB/Inst: FIG/fig1  Snaps: 10-11\n"
        "-> Ordered by 'Sleeps', and where they are equal by the order\n\n\n"
        "      of 'Misses'\n"
        "-> only latches with sleeps are shown\n\n"
        "                                       Get                                 Spin\n"
        "Latch Name                        Requests       Misses      Sleeps        Gets\n"
        "-------------------------- --------------- ------------ ----------- -----------\n"
        f"cache buffers chains             1,234,567        1,234          12       1,222\n{END}"
    )

    report = read_awr(text.encode())

    assert list(report.raw_tables) == ["Latch Sleep Breakdown"]
    assert report["latch_sleeps"]["spin_gets"].to_list() == [1222]
    assert report.raw_tables.notes("Latch Sleep Breakdown")[0].endswith("by the order of 'Misses'")


def test_a_page_cut_behind_the_tag_of_a_row() -> None:
    """A row without cells is no row: the table is there, empty, and the diagnostics say that nothing ends it."""
    head = "<html><head><title>AWR Report for DB: FIG, Inst: fig1, Snaps: 10-11</title></head><body>"
    for rows in ("<tr>", "<tr></tr><tr>", ""):
        page = f'{head}<h3>Instance CPU</h3><table summary="Instance CPU">{rows}'
        report = read_awr(page.encode())

        assert report.raw_tables["Instance CPU"].height == 0
        assert report["instance_cpu"].height == 0
        assert report.diagnostics["kind"].to_list() == ["cut"]
