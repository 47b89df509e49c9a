"""The real sessions: what is found in all of them, counted a second time by other means."""

import re
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from logframe import LogParseError, open_log
from sqlplusparse import Spool, read_spool, read_spools

pytestmark = pytest.mark.corpus

#: The second method: one expression for the shape of the line, over the text as it is.
ELAPSED = re.compile(
    r"^[ \t]*(?:--[ \t]*)?[^\W\d][^\d:\n|='\"(\[]{1,18}? ?:[ \t]+(\d{2,}) ?: ?([0-5]\d) ?: ?([0-5]\d\.\d{2,9})"
    r"[ \t]*(?:\*/)?\r?$",
    re.MULTILINE,
)
RECURSIVE = re.compile(r"^[ \t]*(\d+)[ \t]+recursive calls\b(?![ \t]+\d)", re.MULTILINE)
TPCH = re.compile(r"results/(?P<scale>\d+)/(?:(?P<trial>t\d)/)?testlog(?P<query>\d\d)\.md$")


@pytest.fixture(scope="module")
def folder(corpus: Path) -> Path:
    """The real sessions."""
    return corpus / "sqlplus"


@pytest.fixture(scope="module")
def sessions(folder: Path) -> dict[str, tuple[Spool | str, str]]:
    """Each file: its session, or what it was refused as; and its text."""
    found: dict[str, tuple[Spool | str, str]] = {}
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.name == "INDEX.tsv":
            continue
        text = open_log(path).text()
        try:
            found[str(path.relative_to(folder))] = read_spool(path), text
        except LogParseError as error:
            found[str(path.relative_to(folder))] = error.message, text
    return found


def read(sessions: dict[str, tuple[Spool | str, str]]) -> dict[str, tuple[Spool, str]]:
    """The files that are sessions."""
    return {name: (spool, text) for name, (spool, text) in sessions.items() if isinstance(spool, Spool)}


def test_files(sessions: dict[str, tuple[Spool | str, str]]) -> None:
    """Every file is a session, or refused by what it is."""
    refused = Counter(spool.split(":")[0] for spool, _ in sessions.values() if isinstance(spool, str))

    assert len(sessions) == 241
    assert refused == {
        "this is an extended SQL trace (event 10046)": 19,
        "no session": 14,
        "this is a TKPROF report": 4,
        "this is an AWR or Statspack report": 3,
        "this is a trace file of the database": 3,
        "several lines of a session run together in one; it is not read": 1,
    }


def test_every_elapsed_line(sessions: dict[str, tuple[Spool | str, str]]) -> None:
    """Every Elapsed line is found and none invented; a refused file has none."""
    total = 0
    for name, (spool, text) in sessions.items():
        seconds = [round(int(h) * 3600 + int(m) * 60 + float(s), 3) for h, m, s in ELAPSED.findall(text)]
        found = [] if isinstance(spool, str) else spool.timings["elapsed_s"].round(3).to_list()

        assert found == seconds, name
        total += len(seconds)
    assert total == 552


def test_every_autotrace_list(sessions: dict[str, tuple[Spool | str, str]]) -> None:
    """Every list of SQL*Plus has its eleven lines, but for one that an article shortened."""
    lists = short = 0
    for spool, _ in read(sessions).values():
        shown = (
            spool.autotrace.filter(pl.col("client") == "sqlplus").group_by("statement").agg(pl.col("is_shown").sum())
        )
        lists += shown.height
        short += shown.filter(pl.col("is_shown") != 11).height
    assert (lists, short) == (96, 1)


def test_autotrace_belongs_to_the_elapsed_before_it(sessions: dict[str, tuple[Spool | str, str]]) -> None:
    """The statistics of a statement go with the nearest Elapsed above them that no other statistics went with."""
    pairs = 0
    for name, (spool, text) in read(sessions).items():
        events = [(found.start(), "E", found) for found in ELAPSED.finditer(text)]
        events += [(found.start(), "S", found) for found in RECURSIVE.finditer(text)]
        expected = []
        last = None
        for _, kind, found in sorted(events, key=lambda event: event[0]):
            if kind == "E":
                last = round(int(found[1]) * 3600 + int(found[2]) * 60 + float(found[3]), 3)
            else:
                expected.append((last, int(found[1])))
                last = None
        traced = spool.statements.filter(
            pl.col("recursive_calls").is_not_null() & (pl.col("physical_reads").is_not_null())
        )
        sqlplus = spool.autotrace.filter(pl.col("is_shown") & (pl.col("name") == "recursive calls"))["statement"]
        paired = (
            traced.filter(pl.col("statement").is_in(sqlplus.to_list())).select("elapsed_s", "recursive_calls").rows()
        )
        if any(elapsed is not None for elapsed, _ in expected):
            assert paired == expected, name
            pairs += len(paired)
    assert pairs == 84


