"""Automata kept in the cache folder: the same after a reload, and never a table that leads out of itself."""

from __future__ import annotations

import hashlib
import sys
from array import array
from typing import TYPE_CHECKING

import pytest

from logframe import classify
from logframe.automaton import Automaton, build_automaton
from logframe.classify import is_sound, load_automaton, packed_tables, unpacked_tables

if TYPE_CHECKING:
    from pathlib import Path

RULES = (("number", "[0-9]+"), ("word", "[a-z]+(?: [a-z]+)*"))
KINDS = ("number", "word")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder, and no automaton in memory."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    load_automaton.cache_clear()
    return tmp_path / "iolab" / "automata"


def forbid_building(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on an automaton comes from the cache, or not at all."""

    def refuse(*_: object, **__: object) -> Automaton:
        raise AssertionError("built")

    monkeypatch.setattr(classify, "build_automaton", refuse)


def test_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second process loads what the first one wrote, and it is the same; other rules are built anew."""
    built = load_automaton(RULES)
    load_automaton.cache_clear()
    forbid_building(monkeypatch)

    assert load_automaton(RULES) == built == build_automaton(RULES)
    assert [path.suffix for path in folder.iterdir()] == [".tables"]
    with pytest.raises(AssertionError, match="built"):
        load_automaton(RULES[:1])


@pytest.mark.parametrize("place", ["start", "middle", "end", "empty", "magic"])
def test_damaged(folder: Path, place: str) -> None:
    """A file of the cache that was cut or changed is built and written again."""
    load_automaton(RULES)
    (path,) = folder.iterdir()
    good = path.read_bytes()
    cuts = {"start": good[40:], "middle": good[:90] + b"\x00" + good[91:], "end": good[:-1], "empty": b""}
    path.write_bytes(cuts.get(place, b"something else"))
    load_automaton.cache_clear()

    assert load_automaton(RULES).kind_of(b"two words") == "word"
    assert path.read_bytes() == good


def test_cache_that_cannot_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the folder cannot be made, or its name is a file's, the automaton is built all the same."""
    blocked = tmp_path / "blocked"
    blocked.write_text("no folder", encoding="utf-8")
    for home in (str(blocked), "/proc/nothing", "\0bad"[1:]):
        monkeypatch.setenv("XDG_CACHE_HOME", home)
        monkeypatch.chdir(tmp_path)
        load_automaton.cache_clear()

        assert load_automaton(RULES).kind_of(b"12") == "number"


def test_usual_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the variable the cache lies in the home folder."""
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    load_automaton.cache_clear()
    load_automaton(RULES)

    assert len(list(tmp_path.rglob("iolab/automata/*.tables"))) == 1


def signed(body: bytes) -> bytes:
    """A body with its right hash, as one writes it who knows how."""
    return classify._MAGIC + hashlib.sha256(body).digest() + body  # noqa: SLF001 - the test forges a file


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"width": ', b'"width": 9'),
        (b'"start": ', b'"start": 9'),
        (b'"states": ', b'"states": -'),
        (b'"states": ', b'"states": 99999999'),
        (b'"number"', b'"nimber"'),
        (sys.byteorder.encode(), b"middle"),
    ],
)
def test_forged(old: bytes, new: bytes) -> None:
    """A file whose hash is right but whose numbers are not is refused before any code runs it."""
    body = packed_tables(build_automaton(RULES))[len(classify._MAGIC) + 32 :]  # noqa: SLF001 - the test forges a file
    assert unpacked_tables(signed(body), KINDS).kinds == KINDS
    with pytest.raises(ValueError, match="tables"):
        unpacked_tables(signed(body.replace(old, new, 1)), KINDS)


def test_forged_numbers() -> None:
    """Any step, tag or class beyond the tables makes them unsound."""
    good = build_automaton(RULES)

    def sound(steps: array[int] = good.steps, tags: bytes = good.tags, classes: bytes = good.classes) -> bool:
        return is_sound(classes, good.width, good.start, steps, tags, len(good.kinds))

    beyond = array(good.steps.typecode, good.steps)
    beyond[-1] = good.states
    alive = array(good.steps.typecode, good.steps)
    alive[0] = 1

    assert sound()
    assert not sound(steps=beyond)
    assert not sound(steps=alive)
    assert not sound(steps=good.steps[:-1])
    assert not sound(tags=good.tags[:-1] + b"\x03")
    assert not sound(classes=good.classes[:-1] + bytes([good.width]))
    assert not sound(classes=good.classes[:-1])
