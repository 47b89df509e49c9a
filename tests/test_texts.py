"""Every sentence that a person reads: its length, its words, its digits, and what to do next (docs/glossary.md)."""

from __future__ import annotations

import ast
import doctest
import importlib
import json
import pkgutil
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl
import pytest

import iolab
import iolab.rules
from iolab.pages.findings_html import ONE_LINE, in_one_line
from iolab.rules.finding import meanings
from iolab.rules.registry import RULES
from logframe import LogError

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[1]
PACKAGES: Final = ("logframe", "awrparse", "straceparse", "sqlplusparse", "sqltraceparse", "hostparse", "iolab")
#: A sentence has at most so many words; names of the log and figures are a word each.
MOST_WORDS: Final = 25
#: Words that a reader stumbles over, and what to write.
STUMBLING: Final = {
    re.compile(pattern): better
    for pattern, better in {
        r"(?<!of )\ba second(?= of\b|[.,;:)]|$)": "per second",
        r"\b(?:is|are) none\b": "is not one, does not have any",
        r"\bof nothing\b": "the base",
        r"\bnone of both\b": "neither",
        r"\b(?:is|are) said\b": "is reported",
        r"\bsays? nothing\b": "does not show",
        r"\bthe size of none\b": "mixed",
        r"\bas one that\b": "like",
        r"\b[Ss]o (?:many|much|few) ": "this many, at most",
        r"\ban hour that was different\b": "a different hour",
        r"\bof an even time\b": "constant",
    }.items()
}
_QUOTED: Final = re.compile(r"`[^`]*`|\([^()]*\)|'[^']*'")
_FIGURE: Final = re.compile(r"\d[\d,.:]*(?: [%]| [kKMGT]?i?B(?:/s)?| [mun]?s| min| h)?")
#: What to do next begins with a verb or is a command, not with the thing that is looked at.
_NOUN: Final = re.compile(r"(?i)(?:the|an?|its|all|both|what|which|whos?e?|why|where|how|when|reports?|statements)\b")
_END: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z`])")
#: A number of four significant digits or more, with a decimal point.
_DIGITS: Final = re.compile(r"(?<![\w.,:-])(?!0\.0*\d{1,3}(?!\d))(?=[\d,.]*\.\d)(?:\d[\d,]*\.\d+)(?![\d.:])")


def sentences(text: str) -> list[str]:
    """The sentences of a text; names of the log and figures are one word each."""
    return _END.split(text.strip())


def words(sentence: str) -> int:
    """How many words a sentence has.

    Names in code font, figures with their unit, and what stands in brackets are one word each.
    """
    return len(_FIGURE.sub("9", _QUOTED.sub("x", sentence)).split())


def faults(text: str) -> list[str]:
    """What a text does against the rules of language."""
    plain = _QUOTED.sub("x", text)
    found = [f"write {better}" for pattern, better in STUMBLING.items() if pattern.search(plain)]
    found += ["two semicolons" for one in sentences(plain) if one.count(";") > 1]
    return found + [f"{words(one)} words" for one in sentences(text) if words(one) > MOST_WORDS]


def faults_of(found: pl.DataFrame) -> list[tuple[str, str]]:
    """The faults of the texts of findings; on a page each sentence begins with one line, but for long names."""
    wrong = []
    for row in found.iter_rows(named=True):
        texts = [row[name] for name in ("sentence", "detail", "caveat") if row[name]]
        wrong += [(fault, text) for text in texts for fault in faults(text)]
        head = _QUOTED.sub(lambda name: name[0].strip("`")[:20], in_one_line(row["sentence"])[0])
        wrong += [("longer than a line", row["sentence"])] if len(head) > ONE_LINE else []
        is_weighty = row["mark"] in {"major", "cannot tell", "evidence"}
        if is_weighty and not row["next"]:
            wrong.append(("no next", row["sentence"]))
        if row["next"] and _NOUN.match(row["next"]):
            wrong.append(("next begins with no verb or command", row["next"]))
        long = [one for one in _DIGITS.findall(_QUOTED.sub("x", row["sentence"])) if digits(one) > 3]
        if long and row["name"] not in EXACT:
            wrong.append((f"digits {long}", row["sentence"]))
    return wrong


#: Findings that cite figures as the log prints them, because they contradict each other, or as the total of a ledger.
EXACT: Final = {"impossible_figure", "no_total", "total", "trace_clock", "evidence_agrees", "evidence_mismatch"}


def digits(number: str) -> int:
    """How many significant digits a number has."""
    return len(number.replace(",", "").replace(".", "").lstrip("0"))


def findings_of(folder: Path, step: int = 1) -> Iterator[tuple[str, pl.DataFrame]]:
    """The findings of the logs of a folder."""
    for path in sorted(folder.rglob("*"))[::step]:
        if path.is_file() and path.suffix not in {".md", ".py", ".tsv", ".json"}:
            try:
                logs = iolab.load_all(path)
            except LogError:
                continue
            for log in logs:
                yield path.name, iolab.findings(log)