def test_every_line(sessions: dict[str, tuple[Spool | str, str]]) -> None:
    """Every physical line of every session has one mark; what is not read stands in the diagnostics."""
    parts: Counter[str] = Counter()
    for name, (spool, text) in read(sessions).items():
        lines = spool.lines()

        assert lines.height == len(text.split("\n")) - text.endswith("\n"), name
        refused = set(lines.filter(pl.col("part") == "diagnostic")["line"])
        assert refused <= set(spool.diagnostics["line"]), name
        parts.update(dict(lines.group_by("part").len().iter_rows()))
    assert set(parts) <= {"record", "non-record", "diagnostic"}
    assert parts["record"] > 20_000
    assert parts["diagnostic"] <= 30


def test_languages(sessions: dict[str, tuple[Spool | str, str]]) -> None:
    """Every label of the real sessions is known."""
    languages = pl.concat([spool.timings.select("language") for spool, _ in read(sessions).values()])

    assert dict(languages["language"].value_counts().iter_rows()) == {
        "en": 521,
        "de": 15,
        "zh_CN": 7,
        "ja": 4,
        "fr": 1,
        "es": 1,
        "pt": 1,
        "ko": 1,
        "ru": 1,
    }


def test_tables_can_be_read(sessions: dict[str, tuple[Spool | str, str]]) -> None:
    """Each grid becomes a frame with a row for each of its rows."""
    for name, (spool, _) in read(sessions).items():
        for table, count, is_folded in spool.tables.select("table", "row_count", "is_folded").iter_rows():
            assert is_folded or spool.table(table, printed=True).height == count, name


def test_rows_agree_with_feedback(sessions: dict[str, tuple[Spool | str, str]]) -> None:
    """The rows of a result are as many as the client says; where they are not, a diagnostic says so.

    In one log the author changed the number; 22 results were shortened by hand.
    """
    agreeing = 0
    reasons: Counter[str] = Counter()
    for spool, _ in read(sessions).values():
        counted = spool.statements.filter(
            (pl.col("kind") == "select") & (pl.col("rows") > 0) & pl.col("message").is_not_null()
        )
        single = spool.tables.filter(pl.col("statement").is_unique()).join(counted, on="statement", how="inner")
        noted = spool.diagnostics.filter(pl.col("kind") == "sum").select("line", "reason").rows()
        for first, last, rows in single.select("first_line", "last_line", "rows").rows():
            found = [reason for line, reason in noted if first <= line <= last]
            reasons.update(reason.rpartition("; ")[2] if "hand" in reason else f"{rows}" for reason in found)
            agreeing += not found
    shortened = reasons.pop("lines were left out by hand")

    assert (shortened, dict(reasons)) == (22, {"509": 1})
    assert agreeing >= 0.98 * (agreeing + reasons.total())
    assert agreeing >= 125


def test_tpch(folder: Path) -> None:
    """The TPC-H set as one frame: elapsed, plan hash, reads and gets by scale and trial; changed plans are flagged."""
    paths = [path for path in sorted(folder.rglob("testlog*.md")) if TPCH.search(path.as_posix())]
    frame = (
        read_spools(paths)
        .frame.filter(pl.col("physical_reads").is_not_null())
        .unique("source", keep="first", maintain_order=True)
        .with_columns(pl.col("source").str.extract_groups(TPCH.pattern.replace("(?P<", "(?<")).alias("key"))
        .unnest("key")
    )

    assert frame.height == len(paths)
    assert frame.select("elapsed_s", "plan_hash_value", "physical_reads", "gets", "recursive_calls").null_count().row(
        0
    ) == (
        0,
        0,
        0,
        0,
        0,
    )
    compared = frame.filter(pl.col("trial").is_in(["t1", "t2"]))
    plans = compared.group_by("scale", "query").agg(pl.col("plan_hash_value").n_unique().alias("plans"))
    changed = plans.filter(pl.col("plans") > 1).group_by("scale").agg(pl.col("query").sort()).sort("scale")
    assert compared["query"].n_unique() == 15
    assert changed.rows() == [("01", ["02", "05", "10", "12", "13"]), ("10", ["02", "05", "10", "12", "13"])]


def test_mutated_files(folder: Path) -> None:
    """Real sessions cut in half, without blanks or with lines doubled are read or refused, every line accounted for."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.stat().st_size < 60_000]
    for path in paths[::4]:
        data = open_log(path).text().encode()
        lines = data.split(b"\n")
        mutated = [data[: len(data) // 2], data[len(data) // 3 :], b"\n".join(line.strip() for line in lines)]
        mutated += [b"\n".join(line for line in lines for _ in range(2)), b"\n".join(lines[::-1])]
        for text in mutated:
            try:
                spool = read_spool(text)
            except LogParseError:
                continue
            refused = spool.lines().filter(pl.col("part") == "diagnostic")["line"]
            assert set(refused) <= set(spool.diagnostics["line"]), path
            spool.runs()
            assert spool.plans.height >= 0
