r"""``python -m fuzz.patterns``: every pattern that reads samples, matched against texts that are hard for it.

A pattern that may divide a text in many ways takes quadratic or exponential time where it does not match in the end.
Such texts are made of its own syntax tree: some of its repetitions are repeated as often as asked, and the end is cut
or does not fit.  Four times the text may take four times as long, and not much longer.
"""

from __future__ import annotations

import contextlib
import random
import re
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from fuzz.timer import Hang, at_most

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import FrameType

    AnyPattern = re.Pattern[str] | re.Pattern[bytes]

_parser: Any = import_module("re._parser")

_ROOT: Final = Path(__file__).parents[1]
#: Folders whose patterns read no logs, or are not the project's.
_NOT_TRIED: Final = frozenset({".venv", "fuzz", "tests"})
#: Repetitions in a text, and in the one that is compared with it.
_FEW: Final = 1500
_MANY: Final = 4 * _FEW
#: Matching the longer text may take so many times as long.
MOST: Final = 7.0
#: CPU seconds of the shorter text from which a ratio is judged, and after which the longer one is ended.
_LONG_ENOUGH_S: Final = 0.003
_LIMIT_S: Final = 1.0
#: A repetition with a limit below this is never long.
_LONG: Final = 50
#: How often a repetition is made long that may be.
_PUMPED: Final = 0.45
#: Characters that patterns are about, those that many of them take first.
_LETTERS: Final = " \t0x1A,a.-:=(_<\"'/|#*Zez>)[]&;%+@~9\n"
_USUAL: Final = _LETTERS[:12]
#: What stands at the end of a text: mostly what nothing matches.
_ENDS: Final = ("\x01", "\x01", "", "x", " 4")
#: The part of a text that is kept.
_KEPT: Final = (1.0, 1.0, 0.9, 0.6, 0.34)
#: The methods of a pattern, and the plain one that takes as long.
_PLAIN: Final = {
    "match": "match",
    "fullmatch": "fullmatch",
    **dict.fromkeys(("search", "findall", "finditer", "split", "sub", "subn", "scanner"), "search"),
}
#: Bytes of a log that are read.
_LARGEST: Final = 60_000


class Growth(NamedTuple):
    """A text for which a pattern takes longer than in proportion to its length.

    Attributes:
        ratio: Of the CPU seconds of a text four times as long.
        took: CPU seconds of the longer text, `_LIMIT_S` where it was ended.
        use: The method that was called.
        text: The shorter text.
    """

    ratio: float
    took: float
    use: str
    text: str


class _Texts:
    """Texts of a syntax tree; of one seed they differ only in how often something is repeated."""

    def __init__(self, seed: str, often: int) -> None:
        self._chance = random.Random(seed)
        self._often = often
        self._groups: dict[int, str] = {}
        self._is_pumped = False

    def made(self, tree: Iterable[tuple[Any, Any]]) -> str:
        """A text that the nodes of a tree match, but for conditions on what stands beside them."""
        return "".join(self._node(str(node), value) for node, value in tree)

    def _node(self, node: str, value: Any) -> str:  # noqa: ANN401 - as the parser of `re` gives it
        match node:
            case "LITERAL":
                return chr(value)
            case "NOT_LITERAL":
                return self._letter(lambda letter: ord(letter) != value)
            case "ANY":
                return self._chance.choice(" x0")
            case "IN":
                found = re.compile(_class(value))
                return self._letter(lambda letter: found.match(letter) is not None)
            case "BRANCH":
                return self.made(self._chance.choice(value[1]))
            case "SUBPATTERN":
                self._groups[value[0]] = text = self.made(value[3])
                return text
            case "ATOMIC_GROUP":
                return self.made(value)
            case "GROUPREF":
                return self._groups.get(value, "")
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                return self._repeated(*value)
            case _:
                return ""

    def _repeated(self, fewest: int, most: int, tree: Any) -> str:  # noqa: ANN401 - as above
        if most > _LONG and not self._is_pumped and self._chance.random() < _PUMPED:
            self._is_pumped = True
            piece = self.made(tree)
            self._is_pumped = False
            return piece * min(self._often, int(most))
        often = min(int(most), fewest + self._chance.randrange(2))
        return "".join(self.made(tree) for _ in range(often))

    def _letter(self, fits: Callable[[str], bool]) -> str:
        fitting = [letter for letter in _LETTERS if fits(letter)] or [
            letter for letter in map(chr, range(0x2FFF)) if fits(letter)
        ]
        usual = [letter for letter in fitting if letter in _USUAL]
        return self._chance.choice(usual or fitting or ["x"])


def _class(items: Iterable[tuple[Any, Any]]) -> str:
    """A class of characters as it is written."""
    written = []
    for node, value in items:
        match str(node):
            case "NEGATE":
                written.append("^")
            case "LITERAL":
                written.append(re.escape(chr(value)))
            case "RANGE":
                written.append(f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}")
            case _:
                name = str(value).rsplit("_", maxsplit=1)[-1][0]
                written.append("\\" + (name.upper() if "NOT" in str(value) else name.lower()))
    return f"[{''.join(written)}]"