def test_faults_are_recognised() -> None:
    """Each rule of language finds what it is for, and accepts what is right."""
    bad = ("854 waits a second.", "Its share is of nothing.", "a; b; c.", " ".join(["word"] * 26), "So many rows.")
    good = (
        "854 waits per second.",
        f"{' '.join(['word'] * 23)} 12.1 ms (and more).",
        "In a second log",
        "`a second.` x",
    )

    assert all(faults(text) for text in bad)
    assert [fault for text in good for fault in faults(text)] == []
    frame = pl.DataFrame(
        {"name": "x", "mark": "major", "detail": "", "caveat": "", "next": "", "sentence": "It took 1.234 s."}
    )
    assert [fault for fault, _ in faults_of(frame)] == ["no next", "digits ['1.234']"]
    noun = faults_of(frame.with_columns(next=pl.lit("The devices: iostat -xt 5")))
    assert [fault for fault, _ in noun] == ["next begins with no verb or command", "digits ['1.234']"]


def test_findings_of_samples_are_plain(sample_data: Path) -> None:
    """No finding of the sample logs breaks a rule of language, and each major one says what to do next."""
    wrong = {(fault, text) for _, found in findings_of(sample_data) for fault, text in faults_of(found)}

    assert sorted(wrong) == []


@pytest.mark.corpus
@pytest.mark.parametrize("kind", ["awr", "os", "sqlplus", "sqltrace", "strace"])
def test_findings_of_real_logs_are_plain(corpus: Path, kind: str, *, is_whole: bool) -> None:
    """The same of real logs: of one in seven."""
    found = list(findings_of(corpus / kind, 1 if is_whole else 7))

    assert len(found) > 3
    assert sorted({one for _, frame in found for one in faults_of(frame)}) == []


def _shown_by_doctests() -> Iterator[tuple[str, str]]:
    """Sentences that the doctests of the packages print."""
    for path in (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                continue
            for example in doctest.DocTestParser().get_examples(ast.get_docstring(node) or ""):
                for line in example.want.splitlines():
                    if re.fullmatch(r"[A-Z`\d].* .*\.", line.strip()):
                        yield str(path.relative_to(ROOT)), line.strip()


def test_sentences_of_doctests_are_plain() -> None:
    """Nor does a sentence that an example prints."""
    assert sorted({(where, one, text) for where, text in _shown_by_doctests() for one in faults(text)}) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_code_has_no_stumbling_words(package: str) -> None:
    """Neither docstrings, messages and comments of a package nor its grammars use a phrase that LANGUAGE replaces."""
    wrong = []
    for path in sorted(one for one in (ROOT / package).rglob("*") if one.suffix in {".py", ".lark"}):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            wrong += [
                f"{path.relative_to(ROOT)}:{number} {better}"
                for pattern, better in STUMBLING.items()
                if pattern.search(line)
            ]

    assert wrong == []


def _prose(page: str) -> Iterator[str]:
    """The paragraphs and list items of a page, without code, tables and quotations of the program."""
    text = re.sub(r"```.*?```", "", page, flags=re.DOTALL)
    for block in re.split(r"\n\s*\n|\n(?=[*-] |\d+\. )", text):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(block.split()))
        if plain and not plain.startswith(("|", "#", "<", ">", "!")) and not block.startswith("    "):
            yield plain.removeprefix("- ").removeprefix("* ")


def _pages() -> dict[str, str]:
    """The texts of the documentation, of the notebooks and of the findings' meanings, by name."""
    files = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    pages = {path.name: path.read_text(encoding="utf-8") for path in files if path.name not in MADE}
    pages["sample_data/README.md"] = (ROOT / "sample_data" / "README.md").read_text(encoding="utf-8")
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        pages[path.name] = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    for name, meaning in meanings().items():
        pages[name] = f"{meaning.matters}\n\n{meaning.caution}\n\n{meaning.says}"
    return pages


#: Pages made of docstrings and tables.
MADE: Final = {"awr_tables.md", "chart_list.md", "findings.md", "frames.md", "metrics.md"}


@pytest.mark.parametrize("page", sorted(_pages()))
def test_documentation_is_plain(page: str) -> None:
    """No sentence of the documentation is too long, a list behind a colon apart, or has a phrase to stumble over."""
    texts = [one for block in _prose(_pages()[page]) for one in re.split(r"(?<=[.!?])\s+(?=[A-Z`*])|: ", block)]

    assert [(fault, one) for one in texts for fault in faults(one)] == []


def test_every_finding_has_a_meaning() -> None:
    """Each registered finding says why it matters, what would refute it and what to do next; no other name is there."""
    for module in pkgutil.iter_modules(iolab.rules.__path__, "iolab.rules."):
        importlib.import_module(module.name)
    names = {name for one in RULES if one.of != "doctest" for name in (one.name, *one.says)}

    assert names - meanings().keys() == set()
    assert [name for name, one in meanings().items() if not (one.matters and one.refuted_by and one.next)] == []
    assert [name for name, one in meanings().items() if name not in names and not one.says] == []


def test_one_word_for_one_thing() -> None:
    """No text uses a word that the glossary replaces with another."""
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    instead = re.findall(r"^\| ([^|]+) \| [^|]+ \| ([^|]+) \|$", glossary, re.MULTILINE)[2:]
    words_of = {word.strip(): term.strip() for term, others in instead for word in others.split(",") if word.strip()}

    assert len(words_of) > 10
    wrong = []
    for name, text in _pages().items():
        plain = " ".join(_prose(text)).lower() if name != "glossary.md" else ""
        wrong += [(name, word, term) for word, term in words_of.items() if re.search(rf"\b{word}s?\b", plain)]
    assert wrong == []
