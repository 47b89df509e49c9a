"""Terminals and parsers kept in the cache folder: the same after a reload, made again where a source changed."""

from __future__ import annotations

import json
from importlib import resources
from typing import TYPE_CHECKING

import pytest
from lark import Token, Transformer
from lark.exceptions import UnexpectedInput

from logframe import lexicon
from logframe.atomic import body_of, signed
from logframe.grammar import Grammar
from logframe.lexicon import Lexicon, build_lexicon, load_lexicon, load_parser, packed_lexicon, unpacked_lexicon

if TYPE_CHECKING:
    from pathlib import Path

PACKAGES = ("logframe", "straceparse", "awrparse", "sqlplusparse", "sqltraceparse", "hostparse")
GRAMMAR = """
%import more (SHORT)
start: X | number
number: DIGITS
X: SHORT /[a-z]+/
DIGITS: /[0-9]+/
FIXED: "a.b"
"""
MORE = 'SHORT: "x"\n'


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """A package of its own with two grammars, and an empty cache folder."""
    name = f"package_of_{request.node.name.replace('[', '_').replace(']', '_').replace('-', '_')}"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "g.lark").write_text(GRAMMAR, encoding="utf-8")
    (folder / "more.lark").write_text(MORE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    lexicon._grammars_of.cache_clear()  # noqa: SLF001 - as another process would find it
    return name


def kept_in(tmp_path: Path) -> list[Path]:
    """The files of the cache folder."""
    return sorted((tmp_path / "cache" / "iolab" / "grammars").glob("*"))


def test_kept(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second process takes from the folder what the first one made with Lark, and it is the same."""
    made = load_lexicon(package, "g.lark", GRAMMAR, ("start",))
    monkeypatch.setattr(lexicon, "build_lexicon", None)

    assert load_lexicon(package, "g.lark", GRAMMAR, ("start",)) == made
    assert made.patterns == {"X": "x[a-z]+", "DIGITS": "[0-9]+", "FIXED": r"a\.b", "SHORT": "x"}
    assert made.literals == {"FIXED": "a.b", "SHORT": "x"}
    assert made.kinds == {"DIGITS": "number", "X": "start"}
    assert Grammar(package, "g.lark", "start").pattern("<{X}>") == "<(?:x[a-z]+)>"


def test_made_again_after_a_change(package: str, tmp_path: Path) -> None:
    """Another text, of the grammar or of one that it imports from, other start rules: other terminals."""
    load_lexicon(package, "g.lark", GRAMMAR, ("start",))
    changed = GRAMMAR.replace("[0-9]", "[0-7]")
    assert load_lexicon(package, "g.lark", changed, ("start",)).patterns["DIGITS"] == "[0-7]+"
    load_lexicon(package, "g.lark", GRAMMAR, ("number",))
    (tmp_path / package / "more.lark").write_text('SHORT: "y"\n', encoding="utf-8")
    lexicon._grammars_of.cache_clear()  # noqa: SLF001 - as another process would find it

    assert load_lexicon(package, "g.lark", GRAMMAR, ("start",)).patterns["X"] == "y[a-z]+"
    assert len(kept_in(tmp_path)) == 4


@pytest.mark.parametrize("damage", ["cut", "changed", "empty"])
def test_damaged(package: str, tmp_path: Path, damage: str) -> None:
    """A file that was cut or changed is made and written again."""
    made = load_lexicon(package, "g.lark", GRAMMAR, ("start",))
    (path,) = kept_in(tmp_path)
    good = path.read_bytes()
    path.write_bytes({"cut": good[:-1], "changed": good.replace(b"[0-9]", b"[0-8]"), "empty": b""}[damage])

    assert load_lexicon(package, "g.lark", GRAMMAR, ("start",)) == made
    assert path.read_bytes() == good


@pytest.mark.parametrize("damage", [None, "cut", "changed", "empty"])
def test_kept_parser(package: str, tmp_path: Path, damage: str | None) -> None:
    """The second process parses as the first one; what is damaged is made again."""
    made = load_parser(package, "g.lark", GRAMMAR, ("start",), None)
    (path,) = kept_in(tmp_path)
    good = path.read_bytes()
    damaged = {"cut": good[:-1], "changed": good.replace(b"[0-9]", b"[0-8]"), "empty": b"", None: good}[damage]
    path.write_bytes(damaged)
    kept = load_parser(package, "g.lark", GRAMMAR, ("start",), None)

    assert (damaged == good) is (damage is None)
    assert body_of(b"parser 1\n", path.read_bytes())
    assert kept.rules == made.rules
    assert kept.parse("xab").pretty() == made.parse("xab").pretty()
    with pytest.raises(UnexpectedInput) as fault:
        kept.parse("?")
    assert fault.value.column == 1


def test_kept_parser_with_a_transformer(package: str) -> None:
    """What makes the values is given at each loading, and is no part of what is kept."""

    class Words(Transformer[Token, str]):
        def start(self, found: list[Token]) -> str:
            return f"<{found[0]}>"

    for _ in range(2):
        assert load_parser(package, "g.lark", GRAMMAR, ("start",), Words()).parse("xab") == "<xab>"
    assert load_parser(package, "g.lark", GRAMMAR, ("start",), None).parse("xab").data == "start"


@pytest.mark.parametrize("content", [[], [{}, {}], [{}, {}, {"A": 1}], {"A": "a"}, None])
def test_forged(content: object) -> None:
    """A content of another shape is none, even where its hash is right."""
    assert unpacked_lexicon(packed_lexicon(Lexicon({"A": "a"}, {}, {}))).patterns == {"A": "a"}
    with pytest.raises(ValueError, match="no terminals"):
        unpacked_lexicon(signed(b"lexicon 1\n", json.dumps(content).encode()))


def test_cache_that_cannot_be_used(package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the folder cannot be made, or the release of Lark is not known, the terminals are made all the same."""
    (tmp_path / "blocked").write_text("no folder", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "blocked"))
    assert load_lexicon(package, "g.lark", GRAMMAR, ("start",)).literals["FIXED"] == "a.b"

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(lexicon, "_makers", lambda: None)
    assert load_lexicon(package, "g.lark", GRAMMAR, ("start",)).literals["FIXED"] == "a.b"
    assert kept_in(tmp_path) == []


@pytest.mark.parametrize("package_of", PACKAGES)
def test_all_grammars(package_of: str) -> None:
    """What is kept of every grammar of the project is what Lark makes of it, in the same order."""
    grammars = [path for path in resources.files(package_of).iterdir() if path.name.endswith(".lark")]
    assert grammars
    for path in grammars:
        made = build_lexicon(package_of, path.name, path.read_text(encoding="utf-8"), ("start",))
        kept = unpacked_lexicon(packed_lexicon(made))
        assert [list(part.items()) for part in kept] == [list(part.items()) for part in made]
