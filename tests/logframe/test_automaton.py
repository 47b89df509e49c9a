"""Automata: the verdict of `re` on every line, whatever the pattern; what cannot be compiled is named."""

import re

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from logframe import load_grammar
from logframe.automaton import Automaton, AutomatonError, build_automaton
from logframe.classify import Classifier
from logframe.nfa import byte_paths

ALPHABET = 'ab1_ .K\\"\té\u20ac\U0001f600\u017f\u212a\x00\x7f\x80\ud7ff\ue000'
TEXTS = st.text(alphabet=ALPHABET, max_size=8)
CLASSES = (r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", ".", "[ab]", "[^ab]", "[^é]", "[a-z€]", r"[\w-]", r"[^\d\s]")
EDGES = ("^", "$", r"\A", r"\Z", r"\b", r"\B")
AROUND = (
    "(?=a)",
    "(?!a)",
    "(?<=b)",
    "(?<! )",
    r"(?=\w)",
    r"(?!\w)",
    r"(?<!\d)",
    "(?=[^a])",
    "(?=a|$)",
    "(?<![é\u0080-\U0010ffff])",
)


def _extended(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    counts = st.sampled_from(["*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "+?", "??", "{1,3}?"])
    return st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda pair: f"(?:{pair[0]}|{pair[1]})"),
        st.tuples(inner, counts).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
        inner.map(lambda one: f"(?i:{one})" if one.isascii() else one),
        inner.map(lambda one: f"(?:{one}|)"),
    )


def patterns(*leaves: tuple[str, ...]) -> st.SearchStrategy[str]:
    """Random patterns over the alphabet and these leaves."""
    literal = st.sampled_from(ALPHABET).map(re.escape)
    leaf = st.one_of(literal, literal, *(st.sampled_from(group) for group in leaves))
    return st.recursive(leaf, _extended, max_leaves=10)


def verdict(pattern: str, text: str) -> bool:
    """Does `re` say that the pattern describes the whole text?"""
    return re.compile(pattern, re.ASCII).fullmatch(text) is not None


@settings(max_examples=400, deadline=None)
@given(patterns(CLASSES, EDGES, AROUND), st.lists(TEXTS, max_size=12))
def test_verdict_of_re(pattern: str, texts: list[str]) -> None:
    """A random pattern describes a random text exactly where `re` says so."""
    if r"\B" in pattern:
        texts = [text for text in texts if text]  # Python before 3.14 says that \B is not in an empty text
    automaton = build_automaton([("it", pattern)])
    found = {text: automaton.kind_of(text.encode()) == "it" for text in texts}

    assert {text: verdict(pattern, text) for text in texts} == found


@settings(max_examples=150, deadline=None)
@given(st.lists(patterns(CLASSES, EDGES), min_size=1, max_size=4), st.lists(TEXTS, max_size=12))
def test_first_pattern_names_the_line(several: list[str], texts: list[str]) -> None:
    """Of several patterns the first that describes a line is its kind, by the automaton and by Polars."""
    rules = {f"k{place}": pattern for place, pattern in enumerate(several)}
    texts = [text for text in texts if text]
    expected = [next((name for name, pattern in rules.items() if verdict(pattern, text)), None) for text in texts]
    automaton = build_automaton(rules.items())

    assert expected == [automaton.kind_of(text.encode()) for text in texts]
    assert expected == Classifier(rules).by_expressions(pl.Series(texts, dtype=pl.String)).to_list()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 0x10FFFF), st.integers(0, 0x10FFFF)), min_size=1, max_size=3), st.data())
def test_bytes_of_characters(pairs: list[tuple[int, int]], data: st.DataObject) -> None:
    """The byte paths of a set accept the encoded characters of the set and no others."""
    ranges = [(min(pair), max(pair)) for pair in pairs]
    ends = {end + step for pair in ranges for end in pair for step in (-1, 0, 1)}
    codes = {code for code in ends if 0 <= code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF and code != 10}
    codes.add(data.draw(st.integers(0xE000, 0x10FFFF)))
    pattern = "[" + "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges) + "]"
    automaton = build_automaton([("it", pattern)])

    for code in codes:
        inside = any(first <= code <= last for first, last in ranges)
        assert inside == (automaton.kind_of(chr(code).encode()) == "it")


