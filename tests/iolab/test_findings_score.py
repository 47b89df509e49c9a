"""Findings of real logs against what is expected of them: what must appear, must not, and must be refused."""

from __future__ import annotations

import csv
import re
from collections import Counter
from functools import cache
from pathlib import Path

import polars as pl
import pytest

import iolab

_NUMBER = re.compile(r"\d[\d,]*\.?\d*")
#: Rows of the list that are not met, with the reason.
_NOT_MET: dict[tuple[str, str], str] = {}


@cache
def _findings(paths: tuple[str, ...]) -> pl.DataFrame:
    logs = {path: iolab.load(Path(path)) for path in paths}
    return iolab.findings(logs if len(logs) > 1 else next(iter(logs.values())))


def _paths(corpus: Path, logs: str) -> tuple[str, ...]:
    """The files of a row; the second of a pair may be given relative to the folder above the first's."""
    names = logs.split(" + ")
    first = corpus / names[0]
    others = [corpus / name if (corpus / name).exists() else first.parents[1] / name for name in names[1:]]
    return tuple(map(str, (first, *others)))


def _numbers(text: str) -> list[tuple[float, float]]:
    """Each number with half a step of its last digit."""
    found = []
    for number in _NUMBER.findall(text):
        plain = number.replace(",", "").rstrip(".")
        found.append((float(plain), 0.5 * 10.0 ** -len(plain.partition(".")[2])))
    return found


def _shows(figure: str, rows: pl.DataFrame) -> bool:
    """Is one of the figure's numbers in a sentence, within its last digit or 1 %, in the same unit or a thousandth?"""
    wanted = [one for one in _numbers(figure) if one[0]]
    texts = (*rows["sentence"], *rows["detail"].drop_nulls())
    shown = [number * factor for text in texts for number, _ in _numbers(text) for factor in (1, 1e-3)]
    return not wanted or any(abs(one - two) <= max(half, 0.01 * one) for one, half in wanted for two in shown)


@pytest.mark.corpus
def test_expected_findings_appear_and_others_do_not(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every `yes` row appears with its figure, no `no` row appears in any form, every `refuse` row as a refusal."""
    table = corpus.parent / "findings_expected.tsv"
    if not table.is_file():
        pytest.skip("no list of expected findings beside the real logs")
    score: Counter[str] = Counter()
    missed = []
    with table.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            found = _findings(_paths(corpus, row["log"])).filter(pl.col("name") == row["finding"])
            refused = found.filter(pl.col("refused") | (pl.col("mark").cast(pl.String) == "evidence"))
            said = found.filter(~pl.col("refused"))
            expected = row["expected"]
            met = {
                "yes": said.height > 0 and _shows(row["figure"], said),
                "no": found.is_empty(),
                "refuse": refused.height > 0 and said.filter(pl.col("mark").cast(pl.String) != "evidence").is_empty(),
            }[expected]
            score[expected] += 1
            score[f"{expected} met"] += met
            if not met and (row["log"], row["finding"]) not in _NOT_MET:
                missed.append((row["log"], row["finding"], expected, row["figure"], found["sentence"].to_list()))
    with capsys.disabled():
        print("", *(f"{kind} {score[f'{kind} met']} of {score[kind]}" for kind in ("yes", "no", "refuse")), sep="\n")  # noqa: T201

    assert missed == []
