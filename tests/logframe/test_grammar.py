"""Grammars: one file, two engines, and the sentence that explains a refusal."""

import polars as pl
import pytest
from lark.exceptions import UnexpectedInput

from logframe import Grammar, explain, load_grammar

PRINTED = load_grammar("logframe", "printed.lark", "printed")


def write_package(folder, name: str, text: str) -> None:  # noqa: ANN001 - a pathlib.Path
    """A package that holds one grammar."""
    package = folder / name
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "g.lark").write_text(text, encoding="utf-8")


@pytest.fixture
def grammar(tmp_path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Grammar:  # noqa: ANN001 - a pathlib.Path
    """The grammar of the text that the test gives as its parameter, `start` and `other` its start rules."""
    name = f"package_of_{abs(hash(request.node.name))}"
    write_package(tmp_path, name, request.param)
    monkeypatch.syspath_prepend(tmp_path)
    return Grammar(name, "g.lark", "start", "other")


SMALL = """
// A sentence without a sample.
// sample: 12 apples
// sample: 7 pears
start: NUMBER _GAP (fruit | other)

// sample: apples
?fruit: WORD -> plain
      // sample: 3
      | NUMBER -> counted

other: "?" WORD

NUMBER: /[0-9]+/
WORD: /[a-z]+/
_GAP: / +/
"""


def test_loaded_once() -> None:
    """A grammar is built once a process, however many modules ask for it."""
    assert load_grammar("logframe", "printed.lark", "printed") is PRINTED
    assert PRINTED.parser is PRINTED.parser


def test_missing_file() -> None:
    """A grammar that a wheel forgot is a missing file, by name."""
    with pytest.raises(FileNotFoundError, match=r"no\.lark"):
        load_grammar("logframe", "no.lark")


@pytest.mark.parametrize("grammar", [SMALL], indirect=True)
def test_samples(grammar: Grammar) -> None:
    """Each sample goes with the rule or the alternative below it, and every one is accepted by some rule."""
    assert grammar.samples == [("start", "12 apples"), ("start", "7 pears"), ("plain", "apples"), ("counted", "3")]
    assert [str(grammar.parse(text).data) for rule, text in grammar.samples if rule == "start"] == ["start", "start"]
    assert grammar.parse("?pears", start="other").children == ["pears"]


@pytest.mark.parametrize("grammar", ["start: WORD\nother: WORD\nWORD: /(a|b)+/\n"], indirect=True)
def test_capturing_terminal_is_refused(grammar: Grammar) -> None:
    """A group within a terminal would move the groups of every template."""
    with pytest.raises(ValueError, match=r"g\.lark: write \(\?:\.\.\.\) instead of \(\.\.\.\) in WORD"):
        _ = grammar.terminals


def test_pattern() -> None:
    """Each place in a template is the terminal's own pattern; counts such as {2} are left alone."""
    assert PRINTED.pattern("^{DIGITS}x{2}$") == "^(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)x{2}$"
    with pytest.raises(KeyError, match="NOPE"):
        PRINTED.pattern("{NOPE}")


def test_expressions() -> None:
    """Polars reads with the terminals that Lark reads with."""
    frame = pl.DataFrame({"cell": ["12.5", "x", None]})
    found = frame.select(
        PRINTED.matches(pl.col("cell"), "^{DIGITS}").alias("is_number"),
        PRINTED.groups(pl.col("cell"), "^(?P<whole>{DIGITS})(?P<rest>{FRACTION})$").alias("parts"),
    )

    assert found.rows() == [
        (True, {"whole": "12", "rest": ".5"}),
        (False, {"whole": None, "rest": None}),
        (None, None),
    ]


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("12 apples", 4, "unit"),
        ("12.5 ", None, "unit"),
        ("?", 1, "absent"),
        ("-", None, None),
        ("", None, "digits"),
        ("1.2.3", 4, "exponent"),
    ],
)
def test_explain(text: str, column: int | None, expected: str | None) -> None:
    """The column counts from 1, None means the end, and the terminals are named as words."""
    if expected is None:
        assert PRINTED.parse(text).data == "absent"
        return
    with pytest.raises(UnexpectedInput) as caught:
        PRINTED.parse(text)
    found = explain(caught.value)

    assert (found[0], expected in found[1].split(", ")) == (column, True)


def test_explain_is_the_same_every_time() -> None:
    """What was expected is listed in one order: Lark keeps it in a set."""
    with pytest.raises(UnexpectedInput) as caught:
        PRINTED.parse("?")
    words = explain(caught.value)[1].split(", ")

    assert words == sorted(words)


@pytest.mark.parametrize(
    ("pattern", "is_refused"),
    [
        ('/a|b/ "c"', True),
        ('"c" SHORT', True),
        ("SHORT WORD?", True),
        (r"/\(|b/ WORD", True),
        ('/(?:a|b)/ "c"', False),
        ("SHORT | WORD", False),
        ("(SHORT | WORD) WORD", False),
        ("WORD SHORT?", False),
        (r"/[|(]\|/ WORD", False),
        ('("a" | "b") "c"', False),
    ],
)
def test_alternatives_beside_other_parts(pattern: str, is_refused: bool, tmp_path, monkeypatch) -> None:  # noqa: ANN001, FBT001 - fixtures of pytest, a parameter of the test
    """Lark joins parts without brackets: `/a|b/ "c"` would be a, or bc.  Such a terminal is refused."""
    name = f"package_of_alternatives_{abs(hash(pattern))}"
    write_package(tmp_path, name, f"start: X\nX: {pattern}\nWORD: /[a-z]/\nSHORT: /x|y/\n")
    monkeypatch.syspath_prepend(tmp_path)
    grammar = Grammar(name, "g.lark", "start")

    if is_refused:
        with pytest.raises(ValueError, match=r"\(\?:a\|b\).* in X"):
            _ = grammar.terminals
    else:
        assert grammar.terminals["X"]