def test_paths_leave_surrogates_out() -> None:
    """No path spells a surrogate or a code point beyond the last."""
    everything = byte_paths(((0, 0x10FFFF),))
    texts = [b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80", b"\xe0\x80\x80", b"\xf0\x80\x80\x80", b"\x80"]

    for text in texts:
        assert not any(
            len(path) == len(text) and all(mask >> byte & 1 for mask, byte in zip(path, text, strict=True))
            for path in everything
        )


@pytest.mark.parametrize("damaged", [b"\xff", b"a\xc3", b"\xc3a", b"\xed\xa0\x80", b"\xc0\x80", b"a\nb"])
def test_no_text(damaged: bytes) -> None:
    """Bytes that are no line of UTF-8 text are described by no pattern, not even one that takes anything."""
    assert build_automaton([("any", r"(?:.|[\s\S]|[^a])*")]).kind_of(damaged) is None


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (r"(a)\1", "the construct groupref"),
        ("(?=ab)c", "look-around of more than one character"),
        ("(?<!a+)", "look-around of more than one character"),
        ("(?<!a+)b", "look-around of more than one character"),
        ("(?>a)b", "the construct atomic_group"),
        ("a*+b", "the construct possessive_repeat"),
        ("(a)?(?(1)b|c)", "the construct groupref_exists"),
        ("(?i:é)", "characters beyond ASCII where case does not count"),
        ("(?=é)", "look-around at some characters beyond ASCII"),
        ("[a", "not a regular expression"),
        ("(?:a{999}){999}", "more than 100000 states"),
    ],
)
def test_refused_by_name(pattern: str, reason: str) -> None:
    """Syntax outside the language is an error that names the terminal and the construct."""
    with pytest.raises(AutomatonError, match=f"^TERM: .*{re.escape(reason)}"):
        build_automaton([("OTHER", "a"), ("TERM", pattern)])


def test_pattern_that_blows_up_is_named() -> None:
    """The state limit names the pattern that needs the states, not the one that came last."""
    rules = [("FEW", "a+b"), ("MANY", "[ab]*a[ab]{12}"), ("LAST", "c{3}")]
    with pytest.raises(AutomatonError, match=r"^MANY: the automaton has more than 500 states"):
        build_automaton(rules, limit=500)
    assert build_automaton([rules[0], rules[2]], limit=500).kind_of(b"ccc") == "LAST"


def same_states(automaton: Automaton) -> list[tuple[int, int]]:
    """Pairs of states that no text tells apart."""
    rows = [tuple(automaton.steps[state * automaton.width :][: automaton.width]) for state in range(automaton.states)]
    blocks: list[int] = list(automaton.tags)
    while True:
        seen: dict[tuple[int, ...], int] = {}
        refined = [
            seen.setdefault((block, *(blocks[target] for target in row)), len(seen))
            for block, row in zip(blocks, rows, strict=True)
        ]
        if len(set(refined)) == len(set(blocks)):
            break
        blocks = refined
    return [(one, other) for one in range(len(rows)) for other in range(one) if blocks[one] == blocks[other]]


@settings(max_examples=60, deadline=None)
@given(st.lists(patterns(CLASSES, EDGES, AROUND), min_size=1, max_size=3))
def test_minimal(several: list[str]) -> None:
    """No two states, and no two classes of bytes, mean the same; nothing leads out of state 0."""
    automaton = build_automaton((f"k{place}", pattern) for place, pattern in enumerate(several))
    columns = [tuple(automaton.steps[number :: automaton.width]) for number in range(automaton.width)]

    assert same_states(automaton) == []
    assert len(set(columns)) == len(columns) == len(set(automaton.classes))
    assert not any(automaton.steps[: automaton.width])
    assert automaton.tags[0] == 0


def test_classifier_of_a_grammar() -> None:
    """Templates of a grammar's terminals, in order of priority; null and unknown lines have no kind."""
    grammar = load_grammar("logframe", "printed.lark", "printed")
    classifier = grammar.classifier({"fraction": "{DIGITS}{FRACTION}", "whole": "{DIGITS}", "word": r"\b[a-z]+\b"})
    lines = pl.Series("text", ["12", "1.5", "abc", "1.5.2", None, ""])

    assert classifier.kinds_of(lines).to_list() == ["whole", "fraction", "word", None, None, None]
    assert classifier.kinds_of(lines).dtype == pl.Enum(["fraction", "whole", "word"])
    assert classifier.kinds_of(lines).name == "text"
    with pytest.raises(AutomatonError, match=r"^pair: look-around of more than one character"):
        grammar.classifier({"pair": "(?=ab){DIGITS}"})
    with pytest.raises(KeyError, match="NOPE"):
        grammar.classifier({"it": "{NOPE}"})
