"""A script that ran twice in one session says what changed from the first time to the second, or that nothing did."""

from __future__ import annotations

import pytest

import iolab

_RULE = "-" * 58


def _run(text: str, took: str, gets: int, plan: int) -> str:
    head = f"SQL> {text};\n\n1 row selected.\n\nElapsed: 00:00:{took}\n\n"
    head += f"Execution Plan\n{_RULE}\nPlan hash value: {plan}\n\n"
    counts = f"{0:>11}  db block gets\n{gets:>11}  consistent gets\n{0:>11}  physical reads\n{1:>11}  rows processed\n"
    return f"{head}\nStatistics\n{_RULE}\n{counts}\n"


_CHANGED = "Of 2 statements that ran twice, 1 changed: line 1 (740 ms to "


@pytest.mark.parametrize(
    ("took", "gets", "plan", "said"),
    [
        (
            "00.73",
            61_204,
            17,
            "2 statements ran twice with the same plans and gets, in about the same time: 1.13 s, then",
        ),
        (
            "04.73",
            900_204,
            28,
            f"{_CHANGED}4.73 s, plan `17` to `28`, 61,204 to 900,204 gets); between them `alter sess",
        ),
        ("00.75", 61_204, 28, f"{_CHANGED}750 ms, plan `17` to `28`)"),
        ("04.73", 61_204, 17, ""),
        ("00.73", 64_904, 17, ""),
    ],
)
def test_the_second_run_of_a_script(took: str, gets: int, plan: int, said: str) -> None:
    """Other plans or gets are a change; other times alone are not, and few more gets may be of parsing."""
    one, two = "select sum(a) from t", "select max(b) from u"
    before = _run(one, "00.74", 61_204, 17) + _run(two, "00.39", 18_844, 9)
    change = "SQL> alter session set optimizer_mode = all_rows;\n\nSession altered.\n\nElapsed: 00:00:00.00\n\n"
    log = before + change + _run(one, took, gets, plan) + _run(two, "00.40", 18_844, 9)
    found = iolab.findings(log.encode())
    alike = found.filter(name="runs_alike").get_column("sentence").to_list()
    assert [one[: len(said)] for one in alike] == [said] * bool(said)
    assert (found.item(0, "name") == "runs_alike") is said.startswith("2 statements")
    assert not alike or "first_run_slower" not in found.get_column("name")


def test_statements_that_ran_twice_in_turns_are_no_script() -> None:
    """Two runs of one statement right after each other compare nothing that was changed between them."""
    runs = [
        _run(text, "00.74", 61_204, 17) for text in ("select sum(a) from t", "select max(b) from u") for _ in range(2)
    ]
    assert iolab.findings("".join(runs).encode()).filter(name="runs_alike").is_empty()


@pytest.mark.parametrize(("reads", "is_timed"), [(0, True), (9, False)])
def test_idle_waits_of_a_session_do_not_lead(reads: int, *, is_timed: bool) -> None:
    """A listing of waits that are all idle is no account beside the times of statements."""
    query = "select event, total_waits, time_waited/100 secs from v$session_event where sid = userenv('sid')"
    events = ("SQL*Net message from client", 64, 41.2), ("db file sequential read", 31, reads)
    rows = "".join(f"{event:30} {count:>11} {time:>10.2f}\n" for event, count, time in events)
    waits = f"SQL> {query};\n\n{'EVENT':30} TOTAL_WAITS       SECS\n{'-' * 30} ----------- ----------\n{rows}\n"
    lead = iolab.ledgers((_run("select sum(a) from t", "01.74", 61_204, 17) + waits).encode())[0]
    assert (lead.base == "timed statements") is is_timed