def text_of(pattern: AnyPattern, trial: int, often: int) -> str:
    """A text that a pattern nearly matches.

    Args:
        pattern: The pattern.
        trial: The same gives the same text but for its length.
        often: Times that some of its repetitions are repeated.
    """
    source, flags = pattern.pattern, pattern.flags
    if isinstance(source, bytes):
        source, flags = source.decode("latin-1"), flags & ~re.UNICODE
    seed = f"{source}:{trial}"
    text = _Texts(seed, often).made(_parser.parse(source, flags))
    chance = random.Random(trial)
    return text[: int(len(text) * chance.choice(_KEPT))] + chance.choice(_ENDS)


def found_growth(pattern: AnyPattern, trials: int, uses: Iterable[str] = ("match", "fullmatch")) -> Growth | None:
    """The first text for which a pattern takes too long; None where there is none among those tried.

    Args:
        pattern: The pattern.
        trials: Texts that are tried.
        uses: Methods of the pattern that are called.
    """
    for trial in range(trials):
        texts = [text_of(pattern, trial, often) for often in (_FEW, _MANY)]
        if len(texts[1]) < _MANY // 3:
            continue
        given = [text.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else text for text in texts]
        for use in uses:
            first = _seconds(getattr(pattern, use), given[0])
            if first < _LONG_ENOUGH_S:
                continue
            second = _seconds(getattr(pattern, use), given[1])
            if second > MOST * first or second >= _LIMIT_S:
                return Growth(second / first, second, use, texts[0])
    return None


def _seconds(match: Callable[[Any], object], text: str | bytes) -> float:
    """CPU seconds of one call; `_LIMIT_S` where it would take longer."""
    begin = time.process_time()
    try:
        with at_most(_LIMIT_S):
            match(text)
    except Hang:
        return _LIMIT_S
    return time.process_time() - begin


class Used:
    """A compiled pattern that notes which of its methods are asked for.

    Attributes:
        compiled: The pattern.
        place: The line that compiled it first.
        uses: The methods, each as the plain one that takes as long.
    """

    def __init__(self, compiled: AnyPattern, place: str) -> None:
        self.compiled = compiled
        self.place = place
        self.uses: set[str] = set()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as the pattern's
        if name in _PLAIN:
            self.uses.add(_PLAIN[name])
        return getattr(self.compiled, name)


@contextlib.contextmanager
def compiled_patterns() -> Iterator[list[Used]]:
    """The patterns that modules of the project compile meanwhile, each once."""
    compile_one = re.compile
    found: dict[tuple[object, int], Used] = {}

    def recorded(source: Any, flags: int = 0) -> Any:  # noqa: ANN401 - as `re.compile`
        pattern = compile_one(source, flags)
        place = _place(sys._getframe(1))  # noqa: SLF001 - the documented way to the caller
        if place is None:
            return pattern
        return found.setdefault((pattern.pattern, pattern.flags), Used(pattern, place))

    re.compile = recorded  # type: ignore[assignment]  # it is overloaded
    every: list[Used] = []
    try:
        yield every
    finally:
        re.compile = compile_one
        every += found.values()


def _place(frame: FrameType | None) -> str | None:
    """The line of the project that compiles a pattern itself or has Lark compile a grammar; None for other patterns."""
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(_ROOT) and path.relative_to(_ROOT).parts[0] not in _NOT_TRIED:
            return f"{path.relative_to(_ROOT)}:{frame.f_lineno}"
        if path.parent.name != "lark" or path.name == "load_grammar.py":  # its patterns read grammars
            return None
        frame = frame.f_back
    return None


@click.command()
@click.option("--trials", default=40, show_default=True, help="Texts of each pattern.")
@click.option("--every", default=1, show_default=True, help="Read every so-manieth log only.")
@click.option("--corpus", type=click.Path(path_type=Path, exists=True), multiple=True, help="More logs to read.")
def main(trials: int, every: int, corpus: tuple[Path, ...]) -> None:
    """Try every pattern that is compiled while logs are read; ends with 1 where one grows too fast."""
    with compiled_patterns() as patterns:
        from fuzz.driver import failure_of, seeds  # noqa: PLC0415 - modules compile patterns when they are imported

        for log in seeds(corpus)[::every]:
            for depth in ("thorough", "pages"):
                if failure := failure_of(log[:_LARGEST], depth=depth)[0]:
                    click.echo(failure)
    too_fast = 0
    for one in patterns:
        grown = found_growth(one.compiled, trials, sorted(one.uses))
        if grown is not None:
            too_fast += 1
            click.echo(
                f"{one.place}, {grown.use}: {grown.took:.2f} s, {grown.ratio:.0f} times: {grown.text[:60]!r} ..."
            )
            click.echo(f"    {str(one.compiled.pattern)[:200]}")
    click.echo(f"{len(patterns)} patterns, {too_fast} grow too fast")
    sys.exit(bool(too_fast))


if __name__ == "__main__":
    main()
